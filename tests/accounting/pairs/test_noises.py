"""Noise of bounded support, and the selection of partitions: against their definitions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import scaled
from small_laws import hockey_stick, on_sample, repeated

from dpexact import (
    InvalidInput,
    PrecisionNotReached,
    UnsupportedMechanism,
    calibrate,
    delta,
    epsilon,
    gaussian,
    group,
    laplace,
    parse,
    partition_selection,
    poisson,
    renyi,
    replace,
    threshold,
    tradeoff,
    truncated_discrete_gaussian,
    truncated_laplace,
)
from dpexact.accounting.engines.laplace.truncated import TruncatedLaplaceSums

#: Weights ``2^-x^2``.
SIGMA = "sqrt(1/(2*log(2)))"


_SLACK = mpf(10) ** -30


def holds(found, truth, slack=_SLACK) -> bool:
    return mpf(found.lower.numerator) / found.lower.denominator - slack <= truth and (
        truth <= mpf(found.upper.numerator) / found.upper.denominator + slack
    )


# --- truncated Laplace ----------------------------------------------------------------------------


def survival(x, scale, bound):
    """``Pr[noise > x]``."""
    if x <= -bound:
        return mpf(1)
    if x >= bound:
        return mpf(0)
    edge = mp.exp(-bound / scale)
    inner = (mp.exp(-abs(x) / scale) - edge) / (2 * (1 - edge))
    return inner if x >= 0 else 1 - inner


def profile(scale, bound, shift, eps):
    """By thresholds, which are the best tests of log-concave noise: at every kink, and between."""
    places = {bound, shift - bound, mpf(0), shift, (shift + eps * scale) / 2, -bound, shift + bound}
    places = {x for x in places if -bound <= x <= shift + bound}
    growth = mp.exp(eps)
    return max(
        survival(x - shift, scale, bound) - growth * survival(x, scale, bound) for x in places
    )


def twice(scale, bound, shift, eps):
    """Two runs: the profile of one averaged over the density of the other."""
    edge = 2 * scale * (1 - mp.exp(-bound / scale))

    def density(x):
        return mp.exp(-abs(x) / scale) / edge if -bound <= x <= bound else mpf(0)

    def gain(x):
        p, q = density(x - shift), density(x)
        return p * profile(scale, bound, shift, eps - mp.log(p / q)) if p and q else p

    low, high = shift - bound, bound
    ends = [shift / scale, (2 * bound - shift) / scale, mpf(0)]
    kinks = [(shift + (eps + t) * scale) / 2 for end in ends for t in (-end, end)]
    kinks = sorted({x for x in (mpf(0), shift, *kinks) if low < x < high})
    common = mp.quad(gain, [low, *kinks, high], method="gauss-legendre")
    return common + survival(bound - shift, scale, bound)


positive = st.fractions(Fraction(1, 8), 8, max_denominator=40)


@given(positive, positive, positive, st.fractions(-3, 5, max_denominator=30))
@settings(max_examples=scaled(150), deadline=None)
def test_one_run_of_truncated_laplace_is_the_best_threshold(scale, bound, shift, eps) -> None:
    found = delta(truncated_laplace(scale, bound, shift), eps, 25)
    with mp.workdps(60):
        truth = profile(*(mpf(x.numerator) / x.denominator for x in (scale, bound, shift, eps)))
        assert holds(found, max(truth, mpf(0)))


@pytest.mark.parametrize(
    ("scale", "bound", "shift", "eps"),
    [
        (1, 3, 1, "0.5"),
        (2, 2, 2, "0.25"),
        (1, 1, "1.5", "0.1"),
        (3, 5, "0.5", "0"),
        (1, 4, 1, "-1"),
    ],
)
def test_two_runs_are_the_average_over_one(scale, bound, shift, eps) -> None:
    with mp.workdps(30):
        truth = twice(mpf(scale), mpf(bound), mpf(shift), mpf(eps))
    found = delta(truncated_laplace(scale, bound, shift) ** 2, eps, 12)
    assert found.method == "closed form: truncated Laplace"
    assert holds(found, truth, mpf(10) ** -12)


@given(positive, positive, st.integers(2, 6), st.fractions(0, 3, max_denominator=10))
@settings(max_examples=scaled(15), deadline=None)
def test_the_sums_meet_the_lattice_engine(scale, bound, count, eps) -> None:
    m = truncated_laplace(scale, bound, Fraction(1, 2)) ** count
    found = delta(m, eps, 15)
    try:
        assert found.overlaps(delta(m, eps, 3, method="lattice"))
    except PrecisionNotReached as error:
        assert found.overlaps(error.best)
    except UnsupportedMechanism:
        assert found.upper == 1


@pytest.mark.slow
def test_many_runs_meet_the_contour() -> None:
    m = truncated_laplace(10, 100) ** 400
    assert delta(m, 1, 12).overlaps(delta(m, 1, 6, method="contour"))
    beside = truncated_laplace(2, 20) * gaussian(3)
    assert delta(beside, 1, 8).overlaps(delta(beside, 1, 3, method="lattice"))


def test_a_short_series_is_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few terms are summed, what is left out is enclosed."""
    whole = delta("truncated_laplace(1, 3)^5", 1, 15)
    monkeypatch.setattr(TruncatedLaplaceSums, "_terms", lambda *_: 9)
    try:
        short = delta("truncated_laplace(1, 3)^5", 1, 15)
    except PrecisionNotReached as error:
        short = error.best
    assert short.lower <= whole.lower <= whole.upper <= short.upper


def test_points_share_power_series(monkeypatch: pytest.MonkeyPatch) -> None:
    made, make = [], TruncatedLaplaceSums._expansion
    monkeypatch.setattr(
        TruncatedLaplaceSums, "_expansion", lambda *a: made.append(a[1:]) or make(*a)
    )
    points = [Fraction(k, 10) for k in range(1, 50)]
    found = delta("truncated_laplace(1, 3)^5", points, 15)
    assert len(made) < 25
    for x, answer in zip(points, found, strict=True):
        assert answer.overlaps(delta("truncated_laplace(1, 3)^5", x, 15))


def test_losses_that_meet_epsilon_are_worth_no_more_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of ``truncated_laplace(20, 2)`` some sums of losses are 3/10."""
    bits, once = [], TruncatedLaplaceSums.finite_ball
    monkeypatch.setattr(TruncatedLaplaceSums, "finite_ball", lambda *a: bits.append(0) or once(*a))
    assert delta("truncated_laplace(20, 2)^30", "3/10", 15).digits >= 15
    assert len(bits) == 1


def test_wide_support_is_laplace_noise_and_narrow_support_reveals_everything() -> None:
    wide = delta(truncated_laplace(1, 200), "1/2", 20)
    assert wide.overlaps(delta(laplace(1), "1/2", 30)) or abs(
        wide.lower - delta(laplace(1), "1/2", 30).upper
    ) < Fraction(1, 10**80)
    assert delta("truncated_laplace(1, 1/2)", 3).lower == 1
    assert Fraction(1, 2) in delta("truncated_laplace(1, 1)", 50)
    assert renyi("truncated_laplace(1, 2)", 2).lower == float("inf")
    assert delta("truncated_laplace(1e300, 1e301)^4", "1/10").upper < 1


def test_truncated_laplace_on_samples_and_in_groups() -> None:
    m = truncated_laplace(1, 3)
    with mp.workdps(40):
        growth = 1 + (mp.exp(mpf("0.1")) - 1) * 10
        truth = profile(mpf(1), mpf(3), mpf(1), mp.log(growth)) / 10
        assert holds(delta(poisson(m, "1/10"), "1/10", 15, "remove"), truth)
    assert delta(group(m, 2), 1) == delta(truncated_laplace(1, 3, 2), 1)
    assert delta(replace(m), 1).bound == "exact"
    beta = tradeoff(m)("1/10", 12)
    assert beta.lower < Fraction(9, 10) - delta(m, 0).lower + Fraction(9, 10)


# --- truncated discrete Gaussian ------------------------------------------------------------------


def gaussian_law(bound: int, shift: int) -> list[tuple[Fraction, Fraction]]:
    weight = {x: Fraction(1, 2 ** (x * x)) for x in range(-bound, bound + 1)}
    total, places = sum(weight.values()), range(-bound, bound + shift + 1)
    return [(weight.get(x - shift, 0) / total, weight.get(x, 0) / total) for x in places]


@given(
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 2),
    st.fractions(Fraction(1, 9), 30, max_denominator=9),
)
@settings(max_examples=scaled(60), deadline=None)
def test_truncated_discrete_gaussian_is_its_enumeration(bound, shift, count, growth) -> None:
    m, law = truncated_discrete_gaussian(SIGMA, bound, shift), gaussian_law(bound, shift)
    truth = hockey_stick(repeated(law, count), growth)
    assert truth in delta(m**count, f"log({growth})", 20)
    if shift <= 2 * bound:
        sample = on_sample(law, Fraction(1, 3), True)
        found = delta(poisson(m, "1/3"), f"log({growth})", 12, "add")
        assert hockey_stick(sample, growth) in found
    assert renyi(m, 2).lower == float("inf")


@pytest.mark.slow
def test_many_outcomes_are_as_few() -> None:
    """Outcomes that are written out, and those that are not."""
    few, many = "truncated_discrete_gaussian(3, 20)", "truncated_discrete_gaussian(3, 60)"
    assert abs(delta(few, 1, 15).lower - delta(many, 1, 15).lower) < Fraction(1, 10**8)
    close = delta(f"{many}^3", 1, 15)
    assert close.overlaps(delta("discrete_gaussian(3)^3", 1, 15))
    sampled = delta(f"poisson({many}, 1/10)^2", "1/10", 4)
    assert sampled.overlaps(delta("poisson(discrete_gaussian(3), 1/10)^2", "1/10", 4))
    beside = delta(f"{many} * gaussian(2)", 1, 15)
    assert beside.overlaps(delta("discrete_gaussian(3) * gaussian(2)", 1, 15))
    with pytest.raises(UnsupportedMechanism, match="limit 10000"):
        delta("truncated_discrete_gaussian(3, 10001)", 1)


# --- the selection of partitions ------------------------------------------------------------------


def strategy(growth: Fraction, mass: Fraction) -> list[Fraction]:
    chances = [Fraction(0)]
    while chances[-1] < 1:
        p = chances[-1]
        chances.append(min(growth * p + mass, 1 - (1 - p - mass) / growth, Fraction(1)))
    return [*chances, Fraction(1)]


@given(
    st.fractions(1, 9, max_denominator=5),
    st.fractions(Fraction(1, 400), 1, max_denominator=400),
    st.fractions(Fraction(1, 9), 12, max_denominator=9),
)
@settings(max_examples=scaled(80), deadline=None)
def test_selection_is_the_worst_of_all_numbers_of_users(growth, mass, level) -> None:
    m, chances = partition_selection(f"log({growth})", mass), strategy(growth, mass)
    tests = [[(b, a), (1 - b, 1 - a)] for a, b in pairwise(chances)]
    removed = max(hockey_stick(law, level) for law in tests)
    added = max(hockey_stick([(q, p) for p, q in law], level) for law in tests)
    assert removed in delta(m, f"log({level})", 20, "remove")
    assert added in delta(m, f"log({level})", 20, "add")
    two = delta(m**2, f"log({level})", 20, "remove")
    for one in tests[:6]:
        for other in tests[-6:]:
            both = [(a * c, b * d) for a, b in one for c, d in other]
            assert hockey_stick(both, level) <= two.upper


@given(st.fractions(1, 5, max_denominator=4), st.fractions(Fraction(1, 60), 1, max_denominator=60))
@settings(max_examples=scaled(30), deadline=None)
def test_selection_has_its_guarantee(growth, mass) -> None:
    m = partition_selection(f"log({growth})", mass)
    assert delta(m, f"log({growth})").lower <= mass <= delta(m, f"log({growth})").upper
    assert delta(m**3, 1).lower <= delta(f"approx_dp(log({growth}), {mass})^3", 1).upper


def test_the_ends_of_selection() -> None:
    assert delta(partition_selection(1, 0) ** 5, 0).upper == 0
    assert delta(partition_selection(1, 1), 9).lower == 1
    assert delta(partition_selection(0, "1/3"), 0).lower == Fraction(1, 3)
    assert delta("partition_selection(1e300, 1e-300)", 1).lower > Fraction(99, 100)
    assert Fraction(1, 10**300) in delta("partition_selection(1, 1e-300)", 2)
    with pytest.raises(UnsupportedMechanism, match="no partition of less than"):
        delta("partition_selection(0, 1e-300)", 1)
    with pytest.raises(UnsupportedMechanism, match="groups under partition_selection"):
        delta(group(partition_selection(1, "1/3"), 2), 1)


@given(
    positive,
    st.fractions(-2, 9, max_denominator=7),
    st.fractions(0, 4, max_denominator=9),
    st.booleans(),
)
@settings(max_examples=scaled(60), deadline=None)
def test_a_threshold_is_above_old_and_new_partitions(scale, least, eps, normal) -> None:
    noise = gaussian(scale) if normal else laplace(scale)
    with mp.workdps(40):
        b, t = mpf(scale.numerator) / scale.denominator, mpf(least.numerator) / least.denominator
        away = (t - 1) / b
        laplaced = mp.exp(-away) / 2 if away >= 0 else 1 - mp.exp(away) / 2
        new = mp.erfc(away / mp.sqrt(2)) / 2 if normal else laplaced
        old = delta(noise, eps, 25)
        low = mpf(old.lower.numerator) / old.lower.denominator
        found = delta(threshold(noise, least), eps, 20)
        assert found.bound == "upper"
        assert holds(found, new + (1 - new) * low, mpf(10) ** -18)
        assert max(low, new) <= mpf(found.upper.numerator) / found.upper.denominator


# --- all of them ----------------------------------------------------------------------------------


def test_calibration() -> None:
    bound = calibrate("truncated_laplace(2, ?)", 1, "1e-3")
    assert delta(truncated_laplace(2, bound.upper), 1).upper <= Fraction(1, 1000)
    assert delta(truncated_laplace(2, bound.lower), 1).upper > Fraction(1, 1000)
    least = calibrate("threshold(laplace(2), ?)", 1, "1e-3")
    assert delta(threshold(laplace(2), least.upper), 1).upper <= Fraction(1, 1000)
    assert calibrate("truncated_discrete_gaussian(9, 60, ?)", 1, "1e-3").is_exact
    reach = int(calibrate("truncated_discrete_gaussian(3, ?)", 1, "1e-3").upper)
    assert delta(truncated_discrete_gaussian(3, reach), 1).upper <= Fraction(1, 1000)
    assert delta(truncated_discrete_gaussian(3, reach - 1), 1).upper > Fraction(1, 1000)
    times = calibrate("partition_selection(log(2), 1/100)^?", "log(5)", "1/5").lower
    assert delta(partition_selection("log(2)", "1/100") ** times, "log(5)").upper <= Fraction(1, 5)
    for blank, why in (
        ("truncated_laplace(?, 3)", "not monotone in the scale of truncated"),
        ("truncated_discrete_gaussian(?, 3)", "not monotone in the scale of truncated"),
        ("threshold(laplace(?), 9)", "within threshold"),
        ("partition_selection(?, 1/9)", "not proved monotone"),
    ):
        with pytest.raises(UnsupportedMechanism, match=why):
            calibrate(blank, 1, "1e-3")


def test_privacy_is_not_monotone_in_what_is_refused() -> None:
    deltas = [delta(truncated_laplace(scale, 3), 3).lower for scale in ("1/10", "1/2", "5")]
    assert deltas[1] < deltas[0]
    assert deltas[1] < deltas[2]
    noisy = [delta(threshold(laplace(scale), 5), 3).lower for scale in ("1/5", "1", "9")]
    assert noisy[1] < noisy[0]
    assert noisy[1] < noisy[2]


@pytest.mark.parametrize(
    "noise", [laplace("log(3)"), laplace("log(3)", "log(2)"), gaussian("sqrt(2)")]
)
def test_a_threshold_at_the_sensitivity_is_reached_every_other_time(noise) -> None:
    assert delta(threshold(noise, noise.sensitivity), 1).lower >= Fraction(1, 2)
    assert delta(threshold(noise, noise.sensitivity), 99).upper <= Fraction(501, 1000)


def test_thresholds_out_of_reach() -> None:
    assert delta(threshold(gaussian("1e-300"), "1/2"), 1).lower > 0
    assert delta(threshold(gaussian(1), "1e9"), 9, 4).upper < Fraction(1, 10**15)


def test_texts() -> None:
    for text in (
        "truncated_laplace(1, 3)",
        "truncated_laplace(1, 3, 0.5)",
        "truncated_discrete_gaussian(2, 9, 3)",
        "partition_selection(1, 0.001)",
        "threshold(laplace(2), 9)",
    ):
        assert str(parse(text)) == text
    for bad, why in (
        ("threshold(pure_dp(1), 3)", "noise with a threshold is"),
        ("truncated_laplace(1, 0)", "must be > 0"),
        ("truncated_discrete_gaussian(1, 0)", "bound"),
        ("partition_selection(1, 2)", "must be >= 0 and <= 1"),
    ):
        with pytest.raises(InvalidInput, match=why):
            parse(bad)


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("gaussian(0)", "approx_dp(0, 1)"),
        ("laplace(scale=0)", "approx_dp(0, 1)"),
        ("truncated_laplace(0, 3)", "approx_dp(0, 1)"),
        ("laplace(1, 0)", "pure_dp(0)"),
    ],
)
def test_no_noise_and_no_sensitivity_name_what_they_are(text: str, instead: str) -> None:
    with pytest.raises(InvalidInput, match="must be > 0") as refused:
        parse(text)
    assert str(refused.value).split(": ")[-1].startswith(instead)


def test_neighbours() -> None:
    with pytest.raises(UnsupportedMechanism, match="no two datasets"):
        delta("threshold(laplace(2), 9) * fixed_size(gaussian(1), 2, 9)", 1)
    assert epsilon("threshold(laplace(2), 30)^3 * gaussian(3)", "1e-3", 6).digits >= 6


def test_sums_of_an_epsilon_that_is_hardly_known_are_no_error() -> None:
    """Of a rate of 1e-30, as floats were to say how many terms there are."""
    text = "poisson(poisson(truncated_laplace(1e-3, 1e12, 1/1000)^2, 1e-30), sqrt(2)/2)"
    assert epsilon(text, "1-1e-9", 3, "remove").upper == 0
