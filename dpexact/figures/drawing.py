"""Pictures of figures, with matplotlib: deterministic, readable in grey, on white and on black."""

from __future__ import annotations

import io
import math
import re
from html import escape
from typing import TYPE_CHECKING, Final, TypeAlias

from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.figures.describing import described, middle, plain, wrapped
from dpexact.figures.model import FigureData, HeatMap, HeatScale, Panel, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_Dashes: TypeAlias = str | tuple[int, tuple[int, ...]]

#: Text, axes and grid: nothing lies behind a picture, so what is drawn stands out from any page.
INK: Final = "#777777"
#: After Okabe and Ito, whose colours colour-blind readers can tell apart; those of theirs that fade
#: on white or on black are darker or lighter. The dashes tell grey readers.
COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#C46A9B", "#777777", "#B47C00", "#3A94C8")
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
#: From below to above; both ends are dark, so the numbers in the cells say which, in grey too.
_DIVERGING: Final = "PuOr"
#: The luminance on which black and white have the same contrast.
_MIDDLE: Final = 0.179
#: Relative errors up to this look like none.
_NEGLIGIBLE: Final = 1e-6
#: Coordinates on ``[0, 1]``, with room for curves along the axes.
_UNIT: Final = (-0.012, 1.012)

#: The same bytes on every run and machine of equal versions.
_SETTINGS: Final = {
    "svg.hashsalt": "dpexact",
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.2,
    "legend.framealpha": 0,
    "savefig.dpi": 200,
    "savefig.transparent": True,
    **{
        f"{part}color": INK
        for part in (
            "axes.edge",
            "axes.label",
            "axes.title",
            "grid.",
            "legend.edge",
            "legend.label",
            "text.",
            "xtick.",
            "ytick.",
        )
    },
}

PICTURES: Final = ("svg", "png", "pdf")


def picture(data: FigureData, kind: str, metadata: dict[str, str]) -> bytes:
    """The picture of ``data`` as a file of ``kind`` (``svg``, ``png`` or ``pdf``).

    Raises:
        InvalidInput: matplotlib is not installed.
    """
    check_matplotlib(f"format {kind}")
    import matplotlib

    metadata = {**metadata, "matplotlib": matplotlib.__version__}
    with matplotlib.rc_context(_SETTINGS):
        content = io.BytesIO()
        drawn(data).savefig(content, format=kind, metadata=_metadata(kind, metadata))
    return _told(content.getvalue(), data) if kind == "svg" else content.getvalue()


def _told(svg: bytes, data: FigureData) -> bytes:
    """``svg`` with what programs read out that read pages to people."""
    title, seen = escape(plain(data.title)), escape(described(data))
    inside = f'<svg role="img"\\1>\n <title>{title}</title>\n <desc>{seen}</desc>'
    return re.sub(r"<svg([^>]*)>", inside, svg.decode(), count=1).encode()


def check_matplotlib(what: str, otherwise: str = "") -> None:
    """Refuse ``what`` where matplotlib is not installed; ``otherwise`` is what does without.

    Raises:
        InvalidInput: it is not.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InvalidInput(
            f'{what}: needs matplotlib; pip install "dpexact[plot]"{otherwise}'
        ) from None


def drawn(data: FigureData) -> Figure:
    """``data`` as a figure of matplotlib."""
    from matplotlib.figure import Figure

    columns = min(len(data.panels), 3)
    rows = math.ceil(len(data.panels) / columns)
    figure = Figure(figsize=(max(4.6 * columns, 5.2), 4.3 * rows), layout="constrained")
    for number, panel in enumerate(data.panels, start=1):
        _draw(figure.add_subplot(rows, columns, number), panel)
    figure.suptitle(wrapped(data.title, int(11 * figure.get_figwidth())))
    return figure


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
    elif panel.series:
        _draw_curves(ax, panel.series)
        ax.set(xscale=panel.x_scale, yscale=panel.y_scale)
        if panel.zero:
            ax.axhline(color=INK, linewidth=1.2, zorder=1)
    else:
        note = wrapped(panel.note, 40)
        ax.text(0.5, 0.5, note, ha="center", va="center", transform=ax.transAxes)
        ax.set(xticks=(), yticks=())
    ax.set(title=wrapped(panel.title, 46), xlabel=panel.x_label, ylabel=panel.y_label)
    if panel.square:
        ax.set(xlim=_UNIT, ylim=_UNIT, aspect="equal")
    if len(panel.series) > 1:
        ax.legend(loc="best", fontsize=8, handlelength=3)


def _draw_curves(ax: Axes, series: tuple[Series, ...]) -> None:
    styled = [each.label for each in series if not each.like]
    for each in series:
        number = styled.index(each.like or each.label)
        points = [point for point in each.points if _finite(point.x) and _finite(point.y)]
        # marks of different curves stand at different points, so that curves on one another show
        marked = slice(number, None, len(styled)) if len(points) > len(styled) else slice(None)
        ax.plot(
            [middle(point.x) for point in points],
            [middle(point.y) for point in points],
            color=COLOURS[number % len(COLOURS)],
            linestyle=_DASHES[number % len(_DASHES)],
            linewidth=1.6,
            marker=_MARKERS[number % len(_MARKERS)] if each.mark == "marked" else "",
            markersize=5,
            markevery=marked,
            label="_" if each.like else each.label,
        )


def _draw_bars(ax: Axes, panel: Panel) -> None:
    width = 0.8 / len(panel.series)
    for number, series in enumerate(panel.series):
        places = [
            k + (number - (len(panel.series) - 1) / 2) * width for k in range(len(series.points))
        ]
        heights = [middle(point.y) for point in series.points]
        ax.bar(
            places,
            heights,
            width,
            label=series.label,
            color=COLOURS[number],
            hatch=_HATCHES[number % len(_HATCHES)],
            edgecolor="white",
            linewidth=0,
        )
    ax.set_xticks(range(len(panel.categories)), panel.categories, rotation=35, ha="right")
    ax.set_yscale(panel.y_scale)
    ax.margins(y=0.25)  # room for the legend above the bars


def _draw_heat(ax: Axes, heat: HeatMap) -> None:
    from matplotlib import colormaps
    from matplotlib.colors import LogNorm, Normalize, SymLogNorm

    shown = [[math.nan if v is None else middle(v) for v in row] for row in heat.values]
    finite = [value for row in shown for value in row if math.isfinite(value)]
    norm: Normalize
    painted = shown
    if heat.scale == "ratio":
        most = max([2.0, *finite, *(1 / value for value in finite if value > 0)])
        norm = LogNorm(1 / most, most)
        half = [2.0**k for k in range(1, int(math.log2(most)) + 1)]
        ticks = [*(1 / tick for tick in half), 1.0, *half]
    else:
        norm = SymLogNorm(_NEGLIGIBLE, vmin=-1, vmax=1)
        ticks = [-1, -1e-2, -1e-4, 0, 1e-4, 1e-2, 1]
        signs = (-1 if lower else 1 for lower in heat.lower or (False,) * len(shown))
        painted = [[sign * value for value in row] for sign, row in zip(signs, shown, strict=True)]
    # orange where the published number is on the wrong side
    colours = colormaps[_DIVERGING if heat.scale == "error" else f"{_DIVERGING}_r"]
    image = ax.imshow(painted, aspect="auto", cmap=colours, norm=norm, origin="lower")
    ax.set_xticks(range(len(heat.x)), heat.x)
    ax.set_yticks(range(len(heat.y)), heat.y)
    ax.grid(visible=False)
    assert ax.figure is not None
    if heat.scale == "ratio":
        bar = ax.figure.colorbar(image, ax=ax, label=heat.label)
        bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    else:  # of either sign: what counts is the side
        label = f"wrong side \u2190 {heat.label} \u2192 safe side"
        bar = ax.figure.colorbar(image, ax=ax, label=label)
        bar.set_ticks(ticks, labels=[f"{abs(tick):g}" for tick in ticks])
    bar.minorticks_off()
    for row, values in enumerate(shown):
        for column, value in enumerate(values):
            text = heat.missing if math.isnan(value) else _cell(value, heat.scale)
            ink = INK
            if not math.isnan(value):
                cell = _luminance(colours(norm(painted[row][column])))
                ink = "white" if cell < _MIDDLE else "black"
            ax.text(column, row, text, ha="center", va="center", fontsize=8, color=ink)


def _luminance(colour: tuple[float, ...]) -> float:
    """The relative luminance of an sRGB colour (WCAG 2.1)."""
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _cell(value: float, scale: HeatScale) -> str:
    """Few digits of ``value``; an error with its sign, in percent where it is large."""
    if scale == "ratio" or math.isinf(value):
        return f"{value:.3f}" if value < 10 else f"{value:.3g}"
    if abs(value) >= 1e-3:
        return f"{100 * value:+.2g} %"
    mantissa, _, exponent = f"{value:+.1e}".partition("e")
    return f"{mantissa}e{int(exponent)}" if value else "0"


def _finite(value: Enclosure) -> bool:
    return value.upper < math.inf
