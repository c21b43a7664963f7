r"""Subsampling and groups: ``f_p``, the operator ``C_p``, and ``1 - (1 - f)^{ok}``."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpexact.arguments import integer_in
from dpexact.conversion import RealLike
from dpexact.tradeoffs.base import check_kind, level_in
from dpexact.tradeoffs.convex import convex_hull
from dpexact.tradeoffs.guarantees import exponential_in
from dpexact.tradeoffs.numbers import Number, compare
from dpexact.tradeoffs.piecewise import Atom, PiecewiseLinear, Vertex, of_path

#: Largest size of a group.
MAX_GROUP: Final = 10_000


def mixed(f: PiecewiseLinear, p: RealLike) -> PiecewiseLinear:
    """``f_p = p f + (1-p) Id = T(P, p Q + (1-p) P)``, for ``0 <= p <= 1``."""
    check_kind(f, PiecewiseLinear)
    share = level_in(p, "p")
    return PiecewiseLinear(Atom(a.p, share * a.q + (1 - share) * a.p) for a in f.atoms)


def subsampled(f: PiecewiseLinear, p: RealLike) -> PiecewiseLinear:
    """``C_p(f) = min{f_p, f_p^-1}**``, the trade-off function of sampling a share ``p``

    of the records without replacement (Dong, Roth, Su 2022, Definition 6 and Theorem 9). The
    biconjugate of a minimum is the convex hull of both graphs, so of their vertices. The theorem
    speaks of symmetric ``f``.

    >>> from dpexact.tradeoffs import f_eps_delta
    >>> print(subsampled(f_eps_delta("log(2)", "1/2"), "1/2").value("1/3"))
    1/3
    """
    below = mixed(f, p)
    return convex_hull([*below.vertices, *below.inverse().vertices])


def subsampled_f_eps_delta(eps: RealLike, delta: RealLike, p: RealLike) -> PiecewiseLinear:
    r"""``C_p(f_{eps,delta})`` in closed form.

    .. math:: \max\Big\{f_{\varepsilon',p\delta}(\alpha),\;
              1 - p\delta - p(1-\delta)\tfrac{e^\varepsilon-1}{e^\varepsilon+1} - \alpha\Big\},
              \quad e^{\varepsilon'} = 1 - p + p e^{\varepsilon}.

    Equation (14) of Dong, Roth and Su (2022) lacks the factor ``1 - delta``; it is proved and the
    printed form refuted in the documentation.
    """
    level, lost, share = exponential_in(eps), level_in(delta, "delta"), level_in(p, "p")
    kink = (1 - lost) / (1 + level)  # the fixed point of f_{eps,delta}
    start = 1 - share * lost
    corner = start - (1 - share + share * level) * kink
    zero, one = Fraction(0), Fraction(1)
    return of_path(
        [
            Vertex(zero, start),
            Vertex(kink, corner),
            Vertex(corner, kink),
            Vertex(start, zero),
            Vertex(one, zero),
        ]
    )


def group(f: PiecewiseLinear, k: int) -> PiecewiseLinear:
    r"""``1 - (1 - f)^{\circ k}``: privacy of a group of ``k >= 1`` records (Theorem 3).

    >>> from dpexact.tradeoffs import f_eps_delta
    >>> group(f_eps_delta("log(2)", 0), 2) == f_eps_delta("log(2)", 0)
    False
    """
    check_kind(f, PiecewiseLinear)
    size = integer_in(k, "k", 1, MAX_GROUP)
    result = f
    for _ in range(size - 1):
        result = _after(f, result)
    return result


def _after(outer: PiecewiseLinear, inner: PiecewiseLinear) -> PiecewiseLinear:
    """``outer(1 - inner(alpha))``: bends where ``inner`` does, and where it reaches a bend."""
    back = inner.inverse()
    start = 1 - inner.limits_at_zero[1]
    bends: list[Number] = [alpha for alpha, _ in inner.vertices]
    bends += [back.value(1 - x) for x, _ in outer.vertices if compare(x, start) >= 0]
    points = [Vertex(alpha, outer.value(1 - inner.value(alpha))) for alpha in bends]
    return convex_hull([*points, Vertex(Fraction(1), Fraction(0))])
