"""Sums over a cloud in boxes, where what is found once serves all beginnings.

Proofs are in ``docs/theory/logs.md``, whose sections the numbers in brackets are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from copy import copy
from itertools import compress
from typing import Any, Final, TypeAlias, TypeVar

from flint import acb, acb_mat, arb, arb_mat

from dpexact.accounting.pairs.clouds.boxes import HEAVY, Asked, Box, Fitted, Part, cheapest, fitted
from dpexact.accounting.pairs.clouds.cubature import Cloud, Degrees
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.balls import current, precision

Piece: TypeAlias = tuple[Part, Cloud]
"""A box, and which of its steps are asked."""

Together: TypeAlias = "Callable[[Cloud, Degrees], Sequence[Sequence[arb | acb]]]"
"""Logarithms at the nodes of a box, a row each."""

_T = TypeVar("_T")
_Self = TypeVar("_Self", bound="Boxed")

#: Bits of a weight beyond those that the accuracy of its question takes.
_WEIGHT_BITS: Final = 6


class Boxed:
    """A cloud of which boxes are asked."""

    def __init__(self, cloud: Cloud, whole: Box | None = None) -> None:
        self.cloud = cloud
        self._place = cloud.place
        self._whole = Box(cloud) if whole is None else whole
        self._kept: dict[tuple[Any, ...], Any] = {}

    def first(self: _Self, place: int) -> _Self:
        """That of the first points of the cloud, which shares what is found at nodes."""
        found = copy(self)
        found.cloud, found._place = self.cloud.first(place), place
        return found

    def _keep(self, find: Callable[[], _T], *key: Any) -> _T:
        """What is found once for all that share it, at one precision.

        Proposes: what is looked up; whatever is held is right for its key.
        """
        key = (*key, current())
        if key not in self._kept:
            self._kept[key] = find()
        found: _T = self._kept[key]
        return found

    def _fine(self, accuracy: float) -> float:
        """The accuracy of a node that gives the whole about ``accuracy``."""
        return accuracy + math.log(HEAVY * self.cloud.most)

    def _narrow(self, accuracy: float, spare: int) -> AbstractContextManager[None]:
        """So few bits more than the accuracy of a node takes, if there are as many.

        Proposes: a precision; balls are right at any.
        """
        return precision(min(math.ceil(self._fine(accuracy) / math.log(2)) + spare, current()))

    def _cut(
        self,
        ask: Callable[[Box], Asked],
        wholes: Callable[[], Sequence[Box]],
        *key: Any,
        **costs: float,
    ) -> tuple[list[Piece], float]:
        """Boxes for a question, with their steps, once for all beginnings; and how many nodes.

        Proposes: boxes; together they hold every step once.
        """

        def find() -> tuple[list[Part], float]:
            found = [cheapest(whole, ask, **costs) for whole in wholes()]
            return [part for parts, _ in found for part in parts], sum(work for _, work in found)

        parts, work = self._keep(find, "parts", *key)
        firsts = [(part, part.box.cloud.first(self._place)) for part in parts]
        return [(part, cloud) for part, cloud in firsts if cloud.total], work

    def _fitted(self, box: Box, asked: Asked, *key: Any) -> Fitted | None:
        """Degrees that serve the longest, with bounds for errors of each; None where none do."""

        def find() -> Fitted | None:
            with suppress(TooExpensive):
                return fitted(box.cloud.last, asked)
            return None

        return self._keep(find, "fitted", box, *key)

    def _sorted(
        self, parts: Sequence[Piece], ask: Callable[[Box], Asked], *key: Any
    ) -> tuple[list[Piece], list[Piece]]:
        """Those whose steps are asked by themselves, and those whose nodes are."""

        fit = [
            not part.alone and self._fitted(part.box, ask(part.box), *key) is not None
            for part, _ in parts
        ]
        return list(compress(parts, (not x for x in fit))), list(compress(parts, fit))

    def _sums(
        self, part: Part, firsts: Sequence[Cloud], asked: Asked, together: Together, *key: Any
    ) -> tuple[Any, arb_mat]:
        """Sums over a box of logarithms at its nodes, and errors of functions [1].

        Of beginnings, a row each, the last one the longest.
        """
        box, whole = part.box, firsts[-1].last
        fit = self._fitted(box, asked, *key)
        assert fit is not None
        degrees, bounds = fit
        sized = self._keep(lambda: _sized(together(whole, degrees)), "nodes", box, degrees, *key)
        matrix, large = sized
        with self._narrow(max(accuracy for _, accuracy in asked), _WEIGHT_BITS + large):
            weights = whole.weights(degrees, [first.place for first in firsts])
        heavy = [
            [sum(map(abs, row), arb(first.total)).upper()]
            for first, row in zip(firsts, weights, strict=True)
        ]
        errors = arb_mat(heavy) * arb_mat([[whole.worst(degrees, *bound) for bound in bounds]])
        return arb_mat(weights) * matrix, errors

    def _sum(self, part: Piece, asked: Asked, together: Together, *key: Any) -> arb:
        """Over a box of one function at nodes."""
        box, cloud = part
        found, error = self._sums(box, [cloud], asked, together, *key)
        total: arb = found[0, 0] + arb(0, error[0, 0])
        return total


def _sized(rows: Sequence[Sequence[arb | acb]]) -> tuple[arb_mat | acb_mat, int]:
    """The rows, and about how large they are, as a power of 2. Proposes: bits of weights."""
    largest = max(float(abs(row[place]).upper()) for row in rows for place in (0, -1))
    matrix = (arb_mat if isinstance(rows[0][0], arb) else acb_mat)(rows)
    return matrix, math.frexp(largest)[1]
