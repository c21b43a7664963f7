"""The gallery: every figure is on the page, and its committed data agree with recomputation."""

import csv
import re
from fractions import Fraction
from pathlib import Path

import pytest

import dpexact
from dpexact.accounting.approximate.central_limit import poisson_mu
from dpexact.enclosure import Enclosure
from dpexact.figures import Workshop, recipe, recipes
from dpexact.figures.computing import Question
from dpexact.reals import rational
from dpexact.tradeoffs import GaussianTradeoff

DOCS = Path(__file__).parents[2] / "docs"
NAMES = [each.name for each in recipes()]
BATCHES = "ways-to-make-batches"
QUICK = [name for name in NAMES if name.startswith(("kov", "gdp", "steinke")) and name != "gdp-7"]


def committed(name):
    lines = (DOCS / "figures" / f"{name}.csv").read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def number(row, axis):
    lower, upper = Fraction(row[f"{axis}_lower"]), Fraction(row[f"{axis}_upper"])
    return Enclosure(lower, upper)


def test_every_figure_is_in_the_gallery():
    page = (DOCS / "figures.md").read_text()
    assert re.findall(r"^### (.*)$", page, re.MULTILINE) == NAMES
    pictures = re.findall(r"!\[(.*)\]\(figures/(.*)\.svg\)", page)
    assert [name for _, name in pictures] == NAMES
    seen = {alt for alt, _ in pictures}
    assert len(seen) == len(NAMES)
    assert min(map(len, seen)) > 60  # what is seen, not what it is called
    assert re.findall(r"\[Data\]\(figures/(.*)\.csv\)", page) == NAMES


def test_the_gallery_is_small_and_whole():
    files = list((DOCS / "figures").iterdir())
    assert {path.name for path in files} == {
        f"{n}.{kind}" for n in NAMES for kind in ("svg", "csv")
    }
    assert sum(path.stat().st_size for path in files) < 2_000_000


@pytest.mark.parametrize("name", NAMES)
def test_files_say_how_they_were_made(name):
    for kind in ("svg", "csv"):
        text = (DOCS / "figures" / f"{name}.{kind}").read_text()
        assert f"command: dpexact figure {name} --digits 30" in text
        assert re.search(r"digits: 30\b", text)
        assert re.search(r"python-flint: \d", text)
        assert ("matplotlib: " in text) == (kind == "svg")


@pytest.mark.parametrize("name", NAMES)
def test_every_number_has_its_digits(name):
    for row in committed(name):
        assert number(row, "y").digits >= 30


@pytest.mark.parametrize("name", QUICK)
def test_committed_data_agree_with_recomputation(name):
    panels = recipe(name).make(Workshop(12)).panels
    points = [
        (panel.title, series.label, point)
        for panel in panels
        for series in panel.series
        for point in series.points
    ]
    rows = committed(name)
    for row, (title, label, point) in zip(rows, points, strict=True):
        assert (row["panel"], row["series"]) == (title, label)
        assert number(row, "x").overlaps(point.x)
        assert number(row, "y").overlaps(point.y)


def test_a_point_of_the_exact_curves():
    (row,) = (
        row
        for row in committed("gdp-7")
        if row["series"] == "exact"
        and "0.7" in row["panel"]
        and Fraction(row["x_lower"]) == Fraction(1, 10)
    )
    again = Question("tradeoff", "poisson(gaussian(0.7), 256/60000)^10546", "1/10").answer(8)
    assert number(row, "y").overlaps(again)


def test_the_errors_of_the_central_limit_are_differences():
    rows = committed("gdp-7")
    assert len({row["panel"] for row in rows}) == 3
    exact = {(r["panel"], r["x_lower"]): number(r, "y") for r in rows if r["series"] == "exact"}
    differences = [row for row in rows if row["series"] == r"$G_\mu$ $-$ exact"]
    assert len(differences) == len(exact) == 3 * 39
    assert sum(Fraction(row["x_lower"]) > Fraction(1, 2) for row in differences) == 3 * 19
    for row in differences:
        sigma, steps = re.findall(r"= (.*), (\d+) steps", row["panel"])[0]
        mu = poisson_mu(sigma, "256/60000", int(steps), 40)
        alpha = number(row, "x")
        low = GaussianTradeoff(rational(mu.upper))(alpha.upper, 35).lower
        high = GaussianTradeoff(rational(mu.lower))(alpha.lower, 35).upper
        true = exact[row["panel"], row["x_lower"]]
        assert number(row, "y").overlaps(Enclosure(low - true.upper, high - true.lower))


def test_a_cell_of_the_central_limit():
    (row,) = (
        row
        for row in committed("clt-understatement")
        if (row["series"], row["x_lower"]) == ("0.8", "0.1")
    )
    mechanism = "poisson(gaussian(0.8), 1/100)^100"
    again = dpexact.approximation_error(mechanism, "clt-poisson", digits=8, delta="1e-5").ratio
    assert number(row, "y").overlaps(again)


@pytest.mark.slow
def test_a_point_of_each_bound():
    """The slack at k = 100 by bounds and exact epsilon asked for apart."""
    exact = dpexact.epsilon("gaussian(10)^100", "1e-6", 15)
    for row in committed("slack-of-bounds"):
        if "Gaussian" not in row["panel"] or row["x_lower"] != "100":
            continue
        (bound,) = (
            b for b in dpexact.bounds("gaussian(10)^100", "1e-6", 15) if b.name == row["series"]
        )
        ends = (
            Fraction(bound.value.lower) / Fraction(exact.upper) - 1,
            Fraction(bound.value.upper) / Fraction(exact.lower) - 1,
        )
        assert number(row, "y").overlaps(Enclosure(*ends))


@pytest.mark.slow
def test_the_ways_to_make_batches_are_ordered():
    """Also by an engine that shares nothing with the curve of the samples."""
    rows = committed(BATCHES)
    found = {
        (row["series"], row["x_lower"]): number(row, "y")
        for row in rows
        if row["panel"] == rows[0]["panel"]
    }
    noises = {noise for _, noise in found}
    for noise in noises:
        above, below = (found[f"permuted, from {side}", noise] for side in ("above", "below"))
        poisson, balls = found["Poisson samples", noise], found["balls in bins", noise]
        assert found["every record in every step", noise] > above > below > poisson > balls
    found_again = dpexact.epsilon(
        "poisson(gaussian(1), 1/100)^1000", "1e-5", 2, "remove", method="lattice"
    )  # of the two directions the larger
    assert found["Poisson samples", "1"].overlaps(found_again)
    at = Fraction(found["balls in bins", "0.8"].lower)
    delta = dpexact.delta("allocation(gaussian(0.8), 100)^10", at, 12)
    assert float(delta.lower) == pytest.approx(1e-5, rel=1e-9)


def test_what_others_gave_is_divided_by_what_is_certified():
    rows = [row for row in committed(BATCHES) if row["panel"].startswith("balls in bins")]
    beside = {(row["series"], row["x_lower"]): number(row, "y") for row in rows}
    low, high = "PLD_accounting 2.0", "PLD_accounting 2.0, upper end"
    for noise in ("0.6", "1", "2"):
        assert beside[low, noise] < 1 < beside[high, noise]
    truth = dpexact.epsilon("allocation(gaussian(1), 100)^10", "1e-5", 12)
    recorded = Fraction("1.7398246227821421") / Fraction(truth.lower)
    assert float(beside[high, "1"].lower) == pytest.approx(float(recorded), rel=1e-9)


def test_the_accountants_name_their_versions():
    rows = committed("accountants")
    asked = {row["panel"] for row in rows}
    assert len(asked) >= 7
    assert all(re.search(r" \(.* \d+\.\d.*\)$", panel) for panel in asked)
