"""Workload files: the built-in grids beside this module, and users' own, in one YAML format.

::

    description: what the grid is about             # optional
    cases:
      - mechanism: [gaussian(1), gaussian(10)^100]  # one, or a list
        epsilon_at_delta: [1e-5, 1e-10]             # ask for epsilon at each delta
        delta_at_epsilon: 1                         # ask for delta at each epsilon
        beta_at_alpha: 0.05                         # ask for the type II error at each type I
        direction: [remove, add]                    # optional; both (the larger) if absent

A group asks about each mechanism at each argument in each direction. Numbers are exact: any
expression that :mod:`dpexact.reals` reads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Final, TypeVar

from dpexact.arguments import Direction, direction_in
from dpexact.audits.claims import ARGUMENTS, Quantity, argument_in, mechanism_in, number_text
from dpexact.audits.records import unknown_key
from dpexact.audits.trees import Mapping, Scalar, Sequence, Tree, yaml_tree
from dpexact.errors import InvalidInput
from dpexact.files import read_text, refusing
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real
from dpexact.tokens import unknown
from dpexact.visible import visible


@dataclass(frozen=True, slots=True)
class Case:
    """What is the ``quantity`` of ``mechanism`` when its argument is ``at``?"""

    mechanism: Mechanism
    quantity: Quantity
    at: Real
    direction: Direction = "both"

    def __str__(self) -> str:
        side = "" if self.direction == "both" else f", {self.direction}"
        argument = f"{ARGUMENTS[self.quantity]} = {number_text(self.at)}"
        return f"{self.quantity} of {self.mechanism} at {argument}{side}"


@dataclass(frozen=True, slots=True)
class Workload:
    """Cases, none twice, under a name and a one-line description."""

    name: str
    description: str
    cases: tuple[Case, ...]


_FOLDER: Final = Path(__file__).parent
#: The quantity that each key of a group asks for.
ASKED: Final[dict[str, Quantity]] = {
    f"{quantity}_at_{argument}": quantity for quantity, argument in ARGUMENTS.items()
}

_T = TypeVar("_T")


def names() -> list[str]:
    """The built-in workloads."""
    return sorted(path.stem for path in _FOLDER.glob("*.yaml"))


def load(name: str) -> Workload:
    """The built-in workload ``name``, or the one in the YAML file ``name``.

    Raises:
        InvalidInput: neither exists, or one line that names the file, the line and the key.

    >>> print(load("basics").cases[0])
    epsilon of gaussian(1) at delta = 0.00001
    """
    built_in = name in names()
    path = _FOLDER / f"{name}.yaml" if built_in else Path(name)
    if not built_in and not path.suffix and not os.path.exists(name):
        raise InvalidInput(f"workload: {unknown('name', name, names())}, or a YAML file")
    shown = visible(name)
    try:
        with refusing("cannot read the file", "not UTF-8 text"):
            text = read_text(path)
        fields = _fields(yaml_tree(text), ("description", "cases"), "cases")
        groups = _list(fields["cases"])
        unique = dict.fromkeys(case for group in groups for case in _cases(group))
        description = "; ".join(
            _each(fields["description"], str) if "description" in fields else []
        )
    except InvalidInput as error:
        raise InvalidInput(f"workload {shown}: {error}") from None
    return Workload(path.stem, description, tuple(unique))


def _cases(group: Tree) -> Iterator[Case]:
    fields = _fields(group, ("mechanism", *ASKED, "direction"), "mechanism")
    mechanisms = _each(fields["mechanism"], mechanism_in)
    directions: list[Direction] = ["both"]
    if "direction" in fields:
        directions = _each(fields["direction"], direction_in)
    if not fields.keys() & ASKED.keys():
        raise InvalidInput(f"line {group.line}: expected one of the keys {', '.join(ASKED)}")
    for key, quantity in ASKED.items():
        if key in fields:
            points = _each(fields[key], partial(argument_in, quantity=quantity))
            for mechanism, at, direction in product(mechanisms, points, directions):
                yield Case(mechanism, quantity, at, direction)


# --- parts of a tree ----------------------------------------------------------------------------


def _fields(tree: Tree | None, known: tuple[str, ...], required: str) -> dict[str, Tree]:
    if not isinstance(tree, Mapping):
        where = "the file is empty" if tree is None else f"line {tree.line}"
        raise InvalidInput(f"{where}: expected a mapping with the key {required!r}")
    fields: dict[str, Tree] = {}
    for key, value in tree.pairs:
        name = key.text or ""
        if name not in known:
            raise InvalidInput(f"line {key.line}: {unknown_key(name, known)}")
        if name in fields:
            raise InvalidInput(f"line {key.line}: key {name!r} is given twice")
        fields[name] = value
    if required not in fields:
        raise InvalidInput(f"line {tree.line}: key {required!r} is missing")
    return fields


def _list(tree: Tree) -> list[Tree]:
    """The items of a list that is not empty; anything else is the one item."""
    if not isinstance(tree, Sequence):
        return [tree]
    if not tree.items:
        raise InvalidInput(f"line {tree.line}: the list is empty")
    return tree.items


def _each(tree: Tree, read: Callable[[str], _T]) -> list[_T]:
    """The texts of ``tree``, each read by ``read``."""
    values = []
    for item in _list(tree):
        if not isinstance(item, Scalar) or not item.text:
            raise InvalidInput(f"line {item.line}: expected text or a number")
        try:
            values.append(read(item.text.strip()))
        except InvalidInput as error:
            raise InvalidInput(f"line {item.line}: {error}") from None
    return values
