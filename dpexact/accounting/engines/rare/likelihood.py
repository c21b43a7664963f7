r"""The likelihood ratio of one step, by one ratio that turns by the angle itself above the axis.

With :math:`\lambda(x) = k\,\frac{q}{1-q}\,e^{x/\sigma - 1/(2\sigma^2)}` and
:math:`\varphi` the density of ``N(0, 1)`` the laws ``P`` and ``Q`` have the densities
:math:`(1-q)^k A(\lambda)\,\varphi` and :math:`v(\lambda)\,\varphi`. Where ``k`` records are removed

.. math:: A = \sum_{j \le k} \binom kj \frac{\lambda^j}{k^j} e^{-j(j-1)/(2\sigma^2)}, \qquad v = 1,

and where one is replaced :math:`A = 1 + \lambda`,
:math:`v = (1-q)(1 + \kappa/\lambda)`, :math:`\kappa = (\frac{q}{1-q})^2 e^{-1/\sigma^2}`. The
numbers in brackets refer to sections of ``docs/theory/rare.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

from flint import acb, arb, arb_poly

from dpexact.balls import ball, normal_tail
from dpexact.reals import Real

_Ball = TypeVar("_Ball", arb, acb)


class Likelihood:
    """Of noise ``sigma`` at rate ``q``, for a ``group``, or for a record ``replaced``."""

    def __init__(self, sigma: Real, q: Real, group: int = 1, *, replaced: bool = False) -> None:
        self.group, self.replaced = group, replaced
        self.rate, none = 1 / ball(sigma), 1 - ball(q)
        single, square = ball(q) / none, self.rate * self.rate
        #: That no record takes part.
        self.stay = none**group
        #: ``Int phi lambda``.
        self.odds = group * single
        #: ``log lambda(0)``.
        self.start = self.odds.log() - square / 2
        chances = [math.comb(group, j) for j in range(group + 1)]
        #: How often ``j`` records take part, over :attr:`stay`.
        self.shares = [chance * single**j for j, chance in enumerate(chances)]
        #: ``(A - 1)/lambda`` by powers of ``lambda``.
        self._powers = arb_poly(
            [
                arb(chance) / group**j * (-square * (j * (j - 1)) / 2).exp()
                for j, chance in enumerate(chances[1:], 1)
            ]
        )
        #: The infimum of ``v``, and ``kappa``.
        self.least, self.back = arb(1), arb(0)
        if replaced:
            self.least, self.back = none, single * single * (-square).exp()

    def ratio(self, x: arb) -> arb:
        """``lambda(x)``."""
        return (self.start + x * self.rate).exp()

    def angle(self, height: arb) -> arb:
        """By how much ``lambda`` is turned there."""
        angle = height * self.rate
        # of balls: what follows needs an angle below pi/2, and a principal logarithm of A
        if not (2 * angle < arb.pi() and self.group * angle < arb.pi()):
            raise ValueError("the strip is not admissible")
        return angle

    # --- values -----------------------------------------------------------------------------------

    def more(self, ratio: _Ball) -> _Ball:
        """``A - 1``."""
        return ratio * self._powers(ratio)

    def losses(self, ratio: acb) -> tuple[acb, acb]:
        """``log A - log v`` and ``log v`` above the axis [10]."""
        up = (1 + self.more(ratio)).log()
        if not self.replaced:
            return up, acb(0)
        down = (1 + self.back / ratio).log() + self.least.log()
        return up - down, down

    # --- bounds -----------------------------------------------------------------------------------

    def beside(self, order: arb, ratio: arb, angle: float = 0.0, height: float = 0.0) -> arb:
        """``|v^{1-rho-iu}|`` at ``lambda e^{i theta}``, rising with ``lambda`` if ``rho >= 1``.

        On the axis it falls if ``rho <= 0`` [10].
        """
        back = self.back / ratio * acb(0, -arb(angle)).exp()
        size = self.least * abs(1 + back)
        return size ** (1 - order) * (arb(height) * (1 + back).arg()).exp()

    def left_mass(self, order: arb, place: arb) -> arb:
        """At least ``Int phi v^{1-rho}`` left of a place, for ``rho <= 0`` [10]."""
        power = 1 - order
        tilt = power * self.rate
        grown = self.beside(order, self.ratio(place)) * (tilt * place + tilt * tilt / 2).exp()
        return grown * normal_tail(-place - tilt)

    # --- masses -----------------------------------------------------------------------------------

    @property
    def orders(self) -> range:
        """The powers of ``lambda`` whose integrals give the masses of a window."""
        return range(-1 if self.replaced else 0, self.group + 1)

    def masses(self, powers: Sequence[arb]) -> list[arb]:
        """Under ``P`` and under ``Q``, over :attr:`stay`, by the integrals of those powers."""
        if self.replaced:
            below, none, one = powers
            return [none + one, self.least * (none + self.back * below)]
        p = sum((a * b for a, b in zip(self._powers.coeffs(), powers[1:], strict=True)), powers[0])
        return [p, powers[0]]
