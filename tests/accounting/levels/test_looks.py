"""Where many levels touch: by polynomials through few values of the profile."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest

import dpexact
from dpexact.accounting.levels import polygon
from dpexact.accounting.levels.looks import Levels, Piece, looked_up, row_between
from dpexact.accounting.levels.polygon import _Polygon

NORMAL = NormalDist()


def gaussian(log):
    size = abs(log)
    return NORMAL.cdf(0.5 - size) - math.exp(size) * NORMAL.cdf(-0.5 - size)


@pytest.mark.parametrize("ends", [(Fraction(1), Fraction(3)), (Fraction(1, 4), Fraction(1))])
def test_a_piece_knows_where_levels_touch(ends):
    """Of Gaussian noise that is at ``log x = t - 1/2``, where the level is ``Phi(-t)``."""
    row = row_between(*ends)
    assert (row[0], row[-1]) == ends
    assert row == sorted(row)
    piece = Piece(row, [gaussian(math.log(x)) for x in row])
    alphas = [Fraction(NORMAL.cdf(-0.5 - k / 50)) for k in range(-60, 61)]
    found = {i: look for i, look in piece.looks(Levels.of(alphas), 15).items() if look}
    assert len(found) > 40
    for i, look in found.items():
        assert abs(math.log(look.centre) - (-NORMAL.inv_cdf(float(alphas[i])) - 0.5)) < 1e-7
        assert look.step < 1e-5
        assert ends[0] <= look.centre <= ends[1]


def test_pieces_with_a_kink_say_nothing():
    row = row_between(Fraction(1), Fraction(3))
    heights = [gaussian(math.log(x)) + max(0.0, 0.1 - 0.1 * math.log(x)) for x in row]
    piece, levels = Piece(row, heights), Levels.of([Fraction(k, 100) for k in range(1, 100)])
    found = piece.looks(levels, 15)
    assert found
    assert not any(found.values())
    assert piece.is_vague(found.values())


def test_halves_lead_to_a_kink():
    """It is touched by as many thousandths as the slope changes there; others are looked up."""
    kink = Fraction(7, 4)

    def heights(xs):
        return [gaussian(math.log(x)) + max(0.0, 0.04 * float(kink - x)) for x in xs]

    alphas = [Fraction(k, 1000) for k in range(100, 300)]
    found, around = looked_up([Fraction(1), Fraction(3)], heights, alphas, 12)
    assert 40 <= len(alphas) - len(found) <= 46
    assert min(around) < kink < max(around) < min(around) + Fraction(1, 20)


def test_many_levels_at_kinks_take_few_values(monkeypatch):
    """Two kinks that many levels touch, and two ends."""
    asked, ask = [], _Polygon.ask
    monkeypatch.setattr(_Polygon, "ask", lambda self, x, n: asked.extend(x) or ask(self, x, n))
    levels = [f"{k}/402" for k in range(1, 402)]
    found = dpexact.tradeoff("poisson(laplace(1), 1/10)^2")(levels, 15)
    assert all(answer.digits >= 15 for answer in found)
    assert len(asked) < 5 * len(levels)


def test_a_kink_is_not_met_so_closely_that_chords_beside_it_say_nothing():
    levels = [f"{k}/161" for k in range(1, 161)]
    found = dpexact.tradeoff("truncated_laplace(1.465, 13.7)")(levels, 8)
    assert all(answer.digits >= 8 for answer in found)


def test_many_levels_take_about_three_values_each(monkeypatch):
    asked, ask = [], _Polygon.ask
    monkeypatch.setattr(_Polygon, "ask", lambda self, x, n: asked.extend(x) or ask(self, x, n))
    mechanism, levels = "poisson(gaussian(1), 1/100)^1000", [f"{k}/402" for k in range(1, 402)]
    found = dpexact.tradeoff(mechanism)(levels, 12)
    assert len(asked) < 4.5 * len(levels)
    monkeypatch.setattr(polygon, "_MANY", len(levels))
    for answer, other in zip(found, dpexact.tradeoff(mechanism)(levels, 12), strict=True):
        assert answer.digits >= 12
        assert answer.overlaps(other)


def test_values_that_are_next_to_a_line():
    """The vertex of a parabola that hardly bends is farther away than floats have squares for."""
    found = dpexact.tradeoff("mix(1/2: gaussian(3), 1/2: pure_dp(23/2))", "remove")("9/10", 7)
    # the noise is nearly always rejected, at 8/10 of the other side
    assert found.lower == pytest.approx(math.exp(-23 / 2) / 10, rel=1e-7)
    assert found.digits >= 7


def test_kinks_everywhere_are_not_looked_for_one_by_one():
    """Straight between many places: pieces are halved while that tells more, and no longer."""
    places, asked = [k / 4000 for k in range(5000)], []

    def heights(xs):
        asked.extend(xs)
        logs = [math.log(x) for x in xs]
        return np.interp(logs, places, [gaussian(at) for at in places]).tolist()

    cuts = [Fraction(5 + k, 5) for k in range(11)]
    found, around = looked_up(cuts, heights, [Fraction(k, 1000) for k in range(1, 300)], 12)
    assert len(found) < 300
    assert len(around) > 10 * 17
    assert len(asked) < 60 * 17
