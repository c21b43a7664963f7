"""Jets against sympy's own derivatives and evaluation, in balls and in exact numbers."""

from fractions import Fraction

import pytest
import sympy
from flint import arb

from dpexact import balls
from proofs_checks.evidence import Declined
from proofs_checks.prover.expressions import enclose, phi, tree_of
from proofs_checks.prover.jets import Balls, Exact, NotExact, jet

x, y = sympy.symbols("x y", positive=True)
EXPRESSIONS = [
    sympy.exp(x * y) / (1 + x) ** 2,
    sympy.log(1 + x**3) - sympy.sqrt(x + y),
    sympy.tanh(x - y) * x ** sympy.Rational(3, 2),
    sympy.erf(x) * sympy.erfc(y * x) - x**-3,
    sympy.sinh(x) + sympy.cosh(y * x) / sympy.sqrt(x),
    phi(x) - sympy.pi * sympy.E**x + x**y,
    (x - y) ** 7 - (y - 2 * x) ** 4 + 1 / (x**2 * y),
    sympy.Integer(3) + 0 * x,
]


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
@pytest.mark.parametrize(
    "point", [(Fraction(1, 3), Fraction(5, 4)), (Fraction(7, 2), Fraction(1, 9))]
)
def test_taylor_coefficients(expression, point):
    length = 5
    at = {
        x: sympy.Rational(*point[0].as_integer_ratio()),
        y: sympy.Rational(*point[1].as_integer_ratio()),
    }
    with balls.precision(200):
        jets = {"x": [balls.ball(point[0]), arb(1), *[arb(0)] * (length - 2)]}
        jets["y"] = [balls.ball(point[1]), *[arb(0)] * (length - 1)]
        found = [balls.to_enclosure(c) for c in jet(tree_of(expression), jets, length, Balls())]
    for k, enclosure in enumerate(found):
        theirs = sympy.N((sympy.diff(expression, x, k) / sympy.factorial(k)).subs(at), 60)
        slack = Fraction(1, 10**40)
        assert enclosure.lower - slack <= Fraction(str(theirs)) <= enclosure.upper + slack
        assert enclosure.upper - enclosure.lower < slack


@pytest.mark.parametrize("exponent", [2, 3, 4, 5, 7])
@pytest.mark.parametrize(("low", "high"), [(-1, 2), (-3, -1), (1, 3), (0, 1), (-2, 0), (-1, 1)])
def test_powers_of_wide_balls_are_tight_and_sound(exponent, low, high):
    with balls.precision(64):
        (value,) = jet(["^", "x", exponent], {"x": [arb(low).union(arb(high))]}, 1, Balls())
        found = balls.to_enclosure(value)
    inside = [low**exponent, high**exponent, *([0] if low <= 0 <= high else [])]
    slack = Fraction(max(map(abs, inside)), 10**6)
    assert found.lower <= min(inside) <= found.lower + slack
    assert found.upper - slack <= max(inside) <= found.upper


def test_exact_jets_know_only_rational_values():
    zero = {"x": [Fraction(0), Fraction(1), Fraction(0), Fraction(0)]}
    tree = tree_of(sympy.exp(x) * sympy.log(1 + x))
    assert jet(tree, zero, 4, Exact()) == [0, 1, Fraction(1, 2), Fraction(1, 3)]
    for function, at in [("exp", 0), ("log", 1), ("tanh", 0), ("sqrt", 1)]:
        start = {"x": [Fraction(at), Fraction(1), Fraction(0), Fraction(0)]}
        assert {type(c) for c in jet([function, "x"], start, 4, Exact())} == {Fraction}
    with pytest.raises(NotExact):
        jet(["exp", ["+", "x", "1"]], zero, 4, Exact())
    with pytest.raises(NotExact):
        jet(["*", "pi", "x"], zero, 4, Exact())


def test_unknown_trees_are_refused():
    for tree in ["z", "1.5", ["sin", "x"], ["exp", "x", "x"], "__import__"]:
        with pytest.raises(ValueError, match="unknown"):
            jet(tree, {"x": [Fraction(1)]}, 1, Exact())


def test_an_undefined_value_is_declined():
    with pytest.raises(Declined):
        enclose(["log", "x"], {"x": Fraction(-1)})
