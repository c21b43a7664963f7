r"""Verify a certificate with the standard library alone: ``python -m dpexact.certificate_checker``.

This file imports nothing else of the project and shares no code with what writes certificates.
``docs/certificates.md`` specifies the format; the theorems are named where they are used. All
arithmetic is on integers and fractions with outward rounding; ``exp`` and ``log`` are rational
series with a bound on the remainder.

The privacy profile of a product of independent losses is computed as

.. math:: \delta(\varepsilon) = D + \sum_l p_l\, C(\varepsilon - l),

over the law ``p`` of the finite losses ``l`` with countably many values, where ``D`` is the mass
of infinite loss and ``C`` the profile of the continuous part: ``(1 - e^x)_+`` without one, else
that of one Gaussian or of Laplace steps. ``C`` decreases and lies in ``[0, 1]``, so masses rounded
down, with what they miss counted at the largest loss, bound the sum on both sides.

Exit code 0: everything is verified; 1: something is wrong or cannot be verified; 2: not a
certificate.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, reduce
from itertools import pairwise
from typing import Any, Final, NoReturn, TypeAlias

FORMAT: Final = "dpexact certificate"
VERSION: Final = "1"
MAX_BYTES: Final = 32_000_000
MAX_DEPTH: Final = 100
MAX_TEXT: Final = 4_000
MAX_COUNT: Final = 10**18
MAX_TERMS: Final = 1_000_000
MAX_BITS: Final = 8_000
MAX_POINTS: Final = 500_000
MAX_USERS: Final = 20_000
WIDE: Final = 200
MAX_CASES: Final = 64
MAX_ORDER: Final = 2048
MAX_WORK: Final = 10**10
"""Of one statement: some twenty seconds."""
EXACT_BITS: Final = 30_000
MAX_SIZE: Final = 400_000
"""Of a number, in bits."""
RATIONAL: Final = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?", re.ASCII)


class Unreadable(Exception):
    """The file is not a certificate of this format."""


class Invalid(Exception):
    """A statement is not verified."""


class Refuted(Invalid):
    """The truth lies outside the bounds."""


class Undecided(Invalid):
    """More bits might verify the statement."""


# --- intervals with rational ends -----------------------------------------------------------------


class Arithmetic:
    """Outward rounding to ``bits`` significant bits, and a budget of work."""

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.left: int = MAX_WORK

    def spend(self, operations: int, bits: int = 0) -> None:
        """Count operations on numbers of so many bits."""
        size = bits or self.bits
        self.left -= operations * (300 + size + size * size // 500)
        if self.left < 0:
            raise Invalid("more work than this checker does")

    def down(self, x: Fraction) -> Fraction:
        """A short fraction at most ``x``."""
        n, d = x.numerator, x.denominator
        shift = self.bits - n.bit_length() + d.bit_length()
        if shift >= 0:
            return Fraction((n << shift) // d, 1 << shift)
        return Fraction(n // (d << -shift) << -shift)

    def make(self, low: Fraction, high: Fraction) -> Interval:
        """``[low, high]``, rounded outward unless it is one number of moderate size."""
        size = max(_size(low), _size(high))
        if size > MAX_SIZE:
            raise Invalid("a number beyond the range of this checker")
        if size <= self.bits or (low == high and size <= EXACT_BITS):
            return Interval(low, high, self)
        return Interval(self.down(low), -self.down(-high), self)

    def exact(self, x: Fraction | int) -> Interval:
        """The number ``x``."""
        return Interval(Fraction(x), Fraction(x), self)


def _size(x: Fraction) -> int:
    return x.numerator.bit_length() + x.denominator.bit_length()


@dataclass(frozen=True, slots=True)
class Interval:
    """All real numbers between two rational ones."""

    lo: Fraction
    hi: Fraction
    a: Arithmetic = field(repr=False, compare=False)

    @property
    def fraction(self) -> Fraction | None:
        """The number, if it is one."""
        return self.lo if self.lo == self.hi else None

    def __add__(self, other: Interval | int) -> Interval:
        y = self._other(other)
        return self.a.make(self.lo + y.lo, self.hi + y.hi)

    def __neg__(self) -> Interval:
        return Interval(-self.hi, -self.lo, self.a)

    def __sub__(self, other: Interval | int) -> Interval:
        return self + -self._other(other)

    def __mul__(self, other: Interval | int | Fraction) -> Interval:
        y = self._other(other)
        if self.lo >= 0 and y.lo >= 0:
            return self.a.make(self.lo * y.lo, self.hi * y.hi)
        ends = [u * v for u in (self.lo, self.hi) for v in (y.lo, y.hi)]
        return self.a.make(min(ends), max(ends))

    def __truediv__(self, other: Interval | int) -> Interval:
        y = self._other(other)
        if y.lo <= 0 <= y.hi:
            raise Undecided("a divisor cannot be told from 0")
        return self * self.a.make(1 / y.hi, 1 / y.lo)

    def __pow__(self, exponent: int) -> Interval:
        """An integer power of a positive number."""
        base = self if exponent >= 0 else self.a.exact(1) / self
        n = abs(exponent)
        result = self.a.exact(1)
        while n:
            if n & 1:
                result = result * base
            n >>= 1
            if n:
                base = base * base
        return result

    def positive_part(self) -> Interval:
        """``max(x, 0)``."""
        zero = Fraction(0)
        return Interval(max(self.lo, zero), max(self.hi, zero), self.a)

    def _other(self, other: Interval | int | Fraction) -> Interval:
        return other if isinstance(other, Interval) else self.a.exact(other)


def exp(x: Interval) -> Interval:
    """``e^x``."""
    if x.lo == x.hi == 0:
        return x.a.exact(1)
    low = _exp_end(x.lo, x.a)
    high = low if x.lo == x.hi else _exp_end(x.hi, x.a)
    return x.a.make(low.lo, high.hi)


def _exp_end(x: Fraction, a: Arithmetic) -> Interval:
    """Taylor's series at ``|x|/2^k < 2^-8``, squared ``k`` times, in units of ``2^-shift``."""
    if abs(x) > 50_000:
        raise Invalid("an exponential beyond the range of this checker")
    k = max(0, math.ceil(abs(x)).bit_length() + 8)
    a.spend(a.bits // 8 + k)
    bits = a.bits + k + 16
    shift = bits + 8
    ends = _series(Fraction(1), abs(x) / 2**k, 0, 1, shift)
    low, high = (int(end * (1 << shift)) for end in ends)
    for _ in range(k):
        low, high, shift = low * low, high * high, 2 * shift
        more = high.bit_length() - bits
        low, high, shift = low >> more, -(-high >> more), shift - more
    below, above = (end * Fraction(2) ** -shift for end in (low, high))
    return Interval(below, above, a) if x >= 0 else Interval(1 / above, 1 / below, a)


def _series(
    first: Fraction, ratio: Fraction, divisor: int, step: int, shift: int
) -> tuple[Fraction, Fraction]:
    """``first (1 + ratio/d (1 + ratio/d' (1 + ...)))`` in units of ``2^-shift``, below and above.

    ``d, d', ...`` follow ``divisor`` in steps. Terms at least halve from ``2 ratio`` on: what is
    left out is at most the last one.
    """
    scale = 1 << shift
    low, high = math.floor(first * scale), math.ceil(first * scale)
    ratio_low, ratio_high = math.floor(ratio * scale), math.ceil(ratio * scale)
    term_low, term_high = low, high
    while term_high > 1 or divisor < 2 * ratio:
        divisor += step
        term_low = (term_low * ratio_low >> shift) // divisor
        term_high = -((-term_high * ratio_high >> shift) // divisor)
        low, high = low + term_low, high + term_high
    return Fraction(low, scale), Fraction(high + term_high, scale)


def log(x: Interval) -> Interval:
    """``log x``, for ``x > 0``."""
    if x.lo <= 0:
        raise Undecided("the argument of a logarithm cannot be told from 0")
    if x.lo == x.hi == 1:
        return x.a.exact(0)
    low = _log_end(x.lo, x.a)
    high = low if x.lo == x.hi else _log_end(x.hi, x.a)
    return x.a.make(low.lo, high.hi)


def _log_end(x: Fraction, a: Arithmetic) -> Interval:
    """``n log 2 + 2 artanh((f-1)/(f+1))`` for ``x = 2^n f``, ``1/2 < f < 2``."""
    n = x.numerator.bit_length() - x.denominator.bit_length()
    f = x / Fraction(2) ** n
    fine = Arithmetic(a.bits + 2 * abs(n).bit_length() + 16)
    a.spend(2 * a.bits)
    two = fine.make(*_log_two(fine.bits))
    found = _artanh(f, fine) + two * n
    return Interval(found.lo, found.hi, a)


@lru_cache(maxsize=64)
def _log_two(bits: int) -> tuple[Fraction, Fraction]:
    found = _artanh(Fraction(2), Arithmetic(bits))
    return found.lo, found.hi


def _artanh(f: Fraction, a: Arithmetic) -> Interval:
    """``log f = 2 artanh z``, ``z = (f-1)/(f+1)``."""
    low, high = _artanh_series(abs((f - 1) / (f + 1)), a.bits + 16)
    found = a.make(2 * low, 2 * high)
    return found if f >= 1 else -found


def _artanh_series(z: Fraction, shift: int) -> tuple[Fraction, Fraction]:
    """``sum z^(2i+1)/(2i+1)``, ``z <= 1/3``, below and above in units of ``2^-shift``.

    Powers fall by 9 at least: what is left out is below twice its first power.
    """
    scale = 1 << shift
    low = high = 0
    power_low, power_high, n = math.floor(z * scale), math.ceil(z * scale), 1
    square_low, square_high = power_low**2 >> shift, -(-(power_high**2) >> shift)
    while power_high > 1:
        low, high = low + power_low // n, high - (-power_high // n)
        power_low = power_low * square_low >> shift
        power_high = -(-power_high * square_high >> shift)
        n += 2
    return Fraction(low, scale), Fraction(high + 2 * power_high, scale)


def sqrt(x: Interval) -> Interval:
    """The square root of ``x >= 0``."""
    if x.lo < 0:
        raise Undecided("the argument of a square root cannot be told from a negative number")

    def root(y: Fraction, up: int) -> Fraction:
        n, d = math.isqrt(y.numerator), math.isqrt(y.denominator)
        if n * n == y.numerator and d * d == y.denominator:
            return Fraction(n, d)
        shift = max(0, x.a.bits + (y.denominator.bit_length() - y.numerator.bit_length()) // 2 + 1)
        return Fraction(math.isqrt((y.numerator << 2 * shift) // y.denominator) + up, 1 << shift)

    return x.a.make(root(x.lo, 0), root(x.hi, 1))


def pi(a: Arithmetic) -> Interval:
    """The number pi."""
    return a.make(*_pi(a.bits))


@lru_cache(maxsize=64)
def _pi(bits: int) -> tuple[Fraction, Fraction]:
    """Machin: ``pi = 16 arctan(1/5) - 4 arctan(1/239)``."""
    a = Arithmetic(bits)
    found = a.make(*_arctan(5, bits + 32)) * 16 - a.make(*_arctan(239, bits + 32)) * 4
    return found.lo, found.hi


def _arctan(n: int, shift: int) -> tuple[Fraction, Fraction]:
    """``arctan(1/n)``, ``n > 1``, below and above in units of ``2^-shift``; its series alternates.

    A term is rounded by less than a unit, as floors of floors are, and what is left out is less.
    """
    scale, total, i = 1 << shift, 0, 0
    power = scale // n
    while power:
        total += power // (2 * i + 1) * (-1) ** i
        power //= n * n
        i += 1
    slack = i + 1
    return Fraction(total - slack, scale), Fraction(total + slack, scale)


# --- exact reals ----------------------------------------------------------------------------------

Tree = Any
"""Text of a rational, or a list: an operator and its operands."""


def rational(text: object) -> Fraction:
    """A rational in lowest terms."""
    if not isinstance(text, str) or len(text) > MAX_TEXT or not RATIONAL.fullmatch(text):
        raise Unreadable("a number is not the text of a rational")
    value = Fraction(text)
    if str(value) != text:
        raise Unreadable("a rational is not in lowest terms")
    return value


def natural(text: object, least: int, most: int, what: str = "a count") -> int:
    """An integer of a range."""
    value = rational(text)
    if value.denominator != 1:
        raise Unreadable(f"{what} is not an integer")
    if not least <= value <= most:
        raise Invalid(f"{what} is not in {least}..{most}")
    return value.numerator


_ARITY: Final = {"pi": 0, "e": 0, "log": 1, "exp": 1, "sqrt": 1, "+": 2, "*": 2, "/": 2, "^": 2}


def _operands(tree: Tree) -> tuple[str, list[Tree]]:
    if isinstance(tree, list) and tree and isinstance(tree[0], str):
        operator, *operands = tree
        if _ARITY.get(operator) == len(operands):
            return operator, operands
    raise Unreadable("a number is neither a rational nor an expression")


def number(tree: Tree, a: Arithmetic) -> Interval:
    """An interval around the value of an expression."""
    if isinstance(tree, str):
        return a.exact(rational(tree))
    operator, operands = _operands(tree)
    a.spend(10)
    if operator == "pi":
        return pi(a)
    if operator == "e":
        return exp(a.exact(1))
    x = number(operands[0], a)
    if operator == "log":
        return log(x)
    if operator == "exp":
        return exponential(operands[0], a)
    if operator == "sqrt":
        return sqrt(x)
    if operator == "^":
        exponent = natural(operands[1], -MAX_BITS, MAX_BITS)
        if x.lo > 0:
            return x**exponent
        raise Invalid("a power of a number that is not positive")
    y = number(operands[1], a)
    return x + y if operator == "+" else x * y if operator == "*" else x / y


Linear = dict[str, Fraction]
"""A rational combination of atoms: 1 (as ``"1"``) and expressions, as canonical text."""


def linear(tree: Tree, a: Arithmetic) -> Linear:
    """An expression as a combination of as few atoms as are plainly there."""
    if isinstance(tree, str):
        value = rational(tree)
        return {"1": value} if value else {}
    operator, operands = _operands(tree)
    if operator == "+":
        x, y = (linear(operand, a) for operand in operands)
        return _combined(x, y)
    if operator in "*/":
        for factor, rest in (operands, operands[::-1]):
            scale = number(factor, a).fraction if isinstance(factor, str) else None
            if scale and (operator == "*" or rest is operands[0]):
                scale = scale if operator == "*" else 1 / scale
                return {atom: c * scale for atom, c in linear(rest, a).items()}
    return {json.dumps(tree): Fraction(1)}


def _combined(x: Linear, y: Linear) -> Linear:
    total = {atom: x.get(atom, Fraction(0)) + y.get(atom, Fraction(0)) for atom in {**x, **y}}
    return {atom: c for atom, c in total.items() if c}


def exponential(tree: Tree, a: Arithmetic) -> Interval:
    """``exp`` of an expression; exact for integer combinations of logarithms of rationals."""
    return reduce(
        lambda x, y: x * y,
        (exponential_atom(atom, c, a) for atom, c in linear(tree, a).items()),
        a.exact(1),
    )


def exponential_atom(atom: str, c: Fraction, a: Arithmetic) -> Interval:
    """``exp(c atom)``."""
    tree = "1" if atom == "1" else json.loads(atom)
    if tree[0] == "log" and c.denominator <= 64 and abs(c) <= MAX_BITS:
        power = number(tree[1], a)
        if c.denominator == 1:
            return power**c.numerator
        root = _root(power.fraction, c.denominator)
        if root is not None:
            return a.exact(root) ** c.numerator
    return exp(number(tree, a) * a.exact(c))


def _root(x: Fraction | None, degree: int) -> Fraction | None:
    """The rational root of a rational, if there is a short one."""
    if x is None or x <= 0 or _size(x) > 1000:
        return None
    found = [round(n ** (1 / degree)) if n < 2**1000 else 0 for n in x.as_integer_ratio()]
    root = Fraction(found[0], found[1] or 1)
    return root if root**degree == x else None


# --- mechanisms -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Reals:
    """The real numbers from ``least``, itself or not, to ``most``."""

    closed: bool
    most: int | None = None
    least: int = 0

    def value(self, tree: Tree, what: str, a: Arithmetic) -> Interval:
        """The value of an expression that is certainly among them."""
        x = number(tree, a)
        if not (self._has(x.lo) and self._has(x.hi)):
            if x.fraction is None:
                raise Undecided(f"{what} is not certainly in its domain")
            raise Invalid(f"{what} is out of its domain")
        return x

    def _has(self, x: Fraction) -> bool:
        above = x > self.least or (x == self.least and self.closed)
        return above and (self.most is None or x <= self.most)


@dataclass(frozen=True, slots=True)
class Integers:
    """The integers of a range."""

    least: int
    most: int

    def value(self, tree: Tree, what: str, a: Arithmetic) -> Interval:
        """The value of the text of one of them."""
        return a.exact(natural(tree, self.least, self.most, what))


_POSITIVE: Final = Reals(closed=False)
_NOT_NEGATIVE: Final = Reals(closed=True)
_SHARE: Final = Reals(closed=True, most=1)
_SENSITIVITY: Final = Integers(1, 2000)

#: The domain of every parameter; None for a mechanism.
DOMAINS: Final[dict[str, tuple[Reals | Integers | None, ...]]] = {
    "pure_dp": (_NOT_NEGATIVE,),
    "approx_dp": (_NOT_NEGATIVE, _SHARE),
    "gdp": (_NOT_NEGATIVE,),
    "gaussian": (_POSITIVE, _POSITIVE),
    "laplace": (_POSITIVE, _POSITIVE),
    "truncated_laplace": (_POSITIVE, _POSITIVE, _POSITIVE),
    "discrete_laplace": (_POSITIVE, _SENSITIVITY),
    "discrete_gaussian": (_POSITIVE, _SENSITIVITY),
    "staircase": (_POSITIVE, _SHARE, _POSITIVE),
    "poisson": (None, _SHARE),
    "repeat": (None, Integers(2, MAX_COUNT)),
    "group": (None, Integers(1, 10_000)),
    "replace": (None,),
    "gaussian_mixture": (_POSITIVE,),
    "allocation": (None, Integers(2, 10_000_000)),
    "randomized_response": (_NOT_NEGATIVE, Integers(2, MAX_COUNT)),
    "truncated_discrete_gaussian": (_POSITIVE, Integers(1, 5000), _SENSITIVITY),
    "partition_selection": (_NOT_NEGATIVE, _SHARE),
    "threshold": (None, _NOT_NEGATIVE),
    "truncated_poisson": (None, _SHARE, Integers(1, MAX_TERMS), Integers(0, MAX_COUNT)),
    "zcdp": (_NOT_NEGATIVE, _NOT_NEGATIVE),
    "permute_and_flip": (_NOT_NEGATIVE,),
    "report_noisy_max": (_NOT_NEGATIVE,),
    "bounded_range": (_NOT_NEGATIVE,),
    "shuffle": (None, Integers(1, MAX_TERMS)),
    "fixed_size": (None, Integers(1, MAX_COUNT), Integers(1, MAX_COUNT)),
    "pair": (),
    "mix": (),
    "renyi_dp": (),
}

#: The domains of both parts of every entry that follows the parameters, and how it is written.
_ENTRIES: Final[dict[str, tuple[Reals, Reals | None, str]]] = {
    "gaussian_mixture": (_NOT_NEGATIVE, _SHARE, "{}: {}"),
    "pair": (_SHARE, _SHARE, "({}, {})"),
    "mix": (_SHARE, None, "{}: {}"),
    "renyi_dp": (Reals(closed=False, least=1), _NOT_NEGATIVE, "({}, {})"),
}
#: Which columns of the entries add up to 1.
_LAWS: Final = {"gaussian_mixture": (1,), "pair": (0, 1), "mix": (0,), "renyi_dp": ()}

_GUARANTEES: Final = ("pure_dp", "approx_dp", "staircase", "gdp")
_NOISY_MAX: Final = ("permute_and_flip", "report_noisy_max")
_BOUNDED: Final = ("zcdp", "renyi_dp", "truncated_poisson", "threshold", "shuffle", *_NOISY_MAX)


def _parts(tree: Tree) -> tuple[str, list[Tree]]:
    if not isinstance(tree, list) or not tree or not isinstance(tree[0], str):
        raise Unreadable("a mechanism is not a list that begins with its name")
    name, *trees = tree
    if name == "compose":
        if len(trees) < 2:
            raise Unreadable("a composition of fewer than two mechanisms")
    elif name not in DOMAINS or not _fits(name, trees):
        raise Unreadable("an unknown mechanism, or one with the wrong number of parameters")
    return name, trees


def _fits(name: str, trees: list[Tree]) -> bool:
    fixed = len(DOMAINS[name])
    if name not in _ENTRIES:
        return len(trees) == fixed
    return len(trees) > fixed and all(isinstance(t, list) and len(t) == 2 for t in trees[fixed:])


def parameters(tree: Tree, a: Arithmetic) -> tuple[str, list[Tree], list[Interval]]:
    """A mechanism's name, its parameters, and the values of the numbers, each in its domain."""
    name, trees = _parts(tree)
    values = [
        domain.value(parameter, f"a parameter of {name}", a)
        for domain, parameter in zip(DOMAINS[name], trees, strict=False)
        if domain is not None
    ]
    return name, trees, values


def entries(tree: Tree, a: Arithmetic) -> list[tuple[Interval, ...]]:
    """The numbers of the entries of a mechanism that has some, each in its domain.

    Weights are rationals that add up to 1, orders and divergences are rationals, by rising order.
    """
    name, trees = _parts(tree)
    rows = trees[len(DOMAINS[name]) :]
    a.spend(len(trees))
    columns = [
        [domain.value(row[place], f"a parameter of {name}", a) for row in rows]
        for place, domain in enumerate(_ENTRIES[name][:2])
        if isinstance(domain, Reals)
    ]
    for law in (columns[place] for place in _LAWS[name]):
        if any(weight.fraction is None for weight in law) or sum(w.lo for w in law) != 1:
            raise Invalid(f"the weights of {name} are not rationals that add up to 1")
    if name == "renyi_dp":
        if any(x.fraction is None for column in columns for x in column):
            raise Invalid("a number of renyi_dp is not rational")
        if any(x.lo >= y.lo for x, y in pairwise(columns[0])):
            raise Invalid("the orders of renyi_dp do not rise")
    return list(zip(*columns, strict=True))


def _inner(tree: Tree) -> list[Tree]:
    """The mechanisms inside."""
    name, trees = _parts(tree)
    if name == "compose":
        return trees
    if name == "mix":
        return [part for _, part in trees]
    return [part for part, domain in zip(trees, DOMAINS[name], strict=False) if domain is None]


def check_domains(tree: Tree, a: Arithmetic) -> None:
    """Refuse a mechanism that cannot exist: each number of each part, before any are combined."""
    name, _ = _parts(tree)
    if name != "compose":
        parameters(tree, a)
    if name in _ENTRIES:
        entries(tree, a)
    for part in _inner(tree):
        check_domains(part, a)


_ADDED: Final = (
    *("poisson", "gaussian_mixture", "allocation"),
    *("truncated_poisson", "partition_selection", "threshold"),
)
"""Mechanisms about a record added or removed."""


def check_neighbours(tree: Tree) -> str:
    """The neighbours that a mechanism speaks of, empty if of none; two are refused."""
    name, trees = _parts(tree)
    inside = {found for part in _inner(tree) if (found := check_neighbours(part))}
    if name in _ADDED:
        inside.add("add/remove")
    if (
        len(inside) > 1
        or (name in ("fixed_size", "shuffle") and inside)
        or (name in ("group", "replace") and inside - {"add/remove"})
    ):
        raise Invalid("a mechanism that speaks of different neighbours")
    if name == "group":
        count = natural(trees[1], 1, 10_000, "a group")
        return "add/remove" if count == 1 else f"groups of {count}"
    return "replacement" if name in ("replace", "fixed_size", "shuffle") else next(iter(inside), "")


def only_bounded(tree: Tree, grouped: bool = False) -> bool:
    """Whether no more is known of a mechanism than an upper bound, which its statement encloses."""
    name, _ = _parts(tree)
    if name in _BOUNDED or (grouped and name in _GUARANTEES):
        return True
    grouped = grouped or name in ("group", "replace")
    parts = [part for weight, part in tree[1:] if weight != "0"] if name == "mix" else _inner(tree)
    return any(only_bounded(part, grouped) for part in parts)


def shown(tree: Tree) -> str:
    """The text of a mechanism."""
    name, trees = _parts(tree)
    if name == "compose":
        return " * ".join(map(shown, trees))
    texts = [
        shown(part) if domain is None else shown_number(part)
        for domain, part in zip(DOMAINS[name], trees, strict=False)
    ]
    for one, two in trees[len(texts) :]:
        second = shown(two) if name == "mix" else shown_number(two)
        texts.append(_ENTRIES[name][2].format(shown_number(one), second))
    if name == "repeat":
        text, times = texts
        return f"({text})^{times}" if trees[0][0] in ("compose", "repeat") else f"{text}^{times}"
    return f"{name}({', '.join(texts)})"


def shown_number(tree: Tree) -> str:
    """The text of a number."""
    if isinstance(tree, str):
        rational(tree)
        return tree
    operator, operands = _operands(tree)
    texts = [shown_number(operand) for operand in operands]
    if operator in "+*/^":
        return f"(({texts[0]}){operator}({texts[1]}))"
    return f"{operator}({texts[0]})" if texts else operator


Steps = dict[str, int]
"""Single mechanisms, as canonical text, with how often they run."""

#: A step whose outcomes tell nothing, as those on samples of no records.
_NO_LOSS: Final = ["pure_dp", "0"]


def steps_of(tree: Tree, times: int = 1) -> Steps:
    """The single mechanisms of a composition. Rates of samples of samples multiply."""
    name, trees = _parts(tree)
    if times > MAX_COUNT:
        raise Invalid("more repetitions than this checker takes")
    if name == "repeat":
        return steps_of(trees[0], times * natural(trees[1], 2, MAX_COUNT, "a repetition"))
    if name in ("poisson", "truncated_poisson") and trees[1] == "0":
        return {json.dumps(_NO_LOSS): times}
    if name == "poisson" and trees[1] == "1":
        return steps_of(trees[0], times)
    if name in ("compose", "group", "replace"):
        total: Steps = {}
        for part in trees if name == "compose" else trees[:1]:
            for step, count in steps_of(part, times).items():
                if name != "compose":
                    size = int(trees[1]) if name == "group" else 2
                    step = json.dumps(_grouped(json.loads(step), size, name == "replace"))
                total[step] = total.get(step, 0) + count
        return total
    if name == "poisson" and isinstance(trees[0], list) and trees[0][:1] == ["poisson"]:
        _, (inner, rate) = _parts(trees[0])
        return steps_of(["poisson", inner, ["*", rate, trees[1]]], times)
    if name == "poisson" and trees[0][:1] == ["gaussian_mixture"] and isinstance(trees[1], str):
        rate, (_, (sigma, *law)) = rational(trees[1]), _parts(trees[0])
        thinned = [[reach, str(rational(weight) * rate)] for reach, weight in law]
        tree = ["gaussian_mixture", sigma, ["0", str(1 - rate)], *thinned]
    if name == "zcdp" and trees[1] == "0":
        tree = ["pure_dp", trees[0]]
    if name in (*_NOISY_MAX, "bounded_range") and trees[0] == "0":
        tree = _NO_LOSS
    elif name in _NOISY_MAX:  # at most Laplace noise on one number (the theory's page on selection)
        wide = isinstance(trees[0], list)
        tree = ["laplace", ["/", "1", trees[0]] if wide else str(1 / rational(trees[0])), "1"]
    if name == "shuffle":
        if trees[0][0] != "pure_dp":
            raise Invalid("this checker has no route for shuffled reports but of pure_dp")
        if trees[1] == "1" or trees[0][1] == "0":
            tree = trees[0]
    if name == "fixed_size":
        return steps_of(["poisson", trees[0], _drawn(trees)], times)
    return {json.dumps(tree): times}


def _drawn(trees: list[Tree]) -> str:
    """The rate of one sample of a fixed size, of Gaussians alone."""
    drawn, records = map(rational, trees[1:])
    if not drawn <= records:
        raise Invalid("a sample that is larger than what it is drawn from")
    if not all(step.startswith(('["gaussian"', '["gdp"')) for step in steps_of(trees[0])):
        raise Invalid("this checker has no route for samples of a fixed size but of Gaussians")
    return str(drawn / records)


def _grouped(step: Tree, k: int, replaced: bool) -> Tree:
    """A step for groups of ``k`` records, or for one record ``replaced``, which is two.

    Noise moves ``k`` times as far. Samples of a Gaussian keep their group: Schuchardt et al. 2024,
    Theorem 3.8, and for replacement the theory's page on neighbours; so do guarantees (Dong, Roth,
    Su 2022, Theorem 3; of zCDP Bun, Steinke 2016). A coin is tossed first.
    """
    name, trees = _parts(step)
    if k == 1 or step == _NO_LOSS:
        return step
    if name in ("gaussian", "laplace", "truncated_laplace"):
        return [name, *trees[:-1], _multiple(trees[-1], Fraction(k))]
    if name in ("discrete_laplace", "discrete_gaussian", "truncated_discrete_gaussian"):
        return [name, *trees[:-1], str(int(trees[-1]) * k)]
    if name == "gdp":
        return [name, _multiple(trees[0], Fraction(k))]
    if name == "zcdp":
        harmonic = sum((Fraction(k, i + 1) for i in range(k)), Fraction(0))
        return [name, _multiple(trees[0], harmonic), _multiple(trees[1], Fraction(k * k))]
    if name in ("pure_dp", "approx_dp"):
        return ["group", step, str(k)]
    if name == "staircase":
        return ["group", ["pure_dp", trees[0]], str(k)]
    if name == "mix":
        wrap: list[str] = [] if replaced else [str(k)]
        kind = "replace" if replaced else "group"
        return [name, *([weight, [kind, part, *wrap]] for weight, part in trees)]
    if name == "truncated_poisson" and replaced:
        return ["replace", step]
    if name == "poisson" and trees[0][0] in ("gaussian", "gdp"):
        return ["replace", step] if replaced else ["group", step, str(k)]
    raise Invalid(f"this checker has no route for groups under {name}")


def _multiple(tree: Tree, factor: Fraction) -> Tree:
    """A number times ``factor``."""
    return str(rational(tree) * factor) if isinstance(tree, str) else ["*", str(factor), tree]


@dataclass
class Outcomes:
    """The outcomes of one step: masses under ``P`` and ``Q``, and the loss where it is finite."""

    p: list[Interval]
    q: list[Interval]
    losses: list[Linear]
    infinite: Interval
    bounded: bool = True
    revealed_to_q: Interval | None = None
    #: ``p/q`` of outcomes whose loss is an atom of its own.
    ratios: dict[str, Interval] = field(default_factory=dict)


Moves = list[tuple[Interval, Interval, Linear | None]]
"""Outcomes: their masses under ``P`` and ``Q``, and the loss where it is known in symbols."""


def _compared(moves: Moves, tree: Tree, way: str, a: Arithmetic) -> Outcomes:
    """Two laws that need not be each other's mirror image."""
    found, hidden = Outcomes([], [], [], a.exact(0)), a.exact(0)
    for place, (one, two, known) in enumerate(moves):
        p, q = (one, two) if way == "remove" else (two, one)
        if q.hi == 0:
            found.infinite = found.infinite + p
        elif p.hi == 0:
            hidden = hidden + q
        else:
            loss = known
            if loss is None:
                atom = json.dumps(["sampled", json.dumps(tree), str(place)])
                found.ratios[atom], loss = p / q, {atom: Fraction(1)}
            elif way == "add":
                loss = {atom: -c for atom, c in loss.items()}
            found.p.append(p)
            found.q.append(q)
            found.losses.append(loss)
    found.revealed_to_q = hidden
    return found


def _pair(tree: Tree, a: Arithmetic) -> Moves:
    """A pair of laws as given."""
    moves: Moves = []
    for p, q in entries(tree, a):
        ratio = p.lo / q.lo if q.lo else Fraction(0)
        atom, sign = (ratio, 1) if ratio > 1 else (1 / ratio if ratio else ratio, -1)
        known = {json.dumps(["log", str(atom)]): Fraction(sign)} if ratio not in (0, 1) else {}
        moves.append((p, q, known))
    return moves


def _partition(tree: Tree, a: Arithmetic) -> Moves:
    """Desfontaines, Voss, Gipson, Mandayam 2022, Theorem 1: whether a partition is published.

    ``c_0 = 0`` and ``c_n = min(e^eps c + delta, 1 - (1 - c - delta)/e^eps, 1)``, ``c = c_(n-1)``;
    the tests between neighbours are the points ``(c_(n-1), c_n)`` and their hull, so outcomes are
    the moves from point to point; those along one of the two lines are one outcome.
    """
    _, trees, (_, delta) = parameters(tree, a)
    grown, loss = exponential(trees[0], a), linear(trees[0], a)
    one, zero = a.exact(1), a.exact(0)
    if delta.hi == 0:
        return [(one, one, {})]
    opposite = {atom: -c for atom, c in loss.items()}
    moves: Moves = []
    earlier, chance, last = zero, zero, ""
    for _ in range(MAX_USERS):
        a.spend(8, _size(chance.hi))
        up, down = grown * chance + delta, one - (one - chance - delta) / grown
        rises = grown.fraction == 1 or not _above(up, down)
        line, after = ("up", up) if rises else ("down", down)
        if not _above(one, after):
            line, after = "end", one
        move = after - chance, chance - earlier
        if line != last or line == "end":
            moves.append((*move, None))
        elif moves[-1][2] is None or len(moves) == 1:
            moves.append((*move, loss if line == "up" else opposite))
        else:
            p, q, known = moves[-1]
            moves[-1] = p + move[0], q + move[1], known
        earlier, chance, last = chance, after, line
        if line == "end":
            moves.append((zero, one - earlier, None))
            return moves
    raise Invalid("a partition of more users than this checker follows")


def _above(x: Interval, y: Interval) -> bool:
    """Whether ``x > y``, which must be certain."""
    if x.lo > y.hi:
        return True
    if x.hi <= y.lo:
        return False
    raise Undecided("the bits do not tell which probability is smaller")


def outcomes_of(tree: Tree, a: Arithmetic, way: str = "remove") -> Outcomes:
    """The outcomes of a step with countably many; most laws are symmetric."""
    if tree[0] in ("pair", "partition_selection"):
        moves = _pair(tree, a) if tree[0] == "pair" else _partition(tree, a)
        return _compared(moves, tree, way, a)
    name, trees, values = parameters(tree, a)
    one, zero = a.exact(1), a.exact(0)
    if name in ("pure_dp", "approx_dp", "staircase"):
        # Kairouz, Oh, Viswanath 2017, section V; Geng and Viswanath 2014
        grown = exponential(trees[0], a)
        loss = linear(trees[0], a)
        opposite = {atom: -c for atom, c in loss.items()}
        if name == "staircase":
            gamma, half = values[1], a.exact(Fraction(1, 2))
            inner = gamma - (gamma - half).positive_part()
            high = inner + (half - gamma).positive_part() / grown
            high = high / (gamma + (one - gamma) / grown)
            middle = (one - high - high / grown).positive_part()
            masses = [high, middle, high / grown]
            return Outcomes(masses, masses[::-1], [loss, {}, opposite], zero)
        lost = values[1] if name == "approx_dp" else zero
        high = (one - lost) * grown / (grown + 1)
        low = (one - lost) / (grown + 1)
        return Outcomes([high, low], [low, high], [loss, opposite], lost, revealed_to_q=lost)
    if name == "discrete_laplace":
        # noise of mass ~ a^|x|: all x <= 0 have one loss, and so have all x >= s
        rate = ["/", "1", trees[0]] if isinstance(trees[0], list) else str(1 / rational(trees[0]))
        s = int(trees[1])
        ratio = one / exponential(rate, a)
        inner = (one - ratio) / (ratio + 1)
        masses = [one / (ratio + 1), *(inner * ratio**x for x in range(1, s))]
        masses.append(ratio**s / (ratio + 1))
        scales = [{k: c * (s - 2 * x) for k, c in linear(rate, a).items()} for x in range(s + 1)]
        losses = [{k: c for k, c in loss.items() if c} for loss in scales]
        return Outcomes(masses, masses[::-1], losses, zero)
    if name == "randomized_response":  # Kairouz, Oh, Viswanath 2016
        grown, k = exponential(trees[0], a), int(trees[1])
        loss = linear(trees[0], a)
        opposite = {atom: -c for atom, c in loss.items()}
        masses = [x / (grown + (k - 1)) for x in (grown, a.exact(k - 2), one)]
        return Outcomes(masses, masses[::-1], [loss, {}, opposite], zero, revealed_to_q=zero)
    if name == "discrete_gaussian":
        return _discrete_gaussian(trees, values[0], a)
    if name == "truncated_discrete_gaussian":
        return _truncated_gaussian(trees, values[0], a)
    if name == "group" and trees[0][0] in ("pure_dp", "approx_dp"):
        return _grouped_response(trees[0], int(trees[1]), a)
    raise Invalid(f"this checker has no route for this use of {name}")


def _grouped_response(tree: Tree, k: int, a: Arithmetic) -> Outcomes:
    """Dong, Roth, Su 2022, Theorem 3: the powers ``g(...g(x))`` of tests of level ``x``.

    ``g(x)`` is ``delta + e^eps x`` up to the kink, ``1 - (1 - delta - x)/e^eps`` beyond. What is at
    the kink after ``j`` steps starts at ``x_j``; between ``x_j`` and ``x_(j-1)`` the slope is
    ``e^((2j-k) eps)``. The laws are each other's mirror image.
    """
    if k > 2000:
        raise Invalid("a group larger than this checker takes")
    _, trees, values = parameters(tree, a)
    one, zero = a.exact(1), a.exact(0)
    grown, loss = exponential(trees[0], a), linear(trees[0], a)
    delta = values[1] if len(values) > 1 else zero
    lost = zero
    a.spend(8 * k)
    for _ in range(k):
        lost = _least(lost * grown + delta, one - (one - delta - lost) / grown)
    found = Outcomes([], [], [], lost, revealed_to_q=lost)
    end = one - lost
    above, start = end, (one - delta) / (grown + 1)
    for j in range(k + 1):
        below = _least(start, end).positive_part() if j < k else zero
        mass = (above - below).positive_part()
        found.p.append(mass * grown ** (2 * j - k))
        found.q.append(mass)
        found.losses.append({atom: c * (2 * j - k) for atom, c in loss.items() if 2 * j != k})
        above, start = below, (start - delta) / grown
    return found


def _least(x: Interval, y: Interval) -> Interval:
    return Interval(min(x.lo, y.lo), min(x.hi, y.hi), x.a)


def _truncated_gaussian(trees: list[Tree], sigma: Interval, a: Arithmetic) -> Outcomes:
    """Discrete Gaussian noise of bounded support: of the last ``s`` outputs one law has none."""
    bound, s = int(trees[1]), int(trees[2])
    a.spend(4 * bound)
    if s > 2 * bound:
        return Outcomes([], [], [], a.exact(1), revealed_to_q=a.exact(1))
    weights, _ = _weights(exp(a.exact(-1) / (sigma * sigma * 2)), bound)
    total = reduce(lambda x, y: x + y, weights) * 2 - 1
    law = {x: weights[abs(x)] / total for x in range(-bound, bound + 1)}
    kept = range(-bound, bound - s + 1)
    infinite = reduce(lambda x, y: x + y, (law[x] for x in law if x not in kept))
    p, q = [law[x] for x in kept], [law[x + s] for x in kept]
    return Outcomes(p, q, _spread(trees[0], sigma, s, kept), infinite, revealed_to_q=infinite)


def _spread(tree: Tree, sigma: Interval, s: int, xs: Iterable[int]) -> list[Linear]:
    """The losses ``(2x + s) s/(2 sigma^2)``."""
    if sigma.fraction is not None:
        loss = {"1": Fraction(s) / (2 * sigma.fraction**2)}
    else:
        loss = {json.dumps(["/", str(s), ["*", "2", ["*", tree, tree]]]): Fraction(1)}
    return [{atom: c * (2 * x + s) for atom, c in loss.items() if 2 * x + s} for x in xs]


def _weights(decay: Interval, last: int) -> tuple[list[Interval], Interval]:
    """``decay^(x^2)`` for ``x = 0 .. last``, and the sum over all integers."""
    a = decay.a
    square = decay * decay
    weight, ratio, weights = a.exact(1), decay, []
    for _ in range(last + 1):
        weights.append(weight)
        weight, ratio = weight * ratio, ratio * square
    if ratio.hi >= 1:
        raise Undecided("the bits do not tell that weights fall")
    # weight is the first that is left out, and the next ones fall at least by ratio
    total = reduce(lambda x, y: x + y, weights) * 2 - 1
    return weights, a.make(total.lo, total.hi + weight.hi * 2 / (1 - ratio.hi))


def _discrete_gaussian(trees: list[Tree], sigma: Interval, a: Arithmetic) -> Outcomes:
    """Mass ~ ``e^(-x^2/(2 sigma^2))``, loss ``(2x + s) s/(2 sigma^2)``; tails are geometric."""
    s = int(trees[1])
    variance = sigma * sigma
    last = math.isqrt(math.ceil(variance.hi * 2 * (a.bits + 16) * Fraction(7, 10))) + 1
    if last > 5000:
        raise Invalid("a discrete Gaussian too wide for this checker")
    a.spend(4 * last)
    weights, total = _weights(exp(a.exact(-1) / (variance * 2)), last)
    xs = range(-last, last + 1)
    masses = [weights[abs(x)] / total for x in xs]
    losses = _spread(trees[0], sigma, s, xs)
    return Outcomes(masses, [], losses, a.exact(0), bounded=False)


# --- laws of the loss -----------------------------------------------------------------------------


@dataclass
class Law:
    """Masses ``masses[key] / scale``, each at most the true one, by the loss that a key codes."""

    masses: dict[int, int]
    scale: int
    exact: bool = True

    def shortened(self, a: Arithmetic) -> Law:
        """Rounded down if the numbers grew long."""
        if self.scale.bit_length() <= (EXACT_BITS if self.exact else a.bits):
            return self
        unit = 1 << a.bits - 1
        cut = {key: mass * unit // self.scale for key, mass in self.masses.items()}
        return Law({key: mass for key, mass in cut.items() if mass}, unit, exact=False)


def product(x: Law, y: Law, a: Arithmetic) -> Law:
    """The law of a sum of independent losses."""
    if not x.masses or not y.masses:
        return Law({}, 1, x.exact and y.exact)
    small, large = sorted((x, y), key=lambda law: len(law.masses))
    bits = max(x.scale.bit_length(), y.scale.bit_length())
    spans = [max(law.masses) - min(law.masses) + 1 for law in (x, y)]
    found: dict[int, int] = {}
    if len(small.masses) <= 8 or sum(spans) > 8 * (len(x.masses) + len(y.masses)):
        if len(small.masses) * len(large.masses) > 4 * MAX_POINTS:
            raise Invalid("more losses than this checker takes")
        a.spend(len(small.masses) * len(large.masses), bits)
        for i, m in small.masses.items():
            for j, n in large.masses.items():
                found[i + j] = found.get(i + j, 0) + m * n
    else:
        # Kronecker: polynomials as integers, in blocks that no coefficient outgrows
        width = (x.scale.bit_length() + y.scale.bit_length() + 64) // 8
        if 2 * sum(spans) > MAX_POINTS:
            raise Invalid("more losses than this checker takes")
        a.spend(sum(spans) + int((width * sum(spans) / 4) ** 1.585) // 100, bits)
        packed = [_packed(law.masses, width) for law in (x, y)]
        start = min(x.masses) + min(y.masses)
        blocks = (packed[0] * packed[1]).to_bytes(width * (sum(spans) + 1), "little")
        for i in range(sum(spans)):
            if mass := int.from_bytes(blocks[i * width : (i + 1) * width], "little"):
                found[start + i] = mass
    return Law(found, x.scale * y.scale, x.exact and y.exact).shortened(a)


def _packed(masses: dict[int, int], width: int) -> int:
    first, last = min(masses), max(masses)
    blocks = [masses.get(i, 0).to_bytes(width, "little") for i in range(first, last + 1)]
    return int.from_bytes(b"".join(blocks), "little")


def power(keys: list[int], masses: list[Interval], count: int, a: Arithmetic) -> Law:
    """The law of the sum of ``count`` losses of one step."""
    values = [mass.fraction for mass in masses]
    scale, exact = 1 << a.bits - 1, False
    known = [value for value in values if value is not None]
    if len(known) == len(values):
        common = math.lcm(*(value.denominator for value in known))
        if common.bit_length() * count <= EXACT_BITS:
            scale, exact = common, True
    base: dict[int, int] = {}
    for key, mass in zip(keys, masses, strict=True):
        if numerator := math.floor(max(mass.lo, Fraction(0)) * scale):
            base[key] = base.get(key, 0) + numerator
    if count > MAX_TERMS:
        raise Invalid("more repetitions than this checker takes")
    if len(base) == 2 and count > 2:
        return _binomial(Law(base, scale, exact), count, a)
    law, result = Law(base, scale, exact), Law({0: 1}, 1)
    while count:
        if count & 1:
            result = product(result, law, a)
        count >>= 1
        if count:
            law = product(law, law, a)
    return result


def _binomial(law: Law, count: int, a: Arithmetic) -> Law:
    """The binomial theorem, outward from the largest term, as far as terms are not rounded to 0."""
    (up, p), (down, q) = law.masses.items()
    scale = law.scale

    def placed(terms: dict[int, int], unit: int, exact: bool) -> Law:
        return Law({j * up + (count - j) * down: m for j, m in terms.items() if m}, unit, exact)

    if law.exact:
        a.spend(count, EXACT_BITS // 4)
        terms = {j: math.comb(count, j) * p**j * q ** (count - j) for j in range(count + 1)}
        return placed(terms, scale**count, exact=True)
    a.spend(count, 64 * 32)
    fine = Arithmetic(a.bits + 40)
    terms = _binomial_terms(p, q, scale, count, fine)
    a.spend(2 * len(terms))
    return placed(terms, 1 << fine.bits, exact=False).shortened(a)


def _binomial_terms(p: int, q: int, scale: int, count: int, fine: Arithmetic) -> dict[int, int]:
    """Lower bounds on ``count! / (j! (count - j)!) p^j q^(count - j)``, in units of ``2^-bits``."""
    mode = min(count, (count + 1) * p // (p + q))
    whole = fine.exact(math.comb(count, mode))
    whole = whole * fine.exact(Fraction(p, scale)) ** mode
    whole = whole * fine.exact(Fraction(q, scale)) ** (count - mode)
    first = math.floor(whole.lo * (1 << fine.bits))
    terms = {mode: first}
    term = first
    for j in range(mode, count):
        term = term * (count - j) * p // ((j + 1) * q)
        if not term:
            break
        terms[j + 1] = term
    term = first
    for j in range(mode, 0, -1):
        term = term * j * q // ((count - j + 1) * p)
        if not term:
            break
        terms[j - 1] = term
    return terms


# --- profiles of continuous parts -----------------------------------------------------------------


@dataclass
class Point:
    """A loss ``x`` and ``e^x``, of which one may be missing."""

    a: Arithmetic
    grown: Interval
    value: Interval | None = None

    @property
    def x(self) -> Interval:
        """The loss."""
        if self.value is None:
            self.value = log(self.grown)
        return self.value


def no_continuous_part(point: Point) -> Interval:
    """``(1 - e^x)_+``."""
    if point.value is not None and point.value.lo >= 0:
        return point.a.exact(0)
    return (point.a.exact(1) - point.grown).positive_part()


def gaussian_part(mu: Interval) -> Callable[[Point], Interval]:
    """Balle and Wang 2018, Theorem 8: ``Phi(mu/2 - x/mu) - e^x Phi(-mu/2 - x/mu)``."""

    def profile(point: Point) -> Interval:
        centre, half = point.x / mu, mu * Fraction(1, 2)
        found = upper_tail(centre - half) - point.grown * upper_tail(centre + half)
        return Interval(max(found.lo, Fraction(0)), min(found.hi, Fraction(1)), point.a)

    return profile


def upper_tail(x: Interval) -> Interval:
    """``1 - Phi(x)``, which decreases."""
    low, high = _tail_end(x.hi, x.a), _tail_end(x.lo, x.a)
    return x.a.make(low.lo, high.hi)


def _tail_end(x: Fraction, a: Arithmetic) -> Interval:
    if x < 0:
        return a.exact(1) - _tail_end(-x, a)
    exponent = x * x / 2
    if exponent > 10**6:
        raise Invalid("a normal tail beyond the range of this checker")
    depth = (a.bits + 16) ** 2 // (10 * math.ceil(exponent) + 1) + a.bits // 6  # enough
    if depth < exponent:
        return _density(x, a) * _mills(x, depth, a)
    # Phi(x) - 1/2 = density sum x^(2n+1)/(1 3 5 ... (2n+1)), all terms positive
    fine = Arithmetic(a.bits + 3 * math.ceil(exponent) // 2 + 32)
    a.spend(fine.bits + 4 * math.ceil(exponent), fine.bits)
    series = fine.make(*_series(x, x * x, 1, 2, fine.bits))
    found = fine.exact(Fraction(1, 2)) - _density(x, fine) * series
    return Interval(max(found.lo, Fraction(0)), found.hi, a)


def _density(x: Fraction, a: Arithmetic) -> Interval:
    return exp(a.exact(-x * x / 2)) / sqrt(pi(a) * 2)


def _mills(x: Fraction, n: int, a: Arithmetic) -> Interval:
    """Laplace's ``1/(x + 1/(x + 2/(x + 3/...)))``; convergents lie on either side in turn."""
    a.spend(8 * n)
    ends = []
    for depth in (n, n + 1):
        value = a.exact(x)
        for i in range(depth, 0, -1):
            value = a.exact(x) + a.exact(i) / value
        ends.append(a.exact(1) / value)
    return a.make(min(end.lo for end in ends), max(end.hi for end in ends))


def laplace_law(tree: Tree, a: Arithmetic) -> tuple[Interval, Interval, Interval]:
    r"""The largest finite loss ``w`` of a Laplace step, ``a``, and how likely a finite loss is.

    Noise of scale 1 in ``[-b, b]``, moved by ``s``, can give the same outputs on ``[s - b, b]``,
    where with ``w = min(s, 2b - s)`` and ``a = (1 - e^(s-b))_+`` the law of the loss ``z`` is
    ``e^((z-s)/2) / (4 (1 - e^-b))`` times the masses ``2a`` at ``w`` and ``-w`` and the density 1
    in between (Geng, Ding, Guo, Kumar 2020; the theory's page on noises). Laplace noise has no
    ``b``.
    """
    _, _, (scale, *reach, shift) = parameters(tree, a)
    one, s = a.exact(1), shift / scale
    if not reach:
        return s, one, one
    bound = reach[0] / scale
    width = _least(s, bound * 2 - s).positive_part()
    if width.hi == 0:
        return width, width, width
    ends = (one - exp(s - bound)).positive_part()
    rise, fall = exp((width - s) * Fraction(1, 2)), exp((width + s) * Fraction(-1, 2))
    kept = (ends + 1) * rise + (ends - 1) * fall
    return width, ends, kept / ((one - exp(-bound)) * 2)


def laplace_part(
    laws: list[tuple[Interval, Interval, int]], a: Arithmetic
) -> Callable[[Point], Interval]:
    r"""Laplace steps that have a finite loss: their ``w`` and ``a``, and how many there are.

    That of one has the law ``e^(z/2) nu / N``, ``N = 2 (1 + a) e^(w/2) - 2 (1 - a) e^(-w/2)``,
    where ``nu`` has the masses ``2a`` at ``w`` and ``-w`` and the density 1 in between: with
    ``T, T'`` the shifts to them and ``I`` the integral from the right, ``nu = T (2a + I) +
    T' (2a - I)``. So the product ``nu * ... * nu`` is a sum of polynomials in ``I`` at points, and
    ``I^r`` at ``c`` has the integral ``G_r(c - x)`` of ``2 sinh((z-x)/2)`` over ``z > x``:
    ``G_0 = 2 sinh(u/2)``, ``G_1 = 4 cosh(u/2) - 4``, ``G_(r+2) = 4 (G_r - u^(r+1)/(r+1)!)``.
    """
    one = a.exact(1)
    points: list[tuple[Interval, list[Interval]]] = [(a.exact(0), [one])]
    total, scale = a.exact(0), one
    whole = sum(count for *_, count in laws)
    if whole > 200:
        raise Invalid("more Laplace steps than this checker takes")
    for width, ends, count in laws:
        a.spend((count + 1) * (count**2 + len(points) * whole * (count + 1)) // 2)
        total = total + width * count
        scale = scale * (((ends + 1) + (ends - 1) * exp(-width)) * 2) ** count
        powers = [ends**degree for degree in range(count + 1)]
        fresh = []
        for ups in range(count + 1):
            found = [math.comb(count, ups)]
            for sign, times in ((1, ups), (-1, count - ups)):
                for _ in range(times):
                    found = [u * sign + v * 2 for u, v in pairwise([0, *found, 0])]
            weight = [powers[count - r] * w for r, w in enumerate(found)]
            fresh.append((width * (2 * ups - count), weight))
        points = [(c + d, _times(v, w)) for c, v in points for d, w in fresh]

    def profile(point: Point) -> Interval:
        found = a.exact(0)
        for centre, weight in points:
            u = (centre - point.x).positive_part()
            if u.hi == 0:
                continue
            a.spend(8 * len(weight))
            grown = exp(u * Fraction(1, 2))
            shrunk = one / grown
            values = [grown - shrunk, (grown + shrunk) * 2 - 4]
            term = u
            for r in range(len(weight) - 2):
                values.append((values[r] - term) * 4)
                term = term * u * Fraction(1, r + 2)
            for w, value in zip(weight, values, strict=False):
                found = found + value * w
        found = found * exp((point.x - total) * Fraction(1, 2)) / scale
        return Interval(max(found.lo, Fraction(0)), min(max(found.hi, Fraction(0)), Fraction(1)), a)

    return profile


Waves = list[tuple[Interval, Interval]]
"""Shifts ``>= 0`` in units of the noise and their weights; none for a normal law that stays."""


def waves_of(tree: Tree, a: Arithmetic, whole: bool = False) -> tuple[Waves, Waves] | None:
    """Shifts of ``P`` to the right and of ``Q`` to the left; None of other mechanisms.

    Of groups, unless ``whole``, the weights are lower bounds, of the shifts that matter alone.
    The theorems are those of the theory's page on neighbours: 2 for samples, groups and random
    sensitivities, 3 for a record replaced, 5 and 6 for batches that are cut.
    """
    name = tree[0]
    if name == "gaussian_mixture":
        _, _, (sigma,) = parameters(tree, a)
        return [(reach / sigma, weight) for reach, weight in entries(tree, a)], []
    sample = tree if name == "poisson" else tree[1] if name in ("group", "replace") else None
    if name == "cut":
        cut = tree[1]
        rate, q = _rate_of(cut[1], a) * 2, cut_law(cut, a)[1]
    elif sample is not None and sample[0] == "poisson" and sample[1][0] in ("gaussian", "gdp"):
        rate, (q,) = _rate_of(sample[1], a), parameters(sample, a)[2]
    else:
        return None
    one, zero = a.exact(1), a.exact(0)
    if name == "group":
        size = natural(tree[2], 1, 10_000, "a group")
        if not 0 < q.lo <= q.hi < 1:
            raise Invalid("a group of a rate next to 0 or 1")
        if whole and size > WIDE:
            raise Invalid("a group larger than this checker composes")
        if not whole:
            fine, masses = _binomial_masses(size, q)
            return [(rate * j, a.exact(Fraction(m, fine))) for j, m in masses.items()], []
        law = [(rate * j, q**j * (one - q) ** (size - j) * math.comb(size, j)) for j in range(size)]
        return [*law, (rate * size, q**size)], []
    law = [(zero, one - q), (rate, q)]
    return law, law if name in ("replace", "cut") else []


def _rate_of(tree: Tree, a: Arithmetic) -> Interval:
    """Sensitivity over the standard deviation."""
    if tree[0] not in ("gaussian", "gdp"):
        raise Invalid(f"this checker has no route for batches of {tree[0]}")
    _, _, values = parameters(tree, a)
    return values[0] if tree[0] == "gdp" else values[1] / values[0]


def cut_law(tree: Tree, a: Arithmetic) -> tuple[Interval, Interval]:
    """How likely a batch of the others is full, and at what rate the record is in it then."""
    _, (_, _, *sizes), (q, *_) = parameters(tree, a)
    n, batch = map(int, sizes)
    full = _binomial_tail(n - 1, batch, q)
    return full, _binomial_tail(n, batch + 1, q) * Fraction(batch, n) / full


def _binomial_tail(count: int, least: int, q: Interval) -> Interval:
    """``P(Bin(count, q) >= least)``: lower bounds on all terms, and what they miss altogether."""
    if q.lo == 1:
        return q.a.exact(1)
    scale, terms = _binomial_masses(count, q)
    low = sum(mass for j, mass in terms.items() if j >= least)
    return q.a.make(Fraction(low, scale), Fraction(low + scale - sum(terms.values()), scale))


def _binomial_masses(count: int, q: Interval) -> tuple[int, dict[int, int]]:
    """A scale, and lower bounds times it on the masses of ``Bin(count, q)`` that matter."""
    fine = Arithmetic(q.a.bits + 40)
    scale = 1 << fine.bits
    p, rest = math.floor(q.lo * scale), math.floor((1 - q.hi) * scale)
    if p <= 0 or rest <= 0:
        raise Undecided("the bits do not tell a rate from 0 or 1")
    q.a.spend(4 * count)
    return scale, _binomial_terms(p, rest, scale, count, fine)


def crossing(
    side: Callable[[Fraction], int], low: Fraction, high: Fraction, times: int
) -> tuple[Fraction, Fraction]:
    """Points as close as may be on both sides of where a sign turns from -1 to 1.

    The sign is 0 where the bits do not tell it.
    """
    for _ in range(times):
        middle = (low + high) / 2
        which = side(middle)
        if not which:
            width = (high - low) / 2 ** (times + 1)
            while width < (high - low) / 2:
                if side(middle - width) < 0 < side(middle + width):
                    return middle - width, middle + width
                width *= 4
            break
        low, high = (low, middle) if which > 0 else (middle, high)
    return low, high


def mixture_part(right: Waves, left: Waves) -> Callable[[Point], Interval]:
    """``P = sum w_j N(a_j, 1)`` against ``Q = sum v_j N(-b_j, 1)``, of densities ``A`` and ``B``.

    In units of that of ``N(0, 1)`` ``A`` rises and ``B`` falls, so the best test is ``z > t`` where
    ``A = e^x B``. Any ``t`` bounds the profile from below; from ``t`` on, beyond the crossing but
    by ``w`` at most, it is too little by at most ``w (A - e^x B)(t)/2``, as a normal density is
    below 1/2. Weights that miss some of the mass of ``P`` raise the profile by that at most, and of
    ``Q`` lower it by ``e^x`` times that.
    """

    def scaled(waves: Waves) -> Waves:
        return [(rate, weight * exp(rate * rate * Fraction(-1, 2))) for rate, weight in waves]

    def missed_of(waves: Waves, a: Arithmetic) -> Interval:
        whole = reduce(lambda x, y: x + y, (w for _, w in waves), a.exact(0 if waves else 1))
        return (a.exact(1) - whole).positive_part()

    heights = {side: scaled(waves) for side, waves in (("P", right), ("Q", left))}

    def density(side: str, z: Interval) -> Interval:
        waves, last, power = heights[side], z.a.exact(0), z.a.exact(1)
        total, steps = z.a.exact(0 if waves else 1), {last: power}
        for rate, height in waves:  # shifts that are equally far apart need one exponential
            step, last = rate - last, rate
            if step not in steps:
                steps[step] = exp(step * z)
            power = power * steps[step]
            total = total + height * power
        return total

    def tail(waves: Waves, z: Interval) -> Interval:
        total = upper_tail(z) if not waves else z.a.exact(0)
        for rate, weight in waves:
            total = total + weight * upper_tail(z - rate)
        return total

    def still(waves: Waves, a: Arithmetic) -> Interval:
        return sum((w for rate, w in waves if rate.hi == 0), a.exact(0 if waves else 1))

    def profile(point: Point) -> Interval:
        a, grown = point.a, point.grown
        one, zero = a.exact(1), Fraction(0)
        moving = [[rate for rate, _ in waves if rate.hi > 0] for waves in (right, left)]
        if any(rate.lo <= 0 for rates in moving for rate in rates):
            raise Undecided("a shift cannot be told from 0")
        if not any(moving):
            return no_continuous_part(point)
        if not moving[0]:  # the ratio stays below that of what does not move
            rest = (one - grown * still(left, a)).positive_part()
            if rest.lo == 0:
                return Interval(zero, rest.hi, a)
        if not moving[1]:  # and here above
            whole, over = one - grown, (grown - still(right, a)).positive_part()
            if over.lo == 0:
                return Interval(max(whole.lo, zero), max((whole + over).hi, zero), a)

        def side(z: Fraction) -> int:
            at = a.exact(z)
            a.spend(20 + 4 * (len(right) + len(left)), size)
            gap = density("P", at) - grown * density("Q", -at)
            return (gap.lo > 0) - (gap.hi < 0)

        size = a.bits + math.ceil(max(rate.hi for rates in moving for rate in rates)) ** 2
        low, high = Fraction(-1), Fraction(1)
        while side(low) >= 0:
            low *= 2
        while side(high) <= 0:
            high *= 2
        low, high = crossing(side, low, high, a.bits // 2 + 24)
        at = a.exact(high)
        lost, gone = missed_of(right, a), missed_of(left, a)
        other = one - gone - tail(left, -at) if left else tail(left, at)
        found = tail(right, at) - grown * other
        missed = (density("P", at) - grown * density("Q", -at)) * ((high - low) / 2)
        low, high = (found - grown * gone).lo, (found + missed + lost).hi
        return Interval(max(low, zero), min(high, Fraction(1)), a)

    return profile


def clones_part(tree: Tree, a: Arithmetic) -> Callable[[Point], Interval]:
    r"""Shuffled reports hide among clones (Feldman, McMillan, Talwar 2021; the theory's page).

    With ``E = e^eps``, ``C ~ Bin(n - 1, 1/E)`` of them, ``A ~ Bin(C, 1/2)`` of these on one side,
    and ``alpha = E/(E + 1)`` the laws of the side are ``A + 1`` with chance ``alpha``, else ``A``,
    and with ``1 - alpha``. Their ratio exceeds ``r`` from ``a > theta (C + 1)`` on, where
    ``theta = (rE - 1)/((E - 1)(1 + r))``, and there delta is ``u P(A >= a - 1) - v P(A >= a)`` with
    ``u = alpha - r (1 - alpha)`` and ``v = r alpha - (1 - alpha)``.
    """
    _, (inner, users), _ = parameters(tree, a)
    one, large = a.exact(1), exponential(inner[1], a)
    alpha = large / (large + 1)
    whole, chances = _binomial_masses(int(users) - 1, one / large)

    def tail(scale: int, law: dict[int, int], least: int) -> Interval:
        low = sum(mass for j, mass in law.items() if j >= least)
        return a.make(Fraction(low, scale), Fraction(low + scale - sum(law.values()), scale))

    def profile(point: Point) -> Interval:
        r, zero = point.grown, Fraction(0)
        u, v = alpha - r * (one - alpha), r * alpha - (one - alpha)
        if u.lo <= 0:
            return Interval(zero, max(u.hi, zero), a)
        if v.lo <= 0:
            return Interval(max((one - r).lo, zero), (one - r).hi + max(v.hi, zero), a)
        theta = (r * large - 1) / ((large - 1) * (r + 1))
        total = a.exact(1 - Fraction(sum(chances.values()), whole))
        total = Interval(zero, total.hi, a)
        for c, chance in chances.items():
            law = _binomial_masses(c, a.exact(Fraction(1, 2)))
            place = theta * (c + 1)
            places = range(math.floor(place.lo) + 1, math.floor(place.hi) + 2)
            if len(places) > 2:
                raise Undecided("the bits do not tell outcomes apart")
            found = [u * tail(*law, x - 1) - v * tail(*law, x) for x in places]
            total = total + _worst(found, a) * Fraction(chance, whole)
        return Interval(max(total.lo, zero), min(total.hi, Fraction(1)), a)

    return profile


def _times(x: list[Interval], y: list[Interval]) -> list[Interval]:
    found = [x[0].a.exact(0)] * (len(x) + len(y) - 1)
    for i, u in enumerate(x):
        for j, v in enumerate(y):
            found[i + j] = found[i + j] + u * v
    return found


# --- the privacy profile --------------------------------------------------------------------------


class Profile:
    """The profile of a composition in one direction, or of one sampled step."""

    def __init__(self, steps: Steps, way: str, a: Arithmetic) -> None:
        self.a = a
        self.sampled: tuple[Profile, Interval, str] | None = None
        self.infinite, self.unbounded = a.exact(0), False
        trees = [(json.loads(step), count) for step, count in steps.items()]
        if sum(steps.values()) == 1 and trees[0][0][0] == "poisson":
            _, (inner, _), (rate,) = parameters(trees[0][0], a)
            base = Profile(steps_of(inner), way, a)
            if base.sampled is not None or rate.lo <= 0:
                raise Invalid("a sample of samples, or of no records")
            self.sampled = (base, rate, way)
            if way == "remove":
                self.infinite, self.unbounded = base.infinite * rate, base.unbounded
            return
        self._compose(trees, way)

    def _compose(self, trees: list[tuple[Tree, int]], way: str) -> None:
        a = self.a
        variance = a.exact(0)
        laplaces: list[tuple[Interval, Interval, int]] = []
        groups: list[tuple[Outcomes, int]] = []
        mixtures: list[tuple[Waves, Waves]] = []
        clones: list[Tree] = []
        self.grown: dict[str, Interval] = {}
        for tree, count in trees:
            if waves := waves_of(tree, a):
                mixtures += [waves if way == "remove" else waves[::-1]] * min(count, 2)
                continue
            if tree[0] == "shuffle":
                clones += [tree] * min(count, 2)
                continue
            if tree[0] == "poisson":
                groups.append((self._sample(tree, way, len(groups)), count))
                continue
            if tree[0] == "threshold":
                groups.append((_beside(_published(tree, a)), count))
                tree = tree[1]
            if tree[0] in ("laplace", "truncated_laplace"):
                width, ends, finite = laplace_law(tree, a)
                if tree[0] != "laplace":
                    groups.append((_beside(a.exact(1) - finite), count))
                if finite.hi > 0:
                    laplaces.append((width, ends, count))
            elif tree[0] in ("gdp", "gaussian"):
                variance = variance + _rate_of(tree, a) ** 2 * count
            else:
                groups.append((outcomes_of(tree, a, way), count))
        self.bounded = all(group.bounded for group, _ in groups)
        self.unbounded = variance.lo > 0 or not self.bounded
        if (variance.hi > 0) + bool(laplaces) + len(mixtures) + len(clones) > 1:
            raise Invalid(
                "this checker has no route for two of Gaussians, Laplace steps, mixtures and "
                "shuffled reports together"
            )
        self.continuous: Callable[[Point], Interval] = no_continuous_part
        if mixtures:
            self.continuous = mixture_part(*mixtures[0])
            self.unbounded |= any(rate.lo > 0 < weight.lo for rate, weight in mixtures[0][0])
        if variance.hi > 0:
            self.continuous = gaussian_part(sqrt(variance))
        elif clones:
            self.continuous = clones_part(clones[0], a)
        elif laplaces:
            self.continuous = laplace_part(laplaces, a)
        kept = a.exact(1)
        for group, count in groups:
            self.grown |= group.ratios
            if group.infinite.hi > 0:
                kept = kept * (a.exact(1) - group.infinite).positive_part() ** count
        self.infinite = a.exact(1) - kept
        self.unbounded &= self.infinite.hi < 1  # where some loss is finite
        self._codes(groups)
        self.law = Law({0: 1}, 1)
        for group, count in groups:
            keys = [self._key(loss) for loss in group.losses]
            self.law = product(self.law, power(keys, group.p, count, a), a)
        self.largest = a.exact(0)
        for group, count in groups if self.bounded else []:
            if not group.losses:  # every outcome reveals everything
                continue
            losses = [self._value(self._key(loss)) for loss in group.losses]
            top = a.make(max(x.lo for x in losses), max(x.hi for x in losses))
            self.largest = self.largest + top * count

    def _sample(self, tree: Tree, way: str, index: int) -> Outcomes:
        """A sampled step of few outcomes: mixtures with the masses under ``Q``."""
        a = self.a
        _, (inner, _), (rate,) = parameters(tree, a)
        if list(steps_of(inner).values()) != [1]:
            raise Invalid("this checker has no route for repeated samples of compositions")
        base = outcomes_of(inner, a)
        if not base.bounded:
            raise Invalid("this checker has no route for repeated samples of unbounded losses")
        rest = a.exact(1) - rate
        p, q = list(base.p), list(base.q)
        if base.revealed_to_q is not None and base.revealed_to_q.hi > 0:
            p, q = [*p, a.exact(0)], [*q, base.revealed_to_q]
        mixed = [u * rate + v * rest for u, v in zip(p, q, strict=True)]
        found = Outcomes([], [], [], base.infinite * rate if way == "remove" else a.exact(0))
        over, under = (mixed, q) if way == "remove" else (q, mixed)
        for i, (u, v) in enumerate(zip(over, under, strict=True)):
            if u.hi == 0:
                continue
            atom = json.dumps(["sampled", str(index), str(i)])
            self.grown[atom] = u / v
            found.p.append(u)
            found.losses.append({atom: Fraction(1)})
        return found

    def _codes(self, groups: list[tuple[Outcomes, int]]) -> None:
        """Integer codes of the losses: digits in a base that no sum outgrows, one for an atom."""
        sizes: dict[str, list[Fraction]] = {}
        for group, _ in groups:
            for loss in group.losses:
                for atom, c in loss.items():
                    sizes.setdefault(atom, []).append(c)
        self.units = {
            atom: Fraction(
                math.gcd(*(c.numerator for c in cs)), math.lcm(*(c.denominator for c in cs))
            )
            for atom, cs in sizes.items()
        }
        reach = 1
        for group, count in groups:
            tops = [abs(c / self.units[atom]) for loss in group.losses for atom, c in loss.items()]
            reach += math.ceil(max(tops, default=Fraction(0))) * count
        self.base = 2 * reach + 1
        if len(self.units) * self.base.bit_length() > 4000:
            raise Invalid("too many different losses for this checker")
        for atom, unit in self.units.items():
            if atom not in self.grown:
                self.grown[atom] = exponential_atom(atom, unit, self.a)
        self.atoms: dict[str, Interval] = {}
        self.powers: dict[tuple[str, int], Interval] = {}

    def _key(self, loss: Linear) -> int:
        places = list(self.units)
        return sum(
            int(c / self.units[atom]) * self.base ** places.index(atom) for atom, c in loss.items()
        )

    def _digits(self, key: int) -> Iterator[tuple[str, int]]:
        for atom in self.units:
            digit = key % self.base
            digit -= self.base if digit > self.base // 2 else 0
            key = (key - digit) // self.base
            if digit:
                yield atom, digit

    def _value(self, key: int) -> Interval:
        """The loss that a key codes."""
        total = self.a.exact(0)
        for atom, digit in self._digits(key):
            if atom not in self.atoms:
                tree = "1" if atom == "1" else json.loads(atom)
                known = tree[0] != "sampled"
                value = number(tree, self.a) if known else log(self.grown[atom])
                self.atoms[atom] = value * self.units[atom]
            total = total + self.atoms[atom] * digit
        return total

    def _shifted(self, point: Point, key: int) -> Point:
        """``x`` less the loss of ``key``."""
        grown = point.grown
        for atom, digit in self._digits(key):
            if (atom, digit) not in self.powers:
                self.powers[atom, digit] = self.grown[atom] ** -digit
            grown = grown * self.powers[atom, digit]
        needed = self.continuous is not no_continuous_part or (
            point.value is not None and set(self.units) <= {"1"}
        )
        return Point(self.a, grown, point.x - self._value(key) if needed else None)

    def delta(self, point: Point) -> Interval:
        """The profile at ``point``."""
        a = self.a
        if self.sampled is not None:
            return self._sampled_once(point, *self.sampled)
        low = high = Fraction(0)
        a.spend(12 * len(self.law.masses))
        for key, mass in self.law.masses.items():
            value = self.continuous(self._shifted(point, key))
            low, high = low + mass * value.lo, high + mass * value.hi
            if max(_size(low), _size(high)) > EXACT_BITS * 4:
                low, high = a.down(low), -a.down(-high)
        low, high = low / self.law.scale, high / self.law.scale
        missing = 1 - self.infinite.lo - Fraction(sum(self.law.masses.values()), self.law.scale)
        if missing > 0:
            high += missing * self._at_largest(point)
        return a.make(self.infinite.lo + low, min(Fraction(1), self.infinite.hi + high))

    def _at_largest(self, point: Point) -> Fraction:
        if not self.bounded:
            return Fraction(1)
        x = point.x - self.largest
        return self.continuous(Point(self.a, exp(x), x)).hi

    def _sampled_once(self, point: Point, base: Profile, rate: Interval, way: str) -> Interval:
        """Balle, Barthe, Gaboardi 2018: ``poisson`` of one step, any mechanism."""
        one = self.a.exact(1)
        if way == "remove":
            return base.delta(Point(self.a, one + (point.grown - 1) / rate)) * rate
        rest = one - (one - rate) * point.grown
        if rest.hi <= 0:
            return self.a.exact(0)
        if rest.lo <= 0:
            return self.a.make(Fraction(0), rest.hi)
        return base.delta(Point(self.a, rate * point.grown / rest)) * rest


def _beside(lost: Interval) -> Outcomes:
    """A mass of infinite loss, beside something else."""
    return Outcomes([lost.a.exact(1) - lost], [], [{}], lost)


def _published(tree: Tree, a: Arithmetic) -> Interval:
    """How likely the noisy count of one user is at least the threshold."""
    name, _ = _parts(tree[1])
    if name not in ("gaussian", "laplace"):
        raise Invalid(f"this checker has no route for a threshold of {name}")
    _, _, values = parameters(tree[1], a)
    away = (number(tree[2], a) - values[1]) / values[0]
    if name == "gaussian":
        return upper_tail(away)
    if away.lo < 0 < away.hi:
        raise Undecided("the bits do not tell the sensitivity from the threshold")
    half = exp(-away if away.lo >= 0 else away) * Fraction(1, 2)
    return half if away.lo >= 0 else a.exact(1) - half


# --- coins that everybody sees --------------------------------------------------------------------


def sides_of(tree: Tree, a: Arithmetic) -> list[tuple[Interval, Steps]] | None:
    """What may run, with its probability; None without a coin."""
    if tree[0] == "mix":
        weights = entries(tree, a)
        return [
            (weight, steps_of(part))
            for (weight,), (_, part) in zip(weights, tree[1:], strict=True)
            if weight.hi > 0
        ]
    replaced = tree[0] == "replace"
    cut = tree[1] if replaced else tree
    if cut[0] != "truncated_poisson":
        return None
    _, trees, (q, *_) = parameters(cut, a)
    n, batch = map(int, trees[2:])
    whole: Tree = ["poisson", *trees[:2]]
    whole = ["replace", whole] if replaced else whole
    if q.hi == 0 or batch == 0:
        return [(a.exact(1), {})]
    if batch >= n:
        return [(a.exact(1), steps_of(whole))]
    full, _ = cut_law(cut, a)
    both = {json.dumps(["cut", cut]): 1}
    if q.lo == 1:
        return [(full, both)]
    return [(a.exact(1) - full, steps_of(whole)), (full, both)]


def cases_of(steps: Steps, a: Arithmetic) -> list[tuple[Interval, Steps]]:
    """The outcomes of all coins, with what runs then; a few at most."""
    for step, count in steps.items():
        sides = sides_of(json.loads(step), a)
        if sides is None:
            continue
        several = len(sides) > 1
        few = not several or max(count, len(sides)) <= MAX_CASES
        if not few or math.comb(count + len(sides) - 1, len(sides) - 1) > MAX_CASES:
            raise Invalid("more outcomes of coins than this checker averages over")
        rest = {other: times for other, times in steps.items() if other != step}
        return [
            (chance * also, case)
            for chance, tossed in _tossed(sides, count, a)
            for also, case in cases_of(_merged(rest, tossed), a)
        ]
    a.spend(5_000)
    return [(a.exact(1), steps)]


def _tossed(
    sides: list[tuple[Interval, Steps]], count: int, a: Arithmetic
) -> Iterator[tuple[Interval, Steps]]:
    """How often each side comes up: the multinomial law."""
    (chance, run), *others = sides
    for times in range(count + 1) if others else (count,):
        here = a.exact(math.comb(count, times)) * chance**times
        law = {step: n * times for step, n in run.items() if times}
        if not others:
            yield here, law
            continue
        for also, rest in _tossed(others, count - times, a):
            yield here * also, _merged(law, rest)


def _merged(one: Steps, other: Steps) -> Steps:
    return {step: one.get(step, 0) + other.get(step, 0) for step in {**one, **other}}


AnyProfile: TypeAlias = "Profile | Guarantees | Average | Ranges"
Profiles: TypeAlias = "list[AnyProfile]"


class Average:
    """The profile where everybody sees what runs: the mean of those of the cases."""

    def __init__(self, cases: list[tuple[Interval, Steps]], way: str, a: Arithmetic) -> None:
        self.a = a
        self.cases = [(chance, profile_of(steps, way, a)) for chance, steps in cases]
        self.infinite = self._mean(lambda profile: profile.infinite)
        self.unbounded: bool = any(p.unbounded for chance, p in self.cases if chance.lo > 0)

    def _mean(self, of: Callable[[AnyProfile], Interval]) -> Interval:
        parts = (chance * of(profile) for chance, profile in self.cases)
        return reduce(lambda x, y: x + y, parts)

    def delta(self, point: Point) -> Interval:
        """The profile at ``point``."""
        found = self._mean(lambda profile: profile.delta(point))
        return Interval(found.lo, min(found.hi, Fraction(1)), self.a)


# --- guarantees that no pair of laws stands for ---------------------------------------------------


class Guarantees:
    r"""An upper bound on the profile from Renyi divergences ``D_b``, which add up.

    For every ``t > 0`` (Steinke 2022, Proposition 14)

    .. math:: \log\delta \le t (D_{t+1} - \varepsilon) + t \log t - (t + 1) \log(t + 1):

    the least at the given orders; or at all, where ``D_b <= xi + b rho``; or beside samples of such
    steps at integers, where ``E (P/Q)^n`` is at most a binomial sum (Steinke 2022, Theorem 34).
    Where order 2 is one of them it has its own best bound. A mass of infinite loss stays apart from
    zCDP (the theory's page on classic bounds).
    """

    unbounded = True

    def __init__(self, steps: Steps, a: Arithmetic) -> None:
        self.a = a
        self.xi, self.rho, kept = a.exact(0), a.exact(0), a.exact(1)
        self.curves: list[tuple[list[tuple[Fraction, Fraction]], int]] = []
        self.responses: list[tuple[Interval, int]] = []
        self.samples: list[tuple[Guarantees, Interval, int]] = []
        for step, count in steps.items():
            tree = json.loads(step)
            name, _, values = parameters(tree, a)
            if name == "renyi_dp":
                self.curves.append(([(b.lo, d.lo) for b, d in entries(tree, a)], count))
            elif name == "zcdp":
                if values[1].lo <= 0:  # of which more is known than this bound
                    raise Undecided("rho cannot be told from 0")
                self.xi, self.rho = self.xi + values[0] * count, self.rho + values[1] * count
            elif name in ("gaussian", "gdp"):
                rate = values[0] if name == "gdp" else values[1] / values[0]
                self.rho = self.rho + rate * rate * Fraction(count, 2)
            elif name == "poisson" and '"zcdp"' in step:
                inner = Guarantees(steps_of(tree[1]), a)
                if inner.curves or inner.samples or inner.responses:
                    raise Invalid("this checker has no route for this sample of a guarantee")
                self.samples.append((inner, values[0], count))
            elif name in ("pure_dp", "approx_dp"):
                self.responses.append((values[0], count))
                if name == "approx_dp" and values[1].hi > 0:
                    kept = kept * (a.exact(1) - values[1]).positive_part() ** count
            else:
                raise Invalid(f"this checker has no route for {name} beside a guarantee")
        self.infinite = a.exact(1) - kept
        self.orders: list[Fraction] = []
        if self.curves or self.samples:
            if self.infinite.hi > 0:
                raise Invalid("a mass of infinite loss beside Renyi divergences")
            if self.curves and self.samples:
                raise Invalid("divergences at given orders beside samples of zCDP")
        if self.curves:
            last = min(rows[-1][0] for rows, _ in self.curves)
            self.orders = sorted({b for rows, _ in self.curves for b, _ in rows if b <= last})
        elif not self.samples:  # a step of eps-DP has rho = eps^2/2
            for loss, count in self.responses:
                self.rho = self.rho + loss * loss * Fraction(count, 2)
        self.unbounded = self.infinite.hi < 1

    def delta(self, point: Point) -> Interval:
        """The bound at ``point``."""
        one = self.a.exact(1)
        if self.infinite.hi == 1:
            return Interval(self.infinite.lo, Fraction(1), self.a)
        if self.samples:
            log = self._by_integers(point.x)
        elif self.orders:
            log = reduce(_least, (self._at_order(order, point.x) for order in self.orders))
        else:
            log = self._concentrated(point.x - self.xi)
        bound = exp(_least(log, self.a.exact(0)))
        if self.samples or 2 in self.orders:
            bound = _least(bound, self._by_squares(point.x))
        return self.infinite + (one - self.infinite) * bound

    def _by_squares(self, x: Interval) -> Interval:
        """``(sqrt(a^2 + c) - a)/2``, ``a = e^x - 1`` and ``c = e^{D_2} - 1``."""
        one = self.a.exact(1)
        away, excess = exp(x) - one, exp(self._divergence(Fraction(2))) - one
        root = sqrt((away * away + excess).positive_part())
        if away.lo > 0:  # without cancellation
            return excess / ((root + away) * 2)
        return (root - away) * Fraction(1, 2)

    def _at_order(self, order: Fraction, x: Interval) -> Interval:
        t = self.a.exact(order - 1)
        self.a.spend(100)
        constant = t * log(t) - (t + 1) * log(t + 1)
        return (self._divergence(order) - x) * t + constant

    def _by_integers(self, x: Interval) -> Interval:
        """The least at the integer orders up to ``MAX_ORDER``, along which the logarithm is convex.

        Log-convex moments have a log-convex binomial convolution (Davenport, Polya 1949).
        """
        at = lru_cache(maxsize=None)(lambda order: self._at_order(Fraction(order), x))

        def rises(order: int) -> int:
            step = at(order + 1) - at(order)
            return (step.lo > 0) - (step.hi < 0)

        low, high = 2, 3
        while high < MAX_ORDER and rises(high) <= 0:
            low, high = high, min(2 * high, MAX_ORDER)
        while low < high:  # the first order after which the bound is certain to rise
            middle = (low + high) // 2
            low, high = (low, middle) if rises(middle) > 0 else (middle + 1, high)
        while low > 2 and rises(low - 1) >= 0:
            low -= 1
        return reduce(_least, map(at, range(low, high + 1)))

    def _sampled(self, inner: Guarantees, q: Interval, order: int) -> Interval:
        """``log sum C(n, k) (1 - q)^(n - k) q^k e^((k - 1)(xi + k rho))``."""
        a, rest = self.a, self.a.exact(1) - q
        a.spend(12 * order)
        total, chance, odds = a.exact(1), rest ** (order - 1) * q * order, q / rest
        moment, ratio, grown = a.exact(1), exp(inner.xi), exp(inner.rho * 2)
        for k in range(2, order + 1):  # below 2 the moment is 1
            chance, ratio = chance * odds * Fraction(order - k + 1, k), ratio * grown
            moment = moment * ratio
            total = total + (moment - 1) * chance
        return log(total)

    def _divergence(self, order: Fraction) -> Interval:
        a = self.a
        total = self.xi + self.rho * order
        for rows, count in self.curves:
            total = total + a.exact(_between(rows, order) * count)
        for inner, q, count in self.samples:
            sample = self._sampled(inner, q, order.numerator)
            total = total + sample * a.exact(Fraction(count) / (order - 1))
        for loss, count in self.responses:
            moment = exp(loss * order) + exp(loss * (1 - order))
            part = log(moment / (exp(loss) + 1)) / a.exact(order - 1)
            total = total + part * count
        return total

    def _concentrated(self, x: Interval) -> Interval:
        """``-rho t^2 - log(1 + t)`` at the ``t`` with ``(2t + 1) rho - log(1 + 1/t) = x``."""
        a, rho = self.a, self.rho
        if rho.lo <= 0:
            raise Undecided("rho cannot be told from 0")

        def side(t: Fraction) -> int:
            at = a.exact(t)
            gap = (at * 2 + 1) * rho - log(a.exact(1) + a.exact(1) / at) - x
            return (gap.lo > 0) - (gap.hi < 0)

        low = high = Fraction(1)
        near = Fraction(1, 1 << (a.bits + 16))
        while low > near and side(low) >= 0:
            low = low / 2
        sign = side(low)
        if not sign:
            raise Undecided("the bits do not tell the best order")
        if sign > 0:  # delta is next to 1, its value at 0
            low, high = Fraction(0), low
        else:
            while side(high) <= 0:
                high = high * 2
            low, high = crossing(side, low, high, a.bits + 16)
        least, most = (-(rho * end * end) - log(end + 1) for end in (a.exact(high), a.exact(low)))
        return a.make(least.lo, most.hi)


class Ranges:
    r"""``k`` runs of one bounded range that do not look at results (Dong, Durfee, Rogers 2020).

    The worst have losses ``t`` and ``t - eps`` alone, and for some ``t`` and ``l`` delta at ``g``
    is ``P(I <= l) - e^g Q(I <= l)``, ``I`` the number of those of ``t - eps``. Of each ``l`` the
    best ``t`` is ``(g + (l + 1) eps)/(k + 1)``, or ``eps``, where nothing is lost (the theory's
    page on selection).
    """

    unbounded = False

    def __init__(self, steps: Steps, a: Arithmetic) -> None:
        ((step, self.count),) = steps.items()
        _, _, (self.range,) = parameters(json.loads(step), a)
        self.a, self.infinite = a, a.exact(0)

    def delta(self, point: Point) -> Interval:
        """The profile at ``point``."""
        one, best = self.a.exact(1), self.a.exact(0)
        scale = one - exp(-self.range)
        for low in range(self.count):
            t = (point.x + self.range * (low + 1)) / (self.count + 1)
            if (t - self.range).lo >= 0:
                break
            p = (one - exp(t - self.range)) / scale
            chances = (_binomial_tail(self.count, self.count - low, x) for x in (p, p * exp(-t)))
            above, below = chances
            best = _worst([best, above - point.grown * below], self.a)
        return best


def _between(rows: list[tuple[Fraction, Fraction]], order: Fraction) -> Fraction:
    """``D`` at an order up to the last: it grows with the order, and ``(b - 1) D_b`` is convex."""
    later = [(b, d) for b, d in rows if b >= order]
    least = min(d for _, d in later)
    earlier = rows[: len(rows) - len(later)]
    if not earlier or later[0][0] == order:
        return least
    (b, low), (c, high) = earlier[-1], later[0]
    chord = ((c - order) * (b - 1) * low + (order - b) * (c - 1) * high) / (c - b)
    return min(least, chord / (order - 1))


def profile_of(steps: Steps, way: str, a: Arithmetic) -> AnyProfile:
    """The profile of a composition in one direction, or the bound on it that guarantees give."""
    if any(re.match(r'\["(zcdp"|renyi_dp"|poisson", .*"zcdp")', step) for step in steps):
        return Guarantees(steps, a)
    if len(steps) == 1 and next(iter(steps)).startswith('["bounded_range"'):
        return Ranges(steps, a)
    cases = cases_of(steps, a)
    return Profile(steps, way, a) if cases == [(a.exact(1), steps)] else Average(cases, way, a)


# --- statements -----------------------------------------------------------------------------------

_STATEMENT: Final = {
    *("mechanism", "text", "quantity", "at", "direction"),
    *("lower", "upper", "digits", "bits", "method"),
}
CONTOUR: Final = "contour"
TRANSFORM: Final = "Laplace transform"
PLANNED: Final = (CONTOUR, TRANSFORM)
"""Methods of statements with a plan, which ``dpexact.certificate_checker_mpfr`` verifies."""
_METHODS: Final = (
    *("finite sum", "finite sum with a Gaussian", "finite sum with Laplace steps"),
    "Renyi divergences",
)


@dataclass(frozen=True)
class Claim:
    """What a statement says; ``reflected`` where it is a delta at a negative epsilon."""

    tree: Tree
    text: str
    quantity: str
    at: Tree
    ways: tuple[str, ...]
    lower: Fraction | None
    upper: Fraction | None
    steps: Steps
    a: Arithmetic
    reflected: bool


def claim_of(statement: Any, bits: int | None = None) -> Claim:
    """Read a statement; refuse mechanisms that cannot exist, and bounds of other digits.

    Args:
        statement: what to read.
        bits: those to compute with; None for those of the statement.
    """
    planned = isinstance(statement, dict) and statement.get("method") in PLANNED
    _members(statement, _STATEMENT | {"plan"} if planned else _STATEMENT, "a statement")
    tree = statement["mechanism"]
    text = shown(tree)
    if statement["text"] != text:
        raise Invalid("the text is not that of the mechanism")
    a = Arithmetic(natural(statement["bits"], 32, MAX_BITS) if bits is None else bits)
    check_domains(tree, a)
    check_neighbours(tree)
    quantity, way = statement["quantity"], statement["direction"]
    if quantity not in ("delta", "epsilon") or way not in ("remove", "add", "both"):
        raise Unreadable("an unknown quantity or direction")
    lower, upper = _bound(statement["lower"]), _bound(statement["upper"])
    _check_digits(statement["digits"], lower, upper)
    at = statement["at"]
    inner = tree[1] if tree[0] == "repeat" else tree
    for name, found in (("fixed_size", tree), ("bounded_range", inner)):
        if name in text and found[0] != name:
            raise Invalid(f"this checker has no route for {name} beside others")
    reflected = quantity == "delta" and number(at, a).hi < 0
    ways = ways_of(way, text, reflected)
    return Claim(tree, text, quantity, at, ways, lower, upper, steps_of(tree), a, reflected)


def ways_of(way: str, text: str, reflected: bool = False) -> tuple[str, ...]:
    """The directions to compute; noise, responses and what is replaced are symmetric."""
    if "fixed_size" in text:  # a replaced record is either
        return "remove", "add"
    if way == "both":
        names = ("poisson", "gaussian_mixture", "pair(", "allocation", "partition_selection")
        directed = any(name in text for name in names)
        return ("remove", "add") if directed else ("remove",)
    return ("remove" if (way == "add") == reflected else "add",)


def check_statement(statement: Any, bits: int | None = None) -> str:
    """Verify that the quantity lies between the bounds, and that no closer ones have the digits.

    Raises:
        Unreadable: it is not of the form that is specified.
        Invalid: it is wrong, or cannot be verified.
    """
    claim = claim_of(statement, bits)
    if statement["method"] in PLANNED:
        checker = "python -m dpexact.certificate_checker_mpfr FILE"
        raise Unreadable(f"a {statement['method']}: {checker}")
    a = claim.a
    profiles = [profile_of(claim.steps, way, a) for way in claim.ways]
    if statement["method"] != method_of(claim.steps):
        raise Invalid("the method is not that of the mechanism")
    if claim.quantity == "delta":
        _check_delta(profiles, claim)
    else:
        _check_epsilon(profiles, claim.at, claim.lower, claim.upper, a)
    return told(claim)


def told(claim: Claim) -> str:
    """What a statement is about."""
    bound = "bound on " if only_bounded(claim.tree) else ""
    return f"{bound}{claim.quantity} of {claim.text[:200]}"


def method_of(steps: Steps) -> str:
    """The kind of sum that the profile is."""
    text = " ".join(steps)
    if '"zcdp"' in text or '"renyi_dp"' in text:
        return _METHODS[3]
    if '"laplace"' in text or '"truncated_laplace"' in text:
        return _METHODS[2]
    return _METHODS['"gaussian' in text or '"gdp"' in text]


def _bound(text: Any) -> Fraction | None:
    return None if text == "inf" else rational(text)


def _check_digits(digits: Any, lower: Fraction | None, upper: Fraction | None) -> None:
    """An exact value, or two consecutive numbers of so many significant decimal digits."""
    if digits == "exact":
        if lower != upper:
            raise Invalid("an exact value has two bounds")
        return
    count = natural(digits, 1, 4000)
    if lower is None or upper is None or lower <= 0 or upper != following(lower, count):
        raise Invalid("the bounds are not consecutive numbers of the stated digits")


def following(x: Fraction, digits: int) -> Fraction | None:
    """The next number of so many significant decimal digits; None if ``x`` is not such a number."""
    magnitude = len(str(x.numerator)) - len(str(x.denominator))
    magnitude -= Fraction(10) ** magnitude > x
    unit = Fraction(10) ** (magnitude - digits + 1)
    return x + unit if (x / unit).denominator == 1 else None


def _worst(values: list[Interval], a: Arithmetic) -> Interval:
    return a.make(max(v.lo for v in values), max(v.hi for v in values))


def _check_delta(profiles: Profiles, claim: Claim) -> None:
    a, lower, upper = claim.a, claim.lower, claim.upper
    if lower is None or upper is None:
        raise Invalid("delta is not infinite")
    epsilon, grown = number(claim.at, a), exponential(claim.at, a)
    if claim.reflected:
        point = Point(a, a.exact(1) / grown, a.exact(0) - epsilon)
    elif epsilon.lo < 0:
        raise Undecided("the bits do not tell the sign of epsilon")
    else:
        point = Point(a, grown, epsilon)
    found = _worst([profile.delta(point) for profile in profiles], a)
    if claim.reflected:  # 1 - E + E delta: the best test of the laws exchanged, turned around
        found = a.exact(1) - grown * (a.exact(1) - found)
    if lower == upper:
        if found.lo != found.hi:
            raise (
                Undecided("the exact value is not found")
                if found.lo <= lower <= found.hi
                else (Refuted("the bounds exclude the truth"))
            )
        if found.lo != lower:
            raise Refuted("the exact value is another")
    elif found.hi <= lower or found.lo >= upper:
        raise Refuted("the bounds exclude the truth")
    elif not (lower < found.lo and found.hi < upper):
        raise Undecided("the bits do not tell the truth from a bound")


def _check_epsilon(
    profiles: Profiles, at: Tree, lower: Fraction | None, upper: Fraction | None, a: Arithmetic
) -> None:
    target = number(at, a)
    if target.lo < 0 or target.hi > 1:
        raise Invalid("delta is not in [0, 1]")

    def side(x: Fraction) -> int:
        """1 if delta(x) is above the target, -1 if it is not."""
        point = Point(a, exp(a.exact(x)), a.exact(x))
        found = _worst([profile.delta(point) for profile in profiles], a)
        if found.lo > target.hi:
            return 1
        if found.hi <= target.lo:
            return -1
        raise Undecided("the bits do not tell delta from its value at a bound")

    if upper is None:
        lost = _worst([profile.infinite for profile in profiles], a)
        attained = lost.fraction is not None and lost.fraction == target.fraction
        unbounded = any(p.unbounded and p.infinite == lost for p in profiles)
        if not (lost.lo > target.hi or (attained and unbounded and target.hi < 1)):
            raise Invalid("epsilon is not certainly infinite")
    elif lower == upper != 0:
        raise Invalid("an exact epsilon is 0 or infinite")
    elif side(upper) > 0 or (lower and side(lower) < 0):
        raise Refuted("the bounds exclude the truth")


# --- verdicts -------------------------------------------------------------------------------------

_FINDING: Final = {"id", "kind", "claimed", "tolerance", "verdict", "statement"}


Verifier = Callable[[Any], str]


def check_finding(finding: Any, verify: Verifier = check_statement) -> str:
    """Verify a statement, and that a verdict on a claim follows from it."""
    _members(finding, _FINDING, "a finding")
    statement, claimed, kind = finding["statement"], finding["claimed"], finding["kind"]
    what = verify(statement)
    a = Arithmetic(natural(statement["bits"], 32, MAX_BITS))
    lower, upper = _bound(statement["lower"]), _bound(statement["upper"])
    if only_bounded(statement["mechanism"]):  # the truth is anywhere from 0 to the bound
        lower = Fraction(-1)
        if upper is None:
            raise Invalid("an infinite upper bound says nothing")
    value = None if claimed in ("inf", "-inf") else number(claimed, a)
    sign = -1 if claimed == "-inf" else 1
    if kind == "estimate":
        tolerance = rational(finding["tolerance"])
        verdict = _estimate(value, sign, lower, upper, tolerance)
    elif kind in ("upper", "lower") and finding["tolerance"] == "0":
        verdict = _one_sided(kind == "upper", value, sign, lower, upper)
    else:
        raise Unreadable("an unknown kind of claim, or a tolerance of one without")
    if not verdict or finding["verdict"] != verdict:
        raise Invalid("the verdict does not follow from the bounds")
    return f"{finding['id'][:100]}: {verdict}, {what}"


def _one_sided(
    above: bool,
    value: Interval | None,
    sign: int,
    lower: Fraction | None,
    upper: Fraction | None,
) -> str:
    """A claim that the truth is at most (``above``) or at least the value; the truth is one number
    or larger than the lower bound."""
    if value is None:
        right = sign > 0 if above else sign < 0 or upper is None
        return "sound" if right else "unsound"
    if lower is None or upper is None:
        return "unsound" if above else "sound"
    inside = lower < upper
    if above:
        right, wrong = value.lo >= upper, value.hi < lower or (inside and value.hi == lower)
    else:
        right, wrong = value.hi <= lower, value.lo > upper
    return "sound" if right else "unsound" if wrong else ""


def _estimate(
    value: Interval | None,
    sign: int,
    lower: Fraction | None,
    upper: Fraction | None,
    tolerance: Fraction,
) -> str:
    """``|c - t| <= tolerance t`` for every ``t`` between the bounds."""
    if tolerance < 0:
        raise Unreadable("a negative tolerance")
    if value is None or lower is None or upper is None:
        same = value is None and sign > 0 and upper is None
        return "accurate" if same else "inaccurate" if value is None or tolerance < 1 else ""
    ends = lower, upper
    floors, ceilings = ([t * (1 + s * tolerance) for t in ends] for s in (-1, 1))
    if max(floors) <= value.lo and value.hi <= min(ceilings):
        return "accurate"
    return "inaccurate" if value.hi < min(floors) or value.lo > max(ceilings) else ""


# --- files ----------------------------------------------------------------------------------------


def digest(document: dict[str, Any]) -> str:
    """SHA-256 of all members but ``digest``, as JSON with sorted keys and no spaces."""
    content = {name: value for name, value in document.items() if name != "digest"}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def _members(value: Any, names: set[str], what: str) -> None:
    if not isinstance(value, dict) or set(value) != names:
        raise Unreadable(f"{what} does not have the members {', '.join(sorted(names))}")
    for name, member in value.items():
        if name not in ("mechanism", "at", "claimed", "statement", "plan") and not isinstance(
            member, str
        ):
            raise Unreadable(f"{name} of {what} is not text")


def read(text: bytes) -> dict[str, Any]:
    """The document in ``text``.

    Raises:
        Unreadable: it is no certificate of this version.
    """
    if len(text) > MAX_BYTES:
        raise Unreadable(f"more than {MAX_BYTES} bytes")
    depth = 0
    for match in re.finditer(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|["\[{\]}]', text):
        if match[0] == b'"':  # without an end; looking for one again and again takes for ever
            raise Unreadable("not JSON")
        depth += (match[0] in (b"[", b"{")) - (match[0] in (b"]", b"}"))
        if depth > MAX_DEPTH:
            raise Unreadable(f"nested more than {MAX_DEPTH} deep")

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise Unreadable("a member is given twice")
        return found

    def refuse(_: str) -> NoReturn:
        raise Unreadable("a number that is not text")

    try:
        document = json.loads(
            text.decode("utf-8"),
            object_pairs_hook=members,
            parse_int=refuse,
            parse_float=refuse,
            parse_constant=refuse,
        )
    except (ValueError, RecursionError):
        raise Unreadable("not JSON") from None
    names = {"format", "version", "digest", "statements", "findings", "uncertified"}
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise Unreadable("not a dpexact certificate")
    if document.get("version") != VERSION:
        raise Unreadable(f"not of version {VERSION}")
    if set(document) != names:
        raise Unreadable(f"its members are not {', '.join(sorted(names))}")
    if not all(
        isinstance(document[name], list) for name in ("statements", "findings", "uncertified")
    ):
        raise Unreadable("statements, findings and uncertified are not lists")
    return document


def check(document: dict[str, Any], verify: Verifier = check_statement) -> list[str]:
    """Verify a whole certificate; a line for each thing that is verified.

    Raises:
        Unreadable: it is not of the form that is specified.
        Invalid: something is wrong, or cannot be verified.
    """
    if document["digest"] != digest(document):
        raise Invalid("the digest is not that of the content")
    for entry in document["uncertified"]:
        _members(entry, {"id", "reason"}, "an uncertified finding")
    lines = [verify(statement) for statement in document["statements"]]
    lines += [check_finding(finding, verify) for finding in document["findings"]]
    if not lines:
        raise Invalid("it states nothing")
    return lines


def main(
    arguments: list[str],
    verify: Verifier = check_statement,
    name: str = "dpexact.certificate_checker",
) -> int:
    """Check one file; see the module."""
    if len(arguments) != 1:
        print(f"usage: python -m {name} FILE", file=sys.stderr)
        return 2
    try:
        with open(arguments[0], "rb") as file:
            document = read(file.read(MAX_BYTES + 1))
        lines = check(document, verify)
    except OSError as error:
        print(f"unreadable: {error.strerror}", file=sys.stderr)
        return 2
    except Unreadable as error:
        print(f"unreadable: {error}", file=sys.stderr)
        return 2
    except Invalid as error:
        print(f"invalid: {error}")
        return 1
    except (RecursionError, MemoryError, OverflowError):
        print("invalid: beyond the limits of this checker")
        return 1
    left = len(document["uncertified"])
    print(f"valid: {len(lines)} verified" + (f", {left} without certificate" if left else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
