"""The bound of adding against the plain contour, which shares no chord with it."""

import math
from fractions import Fraction

import pytest
from flint import arb
from mpmath import mp

import dpexact
from dpexact import balls, reals
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.rare.added import added_bound, short_moment
from dpexact.accounting.engines.rare.law import SampledLaw
from dpexact.accounting.engines.rare.profile import RareProfile
from dpexact.accounting.engines.rare.rows import Row
from dpexact.accounting.pairs.mixture import one_shift
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real

HALF = real("1/2")
CASES = [
    ("1", "1/10", 100, "2"),
    ("1", "1/10", 100, "4"),
    ("1/2", "1/50", 30, "1/5"),
    ("3", "1/1000", 1000, "3/50"),
    ("10", "1/2", 2, "1/10"),
    ("3/2", "1/100", 20_000, "5"),
]


@pytest.mark.parametrize(("sigma", "q", "count", "epsilon"), CASES)
def test_adding_is_below_its_bound_and_not_far_below(sigma, q, count, epsilon):
    pair = one_shift(real(sigma), reals.rational(0), real(q))
    true = ContourProfile([(pair, count)], InfiniteLoss()).delta(real(epsilon), 3)
    level = 20 * true.lower + Fraction(1, 10**12)
    bound = added_bound([Row(real(sigma), real(q), count)], real(epsilon), math.log(level))
    assert bound.lower == 0
    assert true.upper <= bound.upper <= level


@pytest.mark.parametrize(("sigma", "q", "order"), [("1", "1/1000", 60), ("3", "1/10", 2.5)])
def test_two_terms_are_above_a_moment_and_next_to_it(sigma, q, order):
    noise, rate = mp.mpf(1) / mp.mpf(sigma), mp.mpf(Fraction(q).numerator) / Fraction(q).denominator

    def value(x):
        ratio = rate / (1 - rate) * mp.exp(x * noise - noise**2 / 2)
        return mp.npdf(x) * (1 + ratio) ** -order

    with balls.precision(64):
        bound = short_moment(SampledLaw(real(sigma), real(q)), arb(order))
        true = mp.quad(value, range(-12, 13))
        assert true < float(bound.mid()) < true + 0.1 * (1 - true)


def test_two_terms_are_of_groups_too_but_not_of_a_record_replaced():
    noise, odds = mp.mpf(1), mp.mpf("0.01") / mp.mpf("0.99")

    def value(x):
        weights = [math.comb(3, j) * odds**j for j in range(4)]
        ratio = sum(w * mp.exp(j * x * noise - (j * noise) ** 2 / 2) for j, w in enumerate(weights))
        return mp.npdf(x) * ratio**-5

    with balls.precision(64):
        bound = short_moment(SampledLaw(real(1), real("1/100"), 3), arb(5))
        true = mp.quad(value, range(-12, 13))
        assert true < float(bound.mid()) < true + 0.1 * (1 - true)
        with pytest.raises(ValueError, match="not of one replaced"):
            short_moment(SampledLaw(real(1), real("1/100"), 1, replaced=True), arb(5))


def test_two_terms_show_what_they_can(monkeypatch):
    """Next to the middle of the losses no cells are made."""
    monkeypatch.setattr("dpexact.accounting.engines.rare.added.Cells", None)
    bound = added_bound([Row(real(3), real("1/10000"), 10_000)], real("1/100"), math.log(1e-3))
    assert 0 < bound.upper <= Fraction(1, 1000)


def test_no_loss_exceeds_that_of_all_steps_without_the_record():
    least = reals.rational(Fraction(1, 10**300))
    for epsilon, beyond in (("0.0201006", False), ("0.0201007", True)):
        assert (
            RareProfile((Row(real(1), real("1/100"), 2),), True).is_below(real(epsilon), least)
            is beyond
        )


@pytest.mark.parametrize(("sigma", "q", "count", "epsilon"), CASES)
def test_what_is_shown_to_be_below_a_level_is(sigma, q, count, epsilon):
    pair = one_shift(real(sigma), reals.rational(0), real(q))
    contour = ContourProfile([(pair, count)], InfiniteLoss())
    true = contour.delta(real(epsilon), 3)
    for profile in (contour, RareProfile((Row(real(sigma), real(q), count),), True)):
        for level, shown in ((true.lower, False), (30 * true.lower + Fraction(1, 10**12), True)):
            assert profile.is_below(real(epsilon), reals.rational(level)) is shown


def test_floats_do_not_show_what_is_below(monkeypatch):
    contour = ContourProfile([(one_shift(real(1), reals.rational(0), HALF), 9)], InfiniteLoss())
    least = reals.rational(contour.delta(real(1), 3).lower)
    monkeypatch.setattr(Product, "chernoff", lambda *_: (1.0, -math.inf))
    assert not contour.is_below(real(1), least)


@pytest.mark.parametrize("sigma", ["1e-200", "1e200", "1e-3"])
@pytest.mark.parametrize("q", ["1e-300", "1/2"])
def test_where_floats_do_not_reach_nothing_is_bounded(sigma, q):
    bound = added_bound([Row(real(sigma), real(q), 10)], real("1e-310"), 0.0)
    assert 0 <= bound.lower <= bound.upper <= 1


@pytest.mark.parametrize(
    ("sigma", "q", "count", "target"),
    [("2", "1e-5", 100, "1e-8"), ("3", "1e-4", 1000, "1e-12"), ("1", "1e-7", 10**6, "1e-5")],
)
def test_the_line_of_removing_encloses_adding(sigma, q, count, target):
    """The same target, which is nearer to delta of adding than Chernoff's bound tells."""
    lines, rows = {}, (Row(real(sigma), real(q), count),)
    at = RareProfile(rows, False, lines=lines).epsilon(real(target), 8)
    epsilon = reals.rational(Fraction(at.lower))
    true = RareProfile(rows, True).delta(epsilon, 10)
    with balls.precision(lines[False].plan.bits):
        found = lines[False].reversed(balls.ball(epsilon))
        assert found.overlaps(balls.ball(true.lower).union(balls.ball(true.upper)))
        assert found < balls.ball(real(target))


def test_adding_is_settled_by_the_line_of_removing(monkeypatch):
    """Of one plan, where adding has nearly as large a delta."""
    lines, made = [], RareProfile.inverted
    monkeypatch.setattr(RareProfile, "inverted", lambda *a: lines.append(a) or made(*a))
    monkeypatch.setattr(
        "dpexact.accounting.engines.rare.profile.added_bound", lambda *_: pytest.fail("a bound")
    )
    for text, target in (
        ("poisson(gaussian(3), 1e-5)^10000", "1e-8"),
        ("poisson(gaussian(1.5), 1e-7)^10000", "1e-12"),
        ("poisson(gaussian(2), 1e-5)^100", "1e-8"),
    ):
        lines.clear()
        dpexact.epsilon(text, target, digits=8)
        assert [self.add for self, *_ in lines] == [False]
