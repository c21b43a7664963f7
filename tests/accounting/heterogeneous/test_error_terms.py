"""Each error term of the halves and of the grid where little else hides its absence."""

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.heterogeneous import grid, roots
from dpexact.accounting.heterogeneous.commensurate import CountLaw
from dpexact.accounting.heterogeneous.grid import grid_laws
from dpexact.accounting.heterogeneous.meet_in_the_middle import Meeting
from dpexact.accounting.heterogeneous.refinement import RefinedGrid
from dpexact.accounting.heterogeneous.roots import epsilon_on_grid
from dpexact.accounting.heterogeneous.tangents import epsilon_by_tangents
from dpexact.accounting.profile import InfiniteLoss
from dpexact.reals import rational, real

DIGITS = 40


def profile(rates, epsilon):
    """All subsets, in mpmath."""
    total = mpf(0)
    for signs in product((-1, 1), repeat=len(rates)):
        loss = mp.fsum(s * r for s, r in zip(signs, rates, strict=True))
        mass = mp.fprod(1 / (1 + mp.exp(-s * r)) for s, r in zip(signs, rates, strict=True))
        total += mass * max(mpf(0), -mp.expm1(epsilon - loss))
    return total


def bracket(ball):
    return balls.to_enclosure(ball).to_mpmath(DIGITS)


# --- two halves -----------------------------------------------------------------------------------

#: In units of 1/8 each is 0.49 above an integer, or 0.49 below one.
LEANING = {
    "up": [Fraction(n, 800) for n in (649, 749, 849, 949)],
    "down": [Fraction(n, 800) for n in (651, 751, 851, 951)],
}


@pytest.mark.parametrize("side", LEANING)
@pytest.mark.parametrize("repeated", [False, True])
def test_keys_in_eighths(side, repeated, monkeypatch):
    """Every key is rounded the same way, and the threshold wherever epsilon puts it."""
    step = 1 << 34

    def coarse(x):
        return int((x.mid() / step + arb(0.5)).floor().fmpz()) * step

    monkeypatch.setattr("dpexact.accounting.heterogeneous.meet_in_the_middle._nearest", coarse)
    chosen = [LEANING[side][0]] * 4 if repeated else LEANING[side]
    parameters = [(rational(chosen[0]), 4)] if repeated else [(rational(x), 1) for x in chosen]
    meeting = Meeting.of(parameters)
    with mp.workdps(DIGITS):
        rates = [mpf(x.numerator) / x.denominator for x in chosen]
        for i in range(60):
            epsilon = sum(chosen) - Fraction(i * 7, 200)
            with balls.precision(40):
                found = meeting.divergence(balls.ball(epsilon))
            low, high = bracket(found)
            assert low <= profile(rates, mpf(epsilon.numerator) / epsilon.denominator) <= high


def test_coarse_masses():
    """Masses of twenty bits, all else fine; each half is short by less than is granted to it."""
    rates = [Fraction(k, 5) for k in (1, 2, 3, 4, 5, 6, 7)]
    meeting = Meeting.of([(rational(x), 1) for x in rates])
    with balls.precision(20):
        meeting._kept = {200: meeting._halves()}
    with mp.workdps(DIGITS):
        numbers = [mpf(x.numerator) / x.denominator for x in rates]
        for i in range(20):
            epsilon = Fraction(i, 7) + Fraction(1, 100)
            with balls.precision(200):
                low, high = bracket(meeting.divergence(balls.ball(epsilon)))
            assert low <= profile(numbers, mpf(epsilon.numerator) / epsilon.denominator) <= high


class Biased(Meeting):
    """Its tests are the best ones of a larger epsilon; it knows how much they miss."""

    def tangent(self, epsilon):
        p, q, doubt = super().tangent(epsilon)
        best = p - epsilon.exp() * q + doubt
        p, q, _ = super().tangent(epsilon + arb("0.5"))
        return p, q, (best - (p - epsilon.exp() * q)).upper()


def test_what_a_test_misses_keeps_the_upper_end_away():
    parameters = [(real(f"log({k})/3"), 1) for k in range(2, 10)]
    true = epsilon_by_tangents(Meeting.of(parameters), InfiniteLoss(), real("1/50"), 12)
    found = epsilon_by_tangents(Biased.of(parameters), InfiniteLoss(), real("1/50"), 6)
    assert true is not None
    assert found is None or found.overlaps(true)


# --- the grid -------------------------------------------------------------------------------------

RATES = [real(f"{'sqrt' if i % 2 else 'log'}({i + 1})/{10 + i}") for i in range(1, 13)]


@pytest.mark.parametrize(
    ("spacing", "tail"),
    [(Fraction(1, 64), 1e-30), (Fraction(1, 1024), 0.1), (Fraction(1, 512), 0.5)],
)
def test_a_grid_cut_hard(spacing, tail):
    """Also below zero, where the low end that was cut would count."""
    parameters = [(rate, 1) for rate in RATES]
    laws = grid_laws(parameters, spacing, tail)
    for epsilon in (-3, -2, -1, 0, 1):
        with balls.precision(128):
            low, high = bracket(Meeting.of(parameters).divergence(arb(epsilon)))
            assert laws.below(arb(epsilon)) <= real(high).fraction
            assert laws.above(arb(epsilon)) >= real(low).fraction


@pytest.mark.parametrize("gap", ["1/3", "0.4999", "2.0001"])
def test_the_split_keeps_both_masses(gap):
    with balls.precision(100), mp.workdps(DIGITS):
        low, high, share = grid.split_atom(balls.ball(real(gap)), arb(0.25))
        at, after = (mp.exp((gap_to(gap) - k) / 4) for k in (low, high))
        one, other = bracket(share)
        assert low <= gap_to(gap) <= high
        assert one * at + (1 - other) * after <= 1 + mpf(10) ** -25
        assert other * at + (1 - one) * after >= 1 - mpf(10) ** -25


def gap_to(gap):
    """In units of the spacing."""
    value = real(gap).fraction * 4
    return mpf(value.numerator) / value.denominator


def test_masses_below_the_least_float():
    """The largest loss of 2400 tosses has probability 1e-327, and 5e-324 in floats."""
    parameters = [(rational(1), 2400)]
    laws = grid_laws(parameters, Fraction(2), 0.0)
    assert laws.lower[-1] > 0
    epsilon = Fraction(2400) - Fraction(101, 100)
    with balls.precision(400):
        truth = balls.to_enclosure(CountLaw.of(parameters).divergence(balls.ball(epsilon)))
    with balls.precision(128):
        assert laws.above(balls.ball(epsilon)) >= truth.lower
        assert laws.below(balls.ball(epsilon)) <= truth.upper


@pytest.mark.parametrize(
    ("rate", "epsilon"), [("800", "799"), ("800.2", "799.25"), ("799.9", "797")]
)
def test_losses_beyond_the_floats(rate, epsilon):
    """``Q`` underflows; the losses of labels are off by their rounding."""
    laws = grid_laws([(real(rate), 1)], Fraction(1, 2), 1e-30)
    with mp.workdps(DIGITS), balls.precision(128):
        gap = real(rate).fraction - real(epsilon).fraction
        truth = -mp.expm1(-mpf(gap.numerator) / gap.denominator)
        below = laws.below(balls.ball(real(epsilon)))
        assert mpf(below.numerator) / below.denominator <= truth
        above = laws.above(balls.ball(real(epsilon)))
        assert mpf(above.numerator) / above.denominator >= truth * (1 - mpf(10) ** -300)


def test_float_masses_are_known_up_to_their_rounding():
    """Three thousand products of a rounded constant, on the grid: nothing but rounding is wrong."""
    count = 3000
    parameters = [(rational(Fraction(1, 64)), count)]
    laws = grid_laws(parameters, Fraction(1, 32), 1e-200)
    with balls.precision(200):
        for at in (Fraction(1, 8), Fraction(1), Fraction(3), Fraction(7)):
            truth = balls.to_enclosure(CountLaw.of(parameters).divergence(balls.ball(at)))
            with balls.precision(128):
                assert laws.below(balls.ball(at)) <= truth.lower
                assert laws.above(balls.ball(at)) >= truth.upper


@pytest.mark.parametrize("side", [-0.995, 0.0, 0.995])
def test_floats_only_propose_where_the_laws_cross_the_target(side, monkeypatch):
    """Proposals off by almost the distance of the two laws, either way."""
    parameters = [(rate, 1) for rate in RATES]
    target = real("1/20")

    def solve():
        return epsilon_on_grid(RefinedGrid(parameters, 60_000), InfiniteLoss(), target, 12)

    shift, propose = side * float(solve().upper - solve().lower), roots._crossing
    monkeypatch.setattr(roots, "_crossing", lambda *masses: propose(*masses) + shift)
    true = epsilon_by_tangents(Meeting.of(parameters), InfiniteLoss(), target, 20)
    found = solve()
    assert true is not None
    assert found.lower < true.lower <= true.upper < found.upper
    assert not math.isinf(found.upper)


def test_infinite_losses_alone():
    """Above all finite losses the law still holds what was cut."""
    parameters = [(rate, 1) for rate in RATES]
    laws = grid_laws(parameters, Fraction(1, 512), 0.5)
    assert laws.inf > 0
    with balls.precision(128):
        beyond = sum((balls.ball(rate) for rate in RATES), arb(0))
        assert laws.above(beyond - arb("0.01")) >= Fraction(laws.inf)
