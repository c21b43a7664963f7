r"""Laplace steps of which at least ``m`` have a loss strictly inside: a part that decays fast.

The loss of one step of rate ``lambda`` is ``+-lambda`` or has a density between. Of all steps,
:math:`e^{-\Lambda/2}\prod_i (C_i + v S_i)^{k_i}` is the moment, with :math:`C_i = \cosh\lambda_i
\sigma`, :math:`S_i = \sinh\lambda_i\sigma`, :math:`\sigma = s + 1/2`, :math:`v = 1/(2\sigma)`, and
the coefficient of :math:`v^r` belongs to ``r`` losses inside. Proofs: ``docs/theory/laplace.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from flint import acb, arb, fmpz

from dpexact.accounting.pairs.laplace import Laplace
from dpexact.accounting.pairs.pair import Jet, Pair, product, total_loss, weighted
from dpexact.balls import approximate, ball
from dpexact.kept import cached_property
from dpexact.reals import Real

_RADII = 48
_GUARD = 32.0


@dataclass(frozen=True)
class ManyInside(Pair):
    """The law of the total loss of ``parts``, restricted to ``least`` or more losses inside."""

    parts: tuple[tuple[Real, int], ...]
    least: int

    @property
    def reverse(self) -> ManyInside:
        """The same measure, reflected."""
        return self

    #: As ``u^-least``.
    decays = True

    def mass(self) -> arb:
        """``M(0)``, which is ``M(-1)``."""
        return self._moment(acb(0)).real

    def overlap(self) -> arb:
        """Nothing is claimed."""
        return arb(0)

    def largest_loss(self) -> arb | None:
        return total_loss(self._noises)

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """That of the unrestricted law, an upper bound."""
        return product(self._noises, lambda noise: noise.moment(c, accuracy))

    def _moment(self, s: acb) -> acb:
        """The whole product less the terms of the first powers of ``v``."""
        sigma = s + arb(0.5)
        v = 1 / (2 * sigma)
        whole, scale = acb(1), arb(0)
        series = [acb(1)]
        for (rate, count), binomials in zip(self._balls, self._binomials, strict=True):
            rise = (rate * sigma).exp()
            cosh, sinh = (rise + 1 / rise) / 2, (rise - 1 / rise) / 2
            whole *= (cosh + v * sinh) ** count
            scale -= rate * count / 2
            turned = v * sinh
            factor = [b * turned**r * cosh ** (count - r) for r, b in enumerate(binomials)]
            series = _product(series, factor, self.least)
        return scale.exp() * (whole - sum(series, acb(0)))

    @property
    def _balls(self) -> list[tuple[arb, int]]:
        return [(ball(rate), count) for rate, count in self.parts]

    @cached_property
    def _noises(self) -> list[tuple[Laplace, int]]:
        return [(Laplace(rate), count) for rate, count in self.parts]

    @cached_property
    def _binomials(self) -> list[list[fmpz]]:
        return [
            [fmpz.bin_uiui(count, r) for r in range(min(self.least, count + 1))]
            for _, count in self.parts
        ]

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        rise = arb(step)
        return [self._moment(acb(arb(c), n * rise)) for n in range(count + 1)]

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """``B(rho) q^least``, ``q = 1/(2 u rho)``: Chernoff's bound on the coefficients left."""
        whole = self.moment(c, accuracy).upper()
        rho = self._radius(c, u)
        if rho is None:
            return whole
        radius, a, bound = arb(rho), ball(c) + arb(0.5), arb(1)
        for rate, count in self._balls:
            x = rate * a
            size = (1 + radius * (radius + 2 * x.tanh())).sqrt()
            bound *= ((-rate / 2).exp() * x.cosh() * size) ** count
        q = 1 / (2 * arb(u) * radius)
        # proposes: the radius; any is valid for which a ball finds `q <= 1`
        if not q <= 1:
            return whole
        return arb.min(whole, (bound * q**self.least).upper())

    def _log_bound(self, c: float, u: float, rho: float) -> float:
        """Proposes: about the logarithm of the bound, to compare radii by."""
        q = 1 / (2 * u * rho)
        if q > 1:
            return math.inf
        total = self.least * math.log(q)
        for rate, count in self._floats:
            x = rate * (c + 0.5)
            cosh = x + math.log1p(math.exp(-2 * x)) - math.log(2)
            size = math.log1p(rho * (rho + 2 * math.tanh(x))) / 2
            total += count * (cosh - rate / 2 + size)
        return total

    @cached_property
    def _floats(self) -> list[tuple[float, int]]:
        return [(approximate(rate), count) for rate, count in self.parts]

    def _radius(self, c: float, u: float) -> float | None:
        """Proposes: about the best radius of Cauchy's bound, which holds for all."""
        radii = [2.0 ** (i / 2) / (2 * u) for i in range(1, _RADII)]
        best = min(radii, key=lambda rho: self._log_bound(c, u, rho))
        return best if math.isfinite(self._log_bound(c, u, best)) else None

    def cumulant(self, c: float) -> Jet:
        """That of the unrestricted law."""
        return weighted((count, noise.cumulant(c)) for noise, count in self._noises)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        radii = [2.0 ** (i / 2) / 2 for i in range(1, _RADII)]
        return lambda u: min(self._log_bound(c, u, rho / u) for rho in radii)

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """One product for each power of ``v``; the terms subtracted exceed the rest."""
        inside = sum(rate * count for rate, count in self._floats) / 2
        most = max(rate for rate, _ in self._floats)
        return 4 * self.least, _GUARD + inside / math.log(2) + math.log2(2 + most * (c + 1))


def _product(one: list[acb], other: list[acb], length: int) -> list[acb]:
    """The first coefficients of a product of polynomials."""
    if one == [acb(1)]:
        return other
    found = [acb(0)] * min(length, len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other[: len(found) - i]):
            found[i + j] += a * b
    return found
