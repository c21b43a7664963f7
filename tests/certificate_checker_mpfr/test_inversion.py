"""Coarse plans: the enclosure holds the truth, and no longer once an error term is forgotten."""

import math
from fractions import Fraction

import pytest

pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")

import dpexact
from dpexact import certificate_checker as standard
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic
from dpexact.certificate_checker_mpfr.inversion import BOUNDED, Inversion, parts_of, rows_of
from dpexact.certificate_checker_mpfr.moments import Mixtures
from dpexact.certificates import contours
from dpexact.certificates.statements import mechanism_tree

A = Arithmetic(200)
TEXTS = [
    "poisson(gaussian(1), 1/50)^900",
    "poisson(gaussian(2), 1/10)^20 * gaussian(5) * approx_dp(1/10, 1/1000)^2",
]


def steps_of(text):
    return standard.steps_of(mechanism_tree(dpexact.parse(text)))


def plan_of(text, way, digits=6):
    found, _ = next(contours.plans(steps_of(text), (way,), [Fraction(1)], digits))
    return found[way]


def holds(text, way, plan, epsilon=Fraction(1)):
    """Whether delta is within the enclosure by this plan."""
    inversion = Inversion(parts_of(steps_of(text), A), way, plan, A)
    found = inversion.delta(A.exact(epsilon))
    truth = dpexact.delta(text, str(epsilon), 20, way)
    assert found.lo <= found.hi
    return bool(A.exact(truth.lower).hi >= found.lo and A.exact(truth.upper).lo <= found.hi)


def fewer_nodes(plan):
    plan["count"] = str(int(plan["count"]) // 3)


def short_period(plan):
    plan["h"] = str(Fraction(plan["h"]) * 2)


def steep_line(plan):
    short_period(plan)
    plan["c"] = str(Fraction(plan["c"]) * 2)
    plan["above"] = str(max(Fraction(plan["above"]), Fraction(plan["c"]) * 2))


def order_below_one(plan):
    plan["below"] = "1/2"
    for rules in plan["rules"]:  # a rule about the middle of all others
        rules["below"] = rules["moment"]


def wide_spacing(plan):
    for rules in plan["rules"]:
        height, edge, spacing, first, last = map(Fraction, rules["line"])
        ends = [str(int(end / 3) + sign) for end, sign in ((first, -1), (last, 1))]
        rules["line"] = [str(height), str(edge), str(spacing * 3), *ends]


def cut_rule(plan):
    for rules in plan["rules"]:
        ends = rules["line"][3:]
        rules["line"][3:] = [str(int(ends[0]) * 2 // 3), str(int(ends[1]) * 2 // 3)]


def forget(name):
    def change(self):
        prepare(self)
        setattr(self, name, A.exact(0))

    prepare = Inversion._prepare
    return Inversion, "_prepare", change


def multiplied(role, name):
    def change(*arguments):
        return function(*arguments) * A.exact(0 if role == "nothing" else 10**30)

    function = getattr(Mixtures, name)
    return Mixtures, name, change


SABOTAGED = [
    (TEXTS[0], "remove", fewer_nodes, forget("decayed")),
    (TEXTS[1], "add", fewer_nodes, forget("decayed")),
    (TEXTS[1], "remove", short_period, forget("below")),
    (TEXTS[0], "add", steep_line, forget("above")),
    (TEXTS[0], "remove", wide_spacing, multiplied("much", "_decay")),
    (TEXTS[0], "add", wide_spacing, multiplied("much", "_decay")),
    (TEXTS[0], "remove", cut_rule, multiplied("nothing", "_outside")),
    (TEXTS[0], "add", cut_rule, multiplied("nothing", "_outside")),
]


@pytest.mark.parametrize(("text", "way", "coarsen", "sabotage"), SABOTAGED)
def test_every_error_term_is_needed(text, way, coarsen, sabotage, monkeypatch):
    plan = plan_of(text, way)
    coarsen(plan)
    assert holds(text, way, plan)
    monkeypatch.setattr(*sabotage)
    assert not holds(text, way, plan)


@pytest.mark.slow
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize("coarsen", [fewer_nodes, short_period, steep_line, wide_spacing, cut_rule])
def test_coarse_plans_are_wide_but_true(text, way, coarsen):
    plan = plan_of(text, way)
    assert holds(text, way, plan)
    coarsen(plan)
    assert holds(text, way, plan)


@pytest.mark.parametrize("way", ["remove", "add"])
def test_both_forms_of_the_alias_from_below_are_true(way):
    plan = plan_of(TEXTS[0], way)
    order_below_one(plan)
    assert holds(TEXTS[0], way, plan)
    plan["h"] = str(Fraction(plan["h"]) * 2)
    assert holds(TEXTS[0], way, plan)
    assert holds(TEXTS[0], way, plan, Fraction(3))


def test_the_largest_loss_of_added_records_is_not_passed():
    text = "poisson(gaussian(1), 1/3)^2 * approx_dp(1/10, 1/1000)"
    largest = 2 * math.log(3 / 2) + 1 / 10

    def claimed(way, epsilon):
        inversion = Inversion(parts_of(steps_of(text), A), way, BOUNDED, A)
        return inversion.delta(A.exact(Fraction(epsilon)))

    found = claimed("add", largest + 1e-6)
    assert found.lo <= Fraction(1, 1000) <= found.hi
    for way, epsilon in (("add", largest - 1e-6), ("remove", 9)):
        with pytest.raises(standard.Invalid, match="not certainly below"):
            claimed(way, epsilon)


def test_steps_without_a_logarithm_are_in_no_cell():
    """One that nobody takes part in made all numbers of a log too large for this checker."""
    kept = '["poisson", ["gaussian", "2", "1"], "1/9"]'
    others = ['["poisson", ["gaussian", "1", "1"], "0"]', '["poisson", ["gdp", "0"], "1/9"]']
    assert list(rows_of(dict.fromkeys([*others, kept], 3))) == [kept]
