"""What contracts cost: at a call, at decoration, at import, while tracing, and in a compiled step.

One idea: a contract runs when Python runs, so the compiled program has to be the same without it.
"""

from experiments.contract_cost.measure import measure
from experiments.contract_cost.question import QUESTION, ContractCost, plan

__all__ = ["QUESTION", "ContractCost", "measure", "plan"]
