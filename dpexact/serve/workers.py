"""Children that compute for the page: few at a time, limited, and gone with whoever asked."""

from __future__ import annotations

import signal
import sys
from typing import Any, Final

from anyio import CancelScope, CapacityLimiter, to_thread

from dpexact.audits.children import Child, ChildLost, ChildTooSlow
from dpexact.errors import DpexactError
from dpexact.serve.forms import Form

_COMMAND: Final = (sys.executable, "-m", "dpexact.serve.working")

#: Seconds of the processor that one part may take, and of the clock, in which others compute too.
SECONDS: Final = 60
PATIENCE: Final = 120.0
#: How many may wait.
QUEUE: Final = 32


class Busy(DpexactError):
    """Too many wait for an answer already."""


class Stopped(DpexactError):
    """No answer came: its time was up, or the child was lost; the message says which."""


class Workers:
    """Up to ``most`` children at work; idle ones are kept for the next question."""

    def __init__(self, most: int, seconds: int = SECONDS) -> None:
        self._places = CapacityLimiter(most)
        self._threads = CapacityLimiter(most + 4)  # a thread that waits for a child gives no turn
        self._seconds = seconds
        self.idle: list[Child] = []
        self.busy: set[Child] = set()

    async def ask(self, part: str, form: Form) -> dict[str, Any]:
        """The ``part`` of the answer to ``form``; if this is cancelled, the child is killed.

        Raises:
            Busy, Stopped: there is no answer.
        """
        if self.waiting >= QUEUE:
            raise Busy("too many questions at once; wait until others are answered")
        request = {"part": part, "fields": dict(form.fields), "seconds": self._seconds}
        async with self._places:
            child = Child.of(self.idle, _COMMAND)
            self.busy.add(child)
            try:
                found: dict[str, Any] = await to_thread.run_sync(
                    child.ask, request, PATIENCE, abandon_on_cancel=True, limiter=self._threads
                )
            except ChildLost as error:
                raise Stopped(self._reason(error)) from None
            except BaseException:
                with CancelScope(shield=True):
                    await to_thread.run_sync(child.close)
                raise
            else:
                self.idle.append(child)
                return found
            finally:
                self.busy.discard(child)

    @property
    def waiting(self) -> int:
        """How many questions wait for a child."""
        return self._places.statistics().tasks_waiting

    def close(self) -> None:
        """End all children."""
        for child in (*self.idle, *self.busy):
            child.close()
        self.idle.clear()

    def _reason(self, error: ChildLost) -> str:
        ended = f"killed by signal {getattr(signal, 'SIGXCPU', 0):d}"
        if isinstance(error, ChildTooSlow) or ended in str(error):
            return (
                f"stopped after {self._seconds} seconds of computing; the command line has no limit"
            )
        return f"no answer: {error}"
