"""Ranges of values between two ends, which may be infinite: for boxes that reach to infinity.

An end is a ball that is used on its outward side only, or an infinity; a variable is finite, so
``0 * oo`` is 0. A range that may be undefined, or is not known, has nan at both ends, and so has
everything computed from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from flint import arb

from dpexact import balls
from proofs_checks.prover.jets import Balls

_INFINITY: Final = arb.pos_inf()
#: The limits of the functions at minus and plus infinity.
_LIMITS: Final = {
    "exp": (arb(0), _INFINITY),
    "tanh": (arb(-1), arb(1)),
    "erf": (arb(-1), arb(1)),
    "erfc": (arb(2), arb(0)),
    "log": (-_INFINITY, _INFINITY),
    "sqrt": (-_INFINITY, _INFINITY),
}


@dataclass(frozen=True, slots=True)
class Range:
    """All numbers from ``low`` to ``high``; the ends are exact, or infinite."""

    low: arb
    high: arb

    def __add__(self, other: Range | int) -> Range:
        b = _range(other)
        return _hull([self.low + b.low], [self.high + b.high])

    __radd__ = __add__

    def __neg__(self) -> Range:
        return Range(-self.high, -self.low)

    def __sub__(self, other: Range | int) -> Range:
        return self + -_range(other)

    def __rsub__(self, other: int) -> Range:
        return _range(other) - self

    def __mul__(self, other: Range | int) -> Range:
        b = _range(other)
        if self.low.is_nan() or b.low.is_nan():
            return _UNDEFINED
        products = [
            arb(0) if x == 0 or y == 0 else x * y
            for x in (self.low, self.high)
            for y in (b.low, b.high)
        ]
        return _hull(products, products)

    __rmul__ = __mul__

    def __truediv__(self, other: Range | int) -> Range:
        b = _range(other)
        if not (b.low > 0 or b.high < 0):
            return _UNDEFINED
        ends = [arb(0) if _infinite(end) else 1 / end for end in (b.low, b.high)]
        return self * _hull(ends, ends)


class Ranges:
    """The field of ranges, for jets."""

    def number(self, text: str) -> Any:
        value = Balls().number(text)
        return _hull([value], [value])

    def function(self, name: str, value: Any) -> Any:
        if name == "gauss":
            return self.function("exp", -self.power(value, 2)) * _gauss_factor()
        if (name == "log" and not value.low > 0) or (name == "sqrt" and not value.low >= 0):
            return _UNDEFINED
        ends = [_at(name, value.low), _at(name, value.high)]
        return _hull(ends, ends)

    def power(self, value: Any, exponent: int) -> Any:
        ends = [_power(end, exponent) for end in (value.low, value.high)]
        if exponent % 2 == 0 and not (value.low > 0 or value.high < 0):
            ends.append(arb(0))
        return _hull(ends, ends)


def range_of(low: Fraction | float, high: Fraction | float) -> Range:
    """The range between two ends; a float is an infinity."""
    ends = [balls.ball(low)], [balls.ball(high)]
    return _hull(*ends)


def _gauss_factor() -> Range:
    factor = 2 / arb.pi().sqrt()
    return _hull([factor], [factor])


def _range(value: Range | int) -> Range:
    return value if isinstance(value, Range) else Range(arb(value), arb(value))


def _hull(lows: list[arb], highs: list[arb]) -> Range:
    """From the least lower end to the greatest upper end; nan anywhere gives nan."""
    if any(end.is_nan() for end in (*lows, *highs)):
        return _UNDEFINED
    below, above = [end.lower() for end in lows], [end.upper() for end in highs]
    low, high = below[0], above[0]
    for end in below[1:]:
        low = end if end < low else low
    for end in above[1:]:
        high = end if end > high else high
    return Range(low, high)


def _at(name: str, end: arb) -> arb:
    if _infinite(end):
        return _LIMITS[name][end > 0]
    if name == "sqrt" and end == 0:
        return arb(0)
    return Balls().function(name, end)


def _power(end: arb, exponent: int) -> arb:
    if _infinite(end):
        return end if exponent % 2 or end > 0 else -end
    return end**exponent


def _infinite(end: arb) -> bool:
    return bool(end == _INFINITY or end == -_INFINITY)


_UNDEFINED: Final = Range(arb.nan(), arb.nan())
