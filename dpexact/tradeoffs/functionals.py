r"""Numbers that summarise a trade-off function: divergences and the moments of the CLT.

With ``f = T(P, Q)`` the log-slope ``log |f'|`` at a uniform ``alpha`` is ``log dQ/dP`` under ``P``,
so each integral over ``[0, 1]`` is a finite sum over the atoms of a piecewise-linear ``f``, and
infinite where that is flat. For ``G_mu`` the log-slope is normal of mean ``-mu^2/2`` and variance
``mu^2``. None of these numbers is ever negative.

*Distance from* ``G_mu``. A piecewise-linear ``f`` is the maximum of the lines that carry its
pieces, and a line minus the convex ``G_mu`` is greatest where ``G_mu`` has the slope of the line.
On one piece ``G_mu - f`` is convex, so it is greatest at a vertex: finite maxima of balls.

*From Rényi divergences.* For a test of type I error ``alpha`` and power ``1 - beta`` Hölder's
inequality says ``1 - beta <= (alpha e^{D_a})^{(a-1)/a}`` for every order ``a > 1``. The divergences
bound both directions, so

.. math:: f(\alpha) \ge \max_a \max\Big\{1 - (\alpha e^{D_a})^{(a-1)/a},\;
          e^{-D_a} (1 - \alpha)^{a/(a-1)}\Big\} .

Each term is the other's inverse, and the conjugate of the bound on delta that Proposition 14 of
Steinke (2022) gives at that order (``docs/theory/classic.md``).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final, NamedTuple, Self, TypeAlias

from flint import arb

from dpexact import balls, reals
from dpexact.answers import delivered
from dpexact.arguments import digits_in, real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.reals import Real
from dpexact.tradeoffs.base import TradeoffFunction, check_kind
from dpexact.tradeoffs.convex import conjugate, violation
from dpexact.tradeoffs.noises import GaussianTradeoff, normal_cdf, quantile
from dpexact.tradeoffs.numbers import (
    Number,
    ball,
    certify_level,
    compare,
    each_ball,
    enclose_level,
    sign,
)
from dpexact.tradeoffs.piecewise import PiecewiseLinear, identity

Curve: TypeAlias = PiecewiseLinear | GaussianTradeoff
"""The trade-off functions whose functionals are known."""
Law: TypeAlias = list[tuple[arb, arb]]
"""``log |f'|`` where it is finite: masses under ``P``, and values."""

METHOD: Final = "functional of a trade-off function"
_INFINITE: Final = Enclosure.exact(math.inf, METHOD)


def total_variation(f: Curve, digits: int = 15) -> Enclosure:
    """``TV(P, Q) = 1 - min (alpha + f(alpha)) = 1 + f*(-1)``; exact where it is rational."""
    wanted = digits_in(digits)
    if isinstance(f, PiecewiseLinear):
        return delivered(enclose_level(1 + conjugate(f, -1), wanted, METHOD), wanted)
    return _of_gaussian(f, wanted, lambda mu: (mu / (2 * arb(2).sqrt())).erf())


def kl(f: Curve, digits: int = 15) -> Enclosure:
    r"""``kl(f) = -int log|f'| = KL(P || Q)``; infinite where ``f`` is flat."""
    if isinstance(f, PiecewiseLinear):
        return _of_law(f, digits, lambda law: -_mean(law, lambda w: w))
    return _of_gaussian(f, digits, lambda mu: mu**2 / 2, rational=True)


def kappa_2(f: Curve, digits: int = 15) -> Enclosure:
    r"""``int log^2|f'|``."""
    if isinstance(f, PiecewiseLinear):
        return _of_law(f, digits, lambda law: _mean(law, lambda w: w * w))
    return _of_gaussian(f, digits, lambda mu: mu**2 + mu**4 / 4, rational=True)


def kappa_3(f: Curve, digits: int = 15) -> Enclosure:
    r"""``int |log|f'||^3``."""
    if isinstance(f, PiecewiseLinear):
        return _of_law(f, digits, lambda law: _mean(law, lambda w: abs(w) ** 3))

    def absolute_moment(mu: arb) -> arb:  # E|X|^3 of a normal of mean -mu^2/2, deviation mu
        m, root = mu**2 / 2, arb(2).sqrt()
        tail = (2 / arb.pi()).sqrt() * mu * (m**2 + 2 * mu**2) * (-(mu**2) / 8).exp()
        return tail + m * (m**2 + 3 * mu**2) * (mu / (2 * root)).erf()

    return _of_gaussian(f, digits, absolute_moment)


def kappa_3_bar(f: Curve, digits: int = 15) -> Enclosure:
    r"""``int |log|f'| + kl(f)|^3``, the centred third moment; infinite where ``kl`` is."""
    if not isinstance(f, PiecewiseLinear):
        return _of_gaussian(f, digits, lambda mu: 2 * (2 / arb.pi()).sqrt() * mu**3)

    def centred(law: Law) -> arb:
        if len(law) == 1:
            return arb(0)
        mean = _mean(law, lambda w: w)
        return _mean(law, lambda w: abs(w - mean) ** 3)

    return _of_law(f, digits, centred)


def renyi(f: Curve, order: RealLike, digits: int = 15) -> Enclosure:
    r"""``D_a(P || Q) = log(sum p^a q^(1-a)) / (a - 1)`` at any exact real order ``a > 0``.

    Order 1 is :func:`kl`. ``renyi(f.inverse(), a)`` is ``D_a(Q || P)``.
    """
    check_kind(f, PiecewiseLinear, GaussianTradeoff)
    a = real_in(order, "order", "> 0")
    above_one = balls.compare(a, reals.rational(1), "order")
    if above_one == 0:
        return kl(f, digits)
    if isinstance(f, GaussianTradeoff):
        found, wanted = a * f.mu * f.mu / 2, digits_in(digits)
        if found.fraction is not None:
            return Enclosure.exact(found.fraction, METHOD)
        return _delivered(lambda: balls.ball(found), wanted)

    def divergence(law: Law) -> arb:
        rest = 1 - balls.ball(a)
        return -_mean(law, lambda w: (rest * w).exp()).log() / rest

    if f.steepness[-1] == 0 and above_one < 0 and f.vertices[0].beta != 0:  # they share mass
        return _delivered(lambda: divergence(_law(f)), digits_in(digits))
    return _of_law(f, digits, divergence)


def renyi_max(f: PiecewiseLinear, digits: int = 15) -> Enclosure:
    """``D_inf(P || Q) = log max p/q``: the order infinity."""
    return _of_law(f, digits, lambda law: -law[-1][1])


# --- sums over atoms, and closed forms ------------------------------------------------------------


def _of_law(f: PiecewiseLinear, digits: int, of: Callable[[Law], arb]) -> Enclosure:
    check_kind(f, PiecewiseLinear)
    wanted = digits_in(digits)
    return _INFINITE if f.steepness[-1] == 0 else _delivered(lambda: of(_law(f)), wanted)


def _law(f: PiecewiseLinear) -> Law:
    masses = each_ball(atom.p for atom in f.atoms)
    kept = [(mass, s) for mass, s in zip(masses, f.steepness, strict=True) if s]
    return [(mass, arb(0) if s == 1 else ball(s).log()) for mass, s in kept]


def _mean(law: Law, of: Callable[[arb], arb]) -> arb:
    return sum((mass * of(w) for mass, w in law), arb(0))


def _of_gaussian(
    f: GaussianTradeoff, digits: int, form: Callable[[Any], Any], *, rational: bool = False
) -> Enclosure:
    """A closed form in ``mu``; exact where ``mu`` is rational and so is the form."""
    # noises of other names have a mu, too
    check_kind(f, PiecewiseLinear, GaussianTradeoff)
    mu, wanted = f.mu.fraction, digits_in(digits)
    if mu == 0 or (rational and mu is not None):
        return Enclosure.exact(form(mu) if mu else Fraction(0), METHOD)
    return _delivered(lambda: form(balls.ball(f.mu)), wanted)


def _delivered(compute: Callable[[], arb], digits: int) -> Enclosure:
    return delivered(balls.certify(compute, digits, lowest=Fraction(0), method=METHOD), digits)


_AGAINST: Final = "exact trade-off function against the Gaussian"
_ZERO: Final = Fraction(0)


class GaussianGap(NamedTuple):
    """``above`` encloses ``sup (f - G_mu)`` and ``below`` encloses ``sup (G_mu - f)``."""

    above: Enclosure
    below: Enclosure


def gaussian_gap(f: PiecewiseLinear, mu: RealLike, digits: int = 15) -> GaussianGap:
    """Enclose both one-sided sup-norm distances of ``f`` to ``G_mu``, ``mu >= 0``.

    ``below`` is 0 exactly when ``f >= G_mu``: when ``f``-DP implies ``mu``-GDP.

    >>> from dpexact.tradeoffs import f_eps_delta
    >>> gap = gaussian_gap(f_eps_delta("1/sqrt(10)", 0) ** 10, 1)
    >>> print(gap.above, gap.below)
    0.0122881705659670... 0.00878367755757906...
    """
    return GaussianGap(_gap(f, mu, digits, 0), _gap(f, mu, digits, 1))


def distance_to_gaussian(f: PiecewiseLinear, mu: RealLike, digits: int = 15) -> Enclosure:
    """Enclose the sup-norm distance ``sup |f - G_mu|``, ``mu >= 0``."""
    return _gap(f, mu, digits, 0, 1)


def _gap(f: PiecewiseLinear, mu: RealLike, digits: int, *sides: int) -> Enclosure:
    """The largest of the gaps above (0) and below (1); exact against ``G_0 = Id``."""
    check_kind(f, PiecewiseLinear)
    mean, wanted = real_in(mu, "mu", ">= 0"), digits_in(digits)
    if mean.fraction == 0:
        worst = violation(identity(), f)
        gaps = (_ZERO, worst.excess if worst else _ZERO)
        largest = max(gaps[side] for side in sides)
        return delivered(enclose_level(largest, wanted, _AGAINST), wanted)

    def gap() -> arb:
        gaps = _largest_gaps(f, mean)
        return functools.reduce(arb.max, (gaps[side] for side in sides))

    return delivered(balls.certify(gap, wanted, lowest=_ZERO, method=_AGAINST), wanted)


def _largest_gaps(f: PiecewiseLinear, mean: Real) -> tuple[arb, arb]:
    """``sup (f - G_mu)`` and ``sup (G_mu - f)`` at the current precision; both are ``>= 0``."""
    mu = balls.ball(mean)
    widths = each_ball(atom.p for atom in f.atoms)
    drops = each_ball(atom.q for atom in f.atoms)
    above = below = alpha = arb(0)
    beta = arb(1)
    for steepness, width, drop in zip(f.steepness, widths, drops, strict=True):
        if steepness is None:  # the jump at 0
            below = drop
        elif sign(steepness):  # the line 0 is nowhere above G_mu
            slope = ball(steepness)
            t = slope.log() / mu + mu / 2
            height = beta - slope * (normal_cdf(-t) - alpha)
            above = above.max(height - normal_cdf(t - mu))
        alpha, beta = alpha + width, beta - drop
        if steepness is not None and steepness is not f.steepness[-1]:
            below = below.max(normal_cdf(quantile(alpha) - mu) - beta)
    return above, below


class RenyiTradeoff(TradeoffFunction):
    """The bound where the divergence of each ``order > 1`` is at most its ``eps >= 0``. Symmetric.

    >>> print(RenyiTradeoff((2, "1/10"), (8, "4/10"))("1/20").shown(12))
    0.896818503486...
    """

    method = "closed form: Rényi divergences"
    bound = "lower"
    theorem = "Rényi divergences at some orders give a lower bound only"

    def __init__(self, *rows: tuple[RealLike, RealLike]) -> None:
        if not rows:
            raise InvalidInput("rows: at least one order and its divergence are needed")
        self.rows = [(real_in(a, "order", "> 1"), real_in(d, "eps", ">= 0")) for a, d in rows]

    def inverse(self) -> Self:
        return self

    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        for end in (0, 1):
            if compare(alpha, end) == 0:
                return enclose_level(Fraction(1 - end), digits, self.method)
        return certify_level(lambda: self._ball(ball(alpha)), digits, self.method)

    def _ball(self, alpha: arb) -> arb:
        if not (alpha > 0 and alpha < 1):
            return arb(0).union(1)
        found, one, other = arb(0), alpha.log(), (-alpha).log1p()
        for order, eps in self.rows:
            a, d = balls.ball(order), balls.ball(eps)
            first = -((one + d) * (a - 1) / a).expm1()
            found = found.max(first).max((other * a / (a - 1) - d).exp())
        return found
