"""What contracts cost while the whole package is imported: in a fresh process, again and again, on and off in turn.

Other people's packages are imported before the clock starts; ours are forgotten and imported anew.
"""

import gc
import importlib
import json
import os
import pkgutil
import subprocess
import sys
import time
from contextlib import nullcontext
from typing import Any

import numpy as np

from experiments.contract_cost.clock import Samples, no_collection

PACKAGES = ("contracts", "research")

_CODE = "from experiments.contract_cost.imports import main; main({repeats})"


def import_times(repeats: int) -> tuple[Samples, int]:
    """Seconds to import every module of ours, by switch, and how many functions are under contract."""
    run = subprocess.run(
        [sys.executable, "-c", _CODE.format(repeats=repeats)],
        env={**os.environ, "CONTRACTS": "on"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(run.stdout.splitlines()[-1])
    return {name: np.array(seconds) for name, seconds in found["seconds"].items()}, found["functions"]


def main(repeats: int) -> None:
    """Print the times as JSON; the first of each way is not counted."""
    modules = sorted(_modules())
    seconds: dict[str, list[float]] = {"on": [], "off": [], "stock": []}
    functions = 0
    order = np.random.default_rng(0)
    for _ in range(repeats + 1):
        for way in order.permutation(list(seconds)):
            seconds[way].append(_import(modules, way))
            if way == "on":
                functions = _under_contract(modules)
    print(json.dumps({"seconds": {way: taken[1:] for way, taken in seconds.items()}, "functions": functions}))


def _modules() -> set[str]:
    found = set(PACKAGES)
    for package in PACKAGES:
        path = importlib.import_module(package).__path__
        found |= {module.name for module in pkgutil.walk_packages(path, f"{package}.") if ".data" not in module.name}
    return found


def _import(modules: list[str], way: str) -> float:
    for name in [name for name in sys.modules if name.partition(".")[0] in PACKAGES]:
        del sys.modules[name]
    os.environ["CONTRACTS"] = "on" if way == "on" else "off"
    gc.collect()  # the last import's remains, which would be collected at the cost of this one
    with _stock_hook() if way == "stock" else nullcontext(), no_collection():
        begun = time.thread_time()
        for name in modules:
            importlib.import_module(name)
        return time.thread_time() - begun


def _stock_hook() -> Any:
    """Of the model alone: beartype refuses to decorate what takes a protocol that can't be checked at run time."""
    import jaxtyping

    return jaxtyping.install_import_hook(["research.model"], "beartype.beartype")


def _under_contract(modules: list[str]) -> int:
    """Functions and methods that carry a contract, each once."""
    found = set()
    for module in modules:
        for value in list(vars(sys.modules[module]).values()):
            members = list(vars(value).values()) if isinstance(value, type) else [value]
            found |= {id(member) for member in members if hasattr(member, "__contract__")}
    return len(found)
