"""Shuffled reports against the law of clones, outcome by outcome."""

from __future__ import annotations

import operator
from fractions import Fraction
from itertools import pairwise
from math import comb

import pytest
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import scaled

import dpexact
from dpexact.accounting.pairs.shuffled import Shuffled
from dpexact.answers import PrecisionNotReached
from dpexact.balls import ball, precision
from dpexact.conversion import real
from dpexact.errors import InvalidInput, UnsupportedMechanism


def outcomes(rise: Fraction, users: int) -> list[tuple[Fraction, Fraction]]:
    """Masses under both laws of how many of ``c + 1`` clones are on one side, for each ``c``."""
    one, chance = rise / (1 + rise), 1 / rise
    found = []
    for c in range(users):
        count = comb(users - 1, c) * chance**c * (1 - chance) ** (users - 1 - c)
        side = [Fraction(comb(c, a), 2**c) * count for a in range(c + 1)]
        for with_one, with_other in zip([0, *side], [*side, 0], strict=True):
            p = one * with_one + (1 - one) * with_other
            found.append((p, (1 - one) * with_one + one * with_other))
    return found


ratios = st.fractions(Fraction(1, 50), 50, max_denominator=60)


@settings(max_examples=scaled(40))
@given(st.fractions(Fraction(9, 8), 40, max_denominator=50), st.integers(1, 30), ratios)
@example(Fraction(3), 5, Fraction(1))
@example(Fraction(3), 5, Fraction(3))
@example(Fraction(3), 5, Fraction(1, 3))
@example(Fraction(2), 2, Fraction(5, 4))
@example(Fraction(2), 1, Fraction(7))
def test_divergence_and_tails(rise: Fraction, users: int, ratio: Fraction) -> None:
    pair = Shuffled(real(f"log({rise})"), users)
    law = outcomes(rise, users)
    truth = sum((max(p - ratio * q, Fraction(0)) for p, q in law), Fraction(0))
    for bits in (80, 400):
        with precision(bits):
            level = ball(ratio)
            found = pair.divergence(level.log())
            assert found.overlaps(ball(truth))
            assert found.rad() < arb(2) ** (30 - bits) * (1 + level)
            assert found.overlaps(super(Shuffled, pair).divergence(level.log()))


@pytest.mark.slow
@settings(max_examples=scaled(5))
@given(st.fractions(Fraction(9, 8), 9, max_denominator=9), st.integers(201, 230), ratios)
@example(Fraction(3), 201, Fraction(1009, 997))
@example(Fraction(3), 201, Fraction(1))
def test_tails_of_many(rise: Fraction, users: int, ratio: Fraction) -> None:
    pair = Shuffled(real(f"log({rise})"), users)
    law = outcomes(rise, users)
    tie = any(p == ratio * q for p, q in law)
    with precision(160):
        tails = pair.tails(160)
        assert tails is not None
        # ratios next to this one too, for which outcomes of this ratio count or do not
        found = tails[0](ball(ratio) + arb(0, arb(2) ** -140))
        for above in (operator.gt, operator.ge):
            for side, tail in enumerate(found):
                masses = [x[side] for x in law if above(x[0], ratio * x[1])]
                assert tail.overlaps(ball(sum(masses, Fraction(0))))
        assert tie or max(tail.rad() for tail in found) < arb(2) ** -90


@settings(max_examples=scaled(15))
@given(
    st.fractions(Fraction(9, 8), 40, max_denominator=50),
    st.integers(2, 300),
    st.lists(st.integers(-20, 400), min_size=3, max_size=40),
    st.integers(20, 400),
)
def test_many_points_are_as_each_by_itself(
    rise: Fraction, users: int, places: list[int], share: int
) -> None:
    """Some with outcomes of their ratio, and equal ones."""
    pair = Shuffled(real(f"log({rise})"), users)
    with precision(100):
        points = [ball(Fraction(k, 10 * share)) for k in places]
        points += [(arb(k) / 7).log() for k in range(1, 14)]
        for at, many in zip(points, pair.divergences(points), strict=True):
            alone = pair.divergence(at)
            assert many.overlaps(alone)
            assert many.rad() <= 8 * alone.rad() + arb(2) ** -100


@pytest.mark.parametrize(("rise", "users"), [("3", 50), ("9/8", 90)])
def test_ratios_next_to_those_of_outcomes_are_told_apart(rise: str, users: int) -> None:
    """By less than whole numbers tell, and in more digits than they have."""
    pair, points = Shuffled(real(f"log({rise})"), users), []
    with precision(300):
        more = ball(real(rise)) - 1
        for c in range(2, users, 7):
            for a in range(c // 2 + 1, c + 1, max(1, c // 5)):
                for shift in (0, 1, -1, 3):
                    theta = arb(a) / (c + 1) + arb(shift) * arb(2) ** -60
                    ratio = (1 + theta * more) / (1 + more - theta * more)
                    points += [ratio.log()] * bool(1 < ratio < 1 + more)
        for at, found in zip(points, pair.divergences(points), strict=True):
            assert found.overlaps(pair.divergence(at))


def test_every_outcome_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """And points are asked by themselves where that matters: of ratios that outcomes have."""
    pair = Shuffled(real("log(3)"), 400)
    points = [real(Fraction(k, 5000)) for k in range(1, 300)]
    with precision(100):
        places = [ball(at) for at in points]
        ties = [(arb(k) / 250).log() for k in range(251, 256)]
        alone = [pair.divergence(at) for at in places]
        asked: list[arb] = []

        def divergence(_: Shuffled, epsilon: arb) -> arb:
            asked.append(epsilon)
            return arb(0)

        monkeypatch.setattr(Shuffled, "divergence", divergence)
        found = pair.divergences([*places, *ties])
    assert len(asked) <= len(ties) + 1
    assert all(one.overlaps(other) for one, other in zip(alone[1:], found[1:], strict=False))


def test_small_values_share_what_more_bits_take(monkeypatch: pytest.MonkeyPatch) -> None:
    alone, once = [], Shuffled.divergence
    monkeypatch.setattr(Shuffled, "divergence", lambda *a: alone.append(0) or once(*a))
    points = [Fraction(2500 + k, 10000) for k in range(30)]
    found = dpexact.delta("shuffle(pure_dp(1), 5000)", points, 15)
    assert alone == []
    assert max(answer.upper for answer in found) < Fraction(1, 10**15)
    assert min(answer.digits for answer in found) >= 15


def test_a_count_of_clones_left_out_is_accounted_for() -> None:
    """So many users that the window leaves some out on both sides: wide enough at any precision."""
    pair = Shuffled(real(1), 3000)
    with precision(60):
        low, high, left = pair._window()
        assert 0 < low < high < 2999
        assert 0 < left.upper() < 1e-10
        rough = pair.divergence(arb("0.01"))
    with precision(900):
        assert pair._window()[0] == 0
        assert rough.overlaps(pair.divergence(arb("0.01")))


@pytest.mark.slow
def test_numbers_and_what_they_stand_for() -> None:
    found = dpexact.delta("shuffle(pure_dp(1), 100)", "0.3")
    assert str(found).startswith("0.001718313464117")
    assert (found.bound, found.relation) == ("upper", "<=")
    assert dpexact.delta("shuffle(pure_dp(1), 10^8)", "0.0003", 12).upper < Fraction(15, 10**7)
    assert dpexact.delta("shuffle(pure_dp(1), 50)", 1).upper == 0
    assert dpexact.delta("shuffle(pure_dp(0), 50)", 0).upper == 0
    one = dpexact.delta("shuffle(pure_dp(log(3)), 1)", "log(2)")
    assert one.lower == one.upper == Fraction(1, 4)


@pytest.mark.parametrize("users", [2, 7])
def test_compositions(users: int) -> None:
    law = outcomes(Fraction(2), users)
    twice = sum(
        (max(p * r - Fraction(11, 10) * q * s, Fraction(0)) for p, q in law for r, s in law),
        Fraction(0),
    )
    found = dpexact.delta(f"shuffle(pure_dp(log(2)), {users})^2", "log(11/10)", 5)
    assert twice in found


def test_more_users_hide_better() -> None:
    deltas = [dpexact.delta(f"shuffle(pure_dp(2), {n})", "1/2") for n in (1, 2, 10, 100, 1000)]
    assert all(a > b for a, b in pairwise(deltas))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("shuffle(pure_dp(1), 0)", "n: 0 is not accepted"),
        ("shuffle(pure_dp(1), 1/2)", "n: 0.5 is not accepted"),
        ("shuffle(gaussian(1), 5)", "reports to shuffle are pure_dp"),
        ("shuffle(approx_dp(1, 1/9), 5)", "reports to shuffle are pure_dp"),
        ("shuffle(pure_dp(1))", "n is missing"),
    ],
)
def test_what_is_not_shuffled(text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        dpexact.parse(text)


def test_other_neighbours_are_refused() -> None:
    with pytest.raises(UnsupportedMechanism, match="neighbours"):
        dpexact.epsilon("shuffle(pure_dp(1), 9) * poisson(gaussian(1), 1/2)", "1e-5")
    with pytest.raises(UnsupportedMechanism, match="neighbours"):
        dpexact.epsilon("poisson(shuffle(pure_dp(1), 9), 1/2)", "1e-5")


@pytest.mark.slow
def test_digits_out_of_reach_leave_an_enclosure() -> None:
    with pytest.raises(PrecisionNotReached) as refusal:
        dpexact.epsilon("shuffle(pure_dp(1), 100)^3", "1e-5", 30)
    assert refusal.value.best.digits >= 3


def test_calibration() -> None:
    found = dpexact.calibrate("shuffle(pure_dp(?), 1000)", "0.3", "1e-6")
    least, most = (
        dpexact.epsilon(f"shuffle(pure_dp({end}), 1000)", "1e-6")
        for end in (found.lower, found.upper)
    )
    assert least.upper <= Fraction(3, 10) <= most.lower


def test_too_many_users_are_refused_in_time():
    with pytest.raises(UnsupportedMechanism, match="of at most 1000000000 users"):
        dpexact.epsilon("shuffle(pure_dp(1), 1000000001)", "1e-6")
