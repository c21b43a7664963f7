"""The verb that prints the JSON Schemas of files."""

from __future__ import annotations

import json

import click


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
