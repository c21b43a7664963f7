"""The verb that checks certificates by the independent checkers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import click

from dpexact.certificate_checker import MAX_BYTES, Invalid, Unreadable, read
from dpexact.cli.options import FILE
from dpexact.cli.patience import patience
from dpexact.visible import visible

#: Characters of a mechanism that are shown.
_LONGEST = 2000


@click.command()
@click.argument("certificates", nargs=-1, required=True, type=FILE)
def verify(certificates: tuple[Path, ...]) -> int:
    """Check CERTIFICATES, and print what they certify.

    Two checkers that share nothing with the accounting do the work. Each runs by itself, too:
    "python -m dpexact.certificate_checker FILE", one file that needs the standard library alone;
    and, where Gaussians are sampled, "python -m dpexact.certificate_checker_mpfr FILE".

    The exit code is 1 if one is wrong or cannot be verified, and 2 if one is no certificate.

    \b
    Examples:
      dpexact epsilon "poisson(gaussian(1.3), 1/100)^500" --delta 1e-5 --certificate answer.json
      dpexact verify answer.json
    """
    return max(map(_verified, certificates))


def _verified(path: Path) -> int:
    """Check one file and say what came of it; the exit code."""
    from dpexact.certificate_checker_mpfr.checking import check

    shown = visible(str(path))
    try:
        with path.open("rb") as file:
            document = read(file.read(MAX_BYTES + 1))
        with patience(f"verifying {shown}"):
            lines = check(document)
        told = list(_told(document))
    except OSError as error:
        click.echo(f"dpexact: {shown}: cannot read: {error.strerror}", err=True)
        return 2
    except Unreadable as error:
        click.echo(f"dpexact: {shown}: unreadable: {error}", err=True)
        return 2
    except Invalid as error:
        click.echo(f"{shown}: invalid: {error}")
        return 1
    except (RecursionError, MemoryError, OverflowError):
        click.echo(f"{shown}: invalid: beyond the limits of the checkers")
        return 1
    left = len(document["uncertified"])
    without = f", {left} without certificate" if left else ""
    click.echo(f"{shown}: valid: {len(lines)} verified{without}")
    for line in told:
        click.echo(f"  {line}")
    return 0


def _told(document: dict[str, Any]) -> Iterator[str]:
    """What each statement says and each finding finds, in words that the checkers vouch for."""
    for statement in document["statements"]:
        yield _statement(statement)
    for finding in document["findings"]:
        claim = f"{finding['kind']} {finding['claimed']}"
        yield f"{visible(finding['id'])}: {claim}: {finding['verdict']}: " + _statement(
            finding["statement"]
        )


def _statement(statement: dict[str, Any]) -> str:
    from dpexact.certificate_checker import only_bounded
    from dpexact.enclosure import Enclosure

    text, at, quantity = statement["text"], statement["at"], statement["quantity"]
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]} ..."
    if statement["digits"] == "exact":
        where = f"= {statement['lower']}"
    else:
        ends = Enclosure(Fraction(statement["lower"]), Fraction(statement["upper"]))
        where = "in [{}, {}]".format(*ends.decimal_bounds(int(statement["digits"]) + 1))
    way = statement["direction"]
    argument = "delta" if quantity == "epsilon" else "epsilon"
    side = "" if way == "both" else f", {way}"
    bound = "upper bound on " * only_bounded(statement["mechanism"])
    return f"{bound}{quantity} of {text} at {argument} = {_number(at)}{side} {where}"


def _number(tree: Any) -> str:
    """A real as a certificate writes it, for people."""
    if isinstance(tree, str):
        return tree
    name, *operands = tree
    if name in "+*/^":
        return "(" + f" {name} ".join(map(_number, operands)) + ")"
    return f"{name}({', '.join(map(_number, operands))})" if operands else str(name)
