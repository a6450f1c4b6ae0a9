"""`python -m experiments.vocabulary_curve`."""

from experiments.command import experiment_main
from experiments.vocabulary_curve.question import VocabularyCurve

if __name__ == "__main__":
    experiment_main("experiments.vocabulary_curve", VocabularyCurve)
