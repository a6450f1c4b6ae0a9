"""`bytebound train`: a corpus folder to a trained decoder in a run folder that survives a kill."""

from experiments.train.command import Train

__all__ = ["Train"]
