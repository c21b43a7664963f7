"""Interval proofs: what is true is proved, what is false is not, and the checker is not fooled."""

import copy
import json
from fractions import Fraction

import pytest
import sympy

from proofs_checks.evidence import Declined, Refuted
from proofs_checks.prover import checker
from proofs_checks.prover.expressions import phi
from proofs_checks.prover.intervals import prove

x, y, p = sympy.symbols("x y p")

TRUE = {
    "double zero": (sympy.exp(x) - 1 - x, ">=", {x: (-2, 3)}, {"touch": [(x, 0, 2)]}),
    "triple zero": (x - sympy.tanh(x), ">=", {x: (0, 3)}, {"touch": [(x, 0, 3)]}),
    "both ends": (
        x * (1 - x) - x**4 * (1 - x) ** 2,
        ">=",
        {x: (0, 1)},
        {"touch": [(x, 0, 1), (x, 1, 1)]},
    ),
    "strict": (sympy.exp(x) - 1 - x, ">", {x: ("1/100", 3)}, {}),
    "monotone": (sympy.log(1 + x) - x / 2, ">", {x: ("1/10", 2)}, {}),
    "constraint": (
        1 - x - y,
        ">",
        {x: (0, 1), y: (0, 1)},
        {"where": [sympy.Rational(9, 10) - x - y]},
    ),
    "zero on a face": (
        p * (sympy.exp(x) - 1 - x) + x**2,
        ">=",
        {x: (-1, 1), p: (0, 1)},
        {"touch": [(x, 0, 2)]},
    ),
    "half line": (x - sympy.tanh(x), ">=", {x: (0, "oo")}, {"touch": [(x, 0, 3)]}),
    "whole line": (sympy.exp(x) - 1 - x, ">=", {x: ("-oo", "oo")}, {"touch": [(x, 0, 2)]}),
    "normal distribution": (phi(x) - Fraction(1, 2), ">=", {x: (0, "oo")}, {"touch": [(x, 0, 1)]}),
    "cubic zero with pi": (
        phi(x) - sympy.Rational(1, 2) - x / sympy.sqrt(2 * sympy.pi) + x**3,
        ">=",
        {x: (0, 1)},
        {"touch": [(x, 0, 3)]},
    ),
    "special functions": (
        sympy.erfc(x) - sympy.exp(-(x**2)) / sympy.sqrt(sympy.pi) / (x + 1),
        ">",
        {x: (0, 5)},
        {},
    ),
}

FALSE = {
    "constant nudged": (sympy.exp(x) - 1 - x * Fraction(101, 100), ">=", {x: (-2, 3)}, {}),
    "inequality reversed": (sympy.tanh(x) - x, ">=", {x: (0, 3)}, {"touch": [(x, 0, 3)]}),
    "zero of lower order claimed": (sympy.exp(x) - 1, ">=", {x: (-1, 1)}, {"touch": [(x, 0, 2)]}),
    "zero is not exact": (
        sympy.exp(x) - 1 - Fraction(1, 10**30),
        ">=",
        {x: (0, 1)},
        {"touch": [(x, 0, 1)]},
    ),
    "strict at a zero": (x - sympy.tanh(x), ">", {x: (0, 3)}, {"touch": [(x, 0, 3)]}),
    "constraint dropped": (1 - x - y, ">", {x: (0, 1), y: (0, 1)}, {}),
    "constraint too weak": (
        1 - x - y,
        ">",
        {x: (0, 1), y: (0, 1)},
        {"where": [sympy.Rational(11, 10) - x - y]},
    ),
    "false far out": (1 - x / 10**6, ">", {x: (0, "oo")}, {}),
    "odd zero inside": (x**3, ">=", {x: (-1, 1)}, {"touch": [(x, 0, 3)]}),
    "limit zero": (sympy.exp(-x), ">", {x: (0, "oo")}, {"max_boxes": 200}),
    "pole inside": (1 / x**2, ">", {x: (-1, 1)}, {"max_boxes": 300}),
    "undefined on a part": (sympy.log(x) ** 2 + 1, ">", {x: (-1, 1)}, {"max_boxes": 300}),
}


@pytest.mark.parametrize("name", TRUE)
def test_true_statements_are_proved(name):
    expression, relation, domain, options = TRUE[name]
    fact = prove(expression, relation, domain, **options)
    assert checker.check(json.loads(json.dumps(fact.proof))) == fact.cases


@pytest.mark.parametrize("name", FALSE)
def test_false_statements_are_declined(name):
    expression, relation, domain, options = FALSE[name]
    with pytest.raises(Declined):
        prove(expression, relation, domain, **options)


def test_a_counterexample_is_exact():
    with pytest.raises(Refuted) as caught:
        prove(x**2 - sympy.Rational(1, 10), ">=", {x: (-1, 2)})
    assert Fraction(caught.value.witness["x"]) ** 2 < Fraction(1, 10)


def test_unknown_functions_and_symbols_are_declined():
    with pytest.raises(Declined, match="no ball arithmetic"):
        prove(sympy.gamma(x), ">", {x: (1, 2)})
    with pytest.raises(Declined, match="no domain for y"):
        prove(x + y, ">", {x: (1, 2)})


FORGERIES = {
    "wider domain": lambda proof: proof["domain"].update(x=["-1", "3"]),
    "other relation": lambda proof: proof.update(relation=">"),
    "unknown relation": lambda proof: proof.update(relation="<"),
    "unknown format": lambda proof: proof.update(format=2),
    "other expression": lambda proof: proof.update(expression=["+", ["tanh", "x"], "-1/100"]),
    "empty domain": lambda proof: proof["domain"].update(x=["3", "0"]),
    "cut outside": lambda proof: proof["subdivision"].__setitem__(2, "7/2"),
    "cut at the end": lambda proof: proof["subdivision"].__setitem__(2, "0"),
    "unknown method": lambda proof: proof.update(subdivision=["leaf", ["trust me"]]),
    "value claims too much": lambda proof: proof.update(subdivision=["leaf", ["value"]]),
    "mean claims too much": lambda proof: proof.update(subdivision=["leaf", ["mean"]]),
    "taylor claims too much": lambda proof: proof.update(subdivision=["leaf", ["taylor", "x", 2]]),
    "false slope": lambda proof: proof.update(subdivision=["leaf", ["monotone", {"x": -1}]]),
    "no slope": lambda proof: proof.update(subdivision=["leaf", ["monotone", {"x": 0}]]),
    "wrong order": lambda proof: proof.update(subdivision=["leaf", ["touch", "x", "0", 4]]),
    "touch elsewhere": lambda proof: proof.update(subdivision=["leaf", ["touch", "x", "1", 3]]),
    "touch of order 0": lambda proof: proof.update(subdivision=["leaf", ["touch", "x", "0", 0]]),
    "taylor without its remainder": lambda proof: (
        proof["domain"].update(x=["-1", "1"]),
        proof.update(
            expression=["+", "1", ["*", "-2", ["^", "x", 2]]],
            subdivision=["leaf", ["taylor", "x", 2]],
        ),
    ),
    "mean of a half line": lambda proof: (
        proof["domain"].update(x=["0", "oo"]),
        proof.update(subdivision=["leaf", ["mean"]]),
    ),
    "least at infinity": lambda proof: (
        proof["domain"].update(x=["0", "oo"]),
        proof.update(
            expression=["*", ["exp", ["*", "-2", "x"]], ["+", "1", ["exp", "x"]], "-1"],
            subdivision=["leaf", ["monotone", {"x": -1}]],
        ),
    ),
    "outside nothing": lambda proof: proof.update(
        constraints=["1"], subdivision=["leaf", ["outside", 0]]
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_the_checker_rejects_forgeries(name):
    proof = copy.deepcopy(prove(x - sympy.tanh(x), ">=", {x: (0, 3)}, touch=[(x, 0, 3)]).proof)
    assert proof["subdivision"][0] == "split"
    FORGERIES[name](proof)
    with pytest.raises(checker.Rejected):
        checker.check(proof)


@pytest.mark.slow
def test_the_checker_needs_no_prover():
    import subprocess
    import sys

    code = (
        "import sys, proofs_checks.prover.checker;"
        "print([m for m in sys.modules if m.startswith('proofs_checks.') and m.count('.') == 2])"
    )
    seen = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(eval(seen.stdout)) == {
        f"proofs_checks.prover.{name}" for name in ("checker", "formal", "jets", "ranges")
    }
