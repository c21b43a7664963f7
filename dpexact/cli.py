"""The command line: parse, call, print. Nothing here computes."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NoReturn

import click
from click.shell_completion import CompletionItem, get_completion_class

import dpexact
from dpexact.accounting.choose import METHODS
from dpexact.arguments import DIRECTIONS, MAX_COUNT, MAX_DIGITS
from dpexact.enclosure import Enclosure
from dpexact.errors import DpexactError, PrecisionNotReached
from dpexact.mechanisms.grammar import NAMES

EXIT_BAD_INPUT: Final = 2
EXIT_UNDECIDED: Final = 3

_EXPR_HELP: Final = """EXPR is a mechanism, for example "approx_dp(1/10, 1/1000)^30" or
"gaussian(1.3) * gaussian(2)". Numbers are exact: 1.3, 256/60000, 1e-5, log(3/2), sqrt(2)."""


class _OneLineErrors(click.Group):
    """A group whose errors are one line on stderr, with the documented exit codes."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        kwargs.update(standalone_mode=False, prog_name="dpexact")
        try:
            code = super().main(*args, **kwargs)
        except click.exceptions.NoArgsIsHelpError as error:
            error.show()
            sys.exit(EXIT_BAD_INPUT)
        except click.exceptions.Abort:
            _fail("interrupted", 130)
        except click.ClickException as error:
            _fail(" ".join(error.format_message().split()), EXIT_BAD_INPUT)
        except PrecisionNotReached as error:
            _fail(str(error), EXIT_UNDECIDED)
        except DpexactError as error:
            _fail(str(error), EXIT_BAD_INPUT)
        sys.exit(code if isinstance(code, int) else 0)


def _fail(message: str, code: int) -> NoReturn:
    click.echo(f"dpexact: {message}", err=True)
    sys.exit(code)


def _complete_mechanism(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Complete the mechanism name that is being typed."""
    start = max(incomplete.rfind(c) for c in "(*, ") + 1
    typed, word = incomplete[:start], incomplete[start:]
    return [CompletionItem(f"{typed}{name}(") for name in NAMES if name.startswith(word)]


_expression = click.argument("expr", shell_complete=_complete_mechanism)
_digits = click.option(
    "--digits",
    type=click.IntRange(1, MAX_DIGITS),
    default=15,
    show_default=True,
    help="Certified significant digits.",
)
_as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
_method = click.option(
    "--method",
    type=click.Choice(METHODS),
    default="auto",
    show_default=True,
    help="Force an accounting method.",
)
_direction = click.option(
    "--direction",
    type=click.Choice(DIRECTIONS),
    default="both",
    show_default=True,
    help="Neighbours: the record is removed, added, or the worse of both.",
)


@click.group(
    cls=_OneLineErrors,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(dpexact.__version__, message="%(prog)s %(version)s")
def main() -> None:
    """Certified differential-privacy accounting, and audits of other accountants.

    \b
    Examples:
      dpexact delta "approx_dp(1/10, 1/1000)^30" --epsilon 3/2 --digits 30
      dpexact epsilon "gaussian(1.3)^100" --delta 1e-5
      dpexact audit claims.yaml --html report.html
      dpexact audit --accountant dp-accounting-pld --workload basics

    \b
    Exit codes: 0 done (audit: every claim sound), 1 a claim is certified unsound,
    2 bad input or usage, 3 undecided at the precision cap.
    """


@main.command(epilog=_EXPR_HELP)
@_expression
@click.option("--epsilon", required=True, metavar="E", help="Exact number >= 0.")
@_digits
@_direction
@_method
@_as_json
def delta(expr: str, epsilon: str, digits: int, direction: str, method: str, as_json: bool) -> int:
    """Enclose the smallest delta at EPSILON.

    \b
    Examples:
      dpexact delta "approx_dp(1/10, 1/1000)^30" --epsilon 3/2
      dpexact delta "gdp(1/100)" --epsilon 0.7 --digits 30 --json
    """
    return _answer(
        lambda: dpexact.delta(expr, epsilon, digits, direction, method=method),
        expr,
        digits,
        as_json,
        quantity="delta",
        arguments={"epsilon": epsilon},
        direction=direction,
    )


@main.command(epilog=_EXPR_HELP)
@_expression
@click.option("--delta", required=True, metavar="D", help="Exact number in [0, 1].")
@_digits
@_direction
@_method
@_as_json
def epsilon(expr: str, delta: str, digits: int, direction: str, method: str, as_json: bool) -> int:
    """Enclose the smallest epsilon at DELTA ("inf" where there is none).

    \b
    Examples:
      dpexact epsilon "gaussian(1)" --delta 1e-300 --digits 30
      dpexact epsilon "pure_dp(0.1)^100" --delta 1e-6
    """
    return _answer(
        lambda: dpexact.epsilon(expr, delta, digits, direction, method=method),
        expr,
        digits,
        as_json,
        quantity="epsilon",
        arguments={"delta": delta},
        direction=direction,
    )


@main.command(epilog=_EXPR_HELP)
@_expression
@click.option("--order", required=True, metavar="A", help='Exact number >= 1, or "inf".')
@click.option(
    "--method",
    type=click.Choice(["auto", "binomial", "series", "trapezoid", "sandwich"]),
    default="auto",
    show_default=True,
    help="Force a method for sampled Gaussians.",
)
@_digits
@_direction
@_as_json
def renyi(expr: str, order: str, method: str, digits: int, direction: str, as_json: bool) -> int:
    """Enclose the Renyi divergence of the order A.

    \b
    Examples:
      dpexact renyi "poisson(gaussian(1), 0.01)" --order 2.5 --digits 25
      dpexact renyi "laplace(2)^3" --order inf
    """
    return _answer(
        lambda: dpexact.renyi(expr, order, digits, direction, method=method),
        expr,
        digits,
        as_json,
        quantity="renyi",
        arguments={"order": order},
        direction=direction,
    )


@main.command(epilog=_EXPR_HELP)
@_expression
@click.option("--alpha", metavar="A", help="Type I error: an exact number in [0, 1].")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw the whole function here.")
@_digits
@_as_json
def tradeoff(expr: str, alpha: str | None, plot: Path | None, digits: int, as_json: bool) -> int:
    """Enclose the trade-off function: the least type II error at type I error ALPHA.

    \b
    Examples:
      dpexact tradeoff "gaussian(1)" --alpha 0.05
      dpexact tradeoff "pure_dp(1/2)^10" --plot tradeoff.svg
    """
    if alpha is None and plot is None:
        raise click.UsageError("give --alpha A, or --plot FILE")
    found = dpexact.tradeoff(expr)
    if plot is not None:
        from dpexact.audit.reports.writing import write_figure

        write_figure(found.plot(), plot)
    if alpha is None:
        return 0
    return _answer(
        lambda: found(alpha, digits),
        expr,
        digits,
        as_json,
        quantity="tradeoff",
        arguments={"alpha": alpha},
        direction="both",
    )


@main.command()
@click.argument("template", shell_complete=_complete_mechanism)
@click.option("--epsilon", required=True, metavar="E", help="Exact number >= 0.")
@click.option("--delta", required=True, metavar="D", help="Exact number in [0, 1].")
@click.option(
    "--digits",
    type=click.IntRange(1, MAX_DIGITS),
    default=6,
    show_default=True,
    help="Certified significant digits.",
)
@_direction
@_as_json
def calibrate(
    template: str, epsilon: str, delta: str, digits: int, direction: str, as_json: bool
) -> int:
    """Enclose the extreme value of "?" in TEMPLATE that meets EPSILON and DELTA.

    TEMPLATE is a mechanism with one "?" in place of a number or of a repetition count. The
    smallest noise is sought, or the largest of any other parameter.

    \b
    Examples:
      dpexact calibrate "poisson(gaussian(?), 256/60000)^3515" --epsilon 1 --delta 1e-5
      dpexact calibrate "poisson(gaussian(1), 1/100)^?" --epsilon 5 --delta 1e-6
    """
    from dpexact.accounting.calibrate import parameter_of
    from dpexact.mechanisms.template import read_template

    blank = read_template(template)
    parameter = parameter_of(blank)
    return _answer(
        lambda: dpexact.calibrate(template, epsilon, delta, digits, direction),
        template,
        len(str(MAX_COUNT)) if parameter.integer else digits,
        as_json,
        quantity=blank.parameter,
        arguments={"epsilon": epsilon, "delta": delta},
        direction=direction,
        safe="upper" if parameter.least else "lower",
    )


def _answer(
    ask: Callable[[], Enclosure],
    expr: str,
    digits: int,
    as_json: bool,
    *,
    quantity: str,
    arguments: dict[str, str],
    direction: str,
    safe: str = "",
) -> int:
    """Print one enclosure; exit code 3, with the best enclosure, if the digits were not reached."""
    started = time.perf_counter()
    problem = ""
    try:
        found = ask()
    except PrecisionNotReached as error:
        found, problem = error.best, str(error)
    seconds = time.perf_counter() - started
    mechanism = expr if safe else str(dpexact.parse(expr))
    if as_json:
        record = {
            "mechanism": mechanism,
            "quantity": quantity,
            **arguments,
            "direction": direction,
            **found.to_json(digits),
            **({"safe": safe} if safe else {}),
            "method": found.method,
            "seconds": round(seconds, 6),
            "version": dpexact.__version__,
        }
        click.echo(json.dumps(record))
    else:
        click.echo(f"{quantity} = {found.shown(digits)}")
        given = ", ".join(f"{name} = {value}" for name, value in arguments.items())
        click.echo(f"  of {mechanism} at {given}")
        lower, upper = found.decimal_bounds(digits + 5)
        click.echo(f"  certified in [{lower}, {upper}]")
        if safe and not found.is_exact:
            click.echo(f"  the {safe} end certainly meets delta")
        click.echo(f"  by {found.method or 'no method'}, {seconds:.3g} s")
    if problem:
        click.echo(f"dpexact: {problem}", err=True)
        return EXIT_UNDECIDED
    return 0


@main.command(epilog=_EXPR_HELP)
@_expression
@click.option(
    "--form",
    type=click.Choice(["delta", "vertices", "conjugate", "tradeoff", "renyi"]),
    default="delta",
    show_default=True,
    help="What to write out.",
)
@click.option("--order", type=click.IntRange(2, 100), help="Integer order of --form renyi.")
@click.option("--latex", is_flag=True, help="Print LaTeX.")
@_as_json
def symbolic(expr: str, form: str, order: int | None, latex: bool, as_json: bool) -> None:
    """Print a closed form in E = e^eps, delta, and X = e^epsilon, alpha or y.

    \b
    Examples:
      dpexact symbolic "approx_dp(1/10, 1/1000)^3"
      dpexact symbolic "gaussian(1)" --latex
      dpexact symbolic "pure_dp(1)^2" --form vertices
      dpexact symbolic "poisson(gaussian(2), 1/10)" --form renyi --order 4
    """
    if form == "renyi" and order is None:
        raise click.UsageError("--form renyi needs --order A")
    written = dpexact.symbolic(expr, form, order=order)
    # sympy prints the number e like our symbol E
    shown = {symbol: str(value) for symbol, value in written.values.items()}
    values = {str(s): "exp(1)" if text == "E" else text for s, text in shown.items()}
    if as_json:
        record = {
            "mechanism": str(written.mechanism),
            "quantity": form,
            "expression": str(written),
            "latex": written.latex(),
            "values": values,
            "version": dpexact.__version__,
        }
        click.echo(json.dumps(record))
        return
    click.echo(written.latex() if latex else str(written))
    if not latex:
        click.echo("where " + ", ".join(f"{name} = {value}" for name, value in values.items()))


_CLAIMS = click.argument("claims", nargs=-1, type=click.Path(path_type=Path))


@main.command()
@_CLAIMS
@click.option("--accountant", "accountants", multiple=True, metavar="NAME", help="Audit this too.")
@click.option(
    "--workload",
    "workloads",
    multiple=True,
    metavar="NAME",
    help="Cases that the accountants are asked.  [default: basics]",
)
@click.option("--html", type=click.Path(path_type=Path), help="Write a self-contained page.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the JSON report.")
@click.option("--jobs", type=click.IntRange(1, 1024), default=1, help="Worker processes.")
@_digits
def audit(
    claims: tuple[Path, ...],
    accountants: tuple[str, ...],
    workloads: tuple[str, ...],
    html: Path | None,
    json_file: Path | None,
    jobs: int,
    digits: int,
) -> int:
    """Judge claims of other software: sound, unsound or undecided, with the certified truth.

    CLAIMS are files (YAML, JSON or CSV). With --accountant the named accountants are run on the
    workloads and what they return is judged.

    \b
    Examples:
      dpexact audit docs/examples/recorded_claims.yaml --html report.html
      dpexact audit --accountant dp-accounting-pld --workload basics --json report.json
    """
    if not claims and not accountants:
        raise click.UsageError("nothing to audit: give a claims file or --accountant NAME")
    if workloads and not accountants:
        raise click.UsageError("--workload: needs --accountant NAME to ask")
    from dpexact.audit import Claim, Report
    from dpexact.audit.live import ask
    from dpexact.audit.reports import print_report, write_html, write_json
    from dpexact.audit.reports.writing import check_writable
    from dpexact.audit.runner import audit as judge_all
    from dpexact.audit.runner import collect
    from dpexact.progress import progress_bar

    writers: list[tuple[Path | None, Callable[[Report, Path], None]]] = [
        (html, write_html),
        (json_file, write_json),
    ]
    for path, _ in writers:
        if path is not None:
            check_writable(path)
    listed: list[Claim] = collect(claims)
    if accountants:
        with progress_bar("asking") as progress:
            answers, skipped = ask(accountants, workloads or ("basics",), progress)
        listed += answers
        for name, cases in skipped.items():
            if cases:
                click.echo(f"dpexact: {name} was not asked {len(cases)} cases, as", err=True)
                click.echo(f"  {cases[0].case}: {cases[0].reason}", err=True)
    command = shlex.join(["dpexact", *sys.argv[1:]])
    with progress_bar("judging") as progress:
        report = judge_all(listed, digits, jobs=jobs, progress=progress, command=command)
    for path, write in writers:
        if path is not None:
            write(report, path)
    print_report(report)
    return report.exit_code


@main.command()
@_as_json
def accountants(as_json: bool) -> None:
    """List the accountants that can be audited, and what is missing for the others.

    \b
    Example:
      dpexact accountants
    """
    from dpexact.audit.accountants import available
    from dpexact.audit.workloads import names

    found = available()
    if as_json:
        record = {"accountants": [asdict(info) for info in found], "workloads": names()}
        click.echo(json.dumps(record))
        return
    for info in found:
        versions = ", ".join(f"{name} {number}" for name, number in info.versions.items())
        click.echo(f"{info.name}: {versions if info.installed else info.reason}")
    click.echo(f"workloads: {', '.join(names())}")


@main.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL.

    \b
    Examples:
      eval "$(dpexact completion bash)"
      dpexact completion fish > ~/.config/fish/completions/dpexact.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "dpexact", "_DPEXACT_COMPLETE").source())
