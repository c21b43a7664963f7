"""The child that answers: ``python -m dpexact.serve.working`` reads a request a line.

A request is ``{"part": name, "fields": {...}, "seconds": n}``, its answer what
:func:`dpexact.serve.parts.part` returns; ``null`` is echoed. More than ``seconds`` of the processor
end the process, and so does the end of its requests.
"""

from __future__ import annotations

import math
from typing import Any, Final

from dpexact.audits.children import answer_requests
from dpexact.errors import InvalidInput
from dpexact.serve.forms import Form
from dpexact.serve.parts import part, problem

#: Memory that one child may take, in bytes.
MEMORY: Final = 4 << 30


def answer(request: Any) -> Any:
    """The answer to one request."""
    if request is None:
        return None
    _limit(request["seconds"])
    try:
        form = Form.of(request["fields"])
    except InvalidInput as error:
        return problem(str(error))
    try:
        return part(request["part"], form)
    except MemoryError:
        return problem(f"this needs more than {MEMORY >> 30} GiB of memory")
    except Exception as error:
        said = f"internal error: {type(error).__name__}: {error}"
        return problem(f"{said}; this is a defect of dpexact: please report it with the command")


def _limit(seconds: int) -> None:
    """Let the processor work for so long from now on."""
    try:
        import resource
    except ImportError:  # not every system has it; the time of the clock is limited everywhere
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    for kind, most in (
        (resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime) + seconds),
        (resource.RLIMIT_AS, MEMORY),
    ):
        hard = resource.getrlimit(kind)[1]
        resource.setrlimit(
            kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard)
        )


if __name__ == "__main__":
    answer_requests(lambda request: [answer(request)])
