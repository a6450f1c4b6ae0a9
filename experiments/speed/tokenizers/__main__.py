"""`python -m experiments.speed.tokenizers`."""

from experiments.command import experiment_main
from experiments.speed.tokenizers.question import TokenizerSpeed

if __name__ == "__main__":
    experiment_main("experiments.speed.tokenizers", TokenizerSpeed)
