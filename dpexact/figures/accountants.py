"""A figure of the accountants that are installed: how far each is from the truth."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Final

from dpexact.audit import live
from dpexact.audit.accountants import Limits, available, find, questions_for
from dpexact.audit.claims import Claim
from dpexact.audit.runner import audit
from dpexact.audit.runs import AccountantRun
from dpexact.audit.workloads import Case
from dpexact.errors import InvalidInput
from dpexact.figures.computing import Workshop
from dpexact.figures.model import HeatMap, Panel
from dpexact.figures.registry import figure
from dpexact.mechanisms import parse
from dpexact.reals import real

_SIGMAS: Final = ("0.6", "1", "2", "4")
#: ``q sqrt(T)`` at the rate 1/100, so ``T = (100 q sqrt T)^2``.
_SCALES: Final = ("0.1", "0.5", "1")
_DELTA: Final = "1e-5"
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
    "Claimed epsilon over certified epsilon, minus 1, at delta = 1e-5 (Poisson sampling at rate "
    "1/100, noise sigma, T steps), for the exact values of the floats that each was given. Of an "
    "accountant that gives several numbers the upper bound is shown; below 0 a claimed upper bound "
    "or estimate understates. A dash: no answer in a minute, or an error. An accountant that is "
    "not installed has an empty panel; one that does not account for sampled Gaussians has none.",
)
def accountants(workshop: Workshop) -> tuple[Panel, ...]:
    """``claimed/true - 1`` on a grid, a panel for each accountant."""
    cases = {cell: _case(*cell) for cell in product(_SIGMAS, _SCALES)}
    claims, runs = _asked(list(cases.values()), workshop)
    panels = tuple(_panels(cases, claims, runs, workshop))
    return panels or (Panel("", _X, _Y, note="No accountant is registered here."),)


def _case(sigma: str, scale: str) -> Case:
    steps = int((Fraction(scale) * 100) ** 2)
    return Case(parse(f"poisson(gaussian({sigma}), 1/100)^{steps}"), "epsilon", real(_DELTA))


def _asked(cases: list[Case], workshop: Workshop) -> tuple[list[Claim], tuple[AccountantRun, ...]]:
    try:
        return live.ask([live.ALL], cases, workshop.progress, limits=_LIMITS, jobs=workshop.jobs)
    except InvalidInput:  # none works
        return [], tuple(AccountantRun(i.name, reason=i.reason) for i in available())


def _panels(
    cases: dict[tuple[str, str], Case],
    claims: list[Claim],
    runs: tuple[AccountantRun, ...],
    workshop: Workshop,
) -> Iterator[Panel]:
    report = audit(claims, workshop.digits + _LOST, jobs=workshop.jobs, progress=workshop.progress)
    errors = {finding.claim: finding.relative_error for finding in report.findings}
    for run in runs:
        try:
            accountant = find(run.name).accountant
        except InvalidInput as error:  # its adapter does not load
            yield Panel(run.name, _X, _Y, note=str(error))
            continue
        asked = {q.case: q.mechanism for q in questions_for(accountant, list(cases.values()))[0]}
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
        rows = tuple(
            tuple(found.get(asked[cases[sigma, scale]]) for scale in _SCALES) for sigma in _SIGMAS
        )
        heat = HeatMap(f"relative error ({kind})", _SCALES, _SIGMAS, rows, "\u2013", "error")
        versions = ", ".join(f"{name} {number}" for name, number in run.versions.items())
        yield Panel(f"{run.name} ({versions})", _X, _Y, heat=heat)
