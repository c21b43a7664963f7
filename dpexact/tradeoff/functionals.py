r"""Numbers that summarise a trade-off function: divergences and the moments of the CLT.

With ``f = T(P, Q)`` the log-slope ``log |f'|`` at a uniform ``alpha`` is ``log dQ/dP`` under ``P``,
so each integral over ``[0, 1]`` is a finite sum over the atoms of a piecewise-linear ``f``. For
``G_mu`` the log-slope is normal of mean ``-mu^2/2`` and variance ``mu^2``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final, TypeAlias

from flint import arb

from dpexact import balls, reals
from dpexact.answers import delivered
from dpexact.arguments import digits_in, real_in
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, RealLike
from dpexact.tradeoff.convex import conjugate
from dpexact.tradeoff.gaussian import GaussianTradeoff
from dpexact.tradeoff.numbers import ball, each_ball, enclose_level
from dpexact.tradeoff.piecewise import PiecewiseLinear

Curve: TypeAlias = PiecewiseLinear | GaussianTradeoff
"""The trade-off functions whose functionals are known."""

METHOD: Final = "functional of a trade-off function"
_INFINITE: Final = Enclosure.exact(math.inf, METHOD)
_NOTHING: Final = Enclosure.exact(Fraction(0), METHOD)


def total_variation(f: Curve, digits: int = 15) -> Enclosure:
    """``TV(P, Q) = 1 - min (alpha + f(alpha)) = 1 + f*(-1)``; exact where it is rational."""
    wanted = digits_in(digits)
    if isinstance(f, PiecewiseLinear):
        return delivered(enclose_level(1 + conjugate(f, -1), wanted, METHOD), wanted)
    return _gaussian(f, wanted, lambda mu: (mu / (2 * arb(2).sqrt())).erf())


def kl(f: Curve, digits: int = 15) -> Enclosure:
    r"""``kl(f) = -int log|f'| = KL(P || Q)``; infinite where ``f`` is flat."""
    wanted = digits_in(digits)
    if isinstance(f, PiecewiseLinear):
        return _moment(f, wanted, lambda w: -w)
    return _gaussian(f, wanted, lambda mu: mu**2 / 2, _half_square)


def kappa_2(f: Curve, digits: int = 15) -> Enclosure:
    r"""``int log^2|f'|``."""
    wanted = digits_in(digits)
    if isinstance(f, PiecewiseLinear):
        return _moment(f, wanted, lambda w: w * w)
    return _gaussian(f, wanted, lambda mu: mu**2 + mu**4 / 4)


def kappa_3(f: Curve, digits: int = 15) -> Enclosure:
    r"""``int |log|f'||^3``."""
    wanted = digits_in(digits)
    if isinstance(f, PiecewiseLinear):
        return _moment(f, wanted, lambda w: abs(w) ** 3)

    def absolute_moment(mu: arb) -> arb:  # E|X|^3 of a normal of mean -mu^2/2, deviation mu
        m, root = mu**2 / 2, arb(2).sqrt()
        tail = (2 / arb.pi()).sqrt() * mu * (m**2 + 2 * mu**2) * (-(mu**2) / 8).exp()
        return tail + m * (m**2 + 3 * mu**2) * (mu / (2 * root)).erf()

    return _gaussian(f, wanted, absolute_moment)


def kappa_3_bar(f: Curve, digits: int = 15) -> Enclosure:
    r"""``int |log|f'| + kl(f)|^3``, the centred third moment; infinite where ``kl`` is."""
    wanted = digits_in(digits)
    if not isinstance(f, PiecewiseLinear):
        return _gaussian(f, wanted, lambda mu: 2 * (2 / arb.pi()).sqrt() * mu**3)
    if f.steepness[-1] == 0:
        return _INFINITE
    if sum(s is not None for s in f.steepness) == 1:
        return _NOTHING

    def compute() -> arb:
        weights, logs = _law(f)
        mean = sum((w * x for w, x in zip(weights, logs, strict=True)), arb(0))
        return sum((w * abs(x - mean) ** 3 for w, x in zip(weights, logs, strict=True)), arb(0))

    return _delivered(compute, wanted)


def renyi(f: Curve, order: RealLike, digits: int = 15) -> Enclosure:
    r"""``D_a(P || Q) = log(sum p^a q^(1-a)) / (a - 1)`` at any exact real order ``a > 0``.

    Order 1 is :func:`kl`. ``renyi(f.inverse(), a)`` is ``D_a(Q || P)``.
    """
    a, wanted = real_in(order, "order", "> 0"), digits_in(digits)
    above_one = balls.compare(a, reals.rational(1), "order")
    if above_one == 0:
        return kl(f, wanted)
    if isinstance(f, GaussianTradeoff):
        return _gaussian(
            f,
            wanted,
            lambda mu: balls.ball(a) * mu**2 / 2,
            lambda mu: a.fraction and a.fraction * mu**2 / 2,
        )
    if f.steepness[-1] == 0 and (above_one > 0 or f.limits_at_zero[1] == 0):
        return _INFINITE
    if _is_identity(f):
        return _NOTHING
    return _delivered(lambda: _renyi_ball(f, a), wanted)


def _renyi_ball(f: PiecewiseLinear, order: Real) -> arb:
    a = balls.ball(order)
    terms = (weight * ((1 - a) * slope).exp() for weight, slope in zip(*_law(f), strict=True))
    return sum(terms, arb(0)).log() / (a - 1)


def renyi_max(f: PiecewiseLinear, digits: int = 15) -> Enclosure:
    """``D_inf(P || Q) = log max p/q``: the order infinity."""
    wanted = digits_in(digits)
    least = f.steepness[-1]
    assert least is not None
    if least == 0:
        return _INFINITE
    if least == 1:
        return _NOTHING
    return _delivered(lambda: -ball(least).log(), wanted)


# --- sums over atoms ------------------------------------------------------------------------------


def _delivered(compute: Callable[[], arb], digits: int) -> Enclosure:
    """The answer to the question that was asked; none of them is ever negative."""
    return delivered(balls.certify(compute, digits, lowest=Fraction(0), method=METHOD), digits)


def _moment(f: PiecewiseLinear, digits: int, of: Callable[[arb], arb]) -> Enclosure:
    """The expectation under ``P`` of a power of ``log dQ/dP``."""
    if f.steepness[-1] == 0:
        return _INFINITE
    if _is_identity(f):
        return _NOTHING

    def compute() -> arb:
        return sum((w * of(slope) for w, slope in zip(*_law(f), strict=True)), arb(0))

    return _delivered(compute, digits)


def _law(f: PiecewiseLinear) -> tuple[list[arb], list[arb]]:
    """The law of ``log |f'|`` where it is finite: masses under ``P``, and values."""
    masses = each_ball(atom.p for atom in f.atoms)
    kept = [(mass, s) for mass, s in zip(masses, f.steepness, strict=True) if s]
    return [mass for mass, _ in kept], [arb(0) if s == 1 else ball(s).log() for _, s in kept]


def _is_identity(f: PiecewiseLinear) -> bool:
    return len(f.atoms) == 1


def _half_square(mu: Fraction) -> Fraction:
    return mu**2 / 2


def _gaussian(
    f: GaussianTradeoff,
    digits: int,
    closed_form: Callable[[arb], arb],
    exact: Callable[[Fraction], Fraction | None] = lambda mu: None,
) -> Enclosure:
    """A closed form in ``mu``, exact where ``mu`` is rational and so is the form."""
    mu = f.mu.fraction
    if mu == 0:
        return _NOTHING
    rational = exact(mu) if mu is not None else None
    if rational is not None:
        return Enclosure.exact(rational, METHOD)
    return _delivered(lambda: closed_form(balls.ball(f.mu)), digits)
