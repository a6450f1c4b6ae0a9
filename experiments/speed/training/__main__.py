"""`python -m experiments.speed.training`."""

from experiments.command import experiment_main
from experiments.speed.training.question import TrainingSpeed

if __name__ == "__main__":
    experiment_main("experiments.speed.training", TrainingSpeed)
