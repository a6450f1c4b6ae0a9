"""Two witnesses of one number: rows for both, and no result where they differ."""

from collections.abc import Mapping

from contracts.results import Factor, Row, Witness


def exact(quantity: str, value: float, unit: str, witness: Witness, factors: Mapping[str, Factor]) -> Row:
    """A row that is equal on every machine."""
    return Row(quantity, value, unit, "exact", witness, factors)


def agreeing(
    quantity: str, unit: str, factors: Mapping[str, Factor], formula: int, witness: Witness, observed: float
) -> list[Row]:
    """A row by formula and one by `witness`. If they differ, the formula or the code is wrong, and neither is a result.

    Raises:
        AssertionError: naming the quantity, the factors and both values.
    """
    if formula != observed:
        raise AssertionError(f"{quantity} {dict(factors)}: {formula:,} by formula, {observed:,} by {witness}")
    return [exact(quantity, formula, unit, "formula", factors), exact(quantity, observed, unit, witness, factors)]
