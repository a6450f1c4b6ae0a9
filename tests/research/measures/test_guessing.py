"""The English rule: right about English, and about nothing else by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from research.measures import chunk_characters, chunks, guess_error


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_the_rule_is_exact_where_it_comes_from(characters, tokens):
    assert guess_error(characters, tokens, characters, tokens) == pytest.approx(0)


def test_half_the_characters_at_five_times_the_tokens_are_guessed_at_a_tenth():
    assert guess_error(500, 1250, 1000, 250) == pytest.approx(-0.9)


@given(st.integers(1, 5000), st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_chunk_by_the_rule_leaves_a_tenth_of_the_limit(limit, characters, tokens):
    size = chunk_characters(limit, characters, tokens)
    assert size == 1 or size * tokens / characters <= 0.9 * limit * (1 + 1e-12)
    assert (size + 1) * tokens / characters > 0.9 * limit * (1 - 1e-12)


def test_a_limit_of_no_token_is_refused():
    with pytest.raises(InputError, match="token limit"):
        chunk_characters(0, 10, 10)


@given(st.text(max_size=200), st.integers(1, 20), st.integers(1, 8))
def test_chunks_are_full_pieces_of_the_text_in_order_and_never_overlap(text, size, most):
    total, found = len(text) // size, list(chunks(text, size, most))
    assert len(found) == min(total, most)
    grid = [text[start * size : (start + 1) * size] for start in range(total)]
    if total <= most:
        assert found == grid
    steps = iter(grid)
    assert all(any(chunk == step for step in steps) for chunk in found)


def test_few_chunks_are_taken_from_the_whole_text():
    assert list(chunks("abcdefghij", 1, 3)) == ["a", "d", "g"]
