"""Frozen data of the pre-tokenizers; written by `make_class_tables.py`, read by `research.tokenizers.pretokenize`."""
