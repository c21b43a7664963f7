"""The truth behind claims, from the accounting: each question once, and what they share once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, TypeAlias

from dpexact.accounting import queries
from dpexact.answers import best_of
from dpexact.arguments import Direction
from dpexact.audits.claims import Claim, Quantity
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real

_Question: TypeAlias = tuple[Mechanism, Quantity, Direction]

_MANY: Final[dict[Quantity, Callable[..., tuple[list[Enclosure], bool]]]] = {
    "epsilon": queries.epsilons_answer,
    "delta": queries.deltas_answer,
}


class Truths:
    """Answers to the questions of claims; what was asked is not computed again.

    Mechanisms that are equal as values have one answer.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[_Question, Real, int], Enclosure] = {}

    def share(self, claims: Sequence[Claim], digits: int) -> None:
        """Ask first, at many arguments at once, what several of ``claims`` will need.

        What cannot be answered so is asked again when it is needed, for itself.
        """
        asked: defaultdict[_Question, dict[Real, None]] = defaultdict(dict)
        for claim in claims:
            if claim.quantity in _MANY:
                asked[_question(claim)][claim.at] = None
        for question, found in asked.items():
            if len(found) < 2:
                continue
            mechanism, quantity, direction = question
            points = list(found)
            with suppress(Exception):  # the question alone says what is wrong, if anything is
                answers, _ = _MANY[quantity](mechanism, points, digits, direction)
                for at, answer in zip(points, answers, strict=True):
                    self._known[question, at, digits] = answer

    def of(self, claim: Claim, at: Real, digits: int) -> Enclosure:
        """The enclosure of the truth that ``claim`` is about, at the argument ``at``.

        Raises:
            DpexactError: no certified method.
        """
        key = _question(claim), at, digits
        if key not in self._known:
            self._known[key] = _asked(claim, at, digits)
        return self._known[key]


def _question(claim: Claim) -> _Question:
    return claim.mechanism, claim.quantity, claim.direction


def _asked(claim: Claim, at: Real, digits: int) -> Enclosure:
    mechanism, direction = claim.mechanism, claim.direction
    if claim.quantity == "beta":
        from dpexact.accounting.tradeoff_of import tradeoff

        return best_of(lambda: tradeoff(mechanism, direction)(at, digits))
    if claim.quantity == "renyi":
        from dpexact.accounting.renyi import renyi

        return best_of(lambda: renyi(mechanism, at, digits, direction))
    ask = queries.epsilon_answer if claim.quantity == "epsilon" else queries.delta_answer
    return ask(mechanism, at, digits, direction)
