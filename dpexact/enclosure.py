"""Enclosures: two exact numbers that certainly bracket the truth."""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass, field, replace
from decimal import (
    ROUND_CEILING,
    ROUND_DOWN,
    ROUND_FLOOR,
    Decimal,
    localcontext,
)
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from dpexact.decimals import (
    Bound,
    at_most,
    divided,
    float_down,
    float_up,
    format_decimal,
    padded,
    read_bound,
)
from dpexact.errors import Contradiction, InvalidInput, UndecidedComparison
from dpexact.ternary import Ternary
from dpexact.tokens import quoted

if TYPE_CHECKING:
    import mpmath

End: TypeAlias = Literal["lower", "upper"]
"""One of the two bounds of an enclosure."""

Side: TypeAlias = Literal["exact", "upper", "lower"]
"""What is enclosed: the true value, or an upper or a lower bound of it."""

#: ``Enclosure.digits`` of an exact value.
EXACT: Final = sys.maxsize

#: Format specifications that say how many digits are to be printed.
_NUMERIC: Final = re.compile(r".*\.\d+[eEfFgG%]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Enclosure:
    """A certified interval ``[lower, upper]`` that contains the true value.

    Invariants, checked here: ``lower <= upper``; both are ``Fraction`` or infinite. ``method`` says
    which method certified it, ``reason``, where it is wider than was asked, what stood in the way,
    and ``safe_end`` which bound may be relied on: the lower one of a number that must not be
    exceeded, such as a count of steps. ``bound`` says whether the true value is that of what was
    asked about, or only an upper or a lower bound of it, and ``theorem`` then by what; beside an
    upper bound the true value is certainly ``at_least`` that. They take no part in comparison.

    ``a < b`` and its kin answer only what is certain and raise :class:`UndecidedComparison`
    otherwise; :meth:`less_than` and :meth:`at_most` answer ``Ternary.UNDECIDED`` instead. ``==``
    compares the intervals themselves.

    >>> x = Enclosure(Fraction(1, 3) - Fraction(1, 10**9), Fraction(1, 3) + Fraction(1, 10**9))
    >>> print(x, x.digits, x < 1)
    0.33333333... 8 True
    """

    lower: Bound
    upper: Bound
    method: str = field(default="", compare=False)
    reason: str = field(default="", compare=False)
    safe_end: End = field(default="upper", compare=False)
    bound: Side = field(default="exact", compare=False)
    theorem: str = field(default="", compare=False)
    at_least: Bound = field(default=-math.inf, compare=False)

    def __post_init__(self) -> None:
        for bound in (self.lower, self.upper):
            # nearly all are fractions, and that is told soonest
            if type(bound) is not Fraction and bound not in (math.inf, -math.inf):
                raise InvalidInput(f"bound {quoted(bound)} is not a Fraction or infinity")
        if not at_most(self.lower, self.upper):
            raise InvalidInput(f"lower bound {self.lower} exceeds upper bound {self.upper}")

    @classmethod
    def bracket(cls, lower: Bound, upper: Bound, method: str, reason: str = "") -> Enclosure:
        """Between bounds that were certified apart from each other.

        Raises:
            Contradiction: the lower bound exceeds the upper bound.
        """
        below = cls(lower, math.inf, f"{method}, from below", reason)
        return below.between(cls(-math.inf, upper, f"{method}, from above"), method)

    @classmethod
    def exact(cls, value: Bound, method: str = "") -> Enclosure:
        """The single point ``value``."""
        return cls(value, value, method)

    def labelled(self, method: str) -> Enclosure:
        """The same interval with another ``method``."""
        return self if method == self.method else replace(self, method=method)

    def short(self, reason: str) -> Enclosure:
        """The same interval, with what kept it from being narrower."""
        return self if reason == self.reason else replace(self, reason=reason)

    def relied_on(self, end: End) -> Enclosure:
        """The same interval, of a number whose ``end`` may be relied on."""
        return self if end == self.safe_end else replace(self, safe_end=end)

    def as_bound(self, bound: Side, theorem: str) -> Enclosure:
        """The same interval, of a bound of what was asked about, by a theorem in words."""
        if bound == self.bound and theorem == self.theorem:
            return self
        safe_end = self.safe_end if bound == "exact" else bound
        return replace(self, bound=bound, theorem=theorem, safe_end=safe_end)

    def above(self, floor: Enclosure) -> Enclosure:
        """The same upper bound of a true value that is not below another.

        Raises:
            Contradiction: that is certainly above the bound.
        """
        if floor.lower > self.upper:
            raise Contradiction(self._named(), floor._named())
        return replace(self, at_least=max(self.at_least, floor.lower))

    def of_truth(self) -> Enclosure:
        """What is certain of what was asked about: beyond a bound of it most is open."""
        lower = self.at_least if self.bound == "upper" else self.lower
        upper = math.inf if self.bound == "lower" else self.upper
        return self if self.bound == "exact" else replace(self, lower=lower, upper=upper)

    # --- answers of two questions, and two answers of one -----------------------------------------

    def larger(self, other: Enclosure) -> Enclosure:
        """An enclosure of the larger of the two true values."""
        top = self if self.upper >= other.upper else other
        lower, upper = max(self.lower, other.lower), max(self.upper, other.upper)
        return Enclosure(lower, upper, top.method, top.reason or self.reason or other.reason)

    def between(self, other: Enclosure, method: str) -> Enclosure:
        """An enclosure of what lies between the two true values, the second not below the first.

        Raises:
            Contradiction: the second is certainly below the first.
        """
        if self.lower > other.upper:
            raise Contradiction(self._named(), other._named())
        return Enclosure(self.lower, other.upper, method, self.reason or other.reason)

    def meet(self, other: Enclosure) -> Enclosure:
        """The intersection of two enclosures of one number; the narrower one says how.

        Raises:
            Contradiction: they share no point.
        """
        if not (at_most(other.lower, self.lower) or at_most(self.upper, other.upper)):
            return other
        lower, upper = max(self.lower, other.lower), min(self.upper, other.upper)
        if lower > upper:
            raise Contradiction(self._named(), other._named())
        return replace(min(self, other, key=Enclosure._width), lower=lower, upper=upper)

    def within(self, lowest: Bound, highest: Bound) -> Enclosure:
        """The intersection with a range that is known to contain the true value.

        Raises:
            Contradiction: they share no point.
        """
        if at_most(lowest, self.lower) and at_most(self.upper, highest):
            return self
        found = self.meet(Enclosure(lowest, highest, "the known range"))
        return replace(self, lower=found.lower, upper=found.upper)

    def _width(self) -> Bound:
        if self.is_exact:
            return Fraction(0)
        if math.inf in (self.upper, -self.lower):
            return math.inf
        return self.upper - self.lower

    def _named(self) -> str:
        lower, upper = self.decimal_bounds(40)
        return f"[{lower}, {upper}] by {self.method or 'no method'}"

    # --- accuracy -------------------------------------------------------------------------------

    @property
    def is_exact(self) -> bool:
        """Whether both bounds are the same number."""
        return self.lower == self.upper

    @property
    def digits(self) -> int:
        """The certified significant digits, the largest ``n >= 0`` with

        ``upper - lower <= 10^-n * max(|lower|, |upper|)``; :data:`EXACT` for an exact value.
        """
        lower, upper = self.lower, self.upper
        if not (isinstance(lower, Fraction) and isinstance(upper, Fraction)):
            return EXACT if lower == upper else 0
        # whole numbers, as this is asked of every answer
        left, right = lower.numerator * upper.denominator, upper.numerator * lower.denominator
        width, size = right - left, max(abs(left), abs(right))
        if not width:
            return EXACT
        # proposes: where to begin; whole numbers decide
        bits = size.bit_length() - width.bit_length() - 1
        n = max(0, math.floor(bits * math.log10(2)))
        power: int = 10**n
        while n and width * power > size:
            n, power = n - 1, power // 10
        while width * power * 10 <= size:
            n, power = n + 1, power * 10
        return n

    # --- comparison -----------------------------------------------------------------------------

    def less_than(self, other: Enclosure | Bound | int) -> Ternary:
        """Whether the true value is ``< other``."""
        low, high = _bounds(other)
        return Ternary.of(self.upper < low, self.lower >= high)

    def at_most(self, other: Enclosure | Bound | int) -> Ternary:
        """Whether the true value is ``<= other``."""
        low, high = _bounds(other)
        return Ternary.of(self.upper <= low, self.lower > high)

    def __lt__(self, other: Enclosure | Bound | int) -> bool:
        return self._decided(self.less_than(other), other)

    def __le__(self, other: Enclosure | Bound | int) -> bool:
        return self._decided(self.at_most(other), other)

    def __gt__(self, other: Enclosure | Bound | int) -> bool:
        return not self <= other

    def __ge__(self, other: Enclosure | Bound | int) -> bool:
        return not self < other

    def _decided(self, answer: Ternary, other: object) -> bool:
        if answer is Ternary.UNDECIDED:
            raise UndecidedComparison(
                f"{self} and {other} overlap: ask for more digits, or use less_than() or at_most()"
            )
        return answer is Ternary.HOLDS

    def overlaps(self, other: Enclosure) -> bool:
        """Whether the two intervals share a point."""
        return self.lower <= other.upper and other.lower <= self.upper

    def __contains__(self, value: Fraction | float | int) -> bool:
        """Whether the exact ``value`` lies in the interval."""
        return self.lower <= value <= self.upper

    # --- output ---------------------------------------------------------------------------------

    def safe(self, figures: int = 7) -> str:
        """A number to quote: the safe end in ``figures`` digits, rounded to the safe side.

        A whole number that is exact is printed whole.

        >>> Enclosure(Fraction("2.38159692"), Fraction("2.38159693")).safe()
        '2.381597'
        """
        if not isinstance(figures, int) or figures < 1:
            raise InvalidInput(
                f"figures: {quoted(figures)} is not accepted; must be an integer >= 1"
            )
        if self.is_exact and isinstance(self.lower, Fraction) and self.lower.denominator == 1:
            figures = max(figures, Decimal(int(self.lower)).adjusted() + 1)
        return format_decimal(self._relied, figures, self._safely)

    @property
    def relation(self) -> str:
        """How the true value relates to :meth:`safe`: ``<=``, ``>=``, or ``=`` if that is exact."""
        if self.bound == "exact" and self == Enclosure.exact(read_bound(self.safe())):
            return "="
        return "<=" if self.safe_end == "upper" else ">="

    @property
    def _relied(self) -> Bound:
        return self.upper if self.safe_end == "upper" else self.lower

    @property
    def _safely(self) -> str:
        return ROUND_CEILING if self.safe_end == "upper" else ROUND_FLOOR

    def __format__(self, spec: str) -> str:
        """The safe end, rounded to the safe side: ``f"{x:.4f}"``; or the text, padded."""
        numeric = bool(_NUMERIC.fullmatch(spec))
        if not numeric and ("." in spec or spec.endswith(tuple("eEfFgG%"))):
            raise _no_format(spec)
        try:
            if not numeric:
                return format(str(self), spec)
            if not isinstance(self._relied, Fraction):
                return format(self._relied, spec)
            with localcontext(rounding=self._safely):
                # rounded twice in one direction, which is rounding once
                return format(divided(self._relied, 60, self._safely), spec)
        except (ValueError, OverflowError, MemoryError):
            raise _no_format(spec) from None

    def __float__(self) -> float:
        raise TypeError(
            "an enclosure is not one float: take .to_float_bounds(), which rounds outward, "
            "or .safe() as text, or .lower and .upper"
        )

    def decimal_bounds(self, significant: int) -> tuple[str, str]:
        """``(lower, upper)`` as decimal text of ``significant`` digits, rounded outward."""
        return (
            format_decimal(self.lower, significant, ROUND_FLOOR),
            format_decimal(self.upper, significant, ROUND_CEILING),
        )

    def to_json(self, digits: int) -> dict[str, str | int]:
        """``{"lower", "upper", "digits"}``: bounds of ``digits + 5`` digits, rounded outward.

        ``digits`` of the result counts what the printed bounds certify.
        """
        significant = digits + 5
        lower, upper = self.decimal_bounds(significant)
        printed = Enclosure(read_bound(lower), read_bound(upper))
        return {
            "lower": padded(lower, significant),
            "upper": padded(upper, significant),
            "digits": min(printed.digits, significant),
        }

    def to_float_bounds(self) -> tuple[float, float]:
        """Two floats, the first not above and the second not below the true value."""
        return float_down(self.lower), float_up(self.upper)

    def to_mpmath(self, digits: int = 50) -> tuple[mpmath.mpf, mpmath.mpf]:
        """Two mpmath numbers of ``digits`` digits, rounded outward."""
        from mpmath import mp, mpf
        from mpmath.libmp import from_rational

        bits = int(digits * 3.33) + 4

        def convert(bound: Bound, rounding: str) -> Any:
            if not isinstance(bound, Fraction):
                return mpf(bound)
            raw = from_rational(bound.numerator, bound.denominator, bits, rounding)
            return mp.make_mpf(raw)

        return convert(self.lower, "f"), convert(self.upper, "c")

    def shown(self, limit: int = 40) -> str:
        """At most ``limit`` certain digits, cut and not rounded, and ``...`` when cut.

        Falls back to ``[lower, upper]`` where the bounds share no such digits: wide enclosures,
        and values next to a short decimal, as 0.9999 and 1.0001.
        """
        lower, upper = self.decimal_bounds(limit)
        if self.is_exact and lower == upper:
            return lower
        certified = min(self.digits, limit)
        for n in range(certified, max(certified - 2, 0), -1):
            text = format_decimal(self.lower, n, ROUND_DOWN)
            if self.lower > 0 and text == format_decimal(self.upper, n, ROUND_DOWN):
                mantissa, e, exponent = padded(text, n).partition("e")
                return f"{mantissa}...{e}{exponent}"
        lower, upper = self.decimal_bounds(min(max(self.digits, 1) + 2, limit))
        return f"[{lower}, {upper}]"

    def __str__(self) -> str:
        return self.shown()

    def _said(self) -> str:
        """The interval in few digits, the method and the reason."""
        lower, upper = self.decimal_bounds(min(max(self.digits, 1), 12) + 2)
        interval = lower if lower == upper else f"in [{lower}, {upper}]"
        return ", ".join(word for word in (interval, self.method, self.reason) if word)

    def __repr__(self) -> str:
        return f"<Enclosure {self.relation} {self.safe()}: {self._said()}>"

    def _repr_html_(self) -> str:
        quoted = f"{self.relation} {self.safe()}"
        return f"<b>{escape(quoted)}</b> <small>{escape(self._said())}</small>"


def _no_format(spec: str) -> InvalidInput:
    return InvalidInput(
        f"format: {spec!r} is not accepted; use digits and one of e, f, g, %, as in '.4f', "
        "which rounds to the safe side, or format .lower and .upper"
    )


def _bounds(other: Enclosure | Bound | int) -> tuple[Bound, Bound]:
    if isinstance(other, Enclosure):
        return other.lower, other.upper
    return (Fraction(other), Fraction(other)) if isinstance(other, int) else (other, other)
