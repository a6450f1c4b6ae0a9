"""Speed beside the peers, in one run: `python -m experiments.speed.NAME`."""
