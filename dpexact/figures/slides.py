"""The census table of the talk "A Statistical Viewpoint on Differential Privacy"."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

import dpexact
from dpexact import balls, reals
from dpexact.enclosure import Enclosure
from dpexact.figures.computing import Workshop, in_processes
from dpexact.figures.model import Panel, Point, Series
from dpexact.figures.registry import figure
from dpexact.reals import Real

_QUERIES: Final = 9
_BUDGET: Final = Fraction("3.325")
_DELTA: Final = Fraction(1, 10**11)


@dataclass(frozen=True, slots=True)
class _Level:
    """A geographic level: its share of the budget, and the reduction of variance as printed."""

    name: str
    share: Fraction
    printed: Fraction

    @property
    def rho(self) -> Fraction:
        return self.share * _BUDGET

    @property
    def published_variance(self) -> Fraction:
        """``rho``-zCDP of the queries together: each has ``1/(2 variance)``."""
        return _QUERIES / (2 * self.rho)

    def epsilon(self) -> Real:
        """``rho + 2 sqrt(rho log(1/delta))``, what was published for that variance."""
        rho, log = reals.rational(self.rho), reals.real(f"log({1 / _DELTA})")
        root = reals.square_root(rho * log)
        return rho + 2 * root


def _level(name: str, share: str, printed: str) -> _Level:
    return _Level(name, Fraction(share) / 100, Fraction(printed))


_LEVELS: Final = (
    _level("US", "1.95", "13.9"),
    _level("State", "27.07", "15"),
    _level("County", "8.42", "17.8"),
    _level("PEPG", "12.93", "16.8"),
    _level("Tract subset group", "12.93", "16.8"),
    _level("Tract subset", "23.46", "15.3"),
    _level("Optimised block group", "12.93", "16.8"),
    _level("Block", "0.3", "25"),
)


@figure(
    "slides-census",
    "Variance of the 2020 census queries that exact accounting saves",
    "The talk A Statistical Viewpoint on Differential Privacy, slides on the census",
    "Left: the variance of nine discrete Gaussian queries a level, as published (epsilon by "
    "rho + 2 sqrt(rho log(1/delta)), delta = 1e-11) and the one at which their exact composition "
    "has the same epsilon. Right: the reduction as printed and recomputed; the 13.9 % of the level "
    "US is wrong, it is 21.1 %, all others are right as rounded. The shares of the budget other "
    "than US are inferred from the printed variances.",
)
def census(workshop: Workshop) -> tuple[Panel, ...]:
    """The table "Reduced noise", recomputed."""
    exact = _variances(workshop)
    published = [level.published_variance for level in _LEVELS]
    saved = [
        Enclosure(100 * (1 - Fraction(e.upper) / p), 100 * (1 - Fraction(e.lower) / p), e.method)
        for e, p in zip(exact, published, strict=True)
    ]
    names = tuple(level.name for level in _LEVELS)
    flagged = tuple(
        level.name if _as_rounded(level.printed, true) else f"{level.name} (misprint)"
        for level, true in zip(_LEVELS, saved, strict=True)
    )
    return (
        Panel(
            "variance of a query",
            "",
            r"variance $\sigma^2$",
            (
                _bars("as published", list(map(Enclosure.exact, published))),
                _bars("exact composition", exact),
            ),
            y_scale="log",
            categories=names,
        ),
        Panel(
            "reduction",
            "",
            "reduction in percent",
            (
                _bars("as printed", [Enclosure.exact(level.printed) for level in _LEVELS]),
                _bars("recomputed", saved),
            ),
            categories=flagged,
        ),
    )


def _as_rounded(printed: Fraction, true: Enclosure) -> bool:
    """Whether ``printed``, with one decimal, is ``true`` up to how the shares were rounded."""
    return abs(Fraction(true.lower) - printed) <= Fraction(1, 10)


def _bars(label: str, values: list[Enclosure]) -> Series:
    places = (Enclosure.exact(Fraction(number)) for number in range(len(values)))
    return Series(label, tuple(map(Point, places, values)), "bars")


def _variances(workshop: Workshop) -> list[Enclosure]:
    """The exact variances of the levels, equal shares computed once."""
    shares = list(dict.fromkeys(level.share for level in _LEVELS))
    one = {level.share: level for level in _LEVELS}
    work = {share: partial(_variance, one[share], workshop.digits) for share in shares}
    found = in_processes(work, workshop.jobs, workshop.progress)
    return [found[level.share] for level in _LEVELS]


def _variance(level: _Level, digits: int) -> Enclosure:
    """A variance at which the exact delta of the queries crosses ``1e-11``.

    Delta is continuous in the variance, so a change of sign certifies a crossing.
    """
    epsilon = level.epsilon()

    def delta(variance: Fraction, wanted: int) -> Enclosure:
        return dpexact.delta(f"discrete_gaussian(sqrt({variance}))^{_QUERIES}", epsilon, wanted)

    return crossing(delta, _DELTA, level.published_variance, digits)


def crossing(
    decreasing: Callable[[Fraction, int], Enclosure], target: Fraction, start: Fraction, digits: int
) -> Enclosure:
    """``[low, high]`` with the function certainly above ``target`` at ``low``, below at ``high``.

    ``decreasing(x, digits)`` encloses a positive continuous function at ``x > 0``; ``start`` is
    near the crossing, which the secant method of its logarithm approaches.
    """
    wanted = digits + 10

    def excess(x: Fraction) -> Fraction:
        found = decreasing(x, wanted)
        with balls.precision(balls.bits_for(2 * wanted)):
            return balls.midpoint((balls.ball(Fraction(found.lower)) / balls.ball(target)).log())

    last, x = start, start * Fraction(4, 5)
    height = excess(last)
    while abs(x - last) * 10 ** (digits + 3) > x:
        here = excess(x)
        step = here * (x - last) / (here - height)
        last, height, x = x, here, _short(x - step, wanted)
    for margin in (x / 10 ** (digits + 2), x / 10 ** (digits - 2)):
        above, below = decreasing(x - margin, wanted), decreasing(x + margin, wanted)
        if above.lower > target > below.upper:
            return Enclosure(x - margin, x + margin, above.method)
    return Enclosure(Fraction(0), math.inf, reason="no crossing was certified")


def _short(x: Fraction, digits: int) -> Fraction:
    """``x`` to ``digits`` decimals."""
    return Fraction(round(x * 10**digits), 10**digits)
