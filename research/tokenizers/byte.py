"""The byte tokenizer: 256 bytes and the boundary policy's protocol tokens, with nothing learned."""

import numpy as np

from contracts.tokenizer import Boundary
from research.tokenizers.tokenizer import ByteLevelTokenizer
from research.tokenizers.vocabulary import Vocabulary, frozen


class ByteTokenizer(ByteLevelTokenizer):
    """UTF-8 bytes as ids: `ByteTokenizer().encode("a")` is `[97]`, and 256 is the shared boundary `doc`."""

    def __init__(self, boundary: Boundary = "shared") -> None:
        super().__init__(Vocabulary(frozen(np.zeros((0, 2), np.int32))), boundary)
