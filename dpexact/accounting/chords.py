r"""Epsilon at many targets, by about one value of delta for each.

Values at a few places say by interpolation about where all targets are met. Delta is convex in
:math:`e^\varepsilon`: a value at ``x`` and the slopes of the chords to a place on each side of it,

.. math:: s_l = \frac{\delta(l) - \delta(x)}{1 - e^{l - x}} \ge
          s_r = \frac{\delta(x) - \delta(r)}{e^{r - x} - 1} > 0,

bound the epsilon of a target between ``delta(r)`` and ``delta(l)``: with what ``delta(x)`` exceeds
the target by, ``g``, it lies between :math:`x + \log(1 + g/s_l)` and :math:`x + \log(1 + g/s_r)`
(``docs/theory/inversion.md``, Theorem 3).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from flint import arb, arb_poly

from dpexact import balls
from dpexact.enclosure import Enclosure

Values = Callable[[Sequence[arb]], Sequence[arb]]
"""Delta at exact places, each in a ball, perhaps not finite."""

Known = tuple[arb, arb]
"""An exact place and delta there."""

#: Places that one polynomial is laid through.
NODES: Final = 16
#: Targets for which one more of those is worth it, and digits that it adds.
_EACH: Final = 24
_DIGITS: Final = 3
#: How often values are asked for, and how many neighbours a chord may leap over.
_TURNS: Final = 5
_LEAPS: Final = (1, 2, 4, 8, 16, 32)
#: Bits that the difference of two values must have.
_APART: Final = 5


def pieces(targets: int, digits: int) -> int:
    """Proposes: how many polynomials so many targets are worth, for so many digits."""
    return 1 + min(targets // _EACH, digits // _DIGITS)


def chebyshev(low: arb, high: arb, parts: int) -> list[arb]:
    """Places from ``low`` to ``high``, for so many polynomials whose ends are shared."""
    width = (high - low) / parts
    cosines = [(1 - math.cos(math.pi * k / (NODES - 1))) / 2 for k in range(NODES - 1)]
    inside = [(low + width * (i + c)).mid() for i in range(parts) for c in cosines]
    return [low, *inside[1:], high]


def located(
    values: Values, known: Sequence[Known], targets: Sequence[arb], digits: int, method: str
) -> list[tuple[Enclosure | None, float]]:
    """Epsilon at each target, if it has the digits, and about where it is, or 0.

    Delta, convex in ``e^epsilon``, is ``known`` at the places of :func:`chebyshev`. All at the
    current precision. Proposes: where to ask; what is asked there decides.
    """
    found: list[tuple[Enclosure | None, float]] = [(None, 0.0)] * len(targets)
    every = {x.fmpq(): (x, v) for x, v in known if v.is_finite()}
    guesses = _interpolated(known, targets)
    for _ in range(_TURNS):
        guesses = {i: x for i, x in guesses.items() if x.is_finite()}
        if not guesses:
            break
        asked = zip(guesses, values([*guesses.values()]), strict=True)
        met = {i: (guesses[i].fmpq(), guesses[i], v) for i, v in asked if v.is_finite()}
        every |= {at: (x, v) for at, x, v in met.values()}
        order = {at: place for place, at in enumerate(sorted(every))}
        known, guesses = [every[at] for at in order], {}
        for i, (at, x, v) in met.items():
            place, above = order[at], v - targets[i]
            # proposes: which chords; any two bound the root between them
            left, right = (_chord(known, place, side, targets[i]) for side in (-1, 1))
            if left is None or right is None:
                continue
            root = x + (above / left.slope).union(above / right.slope).log1p()
            answer = balls.to_enclosure(root, method) if root.is_finite() else None
            # proposes: who is asked again
            if answer and answer.digits >= digits:
                found[i] = answer, float(x)
            else:
                # the tangent is about a mean of both chords, for most of the closer one
                slope = left.slope * right.length + right.slope * left.length
                step = above * (left.length + right.length) / slope
                guesses[i] = (x + step.mid().log1p()).mid()
                found[i] = None, float(guesses[i])
    return found


class _Chord(NamedTuple):
    """By how much delta falls for each share by which ``e^epsilon`` grows, and that share."""

    slope: arb
    length: arb


def _chord(known: Sequence[Known], place: int, side: int, target: arb) -> _Chord | None:
    """From a place to one on that side of it, if delta is there on that side of the target.

    Proposes: to which, as chords to all of them bound delta, and those to neighbours best.
    """
    x, value = known[place]
    for leap in _LEAPS:
        other = place + side * leap
        if not 0 <= other < len(known):
            break
        end, beyond = known[other]
        fall = side * (value - beyond)
        if fall > 0 and fall.rel_accuracy_bits() > _APART and side * (target - beyond) > 0:
            length = side * (end - x).expm1()
            return _Chord(fall / length, length)
    return None


def _interpolated(known: Sequence[Known], targets: Sequence[arb]) -> dict[int, arb]:
    """Proposes: about where targets are met, those within the values."""
    places = [x for x, _ in known]
    # proposes: likewise
    logs = [v.mid().log() if v > 0 else arb.nan() for _, v in known]
    falls = [-float(log) for log in logs]
    polynomials: dict[int, arb_poly] = {}
    found = {}
    for i, target in enumerate(targets):
        log = target.mid().log()
        fall = -float(log)
        if not falls[0] <= fall <= falls[-1]:
            continue
        place = max(0, bisect_left(falls, fall) - 1)
        start = min(place // (NODES - 1), len(places) // (NODES - 1) - 1) * (NODES - 1)
        if start not in polynomials:
            end = start + NODES
            polynomials[start] = arb_poly.interpolate(
                logs[start:end], places[start:end], algorithm="newton"
            )
        low, high = places[place], places[place + 1]
        guess = polynomials[start](log).mid()
        # proposes: likewise
        if not low <= guess <= high:
            share = (fall - falls[place]) / (falls[place + 1] - falls[place])
            guess = (low + arb(share) * (high - low)).mid()
        found[i] = guess
    return found
