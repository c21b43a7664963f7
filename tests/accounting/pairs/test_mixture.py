"""Two mixtures of Gaussians: tails, moments and strips, against quadrature."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mixtures import moment, profile

from dpexact import balls
from dpexact.accounting.engines.closed_form import SinglePair
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.pairs.mixture import GaussianMixtures, add, one_shift
from dpexact.accounting.pairs.shifts import STILL, Shifts, log_waves, log_waves_above
from dpexact.accounting.pairs.sums.mixture_rules import Rule
from dpexact.accounting.pairs.sums.mixture_sums import (
    Integrand,
    oblique_moments,
    positive_sum,
    real_moment,
)
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.reals import rational


def law(*entries):
    return Shifts(tuple((real(rate), real(weight)) for rate, weight in entries))


THREE = law((0, "1/2"), (1, "1/4"), ("5/2", "1/4"))
FAR = law((1, "1/3"), (2, "2/3"))
PAIRS = [
    GaussianMixtures(THREE, STILL),
    GaussianMixtures(STILL, THREE),
    GaussianMixtures(THREE, FAR),
    GaussianMixtures(FAR, law((0, "9/10"), ("1/2", "1/10"))),
    GaussianMixtures(FAR, STILL),
]


def floats(pair):
    return [[(float(r.fraction), float(w.fraction)) for r, w in side.law] for side in pair.shifts]


@pytest.mark.parametrize("pair", PAIRS)
def test_one_run_is_what_quadrature_gives(pair):
    for epsilon in ("1/10", "1", "3"):
        found = SinglePair(pair, InfiniteLoss(), InfiniteLoss()).delta(real(epsilon), 12)
        expected = profile(*floats(pair), float(Fraction(epsilon)))
        assert abs(float(found.lower) - expected) < 1e-9
        assert found.digits >= 12


@pytest.mark.parametrize("pair", PAIRS)
def test_moments_are_what_quadrature_gives(pair):
    with balls.precision(200):
        for c in (-0.5, 0.3, 2.0, 7.5):
            found = pair.moment(c, 60.0)
            expected = moment(*floats(pair), c)
            assert abs(float(found.mid()) / expected.real - 1) < 1e-9
        line = pair.moments(1.5, 0.25, 40, 60.0)
        for n in (0, 7, 40):
            expected = moment(*floats(pair), 1.5 + 0.25j * n)
            whole = abs(moment(*floats(pair), 1.5))
            assert abs(complex(line[n].mid()) - expected) < 1e-9 * whole
            assert float(line[n].rad()) < 1e-20 * whole
            assert pair.decayed(1.5, 0.25 * n, 30.0) >= abs(line[n]).lower()


def test_two_routes_agree_on_single_runs():
    """The contour needs some digits only: one run decays slowly."""
    for pair in PAIRS[:4]:
        single = SinglePair(pair, InfiniteLoss(), InfiniteLoss()).delta(rational(1), 20)
        line = ContourProfile([(pair, 1)], InfiniteLoss()).delta(rational(1), 5)
        assert single.overlaps(line)
        assert line.digits >= 3


def test_extremes_of_the_loss():
    with balls.precision(100):
        assert PAIRS[0].largest_loss() is None
        assert PAIRS[0].lowest().overlaps(arb(0.5).log())
        assert PAIRS[1].largest_loss().overlaps(arb(2).log())
        assert PAIRS[1].lowest() is None
        assert PAIRS[2].lowest() is PAIRS[2].largest_loss() is None
        tails, _ = PAIRS[0].tails(100)
        for ratio, expected in (("0.4999", 1), ("-1", 1)):
            assert all(mass == expected for mass in tails(arb(ratio)))
        tails, _ = PAIRS[1].tails(100)
        assert all(mass == 0 for mass in tails(arb("2.0001")))
        p, q = tails(arb("2", "0.1"))
        assert p.contains(arb(0))
        assert q.contains(arb(0))


@pytest.mark.parametrize("pair", PAIRS)
def test_they_share_at_least_their_overlap(pair):
    with balls.precision(100):
        assert pair.overlap() <= 1 - profile(*floats(pair), 0.0) + 1e-9
        assert pair.overlap().overlaps(pair.reverse.overlap())


@pytest.mark.parametrize("order", [-1.0, -1.5, -4.57])
def test_orders_that_are_those_of_the_reverse_are_refused(order):
    """A ball of few digits did not hold the moment: where |A| is small no bound knows of it."""
    for pair in PAIRS:
        with balls.precision(100), pytest.raises(ValueError, match="ask the reverse"):
            Integrand(*pair.shifts, order)


def test_the_largest_shift_bounds_the_strip():
    with balls.precision(100):
        f = Integrand(THREE, law((0, "1/2"), ("1/10", "1/2")), 1.0)
        rule = Rule(0.5, 1.3, 0.1, -100, 100, 200, 50.0)  # pi / 2.5 = 1.2566...
        with pytest.raises(ValueError, match="not admissible"):
            oblique_moments(f, rule, arb(1), 0.1, 3)
        with pytest.raises(ValueError, match="not admissible"):
            positive_sum(f, Rule(0.5, 0.8, 0.1, -100, 100, 200, 50.0), 1.0)


def test_arguments_may_fall_beyond_a_quarter_turn():
    """Neither below the shift nor within a quarter turn of the spread: refused."""
    with balls.precision(100):
        f = Integrand(THREE, STILL, 1.0)
        with pytest.raises(ValueError, match="not admissible"):
            positive_sum(f, Rule(0.2, 0.5, 0.05, -300, 300, 600, 50.0), 1.0)
        positive_sum(f, Rule(0.2, 0.2, 0.01, -1000, 2000, 600, 50.0), 1.0)


RATES = st.fractions(Fraction(1, 10), 3, max_denominator=50)


@given(
    st.lists(RATES, min_size=2, max_size=5, unique=True), st.floats(-6, 6), st.floats(0.01, 0.95)
)
@settings(max_examples=60, deadline=None)
def test_a_denominator_shrinks_no_further(rates, x, share):
    side = Shifts(tuple((rational(r), rational(Fraction(1, len(rates)))) for r in rates))
    with balls.precision(100):
        f = Integrand(STILL, side, 1.0)
        height = arb(share) * f.strip
        line = side.waves().turned(-height)(arb(-x)).real.exp()
        axis = side.waves().at(arb(-x))
        assert line <= axis * (1 + arb(2) ** -80)
        assert line >= f.down.cosine(height) * axis * (1 - arb(2) ** -80)


@given(
    st.lists(RATES, min_size=1, max_size=4, unique=True),
    st.floats(0.01, 0.95),
    st.floats(0.1, 3000),
    st.floats(-6, 6),
    st.floats(0, 1),
)
@settings(max_examples=60, deadline=None)
def test_a_record_added_is_at_most_the_weight_of_no_shift(rates, moved, c, x, share):
    chance = rational(Fraction(moved) / len(rates))
    side = Shifts(
        ((rational(0), 1 - rational(Fraction(moved))), *((rational(r), chance) for r in rates))
    )
    with balls.precision(200):
        f = Integrand(STILL, side, c)
        turn = arb.pi() / (2 * arb(max(rates).numerator) / max(rates).denominator)
        assert not f.most(turn * arb("1.001")).is_finite()
        height = arb(share) * turn * (1 - arb(2) ** -50)
        log = side.waves().turned(-height)(arb(-x)).real
        size = (-f.power * log - arb(x) * x / 2).exp()
        slack = 1 + arb(2) ** -30
        assert size <= f.turned(arb(x), height) * slack
        assert f.turned(arb(x), height) <= f.most(height) * (-arb(x) * x / 2).exp() * slack


@pytest.mark.parametrize(("c", "shift"), [(300, 0.3), (300, 1.4), (30_000, 0.3)])
def test_nodes_beyond_the_ends_of_a_line_of_a_record_added(c, shift):
    with balls.precision(100):
        f, spacing = Integrand(STILL, law((0, "99/100"), (1, "1/100")), float(c)), arb("1/4")
        for first, last in ((-20, 16), (-4, 20)):
            rule = Rule(shift, 1.5, 0.25, first, last, 99, 50.0)
            left_out = [*range(first - 200, first), *range(last + 1, last + 200)]
            waves = f.down.turned(-arb(rule.shift))
            sizes = (
                (arb(rule.shift) ** 2 / 2 - (j * spacing) ** 2 / 2 - c * waves(-j * spacing).real)
                for j in left_out
            )
            total = sum((size.exp() for size in sizes), arb(0))
            assert total <= f.outside(rule) <= 100 * total


@pytest.mark.parametrize("power", [56, 60, 76])
def test_orders_of_which_floats_tell_no_two_apart_have_a_rule(power):
    """What an integrand is at most is no less than its integral, whatever is rounded."""
    (jet,) = add(real("0.242"), real("0.3")).cumulants([2.0**power])
    assert jet.slope == pytest.approx(-math.log(0.7))


@pytest.mark.parametrize("c", [40.0, 3000.0, 30000.0])
def test_high_orders_of_a_rare_record_added(c):
    """The cosine to that power was no bound on what is left out: lines of 10^5 nodes were asked."""
    pair = GaussianMixtures(STILL, law((0, "99/100"), ("3/2", "1/100")))
    with balls.precision(200):
        whole = moment(*floats(pair), c).real
        assert pair.line_cost(c, 30.0)[0] < 200
        line = pair.moments(c, c / 4, 12, 60.0)
        for n in (0, 5, 12):
            expected = moment(*floats(pair), c + 0.25j * c * n)
            assert abs(complex(line[n].mid()) - expected) < 1e-9 * whole
            bound = pair.decayed(c, c / 4 * n, 20.0)
            assert abs(line[n]).lower() <= bound < 1.03 * abs(line[n])


def test_two_shifts_attain_the_cosine():
    """Where both shifts weigh the same, the modulus is the cosine of half the spread."""
    side = law((0, "1/2"), (2, "1/2"))
    with balls.precision(100):
        f = Integrand(STILL, side, 1.0)
        height = arb("0.7")
        line = side.waves().turned(-height)(arb(1)).real.exp()
        assert line.overlaps(f.down.cosine(height) * side.waves().at(arb(1)))


def test_one_shift_is_the_special_case():
    one = one_shift(rational(2), real("1/3"), real("1/5"))
    other = GaussianMixtures(*one.shifts)
    with balls.precision(150):
        assert one.moment(2.5, 60.0).overlaps(other.moment(2.5, 60.0))
        pairs = zip(one.moments(1.0, 0.5, 9, 60.0), other.moments(1.0, 0.5, 9, 60.0), strict=True)
        assert all(isinstance(a, acb) and a.overlaps(b) for a, b in pairs)
    assert one.reverse.shifts == other.reverse.shifts


FAINT = law((0, "999999999/1000000000"), (1, "1/1000000000"))


@pytest.mark.parametrize("pair", [GaussianMixtures(FAINT, STILL), GaussianMixtures(STILL, FAINT)])
@pytest.mark.parametrize("c", [0.01, 1.0, 5.0])
def test_floats_hold_moments_next_to_one(pair, c):
    """Of 10^18 steps ``log M`` counts, not ``M``."""
    with balls.precision(300):
        truth = float(pair.moment(c, 150.0).log().mid())
        jet = pair.cumulant(c)
        assert jet.value == pytest.approx(truth, rel=1e-5)
        up, down = (float(pair.moment(c + e, 150.0).log().mid()) for e in (1e-4, -1e-4))
        assert jet.slope == pytest.approx((up - down) / 2e-4, rel=1e-3)
        falls = pair.decay_estimate(c)(6.0)
        # the angle at the height y is about q y, so the least of y^2/2 - u q y is -18e-18
        assert -18e-18 < falls - truth < -16e-18
        assert float(pair.decayed(c, 6.0, 60.0).log().mid()) <= falls + 1e-20


@settings(max_examples=200)
@given(
    rates=st.lists(st.floats(0.01, 3), min_size=1, max_size=3, unique=True),
    weight=st.floats(1e-9, 0.99),
    x=st.floats(-9, 9),
    share=st.floats(0.001, 0.9),
)
def test_floats_follow_the_waves(rates, weight, x, share):
    side = law(
        (0, Fraction(1) - Fraction(weight)),
        *((Fraction(r), Fraction(weight) / len(rates)) for r in rates),
    )
    height = share * side.outline.strip
    with balls.precision(100):
        truth = side.waves().turned(arb(height))(arb(x))
        at = np.array([x])
        (found,), ((above,),) = (
            log_waves(side.outline, at),
            log_waves_above(side.outline, at, np.array([height])),
        )
        assert found == pytest.approx(
            float(side.waves().at(arb(x)).log().mid()), rel=1e-7, abs=1e-17
        )
        assert above.real == pytest.approx(float(truth.real.mid()), rel=1e-6, abs=1e-12)
        assert above.imag == pytest.approx(float(truth.imag.mid()), rel=1e-6, abs=1e-14)


@pytest.mark.parametrize("spacing", [1.0, 1.25, 1.5])
def test_a_coarse_rule_of_a_record_added_is_off_by_no_more_than_it_says(spacing):
    """By the weight of no shift, where the cosine to a high power says less."""
    with balls.precision(100):
        f = Integrand(STILL, law((0, "99/100"), (1, "1/100")), 300.0)
        fine, coarse = (
            real_moment(f, Rule(0.0, 1.5, t, -round(14 / t), round(14 / t), 99, 50.0))
            for t in (0.125, spacing)
        )
        assert coarse.rad() < 0.2 * coarse.mid()
        assert coarse.contains(fine.mid())
