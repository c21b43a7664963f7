r"""Moments of the privacy loss of steps without sampling: exact sums, and closed forms.

All these pairs are symmetric: the loss under ``Q`` is minus that under ``P``.

*Laplace*, with ``a = sensitivity/scale``: the loss is ``a`` with probability 1/2, ``-a`` with
probability ``e^-a/2``, and has the density ``e^((z-a)/2)/4`` between. So moments about ``c`` follow
from

.. math:: \int (z-c)^n e^{z/2}\,dz = e^{z/2} A_n(z-c), \qquad A_0 = 2,\quad
          A_n(u) = 2u^n - 2n A_{n-1}(u).

*Discrete Gaussian noise* ``x``: the loss is ``(s/sigma^2)(x + s/2)``. Its moments are sums of
``w_x = |x|^j e^{-x^2/(2 sigma^2)}``, of which the ratios ``w_{x+1}/w_x = r`` fall; so beyond ``x``
there is at most ``w_{x+1}/(1-r)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.pairs.discrete_laplace import discrete_laplace
from dpexact.accounting.pairs.lattice import MAX_ATOMS, OnLattice
from dpexact.accounting.pairs.staircase import staircase
from dpexact.errors import UnsupportedMechanism
from dpexact.exactness import quotient
from dpexact.mechanisms import (
    GDP,
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

#: Sums end where the normal weight is below ``2^-(precision + _GUARD)``.
_GUARD: Final = 16


@dataclass(frozen=True, slots=True)
class NoiseMoments:
    """The first four cumulants of the loss ``Z`` under ``P``, and ``E|Z - EZ|^3``."""

    cumulants: list[arb]
    third: arb


def noise_moments(step: Mechanism) -> Callable[[], NoiseMoments] | None:
    """The moments of one unsampled step as a ball function; None where infinite or not known."""
    match step:
        case ApproxDP(eps, delta) if balls.sign(delta, "delta") == 0:
            return lambda: _response(balls.ball(eps))
        case PureDP(eps):
            return lambda: _response(balls.ball(eps))
        case GDP(mu):
            return lambda: _gaussian(balls.ball(mu))
        case Gaussian(sigma, sensitivity):
            shift = sensitivity / sigma
            return lambda: _gaussian(balls.ball(shift))
        case Laplace(scale, sensitivity):
            largest = quotient(sensitivity, scale)
            return lambda: laplace_moments(balls.ball(largest))
        case DiscreteLaplace(scale, width):
            return _finite(discrete_laplace(scale, width))
        case Staircase(eps, gamma, _):
            return _finite(staircase(eps, gamma))
        case DiscreteGaussian(sigma, width):
            variance = sigma * sigma
            return lambda: _discrete_gaussian(variance, width)
    return None


def _response(x: arb) -> NoiseMoments:
    t = (x / 2).tanh()
    rest = 1 - t * t
    cumulants = [x * t, x**2 * rest, -2 * x**3 * t * rest, x**4 * rest * (6 * t * t - 2)]
    return NoiseMoments(cumulants, x**3 * (1 - t**4))


def _gaussian(mu: arb) -> NoiseMoments:
    square = mu * mu
    third = 2 * mu**3 * (2 / arb.pi()).sqrt()
    return NoiseMoments([square / 2, square, arb(0), arb(0)], third)


def laplace_moments(largest: arb) -> NoiseMoments:
    """Of Laplace noise with the largest loss ``sensitivity/scale``."""
    mean = largest + (-largest).expm1()
    scale = (-largest / 2).exp() / 4

    def integral_to(z: arb, power: int) -> arb:
        found = arb(2)
        for n in range(1, power + 1):
            found = 2 * _power(z - mean, n) - 2 * n * found
        return scale * (z / 2).exp() * found

    def atoms(power: int) -> tuple[arb, arb]:
        high = (largest - mean) ** power / 2
        return high, (largest + mean) ** power * (-largest).exp() / 2

    central = []
    for n in (2, 3, 4):
        above, below = atoms(n)
        between = integral_to(largest, n) - integral_to(-largest, n)
        central.append(above + (-1) ** n * below + between)
    above, below = atoms(3)
    third = integral_to(largest, 3) - 2 * integral_to(mean, 3) + integral_to(-largest, 3)
    return NoiseMoments(_cumulants(mean, central), above + below + third)


def _finite(pair: OnLattice) -> Callable[[], NoiseMoments]:
    def compute() -> NoiseMoments:
        spacing, start = pair.lattice()
        unit, first = balls.ball(spacing), balls.ball(start)
        law = [(balls.ball(a.p), unit * (first + i)) for i, a in enumerate(pair.outcomes())]
        mean = sum((p * z for p, z in law), arb(0))
        central = [sum((p * _power(z - mean, n) for p, z in law), arb(0)) for n in (2, 3, 4)]
        third = sum((p * _power(abs(z - mean), 3) for p, z in law), arb(0))
        return NoiseMoments(_cumulants(mean, central), third)

    return compute


def _discrete_gaussian(variance: Real, width: int) -> NoiseMoments:
    square = balls.ball(variance)
    total, second, third, fourth = (_noise_sum(square, j) for j in (0, 2, 3, 4))
    unit = width / square
    spread = unit**2 * second / total
    kurtosis = unit**4 * fourth / total - 3 * spread**2
    return NoiseMoments([unit * width / 2, spread, arb(0), kurtosis], unit**3 * third / total)


def _noise_sum(square: arb, power: int) -> arb:
    """``sum over all integers of |x|^power e^(-x^2/(2 square))``."""
    about = float(square.mid())
    reach = math.sqrt(2 * about * (balls.current() + _GUARD) * math.log(2))
    # proposes: what is too much work
    if 2 * reach + 4 > MAX_ATOMS:
        raise UnsupportedMechanism(
            f"no moments of a discrete Gaussian of more than {MAX_ATOMS} outcomes"
        )

    def weight(x: int) -> arb:
        return arb(x) ** power * (-(arb(x) ** 2) / (2 * square)).exp()

    last = math.ceil(reach) + 2
    # proposes: where the sum ends; `tail` bounds the rest wherever that is
    found = sum((weight(x) for x in range(1, last + 1)), arb(0))
    edge, beyond = weight(last + 1), weight(last + 2)
    if not beyond < edge:  # from here on the quotients fall
        return arb.nan()
    tail = edge / (1 - beyond / edge)
    return 2 * (found + tail * arb(0).union(arb(1))) + (1 if power == 0 else 0)


def _power(x: arb, n: int) -> arb:
    """``x^n``; FLINT gives up a power of a ball that holds 0."""
    found = x
    for _ in range(n - 1):
        found *= x
    return found


def _cumulants(mean: arb, central: list[arb]) -> list[arb]:
    second, third, fourth = central
    return [mean, second, third, fourth - 3 * second**2]
