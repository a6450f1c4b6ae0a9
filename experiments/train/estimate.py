"""What a run would cost, without running it: parameters, FLOPs, memory and time, and how often the text is seen."""

from experiments.tables import number, percent, si
from research.costs import decoder_parameters
from research.costs.memory import dtype_bytes
from research.stream import Rows, StoredCorpus
from research.train import TrainConfig
from research.train.loop import require_vocabulary
from research.train.mesh import data_mesh, require_divisible
from research.train.peak import flops_per_token, matmul_peak

#: Of the matmul peak that decoders reach: small ones on a CPU the lower, large ones on an accelerator the higher.
SHARES = (0.2, 0.5)


def estimate(config: TrainConfig, corpus: StoredCorpus) -> list[str]:
    """A line for each cost. Measures the matmul peak of this machine, which takes a second.

    Raises:
        InputError: for what training would refuse: another vocabulary, rows that the devices can't share.
    """
    require_vocabulary(config, corpus.tokenizer)
    require_divisible(config.batch_size // config.accumulate, data_mesh())
    decoder, tokens = config.decoder, config.steps * config.batch_size * config.length
    parameters = decoder_parameters(decoder).total
    flops = flops_per_token(config)
    rows = Rows(corpus.train, corpus.tokenizer, config.policy, config.batch_size, config.length)
    peak = matmul_peak(decoder.compute_dtype)
    slow, fast = (tokens * flops / (share * peak) for share in SHARES)
    shares = " to ".join(percent(share) for share in reversed(SHARES))
    state = parameters * 3 * dtype_bytes(decoder.param_dtype)
    rows_at_once = config.batch_size // config.accumulate
    logits = rows_at_once * config.length * decoder.vocab_size * dtype_bytes("float32")
    lines = (
        ("parameters", f"{parameters:,}"),
        ("tokens", f"{tokens:,} in {config.steps:,} steps of {config.batch_size} x {config.length}"),
        ("epochs", number(config.steps * config.batch_size / rows.rows_per_epoch)),
        ("training FLOPs", f"{si(tokens * flops)} ({si(flops)} a token: every matmul, causal pairs of attention)"),
        ("state in memory", f"{si(state, 'B')} for parameters and both moments, and as much again while it updates"),
        ("logits in memory", f"{si(logits, 'B')} for {rows_at_once} rows at once, and as much for their gradient"),
        ("not counted", "activations within the layers: they grow with rows at once, length, d_model and layers"),
        ("matmul peak", f"{si(peak, 'FLOP/s')}, measured now in {decoder.compute_dtype}"),
        ("expected time", f"{_duration(fast)} to {_duration(slow)}, at {shares} of the peak"),
    )
    return [f"{name:<20} {value}" for name, value in lines] + ["nothing was trained"]


def _duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h` or `9 days`."""
    for unit, size in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{number(seconds / size, 0)} {unit}"
    return f"{number(seconds, 0)} s"
