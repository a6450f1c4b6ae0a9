"""What a document boundary costs: parameters, stream positions, and the FLOPs and cache bytes that follow.

One idea: a policy pays twice, once a model (an id) and once a document (a position); all else follows from the two.
"""

from experiments.boundary_cost.measure import measure
from experiments.boundary_cost.question import QUESTION, BoundaryCost, for_study, plan

__all__ = ["QUESTION", "BoundaryCost", "for_study", "measure", "plan"]
