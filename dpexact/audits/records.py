"""Records: the fields of one claim before they are checked, and where each of them stands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from dpexact.arguments import direction_in
from dpexact.audits.claims import (
    ARGUMENTS,
    Claim,
    Contract,
    Place,
    argument_in,
    expectation_in,
    kind_in,
    mechanism_in,
    quantity_in,
    tolerance_in,
    written_in,
)
from dpexact.errors import InvalidInput
from dpexact.tokens import unknown

QUANTITIES: Final = ("epsilon", "delta", "beta", "alpha", "renyi", "order")
#: The key of each field of a contract.
CONTRACT: Final = {
    "contract": "sentence",
    **{f"contract_{name}": name for name in ("where", "relation", "absolute", "relative", "at")},
}
OPTIONAL: Final = ("source", "tolerance", "direction", "id", "accountant", "expect", *CONTRACT)
KNOWN: Final = ("mechanism", "claims", *QUANTITIES, "kind", *OPTIONAL)

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of one claim; ``place`` and ``places`` say where it and each field stand.

    ``origin`` is ``place`` for the claim to keep, where it stands in a file.
    """

    place: str
    fields: dict[str, object] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    origin: Place | None = None

    @classmethod
    def of_mapping(cls, fields: Mapping[str, object], place: str) -> Record:
        """The record of a Python mapping with the keys of the claims file."""
        record = cls(place)
        for key, value in fields.items():
            record.put(key, value, place, place)
        return record

    def put(self, key: str, value: object, key_place: str, place: str) -> None:
        """Add one field; refuses a key that is unknown or there already."""
        if key not in KNOWN:
            raise InvalidInput(f"{key_place}: {unknown_key(str(key), KNOWN)}")
        if key in self.places:
            first = f"first on {self.places[key]}"
            raise InvalidInput(f"{key_place}: key {key!r} is given twice ({first})")
        self.places[key] = place
        self.fields[key] = value

    def claim(self) -> Claim:
        """The claim, every field checked.

        Raises:
            InvalidInput: naming the place, the key and what is accepted.
        """
        self._check_presence("mechanism", "claims")
        quantity = self._read("claims", quantity_in)
        argument = ARGUMENTS[quantity]
        for key in QUANTITIES:
            if key in (quantity, argument):
                self._check_presence(key)
            elif self.fields.get(key) is not None:
                raise InvalidInput(
                    f"{self.places[key]}: {key} is not accepted with claims: {quantity}; "
                    f"use {quantity} and {argument}"
                )
        self._check_presence("kind")
        kind = self._read("kind", kind_in)
        tolerance = self._optional("tolerance", lambda value: tolerance_in(value, kind), None)
        return Claim(
            mechanism=self._read("mechanism", mechanism_in),
            quantity=quantity,
            claimed=self._read(quantity, lambda value: written_in(value, quantity)),
            at=self._read(argument, lambda value: argument_in(value, quantity)),
            kind=kind,
            source=self._optional("source", str, ""),
            id=self._optional("id", str, ""),
            tolerance=tolerance,
            direction=self._optional("direction", lambda v: direction_in(str(v)), "both"),
            accountant=self._optional("accountant", str, ""),
            expect=self._optional("expect", lambda value: expectation_in(value, kind), None),
            contract=self._contract(),
            place=self.origin,
        )

    def _contract(self) -> Contract | None:
        given = {name: key for key, name in CONTRACT.items() if self.fields.get(key) is not None}
        if not given:
            return None
        place = self.places[next(iter(given.values()))]
        fields: dict[str, Any] = {name: str(self._value(key)) for name, key in given.items()}
        try:
            return Contract(**{"sentence": "", **fields})
        except InvalidInput as error:
            raise InvalidInput(f"{place}: {error}") from None

    def _check_presence(self, *keys: str) -> None:
        for key in keys:
            if key not in self.fields:
                raise InvalidInput(f"{self.place}: key {key!r} is missing{_purpose(key)}")
            if self.fields[key] is None:
                raise InvalidInput(f"{self.places[key]}: key {key!r} has no value{_purpose(key)}")

    def _read(self, key: str, check: Callable[[object], _T]) -> _T:
        try:
            return check(self._value(key))
        except InvalidInput as error:
            raise InvalidInput(f"{self.places[key]}: {error}") from None

    def _optional(self, key: str, check: Callable[[object], _T], default: _T) -> _T:
        return default if self.fields.get(key) is None else self._read(key, check)

    def _value(self, key: str) -> object:
        value = self.fields[key]
        return value.strip() if isinstance(value, str) else value


def unknown_key(key: str, known: tuple[str, ...]) -> str:
    """What to say about ``key``, which is none of ``known``."""
    plain = key.replace("_", "").isalnum()
    hint = "" if plain else " (text that holds a comma or colon needs quotes)"
    return unknown("key", key, known) + hint


def _purpose(key: str) -> str:
    if key in QUANTITIES:
        return "; a claim names the quantity that it is about and the argument that it is at"
    return {
        "claims": "; it says which of epsilon, delta, beta and renyi is the claim",
        "kind": "; use upper, lower or estimate",
    }.get(key, "")
