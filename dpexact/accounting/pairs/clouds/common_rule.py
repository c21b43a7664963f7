"""Trapezoidal rules for moments of many sampled Gaussians: where places are, and what they miss.

With ``w`` the logarithm of the likelihood ratio of the Gaussian, ``v = sigma^2``, and ``A = 1 +
q (e^w - 1)``, a moment is

    E_v[A^t] = Int g_v(w) A^t dw,   g_v(w) = sqrt(v/(2 pi)) e^{-v (w + 1/(2v))^2/2}.

Proofs are in ``docs/theory/logs.md``, section 7, whose formulas the numbers in brackets are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from flint import acb, arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.pair import TooExpensive, short
from dpexact.accounting.pairs.sums.mixture_sums import geometric_tail

#: The largest share of the strip of analyticity, whose half width is pi, that is used.
EDGE: Final = 0.98
FRACTIONS: Final = np.linspace(0.02, 1.0, 50)


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def strip_modulus(v: arb, least: arb, shift: arb, edge: arb, spacing: arb) -> arb:
    """Of the modulus of the integrand at ``Im w = shift``, by ``edge`` on both sides [6]."""
    lift = (v * (shift * shift + edge * edge) / 2).exp() * (((shift + edge) / 2).cos()) ** least
    return 2 * lift / (2 * arb.pi() * edge / spacing).expm1()


def growth(v: arb, least: arb, height: arb) -> arb:
    """How much larger the modulus of the integrand is at ``Im w = height`` at most [5]."""
    return (v * height * height / 2).exp() * ((height / 2).cos()) ** least


def beyond(v: arb, q: arb, power: arb, ends: tuple[arb, arb], spacing: arb, shift: arb) -> arb:
    """The moduli of the terms beyond real parts of ``w`` [7]."""
    least, most = arb.min(power, arb(0)), arb.max(power, arb(0))
    rise, fall = -v * ends[0] - arb(0.5), v * ends[1] + arb(0.5) - most
    # proposes: the ends of the rule; balls decide whether the tails fall there
    if not (ends[0] < 0 < ends[1] and rise > 0 and fall > 0):
        raise TooExpensive("the rule is cut inside the bulk of the integrand")
    scale = spacing * (v / (2 * arb.pi())).sqrt()
    low, high = (scale * _density(v, acb(end)).real for end in ends)
    left, right = (1 + q * end.expm1() for end in ends)
    return growth(v, least, shift) * (
        geometric_tail(low * left**most * (1 - q) ** least, rise, spacing)
        + geometric_tail(high * right**power, fall, spacing)
    )


class Rule(NamedTuple):
    """Places ``w = j spacing + i shift``, ``first <= j <= last``; a strip up to ``top`` and down.

    Any is valid if its strip is one of analyticity.
    """

    shift: float
    top: float
    bottom: float
    spacing: float
    first: int
    last: int


def is_positive_strip(rule: Rule) -> bool:
    """Whether moduli at its shift are those of an analytic function, up and down by its top [6]."""
    shift, reach = rule.shift, arb(rule.top) + arb(rule.shift)
    # proposes: the rule, whose floats mean their exact values
    inside = shift == 0 or 0 < rule.top <= shift or bool(reach < arb.pi() / 2)
    # proposes: likewise
    return inside and shift >= 0 and bool(reach < arb.pi())


class Placing(NamedTuple):
    """Proposes: where places are, for moments of a power of ``A`` up to a rate."""

    power: float
    largest: float

    def grown(self, v: float, heights: Floats) -> Floats:
        """The logarithm of :func:`growth`."""
        found: Floats = v * heights * heights / 2 + self.turned(heights)
        return found

    def turned(self, heights: Floats) -> Floats:
        """Of that what the power makes."""
        found: Floats = min(self.power, 0.0) * np.log(np.cos(heights / 2))
        return found

    def lifted(self, v: float, rule: Rule) -> float:
        """How far terms of the largest rate are below densities times powers, on either line.

        Powers below 0 are small where densities of large rates are large.
        """
        y = rule.spacing * np.arange(rule.first, rule.last + 1)
        centred = y - math.log(self.largest) + math.log1p(-self.largest) + 1 / (2 * v)
        least = min(self.power, 0.0)
        density = least * np.maximum(y, 0.0) - v * centred * centred / 2
        terms = density + least * np.log1p(np.exp(-abs(y)))
        return float(self.grown(v, np.array(rule.shift)) + density.max() - terms.max())

    def placed(
        self,
        variances: Sequence[float],
        shift: float,
        top: float,
        bottom: float,
        spacing: float,
        accuracy: float,
    ) -> Rule:
        """Ends where what is left out is below about ``e^-accuracy``."""
        spacing = short(spacing)
        low, high = 0.0, 0.0
        # of negative powers what is left out is bounded by their largest value
        accuracy += min(self.power, 0.0) * math.log1p(-self.largest)
        for v in variances:
            depth = accuracy + float(self.grown(v, np.array(shift)))
            reach = math.sqrt(2 * depth / v)
            low, right = min(low, -1 / (2 * v) - reach), reach - 1 / (2 * v)
            if self.power > 0:
                right = _fallen(v, self.power, self.largest, depth)
            high = max(high, right)
        first = math.floor((low - 1 / max(variances)) / spacing) - 1
        last = math.ceil((high + 1 / max(variances)) / spacing) + 1
        return Rule(shift, top, bottom, spacing, first, last)

    def positive(self, variances: Sequence[float], shift: float, accuracy: float) -> Rule:
        """Proposes: the widest spacing of moduli at a height of which strips leave that little."""
        v = max(variances)
        widest = EDGE * math.pi
        if shift > 0:
            widest = EDGE * max(math.pi / 2 - shift, min(shift, math.pi - shift))
        edges = FRACTIONS * min(widest, 2 * math.sqrt(2 * accuracy / v))
        lift = v * shift * shift / 2 + v * edges * edges / 2
        widths = edges / (accuracy + lift + self.turned(edges + shift))
        best = int(np.argmax(widths))
        edge, spacing = float(edges[best]), 2 * math.pi * float(widths[best])
        return self.placed(variances, shift, edge, edge, spacing, accuracy)


def _fallen(v: float, power: float, q: float, depth: float) -> float:
    """Proposes: where ``g_v A^power`` falls below ``e^-depth``, or a little beyond its largest."""

    def at(w: float) -> float:
        return power * math.log1p(q * math.expm1(min(w, 600.0))) - v * (w + 1 / (2 * v)) ** 2 / 2

    low = max(0.0, (power + 0.5) / v)
    high = low + math.sqrt(2 * (depth + power * low) / v) + 1 / v
    while at(high) > -depth:
        high *= 2
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) > -depth else (low, middle)
    return high


def _density(v: arb, place: acb) -> acb:
    """``g_v`` without its factor."""
    centred = place + 1 / (2 * v)
    return (-v * centred * centred / 2).exp()
