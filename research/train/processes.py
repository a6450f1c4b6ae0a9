"""Several processes as one run: how they find each other, and what one of them does for all.

They meet on the coordinator's port before JAX does. JAX aborts a process whose peers are missing, and lets one in that
was told another number of processes; here each is told in a line what does not fit.
"""

import json
import math
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import jax
import numpy as np
from jax.experimental import multihost_utils

from contracts.errors import InputError
from contracts.specification import digest
from research.progress import Progress

_RETRY_SECONDS, _ANSWER_SECONDS, _LONGEST_LINE = 0.2, 5.0, 4096


def start(coordinator: str, processes: int, process: int, seconds: float = 120.0) -> None:
    """Become process `process` of so many, that meet at `coordinator`, HOST:PORT of process 0. Before any use of JAX.

    Raises:
        InputError: for an address that is none or is taken, a number out of range, processes that did not come within
            so many seconds, and ones that were told another number of processes or the same number of a process.
    """
    host, port = _address(coordinator)
    if processes < 1 or not 0 <= process < processes:
        expected = f"0 to {processes - 1}, of {processes}" if processes > 0 else "a process of at least 1"
        raise InputError("process", expected=expected, got=process)
    if process == 0:
        _gather(port, processes, seconds)
    else:
        _report(host, port, processes, process, seconds)
    _initialize(coordinator_address=coordinator, num_processes=processes, process_id=process)


def start_detected() -> None:
    """Become one of the processes of the cluster that JAX finds itself in: SLURM, Open MPI, Kubernetes, Cloud TPU.

    Raises:
        InputError: if there is no cluster. Within one JAX itself ends a process whose peers don't come.
    """
    _initialize()


def is_first() -> bool:
    """Whether this is the process that writes and speaks for all."""
    return jax.process_index() == 0


def wait(what: str) -> None:
    """Until every process is here."""
    if jax.process_count() > 1:
        multihost_utils.sync_global_devices(what)


def largest(value: int) -> int:
    """Of the values that the processes give."""
    return value if jax.process_count() == 1 else int(multihost_utils.process_allgather(np.int32(value)).max())


def require_equal(what: str, value: Any) -> None:
    """Refuse processes that were started with different values, which are JSON."""
    if jax.process_count() == 1:
        return
    own = np.frombuffer(bytes.fromhex(digest(value)), np.uint8)
    if (multihost_utils.process_allgather(own) != own).any():
        hint = "start every process with the same command but for its own number"
        raise InputError(what, expected="the same in every process", got="different ones", hint=hint)


@contextmanager
def all_or_none() -> Iterator[None]:
    """What one process refuses inside, all refuse, so that none waits for it. No process may wait inside."""
    refusal = None
    try:
        yield
    except InputError as error:
        refusal = error
    is_refused = largest(int(refusal is not None))
    if refusal is not None:
        raise refusal
    if is_refused:
        hint = "its own output says why"
        raise InputError("run", expected="every process to go on", got="one that refuses", hint=hint)


def _initialize(**where: Any) -> None:
    try:
        jax.distributed.initialize(**where)
    except (ValueError, RuntimeError) as error:
        hint = "give --coordinator HOST:PORT, --processes and --process"
        raise InputError(
            "--distributed", expected="processes that find each other", got=str(error), hint=hint
        ) from None
    expected = where.get("num_processes", jax.process_count())
    if jax.process_count() != expected:
        raise InputError("--processes", expected=f"{expected} that find each other", got=jax.process_count())
    if not is_first():
        Progress.quiet_seconds = math.inf  # the first process shows the progress of all


def _address(coordinator: str) -> tuple[str, int]:
    host, _, port = coordinator.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise InputError("coordinator", expected="HOST:PORT of process 0", got=repr(coordinator))
    return host.strip("[]"), int(port)


def _gather(port: int, processes: int, seconds: float) -> None:
    """Process 0: hear of every other one, and answer each what came of it."""
    came: set[int] = set()
    connections: list[socket.socket] = []
    problem, deadline = "", time.monotonic() + seconds
    with _listening(port) as server:
        while len(came) < processes - 1 and not problem:
            server.settimeout(max(deadline - time.monotonic(), 0.001))
            try:
                connection, _ = server.accept()
            except TimeoutError:
                missing = ", ".join(str(each) for each in range(1, processes) if each not in came)
                problem = f"only {len(came) + 1} of {processes} within {seconds:g} s: process {missing} did not come"
                break
            said = _read(connection)
            try:
                told, process = int(said["processes"]), int(said["process"])
            except (KeyError, TypeError, ValueError):
                connection.close()  # somebody else who knocks at the port
                continue
            connections.append(connection)
            if told != processes:
                problem = f"process 0 was told {processes}, process {process} was told {told}"
            elif process in came:
                problem = f"two processes were told that they are process {process}"
            came.add(process)
        for connection in connections:
            with connection, suppress(OSError):
                connection.sendall(json.dumps({"problem": problem}).encode() + b"\n")
                connection.recv(1)  # the other side closes first, so that the port is free at once
    if problem:
        raise _not_met(problem)


def _report(host: str, port: int, processes: int, process: int, seconds: float) -> None:
    """Another process: say who it is as soon as process 0 listens, and hear what came of it."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=_ANSWER_SECONDS)
            break
        except OSError as error:
            if time.monotonic() > deadline:
                got = f"nobody within {seconds:g} s ({error.strerror or error})"
                raise InputError("coordinator", expected=f"process 0 at {host}:{port}", got=got) from None
            time.sleep(_RETRY_SECONDS)
    answer: dict[str, Any] = {}
    with connection, suppress(OSError):
        connection.sendall(json.dumps({"processes": processes, "process": process}).encode() + b"\n")
        answer = _read(connection, max(deadline - time.monotonic(), 0) + _ANSWER_SECONDS)
    if "problem" not in answer:
        raise InputError("coordinator", expected=f"process 0 at {host}:{port}", got="an end without an answer")
    if answer["problem"]:
        raise _not_met(str(answer["problem"]))


def _not_met(problem: str) -> InputError:
    return InputError("processes", expected="all of one run, each with its own number", got=problem)


def _listening(port: int) -> socket.socket:
    try:
        if socket.has_dualstack_ipv6():
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
        return socket.create_server(("", port))
    except OSError as error:
        got = error.strerror or str(error)
        raise InputError("coordinator", expected=f"a free port {port} on this machine", got=got) from None


def _read(connection: socket.socket, seconds: float = _ANSWER_SECONDS) -> dict[str, Any]:
    """A line of JSON with an object; an empty one for anything else."""
    connection.settimeout(seconds)
    try:
        with connection.makefile("rb") as lines:
            found = json.loads(lines.readline(_LONGEST_LINE))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
