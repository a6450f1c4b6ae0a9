"""Counting the pre-tokens of a corpus that may be larger than memory, on every core or machine that is given."""
