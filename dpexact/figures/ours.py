"""Figures that take certified values: how far published accounts are from the truth."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import islice
from typing import Final

import dpexact
from dpexact.enclosure import Enclosure
from dpexact.figures.computing import Question, Workshop, sampled_run
from dpexact.figures.model import HeatMap, Panel, Point, Series, curve
from dpexact.figures.parameters import count, number, share, shown
from dpexact.figures.registry import figure
from dpexact.processes import in_processes
from dpexact.reals import Real

_SOURCE: Final = "dpexact"
_SEEN: Final = Fraction(1, 10**6)
#: Digits that cancel in a slack that is seen.
_LOST: Final = 6
_COMPOSITION: Final = (
    "basic composition",
    "advanced composition",
    "KOV simplified",
    "Theorem 18",
    "Theorem 22",
)
_COUNTS: Final = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)


#: Epochs of steps and delta of the run that others were asked about.
_RECORDED_RUN: Final = (100, 10, Fraction(1, 10**5))
#: By noise: the bounds of the one, and the 95 % of the other (as of a normal mean); measured once.
_RECORDED: Final = {
    "PLD_accounting 2.0": {
        "0.6": ("6.790025950551307", "6.8778692161877"),
        "1": ("1.6644107528241772", "1.7398246227821421"),
        "2": ("0.5906165620803714", "0.6174015380224017"),
    },
    "Monte Carlo, jax_privacy 2.0.0": {"1": ("1.6215749875996854", "1.6940441893406126")},
}


@figure(
    "clt-understatement",
    "By how much the central limit understates epsilon",
    _SOURCE,
    "Certified epsilon at delta = {delta} divided by that of the central limit theorem (Poisson "
    "sampling at rate {rate}), over q sqrt(T) and the noise sigma; T is cut to an integer. Above 1 "
    "the published number understates.",
    sigma=number("noise", "0.6,0.8,1,1.5,2,4", ">= 1/2", "<= 100", most=8),
    scale=share("q sqrt(T)", "0.05,0.1,0.2,0.5,1,2", "> 0", "<= 10", most=8),
    rate=share("sampling rate q", "1/100", ">= 1/10000", "<= 1"),
    delta=number("delta", "1e-5", "> 0", "< 1"),
)
def understatement(
    workshop: Workshop,
    sigma: tuple[Real, ...],
    scale: tuple[Fraction, ...],
    rate: Fraction,
    delta: Real,
) -> tuple[Panel, ...]:
    """``true/claimed`` of ``clt-poisson`` on a grid."""
    runs = {(s, x): sampled_run(s, rate, x) for s in sigma for x in scale}
    work = {c: partial(_understated, run, str(delta), workshop.digits) for c, run in runs.items()}
    found = in_processes(work, workshop.jobs, workshop.progress)
    rows = tuple(tuple(found[s, x] for x in scale) for s in sigma)
    names = tuple(map(shown, scale)), tuple(map(shown, sigma))
    heat = HeatMap(r"$\varepsilon$ / $\varepsilon_{CLT}$", *names, rows, "0")
    title = rf"$q$ = {shown(rate)}, $\delta$ = {shown(delta)}"
    return (Panel(title, r"$q\sqrt{T}$", r"noise $\sigma$", heat=heat),)


def _understated(mechanism: str, delta: str, digits: int) -> Enclosure | None:
    return dpexact.approximation_error(mechanism, "clt-poisson", digits=digits, delta=delta).ratio


@figure(
    "slack-of-bounds",
    "What classic composition bounds give away",
    _SOURCE,
    "Bound over exact epsilon, minus 1, of k mechanisms at delta = {delta}, as far as the bound "
    "applies and gives away more than a millionth. {eps}-differential privacy: composition "
    "theorems left, bounds by concentrated and Rényi privacy in the middle. Right: Gaussian noise, "
    "sigma = {sigma}. Curves that coincide show the marks of both.",
    eps=number("epsilon of one pure mechanism", "0.1", "> 0", "<= 2"),
    sigma=number("noise of one Gaussian mechanism", "10", ">= 1/10", "<= 1000"),
    delta=number("delta of all together", "1e-6", "> 0", "< 1"),
)
def slack(workshop: Workshop, eps: Real, sigma: Real, delta: Real) -> tuple[Panel, ...]:
    """The slack of every bound that applies, over ``k``."""
    pure, noisy = f"pure_dp({eps})", f"gaussian({sigma})"
    asked = [(step, times) for step in (pure, noisy) for times in _COUNTS]
    work = {each: partial(_bounds, *each, str(delta), workshop.digits) for each in asked}
    found = in_processes(work, workshop.jobs, workshop.progress)
    listed = _slacks(pure, found)
    name = f"{shown(eps)}-DP"
    return (
        _slack_panel(f"{name}: composition", [s for s in listed if s.label in _COMPOSITION]),
        _slack_panel(f"{name}: divergences", [s for s in listed if s.label not in _COMPOSITION]),
        _slack_panel(rf"Gaussian, $\sigma$ = {shown(sigma)}", _slacks(noisy, found)),
    )


def _bounds(step: str, times: int, delta: str, digits: int) -> dict[str, Enclosure]:
    """The slack of each bound that gives away something to be seen."""
    found = dpexact.bounds(f"{step}^{times}", delta, digits + _LOST)
    return {b.name: b.slack for b in found if b.slack is not None and b.slack.lower > _SEEN}


def _slacks(step: str, found: dict[tuple[str, int], dict[str, Enclosure]]) -> list[Series]:
    points: dict[str, list[Point]] = {}
    for times in _COUNTS:
        for name, slack in found[step, times].items():
            points.setdefault(name, []).append(Point(Enclosure.exact(Fraction(times)), slack))
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


@figure(
    "ways-to-make-batches",
    "One training run, by how batches are made",
    _SOURCE,
    "Certified epsilon at delta = {delta} of {epochs} epochs of {steps} steps, over the noise. "
    "Batches hold every record, are cut from a permutation, or are drawn as Poisson samples or by "
    "balls in bins. Of permuted batches, the truth lies between the lower bound of Chua et al. "
    "(2024) and what holds in any order. Right: what others gave for balls in bins, as it was "
    "recorded, divided by the certified number: both bounds of PLD_accounting 2.0 "
    "(gaussian_allocation_epsilon_range), and 95 % confidence (that of a normal mean) from 200,000 "
    "runs, whose losses jax_privacy 2.0.0 drew (get_privacy_loss_sample, seed 16).",
    sigma=share("noise", "0.4,0.5,0.6,0.7,0.8,1,1.2,1.5,2", ">= 1/4", "<= 100", most=16),
    steps=count("steps in an epoch", "100", 2, 10_000),
    epochs=count("epochs", "10", 1, 1000),
    delta=number("delta", "1e-5", "> 0", "< 1"),
)
def batches(
    workshop: Workshop, sigma: tuple[Fraction, ...], steps: int, epochs: int, delta: Real
) -> tuple[Panel, ...]:
    """Epsilon of the same run under each way to draw batches."""
    ways = {
        "every record in every step": f"gaussian({{}})^{steps * epochs}",
        "permuted, from above": f"gaussian({{}})^{epochs}",
        "permuted, from below": f"shuffled_batches(gaussian({{}}), {steps})^{epochs}",
        "Poisson samples": f"poisson(gaussian({{}}), 1/{steps})^{steps * epochs}",
        "balls in bins": f"allocation(gaussian({{}}), {steps})^{epochs}",
    }
    asked = [Question("epsilon", way.format(s), str(delta)) for way in ways.values() for s in sigma]
    found = iter(workshop.answers(asked))
    series = [curve(label, sigma, islice(found, len(sigma)), "marked") for label in ways]
    run = Panel(
        rf"{epochs} epochs of {steps} steps, $\delta$ = {shown(delta)}",
        r"noise $\sigma$",
        r"$\varepsilon$",
        tuple(series),
        y_scale="log",
    )
    known = (steps, epochs, delta.fraction) == _RECORDED_RUN
    others = tuple(_others(series[-1].points)) if known else ()
    return (run, _beside(others)) if any(each.points for each in others) else (run,)


def _others(certified: tuple[Point, ...]) -> Iterator[Series]:
    """Both ends of what was recorded, divided by what is certified."""
    truths = {point.x.lower: point.y for point in certified}
    for name, intervals in _RECORDED.items():
        for end, label in enumerate((name, f"{name}, upper end")):
            points = []
            for noise, interval in intervals.items():
                if truth := truths.get(Fraction(noise)):
                    low, high = Fraction(truth.lower), Fraction(truth.upper)
                    given = Fraction(interval[end])
                    ratio = Enclosure(given / high, given / low, f"recorded / {truth.method}")
                    points.append(Point(Enclosure.exact(Fraction(noise)), ratio))
            yield Series(label, tuple(points), "marked", name if end else "")


def _beside(others: tuple[Series, ...]) -> Panel:
    title = "balls in bins: others over certified"
    return Panel(title, r"noise $\sigma$", r"recorded / certified $\varepsilon$", others)
