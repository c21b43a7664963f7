"""Laws of the shift of a standard normal law: a mixture ``sum w_j N(rate_j, 1)``."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from flint import acb, arb

from dpexact.balls import approximate, approximate_log, ball, sign
from dpexact.reals import Real, rational

if TYPE_CHECKING:
    import numpy as np

#: Up to what part of the height at which waves of equal shifts might vanish they are used.
REACHED: Final = 0.99
#: Floats take a larger rate for this one, and a smaller one for its inverse: they only propose.
_LARGE: Final = 1e100
#: Likewise the logarithm of a smaller weight than this.
_SMALL: Final = -690.0


class Outline(NamedTuple):
    """About the rates and the logarithms of their weights, in floats, in rising order."""

    rates: tuple[float, ...]
    logs: tuple[float, ...]
    #: The distance between neighbours, where the law is a log-concave one of equal shifts.
    step: float | None = None

    @property
    def moves(self) -> bool:
        """Whether there is any shift at all."""
        # proposes: what is planned for
        return self.rates != (0.0,)

    @property
    def strip(self) -> float:
        """About that of the waves."""
        if self.step is None:
            return math.pi / max(self.rates[-1], 1 / _LARGE)
        return REACHED / math.sqrt(1 + self.step * self.step / 2)

    @property
    def rising(self) -> float:
        """Likewise."""
        if self.step is None:
            return math.pi / (2 * max(self._spread, 1 / _LARGE))
        return self.strip

    def cosine(self, height: float | np.ndarray) -> Any:
        """Likewise."""
        import numpy as np

        if self.step is None:
            return np.cos(self._spread * height / 2)
        return np.sqrt(1 - np.square(height) * (1 + self.step * self.step / 2))

    @property
    def _spread(self) -> float:
        """Between the largest and the smallest shift."""
        return self.rates[-1] - self.rates[0]


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

    #: The weight of no shift, and the largest shift.
    still: arb
    largest: arb
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


_ZERO: Final = rational(0)
#: No shift.
STILL: Final = Shifts(((_ZERO, rational(1)),))


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
        self.strip: arb = _quarter(self.largest) * 2
        self.rising: arb = _quarter(self.spread)

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


def _quarter(speed: arb) -> arb:
    """Up to what height no wave turns by a right angle: any, where none turns."""
    fastest = speed.abs_upper()
    return arb("inf") if fastest == 0 else arb.pi() / (2 * fastest)


def log_waves(outline: Outline, x: np.ndarray) -> np.ndarray:
    """Proposes: ``log W`` at real points, in floats."""
    import numpy as np

    found = None
    for rate, log in zip(outline.rates, outline.logs, strict=True):
        term = log + rate * x - rate * rate / 2
        found = term if found is None else np.logaddexp(found, term)
    assert found is not None
    return found


def log_waves_above(outline: Outline, x: np.ndarray, heights: np.ndarray) -> np.ndarray:
    """Proposes: ``log W`` at ``x + i height``, a row a height, continued from the real axis."""
    import numpy as np

    rates = np.array(outline.rates)
    levels = np.array(outline.logs)[:, None] + rates[:, None] * x - rates[:, None] ** 2 / 2
    top = levels.max(axis=0)
    sizes = np.exp(levels - top)
    angles = heights[:, None] * (rates @ sizes / sizes.sum(axis=0))
    turned = np.exp(1j * np.outer(heights, rates)) @ sizes * np.exp(-1j * angles)
    found: np.ndarray = top + 1j * angles + np.log(turned)
    return found


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
            rate = _ZERO if sign(shift, "sensitivity") == 0 else shift / sigma
            law[rate] = law.get(rate, _ZERO) + weight
    return Shifts(tuple(law.items()))


def thinned(shifts: Shifts, q: Real) -> Shifts:
    """The same with probability ``q``, else none."""
    law = {rate: q * weight for rate, weight in shifts.law}
    law[_ZERO] = law.get(_ZERO, _ZERO) + (1 - q)
    return Shifts(tuple(law.items()))
