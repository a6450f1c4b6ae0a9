"""The speed experiment: same jobs for all, goals judged by their rule, libraries that can't named with the reason."""

import json
from dataclasses import replace

import numpy as np
import pytest

from contracts.errors import InputError
from contracts.results import Row
from experiments.speed.tokenizers import jobs, paper, question
from experiments.speed.tokenizers.clock import OURS, Job, Ratio, interleaved
from experiments.speed.tokenizers.findings import Findings, _training
from experiments.speed.tokenizers.jobs import Witnesses
from experiments.speed.tokenizers.paper import Stages, estimates, growth, most_machines
from experiments.speed.tokenizers.peers import Cannot, documents, encoder, trainer
from experiments.speed.tokenizers.processes import Starts
from experiments.speed.tokenizers.question import Goal, TokenizerSpeed
from experiments.speed.tokenizers.texts import plain_texts, repeated
from research.tokenizers import PATTERNS, BPETokenizer

SAMPLE = "The rabbit told the others: it's 1984.\n\nThey've heard\n  it before; 옛날 옛적에\nso what?\n" * 2000


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "sample.txt"
    path.write_text(SAMPLE, encoding="utf-8")
    return path


def job(**seconds):
    timed = {name: np.array(value) for name, value in seconds.items()}
    return Job("training", "sample", "gpt2, 300", 10**6, timed, {"slow": 10**5}, {})


@pytest.mark.slow
def test_every_call_is_timed_once_a_repeat_and_one_that_is_too_slow_only_once(monkeypatch):
    clock = {"now": 0.0}
    monkeypatch.setattr("time.perf_counter", lambda: clock["now"])

    def taking(seconds):
        def call():
            clock["now"] += seconds

        return lambda: call

    calls = {OURS: taking(1.0), "fast": taking(2.0), "slow": taking(9.0)}
    taken = interleaved("test", calls, repeats=4, seed=0, patience=3.0)
    assert {name: len(seconds) for name, seconds in taken.items()} == {OURS: 4, "fast": 4, "slow": 1}
    assert taken["fast"].tolist() == [2.0] * 4


def test_ratios_are_taken_within_a_repeat_and_a_part_of_the_text_counts_as_much_as_it_is():
    ratio = job(bytebound=[1.0, 2.0, 1.0], fast=[3.0, 4.0, 5.0], slow=[1.0]).ratio("fast")
    assert (ratio.value, ratio.low, ratio.high, ratio.n) == (3.0, 2.0, 5.0, 3)
    assert job(bytebound=[1.0, 2.0], slow=[1.0]).ratio("slow").value == 10.0


def test_a_goal_is_judged_by_the_median_against_the_fastest_peer():
    (judgement,) = _training([job(bytebound=[1.0, 1.0, 1.0], fast=[1.4, 1.6, 1.6], slow=[1.0])])
    assert (judgement.against, judgement.judged) == ("fast", "met")
    assert Goal(least=2.0).judge(1.99) == Goal(most=2.0).judge(2.01) == "missed"


def test_documents_are_the_file_and_pieces_of_theirs_are_its_pieces(file, monkeypatch):
    monkeypatch.setattr("experiments.speed.tokenizers.peers._PIECE", 100)
    found = list(documents(file))
    assert len(found) > 100
    assert "".join(found) == SAMPLE
    for name in ("words", "gpt2", "cl100k"):
        pieces = [piece for document in found for piece in PATTERNS[name].split(document)]
        assert pieces == PATTERNS[name].split(SAMPLE)


def test_an_absent_library_and_one_that_cannot_are_named(file):
    pytest.importorskip("tiktoken")
    with pytest.raises(Cannot, match="educational"):
        trainer("tiktoken", file, "gpt2", 300)
    with pytest.raises(Cannot, match="absent"):
        encoder("no-such-library", BPETokenizer([]))


@pytest.mark.parametrize("name", ["tiktoken", "gigatoken", "tokenizers"])
def test_peers_encode_with_our_merges(name):
    pytest.importorskip(name)
    tokenizer = BPETokenizer.train([SAMPLE], 320, "gpt2")
    text = SAMPLE[:20_000]  # one document for tokenizers, which gets documents of 64 KB
    ids = encoder(name, tokenizer)(text.encode(), text)
    assert ids.tolist() == tokenizer.encode(text).tolist()


def test_what_differs_and_should_be_equal_fails_the_run():
    witnesses = Witnesses()
    look = witnesses.watch("ids", lambda name, ids: jobs.digest_of_ids(ids))
    look(OURS, np.array([1, 2], np.int32))
    look("theirs", np.array([1, 2], np.uint32))
    assert list(witnesses.agreed()) == [("ids", ("theirs",))]
    witnesses.require_equal()
    look("other", np.array([1, 3]))
    with pytest.raises(AssertionError, match="ids differ"):
        witnesses.require_equal()


def test_a_terabyte_on_paper():
    """1 MB/s a core, 100 times that to add up, words growing with the square root."""
    stages = [Stages(10**6, 1.0, 0.01, 1.0, 100, 500), Stages(10**8, 100.0, 1.0, 10.0, 1000, 5000)]
    assert growth(stages) == pytest.approx(0.5)
    one, *_, most = estimates(stages, encoding_rate=2e6)
    assert one.counting == pytest.approx(1e6 / 2 / 3600)
    assert one.adding == pytest.approx(1e4 / 3600)
    assert one.merging == pytest.approx(10 * 100 / 3600)
    assert one.encoding == pytest.approx(1e12 / 2e6 / 2 / 3600)
    assert (one.limit, most.limit) == ("counting", "adding")
    assert one.training == pytest.approx(one.counting + one.merging)
    assert most.training == pytest.approx(most.adding + most.merging)
    assert most_machines(stages) == pytest.approx(50)


def test_stages_count_the_whole_text(file, monkeypatch):
    file.write_text(SAMPLE + "lastword", encoding="utf-8")
    monkeypatch.setenv("BYTEBOUND_ENGINE", "numba")
    monkeypatch.setattr(paper, "SIZE", 10_000)
    with plain_texts([str(file)], None) as (text,):
        stages = paper.measured_stages(text, "gpt2", 300)
    assert [stage.size for stage in stages] == [text.size // 16, text.size // 4, text.size]
    assert stages[-1].words == len(set(PATTERNS["gpt2"].split(SAMPLE + "lastword")))


def test_a_text_is_unpacked_cut_and_repeated(file, tmp_path):
    import gzip

    packed = tmp_path / "sample.txt.gz"
    packed.write_bytes(gzip.compress(SAMPLE.encode()))
    with plain_texts([str(file), str(packed)], 0.01) as (plain, unpacked):
        assert plain.data == unpacked.data
        assert 9_000 < plain.size <= 10_000
        assert plain.name == unpacked.name == "sample.txt"
        assert repeated(plain, 3, tmp_path).data == plain.data * 3


@pytest.mark.parametrize(
    ("asked", "complaint"),
    [
        ({"corpus": ()}, "--corpus"),
        ({"corpus": ("x",), "repeats": 0}, "--repeats"),
        ({"corpus": ("x",), "sizes": (100,)}, "--sizes"),
        ({"corpus": ("x",), "megabytes": 0.0}, "--megabytes"),
        ({"corpus": ("x",), "longest": 0.0}, "--longest"),
    ],
)
def test_bad_arguments_are_refused(asked, complaint):
    with pytest.raises(InputError, match=complaint):
        TokenizerSpeed(**asked)


@pytest.mark.parametrize(
    ("given", "longest"), [({}, 1e9), ({"megabytes": 1}, 1e6), ({"megabytes": 1, "longest": 5}, 5e6)]
)
def test_the_longest_text_follows_what_is_taken_of_a_corpus(given, longest):
    assert TokenizerSpeed(corpus=("x",), **given).longest_bytes == longest


@pytest.mark.parametrize("data", [None, b"\xff", b""])
def test_a_corpus_that_is_no_text_is_refused(tmp_path, data):
    path = tmp_path / "bad.txt"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(InputError, match="--corpus"), plain_texts([str(path)], None):
        pass


@pytest.mark.slow
def test_a_small_run_answers_with_every_goal(file, tmp_path, monkeypatch):
    from experiments.command import Output, run
    from experiments.speed.tokenizers import QUESTION, measure

    monkeypatch.setattr(question, "LEAST_BYTES", 1)
    larger = tmp_path / "larger.txt"
    larger.write_bytes(2 * file.read_bytes())
    asked = TokenizerSpeed(
        corpus=(str(file),), threads_corpus=str(larger), patterns=("gpt2",), sizes=(300,), repeats=1, longest=1
    )
    finding = run(QUESTION, asked, measure, Output(out=str(tmp_path / "result")))
    assert "goals met" in finding.verdict
    manifest = json.loads((tmp_path / "result" / "manifest.json").read_text())
    assert (manifest["arguments"]["corpus"], manifest["arguments"]["threads_corpus"]) == (["sample.txt"], "larger.txt")
    rows = [Row.from_json(line) for line in (tmp_path / "result" / "rows.jsonl").read_text().splitlines()]
    judged = {row.factors["what"] for row in rows if row.quantity == "goal"}
    assert {"byte tokenizer", "first start", "later starts", "training on threads", "encoding on threads"} <= judged
    assert {row.factors["corpus"] for row in rows if "threads" in row.factors.get("what", "")} == {"larger.txt"}


def test_a_small_text_judges_nothing_but_starting_up():
    small, large = (replace(job(bytebound=[1.0], fast=[2.0]), size=size) for size in (10**6, 10**7))
    starts = Starts(Ratio(1.0, 1.0, 1.0, 1), Ratio(1.0, 1.0, 1.0, 1), Ratio(1.0, 1.0, 1.0, 1), False)
    for each, judged in ((small, []), (large, ["training"])):
        found = Findings({}, [], [each], {}, ("", ""), {}, starts, [], [], [])
        assert [one.what for one in found.judgements()] == [*judged, "first start", "later starts"]
