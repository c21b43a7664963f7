r"""What every record takes part in: divergences from the moments of the pairs.

With the moments ``M(s) = E_P[e^{sZ}]`` of the composition, products of those of the pairs,
``D_order = log M(order - 1) / (order - 1)``, ``D_1`` is the mean of the loss and ``D_inf`` the
largest loss. The composition faces the direction that is asked.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Final, TypeAlias

from flint import arb

from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs.pair import Pair, total_loss
from dpexact.enclosure import Enclosure
from dpexact.reals import ONE, Real

_ZERO: Final = Fraction(0)


def divergence(composed: Composition, order: Order, digits: int) -> Enclosure:
    """The divergence of what is not sampled; with zCDP, the largest that it allows."""
    if composed.infinite(add=True).fraction != 0:
        return INFINITE
    if order is None:
        return largest_loss(composed, digits)
    rho, others = straight(composed, order)
    total = value(order * rho + composed.xi, digits).labelled("closed form: Gaussian")
    if not others:
        return total
    excess = order - 1
    rest = balls.certify(
        lambda: quotient(others, excess),
        digits,
        lowest=_ZERO,
        method="closed form: moments of the pair",
    )
    return plus(total, rest)


def straight(composed: Composition, order: Real) -> tuple[Real, list[tuple[Pair, int]]]:
    """The ``rho`` of all whose divergence is ``order rho``, and the other pairs of finite loss."""
    rho, others = composed.rho + composed.mu_squared / 2, []
    for pair, count in replace(composed, noises=[], masses=[]).pairs():
        own = pair.rho(order)
        if own is None:
            others.append((pair, count))
        else:
            rho += count * own
    return rho, others


def quotient(pairs: list[tuple[Pair, int]], s: Real) -> arb:
    """``log M(s) / s`` of a composition; at 0 the mean of the loss. Not finite if too dear."""
    total, accuracy = arb(0), balls.current() * math.log(2)
    try:
        for pair, count in pairs:
            total += count * (pair.moment(s, accuracy).log() if s.fraction != 0 else pair.mean())
    except (ArithmeticError, ValueError):  # beyond floats, which propose, or too dear
        return arb("nan")
    return total if s.fraction == 0 else total / balls.ball(s)


def largest_loss(composed: Composition, digits: int, q: Real = ONE, add: bool = False) -> Enclosure:
    """``D_inf`` at the sampling rate ``0 < q <= 1``, by the largest loss ``l``.

    Removing it is ``log(1 - q + q e^l)``, adding ``-log(1 - q + q e^-l)``, finite also where ``l``
    is not.
    """
    label, largest = "closed form: largest loss", composed.largest
    endless = composed.infinite(add=True).fraction != 0 or total_loss(composed.apart) is None
    if endless or largest is None:
        if q.fraction == 1 or not add:
            return INFINITE
        return balls.certify(lambda: -(-balls.ball(q)).log1p(), digits, lowest=_ZERO, method=label)
    if q.fraction == 1 and not composed.apart:
        return value(largest, digits).labelled(label)

    def compute() -> arb:
        apart = total_loss(composed.apart)
        assert apart is not None
        loss = balls.ball(largest) + apart
        if q.fraction == 1:
            return loss
        gain = (balls.ball(q) * (-loss if add else loss).expm1()).log1p()
        return -gain if add else gain

    return balls.certify(compute, digits, lowest=_ZERO, method=label)


Order: TypeAlias = Real | None
"""A Rényi order ``>= 1``; ``None`` is infinity."""

INFINITE: Final = Enclosure.exact(math.inf, "closed form: infinite")


def value(x: Real, digits: int) -> Enclosure:
    """The real number ``x >= 0`` itself, exact when rational."""
    return balls.enclosed(x, digits, Fraction(0))


def plus(total: Enclosure, part: Enclosure, count: int = 1) -> Enclosure:
    """``total + count * part``; both are at least 0, so no digit is lost."""
    if not part.upper:
        return total
    if not total.upper and count == 1:
        return part
    label = " + ".join(dict.fromkeys(filter(None, f"{total.method} + {part.method}".split(" + "))))
    lower, upper = total.lower + count * part.lower, total.upper + count * part.upper
    return Enclosure(lower, upper, label, total.reason or part.reason)


def lost_bits(q: Real, *others: Real) -> int:
    """About how many bits the smallness of ``q`` and the size of what else enters take."""
    # proposes: a first precision; certify raises it where it is too low
    log = balls.approximate_log
    size = sum((2 * abs(log(x)) for x in others if x.fraction != 0), -log(q))
    return math.ceil(min(size / math.log(2), balls.CAP_EXTRA)) + 8
