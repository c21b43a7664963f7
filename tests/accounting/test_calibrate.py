"""Calibration: brackets against independent references, both ends, every parameter, every edge."""

import math
from dataclasses import fields
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import gaussian_bracket, optimal_exact, scaled, to_fraction, to_mpf

from dpexact import (
    Enclosure,
    InvalidInput,
    PrecisionNotReached,
    UnsupportedMechanism,
    calibrate,
    delta,
    gaussian,
)
from dpexact.accounting.calibration import question, targets
from dpexact.accounting.queries import delta_answer
from dpexact.accounting.reflection import Mirrored
from dpexact.accounting.symmetric_hull import AboveHull
from dpexact.mechanisms.base import Repetition
from dpexact.mechanisms.grammar import NAMES, parse_template
from dpexact.mechanisms.ordering import Ordering, ordering_of
from dpexact.ternary import Ternary

some = settings(max_examples=scaled(20))

EPSILONS = st.fractions(min_value=0, max_value=5, max_denominator=100)
DELTAS = st.integers(1, 40).flatmap(
    lambda k: st.integers(1, 99).map(lambda n: Fraction(n, 100) / 10 ** (k - 1))
)


def meets(text, epsilon, target, direction="both"):
    """Decided by ``delta`` with plenty of digits, apart from the search."""
    answer = delta(text, epsilon, 40, direction).at_most(Fraction(target))
    assert answer is not Ternary.UNDECIDED
    return answer is Ternary.HOLDS


def contains(found, value, digits=40):
    """Whether an mpmath value with an error in the given digit lies within."""
    exact = to_fraction(mpf(value))
    margin = abs(exact) / 10**digits
    return found.lower <= exact + margin and exact - margin <= found.upper


# --- closed forms -------------------------------------------------------------------------------


@some
@given(EPSILONS, DELTAS, st.integers(1, 30))
def test_gaussian_against_interval_arithmetic_in_mpfr(epsilon, target, digits):
    found = calibrate("gaussian(?)", epsilon, target, digits)
    assert found.digits >= digits
    safe, unsafe = (gaussian_bracket(1 / end, epsilon, 500) for end in (found.upper, found.lower))
    assert safe[1] <= target
    assert unsafe[0] > target


def test_the_analytic_gaussian_mechanism():
    """Balle and Wang (2018), Theorem 8, solved for sigma by mpmath."""
    with mp.workdps(60):

        def excess(sigma):
            phi = lambda x: mp.erfc(-x / mp.sqrt(2)) / 2  # noqa: E731
            a, b = 1 / (2 * sigma), sigma
            return phi(a - b) - mp.e * phi(-a - b) - mpf(10) ** -5

        root = mp.findroot(excess, (mpf("3.7"), mpf("3.8")))
        found = calibrate("gaussian(?)", 1, "1e-5", 40)
        assert contains(found, root, 50)
        assert found.digits >= 40


@some
@given(EPSILONS, DELTAS)
def test_one_laplace_in_closed_form(epsilon, target):
    """``delta = 1 - e^((epsilon - 1/b)/2)``."""
    with mp.workdps(60):
        root = 1 / (to_mpf(epsilon) - 2 * mp.log1p(-to_mpf(target)))
        assert contains(calibrate("laplace(?)", epsilon, target, 12), root)
        assert contains(calibrate("laplace(1, ?)", epsilon, target, 12), 1 / root)


@some
@given(EPSILONS, DELTAS)
def test_one_randomised_response_in_closed_form(epsilon, target):
    """``delta = (e^eps - e^epsilon)/(1 + e^eps)``."""
    with mp.workdps(80):
        d = to_mpf(target)
        root = mp.log((d + mp.exp(to_mpf(epsilon))) / (1 - d))
        assert contains(calibrate("pure_dp(?)", epsilon, target, 12), root)


@some
@given(st.integers(1, 10**6), DELTAS)
def test_infinite_losses_in_closed_form(count, target):
    with mp.workdps(80):
        root = -mp.expm1(mp.log1p(-to_mpf(target)) / count)
        assert contains(calibrate(f"approx_dp(0, ?)^{count}", 1, target, 12), root)


@some
@given(st.fractions(min_value=0, max_value=1, max_denominator=50), DELTAS)
def test_the_sampling_rate_of_one_response_in_closed_form(epsilon, target):
    """``delta = (q (e^2 - 1) - (e^epsilon - 1))/(1 + e^2)`` for ``remove``."""
    with mp.workdps(60):
        root = (to_mpf(target) * (1 + mp.e**2) + mp.expm1(to_mpf(epsilon))) / mp.expm1(2)
        found = calibrate("poisson(pure_dp(2), ?)", epsilon, target, 12, "remove")
        assert found == Enclosure.exact(Fraction(1)) if root >= 1 else contains(found, root)


@some
@given(
    st.fractions(min_value=Fraction(11, 10), max_value=3, max_denominator=20),
    st.integers(0, 20).map(lambda n: Fraction(n, 1000)),
    st.fractions(min_value=1, max_value=9, max_denominator=10),
    st.integers(1, 60).map(lambda n: Fraction(n, 100)),
)
def test_the_repetition_count_by_trying_all_in_fractions(base, mass, level, target):
    def at_most(count):
        return optimal_exact(base, mass, count, level) <= target

    count = 0
    while count < 200 and at_most(count + 1):
        count += 1
    text = f"approx_dp(log({base}), {mass})^?"
    if count == 200:
        assert calibrate(text, f"log({level})", target).lower >= 200
    else:
        assert calibrate(text, f"log({level})", target) == Enclosure.exact(Fraction(count))


@some
@given(st.integers(1, 10**7), EPSILONS, DELTAS)
def test_the_repetition_count_of_gaussians(sigma, epsilon, target):
    """``T`` Gaussians are one of ``sigma/sqrt(T)``; take ``sigma`` so that ``T`` may be large."""
    try:
        found = calibrate(f"gaussian({sigma})^?", epsilon, target)
    except PrecisionNotReached as error:
        found = error.best
        assert found.upper - found.lower == 1  # delta equals the target to 100 digits
    count = int(found.lower)
    with mp.workdps(80):
        for times, meeting in ((count, True), (found.upper + 1, False)):
            if times:
                mu = to_fraction(mp.sqrt(mpf(int(times))) / sigma)
                low, high = gaussian_bracket(mu, epsilon, 500)
                assert high <= target * (1 + Fraction(1, 10**60)) if meeting else low > target


# --- every parameter ----------------------------------------------------------------------------

EXAMPLES = [
    ("gaussian(?)^3 * pure_dp(1/10)", 1, "1e-5"),
    ("gaussian(2, ?) * gdp(1/10)", 1, "1e-5"),
    ("laplace(?)^10", 1, "1e-6"),
    ("laplace(3, ?)^4 * laplace(20)", 1, "1e-6"),
    ("discrete_laplace(?, 3)^5", 1, "1e-6"),
    ("discrete_laplace(100, ?)^10", 1, "1e-6"),
    ("discrete_gaussian(30, ?)^4", 1, "1e-6"),
    ("staircase(?, 1/3)^10", 1, "1e-6"),
    ("staircase(?, 3/4)^2", 1, "1e-6"),
    ("pure_dp(?)^100", 1, "1e-6"),
    ("approx_dp(?, 1e-8)^10", 1, "1e-6"),
    ("approx_dp(1/100, ?)^10", 1, "1e-6"),
    ("gdp(?)^7 * approx_dp(1/10, 1e-7)", 1, "1e-6"),
    ("poisson(pure_dp(1), ?)^30", 1, "1e-6"),
    ("poisson(pure_dp(?), 1/10)^30", 1, "1e-6"),
    ("poisson(gaussian(1), ?)^1000", 2, "1e-6"),
    ("poisson(gaussian(?), 256/60000)^3515", 1, "1e-5"),
    ("poisson(gaussian(1), 1/100)^?", 5, "1e-6"),
    ("pure_dp(1/100)^? * laplace(5)", 1, "1e-6"),
    ("laplace(10)^?", 3, "1e-5"),
    ("randomized_response(?, 5)^20", 1, "1e-6"),
    ("zcdp(?)^3 * gaussian(10)", 1, "1e-6"),
    ("zcdp(?, 1/100)^3 * gaussian(10)", 3, "1e-6"),
    ("bounded_range(?)^20", 1, "1e-6"),
    ("permute_and_flip(?)^20", 1, "1e-6"),
    ("report_noisy_max(?)^20", 1, "1e-6"),
    ("poisson(zcdp(?), 1/2)", "1/2", "1e-5"),
    ("group(gaussian(20), ?)", 1, "1e-5"),
    ("gaussian_mixture(?, 1: 1/2, 2: 1/2)^3", 2, "1e-5"),
    ("shuffle(pure_dp(?), 30)", "1/2", "1e-3"),
    ("shuffle(pure_dp(2), ?)", "1/2", "1e-6"),
    ("randomized_response(2, ?)^3", 1, "1e-2"),
    ("gaussian_mixture(5, ?: 1/2, 1: 1/2)^3", 1, "1e-3"),
    ("fixed_size(gaussian(1), ?, 100)", 1, "1e-2"),
    ("fixed_size(gaussian(1), 10, ?)", 1, "1e-2"),
    ("fixed_size(gdp(?), 1, 10)", 1, "1e-2"),
    ("allocation(gaussian(1), ?)", 1, "1e-2"),
    ("allocation(gaussian(2), 40, ?)", 1, "1e-2"),
    ("allocation(gaussian(?), 10)", 1, "1e-2"),
    ("allocation(gaussian(3)^?, 10)", 1, "1e-2"),
    ("truncated_laplace(10, ?)^3", 1, "1e-2"),
    ("truncated_laplace(10, 90, ?)", 1, "1e-2"),
    ("truncated_discrete_gaussian(6, ?)", 1, "1e-3"),
    ("truncated_discrete_gaussian(20, 150, ?)", 1, "1e-2"),
    ("threshold(laplace(2), ?)^3", 2, "1e-3"),
]


def test_the_examples_cover_every_ordered_number():
    covered = {(t.owner, t.parameter) for t in (parse_template(text) for text, *_ in EXAMPLES)}
    ordered = {
        (kind.name, field.name)
        for kind in (*NAMES.values(), Repetition)
        for field in fields(kind)
        if isinstance(ordering_of(field.metadata), Ordering)
    }
    assert covered == ordered


def test_every_number_is_ordered_or_refused_with_a_reason():
    for kind in NAMES.values():
        for field in fields(kind):
            if field.name == "mechanism":
                continue
            for place in (0, 1) if field.metadata.get("entries") else (0,):
                told = ordering_of(field.metadata, place)
                assert told or (field.name, place) == ("parts", 1), (kind.name, field.name)


CASES = [
    (*example, direction)
    for example in EXAMPLES
    for direction in (("remove", "add", "both") if "poisson" in example[0] else ("both",))
]


@pytest.mark.slow
@pytest.mark.parametrize(("text", "epsilon", "target", "direction"), CASES)
def test_one_end_meets_the_target_and_the_other_does_not(text, epsilon, target, direction):
    found = calibrate(text, epsilon, target, direction=direction)
    template = parse_template(text)
    ordering = template.hole.ordering
    safe, unsafe = (found.upper, found.lower) if ordering.least else (found.lower, found.upper)
    if ordering.integer:
        assert found.is_exact
        unsafe = safe + (-1 if ordering.least else 1)
    else:
        assert found.digits >= 6
    assert meets(template.fill(safe), epsilon, target, direction)
    assert not meets(template.fill(unsafe), epsilon, target, direction)


@pytest.mark.slow
@pytest.mark.parametrize("text", [text for text, *_ in EXAMPLES])
def test_privacy_is_monotone_as_stated(text):
    """A spot check of the theorems: the more private value never has the larger delta."""
    template = parse_template(text.replace("^3515", "^20").replace("^1000", "^20"))
    ordering = template.hole.ordering
    values = (Fraction(1, 10), Fraction(2, 10)) if ordering.highest == 1 else (1, 2)
    if ordering.integer:
        values = [value - 1 + template.hole.end(ordering.lowest) for value in values]
    smaller, larger = (template.fill(value) for value in values)
    private, revealing = (larger, smaller) if ordering.least else (smaller, larger)
    strictly = False
    for epsilon in ("0", "1/20", "1"):
        for direction in ("remove", "add"):
            less, more = (delta(m, epsilon, 3, direction) for m in (private, revealing))
            assert less.lower <= more.upper
            strictly = strictly or less.less_than(more) is Ternary.HOLDS
    assert strictly


@some
@given(st.data())
def test_wider_discrete_laplace_noise_is_narrower_noise_and_more(data):
    """The identity of generating functions in docs/theory/calibration.md."""
    unit = st.fractions(min_value=Fraction(1, 50), max_value=Fraction(49, 50), max_denominator=50)
    a, b = sorted((data.draw(unit), data.draw(unit)))
    z = data.draw(st.fractions(min_value=Fraction(99, 100), max_value=Fraction(101, 100)))

    def transform(c):
        return (1 - c) ** 2 / ((1 - c * z) * (1 - c / z))

    stay = (1 - b) ** 2 * a / ((1 - a) ** 2 * b)
    assert 0 <= stay <= 1
    assert transform(b) == transform(a) * (stay + (1 - stay) * transform(b))


# --- edges --------------------------------------------------------------------------------------

INFINITE = Enclosure.exact(math.inf)
NOTHING = Enclosure.exact(Fraction(0))
ALL = Enclosure.exact(Fraction(1))


@pytest.mark.parametrize(
    ("text", "epsilon", "target", "expected"),
    [
        # no finite noise: its loss exceeds every epsilon
        ("gaussian(?)", 1, 0, INFINITE),
        ("poisson(gaussian(?), 1/10)", 1, 0, INFINITE),
        ("gaussian(?) * approx_dp(0, 1e-6)", 1, "1e-6", INFINITE),
        ("gaussian(?) * approx_dp(0, 1e-5)", 1, "1e-6", INFINITE),
        ("laplace(?) * pure_dp(2)", 1, "1e-6", INFINITE),
        # only the most private value
        ("gdp(?)", 1, 0, NOTHING),
        ("gaussian(1, ?)", 1, 0, NOTHING),
        ("gaussian(1)^?", 1, 0, NOTHING),
        ("gaussian(1)^?", 1, "1e-9", NOTHING),
        ("poisson(gaussian(1), ?)^10", 1, 0, NOTHING),
        ("discrete_laplace(1, ?)", "1/2", "1e-9", NOTHING),
        # every value
        ("gaussian(?)", 1, 1, NOTHING),
        ("poisson(gaussian(?), 1/10)", 1, "1/5", NOTHING),
        ("poisson(gaussian(?), 0)", 1, 0, NOTHING),
        ("poisson(gaussian(100), ?)", 5, "1e-5", ALL),
        ("approx_dp(0, ?)", 5, 1, ALL),
        ("poisson(pure_dp(?), 1/10)", 1, "1/5", INFINITE),
        ("gdp(0)^?", 1, 0, INFINITE),
        ("poisson(gaussian(1), 0)^?", 1, 0, INFINITE),
        ("poisson(gaussian(1)^?, 0)", 1, 0, INFINITE),
        ("poisson(gaussian(1)^?, 1/10)", 1, "1/5", INFINITE),
        ("gaussian(1)^?", 1, 1, INFINITE),
        # whole numbers, of which the least is sought
        ("allocation(gaussian(1), ?)", 1, 0, INFINITE),
        ("allocation(gaussian(1), ?, 3)", 1, 1, Enclosure.exact(Fraction(3))),
        ("shuffle(pure_dp(1/2), ?)", 1, 0, ALL),
        ("randomized_response(1/2, ?)", 1, 0, Enclosure.exact(Fraction(2))),
        ("fixed_size(gaussian(1), 7, ?)", 1, 1, Enclosure.exact(Fraction(7))),
        ("fixed_size(gaussian(1), ?, 7)", 1, 1, Enclosure.exact(Fraction(7))),
        ("allocation(gaussian(1), 3, ?)", 1, 1, Enclosure.exact(Fraction(3))),
        ("fixed_size(gaussian(1), ?, 1)", 1, "1e-9", NOTHING),
        ("allocation(gaussian(1), 1, ?)", 1, "1e-9", NOTHING),
        # bounded below by what is not moved, unbounded above
        ("gaussian_mixture(?, 0: 9/10, 1: 1/10)", 1, 0, INFINITE),
        ("truncated_poisson(gaussian(?), 1/10, 10, 5)", 1, 0, INFINITE),
        ("replace(poisson(gaussian(?), 1/10))^3", 1, 0, INFINITE),
        ("allocation(gaussian(?), 5)", 1, 0, INFINITE),
        ("mix(1/2: gaussian(?), 1/2: pure_dp(1/10))", 1, 0, INFINITE),
    ],
)
def test_edges_of_the_domain(text, epsilon, target, expected):
    assert calibrate(text, epsilon, target) == expected


@pytest.mark.parametrize("rate", ["1/10", "1/3"])
def test_losses_of_an_added_record_are_bounded_whatever_the_unknown(rate):
    """One step loses at most ``-log(1 - q)``: it was taken for unbounded outside ``poisson``."""
    rest = 1 - Fraction(rate)
    steps = math.floor(-1 / math.log(rest))
    for text in (
        f"poisson(gaussian(1), {rate})^?",
        f"gaussian_mixture(1, 0: {rest}, 1: {rate})^?",
        f"mix(1/2: poisson(gaussian(1), {rate})^?, 1/2: gdp(0))",
        f"truncated_poisson(gaussian(1), {rate}, 10, 10)^?",
        f"poisson(gaussian_mixture(2, 1: 1), {rate})^?",
    ):
        assert calibrate(text, 1, 0, direction="add") == Enclosure.exact(Fraction(steps))
    found = calibrate("poisson(gaussian(1), ?)^10", 1, 0, 12, "add")
    with mp.workdps(30):
        assert contains(found, -mp.expm1(mpf(-1) / 10))
    alone = calibrate(f"group(poisson(gaussian(1), {rate}), ?)", 1, 0, direction="add")
    assert alone == Enclosure.exact(Fraction(steps))


@pytest.mark.parametrize(
    "text",
    [
        "gaussian_mixture(?, 0: 9/10, 1: 1/10)^5",
        "truncated_poisson(gaussian(?), 1/10, 10, 10)^5",
        "truncated_poisson(gaussian(?), 0, 10, 5)",
        "truncated_poisson(gaussian(?), 1/2, 10, 0)",
    ],
)
def test_noise_that_matters_not_is_never_called_infinite(text):
    with pytest.raises(PrecisionNotReached) as stopped:
        calibrate(text, 1, 0, direction="add")
    best = stopped.value.best
    assert best.lower == 0
    assert best.upper < Fraction(1, 10**200)


def test_an_unbounded_loss_added_by_sampling_is_bounded_by_the_other_direction():
    """Under ``add`` five samples of rate 1/10 lose at most ``5 log(10/9)``, whatever the noise."""
    assert calibrate("poisson(gaussian(?), 1/10)^5", 1, 0, direction="add") == NOTHING
    assert calibrate("poisson(gaussian(?), 1/10)^5", 1, 0, direction="both") == INFINITE
    nine = calibrate("poisson(gaussian(1), 1/10)^?", 1, 0, direction="add")
    assert nine == Enclosure.exact(Fraction(9))  # 9 log(10/9) < 1 < 10 log(10/9)
    assert calibrate("poisson(gaussian(1), 1/10)^?", 1, 0, direction="remove") == NOTHING


def test_far_from_where_a_search_begins():
    found = calibrate("poisson(gaussian(?), 1/2)^1000000", 1, "1e-12")
    assert found.digits >= 6
    assert meets(f"poisson(gaussian({found.upper}), 1/2)^1000000", 1, "1e-12")


@pytest.mark.parametrize(
    ("text", "exact"),
    [("laplace(?)", 1), ("pure_dp(?)^100", "1/100"), ("staircase(?, 1/3)^4", "1/4")],
)
def test_pure_guarantees_where_delta_is_zero(text, exact):
    found = calibrate(text, 1, 0, 12)
    assert Fraction(exact) in found
    assert found.digits >= 12


def test_a_target_met_with_equality_at_a_value_that_no_precision_decides():
    found = calibrate("pure_dp(?)", 0, "(e-1)/(e+1)")
    assert found.lower < 1 < found.upper
    assert found.digits >= 6


def test_an_irrational_epsilon():
    found = calibrate("pure_dp(?)", "log(3/2)", "1/10", 12)  # e^x = (1/10 + 3/2)/(9/10)
    with mp.workdps(40):
        assert contains(found, mp.log(mpf(16) / 9), 35)


def test_many_digits():
    found = calibrate("gaussian(?)", 1, "1e-5", 400)
    assert found.digits >= 400
    target = Fraction(1, 10**5)
    assert delta(gaussian(found.upper), 1, 420) < target < delta(gaussian(found.lower), 1, 420)


def test_a_sample_of_nothing_loses_nothing():
    assert delta("poisson(gdp(0), 1/2)^10", 1) == NOTHING


# --- refusals -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("staircase(1, ?)", "gamma of staircase"),
        ("staircase(1, 1/2, ?)", "sensitivity of staircase"),
        ("discrete_gaussian(?)", "sigma of discrete_gaussian"),
        ("truncated_poisson(gaussian(1), ?, 10, 5)", "q of truncated_poisson"),
        ("truncated_poisson(gaussian(1), 1/2, ?, 5)", "n of truncated_poisson"),
        ("truncated_poisson(gaussian(1), 1/2, 10, ?)", "batch of truncated_poisson"),
        ("mix(?: gaussian(1), 1/2: gdp(1))", "the probabilities add up to 1"),
        ("gaussian_mixture(1, 1: ?, 2: 1/2)", "the probabilities add up to 1"),
        ("pair((1/2, ?), (1/2, 1/2))", "the probabilities add up to 1"),
        ("pair((?, 1/2), (1/2, 1/2))", "the probabilities add up to 1"),
    ],
)
def test_unsupported_unknowns_are_named(text, named):
    with pytest.raises(UnsupportedMechanism, match=named):
        calibrate(text, 1, "1e-6")


@pytest.mark.parametrize(
    ("text", "values", "said"),
    [
        ("truncated_poisson(gaussian(8), {}, 10, 1)", ("0.8", "1"), ("1.568e-14", "2.077e-15")),
        (
            "truncated_poisson(gaussian(1/2), 1/10, {}, 1)",
            ("1", "6", "20"),
            ("0.03297", "0.03581", "0.03005"),
        ),
        (
            "truncated_poisson(gaussian(1/2), 1/10, 20, {})",
            ("1", "2", "20"),
            ("0.03005", "0.04190", "0.03297"),
        ),
    ],
)
def test_what_refusals_say_of_cut_batches(text, values, said):
    template = text.format("?").replace("gaussian(?)", "gaussian(1)")
    reason = parse_template(template).hole.ordering
    for value, number in zip(values, said, strict=True):
        found = delta(text.format(value), "1/2", 8)
        assert format(found, ".3e" if "e" in number else ".5f") == number
        assert number in reason
        assert value in reason


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("gaussian(1)", 1, "1e-6"), "no '\\?'"),
        (("gaussian(?)", 1, 2), "delta: 2"),
        (("gaussian(?)", 1, "1e-6", 0), "digits: 0"),
        (("gaussian(?)", 1, "1e-6", 6, "up"), "direction: 'up'"),
        (("pure_dp(2) * gdp(?)", 1, "1e-6"), "no mu meets the target"),
        (("pure_dp(2) * gaussian(1)^?", 1, "1e-6"), "no times meets the target"),
    ],
)
def test_bad_input_is_named(arguments, named):
    with pytest.raises(InvalidInput, match=named):
        calibrate(*arguments)


@pytest.mark.parametrize(
    ("text", "epsilon", "target", "low"),
    [
        ("gdp(1e-12)^?", 1, "1e-9", Fraction(10**18)),
        ("gaussian(?)", 0, "1e-400", Fraction(10**290)),
    ],
)
def test_beyond_the_range_the_certified_bracket_is_carried(text, epsilon, target, low):
    with pytest.raises(PrecisionNotReached) as stopped:
        calibrate(text, epsilon, target)
    assert low <= stopped.value.best.lower
    assert stopped.value.best.upper == math.inf


# --- nothing but delta decides ------------------------------------------------------------------


@pytest.mark.parametrize("guess", [None, Fraction(1, 10**4), Fraction(1, 100), Fraction(999, 1000)])
def test_guesses_decide_nothing(guess, monkeypatch):
    monkeypatch.setattr(question, "reached", lambda *_: guess)
    found = calibrate("poisson(gaussian(1), ?)^1000", 2, "1e-6", 3)
    assert Fraction("0.00944242353") in found


def test_undecided_evaluations_end_in_the_bracket_that_was_certified(monkeypatch):
    blind = Enclosure(Fraction(0), Fraction(1))

    def hazy(mechanism, epsilon, digits, direction):
        """``delta``, but blind where it lies within a factor 2 of the target."""
        found = delta_answer(mechanism, epsilon, digits, direction)
        near = Fraction(1, 2 * 10**5) < found.upper < Fraction(2, 10**5)
        return blind if near else found

    monkeypatch.setattr(targets, "delta_answer", hazy)
    with pytest.raises(PrecisionNotReached, match="cannot be told apart") as stopped:
        calibrate("gaussian(?)", 1, "1e-5")
    assert Fraction("3.7306316") in stopped.value.best
    with pytest.raises(PrecisionNotReached) as stopped:
        calibrate("gaussian(100)^?", 1, "1e-5")
    assert 718 in stopped.value.best


def test_a_stride_to_where_nothing_is_certified_is_taken_back(monkeypatch):
    def short_sighted(mechanism, epsilon, digits, direction):
        found = delta_answer(mechanism, epsilon, digits, direction)
        return Enclosure(Fraction(0), Fraction(1)) if found.upper < Fraction(1, 10**13) else found

    monkeypatch.setattr(targets, "delta_answer", short_sighted)
    assert Fraction("6.557822067") in calibrate("gaussian(?)", 1, "1e-12", 4)


@pytest.mark.slow
def test_where_only_bounds_are_known_the_bracket_is_that_of_the_bounds():
    """Repeated fixed-size samples: delta lies between an attained value and a proved bound."""
    text, target = "fixed_size(gaussian(?), 3, 10)^3", Fraction(1, 1000)
    best = calibrate(text, 1, target, 3)
    assert "bounds below and above differ" in best.reason
    near = 1 + Fraction(1, 500)
    for end, side in ((best.upper, 1), (best.lower, -1)):
        at, beyond = (delta(text.replace("?", str(x)), 1, 3) for x in (end, end / near**side))
        # on the one side of each end its bound decides, just beyond it does not
        assert at.upper <= target if side > 0 else at.lower > target
        assert beyond.upper > target if side > 0 else beyond.lower <= target
    once = calibrate("fixed_size(gaussian(?), 1, 10)", 1, target)
    assert once == calibrate("poisson(gaussian(?), 1/10)", 1, target)


@pytest.mark.parametrize(
    ("text", "more", "less"),
    [
        ("fixed_size(gaussian(1), ?, 100)^4", "lower", "upper"),
        ("fixed_size(gaussian(1), 4, ?)^4", "upper", "lower"),
        ("fixed_size(gaussian(1), 4, 100)^?", "lower", "upper"),
    ],
)
@pytest.mark.slow
def test_whole_numbers_between_two_bounds(text, more, less):
    """The last that meets the target by the bound above, and the last by the bound below."""
    target, step = Fraction(1, 1000), 1 if more == "lower" else -1
    found = calibrate(text, 1, target)
    assert found.safe_end == more
    safe, last = int(getattr(found, more)), int(getattr(found, less))

    def at(value):
        return delta(text.replace("?", str(value)), 1, 3)

    assert at(safe).upper <= target < at(safe + step).upper
    assert at(last).lower <= target < at(last + step).lower


def test_edges_are_asked_where_no_value_tells_of_them():
    """Every noise meets the first target, and no noise the second, which the tries go out to."""
    assert calibrate("poisson(gaussian(?), 1/1000)", 1, "1/100") == Enclosure.exact(Fraction(0))
    assert calibrate("gaussian(?) * pure_dp(2)", 1, "1e-3") == Enclosure.exact(math.inf)
    with pytest.raises(InvalidInput, match="no eps meets the target"):
        calibrate("pure_dp(?) * pure_dp(2)", 1, "1e-3")


def test_few_digits_tell_most_edges(monkeypatch):
    """And none are asked while the tries arrive, though all are on one side."""
    asked = []

    def noted(mechanism, epsilon, digits, direction):
        asked.append((str(mechanism), digits))
        return delta_answer(mechanism, epsilon, digits, direction)

    monkeypatch.setattr(targets, "delta_answer", noted)
    calibrate("poisson(gaussian(1), ?)^2 * laplace(9)", 1, "1/1000", 20)
    assert [digits for text, digits in asked if "poisson(gaussian(1), 0)" in text] == [6]
    asked.clear()
    calibrate("allocation(gaussian(?), 4)", 8, "1e-5", 9)
    assert all("gdp(0)" not in text for text, _ in asked)


@pytest.mark.parametrize(
    "text",
    [
        "truncated_laplace(3, ?)",
        "poisson(truncated_laplace(3, ?), 1/10)^3",
        "truncated_discrete_gaussian(3, ?)",
        "threshold(gaussian(3), ?)^5",
    ],
)
def test_what_no_bound_meets_is_met_at_infinity_only(text):
    """The noise without its bound does not meet the target, and with a bound it loses more."""
    assert calibrate(text, "1/100", "1e-6") == Enclosure.exact(math.inf)
    with pytest.raises(PrecisionNotReached):
        calibrate("truncated_laplace(3, ?)", 1, 0)  # met by the limit alone: nothing tells it


def test_beyond_what_is_accounted_for_the_bracket_is_carried():
    with pytest.raises(PrecisionNotReached, match="at most 1000000000 users") as stopped:
        calibrate("shuffle(pure_dp(1), ?)", 0, "1e-30")
    assert stopped.value.best.lower > 10**6
    assert calibrate("discrete_laplace(1000, ?)", 1, "1e-6") == Enclosure.exact(Fraction(1000))


def test_an_undecided_value_takes_one_look_on_each_side(monkeypatch):
    """As far as what was found is wide, by the slope that was seen."""
    calls = 0

    def hazy(mechanism, epsilon, digits, direction):
        nonlocal calls
        calls += 1
        found = delta_answer(mechanism, epsilon, 30, direction)
        wide = Fraction(1, 10**5)
        return Enclosure(Fraction(found.lower) * (1 - wide), Fraction(found.upper) * (1 + wide))

    monkeypatch.setattr(targets, "delta_answer", hazy)
    with pytest.raises(PrecisionNotReached, match="cannot be told apart") as stopped:
        calibrate("poisson(gaussian(?), 1/100)^10", 1, "1e-5", 8)
    assert calls <= 10
    assert stopped.value.best.digits >= 5


def test_a_bound_that_jumps_at_the_edge_is_asked_there():
    """At rate 1 a product of zCDP is not summed up first, which is the better bound."""
    text = "poisson(zcdp(1/100)^3 * gaussian(3)^10, ?)"
    before, there = (delta(text.replace("?", q), 3, 9) for q in ("9999/10000", "1"))
    assert there.upper < before.lower
    assert calibrate(text, 3, there.upper) == Enclosure.exact(Fraction(1))


def test_one_of_two_bounds_is_asked_alone(monkeypatch):
    """Each end by its own profile: the other may be much dearer."""
    asked = []
    for side in (AboveHull, Mirrored):
        ask = side.delta

        def noted(self, *arguments, ask=ask, side=side):
            asked.append(side)
            return ask(self, *arguments)

        monkeypatch.setattr(side, "delta", noted)
    calibrate("fixed_size(gaussian(1), 16, 1000)^?", 1, "1/1000")
    assert asked == sorted(asked, key=[Mirrored, AboveHull].index)
    assert asked.count(AboveHull) <= 6


def test_the_number_of_evaluations_is_bounded(monkeypatch):
    calls = 0

    def counted(*arguments):
        nonlocal calls
        calls += 1
        return delta_answer(*arguments)

    monkeypatch.setattr(targets, "delta_answer", counted)
    calibrate("poisson(gaussian(?), 256/60000)^3515", 1, "1e-5")
    assert calls <= 12
    for text, target, most in [
        ("gaussian(?)", "1e-5", 4),
        ("gaussian(1e6)^?", "1e-5", 5),
        ("gaussian(?)^1000000000000000000", "1e-5", 4),
        ("pure_dp(?)", "1e-5", 6),
        ("laplace(?)", "1e-4", 7),
        ("approx_dp(?, 1e-8)^10", "1e-6", 9),
        ("pure_dp(1/1000)^?", "1e-9", 8),
        # next to 1 of the odds, not of delta
        ("poisson(gaussian(?), 1/2)^100", "0.9999999", 7),
        ("laplace(?)^10", "0.9999", 6),
        # of guarantees
        ("zcdp(?)^3", "1e-6", 6),
        ("bounded_range(1/100)^?", "1e-6", 5),
    ]:
        calls = 0
        calibrate(text, 1, target)
        assert calls <= most
    calls = 0
    for _ in range(scaled(1)):
        calibrate("gaussian(?)", 1, "1e-300", 20)
    assert calls <= 40 * scaled(1)


def test_a_target_below_the_smallest_number():
    """The enclosure of the target is not that of sigma, which is near 1414."""
    try:
        found = calibrate("gaussian(?)", 1, "exp(-1000000)")
    except PrecisionNotReached as error:
        found = error.best
    with mp.workdps(30):

        def gap(sigma):
            """``log(delta) + 10^6`` of a Gaussian at epsilon 1."""
            near, far = sigma - 1 / (2 * sigma), sigma + 1 / (2 * sigma)
            ratio = (mp.erfc(near / mp.sqrt(2)) - mp.e * mp.erfc(far / mp.sqrt(2))) / 2
            return mp.log(ratio) + 10**6

        truth = to_fraction(mp.findroot(gap, (1400, 1420), solver="anderson"))
    assert 1400 < truth < 1420
    assert found.lower < truth < found.upper
    assert found.lower > 1000


def test_no_count_is_found_where_not_even_none_meets_the_target():
    """The target is below the irrational mass of infinite loss by less than some digits tell."""
    for text in (
        "gaussian(1)^? * approx_dp(1, sqrt(2)/10)",
        "discrete_gaussian(1, ?) * approx_dp(0, sqrt(2)/10)",
    ):
        with pytest.raises(InvalidInput, match="meets the target"):
            calibrate(text, 1, "sqrt(2)/10 - 1e-300")
        with pytest.raises(PrecisionNotReached, match="without any"):
            calibrate(text, 1, "sqrt(2)/10 - 1e-3000")


@pytest.mark.parametrize(
    ("template", "bound"),
    [
        ("zcdp(?)", "lower"),
        ("report_noisy_max(?)^2", "lower"),
        ("group(pure_dp(1/10), ?)", "lower"),
        ("allocation(gaussian(?), 5, 2)", "upper"),
        ("allocation(gaussian(3), ?, 2)", "upper"),
        ("permute_and_flip(?)", "exact"),
        ("gaussian(?)", "exact"),
        ("shuffle(pure_dp(?), 1)", "exact"),
        ("allocation(gaussian(?), 5, 1)", "exact"),
    ],
)
def test_the_extreme_by_an_upper_bound_says_that_it_is_one(template, bound):
    found = calibrate(template, 1, "1e-5", digits=4)
    assert found.bound == bound
    assert bool(found.theorem) is (bound != "exact")
    if bound != "exact":
        assert found.safe_end == bound


def test_no_value_by_an_upper_bound_is_one_too():
    """At an infinite end, and at the last of a domain of whole numbers, where the next has none."""
    assert calibrate("zcdp(1) * gaussian(?)", "1/10", "1e-5").bound == "upper"
    assert calibrate("group(pure_dp(1/10), ?)", 1, 0).bound == "lower"
    assert calibrate("zcdp(?)", order=2, renyi=1).bound == "lower"
    assert calibrate("zcdp(?)", alpha="1/10", beta="1/2").bound == "lower"


def test_the_first_of_whole_numbers_is_decided_by_the_next():
    """A group of one is exact, and that two are too many is told by a bound."""
    found = calibrate("group(pure_dp(1/10), ?)", "3/20", 0)
    assert (found.lower, found.upper, found.bound) == (1, 1, "lower")
