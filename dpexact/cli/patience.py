"""Signs of life on stderr while one question takes long."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

#: Seconds before anything is said, and between lines where no terminal is.
QUIET: Final = 2.0
EVERY: Final = 10.0


@contextmanager
def patience(question: str, about: str = "") -> Iterator[None]:
    """While the body runs: a clock on a terminal, a line every ten seconds elsewhere.

    ``about`` says how long all of it takes, where that is known.
    """
    question += about and f" ({about} in all, or more)"
    done = threading.Event()
    teller = threading.Thread(target=_tell, args=(question, done), daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _tell(question: str, done: threading.Event) -> None:
    started = time.monotonic()
    if done.wait(QUIET):
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if console.is_terminal:
        columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
        with Progress(*columns, console=console, transient=True) as clock:
            clock.add_task(question, total=None)
            done.wait()
        return
    while not done.wait(EVERY):
        console.print(f"dpexact: {question}: {time.monotonic() - started:.0f} s so far")
