"""Claims: what other software says about a mechanism, kept exactly as it said it."""

from __future__ import annotations

import math
import re
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal, TypeAlias, get_args

from dpexact import balls
from dpexact.arguments import Direction, direction_in, rational_in, real_in, word_in
from dpexact.comparison import VERDICTS, Verdict
from dpexact.conversion import RealLike, real
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Mechanism, parse
from dpexact.reals import Real, rational
from dpexact.tokens import quoted, shorten

Quantity: TypeAlias = Literal["epsilon", "delta", "beta", "renyi"]
"""What is claimed; ``beta`` is the smallest type II error of a test at a type I error."""

Argument: TypeAlias = Literal["delta", "epsilon", "alpha", "order"]
"""What ``at`` is a value of, in the order of :data:`Quantity`."""

Kind: TypeAlias = Literal["upper", "lower", "estimate"]
"""An ``upper`` claim says that the truth is at most the value, a ``lower`` one at least."""

Claimed: TypeAlias = Real | float
"""An exact value; a ``float`` only for the infinities and NaN, which software does return."""

QUANTITIES: Final[tuple[Quantity, ...]] = get_args(Quantity)
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
#: The argument of each quantity.
ARGUMENTS: Final[dict[Quantity, Argument]] = dict(zip(QUANTITIES, get_args(Argument), strict=True))

#: Relative tolerance of an estimate that states none.
DEFAULT_TOLERANCE: Final = rational(Fraction(1, 100))
_NONE: Final = rational(0)
#: What the argument of each quantity must be.
LIMITS: Final[dict[Quantity, tuple[str, ...]]] = {
    "epsilon": (">= 0", "<= 1"),
    "delta": (),
    "beta": (">= 0", "<= 1"),
    "renyi": (">= 1",),
}

_SPECIAL: Final = re.compile(r"([+-]?)\.?(nan|inf|infinity)")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a claim stands: the path of a file, as it was named, and the line, counted from 1."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Contract:
    """What the documentation of an accountant promises of a claim: its error, and the words.

    A claim ``c`` keeps it where ``|c - t| <= absolute + relative * t`` for a truth ``t`` at an
    argument at most ``at`` away from the one of the claim.

    Args:
        sentence: the documented words.
        where: the version and the place where they stand.
        relation: the neighbours that they speak of.
        absolute, relative, at: rationals ``>= 0``.

    Raises:
        InvalidInput: an error that is no rational ``>= 0``, or no ``sentence``.
    """

    sentence: str
    where: str = ""
    relation: str = ""
    absolute: Real = _NONE
    relative: Real = _NONE
    at: Real = _NONE

    def __post_init__(self) -> None:
        if not self.sentence:
            raise InvalidInput("contract: it has no sentence; use the documented words")
        for name in ("absolute", "relative", "at"):
            value = rational(rational_in(getattr(self, name), f"contract_{name}", ">= 0"))
            object.__setattr__(self, name, value)


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: ``mechanism`` has ``quantity`` at most, at least or about ``claimed``.

    Args:
        mechanism: a mechanism or its text.
        quantity: ``"epsilon"`` (at ``delta = at``), ``"delta"`` (at ``epsilon = at``), ``"beta"``
            (at ``alpha = at``: the trade-off function, of ``remove`` that of tests whose type I
            errors are those with the record) or
            ``"renyi"`` (at ``order = at``).
        claimed: any exact real, an infinity or NaN; a float means its exact binary value.
        at: the argument: ``0 <= delta <= 1``, any ``epsilon``, ``0 <= alpha <= 1``
            or ``order >= 1``.
        kind: ``"upper"``, ``"lower"`` or ``"estimate"``.
        source: where the claim stands, for the reader.
        id: a name by which other tools find the claim again.
        tolerance: rational, ``>= 0``, relative to the truth; of estimates only, where it is
            :data:`DEFAULT_TOLERANCE` if not given.
        direction: neighbours by ``remove``, ``add`` or ``both`` (the larger).
        accountant: package and version that made the claim, as ``"dp-accounting 0.6.0"``.
        expect: the verdict that is expected, if one is: one that claims of its kind can get.
        contract: what the documentation of the accountant promises; a wrong claim that keeps it has
            the grade ``contract``.
        place: where the claims file holds it, if one does; no part of the comparison of claims.

    Raises:
        InvalidInput: an argument out of its domain.

    >>> claim = Claim("pure_dp(0.1)^100", "epsilon", "4.8", "1e-6", "upper")
    >>> claim.statement
    'epsilon <= 4.8 at delta = 0.000001'
    """

    mechanism: Mechanism
    quantity: Quantity
    claimed: Claimed
    at: Real
    kind: Kind
    source: str = ""
    id: str = ""
    tolerance: Real | None = None
    direction: Direction = "both"
    accountant: str = ""
    expect: Verdict | None = None
    contract: Contract | None = None
    place: Place | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        quantity, kind = quantity_in(self.quantity), kind_in(self.kind)
        checked = {
            "mechanism": mechanism_in(self.mechanism),
            "claimed": claimed_in(self.claimed, quantity),
            "at": argument_in(self.at, quantity),
            "tolerance": tolerance_in(self.tolerance, kind),
            "direction": direction_in(self.direction),
            "source": str(self.source),
            "id": str(self.id),
            "accountant": str(self.accountant),
            "expect": expectation_in(self.expect, kind),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    def argument(self) -> Argument:
        """The name of the quantity that ``at`` is a value of."""
        return ARGUMENTS[self.quantity]

    @property
    def statement(self) -> str:
        """The claim in one line, without the mechanism."""
        relation = {"upper": "<=", "lower": ">=", "estimate": "~"}[self.kind]
        value, at = number_text(self.claimed), number_text(self.at)
        return f"{self.quantity} {relation} {value} at {self.argument} = {at}"


def number_text(value: Claimed, limit: int = 24) -> str:
    """``value`` for the reader: exact where short, else 17 digits that name it, or begin it."""
    exact = str(value)
    if len(exact) <= limit or not isinstance(value, Real) or value.fraction is None:
        return exact
    from decimal import ROUND_DOWN, ROUND_HALF_EVEN

    from dpexact.decimals import format_decimal

    rounded = format_decimal(value.fraction, 17, ROUND_HALF_EVEN)
    with suppress(OverflowError):
        if value.fraction in (Fraction(rounded), Fraction(float(rounded))):
            return rounded
    digits, e, exponent = format_decimal(value.fraction, 17, ROUND_DOWN).partition("e")
    return f"{digits}...{e}{exponent}"


# --- checks of the fields -----------------------------------------------------------------------


def quantity_in(value: object) -> Quantity:
    """The quantity named ``value``."""
    return word_in(value, "claims", QUANTITIES)


def kind_in(value: object) -> Kind:
    """The kind named ``value``."""
    return word_in(value, "kind", KINDS)


def mechanism_in(value: object) -> Mechanism:
    """The mechanism, parsed if it is text."""
    if isinstance(value, Mechanism):
        return value
    if not isinstance(value, str):
        raise InvalidInput(f"mechanism: {quoted(value)} is neither a mechanism nor its text")
    try:
        return _named(value) if "@" not in value else parse(value)  # a file may change
    except InvalidInput as error:
        raise InvalidInput(f"mechanism: {str(error).removeprefix('mechanism: ')}") from None


@lru_cache(maxsize=4096)
def _named(text: str) -> Mechanism:
    """One mechanism for all claims about it."""
    return parse(text)


def claimed_in(value: RealLike, name: str) -> Claimed:
    """The exact value of a claim; infinities and NaN are floats."""
    special = _special(value)
    if special is not None:
        return special
    exact = real(value, name)
    balls.sign(exact, name)  # refuses what is not a real number, as sqrt(1-2*pi)
    return exact


def written_in(value: RealLike, name: str) -> Claimed:
    """The same of a claim that people make: only programs answer with what is not a number."""
    claimed = claimed_in(value, name)
    if isinstance(claimed, float) and claimed != math.inf:
        raise InvalidInput(f"{name}: {claimed} cannot be claimed; use a number or inf")
    return claimed


def argument_in(value: RealLike, quantity: Quantity) -> Real:
    """The exact argument at which ``quantity`` is claimed."""
    return real_in(value, ARGUMENTS[quantity], *LIMITS[quantity])


def tolerance_in(value: RealLike | None, kind: Kind) -> Real | None:
    """The relative tolerance: of estimates only, where it has a default."""
    if kind != "estimate":
        if value is not None:
            raise InvalidInput(
                f"tolerance: {shorten(str(value))} is not accepted with kind {kind}; "
                "only an estimate has a tolerance"
            )
        return None
    if value is None:
        return DEFAULT_TOLERANCE
    return rational(rational_in(value, "tolerance", ">= 0"))


def expectation_in(value: object, kind: Kind) -> Verdict | None:
    """The expected verdict, which claims of ``kind`` can get."""
    if value is None:
        return None
    return word_in(value, "expect", expectations(kind))


def expectations(kind: Kind) -> tuple[Verdict, ...]:
    """The verdicts that may be expected of claims of ``kind``."""
    words = ("accurate", "inaccurate") if kind == "estimate" else ("sound", "unsound")
    return tuple(word for word in VERDICTS if word in words)


def _special(value: RealLike) -> float | None:
    """``value`` as infinity or NaN if it is one, in the spellings of Python, YAML and JSON."""
    if isinstance(value, str):
        found = _SPECIAL.fullmatch(value.strip().lower())
        return float(found[1] + found[2]) if found else None
    if isinstance(value, float) and not math.isfinite(value):  # numpy's float64 is a float
        return float(value)
    return None
