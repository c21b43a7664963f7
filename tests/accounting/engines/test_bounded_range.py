"""Bounded ranges against sums over all runs, and against every pair of the family."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import mpmath
import pytest
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import scaled

import dpexact
from dpexact.accounting.binomial import binomial_mass
from dpexact.accounting.engines.bounded_range import BoundedRangeProfile
from dpexact.balls import ball, precision
from dpexact.conversion import real
from dpexact.errors import InvalidInput, UnsupportedMechanism


def worst_of(count: int, eps: mpf, t: mpf, g: mpf) -> mpf:
    """``delta(g)`` of ``count`` runs of the pair of ``t``, term by term."""
    high = (mp.exp(-t) - mp.exp(-eps)) / (1 - mp.exp(-eps))
    return mp.fsum(
        comb(count, i)
        * high ** (count - i)
        * (1 - high) ** i
        * max(mp.exp(count * t - i * eps) - mp.exp(g), 0)
        for i in range(count + 1)
    )


@settings(max_examples=scaled(40))
@given(
    st.integers(1, 25),
    st.fractions(Fraction(1, 100), 4, max_denominator=100),
    st.fractions(0, Fraction(3, 2), max_denominator=50),
    st.fractions(0, 1, max_denominator=50),
)
@example(20, Fraction(1, 2), Fraction(1, 5), Fraction(1, 2))
@example(1, Fraction(1, 2), Fraction(0), Fraction(1, 2))
def test_no_pair_of_the_family_is_worse_and_one_attains(
    count: int, eps: Fraction, share: Fraction, place: Fraction
) -> None:
    g = share * eps * count
    found = dpexact.delta(
        f"bounded_range({eps})^{count}" if count > 1 else f"bounded_range({eps})", g
    )
    with mpmath.workdps(60):
        e, gap = mpf(eps.numerator) / eps.denominator, mpf(g.numerator) / g.denominator
        anywhere = worst_of(count, e, e * place.numerator / place.denominator, gap)
        best = max(
            worst_of(count, e, min(e, (gap + (i + 1) * e) / (count + 1)), gap) for i in range(count)
        )
        upper = mpf(found.upper.numerator) / found.upper.denominator
        lower = mpf(found.lower.numerator) / found.lower.denominator
        assert anywhere <= upper + mpf(10) ** -50
        assert lower - mpf(10) ** -50 <= best <= upper + mpf(10) ** -50


@settings(max_examples=scaled(20))
@given(st.integers(30, 400), st.fractions(Fraction(1, 100), 3, max_denominator=100), st.data())
def test_what_is_left_out_is_no_better(count: int, eps: Fraction, data: st.DataObject) -> None:
    g = data.draw(st.fractions(0, count * eps, max_denominator=100))
    accounting = BoundedRangeProfile(real(eps), count)
    with precision(80):
        point = ball(g)
        kept = accounting.finite_ball(point)
        for index in data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=8)):
            assert not accounting._gain(index, point) > kept


@settings(max_examples=scaled(40))
@given(
    st.integers(3, 60),
    st.fractions(Fraction(1, 100), 2, max_denominator=100),
    st.fractions(0, 1, max_denominator=50),
    st.data(),
)
def test_what_a_range_may_exceed_its_middle_by(
    count: int, eps: Fraction, share: Fraction, data: st.DataObject
) -> None:
    """The likeliest value is likeliest, and no index gains more by its own ``t``."""
    g = share * eps * count
    inside = max(int(count - g / eps) - 1, 0)
    first = data.draw(st.integers(0, inside))
    last = data.draw(st.integers(first, inside))
    accounting = BoundedRangeProfile(real(eps), count)
    with precision(120):
        point = ball(g)
        ends = [accounting._laws(index, point)[0] for index in (first, last)]
        bound = accounting._likeliest(first, last, ends)
        spread = accounting._spread(first, last, point)
        tried = {index: accounting._laws(index, point) for index in range(first, last + 1)}
        for index in tried:
            for p, _ in tried.values():
                assert not binomial_mass(count - 1, index, p.low, p.high) > bound
        p, q = tried[(first + last) // 2]
        for index in tried:
            at_middle = accounting._at_most(index, p) - point.exp() * accounting._at_most(index, q)
            assert not accounting._gain(index, point) - at_middle > spread


@pytest.mark.parametrize("count", [1, 7, 300])
def test_epsilon_is_where_delta_is_the_target(count: int) -> None:
    """One index is enough at the left end, all are tried at the right one."""
    text = "bounded_range(1/5)" + f"^{count}" * (count > 1)
    found = dpexact.epsilon(text, "1e-4")
    at = dpexact.delta(text, found.upper, digits=25)
    below = dpexact.delta(text, found.lower, digits=25)
    assert at.lower <= Fraction(1, 10_000) <= below.upper
    assert found.digits >= 15


def test_small_losses_reach_no_large_delta() -> None:
    """Pinsker's inequality: total variation is above nothing near it."""
    for text, delta in (("bounded_range(1e-300)^10000", "1/2"), ("bounded_range(1/5)^3", "0.09")):
        found = dpexact.epsilon(text, delta)
        assert (found.lower, found.upper) == (0, 0)
    assert dpexact.delta("bounded_range(1/5)^3", 0).upper < Fraction("0.2") * 2 / 4
    assert dpexact.epsilon("bounded_range(1/5)^3", "0.07").lower > 0


def test_numbers_and_what_they_stand_for() -> None:
    alone = dpexact.delta("bounded_range(1/2)^20", 2)
    assert str(alone).startswith("0.04106832834799")
    assert (alone.bound, alone.theorem[:14]) == ("exact", "no run is chos")
    looking = dpexact.delta("adaptive(bounded_range(1/2)^20)", 2)
    assert looking.bound == "upper"
    assert alone < looking < dpexact.delta("pure_dp(1/2)^20", 2)
    assert looking == dpexact.delta("zcdp(20/32)", 2)
    few = dpexact.delta("adaptive(bounded_range(1)^2)", "1.999")
    assert few == dpexact.delta("pure_dp(1)^2", "1.999")
    swapped = dpexact.delta("bounded_range(1)^3", -1)
    assert swapped > dpexact.delta("bounded_range(1)^3", 1)


def test_beside_others() -> None:
    beside = dpexact.epsilon("bounded_range(1)^3 * gaussian(2)", "1e-6")
    assert beside.bound == "upper"
    assert beside == dpexact.epsilon("pure_dp(1)^3 * gaussian(2)", "1e-6")
    assert dpexact.epsilon("bounded_range(1) * laplace(1)", "1e-6").bound == "upper"
    assert dpexact.epsilon("poisson(bounded_range(1), 1/9)^20", "1e-6").bound == "upper"
    assert dpexact.epsilon("adaptive(gaussian(2)^3)", "1e-6") == dpexact.epsilon(
        "gaussian(2)^3", "1e-6"
    )
    assert dpexact.epsilon("bounded_range(0)^3 * gaussian(2)", "1e-6").bound == "exact"
    assert dpexact.delta("bounded_range(0)^3", 0).upper == 0


def test_ends() -> None:
    assert dpexact.epsilon("bounded_range(1)^3", 0).upper == 3
    assert dpexact.delta("bounded_range(1)^3", 3).upper == 0
    with precision(100):
        least = dpexact.delta("bounded_range(1)^3", "2.999999999")
    assert 0 < least.lower <= least.upper < Fraction(1, 10**17)


@pytest.mark.parametrize("question", [dpexact.tradeoff, lambda m: dpexact.renyi(m, 2)])
def test_questions_of_one_pair_are_refused(question: object) -> None:
    with pytest.raises(UnsupportedMechanism, match="bounded_range"):
        question("bounded_range(1)^3")  # type: ignore[operator]


def test_what_is_no_range() -> None:
    with pytest.raises(InvalidInput, match="eps: -1 is not accepted"):
        dpexact.parse("bounded_range(-1)")


def test_calibration() -> None:
    found = dpexact.calibrate("bounded_range(?)^20", 1, "1e-6")
    assert dpexact.epsilon(f"bounded_range({found.lower})^20", "1e-6").upper <= 1
    assert dpexact.epsilon(f"bounded_range({found.upper})^20", "1e-6").lower >= 1


def test_many_targets_take_few_values_each(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, ask = [], BoundedRangeProfile._gain
    monkeypatch.setattr(BoundedRangeProfile, "_gain", lambda *x: asked.append(1) or ask(*x))
    targets = [Fraction(k * k, 10**5) for k in range(1, 121)]
    found = dpexact.epsilon("bounded_range(1/2)^10", targets, 8)
    assert len(asked) < 40 * len(targets)
    assert all(answer.digits >= 8 for answer in found)
    for k in (0, 50, 119):
        assert found[k].overlaps(dpexact.epsilon("bounded_range(1/2)^10", targets[k], 9))


@pytest.mark.parametrize(("epsilon", "count"), [("1/5", 30), ("3", 12), ("8", 30)])
def test_neighbours_far_apart_have_other_indices(epsilon: str, count: int) -> None:
    """The first one that is looked at is not the best."""
    profile = BoundedRangeProfile(real(epsilon), count)
    points = [real(Fraction(epsilon) * count * k / 48) for k in range(24)]
    with precision(100):
        places = [ball(at) for at in points]
        found = profile.delta_balls(places)
        assert all(profile.delta_ball(x).overlaps(y) for x, y in zip(places, found, strict=True))


@pytest.mark.parametrize("count", [1, 2, 30])
def test_few_indices_are_looked_at_where_neighbours_are_known(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    profile = BoundedRangeProfile(real("1/5"), count)
    points = [real(Fraction(k * count, 9000)) for k in range(72)][::-1]
    looked: list[int] = []
    gain = BoundedRangeProfile._gain

    def counted(self: BoundedRangeProfile, index: int, epsilon: arb) -> arb:
        looked.append(index)
        return gain(self, index, epsilon)

    with precision(100):
        places = [ball(at) for at in points]
        alone = [profile.delta_ball(at) for at in places]
        monkeypatch.setattr(BoundedRangeProfile, "_gain", counted)
        found = profile.delta_balls(places)
        for one, other in zip(alone, found, strict=True):
            assert one.overlaps(other)
            assert other.rad() <= 8 * one.rad() + arb(2) ** -90
    assert len(looked) <= 3 * len(points) + 2 * 3 * count
