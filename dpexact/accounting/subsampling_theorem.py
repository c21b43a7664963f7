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

from dpexact import balls, reals
from dpexact.accounting.classic.guarantees import sampling_of
from dpexact.accounting.queries import epsilon as exact_epsilon
from dpexact.enclosure import Bound, Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import FixedSize, Mechanism, Poisson
from dpexact.reals import Real

METHOD: Final = "subsampling theorem with basic composition"
_ONE: Final = reals.rational(1)


def subsampling_theorem(mechanism: Mechanism, delta: Real, digits: int) -> Enclosure:
    """The epsilon of the theorem at ``delta``, all of it shared equally by the steps.

    Raises:
        UnsupportedMechanism: no step is a sample, samples for different neighbours stand together,
            or a step inside has no certified epsilon.
        PrecisionNotReached: the digits were not reached for a step.
    """
    steps = mechanism.steps()
    if sampling_of(mechanism) is None:
        raise UnsupportedMechanism("no part is a sample")
    share = reals.divide(delta, reals.rational(sum(steps.values())))
    low: Bound = Fraction(0)
    high: Bound = Fraction(0)
    for step, count in steps.items():
        found = _step(step, share, digits)
        low, high = low + count * found.lower, high + count * found.upper
    return Enclosure(low, high, METHOD)


def _step(step: Mechanism, share: Real, digits: int) -> Enclosure:
    match step:
        case Poisson(inner, q):
            rate = q
        case FixedSize(inner, m, n):
            rate = reals.rational(Fraction(m, n))
        case _:
            return exact_epsilon(step, share, digits)
    if balls.compare(share, rate, "delta") >= 0:  # also q = 0
        return Enclosure.exact(Fraction(0))
    found = exact_epsilon(inner, reals.divide(share, rate), digits + 2)
    ends = (_amplified(end, rate, digits) for end in (found.lower, found.upper))
    low, high = ends
    return Enclosure(low.lower, high.upper)


def _amplified(eps: Bound, q: Real, digits: int) -> Enclosure:
    """``log(1 + q (e^eps - 1))``, which increases with ``eps``."""
    if not isinstance(eps, Fraction):
        return Enclosure.exact(math.inf)
    if eps == 0 or q.fraction == 1:
        return Enclosure.exact(eps)
    return balls.certify(
        lambda: (balls.ball(q) * balls.ball(eps).expm1()).log1p(), digits + 2, lowest=Fraction(0)
    )
