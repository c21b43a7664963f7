"""Errors of the user: one line on stderr, and the documented exit codes."""

from __future__ import annotations

import sys
from typing import Any, Final, NoReturn

import click

from dpexact.answers import PrecisionNotReached
from dpexact.errors import Contradiction, DpexactError

EXIT_BAD_INPUT: Final = 2
EXIT_UNDECIDED: Final = 3
EXIT_INTERNAL: Final = 70


class OneLineErrors(click.Group):
    """A group whose errors are one line on stderr, with the documented exit codes."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        kwargs.update(standalone_mode=False, prog_name="dpexact")
        try:
            code = super().main(*args, **kwargs)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(EXIT_BAD_INPUT)
        except click.exceptions.Abort:
            fail("interrupted", 130)
        except click.ClickException as error:
            fail(" ".join(error.format_message().split()), EXIT_BAD_INPUT)
        except PrecisionNotReached as error:
            fail(str(error), EXIT_UNDECIDED)
        except Contradiction as error:
            fail(str(error), EXIT_INTERNAL)
        except DpexactError as error:
            fail(str(error), EXIT_BAD_INPUT)
        sys.exit(code if isinstance(code, int) else 0)


def fail(message: str, code: int) -> NoReturn:
    """Say ``message`` on stderr and leave with ``code``."""
    click.echo(f"dpexact: {message}", err=True)
    sys.exit(code)
