"""The engine: Numba kernels that count, learn, encode and decode at hundreds of megabytes a second.

    bytes --pages, scan--> borders --words--> word numbers --count--> counts --merge--> merges
                                                          \\-encode--> ids --decode--> bytes

Each stage is a file, reads arrays and writes arrays. `research.tokenizers.train` and `encode` say in plain Python what
must come out, and stay the witnesses.

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
