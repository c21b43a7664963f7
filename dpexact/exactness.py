"""What is visibly exact about expressions: rational exponentials and rational ratios."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Final

from dpexact import reals
from dpexact.reals import Real, rational_root

_ZERO: Final = Fraction(0)
_ONE: Final = Fraction(1)
#: Factors of longer products are not looked for.
_MOST_FACTORS: Final = 500


def exp_fraction(value: Real, limit_bits: int = 4096) -> Fraction | None:
    """``e^value`` as a ``Fraction`` when visibly rational and of moderate size, else ``None``.

    Recognises integer and rational combinations of logarithms of rationals, such as ``3*log(3/2)``
    or ``log(4)/2``.
    """
    combination = _log_combination(value)
    if combination is None:
        return None
    denominator = math.lcm(*(c.denominator for c in combination.values()))
    result = _ONE
    for base, coefficient in combination.items():
        exponent = int(coefficient * denominator)
        size = base.numerator.bit_length() + base.denominator.bit_length()
        if size * abs(exponent) > limit_bits:
            return None
        result *= base**exponent
    return rational_root(result, denominator)


def exponential(value: Real) -> Real:
    """``e^value``, folded to a rational where it visibly is one."""
    power = exp_fraction(value)
    return reals.exponential(value) if power is None else reals.rational(power)


def quotient(a: Real, b: Real) -> Real:
    """``a / b``, with ``a / (c / x)`` written as ``a x / c`` so that logarithms stay visible."""
    if b.operator == "/" and b.arguments[0].fraction:
        return a / b.arguments[0] * b.arguments[1]
    return a / b


def log_ratio(a: Real, b: Real) -> Real:
    """``log(a / b)`` of positive numbers, without what visibly divides both.

    >>> from dpexact.conversion import real
    >>> log_ratio(real("exp(2)/(1+exp(2))/3"), real("1/(1+exp(2))/3"))
    Real('2')
    """
    powers: Counter[Real] = Counter()
    left, seen = [(a, 1), (b, -1)], 0
    while left:
        factor, power = left.pop()
        seen += 1
        if seen > _MOST_FACTORS:
            return reals.logarithm(a / b)
        match factor.operator, factor.arguments:
            case "*", (one, other):
                left += [(one, power), (other, power)]
            case "/", (one, other):
                left += [(one, power), (other, -power)]
            case "^", (one, Real(fraction=Fraction() as times)):
                left.append((one, power * int(times)))
            case _:
                powers[factor] += power
    loss, rest = reals.ZERO, reals.ONE
    for factor, power in powers.items():
        if factor.operator == "exp" or factor == reals.E:
            loss = loss + power * reals.logarithm(factor)
        elif power:
            rest = rest * factor**power
    return loss + reals.logarithm(rest)


def exact_ratio(a: Real, b: Real) -> Fraction | None:
    """``a / b`` as a ``Fraction`` when the two are visibly rational multiples, else ``None``.

    Two combinations of logarithms of rationals are always decided.

    >>> from dpexact.conversion import real
    >>> exact_ratio(real("log(3/2)*3"), real("log(3/2)"))
    Fraction(3, 1)
    """
    (factor_a, core_a), (factor_b, core_b) = _split_factor(a), _split_factor(b)
    if factor_b == 0:
        return None
    if core_a == core_b or factor_a == 0:
        return factor_a / factor_b
    if core_a is not None and core_b is not None and core_a.operator == core_b.operator == "sqrt":
        radicand_a, radicand_b = core_a.arguments[0].fraction, core_b.arguments[0].fraction
        if radicand_a is not None and radicand_b is not None:
            root = rational_root(radicand_a / radicand_b, 2)
            return root and root * factor_a / factor_b
    logs_a, logs_b = _log_combination(a), _log_combination(b)
    if not logs_a or not logs_b:
        return None
    return _proportion(*_over_coprime_bases(logs_a, logs_b))


def _proportion(a: dict[int, Fraction], b: dict[int, Fraction]) -> Fraction | None:
    """``t`` with ``a = t b``, for ``b`` not 0; None if there is none."""
    if a.keys() != b.keys():
        return None
    ratios = {a[base] / b[base] for base in a}
    return ratios.pop() if len(ratios) == 1 else None


def _over_coprime_bases(*combinations: dict[Fraction, Fraction]) -> list[dict[int, Fraction]]:
    """The same combinations of logarithms of integers above 1 of which no two share a factor.

    Those logarithms are independent over the rationals: a relation would be an equation between
    products of powers, which unique factorisation forbids. So the coefficients are unique.
    """
    bases: list[int] = []
    for combination in combinations:
        for base in combination:
            for part in (base.numerator, base.denominator):
                bases = _refined(bases, part)
    found = []
    for combination in combinations:
        total = dict.fromkeys(bases, _ZERO)
        for base, coefficient in combination.items():
            for prime in bases:
                power = _valuation(base.numerator, prime) - _valuation(base.denominator, prime)
                total[prime] += power * coefficient
        found.append({base: c for base, c in total.items() if c})
    return found


def _refined(bases: list[int], number: int) -> list[int]:
    """Pairwise coprime integers above 1 of which the coprime ``bases`` and ``number`` are products

    of powers.
    """
    pending, coprime = [*bases, number], list[int]()
    while pending:
        x = pending.pop()
        if x == 1:
            continue
        for i, y in enumerate(coprime):
            common = math.gcd(x, y)
            if common > 1:
                del coprime[i]
                pending += [common, x // common, y // common]
                break
        else:
            coprime.append(x)
    return coprime


def _valuation(number: int, base: int) -> int:
    """How often ``base`` divides ``number``."""
    power = 0
    while number % base == 0:
        number //= base
        power += 1
    return power


def _split_factor(value: Real) -> tuple[Fraction, Real | None]:
    """``value`` as a rational factor times a core; the core of a rational is ``None``."""
    if value.fraction is not None:
        return value.fraction, None
    if value.operator in ("*", "/"):
        a, b = value.arguments
        if b.fraction is not None:
            factor, core = _split_factor(a)
            return (factor * b.fraction if value.operator == "*" else factor / b.fraction), core
        if value.operator == "*" and a.fraction is not None:
            factor, core = _split_factor(b)
            return factor * a.fraction, core
    return _ONE, value


def _log_combination(value: Real) -> dict[Fraction, Fraction] | None:
    """``{r: c}`` with ``value = sum of c*log(r)``, or ``None``."""
    if value.fraction is not None:
        return {} if value.fraction == 0 else None
    if value.operator == "log" and (base := value.arguments[0].fraction) is not None:
        return {base: _ONE}
    if value.operator == "+":
        left, right = (_log_combination(part) for part in value.arguments)
        if left is None or right is None:
            return None
        merged = dict(left)
        for base, coefficient in right.items():
            merged[base] = merged.get(base, _ZERO) + coefficient
        return {base: c for base, c in merged.items() if c}
    if value.operator in ("*", "/"):
        a, b = value.arguments
        if value.operator == "*" and a.fraction is not None:
            a, b = b, a
        factor, part = b.fraction, _log_combination(a)
        if factor is None or part is None:
            return None
        factor = factor if value.operator == "*" else 1 / factor
        return {base: c * factor for base, c in part.items()}
    return None
