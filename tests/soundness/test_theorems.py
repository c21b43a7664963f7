"""The theorems of ``docs/theory`` on dominating pairs, on random finite laws in exact fractions.

Only the last tests ask dpexact. A profile of a finite pair is linear in ``e^eps`` between the
likelihood ratios, so one profile is nowhere above another when it is not above at these points.
Each theorem is also broken on purpose: a hypothesis is dropped, and the conclusion fails.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, pairwise

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import scaled
from small_laws import Pair, hockey_stick, leak, on_sample, product, response

from dpexact import delta, epsilon, parse
from dpexact.accounting.composition import Composition
from dpexact.reals import rational

Law = list[Pair]
Kernel = list[list[Fraction]]

ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)
REVEALING: Law = [(ONE, ZERO), (ZERO, ONE)]


# --- laws, kernels, order -------------------------------------------------------------------------


def normalised(weights: list[int]) -> list[Fraction]:
    return [Fraction(w, sum(weights)) for w in weights]


masses = st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any).map(normalised)
pairs = st.tuples(masses, masses).map(lambda rows: list(zip(*rows, strict=True)))
kernels = st.lists(masses, min_size=3, max_size=3)
rates = st.sampled_from([Fraction(1, 10), Fraction(1, 3), HALF, Fraction(9, 10)])


def processed(law: Law, kernel: Kernel) -> Law:
    columns = zip(*kernel, strict=True)
    return [
        (
            sum((p * k for (p, _), k in zip(law, column, strict=True)), ZERO),
            sum((q * k for (_, q), k in zip(law, column, strict=True)), ZERO),
        )
        for column in columns
    ]


def swapped(law: Law) -> Law:
    return [(q, p) for p, q in law]


def symmetric(law: Law) -> Law:
    """A pair that exchanging ``P`` and ``Q`` maps to itself."""
    return [(p / 2, q / 2) for p, q in [*law, *swapped(law)]]


def ratios(law: Law) -> list[Fraction]:
    return [p / q for p, q in law if q > 0]


def exceeding(small: Law, large: Law, least: Fraction = ZERO) -> Fraction | None:
    """A point from ``least`` on where the profile of ``small`` is above that of ``large``."""
    points = {least, *(r for r in [*ratios(small), *ratios(large)] if r > least)}
    points.add(max(points) + 1)  # from there on both are constant
    for alpha in sorted(points):
        if hockey_stick(small, alpha) > hockey_stick(large, alpha):
            return alpha
    return None


def dominates(large: Law, small: Law) -> bool:
    return exceeding(small, large) is None


def mixed(laws: list[tuple[Fraction, Law]]) -> Law:
    """The same weights under ``P`` and ``Q``, outcome by outcome."""
    size = len(laws[0][1])
    return [
        (
            sum((w * law[i][0] for w, law in laws), ZERO),
            sum((w * law[i][1] for w, law in laws), ZERO),
        )
        for i in range(size)
    ]


@given(pairs, kernels)
def test_post_processing_is_dominated_and_so_is_its_reverse(law, kernel):
    assert dominates(law, processed(law, kernel))
    assert dominates(swapped(law), swapped(processed(law, kernel)))


@given(pairs)
def test_renyi_divergence_of_order_two_is_an_integral_of_the_profile(law):
    assume(all(q > 0 for p, q in law if p > 0))
    points = sorted({ZERO, *ratios(law)})
    integral = sum(
        (b - a) * (hockey_stick(law, a) + hockey_stick(law, b)) for a, b in pairwise(points)
    )
    assert integral == sum((p * p / q for p, q in law if p > 0), ZERO)


@given(pairs)
def test_the_profile_decreases_strictly_up_to_the_largest_loss(law):
    finite = [r for r in ratios(law) if r > 0]
    assume(finite)
    lost = sum((p for p, q in law if q == 0), ZERO)
    largest = max(finite)
    points = [largest * Fraction(i, 7) for i in range(8)]
    values = [hockey_stick(law, alpha) for alpha in points]
    assert all(a > b for a, b in pairwise(values))
    assert values[-1] == lost == hockey_stick(law, 2 * largest)


# --- adaptive composition -------------------------------------------------------------------------


def adaptive(first: Law, seconds: list[Law]) -> Law:
    """The outputs of two steps, of which the second looks at the first."""
    return [(a * c, b * d) for (a, b), then in zip(first, seconds, strict=True) for c, d in then]


@given(pairs, pairs, kernels, st.lists(kernels, min_size=3, max_size=3))
def test_the_product_dominates_adaptive_composition(one, two, kernel, after):
    first = processed(one, kernel)
    composed = adaptive(first, [processed(two, k) for k in after])
    assert dominates(product(one, two), composed)


@given(pairs, pairs, pairs, st.lists(kernels, min_size=3, max_size=3))
def test_the_product_of_three_dominates(one, two, three, after):
    composed = adaptive(one, [processed(two, k) for k in after])
    last = [processed(three, after[i % 3]) for i in range(len(composed))]
    assert dominates(product(product(one, two), three), adaptive(composed, last))


@given(pairs, pairs, st.integers(0, 2))
def test_one_output_after_which_the_second_step_is_not_dominated_is_enough(one, two, place):
    assume(min(one[place]) > 0)
    assume(any(min(pair) > 0 for pair in two))
    seconds = [two, two, two]
    seconds[place] = REVEALING
    assert not dominates(product(one, two), adaptive(one, seconds))


def test_profiles_at_positive_epsilon_alone_do_not_suffice():
    claimed, true = (on_sample(response(Fraction(9)), HALF, add) for add in (False, True))
    assert exceeding(true, claimed, least=ONE) is None
    assert exceeding(true, claimed) is not None
    first = response(Fraction(9))
    assert exceeding(product(first, true), product(first, claimed), least=ONE) is not None


# --- Poisson samples ------------------------------------------------------------------------------


def subsets(records: str) -> list[str]:
    return ["".join(c) for n in range(len(records) + 1) for c in combinations(records, n)]


def chance(sample: str, records: str, rate: Fraction) -> Fraction:
    return rate ** len(sample) * (1 - rate) ** (len(records) - len(sample))


def sampled_pair(neighbours: dict[str, Law], others: str, rate: Fraction) -> Law:
    """The laws on the datasets with and without one record beside ``others``.

    ``neighbours[s]`` are those of the mechanism on the sample ``s`` with and without that record.
    """
    weights = {s: chance(s, others, rate) for s in subsets(others)}
    return mixed([(w, on_sample(neighbours[s], rate, add=False)) for s, w in weights.items()])


@given(pairs, rates, st.lists(kernels, min_size=4, max_size=4))
def test_the_mixture_dominates_a_poisson_sample_in_both_directions(law, rate, after):
    neighbours = {s: processed(law, k) for s, k in zip(subsets("ab"), after, strict=True)}
    found = sampled_pair(neighbours, "ab", rate)
    assert dominates(on_sample(law, rate, add=False), found)
    assert dominates(on_sample(law, rate, add=True), swapped(found))


@given(pairs, rates, st.sampled_from(subsets("ab")))
def test_a_sample_of_others_on_which_the_step_is_not_dominated_is_enough(law, rate, place):
    assume(any(min(pair) > 0 for pair in law))
    neighbours = {s: [*law, (ZERO, ZERO), (ZERO, ZERO)] for s in subsets("ab")}
    neighbours[place] = [(ZERO, ZERO)] * len(law) + REVEALING
    found = sampled_pair(neighbours, "ab", rate)
    assert not dominates(on_sample(law, rate, add=False), found)


def test_the_other_records_must_be_sampled_alike_on_both_sides():
    law = response(Fraction(3))
    with_record = [HALF * p for p, _ in law] + [HALF * p for p, _ in law]
    without = [Fraction(1, 4) * q for _, q in law] + [Fraction(3, 4) * q for _, q in law]
    assert not dominates(law, list(zip(with_record, without, strict=True)))


def test_the_pair_inside_must_be_that_of_removing():
    law = [(HALF, ZERO), (HALF, ONE)]
    true = on_sample(law, HALF, add=False)
    assert dominates(on_sample(law, HALF, add=False), true)
    assert not dominates(on_sample(swapped(law), HALF, add=False), true)


@given(pairs, rates)
def test_one_sampled_step_of_a_symmetric_pair_is_worst_when_removed(law, rate):
    base = symmetric(law)
    remove, add = (on_sample(base, rate, way) for way in (False, True))
    assert exceeding(add, remove, least=ONE) is None


def test_of_other_pairs_and_of_products_either_direction_may_be_the_worse():
    lost = [(ONE, HALF), (ZERO, HALF)]
    remove, add = (on_sample(lost, HALF, way) for way in (False, True))
    assert exceeding(add, remove, least=ONE) is not None
    steps = [response(Fraction(9)), on_sample(response(Fraction(9)), HALF, add=False)]
    assert hockey_stick(product(*steps), Fraction(5)) == Fraction(2, 5)
    steps[1] = on_sample(response(Fraction(9)), HALF, add=True)
    assert hockey_stick(product(*steps), Fraction(5)) == Fraction(14, 25)
    text = "poisson(pure_dp(log(9)), 1/2) * pure_dp(log(9))"
    assert delta(text, "log(5)", direction="remove").lower == Fraction(2, 5)
    assert delta(text, "log(5)").lower == Fraction(14, 25)


@given(st.lists(masses, min_size=8, max_size=8), rates, rates)
def test_a_sample_of_a_sample_is_a_sample_at_the_product_of_the_rates(laws, a, b):
    records = "abc"
    mechanism = dict(zip(subsets(records), laws, strict=True))

    def average(data: str, rate: Fraction, law_of) -> list[Fraction]:
        weighted = [(chance(s, data, rate), law_of(s)) for s in subsets(data)]
        return [sum((w * law[i] for w, law in weighted), ZERO) for i in range(3)]

    inner = {s: average(s, a, mechanism.get) for s in subsets(records)}
    assert average(records, b, inner.get) == average(records, a * b, mechanism.get)


@given(pairs, rates, rates)
def test_rates_do_not_multiply_through_a_composition(law, a, b):
    assume(any(p != q for p, q in law))
    inside = on_sample(law, a, add=False)
    on_one_sample = on_sample(product(inside, inside), b, add=False)
    drawn_twice = on_sample(law, a * b, add=False)
    separately = product(drawn_twice, drawn_twice)
    points = {*ratios(on_one_sample), *ratios(separately)}
    assert any(hockey_stick(on_one_sample, x) != hockey_stick(separately, x) for x in points)


# --- the two directions ---------------------------------------------------------------------------


def test_a_product_that_mixes_directions_may_exceed_both_and_is_not_what_happens():
    law, rate, alpha = response(Fraction(9)), HALF, Fraction(11, 4)
    remove, add = (on_sample(law, rate, way) for way in (False, True))
    either = max(hockey_stick(product(x, x), alpha) for x in (remove, add))
    assert hockey_stick(product(remove, add), alpha) > either
    assert delta("poisson(pure_dp(log(9)), 1/2)^2", "log(11/4)").lower == either


growths = st.integers(2, 9)
leaks = st.sampled_from([ZERO, Fraction(1, 10), HALF])
steps = st.lists(st.tuples(growths, leaks, st.none() | rates), min_size=1, max_size=3)


@given(steps, st.fractions(1, 20, max_denominator=8))
def test_delta_of_both_directions_is_the_larger_of_two_enumerations(composition, alpha):
    found = []
    for add in (False, True):
        law: Law = [(ONE, ONE)]
        for growth, lost, rate in composition:
            one = response(Fraction(growth))
            one = product(one, leak(lost)) if lost else one
            law = product(law, one if rate is None else on_sample(one, rate, add))
        found.append(hockey_stick(law, alpha))
    texts = []
    for growth, lost, rate in composition:
        inner = f"approx_dp(log({growth}), {lost})"
        texts.append(inner if rate is None else f"poisson({inner}, {rate})")
    answer = delta(" * ".join(texts), f"log({alpha})", digits=8)
    assert answer.lower <= max(found) <= answer.upper
    assert answer.upper - answer.lower <= Fraction(1, 10**6)


def test_the_library_multiplies_rates_along_a_chain_only():
    def sorted_by_law(text):
        return Composition.of(parse(text).steps().items())

    chain = sorted_by_law("poisson(poisson(gaussian(1), 1/2), 1/3)")
    assert chain == sorted_by_law("poisson(gaussian(1), 1/6)")
    for inner in ("poisson(gaussian(1), 1/2)^2", "poisson(gaussian(1), 1/2) * pure_dp(1)"):
        ((sample, count),) = sorted_by_law(f"poisson({inner}, 1/3)").samples
        assert count == 1
        assert sample.q == rational(Fraction(1, 3))
        assert sample.inner == sorted_by_law(inner)


# --- samples of laws that dominate: lattice-engine.md, section 8 ----------------------------------

Units = list[tuple[Fraction, Fraction]]
"""Masses and ``y = e^-loss``; ``y = 0`` is infinite loss."""

tweaks = st.lists(
    st.tuples(
        st.integers(0, 20),
        st.sampled_from(["add", "raise", "split"]),
        st.fractions(Fraction(1, 8), 1, max_denominator=8),
    ),
    max_size=4,
)


def units_of(law: Law) -> Units:
    return [(p, q / p) for p, q in law if p > 0]


def worsened(units: Units, changes: list[tuple[int, str, Fraction]]) -> Units:
    """More mass, mass moved to higher losses, or split around its mean."""
    result = list(units)
    for index, kind, size in changes:
        mass, y = result.pop(index % len(result))
        if kind == "add":
            result.append((mass * (1 + size), y))
        elif kind == "raise":
            result.append((mass, y * (1 - size)))
        else:
            result += [(mass / 2, y * (1 - size)), (mass / 2, y * (1 + size))]
    return result


def profile(units: Units, x: Fraction) -> Fraction:
    return sum((mass * max(1 - x * y, ZERO) for mass, y in units), ZERO)


def claimed(units: Units, rate: Fraction, add: bool, surplus: bool = True) -> Units:
    """The law that the two theorems give for the sample; without ``surplus`` only the images."""
    whole = sum((mass for mass, _ in units), ZERO)
    other = sum((mass * y for mass, y in units), ZERO)
    missing = max(1 - other, ZERO)
    if add:
        images = [(mass * y, (rate + (1 - rate) * y) / y) for mass, y in units if y > 0]
        extra = [(missing, 1 - rate), ((whole - 1) * rate / (1 - rate), ZERO)]
    else:
        images = []
        for mass, y in units:
            mixture = rate + (1 - rate) * y
            images.append((mass * mixture, y / mixture))
        extra = [((1 - rate) * missing, 1 / (1 - rate))]
    return images + extra if surplus else images


def short_of(law: Law, units: Units) -> bool:
    """Whether the profile of ``units`` is somewhere below that of ``law``."""
    points = {ZERO, *ratios(law), *(1 / y for _, y in units if y > 0)}
    points.add(max(points) + 1)
    return any(profile(units, x) < hockey_stick(law, x) for x in points)


@given(pairs, rates, st.booleans(), tweaks)
def test_the_image_of_a_law_that_dominates_dominates_the_sample(law, rate, add, changes):
    worse = worsened(units_of(law), changes)
    assert not short_of(law, worse)
    assert not short_of(on_sample(law, rate, add), claimed(worse, rate, add))


@given(rates)
def test_the_masses_beside_the_images_are_needed(rate):
    law = [(HALF, ZERO), (HALF, HALF), (ZERO, HALF)]
    for add in (False, True):
        images = claimed(units_of(law), rate, add, surplus=False)
        assert short_of(on_sample(law, rate, add), images)
    plain = [(HALF, Fraction(1, 4)), (HALF, Fraction(3, 4))]
    worse = [(ONE, HALF), (HALF, HALF)]  # one mass doubled, the other moved up
    assert not short_of(plain, worse)
    *others, infinite = claimed(worse, rate, add=True)
    assert infinite[1] == 0 < infinite[0]
    assert short_of(on_sample(plain, rate, add=True), others)


# --- beside zCDP: classic.md ----------------------------------------------------------------------


@given(pairs, st.fractions(1, 9, max_denominator=4), st.sampled_from([ZERO, Fraction(1, 5), ONE]))
def test_an_approximate_step_splits_into_a_revealing_and_a_pure_part(law, growth, share):
    least = max(hockey_stick(law, growth), hockey_stick(swapped(law), growth))
    assume(least < 1)
    lost = least + share * (1 - least) / 2
    if sum(min(p, growth * q) for p, q in law) < sum(min(q, growth * p) for p, q in law):
        law = swapped(law)
    large = [min(p, growth * q) for p, q in law]
    small = [min(q, growth * p) for p, q in law]
    scale = (1 - lost) / sum(small)
    pure = [scale * h for h in small]
    ends = [
        [h / growth for h in pure],
        [min(*pair) for pair in zip(large, [growth * h for h in pure], strict=True)],
    ]
    low, high = map(sum, ends)
    assert scale <= 1
    assert low <= 1 - lost <= high
    weight = (1 - lost - low) / (high - low) if high > low else ZERO
    found = [a + weight * (b - a) for a, b in zip(*ends, strict=True)]
    assert sum(found) == sum(pure) == 1 - lost
    for (p, q), h, k in zip(law, found, pure, strict=True):
        assert 0 <= h <= p
        assert 0 <= k <= q
        assert h <= growth * k <= growth * growth * h


# --- shifts ---------------------------------------------------------------------------------------


@given(
    st.fractions(Fraction(1, 20), 3, max_denominator=20),
    st.fractions(Fraction(1, 20), 3, max_denominator=20),
    st.fractions(0, 1, max_denominator=10),
)
@settings(max_examples=scaled(20))
def test_two_laplace_coordinates_are_no_worse_than_one_of_the_sum(a, b, share):
    level = share * (a + b)
    two = delta(f"laplace(1, {a}) * laplace(1, {b})", level, digits=8)
    assert two.lower <= delta(f"laplace(1, {a + b})", level, digits=8).upper


# --- inversion ------------------------------------------------------------------------------------


def test_epsilon_at_the_infinite_mass_is_never_negative():
    answer = epsilon("poisson(approx_dp(0, 1), 1/2)^2", "3/4", direction="remove")
    assert answer.lower == answer.upper == 0
