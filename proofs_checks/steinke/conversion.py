"""Section 4.1: from concentrated to approximate privacy and back (Props. 14, 16, Rem. 15)."""

from __future__ import annotations

from fractions import Fraction

import sympy

from proofs_checks.evidence import Evidence
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.polynomials import positive_coefficients, sign
from proofs_checks.prover.symbolic import identity
from proofs_checks.registry import check
from proofs_checks.steinke.lemmas import (
    INTEGRAL,
    JENSEN,
    hoeffding,
    merging_is_a_mean,
    power_is_convex,
    tanh_below_argument,
)
from proofs_checks.verdicts import Result, proved, repaired

_BOX = (Fraction(1, 9), 5)


def best_factor() -> tuple[Evidence, ...]:
    """``w^t (1-w) <= t^t/(t+1)^(t+1)`` for ``0 < w <= 1``, with equality at ``w = t/(t+1)``."""
    w, t, d = sympy.symbols("w t d", positive=True)
    h = t * sympy.log(w) + sympy.log(1 - w)
    box = {w: (Fraction(1, 9), Fraction(8, 9)), t: _BOX}
    return (
        identity(
            sympy.diff(h, w),
            (t - (t + 1) * w) / (w * (1 - w)),
            box,
            text="(log w^t (1-w))' has the sign of t - (t+1) w",
        ),
        identity(
            (t / (t + 1)) ** t * (1 - t / (t + 1)),
            (1 - 1 / (t + 1)) ** t / (t + 1),
            {t: _BOX},
            text="the value at w = t/(t+1)",
        ),
        identity((t - (t + 1) * (t / (t + 1) + d)), -(t + 1) * d, {t: _BOX, d: _BOX}),
    )


@check("steinke.prop14.c", expects="proved", smoke=True)
def best_tilt() -> Result:
    """With ``w = e^(eps-z)`` the function is ``e^(-eps t) w^t (1-w)``."""
    t, eps, z = sympy.symbols("t eps z", positive=True)
    w = sympy.exp(eps - z)
    return proved(
        "the sign of the derivative of t log w + log(1-w)",
        *best_factor(),
        identity(
            (1 - w) * sympy.exp(-t * z),
            sympy.exp(-eps * t) * w**t * (1 - w),
            {t: _BOX, eps: (0, 2), z: (0, 5)},
        ),
        identity(
            eps - (eps + sympy.log(1 + 1 / t)),
            sympy.log(t / (t + 1)),
            {t: _BOX, eps: (0, 2)},
            text="w = t/(t+1) at z = eps + log(1 + 1/t)",
        ),
    )


@check(
    "steinke.prop14",
    "steinke.lem33.8",
    expects="proved",
    smoke=True,
    assumes=("steinke.prop7", "steinke.prop14.c", INTEGRAL),
)
def conversion() -> Result:
    """``max(0, 1-e^(eps-z)) <= c e^(tz)``; the constant is at most ``e^(-eps t)``."""
    t, alpha, eps, d = sympy.symbols("t alpha eps D", positive=True)
    tilt = sympy.exp(-eps * t) / (t + 1) * (1 - 1 / (t + 1)) ** t
    renyi = sympy.exp(-(alpha - 1) * (eps - d)) / alpha * (1 - 1 / alpha) ** (alpha - 1)
    return proved(
        "integrate the pointwise bound of the proof; both factors 1/(t+1) and (t/(t+1))^t are "
        "at most 1, and t = alpha - 1 gives the Renyi form",
        identity(
            tilt.subs(t, alpha - 1) * sympy.exp((alpha - 1) * d),
            renyi,
            {alpha: (2, 5), eps: (0, 3), d: (0, 3)},
        ),
        positive_coefficients((t + 1) - t, {t: 0}),
        positive_coefficients((t + 1) - 1, {t: 0}),
    )


@check("steinke.prop14.zcdp", expects="proved", assumes=("steinke.prop14",), smoke=True)
def conversion_of_concentrated(factor: int = 4) -> Result:
    """The exponent at ``t = (eps-rho)/(2 rho)``, where it is least."""
    eps, rho, t = sympy.symbols("eps rho t", positive=True)
    best = (eps - rho) / (2 * rho)
    box = {eps: (5, 9), rho: (Fraction(1, 9), 4)}
    return proved(
        "the exponent at t = (eps-rho)/(2 rho) >= 0; the factor before it is at most 1",
        identity(best * (best + 1) * rho - eps * best, -((eps - rho) ** 2) / (factor * rho), box),
        identity(
            t * (t + 1) * rho - eps * t,
            rho * (t - best) ** 2 - (eps - rho) ** 2 / (4 * rho),
            {**box, t: _BOX},
        ),
    )


@check(
    "steinke.prop14.notoptimal",
    expects="proved",
    smoke=True,
    assumes=("steinke.prop14.zcdp", INTEGRAL),
)
def conversion_is_not_optimal(x: Fraction = Fraction(1, 2)) -> Result:
    """``rho = log 2``, ``eps = log 4``: the infimum over t is at ``t = 1`` and equals 1/4.

    With ``y = e^z``: ``max(0, 1 - 4/y) <= a + b/y + c y`` for all ``y > 0`` bounds every delta by
    ``a E[1] + b E[e^-Z] + c E[e^Z] <= a + b + 4 c``.
    """
    y, t = sympy.symbols("y t", positive=True)
    c = 1 / (4 * (4 - x))
    a, b = -2 * c * x, c * x**2
    other = 8 - x
    s = sympy.log(2)
    exponent = t * (t + 1) * s - 2 * s * t + t * sympy.log(t) - (t + 1) * sympy.log(t + 1)
    return proved(
        "for rho = log 2, eps = log 4 every loss has delta <= 13/56, Proposition 14 gives 1/4",
        sign(sympy.Poly([c, a, b], y).as_expr(), y, ">=", None, None),
        sign(sympy.Poly([c, a - 1, b + 4], y).as_expr(), y, ">=", None, None),
        certain(a + b + 4 * c, "=", Fraction(13, 56), "a + b + 4 c = 13/56"),
        certain(c * other**2, "=", b + 4, "the second parabola touches 0"),
        identity(
            sympy.diff(exponent, t, 2),
            2 * s + 1 / (t * (t + 1)),
            {t: _BOX},
            text="the logarithm of the bound is strictly convex in t",
        ),
        identity(sympy.diff(exponent, t).subs(t, 1), 0, {}, text="and stationary at t = 1"),
        identity(sympy.exp(exponent.subs(t, 1)), sympy.Rational(1, 4), {}, text="where it is 1/4"),
        certain(Fraction(13, 56), "<", Fraction(1, 4), "13/56 < 1/4"),
    )


@check(
    "steinke.rem15.a",
    "steinke.sec41.plan",
    expects="repaired",
    smoke=True,
    assumes=("steinke.prop14.zcdp",),
)
def epsilon_of_concentrated(factor: int = 2) -> Result:
    """``eps = rho + 2 sqrt(rho L)`` with ``L = log(1/delta)`` solves ``(eps-rho)^2 = 4 rho L``."""
    rho, size, eps, k = sympy.symbols("rho L eps k", positive=True)
    solution = rho + factor * sympy.sqrt(rho * size)
    box = {rho: _BOX, size: _BOX}
    return repaired(
        "for delta > 1 log(1/delta) is negative and the root not real (delta = 2)",
        "0 < delta <= 1",
        certain(sympy.log(sympy.Rational(1, 2)), "<", 0, "log(1/2) < 0"),
        identity((solution - rho) ** 2 / (4 * rho), size, box),
        identity(
            solution.subs(rho, eps**2 * k / 2),
            eps * sympy.sqrt(2 * k * size) + eps**2 * k / 2,
            {eps: _BOX, k: _BOX, size: _BOX},
            text="with rho = eps^2 k/2",
        ),
    )


@check(
    "steinke.rem15.b",
    "steinke.rem15.sigma",
    expects="proved",
    smoke=True,
    assumes=("steinke.rem15.a",),
)
def inverse_of_the_conversion(factor: int = 3) -> Result:
    """With ``b = sqrt L`` and ``c = sqrt(L + eps)``: ``eps = c^2 - b^2``."""
    b, r, rho = sympy.symbols("b r rho", positive=True)
    c = b + r
    eps = c**2 - b**2
    box = {b: _BOX, r: _BOX}
    return proved(
        "both slacks are (c-b)^3 times a positive factor",
        identity((c - b) ** 2 - eps**2 / (4 * c**2), r**3 * (factor * c + b) / (4 * c**2), box),
        identity(eps**2 / (4 * b**2) - (c - b) ** 2, r**3 * (c + 3 * b) / (4 * b**2), box),
        positive_coefficients(r**3 * (3 * c + b), {b: 0, r: 0}),
        identity(
            (c - b) ** 2 + 2 * (c - b) * b,
            eps,
            box,
            text="rho = (c-b)^2 solves rho + 2 sqrt(rho L) = eps",
        ),
        identity(
            1 / (2 * (2 / eps**2) * c**2),
            eps**2 / (4 * c**2),
            box,
            text="sigma^2 = (2/eps^2)(L + eps) has rho = 1/(2 sigma^2) = eps^2/(4L + 4eps)",
        ),
    )


@check("steinke.sec5.scale", expects="repaired", assumes=("steinke.rem15.b",), smoke=True)
def order_of_rho() -> Result:
    """The two bounds of Remark 15 agree up to ``1 + eps/L``."""
    eps, size = sympy.symbols("eps L", positive=True)
    return repaired(
        "rho is not of the order eps^2/L for large eps: at L = 1, eps = 9999 it is 9801 = 99^2, "
        "below eps^2/L by a factor above 10^4",
        "eps^2/(8L) <= rho <= eps^2/(4L) for eps <= L",
        certain((100 - 1) ** 2 * 10_000, "<", 9999**2, "99^2 10^4 < 9999^2"),
        identity(
            1 / (4 * size + 4 * eps) - 1 / (8 * size),
            (size - eps) / (8 * size * (size + eps)),
            {eps: _BOX, size: _BOX},
        ),
    )


@check(
    "steinke.prop16",
    expects="proved",
    smoke=True,
    assumes=("steinke.prop16.unitexp", INTEGRAL, JENSEN),
)
def pure_privacy_is_concentrated(half: Fraction = Fraction(1, 2)) -> Result:
    """``w^-t`` is convex, so the two-point law on ``w = e^(-eps), e^eps`` with mean 1 is worst.

    Its moment is ``cosh y/cosh x`` with ``x = eps/2 <= y = eps (t + 1/2)``, and
    ``log cosh y - y^2/2`` does not increase because ``tanh y <= y``.
    """
    eps, t, y, w = sympy.symbols("eps t y w", positive=True)
    e = sympy.exp(eps)
    x, z = eps / 2, eps * (t + sympy.Rational(1, 2))
    box = {eps: (Fraction(1, 9), 2), t: (Fraction(1, 9), 3)}
    factor = sympy.Rational(half.numerator, half.denominator)
    return proved(
        "the worst law in closed form, and tanh y <= y",
        identity(sympy.diff(w ** (-t), w, 2), t * (t + 1) * w ** (-t - 2), {w: _BOX, t: _BOX}),
        identity(e / (e + 1) / e + e / (e + 1), 1, {eps: (0, 3)}, text="its mean of w is 1"),
        identity(
            e / (e + 1) * sympy.exp(eps * t) + sympy.exp(-eps * t) / (e + 1),
            sympy.cosh(z) / sympy.cosh(x),
            box,
        ),
        identity(sympy.diff(sympy.log(sympy.cosh(y)) - y**2 / 2, y), sympy.tanh(y) - y, {y: _BOX}),
        tanh_below_argument(),
        identity(z**2 / 2 - x**2 / 2, factor * eps**2 * t * (t + 1), box),
    )


@check("steinke.lem17", "steinke.prop16.mean", expects="proved", assumes=(INTEGRAL,), smoke=True)
def hoeffding_lemma(half: Fraction = Fraction(1, 2)) -> Result:
    """The chord of ``e^(tz)`` has the weight ``p = (1 + E[Z]/eps)/2``, with ``x = t eps``."""
    mean, eps, t = sympy.symbols("mean eps t", real=True)
    p = (1 + mean / eps) / 2
    box = {mean: (-1, 1), eps: (1, 2), t: (-2, 2)}
    return proved(
        "chord, then convexity of the gap of the logarithms",
        *hoeffding(half),
        identity((2 * p - 1) * (t * eps) + (t * eps) ** 2 / 2, t * mean + t**2 * eps**2 / 2, box),
        identity(
            (t * mean + t**2 * eps**2 / 2).subs(t, -1),
            eps**2 / 2 - mean,
            {mean: (-1, 1), eps: (1, 2)},
            text="t = -1 and E e^-Z = 1: 0 <= eps^2/2 - E[Z]",
        ),
    )


@check(
    "steinke.lem33.5", expects="proved", assumes=(INTEGRAL, "steinke.prop16.unitexp"), smoke=True
)
def bounded_loss_has_linear_divergence(eighth: Fraction = Fraction(1, 8)) -> Result:
    """``Z = m + (c/2) W`` with ``W`` in [-1, 1] and ``c = D_inf(P||Q) + D_inf(Q||P)``."""
    m, c, t, mean = sympy.symbols("m c t mean", real=True)
    factor = sympy.Rational(eighth.numerator, eighth.denominator)
    box = {m: (-1, 1), c: (1, 2), t: (1, 2), mean: (-1, 1)}
    of_z = m + c * mean / 2
    return proved(
        "Hoeffding's lemma on an interval of length c, at t = alpha - 1 and at t = -1",
        *hoeffding(),
        identity(
            t * m + (t * c / 2) * mean + (t * c / 2) ** 2 / 2,
            t * of_z + t**2 * c**2 / 8,
            box,
            text="log E e^(tZ) <= t E[Z] + t^2 c^2/8",
        ),
        identity(
            (t * c**2 / 8 + t**2 * c**2 / 8) / t,
            factor * (t + 1) * c**2,
            {t: (1, 2), c: (1, 2)},
            text="with E[Z] <= c^2/8 it is (alpha-1) alpha c^2/8",
        ),
    )


@check(
    "steinke.lem20",
    "steinke.lem20.identity",
    "steinke.cor21",
    "steinke.lem33.1",
    "steinke.lem33.6",
    expects="proved",
    assumes=(INTEGRAL, JENSEN),
    smoke=True,
)
def moments_fall_under_post_processing() -> Result:
    """Merging two atoms replaces their ratios by a mean; ``x^a`` and ``x log x`` are convex.

    A mixture of two pairs is the same merging, of the two copies of an outcome.
    """
    x, y, q, r = sympy.symbols("x y q r", positive=True)
    box = dict.fromkeys((x, y, q, r), _BOX)
    return proved(
        "two atoms are merged; all finite and, by Jensen with Q given g(Y), all other maps",
        merging_is_a_mean(),
        power_is_convex(),
        identity(
            (q * x + r * y) / (q + r),
            q / (q + r) * x + r / (q + r) * y,
            box,
            text="the new ratio is the mean of the old ones under Q given g(Y)",
        ),
        identity(sympy.diff(x * sympy.log(x), x, 2), 1 / x, {x: _BOX}, text="order 1"),
        identity(
            sympy.diff(sympy.log(x), x),
            1 / x,
            {x: _BOX},
            text="log increases: a mean of moments is at most their maximum",
        ),
        identity(1 * sympy.log(1), 0, {}, text="x^a = 1 and x log x = 0 at the mean ratio 1: >= 0"),
    )
