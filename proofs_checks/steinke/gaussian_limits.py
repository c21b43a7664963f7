"""Section 6.6: Theorem 38, Lemmas 39 and 40, Propositions 41 and 42."""

from __future__ import annotations

from fractions import Fraction

import sympy

from proofs_checks.prover.intervals import prove
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.polynomials import bernstein, positive_coefficients
from proofs_checks.prover.symbolic import identity
from proofs_checks.registry import check
from proofs_checks.steinke.lemmas import (
    BOX,
    INTEGRAL,
    JENSEN,
    UNIT,
    Domain,
    logarithm_below_argument,
)
from proofs_checks.verdicts import Result, proved, repaired

_HALF = sympy.Rational(1, 2)


@check("steinke.thm38.const", expects="proved", smoke=True)
def constant_ten(ten: Fraction = Fraction(10)) -> Result:
    """``1/alpha < 1``; times rho the rest is ``9 rho - (e/2)(e^(2 rho) - 1) >= 0`` on [0, 1]."""
    r = sympy.Symbol("r")
    nine = sympy.Rational(ten.numerator, ten.denominator) - 1
    return proved(
        "an interval proof on 0 <= rho <= 1, after multiplication by rho",
        prove(
            nine * r - sympy.E / 2 * (sympy.exp(2 * r) - 1), ">=", {r: (0, 1)}, touch=[(r, 0, 1)]
        ),
    )


@check("steinke.thm38.exponents", expects="proved", smoke=True)
def exponents_of_p(three: int = 3) -> Result:
    """In logarithms, ``L = log(1/p)``, with ``alpha - 1 <= p^(-1/4)`` and ``rho omega <= L/4``."""
    size, r, w, v, s, t = sympy.symbols("L r w v s t", positive=True)
    threshold = three + 2 * r / size  # log(1/rho) = r
    box: Domain = dict.fromkeys((size, r, w, v, s, t), BOX)
    exponent = -size + (w - 1) * (size / 4 - s - size + size / 4 - t)
    return proved(
        "logarithms: both factors use their upper bounds, s and t are their slacks",
        identity(
            -(1 + w) / 2 * size - exponent,
            (w - 1) * (s + t),
            box,
            text="log of p^((1+w)/2) minus log of the term is (w-1)(s+t) >= 0 for w >= 1",
        ),
        positive_coefficients((w - 1) * (s + t), {w: 1, s: 0, t: 0}),
        identity(
            (1 + threshold + v) / 2 * size - (2 * size + r),
            v * size / 2,
            box,
            text="for w = 3 + 2r/L + v: p^((1+w)/2) <= p^2 rho",
        ),
    )


@check(
    "steinke.thm38",
    expects="proved",
    smoke=True,
    assumes=(
        "steinke.prop41.second",
        "steinke.thm35",
        "steinke.lem33.3",
        "steinke.thm38.const",
        "steinke.thm38.exponents",
    ),
)
def concentrated_privacy_amplifies() -> Result:
    """``D <= a (e/2) p^2 (e^(2 rho)-1) + p^2 rho <= 10 p^2 rho a``; Theorem 35 for the reverse."""
    a, p, rho, x = sympy.symbols("a p rho X", positive=True)
    box: Domain = dict.fromkeys((a, p, rho, x), BOX)
    return proved(
        "Proposition 41 with D_2 <= 2 rho, D_omega <= omega rho; then the constant",
        identity(
            a * p**2 * rho * (sympy.E / 2 * x / rho + 1 / a),
            a * sympy.E / 2 * p**2 * x + p**2 * rho,
            box,
            text="a p^2 rho ((e/2) X/rho + 1/a), X = e^(2 rho) - 1",
        ),
        certain(1 - 1 / sympy.E, ">", Fraction(1, 2), "p <= 1/2 < 1 - 1/e"),
    )


@check("steinke.thm38.precondition", expects="proved", smoke=True)
def precondition_can_hold() -> Result:
    """``L/(4 rho) >= 3 + 2r/L`` is quadratic in L; ``p = e^-12, rho = 1`` satisfies it."""
    size, r, rho = sympy.symbols("L r rho", positive=True)
    root = 6 * rho + sympy.sqrt(36 * rho**2 + 8 * rho * r)
    other = 6 * rho - sympy.sqrt(36 * rho**2 + 8 * rho * r)
    return proved(
        "omega >= 3 + 2r/L splits into the two conditions; satisfiable, and p <= 1/16 is needed",
        identity(
            (size / (4 * rho) - 3 - 2 * r / size) * 4 * rho * size,
            (size - root) * (size - other),
            {size: BOX, r: BOX, rho: BOX},
            text="4 rho L times the gap is (L - root)(L - other root), other root <= 0",
        ),
        certain(1 + sympy.exp(3), ">=", 3, "p = e^-12, rho = 1: 1 + p^(-1/4) >= 3"),
        certain(Fraction(12, 4), "=", 3, "and L/(4 rho) = 3: omega = 3 = 3 + 2 log(1/rho)/L"),
        identity(
            (1 + sympy.Rational(1, 16) ** sympy.Rational(-1, 4)),
            3,
            {},
            text="1 + p^(-1/4) >= 3 iff p <= 1/16",
        ),
    )


@check("steinke.thm38.beyond", expects="proved", assumes=("steinke.sec66.lower",), smoke=True)
def bound_fails_for_large_orders(ten: int = 10) -> Result:
    """For Gaussian noise ``D_a(P||Q) = a rho``; the lower bound exceeds ``10 p^2 rho a``."""
    a, rho, p, size = sympy.symbols("a rho p L", positive=True)
    box: Domain = {a: (2, 5), rho: BOX, p: (0, Fraction(1, 4)), size: BOX}
    room = 1 - 10 * p**2
    return proved(
        "for a > 1 + L/(rho (1-10 p^2)), p^2 < 1/10, the lower bound is above 10 p^2 rho a",
        identity(
            a * rho - a / (a - 1) * size - ten * p**2 * rho * a,
            a * rho * room / (a - 1) * (a - 1 - size / (rho * room)),
            box,
        ),
    )


@check("steinke.sec66.lower", expects="proved", assumes=(INTEGRAL,), smoke=True)
def lower_bound_of_the_mixture() -> Result:
    """``1-p + p x >= p x``; the power and the logarithm increase."""
    p, x, a, d, size = sympy.symbols("p x a D L", positive=True)
    return proved(
        "density by density, and the exponents",
        bernstein((1 - p + p * x) - p * x, {p: (0, 1), x: (0, 1)}),
        identity((1 - p + p * x) - p * x, 1 - p, {p: UNIT, x: BOX}, text="for every x"),
        identity(
            (-a * size + (a - 1) * d) / (a - 1),
            d - a / (a - 1) * size,
            {a: (2, 5), d: BOX, size: BOX},
            text="with log p = -L",
        ),
    )


@check("steinke.sec66.tight", expects="repaired", assumes=("steinke.prop42.lines",), smoke=True)
def where_the_lower_bound_is_tight() -> Result:
    """Upper minus lower is ``a/(a-1) log(1 + ((1-p)/p) e^(-(1-1/a) D))``."""
    p, y, a = sympy.symbols("p y a", positive=True)
    return repaired(
        "not for bounded losses: with P = (2/3, 1/3), Q = (1/3, 2/3), p = 1/2 the lower bound at "
        "order infinity is log 2 - log 2 = 0, the divergence log(3/2)",
        "the gap is at most a/(a-1) ((1-p)/p) e^(-(1-1/a) D): tight where e^((1-1/a) D) is far "
        "above (1-p)/p",
        certain(
            (Fraction(1, 2) * Fraction(2, 3) + Fraction(1, 2) * Fraction(1, 3)) / Fraction(1, 3),
            "=",
            Fraction(3, 2),
            "the largest ratio of (mix, Q) is 3/2",
        ),
        certain(Fraction(2, 3) / Fraction(1, 3) * Fraction(1, 2), "=", 1, "p e^D_inf = 1"),
        identity(
            a / (a - 1) * sympy.log(1 - p + p * y) - a / (a - 1) * sympy.log(p * y),
            a / (a - 1) * sympy.log((1 - p + p * y) / (p * y)),
            {p: (Fraction(1, 9), Fraction(8, 9)), y: (1, 9), a: (2, 5)},
            text="the gap, with y = e^((1-1/a) D)",
        ),
        logarithm_below_argument(),
    )


@check("steinke.sec66.example", expects="proved", smoke=True)
def sampled_mean_example() -> Result:
    """Records enter with the weight ``1/p`` if sampled; ``q_i`` in [0, 1]."""
    p, n, s, q = sympy.symbols("p n s q", positive=True)
    box: Domain = {p: (Fraction(1, 9), 1), n: (1, 9), s: BOX}
    return proved(
        "the variance of one weight, and the sensitivity 1/(pn)",
        identity(p * (1 / p - 1) ** 2 + (1 - p), (1 - p) / p, box, text="E (B/p - 1)^2"),
        bernstein(1 - q**2, {q: (0, 1)}),
        identity(n * (1 - p) / p / n**2, (1 - p) / (p * n), box, text="n records, divided by n"),
        identity((1 / (p * n)) ** 2 / (2 * s**2), 1 / (2 * p**2 * n**2 * s**2), box),
        identity(p**2 / (2 * p**2 * n**2 * s**2), 1 / (2 * n**2 * s**2), box),
    )


@check(
    "steinke.lem39",
    expects="proved",
    smoke=True,
    assumes=(INTEGRAL, "a function with a double zero is not negative where it is convex"),
)
def lemma_39(half: Fraction = Fraction(1, 2)) -> Result:
    """With ``y = p(x-1) >= -1`` the gap g has a double zero at 0.

    Its second derivative is ``a(a-1)(e - (1+y)^(a-2))``.

    For ``a >= 2``: ``1+y <= 1`` if ``px <= p``, else ``1+y <= 1 + 1/(a-2)``; both powers are at
    most e. For ``a < 2`` and ``y >= 0`` the power is at most 1. For ``a < 2``, ``y < 0``: the
    remainder integral is at most that of ``(1-s)(1-s)^(a-2)``, which is ``1/a < e/2``. The
    hypothesis ``p <= 1 - 1/e`` is not used.
    """
    y, a, s, m, p, x = sympy.symbols("y a s m p x", positive=True)
    factor = sympy.Rational(half.numerator, half.denominator)
    gap = 1 + a * y + factor * sympy.E * a * (a - 1) * y**2 - (1 + y) ** a
    box: Domain = {y: BOX, a: (2, 5)}
    taylor = (1 + s * y) ** a + (1 - s) * a * y * (1 + s * y) ** (a - 1)
    return proved(
        "second derivative of the gap; for a < 2 Taylor's formula with its remainder integral",
        identity(sympy.diff(gap, y, 2), a * (a - 1) * (sympy.E - (1 + y) ** (a - 2)), box),
        identity(gap.subs(y, 0), 0, {a: (2, 5)}, text="g(0) = 0"),
        identity(sympy.diff(gap, y).subs(y, 0), 0, {a: (2, 5)}, text="g'(0) = 0"),
        logarithm_below_argument(),
        identity(m * (1 / m), 1, {m: BOX}, text="so (1 + 1/m)^m <= e^(m/m) = e, m = a-2"),
        identity(
            (1 - p) + (1 - p) / m,
            (1 - p) * (1 + 1 / m),
            {p: UNIT, m: BOX},
            text="px <= (1-p)/(a-2) gives 1+y = 1-p+px <= (1-p)(1 + 1/(a-2))",
        ),
        identity(1 - p + p * x, 1 + p * (x - 1), {p: UNIT, x: BOX}),
        identity(
            sympy.diff(taylor, s),
            (1 - s) * a * (a - 1) * y**2 * (1 + s * y) ** (a - 2),
            {s: (0, Fraction(8, 9)), y: BOX, a: (1, 5)},
            text="Taylor's formula: derivative",
        ),
        identity(taylor.subs(s, 1), (1 + y) ** a, box, text="its end at s = 1"),
        identity(taylor.subs(s, 0), 1 + a * y, box, text="its end at s = 0"),
        identity(
            (1 + s * y) - (1 - s),
            s * (1 + y),
            {s: UNIT, y: (-1, 1)},
            text="1 + sy >= 1 - s for y >= -1",
        ),
        certain(1, "<", sympy.E / 2, "1/a <= 1 < e/2"),
    )


@check("steinke.lem40", expects="proved", assumes=("steinke.lem39",), smoke=True)
def lemma_40(shift: int = 1) -> Result:
    """Otherwise ``a > 2``, ``x > 1`` and ``1-p < px (a-2)``: then ``1 < u < (a-1) p x``."""
    p, x, a, s = sympy.symbols("p x a s", positive=True)
    return proved(
        "outside the domain of Lemma 39 the last term alone is u^a or more",
        identity(
            (a - shift) * p * x - (1 - p + p * x),
            p * x * (a - 2) - (1 - p),
            {p: UNIT, x: BOX, a: (2, 5)},
        ),
        identity(1 - p + p * (1 + s) - 1, p * s, {p: UNIT, s: BOX}, text="u > 1 for x = 1 + s"),
        positive_coefficients(1 + a * p * s + a * (a - 1) * p**2 * s**2, {a: 1, p: 0, s: 0}),
    )


@check(
    "steinke.prop41",
    "steinke.prop41.second",
    expects="proved",
    smoke=True,
    assumes=("steinke.lem40", "steinke.def32.forms", INTEGRAL),
)
def proposition_41(power: int = 1) -> Result:
    """Take the mean of Lemma 40 under Q: ``E x = 1``, ``E x^2 = e^D_2``; then ``log(1+u) <= u``."""
    x, a, p, w, d, b = sympy.symbols("x a p w D b", positive=True)  # b stands for a - 1
    box: Domain = {a: (2, 5), b: BOX, p: (Fraction(1, 9), 1), w: (2, 5), d: UNIT}
    return proved(
        "the moments of x under Q, and log(1+u) <= u",
        identity((x - 1) ** 2, x**2 - 2 * x + 1, {x: BOX}, text="E (x-1)^2 = e^D_2 - 2 + 1"),
        logarithm_below_argument(),
        identity(
            (b * p) ** w * sympy.exp((w - 1) * d) / b,
            p * (b * p * sympy.exp(d)) ** (w - power),
            box,
        ),
        identity(sympy.E / 2 * a * (a - 1) * p**2 * d / (a - 1), a * sympy.E / 2 * p**2 * d, box),
    )


@check(
    "steinke.prop42",
    "steinke.prop42.lambda",
    expects="proved",
    smoke=True,
    assumes=(INTEGRAL, JENSEN, "steinke.def32.forms"),
)
def proposition_42(shift: int = 1) -> Result:
    """Convexity of ``x^a`` with the weight l on ``x/l``; ``A = 1-p``, ``B = p e^((1-1/a) D)``."""
    big, c, a, weight, d, x = sympy.symbols("B A a l D x", positive=True)
    bound = weight ** (1 - a) * big**a + (1 - weight) ** (1 - a) * c**a
    box: Domain = {big: BOX, c: BOX, a: (2, 5)}
    left, right = weight * (x / weight), weight ** (1 - a) * x**a
    inside: Domain = {weight: (Fraction(1, 9), Fraction(8, 9)), x: BOX, a: (2, 5)}
    return proved(
        "the bound is convex in l, its stationary point gives (A + B)^a",
        identity(left, x, inside, text="u = (1-l) A/(1-l) + l (p x)/l"),
        identity(weight * (x / weight) ** a, right, inside),
        identity(
            sympy.diff(weight ** (1 - a), weight, 2),
            a * (a - 1) * weight ** (-a - 1),
            inside,
            text="convex in l",
        ),
        identity(
            (big / (big + c)) ** (1 - a) * big**a + (c / (big + c)) ** (1 - a) * c**a,
            (big + c) ** a,
            box,
            text="at l = B/(A+B) it is (A+B)^a",
        ),
        identity(
            (a - 1) * ((big / (big + c)) ** (-a) * big**a - (c / (big + c)) ** (-a) * c**a),
            0,
            box,
            text="where the derivative -(a-1) l^-a B^a + ... vanishes",
        ),
        identity(1 / (1 + c / big), big / (big + c), box, text="the printed l"),
        identity(
            sympy.diff(bound, big),
            a * weight ** (1 - a) * big ** (a - 1),
            {**box, weight: inside[weight]},
        ),
        identity(
            (1 - shift / a) * d * a,
            (a - 1) * d,
            {a: (2, 5), d: BOX},
            text="B^a = p^a E_Q[x^a] = p^a e^((a-1) D)",
        ),
    )


@check("steinke.prop42.lines", expects="repaired", assumes=("steinke.prop42",), smoke=True)
def proposition_42_rewritten() -> Result:
    """Take ``p y`` out of the logarithm, ``y = e^((1-1/a) D)``."""
    p, y, a = sympy.symbols("p y a", positive=True)
    return repaired(
        "at p = 0 the second and third lines contain log(1/0)",
        "0 < p <= 1; for p = 0 the first line gives 0",
        identity(1 - p + p * y, p * y * (1 + (1 - p) / p / y), {p: (Fraction(1, 9), 1), y: BOX}),
        identity((1 - p + p * y).subs(p, 0), 1, {y: BOX}, text="p = 0: the first line is log 1"),
        identity(a / (a - 1) * sympy.log(y ** ((a - 1) / a)), sympy.log(y), {a: (2, 5), y: BOX}),
        logarithm_below_argument(),
    )
