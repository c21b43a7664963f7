"""Every error term of the series and of the sums is needed, and none may be halved."""

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.renyi import averages, series
from dpexact.accounting.renyi.averages import Excess
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
    [("3/2", "3", 1, "1/4"), ("9", "20", 20, "1/4"), ("11/10", "20", 40, "1/1000")],
)
def test_the_discrete_gaussian_cut_short(order, sigma, shift, q, add, current, monkeypatch):
    """Few outcomes are listed: the rest of the sum and of the mass is most of the error."""
    pair = DiscreteGaussian(real(sigma) ** 2, shift)
    with balls.precision(BITS), mp.workdps(40):
        f = Excess.of(real(q), real(order), add)
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
            total += weight * (w**power - 1 - power * (w - 1)) / (alpha - 1)
            mass += weight
        assert low <= total / mass <= high
        assert high - low > total / mass / 10**6
