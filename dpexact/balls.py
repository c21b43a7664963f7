"""Ball arithmetic: the one room that owns FLINT's precision.

FLINT keeps one precision for the whole process. :func:`precision` takes it as an argument, restores
it, and holds a lock, so threads take turns; nothing here yields or awaits while it is set.
A *ball* is a ``flint.arb``: midpoint and radius, every operation rounded outward.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from fractions import Fraction
from typing import Final, TypeVar

import flint
from flint import acb, arb, ctx, fmpq, fmpz

from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.exactness import exp_fraction
from dpexact.reals import Real
from dpexact.ternary import Order
from dpexact.tokens import shorten

Point = TypeVar("Point")
FLINT_VERSION: Final = str(flint.__FLINT_VERSION__)

#: Bits beyond the requested digits with which a computation starts.
GUARD_BITS: Final = 32
#: A computation gives up beyond ``CAP_FACTOR`` times its first precision and ``CAP_EXTRA`` bits.
CAP_FACTOR, CAP_EXTRA = 16, 4096
#: Numbers outside ``2^(+-MAX_EXPONENT)`` (about 1e(+-300,000)) are not turned into fractions.
MAX_EXPONENT: Final = 1_000_000
TINY: Final = Fraction(1, 1 << MAX_EXPONENT)
TINY_TEXT: Final = "1.02e-301030"

#: The intervals ``[0, 1]`` and ``[-1, 1]``.
UNIT: Final = arb(0).union(arb(1))
AROUND: Final = UNIT.union(arb(-1))

#: Bits with which a bound is compared with a level.
_COMPARING: Final = 96
_LOCK: Final = threading.Lock()
#: The thread that holds the lock.
_owner: int | None = None


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with ``bits`` bits inside the block; do not yield or await in it.

    An interrupt at any moment leaves the outermost block with the precision and the lock as they
    were. It may make Python skip the end of a block and collect it later, when the precision is
    another's: so an inner block that is collected changes nothing.
    """
    global _owner
    me = threading.get_ident()
    if _owner == me:
        before = ctx.prec
        try:
            ctx.prec = bits
            yield
        except GeneratorExit:  # collected, not left
            raise
        except BaseException:
            ctx.prec = before
            raise
        ctx.prec = before
        return
    with _LOCK:
        before = ctx.prec
        try:
            _owner = me
            ctx.prec = bits
            yield
        finally:
            ctx.prec = before
            _owner = None


def current() -> int:
    """The precision in bits inside :func:`precision`."""
    return int(ctx.prec)


def bits_for(digits: int) -> int:
    """Working precision with which a computation of ``digits`` digits starts."""
    return math.ceil(digits * math.log2(10)) + GUARD_BITS


def certify(
    compute: Callable[[], arb],
    digits: int,
    *,
    lowest: Fraction | None = None,
    highest: Fraction | None = None,
    method: str = "",
    lost_bits: int = 0,
    cap: int | None = None,
) -> Enclosure:
    """Evaluate ``compute`` at rising precision until ``digits`` digits are certain.

    ``compute`` must return a ball that contains the true value at any precision. ``[lowest,
    highest]`` are bounds known beforehand; ``lost_bits`` is how much precision ``compute`` is
    expected to lose. Beyond ``cap`` bits, or what follows from ``digits``, nothing is tried but the
    first time: the enclosure is as wide as it is, and says so.

    Raises:
        Contradiction: balls of two precisions, or a ball and the known bounds, share no point.
    """
    known = Enclosure(
        -math.inf if lowest is None else lowest, math.inf if highest is None else highest, method
    )
    return certify_each(lambda _: [compute()], [None], digits, known, lost_bits, cap)[0]


def certify_each(
    compute: Callable[[list[Point]], Sequence[arb]],
    points: Sequence[Point],
    digits: int,
    known: Enclosure,
    lost_bits: int = 0,
    cap: int | None = None,
) -> list[Enclosure]:
    """The same at many points, all ``known`` to lie there: each precision is for who needs it."""
    found = [known] * len(points)
    bits, rest = bits_for(digits) + lost_bits, [*range(len(points))]
    last = CAP_FACTOR * bits + CAP_EXTRA if cap is None else max(bits, cap)
    # proposes: how long to try, and whom; a ball of any precision encloses
    while rest and bits <= last:
        with precision(bits), suppress(OverflowError, ZeroDivisionError):  # of floats that propose
            values = compute([points[i] for i in rest])
            for i, x in zip(rest, values, strict=True):
                if x.is_finite():
                    found[i] = found[i].meet(to_enclosure(x, known.method)).labelled(known.method)
        # proposes: likewise
        rest = [i for i in rest if found[i].digits < digits]
        for i in rest:
            if found[i].lower >= -TINY and 0 < found[i].upper <= TINY:
                found[i] = found[i].short(f"the value is below {TINY_TEXT} (or 0)")
        # proposes: likewise
        rest = [i for i in rest if not found[i].reason]
        bits *= 2
    for i in rest:
        found[i] = found[i].short(f"{bits // 2} bits of precision did not suffice")
    return found


def enclosed(
    value: Real, digits: int, lowest: Fraction | None = None, highest: Fraction | None = None
) -> Enclosure:
    """The number ``value`` itself, exact where it is rational; else as :func:`certify`."""
    if value.fraction is not None:
        return Enclosure.exact(value.fraction)
    return certify(lambda: ball(value), digits, lowest=lowest, highest=highest)


def image(
    found: Enclosure,
    function: Callable[..., arb],
    digits: int,
    *others: Enclosure,
    lowest: Fraction | None = None,
    highest: Fraction | None = None,
    method: str = "",
) -> Enclosure:
    """What ``function`` makes of an enclosure, or several: of balls, and increasing in each.

    Where an end is infinite, so is its image; other arguments are as for :func:`certify`.
    """

    def at(*ends: Bound) -> Enclosure:
        finite = [end for end in ends if isinstance(end, Fraction)]
        if -math.inf in ends:
            return Enclosure.exact(-math.inf if lowest is None else lowest)
        if len(finite) < len(ends):
            return Enclosure.exact(math.inf)
        known = (lambda: function(*map(ball, finite)), digits)
        return certify(*known, lowest=lowest, highest=highest, method=method)

    every = (found, *others)
    low = at(*(x.lower for x in every))
    high = low if all(x.is_exact for x in every) else at(*(x.upper for x in every))
    return low.between(high, method).short(found.reason or low.reason or high.reason)


# --- into balls ---------------------------------------------------------------------------------


def ball(value: Real | Fraction | float) -> arb:
    """The exact ``value`` as a ball at the current precision; not finite if undefined there.

    A float means its exact binary value.
    """
    # logs ask for a million of these
    exact = value.fraction if isinstance(value, Real) else value
    if type(exact) is Fraction:
        return arb(fmpq(*exact.as_integer_ratio()))
    if isinstance(value, int | float):
        return arb(value)
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    if value.operator == "pi":
        return arb.pi()
    if value.operator == "e":
        return arb.const_e()
    if value.operator == "+" and (small := _exponential_less_one(*value.arguments)) is not None:
        return small
    operands = [ball(argument) for argument in value.arguments]
    match value.operator, operands:
        case "log", [a]:
            return a.log()
        case "binomial_tail", [n, q, least]:
            # the incomplete beta function; its power series has positive terms, and near 0 is short
            if n * q > least:
                rest = ball(1 - value.arguments[1])
                return 1 - rest.beta_lower(n - least + 1, least, regularized=True)
            return q.beta_lower(least, n - least + 1, regularized=True)
        case "exp", [a]:
            return a.exp()
        case "sqrt", [a]:
            return a.sqrt()
        case "+", [a, b]:
            return a + b
        case "*", [a, b]:
            return a * b
        case "/", [a, b]:
            return a / b
        case "^", [a, _]:
            exponent = value.arguments[1].value.numerator
            result = a ** abs(exponent)
            return result if exponent > 0 else 1 / result
    raise AssertionError(f"unknown operator {value.operator}")


def _exponential_less_one(a: Real, b: Real) -> arb | None:
    """``a + b`` without cancellation where it reads ``exp(x) - 1`` or ``1 - exp(x)``."""
    if a.fraction is None:
        a, b = b, a
    if a.fraction == -1 and b.operator == "exp":
        return ball(b.arguments[0]).expm1()
    if a.fraction == 1 and b.operator == "*" and b.arguments[0].fraction == -1:
        inner = b.arguments[1]
        return -ball(inner.arguments[0]).expm1() if inner.operator == "exp" else None
    return None


def sign(value: Real, name: str = "number") -> int:
    """The sign of ``value``: -1, 0 or 1.

    Raises:
        InvalidInput: ``value`` is not a real number (as ``sqrt(1-2*pi)``), or so close to zero
            that ``CAP_EXTRA`` bits do not tell its sign.
    """
    if value.fraction is not None:
        above = value.fraction.numerator
        return (above > 0) - (above < 0)
    power = exp_fraction(value)
    if power is not None:
        return (power > 1) - (power < 1)
    bits = 64
    finite = False
    while bits <= CAP_EXTRA:
        with precision(bits):
            x = ball(value)
            if x.is_finite():
                finite = True
                if x > 0:
                    return 1
                if x < 0:
                    return -1
        bits *= 2
    if not finite:
        raise InvalidInput(f"{name}: {shorten(str(value))} is not a finite real number")
    raise InvalidInput(f"{name}: cannot tell the sign of {shorten(str(value))}; simplify it")


def compare(a: Real, b: Real, name: str = "number") -> int:
    """-1, 0 or 1 as ``a`` is below, equal to or above ``b``; raises as :func:`sign` does."""
    return sign(a - b, name)


def order(a: Real, b: Real) -> Order:
    """How ``a`` stands to ``b``, undecided where :func:`compare` cannot tell."""
    try:
        return Order(compare(a, b))
    except InvalidInput:
        return Order.UNDECIDED


def approximate(value: Real | Fraction | float) -> float:
    """A float near ``value``, for proposals only: it says nothing about the truth."""
    exact = value.fraction if isinstance(value, Real) else value
    if isinstance(exact, Fraction):
        try:
            return exact.numerator / exact.denominator
        except OverflowError:
            pass
    bits = 64
    while True:
        with precision(bits):
            x = ball(value)
            if x.rel_accuracy_bits() > 20 or bits > CAP_EXTRA:
                return float(x.mid())
        bits *= 4


def approximate_log(value: Real) -> float:
    """About the logarithm of a positive ``value``, for proposals only; ``-inf`` where it hides."""
    bits = 64
    while bits <= CAP_EXTRA:
        with precision(bits):
            x = ball(value)
            if x > 0:
                return float(x.log().mid())
        bits *= 4
    return -math.inf


def at_most(found: Enclosure, level: Real) -> bool:
    """Whether what is ``found`` is certainly at most ``level``."""
    with precision(_COMPARING):
        return found.upper != math.inf and bool(ball(Fraction(found.upper)) <= ball(level))


# --- out of balls -------------------------------------------------------------------------------


def in_range(x: arb) -> bool:
    """Whether ``x`` is finite and within ``2^MAX_EXPONENT``, so that its bounds are finite."""
    if not x.is_finite():
        return False
    mantissa, exponent = x.abs_upper().man_exp()
    return int(exponent) + int(fmpz(mantissa).bit_length()) <= MAX_EXPONENT


def to_enclosure(x: arb, method: str = "") -> Enclosure:
    """The exact bounds of a finite ball; numbers beyond ``2^MAX_EXPONENT`` widen outward."""
    if not x.is_finite():
        raise ArithmeticError("the ball is not finite")
    return Enclosure(_outward(x.lower(), -1), _outward(x.upper(), 1), method)


def midpoint(x: arb) -> Fraction:
    """The midpoint of a ball, as a proposal: it says nothing about the truth."""
    return Fraction(to_enclosure(x.mid()).lower)


def _outward(end: arb, side: int) -> Bound:
    """The exact number ``end``, or where its exponent is too large one on that ``side`` of it."""
    mantissa, exponent = map(int, end.man_exp())
    size = exponent + mantissa.bit_length()
    if size < -MAX_EXPONENT:
        return side * TINY if side * mantissa > 0 else Fraction(0)
    if size > MAX_EXPONENT:
        return side * math.inf if side * mantissa > 0 else Fraction(-side << MAX_EXPONENT)
    return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)


def integral(
    integrand: Callable[[acb, bool], acb], low: arb, high: arb, **limits: arb | int
) -> acb:
    """``acb.integral``, in which an interrupt or an error of the integrand would be a SystemError.

    The integrand must be analytic where it is called with a flag that says so, or not finite.
    """
    raised: list[BaseException] = []

    def guarded(z: acb, analytic: bool) -> acb:
        try:
            if not raised:
                return integrand(z, analytic)
        except BaseException as error:
            raised.append(error)
        return acb(arb.nan())

    try:
        found = acb.integral(guarded, acb(low), acb(high), **limits)
        if raised:
            raise raised[0]
    except SystemError as error:  # it came between two evaluations
        cause: BaseException = error
        while isinstance(cause, SystemError) and (before := cause.__cause__ or cause.__context__):
            cause = before
        raise cause from None
    return found


def normal_tail(z: arb) -> arb:
    """``P(N(0, 1) > z)``, with relative accuracy."""
    return (z / arb(2).sqrt()).erfc() / 2
