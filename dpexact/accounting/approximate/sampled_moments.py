r"""Moments of the privacy loss of one sampled Gaussian step, by certified quadrature.

With ``w(x) = 1 - q + q e^y``, ``y = mu x - mu^2/2`` and ``x ~ N(0, 1)``, the loss is ``L = log w``.
For ``x >= mu/2``, ``0 <= L <= y``; below, ``log(1-q) <= L <= 0``. As ``L^j <= j! e^L``, the tails
beyond ``a >= 2 mu`` are at most, with ``Q`` the normal tail,

.. math:: \int_a^\infty L^j\varphi \le j!\,Q(a - \mu), \qquad
          \int_a^\infty L^j w\varphi \le j!\,e^{\mu^2} Q(a - 2\mu),

and those below ``-b`` at most ``|log(1-q)|^j Q(b)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from flint import acb, arb

from dpexact import balls
from dpexact.accounting.approximate.base import normal_tail

Density: TypeAlias = Callable[[acb, acb, acb], acb]
"""The integrand from ``x``, ``L(x)`` and ``e^y``, without the normal density."""


def raw_moments(mu: arb, q: arb, highest: int, weighted: bool) -> list[arb]:
    """``E[L^j]`` for ``j = 1..highest``, under ``N(0, 1)`` or, ``weighted``, under the mixture."""
    beyond = reach()
    low, high = -beyond, 2 * mu + beyond
    floor = -(-q).log1p()
    found = []
    for j in range(1, highest + 1):

        def integrand(_: acb, loss: acb, grown: acb, power: int = j) -> acb:
            value = loss**power
            return value * (1 - q + q * grown) if weighted else value

        total = integrate(mu, q, integrand, low, high)
        right = (mu * mu).exp() * normal_tail(high - 2 * mu)
        right = math.factorial(j) * (right if weighted else normal_tail(high - mu))
        total += right * arb(0).union(arb(1))
        total += floor**j * normal_tail(beyond) * arb(-1).union(arb(1))
        found.append(total)
    return found


def reach() -> arb:
    """Where the normal tail is far below the current precision."""
    return arb(math.sqrt(2 * math.log(2) * (balls.current() + 40)))


def integrate(mu: arb, q: arb, density: Density, low: arb, high: arb) -> arb:
    """``int density(x, L(x), e^y) phi(x) dx`` between finite ends, enclosed."""

    def integrand(x: acb, analytic: bool) -> acb:
        grown = (mu * x - mu * mu / 2).exp()
        loss = (1 - q + q * grown).log(analytic=analytic)
        return density(x, loss, grown) * (-x * x / 2).exp()

    tolerance = arb(2) ** (-balls.current() - 20)
    found = acb.integral(integrand, acb(low), acb(high), abs_tol=tolerance)
    return found.real / (2 * arb.pi()).sqrt()
