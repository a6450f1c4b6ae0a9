"""Each law of tokenizers finds the one fault that it is about, and none in a tokenizer that is right."""

import itertools
import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from contracts.errors import InputError
from contracts.laws import Effort, TokenizerView, from_encode_decode, verify
from contracts.laws.tokenizer import LAWS
from research.tokenizers import BPETokenizer, ByteTokenizer

pytestmark = pytest.mark.slow

QUICK = Effort(examples=20, seconds=30.0, code_points=2048)
DOC, START = 258, 259
TOKENS = [*(bytes([byte]) for byte in range(256)), b"aa", b"a "]


def cut(text: str) -> list[str]:
    return re.findall(r"\s+|\w+|[^\w\s]", text)


def merged(data: bytes, merges: tuple[bytes, ...] = (b"aa",)) -> list[int]:
    ids, at = [], 0
    while at < len(data):
        width = 2 if data[at : at + 2] in merges else 1
        ids.append(TOKENS.index(data[at : at + width]))
        at += width
    return ids


def encode(text: str) -> list[int]:
    return [token_id for piece in cut(text) for token_id in merged(piece.encode())]


def decode_bytes(ids: list[int]) -> bytes:
    return b"".join(TOKENS[token_id] for token_id in ids)


def decode(ids: list[int]) -> str:
    return decode_bytes(ids).decode()


#: 256 bytes, the merge `aa` within words, and a protocol token: what every planted fault starts from.
RIGHT = from_encode_decode(
    encode,
    decode,
    259,
    decode_bytes=decode_bytes,
    encode_batch=lambda texts: [encode(text) for text in texts],
    pretokens=cut,
    token_byte_lengths=[*map(len, TOKENS), 0],
    protocol={"doc": DOC},
)


def ascii_only(text: str) -> list[int]:
    return [{character: ord(character) for character in map(chr, range(128))}[character] for character in text]


def takes_turns() -> Callable[[str], list[int]]:
    merges = itertools.cycle([(b"aa",), (), ()])
    return lambda text: [token_id for piece in cut(text) for token_id in merged(piece.encode(), next(merges))]


def recognises_specials(text: str) -> list[int]:
    before, special, after = text.partition("<|doc|>")
    return [*encode(before), DOC, *recognises_specials(after)] if special else encode(text)


def decode_with_specials(ids: list[int]) -> bytes:
    return b"".join(b"<|doc|>" if token_id == DOC else TOKENS[token_id] for token_id in ids)


def sorted_by_length(texts: list[str]) -> list[list[int]]:
    return [encode(text) for text in sorted(texts, key=len)]


def without_start(ids: list[int]) -> bytes:
    return decode_bytes([token_id for token_id in ids if token_id != START])


def collapsing(ids: list[int]) -> str:
    """Takes two equal neighbours for one, which the merge `aa` never leaves within a text."""
    return decode([token_id for at, token_id in enumerate(ids) if (token_id, *ids[at + 1 : at + 2]) != (97, 97)])


def replacing(ids: list[int]) -> bytes:
    return decode_bytes(ids).decode("utf-8", errors="replace").encode()


FAULTS = {
    "takes-every-text": (
        {"encode": ascii_only},
        r"encode('\x80') raises KeyError: '\x80'",
    ),
    "deterministic": (
        {"encode": takes_turns()},
        None,
    ),
    "integer-ids": (
        {"encode": lambda text: np.array(encode(text), np.float32)},
        "encode('') is float32 of shape (0,)",
    ),
    "ids-in-range": (
        {"vocab_size": 256},
        "encode('aa') has 256, outside 0..255",
    ),
    "refuses-lone-surrogates": (
        {"encode": lambda text: encode(text.encode("utf-8", "replace").decode())},
        r"encode('\ud800') is [63]",
    ),
    "protocol-ids-never-from-text": (
        {"encode": recognises_specials, "decode": None, "decode_bytes": decode_with_specials},
        "encode('<|doc|>') has 258, the protocol id 'doc'",
    ),
    "batch-equals-single": (
        {"encode_batch": sorted_by_length},
        "encode_batch(['a', '']) is [[], [97]], alone [[97], []]",
    ),
    "no-more-tokens-than-bytes": (
        {
            "encode": lambda text: [START, *encode(text)],
            "decode": None,
            "decode_bytes": without_start,
            "vocab_size": 260,
        }
        | {"token_byte_lengths": [*RIGHT.token_byte_lengths, 0]},
        "encode('') is [259]: 1 tokens for 0 bytes",
    ),
    "byte-lengths-add-up": (
        {"token_byte_lengths": [1] * 258 + [0]},
        "'aa' has 2 bytes, its tokens [256] have 1",
    ),
    "pretoken-borders-are-token-borders": (
        {"encode": lambda text: merged(text.encode(), (b"aa", b"a "))},
        "'a ' is cut to ['a', ' '], but its tokens are [b'a ']",
    ),
    "concatenation": (
        {"decode": collapsing},
        "encode('a') + encode('a') decodes to 'a', apart to 'aa'",
    ),
    "every-prefix-decodes": (
        {"decode_bytes": replacing},
        None,
    ),
}


def changed(**parts: Any) -> TokenizerView:
    """`RIGHT` with other functions; a batch is encoded one by one unless said otherwise."""
    one_by_one = parts.get("encode", encode)
    return replace(RIGHT, **{"encode_batch": lambda texts: [one_by_one(text) for text in texts]} | parts)


def broken_by(tokenizer: TokenizerView) -> dict[str, str]:
    return {outcome.law: outcome.detail for outcome in verify(tokenizer, effort=QUICK).broken}


@pytest.mark.parametrize("law", FAULTS)
def test_a_fault_breaks_its_law_alone_with_the_smallest_counterexample(law):
    change, counterexample = FAULTS[law]
    broken = broken_by(changed(**change))
    assert list(broken) == [law]
    assert counterexample in (None, broken[law])


@pytest.mark.parametrize(
    ("encode_lossily", "counterexample"),
    [
        (lambda text: encode(unicodedata.normalize("NFC", text)), r"decode(encode('\u0340')) is '\u0300'"),
        (lambda text: encode(text.strip()), r"decode(encode('\t')) is ''"),
        (lambda text: encode(text.replace("\0", "")), r"decode(encode('\x00')) is ''"),
        (lambda text: encode(text.replace("\r\n", "\n")), r"decode(encode('\r\n')) is '\n'"),
        (lambda text: encode(text.lower()), "decode(encode('A')) is 'a'"),
    ],
    ids=["NFC", "strip", "NUL", "CRLF", "lower case"],
)
def test_a_loss_breaks_the_round_trip_alone(encode_lossily, counterexample):
    assert broken_by(changed(encode=encode_lossily)) == {"round-trip": counterexample}


def test_every_law_has_a_fault_here():
    assert {law.name for law in LAWS} == {*FAULTS, "round-trip"}


def test_a_tokenizer_that_is_right_keeps_every_law():
    assert [outcome.verdict for outcome in verify(RIGHT, effort=QUICK).outcomes] == ["kept"] * len(LAWS)


@pytest.mark.parametrize("tokenizer", [ByteTokenizer("separate"), BPETokenizer.train(["aa ab aab"] * 3, 260)])
def test_our_tokenizers_keep_every_law_and_none_says_that_it_does_not_apply(tokenizer):
    assert [outcome.verdict for outcome in verify(tokenizer, effort=QUICK).outcomes] == ["kept"] * len(LAWS)


def test_a_protocol_id_in_a_text_is_found_under_the_spelling_that_the_tokenizer_decodes_it_to():
    def recognises_its_own(text: str) -> list[int]:
        return [DOC if text == "~~document~~" else token_id for token_id in encode(text)]

    def spelled(ids: list[int]) -> str:
        return "~~document~~" if DOC in ids else decode(ids)

    broken = broken_by(changed(encode=recognises_its_own, decode=spelled))
    assert broken["protocol-ids-never-from-text"] == "encode('~~document~~') has 258, the protocol id 'doc'"


def test_two_functions_and_a_size_are_enough_and_the_other_laws_say_what_they_miss():
    characters = sorted({*"hello world"})
    toy = from_encode_decode(
        lambda text: [characters.index(character) for character in text],
        lambda ids: "".join(characters[token_id] for token_id in ids),
        len(characters),
    )
    report = verify(toy, effort=QUICK)
    assert [outcome.law for outcome in report.broken] == ["takes-every-text"]
    reasons = {outcome.law: outcome.detail for outcome in report.of("not applicable")}
    assert reasons["batch-equals-single"] == "it has no encode_batch"
    assert reasons["byte-lengths-add-up"] == "it has no token_byte_lengths"
    assert reasons["protocol-ids-never-from-text"] == "it names no protocol ids"


def test_ids_of_two_dimensions_break_one_law():
    assert list(broken_by(changed(encode=lambda text: np.array([encode(text)])))) == ["integer-ids"]


def test_what_is_no_tokenizer_is_refused_with_what_is_missing():
    class Half:
        def encode(self, text: str) -> list[int]:
            return []

    with pytest.raises(InputError, match="no decode, no vocab_size"):
        verify(Half())
    with pytest.raises(InputError, match="Half: expected an object, got a class"):
        verify(Half)
    with pytest.raises(InputError, match="neither"):
        from_encode_decode(encode, None, 256)


def test_the_laws_of_tokenizers_load_no_jax():
    program = (
        "import sys\nfrom contracts.laws import Effort, assert_laws\nfrom contracts.laws import from_encode_decode\n"
        "assert_laws(from_encode_decode(lambda t: list(t.encode()), lambda i: bytes(i).decode(), 256), "
        "effort=Effort(2, 0.2))\nassert 'jax' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_an_encoding_of_tiktoken_is_taken_as_it_is():
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {token: rank for rank, token in enumerate(TOKENS)}
    encoding = tiktoken.Encoding(
        "toy", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={"<|endoftext|>": DOC}
    )
    broken = broken_by(encoding)
    assert broken.pop("takes-every-text").startswith("encode('<|endoftext|>') raises ValueError: ")
    assert broken == {"refuses-lone-surrogates": r"encode('\ud800') is [239, 191, 189]"}


def test_a_tokenizer_of_hugging_face_is_taken_as_it_is(shared_path):
    tokenizers = pytest.importorskip("tokenizers")
    gpt2 = tokenizers.Tokenizer.from_file(str(shared_path("tokenizers/gpt2/tokenizer.json")))
    assert broken_by(gpt2) == {
        "protocol-ids-never-from-text": "encode('<|endoftext|>') has 50256, the protocol id '<|endoftext|>'"
    }
