"""The run: count the programs, time the same programs, count the texts, and judge by the rule that stood before."""

from functools import partial

from experiments.attention_scaling.question import AttentionScaling
from experiments.corpora import decisions, slices
from experiments.finding import Finding


def measure(arguments: AttentionScaling) -> Finding:
    """Rows, tables, figure and verdict for `arguments`.

    Raises:
        InputError: the shape does not fit together, or the corpus or a tokenizer can't be read.
        AssertionError: formula and traced program disagree.
    """
    # JAX and the model are imported here, for --help has no use for them
    from experiments.attention_scaling import counting, growth, programs, texts
    from experiments.attention_scaling.clock import measure_times
    from experiments.attention_scaling.figure import draw
    from experiments.attention_scaling.findings import Findings
    from experiments.attention_scaling.tables import tables
    from experiments.attention_scaling.verdict import highlights, verdict

    config, cuts = arguments.config(), slices(arguments.corpus, arguments.reading)
    units = texts.units_for(cuts, arguments.vocab_size, arguments.tokenizer)
    costs = texts.text_costs(cuts, units)  # before the clock: a text that can't be counted is refused at once
    parts = programs.parts(config)
    counted = counting.count_parts(parts, config, arguments.counted_lengths)
    crossings = counting.crossings(parts, config)
    timings = measure_times(parts, arguments.lengths, arguments.repeats, arguments.seed)
    flops = {(count.part, count.length): count.flops for count in counted}
    grown = {
        part.name: growth.growth(timings, part.name, [flops[part.name, length] for length in arguments.lengths])
        for part in parts
    }
    found = Findings(
        config=config,
        counted=counted,
        crossings=crossings,
        timings=timings,
        growth=grown,
        clock_crossing=growth.clock_crossing(timings, crossings[0].full),
        texts=costs,
        units=units,
        decisions=decisions(cuts),
    )
    return Finding(
        rows=[
            *counting.flops_rows(counted),
            *counting.useful_rows(config, arguments.counted_lengths),
            *counting.crossing_rows(crossings),
            *growth.timing_rows(timings, grown, found.clock_crossing),
            *texts.text_rows(found.texts, units, found.decoders),
        ],
        verdict=verdict(found),
        highlights=highlights(found),
        tables=tables(found),
        draw=[partial(draw, found=found)],
        corpora=[cut.corpus() for cut in cuts],
    )
