"""What a model's predictions are worth, in figures that hold across tokenizers: bits per byte with a ledger."""

from contracts.evaluation import Ledger
from research.evaluate.bits import ledger
from research.evaluate.faults import Fault, find_faults

__all__ = ["Fault", "Ledger", "find_faults", "ledger"]
