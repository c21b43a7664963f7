"""One of several products of pairs, by a coin that everybody sees: moments are sums over its sides.

The coin is public, or an outcome of its own that tells something, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import NoReturn, TypeAlias

from flint import acb, arb

from dpexact.accounting.pairs.finite import sampled, total
from dpexact.accounting.pairs.pair import (
    Atom,
    Jet,
    Pair,
    Turns,
    least_overlap,
    product,
    total_loss,
    weighted,
)
from dpexact.arguments import Direction
from dpexact.balls import approximate_log, ball
from dpexact.errors import UnsupportedMechanism
from dpexact.kept import cached_property
from dpexact.reals import Real

Run: TypeAlias = tuple[tuple[Pair, int], ...]
"""The pairs that run on one side, each with its count."""
Side: TypeAlias = tuple[Atom, Run]
"""What comes up, and what runs then."""


@dataclass(frozen=True)
class Coin(Pair):
    """``sides``, of probabilities that make 1; nothing that runs has an infinite loss."""

    sides: tuple[Side, ...]

    @classmethod
    def public(cls, sides: Iterable[tuple[Real, Run]]) -> Coin:
        """Of probabilities that depend on no record."""
        return cls(tuple((Atom(weight, weight), run) for weight, run in sides))

    @classmethod
    def on_sample(
        cls, outcomes: list[Atom], q: Real, direction: Direction, step: Callable[[Real], Pair]
    ) -> Coin:
        """Outcomes beside a ``step``, all on one Poisson sample (``docs/theory/relations.md``).

        An outcome tells how likely the record is there: that is the rate of the step.
        """
        sides: list[Side] = []
        for inner, atom in zip(outcomes, sampled(outcomes, q, direction), strict=True):
            mixed = atom.p if direction == "remove" else atom.q
            tells = inner.p.fraction != 0 and inner.q.fraction != 0
            sides.append((atom, ((step(q * inner.p / mixed), 1),) if tells else ()))
        return cls(tuple(sides))

    @property
    def reverse(self) -> Coin:
        turned = ((Atom(atom.q, atom.p), run) for atom, run in self.sides)
        return Coin(tuple((a, tuple((pair.reverse, n) for pair, n in run)) for a, run in turned))

    #: Not of products.
    has_tails = False

    @property
    def decays(self) -> bool:
        """Whether the moments of some side do: of many coins all others are rarely enough."""
        return any(pair.decays for _, run in self.sides for pair, _ in run)

    def mass(self) -> arb:
        return 1 - self.infinite()

    def revealed(self) -> Real:
        return total(atom.p for atom, _ in self.sides if atom.q.fraction == 0)

    @property
    def _both(self) -> list[Side]:
        """The sides that both laws have."""
        return [(a, run) for a, run in self.sides if a.p.fraction != 0 and a.q.fraction != 0]

    def _balls(self) -> list[tuple[arb, arb, Run]]:
        """Of each of these its probability, its loss, and what runs."""
        found = []
        for atom, run in self._both:
            p, q = atom.masses()
            found.append((p, arb(0) if atom.p == atom.q else (p / q).log(), run))
        return found

    def overlap(self) -> arb:
        """The sum of what both laws have of each side, times its overlap at least."""
        parts = (arb.min(*atom.masses()) * least_overlap(run) for atom, run in self.sides)
        return sum(parts, arb(0))

    def largest_loss(self) -> arb | None:
        losses = [(own, total_loss(run)) for _, own, run in self._balls()]
        known = [own + loss for own, loss in losses if loss is not None]
        return reduce(arb.max, known) if len(known) == len(losses) else None

    def _mean(self, c: float | Real, of: Callable[[Pair], arb]) -> arb:
        """``sum p (p/q)^c prod of(pair)^count``."""
        order = ball(c)
        parts = (p * (order * loss).exp() * product(run, of) for p, loss, run in self._balls())
        return sum(parts, arb(0))

    def moment(self, c: float | Real, accuracy: float) -> arb:
        fine = accuracy + self._effort
        return self._mean(c, lambda pair: pair.moment(c, fine))

    @property
    def _effort(self) -> float:
        """By how much a product magnifies errors."""
        most = max((n for _, run in self.sides for _, n in run), default=1)
        return math.log(most) + 1

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        totals = [acb(0)] * (count + 1)
        for p, loss, run in self._balls():
            found = [p * (acb(c, n * arb(step)) * loss).exp() for n in range(count + 1)]
            for pair, n in run:
                line = pair.moments(c, step, count, accuracy + self._effort)
                found = [a * b**n for a, b in zip(found, line, strict=True)]
            totals = [a + b for a, b in zip(totals, found, strict=True)]
        return totals

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """The mean of the products of the bounds."""
        return self._mean(c, lambda pair: pair.decayed(c, u, accuracy + self._effort))

    @cached_property
    def _floats(self) -> list[tuple[float, float, Run]]:
        """Likewise in floats, with the logarithm of the probability."""
        found = []
        for atom, run in self._both:
            log = approximate_log(atom.p)
            found.append((log, 0.0 if atom.p == atom.q else log - approximate_log(atom.q), run))
        return found

    def cumulant(self, c: float) -> Jet:
        jets = [
            weighted([(1, Jet(log + c * loss, loss, 0.0)), *((n, x.cumulant(c)) for x, n in run)])
            for log, loss, run in self._floats
        ]
        value, shares = _mixed([jet.value for jet in jets])
        slope = sum(s * jet.slope for s, jet in zip(shares, jets, strict=True))
        square = sum(s * (jet.bend + jet.slope**2) for s, jet in zip(shares, jets, strict=True))
        return Jet(value, slope, square - slope * slope)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        runs = [
            (log + c * loss, [(n, pair.decay_estimate(c)) for pair, n in run])
            for log, loss, run in self._floats
        ]
        return lambda u: _mixed([log + sum(n * at(u) for n, at in run) for log, run in runs])[0]

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
        for p, loss, run in self._balls():
            chance, found, more = p * (arb(c) * loss).exp(), [(acb(1), acb(0))], arb(0)
            for pair, _ in run:
                found, more = pair.exponentials(c, top, accuracy)
            terms += [(chance * w, z + loss) for w, z in found]
            error += chance * more
        return terms, error

    def outline(self, c: float) -> list[tuple[float, float]] | None:
        """Those of all sides."""
        found = []
        for log, own, run in self._floats:
            parts = [(0.0, 0.0)]
            for pair, _ in run:
                # proposes: which outcomes are large
                parts = pair.outline(c) or []
            found += [(log + c * own + mass, own + loss) for mass, loss in parts]
        return found

    def atoms(self, tail: float) -> NoReturn:
        """Not known, and neither are tails: a side may be a product."""
        raise UnsupportedMechanism("no lattice is made of public coins")


def _mixed(logs: list[float]) -> tuple[float, list[float]]:
    """Proposes: the logarithm of the sum, and the share of everything in it."""
    top = max(logs)
    parts = [math.exp(log - top) for log in logs]
    return top + math.log(sum(parts)), [part / sum(parts) for part in parts]
