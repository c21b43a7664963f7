"""A question that takes long says so on stderr, and only then."""

import time

import pytest
import rich.console

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


def test_quick_questions_are_silent(capsys):
    with patience.patience("epsilon"):
        pass
    assert capsys.readouterr() == ("", "")


def test_an_error_passes(capsys):
    with pytest.raises(ZeroDivisionError), patience.patience("epsilon"):
        _ = 1 / 0
