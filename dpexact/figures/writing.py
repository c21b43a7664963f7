"""Figures as files: data and picture of one computation, with how they were made."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from dpexact.arguments import word_in
from dpexact.enclosure import Enclosure
from dpexact.figures.describing import described
from dpexact.figures.drawing import PICTURES, check_matplotlib, picture
from dpexact.figures.model import FigureData, Panel
from dpexact.files import check_writable, refusing, write_atomically
from dpexact.visible import visible

#: Digits printed beyond those certified.
_SPARE: Final = 5
FORMATS: Final = (*PICTURES, "csv", "json")
_COLUMNS: Final = ("panel", "series", "x_lower", "x_upper", "y_lower", "y_upper", "method")


def formats_in(text: str) -> tuple[str, ...]:
    """The formats of a comma-separated list.

    Raises:
        InvalidInput: one is unknown, or there is none, or a picture needs matplotlib, which is not
            installed (csv and json do without).
    """
    kinds = tuple(dict.fromkeys(kind.strip().lower() for kind in text.split(",")))
    for kind in kinds:
        if word_in(kind, "format", FORMATS) in PICTURES:
            check_matplotlib(f"format {kind}", ", or write csv,json, which need it not")
    return kinds


def make_folder(folder: Path, names: Iterable[str], formats: Sequence[str]) -> None:
    """Make ``folder``, where the figures ``names`` can be written, before they are computed.

    Raises:
        InvalidInput: it cannot be made, or a file in it not be written.
    """
    with refusing(f"{visible(str(folder))}: the folder cannot be made"):
        folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        for kind in formats:
            check_writable(folder / f"{name}.{kind}")


def write_figure(
    data: FigureData,
    folder: Path,
    formats: Sequence[str],
    digits: int,
    metadata: dict[str, str],
) -> list[Path]:
    """Write ``data`` in each of ``formats`` to ``folder``; all are rendered before any is written.

    Raises:
        InvalidInput: matplotlib is missing for a picture, or a file cannot be written.
    """
    make_folder(folder, [data.name], formats)
    told = {"figure": data.name, "source": data.source, "caption": data.caption, **metadata}
    contents: dict[Path, bytes] = {}
    for kind in formats:
        path = folder / f"{data.name}.{kind}"
        if kind == "csv":
            contents[path] = _csv(data, digits, told).encode()
        elif kind == "json":
            contents[path] = _json(data, digits, told).encode()
        else:
            contents[path] = picture(data, kind, told)
    for path, content in contents.items():
        write_atomically(path, content)
    return list(contents)


def _csv(data: FigureData, digits: int, metadata: dict[str, str]) -> str:
    """One row a point; the lines before the header begin with ``#``."""
    out = io.StringIO()
    for key, value in metadata.items():
        out.write(f"# {key}: {' '.join(value.split())}\n")
    for panel in data.panels:
        if panel.note:
            out.write(f"# {panel.title}: {panel.note}\n")
    table = csv.writer(out, lineterminator="\n")
    table.writerow(_COLUMNS)
    for panel in data.panels:
        for series, x, y in _rows(panel, digits):
            table.writerow(
                (panel.title, series, x["lower"], x["upper"], y["lower"], y["upper"], y["method"])
            )
    return out.getvalue()


def _rows(panel: Panel, digits: int) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    for series in panel.series:
        for number, point in enumerate(series.points):
            name = panel.categories[number] if panel.categories else ""
            x = {"lower": name, "upper": name} if name else _bounds(point.x, digits)
            yield series.label, x, _bounds(point.y, digits)
    if panel.heat is not None:
        for label, row in zip(panel.heat.y, panel.heat.values, strict=True):
            for x_label, value in zip(panel.heat.x, row, strict=True):
                if value is not None:
                    yield label, {"lower": x_label, "upper": x_label}, _bounds(value, digits)


def _json(data: FigureData, digits: int, metadata: dict[str, str]) -> str:
    panels: list[dict[str, Any]] = []
    for panel in data.panels:
        points: dict[str, list[dict[str, dict[str, str]]]] = {}
        for series, x, y in _rows(panel, digits):
            points.setdefault(series, []).append({"x": x, "y": y})
        panels.append(
            {
                "title": panel.title,
                "x_label": panel.x_label,
                "y_label": panel.y_label,
                **({"note": panel.note} if panel.note else {}),
                "series": [{"label": label, "points": rows} for label, rows in points.items()],
            }
        )
    return (
        json.dumps(
            {
                "metadata": metadata,
                "title": data.title,
                "description": described(data),
                "panels": panels,
            },
            indent=1,
        )
        + "\n"
    )


def _bounds(value: Enclosure, digits: int) -> dict[str, str]:
    lower, upper = value.decimal_bounds(digits + _SPARE)
    return {"lower": lower, "upper": upper, "method": value.method}
