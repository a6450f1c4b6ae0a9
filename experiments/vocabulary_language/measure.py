"""The run: three trainings, both languages under each, and the verdict by the rule that stood before."""

from functools import partial

from experiments.finding import Finding
from experiments.vocabulary_language.compare import compare
from experiments.vocabulary_language.figure import draw
from experiments.vocabulary_language.languages import languages
from experiments.vocabulary_language.question import VocabularyLanguage
from experiments.vocabulary_language.rows import rows
from experiments.vocabulary_language.tables import tables
from experiments.vocabulary_language.verdict import highlights, verdict
from experiments.vocabulary_language.worth import worths


def measure(arguments: VocabularyLanguage) -> Finding:
    """Rows, tables, figure and verdict for `arguments`.

    Raises:
        InputError: the corpus can't be read, lacks one of the languages or has too little of it, or teaches a text
            that is tested on.
    """
    english, other = languages(arguments)
    found = compare(english, other, arguments)
    worth = worths(found)
    used = dict.fromkeys(text for language in found.languages for text in (language.train, language.test))
    return Finding(
        rows=rows(found, worth),
        verdict=verdict(found),
        highlights=highlights(found, worth),
        tables=tables(found, worth),
        draw=[partial(draw, found=found, worths=worth)],
        corpora=[text.cut.corpus() for text in used],
    )
