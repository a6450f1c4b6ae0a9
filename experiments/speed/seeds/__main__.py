"""`python -m experiments.speed.seeds`."""

from experiments.command import experiment_main
from experiments.speed.seeds.question import SeedsSpeed

if __name__ == "__main__":
    experiment_main("experiments.speed.seeds", SeedsSpeed)
