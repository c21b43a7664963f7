"""The search for where a monotone guarantee begins to hold.

Proposes: values to try. On which side of the threshold one lies is decided by who tries it, and
:meth:`Bracket.note` moves the ends to exactly the values that were tried.

A *gap* is about ``log(delta/target)`` at a value: its sign tells the side, its size the distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from flint import arb

from dpexact import balls
from dpexact.decimals import Bound, log_of
from dpexact.enclosure import Enclosure

#: Values beyond this, up or down, are not proposed.
FARTHEST: Final = Fraction(10**300)
_LOG_FARTHEST: Final = 301 * math.log(10)

_LARGEST_STRIDE: Final = 1e8
#: One to where all should be.
_LONGEST_STRIDE: Final = 1e150
_BLIND_STRIDE: Final = 100.0
#: The first stride where what a value does to privacy is known, about.
_KNOWN_STRIDE: Final = 16.0
_SMALLEST_STRIDE: Final = 1.01
#: How often a stride is taken back.
_RETREATS: Final = 6
_OVERSHOOT: Final = 1.05
_PATIENCE: Final = 2
#: A gap so many times smaller is worth as much as half a bracket.
_MUCH: Final = 4
#: Points that are kept of each kind.
_KEPT: Final = 3
#: By how much gaps still differ that do not move.
_FLAT: Final = 1e-6
#: Gaps below this are told by their digits, of which a scale in floats has few.
_SMALL: Final = 2.0**-20
#: How much larger than foretold an error may be.
_DOUBT: Final = 8
#: By how much farther each time, and how often, whole numbers are tried beside those missed.
_FARTHER: Final = 8
_MISSES: Final = 4

Scale: TypeAlias = Callable[[float], float | None]
"""What a gap is on another scale, on which it is also 0 at 0; None where floats end."""


class _Point(NamedTuple):
    """A value, where it lies, and how far from the threshold on each scale, where that is known."""

    value: Fraction
    place: arb
    heights: tuple[arb | None, ...]


#: The scales: of a Gaussian that would show the same, of gaps, and of what is compared itself, of
#: which the points above the threshold may be a line where all points are not, next to a kink.
_NOISE, _GAP, _PLAIN = range(3)
_WAYS: Final = tuple((scale, above) for above in (False, True) for scale in (_NOISE, _GAP, _PLAIN))


class Bracket:
    """An interval whose two ends are known to lie on different sides of the threshold.

    ``low`` may be 0 and ``high`` infinite before any value has been tried there. ``rising``:
    whether the gap rises with the value. ``power`` is about that by which values move gaps on the
    ``scale``.
    Values are integers, or decimals of ``digits + 3`` significant digits. ``kink`` is a value up to
    which nothing moves. ``turned``: what is compared is next to its most, and told by what is left.

    *Places* are ``log(x - k)`` of values ``x`` that the gap rises with and the kink ``k``; where it
    falls, of their inverses.
    """

    def __init__(
        self,
        low: Bound,
        high: Bound,
        *,
        rising: bool,
        integer: bool,
        digits: int,
        scale: Scale | None = None,
        kink: Fraction | None = None,
        turned: bool = False,
    ) -> None:
        self.low, self.high = low, high
        self.rising: bool = rising
        self.integer: bool = integer
        self.digits: int = digits
        self.power: float = 0.5 if integer else 1.0
        #: The last gap; None where it was infinite.
        self.gap: Fraction | None = None
        self._scale = scale
        self._sense = 1 if rising else -1
        self._kink = Fraction(0) if kink is None else kink**self._sense
        self._side = -1 if turned else 1
        self._bits = balls.bits_for(2 * max(digits, 9) + 18)
        self._points: list[_Point] = []
        self._above: list[_Point] = []
        self._stride = self._last_stride = 2.0
        self._retreats = 0
        self._size = math.inf
        self._idle = 0
        self._away: Fraction | float = math.inf
        #: Whether the last gap was much smaller than the one before.
        self.is_closing = False
        #: How often two whole numbers in a row were missed on the same side; None before.
        self._missed: int | None = None
        #: The scale and points of the last proposal, and those that were of no use of late.
        self._way: tuple[int, bool] | None = None
        self._useless: set[tuple[int, bool]] = set()

    def note(self, value: Fraction, meets: bool, gap: Fraction | None) -> None:
        """Take in what was found at ``value``; ``gap`` is None where it is infinite."""
        if meets == self.rising:
            self.low = max(self.low, value)
        else:
            self.high = min(self.high, value)
        self.gap = gap
        with balls.precision(self._bits):
            if not meets and value**self._sense <= self._kink:  # it is none
                self._kink = Fraction(0)
                self._points = [p._replace(place=self._place(p.value)) for p in self._points]
            point = _Point(value, self._place(value), self._heights(meets, gap))
        self._points = [*self._points[1 - _KEPT :], point]
        if gap is not None and gap * self._side > 0:
            self._above = [*self._above[1 - _KEPT :], point]
        size, away = self._log_size(), math.inf if gap is None else abs(gap)
        self.is_closing = math.inf > away <= self._away / _MUCH
        if size == math.inf or size <= self._size / 2 or self.is_closing:
            self._idle, self._size = 0, size
            if self._way is not None:
                self._useless = set()
        else:
            self._idle += 1
            if self._way is not None:
                self._useless.add(self._way)
        self._away = away

    def _place(self, value: Fraction) -> arb:
        return balls.ball(value**self._sense - self._kink).log()

    def _value(self, place: arb) -> Fraction:
        away = min(max(place, arb(-_LOG_FARTHEST)), arb(_LOG_FARTHEST)).exp()
        return balls.midpoint((balls.ball(self._kink) + away) ** self._sense)

    def _heights(self, meets: bool, gap: Fraction | None) -> tuple[arb | None, ...]:
        side = self._side
        if gap is None:
            return None, None, arb(-side) if meets == (side > 0) else None
        exact = balls.ball(gap)
        known = self._scale(float(gap)) if self._scale else None
        if known is not None and self._scale and abs(gap) < _SMALL:
            known = exact * (self._scale(_SMALL) or 0.0) / _SMALL
        return None if known is None else arb(known), exact, side * (side * exact).expm1()

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
        is_open = self.high == math.inf or self.low == 0
        near = self._nearby()
        if near is not None:
            return [near]
        if is_open or self._idle < _PATIENCE:
            with balls.precision(self._bits):
                found = self._foretold()
            if found is not None:
                guess, error = found
                is_final = error <= float(self._unit(guess) / guess)
                if is_final and 1 / FARTHEST < guess < FARTHEST:
                    self._missed = 0 if self.integer else None
                    return self._cell(guess)
                return [self._strided(guess) if is_open else self.short(guess)]
        self._way = None
        if is_open:
            return [self._strided(None)]
        self._idle = 0
        return [self.short(self._middle())]

    def _foretold(self) -> tuple[Fraction, float] | None:
        """Where the gap should vanish, and what share of it that may be wrong by.

        The ways are asked in order of how well they foretell their last point by those before;
        those that were of no use of late are the last.
        """
        usable = [way for way in _WAYS if self._known(*way)]
        misses = [(way in self._useless, self._miss(*way), way) for way in usable]
        for _, miss, way in sorted(misses, key=lambda found: found[:2]):
            points = self._known(*way)
            place = _crossing(points, way[0], arb(0), self._known_slope(way[0]))
            if place is None:
                continue
            guess = self._value(place)
            if self.low < guess < self.high:
                self._way = way
                share = 1 - self._kink / guess**self._sense
                return guess, _error(points, place, miss) * float(share)
        return None

    def _miss(self, scale: int, above: bool) -> float:
        """How far off the place of the last point was foretold by those before."""
        *before, last = self._known(scale, above)
        height = last.heights[scale]
        found = _crossing(before, scale, height, self._known_slope(scale))
        return math.inf if found is None else abs(float((found - last.place).mid()))

    def _known(self, scale: int, above: bool) -> list[_Point]:
        points = self._above if above else self._points
        return [p for p in points if p.heights[scale] is not None and p.place.is_finite()]

    def _known_slope(self, scale: int) -> float | None:
        """About the slope on a scale, before there are two points."""
        if self._kink:  # next to one delta is about a line
            return 1.0 if scale == _GAP else None
        return self.power if scale == _NOISE else None

    def _strided(self, guess: Fraction | None) -> Fraction:
        """At most one stride in the direction where no end is known yet."""
        up = self.high == math.inf
        here = Fraction(self.low if up else self.high)
        if not self._points or here == 0:
            return self.short(Fraction(2))
        if self._is_flat():
            return self.short(FARTHEST if up else 1 / FARTHEST)
        most = towards = math.log(min(self._stride, _BLIND_STRIDE))
        if guess is not None:
            is_known = self._way == _WAYS[0] or self._kink != 0
            known, beyond = (_KNOWN_STRIDE, 1.0) if is_known else (1.0, _OVERSHOOT)
            most = math.log(max(self._stride, known))
            towards = min(abs(log_of(guess / here)) * beyond + 1e-12, most)
        factor = Fraction(math.exp(towards))
        # a guess is where it should be, so that nothing is decided there is no reason to retreat
        self._last_stride = float(factor) if guess is None or towards == most else 1.0
        longest = _LARGEST_STRIDE if guess is None else _LONGEST_STRIDE
        self._stride = min(self._stride**2, longest)
        if up:
            return self.short(min(here * factor, max(FARTHEST, 2 * here)))
        return self.short(max(here / factor, min(1 / FARTHEST, here / 2)))

    def _is_flat(self) -> bool:
        """Whether long strides move nothing. Proposes: then what is farthest tells of all."""
        gaps = [float(y) for p in self._points if (y := p.heights[_GAP]) is not None]
        is_long = self._stride >= _BLIND_STRIDE and not self._retreats
        return is_long and len(gaps) == _KEPT and max(gaps) - min(gaps) < _FLAT

    def _nearby(self) -> Fraction | None:
        """Ever farther from a miss: the gap of some counts differs for odd and even ones."""
        if self._missed is None:
            return None
        low, high, last = self.low, self.high, self._points[-1].value
        away = _FARTHER**self._missed
        near = Fraction(low + away if last - low < high - last else high - away)
        found = self._missed < _MISSES and self.low < near < self.high
        self._missed = self._missed + 1 if found else None
        return near if found else None

    def beside(self, value: Fraction, side: int, away: float) -> Fraction | None:
        """A value below (``side`` -1) or above (1), where the gap differs by about ``away``.

        None if it is known already on which side of the threshold it lies.
        """
        unit = self._unit(value)
        with balls.precision(self._bits):
            *_, before, last = (None, None, *self._known(_GAP, above=False))
            slope = arb(1)
            if before and last:
                slope = (last.heights[_GAP] - before.heights[_GAP]) / (last.place - before.place)
            moved = self._place(value) + side * self._sense * away / abs(slope)
            far = abs(self._value(moved) - value) if moved.is_finite() else Fraction(0)
        near = value + side * max(math.ceil(far / unit), 1 if self.integer else 3) * unit
        return near if self.low < near < self.high else None

    def retreat(self) -> bool:
        """Halve a stride that led to where nothing was decided; False if that is no help."""
        is_open = self.high == math.inf or self.low == 0
        self._retreats += 1
        if not is_open or not self._points or self._last_stride < _SMALLEST_STRIDE:
            return False
        self._stride = math.sqrt(self._last_stride)
        return self._retreats <= _RETREATS

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
        return Fraction(math.exp((log_of(low) + log_of(high)) / 2))

    def _unit(self, value: Fraction) -> Fraction:
        """The spacing of the values that are tried."""
        if self.integer:
            return Fraction(1)
        exponent = math.floor(log_of(value) / math.log(10))
        return Fraction(10) ** (exponent - self.digits - 2)

    def short(self, value: Fraction) -> Fraction:
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
        return log_of(high / low)


def _crossing(
    points: list[_Point], scale: int, height: arb | None, slope: float | None
) -> arb | None:
    """The place of the value at which a height is reached, by up to three points."""
    if not points or height is None:
        return None
    known = [(p.value, p.place, y - height) for p in points if (y := p.heights[scale]) is not None]
    (_, last, gap), *earlier = reversed(known)
    if not earlier:
        return last - gap / arb(slope) if slope else None
    _, before, other = earlier[0]
    found = last - gap * (last - before) / (gap - other)
    if len(known) == _KEPT:
        (_, a, f), (_, b, g), (_, c, h) = sorted(known, key=lambda found: found[0])
        if f < g < h or f > g > h:
            found = (
                a * g * h / ((f - g) * (f - h))
                + b * f * h / ((g - f) * (g - h))
                + c * f * g / ((h - f) * (h - g))
            )
    return found if found.is_finite() else None


def _error(points: list[_Point], place: arb, miss: float) -> float:
    """By how much a crossing may be wrong: about a product of steps, or to what the last one was
    wrong by as the steps are to each other.
    """
    steps = [abs(float((place - point.place).mid())) for point in points]
    if len(points) == 1:
        return _DOUBT * steps[0]
    last = abs(float((points[-1].place - points[-2].place).mid()))
    return _DOUBT * min(math.prod(steps), miss * steps[-1] / last if last else math.inf)
