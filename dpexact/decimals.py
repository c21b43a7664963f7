"""Exact bounds as decimal text and as floats, rounded in the direction asked for."""

from __future__ import annotations

import math
import sys
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

Bound: TypeAlias = Fraction | float
"""An exact bound: a ``Fraction``, or an infinity (the only floats that occur)."""

#: Longer integers are slow to convert to ``Decimal``.
_SLOW_BITS: Final = 4096


def at_most(a: Bound, b: Bound) -> bool:
    """Whether ``a <= b``: in whole numbers, as this is asked of every answer."""
    if type(a) is Fraction and type(b) is Fraction:
        return a.numerator * b.denominator <= b.numerator * a.denominator
    return a <= b


def log_of(value: Fraction) -> float:
    """Proposes: about the natural logarithm of a positive ``value`` of any size, also next to 1."""
    if 1 < 2 * value < 4:
        return math.log1p(float(value - 1))
    return math.log(value.numerator) - math.log(value.denominator)


def format_decimal(value: Bound, significant: int, rounding: str) -> str:
    """``value`` as decimal text with ``significant`` digits in the given rounding direction."""
    if not isinstance(value, Fraction):
        return str(value)
    rounded = divided(value, significant, rounding)
    if not rounded:
        return "0"
    sign, digits, exponent = rounded.as_tuple()
    assert isinstance(exponent, int)
    keep = len(digits)
    while keep > 1 and digits[keep - 1] == 0:
        keep -= 1
    exponent += len(digits) - keep
    if exponent > 0 and keep + exponent <= significant:  # 1200 rather than 1.2e+3
        keep, exponent = keep + exponent, 0
    return str(Decimal((sign, digits[:keep], exponent))).lower().replace("e+", "e")


def float_down(value: Bound) -> float:
    """The largest float ``<= value``."""
    return 0.0 - float_up(-value)  # never -0.0


def float_up(value: Bound) -> float:
    """The smallest float ``>= value``."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max
    exact = Fraction(nearest) if math.isfinite(nearest) else nearest
    return nearest if at_most(value, exact) else math.nextafter(nearest, math.inf)


def divided(value: Fraction, significant: int, rounding: str) -> Decimal:
    """``value`` in ``significant`` digits, rounded in the given direction."""
    context = Context(prec=significant, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX)
    bits = value.numerator.bit_length() - value.denominator.bit_length()
    if max(value.numerator.bit_length(), value.denominator.bit_length()) < _SLOW_BITS:
        return context.divide(Decimal(value.numerator), Decimal(value.denominator))
    # of long numbers only the digits that are wanted, and one that tells whether more follow
    shift = significant + 3 - math.floor(bits * math.log10(2))
    up, down = _power_of_ten(max(shift, 0)), _power_of_ten(max(-shift, 0))
    top, rest = divmod(abs(value.numerator) * up, value.denominator * down)
    digits = Decimal(top * 10 + bool(rest)).as_tuple().digits
    return context.plus(Decimal((int(value < 0), digits, -shift - 1)))


@lru_cache(maxsize=4)
def _power_of_ten(exponent: int) -> int:
    return int(10**exponent)


def read_bound(text: str) -> Bound:
    """The exact value of decimal text, or an infinity."""
    return float(text) if text in ("inf", "-inf") else Fraction(Decimal(text))


def padded(text: str, significant: int) -> str:
    """Restore the trailing zeros, which are digits too; 0 and infinity have none."""
    if text in ("0", "inf", "-inf"):
        return text
    mantissa, e, exponent = text.partition("e")
    shown = len(mantissa.replace(".", "").lstrip("0-"))
    if shown < significant:
        mantissa += ("" if "." in mantissa else ".") + "0" * (significant - shown)
    return mantissa + e + exponent
