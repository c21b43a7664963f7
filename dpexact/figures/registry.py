"""What a figure is, and the decorator that registers one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from dpexact.figures.computing import Workshop
from dpexact.figures.model import FigureData, Panel

Compute: TypeAlias = Callable[[Workshop], tuple[Panel, ...]]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a figure is made; ``caption`` as in :class:`~dpexact.figures.model.FigureData`."""

    name: str
    title: str
    source: str
    caption: str
    compute: Compute

    def make(self, workshop: Workshop) -> FigureData:
        """The figure's certified data."""
        return FigureData(self.name, self.title, self.source, self.caption, self.compute(workshop))


#: The figures by name, in the order in which their modules were imported.
REGISTERED: Final[dict[str, Recipe]] = {}


def figure(name: str, title: str, source: str, caption: str) -> Callable[[Compute], Compute]:
    """Register the decorated function as the computation of the figure ``name``."""

    def register(compute: Compute) -> Compute:
        assert name not in REGISTERED, name
        REGISTERED[name] = Recipe(name, title, source, caption, compute)
        return compute

    return register
