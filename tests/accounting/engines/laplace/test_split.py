"""Sum and contour together against the finite sum, which shares nothing but one loss; routes."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact import balls, parse
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.laplace.product import LaplaceProduct
from dpexact.accounting.engines.laplace.split import (
    LaplaceSplit,
    between_responses,
    few_inside,
    laplace_profile,
)
from dpexact.accounting.engines.laplace.sums import LaplaceParts, SumPlan, finite_sum
from dpexact.accounting.engines.lattice_law import MixedProfile
from dpexact.accounting.engines.lattice_product import LatticeComposition
from dpexact.accounting.pairs.lattice import commensurate
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.reals import rational

NONE = InfiniteLoss()


def parts_of(*parts):
    return LaplaceParts(tuple((real(rate), count) for rate, count in parts))


def split_of(parts, infinite):
    masses = [(Response(rational(0), mass), count) for mass, count in infinite.masses]
    return LaplaceSplit(LaplaceProduct(parts, infinite), parts, masses)


@settings(max_examples=scaled(30))
@given(
    rates=st.lists(
        st.fractions(Fraction(1, 200), Fraction(1, 2), max_denominator=200), min_size=1, max_size=2
    ),
    count=st.integers(5, 25),
    share=st.fractions(0, Fraction(9, 10), max_denominator=30),
)
def test_both_sums_overlap(rates, count, share):
    parts = LaplaceParts(tuple((rational(rate), count) for rate in rates))
    epsilon = rational(sum(rates) * count * share)
    truth = LaplaceProduct(parts, InfiniteLoss()).delta(epsilon, 30)
    found = split_of(parts, NONE).delta(epsilon, 12)
    assert found.overlaps(truth)
    assert found.digits >= 12 or found.reason


@pytest.mark.parametrize("parts", [(("1/5", 8),), (("1/3", 4), ("1/2", 3))])
@pytest.mark.parametrize("epsilon", ["0", "1/7", "1", "3/2"])
def test_all_numbers_of_losses_inside_sum_to_delta(parts, epsilon):
    parts = parts_of(*parts)
    with balls.precision(150):
        e = balls.ball(real(epsilon))
        whole = finite_sum(parts, e, SumPlan(parts.count - 1, 300))
        assert few_inside(parts, e, parts.count + 1)[0].overlaps(whole)
        fewer = [few_inside(parts, e, least)[0] for least in range(1, parts.count + 2)]
    assert all(a < b for a, b in pairwise(fewer))


@settings(max_examples=scaled(40), deadline=None)
@given(
    rates=st.lists(
        st.fractions(Fraction(1, 900), Fraction(1, 3), max_denominator=900), min_size=1, max_size=2
    ),
    count=st.integers(30, 200),
    least=st.integers(1, 9),
    share=st.fractions(-1, Fraction(11, 10), max_denominator=30),
    level=st.floats(-60, 5),
)
def test_what_is_cut_from_the_sum_is_bounded(rates, count, least, share, level):
    count = count if len(rates) == 1 else count // 5
    parts = LaplaceParts(tuple((rational(rate), count) for rate in rates))
    with balls.precision(120):
        e = balls.ball(sum(rates) * count * share)
        whole, cut = (few_inside(parts, e, least, x)[0] for x in (-float("inf"), level))
        assert cut.overlaps(whole)
        assert cut.rad() < 3 * balls.ball(level).exp() + whole.rad()


def test_a_short_window_misses_what_its_bound_has():
    parts = parts_of(("1/50", 400))
    with balls.precision(100):
        whole, cut = (few_inside(parts, balls.ball(2), 4, x)[0] for x in (-float("inf"), 20.0))
        assert cut.overlaps(whole)
        assert not cut.mid().overlaps(whole)


@pytest.mark.parametrize(("scale", "epsilon"), [(10**4, "0.03"), (10**5, "0.01"), (10**6, "0.003")])
def test_very_many_steps_of_little_loss(scale, epsilon):
    """Between two responses, which share nothing with the sum; and adding is as removing."""
    parts = parts_of((f"1/{scale}", scale))
    found = split_of(parts, NONE).delta(real(epsilon), 12)
    assert found.digits >= 12
    assert found.overlaps(between_responses(*parts.parts[0], NONE).delta(real(epsilon), 12))


def test_one_loss_inside_by_hand():
    """One step, no loss inside: half an atom at ``lambda``, its mirror image below epsilon."""
    with balls.precision(100):
        e, rate = balls.ball(Fraction(1, 3)), balls.ball(2)
        assert few_inside(parts_of(("2", 1)), e, 1)[0].overlaps((1 - (e - rate).exp()) / 2)


@pytest.mark.parametrize(
    ("parts", "epsilon", "digits"),
    [((("1/100", 600),), "2", 20), ((("1/1000", 2000),), "3/10", 15)],
)
def test_long_sums_agree_to_many_digits(parts, epsilon, digits):
    parts = parts_of(*parts)
    found = split_of(parts, NONE).delta(real(epsilon), digits)
    assert found.digits >= digits
    assert found.overlaps(LaplaceProduct(parts, InfiniteLoss()).delta(real(epsilon), digits))


def test_infinite_loss_adds_up():
    parts, lost = parts_of(("1/1000", 2000)), InfiniteLoss(((real("1/100"), 1),))
    plain, found = (split_of(parts, i).delta(real("3/10"), 15) for i in (NONE, lost))
    assert found.overlaps(
        Enclosure(*(Fraction(1, 100) + x * Fraction(99, 100) for x in (plain.lower, plain.upper)))
    )


@settings(max_examples=scaled(20), deadline=None)
@given(
    text=st.sampled_from(["pure_dp(1/10)^3", "approx_dp(1/5, 1/1000)^2", "discrete_gaussian(1)"]),
    rate=st.fractions(Fraction(1, 90), Fraction(1, 9), max_denominator=90),
    count=st.integers(8, 20),
    share=st.fractions(0, Fraction(1, 2), max_denominator=30),
    lost=st.sampled_from([Fraction(0), Fraction(1, 50)]),
)
def test_beside_a_lattice(text, rate, count, share, lost):
    """Against the finite sum averaged over the losses of the lattice."""
    composition = Composition.of(parse(text).steps().items())
    infinite = InfiniteLoss(((rational(lost), 1),)) if lost else NONE
    law = LatticeComposition(*commensurate(composition.on_lattices()), infinite)
    parts = LaplaceParts(((rational(rate), count),))
    mixed = MixedProfile(law, LaplaceProduct(parts, NONE).finite_ball, None, infinite, "noise")
    beside = [*replace(composition, masses=[]).everything("remove")]
    beside += [(Response(rational(0), rational(lost)), 1)] if lost else []
    split = LaplaceSplit(mixed, parts, beside, law)
    epsilon = rational(rate * count * share)
    found, truth = split.delta(epsilon, 10), mixed.delta(epsilon, 20)
    assert found.overlaps(truth)
    assert found.digits >= 10 or found.reason
    target = rational(Fraction(truth.lower))
    found = split.epsilon(target, 8)
    assert mixed.delta(rational(found.lower), 12).upper >= target.fraction
    assert mixed.delta(rational(found.upper), 12).lower <= target.fraction


def test_losses_of_a_response_add_to_those_of_noise():
    """``p D(epsilon - l) + (1 - p) D(epsilon + l)`` for one response."""
    summed = LaplaceProduct(parts_of(("1/20", 200)), NONE)
    step = Composition.of(parse("pure_dp(1/10)").steps().items())
    law = LatticeComposition(*commensurate(step.on_lattices()), NONE)
    found = LaplaceSplit(summed, summed.parts, step.everything("remove"), law).delta(real(2), 10)
    with balls.precision(100):
        rise = balls.ball(Fraction(1, 10)).exp()
        above, below = (
            balls.ball(x.lower).union(balls.ball(x.upper))
            for x in (summed.delta(real(e), 15) for e in ("19/10", "21/10"))
        )
        truth = balls.to_enclosure((rise * above + below) / (1 + rise))
    assert found.digits >= 10
    assert found.overlaps(truth)


def test_the_largest_loss_of_a_split_is_exact():
    parts = parts_of(("1/10", 1000))
    profile = LaplaceSplit(LaplaceProduct(parts, NONE), parts, [])
    assert profile.delta(real(100), 15) == Enclosure.exact(Fraction(0))
    assert profile.epsilon(real(0), 15) == Enclosure.exact(Fraction(100))


def test_near_the_largest_loss_the_sum_is_short():
    found = long(("1/10", 1000)).delta(real("99"), 15)
    assert found.digits >= 15


@pytest.mark.slow
def test_many_points_share_a_line():
    """Of a product whose line sees atoms: each as if it were asked alone."""
    profile = long(("1/71", 500))
    points = [rational(Fraction(k, 10)) for k in range(2, 30)]
    deltas = profile.deltas(points, 8)
    for at, found in zip(points, deltas, strict=True):
        assert found.digits >= 8
        assert found.overlaps(profile.routes[-1].delta(at, 12))
    targets = [rational(Fraction(found.lower)) for found in deltas]
    for at, found in zip(points, profile.epsilons(targets, 8), strict=True):
        assert found.digits >= 8
        assert abs(found.lower - at.fraction) < Fraction(1, 10**6)


# --- which method answers ------------------------------------------------------------------------


def long(*parts):
    return laplace_profile(parts_of(*parts), NONE)


@settings(max_examples=scaled(30))
@given(
    st.integers(30, 120),
    st.fractions(min_value=1, max_value=3, max_denominator=10),
    st.fractions(min_value=0, max_value=Fraction(9, 10), max_denominator=10),
)
def test_sum_and_contour_overlap(count, rate, share):
    """Two routes that share nothing but the law of one loss."""
    parts, epsilon = LaplaceParts(((rational(rate), count),)), rational(rate * count * share)
    summed = LaplaceProduct(parts, NONE).delta(epsilon, 20)
    assert ContourProfile(parts.noises(), NONE, 10**6).delta(epsilon, 8).overlaps(summed)


@settings(max_examples=scaled(30))
@given(
    rate=st.fractions(Fraction(1, 10_000), 5, max_denominator=10_000),
    count=st.integers(1, 60),
    share=st.fractions(0, Fraction(19, 20), max_denominator=30),
)
def test_the_truth_lies_between_the_responses(rate, count, share):
    parts, epsilon = LaplaceParts(((rational(rate), count),)), rational(rate * count * share)
    truth = LaplaceProduct(parts, NONE).delta(epsilon, 20)
    found = between_responses(rational(rate), count, NONE).delta(epsilon, 20)
    assert found.overlaps(truth)
    assert found.digits < 20
    assert found.reason == "the bounds below and above differ"


@pytest.mark.slow
def test_many_tiny_steps():
    found = long(("1/10^9", 10**9)).delta(real("1/10^5"), 8)
    assert found.digits >= 8
    assert found.method == "between two responses"
    # the loss is nearly normal: mean s^2/2, deviation s
    with mpmath.workdps(20):
        s = mpmath.sqrt(10**9) / 10**9
        e = mpmath.mpf("1e-5")
        about = mpmath.ncdf(s / 2 - e / s) - mpmath.exp(e) * mpmath.ncdf(-s / 2 - e / s)
    assert float(found.lower) == pytest.approx(float(about), rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("parts", "delta", "digits", "method"),
    [
        ([("1/10", 1000)], "1/10^6", 15, "sum and contour: Laplace"),
        ([("1/10", 1000)], "1/10^50", 15, "sum and contour: Laplace"),
        ([("1/20", 500), ("1/7", 400)], "1/10^6", 15, "sum and contour: Laplace"),
        ([("1/100000", 10_000)], "1/10^6", 4, "between two responses"),
        ([("1/1000", 1000)], "1/10^6", 15, "sum and contour: Laplace"),
        ([("1/10", 1000)], "1/10^300", 15, "closed form: Laplace"),
    ],
)
def test_epsilon_is_certified_by_delta(parts, delta, digits, method):
    """Delta beside both ends of epsilon, by another method where one is quick."""
    profile = long(*parts)
    found = profile.epsilon(real(delta), digits)
    assert found.method == method
    assert found.digits >= digits
    other = profile.routes[-1] if len(parts) == 1 else profile
    width = Fraction(found.upper) / 10**digits
    assert other.delta(rational(found.lower - width), digits).lower >= real(delta).fraction
    assert other.delta(rational(Fraction(found.upper) + width), digits).upper <= (
        real(delta).fraction
    )


def test_ten_thousand_steps():
    found = long(("1/10", 10_000)).delta(real(80), 15)
    assert found.digits >= 15
    # a normal loss of the same mean and variance is within a few per cent here
    mean, spread = mpmath.mpf(0), mpmath.mpf(0)
    with mpmath.workdps(20):
        rate = mpmath.mpf(1) / 10
        density = mpmath.exp(-rate / 2) / 4
        moments = [
            rate**n * (1 + (-1) ** n * mpmath.exp(-rate)) / 2
            + mpmath.quad(lambda z, n=n: density * mpmath.exp(z / 2) * z**n, [-rate, rate])
            for n in (1, 2)
        ]
        mean, spread = 10_000 * moments[0], mpmath.sqrt(10_000 * (moments[1] - moments[0] ** 2))
        about = mpmath.quad(
            lambda z: mpmath.npdf(z, mean, spread) * -mpmath.expm1(80 - z), [80, 90, 120]
        )
    assert 0.9 < float(found.lower) / float(about) < 1.1


def test_the_largest_loss_is_exact():
    profile = long(("1/10", 1000))
    assert profile.epsilon(real(0), 15) == Enclosure.exact(Fraction(100))
    assert profile.delta(real(100), 15) == Enclosure.exact(Fraction(0))
    assert profile.delta(real("1001/10"), 15) == Enclosure.exact(Fraction(0))
