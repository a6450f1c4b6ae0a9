"""`python -m experiments.vocabulary_language`."""

from experiments.command import experiment_main
from experiments.vocabulary_language.question import VocabularyLanguage

if __name__ == "__main__":
    experiment_main("experiments.vocabulary_language", VocabularyLanguage)
