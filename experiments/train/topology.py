"""On which machines a run is trained: options that change how fast it is, and nothing that it learns but rounding."""

from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from contracts.errors import InputError

_Whole = Annotated[int | None, tyro.conf.arg(metavar="INT", help_behavior_hint="")]


@dataclass(frozen=True)
class Topology:
    """Several devices and processes. All devices of a process are used without being asked for."""

    distributed: bool = False
    """one of several processes that train together; alone it finds SLURM, Open MPI, Kubernetes or Cloud TPU, and
    elsewhere the next three say where and who. Every process gets the same command but for its number"""
    coordinator: Annotated[str | None, tyro.conf.arg(metavar="HOST:PORT", help_behavior_hint="")] = None
    """where process 0 listens"""
    processes: _Whole = None
    """how many there are"""
    process: _Whole = None
    """which one this is, from 0; process 0 writes the run folder, which all of them must see"""
    wait_seconds: float = 120.0
    """how long processes wait for each other at the start"""
    replicas: Annotated[int, tyro.conf.arg(metavar="INT")] = 1
    """copies of the parameters; the devices of a copy share them. For links that are slow between copies"""

    def require_options(self) -> None:
        """Refuse options that say nothing without each other."""
        told = {"--coordinator": self.coordinator, "--processes": self.processes, "--process": self.process}
        given = [option for option, value in told.items() if value is not None]
        if given and not self.distributed:
            raise InputError(given[0], expected="--distributed beside it", got="none")
        if given and len(given) < len(told):
            absent = next(option for option in told if option not in given)
            raise InputError(absent, expected=f"a value, as {given[0]} has one", got="none")
        if self.wait_seconds <= 0:
            raise InputError("--wait-seconds", expected="a number above 0", got=self.wait_seconds)

    def start(self) -> None:
        """Join the other processes, if there are any. Before any use of JAX."""
        if not self.distributed:
            return
        from research.train import processes

        if self.coordinator is None or self.processes is None or self.process is None:
            processes.start_detected()
        else:
            processes.start(self.coordinator, self.processes, self.process, self.wait_seconds)

    def mesh(self) -> Any:
        """Of all devices of all processes."""
        from research.train.mesh import data_mesh

        return data_mesh(replicas=self.replicas)


ONE_PROCESS = Topology()
