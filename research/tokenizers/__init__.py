"""Text to ids and back, without loss: bytes, and byte-level BPE learned here or read from a Hugging Face file."""

from research.tokenizers.bpe import BPETokenizer
from research.tokenizers.byte import ByteTokenizer
from research.tokenizers.load import load_tokenizer
from research.tokenizers.pretokenize import PATTERNS

__all__ = ["PATTERNS", "BPETokenizer", "ByteTokenizer", "load_tokenizer"]
