"""Which mistakes end in an error before a wrong number comes out: planted in the source, or handed over.

One idea: a fault is a mutant of the source, judged by running it; whoever raises an error first has caught it.
"""

from experiments.contract_faults.measure import measure
from experiments.contract_faults.question import QUESTION, ContractFaults, plan

__all__ = ["QUESTION", "ContractFaults", "measure", "plan"]
