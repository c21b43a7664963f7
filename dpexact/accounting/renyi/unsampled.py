r"""What every record takes part in: divergences from the moments of the pairs.

With the moments ``M(s) = E_P[e^{sZ}]`` of the composition, products of those of the pairs,
``D_order = log M(order - 1) / (order - 1)``, ``D_1`` is the mean of the loss and ``D_inf`` the
largest loss. The pairs here are symmetric: both directions agree.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs.pair import Pair
from dpexact.accounting.renyi.values import INFINITE, Order, plus, value
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: Accuracy of moments in closed form, which they exceed.
_EXACT: Final = 0.0
_ONE: Final = reals.rational(1)
_ZERO: Final = Fraction(0)


def divergence(composed: Composition, order: Order, digits: int) -> Enclosure:
    """The divergence of what is not sampled; with zCDP, the largest that it allows."""
    if composed.masses:
        return INFINITE
    if order is None:
        return largest_loss(composed, digits)
    rho, others = straight(composed, order)
    total = value(order * rho, digits).labelled("closed form: Gaussian")
    if not others:
        return total
    excess = order - 1
    rest = balls.certify(
        lambda: _quotient(others, excess),
        digits,
        lowest=_ZERO,
        method="closed form: moments of the pair",
    )
    return plus(total, rest)


def straight(composed: Composition, order: Real) -> tuple[Real, list[tuple[Pair, int]]]:
    """The ``rho`` of all whose divergence is ``order rho``, and the other pairs of finite loss."""
    rho, others = composed.rho + composed.mu_squared / 2, []
    for pair, count in composed.pairs_of_others():
        own = pair.rho(order)
        if own is None:
            others.append((pair, count))
        else:
            rho += count * own
    return rho, others


def _quotient(pairs: list[tuple[Pair, int]], s: Real) -> arb:
    """``log M(s) / s`` of a composition; at 0 the mean of the loss."""
    total = arb(0)
    for pair, count in pairs:
        total += count * (pair.moment(s, _EXACT).log() if s.fraction != 0 else pair.mean())
    return total if s.fraction == 0 else total / balls.ball(s)


def largest_loss(
    composed: Composition, digits: int, q: Real = _ONE, add: bool = False
) -> Enclosure:
    """``D_inf`` at the sampling rate ``0 < q <= 1``, by the largest loss ``l``.

    Removing it is ``log(1 - q + q e^l)``, adding ``-log(1 - q + q e^-l)``, finite also where ``l``
    is not.
    """
    pairs, label = composed.pairs_of_others(), "closed form: largest loss"
    endless = bool(composed.masses or composed.noises) or composed.rho.fraction != 0
    endless = endless or _largest(pairs) is None
    if endless and (q.fraction == 1 or not add):
        return INFINITE
    if q.fraction == 1 and composed.largest is not None:
        return value(composed.largest, digits).labelled(label)

    def compute() -> arb:
        loss = None if endless else _largest(pairs)
        if q.fraction == 1 and loss is not None:
            return loss
        growth = arb(-1) if loss is None else (-loss if add else loss).expm1()
        gain = (balls.ball(q) * growth).log1p()
        return -gain if add else gain

    return balls.certify(compute, digits, lowest=_ZERO, method=label)


def _largest(pairs: list[tuple[Pair, int]]) -> arb | None:
    """The largest finite loss of a composition; None without one."""
    total = arb(0)
    for pair, count in pairs:
        end = pair.largest_loss()
        if end is None:
            return None
        total += count * end
    return total
