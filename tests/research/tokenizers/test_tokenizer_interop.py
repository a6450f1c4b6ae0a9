"""Hugging Face files: equal ids where the file is a byte-level BPE, a refusal by name where it is not."""

import json

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from rank_tables import listed_splits, short_texts

from contracts.errors import InputError
from research.tokenizers import PATTERNS, BPETokenizer, load_tokenizer
from research.tokenizers.interop.huggingface import byte_characters, from_huggingface

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}


TEMPLATE = {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|end|>"}}, {"Sequence": {"id": "A"}}]}


def split(regex):
    return {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}


def sequence(*steps):
    return {"type": "Sequence", "pretokenizers": [*steps, BYTE_LEVEL | {"use_regex": len(steps) == 0}]}


def vocab(*merged, special=("<|end|>",)):
    """Special tokens first, then bytes in the order of their characters, as Hugging Face numbers them."""
    return {token: index for index, token in enumerate([*special, *sorted(byte_characters()), *merged])}


def document(**changes):
    """A small file as Hugging Face writes it."""
    return {
        "added_tokens": [{"id": 0, "content": "<|end|>", "special": True}],
        "normalizer": None,
        "pre_tokenizer": BYTE_LEVEL,
        "model": {"type": "BPE", "vocab": vocab("he", "Ġt", "Ġthe"), "merges": ["h e", "Ġ t", "Ġt he"]},
    } | changes


def model(**changes):
    return document(model=document()["model"] | changes)


@pytest.fixture
def load(tmp_path):
    def write_and_load(content, **options):
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps(content))
        return load_tokenizer(path, **options)

    return write_and_load


def test_ids_are_ours_and_external_ids_theirs(load):
    tokenizer = load(document(), boundary="none")
    ids = tokenizer.encode("he the")
    assert ids.tolist() == [256, 258]
    theirs = document()["model"]["vocab"]
    assert tokenizer.external_ids[ids].tolist() == [theirs["he"], theirs["Ġthe"]]
    assert tokenizer.external_ids.dtype == np.int32
    assert tokenizer.pattern == "gpt2"


def test_external_ids_are_part_of_the_identity(load):
    content = document()
    tokenizer = load(content)
    theirs = content["model"]["vocab"]
    theirs["he"], theirs["Ġt"] = theirs["Ġt"], theirs["he"]
    assert load(content).identity.vocab_sha256 != tokenizer.identity.vocab_sha256
    assert tokenizer.truncate(257).external_ids.shape == (257,)


def test_an_imported_vocabulary_is_saved_with_its_external_ids(load, tmp_path):
    tokenizer = load(document())
    tokenizer.save(tmp_path / "saved.json")
    loaded = load_tokenizer(tmp_path / "saved.json")
    assert loaded.identity == tokenizer.identity
    assert loaded.external_ids.tolist() == tokenizer.external_ids.tolist()
    assert loaded.requested_vocab_size is None


def test_a_folder_stands_for_the_file_in_it(load, tmp_path):
    assert load(document()).identity == load_tokenizer(tmp_path).identity


def test_merges_may_be_lists(load):
    lists = model(merges=[["h", "e"], ["Ġ", "t"], ["Ġt", "he"]])
    assert load(lists).identity == load(document()).identity


def test_a_header_among_the_merges_is_skipped(load):
    assert load(model(merges=["#version: 0.2", "h e", "Ġ t", "Ġt he"])).identity == load(document()).identity


def test_ignore_merges_makes_no_difference_where_merges_make_every_token(load):
    assert load(model(ignore_merges=True)).identity == load(document()).identity


def test_a_byte_that_the_file_lacks_has_external_id_minus_1(load):
    content = document()
    del content["model"]["vocab"][byte_characters()[0xC0]]
    assert load(content).external_ids[0xC0] == -1


@pytest.mark.parametrize(
    ("pre_tokenizer", "pattern"),
    [
        (BYTE_LEVEL, "gpt2"),
        (BYTE_LEVEL | {"use_regex": False}, "none"),
        ({"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}, "gpt2"),
        (sequence(split(PATTERNS["gpt2"].regex)), "gpt2"),
        (sequence(split(PATTERNS["cl100k"].regex)), "cl100k"),
        (sequence(split(r"a+| ?b")), r"a+| ?b"),
        (
            {"type": "Sequence", "pretokenizers": [{"type": "Digits", "individual_digits": True}, BYTE_LEVEL]},
            "gpt2-digits",
        ),
    ],
)
def test_pre_tokenizers_that_can_be_reproduced(load, pre_tokenizer, pattern):
    assert load(document(pre_tokenizer=pre_tokenizer)).pattern == pattern


def test_the_published_spelling_of_gpt2_is_gpt2(load):
    published = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    assert load(document(pre_tokenizer=sequence(split(published)))).pattern == "gpt2"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (document(normalizer={"type": "NFC"}), "normalizer NFC"),
        (model(dropout=0.1), "dropout"),
        (model(byte_fallback=True), "byte_fallback"),
        (
            model(ignore_merges=True, merges=["t h", "Ġ t", "Ġt h"], vocab=vocab("th", "Ġt", "Ġth")),
            "ignore_merges with",
        ),
        (model(end_of_word_suffix="</w>"), "end_of_word_suffix"),
        (model(continuing_subword_prefix="##"), "continuing_subword_prefix"),
        (model(type="WordPiece"), "model WordPiece"),
        (
            document(added_tokens=[{"id": 0, "content": "  ", "special": False}]),
            "added tokens inside text such as '  '",
        ),
        (document(truncation={"max_length": 8}), "truncation"),
        (document(padding={"pad_id": 0}), "padding"),
        (document(decoder={"type": "Metaspace"}), "decoder Metaspace"),
        (document(decoder={"type": "Sequence", "decoders": [BYTE_LEVEL, {"type": "Strip"}]}), "decoder Strip"),
        (document(post_processor=TEMPLATE), "post_processor TemplateProcessing"),
        (document(post_processor={"type": "Sequence", "processors": [BYTE_LEVEL, TEMPLATE]}), "TemplateProcessing"),
        (document(post_processor={"type": "RobertaProcessing"}), "post_processor RobertaProcessing"),
        (document(post_processor={"type": "TemplateProcessing"}), "KeyError: 'single'"),
        (document(pre_tokenizer=None), "got none"),
        (document(pre_tokenizer={"type": "Sequence", "pretokenizers": []}), "got a Sequence of none"),
        (document(pre_tokenizer={"type": "Metaspace"}), "got Metaspace"),
        (document(pre_tokenizer=BYTE_LEVEL | {"add_prefix_space": True}), "add_prefix_space"),
        (document(pre_tokenizer=sequence(split("a") | {"behavior": "Removed"})), "isolating Split"),
        (document(pre_tokenizer=sequence(split("a") | {"invert": True})), "isolating Split"),
        (document(pre_tokenizer=sequence(split("a"), split("b"))), "Split then Split then ByteLevel"),
        (model(merges=["h e", "q x"]), "'q x'"),
        (model(merges=["Ġt he", "h e", "Ġ t"]), "'Ġt he'"),
        (model(merges=["h e", "Ġ t", "h e"]), "'h e'"),
        (model(merges=["he"]), "'he'"),
        (model(merges=["h e", ["Ġ"]]), "['Ġ']"),
        (model(merges=["h e"]), "a byte, a merge or special, got 'Ġt'"),
        (model(merges=7), "fields of a Hugging Face tokenizer"),
        (document(model=7), "fields of a Hugging Face tokenizer"),
        (document(model={}), "KeyError: 'vocab'"),
    ],
)
def test_what_can_not_be_reproduced_is_refused_by_name(load, content, reason):
    with pytest.raises(InputError, match=r"^tokenizer\.json: expected") as caught:
        load(content)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "harmless",
    [
        {"decoder": BYTE_LEVEL, "post_processor": BYTE_LEVEL, "truncation": None, "padding": None},
        {"post_processor": {"type": "TemplateProcessing", "single": [{"Sequence": {"id": "A"}}]}},
        {"decoder": {"type": "Sequence", "decoders": [BYTE_LEVEL]}},
    ],
)
def test_steps_that_change_no_text_are_read(load, harmless):
    assert load(document(**harmless)).identity == load(document()).identity


@pytest.mark.parametrize("roles", [7, "doc", ["doc"], {"doc": ["<|end|>"]}, {"doc": None}, {3: "<|end|>"}])
def test_roles_that_are_none_are_refused(tmp_path, roles):
    (tmp_path / "tokenizer.json").write_text(json.dumps(document()))
    with pytest.raises(InputError, match="roles: expected"):
        BPETokenizer.from_huggingface(tmp_path, roles=roles)


@pytest.mark.parametrize("wrong", [7, "7", -2, 2**31, True, None, 1.5])
def test_a_number_that_is_no_id_or_another_tokens_is_refused(load, wrong):
    with pytest.raises(InputError, match=r"external ids: expected an id of its own .* for the token 256 at .*\.json"):
        load(model(vocab=vocab("he", "Ġt", "Ġthe") | {"he": wrong}))


def test_the_characters_of_bytes_are_those_of_tokenizers():
    tokenizers = pytest.importorskip("tokenizers")
    assert sorted(byte_characters()) == sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    assert byte_characters()[0x20] == "Ġ"


@given(listed_splits(), short_texts, st.booleans())
def test_overlapping_tokens_with_one_split_or_all_are_refused_or_give_the_same_ids(listed, text, ignore_merges):
    tokenizers = pytest.importorskip("tokenizers")
    tokens, merges = listed
    content = model(vocab=vocab(*tokens), merges=list(map(list, merges)), ignore_merges=ignore_merges)
    content |= {"version": "1.0", "pre_tokenizer": BYTE_LEVEL | {"use_regex": False}}
    try:
        ours = BPETokenizer.of(*from_huggingface(content, "file"))
    except InputError:
        assume(False)
    theirs = tokenizers.Tokenizer.from_str(json.dumps(content | {"added_tokens": []}))
    assert ours.to_external(ours.encode(text)).tolist() == theirs.encode(text).ids


@given(st.text(alphabet="the HE\n'", max_size=30))
def test_ids_of_a_small_file_equal_those_of_tokenizers(text):
    tokenizers = pytest.importorskip("tokenizers")
    content = document()
    ours = BPETokenizer.of(*from_huggingface(content, "file", "none"))
    content["added_tokens"] = []
    theirs = tokenizers.Tokenizer.from_str(json.dumps({"version": "1.0"} | content))
    assert ours.external_ids[ours.encode(text)].tolist() == theirs.encode(text).ids


CORPORA = [
    *(f"udhr/{name}.txt" for name in ("eng", "kor", "deu", "hin", "tha", "jpn", "arb")),
    "logs/Apache.log",
]


@pytest.mark.slow
@pytest.mark.parametrize("corpus", CORPORA)
@pytest.mark.parametrize("name", ["gpt2", "smollm2_17b"])
def test_ids_of_published_vocabularies_equal_those_of_tokenizers(name, corpus, shared_path, published):
    tokenizers = pytest.importorskip("tokenizers")
    path = shared_path(f"tokenizers/{name}/tokenizer.json")
    text = shared_path(f"corpora/{corpus}").read_bytes().decode()
    ours = published(path)
    theirs = tokenizers.Tokenizer.from_file(str(path)).encode(text, add_special_tokens=False).ids
    assert ours.external_ids[ours.encode(text)].tolist() == theirs


@pytest.mark.slow
def test_korean_costs_five_times_the_tokens_of_english_under_gpt2(shared_path, published):
    gpt2 = published(shared_path("tokenizers/gpt2/tokenizer.json"))
    counts = {}
    for language in ("eng_Latn", "kor_Hang"):
        lines = shared_path(f"corpora/flores/{language}.txt").read_text(encoding="utf-8").splitlines()
        counts[language] = len(gpt2.encode(" ".join(lines)))
    # Petrov (2305.15425) on dev + devtest: 266,663 / 52,567 = 5.073; here devtest alone.
    assert counts["kor_Hang"] / counts["eng_Latn"] == pytest.approx(5.07, abs=0.05)


@pytest.mark.slow
def test_a_sentencepiece_file_is_refused(shared_path):
    with pytest.raises(InputError, match="byte_fallback"):
        load_tokenizer(shared_path("tokenizers/mistral_7b_v03/tokenizer.json"))


@pytest.fixture(scope="module")
def published():
    loaded = {}

    def once(path):
        if path not in loaded:
            loaded[path] = load_tokenizer(path)
        return loaded[path]

    return once
