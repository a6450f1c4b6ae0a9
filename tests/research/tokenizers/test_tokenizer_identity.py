"""The identity is the SHA-256 of a listing whose form is fixed; here it is written down a second time."""

import hashlib
import importlib.metadata
import json

import pytest

from research.tokenizers import PATTERNS, BPETokenizer, ByteTokenizer
from research.tokenizers.identity import listing

BYTE_LINES = [f"{value}\t{value:02x}" for value in range(256)]


def digest(lines):
    return hashlib.sha256("".join(line + "\n" for line in lines).encode()).hexdigest()


@pytest.mark.parametrize(
    ("boundary", "expected"),
    [
        ("shared", "dc69561d64de7d6a25dd50fabf06015aa0cdda33d35c682f151dc6ed105bba7a"),
        ("separate", "f6644536cd030d637a17d07fad2320a5d41cb517ee952a988b620bfaf3543fcb"),
        ("none", "06a71acf2db388b65fa06914fa8cf9b31bb7bbcab96c225b3e0d895e9230f983"),
    ],
)
def test_the_byte_tokenizer_has_its_published_digest(boundary, expected):
    identity = ByteTokenizer(boundary).identity
    assert identity.vocab_sha256 == expected
    assert identity.version == "utf8-byte-v1"


def test_the_listing_of_the_shared_byte_tokenizer_has_1704_bytes():
    assert len(listing(ByteTokenizer().vocabulary, {"doc": 256})) == 1_704
    assert digest(["utf8-byte-v1", *BYTE_LINES, "256\t!doc"]) == ByteTokenizer().identity.vocab_sha256


def test_a_bpe_lists_its_pattern_and_each_merge_with_its_parents():
    identity = BPETokenizer([(104, 101), (256, 108)], boundary="separate").identity
    lines = [
        "byte-bpe-v1",
        f"pattern\twords\t{PATTERNS['words'].version}",
        *BYTE_LINES,
        "256\t6865\t104 101",
        "257\t68656c\t256 108",
        "258\t!bos",
        "259\t!eos",
    ]
    assert identity.vocab_sha256 == digest(lines)
    assert (identity.version, identity.vocab_size) == ("byte-bpe-v1", 260)
    assert identity.protocol == {"bos": 258, "eos": 259}


def test_a_regex_is_listed_in_ascii_with_the_release_of_its_module():
    pattern = '"é\t|\\w+"'
    lines = [
        "byte-bpe-v1",
        f"regex\t{json.dumps(pattern, ensure_ascii=True)}\t{importlib.metadata.version('regex')}",
        *BYTE_LINES,
    ]
    assert BPETokenizer([], pattern, boundary="none").identity.vocab_sha256 == digest(lines)
    assert "\\u00e9\\t" in lines[1]


def test_a_bpe_without_merges_is_not_the_byte_tokenizer():
    assert BPETokenizer([]).identity.version == "byte-bpe-v1"
    assert BPETokenizer([]).identity.vocab_sha256 != ByteTokenizer().identity.vocab_sha256


def test_every_pattern_has_a_version_that_fits_in_a_line():
    for name, pattern in PATTERNS.items():
        assert pattern.name == name
        assert pattern.version
        assert "\t" not in pattern.version
        assert "\n" not in pattern.version
