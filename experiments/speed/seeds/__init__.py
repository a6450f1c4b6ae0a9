"""What several seeds cost together: side by side, or in one program, against one after another.

One idea: each way is a job from the start of a process to its last checkpoint, compilation included, as a person waits
for it; the ways take turns, so that what changes on the machine meanwhile meets all of them.
"""

from experiments.speed.seeds.measure import measure
from experiments.speed.seeds.question import QUESTION, SeedsSpeed

__all__ = ["QUESTION", "SeedsSpeed", "measure"]
