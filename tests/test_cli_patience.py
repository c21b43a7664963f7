"""A question that takes long says so on stderr, and only then."""

import time

import pytest
import rich.console
from command_line import invoke

from dpexact.cli import patience


@pytest.mark.parametrize("terminal", [False, True])
def test_signs_of_life(monkeypatch, capsys, terminal):
    console = rich.console.Console
    monkeypatch.setattr(
        rich.console, "Console", lambda stderr: console(stderr=stderr, force_terminal=terminal)
    )
    monkeypatch.setattr(patience, "QUIET", 0.05)
    monkeypatch.setattr(patience, "EVERY", 0.05)
    with patience.patience("epsilon"):
        time.sleep(0.6)
    told = capsys.readouterr()
    assert told.out == ""
    assert "epsilon" in told.err
    assert ("dpexact: epsilon: 0 s so far\n" in told.err) == (not terminal)


@pytest.mark.parametrize(
    "arguments",
    [
        ["bounds", "gaussian(1)^9", "--delta", "1e-5"],
        ["approx", "gaussian(1)^9", "--method", "clt", "--delta", "1e-5"],
        ["symbolic", "pure_dp(1)"],
        ["dpsgd", "--rate", "1", "--steps", "2", "--target-epsilon", "1", "--delta", "1e-5"],
        ["delta", "pure_dp(1)", "--epsilon", "1/2", "--certificate", "made"],
        ["delta", "gaussian(1)", "--epsilon", "1/2", "--plot", "made.svg"],
        ["verify", "pure.json"],
    ],
)
def test_whatever_may_take_long_says_so(arguments, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    if arguments[0] == "verify":
        asked = ["delta", "pure_dp(1)", "--epsilon", "1/2", "--certificate", "pure.json"]
        assert invoke(*asked).exit_code == 0
    told = []
    monkeypatch.setattr(patience, "_tell", lambda question, _: told.append(question))
    assert invoke(*arguments).exit_code == 0
    words = ("bounds", "approx", "symbolic", "sigma", "certificate", "plot", "verifying pure.json")
    assert set(told) & set(words)


def test_quick_questions_are_silent(capsys):
    with patience.patience("epsilon"):
        pass
    assert capsys.readouterr() == ("", "")


def test_an_error_passes(capsys):
    with pytest.raises(ZeroDivisionError), patience.patience("epsilon"):
        _ = 1 / 0
