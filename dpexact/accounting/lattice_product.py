r"""Composition of mechanisms whose losses lie on commensurate lattices.

For any ``theta >= 0`` the profile is a sum of non-negative terms over the composed tilted law
:math:`\tilde p`,

.. math:: \delta(\varepsilon) = M(\theta) e^{-\theta\varepsilon}
          \sum_l \tilde p_l\, g(l - \varepsilon), \qquad
          g(u) = e^{-\theta u} (1 - e^{-u})_+ \le K(\theta)
               = \frac{\theta^\theta}{(1+\theta)^{1+\theta}}.

Tilted mass that is dropped anywhere adds at most ``K(theta)`` times itself to the sum, so tails
are cut relative to the answer, however small that is. ``theta`` is chosen in floats.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb, arb_poly

from dpexact import balls
from dpexact.accounting.inverted import ZERO
from dpexact.accounting.pairs.lattice import MAX_ATOMS, Strided
from dpexact.accounting.pairs.pair import chernoff_constant, weighted
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.tangents import Tangent, TangentProfile, exact_divergence, listed
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

#: A law of so few points is composed once, as it is, and serves every epsilon.
SHORT: Final = 3000
#: Binary logarithms of tilts are sought up to the first, to the second.
_EXPONENT, _NEAR = 20.0, 1e-3


class LatticeComposition(TangentProfile):
    """Profile of a product of pairs on one lattice, with any mass of infinite loss."""

    def __init__(self, unit: Real, parts: list[Strided], infinite: InfiniteLoss) -> None:
        self.unit = unit
        self.parts = parts
        self.infinite = self.beside = infinite
        self.method = "lattice law"
        self.origin: Fraction = sum((s.start * s.count for s in parts), ZERO)
        self.largest: Real | None = self._largest()
        self.lost_bits = 4 + max(0, -math.floor(balls.approximate_log(self.unit) / math.log(2)))
        self._extent: float = sum(s.extent for s in parts)
        self._laws: dict[tuple[Fraction, int], tuple[_Run, arb]] = {}

    def _largest(self) -> Real | None:
        top = self.origin
        for s in self.parts:
            if s.pair.highest is None:
                return None
            top += s.pair.highest * s.count * s.stride
        return top * self.unit

    def losses(self) -> Iterator[tuple[arb, arb]]:
        """The finite losses and their masses under P, at the current precision."""
        law, _ = self._law(ZERO)
        unit = balls.ball(self.unit)
        for i, mass in enumerate(law.masses):
            yield unit * balls.ball(self.origin + law.first + i), mass

    def dropped(self) -> arb:
        """A ball that holds the mass missing from :meth:`losses`."""
        return self._law(ZERO)[0].dropped

    # --- delta ----------------------------------------------------------------------------------

    def tangent(self, epsilon: arb) -> Tangent:
        theta = self._tilt(epsilon)
        law, moment = self._law(theta)
        unit, tilt = balls.ball(self.unit), balls.ball(theta)
        start = unit * balls.ball(self.origin + law.first) - epsilon
        if not balls.in_range(-start / unit):
            return Tangent(arb.nan(), arb.nan(), arb.nan())
        crossing = balls.to_enclosure(-start / unit)
        size = len(law.masses)
        unclear = min(max(math.floor(crossing.lower), 0), size)
        first = min(max(math.floor(crossing.upper) + 1, 0), size)
        doubt = law.dropped * chernoff_constant(tilt)
        for i in range(unclear, first):
            excess = start + i * unit
            gain = law.masses[i] * -(-excess).expm1() * (-tilt * excess).exp()
            doubt += gain.max(arb(0))
        p = q = arb(0)
        if first < size:
            kept, excess = arb_poly(law.masses[first:]), start + first * unit
            p, q = (
                (-rate * excess).exp() * kept((-rate * unit).exp()) for rate in (tilt, 1 + tilt)
            )
        scale = moment * (-tilt * epsilon).exp()
        return Tangent(scale * p, scale * q * (-epsilon).exp(), (scale * doubt).upper())

    def _law(self, theta: Fraction) -> tuple[_Run, arb]:
        """The composed tilted law at the current precision, and its moment."""
        bits = balls.current()
        for (known, precise), result in self._laws.items():
            if known == theta and precise >= bits:
                return result
        self._laws = {**dict(list(self._laws.items())[-3:]), (theta, bits): self._composed(theta)}
        return self._laws[theta, bits]

    def _composed(self, theta: Fraction) -> tuple[_Run, arb]:
        self._check_length(theta)
        # proposes: what is cut; whatever it is is counted as dropped
        cut = arb(2) ** (-balls.current() - 10) if self._extent > SHORT else arb(0)
        runs, moment = [_Run(0, [arb(1)], arb(0))], arb(1)
        for s in self.parts:
            step = s.pair.tilted(theta)
            run = _power(_Run(step.first, step.masses, step.dropped), s.count, cut)
            runs.append(run.stretched(s.stride))
            moment *= step.moment**s.count
        while len(runs) > 1:  # the shortest ones first
            runs.sort(key=lambda run: -len(run.masses))
            runs.append(runs.pop().times(runs.pop(), cut))
        return runs[0], moment

    def _check_length(self, theta: Fraction) -> None:
        # proposes: what is no work; a short law is cheap, however spread it is
        if self._extent <= SHORT:
            return
        width = math.sqrt(2 * balls.current() * math.log(2))
        # proposes: what is too much work
        if 2 * width * self.spread(float(theta)) > MAX_ATOMS:
            raise UnsupportedMechanism(
                f"no certified accounting on a lattice of more than {MAX_ATOMS} points"
            )

    def _tilt(self, epsilon: arb) -> Fraction:
        """Roughly the ``theta`` that balances the sum, coarse so that laws are used again.

        Proposes: a tilt; every ``theta >= 0`` is valid, with what was dropped bounded for it.
        A shift of ``theta`` by ``1/std(loss)`` moves the tilted law by its own width, no farther.
        """
        if self._extent <= SHORT:
            return ZERO
        near = float(epsilon.mid())
        try:
            exponent = self._balancing(near)
            if exponent < -6:
                return ZERO
            theta = Fraction(round(2.0 ** (round(4 * exponent) / 4 + 10)), 1 << 10)
            width = self.spread(2.0**exponent) * balls.approximate(self.unit)
            step = Fraction(2) ** -math.ceil(math.log2(max(width, 1.0)))
        except (ValueError, ArithmeticError):  # beyond floats
            return ZERO
        return round(Fraction(2.0**exponent) / step) * step if 8 * step < theta else theta

    def _balancing(self, epsilon: float) -> float:
        """About the ``x`` with the least ``log(K(2^x) M(2^x)) - 2^x epsilon``, by Newton's steps.

        Proposes: a tilt.
        """
        low, high, at = -_EXPONENT, _EXPONENT, 0.0
        while high - low > _NEAR:
            theta = 2.0**at
            _, slope, bend = weighted((s.count, s.pair.cumulant(theta)) for s in self.parts)
            slope -= epsilon + math.log1p(1 / theta)
            low, high = (at, high) if slope < 0 else (low, at)
            step = -slope / (theta * bend + 1 / (1 + theta)) / math.log(2)
            if abs(step) < _NEAR:
                break
            at = at + step if low < at + step < high else (low + high) / 2
        return at

    def spread(self, theta: float) -> float:
        """About the standard deviation of the tilted law in units of the lattice.

        Proposes: what is too long. Beyond floats nothing is: next to no noise leaves one outcome,
        and of very much noise the law itself is refused.
        """
        try:
            bends = (s.count * s.pair.cumulant(theta).bend for s in self.parts)
            return math.sqrt(sum(bends)) / balls.approximate(self.unit)
        except ArithmeticError:
            return 0.0

    def finite_fraction(self, level: Fraction) -> Fraction | None:
        laws = []
        for s in self.parts:
            outcomes = s.pair.outcomes()
            if not outcomes:
                return None
            places = range(0, len(outcomes) * s.stride, s.stride)
            laws.append(listed(outcomes, places, s.count))
        return exact_divergence(laws, level)


@dataclass(frozen=True, slots=True)
class _Run:
    """Masses at consecutive indices from ``first``, and a ball that holds what is missing."""

    first: int
    masses: list[arb]
    dropped: arb

    def times(self, other: _Run, cut: arb) -> _Run:
        """The law of the sum of two independent indices, without tails of mass ``cut``."""
        product = (arb_poly(self.masses) * arb_poly(other.masses)).coeffs()
        first, dropped = self.first + other.first, self.dropped + other.dropped
        return _Run(first, product, dropped).shortened(cut)

    def shortened(self, cut: arb) -> _Run:
        """Without tails of mass ``cut``."""
        start, before = _tail(self.masses, cut)
        stop, after = _tail(self.masses[::-1], cut)
        kept = self.masses[start : len(self.masses) - stop]
        return _Run(self.first + start, kept, self.dropped + before + after)

    def stretched(self, stride: int) -> _Run:
        """Every index multiplied by ``stride``."""
        if stride == 1:
            return self
        masses = [arb(0)] * ((len(self.masses) - 1) * stride + 1)
        masses[::stride] = self.masses
        return _Run(self.first * stride, masses, self.dropped)


def _tail(masses: list[arb], cut: arb) -> tuple[int, arb]:
    """The number of leading masses whose sum certainly stays below ``cut``, and that sum."""
    total = arb(0)
    for i, mass in enumerate(masses):
        if not total + mass < cut:
            return i, total
        total += mass
    return len(masses), total


def _power(run: _Run, count: int, cut: arb) -> _Run:
    cut = cut / count
    result, square = _Run(0, [arb(1)], arb(0)), run.shortened(cut)
    while count:
        if count & 1:
            result = result.times(square, cut)
        count >>= 1
        if count:
            square = square.times(square, cut)
    return result
