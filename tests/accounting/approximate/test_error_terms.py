"""Tails of quadratures cut short, and bounds between distant points."""

from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb
from mpmath import mp, mpf
from oracles import gaussian_delta

from dpexact import balls
from dpexact.accounting.approximate import moments
from dpexact.accounting.approximate.sup_distance import _bound, _Point


def holds(ball, value):
    low, high = balls.to_enclosure(ball).to_mpmath(30)
    return low <= value <= high


SAMPLES = [("1", "1/5"), ("2", "1/2"), ("1/2", "9/10")]


def numbers(*texts):
    return [mpf(Fraction(x).numerator) / Fraction(x).denominator for x in texts]


def mixture(z, mu, q):
    return 1 - q + q * mp.exp(mu * z - mu * mu / 2)


@pytest.mark.parametrize("reach", [0.0, 0.5, 2.0])
@pytest.mark.parametrize(("mu", "q"), SAMPLES)
def test_functionals_cut_short(mu, q, reach, monkeypatch):
    """Lemma 4 with most of the integrals left to the bounds of their tails."""
    monkeypatch.setattr(moments, "reach", lambda: arb(reach))
    with balls.precision(64), mp.workdps(20):
        m, p = numbers(mu, q)
        found = moments.sampled_functionals(balls.ball(Fraction(mu)), balls.ball(Fraction(q)))
        ends = mp.linspace(m / 2, 2 * m + 14, 30)

        def integral(density):
            return mp.quad(lambda z: density(z, mp.log(mixture(z, m, p))) * mp.npdf(z), ends)

        kl = integral(lambda z, loss: loss * p * mp.expm1(m * z - m * m / 2))
        second = integral(lambda z, loss: loss**2 * (mixture(z, m, p) + 1))
        third = integral(lambda z, loss: abs(loss - kl) ** 3 * mixture(z, m, p))
        third += integral(lambda z, loss: (loss + kl) ** 3)
        third += kl**3 * (1 - p) * (1 - 2 * mp.ncdf(-m / 2))
        assert holds(found[0], kl)
        assert holds(found[1], second - kl**2)
        assert holds(found[2], third)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reach", [0.5, 2.0])
@pytest.mark.parametrize(("mu", "q"), SAMPLES[:2])
def test_moments_cut_short(mu, q, reach, weighted, monkeypatch):
    monkeypatch.setattr(moments, "reach", lambda: arb(reach))
    with balls.precision(64), mp.workdps(20):
        m, p = numbers(mu, q)
        rates = balls.ball(Fraction(mu)), balls.ball(Fraction(q))
        found = moments.raw_moments(*rates, 2, weighted)
        ends = mp.linspace(-12, 2 * m + 12, 16)
        for j, ball in enumerate(found, 1):

            def integrand(z, j=j):
                w = mixture(z, m, p)
                return mp.log(w) ** j * mp.npdf(z) * (w if weighted else 1)

            assert holds(ball, mp.quad(integrand, ends))


# --- the largest difference of two profiles -------------------------------------------------------


def response(x, base):
    """Of one randomised response, ``x = e^eps``."""
    return max(mpf(0), (base - x) / (1 + base))


def gaussian(x, mu):
    return gaussian_delta(mu, mp.log(x)) if x > 1 else 1 - 2 * mp.ncdf(-mu / 2)


PAIRS = {
    "a line above": (lambda x: response(x, mpf(9)), mpf(1) / 2),
    "a line below": (lambda x: response(x, mpf(2)), mpf(2)),
    "a line across": (lambda x: response(x, mpf(4)), mpf(1)),
    "a curve above": (lambda x: gaussian(x, mpf(2)), mpf(1)),
    "a curve below": (lambda x: gaussian(x, mpf(1)), mpf(2)),
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("xs", [(1, 2, 3, 4), (1, 3, 9), (1, 8), (1, 1.5, 2, 6, 20)])
def test_bounds_between_points(pair, xs):
    f, mu = PAIRS[pair]
    with mp.workdps(30):
        points = []
        for x in map(mpf, xs):
            slope = mp.ncdf(-mp.log(x) / mu - mu / 2)
            exact = [Fraction(mp.nstr(v, 25)) for v in (f(x), gaussian(x, mu), slope)]
            points.append(
                _Point(Fraction(float(x)), exact[0], exact[0], exact[1], exact[1], exact[2])
            )
        for i, (left, right) in enumerate(pairwise(map(mpf, xs))):
            places = [left + (right - left) * k / 40 for k in range(41)]
            largest = max(abs(f(x) - gaussian(x, mu)) for x in places)
            bound = _bound(points, i)
            assert mpf(bound.numerator) / bound.denominator >= largest - mpf(10) ** -20
