"""Errors: one line on stderr, and the documented exit codes."""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, NoReturn

import click

from dpexact.answers import PrecisionNotReached
from dpexact.errors import Contradiction, DpexactError, NotWritten

EXIT_BAD_INPUT: Final = 2
EXIT_UNDECIDED: Final = 3
EXIT_INTERNAL: Final = 70
EXIT_NOT_WRITTEN: Final = 74
EXIT_INTERRUPTED: Final = 130
EXIT_CLOSED_PIPE: Final = 141

#: Set to anything, an internal error shows where it arose.
TRACEBACK: Final = "DPEXACT_TRACEBACK"


class OneLineErrors(click.Group):
    """A group whose errors are one line on stderr, with the documented exit codes."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        kwargs.update(standalone_mode=False, prog_name="dpexact")
        if sys.stdout is None:
            sys.stdout = _Closed()
        try:
            with _output():
                code = super().main(*args, **kwargs)
        except _Unwritten as error:
            # what is left in the buffer would fail once more at the end of the process
            _drop(sys.stdout)
            if isinstance(error.cause, BrokenPipeError):
                sys.exit(EXIT_CLOSED_PIPE)
            fail(f"the output could not be written: {error.cause.strerror}", EXIT_NOT_WRITTEN)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(EXIT_BAD_INPUT)
        except click.exceptions.Abort:
            fail("interrupted", EXIT_INTERRUPTED)
        except click.ClickException as error:
            fail(" ".join(error.format_message().split()), EXIT_BAD_INPUT)
        except PrecisionNotReached as error:
            fail(str(error), EXIT_UNDECIDED)
        except Contradiction as error:
            fail(str(error), EXIT_INTERNAL)
        except NotWritten as error:
            fail(str(error), EXIT_NOT_WRITTEN)
        except DpexactError as error:
            fail(str(error), EXIT_BAD_INPUT)
        except Exception as error:
            _fail_inside(error)
        sys.exit(code if isinstance(code, int) else 0)

    def _main_shell_completion(self, *args: Any, **kwargs: Any) -> None:
        try:
            super()._main_shell_completion(*args, **kwargs)
        except (KeyError, ValueError):  # as click reads them
            fail("COMP_WORDS and COMP_CWORD are not as a shell sets them", EXIT_BAD_INPUT)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with _output():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with _output():
            return super().invoke(ctx)


class _Unwritten(Exception):
    """Standard output took no more. Not an ``OSError``, for which click has a code of its own."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(cause)
        self.cause = cause


class _Closed(io.TextIOBase):
    """Standard output that was closed before there was anything to say."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


@contextmanager
def _output() -> Iterator[None]:
    """Tell errors of standard output, which name no file, from those of files."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as error:
        if error.errno is None or error.filename is not None:
            raise
        raise _Unwritten(error) from error
    except SystemExit as error:  # rich leaves by itself, with a code that says something else
        if isinstance(error.__context__, BrokenPipeError):
            raise _Unwritten(error.__context__) from None
        raise


def _drop(stream: Any) -> None:
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _fail_inside(error: Exception) -> NoReturn:
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    *_, last = traceback.extract_tb(error.__traceback__)
    said = " ".join(f"{type(error).__name__}: {error}".split())
    fail(
        f"internal error: {said} ({os.path.basename(last.filename)}:{last.lineno}); this is a "
        f"defect of dpexact: please report it with the command, and what {TRACEBACK}=1 shows",
        EXIT_INTERNAL,
    )


def fail(message: str, code: int) -> NoReturn:
    """Say ``message`` on stderr, if anything can be said there, and leave with ``code``."""
    try:
        click.echo(f"dpexact: {message}", err=True)
    except OSError:
        _drop(sys.stderr)
    sys.exit(code)
