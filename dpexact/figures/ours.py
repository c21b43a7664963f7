"""Figures that take certified values: how far published accounts are from the truth."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from dpexact import accounting
from dpexact.enclosure import Enclosure
from dpexact.figures.computing import Workshop
from dpexact.figures.model import HeatMap, Panel, Point, Series
from dpexact.figures.registry import figure

_SOURCE: Final = "dpexact"
_SIGMAS: Final = ("0.6", "0.8", "1", "1.5", "2", "4")
#: ``q sqrt(T)`` at the rate 1/100, so ``T = (100 q sqrt T)^2``.
_SCALES: Final = ("0.05", "0.1", "0.2", "0.5", "1", "2")
_SEEN: Final = Fraction(1, 10**6)
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
    rows = []
    done = 0
    for sigma in _SIGMAS:
        row: list[Enclosure | None] = []
        for scale in _SCALES:
            steps = int((Fraction(scale) * 100) ** 2)
            mechanism = f"poisson(gaussian({sigma}), 1/100)^{steps}"
            error = accounting.approximation_error(
                mechanism, "clt-poisson", digits=workshop.digits, delta="1e-5"
            )
            row.append(error.ratio)
            done += 1
            workshop.progress(done, len(_SIGMAS) * len(_SCALES))
        rows.append(tuple(row))
    heat = HeatMap(r"$\varepsilon$ / $\varepsilon_{CLT}$", _SCALES, _SIGMAS, tuple(rows), "0")
    title = r"$q = 1/100$, $\delta = 10^{-5}$"
    return (Panel(title, r"$q\sqrt{T}$", r"noise $\sigma$", heat=heat),)


@figure(
    "slack-of-bounds",
    "What classic composition bounds give away",
    _SOURCE,
    "Bound over exact epsilon, minus 1, of k mechanisms at delta = 1e-6, as far as the bound "
    "applies and gives away more than a millionth. Left: 0.1-differential privacy; right: Gaussian "
    "noise, sigma = 10.",
)
def slack(workshop: Workshop) -> tuple[Panel, ...]:
    """The slack of every bound that applies, over ``k``."""
    return tuple(
        _slack_panel(title, step, workshop)
        for title, step in ((r"$0.1$-DP", "pure_dp(1/10)"), (r"$\sigma = 10$", "gaussian(10)"))
    )


def _slack_panel(title: str, step: str, workshop: Workshop) -> Panel:
    found: dict[str, list[Point]] = {}
    for done, count in enumerate(_COUNTS, start=1):
        for bound in accounting.bounds(f"{step}^{count}", "1e-6", workshop.digits):
            if bound.slack is not None and bound.slack.lower > _SEEN:
                point = Point(Enclosure.exact(Fraction(count)), bound.slack)
                found.setdefault(bound.name, []).append(point)
        workshop.progress(done, len(_COUNTS))
    series = tuple(Series(name, tuple(points)) for name, points in found.items())
    return Panel(
        title,
        "number of mechanisms $k$",
        r"bound / exact $\varepsilon$ $-$ 1",
        series,
        x_scale="log",
        y_scale="log",
    )
