"""One of several products of pairs, by a public coin: moments are convex combinations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import NoReturn, TypeAlias

from flint import acb, arb

from dpexact.accounting.pairs.pair import (
    Jet,
    Pair,
    Turns,
    product,
    total_loss,
    weighted,
)
from dpexact.balls import approximate_log, ball
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

Run: TypeAlias = tuple[tuple[Pair, int], ...]
"""The pairs that run on one side, each with its count."""
Side: TypeAlias = tuple[Real, Run]
"""A probability, and what runs."""


@dataclass(frozen=True)
class Coin(Pair):
    """``sides``, of probabilities that make 1; none of them has an infinite loss."""

    sides: tuple[Side, ...]

    @property
    def reverse(self) -> Coin:
        return Coin(
            tuple((w, tuple((pair.reverse, n) for pair, n in run)) for w, run in self.sides)
        )

    #: Not of products.
    has_tails = False

    @property
    def decays(self) -> bool:
        """Whether the moments of some side do: of many coins all others are rarely enough."""
        return any(pair.decays for _, run in self.sides for pair, _ in run)

    def _mean(self, of: Callable[[Pair], arb]) -> arb:
        """``sum w prod of(pair)^count``."""
        return sum((ball(weight) * product(run, of) for weight, run in self.sides), arb(0))

    def overlap(self) -> arb:
        return self._mean(lambda pair: arb.max(pair.overlap().lower(), arb(0)))

    def largest_loss(self) -> arb | None:
        losses = [total_loss(run) for _, run in self.sides]
        known = [loss for loss in losses if loss is not None]
        return reduce(arb.max, known) if len(known) == len(losses) else None

    def moment(self, c: float | Real, accuracy: float) -> arb:
        fine = accuracy + self._effort
        return self._mean(lambda pair: pair.moment(c, fine))

    @property
    def _effort(self) -> float:
        """By how much a product magnifies errors."""
        most = max((n for _, run in self.sides for _, n in run), default=1)
        return math.log(most) + 1

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        totals = [acb(0)] * (count + 1)
        for weight, run in self.sides:
            found = [acb(ball(weight))] * (count + 1)
            for pair, n in run:
                line = pair.moments(c, step, count, accuracy + self._effort)
                found = [a * b**n for a, b in zip(found, line, strict=True)]
            totals = [a + b for a, b in zip(totals, found, strict=True)]
        return totals

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """The mean of the products of the bounds."""
        return self._mean(lambda pair: pair.decayed(c, u, accuracy + self._effort))

    def _logs(self, values: list[float]) -> tuple[float, list[float]]:
        """Proposes: the logarithm of the mean, and the share of every side in it."""
        logs = [approximate_log(w) + v for (w, _), v in zip(self.sides, values, strict=True)]
        top = max(logs)
        parts = [math.exp(log - top) for log in logs]
        return top + math.log(sum(parts)), [part / sum(parts) for part in parts]

    def cumulant(self, c: float) -> Jet:
        jets = [weighted((n, pair.cumulant(c)) for pair, n in run) for _, run in self.sides]
        value, shares = self._logs([jet.value for jet in jets])
        slope = sum(s * jet.slope for s, jet in zip(shares, jets, strict=True))
        square = sum(s * (jet.bend + jet.slope**2) for s, jet in zip(shares, jets, strict=True))
        return Jet(value, slope, square - slope * slope)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        runs = [[(n, pair.decay_estimate(c)) for pair, n in run] for _, run in self.sides]
        return lambda u: self._logs([sum(n * at(u) for n, at in run) for run in runs])[0]

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """All sides, and the bits of the worst."""
        fine = accuracy + self._effort
        # proposes: what a node costs
        costs = [pair.line_cost(c, fine) for _, run in self.sides for pair, _ in run] or [(1, 1.0)]
        return sum(nodes for nodes, _ in costs), max(bits for _, bits in costs) + 4

    # --- as exponentials --------------------------------------------------------------------------

    @property
    def has_outline(self) -> bool:  # type: ignore[override]
        """Whether no side is a product, and each has an outline."""
        return all(
            not run or (len(run) == 1 and run[0][1] == 1 and run[0][0].has_outline)
            for _, run in self.sides
        )

    def exponentials(self, c: float, top: float, accuracy: float) -> tuple[Turns, arb]:
        """Those of all sides."""
        terms, error = [], arb(0)
        for weight, run in self.sides:
            chance, found, more = ball(weight), [(acb(1), acb(0))], arb(0)
            for pair, _ in run:
                found, more = pair.exponentials(c, top, accuracy)
            terms += [(chance * w, z) for w, z in found]
            error += chance * more
        return terms, error

    def outline(self, c: float) -> list[tuple[float, float]] | None:
        """Those of all sides."""
        found = []
        for weight, run in self.sides:
            log = approximate_log(weight)
            parts = [(0.0, 0.0)]
            for pair, _ in run:
                parts = pair.outline(c) or []
            found += [(log + mass, loss) for mass, loss in parts]
        return found

    def atoms(self, tail: float) -> NoReturn:
        """Not known, and neither are tails: a side may be a product."""
        raise UnsupportedMechanism("no lattice is made of public coins")
