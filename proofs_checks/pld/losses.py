"""Transforms of losses, and what discretisation and truncation cost."""

from __future__ import annotations

from typing import Final

from proofs_checks.prover.goals import step
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued

FUBINI: Final = "Fubini's theorem for nonnegative functions"
HOEFFDING: Final = "Hoeffding's lemma"


@check("pld.zdw.phi.gauss", expects="proved", smoke=True)
def gaussian_transform() -> Derivation:
    """The square completed; the transform is its analytic continuation."""
    return argued("a normal density centred at u is left")


@check("pld.zdw.phi.rr", expects="proved", smoke=True)
def response_transform() -> Derivation:
    """Either outcome."""
    return argued(
        "one outcome; the other has both exchanged",
        step("p*(p/q)^u = p^(u + 1)*q^(-u)", {"p": "real > 0", "q": "real > 0", "u": "real"}),
    )


@check("pld.zdw.phi.laplace", expects="proved", assumes=("rdp.prop6.laplace",), smoke=True)
def laplace_transform() -> Derivation:
    """Mironov's formula at the order ``u + 1``, written otherwise."""
    return argued("both forms of one function")


@check("pld.zdw.thm10", expects="proved", smoke=True)
def products_dominate() -> Derivation:
    """Condition on the second output; the order of the first divergence moves with it."""
    return argued(
        "the divergence of the product is a mean of divergences of the first pair",
        step(
            "p*r - E*q*s = s*(p*(r/s) - E*q)",
            {
                "p": "real >= 0",
                "q": "real >= 0",
                "r": "real >= 0",
                "s": "real > 0",
                "E": "real > 0",
            },
        ),
    )


@check("pld.zdw.reverse", expects="proved", smoke=True)
def reversed_pair() -> Derivation:
    """Positive and negative parts differ by the sum, which is known."""
    return argued(
        "the positive part is the sum and the negative part",
        step("1 - 1/E + d/E = 1 - (1 - d)/E", {"E": "real > 0", "d": "real"}),
    )


@check("pld.zdw.char", expects="proved", smoke=True)
def transforms_multiply() -> Derivation:
    """Powers of products."""
    return argued("powers of one pair of outcomes; independent ones have the product of the means")


@check("pld.zdw.levy", expects="proved", smoke=True)
def delta_by_distribution_functions() -> Derivation:
    """Tails are what distribution functions leave."""
    return argued(
        "tails are 1 less distribution functions",
        step(
            "p - E*q = (1 - (1 - p)) - E*(1 - (1 - q))", {"p": "real", "q": "real", "E": "real > 0"}
        ),
    )


@check("pld.gopi.eq1", expects="proved", assumes=(FUBINI,), smoke=True)
def delta_by_tails() -> Derivation:
    """``(1 - exp(eps - Y))_+`` is an integral up to Y."""
    return argued("the integral up to z of exp(e - y); then the order of integration exchanged")


@check("pld.gopi.slope", expects="proved", smoke=True)
def slope_of_delta() -> Derivation:
    """The tails themselves add nothing to first order."""
    return argued("the slope at fixed tails, which is not positive")


@check("pld.gopi.convex", expects="proved", smoke=True)
def convex_in_the_exponential() -> Derivation:
    """Every test gives an affine function."""
    return argued(
        "a supremum of affine functions of exp(eps) is convex",
        step(
            "p - (t*x + (1 - t)*y)*q = t*(p - x*q) + (1 - t)*(p - y*q)",
            {"x": "real", "y": "real", "t": "real in [0, 1]", "p": "real", "q": "real"},
        ),
    )


@check("pld.gopi.lem5.shift", expects="proved", smoke=True)
def moved_losses() -> Derivation:
    """One exponential."""
    return argued(
        "the exponent of what is averaged",
        step("exp(eps - (y + h)) = exp((eps - h) - y)", {"eps": "real", "y": "real", "h": "real"}),
    )


@check("pld.gopi.coupling", expects="proved", smoke=True)
def coupled_losses() -> Derivation:
    """Outside the event a term is at most 1, inside it has moved by h."""
    return argued("what mass n adds to a mean of terms up to 1 is at most n")


@check("pld.gopi.hoeffding", expects="proved", assumes=(HOEFFDING,), smoke=True)
def concentrated_errors() -> Derivation:
    """The exponent's square completed."""
    return argued("the best exponent is -2 x^2/(k h^2)")


@check("pld.gopi.runtime", expects="proved", assumes=("pld.gopi.hoeffding",), smoke=True)
def mesh() -> Derivation:
    """The mesh at which the bound is what is wanted."""
    return argued("at this mesh the exponent is -L")


@check("pld.gopi.tails", expects="proved", assumes=(FUBINI,), smoke=True)
def truncation() -> Derivation:
    """Beyond L the average that delta is has terms of at least ``1 - exp(-x)``."""
    return argued(
        "the terms beyond L are at least 1 - exp(-x)",
        step(
            "(1 - exp(-(x + z))) - (1 - exp(-x)) = exp(-x)*(1 - exp(-z))",
            {"x": "real > 0", "z": "real >= 0"},
        ),
    )
