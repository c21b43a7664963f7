r"""The trade-off function of any mechanism, from its privacy profile.

With ``D(x) = delta(log x)`` for ``x >= 1`` and ``D(x) = 1 - x + x delta'(log 1/x)`` for ``x < 1``,
``delta'`` that of the laws exchanged, or the same for what is symmetric, the trade-off function is
(Dong, Roth, Su 2022, Proposition 6)

.. math:: f(\alpha) = \max\big(0, \sup_{x > 0} g(x)\big), \qquad g(x) = 1 - D(x) - \alpha x .

Every value of ``g`` is a lower bound. ``g`` is concave because ``D`` is convex, and negative beyond
``1/alpha``. So for any three points ``x_0 < x_1 < x_2`` chords, extended, lie above ``g``, and the
maximum is at most the largest of

.. math:: g_1 + \Big(\frac{g_1 - g_0}{x_1 - x_0}\Big)_+ (x_2 - x_1), \quad
          g_1 + \Big(\frac{g_1 - g_2}{x_2 - x_1}\Big)_+ (x_1 - x_0), \quad
          g_2 + \Big(\frac{g_2 - g_1}{x_2 - x_1}\Big)_+ \Big(\frac1\alpha - x_2\Big), \quad
          g_0 + \Big(\frac{g_0 - g_1}{x_1 - x_0}\Big)_+ x_0,

the last two of which are at most ``g_2`` and ``g_0`` where the points hold the maximum.

The search for the points is by floats; it only proposes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Final

from dpexact import reals
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

_ZERO: Final = Fraction(0)
_ONE: Final = Fraction(1)
#: Digits with which the place of the maximum is looked for at first.
_SEARCH_DIGITS: Final = 8
#: The golden ratio to 200 digits: a coarser one leads the section astray once it is narrow.
_GOLDEN: Final = Fraction(math.isqrt(5 * 100**200) - 10**200, 2 * 10**200)
_MOST_PARABOLAS: Final = 24
#: Largest ``|log_2 x|`` that is looked at.
_FARTHEST: Final = 1024

DeltaAt = Callable[[Real, int], Enclosure]


def trade_off(
    delta_at: DeltaAt, alpha: Enclosure, digits: int, method: str, reverse: DeltaAt | None = None
) -> Enclosure:
    """Enclose ``f(alpha)``, ``0 < alpha < 1``, given ``delta_at(eps, digits)`` for ``eps >= 0``.

    ``reverse`` is that of the laws exchanged; None where it is the same.
    """
    concave = _Concave(delta_at, alpha, reverse)
    low, high = concave.bracket(digits)
    best = concave.known().labelled(method)
    if best.digits >= digits:
        return best
    low, high = concave.golden(low, high, Fraction(1, 100), _SEARCH_DIGITS)
    most = concave.reach((low + high) / 2, digits + 16)
    sought = min(digits, max(1, most - 8))
    for centre, proposed in _proposals(concave, low, high, sought):
        step = min(proposed, centre / 2)  # proposes: any three points above 0 bound the maximum
        for more in (8, sought + 16):  # where g is flat, slopes must be told from 0 better
            ceiling = concave.ceiling(centre, step, min(sought + more, most))
            best = best.meet(Enclosure.bracket(concave.floor, ceiling, method)).labelled(method)
            if best.digits >= digits:
                return best
    return best.short("no supporting lines were close enough")


def _proposals(
    concave: _Concave, low: Fraction, high: Fraction, digits: int
) -> Iterator[tuple[Fraction, Fraction]]:
    """Places and spacings: by parabolas where ``g`` is smooth, by golden section at a kink."""
    centre, exponent = (low + high) / 2, 2.0
    last = digits / 2 + 2
    for _ in range(_MOST_PARABOLAS):
        step = centre * Fraction(10.0**-exponent)
        before = centre
        centre = concave.vertex(centre, step, min(digits + 8, math.ceil(3 * exponent) + 8))
        if abs(centre - before) > step:  # still on its way, as past a kink nearby
            continue
        if exponent >= last / 2:
            for goal in (last, last - 1.0, last + 1.0):
                yield centre, centre * Fraction(10.0**-goal)
        exponent = min(2 * exponent - 0.5, last)
    yield _ONE, Fraction(1, 10 ** (digits + 2))
    low, high = concave.golden(low, high, Fraction(1, 10 ** (digits + 2)), digits + 8)
    for factor in (4, 64, 1024):
        yield (low + high) / 2, factor * (high - low)


class _Concave:
    """``g``, enclosed at rational points; ``floor`` is the largest lower bound so far."""

    def __init__(self, delta_at: DeltaAt, alpha: Enclosure, reverse: DeltaAt | None = None) -> None:
        self.delta_at = delta_at
        self.reverse = reverse or delta_at
        self.alpha = alpha
        self.floor: Fraction = _ZERO

    def reach(self, x: Fraction, digits: int) -> int:
        """How many digits of the profile can be had near ``x``, of those wanted."""
        found = self._delta(x, digits).digits
        return digits if found >= digits else max(1, found - 1)

    def _delta(self, x: Fraction, digits: int) -> Enclosure:
        point = reals.logarithm(reals.rational(max(x, 1 / x)))
        return (self.delta_at if x >= 1 else self.reverse)(point, digits)

    def at(self, x: Fraction, digits: int) -> Enclosure:
        """``g(x)``."""
        found = self._delta(x, digits)
        low, high = Fraction(found.lower), Fraction(found.upper)
        if x < 1:
            low, high = 1 - x + x * low, 1 - x + x * high
        top = 1 - low - x * Fraction(self.alpha.lower)
        bottom = 1 - high - x * Fraction(self.alpha.upper)
        self.floor = max(self.floor, bottom)
        return Enclosure(bottom, top)

    def value(self, x: Fraction, digits: int) -> Fraction:
        """About ``g(x)``."""
        found = self.at(x, digits)
        return (Fraction(found.lower) + Fraction(found.upper)) / 2

    def known(self) -> Enclosure:
        """What supporting lines so far leave: ``f(alpha) <= 1 - alpha``."""
        return Enclosure(self.floor, _ONE - Fraction(self.alpha.lower))

    def bracket(self, digits: int) -> tuple[Fraction, Fraction]:
        """Powers of 2 about the maximum, or as far as was needed to know it."""
        here = self.value(_ONE, _SEARCH_DIGITS)
        factor = Fraction(2)
        if self.value(1 / factor, _SEARCH_DIGITS) > here:
            factor = 1 / factor
        low, middle = 1 / factor, _ONE
        for _ in range(_FARTHEST):
            following = middle * factor
            there = self.value(following, _SEARCH_DIGITS)
            if there <= here or self.known().digits >= digits:
                break
            low, middle, here = middle, following, there
        return min(low, middle * factor), max(low, middle * factor)

    def golden(
        self, low: Fraction, high: Fraction, width: Fraction, digits: int
    ) -> tuple[Fraction, Fraction]:
        """The bracket shrunk to the relative ``width``."""
        a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_a, at_b = self.value(a, digits), self.value(b, digits)
        while high - low > width * high:
            if at_a >= at_b:
                high, b, at_b = b, a, at_a
                a = _short(high - _GOLDEN * (high - low), digits)
                at_a = self.value(a, digits)
            else:
                low, a, at_a = a, b, at_b
                b = _short(low + _GOLDEN * (high - low), digits)
                at_b = self.value(b, digits)
        return low, high

    def vertex(self, x: Fraction, step: Fraction, digits: int) -> Fraction:
        """The vertex of the parabola through ``x`` and its neighbours, at most ``2 step`` away."""
        g0, g1, g2 = (self.value(x + shift, digits) for shift in (-step, _ZERO, step))
        bend = g0 - 2 * g1 + g2
        if bend >= 0:
            return x
        move = max(-2 * step, min(2 * step, step * (g0 - g2) / (2 * bend)))
        return _short(x + move, digits)

    def ceiling(self, x: Fraction, step: Fraction, digits: int) -> Bound:
        """An upper bound of the maximum, and of 0, by three points about ``x``."""
        left, middle, right = (self.at(x + shift, digits) for shift in (-step, _ZERO, step))
        g0, g1, g2 = (Fraction(g.upper) for g in (left, middle, right))
        least = Fraction(middle.lower)
        inside = g1 + max(g1 - Fraction(left.lower), g1 - Fraction(right.lower), _ZERO)
        before = g0 + max(g0 - least, _ZERO) * (x - step) / step
        rise, lowest = max(g2 - least, _ZERO) / step, Fraction(self.alpha.lower)
        if rise and not lowest:
            return math.inf
        beyond = g2 + rise * max(1 / lowest - x - step, _ZERO) if rise else g2
        return max(_ZERO, inside, before, beyond)


def _short(x: Fraction, digits: int) -> Fraction:
    """A rational near ``x`` that is not longer than it needs to be."""
    scale = 1 << (4 * digits + 8)
    shift = x.denominator.bit_length() - x.numerator.bit_length()
    power = Fraction(2) ** shift
    return Fraction(round(x * power * scale), scale) / power
