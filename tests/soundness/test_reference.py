"""The references against values computed by hand, and against each other."""

from __future__ import annotations

import ast
import itertools
from fractions import Fraction
from pathlib import Path

import pytest
from mpmath import mp, mpf
from soundness import reference as ref
from soundness.reference import number, precise


def close(estimate, exact, digits=20):
    value, margin = estimate
    assert abs(value - exact) <= margin + mpf(10) ** -60
    assert abs(value - exact) <= mpf(10) ** -digits


def test_nothing_of_dpexact_is_imported():
    tree = ast.parse(Path(ref.__file__).read_text())
    names = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    } | {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert not any("dpexact" in name or "flint" in name for name in names)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5", Fraction(3, 2)),
        ("1/3+2*(3-1)^2", Fraction(25, 3)),
        ("1e-3", Fraction(1, 1000)),
        ("-2", Fraction(-2)),
        ("2^(-3)", Fraction(1, 8)),
        ("sqrt(9/4)", Fraction(3, 2)),
        ("exp(log(7))", Fraction(7)),
    ],
)
def test_numbers(text, value):
    with precise(300):
        assert abs(number(text) - mpf(value.numerator) / value.denominator) < mpf(10) ** -80


@pytest.mark.parametrize(
    ("mechanism", "epsilon", "direction", "exact"),
    [
        (ref.approx_dp("log(2)", "1/100"), "0", "both", Fraction(34, 100)),
        (ref.product((ref.pure_dp("log(3)"), 2)), "log(3)", "both", Fraction(6, 16)),
        (ref.product((ref.approx_dp("0", "1/10"), 2)), "5", "both", Fraction(19, 100)),
        (ref.poisson(ref.pure_dp("log(3)"), "1/2"), "0", "remove", Fraction(1, 4)),
        # masses 5/8, 3/8 against 1/4 + ...: P = (1/2, 1/2) mixed, Q = (1/4, 3/4)
        (ref.poisson(ref.pure_dp("log(3)"), "1/2"), "log(5/4)", "add", Fraction(1, 8)),
        (ref.poisson(ref.approx_dp("0", "1/2"), "1/2"), "9", "remove", Fraction(1, 4)),
        (ref.poisson(ref.approx_dp("0", "1/2"), "1/2"), "9", "add", Fraction(0)),
        (ref.discrete_laplace("1/log(3)"), "0", "both", Fraction(1, 2)),
        (ref.discrete_laplace("1/log(2)", 2), "0", "both", Fraction(1, 2)),
        (ref.staircase("log(3)", "1/2"), "0", "both", Fraction(1, 2)),
        # gamma = 1 is uniform noise within a step: the outer half of each law is the other's e^-eps
        (ref.staircase("log(3)", "1"), "0", "both", Fraction(1, 3)),
    ],
)
def test_exact_values(mechanism, epsilon, direction, exact):
    with precise(400):
        close(
            ref.delta(mechanism, epsilon, direction), mpf(exact.numerator) / exact.denominator, 50
        )


def test_gaussian_and_laplace():
    with precise(400):
        found = ref.delta(ref.gaussian("1"), "4.3771780956812246276")
        assert abs(found[0] - mpf("1e-5")) < mpf(10) ** -20
        close(ref.delta(ref.laplace("2"), "1/4"), 1 - mp.exp((mpf(1) / 4 - mpf(1) / 2) / 2))
        # two Gaussians are one, whichever is integrated over
        two = ref.product((ref.gaussian("1"), 1), (ref.gaussian("2"), 1)).pair(False)
        apart = ref.Product(ref.Normal(mpf(1)), ref.Normal(mpf(1) / 2))
        assert abs(two.delta(mp.e)[0] - apart.delta(mp.e)[0]) < mpf(10) ** -25


@pytest.mark.slow
def test_both_orders_of_integration():
    smooth, kinked = ref.Normal(mpf(1)), ref.DoubleExponential(mpf(1) / 2)
    sample = ref.Sample(smooth, mpf(1) / 3, False)
    with precise(200):
        for one, two in ((smooth, kinked), (sample, kinked), (sample, smooth), (sample, sample)):
            first, second = ref.Product(one, two), ref.Product(two, one)
            for growth in (mpf(1), mpf(2), mpf(1) / 2):
                a, b = first.delta(growth), second.delta(growth)
                assert abs(a[0] - b[0]) <= a[1] + b[1]
                assert a[1] < mpf(10) ** -15


def test_a_sample_of_a_density_is_what_a_fine_histogram_says():
    """Merging outcomes can only lose, and a fine grid loses little."""
    with precise(200):
        mu, rate, cells = mpf(1), mpf(1) / 3, 400
        ends = [mpf(-8) + 17 * mpf(i) / cells for i in range(cells + 1)]
        atoms = []
        for low, high in itertools.pairwise(ends):
            p, q = mp.ncdf(high - mu) - mp.ncdf(low - mu), mp.ncdf(high) - mp.ncdf(low)
            atoms.append((rate * p + (1 - rate) * q, q))
        for pair in (ref.Outcomes(atoms), ref.Outcomes(atoms).swapped()):
            add = pair.atoms[0][0] != atoms[0][0]
            exact = ref.Sample(ref.Normal(mu), rate, add).delta(mpf("1.1"))[0]
            merged = pair.delta(mpf("1.1"))[0]
            assert exact - mpf(10) ** -4 < merged <= exact + mpf(10) ** -12


def test_long_laws_are_summed_alike():
    with precise(400):
        factors = [(ref.pure_dp(f"sqrt({i})/9"), 1) for i in range(2, 15)]
        whole = ref.product(*factors).pair(False)
        halves = ref.product(*factors[:6]).pair(False), ref.product(*factors[6:]).pair(False)
        met = ref.Product(*halves)
        for growth in (mpf(1), mpf(2), mpf(9)):
            close(met.delta(growth), whole.delta(growth)[0], 50)


def test_least_epsilon():
    with precise(400):
        m = ref.product((ref.pure_dp("log(3)"), 2))  # 9, 6, 1 sixteenths; delta(log 3) = 6/16
        close(ref.epsilon(m, "6/16"), mp.log(3), 50)
        close(ref.epsilon(m, "0"), mp.log(9), 50)
        close(ref.epsilon(m, "1"), mpf(0), 50)
        lossy = ref.approx_dp("1", "1/7")
        assert ref.epsilon(lossy, "1/8")[0] == mp.inf
        close(ref.epsilon(lossy, "1/7", surplus="0"), mpf(1), 50)
        with pytest.raises(ref.NoReference):
            ref.epsilon(lossy, "1/7")


def test_renyi():
    with precise(400):
        close(ref.renyi(ref.pure_dp("log(3)"), "2"), mp.log(mpf(7) / 3), 50)
        close(ref.renyi(ref.pure_dp("log(3)"), "1"), mp.log(3) / 2, 50)
        close(ref.renyi(ref.gaussian("2"), "3"), mpf(3) / 8, 50)
        sampled = ref.renyi(ref.poisson(ref.gaussian("1"), "0.01"), "2", "remove")
        close(sampled, mp.log1p(mpf(1) / 10**4 * (mp.e - 1)), 25)  # E_Q[(dP/dQ)^2] by hand
        whole = ref.Sample(ref.DoubleExponential(mpf(1)), mpf(1), False)
        close(whole.renyi(mpf(2)), ref.DoubleExponential(mpf(1)).renyi(mpf(2))[0])


def test_tradeoff():
    with precise(400):
        close(ref.tradeoff(ref.pure_dp("log(3)"), "1/4"), mpf(1) / 4, 50)
        close(ref.tradeoff(ref.pure_dp("log(3)"), "1/8"), mpf(5) / 8, 50)
        close(ref.tradeoff(ref.approx_dp("0", "1/10"), "1/2"), mpf(4) / 10, 50)
        # the corner (1/4, 1/2) of one direction and its mirror image are joined
        sample = ref.poisson(ref.pure_dp("log(3)"), "1/2")
        close(ref.tradeoff(sample, "3/8"), mpf(3) / 8, 50)
        close(ref.tradeoff(sample, "1/4"), mpf(1) / 2, 50)
        assert abs(ref.tradeoff(ref.gaussian("1"), "1/2")[0] - mp.ncdf(-1)) < mpf(10) ** -25


def test_zcdp():
    with precise(200):
        # at rho = 1/2 and the t = 1 that is best there, eps = 3/2 - log 2
        value, _ = ref.zcdp_delta("1/2", "3/2-log(2)")
        assert abs(value - mp.exp(-mpf(1) / 2) / 2) < mpf(10) ** -20
