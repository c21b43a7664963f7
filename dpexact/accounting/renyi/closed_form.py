r"""Closed forms of the Rényi divergence of single mechanisms.

For ``order > 1``, ``D_alpha(P||Q) = log E_Q[(dP/dQ)^alpha] / (alpha - 1)``; order 1 is the
Kullback-Leibler divergence, infinite order the largest privacy loss. The pairs here are symmetric,
so both directions agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final, TypeAlias

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.closed_form import SinglePair
from dpexact.accounting.composition import PAIRS, Composition
from dpexact.accounting.pairs.pair import Pair
from dpexact.accounting.renyi import noises
from dpexact.accounting.renyi.values import value
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    GDP,
    ZCDP,
    ApproxDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Mechanism,
    PureDP,
    Staircase,
)
from dpexact.reals import Real

Order: TypeAlias = Real | None
"""A Rényi order ``>= 1``; ``None`` is infinity."""

INFINITE: Final = Enclosure.exact(math.inf, "closed form: infinite")
NONE: Final = Enclosure.exact(Fraction(0), "closed form: no loss")
_ONE: Final = reals.rational(1)


def divergence(step: Mechanism, order: Order, digits: int) -> Enclosure:
    """The Rényi divergence of one mechanism that has a closed form.

    Raises:
        UnsupportedMechanism: there is none.
    """
    match step:
        case ApproxDP(eps, delta):
            return INFINITE if balls.sign(delta, "delta") else _response(eps, order, digits)
        case PureDP(eps):
            return _response(eps, order, digits)
        case Laplace(scale, sensitivity):
            return _laplace(sensitivity / scale, order, digits)
        case ZCDP(rho):
            found = proportional(rho, order, digits)
            return found if found is NONE else found.labelled("upper bound: zCDP")
        case GDP() | Gaussian():
            return gaussian(mu_squared(step), order, digits)
        case DiscreteGaussian(sigma, sensitivity) if _whole(order, sensitivity):
            return _discrete_gaussian(sigma, sensitivity, order, digits)
        case DiscreteLaplace() | Staircase() | DiscreteGaussian():
            return noises.divergence(Composition.of([(step, 1)]), _ONE, order, False, digits)
        case _ if type(step) in PAIRS:
            return _of_pair(PAIRS[type(step)](step), order, digits)
        case _:
            raise UnsupportedMechanism(f"no certified Rényi divergence for {step}")


def _of_pair(pair: Pair, order: Order, digits: int) -> Enclosure:
    """``log M(alpha - 1) / (alpha - 1)``; at order 1 between its neighbours, as it grows."""
    label = "closed form: moment of the pair"
    if order is None:
        return INFINITE if pair.largest_loss() is None else SinglePair(pair).largest_loss(digits)
    excess = order - 1
    if excess.fraction == 0:
        step = reals.rational(Fraction(1, 10 ** (digits + 3)))
        low, high = (_of_pair(pair, _ONE + h, digits + 3) for h in (-step, step))
        return low.between(high, label)
    return balls.certify(
        lambda: pair.moment(excess, 0.0).log() / balls.ball(excess),
        digits,
        lowest=Fraction(0),
        method=label,
    )


def _whole(order: Order, sensitivity: int) -> bool:
    """Whether ``order`` times ``sensitivity`` is an integer, or infinite."""
    if order is None:
        return True
    return order.fraction is not None and (order.fraction * sensitivity).denominator == 1


def _discrete_gaussian(sigma: Real, sensitivity: int, order: Order, digits: int) -> Enclosure:
    r"""As the continuous one, ``alpha s^2/(2 sigma^2)``, where ``alpha s`` is an integer.

    The mean of ``(dP/dQ)^alpha`` is :math:`e^{\alpha(\alpha-1)s^2/(2\sigma^2)}` times the sum of
    :math:`e^{-(y - \alpha s)^2/(2\sigma^2)}` over that of :math:`e^{-y^2/(2\sigma^2)}`, which are
    the same.
    """
    root = sensitivity / sigma
    found = gaussian(root * root, order, digits)
    return found.labelled("closed form: discrete Gaussian")


def mu_squared(step: GDP | Gaussian) -> Real:
    """``mu^2``, for noise ``(sensitivity/sigma)^2``."""
    match step:
        case GDP(mu):
            root = mu
        case Gaussian(sigma, sensitivity):
            root = sensitivity / sigma
    return root * root


def gaussian(square: Real, order: Order, digits: int) -> Enclosure:
    """``alpha mu^2 / 2`` for ``N(mu, 1)`` against ``N(0, 1)``."""
    found = proportional(square / 2, order, digits)
    return found.labelled("closed form: Gaussian")


def proportional(rho: Real, order: Order, digits: int) -> Enclosure:
    """``alpha rho``, exact when rational."""
    if balls.sign(rho) == 0:
        return NONE
    return INFINITE if order is None else value(order * rho, digits)


def _response(eps: Real, order: Order, digits: int) -> Enclosure:
    r"""Randomised response, ``P = (e^eps, 1)/(1 + e^eps)`` and ``Q`` its mirror image.

    .. math:: D_\alpha = \varepsilon + \frac{1}{\alpha-1}
              \log\frac{1 + e^{-(2\alpha-1)\varepsilon}}{1 + e^{-\varepsilon}}, \qquad
              D_1 = \varepsilon\tanh(\varepsilon/2), \qquad D_\infty = \varepsilon.
    """

    def general(alpha: arb, excess: arb, x: arb) -> arb:
        ratio = (1 + ((1 - 2 * alpha) * x).exp()) / (1 + (-x).exp())
        return x + ratio.log() / excess

    return _by_order(eps, order, digits, general, lambda x: x * (x / 2).tanh(), "response")


def _laplace(shift: Real, order: Order, digits: int) -> Enclosure:
    r"""Laplace noise; ``x`` is the sensitivity over the scale (Mironov 2017, Proposition 6).

    .. math:: D_\alpha = x + \frac{1}{\alpha-1}
              \log\frac{\alpha + (\alpha-1) e^{-(2\alpha-1)x}}{2\alpha-1}, \qquad
              D_1 = x + e^{-x} - 1, \qquad D_\infty = x.
    """

    def general(alpha: arb, excess: arb, x: arb) -> arb:
        width = 2 * alpha - 1
        return x + ((alpha + excess * (-width * x).exp()) / width).log() / excess

    return _by_order(shift, order, digits, general, lambda x: x + (-x).expm1(), "Laplace")


def _by_order(
    loss: Real,
    order: Order,
    digits: int,
    general: Callable[[arb, arb, arb], arb],
    first: Callable[[arb], arb],
    name: str,
) -> Enclosure:
    """The three cases of a closed form in the largest loss; ``general`` takes also order - 1."""
    if balls.sign(loss) == 0:
        return NONE
    label = f"closed form: {name}"
    if order is None:
        return value(loss, digits).labelled(label)
    excess = order - 1
    if excess.fraction == 0:
        return balls.certify(
            lambda: first(balls.ball(loss)), digits, lowest=Fraction(0), method=label
        )
    return balls.certify(
        lambda: general(balls.ball(order), balls.ball(excess), balls.ball(loss)),
        digits,
        lowest=Fraction(0),
        method=label,
    )
