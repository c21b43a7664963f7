"""Pictures of figures, with matplotlib: deterministic, and readable in grey."""

from __future__ import annotations

import io
import math
from itertools import cycle
from typing import TYPE_CHECKING, Final, TypeAlias

from dpexact.enclosure import Bound, Enclosure
from dpexact.errors import InvalidInput
from dpexact.figures.model import FigureData, HeatMap, Panel, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_Dashes: TypeAlias = str | tuple[int, tuple[int, ...]]

#: Okabe and Ito's colours, which colour-blind readers can tell apart; the dashes tell grey readers.
_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#000000", "#E69F00", "#56B4E9")
_DASHES: Final[tuple[_Dashes, ...]] = (
    "-",
    "--",
    "-.",
    ":",
    (0, (5, 1, 1, 1, 1, 1)),
    (0, (8, 2)),
    (0, (1, 1)),
)
_MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")
_HATCHES: Final = ("", "//", "..", "xx")

#: The same bytes on every run and machine of equal versions.
_SETTINGS: Final = {
    "svg.hashsalt": "dpexact",
    "svg.fonttype": "path",
    "pdf.fonttype": 42,
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.framealpha": 0.9,
    "savefig.dpi": 200,
}

PICTURES: Final = ("svg", "png", "pdf")


def picture(data: FigureData, kind: str, metadata: dict[str, str]) -> bytes:
    """The picture of ``data`` as a file of ``kind`` (``svg``, ``png`` or ``pdf``).

    Raises:
        InvalidInput: matplotlib is not installed.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise InvalidInput(
            f'format {kind}: needs matplotlib; pip install "dpexact[plot]"'
        ) from None
    columns = min(len(data.panels), 3)
    rows = math.ceil(len(data.panels) / columns)
    with matplotlib.rc_context(_SETTINGS):
        drawn = Figure(figsize=(max(4.6 * columns, 5.2), 4.3 * rows), layout="constrained")
        for number, panel in enumerate(data.panels, start=1):
            _draw(drawn.add_subplot(rows, columns, number), panel)
        drawn.suptitle(data.title)
        content = io.BytesIO()
        drawn.savefig(content, format=kind, metadata=_metadata(kind, metadata))
    return content.getvalue()


def _metadata(kind: str, values: dict[str, str]) -> dict[str, str | None]:
    """Under the keys that the format knows; no time stamp."""
    described = "; ".join(f"{key}: {value}" for key, value in values.items())
    key = {"svg": "Description", "png": "Description", "pdf": "Subject"}[kind]
    stamp = {"svg": ["Date"], "pdf": ["CreationDate"]}.get(kind, [])
    return {key: described, **dict.fromkeys(stamp)}


def _draw(ax: Axes, panel: Panel) -> None:
    if panel.heat is not None:
        _draw_heat(ax, panel.heat)
    elif panel.categories:
        _draw_bars(ax, panel)
    else:
        styles = zip(cycle(_COLOURS), cycle(_DASHES), cycle(_MARKERS), strict=False)
        for series, (colour, dashes, marker) in zip(panel.series, styles, strict=False):
            _draw_series(ax, series, colour, dashes, marker)
        ax.set(xscale=panel.x_scale, yscale=panel.y_scale)
    ax.set(title=panel.title, xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.square:
        ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    if len(panel.series) > 1:
        ax.legend(loc="best", fontsize=8)


def _draw_series(ax: Axes, series: Series, colour: str, dashes: _Dashes, marker: str) -> None:
    points = [point for point in series.points if _finite(point.x) and _finite(point.y)]
    x = [_middle(point.x) for point in points]
    y = [_middle(point.y) for point in points]
    if series.mark == "points":
        ax.plot(x, y, marker, color=colour, label=series.label, markersize=4)
    else:
        ax.plot(x, y, color=colour, linestyle=dashes, label=series.label, linewidth=1.6)


def _draw_bars(ax: Axes, panel: Panel) -> None:
    width = 0.8 / len(panel.series)
    for number, series in enumerate(panel.series):
        places = [
            k + (number - (len(panel.series) - 1) / 2) * width for k in range(len(series.points))
        ]
        heights = [_middle(point.y) for point in series.points]
        ax.bar(
            places,
            heights,
            width,
            label=series.label,
            color=_COLOURS[number],
            hatch=_HATCHES[number % len(_HATCHES)],
            edgecolor="white",
        )
    ax.set_xticks(range(len(panel.categories)), panel.categories, rotation=35, ha="right")
    ax.set_yscale(panel.y_scale)


def _draw_heat(ax: Axes, heat: HeatMap) -> None:
    shown = [[math.nan if v is None else _middle(v) for v in row] for row in heat.values]
    image = ax.imshow(shown, aspect="auto", cmap="cividis", origin="lower")
    ax.set_xticks(range(len(heat.x)), heat.x)
    ax.set_yticks(range(len(heat.y)), heat.y)
    ax.grid(visible=False)
    assert ax.figure is not None
    ax.figure.colorbar(image, ax=ax, label=heat.label)
    low, high = image.get_clim()
    for row, values in enumerate(shown):
        for column, value in enumerate(values):
            text = heat.missing if math.isnan(value) else f"{value:.2g}"
            bright = not math.isnan(value) and value > (low + high) / 2
            colour = "black" if bright or math.isnan(value) else "white"
            ax.text(column, row, text, ha="center", va="center", fontsize=7, color=colour)


def _finite(value: Enclosure) -> bool:
    return value.upper < math.inf


def _middle(value: Enclosure) -> float:
    """About the middle: exact arithmetic ends here, at the pixel."""
    return (_float(value.lower) + _float(value.upper)) / 2


def _float(bound: Bound) -> float:
    try:
        return float(bound)
    except OverflowError:
        return math.inf
