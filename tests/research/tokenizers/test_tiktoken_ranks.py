"""tiktoken's ranks: equal ids for every table that merges can say, a refusal for every other."""

import base64

import pytest
from hypothesis import assume, given
from published_patterns import CL100K, FIRST_CL100K, FIRST_GPT2
from rank_tables import any_tokens, ranks_of, reachable_merges, short_texts

from contracts.errors import InputError
from research.tokenizers import PATTERNS, BPETokenizer

HE = {b"he": 256, b" t": 257, b" the": 258}


def encoding(ranks, pattern=r"[\s\S]+", special_tokens=None):
    tiktoken = pytest.importorskip("tiktoken")
    return tiktoken.Encoding("test", pat_str=pattern, mergeable_ranks=ranks, special_tokens=special_tokens or {})


@given(reachable_merges(), short_texts)
def test_merges_come_back_from_their_tokens(merges, text):
    tokenizer = BPETokenizer(merges, "none")
    ranks = ranks_of(tokenizer.vocabulary.tokens[256:])
    assert BPETokenizer.from_tiktoken(ranks, "none").identity == tokenizer.identity
    assert tokenizer.encode(text).tolist() == encoding(ranks).encode_ordinary(text)


@given(any_tokens, short_texts)
def test_any_ranks_are_refused_or_give_tiktokens_ids(tokens, text):
    ranks = ranks_of(tokens)
    try:
        tokenizer = BPETokenizer.from_tiktoken(ranks, "none")
    except InputError:
        assume(False)
    assert tokenizer.encode(text).tolist() == encoding(ranks).encode_ordinary(text)


def test_a_token_that_merges_do_not_reach_is_refused_by_name():
    # Alone, `abc` becomes `a` and `bc`; tiktoken gives it for the text `abc` all the same, but not within `abcd`.
    with pytest.raises(InputError, match=r"ranks: expected .*, got b'abcd', which lower ranks leave in 3 parts"):
        BPETokenizer.from_tiktoken(ranks_of([b"bc", b"abcd"]), "none")


def test_the_pair_is_the_one_that_lower_ranks_leave_whatever_else_would_spell_the_token():
    tokenizer = BPETokenizer.from_tiktoken(ranks_of([b"bc", b"ab", b"abc"]), "none")
    assert tokenizer.merges.tolist() == [[98, 99], [97, 98], [97, 256]]


def test_the_ranks_of_the_file_are_external_ids():
    shifted = {token: rank + 1000 for token, rank in (ranks_of([]) | HE).items()}
    tokenizer = BPETokenizer.from_tiktoken(shifted, "gpt2")
    assert tokenizer.encode(" the").tolist() == [258]
    assert tokenizer.to_external(tokenizer.encode(" the")).tolist() == [1258]
    assert tokenizer.external_ids[:2].tolist() == [1000, 1001]


def test_ranks_that_number_as_we_do_need_no_external_ids():
    tokenizer = BPETokenizer.from_tiktoken(ranks_of([]) | HE, "gpt2")
    assert tokenizer.external_ids is None
    assert tokenizer.identity == BPETokenizer([(104, 101), (32, 116), (257, 256)], "gpt2").identity


def test_a_rank_file_is_read_with_the_pattern_that_it_does_not_say(tmp_path):
    path = tmp_path / "some.tiktoken"
    ranks = ranks_of([]) | HE
    path.write_bytes(b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for token, rank in ranks.items()) + b"\n")
    assert BPETokenizer.from_tiktoken(path, "gpt2").identity == BPETokenizer.from_tiktoken(ranks, "gpt2").identity
    with pytest.raises(InputError, match="pattern: expected one pattern, got none"):
        BPETokenizer.from_tiktoken(str(path))


@pytest.mark.parametrize("line", ["aGU=", "aGU= x", "a 1", "YQ== 256", "!!!! 256", "aGU= 256 7"])
def test_a_line_that_is_no_token_with_its_rank_is_refused_with_its_number(tmp_path, line):
    path = tmp_path / "some.tiktoken"
    path.write_text(f"YQ== 97\n{line}\n")
    with pytest.raises(InputError, match=r"rank file: expected .* at .*some\.tiktoken line 2"):
        BPETokenizer.from_tiktoken(path, "gpt2")


def test_a_missing_rank_file_is_refused(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        BPETokenizer.from_tiktoken(tmp_path / "none.tiktoken", "gpt2")


@pytest.mark.parametrize(
    ("ranks", "message"),
    [
        ({b"a": 1}, r"all 256 bytes, got none for b'\\x00'"),
        (ranks_of([]) | {"he": 256}, "bytes with a rank each"),
        (ranks_of([]) | {b"he": -1}, "bytes with a rank each"),
        (ranks_of([]) | {b"he": 1.5}, "bytes with a rank each"),
        (ranks_of([]) | {b"": 256}, "bytes with a rank each"),
        (ranks_of([]) | {b"he": 97}, "an id of its own for each token"),
        (ranks_of([]) | {b"he": 2**31}, "an id of its own for each token"),
        ([(b"a", 1)], "a file, a tiktoken.Encoding or a dict, got list"),
    ],
)
def test_what_are_no_ranks_is_refused(ranks, message):
    with pytest.raises(InputError, match=message):
        BPETokenizer.from_tiktoken(ranks, "gpt2")


def test_an_encoding_says_its_pattern_and_special_tokens():
    ranks = ranks_of([]) | HE
    source = encoding(ranks, PATTERNS["gpt2"].regex, {"<|endoftext|>": 300})
    tokenizer = BPETokenizer.from_tiktoken(source)
    assert tokenizer.pattern == "gpt2"
    assert tokenizer.special_tokens == {"<|endoftext|>": 300}
    assert tokenizer.to_external([tokenizer.start_id]).tolist() == [300]
    with pytest.raises(InputError, match="pattern: expected one pattern, got two"):
        BPETokenizer.from_tiktoken(source, "gpt2")


def test_a_pattern_that_leaves_text_out_is_refused_for_tiktoken_drops_it():
    with pytest.raises(InputError, match=r"pattern: expected .*'\[a-z\]\+', which leaves out '\\x00'; tiktoken drops"):
        BPETokenizer.from_tiktoken(ranks_of([]), "[a-z]+")
    assert BPETokenizer.from_tiktoken(ranks_of([]), r"[a-z]+|[^a-z]").pattern == r"[a-z]+|[^a-z]"


@pytest.mark.parametrize(("published", "name"), [(FIRST_GPT2, "gpt2"), (CL100K, "cl100k")])
def test_published_patterns_are_recognised(published, name):
    assert BPETokenizer.from_tiktoken(ranks_of([]), published).pattern == name


def test_the_first_publication_of_cl100k_is_not_the_present_one():
    tokenizer = BPETokenizer.from_tiktoken(ranks_of([b"\n "]), FIRST_CL100K)
    assert tokenizer.pattern == FIRST_CL100K
    assert tokenizer.encode("a\n ").tolist() == encoding(ranks_of([b"\n "]), FIRST_CL100K).encode_ordinary("a\n ")
    assert tokenizer.encode("a\n ").tolist() != BPETokenizer([(10, 32)], "cl100k").encode("a\n ").tolist()
