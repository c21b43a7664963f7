r"""The trade-off function of any mechanism, from its privacy profile.

With ``D(x) = delta(log x)`` for ``x >= 1`` and ``D(x) = 1 - x + x delta'(log 1/x)`` for ``x < 1``,
``delta'`` that of the laws exchanged, or the same for what is symmetric, the trade-off function is
(Dong, Roth, Su 2022, Proposition 6)

.. math:: f(\alpha) = \max\big(0, \sup_{x > 0} g(x)\big), \qquad g(x) = 1 - D(x) - \alpha x .

Every value of ``g`` is a lower bound. ``g`` is concave because ``D`` is convex, and negative beyond
``1/alpha``. So of any points :math:`x_0 < \dots < x_n` chords, extended, lie above ``g``: between
two neighbours it is at most the smaller one of

.. math:: g_i + \frac{g_i - g_{i-1}}{x_i - x_{i-1}}\,(x - x_i), \qquad
          g_{i+1} + \frac{g_{i+1} - g_{i+2}}{x_{i+2} - x_{i+1}}\,(x_{i+1} - x),

of which the outermost intervals have one, and beyond all of them at most

.. math:: g_n + \Big(\frac{g_n - g_{n-1}}{x_n - x_{n-1}}\Big)_+ \Big(\frac1\alpha - x_n\Big),
          \qquad g_0 + \Big(\frac{g_0 - g_1}{x_1 - x_0}\Big)_+ x_0 .

Where to ask is the business of :mod:`~dpexact.accounting.levels.polygon`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final, NamedTuple

from flint import fmpq

from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure

_ZERO: Final = fmpq(0)


def below_one(x: Fraction, found: Enclosure) -> Enclosure:
    """``D(x)``, ``x < 1``, from ``delta'(log 1/x)``."""
    low, high = (1 - x + x * Fraction(end) for end in (found.lower, found.upper))
    return Enclosure(low, high)


def of_profile(x: Fraction, found: Enclosure) -> Fraction:
    """About the value of the profile that was asked for that of ``D``."""
    middle = Fraction(found.lower + found.upper) / 2
    return middle if x >= 1 else (middle - 1 + x) / x


def bounds(values: Sequence[tuple[Fraction, Enclosure]], alpha: Enclosure) -> Enclosure:
    """``f(alpha) <= 1 - alpha``, by three or more values of ``D``, ``x`` rising."""
    return under([rest(x, d) for x, d in values], alpha)


def under(rests: Sequence[Value], alpha: Enclosure) -> Enclosure:
    """The same by values of ``1 - D``."""
    low = _exact(alpha.lower)
    high = low if alpha.is_exact else _exact(alpha.upper)
    g = [Value(x, lower - high * x, upper - low * x) for x, lower, upper in rests]
    floor, top = max(_ZERO, *(value.lower for value in g)), ceiling(g, low)
    most = 1 - low if top is None else min(top, 1 - low)
    return Enclosure.bracket(_fraction(floor), _fraction(most), "")


def rest(x: Fraction, found: Enclosure) -> Value:
    """``1 - D`` at a place where ``D`` is found."""
    return Value(_exact(x), 1 - _exact(found.upper), 1 - _exact(found.lower))


def _exact(number: Bound) -> fmpq:
    exact = number if isinstance(number, Fraction) else Fraction(number)
    return fmpq(exact.numerator, exact.denominator)


def _fraction(number: fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))


class Value(NamedTuple):
    """Bounds of a function at ``x``."""

    x: fmpq
    lower: fmpq
    upper: fmpq


def ceiling(values: Sequence[Value], alpha: fmpq) -> fmpq | None:
    """An upper bound of the maximum of ``g``, and of 0, by three or more values, ``x`` rising.

    None where ``alpha`` may be 0 and ``g`` may rise for ever.
    """
    first, second, *_ = values
    *_, previous, last = values
    before = first.upper + max(-_slope(second, first), _ZERO) * first.x
    rise = max(_slope(previous, last), _ZERO)
    if rise > 0 and alpha == 0:
        return None
    beyond = last.upper + rise * max(1 / alpha - last.x, _ZERO) if rise > 0 else last.upper
    ends = enumerate(pairwise(values))
    inside = (_between(values, i, right.x - left.x) for i, (left, right) in ends)
    return max(_ZERO, before, beyond, *inside)


def _slope(away: Value, here: Value) -> fmpq:
    """Of the chord between two places, seen from ``away``: at ``here`` it is at its highest."""
    return (here.upper - away.lower) / (here.x - away.x)


def _between(values: Sequence[Value], i: int, width: fmpq) -> fmpq:
    """An upper bound of ``g`` from place ``i`` to the next, by chords beside, extended."""
    left, right = values[i].upper, values[i + 1].upper
    rise = _slope(values[i - 1], values[i]) if i else None
    fall = -_slope(values[i + 2], values[i + 1]) if i + 2 < len(values) else None
    from_left = None if rise is None else left + max(rise, _ZERO) * width
    from_right = None if fall is None else right + max(fall, _ZERO) * width
    if rise is None or fall is None or from_left is None or from_right is None:
        return next(bound for bound in (from_left, from_right) if bound is not None)
    if rise <= 0 or fall <= 0:
        return min(from_left, from_right)
    crossing = (right + fall * width - left) / (rise + fall)
    return left + rise * crossing if 0 < crossing < width else min(from_left, from_right)
