"""Pictures: legends beside the curves, styles that grey readers tell apart, the same bytes."""

import hashlib
import io
import math
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest

from dpexact.enclosure import Enclosure
from dpexact.figures import FigureData, Workshop, recipe
from dpexact.figures.describing import described
from dpexact.figures.model import HeatMap, Panel, Point, Series

pytest.importorskip("matplotlib", reason="pictures need matplotlib")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

from dpexact.figures.drawing import COLOURS, INK, drawn, picture

QUICK = ["kov-1", "kov-2", "kov-3-top", "kov-3-bottom", "steinke-1", "steinke-2", "slides-census"]
QUICK += [f"gdp-{name}" for name in ("3-left", "3-right", "4", "5-left", "5-right", "6-left")]
QUICK += ["gdp-2", "gdp-6-right", "slides-pairs"]
#: White paper, and the dark page of the documentation.
PAGES = ("#ffffff", "#131416")


def exact(*numbers):
    return [Enclosure.exact(Fraction(number)) for number in numbers]


def line(label, *heights, **options):
    points = (Point(Enclosure.exact(Fraction(x)), y) for x, y in enumerate(exact(*heights)))
    return Series(label, tuple(points), **options)


def figure_of(*panels):
    return drawn(FigureData("name", "title", "source", "caption", panels))


def covered(figure):
    """How many corners of curves and bars, or places between them, lie below a legend."""
    FigureCanvasAgg(figure).draw()
    found = 0
    for ax in figure.axes:
        if (legend := ax.get_legend()) is None:
            continue
        box = legend.get_window_extent()
        for curve in ax.lines:
            corners = ax.transData.transform(curve.get_xydata())
            for (x0, y0), (x1, y1) in pairwise(corners):
                places = ((x0 + (x1 - x0) * k / 50, y0 + (y1 - y0) * k / 50) for k in range(51))
                found += sum(box.contains(x, y) for x, y in places)
        found += sum(box.overlaps(bar.get_window_extent()) for bar in ax.patches)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_no_legend_covers_a_curve(name):
    assert covered(drawn(recipe(name).make(Workshop(5)))) == 0


def test_a_covered_curve_is_seen():
    figure = figure_of(Panel("", "x", "y", (line("a", 0, 1), line("b", 1, 0))))
    figure.axes[0].legend(loc="center")
    assert covered(figure) > 0


def test_titles_do_not_overlap():
    figure = drawn(recipe("kov-2").make(Workshop(5)))
    FigureCanvasAgg(figure).draw()
    boxes = [ax.title.get_window_extent() for ax in figure.axes]
    boxes.append(figure._suptitle.get_window_extent())
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


def test_curves_differ_without_colours():
    curves = [line(f"$f_{k}$", k, k, k, k, k, k, k, k, mark="marked") for k in range(7)]
    drawn_curves = figure_of(Panel("", "x", "y", tuple(curves))).axes[0].lines
    assert len({str(curve._unscaled_dash_pattern) for curve in drawn_curves}) == 7
    assert len({curve.get_marker() for curve in drawn_curves}) == 7
    first_marks = [curve.get_markevery().start for curve in drawn_curves]
    assert first_marks == list(range(7))


def test_a_series_like_another_looks_like_it():
    panel = Panel("", "x", "y", (line("a", 1, 0), line("b", 2, 0), line("a'", 0, 1, like="a")))
    ax = figure_of(panel).axes[0]
    a, b, mirrored = ax.lines
    assert mirrored.get_color() == a.get_color() != b.get_color()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]


@pytest.mark.parametrize(
    ("scale", "values", "texts"),
    [
        ("ratio", ("1/2", "1", "12.34"), ["0.500", "1.000", "12.3"]),
        ("error", ("-0.00000123", "0", "0.256"), ["-1.2e-6", "0", "+26 %"]),
    ],
)
def test_cells_of_a_heat_map(scale, values, texts):
    rows = ((*exact(*values), None, Enclosure.exact(math.inf)),)
    heat = HeatMap("label", tuple("abcde"), ("y",), rows, "none", scale)
    ax, bar = figure_of(Panel("", "x", "y", heat=heat)).axes
    assert [text.get_text() for text in ax.texts] == [*texts, "none", "inf"]
    assert "label" in bar.get_ylabel()
    low, high = ax.images[0].get_clim()
    middle = ax.images[0].norm.inverse(0.5)
    assert low < middle < high
    assert middle == pytest.approx(1 if scale == "ratio" else 0)


@pytest.mark.parametrize("scale", ["ratio", "error"])
def test_numbers_stand_out_from_their_cells(scale):
    values = exact(*(Fraction(sign * k, 10) for k in range(1, 11) for sign in (1, -1)))
    if scale == "ratio":
        values = exact(*(Fraction(11, k) for k in range(1, 30)))
    heat = HeatMap("", tuple(map(str, range(len(values)))), ("y",), (tuple(values),), "", scale)
    ax = figure_of(Panel("", "x", "y", heat=heat)).axes[0]
    image = ax.images[0]
    for text, value in zip(ax.texts, image.get_array()[0], strict=True):
        cell = luminance(image.cmap(image.norm(value)))
        ink = 0.0 if text.get_color() == "black" else 1.0
        bright, dark = max(cell, ink), min(cell, ink)
        assert (bright + 0.05) / (dark + 0.05) >= 4.5  # WCAG 2.1, 1.4.3


@pytest.mark.parametrize("page", PAGES)
def test_what_is_drawn_stands_out_from_light_and_dark_pages(page):
    behind = luminance(to_rgb(page))
    for colour in (INK, *COLOURS):
        bright, dark = sorted((luminance(to_rgb(colour)), behind), reverse=True)
        assert (bright + 0.05) / (dark + 0.05) >= (4 if colour == INK else 3)  # WCAG 2.1, 1.4.11


@pytest.mark.slow
@pytest.mark.parametrize("name", ["kov-1", "slides-census"])
def test_nothing_lies_behind_a_picture(name):
    from PIL import Image

    image = Image.open(io.BytesIO(picture(recipe(name).make(Workshop(5)), "png", {})))
    alpha = image.getchannel("A")
    assert image.getpixel((0, 0))[3] == 0
    assert alpha.histogram()[0] > 0.7 * image.width * image.height


def test_no_ink_is_black_or_white():
    """Text in the colour of a page could not be read on it; in a cell of a heat map it can."""
    svg = picture(recipe("slides-pairs").make(Workshop(5)), "svg", {}).decode()
    texts = re.findall(r"<(?:text|tspan)[^>]*style=\"([^\"]*)\"", svg)
    assert len(texts) > 50
    assert all(f"fill: {INK}" in style for style in texts)


def test_text_stays_text():
    root = ET.fromstring(picture(recipe("kov-1").make(Workshop(5)), "svg", {}))
    texts = ["".join(t.itertext()).strip() for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "The privacy region of one mechanism" in texts
    assert {"chance", "total variation", "0.2"} <= set(texts)
    assert any("ε" in text for text in texts)
    assert not any(e.get("id", "").startswith("DejaVu") for e in root.iter())


def test_pictures_are_told_to_those_who_do_not_see_them():
    data = recipe("kov-1").make(Workshop(5))
    root = ET.fromstring(picture(replace(data, title="a < b & c"), "svg", {}))
    assert root.get("role") == "img"
    title, seen, *_ = root
    assert (title.text, seen.text) == ("a < b & c", described(data))


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_titles_are_inside_and_whole(name):
    figure = drawn(recipe(name).make(Workshop(5)))
    FigureCanvasAgg(figure).draw()
    for text in (figure._suptitle, *(ax.title for ax in figure.axes)):
        box = text.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert all(line.count("$") % 2 == 0 for line in text.get_text().split("\n"))


def test_a_line_at_zero():
    with_line, without = (
        figure_of(Panel("", "x", "y", (line("a", -1, 1),), zero=zero)).axes[0].lines
        for zero in (True, False)
    )
    assert len(without) == 1
    assert list(with_line[1].get_ydata()) == [0, 0]


def luminance(colour):
    parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3]]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def test_an_empty_panel_says_why():
    ax = figure_of(Panel("name", "x", "y", note="it is not installed")).axes[0]
    assert [text.get_text() for text in ax.texts] == ["it is not installed"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["svg", "png"])
def test_processes_draw_the_same_bytes(kind):
    data = "recipe('kov-2').make(Workshop(10))"
    program = (
        "import hashlib; from dpexact.figures import Workshop, recipe;"
        "from dpexact.figures.drawing import picture;"
        f"print(hashlib.sha256(picture({data}, {kind!r}, {{'a': 'b'}})).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    here = picture(recipe("kov-2").make(Workshop(10)), kind, {"a": "b"})
    assert told.stdout.strip() == hashlib.sha256(here).hexdigest()
