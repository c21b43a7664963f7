"""The verb that shows a page."""

from __future__ import annotations

import click

from dpexact.cli.options import cores


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8317,
    show_default=True,
    help="Where to listen; 0 takes any port that is free.",
)
def serve(port: int) -> None:
    """A calculator in the browser: a configuration in, certified answers and pictures out.

    The page is for this machine alone, and needs no internet. It computes as the other verbs do,
    a minute for each part at most, and shows the command line that asks the same.

    \b
    Example:
      dpexact serve --port 8000
    """
    from dpexact.serve.running import check_installed, listening, run

    check_installed()
    with listening(port) as listener:
        address, taken = listener.getsockname()
        click.echo(f"dpexact: http://{address}:{taken}/ (Ctrl-C ends it)")
        run(listener, cores())
