"""`python -m experiments.bits_per_byte`."""

from experiments.bits_per_byte.question import BitsPerByte
from experiments.command import experiment_main

if __name__ == "__main__":
    experiment_main("experiments.bits_per_byte", BitsPerByte)
