"""`python -m experiments.sequence_length`."""

from experiments.command import experiment_main
from experiments.sequence_length.question import SequenceLength

if __name__ == "__main__":
    experiment_main("experiments.sequence_length", SequenceLength)
