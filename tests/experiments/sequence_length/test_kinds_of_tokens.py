"""Words, kinds of tokens, fairness and rewritten JSON, against encoding the halves one by one and published ratios."""

import json
from functools import cache, partial

import numpy as np
import pytest

from experiments.corpora import Slice, slices
from experiments.sequence_length import SequenceLength, measure
from experiments.sequence_length.columns import columns, teach
from experiments.sequence_length.fairness import fairness
from experiments.sequence_length.intrinsic import intrinsics
from experiments.sequence_length.question import ALPHA
from experiments.sequence_length.reformatted import COMPACT, FORMS, in_form, reformatted
from experiments.sequence_length.texts import text_of
from research.measures import gini, renyi_efficiency
from research.measures.words import word_spans

QUICK = partial(SequenceLength, vocab_sizes=(300, 400), resamples=100)


@cache
def embedded():
    """The languages of the embedded corpus and compact JSON, under bytes and two learned vocabularies."""
    texts = [text_of(cut) for cut in slices()[:4]]
    arguments = QUICK()
    taught = teach([(text, 10**6) for text in texts], 400, arguments.pattern)
    return texts, columns(texts, arguments, taught)


def halves(text, column):
    """The text of each half with the tokenizer that measures it; a joiner stands before the second one."""
    return [(text.joiner * half + text.part(half), column.by_half[half]) for half in (0, 1)]


def test_words_and_single_bytes_are_those_of_each_half_under_the_other_halfs_vocabulary():
    texts, found = embedded()
    for one in intrinsics(texts[:2], found):
        tokens = [token for part, tokenizer in halves(one.text, one.column) for token in tokenizer.pieces(part)]
        broken = sum("\ufffd" in data.decode(errors="replace") for _, data, _ in tokens)
        assert one.words == len(word_spans(one.text.whole))
        assert one.single_byte == pytest.approx(sum(token < 256 for token, _, _ in tokens) / len(tokens))
        assert one.broken == pytest.approx(broken / len(tokens))
        assert one.pieces / one.words == one.fertility >= 1
        assert 0 <= one.kept_whole <= 1


def test_the_evenness_of_a_learned_pair_is_the_mean_of_both_weighted_by_tokens():
    texts, found = embedded()
    learned = found[-1]
    (one,) = intrinsics(texts[:1], [learned])
    parts = []
    for part, tokenizer in halves(texts[0], learned):
        ids = tokenizer.encode(part)
        counts = np.bincount(ids, minlength=tokenizer.text_vocab_size).astype(np.int64)
        parts.append((renyi_efficiency(counts, ALPHA), len(ids)))
    expected = sum(value * tokens for value, tokens in parts) / sum(tokens for _, tokens in parts)
    assert one.evenness == pytest.approx(expected, abs=1e-9)


def test_longer_tokens_keep_more_words_whole():
    texts, found = embedded()
    whole = [one.kept_whole for one in intrinsics(texts[:1], found)]
    assert whole == sorted(whole)
    assert whole[0] < whole[-1]


def test_a_text_without_words_has_no_fertility_row(tmp_path):
    (tmp_path / "emoji.txt").write_text("😀 😀\n— 😀\n" * 20, encoding="utf-8")
    rows = measure(QUICK(corpus=(str(tmp_path / "emoji.txt"),))).rows
    quantities = {row.quantity for row in rows}
    assert "single_byte_tokens" in quantities
    assert "fertility" not in quantities


def test_gini_is_over_the_languages_that_say_the_same_and_over_no_formats():
    texts, found = embedded()
    some = fairness(texts, found, QUICK())
    assert {(one.group, one.languages) for one in some} == {("languages", 3)}
    assert [one.column for one in some] == found
    sizes = np.array([[text.bytes for text in texts[:3]]], np.float64)
    assert some[0].gini.value == pytest.approx(float(gini(sizes)[0]))


def test_a_corpus_of_one_language_has_no_gini():
    texts, found = embedded()
    assert fairness(texts[:1], found, QUICK()) == []


def test_json_is_rewritten_whatever_its_form_was_and_the_same_content_once():
    document = {"a": [1, {"b": "가"}], "c": " x "}
    spellings = [json.dumps(document), json.dumps(document, indent=4, ensure_ascii=False)]
    cuts = [Slice(f"j{index}", "g", (text,), "\n", (text,), aligned=False) for index, text in enumerate(spellings)]
    texts = [text_of(cut) for cut in (*cuts, slices()[0])]
    _, found = embedded()
    some = reformatted(texts, found[:1])
    assert {one.text.name for one in some} == {"j0"}
    assert [one.form for one in some] == [form for form in FORMS if form != COMPACT]
    compact = '{"a":[1,{"b":"가"}],"c":" x "}'
    assert in_form(document, COMPACT) == compact
    escaped = next(one for one in some if "escapes" in one.form)
    assert escaped.ratios["bytes"] == len(compact.replace("가", "\\uac00")) / len(compact.encode())


def test_a_document_is_rewritten_under_the_vocabulary_that_did_not_learn_from_it():
    texts, found = embedded()
    documents, learned = texts[3].cut.documents, found[-1]
    indented = next(one for one in reformatted(texts[3:4], [learned]) if one.form == "indent 8")
    tokens = {
        form: sum(
            len(learned.by_half[index % 2].encode(in_form(json.loads(document), form)))
            for index, document in enumerate(documents)
        )
        for form in (COMPACT, "indent 8")
    }
    assert indented.ratios[learned.name] == tokens["indent 8"] / tokens[COMPACT]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("form", "bytes_ratio", "gpt2_ratio", "smollm2_ratio"),
    [("indent 8", 3.05, 6.56, 1.21), ("indent 2", 1.60, 2.51, 1.21)],
)
def test_indentation_costs_what_was_published(shared_path, tmp_path, form, bytes_ratio, gpt2_ratio, smollm2_ratio):
    catalogue = json.loads(shared_path("corpora/json/citm_catalog.json").read_text(encoding="utf-8"))
    (tmp_path / "citm.json").write_text(json.dumps(dict(list(catalogue.items())[:4]), indent=1), encoding="utf-8")
    texts = [text_of(cut) for cut in slices([str(tmp_path / "citm.json")])]
    files = tuple(str(shared_path(f"tokenizers/{name}/tokenizer.json")) for name in ("gpt2", "smollm2_17b"))
    arguments = QUICK(tokenizer=files, vocab_sizes=(260,))
    found = columns(texts, arguments, teach([(text, 10_000) for text in texts], 260, "words"))
    ratios = next(one for one in reformatted(texts, found) if one.form == form).ratios
    published = {"bytes": bytes_ratio, "gpt2": gpt2_ratio, "smollm2_17b": smollm2_ratio}
    assert {name: ratios[name] for name in published} == pytest.approx(published, abs=0.005)


def test_gpt2_keeps_english_words_whole_and_leaves_korean_in_broken_tokens(shared_path):
    texts = [text_of(cut) for cut in slices([str(shared_path("corpora/udhr"))]) if cut.name in ("eng", "kor")]
    file = str(shared_path("tokenizers/gpt2/tokenizer.json"))
    found = columns(texts, QUICK(tokenizer=(file,)), teach([(text, 10_000) for text in texts], 300, "words"))
    english, korean = intrinsics(texts, found[-1:])
    assert english.kept_whole > 0.9
    assert english.broken < 0.001
    assert korean.broken > 0.5
    assert korean.fertility > 5
