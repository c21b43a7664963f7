"""Exponential sums: rational combinations of monomials, and quotients of them in lowest terms."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb
from typing import Final, TypeAlias

from flint import Ordering, arb, fmpq, fmpq_mpoly, fmpq_mpoly_ctx

from dpexact.errors import UnsupportedMechanism
from dpexact.tradeoffs import monomials
from dpexact.tradeoffs.monomials import UNIT, Monomial

Sum: TypeAlias = dict[Monomial, Fraction]
"""An exponential sum: monomials with their rational coefficients, none of them 0."""

ONE: Final[Sum] = {UNIT: Fraction(1)}
#: Common factors are sought between sums of at most this many terms and this total degree.
REDUCED_TERMS: Final = 300
REDUCED_DEGREE: Final = 2_000
#: Products of more terms are not written out: sums of different denominators grow without end.
MAX_PRODUCT: Final = 250_000
#: Most terms of a denominator that sums in a row are brought to.
SHARED_TERMS: Final = 2_000
#: The last denominator whose sign was asked for, and the sign.
_LAST: Final[list[tuple[Sum, int]]] = [({}, 0)]


def ball(terms: Sum) -> arb:
    """The value at the current precision."""
    total = arb(0)
    for monomial, coefficient in terms.items():
        # two roundings, rather than a greatest common divisor of large integers
        total += monomials.ball(monomial) * coefficient.numerator / coefficient.denominator
    return total


def plain_sign(terms: Sum) -> int:
    """The sign when all coefficients share it, as monomials are positive; 0 if they do not."""
    signs = {1 if coefficient.numerator > 0 else -1 for coefficient in terms.values()}
    return signs.pop() if len(signs) == 1 else 0


def shared_sign(terms: Sum) -> int:
    """Likewise, of a denominator that many numbers in a row share."""
    last, found = _LAST[0]  # at once, as other threads ask too
    if terms is not last:
        found = plain_sign(terms)
        _LAST[0] = terms, found
    return found


def add(a: Sum, b: Sum) -> Sum:
    """``a + b``."""
    small, large = (a, b) if len(a) < len(b) else (b, a)
    total = dict(large)
    for monomial, coefficient in small.items():
        merged = total.get(monomial, 0) + coefficient
        if merged:
            total[monomial] = Fraction(merged)
        else:
            del total[monomial]
    return total


def multiply(a: Sum, b: Sum) -> Sum:
    """``a * b``."""
    if a == ONE or b == ONE:
        return b if a == ONE else a
    if len(a) * len(b) > MAX_PRODUCT:
        raise UnsupportedMechanism(
            f"an exact number of up to {len(a) * len(b)} exponential terms is not written out"
        )
    total: Sum = {}
    for m, c in a.items():
        for n, d in b.items():
            factor, monomial = monomials.product(m, n)
            total[monomial] = total.get(monomial, Fraction(0)) + factor * c * d
    return {m: c for m, c in total.items() if c}


def power(a: Sum, times: int) -> Sum:
    """``a ^ times`` for ``times >= 0``; by the binomial theorem for two terms."""
    if not a or not times:
        return {} if times else ONE
    if len(a) > 2:
        half = power(a, times // 2)
        square = multiply(half, half)
        return multiply(square, a) if times % 2 else square
    total: Sum = {}
    for j in range(times + 1 if len(a) == 2 else 1):
        c, monomial = Fraction(comb(times, j)), UNIT
        for (m, coefficient), k in zip(a.items(), (times - j, j), strict=False):
            factor, raised = monomials.power(m, k)
            shift, monomial = monomials.product(monomial, raised)
            c *= coefficient**k * factor * shift
        total[monomial] = total.get(monomial, Fraction(0)) + c
    return {m: c for m, c in total.items() if c}


# --- lowest terms ---------------------------------------------------------------------------------


def reduced(numerator: Sum, denominator: Sum) -> tuple[Sum, Sum]:
    """The same quotient with the smallest monomial of the denominator 1, in lowest terms if small.

    Cores count as independent variables: a common factor of the polynomials is one of the values.
    """
    if 1 < len(numerator) <= REDUCED_TERMS and 1 < len(denominator) <= REDUCED_TERMS:
        numerator, denominator = _lowest_terms(numerator, denominator)
    cores = sorted({core for monomial in denominator for core, _, _ in monomial})
    leading = min(denominator, key=lambda m: monomials.order(m, cores))
    scale = denominator[leading]
    if leading != UNIT or scale != 1:
        factor, inverse = monomials.power(leading, -1)
        shift = {inverse: factor / scale}
        numerator, denominator = multiply(numerator, shift), multiply(denominator, shift)
    return numerator, denominator


def _lowest_terms(numerator: Sum, denominator: Sum) -> tuple[Sum, Sum]:
    """Cores as polynomial variables ``e^(core/unit)``, with exponents moved to start at 0."""
    powers = [{core: (n, d) for core, n, d in m} for m in (*numerator, *denominator)]
    cores = sorted({core for row in powers for core in row})
    units = [math.lcm(*(row[core][1] for row in powers if core in row)) for core in cores]
    columns = [
        [n * (unit // d) for n, d in (row.get(core, (0, 1)) for row in powers)]
        for core, unit in zip(cores, units, strict=True)
    ]
    if sum(max(column) - min(column) for column in columns) > REDUCED_DEGREE:
        return numerator, denominator
    rows = list(zip(*([x - min(column) for x in column] for column in columns), strict=True))
    context = fmpq_mpoly_ctx.get([f"x{i}" for i in range(len(cores))], Ordering.lex)
    rationals = [fmpq(*c.as_integer_ratio()) for c in (*numerator.values(), *denominator.values())]
    terms, first = list(zip(rows, rationals, strict=True)), len(numerator)
    top, bottom = context.from_dict(dict(terms[:first])), context.from_dict(dict(terms[first:]))
    shared = top.gcd(bottom)
    if shared.total_degree() == 0:
        return numerator, denominator

    def back(polynomial: fmpq_mpoly) -> Sum:
        # the shift is common to both and drops out of the quotient; degrees only fall, so integer
        # powers of rationals, folded before, do not come back
        return {
            tuple(
                (core, *Fraction(int(exponent), unit).as_integer_ratio())
                for core, unit, exponent in zip(cores, units, row, strict=True)
                if exponent
            ): Fraction(int(coefficient.p), int(coefficient.q))
            for row, coefficient in polynomial.to_dict().items()
        }

    return back(top // shared), back(bottom // shared)


def exponent_bits(a: Sum) -> int:
    """The size of the longest coefficient in an exponent: exponents may be as close as that."""
    sizes = (n.bit_length() + d.bit_length() for monomial in a for _, n, d in monomial)
    return max(sizes, default=0)
