"""What a figure is: certified points in panels, before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from dpexact.enclosure import EXACT, Enclosure

Mark: TypeAlias = Literal["line", "marked", "bars"]
"""How a series is drawn: joined, joined with marks at points, or as bars."""

Scale: TypeAlias = Literal["linear", "log"]
HeatScale: TypeAlias = Literal["ratio", "error"]


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a curve; both coordinates are enclosed, and exact where they are known exactly."""

    x: Enclosure
    y: Enclosure


@dataclass(frozen=True, slots=True)
class Series:
    """One curve: its label in the legend, in mathematical notation, and its points.

    ``like`` is the label of another series that it belongs to: it is drawn in the same style, and
    has no place of its own in the legend.
    """

    label: str
    points: tuple[Point, ...]
    mark: Mark = "line"
    like: str = ""


def curve(
    label: str, places: Iterable[Fraction | int], values: Iterable[Enclosure], mark: Mark = "line"
) -> Series:
    """Certified values at exact places."""
    points = zip(places, values, strict=True)
    return Series(label, tuple(Point(Enclosure.exact(Fraction(x)), y) for x, y in points), mark)


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Values over a grid: ``values[row][column]`` at ``y[row]`` and ``x[column]``.

    ``None`` where there is no value; then ``missing`` says why. A ``ratio`` is coloured by its
    logarithm, an ``error`` (relative, of either sign) by its size beyond a millionth: above 0 is
    the safe side, except in rows of ``lower`` bounds, where below is.
    """

    label: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    values: tuple[tuple[Enclosure | None, ...], ...]
    missing: str = ""
    scale: HeatScale = "ratio"
    lower: tuple[bool, ...] = ()


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes. ``square`` draws both axes to the same scale, on ``[0, 1]``.

    ``zero`` draws the line at the height 0, which curves lie above or below of.
    ``note`` says why the panel is empty, where it is.
    """

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...] = ()
    heat: HeatMap | None = None
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    square: bool = False
    zero: bool = False
    categories: tuple[str, ...] = ()
    note: str = ""

    def enclosures(self) -> Iterator[Enclosure]:
        """Every certified number of the panel."""
        for series in self.series:
            for point in series.points:
                yield from (point.x, point.y)
        for row in self.heat.values if self.heat else ():
            yield from (value for value in row if value is not None)


@dataclass(frozen=True, slots=True)
class FigureData:
    """A figure: where it comes from, what it shows, and its panels.

    ``caption`` names every parameter that the source does not state as our choice.
    """

    name: str
    title: str
    source: str
    caption: str
    panels: tuple[Panel, ...]

    @property
    def count(self) -> int:
        """The number of certified numbers."""
        return sum(1 for panel in self.panels for _ in panel.enclosures())

    @property
    def fewest_digits(self) -> int:
        """The certified digits of the widest enclosure; :data:`EXACT` if there is none."""
        found = (value.digits for panel in self.panels for value in panel.enclosures())
        return min(found, default=EXACT)
