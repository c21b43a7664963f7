r"""Exponents kept exactly: monomials :math:`e^{c_1 x_1 + c_2 x_2 + \dots}`.

A :data:`Monomial` is the sorted tuple of the triples ``(text, numerator, denominator)``: the text
of a core ``x`` in the grammar of numbers, and the rational coefficient of ``x`` in the exponent.
Rational exponents share the core ``1``; logarithms are split over primes, and their integer parts
leave the exponent. So ``e^(1/3) e^(1/6)`` and ``e^(1/2)`` are the same object, and so are
``sqrt(2) sqrt(2)`` and ``2``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

from flint import arb, fmpq, fmpz

from dpexact import balls, reals
from dpexact.conversion import parse_real
from dpexact.reals import Real

Monomial: TypeAlias = tuple[tuple[str, int, int], ...]

#: The exponent 0.
UNIT: Final[Monomial] = ()
#: Numbers up to this many bits are split into primes.
FACTOR_BITS: Final = 64


def exponential(value: Real) -> tuple[Fraction, Monomial]:
    """``(c, m)`` with ``e^value = c * m``."""
    return _folded(_linear(value).items())


@lru_cache(maxsize=1 << 16)
def product(a: Monomial, b: Monomial) -> tuple[Fraction, Monomial]:
    """``(c, m)`` with ``a * b = c * m``."""
    merged: dict[str, tuple[int, int]] = {core: (n, d) for core, n, d in a}
    for core, n, d in b:
        if core in merged:
            n0, d0 = merged[core]
            n, d = n0 * d + n * d0, d0 * d
            shared = math.gcd(n, d)
            n, d = n // shared, d // shared
        merged[core] = (n, d)
    return _settled(merged)


def power(a: Monomial, times: int) -> tuple[Fraction, Monomial]:
    """``(c, m)`` with ``a ^ times = c * m``, for any integer ``times``."""
    return _folded((parse_real(core), Fraction(n * times, d)) for core, n, d in a)


def order(a: Monomial, cores: Iterable[str]) -> tuple[Fraction, ...]:
    """The coefficients along ``cores``: an order that multiplication respects."""
    coefficients = {core: Fraction(n, d) for core, n, d in a}
    return tuple(coefficients.get(core, Fraction(0)) for core in cores)


def ball(a: Monomial) -> arb:
    """The value at the current precision."""
    total = arb(0)
    for core, n, d in a:
        total += balls.ball(_core(core)) * fmpq(n, d)
    return total.exp()


def real(a: Monomial) -> Real:
    """The exponent as an expression."""
    total = reals.rational(0)
    for core, n, d in a:
        total += Fraction(n, d) * _core(core)
    return total


@lru_cache(maxsize=1024)
def _core(text: str) -> Real:
    return parse_real(text)


# --- linear combinations over the rationals -------------------------------------------------------


def _linear(value: Real) -> dict[Real, Fraction]:
    """``value`` as ``sum of c * core``: rationals, square roots, prime logarithms, the rest."""
    if value.fraction is not None:
        return {reals.rational(1): value.fraction} if value.fraction else {}
    a, b = (*value.arguments, None, None)[:2]
    match value.operator:
        case "+" if a is not None and b is not None:
            one, other = _linear(a), _linear(b)
            return {core: one.get(core, 0) + other.get(core, Fraction(0)) for core in one | other}
        case "*" if a is not None and b is not None:
            if a.fraction is not None:
                return _scaled(_linear(b), a.fraction)
            if b.fraction is not None:
                return _scaled(_linear(a), b.fraction)
        case "/" if a is not None and b is not None:
            if b.fraction is not None:
                return _scaled(_linear(a), 1 / b.fraction)
            if a.fraction is not None:
                return _reciprocal(a.fraction, b)
        case "sqrt" if a is not None and a.fraction is not None:
            return _root(a.fraction)
        case "log" if a is not None and a.fraction is not None:
            return _logarithm(a.fraction)
    return {value: Fraction(1)}


def _scaled(a: dict[Real, Fraction], factor: Fraction) -> dict[Real, Fraction]:
    return {core: c * factor for core, c in a.items()}


def _reciprocal(numerator: Fraction, value: Real) -> dict[Real, Fraction]:
    """``numerator / value`` with ``1/(c sqrt(n))`` written as ``sqrt(n)/(c n)``."""
    parts = _linear(value)
    if len(parts) == 1:
        ((core, c),) = parts.items()
        if core.operator == "sqrt" and (radicand := core.arguments[0].fraction) is not None:
            return {core: numerator / (c * radicand)}
        if core.operator == "/" and core.arguments[0].fraction == 1:
            return _scaled(_linear(core.arguments[1]), numerator / c)
        return {1 / core: numerator / c}
    return {1 / value: numerator}


def _root(radicand: Fraction) -> dict[Real, Fraction]:
    """``sqrt(n/d) = c sqrt(m)`` with ``m`` square-free where it can be factored."""
    inside, outside = radicand.numerator * radicand.denominator, 1
    if inside.bit_length() <= FACTOR_BITS:
        for prime, times in fmpz(inside).factor():
            outside *= int(prime) ** (times // 2)
    core = reals.square_root(reals.rational(inside // outside**2))
    return {core: Fraction(outside, radicand.denominator)}


def _logarithm(value: Fraction) -> dict[Real, Fraction]:
    parts: dict[Real, Fraction] = {}
    for n, direction in ((value.numerator, 1), (value.denominator, -1)):
        # of a fraction in lowest terms no factor comes twice
        for prime, times in fmpz(n).factor() if n.bit_length() <= FACTOR_BITS else [(n, 1)]:
            if prime != 1:
                core = reals.logarithm(reals.rational(int(prime)))
                parts[core] = Fraction(direction * times)
    return parts


def _folded(parts: Iterable[tuple[Real, Fraction]]) -> tuple[Fraction, Monomial]:
    return _settled({str(core): c.as_integer_ratio() for core, c in parts})


def _settled(parts: dict[str, tuple[int, int]]) -> tuple[Fraction, Monomial]:
    """Sorted and without zeros; integer powers of rationals leave the exponent."""
    factor = Fraction(1)
    kept = []
    for text in sorted(parts):
        n, d = parts[text]
        base = _core(text).arguments[0].fraction if text.startswith("log(") else None
        if base is not None and _core(text).operator == "log":
            whole, n = divmod(n, d)
            raised = (reals.rational(base) ** whole).fraction
            assert raised is not None
            factor *= raised
        if n:
            kept.append((text, n, d))
    return factor, tuple(kept)
