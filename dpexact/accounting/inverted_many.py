"""Epsilon at many targets: neighbours tell where to look, and each is bracketed by two values.

Between few targets that were answered one by one, epsilon is interpolated; a value of delta there
and the slope between neighbours give a point next to the root, and delta on both sides of it, asked
for all targets at once, decides (:mod:`~dpexact.accounting.inverted`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from dpexact import balls
from dpexact.accounting.arrays import Floats
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.decimals import Bound, log_of
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, rational

#: Fewer targets than this are answered one by one; of more, so many, between which others lie.
_FEW: Final = 24
_ANCHORS: Final = 16
#: Answers through which a polynomial is laid.
_NEAR: Final = 6
#: Rounds, of which each asks for delta at a point and at both sides of the next.
_ROUNDS: Final = 5
#: Half a bracket, as a share of the width asked for, and digits of delta beyond those that decide.
_HALF: Final = 0.1
#: By how much a slope may be off.
_TRUST: Final = 1e-4
#: Neighbours closer than that are not told apart by floats.
_FLAT: Final = 1e-15
_SPARE: Final = 2
_MOST_DIGITS: Final = 300
_LOG_BITS: Final = 128
#: Floats interpolate below this.
_LARGEST: Final = 1e150
#: No slope is taken for less, and no step for more, whose exponential is a float.
_LEAST: Final = 1e-290
_FARTHEST: Final = 700.0


class _Guess(NamedTuple):
    """About epsilon at a target, the slope of ``log delta`` there, and how far off it may be.

    Slopes and steps are those on a :class:`_Scale`.
    """

    at: Fraction
    slope: float
    doubt: float
    #: The step that led here, and by how much ``log delta`` was above the target's before it.
    step: float = 0.0
    miss: float = 0.0


def shared_epsilons(profile: Profile, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
    """Epsilon at each of many targets.

    Proposes: where both sides are; values of delta, which are enclosed, decide.
    """
    found: dict[Real, Enclosure] = {}
    logs = {at: log for at in deltas if (log := _log_share(profile.infinite, at)) is not None}
    order = sorted(logs, key=logs.__getitem__)
    if len(order) >= _FEW:
        last = len(order) - 1
        anchors = [order[round(last * i / _ANCHORS)] for i in range(_ANCHORS + 1)]
        found |= {at: profile.epsilon(at, digits) for at in dict.fromkeys(anchors)}
        found |= _between(profile, {at: logs[at] for at in order}, found, digits)
    return [found[at] if at in found else profile.epsilon(at, digits) for at in deltas]


def _log_share(infinite: InfiniteLoss, delta: Real) -> float | None:
    """About the logarithm of what is left to finite losses; None where nothing clearly is.

    Proposes: whom to ask together.
    """
    if delta.fraction is None or not 0 < delta.fraction < 1:
        return None
    if not infinite.masses:
        return log_of(delta.fraction)
    with balls.precision(_LOG_BITS):
        left = balls.ball(delta) - infinite.ball()
        return float(left.log().mid()) if left > 0 and left.rel_accuracy_bits() > 32 else None


def _between(
    profile: Profile, logs: dict[Real, float], known: dict[Real, Enclosure], digits: int
) -> dict[Real, Enclosure]:
    """Epsilon at targets between those that are known.

    Proposes: likewise.
    """
    answers = {
        at: found for at, found in known.items() if found.lower > 0 and found.digits >= digits
    }
    answers = {at: found for at, found in answers.items() if found.upper < _LARGEST}
    if len(answers) < _NEAR:
        return {}
    points = sorted(answers, key=logs.__getitem__)
    scale = _Scale(profile.largest_loss(2 * digits).upper)
    points = [at for at in points if scale.holds(Fraction(answers[at].lower))]
    places = np.array([logs[at] for at in points])
    values = np.array([scale.place(Fraction(answers[at].lower)) for at in points])
    asked = {
        at: guess
        for at, log in logs.items()
        if at not in known and places[0] < log < places[-1]
        if (guess := _interpolated(scale, places, values, log)) is not None
    }
    found: dict[Real, Enclosure] = {}
    for round_ in range(_ROUNDS):
        if round_:
            asked = _improved(profile, scale, asked, digits)
        near = {at: guess for at, guess in asked.items() if guess.doubt < _HALF * 10.0**-digits}
        answers = _bracketed(profile, scale, near, digits)
        found |= answers
        asked = {at: guess for at, guess in asked.items() if at not in answers}
    return found


class _Scale:
    """On which ``log delta`` hardly bends: epsilon, or ``-log(top - epsilon)`` below the largest.

    Proposes: where to look.
    """

    def __init__(self, largest: Bound) -> None:
        self.top: Fraction | None = None if largest == math.inf else Fraction(largest)

    def room(self, epsilon: Fraction) -> Fraction:
        """What epsilon moves by for each step on the scale."""
        return Fraction(1) if self.top is None else self.top - epsilon

    def holds(self, epsilon: Fraction) -> bool:
        """Whether it is an epsilon below the largest loss."""
        return epsilon > 0 and self.room(epsilon) > 0

    def place(self, epsilon: Fraction) -> float:
        """Of an epsilon."""
        return float(epsilon) if self.top is None else -log_of(self.top - epsilon)

    def at(self, place: float) -> Fraction:
        """What is there."""
        return Fraction(place) if self.top is None else self.top - Fraction(math.exp(-place))

    def moved(self, epsilon: Fraction, step: float) -> Fraction:
        """So far from an epsilon."""
        share = step if self.top is None else -math.expm1(-step)
        return epsilon + self.room(epsilon) * Fraction(share)


def _interpolated(scale: _Scale, places: Floats, values: Floats, log: float) -> _Guess | None:
    """By a polynomial through neighbours.

    Proposes: where to look.
    """
    place = int(np.searchsorted(places, log))
    low, high = float(values[place]), float(values[place - 1])
    plain = -float(places[place] - places[place - 1]) / max(high - low, abs(low) * _FLAT, _LEAST)
    first = max(0, min(place - _NEAR // 2, len(places) - _NEAR))
    x, y = places[first : first + _NEAR], values[first : first + _NEAR].copy()
    slopes = np.zeros(_NEAR)
    for step in range(1, _NEAR):  # Neville's scheme, with derivatives
        before, after, width = log - x[:-step], log - x[step:], x[step:] - x[:-step]
        slopes = (y[1:] - y[:-1] + before * slopes[1:] - after * slopes[:-1]) / width
        y = (before * y[1:] - after * y[:-1]) / width
    at, slope = scale.at(float(y[0]) if low <= y[0] <= high else low), float(slopes[0])
    if not scale.holds(at):
        return None
    # where epsilon hardly moves between neighbours, as next to the largest loss, that is enough
    doubt = float((scale.at(high) - scale.at(low)) / at)
    return _Guess(at, 1 / slope if slope < 0 else plain, doubt)


def _digits(scale: _Scale, guess: _Guess, digits: int) -> int:
    """Those of delta that decide so many of epsilon.

    Proposes: how precisely to ask.
    """
    steep = max(-guess.slope * float(guess.at / scale.room(guess.at)) * _HALF, _LEAST)
    return max(3, min(_MOST_DIGITS, math.ceil(digits + _SPARE - math.log10(steep))))


def _asked(profile: Profile, points: Sequence[tuple[Fraction, int]]) -> list[Enclosure]:
    """Delta at points, to as many digits as the most that are wanted."""
    if not points:
        return []
    most = max(digits for _, digits in points)
    return profile.deltas([rational(at) for at, _ in points], most)


def _improved(
    profile: Profile, scale: _Scale, asked: dict[Real, _Guess], digits: int
) -> dict[Real, _Guess]:
    """By a secant step on ``log delta``.

    Proposes: where to look.
    """
    points = [(guess.at, _digits(scale, guess, digits)) for guess in asked.values()]
    found: dict[Real, _Guess] = {}
    for (at, guess), value in zip(asked.items(), _asked(profile, points), strict=True):
        share = _log_share(profile.infinite, rational(Fraction(value.lower)))
        if share is None or at.fraction is None:
            continue
        limit = profile.infinite.near(at) if profile.infinite.masses else Fraction(0)
        ratio = (Fraction(value.lower) - limit) / (at.fraction - limit)
        if not ratio > 0:
            continue
        miss = log_of(ratio)
        # by secants, where they fall; the first slope is that between neighbours
        secant = (miss - guess.miss) / guess.step if guess.step else guess.slope
        slope = secant if -math.inf < secant < 0 else guess.slope
        step = -miss / slope
        if not abs(step) < _FARTHEST:
            continue
        # the slope goes on to change as it did on the way here
        turn = 4 * abs((slope / guess.slope - 1) * step / guess.step) if guess.step else math.inf
        doubt = min(_TRUST, turn) * abs(step) * float(scale.room(guess.at) / guess.at)
        following = scale.moved(guess.at, step)
        if following > 0 and scale.holds(short := _short(following, digits)):
            found[at] = _Guess(short, slope, doubt, step, miss)
    return found


def _short(number: Fraction, digits: int) -> Fraction:
    """Proposes: a number near a positive one, of few digits more than are asked for."""
    unit = Fraction(10) ** (math.floor(log_of(number) / math.log(10)) - digits - 3)
    return round(number / unit) * unit


def _bracketed(
    profile: Profile, scale: _Scale, asked: dict[Real, _Guess], digits: int
) -> dict[Real, Enclosure]:
    """Where delta is certainly above the target on the left, and not above it on the right."""
    if not asked:
        return {}
    half = Fraction(1, 5 * 10**digits)
    ends = {at: (guess.at * (1 - half), guess.at * (1 + half)) for at, guess in asked.items()}
    points = [(end, _digits(scale, asked[at], digits)) for at, both in ends.items() for end in both]
    values = iter(_asked(profile, points))
    found: dict[Real, Enclosure] = {}
    for (at, (left, right)), above, below in zip(ends.items(), values, values, strict=True):
        target = at.fraction
        if target is not None and above.lower > target >= below.upper:
            answer = Enclosure.bracket(left, right, profile.method)
            if answer.digits >= digits:
                found[at] = answer
    return found
