"""The progress bar shows itself on terminals only."""

import pytest
from rich.console import Console

from dpexact import progress


@pytest.mark.parametrize("terminal", [True, False])
def test_bar_is_drawn_only_on_a_terminal(monkeypatch, capsys, terminal):
    monkeypatch.setattr(
        progress, "Console", lambda stderr: Console(stderr=stderr, force_terminal=terminal)
    )
    with progress.progress_bar("judging") as advance:
        advance(1, 2)
        advance(2, 2)
    assert ("judging" in capsys.readouterr().err) == terminal
