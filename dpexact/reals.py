"""Exact real numbers: what a user may write as a number, kept without rounding.

A :class:`Real` is a rational number or an expression over rationals in ``+ - * / ^``, ``log``,
``exp``, ``sqrt``, ``pi`` and ``e``. Rational parts are folded, so every rational value is one
``Fraction``; everything else stays symbolic until :mod:`dpexact.balls` encloses it.
"""

from __future__ import annotations

import math
import numbers
import operator
import sys
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final, TypeAlias

from dpexact.errors import InvalidInput
from dpexact.tokens import Token, Tokens, shorten

#: Largest size of a rational part, in bits of numerator plus denominator: about 10^(+-120,000).
MAX_BITS: Final = 400_000
#: What an operation on small numbers costs, in bits of an operation on large ones.
OPERATION_COST: Final = 100
#: Largest height of an expression; what is nested no deeper is printed, compared and parsed back.
MAX_HEIGHT: Final = 80

ACCEPTED: Final = (
    "an int, Fraction, Decimal, finite float, text such as '1.3', '256/60000', '1e-5', "
    "'log(3/2)' or 'sqrt(2)', or a sympy or mpmath number"
)

_ZERO: Final = Fraction(0)


@dataclass(frozen=True, slots=True)
class Real:
    """An exact real number.

    Invariants, kept by the constructors below: ``operator`` is ``"rational"`` exactly when the
    expression folded to one ``Fraction`` (then ``value`` holds it and ``arguments`` is empty);
    otherwise ``operator`` is one of ``pi e log exp sqrt + * / ^`` and ``arguments`` its operands
    (the exponent of ``^`` is a rational integer). ``height`` is the longest chain of operations.
    Equality is equality of expressions.
    """

    operator: str
    arguments: tuple[Real, ...] = ()
    value: Fraction = _ZERO
    height: int = field(default=0, init=False, compare=False)

    def __post_init__(self) -> None:
        height = 1 + max((argument.height for argument in self.arguments), default=-1)
        if height > MAX_HEIGHT:
            raise InvalidInput(f"number with more than {MAX_HEIGHT} nested operations")
        object.__setattr__(self, "height", height)

    @property
    def fraction(self) -> Fraction | None:
        """The value as a ``Fraction`` if the expression folded to a rational, else ``None``."""
        return self.value if self.operator == "rational" else None

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
        if abs(a) != 1 and a != 0 and (_bits(a) - 2) * abs(k) > MAX_BITS:
            size = "large" if (abs(a) > 1) == (k > 0) else "small"
            raise InvalidInput(f"number too {size}: {shorten(str(self))}^{k}")
        return rational(a**k)

    def __str__(self) -> str:
        return _print(self, 0)

    def __repr__(self) -> str:
        return f"Real({str(self)!r})"


RealLike: TypeAlias = Any
"""Anything :func:`real` accepts: see ``ACCEPTED``."""


# --- constructors -------------------------------------------------------------------------------


def rational(value: Fraction | int) -> Real:
    """The rational ``value``; refuses one of more than ``MAX_BITS`` bits."""
    fraction = Fraction(value)
    if _bits(fraction) > MAX_BITS:
        above, below = fraction.numerator.bit_length(), fraction.denominator.bit_length()
        size = "large" if above > 2 * below else "small" if below > 2 * above else "long"
        raise InvalidInput(f"number too {size}: more than {MAX_BITS} bits are not accepted")
    return Real("rational", (), fraction)


def _bits(value: Fraction) -> int:
    return value.numerator.bit_length() + value.denominator.bit_length()


def _operand(value: Real | Fraction | int) -> Real:
    if isinstance(value, Real):
        return value
    if isinstance(value, int | Fraction):
        return rational(value)
    raise TypeError(f"{value!r} is not an exact number: use real({value!r}) to say what it means")


PI: Final = Real("pi")
E: Final = Real("e")


def logarithm(a: Real) -> Real:
    """``log(a)``, natural; refuses a rational ``a <= 0``."""
    if a.fraction is not None and a.fraction <= 0:
        raise InvalidInput(f"log({shorten(str(a))}): the argument of log must be positive")
    if a.fraction == 1:
        return rational(0)
    if a.operator == "exp":
        return a.arguments[0]
    return rational(1) if a == E else Real("log", (a,))


def exponential(a: Real) -> Real:
    """``exp(a)``."""
    if a.fraction == 0:
        return rational(1)
    if a.fraction == 1:
        return E
    return a.arguments[0] if a.operator == "log" else Real("exp", (a,))


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


# --- conversion ---------------------------------------------------------------------------------


def real(value: RealLike, name: str = "number") -> Real:
    """Convert ``value`` to an exact :class:`Real` without rounding.

    A ``float`` (also numpy's) means its exact binary value, text means what it says, so
    ``real("0.1")`` is 1/10 and ``real(0.1)`` is 3602879701896397/36028797018963968.

    Raises:
        InvalidInput: NaN, infinities, bool, complex, empty text, sizes beyond ``MAX_BITS``, and
            whatever is not a number; the message names the argument ``name``.

    >>> real("256/60000").fraction
    Fraction(8, 1875)
    >>> str(real("log(3/2) * 3"))
    'log(1.5)*3'
    """
    if isinstance(value, Real):
        return value
    try:
        return parse_real(value) if isinstance(value, str) else _convert(value)
    except InvalidInput as error:
        raise InvalidInput(f"{name}: {error}") from None


def _convert(value: RealLike) -> Real:
    """Of what is neither a real nor text."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        raise InvalidInput(f"a truth value ({value}) is not a number; accepted: {ACCEPTED}")
    if isinstance(value, numbers.Integral):
        return rational(int(value))
    if isinstance(value, Fraction):
        return rational(value)
    if isinstance(value, Decimal):
        return _from_decimal(value)
    foreign = _from_mpmath(value) or _from_sympy(value)
    if foreign is not None:
        return foreign
    if isinstance(value, numbers.Real) and hasattr(value, "as_integer_ratio"):  # also numpy's
        if value != value or abs(value) == math.inf:
            raise InvalidInput(f"{value} is not a finite number; accepted: {ACCEPTED}")
        return rational(Fraction(*value.as_integer_ratio()))
    kind = type(value).__name__
    raise InvalidInput(f"{shorten(repr(value))} ({kind}) is not accepted; use {ACCEPTED}")


def _from_decimal(value: Decimal) -> Real:
    if not value.is_finite():
        raise InvalidInput(f"{value} is not a finite number")
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)
    digits = len(value.as_tuple().digits)
    if value and (digits + abs(exponent)) * 3.33 > MAX_BITS:
        size = "small" if value.adjusted() < 0 else "large"
        raise InvalidInput(f"number too {size}: {shorten(str(value))}")
    return rational(Fraction(value)) if value else rational(0)


def _from_mpmath(value: object) -> Real | None:
    mpmath = sys.modules.get("mpmath")
    if mpmath is None:
        return None
    for constant, exact in ((mpmath.mp.pi, PI), (mpmath.mp.e, E)):
        if value is constant:
            return exact
    if not isinstance(value, mpmath.mpf) or not hasattr(value, "_mpf_"):
        return None
    if not mpmath.isfinite(value):
        raise InvalidInput(f"{value} is not a finite number")
    sign, mantissa, exponent, _ = value._mpf_
    if abs(exponent) > MAX_BITS:
        size = "small" if exponent < 0 else "large"
        raise InvalidInput(f"number too {size}: {shorten(str(value))}")
    return rational((-1) ** sign * int(mantissa) * Fraction(2) ** exponent)


def _from_sympy(value: object, depth: int = 0) -> Real | None:
    sympy = sys.modules.get("sympy")
    if sympy is None or not isinstance(value, sympy.Expr):
        return None
    if isinstance(value, sympy.Rational):
        return rational(Fraction(int(value.p), int(value.q)))
    if isinstance(value, sympy.Float):
        converted = _from_mpmath(value._to_mpmath(value._prec))
        assert converted is not None
        return converted
    if value is sympy.pi:
        return PI
    if value is sympy.E:
        return E
    if depth > MAX_HEIGHT:
        raise InvalidInput(f"sympy expression nested more than {MAX_HEIGHT} deep")
    parts = [_from_sympy(argument, depth + 1) for argument in value.args]
    if parts and all(part is not None for part in parts):
        operands = [part for part in parts if part is not None]
        if isinstance(value, sympy.Add | sympy.Mul):
            combine = operator.add if isinstance(value, sympy.Add) else operator.mul
            total = operands[0]
            for operand in operands[1:]:
                total = combine(total, operand)
            return total
        if isinstance(value, sympy.exp):
            return exponential(operands[0])
        if isinstance(value, sympy.log) and len(operands) == 1:
            return logarithm(operands[0])
        if isinstance(value, sympy.Pow):
            base, exponent = operands
            if exponent.fraction is not None and exponent.fraction.denominator == 2:
                return square_root(base) ** exponent.fraction.numerator
            return exponential(exponent) if base == E else base**exponent
    raise InvalidInput(
        f"the sympy expression {shorten(str(value))!r} is not a real number in log, exp, sqrt"
    )


# --- text ---------------------------------------------------------------------------------------

_FUNCTIONS: Final = {"log": logarithm, "exp": exponential, "sqrt": square_root}
_CONSTANTS: Final = {"pi": PI, "e": E}


def parse_real(text: str) -> Real:
    """Parse one number or expression; see :func:`real`."""
    if not text.strip():
        raise InvalidInput(f"empty text is not a number; accepted: {ACCEPTED}")
    lowered = text.strip().lstrip("+-").lower()
    if lowered in ("nan", "inf", "infinity"):
        raise InvalidInput(f"{text.strip()} is not a finite number")
    tokens = Tokens(text)
    value = read_real(tokens)
    if tokens.next.kind != "end":
        raise tokens.error(f"unexpected {tokens.found()} after the number")
    return value


def read_real(tokens: Tokens) -> Real:
    """Read ``sum := product (('+'|'-') product)*`` from ``tokens``."""
    tokens.descend()
    value = _read_product(tokens)
    while sign := tokens.accept("+", "-"):
        right = _read_product(tokens)
        build = operator.add if sign.text == "+" else operator.sub
        value = _located(tokens, sign, build, value, right)
    tokens.ascend()
    return value


def _read_product(tokens: Tokens) -> Real:
    value = _read_signed(tokens)
    while sign := tokens.accept("*", "/"):
        right = _read_signed(tokens)
        build = operator.mul if sign.text == "*" else operator.truediv
        value = _located(tokens, sign, build, value, right)
    return value


def _read_signed(tokens: Tokens) -> Real:
    if sign := tokens.accept("+", "-"):
        tokens.descend()
        value = _read_signed(tokens)
        tokens.ascend()
        return value if sign.text == "+" else -value
    base = read_atom(tokens)
    if sign := tokens.accept("^", "**"):
        tokens.descend()
        exponent = _read_signed(tokens)
        tokens.ascend()
        return _located(tokens, sign, operator.pow, base, exponent)
    return base


def read_atom(tokens: Tokens) -> Real:
    """Read ``atom := number | name | name "(" sum ")" | "(" sum ")"`` from ``tokens``."""
    token = tokens.take()
    if token.kind == "number":
        return _located(tokens, token, _from_decimal, _decimal(tokens, token))
    if opened := (token if token.text == "(" else None):
        value = read_real(tokens)
        tokens.expect(")", opened)
        return value
    if token.kind == "name" and token.text in _CONSTANTS:
        return _CONSTANTS[token.text]
    if token.kind == "name" and token.text in _FUNCTIONS:
        opened = tokens.next
        tokens.expect("(")
        argument = read_real(tokens)
        tokens.expect(")", opened)
        return _located(tokens, token, _FUNCTIONS[token.text], argument)
    if token.kind == "name":
        if token.text.lower() in ("nan", "inf", "infinity"):
            raise tokens.error(f"{token.text} is not a finite number", token)
        names = ", ".join([*_FUNCTIONS, *_CONSTANTS])
        raise tokens.error(
            f"unknown name {shorten(token.text)!r} in a number; known: {names}", token
        )
    found = "the end" if token.kind == "end" else repr(token.text)
    raise tokens.error(f"expected a number, found {found}", token)


def _decimal(tokens: Tokens, token: Token) -> Decimal:
    mantissa, _, exponent = token.text.lower().partition("e")
    if len(exponent) > 9 or len(mantissa) > MAX_BITS:
        size = "small" if exponent.startswith("-") else "large"
        if len(mantissa) > MAX_BITS:
            size = "long"
        raise tokens.error(f"number too {size}: {shorten(token.text)}", token)
    return Decimal(token.text)


def _located(tokens: Tokens, token: Token, build: Any, *operands: Any) -> Real:
    try:
        result: Real = build(*operands)
    except InvalidInput as error:
        raise tokens.error(str(error), token) from None
    tokens.spend(_bits(result.value) + OPERATION_COST)
    return result


_PRECEDENCE: Final = {"+": 1, "*": 2, "/": 2, "^": 3}


def _print(value: Real, context: int) -> str:
    if value.operator == "rational":
        text = print_fraction(value.value)
        tight = context <= 1 or (value.value >= 0 and "/" not in text)
        return text if tight else f"({text})"
    if value.operator in ("pi", "e"):
        return value.operator
    if value.operator in _FUNCTIONS:
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
