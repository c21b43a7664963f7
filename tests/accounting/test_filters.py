"""Filters: exact sums, what is refused, and adaptive runs computed another way."""

import json
import math
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import product

import mpmath
import pytest
from command_line import invoke
from hypothesis import given
from hypothesis import strategies as st

import dpexact
from dpexact import Filter, parse
from dpexact.accounting.renyi.query import enclose_renyi
from dpexact.conversion import real
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.ternary import Ternary


@given(
    st.lists(st.fractions(Fraction(1, 3), 9, max_denominator=30), min_size=1, max_size=8),
    st.fractions(Fraction(1, 9), 4, max_denominator=9),
)
def test_gaussian_steps_are_admitted_as_exact_sums_say(sigmas, mu):
    chosen, spent = Filter(f"gdp({mu})"), Fraction(0)
    for sigma in sigmas:
        fits = spent + 1 / sigma**2 <= mu**2
        assert chosen.spend(f"gaussian({sigma})") is fits
        spent += fits / sigma**2
        assert (chosen.spent.lower, chosen.spent.upper) == (spent, spent)


@pytest.mark.parametrize(
    ("budget", "step", "times"),
    [
        ("pure_dp(1)", "pure_dp(1/10)", 10),
        ("pure_dp(2*log(3))", "pure_dp(log(3))", 2),
        ("pure_dp(log(9))", "randomized_response(log(3), 2)", 2),
        ("pure_dp(3)", "laplace(2)^2", 3),
        ("pure_dp(sqrt(18))", "pure_dp(sqrt(2))", 3),
        ("gdp(2)", "gaussian(1)", 4),
        ("gaussian(1/2)", "gaussian(3, 3) * gdp(1)", 2),
        ("gdp(sqrt(2))", "gaussian(sqrt(2))", 4),
        ("gdp(1)", "replace(gaussian(4))", 4),
        ("zcdp(1/2)", "gaussian(2)", 4),
        ("zcdp(1)", "pure_dp(1) * discrete_gaussian(1)", 1),
        ("zcdp(1/2)", "poisson(pure_dp(1), 1)", 1),
        ("pure_dp(3)", "adaptive(bounded_range(1) * pure_dp(1/2))", 2),
        ("zcdp(1/4)", "bounded_range(1)", 2),
    ],
)
def test_a_budget_is_used_up_exactly(budget, step, times):
    chosen = Filter(budget)
    assert [chosen.spend(step) for _ in range(times)] == [True] * times
    assert chosen.fits(step) is Ternary.FAILS
    assert chosen.spend(step) is False
    used = chosen.spent
    assert used.lower <= used.upper
    assert chosen.spend("gdp(0)" if "gdp" in budget or "gaussian" in budget else "pure_dp(0)")


def test_equal_numbers_that_nobody_recognises_are_refused():
    chosen = Filter("pure_dp(sqrt(5 + 2*sqrt(6)))")
    assert chosen.fits("pure_dp(sqrt(2)) * pure_dp(sqrt(3))") is Ternary.UNDECIDED
    assert chosen.spend("pure_dp(sqrt(2)) * pure_dp(sqrt(3))") is False
    assert chosen.spent.upper == 0


def test_a_bounded_range_costs_its_zcdp_at_a_renyi_order():
    chosen = Filter.renyi(4, 1)
    assert [chosen.spend("bounded_range(1)") for _ in range(3)] == [True, True, False]
    assert chosen.spent.lower == chosen.spent.upper == 1


def test_costs_without_a_closed_form_count_with_their_upper_ends():
    step = "poisson(gaussian(1), 1/10)"
    cost = dpexact.renyi(step, 4, 25)
    just, short = cost.upper, (cost.lower + cost.upper) / 2
    assert Filter.renyi(4, just).spend(step)
    assert Filter.renyi(4, short).fits(step) is Ternary.UNDECIDED
    assert not Filter.renyi(4, short).spend(step)
    assert Filter.renyi(4, cost.lower * Fraction(99, 100)).fits(step) is Ternary.FAILS
    twice = Filter.renyi(4, 2 * just)
    assert twice.spend(step)
    assert twice.spend(step)
    assert twice.spent.lower <= 2 * cost.lower
    assert twice.spent.upper >= 2 * cost.upper
    assert twice.spent.digits >= 20
    assert not twice.spend("pure_dp(1e-30)")


def test_both_directions_count():
    """Of an asymmetric pair the worse one."""
    step = "pair((1/2, 1/4), (1/2, 3/4))"
    forth, back = math.log(2), math.log(2)
    skew = "pair((1/10, 1/2), (9/10, 1/2))"
    assert Filter(f"pure_dp({max(forth, back) + 1e-9})").spend(step)
    assert not Filter("pure_dp(log(2))").spend(skew)  # 1.8 one way, 5 the other
    assert Filter("pure_dp(1.7)").spend(skew)
    both = Filter.renyi(2, "0.51")
    one = Fraction(1, 100) / Fraction(1, 2) + Fraction(81, 100) / Fraction(1, 2)
    assert math.log(one) < 0.51
    assert not both.spend(skew)


@pytest.mark.parametrize("seed", range(6))
def test_adaptive_runs_of_finite_laws_keep_the_budget(seed):
    """Every path of a run whose steps depend on results, summed exactly."""
    chance = random.Random(seed)
    ladder = ["log(2)", "log(3/2)", "log(5/4)", "log(10/9)"]
    ratios = [Fraction(2), Fraction(3, 2), Fraction(5, 4), Fraction(10, 9)]
    order = chance.choice([2, 3, 5])
    makers = {
        "pure": lambda: Filter("pure_dp(log(4))"),
        "renyi": lambda: Filter.renyi(order, "1/5"),
        "zcdp": lambda: Filter("zcdp(1/5)"),
    }
    prefers = {
        path: chance.sample(range(4), 4) for n in range(5) for path in product((0, 1), repeat=n)
    }
    for kind, make in makers.items():
        sums, worst, lengths = Fraction(0), Fraction(1), set()

        def follow(path, p, q, chosen_steps, make=make):
            chosen = make()
            for step in chosen_steps:
                assert chosen.spend(f"pure_dp({ladder[step]})")
            admitted = None
            if len(path) < 4:
                for step in prefers[path]:
                    if chosen.spend(f"pure_dp({ladder[step]})"):
                        admitted = step
                        break
            if admitted is None:
                yield len(path), p, q
                return
            high = ratios[admitted] / (1 + ratios[admitted])
            for out, (pp, qq) in enumerate([(high, 1 - high), (1 - high, high)]):
                yield from follow((*path, out), p * pp, q * qq, [*chosen_steps, admitted])

        for length, p, q in follow((), Fraction(1), Fraction(1), []):
            sums += p**order / q ** (order - 1)
            worst = max(worst, p / q)
            lengths.add(length)
        if kind == "pure":
            assert worst <= 4
        else:
            budget = 0.2 * (order if kind == "zcdp" else 1)
            assert math.log(sums) / (order - 1) <= budget
            assert math.log(sums) / (order - 1) > budget / 20  # and nearly uses it
        assert max(lengths) >= 2


def normal(x):
    return mpmath.ncdf(x)


@pytest.mark.parametrize(("first", "level"), [(0.6, 0.3), (0.8, -0.5), (0.3, 0.0)])
@pytest.mark.slow
def test_adaptive_gaussian_runs_keep_the_budget(first, level):
    """Two steps; the second takes what is left, or a part of it, as the first result says."""
    budget = Fraction(1)
    for part in (0.0, 0.5, 1.0):
        for epsilon in (0.0, 0.7, 2.0):
            left = 1 - first**2

            def inner(x, part=part, epsilon=epsilon, left=left):
                # the loss of the first result, at x under Q, and what the rest can add
                loss = first * x - first**2 / 2
                mu = math.sqrt(left if x > level else part * left)
                gap = epsilon - loss
                density = mpmath.npdf(x)
                if mu == 0:
                    return density * max(mpmath.e**loss - mpmath.e**epsilon, 0)
                rest = normal(-gap / mu + mu / 2) - mpmath.e**gap * normal(-gap / mu - mu / 2)
                return density * mpmath.e**loss * rest

            found = mpmath.quad(inner, [-12, -4, level, 4, 12])
            whole = dpexact.delta(f"gdp({budget})", epsilon)
            assert found <= float(whole.upper) * (1 + 1e-9)
            if part == 1:
                assert found == pytest.approx(float(whole.upper), rel=1e-6)
    chosen = Filter("gdp(1)")
    assert chosen.spend(f"gdp({first!r})")
    assert chosen.spend(f"gdp(sqrt(1 - ({first!r})^2))")
    assert not chosen.spend("gdp(1e-6)")


@pytest.mark.parametrize(
    ("budget", "step", "said"),
    [
        ("gdp(1)", "poisson(gaussian(1), 1/10)", "is no Gaussian mechanism"),
        ("gdp(1)", "laplace(1)", "is no Gaussian mechanism"),
        ("gdp(1)", "gaussian(1) * approx_dp(0, 1e-9)", "is no Gaussian mechanism"),
        ("zcdp(1)", "approx_dp(1, 1e-9)", "may reveal everything"),
        ("zcdp(1)", "poisson(gaussian(1), 1/2)", "no zCDP guarantee"),
    ],
)
def test_steps_without_a_cost_are_refused_by_name(budget, step, said):
    with pytest.raises(UnsupportedMechanism, match=said):
        Filter(budget).spend(step)


@pytest.mark.parametrize("step", ["gaussian(5)", "approx_dp(0, 1e-9)", "zcdp(1/100)"])
def test_a_step_without_a_largest_loss_never_fits_a_pure_budget(step):
    chosen = Filter("pure_dp(1e300)")
    assert chosen.fits(step) is Ternary.FAILS
    assert chosen.spend(step) is False


def test_other_neighbours_are_refused():
    chosen = Filter.renyi(2, 10)
    assert chosen.spend("poisson(gaussian(1), 1/10)")
    with pytest.raises(UnsupportedMechanism, match="no two datasets are neighbours in both"):
        chosen.spend("replace(gaussian(1))")
    fresh = Filter.renyi(2, 0)
    assert not fresh.spend("poisson(gaussian(1), 1/10)")
    assert fresh.fits("replace(gaussian(1))") is Ternary.FAILS  # what was refused did not run


def test_a_step_that_is_known_from_below_only_is_refused():
    with pytest.raises(UnsupportedMechanism, match="nothing is known from above: shuffled batches"):
        Filter("zcdp(1)").spend("shuffled_batches(gaussian(1), 4)")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Filter("laplace(1)"), r"budget: laplace\(1\) is not accepted; use pure_dp"),
        (lambda: Filter("approx_dp(1, 1e-6)"), "budget: "),
        (lambda: Filter("nonsense"), "mechanism"),
        (lambda: Filter.renyi(1, 1), "order"),
        (lambda: Filter.renyi("sqrt(2)", 1), "order: .* must be rational"),
        (lambda: Filter.renyi(float("nan"), 1), "order"),
        (lambda: Filter.renyi(2, -1), "bound"),
        (lambda: Filter("gdp(1)").epsilon(0), "delta"),
    ],
)
def test_bad_input(make, said):
    with pytest.raises(InvalidInput, match=said):
        make()


def test_extreme_numbers():
    chosen = Filter("gdp(1e-300)")
    assert chosen.spend("gaussian(1e300)")
    assert not chosen.spend("gaussian(1e300)^2")
    assert Filter("zcdp(0)").spend("pure_dp(0)")
    assert not Filter("zcdp(0)").spend("gaussian(1e300)")
    assert Filter("gdp(1e300)").spend("gaussian(1e-150)^1000000000000000")


@pytest.mark.parametrize(
    ("chosen", "same"),
    [
        (Filter("gdp(1)"), "gdp(1)"),
        (Filter("pure_dp(1)"), "pure_dp(1)"),
        (Filter("zcdp(1/2)"), "zcdp(1/2)"),
    ],
)
def test_the_epsilon_of_a_run_is_that_of_its_guarantee(chosen, same):
    found, other = chosen.epsilon("1e-5"), dpexact.epsilon(same, "1e-5")
    assert (found.lower, found.upper, found.bound) == (other.lower, other.upper, "upper")


def test_the_epsilon_of_a_renyi_budget():
    """Proposition 14 of Steinke (2022) at the order, in mpmath."""
    found = Filter.renyi(8, "1/2").epsilon("1e-6", 15)
    with mpmath.workdps(40):
        order = mpmath.mpf(8)
        known = (
            mpmath.mpf("0.5")
            + mpmath.log(1 - 1 / order)
            - (mpmath.log(mpmath.mpf("1e-6")) + mpmath.log(order)) / (order - 1)
        )
        low, high = found.to_mpmath(30)
        assert low <= known <= high


run = partial(invoke, "filter")


def test_threads_that_share_a_filter_spend_one_after_the_other(monkeypatch):
    """Else all of them weigh their step before any is counted."""
    weighed, together = Filter._weighed, threading.Barrier(4)

    def slow(self, step):
        found = weighed(self, step)
        with suppress(threading.BrokenBarrierError):
            together.wait(0.2)  # for the others, if they get there
        return found

    monkeypatch.setattr(Filter, "_weighed", slow)
    chosen = Filter("pure_dp(1)")
    with ThreadPoolExecutor(4) as threads:
        admitted = list(threads.map(chosen.spend, ["pure_dp(1/2)"] * 4))
    assert sum(admitted) == 2
    assert chosen.spent.upper == 1


def test_the_verb():
    steps = ["gaussian(2)", "gaussian(5/4)", "gaussian(3)", "gaussian(4)"]
    found = run("--budget", "gdp(1)", *steps, "--delta", "1e-5")
    assert found.exit_code == 1, found.output
    assert found.output.splitlines() == [
        "admitted: gaussian(2); spent 0.25 of 1",
        "admitted: gaussian(1.25); spent 0.89 of 1",
        "over the budget: gaussian(3); spent 0.89 of 1",
        "admitted: gaussian(4); spent 0.9525 of 1",
        "the run is 1-GDP: squares of mu add up, also adaptively (Smith, Thakurta 2022)",
        "epsilon <= 4.377179 at delta = 1e-5",
        "odometer: what was spent is no guarantee by itself, only the budget is "
        "(Rogers et al. 2016)",
    ]
    found = run("--order", "8", "--bound", "1", "laplace(20)", "--json")
    assert found.exit_code == 0, found.output
    record = json.loads(found.output)
    assert record["guarantee"] == "(8, 1)-RDP"
    assert [step["admitted"] for step in record["steps"]] == [True]
    assert run("--budget", "pure_dp(1)", "pure_dp(1)").output.endswith(
        "odometer: what was spent bounds the loss at every time, also one that results choose\n"
    )


@pytest.mark.parametrize(
    "options", [(), ("--order", "2"), ("--budget", "gdp(1)", "--order", "2"), ("--bound", "1")]
)
def test_the_verb_needs_one_budget(options):
    found = run("gaussian(1)", *options)
    assert found.exit_code == 2
    assert "give either --budget, or --order and --bound" in found.output


def test_a_cost_that_may_be_infinite_is_not_certain_to_exceed_the_budget():
    """Of the step nothing is known from above at this order; it is below ``1e9 / (2 100^2)``."""
    step = "poisson(discrete_gaussian(100), 1/10)"
    cost = enclose_renyi(parse(step), real("1e9"), 25, "both")
    assert cost.lower > 0
    assert cost.upper == math.inf
    assert Filter.renyi("1e9", "1e8").fits(step) is Ternary.UNDECIDED
    assert Filter.renyi("1e9", "1e-3").fits(step) is Ternary.FAILS
    assert Filter("pure_dp(1)").fits("gaussian(1)") is Ternary.FAILS


@pytest.mark.parametrize(
    "kept", [Filter("gdp(1)"), Filter("zcdp(1)"), Filter("pure_dp(1)"), Filter.renyi(2, 1)]
)
def test_at_a_delta_of_one_nothing_is_asked(kept):
    assert kept.epsilon(1) == dpexact.Enclosure.exact(Fraction(0))
