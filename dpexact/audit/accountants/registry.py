"""Which accountants can be audited here: adapters found by entry point, loaded by name.

Another project adds its accountant by pointing an entry point of the group
``dpexact.accountants`` at an object with the attributes of :class:`Accountant`.
"""

from __future__ import annotations

import difflib
import importlib
from dataclasses import dataclass
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from typing import Any, Final, Protocol

from dpexact.errors import InvalidInput
from dpexact.tokens import shorten

#: The entry-point group of adapters.
GROUP: Final = "dpexact.accountants"


class Accountant(Protocol):
    """An adapter: puts our questions to one accountant of one package, in that package's terms.

    It imports nothing of dpexact, and the audited package only inside its methods. A query is

    ``{"mechanism": TREE, "quantity": "epsilon" | "delta", "at": float, "direction": "both" |
    "remove" | "add"}``, where ``at`` is the value of the other quantity, and ``TREE`` is
    ``{"name": "compose", "parts": [TREE, ...]}``, ``{"name": "repeat", "mechanism": TREE,
    "times": int}`` or ``{"name": NAME, PARAMETER: float | int | TREE, ...}`` with the names and
    parameters of the mechanism grammar.
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
    def extra(self) -> str:
        """The extra of dpexact that installs the package; empty if none does."""

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
class AccountantInfo:
    """An adapter that was found: whether its package works here, its versions, or why not."""

    name: str
    installed: bool
    versions: dict[str, str]
    reason: str = ""


def available() -> list[AccountantInfo]:
    """Every adapter that is registered, by name, whether or not its package works here."""
    found = []
    for name, point in sorted(_registered().items()):
        try:
            adapter = _checked(point)
        except InvalidInput as error:
            found.append(AccountantInfo(name, False, {}, str(error)))
        else:
            found.append(AccountantInfo(name, True, versions(adapter)))
    return found


def load(name: str) -> Accountant:
    """The accountant ``name``, ready to answer.

    Raises:
        InvalidInput: an unknown name, an absent package (with the command that installs it), or a
            package or adapter that does not import (with its own error).
    """
    known = _registered()
    if name not in known:
        close = difflib.get_close_matches(name, known, 1)
        listed = ", ".join(sorted(known)) or "none: install dpexact with pip"
        hint = f"did you mean {close[0]!r}?" if close else f"known: {listed}"
        raise InvalidInput(f"accountant: unknown name {shorten(repr(name))}; {hint}")
    return _checked(known[name])


def versions(accountant: Accountant) -> dict[str, str]:
    """The installed version of each of the accountant's distributions."""
    return {name: version(name) for name in accountant.distributions}


def _registered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _checked(point: EntryPoint) -> Accountant:
    """The adapter, once its package was seen to be installed and to import."""
    try:
        adapter: Accountant = point.load()
    except Exception as error:  # whatever foreign code raises is the reason to report
        raise InvalidInput(
            f"accountant {point.name}: its adapter {point.value} does not load: {described(error)}"
        ) from error
    for distribution in adapter.distributions:
        try:
            version(distribution)
        except PackageNotFoundError:
            wanted = f'"dpexact[{adapter.extra}]"' if adapter.extra else distribution
            raise InvalidInput(
                f"accountant {point.name}: {distribution} is not installed; pip install {wanted}"
            ) from None
    try:
        importlib.import_module(adapter.module)
    except Exception as error:
        raise InvalidInput(
            f"accountant {point.name}: {adapter.module} does not import: {described(error)}"
        ) from error
    return adapter


def described(error: BaseException) -> str:
    """The type and text of an exception of foreign code, on one short line."""
    return shorten(" ".join(f"{type(error).__name__}: {error}".split()), 200)
