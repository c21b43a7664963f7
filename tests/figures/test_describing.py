"""What those are told who do not see a figure."""

from fractions import Fraction

import pytest

from dpexact.enclosure import Enclosure
from dpexact.figures import FigureData, Workshop, recipe
from dpexact.figures.describing import described, plain, wrapped
from dpexact.figures.model import HeatMap, Panel, Point, Series


def test_formulas_in_plain_characters():
    assert plain(r"$f_{\varepsilon,\delta}$, $\mu$ = 1") == "f_ε,δ, μ = 1"
    assert plain(r"$q\sqrt{T}$ and $\mathrm{Id}$") == "q√T and Id"


@pytest.mark.parametrize("width", [1, 10, 20, 46])
def test_lines_break_outside_of_formulas(width):
    text = r"$R(\varepsilon, \delta)$, $\varepsilon = 1$, $\delta = 1/10$ and more words"
    lines = wrapped(text, width).split("\n")
    assert " ".join(lines) == text
    assert all(line.count("$") % 2 == 0 for line in lines)
    assert all(
        len(plain(line)) <= width or " " not in plain(line).strip() or line.count("$") == 2
        for line in lines
    )


def test_a_title_that_fits_stays_whole():
    text = r"$R(\varepsilon, \delta)$, $\varepsilon = 1$, $\delta = 1/10$"
    assert wrapped(text, 46) == text


def test_curves_are_told_with_their_ends():
    told = described(recipe("kov-1").make(Workshop(10)))
    assert "missed detection probability P_MD over false alarm probability P_FA" in told
    assert "f_ε,δ from (0, 0.9) to (1, 0)" in told
    assert "total variation from (0, 0.484) to (0.484, 0)" in told


def test_panels_bars_cells_and_notes_are_told():
    one = Enclosure.exact(Fraction(1))
    bars = Series("printed", (Point(one, one),), "bars")
    heat = HeatMap("error", ("a", "b"), ("r",), ((one, None),), "none")
    panels = (
        Panel("t", "", "percent", (bars,), categories=("US",)),
        Panel("", "x", r"noise $\sigma$", heat=heat),
        Panel("absent", "", "", note="it is not installed"),
        Panel("", "x", "y", (Series("nothing", ()),)),
    )
    told = described(FigureData("", "", "", "", panels))
    assert "Panel 1 of 4: t. Bars of percent: printed US 1." in told
    assert "error, for x a, b: noise σ r: 1, none." in told
    assert "absent. Empty: it is not installed" in told
    assert "nothing, without a point" in told
