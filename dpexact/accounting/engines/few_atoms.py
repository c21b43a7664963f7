r"""Mechanisms with a few outcomes of arbitrary loss, as sampling makes them.

Of one run the profile is a sum over its outcomes.

``k`` steps with ``m`` outcomes are described by how often each occurred. All but two outcomes, of
neighbouring losses, are enumerated; given their numbers, the number ``X`` of the more revealing of
the last two is binomial, and the loss grows with ``X``. So each *type* ``t`` of the others adds

.. math:: w_t\,T_P^N\,P[X \ge m_t] - e^{\varepsilon}\,v_t\,T_Q^N\,Q[X \ge m_t],

with ``w_t, v_t`` its weights, ``T`` the mass of the last two outcomes, ``N`` the steps left and
``m_t`` the least ``X`` whose loss exceeds ``epsilon``. That is the maximum over ``m_t``, so when
rounding leaves two candidates the union of both values contains the truth. Where it leaves open
which of the two outcomes is the more revealing, every loss of the type lies in one ball ``l``, and
the type adds at most :math:`w_t T_P^N (1 - e^{\varepsilon - l})_+`. Types that are rare, tilted by
``c``, are not listed: they add at most ``K(c) e^{-c epsilon}`` times what the moments of the listed
ones lack of ``M(c)`` (``docs/theory/atoms.md``, section 5).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from operator import itemgetter
from typing import Final, NamedTuple

from flint import arb

from dpexact import balls
from dpexact.accounting.binomial import BinomialTails
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.tangents import (
    Tangent,
    TangentProfile,
    exact_divergence,
    listed,
    threshold,
)
from dpexact.accounting.pairs.finite import Finite, total
from dpexact.accounting.pairs.pair import Atom, chernoff_constant
from dpexact.accounting.pairs.pair import Masses as Balls
from dpexact.accounting.profile import InfiniteLoss
from dpexact.errors import InvalidInput, UndecidedComparison, UnsupportedMechanism
from dpexact.reals import ZERO, Real
from dpexact.ternary import Order
from dpexact.tradeoffs import numbers

#: About how many types are enumerated at most, of those that are not below this power of e; and how
#: many times as many of more digits.
MAX_TYPES: Final = 12_000
_RARE: Final = -60.0
_MORE_TYPES: Final = 10
#: Bits by which types that are not listed are rarer than the precision.
_RARER: Final = 4
_MANY: Final = f"no certified accounting for more than {MAX_TYPES} combinations of outcomes"


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
        self._known: tuple[int, list[list[Balls]]] = (0, [])
        self._product = Product([(Finite(tuple(law)), n) for law, n in self.steps])
        # proposes: what is too long
        if self._about() > MAX_TYPES:
            raise UnsupportedMechanism(_MANY)
        self.lost_bits = max(count for _, count in self.steps).bit_length()
        self.largest: Real = ZERO if largest is None else largest
        for atoms, n in self.steps if largest is None else ():
            self.largest += n * most_revealing(atoms).loss
        self._kept: dict[tuple[int, float], _Types] = {}

    def tangent(self, epsilon: arb) -> Tangent:
        key = balls.current(), self._tilt(float(epsilon.mid()))
        # proposes: which types are listed; what is not is enclosed
        if key not in self._kept:
            self._kept = {key: self._types(key[1])}
        # proposes: likewise
        split, types, missing = self._kept[key]
        found, c = split.tangent(types, epsilon), arb(key[1])
        most = missing * chernoff_constant(c) * (-c * epsilon).exp()
        return found._replace(doubt=(found.doubt + most).upper())

    def _tilt(self, epsilon: float) -> float:
        """Proposes: for which order types are listed, in steps that move the law by its width."""
        try:
            c, _ = self._product.saddle(epsilon, 1)
            step = 2.0 ** -math.ceil(math.log2(self._product.cumulant(c).bend) / 2)
            return step * round(c / step)
        except (ArithmeticError, ValueError):  # losses beyond floats
            return 0.0

    def _laws(self) -> list[list[Balls]]:
        """The masses at the current precision, kept for the next epsilon."""
        bits = balls.current()
        if self._known[0] != bits:
            self._known = bits, [[a.masses() for a in atoms] for atoms, _ in self.steps]
        return self._known[1]

    def _about(self) -> float:
        """How many types there are that are not rare. Proposes: what is too long."""
        *laws, pivot = self._laws()
        laws.append(_Split(pivot, arb(0)).law)
        found = 1.0
        for law, (_, n) in zip(laws, self.steps, strict=True):
            for i in range(1, len(law)):
                share = law[i][0] / sum((p for p, _ in law), arb(0))
                first, stop = _window(n, float(share.mid()), _RARE)
                found *= max(stop - first, 1)
        return found

    def _types(self, tilt: float) -> _Types:
        """Those of all steps but for the pivot, at the current precision.

        Proposes: which are listed.
        """
        *laws, pivot = self._laws()
        *counts, count = (n for _, n in self.steps)
        split, c, types = _Split(pivot, arb(tilt)), arb(tilt), []
        rare = -math.log(2) * (balls.current() + _RARER)
        fixed, missing = [], sum(split.tilted, arb(0)) ** count
        for law, n in zip(laws, counts, strict=True):
            tilted = [p * (c * (p / q).log()).exp() for p, q in law]
            missing *= sum(tilted, arb(0)) ** n
            fixed.append(list(_few(enumerate_types(law, n, tilted, rare))))
        for combination in product(
            *fixed, _few(enumerate_types(split.law, count, split.tilted, rare))
        ):
            *choices, (left, p, q) = combination
            for _, type_p, type_q in choices:
                p, q = p * type_p, q * type_q
            loss = (p / q).log() - left * split.loss
            missing -= p * (c * loss).exp() * split.grown**left
            types.append(_Type(left, p, q, loss + left * split.low))
            if len(types) > _MORE_TYPES * MAX_TYPES:
                raise UnsupportedMechanism(_MANY)
        return _Types(split, types, missing)

    @property
    def many(self) -> int:
        """How many combinations of outcomes there are."""
        return math.prod(_types(len(atoms), count) for atoms, count in self.steps)

    def losses(self) -> Iterator[tuple[arb, arb]]:
        """The loss of each combination and its mass under P, if none is infinite."""
        types, kept = [], arb(1)
        for law, (_, count) in zip(self._laws(), self.steps, strict=True):
            kept *= sum((p for p, _ in law), arb(0)) ** count
            types.append([(p, q) for _, p, q in enumerate_types(law, count)])
        for combination in product(*types):
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


class _Type(NamedTuple):
    """Its steps left, its masses with those, and the least of its losses."""

    left: int
    p: arb
    q: arb
    least: arb


class _Types(NamedTuple):
    """What no epsilon changes; ``missing`` is the moment of what is not listed."""

    split: _Split
    types: list[_Type]
    missing: arb


class _Split:
    """The last step: two main outcomes apart from the others, which are enumerated.

    ``law`` has the two as one outcome, the first, of which ``tilted`` are the moments at ``c``.
    ``apart``: how much more the loss of the first exceeds that of the second; None where there is
    one main outcome, or rounding does not tell which of the two has the larger loss.
    """

    def __init__(self, pairs: list[Balls], c: arb) -> None:
        losses = [(p / q).log() for p, q in pairs]
        weights = [p * (c * loss).exp() for (p, _), loss in zip(pairs, losses, strict=True)]
        # proposes: the main outcomes; any two may be, but of neighbours tails follow from another
        order = sorted(range(len(pairs)), key=lambda i: float(losses[i].mid()), reverse=True)
        # proposes: likewise; the largest make the shortest sums
        first = max(
            range(max(len(order) - 1, 1)),
            key=lambda i: float(sum((weights[k] for k in order[i : i + 2]), arb(0)).mid()),
        )
        main = order[first : first + 2]
        self.low: arb = losses[main[-1]]
        self.apart: arb | None = losses[main[0]] - self.low
        if not self.apart > 0:
            self.low, self.apart = losses[main[0]].union(self.low), None
        others = order[:first] + order[first + 2 :]
        mass_p, mass_q = (sum((pairs[i][k] for i in main), arb(0)) for k in (0, 1))
        moment = sum((weights[i] for i in main), arb(0))
        self.law = [(mass_p, mass_q), *(pairs[i] for i in others)]
        self.tilted = [moment, *(weights[i] for i in others)]
        self.loss, self.grown = (mass_p / mass_q).log(), moment / mass_p
        high, low = pairs[main[0]], pairs[main[-1]]
        shares = (high[0] / mass_p, low[0] / mass_p), (high[1] / mass_q, low[1] / mass_q)
        self._sides = [BinomialTails(*side) for side in shares]

    def tangent(self, types: Sequence[_Type], epsilon: arb) -> Tangent:
        """The best tests of the number of the more revealing outcome, among the steps left."""
        p, q, doubt = arb(0), arb(0), arb(0)
        if self.apart is None:
            for t in types:
                above = t.least - epsilon
                if above > 0:
                    p, q = p + t.p, q + t.q
                else:
                    doubt += (t.p * -(-above.upper()).expm1()).max(arb(0))
            return Tangent(p, q, doubt)
        rows: dict[int, list[tuple[int, arb, _Type]]] = defaultdict(list)
        for t in types:
            m, unclear = threshold((epsilon - t.least) / self.apart, self.apart, t.left)
            rows[t.left].append((m, unclear, t))
        for row in rows.values():
            row.sort(key=itemgetter(0), reverse=True)
        order = sorted(rows)
        # proposes: the order, in which tails mostly follow from the last ones
        if rows and rows[order[0]][0][0] < rows[order[-1]][0][0]:
            order.reverse()
        for left in order:
            row = rows[left]
            places = [m for m, _, _ in row]
            both = (side.at(left, places) for side in self._sides)
            for (_, unclear, t), tail, other in zip(row, *both, strict=True):
                p, q = p + t.p * tail, q + t.q * other
                doubt += t.p * tail * unclear
        return Tangent(p, q, doubt)


def enumerate_types(
    law: Sequence[Balls],
    left: int,
    tilted: Sequence[arb] = (),
    rare: float = -math.inf,
    p: arb | int = 1,
    q: arb | int = 1,
) -> Iterator[tuple[int, arb, arb]]:
    """``(n, P, Q)`` of each type of ``left`` draws: the first outcome occurs ``n`` times.

    P and Q are the multinomial probabilities, times ``p`` and ``q``; ``law`` need not sum to 1.
    Proposes: types that are left out, below ``e^rare`` by the shares of ``tilted``.
    """
    if len(law) == 1:
        yield left, p * law[0][0] ** left, q * law[0][1] ** left
        return
    (*before, (last_p, last_q)), first, stop = law, 0, left + 1
    if tilted:
        share = float((tilted[-1] / sum(tilted, arb(0))).mid())
        first, stop = _window(left, share, rare)
        if left >> 64:  # of so many no binomial coefficient is known
            raise UnsupportedMechanism(_MANY)
        ways = arb.bin_uiui(left, first)
        p, q = p * ways * last_p**first, q * ways * last_q**first
    for n in range(first, stop):
        less = rare - _log_mass(left, n, share) if tilted else rare
        yield from enumerate_types(before, left - n, tilted[:-1], less, p, q)
        p, q = p * last_p * (left - n) / (n + 1), q * last_q * (left - n) / (n + 1)


def _log_mass(count: int, n: int, share: float) -> float:
    """Proposes: about the logarithm of a binomial mass."""
    if not 0 < share < 1:  # or unknown
        return 0.0 if n == count * (share >= 1) else -math.inf
    ways = math.lgamma(count + 1) - math.lgamma(n + 1) - math.lgamma(count - n + 1)
    return ways + n * math.log(share) + (count - n) * math.log1p(-share)


def _window(count: int, share: float, level: float) -> tuple[int, int]:
    """From where to where binomial masses are above ``e^level``. Proposes: what is not rare."""

    mode = min(int((count + 1) * share), count) if share > 0 else 0

    def first_below(most: int, way: int) -> int:
        """How far from the mode the first is that is not, in ranges longer than Python's, too."""
        least, most = 0, most + 1
        while least < most:
            middle = (least + most) // 2
            above = _log_mass(count, mode + way * middle, share) > level
            least, most = (middle + 1, most) if above else (least, middle)
        return least

    stop = mode + first_below(count - mode, 1)
    return min(mode - first_below(mode, -1) + 1, stop), stop


def _few(types: Iterable[tuple[int, arb, arb]]) -> Iterator[tuple[int, arb, arb]]:
    """The same; raises ``UnsupportedMechanism`` where there are too many."""
    for i, found in enumerate(types):
        if i > _MORE_TYPES * MAX_TYPES:
            raise UnsupportedMechanism(_MANY)
        yield found


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
