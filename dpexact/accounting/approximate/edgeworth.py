r"""Edgeworth expansions of the privacy loss (Zheng, Dong, Long, Su 2020).

With ``h`` the standardised epsilon and ``rho_3``, ``rho_4`` the skewness and excess kurtosis of the
total loss,

.. math:: 1 - F(h) = Q(h) + \varphi(h)\Big[\frac{\rho_3}{6}(h^2 - 1)
          + \frac{\rho_4}{24}(h^3 - 3h) + \frac{\rho_3^2}{72}(h^5 - 10h^3 + 15h)\Big],

the first order being the term in ``rho_3`` alone. The loss is expanded under ``P`` and under ``Q``,
and ``delta = (1 - F_P) - e^eps (1 - F_Q)``. Nothing ensures that this is positive or decreases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from flint import arb

from dpexact import balls
from dpexact.accounting.approximate.base import (
    Approximation,
    Larger,
    normal_density,
    normal_tail,
)
from dpexact.accounting.approximate.functionals import gaussian_mu
from dpexact.accounting.approximate.noise_moments import noise_moments
from dpexact.accounting.approximate.sampled_moments import raw_moments
from dpexact.arguments import Direction
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import Mechanism, Poisson

Cumulants: TypeAlias = list[arb]
"""The first four cumulants."""

Law: TypeAlias = Callable[[], tuple[Cumulants, Cumulants]]
"""Cumulants of ``Z`` of one step under ``P`` and under ``Q``, as a ball function."""


class Edgeworth(Approximation):
    """The expansion of ``order`` 1 or 2 from the cumulants of each step."""

    def __init__(self, laws: list[tuple[Law, int]], order: int) -> None:
        self.laws = laws
        self.order = order
        self.method: str = f"Edgeworth, order {order}"
        self._kept: dict[int, tuple[Cumulants, Cumulants]] = {}

    def delta_ball(self, epsilon: arb) -> arb:
        under_p, under_q = self._totals()
        return self._tail(epsilon, under_p) - epsilon.exp() * self._tail(epsilon, under_q)

    def _totals(self) -> tuple[Cumulants, Cumulants]:
        bits = balls.current()
        if bits not in self._kept:
            total: tuple[Cumulants, Cumulants] = [arb(0)] * 4, [arb(0)] * 4
            for law, count in self.laws:
                found = law()
                total = _add(total[0], found[0], count), _add(total[1], found[1], count)
            self._kept[bits] = total
        return self._kept[bits]

    def _tail(self, epsilon: arb, cumulants: Cumulants) -> arb:
        mean, variance, third, fourth = cumulants
        scale = variance.sqrt()
        h = (epsilon - mean) / scale
        skewness, kurtosis = third / (variance * scale), fourth / (variance * variance)
        correction = skewness / 6 * (h * h - 1)
        if self.order == 2:
            correction += kurtosis / 24 * (h**3 - 3 * h)
            correction += skewness**2 / 72 * (h**5 - 10 * h**3 + 15 * h)
        return normal_tail(h) + normal_density(h) * correction


def edgeworth(mechanism: Mechanism, order: int, direction: Direction) -> Approximation:
    """The expansion for a composition of pure DP, additive noise and sampled Gaussian steps.

    Raises:
        UnsupportedMechanism: another step.
    """
    if direction == "both" and any(isinstance(step, Poisson) for step in mechanism.steps()):
        return Larger(edgeworth(mechanism, order, "remove"), edgeworth(mechanism, order, "add"))
    laws = [(_law(step, direction), count) for step, count in mechanism.steps().items()]
    return Edgeworth(laws, order)


def _law(step: Mechanism, direction: Direction) -> Law:
    match step:
        case Poisson(inner, q):
            mu = gaussian_mu(inner)
            if q.fraction == 1:
                return _law(inner, direction)
            return lambda: _sampled(balls.ball(mu), balls.ball(q), direction == "add")
    noise = noise_moments(step)
    if noise is None:
        raise UnsupportedMechanism(f"no Edgeworth expansion for {step}")
    return lambda: _symmetric(noise().cumulants)


def _symmetric(under_p: Cumulants) -> tuple[Cumulants, Cumulants]:
    """``Z`` under ``Q`` is ``-Z`` under ``P``."""
    return under_p, _negated(under_p)


def _negated(cumulants: Cumulants) -> Cumulants:
    return [-c if j % 2 == 0 else c for j, c in enumerate(cumulants)]


def _sampled(mu: arb, q: arb, add: bool) -> tuple[Cumulants, Cumulants]:
    under_mixture = _cumulants(raw_moments(mu, q, 4, weighted=True))
    under_normal = _cumulants(raw_moments(mu, q, 4, weighted=False))
    if add:
        return _negated(under_normal), _negated(under_mixture)
    return under_mixture, under_normal


def _cumulants(raw: list[arb]) -> Cumulants:
    m1, m2, m3, m4 = raw
    return [
        m1,
        m2 - m1**2,
        m3 - 3 * m2 * m1 + 2 * m1**3,
        m4 - 4 * m3 * m1 - 3 * m2**2 + 12 * m2 * m1**2 - 6 * m1**4,
    ]


def _add(total: Cumulants, part: Cumulants, count: int) -> Cumulants:
    return [x + count * y for x, y in zip(total, part, strict=True)]
