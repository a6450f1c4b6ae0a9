"""`python -m experiments.document_isolation`."""

from experiments.command import experiment_main
from experiments.document_isolation.question import DocumentIsolation

if __name__ == "__main__":
    experiment_main("experiments.document_isolation", DocumentIsolation)
