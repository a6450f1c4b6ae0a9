"""The check of token ids on the host, before they reach a device: shapes can be checked while tracing, values can't.

An embedding answers id -1 with its last row, which is the boundary token, and an id past the end with NaN.
"""

import numpy as np

from contracts.decoder import DecoderConfig
from contracts.errors import InputError


def check_tokens(tokens: np.ndarray, config: DecoderConfig, where: str = "") -> np.ndarray:
    """`tokens` as they are, if all are int32 ids of the vocabulary; `where` tells the reader what was being read.

    Raises:
        InputError: for another dtype, or for the first id below 0 or not below `config.vocab_size`.
    """
    ids = np.asarray(tokens)
    if ids.dtype != np.int32:
        raise InputError("token ids", expected="int32", got=str(ids.dtype), where=where)
    if ids.size and (ids.min() < 0 or ids.max() >= config.vocab_size):
        index = tuple(map(int, np.argwhere((ids < 0) | (ids >= config.vocab_size))[0]))
        place = f"index {index if len(index) != 1 else index[0]}"
        raise InputError(
            "token ids",
            expected=f"0 to {config.vocab_size - 1} (config.vocab_size is {config.vocab_size})",
            got=int(ids[index]),
            where=f"{where}, {place}" if where else place,
            hint="were they made by another tokenizer?",
        )
    return ids
