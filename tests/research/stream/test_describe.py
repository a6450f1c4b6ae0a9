"""The page on row policies is what the code says today, and the few lines that matter most are spelled out."""

from itertools import product
from pathlib import Path

import pytest

from contracts.batch import RowPolicy
from contracts.tokenizer import PROTOCOL_NAMES
from research.stream.describe import describe, page
from research.tokenizers import ByteTokenizer

PAGE = Path(__file__).parents[3] / "docs" / "row_policies.md"


def lines(boundary, *policy, documents=("ab", "c")):
    found = describe(RowPolicy(*policy), ByteTokenizer(boundary), documents, length=8)
    return [f"{line.context} -> {line.target}" for line in found if line.weight]


def test_the_page_is_what_the_code_does():
    message = "run `python -m research.stream.describe > docs/row_policies.md`"
    assert PAGE.read_text(encoding="utf-8") == page(), message


def test_a_shared_boundary_closes_one_document_and_opens_the_next():
    assert lines("shared", "concatenate", "segments", "restart", "no-cross") == [
        "<doc> -> a",
        "<doc>a -> b",
        "<doc>ab -> <doc>",
        "<doc> -> c",
        "<doc>c -> <doc>",
    ]


def test_under_cross_a_document_sees_the_one_before():
    assert "<doc>ab<doc> -> c" in lines("shared", "concatenate", "cross", "restart", "no-cross")


def test_no_cross_never_trains_the_first_token_of_a_document_on_another():
    every = lines("separate", "fit", "cross", "continue", "all")
    fewer = lines("separate", "fit", "cross", "continue", "no-cross")
    assert [line for line in every if line not in fewer] == ["<bos>ab<eos> -> <bos>"]


def test_without_boundaries_no_cross_leaves_the_first_token_of_every_document_out():
    assert lines("none", "fit", "segments", "restart", "no-cross") == ["a -> b"]
    assert lines("none", "fit", "segments", "restart", "all") == ["a -> b", "ab -> c"]


@pytest.mark.parametrize("boundary", PROTOCOL_NAMES)
@pytest.mark.parametrize(("positions", "loss"), [*product(("continue", "restart"), ("all", "no-cross"))])
def test_in_a_row_of_its_own_a_document_makes_all_reset_policies_one(boundary, positions, loss):
    tokenizer = ByteTokenizer(boundary)
    one = describe(RowPolicy("fit", "reset", "restart", "all"), tokenizer)
    assert describe(RowPolicy("fit", "reset", positions, loss), tokenizer) == one
