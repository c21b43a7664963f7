r"""Blackwell's theorem for finite pairs, made into a certificate.

``T(P, Q) <= T(P', Q')`` holds if and only if some post-processing maps ``P`` to ``P'`` and ``Q`` to
``Q'``. :func:`blackwell` returns that kernel, or the test that proves there is none. The kernel is
built without a linear program: raise the graph of ``T(P, Q)`` to each line that carries a piece of
``T(P', Q')``, one after the other. Raising a convex path to a line cuts two outcomes in two where
the path meets the line and merges what lies between: a post-processing. After the last line the
path is the maximum of the lines, which is ``T(P', Q')``. The proof is in the documentation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from dpexact.conversion import RealLike
from dpexact.tradeoffs.convex import violation
from dpexact.tradeoffs.numbers import Number, compare, number, sign
from dpexact.tradeoffs.piecewise import Atom, PiecewiseLinear, Vertex, of_pair

Kernel: TypeAlias = tuple[tuple[Number, ...], ...]
"""``kernel[i][j]``: the probability that outcome ``i`` becomes ``j``; rows sum to 1."""

Pair: TypeAlias = tuple[Sequence[RealLike], Sequence[RealLike]]
"""The masses of ``P`` and of ``Q``, in the same order of outcomes."""


@dataclass(frozen=True, slots=True)
class Processing:
    """The first pair is at least as informative: ``P kernel = P'`` and ``Q kernel = Q'``."""

    kernel: Kernel


@dataclass(frozen=True, slots=True)
class Separation:
    """The first pair is not as informative: a test of the second pair that it cannot match.

    The test rejects on the outcomes ``rejected`` of the second pair. Its type I error is ``alpha``
    and its type II error ``beta``; every test of the first pair of type I error at most ``alpha``
    has type II error ``best > beta`` or more.
    """

    alpha: Number
    rejected: tuple[int, ...]
    beta: Number
    best: Number


class _Piece(NamedTuple):
    """A part of the graph made of ``shares[i]`` of each outcome ``i``."""

    p: Number
    q: Number
    shares: dict[int, Number]


def blackwell(first: Pair, second: Pair) -> Processing | Separation:
    """The post-processing from ``first`` to ``second``, or the test that separates them.

    The kernel is verified by exact multiplication before it is returned.

    >>> better, worse = (["3/4", "1/4"], ["1/4", "3/4"]), (["2/3", "1/3"], ["1/3", "2/3"])
    >>> [[str(x) for x in row] for row in blackwell(better, worse).kernel]
    [['5/6', '1/6'], ['1/6', '5/6']]
    >>> print(blackwell(worse, better).alpha)
    1/4
    """
    f, g = of_pair(*first), of_pair(*second)
    sources, targets = _outcomes(first), _outcomes(second)
    worst = violation(f, g)
    if worst is not None:
        return _separation(f, worst.alpha, targets, g)
    processing = Processing(_kernel(sources, f, targets, g))
    if not is_processing(processing.kernel, first, second):
        raise AssertionError("the kernel does not map one pair to the other")
    return processing


def is_processing(kernel: Kernel, first: Pair, second: Pair) -> bool:
    """Whether ``kernel`` is stochastic and maps ``first`` to ``second``: exact multiplication."""
    sources, targets = _outcomes(first), _outcomes(second)
    if len(kernel) != len(sources) or any(len(row) != len(targets) for row in kernel):
        return False
    if any(sign(x) < 0 for row in kernel for x in row):
        return False
    if any(sum(row, Fraction(0)) != 1 for row in kernel):
        return False
    for j, target in enumerate(targets):
        p = sum((a.p * row[j] for a, row in zip(sources, kernel, strict=True)), Fraction(0))
        q = sum((a.q * row[j] for a, row in zip(sources, kernel, strict=True)), Fraction(0))
        if p != target.p or q != target.q:
            return False
    return True


def _outcomes(pair: Pair) -> list[Atom]:
    return [Atom(number(p, "p"), number(q, "q")) for p, q in zip(*pair, strict=True)]


# --- the kernel -----------------------------------------------------------------------------------


def _kernel(
    sources: list[Atom], f: PiecewiseLinear, targets: list[Atom], g: PiecewiseLinear
) -> Kernel:
    homes = [_home(f, outcome) for outcome in sources]
    pieces = [
        _Piece(atom.p, atom.q, {i: Fraction(1) for i, home in enumerate(homes) if home == k})
        for k, atom in enumerate(f.atoms)
    ]
    for start, atom in zip(g.path, g.atoms, strict=False):
        pieces = _raised(pieces, start, atom)
    rows: list[list[Number]] = [[Fraction(0)] * len(targets) for _ in sources]
    for piece in pieces:
        shape = Atom(piece.p, piece.q)
        home = _home(g, shape)
        for j, target in enumerate(targets):
            if not _is_empty(target) and _home(g, target) == home:
                whole = g.atoms[home]
                part = target.p / whole.p if sign(whole.p) else target.q / whole.q
                for i, share in piece.shares.items():
                    rows[i][j] += share * part
    for i, outcome in enumerate(sources):
        if _is_empty(outcome):  # never seen: any row will do
            rows[i][0] = Fraction(1)
    return tuple(map(tuple, rows))


def _home(f: PiecewiseLinear, outcome: Atom) -> int:
    """The atom of ``f`` with the likelihood ratio of ``outcome``; -1 for an empty outcome."""
    if _is_empty(outcome):
        return -1
    for k, atom in enumerate(f.atoms):
        if compare(atom.q * outcome.p, atom.p * outcome.q) == 0:
            return k
    raise AssertionError("an outcome has a ratio that the trade-off function lacks")


def _is_empty(outcome: Atom) -> bool:
    return sign(outcome.p) == 0 and sign(outcome.q) == 0


def _raised(pieces: list[_Piece], start: Vertex, atom: Atom) -> list[_Piece]:
    """The path of ``pieces`` raised to the line through ``start`` along ``atom``.

    ``height`` is positive above the line; it is linear, so it crosses 0 in proportion.
    """

    def height(alpha: Number, beta: Number) -> Number:
        return atom.p * (beta - start.beta) + atom.q * (alpha - start.alpha)

    left: list[_Piece] = []
    middle = _Piece(Fraction(0), Fraction(0), {})
    right: list[_Piece] = []
    alpha: Number = Fraction(0)
    beta: Number = Fraction(1)
    before = height(alpha, beta)
    for piece in pieces:
        alpha, beta = alpha + piece.p, beta - piece.q
        after = height(alpha, beta)
        signs = sign(before), sign(after)
        if min(signs) >= 0:
            (right if middle.shares else left).append(piece)
        elif max(signs) <= 0:
            middle = _merged(middle, piece)
        else:
            first, second = _cut(piece, before / (before - after))
            if signs[0] > 0:
                left.append(first)
                middle = _merged(middle, second)
            else:
                middle = _merged(middle, first)
                right.append(second)
        before = after
    return [*left, *([middle] if middle.shares else []), *right]


def _cut(piece: _Piece, share: Number) -> tuple[_Piece, _Piece]:
    """The first ``share`` of a piece, and the rest of it."""
    parts = [
        _Piece(piece.p * part, piece.q * part, {i: x * part for i, x in piece.shares.items()})
        for part in (share, 1 - share)
    ]
    return parts[0], parts[1]


def _merged(a: _Piece, b: _Piece) -> _Piece:
    shares = dict(a.shares)
    for i, share in b.shares.items():
        shares[i] = shares.get(i, Fraction(0)) + share
    return _Piece(a.p + b.p, a.q + b.q, shares)


# --- the separating test --------------------------------------------------------------------------


def _separation(
    f: PiecewiseLinear, alpha: Number, targets: list[Atom], g: PiecewiseLinear
) -> Separation:
    """Neyman and Pearson's test of the second pair, at the vertex ``alpha`` of its graph."""
    count = sum(compare(vertex.alpha, alpha) <= 0 for vertex in g.path[1:])
    rejected = tuple(j for j, target in enumerate(targets) if 0 <= _home(g, target) < count)
    return Separation(alpha, rejected, g.value(alpha), f.value(alpha))
