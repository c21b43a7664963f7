"""The words and numbers that the reports for people share."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from collections.abc import Iterator
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Final

from dpexact.audits.claims import Contract, number_text
from dpexact.audits.runner import Report
from dpexact.audits.runs import AccountantRun
from dpexact.audits.verdicts import Finding
from dpexact.comparison import GRADES, RIGHT, VERDICTS, WRONG, Grade
from dpexact.decimals import Bound, format_decimal
from dpexact.enclosure import Enclosure
from dpexact.mechanisms.base import shown
from dpexact.tokens import shorten
from dpexact.visible import visible

#: Digits that a "reproduce this" command asks for.
REPRODUCE_DIGITS: Final = 30
#: Digits of a certified value where space is short.
SHOWN_DIGITS: Final = 15
#: What a grade says, in the order in which it is shown.
GRADE_WORDS: Final[dict[Grade, str]] = {
    "gross": "off by more than a millionth",
    "visible": "off by up to a millionth",
    "rounding": "off by a rounding",
    "invalid": "outside the domain, but no false promise",
    "contract": "inside the documented error",
}


def certified_text(finding: Finding) -> str:
    """The truth in its certain digits."""
    return finding.enclosure.shown(SHOWN_DIGITS)


def error_text(error: Enclosure | None, digits: int = 4) -> str:
    """A signed relative error in its certain digits, in percent.

    >>> error_text(Enclosure.exact(Fraction(-1, 400)))
    '-0.25 %'
    """
    if error is None:
        return "undefined"
    if error.lower == 0 == error.upper:
        return "0"
    if error.lower == math.inf:
        return "+inf"
    low, high = 100 * Fraction(error.lower), 100 * Fraction(error.upper)
    if low <= 0 <= high:
        return f"{_interval(Enclosure(low, high), digits)} %"
    shown = (Enclosure(-high, -low) if high < 0 else Enclosure(low, high)).shown(digits)
    if shown.startswith("["):
        return f"{_interval(Enclosure(low, high), digits)} %"
    return f"{'-' if high < 0 else '+'}{shown} %"


def reproduce(finding: Finding) -> str:
    """The shell command that computes the truth again."""
    claim = finding.claim
    digits = max(REPRODUCE_DIGITS, finding.digits)
    verb = "tradeoff" if claim.quantity == "beta" else claim.quantity
    words = ["dpexact", verb, str(claim.mechanism), f"--{claim.argument}", str(claim.at)]
    if claim.direction != "both":
        words += ["--direction", claim.direction]
    return shlex.join([*words, "--digits", str(digits)])


def witness(finding: Finding) -> str:
    """The claim, the certified truth and the relative error, in one line.

    >>> from dpexact.audits import Claim, judge
    >>> print(witness(judge(Claim("pure_dp(1)", "epsilon", "0.9", "0", "upper"))))
    pure_dp(1) claims epsilon <= 0.9 at delta = 0; certified epsilon = 1; relative error -10 %
    """
    claim = finding.claim
    certified = certified_text(finding)
    relation = "in" if certified.startswith("[") else "="
    said = (
        f"{shorten(visible(shown(claim.mechanism)), 300)} claims {claim.statement}",
        f"certified {claim.quantity} {relation} {certified}",
        f"relative error {error_text(finding.relative_error)}",
    )
    note = f" ({visible(finding.note)})" if finding.note else ""
    return "; ".join(said) + note


def worst_first(report: Report) -> list[tuple[int, Finding]]:
    """The findings with their positions from 1, the most harmful first."""
    numbered = enumerate(report.findings, start=1)
    return sorted(numbered, key=lambda pair: _rank(pair[1]))


def _rank(finding: Finding) -> tuple[int, int, Bound, Bound]:
    """The guilty by their grades, then the undecided, then wrong claims of lesser grades, then the
    right ones; wrong ones of a grade by what they hide.
    """
    grade = GRADES.index(finding.grade)
    if finding.verdict not in WRONG:
        return 3 if finding.verdict in RIGHT else 1, grade, VERDICTS.index(finding.verdict), 0
    return 0 if finding.guilty else 2, grade, -_hidden(finding), -error_size(finding)


def _hidden(finding: Finding) -> Bound:
    """The share of the truth that a wrong claim hides: none where it promises less privacy than
    there is, all where there is nothing to compare with; infinite where the truth is.
    """
    claim, error = finding.claim, finding.relative_error
    endless = finding.enclosure.lower == math.inf
    above = claim.kind == "lower"
    if claim.kind == "estimate":
        above = error.lower > 0 if error else not endless
    if above != (claim.quantity == "beta"):  # a large beta is private
        return Fraction(0)
    if error is None:
        return math.inf if endless else Fraction(1)
    return min(error_size(finding), Fraction(1))


def error_size(finding: Finding) -> Bound:
    """The size of the relative error; infinite where a wrong claim has none that is defined."""
    error = finding.relative_error
    if error is None:
        return math.inf if finding.verdict in WRONG else -1.0
    return max(error.upper, -error.lower)


def run_sentence(run: AccountantRun) -> str:
    """What became of asking one accountant, in one sentence without the details.

    >>> run_sentence(AccountantRun("old", reason="package old is not installed"))
    'could not run: package old is not installed'
    """
    if run.reason:
        return f"could not run: {visible(run.reason)}"
    parts = [f"{run.asked} asked"]
    others = {"not asked": len(run.skipped), "refused": run.refused, "failed": run.failed}
    return ", ".join(parts + [f"{count} {what}" for what, count in others.items() if count])


def verdict_sentence(report: Report) -> str:
    """The outcome of an audit in one sentence."""
    summary = report.summary
    parts = (
        f"{sum(summary[verdict] for verdict in WRONG)} certified wrong",
        f"{sum(summary[verdict] for verdict in RIGHT)} certified right",
        f"{summary['undecided']} undecided",
    )
    return f"{claims(len(report.findings))}: {', '.join(parts)}"


def claims(number: int) -> str:
    """How many claims, in words."""
    return f"{number} claim{'' if number == 1 else 's'}"


def contract_text(contract: Contract) -> str:
    """The contract in one line: the words, where they stand, and the error that they allow."""
    errors = {
        "absolute": contract.absolute,
        "relative": contract.relative,
        "in the argument": contract.at,
    }
    allowed = ", ".join(f"{value} {name}" for name, value in errors.items() if value.value)
    parts = (f'"{contract.sentence}"', contract.where, contract.relation)
    return "; ".join([*filter(None, parts), f"allowed error: {allowed or 'none'}"])


def distinct_wrong(report: Report) -> int:
    """The number of wrong claims without repetitions.

    Accountants that are built on one another, or on the same lines, give one wrong value to one
    question: that is one defect, whoever repeats it.
    """
    claims = [finding.claim for finding in report.findings if finding.verdict in WRONG]
    return len({(c.mechanism, c.quantity, c.at, c.direction, c.kind, c.claimed) for c in claims})


def grades_sentence(report: Report) -> str:
    """How many wrong claims have which grade, the worst first; empty where none is wrong.

    >>> from dpexact.audits import Claim, audit
    >>> grades_sentence(audit(Claim("pure_dp(1)", "epsilon", "0.9", "0", "upper")))
    'grades: 1 gross'
    """
    counts = Counter(f.grade for f in report.findings if f.verdict in WRONG)
    parts = [f"{counts[grade]} {grade}" for grade in GRADES if counts[grade]]
    repeated = counts.total() - distinct_wrong(report)
    again = f" ({repeated} repeated)" if repeated else ""
    return f"grades: {', '.join(parts)}{again}" if parts else ""


def verdict_text(finding: Finding) -> str:
    """The verdict, with the grade where there is one: ``unsound, rounding``."""
    return finding.verdict if finding.grade == "none" else f"{finding.verdict}, {finding.grade}"


def accountant_lines(report: Report) -> Iterator[str]:
    """What each accountant said of one run, a line each."""
    for finding in report.findings:
        claim = finding.claim
        name = claim.id.partition(":")[0]
        value, error = number_text(claim.claimed), error_text(finding.relative_error)
        grade = "" if finding.grade == "none" else f" ({finding.grade})"
        judged = f"{finding.verdict}{grade}, {error}"
        yield f"  {name} ({claim.kind}): {value}: {judged} ({claim.accountant})"
    for run in report.runs:
        reasons = [run.reason, *(skip.reason for skip in run.skipped)]
        for reason in filter(None, [*reasons, *(failure.reason for failure in run.failures)]):
            yield f"  {run.name}: {visible(reason).removeprefix(f'accountant {run.name}: ')}"


def expectation_sentence(report: Report) -> str:
    """How many verdicts are as expected; empty where none was expected."""
    came_true, expected = report.expectations
    return f"{came_true} of {expected} as expected" if expected else ""


def judgement(report: Report) -> str:
    """What to make of an audit, in one sentence.

    >>> from dpexact.audits import Claim, audit
    >>> judgement(audit(Claim("pure_dp(1)", "epsilon", "0.9", "0", "upper")))
    'Certified wrong by more than a rounding: 1 claim; the worst hides 10 % of the truth.'
    """
    guilty = [finding for _, finding in worst_first(report) if finding.guilty]
    if guilty:
        hidden = _hidden(guilty[0])
        worst = "names a bound where there is none"
        if isinstance(hidden, Fraction):
            share = format_decimal(100 * hidden, 3, ROUND_FLOOR)
            worst = f"hides {share} % of the truth" if hidden else "overstates the loss"
        many = claims(len(guilty))
        return f"Certified wrong by more than a rounding: {many}; the worst {worst}."
    if report.summary["undecided"]:
        return "No claim is certified wrong by more than a rounding, but not all are decided."
    if not report.findings:
        return "Nothing was judged."
    return "No claim is wrong by more than a rounding."


def outcome_sentence(report: Report) -> str:
    """Verdicts and expectations in one sentence."""
    return "; ".join(filter(None, (verdict_sentence(report), expectation_sentence(report))))


def _interval(enclosure: Enclosure, digits: int) -> str:
    low, high = enclosure.decimal_bounds(digits)
    return f"[{low}, {high}]"
