"""What a model's predictions are worth, in figures that hold across tokenizers: bits per byte with a ledger."""

from contracts.evaluation import Certificate, ContextPolicy, Evaluation, Ledger
from research.evaluate.bits import ledger
from research.evaluate.faults import Fault, find_faults
from research.evaluate.isolation import certificate
from research.evaluate.score import evaluate

__all__ = [
    "Certificate",
    "ContextPolicy",
    "Evaluation",
    "Fault",
    "Ledger",
    "certificate",
    "evaluate",
    "find_faults",
    "ledger",
]
