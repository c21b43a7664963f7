"""Questions to accountants: from a case of a workload to the claims that an accountant makes on it.

Accountants compute with floats, so each number of a case is first replaced by a nearby float, and
the claim is about the exact value of that float: a claim is judged on the very question that was
asked, and no verdict hangs on the rounding of an input.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Final

from dpexact import balls
from dpexact.audits.accountants.registry import Accountant
from dpexact.audits.accountants.serving import described
from dpexact.audits.claims import Claim, Contract, kind_in
from dpexact.audits.workloads import Case
from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Composition, Mechanism, Repetition
from dpexact.reals import Real
from dpexact.tokens import shorten

#: What an adapter is asked that does not say what.
_USUAL: Final = ("epsilon", "delta")
_REVERSED: Final = {"upper": "lower", "lower": "upper"}


@dataclass(frozen=True, slots=True)
class Question:
    """A case as the accountant is asked about it: every number is the exact value of a float."""

    case: Case
    mechanism: Mechanism
    at: Real

    @property
    def query(self) -> dict[str, Any]:
        """The question in the form that adapters read."""
        tree = _tree(self.mechanism)
        return {
            "mechanism": tree,
            "steps": _steps(tree),
            "quantity": self.case.quantity,
            "at": _float(self.at),
            "direction": self.case.direction,
        }


@dataclass(frozen=True, slots=True)
class Skipped:
    """A case that the accountant cannot be asked about, and why."""

    case: Case
    reason: str


def questions_for(
    accountant: Accountant, cases: Iterable[Case]
) -> tuple[list[Question], list[Skipped]]:
    """The cases that ``accountant`` supports, and the others with the reason."""
    questions, skipped = [], []
    for case in cases:
        try:
            question = Question(case, _in_floats(case.mechanism), _in_float(case.at))
        except InvalidInput as error:
            skipped.append(Skipped(case, f"not a question in floats: {error}"))
            continue
        try:
            known = case.quantity in getattr(accountant, "quantities", _USUAL)
            supported = known and accountant.supports(question.query)
        except Exception as error:  # an adapter is foreign code too
            skipped.append(Skipped(case, f"{accountant.name} cannot tell: {described(error)}"))
            continue
        if supported:
            questions.append(question)
        else:
            skipped.append(Skipped(case, f"{accountant.name} does not account for it"))
    return questions, skipped


def call_of(accountant: Accountant, question: Question) -> str:
    """The call that answers ``question``; the accountant's name if the adapter cannot say."""
    try:
        return accountant.call(question.query)
    except Exception:
        return accountant.name


def claims_from(
    accountant: Accountant, question: Question, values: dict[str, float], versions: dict[str, str]
) -> list[Claim]:
    """What ``accountant`` claimed of ``question``: its answer ``values`` by kind, as claims."""
    release = " ".join(f"{name} {number}" for name, number in versions.items())
    call = call_of(accountant, question)
    kinds = kinds_of(accountant, question)
    return [
        Claim(
            mechanism=question.mechanism,
            quantity=question.case.quantity,
            claimed=values[kind],
            at=question.at,
            kind=kind_in(kind),
            source=f"{release}: {call}",
            id=f"{accountant.name}: {question.case}" + (f" ({kind})" if len(kinds) > 1 else ""),
            direction=question.case.direction,
            accountant=release,
            contract=_contract(accountant, question, kind),
        )
        for kind in kinds
    ]


def kinds_of(accountant: Accountant, question: Question) -> tuple[str, ...]:
    """The kinds of claim of an answer: a bound of the privacy loss bounds ``beta`` reversely."""
    if question.case.quantity != "beta":
        return accountant.kinds
    return tuple(_REVERSED.get(kind, kind) for kind in accountant.kinds)


def _contract(accountant: Accountant, question: Question, kind: str) -> Contract | None:
    """What the adapter says that the package documents, if it says that."""
    stated = getattr(accountant, "contract", None)
    return None if stated is None else Contract(**stated(question.query, kind))


# --- floats -------------------------------------------------------------------------------------


def _float(value: Real) -> float:
    """The float nearest to ``value``, or next to the nearest if ``value`` is irrational.

    Raises:
        InvalidInput: no float is near: ``value`` overflows, or underflows to 0.
    """
    try:
        found = balls.enclosed(value, 20)
        exact = (Fraction(found.lower) + Fraction(found.upper)) / 2
        nearest = float(exact)
    except OverflowError:  # also from an infinite bound
        raise InvalidInput(f"{shorten(str(value))} is beyond the floats") from None
    if nearest == 0 and exact != 0:
        raise InvalidInput(f"{shorten(str(value))} is beyond the floats")
    return nearest


def _in_float(value: Real) -> Real:
    return real(_float(value))


def _in_floats(mechanism: Mechanism) -> Mechanism:
    """``mechanism`` with each number replaced by the exact value of a float next to it."""
    found = mechanism.with_inner(_in_floats)
    values = {parameter.name: getattr(found, parameter.name) for parameter in fields(found)}
    floats = {name: _in_float(x) for name, x in values.items() if isinstance(x, Real)}
    return replace(found, **floats)


def _tree(mechanism: Mechanism) -> dict[str, Any]:
    if isinstance(mechanism, Composition):
        return {"name": "compose", "parts": list(map(_tree, mechanism.parts))}
    name = "repeat" if isinstance(mechanism, Repetition) else mechanism.name
    tree: dict[str, Any] = {"name": name}
    for parameter in fields(mechanism):
        tree[parameter.name] = _plain(getattr(mechanism, parameter.name))
    return tree


def _plain(value: Any) -> Any:
    """A parameter as JSON has it; lists of entries are lists of lists."""
    if isinstance(value, Mechanism):
        return _tree(value)
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return _float(value) if isinstance(value, Real) else value


def _steps(tree: dict[str, Any], times: int = 1) -> list[list[Any]]:
    """The single mechanisms of ``tree``, each with how often it is run."""
    if tree["name"] == "compose":
        return [step for part in tree["parts"] for step in _steps(part, times)]
    if tree["name"] == "repeat":
        return _steps(tree["mechanism"], times * tree["times"])
    return [[tree, times]]
