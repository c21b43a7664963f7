"""Post-processing, Blackwell's order, divergences that follow it, and those that contradict it.

Laws are on finitely many outcomes; sums over them are taken term by term.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import sympy

from proofs_checks.prover.enumeration import (
    Draw,
    Law,
    Pair,
    beta_at,
    hockey_stick,
    post_process,
    random_cases,
    tradeoff,
)
from proofs_checks.prover.intervals import Ends, prove
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.polynomials import bernstein, positive_coefficients
from proofs_checks.prover.symbolic import identity
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued

_UNIT = (0, 1)


@check(
    "slides.postprocessing",
    expects="proved",
    verifies=("finitely many outcomes of any number", "41 levels of each of 60 random pairs"),
    smoke=True,
)
def post_processing(count: int = 60, outcomes: int = 3) -> Derivation:
    """A test ``phi(y)`` after the map K is the test ``psi(x) = sum_y K(x, y) phi(y)`` before it.

    ``sum_y (sum_x p(x) K(x, y)) phi(y) = sum_x p(x) psi(x)``: a finite sum in another order, so
    each level and error after the map is one that is possible before it.
    """
    n = range(outcomes)
    p, phi = sympy.symbols(f"p:{outcomes}"), sympy.symbols(f"phi:{outcomes}")
    k = [sympy.symbols(f"k{x}_:{outcomes - 1}") for x in n]
    kernel = [[*row, 1 - sum(row)] for row in k]
    after = sum(sum(p[x] * kernel[x][y] for x in n) * phi[y] for y in n)
    pulled = [sum(kernel[x][y] * phi[y] for y in n) for x in n]
    every_symbol = [*p, *phi, *(s for row in k for s in row)]

    def draw(source: Draw) -> dict[str, object]:
        p, q = source.law(4), source.law(4)
        return {"p": p, "q": q, "kernel": source.kernel(p, 3)}

    def above(p: Law, q: Law, kernel: dict[object, Law]) -> bool:
        before, after = tradeoff(p, q), tradeoff(post_process(p, kernel), post_process(q, kernel))
        levels = [Fraction(i, 40) for i in range(41)]
        return all(beta_at(after, a) >= beta_at(before, a) for a in levels)

    first, second = phi[0], phi[1]
    weight = k[0][0]
    return argued(
        "on finite sets: every test after the map is a test before it, of the same level and error",
        identity(
            after,
            sum(p[x] * pulled[x] for x in n),
            dict.fromkeys(every_symbol, _UNIT),
            text="the two orders of summation agree, three outcomes written out",
        ),
        bernstein(
            weight * first + (1 - weight) * second, {weight: _UNIT, first: _UNIT, second: _UNIT}
        ),
        bernstein(
            1 - weight * first - (1 - weight) * second, {weight: _UNIT, first: _UNIT, second: _UNIT}
        ),
        random_cases("the trade-off function does not fall", count, draw, above),
    )


@check(
    "slides.no_such_phenomenon",
    expects="proved",
    assumes=("slides.primal_dual",),
    verifies=("on finitely many ratios a convex g is a sum of hockey sticks",),
    smoke=True,
)
def divergences_follow_the_order() -> Derivation:
    """``g(x) = linear + sum c_j (x - x_j)_+`` at the ratios that occur, with ``c_j >= 0``.

    A further knot adds one term, with the difference of two chord slopes as factor; the linear part
    is the same for every pair. So ``sum q g(p/q)`` is a constant plus ``c_j H_{x_j}``, and each
    hockey stick H is determined by T and falls as T grows.
    """
    x, y, z, gx, gy, gz, lam = sympy.symbols("x y z gx gy gz lam", positive=True)
    step = (gz - gy) / (z - y) - (gy - gx) / (y - x)
    box: dict[Any, Ends] = {x: _UNIT, y: (2, 3), z: (4, 5), gx: _UNIT, gy: _UNIT, gz: _UNIT}
    chord = lam * gx + (1 - lam) * gz - gy
    return argued(
        "on finite sets: a convex function on the ratios is a positive sum of hockey sticks",
        identity(
            gy + (gy - gx) / (y - x) * (z - y) + step * (z - y),
            gz,
            box,
            text="the chord from x to y, prolonged, plus c (z - y) meets g(z)",
        ),
        identity(
            sympy.Subs(step, y, lam * x + (1 - lam) * z),
            chord / (lam * (1 - lam) * (z - x)),
            {**box, lam: (Fraction(1, 9), Fraction(8, 9))},
            text="c is a positive multiple of lam g(x) + (1 - lam) g(z) - g(y), by convexity >= 0",
        ),
    )


@check("slides.similar_eps_delta", expects="proved", smoke=True)
def the_divergence_of_approximate_privacy_contradicts_the_order(
    delta: Fraction = Fraction(1, 1000),
) -> Derivation:
    """Randomized response of log 2 against a pair that is nearly impossible to tell apart."""
    third, part = Fraction(1, 3), Fraction(1, 100)
    easy: Pair = {0: 2 * third, 1: third}, {0: third, 1: 2 * third}
    hard: Pair = {0: 4 * part, 1: 96 * part}, {0: part, 1: 99 * part}
    return argued(
        "the pair A = ((2,1)/3, (1,2)/3) has the smaller D at delta = 1/1000 than "
        "B = ((4,96)/100, (1,99)/100), but ten times its total variation",
        certain(_quotient(easy, delta), "=", Fraction(1997, 1000), "e^D of A is 1997/1000"),
        certain(_quotient(hard, delta), "=", Fraction(39, 10), "e^D of B is 39/10"),
        certain(_quotient(easy, delta), "<", _quotient(hard, delta), "D is smaller for A"),
        certain(
            hockey_stick(*easy, 1), ">", 10 * hockey_stick(*hard, 1), "TV: 1/3 > 10 times 3/100"
        ),
    )


@check(
    "slides.prop.renyi",
    expects="proved",
    verifies=("every eps > 0 and every order above 1, also beyond eps < 4",),
    smoke=True,
)
def renyi_divergence_of_randomized_response(scale: Fraction = Fraction(1, 2)) -> Derivation:
    """``E_Q(dP/dQ)^g`` is ``cosh((g - 1/2) eps)/cosh(eps/2)``; ``log cosh`` grows below ``x^2/2``.

    ``((g - 1/2)^2 - 1/4) eps^2/2 = g (g - 1) eps^2/2``; divided by ``g - 1`` it is ``g eps^2/2``.
    """
    x, eps, g, v = sympy.symbols("x eps g v", positive=True)
    half = sympy.Rational(scale.numerator, scale.denominator)
    p, q = sympy.exp(eps) / (1 + sympy.exp(eps)), 1 / (1 + sympy.exp(eps))
    moment = sympy.exp(g * eps) * q + sympy.exp(-g * eps) * p
    box: dict[Any, Ends] = {eps: (Fraction(1, 10), 4), g: (Fraction(11, 10), 6)}
    gap = half * x**2 - sympy.log(sympy.cosh(x))
    return argued(
        "x^2/2 - log cosh x increases from eps/2 to (g - 1/2) eps",
        identity(
            moment * (sympy.exp(eps / 2) + sympy.exp(-eps / 2)),
            sympy.exp((g - sympy.Rational(1, 2)) * eps)
            + sympy.exp((sympy.Rational(1, 2) - g) * eps),
            box,
            text="the moment is cosh((g - 1/2) eps)/cosh(eps/2)",
        ),
        identity(sympy.Derivative(gap, x), x - sympy.tanh(x), {x: (Fraction(1, 10), 4)}),
        identity(
            sympy.Derivative(x - sympy.tanh(x), x), sympy.tanh(x) ** 2, {x: (Fraction(1, 10), 4)}
        ),
        identity(
            half * (((g - sympy.Rational(1, 2)) * eps) ** 2 - (eps / 2) ** 2),
            (g - 1) * g * eps**2 / 2,
            box,
        ),
        positive_coefficients(((g - 1) * eps).subs(g, 1 + v), {v: 0, eps: 0}),
    )


@check("slides.prop.tv", expects="proved", verifies=("the whole of 0 < eps <= 4",))
def total_variation_contradicts_renyi(scale: int = 2) -> Derivation:
    """Both sides are 0 at 0; there the difference increases, and beyond 1/4 it is positive."""
    x = sympy.Symbol("x")
    gap = sympy.tanh(x / 2) - sympy.erf(x / (scale * sympy.sqrt(2)))
    quarter = Fraction(1, 4)
    return argued(
        "the difference increases on [0, 1/4] from 0 and is positive on [1/4, 4]",
        identity(sympy.Subs(gap, x, 0), 0, {}, text="the difference is 0 at eps = 0"),
        prove(sympy.diff(gap, x), ">", {x: (0, quarter)}),
        prove(gap, ">", {x: (quarter, 4)}),
    )


def _quotient(pair: Pair, delta: Fraction) -> Fraction:
    """``max (P(E) - delta)/Q(E)`` over the sets of a pair with two outcomes."""
    p, q = pair
    sets = ((0,), (1,), (0, 1))
    return max((sum(p[x] for x in s) - delta) / sum(q[x] for x in s) for s in sets)
