"""JSON Schemas of claims files and workload files, for editors.

They are made of the very tables by which the files are read, so that no key and no word is in one
and not in the other. A schema cannot read a mechanism or an expression such as ``log(3/2)``: what
it accepts may still be refused, but never the other way round, save for blanks around a word.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from dpexact.arguments import DIRECTIONS
from dpexact.audits.claims import ARGUMENTS, KINDS, LIMITS, QUANTITIES, Kind, Quantity, expectations
from dpexact.audits.records import CONTRACT, KNOWN
from dpexact.audits.records import QUANTITIES as NUMBERS
from dpexact.audits.workloads.files import ASKED

Schema: TypeAlias = dict[str, Any]

#: The newest draft that editors of YAML read whole.
_DRAFT: Final = "http://json-schema.org/draft-07/schema#"
_BOUNDS: Final = {">=": "minimum", "<=": "maximum"}

_SAID: Final[dict[str, str]] = {
    "mechanism": "What ran, in the grammar of mechanisms: poisson(gaussian(1.1), 1/235)^14100",
    "claims": "What is claimed: the quantity whose key holds the claimed value",
    "epsilon": "The claimed epsilon, or the one at which delta is claimed",
    "delta": "The claimed delta, or the one at which epsilon is claimed",
    "beta": "The claimed type II error of the best test",
    "alpha": "The type I error at which beta is claimed",
    "renyi": "The claimed Rényi divergence",
    "order": "The order at which renyi is claimed",
    "kind": "upper: at least the truth; lower: at most the truth; estimate: near it",
    "source": "Who claimed it, and how",
    "tolerance": "Of an estimate: the accepted relative error, 1/100 if absent",
    "direction": "Neighbours: the record is removed, added, or the worse of both (if absent)",
    "id": "A name for the reports",
    "accountant": "The package and version that claimed it",
    "expect": "The verdict that is expected",
    "contract": "The words by which the documentation of the accountant promises the claim",
    "contract_where": "Where these words stand, and in which version",
    "contract_relation": "The neighbours that they speak of",
    "contract_absolute": "The absolute error that they allow",
    "contract_relative": "The error relative to the truth that they allow",
    "contract_at": "The error in the argument that they allow",
    "description": "A line for the report",
    "cases": "Groups of questions: each mechanism at each argument in each direction",
}
_TEXTS: Final = ("source", "id", "accountant", "contract", "contract_where", "contract_relation")
_NUMBER: Final[Schema] = {"type": ["number", "string"], "minLength": 1}
_TEXT: Final[Schema] = {"type": ["string", "number", "boolean", "null"]}
_NOTHING: Final[Schema] = {"type": "null"}


def claims_schema() -> Schema:
    """The schema of what :func:`dpexact.audits.read_claims` reads, as YAML or JSON.

    >>> sorted(claims_schema()["properties"])
    ['claims']
    """
    return {
        "$schema": _DRAFT,
        "title": "dpexact claims file",
        "description": "Claims that dpexact audit judges. Numbers are exact: 1e-5, 1/235, log(3).",
        "type": "object",
        "required": ["claims"],
        "additionalProperties": False,
        "properties": {"claims": {"type": "array", "minItems": 1, "items": _claim()}},
    }


def workload_schema() -> Schema:
    """The schema of what :func:`dpexact.audits.workloads.load` reads.

    >>> workload_schema()["required"]
    ['cases']
    """
    group: Schema = {
        "type": "object",
        "required": ["mechanism"],
        "anyOf": [{"required": [key]} for key in ASKED],
        "additionalProperties": False,
        "properties": {
            "mechanism": _said("mechanism", _one_or_more({"type": "string", "minLength": 1})),
            **{key: _asked(quantity) for key, quantity in ASKED.items()},
            "direction": _said("direction", _one_or_more({"enum": list(DIRECTIONS)})),
        },
    }
    line = {"type": ["string", "number", "boolean"], "minLength": 1}
    return {
        "$schema": _DRAFT,
        "title": "dpexact workload file",
        "description": "Questions for accountants. Numbers are exact: 1e-5, 1/235, log(3).",
        "type": "object",
        "required": ["cases"],
        "additionalProperties": False,
        "properties": {
            "description": _said("description", _one_or_more(line)),
            "cases": _said("cases", _one_or_more(group)),
        },
    }


def _claim() -> Schema:
    values: dict[str, Schema] = {
        "mechanism": {"type": "string", "minLength": 1},
        "claims": {"enum": list(QUANTITIES)},
        "kind": {"enum": list(KINDS)},
        "direction": {"enum": [*DIRECTIONS, None]},
        "expect": {"enum": [*(word for kind in KINDS for word in expectations(kind)), None]},
        **dict.fromkeys(_TEXTS, _TEXT),
    }
    optional_number = {**_NUMBER, "type": [*_NUMBER["type"], "null"]}
    return {
        "type": "object",
        "required": ["mechanism", "claims", "kind"],
        "additionalProperties": False,
        "properties": {key: _said(key, values.get(key, optional_number)) for key in KNOWN},
        "allOf": [
            *map(_of_quantity, QUANTITIES),
            *map(_of_kind, KINDS),
            {
                "if": {"anyOf": [_given(key) for key in CONTRACT]},
                "then": {
                    "required": ["contract"],
                    "properties": {"contract": {"not": _NOTHING, "minLength": 1}},
                },
            },
        ],
    }


def _of_quantity(quantity: Quantity) -> Schema:
    argument = ARGUMENTS[quantity]
    others = [key for key in NUMBERS if key not in (quantity, argument)]
    properties: dict[str, Schema] = {
        quantity: _NUMBER,
        argument: _limited(quantity),
        **dict.fromkeys(others, _NOTHING),
    }
    return {
        "if": _is("claims", quantity),
        "then": {"required": [quantity, argument], "properties": properties},
    }


def _of_kind(kind: Kind) -> Schema:
    properties: dict[str, Schema] = {"expect": {"enum": [*expectations(kind), None]}}
    if kind != "estimate":
        properties["tolerance"] = _NOTHING
    return {"if": _is("kind", kind), "then": {"properties": properties}}


def _is(key: str, word: str) -> Schema:
    return {"required": [key], "properties": {key: {"const": word}}}


def _given(key: str) -> Schema:
    return {"required": [key], "properties": {key: {"not": _NOTHING}}}


def _limited(quantity: Quantity) -> Schema:
    """A number that may be the argument of ``quantity``; of text nothing is known."""
    limits = (condition.split() for condition in LIMITS[quantity])
    return {**_NUMBER, **{_BOUNDS[relation]: int(limit) for relation, limit in limits}}


def _asked(quantity: Quantity) -> Schema:
    argument = ARGUMENTS[quantity]
    said = f"Ask for {quantity} at this {argument}, or at each of a list"
    return {"description": said, **_one_or_more(_limited(quantity))}


def _one_or_more(item: Schema) -> Schema:
    return {"oneOf": [item, {"type": "array", "minItems": 1, "items": item}]}


def _said(key: str, schema: Schema) -> Schema:
    return {"description": _SAID[key], **schema}
