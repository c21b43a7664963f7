"""Figures that take certified values: how far published accounts are from the truth."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Final

import dpexact
from dpexact.enclosure import Enclosure
from dpexact.figures.computing import Workshop, in_processes
from dpexact.figures.model import HeatMap, Panel, Point, Series
from dpexact.figures.registry import figure

_SOURCE: Final = "dpexact"
_SIGMAS: Final = ("0.6", "0.8", "1", "1.5", "2", "4")
#: ``q sqrt(T)`` at the rate 1/100, so ``T = (100 q sqrt T)^2``.
_SCALES: Final = ("0.05", "0.1", "0.2", "0.5", "1", "2")
_SEEN: Final = Fraction(1, 10**6)
_COMPOSITION: Final = (
    "basic composition",
    "advanced composition",
    "KOV simplified",
    "Theorem 18",
    "Theorem 22",
)
_COUNTS: Final = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)


@figure(
    "clt-understatement",
    "By how much the central limit understates epsilon",
    _SOURCE,
    "Certified epsilon at delta = 1e-5 divided by that of the central limit theorem (Poisson "
    "sampling at rate 1/100), over q sqrt(T) and the noise sigma. Above 1 the published number "
    "understates.",
)
def understatement(workshop: Workshop) -> tuple[Panel, ...]:
    """``true/claimed`` of ``clt-poisson`` on a grid."""
    cells = [(sigma, scale) for sigma in _SIGMAS for scale in _SCALES]
    work = {cell: partial(_understated, *cell, workshop.digits) for cell in cells}
    found = in_processes(work, workshop.jobs, workshop.progress)
    rows = tuple(tuple(found[sigma, scale] for scale in _SCALES) for sigma in _SIGMAS)
    heat = HeatMap(r"$\varepsilon$ / $\varepsilon_{CLT}$", _SCALES, _SIGMAS, rows, "0")
    title = r"$q = 1/100$, $\delta = 10^{-5}$"
    return (Panel(title, r"$q\sqrt{T}$", r"noise $\sigma$", heat=heat),)


def _understated(sigma: str, scale: str, digits: int) -> Enclosure | None:
    steps = int((Fraction(scale) * 100) ** 2)
    mechanism = f"poisson(gaussian({sigma}), 1/100)^{steps}"
    return dpexact.approximation_error(mechanism, "clt-poisson", digits=digits, delta="1e-5").ratio


@figure(
    "slack-of-bounds",
    "What classic composition bounds give away",
    _SOURCE,
    "Bound over exact epsilon, minus 1, of k mechanisms at delta = 1e-6, as far as the bound "
    "applies and gives away more than a millionth. 0.1-differential privacy: composition theorems "
    "left, bounds by concentrated and Rényi privacy in the middle. Right: Gaussian noise, sigma = "
    "10. Curves that coincide show the marks of both.",
)
def slack(workshop: Workshop) -> tuple[Panel, ...]:
    """The slack of every bound that applies, over ``k``."""
    asked = [(step, count) for step in ("pure_dp(1/10)", "gaussian(10)") for count in _COUNTS]
    work = {each: partial(_bounds, *each, workshop.digits) for each in asked}
    found = in_processes(work, workshop.jobs, workshop.progress)
    pure = _slacks("pure_dp(1/10)", found)
    return (
        _slack_panel("0.1-DP: composition", [s for s in pure if s.label in _COMPOSITION]),
        _slack_panel("0.1-DP: divergences", [s for s in pure if s.label not in _COMPOSITION]),
        _slack_panel(r"Gaussian, $\sigma = 10$", _slacks("gaussian(10)", found)),
    )


def _bounds(step: str, count: int, digits: int) -> dict[str, Enclosure]:
    """The slack of each bound that gives away something to be seen."""
    found = dpexact.bounds(f"{step}^{count}", "1e-6", digits)
    return {b.name: b.slack for b in found if b.slack is not None and b.slack.lower > _SEEN}


def _slacks(step: str, found: dict[tuple[str, int], dict[str, Enclosure]]) -> list[Series]:
    points: dict[str, list[Point]] = {}
    for count in _COUNTS:
        for name, slack in found[step, count].items():
            points.setdefault(name, []).append(Point(Enclosure.exact(Fraction(count)), slack))
    return [Series(name, tuple(listed), "marked") for name, listed in points.items()]


def _slack_panel(title: str, series: list[Series]) -> Panel:
    return Panel(
        title,
        "number of mechanisms $k$",
        r"bound / exact $\varepsilon$ $-$ 1",
        tuple(series),
        x_scale="log",
        y_scale="log",
    )
