"""Goals are settled where they hold on the whole domain, and nowhere else."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpexact.tradeoffs.subsampling import subsampled
from proofs_checks.evidence import Declined, Refuted
from proofs_checks.gdp.polygons import curve
from proofs_checks.prover.deciding import decided, fails_at
from proofs_checks.prover.domains import defined
from proofs_checks.prover.enumeration import (
    Draw,
    beta_at,
    compose,
    hockey_stick,
    kov_pair,
    tradeoff,
)
from proofs_checks.prover.goals import covered, settle, step
from proofs_checks.prover.laws import LAWS, powers
from proofs_checks.prover.sampling import sampled
from proofs_checks.statements.reading import statement

SMALL = "natural in [0, 3]"
POSITIVE = {"x": "real > 0", "y": "real > 0"}


def goal(then, where=(), **variables):
    return statement({"for_all": variables, "where": where, "then": [then]})


@pytest.mark.parametrize(
    ("then", "variables", "where"),
    [
        ("x/(x + y) <= 1", POSITIVE, ()),
        ("x^2 + y^2 >= 2*x*y", {"x": "real >= 0", "y": "real >= 0"}, ()),
        ("x*(1 - x) >= 0", {"x": "real in [0, 1]"}, ()),
        ("x*(1 - x) > 0", {"x": "real in (0, 1)"}, ()),
        ("exp(x) >= 1 + x", {"x": "real in [-3, 3]"}, ()),
        ("x^4 - x^2 + 1 > 0", {"x": "real"}, ()),
        (
            "1 - x*z <= s + 1 - x",
            {"x": "real in [0, 1]", "z": "real", "s": "real"},
            ("x - x*z <= s",),
        ),
        ("log(x*y) = log(x) + log(y)", POSITIVE, ()),
        ("2*z = 1/y", {"x": "real > 0", "y": "real > 0", "z": "real"}, ("z = 1/(2*y)",)),
        ("limit(exp(-x), x, oo) = 0", {"x": "real"}, ()),
        ("exp(1) > 27/10", {}, ()),
    ],
)
def test_what_holds_is_settled(then, variables, where):
    assert settle(goal(then, where, **variables)).statement is not None


@pytest.mark.parametrize(
    ("then", "variables"),
    [
        ("x*(1 - x) > 0", {"x": "real in [0, 1)"}),
        ("x*(1 - x) > 0", {"x": "real in (0, 1]"}),
        ("1/(1 - x) >= 0", {"x": "real in [0, 1]"}),
        ("x/x = 1", {"x": "real >= 0"}),
        ("x*x^(-1) = 1", {"x": "real"}),
        ("(x^2 - 1)/(x - 1) = x + 1", {"x": "real"}),
        ("x > 0", {"x": "real >= 0"}),
        ("sqrt(x^2) = x", {"x": "real"}),
        ("x <= 1", {"x": "real in [0, 2]"}),
        ("x = x", {"x": "real"}),
        ("limit(exp(-x), x, oo) = 1", {"x": "real"}),
        ("at(sqrt(x^2), x, -1) = -1", {"x": "real > 0"}),
        ("limit(sqrt(x^2)/x, x, oo) = -1", {"x": "real < 0"}),
    ],
)
def test_what_fails_somewhere_is_not_settled(then, variables):
    with pytest.raises(Declined):
        settle(goal(then, **variables))


REAL = {"x": "real"}


@pytest.mark.parametrize(
    ("then", "variables"),
    [
        ("1 + 1 != 2", {}),
        ("sqrt(2)*sqrt(2) != 2", {}),
        ("at(D(abs(x), x), x, -1) = 1", {}),
        ("at(D(max(x, 0), x), x, 0) = 1/2", {}),
        ("at(D(max(x, 0), x), x, 0) = 1", {}),
        ("at(D(floor(x), x), x, 1) < 1", {}),
        ("at(D(sqrt(x), x), x, 0) > 5", {}),
        ("sqrt(-1)^2 < 0", {}),
        ("x*x^(0 - 1) = 1", REAL),
        ("x^(-n)*x^n = 1", {"x": "real", "n": "natural"}),
        ("x*x^(1 - 2) <= 1", REAL),
        ("x^(1/2)*x^(1/2) = x", REAL),
        ("exp(log(x)) = x", REAL),
        ("0*log(x) <= 1", REAL),
        ("sqrt(x)^2 = x", REAL),
        ("coth(x)*sinh(x) = cosh(x)", REAL),
        ("limit(sign(x), x, 0) = 1", {}),
        ("limit(floor(x), x, 1) = 1", {}),
        ("sum(1, i, 1/2, 1) = 2", {}),
        ("total_variation(power(bernoulli(1/2), 1/2), power(bernoulli(1/3), 1/2)) = 0", {}),
    ],
)
def test_what_is_false_or_has_no_value_somewhere_is_not_settled(then, variables):
    with pytest.raises(Declined):
        settle(goal(then, **variables))


@pytest.mark.parametrize(
    "then", ["exp(log(x)) = x", "x^(1/3)*x^(2/3) = x", "0*log(x) <= 1", "sqrt(x)*sqrt(x) = x"]
)
def test_what_is_not_0_need_not_be_positive(then):
    with pytest.raises(Declined, match="no value"):
        settle(goal(then, ["x != 0"], x="real >= -1"))


@pytest.mark.parametrize(
    ("then", "variables", "where"),
    [
        ("x*(x - 1) >= 0", {"x": "natural"}, ()),
        ("x >= 1/2", {"x": "natural > 0"}, ()),
        ("x > 100", REAL, ("x > 1", "x < 0")),
        ("1 = 2", REAL, ("x > 1", "x < 0")),
        ("integral(sign(x), x, -1, 2) = 1", {}, ()),
    ],
)
def test_what_holds_is_not_refuted(then, variables, where):
    try:
        settle(goal(then, where, **variables))
    except Refuted:
        pytest.fail("refuted")
    except Declined:
        pass


@pytest.mark.parametrize(
    ("then", "variables"),
    [
        ("sum(i, i, 3, 0) = 0", {}),
        ("1 + 1 != 3", {}),
        ("x + 1 != x", REAL),
        ("exp(log(x)) = x", {"x": "real > 0"}),
        ("sqrt(log(1 + (exp(x) - 1)/n)) >= 0", {"x": "real >= 0", "n": "real >= 1"}),
        ("x^a*x^(1 - a) = x", {"x": "real > 0", "a": "real"}),
        ("x^a >= 0", {"x": "real in [0, 0]", "a": "natural in [0, 3]"}),
    ],
)
def test_what_has_values_everywhere_is_settled(then, variables):
    assert defined(goal(then, **variables))
    if "sqrt" not in then and ">=" not in then:
        settle(goal(then, **variables))


def test_a_witness_of_inequality_must_be_equal():
    near = goal("sqrt(2) + x != sqrt(2)", x="real")
    with pytest.raises(Declined, match="not certainly false"):
        fails_at(near, {"x": str(Fraction(1, 2**3000))})


def test_an_excluded_pole_is_no_pole():
    assert not defined(goal("1/(x - 1) = 1/(x - 1) + 0", x="real"))
    assert defined(goal("1/(x - 1) = 1/(x - 1) + 0", ["x - 1 != 0"], x="real"))
    assert defined(goal("1/(x - 1) = 1/(x - 1) + 0", x="real > 1"))


def test_a_fact_covers_parts_of_its_domain_only():
    fact = settle(goal("x^2 <= x", x="real in [0, 1]"))
    assert covered(goal("x^2 <= x", x="real in [0, 1/2]"), [fact])
    assert covered(goal("0 <= x - x^2", x="real in (0, 1)"), [fact])
    assert covered(goal("x^2 <= x", x="real in [0, 2]"), [fact]) is None
    assert covered(goal("x^2 < x", x="real in (0, 1)"), [fact]) is None
    assert covered(goal("x^2 <= 2*x", x="real in [0, 1]"), [fact]) is None


small = st.fractions(-3, 3, max_denominator=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(small, min_size=1, max_size=3), small, small, small)
@pytest.mark.slow
def test_a_settled_polynomial_is_not_negative_anywhere(coefficients, low, width, where):
    body = " + ".join(f"({c})*x^{i}" for i, c in enumerate(coefficients, start=1))
    high = low + abs(width) + Fraction(1, 6)
    found = goal(f"{body} + 1/7 >= 0", x=f"real in [{low}, {high}]")
    try:
        settle(found)
    except Declined:
        return
    at = min(max(where, low), high)
    assert sum(c * at**i for i, c in enumerate(coefficients, start=1)) + Fraction(1, 7) >= 0


def test_a_step_is_one_relation():
    assert step("x + 1 > 1", {"x": "real > 0"}).kind == "polynomial"
    with pytest.raises(Refuted):
        step("x + 1 > 2", {"x": "real in [0, 3]"})


def test_sampling_refutes_and_never_proves():
    laws = {"P": "law", "Q": "law", "K": "kernel", "E": "real >= 1"}
    right = "hockey_stick(push(K, P), push(K, Q), E) <= hockey_stick(P, Q, E)"
    assert sampled(goal(right, **laws)).kind == "cases"
    with pytest.raises(Refuted) as caught:
        sampled(goal(right.replace("<=", ">"), **laws))
    assert set(caught.value.witness) == set(laws)
    with pytest.raises(Declined, match="no member"):
        sampled(goal("x > 1", ["x < 0"], x="real > 0"))


def test_a_witness_must_be_in_the_domain():
    larger = goal("x^2 > x", ["x != 3"], x="real > 0")
    assert fails_at(larger, {"x": "1/2"}).sides == (0.25, 0.5)
    for wrong in ({"x": "2"}, {"x": "-1"}, {"x": "3"}, {"y": "1"}):
        with pytest.raises(Declined):
            fails_at(larger, wrong)


COIN, OTHER = "bernoulli(1/3)", "bernoulli(2/3)"


@pytest.mark.parametrize(
    "then",
    [
        f"hockey_stick({COIN}, {OTHER}, 1) = 1/3",
        f"tradeoff({COIN}, {OTHER}) = approximate(2, 0)",
        f"moment({COIN}, {OTHER}, 3/2) > 1",
        "hockey_stick(response(3, 0), mirrored_response(3, 0), exp(1/2)) < 17/50",
    ],
)
def test_a_statement_about_given_laws_is_decided_by_its_values(then):
    fact = settle(goal(then))
    assert fact.kind == "computation"
    assert covered(goal(then), [fact]) is fact


@pytest.mark.parametrize(
    "then",
    [
        f"hockey_stick({COIN}, {OTHER}, 1) = 333333333333333333333333333333/10^30",
        f"hockey_stick({COIN}, {OTHER}, 1) < 1/3",
        f"tradeoff({COIN}, {OTHER}) = approximate(2, 1/10^30)",
        f"moment({COIN}, {OTHER}, 3/2) <= 1",
    ],
)
def test_a_false_statement_about_given_laws_is_refuted(then):
    with pytest.raises(Refuted):
        settle(goal(then))


@pytest.mark.parametrize(
    ("then", "variables"),
    [
        (f"total_variation({COIN}, {OTHER}) = total_variation({COIN}, {OTHER})", {}),
        (f"moment({COIN}, {OTHER}, 3/2) = moment({OTHER}, {COIN}, 3/2)", {}),  # equal balls
        (f"moment({COIN}, {OTHER}, 3/2) <= moment({OTHER}, {COIN}, 3/2)", {}),
        (f"hockey_stick({COIN}, {OTHER}, 1)/0 = 1", {}),
        (f"moment({COIN}, bernoulli(0), 2) > 1", {}),
        ("total_variation(P, P) = 0", {"P": "law"}),
    ],
)
def test_what_two_values_do_not_decide_is_not_settled(then, variables):
    with pytest.raises(Declined):
        decided(goal(then, **variables))
    with pytest.raises(Declined):
        settle(goal(then, **variables))


@pytest.mark.parametrize("then", ["limit(x*exp(-y), y, oo) = 0", "1 - x <= exp(-1)"])
def test_what_speaks_of_more_than_the_provers_take_is_declined(then):
    with pytest.raises(Declined):
        settle(goal(then, x="real in [0, 1/2]"))


@pytest.mark.parametrize("sign", ["<=", ">="])
def test_the_inverse_of_a_function_with_a_flat_part_begins_where_it_ends(sign):
    then = f"value(inverse(approximate(E, d)), a) {sign} value(approximate(E, d), a)"
    variables = {"E": "real >= 1", "d": "real in [0, 1]", "a": "real in [0, 1]"}
    assert sampled(goal(then, **variables)).cases == 80


RESPONSES = "power(response({E}, 1/5), 3), power(mirrored_response({E}, 1/5), 3)"


@pytest.mark.parametrize(
    ("then", "variables"),
    [
        ("hockey_stick(bernoulli(1/3), bernoulli(2/3), 3/2) = 1/6", {}),
        (f"hockey_stick({RESPONSES.format(E='exp(1)')}, exp(3)) < 62/125", {}),
        ("hockey_stick(response(2^n, 0), mirrored_response(2^n, 0), 2^n) = 0", {"n": SMALL}),
    ],
)
def test_a_finite_domain_is_decided(then, variables):
    found = settle(goal(then, **variables))
    assert found.kind == ("enumeration" if variables else "computation")
    assert found.cases == (4 if variables else 1)


@pytest.mark.parametrize(
    ("then", "variables"),
    [
        ("hockey_stick(bernoulli(1/3), bernoulli(2/3), 3/2) = 1/5", {}),
        ("hockey_stick(bernoulli(1/3), bernoulli(4/3), 3/2) >= 0", {}),  # no law
        ("total_variation(response(exp(1), 0), mirrored_response(exp(1), 0)) = tanh(1/2)", {}),
        ("value(tradeoff(bernoulli(1/3), bernoulli(2/3)), exp(-1)) <= 1", {}),
        ("hockey_stick(response(2^n, 0), mirrored_response(2^n, 0), 4) = 0", {"n": SMALL}),
        ("hockey_stick(bernoulli(1/n), bernoulli(1/2), 1) >= 0", {"n": SMALL}),
        ("total_variation(response(n, 0), mirrored_response(n, 0)) < 1", {"n": "natural >= 1"}),
        ("abs(n) = abs(n)", {"n": SMALL}),
    ],
)
def test_what_is_not_decided_is_not_settled(then, variables):
    with pytest.raises(Declined):
        settle(goal(then, **variables))


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), st.fractions(0, 5))
@settings(max_examples=20, deadline=None)
def test_counted_powers_are_the_products(a, b, n, growth):
    pair = kov_pair(1 + Fraction(a, 3), Fraction(b, 10))
    counted = powers(*pair, Fraction(n))
    assert sum(counted[0].values()) == sum(counted[1].values()) == 1
    assert hockey_stick(*counted, growth) == hockey_stick(*compose(*[pair] * n), growth)
    assert tradeoff(*counted) == tradeoff(*compose(*[pair] * n))


def test_powers_of_other_exponents_are_not_counted_together():
    with_one = "total_variation(power(bernoulli(1/3), 2), power(bernoulli(1/3), 1)) = 1"
    assert settle(goal(with_one)).kind == "computation"  # pairs and singles share no outcome


def test_a_fact_with_a_pole_does_not_disturb_a_goal_about_laws():
    fact = step("(x*y + 1)/y = x + 1/y", {"x": "real", "y": "real"}, "y != 0")
    one = goal("hockey_stick(P, P, y) <= 0", P="law", y="real >= 1", x="real")
    assert covered(one, [fact]) is None


def test_a_witness_that_nearly_fulfils_a_hypothesis_is_none():
    near = str(Fraction(3, 2) + Fraction(1, 2**1100))
    wrong = goal("x < 1", ["exp(x) = exp(3/2)"], x="real")
    with pytest.raises(Declined, match="not in the domain"):
        fails_at(wrong, {"x": near})


@given(st.integers(0, 10**6), st.fractions(0, 1, max_denominator=20))
@settings(max_examples=30, deadline=None)
def test_a_subsampled_function_is_that_of_the_library(seed, share):
    draw = Draw(seed)
    laws = draw.law(3), draw.law(3)
    found, other = LAWS["subsampled"](share, tradeoff(*laws)), subsampled(curve(*laws), share)
    corners = [a for a, _ in found]
    for level in (*corners, *(sum(pair) / 2 for pair in pairwise(corners))):
        assert other.value(level) == beta_at(found, level)


def test_a_subsampled_function_has_a_middle_line():
    assert settle(goal("subsampled(1/2, approximate(2, 0)) >= approximate(3/2, 0)")).cases == 1
    with pytest.raises(Refuted):
        settle(goal("subsampled(1/2, approximate(2, 0)) <= approximate(3/2, 0)"))


@pytest.mark.parametrize(
    "then",
    [
        "10^(10^9) > 1",
        "10^(10^5) > 1",
        "10^(10^(10^10)) > 1",
        "(1/10)^(10^9) < 1",
        "10^(0 - 10^9) < 1",
        "(1 + 1/10^9)^(10^9) < 3",
        "sqrt(10)^(10^9) > 1",
        "10^factorial(20) > 1",
        "2^floor(exp(30)) > 1",
        "factorial(10^8) > 1",
        "factorial(2^70) > 1",
        "binomial(10^9, 5*10^8) > 1",
        "floor(exp(10^9)) > 1",
        "sum(1/n, n, 1, 10^9) > 1",
        "sum(2^n, n, 1, 50000) > 1",
        "prod(n, n, 1, 10^7) > 1",
        "x^(10^9) >= 0",
    ],
)
def test_numbers_too_long_to_work_out_are_declined_at_once(then):
    wanted = goal(then, **({"x": "real >= 0"} if "x^" in then else {}))
    with pytest.raises(Declined, match="not worked out"):
        settle(wanted)
    assert covered(wanted, ()) is None


@pytest.mark.parametrize(
    "then",
    [
        "2^(2^10) > 1",
        "10^(10^3) > 1",
        "(1/10)^(10^3) < 1",
        "factorial(1000) > 1",
        "binomial(1000, 500) > 1",
        "sum(1/n, n, 1, 1000) < 8",
        "sum(n, n, 1, 1000) = 500500",
        "exp(10^9) > 1",
        "exp(10^400) > 1",
    ],
)
def test_long_numbers_that_can_be_worked_out_are(then):
    assert settle(goal(then)).statement is not None
