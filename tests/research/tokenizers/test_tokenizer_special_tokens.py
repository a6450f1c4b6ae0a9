"""Special tokens of an imported file: some are boundaries here, all keep their ids there, no text becomes one."""

import pickle
from dataclasses import replace

import pytest
from rank_tables import ranks_of

from contracts.errors import InputError
from research.tokenizers import BPETokenizer, load_tokenizer
from research.tokenizers.interop.external import checked_external

TEXT_IDS = 256


class Ranks:
    """What a `tiktoken.Encoding` keeps: bytes from 3 up, and special tokens below."""

    _pat_str = r"[\s\S]+"

    def __init__(self, *special_tokens):
        self._mergeable_ranks = {token: rank + 3 for token, rank in ranks_of([]).items()}
        self._special_tokens = {token: index for index, token in enumerate(special_tokens)}


def read(*special_tokens, **options):
    return BPETokenizer.from_tiktoken(Ranks(*special_tokens), **options)


@pytest.mark.parametrize("boundary", ["shared", "bos", "eos", "separate"])
@pytest.mark.parametrize("special", [["<s>"], ["<|endoftext|>"], ["<|im_start|>", "<|endoftext|>"]])
def test_the_only_special_token_or_endoftext_is_every_boundary(special, boundary):
    tokenizer = read(*special, boundary=boundary)
    protocol = list(tokenizer.protocol.values())
    assert {*tokenizer.to_external(protocol).tolist()} == {len(special) - 1}


def test_of_several_others_none_is_a_boundary_until_roles_say_so():
    tokenizer = read("<s>", "</s>")
    assert tokenizer.protocol == {"doc": TEXT_IDS}
    with pytest.raises(
        InputError, match="ids: expected ids that the imported file has a token for, got 256 at position 1"
    ):
        tokenizer.to_external([65, TEXT_IDS])
    told = read("<s>", "</s>", roles={"bos": "<s>", "eos": "</s>"})
    assert told.boundary == "separate"
    assert told.to_external([TEXT_IDS, 65, TEXT_IDS + 1]).tolist() == [0, 68, 1]


@pytest.mark.parametrize(
    ("special", "boundary"),
    [
        (["<|doc|>"], "shared"),
        (["<|bos|>", "<|eos|>"], "separate"),
        (["<|eos|>", "<x>"], "eos"),
        (["<|bos|>"], "bos"),
        ([], "shared"),
        (["<s>"], "shared"),
    ],
)
def test_a_file_with_our_spellings_says_its_policy(special, boundary):
    assert read(*special).boundary == boundary


def test_no_text_becomes_a_special_token():
    tokenizer = read("<|endoftext|>", "<x>")
    assert tokenizer.special_tokens == {"<|endoftext|>": 0, "<x>": 1}
    ids = tokenizer.encode("<|endoftext|><x>")
    assert (ids < tokenizer.text_vocab_size).all()
    assert (tokenizer.to_external(ids) >= 3).all()


def test_the_id_of_a_boundary_in_the_file_is_part_of_the_identity():
    names = "<a>", "<b>"
    first, second = (read(*names, roles={"doc": name}) for name in names)
    assert first.vocab_size == second.vocab_size
    assert first.identity.vocab_sha256 != second.identity.vocab_sha256
    assert first.identity != read(*names).identity
    assert first.identity == read("<a>", "<c>", roles={"doc": "<a>"}).identity


def test_special_tokens_are_saved_pickled_and_kept_by_truncate(tmp_path):
    tokenizer = read("<a>", "<b>", roles={"doc": "<b>"})
    tokenizer.save(tmp_path / "saved.json")
    for copy in (
        load_tokenizer(tmp_path / "saved.json"),
        pickle.loads(pickle.dumps(tokenizer)),
        tokenizer.truncate(TEXT_IDS),
        tokenizer.with_boundary("none").with_boundary("shared"),
    ):
        assert copy.identity == tokenizer.identity
        assert copy.special_tokens == {"<a>": 0, "<b>": 1}
        assert copy.to_external([TEXT_IDS]).tolist() == [1]


def test_with_own_ids_forgets_the_file():
    own = read("<a>", "<b>").with_own_ids()
    assert own.special_tokens == {}
    assert own.external_ids is None
    assert own.identity == BPETokenizer([], "none").identity
    assert own.to_external([65, TEXT_IDS]).tolist() == [65, TEXT_IDS]


def test_an_export_has_the_ids_and_special_tokens_of_the_file(tmp_path):
    tokenizers, _ = pytest.importorskip("tokenizers"), pytest.importorskip("tiktoken")
    tokenizer = read("<|endoftext|>", "<x>")
    tokenizer.to_huggingface(tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert theirs.encode("A<x><|endoftext|>").ids == [68, 1, 0]
    assert load_tokenizer(tmp_path).identity == tokenizer.identity
    encoding = tokenizer.to_tiktoken()
    assert encoding.encode("A<x>", allowed_special="all") == [68, 1]
    assert BPETokenizer.from_tiktoken(encoding).identity == tokenizer.identity


def test_a_protocol_token_that_the_file_lacks_can_not_be_written_under_its_numbering(tmp_path):
    tokenizer = read("<a>", "<b>")
    with pytest.raises(InputError, match=r"protocol tokens: expected .*, got none for doc; .*with_own_ids"):
        tokenizer.to_huggingface(tmp_path)
    tokenizer.with_boundary("none").to_huggingface(tmp_path / "without.json")
    tokenizer.with_own_ids().to_huggingface(tmp_path / "own.json")
    assert load_tokenizer(tmp_path / "own.json").identity == BPETokenizer([], "none").identity


def test_ids_that_do_not_ascend_or_a_byte_without_id_can_not_be_ranks(tmp_path):
    merges = BPETokenizer([(97, 98), (99, 100)], "none").vocabulary
    ascending = list(range(3, 261))
    for ids in (ascending[:-2] + ascending[:-3:-1], [-1, *ascending[1:]]):
        external = checked_external(ids, {}, {}, where="here")
        tokenizer = BPETokenizer.of(replace(merges, external=external), "none")
        with pytest.raises(
            InputError, match=r"ranks: expected an id for every byte, and ids .* with_own_ids\(\) has ours"
        ):
            tokenizer.to_rank_file(tmp_path / "ranks.tiktoken")
        tokenizer.with_own_ids().to_rank_file(tmp_path / "ranks.tiktoken")


@pytest.mark.parametrize("roles", [{"doc": "<c>"}, {"sep": "<a>"}])
def test_roles_are_of_protocol_tokens_and_special_tokens_that_there_are(roles):
    with pytest.raises(InputError, match="roles: expected doc, bos or eos, each with one of the 2 special tokens"):
        read("<a>", "<b>", roles=roles)


def test_an_unknown_policy_is_refused():
    with pytest.raises(InputError, match="boundary: expected one of"):
        read("<a>", boundary="both")
