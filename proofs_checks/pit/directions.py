"""Adding, removing and replacing a record of a sample: which is the worse, and by how much."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

import dpexact
from dpexact.arguments import Direction
from dpexact.enclosure import Enclosure
from proofs_checks.prover.enumeration import every
from proofs_checks.prover.goals import step
from proofs_checks.prover.numbers import certain
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued, argued_on

_DELTA: Final = "dpexact.accounting.queries.delta"
_EPSILON: Final = "dpexact.accounting.queries.epsilon"
_RUN: Final = "poisson(gaussian(1), 1/100)^1000"
_FLIPPED: Final = "poisson(laplace(1), 1/2)^2"


def _delta(mechanism: str, epsilon: Fraction, way: Direction) -> Enclosure:
    return dpexact.delta(mechanism, epsilon, digits=8, direction=way)


@check("pit.remove.one", "pit.add.one", expects="proved", smoke=True)
def one_step() -> Derivation:
    """Positive parts of proportional functions are proportional."""
    return argued(
        "outcome by outcome, a positive factor before the divergence without sampling",
        step(
            "(1 - q)*y + q*x - E*y = q*(x - (1 + (E - 1)/q)*y)",
            {"q": "real in (0, 1]", "E": "real", "x": "real", "y": "real"},
        ),
        step(
            "y - ((1 - K)/(1 - q))*((1 - q)*y + q*x) = K*(y - ((1 - K)/(1 - q)*q/K)*x)",
            {"q": "real in (0, 1)", "K": "real > 0", "x": "real", "y": "real"},
        ),
    )


@check("pit.add.bounded", expects="proved", smoke=True)
def adding_has_bounded_losses() -> Derivation:
    """The sample without the record remains."""
    return argued(
        "the ratio of y to the mixture is at most 1/(1 - q)",
        step(
            "(1 - q)*y + q*x >= (1 - q)*y",
            {"q": "real in (0, 1)", "x": "real >= 0", "y": "real > 0"},
        ),
    )


@check("pit.negative", expects="proved", assumes=("pld.zdw.reverse",), smoke=True)
def negative_levels() -> Derivation:
    """An affine function of the other direction's delta."""
    return argued(
        "a positive factor stands before the difference",
        step(
            "(1 - (1 - a)/E) - (1 - (1 - b)/E) = (a - b)/E",
            {"E": "real > 0", "a": "real", "b": "real"},
        ),
    )


@check("pit.one.remove", expects="proved", assumes=("pit.remove.one", "pit.add.one"), smoke=True)
def removing_is_worse_once() -> Derivation:
    """Adding has the smaller factor before the same divergence at a higher level.

    With ``K = 1 - E (1 - q)``: removing is ``q H(1 + (E - 1)/q)``, adding ``K H(1 + (E - 1)/K)``,
    and ``K <= q``; where K is not positive, adding is 0.
    """
    one = {"q": "real in (0, 1)", "E": "real >= 1"}
    return argued(
        "K <= q, and the divergence falls with its level",
        step("1 - E*(1 - q) <= q", one),
        step("E*q/(1 - E*(1 - q)) - 1 = (E - 1)/(1 - E*(1 - q))", one, "1 - E*(1 - q) > 0"),
        step("(E - 1)*q - (E - 1)*K = (E - 1)*(q - K)", {**one, "K": "real"}),
        step("x*(q - K) >= 0", {"x": "real >= 0", "q": "real", "K": "real"}, "q - K >= 0"),
    )


@check(
    "pit.composed.flip",
    "pit.accountant.remove",
    expects="proved",
    about=(_DELTA,),
    smoke=True,
)
def directions_cross(mechanism: str = _FLIPPED) -> Derivation:
    """A run where adding is worse at 1/4 and removing at 1."""
    low, high = Fraction(1, 4), Fraction(1)
    return argued(
        "adding is worse at eps = 1/4, removing at eps = 1",
        certain(
            _delta(mechanism, low, "remove"), "<", _delta(mechanism, low, "add"), "delta at 1/4"
        ),
        certain(_delta(mechanism, high, "remove"), ">", _delta(mechanism, high, "add"), "at 1"),
    )


@check("pit.composed.common", expects="certified", about=(_DELTA,), smoke=True)
def removing_stays_worse() -> Derivation:
    """At four levels of one run."""

    def worse(epsilon: Fraction) -> bool:
        removed, added = (_delta(_RUN, epsilon, way) for way in ("remove", "add"))
        return certain(removed, ">", added, "removing is worse").kind == "computation"

    levels = [{"epsilon": Fraction(k, 2)} for k in range(1, 5)]
    return argued_on("eps in {1/2, 1, 3/2, 2}", every("removing is worse", levels, worse))


@check("pit.replace.pair", "pit.replace.zero", expects="proved", smoke=True)
def replacing() -> Derivation:
    """What the samples without the record have in common cancels."""
    return argued(
        "the common part of both mixtures cancels",
        step(
            "q*(x - y) = ((0 + q*x) - (0 + q*y))", {"q": "real in [0, 1]", "x": "real", "y": "real"}
        ),
    )


@check(
    "pit.replace.more", "pit.replace.below_group", expects="proved", about=(_EPSILON,), smoke=True
)
def replacing_beside_others(factor: Fraction = Fraction(3, 2)) -> Derivation:
    """Three epsilons of one run."""
    one, two, three = (
        dpexact.epsilon(text, "1e-5", digits=6)
        for text in (_RUN, f"replace({_RUN})", f"group({_RUN}, 2)")
    )
    return argued(
        "replacing lies between one record and two",
        certain(one, "<", Fraction("1.83"), "epsilon of one record"),
        certain(two, ">", factor * Fraction("1.83"), "epsilon of replacing"),
        certain(two, "<", three, "epsilon of replacing and of two records"),
    )


@check("pit.without.below", expects="proved", about=(_EPSILON,), smoke=True)
def without_replacement() -> Derivation:
    """The certified lower end is that of Poisson samples.

    With ``(n-1)! = f``, ``(m-1)! = g``, ``(n-m)! = h``: the share of samples with the record.
    """
    return argued(
        "more than 1.8 for 10 of 1000 in 1000 steps",
        step(
            "n*f/(g*h) = m*(n*f/(m*g*h))",
            dict.fromkeys("fghmn", "real > 0"),
        ),
        certain(dpexact.epsilon(_RUN, "1e-5", digits=6), ">", Fraction("1.8"), "Poisson samples"),
    )


@check("pit.without.ordered", expects="proved", assumes=("gdp.thm9",), smoke=True)
def samples_in_the_order_of_the_data() -> Derivation:
    """The ratio and what amplification would allow."""
    return argued("the ratio exceeds what the amplified guarantee allows")


@check("pit.self.total", expects="proved", smoke=True)
def both_agree_at_zero() -> Derivation:
    """Total variation is symmetric."""
    return argued(
        "opposite differences of two laws",
        step(
            "((1 - q)*y + q*x) - y = -(y - ((1 - q)*y + q*x))",
            {"q": "real in [0, 1]", "x": "real", "y": "real"},
        ),
    )
