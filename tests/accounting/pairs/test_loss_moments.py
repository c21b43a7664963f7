"""Moments of the loss of additive noise against quadrature and sums over the definitions."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import exp, log, mp, mpf, quad
from oracles import to_fraction

import dpexact
from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs import discrete_gaussian as module
from dpexact.accounting.pairs.laplace import Laplace
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import rational


def expected(mean_of):
    """The four cumulants and ``E|Z - EZ|^3`` from the expectation of a function of the loss."""
    mean = mean_of(lambda z: z)
    two, three, four = (mean_of(lambda z, j=j: (z - mean) ** j) for j in (2, 3, 4))
    return [mean, two, three, four - 3 * two**2], mean_of(lambda z: abs(z - mean) ** 3)


def moments(text):
    ((pair, _),) = Composition.of([(dpexact.parse(text), 1)]).pairs()
    return pair.loss_moments()


def agree(text, mean_of, digits=15):
    with mp.workdps(40):
        cumulants, third = expected(mean_of)
    with balls.precision(160):
        found = moments(text)
        for ours, theirs in zip(found, [*cumulants, third], strict=True):
            x = balls.to_enclosure(ours)
            slip = Fraction(1, 10**digits) * max(abs(to_fraction(theirs)), Fraction(1, 10**20))
            assert x.lower - slip <= to_fraction(theirs) <= x.upper + slip
            assert x.upper - x.lower < slip


@pytest.mark.parametrize(("scale", "sensitivity"), [("2", "1"), ("1/3", "1"), ("10", "3/2")])
def test_laplace_by_quadrature(scale, sensitivity):
    """Over the noise itself: the loss is ``(|x - s| - |x|)/b``."""
    b, s = mpf(Fraction(scale).numerator) / Fraction(scale).denominator, Fraction(sensitivity)
    s = mpf(s.numerator) / s.denominator

    def mean_of(function):
        def part(x):
            return function((abs(x - s) - abs(x)) / b) * exp(-abs(x) / b) / (2 * b)

        cumulative = function(s / b) / 2 + function(-s / b) * exp(-s / b) / 2
        bends = [0, *(s * k / 16 for k in range(1, 16)), s]
        return cumulative + quad(part, sorted([*bends, kink()]))

    def kink():  # where the loss is its mean
        mean = s / b + exp(-s / b) - 1
        return (s - b * mean) / 2

    agree(f"laplace({scale}, {sensitivity})", mean_of)


@pytest.mark.parametrize(("scale", "width"), [("2", 1), ("3/2", 4)])
def test_discrete_laplace_by_sums_over_the_noise(scale, width):
    def mean_of(function):
        a = exp(-1 / (mpf(Fraction(scale).numerator) / Fraction(scale).denominator))

        def term(x):
            return function((abs(x - width) - abs(x)) * -log(a)) * (1 - a) / (1 + a) * a ** abs(x)

        return sum(term(mpf(x)) for x in range(-300, 301))

    agree(f"discrete_laplace({scale}, {width})", mean_of)


@pytest.mark.parametrize(("sigma", "width"), [("1/2", 1), ("3", 2), ("10", 1)])
def test_discrete_gaussian_by_sums_over_the_noise(sigma, width):
    def mean_of(function):
        square = (mpf(Fraction(sigma).numerator) / Fraction(sigma).denominator) ** 2
        weights = {x: exp(-mpf(x * x) / (2 * square)) for x in range(-150, 151)}
        total = sum(weights.values())
        return sum(
            w / total * function(width / square * (x + mpf(width) / 2)) for x, w in weights.items()
        )

    agree(f"discrete_gaussian({sigma}, {width})", mean_of)


@pytest.mark.parametrize("gamma", ["1/4", "1/2", "7/10"])
def test_staircase_by_its_three_outcomes(gamma):
    def mean_of(function):
        g = mpf(Fraction(gamma).numerator) / Fraction(gamma).denominator
        decay = exp(-mpf("1.5"))
        high = min(1, 2 * g + (1 - 2 * g) * decay) / (2 * (g + (1 - g) * decay))
        low = decay * high
        rest = 1 - high - low
        return high * function(mpf("1.5")) + low * function(-mpf("1.5")) + rest * function(mpf(0))

    agree(f"staircase(3/2, {gamma})", mean_of)


def test_the_tail_of_a_sum_cut_short(monkeypatch):
    pair = module.DiscreteGaussian(real(9), 2)
    with balls.precision(100):
        true = pair.loss_moments()
        monkeypatch.setattr(module, "_GUARD", -95)
        short = pair.loss_moments()
        for name in ("variance", "fourth", "absolute"):
            wide, narrow = getattr(short, name), getattr(true, name)
            assert wide.contains(narrow), name
            assert wide.rad() > narrow.rad() * 10**6, name


@given(largest=st.fractions(min_value="1/1000", max_value=30, max_denominator=1000))
def test_laplace_moments_are_consistent(largest):
    """Renyi of order 1 is kl; Lyapunov's inequality; randomised response is worse."""
    with balls.precision(200):
        x = Laplace(rational(largest)).loss_moments()
        assert balls.to_enclosure(x.mean).overlaps(dpexact.renyi(f"laplace(1, {largest})", 1, 20))
        assert not x.absolute**2 < x.variance**3
        assert not x.mean > balls.ball(largest) * (balls.ball(largest) / 2).tanh()


@pytest.mark.slow
def test_approximations_of_additive_noise():
    """All are close where a central limit applies; Berry-Esseen is a bound."""
    for text in (
        "laplace(20)^400",
        "discrete_laplace(20)^400",
        "discrete_gaussian(20)^400",
        "staircase(1/20, 1/3)^400",
        "laplace(20)^200 * pure_dp(1/20)^100",
    ):
        for method in ("clt", "edgeworth-1", "edgeworth-2"):
            found = dpexact.approximation_error(text, method, "1/2", digits=5)
            assert abs(found.difference.upper) < Fraction(1, 100) * found.true.upper, text
        bound = dpexact.approximation_error(text, "berry-esseen", "1/2", digits=5)
        assert bound.verdict == "sound"


def test_second_order_is_nearer_for_a_smooth_law():
    first, second = (
        dpexact.approximation_error("laplace(5)^60", f"edgeworth-{order}", 2, digits=5)
        for order in (1, 2)
    )
    assert abs(second.difference.upper) < abs(first.difference.lower)


def test_what_has_none():
    for text in ("poisson(laplace(1), 1/2)", "zcdp(1)"):
        for method in ("clt", "edgeworth-1"):
            with pytest.raises(UnsupportedMechanism):
                dpexact.approximation_error(text, method, 1)
    with pytest.raises(UnsupportedMechanism, match="outcomes"):
        dpexact.approximation_error("discrete_gaussian(100000)", "clt", 1)
