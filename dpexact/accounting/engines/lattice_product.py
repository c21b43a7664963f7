"""Composition of mechanisms whose losses lie on commensurate lattices.

Few losses are listed, with their masses; many are added up by nodes of one turn
(:mod:`~dpexact.accounting.engines.lattice_circle`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb, arb_poly

from dpexact import balls
from dpexact.accounting.engines.lattice_circle import SPARE, Circle
from dpexact.accounting.engines.tangents import (
    Tangent,
    TangentProfile,
    exact_divergence,
    listed,
    threshold,
)
from dpexact.accounting.inverted import ZERO
from dpexact.accounting.pairs.lattice import MAX_ATOMS, Strided
from dpexact.accounting.pairs.pair import Jet, weighted
from dpexact.accounting.profile import InfiniteLoss
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

#: A law of so few points is composed once, as it is, and serves every epsilon.
SHORT: Final = 3000
#: ``-log`` of a delta that listed losses still tell of.
_BULK: Final = 200.0
#: By how much farther out that is looked at first.
_FARTHER: Final = 1.5
#: Binary logarithms of tilts are sought up to the first, to the second.
_EXPONENT, _NEAR = 64.0, 1e-3
#: Steps to an order below 0.
_HALVINGS: Final = 60
#: A tilt, in standard deviations of the loss, at least: it costs a dozen bits and saves nodes.
_LEAST_TILT: Final = 4.0
#: And how much larger than the rest a sum may be then, as a power of e.
_HIGHEST: Final = 6 * _LEAST_TILT**2
#: The least spacing that floats plan for.
_FINEST: Final = arb(2) ** -1000


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
        # one run is listed as it is
        self._short: int = MAX_ATOMS if sum(s.count for s in parts) == 1 else SHORT
        self._bulk = -math.inf
        self._laws: dict[int, Run] = {}
        self._circles: dict[tuple[Fraction, int], Circle] = {}

    def _largest(self) -> Real | None:
        top = self.origin
        for s in self.parts:
            if s.pair.highest is None:
                return None
            top += s.pair.highest * s.count * s.stride
        return top * self.unit

    def losses(self) -> Iterator[tuple[arb, arb]]:
        """The finite losses and their masses under P, at the current precision."""
        law = self._law()
        unit = balls.ball(self.unit)
        for i, mass in enumerate(law.masses):
            yield unit * balls.ball(self.origin + law.first + i), mass

    def dropped(self) -> arb:
        """A ball that holds the mass missing from :meth:`losses`."""
        return self._law().dropped

    # --- delta ----------------------------------------------------------------------------------

    def tangent(self, epsilon: arb) -> Tangent:
        if not self._is_short(float(epsilon.mid())):
            return self._on_circle(epsilon)
        law, unit = self._law(), balls.ball(self.unit)
        start = unit * balls.ball(self.origin + law.first) - epsilon
        first, unclear = threshold(-start / unit, unit, len(law.masses) - 1)
        kept, excess = arb_poly(law.masses[first:]), start + first * unit
        p, q = kept(arb(1)), (-excess).exp() * kept((-unit).exp())
        return Tangent(p, q * (-epsilon).exp(), (p * unclear + law.dropped).upper())

    def _on_circle(self, epsilon: arb) -> Tangent:
        """By nodes of one turn, with bits enough for many steps."""
        with balls.precision(balls.current() + SPARE):
            unit, origin = balls.ball(self.unit), balls.ball(self.origin)
            # proposes: nothing; a whole number, exactly, or infinite
            top = None if self._extent == math.inf else int(self._extent)
            lowest = None if top is None else 0
            first, unclear = threshold(epsilon / unit - origin, unit, top, lowest)
            # proposes: likewise
            if top is not None and first > top:
                return Tangent(arb(0), arb(0), arb(0))
            if not unclear.is_finite():
                return Tangent(arb.nan(), arb.nan(), arb.nan())
            loss = unit * (origin + first)
            p, q = self._circle(epsilon).tails(first, loss)
            return Tangent(p, q * (-loss).exp(), (p * unclear).upper())

    def _circle(self, epsilon: arb) -> Circle:
        """One that suits an epsilon; the last ones again where they do."""
        # proposes: what floats plan for
        if balls.ball(self.unit) < _FINEST:
            raise UnsupportedMechanism(
                "no certified accounting on a lattice as fine as this: sigma is too large"
            )
        theta = self._tilt(float(epsilon.mid()))
        key = theta, balls.current()
        # proposes: which circle; whatever its nodes are, what they leave out is enclosed
        if key not in self._circles or not self._circles[key].suits(epsilon):
            spread = self.spread(float(theta))
            # proposes: likewise
            if math.isnan(spread):
                raise UnsupportedMechanism("no certified accounting: losses are beyond floats")
            circle = Circle(self.parts, self.unit, theta, spread, epsilon)
            self._circles = {**dict(list(self._circles.items())[-3:]), key: circle}
        # proposes: likewise
        return self._circles[key]

    def _law(self) -> Run:
        """The composed law at the current precision."""
        bits = balls.current()
        for precise, known in self._laws.items():
            if precise >= bits:
                return known
        self._laws = {bits: self._composed()}
        return self._laws[bits]

    def _composed(self) -> Run:
        self._check_length()
        # proposes: what is cut; whatever it is is counted as dropped
        cut = arb(2) ** (-balls.current() - 10) if self._extent > self._short else arb(0)
        runs = [Run(0, [arb(1)], arb(0))]
        for s in self.parts:
            step = s.pair.tilted(ZERO)
            run = power(Run(step.first, step.masses, step.dropped), s.count, cut)
            runs.append(run.stretched(s.stride))
        while len(runs) > 1:  # the shortest ones first
            runs.sort(key=lambda run: -len(run.masses))
            runs.append(runs.pop().times(runs.pop(), cut))
        return runs[0]

    def _is_short(self, near: float) -> bool:
        """Whether few losses are listed that tell of an epsilon. Proposes: the cheaper way."""
        if self._extent <= self._short:
            return True
        # a part that strides turns often, and few of its nodes are left out
        if self._length() > min(SHORT * max(s.stride for s in self.parts), MAX_ATOMS):
            return False
        try:
            # what is told of a larger epsilon serves those that are asked for next
            if near > self._bulk and self._depth(_FARTHER * near) < _BULK:
                self._bulk = _FARTHER * near
            return near <= self._bulk or self._depth(near) < _BULK
        except ArithmeticError:  # losses beyond floats
            return False

    def _depth(self, near: float) -> float:
        """About ``-log`` of the mass of larger losses."""
        theta = max(float(self._tilt(near)), 0.0)
        return theta * near - self._cumulant(theta).value

    def _length(self) -> float:
        """About how many losses are not tiny. Proposes: what is too long."""
        return 2 * math.sqrt(2 * balls.current() * math.log(2)) * self.spread(0.0)

    def _check_length(self) -> None:
        # proposes: what is no work; a short law is cheap, however spread it is
        if self._extent <= self._short:
            return
        # proposes: what is too much work
        if self._length() > MAX_ATOMS:
            raise UnsupportedMechanism(
                f"no certified accounting on a lattice of more than {MAX_ATOMS} points"
            )

    def _tilt(self, near: float) -> Fraction:
        """About the order that balances the sum, coarse so that circles are used again.

        Proposes: an order; every one above -1 but 0 is valid. One that moves by ``1/std(loss)``
        moves the tilted law by its own width, no farther.
        """
        try:
            _, mean, bend = self._cumulant(0.0)
            # proposes: from which side; what is not beyond a small epsilon is less
            if mean - near > 2 * _LEAST_TILT * math.sqrt(bend):
                sense, away = -1, self._falling(near)
            else:
                sense, away = 1, self._balancing(near)
                bend = self._cumulant(away).bend
                away = max(away, _LEAST_TILT / math.sqrt(bend)) if bend > 0 else away
                # of a narrow law a tilt may be a jump
                while self._cumulant(away).value - away * near > _HIGHEST:
                    away /= 2
            # proposes: likewise
            if bend > 0:
                step = Fraction(2) ** -math.ceil(math.log2(bend) / 2)
                if away > 8 * step:
                    return sense * step * round(away / step)
            return sense * Fraction(2.0 ** (round(4 * math.log2(away)) / 4))
        except (ArithmeticError, ValueError):  # losses beyond floats
            return Fraction(-1, 2)

    def _falling(self, epsilon: float) -> float:
        """About the ``x``, at most 1/2, at whose negative the mean loss is ``epsilon``.

        Proposes: a tilt.
        """
        low, high = 0.0, 0.5
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            _, slope, bend = self._cumulant(-middle)
            low, high = (middle, high) if slope > epsilon else (low, middle)
            if (high - low) ** 2 * bend < 1:
                break
        return high

    def _balancing(self, epsilon: float) -> float:
        """About the ``x`` with the least ``log(K(x) M(x)) - x epsilon``, by Newton's steps.

        Proposes: a tilt.
        """
        low, high, at = -_EXPONENT, _EXPONENT, 0.0
        while high - low > _NEAR:
            theta = 2.0**at
            _, slope, bend = self._cumulant(theta)
            slope -= epsilon + math.log1p(1 / theta)
            low, high = (at, high) if slope < 0 else (low, at)
            step = -slope / (theta * bend + 1 / (1 + theta)) / math.log(2)
            if abs(step) < _NEAR:
                break
            at = at + step if low < at + step < high else (low + high) / 2
        return math.exp2(at)

    def _cumulant(self, theta: float) -> Jet:
        return weighted((s.count, s.pair.cumulant(theta)) for s in self.parts)

    def spread(self, theta: float) -> float:
        """About the standard deviation of the tilted law in units of the lattice.

        Proposes: what is too long. Beyond floats nothing is: next to no noise leaves one outcome,
        and very much noise is refused.
        """
        try:
            return math.sqrt(self._cumulant(theta).bend) / balls.approximate(self.unit)
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
class Run:
    """Masses at consecutive indices from ``first``, and a ball that holds what is missing."""

    first: int
    masses: list[arb]
    dropped: arb

    def times(self, other: Run, cut: arb) -> Run:
        """The law of the sum of two independent indices, without tails of mass ``cut``."""
        product = (arb_poly(self.masses) * arb_poly(other.masses)).coeffs()
        first, dropped = self.first + other.first, self.dropped + other.dropped
        return Run(first, product, dropped).shortened(cut)

    def shortened(self, cut: arb) -> Run:
        """Without tails of mass ``cut``."""
        start, before = _tail(self.masses, cut)
        stop, after = _tail(self.masses[::-1], cut)
        kept = self.masses[start : len(self.masses) - stop]
        return Run(self.first + start, kept, self.dropped + before + after)

    def stretched(self, stride: int) -> Run:
        """Every index multiplied by ``stride``."""
        if stride == 1:
            return self
        masses = [arb(0)] * ((len(self.masses) - 1) * stride + 1)
        masses[::stride] = self.masses
        return Run(self.first * stride, masses, self.dropped)


def _tail(masses: list[arb], cut: arb) -> tuple[int, arb]:
    """The number of leading masses whose sum certainly stays below ``cut``, and that sum."""
    total = arb(0)
    for i, mass in enumerate(masses):
        if not total + mass < cut:
            return i, total
        total += mass
    return len(masses), total


def power(run: Run, count: int, cut: arb) -> Run:
    """The law of the sum of ``count`` independent indices, likewise."""
    cut = cut / count
    result, square = Run(0, [arb(1)], arb(0)), run.shortened(cut)
    while count:
        if count & 1:
            result = result.times(square, cut)
        count >>= 1
        if count:
            square = square.times(square, cut)
    return result
