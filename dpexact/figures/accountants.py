"""A figure of the accountants that are installed: how far each is from the truth."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from dpexact.audits import live
from dpexact.audits.accountants import Limits, available, find, questions_for
from dpexact.audits.claims import Claim
from dpexact.audits.runner import audit
from dpexact.audits.runs import AccountantRun
from dpexact.audits.workloads import Case
from dpexact.errors import InvalidInput
from dpexact.figures.computing import Workshop, sampled_run
from dpexact.figures.model import HeatMap, Panel
from dpexact.figures.parameters import number, share, shown
from dpexact.figures.registry import figure
from dpexact.mechanisms import parse
from dpexact.reals import Real

#: Digits that cancel in a relative error.
_LOST: Final = 20
#: Of one answer.
_LIMITS: Final = Limits(seconds=60)
_X: Final = r"$q\sqrt{T}$"
_Y: Final = r"noise $\sigma$"


@figure(
    "accountants",
    "Certified relative error of the installed accountants on DP-SGD",
    "dpexact",
    "Claimed epsilon over certified epsilon, minus 1, at delta = {delta} (Poisson sampling at rate "
    "{rate}, noise sigma, T steps, cut to an integer), for the exact values of the floats that "
    "each was given. Of an accountant that gives several numbers the upper bound is shown. Orange "
    "is the wrong side: below 0 for upper bounds and estimates, above 0 for lower bounds. A dash: "
    "no answer in a minute, or an error. An accountant that is not installed has an empty panel; "
    "one that does not account for sampled Gaussians has none.",
    sigma=number("noise", "0.6,1,2,4", ">= 1/2", "<= 100", most=8),
    scale=share("q sqrt(T)", "0.1,0.5,1", "> 0", "<= 10", most=8),
    rate=share("sampling rate q", "1/100", ">= 1/10000", "<= 1"),
    delta=number("delta", "1e-5", "> 0", "< 1"),
)
def accountants(
    workshop: Workshop,
    sigma: tuple[Real, ...],
    scale: tuple[Fraction, ...],
    rate: Fraction,
    delta: Real,
) -> tuple[Panel, ...]:
    """``claimed/true - 1`` on a grid, a panel for each accountant."""
    rows = [[Case(parse(sampled_run(s, rate, x)), "epsilon", delta) for x in scale] for s in sigma]
    names = tuple(map(shown, scale)), tuple(map(shown, sigma))
    claims, runs = _asked([case for row in rows for case in row], workshop)
    panels = tuple(_panels(rows, names, claims, runs, workshop))
    return panels or (Panel("", _X, _Y, note="No accountant is registered here."),)


def _asked(cases: list[Case], workshop: Workshop) -> tuple[list[Claim], tuple[AccountantRun, ...]]:
    try:
        return live.ask([live.ALL], cases, workshop.progress, limits=_LIMITS, jobs=workshop.jobs)
    except InvalidInput:  # none works
        return [], tuple(AccountantRun(i.name, reason=i.reason) for i in available())


def _panels(
    cases: list[list[Case]],
    names: tuple[tuple[str, ...], tuple[str, ...]],
    claims: list[Claim],
    runs: tuple[AccountantRun, ...],
    workshop: Workshop,
) -> Iterator[Panel]:
    report = audit(claims, workshop.digits + _LOST, jobs=workshop.jobs, progress=workshop.progress)
    errors = {finding.claim: finding.relative_error for finding in report.findings}
    every = [case for row in cases for case in row]
    for run in runs:
        try:
            accountant = find(run.name).accountant
        except InvalidInput as error:  # its adapter does not load
            yield Panel(run.name, _X, _Y, note=str(error))
            continue
        asked = {q.case: q.mechanism for q in questions_for(accountant, every)[0]}
        if not asked:
            continue
        if run.reason:
            note = run.reason.removeprefix(f"accountant {run.name}: ")
            yield Panel(run.name, _X, _Y, note=note)
            continue
        kind = "upper" if "upper" in accountant.kinds else accountant.kinds[0]
        found = {
            claim.mechanism: error
            for claim, error in errors.items()
            if claim.kind == kind and claim.id.startswith(f"{run.name}: ")
        }
        values = tuple(tuple(found.get(asked[case]) for case in row) for row in cases)
        lower = (kind == "lower",) * len(values)
        heat = HeatMap(f"relative error ({kind})", *names, values, "\u2013", "error", lower)
        versions = ", ".join(f"{name} {version}" for name, version in run.versions.items())
        yield Panel(f"{run.name} ({versions})", _X, _Y, heat=heat)
