"""How a kernel is compiled: once, kept on disk, and again when any file of this folder has changed.

Numba knows a kept function by the date of its own file, and would go on using one whose helper in another file has
changed. So a digest of the whole folder takes the place of the date.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

_DIGEST = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))).hexdigest()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile `function` at its first call for the types it gets; it runs without the GIL."""
    compiled = njit(cache=True, nogil=True)(function)
    if hasattr(compiled, "_cache"):  # not under NUMBA_DISABLE_JIT
        compiled._cache._cache_file._source_stamp = _DIGEST
    return compiled
