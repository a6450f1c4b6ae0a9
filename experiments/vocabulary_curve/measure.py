"""The run: train once, count every held-out text once, price every size, and judge by the rule that stood before."""

from functools import partial

from experiments.finding import Finding
from experiments.sequence_length.texts import taught_and_held_out
from experiments.vocabulary_curve.costs import costs
from experiments.vocabulary_curve.curve import curves, sizes_up_to, train
from experiments.vocabulary_curve.decoders import decoders_named
from experiments.vocabulary_curve.figure import draw
from experiments.vocabulary_curve.findings import Findings
from experiments.vocabulary_curve.question import VocabularyCurve
from experiments.vocabulary_curve.rows import cost_rows, curve_rows, decoder_rows, vocabulary_rows
from experiments.vocabulary_curve.tables import tables
from experiments.vocabulary_curve.verdict import highlights, verdict


def measure(arguments: VocabularyCurve) -> Finding:
    """Rows, tables, figure and verdict for `arguments`.

    Raises:
        InputError: a decoder is none, or the text can't be read, is too little, or is trained and tested on.
    """
    decoders = decoders_named(arguments.decoder)
    teaching, held_out = taught_and_held_out(arguments.train, arguments.test, arguments.reading)
    tokenizer, taught_by = train(teaching, arguments)
    sizes = sizes_up_to(tokenizer.text_vocab_size, arguments.steps)
    measured = curves(held_out, tokenizer, sizes)
    found = Findings(
        arguments=arguments,
        tokenizer=tokenizer,
        taught_by=taught_by,
        sizes=sizes,
        decoders=decoders,
        curves=measured,
        costs=costs(measured, decoders, sizes, arguments.context),
    )
    return Finding(
        rows=[
            *vocabulary_rows(tokenizer, taught_by, arguments),
            *(row for curve in measured for row in curve_rows(curve, sizes)),
            *(row for decoder in decoders for row in decoder_rows(decoder, sizes)),
            *(row for one in found.costs for row in cost_rows(one)),
        ],
        verdict=verdict(found),
        highlights=highlights(found),
        tables=tables(found),
        draw=[partial(draw, found=found)],
        corpora=[text.cut.corpus() for text in dict.fromkeys((*teaching, *held_out))],
    )
