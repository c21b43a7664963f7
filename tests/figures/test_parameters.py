"""Figures with parameters of one's own: domains, errors that name them, and what the files say."""

import csv
import json
from fractions import Fraction
from functools import partial

import pytest
from command_line import invoke

import dpexact
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.figures import Workshop, recipe, recipes

#: Both ends of what is accepted, for the figures that take seconds.
EXTREMES = {
    "kov-1": [{"eps": "0", "delta": "0"}, {"eps": "20", "delta": "1-1e-9", "k": "200"}],
    "kov-2": [{"eps": "0", "k": "100"}, {"eps": "20", "delta": "1-1e-9", "k": "1,2,3,4,5,6,100"}],
    "kov-3-top": [
        {"eps": "1e-30", "delta": "0", "k": "1"},
        {"eps": "5", "delta": "1-1e-9", "k": "1"},
    ],
    "kov-3-bottom": [{"eps": "1e-30", "k": "1"}, {"eps": "20", "delta": "1-1e-9", "k": "10"}],
    "gdp-2": [{"mu": "1e-30", "eps": "0"}, {"mu": "20", "above": "20", "eps": "20"}],
    "gdp-3-left": [{"eps": "0", "delta": "0"}, {"eps": "20", "delta": "1-1e-9"}],
    "gdp-3-right": [{"mu": "1e-30"}, {"mu": "20,19,18,17,16,15"}],
    "gdp-4": [{"mu": "1e-9", "eps": "0"}, {"mu": "20", "eps": "20,19,18,17,16,15"}],
    "gdp-5-left": [{"mu": "1e-30", "delta": "0"}, {"mu": "20", "delta": "999/1000"}],
    "gdp-5-right": [{"k": "1", "eps": "1e-9", "total": "0"}, {"k": "200", "total": "100"}],
    "gdp-6-left": [{"mu": "1e-30", "p": "0"}, {"mu": "20", "p": "1"}],
    "gdp-6-right": [{"eps": "1e-9", "p": "1e-9"}, {"eps": "20", "delta": "0.999", "p": "1"}],
    "steinke-1": [{"eps": "1e-9", "k": "2"}, {"eps": "5", "delta": "0.99", "k": "3"}],
    "steinke-2": [{"p": "1e-9", "rho": "1e-9", "order": "3"}, {"p": "1/2", "rho": "10"}],
    "slides-pairs": [{"eps": "1e-9", "order": "2"}, {"eps": "3.999", "order": "200"}],
}

run = partial(invoke, "figure")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "given"),
    [
        pytest.param(name, given, id=f"{name} {given}")
        for name, all_ in EXTREMES.items()
        for given in all_
    ],
)
def test_the_ends_of_the_domains_are_drawn(name, given):
    """Each point is certified to its digits; where a difference cancels, to what is drawn."""
    data = recipe(name).make(Workshop(10), given)
    assert data.count > 0
    for panel in data.panels:
        for number in panel.enclosures():
            assert number.digits >= 10 or number.upper - number.lower < 1e-9
    from dpexact.figures.describing import described

    assert "nan" not in described(data)
    pytest.importorskip("matplotlib")
    from dpexact.figures.drawing import picture

    assert picture(data, "svg", {})


@pytest.mark.parametrize("each", recipes(), ids=lambda each: each.name)
def test_what_the_source_has_is_accepted_and_changes_nothing(each):
    usual = {name: one.default for name, one in each.parameters.items()}
    assert each.settings(usual) == each.settings()
    assert not each.settings(usual).changed
    for name, one in each.parameters.items():
        assert one.meaning
        assert each.settings({name: f" {one.default} "}) == each.settings()
        with pytest.raises(InvalidInput, match=f"set: {name} of {each.name}: "):
            each.settings({name: "-1"})


def test_parameters_of_ones_own(tmp_path):
    result = run("kov-1", "--set", "eps=0.2", "--set", "k=50", "-o", tmp_path, "--format", "csv")
    assert result.exit_code == 0, result.output
    text = (tmp_path / "kov-1.csv").read_text()
    assert "# command: dpexact figure kov-1 --set eps=0.2 --set k=50 --digits 30\n" in text
    assert "# source: after Kairouz" in text
    assert "Parameters other than those of the source: eps = 0.2, k = 50." in text
    rows = list(csv.DictReader(line for line in text.splitlines() if not line.startswith("#")))
    mechanism = "approx_dp(0.2, 1/10)^50"
    f = dpexact.tradeoff(mechanism)
    for row in rows[20:60:10]:
        x = Enclosure(Fraction(row["x_lower"]), Fraction(row["x_upper"]))
        y = Enclosure(Fraction(row["y_lower"]), Fraction(row["y_upper"]))
        between = Enclosure(f(x.upper, 20).lower, f(x.lower, 20).upper)  # f decreases
        assert y.overlaps(between)
    (end,) = (r for r in rows if r["series"] == "total variation" and r["x_upper"] == "0")
    distance = dpexact.delta(mechanism, 0, 25)
    assert Fraction(end["y_lower"]) <= 1 - Fraction(distance.lower)
    assert 1 - Fraction(distance.upper) <= Fraction(end["y_upper"])


@pytest.mark.slow
def test_the_order_and_the_spelling_of_settings_leave_the_bytes(tmp_path):
    pytest.importorskip("matplotlib")
    settings = [
        ["k=3", "eps=log(3/2)"],
        ["eps= log(3/2)", "k=3"],
        ["k=3", "delta=0.1", "eps=log(3/2)"],
    ]
    written = []
    for number, given in enumerate(settings):
        options = [word for each in given for word in ("--set", each)]
        result = run("kov-1", *options, "-o", tmp_path / str(number), "--format", "svg,json")
        assert result.exit_code == 0, result.output
        written.append(
            [(tmp_path / str(number) / f"kov-1.{k}").read_bytes() for k in ("svg", "json")]
        )
    assert written[0] == written[1] == written[2]
    assert b"--set 'eps=log(3/2)' --set k=3" in written[0][0]


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        ("kov-1", ["epsilon=1"], "unknown parameter of kov-1 'epsilon'; did you mean 'eps'?"),
        ("kov-1", ["K=1"], "unknown parameter of kov-1 'K'; known: eps, delta, k"),
        ("slides-census", ["k=1"], "slides-census has none"),
        ("kov-1", ["k"], "set: 'k' is not accepted; use NAME=VALUE"),
        ("kov-1", ["k="], "use NAME=VALUE"),
        ("kov-1", ["=1"], "use NAME=VALUE"),
        ("kov-1", ["k=1", "k=2"], "set: k is given twice"),
        ("kov-1", ["k=0"], "k of kov-1: 0 is not accepted; must be an integer from 1 to 200"),
        ("kov-1", ["k=1.5"], "1.5 is not accepted"),
        ("kov-1", ["eps=-1"], "eps of kov-1: -1 is not accepted; must be >= 0 and <= 20"),
        ("kov-1", ["eps=nan"], "eps of kov-1: nan is not a finite number"),
        ("kov-1", ["eps=log("], "eps of kov-1: column 5 of 'log(': expected a number"),
        ("kov-2", ["k=1,2,1"], "has a number twice"),
        ("kov-2", ["k=1,2,3,4,5,6,7,8"], "8 numbers are not accepted; use 1 to 7"),
        ("kov-3-top", ["delta=1/2"], "k delta = 15 is not accepted in kov-3-top; must be <= 1"),
        ("gdp-5-left", ["delta=1/sqrt(8)"], "delta of gdp-5-left: 1/sqrt(8) is not accepted"),
        ("gdp-7", ["sigma=1"], "1 of sigma, 3 of steps and 3 of eps are not accepted in gdp-7"),
        ("list", ["k=1"], "set: name the figure that it is for"),
        ("all", ["k=1"], "set: unknown parameter"),
    ],
)
def test_bad_settings_are_one_line(name, given, message, tmp_path):
    options = [word for each in given for word in ("--set", each)]
    result = run(name, *options, "-o", tmp_path, "--format", "csv")
    assert result.exit_code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_long_numbers_fit_into_titles():
    data = recipe("kov-1").make(Workshop(5), {"eps": "1." + "3" * 5000})
    assert len(data.caption) < 500
    assert len(data.panels[0].title) < 120


def test_help_and_list_show_the_parameters():
    told = run("kov-3-top", "--help").output
    assert "Parameters of kov-3-top" in told
    assert "k=30" in told
    assert "integers from 1 to 200" in told
    assert "Parameters of" not in run("--help").output
    assert "  --set eps=0.1 delta=0.001 k=30\n" in run("list").output
    (row,) = (
        r for r in json.loads(run("list", "--json").output)["figures"] if r["name"] == "kov-1"
    )
    assert row["parameters"]["k"] == {
        "default": "1",
        "meaning": "number of mechanisms composed",
        "accepted": "integers from 1 to 200",
    }


def test_a_folder_that_cannot_be_written_is_told_before_computing(tmp_path, monkeypatch):
    monkeypatch.setattr(Workshop, "answers", lambda *_: pytest.fail("it was computed"))
    (tmp_path / "steinke-1.csv").mkdir()
    result = run("steinke-1", "-o", tmp_path, "--format", "csv")
    assert result.exit_code == 2
    assert "it is a directory" in result.stderr
