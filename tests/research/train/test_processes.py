"""Processes that don't belong together, or don't come, are told so in a line by both sides, before JAX would abort."""

import json
import socket
import threading
import time

import pytest

from contracts.errors import InputError
from research.train import processes


@pytest.fixture
def port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def started(monkeypatch):
    """Start processes as threads; what became of each: `None`, or the line of its refusal."""
    monkeypatch.setattr(processes, "_initialize", lambda **where: None)

    def start(*told, seconds=20.0):
        outcomes = [None] * len(told)

        def one(index, arguments):
            try:
                processes.start(*arguments, seconds)
            except InputError as error:
                outcomes[index] = str(error)

        threads = [threading.Thread(target=one, args=each) for each in enumerate(told)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return outcomes

    return start


def test_processes_of_one_run_meet_in_any_order(started, port):
    where = f"127.0.0.1:{port}"
    assert started((where, 3, 2), (where, 3, 0), (where, 3, 1)) == [None] * 3


def test_another_number_of_processes_is_told_on_both_sides(started, port):
    where = f"127.0.0.1:{port}"
    first, second = started((where, 2, 0), (where, 3, 1))
    assert first == second
    assert "process 0 was told 2, process 1 was told 3" in first


def test_two_processes_of_one_number_are_refused(started, port):
    where = f"127.0.0.1:{port}"
    outcomes = started((where, 3, 0), (where, 3, 1), (where, 3, 1))
    assert all("two processes were told that they are process 1" in outcome for outcome in outcomes)


def test_a_process_that_does_not_come_is_named(started, port):
    where = f"127.0.0.1:{port}"
    outcomes = started((where, 3, 0), (where, 3, 2), seconds=1.0)
    assert all("only 2 of 3 within 1 s: process 1 did not come" in outcome for outcome in outcomes)


def test_a_coordinator_that_nobody_is_at_is_told(started, port):
    (outcome,) = started((f"127.0.0.1:{port}", 2, 1), seconds=0.3)
    assert outcome.startswith(f"coordinator: expected process 0 at 127.0.0.1:{port}, got nobody within 0.3 s")


def test_a_port_that_is_taken_is_told(started, port):
    with socket.create_server(("", port)):
        (outcome,) = started((f"127.0.0.1:{port}", 2, 0))
    assert outcome.startswith(f"coordinator: expected a free port {port} on this machine")


def test_a_stranger_at_the_port_is_not_taken_for_a_process(started, port):
    def knock():
        for said in (b"GET / HTTP/1.1\n", b"[1]\n", json.dumps({"processes": 2}).encode() + b"\n"):
            for _ in range(50):
                try:
                    with socket.create_connection(("127.0.0.1", port)) as connection:
                        connection.sendall(said)
                    break
                except OSError:
                    time.sleep(0.05)

    stranger = threading.Thread(target=knock)
    stranger.start()
    (outcome,) = started((f"127.0.0.1:{port}", 2, 0), seconds=1.5)
    stranger.join()
    assert "only 1 of 2" in outcome


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("host", 2, 0), "coordinator: expected HOST:PORT of process 0, got 'host'"),
        (("host:0", 2, 0), "coordinator: expected HOST:PORT"),
        (("host:99999", 2, 0), "coordinator: expected HOST:PORT"),
        (("host:1", 2, 2), "process: expected 0 to 1, of 2, got 2"),
        (("host:1", 2, -1), "process: expected 0 to 1, of 2, got -1"),
    ],
)
def test_an_address_or_number_that_is_none_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        processes.start(*arguments)


def test_without_a_cluster_detection_is_refused_instead_of_training_alone(monkeypatch):
    def not_found(**where):
        raise ValueError("coordinator_address should be defined.")

    monkeypatch.setattr(processes.jax.distributed, "initialize", not_found)
    with pytest.raises(InputError, match="--distributed: expected processes that find each other"):
        processes.start_detected()


def test_what_one_process_refuses_all_refuse(monkeypatch):
    monkeypatch.setattr(processes, "largest", lambda value: 1)
    with pytest.raises(InputError, match="got one that refuses; its own output says why"), processes.all_or_none():
        pass
    with pytest.raises(InputError, match="mine"), processes.all_or_none():
        raise InputError("mine", expected="this", got="that")
