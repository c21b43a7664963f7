"""Rare samples against closed forms, the plain contour, and themselves on other plans."""

import math
from fractions import Fraction

import contours
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact import balls, reals
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.gaussian_twice import GaussianTwice
from dpexact.accounting.engines.loud_samples import LoudSamples
from dpexact.accounting.engines.rare.estimate import Estimate, first_place, placed
from dpexact.accounting.engines.rare.float_rows import FloatRow, largest_loss
from dpexact.accounting.engines.rare.inversion import Inversion
from dpexact.accounting.engines.rare.picture import Question
from dpexact.accounting.engines.rare.planning import cheapest, planned
from dpexact.accounting.engines.rare.profile import RareProfile
from dpexact.accounting.engines.rare.rows import Row, half_root_of_chi_square, total_variation
from dpexact.accounting.pairs.mixture import one_shift
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.profiles import profile
from dpexact.conversion import real
from dpexact.enclosure import Enclosure

WAYS = ("remove", "add")


def engine(sigma, q, count, way):
    return RareProfile((Row(real(sigma), real(q), count),), way == "add")


@pytest.mark.parametrize(
    ("sigma", "q", "at"),
    [("2", "1e-5", "0.3"), ("2.5", "1e-3", "0.5"), ("1.2", "1e-4", "6"), ("4", "1e-4", "0.05")],
)
def test_far_tails_of_two_steps_have_an_integral(sigma, q, at):
    found = engine(sigma, q, 2, "remove").delta(real(at), 8)
    assert found.digits >= 8
    assert found.upper < 1e-60
    assert meet(found, GaussianTwice(real(sigma), real(q), False).delta(real(at), 10))


@pytest.mark.parametrize(
    ("sigma", "q", "count", "at"),
    [
        ("2", "1e-5", 100, "0.3"),
        ("2", "1e-5", 100, "2"),
        ("2.512", "4.369e-07", 18412, "0.0347"),
        ("5.75", "2.37e-05", 6405, "0.23"),
    ],
)
def test_far_tails_are_answered_and_found_again(sigma, q, count, at):
    tail = engine(sigma, q, count, "remove")
    found = tail.delta(real(at), 8)
    assert found.digits >= 8
    assert found.upper < 1e-90
    if found.upper > 1e-200:
        again = tail.epsilon(real(found.lower), 8)
        assert again.digits >= 8
        assert abs(again.lower / Fraction(at) - 1) < Fraction(1, 10**7)


def pair(sigma, q, way):
    zero = reals.rational(0)
    up, down = (real(q), zero) if way == "remove" else (zero, real(q))
    return one_shift(real(sigma), up, down)


def meet(one: Enclosure, other: Enclosure) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("sigma", "q", "share"),
    [("0.3", "1e-7", "0.3"), ("0.5", "1e-3", "0.9"), ("2", "1e-5", "0.8"), ("1", "0.1", "0.5")],
)
def test_one_step_has_a_closed_form(sigma, q, share, way):
    at = Fraction(q) * Fraction(share)
    if way == "remove":
        at *= 50
    once = profile(dpexact.parse(f"poisson(gaussian({sigma}), {q})"), way)
    exact = once.delta(reals.rational(at), 18)
    found = engine(sigma, q, 1, way).delta(reals.rational(at), 10)
    assert found.digits >= 10
    assert meet(found, exact)


CASES = [
    ("1", "1/1000", 1000, "1e-5"),
    ("1.5", "1/100", 300, "1e-6"),
    ("0.7", "1/10000", 100000, "1e-8"),
    ("3", "1/10", 50, "1e-4"),
]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("sigma", "q", "count", "delta"), CASES)
def test_as_the_plain_contour(sigma, q, count, delta, way):
    found = engine(sigma, q, count, way).epsilon(real(delta), 11)
    other = contours.epsilon([(pair(sigma, q, way), count)], real(delta), 12)
    assert found.digits >= 11
    assert other.digits >= 8
    assert meet(found, other)


@pytest.mark.parametrize(
    ("sigma", "q", "count", "delta", "digits"),
    [
        ("0.6033", "1.33e-8", 1_453_517, "1.27e-11", 12),  # a coarse line cuts the root off
        ("1.115", "1.12e-7", 147, "1.78e-15", 8),  # floats know two digits of delta
        ("0.2317", "6.91e-6", 82, "4.24e-14", 3),  # what is known of aliases is next to 1
        ("0.2118", "5.28e-5", 126, "6.8e-8", 12),  # cells between two windows
        ("0.5", "1e-7", 10**7, "1e-12", 15),  # numpy's log1p loses complex numbers next to 0
    ],
)
def test_searches_in_floats_end(sigma, q, count, delta, digits):
    found = engine(sigma, q, count, "remove").epsilon(real(delta), digits)
    assert found.digits >= digits


@pytest.mark.parametrize("epsilon", ["1e13", "1e300"])
def test_gaps_that_floats_do_not_resolve_are_left_to_others(epsilon):
    found = engine("1", "1/50", 200, "remove").delta(real(epsilon), 6)
    assert "too extreme" in found.reason


@pytest.mark.slow
def test_losses_of_hundreds_as_the_plain_contour():
    """The gap is beyond all scales of single losses, and those that are far beyond floats."""
    sigma, q, count, delta = "1/10", "256/25000000", 976_563, "1e-5"
    found = engine(sigma, q, count, "remove").epsilon(real(delta), 4)
    other = contours.epsilon([(pair(sigma, q, "remove"), count)], real(delta), 4)
    assert found.digits >= 4
    assert other.digits >= 4
    assert meet(found, other)


@settings(max_examples=8, deadline=None)
@given(
    st.sampled_from(["0.3", "0.6", "1", "2.5", "10"]),
    st.sampled_from(["1e-7", "1e-5", "1e-3", "0.05", "0.5"]),
    st.integers(2, 40),
    st.sampled_from(["1e-3", "1e-6", "1e-10"]),
    st.sampled_from(WAYS),
)
@pytest.mark.slow
def test_any_parameters_as_the_lattice_engine(sigma, q, count, delta, way):
    """Where an epsilon is claimed, the lattice at that epsilon does not contradict delta."""
    rarely = engine(sigma, q, count, way)
    found = rarely.epsilon(real(delta), 6)
    if found.lower == 0 or found.digits < 6:
        return
    at = reals.rational(Fraction(found.lower))
    narrow = rarely.delta(at, 6)
    mechanism = dpexact.parse(f"poisson(gaussian({sigma}), {q})^{count}")
    assert meet(narrow, profile(mechanism, way, "lattice").delta(at, 1))


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    st.floats(-0.6, 1),
    st.floats(-7, -0.3),
    st.floats(0.3, 7),
    st.sampled_from(["1e-3", "1e-6", "1e-12"]),
    st.sampled_from(WAYS),
)
def test_any_parameters_as_the_plain_contour(sigma, q, count, delta, way):
    """Whatever digits either has: no two enclosures are disjoint."""
    sigma, q, count = f"{10**sigma:.3g}", f"{10**q:.3g}", round(10**count)
    plain = ContourProfile([(pair(sigma, q, way), count)], InfiniteLoss(), 1_000_000)
    found = engine(sigma, q, count, way).epsilon(real(delta), 7)
    assert meet(found, plain.epsilon(real(delta), 7))


SMALL_NOISE_OR_MANY_STEPS = [
    ("0.3", "1/100", 10, "1e-8", "remove", "24.35711588"),
    ("0.3", "1/2", 2, "1e-4", "remove", "24.77814287"),
    ("0.3", "1/20", 2, "1e-4", "add", "0.102135"),
    ("1.5", "1e-7", 10_000, "1e-12", "add", "0.0000353199178"),
    ("0.8", "1e-7", 10_000_000, "1e-12", "remove", "0.003464055957"),
    ("0.5", "1e-7", 1_000_000, "1e-12", "add", "0.003610143031"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "q", "count", "delta", "way", "start"), SMALL_NOISE_OR_MANY_STEPS
)
def test_corners_that_were_refused_or_slow(sigma, q, count, delta, way, start):
    """At the ends of epsilon delta is on both sides of the target, by lines of other plans."""
    rarely = engine(sigma, q, count, way)
    found = rarely.epsilon(real(delta), 8)
    assert found.digits >= 8
    assert str(found).startswith(start[:9])
    for end, is_above in ((found.lower, True), (found.upper, False)):
        at = rarely.delta(reals.rational(Fraction(end)), 12)
        assert at.upper >= Fraction(delta) if is_above else at.lower <= Fraction(delta)


def test_few_digits_do_not_leave_the_period():
    """A wide bracket around a small gap would reach beyond the period of its line."""
    found = engine("0.5", "0.05", 10, "add").epsilon(real("1e-8"), 3)
    assert found.digits >= 3
    assert found.lower < Fraction("0.5025649") < found.upper


@pytest.mark.slow
def test_plans_with_and_without_small_losses_apart():
    """Two sums of different nodes, windows, bounds: both enclose."""
    sigma, q, count, at = "0.6", "1e-4", 10, Fraction("0.04")
    for add in (False, True):
        point = at / 50 if add else at
        top = count * 1.00005e-4
        gap = top - float(point) if add else top + float(point)
        ask = Question((FloatRow(0.6, 1e-4, count),), gap, add)
        found = []
        for shape in (40, 120):
            for near in (False, True):
                plan = planned(ask, -34.0, shape, 1.0, near)
                with balls.precision(plan.bits):
                    value = Inversion([Row(real(sigma), real(q), count)], plan).delta(
                        balls.ball(point)
                    )
                    found.append(balls.to_enclosure(value))
        for one in found:
            assert one.digits >= 4
            assert all(meet(one, other) for other in found)


@pytest.mark.parametrize("way", WAYS)
def test_more_than_any_loss(way):
    rarely = engine("1", "0.01", 10, way)
    found = rarely.largest_loss(12)
    if way == "remove":
        assert found.lower == float("inf")
        return
    beyond = reals.rational(Fraction(found.upper) + Fraction(1, 10**9))
    assert rarely.delta(beyond, 10) == Enclosure.exact(Fraction(0), "contour")


@pytest.mark.parametrize(
    ("sigma", "q", "count"), [("3", "1/100", 2), ("1", "1/1000", 10), ("1", "1/10", 1)]
)
def test_total_variation_bounds_delta_at_zero(sigma, q, count):
    at_zero = dpexact.delta(f"poisson(gaussian({sigma}), {q})^{count}", 0, digits=6)
    with balls.precision(100):
        bound = total_variation([Row(real(sigma), real(q), count)])
        assert bound >= balls.ball(at_zero.lower)
        assert count * bound.lower() < count * count * balls.ball(at_zero.upper)
        bound = half_root_of_chi_square([Row(real(sigma), real(q), count)])
        assert bound >= balls.ball(at_zero.lower)


def test_epsilon_zero_is_decided_first():
    for way in WAYS:
        found = engine("2.71", "0.001", 10, way).epsilon(real("9e-4"), 15)
        assert found.is_exact
        assert found.lower == 0


def test_epsilon_of_many_small_losses_is_zero_without_a_line(monkeypatch):
    """Those of single steps add up to 0.02."""
    monkeypatch.setattr(RareProfile, "inverted", lambda *_: pytest.fail("a line"))
    rows = [Row(real(3), real("1e-6"), 100_000), Row(real(5), real("1e-6"), 100_000)]
    at_zero = half_root_of_chi_square(rows)
    assert 5e-5 < float(at_zero) < 8e-5
    for add in (False, True):
        assert RareProfile(tuple(rows), add).epsilon(real("8e-5"), 15).is_exact


@pytest.mark.parametrize("way", WAYS)
def test_what_cannot_be_planned_is_left_wide(way):
    for sigma, q, count in (("1e-5", "1/10", 10), ("1", "1e-200", 10), ("0.3", "0.5", 10**9)):
        found = engine(sigma, q, count, way).delta(real("1/10"), 8)
        assert 0 <= found.lower <= found.upper <= 1


def test_work_is_bounded():
    few = RareProfile((Row(real("0.5"), real("1e-5"), 10),), False, max_work=10)
    found = few.delta(real("0.004"), 8)
    assert (found.lower, found.upper) == (0, 1)
    assert "nodes" in found.reason
    with pytest.raises(TooExpensive):
        few.plan_for(Question((FloatRow(0.5, 1e-5, 10),), 0.0041, False), -30.0)


def test_the_rows_that_were_slow():
    for text, delta, start in (
        ("poisson(gaussian(0.5), 1e-5)^10", "1e-6", "0.0040138643"),
        ("poisson(gaussian(2), 1e-5)^100", "1e-6", "0.00009574067"),
    ):
        assert str(dpexact.epsilon(text, delta, digits=8)).startswith(start)


@pytest.mark.parametrize(
    ("sigma", "q", "count", "epsilon"),
    [("0.13", "1e-2", 3, "39.5"), ("0.0903", "0.0002093", 1000, "230.5"), ("0.2", "1e-2", 3, "19")],
)
def test_floats_hold_tiny_masses_of_huge_losses(sigma, q, count, epsilon):
    """``e^epsilon`` times what is far under ``Q`` counts, though a float of the rest drowns it."""
    profile = engine(sigma, q, count, "remove")
    found = profile.delta(real(epsilon), 4)
    with np.errstate(all="ignore"):
        near = profile.estimate(profile.question(float(epsilon)), math.log(found.lower))[1]
    assert near == pytest.approx(float(found.lower), rel=1e-3)


def test_epsilon_of_few_steps_of_little_noise():
    """Refused where floats missed it; delta at both ends by the number of participations."""
    found = engine("0.13", "1e-2", 3, "remove").epsilon(real("1e-3"), 8)
    assert found.digits >= 8
    told = LoudSamples(real("0.13"), real("1e-2"), 3, False)
    with balls.precision(100):
        ends = [told.finite_ball(balls.ball(x)) for x in (found.lower, found.upper)]
        assert all(end.overlaps(balls.ball(Fraction(1, 1000))) for end in ends)


#: In each, another part of the law decides: many small losses, one large one, one beside many.
FIRST = [
    ("10", "1e-7", 1000, "1e-12"),
    ("3", "1e-4", 1000, "1e-12"),
    ("1.5", "1e-4", 1000, "1e-8"),
    ("1", "1e-5", 1000, "1e-8"),
    ("1.5", "1e-4", 10, "1e-12"),
    ("0.3", "1e-3", 100, "1e-4"),
]


@pytest.mark.parametrize(("sigma", "q", "count", "delta"), FIRST)
def test_searches_begin_where_delta_is_about_the_target(sigma, q, count, delta):
    target = math.log(float(delta))
    ask = Question((FloatRow(float(sigma), float(q), count),), 1.0, False)
    with np.errstate(all="ignore"):
        epsilon = placed(ask.top, False, first_place(ask, target)[0])[1]
    found = engine(sigma, q, count, "remove").delta(reals.rational(Fraction(epsilon)), 4)
    assert abs(math.log(found.lower) - target) < 1


@pytest.mark.parametrize("way", WAYS)
def test_sums_next_to_their_mean(way):
    # losses of 1e-7, of which a million vary by 1e-5 in all
    found = engine("10", "1e-7", 10**6, way).epsilon(real("1e-12"), 8)
    other = contours.epsilon([(pair("10", "1e-7", way), 10**6)], real("1e-12"), 8)
    assert found.digits >= 8
    assert meet(found, other)


def test_one_line_serves_far_in_the_tail(monkeypatch):
    lines = []
    monkeypatch.setattr(
        RareProfile,
        "inverted",
        lambda self, *args, made=RareProfile.inverted: lines.append(args) or made(self, *args),
    )
    found = engine("1.592", "1.752e-6", 39, "remove").delta(real("0.0174"), 12)
    assert found.digits >= 12
    # the first may begin with a delta that floats do not tell
    assert len(lines) <= 3


def test_floats_know_by_how_much_they_are_rounded():
    row = FloatRow(1.0, 1e-7, 10**6)
    ask = Question((row,), largest_loss([row]) + 7.056e-4, False)
    with np.errstate(all="ignore"):
        plan = cheapest(ask, -62.0)
        rounded = Estimate(ask, plan)
    sharp = engine("1", "1e-7", 10**6, "remove").delta(real("7.056e-4"), 4)
    assert rounded.rounding > 1e-14
    assert abs(rounded.delta(ask.gap) - float(sharp.lower)) < 100 * rounded.rounding


def test_of_many_steps_one_window_is_bounded_as_far_left_as_orders_are_steep(monkeypatch):
    """Cells that were wide there left five lines, each finer, with the same bound."""
    lines, inverted = [], RareProfile.inverted
    monkeypatch.setattr(RareProfile, "inverted", lambda *a: lines.append(a) or inverted(*a))
    mechanism = "poisson(gaussian(0.46), 3.26e-08)^123440174"
    assert dpexact.delta(mechanism, "0.0551", 15, "remove").digits >= 15
    assert len(lines) <= 2


@pytest.mark.parametrize(
    ("sigma", "q", "count", "delta", "lines"),
    [
        ("1", "1e-5", 10, "1e-12", 1),  # small losses apart
        ("1", "1e-5", 100, "1e-8", 1),  # and not
        # the picture of a step errs; the line planned by it shows where to look
        ("1.5", "1e-7", 10, "1e-8", 2),
    ],
)
def test_one_plan_a_line_finds_epsilon(monkeypatch, sigma, q, count, delta, lines):
    made, drawn = [], []
    planning, inverted = "dpexact.accounting.engines.rare.planning.planned", RareProfile.inverted
    monkeypatch.setattr(planning, lambda *a: made.append(a) or planned(*a))
    monkeypatch.setattr(RareProfile, "inverted", lambda *a: drawn.append(a) or inverted(*a))
    monkeypatch.setattr(RareProfile, "estimate", lambda *_: pytest.fail("floats of a line"))
    assert engine(sigma, q, count, "remove").epsilon(real(delta), 8).digits >= 8
    assert len(made) == len(drawn) == lines


def test_deltas_of_which_floats_tell_nothing():
    """They grew with each finer line of floats, of which the last took seconds."""
    found = engine("1.375", "7.657e-07", 181791, "remove").delta(real("0.226"), 4)
    assert found.digits >= 4
    assert found.upper < 1e-67
