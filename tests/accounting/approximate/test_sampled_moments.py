"""Moments of the sampled loss: mpmath, and the tails when the range is cut short."""

import pytest
from flint import arb
from mpmath import exp, log, mp, mpf, npdf, quad
from oracles import to_fraction

from dpexact import balls
from dpexact.accounting.approximate import sampled_moments


def reference(mu, q, power, weighted):
    with mp.workdps(25):
        m, rate = mpf(mu), mpf(q)

        def integrand(x):
            w = 1 - rate + rate * exp(m * x - m * m / 2)
            return log(w) ** power * npdf(x) * (w if weighted else 1)

        return to_fraction(quad(integrand, [-14, -4, -1, 0, 1, 2, 4, 6, 10, 16]))


@pytest.mark.slow
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize(("mu", "q"), [("1.5", "0.01"), ("0.25", "0.5"), ("3", "0.9")])
@pytest.mark.parametrize("short", [None, "0.1", "1", "2.5"])
def test_moments(monkeypatch, weighted, mu, q, short):
    """``short`` cuts the range at few standard deviations: wide, but still around the truth."""
    if short is not None:
        monkeypatch.setattr(sampled_moments, "reach", lambda: arb(short))
    with balls.precision(100):
        found = sampled_moments.raw_moments(arb(mu), arb(q), 4, weighted)
        enclosures = [balls.to_enclosure(x) for x in found]
    for power, enclosure in enumerate(enclosures, 1):
        expected = reference(mu, q, power, weighted)
        slip = abs(expected) / 10**15
        assert enclosure.lower - slip <= expected <= enclosure.upper + slip
        assert short is not None or enclosure.digits >= 15
