"""The exact profile of Gaussian noise, its calibration, and what the classical noise is worth."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import sympy

import dpexact
from proofs_checks.kov.gaussian import normal_tail
from proofs_checks.prover.goals import step
from proofs_checks.prover.numbers import certain
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued

AFFINE_NORMAL: Final = "an affine function of a normal variable is normal"
TAIL: Final = "x sqrt(2 pi) Phi(-x) <= exp(-x^2/2) for x >= 0"
NOT_NEGATIVE: Final = "a hockey-stick divergence is not negative"
_DELTA: Final = "dpexact.accounting.queries.delta"


def classical(epsilon: Fraction, delta: Fraction) -> str:
    """``sqrt(2 log(1.25/delta))/eps`` for sensitivity 1, as a mechanism."""
    return f"gaussian(sqrt(2*log({Fraction(5, 4) / delta}))/({epsilon}))"


@check("bw.lem3", expects="proved", assumes=(AFFINE_NORMAL,), smoke=True)
def loss_is_normal() -> Derivation:
    """Mean and variance of the affine function."""
    return argued("the log ratio of the densities, and its mean and variance")


@check("bw.thm5", expects="proved", smoke=True)
def delta_by_tests() -> Derivation:
    """The divergence is the largest gain of a test, attained where the loss exceeds eps."""
    return argued(
        "the supremum over tests is attained at the event L > eps",
        step("x*f <= x", {"x": "real >= 0", "f": "real in [0, 1]"}),
        step("y*f <= 0", {"y": "real <= 0", "f": "real in [0, 1]"}),
    )


@check("bw.thm8.delta", expects="proved", assumes=("bw.lem3", "bw.thm5"), smoke=True)
def exact_delta() -> Derivation:
    """Both probabilities of Theorem 5 are of normal variables."""
    return argued("the loss standardised under either law")


@check("bw.thm8.mean", expects="proved", assumes=("bw.thm8.delta",), smoke=True)
def delta_rises() -> Derivation:
    """The two other terms of the derivative cancel."""
    return argued("the slope is a density, so positive")


@check("bw.thm2", expects="proved", smoke=True)
def total_variation() -> Derivation:
    """``erf`` lies below its tangent at 0, whose slope is less than needed."""
    return argued("the total variation is at most m/2 = delta")


@check("bw.thm2.best", expects="proved", smoke=True)
def a_constant_is_lost() -> Derivation:
    """Slopes at 0."""
    return argued("the slopes at 0 of the total variation and of its bound")


@check(
    "bw.alg1.plus", "bw.alg1.arguments", expects="proved", assumes=("bw.thm8.delta",), smoke=True
)
def reparametrised() -> Derivation:
    """``1/a - a = 2 sqrt(v/2)`` and ``1/a + a = 2 sqrt(1 + v/2)``."""
    return argued("the conjugate of a; the arguments are sqrt(eps v) and -sqrt(eps (v + 2))")


@check("bw.alg1.plus.monotone", "bw.alg1.minus.monotone", expects="proved", smoke=True)
def both_are_monotone() -> Derivation:
    """One density stands beside both terms."""
    return argued("the signs of the slopes: v + 2 > v > 0")


@check("bw.alg1.threshold", expects="proved", smoke=True)
def branches_meet() -> Derivation:
    """At ``v = u = 0``, where ``a = 1``."""
    return argued("both are Phi(0) - exp(eps) Phi(-sqrt(2 eps))")


@check("bw.alg1.limits", expects="proved", assumes=(NOT_NEGATIVE, TAIL), smoke=True)
def every_delta_is_reached() -> Derivation:
    """So that both searches end, by continuity."""
    return argued("limits of the first terms; the second ones tend to 0 with the tail")


@check("bw.sec2.large", expects="proved", assumes=("bw.thm8.mean",), smoke=True)
def least_noise() -> Derivation:
    """With less noise delta would be larger still."""
    return argued("delta is delta_0 at s = D/sqrt(2 eps), and falls in s")


@check("bw.sec2.half", expects="proved", assumes=(TAIL,), smoke=True)
def threshold_tends_to_one_half() -> Derivation:
    """Mills' ratio."""
    return argued(
        "exp(eps) Phi(-sqrt(2 eps)) is at most 1/(sqrt(2 pi) sqrt(2 eps)), which tends to 0"
    )


@check("bw.thm1.classical", expects="proved", smoke=True)
def classical_noise(constant: str = "5/4") -> Derivation:
    """With ``t = s - eps/(2 s)``: delta is at most ``Phi(-t) <= exp(-t^2/2)/2``.

    As ``s^2 >= 2 log(5/2)`` and ``eps < 1``, ``t`` is not negative, and ``t^2 >= s^2 - eps``; so
    delta is at most ``exp(-s^2/2) exp(1/2)/2``, and ``exp(-s^2/2)`` is at most ``delta/constant``.
    """
    return argued(
        "the tail of one normal variable",
        *normal_tail(),
        step("(s - x/(2*s))^2 = s^2 - x + x^2/(4*s^2)", {"s": "real > 0", "x": "real"}),
        certain(2 * sympy.log(sympy.Rational(5, 2)), ">", Fraction(1, 2), "s^2 >= eps/2"),
        certain(sympy.exp(sympy.Rational(1, 2)) / 2, "<", Fraction(constant), "the factor"),
    )


@check("bw.thm1.beyond", expects="proved", about=(_DELTA,), smoke=True)
def classical_noise_fails(epsilon: int = 50) -> Derivation:
    """The exact delta at the noise of the formula."""
    found = dpexact.delta(classical(Fraction(epsilon), Fraction(1, 10**5)), epsilon, digits=6)
    return argued(
        "the formula's noise has a larger delta",
        certain(found, ">", Fraction(1, 10**5), f"the classical noise at eps = {epsilon}"),
    )


@check("bw.fig1.ratio", expects="proved", about=(_DELTA,), smoke=True)
def how_much_is_gained(share: Fraction = Fraction(4, 5)) -> Derivation:
    """A smaller noise that has the delta already."""
    noise = sympy.sqrt(2 * sympy.log(125000))
    found = dpexact.delta(f"gaussian({share}*sqrt(2*log(125000)))", 1, digits=6)
    return argued(
        "4/5 of the classical noise has a delta below 1e-5",
        certain(found, "<", Fraction(1, 10**5), "delta at 4/5 of the classical noise"),
        certain(noise, ">", 4, "the classical noise"),
    )


@check("bw.sec4.bayes", expects="proved", smoke=True)
def linear_denoising() -> Derivation:
    """The square completed."""
    return argued("the mean squared error as a square and what is least of it")
