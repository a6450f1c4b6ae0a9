"""What must hold: dims, array aliases, protocols, frozen dataclasses and errors, and one small engine. No algorithm."""
