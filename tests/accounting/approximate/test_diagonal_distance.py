"""Theorem 8's constant: both inequalities on a grid, with it and with slightly less."""

import math
from fractions import Fraction
from math import comb
from statistics import NormalDist

import pytest
from flint import arb

from dpexact import balls
from dpexact.accounting.approximate import diagonal_distance, theorem_8_constant
from dpexact.balls import normal_tail
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.tradeoffs.noises import quantile

NORMAL = NormalDist()


def normal_curve(mu, alpha):
    if alpha <= 0 or alpha >= 1:
        return 1.0 if alpha <= 0 else 0.0
    return NORMAL.cdf(-NORMAL.inv_cdf(alpha) - mu)


def response_curve(eps, n, alpha):
    """The trade-off function of ``n`` responses from its vertices."""
    high = 1 / (1 + math.exp(-eps))
    x, y = 0.0, 1.0
    for j in range(n + 1):
        dx = comb(n, j) * (1 - high) ** (n - j) * high**j
        dy = comb(n, j) * high ** (n - j) * (1 - high) ** j
        if x + dx >= alpha:
            return y - dy * (alpha - x) / dx
        x, y = x + dx, y - dy
    return 0.0


@pytest.mark.parametrize(("mu", "n"), [(1, 1), (1, 2), (1, 3), (2, 7), ("1/2", 6), (4, 4)])
def test_the_inequalities_of_the_theorem(mu, n):
    found = theorem_8_constant(mu, n, 8)
    m = float(Fraction(mu))

    def worst(c):
        """The largest violation for ``c/n <= alpha <= 1 - c/n``."""
        shift, largest = c / n, -1.0
        for step in range(301):
            alpha = shift + (1 - 2 * shift) * step / 300
            value = response_curve(m / math.sqrt(n), n, alpha)
            largest = max(
                largest,
                normal_curve(m, alpha + shift) - shift - value,
                value - normal_curve(m, alpha - shift) - shift,
            )
        return largest

    assert worst(float(found.upper)) <= 1e-8
    assert worst(float(found.upper) * 0.95) > 0


def test_points_of_the_normal_curve_on_a_line():
    for mu, line in (("1", "0.3"), ("4", "1e-9"), ("0.1", "0.999")):
        with balls.precision(120):
            m = arb(mu)
            alpha = diagonal_distance._normal_alpha(m, arb(line))
            gap = normal_tail(quantile(alpha) - m)
            assert balls.to_enclosure(alpha + gap).overlaps(Enclosure.exact(Fraction(line)))
            assert balls.to_enclosure(alpha).digits >= 20


def test_published_size():
    """About 0.1 suffices for ``mu = 1``; from 0.04 to 0.048 is needed."""
    values = [theorem_8_constant(1, n, 6) for n in (2, 10, 40, 161)]
    assert all(0.04 < float(x.lower) < 0.0478 for x in values)
    assert values[-1].digits >= 6


def test_arguments():
    for arguments in ((0, 5), (1, 0), (1, 10**6)):
        with pytest.raises(InvalidInput):
            theorem_8_constant(*arguments)


def test_a_vertex_inside_counts(monkeypatch):
    """At no ``mu`` and ``n`` in reach is one the farthest, so one is moved along its parallel."""
    vertices, shift = diagonal_distance._vertices, arb("0.02")

    def moved(step, n):
        found = vertices(step, n)
        found[1] = diagonal_distance._Point(found[1].alpha - shift, found[1].gap + shift)
        return found

    with balls.precision(100):
        before = diagonal_distance._distance(arb(1), 4)
        place = vertices(arb("0.5"), 4)[1]
        expected = abs(place.alpha - shift - diagonal_distance._normal_alpha(arb(1), place.line))
        monkeypatch.setattr(diagonal_distance, "_vertices", moved)
        after = diagonal_distance._distance(arb(1), 4)
        assert before < arb("0.012")
        assert after.overlaps(expected)
        assert after > arb("0.015")
