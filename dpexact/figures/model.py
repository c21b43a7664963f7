"""What a figure is: certified points in panels, before anything is drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from dpexact.enclosure import Enclosure

Mark: TypeAlias = Literal["line", "points", "bars"]
"""How a series is drawn: joined, as single points, or as bars."""

Scale: TypeAlias = Literal["linear", "log"]


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a curve; both coordinates are enclosed, and exact where they are known exactly."""

    x: Enclosure
    y: Enclosure


@dataclass(frozen=True, slots=True)
class Series:
    """One curve: its label in the legend, in mathematical notation, and its points."""

    label: str
    points: tuple[Point, ...]
    mark: Mark = "line"


@dataclass(frozen=True, slots=True)
class HeatMap:
    """Values over a grid: ``values[row][column]`` at ``y[row]`` and ``x[column]``.

    ``None`` where there is no value; then ``missing`` says why.
    """

    label: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    values: tuple[tuple[Enclosure | None, ...], ...]
    missing: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """One pair of axes. ``square`` draws both axes to the same scale, on ``[0, 1]``."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...] = ()
    heat: HeatMap | None = None
    x_scale: Scale = "linear"
    y_scale: Scale = "linear"
    square: bool = False
    categories: tuple[str, ...] = ()

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
        """The certified digits of the widest enclosure."""
        return min(value.digits for panel in self.panels for value in panel.enclosures())
