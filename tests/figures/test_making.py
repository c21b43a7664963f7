"""Figures as files: data with both bounds, deterministic pictures, clear errors."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from fractions import Fraction
from functools import partial

import pytest
from command_line import invoke

from dpexact.cli import main
from dpexact.errors import InvalidInput
from dpexact.figures import Workshop, drawing, recipe, recipes, write_figure
from dpexact.figures.computing import Question, grid
from dpexact.figures.writing import formats_in

pytest.importorskip("matplotlib", reason="pictures need matplotlib")

run = partial(invoke, "figure")


def test_the_list_names_every_figure():
    names = [each.name for each in recipes()]
    assert len(names) == len(set(names)) >= 17
    lines = [line for line in run("list").output.splitlines() if not line.startswith("  --set ")]
    assert [line.partition(":")[0] for line in lines] == names
    assert [row["name"] for row in json.loads(run("list", "--json").output)["figures"]] == names


@pytest.mark.slow
def test_data_and_pictures_are_written_together(tmp_path):
    result = run("kov-1", "-o", tmp_path / "new" / "folder", "--format", "svg,png,pdf,csv,json")
    assert result.exit_code == 0, result.output
    assert "16 certified numbers, the widest enclosure has 30 digits" in result.output
    files = {path.suffix: path.read_bytes() for path in (tmp_path / "new" / "folder").iterdir()}
    assert set(files) == {".svg", ".png", ".pdf", ".csv", ".json"}
    assert files[".png"].startswith(b"\x89PNG")
    assert files[".pdf"].startswith(b"%PDF")
    assert ET.fromstring(files[".svg"]).tag.endswith("svg")
    record = json.loads(files[".json"])
    assert record["metadata"]["figure"] == "kov-1"
    assert record["metadata"]["digits"] == "30"
    assert "Our choice: epsilon = 1" in record["metadata"]["caption"]
    lines = files[".csv"].decode().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    points = [p for s in record["panels"][0]["series"] for p in s["points"]]
    assert [row["y_lower"] for row in rows] == [p["y"]["lower"] for p in points]
    for row in rows:
        assert Fraction(row["x_lower"]) <= Fraction(row["x_upper"])
        width = Fraction(row["y_upper"]) - Fraction(row["y_lower"])
        assert 0 <= width <= Fraction(row["y_upper"]) / 10**30


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_pictures_are_deterministic(kind):
    data = recipe("kov-2").make(Workshop(10))
    assert drawing.picture(data, kind, {"a": "b"}) == drawing.picture(data, kind, {"a": "b"})


@pytest.mark.slow
def test_processes_give_the_same_points():
    name = "steinke-2"
    assert recipe(name).make(Workshop(15, 2)) == recipe(name).make(Workshop(15))


def test_equal_questions_are_answered_once():
    told = []
    workshop = Workshop(10, progress=lambda done, total: told.append((done, total)))
    first, second = workshop.answers([Question("delta", "gdp(1)", "1")] * 2)
    assert first == second
    assert told == [(0, 1), (1, 1)]


@pytest.mark.slow
def test_a_point_without_its_digits_is_kept_as_wide_as_it_is():
    found = Question("epsilon", "fixed_size(gaussian(1), 1, 10)^3", "1e-5").answer(15)
    assert found.digits < 15


def test_a_figure_without_pictures_needs_no_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run("kov-1", "-o", tmp_path, "--format", "csv,json").exit_code == 0
    result = run("kov-1", "-o", tmp_path, "--format", "csv,png")
    assert result.exit_code == 2
    assert 'needs matplotlib; pip install "dpexact[plot]", or write csv,json' in result.stderr


def test_matplotlib_is_looked_for_before_computing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(Workshop, "answers", lambda *_: pytest.fail("it was computed"))
    result = run("steinke-1", "-o", tmp_path / "out")  # pictures are made by default
    assert result.exit_code == 2
    assert "format svg: needs matplotlib" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kov-9"], "figure: unknown name 'kov-9'; did you mean 'kov-"),
        (["zzz"], "figure: unknown name 'zzz'; known: "),
        (["kov-1", "--format", "svg,bmp"], "format: 'bmp' is not accepted; use svg, png"),
        (["kov-1", "--format", ""], "format: '' is not accepted"),
        (["kov-1", "--digits", "0"], "'--digits'"),
        ([], "Missing argument"),
    ],
)
def test_bad_input_is_one_line(arguments, message, tmp_path):
    result = run(*arguments, "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "out").write_text("mine")
    result = run("kov-1", "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert (tmp_path / "out").read_text() == "mine"
    with pytest.raises(InvalidInput, match="cannot be made"):
        write_figure(recipe("kov-1").make(Workshop(5)), tmp_path / "out" / "in", ["csv"], 5, {})


def test_formats():
    assert formats_in(" SVG, csv,svg") == ("svg", "csv")


def test_grids_are_exact():
    assert grid(0, 1, 4) == [0, Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), 1]


def test_several_figures_have_a_total(tmp_path):
    names = ["kov-1", "gdp-3-left"]
    lines = run(*names, "-o", tmp_path, "--format", "csv").output.splitlines()
    assert len(lines) == 3
    assert lines[-1].startswith(
        "2 figures: 28 certified numbers, the widest enclosure has 30 digits"
    )
    record = json.loads(run(*names, "-o", tmp_path, "--format", "csv", "--json").output)
    assert record["numbers"] == sum(each["numbers"] for each in record["figures"]) == 28
    assert record["fewest_digits"] == 30


def test_names_complete():
    command = main.commands["figure"]
    (argument,) = (each for each in command.params if each.name == "names")
    with command.make_context("figure", ["list"]) as context:
        found = [item.value for item in argument.shell_complete(context, "kov-3")]
        assert found == ["kov-3-top", "kov-3-bottom"]
        assert {"all", "accountants"} <= {i.value for i in argument.shell_complete(context, "a")}


def test_pictures_tell_how_they_were_made(tmp_path):
    from PIL import Image

    run("kov-1", "-o", tmp_path, "--format", "svg,png")
    told = Image.open(tmp_path / "kov-1.png").text["Description"]
    for key in ("command: dpexact", "digits: 30", "dpexact: ", "flint: ", "matplotlib: "):
        assert key in told
        assert key in (tmp_path / "kov-1.svg").read_text()


@pytest.mark.slow
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(("jobs", "delay"), [(1, 0.5), (2, 0.3), (2, 2)])
def test_an_interrupt_ends_at_once_and_leaves_nothing(tmp_path, jobs, delay):
    """Of two figures the first stays whole, of the second there is nothing."""
    command = [sys.executable, "-m", "dpexact", "figure", "kov-1", "gdp-7", "--jobs", str(jobs)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    making = subprocess.Popen(
        [*command, "-o", str(tmp_path / "out"), "--format", "csv"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        start_new_session=True,
    )
    while making.poll() is None and not (tmp_path / "out" / "kov-1.csv").exists():
        time.sleep(0.01)
    time.sleep(delay)  # the processes of the second start, or are at work
    os.killpg(making.pid, signal.SIGINT)  # as a terminal does: the whole group
    said = making.communicate(timeout=60)[1].decode()
    assert (making.returncode, said.strip()) == (130, "dpexact: interrupted")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["kov-1.csv"]


def test_a_file_is_the_same_wherever_it_is_written(tmp_path):
    found = []
    for folder in (tmp_path / "here", tmp_path / "there"):
        result = invoke("figure", "kov-1", "-o", folder, "--format", "csv")
        assert result.exit_code == 0, result.output
        found.append((folder / "kov-1.csv").read_bytes())
    assert found[0] == found[1]
