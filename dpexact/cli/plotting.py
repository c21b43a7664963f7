"""The option ``--plot``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import click

from dpexact.cli.options import FILE, Verb
from dpexact.cli.patience import patience
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput

if TYPE_CHECKING:
    from dpexact.figures.model import FigureData


def plot_option(what: str) -> Callable[[Verb], Verb]:
    """The option, which draws ``what``."""
    return click.option("--plot", type=FILE, metavar="FILE", help=f"Draw {what} (svg, png, pdf).")


def plotter(
    path: Path | None, make: Callable[[ModuleType], FigureData]
) -> Callable[[Enclosure], None] | None:
    """What draws, after the answer, a figure of :mod:`dpexact.figures.runs`; None without ``path``.

    Raises:
        InvalidInput: before anything is computed: an unknown suffix, no matplotlib, or ``path``
            cannot be written.
    """
    if path is None:
        return None
    from dpexact.figures import runs
    from dpexact.figures.drawing import PICTURES, check_matplotlib, picture
    from dpexact.files import check_writable, write_atomically

    file, kind = path, path.suffix.lstrip(".").lower()
    if kind not in PICTURES:
        raise InvalidInput(f"plot: {path}: the suffix must be one of {', '.join(PICTURES)}")
    check_matplotlib("plot")
    check_writable(file)

    def write(_: Enclosure) -> None:
        with patience("plot"):
            figure = make(runs)
            content = picture(figure, kind, {"caption": figure.caption})
        write_atomically(file, content)

    return write
