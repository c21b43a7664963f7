"""The figures by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from dpexact.errors import InvalidInput
from dpexact.figures.computing import Workshop
from dpexact.figures.model import FigureData, Panel
from dpexact.tokens import unknown

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


_RECIPES: Final[dict[str, Recipe]] = {}


def figure(name: str, title: str, source: str, caption: str) -> Callable[[Compute], Compute]:
    """Register the decorated function as the computation of the figure ``name``."""

    def register(compute: Compute) -> Compute:
        assert name not in _RECIPES, name
        _RECIPES[name] = Recipe(name, title, source, caption, compute)
        return compute

    return register


def recipes() -> tuple[Recipe, ...]:
    """All figures, in the order of their papers; ours last."""
    from dpexact.figures import accountants, composition_chapter, gaussian_dp, kov, ours, slides

    # the modules have registered their figures when they were imported, in whatever order
    order = (kov, gaussian_dp, composition_chapter, slides, ours, accountants)
    names = [module.__name__ for module in order]
    return tuple(sorted(_RECIPES.values(), key=lambda each: names.index(each.compute.__module__)))


def recipe(name: str) -> Recipe:
    """The figure ``name``.

    Raises:
        InvalidInput: there is none.
    """
    known = {each.name: each for each in recipes()}
    if name not in known:
        raise InvalidInput(f"figure: {unknown('name', name, known)}")
    return known[name]
