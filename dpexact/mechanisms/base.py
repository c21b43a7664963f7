"""Mechanisms as inert, frozen values: what ran on the data, described exactly.

A mechanism stands for its dominating pair ``(P, Q)`` of output distributions on neighbouring
datasets (``docs/theory/dominating-pairs.md``). Nothing here computes; :mod:`dpexact.accounting`
interprets.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from dpexact.arguments import MAX_COUNT, integer_in, real_in, short_in
from dpexact.conversion import RealLike, real
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import ordering
from dpexact.reals import Real, rational
from dpexact.tokens import quoted, shorten

if TYPE_CHECKING:
    from dpexact.enclosure import Enclosure
    from dpexact.tradeoffs import TradeoffFunction


@dataclass(frozen=True, slots=True)
class Relation:
    """Neighbours differ by this: ``records`` added or removed, or replaced.

    >>> print(Relation("add/remove", 3))
    add/remove neighbours by 3 records
    """

    kind: Literal["add/remove", "replacement"]
    records: int = 1

    def __str__(self) -> str:
        return f"{self.kind} neighbours" + (
            f" by {self.records} records" if self.records > 1 else ""
        )


ADD_REMOVE: Final = Relation("add/remove")
REPLACEMENT: Final = Relation("replacement")


def joint(relations: Iterable[tuple[str, Relation]]) -> Relation | None:
    """The relation of all that run together, each by its name; None of nothing.

    Raises:
        UnsupportedMechanism: two differ, and no two datasets are neighbours in both senses.
    """
    found: dict[Relation, str] = {}
    for name, relation in relations:
        found.setdefault(relation, name)
    if len(found) < 2:
        return next(iter(found), None)
    first, second = sorted(found, key=lambda relation: (relation.kind, relation.records))[:2]
    raise UnsupportedMechanism(
        f"{found[first]} ({first}) beside {found[second]} ({second}): "
        "no two datasets are neighbours in both senses"
    )


#: A fraction in the text of a mechanism, and what the denominator of a float is below.
# no float has more digits as a fraction
_FRACTION: Final = re.compile(r"(?<![\w.])(\d{1,16})/(\d{1,324})(?!\d)")

#: Name of a parameter, and what takes a value into its domain.
_Parameter: TypeAlias = "tuple[str, Callable[[Any, str], Any] | None]"

_PARAMETERS: Final[dict[type[Any], tuple[list[_Parameter], list[str]]]] = {}

#: Deepest nesting of mechanisms, so that each can be printed and parsed back.
MAX_NESTING: Final = 30


def numbers(*conditions: str) -> dict[str, Any]:
    """The domain of a parameter: exact numbers that meet all ``conditions``, such as ``"> 0"``.

    It is given as the metadata of a field, and checked when a mechanism is made.
    """
    return {"domain": lambda value, name: short_in(real_in(value, name, *conditions), name)}


def positive(zero: str) -> dict[str, Any]:
    """The domain of numbers above 0, and what to write in place of 0."""

    def into(value: RealLike, name: str) -> Real:
        if (found := real(value, name)).fraction == 0:
            raise InvalidInput(f"{name}: 0 is not accepted; must be > 0; {zero}")
        return short_in(real_in(found, name, "> 0"), name)

    return {"domain": into}


def integers(lowest: int) -> dict[str, Any]:
    """The domain of a parameter: integers from ``lowest`` on."""
    return {"domain": lambda value, name: integer_in(value, name, lowest)}


def mechanism_inside(value: object, name: str) -> Mechanism:
    """The mechanism, one that may stand inside another."""
    if not isinstance(value, Mechanism):
        raise InvalidInput(f"{name}: {quoted(value)} is not a mechanism")
    if _depth(value) >= MAX_NESTING:
        raise InvalidInput(f"{name}: mechanisms nested more than {MAX_NESTING} deep")
    return value


POSITIVE: Final = numbers("> 0")
#: Scales of noise, and sensitivities.
SCALE: Final = positive("without noise everything is revealed: approx_dp(0, 1)")
REACH: Final = positive("a query that no record moves loses nothing: pure_dp(0)")
NOT_NEGATIVE: Final = numbers(">= 0")
PROBABILITY: Final = numbers(">= 0", "<= 1")
#: Of a parameter that may be left out, and stands before the others where it is not.
LEADS: Final[dict[str, Any]] = {"leads": True}
INNER: Final[dict[str, Any]] = {"domain": mechanism_inside}


@dataclass(frozen=True, slots=True, repr=False)
class Mechanism:
    """Base of all mechanisms: equality by structure, ``str`` in the text grammar.

    The methods :meth:`epsilon`, :meth:`delta_at`, :meth:`renyi` and :meth:`tradeoff` ask the
    functions of the package, and take what these take after the mechanism.

    >>> from dpexact import gaussian
    >>> print((gaussian("1.3") ** 100).epsilon("1e-5", digits=9).safe())
    61.59873
    """

    name: ClassVar[str] = ""
    #: The neighbours that it speaks of itself; None where its parameters hold for those meant.
    neighbours: ClassVar[Relation | None] = None

    def __init_subclass__(cls, name: str = "", neighbours: Relation | None = None) -> None:
        if name:  # a class with slots is made twice, and keeps what the first one was given
            cls.name, cls.neighbours = name, neighbours

    def __post_init__(self) -> None:
        """Take the parameters into their domains, or say which is outside."""
        for name, into in _parameters(type(self))[0]:
            if into:
                object.__setattr__(self, name, into(getattr(self, name), name))

    def epsilon(self, delta: RealLike, *arguments: Any, **options: Any) -> Enclosure:
        """Enclose the smallest epsilon at ``delta``; see :func:`dpexact.epsilon`."""
        found: Enclosure = _function("epsilon")(self, delta, *arguments, **options)
        return found

    def delta_at(self, epsilon: RealLike, *arguments: Any, **options: Any) -> Enclosure:
        """Enclose the smallest delta at ``epsilon``; see :func:`dpexact.delta`."""
        found: Enclosure = _function("delta")(self, epsilon, *arguments, **options)
        return found

    def renyi(self, order: RealLike, *arguments: Any, **options: Any) -> Enclosure:
        """Enclose the Rényi divergence of ``order``; see :func:`dpexact.renyi`."""
        found: Enclosure = _function("renyi")(self, order, *arguments, **options)
        return found

    def tradeoff(self) -> TradeoffFunction:
        """The trade-off function; see :func:`dpexact.tradeoff`."""
        found: TradeoffFunction = _function("tradeoff")(self)
        return found

    def __mul__(self, other: Mechanism) -> Mechanism:
        """Composition: both mechanisms run on the same data."""
        return compose(self, other) if isinstance(other, Mechanism) else NotImplemented

    def __pow__(self, times: RealLike) -> Mechanism:
        """Repetition: the mechanism runs ``times`` times."""
        return repeat(self, times)

    __xor__ = __pow__

    def steps(self) -> dict[Mechanism, int]:
        """The single mechanisms that run, each with its number of repetitions."""
        return {self: 1}

    def inner(self) -> Iterator[Mechanism]:
        """The mechanisms among the parameters."""
        waiting = [getattr(self, name) for name in reversed(_parameters(type(self))[1])]
        while waiting:
            value = waiting.pop()
            if isinstance(value, Mechanism):
                yield value
            elif isinstance(value, tuple):
                waiting += reversed(value)

    def kinds(self) -> Iterator[Mechanism]:
        """Of those that may run at least one of each kind, and all where it does not tell all."""
        return self.inner()

    def with_inner(self, change: Callable[[Mechanism], Mechanism]) -> Mechanism:
        """The same with every mechanism among its parameters changed."""
        changed = {f.name: _changed(getattr(self, f.name), change) for f in fields(self)}
        return replace(self, **changed)

    def relation(self) -> Relation | None:
        """The neighbours that answers are about; None where all numbers are given for those meant.

        Raises:
            UnsupportedMechanism: parts speak of different neighbours.
        """
        return joint(self.speakers())

    def speakers(self) -> Iterator[tuple[str, Relation]]:
        """The parts that speak of neighbours, by name, and of which."""
        if self.neighbours is not None:
            yield self.name, self.neighbours
        for part in self.inner():
            yield from part.speakers()

    def __str__(self) -> str:
        shown = []
        for parameter in placed(type(self)):
            value = getattr(self, parameter.name)
            if written := parameter.metadata.get("written"):
                shown += [written.format(*entry) for entry in value]
            elif parameter.default is MISSING or value != parameter.default:
                shown.append(str(value))
        return f"{self.name}({', '.join(shown)})"

    def __repr__(self) -> str:
        return f"<Mechanism {shown(self)}>"

    def _set(self, **checked: Any) -> None:
        for name, value in checked.items():
            object.__setattr__(self, name, value)


def _parameters(kind: type[Mechanism]) -> tuple[list[_Parameter], list[str]]:
    """All, and those that are no numbers.

    Looked up once a class: logs make a hundred thousand mechanisms.
    """
    if kind not in _PARAMETERS:
        all_of_them = [(f.name, f.metadata.get("domain")) for f in fields(kind)]
        others = [f.name for f in fields(kind) if f.type not in ("Real", "int")]
        _PARAMETERS[kind] = all_of_them, others
    return _PARAMETERS[kind]


def placed(kind: type[Mechanism]) -> list[Field[Any]]:
    """The parameters in the order in which text has them: what ``LEADS`` stands first."""
    return sorted(fields(kind), key=lambda parameter: "leads" not in parameter.metadata)


def shown(mechanism: Mechanism) -> str:
    """The text of ``mechanism`` for people: numbers that are floats look as Python prints them.

    >>> from dpexact import gaussian, poisson
    >>> print(shown(poisson(gaussian(1.1), "1/235") ** 14100))
    poisson(gaussian(1.1), 1/235)^14100 (1.1 as a float)
    """
    floats: dict[str, None] = {}

    def short(found: re.Match[str]) -> str:
        above, below = int(found[1]), int(found[2])
        value = above / below if below & (below - 1) == 0 and below >> 1075 == 0 else 0.0
        if value == 0 or value.as_integer_ratio() != (above, below):
            return found[0]
        floats[repr(value)] = None
        return repr(value)

    text = _FRACTION.sub(short, str(mechanism))
    return (
        f"{text} ({', '.join(floats)} as {'a float' if len(floats) == 1 else 'floats'})"
        if floats
        else text
    )


def _function(name: str) -> Any:
    # the questions live in rooms above, which import this one
    return getattr(import_module("dpexact"), name)


def _depth(mechanism: Mechanism) -> int:
    if not _parameters(type(mechanism))[1]:
        return 1
    return 1 + max(map(_depth, mechanism.inner()), default=0)


def _changed(value: Any, change: Callable[[Mechanism], Mechanism]) -> Any:
    if isinstance(value, Mechanism):
        return change(value)
    return tuple(_changed(part, change) for part in value) if isinstance(value, tuple) else value


# --- sampling -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class Poisson(Mechanism, name="poisson", neighbours=ADD_REMOVE):
    """``mechanism`` on a Poisson sample of rate ``0 <= q <= 1``; add/remove neighbours.

    Its pairs are the mixtures of ``docs/theory/dominating-pairs.md``, Theorem 4.
    """

    mechanism: Mechanism = field(metadata=INNER)
    q: Real = field(metadata=PROBABILITY | ordering.RATE)

    def steps(self) -> dict[Mechanism, int]:
        return self.mechanism.steps() if self.q.fraction == 1 else {self: 1}


@dataclass(frozen=True, slots=True, repr=False)
class FixedSize(Mechanism, name="fixed_size", neighbours=REPLACEMENT):
    """``mechanism`` on a uniform sample of ``m`` out of ``n`` records; replacement neighbours."""

    mechanism: Mechanism = field(metadata=INNER)
    m: int = field(metadata=ordering.DRAWN)
    n: int = field(metadata=integers(1) | ordering.DRAWN_FROM)

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        self._set(m=integer_in(self.m, "m", 1, self.n))

    @property
    def q(self) -> Real:
        """The sampling rate ``m/n``."""
        return rational(Fraction(self.m, self.n))


# --- composition --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class Composition(Mechanism):
    """Several mechanisms on the same data. Two or more ``parts``, none itself a composition.

    Perhaps adaptive, all on one neighbouring relation: the pair is the product of those of the
    parts (``docs/theory/dominating-pairs.md``, Theorem 3).
    """

    parts: tuple[Mechanism, ...]

    def __post_init__(self) -> None:
        flat: list[Mechanism] = []
        for part in self.parts:
            flat.extend(part.parts if isinstance(part, Composition) else [part])
        if len(flat) < 2:
            raise InvalidInput("parts: a composition needs at least two mechanisms")
        self._set(parts=tuple(mechanism_inside(part, "parts") for part in flat))

    def steps(self) -> dict[Mechanism, int]:
        merged: dict[Mechanism, int] = {}
        for part in self.parts:
            for mechanism, count in part.steps().items():
                merged[mechanism] = merged.get(mechanism, 0) + count
        return merged

    def ends(self, count: int) -> list[Mechanism]:
        """So many parts from the first on, and the last."""
        return [*self.parts[:count], *self.parts[count:][-1:]]

    def __str__(self) -> str:
        return " * ".join(map(str, self.parts))


@dataclass(frozen=True, slots=True, repr=False)
class Repetition(Mechanism):
    """``mechanism`` run ``times >= 2`` times on the same data."""

    mechanism: Mechanism = field(metadata=INNER)
    times: int = field(metadata=integers(2) | ordering.TIMES)

    def steps(self) -> dict[Mechanism, int]:
        return {step: count * self.times for step, count in self.mechanism.steps().items()}

    def __str__(self) -> str:
        bracket = isinstance(self.mechanism, Composition | Repetition)
        return f"({self.mechanism})^{self.times}" if bracket else f"{self.mechanism}^{self.times}"


def compose(*mechanisms: Mechanism) -> Mechanism:
    """The composition of ``mechanisms``; one alone is itself."""
    return mechanisms[0] if len(mechanisms) == 1 else Composition(mechanisms)


def repeat(mechanism: Mechanism, times: RealLike) -> Mechanism:
    """``mechanism`` run ``times`` times, ``1 <= times <= 10^18``."""
    exact = real(times, "times").fraction
    if exact is not None and exact.denominator != 1 and 1 < exact < MAX_COUNT:
        raise InvalidInput(
            f"times: {shorten(str(rational(exact)))} is not accepted; write {math.floor(exact)} or "
            f"{math.ceil(exact)}, whichever ran; 'dpexact dpsgd' counts steps as frameworks do"
        )
    count = integer_in(times, "times", 1, MAX_COUNT)
    return mechanism if count == 1 else Repetition(mechanism, count)
