"""The verbs that compute nothing of a mechanism: the page, the check, schemas and completion."""

from __future__ import annotations

import json
import time
from dataclasses import asdict

import click
from click.shell_completion import get_completion_class

from dpexact.cli.options import cores, json_option
from dpexact.cli.printing import echo_json


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


@click.command()
@click.option(
    "--seed", type=click.IntRange(0, 2**63), default=0, show_default=True, help="Of random cases."
)
@json_option
def selftest(seed: int, as_json: bool) -> int:
    """Check this installation, in some seconds.

    FLINT, known answers, and random cases on a second route are compared. The exit code is 1 if
    anything disagrees.

    \b
    Examples:
      dpexact selftest
      dpexact selftest --seed 7 --json
    """
    from dpexact.progress import progress_bar
    from dpexact.selftest import selftest as run

    started = time.perf_counter()
    with progress_bar("checking") as progress:
        checks = list(run(seed, progress))
    seconds = time.perf_counter() - started
    failed = [check for check in checks if not check.passed]
    if as_json:
        record = {
            "passed": not failed,
            "checks": [asdict(check) for check in checks],
            "seed": seed,
            "seconds": round(seconds, 6),
        }
        echo_json(record)
    else:
        for check in checks:
            click.echo(f"{'✓' if check.passed else '✗'} {check.name}: {check.detail}")
        ending = f"{len(failed)} wrong" if failed else "all right"
        click.echo(f"{len(checks)} checks: {ending}, {seconds:.3g} s")
    return int(bool(failed))


@click.command()
@click.argument("name", type=click.Choice(["claims", "workload", "report"]))
def schema(name: str) -> None:
    """Print the JSON Schema of a kind of file.

    That of claims files, of workload files, or of the JSON report of an audit.

    An editor that knows it completes keys and marks mistakes: name the file in the first line of a
    claims file, as "# yaml-language-server: $schema=claims.schema.json".

    \b
    Example:
      dpexact schema claims > claims.schema.json
    """
    from dpexact.audits import reports, schemas

    made = {
        "claims": schemas.claims_schema,
        "workload": schemas.workload_schema,
        "report": reports.schema,
    }
    click.echo(json.dumps(made[name](), indent=1, ensure_ascii=False))


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    Examples:
      eval "$(dpexact completion bash)"
      dpexact completion fish > ~/.config/fish/completions/dpexact.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(context.find_root().command, {}, "dpexact", "_DPEXACT_COMPLETE").source())
