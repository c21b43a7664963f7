"""Section 3.3: delta as a functional of the privacy loss, and the Gaussian mechanism."""

from __future__ import annotations

from fractions import Fraction

import sympy

import dpexact
from proofs_checks.prover.goals import step
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.polynomials import positive_coefficients
from proofs_checks.prover.symbolic import identity, limit, unfolds
from proofs_checks.registry import check
from proofs_checks.steinke.lemmas import (
    BOX,
    FUBINI,
    INTEGRAL,
    Domain,
    gaussian_delta,
    half_normal_bounds,
    normal_tail,
)
from proofs_checks.verdicts import Derivation, argued, corrected


@check("steinke.prop7", expects="proved", assumes=(INTEGRAL, FUBINI, "steinke.lem6"), smoke=True)
def four_forms_of_delta() -> Derivation:
    """All forms are integrals of ``max(0, p - E q)``, attained by ``S = {p > E q}``."""
    p, q, e, s, w, c = sympy.symbols("p q E s w c", positive=True)
    z, u, eps = sympy.symbols("z u eps", real=True)
    box: Domain = {q: BOX, e: (1, 9), s: BOX}
    return argued(
        "density by density, and an antiderivative in z",
        identity(
            (e * q + s) * (1 - e * q / (e * q + s)),
            s,
            box,
            text="p max(0, 1 - e^(eps-Z)) = p - E q = s where p = E q + s",
        ),
        identity(
            s - (1 - c) * s,
            c * s,
            {c: (0, 1), s: BOX},
            text="a test with the chance 1-c of S there loses c s >= 0, elsewhere it gains "
            "nothing: {p > E q} is the best S",
        ),
        unfolds(
            p - e * q,
            p - e * p * (q / p),
            "over {Z > eps} it is P[Z > eps] - E Q[Z > eps], Q[Z > eps] = P[-Z' > eps]",
        ),
        identity(
            sympy.Derivative(-sympy.exp(eps - u), u), sympy.exp(eps - u), {eps: (0, 3), u: (0, 3)}
        ),
        unfolds(
            -sympy.exp(eps - z) + sympy.exp(eps - eps),
            1 - sympy.exp(eps - z),
            "its integral from eps to z is 1 - e^(eps-z)",
        ),
        positive_coefficients(1 - (1 - w), {w: 0}),
    )


@check("steinke.prop7.misprintZ", expects="repaired", assumes=("steinke.prop7",), smoke=True)
def capital_letter() -> Derivation:
    """For a loss that is 1 for sure and ``eps = 0`` the integral is ``1 - 1/e``, not ``1/e``."""
    e = sympy.E
    z = sympy.Symbol("z", real=True)
    return corrected(
        "slip",
        "the integrand e^(eps-Z) is constant in z: for Z = 1, eps = 0 it gives 1/e",
        "e^(eps-z), which gives 1 - 1/e = max(0, 1 - e^(eps-Z))",
        certain(1 / e, "<", Fraction(1, 2), "1/e < 1/2"),
        certain(1 - 1 / e, ">", Fraction(1, 2), "1 - 1/e > 1/2"),
        identity(sympy.Derivative(1 - sympy.exp(-z), z), sympy.exp(-z), {z: (0, 3)}),
    )


@check(
    "steinke.cor8",
    expects="proved",
    smoke=True,
    assumes=("steinke.prop3", "steinke.prop7", "steinke.cor8.monotone"),
    about=("dpexact.accounting.queries.delta",),
)
def gaussian_delta_formula() -> Derivation:
    """``delta'(eps) = -e^eps tail(b)`` and ``delta -> 0`` characterise ``delta``."""
    eps = sympy.Symbol("eps", real=True)
    rho = sympy.Symbol("rho", positive=True)
    formula = gaussian_delta(eps, rho)
    box: Domain = {eps: (0, 5), rho: BOX}
    b = (eps + rho) / sympy.sqrt(2 * rho)
    found = dpexact.delta("gaussian(2)", 1, digits=12)
    value = gaussian_delta(sympy.Integer(1), sympy.Rational(1, 8))
    return argued(
        "Z ~ N(rho, 2 rho) and -Z' ~ N(-rho, 2 rho) in the second form of Proposition 7; the "
        "derivative in eps is that of the integral form",
        unfolds(
            (rho + sympy.sqrt(2 * rho) * b) - 2 * rho,
            eps,
            "-Z' > eps iff a standard normal exceeds b = (eps+rho)/sqrt(2 rho)",
        ),
        identity(
            sympy.Derivative(formula, eps),
            -sympy.exp(eps) * normal_tail(b),
            box,
            text="d delta/d eps = -e^eps tail(b)",
        ),
        limit(normal_tail(eps), eps, sympy.oo, sympy.Integer(0)),
        certain(found.lower, "<=", value, "the library's lower end, s = 2, eps = 1"),
        certain(value, "<=", found.upper, "the library's upper end"),
    )


@check("steinke.cor8.monotone", expects="proved", smoke=True)
def gaussian_delta_grows_with_rho(factor: Fraction = Fraction(1)) -> Derivation:
    """``d delta/d rho = phi((eps-rho)/sqrt(2 rho))/sqrt(2 rho) > 0``."""
    eps = sympy.Symbol("eps", real=True)
    rho = sympy.Symbol("rho", positive=True)
    a = (eps - rho) / sympy.sqrt(2 * rho)
    density = sympy.exp(-(a**2) / 2) / sympy.sqrt(2 * sympy.pi)
    scale = sympy.Rational(factor.numerator, factor.denominator)
    return argued(
        "the derivative is a density over a root: positive",
        identity(
            sympy.Derivative(gaussian_delta(eps, rho), rho),
            scale * density / sympy.sqrt(2 * rho),
            {eps: (0, 5), rho: BOX},
        ),
    )


@check("steinke.cor8.interp", expects="proved", assumes=("steinke.cor8",))
def readable_bound() -> Derivation:
    """With ``x = (eps-rho)/sqrt(2 rho) >= 0``: two bounds of the normal tail."""
    eps, rho = sympy.symbols("eps rho", positive=True)
    x = (eps - rho) / sympy.sqrt(2 * rho)
    return argued(
        "tail(x) <= e^(-x^2/2)/2 and x tail(x) <= phi(x) for x >= 0, by the sign of derivatives",
        unfolds(x**2 / 2, (eps - rho) ** 2 / (4 * rho), "the exponent"),
        unfolds(sympy.sqrt(2 * sympy.pi) * x, sympy.sqrt(sympy.pi / rho) * (eps - rho)),
        *half_normal_bounds(),
    )


@check("steinke.sec4.berry", expects="proved", smoke=True)
def cost_of_berry_esseen() -> Derivation:
    """With ``v`` the variance: ``|x|^3 >= (3/2) sqrt(v) x^2 - v^(3/2)/2``, whose mean is v^(3/2).

    So the third absolute moment is at least the cube of the deviation (Lyapunov), and the bound of
    the theorem, ``C E|X|^3/(s^3 sqrt k)``, at least ``C/sqrt k``, whatever the steps are.
    """
    return argued(
        "the mean of a tangent: y^3 - (3/2) s y^2 + s^3/2 = (y - s)^2 (y + s/2)",
        step(
            "y^3 - 3/2*s*y^2 + s^3/2 = (y - s)^2*(y + s/2)",
            {"y": "real >= 0", "s": "real >= 0"},
        ),
        step("(y - s)^2*(y + s/2) >= 0", {"y": "real >= 0", "s": "real >= 0"}),
    )
