"""The run: every job beside every peer, then what only a fresh process can show, then scale."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from experiments.finding import Finding
from experiments.speed.tokenizers.question import TokenizerSpeed

if TYPE_CHECKING:
    from experiments.speed.tokenizers.findings import Findings
    from experiments.speed.tokenizers.texts import Text


def measure(asked: TokenizerSpeed) -> Finding:
    """Rows, tables, figure and verdict.

    Raises:
        InputError: a corpus can't be read.
        AssertionError: libraries that shall agree differ.
    """
    from experiments.speed.tokenizers.figure import draw
    from experiments.speed.tokenizers.findings import rows
    from experiments.speed.tokenizers.tables import tables
    from experiments.speed.tokenizers.texts import plain_texts
    from experiments.speed.tokenizers.verdict import highlights, verdict

    threaded = () if asked.threads_corpus is None else (asked.threads_corpus,)
    with plain_texts((*asked.corpus, *threaded), asked.megabytes) as texts:
        found = _findings(texts[: len(asked.corpus)], texts[len(asked.corpus) :], asked)
    return Finding(
        rows=rows(found),
        verdict=verdict(found),
        highlights=highlights(found),
        tables=tables(found),
        draw=[partial(draw, found=found)],
        corpora=found.corpora,
    )


def _findings(texts: "Sequence[Text]", threaded: "Sequence[Text]", asked: TokenizerSpeed) -> "Findings":
    from experiments.speed.tokenizers import jobs, paper, scale
    from experiments.speed.tokenizers.findings import Findings
    from experiments.speed.tokenizers.peers import versions
    from experiments.speed.tokenizers.processes import start_times, training_memory
    from research.tokenizers import BPETokenizer, engine

    engine.engine_for(engine.ENOUGH)
    largest, size = max(texts, key=lambda text: text.size), max(asked.sizes)
    witnesses, done = jobs.Witnesses(), []
    tokenizers = {pattern: BPETokenizer.train_files([texts[0].path], size, pattern) for pattern in asked.patterns}
    usual = tokenizers.get("gpt2") or next(iter(tokenizers.values()))
    for text in texts:
        for pattern in asked.patterns:
            done += [jobs.training(text, pattern, each, asked, witnesses) for each in asked.sizes]
        for tokenizer in tokenizers.values():
            done += [jobs.encoding(text, tokenizer, cold, asked, witnesses) for cold in (True, False)]
        done += [jobs.regex_encoding(text, usual, asked), jobs.byte_encoding(text, asked)]
        done += [jobs.decoding(text, tokenizer, asked) for tokenizer in tokenizers.values()]
    done += scale.on_threads(threaded[0] if threaded else largest, usual, asked, witnesses)
    done += scale.at_sizes(texts[0], usual, asked)
    witnesses.require_equal()
    memory, cannot = training_memory(largest.path, str(usual.pattern), size)
    stages = paper.measured_stages(largest, str(usual.pattern), size)
    encoding = next(job for job in done if job.task == "encoding on threads")
    return Findings(
        versions=versions(),
        corpora=[text.corpus() for text in (*texts, *threaded)],
        jobs=done,
        memory=memory,
        memory_of=(largest.name, f"{usual.pattern}, {size:,}"),
        cannot=cannot,
        starts=start_times(asked.repeats),
        agreed=list(witnesses.agreed()),
        stages=stages,
        paper=paper.estimates(stages, 1e6 * encoding.rate(scale.ONE).value),
    )
