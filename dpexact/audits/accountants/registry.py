"""Which accountants can be audited here: adapters found by entry point, by name.

Another project adds its accountant by pointing an entry point of the group
``dpexact.accountants`` at an object with the attributes of :class:`Accountant`.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final, Protocol

from dpexact.audits.accountants.serving import described
from dpexact.errors import InvalidInput
from dpexact.tokens import unknown

#: The entry-point group of adapters.
GROUP: Final = "dpexact.accountants"


class Accountant(Protocol):
    """An adapter: puts our questions to one accountant of one package, in that package's terms.

    It stands alone in one file: it imports nothing of dpexact, and the audited package only inside
    its methods. :meth:`answer` is called in a process of its own, perhaps of another interpreter,
    that has loaded the file by its path. A query is

    ``{"mechanism": TREE, "steps": [[TREE, int], ...], "quantity": "epsilon" | "delta" | "beta",
    "at": float, "direction": "both" | "remove" | "add"}``, where ``at`` is the value of the
    argument (delta, epsilon and alpha), and ``TREE`` is
    ``{"name": "compose", "parts": [TREE, ...]}``,
    ``{"name": "repeat", "mechanism": TREE, "times": int}`` or
    ``{"name": NAME, PARAMETER: float | int | TREE, ...}`` with the names and parameters of the
    mechanism grammar. ``steps`` is the same mechanism as a list of single mechanisms and how often
    each is run.

    An adapter may have, beside what stands below:

    * ``quantities``: what it can be asked; without it that is epsilon and delta. Of ``beta`` it
      answers the kinds reversed: an upper bound of the privacy loss is a lower one of the error.
    * ``contract(query, kind)``: what the package documents of such a claim, as the fields of
      :class:`dpexact.audits.Contract`: ``sentence``, ``where``, ``relation``, and the errors that
      it allows, ``absolute``, ``relative`` and ``at`` (in the argument).
    * ``refusals``: parts of the messages by which the package itself says that it cannot answer; an
      honest refusal is no failure.
    """

    @property
    def name(self) -> str:
        """The name of its entry point."""

    @property
    def distributions(self) -> tuple[str, ...]:
        """The installed distributions whose versions a report states."""

    @property
    def module(self) -> str:
        """The module whose import shows that the package works."""

    @property
    def install(self) -> str:
        """What follows ``pip install`` in the command that installs the package."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of claim that every answer makes, of ``upper``, ``lower`` and ``estimate``."""

    def supports(self, query: dict[str, Any]) -> bool:
        """Whether the accountant accounts for the query; needs no package and has no effect."""

    def call(self, query: dict[str, Any]) -> str:
        """The call that :meth:`answer` makes, as its package's users would write it."""

    def answer(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        """The claims ``{"kind": str, "value": float}``, one of each of ``kinds``."""


@dataclass(frozen=True, slots=True)
class Registered:
    """An adapter that was found: the object, and the file and name by which a child finds it."""

    name: str
    accountant: Accountant
    file: Path
    attribute: str


def names() -> list[str]:
    """Every registered adapter, whether or not its package works here."""
    return sorted(_points())


def find(name: str) -> Registered:
    """The adapter ``name``; its package is not touched.

    Raises:
        InvalidInput: an unknown name, or an adapter that does not load (with its own error).
    """
    known = _points()
    if name not in known:
        otherwise = "" if known else "known: none: install dpexact with pip"
        raise InvalidInput(f"accountant: {unknown('name', name, sorted(known), otherwise)}")
    point = known[name]
    try:
        accountant: Accountant = point.load()
        file = Path(str(sys.modules[point.module].__file__)).resolve()
    except Exception as error:  # whatever foreign code raises is the reason to report
        raise InvalidInput(
            f"accountant {name}: its adapter {point.value} does not load: {described(error)}"
        ) from error
    return Registered(name, accountant, file, point.attr)


def _points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
