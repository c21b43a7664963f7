"""Optimal composition of mechanisms that differ, and what it is composed of."""

from __future__ import annotations

import sympy

from proofs_checks.prover.goals import step
from proofs_checks.prover.intervals import prove
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued


@check("mv.thm1.5", expects="proved", assumes=("kov.thm3.5",), smoke=True)
def failures() -> Derivation:
    """What fails to be private adds up as independent events do."""
    return argued("the divergence counts where nothing has failed")


@check("mv.thm1.5.term", expects="proved", smoke=True)
def terms_of_sets() -> Derivation:
    """The law of the answers."""
    return argued("the probabilities of all sets of lies")


@check("mv.thm1.5.two", "mv.best.single", expects="proved", assumes=("mv.thm1.5",), smoke=True)
def a_weaker_companion() -> Derivation:
    """Gains of one answer of the first mechanism stay together."""
    return argued(
        "the gains that count add up to that of the first mechanism",
        step(
            "(E - G)/((1 + E)*2) + (E - G)/((1 + E)*2) = (E - G)/(1 + E)",
            {"E": "real > 0", "G": "real > 0"},
        ),
    )


@check("mv.zero", expects="proved", assumes=("mv.thm1.5",), smoke=True)
def twice_at_zero() -> Derivation:
    """Sets of equal size have no gain at 0."""
    return argued("the gain of both answers alone")


@check("mv.homogeneous", expects="proved", assumes=("mv.thm1.5",), smoke=True)
def equal_parameters() -> Derivation:
    """Sets of one size share a term."""
    return argued("three mechanisms: the set of all, and the three of two")


@check("mv.basic", expects="proved", smoke=True)
def basic_composition() -> Derivation:
    """The chance that one of them fails."""
    return argued(
        "the product of both is not negative",
        step("a + b - a*b <= a + b", {"a": "real in [0, 1]", "b": "real in [0, 1]"}),
    )


@check("mv.monotone.eps", expects="proved", smoke=True)
def rises_with_eps() -> Derivation:
    """The slope is positive."""
    return argued(
        "the slope in exp(eps) is positive",
        step("D((E - G)/(1 + E), E) = (1 + G)/(1 + E)^2", {"E": "real > 0", "G": "real > 0"}),
    )


@check("mv.count", expects="proved", smoke=True)
def dynamic_programme() -> Derivation:
    """Sets without the next item, and with it."""
    return argued("the generating function of totals gains a factor an item")


@check("mv.round.down", expects="proved", smoke=True)
def rounded_losses() -> Derivation:
    """Each of k losses is moved by less than a mesh."""
    return argued("k remainders of at most a mesh each")


@check("mv.mean", "mv.variance", expects="proved", smoke=True)
def moments_of_a_response() -> Derivation:
    """Two losses, of probabilities in the ratio exp(eps)."""
    return argued(
        "mean and variance of two values",
        step(
            "eps*(exp(eps)/(1 + exp(eps))) - eps*(1/(1 + exp(eps))) = eps*tanh(eps/2)",
            {"eps": "real"},
        ),
        step("eps^2 - (eps*tanh(eps/2))^2 = eps^2/cosh(eps/2)^2", {"eps": "real"}),
    )


@check("mv.advanced", expects="proved", assumes=("mv.mean",), smoke=True)
def mean_of_the_advanced_theorem() -> Derivation:
    """``tanh x <= x`` for ``x >= 0``."""
    x = sympy.Symbol("x")
    return argued(
        "e/2 - tanh(e/2) is not negative",
        prove(x - sympy.tanh(x), ">=", {x: (0, "oo")}, touch=[(x, 0, 3)]),
    )
