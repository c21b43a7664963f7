r"""Laplace noise conditioned on an interval (Geng, Ding, Guo and Kumar 2020).

With ``scale`` 1, noise in ``[-b, b]`` and a shift by ``s < 2b`` the outputs that both datasets can
give are ``[s-b, b]``. They have, under each law, the mass

.. math:: kept = 1 - lost = \begin{cases} 1 - h & b \ge s \\ h & b < s \end{cases}, \qquad
          h = \frac{e^{-|b-s|}\,(1 - e^{-w})}{2 (1 - e^{-b})}, \qquad w = \min(s, 2b - s),

and on them the loss is ``z = |x| - |x - s|``, in ``[-w, w]``. Given one of them the density of
``z`` under ``P`` is :math:`e^{z/2} / (2 N)`, and :math:`\pm w` are atoms of mass
:math:`e^{\pm w/2} a / N` where ``b > s``, with

.. math:: a = (1 - e^{-(b-s)})_+, \qquad N = 2 a \cosh(w/2) + 2 \sinh(w/2).

Proofs: ``docs/theory/noises.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flint import acb, arb

from dpexact.accounting.pairs.pair import Jet, Masses, Pair, Tails
from dpexact.balls import approximate, ball, compare
from dpexact.exactness import exponential, quotient
from dpexact.reals import ONE, ZERO, Real

#: Below, the float estimates take a series; and what they take for 0.
_SMALL: Final = 0.05
_FLAT: Final = 1e-30


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


@dataclass(frozen=True)
class TruncatedLaplace(Pair):
    """Losses in ``[-width, width]``, of atoms that weigh ``ends`` beside the density."""

    width: Real
    ends: Real

    #: As of Laplace noise: what has no atom does.
    decays = True

    def _norm(self) -> arb:
        half = ball(self.width) / 2
        return 2 * (ball(self.ends) * half.cosh() + half.sinh())

    def overlap(self) -> arb:
        """``2 (a e^{-w/2} + 1 - e^{-w/2}) / N``."""
        low = -ball(self.width) / 2
        return 2 * (ball(self.ends) * low.exp() - low.expm1()) / self._norm()

    def largest_loss(self) -> arb | None:
        return ball(self.width)

    def lowest(self) -> arb:
        return -ball(self.width)

    def at(self, s: acb) -> acb:
        r""":math:`(2 a \cosh(\sigma w) + \sinh(\sigma w)/\sigma) / N`, ``sigma = s + 1/2``."""
        width = ball(self.width)
        x = width * (s + arb(0.5))
        found: acb = 2 * ball(self.ends) * x.cosh() + width * (acb(0, 1) * x).sinc()
        return found / self._norm()

    def mean(self) -> arb:
        r""":math:`(w\,(2a\sinh(w/2) + 2\cosh(w/2)) - 4\sinh(w/2)) / N`."""
        width, ends = ball(self.width), ball(self.ends)
        half = width / 2
        inner = 2 * ends * half.sinh() + 2 * half.cosh()
        return (width * inner - 4 * half.sinh()) / self._norm()

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        r""":math:`|\sinh(\sigma w)| \le \cosh(w\,\Re\sigma)`, and ``|sigma|`` grows with ``u``."""
        real, height = ball(c) + arb(0.5), arb(u)
        rise = (ball(self.width) * real).cosh()
        size = (real * real + height * height).sqrt()
        # proposes: a height; of any a ball decides which bound holds
        if not size > 0:
            return self.moment(c, accuracy)
        bound = rise * (2 * ball(self.ends) + 1 / size) / self._norm()
        return arb.min(bound.upper(), self.moment(c, accuracy).upper())

    def cumulant(self, c: float) -> Jet:
        """Closed form, scaled by ``e^-|x|``; symmetric about ``-1/2``.

        Proposes: an estimate by which contours are planned.
        """
        width, here = approximate(self.width), c + 0.5
        log, slope, bend = self._scaled(width * abs(here))
        value = log - self._scaled(width / 2)[0]
        return Jet(value, math.copysign(width * slope, here), width**2 * bend)

    def _scaled(self, x: float) -> tuple[float, float, float]:
        """Proposes: logarithm of ``2 a cosh x + w sinh(x)/x``, two derivatives in ``x``, about."""
        width, ends = approximate(self.width), approximate(self.ends)
        fall = math.exp(-2 * x)
        cosh, sinh = (1 + fall) / 2, (1 - fall) / 2
        if x < _SMALL:
            scale, square = math.exp(-x), x * x
            g, g1, g2 = scale * (1 + square / 6), scale * x / 3, scale * (1 / 3 + square / 10)
        else:
            g = sinh / x
            g1 = (cosh - g) / x
            g2 = g - 2 * g1 / x
        value = 2 * ends * cosh + width * g
        slope = (2 * ends * sinh + width * g1) / value
        bend = (2 * ends * cosh + width * g2) / value - slope * slope
        return x + math.log(value), slope, max(bend, _FLAT)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        width, ends, a = approximate(self.width), approximate(self.ends), c + 0.5
        most, x = self.cumulant(c).value, width * abs(a)
        level = x + math.log((1 + math.exp(-2 * x)) / 2) - self._scaled(width / 2)[0]
        return lambda u: min(most, level + math.log(2 * ends + 1 / math.hypot(a, u, _FLAT)))

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        return 1, math.log2(2 + approximate(self.width) * (c + 1))

    # --- tails ------------------------------------------------------------------------------------

    def atoms(self, tail: float) -> tuple[list[Masses], Masses]:
        if self.ends.fraction == 0:
            return [], (arb(0), arb(0))
        half, scale = ball(self.width) / 2, ball(self.ends) / self._norm()
        low, high = scale * (-half).exp(), scale * half.exp()
        return [(low, high), (high, low)], (arb(0), arb(0))

    def tails(self, bits: int) -> tuple[Tails, arb]:
        r"""Between the ends :math:`P(e^Z > r) = (e^{w/2} - \sqrt r)/N`; ``Q`` by symmetry."""
        half, norm = ball(self.width) / 2, self._norm()
        top = half.exp()

        def tails(ratio: arb) -> Masses:
            root = ratio.sqrt().max(1 / top).min(top)
            return (top - root) / norm, (1 / root - 1 / top) / norm

        return tails, 2 * half.sinh() / norm

    def span(self, tail: float) -> tuple[float, float]:
        width = approximate(self.width)
        return -width, width

    def lost_bits(self) -> int:
        """Those of factors up to ``e^width``."""
        return math.ceil(3 * approximate(self.width))
