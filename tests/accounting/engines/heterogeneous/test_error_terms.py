"""Each error term of the halves and of the grid where little else hides its absence."""

import math
from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.engines.heterogeneous import meet_in_the_middle, refinement
from dpexact.accounting.engines.heterogeneous.grid import grid_laws
from dpexact.accounting.engines.heterogeneous.meet_in_the_middle import Meeting
from dpexact.accounting.engines.heterogeneous.refinement import GridComposition
from dpexact.accounting.engines.tangents import Tangent
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.reals import rational

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


def coarse(x):
    step = 1 << 34
    return int((x.mid() / step + arb(0.5)).floor().fmpz()) * step


@pytest.mark.parametrize("side", LEANING)
def test_keys_are_off_by_no_more_than_is_said(side, monkeypatch):
    """All are rounded the same way: the outcome of all of them is off by the whole."""
    monkeypatch.setattr(meet_in_the_middle, "nearest", coarse)
    meeting = Meeting([(rational(x), 1) for x in LEANING[side]], InfiniteLoss())
    with balls.precision(40):
        found = meeting._halves()
        halves = [meet_in_the_middle._outcomes(half, found.unit, 40) for half in meeting.split]
    with balls.precision(200):
        keys = sum(max(half.keys) for half in halves)
        off = abs(balls.ball(sum(LEANING[side])) * found.unit - keys)
        assert 0.99 * found.key_error < off <= found.key_error


@pytest.mark.parametrize("side", LEANING)
@pytest.mark.parametrize("repeated", [False, True])
def test_keys_in_eighths(side, repeated, monkeypatch):
    """Every key is rounded the same way, and the threshold wherever epsilon puts it."""
    monkeypatch.setattr(meet_in_the_middle, "nearest", coarse)
    chosen = [LEANING[side][0]] * 4 if repeated else LEANING[side]
    parameters = [(rational(chosen[0]), 4)] if repeated else [(rational(x), 1) for x in chosen]
    meeting = Meeting(parameters, InfiniteLoss())
    with mp.workdps(DIGITS):
        rates = [mpf(x.numerator) / x.denominator for x in chosen]
        for i in range(60):
            epsilon = sum(chosen) - Fraction(i * 7, 200)
            with balls.precision(40):
                found = meeting.finite_ball(balls.ball(epsilon))
            low, high = bracket(found)
            assert low <= profile(rates, mpf(epsilon.numerator) / epsilon.denominator) <= high


def test_coarse_masses():
    """Masses of twenty bits, all else fine; each half is short by less than is granted to it."""
    rates = [Fraction(k, 5) for k in (1, 2, 3, 4, 5, 6, 7)]
    meeting = Meeting([(rational(x), 1) for x in rates], InfiniteLoss())
    with balls.precision(20):
        meeting._kept = {200: meeting._halves()}
    with mp.workdps(DIGITS):
        numbers = [mpf(x.numerator) / x.denominator for x in rates]
        for i in range(20):
            epsilon = Fraction(i, 7) + Fraction(1, 100)
            with balls.precision(200):
                low, high = bracket(meeting.finite_ball(balls.ball(epsilon)))
            assert low <= profile(numbers, mpf(epsilon.numerator) / epsilon.denominator) <= high


class Vague(Meeting):
    """It knows one test, and that this misses up to a tenth."""

    def tangent(self, epsilon):
        return Tangent(arb(1) / 2, arb(1) / 4, arb(1) / 10)


def test_what_a_test_misses_keeps_the_upper_end_away():
    parameters = [(real(f"log({k})/3"), 1) for k in range(2, 10)]
    found = Vague(parameters, InfiniteLoss()).epsilon(real("1/10"), 6)
    low, high = (math.log(0.4 * 4), math.log(0.5 * 4))  # 1/2 - e^x/4, and a tenth more
    assert low - 1e-9 < found.lower <= low
    assert high <= found.upper


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
            low, high = bracket(Meeting(parameters, InfiniteLoss()).finite_ball(arb(epsilon)))
            assert laws.below(arb(epsilon)) <= real(high).fraction
            assert laws.above(arb(epsilon)) >= real(low).fraction


@pytest.mark.parametrize("side", [-0.995, 0.0, 0.995])
def test_floats_only_propose_where_the_laws_cross_the_target(side, monkeypatch):
    """Proposals off by almost the distance of the two laws, either way."""
    parameters = [(rate, 1) for rate in RATES]
    target = real("1/20")

    def solve():
        return GridComposition(parameters, InfiniteLoss(), 60_000).epsilon(target, 12)

    shift, propose = side * float(solve().upper - solve().lower), refinement._crossing
    monkeypatch.setattr(refinement, "_crossing", lambda *masses: propose(*masses) + shift)
    true = Meeting(parameters, InfiniteLoss()).epsilon(target, 20)
    found = solve()
    assert found.lower < true.lower <= true.upper < found.upper
    assert not math.isinf(found.upper)
