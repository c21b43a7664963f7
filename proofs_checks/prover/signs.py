"""Signs of quotients of polynomials that are plain once the variables are written well."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import sympy

from proofs_checks.prover.expressions import rational
from proofs_checks.statements.statement import Variable


def by_signs(difference: Any, sign: str, variables: Iterable[Variable]) -> bool:
    """Whether the sign is plain once every bounded variable is written with a positive one.

    ``x = a + s`` for ``x >= a``, ``x = b - s`` for ``x <= b`` and ``x = (a + b s)/(1 + s)``
    inside ``[a, b]``, a point of closure at ``b``: so a strict sign needs an open end there, and a
    positive coefficient of a monomial in variables that are strictly positive.
    """
    if difference.is_Rational:
        return bool(difference > 0 if sign == ">" else difference >= 0)
    variables = tuple(variables)
    moved = difference
    fresh, strictly = [], set()
    for each in variables:
        old = next((s for s in difference.free_symbols if s.name == each.name), None)
        if old is None:
            continue
        new = sympy.Symbol(f"{each.name}_", nonnegative=True)
        if each.low is None and each.high is None:
            return False
        if each.high is None:
            value = rational(each.low or 0) + new
            is_open = each.low_open
        elif each.low is None:
            value, is_open = rational(each.high) - new, each.high_open
        else:
            value = (rational(each.low) + rational(each.high) * new) / (1 + new)
            is_open = each.low_open
            if not each.high_open and not _at_end(difference, sign, old, each, variables):
                return False
        moved = moved.subs(old, value)
        fresh.append(new)
        if is_open:
            strictly.add(new)
    if not moved.is_rational_function(*fresh) or not is_rational(moved, fresh):
        return False
    above, below = (
        sympy.Poly(part, *fresh, domain="QQ") if fresh else None
        for part in sympy.fraction(sympy.together(moved))
    )
    if above is None or below is None:
        return False
    if all(c <= 0 for c in below.coeffs()):
        above, below = -above, -below
    # a denominator that vanishes only at the ends of an open domain does no harm
    if any(c < 0 for c in (*above.coeffs(), *below.coeffs())) or below.is_zero:
        return False
    return _positive(below, strictly) and (sign == ">=" or _positive(above, strictly))


def by_factors(difference: Any, variables: tuple[Variable, ...]) -> bool:
    """Whether a quotient of polynomials is not negative, by the sign of each odd factor."""
    free = sorted(difference.free_symbols, key=str)
    if not difference.is_rational_function(*free) or not is_rational(difference, free):
        return False
    above, below = sympy.fraction(sympy.together(difference))
    leading, factors = sympy.factor_list(sympy.expand(above))
    signs = [1 if leading > 0 else -1]
    wanted = [(factor, ">=") for factor, power in factors if power % 2] + [(below, ">")]
    for part, relation in wanted:
        way = next((s for s in (1, -1) if by_signs(s * part, relation, variables)), None)
        if way is None:
            return False
        signs.append(way)
    return prod(signs) > 0


def is_rational(found: Any, free: Iterable[Any]) -> bool:
    """Whether an expression is a quotient of polynomials with rational coefficients."""
    numbers = found.atoms(sympy.Number, sympy.NumberSymbol)
    return (
        found.is_rational_function(*free)
        and all(n.is_Rational for n in numbers)
        and not found.has(sympy.exp)  # exp(-1) is no number symbol
        and not any(not power.exp.is_Integer for power in found.atoms(sympy.Pow))
    )


def _at_end(
    difference: Any, sign: str, old: Any, each: Variable, variables: Iterable[Variable]
) -> bool:
    """Whether nothing goes wrong at the upper end, which the substitution does not reach."""
    others = [one for one in variables if one.name != each.name]
    if sign == ">":
        return by_signs(difference.subs(old, rational(each.high or 0)), sign, others)
    if difference.is_polynomial(old):
        return True
    below = sympy.fraction(sympy.together(difference))[1].subs(old, rational(each.high or 0))
    return any(by_signs(sympy.expand(way * below), ">", others) for way in (1, -1))


def _positive(polynomial: Any, strictly: set[Any]) -> bool:
    """Whether a polynomial with coefficients >= 0 is positive where ``strictly`` are."""
    return any(
        c > 0
        and all(
            not power or g in strictly for g, power in zip(polynomial.gens, powers, strict=True)
        )
        for powers, c in polynomial.terms()
    )
