r"""Convexity: conjugates, hulls, pointwise maxima and comparison of piecewise-linear functions."""

from __future__ import annotations

import heapq
from bisect import bisect_left
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cmp_to_key
from typing import NamedTuple

from dpexact.conversion import RealLike
from dpexact.tradeoffs.base import check_kind
from dpexact.tradeoffs.numbers import Number, compare, number, sign
from dpexact.tradeoffs.piecewise import PiecewiseLinear, Vertex, of_path, ratio


def conjugate(f: PiecewiseLinear, y: RealLike) -> Number:
    r"""The exact convex conjugate :math:`f^*(y) = \sup_{0 \le x \le 1} yx - f(x)`, ``y`` any real.

    It is at the first vertex after which ``f`` rises no slower than ``y``, found by bisection.

    >>> from dpexact.tradeoffs import f_eps_delta
    >>> print(1 + conjugate(f_eps_delta("log(3)", "1/5"), -1))
    3/5
    """
    check_kind(f, PiecewiseLinear)
    slope = number(y, "y")
    vertex = f.vertices[first_vertex(f, lambda steepness, _: compare(-steepness, slope) >= 0)]
    return slope * vertex.alpha - vertex.beta


def first_vertex(f: PiecewiseLinear, holds: Callable[[Number, Vertex], bool]) -> int:
    """The first vertex where ``holds(|slope| of the piece after it, vertex)``, else the last one.

    Once it holds it must keep holding.
    """
    jump = len(f.path) - len(f.vertices)

    def holds_at(i: int) -> bool:
        steepness = ratio(f.atoms[i + jump])
        assert steepness is not None
        return holds(steepness, f.vertices[i])

    return bisect_left(range(len(f.vertices) - 1), True, key=holds_at)


def convex_hull(points: Iterable[Vertex]) -> PiecewiseLinear:
    """The largest convex function below ``points``: a lower hull that turns left at each vertex.

    It is the biconjugate of the function that is infinite elsewhere. Two of the points must be
    ``(0, y)`` and ``(1, 0)``.
    """
    hull: list[Vertex] = []
    for point in sorted(points, key=cmp_to_key(_left_to_right)):
        if hull and compare(hull[-1].alpha, point.alpha) == 0:
            continue
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) <= 0:
            hull.pop()
        hull.append(point)
    return of_path(hull)


def _left_to_right(a: Vertex, b: Vertex) -> int:
    return compare(a.alpha, b.alpha) or compare(a.beta, b.beta)


def _turn(a: Vertex, b: Vertex, c: Vertex) -> int:
    """Positive when the path ``a, b, c`` turns left."""
    return compare((b.alpha - a.alpha) * (c.beta - a.beta), (c.alpha - a.alpha) * (b.beta - a.beta))


def _values(f: PiecewiseLinear, grid: Iterable[Number]) -> list[Number]:
    """``f`` along an increasing ``grid`` that holds its vertices, in one walk."""
    path, values, i = f.vertices, [], 0
    for alpha in grid:
        while i + 1 < len(path) and compare(path[i + 1].alpha, alpha) <= 0:
            i += 1
        start = path[i]
        if i + 1 == len(path) or compare(start.alpha, alpha) == 0:
            values.append(start.beta)
        else:
            end = path[i + 1]
            slope = (end.beta - start.beta) / (end.alpha - start.alpha)
            values.append(start.beta + slope * (alpha - start.alpha))
    return values


def maximum(f: PiecewiseLinear, g: PiecewiseLinear) -> PiecewiseLinear:
    """The pointwise ``max{f, g}``, a trade-off function (Dong, Roth, Su 2022, section 2.1)."""
    check_kind(f, PiecewiseLinear)
    check_kind(g, PiecewiseLinear, name="g")
    alphas = heapq.merge(*((v.alpha for v in h.vertices) for h in (f, g)), key=cmp_to_key(compare))
    grid: list[Number] = []
    for alpha in alphas:
        if not grid or compare(grid[-1], alpha) < 0:
            grid.append(alpha)
    points: list[Vertex] = []
    before: tuple[Number, Number, Number] | None = None
    for alpha, a, b in zip(grid, _values(f, grid), _values(g, grid), strict=True):
        gap = a - b
        if before is not None and sign(before[2]) * sign(gap) < 0:
            start, height, last = before
            share = last / (last - gap)
            points.append(Vertex(start + share * (alpha - start), height + share * (a - height)))
        points.append(Vertex(alpha, a if sign(gap) > 0 else b))
        before = (alpha, a, gap)
    return of_path(points)


def symmetrised(f: PiecewiseLinear) -> PiecewiseLinear:
    """``max{f, f^-1}``: what ``f``-DP means for symmetric neighbours (Proposition 2)."""
    check_kind(f, PiecewiseLinear)
    return maximum(f, f.inverse())


class Violation(NamedTuple):
    """Where ``f <= g`` fails most: ``f(alpha) - g(alpha) = excess > 0``."""

    alpha: Number
    excess: Number


def violation(f: PiecewiseLinear, g: PiecewiseLinear) -> Violation | None:
    """None if ``f <= g`` everywhere, otherwise the place of the largest excess, exactly.

    On one piece of ``g`` the difference ``f - g`` is convex, so its maximum is at a vertex of
    ``g``; ``alpha`` is the leftmost.

    >>> from dpexact.tradeoffs import f_eps_delta
    >>> violation(f_eps_delta("log(4)", 0), f_eps_delta("log(2)", 0) ** 2) is None
    True
    """
    check_kind(f, PiecewiseLinear)
    check_kind(g, PiecewiseLinear, name="g")
    worst = Violation(Fraction(0), Fraction(0))
    for alpha, beta in g.vertices:
        excess = f.value(alpha) - beta
        if compare(excess, worst.excess) > 0:
            worst = Violation(alpha, excess)
    return worst if sign(worst.excess) else None
