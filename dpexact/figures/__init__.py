"""The papers' figures as certified data and as pictures.

Modules, each importing only from those before it::

    model < computing < parameters < registry < kov, gaussian_dp, composition_chapter, slides, ours,
        accountants < gallery
    model < describing < drawing < writing
"""

from dpexact.figures.computing import Workshop
from dpexact.figures.gallery import recipe, recipes
from dpexact.figures.model import FigureData
from dpexact.figures.writing import FORMATS, write_figure

__all__ = ["FORMATS", "FigureData", "Workshop", "recipe", "recipes", "write_figure"]
__dir__ = __all__.copy
