"""What sequence length answers: judgements by the rule, numbers that follow from each other, and published ones."""

import json
import subprocess
import sys
from dataclasses import replace
from functools import cache, partial

import pytest

from contracts.errors import InputError
from experiments.corpora import Slice, slices
from experiments.sequence_length import SequenceLength, for_study, measure, plan
from experiments.sequence_length.figure import _picked, draw
from experiments.sequence_length.joint import compare, partner
from experiments.sequence_length.measure import findings
from experiments.sequence_length.parity import Parity, yardstick_of
from experiments.sequence_length.texts import text_of
from experiments.sequence_length.verdict import named_texts
from experiments.vocabularies import tokenizers_beside_learned
from research.measures import Ratio
from research.tokenizers import BPETokenizer, ByteTokenizer

QUICK = partial(SequenceLength, vocab_sizes=(300, 400), resamples=100)


def lines(name, *units, group="mine", aligned=True):
    return Slice(name, group, units, " " if aligned else "\n", units, aligned)


def write(folder, **texts):
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return str(folder)


@cache
def embedded():
    return findings(QUICK())


@cache
def result():
    return measure(QUICK(price_per_million=2.0))


def rows(quantity, **factors):
    return [
        row
        for row in result().rows
        if row.quantity == quantity and all(row.factors.get(name) == value for name, value in factors.items())
    ]


def value(quantity, **factors):
    (row,) = rows(quantity, **factors)
    return row.value


@pytest.mark.slow
def test_a_half_is_encoded_by_the_vocabulary_of_the_other_one():
    found = embedded()
    learned = next(column for column in found.columns if column.learned)
    for text, counts in zip(found.texts, learned.counts, strict=True):
        first, second = (len(learned.by_half[half].encode(text.part(half))) for half in (0, 1))
        # In the whole text the first unit of the second half has a joiner before it.
        assert [first, second + 1] == [counts[text.half == half].sum() for half in (0, 1)]


@pytest.mark.parametrize(
    ("low", "high", "judgement"),
    [
        (1.11, 1.3, "dearer"),
        (1.05, 1.3, "undecided"),
        (0.95, 1.05, "on a par"),
        (0.8, 0.9, "cheaper"),
        (0.9, 1.0, "undecided"),
    ],
)
def test_the_rule_judges_by_the_whole_interval(low, high, judgement):
    text = embedded().texts[0]
    ratio = Ratio((low + high) / 2, low, high, 9)
    assert Parity(text, text, embedded().columns[0], ratio.value, ratio).judgement == judgement


def test_the_yardstick_is_english_in_a_group_of_languages_and_compact_json_among_formats():
    texts = embedded().texts
    yardsticks = {text.name: yardstick_of(text, texts) for text in texts}
    assert yardsticks["ko"].name == "en"
    assert yardsticks["table"].name == "json-compact"
    alone = [text_of(lines("a", "x", "y")), text_of(lines("b", "x", "y"))]
    assert yardstick_of(alone[0], alone) is None


def test_korean_is_joined_with_english_where_it_is_there_else_the_largest_aligned_text():
    english, korean = text_of(lines("en", "a", "b")), text_of(lines("ko", "가", "나"))
    long = text_of(lines("x", "long text", "longer text"))
    assert partner([long, english, korean]) == (english, korean)
    assert partner([text_of(lines("y", "a", "b")), english, long]) == (english, long)


def test_without_english_or_an_aligned_text_the_comparison_says_why_it_is_left_out():
    assert "no group of the corpus has an English text" in partner([text_of(lines("ko", "가", "나"))])
    odd = [text_of(lines("en", "a", "b", aligned=False)), text_of(lines("ko", "가", "나", "다", aligned=False))]
    assert partner(odd) == "no text is aligned line by line with en"
    small = [text_of(lines("en", "a", "b")), text_of(lines("ko", "가", "나"))]
    assert "fewer than 1,000 bytes" in compare(small, QUICK())


def test_both_vocabularies_learn_from_as_many_bytes_within_two_units():
    joint = embedded().joint
    for half in (0, 1):
        english_only, together = (joint.vocabularies[name].bytes[half] for name in ("english-only", "joint"))
        assert abs(english_only - together) < 2 * 250


def test_an_english_only_vocabulary_hardly_shortens_unseen_korean_and_a_joint_one_does():
    joint = embedded().joint
    assert max(joint.bytes_per_token("english-only", joint.other, "unseen")) < 1.05
    assert joint.ratio("ko").below(0.8)
    assert joint.ratio("en").above(1)
    assert joint.judgement == "better"


@pytest.mark.slow
def test_a_row_is_known_by_its_quantity_and_factors():
    keys = [(row.quantity, json.dumps(row.factors, sort_keys=True)) for row in result().rows]
    assert len(keys) == len(set(keys))


def test_slices_of_one_name_have_rows_of_their_own(tmp_path):
    paths = []
    for above in ("a", "b"):
        (tmp_path / above).mkdir()
        texts = {"en": f"the cat and {above}\n" * 30, "both": f"die Katze und {above}\n" * 30}
        paths.append(write(tmp_path / above / "d", **texts))
    found = measure(QUICK(corpus=tuple(paths)))
    keys = [(row.quantity, json.dumps(row.factors, sort_keys=True)) for row in found.rows]
    assert len(keys) == len(set(keys))


def test_the_verdicts_texts_and_english_are_among_the_curves():
    few = embedded()
    assert {text.name for text in named_texts(few)} == {"ko", "de"}
    assert {"en", "ko", "de"} <= {text.name for text in _picked(few)}
    assert _picked(replace(few, joint="none"))[0].name == "en"


def test_the_panel_of_curves_says_how_many_texts_it_shows(tmp_path, monkeypatch):
    said = []
    monkeypatch.setattr("experiments.sequence_length.figure.say", lambda axes, title, sentence: said.append(sentence))
    draw(tmp_path, embedded())
    assert any(f"{len(_picked(embedded()))} of 8 texts shown" in sentence for sentence in said)


def test_the_law_is_checked_on_every_document_of_the_corpus():
    documents = sum(len(cut.documents) for cut in slices())
    assert value("length_law_documents") == documents
    assert value("length_law_violations") == 0


def test_tokens_of_the_byte_tokenizer_are_the_bytes_and_their_parity_is_a_ratio_of_bytes():
    sizes = {cut.name: len(cut.text.encode()) for cut in slices()}
    for name, size in sizes.items():
        assert value("bytes", slice=name) == value("tokens", slice=name, tokenizer="bytes") == size
    (korean,) = rows("parity", slice="ko", tokenizer="bytes")
    assert korean.value == pytest.approx(sizes["ko"] / sizes["en"])
    assert korean.n == len(slices()[0].units)
    assert 1.1 < korean.low < korean.value < korean.high < 1.5


def test_what_follows_from_a_length_follows_by_arithmetic():
    tokens = value("tokens", slice="ko", tokenizer="bpe-400", text="unseen")
    size, characters = value("bytes", slice="ko"), value("characters", slice="ko")
    one = {"slice": "ko", "tokenizer": "bpe-400", "text": "unseen"}
    assert value("bytes_per_token", **one) == size / tokens
    assert value("characters_per_token", **one) == characters / tokens
    assert value("context_characters", **one) == 1024 * characters / tokens
    assert value("contexts_filled", **one) == tokens / 1024
    assert value("attention_ratio", **one, against="bytes") == (tokens / size) ** 2
    assert value("attention_ratio", **one, against="en") == pytest.approx(value("parity", **one) ** 2)
    assert value("bill", **one) == pytest.approx(tokens * 2e-6)


def test_without_a_price_there_is_no_bill():
    assert not any(table.title.startswith("The bill") for table in measure(QUICK(vocab_sizes=(260,))).tables)
    assert any(table.title.startswith("The bill") for table in result().tables)


def test_a_corpus_without_english_gets_lengths_a_figure_and_the_reasons_for_what_is_left_out(tmp_path):
    corpus = write(tmp_path / "logs", a="GET /a 200\n" * 30, b="GET /b 404 not found\n" * 20)
    found = measure(QUICK(corpus=(corpus,)))
    assert "Parity: not judged" in found.verdict
    assert "Joint against English-only: not judged" in found.verdict
    assert any("no English text" in line for line in found.highlights)
    assert {name for draw in found.draw for name in draw(tmp_path)} == {"figure.png", "figure.svg"}


def test_texts_that_are_not_aligned_get_a_ratio_without_interval(tmp_path):
    corpus = write(tmp_path / "books", english="one two\nthree\n" * 20, other="eins zwei drei vier\n" * 20)
    found = measure(QUICK(corpus=(corpus,)))
    quantities = {row.quantity for row in found.rows}
    assert "whole_text_ratio" in quantities
    assert "parity" not in quantities


@pytest.mark.parametrize(
    "arguments",
    [
        {"vocab_sizes": ()},
        {"vocab_sizes": (255,)},
        {"train_bytes": 0},
        {"context": 0},
        {"chunk_tokens": 0},
        {"resamples": 10},
        {"seed": -1},
        {"price_per_million": -1.0},
        {"price_per_million": float("nan")},
    ],
)
def test_bad_arguments_are_refused_by_name(arguments):
    (name,) = arguments
    with pytest.raises(InputError, match="--" + name.replace("_", "-")):
        SequenceLength(**arguments)


def test_given_tokenizers_have_short_names_and_equal_names_are_refused(tmp_path):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        BPETokenizer.train(["abab"], 257).save(tmp_path / folder / "mine.json")
    mine = str(tmp_path / "one" / "mine.json")
    assert list(tokenizers_beside_learned(["bytes", mine, mine])) == ["mine"]
    with pytest.raises(InputError, match="two called 'mine'"):
        tokenizers_beside_learned([mine, str(tmp_path / "two" / "mine.json")])


@pytest.mark.slow
def test_a_given_tokenizer_is_counted_as_it_encodes(tmp_path):
    tokenizer = BPETokenizer.train([slices()[1].text], 500, pattern="gpt2")
    tokenizer.save(tmp_path / "korean.json")
    found = findings(QUICK(tokenizer=(str(tmp_path / "korean.json"),), vocab_sizes=(300,)))
    korean = found.columns[-1]
    assert korean.name == "korean"
    for text, counts in zip(found.texts, korean.counts, strict=True):
        assert counts.sum() == len(tokenizer.encode(text.cut.text))


def test_the_plan_speaks_of_the_corpus_without_measuring_it():
    assert plan(for_study((), ()))[0].startswith("8 slices, 0.4 MB")


def test_importing_the_experiment_loads_neither_jax_nor_matplotlib():
    code = "import sys, experiments.sequence_length; print(*{'jax', 'matplotlib'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@pytest.mark.parametrize(
    ("name", "size", "characters", "gpt2_tokens"),
    [("eng_Latn", 133_107, 132_977, 26_933), ("kor_Hang", 158_810, 66_976, 136_339)],
)
def test_flores_joined_by_spaces_has_the_published_bytes_and_characters(
    shared_path, name, size, characters, gpt2_tokens
):
    tokenizers = pytest.importorskip("tokenizers")
    (cut,) = (cut for cut in slices([str(shared_path("corpora/flores"))]) if cut.name == name)
    text = text_of(cut)
    (given,) = tokenizers_beside_learned([str(shared_path("tokenizers/gpt2/tokenizer.json"))]).values()
    counts = text.pretokens("gpt2").tokens(given, [given.text_vocab_size])
    peer = tokenizers.Tokenizer.from_file(str(shared_path("tokenizers/gpt2/tokenizer.json")))
    assert (text.bytes, text.characters) == (size, characters)
    assert len(ByteTokenizer().encode(cut.text)) == size
    assert counts.sum() == gpt2_tokens == len(peer.encode(cut.text).ids)
