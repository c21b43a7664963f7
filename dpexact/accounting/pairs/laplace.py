r"""Laplace noise, and Laplace noise conditioned on an interval (Geng, Ding, Guo and Kumar 2020).

The loss ``z`` of either lies in ``[-w, w]``, with density :math:`e^{z/2} / (2 N)` under ``P``, and
:math:`\pm w` are atoms of mass :math:`e^{\pm w/2} a / N`,

.. math:: N = 2 a \cosh(w/2) + 2 \sinh(w/2).

Of Laplace noise ``w`` is sensitivity over scale, and ``a = 1``. With ``scale`` 1, noise in ``[-b,
b]`` and a shift by ``s < 2b`` the outputs that both datasets can give are ``[s-b, b]``. They have,
under each law, the mass

.. math:: kept = 1 - lost = \begin{cases} 1 - h & b \ge s \\ h & b < s \end{cases}, \qquad
          h = \frac{e^{-|b-s|}\,(1 - e^{-w})}{2 (1 - e^{-b})}, \qquad w = \min(s, 2b - s),

and on them the loss is ``z = |x| - |x - s|``, with :math:`a = (1 - e^{-(b-s)})_+`. Proofs:
``docs/theory/noises.md``.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flint import acb, arb

from dpexact.accounting.pairs.pair import Jet, LossMoments, Masses, Pair, Tails, Turns
from dpexact.accounting.pairs.sums.arcs import Arc
from dpexact.balls import approximate, ball, compare
from dpexact.exactness import exponential, quotient
from dpexact.kept import cached_property
from dpexact.reals import ONE, ZERO, Real

#: Below and above, the float estimates take a series and an asymptote; and what they take for 0.
_SMALL: Final = 0.1
_LARGE: Final = 20.0
_FLAT: Final = 1e-30
#: Cells of an outline.
_CELLS: Final = 32


class _WithEnds(Pair):
    """Losses in ``[-width, width]``, of atoms that weigh ``ends`` beside the density."""

    has_outline = True
    #: Not to zero, but the continuous part of the loss does, and many steps need no more.
    decays = True

    @abstractmethod
    def sizes(self) -> tuple[Real, Real]:
        """``w`` and ``a``."""

    def _balls(self) -> tuple[arb, arb, arb]:
        """``w``, ``a`` and ``N``."""
        width, ends = map(ball, self.sizes())
        half = width / 2
        return width, ends, 2 * (ends * half.cosh() + half.sinh())

    def overlap(self) -> arb:
        """``2 (a e^{-w/2} + 1 - e^{-w/2}) / N``."""
        width, ends, norm = self._balls()
        low = -width / 2
        return 2 * (ends * low.exp() - low.expm1()) / norm

    def largest_loss(self) -> arb | None:
        return self._balls()[0]

    def lowest(self) -> arb:
        """``-w``."""
        return -self._balls()[0]

    def at(self, s: acb) -> acb:
        r""":math:`(2 a \cosh(\sigma w) + \sinh(\sigma w)/\sigma) / N`, ``sigma = s + 1/2``."""
        width, ends, norm = self._balls()
        x = width * (s + arb(0.5))
        found: acb = 2 * ends * x.cosh() + width * (acb(0, 1) * x).sinc()
        return found / norm

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """The same, real."""
        width, ends, norm = self._balls()
        x = width * (ball(c) + arb(0.5))
        return (2 * ends * x.cosh() + width * acb(0, x).sinc().real) / norm

    def mean(self) -> arb:
        r""":math:`(w\,(2a\sinh(w/2) + 2\cosh(w/2)) - 4\sinh(w/2)) / N`."""
        width, ends, norm = self._balls()
        half = width / 2
        return (width * (2 * ends * half.sinh() + 2 * half.cosh()) - 4 * half.sinh()) / norm

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """By exponentials, but where ``sigma`` is 0."""
        # proposes: how they are computed; a float order means its exact value
        if c == -0.5:
            return super().moments(c, step, count, accuracy)
        width, ends, norm = self._balls()
        found, scale, atom = [], 1 / norm, acb(ends)
        for n in range(count + 1):
            sigma = acb(arb(c) + arb(0.5), n * arb(step))
            rise, inverse = (width * sigma).exp(), 1 / (2 * sigma)
            found.append(scale * (rise * (atom + inverse) + (atom - inverse) / rise))
        return found

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """``2 cosh x sqrt(a^2 + (a b tanh x + 1/4) / (b^2 + u^2)) / N``, ``b = c + 1/2`` [10]."""
        width, ends, norm = self._balls()
        real, height = ball(c) + arb(0.5), arb(u)
        x, size = width * real, real * real + height * height
        # proposes: a height; of any a ball decides which bound holds
        if not size > 0:
            return self.moment(c, accuracy)
        excess = (ends * real * x.tanh() + arb(0.25)) / size
        bound = 2 * x.cosh() * (ends * ends + excess).sqrt() / norm
        return arb.min(bound.upper(), self.moment(c, accuracy).upper())

    def exponentials(self, c: float, top: float, accuracy: float) -> tuple[Turns, arb]:
        """Both ends, and a rule on an arc for the density ``e^{z/2}/(2 N)`` (atoms, 7)."""
        width, ends, norm = self._balls()
        tilt = arb(c) + arb(0.5)

        def density(z: acb) -> acb:
            return (tilt * z).exp() / (2 * norm)

        arc = Arc(-width, width, density, self.cumulant(c).value, accuracy)
        terms, error = arc.turns()
        for end in (-width, width):
            terms.append((acb(ends * (tilt * end).exp() / norm), acb(end)))
        return terms, error

    # --- floats -----------------------------------------------------------------------------------

    def outline(self, c: float) -> list[tuple[float, float]]:
        """Both ends, and equal cells between them."""
        (width, ends, norm), tilt = self._floats, c + 0.5
        cell = width / _CELLS
        between = [(2 * k + 1 - _CELLS) * cell for k in range(_CELLS)]
        inside = [(math.log(cell) - norm + tilt * loss, loss) for loss in between]
        return inside + [(math.log(ends) - norm + tilt * loss, loss) for loss in (-width, width)]

    @cached_property
    def _floats(self) -> tuple[float, float, float]:
        """Proposes: ``w``, ``a`` and the logarithm of ``N``, about."""
        width, ends = map(approximate, self.sizes())
        fall = math.exp(-width)
        return width, ends, width / 2 + math.log(ends * (1 + fall) - math.expm1(-width))

    def cumulant(self, c: float) -> Jet:
        """Closed form, scaled by ``e^-|x|``; symmetric about ``-1/2``.

        Proposes: an estimate by which contours are planned.
        """
        (width, ends, norm), here = self._floats, abs(c + 0.5)
        x = width * here
        if x > _LARGE:  # sinh and cosh agree
            inner = here * (2 * ends * here + 1)
            value = x - norm + math.log(ends + 1 / (2 * here))
            slope, bend = width - 1 / inner, (4 * ends * here + 1) / inner**2
            return Jet(value, math.copysign(slope, c + 0.5), bend)
        fall = math.exp(-2 * x)
        cosh, sinh = (1 + fall) / 2, (1 - fall) / 2
        if x < _SMALL:  # sinh(x)/x and its derivatives, by their series
            scale, square = math.exp(-x), x * x
            g = 1 + square / 6 * (1 + square / 20 * (1 + square / 42))
            g1 = x / 3 * (1 + square / 10 * (1 + square / 28))
            g2 = 1 / 3 + square / 10 * (1 + 5 * square / 84)
            g, g1, g2 = g * scale, g1 * scale, g2 * scale
        else:
            g = sinh / x
            g1 = (cosh - g) / x
            g2 = g - 2 * g1 / x
        value = 2 * ends * cosh + width * g
        slope = (2 * ends * sinh + width * g1) / value
        bend = max((2 * ends * cosh + width * g2) / value - slope**2, _FLAT)
        slope = math.copysign(width * slope, c + 0.5)
        return Jet(x - norm + math.log(value), slope, width**2 * bend)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        (width, ends, norm), a = self._floats, abs(c + 0.5)
        x, most = width * a, self.cumulant(c).value
        level, gain = x - norm + math.log1p(math.exp(-2 * x)), ends * a * math.tanh(x) + 0.25
        return lambda u: min(most, level + math.log(ends**2 + gain / (a * a + u * u + _FLAT)) / 2)

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        return 1, math.log2(2 + self._floats[0] * (c + 1))

    # --- tails ------------------------------------------------------------------------------------

    def atoms(self, tail: float) -> tuple[list[Masses], Masses]:
        """Both ends, if they weigh anything."""
        width, ends, norm = self._balls()
        if self.sizes()[1].fraction == 0:
            return [], (arb(0), arb(0))
        low, high = (ends / norm * x.exp() for x in (-width / 2, width / 2))
        return [(low, high), (high, low)], (arb(0), arb(0))

    def tails(self, bits: int) -> tuple[Tails, arb]:
        r"""Between the ends :math:`P(e^Z > r) = (e^{w/2} - \sqrt r)/N`; ``Q`` by symmetry."""
        width, _, norm = self._balls()
        top = (width / 2).exp()

        def tails(ratio: arb) -> Masses:
            root = ratio.sqrt().max(1 / top).min(top)
            return (top - root) / norm, (1 / root - 1 / top) / norm

        return tails, 2 * (width / 2).sinh() / norm

    def span(self, tail: float) -> tuple[float, float]:
        return -self._floats[0], self._floats[0]

    def lost_bits(self) -> int:
        """Those of factors up to ``e^width``."""
        return math.ceil(3 * self._floats[0])


@dataclass(frozen=True)
class Laplace(_WithEnds):
    """``rate`` is sensitivity over scale, also the largest loss."""

    rate: Real

    def sizes(self) -> tuple[Real, Real]:
        return self.rate, ONE

    def _balls(self) -> tuple[arb, arb, arb]:
        rate = ball(self.rate)
        return rate, arb(1), 2 * (rate / 2).exp()

    def integer_moments(self, count: int) -> list[arb]:
        """``e^{k rate} (k + 1 + k e^{-(2 k + 1) rate}) / (2 k + 1)``."""
        rise, fall = ball(self.rate).exp(), self.lowest().exp()
        power, low, found = arb(1), fall, []
        for k in range(1, count + 1):
            power, low = power * rise, low * fall * fall
            found.append(power * (k + 1 + k * low) / (2 * k + 1))
        return found

    def loss_moments(self) -> LossMoments:
        r"""From the atoms and the density :math:`e^{(z - rate)/2}/4` between, with

        .. math:: \int (z-c)^n e^{z/2}\,dz = e^{z/2} A_n(z-c), \qquad A_0 = 2,\quad
                  A_n(u) = 2u^n - 2n A_{n-1}(u).
        """
        rate = ball(self.rate)
        mean, low = rate + (-rate).expm1(), (-rate).exp() / 2
        scale = (-rate / 2).exp() / 4

        def power(x: arb, n: int) -> arb:  # FLINT gives up a power of a ball that holds 0
            return math.prod([x] * n, start=arb(1))

        def integral_to(z: arb, n: int) -> arb:
            found = arb(2)
            for k in range(1, n + 1):
                found = 2 * power(z - mean, k) - 2 * k * found
            return scale * (z / 2).exp() * found

        def central(n: int) -> arb:
            atoms = power(rate - mean, n) / 2 + power(-rate - mean, n) * low
            return atoms + integral_to(rate, n) - integral_to(-rate, n)

        second, third, fourth = map(central, (2, 3, 4))
        # below the mean the third power changes its sign
        absolute = third + 2 * (integral_to(-rate, 3) - integral_to(mean, 3))
        absolute += 2 * power(rate + mean, 3) * low
        return LossMoments(mean, second, third, fourth - 3 * second * second, absolute)


@dataclass(frozen=True)
class TruncatedLaplace(_WithEnds):
    """What is left of Laplace noise in an interval: losses, and the weight of their ends."""

    width: Real
    ends: Real

    def sizes(self) -> tuple[Real, Real]:
        return self.width, self.ends


def truncated_laplace(
    scale: Real, bound: Real, sensitivity: Real
) -> tuple[Real, TruncatedLaplace | None]:
    """The mass of infinite loss, and the pair for the rest; None where that is everything."""
    reach, shift = quotient(bound, scale), quotient(sensitivity, scale)
    inner = 2 * reach - shift
    if compare(2 * bound, sensitivity, "bound") <= 0:
        return ONE, None
    wide = compare(bound, sensitivity, "bound") >= 0
    width = shift if wide else inner
    gap = reach - shift if wide else shift - reach
    share = exponential(-gap) * (1 - exponential(-width)) / (2 * (1 - exponential(-reach)))
    if wide:
        return share, TruncatedLaplace(width, 1 - exponential(-gap))
    return 1 - share, TruncatedLaplace(width, ZERO)
