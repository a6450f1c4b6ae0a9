"""Why the bytes of scored tokens are not the text: the two are read side by side, and each place where they part is
given the name of the known mistake that explains it, so that reading can go on behind it.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from research.evaluate.pieces import REPLACEMENT
from research.tokenizers.interop.huggingface import byte_characters

_SPECIAL = re.compile(r"<\|.*\|>|<｜.*｜>|<<?/?[^<>\s]+>>?|\[/?\w+\]|【.*】|｟.*｠".encode(), re.DOTALL)
_AHEAD = 16
"""bytes that have to agree for a place in the text to be recognised again"""


@dataclass(frozen=True)
class Fault:
    """One place where tokens and text part."""

    kind: str
    token: int
    """index among the scored tokens"""
    offset: int
    """byte of the text"""
    excess: int
    """bytes that are counted too often; below 0 if they are not counted at all"""


@dataclass(frozen=True)
class _Place:
    """Where the reading stands: the next token, and the next byte of the text."""

    pieces: Sequence[bytes]
    source: bytes
    token: int
    offset: int

    @property
    def piece(self) -> bytes:
        return self.pieces[self.token]

    def goes_on(self, offset: int) -> bool:
        """Whether the token behind this one stands at `offset` of the text."""
        behind = next(filter(None, self.pieces[self.token + 1 : self.token + 4]), b"")
        return bool(_loose(behind).match(self.source, offset))

    def ahead(self) -> bytes:
        """The bytes of this token and of those behind it, as many as make a place in the text known again."""
        found, token = b"", self.token
        while token < len(self.pieces) and len(found) < _AHEAD:
            found, token = found + self.pieces[token], token + 1
        return found

    def steps_back(self, skipped: int) -> bool:
        """Whether the tokens stand earlier in the text as they are, and not here without so many bytes of theirs."""
        ahead = self.ahead()
        is_earlier = self.source.rfind(ahead, 0, self.offset + len(ahead) - 1) >= 0
        return is_earlier and not self.source.startswith(ahead[skipped:], self.offset)


_Repair = Callable[[_Place], tuple[str, int, int] | None]
"""kind of the fault, byte where the text goes on, and tokens used up; None if it is another fault"""


def find_faults(pieces: Sequence[bytes], source: bytes, most: int = 10_000) -> tuple[Fault, ...]:
    """Every place where the tokens' bytes are not the text's, in order; none if they are the text, each byte once."""
    faults: list[Fault] = []
    token = offset = 0
    while token < len(pieces) and len(faults) < most:
        if source.startswith(pieces[token], offset):
            offset += len(pieces[token])
            token += 1
            continue
        place = _Place(pieces, source, token, offset)
        repaired = next(filter(None, (repair(place) for repair in _REPAIRS)), None)
        if repaired is None:
            counted = sum(map(len, pieces[token:])) - (len(source) - offset)
            return (*faults, Fault("bytes that the text does not have there", token, offset, counted))
        kind, goes_on, used = repaired
        faults.append(Fault(kind, token, offset, sum(map(len, pieces[token : token + used])) - (goes_on - offset)))
        token, offset = token + used, goes_on
    if token == len(pieces) and offset < len(source):
        faults.append(Fault("scored not at all", token, offset, offset - len(source)))
    return tuple(faults)


def summary(faults: Sequence[Fault]) -> str:
    """Each kind of fault with how often it occurs and what it adds: `scored twice (2 places, 9 bytes too many)`."""
    places, excess = Counter(fault.kind for fault in faults), Counter[str]()
    for fault in faults:
        excess[fault.kind] += fault.excess
    return "; ".join(
        f"{kind} ({count:,} place{'' if count == 1 else 's'}, {_amount(excess[kind])})"
        for kind, count in places.most_common()
    )


def _amount(excess: int) -> str:
    if not excess:
        return "as many bytes, but others"
    return f"{abs(excess):,} byte{'' if abs(excess) == 1 else 's'} too {'many' if excess > 0 else 'few'}"


def _spelled(place: _Place) -> tuple[str, int, int] | None:
    """The table still has the printable spelling of a vocabulary file instead of the bytes that it stands for."""
    for name, spoken in _SPELLINGS.items():
        data = spoken(place.piece)
        if data == place.piece:
            continue
        # SentencePiece puts a space before the text, which is not the text's
        for meant in (data, data.removeprefix(b" ")):
            end = place.offset + len(meant)
            if place.source.startswith(meant, place.offset) and (meant or place.goes_on(end)):
                return name, end, 1
    return None


def _from_sentencepiece(piece: bytes) -> bytes:
    if byte := re.fullmatch(rb"<0x([0-9A-Fa-f]{2})>", piece):
        return bytes.fromhex(byte[1].decode())
    return piece.replace("▁".encode(), b" ")


def _from_gpt2(piece: bytes) -> bytes:
    values = [_GPT2_BYTES.get(character) for character in piece.decode(errors="replace")]
    return piece if None in values else bytes(value for value in values if value is not None)


_GPT2_BYTES = {character: value for value, character in enumerate(byte_characters())}
_SPELLINGS: dict[str, Callable[[bytes], bytes]] = {
    "a table in the spelling of SentencePiece (▁ for a space, <0xEA> for a byte)": _from_sentencepiece,
    "a table in the spelling of GPT-2 (Ġ for a space)": _from_gpt2,
}


def _special_with_bytes(place: _Place) -> tuple[str, int, int] | None:
    if place.steps_back(len(place.piece)):
        return None
    if _SPECIAL.fullmatch(place.piece) and place.goes_on(place.offset):
        return "a special token with bytes", place.offset, 1
    return None


def _replacement_character(place: _Place) -> tuple[str, int, int] | None:
    if REPLACEMENT not in place.piece:
        return None
    behind = b"".join(b"(?:" + _loose(piece).pattern + b")" for piece in place.pieces[place.token + 1 :][:4])
    found = re.compile(_loose(place.piece).pattern + b"(?=" + behind + b")", re.DOTALL).match(
        place.source, place.offset
    )
    return ("U+FFFD counted as three bytes", found.end(), 1) if found else None


def _leading_space(place: _Place) -> tuple[str, int, int] | None:
    rest = place.piece[1:]
    end = place.offset + len(rest)
    if not place.piece.startswith(b" ") or not place.source.startswith(rest, place.offset) or not place.goes_on(end):
        return None
    if place.steps_back(1):
        return None
    is_twice = rest.startswith(b" ") or place.source[: place.offset].endswith(b" ")
    return ("a leading space counted twice" if is_twice else "a leading space that the text does not have"), end, 1


def _elsewhere(place: _Place) -> tuple[str, int, int] | None:
    """The tokens go on at another place of the text: they stepped back, or over something."""
    ahead = place.ahead()
    later = place.source.find(ahead, place.offset)
    earlier = place.source.rfind(ahead, 0, place.offset + len(ahead) - 1)
    if earlier >= 0 and (later < 0 or place.offset - earlier <= later - place.offset):
        return "scored twice", earlier, 0
    return ("scored not at all", later, 0) if later >= 0 else None


_REPAIRS: tuple[_Repair, ...] = (_spelled, _special_with_bytes, _replacement_character, _leading_space, _elsewhere)


def _loose(piece: bytes) -> re.Pattern[bytes]:
    """The bytes of a token, with each U+FFFD standing for one to three bytes that are no UTF-8 on their own."""
    return re.compile(b"[\x80-\xff]{1,3}?".join(map(re.escape, piece.split(REPLACEMENT))), re.DOTALL)
