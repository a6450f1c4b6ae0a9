"""Documents alternate between two halves, and no vocabulary is measured on text that taught it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from experiments.corpora import Slice, slices
from experiments.sequence_length import SequenceLength, measure
from experiments.sequence_length.columns import swapped, teach
from experiments.sequence_length.texts import spread, text_of


def lines(*units):
    return Slice("a", "mine", units, " ", units, aligned=True)


def test_documents_alternate_between_the_halves_and_sentences_stay_with_their_document():
    for text in map(text_of, slices()[:3]):
        assert len(text.units) > len(text.cut.documents)
        for half in (0, 1):
            assert text.part(half) == " ".join(text.cut.documents[half::2])


def test_formats_of_an_embedded_text_are_in_the_half_of_its_sentences():
    texts = {text.name: text for text in map(text_of, slices())}
    sentences, logs = texts["en"], texts["log"]
    for log, half in zip(logs.units, logs.half, strict=True):
        assert {own for unit, own in zip(sentences.units, sentences.half, strict=True) if unit in log} == {half}


def test_a_single_document_is_cut_into_lines_and_a_single_line_in_the_middle():
    cut = Slice("x", "g", ("one\ntwo\nthree",), "\n", ("one\ntwo\nthree",), aligned=False)
    assert text_of(cut).units == ("one", "two", "three")
    line = Slice("x", "g", ("two words\n",), "\n", ("two words\n",), aligned=False)
    assert text_of(line).joiner.join(text_of(line).units) == "two words\n"
    assert len(text_of(line).units) == 2


def test_what_a_half_learns_does_not_depend_on_the_other_half():
    first = text_of(lines("abab abab", "cdcd cdcd", "abba abba", "dccd"))
    second = text_of(lines("abab abab", "XYXY XYXY", "abba abba", "ZZZZ ZZ"))
    taught = [teach([(text, 1000)], 300, "words").tokenizers for text in (first, second)]
    assert taught[0][0].merges.tolist() == taught[1][0].merges.tolist()
    assert taught[0][1].merges.tolist() != taught[1][1].merges.tolist()


def test_each_unit_is_counted_unseen_by_the_other_halfs_vocabulary_and_seen_by_its_own():
    text = text_of(lines("abab abab", "cdcd cdcd", "abba abba", "dccd dccd cdcd"))
    taught = teach([(text, 1000)], 260, "words")
    counts = swapped(text, taught, [taught.reached], "words")
    for view, teachers in (("unseen", (1, 0)), ("seen", (0, 1))):
        expected = [
            len(taught.tokenizers[teachers[index % 2]].truncate(taught.reached).encode(unit)) + (index > 0)
            for index, unit in enumerate(text.units)
        ]
        assert counts[view][0].tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 50), st.booleans()), min_size=1, max_size=60), st.integers(0, 800))
def test_a_training_limit_is_reached_by_candidates_and_passed_by_less_than_one_unit(units, limit):
    sizes, candidates = (np.array(column) for column in zip(*units, strict=True))
    chosen = spread(sizes, candidates, limit)
    assert not (chosen & ~candidates).any()
    taken = sizes[chosen].sum()
    assert taken < limit + max(sizes.max(), 1)
    assert taken >= min(limit, sizes[candidates].sum())


def test_a_limited_training_leaves_no_region_of_the_text_out():
    chosen = spread(np.ones(1000, np.int64), np.ones(1000, bool), 100)
    gaps = np.diff(np.flatnonzero(chosen))
    assert gaps.max() <= 20


def test_a_corpus_too_small_to_hold_out_a_half_is_refused(tmp_path):
    (tmp_path / "word.txt").write_text("hello")
    with pytest.raises(InputError, match="give at least two lines"):
        measure(SequenceLength(corpus=(str(tmp_path),)))
