"""The process of one candidate: it waits for lines on standard input and answers each with one line of JSON."""

import json
import resource
import sys
import time
from typing import Any

from experiments.speed.training import candidates
from experiments.speed.training.question import Shape


def answer(train: candidates.Train, shape: Shape, command: str) -> dict[str, Any]:
    """What one line asks for: `steps N` or `matmuls`."""
    if command == "matmuls":
        from experiments.speed.training.matmuls import matmul_rate

        return {"matmul_rate": matmul_rate(shape)}
    begun = time.perf_counter()
    loss = train(int(command.removeprefix("steps ")))
    return {"seconds": time.perf_counter() - begun, "loss": loss, "peak_bytes": peak_bytes()}


def peak_bytes() -> int:
    """The most memory that this process has had."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def main() -> None:
    """`worker NAME SHAPE SEED`: make the candidate, then answer until standard input ends."""
    name, shape, seed = sys.argv[1], Shape(**json.loads(sys.argv[2])), int(sys.argv[3])
    train = candidates.make(name, shape, seed)
    begun, imported = time.perf_counter(), peak_bytes()
    first_loss = train(shape.steps)
    _say({"first_seconds": time.perf_counter() - begun, "loss": first_loss, "imported_bytes": imported})
    for line in sys.stdin:
        _say(answer(train, shape, line.strip()))


def _say(message: dict[str, Any]) -> None:
    print(json.dumps(message), flush=True)


if __name__ == "__main__":
    main()
