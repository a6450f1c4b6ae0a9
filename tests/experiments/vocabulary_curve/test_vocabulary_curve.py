"""The curve against encoding at every size, its costs against closed forms, and the optimum against its definition."""

import json
import subprocess
import sys
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.errors import InputError
from experiments.boundary_cost.shapes import SHAPES
from experiments.corpora import slices
from experiments.sequence_length.texts import HELD_OUT, TAUGHT, taught_and_held_out
from experiments.vocabulary_curve import VocabularyCurve, for_study, measure, plan
from experiments.vocabulary_curve.costs import Costs
from experiments.vocabulary_curve.curve import TOGETHER, Curve, curves, sizes_up_to, train
from experiments.vocabulary_curve.decoders import CostedDecoder, decoders_named
from research.costs import decoder_parameters

QUICK = partial(VocabularyCurve, vocab_size=1024, steps=2)
TINY = CostedDecoder("tiny", SHAPES["tiny"])


@cache
def embedded():
    """The vocabulary, the held-out texts and their curves."""
    teaching, held_out = taught_and_held_out((), ())
    tokenizer, _ = train(teaching, QUICK())
    return tokenizer, held_out, curves(held_out, tokenizer, sizes_up_to(1024, 2))


@cache
def result():
    return measure(QUICK(decoder=("tiny", "smollm2-135m")))


def rows(quantity, **factors):
    return [
        row
        for row in result().rows
        if row.quantity == quantity and all(row.factors.get(name) == value for name, value in factors.items())
    ]


def curve_of(*tokens, characters=1000):
    """Tokens under no merge, one, two, ..."""
    return Curve("made", characters, np.array(tokens), {})


def costs_of(curve, decoder=TINY, context=1):
    return Costs(curve, decoder, tuple(range(256, 256 + len(curve.lengths))), context)


def test_a_point_of_the_curve_is_what_the_truncated_tokenizer_makes_of_the_held_out_text():
    tokenizer, held_out, (_, *found) = embedded()
    for text, curve in list(zip(held_out, found, strict=True))[:3]:
        assert curve.name == text.name
        part = text.part(HELD_OUT)
        for size in (256, 724, 1024):
            # In the whole text a joiner stands before the first held-out document.
            ids = tokenizer.truncate(size).encode(text.joiner + part)
            assert curve.tokens(size) == len(ids)
            assert curve.used[size] == len(set(ids.tolist())) / size
        assert curve.characters == len(text.joiner + part)
        assert curve.bytes == len((text.joiner + part).encode())


def test_all_held_out_text_together_is_the_sum_of_the_texts():
    _, _, (together, *parts) = embedded()
    assert together.name == TOGETHER
    assert together.lengths.tolist() == np.sum([curve.lengths for curve in parts], axis=0).tolist()
    assert together.characters == sum(curve.characters for curve in parts)


def test_what_rows_save_adds_up_to_the_difference_of_the_lengths():
    _, _, (together, *_) = embedded()
    single = [together.saved_by_a_row(size, size + 1) for size in range(256, 1024)]
    assert sum(single) / 1e6 * together.characters == pytest.approx(together.tokens(256) - together.tokens(1024))
    assert together.saved_by_a_row(256, 1024) == pytest.approx(np.mean(single))


@given(st.integers(257, 200_000), st.integers(1, 8))
def test_sizes_ascend_from_bytes_to_the_largest_by_way_of_the_powers_of_two(largest, steps):
    sizes = sizes_up_to(largest, steps)
    assert sizes == sorted(set(sizes))
    assert (sizes[0], sizes[-1]) == (256, largest)
    assert {256 << octave for octave in range(20) if 256 << octave <= largest} <= set(sizes)


def test_flops_a_character_are_tokens_a_character_times_the_closed_form_of_a_token():
    curve = curve_of(3000, 1500, characters=1000)
    for size, tokens, length in ((256, 3.0, 1536), (257, 1.5, 768)):
        d, layers, ff, vocabulary = 256, 6, 1024, size + 1
        per_token = layers * (8 * d * d + 6 * d * ff + 4 * d * (length + 1) / 2) + 2 * d * vocabulary
        assert costs_of(curve, context=512).flops[size] == pytest.approx(tokens * per_token)


@given(st.integers(1, 4_000))
def test_a_row_pays_exactly_from_the_break_even_on(saved):
    # A context of one character is one token at both sizes, so that attention stays the same.
    costs = costs_of(curve_of(100_000, 100_000 - saved, characters=200_000))
    pays = costs.flops[257] < costs.flops[256]
    assert pays == (costs.curve.saved_by_a_row(256, 257) > costs.break_even(256))


@pytest.mark.parametrize(
    ("tokens", "judgement", "best"),
    [
        ((100_000, 50_000, 49_999), "optimum", 257),
        ((1000, 500, 250), "still falling", 258),
        ((1000, 1000, 1000), "bytes", 256),
    ],
)
def test_the_rule_judges_by_where_the_cheapest_size_lies(tokens, judgement, best):
    costs = costs_of(curve_of(*tokens))
    assert (costs.judgement, costs.best) == (judgement, best)


def test_sizes_within_one_per_cent_are_as_good_and_no_others():
    costs = costs_of(curve_of(1000, 504, 502, 500, 506, 700), CostedDecoder("7B", SHAPES["7B"]))
    assert costs.best == 259
    assert costs.as_good == [257, 258, 259]


@pytest.mark.parametrize("name", ["tiny", "124M", "llama-3-8b", "smollm2-135m", "d_model=128,head_dim=32"])
def test_embedding_and_head_are_that_share_of_all_parameters(name):
    (decoder,) = decoders_named([name])
    parameters = decoder_parameters(decoder.around(4096))
    assert decoder.around(4096).vocab_size == 4097
    assert decoder.embedding_share(4096) == (parameters.embedding + parameters.head) / parameters.total


def test_the_published_law_names_a_size_inside_its_range_alone():
    assert decoders_named(["124M"])[0].published_optimum() == pytest.approx(15_939, rel=0.001)
    assert decoders_named(["origin"])[0].published_optimum() is None


def test_what_is_no_decoder_and_two_files_of_one_name_are_refused(tmp_path):
    with pytest.raises(InputError, match="huge"):
        decoders_named(["huge"])
    for folder, width in (("one", 128), ("two", 256)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.toml").write_text(f"d_model = {width}")
    with pytest.raises(InputError, match="two called 'mine'"):
        decoders_named([str(tmp_path / "one" / "mine.toml"), str(tmp_path / "two" / "mine.toml")])


def test_a_row_is_known_by_its_quantity_and_factors():
    keys = [(row.quantity, json.dumps(row.factors, sort_keys=True)) for row in result().rows]
    assert len(keys) == len(set(keys))


def test_the_optimum_of_the_rows_is_the_smallest_of_the_rows():
    for decoder in ("tiny", "smollm2-135m"):
        flops = {
            row.factors["vocabulary"]: row.value
            for row in rows("forward_flops_per_character", decoder=decoder, slice=TOGETHER)
        }
        (best,) = rows("cheapest_vocabulary", decoder=decoder, slice=TOGETHER)
        assert best.value == min(flops, key=flops.get)
        assert f"{decoder} " in result().verdict


def test_cache_bytes_fall_as_tokens_do():
    tokens = [row.value for row in rows("tokens", slice="ko")]
    cache_bytes = [row.value for row in rows("cache_bytes_per_character", slice="ko", decoder="tiny")]
    assert cache_bytes == pytest.approx([cache_bytes[0] * count / tokens[0] for count in tokens])


def test_everything_is_drawn_and_tabled(tmp_path):
    assert {name for draw in result().draw for name in draw(tmp_path)} == {"figure.png", "figure.svg"}
    assert all(table.rows for table in result().tables)


def test_a_single_text_is_its_own_curve_and_is_cut_in_two(tmp_path):
    (tmp_path / "mine.txt").write_text("one two three\ntwo three one\n" * 30)
    found = measure(VocabularyCurve(train=(str(tmp_path / "mine.txt"),), decoder=("tiny",)))
    assert {row.factors["slice"] for row in found.rows if row.quantity == "tokens"} == {"mine"}


def test_a_text_that_teaches_is_refused_as_a_test(tmp_path):
    for folder in ("train", "test"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"{folder}.txt").write_text("one two\n" * 20)
    with pytest.raises(InputError, match="--test: expected text that is not trained on, got test, equal to train"):
        measure(VocabularyCurve(train=(str(tmp_path / "train"),), test=(str(tmp_path / "test"),)))


def test_text_to_test_on_is_measured_whole_and_teaches_nothing(tmp_path):
    (tmp_path / "test.txt").write_text("one two\nthree\n")
    teaching, held_out = taught_and_held_out((), (str(tmp_path / "test.txt"),))
    assert [text.name for text in teaching] == [cut.name for cut in slices()]
    assert all((text.half == TAUGHT).all() for text in teaching)
    assert [(text.name, text.part(HELD_OUT)) for text in held_out] == [("test", "one two\nthree\n")]


@pytest.mark.parametrize(
    "arguments", [{"decoder": ()}, {"vocab_size": 256}, {"steps": 0}, {"context": 0}, {"train_bytes": 0}]
)
def test_bad_arguments_are_refused_by_name(arguments):
    (name,) = arguments
    with pytest.raises(InputError, match="--" + name.replace("_", "-")):
        VocabularyCurve(**arguments)


def test_the_plan_speaks_of_the_corpus_without_measuring_it():
    assert plan(for_study((), ()))[1] == "8 slices, 0.4 MB; half of it held out"


def test_importing_the_experiment_loads_neither_jax_nor_matplotlib():
    code = "import sys, experiments.vocabulary_curve; print(*{'jax', 'matplotlib'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.mark.slow
def test_on_technical_prose_the_optimum_lies_where_the_published_law_has_it(shared_path):
    flores = [str(shared_path(f"corpora/flores/{name}.txt")) for name in ("eng_Latn", "kor_Hang")]
    prose = (str(shared_path("corpora/parallel")),)
    found = measure(VocabularyCurve(train=prose, test=tuple(flores), pattern="gpt2", decoder=("tiny", "124M")))
    values = {
        (row.factors["decoder"], row.quantity): row.value
        for row in found.rows
        if (row.factors.get("slice") == TOGETHER and "as_good" in row.quantity) or row.quantity == "published_optimum"
    }
    for decoder in ("tiny", "124M"):
        smallest, largest = values[decoder, "smallest_as_good"], values[decoder, "largest_as_good"]
        assert smallest <= values[decoder, "published_optimum"] <= largest
        assert smallest > 256
        assert largest < 32_768
