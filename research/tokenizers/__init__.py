"""Text to ids and back, without loss: bytes, and byte-level BPE learned here or read from a Hugging Face file.

tokenizer  byte  bpe  load      the faces, and how to get one
vocabulary  boundaries          what a tokenizer is made of: text ids, protocol ids
pretokenize  data/              where text is cut before merging: patterns, frozen class tables
automaton/                      a regex of one's own as tables, so that no engine has to match it
plain/                          training and encoding in plain Python, the witnesses
kernels/                        the same at hundreds of megabytes a second
engine                          decides which of the two does it
counting/                       corpora larger than memory
text  ids                       what comes from outside, refused or made sound
store  identity                 files, and what makes two tokenizers the same
interop/                        files of others
"""

from research.tokenizers.bpe import BPETokenizer
from research.tokenizers.byte import ByteTokenizer
from research.tokenizers.load import load_tokenizer
from research.tokenizers.pretokenize import PATTERNS

__all__ = ["PATTERNS", "BPETokenizer", "ByteTokenizer", "load_tokenizer"]
