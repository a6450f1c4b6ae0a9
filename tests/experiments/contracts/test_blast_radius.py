"""The blast radius of a choice: each consequence against the origin's numbers or a naive count."""

import dataclasses
import json
from itertools import combinations_with_replacement
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import research
from contracts.decoder import DecoderConfig
from contracts.parameters import expected_parameters
from contracts.tokenizer import PROTOCOL_NAMES
from experiments.contracts.blast_radius import Choice, blast_radius
from experiments.contracts.blast_radius.model import WITHOUT_PARAMETERS, pairs_across_documents, row_lengths
from experiments.contracts.blast_radius.stream import transitions
from experiments.contracts.diff import DiffContracts
from research.tokenizers import BPETokenizer, ByteTokenizer

ROOT = Path(research.__file__).parents[1]

#: The origin's decoder: P_token = 2VD at D = 16.
ORIGIN = DecoderConfig(d_model=16, n_layers=1, n_heads=1, n_kv_heads=1, head_dim=16, d_ff=64, context_length=8)


def choice(tokenizer=None, config=ORIGIN, documents=("ab", "ba")):
    tokenizer = tokenizer or ByteTokenizer("shared")
    return Choice("choice", tokenizer, dataclasses.replace(config, vocab_size=tokenizer.vocab_size), documents)


def changes(old, new):
    return {each.what: each for each in blast_radius(old, new)[0]}


SHARED_TO_SEPARATE = changes(choice(ByteTokenizer("shared")), choice(ByteTokenizer("separate")))


@pytest.mark.parametrize(
    ("what", "breaks", "old", "new", "amount"),
    [
        ("vocabulary size", "tokens", "257", "258", "+1 (+0.39 %) ids"),
        ("protocol ids", "tokens", "doc 256", "bos 256, eos 257", "3 positions of the stream hold one, then 4"),
        (
            "ids that keep their meaning",
            "tokens",
            "257 of 257",
            "256 of 257",
            "the others stand at 3 of the 7 positions of the old stream",
        ),
        ("config.vocab_size", "weights", "257", "258", ""),
        ("parameters, untied", "weights", "12,368", "12,400", "+32 (+0.26 %)"),
        ("parameters, tied", "weights", "8,256", "8,272", "+16 (+0.19 %)"),
        (
            "arrays of an old checkpoint",
            "weights",
            "12 fit",
            "10 fit, 2 do not",
            "embed.embedding: [257,16], not [258,16] = V D; head.kernel: [16,257], not [16,258] = D V",
        ),
        ("stream positions", "data", "7", "8", "+1 (+14 %) positions; 3 boundaries, then 4"),
        ("targets: text predicts doc", "data", "2", "0", "33.3 % of the targets, then 0 %"),
        ("targets: doc predicts text", "data", "2", "0", "33.3 % of the targets, then 0 %"),
        ("targets: text predicts eos", "data", "0", "2", "0 % of the targets, then 28.6 %"),
        ("targets: eos predicts bos", "data", "0", "1", "0 % of the targets, then 14.3 %"),
        ("targets: bos predicts text", "data", "0", "2", "0 % of the targets, then 28.6 %"),
        ("start token", "tokens", "doc 256", "bos 256", "it stands at 3 positions, then at 2"),
        ("stop token", "tokens", "doc 256", "eos 257", "it is the target of 2 positions, then of 2"),
        (
            "the old choice's documents decode",
            "tokens",
            "2 of 2",
            "0 of 2",
            "2 refused (document: expected the stop token 257 (eos), got 256 at position 3), 0 read as another text",
        ),
        ("attended pairs", "nothing", "28", "36", "+8 (+29 %)"),
    ],
)
def test_separate_ids_instead_of_a_shared_one(what, breaks, old, new, amount):
    found = SHARED_TO_SEPARATE[what]
    assert (found.breaks, found.old, found.new, found.amount) == (breaks, old, new, amount)


def test_the_identity_is_that_of_the_origin():
    found = SHARED_TO_SEPARATE["tokenizer identity"]
    assert (found.old, found.new) == ("utf8-byte-v1 dc69561d64de", "utf8-byte-v1 f6644536cd03")
    assert found.amount == "a checkpoint is refused: vocab_size, protocol, vocab_sha256 differ"


def test_what_changes_and_what_does_not_is_everything():
    changed, unchanged = blast_radius(choice(), choice(ByteTokenizer("separate")))
    assert {each.what for each in unchanged} >= {
        "tokens of the text",
        "attention is given",
        "attention stops at a boundary",
        "targets: text predicts text",
        "cache of a position",
        "config.d_model",
    }
    assert {each.what for each in changed} == {*SHARED_TO_SEPARATE}


@pytest.mark.parametrize("boundary", PROTOCOL_NAMES)
def test_a_choice_against_itself_changes_nothing(boundary):
    assert blast_radius(choice(ByteTokenizer(boundary)), choice(ByteTokenizer(boundary)))[0] == []


def test_every_owner_is_a_line_of_the_project_that_defines_it():
    for each in (part for parts in blast_radius(choice(), choice()) for part in parts):
        file, line = each.owner.split(":")
        source = (ROOT / file).read_text().splitlines()[int(line) - 1].strip()
        assert source.startswith(("def ", "class ", "@"))


def test_a_boundary_stops_no_attention_and_segments_do():
    unchanged = {each.what: each.old for each in blast_radius(choice(), choice())[1]}
    assert unchanged["attention stops at a boundary"] == "no, with segments yes"


@given(
    st.lists(st.text("abc", min_size=1, max_size=9), min_size=1, max_size=6).map(tuple),
    st.sampled_from(list(PROTOCOL_NAMES)),
    st.integers(1, 12),
)
def test_pairs_across_documents_are_those_that_a_naive_count_finds(documents, boundary, context_length):
    config = dataclasses.replace(ORIGIN, context_length=context_length)
    here = choice(ByteTokenizer(boundary), config, documents)
    owners, tokens = [], here.stream.tokens.tolist()
    for position, token in enumerate(tokens):
        before = [number for number, start in enumerate(here.stream.starts) if start <= position]
        owners.append(before[-1] if token < 256 else None)
    naive = attended = 0
    for start in range(0, len(tokens), context_length):
        row = owners[start : start + context_length]
        pairs = list(combinations_with_replacement(row, 2))
        attended += len(pairs)
        naive += sum(None not in pair and pair[0] != pair[1] for pair in pairs)
    assert pairs_across_documents(here) == naive
    assert sum(length * (length + 1) // 2 for length in row_lengths(here)) == attended


@pytest.mark.parametrize(
    ("boundary", "expected"),
    [
        ("shared", {"text text": 2, "text doc": 2, "doc text": 2}),
        ("separate", {"text text": 2, "text eos": 2, "eos bos": 1, "bos text": 2}),
        ("bos", {"text text": 2, "text bos": 1, "bos text": 2}),
        ("eos", {"text text": 2, "text eos": 2, "eos text": 1}),
        ("none", {"text text": 3}),
    ],
)
def test_which_kind_of_token_predicts_which(boundary, expected):
    found = transitions(choice(ByteTokenizer(boundary)))
    assert {" ".join(names): count for names, count in found.items()} == expected


def test_a_document_of_one_token_has_no_target_and_is_no_crash():
    one = choice(ByteTokenizer("none"), documents=("a",))
    assert changes(one, choice(documents=("a",)))["targets: text predicts doc"].new == "1"


def test_equal_size_with_other_ids_is_seen_everywhere_but_in_the_size():
    first, second = BPETokenizer([(97, 98)]), BPETokenizer([(98, 97)])
    found = changes(choice(first, documents=("ab", "abab", "c")), choice(second, documents=("ab", "abab", "c")))
    assert "vocabulary size" not in found
    assert found["tokenizer identity"].amount == "a checkpoint is refused: vocab_sha256 differ"
    assert found["ids that keep their meaning"].new == "257 of 258"
    assert found["tokens of the text"].amount.endswith("1 of 3 documents keep their ids")
    assert found["the old choice's documents decode"].amount == "0 refused, 2 read as another text"
    assert "arrays of an old checkpoint" not in found


def test_more_layers_leave_every_old_array_fitting_and_others_missing():
    deeper = dataclasses.replace(ORIGIN, n_layers=3)
    found = changes(choice(), choice(config=deeper))
    arrays = found["arrays of an old checkpoint"]
    assert (arrays.old, arrays.new) == ("12 fit", "12 fit, 18 are missing")
    assert arrays.amount.endswith("in layers 1-2; and 6 more")


CHANGED_FIELDS = {
    "vocab_size": 300,
    "d_model": 20,
    "n_layers": 2,
    "n_heads": 2,
    "n_kv_heads": 2,
    "head_dim": 18,
    "d_ff": 65,
    "context_length": 9,
    "tied": True,
    "rope_theta": 5.0,
    "param_dtype": "bfloat16",
    "compute_dtype": "bfloat16",
    "scan_layers": True,
    "remat": True,
}


@pytest.mark.parametrize("field", [field.name for field in dataclasses.fields(DecoderConfig)])
def test_a_field_breaks_weights_exactly_if_a_parameter_depends_on_it(field):
    base = dataclasses.replace(ORIGIN, n_heads=2)
    if field == "n_heads":
        base = dataclasses.replace(base, n_heads=4)
    changed = dataclasses.replace(base, **{field: CHANGED_FIELDS[field]})
    depends = expected_parameters(base) != expected_parameters(changed)
    assert depends == (field not in WITHOUT_PARAMETERS)


def test_the_command_counts_on_a_persons_text_and_ends_with_1(tmp_path, capsys):
    for number, text in enumerate(("ab", "ba")):
        (tmp_path / f"{number}.txt").write_text(text)
    with pytest.raises(SystemExit) as stop:
        DiffContracts(boundary=("shared", "separate"), corpus=(str(tmp_path),), json=True).run()
    data = json.loads(capsys.readouterr().out)
    assert stop.value.code == 1
    assert data["corpus"] == "2 documents, 4 bytes"
    assert next(each for each in data["changes"] if each["what"] == "stream positions")["new"] == "8"


def test_the_command_passes_where_every_class_that_breaks_is_allowed(capsys):
    DiffContracts(config=("tiny", "tiny,compute_dtype=bfloat16")).run()
    output = capsys.readouterr().out
    assert "nothing  config.compute_dtype: float32 -> bfloat16" in output
    assert "unchanged: " in output
    DiffContracts(config=("tiny", "tiny,context_length=512"), allow=("calls",)).run()
