"""Steps resolved only where they decide: rare events in few steps."""

import math
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.engines.lattice import engine
from dpexact.accounting.engines.lattice.composition import focused
from dpexact.accounting.engines.lattice.profile import LatticeProfile
from dpexact.accounting.engines.lattice.steps import EVERYTHING, PairStep, Sampling
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real


def rare(count, add, sigma="0.5", q="1e-6"):
    return PairStep(Gaussian(1 / real(sigma)), count, Sampling(real(q), add))


def two_steps(epsilon, add):
    """``delta`` of two steps of :func:`rare` by quadrature over the noise of the first."""
    sigma, q = mpf("0.5"), mpf("1e-6")
    half = 1 / (2 * sigma**2)

    def loss(z):
        found = mp.log1p(q * mp.expm1(z / sigma - half))
        return -found if add else found

    def one(level):  # S_P - e^level S_Q, the second step alone
        growth = mp.exp(-level if add else level)
        if growth <= 1 - q:
            return mpf(0) if add else 1 - mp.exp(level)
        z = sigma * mp.log((growth - 1 + q) / q) + sigma * half
        if add:
            base = mp.ncdf(z)
            return base - mp.exp(level) * ((1 - q) * base + q * mp.ncdf(z - 1 / sigma))
        base = mp.ncdf(-z)
        return (1 - q) * base + q * mp.ncdf(1 / sigma - z) - mp.exp(level) * base

    def integrand(z):
        weight = mp.npdf(z) if add else (1 - q) * mp.npdf(z) + q * mp.npdf(z - 1 / sigma)
        return weight * one(epsilon - loss(z))

    kinks = []
    for extreme in (-mp.log1p(-q), mp.log1p(-q)):  # where the second step cannot matter
        growth = mp.exp(-(epsilon - extreme) if add else epsilon - extreme)
        if growth > 1 - q:
            kinks.append(sigma * mp.log((growth - 1 + q) / q) + sigma * half)
    return mp.quad(integrand, sorted([-9, -5, -3, -1, 0, 1, 2, 3, 5, 7, 11, *kinks]))


@pytest.mark.parametrize("add", [False, True])
def test_two_rare_steps_against_quadrature(add):
    level = Fraction(1, 2 * 10**6)
    found, _ = engine.solve([rare(2, add)], real(level), 5, 2_000_000)
    with mp.workdps(30):
        true = two_steps(mpf(level.numerator) / level.denominator, add)
        low, high = (mpf(x.numerator) / x.denominator for x in (found.lower, found.upper))
        assert low * (1 - mpf(10) ** -12) <= true <= high * (1 + mpf(10) ** -12)
    assert found.digits >= 4


def test_an_epsilon_below_the_rate_of_the_losses():
    profile = LatticeProfile([rare(30, False)], InfiniteLoss(), 1_500_000)
    assert profile.epsilon(real("1e-5"), 3).upper == 0  # delta(0) is about 8.6e-6


def test_the_window_of_a_removal_is_what_the_others_leave():
    (step,) = focused([rare(30, False)], 1e-5)
    assert step.window[0] == -math.inf
    assert step.window[1] == pytest.approx(2e-5 + 30e-6, rel=1e-4)
    (step,) = focused([rare(30, True)], 1e-5)
    assert step.window == (pytest.approx(5e-6 - 30e-6, rel=1e-4), math.inf)


def test_beside_an_unbounded_loss_everything_is_resolved():
    plain = PairStep(Gaussian(real(1)), 1)
    sampled, alone = focused([rare(30, False), plain], 1e-5)
    assert sampled.window == EVERYTHING
    assert alone.window == (-math.inf, pytest.approx(5e-5, rel=1e-4))


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("shift", [0.3, 1.0, 3.0])
def test_any_window_is_sound(add, shift):
    """Too narrow or too wide, the truth stays inside."""
    level = real("1e-6")
    (step,) = focused([rare(3, add)], 1e-6)
    window = tuple(end * shift for end in step.window)
    grid_of = engine.solve([rare(3, add)], level, 3, 1_000_000)[1].grid
    laws, _ = engine.compose_steps([step.focused(window)], grid_of)
    truth, _ = engine.solve([rare(3, add)], level, 3, 1_000_000)
    assert laws.enclose(level).overlaps(truth)
    with balls.precision(64):
        assert truth.digits >= 2
