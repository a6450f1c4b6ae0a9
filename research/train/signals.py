"""Ctrl-C during training asks instead of breaking in: the current dispatch ends, the state is saved, then it stops."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class StopRequest:
    """Whether somebody asked to stop, and by which signal."""

    def __init__(self) -> None:
        self.signal: int | None = None


@contextmanager
def stop_on_request() -> Iterator[StopRequest]:
    """Inside, the first SIGINT or SIGTERM is noted; another one acts at once, as before. What is ignored stays so.

    After the block a signal that was noted is sent again, to whoever handled it before. Outside the main thread,
    where Python sends no signals, nothing is noted.
    """
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return

    def note(number: int, frame: Any) -> None:
        request.signal = number
        restore()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = {number: handler for number, handler in before.items() if handler is not signal.SIG_IGN}
    for number in before:
        signal.signal(number, note)
    try:
        yield request
    finally:
        restore()
    if request.signal is not None:
        signal.raise_signal(request.signal)
