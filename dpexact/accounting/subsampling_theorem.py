r"""The subsampling theorem for ``(eps, delta)``-DP, step by step, with basic composition.

If a step is ``(eps, d/q)``-DP, its sample is ``(log(1 + q (e^eps - 1)), d)``-DP: for Poisson
samples of rate ``q`` and add/remove neighbours, and for samples of ``m`` of ``n`` records,
``q = m/n``, and replacement neighbours (Balle, Barthe, Gaboardi 2018, Theorems 8 and 9). Each of
``k`` steps is given the share ``d = delta/k``, and its ``eps`` is the exact one at that share.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.queries import epsilon_answer
from dpexact.accounting.standing import from_above, sampling_of
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import FixedSize, Mechanism, Poisson
from dpexact.reals import Real
from dpexact.ternary import Order

METHOD: Final = "subsampling theorem with basic composition"
_ZERO: Final = Fraction(0)


def subsampling_theorem(mechanism: Mechanism, delta: Real, digits: int) -> Enclosure:
    """The epsilon of the theorem at ``delta``, all of it shared equally by the steps.

    Raises:
        UnsupportedMechanism: no step is a sample, samples for different neighbours stand together,
            or a step inside has no certified epsilon, or one from below.
    """
    steps = mechanism.steps()
    if sampling_of(mechanism) is None:
        raise UnsupportedMechanism("no part is a sample")
    from_above(mechanism)
    share = delta / sum(steps.values())
    total = Enclosure.exact(_ZERO, METHOD)
    for step, count in steps.items():
        found = _step(step, share, digits).within(_ZERO, math.inf)
        low, high = total.lower + count * found.lower, total.upper + count * found.upper
        total = Enclosure(low, high, METHOD, total.reason or found.reason)
    return total


def _step(step: Mechanism, share: Real, digits: int) -> Enclosure:
    if not isinstance(step, Poisson | FixedSize):
        return epsilon_answer(step, share, digits)
    inner, rate = step.mechanism, step.q
    match balls.order(share, rate):
        case Order.ABOVE | Order.EQUAL:  # also q = 0
            return Enclosure.exact(_ZERO)
        case Order.BELOW:
            found = epsilon_answer(inner, share / rate, digits + 2)
            return _amplified(found.within(_ZERO, math.inf), rate, digits)
    # share/rate is next to 1: at what is certainly below it, epsilon is no smaller
    below = balls.certify(lambda: balls.ball(share) / balls.ball(rate), digits, lowest=_ZERO).lower
    found = epsilon_answer(inner, reals.rational(min(Fraction(below), Fraction(1))), digits)
    high = _amplified(found.within(_ZERO, math.inf), rate, digits).upper
    reason = "delta over the rate cannot be told apart from 1" if high > 0 else ""
    return Enclosure(_ZERO, high, METHOD, reason)


def _amplified(found: Enclosure, q: Real, digits: int) -> Enclosure:
    """``log(1 + q (e^eps - 1))``, which increases with ``eps >= 0``, over an enclosure of it."""
    if q.fraction == 1:
        return found

    def loss(eps: arb) -> arb:
        return (balls.ball(q) * eps.expm1()).log1p()

    return balls.image(found, loss, digits + 2, lowest=_ZERO)
