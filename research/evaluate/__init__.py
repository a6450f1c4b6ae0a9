"""What a model's predictions are worth, in figures that hold across tokenizers: bits per byte with a ledger."""

from contracts.evaluation import ContextPolicy, Evaluation, Ledger
from research.evaluate.bits import ledger
from research.evaluate.faults import Fault, find_faults
from research.evaluate.score import evaluate

__all__ = ["ContextPolicy", "Evaluation", "Fault", "Ledger", "evaluate", "find_faults", "ledger"]
