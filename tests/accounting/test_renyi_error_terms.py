"""Every error term of the series and of the sums is needed, and none may be halved."""

from fractions import Fraction

import pytest
from flint import acb, arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.renyi import averages, series
from dpexact.accounting.renyi.averages import Moment
from dpexact.conversion import real

BITS = 200


@pytest.mark.parametrize("count", [4, 9, 20])
def test_the_accelerated_remainder_is_sharp(count):
    """For the measure at ``x = 0`` the error equals the bound."""
    with balls.precision(BITS):
        found = series._alternating(iter([arb(1)] + [arb(0)] * count), count)
        assert found.contains(arb(1)) or found.overlaps(arb(1))
        assert found.rad() < arb(1.001) / series._chebyshev(count)
        half = found.mid() + found.rad() / 2 * arb(0, 1)
        assert not half.overlaps(arb(1))


@given(x=st.floats(0, 1), count=st.integers(1, 30), sign=st.sampled_from([1, -1]))
def test_alternating_geometric_series(x, count, sign):
    with balls.precision(BITS):
        terms = (sign * (-arb(x)) ** k for k in range(count))
        assert series._alternating(terms, count).overlaps(sign / (1 + arb(x)))


@pytest.mark.parametrize("current", [1, 3])
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(
    ("order", "sigma", "shift", "q"),
    [
        ("3/2", "3", 1, "1/4"),
        ("9", "20", 20, "1/4"),
        ("11/10", "20", 40, "1/1000"),
        ("1", "3", 1, "1/4"),
    ],
)
def test_the_discrete_gaussian_cut_short(order, sigma, shift, q, add, current, monkeypatch):
    """Few outcomes are listed: the rest of the sum and of the mass is most of the error."""
    pair = DiscreteGaussian(real(sigma) ** 2, shift)
    with balls.precision(BITS), mp.workdps(40):
        f = Moment.of(real(q), real(order), add)
        monkeypatch.setattr(balls, "current", lambda: current)
        found = averages.discrete_gaussian(pair)(f, arb(1))
        monkeypatch.undo()
        low, high = balls.to_enclosure(found).to_mpmath(40)
        alpha, rate = (mpf(x.numerator) / x.denominator for x in map(Fraction, (order, q)))
        power = 1 - alpha if add else alpha
        total = mass = mpf(0)
        for y in range(-250, 450):
            weight = mp.exp(-(mpf(y) ** 2) / (2 * mpf(sigma) ** 2))
            x = mp.exp(mpf(shift) / mpf(sigma) ** 2 * (y - mpf(shift) / 2))
            w = 1 - rate + rate * x
            total += weight * (w**power if order != "1" else -mp.log(w) if add else w * mp.log(w))
            mass += weight
        assert low <= total / mass <= high
        assert high - low > total / mass / 10**6


def test_outcomes_on_the_left_alone(monkeypatch):
    """Of what is 1 for outcomes that are not listed, and 0 else."""

    class Step(Moment):
        growth = arb(0)

        def at(self, x):
            return arb(x.log() * 9 < -7)

        most = at

    pair = DiscreteGaussian(real(9), 1)
    with balls.precision(BITS):
        masses = {y: (-arb(y * y) / 18).exp() for y in range(-90, 91)}
        monkeypatch.setattr(balls, "current", lambda: 1)
        found = averages.discrete_gaussian(pair)(Step(arb(1), arb(0), arb(1), add=True), arb(1))
        truth = sum(masses[y] for y in masses if y < -6) / sum(masses.values())
        assert found.contains(truth)
        assert found < 2 * truth


def test_the_quadrature_is_told_where_nothing_is_analytic(monkeypatch):
    asked = []
    monkeypatch.setattr(balls, "integral", lambda f, *ends, **limits: asked.append(f) or acb(0))
    with balls.precision(BITS):
        averages.laplace(real(4))(Moment.of(real("1/2"), real("3/2"), False), arb(1))
        (integrand,) = asked
        beyond = acb(arb("0.2"), arb(3.5).union(arb(4)))
        assert integrand(acb(1, 1), True).is_finite()
        assert integrand(beyond, False).is_finite()
        assert not integrand(beyond, True).is_finite()
