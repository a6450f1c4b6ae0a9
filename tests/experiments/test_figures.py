"""Figures show names as they are, and powers of ten as people write them."""

import pytest

from experiments.figures import panels, save, say


def test_dollar_signs_are_drawn_and_no_markup_is_left_in_the_ticks(tmp_path):
    with panels(1) as (figure, (axes,)):
        axes.plot([1, 1e5], [2e-3, 3e-3], label="$x_$")
        axes.set(xscale="log", yscale="log")
        axes.legend()
        say(axes, "$a^$", "$b_$")
        save(figure, tmp_path)
        ticks = {tick.get_text() for axis in (axes.xaxis, axes.yaxis) for tick in axis.get_ticklabels(which="both")}
    assert {"10⁰", "2×10⁻³"} <= ticks
    assert not any(sign in tick for tick in ticks for sign in "${\\")


@pytest.mark.slow
@pytest.mark.filterwarnings("error")
def test_a_figure_is_saved_without_a_warning(tmp_path):
    with panels(2, 2, width=5.0) as (figure, axes):
        for each in axes:
            each.plot([1e4, 1e10], [1e-4, 1e2])
            each.set(xscale="log", yscale="log")
        assert save(figure, tmp_path) == ["figure.png", "figure.svg"]
