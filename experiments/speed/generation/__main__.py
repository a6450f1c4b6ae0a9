"""`python -m experiments.speed.generation`."""

from experiments.command import experiment_main
from experiments.speed.generation.question import GenerationSpeed

if __name__ == "__main__":
    experiment_main("experiments.speed.generation", GenerationSpeed)
