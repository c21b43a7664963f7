"""Statements, verdicts and files: as for the standard checker, with methods that have a plan."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from dpexact import certificate_checker as standard
from dpexact.certificate_checker import Invalid, Refuted, Undecided
from dpexact.certificate_checker_mpfr.allocation import Put, Transform
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic, Interval
from dpexact.certificate_checker_mpfr.epochs import Epochs
from dpexact.certificate_checker_mpfr.inversion import CELLS, Inversion, parts_of, rows_of

MAX_BITS: Final = 4_000
WORK_PER_STEP: Final = 2_000
"""Beyond that of any statement, for each different step of a log."""
FIRST_STEPS: Final = 2_000
WORK_PER_FIRST: Final = 100_000
"""And for each of the first of them."""

Inversions: TypeAlias = list[Inversion] | list[Put]


def check_statement(statement: Any) -> str:
    """Verify a statement, by the standard checker unless its method has a plan.

    Raises:
        Unreadable: it is not of the form that is specified.
        Invalid: it is wrong, or cannot be verified.
    """
    if not (isinstance(statement, dict) and statement.get("method") in standard.PLANNED):
        return standard.check_statement(statement)
    claim = standard.claim_of(statement)
    bits = standard.natural(statement["bits"], 32, MAX_BITS)
    plans = statement["plan"]
    if not isinstance(plans, dict) or set(plans) != set(claim.ways):
        raise standard.Unreadable("there is not one plan for each direction")
    a = Arithmetic(bits)
    try:
        inversions: Inversions
        if statement["method"] == standard.CONTOUR:
            count = len(claim.steps)
            a.left += WORK_PER_STEP * count + WORK_PER_FIRST * min(count, FIRST_STEPS)
            boxed = any(isinstance(plan, dict) and CELLS in plan for plan in plans.values())
            rows = rows_of(claim.steps) if boxed else {}
            inversions = [
                Inversion(parts_of(claim.steps, a, plans[way], rows), way, plans[way], a)
                for way in claim.ways
            ]
        else:
            inversions = [_put(claim.steps, way, plans[way], a) for way in claim.ways]
        verify = _verify_delta if claim.quantity == "delta" else _verify_epsilon
        verify(claim, inversions, a)
    except ArithmeticError:
        raise Invalid("numbers beyond the range of this checker") from None
    return standard.told(claim)


def _put(steps: standard.Steps, way: str, plan: Any, a: Arithmetic) -> Put:
    """One epoch of an allocation by either kind of plan, several by that with ``nodes``."""
    kind = Epochs if isinstance(plan, dict) and "nodes" in plan else Transform
    return kind(steps, way, plan, a)


def _at(claim: standard.Claim, a: Arithmetic) -> Interval:
    value = standard.number(claim.at, standard.Arithmetic(a.bits + 64))
    return a.between(value.lo, value.hi)


def _worst(inversions: Inversions, epsilon: Interval) -> Interval:
    """The larger delta of the directions."""
    found = [inversion.delta(epsilon) for inversion in inversions]
    return Interval(max(x.lo for x in found), max(x.hi for x in found), epsilon.a)


def _verify_delta(claim: standard.Claim, inversions: Inversions, a: Arithmetic) -> None:
    epsilon = _at(claim, a)
    if claim.lower is None or claim.upper is None:
        raise Invalid("delta is not infinite")
    if claim.reflected:
        one = a.exact(1)
        found = one - epsilon.exp() * (one - _worst(inversions, -epsilon))
    elif epsilon.lo >= 0:
        found = _worst(inversions, epsilon)
    else:
        raise Undecided("the bits do not tell the sign of epsilon")
    lower, upper = a.exact(claim.lower), a.exact(claim.upper)
    if claim.lower == claim.upper == 0 and found.lo == found.hi == 0:
        return
    if found.hi <= lower.lo or found.lo >= upper.hi:
        raise Refuted("the bounds exclude the truth")
    if not (lower.hi < found.lo and found.hi < upper.lo):
        raise Undecided("the plan does not tell the truth from a bound")


def _verify_epsilon(claim: standard.Claim, inversions: Inversions, a: Arithmetic) -> None:
    target = _at(claim, a)
    if claim.lower is None or claim.upper is None or claim.lower == claim.upper != 0:
        raise Invalid("this epsilon is neither between two bounds nor 0")
    if not (target.lo >= 0 and target.hi <= 1):
        raise Invalid("delta is not in [0, 1]")
    high = _worst(inversions, a.exact(claim.upper))
    # there is no epsilon below 0
    low = _worst(inversions, a.exact(claim.lower)) if claim.upper else None
    if high.lo > target.hi or (low is not None and low.hi <= target.lo):
        raise Refuted("the bounds exclude the truth")
    if not (high.hi <= target.lo and (low is None or low.lo > target.hi)):
        raise Undecided("the plan does not tell delta from its value at a bound")


def check(document: dict[str, Any]) -> list[str]:
    """Verify a whole certificate, as :func:`dpexact.certificate_checker.check` does."""
    return standard.check(document, check_statement)


def main(arguments: list[str]) -> int:
    """Check one file; see the module."""
    return standard.main(arguments, check_statement, "dpexact.certificate_checker_mpfr")
