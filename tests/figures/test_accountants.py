"""The heat maps of accountants, with accountants that are made up, absent or broken."""

import json
from fractions import Fraction

import pytest

import dpexact
from dpexact.audits.accountants import AccountantInfo, find, questions_for
from dpexact.audits.claims import Claim
from dpexact.audits.runs import AccountantRun
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.figures import Workshop, accountants, recipe, write_figure
from dpexact.figures.model import HeatMap, Panel

NAMES = ("dp-accounting-pld", "opacus-gdp", "opendp")


SMALL = {"sigma": "1,4", "scale": "0.1"}


@pytest.fixture(autouse=True)
def installed():
    try:
        list(map(find, NAMES))
    except InvalidInput:
        pytest.skip("dpexact is not installed: there are no entry points")


def answers(name, cases, *values):
    """Claims of ``name`` on the ``cases`` as its adapter is asked about them."""
    accountant = find(name).accountant
    questions = questions_for(accountant, list(cases))[0]
    return [
        Claim(q.mechanism, "epsilon", value, q.at, kind, id=f"{name}: {q.case} ({kind})")
        for q, value in zip(questions, values, strict=False)
        for kind in accountant.kinds
    ]


@pytest.mark.slow
def test_errors_absent_and_unable(monkeypatch, tmp_path):
    def ask(asked, cases, progress, *, limits, jobs):
        assert asked == ["all"]
        runs = (
            AccountantRun("dp-accounting-pld", {"dp-accounting": "9.9"}, asked=2),
            AccountantRun("opacus-gdp", reason="accountant opacus-gdp: opacus is not installed"),
            AccountantRun("opendp", {"opendp": "9.9"}),
        )
        return answers("dp-accounting-pld", cases, "1.25"), runs

    monkeypatch.setattr(accountants.live, "ask", ask)
    data = recipe("accountants").make(Workshop(20), SMALL)
    first, second = data.panels  # the third does not account for sampled Gaussians
    assert first.title == "dp-accounting-pld (dp-accounting 9.9)"
    (error,), (missing,) = first.heat.values
    assert missing is None  # it gave no second answer
    claimed = Fraction("1.25")
    q = Fraction(0.01)
    truth = dpexact.epsilon(
        f"poisson(gaussian(1), {q})^100", Fraction(1e-5), 3, "remove", method="lattice"
    )  # of the two directions the larger
    assert error.digits >= 20
    assert claimed / Fraction(truth.upper) - 1 <= error.upper
    assert error.lower <= claimed / Fraction(truth.lower) - 1
    assert (second.title, second.heat, second.note) == (
        "opacus-gdp",
        None,
        "opacus is not installed",
    )

    files = write_figure(data, tmp_path, ["csv", "json"], 20, {})
    assert "# opacus-gdp: opacus is not installed" in files[0].read_text().splitlines()
    assert json.loads(files[1].read_text())["panels"][1]["note"] == "opacus is not installed"


@pytest.mark.parametrize("registered", [True, False])
def test_no_accountant_works(monkeypatch, registered):
    def ask(*_, **__):
        raise InvalidInput("accountant: none works here")

    told = [AccountantInfo("opacus-gdp", False, {}, "accountant opacus-gdp: it is absent")]
    monkeypatch.setattr(accountants.live, "ask", ask)
    monkeypatch.setattr(accountants, "available", lambda: told if registered else [])
    data = recipe("accountants").make(Workshop(10), SMALL)
    notes = [panel.note for panel in data.panels]
    assert notes == (["it is absent"] if registered else ["No accountant is registered here."])
    assert data.count == 0
    assert data.fewest_digits > 10


def test_a_broken_adapter_has_an_empty_panel(monkeypatch):
    runs = (AccountantRun("mine", reason="accountant mine: its adapter does not load"),)
    monkeypatch.setattr(accountants.live, "ask", lambda *_, **__: ([], runs))
    (panel,) = recipe("accountants").make(Workshop(10), SMALL).panels
    assert panel.title == "mine"
    assert "mine" in panel.note


@pytest.mark.slow
def test_an_accountant_that_is_installed(monkeypatch):
    pytest.importorskip("dp_accounting")
    ask = accountants.live.ask
    one = ["dp-accounting-rdp"]
    monkeypatch.setattr(accountants.live, "ask", lambda _, *rest, **more: ask(one, *rest, **more))
    (panel,) = recipe("accountants").make(Workshop(20), SMALL).panels
    assert panel.title.startswith("dp-accounting-rdp (dp-accounting ")
    assert all(error.lower > 0 and error.digits >= 20 for (error,) in panel.heat.values)


@pytest.mark.slow
def test_of_several_numbers_the_upper_bound_is_drawn(monkeypatch):
    def ask(_, cases, *__, **___):
        question = questions_for(find("prv-accountant").accountant, cases)
        q = question[0][0]
        values = {"upper": "3", "estimate": "2", "lower": "1"}
        claims = [
            Claim(
                q.mechanism, "epsilon", value, q.at, kind, id=f"prv-accountant: {q.case} ({kind})"
            )
            for kind, value in values.items()
        ]
        return claims, (AccountantRun("prv-accountant", {"prv-accountant": "9"}, asked=1),)

    monkeypatch.setattr(accountants.live, "ask", ask)
    (panel,) = recipe("accountants").make(Workshop(10), SMALL).panels
    assert panel.heat.label == "relative error (upper)"
    q = Fraction(0.01)
    truth = dpexact.epsilon(f"poisson(gaussian(1), {q})^100", Fraction(1e-5), 10)
    assert panel.heat.values[0][0].overlaps(
        Enclosure(3 / Fraction(truth.upper) - 1, 3 / Fraction(truth.lower) - 1)
    )


@pytest.mark.parametrize("kind", ["upper", "lower"])
def test_a_sound_bound_is_on_the_safe_side(kind):
    """Dark violet where the bound is sound, dark orange where it is not, whatever its sign."""
    pytest.importorskip("matplotlib")
    from dpexact.figures import FigureData
    from dpexact.figures.drawing import drawn

    errors = [Enclosure.exact(Fraction(sign, 4)) for sign in (1, -1)]
    heat = HeatMap("", ("a", "b"), ("",), (tuple(errors),), "", "error", (kind == "lower",))
    figure = drawn(FigureData("", "", "", "", (Panel("", "", "", heat=heat),)))
    ax, bar = figure.axes
    image = ax.images[0]
    red, _, blue, _ = zip(*image.cmap(image.norm(image.get_array()[0])), strict=True)
    orange = [r > b for r, b in zip(red, blue, strict=True)]
    assert orange == ([False, True] if kind == "upper" else [True, False])
    assert [text.get_text() for text in ax.texts] == ["+25 %", "-25 %"]
    assert "wrong side" in bar.get_ylabel()
    assert not any(tick.get_text().startswith("-") for tick in bar.get_yticklabels())


def test_an_optimistic_accountant_is_drawn_as_a_lower_bound(monkeypatch):
    runs = (AccountantRun("dp-accounting-pld-optimistic", {"dp-accounting": "9"}, asked=1),)
    monkeypatch.setattr(accountants.live, "ask", lambda *_, **__: ([], runs))
    (panel,) = recipe("accountants").make(Workshop(10), SMALL).panels
    assert panel.heat.lower == (True, True)
    assert panel.heat.label == "relative error (lower)"
