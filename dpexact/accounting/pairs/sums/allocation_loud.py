"""Moments of an allocation of little noise: the step with the record outweighs all others.

Under ``P`` the likelihood ratio is ``S = (Y' + W)/t`` with ``Y' = e^{aX + a^2/2}`` and the sum
``W`` of ``t - 1`` independent ``Y = e^{aX - a^2/2}``, where ``W/Y'`` is small. Proofs are in
``docs/theory/allocation.md``; the numbers in brackets refer to its propositions.
"""

from __future__ import annotations

import math
from typing import Final

from flint import acb, arb

from dpexact.accounting.pairs.pair import Jet

#: Steps of less noise than one over this are planned for by it.
LEAST_RATE: Final = 4.0
#: And than one over this by nothing else, of records added by a bound.
LOUDEST: Final = 8.0
#: Moments of records added are asked for to this power of ``1/e`` where a bound serves.
COARSE: Final = 12.0
#: How many times the work of a transform is what it is for more noise.
DEAR: Final = 10_000.0


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def beside(c: arb, size: arb, square: arb, others: int) -> arb:
    """``E |(1 + R)^s - 1| e^{c (aX + a^2/2)}`` over ``e^{square c (c + 1)/2}`` [12].

    ``R = W/Y'``, ``c = Re s > 0`` and ``|s| <= size``; ``square`` is ``a^2``. The second form holds
    for smaller ``c`` too.
    """
    if c <= 1:
        theta = (1 + c) / 2
        power = (theta * (size.max(arb(3)) / 3).log()).exp()
        return 3 * power * others * (-square * theta * theta).exp()
    grown = (c - 2).max(arb(0)) * arb(2).log()
    many = others + (c * arb(others).log()).exp()
    return size * (grown - square * c).exp() * many


def partial(w: arb, square: arb, t: int) -> arb:
    """A bound on ``E S^w``, ``0 <= w <= 1`` [13]."""
    return ((1 - w) * arb(t).log() - square * w * (1 - w) / 2).exp().min(arb(1))


def added(b: arb, square: arb, t: int) -> arb:
    """A bound on ``E S^-b``, ``b >= -1``: of negative ``b`` it is 1 [13, 14]."""
    b = b.max(arb(0))
    return (square * b * (1 + b / t) / 2).exp()


def alone(s: acb, square: arb, t: int) -> acb:
    """``E (Y'/t)^s``."""
    return (square * s * (s + 1) / 2 - s * arb(t).log()).exp()


# --- moments --------------------------------------------------------------------------------------


def moment(c: arb, square: arb, t: int) -> arb:
    """``E_P S^c`` for ``c > -1``, between two bounds; of ``c <= 0`` one is 0."""
    if not c > 0:
        return arb(0).union(partial(1 + c, square, t)) if c <= 0 else arb("nan")
    least = alone(acb(c), square, t).real
    return least.union(least * (1 + beside(c, c, square, t - 1)))


def on_line(c: arb, step: arb, count: int, square: arb, t: int) -> list[acb]:
    """``E_P S^{c + i n step}``, ``n = 0 .. count``, for ``c > 0``."""
    whole, found = alone(acb(c), square, t).real, []
    # proposes: how many; each is enclosed
    for n in range(count + 1):
        s = acb(c, n * step)
        error = arb(0, (whole * beside(c, abs(s), square, t - 1)).upper())
        found.append(alone(s, square, t) + acb(error, error))
    return found


# --- proposals ------------------------------------------------------------------------------------


def reached(a: float, t: int, c: float, height: float) -> float:
    """Proposes: about the accuracy, as a power of ``1/e``, of the moments on a line."""
    if not c > 0:
        return -math.inf
    theta = (1 + c) / 2 if c <= 1 else math.sqrt(c)
    return a * a * theta * theta - math.log(3 * t) - math.log1p(math.hypot(c, height) / 3)


def cumulant(a: float, t: int, c: float) -> Jet:
    """About ``log E_P S^c`` and two derivatives."""
    log, square = math.log(t), a * a
    # proposes: which picture
    if c > 0:
        return Jet(square * c * (c + 1) / 2 - c * log, square * (c + 0.5) - log, square)
    value = -c * log + square * c * (1 + c) / 2
    return Jet(min(value, 0.0), square * (c + 0.5) - log, square)


def cumulant_added(a: float, t: int, c: float) -> Jet:
    """About the bound on ``log E S^-c`` and two derivatives."""
    square = a * a / 2
    return Jet(square * c * (1 + c / t), square * (1 + 2 * c / t), 2 * square / t)
