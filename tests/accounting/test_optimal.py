from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import (
    binomial_tail_by_quadrature,
    hockey_stick,
    hockey_stick_over_events,
    optimal_by_sum,
    optimal_exact,
    printed_theorem,
    product_pair,
    scaled,
    single_pair,
    to_fraction,
    to_mpf,
)

from dpexact import balls, delta, epsilon
from dpexact.accounting import binomial
from dpexact.accounting.engines import closed_form
from dpexact.accounting.engines.closed_form import OptimalComposition
from dpexact.accounting.engines.tangents import Tangent, exact_responses
from dpexact.accounting.profile import InfiniteLoss
from dpexact.answers import PrecisionNotReached
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import approx_dp, pure_dp


def logarithm(base: Fraction | int) -> str:
    return f"log({base})"


def holds(found: Enclosure, truth: mpf, trusted: int) -> bool:
    """Whether ``found`` contains ``truth``, of which ``trusted`` digits are right."""
    exact = to_fraction(truth)
    slack = abs(exact) / 10**trusted
    return bool(found.lower - slack <= exact <= found.upper + slack)


# --- exact answers --------------------------------------------------------------------------------

SMALL = [
    (Fraction(base), Fraction(d), count, Fraction(level))
    for base, d, count, level in itertools.product(
        ("3/2", "3", "10001/10000"), ("0", "1/7", "1"), (1, 2), ("1", "5/4", "9/4", "2", "9", "100")
    )
]
SMALL += [
    (Fraction("3/2"), Fraction(0), count, Fraction("3/2") ** power)
    for count in (3, 4)
    for power in range(count + 1)
]


@pytest.mark.slow
@pytest.mark.parametrize(("base", "d", "count", "level"), SMALL)
def test_every_event_of_the_product_is_covered(
    base: Fraction, d: Fraction, count: int, level: Fraction
) -> None:
    """The definition itself: the largest ``P(S) - e^eps Q(S)`` over all events ``S``."""
    outcomes = product_pair([single_pair(base, d)] * count)
    assert len(outcomes) <= 16
    truth = hockey_stick_over_events(outcomes, level)
    found = delta(approx_dp(logarithm(base), d) ** count, logarithm(level))
    assert found.lower == found.upper == truth
    assert "exact" in found.method or d == 1 or level >= base**count


def test_outcomes_of_products_of_different_delta() -> None:
    base, level = Fraction(7, 4), Fraction(2)
    deltas = [Fraction(1, 7), Fraction(0), Fraction(1, 100)]
    truth = hockey_stick(product_pair([single_pair(base, d) for d in deltas]), level)
    eps = logarithm(base)
    m = approx_dp(eps, deltas[0]) * pure_dp(eps) * approx_dp(eps, deltas[2])
    assert delta(m, logarithm(level)) == Enclosure.exact(truth)


exact_bases = st.fractions(min_value=Fraction(31, 30), max_value=20, max_denominator=30)
exact_deltas = st.fractions(min_value=0, max_value=1, max_denominator=1000)


@given(exact_bases, exact_deltas, st.integers(1, 40), st.integers(0, 45))
@example(Fraction(3, 2), Fraction(1, 7), 9, 3)
@settings(max_examples=scaled(150))
def test_exact_fractions(base: Fraction, d: Fraction, count: int, power: int) -> None:
    level = base**power
    found = delta(approx_dp(logarithm(base), d) ** count, f"{power}*log({base})")
    assert found == Enclosure.exact(optimal_exact(base, d, count, level))


@given(exact_bases, exact_deltas, st.integers(1, 20), st.data())
@settings(max_examples=scaled(100))
def test_the_printed_theorem_at_its_breakpoints(
    base: Fraction, d: Fraction, count: int, data: st.DataObject
) -> None:
    i = data.draw(st.integers(0, count // 2))
    found = delta(approx_dp(logarithm(base), d) ** count, f"{count - 2 * i}*log({base})")
    assert found == Enclosure.exact(printed_theorem(base, d, count, i))


def test_the_exact_value_of_nine() -> None:
    found = delta("approx_dp(log(3/2), 1/7)^9", "log(3/2)*3")
    assert found.is_exact
    truth = optimal_exact(Fraction(3, 2), Fraction(1, 7), 9, Fraction(27, 8))
    assert found.lower == truth
    outcomes = [(Fraction(1), Fraction(1))]
    for _ in range(9):  # merge equal ratios to keep 4^9 outcomes in hand
        merged: dict[Any, tuple[Fraction, Fraction]] = {}
        for (p, q), (p1, q1) in itertools.product(
            outcomes, single_pair(Fraction(3, 2), Fraction(1, 7))
        ):
            key = (p * p1 / (q * q1)) if q * q1 else math.inf
            old = merged.get(key, (Fraction(0), Fraction(0)))
            merged[key] = (old[0] + p * p1, old[1] + q * q1)
        outcomes = list(merged.values())
    assert hockey_stick(outcomes, Fraction(27, 8)) == truth


def binomial_divergence(base: Fraction, count: int, level: Fraction) -> Fraction | None:
    return exact_responses([(real(f"log({base})"), count)], level)


def test_binomial_divergence_needs_no_breakpoint() -> None:
    for level in (Fraction(1), Fraction(5, 3), Fraction(17, 5), Fraction(1000)):
        for count in range(1, 12):
            assert binomial_divergence(Fraction(7, 4), count, level) == optimal_exact(
                Fraction(7, 4), Fraction(0), count, level
            )


# --- enclosures against sums in mpmath ------------------------------------------------------------

KNOWN = "0.0304506231829102831295644359059501933"


def test_the_number_of_the_readme() -> None:
    found = delta("approx_dp(1/10, 1/1000)^30", "3/2", digits=60)
    assert found.digits >= 60
    assert found.shown(50).startswith(KNOWN)
    with mp.workdps(130):
        truth = optimal_by_sum(mpf(1) / 10, mpf(1) / 1000, 30, mpf(3) / 2)
    assert holds(found, truth, 120)


EXTREME = [
    ("1e-9", "0", 1, "0"),
    ("1e-9", "0", 7, "3e-9"),
    ("1e-9", "1e-12", 1000, "1e-8"),
    ("1e-9", "1e-300", 2000, "1.9e-6"),
    ("50", "0", 1, "0"),
    ("50", "0", 1, "49.999999999"),
    ("50", "1e-30", 20, "700"),
    ("50", "1e-5", 3, "50"),
    ("20", "0", 500, "10"),
    ("0.01", "1e-10", 20_000, "5"),
    ("0.01", "0", 20_000, "150"),
    ("0.001", "1e-9", 100_000, "1/2"),
    ("sqrt(2)/10", "1/pi^20", 300, "log(10)"),
    ("0.1", "0.5", 4, "0.39"),
]


def by_sum(eps: str, d: str, count: int, point: str, dps: int) -> mpf:
    names = {"sqrt": mp.sqrt, "log": mp.log, "pi": mp.pi, "mpf": mpf}

    def number(text: str) -> mpf:
        if any(name in text for name in ("sqrt", "log", "pi")):
            return mpf(eval(text.replace("^", "**"), names))  # text of ours
        return to_mpf(Fraction(text))

    with mp.workdps(dps):
        return optimal_by_sum(number(eps), number(d), count, number(point))


@pytest.mark.parametrize(("eps", "d", "count", "point"), EXTREME)
def test_extreme_parameters(eps: str, d: str, count: int, point: str) -> None:
    found = delta(approx_dp(eps, d) ** count, point, digits=20)
    truth = by_sum(eps, d, count, point, 400 if "e-300" in d else 80)
    assert found.digits >= 20
    assert holds(found, truth, 40)


@given(
    st.fractions(min_value=Fraction(1, 100), max_value=5, max_denominator=100),
    st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=10**6),
    st.integers(1, 300),
    st.fractions(min_value=0, max_value=Fraction(9, 10), max_denominator=50),
)
@settings(max_examples=scaled(100))
def test_random_parameters(eps: Fraction, d: Fraction, count: int, share: Fraction) -> None:
    point = share * count * eps
    found = delta(approx_dp(eps, d) ** count, point)
    assert found.digits >= 15
    assert holds(found, by_sum(str(eps), str(d), count, str(point), 320), 40)


def check_large_count(count: int, eps: str, point: int) -> None:
    found = delta(pure_dp(eps) ** count, point, digits=30)
    assert found.digits >= 30
    m = (Fraction(point) / Fraction(eps) + count) / 2
    first = math.floor(m) + 1
    with mp.workdps(70):
        e = to_mpf(Fraction(eps))
        q = 1 / (1 + mp.exp(-e))
        tails = [binomial_tail_by_quadrature(count, first, p) for p in (q, 1 - q)]
        truth = tails[0] - mp.exp(point) * tails[1]
    assert holds(found, truth, 33)


@pytest.mark.parametrize(
    ("count", "eps", "point"), [(10**8, "1e-4", 2), (10**12, "1e-6", 5), (10**15, "1e-8", 1)]
)
def test_large_counts_against_quadrature(count: int, eps: str, point: int) -> None:
    check_large_count(count, eps, point)


def test_large_counts_approach_the_gaussian() -> None:
    """The limit of ``pure_dp(1/sqrt(k))^k`` is 1-GDP; the gap falls as ``1/k``."""
    limit = delta("gdp(1)", 1)
    gaps = []
    for digits in (2, 3, 4, 5, 6):
        found = delta(pure_dp(Fraction(1, 10**digits)) ** 10 ** (2 * digits), 1)
        gaps.append(abs(found.upper - limit.upper))
    for wide, narrow in itertools.pairwise(gaps):
        assert 20 * narrow < wide


# --- the affine pieces ----------------------------------------------------------------------------


@given(
    st.fractions(min_value=Fraction(1, 20), max_value=2, max_denominator=20),
    st.integers(1, 30),
    st.data(),
)
@settings(max_examples=scaled(60))
def test_delta_is_affine_in_the_exponential_between_breakpoints(
    eps: Fraction, count: int, data: st.DataObject
) -> None:
    piece = data.draw(st.integers(0, count // 2 - 1)) if count > 1 else 0
    start = (count - 2 * (piece + 1)) * eps if count > 1 else Fraction(0)
    width = 2 * eps if count > 1 else eps
    m = pure_dp(eps) ** count
    with mp.workdps(60):
        points = [max(start, Fraction(0)) + width * t / 10 for t in (1, 4, 8)]
        if points[-1] >= start + width:
            return
        x = [mp.exp(to_mpf(p)) for p in points]
        y = [to_mpf(Fraction(delta(m, p, digits=40).upper)) for p in points]
        bend = (y[1] - y[0]) * (x[2] - x[1]) - (y[2] - y[1]) * (x[1] - x[0])
        assert abs(bend) < mpf(10) ** -30 * x[2]


# --- the inverse ----------------------------------------------------------------------------------


@given(
    st.fractions(min_value=Fraction(1, 100), max_value=5, max_denominator=100),
    st.fractions(min_value=0, max_value=Fraction(1, 10), max_denominator=10**6),
    st.integers(1, 100),
    st.fractions(min_value=0, max_value=Fraction(19, 20), max_denominator=40),
)
@settings(max_examples=scaled(100))
def test_epsilon_of_delta_is_the_way_back(
    eps: Fraction, d: Fraction, count: int, share: Fraction
) -> None:
    m = approx_dp(eps, d) ** count
    point = share * count * eps
    image = delta(m, point, digits=40)
    low = epsilon(m, image.upper, digits=20)  # a larger delta asks for a smaller epsilon
    high = epsilon(m, image.lower, digits=20)
    assert low.lower <= point <= high.upper
    if image.upper < Fraction(9, 10):  # where delta is not flat
        assert abs(low.upper - point) <= (point + 1) / 10**15
        assert abs(high.lower - point) <= (point + 1) / 10**15


@pytest.mark.parametrize("count", [1, 2, 9, 10])
def test_the_inverse_at_exact_breakpoints(count: int) -> None:
    m = approx_dp("log(3/2)", "1/7") ** count
    for i in range(count // 2 + 1):
        target = printed_theorem(Fraction(3, 2), Fraction(1, 7), count, i)
        found = epsilon(m, target, digits=20)
        with mp.workdps(60):
            assert holds(found, (count - 2 * i) * mp.log(mpf(3) / 2), 50)
        assert found.digits >= 20


def test_the_inverse_at_the_mass_of_infinite_loss() -> None:
    m = approx_dp("1/10", "1/1000") ** 30
    mass = 1 - Fraction(999, 1000) ** 30
    assert epsilon(m, mass) == Enclosure.exact(Fraction(3))
    assert epsilon(m, mass - Fraction(1, 10**200)) == Enclosure.exact(math.inf)
    just_above = epsilon(m, mass + Fraction(1, 10**200), digits=20)
    assert just_above.upper < 3 + Fraction(1, 10**18)
    assert just_above.lower > 3 - Fraction(1, 10**18)
    assert epsilon(pure_dp("log(2)") ** 5, 0, digits=30).digits >= 30
    with mp.workdps(60):
        assert holds(epsilon(pure_dp("log(2)") ** 5, 0, digits=30), 5 * mp.log(2), 50)


def test_the_inverse_ends_at_zero() -> None:
    m = approx_dp("log(3)", "1/10") ** 2
    start = delta(m, 0)
    assert start.is_exact
    assert epsilon(m, start.lower) == Enclosure.exact(Fraction(0))
    assert epsilon(m, start.lower + Fraction(1, 10**100)) == Enclosure.exact(Fraction(0))
    below = epsilon(m, start.lower - Fraction(1, 10**30), digits=10)
    assert 0 < below.lower < Fraction(1, 10**28)
    assert below.digits >= 10
    assert epsilon("pure_dp(0.3)^7", "0.9") == Enclosure.exact(Fraction(0))
    assert epsilon("approx_dp(0.3, sqrt(2)/10)^7", 1) == Enclosure.exact(Fraction(0))


@pytest.mark.parametrize("count", [1, 3, 100_000])
def test_when_everything_is_revealed(count: int) -> None:
    m = approx_dp(1, 1) ** count
    assert delta(m, 5) == Enclosure.exact(Fraction(1))
    assert epsilon(m, 1) == Enclosure.exact(Fraction(0))
    assert epsilon(m, "0.999") == Enclosure.exact(math.inf)


def test_large_counts_inverse() -> None:
    found = epsilon("pure_dp(1e-6)^1000000000000", "1e-6", digits=30)
    assert found.digits >= 30
    assert delta("pure_dp(1e-6)^1000000000000", found.lower, digits=40).upper >= Fraction(1, 10**6)
    assert delta("pure_dp(1e-6)^1000000000000", found.upper, digits=40).lower <= Fraction(1, 10**6)


@pytest.mark.parametrize(
    ("eps", "target"), [("1e-8", "1e-6"), ("1e-3", "1e-6"), ("1e-15", "1e-30")]
)
def test_the_largest_counts_answer_in_bounded_time(eps: str, target: str) -> None:
    m = pure_dp(eps) ** 10**15
    start = time.process_time()
    try:
        found = epsilon(m, target)
    except PrecisionNotReached as error:
        found = error.best
    try:
        image = delta(m, found.upper if found.upper < math.inf else 1)
    except PrecisionNotReached as error:
        image = error.best
    assert time.process_time() - start < 60
    assert image.lower <= Fraction(target)


# --- what cannot be decided -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("m", "target"),
    [
        ("pure_dp(100)^10", "1-1e-190"),
        ("pure_dp(1e-300)^3", "1e-400"),
        ("pure_dp(100)^11", "1-1e-220"),
    ],
)
def test_the_best_enclosure_of_an_undecided_inverse_is_right(m: str, target: str) -> None:
    """Near delta(0) the search cannot tell; then every epsilon up to k*eps stays possible."""
    try:
        found = epsilon(m, target)
    except PrecisionNotReached as error:
        found = error.best
    goal = real(target).fraction
    assert goal is not None
    with mp.workdps(600):
        at_upper = optimal_by_sum(
            mpf(m[8:].partition(")")[0]), mpf(0), int(m.rpartition("^")[2]), to_mpf(found.upper)
        )
        assert to_fraction(at_upper) <= goal


def test_a_target_known_only_roughly_does_not_pick_the_wrong_piece() -> None:
    """With an irrational delta the share of finite loss is a difference of nearly equal numbers.

    The target lies 1e-210 above the mass of infinite loss, far below what the bisection can see
    at low precision, where it must not settle for the first breakpoint that it cannot decide.
    """
    d = "sqrt(2)/1000000000"
    count = 4400
    with mp.workdps(400):
        mass = -mp.expm1(count * mp.log1p(-mp.sqrt(2) / 10**9))
        target = to_fraction(mass) + Fraction(1, 10**210)
        target = Fraction(round(target * 10**380), 10**380)
    m = approx_dp("1/10", d) ** count
    try:
        found = epsilon(m, target)
    except PrecisionNotReached as error:
        found = error.best
    with mp.workdps(500):
        below = to_mpf(Fraction(999, 1000)) * to_mpf(found.lower)
        values = [
            optimal_by_sum(mpf(1) / 10, mp.sqrt(2) / 10**9, count, point)
            for point in (below, min(to_mpf(found.upper), mpf(440)) * mpf("1.001"))
        ]
        assert values[0] >= to_mpf(target) >= values[1]


def test_undecidable_thresholds_give_the_union() -> None:
    """``sqrt(2)*sqrt(3) - sqrt(6)`` is 0, but not visibly: two thresholds stay possible."""
    hidden = "2+(sqrt(2)*sqrt(3)-sqrt(6))"
    plain = delta("pure_dp(1)^4", 2, digits=20)
    found = delta("pure_dp(1)^4", hidden, digits=20)
    assert found.overlaps(plain)
    assert found.digits >= 20
    with pytest.raises(PrecisionNotReached) as caught:
        delta("pure_dp(1)^4", "4+(sqrt(2)*sqrt(3)-sqrt(6))")
    assert 0 in caught.value.best


def test_beyond_the_largest_loss() -> None:
    assert delta("pure_dp(0.1)^10", 1) == Enclosure.exact(Fraction(0))
    assert delta("approx_dp(0.1, 1/2)^2", "0.3") == Enclosure.exact(Fraction(3, 4))
    assert delta("pure_dp(1)^10", "exp(exp(20))") == Enclosure.exact(Fraction(0))
    assert delta("pure_dp(1)^10", "pi^3").upper == 0
    assert delta("approx_dp(1, sqrt(2)/2)^2", "pi^3", digits=20).digits >= 20


def test_many_possible_thresholds_are_a_doubt() -> None:
    """At the least of them the test gains a little too much, at the others hardly less."""
    profile = OptimalComposition(real("1e-3"), 10**6, InfiniteLoss())
    with balls.precision(64):
        blurred = profile.finite_ball(arb(1, 0.02))
        assert blurred.is_finite()
        assert profile.tangent(arb(1, 0.02)).doubt > 0.001
    with balls.precision(200):
        for point in ("0.98", "1", "1.02"):
            assert blurred.contains(profile.finite_ball(arb(point)))
        assert not profile.finite_ball(arb("1e300", "1e299")).is_finite()


def test_exact_answers_stop_at_a_moderate_size() -> None:
    """Beyond it the same question is answered by balls."""
    found = delta("pure_dp(log(3/2))^100000", "log(2)", digits=30)
    assert not found.is_exact
    assert found.digits >= 30
    assert 1 - Fraction(1, 10**1000) < found.upper <= 1
    top = delta("pure_dp(log(3/2))^30000", "29998*log(3/2)", digits=30)
    assert Fraction(3, 5) ** 30000 * Fraction(5, 9) in top


def test_irrational_masses_and_targets_on_the_way_back() -> None:
    m = approx_dp("1/10", "sqrt(2)/1000") ** 30
    for target in ("0.1", "sqrt(2)/10", "log(1.2)"):
        found = epsilon(m, target, digits=20)
        assert found.digits >= 20
        goal = balls.certify(lambda text=target: balls.ball(real(text)), 60)  # type: ignore[misc]
        assert delta(m, found.lower, digits=40).upper >= goal.lower
        assert delta(m, found.upper, digits=40).lower <= goal.upper
    rational = approx_dp("1/10", "1/1000") ** 30
    assert epsilon(rational, "sqrt(2)/10", digits=20).digits >= 20


def test_an_epsilon_that_low_precision_does_not_see() -> None:
    found = delta("pure_dp(0.1)^30", "(exp(300)+3/2)-exp(300)", digits=20)
    assert found.digits >= 20
    assert found.overlaps(delta("pure_dp(0.1)^30", "3/2", digits=20))


def test_levels_below_one_count_every_outcome() -> None:
    for level in (Fraction(0), Fraction(1, 10**6), Fraction(2, 3)):
        for count in range(1, 6):
            assert binomial_divergence(Fraction(7, 4), count, level) == optimal_exact(
                Fraction(7, 4), Fraction(0), count, level
            )


def test_a_target_equal_to_an_irrational_mass() -> None:
    """Written alike it is equal; otherwise that stays open, and only a lower bound is left."""
    assert epsilon("approx_dp(1, sqrt(2)/2)", "sqrt(2)/2") == Enclosure.exact(Fraction(1))
    with pytest.raises(PrecisionNotReached, match="infinite loss") as caught:
        epsilon("approx_dp(1, sqrt(2)/2)", "sqrt(3)/sqrt(6)")
    assert 1 in caught.value.best
    assert caught.value.best.lower > 1 - Fraction(1, 10**14)
    assert caught.value.best.upper == math.inf


# --- power: wrong formulas are noticed ------------------------------------------------------------


def check_against_sums() -> None:
    for eps, d, count, point in [
        ("0.1", "0.001", 30, "1.5"),
        ("50", "1e-5", 3, "50"),
        ("0.1", "0.5", 4, "0.25"),
    ]:
        found = delta(approx_dp(eps, d) ** count, point, digits=20)
        assert holds(found, by_sum(eps, d, count, point, 80), 40)


def check_exact() -> None:
    for count, power in ((9, 3), (4, 1), (5, 2)):
        found = delta(approx_dp("log(3/2)", "1/7") ** count, f"{power}*log(3/2)")
        level = Fraction(3, 2) ** power
        assert found == Enclosure.exact(optimal_exact(Fraction(3, 2), Fraction(1, 7), count, level))


def check_inverse() -> None:
    for target in ("0.04", "0.1", "0.3"):
        m = approx_dp("1/10", "1/1000") ** 30
        found = epsilon(m, target, digits=20)
        assert found.lower == 0 or delta(m, found.lower, digits=40).upper >= Fraction(target)
        assert delta(m, found.upper, digits=40).lower <= Fraction(target)


Mutant = tuple[Callable[[], None], Any, str, Any]

tail = binomial.binomial_tail
divergence = closed_form.exact_responses
infinite_ball = InfiniteLoss.ball
threshold = closed_form.threshold
tangent = OptimalComposition.tangent
share = OptimalComposition._share

MUTANTS: dict[str, Mutant] = {
    "tail from m+1": (
        check_against_sums,
        binomial,
        "binomial_tail",
        lambda n, m, p, q: tail(n, min(m + 1, n), p, q),
    ),
    "P and Q swapped": (
        check_against_sums,
        OptimalComposition,
        "tangent",
        lambda self, e: Tangent(*tangent(self, e)[1::-1], arb(0)),
    ),
    "threshold one too high": (
        check_against_sums,
        closed_form,
        "threshold",
        lambda x, apart, count: threshold(x + 1, apart, count),
    ),
    "delta counted once": (
        check_against_sums,
        InfiniteLoss,
        "ball",
        lambda self: infinite_ball(InfiniteLoss(tuple((d, 1) for d, _ in self.masses))),
    ),
    "k delta for 1-(1-delta)^k": (
        check_against_sums,
        InfiniteLoss,
        "ball",
        lambda self: sum(balls.ball(d) * k for d, k in self.masses),
    ),
    "a rounded ball": (
        check_against_sums,
        balls,
        "to_enclosure",
        lambda x, method="": Enclosure.exact(Fraction(float(x.mid())), method),
    ),
    "exact: one repetition short": (
        check_exact,
        closed_form,
        "exact_responses",
        lambda parts, level: divergence([(eps, k - 1) for eps, k in parts], level),
    ),
    "exact: level off by a little": (
        check_exact,
        closed_form,
        "exact_responses",
        lambda parts, level: divergence(parts, level * (1 + Fraction(1, 10**50))),
    ),
    "inverse of a target a little too large": (
        check_inverse,
        OptimalComposition,
        "_share",
        lambda self, delta: share(self, delta) * arb("1.0001"),
    ),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_wrong_formulas_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check, owner, attribute, wrong = MUTANTS[name]
    check()
    monkeypatch.setattr(owner, attribute, wrong)
    with pytest.raises(AssertionError):
        check()


@pytest.mark.parametrize(("count", "target"), [(10**9, "0.5"), (10**18, "0.9999999999")])
def test_epsilon_is_found_where_losses_spread_over_millions(count, target):
    mechanism, goal = pure_dp(1) ** count, Fraction(target)
    found = epsilon(mechanism, target)
    apart = Fraction(found.upper) / 10**12
    assert delta(mechanism, Fraction(found.lower) - apart).lower > goal
    assert delta(mechanism, Fraction(found.upper) + apart).upper < goal
