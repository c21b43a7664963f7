"""Samples of finite laws beside Gaussians: the contour against enumeration and the lattice."""

from fractions import Fraction

import pytest
from mpmath import mp, mpf

import dpexact
from tests.small_laws import gaussian_profile, on_sample, repeated, response


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 10**5), Fraction(9, 10)])
def test_against_a_sum_over_outcomes(direction, rate):
    text = f"poisson(pure_dp(log(3)), {rate})^4 * gaussian(2)"
    found = dpexact.delta(text, "1/2", 20, direction, method="contour")
    law = repeated(on_sample(response(Fraction(3)), rate, direction == "add"), 4)
    with mp.workdps(40):
        true = mpf(0)
        for p, q in law:
            loss = mp.log(mpf(p.numerator) / p.denominator * q.denominator / q.numerator)
            mass = mpf(p.numerator) / p.denominator
            true += mass * gaussian_profile(mpf("0.5"), mpf("0.5") - loss)
        low, high = (mpf(x.numerator) / x.denominator for x in (found.lower, found.upper))
        assert low * (1 - mpf(10) ** -30) <= true <= high * (1 + mpf(10) ** -30)
    assert found.method == "contour"
    assert found.digits >= 20


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_against_the_lattice(direction):
    text = "poisson(staircase(1, 0.3), 0.1)^3 * poisson(gaussian(1), 0.1)^5 * laplace(2)"
    contour = dpexact.delta(text, "0.3", 12, direction, method="contour")
    lattice = dpexact.delta(text, "0.3", 4, direction, method="lattice")
    assert contour.overlaps(lattice)
    assert contour.digits >= 12


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_infinite_loss_inside_a_sample_against_a_sum_over_outcomes(direction):
    lost, rate = Fraction(1, 1000), Fraction(1, 10)
    text = f"poisson(approx_dp(log(3), {lost}), {rate})^3 * gaussian(2)"
    found = dpexact.delta(text, "1/2", 20, direction, method="contour")
    kept = [((1 - lost) * p, (1 - lost) * q) for p, q in response(Fraction(3))]
    inner = [*kept, (lost, Fraction(0)), (Fraction(0), lost)]
    law = repeated(on_sample(inner, rate, direction == "add"), 3)
    with mp.workdps(40):
        true = mpf(0)
        for p, q in law:
            mass = mpf(p.numerator) / p.denominator
            if q == 0 or p == 0:
                true += mass
                continue
            loss = mp.log(mass * q.denominator / q.numerator)
            true += mass * gaussian_profile(mpf("0.5"), mpf("0.5") - loss)
        low, high = (mpf(x.numerator) / x.denominator for x in (found.lower, found.upper))
        assert low * (1 - mpf(10) ** -30) <= true <= high * (1 + mpf(10) ** -30)
    assert (found.method, found.digits >= 20) == ("contour", True)


def test_a_composition_inside_a_sample_by_both_engines():
    text = "poisson(pure_dp(1)^2, 0.1) * gaussian(2)"
    found = dpexact.delta(text, 1, 15, method="contour")
    assert (found.method, found.digits >= 15) == ("contour", True)
    assert found.overlaps(dpexact.delta(text, 1, 3, method="lattice"))
    assert found.overlaps(dpexact.delta(text, 1, 15))


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize(
    "text",
    [
        "poisson(approx_dp(1/2, 1/100) * pure_dp(1/3), 1/10)^100",
        "poisson(approx_dp(1/2, 1/100) * pure_dp(1/3), 1/10)^30 * gaussian(2)",
        "poisson(approx_dp(1/2, 1e-3) * randomized_response(1, 3), 1/4)^60 * approx_dp(0.1, 1e-4)",
    ],
)
@pytest.mark.parametrize("epsilon", ["1/2", 3])
@pytest.mark.slow
def test_a_sampled_law_with_infinite_loss_against_the_lattice(text, epsilon, way):
    found = dpexact.delta(text, epsilon, 8, way)
    assert found.method != "lattice"
    assert found.overlaps(dpexact.delta(text, epsilon, 3, way, method="lattice"))
