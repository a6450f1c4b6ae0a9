"""Rows against rows made by hand, and what each policy promises, for random documents under every boundary."""

import dataclasses
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from naive_rows import joined, naive_pieces, naive_row, naive_slots, naive_windows

from contracts.batch import Batch, RowPolicy
from contracts.errors import InputError
from contracts.stream import TokenStream
from contracts.tokenizer import PROTOCOL_NAMES
from research.stream import Rows, build_stream
from research.tokenizers import ByteTokenizer

ALPHABET = "".join(map(chr, range(128)))
CHOICES = list(product(("cross", "segments"), ("continue", "restart"), ("all", "no-cross")))
WINDOWS = [RowPolicy("concatenate", *choice) for choice in CHOICES]
FIT = [RowPolicy("fit", *choice) for choice in CHOICES]
RESET = [RowPolicy("fit", "reset", *choice) for choice in product(("continue", "restart"), ("all", "no-cross"))]
POLICIES = [*WINDOWS, *FIT, *RESET]

boundaries = st.sampled_from(tuple(PROTOCOL_NAMES))
lengths = st.integers(1, 9)


@st.composite
def corpora(draw, most=12):
    """Documents in which no character comes twice, so that a token tells where it stood."""
    sizes = draw(st.lists(st.integers(1, most), min_size=1, max_size=8))
    ends = np.cumsum([0, *sizes])
    return [ALPHABET[begin:end] for begin, end in pairwise(ends)]


def make_rows(documents, boundary, policy, length=6, batch_size=1):
    tokenizer = ByteTokenizer(boundary)
    return Rows(build_stream(documents, tokenizer), tokenizer, policy, batch_size, length)


def has_pairs(documents, boundary, policy):
    """Whether there is anything to predict: under `none`, one character is not."""
    longest = max(map(len, documents))
    return boundary != "none" or longest > 1 or (policy.isolation != "reset" and len(documents) > 1)


def lists(batch):
    """The rows of a batch, each as its five lists."""
    return [[field[row].tolist() for field in batch] for row in range(len(batch.tokens))]


def epoch_rows(rows):
    """Every row of one epoch, in order."""
    return [row for step in range(rows.batches_in_order) for row in lists(rows.in_order(step))][: rows.rows_per_epoch]


def real(row):
    """(input, target, segment, position, weight) of each prediction of a row."""
    return [position for position in zip(*row, strict=True) if position[2] >= 0]


cases = st.tuples(corpora(), boundaries, st.sampled_from(POLICIES), lengths).filter(lambda case: has_pairs(*case[:3]))


@given(documents=corpora(), boundary=boundaries, policy=st.sampled_from(WINDOWS), length=lengths)
def test_concatenated_rows_are_windows_over_the_stream(documents, boundary, policy, length):
    assume(has_pairs(documents, boundary, policy))
    rows = make_rows(documents, boundary, policy, length)
    assert epoch_rows(rows) == naive_windows(documents, boundary, length, policy)


@given(documents=corpora(), boundary=boundaries, policy=st.sampled_from(FIT + RESET), length=lengths)
def test_a_fitted_row_is_the_stream_of_the_pieces_in_it(documents, boundary, policy, length):
    assume(has_pairs(documents, boundary, policy))
    pieces = naive_pieces(documents, boundary, length)
    placed = []
    for row in epoch_rows(make_rows(documents, boundary, policy, length)):
        held = [number for number, piece in enumerate(pieces) if is_in(piece, real(row))]
        # What goes on from another row comes first.
        held.sort(key=lambda number: (pieces[number].begins, number))
        assert row == naive_row(joined([pieces[number].slots for number in held], boundary), length, policy, boundary)
        assert policy.isolation != "reset" or len(held) == 1
        placed += held
    left_out = {number for number, piece in enumerate(pieces) if boundary == "none" and len(piece.slots) == 1}
    assert len(placed) == len(set(placed))
    assert set(placed) >= set(range(len(pieces))) - left_out


def is_in(piece, positions):
    tokens = [token for token, _ in piece.slots]
    if len(tokens) == 1:
        return any(tokens[0] in position[:2] for position in positions)
    return set(pairwise(tokens)) <= {position[:2] for position in positions}


@given(cases)
def test_every_prediction_inside_a_document_is_made_once_an_epoch_whatever_the_policy(case):
    documents, boundary, policy, length = case
    slots = naive_slots(documents, boundary)
    pairs = list(pairwise(slots))
    inside = [(a, b) for (a, owner), (b, next_owner) in pairs if owner == next_owner or boundary == "shared"]
    joins = [(a, b) for (a, owner), (b, next_owner) in pairs if owner != next_owner and boundary != "shared"]
    made = [position for row in epoch_rows(make_rows(documents, boundary, policy, length)) for position in real(row)]
    trained = [position[:2] for position in made if position[4]]
    if policy.loss == "no-cross":
        assert sorted(trained) == sorted(inside)
    elif policy.packing == "concatenate":
        assert sorted(trained) == sorted([*inside, *joins])
    else:  # a row by best fit joins documents that were not neighbours
        assert all(trained.count(pair) == inside.count(pair) for pair in inside if pair not in joins)


@given(cases)
def test_every_text_token_is_a_target_at_most_once_and_the_waste_counts_the_others(case):
    documents, boundary, policy, length = case
    rows = make_rows(documents, boundary, policy, length)
    made = [position for row in epoch_rows(rows) for position in real(row)]
    text = [position[1] for position in made if position[1] < 256 and position[4]]
    assert len(text) == len(set(text))
    assert rows.waste.untrained_tokens == sum(map(len, documents)) - len(text)
    assert rows.waste.unscored == sum(not position[4] for position in made)
    assert rows.waste.positions == rows.waste.rows * length == len(made) + rows.waste.padded


@given(documents=corpora(), boundary=boundaries, length=lengths)
def test_the_waste_counts_documents_whose_predictions_stand_in_several_windows(documents, boundary, length):
    assume(has_pairs(documents, boundary, WINDOWS[0]))
    owners = [owner for _, owner in naive_slots(documents, boundary)]
    windows = [set() for _ in documents]
    for at, (owner, next_owner) in enumerate(pairwise(owners)):
        if owner == next_owner or boundary == "shared":
            windows[owner].add(at // length)
    split = make_rows(documents, boundary, WINDOWS[0], length).waste.split_documents
    assert split == sum(len(numbers) > 1 for numbers in windows)


@given(documents=corpora(), boundary=boundaries, length=lengths)
def test_only_documents_longer_than_a_row_are_split_by_fit(documents, boundary, length):
    assume(has_pairs(documents, boundary, FIT[0]))
    added = {"shared": 2, "separate": 2, "bos": 1, "eos": 1, "none": 0}[boundary]
    longer = sum(len(document) + added > length + 1 for document in documents)
    assert make_rows(documents, boundary, FIT[0], length).waste.split_documents == longer


@given(cases)
def test_padding_is_behind_every_prediction_and_in_no_document(case):
    documents, boundary, policy, length = case
    rows = make_rows(documents, boundary, policy, length, batch_size=3)
    for step in range(rows.batches_in_order + 1):
        batch = rows.in_order(step)
        is_padding = batch.segments < 0
        assert (np.diff(is_padding.astype(int), axis=1) >= 0).all()
        assert (batch.weights[is_padding] == 0).all()
        assert set(batch.tokens[is_padding]) | set(batch.targets[is_padding]) <= {rows.padding_id}
        assert boundary == "none" or rows.padding_id >= 256


@given(cases)
def test_where_no_mask_is_needed_a_prediction_has_no_other_segment_before_it(case):
    documents, boundary, policy, length = case
    assume(not policy.needs_mask)
    for row in epoch_rows(make_rows(documents, boundary, policy, length)):
        assert {position[2] for position in real(row)} == {0}


@given(documents=corpora(), boundary=boundaries, packing=st.sampled_from(("concatenate", "fit")))
def test_each_choice_changes_one_field_only(documents, boundary, packing):
    base = RowPolicy(packing, "cross", "continue", "all")
    assume(has_pairs(documents, boundary, base))
    expected = make_rows(documents, boundary, base, batch_size=4)(0, 0)
    for choice, field in (
        ({"isolation": "segments"}, "segments"),
        ({"positions": "restart"}, "positions"),
        ({"loss": "no-cross"}, "weights"),
    ):
        got = make_rows(documents, boundary, dataclasses.replace(base, **choice), batch_size=4)(0, 0)
        changed = [name for name in Batch._fields if not np.array_equal(getattr(got, name), getattr(expected, name))]
        assert changed in ([], [field])


@given(case=cases, batch_size=st.integers(1, 5), seed=st.integers(0, 2**64 - 1), begin=st.integers(0, 10**9))
def test_each_row_comes_once_an_epoch_also_where_a_batch_holds_the_end_of_one(case, batch_size, seed, begin):
    documents, boundary, policy, length = case
    rows = make_rows(documents, boundary, policy, length, batch_size)
    count = rows.rows_per_epoch
    first_step = begin - begin % count  # whose first row is the first of an epoch
    got = [row for step in range(count) for row in lists(rows(seed, first_step + step))]
    for epoch in range(batch_size):
        assert sorted(got[epoch * count : (epoch + 1) * count]) == sorted(epoch_rows(rows))


@given(case=cases, processes=st.integers(1, 4), share=st.integers(1, 3), step=st.integers(0, 99))
def test_the_slices_of_all_processes_are_the_global_batch(case, processes, share, step):
    documents, boundary, policy, length = case
    rows = make_rows(documents, boundary, policy, length, batch_size=processes * share)
    for batch in (rows, rows.in_order):
        arguments = (3, step) if batch is rows else (step,)
        slices = [batch(*arguments, process=(index, processes)) for index in range(processes)]
        assert [row for part in slices for row in lists(part)] == lists(batch(*arguments))


def test_a_batch_depends_on_seed_and_step_alone():
    documents = [ALPHABET[i : i + 9] for i in range(0, 120, 9)]
    policy = RowPolicy("concatenate", "segments", "restart", "all")
    rows = make_rows(documents, "shared", policy, batch_size=4)
    forwards = [lists(rows(1, step)) for step in range(12)]
    again = make_rows(documents, "shared", policy, batch_size=4)
    assert [lists(again(1, step)) for step in reversed(range(12))] == forwards[::-1]
    assert lists(rows(2, 0)) != forwards[0]


def test_the_stream_may_be_narrow():
    tokenizer, policy = ByteTokenizer(), RowPolicy("fit", "segments", "restart", "all")
    stream = build_stream(["ab", "c", "defghijkl"], tokenizer)
    narrow = TokenStream(stream.tokens.astype(np.uint16), stream.starts, stream.counts)
    wide, small = (Rows(each, tokenizer, policy, 4, 6)(0, 0) for each in (stream, narrow))
    assert lists(wide) == lists(small)


def test_dtypes_are_those_of_the_contract():
    batch = make_rows(["ab", "cd"], "shared", POLICIES[0], batch_size=2)(0, 0)
    assert [field.dtype for field in batch] == [np.int32] * 4 + [np.float32]
    assert {field.shape for field in batch} == {(2, 6)}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda rows: rows(-1, 0), "seed: expected 0 to 2**64 - 1, got -1"),
        (lambda rows: rows(0, -1), "step: expected at least 0, got -1"),
        (lambda rows: rows(0, 0, (0, 3)), "divide a batch of 4 rows, got 0 of 3"),
        (lambda rows: rows(0, 0, (2, 2)), "got 2 of 2"),
        (lambda rows: rows.in_order(-1), "step: expected at least 0"),
        (lambda rows: dataclasses.replace(rows, batch_size=0), "batch_size: expected at least 1, got 0"),
        (lambda rows: dataclasses.replace(rows, length=0), "length: expected at least 1, got 0"),
    ],
)
def test_numbers_out_of_range_are_refused(call, message):
    rows = make_rows(["abc", "de"], "shared", POLICIES[0], batch_size=4)
    with pytest.raises(InputError) as caught:
        call(rows)
    assert message in str(caught.value)


@pytest.mark.parametrize(("made", "read"), [pair for pair in product(PROTOCOL_NAMES, repeat=2) if pair[0] != pair[1]])
def test_a_stream_of_another_boundary_policy_is_refused(made, read):
    stream = build_stream(["ab", "cd", "ef"], ByteTokenizer(made))
    with pytest.raises(InputError, match="under another boundary policy"):
        Rows(stream, ByteTokenizer(read), POLICIES[0], 1, 4)


def test_a_stream_without_a_prediction_is_refused():
    with pytest.raises(InputError, match="something to predict"):
        make_rows(["a", "b"], "none", RowPolicy("fit", "reset", "restart", "all"))


def test_an_empty_stream_is_refused():
    stream = build_stream(["a"], ByteTokenizer())
    empty = TokenStream(stream.tokens[:0], stream.starts[:0], stream.counts)
    with pytest.raises(InputError, match="at least one document"):
        Rows(empty, ByteTokenizer(), POLICIES[0], 1, 4)
