"""The run: count every text under every tokenizer, compare, and judge by the rule that stood before."""

from functools import partial

from experiments.corpora import slices
from experiments.finding import Finding
from experiments.sequence_length import joint, losses, signs
from experiments.sequence_length.columns import columns, shown, teach, vocabulary_rows
from experiments.sequence_length.fairness import fairness, fairness_rows
from experiments.sequence_length.figure import draw
from experiments.sequence_length.findings import Findings
from experiments.sequence_length.intrinsic import intrinsic_rows, intrinsics
from experiments.sequence_length.lengths import length_rows, text_rows
from experiments.sequence_length.parity import parities, parity_rows
from experiments.sequence_length.question import SequenceLength
from experiments.sequence_length.reformatted import reformatted, reformatted_rows
from experiments.sequence_length.tables import tables
from experiments.sequence_length.texts import text_of
from experiments.sequence_length.verdict import highlights, verdict
from research.measures import check_length_law


def measure(arguments: SequenceLength) -> Finding:
    """Rows, tables, figure and verdict for `arguments`.

    Raises:
        InputError: the corpus or a tokenizer can't be read.
        ContractError: a document breaks N <= T <= 4 N.
    """
    found = findings(arguments)
    size, taught = found.taught.reached, found.taught
    rows = [
        *text_rows(found.texts, found.documents),
        *length_rows(found.texts, found.columns, arguments),
        *parity_rows(found.parities),
        *vocabulary_rows(taught, found.requested, arguments.pattern, of="all slices"),
        *([] if isinstance(found.joint, str) else joint.joint_rows(found.joint, arguments)),
        *losses.baseline_rows(found.baselines, size),
        *losses.guess_rows(found.guesses, arguments),
        *intrinsic_rows(found.intrinsics),
        *fairness_rows(found.fairness),
        *signs.emoji_rows(found.emoji),
        *signs.decomposed_rows(found.decomposed),
        *reformatted_rows(found.reformatted),
    ]
    return Finding(
        rows=rows,
        verdict=verdict(found),
        highlights=highlights(found),
        tables=tables(found),
        draw=[partial(draw, found=found)],
        corpora=[text.cut.corpus() for text in found.texts],
    )


def findings(arguments: SequenceLength) -> Findings:
    """Measure everything; rows, tables and figure only show it."""
    texts = [text_of(cut) for cut in slices(arguments.corpus, arguments.reading)]
    documents = sum(check_length_law(text.cut.documents) for text in texts)
    taught = teach([(text, arguments.train_bytes) for text in texts], max(arguments.vocab_sizes), arguments.pattern)
    every = columns(texts, arguments, taught)
    some = shown(every)
    return Findings(
        arguments=arguments,
        texts=texts,
        documents=documents,
        taught=taught,
        columns=every,
        shown=some,
        parities=parities(texts, every, arguments),
        joint=joint.compare(texts, arguments),
        baselines=losses.baselines(texts, taught.reached, arguments),
        guesses=losses.guesses(texts, some, arguments),
        intrinsics=intrinsics(texts, some),
        fairness=fairness(texts, every, arguments),
        emoji=signs.emoji(some),
        decomposed=signs.decomposed(texts, some, taught, arguments.pattern),
        reformatted=reformatted(texts, some),
    )
