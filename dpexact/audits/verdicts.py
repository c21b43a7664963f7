"""Verdicts: a claim against the certified enclosure of the truth.

Each question is asked of the accounting once, and so is what several share.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from dpexact import balls
from dpexact.accounting import queries
from dpexact.accounting.classic.composition import largest_loss
from dpexact.accounting.standing import EXACT, standing
from dpexact.answers import best_of
from dpexact.arguments import MAX_DIGITS, Direction, digits_in
from dpexact.audits.claims import Claim, Claimed, Quantity
from dpexact.comparison import (
    GUILTY,
    WRONG,
    Grade,
    Verdict,
    relative_error,
    within,
)
from dpexact.comparison import grade as grade_on
from dpexact.comparison import verdict as verdict_on
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.errors import DpexactError
from dpexact.exactness import exact_ratio
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real, rational
from dpexact.ternary import Order
from dpexact.tokens import shorten

#: Where a claim lies inside the enclosure, digits are doubled up to about this many times those
#: asked for.
CAP_FACTOR: Final = 16

_ZERO: Final = Fraction(0)
#: What holds for every mechanism.
_TRIVIAL: Final = {
    "epsilon": Enclosure(_ZERO, math.inf, "none: 0 <= epsilon"),
    "delta": Enclosure(_ZERO, Fraction(1), "none: 0 <= delta <= 1"),
    "beta": Enclosure(_ZERO, Fraction(1), "none: 0 <= beta <= 1"),
    "renyi": Enclosure(_ZERO, math.inf, "none: 0 <= renyi"),
}


#: The ends of the arguments of each quantity.
_ARGUMENTS: Final[dict[Quantity, tuple[Bound, Bound]]] = {
    "epsilon": (_ZERO, Fraction(1)),
    "delta": (-math.inf, math.inf),
    "beta": (_ZERO, Fraction(1)),
    "renyi": (Fraction(1), math.inf),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one claim.

    ``enclosure`` certainly contains the truth. ``grade`` says how wrong a wrong claim is at least,
    by ``dpexact.comparison.grade``, or that it keeps its contract; it is ``none`` for claims
    that are right or undecided, but NaN is ``invalid``. ``relative_error`` encloses
    ``(claimed - truth) / truth``; it is ``None`` where that is undefined (NaN, truth 0 or
    infinite, unless the claim equals it) or cannot be bounded. ``digits`` were asked of the
    accounting in the end.
    """

    claim: Claim
    verdict: Verdict
    enclosure: Enclosure
    relative_error: Enclosure | None
    digits: int
    seconds: float
    note: str = ""
    grade: Grade = "none"

    @property
    def guilty(self) -> bool:
        """Whether the claim is certified wrong by more than a rounding."""
        return self.grade in GUILTY

    @property
    def as_expected(self) -> bool | None:
        """Whether the verdict is the expected one; None where none is expected."""
        return None if self.claim.expect is None else self.verdict == self.claim.expect


def judge(claim: Claim, digits: int = 15, truths: Truths | None = None) -> Finding:
    r"""Decide one claim against certified bounds of the truth ``t``.

    Where accounting bounds ``t`` from one side only, as above with ``zcdp`` among the parts, the
    other side stays open. A claim ``c`` is *sound* when ``c >= t`` (upper) or ``c <= t`` (lower),
    *accurate* when ``|c - t| <= tolerance * t`` (estimate); else *unsound* or *inaccurate*. It is
    *undecided* when neither could be certified, and ``note`` says why. Nothing that goes wrong with
    one claim is raised. ``truths`` keeps what was computed for other claims.

    Raises:
        InvalidInput: ``digits`` out of range.

    >>> judge(Claim("gaussian(1)", "epsilon", "4.377", "1e-5", "upper")).verdict
    'unsound'
    """
    digits_in(digits)
    truths = truths or Truths()
    started = time.perf_counter()
    verdict: Verdict = "undecided"
    grade: Grade = "none"
    enclosure, note, wanted = _TRIVIAL[claim.quantity], "", digits
    try:
        while True:
            enclosure, note = _narrowed(claim, wanted, enclosure, truths)
            verdict = _verdict(claim, _bounds(claim.claimed, wanted), enclosure)
            if verdict == "undecided" and _equals_truth(claim):
                verdict = "accurate" if claim.kind == "estimate" else "sound"
            grade = _grade(claim, wanted, enclosure) if verdict in WRONG else "none"
            if note or (verdict != "undecided" and _is_settled(claim, wanted, enclosure, grade)):
                break
            if claim.claimed != claim.claimed:
                note, grade = "the claim is not a number", "invalid"
                break
            if 2 * wanted > min(CAP_FACTOR * digits, MAX_DIGITS):
                if verdict == "undecided":
                    note = f"{wanted} digits do not tell the claim from the truth; ask for more"
                break
            wanted *= 2
        if grade not in ("none", "invalid") and _keeps_contract(claim, wanted, enclosure, truths):
            grade = "contract"
        error = relative_error(*_bounds(claim.claimed, wanted), enclosure)
    except Exception as failure:  # one claim must not stop the others
        error, note = None, f"failed with {type(failure).__name__}: {shorten(str(failure), 200)}"
    seconds = time.perf_counter() - started
    return Finding(claim, verdict, enclosure, error, wanted, seconds, note, grade)


def judge_together(claims: Sequence[Claim], digits: int = 15) -> Iterator[Finding]:
    """:func:`judge` each of ``claims``; those about one mechanism share their work.

    What was shared counts for each of them alike in its ``seconds``.
    """
    truths, started = Truths(), time.perf_counter()
    truths.share(claims, digits)
    shared = (time.perf_counter() - started) / len(claims) if claims else 0.0
    for claim in claims:
        found = judge(claim, digits, truths)
        yield replace(found, seconds=found.seconds + shared)


def unjudged(claim: Claim, digits: int, reason: str) -> Finding:
    """The finding on a claim whose judgement was lost, as with a worker that died."""
    return Finding(claim, "undecided", _TRIVIAL[claim.quantity], None, digits, 0.0, reason)


def follows(finding: Finding) -> bool:
    """Whether the verdict is that of the bounds; of a finding that was read it need not be."""
    claim, verdict = finding.claim, finding.verdict
    if verdict == "undecided":
        return True
    found = _verdict(claim, _bounds(claim.claimed, finding.digits), finding.enclosure)
    equal = found == "undecided" and verdict not in WRONG and _equals_truth(claim)
    return equal or found == verdict


def _narrowed(claim: Claim, digits: int, known: Enclosure, truths: Truths) -> tuple[Enclosure, str]:
    """``known`` narrowed by the accounting, and what kept it from the digits."""
    try:
        found = truths.of(claim, claim.at, digits)
    except DpexactError as error:
        return known, str(error)
    note = found.reason if found.digits < digits else ""
    method = found.method or known.method
    truth = known.meet(found.of_truth()).labelled(method)
    if found.bound != "exact" and not note and _is_open(claim, found, digits):
        side = "below" if found.bound == "upper" else "above"
        open_ = _verdict(claim, _bounds(claim.claimed, digits), truth) == "undecided"
        judged = "no claim can be judged" if open_ else "claims are judged by a mechanism of it"
        note = f"{found.theorem}; {side} it {judged}"
    return truth, note


def _is_open(claim: Claim, bound: Enclosure, digits: int) -> bool:
    """Whether no digits decide the claim, as the truth may be anywhere beyond ``bound``."""
    low, high = _bounds(claim.claimed, digits)
    if bound.bound == "lower":
        return low > bound.upper
    if claim.tolerance is not None and bound.upper < math.inf:
        reach = (1 + claim.tolerance.value) * Fraction(bound.upper)
        return low >= 0 and high <= reach
    above_zero = low > 0 if claim.kind == "lower" else low >= 0
    return above_zero and high < bound.lower


def _equals_truth(claim: Claim) -> bool:
    """Whether the claim is the truth in symbols: the largest loss, at ``delta = 0``."""
    if claim.quantity != "epsilon" or claim.at.fraction != 0 or not isinstance(claim.claimed, Real):
        return False
    if standing(claim.mechanism) is not EXACT:
        return False
    truth = largest_loss(claim.mechanism)
    return truth is not None and exact_ratio(claim.claimed, truth) == 1


# --- comparison, on exact bounds only -----------------------------------------------------------


def _bounds(claimed: Claimed, digits: int) -> tuple[Bound, Bound]:
    """Exact bounds of the claimed value, far closer than the enclosure of the truth."""
    if not isinstance(claimed, Real):
        return claimed, claimed
    found = balls.enclosed(claimed, 2 * digits + 10)
    return found.lower, found.upper


def _tolerance(claim: Claim) -> Fraction:
    return claim.tolerance.value if claim.tolerance is not None else _ZERO


def _grade(claim: Claim, digits: int, truth: Enclosure) -> Grade:
    """The grade against ``truth``, which may be a part of what is known of it."""
    highest = _TRIVIAL[claim.quantity].upper
    claimed = _bounds(claim.claimed, digits)
    return grade_on(claim.kind, *claimed, truth, _tolerance(claim), highest)


def _is_settled(claim: Claim, digits: int, truth: Enclosure, grade: Grade) -> bool:
    """Whether each end of ``truth`` alone gives the same grade."""
    ends = (Enclosure(end, end) for end in (truth.lower, truth.upper))
    return all(_grade(claim, digits, end) == grade for end in ends)


def _keeps_contract(claim: Claim, digits: int, truth: Enclosure, truths: Truths) -> bool:
    """Whether the claim is wrong within what its contract allows, for all that is certain."""
    contract = claim.contract
    if contract is None:
        return False
    low, high = _bounds(claim.claimed, digits)
    if contract.at.value:
        least, most = _ARGUMENTS[claim.quantity]
        short = high < truth.lower
        # all but Rényi divergences fall as their arguments grow
        up = short != (claim.quantity == "renyi")
        moved = claim.at + contract.at if up else claim.at - contract.at
        end, beyond = (most, Order.ABOVE) if up else (least, Order.BELOW)
        if isinstance(end, Fraction) and balls.order(moved, rational(end)) is beyond:
            moved = rational(end)
        truth = truths.of(claim, moved, digits)
        if high >= truth.lower if short else low <= truth.upper:
            return True
    return within(low, high, truth, contract.absolute.value, contract.relative.value)


def _verdict(claim: Claim, claimed: tuple[Bound, Bound], truth: Enclosure) -> Verdict:
    return verdict_on(claim.kind, *claimed, truth, _tolerance(claim))


#: What may be promised, what is near, what is true but promises nothing; all else comes after.
_RANKS: Final[tuple[tuple[str, str], ...]] = (
    ("upper", "sound"),
    ("estimate", "accurate"),
    ("lower", "sound"),
)


def tightest_first(findings: Iterable[Finding]) -> list[Finding]:
    """Sound upper bounds by how little they waste; accurate estimates, sound lower bounds, others.

    >>> from dpexact.audits import Claim, judge
    >>> claims = [Claim("gaussian(1)", "epsilon", value, "1e-5", "upper") for value in "354"]
    >>> [str(found.claim.claimed) for found in tightest_first(judge(claim) for claim in claims)]
    ['5', '4', '3']
    """

    def key(finding: Finding) -> tuple[int, Bound]:
        kind = (finding.claim.kind, finding.verdict)
        rank = _RANKS.index(kind) if kind in _RANKS else len(_RANKS)
        error = finding.relative_error
        return rank, math.inf if error is None else max(-error.lower, error.upper)

    return sorted(findings, key=key)


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
