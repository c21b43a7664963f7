"""The figures by name."""

from __future__ import annotations

from typing import Final

from dpexact.errors import InvalidInput
from dpexact.figures import accountants, composition_chapter, gaussian_dp, kov, ours, slides
from dpexact.figures.registry import REGISTERED, Recipe
from dpexact.tokens import unknown

#: Papers in the order of the figures; ours last.
_ORDER: Final = tuple(
    module.__name__ for module in (kov, gaussian_dp, composition_chapter, slides, ours, accountants)
)


def recipes() -> tuple[Recipe, ...]:
    """All figures, in the order of their papers; ours last."""
    found = REGISTERED.values()
    return tuple(sorted(found, key=lambda each: _ORDER.index(each.compute.__module__)))


def recipe(name: str) -> Recipe:
    """The figure ``name``.

    Raises:
        InvalidInput: there is none.
    """
    if name not in REGISTERED:
        known = (each.name for each in recipes())
        raise InvalidInput(f"figure: {unknown('name', name, known)}")
    return REGISTERED[name]
