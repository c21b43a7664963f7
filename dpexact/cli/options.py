"""Arguments and options that several verbs share."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

import click
from click.shell_completion import CompletionItem

from dpexact.arguments import DIRECTIONS, MAX_DIGITS, METHODS
from dpexact.mechanisms.grammar import NAMES

Verb = TypeVar("Verb", bound=Callable[..., Any])

EXPR_HELP: Final = """EXPR is a mechanism, for example "approx_dp(1/10, 1/1000)^30",
"gaussian(1.3) * gaussian(2)", "group(poisson(gaussian(1), 0.01)^1000, 3)",
"allocation(gaussian(1), 100)^10" or "shuffle(pure_dp(1), 10000)". Numbers are exact: 1.3,
256/60000, 1e-5, log(3/2), sqrt(2)."""


def complete_mechanism(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the mechanism name that is being typed."""
    start = max(incomplete.rfind(c) for c in "(*, ") + 1
    typed, word = incomplete[:start], incomplete[start:]
    return [CompletionItem(f"{typed}{name}(") for name in NAMES if name.startswith(word)]


expression = click.argument("expr", shell_complete=complete_mechanism)


def together(*options: Callable[[Any], Any]) -> Callable[[Verb], Verb]:
    """Some options as one, in the order in which the help has them."""

    def added(command: Verb) -> Verb:
        for option in reversed(options):
            command = option(command)
        return command

    return added


def digits_of(
    usual: int, most: int = MAX_DIGITS, said: str = "Certified significant digits."
) -> Callable[[Verb], Verb]:
    """The option ``--digits``."""
    numbers = click.IntRange(1, most)
    return click.option("--digits", type=numbers, default=usual, show_default=True, help=said)


class _File(click.Path):
    """A path; "-" stands for one stream in some programs, and for the other in others."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        if value == "-":
            self.fail("'-' is not a file; write /dev/stdin, /dev/stdout or ./-", param, ctx)
        return super().convert(value, param, ctx)


#: A file that a verb reads or writes.
FILE: Final = _File(path_type=Path)


def file_option(name: str, said: str, **more: Any) -> Callable[[Verb], Verb]:
    """The option ``--name FILE``, whose value is ``name_file``."""
    return click.option(f"--{name}", f"{name}_file", type=FILE, metavar="FILE", help=said, **more)


def jobs_option(said: str, **more: Any) -> Callable[[Verb], Verb]:
    """The option ``--jobs``."""
    return click.option("--jobs", type=click.IntRange(1, 1024), help=said, **more)


digits_option = digits_of(15)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
method_option = click.option(
    "--method",
    type=click.Choice(METHODS),
    default="auto",
    show_default=True,
    help="Force an accounting method.",
)
direction_option = click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    default="both",
    show_default=True,
    help="Neighbours: the record is removed, added, or the worse of both.",
)
#: Those of most questions.
asking_options = together(digits_option, direction_option, json_option)


class SecondsRange(click.FloatRange):
    """A range of seconds, which NaN is not in."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail("nan is not a number of seconds", param, ctx)
        return number


#: A time limit: at most a day.
SECONDS: Final = SecondsRange(0, 86_400, min_open=True)


def cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def program(path: str) -> str:
    """The program at ``path``, or of that name."""
    executable = shutil.which(os.path.expanduser(path))
    if executable is None:
        raise click.BadParameter(f"{path!r} is not a program; give the path of a Python")
    return executable


def _interpreters(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> dict[str, str]:
    """Interpreters by accountant, from ``NAME=PATH`` or, for all others, ``PATH``."""
    found: dict[str, str] = {}
    for text in given:
        name, separator, path = text.partition("=")
        if not separator or os.sep in name:
            name, path = "", text
        executable = program(path)
        if name in found:
            whose = f"for {name}" if name else "for all"
            raise click.BadParameter(f"given twice {whose}")
        found[name] = executable
    return found


python_option = click.option(
    "--python",
    "pythons",
    multiple=True,
    metavar="[NAME=]PATH",
    callback=_interpreters,
    help="Interpreter that has the package of accountant NAME, or of all.  [default: this one]",
)
accountant_option = click.option(
    "--accountant", "accountants", multiple=True, metavar="NAME", help="Audit what this answers."
)
workload_option = click.option(
    "--workload", "workloads", multiple=True, metavar="NAME", help="Cases that it is asked."
)
answer_timeout_option = click.option(
    "--answer-timeout",
    type=SECONDS,
    default=60,
    show_default=True,
    help="Seconds for an answer of an accountant.",
)
memory_option = click.option(
    "--memory",
    type=click.IntRange(64, 1 << 24),
    metavar="MIB",
    help="Memory for an accountant.  [default: any]",
)


def without_effect(*names: str) -> Callable[[Verb], Verb]:
    """Options that scripts may give because they stood on the same line as others once."""
    return together(*(click.option(name, hidden=True, expose_value=False) for name in names))
