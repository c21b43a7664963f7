"""The exact samplers (Section 5), and discrete Laplace noise (Section 3.2)."""

from __future__ import annotations

from typing import Final

import sympy

from proofs_checks.prover.intervals import prove
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued

EXPONENTIAL_SERIES: Final = "the exponential series"


@check("cks.alg1.step", expects="proved", smoke=True)
def another_draw() -> Derivation:
    """By induction on the draws."""
    return argued("a factor g/k a draw")


@check("cks.alg1", expects="proved", assumes=("cks.alg1.step", EXPONENTIAL_SERIES), smoke=True)
def bernoulli_of_an_exponential() -> Derivation:
    """The chances of stopping at odd draws add up to ``sum (-g)^j/j!``."""
    return argued("stopping at draw k has the terms k - 1 and k of the series, one subtracted")


@check("cks.alg1.runs", expects="proved", assumes=("cks.alg1.step", EXPONENTIAL_SERIES), smoke=True)
def number_of_draws() -> Derivation:
    """The mean is the sum of the chances of another draw."""
    return argued("the sum of g^k/k! is exp(g), which rises")


@check("cks.alg2", expects="proved", assumes=("cks.alg1",), smoke=True)
def discrete_laplace_sampler() -> Derivation:
    """Weights multiply; one of the two zeros is rejected."""
    return argued("the weight of u + t v, and what s neighbours of it add up to")


@check("cks.alg3", expects="proved", assumes=("cks.alg2",), smoke=True)
def discrete_gaussian_sampler() -> Derivation:
    """What is proposed times what is accepted is the weight, up to a constant."""
    return argued("the product of both weights")


@check("cks.laplace.geometric", expects="proved", smoke=True)
def second_geometric_sum() -> Derivation:
    """The terms are differences of a sequence that tends to 0."""
    return argued("telescoping from n = 0, where the sequence is r (1 + r)/(1 - r)^3")


@check("cks.laplace.variance", expects="proved", assumes=("cks.laplace.geometric",), smoke=True)
def discrete_laplace_variance() -> Derivation:
    """Twice the sum over the positive integers, times the mass of 0."""
    return argued("the mass (1 - r)/(1 + r) of 0 times the sum over both sides")


@check("cks.laplace.smaller", expects="proved", assumes=("cks.laplace.variance",), smoke=True)
def less_variance_than_the_continuous() -> Derivation:
    """``sinh x >= x`` for ``x >= 0``."""
    return argued("2 exp(x)/(exp(x) - 1)^2 = 2/(2 sinh(x/2))^2 <= 2/x^2")


@check("cks.acceptance", expects="proved", assumes=("cks.alg3", "cks.fact.normaliser"), smoke=True)
def accepted_proposals(share: str = "24/25") -> Derivation:
    """The chance is ``tanh(1/(2t)) exp(-s^2/(2t^2))`` times the normalising sum."""
    x = sympy.Symbol("x")
    return argued(
        "2/5 at least are accepted: for t = 1 by 1 and by sqrt(2 pi) s below the sum, for t >= 2 "
        "by the latter, where s/t is at least 1/2",
        prove(
            sympy.tanh(x) - sympy.Rational(share) * x,
            ">=",
            {x: (0, sympy.Rational(1, 4))},
            touch=[(x, 0, 1)],
        ),
    )
