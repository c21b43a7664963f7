"""Both ``mu``: published values and mpmath."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import exp, expm1, mp, mpf, ncdf, sqrt
from oracles import to_fraction

from dpexact.accounting.approximate import poisson_mu, uniform_mu
from dpexact.errors import InvalidInput


@pytest.mark.parametrize(
    ("sigma", "steps", "poisson", "uniform"),
    [
        ("1.3", 3516, "0.22728", "0.28472"),
        ("1.1", 14062, "0.57358", "0.73738"),
        ("0.7", 10547, "1.13393", "1.5536"),
    ],
)
def test_the_mnist_runs(sigma, steps, poisson, uniform):
    """Published 0.23, 0.57, 1.13 (Bu et al. 2020); 0.2847, 0.7374, 1.5536 for uniform samples."""
    assert poisson_mu(sigma, "256/60000", steps).shown(15).startswith(poisson)
    assert uniform_mu(sigma, "256/60000", steps).shown(15).startswith(uniform)


@settings(max_examples=30)
@given(
    sigma=st.fractions("1/4", 100, max_denominator=100),
    q=st.fractions("1/100000", 1),
    steps=st.integers(1, 10**6),
)
def test_against_mpmath(sigma, q, steps):
    with mp.workdps(60):
        s, rate = mpf(sigma.numerator) / sigma.denominator, mpf(q.numerator) / q.denominator
        first = rate * sqrt(steps * expm1(1 / s**2))
        second = exp(1 / s**2) * ncdf(mpf(3) / 2 / s) + 3 * ncdf(-1 / (2 * s)) - 2
        second = sqrt(2 * second * steps) * rate
    for found, value in ((poisson_mu, first), (uniform_mu, second)):
        enclosure = found(sigma, q, steps, 20)
        exact = to_fraction(value)
        slip = exact / 10**40
        assert enclosure.lower - slip <= exact <= enclosure.upper + slip
        assert enclosure.digits >= 20


def test_arguments():
    for arguments in ((0, "0.1", 1), (1, 0, 1), (1, 2, 1), (1, "0.1", 0)):
        for mu in (poisson_mu, uniform_mu):
            with pytest.raises(InvalidInput):
                mu(*arguments)
