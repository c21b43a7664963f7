"""The search for where a monotone guarantee begins to hold.

Proposes: values to try. On which side of the threshold one lies is decided by who tries it, and
:meth:`Bracket.note` moves the ends to exactly the values that were tried.

A *gap* is about ``log(delta/target)`` at a value: its sign tells the side, its size the distance.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final, TypeAlias

from dpexact.decimals import Bound, log_of
from dpexact.enclosure import Enclosure

#: Values beyond this, up or down, are not proposed.
FARTHEST: Final = Fraction(10**300)

_LARGEST_STRIDE: Final = 1e8
_BLIND_STRIDE: Final = 100.0
_SMALLEST_STRIDE: Final = 1.01
_OVERSHOOT: Final = 1.05
_PATIENCE: Final = 3
#: A gap so many times smaller is worth as much as half a bracket.
_MUCH: Final = 4
#: Points that are kept, and how near they lie together where ratios are as good as logarithms.
_KEPT: Final = 3
_CLOSE: Final = 100
_TWO: Final = Fraction(2)
_STEEPEST: Final = 300.0
#: By how much farther each time, and how often, whole numbers are tried beside those missed.
_FARTHER: Final = 8
_MISSES: Final = 4
#: Gaps below this share of the level are as they are; and the largest that is told from 1.
_BENT: Final = 10**8
_LARGEST_SHARE: Final = 0.999

_Guess: TypeAlias = tuple[Fraction | None, list[Fraction]]
"""Where the threshold may lie, and the points that say so, the last one last."""


class Bracket:
    """An interval whose two ends are known to lie on different sides of the threshold.

    ``low`` may be 0 and ``high`` infinite before any value has been tried there. ``rising``:
    whether the gap rises with the value. ``slope`` is about ``d gap / d log(value)`` if known.
    Values are integers, or decimals of ``digits + 3`` significant digits.

    ``level`` is about ``-log(target)``: what falls like a Gaussian tail is, far from the root,
    nearer to a power in ``log(delta)/log(target)`` than in ``delta``.
    """

    def __init__(
        self,
        low: Bound,
        high: Bound,
        *,
        rising: bool,
        integer: bool,
        digits: int,
        level: float = 0.0,
    ) -> None:
        self.low, self.high = low, high
        self.rising: bool = rising
        self.integer: bool = integer
        self.digits: int = digits
        self.level: float = level
        self.slope: float | None = None
        self._points: list[tuple[Fraction, Fraction | None]] = []
        self._above: list[tuple[Fraction, Fraction]] = []
        self._stride = self._last_stride = 2.0
        self._size = math.inf
        self._idle = 0
        self._away: Fraction | float = math.inf
        #: How often two whole numbers in a row were missed on the same side; None before.
        self._missed: int | None = None
        #: How to propose, what was of use last first.
        self._ways = (self._secant, self._line)

    def note(self, value: Fraction, meets: bool, gap: Fraction | None) -> None:
        """Take in what was found at ``value``; ``gap`` is None where it is infinite."""
        if meets == self.rising:
            self.low = max(self.low, value)
        else:
            self.high = min(self.high, value)
        self._points = [*self._points[1 - _KEPT :], (value, self._bent(gap))]
        if gap is not None and gap > 0:
            self._above = [*self._above[-1:], (value, gap)]
        size, away = self._log_size(), math.inf if gap is None else abs(gap)
        if size == math.inf or size <= self._size / 2 or away <= self._away / _MUCH:
            self._idle, self._size = 0, size
        else:
            self._idle += 1
            self._ways = self._ways[::-1]
        self._away = away

    @property
    def is_narrow(self) -> bool:
        """Whether ``digits`` digits, or the integer, are determined."""
        if self.high == math.inf:
            return False
        width = self.high - self.low
        return width <= (1 if self.integer else self.high / Fraction(10) ** (self.digits + 1))

    def enclosure(self) -> Enclosure:
        """The interval."""
        return Enclosure.bracket(self.low, self.high, "calibration")

    def proposals(self) -> list[Fraction]:
        """The value to try next, or the two that should make the bracket narrow."""
        if self.high == math.inf or self.low == 0:
            return [self._outward()]
        near = self._nearby()
        if near is not None:
            return [near]
        if self._idle < _PATIENCE:
            for way in self._ways:
                guess, used = way()
                if guess is not None and self.low < guess < self.high:
                    if not self._is_final(guess, used):
                        return [self._inside(guess)]
                    self._missed = 0 if self.integer else None
                    return self._cell(guess)
        self._idle = 0
        return [self._inside(self._middle())]

    def _nearby(self) -> Fraction | None:
        """Ever farther from a miss: the gap of some counts differs for odd and even ones."""
        if self._missed is None:
            return None
        low, high, last = Fraction(self.low), Fraction(self.high), self._points[-1][0]
        away = _FARTHER**self._missed
        near = low + away if last - low < high - last else high - away
        found = self._missed < _MISSES and self.low < near < self.high
        self._missed = self._missed + 1 if found else None
        return near if found else None

    def beside(self, value: Fraction, side: int, widening: int) -> Fraction | None:
        """A value below (``side`` -1) or above (1), ``10^widening`` times the usual distance away.

        None if it is known already on which side of the threshold it lies.
        """
        away = (1 if self.integer else 3) * self._unit(value) * 10**widening
        near = value + side * away
        return near if self.low < near < self.high else None

    def retreat(self) -> bool:
        """Halve a stride that led to where nothing was decided; False if that is no help."""
        is_open = self.high == math.inf or self.low == 0
        if not is_open or not self._points or self._last_stride < _SMALLEST_STRIDE:
            return False
        self._stride = math.sqrt(self._last_stride)
        return True

    def _outward(self) -> Fraction:
        """One stride in the direction where no end is known yet."""
        up = self.high == math.inf
        here = Fraction(self.low if up else self.high)
        if not self._points or here == 0:
            return self._inside(Fraction(2))
        guess = self._vanishing()
        if guess is not None and (guess > here if up else 0 < guess < here):
            towards = min(abs(_log(guess / here)) * _OVERSHOOT + 1e-12, math.log(self._stride))
        else:
            towards = math.log(min(self._stride, _BLIND_STRIDE))
        factor = Fraction(math.exp(towards))
        self._last_stride = float(factor)
        self._stride = min(self._stride**2, _LARGEST_STRIDE)
        return self._inside(here * factor if up else here / factor)

    @property
    def gap(self) -> Fraction | None:
        """The last one, of which the search made its proposals; None where it was infinite."""
        return self._points[-1][1] if self._points else None

    def local_slope(self) -> float | None:
        """About ``d gap / d log(value)`` between the last two values."""
        if len(self._points) < 2:
            return None
        (before, earlier), (at, gap) = self._points[-2:]
        if earlier is None or gap is None or at == before:
            return None
        return float(gap - earlier) / _log(at / before) or None

    def _secant(self) -> _Guess:
        """Where the gap should vanish."""
        return self._vanishing(), [value for value, _ in self._points]

    def _vanishing(self) -> Fraction | None:
        if not self._points or self._points[-1][1] is None:
            return None
        at, gap = self._points[-1]
        assert gap is not None
        if curved := self._curved():
            return curved
        before, earlier = self._points[-2:][0]
        if earlier is not None and 0 < abs(at - before) < at / 1000:
            return at - gap * (at - before) / (gap - earlier) if gap != earlier else None
        slope = self.slope if len(self._points) == 1 else self.local_slope()
        return at * _exp(-float(gap) / slope) if slope else None

    def _curved(self) -> Fraction | None:
        """The same by the inverse parabola through three points, in order on both axes."""
        known = sorted((value, gap) for value, gap in self._points if gap is not None)
        if len(known) < _KEPT or len({gap for _, gap in known}) < _KEPT:
            return None
        (a, f), (b, g), (c, h) = known
        if not (f < g < h or f > g > h):
            return None
        shares = (
            g * h / ((f - g) * (f - h)),
            f * h / ((g - f) * (g - h)),
            f * g / ((h - f) * (h - g)),
        )
        if c - a < a / _CLOSE:
            return a * shares[0] + b * shares[1] + c * shares[2]
        logs = (0.0, _log(b / a), _log(c / a))
        return a * _exp(sum(float(s) * log for s, log in zip(shares, logs, strict=True)))

    def _line(self) -> _Guess:
        """Where delta itself, as a line through two points above the target, would meet it.

        Next to a kink, where below the target delta hardly moves, that is the better line.
        """
        used = [value for value, _ in self._above]
        if len(used) < _KEPT - 1:
            return None, used
        (before, earlier), (at, gap) = self._above
        rise = math.expm1(min(float(gap), _STEEPEST)) - math.expm1(min(float(earlier), _STEEPEST))
        share = math.expm1(min(float(gap), _STEEPEST)) / rise if rise else math.nan
        return (at - (at - before) * Fraction(share) if math.isfinite(share) else None), used

    def _bent(self, gap: Fraction | None) -> Fraction | None:
        """``log(log(target)/log(delta))``, which has the sign of the gap."""
        if gap is None or not self.level:
            return gap
        if abs(gap) < self.level / _BENT:
            return gap / Fraction(self.level)
        return Fraction(-math.log1p(-min(float(gap) / self.level, _LARGEST_SHARE)))

    def _is_final(self, guess: Fraction, used: list[Fraction]) -> bool:
        """Whether a line, whose error is about a product of steps, hits the last cell."""
        if len(used) < 2:
            return False
        unit, step = self._unit(guess), abs(guess - used[-1])
        if step <= unit:
            return True
        error = 8 * step
        for value in used[:-1]:
            error *= abs(guess - value) / guess
        return error <= unit

    def _cell(self, guess: Fraction) -> list[Fraction]:
        """The ends, where they are news, of the narrow interval that should hold the answer."""
        unit = self._unit(guess)
        floor = guess // unit
        ends = (floor, floor + 1) if self.integer else (floor - 2, floor + 3)
        return [end * unit for end in ends if self.low < end * unit < self.high]

    def _middle(self) -> Fraction:
        low, high = Fraction(self.low), Fraction(self.high)
        if high <= 2 * low:
            return (low + high) / 2
        return Fraction(math.exp((_log(low) + _log(high)) / 2))

    def _unit(self, value: Fraction) -> Fraction:
        """The spacing of the values that are tried."""
        if self.integer:
            return Fraction(1)
        exponent = math.floor(_log(value) / math.log(10))
        return Fraction(10) ** (exponent - self.digits - 2)

    def _inside(self, value: Fraction) -> Fraction:
        """A short number near ``value`` and strictly within the bracket, if that is not narrow."""
        if not self.integer and value <= 0:
            return value
        unit = self._unit(value)
        short = round(value / unit) * unit
        if short <= self.low:
            short = (Fraction(self.low) // unit + 1) * unit
        if short >= self.high:
            short = -(-Fraction(self.high) // unit) * unit - unit
        return short

    def _log_size(self) -> float:
        if self.high == math.inf or self.low == 0:
            return math.inf
        low, high = Fraction(self.low), Fraction(self.high)
        return _log(high / low)


def _log(value: Fraction) -> float:
    if 1 / _TWO < value < _TWO:
        return math.log1p(float(value - 1))
    return log_of(value)


def _exp(exponent: float) -> Fraction:
    """``e^exponent``, cut to a range that is never left."""
    return Fraction(math.exp(max(-600.0, min(600.0, exponent))))
