"""Which document each position of a row belongs to, whatever its policy lets it see."""

import numpy as np
from jaxtyping import Int64

from contracts.batch import Batch
from research.stream import Rows

Documents = Int64[np.ndarray, "B T"]


def row_documents(rows: Rows, batch: Batch) -> Documents:
    """0 for the first document of a row, 1 for the next, ..., -1 for padding.

    A document begins at each boundary token that opens one; the tokenizer has to have one. Where each document has a
    row of its own they are counted over the batch.
    """
    opens = np.asarray(batch.tokens) == rows.tokenizer.start_id
    real = np.asarray(batch.segments) >= 0
    count = np.cumsum(opens & real, axis=1)
    number = count - count[:, :1]
    if rows.policy.isolation == "reset":
        number = number + np.arange(len(number))[:, None]
    return np.where(real, number, -1).astype(np.int64)
