"""Many points of rare samples share lines, and each answer is that of the point alone."""

import itertools
import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact.accounting.engines.rare import many
from dpexact.accounting.engines.rare.inversion import Inversion
from dpexact.accounting.engines.rare.profile import RareProfile
from dpexact.accounting.engines.rare.rows import Row
from dpexact.conversion import real
from dpexact.enclosure import Enclosure

STEPS = [("0.8", "1e-5", 100), ("1", "1e-3", 10)]


def overlap(one: Enclosure, other: Enclosure) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


@pytest.mark.slow
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(("sigma", "q", "count"), STEPS)
def test_each_of_many_answers_is_that_of_one(sigma, q, count, add):
    profile = RareProfile((Row(real(sigma), real(q), count),), add)
    top = -count * math.log1p(-float(q))
    scale = top / 40 if add else 1 / 20
    points = [real(Fraction(k * scale)) for k in (7, 1, 8, 9, 10, 11, 12, 1)]
    for point, found in zip(points, profile.deltas(points, 6), strict=True):
        assert found.digits >= 6
        assert overlap(found, profile.delta(point, 8))
    targets = [real(Fraction(10) ** -k) for k in (5, 6, 7, 8, 2, 10)]
    for target, found in zip(targets, profile.epsilons(targets, 6), strict=True):
        assert found.digits >= 6
        assert overlap(found, profile.epsilon(target, 8))


def test_a_single_target_takes_no_line_at_zero(monkeypatch):
    profile = RareProfile((Row(real(1), real("1e-3"), 10),), False)
    (expected,) = profile.epsilons([real("1e-5")], 6)
    monkeypatch.setattr(RareProfile, "delta", lambda *_: pytest.fail("asked at 0"))
    assert profile.epsilons([real("1e-5")], 6) == [expected]


@settings(max_examples=3)
@given(
    st.sampled_from(STEPS),
    st.lists(st.floats(-40, 0), min_size=6, max_size=8),
    st.booleans(),
)
def test_random_targets(step, logs, add):
    sigma, q, count = step
    profile = RareProfile((Row(real(sigma), real(q), count),), add)
    targets = [real(math.exp(log)) for log in logs]
    for target, found in zip(targets, profile.epsilons(targets, 6), strict=True):
        assert overlap(found, profile.epsilon(target, 9))


def test_lines_are_shared(monkeypatch):
    """Forty neighbours take fewer lines than ten, and no more where their gaps differ by half."""
    lines = []
    ask = RareProfile.inverted
    monkeypatch.setattr(
        RareProfile, "inverted", lambda self, *a, **k: lines.append(a) or ask(self, *a, **k)
    )
    profile = RareProfile((Row(real("0.8"), real("1e-5"), 100),), False)
    found = profile.deltas([real(Fraction(k, 1000)) for k in range(1000, 1040)], 8)
    assert min(answer.digits for answer in found) >= 8
    assert len(lines) < 10
    lines.clear()
    found = profile.deltas([real(Fraction(k, 40)) for k in range(22, 42)], 8)
    assert min(answer.digits for answer in found) >= 8
    assert len(lines) < 5
    lines.clear()
    profile.epsilons([real(Fraction(k, 10**15)) for k in range(100, 140)], 8)
    assert len(lines) < 10


@pytest.mark.slow
def test_a_line_is_all_that_two_points_take(monkeypatch):
    """How fine it is floats say."""
    profile = RareProfile((Row(real("0.8"), real("1e-5"), 100),), False)
    points = [real("1"), real("1.01")]
    alone = [profile.delta(point, 8) for point in points]
    monkeypatch.setattr(RareProfile, "delta", lambda *_: pytest.fail("asked alone"))
    for one, found in zip(alone, profile.deltas(points, 8), strict=True):
        assert found.digits >= 8
        assert overlap(one, found)


def test_lines_that_there_are_not_are_seldom_asked_for(monkeypatch):
    """Next to the largest loss each of thirty targets asked for one in vain."""
    asked, ask = [], RareProfile._guide
    monkeypatch.setattr(RareProfile, "_guide", lambda *x: asked.append(1) or ask(*x))
    profile = RareProfile((Row(real(1), real("1/100"), 2),), True)
    found = profile.epsilons([real(f"{k}e-13") for k in range(10, 40)], 6)
    assert min(answer.digits for answer in found) >= 6
    assert len(asked) < 8


def test_extremes_among_many():
    found = dpexact.epsilon(
        "poisson(gaussian(0.8), 1e-5)^100",
        [0, "1e-15", "1e-14", "1e-13", "1e-12", "1e-7", "1/2", 1],
        digits=6,
    )
    assert found[0].upper == math.inf
    assert found[-1].upper == found[-2].upper == 0
    finite = found[1:]
    assert all(a.upper >= b.lower for a, b in itertools.pairwise(finite))
    found = dpexact.delta(
        "poisson(gaussian(0.8), 1e-5)^100", [0, "1e-30", 1, 2, 3, 4, 5, 1000], digits=6
    )
    assert all(a.upper >= b.lower for a, b in itertools.pairwise(found))


@pytest.mark.slow
def test_a_guide_that_leads_astray_is_left(monkeypatch):
    """Whatever a line proposes, the answers hold."""
    guide = many.SharedLines._guide

    def astray(lines, near, log, digits):
        return guide(lines, near, log, digits)._replace(steepness=-3.0)

    monkeypatch.setattr(many.SharedLines, "_guide", astray)
    profile = RareProfile((Row(real("1"), real("1e-3"), 10),), False)
    targets = [real(Fraction(10) ** -k) for k in range(5, 10)]
    for target, found in zip(targets, profile.epsilons(targets, 6), strict=True):
        assert overlap(found, profile.epsilon(target, 9))


@pytest.mark.parametrize("add", [False, True])
def test_neighbours_tell_where_the_next_is(monkeypatch, add):
    """Two values decide, and one is mostly enough to find where."""
    asked, delta = [], Inversion.delta
    monkeypatch.setattr(Inversion, "delta", lambda *a: asked.append(a) or delta(*a))
    targets = [real(Fraction(10) ** -8 * Fraction(50, 50 + k)) for k in range(100)]
    found = RareProfile((Row(real(1), real("1e-5"), 1000),), add).epsilons(targets, 8)
    assert all(answer.digits >= 8 for answer in found)
    assert len(asked) < 3.5 * len(targets)
