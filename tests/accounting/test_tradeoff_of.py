import itertools
import math
from fractions import Fraction

import pytest
from flint import fmpq
from mpmath import mp

import dpexact
from dpexact import delta, parse
from dpexact.accounting import tradeoff_of
from dpexact.accounting.levels.dual import Value, ceiling
from dpexact.accounting.levels.polygon import trade_offs
from dpexact.accounting.profile import InfiniteLoss, NoLoss
from dpexact.accounting.profiles import profile
from dpexact.accounting.tradeoff_of import DualTradeoff, tradeoff
from dpexact.answers import PrecisionNotReached, best_of
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.tradeoffs import (
    GaussianTradeoff,
    LaplaceTradeoff,
    PiecewiseLinear,
    delta_of,
    discrete_laplace_pair,
    f_eps_delta,
    tightest,
)
from dpexact.tradeoffs.numbers import enclose

F = Fraction


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pure_dp(1/3)^4", f_eps_delta("1/3", 0) ** 4),
        ("approx_dp(1, 1/9) * pure_dp(2)", f_eps_delta(1, "1/9") * f_eps_delta(2, 0)),
        ("poisson(approx_dp(1, 1/9), 1)", f_eps_delta(1, "1/9")),
        ("gdp(3) * gaussian(1/4)", GaussianTradeoff(5)),
        ("gaussian(2, 3)^4", GaussianTradeoff(3)),
        ("laplace(2, 3)", LaplaceTradeoff("3/2")),
        ("discrete_laplace(2, 3)^2", discrete_laplace_pair(2, 3) ** 2),
        (
            "approx_dp(1, 1/9)^3 * approx_dp(0, 1/7)",
            f_eps_delta(1, "1/9") ** 3 * f_eps_delta(0, "1/7"),
        ),
        ("approx_dp(0, 1)", f_eps_delta(0, 1)),
        ("gaussian(2) * pure_dp(0)", GaussianTradeoff("1/2")),
    ],
)
def test_choice(text, expected):
    assert tradeoff(text) == expected


@pytest.mark.parametrize("text", ["pure_dp(1/10)^12", "approx_dp(log(3/2), 1/50)^9"])
@pytest.mark.parametrize("epsilon", ["0", "1/4", "log(3/2)", "1"])
def test_delta_agrees_with_the_accountant(text, epsilon):
    """Two routes: a conjugate at an exact level, and binomial tails."""
    f = tradeoff(text)
    assert isinstance(f, PiecewiseLinear)
    found = enclose(delta_of(f, epsilon), 20, "")
    assert found.overlaps(dpexact.delta(text, epsilon, digits=20))


@pytest.mark.parametrize("delta", ["1/100000", "1/1000", "1/5"])
def test_epsilon_agrees_with_the_accountant(delta):
    text = "approx_dp(1/5, 1/1000000)^10"
    f = tradeoff(text)
    assert isinstance(f, PiecewiseLinear)
    best, theirs = tightest(f, delta), dpexact.epsilon(text, delta, digits=20)
    if best is None:
        assert theirs.lower == math.inf
    else:
        assert best.epsilon(20).overlaps(theirs)


def test_values():
    assert tradeoff("pure_dp(log(2))^2")("1/5").lower == F(7, 15)
    assert tradeoff("pure_dp(0)")("1/5").lower == F(4, 5)
    assert tradeoff("gdp(1)")("1/2").lower < F(1, 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "alpha"),
    [
        ("laplace(1)^2", "1/10"),
        ("pure_dp(1) * gdp(1)", "1/3"),
        ("poisson(gdp(1), 1/2)^5", "1/5"),
        ("discrete_gaussian(2)^3", "1/4"),
        ("approx_dp(1, 1/10)^2 * gdp(1)", "1/50"),
    ],
)
def test_the_dual_lies_on_and_above_every_supporting_line(text, alpha):
    found = tradeoff(text)(alpha, 8)
    assert found.digits >= 8
    best = F(0)
    for eps in ("0", "1/8", "1/4", "1/2", "1", "3/2", "2", "3"):
        line = delta(text, eps, 12, "remove")
        growth = F(str(mp.exp(mp.mpf(F(eps).numerator) / F(eps).denominator)))
        best = max(best, 1 - line.upper - growth * F(alpha), (1 - line.upper - F(alpha)) / growth)
    assert best <= found.upper
    assert found.upper < best + F(1, 8)


def test_the_dual_agrees_with_closed_forms():
    for text in ("staircase(1, 1/3)^2 * approx_dp(1/2, 1/50)", "gaussian(1)", "laplace(1)"):
        exact = tradeoff(text)
        dual = DualTradeoff(profile(parse(text)))
        for alpha in ("1/20", "1/3", "2/3"):
            assert dual(alpha, 10).overlaps(exact(alpha, 15))
            assert dual(alpha, 10).digits >= 10
    assert dual(0).lower == 1
    assert dual(1).upper == 0


def test_many_repetitions_go_through_the_dual():
    found = tradeoff("pure_dp(1/1000)^1000000")("1/10", 6)
    assert found.method.startswith("dual")
    assert found.overlaps(tradeoff("gdp(1)")("1/10", 3)) or found.digits >= 6


@pytest.mark.slow
def test_a_picture_of_the_dual_is_convex_and_below_the_diagonal():
    pytest.importorskip("matplotlib")
    line = tradeoff("poisson(gdp(1), 1/2)^5").plot().lines[0]
    xs, ys = line.get_data()
    assert all(y <= 1 - x + 1e-9 for x, y in zip(xs, ys, strict=True))
    assert list(ys) == sorted(ys, reverse=True)


def test_what_has_no_profile_is_named():
    with pytest.raises(UnsupportedMechanism, match="zcdp"):
        tradeoff("poisson(zcdp(1), 1/2)")


def test_refusals():
    with pytest.raises(InvalidInput):
        tradeoff("pure_dp(")
    with pytest.raises(InvalidInput):
        tradeoff(3)


@pytest.mark.slow
def test_a_level_below_the_smallest_number():
    """The enclosure of the level is not that of ``f``.

    ``f(alpha)`` lies between ``1 - e^L alpha``, with the largest loss ``L < 2``, and ``1 - alpha``.
    """
    try:
        found = tradeoff("poisson(pure_dp(1),1/2)^2")("exp(-1000000)")
    except PrecisionNotReached as error:
        found = error.best
    assert found.lower <= 1 - F(1, 10**434295)
    assert found.upper >= 1 - F(1, 10**434292)


@pytest.mark.slow
def test_missing_digits_are_an_error_that_carries_what_was_certified():
    class Wide(NoLoss):
        def delta(self, epsilon, digits):
            return Enclosure(F(0), F(1, 3), "wide", "the work ran out")

    with pytest.raises(PrecisionNotReached, match="digits were not reached") as caught:
        DualTradeoff(Wide(InfiniteLoss()))("1/4")
    assert 0 <= caught.value.best.lower <= F(1, 2)
    assert caught.value.best.upper == F(3, 4)


@pytest.mark.parametrize("x", ["1", "5/2", "8"])
def test_chords_bound_the_maximum_wherever_the_points_lie(x):
    """f(1/5) = 2/5 of randomised response with e^eps = 3, attained at x = 3."""

    def g(x):
        return Fraction(1) - max(Fraction(0), (3 - x) / 4) - x / 5

    step = Fraction(1, 2) if x == "1" else Fraction(1)
    places = [Fraction(x) + shift for shift in (-step, 0, step)]
    values = [Value(*(fmpq(*z.as_integer_ratio()) for z in (at, g(at), g(at)))) for at in places]
    assert ceiling(values, fmpq(1, 5)) >= fmpq(2, 5) >= max(value.lower for value in values)


def test_proposed_points_stay_above_zero():
    """Few digits at a level next to 1: the last spacings proposed are wider than the place."""
    found = best_of(lambda: tradeoff("poisson(pure_dp(0.696), 0.9)^2")("1-1e-9", 1))
    assert 0 < found.lower <= found.upper <= F(1, 10**9)


@pytest.mark.slow
def test_numbers_without_a_common_denominator_are_left_to_the_profile():
    """Of few outcomes, whose sums have ever longer denominators."""
    f = tradeoff("staircase(29/25, 0)^3 * discrete_laplace(6/5)^3 * pure_dp(11/7)")
    assert isinstance(f, DualTradeoff)
    (other,) = trade_offs(f.profile.deltas, [Enclosure.exact(F(1, 4))], 6, "")
    assert f("1/4").overlaps(other)


def test_hulls_that_grow_too_long_are_left_to_the_profile(monkeypatch):
    text = "pair((1/2, 1/3), (1/2, 2/3)) * pure_dp(1)"
    exact = tradeoff(text)("1/3", 8)

    def too_long(points):
        raise UnsupportedMechanism("an exact number of too many terms")

    monkeypatch.setattr(tradeoff_of, "convex_hull", too_long)
    found = tradeoff(text)
    assert isinstance(found, DualTradeoff)
    assert found("1/3", 8).overlaps(exact)


def test_masses_of_several_denominators_are_exact():
    """Of sums that grew with each denominator this took minutes."""
    text = "pair((1/2, 1/3), (1/2, 2/3)) * mix(1/2: pure_dp(1.2345), 1/2: staircase(0.54321, 1/3))"
    found = tradeoff(f"{text} * pure_dp(0.777)")
    assert found.method == "exact trade-off function"
    dual = DualTradeoff(profile(parse(f"{text} * pure_dp(0.777)")))
    assert found("1/1000", 12).overlaps(dual("1/1000", 12))


def test_many_outcomes_of_irrational_mass_are_left_to_the_profile():
    """Two runs of noise on 21 integers, by the test that sorts all pairs of outputs in floats."""
    found = tradeoff("truncated_discrete_gaussian(3, 10)^2")("1/10")
    one = [math.exp(-x * x / 18) if abs(x) <= 10 else 0.0 for x in range(-11, 12)]
    total = sum(one)
    outputs = [
        (a * b / total**2, c * d / total**2)
        for a, c in itertools.pairwise(one)
        for b, d in itertools.pairwise(one)
    ]
    level, power = 0.1, 0.0
    for p, q in sorted(outputs, key=lambda x: x[1] / x[0] if x[0] else math.inf, reverse=True):
        share = min(1.0, level / p) if p else 1.0
        level, power = level - share * p, power + share * q
    assert float(found.lower) == pytest.approx(1 - power, rel=1e-9)


def test_many_runs_of_few_outcomes_of_irrational_mass_are_left_to_the_profile():
    text, levels = "randomized_response(1, 10)", ["1/1000", "1/3", "0.99"]
    written, left = tradeoff(f"{text}^9"), tradeoff(f"{text}^40")
    assert isinstance(written, PiecewiseLinear)
    assert isinstance(left, DualTradeoff)
    assert isinstance(tradeoff("randomized_response(log(2), 10)^40"), PiecewiseLinear)
    others = DualTradeoff(profile(parse(f"{text}^9")))(levels, 12)
    for one, other in zip(written(levels, 12), others, strict=True):
        assert one.overlaps(other)
    assert left("1/10", 12).digits >= 12


@pytest.mark.parametrize(
    ("few", "many"),
    [
        ("pure_dp(1/29)^5 * pure_dp(1/18)^12", "pure_dp(1/29)^20 * pure_dp(1/18)^40"),
        ("approx_dp(1/3, 1/100)^300", "approx_dp(1/3, 1/100)^3000"),
        ("pure_dp(log(2))^99 * pure_dp(log(3))^99", "pure_dp(1/2)^90 * pure_dp(log(2))^200"),
    ],
)
def test_responses_are_written_out_where_their_profile_takes_longer(few, many):
    """Powers of several sums ``1 + e^x`` took minutes, and thousands of one of them seconds."""
    assert isinstance(tradeoff(few), PiecewiseLinear)
    found = tradeoff(many)
    assert isinstance(found, DualTradeoff)
    assert found("1/1000").digits >= 15


@pytest.mark.parametrize("digits", [6, 15])
def test_next_to_0_few_lines_are_enough(digits):
    """Where ``alpha`` is tiny the maximum lies at a large ``e^eps``, which need not be found."""
    asked = []

    def profile_of_1_gdp(epsilons, wanted):
        asked.extend(epsilons)
        return [best_of(lambda at=at: delta("gaussian(1)", at, wanted)) for at in epsilons]

    level = Enclosure.exact(Fraction(1, 10**300))
    (found,) = trade_offs(profile_of_1_gdp, [level], digits, "")
    assert found.digits >= digits
    assert 1 - Fraction(1, 10**300) in (found.upper, found.lower)
    assert len(asked) < 50


@pytest.mark.slow
def test_levels_that_take_long_to_write_and_infinite_loss():
    """No more is missed than at level 0."""
    text = "poisson(approx_dp(1, 1/4) * gaussian(1), 1/3)"
    found = dpexact.tradeoff(text)("1e-300", 8)
    assert found.lower <= F(11, 12) <= found.upper * (1 + F(1, 10**8))
    assert found.digits >= 8
    for level in ("exp(-693147)", "exp(-400000)"):
        assert dpexact.tradeoff("gaussian(1) * laplace(1)")(level, 3).digits >= 3
    assert dpexact.tradeoff(text)("exp(-400000)", 3).upper <= F(11, 12)


@pytest.mark.parametrize("direction", ["remove", "add", "both"])
@pytest.mark.parametrize("count", [1, 2])
def test_coins_over_finite_laws(direction, count):
    """Who sees a coin sees the outcomes of both sides; there is no closed form of a coin."""
    coin = "mix(1/2: pair((1/2, 1/4), (1/2, 3/4)), 1/2: pair((1/3, 1/2), (2/3, 1/2)))"
    seen = "pair((1/4, 1/8), (1/4, 3/8), (1/6, 1/4), (1/3, 1/4))"
    one, other = (dpexact.tradeoff(f"{m}^{count}", direction) for m in (coin, seen))
    for alpha in ("0", "1/17", "1/3", "4/5", "1"):
        assert one(alpha, 8).upper >= other(alpha).lower
        assert one(alpha, 8).lower <= other(alpha).upper


BOUNDS = (
    *("adaptive(bounded_range(1)^3)", "bounded_range(1)^2 * gaussian(2)"),
    *("bounded_range(1) * renyi_dp((2, 1/10), (5, 1/2))", "repeat_and_select(gaussian(2), 5)"),
    *("repeat_and_select(pure_dp(1/3), 5)", "repeat_and_select(zcdp(1/10), 3, 1) * pure_dp(1/9)"),
)


@pytest.mark.parametrize("text", BOUNDS)
def test_bounds_on_delta_that_are_not_convex(text):
    """Every line of the bound on delta is below what is enclosed, and that is its own inverse."""
    f, points = tradeoff(text), [F(k, 2) for k in range(-8, 9)]
    bounds = delta(text, points, digits=6)
    for alpha in (F(1, 100), F(1, 5), F(4, 5), F(99, 100)):
        found = f(alpha, 6)
        lines = (1 - d.upper - F(math.exp(x)) * alpha for x, d in zip(points, bounds, strict=True))
        assert found.bound == "lower"
        assert max(lines) <= found.upper + F(1, 10**9)
        assert abs(f.inverse()(found.lower, 6).lower / alpha - 1) < F(1, 1000)
    assert [(found.lower, found.upper) for found in f([0, 1])] == [(1, 1), (0, 0)]


def test_the_largest_loss_of_what_is_selected_bounds_small_errors():
    m = parse("repeat_and_select(pure_dp(1/3), 5)")
    least = math.exp(-dpexact.epsilon(m, 0).upper)
    assert float(tradeoff(m)("1-1e-300", 9).lower * 10**300) > least * (1 - 1e-6)


def test_many_bounded_ranges_at_a_small_level():
    """Of the smaller of two bounds on delta values contradicted what chords said between them."""
    assert tradeoff("adaptive(bounded_range(1/5)^88768)")("1e-300", 3).lower > F(99, 100)


@pytest.mark.parametrize(
    "text",
    [
        "truncated_discrete_gaussian(527/200, 4, 2)^2 * pure_dp(41/250)",
        "mix(1/2: truncated_discrete_gaussian(737/250, 4, 2), 1/2: staircase(1, 1/3))",
        "mix(2/5: truncated_discrete_gaussian(3, 1, 2), 2/5: pair((1, 2/3), (0, 1/3)), "
        "1/5: approx_dp(871/1000, 1/200))^3",
        "mix(4/5: pair((1, 1)), 1/5: approx_dp(2/5, 1/10)) * "
        "mix(1: truncated_discrete_gaussian(1697/1000, 3, 1))",
    ],
)
def test_masses_whose_denominators_grow_together_are_left_to_the_profile(text):
    """The algebra had taken minutes, and refused some in the end."""
    found = tradeoff(text, "remove")("993/1000")
    assert found.overlaps(DualTradeoff(profile(parse(text), "add"))("993/1000"))
