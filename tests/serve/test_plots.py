"""Plots: the places of points, and axes."""

import math
from fractions import Fraction

import pytest

from dpexact.enclosure import Enclosure
from dpexact.figures.model import Point
from dpexact.serve.plots import plot

NAMES = ("step", "epsilon")


def point(x, low, high=None):
    high = low if high is None else high
    y = Enclosure(*(b if b == math.inf else Fraction(b) for b in (low, high)))
    return Point(Enclosure.exact(Fraction(x)), y)


def test_a_linear_curve():
    drawn = plot([point(0, 0), point(50, 1), point(100, 4)], Fraction(100), NAMES)
    assert drawn.line == "M0.00 100.00L50.00 75.00L100.00 0.00"
    assert [(dot.x, dot.y, dot.safe) for dot in drawn.dots][1] == ("50.00", "75.00", "1")
    assert [(label.text, label.place) for label in drawn.y] == [
        ("0", "0.00"),
        ("1", "25.00"),
        ("2", "50.00"),
        ("3", "75.00"),
        ("4", "100.00"),
    ]
    assert drawn.mark.place == "100.00"
    assert drawn.told.startswith("Curve of 3 certified points: epsilon at most 0 at step 0, ")
    assert not drawn.infinite


def test_the_line_is_that_of_upper_bounds_and_the_band_shows_both():
    drawn = plot([point(0, 0, 1), point(10, 1, 2)], Fraction(0), NAMES)
    assert drawn.line == "M0.00 50.00L100.00 0.00"
    assert drawn.band == "M0.00 50.00L100.00 0.00L100.00 50.00L0.00 100.00Z"
    assert drawn.dots[0].certified == "[0, 1]"


def test_a_logarithmic_curve_of_numbers_that_no_float_holds():
    drawn = plot(
        [point(0, Fraction(1, 10)), point(1, Fraction(1, 10**400)), point(2, 0)],
        Fraction(1),
        NAMES,
        logarithmic=True,
    )
    assert [dot.y for dot in drawn.dots] == ["0.00", "100.00"]
    assert drawn.y[0].text == "10⁻⁴⁰⁰"
    assert drawn.y[-1].text == "10⁻¹⁰⁰"


def test_what_is_infinite_is_told_and_not_drawn():
    drawn = plot([point(1, 1), point(2, 2), point(3, 3, math.inf)], Fraction(9), NAMES)
    assert (len(drawn.dots), drawn.infinite, drawn.mark) == (2, "3", None)


@pytest.mark.parametrize("points", [[], [point(1, 1)], [point(1, 1), point(2, 1, math.inf)]])
def test_fewer_than_two_points_are_no_curve(points):
    assert plot(points, Fraction(0), NAMES) is None


@pytest.mark.parametrize("height", [Fraction(1, 10**30), 1, 7, 10**12, Fraction(10) ** 400])
def test_labels_are_few_and_round(height):
    drawn = plot([point(0, 0), point(1000000, height)], Fraction(0), NAMES)
    assert 3 <= len(drawn.y) <= 7
    assert all(len(label.text) <= 7 for label in drawn.y)
    assert drawn.x[-1].text == "1,000,000"


def test_a_flat_curve_at_zero():
    drawn = plot([point(1, 0), point(2, 0)], Fraction(0), NAMES)
    assert {dot.y for dot in drawn.dots} == {"100.00"}
