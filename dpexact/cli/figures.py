"""The verb that makes the papers' figures."""

from __future__ import annotations

import json
import shlex
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from dpexact.cli.options import cores, digits_of, jobs_option, json_option
from dpexact.cli.printing import echo_json
from dpexact.errors import InvalidInput
from dpexact.tokens import quoted, shorten


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from dpexact.figures import recipes

    names = ["list", "all", *(recipe.name for recipe in recipes())]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


class _Figure(click.Command):
    """The verb, whose help on a figure shows the parameters of that figure."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[__name__] = tuple(args)
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from dpexact.figures import recipes

        asked = ctx.meta.get(__name__, ())
        for each in recipes():
            if each.name not in asked:
                continue
            rows = [
                (f"{name}={one.default}", f"{one.meaning}: {one.domain}")
                for name, one in each.parameters.items()
            ]
            with formatter.section(f"Parameters of {each.name}, as in its source"):
                formatter.write_dl(rows or [("none", "it is a table as printed")])


def _settings(
    context: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> dict[str, str]:
    """The values by parameter, from ``NAME=VALUE``."""
    found: dict[str, str] = {}
    for text in given:
        name, separator, value = text.partition("=")
        name = name.strip()
        if not (name and separator and value.strip()):
            raise InvalidInput(f"set: {quoted(text)} is not accepted; use NAME=VALUE")
        if name in found:
            raise InvalidInput(f"set: {shorten(name)} is given twice")
        found[name] = value
    return found


@click.command(cls=_Figure)
@click.argument(
    "names", nargs=-1, required=True, metavar="list|all|NAME...", shell_complete=_complete
)
@click.option(
    "--set",
    "given",
    multiple=True,
    metavar="NAME=VALUE",
    callback=_settings,
    help="A parameter of your own; `dpexact figure NAME --help` shows those of a figure.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("figures"),
    show_default=True,
    help="Folder of the files.",
)
@click.option(
    "--format",
    "formats",
    default="svg,png,csv,json",
    show_default=True,
    help="Comma-separated: svg, png, pdf, csv, json.",
)
@digits_of(30, said="Certified significant digits of every point.")
@jobs_option("Processes.  [default: one a core]")
@json_option
def figure(
    names: tuple[str, ...],
    given: dict[str, str],
    output: Path,
    formats: str,
    digits: int,
    jobs: int | None,
    as_json: bool,
) -> None:
    """Make figures of the source papers, as certified data and as pictures.

    \b
    Examples:
      dpexact figure list
      dpexact figure kov-2 -o pictures --format svg,csv
      dpexact figure kov-1 --set k=50 --set eps=0.2
      dpexact figure all --digits 30
    """
    from dpexact.audits.runner import versions
    from dpexact.figures import Workshop, recipe, recipes, write_figure
    from dpexact.figures.writing import formats_in, make_folder
    from dpexact.progress import progress_bar

    if names == ("list",):
        if given:
            raise InvalidInput("set: name the figure that it is for")
        _list(as_json)
        return
    wanted = recipes() if names == ("all",) else tuple(map(recipe, dict.fromkeys(names)))
    kinds = formats_in(formats)
    settings = {each.name: each.settings(given) for each in wanted}
    make_folder(output, settings, kinds)
    made: list[dict[str, Any]] = []
    began = time.perf_counter()
    for each in wanted:
        started = time.perf_counter()
        with progress_bar(each.name) as progress:
            data = each.make(Workshop(digits, jobs or cores(), progress), given)
        metadata = {
            "command": _command(each.name, settings[each.name].changed.items(), digits),
            "digits": str(digits),
            **versions(),
        }
        paths = write_figure(data, output, kinds, digits, metadata)
        seconds = time.perf_counter() - started
        record = {
            "figure": each.name,
            "files": [str(path) for path in paths],
            "numbers": data.count,
            "fewest_digits": min(data.fewest_digits, digits),
            "set": dict(settings[each.name].changed),
            "seconds": round(seconds, 3),
        }
        made.append(record)
        if not as_json:
            click.echo(
                f"{each.name}: {data.count} certified numbers, the widest enclosure has "
                f"{record['fewest_digits']} digits, {seconds:.1f} s: {', '.join(map(str, paths))}"
            )
    total = {
        "numbers": sum(record["numbers"] for record in made),
        "fewest_digits": min(record["fewest_digits"] for record in made),
        "seconds": round(time.perf_counter() - began, 3),
    }
    if as_json:
        echo_json({"figures": made, **total})
    elif len(made) > 1:
        click.echo(
            f"{len(made)} figures: {total['numbers']} certified numbers, the widest enclosure has "
            f"{total['fewest_digits']} digits, {total['seconds']:.1f} s"
        )


def _command(name: str, changed: Iterable[tuple[str, str]], digits: int) -> str:
    """The command that makes the same bytes, wherever they are written."""
    own = (f"--set {shlex.quote(f'{key}={value}')} " for key, value in changed)
    return f"dpexact figure {name} {''.join(own)}--digits {digits}"


def _list(as_json: bool) -> None:
    from dpexact.figures import recipes

    if as_json:
        rows = [
            {
                "name": each.name,
                "title": each.usual_title,
                "source": each.source,
                "parameters": {
                    name: {
                        "default": one.default,
                        "meaning": one.meaning,
                        "accepted": one.domain,
                    }
                    for name, one in each.parameters.items()
                },
            }
            for each in recipes()
        ]
        click.echo(json.dumps({"figures": rows}))
        return
    for each in recipes():
        click.echo(f"{each.name}: {each.usual_title} ({each.source})")
        if each.parameters:
            usual = (f"{name}={one.default}" for name, one in each.parameters.items())
            click.echo(f"  --set {' '.join(usual)}")
