"""The first steps of a run, each beginning with those before it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias, TypeVar

from flint import acb, arb

from dpexact.accounting.pairs.pair import Jet, Pair, weighted
from dpexact.balls import current
from dpexact.reals import Real

_T = TypeVar("_T")
_Kept: TypeAlias = dict[tuple[Any, ...], Any]


class Prefix(Pair):
    """The product of the steps of ``before``, and of ``more`` that follow it.

    What is found of a prefix is kept, and of a longer one only what follows is asked. ``most`` is
    about how many steps the longest has: each is asked for so much more accuracy. Proposals ask
    ``few`` that are about like ``more``.
    """

    def __init__(
        self,
        before: Prefix | None,
        more: Sequence[tuple[Pair, int]],
        most: int,
        few: Sequence[tuple[Pair, int]] | None = None,
    ) -> None:
        self._before, self._more, self._most = before, more, most
        self._few = more if few is None else few
        self._room = math.log(most)
        self._kept: _Kept = {}
        #: Of single steps, which may occur again.
        self._single: _Kept = {} if before is None else before._single
        self._reverse: Prefix | None = None

    def _joined(
        self,
        ask: Callable[[Pair, int], _T],
        join: Callable[[_T, _T], _T],
        *key: Any,
        few: bool = False,
    ) -> _T:
        """``ask`` of each step and its count, or of a few, joined from the first one on.

        Proposes: what is looked up; whatever is held is right for its key and precision.
        """
        key = (*key, current())
        chain: list[Prefix] = []
        at: Prefix | None = self
        while at is not None and key not in at._kept:
            chain.append(at)
            at = at._before
        found: _T | None = None if at is None else at._kept[key]
        for part in reversed(chain):
            for pair, n in part._few if few else part._more:
                one = (pair, n, *key)
                if one not in self._single:
                    self._single[one] = ask(pair, n)
                value: _T = self._single[one]
                found = value if found is None else join(found, value)
            part._kept[key] = found
        assert found is not None
        return found

    @property
    def reverse(self) -> Prefix:
        chain: list[Prefix] = []
        at: Prefix | None = self
        while at is not None and at._reverse is None:
            chain.append(at)
            at = at._before
        for part in reversed(chain):
            before = None if part._before is None else part._before._reverse
            more = [(pair.reverse, n) for pair, n in part._more]
            few = [(pair.reverse, n) for pair, n in part._few]
            part._reverse = Prefix(before, more, part._most, few)
        assert self._reverse is not None
        return self._reverse

    @property
    def decays(self) -> bool:
        return self._joined(lambda pair, _: pair.decays, bool.__or__, "decays")

    def overlap(self) -> arb:
        return self._joined(lambda pair, n: pair.overlap() ** n, arb.__mul__, "overlap")

    def largest_loss(self) -> arb | None:
        """The sum of theirs; None when one is unbounded."""

        def times(pair: Pair, n: int) -> arb:
            largest = pair.largest_loss()
            return arb("inf") if largest is None else n * largest

        found = self._joined(times, arb.__add__, "largest_loss")
        return found if found.is_finite() else None

    def moment(self, c: float | Real, accuracy: float) -> arb:
        fine = accuracy + self._room
        return self._joined(
            lambda pair, n: pair.moment(c, fine) ** n, arb.__mul__, "moment", c, accuracy
        )

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """Likewise, by sums of logarithms: products of many balls widen as they turn."""
        fine = accuracy + self._room

        def logarithms(pair: Pair, n: int) -> list[acb]:
            return [n * value.log() for value in pair.moments(c, step, count, fine)]

        def plus(one: list[acb], other: list[acb]) -> list[acb]:
            return [a + b for a, b in zip(one, other, strict=True)]

        sums = self._joined(logarithms, plus, "moments", c, step, count, accuracy)
        return [total.exp() for total in sums]

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """Likewise: where each is bounded so is the product."""
        fine = accuracy + self._room
        return self._joined(
            lambda pair, n: pair.decayed(c, u, fine) ** n,
            arb.__mul__,
            "decayed",
            c,
            u,
            accuracy,
        )

    # --- proposals --------------------------------------------------------------------------------

    def cumulant(self, c: float) -> Jet:
        return self.cumulants([c])[0]

    def cumulants(self, orders: Sequence[float]) -> list[Jet]:
        return self._joined(
            lambda pair, n: [weighted([(n, jet)]) for jet in pair.cumulants(orders)],
            lambda a, b: [weighted([(1, x), (1, y)]) for x, y in zip(a, b, strict=True)],
            "cumulants",
            *orders,
            few=True,
        )

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        return partial(self._decay, c)

    def _decay(self, c: float, u: float) -> float:
        def ask(pair: Pair, n: int) -> float:
            return n * self._way(pair, c)(u)

        return self._joined(ask, float.__add__, "decay_estimate", c, u, few=True)

    def _way(self, pair: Pair, c: float) -> Callable[[float], float]:
        """Proposes: what is looked up; whatever is held is right for its key."""
        one = (pair, c)
        if one not in self._single:
            self._single[one] = pair.decay_estimate(c)
        found: Callable[[float], float] = self._single[one]
        return found

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        fine = accuracy + self._room
        nodes, bits = self._joined(
            lambda pair, _: pair.line_cost(c, fine),
            lambda a, b: (a[0] + b[0], max(a[1], b[1])),
            "line_cost",
            c,
            accuracy,
        )
        return nodes, bits + self._room / math.log(2)
