"""The functionals by quadrature in mpmath, and closed forms against finite pairs."""

from fractions import Fraction

import pytest
from flint import arb
from mpmath import exp, log, mp, mpf, ncdf, npdf, quad
from oracles import to_fraction

import dpexact
from dpexact import balls
from dpexact.accounting.approximate import moments as module
from dpexact.accounting.approximate.central_limit import functionals
from dpexact.accounting.approximate.moments import raw_moments, sampled_functionals
from dpexact.accounting.composition import Composition
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
            matches(found[0], kl, 18)
            matches(found[1], mean(lambda z: (z - kl) ** 2), 18)
            matches(found[2], mean(lambda z: abs(z - kl) ** 3), 5)  # the kink


def test_the_missing_term_of_lemma_4():
    """At ``p = 1/2``, ``mu = 6`` the printed formula gives 797.88, the truth is 1121.147."""
    with balls.precision(100):
        found = sampled_functionals(balls.ball(Fraction(6)), balls.ball(Fraction(1, 2)))
        third = balls.to_enclosure(found[2])
    assert Fraction("1121.14746") < third.lower <= third.upper < Fraction("1121.14747")


@pytest.mark.parametrize("short", ["0", "0.5", "2"])
def test_the_tails_of_a_range_cut_short(monkeypatch, short):
    with balls.precision(100):
        mu, p = balls.ball(Fraction(3, 2)), balls.ball(Fraction(1, 10))
        true = sampled_functionals(mu, p)
        monkeypatch.setattr(module, "reach", lambda: arb(short))
        found = sampled_functionals(mu, p)
        assert all(wide.contains(narrow) for wide, narrow in zip(found, true, strict=True))


def of(text):
    return functionals(Composition.of([(dpexact.parse(text), 1)]))


def test_closed_forms():
    with balls.precision(120):
        for text in ("pure_dp(1/3)", "approx_dp(1/3, 0)"):
            kl, variance, third = of(text)()
            x = balls.ball(Fraction(1, 3))
            p = 1 / (1 + (-x).exp())
            assert kl.overlaps((2 * p - 1) * x)
            assert variance.overlaps(p * (1 - p) * (2 * x) ** 2)
            assert third.overlaps(p * (1 - p) * ((1 - p) ** 2 + p**2) * (2 * x) ** 3)
        whole = sampled_functionals(balls.ball(Fraction(3, 2)), balls.ball(Fraction(1)))
        for ours, theirs in zip(of("gaussian(2, 3)")(), whole, strict=True):
            assert ours.overlaps(theirs)


def test_what_has_none():
    for text in ("poisson(pure_dp(1), 0.5)", "zcdp(1)"):
        with pytest.raises(UnsupportedMechanism):
            of(text)


def test_sums_are_kept_for_lower_precisions_and_never_for_higher_ones():
    found = of("pure_dp(1/3)")
    widths = []
    for bits in (64, 256, 128):
        with balls.precision(bits):
            widths.append(found()[0].rel_accuracy_bits())
    assert widths[0] < 80 < 240 < widths[1] == widths[2]


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
        assert found[2].rad() >= 3 * arb(str(beyond)) * arb("0.9999")


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
def test_moments_of_samples(monkeypatch, weighted, mu, q, short):
    """``short`` cuts the range at few standard deviations: wide, but still around the truth."""
    if short is not None:
        monkeypatch.setattr(module, "reach", lambda: arb(short))
    with balls.precision(100):
        found = raw_moments(arb(mu), arb(q), 4, weighted)
        enclosures = [balls.to_enclosure(x) for x in found]
    for power, enclosure in enumerate(enclosures, 1):
        expected = reference(mu, q, power, weighted)
        slip = abs(expected) / 10**15
        assert enclosure.lower - slip <= expected <= enclosure.upper + slip
        assert short is not None or enclosure.digits >= 15
