"""Theorem 5: the constants, the dual of the lower bound, and that it is a bound."""

from fractions import Fraction
from statistics import NormalDist

import pytest
from mpmath import exp, inf, mp, mpf, ncdf, sinh, sqrt
from oracles import to_fraction

import dpexact
from dpexact import balls
from dpexact.accounting.approximate.central_limit import BerryEsseen, functionals
from dpexact.accounting.composition import Composition
from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.tradeoffs.noises import quantile

NORMAL = NormalDist()


def composition(text):
    return Composition.of(dpexact.parse(text).steps().items())


def inverse_tail(p):
    low, high = mpf(-40), mpf(40)
    for _ in range(160):
        middle = (low + high) / 2
        if ncdf(-middle) > p:
            low = middle
        else:
            high = middle
    return low


@pytest.mark.parametrize("count", [100, 2500])
def test_the_dual_on_a_grid(count):
    """``sup 1 - f(alpha) - e^eps alpha`` over a grid of ``alpha`` approaches the closed form."""
    found = BerryEsseen(functionals(composition(f"pure_dp(1/10)^{count}")))
    with mp.workdps(25):
        t = mp.tanh(mpf(1) / 20)
        mu, gamma = 2 * sqrt(count) * sinh(mpf(1) / 20), mpf("0.56") * (1 + t * t)
        gamma /= sqrt(count * (1 - t * t))
        with balls.precision(100):
            for ball, value in zip(found.constants(), (mu, gamma), strict=True):
                x, exact = balls.to_enclosure(ball), to_fraction(value)
                slip = exact / 10**20
                assert x.lower - slip <= exact <= x.upper + slip
        for epsilon in (0, 1, 3, 6):
            best = mpf(0)
            for step in range(1000):
                alpha = (step / 1000) ** 4 / 2
                beta = alpha + float(gamma)
                near = NORMAL.cdf(-NORMAL.inv_cdf(beta) - float(mu)) if beta < 1 else 0.0
                best = max(best, 1 - max(near - gamma, 0) - exp(epsilon) * alpha)
            claimed = found.delta(real(epsilon), 12)
            assert best <= mpf(float(claimed.upper)) * (1 + mpf(10) ** -9)
            assert best >= mpf(float(claimed.lower)) * (1 - mpf(10) ** -3)
            true = dpexact.delta(f"pure_dp(1/10)^{count}", epsilon)
            assert true < claimed


def test_the_least_deltas_at_the_mnist_runs():
    """Corollary 5 certifies nothing below 0.0950, 0.1188, 0.5586."""
    for sigma, steps, least in (("1.3", 3516, "0.0950"), ("1.1", 14062, "0.1188")):
        found = BerryEsseen(
            functionals(composition(f"poisson(gaussian({sigma}), 256/60000)^{steps}"))
        )
        plateau = found.delta(real(40), 10)
        assert abs(plateau.upper - Fraction(least)) < Fraction(1, 10**4)
        assert found.epsilon(real("1e-5"), 10).upper == inf
        assert found.epsilon(real("0.4"), 10).digits >= 10


def test_quantiles():
    for mass in ("1e-200", "0.01", "0.5", "0.99", "0.999999999"):
        with balls.precision(120):
            x = quantile(balls.ball(real(mass)))
            tail = balls.to_enclosure((x / balls.ball(real("sqrt(2)"))).erfc() / 2)
        assert tail.lower <= Fraction(mass) <= tail.upper
        assert tail.digits >= 15
        with mp.workdps(30):
            assert abs(float(x.mid()) - float(inverse_tail(mpf(mass)))) < 1e-9 or mass == "1e-200"
    with balls.precision(60):
        assert not quantile(balls.ball(Fraction(0))).is_finite()


def test_too_few_steps():
    with pytest.raises(InvalidInput, match="gamma"):
        BerryEsseen(functionals(composition("pure_dp(1)")))
