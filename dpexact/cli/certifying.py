"""The option ``--certificate``, the verb ``certify``, and the files they write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpexact.cli.options import (
    EXPR_HELP,
    digits_of,
    direction_option,
    expression,
    file_option,
)
from dpexact.cli.patience import patience
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import Mechanism
from dpexact.visible import visible

if TYPE_CHECKING:
    from dpexact.audits.runner import Report

certificate_option = file_option(
    "certificate", "Write a certificate, which 'dpexact verify FILE' checks."
)


def certifier(
    path: Path | None, mechanism: Mechanism, quantity: str, at: str, direction: str
) -> Callable[[Enclosure], None] | None:
    """What writes the certificate of an answer to ``path``; None without one.

    Raises:
        InvalidInput: ``path`` cannot be written.
    """
    if path is None:
        return None
    from dpexact.arguments import direction_in
    from dpexact.certificates import certificate, to_text
    from dpexact.files import check_writable, write_atomically

    check_writable(path)
    file = path

    def write(found: Enclosure) -> None:
        way = direction_in(direction)
        with patience("certificate"):
            document = certificate(mechanism, quantity, real(at), way, found)
        write_atomically(file, to_text(document))

    return write


def certify_audit(path: Path, report: Report) -> None:
    """Write the certificate of all findings of an audit, and say how many have none.

    Raises:
        NoCertificate: none of them has.
    """
    from dpexact.certificates import certificate_of_audit, to_text
    from dpexact.files import write_atomically
    from dpexact.progress import progress_bar

    with progress_bar("certifying") as progress:
        document = certificate_of_audit(report, progress)
    write_atomically(path, to_text(document))
    done, left = len(document["findings"]), len(document["uncertified"])
    click.echo(f"{done} certified" + (f", {left} without certificate" if left else ""))


@click.command(epilog=EXPR_HELP)
@expression
@click.option("--epsilon", metavar="E", help="Certify delta at this exact number >= 0.")
@click.option("--delta", metavar="D", help="Certify epsilon at this exact number in [0, 1].")
@file_option("coq", "Write a theorem, which 'coqc FILE' checks.", required=True)
@digits_of(12, 30, "Significant digits of the theorem's bounds.")
@direction_option
def certify(
    expr: str, epsilon: str | None, delta: str | None, coq_file: Path, digits: int, direction: str
) -> int:
    """Make an answer a theorem of the proof assistant Coq.

    The file holds the library about finite laws, the theorem and its proof. "coqc FILE" of Coq 8.16
    with coq-interval 4.6 accepts it.

    \b
    Examples:
      dpexact certify "approx_dp(1/10, 1/1000)^30" --epsilon 3/2 --coq answer.v
      dpexact certify "gdp(1)" --epsilon 1 --digits 10 --coq gaussian.v
    """
    import dpexact
    from dpexact.certificates.coq.theorems import theorem
    from dpexact.errors import InvalidInput
    from dpexact.files import check_writable, write_atomically

    if (epsilon is None) == (delta is None):
        raise InvalidInput("certify: give one of --epsilon and --delta")
    check_writable(coq_file)
    mechanism = dpexact.parse(expr)
    if epsilon is not None:
        quantity, at = "delta", epsilon
        found = dpexact.delta(mechanism, epsilon, digits + 3, direction)
    else:
        quantity, at = "epsilon", delta or ""
        found = dpexact.epsilon(mechanism, at, digits + 3, direction)
    write_atomically(coq_file, theorem(mechanism, quantity, real(at), found, digits))
    shown_file = visible(str(coq_file))
    click.echo(f"{quantity} = {found}")
    click.echo(f"coqc {shown_file}")
    return 0
