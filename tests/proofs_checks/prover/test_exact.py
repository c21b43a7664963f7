"""Symbolic, polynomial, enumerative and numeric provers: true is proved, false is declined."""

from fractions import Fraction
from itertools import chain, combinations

import pytest
import sympy

from dpexact.enclosure import Enclosure
from proofs_checks.evidence import Declined, Evidence, Refuted
from proofs_checks.prover import enumeration as en
from proofs_checks.prover import polynomials, symbolic
from proofs_checks.prover.numbers import certain

x, y = sympy.symbols("x y", positive=True)
HALF = Fraction(1, 2)


def test_identities():
    domain = {x: (HALF, 3), y: (1, 2)}
    for left, right in [
        ((x + y) ** 2, x**2 + 2 * x * y + y**2),
        (sympy.tanh(x / 2), (sympy.exp(x) - 1) / (sympy.exp(x) + 1)),
        (sympy.log(x * y), sympy.log(x) + sympy.log(y)),
        (sympy.cosh(x) ** 2 - sympy.sinh(x) ** 2, 1),
    ]:
        assert symbolic.identity(left, right, domain).kind == "identity"
    for left, right in [
        ((x + y) ** 2, x**2 + x * y + y**2),
        (sympy.tanh(x / 2), (sympy.exp(x) - 1) / (sympy.exp(x) + 2)),
        (sympy.exp(x), sympy.exp(x) + sympy.Rational(1, 10**35)),
    ]:
        with pytest.raises(Refuted) as caught:
            symbolic.identity(left, right, domain)
        assert set(caught.value.witness) == {"x", "y"}


def test_an_identity_needs_a_domain_for_every_symbol():
    with pytest.raises(Declined, match="no domain for y"):
        symbolic.identity(x + y, x - y, {x: (0, 1)})


def test_a_simplifier_that_lies_is_caught(monkeypatch):
    monkeypatch.setattr(sympy, "simplify", lambda expression: sympy.Integer(0))
    with pytest.raises(Refuted):
        symbolic.identity(sympy.exp(x), 1 + x, {x: (1, 2)})


def test_a_derivative_that_lies_is_caught(monkeypatch):
    assert symbolic.derivative(x**3, x, {x: (1, 2)}) == 3 * x**2
    monkeypatch.setattr(sympy, "diff", lambda f, s: 2 * x**2)
    with pytest.raises(Declined, match="disagrees"):
        symbolic.derivative(x**3, x, {x: (1, 2)})


def test_monotonicity_and_limits():
    gap = x - sympy.tanh(x)
    touch = {"touch": [(x, 0, 2)]}
    assert symbolic.derivative_sign(gap, x, "increasing", {x: (0, 2)}, **touch)
    with pytest.raises(Declined):
        symbolic.derivative_sign(gap, x, "decreasing", {x: (0, 2)}, **touch)
    assert symbolic.limit(sympy.tanh(x) / x, x, 0, sympy.Integer(1))
    assert symbolic.limit(x * sympy.exp(-x), x, sympy.oo, sympy.Integer(0))
    with pytest.raises(Declined):
        symbolic.limit(sympy.tanh(x) / x, x, 0, sympy.Integer(2))


@pytest.mark.parametrize(
    ("p", "relation", "low", "high", "holds"),
    [
        (x**3 - 3 * x + 2, ">=", 0, None, True),
        (x**3 - 3 * x + 2, ">", 0, None, False),
        (x**3 - 3 * x + 2, ">=", -3, None, False),
        (x**3 - 3 * x + 2, ">", 2, None, True),
        (-((x - sympy.Rational(1, 2)) ** 2), ">=", 0, 1, False),
        ((x**2 - 2) ** 2, ">=", None, None, True),
        ((x**2 - 2) ** 2, ">", None, None, False),
        (x**2 - 2, ">=", 0, 5, False),
        (x**2 - x, ">=", 1, None, True),
        (x - 1, ">=", None, 1, False),
        (1 - x, ">=", None, 1, True),
        (sympy.Integer(0), ">=", 0, 1, True),
        (sympy.Integer(0), ">", 0, 1, False),
        (sympy.Integer(-1), ">=", None, None, False),
    ],
)
def test_sturm(p, relation, low, high, holds):
    if holds:
        assert polynomials.sign(p, x, relation, low, high).kind == "polynomial"
    else:
        with pytest.raises(Declined):
            polynomials.sign(p, x, relation, low, high)


def test_multivariate_polynomials():
    unit = {x: (0, 1), y: (0, 1)}
    assert polynomials.bernstein((1 - x) * (1 - y), unit)
    assert polynomials.bernstein(x**2 + y**2 - x * y + sympy.Rational(1, 50), unit)
    with pytest.raises(Refuted) as caught:
        polynomials.bernstein(x + y - sympy.Rational(1, 10), unit)
    assert caught.value.witness == {"x": "0", "y": "0"}
    assert polynomials.positive_coefficients(x * y - 1, {x: 1, y: 1})
    with pytest.raises(Declined):
        polynomials.positive_coefficients(x * y - 1, {x: 1, y: 1}, strict=True)
    with pytest.raises(Declined):
        polynomials.positive_coefficients(x * y - 1, {x: HALF, y: 1})
    assert polynomials.sum_of_squares(
        x**2 + y**2 - x * y, [(Fraction(3, 4), x - y), (Fraction(1, 4), x + y)]
    )
    with pytest.raises(Declined):
        polynomials.sum_of_squares(x**2 + y**2 - x * y, [(1, x), (1, y)])
    with pytest.raises(Declined):
        polynomials.sum_of_squares(x**2 - y**2, [(1, x), (-1, y)])


def subsets(outcomes):
    return chain.from_iterable(combinations(outcomes, n) for n in range(len(outcomes) + 1))


def test_hockey_stick_is_the_maximum_over_sets_and_tradeoff_its_dual():
    draw = en.Draw(7)
    for _ in range(30):
        p, q = draw.law(4), draw.law(4)
        gamma = draw.fraction(0, 3)
        over_sets = max(sum(p[i] - gamma * q[i] for i in s) for s in subsets(range(4)))
        assert en.hockey_stick(p, q, gamma) == over_sets
        corners = en.tradeoff(p, q)
        assert all(
            en.beta_at(corners, sum((p[i] for i in s), Fraction(0)))
            <= 1 - sum((q[i] for i in s), Fraction(0))
            for s in subsets(range(4))
        )
        # duality: sup over alpha of 1 - beta - gamma alpha is the hockey-stick of (q, p)
        assert max(1 - b - gamma * a for a, b in corners) == en.hockey_stick(q, p, gamma)


def test_products_kernels_and_the_canonical_pair():
    p, q = en.compose(en.kov_pair(2, Fraction(1, 10)), en.kov_pair(3, 0))
    assert sum(p.values()) == sum(q.values()) == 1
    assert en.hockey_stick(p, q, 6) == Fraction(1, 10)
    kernel = en.Draw(3).kernel(p, 2)
    assert sum(en.post_process(p, kernel).values()) == 1


def test_cases_are_counted_and_counterexamples_kept():
    found = en.every("squares", ({"n": n} for n in range(5)), lambda n: n * n >= n)
    assert found == Evidence("enumeration", "squares", cases=5)
    with pytest.raises(Refuted) as caught:
        en.random_cases("never 0", 500, lambda d: {"n": d.integer(0, 5)}, lambda n: n > 0)
    assert caught.value.witness == {"n": "0"}
    assert en.Draw(4).law(3) == en.Draw(4).law(3)


def test_numbers():
    assert certain(sympy.E, "<", Fraction(272, 100), "e < 2.72").kind == "computation"
    assert certain(Fraction(1, 3), "=", Fraction(2, 6), "thirds")
    assert certain(Enclosure(Fraction(1), Fraction(2)), ">=", 1, "an enclosure")
    with pytest.raises(Refuted):
        certain(sympy.E, ">", Fraction(272, 100), "e > 2.72")
    with pytest.raises(Refuted):
        certain(Fraction(1, 3), "=", Fraction(1, 2), "no")
    with pytest.raises(Declined, match="cannot tell"):
        certain(
            sympy.sqrt(2) ** 2 + sympy.E - sympy.E,
            "<",
            sympy.log(sympy.exp(2, evaluate=False), evaluate=False),
            "a tie",
        )
    with pytest.raises(TypeError, match="not an exact number"):
        certain(0.5, "<", 1, "a float")
