"""Steps of every kind and their mixtures, against enumeration, quadrature and closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
import small_laws as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

import dpexact
from dpexact import PrecisionNotReached, parse
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.lattice import engine, nested, pieces, steps
from dpexact.accounting.engines.lattice.law import TwoSided, Upper
from dpexact.accounting.engines.lattice.nested import NestedStep
from dpexact.accounting.engines.lattice.profile import lattice_profile, steps_of
from dpexact.accounting.engines.lattice.steps import Sampling
from dpexact.conversion import real
from dpexact.errors import Contradiction
from dpexact.reals import rational

WORK = 200_000
TRUTH = Fraction(1, 10**12)  # relative accuracy of the quadratures


def enclosed(text, epsilon, direction="remove", work=WORK, digits=5):
    steps = steps_of(composition(text), direction == "add")
    found, _ = engine.solve(steps, real(epsilon), digits, work)
    return found


def composition(text):
    return Composition.of(parse(text).steps().items())


def holds(found, truth: mpf) -> bool:
    value = Fraction(str(mp.nstr(truth, 25)))
    return found.lower <= value * (1 + TRUTH) and value * (1 - TRUTH) <= found.upper


# --- finite laws, in fractions ------------------------------------------------------------------


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("growth", [Fraction(1), Fraction(11, 10), Fraction(7, 5)])
def test_samples_of_repeated_responses(add, growth):
    one = oracle.on_sample(oracle.repeated(oracle.response(Fraction(3)), 2), Fraction(1, 10), add)
    truth = oracle.hockey_stick(oracle.repeated(one, 4), growth)
    way = "add" if add else "remove"
    found = enclosed("poisson(pure_dp(log(3))^2, 1/10)^4", f"log({growth})", way)
    assert found.lower <= truth <= found.upper
    assert found.digits >= 4


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("growth", [Fraction(1), Fraction(5, 4), Fraction(2)])
def test_samples_of_leaking_mixtures(add, growth):
    inner = oracle.product(oracle.response(Fraction(3)), oracle.response(Fraction(2)))
    inner = oracle.product(inner, oracle.leak(Fraction(1, 50)))
    one = oracle.on_sample(inner, Fraction(1, 4), add)
    law = oracle.product(oracle.repeated(one, 2), oracle.response(Fraction(5, 4)))
    truth = oracle.hockey_stick(law, growth)
    text = "poisson(pure_dp(log(3)) * approx_dp(log(2), 1/50), 1/4)^2 * pure_dp(log(5/4))"
    found = enclosed(text, f"log({growth})", "add" if add else "remove")
    assert found.lower <= truth <= found.upper
    assert found.digits >= 4


@pytest.mark.parametrize("add", [False, True])
def test_samples_within_samples(add):
    inside = oracle.on_sample(
        oracle.repeated(oracle.response(Fraction(2)), 2), Fraction(1, 2), False
    )
    one = oracle.on_sample(
        oracle.product(inside, oracle.response(Fraction(3))), Fraction(1, 3), add
    )
    truth = oracle.hockey_stick(oracle.repeated(one, 2), Fraction(6, 5))
    text = "poisson(poisson(pure_dp(log(2))^2, 1/2) * pure_dp(log(3)), 1/3)^2"
    found = enclosed(text, "log(6/5)", "add" if add else "remove")
    assert found.lower <= truth <= found.upper
    assert found.digits >= 4


fractions_in = st.fractions(Fraction(1, 50), Fraction(49, 50), max_denominator=60)


@settings(max_examples=15)
@given(
    st.fractions(1, 200, max_denominator=5).filter(lambda g: g > 1),
    st.sampled_from([Fraction(1, 10**6), Fraction(1, 30), Fraction(999, 1000)]),
    fractions_in,
    st.booleans(),
    st.fractions(1, 4, max_denominator=7),
)
def test_any_finite_laws(growth, rate, leaking, add, level):
    inner = oracle.product(oracle.response(growth), oracle.leak(leaking))
    one = oracle.on_sample(inner, rate, add)
    truth = oracle.hockey_stick(oracle.repeated(one, 2), level)
    text = f"poisson(pure_dp(log({growth})) * approx_dp(0, {leaking}), {rate})^2"
    (step,) = steps_of(composition(text), add)
    for variant in (step, NestedStep(steps_of_inner(text), step_sampling(rate, add), 2)):
        found, _ = engine.solve([variant], real(f"log({level})"), 4, WORK)
        assert found.lower <= truth <= found.upper


def steps_of_inner(text):
    ((sample, _),) = composition(text).samples
    return tuple(steps_of(sample.inner, False))


def step_sampling(rate, add):
    return Sampling(rational(rate), add)


# --- Laplace ------------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.fractions(Fraction(1, 9), 12, max_denominator=9),
    st.integers(1, 6),
    st.fractions(0, 3, max_denominator=8),
)
def test_laplace_against_the_spline(scale, count, epsilon):
    text = f"laplace({scale})^{count}"
    found = enclosed(text, str(epsilon))
    assert found.overlaps(dpexact.delta(text, epsilon))


def test_laplace_to_six_digits():
    found = enclosed("laplace(2)^3", "0.9", work=4_000_000, digits=7)
    assert found.lower < Fraction("0.08416347468222628807482729032") < found.upper
    assert found.digits >= 7


@pytest.mark.slow
@settings(max_examples=10)
@given(
    st.fractions(Fraction(1, 9), 4, max_denominator=9),
    st.sampled_from(["1/1000000", "1/10", "9/10", "999999/1000000"]),
    st.booleans(),
    st.fractions(0, 1, max_denominator=8),
)
def test_one_sampled_laplace(scale, rate, add, epsilon):
    text, way = f"poisson(laplace({scale}), {rate})", "add" if add else "remove"
    found = enclosed(text, str(epsilon), way)
    assert found.overlaps(dpexact.delta(text, epsilon, 10, way))


@pytest.mark.parametrize("epsilon", ["0", "0.5", "2"])
def test_laplace_beside_a_gaussian_by_quadrature(epsilon):
    e = mpf(epsilon)
    truth = oracle.laplace_mean(lambda z: oracle.gaussian_profile(mpf(1) / 2, e - z), mpf(1))
    found = enclosed("laplace(1) * gaussian(2)", epsilon, work=3_000_000)
    assert holds(found, truth)
    assert found.digits >= 5


@pytest.mark.slow
@pytest.mark.parametrize("add", [False, True])
def test_two_sampled_laplaces_by_quadrature(add):
    rate, s, e = mpf(1), mpf(1) / 10, mpf("0.05")

    def image(z):
        return mp.log1p(s * mp.expm1(z))

    def one(level):
        """The profile of one step at any real epsilon."""
        growth = mp.exp(level)
        kink = (growth if not add else 1 / growth) - (1 - s)
        breaks = [mp.log(kink / s)] if kink > 0 else []

        def gain(z):  # per unit of P mass of the unsampled step
            p, q = mpf(1), mp.exp(-z)
            mixed = (1 - s) * q + s * p
            return max(q - growth * mixed if add else mixed - growth * q, 0)

        return oracle.laplace_mean(gain, rate, breaks)

    def outer(z):
        mass = mp.exp(-z) if add else (1 - s) * mp.exp(-z) + s
        return mass * one(e + image(z) if add else e - image(z))

    mp.dps = 15
    truth = oracle.laplace_mean(outer, rate)
    found = enclosed("poisson(laplace(1), 1/10)^2", "0.05", "add" if add else "remove")
    value = Fraction(str(mp.nstr(truth, 12)))
    assert found.lower * (1 - Fraction(1, 10**5)) <= value <= found.upper * (1 + Fraction(1, 10**5))
    assert found.digits >= 4


# --- discrete Gaussian --------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["discrete_gaussian(2)^5", "discrete_gaussian(5/2, 3)^4"])
@pytest.mark.parametrize("epsilon", ["0", "1.3", "4"])
def test_discrete_gaussian_against_its_lattice(text, epsilon):
    found = enclosed(text, epsilon)
    assert found.overlaps(dpexact.delta(text, epsilon))
    assert found.digits >= 4


@pytest.mark.slow
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("epsilon", ["0", "0.05", "0.1"])
def test_sampled_discrete_gaussians_by_enumeration(add, epsilon):
    weight = [mp.exp(-mpf(x * x) / 8) for x in range(-60, 62)]
    total = sum(weight[:-1])
    law = [(a / total, b / total) for a, b in pairwise(weight)]
    law = [((9 * q + p) / 10, q) for p, q in law]
    law = [(q, p) for p, q in law] if add else law
    growth = mp.exp(mpf(epsilon))
    pairs = [(a * c, b * d) for a, b in law for c, d in law]
    truth = sum(max(p - growth * q, 0) for p, q in pairs)
    found = enclosed("poisson(discrete_gaussian(2), 1/10)^2", epsilon, "add" if add else "remove")
    assert found.lower <= Fraction(str(mp.nstr(truth * (1 + mpf(10) ** -12), 25)))
    assert found.upper >= Fraction(str(mp.nstr(truth * (1 - mpf(10) ** -12), 25)))
    assert found.digits >= 4


# --- a whole composition on a sample -------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=12)
@given(
    st.sampled_from(["1/3", "1", "4"]),
    st.sampled_from(["1/100000", "1/20", "7/8"]),
    st.sampled_from([1, 5]),
    st.booleans(),
    st.fractions(0, 2, max_denominator=4),
)
def test_gaussians_by_their_own_lattice(sigma, rate, count, add, epsilon):
    way = "add" if add else "remove"
    plain = steps_of(composition(f"gaussian({sigma})"), False)
    step = NestedStep(tuple(plain), step_sampling(Fraction(rate), add), count)
    found, _ = engine.solve([step], rational(epsilon), 4, WORK)
    (direct,) = steps_of(composition(f"poisson(gaussian({sigma}), {rate})"), add)
    twin = replace(direct, count=count)
    other, _ = engine.solve([twin], rational(epsilon), 4, WORK)
    assert found.overlaps(other)
    if count == 1:
        try:
            exact = dpexact.delta(f"poisson(gaussian({sigma}), {rate})", epsilon, 10, way)
        except PrecisionNotReached as error:
            exact = error.best
        assert found.overlaps(exact)


@pytest.mark.parametrize("way", ["remove", "add"])
def test_a_laplace_composition_on_one_sample(way):
    text = "poisson(laplace(1)^3, 1/10)"
    found = enclosed(text, "0.05", way, 500_000)
    assert found.overlaps(dpexact.delta(text, "0.05", 12, way))
    assert found.digits >= 4


# --- epsilon -------------------------------------------------------------------------------------


def test_epsilon_of_a_bounded_loss():
    profile = lattice_profile(composition("poisson(laplace(1), 1/10)^3"), True, WORK)
    found = profile.epsilon(real("1e-3"), 3)
    assert profile.delta(rational(Fraction(found.lower) * Fraction(99, 100)), 3).lower > Fraction(
        1, 1000
    )
    assert profile.delta(rational(Fraction(found.upper) * Fraction(101, 100)), 3).upper < Fraction(
        1, 1000
    )
    largest = profile.epsilon(real(0), 12)  # the largest loss
    edge = -3 * math.log(1 - 0.1 * (1 - math.exp(-1)))
    assert largest.lower <= edge * (1 + 1e-12)
    assert edge * (1 - 1e-12) <= largest.upper


# --- power: each part of the proof is needed -----------------------------------------------------


LEAKING = "poisson(pure_dp(log(3)) * approx_dp(log(2), 1/5), 1/4)^2"


def leaking_truth(add):
    inner = oracle.product(oracle.response(Fraction(3)), oracle.response(Fraction(2)))
    one = oracle.on_sample(oracle.product(inner, oracle.leak(Fraction(1, 5))), Fraction(1, 4), add)
    return oracle.hockey_stick(oracle.repeated(one, 2), Fraction(11, 10))


def is_wrong(add):
    try:
        found = enclosed(LEAKING, "log(11/10)", "add" if add else "remove")
    except Contradiction:
        return True
    return not found.lower <= leaking_truth(add) <= found.upper


def test_the_unbroken_code_is_right():
    assert not is_wrong(False)
    assert not is_wrong(True)


def test_the_outcomes_impossible_under_p_are_needed(monkeypatch):
    right = NestedStep._sampled_points

    def forgetful(self, law, grid):
        points, infinite = right(self, law, grid)
        return points[:-1], infinite

    monkeypatch.setattr(nested.NestedStep, "_sampled_points", forgetful)
    assert is_wrong(True)


def test_infinite_loss_of_the_inner_law_is_needed(monkeypatch):
    right = nested.upper_law

    def forgetful(step, grid):
        found = right(step, grid)
        return Upper(found.low, found.masses, 0 * found.inf)

    monkeypatch.setattr(nested, "upper_law", forgetful)
    assert is_wrong(False)


def test_upper_bounds_of_labels_are_needed(monkeypatch):
    right = nested.two_sided_law

    def careless(step, grid):
        found = right(step, grid)
        straight = replace(found.straight, q=found.straight.q * 0)
        return TwoSided(straight, replace(found.swapped, p=found.swapped.p * 0))

    monkeypatch.setattr(nested, "two_sided_law", careless)
    assert is_wrong(False)


def test_an_atom_rounded_down_is_noticed(monkeypatch):
    right = pieces.split_atom

    def down(gap, spacing):
        low, _, _ = right(gap, spacing)
        return low, low + 1, gap * 0 + 1

    monkeypatch.setattr(pieces, "split_atom", down)
    found = enclosed_or_none("laplace(2)^3", "0.9")
    assert found is None or found.upper < Fraction("0.08416347468222628807482729032")


def enclosed_or_none(text, epsilon):
    try:
        return enclosed(text, epsilon)
    except Contradiction:
        return None


def test_a_missing_atom_is_noticed(monkeypatch):
    monkeypatch.setattr(steps, "atomic", lambda pairs, *rest: pieces.atomic(list(pairs)[:1], *rest))
    found = enclosed_or_none("laplace(2)^3", "0.9")
    assert found is None or found.upper < Fraction("0.08416347468222628807482729032")
