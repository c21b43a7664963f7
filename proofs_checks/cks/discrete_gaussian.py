"""Privacy and accuracy of discrete Gaussian noise (Sections 2 and 3)."""

from __future__ import annotations

from typing import Final

from proofs_checks.prover.goals import step
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued

POISSON: Final = "Poisson summation"
NORMAL: Final = "the integral of exp(-x^2/2) is sqrt(2 pi)"
MARKOV: Final = "Markov's inequality"
CAUCHY_SCHWARZ: Final = "the inequality of Cauchy and Schwarz"


@check("cks.lem6", expects="proved", assumes=(POISSON,), smoke=True)
def centred_sum_is_largest() -> Derivation:
    """By Poisson summation the sum at ``c`` has the terms of that at 0, times cosines."""
    return argued("sum_k w_k cos(2 pi k c) with w_k > 0 is largest where every cosine is 1")


@check("cks.prop5", expects="proved", assumes=("cks.lem6",), smoke=True)
def renyi_divergence() -> Derivation:
    """Complete the square; what is left are normalising sums at another centre and at 0."""
    return argued("the square completed, and Lemma 6 for the sum that is left")


@check("cks.prop5.equality", expects="proved", assumes=("cks.prop5",), smoke=True)
def attained_at_integer_orders() -> Derivation:
    """A sum over the integers does not change when it is moved by one."""
    return argued("the centre is an integer, where both sums of Lemma 6 are one")


@check("cks.thm4", expects="proved", assumes=("cks.prop5",), smoke=True)
def concentrated_privacy() -> Derivation:
    """The difference of both sides is a product of what is not negative."""
    return argued("a e^2 (D^2 - w)/(2 D^2) >= 0 for w <= D^2")


@check("cks.thm7.loss", expects="proved", smoke=True)
def exact_delta() -> Derivation:
    """The loss is linear in the output, so that the best event is a half-line."""
    return argued("the loss exceeds e exactly above e s^2/D + D/2; delta is attained there")


@check(
    "cks.cor13", expects="proved", assumes=("cks.prop12.constant", "cks.cor13.order"), smoke=True
)
def simple_conversion() -> Derivation:
    """The factor beside the exponential is at most 1."""
    return argued(
        "the least exponent is -log(1/delta)",
        step("exp(-((r + 2*sqrt(r*L)) - r)^2/(4*r)) = exp(-L)", {"r": "real > 0", "L": "real > 0"}),
    )


@check("cks.cor13.order", expects="proved", smoke=True)
def best_order() -> Derivation:
    """A square and what is least of the exponent."""
    return argued("the square completed")


@check("cks.prop12.constant", expects="proved", assumes=("steinke.prop14",), smoke=True)
def conversion_constant() -> Derivation:
    """Both papers print the constant in their own way."""
    return argued("one constant, written twice")


@check("cks.fact.normaliser", expects="proved", assumes=(POISSON, NORMAL), smoke=True)
def normalising_sum() -> Derivation:
    """Above by the integral and the term at 0, below by one term of either sum."""
    return argued("the terms fall on either side of 0; all terms of both sums are positive")


@check("cks.cor9.variance", expects="proved", assumes=("cks.lem22.subgaussian",), smoke=True)
def variance_above() -> Derivation:
    """Of two functions that touch, the larger one has the larger second derivative."""
    return argued("second derivatives at t = 0 of both sides of Lemma 22")


@check("cks.prop21.variance_below", expects="proved", assumes=(CAUCHY_SCHWARZ,), smoke=True)
def variance_below() -> Derivation:
    """Shifting by 1 moves the mean by 1 and costs ``exp(1/s^2) - 1`` of chi-squared divergence."""
    return argued("1 = (E[X (p(X-1)/p(X) - 1)])^2 <= Var X (exp(1/s^2) - 1)")


@check("cks.lem22.subgaussian", expects="proved", assumes=("cks.lem6",), smoke=True)
def moment_generating_function() -> Derivation:
    """Complete the square."""
    return argued("the square completed, and Lemma 6 for the sum that is left")


@check("cks.tail.chernoff", expects="proved", assumes=("cks.lem22.subgaussian", MARKOV), smoke=True)
def chernoff_tail() -> Derivation:
    """The best ``t`` is ``m/s^2``."""
    return argued("the exponent at t = m/s^2, where the square is 0")


@check("cks.prop25.tail", expects="proved", assumes=("cks.fact.normaliser",), smoke=True)
def tail_beside_the_continuous_one() -> Derivation:
    """The terms from ``m`` on are below the integral from ``m - 1`` on."""
    return argued("exp(-x^2/(2 s^2)) falls for x >= 0")
