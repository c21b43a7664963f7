"""The functionals by quadrature in mpmath, and closed forms against finite pairs."""

from fractions import Fraction

import pytest
from flint import arb
from mpmath import exp, log, mp, mpf, ncdf, npdf, quad
from oracles import to_fraction

import dpexact
from dpexact import balls
from dpexact.accounting.approximate import functionals as module
from dpexact.accounting.approximate.functionals import (
    functionals,
    sampled_functionals,
)
from dpexact.errors import UnsupportedMechanism


def matches(found, expected, digits):
    x = balls.to_enclosure(found)
    exact = to_fraction(expected)
    slip = abs(exact) / 10**digits
    assert x.lower - slip <= exact <= x.upper + slip
    assert x.digits >= digits - 5


@pytest.mark.slow
@pytest.mark.parametrize(("mu", "p"), [("1", "1/2"), ("10/7", "256/60000"), ("3", "9/10")])
def test_sampled_gaussians_by_integrals_over_the_trade_off_function(mu, p):
    """``C_p(G_mu)`` from its three pieces: the middle one has slope -1 and mass of its own."""
    with mp.workdps(30):
        m, rate = mpf(Fraction(mu).numerator) / Fraction(mu).denominator, Fraction(p)
        rate = mpf(rate.numerator) / rate.denominator

        def loss(x):
            return log(1 - rate + rate * exp(m * x - m * m / 2))

        def density(x):  # of the P side, on the half where the loss is positive
            return rate * npdf(x - m) + (1 - rate) * npdf(x)

        half, end = m / 2, m + 14

        def mean(function):
            """Over ``P``: positive losses, their mirror image, and the mass of loss 0."""
            above = quad(lambda x: function(loss(x)) * density(x), [half, half + 1, half + 4, end])
            below = quad(lambda x: function(-loss(x)) * npdf(x), [half, half + 1, half + 4, end])
            positive = quad(density, [half, half + 1, half + 4, end])
            negative = quad(npdf, [half, half + 1, half + 4, end])
            return above + below + function(0) * (1 - positive - negative)

        kl = mean(lambda z: z)
        with balls.precision(120):
            found = sampled_functionals(balls.ball(Fraction(mu)), balls.ball(Fraction(p)))
            matches(found.kl, kl, 18)
            matches(found.second, mean(lambda z: z * z), 18)
            matches(found.variance, mean(lambda z: (z - kl) ** 2), 18)
            matches(found.third, mean(lambda z: abs(z - kl) ** 3), 5)  # the kink


def test_the_missing_term_of_lemma_4():
    """At ``p = 1/2``, ``mu = 6`` the printed formula gives 797.88, the truth is 1121.147."""
    with balls.precision(100):
        found = sampled_functionals(balls.ball(Fraction(6)), balls.ball(Fraction(1, 2)))
        third = balls.to_enclosure(found.third)
    assert Fraction("1121.14746") < third.lower <= third.upper < Fraction("1121.14747")


@pytest.mark.parametrize("short", ["0", "0.5", "2"])
def test_the_tails_of_a_range_cut_short(monkeypatch, short):
    with balls.precision(100):
        mu, p = balls.ball(Fraction(3, 2)), balls.ball(Fraction(1, 10))
        true = sampled_functionals(mu, p)
        monkeypatch.setattr(module, "reach", lambda: arb(short))
        found = sampled_functionals(mu, p)
        for name in ("kl", "second", "variance", "third"):
            assert getattr(found, name).contains(getattr(true, name)), name


def test_closed_forms():
    with balls.precision(120):
        for text in ("pure_dp(1/3)", "approx_dp(1/3, 0)"):
            found = functionals(dpexact.parse(text))()
            x = balls.ball(Fraction(1, 3))
            p = 1 / (1 + (-x).exp())
            assert found.kl.overlaps((2 * p - 1) * x)
            assert found.second.overlaps(x * x)
            assert found.variance.overlaps(p * (1 - p) * (2 * x) ** 2)
            third = p * (1 - p) * ((1 - p) ** 2 + p**2) * (2 * x) ** 3
            assert found.third.overlaps(third)
        gaussian = functionals(dpexact.parse("gaussian(2, 3)"))()
        whole = sampled_functionals(balls.ball(Fraction(3, 2)), balls.ball(Fraction(1)))
        for name in ("kl", "second", "variance", "third"):
            assert getattr(gaussian, name).overlaps(getattr(whole, name)), name


def test_what_has_none():
    for text in ("approx_dp(1, 1e-9)", "poisson(pure_dp(1), 0.5)", "zcdp(1)"):
        with pytest.raises(UnsupportedMechanism):
            functionals(dpexact.parse(text))


def test_the_tail_of_the_third_functional_is_bounded_in_full(monkeypatch):
    """Beyond ``a`` the integrals are at most ``6 e^kl`` times the mass that the module states.

    The mean, also cut, widens the ball less than that where the losses are small.
    """
    monkeypatch.setattr(module, "reach", lambda: arb(2))
    with balls.precision(100):
        mu, p = arb("0.5"), arb("0.1")
        found = sampled_functionals(mu, p)
        with mp.workdps(30):
            beyond = mpf("0.1") * exp(mpf("0.25")) * ncdf(-2) + 2 * ncdf(-mpf("2.5"))
        assert found.third.rad() >= 3 * arb(str(beyond)) * arb("0.9999")
