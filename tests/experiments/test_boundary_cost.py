"""The boundary costs against the origin's numbers, published models, naive counts, and the laws that they obey."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from contracts.results import Row
from contracts.tokenizer import Boundary
from experiments.boundary_cost import QUESTION, BoundaryCost, measure, plan
from experiments.boundary_cost.agreement import agreeing
from experiments.boundary_cost.conclusions import longest_that_matters, verdict
from experiments.boundary_cost.consequences import (
    Bill,
    shape_rows,
    training_flops_of_an_id,
    training_flops_per_position,
)
from experiments.boundary_cost.parameters import Model, models, parameter_rows
from experiments.boundary_cost.positions import BOUNDARIES, Encoded, encode_all
from experiments.boundary_cost.question import POSITION_SHARE, for_study
from experiments.boundary_cost.shapes import POLICIES, SHAPES, Shape
from experiments.corpora import Slice
from experiments.recording import recording
from experiments.tables import percent
from experiments.vocabularies import short_name
from research.costs import causal_pairs, decoder_parameters, forward_flops, training_flops

RESULTS = Path(__file__).parents[2] / "results" / QUESTION.name

#: What each policy writes around documents, as text: a boundary is `|`.
NAIVE_STREAMS: dict[Boundary, Callable[[Sequence[str]], str]] = {
    "shared": lambda documents: "|" + "|".join(documents) + "|",
    "separate": lambda documents: "".join(f"|{document}|" for document in documents),
    "bos": lambda documents: "".join(f"|{document}" for document in documents),
    "eos": lambda documents: "".join(f"{document}|" for document in documents),
    "none": "".join,
}

shapes = st.sampled_from(list(SHAPES.values()))


def slice_of(*documents: str) -> Slice:
    return Slice("here", "tests", documents, "\n", documents, aligned=False)


def corpus_of(documents: int, length: int) -> Encoded:
    boundaries: dict[Boundary, int] = {policy: BOUNDARIES[policy](documents) for policy in POLICIES}
    return Encoded("here", "tests", "bytes", 256, documents, documents * length, boundaries)


def value(rows: Sequence[Row], quantity: str, witness: str, **factors: object) -> float:
    found = [
        row.value
        for row in rows
        if (row.quantity, row.witness) == (quantity, witness) and factors.items() <= row.factors.items()
    ]
    assert len(found) == 1, found
    return found[0]


@pytest.fixture(scope="module")
def origin_rows() -> list[Row]:
    return parameter_rows(models([SHAPES["origin"]]))


@pytest.mark.parametrize("witness", ["formula", "eval_shape"])
def test_the_origins_8224_and_8256_and_32_come_out_by_both_witnesses(origin_rows: list[Row], witness: str):
    for boundary, expected in (("shared", 8_224), ("separate", 8_256)):
        assert value(origin_rows, "token_parameters", witness, tied=False, boundary=boundary) == expected
    assert value(origin_rows, "parameters_saved_by_sharing", witness, tied=False) == 32


def test_one_id_of_gpt2s_width_is_768_parameters_tied_and_1536_untied():
    assert [Model(SHAPES["124M"], 50_256, tied).one_id for tied in (True, False)] == [768, 1_536]


def test_the_124m_shape_has_gpt2s_parameters_without_its_learned_positions():
    assert decoder_parameters(SHAPES["124M"].with_vocabulary(50_257, tied=True)).total == 124_337_664 - 786_432


def test_the_7b_shape_has_the_published_parameters_of_mistral_7b():
    from experiments.boundary_cost.witnesses import model_parameters

    shape = SHAPES["7B"].with_vocabulary(32_000)
    assert decoder_parameters(shape).total == model_parameters(shape) == 7_241_732_096


def test_two_witnesses_that_differ_are_no_result():
    with pytest.raises(AssertionError, match=r"boundaries .* 3 by formula, 2 by count"):
        agreeing("boundaries", "positions", {"n": 2}, 3, "count", 2)


@given(st.lists(st.text(alphabet="ab é", min_size=1), min_size=1, max_size=12))
def test_boundaries_counted_in_a_stream_are_those_of_a_naive_join(documents: list[str]):
    (part,) = encode_all([slice_of(*documents)], ["bytes"])
    for policy, join in NAIVE_STREAMS.items():
        assert part.boundaries[policy] == join(documents).count("|") == BOUNDARIES[policy](len(documents))
        assert part.positions(policy) == len(join(documents).encode())


def test_several_slices_are_also_counted_as_one_stream():
    first, second, both = encode_all([slice_of("a", "bc"), slice_of("d")], ["bytes"])
    assert (first.boundaries["shared"], second.boundaries["shared"], both.boundaries["shared"]) == (3, 2, 4)
    assert both.text_tokens == first.text_tokens + second.text_tokens == 4


def test_blank_lines_are_no_documents():
    (part,) = encode_all([slice_of("a", "", "b")], ["bytes"])
    assert (part.documents, part.boundaries["shared"]) == (2, 3)


def test_a_bpe_has_the_same_boundaries_in_a_shorter_stream():
    over_bytes, over_bpe = encode_all([slice_of("the weather and the water", "the other day")], ["bytes", "bpe-300"])
    assert over_bpe.boundaries == over_bytes.boundaries
    assert over_bpe.text_tokens < over_bytes.text_tokens
    assert over_bpe.share_saved > over_bytes.share_saved


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_flops_of_a_position_are_a_whole_share_of_its_row(shape: Shape):
    length = shape.context_length
    row = training_flops(forward_flops(shape, length, causal_pairs(length)).total)
    assert training_flops_per_position(shape) * length == row


def test_one_more_id_costs_2d_flops_a_token_in_the_traced_decoder():
    rows = shape_rows(SHAPES["tiny"])
    assert value(rows, "logits_flops_of_an_id", "formula") == value(rows, "logits_flops_of_an_id", "jaxpr") == 512


@given(shapes, st.integers(1, 10_000), st.integers(1, 100_000), st.sampled_from(POLICIES))
def test_text_and_positions_and_ids_add_up_to_the_flops_of_a_policy(
    shape: Shape, documents: int, length: int, policy: Boundary
):
    bill = Bill(shape, corpus_of(documents, length))
    text = bill.corpus.text_tokens * bill.plain_position
    assert text + bill.of_positions(policy) + bill.of_ids(policy) == bill.total(policy)


@given(shapes, st.integers(1, 10_000), st.integers(1, 100_000))
def test_what_sharing_saves_is_the_difference_of_the_two_totals(shape: Shape, documents: int, length: int):
    bill = Bill(shape, corpus_of(documents, length))
    assert bill.positions_saved + bill.id_saved == bill.total("separate") - bill.total("shared")


@given(shapes)
def test_positions_are_dearer_below_the_break_even_length_and_the_id_above(shape: Shape):
    many = 10**12  # so that n - 1 is as good as n
    meets = Bill(shape, corpus_of(many, 1)).break_even_length
    assert (
        Bill(shape, corpus_of(many, int(meets) - 1)).dearness
        > 1
        > Bill(shape, corpus_of(many, int(meets) + 1)).dearness
    )


def test_an_id_is_trained_at_three_times_its_forward_flops():
    assert training_flops_of_an_id(SHAPES["124M"]) == 3 * 2 * 768


def test_one_percent_is_saved_up_to_98_tokens_a_document():
    assert longest_that_matters() == 98
    assert corpus_of(10**9, 97).share_saved > POSITION_SHARE > corpus_of(10**9, 99).share_saved


@pytest.mark.parametrize(("length", "said"), [(20, "In positions it matters in 1 of 1"), (5_000, "does not matter on")])
def test_the_verdict_follows_the_rule_on_positions(length: int, said: str):
    part = corpus_of(1_000, length)
    assert said in verdict(models([SHAPES["124M"]]), [part], [Bill(SHAPES["124M"], part)])


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        (SHAPES["124M"], "one id does not matter"),
        (replace(SHAPES["origin"], d_model=100_000), "one id matters"),
        (SHAPES["origin"], "not judged"),
    ],
)
def test_the_verdict_follows_the_rule_on_parameters(shape: Shape, said: str):
    part = corpus_of(10, 10)
    assert said in verdict(models([shape]), [part], [Bill(shape, part)])


@pytest.mark.parametrize(
    ("share", "shown"), [(0.12, "12 %"), (0.0035, "0.35 %"), (5.8e-7, "0.000058 %"), (0.01, "1.0 %"), (0.0, "0 %")]
)
def test_a_share_has_two_significant_digits(share: float, shown: str):
    assert percent(share) == shown


def test_a_tokenizers_name_keeps_no_path():
    assert [short_name(name) for name in ("bytes", "/home/a/b.json", "/home/gpt2/tokenizer.json")] == [
        "bytes",
        "b",
        "gpt2",
    ]


def test_two_tokenizers_of_one_name_are_refused():
    with pytest.raises(InputError, match="different names"):
        encode_all([slice_of("a")], ["a/mine.json", "b/mine.json"])


def test_the_bpe_of_the_embedded_corpus_is_called_so_in_every_row():
    parts = encode_all([slice_of("a")], ["bytes", "bpe-256"])
    assert [part.tokenizer for part in parts] == ["bytes", "embedded bpe-256"]


def test_slices_of_one_name_have_rows_of_their_own(tmp_path: Path):
    paths = []
    for above in ("a", "b"):
        (tmp_path / above / "d").mkdir(parents=True)
        (tmp_path / above / "d" / "all.txt").write_text(f"one {above}", encoding="utf-8")
        paths.append(str(tmp_path / above / "d"))
    found = measure(BoundaryCost(corpus=tuple(paths), shapes=("origin",)))
    keys = [(row.quantity, row.witness, str(sorted(row.factors.items()))) for row in found.rows]
    assert len(set(keys)) == len(keys)


def test_the_study_measures_a_persons_tokenizer_beside_bytes_and_bpe():
    assert for_study(("texts",), ("mine.json", "bytes")).tokenizers == ("bytes", "bpe-4096", "mine.json")


def test_the_plan_counts_the_decoders_that_are_traced():
    assert "6 decoders" in plan(BoundaryCost(shapes=("origin",)))[0]


def test_no_shape_is_refused():
    with pytest.raises(InputError, match="--shapes: expected at least one"):
        measure(BoundaryCost(shapes=()))


@pytest.mark.slow
def test_a_run_on_a_persons_files_writes_a_whole_result(tmp_path: Path):
    for name, text in (("a.en.txt", "one\ntwo two\n"), ("a.ko.txt", "하나\n둘 둘\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    arguments = BoundaryCost(corpus=(str(tmp_path),), shapes=("origin",))
    with recording(QUESTION, arguments, tmp_path / "out") as record:
        finding = measure(arguments)
        record.finish(finding)
    assert value(finding.rows, "boundary_positions", "count", slice="all", tokenizer="bytes", boundary="shared") == 5
    written = [Row.from_json(line) for line in (tmp_path / "out" / "rows.jsonl").read_text().splitlines()]
    assert written == list(finding.rows)
    assert all(row.kind == "exact" for row in written)
    assert {"figure.png", "figure.svg", "table.md", "manifest.json"} <= {p.name for p in (tmp_path / "out").iterdir()}


def test_help_needs_neither_jax_nor_matplotlib():
    code = "import sys, experiments.boundary_cost.__main__; print({'jax', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.slow
def test_the_committed_rows_are_what_is_measured_now():
    committed = [Row.from_json(line) for line in (RESULTS / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert list(measure(BoundaryCost()).rows) == committed
