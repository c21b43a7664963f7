"""One row of the golden table, and the checks of an accountant against it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Final, Literal, NoReturn, TypeAlias

from dpexact.comparison import Grade, Verdict, grade, relative_error, verdict
from dpexact.decimals import Bound, format_decimal
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput

ACCEPTED = "a float, int, Fraction, Decimal or numpy scalar"


def exact(value: object, name: str) -> Bound:
    """The exact value of ``value``; an infinity or NaN stays a float.

    Raises:
        InvalidInput: naming the argument ``name``, what it is and what is accepted.

    >>> exact(0.1, "epsilon")
    Fraction(3602879701896397, 36028797018963968)
    """
    if type(value).__name__ == "bool" or isinstance(value, str | bytes | complex):
        raise _refused(value, name)
    if isinstance(value, float) or (isinstance(value, Decimal) and not value.is_finite()):
        found = float("nan") if isinstance(value, Decimal) and value.is_nan() else float(value)
        return Fraction(found) if math.isfinite(found) else found
    if isinstance(value, int | Fraction | Decimal):
        return Fraction(value)
    try:  # numpy's scalars: as_integer_ratio of floats, numerator and denominator of integers
        if hasattr(value, "as_integer_ratio"):
            return Fraction(*map(int, value.as_integer_ratio()))
        return Fraction(int(value.numerator), int(value.denominator))  # type: ignore[attr-defined]
    except (ValueError, OverflowError):  # not finite
        return float(value)  # type: ignore[arg-type]
    except (AttributeError, TypeError):
        raise _refused(value, name) from None


def slack_in(value: object, name: str) -> Fraction:
    """A relative slack or tolerance: finite and not negative."""
    found = exact(value, name)
    if not isinstance(found, Fraction) or found < 0:
        raise InvalidInput(f"{name}: {value!r} is not accepted; must be finite and >= 0")
    return found


def _refused(value: object, name: str) -> InvalidInput:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    kind = type(value).__name__
    return InvalidInput(f"{name}: {shown} ({kind}) is not a number; give {ACCEPTED}")


Quantity: TypeAlias = Literal["epsilon", "delta", "renyi"]

#: The name of each quantity's argument.
ARGUMENTS: Final[dict[str, str]] = {"epsilon": "delta", "delta": "epsilon", "renyi": "order"}
#: Digits of a golden row that are certain.
DIGITS: Final = 40

_RELATIONS: Final = {"upper": "<=", "lower": ">=", "estimate": "~"}


class ClaimRefuted(AssertionError):
    """A claim that does not pass: wrong, not a number, or too close to the truth to tell.

    ``verdict`` is ``unsound``, ``inaccurate`` or ``undecided``, ``grade`` says how wrong it is at
    least (``none`` where it is too close to tell), and ``error`` is the least ``claimed/true - 1``,
    None where that has no meaning.
    """

    def __init__(
        self,
        message: str,
        grade: Grade = "none",
        verdict: Verdict = "undecided",
        error: Bound | None = None,
    ) -> None:
        super().__init__(message)
        self.grade: Grade = grade
        self.verdict: Verdict = verdict
        self.error = error


class Checks:
    """Counts the claims that are checked in this process."""

    count = 0

    @classmethod
    def taken(cls) -> int:
        """How many since this was asked last."""
        found, cls.count = cls.count, 0
        return found


@dataclass(frozen=True)
class Case:
    """A certified answer: ``quantity`` of ``mechanism`` at ``argument`` lies in ``enclosure``.

    Attributes:
        suites: the suites that hold the row.
        mechanism: text in the mechanism grammar.
        quantity: ``"epsilon"``, ``"delta"`` or ``"renyi"``.
        argument: the delta, the epsilon, or the order, as exact text; :attr:`at` is its float.
        direction: ``"remove"``, ``"add"`` or ``"both"``.
        lower: decimal text, rounded outward, or ``"inf"``.
        upper: the other end, alike.
        method: what certified it.
        family: the kind of a repeated single mechanism, as ``"poisson(gaussian)"``; else empty.
        parameters: of such a mechanism, as the nearest floats, and ints: ``sigma``, ``q``,
            ``steps`` ...
    """

    suites: tuple[str, ...]
    mechanism: str
    quantity: Quantity
    argument: str
    direction: str
    lower: str
    upper: str
    method: str
    family: str = ""
    parameters: Mapping[str, float | int] = field(default_factory=dict, hash=False)

    # --- what is asked --------------------------------------------------------------------------

    @property
    def at(self) -> float:
        """The argument as the nearest float."""
        return math.inf if self.argument == "inf" else float(Fraction(self.argument))

    @property
    def delta(self) -> float:
        """The delta at which epsilon is asked."""
        return self._argument("delta")

    @property
    def epsilon(self) -> float:
        """The epsilon at which delta is asked."""
        return self._argument("epsilon")

    @property
    def order(self) -> float:
        """The order of the Rényi divergence."""
        return self._argument("order")

    @property
    def sigma(self) -> float:
        """The noise multiplier of a Gaussian, ``sigma / sensitivity``."""
        return self._parameter("sigma") / self.parameters.get("sensitivity", 1)

    @property
    def q(self) -> float:
        """The sampling rate; 1 without sampling."""
        return self.parameters.get("q", 1.0) if self.family else self._parameter("q")

    @property
    def steps(self) -> int:
        """The number of repetitions."""
        return int(self._parameter("steps"))

    @property
    def id(self) -> str:
        """A name for test reports."""
        name = f"{self.quantity} of {self.mechanism} at {ARGUMENTS[self.quantity]}={self.argument}"
        return name if self.direction == "both" else f"{name} {self.direction}"

    @property
    def reproduce(self) -> str:
        """The command that computes the row again."""
        return (
            f'dpexact {self.quantity} "{self.mechanism}" --{ARGUMENTS[self.quantity]} '
            f"{self.argument} --direction {self.direction} --digits {DIGITS}"
        )

    def __str__(self) -> str:
        return self.id

    def _argument(self, name: str) -> float:
        if ARGUMENTS[self.quantity] != name:
            raise InvalidInput(
                f"{name}: this row is the {self.quantity} at "
                f"{ARGUMENTS[self.quantity]} = {self.argument}"
            )
        return self.at

    def _parameter(self, name: str) -> float | int:
        if name not in self.parameters:
            known = ", ".join(self.parameters) or "none, it is a composition of several"
            raise InvalidInput(f"{name}: {self.mechanism} has no such parameter; it has {known}")
        return self.parameters[name]

    # --- what is certain ------------------------------------------------------------------------

    @property
    def enclosure(self) -> Enclosure:
        """The certified interval."""
        return Enclosure(_bound(self.lower), _bound(self.upper), self.method)

    def check_upper(self, *, slack: object = 0, **claimed: object) -> None:
        """Demand that the claim is at least the truth: ``check_upper(epsilon=1.5)``.

        The claim is named by the row's quantity and compared exactly: a float means its binary
        value. ``slack`` is a relative allowance: ``claim * (1 + slack)`` is what is compared.

        Raises:
            ClaimRefuted: an ``AssertionError`` that shows the claim, the certified interval, the
                relative error, and how to reproduce.
            InvalidInput: another keyword than the row's quantity, or not a number.
        """
        __tracebackhide__ = True  # pytest shows the line of the test, not ours
        value = self._claimed("upper", claimed)
        self._judge("upper", value, _scaled(value, 1 + slack_in(slack, "slack")))

    def check_lower(self, *, slack: object = 0, **claimed: object) -> None:
        """Demand that the claim is at most the truth; as :meth:`check_upper`."""
        __tracebackhide__ = True
        value = self._claimed("lower", claimed)
        self._judge("lower", value, _scaled(value, 1 / (1 + slack_in(slack, "slack"))))

    def check_estimate(self, *, rel: object, **claimed: object) -> None:
        """Demand that the claim is within ``rel`` of the truth, relative to the truth."""
        __tracebackhide__ = True
        value = self._claimed("estimate", claimed)
        self._judge("estimate", value, value, slack_in(rel, "rel"))

    def _claimed(self, kind: str, claimed: dict[str, object]) -> Bound:
        __tracebackhide__ = True
        if list(claimed) != [self.quantity]:
            given = ", ".join(claimed) or "nothing"
            raise InvalidInput(f"claim: this row is checked with {self.quantity}=..., not {given}")
        value = exact(claimed[self.quantity], self.quantity)
        Checks.count += 1
        if value != value:
            self._refute(kind, value, "the accountant returned NaN, not a number")
        return value

    def _judge(
        self, kind: str, value: Bound, compared: Bound, tolerance: Fraction = Fraction(0)
    ) -> None:
        __tracebackhide__ = True
        found = verdict(kind, compared, compared, self.enclosure, tolerance)
        if found in ("unsound", "inaccurate"):
            allowed = f", more than {float(tolerance):g} allows" if kind == "estimate" else ""
            self._refute(kind, value, f"certified {found}{allowed}", tolerance, found)
        if found == "undecided":
            self._refute(kind, value, "undecided: the claim is too close to the truth to tell")

    def _refute(
        self,
        kind: str,
        value: Bound,
        reason: str,
        tolerance: Fraction = Fraction(0),
        judged: Verdict = "undecided",
    ) -> NoReturn:
        __tracebackhide__ = True
        highest = Fraction(1) if self.quantity == "delta" else math.inf
        graded = grade(kind, value, value, self.enclosure, tolerance, highest)
        at = f"at {ARGUMENTS[self.quantity]} = {self.argument}"
        said = reason if graded == "none" else f"{reason}, grade {graded}"
        lines = [
            f"{kind} claim on {self.quantity}: {said}",
            f"  mechanism       {self.mechanism} (direction {self.direction})",
            f"  claimed         {self.quantity} {_RELATIONS[kind]} {_shown(value)} {at}",
            f"  certified       {self.quantity} in [{self.lower}, {self.upper}]",
        ]
        error = relative_error(value, value, self.enclosure)
        least: Bound | None = None
        if error is not None:
            least = max(error.lower, Fraction(0)) or min(error.upper, Fraction(0))
            low, high = error.decimal_bounds(5)
            lines.append(f"  relative error  claimed/true - 1 in [{low}, {high}]")
        lines += [
            f"  certified by    {self.method or 'exact reasoning'}",
            f"  reproduce       {self.reproduce}",
        ]
        raise ClaimRefuted("\n".join(lines), graded, judged, least)


def _bound(text: str) -> Bound:
    return math.inf if text == "inf" else Fraction(Decimal(text))


def _scaled(value: Bound, factor: Fraction) -> Bound:
    return value * factor if isinstance(value, Fraction) else value


def _shown(value: Bound) -> str:
    if not isinstance(value, Fraction):
        return str(value)
    return format_decimal(value, 17, ROUND_HALF_EVEN)
