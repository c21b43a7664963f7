r"""Mechanisms with a few outcomes of arbitrary loss, as sampling makes them.

Of one run the profile is a sum over its outcomes.

``k`` steps with ``m`` outcomes are described by how often each occurred. All but two outcomes
are enumerated; given their numbers, the number ``X`` of the more revealing of the last two is
binomial, and the loss grows with ``X``. So each *type* ``t`` of the enumerated outcomes adds

.. math:: w_t\,T_P^N\,P[X \ge m_t] - e^{\varepsilon}\,v_t\,T_Q^N\,Q[X \ge m_t],

with ``w_t, v_t`` its weights, ``T`` the mass of the last two outcomes, ``N`` the steps left and
``m_t`` the least ``X`` whose loss exceeds ``epsilon``. That is the maximum over ``m_t``, so when
rounding leaves two candidates the union of both values contains the truth. Where it leaves open
which of the two outcomes is the more revealing, every loss of the type lies in one ball ``l``, and
the type adds at most :math:`w_t T_P^N (1 - e^{\varepsilon - l})_+`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from typing import Final, NamedTuple

from flint import arb

from dpexact import balls
from dpexact.accounting.binomial import binomial_tail
from dpexact.accounting.engines.tangents import (
    Tangent,
    TangentProfile,
    exact_divergence,
    listed,
    threshold,
)
from dpexact.accounting.pairs.finite import total
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.pairs.pair import Masses as Balls
from dpexact.accounting.profile import InfiniteLoss
from dpexact.errors import InvalidInput, UndecidedComparison, UnsupportedMechanism
from dpexact.reals import ZERO, Real
from dpexact.ternary import Order
from dpexact.tradeoffs import numbers

#: Most types that are enumerated.
MAX_TYPES: Final = 20_000


class FiniteProfile(TangentProfile):
    """Profile of outcomes; those impossible under ``Q`` are infinite loss."""

    method = "sum over outcomes"
    beside = InfiniteLoss()

    def __init__(self, atoms: Sequence[Atom], revealed: Real) -> None:
        self.atoms = [a for a in atoms if a.p.fraction != 0 and a.q.fraction != 0]
        self.infinite: InfiniteLoss = InfiniteLoss(((revealed, 1),))
        self.largest: Real | None = most_revealing(self.atoms).loss
        self._kept: tuple[int, list[Balls]] = (0, [])

    def tangent(self, epsilon: arb) -> Tangent:
        level, p, q, doubt = epsilon.exp(), arb(0), arb(0), arb(0)
        for mass, other in self._balls():
            gain = mass - level * other
            if gain > 0:
                p, q = p + mass, q + other
            elif not gain <= 0:
                doubt += gain.max(arb(0)).upper()
        return Tangent(p, q, doubt)

    def _balls(self) -> list[Balls]:
        """The masses at the current precision, kept for the next epsilon."""
        bits = balls.current()
        if self._kept[0] != bits:
            self._kept = bits, [a.masses() for a in self.atoms]
        return self._kept[1]

    def finite_fraction(self, level: Fraction) -> Fraction | None:
        return exact_divergence([listed(self.atoms, range(len(self.atoms)), 1)], level)


class FewAtoms(TangentProfile):
    """Profile of a product of steps, each given by its outcomes and how often it runs.

    Outcomes impossible under Q are infinite loss; outcomes impossible under P never matter.
    ``infinite`` is loss beside that of the steps: all outcomes of finite loss must escape it too.
    """

    method = "outcomes by type"

    def __init__(
        self,
        steps: Sequence[tuple[Sequence[Atom], int]],
        infinite: InfiniteLoss,
        largest: Real | None = None,
    ) -> None:
        masses = list(infinite.masses)
        self.steps: list[tuple[list[Atom], int]] = []
        for atoms, count in steps:
            if revealing := [a.p for a in atoms if a.q.fraction == 0]:
                masses.append((total(revealing), count))  # one step has one of them
            finite = [a for a in atoms if a.p.fraction != 0 and a.q.fraction != 0]
            self.steps.append((finite, count))
        self.steps.sort(key=lambda step: (len(step[0]) > 1, step[1]))
        self.infinite: InfiniteLoss = InfiniteLoss(tuple(masses))
        self.beside = infinite
        *others, (pivot, count) = self.steps
        self.types = math.prod(_types(len(atoms), n) for atoms, n in others)
        self.types *= _types(max(len(pivot) - 1, 1), count)
        if self.types > MAX_TYPES:
            raise UnsupportedMechanism(
                f"no certified accounting for more than {MAX_TYPES} combinations of outcomes"
            )
        self.lost_bits = max(count for _, count in self.steps).bit_length()
        self.largest: Real = ZERO if largest is None else largest
        for atoms, n in self.steps if largest is None else ():
            self.largest += n * most_revealing(atoms).loss
        self._kept: dict[int, _Types] = {}

    def tangent(self, epsilon: arb) -> Tangent:
        bits = balls.current()
        if bits not in self._kept:
            self._kept = {bits: self._types()}
        split, types, doubt = self._kept[bits]
        level, p, q = epsilon.exp(), arb(0), arb(0)
        for left, weight_p, weight_q in types:
            found = split.tangent(left, weight_p, weight_q, epsilon, level)
            p, q, doubt = p + found.p, q + found.q, doubt + found.doubt
        return Tangent(p, q, doubt)

    def _types(self) -> _Types:
        """Those of all steps but for the pivot, at the current precision, for every epsilon."""
        *others, (pivot, count) = self.steps
        laws = [[a.masses() for a in atoms] for atoms, _ in others]
        fixed = [list(enumerate_types(law, n)) for law, (_, n) in zip(laws, others, strict=True)]
        split, types = _Split(pivot, count), []
        cut, doubt = arb(2) ** (-balls.current() - 20), arb(0)
        for combination in product(*fixed, split.types()):
            *choices, (left, weight_p, weight_q) = combination
            for _, type_p, type_q in choices:
                weight_p, weight_q = weight_p * type_p, weight_q * type_q
            if weight_p < cut:
                doubt += weight_p
            else:
                types.append((left, weight_p, weight_q))
        return _Types(split, types, doubt)

    @property
    def many(self) -> int:
        """How many combinations of outcomes there are."""
        return math.prod(_types(len(atoms), count) for atoms, count in self.steps)

    def losses(self) -> Iterator[tuple[arb, arb]]:
        """The loss of each combination and its mass under P, if none is infinite."""
        laws, kept = [], arb(1)
        for atoms, count in self.steps:
            masses = [a.masses() for a in atoms]
            kept *= sum((p for p, _ in masses), arb(0)) ** count
            laws.append([(p, q) for _, p, q in enumerate_types(masses, count)])
        for combination in product(*laws):
            p, q = (math.prod(side, start=arb(1)) for side in zip(*combination, strict=True))
            yield (p / q).log(), p / kept

    def dropped(self) -> arb:
        """The mass missing from :meth:`losses`."""
        return arb(0)

    def finite_fraction(self, level: Fraction) -> Fraction | None:
        laws, stride = [], 1
        for atoms, count in self.steps:
            # each number of occurrences of an outcome is a digit of the sum of places
            places = [0, *(stride * (count + 1) ** i for i in range(len(atoms) - 1))]
            stride *= (count + 1) ** (len(atoms) - 1)
            laws.append(listed(atoms, places, count))
        return exact_divergence(laws, level)


class _Types(NamedTuple):
    """What no epsilon changes; ``doubt`` are all weights too small to matter."""

    split: _Split
    types: list[tuple[int, arb, arb]]
    doubt: arb


class _Split:
    """The last step: two main outcomes apart from the others, which are enumerated.

    ``apart``: how much more the loss of the first exceeds that of the second; None where there is
    one main outcome, or rounding does not tell which of the two has the larger loss.
    """

    def __init__(self, atoms: list[Atom], count: int) -> None:
        pairs = [a.masses() for a in atoms]
        # proposes: the main outcomes; any two may be, and the largest make the shortest sums
        order = sorted(range(len(atoms)), key=lambda i: float((pairs[i][0] + pairs[i][1]).mid()))
        self.count = count
        self.others = [pairs[i] for i in order[:-2]]
        self.main = [pairs[i] for i in order[-2:]]
        losses = [(p / q).log() for p, q in self.main]
        if losses[0] < losses[-1]:
            self.main.reverse()
            losses.reverse()
        self.low: arb = losses[-1]
        self.apart: arb | None = losses[0] - losses[-1]
        if not self.apart > 0:
            self.low, self.apart = losses[0].union(losses[-1]), None
        self.mass_p = sum((p for p, _ in self.main), arb(0))
        self.mass_q = sum((q for _, q in self.main), arb(0))

    def types(self) -> Iterator[tuple[int, arb, arb]]:
        """``(steps left, weight under P, weight under Q)``."""
        if not self.others:
            yield self.count, self.mass_p**self.count, self.mass_q**self.count
            return
        yield from enumerate_types([(self.mass_p, self.mass_q), *self.others], self.count)

    def tangent(self, left: int, weight_p: arb, weight_q: arb, epsilon: arb, level: arb) -> Tangent:
        """The best test of the number of the more revealing outcome, among ``left`` steps."""
        loss = (weight_p / weight_q).log() - epsilon
        loss += left * (self.low - (self.mass_p / self.mass_q).log())  # the least of the type
        if self.apart is None:
            if loss > 0:
                return Tangent(weight_p, weight_q, arb(0))
            most = weight_p * -(-loss.upper()).expm1()
            return Tangent(arb(0), arb(0), most.max(arb(0)))
        m, doubt = threshold(-loss / self.apart, self.apart, left)
        (p_high, q_high), (p_low, q_low) = self.main
        p = weight_p * binomial_tail(left, m, p_high / self.mass_p, p_low / self.mass_p)
        q = weight_q * binomial_tail(left, m, q_high / self.mass_q, q_low / self.mass_q)
        return Tangent(p, q, p * doubt)


def enumerate_types(
    law: list[tuple[arb, arb]], left: int, p: arb | int = 1, q: arb | int = 1
) -> Iterator[tuple[int, arb, arb]]:
    """``(n, P, Q)`` of each type of ``left`` draws: the first outcome occurs ``n`` times.

    P and Q are the multinomial probabilities, times ``p`` and ``q``; ``law`` need not sum to 1.
    """
    if len(law) == 1:
        yield left, p * law[0][0] ** left, q * law[0][1] ** left
        return
    *before, (last_p, last_q) = law
    for n in range(left + 1):
        yield from enumerate_types(before, left - n, p, q)
        p, q = p * last_p * (left - n) / (n + 1), q * last_q * (left - n) / (n + 1)


def _types(outcomes: int, count: int) -> int:
    return math.comb(count + outcomes - 1, outcomes - 1)


def most_revealing(atoms: list[Atom]) -> Atom:
    """The outcome of the largest loss.

    Raises:
        UnsupportedMechanism: two losses cannot be told apart.
    """
    top, *others = atoms
    for atom in others:
        match _order(atom.p * top.q, top.p * atom.q):
            case Order.ABOVE:
                top = atom
            case Order.UNDECIDED:
                raise UnsupportedMechanism("the largest loss cannot be told from the next")
    return top


def _order(a: Real, b: Real) -> Order:
    """By balls, or by algebra where the two may be equal."""
    found = balls.order(a, b)
    if found is Order.UNDECIDED:
        with suppress(UndecidedComparison, InvalidInput):
            return Order(numbers.compare(numbers.number(a), numbers.number(b)))
    return found
