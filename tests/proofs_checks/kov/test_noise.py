"""Wrong variants of section V and of the Gaussian appendix are declined."""

from fractions import Fraction

import pytest
import sympy

import dpexact
from proofs_checks.evidence import Declined
from proofs_checks.kov import gaussian, noise


@pytest.mark.parametrize("limit", [7, 9, 16])
def test_another_range_of_the_gaussian_theorem_is_declined(limit):
    with pytest.raises(Declined):
        gaussian.gaussian_noise_for_small_epsilon(limit)


@pytest.mark.parametrize("ratio", ["8.01", "8.04"])
def test_the_gaussian_witness_beyond_the_range_is_not_inside(ratio):
    with pytest.raises(Declined):
        gaussian.gaussian_noise_for_small_epsilon(fails=ratio)


@pytest.mark.parametrize("ratio", [1, 3])
def test_another_ratio_in_the_range_of_the_order_is_declined(ratio):
    with pytest.raises(Declined):
        gaussian.no_constant_for_large_epsilon(ratio)


@pytest.mark.parametrize("d", ["9/10", "1/2", "1/1000"])
def test_the_repaired_order_at_the_end_of_its_range(d):
    mu = f"sqrt(log(1/({d})))"  # eps = 2l, sigma = 1/sqrt(l)
    found = dpexact.delta(f"gaussian(1/{mu})", f"2*log(1/({d}))", digits=4)
    assert found.upper <= Fraction(d)


@pytest.mark.parametrize("most", [3, 5])
def test_another_end_of_the_range_of_one_gaussian_is_declined(most):
    with pytest.raises(Declined):
        gaussian.one_gaussian(most)


def test_the_root_bound_of_the_logarithm_needs_its_starting_point():
    with pytest.raises(Declined):
        gaussian.no_constant_at_all(0)


@pytest.mark.parametrize("scale", [1, 3])
def test_another_variance_of_laplace_noise_is_declined(scale):
    with pytest.raises(Declined):
        noise.laplace(scale)


@pytest.mark.parametrize("factor", [4, 16])
def test_another_constant_of_the_laplace_corollary_is_declined(factor):
    with pytest.raises(Declined):
        noise.laplace_noise_for_small_epsilon(factor)


def test_one_gaussian_at_the_end_of_its_range():
    # eps = 277/100 < 4 log 2
    for d in ("1", "1/2", "1/100", "1/10^9"):
        found = dpexact.delta(f"gaussian(sqrt(2*log(2/({d})))/(277/100))", "277/100", digits=4)
        assert found.upper <= Fraction(d.replace("10^9", "1000000000"))


def test_the_gaussian_theorem_at_the_end_of_its_range():
    # eps = 8 log(e + eps/delta) nearly: eps = 30, delta = 1, log(e + 30) = 3.488...
    size = "log(e+27)"
    found = dpexact.delta(f"gaussian(sqrt(8*{size})/27)", 27, digits=4)
    assert found.upper <= 1
    found = dpexact.delta("gaussian(sqrt(8*log(e+2700))/27)", 27, digits=4)
    assert found.upper <= Fraction(1, 100)


def test_the_masses_of_the_geometric_law_by_summing():
    e = Fraction(3)
    masses = {j: (e - 1) / (e + 1) / e ** abs(j) for j in range(-60, 61)}
    below = sum(masses[j] for j in range(-60, 1))
    assert abs(sum(masses.values()) - 1) < Fraction(1, 10**25)
    assert abs(below - e / (e + 1)) < Fraction(1, 10**25)
    x = sympy.Symbol("x")
    assert sympy.summation(3**-x, (x, 0, sympy.oo)) * Fraction(1, 2) == Fraction(3, 4)
