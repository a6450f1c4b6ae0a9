"""What length costs: FLOPs and time of attention and of a whole decoder, and what a longer encoding of a text adds.

One idea: a layer is cut in two, the attention core that grows with T^2 and the rest that grows with T, and each half is
counted by formula, counted in its trace, and clocked.
"""

from experiments.attention_scaling.measure import measure
from experiments.attention_scaling.question import QUESTION, AttentionScaling, for_study, plan

__all__ = ["QUESTION", "AttentionScaling", "for_study", "measure", "plan"]
