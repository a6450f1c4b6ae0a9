"""Three vocabularies against encoding, what joint merges are worth against trying, and the published ordering."""

import json
import subprocess
import sys
from functools import cache, partial

import pytest

from contracts.errors import InputError
from experiments.corpora import slices
from experiments.recording import plain
from experiments.sequence_length.texts import HELD_OUT
from experiments.vocabulary_language import VocabularyLanguage, for_study, measure, plan
from experiments.vocabulary_language.compare import BOTH, JOINT, alone, compare
from experiments.vocabulary_language.languages import languages
from experiments.vocabulary_language.worth import worths
from research.measures import renyi_efficiency, single_byte_share, used_share

QUICK = partial(VocabularyLanguage, vocab_sizes=(300, 512, 1024), resamples=100)


@cache
def compared():
    return compare(*languages(QUICK()), QUICK())


@cache
def result():
    return measure(QUICK())


def write(folder, **texts):
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return str(folder)


def test_the_tokens_are_those_of_the_held_out_documents_under_each_truncated_vocabulary():
    found = compared()
    for one in found.vocabularies:
        for language in found.languages:
            text = language.test.joiner + language.test.part(HELD_OUT)
            expected = [len(one.tokenizer.truncate(size).encode(text)) for size in found.sizes]
            assert found.measured[one.name, language.name].tokens == expected
            assert language.bytes == len(text.encode())


def test_what_a_vocabulary_learns_does_not_depend_on_the_documents_that_are_measured(tmp_path):
    taught = {cut.name: [unit.replace("\n", " ") for unit in cut.units[:60]] for cut in slices()[:2]}
    merges = []
    for folder, measured in (("one", "abc abc"), ("two", "xyzzy 하하하")):
        texts = {name: "".join(f"{unit}\n{measured}\n" for unit in units) for name, units in taught.items()}
        arguments = QUICK(train=(write(tmp_path / folder, **texts),))
        found = compare(*languages(arguments), arguments)
        merges.append([one.tokenizer.merges.tolist() for one in found.vocabularies])
    assert merges[0] == merges[1]


def test_the_three_learn_from_as_many_bytes_within_two_units():
    longest = max(len(unit.encode()) for cut in slices()[:2] for unit in cut.units)
    bytes_taught = [one.bytes for one in compared().vocabularies]
    assert max(bytes_taught) - min(bytes_taught) < 2 * (longest + 1)


def test_on_the_embedded_corpus_joint_lies_between_and_english_alone_leaves_korean_in_bytes():
    found = compared()
    assert all(found.lies_between(index) for index in range(len(found.sizes)))
    assert max(found.bytes_per_token(alone(found.english), found.other)) < 1.05
    joint = found.over_alone[alone(found.english), found.other.name]
    assert [ratio.below(1) for ratio in joint] == [True] * 3
    assert joint[-1].below(0.55)
    assert found.over_alone[alone(found.english), BOTH][-1].below(1)


def test_joint_merges_are_worth_the_fewest_own_merges_that_give_no_more_tokens():
    found, worth = compared(), worths(compared())
    assert len(worth) == 6
    for one in worth:
        own = next(v.tokenizer for v in found.vocabularies if v.name == alone(one.language))
        text = one.language.test.joiner + one.language.test.part(HELD_OUT)
        tokens = found.measured[JOINT, one.language.name].tokens[found.sizes.index(one.size)]
        assert len(own.truncate(256 + one.merges).encode(text)) <= tokens
        assert len(own.truncate(256 + one.merges - 1).encode(text)) > tokens
        assert one.share == one.merges / (one.size - 256)
        assert 0.3 < one.share < 0.7


def test_parity_is_of_the_other_language_over_english():
    found = compared()
    for name, ratios in found.parities.items():
        english, other = (found.measured[name, language.name].tokens for language in found.languages)
        assert [ratio.value for ratio in ratios] == [b / a for a, b in zip(english, other, strict=True)]


def test_the_stated_size_is_the_largest_reached_that_is_not_above_it():
    assert compared().sizes[compared().at] == 1024
    small = QUICK(at=600)
    assert compare(*languages(small), small).at == 1


def test_another_language_is_known_by_the_words_given():
    found = measure(QUICK(other=("german", "deu", "de")))
    assert "German" in found.verdict
    assert {corpus.name for corpus in found.corpora} == {"en", "de"}


@pytest.mark.parametrize(("other", "problem"), [(("french", "fr"), "a text in French, with french or fr in its name")])
def test_a_language_that_is_missing_is_named(other, problem):
    with pytest.raises(InputError, match=problem):
        measure(QUICK(other=other))


def test_too_little_text_is_refused_where_it_is_missing(tmp_path):
    small = write(tmp_path / "small", en="a b\n" * 40, ko="가 나\n" * 40)
    with pytest.raises(InputError, match=r"--train: .* 1,000 bytes of English, got 79 bytes"):
        measure(QUICK(train=(small,)))
    with pytest.raises(InputError, match=r"--test: .* of English .* got 2 with 3 bytes"):
        measure(QUICK(test=(write(tmp_path / "few", en="a\nb\n", ko="가\n나\n"),)))


def test_languages_that_are_not_aligned_are_compared_one_by_one(tmp_path):
    english = "\n".join(cut.text for cut in slices() if cut.name == "en")
    korean = "\n".join(unit for cut in slices() if cut.name == "ko" for unit in cut.units)
    test = write(tmp_path / "apart", en=english.replace(". ", ".\n") + "\nmore", ko=korean + "\n더")
    found = measure(QUICK(test=(test,)))
    assert "not aligned" in found.verdict
    assert not any(row.quantity == "parity" or row.factors.get("language") == BOTH for row in found.rows)
    assert {name for draw in found.draw for name in draw(tmp_path)} == {"figure.png", "figure.svg"}


def test_a_row_is_known_by_its_quantity_and_factors():
    keys = [(row.quantity, json.dumps(row.factors, sort_keys=True)) for row in result().rows]
    assert len(keys) == len(set(keys))


def test_everything_is_drawn_and_tabled(tmp_path):
    assert {name for draw in result().draw for name in draw(tmp_path)} == {"figure.png", "figure.svg"}
    assert all(table.rows for table in result().tables)
    assert len(result().tables) == 5


@pytest.mark.parametrize(
    "arguments",
    [
        {"other": ()},
        {"other": ("pt-br",)},
        {"vocab_sizes": ()},
        {"vocab_sizes": (256,)},
        {"at": 256},
        {"train_bytes": 1},
        {"resamples": 10},
        {"seed": -1},
    ],
)
def test_bad_arguments_are_refused_by_name(arguments):
    (name,) = arguments
    with pytest.raises(InputError, match="--" + name.replace("_", "-")):
        VocabularyLanguage(**arguments)


def test_the_manifest_names_the_files_without_their_folders():
    kept = plain(QUICK(train=("/home/somebody/prose",), test=("/home/somebody/flores/eng.txt",)))
    assert (kept["train"], kept["test"]) == (["prose"], ["eng.txt"])


def test_the_plan_speaks_of_the_run_without_measuring_it():
    assert plan(for_study((), ()))[0] == "3 vocabularies of up to 32,768 tokens: English, Korean, and half of each"


def test_importing_the_experiment_loads_neither_jax_nor_matplotlib():
    code = "import sys, experiments.vocabulary_language; print(*{'jax', 'matplotlib'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []


@cache
def of_technical_prose(prose, flores, pattern):
    arguments = VocabularyLanguage(
        train=(prose,), test=(flores,), vocab_sizes=(512, 2048, 8192), pattern=pattern, resamples=100
    )
    return compare(*languages(arguments), arguments)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["words", "gpt2"])
def test_vocabularies_of_technical_prose_order_flores_as_published(shared_path, pattern):
    found = of_technical_prose(*(str(shared_path(f"corpora/{name}")) for name in ("parallel", "flores")), pattern)
    assert found.sizes == (512, 2048, 8192)
    assert all(found.lies_between(index) for index in range(3))
    assert max(found.bytes_per_token("English-only", found.other)) < 1.05
    assert found.over_alone["English-only", "Korean"][found.at].below(0.4)
    shares = {one.language.name: one.share for one in worths(found) if one.size == 8192}
    # Published for the GPT-2 pattern: English 0.48 to 0.52, Korean 0.60 to 0.68.
    assert shares["English"] == pytest.approx(0.5, abs=0.06)
    assert shares["Korean"] == pytest.approx(0.62, abs=0.08)


@pytest.mark.slow
def test_korean_uses_few_ids_of_an_english_only_vocabulary_as_published(shared_path):
    found = of_technical_prose(*(str(shared_path(f"corpora/{name}")) for name in ("parallel", "flores")), "gpt2")
    published = {"English-only": (0.991, 0.069, 0.320), "joint": (0.171, 0.301, 0.593)}
    for vocabulary in found.vocabularies[:2]:
        encoded = found.other.test.pretokens("gpt2").encode(vocabulary.tokenizer)
        occurrences = encoded.occurrences(found.other.held_out)
        measured = single_byte_share(occurrences), used_share(occurrences), renyi_efficiency(occurrences, 2.5)
        assert measured == pytest.approx(published[vocabulary.name], abs=0.01)
