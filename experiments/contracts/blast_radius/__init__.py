"""Everything that follows from choosing another boundary policy, tokenizer or decoder, counted on a corpus.

No consequence is typed in: each is asked of the code that owns it, for both choices, and compared.
"""

from experiments.contracts.blast_radius.choices import Choice, choices
from experiments.contracts.blast_radius.consequence import Consequence
from experiments.contracts.blast_radius.radius import blast_radius

__all__ = ["Choice", "Consequence", "blast_radius", "choices"]
