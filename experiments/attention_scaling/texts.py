"""The same text as characters, bytes and tokens: how much longer, and what that costs attention (the square of it) and
a whole decoder (between the first power and the square, the closer to the square the longer the text).

Characters and bytes are those of a whole slice. A BPE is learned from one half of every slice and counts the other.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from contracts.decoder import DecoderConfig
from contracts.errors import InputError
from contracts.results import Factor, Row
from contracts.tokenizer import Tokenizer
from experiments.corpora import Slice
from experiments.vocabularies import tokenizers_beside_learned
from research.costs import forward_flops, full_pairs
from research.progress import progress
from research.tokenizers import BPETokenizer, ByteTokenizer

#: Characters of text for which whole decoders are compared: a paragraph, a long article, half a book.
CONTENTS = (500, 10_000, 200_000)

#: The ends of the scale: every character 1, 3 or 4 bytes.
CONSTRUCTED = {
    "all ASCII": "the quick brown fox jumps over the lazy dog",
    "all Hangul": "가나다라마바사아자차카타파하",
    "all emoji": "😀😃😄😁😆🐶🐱🦊🐻🐼",
}


@dataclass(frozen=True)
class Units:
    """What a text is counted in: characters, bytes, the tokens of a BPE learned here, and those of given tokenizers."""

    learned: BPETokenizer
    given: Mapping[str, Tokenizer]

    @property
    def bpe(self) -> str:
        """The name of the learned BPE: the size that it reached, and what taught it."""
        return f"bpe-{self.learned.text_vocab_size} (first halves)"

    @property
    def tokenizers(self) -> dict[str, Tokenizer]:
        """By name, the learned one first."""
        return {self.bpe: self.learned, **self.given}

    def vocab_size(self, unit: str) -> int:
        """Ids of a decoder that reads this unit. Characters get those of bytes, so that only the length differs."""
        return self.tokenizers[unit].vocab_size if unit in self.tokenizers else ByteTokenizer().vocab_size


@dataclass(frozen=True, eq=False)
class TextCost:
    """How long one slice is in each unit."""

    name: str
    group: str
    characters: int
    bytes: int
    held_out_bytes: int = 0
    held_out_tokens: Mapping[str, int] = field(default_factory=dict)
    """tokens of the held-out half by tokenizer; none for constructed text"""
    is_english: bool = False
    """by its name"""

    @property
    def is_constructed(self) -> bool:
        """Made to be extreme, not found."""
        return not self.held_out_tokens

    @property
    def bytes_per_character(self) -> float:
        """Mean over the slice."""
        return self.bytes / self.characters

    def bytes_per(self, unit: str) -> float:
        """Bytes of a character, or mean bytes of a tokenizer's token on the held-out half."""
        return self.bytes_per_character if unit == "characters" else self.held_out_bytes / self.held_out_tokens[unit]

    def attention_ratio(self, unit: str) -> float:
        """Query-key pairs of bytes over those of `unit`, for the same text."""
        return self.bytes_per(unit) ** 2

    def decoder_ratio(self, unit: str, characters: int, shape: DecoderConfig, units: Units) -> float:
        """Forward FLOPs of a decoder that reads so much of this text as bytes, over one that reads it as `unit`."""
        size = characters * self.bytes_per_character
        as_bytes = _decoder_flops(shape, units.vocab_size("bytes"), round(size))
        return as_bytes / _decoder_flops(shape, units.vocab_size(unit), round(size / self.bytes_per(unit)))


def units_for(cuts: Sequence[Slice], vocab_size: int, names: Sequence[str]) -> Units:
    """A BPE learned from the first halves, and the tokenizers of these names; bytes are a unit anyway.

    Raises `InputError` for a tokenizer that can't be read, and for two that would have one name in the results.
    """
    return Units(BPETokenizer.train((halves(cut)[0] for cut in cuts), vocab_size), tokenizers_beside_learned(names))


def text_costs(cuts: Sequence[Slice], units: Units) -> list[TextCost]:
    """Every slice in every unit, then the constructed extremes."""
    found = []
    with progress("encoding", total=len(cuts), unit="texts") as bar:
        for cut in cuts:
            held_out = halves(cut)[1]
            tokens = {name: len(tokenizer.encode(held_out)) for name, tokenizer in units.tokenizers.items()}
            sizes = len(cut.text), len(cut.text.encode()), len(held_out.encode())
            found.append(TextCost(cut.name, cut.group, *sizes, tokens, cut.is_english))
            bar.advance()
    constructed = [TextCost(name, "constructed", len(text), len(text.encode())) for name, text in CONSTRUCTED.items()]
    return found + constructed


def halves(cut: Slice) -> tuple[str, str]:
    """Every second document in each half, or every second line of a single document; a single line is cut in two.

    In turns, because the end of a text often speaks of something other than its beginning. Blank ones are left out.
    """
    documents = [document for document in cut.documents if document]
    pieces = documents if len(documents) > 1 else [line for line in cut.text.split("\n") if line]
    if len(pieces) == 1:
        middle = len(pieces[0]) // 2
        pieces = [pieces[0][:middle], pieces[0][middle:]]
    first, second = "\n".join(pieces[::2]), "\n".join(pieces[1::2])
    if not first or not second:
        got = f"{len(cut.text)} character(s)"
        raise InputError("corpus", expected="text that can be halved", got=got, where=cut.name)
    return first, second


def text_rows(texts: Sequence[TextCost], units: Units, shapes: Mapping[str, DecoderConfig]) -> list[Row]:
    """Sizes, and what bytes cost against every other unit: attention alone, and the decoders named in `shapes`."""
    rows = [
        Row("reached_vocabulary", units.learned.text_vocab_size, "tokens", "exact", "count", {"tokenizer": units.bpe})
    ]
    for text in texts:
        named: dict[str, Factor] = {"slice": text.name, "group": text.group}
        rows.append(Row("characters", text.characters, "characters", "exact", "count", named))
        rows.append(Row("bytes", text.bytes, "bytes", "exact", "count", named))
        for unit in ("characters", *text.held_out_tokens):
            against: dict[str, Factor] = {**named, "of": "bytes", "against": unit}
            rows.append(Row("length_ratio", text.bytes_per(unit), "ratio", "exact", "count", against))
            rows.append(Row("attention_ratio", text.attention_ratio(unit), "ratio", "exact", "count", against))
            for shape_name, shape in shapes.items():
                for characters in CONTENTS:
                    ratio = text.decoder_ratio(unit, characters, shape, units)
                    factors = {**against, "decoder": shape_name, "characters": characters}
                    rows.append(Row("decoder_ratio", ratio, "ratio", "exact", "formula", factors))
    return rows


def _decoder_flops(shape: DecoderConfig, vocab_size: int, length: int) -> int:
    """Of at least one position: a text that is shorter than a token's mean still takes one."""
    length = max(1, length)
    return forward_flops(replace(shape, vocab_size=vocab_size), length, full_pairs(length)).total
