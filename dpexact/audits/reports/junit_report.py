"""The JUnit XML report: one test case a claim, for the test views of CI services."""

from __future__ import annotations

from collections import Counter
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from dpexact.audits.reports.wording import contract_text, reproduce, witness
from dpexact.audits.runner import Report
from dpexact.audits.runs import AccountantRun
from dpexact.audits.verdicts import Finding
from dpexact.comparison import WRONG
from dpexact.mechanisms.base import shown
from dpexact.tokens import shorten
from dpexact.visible import visible

#: The suite of the claims that name no accountant.
_ANONYMOUS: Final = "claims"


def to_junit(report: Report) -> bytes:
    """The report as JUnit XML in UTF-8, in the dialect of Ant, Jenkins, GitLab and others.

    A claim that the audit convicts is a ``failure``; one that is wrong of a lesser grade passes,
    with the evidence as its output. An undecided claim is an ``error``, as is a case at which an
    accountant failed: a skipped test passes, and these must not. ``skipped`` are the cases that an
    accountant was not asked or refused to answer, and accountants that are not installed.
    """
    root = Element("testsuites", name="dpexact audit", time=_time(report.seconds))
    suites: dict[str, Element] = {}
    names: Counter[tuple[str, str]] = Counter()
    for finding in report.findings:
        accountant = finding.claim.accountant or _ANONYMOUS
        if accountant not in suites:
            suites[accountant] = _suite(root, accountant, report)
        name = _name(finding)
        names[accountant, name] += 1
        occurrence = names[accountant, name]
        unique = name if occurrence == 1 else f"{name} ({occurrence})"
        _finding(suites[accountant], finding, unique, report.convicts(finding))
    for run in report.runs:
        if run.reason or run.failures or run.skipped:
            _run(_suite(root, f"asking {run.name}", report), run)
    totals: Counter[str] = Counter()
    for suite in root:
        counts = _counts(suite)
        totals.update(counts)
        for key, number in counts.items():
            suite.set(key, str(number))
    for key in ("tests", "failures", "errors"):
        root.set(key, str(totals[key]))
    indent(root)
    text: bytes = tostring(root, encoding="UTF-8", xml_declaration=True)
    return text + b"\n"


def _suite(root: Element, name: str, report: Report) -> Element:
    timestamp = report.started[:19]  # the dialect knows no time zone
    return SubElement(root, "testsuite", name=visible(name), timestamp=visible(timestamp))


def _counts(suite: Element) -> dict[str, int]:
    cases = suite.findall("testcase")
    seconds = sum(float(case.get("time", 0)) for case in cases)
    suite.set("time", _time(seconds))
    return {
        "tests": len(cases),
        "failures": len(suite.findall("testcase/failure")),
        "errors": len(suite.findall("testcase/error")),
        "skipped": len(suite.findall("testcase/skipped")),
    }


def _name(finding: Finding) -> str:
    """The same from run to run, by which services tell the history of a test."""
    claim = finding.claim
    return claim.id or f"{shorten(shown(claim.mechanism))}: {claim.statement}"


def _finding(suite: Element, finding: Finding, name: str, convicted: bool) -> None:
    claim = finding.claim
    case = SubElement(
        suite,
        "testcase",
        classname=f"{claim.kind} {claim.quantity}",
        name=visible(name),
        time=_time(finding.seconds),
    )
    said = f"{witness(finding)}; grade {finding.grade}"
    if convicted:
        _outcome(case, "failure", finding.verdict, said, _evidence(finding))
    elif finding.verdict in WRONG:
        _write(SubElement(case, "system-out"), f"{said}\n{_evidence(finding)}")
    elif finding.verdict == "undecided":
        _outcome(case, "error", finding.verdict, witness(finding), _evidence(finding))


def _evidence(finding: Finding) -> str:
    claim = finding.claim
    lower, upper = finding.enclosure.decimal_bounds(finding.digits + 5)
    lines = [
        f"claimed: {shorten(visible(str(claim.claimed)), 200)}",
        f"certified in: [{lower}, {upper}]",
        f"method: {finding.enclosure.method}",
        f"source: {visible(claim.source)}" if claim.source else "",
        f"contract: {visible(contract_text(claim.contract))}" if claim.contract else "",
        f"stands at: {visible(claim.place.file)}:{claim.place.line}" if claim.place else "",
        f"reproduce: {visible(reproduce(finding))}",
    ]
    return "\n".join(line for line in lines if line)


def _run(suite: Element, run: AccountantRun) -> None:
    def case(name: str) -> Element:
        return SubElement(suite, "testcase", classname=visible(run.name), name=visible(name))

    if run.reason:
        _outcome(case(run.name), "skipped", "", visible(run.reason), "")
    for failure in run.failures:
        tag, kind = ("skipped", "") if failure.refused else ("error", "failed")
        _outcome(case(failure.case), tag, kind, visible(failure.reason), failure.call)
    for skip in run.skipped:
        _outcome(case(skip.case), "skipped", "", visible(skip.reason), "")


def _outcome(case: Element, tag: str, kind: str, message: str, text: str) -> None:
    element = SubElement(case, tag, message=message)
    if kind:
        element.set("type", kind)
    if text:
        _write(element, text)


def _write(element: Element, text: str) -> None:
    element.text = "\n".join(visible(line) for line in text.splitlines())


def _time(seconds: float) -> str:
    return f"{seconds:.3f}"
