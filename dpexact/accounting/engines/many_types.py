r"""Few steps of laws with many outcomes: the types of two halves, sorted, meet in the middle.

A *type* tells how often each outcome occurred among the steps of a half; all its outcomes have one
loss, and their masses are multinomial. For any set ``S'`` of pairs of listed types of both halves
that differs from those whose losses exceed ``epsilon`` in pairs ``D`` alone, of losses within ``d``
of it, and for every ``c >= 0``

.. math:: 0 \le \delta_0(\varepsilon) - \bigl(P(S') - e^\varepsilon Q(S')\bigr)
          \le P(D)\,(e^d - 1) + \frac{c^c}{(1 + c)^{1+c}}\, e^{-c\varepsilon}
          \Bigl(M(c) - \sum_{listed} p\, e^{cl}\Bigr),

``M`` the moments of the finite losses (``docs/theory/atoms.md``). Losses are sorted as integers;
``c`` only chooses which types are too rare, under the law tilted by it, to be listed. On a lattice
all types of one loss are one, of all the steps, and on one side.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from operator import mul
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
from flint import arb

from dpexact import balls
from dpexact.accounting.arrays import Floats
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.lattice_product import Run, power
from dpexact.accounting.engines.tangents import Tangent, TangentProfile
from dpexact.accounting.pairs.lattice import OnLattice
from dpexact.accounting.pairs.pair import Masses, Pair, TooExpensive, chernoff_constant
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

_BEGIN: Final = Fraction(0)
#: Most types of a half, with those that are begun.
MAX_TYPES: Final = 80_000
#: More steps than this have more types wherever there are many outcomes.
_MAX_STEPS: Final = 1_000
#: Types are left out whose mass exceeds the precision by at most so many bits.
_RARE: Final = 16
_FLOAT_BITS: Final = 96
_TOO_MANY: Final = f"more than {MAX_TYPES} types of outcomes"


class Type(NamedTuple):
    """The masses and the loss of a type."""

    p: arb
    q: arb
    loss: arb


class _Lists(NamedTuple):
    """Both halves: keys are losses times ``unit``, off by ``error`` in each pair at most.

    ``missing`` is ``M(c)`` without the pairs.
    """

    pairs: Halves[arb]
    unit: arb
    error: arb
    missing: arb


class ManyTypes(TangentProfile):
    """Profile of a product of pairs with atoms only, which hold all the mass of infinite loss."""

    method = "outcomes by type, in halves"
    largest = None
    beside = InfiniteLoss()
    cap = 500

    def __init__(self, factors: Sequence[tuple[Pair, int]], infinite: InfiniteLoss) -> None:
        self.infinite = infinite
        self._product = Product(factors)
        self._tilt = 0.0
        self._lists: dict[tuple[int, float], _Lists] = {}
        self._refused: set[tuple[int, float]] = set()

    @staticmethod
    def takes(factors: Sequence[tuple[Pair, int]]) -> bool:
        """Proposes: whether types are listed; a law on a lattice has few of them."""
        return sum(n for pair, n in factors if not isinstance(pair, OnLattice)) <= _MAX_STEPS

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        self._tilted(lambda: balls.approximate(epsilon))
        return super().delta(epsilon, digits)

    # each has a tilt of its own
    deltas = Profile.deltas

    def _epsilon(self, delta: Real, digits: int, begin: Fraction = _BEGIN) -> Enclosure:
        with balls.precision(_FLOAT_BITS):
            share = balls.ball(delta) - self.infinite.ball()
        self._tilted(lambda: self._product.epsilon(float(share.log().mid()), 1))
        return super()._epsilon(delta, digits, begin)

    def largest_loss(self, digits: int) -> Enclosure:
        return self._product.largest(1, digits, self.method)

    def _tilted(self, near: Callable[[], float]) -> None:
        """Proposes: for which tilt types are listed: half the saddle point's, about."""
        try:
            c = self._product.saddle(near(), 1)[0]
            self._tilt = math.ldexp(0.5, round(math.log2(c)))
        except (ArithmeticError, ValueError):
            self._tilt = 0.0

    def test(self, epsilon: arb) -> Tangent:
        self._tilted(lambda: float(epsilon.mid()))
        return super().test(epsilon)

    def finite_fraction(self, level: Fraction) -> Fraction | None:
        return None

    def tangent(self, epsilon: arb) -> Tangent:
        if self._product.never_exceeds(epsilon, 1):
            return Tangent(arb(0), arb(0), arb(0))
        pairs, unit, error, missing = self._listed(balls.current(), self._tilt)
        place, c = epsilon * unit, arb(self._tilt)
        if not balls.in_range(place):
            return Tangent(arb.nan(), arb.nan(), arb.nan())
        goal = nearest(place)
        slack = (error + (place - goal).abs_upper()).upper()
        p, q, near = pairs.beyond(goal, int(slack.ceil().fmpz()))
        most = chernoff_constant(c) * (-c * epsilon).exp()
        return Tangent(p, q, (near * (slack / unit).expm1() + most * missing).upper())

    def _listed(self, bits: int, tilt: float) -> _Lists:
        """Both halves, kept for the next epsilon.

        Proposes: which lists are looked up, by their tilt; all are valid.

        Raises:
            UnsupportedMechanism: too many types.
        """
        known = bits, tilt
        if known in self._refused:
            raise UnsupportedMechanism(_TOO_MANY)
        if known not in self._lists:
            self._refused.add(known)
            try:
                self._lists = {known: self._build(bits, tilt)}  # one at a time: they are large
            except ArithmeticError as error:  # also floats, which plan, may not reach so far
                raise UnsupportedMechanism(str(error)) from error
            self._refused.remove(known)
        return self._lists[known]

    def _types(self, rare: float, tilt: float) -> list[list[Type]]:
        """Of all steps of a pair; in two halves where it is alone, or has too many.

        Proposes: what is halved; types of any share of the steps are types.
        """
        lists: list[list[Type]] = []
        for pair, n in self._product.factors:
            if isinstance(pair, OnLattice):
                lists.append(losses_of(pair, n, rare, tilt))
                continue
            law = pair.atoms(rare**2)[0]
            # proposes: likewise
            if len(self._product.factors) > 1:
                with suppress(TooExpensive):
                    lists.append(types_of(law, n, rare, tilt))
                    continue
            known = {m: types_of(law, m, rare, tilt) for m in {n // 2, n - n // 2}}
            lists += [known[n // 2], known[n - n // 2]]
        return lists

    def _build(self, bits: int, tilt: float) -> _Lists:
        rare, unit, c = 2.0 ** min(_RARE - bits, -1), arb(2) ** bits, arb(tilt)
        halves = [[Type(arb(1), arb(1), arb(0))]] * 2
        # proposes: which half; any will do
        for more in sorted(self._types(rare, tilt), key=len, reverse=True):
            side = int(len(halves[1]) < len(halves[0]))
            if len(halves[side]) * len(more) + len(halves[1 - side]) > MAX_TYPES:
                raise TooExpensive(_TOO_MANY)
            both = itertools.product(halves[side], more)
            halves[side] = [Type(a.p * b.p, a.q * b.q, a.loss + b.loss) for a, b in both]
        sides: list[Half[arb]] = []
        errors, listed = arb(0), arb(1)
        for types in halves:
            places = [loss * unit for _, _, loss in types]
            if not all(map(balls.in_range, places)):
                raise TooExpensive("losses beyond the range of floats")
            keys = [nearest(place) for place in places]
            sides.append(Half(keys, [t.p for t in types], [t.q for t in types]))
            off = ((place - key).abs_upper() for place, key in zip(places, keys, strict=True))
            errors += reduce(arb.max, off, arb(0))
            listed *= sum((p * (c * loss).exp() for p, _, loss in types), arb(0))
        missing = self._product.moment(tilt, bits * math.log(2)) - listed
        return _Lists(Halves(sides[0], sides[1], arb(0)), unit, errors, missing)


def losses_of(pair: OnLattice, count: int, rare: float, tilt: float) -> list[Type]:
    """The losses of ``count`` steps, each once, with at most its masses; few are left out.

    Raises:
        TooExpensive: too many.
    """
    (spacing, start), step = pair.lattice(), pair.tilted(Fraction(tilt))
    unit = balls.ball(spacing)
    # proposes: what is too many
    if count * (math.inf if pair.highest is None else pair.highest) > MAX_TYPES:
        deviation = math.sqrt(count * pair.cumulant(tilt).bend) / balls.approximate(spacing)
        # proposes: likewise
        if deviation * math.sqrt(-8 * math.log(rare)) > MAX_TYPES:
            raise TooExpensive(_TOO_MANY)
    run = power(Run(step.first, step.masses, step.dropped), count, arb(rare))
    scale, first = step.moment**count, balls.ball(start * count + run.first)
    found = []
    for place, mass in enumerate(run.masses):
        loss = unit * (first + place)
        p = mass * scale * (-tilt * loss).exp()
        found.append(Type(p, p * (-loss).exp(), loss))
    return found


def types_of(law: Sequence[Masses], count: int, rare: float, tilt: float) -> list[Type]:
    """The types of ``count`` steps, with multinomial masses, but for some that are rare tilted.

    Proposes: which are listed, and in which order.

    Raises:
        TooExpensive: too many.
    """
    losses = [(p / q).log() for p, q in law]
    weights = [p * (tilt * loss).exp() for (p, _), loss in zip(law, losses, strict=True)]
    whole = sum(weights, arb(0))
    masses = [float((weight / whole).mid()) for weight in weights]
    order = sorted(range(len(law)), key=masses.__getitem__, reverse=True)
    types, found = [Type(arb(1), arb(1), arb(0))], []
    for before, outcome, n, left in _planned(np.array([masses[i] for i in order]), count, rare):
        if n:
            p, q, loss = types[before]
            i = order[outcome]
            (more_p, more_q), ways = law[i], math.comb(left + n, n)
            loss = loss + n * losses[i]
            types.append(Type(ways * p * more_p**n, ways * q * more_q**n, loss))
        if left == 0:
            found.append(types[-1])
    return found


def _planned(masses: Floats, count: int, rare: float) -> list[list[int]]:
    """All that are not rare: ``(before, outcome, n, left)``, each after the one it continues.

    Outcome by outcome, for all that are begun at once. Proposes: which are listed; whoever asks
    counts the mass of the others.
    """
    rest = np.append(np.cumsum(masses[::-1])[::-1], 0.0)
    index, left, mass = np.array([0]), np.array([count]), np.array([1.0])
    nodes, total = [np.array([[0, -1, 0, count]])], 1
    for i, share in enumerate(masses):
        go_on = (left > 0) & (mass * rest[i] ** left >= rare)
        index, left, mass = index[go_on], left[go_on], mass[go_on]
        most = int(left.max(initial=0))
        begun, here = [(index, left, mass)], mass
        for n in range(1, most + 1):
            here = here * (share * (left - n + 1) / n)
            whole = here * rest[i + 1] ** np.maximum(left - n, 0)
            found = np.flatnonzero((whole >= rare) & (left >= n))
            # beyond the most likely number there are fewer and fewer
            if not found.size and n * (share + rest[i + 1]) > most * share:
                break
            after, same = left[found] - n, np.full(found.shape, 1)
            nodes.append(np.array([index[found], same * i, same * n, after]).T)
            begun.append((np.arange(total, total + found.size), after, here[found]))
            total += found.size
            if total > MAX_TYPES:
                raise TooExpensive(_TOO_MANY)
        index, left, mass = (np.concatenate(parts) for parts in zip(*begun, strict=True))
    return [row for rows in nodes for row in rows.tolist()]


Mass = TypeVar("Mass", int, arb)


@dataclass(frozen=True)
class Half(Generic[Mass]):
    """Keys and masses of outcomes under ``P`` and ``Q``, in any order."""

    keys: Sequence[int]
    p: Sequence[Mass]
    q: Sequence[Mass]


class Halves(Generic[Mass]):
    """All pairs of an outcome of each half, which meet in the middle; ``zero`` is no mass.

    Losses are integer *keys*, multiples of a unit. Of the pairs those count whose keys exceed a
    goal together: for each outcome of the one half all of the other beyond a place in the order of
    its keys. Masses are balls, or integers.

    Proposes: on which side of a goal a pair lies, by rounded keys; whoever asks knows their error.
    """

    def __init__(self, first: Half[Mass], second: Half[Mass], zero: Mass) -> None:
        order = sorted(range(len(second.keys)), key=second.keys.__getitem__)
        self._first: Half[Mass] = first
        self._zero: Mass = zero
        self._keys = [second.keys[i] for i in order]
        self._p: list[Mass] = _tails([second.p[i] for i in order], zero)
        self._q: list[Mass] = _tails([second.q[i] for i in order], zero)

    def beyond(self, goal: int, slack: int) -> tuple[Mass, Mass, Mass]:
        """``P`` and ``Q`` of the pairs of keys above ``goal``, ``P`` of those within ``slack``."""
        first, keys, tails = self._first, self._keys, self._p
        at = [bisect_right(keys, goal - key) for key in first.keys]
        p = sum(map(mul, first.p, map(tails.__getitem__, at)), self._zero)
        q = sum(map(mul, first.q, map(self._q.__getitem__, at)), self._zero)
        near = self._zero
        for key, mass, place in zip(first.keys, first.p, at, strict=True):
            low, high = goal - key - slack, goal - key + slack
            below = place > 0 and keys[place - 1] >= low
            if below or (place < len(keys) and keys[place] <= high):
                near += mass * (tails[bisect_left(keys, low)] - tails[bisect_right(keys, high)])
        return p, q, near


def _tails(values: list[Mass], zero: Mass) -> list[Mass]:
    """``result[i] = sum(values[i:])``, one longer than ``values``."""
    return list(itertools.accumulate(reversed(values), initial=zero))[::-1]


def nearest(x: arb) -> int:
    """The integer nearest to the midpoint of ``x``."""
    return int((x.mid() + arb(0.5)).floor().mid().floor().fmpz())
