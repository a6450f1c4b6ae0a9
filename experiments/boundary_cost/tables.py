"""The tables: what each policy adds, then parameters, positions, and what follows, side by side."""

from collections.abc import Sequence

from contracts.tokenizer import PROTOCOL_NAMES
from experiments.boundary_cost.consequences import CACHE_DTYPE, Bill, cache_bytes_per_position
from experiments.boundary_cost.parameters import Model
from experiments.boundary_cost.positions import Encoded
from experiments.boundary_cost.shapes import POLICIES
from experiments.tables import Table, number, percent, si
from research.costs import token_parameters
from research.costs.memory import dtype_bytes

_FORMULAS = {"shared": "n + 1", "separate": "2n", "bos": "n", "eos": "n", "none": "0"}


def policies(model: Model, corpora: Sequence[Encoded]) -> Table:
    """What each policy adds to a model and to the streams of the whole corpus."""
    columns = (
        "policy",
        "ids",
        "boundaries of n documents",
        "boundaries in the corpus",
        *(f"of the stream, {corpus.tokenizer}" for corpus in corpora),
        f"parameters ({model.base.name} over {model.text_vocab_size:,})",
        "of the model",
    )
    rows = []
    for policy in POLICIES:
        added = model.parameters(policy) - model.parameters("none")
        rows.append(
            (
                policy,
                str(len(PROTOCOL_NAMES[policy])),
                _FORMULAS[policy],
                number(corpora[0].boundaries[policy]),
                *(percent(corpus.boundary_share(policy)) for corpus in corpora),
                number(added),
                percent(added / model.parameters(policy)),
            )
        )
    documents = corpora[0].documents
    return Table(
        "What each policy adds",
        columns,
        tuple(rows),
        f"{documents:,} documents, all of the corpus as one stream. Parameters of an untied head, which a tied one "
        "halves.",
    )


def origin(model: Model) -> Table:
    """The origin's numbers: V, and 2VD (VD tied), under each policy."""
    width = model.base.d_model
    rows = tuple(
        (
            policy,
            number(shape.vocab_size),
            number(token_parameters(shape.vocab_size, width, shape.tied)),
            number(model.parameters(policy)),
        )
        for policy in POLICIES
        for shape in [model.under(policy)]
    )
    return Table(
        f"Parameters at D = {width}, untied",
        ("policy", "V", "token parameters 2VD", "parameters in all"),
        rows,
        "By formula and by tracing the decoder (eval_shape), equal in every row.",
    )


def parameters(models: Sequence[Model]) -> Table:
    """What one id costs in every model."""
    rows = tuple(
        (
            model.base.name,
            number(model.text_vocab_size),
            "tied" if model.tied else "untied",
            number(model.parameters("separate")),
            number(model.one_id),
            percent(model.share_saved),
        )
        for model in models
    )
    return Table(
        "Parameters that one shared id saves against separate start and end",
        ("shape", "text vocabulary", "head", "parameters (separate)", "saved", "of the model"),
        rows,
        "D tied, 2D untied, whatever the vocabulary. Each total by formula and by tracing the decoder, equal.",
    )


def positions(parts: Sequence[Encoded], decided: Sequence[str] = ()) -> Table:
    """Boundaries of every slice, counted in its streams; `decided` says which files were cut into lines."""
    rows = tuple(
        (
            _slice_name(part),
            part.tokenizer,
            number(part.documents),
            number(part.mean_length, 1),
            number(part.boundaries["shared"]),
            number(part.boundaries["separate"]),
            percent(part.boundary_share("shared")),
            percent(part.boundary_share("separate")),
            percent(part.share_saved),
        )
        for part in parts
    )
    columns = ("slice", "tokenizer", "documents n", "tokens a document", "shared: n + 1", "separate: 2n")
    return Table(
        "Positions that are boundaries",
        (*columns, "of the stream, shared", "of the stream, separate", "saved by sharing"),
        rows,
        "Counted in the streams, equal to the formulas; bos and eos alone have n, none has 0. Where the files of a "
        "folder are aligned line by line, each line is a document. embedded bpe-N learned from the prose "
        "of the embedded corpus." + "".join(f" {sentence}." for sentence in decided),
    )


def consequences(bills: Sequence[Bill]) -> Table:
    """What sharing saves in training FLOPs, through positions and through the id, and what a cache holds."""
    rows = []
    for bill in bills:
        cache = cache_bytes_per_position(bill.shape)
        id_bytes = 2 * bill.shape.d_model * dtype_bytes(CACHE_DTYPE)
        rows.append(
            (
                bill.shape.name,
                bill.corpus.tokenizer,
                si(bill.positions_saved, "FLOPs"),
                si(bill.id_saved, "FLOPs"),
                f"{number(bill.dearness, 1)}x",
                f"{bill.break_even_length:,.0f}",
                si(cache, "B"),
                si(id_bytes, "B"),
                si(bill.cache_bytes("shared"), "B"),
                si(bill.cache_bytes("separate"), "B"),
            )
        )
    return Table(
        "Training once on the whole corpus, and a full cache",
        (
            "shape",
            "tokenizer",
            "positions saved",
            "id saved",
            "positions / id",
            "equal cost at, tokens a document",
            "cache of a position",
            "weights of an id",
            "boundaries in a context, shared",
            "separate",
        ),
        tuple(rows),
        "Saved by sharing against separate start and end, where rows are packed full and documents see each other. "
        "With documents shorter than those of equal cost, positions are dearer than the id. "
        f"Cache and weights in {CACHE_DTYPE}, an untied head, the shape's own context.",
    )


def _slice_name(part: Encoded) -> str:
    return part.slice if part.slice == part.group else f"{part.group}/{part.slice}"
