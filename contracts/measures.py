"""What is counted about a text: tokens, bytes or characters of each of its units, which are resampled together."""

import numpy as np
from jaxtyping import Bool, Float64, Int64

from contracts.dims import Dim

units = Dim("units", "sentences, lines or documents of one text; aligned where texts are compared")
distinct = Dim("distinct", "distinct pre-tokens of one text")
sizes = Dim("sizes", "vocabulary sizes, or other columns counted over the same units")
resamples = Dim("resamples", "bootstrap draws")

UnitCounts = Int64[np.ndarray, "units"]
UnitMask = Bool[np.ndarray, "units"]
DistinctCounts = Int64[np.ndarray, "distinct"]
PartCounts = Int64[np.ndarray, "V"]
CountsBySize = Int64[np.ndarray, "sizes units"]
Resampled = Float64[np.ndarray, "resamples sizes"]
