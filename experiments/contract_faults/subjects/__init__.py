"""What faults are planted in besides the decoder: small, complete and written out.

The project's own step and cache leave to libraries, or to one fused call, what can go wrong in shape here."""
