"""What is counted about a text: tokens, bytes or characters of each of its units, which are resampled together."""

import numpy as np
from jaxtyping import Bool, Float64, Int64

from contracts.dims import Dim

units = Dim("units", "sentences, lines or documents of one text; aligned where texts are compared")
distinct = Dim("distinct", "distinct pre-tokens of one text")
sizes = Dim("sizes", "vocabulary sizes, or other columns counted over the same units")
resamples = Dim("resamples", "bootstrap draws")
words = Dim("words", "words of one text")
text_vocab_size = Dim("text_vocab_size", "text ids of a tokenizer: bytes and merges, without protocol tokens")

UnitCounts = Int64[np.ndarray, "units"]
UnitMask = Bool[np.ndarray, "units"]
DistinctCounts = Int64[np.ndarray, "distinct"]
IdCounts = Int64[np.ndarray, "text_vocab_size"]
CountsBySize = Int64[np.ndarray, "sizes units"]
Resampled = Float64[np.ndarray, "resamples sizes"]
Drawn = Float64[np.ndarray, "resamples"]
PerWord = Int64[np.ndarray, "words"]
Offsets = Int64[np.ndarray, "N"]
LengthsByMerges = Int64[np.ndarray, "M+1"]
