"""``bounds``: published rows, slack, reasons, JSON, and the verb."""

import json
import math
from fractions import Fraction
from functools import partial

import pytest
from command_line import invoke

import dpexact
from dpexact.accounting import bounds_of
from dpexact.accounting.bounds_of import optimal_of_enclosure
from dpexact.accounting.classic.optimal_order import enclose_optimal
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.errors import Contradiction, InvalidInput
from dpexact.ternary import Ternary


def test_hundred_steps_of_a_tenth():
    found = dpexact.bounds("pure_dp(0.1)^100", "1e-6", 13)
    assert found.exact.shown(13).startswith("4.774567588107")  # 4.774567588108 rounded
    for name, digits in (
        ("basic composition", "10"),
        ("Theorem 18", "5.756521769756"),
        ("Theorem 22", "5.756521769756"),
        ("Proposition 14 for zCDP", "5.221534444530"),
    ):
        bound = found[name]
        assert bound.applies
        assert bound.value.shown(13).startswith(digits)
        slack = Fraction(bound.value.upper) / Fraction(found.exact.lower) - 1
        assert bound.slack.lower <= slack <= bound.slack.upper
        assert bound.slack.digits >= 12
    assert found.best.name == "optimal Renyi"
    assert len(found) == len(list(found)) == 12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "delta"),
    [
        ("pure_dp(1)^3 * pure_dp(1/2)", "1e-3"),
        ("approx_dp(0.5, 1e-4)^20", "0.01"),
        ("poisson(gaussian(1), 0.01)^200", "1e-6"),
        ("poisson(approx_dp(1, 1e-8), 0.05)^100", "1e-5"),
        ("poisson(pure_dp(1), 0.1)^20 * pure_dp(0.3)^2", "1e-3"),
        ("laplace(3)^7", "1e-4"),
        ("gaussian(2)^3", "1e-9"),
        ("discrete_gaussian(2)^5", "1e-3"),
    ],
)
def test_no_bound_is_below_the_truth(text, delta):
    found = dpexact.bounds(text, delta, 8)
    assert found.exact is not None
    applying = [bound for bound in found if bound.applies]
    assert applying
    for bound in applying:
        assert found.exact.at_most(bound.value) is not Ternary.FAILS, bound.name
        assert bound.slack.upper >= 0
    assert all(bound.reason for bound in found if not bound.applies)


@pytest.mark.slow
def test_the_optimal_conversion_is_not_above_proposition_14():
    for text in ("gaussian(1)", "pure_dp(0.1)^100", "poisson(gaussian(0.7), 256/60000)^10546"):
        found = dpexact.bounds(text, "1e-5")
        optimal, weaker = found["optimal Renyi"], found["Proposition 14 for Renyi"]
        assert optimal.value < weaker.value


def test_a_divergence_known_to_few_digits_widens_the_answer():
    order, delta = real(6), real("1e-6")
    found = optimal_of_enclosure(Enclosure(Fraction(29, 10), Fraction(31, 10)), order, delta, 9)
    for inside in ("2.9", "3", "3.1"):
        exact = enclose_optimal(inside, 6, delta, 12)
        assert found.lower <= exact.lower <= exact.upper <= found.upper + Fraction(1, 10**8)
    assert found.digits <= 2


def test_failed_hypotheses_say_why():
    found = dpexact.bounds("approx_dp(0.1, 1e-3)^30 * pure_dp(0.3)", "0.04")
    assert "same eps" in found["advanced composition"].reason
    assert "pure DP" in found["Theorem 18"].reason
    assert "infinite loss" in found["plain zCDP"].reason
    assert "infinite" in found["moments accountant"].reason
    assert found["KOV simplified"].applies
    with pytest.raises(InvalidInput, match="'KOV' is not listed"):
        found["KOV"]


def test_zcdp_has_bounds_but_no_exact_value():
    found = dpexact.bounds("zcdp(1/2)", "1e-6", 13)
    assert found.exact is None
    assert "zCDP" in found.reason
    assert found["Proposition 14 for zCDP"].value.shown(13).startswith("5.22153444453")
    assert found["Proposition 14 for zCDP"].slack is None


def test_trivial_cases():
    zero = dpexact.bounds("pure_dp(0)", "0.1")
    assert all(b.value.upper == 0 and b.slack is None for b in zero if b.applies)
    none = dpexact.bounds("gaussian(1)", 0)
    assert none.exact.lower == float("inf")
    assert none.best is None
    with pytest.raises(InvalidInput, match="delta: 2"):
        dpexact.bounds("gaussian(1)", 2)


run = partial(invoke, "bounds")


def test_the_verb():
    result = run("approx_dp(0.1, 1e-9)^100", "--delta", "1.1e-6", "--digits", "8")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == "exact epsilon = 4.7745675..."
    assert "basic composition: 10, bound/exact - 1 = 1.09443..." in lines
    assert any(line.startswith("Theorem 18: does not apply: ") for line in lines)


def test_the_verb_in_json():
    record = json.loads(run("zcdp(1/2)", "--delta", "1e-6", "--json").output)
    assert record["exact"] is None
    assert record["mechanism"] == "zcdp(0.5)"
    by_name = {entry["name"]: entry for entry in record["bounds"]}
    low, high = (Fraction(by_name["plain zCDP"]["value"][end]) for end in ("lower", "upper"))
    assert low <= Fraction("5.75652176975693197863") <= high
    assert by_name["basic composition"]["value"] is None
    assert record["version"] == dpexact.__version__


def test_the_verb_refuses_bad_input():
    result = run("gaussian(1)", "--delta", "-1")
    assert result.exit_code == 2
    assert result.output.count("\n") == 1


def test_a_contradiction_is_no_missing_hypothesis(monkeypatch):
    def contradiction(*_):
        raise Contradiction("one", "another")

    monkeypatch.setattr(bounds_of, "symmetric_samples", contradiction)
    with pytest.raises(Contradiction):
        dpexact.bounds("poisson(laplace(1), 1/10)", "1e-5", 5)


def test_wide_values_are_listed_with_what_stood_in_the_way(monkeypatch):
    wide = Enclosure(Fraction(1), Fraction(2), "test", "short")
    monkeypatch.setattr(bounds_of, "epsilon_answer", lambda *_: wide)
    found = dpexact.bounds("pure_dp(0.1)^100", "1e-6", 5)
    assert (found.exact, found.reason) == (wide, "short")
    assert found["basic composition"].slack == Enclosure(Fraction(4), Fraction(9))


@pytest.mark.parametrize(("low", "high"), [("1", "2"), ("0", "3"), ("1", "inf")])
def test_the_optimal_conversion_of_a_wide_divergence_holds_those_within(low, high):
    order, delta = real("6"), real("1e-3")
    top = math.inf if high == "inf" else Fraction(high)
    found = optimal_of_enclosure(Enclosure(Fraction(low), top), order, delta, 10)
    inside = enclose_optimal("3/2", "6", "1e-3", 10)
    assert found.lower < inside.lower <= inside.upper < found.upper


@pytest.mark.slow
def test_an_allocation_has_bounds_in_bounded_time():
    """Orders of thousands are tried on the way, whose moments would never come."""
    found = dpexact.bounds("allocation(gaussian(1), 20)", "1e-3", 3)
    assert found["optimal Renyi"].applies
    assert found.exact.lower <= found["optimal Renyi"].value.upper


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("allocation(gaussian(1), 10, 4)", "epsilon <= "),
        ("shuffled_batches(gaussian(1), 100)", "epsilon >= "),
        ("shuffle(pure_dp(1), 100)", "epsilon <= "),
        ("group(pure_dp(1), 2)", "epsilon <= "),
        ("repeat_and_select(gaussian(5), 3)", "epsilon <= "),
    ],
)
def test_what_is_known_from_one_side_is_not_called_exact(text, said):
    found = dpexact.bounds(text, "1e-3", 3)
    answer = dpexact.epsilon(text, "1e-3", 5)
    assert answer.bound == ("upper" if said.endswith("<= ") else "lower")
    assert found.exact is None
    assert found.reason == f"{said}{answer.safe()} alone: {answer.theorem}"
    assert all(bound.slack is None for bound in found)
