r"""Piecewise-linear trade-off functions: those of finite pairs, exact in every operation.

A piecewise-linear ``f = T(P, Q)`` is held as the smallest pair that has it: atoms ``(p, q)`` of
strictly decreasing likelihood ratio ``q/p``. Rejecting the atoms in that order walks along the
graph (Neyman and Pearson), so each atom is one linear piece: ``p`` its width, ``q`` its drop. The
pair makes the algebra plain: inverse swaps ``p`` and ``q``, the tensor product multiplies masses.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import ClassVar, Final, NamedTuple

from flint import arb

from dpexact import balls
from dpexact.arguments import integer_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.kept import cached_property
from dpexact.tradeoffs.base import TradeoffFunction, level_in
from dpexact.tradeoffs.numbers import (
    FIRST_BITS,
    Number,
    approximate,
    ball,
    binomial_terms,
    certify_level,
    compare,
    each_ball,
    enclose_level,
    first_ball,
    number,
    partial_sums,
    sign,
)

#: Largest number of linear pieces.
MAX_PIECES: Final = 20_000
#: Precisions at which a graph is kept in balls.
_TABLES: Final = 3


class Atom(NamedTuple):
    """One outcome: its mass ``p`` under ``P`` and ``q`` under ``Q``."""

    p: Number
    q: Number


class Vertex(NamedTuple):
    """A point of a graph: type I error ``alpha``, type II error ``beta``."""

    alpha: Number
    beta: Number


class _Table(NamedTuple):
    """Masses, and the coordinates of vertices as sums of those before and of those behind."""

    p: list[arb]
    q: list[arb]
    alphas: list[arb]
    betas: list[arb]


class PiecewiseLinear(TradeoffFunction):
    """An exact piecewise-linear trade-off function, built by :func:`of_pair` and its kin.

    Invariants, kept by the constructor: ``atoms`` has strictly decreasing ``q/p`` (the mass of
    infinite loss first), no empty atom, and both masses sum to 1. Two functions are ``==`` exactly
    when they agree everywhere. ``f * g`` is the tensor product and ``f ** n`` its power.
    """

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # equal coordinates may differ
    method = "exact trade-off function"

    def __init__(self, atoms: Iterable[Atom]) -> None:
        self.atoms: tuple[Atom, ...] = _canonical(atoms)

    # --- the graph ------------------------------------------------------------------------------

    @cached_property
    def vertices(self) -> tuple[Vertex, ...]:
        """The vertices of the graph on ``[0, 1]``, from ``(0, f(0))`` to ``(1, 0)``."""
        path = self.path
        return path[1:] if len(path) > 1 and sign(path[1].alpha) == 0 else path

    @cached_property
    def path(self) -> tuple[Vertex, ...]:
        """The vertices from ``(0, 1)``: :attr:`vertices` after the jump at 0, if there is one."""
        alphas = partial_sums((atom.p for atom in self.atoms), Fraction(0))
        betas = partial_sums((-atom.q for atom in self.atoms), Fraction(1))
        return tuple(map(Vertex, alphas, betas))

    @cached_property
    def steepness(self) -> tuple[Number | None, ...]:
        """The likelihood ratio ``q/p = -f'`` of each atom; None for the jump at 0."""
        return tuple(ratio(atom) for atom in self.atoms)

    @property
    def limits_at_zero(self) -> tuple[Number, Number]:
        """``(1, f(0))``: just left of 0, where no test exists and ``f`` counts as 1, and at 0."""
        return Fraction(1), self.vertices[0].beta

    def value(self, alpha: RealLike) -> Number:
        """The exact ``f(alpha)``, ``0 <= alpha <= 1``.

        >>> from dpexact.tradeoffs import f_eps_delta
        >>> (f_eps_delta("log(2)", 0) ** 2).value("1/5")
        Fraction(7, 15)
        """
        x = level_in(alpha)
        i = self._piece(x)
        start, steepness = self.path[i], ratio(self.atoms[i])
        assert steepness is not None  # the jump has no width
        return start.beta - steepness * (x - start.alpha)

    def slopes(self, alpha: RealLike) -> tuple[Number | None, Number | None]:
        """The derivatives from the left and from the right; None beyond ``[0, 1]``."""
        x = level_in(alpha)
        i = self._piece(x)
        here, before = self.steepness[i], self.steepness[i - 1] if i else None
        left = before if x == self.path[i].alpha else here
        right = None if x == 1 else here
        return left if left is None else -left, right if right is None else -right

    def _piece(self, x: Number) -> int:
        """The atom whose piece holds ``x``: the later one at a vertex, the last one at 1."""
        last = len(self.atoms) - 1
        return bisect_left(range(last), True, key=lambda i: self._compare(i + 1, x) > 0)

    def _compare(self, i: int, x: Number) -> int:
        """-1, 0 or 1 as vertex ``i`` lies before, at or after ``x``."""
        with balls.precision(FIRST_BITS):
            apart = self._balls().alphas[i] - first_ball(x)
            if apart > 0 or apart < 0:
                return 1 if apart > 0 else -1
        return compare(self.path[i].alpha, x)

    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        """By balls inside a piece of irrational masses, where algebra would gain nothing."""
        i = self._piece(alpha)
        if self._is_plain(i) or 0 in (self._compare(i, alpha), self._compare(i + 1, alpha)):
            return enclose_level(self.value(alpha), digits, self.method)

        def compute() -> arb:
            table = self._balls()
            share = (ball(alpha) - table.alphas[i]) / table.p[i]
            return table.betas[i + 1] + (1 - share) * table.q[i]

        found = certify_level(compute, digits, self.method)
        if found.digits >= digits:
            return found
        return found.meet(enclose_level(self.value(alpha), digits, self.method))

    def _is_plain(self, i: int) -> bool:
        """Whether masses are rational, or the slope is 0 or -1: then values may be rational."""
        p, q = self.atoms[i]
        with balls.precision(FIRST_BITS):
            apart = self._balls().p[i] - self._balls().q[i]
            level = not (apart > 0 or apart < 0)
        rational = isinstance(p, Fraction) and isinstance(q, Fraction)
        return rational or sign(q) == 0 or (level and compare(p, q) == 0)

    def _balls(self) -> _Table:
        """The graph in balls, kept for the precisions of the last answers."""
        bits = balls.current()
        found = self._tables.get(bits)
        if found is None:
            p = each_ball(atom.p for atom in self.atoms)
            q = each_ball(atom.q for atom in self.atoms)
            betas = [*accumulate(reversed(q), initial=arb(0))][::-1]
            found = _Table(p, q, [*accumulate(p, initial=arb(0))], betas)
            # another thread may have dropped or kept some meanwhile
            for old in [*self._tables][: 1 - _TABLES]:
                self._tables.pop(old, None)
            self._tables[bits] = found
        return found

    def __getstate__(self) -> dict[str, tuple[Atom, ...]]:
        return {"atoms": self.atoms}  # balls cannot be pickled

    @cached_property
    def _tables(self) -> dict[int, _Table]:
        return {}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PiecewiseLinear):
            return NotImplemented
        return self.atoms == other.atoms

    def __repr__(self) -> str:
        return f"<PiecewiseLinear of {len(self.atoms)} pieces>"

    # --- algebra --------------------------------------------------------------------------------

    def inverse(self) -> PiecewiseLinear:
        return of_sorted(Atom(q, p) for p, q in reversed(self.atoms))

    @property
    def is_symmetric(self) -> bool:
        """Whether ``f = f^-1``."""
        return self == self.inverse()

    def __mul__(self, other: PiecewiseLinear) -> PiecewiseLinear:
        """``T(P x P', Q x Q')``, the tensor product (Dong, Roth, Su 2022, Definition 5)."""
        if not isinstance(other, PiecewiseLinear):
            return NotImplemented
        for f, g in (self, other), (other, self):
            if len(f.atoms) == 1:  # Id, beside which g runs alone
                return g
        if len(self.atoms) * len(other.atoms) > MAX_PIECES:
            raise UnsupportedMechanism(
                f"a trade-off function of more than {MAX_PIECES} pieces is not written out"
            )
        return PiecewiseLinear(Atom(a.p * b.p, a.q * b.q) for a in self.atoms for b in other.atoms)

    def __pow__(self, times: RealLike) -> PiecewiseLinear:
        """The ``times``-fold tensor product, ``times >= 0``."""
        n = integer_in(times, "times", 0, MAX_PIECES)
        inner = [atom for atom in self.atoms if sign(atom.p) and sign(atom.q)]
        if len(inner) == 2 and n:
            return of_sorted(self._binomial(inner[0], inner[1], n))
        result = identity()
        for bit in bin(n)[2:]:
            result = result * result
            if bit == "1":
                result = result * self
        return result

    def _binomial(self, a: Atom, b: Atom, times: int) -> Iterable[Atom]:
        """The power when all common mass is on ``a`` and ``b``: binomial laws, ends apart."""
        first, last = self.atoms[0], self.atoms[-1]
        if sign(first.p) == 0:
            yield Atom(first.p, 1 - (1 - first.q) ** times)
        masses = (binomial_terms(x, y, times) for x, y in zip(a, b, strict=True))
        yield from map(Atom, *masses)
        if sign(last.q) == 0:
            yield Atom(1 - (1 - last.p) ** times, last.q)

    def _outline(self) -> tuple[list[float], list[float]]:
        alphas, betas = zip(*self.path, strict=True)
        # proposes: a picture
        return [approximate(x) for x in alphas], [approximate(y) for y in betas]


# --- constructors ---------------------------------------------------------------------------------


def of_pair(p: Sequence[RealLike], q: Sequence[RealLike]) -> PiecewiseLinear:
    """``T(P, Q)`` of two exact distributions on the same finite set.

    ``p[i]`` and ``q[i]`` are the masses of outcome ``i``: non-negative, each list of sum 1.

    Raises:
        InvalidInput: different lengths, a negative mass, a sum that is not exactly 1.

    >>> [tuple(map(str, v)) for v in of_pair(["1/4", "3/4"], ["3/4", "1/4"]).vertices]
    [('0', '1'), ('1/4', '1/4'), ('1', '0')]
    """
    if len(p) != len(q):
        raise InvalidInput(f"q: {len(q)} masses for the {len(p)} of p; the lengths must agree")
    pairs = zip(_masses(p, "p"), _masses(q, "q"), strict=True)
    return PiecewiseLinear(Atom(a, b) for a, b in pairs)


def _masses(masses: Sequence[RealLike], name: str) -> list[Number]:
    values = [number(mass, f"{name}[{i}]") for i, mass in enumerate(masses)]
    for i, value in enumerate(values):
        if sign(value) < 0:
            raise InvalidInput(f"{name}[{i}]: {masses[i]} is not accepted; must be >= 0")
    return values


def of_vertices(points: Iterable[tuple[RealLike, RealLike]]) -> PiecewiseLinear:
    """The trade-off function through ``points``, given from left to right.

    The first is ``(0, f(0))`` and the last ``(1, 0)``.

    Raises:
        InvalidInput: the polygon is not a trade-off function; the message says why.
    """
    path = [Vertex(level_in(x, "alpha"), level_in(y, "beta")) for x, y in points]
    if not path or path[0].alpha != 0 or path[-1] != Vertex(Fraction(1), Fraction(0)):
        raise InvalidInput("points: must run from (0, f(0)) to (1, 0)")
    return of_path(path)


def of_path(points: Sequence[Vertex]) -> PiecewiseLinear:
    """:func:`of_vertices` of points already exact and in ``[0, 1]``."""
    path = [Vertex(Fraction(0), Fraction(1)), *points]
    atoms = [Atom(b.alpha - a.alpha, a.beta - b.beta) for a, b in pairwise(path)]
    for atom in atoms:
        if sign(atom.p) < 0 or sign(atom.q) < 0:
            raise InvalidInput("points: alpha must increase and beta decrease")
    ratios = [ratio(atom) for atom in atoms if sign(atom.p) or sign(atom.q)]
    if any(_by_ratio(a, b) > 0 for a, b in pairwise(ratios)):
        raise InvalidInput("points: the polygon is not convex and below 1 - alpha")
    return PiecewiseLinear(atoms)


def of_sorted(atoms: Iterable[Atom]) -> PiecewiseLinear:
    """The function of atoms that are known to meet the invariants, but for empty ones."""
    result = PiecewiseLinear.__new__(PiecewiseLinear)
    result.atoms = tuple(atom for atom in atoms if sign(atom.p) or sign(atom.q))
    return result


def beside_infinite_loss(f: PiecewiseLinear, lost: Number) -> PiecewiseLinear:
    """``f`` without infinite loss, run beside one of probability ``lost``: ``f (x) f_{0,lost}``."""
    if lost == 0:
        return f
    kept, nothing = 1 - lost, Fraction(0)
    inner = (Atom(kept * p, kept * q) for p, q in f.atoms)
    return of_sorted([Atom(nothing, lost), *inner, Atom(lost, nothing)])


def identity() -> PiecewiseLinear:
    """``Id(alpha) = 1 - alpha``: perfect privacy."""
    return PiecewiseLinear([Atom(Fraction(1), Fraction(1))])


# --- atoms ----------------------------------------------------------------------------------------


def ratio(atom: Atom) -> Number | None:
    """``q/p``; None if infinite."""
    return atom.q / atom.p if sign(atom.p) else None


def _by_ratio(a: Number | None, b: Number | None) -> int:
    """Negative when ``a`` is the larger ratio, 0 when they agree."""
    if a is None or b is None:
        return (b is None) - (a is None)
    return compare(b, a)


def _canonical(atoms: Iterable[Atom]) -> tuple[Atom, ...]:
    """Sorted by decreasing ratio, equal ratios merged, empty atoms left out."""
    order = functools.cmp_to_key(_by_ratio)
    rated = [(order(ratio(atom)), atom) for atom in atoms if sign(atom.p) or sign(atom.q)]
    rated.sort(key=lambda pair: pair[0])
    merged: list[Atom] = []
    for place, (steepness, atom) in enumerate(rated):
        if place and steepness == rated[place - 1][0]:
            last = merged.pop()
            atom = Atom(last.p + atom.p, last.q + atom.q)
        merged.append(atom)
    for name, masses in (("p", (a.p for a in merged)), ("q", (a.q for a in merged))):
        if partial_sums(masses, Fraction(0))[-1] != 1:
            raise InvalidInput(f"{name}: the masses do not sum to exactly 1")
    return tuple(merged)
