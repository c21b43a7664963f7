"""Moments of the sampled Gaussian's likelihood ratio, and bounds on them."""

from __future__ import annotations

from typing import Final

from proofs_checks.prover.goals import step
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued

LOGARITHM: Final = "log(1 + y) <= y"


@check("sgm.ratio", expects="proved", smoke=True)
def likelihood_ratio() -> Derivation:
    """A convex combination of 1 and the ratio of the shifted density."""
    return argued("the log ratio is linear in x")


@check("sgm.term", expects="proved", smoke=True)
def power_of_the_ratio() -> Derivation:
    """The square completed; a normal density is left."""
    return argued("a normal density centred at k is left")


@check("sgm.integer", "sgm.integer.three", expects="proved", assumes=("sgm.term",), smoke=True)
def integer_orders() -> Derivation:
    """The binomial theorem."""
    return argued("the power of the ratio written out, term by term")


@check("sgm.split", expects="proved", smoke=True)
def where_the_integral_is_split() -> Derivation:
    """On either side one term of the ratio is the larger one, so that its series converges."""
    return argued("both terms are equal there")


@check("sgm.fraction.piece", expects="proved", assumes=("sgm.term",), smoke=True)
def pieces_at_fractional_orders() -> Derivation:
    """The derivative of the piece is what is integrated."""
    return argued("an antiderivative, which tends to 0 at minus infinity")


@check("sgm.thm5.sides", expects="proved", smoke=True)
def removing_is_worse() -> Derivation:
    """At order 2 the pointwise excess is a square."""
    return argued("the chi-squared density beside its mean is q^2 (x - 1)^2")


@check("sgm.monotone.q", "sgm.convex.q", expects="proved", assumes=("sgm.integer",), smoke=True)
def in_the_rate() -> Derivation:
    """Slope and curvature."""
    return argued(
        "both derivatives are positive, as exp(1/s^2) > 1",
        step(
            "D(1 + q^2*(exp(1/s^2) - 1), q) = 2*q*(exp(1/s^2) - 1)",
            {"q": "real > 0", "s": "real > 0"},
        ),
        step(
            "D(D(1 + q^2*(exp(1/s^2) - 1), q), q) = 2*(exp(1/s^2) - 1)",
            {"q": "real > 0", "s": "real > 0"},
        ),
    )


@check(
    "sgm.small.bound",
    "sgm.small.factor",
    expects="proved",
    assumes=("sgm.integer", LOGARITHM),
)
def small_rates() -> Derivation:
    """``log(1 + q^2 (exp(u) - 1)) <= q^2 (exp(u) - 1)``."""
    return argued(
        "the exponential beside its tangent at 0, for u = 1/s^2 up to 1/16",
        step("exp(u) - 1 <= 26/25*u", {"u": "real in [0, 1/16]"}),
    )


@check("sgm.small.sharp", expects="proved", smoke=True)
def no_smaller_factor() -> Derivation:
    """The exponential lies above its tangent."""
    return argued("the exponential above its tangent at 0")


@check("sgm.wbk.thm9", "sgm.wbk.thm9.small", expects="proved", smoke=True)
def the_smaller_of_both() -> Derivation:
    """They cross where the exponential is 2."""
    return argued("a linear inequality in exp(e2)")


@check("sgm.wbk.ternary", expects="proved", smoke=True)
def both_chi_squared() -> Derivation:
    """One outcome."""
    return argued(
        "one outcome of the sum",
        step("p^2/q + q^2/p - p - q = (p - q)^2*(p + q)/(p*q)", {"p": "real > 0", "q": "real > 0"}),
    )


@check("sgm.lower", expects="proved", smoke=True)
def at_most_one_participation() -> Derivation:
    """Two terms of the binomial sum."""
    return argued("two terms of the binomial sum")
