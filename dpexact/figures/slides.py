"""The figures of the talk "A Statistical Viewpoint on Differential Privacy"."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Final

import dpexact
from dpexact import balls, reals
from dpexact.balls import ball, certify
from dpexact.enclosure import Enclosure
from dpexact.figures.computing import Question, Workshop, affine, exact, grid, outline
from dpexact.figures.model import Panel, Point, Series, curve
from dpexact.figures.parameters import count, number, share, shown
from dpexact.figures.registry import figure
from dpexact.processes import in_processes
from dpexact.reals import Real
from dpexact.tradeoffs import GaussianTradeoff, f_eps_delta, of_pair

_SOURCE: Final = "The talk A Statistical Viewpoint on Differential Privacy"
_QUERIES: Final = 9
_BUDGET: Final = Fraction("3.325")
_DELTA: Final = Fraction(1, 10**11)
_X: Final = r"type I error $\alpha$"
_Y: Final = r"type II error $\beta$"
#: Places of a curve of which each point costs a sum over the lattice.
_PLACES: Final = 24
_DIGITS_OF_AXES: Final = 3


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
        return _variance_of(self.rho, _QUERIES)

    def epsilon(self) -> Real:
        return _published(self.rho, reals.rational(_DELTA))


def _variance_of(rho: Fraction, queries: int) -> Fraction:
    """Of one of ``queries`` that are ``rho``-zCDP together: each has ``1/(2 variance)``."""
    return queries / (2 * rho)


def _published(rho: Fraction, delta: Real) -> Real:
    """``rho + 2 sqrt(rho log(1/delta))``, what was published for ``rho``-zCDP."""
    return rho + 2 * reals.square_root(-rho * reals.logarithm(delta))


def _level(name: str, percent: str, printed: str) -> _Level:
    return _Level(name, Fraction(percent) / 100, Fraction(printed))


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
    f"{_SOURCE}, slides on the census",
    "Left: the variance of nine discrete Gaussian queries a level, as published (epsilon by "
    "rho + 2 sqrt(rho log(1/delta)), delta = 1e-11) and the one at which their exact composition "
    "has the same epsilon. Right: the reduction as printed and recomputed; the 13.9 % of the level "
    "US is wrong, it is 21.1 %, all others are right as rounded. The shares of the budget other "
    "than US are inferred from the printed variances.",
)
def census(workshop: Workshop) -> tuple[Panel, ...]:
    """The table "Reduced noise", recomputed."""
    crossings = _variances(workshop)
    published = [level.published_variance for level in _LEVELS]
    saved = [affine(-100 / p, e, 100) for e, p in zip(crossings, published, strict=True)]
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
                _bars("exact composition", crossings),
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
    return curve(label, range(len(values)), values, "bars")


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
        last, height, x = x, here, round(x - step, wanted)
    for margin in (x / 10 ** (digits + 2), x / 10 ** (digits - 2)):
        above, below = decreasing(x - margin, wanted), decreasing(x + margin, wanted)
        if above.lower > target > below.upper:
            return Enclosure(x - margin, x + margin, above.method)
    return Enclosure(Fraction(0), math.inf, reason="no crossing was certified")


@figure(
    "slides-census-budget",
    "The 2020 census has not used up its budget",
    f"{_SOURCE}, slides on the census",
    "Delta over epsilon of {queries} discrete Gaussian queries on a geographic level, with the "
    "share of the budget rho = {budget} that stands above each panel: by the formula that was "
    "published, exp(-(epsilon - rho)^2/(4 rho)), and of the exact composition. The bar is what is "
    "left of epsilon at delta = {delta}. The shares other than the first are inferred from the "
    "printed variances.",
    budget=share("budget of all levels, as rho of zCDP", "3.325", "> 0", "<= 100"),
    queries=count("queries on a level", "9", 1, 100),
    delta=number("delta at which what is left is shown", "1e-11", "> 0", "<= 1/10"),
)
def unused(workshop: Workshop, budget: Fraction, queries: int, delta: Real) -> tuple[Panel, ...]:
    """The two profiles of each share, and the two epsilons at ``delta``."""
    names: dict[Fraction, list[str]] = {}
    for level in _LEVELS:
        names.setdefault(level.share, []).append(level.name)
    places, questions = {}, []
    for part in names:
        rho = part * budget
        step = f"discrete_gaussian(sqrt({_variance_of(rho, queries)}))^{queries}"
        end = Fraction(_enclosed(_published(rho, delta), _DIGITS_OF_AXES).upper)
        places[part] = grid(rho, round(end, _DIGITS_OF_AXES), _PLACES)
        questions.append(Question("epsilon", step, str(delta)))
        questions += [Question("delta", step, str(at)) for at in places[part]]
    answers = iter(workshop.answers(questions))
    panels = []
    for part, levels in names.items():
        used, title = next(answers), f"{float(100 * part):g} %: {', '.join(levels)}"
        rho, digits, at = part * budget, workshop.digits, places[part]
        left = (used, _enclosed(_published(rho, delta), digits))
        height = _enclosed(delta, digits)
        series = (
            curve("as published", at, [_published_delta(rho, x, digits) for x in at]),
            curve("exact composition", at, [next(answers) for _ in at]),
            Series("left", tuple(Point(x, height) for x in left), "marked"),
        )
        panels.append(Panel(title, r"$\varepsilon$", r"$\delta$", series, y_scale="log"))
    return tuple(panels)


def _enclosed(value: Real, digits: int) -> Enclosure:
    return certify(lambda: ball(value), digits)


def _published_delta(rho: Fraction, epsilon: Fraction, digits: int) -> Enclosure:
    """``exp(-(epsilon - rho)^2/(4 rho))``, of which :func:`_published` is the inverse."""
    exponent = -((epsilon - rho) ** 2) / (4 * rho)
    return certify(lambda: ball(exponent).exp(), digits, method="rho + 2 sqrt(rho log(1/delta))")


@figure(
    "slides-pairs",
    "Pairs that a divergence orders and tests do not",
    f"{_SOURCE}, slides on Rényi divergence and on the smallest epsilon",
    "Left and middle: randomised response with epsilon = {eps} and the Gaussian pair with mu = "
    "{eps}: for epsilon below 4 the response has the smaller Rényi divergence of every order, and "
    "the larger total variation. Right: A = (2/3, 1/3) against (1/3, 2/3), B = (0.04, 0.96) "
    "against (0.01, 0.99): at delta = 0.001 the smallest epsilon of A is below that of B, and its "
    "total variation is ten times as large. Our choice: epsilon = {eps}.",
    eps=share("epsilon of the response, mu of the Gaussian pair", "2", "> 0", "< 4"),
    order=count("largest Rényi order", "20", 2, 200),
)
def pairs(workshop: Workshop, eps: Fraction, order: int) -> tuple[Panel, ...]:
    """Trade-off functions and Rényi divergences of the response and the normal pair; A and B."""
    f, normal = f_eps_delta(eps, 0), GaussianTradeoff(reals.rational(eps))
    levels = [Fraction(k, 80) ** 2 for k in range(81)]
    orders = grid(1, order, 40)[1:]
    found = workshop.answers([Question("renyi", f"pure_dp({eps})", str(a)) for a in orders])
    response, gaussian = "randomised response", "Gaussian"
    a = of_pair(["2/3", "1/3"], ["1/3", "2/3"])
    b = of_pair(["0.04", "0.96"], ["0.01", "0.99"])
    return (
        Panel(
            rf"$\varepsilon = \mu$ = {shown(eps)}",
            _X,
            _Y,
            (
                outline(response, f, workshop.digits),
                curve(gaussian, levels, (normal(x, workshop.digits) for x in levels)),
            ),
            square=True,
        ),
        Panel(
            rf"$\varepsilon = \mu$ = {shown(eps)}",
            r"order $\gamma$",
            "Rényi divergence",
            (
                curve(response, orders, found),
                Series(gaussian, tuple(exact(x, x * eps * eps / 2) for x in orders)),
            ),
        ),
        Panel(
            "A and B",
            _X,
            _Y,
            (
                outline("A", a, workshop.digits),
                outline("B", b, workshop.digits),
                Series("chance", (exact(0, 1), exact(1, 0))),
            ),
            square=True,
        ),
    )
