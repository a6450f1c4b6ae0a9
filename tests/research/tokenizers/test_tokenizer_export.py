"""What is written for other libraries gives our ids there, and comes back as the tokenizer that it was."""

import sys
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_tables import ALPHABET, chain_of, reachable_merges, short_texts

from contracts.errors import InputError
from research.tokenizers import PATTERNS, BPETokenizer, ByteTokenizer, load_tokenizer
from research.tokenizers.interop.spellings import exported, recognised
from research.tokenizers.pretokenize import class_ranges

OWN_REGEX = r"[a-z]+|[^a-z]{1,3}"
# Letters that fold to ASCII, digits of three kinds, spaces that engines disagree about, marks, joiners, emoji.
NASTY = "aSſ'strevdmlLE_ 1２½Ⅷ²\n\r\t\x1c\x85\u00a0\u2028\u3000.!?가ㅏé\u0301ह\u093f😀\u200d\U0001f1e6\u0558\U00031350"
texts = st.one_of(st.text(alphabet=NASTY, max_size=24), st.text(max_size=24))
every_pattern = pytest.mark.parametrize("pattern", [*PATTERNS, OWN_REGEX])


@pytest.fixture(scope="module")
def trained(sample_text):
    made = {}

    def train(pattern):
        if pattern not in made:
            made[pattern] = BPETokenizer.train([sample_text], 600, pattern=pattern)
        return made[pattern]

    return train


@pytest.fixture(scope="module")
def in_tokenizers(trained, tmp_path_factory):
    tokenizers = pytest.importorskip("tokenizers")
    made = {}

    def write_and_load(pattern):
        if pattern not in made:
            path = tmp_path_factory.mktemp("export") / "tokenizer.json"
            trained(pattern).to_huggingface(path)
            made[pattern] = tokenizers.Tokenizer.from_file(str(path))
            made[pattern].encode_special_tokens = True
        return made[pattern]

    return write_and_load


@pytest.fixture(scope="module")
def in_tiktoken(trained):
    pytest.importorskip("tiktoken")
    made = {}

    def export(pattern):
        if pattern not in made:
            made[pattern] = trained(pattern).to_tiktoken()
        return made[pattern]

    return export


@every_pattern
@given(text=texts)
def test_tokenizers_gives_our_ids(trained, in_tokenizers, pattern, text):
    assert in_tokenizers(pattern).encode(text).ids == trained(pattern).encode(text).tolist()


@every_pattern
@given(text=texts)
def test_tiktoken_gives_our_ids(trained, in_tiktoken, pattern, text):
    assert in_tiktoken(pattern).encode_ordinary(text) == trained(pattern).encode(text).tolist()


@every_pattern
def test_both_give_our_ids_for_a_text_that_has_everything(trained, in_tokenizers, in_tiktoken, pattern, sample_text):
    ids = trained(pattern).encode(sample_text).tolist()
    assert in_tokenizers(pattern).encode(sample_text).ids == ids
    assert in_tiktoken(pattern).encode_ordinary(sample_text) == ids
    assert in_tiktoken(pattern).decode(ids) == sample_text
    assert in_tokenizers(pattern).decode(ids) == sample_text


@every_pattern
@pytest.mark.parametrize("boundary", ["shared", "separate", "bos", "eos"])
def test_read_back_it_is_the_same_tokenizer(trained, tmp_path, pattern, boundary):
    tokenizer = trained(pattern).with_boundary(boundary)
    tokenizer.to_huggingface(tmp_path)
    for read in (BPETokenizer.from_huggingface(tmp_path), load_tokenizer(tmp_path / "tokenizer.json")):
        assert read.identity == tokenizer.identity
        assert read.boundary == boundary
    pytest.importorskip("tiktoken")
    assert BPETokenizer.from_tiktoken(tokenizer.to_tiktoken()).identity == tokenizer.identity


@every_pattern
def test_without_boundaries_the_reader_says_so(trained, tmp_path, pattern):
    tokenizer = trained(pattern).with_boundary("none")
    tokenizer.to_huggingface(tmp_path)
    tokenizer.to_rank_file(tmp_path / "ranks.tiktoken")
    assert load_tokenizer(tmp_path, boundary="none").identity == tokenizer.identity
    ranks = BPETokenizer.from_tiktoken(tmp_path / "ranks.tiktoken", pattern, boundary="none")
    assert ranks.identity == tokenizer.identity


@given(reachable_merges(), short_texts)
def test_overlapping_merges_mean_the_same_to_both(merges, text):
    tokenizers, _ = pytest.importorskip("tokenizers"), pytest.importorskip("tiktoken")
    tokenizer = BPETokenizer(merges, "none")
    spelled = [[tokenizer.token_bytes(part).decode() for part in pair] for pair in merges]
    vocab = {character: ord(character) for character in ALPHABET}
    vocab |= {left + right: own_id for own_id, (left, right) in enumerate(spelled, 256)}
    ids = tokenizer.encode(text).tolist()
    assert [token.id for token in tokenizers.models.BPE(vocab, list(map(tuple, spelled))).tokenize(text)] == ids
    assert tokenizer.to_tiktoken().encode_ordinary(text) == ids


@pytest.mark.parametrize("name", ["words", "gpt2", "gpt2-digits", "cl100k"])
def test_an_exported_pattern_spells_its_classes_out_and_is_recognised(name):
    regex = exported(PATTERNS[name])
    assert not any(escape in regex for escape in (r"\w", r"\s", r"\S", r"\p"))
    assert recognised(regex) == name


@pytest.mark.slow
@pytest.mark.parametrize("name", ["words", "gpt2", "gpt2-digits", "cl100k"])
def test_an_exported_pattern_has_the_edges_of_our_classes(name):
    tokenizers, _ = pytest.importorskip("tokenizers"), pytest.importorskip("tiktoken")
    pattern = PATTERNS[name]
    spans = chain.from_iterable(class_ranges(pattern.version).values())
    edges = {code for low, high in spans for code in (low - 1, low, high, high + 1)} - {-1, *range(0xD800, 0xE000)}
    row = "".join(f"a{chr(code)}1{chr(code)} {chr(code)}" for code in sorted(edges))
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(exported(pattern)), "isolated")
    assert pattern.split(row) == [piece for piece, _ in split.pre_tokenize_str(row)]
    # Merges of every two bytes show a border wherever it falls.
    tokenizer = BPETokenizer([(left, right) for left in range(256) for right in range(256)], name)
    assert tokenizer.encode(row).tolist() == tokenizer.to_tiktoken().encode_ordinary(row)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["words", "gpt2", "cl100k"])
def test_both_give_our_ids_for_the_beginning_of_every_corpus_file(
    trained, in_tokenizers, in_tiktoken, pattern, shared_path
):
    corpora = shared_path("corpora")
    names = [path for path in sorted(corpora.rglob("*")) if path.suffix in (".txt", ".json", ".log")]
    for path in names:
        text = path.read_bytes()[:20_000].decode(errors="ignore")
        ids = trained(pattern).encode(text).tolist()
        assert in_tokenizers(pattern).encode(text).ids == ids, path.name
        assert in_tiktoken(pattern).encode_ordinary(text) == ids, path.name
    assert len(names) > 60


def test_special_tokens_of_the_export_are_the_protocol_tokens(trained, tmp_path):
    tokenizers, _ = pytest.importorskip("tokenizers"), pytest.importorskip("tiktoken")
    tokenizer = trained("words").with_boundary("separate")
    tokenizer.to_huggingface(tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert theirs.token_to_id("<|bos|>") == tokenizer.start_id
    assert theirs.token_to_id("<|eos|>") == tokenizer.stop_id
    assert theirs.get_vocab_size() == tokenizer.vocab_size
    assert theirs.encode("<|bos|>").ids == [tokenizer.start_id]
    theirs.encode_special_tokens = True
    assert theirs.encode("<|bos|>").ids == tokenizer.encode("<|bos|>").tolist()
    encoding = tokenizer.to_tiktoken()
    assert encoding.encode("<|bos|>", allowed_special="all") == [tokenizer.start_id]
    assert encoding.n_vocab == tokenizer.vocab_size


def test_vocab_and_merges_are_what_the_library_reads(trained, tmp_path, sample_text):
    tokenizers = pytest.importorskip("tokenizers")
    tokenizer = trained("gpt2")
    tokenizer.to_vocab_and_merges(tmp_path)
    theirs = tokenizers.ByteLevelBPETokenizer.from_file(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    assert theirs.encode(sample_text).ids == tokenizer.encode(sample_text).tolist()
    assert theirs.token_to_id("<|doc|>") == tokenizer.start_id


def test_the_byte_tokenizer_is_exported_as_bytes(tmp_path):
    tokenizers, _ = pytest.importorskip("tokenizers"), pytest.importorskip("tiktoken")
    ByteTokenizer().to_huggingface(tmp_path)
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert theirs.encode("안녕").ids == list("안녕".encode())
    assert ByteTokenizer().to_tiktoken().encode_ordinary("안녕") == list("안녕".encode())


def test_tokens_of_the_same_bytes_can_not_be_written(tmp_path):
    twice = BPETokenizer([(97, 98), (98, 99), (256, 99), (97, 257)], "none")
    for write in (twice.to_huggingface, twice.to_vocab_and_merges):
        with pytest.raises(InputError, match="merges: expected tokens that are spelled differently, got 'abc' twice"):
            write(tmp_path)
    with pytest.raises(InputError, match=r"ranks: expected tokens that their own bytes merge into, got b'abc'"):
        twice.to_rank_file(tmp_path / "ranks.tiktoken")
    assert list(tmp_path.iterdir()) == []


def test_a_text_token_spelled_like_a_protocol_token_can_not_be_written(tmp_path):
    tokenizer = BPETokenizer(chain_of(b"<|doc|>"), "none")
    assert tokenizer.token_bytes(tokenizer.text_vocab_size - 1) == b"<|doc|>"
    with pytest.raises(InputError, match=r"got '<\|doc\|>' twice"):
        tokenizer.to_huggingface(tmp_path)


def test_a_merge_that_no_text_reaches_can_not_be_a_rank():
    dead = BPETokenizer([(98, 99), (97, 98), (257, 99)], "none")
    with pytest.raises(InputError, match=r"their own bytes merge into, got b'abc' \(id 258\)"):
        dead.to_tiktoken()


def test_a_merge_that_looks_like_the_header_is_not_written(tmp_path):
    tokenizer = BPETokenizer(chain_of(b"#version1"), "none")
    with pytest.raises(InputError, match=r"merges: expected none that merges.txt takes for its header"):
        tokenizer.to_vocab_and_merges(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_regex_that_leaves_text_out_is_no_pattern_for_tiktoken():
    pytest.importorskip("tiktoken")
    with pytest.raises(InputError, match="pattern: expected a regex that matches every character"):
        BPETokenizer([], "[a-z]+").to_tiktoken()


def test_without_tiktoken_the_extra_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "tiktoken", None)
    tokenizer = BPETokenizer([(104, 101)])
    with pytest.raises(InputError, match=r"tiktoken: expected the package tiktoken, got none; .* extra interop"):
        tokenizer.to_tiktoken()
    tokenizer.to_rank_file(tmp_path / "ranks.tiktoken")
    assert (tmp_path / "ranks.tiktoken").read_text().splitlines()[-1] == "aGU= 256"


@pytest.mark.parametrize("method", ["to_huggingface", "to_rank_file", "to_vocab_and_merges"])
def test_a_path_that_can_not_be_written_is_refused(tmp_path, method):
    with pytest.raises(InputError, match="expected a path that can be written"):
        getattr(BPETokenizer([]), method)(tmp_path / "missing" / "file")
    assert list(tmp_path.iterdir()) == []
