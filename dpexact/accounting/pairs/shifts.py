"""Laws of the shift of a standard normal law: a mixture ``sum w_j N(rate_j, 1)``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Final, Protocol

from flint import acb, arb

from dpexact.balls import approximate, approximate_log, ball, current, sign
from dpexact.kept import cached_property
from dpexact.reals import ZERO, Real, rational

if TYPE_CHECKING:
    import numpy as np


#: Up to what part of the height at which waves of equal shifts might vanish they are used.
REACHED: Final = 0.99
#: Floats take a larger rate for this one, and a smaller one for its inverse: they only propose.
_LARGE: Final = 1e100
#: They hold exponentials of this.
_REACH: Final = 700.0
#: Likewise the logarithm of a smaller weight than this.
_SMALL: Final = -690.0


class Outline:
    """About the rates and the logarithms of their weights, in floats, in rising order.

    ``step`` is the distance between neighbours, where the law is a log-concave one of equal shifts;
    if it ``is_few`` of them, its strip is that of any.
    """

    def __init__(
        self, rates: tuple[float, ...], logs: tuple[float, ...], step: float | None = None
    ) -> None:
        self.rates, self.logs, self.step = rates, logs, step
        # proposes: whether any shift is planned for
        self.moves: bool = rates != (0.0,)
        self.spread: float = rates[-1] - rates[0]
        # proposes: whether most of the law is no shift
        self.is_still: bool = rates[0] == 0 and logs[0] > -math.log(2)
        #: About the strip of the waves, and up to what height they rise.
        self.strip: float = math.pi / max(rates[-1], 1 / _LARGE)
        self.rising: float = math.pi / (2 * max(self.spread, 1 / _LARGE))
        self._steep = math.sqrt(1 + (0.0 if step is None else step) ** 2 / 2)
        # proposes: which strip; both are proved
        self.is_few: bool = step is None or self.strip > REACHED / self._steep
        if not self.is_few:
            self.strip = self.rising = REACHED / self._steep

    def cosine(self, height: float | np.ndarray) -> Any:
        """About that of the waves."""
        import numpy as np

        if self.is_few:
            return np.cos(self.spread * height / 2)
        return np.sqrt(1 - np.square(height * self._steep))


class Side(Protocol):
    """One law of the shift: what sums of its waves need of it."""

    @property
    def moves(self) -> bool:
        """Whether there is any shift at all."""

    @property
    def outline(self) -> Outline:
        """Proposes: about the same law, where floats do not hold it another."""

    def masses(self) -> list[tuple[arb, arb]]:
        """Rates and weights as balls."""

    def waves(self) -> Wave:
        """The sum of their waves."""


class Wave(Protocol):
    """A sum of waves ``w_j exp(rate_j z - rate_j^2 / 2)``, in balls."""

    #: The weight of no shift, the largest shift, and that less the smallest.
    still: arb
    largest: arb
    spread: arb
    #: The half width of a strip without zeros, in which angles are at least 0 above the axis, and
    #: up to what height they increase with it.
    strip: arb
    rising: arb

    def at(self, x: arb) -> arb:
        """It at a real point."""

    def slope(self, x: arb) -> arb:
        """Its logarithmic derivative there, a mean of the rates that increases with ``x``."""

    def cosine(self, height: arb) -> arb:
        """A lower bound on its modulus up to that height over its value at the real part."""

    def turned(self, height: arb) -> Callable[[arb], acb]:
        """Its logarithm at points of one line above or below the axis, continued from there."""


@dataclass(frozen=True)
class Shifts:
    """Rates ``>= 0``, in standard deviations, all different, each with its weight ``> 0``.

    The weights add up to 1.
    """

    law: tuple[tuple[Real, Real], ...]

    @property
    def moves(self) -> bool:
        """Whether there is any shift at all."""
        return any(rate.fraction != 0 for rate, _ in self.law)

    def masses(self) -> list[tuple[arb, arb]]:
        """Rates and weights as balls."""
        return [(ball(rate), ball(weight)) for rate, weight in self.law]

    def waves(self) -> Waves:
        """The sum of their waves."""
        return Waves(self.masses())

    @cached_property
    def outline(self) -> Outline:
        """Proposes: about the same law, where floats do not hold it another."""
        law = []
        for rate, weight in self.law:
            near = 0.0
            if rate.fraction != 0:
                near = min(max(approximate(rate), 1 / _LARGE), _LARGE)
            law.append((near, max(approximate_log(weight), _SMALL)))
        rates, logs = zip(*sorted(law), strict=True)
        return Outline(rates, logs)


#: No shift.
STILL: Final = Shifts(((ZERO, rational(1)),))


def one(rate: Real, weight: Real) -> Shifts:
    """A shift of ``rate`` with probability ``weight``, else none."""
    if weight.fraction == 0:
        return STILL
    law = () if weight.fraction == 1 else ((rational(0), 1 - weight),)
    return Shifts((*law, (rate, weight)))


class Waves:
    """``W(z) = sum w_j exp(rate_j z - rate_j^2 / 2)``, in balls at the current precision."""

    def __init__(self, masses: Iterable[tuple[arb, arb]]) -> None:
        #: The weight of no shift, and the largest and smallest shift.
        self.still = self.largest = arb(0)
        self.moving: list[tuple[arb, arb]] = []
        for speed, weight in masses:
            if speed == 0:
                self.still = weight
                continue
            self.moving.append((speed, weight * (-speed * speed / 2).exp()))
            self.largest = arb.max(self.largest, speed)
        least = arb(0)
        if self.still == 0:
            least = self.moving[0][0]
            for speed, _ in self.moving[1:]:
                least = arb.min(least, speed)
        self.spread: arb = self.largest - least
        self.strip: arb = quarter(self.largest) * 2
        self.rising: arb = quarter(self.spread)

    def at(self, x: arb) -> arb:
        """``W(x)`` at a real point."""
        total = self.still
        for rate, weight in self.moving:
            total = total + weight * (x * rate).exp()
        return total

    def slope(self, x: arb) -> arb:
        """``W'/W`` at a real point, a mean of the rates that increases with ``x``."""
        above = [(rate, weight * (x * rate).exp()) for rate, weight in self.moving]
        total = sum((wave for _, wave in above), self.still)
        return sum((rate * wave for rate, wave in above), arb(0)) / total

    def cosine(self, height: arb) -> arb:
        """``cos(spread height / 2)``."""
        return (self.spread * height / 2).cos()

    def turned(self, height: arb) -> Callable[[arb], acb]:
        """``x -> log W(x + i height)``: no two terms are half a turn apart."""
        moving = [(rate, weight * acb(0, height * rate).exp()) for rate, weight in self.moving]
        still = acb(self.still)
        if not moving:
            constant = still.log()
            return lambda x: constant

        def logarithm(x: arb) -> acb:
            total = still
            for rate, weight in moving:
                total = total + weight * (x * rate).exp()
            return total.log()

        return logarithm


def quarter(speed: arb) -> arb:
    """Up to what height no wave turns by a right angle: any, where none turns."""
    fastest = speed.abs_upper()
    return arb("inf") if fastest == 0 else arb.pi() / (2 * fastest)


def log_waves(outline: Outline, x: np.ndarray) -> np.ndarray:
    """Proposes: ``log W`` at real points, in floats; next to 0 with all its digits too."""
    import numpy as np

    laws = [
        (rate * x - rate * rate / 2, log)
        for rate, log in zip(outline.rates, outline.logs, strict=True)
    ]
    # proposes: which way; floats reach so far, and rates are positive
    if outline.is_still and all(max(level[0], level[-1]) < _REACH for level, _ in laws):
        found: np.ndarray = np.log1p(sum(math.exp(log) * np.expm1(x) for x, log in laws[1:]))
    else:
        found = reduce(np.logaddexp, [level + log for level, log in laws])
    return found


def log_waves_above(outline: Outline, x: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Proposes: likewise at ``x + i height``, a row a height, continued from the real axis."""
    import numpy as np

    rates, logs = np.array(outline.rates), np.array(outline.logs)[:, None]
    levels, turns = rates[:, None] * x - rates[:, None] ** 2 / 2, np.outer(heights, rates)
    top = (levels + logs).max(axis=0)
    sizes = np.exp(levels + logs - top)
    angles = heights[:, None] * (rates @ sizes / sizes.sum(axis=0))
    if outline.is_still:
        # what is added to 1, of whose logarithm numpy loses digits
        weights = np.exp(logs)
        with np.errstate(over="ignore", invalid="ignore"):
            real = np.cos(turns) @ (weights * np.expm1(levels))
            real -= 2 * np.sin(turns / 2) ** 2 @ weights
            upward = np.sin(turns) @ (weights * np.exp(levels))
            size = np.log1p(real * (2 + real) + upward * upward) / 2
        if np.isfinite(size).all():
            turned = np.arctan2(upward, 1 + real)
            turned += 2 * math.pi * np.round((angles - turned) / (2 * math.pi))
            return np.asarray(size + 1j * turned)
    turned = np.exp(1j * turns) @ sizes * np.exp(-1j * angles)
    return np.asarray(top + 1j * angles + np.log(turned))


def mean_rate(outline: Outline, x: float) -> float:
    """Proposes: ``W'/W`` at a real point, in floats."""
    laws = zip(outline.rates, outline.logs, strict=True)
    exponents = [log + rate * x - rate * rate / 2 for rate, log in laws]
    top = max(exponents)
    weights = [math.exp(e - top) for e in exponents]
    return sum(r * w for r, w in zip(outline.rates, weights, strict=True)) / sum(weights)


def of_sensitivities(sigma: Real, sensitivities: Iterable[tuple[Real, Real]]) -> Shifts:
    """Of noise ``sigma``, with every weight that is not 0; equal sensitivities are one."""
    law: dict[Real, Real] = {}
    for shift, weight in sensitivities:
        if weight.fraction != 0:
            rate = ZERO if sign(shift, "sensitivity") == 0 else shift / sigma
            law[rate] = law.get(rate, ZERO) + weight
    return Shifts(tuple(law.items()))


def thinned(shifts: Shifts, q: Real) -> Shifts:
    """The same with probability ``q``, else none."""
    law = {rate: q * weight for rate, weight in shifts.law}
    law[ZERO] = law.get(ZERO, ZERO) + (1 - q)
    return Shifts(tuple(law.items()))


_NEVER = arb("inf")
_NEWTON = 80


def crossing(
    up: Wave, down: Wave, lowest: arb | None, highest: arb | None, ratio: arb
) -> tuple[arb, arb]:
    """Certified points ``(low, high)`` between which ``A(x) = ratio B(x)``, which increases.

    ``lowest`` and ``highest`` are the infimum and supremum of ``log A - log B``, None where there
    is none. An end is infinite where the ratio may not be attained.
    """
    if ratio <= 0:
        return -_NEVER, -_NEVER
    if not ratio > 0:
        return -_NEVER, crossing(up, down, lowest, highest, ratio.upper())[1]
    level = ratio.log()
    if lowest is not None and level <= lowest:
        return -_NEVER, -_NEVER
    if highest is not None and level >= highest:
        return _NEVER, _NEVER

    def excess(x: arb) -> arb:
        return up.at(x).log() - down.at(-x).log() - level

    x = _root(up, down, excess)
    width = (1 + abs(x)) * arb(2) ** (10 - current())
    low, high = -_NEVER, _NEVER
    while width < 2**10:
        if not low.is_finite() and excess((x - width).lower()) < 0:
            low = (x - width).lower()
        if not high.is_finite() and excess((x + width).upper()) > 0:
            high = (x + width).upper()
        if low.is_finite() and high.is_finite():
            break
        width *= 2**6
    return low, high


def _root(up: Wave, down: Wave, excess: Callable[[arb], arb]) -> arb:
    """Proposes: about where ``excess`` is zero, by bracketing and Newton's method."""
    low, high = arb(-1), arb(1)
    for _ in range(60):
        if excess(low) < 0 or not excess(low).is_finite():
            break
        low *= 2
    for _ in range(60):
        if excess(high) > 0 or not excess(high).is_finite():
            break
        high *= 2
    x = ((low + high) / 2).mid()
    for _ in range(_NEWTON + int(math.log2(current()))):
        value = excess(x)
        if value > 0:
            high = x
        elif value < 0:
            low = x
        else:
            break
        guess = (x - value / (up.slope(x) + down.slope(-x))).mid()
        inside = guess.is_finite() and low < guess < high
        following = guess if inside else ((low + high) / 2).mid()
        if following == x:
            break
        x = following
    return x
