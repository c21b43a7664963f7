"""Jets against sympy's own derivatives and evaluation, in balls, ranges and formal numbers."""

import math
from fractions import Fraction

import pytest
import sympy
from flint import arb

from dpexact import balls
from proofs_checks.evidence import Declined
from proofs_checks.prover.expressions import enclose, phi, tree_of
from proofs_checks.prover.formal import Formal, NotExact
from proofs_checks.prover.jets import Balls, jet
from proofs_checks.prover.ranges import Ranges, range_of

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


def test_formal_jets_are_exact():
    formal = Formal(["y"])
    zero = formal.point("x", Fraction(0), 4)

    def at_zero(expression):
        return [c.as_expr() for c in jet(tree_of(expression), zero, 4, formal)]

    third = sympy.Rational(1, 3)
    assert at_zero(sympy.exp(x) * sympy.log(1 + x)) == [0, 1, third * 3 / 2, third]
    assert at_zero(sympy.tanh(x)) == [0, 1, 0, -third]
    assert at_zero(sympy.sqrt(1 + 2 * x)) == [1, 1, -third * 3 / 2, third * 3 / 2]
    gap = phi(x) - third * 3 / 2 - x / sympy.sqrt(2 * sympy.pi)
    assert at_zero(gap)[:3] == [0, 0, 0]
    assert at_zero(gap)[3] != 0
    assert at_zero(sympy.exp(x + 1) - sympy.E - sympy.E * x)[:2] == [0, 0]
    assert at_zero(y * (sympy.exp(x) - 1) - x * y)[:2] == [0, 0]
    for expression in [sympy.exp(x + 2), sympy.sqrt(3 + x), sympy.exp(y), sympy.tanh(1 + x)]:
        with pytest.raises(NotExact):
            at_zero(expression)


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_ranges_contain_the_values_and_slopes(expression):
    inside = {x: Fraction(7, 2), y: Fraction(5, 3)}
    values = {s: sympy.Rational(v.numerator, v.denominator) for s, v in inside.items()}
    for low, high in [(Fraction(1, 3), Fraction(4)), (Fraction(1), math.inf)]:
        with balls.precision(128):
            box = {"x": [range_of(low, high), range_of(Fraction(1), Fraction(1))]}
            box["y"] = [range_of(Fraction(1), Fraction(2)), range_of(Fraction(0), Fraction(0))]
            found = jet(tree_of(expression), box, 2, Ranges())
            for k, value in enumerate(found):
                theirs = sympy.N(sympy.diff(expression, x, k).subs(values), 40)
                exact = balls.ball(Fraction(str(theirs)))
                slack = balls.ball(Fraction(1, 10**25))
                assert value.low - slack <= exact
                assert exact <= value.high + slack


def test_ranges_at_infinity():
    def ends(expression, low, high):
        with balls.precision(64):
            box = {"x": [range_of(low, high)]}
            (value,) = jet(tree_of(expression), box, 1, Ranges())
            return None if value.low.is_nan() else (float(value.low), float(value.high))

    z = sympy.Symbol("x")
    assert ends(1 - sympy.tanh(z), Fraction(0), math.inf) == (0, 1)
    assert ends(sympy.exp(z), -math.inf, Fraction(0)) == (0, 1)
    assert ends(z**2, -math.inf, Fraction(1)) == (0, math.inf)
    assert ends(z**3, -math.inf, Fraction(1)) == (-math.inf, 1)
    assert ends(z * sympy.exp(-z), Fraction(0), math.inf) == (0, math.inf)
    assert ends(1 / z, Fraction(2), math.inf) == (0, 0.5)
    assert ends(1 / z, Fraction(-1), Fraction(1)) is None
    assert ends(0 * z + (1 / z) ** 2, Fraction(-1), Fraction(1)) is None
    assert ends(z - z, Fraction(0), math.inf) == (0, 0)
    assert ends(sympy.exp(z) - z, Fraction(0), math.inf) == (-math.inf, math.inf)
    assert ends(sympy.log(z) ** 2, Fraction(0), math.inf) is None
    assert ends(sympy.log(z), Fraction(1), math.inf) == (0, math.inf)
    assert ends(sympy.sqrt(z), Fraction(-1), Fraction(1)) is None
    assert ends(sympy.sqrt(z), Fraction(0), math.inf) == (0, math.inf)


def test_unknown_trees_are_refused():
    for tree in ["z", "1.5", ["sin", "x"], ["exp", "x", "x"], "__import__", ["^", "1", 0]]:
        with pytest.raises(ValueError, match="unknown"):
            jet(tree, {"x": [arb(1)]}, 1, Balls())


def test_an_undefined_value_is_declined():
    with pytest.raises(Declined):
        enclose(["log", "x"], {"x": Fraction(-1)})
