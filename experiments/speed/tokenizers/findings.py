"""All that a run found, and the goals judged by it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from contracts.results import Corpus, Factor, Row
from experiments.speed.tokenizers import question
from experiments.speed.tokenizers.clock import OURS, Job, Ratio
from experiments.speed.tokenizers.paper import Estimate, Stages
from experiments.speed.tokenizers.processes import Memory, Starts
from experiments.speed.tokenizers.question import Goal
from experiments.speed.tokenizers.scale import ONE, TWO

#: A later run counts as equal up to this relative difference: the clocks of machines differ.
_TOLERANCE = 2.0


@dataclass(frozen=True)
class Judgement:
    """A goal, and what was measured."""

    what: str
    corpus: str
    setting: str
    against: str
    measured: Ratio
    unit: str
    goal: Goal

    @property
    def judged(self) -> str:
        """`met` or `missed`."""
        return self.goal.judge(self.measured.value)


@dataclass(frozen=True)
class Findings:
    """What was measured, by kind."""

    versions: Mapping[str, str | None]
    corpora: Sequence[Corpus]
    jobs: Sequence[Job]
    memory: Mapping[str, Memory]
    memory_of: tuple[str, str]
    """the corpus and the setting of the training whose memory was measured"""
    cannot: Mapping[str, str]
    """libraries whose memory was not"""
    starts: Starts
    agreed: Sequence[tuple[str, tuple[str, ...]]]
    stages: Sequence[Stages]
    paper: Sequence[Estimate]

    def of(self, task: str) -> list[Job]:
        """The jobs of a task."""
        return [job for job in self.jobs if job.task == task]

    @property
    def absent(self) -> list[str]:
        """Peers that are not installed."""
        return [name for name, version in self.versions.items() if version is None]

    def judgements(self) -> list[Judgement]:
        """Every goal, in the order of the question, by texts that are large enough."""
        return [
            *_training(self._large("training")),
            *self._memory(),
            *_encoding(self._large("encoding")),
            *_decoding(self._large("decoding")),
            *_bytes(self._large("byte tokenizer")),
            *self._starts(),
            *_threads([*self._large("training on threads"), *self._large("encoding on threads")]),
            *_flat(self._large("time a byte")),
        ]

    def _large(self, task: str) -> list[Job]:
        return [job for job in self.of(task) if job.size >= question.LEAST_BYTES]

    def _memory(self) -> Iterator[Judgement]:
        peers = {name: memory.above for name, memory in self.memory.items() if name != OURS}
        if OURS in self.memory and peers and self._large("training"):
            leanest = min(peers, key=lambda name: peers[name])
            ratio = Ratio.of(np.array([self.memory[OURS].above / max(peers[leanest], 1)]))
            yield Judgement("memory of training", *self.memory_of, leanest, ratio, "times as much", question.MEMORY)

    def _starts(self) -> Iterator[Judgement]:
        yield Judgement("first start", "", "compiling", "", self.starts.first, "s", question.FIRST_START)
        yield Judgement("later starts", "", "loading", "", self.starts.later, "s", question.LATER_START)


_FASTER, _LONGER = "times as fast", "times as long"


def _training(jobs: Sequence[Job]) -> Iterator[Judgement]:
    for job in jobs:
        if job.fastest_peer:
            yield _against(job, job.fastest_peer, question.TRAINING)


def _encoding(jobs: Sequence[Job]) -> Iterator[Judgement]:
    for job in jobs:
        if job.setting.startswith("words") and job.fastest_peer:
            yield _against(job, job.fastest_peer, question.ENCODING_WORDS)
            continue
        is_named, is_cold = not job.setting.startswith("another"), job.setting.endswith("cold")
        if "tiktoken" in job.seconds:
            yield _against(job, "tiktoken", question.ENCODING_TIKTOKEN if is_named else question.LEVEL)
        if "tokenizers" in job.seconds:
            yield _against(job, "tokenizers", question.ENCODING_HUGGINGFACE)
        if "gigatoken" in job.seconds and is_cold:
            yield _against(job, "gigatoken", question.LEVEL)


def _decoding(jobs: Sequence[Job]) -> Iterator[Judgement]:
    for job in jobs:
        if job.fastest_peer:
            yield _against(job, job.fastest_peer, question.DECODING)


def _against(job: Job, peer: str, goal: Goal) -> Judgement:
    return Judgement(job.task, job.corpus, job.setting, peer, job.ratio(peer), _FASTER, goal)


def _bytes(jobs: Sequence[Job]) -> Iterator[Judgement]:
    for job in jobs:
        ratio = Ratio.of(job.seconds[OURS] / job.seconds["writing int32"])
        yield Judgement(job.task, job.corpus, job.setting, "writing int32", ratio, _LONGER, question.BYTES)


def _threads(jobs: Sequence[Job]) -> Iterator[Judgement]:
    for job in jobs:
        ratio = Ratio.of(job.seconds[ONE] / job.seconds[TWO])
        yield Judgement(job.task, job.corpus, job.setting, ONE, ratio, _FASTER, question.TWO_THREADS)


def _flat(jobs: Sequence[Job]) -> Iterator[Judgement]:
    if len(jobs) > 1:
        first, last = jobs[0], jobs[-1]
        for name in first.seconds:
            ratio = Ratio.of((last.seconds[name] / last.size) / (first.seconds[name] / first.size))
            yield Judgement(
                f"time a byte, {name}", last.corpus, last.setting, first.corpus, ratio, _LONGER, question.FLAT
            )


def rows(found: Findings) -> list[Row]:
    """Every figure, with its spread."""
    return [
        *(
            _timed("rate", job.rate(name), "MB/s", _factors(job) | {"library": name})
            for job in found.jobs
            for name in job.seconds
        ),
        *(
            _timed(
                "goal",
                each.measured,
                each.unit,
                {
                    "what": each.what,
                    "corpus": each.corpus,
                    "setting": each.setting,
                    "against": each.against,
                    "goal": str(each.goal),
                    "judged": each.judged,
                },
            )
            for each in found.judgements()
        ),
        *_memory_rows(found),
        _timed("import", found.starts.imports, "seconds", {"module": "research.tokenizers"}),
        *(
            Row("equal", 1, "results", "exact", "count", {"what": what, "by": ", ".join(peers)})
            for what, peers in found.agreed
        ),
        *_paper_rows(found),
    ]


def _memory_rows(found: Findings) -> Iterator[Row]:
    for name, memory in found.memory.items():
        for quantity, value in (("imports", memory.imports), ("above_imports", memory.above)):
            factors: dict[str, Factor] = {"library": name, "of": ", ".join(found.memory_of), "part": quantity}
            yield Row("memory", value, "bytes", "timed", "clock", factors, n=1, tolerance=_TOLERANCE)


def _paper_rows(found: Findings) -> Iterator[Row]:
    for stage in found.stages:
        for name in ("counting", "adding", "merging"):
            value = Ratio.of(np.array([getattr(stage, name)]))
            yield _timed("stage", value, "seconds", {"stage": name, "bytes": stage.size})
        yield Row("distinct_pretokens", stage.words, "pre-tokens", "exact", "count", {"bytes": stage.size})
    for each in found.paper:
        for name in ("counting", "adding", "merging", "encoding"):
            hours = getattr(each, name)
            factors: dict[str, Factor] = {"stage": name, "machines": each.machines}
            low, high = hours / _TOLERANCE, hours * _TOLERANCE
            yield Row("terabyte", hours, "hours", "estimated", "formula", factors, low=low, high=high)


def _factors(job: Job) -> dict[str, Factor]:
    return {"task": job.task, "corpus": job.corpus, "setting": job.setting}


def _timed(quantity: str, found: Ratio, unit: str, factors: Mapping[str, Factor]) -> Row:
    return Row(
        quantity, found.value, unit, "timed", "clock", factors, low=found.low, high=found.high, n=found.n,
        tolerance=_TOLERANCE,
    )  # fmt: skip
