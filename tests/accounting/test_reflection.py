"""Delta at negative epsilon: the identity against routes that do without it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact import balls, delta, delta_bounds, parse, reals
from dpexact.accounting.engines.closed_form import gaussian_divergence
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.accounting.profiles import profile
from dpexact.accounting.reflection import Mirrored, WorseDirection, _least, reflected
from dpexact.arguments import DIRECTIONS, Direction
from dpexact.certificate_checker_mpfr import checking
from dpexact.certificates import certificate
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.reals import Real
from dpexact.tradeoffs import LaplaceTradeoff

levels = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=60)


def _steps(growth: Fraction, q: Fraction, add: bool) -> list[tuple[Fraction, Fraction]]:
    """Randomized response of e^eps = growth on a Poisson sample, outcome by outcome."""
    high = growth / (1 + growth)
    laws = [(high, 1 - high), (1 - high, high)]
    mixed = [(q * a + (1 - q) * b, b) for a, b in laws]
    return [(b, a) for a, b in mixed] if add else mixed


@given(
    st.fractions(min_value=1, max_value=9, max_denominator=8),
    st.fractions(min_value=Fraction(1, 9), max_value=Fraction(8, 9), max_denominator=9),
    st.integers(1, 5),
    levels,
    st.sampled_from(DIRECTIONS),
)
@settings(max_examples=scaled(60))
def test_finite_laws_are_summed_outcome_by_outcome(
    growth: Fraction, q: Fraction, count: int, level: Fraction, direction: Direction
) -> None:
    sums = []
    for add in {"remove": [False], "add": [True], "both": [False, True]}[direction]:
        total = Fraction(0)
        for outcome in product(_steps(growth, q, add), repeat=count):
            p, r = math.prod(a for a, _ in outcome), math.prod(b for _, b in outcome)
            total += max(p - level * r, 0)
        sums.append(total)
    found = delta(f"poisson(pure_dp(log({growth})), {q})^{count}", f"log({level})", 30, direction)
    assert max(sums) in found


@given(st.fractions(min_value=Fraction(1, 10), max_value=4, max_denominator=10), levels)
@settings(max_examples=scaled(40))
def test_gaussians_have_their_formula_at_every_epsilon(mu: Fraction, level: Fraction) -> None:
    found = delta(f"gdp({mu})", f"log({level})", 25)
    with balls.precision(300):
        assert balls.to_enclosure(
            gaussian_divergence(balls.ball(mu), balls.ball(level).log())
        ).overlaps(found)


@given(st.fractions(min_value=Fraction(1, 10), max_value=4, max_denominator=10), levels)
@settings(max_examples=scaled(30))
def test_the_tradeoff_function_lies_on_the_line(rate: Fraction, level: Fraction) -> None:
    """``f(a) >= 1 - delta - e^eps a`` at all ``a``, with equality at one."""
    found = delta(f"laplace(1, {rate})", f"log({level})", 25)
    f = LaplaceTradeoff(reals.rational(rate))
    gaps = [f(Fraction(k, 64), 15).upper - (1 - level * Fraction(k, 64)) for k in range(65)]
    assert -min(gaps) <= found.upper
    assert min(gaps) + found.lower <= Fraction(1, 20)


@pytest.mark.parametrize(
    "text",
    [
        "gaussian(1)",
        "laplace(2)^3",
        "approx_dp(log(2), 1/100)^5",
        "poisson(gaussian(1), 1/100)^20",
        "poisson(laplace(1), 1/3)^2",
        "discrete_gaussian(2)^3",
        "gaussian(3) * laplace(2)",
        "staircase(1, 1/3)^2",
        "fixed_size(gaussian(2), 1, 10)",
    ],
)
@pytest.mark.parametrize("at", ["-2", "-1/7", "-1e-20"])
def test_delta_falls_and_is_at_least_one_minus_the_level(text: str, at: str) -> None:
    values = {way: delta(text, at, 6, way) for way in DIRECTIONS}
    assert values["both"].overlaps(values["remove"].larger(values["add"]))
    level = balls.certify(lambda: -balls.ball(real(at)).expm1(), 40)
    start = delta(text, 0, 6)
    for found in values.values():
        assert found.upper >= level.lower
        assert found.upper >= start.lower
        assert found.upper <= 1


def test_sampling_exchanges_the_directions() -> None:
    m = parse("poisson(gaussian(1), 1/4)^3")
    at = real("0.3")
    add = profile(m, "add").delta(at, 15)
    found = delta(m, "-0.3", 15, "remove")
    assert found.overlaps(reflected(add, -at, 15))
    assert not found.overlaps(delta(m, "-0.3", 15, "add"))


def test_bounds_of_floats_hold_on_both_sides() -> None:
    lower, upper = delta_bounds("gaussian(1)", [-3.0, -1.0, 0.0, 1.0])
    assert (lower <= upper).all()
    assert (upper[:-1] >= lower[1:]).all()
    assert upper[0] - lower[0] < 1e-15


def test_wide_answers_stay_enclosures() -> None:
    wide = Enclosure(Fraction(0), Fraction(1, 2), "m", "why")
    found = reflected(wide, real("-1"), 10)
    assert found.reason == "why"
    with balls.precision(200):
        rest = balls.to_enclosure(1 - balls.ball(-1).exp())
    assert 0 <= rest.lower - found.lower <= rest.upper / 10**11
    assert 0 <= found.upper - (1 + rest.lower) / 2 <= rest.upper / 10**11


@pytest.mark.parametrize(
    ("text", "at", "way"),
    [
        ("gaussian(1)", "-1", "both"),
        ("approx_dp(log(2), 1/100)^3", "log(1/3)", "both"),
        ("poisson(pure_dp(1), 1/10)^3", "-1/10", "add"),
        ("poisson(pure_dp(1), 1/10)^3", "-1/10", "remove"),
        ("poisson(gaussian(1), 1/100)^50", "-1/20", "add"),
        ("laplace(2)^2", "-1", "both"),
    ],
)
def test_certificates_are_verified(text: str, at: str, way: Direction) -> None:
    m, point = parse(text), real(at)
    document = certificate(m, "delta", point, way, delta(m, point, direction=way))
    assert checking.check(document)
    other: dict[str, Direction] = {"add": "remove", "remove": "add", "both": "remove"}
    if way != "both":
        (statement,) = document["statements"]
        with pytest.raises((checking.standard.Invalid, checking.standard.Unreadable)):
            checking.check_statement({**statement, "direction": other[way]})


def test_digits_are_relative_next_to_zero() -> None:
    found = delta("pure_dp(1e-40)", "-1e-45", 15)
    assert found.digits >= 15
    assert 0 < found.lower < Fraction(1, 10**40)


def test_a_delta_of_more_bits_than_numbers_may_have_is_no_bad_input() -> None:
    """It was made the level that the other direction is compared with, and refused as too small."""
    found = delta("poisson(gaussian(1/1000), 1/10)", "1600000", digits=3)
    assert found.digits >= 3
    assert reals.bits_of(Fraction(found.lower)) > reals.MAX_BITS


@given(
    st.lists(
        st.tuples(st.fractions(Fraction(1, 100), 9), st.fractions(0, 1), st.booleans()), max_size=40
    )
)
def test_only_what_a_bound_proves_is_taken_for_proved(asked) -> None:
    """Delta is ``1/(1 + eps)``, and points are rational or not."""
    found = profile(parse("gaussian(1)"))

    def is_below(at: Real, level: Real) -> bool:
        with balls.precision(200):
            return bool(1 / (1 + balls.ball(at)) <= balls.ball(level))

    points = {
        i: (reals.logarithm(real(1 + x)) if log else real(x), real(level))
        for i, (x, level, log) in enumerate(asked)
    }
    left = Mirrored(found, found, is_below)._unproved(points)
    assert left == [i for i, point in points.items() if not is_below(*point)]
    assert Mirrored(found, found)._unproved(points) == [*points]


def test_neighbours_are_proved_together() -> None:
    found, calls = profile(parse("gaussian(1)")), []
    ask = Mirrored(found, found, lambda *at: calls.append(at) or True)
    points = [real(Fraction(k, 100)) for k in range(1, 801)]
    assert ask.deltas(points, 4) == found.deltas(points, 4)
    assert len(calls) == 25


def test_what_is_seldom_proved_is_not_looked_at_point_by_point() -> None:
    found, calls = profile(parse("gaussian(1)")), []
    ask = Mirrored(found, found, lambda *at: bool(calls.append(at)))
    points = {i: (real(Fraction(i + 1, 100)), real(0)) for i in range(800)}
    assert ask._unproved(points) == [*points]
    assert len(calls) < 100


def test_the_point_of_neighbours_is_below_all_of_them() -> None:
    roots = [reals.square_root(real(k)) for k in (2, 3)]
    assert _least(roots).fraction ** 2 < 2
    assert _least(roots[:1]) is roots[0]


class Falling(Profile):
    """``delta = share / (1 + epsilon)^power``, and the points that were asked for."""

    method = "falling"
    infinite = InfiniteLoss()

    def __init__(self, share: Fraction, power: int) -> None:
        self.share, self.power = share, power
        self.asked: list[Real] = []

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        self.asked.append(epsilon)
        value = self.share / (1 + epsilon.value) ** self.power
        return Enclosure(value, value + value / 10**digits / 2)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        raise AssertionError


@pytest.mark.parametrize("order", [1, -1])
def test_few_answers_tell_that_the_second_direction_is_smaller(order: int) -> None:
    one, other = Falling(Fraction(1, 2), 2), Falling(Fraction(1, 3), 3)
    points = [reals.rational(Fraction(k, 200)) for k in range(400)][::order]
    found = WorseDirection(one, other).deltas(points, 8)
    assert len(other.asked) < 80
    assert found == [one.delta(at, 8) for at in points]


def test_where_it_is_the_larger_it_is_told_point_by_point() -> None:
    """Also next to where they cross, within one row of neighbours."""
    one, other = Falling(Fraction(1, 2), 2), Falling(Fraction(7, 10), 3)
    points = [reals.rational(Fraction(k, 200)) for k in range(400)]
    found = WorseDirection(one, other).deltas(points, 8)
    for at, answer in zip(points, found, strict=True):
        assert answer == one.delta(at, 8).larger(other.delta(at, 8))
