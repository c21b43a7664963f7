"""Section 4 up to Lemma 12: the privacy loss distribution under composition."""

from __future__ import annotations

from fractions import Fraction

import sympy

from proofs_checks.prover.goals import step
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.polynomials import positive_coefficients
from proofs_checks.prover.symbolic import identity, unfolds
from proofs_checks.registry import check
from proofs_checks.steinke.lemmas import (
    BOX,
    INTEGRAL,
    JENSEN,
    Domain,
    exponential_above_tangent,
    normal_moments,
    tanh_below_argument,
)
from proofs_checks.verdicts import Derivation, argued, corrected


@check("steinke.thm9", expects="proved", smoke=True)
def losses_add() -> Derivation:
    """The log ratio of product densities is a sum, and the coordinates are independent."""
    p, q, r, s = sympy.symbols("p q r s", positive=True)
    return argued(
        "the loss of a product is the sum of independent losses, whose law is the convolution",
        identity(
            sympy.log(p * r / (q * s)),
            sympy.log(p / q) + sympy.log(r / s),
            dict.fromkeys((p, q, r, s), BOX),
        ),
    )


@check("steinke.sec4.basic_pld", expects="proved", assumes=("steinke.thm9",), smoke=True)
def losses_stay_below_the_sum() -> Derivation:
    """One more loss ``Z_j = eps - s`` keeps the gap ``k eps - Z`` nonnegative."""
    k, eps, gap, s = sympy.symbols("k eps gap s", positive=True)
    before = k * eps - gap
    return argued(
        "induction on k: the gap grows by s >= 0",
        identity((k + 1) * eps - (before + eps - s), gap + s, dict.fromkeys((k, eps, gap, s), BOX)),
        positive_coefficients(gap + s, {gap: 0, s: 0}),
    )


@check("steinke.sec4.atom", expects="repaired", assumes=("steinke.lem6",), smoke=True)
def largest_atom(slack: Fraction = Fraction(0)) -> Derivation:
    """``1 = E e^-Z = p/E + (1-p) w`` with the mean ``w <= E`` of ``e^-Z`` elsewhere."""
    p, e = sympy.symbols("p E", positive=True)
    extra = sympy.Rational(slack.numerator, slack.denominator)
    bound = e / (e + 1) - extra
    return corrected(
        "slip",
        "fails at eps = 0, where Z = 0 always: the atom is 1 > 1/2",
        "P[Z_j = eps] <= 1/(1 + e^-eps) for eps > 0",
        certain(1, ">", Fraction(1, 1 + 1), "at eps = 0: 1 > 1/(1 + 1)"),
        identity(
            (p / e + (1 - p) * e) - 1,
            (bound - p) * (e - 1) * (e + 1) / e,
            {p: (0, 1), e: (2, 9)},
            text="p/E + (1-p) E - 1 >= 0 is (E/(E+1) - p) times (E^2-1)/E",
        ),
        positive_coefficients((e - 1) * (e + 1), {e: 1}),
        identity(1 / (1 + 1 / e), e / (e + 1), {e: (1, 9)}),
    )


@check("steinke.sec4.strict", expects="repaired", assumes=("steinke.sec4.meanvar",), smoke=True)
def mean_loss_is_strictly_smaller() -> Derivation:
    """``eps tanh(eps/2) < eps`` because ``1 - tanh(eps/2) = 2/(e^eps + 1)``."""
    eps = sympy.Symbol("eps", positive=True)
    return corrected(
        "slip",
        "at eps = 0 the loss is 0 always, so that E[Z_j] = eps",
        "E[Z_j] <= eps tanh(eps/2) < eps for eps > 0",
        unfolds(0 * sympy.tanh(0), 0, "at eps = 0 both sides are 0"),
        identity(
            eps - eps * sympy.tanh(eps / 2),
            2 * eps / (sympy.exp(eps) + 1),
            {eps: (0, 5)},
            text="eps - eps tanh(eps/2) = 2 eps/(e^eps + 1), positive for eps > 0",
        ),
    )


@check("steinke.sec4.meanvar", expects="proved", assumes=(INTEGRAL, JENSEN), smoke=True)
def mean_and_variance_of_a_bounded_loss(half: Fraction = Fraction(1, 2)) -> Derivation:
    """By the chord of ``e^-z`` over ``[-eps, eps]``: ``1 <= cosh eps - E[Z] sinh(eps)/eps``."""
    z = sympy.Symbol("z", real=True)
    eps = sympy.Symbol("eps", positive=True)
    gap = sympy.cosh(eps) - z * sympy.sinh(eps) / eps - sympy.exp(-z)
    box: Domain = {eps: (Fraction(1, 9), 4)}
    factor = sympy.Rational(half.numerator, half.denominator)
    return argued(
        "E[Z] <= eps tanh(eps/2) <= eps^2/2 by the chord; V[Z] <= E[Z^2] <= eps^2",
        identity(sympy.Subs(gap, z, eps), 0, box, text="the chord meets e^-z at eps"),
        identity(sympy.Subs(gap, z, -eps), 0, box, text="and at -eps"),
        identity(
            sympy.Derivative(gap, z, 2), -sympy.exp(-z), {z: (-2, 2)}, text="it is a chord above"
        ),
        identity(eps * (sympy.cosh(eps) - 1) / sympy.sinh(eps), eps * sympy.tanh(eps / 2), box),
        identity(
            factor * eps**2 - eps * sympy.tanh(eps / 2), eps * (eps / 2 - sympy.tanh(eps / 2)), box
        ),
        tanh_below_argument(),
        identity(eps**2 - z**2, (eps - z) * (eps + z), {eps: (2, 3), z: (-2, 2)}),
    )


@check(
    "steinke.sec4.mgf",
    "steinke.lem12",
    "steinke.lem33.4",
    expects="proved",
    assumes=("steinke.prop3",),
    smoke=True,
)
def gaussian_moments(factor: int = 1) -> Derivation:
    """``E e^(tZ) = e^(t(t+1) rho)`` for ``Z ~ N(rho, 2 rho)``; ``rho = eps^2 k/2`` in section 4."""
    t, alpha = sympy.symbols("t alpha", real=True)
    rho, eps, k, r = sympy.symbols("rho eps k r", positive=True)
    box: Domain = {t: (0, 5), rho: BOX}
    return argued(
        "complete the square; the exponent grows with rho for t >= 0",
        normal_moments(),
        identity(rho * t + 2 * rho * t**2 / 2, factor * t * (t + 1) * rho, box),
        identity(
            (eps**2 * k / 2) * t + eps**2 * k * t**2 / 2,
            eps**2 * t * (t + 1) * k / 2,
            {t: (0, 5), eps: BOX, k: BOX},
        ),
        positive_coefficients(r * (r + 1) * rho, {r: 0, rho: 0}),
        unfolds(
            (alpha - 1) * alpha * rho / (alpha - 1),
            alpha * rho,
            "D_alpha = alpha rho, with t = alpha - 1; at alpha = 1 the mean rho",
        ),
    )


@check(
    "steinke.cor10",
    expects="proved",
    smoke=True,
    assumes=("steinke.thm9", "steinke.prop3", "steinke.cor8"),
)
def gaussian_noise_in_several_dimensions() -> Derivation:
    """The coordinates' losses are independent normal, and their ``rho`` add to a squared norm."""
    a, b, s = sympy.symbols("a b s", positive=True)
    return argued(
        "rho of the sum is ||q(x)-q(x')||^2/(2 s^2), coordinate by coordinate; then Corollary 8",
        identity(
            a**2 / (2 * s**2) + b**2 / (2 * s**2),
            sympy.sqrt(a**2 + b**2) ** 2 / (2 * s**2),
            dict.fromkeys((a, b, s), BOX),
        ),
    )


@check(
    "steinke.thm13",
    "steinke.prop19",
    "steinke.lem31",
    "steinke.lem33.2",
    expects="proved",
    assumes=(INTEGRAL, "steinke.lem33.3"),
    smoke=True,
)
def moments_multiply() -> Derivation:
    """Given the first outcome the second has a moment ``m <= M``; an independent one has ``m = M``.

    At ``alpha = 1`` the means add (``Z = Z1 + Z2``, Theorem 9), at infinity the suprema do.
    """
    p, r, z1, z2, t, m, gap, r1, r2 = sympy.symbols("p r z1 z2 t m gap r1 r2", positive=True)
    box: Domain = dict.fromkeys((p, r, z1, z2, t), BOX)
    return argued(
        "outcome by outcome of the first mechanism: the conditional moment of the second is at "
        "most its supremum",
        identity(
            p * r * sympy.exp(t * (z1 + z2)), (p * sympy.exp(t * z1)) * (r * sympy.exp(t * z2)), box
        ),
        identity(
            p * (m + gap) - p * m,
            p * gap,
            {p: BOX, m: BOX, gap: BOX},
            text="p e^(t z1) M - p e^(t z1) m >= 0 for M = m + gap",
        ),
        identity(
            sympy.exp(t * (t + 1) * r1) * sympy.exp(t * (t + 1) * r2),
            sympy.exp(t * (t + 1) * (r1 + r2)),
            {t: BOX, r1: (0, 1), r2: (0, 1)},
        ),
        identity(
            (sympy.log(m) + sympy.log(r)) / t,
            sympy.log(m * r) / t,
            {m: BOX, r: BOX, t: BOX},
            text="D_alpha = log E e^(tZ)/t adds",
        ),
    )


@check("steinke.sec64.equiv", expects="proved", smoke=True)
def concentrated_is_renyi() -> Derivation:
    """``E e^(tZ) <= e^(t(t+1) rho)`` divided by ``t = alpha - 1`` in the exponent."""
    alpha, rho = sympy.symbols("alpha rho", positive=True)
    return argued(
        "t = alpha - 1 > 0; t = 0 says 1 <= 1",
        unfolds((alpha - 1) * alpha * rho / (alpha - 1), alpha * rho),
        unfolds(sympy.exp(0 * rho), 1),
        step(
            "exp(t*(t + 1)*r) = exp(t*d)",
            {"t": "real > 0", "r": "real", "d": "real"},
            "d = (t + 1)*r",
        ),
    )


@check("steinke.sec64.tails", expects="proved", assumes=(INTEGRAL,), smoke=True)
def tails_of_the_loss(factor: int = 4) -> Derivation:
    """Markov: ``1[z > e] <= e^(t(z-e))``, with ``t = (e-rho)/(2 rho)`` for concentrated privacy."""
    e, rho, alpha, eps = sympy.symbols("x rho alpha eps", positive=True)
    t = (e - rho) / (2 * rho)
    return argued(
        "Markov's inequality and the exponents; a pure loss never exceeds eps",
        exponential_above_tangent(),
        identity(
            t * (t + 1) * rho - t * e, -((e - rho) ** 2) / (factor * rho), {e: (5, 9), rho: (1, 4)}
        ),
        identity(
            (alpha - 1) * eps - (alpha - 1) * e,
            -(alpha - 1) * (e - eps),
            {alpha: (1, 9), e: BOX, eps: BOX},
        ),
    )
