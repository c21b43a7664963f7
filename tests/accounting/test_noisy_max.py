"""Noisy maxima against the laws of who wins, candidate by candidate; what is below bounds."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from command_line import invoke
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles import scaled

import dpexact
from dpexact.accounting.coarse import beneath
from dpexact.audits.claims import Claim
from dpexact.audits.verdicts import Truths, judge
from dpexact.enclosure import Enclosure
from dpexact.errors import Contradiction


def flipped(scores: list[float]) -> list[float]:
    """Who wins with exponential noise of scale 1: integrals of polynomials."""
    weights = [math.exp(score - max(scores)) for score in scores]
    law = []
    for i, weight in enumerate(weights):
        others = np.poly1d([weight])
        for other in weights[:i] + weights[i + 1 :]:
            others *= np.poly1d([-other, 1])
        law.append(others.integ()(1))
    return law


def noisy(scores: list[float]) -> list[float]:
    """Who wins with Laplace noise of scale 1, by quadrature."""
    x = np.linspace(min(scores) - 25, max(scores) + 25, 20_001)
    density = [np.exp(-abs(x - score)) / 2 for score in scores]
    below = [
        np.where(x < s, np.exp(np.minimum(x - s, 0)) / 2, 1 - d)
        for s, d in zip(scores, density, strict=True)
    ]
    law = []
    for i in range(len(scores)):
        others = np.prod([b for j, b in enumerate(below) if j != i], axis=0)
        law.append(float(np.trapezoid(density[i] * others, x)))
    return law


def excess(p: list[float], q: list[float], epsilon: float) -> float:
    return sum(max(x - math.exp(epsilon) * y, 0) for x, y in zip(p, q, strict=True))


def twice(law: list[float]) -> list[float]:
    return [x * y for x in law for y in law]


@settings(max_examples=scaled(60), deadline=None)
@given(
    st.lists(st.tuples(st.floats(-3, 3), st.floats(-1, 1)), min_size=2, max_size=6),
    st.sampled_from(["1/3", "1", "4"]),
    st.floats(0, 1),
    st.booleans(),
)
@example([(0.5, -1), (0, 1)], "1", 0.0, False)
@example([(0.5, -1), (0, 1), (0, 1), (-1, 1)], "4", 0.5, True)
def test_no_scores_are_worse(
    scores: list[tuple[float, float]], eps: str, share: float, record: bool
) -> None:
    reach = float(Fraction(eps)) / 2
    moved = [step * reach for _, step in scores]
    if record:  # a record moves all scores the same way, by twice as much
        moved = [abs(step) * 2 for step in moved]
    here, there = [s for s, _ in scores], [s + m for (s, _), m in zip(scores, moved, strict=True)]
    for who, law in (("permute_and_flip", flipped), ("report_noisy_max", noisy)):
        p, q = law(here), law(there)
        at = share * 2 * reach
        once, both = (dpexact.delta(f"{who}({eps})^{k}", at, 6).upper for k in (1, 2))
        assert excess(p, q, at) <= float(once) + 1e-7
        assert excess(twice(p), twice(q), at) <= float(both) + 1e-7


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9])
def test_two_candidates_attain_the_profile_of_one_run(epsilon: float) -> None:
    found = dpexact.delta("permute_and_flip(1)", epsilon)
    assert (found.bound, found.theorem[:24]) == ("exact", "attained by two candidat")
    gaps = np.linspace(-1, 2, 301)
    best = max(excess(flipped([g, 0]), flipped([g - 1, 0]), epsilon) for g in gaps)
    assert best == pytest.approx(float(found.upper), rel=1e-4)


def test_what_they_stand_for() -> None:
    several = dpexact.epsilon("permute_and_flip(1)^20", "1e-6", 8)
    assert several == dpexact.epsilon("laplace(1)^20", "1e-6", 8)
    assert (several.bound, dpexact.epsilon("laplace(1)^20", "1e-6", 8).bound) == ("upper", "exact")
    assert dpexact.delta("report_noisy_max(1)", 0).bound == "upper"
    assert dpexact.renyi("permute_and_flip(1)", 2).bound == "upper"
    assert dpexact.tradeoff("permute_and_flip(1)").bound == "exact"
    assert dpexact.tradeoff("report_noisy_max(1)").bound == "lower"
    assert dpexact.delta("permute_and_flip(0)^3 * report_noisy_max(0)", 0).upper == 0
    assert dpexact.epsilon("group(permute_and_flip(1/3), 3)", "1e-6") == dpexact.epsilon(
        "permute_and_flip(1)", "1e-6"
    )
    assert dpexact.epsilon("poisson(permute_and_flip(1), 1/10)", "1e-3", 6) == dpexact.epsilon(
        "poisson(laplace(1), 1/10)", "1e-3", 6
    )
    assert dpexact.calibrate("permute_and_flip(?)^20", 1, "1e-6", 4).lower > Fraction(1, 30)


@pytest.mark.parametrize(
    ("who", "law"), [("permute_and_flip", flipped), ("report_noisy_max", noisy)]
)
@pytest.mark.parametrize("eps", ["1/100", "1", "9"])
def test_the_response_below_is_that_of_two_candidates(who: str, law: object, eps: str) -> None:
    half = float(Fraction(eps)) / 2
    p, q = law([half, 0]), law([-half, 0])  # type: ignore[operator]
    response = beneath(dpexact.parse(f"{who}({eps})"))
    assert float(response.eps.fraction) == pytest.approx(math.log(p[0] / q[0]), rel=1e-3)
    assert float(response.eps.fraction) == pytest.approx(math.log(q[1] / p[1]), rel=1e-3)


BOUNDED = [
    ("allocation(gaussian(2), 100, 4)", "gaussian(5)"),
    ("allocation(gaussian(2)^4, 9, 3)^2 * gaussian(3)", "gaussian(1)^2 * gaussian(3)"),
    ("bounded_range(1)^3 * laplace(2)", "pure_dp(1/2)^3 * laplace(2)"),
    ("adaptive(bounded_range(1/2)^20)", "bounded_range(1/2)^20"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("bounded", "attained"), BOUNDED)
def test_what_is_certain_below_a_bound(bounded: str, attained: str) -> None:
    for ask, at in ((dpexact.delta, "1/2"), (dpexact.epsilon, "1e-4")):
        found, truth = ask(bounded, at, 8), ask(attained, at, 8)
        assert truth.lower >= found.at_least > truth.lower * Fraction(999_999, 1_000_000)
        assert found.of_truth().lower == found.at_least < found.lower
        ends = dpexact.delta_bounds if ask is dpexact.delta else dpexact.epsilon_bounds
        low, high = ends(bounded, [float(Fraction(at))])
        assert 0 < low[0] <= float(truth.upper)
        assert float(found.lower) <= high[0]


@pytest.mark.parametrize("other", ["gaussian(1)", "shuffle(pure_dp(1), 9)", "zcdp(1)"])
def test_where_nothing_is_certain_below(other: str) -> None:
    assert dpexact.epsilon(other, "1e-3", 6).at_least == -math.inf


def test_a_floor_above_the_bound_is_a_contradiction() -> None:
    bound = Enclosure(Fraction(1), Fraction(2)).as_bound("upper", "a theorem")
    assert bound.above(Enclosure(Fraction(2), Fraction(3))).at_least == 2
    with pytest.raises(Contradiction):
        bound.above(Enclosure(Fraction(5, 2), Fraction(3)))


def test_claims_below_the_bound() -> None:
    truths = Truths()

    def verdict(kind: str, value: str) -> tuple[str, str]:
        run = "allocation(gaussian(1), 100, 4)"
        found = judge(Claim(run, "epsilon", value, "1e-3", kind), 8, truths)  # type: ignore[arg-type]
        return found.verdict, found.note

    assert verdict("upper", "1.03")[0] == verdict("lower", "1.6")[0] == "unsound"
    assert verdict("upper", "1.6")[0] == verdict("lower", "1.03")[0] == "sound"
    assert "judged by a mechanism" in verdict("upper", "1.03")[1]
    assert verdict("upper", "1.3")[0] == "undecided"
    assert "no claim can be judged" in verdict("upper", "1.3")[1]


def test_the_command_line_prints_it() -> None:
    asked = ["epsilon", "allocation(gaussian(1), 100, 4)", "--delta", "1e-3"]
    printed = invoke(*asked).output
    assert "the true value is at least 1.035707\n" in printed
    record = json.loads(invoke(*asked, "--json").output)
    assert (record["at_least"], record["bound"]) == ("1.035707", "upper")


def test_every_event_is_bounded_for_exponential_noise() -> None:
    """The step of the proof: the chance that a set wins moves by ``min(G, 1 - G)`` at most."""
    scores = [0.3, -0.2, 0.0, 1.1]
    for size in (1, 2, 3):
        for winners in combinations(range(4), size):
            near, far = (
                sum(
                    flipped([s + step * (i in winners) for i, s in enumerate(scores)])[i]
                    for i in winners
                )
                for step in (0.0, 1e-4)
            )
            assert 0 < far - near <= 1e-4 * min(far, 1 - near) * 1.001
