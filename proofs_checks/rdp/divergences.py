"""Composition, conversion, noises, groups: what Rényi accounting rests on."""

from __future__ import annotations

from typing import Final

from proofs_checks.prover.goals import step
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued

HOELDER: Final = "Hölder's inequality"
JENSEN: Final = "Jensen's inequality"
MARKOV: Final = "Markov's inequality"
WORST: Final = "randomized response is the worst eps-DP mechanism"


@check("rdp.prop1", expects="proved", smoke=True)
def composition() -> Derivation:
    """Given the first output the second one is as private, whatever the first was."""
    return argued(
        "the terms of the moment are products; sum over the second output first",
        step(
            "(p*r)^a*(q*s)^(1 - a) = (p^a*q^(1 - a))*(r^a*s^(1 - a))",
            {"p": "real > 0", "q": "real > 0", "r": "real > 0", "s": "real > 0", "a": "real"},
        ),
    )


@check("rdp.prop9.mono", expects="proved", assumes=(JENSEN,), smoke=True)
def orders() -> Derivation:
    """Jensen's inequality for powers; here of the square, with what is missing to equality."""
    return argued(
        "the second moment of a ratio is at least the square of the first",
        step(
            "t*x^2 + (1 - t)*y^2 - (t*x + (1 - t)*y)^2 = t*(1 - t)*(x - y)^2",
            {"x": "real > 0", "y": "real > 0", "t": "real in [0, 1]"},
        ),
    )


@check("rdp.prop3", expects="proved", assumes=(MARKOV,), smoke=True)
def conversion() -> Derivation:
    """Markov's inequality under P."""
    return argued(
        "the loss exceeds e + L/(a - 1) with probability exp(-L) at most",
        step(
            "(a - 1)*((eps + L/(a - 1)) - eps) = L",
            {"a": "real > 1", "eps": "real", "L": "real > 0"},
        ),
    )


@check("rdp.best_order", expects="proved", assumes=("rdp.prop3",), smoke=True)
def best_order() -> Derivation:
    """What is missing to the least value is a square."""
    return argued("the square is 0 at a = 1 + sqrt(L/rho)")


@check("rdp.prop10", expects="proved", assumes=(HOELDER,), smoke=True)
def probability_preservation() -> Derivation:
    """The event's own term of the moment is at most the moment."""
    return argued("P(A)^a Q(A)^(1-a) <= exp((a-1) e), with equality at the bound")


@check("rdp.prop6.gauss", expects="proved", smoke=True)
def gaussian_noise() -> Derivation:
    """The square completed; the normal density that is left integrates to 1."""
    return argued("the exponents of the moment")


@check("rdp.prop6.laplace", expects="proved", smoke=True)
def laplace_noise() -> Derivation:
    """Left of both centres, between them, and right of them."""
    return argued("the two half-lines have half a mass each, the middle an antiderivative")


@check("rdp.prop5.rr", expects="proved", smoke=True)
def response() -> Derivation:
    """Both outcomes."""
    return argued(
        "the term of the moment of either outcome",
        step("p*(p/q)^(a - 1) = p^a*q^(1 - a)", {"p": "real > 0", "q": "real > 0", "a": "real"}),
    )


@check("rdp.triangle", "rdp.cor4", expects="proved", assumes=(HOELDER,), smoke=True)
def triangle_inequality() -> Derivation:
    """Hölder's inequality for ``(P/R)^a R^(1/p)`` and ``R^(a - 1/p)...`` with exponents p and q."""
    return argued(
        "the exponents of both factors are the orders printed",
        step("(a - 1/2)*2 = 2*a - 1", {"a": "real > 1"}),
    )


@check("rdp.group", expects="proved", assumes=("rdp.cor4", "rdp.prop9.mono"), smoke=True)
def groups() -> Derivation:
    """Twice the group halves the order and costs a factor 3."""
    return argued("3/2 at the order 2a and, as divergences rise with the order, 1 at 2a - 1")


@check("rdp.bs.prop1.3", expects="proved", assumes=(MARKOV,), smoke=True)
def concentrated_conversion() -> Derivation:
    """The least exponent over all orders."""
    return argued(
        "the square completed, and the exponent at the epsilon of the proposition",
        step(
            "(a - 1)*(a*r - eps) = r*(a - (eps + r)/(2*r))^2 - (eps - r)^2/(4*r)",
            {"r": "real > 0", "a": "real", "eps": "real"},
        ),
        step("-((r + 2*sqrt(r*L)) - r)^2/(4*r) = -L", {"r": "real > 0", "L": "real > 0"}),
    )


@check("rdp.bs.prop3.3.rr", expects="proved", assumes=(WORST,), smoke=True)
def pure_privacy() -> Derivation:
    """The moment of randomized response, written with hyperbolic sines."""
    return argued("(exp(a eps) + exp((1 - a) eps))/(1 + exp(eps))")


@check("rdp.bs.prop3.3.order2", expects="proved", assumes=("rdp.bs.prop3.3.rr",), smoke=True)
def second_order() -> Derivation:
    """``(sinh(2 eps) - sinh(eps))/sinh(eps) = 2 cosh(eps) - 1``."""
    return argued("2 cosh(eps) - 1 < exp(eps^2)")


@check("rdp.bs.prop1.9.step", expects="proved", assumes=("rdp.triangle",), smoke=True)
def concentrated_groups() -> Derivation:
    """The orders of one step of the induction."""
    return argued("the order (ka - 1)/(k - 1) exceeds 1 by k (a - 1)/(k - 1)")
