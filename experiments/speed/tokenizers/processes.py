"""What only a process of its own can show: memory above the imports, and how long starting takes."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from experiments.speed.tokenizers.clock import OURS, Ratio
from experiments.speed.tokenizers.peers import PEERS, Cannot, trainer
from research.progress import progress

_START = (
    "import json, sys, time; begun = time.perf_counter(); from research.tokenizers import kernels; "
    "imported = time.perf_counter(); numba = 'numba' in sys.modules; kernels.load(); "
    "print(json.dumps({'import': imported - begun, 'load': time.perf_counter() - imported, 'numba': numba}))"
)
_MEMORY = "from experiments.speed.tokenizers.processes import report_memory; report_memory({!r}, {!r}, {!r}, {!r})"


@dataclass(frozen=True)
class Memory:
    """Resident memory of a training, in bytes."""

    imports: int
    """before it begins; of ours with all kernels loaded"""
    peak: int

    @property
    def above(self) -> int:
        """What the training itself took."""
        return self.peak - self.imports


@dataclass(frozen=True)
class Starts:
    """Seconds to the first use."""

    first: Ratio
    """where nothing was ever compiled"""
    later: Ratio
    imports: Ratio
    """of `research.tokenizers`"""
    numba_on_import: bool


def training_memory(path: Path, pattern: str, size: int) -> tuple[dict[str, Memory], dict[str, str]]:
    """Of every library, and why some are not there. Empty on a system that does not tell its peak."""
    found, cannot = {}, {}
    if not Path("/proc/self/clear_refs").exists():
        return {}, {OURS: "this system does not tell the peak of a process"}
    with progress("memory of training", total=1 + len(PEERS), unit="processes") as bar:
        for name in (OURS, *PEERS):
            try:
                trainer(name, path, pattern, size)
            except Cannot as why:
                cannot[name] = str(why)
            else:
                found[name] = Memory(**_run(_MEMORY.format(name, str(path), pattern, size)))
            bar.advance()
    return found, cannot


def report_memory(name: str, path: str, pattern: str, size: int) -> None:
    """Train in this process and print what it took; high-water marks are set back after the imports."""
    call = trainer(name, Path(path), pattern, size)
    if name == OURS:
        from research.tokenizers import engine

        engine.engine_for(engine.ENOUGH)
    imports = _status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    result = call()
    peak = _status("VmHWM")
    del result
    print(json.dumps({"imports": imports, "peak": peak}))


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def start_times(repeats: int) -> Starts:
    """In fresh processes; the first ones with a fresh cache of compiled kernels."""
    taken: dict[str, list[float]] = {"first": [], "later": [], "import": []}
    numba_on_import = False
    with progress("starting", total=2 * repeats, unit="processes") as bar:
        for _ in range(repeats):
            with TemporaryDirectory() as cache:
                for which in ("first", "later"):
                    found = _run(_START, cache)
                    taken[which].append(found["load"])
                    bar.advance()
                taken["import"].append(found["import"])
                numba_on_import |= found["numba"]
    first, later, imports = (Ratio.of(np.array(seconds)) for seconds in taken.values())
    return Starts(first, later, imports, numba_on_import)


def _run(code: str, cache: str | None = None) -> Any:
    environment = {**os.environ, "BYTEBOUND_ENGINE": "auto", **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(run.stdout.splitlines()[-1])
