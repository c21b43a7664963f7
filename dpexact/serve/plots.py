"""Certified curves as pictures: SVG whose places are percentages, so that it fits any width."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN
from fractions import Fraction
from typing import Final

from dpexact.decimals import format_decimal, log_of
from dpexact.enclosure import Enclosure
from dpexact.figures.model import Point

#: About how many parts the labels of an axis make.
_PARTS: Final = 5
_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class Label:
    """A text at ``place`` percent of an axis, from its start."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Dot:
    """One certified point: its place in percent, its coordinates for people."""

    x: str
    y: str
    at: str
    safe: str
    certified: str


@dataclass(frozen=True, slots=True)
class Plot:
    """A curve of certified points; ``line`` and ``band`` are paths in a box of 100 by 100.

    The line joins the numbers that may be quoted; the band lies between the certified bounds.
    ``mark`` is the point that the headline speaks of, ``told`` says in words what is drawn, and
    ``infinite`` is the abscissa from which on nothing is, as all ordinates are infinite.
    """

    line: str
    band: str
    dots: tuple[Dot, ...]
    x: tuple[Label, ...]
    y: tuple[Label, ...]
    mark: Label | None
    told: str
    infinite: str


class _Axis:
    """An axis over exact values: linear, or logarithmic for positive ones."""

    def __init__(self, values: Sequence[Fraction], logarithmic: bool = False) -> None:
        self._logarithmic = logarithmic
        low, high = Fraction(0), max(values)
        if logarithmic:
            decades = [log_of(value) / math.log(10) for value in values]
            low = Fraction(math.floor(min(decades)))
            high = max(Fraction(math.ceil(max(decades))), low + 1)
        self._low, self._high = low, high if high > low else low + 1

    def place(self, value: Fraction) -> float:
        """Percent of the axis, for drawing."""
        if self._logarithmic:
            if value <= 0:
                return 0.0
            value = Fraction(log_of(value) / math.log(10))
        return min(max(float(100 * (value - self._low) / (self._high - self._low)), 0.0), 100.0)

    def labels(self, thousands: bool = False) -> tuple[Label, ...]:
        """Round numbers along the axis."""
        step = _round_step((self._high - self._low) / _PARTS)
        if self._logarithmic:
            step = Fraction(max(1, math.ceil(step)))
        first = math.ceil(self._low / step)
        found = []
        for k in range(first, math.floor(self._high / step) + 1):
            value = k * step
            share = 100 * (value - self._low) / (self._high - self._low)
            if self._logarithmic:
                text = "1" if not value else "10" + str(value).translate(_RAISED)
            elif thousands and value.denominator == 1 and value < 10**9:
                text = f"{int(value):,}"
            else:
                text = format_decimal(value, 6, ROUND_HALF_EVEN)
            found.append(Label(f"{float(share):.2f}", text))
        return tuple(found)


def plot(
    points: Sequence[Point], at: Fraction, names: tuple[str, str], *, logarithmic: bool = False
) -> Plot | None:
    """The curve through ``points``, whose abscissas are exact; ``None`` for fewer than two.

    Args:
        points: infinite ones are left out, and on a logarithmic axis zeros.
        at: the abscissa that is marked.
        names: of the abscissa and of the ordinate, for the description.
        logarithmic: whether the ordinates are drawn so.
    """
    drawn = [
        (Fraction(point.x.lower), point.y)
        for point in points
        if point.y.upper < math.inf and not (logarithmic and point.y.upper <= 0)
    ]
    if len(drawn) < 2:
        return None
    across = _Axis([x for x, _ in drawn])
    up = _Axis([Fraction(y.upper) for _, y in drawn], logarithmic)
    rises = [(across.place(x), up.place(Fraction(y.upper))) for x, y in drawn]
    falls = [(across.place(x), up.place(Fraction(y.lower))) for x, y in reversed(drawn)]
    dots = tuple(
        Dot(f"{a:.2f}", f"{100 - b:.2f}", _number(x), y.safe(4), _certified(y))
        for (x, y), (a, b) in zip(drawn, rises, strict=True)
    )
    middle, last = dots[len(dots) // 2], dots[-1]
    x_name, y_name = names
    told = ", ".join(
        f"{y_name} at most {dot.safe} at {x_name} {dot.at}" for dot in (dots[0], middle, last)
    )
    marked = Label(f"{across.place(at):.2f}", _number(at))
    beyond = (Fraction(point.x.lower) for point in points if point.y.upper == math.inf)
    return Plot(
        line=_path(rises),
        band=_path(rises + falls) + "Z",
        dots=dots,
        x=across.labels(thousands=True),
        y=up.labels(),
        mark=marked if 0 <= at <= max(x for x, _ in drawn) else None,
        told=f"Curve of {len(dots)} certified points: {told}.",
        infinite=next(map(_number, beyond), ""),
    )


def _path(places: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.2f} {100 - y:.2f}" for x, y in places)


def _round_step(rough: Fraction) -> Fraction:
    """The smallest of 1, 2, 5 times a power of ten that is not below ``rough``."""
    power = Fraction(10) ** math.floor(log_of(rough) / math.log(10))
    return next(step for k in (1, 2, 5, 10, 20) if (step := k * power) >= rough)


def _number(value: Fraction) -> str:
    if value.denominator == 1 and value < 10**9:
        return f"{int(value):,}"
    return format_decimal(value, 4, ROUND_HALF_EVEN)


def _certified(value: Enclosure) -> str:
    lower, upper = value.decimal_bounds(min(max(value.digits, 1), 6) + 1)
    return lower if lower == upper else f"[{lower}, {upper}]"
