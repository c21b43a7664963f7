"""The quantile of the normal tail, enclosed by certified signs."""

from __future__ import annotations

from flint import arb

from dpexact import balls
from dpexact.accounting.approximate.base import normal_tail
from dpexact.accounting.classic.roots import propose_root


def quantile(mass: arb) -> arb:
    """The ``x`` with ``P[N(0, 1) > x] = mass``, for ``0 < mass < 1``."""
    if not (mass > 0 and mass < 1):
        return arb.nan()
    low, high = mass.lower(), mass.upper()
    return _bound(high, -1).union(_bound(low, 1))


def _bound(mass: arb, side: int) -> arb:
    """A point beyond the quantile of an exact ``mass`` on the given side, close to it."""
    reach = (-2 * (mass.min(1 - mass)).log()).sqrt() + 1
    guess = propose_root(lambda x: mass - normal_tail(x), -reach, reach)
    for lost in (8, 16, 32, 64, 128):
        # proposes: a point; on which side it lies is certified
        x = (guess + side * (abs(guess) + 1) * arb(2) ** (lost - balls.current())).mid()
        tail = normal_tail(x)
        if (tail >= mass) if side < 0 else (tail <= mass):
            return x
    return arb.nan()
