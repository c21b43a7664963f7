"""Epsilon at many targets: where few values say that they are met, one value more decides each.

Between the least and the largest target values are asked for on a scale on which ``log delta``
hardly bends (:mod:`~dpexact.accounting.chords`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.chords import Known, chebyshev, located, pieces
from dpexact.accounting.profile import Profile
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.reals import ZERO, Real

Values = Callable[[Sequence[arb], int, Real], list[arb]]
"""Delta at some exact places, to some digits, hardly below a target; not finite where unknown."""

#: Fewer targets than this are answered one by one.
_FEW: Final = 24
#: Digits more of the ends where there is a largest loss, which they may be next to.
_ENDS: Final = 12
#: Digits of the values between which others lie, and of others, beyond those that decide.
_SPARE: Final = 6
_MOST_DIGITS: Final = 300
_LOG_BITS: Final = 128
_GUARD_BITS: Final = 16


def shared_epsilons(
    profile: Profile, values: Values, deltas: Sequence[Real], digits: int
) -> list[Enclosure]:
    """Epsilon at each of many targets, of a profile that is convex in ``e^epsilon``.

    Proposes: who is asked together, and with how many digits.
    """
    logs = {at: log for at in deltas if (log := _log_share(profile, at)) is not None}
    found: dict[Real, Enclosure] = {}
    if len(logs) >= max(_FEW, profile.fewest_shared):
        order = sorted(logs, key=logs.__getitem__)
        top = profile.largest_loss(2 * digits + _ENDS).upper
        finer = digits + (_ENDS if top < math.inf else 0)
        found = {at: profile.epsilon(at, finer) for at in (order[0], order[-1])}
        least = found[order[-1]]
        # proposes: whether one value at 0 may answer others too
        if least.upper == 0:
            at_zero = profile.delta(ZERO, digits)
            found |= {at: least for at in order if balls.at_most(at_zero, at)}
        order = [at for at in order if at not in found or found[at].upper > 0]
        if len(order) > 1 and found[order[0]].upper < math.inf and found[order[0]].lower > 0:
            ends = found | {order[-1]: least}
            found |= _between(profile, values, order, ends, digits, top)
    return [found[at] if at in found else profile.epsilon(at, digits) for at in deltas]


def _log_share(profile: Profile, delta: Real) -> float | None:
    """About the logarithm of what is left to finite losses; None where nothing clearly is.

    Proposes: whom to ask together.
    """
    with balls.precision(_LOG_BITS):
        left = balls.ball(delta) - profile.infinite.ball()
        clear = 0 < left < 1 and left.rel_accuracy_bits() > 32
        return float(left.log().mid()) if clear else None


def _between(
    profile: Profile,
    values: Values,
    order: Sequence[Real],
    ends: dict[Real, Enclosure],
    digits: int,
    top: Bound,
) -> dict[Real, Enclosure]:
    """Epsilon at those targets, sorted, for which values between the ends decide.

    Proposes: likewise.
    """
    first, high = Fraction(ends[order[-1]].lower), ends[order[0]]
    last = Fraction(high.upper if high.upper < top else high.lower)
    with balls.precision(balls.bits_for(digits + _SPARE) + _GUARD_BITS):
        places = _places(first, last, top, pieces(len(order), digits))
        if not all(x.is_finite() for x in places):  # too close to the largest loss
            return {}
        known = [*zip(places, values(places, digits + _SPARE, order[0]), strict=True)]
        most = digits + _SPARE - math.floor(min(0.0, math.log10(_steepness(known))))
        targets = [balls.ball(at) for at in order]
        found = located(
            lambda at: values(at, min(most, _MOST_DIGITS), order[0]),
            known,
            targets,
            digits,
            profile.method,
        )
    return {at: answer for at, (answer, _) in zip(order, found, strict=True) if answer}


def _places(low: Fraction, high: Fraction, top: Bound, parts: int) -> list[arb]:
    """Between both: as close to each other as ``top`` is."""
    first, last = balls.ball(low).mid(), balls.ball(high).mid()
    if top == math.inf or not high < top:
        return chebyshev(first, last, parts)
    end = balls.ball(top)
    start, stop = (-(end - x).log().mid() for x in (first, last))
    return [first, *((end - (-x).exp()).mid() for x in chebyshev(start, stop, parts)[1:-1]), last]


def _steepness(known: Sequence[Known]) -> float:
    """By how much ``log delta`` changes with ``log epsilon``, where that is least.

    Proposes: digits.
    """
    logs = [(x, v.mid().log()) for x, v in known if x > 0 and v > 0]
    pairs = pairwise(logs)
    falls = [float((x * (log - other) / (y - x)).mid()) for (x, log), (y, other) in pairs]
    return max(min(falls, default=1.0), 10.0**-_MOST_DIGITS)
