"""What a joint vocabulary is worth to a language, in merges of the language's own vocabulary."""

from dataclasses import dataclass

import numpy as np

from experiments.vocabulary_language.compare import JOINT, Comparison, alone
from experiments.vocabulary_language.languages import Language


@dataclass(frozen=True)
class Worth:
    """A joint vocabulary shortens a language's text as the first `merges` merges of the language's own do."""

    language: Language
    size: int
    merges: int

    @property
    def share(self) -> float:
        """Of the joint vocabulary's merges: the effective share that the language has in it."""
        return self.merges / (self.size - 256)


def worths(found: Comparison) -> list[Worth]:
    """Of every size to both languages: the fewest own merges that give no more tokens than all joint ones.

    Exact: every number of merges is counted. A size is left out where the own vocabulary, with all its merges, is
    still longer.
    """
    rows = []
    for language in found.languages:
        joint, own = (found.measured[name, language.name] for name in (JOINT, alone(language)))
        for size, tokens in zip(found.sizes, joint.tokens, strict=True):
            enough = own.lengths <= tokens
            if enough.any():
                rows.append(Worth(language, size, int(np.argmax(enough))))
    return rows
