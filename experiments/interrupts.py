"""Ctrl-C and SIGTERM end a run in order: what is open is closed, what is half-written is removed."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

#: Long enough to be out of the callback that swallowed the first Ctrl-C.
_AGAIN_SECONDS = 0.05


class Terminated(KeyboardInterrupt):
    """The process was asked to end (SIGTERM)."""


@contextmanager
def orderly_interrupts() -> Iterator[None]:
    """Inside, a Ctrl-C always arrives, and SIGTERM ends the block like one.

    JAX registers a callback with the garbage collector, and an exception in such a callback is dropped: every third
    Ctrl-C or so went unheard. Python reports the drop, and we raise it again a moment later.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def report(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS)
        else:
            sys.__unraisablehook__(unraisable)

    def terminate(number: int, frame: Any) -> None:
        raise Terminated

    before_hook, sys.unraisablehook = sys.unraisablehook, report
    before_alarm = signal.signal(signal.SIGALRM, signal.default_int_handler)
    before_term = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = before_hook
        signal.signal(signal.SIGALRM, before_alarm)
        signal.signal(signal.SIGTERM, before_term)
