"""The engine: Numba kernels that count, learn, encode and decode at hundreds of megabytes a second.

    bytes --scan--> borders --number--> word numbers --count--> counts --merge--> merges
                                              \\----encode----> ids --decode--> bytes

    stage      kernels   what surrounds them
    0 verify   utf8
    1 scan     scan      patterns (a pattern as tables), pages (documents laid in a row, memory bounded)
               automata  research.tokenizers.automaton (a regex without a name as tables)
    2 count    words     count (how often each distinct word occurs)
    3 merge    merge     learn (the arrays of a training, progress, room)
    4 encode   encode    encoder (what is remembered), shares (threads)
    5 decode   decode

A kernel reads arrays and writes arrays that it is given; classes around it own them. `research.tokenizers.plain` says
in plain Python what must come out of 2 to 4, and stays the witness. To add a pattern, see `patterns`.

Nothing here is imported, and nothing compiled, before `load`.
"""

import functools
import sys
from typing import Any


@functools.cache
def load() -> None:
    """Have every kernel compiled: in a second from the cache on disk, in some twenty on a machine's first use."""
    from numba.core import event

    from research.tokenizers.kernels.warm import warm_up

    class Announcement(event.Listener):
        """Says once what is going on; what comes from the cache is not compiled, and not announced."""

        announced = False

        def on_start(self, event: Any) -> None:
            if not self.announced:
                self.announced = True
                print(
                    "bytebound: compiling the tokenizer kernels, some twenty seconds, once on this machine",
                    file=sys.stderr,
                    flush=True,
                )

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Announcement()):
        warm_up()
