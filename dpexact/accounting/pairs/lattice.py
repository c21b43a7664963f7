r"""Pairs whose finite losses lie on a uniform lattice: ``spacing * (start + j)``, ``j`` integers.

For ``theta >= 0`` the *tilted* law has masses :math:`p_j e^{\theta l_j} / M(\theta)`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product, zip_longest
from typing import Final, Protocol, TypeAlias, TypeGuard

from flint import acb, arb, arb_poly

from dpexact import reals
from dpexact.accounting.pairs.finite import Finite
from dpexact.accounting.pairs.pair import Atom, LossMoments, Pair
from dpexact.balls import AROUND, ball
from dpexact.errors import UnsupportedMechanism
from dpexact.exactness import exact_ratio
from dpexact.reals import Real

#: Most atoms that one law may have, and most coefficients of a composed one.
MAX_ATOMS: Final = 300_000


class Turning(Protocol):
    """The characteristic function ``G(t) = E e^{i t j}`` of the index under a tilted law."""

    def at(self, angle: arb) -> acb:
        """``G`` at an angle."""

    def bound(self, angle: arb) -> arb:
        """Of ``|G|`` at every angle from this one, at least 0, to ``pi``."""


@dataclass(frozen=True, slots=True)
class Tilted:
    """A tilted law: ``masses[i]`` sits at index ``first + i``; ``dropped`` bounds what is missing.

    ``masses`` and the dropped part sum to 1. ``moment`` is ``M(theta)``.
    """

    first: int
    masses: list[arb]
    dropped: arb
    moment: arb

    def at(self, angle: arb) -> acb:
        turn = acb(0, angle).exp()
        lost = self.dropped.abs_upper() * AROUND
        found: acb = turn**self.first * arb_poly(self.masses)(turn)
        return found + acb(lost, lost)

    def bound(self, angle: arb) -> arb:
        """By neighbours, of which ``|a + b e^{it}|^2 = (a + b)^2 - 4ab sin^2(t/2)`` falls to pi."""
        sine, lost = (angle / 2).sin() ** 2, self.dropped.abs_upper()

        def paired(masses: Sequence[arb]) -> arb:
            sizes = (
                ((a + b) ** 2 - 4 * a * b * sine).max(arb(0)).sqrt()
                for a, b in zip_longest(masses[::2], masses[1::2], fillvalue=arb(0))
            )
            return sum(sizes, lost)

        return arb.min(paired(self.masses), paired([arb(0), *self.masses]))


class OnLattice(Pair):
    """A pair with its lattice; finite ones list their outcomes in the order of the losses."""

    has_outline = True

    @abstractmethod
    def lattice(self) -> tuple[Real, Fraction]:
        """``(spacing, start)``."""

    @property
    def highest(self) -> int | None:
        """The index of the largest loss; None when unbounded."""
        return len(self.outcomes()) - 1 if self.outcomes() else None

    def loss_moments(self) -> LossMoments:
        """By its outcomes, for a finite law."""
        spacing, start = self.lattice()
        unit, first, law = ball(spacing), ball(start), enumerate(self.atoms(0.0)[0])
        return LossMoments.of([(p, unit * (first + j)) for j, (p, _) in law])

    def tilted(self, theta: Fraction) -> Tilted:
        """The tilted law at the current precision; finite laws drop nothing."""
        spacing, start = self.lattice()
        unit = ball(theta) * ball(spacing)
        first, growth = (unit * ball(start)).exp(), unit.exp()
        law = enumerate(self.atoms(0.0)[0])
        weights = [p * first * growth**j for j, (p, _) in law]
        moment = sum(weights, arb(0))
        return Tilted(0, [w / moment for w in weights], arb(0), moment)

    def turning(self, theta: Fraction) -> Turning:
        """The same as a function of an angle."""
        return self.tilted(theta)


@dataclass(frozen=True)
class FiniteOnLattice(Finite, OnLattice):
    """Finitely many outcomes, all possible under both laws, of losses on a lattice."""

    spacing: Real
    start: Fraction

    @property
    def reverse(self) -> FiniteOnLattice:
        """The pair ``(Q, P)``, its outcomes in the order of their losses."""
        law = tuple(Atom(atom.q, atom.p) for atom in reversed(self.law))
        return FiniteOnLattice(law, self.spacing, 1 - len(law) - self.start)

    def lattice(self) -> tuple[Real, Fraction]:
        return self.spacing, self.start


# --- several on one lattice -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Strided:
    """``count`` steps of ``pair``, whose spacing is ``stride`` times the common unit."""

    pair: OnLattice
    count: int
    stride: int

    @property
    def start(self) -> Fraction:
        """Where the losses of one start, in common units."""
        return self.pair.lattice()[1] * self.stride

    @property
    def extent(self) -> float:
        """About how many points of the lattice its losses cover."""
        top = self.pair.highest
        return math.inf if top is None else top * self.count * self.stride


def commensurate(
    pairs: Sequence[tuple[OnLattice, int]], longest: float = MAX_ATOMS
) -> tuple[Real, list[Strided]] | None:
    """The pairs on one lattice: its unit and their strides; ``None`` if there is none.

    A lattice on which a pair strides farther than ``longest`` counts as none.
    """
    spacings = [pair.lattice()[0] for pair, _ in pairs]
    base = spacings[0]
    ratios = [exact_ratio(spacing, base) for spacing in spacings]
    known = [ratio for ratio in ratios if ratio is not None]
    if len(known) < len(pairs):
        return None
    scale = math.lcm(*(ratio.denominator for ratio in known))
    numerators = [int(ratio * scale) for ratio in known]
    shared = math.gcd(*numerators)
    # proposes: the cheapest method; without a lattice others answer
    if max(numerators) > longest * shared:
        return None
    unit = base * Fraction(shared, scale)
    return unit, [
        Strided(pair, count, numerator // shared)
        for (pair, count), numerator in zip(pairs, numerators, strict=True)
    ]


#: Most combinations of outcomes of a composition that are written out.
MAX_COMBINATIONS: Final = 2000

_Often: TypeAlias = tuple[int, ...]
_Type: TypeAlias = tuple[_Often, Real, Real]
_Key: TypeAlias = tuple[int | _Often, ...]


def composed(pairs: Sequence[tuple[Pair, int]], most: int = MAX_COMBINATIONS) -> list[Atom]:
    """The outcomes of a composition of finite laws: a loss on a common lattice once.

    Without a common lattice, losses that happen to be equal stay apart, which is as true; of a law
    on no lattice every type has an outcome of its own.

    Raises:
        UnsupportedMechanism: for more than ``most`` combinations of outcomes.
    """
    if not pairs:
        return [Atom(reals.rational(1), reals.rational(1))]
    sizes = (math.comb(count + len(pair.outcomes()) - 1, count) for pair, count in pairs)
    if math.prod(sizes) > most:
        raise UnsupportedMechanism(
            f"no certified accounting for more than {most} combinations of outcomes"
        )
    on_lattice = [(pair, count) for pair, count in pairs if _is_stepped(pair)]
    common = commensurate(on_lattice, math.inf) if len(on_lattice) == len(pairs) else None
    found: dict[_Key, tuple[Real, Real]] = {}
    for types in product(*(_types(pair.outcomes(), count) for pair, count in pairs)):
        places = [_place(pair, t[0]) for (pair, _), t in zip(pairs, types, strict=True)]
        key: _Key = tuple(places)
        if common is not None:
            key = (sum(s.stride * _index(t[0]) for s, t in zip(common[1], types, strict=True)),)
        p, q = _product([t[1] for t in types]), _product([t[2] for t in types])
        if key in found:
            p, q = found[key][0] + p, found[key][1] + q
        found[key] = p, q
    return [Atom(p, q) for p, q in found.values()]


def _is_stepped(pair: Pair) -> TypeGuard[OnLattice]:
    """Whether the losses of its outcomes, in their order, are equal steps apart, none infinite."""
    return isinstance(pair, OnLattice) and pair.revealed().fraction == 0


def _place(pair: Pair, often: _Often) -> int | _Often:
    """What the loss of a type is known by: on a lattice its index; elsewhere the type itself."""
    return _index(often) if _is_stepped(pair) else often


def _index(often: _Often) -> int:
    """Of the loss of so many of each outcome, which lie on a lattice."""
    return sum(i * n for i, n in enumerate(often))


def _types(outcomes: Sequence[Atom], count: int) -> Iterator[_Type]:
    """``(how often each, P, Q)`` of every way in which ``count`` draws may fall on the outcomes."""
    for often in _partitions(count, len(outcomes)):
        ways = math.factorial(count) // math.prod(math.factorial(n) for n in often)
        weight = reals.rational(ways)
        p, q = (
            _product([weight, *(_power(x, n) for x, n in zip(masses, often, strict=True) if n)])
            for masses in ([a.p for a in outcomes], [a.q for a in outcomes])
        )
        yield often, p, q


def _partitions(count: int, places: int) -> Iterator[tuple[int, ...]]:
    if places == 1:
        yield (count,)
        return
    for n in range(count + 1):
        for rest in _partitions(count - n, places - 1):
            yield (n, *rest)


def _power(x: Real, n: int) -> Real:
    return x if n == 1 else x**n


def _product(factors: list[Real]) -> Real:
    result = factors[0]
    for factor in factors[1:]:
        result *= factor
    return result
