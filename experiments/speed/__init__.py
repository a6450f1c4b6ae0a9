"""Speed beside peers: the same job on the same text, side by side in one run."""
