"""`python -m experiments.attention_scaling`."""

from experiments.attention_scaling.question import AttentionScaling
from experiments.command import experiment_main

if __name__ == "__main__":
    experiment_main("experiments.attention_scaling", AttentionScaling)
