"""zCDP: the published number, mpmath's minimum, the Gaussian below, profiles."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import exp, findroot, log, mp, mpf, sqrt
from oracles import to_fraction

import dpexact
from dpexact.accounting.classic.zcdp import (
    ZCDPProfile,
    plain_zcdp_epsilon,
    total_zcdp,
    zcdp_epsilon,
)
from dpexact.accounting.profile import InfiniteLoss
from dpexact.answers import PrecisionNotReached
from dpexact.conversion import real
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.ternary import Ternary


def close(enclosure, value, digits):
    slip = abs(to_fraction(value)) / 10**digits + Fraction(1, 10**60)
    return enclosure.lower - slip <= to_fraction(value) <= enclosure.upper + slip


def test_hundred_steps_of_a_tenth():
    """5.221534444530 for 100 steps of 0.1-DP, 5.756521769757 without the refinement."""
    assert zcdp_epsilon("1/2", "1e-6", 13).shown(13).startswith("5.221534444530")
    assert plain_zcdp_epsilon("1/2", "1e-6", 14).shown(14).startswith("5.7565217697569")
    assert dpexact.epsilon("gaussian(sqrt(200))^100", "1e-6").shown(13).startswith("3.307600722612")


@settings(max_examples=40)
@given(
    rho=st.fractions(Fraction(1, 10**6), 50),
    log_delta=st.fractions(Fraction(1, 100), 400, max_denominator=100),
)
def test_the_best_t_is_the_minimum(rho, log_delta):
    """The stationary point by mpmath, the formula itself near it, and the plain bound above."""
    delta = f"exp(-({log_delta}))"
    found = zcdp_epsilon(rho, delta, 20)
    with mp.workdps(60):
        r, loss = mpf(rho.numerator) / rho.denominator, mpf(log_delta.numerator)
        loss /= log_delta.denominator

        def at(t):
            return (t * (t + 1) * r + loss + t * log(t) - (t + 1) * log(t + 1)) / t

        start = (sqrt(1 + 4 * r * loss) - 1) / (2 * r)  # log(1 + t) <= t
        t = findroot(lambda x: r * x * x + log(1 + x) - loss, start)
        least = at(t)
        assert least <= at(t * mpf("1.001"))
        assert least <= at(t * mpf("0.999"))
        assert close(found, max(least, mpf(0)), 40)
    assert found.at_most(plain_zcdp_epsilon(rho, delta, 20)) is not Ternary.FAILS
    true = dpexact.epsilon(f"gdp(sqrt({2 * rho}))", delta, 8)
    assert true.at_most(found) is not Ternary.FAILS


@settings(max_examples=40)
@given(
    rho=st.fractions(Fraction(1, 1000), 20, max_denominator=1000),
    multiple=st.fractions(0, 12, max_denominator=100),
)
def test_delta_against_mpmath_and_the_gaussian(rho, multiple):
    epsilon = rho * multiple
    found = dpexact.delta(f"zcdp({rho})", epsilon, 20)
    with mp.workdps(60):
        r, point = mpf(rho.numerator) / rho.denominator, mpf(epsilon.numerator)
        point /= epsilon.denominator

        def log_delta(t):
            return t * (t + 1) * r - t * point + t * log(t) - (t + 1) * log(t + 1)

        low, high = mpf(10) ** -40, (point + 1) / (2 * r) + 1
        for _ in range(230):
            middle = (low + high) / 2
            if (2 * middle + 1) * r - log(1 + 1 / middle) < point:
                low = middle
            else:
                high = middle
        assert close(found, exp(log_delta(low)), 35)
        for t in (low / 2, low * 2):
            assert log_delta(t) >= log_delta(low)
    assert dpexact.delta(f"gdp(sqrt({2 * rho}))", epsilon, 8).at_most(found) is not Ternary.FAILS
    if 0 < found.upper < Fraction(9, 10) and epsilon > 0:
        back = zcdp_epsilon(rho, found.upper, 15)
        assert close(back, mpf(epsilon.numerator) / epsilon.denominator, 12)


def test_parameters_add_up():
    found, infinite = total_zcdp(
        dpexact.parse(
            "zcdp(1/4) * pure_dp(0.1)^10 * gaussian(2)^3 * gdp(1) * discrete_gaussian(3, 2)"
            " * approx_dp(1, 1e-3)^2"
        )
    )
    parts = [Fraction(1, 4), Fraction(1, 20), Fraction(3, 8), Fraction(1, 2), Fraction(2, 9), 1]
    assert found.rho.fraction == sum(parts)
    assert infinite.fraction == 1 - Fraction(999, 1000) ** 2
    with pytest.raises(UnsupportedMechanism, match=r"no zCDP guarantee of poisson\(gaussian"):
        total_zcdp(dpexact.parse("poisson(gaussian(1), 0.1)"))


def test_a_discrete_gaussian_is_below_its_bound():
    found, _ = total_zcdp(dpexact.parse("discrete_gaussian(2)^5"))
    for epsilon in (0, 1, 3):
        bound = dpexact.delta(f"zcdp({found.rho})", epsilon)
        assert dpexact.delta("discrete_gaussian(2)^5", epsilon, 8) < bound


def test_the_profile_says_what_it_is():
    lost = InfiniteLoss(((real("1e-3"), 2),))
    profile = ZCDPProfile(real("1/2"), lost)
    assert "upper bound" in profile.delta(real(3), 15).method
    mass = Fraction(1) - Fraction(999, 1000) ** 2
    plain = dpexact.delta("zcdp(1/2)", 3, 25)
    found = profile.delta(real(3), 20)
    assert found.lower <= mass + (1 - mass) * plain.upper
    assert found.upper >= mass + (1 - mass) * plain.lower
    assert found.digits >= 20
    back = profile.epsilon(real(found.upper), 12)
    assert abs(back.lower - 3) < Fraction(1, 10**11)
    assert profile.epsilon(real("1e-3"), 5).lower == math.inf
    assert profile.epsilon(real(1), 5).upper == 0
    # more revealing than any rho-zCDP mechanism: compare with one Gaussian and the responses
    true = dpexact.delta("gdp(1) * approx_dp(0, 1e-3)^2", 3, 12)
    assert true < found


@pytest.mark.slow
def test_edges():
    assert zcdp_epsilon(0, "1e-9").upper == zcdp_epsilon(1, 1).upper == 0
    assert dpexact.delta("zcdp(0)", 1).upper == 0
    assert zcdp_epsilon("1e-9", "0.9999").upper == 0
    with pytest.raises(InvalidInput, match="delta: 0"):
        zcdp_epsilon(1, 0)
    with pytest.raises(PrecisionNotReached, match="below"):
        dpexact.delta("zcdp(1e-9)", 7)
