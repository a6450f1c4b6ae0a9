"""Cells so small that they train in a moment."""

from functools import cache

from contracts.batch import RowPolicy
from contracts.evaluation import ContextPolicy
from experiments.ablation.cell import Material
from experiments.ablation.settings import Settings, make_cell
from research.stream import build_stream
from research.tokenizers import ByteTokenizer

DOCUMENTS = ["a red fox", "두 마리", "one two three", "a dog and a fox", "빨간 여우", "three"] * 3
SETTINGS = Settings(
    text_bytes=400, length=24, batch_size=2, d_model=8, n_layers=1, head_dim=4, packing="fit", evaluations=2
)
CROSS = RowPolicy("fit", "cross", "continue", "all")
SEGMENTS = RowPolicy("fit", "segments", "restart", "all")


@cache
def material():
    tokenizer = ByteTokenizer()
    held_out = {"en": build_stream(["a fox", "two"], tokenizer), "ko": build_stream(["여우", "두"], tokenizer)}
    return Material(tokenizer, build_stream(DOCUMENTS, tokenizer), held_out)


def tiny_cell(seed=0, settings=SETTINGS, name="tiny"):
    contexts = {"own": ContextPolicy(24, 12), "alone": ContextPolicy(24, 0, "reset", "restart", "no-cross")}
    return make_cell(f"{name}, seed {seed}", settings, seed, material(), contexts, {"c": CROSS, "s": SEGMENTS})
