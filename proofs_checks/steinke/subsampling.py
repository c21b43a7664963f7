"""Sections 6.1 to 6.3: amplification by subsampling for approximate privacy."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import sympy

import dpexact
from proofs_checks.prover.enumeration import every
from proofs_checks.prover.intervals import prove
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.polynomials import bernstein
from proofs_checks.prover.symbolic import identity, unfolds
from proofs_checks.registry import check
from proofs_checks.steinke.lemmas import BOX, UNIT, Domain, logarithm_below_argument
from proofs_checks.verdicts import Derivation, argued, contradicted, corrected


@check("steinke.thm29", "steinke.thm29.lambda", expects="proved", smoke=True)
def amplification(shift: int = 0) -> Derivation:
    """``A, B`` given that i is in U or not, ``A'`` for the neighbour; set by set.

    ``A <= E A' + delta`` and ``A <= E B + delta`` give ``A <= E (l A' + (1-l) B) + delta``; with
    ``l = p + (1-p)/E`` the coefficients are ``1 + p(E-1)`` times those of the mixture.
    """
    p, e, a, b, d = sympy.symbols("p E A B delta", positive=True)
    weight = p + (1 - p) / e + shift
    box: Domain = {p: UNIT, e: (1, 9), a: UNIT, b: UNIT, d: UNIT}
    return argued(
        "a convex combination of the two hypotheses, for 0 <= p <= 1 and every event",
        identity(
            p * (e * (weight * a + (1 - weight) * b) + d) + (1 - p) * b,
            (1 + p * (e - 1)) * (p * a + (1 - p) * b) + p * d,
            box,
        ),
        identity(1 - weight, (1 - p) * (1 - 1 / e), {p: UNIT, e: (1, 9)}, text="0 <= l <= 1"),
    )


@check("steinke.thm29.small", expects="proved", smoke=True)
def small_epsilon(top: Fraction = Fraction(1)) -> Derivation:
    """``log(1+u) <= u``, and ``e^x <= 1 + x + x^2 <= 1 + 2x`` on [0, 1]."""
    x = sympy.Symbol("x")
    return argued(
        "log(1+u) <= u, and an interval proof on [0, 1]",
        logarithm_below_argument(),
        prove(x + x**2 - sympy.exp(x) + 1, ">=", {x: (0, top)}, touch=[(x, 0, 2)]),
        bernstein(2 * x - (x + x**2), {x: (0, top)}),
    )


@check("steinke.thm29.rulesout", expects="proved", smoke=True)
def all_or_nothing() -> Derivation:
    """``M(x) -> a e^(-eps d(x, x0))`` on one event, all n records null if U is empty."""
    p, e, r, a = sympy.symbols("p E r a", positive=True)
    full, near, far = a, a / e, a * r  # r = E^-n
    ratio = (p * full + (1 - p) * far) / (p * near + (1 - p) * far)
    return argued(
        "the ratio of M^U at neighbours tends to e^eps as n grows: nothing is gained",
        identity(
            e - ratio,
            (1 - p) * r * (e - 1) / (p / e + (1 - p) * r),
            {p: (Fraction(1, 9), 1), e: (1, 9), r: UNIT, a: UNIT},
            text="e^eps - ratio = (1-p) r (E-1)/(p/E + (1-p) r), which is 0 at r = 0",
        ),
        identity(
            e * (1 - a) - (1 - a / e),
            (e - 1) * (1 - a * (e + 1) / e),
            {e: (1, 9), a: UNIT},
            text="the complement has ratios of at most E if a <= E/(E+1)",
        ),
        certain(
            ratio.subs({p: Fraction(1, 2), e: 3, r: sympy.Rational(1, 9), a: 1}),
            "=",
            Fraction(5, 2),
            "n = 2, E = 3, p = 1/2: 5/2",
        ),
        certain(Fraction(5, 2), ">", 1 + Fraction(1, 2) * 2, "5/2 > 1 + p(E-1) = 2"),
    )


@check("steinke.thm29.tight", expects="proved", smoke=True)
def amplification_is_tight(factor: int = 1) -> Derivation:
    """Randomised response on [sum > 0]; with delta the bit is revealed."""
    p, e, d = sympy.symbols("p E delta", positive=True)
    zero = 1 / (e + 1)
    one = p * e / (e + 1) + (1 - p) / (e + 1)
    gain = 1 + factor * p * (e - 1)
    return argued(
        "the ratio of the answer 1 for the inputs (1, 0, ..., 0) and 0 is 1 + p(E-1) exactly",
        identity(one / zero, gain, {p: UNIT, e: (1, 9)}),
        identity(
            (1 - d) * one + d * p - gain * (1 - d) * zero,
            p * d,
            {p: UNIT, e: (1, 9), d: UNIT},
            text="revealing the bit with delta: the excess at e^eps' is p delta",
        ),
    )


def _table(x: tuple[int | None, ...]) -> Fraction:
    special: dict[tuple[int | None, ...], Fraction] = {
        (None, 0): Fraction(1, 27),
        (1, None): Fraction(1, 3),
    }
    return special.get(x, Fraction(1, 9))


@check("steinke.thm29.fixedsize", expects="repaired", smoke=True)
def fixed_size_samples() -> Derivation:
    """A table of probabilities that is log 3-private coordinate by coordinate."""
    inputs = list(product((None, 0, 1), repeat=2))
    pairs = (
        {"x": x, "y": y}
        for x in inputs
        for y in inputs
        if sum(a != b for a, b in zip(x, y, strict=True)) == 1
    )

    def private(x: tuple[int | None, ...], y: tuple[int | None, ...]) -> bool:
        p, q = _table(x), _table(y)
        return p <= 3 * q and 1 - p <= 3 * (1 - q)

    ratio = (_table((1, None)) + _table((None, 0))) / (_table((0, None)) + _table((None, 0)))
    m, n, a, b = sympy.symbols("m n a b", positive=True)
    return corrected(
        "missing_hypothesis",
        "if position matters x_U and x_(U_-i) differ in two coordinates: n = 2, m = 1, e^eps = 3, "
        "f(bot,0) = 1/27, f(1,bot) = 1/3, else 1/9 has the ratio 5/2 > 2",
        "datasets as multisets: given i in U, U_-i is uniform on the m-sets without i, as U is "
        "given i not in U, and the two multisets differ in one record",
        every("the table is log 3-private for all coordinatewise neighbours", pairs, private),
        certain(ratio, "=", Fraction(5, 2), "the ratio of M^U at (1,0) and (0,0) is 5/2"),
        certain(ratio, ">", 1 + Fraction(1, 2) * 2, "5/2 > 1 + p(E-1) = 2"),
        unfolds(
            (m / (n - m)) * (a * (n - m) * b),
            m * a * b,
            "with a = (m-1)!, b = (n-m-1)!: m choices of the record that was replaced, each "
            "of chance (m-1)! (n-m)!/((n-1)! (n-m)), make 1/C(n-1,m)",
        ),
    )


@check("steinke.fn8", expects="repaired", smoke=True)
def denominators() -> Derivation:
    """The probabilities of one input sum to 1."""
    e = sympy.Symbol("E", positive=True)
    return corrected(
        "slip",
        "with the printed denominator e^eps - 1 the probabilities sum to more than 13/10 at eps=1",
        "all denominators are e^eps + 1",
        certain(
            sympy.E / (sympy.E + 1) + 1 / (sympy.E - 1),
            ">",
            Fraction(13, 10),
            "e/(e+1) + 1/(e-1) > 13/10",
        ),
        identity(e / (e + 1) + 1 / (e + 1), 1, {e: (1, 9)}),
    )


@check("steinke.fn8.equiv", expects="refuted", smoke=True)
def discrete_laplace_is_not_equivalent() -> Derivation:
    """``P[s + noise <= 0] = E^-s E/(E+1)`` for ``s >= 1``, a geometric series."""
    e = Fraction(3)

    def below(s: int) -> Fraction:
        return (e - 1) / (e + 1) * e**-s / (1 - 1 / e)

    return contradicted(
        {"e^eps": 3, "sum": 2},
        "with discrete Laplace noise P[sum + noise <= 0] = 1/12, with randomised response 1/4",
        certain(below(1), "=", 1 / (e + 1), "they agree at sum = 1: 1/4"),
        certain(below(2), "=", Fraction(1, 12), "noise at sum = 2: 1/12"),
        certain(below(2), "<", 1 / (e + 1), "1/12 < 1/4"),
    )


@check("steinke.sec62.group", expects="proved", smoke=True)
def replacement_from_add_remove(factor: int = 1) -> Derivation:
    """``P <= E R + d <= E (E Q + d) + d``, and a chain that attains it."""
    e, q, d = sympy.symbols("E q d", positive=True)
    return argued(
        "two steps, over the dataset without the record; attained by R = Eq + d, P = ER + d",
        identity(
            e * (e * q + d) + d, e**2 * q + (1 + factor * e) * d, {e: (1, 9), q: UNIT, d: UNIT}
        ),
    )


@check("steinke.sec62.poisson", expects="proved", smoke=True)
def poisson_step(power: int = 2) -> Derivation:
    """Multiply by ``1-p+pE``; the slack has two nonnegative coefficients."""
    p, e, q, d = sympy.symbols("p E Q delta", positive=True)
    left = (1 - p + p / e) * q - p * d / e
    right = (q - p * d) / (1 - p + p * e)
    slack = p * (1 - p) * (e - 1) ** power / e * q + (1 - p) * (e - 1) / e * p * d
    return argued(
        "the slack is a sum of nonnegative terms for E >= 1, 0 <= p <= 1",
        identity((left - right) * (1 - p + p * e), slack, {p: UNIT, e: (1, 9), q: UNIT, d: UNIT}),
    )


@check(
    "steinke.sec63.eps0",
    expects="repaired",
    smoke=True,
    assumes=("steinke.cor8", "steinke.rem15.a"),
    about=("dpexact.accounting.queries.delta",),
)
def gaussian_order() -> Derivation:
    """``eps = rho + 2 sqrt(rho L)``; the first term dominates where rho exceeds L."""
    rho, size, c = sympy.symbols("rho L c", positive=True)
    found = dpexact.delta("gaussian(1/1000)", 400_000, digits=6)
    return corrected(
        "missing_hypothesis",
        "needs rho = O(log(1/delta0)): for Delta/sigma = 1000, delta0 = 1/10 epsilon exceeds "
        "400000, the printed order is below 1518",
        "for rho <= c L: rho + 2 sqrt(rho L) <= (sqrt c + 2) sqrt(rho L)",
        certain(found, ">", Fraction(1, 10), "delta(400000) > 1/10"),
        certain(sympy.sqrt(1000**2 * sympy.log(10)), "<", 1518, "1000 sqrt(log 10) < 1518"),
        identity(
            (sympy.sqrt(c) + 2) * sympy.sqrt(rho * size) - rho - 2 * sympy.sqrt(rho * size),
            sympy.sqrt(rho) * (sympy.sqrt(c * size) - sympy.sqrt(rho)),
            dict.fromkeys((rho, size, c), BOX),
        ),
    )


@check("steinke.sec63.eps1", expects="repaired", assumes=("steinke.thm29.small",))
def amplified_order() -> Derivation:
    """``log(1 + p (e^eps - 1))`` is of the order ``eps - log(1/p)`` for large eps."""
    tiny = sympy.exp(-50)
    x = sympy.Symbol("x")
    return corrected(
        "missing_hypothesis",
        "needs eps0 = O(1): for p = e^-50, eps0 = 100 eps1 exceeds 49, p eps0 is below 1e-19",
        "eps1 <= 2 p eps0 for eps0 <= 1",
        certain(sympy.log(1 + tiny * (sympy.exp(100) - 1)), ">", 49, "eps1 > 49"),
        certain(100 * tiny, "<", Fraction(1, 10**19), "p eps0 < 1e-19"),
        logarithm_below_argument(),
        prove(2 * x - sympy.exp(x) + 1, ">=", {x: (0, 1)}, touch=[(x, 0, 1)]),
    )


@check(
    "steinke.sec63.total",
    expects="repaired",
    smoke=True,
    assumes=("steinke.thm22", "steinke.sec63.eps0", "steinke.sec63.eps1"),
    about=("dpexact.accounting.queries.delta",),
)
def total_order() -> Derivation:
    """Theorem 22 with ``S = T eps1^2``; S/2 is below a multiple of the root where ``S <= c L``."""
    t, e, size, c = sympy.symbols("T eps L c", positive=True)
    total = t * e**2
    found = dpexact.delta("gaussian(1/1000)", 400_000, digits=6)
    return corrected(
        "missing_hypothesis",
        "inherits the missing regimes: for p = T = 1, Delta/sigma = 1000, delta = 1/10 epsilon "
        "exceeds 400000, the printed order is below 1518",
        "eps <= (sqrt c/2 + sqrt 2) eps1 sqrt(T L), L = log(1/delta2), where T eps1^2 <= c L",
        certain(found, ">", Fraction(1, 10), "delta(400000) > 1/10"),
        certain(sympy.sqrt(1000**2 * sympy.log(10)), "<", 1518, "1000 sqrt(log 10) < 1518"),
        identity(
            (sympy.sqrt(c) / 2 + sympy.sqrt(2)) * e * sympy.sqrt(t * size)
            - total / 2
            - sympy.sqrt(2 * size * total),
            e * sympy.sqrt(t) * (sympy.sqrt(c * size) - e * sympy.sqrt(t)) / 2,
            dict.fromkeys((t, e, size, c), BOX),
        ),
    )
