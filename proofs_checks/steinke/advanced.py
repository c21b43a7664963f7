"""Sections 4.1 to 4.3: advanced composition and the decomposition of approximate privacy."""

from __future__ import annotations

from fractions import Fraction

import sympy

from proofs_checks.evidence import Evidence
from proofs_checks.prover.enumeration import hockey_stick
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.polynomials import bernstein, positive_coefficients
from proofs_checks.prover.symbolic import identity, unfolds
from proofs_checks.registry import check
from proofs_checks.steinke.lemmas import BOX, INTEGRAL, UNIT, Domain
from proofs_checks.verdicts import Derivation, argued, contradicted, corrected


@check(
    "steinke.thm18",
    "steinke.sec41.laplace",
    expects="repaired",
    smoke=True,
    assumes=("steinke.prop16", "steinke.thm13", "steinke.rem15.a", "steinke.rem15.b"),
)
def advanced_composition(factor: int = 2) -> Derivation:
    """``rho = S/2`` with ``S = sum eps_j^2`` in ``eps = rho + 2 sqrt(rho L)``."""
    total, size, rho, k = sympy.symbols("S L rho k", positive=True)
    return corrected(
        "slip",
        "for delta > 1 the root is not real (delta = 2)",
        "0 < delta <= 1",
        certain(sympy.log(sympy.Rational(1, 2)), "<", 0, "log(1/2) < 0"),
        unfolds(
            total / 2 + 2 * sympy.sqrt(total / 2 * size),
            total / 2 + sympy.sqrt(factor * size * total),
        ),
        unfolds(
            k * sympy.sqrt(2 * rho / k) ** 2 / 2,
            rho,
            "k Laplace answers with eps_j = sqrt(2 rho/k) have sum eps_j^2/2 = rho",
        ),
        unfolds(
            1 / sympy.sqrt(k / (2 * rho)),
            sympy.sqrt(2 * rho / k),
            "scale sqrt(k/(2 rho)) is eps_j = sqrt(2 rho/k) for sensitivity 1",
        ),
    )


@check("steinke.thm18.dominance", expects="repaired", assumes=("steinke.thm18",), smoke=True)
def neither_dominates(first: int = 31) -> Derivation:
    """``k eps - k eps^2/2 > eps sqrt(2 L k)`` iff ``eps < 2`` and ``k (1-eps/2)^2 > 2 L``."""
    eps, k, size, s = sympy.symbols("eps k L s", positive=True)
    small = sympy.Rational(1, 10)
    ell = sympy.log(10**6)

    def bound(n: int) -> sympy.Expr:
        return n * small**2 / 2 + sympy.sqrt(2 * ell * n * small**2)

    return corrected(
        "missing_hypothesis",
        "for a fixed eps >= 2 the first term k eps^2/2 alone is at least k eps: advanced "
        "composition wins for no k",
        "neither dominates: at eps = 1/10, delta = 1e-6 basic composition is smaller for k = 30, "
        "advanced for k = 31; advanced wins iff eps < 2 and k (1-eps/2)^2 > 2 log(1/delta)",
        positive_coefficients(k * (2 + s) ** 2 / 2 - k * (2 + s), {k: 0, s: 0}),
        certain(bound(first - 1), ">", (first - 1) * small, "at k = 30 advanced is larger"),
        certain(bound(first), "<", first * small, "at k = 31 advanced is smaller"),
        identity(
            (k * eps - k * eps**2 / 2) ** 2 - (eps * sympy.sqrt(2 * size * k)) ** 2,
            k * eps**2 * (k * (1 - eps / 2) ** 2 - 2 * size),
            {eps: BOX, k: BOX, size: BOX},
        ),
    )


def union_of_products() -> tuple[Evidence, ...]:
    """``1 - prod (1-d_l) <= sum d_l`` for ``0 <= d_l <= 1``, by induction."""
    d, rest, total = sympy.symbols("d rest total", nonnegative=True)
    return (
        identity(
            total + d - (1 - rest * (1 - d)),
            (total - (1 - rest)) + d * (1 - rest),
            {d: UNIT, rest: UNIT, total: (0, 9)},
            text="one factor more: the gap grows by d (1 - rest)",
        ),
        bernstein(d * (1 - rest), {d: UNIT, rest: UNIT}),
    )


@check("steinke.thm22.unionprod", expects="proved", smoke=True)
def union_bound_of_products() -> Derivation:
    """The gap ``sum d - (1 - prod)`` starts at 0 and grows."""
    return argued("induction on the number of factors", *union_of_products())


@check("steinke.thm22.decomp", expects="proved", smoke=True)
def expansion_of_a_mixture() -> Derivation:
    """``d`` is the weight so far, ``e`` the one of step j; A, B, C, D the four conditional laws."""
    d, e, a, b, c, f = sympy.symbols("d f A B C D", positive=True)
    mixture = (1 - d) * ((1 - e) * a + e * b) + d * ((1 - e) * c + e * f)
    good, rest = (1 - d) * (1 - e), (1 - d) * e * b + d * ((1 - e) * c + e * f)
    box: Domain = {d: UNIT, e: UNIT, a: BOX, b: BOX, c: BOX, f: BOX}
    return argued(
        "the weights of the expansion: the good part has (1-d)(1-e), the rest sums to the rest",
        identity(mixture, good * a + rest, box),
        identity((1 - d) * e + d * (1 - e) + d * e, 1 - good, {d: UNIT, e: UNIT}),
    )


@check(
    "steinke.thm22.t",
    "steinke.thm22",
    expects="repaired",
    smoke=True,
    assumes=(
        "steinke.lem23",
        "steinke.thm22.decomp",
        "steinke.thm22.unionprod",
        "steinke.prop16",
        "steinke.prop19",
        "steinke.prop14",
    ),
)
def adaptive_advanced_composition(half: Fraction = Fraction(1, 2)) -> Derivation:
    """Lemma 23 splits each step; the good parts are pure, hence S/2-concentrated together."""
    total, size, d, slack = sympy.symbols("S L d slack", positive=True)
    eps = total / 2 + sympy.sqrt(2 * size * total)
    t = eps / total - sympy.Rational(half.numerator, half.denominator)
    box: Domain = {total: BOX, size: BOX}
    return corrected(
        "slip",
        "for delta' = delta - sum delta_j > 1 the root is not real",
        "the theorem for 0 < delta' <= 1, the first branch also for delta' = 0",
        certain(sympy.log(sympy.Rational(1, 2)), "<", 0, "log(1/delta') < 0 at delta' = 2"),
        identity(t, sympy.sqrt(2 * size / total), box, text="t = sqrt(2 L/S)"),
        identity(
            t * (t + 1) * total / 2 - t * eps,
            -size,
            box,
            text="t(t+1) S/2 - t eps = -L: Proposition 14 gives delta' for the good part",
        ),
        *union_of_products(),
        identity(
            d + slack - (d + (1 - d) * slack),
            d * slack,
            {d: UNIT, slack: UNIT},
            text="with d = 1 - prod (1-delta_l): d + (1-d) delta' <= d + delta'",
        ),
    )


@check("steinke.thm22.intuition", expects="refuted", smoke=True)
def bounded_loss_is_not_equivalent() -> Derivation:
    """Approximate privacy does not bound the loss with probability ``1 - delta``."""
    p, q = {0: Fraction(3, 4), 1: Fraction(1, 4)}, {0: Fraction(1, 4), 1: Fraction(3, 4)}
    return contradicted(
        {"P": "(3/4, 1/4)", "Q": "(1/4, 3/4)", "e^eps": 2},
        "(P, Q) is (eps, 1/4)-close in both orders, but |Z| > eps always",
        certain(hockey_stick(p, q, 2), "=", Fraction(1, 4), "P against Q: delta = 1/4"),
        certain(hockey_stick(q, p, 2), "=", Fraction(1, 4), "Q against P: delta = 1/4"),
        certain(min(p[0] / q[0], q[1] / p[1]), ">", 2, "the ratios are 3 and 1/3"),
    )


@check("steinke.lem23.proof_eps", expects="proved", assumes=(INTEGRAL,), smoke=True)
def thresholds_exist() -> Derivation:
    """``H(a) = E max(0, p - a q)`` falls continuously from TV at ``a = 1`` to delta or less."""
    a, r, q, s = sympy.symbols("a r q s", positive=True)
    box: Domain = dict.fromkeys((a, r, q, s), BOX)
    b = a + r
    return argued(
        "0 <= H(a) - H(b) <= b - a, so H takes every value between (intermediate values)",
        identity((b * q + s - a * q) - s, r * q, box, text="p = bq + s: both parts positive"),
        unfolds(
            r * q - ((a * q + s) - a * q),
            r * q - s,
            "p = aq + s <= bq: the difference is s, between 0 and rq",
        ),
        positive_coefficients(r * q, {r: 0, q: 0}),
    )


@check(
    "steinke.lem23",
    "steinke.lem23.delta_gt1",
    expects="repaired",
    smoke=True,
    assumes=("steinke.lem23.proof_eps", INTEGRAL),
)
def decomposition() -> Derivation:
    """``P' = min(p, e1 q)/(1-d1)`` and ``Q' = min(q, e2 p)/(1-d1)``, with ``E = e1 + r = e2 + u``.

    ``min(p, e1 q) <= E min(q, e2 p)`` because ``e1 q <= E q`` and ``p <= E e2 p``; or exchanged.
    For ``d1 = 0`` there is no rest; for ``d1 = delta = 1`` any common law serves as P' and Q'.
    """
    p, q, r, u, f, g = sympy.symbols("p q r u f g", positive=True)
    e1, e2 = 1 + f, 1 + g
    m, d, d1, x, y = sympy.symbols("m d d1 x y", positive=True)
    return corrected(
        "slip",
        "for delta > 1 the weight 1 - delta is negative",
        "0 <= delta <= 1",
        certain(1 - 2, "<", 0, "1 - delta = -1 at delta = 2"),
        positive_coefficients((e1 + r) * q - e1 * q, {q: 0, r: 0, f: 0}),
        positive_coefficients((e2 + u) * e2 * p - p, {p: 0, u: 0, g: 0}),
        unfolds(p - (p - m), m, "min(p, e1 q) = p - max(0, p - e1 q) has the mass 1 - d1"),
        identity(
            (1 - d) * x + ((d - d1) * x + d1 * y),
            (1 - d1) * x + d1 * y,
            {x: BOX, y: BOX, d: UNIT, d1: UNIT},
            text="for d1 < delta the rest is (delta-d1) P' + d1 P''",
        ),
    )


@check("steinke.lem23.proofcoef", expects="repaired", smoke=True)
def coefficient_of_the_rest() -> Derivation:
    """The three weights must sum to 1."""
    d, d1 = sympy.symbols("d d1")
    printed = (1 - d) + (d - d1) + (1 - d1)
    at = {d: sympy.Rational(1, 5), d1: sympy.Rational(1, 10)}
    return corrected(
        "slip",
        "the printed weights sum to 9/5 at delta_1 = 1/10, delta = 1/5",
        "P = (1-delta) P' + (delta-delta_1) P' + delta_1 P''",
        certain(printed.subs(at), "=", Fraction(9, 5), "the printed weights sum to 9/5"),
        unfolds((1 - d) + (d - d1) + d1, 1),
    )


@check("steinke.cor24", expects="proved", assumes=("steinke.lem23",), smoke=True)
def randomised_response_form() -> Derivation:
    """``A = (E P' - Q')/(E-1)`` and ``B = (E Q' - P')/(E-1)``; for ``eps = 0`` ``A = B = P'``."""
    p, q, e = sympy.symbols("p q E", positive=True)
    a, b = (e * p - q) / (e - 1), (e * q - p) / (e - 1)
    box: Domain = {p: BOX, q: BOX, e: (2, 9)}
    return argued(
        "A and B are not negative because Q' <= E P' and P' <= E Q'",
        identity((e * a + b) / (e + 1), p, box),
        identity((a + e * b) / (e + 1), q, box),
        unfolds((e - 1) / (e - 1), 1, "A and B have the mass (E-1)/(E-1) = 1"),
    )


@check("steinke.cor24.map", expects="repaired", assumes=("steinke.cor24",), smoke=True)
def post_processing_of_randomised_response() -> Derivation:
    """R(0) is (0, bot) with delta, else (0, top) with E/(E+1) or (1, top) with 1/(E+1)."""
    e, d = Fraction(3), Fraction(1, 10)
    yes, no = (1 - d) * e / (1 + e), (1 - d) / (1 + e)
    x, a, b, last = sympy.symbols("E A B C", positive=True)
    dd = sympy.Symbol("d", positive=True)
    return corrected(
        "slip",
        "the printed map gives A the weight delta = 1/10 at e^eps = 3, where 27/40 is needed",
        "F(b,bot) = P'' or Q'', F(0,top) = A, F(1,top) = B",
        certain(yes, "=", Fraction(27, 40), "the weight of A in Corollary 24 is 27/40"),
        certain(yes + no + d, "=", 1, "R(0) is a law"),
        certain(d, "<", yes, "the printed map sends (0,bot), of weight 1/10, to A"),
        identity(
            (1 - dd) * (x / (x + 1) * a + 1 / (x + 1) * b) + dd * last,
            (1 - dd) * (x * a + b) / (x + 1) + dd * last,
            {x: (1, 9), a: BOX, b: BOX, dd: UNIT, last: BOX},
        ),
    )
