"""The papers' figures as certified data and as pictures.

Modules, each importing only from those before it::

    model < computing < parameters < registry < kov, gaussian_dp, composition_chapter, slides, ours,
        accountants
    model < describing < drawing < writing
"""

from typing import Final

from dpexact.errors import InvalidInput
from dpexact.figures import accountants, composition_chapter, gaussian_dp, kov, ours, slides
from dpexact.figures.computing import Workshop
from dpexact.figures.model import FigureData
from dpexact.figures.registry import REGISTERED, Recipe
from dpexact.figures.writing import FORMATS, write_figure
from dpexact.tokens import unknown

__all__ = ["FORMATS", "FigureData", "Workshop", "recipe", "recipes", "write_figure"]
__dir__ = __all__.copy

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
