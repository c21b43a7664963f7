"""Exact real numbers, kept without rounding.

A :class:`Real` is a rational number or an expression over rationals in ``+ - * / ^``, ``log``,
``exp``, ``sqrt``, ``pi`` and ``e``. Rational parts are folded, so every rational value is one
``Fraction``; everything else stays symbolic until :mod:`dpexact.balls` encloses it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Final

from dpexact.errors import InvalidInput
from dpexact.tokens import shorten

#: Largest size of a rational part, in bits of numerator plus denominator: about 10^(+-120,000).
MAX_BITS: Final = 400_000
#: Largest height of an expression; what is nested no deeper is printed, compared and parsed back.
MAX_HEIGHT: Final = 80

#: Bits of a binomial probability, the number of trials times those of the rate, written out.
_EXACT_TAIL: Final = 20_000


@dataclass(frozen=True, slots=True)
class Real:
    """An exact real number.

    Invariants, kept by the constructors below: ``operator`` is ``"rational"`` exactly when the
    expression folded to one ``Fraction`` (then ``fraction`` holds it and ``arguments`` is empty);
    otherwise ``operator`` is one of ``pi e log exp sqrt + * / ^`` and ``arguments`` its operands
    (the exponent of ``^`` is a rational integer). ``height`` is the longest chain of operations.
    Equality is equality of expressions.
    """

    operator: str
    arguments: tuple[Real, ...] = ()
    fraction: Fraction | None = None
    height: int = field(default=0, init=False, compare=False)
    #: The hash of a fraction, once it was asked for.
    _hashed: int = field(default=0, init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.arguments:
            return
        height = 1 + max(argument.height for argument in self.arguments)
        if height > MAX_HEIGHT:
            raise InvalidInput(f"number with more than {MAX_HEIGHT} nested operations")
        object.__setattr__(self, "height", height)

    def __hash__(self) -> int:
        # that of a fraction inverts its denominator: a hundred thousand of them take their time
        if self.fraction is None:
            return hash((self.operator, self.arguments))
        if not self._hashed:
            object.__setattr__(self, "_hashed", hash(self.fraction.as_integer_ratio()))
        return self._hashed

    @property
    def value(self) -> Fraction:
        """The ``fraction`` of what is known to be rational."""
        assert self.fraction is not None
        return self.fraction

    # --- arithmetic: operands are reals, integers and fractions, never floats ---------------------

    def __add__(self, other: Real | Fraction | int) -> Real:
        other = _operand(other)
        a, b = self.fraction, other.fraction
        if a is not None and b is not None:
            return rational(a + b)
        if a == 0:
            return other
        return self if b == 0 else Real("+", (self, other))

    def __radd__(self, other: Fraction | int) -> Real:
        return _operand(other) + self

    def __sub__(self, other: Real | Fraction | int) -> Real:
        return self + -_operand(other)

    def __rsub__(self, other: Fraction | int) -> Real:
        return _operand(other) + -self

    def __mul__(self, other: Real | Fraction | int) -> Real:
        other = _operand(other)
        a, b = self.fraction, other.fraction
        if a is not None and b is not None:
            return rational(a * b)
        if a == 0 or b == 0:
            return rational(0)
        if a == 1:
            return other
        return self if b == 1 else Real("*", (self, other))

    def __rmul__(self, other: Fraction | int) -> Real:
        return _operand(other) * self

    def __neg__(self) -> Real:
        return rational(-1) * self

    def __truediv__(self, other: Real | Fraction | int) -> Real:
        """Refuses a divisor that is visibly 0 (a hidden zero is refused when enclosed)."""
        other = _operand(other)
        a, b = self.fraction, other.fraction
        if b == 0:
            raise InvalidInput(f"division by zero in {shorten(f'{self}/0')!r}")
        if a is not None and b is not None:
            return rational(a / b)
        return self if b == 1 else Real("/", (self, other))

    def __rtruediv__(self, other: Fraction | int) -> Real:
        return _operand(other) / self

    def __pow__(self, exponent: Real | Fraction | int) -> Real:
        """``self ^ exponent`` for an integer ``exponent``."""
        exponent = _operand(exponent)
        n, a = exponent.fraction, self.fraction
        if n is None or n.denominator != 1:
            raise InvalidInput(f"exponent {shorten(str(exponent))} of a number must be an integer")
        k = n.numerator
        if abs(k) > MAX_BITS:
            raise InvalidInput(f"exponent {shorten(str(exponent))} is too large")
        if a is None:
            return self if k == 1 else rational(1) if k == 0 else Real("^", (self, rational(k)))
        if a == 0 and k < 0:
            raise InvalidInput(f"division by zero in '0^{k}'")
        if abs(a) != 1 and a != 0 and (bits_of(a) - 2) * abs(k) > MAX_BITS:
            size = "large" if (abs(a) > 1) == (k > 0) else "small"
            raise InvalidInput(f"number too {size}: {shorten(str(self))}^{k}")
        return rational(a**k)

    def __str__(self) -> str:
        return _print(self, 0)

    def __repr__(self) -> str:
        return f"Real({str(self)!r})"


# --- constructors -------------------------------------------------------------------------------


def rational(value: Fraction | int) -> Real:
    """The rational ``value``; refuses one of more than ``MAX_BITS`` bits."""
    fraction = value if type(value) is Fraction else Fraction(value)
    if bits_of(fraction) > MAX_BITS:
        above, below = fraction.numerator.bit_length(), fraction.denominator.bit_length()
        size = "large" if above > 2 * below else "small" if below > 2 * above else "long"
        raise InvalidInput(f"number too {size}: more than {MAX_BITS} bits are not accepted")
    return Real("rational", (), fraction)


def bits_of(value: Fraction) -> int:
    """The size of a fraction: bits of numerator plus denominator."""
    return value.numerator.bit_length() + value.denominator.bit_length()


def _operand(value: Real | Fraction | int) -> Real:
    if isinstance(value, Real):
        return value
    if isinstance(value, int | Fraction):
        return rational(value)
    raise TypeError(f"{value!r} is not an exact number: use real({value!r}) to say what it means")


ZERO: Final = rational(0)
ONE: Final = rational(1)
PI: Final = Real("pi")
E: Final = Real("e")


def binomial_tail(n: int, q: Real, least: int) -> Real:
    """``P(Binomial(n, q) >= least)``: a rational where few digits are needed to write it out."""
    if least <= 0:
        return ONE
    if least > n or q.fraction == 0:
        return ZERO
    if q.fraction is not None and n * bits_of(q.fraction) <= _EXACT_TAIL:
        odds = (q.fraction.numerator, q.fraction.denominator - q.fraction.numerator)
        top = sum(math.comb(n, j) * odds[0] ** j * odds[1] ** (n - j) for j in range(least, n + 1))
        return rational(Fraction(top, q.fraction.denominator**n))
    return Real("binomial_tail", (rational(n), q, rational(least)))


def logarithm(a: Real) -> Real:
    """``log(a)``, natural; refuses a rational ``a <= 0``."""
    if a.fraction is not None and a.fraction <= 0:
        raise InvalidInput(f"log({shorten(str(a))}): the argument of log must be positive")
    if a.fraction == 1:
        return ZERO
    if a.operator == "exp":
        return a.arguments[0]
    return ONE if a == E else Real("log", (a,))


def exponential(a: Real) -> Real:
    """``exp(a)``."""
    if a.fraction == 0:
        return ONE
    if a.fraction == 1:
        return E
    return a.arguments[0] if a.operator == "log" else Real("exp", (a,))


def square(a: Real) -> Real:
    """``a^2``, where a root visibly goes away."""
    if a.operator == "sqrt":
        return a.arguments[0]
    if a.operator == "/":
        return square(a.arguments[0]) / square(a.arguments[1])
    return a * a


def square_root(a: Real) -> Real:
    """``sqrt(a)``; refuses a rational ``a < 0``."""
    if a.fraction is None:
        return Real("sqrt", (a,))
    if a.fraction < 0:
        raise InvalidInput(f"sqrt({shorten(str(a))}): the argument of sqrt must not be negative")
    root = rational_root(a.fraction, 2)
    return rational(root) if root is not None else Real("sqrt", (a,))


def rational_root(value: Fraction, degree: int) -> Fraction | None:
    """The exact positive ``degree``-th root of ``value > 0`` (or 0), if rational."""
    roots = []
    for n in (value.numerator, value.denominator):
        root = _integer_root(n, degree)
        if root**degree != n:
            return None
        roots.append(root)
    return Fraction(*roots)


def _integer_root(n: int, degree: int) -> int:
    """``floor(n^(1/degree))`` for ``n >= 0`` by Newton's iteration from above."""
    if degree == 1 or n < 2:
        return n
    if degree == 2:
        return math.isqrt(n)
    if degree >= n.bit_length():
        return 1
    root = 1 << -(-n.bit_length() // degree)
    while True:
        smaller = ((degree - 1) * root + n // root ** (degree - 1)) // degree
        if smaller >= root:
            return root
        root = smaller


_PRECEDENCE: Final = {"+": 1, "*": 2, "/": 2, "^": 3}


def _print(value: Real, context: int) -> str:
    if value.fraction is not None:
        text = print_fraction(value.fraction)
        tight = context <= 1 or (value.fraction >= 0 and "/" not in text)
        return text if tight else f"({text})"
    if value.operator in ("pi", "e"):
        return value.operator
    if value.operator == "binomial_tail":  # inside only, not in the grammar
        return f"{value.operator}({', '.join(_print(a, 0) for a in value.arguments)})"
    if value.operator in ("log", "exp", "sqrt"):
        return f"{value.operator}({_print(value.arguments[0], 0)})"
    level = _PRECEDENCE[value.operator]
    left, right = value.arguments
    # the right operand is bracketed at equal precedence, because parsing associates to the left
    text = f"{_print(left, level + (level == 3))}{value.operator}{_print(right, level + 1)}"
    return text if level >= context else f"({text})"


def print_fraction(value: Fraction) -> str:
    """The shortest of the exact forms ``3``, ``1.3``, ``1e-300`` and ``8/1875``."""
    twos = (value.denominator & -value.denominator).bit_length() - 1
    rest = value.denominator >> twos
    fives = round(math.log(rest, 5)) if rest > 1 else 0
    if rest == 5**fives:
        places = max(twos, fives)
        scaled = Decimal(value.numerator * 2 ** (places - twos) * 5 ** (places - fives))
        sign, digits, _ = scaled.as_tuple()
        stripped = len(digits)
        while stripped > 1 and digits[stripped - 1] == 0:
            stripped -= 1
        if stripped <= 20 or value.denominator == 1:
            exponent = len(digits) - stripped - places
            if 0 < exponent <= 20 - stripped:
                stripped, exponent = stripped + exponent, 0
            return str(Decimal((sign, digits[:stripped], exponent))).lower().replace("e+", "e")
    return f"{Decimal(value.numerator)}/{Decimal(value.denominator)}"
