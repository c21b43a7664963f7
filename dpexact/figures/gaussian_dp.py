"""The figures of Dong, Roth and Su, Gaussian Differential Privacy."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

import dpexact
from dpexact import reals
from dpexact.accounting.approximate.central_limit import poisson_mu, uniform_mu
from dpexact.balls import ball, certify
from dpexact.enclosure import Enclosure
from dpexact.figures.computing import Question, Workshop, combined, exact, outline, path
from dpexact.figures.model import Panel, Point, Series
from dpexact.figures.registry import figure
from dpexact.reals import RealLike, rational
from dpexact.tradeoff import (
    GaussianTradeoff,
    Vertex,
    f_eps_delta,
    subsampled,
    subsampled_f_eps_delta,
)
from dpexact.tradeoff.gaussian import normal_cdf
from dpexact.tradeoff.guarantees import exponential_in

_SOURCE: Final = "Dong, Roth, Su (2022)"
_X: Final = r"type I error $\alpha$"
_Y: Final = r"type II error $\beta$"
_DIAGONAL: Final = Series(r"$\mathrm{Id}$", (exact(0, 1), exact(1, 0)))

#: Type I errors of a smooth curve; closer near 0, where trade-off functions are steep.
_LEVELS: Final = [Fraction(k, 80) ** 2 for k in range(81)]
#: The same for curves of which each point costs a certified integral.
_COARSE: Final = [Fraction(k, 40) ** 2 for k in range(1, 40)]

#: Training runs on MNIST of the authors' tutorial: noise, steps and the printed epsilon.
_RUNS: Final = (("1.3", 3515, "1.19"), ("1.1", 14062, "3.01"), ("0.7", 10546, "7.10"))
_RATE: Final = "256/60000"
_DELTA: Final = "1e-5"
#: Digits that cancel in the difference of two curves that are drawn as one.
_LOST: Final = 6


def _axes(title: str, *series: Series) -> Panel:
    return Panel(title, _X, _Y, series, square=True)


def _gaussian(label: str, mu: RealLike, digits: int, levels: list[Fraction] = _LEVELS) -> Series:
    f = GaussianTradeoff(reals.real(mu))
    return Series(label, tuple(Point(Enclosure.exact(a), f(a, digits)) for a in levels))


@figure(
    "gdp-3-left",
    "The trade-off function of (epsilon, delta)-differential privacy",
    f"{_SOURCE}, Figure 3 (left)",
    "Slopes -e^eps and -e^-eps, intercept 1 - delta, and the kink on the diagonal. Our choice: "
    "epsilon = 1, delta = 1/10.",
)
def one_guarantee(workshop: Workshop) -> tuple[Panel, ...]:
    """``f_{eps,delta}``."""
    f = f_eps_delta("1", "1/10")
    series = outline(r"$f_{\varepsilon,\delta}$", f, workshop.digits)
    return (
        _axes(r"$f_{\varepsilon,\delta}$, $\varepsilon = 1$, $\delta = 0.1$", series, _DIAGONAL),
    )


@figure(
    "gdp-3-right",
    "Gaussian differential privacy",
    f"{_SOURCE}, Figure 3 (right)",
    "G_mu for the parameters of the paper; the errors are equal at Phi(-mu/2).",
)
def gaussians(workshop: Workshop) -> tuple[Panel, ...]:
    """``G_mu`` for ``mu = 1/2, 1, 3, 6``."""
    series = [_gaussian(rf"$\mu = {mu}$", mu, workshop.digits) for mu in ("0.5", "1", "3", "6")]
    return (_axes(r"$G_\mu$", *series, _DIAGONAL),)


@figure(
    "gdp-4",
    "A trade-off function and its supporting lines",
    f"{_SOURCE}, Figure 4",
    "Each line of slope -e^epsilon is a guarantee (epsilon, delta(epsilon)), the line of slope "
    "-e^-epsilon in the same style its mirror image, and the function is their envelope. Our "
    "choice: f = G_1 and epsilon = 0, 0.5, 1, 2.",
)
def supporting_lines(workshop: Workshop) -> tuple[Panel, ...]:
    """``G_1`` with ``1 - delta(eps) - e^(+-eps) alpha``."""
    lines = []
    for eps in ("0", "0.5", "1", "2"):
        delta = dpexact.delta("gdp(1)", eps, workshop.digits)
        start = Enclosure(1 - Fraction(delta.upper), 1 - Fraction(delta.lower), delta.method)
        end = _times_exp_minus(start, eps, workshop.digits)
        zero = Enclosure.exact(Fraction(0))
        ends, label = (Point(zero, start), Point(end, zero)), rf"$\varepsilon = {eps}$"
        lines.append(Series(label, ends))
        if eps != "0":
            mirrored = tuple(Point(p.y, p.x) for p in ends)
            lines.append(Series(rf"$\varepsilon = -{eps}$", mirrored, like=label))
    return (_axes(r"$G_1$", _gaussian("$G_1$", 1, workshop.digits), *lines),)


def _times_exp_minus(value: Enclosure, eps: str, digits: int) -> Enclosure:
    """``value e^-eps``."""
    factor = certify(lambda: (-ball(reals.real(eps))).exp(), digits + 5)
    low, high = Fraction(value.lower), Fraction(value.upper)
    return Enclosure(low * Fraction(factor.lower), high * Fraction(factor.upper), value.method)


@figure(
    "gdp-5-left",
    "Composition with (0, delta)-differential privacy",
    f"{_SOURCE}, Figure 5 (left)",
    "f (x) f_{0,delta} is f scaled by 1 - delta. Our choice: f = G_1, delta = 1/4.",
)
def scaled(workshop: Workshop) -> tuple[Panel, ...]:
    """``(1 - delta) f(alpha/(1 - delta))``, equation (12)."""
    f, kept = _gaussian("$f = G_1$", 1, workshop.digits), Fraction(3, 4)
    zero = Enclosure.exact(Fraction(0))
    shrunk = tuple(
        Point(combined(kept, p.x, Fraction(0), zero), combined(kept, p.y, Fraction(0), zero))
        for p in f.points
    )
    product = Series(r"$f \otimes f_{0,\delta}$", (*shrunk, exact(1, 0)))
    return (_axes(r"scaling by $1 - \delta$, $\delta = 1/4$", f, product, _DIAGONAL),)


@figure(
    "gdp-5-right",
    "Ten mechanisms, their Gaussian limit, and one guarantee",
    f"{_SOURCE}, Figures 1 (left) and 5 (right); the talk's numerical example",
    "The 10-fold composition of (1/sqrt 10, 0)-differential privacy, G_1, and the guarantee at "
    "delta = 0.001, for which the paper prints epsilon = 2.89.",
)
def ten_fold(workshop: Workshop) -> tuple[Panel, ...]:
    """``f_{1/sqrt 10, 0}^{(x) 10}``, ``G_1`` and ``f_{2.89, 0.001}``."""
    return (
        _axes(
            r"10-fold $(1/\sqrt{10}, 0)$-DP",
            outline("composition", f_eps_delta("1/sqrt(10)", 0) ** 10, workshop.digits),
            _gaussian("$G_1$", 1, workshop.digits),
            outline("$(2.89, 0.001)$-DP", f_eps_delta("2.89", "1/1000"), workshop.digits),
        ),
    )


@figure(
    "gdp-6-left",
    "Subsampling a Gaussian mechanism",
    f"{_SOURCE}, Figure 6 (left); the talk's subsampling panels (left)",
    "f = G_1.8 and a sample of the share p = 0.35: f_p, its inverse, and C_p(f), which is the "
    "largest convex function below both.",
)
def sampled_gaussian(workshop: Workshop) -> tuple[Panel, ...]:
    """``f_p = p f + (1-p) Id``, ``f_p^-1`` and ``C_p(f)`` for ``f = G_1.8``, ``p = 0.35``."""
    share = Fraction(35, 100)
    f = _gaussian("", "1.8", workshop.digits)
    below = tuple(
        Point(p.x, combined(share, p.y, 1 - share, Enclosure.exact(1 - Fraction(p.x.lower))))
        for p in f.points
    )
    mirrored = tuple(Point(p.y, p.x) for p in reversed(below))
    # C_p(f) is f_p up to the fixed point x* of f, a segment of slope -1, and the mirror image
    fixed = certify(lambda: normal_cdf(-ball(Fraction(9, 10))), workshop.digits, method="x*")
    bend = Point(fixed, combined(share, fixed, Fraction(1), _affine(fixed, share)))
    hull = [p for p in below if p.x.upper < fixed.lower] + [bend]
    return (
        _axes(
            "$f = G_{1.8}$, $p = 0.35$",
            Series("$f_p$", below),
            Series("$f_p^{-1}$", mirrored),
            Series("$C_p(f)$", (*hull, *(Point(p.y, p.x) for p in reversed(hull)))),
        ),
    )


def _affine(x: Enclosure, share: Fraction) -> Enclosure:
    """``(1 - share)(1 - x)``."""
    low, high = 1 - Fraction(x.upper), 1 - Fraction(x.lower)
    return Enclosure((1 - share) * low, (1 - share) * high, x.method)


@figure(
    "gdp-6-right",
    "Subsampling a guarantee",
    f"{_SOURCE}, Figure 6 (right); the talk's subsampling panels (right)",
    "C_p(f_{eps,delta}) for epsilon = 3, delta = 0.1, p = 0.2, against the guarantee "
    "(eps', p delta) of the subsampling theorem, e^eps' = 1 + p (e^eps - 1). Equation (14) as "
    "printed, without its factor 1 - delta in the segment of slope -1, is drawn too: it lies "
    "below the truth.",
)
def sampled_guarantee(workshop: Workshop) -> tuple[Panel, ...]:
    """``C_0.2(f_{3,0.1})``, ``f_{eps',0.02}``, and the printed segment."""
    exactly = subsampled_f_eps_delta(3, "1/10", "1/5")
    assert exactly == subsampled(f_eps_delta(3, "1/10"), "1/5")
    one, share = Fraction(1), Fraction(1, 5)
    growth = exponential_in(3)
    printed = 1 - share * Fraction(1, 10) - share * (growth - one) / (growth + one)
    segment = (Vertex(Fraction(0), printed), Vertex(printed, Fraction(0)))
    return (
        _axes(
            r"$f_{3, 0.1}$, $p = 0.2$",
            outline("$C_p(f)$", exactly, workshop.digits),
            outline(
                r"$f_{\varepsilon', p\delta}$",
                f_eps_delta("log(4/5 + exp(3)/5)", "1/50"),
                workshop.digits,
            ),
            path("segment as printed", segment, workshop.digits),
        ),
    )


@figure(
    "gdp-7",
    "Training on MNIST: what the paper drew, and the truth",
    f"{_SOURCE}, Figures 1 (right) and 7; the talk's MNIST slides",
    "The paper draws mu-GDP by the central limit (red) and the guarantee of the moments accountant "
    "at delta = 1e-5 (blue). Here mu is that of Poisson sampling and that of Corollary 4, and the "
    "exact trade-off function is added, which could not be drawn there. Below: how far G_mu of "
    "Poisson sampling lies above the truth; where it does, it promises too much. Noise, steps and "
    "delta are those of the authors' tutorial; steps are epochs times 60000/256, cut.",
)
def mnist(workshop: Workshop) -> tuple[Panel, ...]:
    """The three runs: two ``G_mu``, ``f_{eps, 1e-5}``, the exact composition, and the errors."""
    finer = replace(workshop, digits=workshop.digits + _LOST)
    expressions = [f"poisson(gaussian({sigma}), {_RATE})^{steps}" for sigma, steps, _ in _RUNS]
    questions = [Question("tradeoff", m, str(a)) for m in expressions for a in _COARSE]
    answers = iter(finer.answers(questions))
    above, below = [], []
    for sigma, steps, printed in _RUNS:
        truth = [next(answers) for _ in _COARSE]
        mu = poisson_mu(sigma, _RATE, steps, finer.digits)
        fixed = uniform_mu(sigma, _RATE, steps, workshop.digits)
        title = rf"$\sigma = {sigma}$, {steps} steps"
        limit = _central_limit("", mu, finer.digits, _COARSE).points
        above.append(
            _axes(
                title,
                Series("exact", tuple(map(Point, map(Enclosure.exact, _COARSE), truth))),
                _central_limit(rf"$G_\mu$, $\mu = {_short(mu)}$", mu, workshop.digits),
                outline(
                    rf"$({printed}, 10^{{-5}})$-DP", f_eps_delta(printed, _DELTA), workshop.digits
                ),
                _central_limit(rf"Corollary 4, $\mu = {_short(fixed)}$", fixed, workshop.digits),
            )
        )
        errors = tuple(
            Point(p.x, _difference(p.y, true)) for p, true in zip(limit, truth, strict=True)
        )
        below.append(
            Panel(title, _X, r"$G_\mu$ $-$ exact", (Series(r"$G_\mu$ $-$ exact", errors),))
        )
    return (*above, *below)


def _short(mu: Enclosure) -> str:
    return f"{float(mu.lower):.4g}"


def _difference(first: Enclosure, second: Enclosure) -> Enclosure:
    low = Fraction(first.lower) - Fraction(second.upper)
    high = Fraction(first.upper) - Fraction(second.lower)
    return Enclosure(low, high, second.method)


def _central_limit(
    label: str, mu: Enclosure, digits: int, levels: list[Fraction] = _LEVELS
) -> Series:
    """``G_mu`` of an enclosed ``mu``: the trade-off function decreases in ``mu``."""
    least, most = (GaussianTradeoff(rational(Fraction(end))) for end in (mu.lower, mu.upper))
    points = []
    for level in levels:
        high, low = least(level, digits), most(level, digits)
        points.append(Point(Enclosure.exact(level), Enclosure(low.lower, high.upper, high.method)))
    return Series(label, tuple(points))
