"""Finitely many outcomes."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Final

from flint import acb, arb

from dpexact.accounting.pairs.pair import Atom, Jet, Masses, Pair
from dpexact.accounting.pairs.sums.power_sums import exponential_line
from dpexact.arguments import Direction
from dpexact.balls import ball, order, precision
from dpexact.errors import UnsupportedMechanism
from dpexact.kept import cached_property
from dpexact.reals import Real, rational
from dpexact.ternary import Order

_FLOAT_BITS: Final = 64
_PLANNING_BITS: Final = 256


def sampled(atoms: Iterable[Atom], q: Real, direction: Direction) -> list[Atom]:
    """The outcomes on a Poisson sample: ``((1-q) Q + q P, Q)`` for ``remove``, swapped for ``add``.

    ``direction`` is not ``both``.
    """
    rest = 1 - q
    result = []
    for atom in atoms:
        mixture = rest * atom.q + q * atom.p
        pair = (mixture, atom.q) if direction == "remove" else (atom.q, mixture)
        result.append(Atom(*pair))
    return result


def symmetrised(atoms: list[Atom], q: Real) -> list[Atom]:
    """The outcomes of the symmetric guarantee ``C_q(f)``, for ``f`` of a symmetric pair.

    They are those of the sample whose loss is positive, their mirror images, and no loss else.

    Raises:
        UnsupportedMechanism: an outcome's loss cannot be told apart from 0.
    """
    rest = rational(1)
    result = []
    for atom in sampled(atoms, q, "remove"):
        difference = order(atom.p, atom.q)
        if difference is Order.UNDECIDED:
            raise UnsupportedMechanism("a loss that cannot be told apart from 0")
        if difference is Order.ABOVE:
            result += [atom, Atom(atom.q, atom.p)]
            rest = rest - (atom.p + atom.q)
    return result if order(rest, rational(0)) is Order.EQUAL else [*result, Atom(rest, rest)]


class Listed(Pair):
    """Finitely many outcomes, as balls; moments are those of the finite losses."""

    @abstractmethod
    def _balls(self) -> list[Masses]:
        """The masses of the outcomes that both laws have."""

    def overlap(self) -> arb:
        return sum((arb.min(p, q) for p, q in self._balls()), arb(0))

    def _losses(self) -> list[arb]:
        return [(p / q).log() for p, q in self._balls()] or [arb(0)]

    def largest_loss(self) -> arb:
        """The largest ``log(p/q)``; 0 without any."""
        return reduce(arb.max, self._losses())

    def moment(self, c: float | Real, accuracy: float) -> arb:
        order = ball(c)
        return sum((p * (order * (p / q).log()).exp() for p, q in self._balls()), arb(0))

    def mean(self) -> arb:
        return sum((p * (p / q).log() for p, q in self._balls()), arb(0))

    def integer_moments(self, count: int) -> list[arb]:
        return power_moments(self._balls(), count)

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        return exponential_line(*self.exponentials(c, count * step, accuracy), step, count)

    @cached_property
    def _floats(self) -> list[tuple[float, float]]:
        """``(log p, loss)``."""
        with precision(_FLOAT_BITS):
            pairs = [(p.log(), (p / q).log()) for p, q in self._balls()]
            return [(float(log.mid()), float(loss.mid())) for log, loss in pairs]

    def cumulant(self, c: float) -> Jet:
        """The tilted law in floats."""
        return tilted(self.outline(c))

    def outline(self, c: float) -> list[tuple[float, float]]:
        return [(log + c * loss, loss) for log, loss in self._floats]

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        most = max(abs(loss) for _, loss in self._floats)
        return len(self._floats), math.log2(2 + most * (c + 1))

    # --- tails ------------------------------------------------------------------------------------

    def origin(self) -> arb:
        return self._losses()[0]

    def atoms(self, tail: float) -> tuple[list[Masses], Masses]:
        return self._balls(), (arb(0), arb(0))

    def span(self, tail: float) -> tuple[float, float]:
        with precision(_PLANNING_BITS):
            losses = [float(loss.mid()) for loss in self._losses()]
        return min(losses), max(losses)


@dataclass(frozen=True)
class Finite(Listed):
    """Outcomes, not all of infinite loss."""

    has_outline = True

    law: tuple[Atom, ...]

    def outcomes(self) -> tuple[Atom, ...]:
        return self.law

    @property
    def reverse(self) -> Finite:
        return Finite(tuple(Atom(a.q, a.p) for a in self.law))

    @property
    def is_symmetric(self) -> bool:
        """Whether exchanging the laws gives the same outcomes, in some order."""
        return Counter(self.law) == Counter(self.reverse.law)

    def mass(self) -> arb:
        """The mass of the outcomes possible under ``Q``."""
        return 1 - self.infinite()

    def revealed(self) -> Real:
        """The mass of the outcomes impossible under ``Q``."""
        return total(a.p for a in self.law if a.q.fraction == 0)

    def _balls(self) -> list[Masses]:
        kept = (a for a in self.law if a.p.fraction != 0 and a.q.fraction != 0)
        return [a.masses() for a in kept]


def total(numbers: Iterable[Real]) -> Real:
    """The sum, by halves, so that no expression grows high."""
    found = list(numbers)
    while len(found) > 1:
        found = [sum(found[i + 1 : i + 2], found[i]) for i in range(0, len(found), 2)]
    return found[0] if found else rational(0)


def power_moments(outcomes: Iterable[Masses], count: int) -> list[arb]:
    """``sum p (p/q)^k`` for ``k = 1 .. count``."""
    totals = [arb(0)] * count
    for p, q in outcomes:
        ratio = p / q
        for k in range(count):
            p *= ratio
            totals[k] += p
    return totals


def tilted(pairs: list[tuple[float, float]]) -> Jet:
    """From pairs ``(log weight, loss)``: the log of the total weight, the mean, the variance."""
    top = max(log for log, _ in pairs)
    weights = [(math.exp(log - top), loss) for log, loss in pairs]
    total = sum(w for w, _ in weights)
    mean = sum(w * loss for w, loss in weights) / total
    spread = sum(w * (loss - mean) ** 2 for w, loss in weights) / total
    return Jet(top + math.log(total), mean, spread)
