"""`python -m experiments.boundary_cost`."""

from experiments.boundary_cost.question import BoundaryCost
from experiments.command import experiment_main

if __name__ == "__main__":
    experiment_main("experiments.boundary_cost", BoundaryCost)
