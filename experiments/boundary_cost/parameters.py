"""What the ids of a boundary policy cost: an embedding row each and, untied, a head column each."""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.results import Row
from contracts.tokenizer import PROTOCOL_NAMES, Boundary
from experiments.boundary_cost.agreement import agreeing, exact
from experiments.boundary_cost.shapes import POLICIES, Shape
from research.costs import boundary_parameters, decoder_parameters, token_parameters
from research.progress import progress


@dataclass(frozen=True)
class Model:
    """A shape with a text vocabulary, tied or not: everything but the boundary policy."""

    base: Shape
    text_vocab_size: int
    tied: bool

    def under(self, boundary: Boundary) -> Shape:
        """The decoder whose vocabulary has the policy's protocol tokens too."""
        return self.base.with_vocabulary(self.text_vocab_size + len(PROTOCOL_NAMES[boundary]), self.tied)

    def parameters(self, boundary: Boundary) -> int:
        """All parameters under the policy, by formula."""
        return decoder_parameters(self.under(boundary)).total

    @property
    def one_id(self) -> int:
        """Parameters of one protocol token."""
        return boundary_parameters(1, self.base.d_model, self.tied)

    @property
    def share_saved(self) -> float:
        """Share of the model with separate start and end that one shared id saves."""
        return self.one_id / self.parameters("separate")

    @property
    def factors(self) -> dict[str, str | int | bool]:
        """What identifies the model in a row."""
        return {
            "shape": self.base.name,
            "d_model": self.base.d_model,
            "text_vocab_size": self.text_vocab_size,
            "tied": self.tied,
        }


def models(shapes: Sequence[Shape]) -> list[Model]:
    """Every shape with each of its vocabularies, tied and untied."""
    return [Model(shape, size, tied) for shape in shapes for size in shape.text_vocab_sizes for tied in (True, False)]


def parameter_rows(compared: Sequence[Model]) -> list[Row]:
    """Parameters of every model under every policy, and what sharing saves; by formula and by tracing the decoder."""
    rows = []
    with progress("parameters", total=len(compared), unit="models") as bar:
        for model in compared:
            rows += _model_rows(model)
            bar.advance()
    return rows


def _model_rows(model: Model) -> list[Row]:
    from experiments.boundary_cost import witnesses

    rows = []
    for boundary in POLICIES:
        shape = model.under(boundary)
        factors = {**model.factors, "boundary": boundary}
        for quantity, formula, observed in (
            ("model_parameters", decoder_parameters(shape).total, witnesses.model_parameters(shape)),
            (
                "token_parameters",
                token_parameters(shape.vocab_size, shape.d_model, shape.tied),
                witnesses.token_parameters(shape),
            ),
        ):
            rows += agreeing(quantity, "parameters", factors, formula, "eval_shape", observed)
    shared, separate = (witnesses.model_parameters(model.under(boundary)) for boundary in ("shared", "separate"))
    rows += agreeing(
        "parameters_saved_by_sharing", "parameters", model.factors, model.one_id, "eval_shape", separate - shared
    )
    return [*rows, exact("share_of_parameters_saved_by_sharing", model.share_saved, "ratio", "formula", model.factors)]
