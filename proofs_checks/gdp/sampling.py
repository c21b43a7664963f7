"""Section 4.1 and Corollary 3: the operator ``C_p`` and subsampling.

``f_p = p f + (1-p) Id``, ``C_p(f) = min{f_p, f_p^-1}**``. For symmetric f with the fixed point x*:
slopes of f are ``<= -1`` left of it and ``>= -1`` right of it, and -1 is a subgradient there.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import sympy

from dpexact.tradeoffs import identity, maximum, mixed, subsampled
from proofs_checks.gdp.core import positive, same
from proofs_checks.gdp.polygons import (
    SAMPLING,
    Curve,
    below,
    corollary_three,
    in_three_pieces,
    on_curves,
)
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.symbolic import limit, unfolds
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued, corrected

_HULL: Final = "the biconjugate of a continuous function on [0, 1] is its convex hull"


@check("gdp.s4.half", expects="repaired")
def half_as_private() -> Derivation:
    """A coin flip turns eps into ``eps' = log((1 + e^eps)/2)``."""
    eps, e = positive("eps E")
    after = sympy.log((1 + sympy.exp(eps)) / 2)
    return corrected(
        "missing_hypothesis",
        "at eps = 10 the new eps' is above 0.93 eps",
        "eps'/eps -> 1/2 for eps -> 0, and eps' >= eps/2 always",
        certain(after.subs(eps, 10), ">", Fraction(93, 10), "log((1+e^10)/2) > 9.3"),
        limit(after / eps, eps, 0, sympy.Rational(1, 2)),
        same(((1 + e) / 2) ** 2 - e, ((e - 1) / 2) ** 2, "e^(2 eps') - e^eps is a square"),
    )


@check("gdp.def6", "gdp.cp.sym", expects="proved", assumes=(_HULL,), smoke=True, about=SAMPLING)
def symmetric_hull() -> Derivation:
    """The mirror image of the region above ``min{f_p, f_p^-1}`` is itself; so is its hull's."""
    p, x, f, d, t, r, a, b, u, v = positive("p x f d t r a b u v")
    return argued(
        "mirroring commutes with mixing; the hull lies below min <= f_p, and f_p below Id",
        same(
            (t * a + r * u) + (t * b + r * v),
            t * (a + b) + r * (u + v),
            "mixtures of mirrored points are mirrored mixtures, coordinate by coordinate",
        ),
        same((1 - x) - (p * (1 - x - d) + (1 - p) * (1 - x)), p * d, "Id - f_p = p (Id - f) >= 0"),
        same(p * f + (1 - p) * (f + d) - f, (1 - p) * d, "f_p - f = (1-p)(Id - f) >= 0"),
        on_curves(
            "C_p(f) is symmetric and below f_p",
            lambda f, g, p: subsampled(f, p).is_symmetric and below(subsampled(f, p), mixed(f, p)),
            symmetric=True,
        ),
    )


def ordered(f: Curve, g: Curve, p: Fraction) -> bool:
    """``C_p`` falls in p, from Id to f, and rises in f; ``C_p(Id) = Id``."""
    return (
        below(subsampled(f, p), subsampled(f, p / 2))
        and below(subsampled(f, p), subsampled(maximum(f, g), p))
        and (subsampled(f, 1), subsampled(f, 0), subsampled(identity(), p))
        == (f, identity(), identity())
    )


@check(
    "gdp.cp.p1",
    "gdp.cp.p2",
    "gdp.cp.p3",
    expects="proved",
    assumes=("gdp.prop2", _HULL),
    smoke=True,
    about=SAMPLING,
)
def properties() -> Derivation:
    """Inverses, minima and hulls keep the order, so it is enough to compare the ``f_p``."""
    p, s, x, f, d = positive("p s x f d")

    def mixed(weight: sympy.Expr, value: sympy.Expr) -> sympy.Expr:
        return weight * value + (1 - weight) * (1 - x)

    return argued(
        "f_p falls in p and rises in f; inverse, minimum and hull keep the order",
        same(mixed(p, 1 - x - d) - mixed(p + s, 1 - x - d), s * d, "f_p - f_{p+s} = s (Id - f)"),
        same(mixed(p, f + d) - mixed(p, f), p * d, "(f + d)_p - f_p = p d"),
        same(mixed(p, 1 - x), 1 - x, "Id_p = Id"),
        unfolds(mixed(sympy.Integer(1), f), f, "f_1 = f, whose minimum with f^-1 = f is f"),
        unfolds(mixed(sympy.Integer(0), f), 1 - x, "f_0 = Id"),
        on_curves("polygons", ordered, symmetric=True),
    )


@check("gdp.eq13", expects="proved", assumes=("gdp.fprime", _HULL), smoke=True, about=SAMPLING)
def explicit_form() -> Derivation:
    """The line of slope -1 through ``(x*, f_p(x*))`` and its mirror image joins two arcs.

    Its slope is a subgradient of f_p at x*: ``p (-1) + (1-p)(-1) = -1``. So the three pieces form a
    convex function below ``f_p`` and, by symmetry, below ``f_p^-1``, provided that
    ``f_p <= f_p^-1`` on ``[0, x*]``; that is ``f_p(f_p(x)) >= x``. With ``d = 1 - x - f(x)`` and
    ``y = f_p(x)`` the slopes right of x* give ``f(y) >= x - (y - f(x))``. The pieces lie on the
    graphs or on a chord between them: no larger convex function lies below both.
    """
    p, x, f, d, s, c = positive("p x f d s c")
    y = p * f + (1 - p) * (f + d)  # 1 - x = f + d
    lower = x - (y - f) + s  # f(y), s >= 0
    twice = p * lower + (1 - p) * (1 - y)
    return argued(
        "subgradient -1 at x*, and f_p(f_p(x)) >= x left of it",
        unfolds(p * (-1) + (1 - p) * (-1), -1, "a subgradient of f_p at x*"),
        same(
            sympy.Subs(twice, f, 1 - x - d) - x,
            p * s,
            "f_p(f_p(x)) - x = p s >= 0, s the slack of the slope bound",
        ),
        unfolds((x + c) - c, x, "the line x* + f_p(x*) - a has the value x* at f_p(x*)"),
        on_curves("the three pieces are the convex hull", in_three_pieces, symmetric=True),
    )


@check(
    "gdp.cor3",
    expects="repaired",
    assumes=("gdp.eq13", "gdp.eq4"),
    smoke=True,
    about=("dpexact.tradeoffs.subsampling.subsampled_f_eps_delta",),
)
def subsampled_approximate_privacy(power: int = 1) -> Derivation:
    """(14) from (13) with ``x* = (1-delta)/(1+E)``; ``power`` is that of the missing factor."""
    p, d, e, a = positive("p d E a")
    star = (1 - d) / (1 + e)
    value = p * star + (1 - p) * (1 - star)
    left = p * (1 - d - e * a) + (1 - p) * (1 - a)
    intercept = 1 - p * d - p * (1 - d) ** power * (e - 1) / (e + 1)
    printed = 1 - p * d - p * (e - 1) / (e + 1)
    half = sympy.Rational(1, 2)
    at = {e: 2, d: half, p: half}
    return corrected(
        "error",
        "(14) lacks a factor 1 - delta: at e^eps = 2, delta = p = 1/2, alpha = 1/3 it gives 5/18, "
        "C_p gives 1/3",
        "C_p(f_{eps,delta})(a) = max{f_{eps',delta'}(a), "
        "1 - p delta - p (1-delta)(e^eps-1)/(e^eps+1) - a}",
        same(star + value, intercept, "the line of slope -1: x* + f_p(x*)"),
        same(left, 1 - p * d - (1 - p + p * e) * a, "f_p left of x* is the line of (eps', delta')"),
        same(
            intercept - printed,
            p * d * (e - 1) / (e + 1),
            "the printed line is lower, unless p, delta or eps is 0: a valid but looser guarantee",
        ),
        certain((star + value).subs(at) - sympy.Rational(1, 3), "=", Fraction(1, 3), "C_p is 1/3"),
        certain(printed.subs(at) - sympy.Rational(1, 3), "=", Fraction(1, 4), "printed line: 1/4"),
        certain(
            ((1 - p * d - sympy.Rational(1, 3)) / (1 - p + p * e)).subs(at),
            "=",
            Fraction(5, 18),
            "the right line of f_{eps',delta'} at 1/3 is 5/18, the largest of the printed terms",
        ),
        corollary_three(power),
    )
