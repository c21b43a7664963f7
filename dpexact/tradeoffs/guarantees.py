r"""Trade-off functions and (eps, delta) guarantees: from each side to the other.

``(eps, delta)``-DP is ``f >= f_{eps,delta}``, and a collection of guarantees is the supremum of
theirs (Dong, Roth, Su 2022, Propositions 3 and 5). The other way, a symmetric ``f`` is the
collection ``(eps, 1 + f*(-e^eps))`` over its slopes (Proposition 6). Guarantees are exact, so
``eps`` is carried as ``level = e^eps``.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple, Self

from flint import arb

from dpexact import balls
from dpexact.answers import delivered
from dpexact.arguments import digits_in, real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.tradeoffs.base import TradeoffFunction, check_kind, level_in
from dpexact.tradeoffs.convex import conjugate, first_vertex, maximum
from dpexact.tradeoffs.numbers import (
    Number,
    ball,
    certify_level,
    compare,
    enclose_level,
    exponential,
)
from dpexact.tradeoffs.piecewise import Atom, PiecewiseLinear


class Guarantee(NamedTuple):
    """``(eps, delta)``-DP with ``level = e^eps``, both exact."""

    level: Number
    delta: Number

    def epsilon(self, digits: int = 15) -> Enclosure:
        """Enclose ``eps = log(level)``."""
        wanted = digits_in(digits)
        if self.level == 1:
            return Enclosure.exact(Fraction(0), "exact trade-off function")
        found = balls.certify(
            lambda: ball(self.level).log(),
            wanted,
            lowest=Fraction(0),
            method="exact trade-off function",
        )
        return delivered(found, wanted)


def f_eps_delta(eps: RealLike, delta: RealLike) -> PiecewiseLinear:
    r"""``max{0, 1 - delta - e^eps alpha, e^-eps (1 - delta - alpha)}``, of ``(eps, delta)``-DP.

    ``eps >= 0`` and ``0 <= delta <= 1`` are any exact reals (Wasserman and Zhou 2010).

    >>> [tuple(map(str, v)) for v in f_eps_delta("log(3)", "1/5").vertices]
    [('0', '4/5'), ('1/5', '1/5'), ('4/5', '0'), ('1', '0')]
    """
    return of_guarantee(_guarantee(eps, delta))


def _guarantee(eps: RealLike, delta: RealLike) -> Guarantee:
    return Guarantee(exponential_in(eps), level_in(delta, "delta"))


def exponential_in(eps: RealLike) -> Number:
    """``e^eps`` of an exact ``eps >= 0``."""
    return exponential(real_in(eps, "eps", ">= 0"))


def of_guarantee(guarantee: Guarantee) -> PiecewiseLinear:
    """``f_{eps,delta}`` with ``e^eps = level``."""
    level, delta = guarantee
    low = (1 - delta) / (1 + level)
    high = low * level
    lost = Fraction(0)
    return PiecewiseLinear([Atom(lost, delta), Atom(low, high), Atom(high, low), Atom(delta, lost)])


def of_guarantees(collection: Iterable[Guarantee | tuple[RealLike, RealLike]]) -> PiecewiseLinear:
    """``sup f_{eps,delta}`` over a non-empty collection of guarantees or pairs ``(eps, delta)``.

    >>> f = of_guarantees([("log(2)", 0), (0, "1/5")])
    >>> print(f.value("1/3"))
    7/15
    """
    curves = [
        of_guarantee(item if isinstance(item, Guarantee) else _guarantee(*item))
        for item in collection
    ]
    if not curves:
        raise InvalidInput("collection: at least one (eps, delta) is needed")
    result = curves[0]
    for curve in curves[1:]:
        result = maximum(result, curve)
    return result


def guarantees(f: PiecewiseLinear) -> tuple[Guarantee, ...]:
    """Guarantees equivalent to the symmetric ``f``: ``(eps, 1 + f*(-e^eps))`` at its slopes.

    They include ``eps = 0``; ``of_guarantees(guarantees(f)) == f``.

    Raises:
        InvalidInput: ``f`` is not symmetric: its guarantees describe ``max{f, f^-1}`` only in part.
    """
    check_kind(f, PiecewiseLinear)
    if not f.is_symmetric:
        raise InvalidInput("f: is not symmetric; use symmetrised(f)")
    levels = [level for level in f.steepness if level is not None]
    steep = [level for level in levels if compare(level, 1) > 0] + [Fraction(1)]
    return tuple(Guarantee(level, 1 + conjugate(f, -level)) for level in reversed(steep))


def delta_of(f: PiecewiseLinear, eps: RealLike) -> Number:
    """The smallest ``delta`` such that ``f >= f_{eps,delta}``, exactly; ``eps >= 0``.

    >>> print(delta_of(f_eps_delta("log(2)", 0) ** 2, "log(2)"))
    2/9
    """
    check_kind(f, PiecewiseLinear)
    level = exponential_in(eps)
    return max(1 + conjugate(f, -level), 1 + conjugate(f.inverse(), -level))


def tightest(f: PiecewiseLinear, delta: RealLike) -> Guarantee | None:
    """The guarantee of smallest ``eps`` for a given ``delta``; None if there is none.

    >>> tightest(f_eps_delta("log(2)", 0) ** 2, "2/9").level
    Fraction(2, 1)
    """
    check_kind(f, PiecewiseLinear)
    target = level_in(delta, "delta")
    level: Number = Fraction(1)
    for curve in (f, f.inverse()):
        needed = _least_level(curve, target)
        if needed is None:
            return None
        level = max(level, needed)
    return Guarantee(level, target)


def _least_level(f: PiecewiseLinear, delta: Number) -> Number | None:
    """The least ``E`` with ``1 - delta - E alpha <= f(alpha)`` everywhere; None if there is none.

    That line starts at ``(0, 1 - delta)`` and touches the graph at the first vertex after which the
    graph is no steeper than the line to it.
    """
    missing = 1 - delta - f.limits_at_zero[1]
    if compare(missing, 0) > 0:
        return None
    touched = f.vertices[
        first_vertex(f, lambda steepness, v: compare(1 - v.beta - steepness * v.alpha, delta) > 0)
    ]
    return (1 - touched.beta - delta) / touched.alpha


class ConcentratedTradeoff(TradeoffFunction):
    r"""What ``(xi, rho)``-zCDP leaves, beside a mass ``lost`` of infinite loss: a lower bound.

    For a test of type I error ``alpha`` and power ``1 - beta`` Hölder's inequality says, of every
    order ``a > 1``, ``1 - beta <= (alpha e^{D_a})^{(a-1)/a}``. With ``D_a <= xi + a rho`` the best
    order is ``sqrt((log(1/alpha) - xi)/rho)``, whence, the other direction being its inverse,

    .. math:: f(\alpha) \ge \max\Big\{1 - e^{-(\sqrt{\log(1/\alpha) - \xi} - \sqrt\rho)_+^2},\;
              e^{-\xi - (\sqrt\rho + \sqrt{-\log(1-\alpha)})^2}\Big\} .

    It is the conjugate of the bound on delta as well (``docs/theory/classic.md``). ``xi >= 0``,
    ``rho > 0`` and ``0 <= lost <= 1`` are any exact reals.

    >>> print(ConcentratedTradeoff(0, "1/2")("1/20"))
    0.64935657072458878668...
    """

    method = "closed form: zCDP"
    bound = "lower"
    theorem = "zCDP gives a lower bound only"

    def __init__(self, xi: RealLike, rho: RealLike, lost: RealLike = 0) -> None:
        self.xi = real_in(xi, "xi", ">= 0")
        self.rho = real_in(rho, "rho", "> 0")
        self.lost = real_in(lost, "lost", ">= 0", "<= 1")

    def inverse(self) -> Self:
        return self

    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        lost = self.lost.fraction
        if compare(alpha, 1) == 0 or lost == 1:
            return enclose_level(Fraction(0), digits, self.method)
        if compare(alpha, 0) == 0 and lost is not None:
            return enclose_level(1 - lost, digits, self.method)
        return certify_level(lambda: self._ball(ball(alpha)), digits, self.method)

    def _ball(self, alpha: arb) -> arb:
        """What is lost is always told apart; the rest has the whole of ``alpha``."""
        kept = 1 - balls.ball(self.lost)
        level = alpha / kept
        if level >= 1:
            return arb(0)
        if level == 0:
            return kept
        if not (level > 0 and level < 1):
            return arb(0).union(kept) if level >= 0 else arb.nan()
        xi, root = balls.ball(self.xi), balls.ball(self.rho).sqrt()
        above = (-xi - (root + (-(-level).log1p()).sqrt()) ** 2).exp()
        return kept * _power(-level.log() - xi, root).max(above)


def _power(excess: arb, root: arb) -> arb:
    """``1 - e^-(sqrt(excess) - root)_+^2``, which grows with ``excess``."""
    least = root * root
    if excess <= least:
        return arb(0)
    if excess > least:
        return -(-((excess.sqrt() - root) ** 2)).expm1()
    return arb(0).union(_power(excess.upper(), root.lower())) if excess.is_finite() else arb.nan()
