"""The verb that makes the papers' figures."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

import dpexact
from dpexact.arguments import MAX_DIGITS
from dpexact.cli.options import cores, json_option


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from dpexact.figures import recipes

    names = ["list", "all", *(recipe.name for recipe in recipes())]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command()
@click.argument(
    "names", nargs=-1, required=True, metavar="list|all|NAME...", shell_complete=_complete
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
@click.option(
    "--digits",
    type=click.IntRange(1, MAX_DIGITS),
    default=30,
    show_default=True,
    help="Certified significant digits of every point.",
)
@click.option("--jobs", type=click.IntRange(1, 1024), help="Processes.  [default: one a core]")
@json_option
def figure(
    names: tuple[str, ...], output: Path, formats: str, digits: int, jobs: int | None, as_json: bool
) -> None:
    """Make figures of the source papers, as certified data and as pictures.

    \b
    Examples:
      dpexact figure list
      dpexact figure kov-2 -o pictures --format svg,csv
      dpexact figure all --digits 30
    """
    from dpexact.audit.runner import versions
    from dpexact.figures import Workshop, recipe, recipes, write_figure
    from dpexact.figures.writing import formats_in
    from dpexact.progress import progress_bar

    if names == ("list",):
        _list(as_json)
        return
    wanted = recipes() if names == ("all",) else tuple(map(recipe, dict.fromkeys(names)))
    kinds = formats_in(formats)
    made: list[dict[str, Any]] = []
    began = time.perf_counter()
    for each in wanted:
        started = time.perf_counter()
        with progress_bar(each.name) as progress:
            data = each.make(Workshop(digits, jobs or cores(), progress))
        metadata = {
            "command": f"dpexact figure {each.name} --digits {digits}",
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
        click.echo(json.dumps({"figures": made, **total, "version": dpexact.__version__}))
    elif len(made) > 1:
        click.echo(
            f"{len(made)} figures: {total['numbers']} certified numbers, the widest enclosure has "
            f"{total['fewest_digits']} digits, {total['seconds']:.1f} s"
        )


def _list(as_json: bool) -> None:
    from dpexact.figures import recipes

    if as_json:
        rows = [{"name": r.name, "title": r.title, "source": r.source} for r in recipes()]
        click.echo(json.dumps({"figures": rows}))
        return
    for each in recipes():
        click.echo(f"{each.name}: {each.title} ({each.source})")
