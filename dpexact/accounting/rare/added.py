r"""Chernoff's bound of delta of adding a record, which mostly shows that removing is worse.

.. math:: \delta(\varepsilon) \le K(s)\,e^{-s\varepsilon}\,
          \big[(1-q)^{-s} J(-s)\big]^T, \quad s > 0,

with the moments ``J`` bounded by two terms of a series, or by some chords ([7] and [5] of
``docs/theory/rare.md``).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

import numpy as np
from flint import arb

from dpexact import balls
from dpexact.accounting.arrays import Floats
from dpexact.accounting.contour.product import log_chernoffs
from dpexact.accounting.pairs.pair import log_chernoff
from dpexact.accounting.rare.law import Cells, SampledLaw
from dpexact.accounting.rare.picture import log_sum
from dpexact.accounting.rare.windows import Window
from dpexact.balls import approximate, ball
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

_BITS: Final = 64
_ZERO: Final = Fraction(0)
_WHOLE: Final = Window(1)
_REACH, _SPACING = 6.0, 0.1
#: Widths of cells: chords over them exceed what they bound by about four squares, as a logarithm.
_NARROW, _WIDE = 0.1, 1.0
#: Noise whose square of ``lambda`` has a mean that floats know.
_LEAST_NOISE = 0.1
#: Logarithms of ``s lambda sqrt(T)`` and of ``s lambda`` beyond which chords are long.
_FIRST, _LAST = -1.5, 3.5
_TILTS = np.geomspace(1e-3, 3.0, 40)


def added_bound(sigma: Real, q: Real, count: int, epsilon: Real, log_level: float) -> Enclosure:
    """From 0 to the bound for ``count`` steps of rate ``0 < q < 1``.

    As close as shows that it is below ``e^log_level``; trivial where it hardly is.
    """
    nothing = Enclosure(_ZERO, Fraction(1))
    try:
        with np.errstate(all="ignore"):
            about = approximate(sigma), approximate(q), approximate(epsilon)
            order, edges = _in_short(count, *about, log_level)
            # proposes: which bound of the moment; both are proved
            if not order:
                order, edges = _proposed(count, *about, log_level)
        with balls.precision(_BITS):
            law, s = SampledLaw(sigma, q), arb(order)
            # proposes: likewise
            whole = Cells(law, edges).bound(_WHOLE, -order) if edges else short_moment(law, s)
            moment = whole / law.stay**s
            log = log_chernoff(s) - s * ball(epsilon) + count * moment.log()
            return nothing.meet(Enclosure(_ZERO, balls.to_enclosure(log.exp()).upper))
    except (ArithmeticError, ValueError):
        return nothing


def short_moment(law: SampledLaw, order: arb) -> arb:
    """At least ``J(-s)``: ``(1 + lambda)^-s <= 1 - s lambda + s (s + 1) lambda^2/2`` [7]."""
    square = law.odds**2 * (law.rate * law.rate).exp()
    return 1 - order * law.odds + order * (order + 1) / 2 * square


def _in_short(
    count: int, sigma: float, q: float, epsilon: float, log_level: float
) -> tuple[float, list[float]]:
    """Proposes: an order at which two terms are enough, or 0, and no cells."""
    if not (sigma > _LEAST_NOISE and epsilon > 0):
        return 0.0, []
    odds, grown = q / (1 - q), math.exp(1 / sigma**2)
    order = epsilon / (count * odds * odds * math.expm1(1 / sigma**2))
    moment = order * (odds * odds * (order + 1) * grown / 2 - odds)
    log = count * (math.log1p(moment) - order * math.log1p(-q)) - order * epsilon
    log += order * math.log(order) - (1 + order) * math.log1p(order)
    return (order if log < log_level else 0.0), []


def _proposed(
    count: int, sigma: float, q: float, epsilon: float, log_level: float
) -> tuple[float, list[float]]:
    """Proposes: an order and cells; any give a bound.

    Raises:
        ArithmeticError: it is not below the level.
    """
    x = np.arange(-_REACH, _REACH, _SPACING)
    start = math.log(q) - math.log1p(-q) - 1 / (2 * sigma**2)
    loss: Floats = -math.log1p(-q) - np.logaddexp(0.0, start + x / sigma)
    weights = -x * x / 2 + math.log(_SPACING / math.sqrt(2 * math.pi))
    law = np.exp(weights)
    mean = float(law @ loss)
    spread = count * float(law @ (loss - mean) ** 2)
    orders = _TILTS * (epsilon - count * mean) / spread
    moments = log_sum(weights + orders[:, None] * loss)
    logs = log_chernoffs(orders) - orders * epsilon + count * moments
    best = int(np.nanargmin(logs))
    order, room = float(orders[best]), log_level - float(logs[best])
    if not room > 0:
        raise ArithmeticError("the bound is above the level")
    centre = -start - math.log(order)
    width = max(_NARROW, min(_WIDE, math.sqrt(room) / 2)) * min(1.0, sigma)
    first = max(-_REACH, sigma * (centre + _FIRST - math.log(count) / 2))
    last = max(min(_REACH, sigma * (centre + _LAST)), first + width)
    return order, [float(v) for v in np.arange(first, last + width, width)]
