"""Guarantees, coins and single mixtures in the checker that stands alone."""

from __future__ import annotations

import copy
import json
import math
import re
import time
from fractions import Fraction

import pytest
from certified_answers import bound, certified
from soundness.infinities import infinite_epsilon

import dpexact
from dpexact import certificate_checker as standard
from dpexact.audits.claims import Claim
from dpexact.audits.runner import audit
from dpexact.certificate_checker import Arithmetic, Invalid, Unreadable
from dpexact.certificate_checker_mpfr import arithmetic, checking
from dpexact.certificate_checker_mpfr.inversion import (
    BOUNDED,
    Inversion,
    Parts,
    has_route,
    parts_of,
)
from dpexact.certificate_checker_mpfr.moments import Mixtures, Rule
from dpexact.certificates import NoCertificate, certificate, certificate_of_audit
from dpexact.certificates.statements import mechanism_tree
from dpexact.conversion import real

SAMPLE = ["poisson", ["gaussian", "1", "1"], "1/10"]
CUT = ["truncated_poisson", ["gaussian", "1", "1"], "1/10", "50", "9"]
HALF = "1/2"


@pytest.mark.slow
@pytest.mark.parametrize("bits", [40, 160])
@pytest.mark.parametrize(
    "text",
    [
        "zcdp(1/3)",
        "zcdp(1/10, 1/4) * pure_dp(1/2) * approx_dp(1/3, 1/100)",
        "renyi_dp((2, 1/10), (8, 4/10), (32, 3/2))",
        "renyi_dp((2, 1/10), (8, 4/10)) * renyi_dp((3, 1/5), (9, 1)) * pure_dp(1/3) * gaussian(3)",
        "partition_selection(1/2, 1/50)^2",
        "group(approx_dp(1/3, 1/30), 3)",
        "truncated_poisson(gaussian(1), 1/10, 20, 4)",
        "group(poisson(gaussian(1), 1/10), 3)",
        "gaussian_mixture(2, 1: 1/4, 3: 3/4)",
        "mix(1/3: gaussian(1), 2/3: approx_dp(1, 1/9))",
        "threshold(gaussian(1), 4)",
        "threshold(laplace(1), 4)",
        "group(zcdp(1/90, 1/90), 3)",
        "group(approx_dp(1/3, 1/30), 9)",
        "poisson(gaussian_mixture(1, 0: 1/2, 1: 1/2), 1/2)",
        "mix(1/3: pure_dp(1/3), 1/6: approx_dp(1, 1/9), 1/2: laplace(2))^2",
        "truncated_discrete_gaussian(2, 6, 3)",
        "randomized_response(1, 5)",
    ],
)
def test_the_checker_alone_encloses_closely_what_the_accounting_says(text, bits):
    """At epsilons where the answer is now the one and now the other branch of a formula."""
    for way in ("remove", "add"):
        for epsilon in ("0", "1/20", "2"):
            found = bound(text, epsilon, way, bits)
            truth = dpexact.delta(text, epsilon, 12, way)
            assert found.lo <= truth.upper
            assert truth.lower <= found.hi
            assert found.hi - found.lo < Fraction(1, 2 ** (bits - 30))


@pytest.mark.parametrize(
    ("rows", "order", "expected"),
    [
        ([(2, 1), (4, 2)], 3, Fraction(7, 4)),  # the chord of 1 and 6
        ([(2, 1), (4, 1)], 3, Fraction(1)),  # no smaller than at 2, no larger than at 4
        ([(2, 5), (4, 2)], 3, Fraction(2)),
        ([(2, 1), (4, 2)], 2, Fraction(1)),
        ([(3, 1), (4, 2)], 2, Fraction(1)),
    ],
)
def test_a_curve_between_its_orders(rows, order, expected):
    exact = [(Fraction(b), Fraction(d)) for b, d in rows]
    assert standard._between(exact, Fraction(order)) == expected


@pytest.mark.parametrize(
    ("text", "quantity", "at"),
    [
        ("poisson(zcdp(1/2), 1/1000)", "epsilon", "1e-6"),
        ("poisson(zcdp(1/2), 1/1000)", "delta", "-1/3"),
        ("poisson(zcdp(1/2), 1/1000)", "delta", "1/100"),
        ("renyi_dp((2, 1/100), (8, 1/10))", "delta", "1/20"),
        ("renyi_dp((2, 1/100), (8, 1/10))", "epsilon", "1/100"),
    ],
)
def test_order_2_has_a_bound_of_its_own(text, quantity, at, monkeypatch):
    document = certified(text, quantity, at, 10)
    assert standard.check(document)
    monkeypatch.setattr(standard.Guarantees, "_by_squares", lambda self, x: self.a.exact(1))
    with pytest.raises(Invalid):
        standard.check(document)


CLAIMS = [
    Claim("zcdp(1/2)", "epsilon", "6", "1e-6", "upper", id="above"),
    Claim("renyi_dp((2, 1/10), (8, 4/10))", "delta", "1/2", "1", "upper", id="above too"),
    Claim("zcdp(1/2)", "epsilon", "9", "1e-6", "estimate", id="far"),
    Claim("zcdp(1/2)", "epsilon", "3", "1e-6", "upper", id="below"),
    Claim("truncated_poisson(gaussian(1), 1/10, 20, 4)", "delta", "1", "1/2", "upper", id="cut"),
]


@pytest.fixture(scope="module")
def document():
    return certificate_of_audit(audit(CLAIMS, jobs=1))


@pytest.mark.slow
def test_claims_above_a_bound_are_certified_and_none_below(document):
    verdicts = {finding["id"]: finding["verdict"] for finding in document["findings"]}
    assert verdicts == dict.fromkeys(("above", "above too", "cut"), "sound") | {"far": "inaccurate"}
    lines = standard.check(document)
    assert all("bound on" in line for line in lines)


@pytest.mark.parametrize(
    "lie",
    [
        {"claimed": "3", "verdict": "unsound"},
        {"claimed": "0", "verdict": "unsound"},
        {"claimed": "3", "kind": "lower", "verdict": "sound"},
        {"claimed": "0", "kind": "lower", "verdict": "sound"},
        {"claimed": "21/4", "kind": "estimate", "verdict": "accurate", "tolerance": "1/10"},
        {"claimed": "2", "kind": "estimate", "verdict": "inaccurate", "tolerance": "1/10"},
    ],
)
def test_a_bound_condemns_nothing_below_it(document, lie):
    finding = next(entry for entry in document["findings"] if entry["id"] == "above")
    with pytest.raises(Invalid, match="does not follow"):
        standard.check_finding({**finding, **lie})


@pytest.mark.parametrize("never", ["zcdp(1)", "group(pure_dp(1), 2)", "permute_and_flip(1)"])
def test_a_side_that_never_comes_up_bounds_nothing(never):
    """The checker leaves it out, and contradicted what was bounded with it."""
    document = certified(f"mix(0: {never}, 1: gaussian(1))", "epsilon", "1e-5", 10)
    (line,) = standard.check(document)
    assert line.startswith("epsilon of")


@pytest.mark.parametrize("way", ["remove", "both"])
def test_a_guess_that_the_checker_refutes_contradicts_nothing(way):
    """Delta is next to 1, and 1 is tried first."""
    mechanism = dpexact.parse("gaussian(1/10, 3)")
    found = dpexact.delta(mechanism, "1/2")
    with pytest.raises(NoCertificate, match="no certificate"):
        certificate(mechanism, "delta", real("1/2"), way, found)


UNMOVED = ["gaussian_mixture", "1", ["0", "1"], ["5", "0"]]
NOBODY = ["poisson", ["gaussian", "1", "1"], "0"]
ALL = ["compose", ["gaussian", "1", "1"], ["approx_dp", "0", "1"]]
ZERO = ["*", "0", "1"]


@pytest.mark.parametrize(
    ("tree", "at"),
    [
        (UNMOVED, "0"),
        (["compose", NOBODY, ["pure_dp", "1"]], "0"),
        (["replace", NOBODY], "0"),
        (["zcdp", "1", ZERO], "0"),
        (["compose", ["zcdp", "1", ZERO], ["pure_dp", "1"]], "0"),
        (["mix", ["1/4", ["pure_dp", "1"]], ["3/4", [*ALL, ["zcdp", "1", "1"]]]], "3/4"),
        (["mix", ["1/4", ["pure_dp", "1"]], ["3/4", ALL]], "3/4"),
        (["poisson", ALL, "1/2"], "1/2"),
    ],
)
@pytest.mark.parametrize("way", ["remove", "both"])
def test_an_infinite_epsilon_needs_a_finite_loss_that_has_no_bound(tree, at, way):
    """Shifts of weight 0 and what reveals everything lose nothing beyond the mass."""
    statement = infinite_epsilon(tree, at, way)
    with pytest.raises(Invalid, match=r"not certainly infinite|told from 0"):
        standard.check_statement(statement)


def test_an_infinite_bound_says_nothing_of_a_claim():
    document = certified("zcdp(1/2) * approx_dp(1, 1/100)", "epsilon", "1/200", 10)
    (statement,) = document["statements"]
    assert statement["upper"] == "inf"
    claim = {"id": "x", "kind": "upper", "claimed": "3", "tolerance": "0", "verdict": "unsound"}
    with pytest.raises(Invalid, match="says nothing"):
        standard.check_finding({**claim, "statement": statement})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zcdp(1)", True),
        ("mix(1/2: pure_dp(1), 1/2: zcdp(1))", True),
        ("replace(gdp(1))", True),
        ("group(mix(1/2: gaussian(1), 1/2: staircase(1, 1/3)), 2)", True),
        ("group(poisson(gdp(1), 1/2), 2)", True),
        ("threshold(laplace(1), 4)", True),
        ("replace(truncated_poisson(gaussian(1), 1/10, 20, 4))", True),
        ("mix(1/2: pure_dp(1), 1/2: gdp(1))", False),
        ("group(poisson(gaussian(1), 1/2) * laplace(2), 2)", False),
        ("partition_selection(1, 1/10)", False),
    ],
)
def test_which_statements_are_about_bounds(text, expected):
    assert standard.only_bounded(mechanism_tree(dpexact.parse(text))) is expected


@pytest.mark.parametrize(
    ("tree", "error", "reason"),
    [
        (["mix", [HALF, ["pure_dp", "1"]]], Invalid, "add up to 1"),
        (["mix", ["-1", SAMPLE], ["2", SAMPLE]], Invalid, "domain"),
        (["mix"], Unreadable, "wrong number"),
        (["mix", [HALF, "1"], [HALF, SAMPLE]], Unreadable, "list that begins"),
        (["mix", [HALF, SAMPLE], [HALF, ["replace", SAMPLE]]], Invalid, "different neighbours"),
        (["mix", [HALF, ["poisson", SAMPLE, "2"]], [HALF, SAMPLE]], Invalid, "domain"),
        (["renyi_dp", ["1", "1"]], Invalid, "domain"),
        (["renyi_dp", ["2", "-1"]], Invalid, "domain"),
        (["renyi_dp", ["3", "1"], ["2", "1"]], Invalid, "do not rise"),
        (["renyi_dp", ["2", "1"], ["2", "1"]], Invalid, "do not rise"),
        (["renyi_dp", ["2", ["log", "2"]]], Invalid, "not rational"),
        (["zcdp", "-1", "1"], Invalid, "domain"),
        (["bounded_range", "-1"], Invalid, "domain"),
        (["shuffle", ["gdp", "1"], "9"], Invalid, "but of pure_dp"),
        (["shuffle", ["pure_dp", "1"], "0"], Invalid, "not in"),
        (["repeat", ["shuffle", ["pure_dp", "1"], "9"], "2"], Invalid, "together"),
        (["group", ["shuffle", ["pure_dp", "1"], "9"], "2"], Invalid, "different neighbours"),
        (["compose", ["shuffle", ["pure_dp", "1"], "9"], SAMPLE], Invalid, "different neighbours"),
        (["fixed_size", ["gdp", "1"], "3", "2"], Invalid, "larger than"),
        (["fixed_size", ["gdp", "1"], "0", "2"], Invalid, "not in"),
        (["fixed_size", ["laplace", "1", "1"], "1", "2"], Invalid, "but of Gaussians"),
        (["fixed_size", SAMPLE, "1", "2"], Invalid, "different neighbours"),
        (["repeat", ["bounded_range", "1"], "99999"], Invalid, "more work"),
        (["randomized_response", "1", "1"], Invalid, "not in"),
        (["truncated_laplace", "1", "0", "1"], Invalid, "domain"),
        (["repeat", ["poisson", ["truncated_laplace", "1", "9", "1"], HALF], "2"], Invalid, "use"),
        (["compose", ["truncated_laplace", "1", "9", "1"], ["gdp", "1"]], Invalid, "together"),
        (["truncated_discrete_gaussian", "1", "0", "1"], Invalid, "not in"),
        (["truncated_discrete_gaussian", "9" * 99, "1", "1"], Invalid, "weights fall"),
        (["partition_selection", "1", "2"], Invalid, "domain"),
        (["group", ["partition_selection", "1", HALF], "2"], Invalid, "no route"),
        (["replace", ["threshold", ["laplace", "1", "1"], "4"]], Invalid, "no route"),
        (["group", CUT, "2"], Invalid, "no route"),
        (["poisson", CUT, HALF], Invalid, "no route"),
        (["poisson", ["mix", ["1", ["pure_dp", "1"]]], HALF], Invalid, "no route"),
        (["poisson", ["compose", ["zcdp", "1", "1"], ["pure_dp", "1"]], HALF], Invalid, "no route"),
        (["poisson", ["compose", ["zcdp", "1", "1"], CUT], HALF], Invalid, "no route"),
        (["compose", ["poisson", ["zcdp", "1", "1"], HALF], SAMPLE], Invalid, "no route"),
        (
            ["compose", ["poisson", ["zcdp", "1", "1"], HALF], ["approx_dp", "1", HALF]],
            Invalid,
            "i",
        ),
        (
            ["compose", ["poisson", ["zcdp", "1", "1"], HALF], ["renyi_dp", ["2", "1"]]],
            Invalid,
            "given",
        ),
        (["compose", ["zcdp", "0", "1"], ["laplace", "1", "1"]], Invalid, "no route"),
        (["compose", ["renyi_dp", ["2", "1"]], ["approx_dp", "1", HALF]], Invalid, "infinite loss"),
        (["repeat", ["mix", [HALF, SAMPLE], [HALF, ["gdp", "1"]]], "64"], Invalid, "outcomes of"),
        (
            ["repeat", ["mix", ["1", ["mix", [HALF, SAMPLE], [HALF, SAMPLE]]]], "99999999"],
            Invalid,
            "outcomes of",
        ),
        (["truncated_poisson", ["laplace", "1", "1"], "1/10", "50", "9"], Invalid, "no route"),
        (["threshold", ["pure_dp", "1"], "9"], Invalid, "no route"),
        (["threshold", ["compose", ["laplace", "1", "1"], ["gdp", "1"]], "9"], Invalid, "no route"),
        (["repeat", ["group", SAMPLE, "2"], "2"], Invalid, "no route"),
        (["group", ["pure_dp", "1"], "2001"], Invalid, "larger"),
        (["group", ["poisson", ["gdp", "1"], ["+", "1", "-1"]], "201"], Invalid, "next to 0"),
        (["partition_selection", "0", "1/1000000"], Invalid, "more users"),
    ],
)
def test_what_cannot_exist_or_has_no_route_is_refused(tree, error, reason, monkeypatch):
    monkeypatch.setattr(standard, "MAX_USERS", 500)

    def read():
        a = Arithmetic(64)
        standard.check_domains(tree, a)
        standard.check_neighbours(tree)
        steps = standard.steps_of(tree)
        standard.profile_of(steps, "remove", a).delta(standard.Point(a, a.exact(2)))

    with pytest.raises(error, match=reason):
        read()


@pytest.mark.parametrize("xi", [3, 30, 60, 90, 10**3000])
def test_a_delta_next_to_1_is_bounded_without_its_best_order(xi, monkeypatch):
    """That order is about ``e^-xi``; halving until there took minutes."""
    asked = []
    log = standard.log
    monkeypatch.setattr(standard, "log", lambda x: asked.append(x) or log(x))

    def delta(bits):
        a = Arithmetic(bits)
        return standard.Guarantees({json.dumps(["zcdp", str(xi), "1/10"]): 1}, a).delta(
            standard.Point(a, standard.exp(a.exact(1)), a.exact(1))
        )

    coarse = delta(64)
    assert 0 <= coarse.hi - coarse.lo < Fraction(1, 2**60)
    assert len(asked) < 500
    if xi < 100:
        fine = delta(400)
        assert coarse.lo <= fine.lo <= fine.hi <= coarse.hi


@pytest.mark.parametrize(
    "step",
    [
        "mix(1/2: pure_dp(1), 1/2: gdp(1))",
        "group(pure_dp(1), 3)",
        "renyi_dp((2, 1))",
        "partition_selection(1, 1/9)",
    ],
)
def test_no_checker_has_a_route_beside_repeated_samples(step):
    steps = standard.steps_of(mechanism_tree(dpexact.parse(f"{step} * gaussian(1)^2")))
    steps[json.dumps(SAMPLE)] = 2
    assert not has_route(steps)
    tree = ["compose", mechanism_tree(dpexact.parse(step)), ["repeat", SAMPLE, "2"]]
    with pytest.raises(Invalid, match="no route"):
        parts_of(standard.steps_of(tree), arithmetic.Arithmetic(64))
    if step.startswith(("group", "renyi")):  # of other neighbours, or slow
        return
    mechanism = dpexact.parse(f"{step} * poisson(gaussian(1), 1/10)^2")
    with pytest.raises(NoCertificate, match="has a route"):
        certificate(mechanism, "delta", real("1/2"), "both", dpexact.delta("pure_dp(1)", 0))


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(
    ("text", "at", "other"),
    [
        (
            "truncated_poisson(gaussian(1), 1/100, 10000, 110)^1000",
            "1",
            '["1/100", "10000", "111"]',
        ),
        ("truncated_poisson(gaussian(1), 1, 9, 3)^5 * gaussian(2)", "1/2", '["1", "9", "4"]'),
        ("replace(truncated_poisson(gdp(1), 1/10, 20, 4)^9)", "1/2", '["1/10", "21", "4"]'),
    ],
)
def test_repeated_cut_batches_are_certified_by_the_second_checker(text, at, other, direction):
    written = certified(text, "delta", at, 9, direction)
    assert all("bound on" in line for line in checking.check(written))
    (statement,) = written["statements"]
    with pytest.raises(Unreadable, match="certificate_checker_mpfr"):
        standard.check(written)
    tree = json.dumps(statement["mechanism"])
    (cut,) = re.findall(r'\["truncated_poisson", \[[^]]*\], ("[^]]*)\]', tree)
    moved = json.loads(tree.replace(cut, other.strip("[]")))
    with pytest.raises(Invalid):
        checking.check_statement(statement | {"mechanism": moved, "text": standard.shown(moved)})
    unit = Fraction(statement["upper"]) - Fraction(statement["lower"])
    shifted = {name: str(Fraction(statement[name]) + unit) for name in ("lower", "upper")}
    with pytest.raises(Invalid):
        checking.check_statement(statement | shifted)
    (plan,) = statement["plan"].values()
    short = {direction: plan | {"rules": plan["rules"][1:]}}
    with pytest.raises(Invalid, match="without rules"):
        checking.check_statement(statement | {"plan": short})


def test_the_bounds_of_a_coin_hold_both_sides():
    """The moment of order 2, by hand: that of a wave of rate ``a`` is ``e^(a^2)``."""
    a = arithmetic.Arithmetic(96)
    one, q = a.exact(1), a.exact(Fraction(1, 4))
    sides = [
        (chance, Mixtures.sampled(a.exact(sigma), q, a)) for chance, sigma in ((q, 1), (one - q, 2))
    ]
    whole = Inversion(Parts([(sides, 3)], a.exact(0), []), "remove", BOUNDED, a)
    rule = {"above": Rule(Fraction(0), Fraction(1), Fraction(1, 8), -120, 120)}
    whole.rules = {id(sample): rule for _, sample in sides}
    found = whole._real(Fraction(1), "above").hi
    moments = [1 + (math.exp(1 / sigma**2) - 1) / 16 for sigma in (1, 2)]
    assert math.isclose(float(found), (moments[0] / 4 + moments[1] * 3 / 4) ** 3, rel_tol=1e-9)


@pytest.mark.slow
def test_coins_in_coins_end():
    tree = ["pure_dp", "1"]
    for depth in range(1, 30):
        tree = ["mix", [HALF, tree], [HALF, ["pure_dp", str(depth)]]]
        tree = ["compose", tree, tree] if depth < 12 else tree
    began = time.process_time()
    with pytest.raises(Invalid, match="more"):
        standard.cases_of(standard.steps_of(tree), Arithmetic(64))
    assert time.process_time() - began < 10


@pytest.mark.slow
def test_a_statement_is_not_moved_to_another_mechanism():
    """Each number of a mechanism is one that the checker reads."""
    changed = [
        (
            "truncated_poisson(gaussian(1), 1/10, 20, 4)",
            "truncated_poisson(gaussian(1), 1/10, 20, 5)",
        ),
        (
            "truncated_poisson(gaussian(1), 1/10, 20, 4)",
            "truncated_poisson(gaussian(1), 1/10, 21, 4)",
        ),
        ("mix(1/3: gaussian(1), 2/3: pure_dp(1))", "mix(1/3: pure_dp(1), 2/3: gaussian(1))"),
        ("partition_selection(1, 1/99)", "partition_selection(1, 1/98)"),
        ("zcdp(1/9, 1/2)", "zcdp(1/8, 1/2)"),
        ("zcdp(1/2)", "group(zcdp(1/2), 2)"),
        ("permute_and_flip(2)", "permute_and_flip(3)"),
        ("shuffle(pure_dp(1), 9)", "shuffle(pure_dp(1), 10)"),
        ("shuffle(pure_dp(1), 9)", "shuffle(pure_dp(2), 9)"),
        ("report_noisy_max(1)^2", "report_noisy_max(1)^3"),
        ("bounded_range(1/2)^3", "bounded_range(1/3)^3"),
        ("bounded_range(1/2)^3", "bounded_range(1/2)^4"),
        ("fixed_size(gaussian(1), 1, 10)", "fixed_size(gaussian(1), 2, 10)"),
        ("fixed_size(gaussian(1), 1, 10)", "fixed_size(gaussian(1), 1, 11)"),
        ("poisson(zcdp(1/2), 1/10)", "poisson(zcdp(1/2), 1/9)"),
        ("poisson(zcdp(1/2), 1/10)", "poisson(zcdp(1/3), 1/10)"),
        ("renyi_dp((2, 1/10), (8, 4/10))", "renyi_dp((2, 1/10), (8, 5/10))"),
        ("randomized_response(1, 5)", "randomized_response(1, 6)"),
        ("truncated_discrete_gaussian(3, 6, 2)", "truncated_discrete_gaussian(3, 7, 2)"),
        ("threshold(laplace(2), 9)", "threshold(laplace(2), 8)"),
        ("truncated_laplace(2, 5)", "truncated_laplace(2, 6)"),
        ("truncated_laplace(2, 5)", "truncated_laplace(3, 5)"),
        ("truncated_laplace(2, 5)", "laplace(2)"),
        ("group(pure_dp(1/2), 3)", "group(pure_dp(1/2), 4)"),
        ("group(poisson(gaussian(1), 1/10), 3)", "group(poisson(gaussian(1), 1/10), 2)"),
        ("replace(poisson(gaussian(1), 1/10))", "group(poisson(gaussian(1), 1/10), 2)"),
    ]
    for one, other in changed:
        written = certified(one, digits=12)
        assert standard.check(written)
        forged = copy.deepcopy(written)
        tree = mechanism_tree(dpexact.parse(other))
        forged["statements"][0] |= {"mechanism": tree, "text": standard.shown(tree)}
        forged["digest"] = standard.digest(forged)
        with pytest.raises(Invalid):
            standard.check(forged)


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize(
    "text", ["replace(poisson(gaussian(1), 1/10))", "gaussian_mixture(2, 0: 1/2, 3: 1/2)"]
)
def test_a_crossing_that_is_not_found_closely_is_enclosed(text, way, monkeypatch):
    monkeypatch.setattr(standard, "crossing", lambda side, low, high, times: (low, high))
    for epsilon in ("1/20", "1/3"):
        found, truth = bound(text, epsilon, way), dpexact.delta(text, epsilon, 12, way)
        assert found.lo <= truth.upper
        assert truth.lower <= found.hi


def test_binomial_tails_are_enclosed():
    for bits in (30, 90):
        a = Arithmetic(bits)
        for least in (0, 3, 4, 9):
            found = standard._binomial_tail(9, least, a.exact(Fraction(1, 3)))
            masses = (math.comb(9, j) * 2 ** (9 - j) for j in range(least, 10))
            assert found.lo <= Fraction(sum(masses), 3**9) <= found.hi
            assert found.hi - found.lo < Fraction(1, 2 ** (bits - 2))


def test_at_the_largest_loss_of_a_mixture_few_bits_decide_nothing():
    """``log(10/9)`` is the largest loss of an added record."""
    steps = {json.dumps(["group", SAMPLE, "1"]): 1}
    for shift in range(-3, 4):
        a = Arithmetic(40)
        at = standard.log(a.exact(Fraction(10, 9))) + a.exact(Fraction(shift, 2**42))
        found = standard.profile_of(steps, "add", a).delta(standard.Point(a, standard.exp(at), at))
        assert found.lo == 0
        assert found.hi <= Fraction(1, 2**36)
        assert shift >= 0 or found.hi > 0


def test_a_best_order_that_is_not_found_closely_is_enclosed(monkeypatch):
    monkeypatch.setattr(standard, "crossing", lambda side, low, high, times: (low, high))
    for rho in ("1/10", "2"):
        found, truth = bound(f"zcdp({rho})", "1"), dpexact.delta(f"zcdp({rho})", 1, 12)
        assert found.lo <= truth.upper
        assert truth.lower <= found.hi


def test_a_curve_beside_repeated_responses():
    text = "renyi_dp((2, 1/10), (8, 4/10)) * pure_dp(1/3)^4"
    found, truth = bound(text, "2"), dpexact.delta(text, 2, 12)
    assert found.lo <= truth.upper
    assert truth.lower <= found.hi
