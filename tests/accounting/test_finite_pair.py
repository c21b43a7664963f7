"""Finite pairs, symmetric or not, against sums over all outcomes in fractions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import scaled
from small_laws import Pair, hockey_stick, on_sample, product, repeated

from dpexact import (
    Enclosure,
    UnsupportedMechanism,
    approx_dp,
    approximation_error,
    bounds,
    delta,
    epsilon,
    gaussian,
    laplace,
    pair,
    parse,
    poisson,
    renyi,
    tradeoff,
)
from dpexact.answers import best_of
from dpexact.arguments import Direction
from dpexact.certificate_checker_mpfr import checking
from dpexact.certificates import certificate
from dpexact.conversion import real
from dpexact.mechanisms import Mechanism

Law = list[Pair]
WAYS: tuple[Direction, ...] = ("remove", "add", "both")

weights = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=4).filter(
    lambda rows: sum(a for a, _ in rows) > 0 and sum(b for _, b in rows) > 0
)
rates = st.fractions(min_value=Fraction(1, 7), max_value=Fraction(6, 7), max_denominator=7)
levels = st.fractions(min_value=Fraction(1, 10), max_value=4, max_denominator=10)


def law_of(rows: Sequence[tuple[int, int]]) -> Law:
    p, q = sum(a for a, _ in rows), sum(b for _, b in rows)
    return [(Fraction(a, p), Fraction(b, q)) for a, b in rows if a or b]


def reverse(law: Law) -> Law:
    return [(b, a) for a, b in law]


laws = weights.map(law_of)


def composed(kind: str, law: Law, other: Law, rate: Fraction) -> tuple[Mechanism, Law, Law]:
    """A mechanism with its outcomes, removing and adding."""
    m, n = pair(*law), pair(*other)
    leak = [(Fraction(8, 15), Fraction(4, 15)), (Fraction(4, 15), Fraction(8, 15))]
    leak += [(Fraction(1, 5), Fraction(0)), (Fraction(0), Fraction(1, 5))]
    both = product(law, other)
    match kind:
        case "one":
            return m, law, reverse(law)
        case "product":
            return m * n, both, reverse(both)
        case "square":
            return m**2, repeated(law, 2), reverse(repeated(law, 2))
        case "leak":
            whole = product(law, leak)
            return m * approx_dp("log(2)", "1/5"), whole, reverse(whole)
        case "sample":
            return poisson(m, rate), on_sample(law, rate, False), on_sample(law, rate, True)
        case "two samples":
            ways = [repeated(on_sample(law, rate, add), 2) for add in (False, True)]
            return poisson(m, rate) ** 2, ways[0], ways[1]
        case "sample beside":
            down = product(on_sample(law, rate, False), other)
            up = product(on_sample(law, rate, True), reverse(other))
            return poisson(m, rate) * n, down, up
        case "sampled squares":
            square = repeated(law, 2)
            ways = [repeated(on_sample(square, rate, add), 2) for add in (False, True)]
            return poisson(m**2, rate) ** 2, ways[0], ways[1]
        case "sampled square beside":
            square = repeated(law, 2)
            down = product(on_sample(square, rate, False), other)
            up = product(on_sample(square, rate, True), reverse(other))
            return poisson(m**2, rate) * n, down, up
    return poisson(m * n, rate), on_sample(both, rate, False), on_sample(both, rate, True)


kinds = st.sampled_from(
    [
        "one",
        "product",
        "square",
        "leak",
        "sample",
        "two samples",
        "sample beside",
        "sampled squares",
        "sampled square beside",
        "of a product",
    ]
)


def chosen(way: Direction, down: Law, up: Law) -> list[Law]:
    return {"remove": [down], "add": [up], "both": [down, up]}[way]


@given(kinds, laws, laws, rates, levels, st.sampled_from(WAYS))
@settings(max_examples=scaled(150), deadline=None)
def test_delta_is_the_sum_over_outcomes(
    kind: str, law: Law, other: Law, rate: Fraction, level: Fraction, way: Direction
) -> None:
    m, down, up = composed(kind, law, other, rate)
    truth = max(hockey_stick(outcomes, level) for outcomes in chosen(way, down, up))
    found = delta(m, f"log({level})", 20, way)
    assert truth in found
    at = real(f"log({level})")
    if delta(m, 0, 1).upper > 0:  # the lattice engine needs a loss
        assert truth in best_of(lambda: delta(m, at, 1, way, method="lattice"))


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(
    "text",
    [
        "poisson(pair((1/2, 1/4), (1/4, 1/2), (1/4, 1/4))^2, 1/2)^2",
        "poisson(partition_selection(1, 1/10)^2, 1/2)^2",
        "poisson(randomized_response(log(3), 3)^2 * pair((1, 2/3), (0, 1/3))^3, 1/2)^2",
        "poisson(truncated_discrete_gaussian(1, 2)^2, 1/2) * pure_dp(1/3)",
    ],
)
def test_powers_on_samples_keep_outcomes_of_different_losses_apart(
    text: str, direction: Direction
) -> None:
    """The loss of an outcome is no multiple of its place in the list."""
    found = delta(text, "1/10", 12, direction)
    lattice = best_of(lambda: delta(text, "1/10", 5, direction, method="lattice"))
    assert lattice.digits >= 3
    assert found.overlaps(lattice)


def smallest(law: Law, target: Fraction) -> Fraction | float:
    """``e^eps`` for the smallest ``eps >= 0`` of delta at most the target."""
    if hockey_stick(law, Fraction(1)) <= target:
        return Fraction(1)
    if sum(p for p, q in law if q == 0) > target:
        return math.inf
    kinks = sorted({p / q for p, q in law if q and p > q})
    low = Fraction(1)
    for high in kinks:
        there = hockey_stick(law, high)
        if there <= target:
            here = hockey_stick(law, low)
            return high if here == there else low + (high - low) * (here - target) / (here - there)
        low = high
    return low


@given(kinds, laws, laws, rates, st.fractions(0, 1, max_denominator=12), st.sampled_from(WAYS))
@settings(max_examples=scaled(120), deadline=None)
def test_epsilon_lies_where_the_sum_crosses(
    kind: str, law: Law, other: Law, rate: Fraction, target: Fraction, way: Direction
) -> None:
    m, down, up = composed(kind, law, other, rate)
    truth = max(smallest(outcomes, target) for outcomes in chosen(way, down, up))
    found = best_of(lambda: epsilon(m, target, 12, way))
    if truth == math.inf:
        assert found.lower == math.inf
        return
    with mp.workdps(60):
        log = mp.log(mpf(truth.numerator) / truth.denominator)
        width = mpf(10) ** -40
        assert mpf(found.lower.numerator) / found.lower.denominator <= log + width
        if found.upper != math.inf:
            assert mpf(found.upper.numerator) / found.upper.denominator >= log - width


def moment(law: Law, order: mpf) -> mpf:
    total = mpf(0)
    for p, q in law:
        if p and not q:
            return mp.inf
        if p:
            x, y = mpf(p.numerator) / p.denominator, mpf(q.numerator) / q.denominator
            total += x * mp.log(x / y) if order == 1 else x**order * y ** (1 - order)
    return total if order == 1 else mp.log(total) / (order - 1)


@given(
    kinds.filter(lambda kind: kind != "leak"),
    laws,
    laws,
    rates,
    st.sampled_from(["1", "1.5", "2", "7/2", "5"]),
    st.sampled_from(WAYS),
)
@settings(max_examples=scaled(120), deadline=None)
def test_divergences_are_sums_over_outcomes(
    kind: str, law: Law, other: Law, rate: Fraction, order: str, way: Direction
) -> None:
    m, down, up = composed(kind, law, other, rate)
    found = best_of(lambda: renyi(m, order, 15, way))
    with mp.workdps(50):
        truth = max(
            moment(outcomes, mpf(Fraction(order).numerator) / Fraction(order).denominator)
            for outcomes in chosen(way, down, up)
        )
        if truth == mp.inf:
            assert found.lower == math.inf
        else:
            assert mpf(found.lower.numerator) / found.lower.denominator <= truth + mpf(10) ** -40
            assert mpf(found.upper.numerator) / found.upper.denominator >= truth - mpf(10) ** -40
            assert found.digits >= 15


def test_the_largest_loss_is_that_of_the_direction() -> None:
    m = pair(("1/5", "3/5"), ("4/5", "2/5"))
    assert renyi(m, "inf", direction="remove").shown(6) == "0.693147..."
    assert renyi(m, "inf", direction="add").shown(6) == "1.09861..."
    assert renyi(m, "inf").shown(6) == "1.09861..."
    sample = poisson(m, "1/2")
    assert renyi(sample, "inf", direction="remove").shown(6) == "0.405465..."  # log(3/2)
    assert renyi(sample, "inf", direction="add").shown(6) == "0.405465..."  # -log(2/3)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("zero", [False, True])
def test_contours_take_pairs_that_are_not_symmetric(way: Direction, zero: bool) -> None:
    """Against the mean of the Gaussian profile over the outcomes."""
    law: Law = [(Fraction(1, 2), Fraction(1, 3)), (Fraction(1, 3), Fraction(1, 3))]
    law += [(Fraction(1, 6), Fraction(0)), (Fraction(0), Fraction(1, 3))] if zero else []
    law += [] if zero else [(Fraction(1, 6), Fraction(1, 3))]
    with mp.workdps(40):
        values = []
        for outcomes in chosen(way, law, reverse(law)):
            total = mpf(0)
            for p, q in outcomes:
                x, y = mpf(p.numerator) / p.denominator, mpf(q.numerator) / q.denominator
                if not q:
                    total += x
                elif p:
                    e = mpf(1) / 4 - mp.log(x / y)
                    total += x * (
                        mp.ncdf(mpf(1) / 4 - 2 * e) - mp.exp(e) * mp.ncdf(-mpf(1) / 4 - 2 * e)
                    )
            values.append(total)
        found = delta(pair(*law) * gaussian(2), "1/4", 15, way)
        truth = max(values)
        assert abs(mpf(found.lower.numerator) / found.lower.denominator - truth) < mpf(10) ** -14
        assert mpf(found.upper.numerator) / found.upper.denominator > truth - mpf(10) ** -28


def test_both_is_the_worse_direction_and_not_the_first() -> None:
    m = pair((0, "1/10"), (1, "9/10"))
    assert delta(m, 5, direction="remove") == Enclosure.exact(Fraction(0))
    assert delta(m, 5) == Enclosure.exact(Fraction(1, 10))
    assert delta(m, 5, direction="add") == delta(m, 5)
    assert epsilon(m, "1/20").lower == math.inf


def test_equal_laws_lose_nothing_and_disjoint_ones_everything() -> None:
    assert delta(pair(("1/3", "1/3"), ("2/3", "2/3")) ** 9, 0).upper == 0
    assert delta(pair((1, 0), (0, 1)) * laplace(3), 50).lower == 1
    assert delta(poisson(pair((1, 0), (0, 1)), "1/4"), 1, direction="remove").lower == Fraction(
        1, 4
    )


def test_theorems_on_symmetric_pairs_are_not_applied() -> None:
    m = poisson(pair(("1/5", "3/5"), ("4/5", "2/5")), "1/4") ** 3
    assert "symmetric" in bounds(m, "1/100")["C_p"].reason


@pytest.mark.slow
def test_many_outcomes_are_summed_exactly() -> None:
    n = 3000
    total = n * (n + 1) // 2
    rows = [(Fraction(k, total), Fraction(n + 1 - k, total)) for k in range(1, n + 1)]
    found = delta(pair(*rows), "log(2)", 30)
    assert found.lower == found.upper == hockey_stick(rows, Fraction(2))
    assert epsilon(pair(*rows), "1/10", 12).digits >= 12
    with pytest.raises(UnsupportedMechanism):
        delta(pair(*rows) ** 2, 1, method="contour")


def least_error(law: Law, alpha: Fraction) -> Fraction:
    """The least type II error under Q of tests of type I error ``alpha`` under P."""
    left, beta = alpha, Fraction(1)
    for p, q in sorted(law, key=lambda a: -a[1] / a[0] if a[0] else -math.inf):
        share = min(left / p, Fraction(1)) if p else Fraction(1)
        left, beta = left - share * p, beta - share * q
    return beta


@given(laws, laws, st.fractions(0, 1, max_denominator=15))
@settings(max_examples=scaled(60), deadline=None)
def test_the_tradeoff_function_is_exact(law: Law, other: Law, alpha: Fraction) -> None:
    m, outcomes = pair(*law) * pair(*other), product(law, other)
    down, up = least_error(outcomes, alpha), least_error(reverse(outcomes), alpha)
    assert tradeoff(m, "remove")(alpha) == Enclosure.exact(down)
    assert tradeoff(m, "add")(alpha) == Enclosure.exact(up)
    found = tradeoff(m)(alpha)
    assert found.is_exact
    assert found.upper <= min(down, up)
    # the hull is the supremum of the lines of the profile of both directions
    for level in (Fraction(1, 3), Fraction(4, 5), Fraction(1), Fraction(3, 2), Fraction(5)):
        worst = max(hockey_stick(x, level) for x in (outcomes, reverse(outcomes)))
        assert found.lower >= 1 - worst - level * alpha


@pytest.mark.parametrize("way", WAYS)
def test_tradeoffs_of_samples_follow_the_direction(way: Direction) -> None:
    law = [(Fraction(1, 2), Fraction(1, 3)), (Fraction(1, 2), Fraction(1, 3))]
    law += [(Fraction(0), Fraction(1, 3))]
    sample = on_sample(law, Fraction(1, 2), False)
    f = tradeoff(poisson(pair(*law), "1/2"), way)
    values = {"remove": least_error(sample, Fraction(1, 4))}
    values["add"] = least_error(reverse(sample), Fraction(1, 4))
    found = f("1/4", 8)
    if way == "both":
        assert found.upper <= min(values.values())
    else:
        assert values[way] in found
        assert values["add" if way == "remove" else "remove"] in f.inverse()("1/4", 8)


def test_approximations_of_symmetric_pairs_are_not_applied() -> None:
    m = pair(("1/5", "3/5"), ("4/5", "2/5")) ** 20
    with pytest.raises(UnsupportedMechanism, match="symmetric"):
        approximation_error(m, "clt", 1)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", ["pair((1, 0), (0, 1)) * pure_dp(log(2))", "pair((1, 0), (0, 1))"])
def test_certificates_of_disjoint_laws(text: str, way: Direction) -> None:
    m, at = parse(text), real("1/2")
    assert checking.check(certificate(m, "delta", at, way, delta(m, at, 15, way)))
