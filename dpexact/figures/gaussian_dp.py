"""The figures of Dong, Roth and Su, Gaussian Differential Privacy."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

import dpexact
from dpexact import reals
from dpexact.accounting.approximate.central_limit import poisson_mu, uniform_mu
from dpexact.balls import ball, certify
from dpexact.conversion import RealLike, real
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.figures.computing import Question, Workshop, affine, exact, outline, path
from dpexact.figures.model import Panel, Point, Series, curve
from dpexact.figures.parameters import count, number, share, shown
from dpexact.figures.registry import figure
from dpexact.reals import Real, rational
from dpexact.tradeoffs import (
    GaussianTradeoff,
    Vertex,
    f_eps_delta,
    subsampled,
    subsampled_f_eps_delta,
)
from dpexact.tradeoffs.guarantees import exponential_in
from dpexact.tradeoffs.noises import normal_cdf

_SOURCE: Final = "Dong, Roth, Su (2022)"
_X: Final = r"type I error $\alpha$"
_Y: Final = r"type II error $\beta$"
_DIAGONAL: Final = Series(r"$\mathrm{Id}$", (exact(0, 1), exact(1, 0)))

#: Type I errors of a smooth curve; closer near 0, where trade-off functions are steep.
_LEVELS: Final = [Fraction(k, 80) ** 2 for k in range(81)]
#: The same for curves of which each point costs a certified integral; closer near both ends.
_COARSE: Final = [Fraction(k * k, k * k + (40 - k) ** 2) for k in range(1, 40)]
#: Digits that cancel in the difference of two curves that are drawn as one.
_LOST: Final = 6


def _axes(title: str, *series: Series) -> Panel:
    return Panel(title, _X, _Y, series, square=True)


def _gaussian(label: str, mu: RealLike, digits: int, levels: list[Fraction] = _LEVELS) -> Series:
    f = GaussianTradeoff(real(mu))
    return curve(label, levels, (f(a, digits) for a in levels))


@figure(
    "gdp-2",
    "A guarantee and three mechanisms",
    f"{_SOURCE}, Figure 2",
    "A mechanism is f-DP if its trade-off function is nowhere below f = G_{mu}. Beside f: "
    "G_{above}, f_{{{eps},0}} and G_{below}. The original is a sketch without numbers: all four "
    "functions are our choice.",
    mu=number("parameter of the guarantee f = G_mu", "1", "> 0", "<= 20"),
    above=number("parameter of a Gaussian mechanism", "0.6", "> 0", "<= 20"),
    eps=number("epsilon of a pure mechanism", "1", ">= 0", "<= 20"),
    below=number("parameter of another Gaussian mechanism", "1.8", "> 0", "<= 20"),
)
def three_mechanisms(
    workshop: Workshop, mu: Real, above: Real, eps: Real, below: Real
) -> tuple[Panel, ...]:
    """``G_mu`` with ``G_above``, ``f_{eps, 0}`` and ``G_below``."""
    return (
        _axes(
            rf"$f = G_\mu$, $\mu$ = {shown(mu)}",
            _gaussian("$f$", mu, workshop.digits),
            _gaussian(rf"$\mu$ = {shown(above)}", above, workshop.digits),
            outline(rf"$\varepsilon$ = {shown(eps)}", f_eps_delta(eps, 0), workshop.digits),
            _gaussian(rf"$\mu$ = {shown(below)}", below, workshop.digits),
        ),
    )


@figure(
    "gdp-3-left",
    "The trade-off function of (epsilon, delta)-DP",
    f"{_SOURCE}, Figure 3 (left); the talk's sketch of it",
    "Slopes -e^eps and -e^-eps, intercept 1 - delta, and the kink on the diagonal. Our choice: "
    "epsilon = {eps}, delta = {delta}.",
    eps=number("epsilon", "1", ">= 0", "<= 20"),
    delta=number("delta", "1/10", ">= 0", "< 1"),
)
def one_guarantee(workshop: Workshop, eps: Real, delta: Real) -> tuple[Panel, ...]:
    """``f_{eps,delta}``."""
    series = outline(r"$f_{\varepsilon,\delta}$", f_eps_delta(eps, delta), workshop.digits)
    title = rf"$\varepsilon$ = {shown(eps)}, $\delta$ = {shown(delta)}"
    return (_axes(title, series, _DIAGONAL),)


@figure(
    "gdp-3-right",
    "Gaussian differential privacy",
    f"{_SOURCE}, Figure 3 (right)",
    "G_mu for mu = {mu}; the errors are equal at Phi(-mu/2).",
    mu=number("parameters of the curves", "0.5,1,3,6", "> 0", "<= 20", most=6),
)
def gaussians(workshop: Workshop, mu: tuple[Real, ...]) -> tuple[Panel, ...]:
    """``G_mu`` of each ``mu``."""
    series = [_gaussian(rf"$\mu$ = {shown(each)}", each, workshop.digits) for each in mu]
    return (_axes(r"$G_\mu$", *series, _DIAGONAL),)


@figure(
    "gdp-4",
    "A trade-off function and its supporting lines",
    f"{_SOURCE}, Figure 4; the talk's supporting lines",
    "Each line of slope -e^epsilon is a guarantee (epsilon, delta(epsilon)), the line of slope "
    "-e^-epsilon in the same style its mirror image, and the function is their envelope. Our "
    "choice: f = G_{mu} and epsilon = {eps}.",
    mu=number("parameter of the function", "1", "> 0", "<= 20"),
    eps=number("epsilons of the lines", "0,0.5,1,2", ">= 0", "<= 20", most=6),
)
def supporting_lines(workshop: Workshop, mu: Real, eps: tuple[Real, ...]) -> tuple[Panel, ...]:
    """``G_mu`` with ``1 - delta(eps) - e^(+-eps) alpha``."""
    lines = []
    for each in eps:
        delta = dpexact.delta(f"gdp({mu})", each, workshop.digits)
        start = affine(Fraction(-1), delta, 1)
        end = _times_exp_minus(start, each, workshop.digits)
        zero = Enclosure.exact(Fraction(0))
        ends, label = (Point(zero, start), Point(end, zero)), rf"$\varepsilon$ = {shown(each)}"
        lines.append(Series(label, ends))
        if each.fraction != 0:
            mirrored = tuple(Point(p.y, p.x) for p in ends)
            lines.append(Series(rf"$\varepsilon$ = -{shown(each)}", mirrored, like=label))
    return (
        _axes(rf"$G_\mu$, $\mu$ = {shown(mu)}", _gaussian("$G_\\mu$", mu, workshop.digits), *lines),
    )


def _times_exp_minus(value: Enclosure, eps: Real, digits: int) -> Enclosure:
    """``value e^-eps``."""
    factor = certify(lambda: (-ball(eps)).exp(), digits + 5)
    low, high = Fraction(value.lower), Fraction(value.upper)
    return Enclosure(low * Fraction(factor.lower), high * Fraction(factor.upper), value.method)


@figure(
    "gdp-5-left",
    "Composition with (0, delta)-differential privacy",
    f"{_SOURCE}, Figure 5 (left)",
    "f (x) f_{{0,delta}} is f scaled by 1 - delta. Our choice: f = G_{mu}, delta = {delta}.",
    mu=number("parameter of the function", "1", "> 0", "<= 20"),
    delta=share("delta", "1/4", ">= 0", "< 1"),
)
def scaled(workshop: Workshop, mu: Real, delta: Fraction) -> tuple[Panel, ...]:
    """``(1 - delta) f(alpha/(1 - delta))``, equation (12)."""
    f, kept = _gaussian("$f$", mu, workshop.digits), 1 - delta
    shrunk = tuple(Point(affine(kept, p.x), affine(kept, p.y)) for p in f.points)
    product = Series(r"$f \otimes f_{0,\delta}$", (*shrunk, exact(1, 0)))
    title = rf"$f = G_\mu$, $\mu$ = {shown(mu)}, $\delta$ = {shown(delta)}"
    return (_axes(title, f, product, _DIAGONAL),)


@figure(
    "gdp-5-right",
    "{k} mechanisms, their Gaussian limit, and one guarantee",
    f"{_SOURCE}, Figures 1 (left) and 5 (right); the talk's numerical example",
    "The {k}-fold composition of ({eps}, 0)-differential privacy, G_{mu}, and the guarantee "
    "({total}, {delta}); the paper prints epsilon = 2.89 for ten mechanisms at delta = 0.001.",
    k=count("number of mechanisms composed", "10", 1, 200),
    eps=number("epsilon of one mechanism", "1/sqrt(10)", "> 0", "<= 20"),
    mu=number("parameter of the Gaussian limit", "1", "> 0", "<= 20"),
    total=number("epsilon of the guarantee", "2.89", ">= 0", "<= 100"),
    delta=number("delta of the guarantee", "0.001", ">= 0", "< 1"),
)
def ten_fold(
    workshop: Workshop, k: int, eps: Real, mu: Real, total: Real, delta: Real
) -> tuple[Panel, ...]:
    """``f_{eps, 0}^{(x) k}``, ``G_mu`` and ``f_{total, delta}``."""
    return (
        _axes(
            f"{k}-fold ({shown(eps)}, 0)-DP",
            outline("composition", f_eps_delta(eps, 0) ** k, workshop.digits),
            _gaussian(rf"$G_\mu$, $\mu$ = {shown(mu)}", mu, workshop.digits),
            outline(
                f"({shown(total)}, {shown(delta)})-DP", f_eps_delta(total, delta), workshop.digits
            ),
        ),
    )


@figure(
    "gdp-6-left",
    "Subsampling a Gaussian mechanism",
    f"{_SOURCE}, Figure 6 (left); the talk's subsampling panels (left)",
    "f = G_{mu} and a sample of the share p = {p}: f_p, its inverse, and C_p(f), which is the "
    "largest convex function below both.",
    mu=number("parameter of the function", "1.8", "> 0", "<= 20"),
    p=share("share that is sampled", "0.35", ">= 0", "<= 1"),
)
def sampled_gaussian(workshop: Workshop, mu: Real, p: Fraction) -> tuple[Panel, ...]:
    """``f_p = p f + (1-p) Id``, ``f_p^-1`` and ``C_p(f)`` for ``f = G_mu``."""
    f = _gaussian("", mu, workshop.digits)
    below = tuple(
        Point(at.x, affine(p, at.y, (1 - p) * (1 - Fraction(at.x.lower)))) for at in f.points
    )
    mirrored = tuple(Point(at.y, at.x) for at in reversed(below))
    # C_p(f) is f_p up to the fixed point x* of f, a segment of slope -1, and the mirror image
    fixed = certify(lambda: normal_cdf(-ball(mu) / 2), workshop.digits, method="x*")
    bend = Point(fixed, affine(2 * p - 1, fixed, 1 - p))
    hull = [at for at in below if at.x.upper < fixed.lower] + [bend]
    return (
        _axes(
            rf"$f = G_\mu$, $\mu$ = {shown(mu)}, $p$ = {shown(p)}",
            Series("$f_p$", below),
            Series("$f_p^{-1}$", mirrored),
            Series("$C_p(f)$", (*hull, *(Point(at.y, at.x) for at in reversed(hull)))),
        ),
    )


@figure(
    "gdp-6-right",
    "Subsampling a guarantee",
    f"{_SOURCE}, Figure 6 (right); the talk's subsampling panels (right)",
    "C_p(f_{{eps,delta}}) for epsilon = {eps}, delta = {delta}, p = {p}, against the guarantee "
    "(eps', p delta) of the subsampling theorem, e^eps' = 1 + p (e^eps - 1). Equation (14) as "
    "printed, without its factor 1 - delta in the segment of slope -1, is drawn too: it lies "
    "below the truth.",
    eps=number("epsilon of the mechanism", "3", "> 0", "<= 20"),
    delta=share("delta of the mechanism", "0.1", "> 0", "< 1"),
    p=share("share that is sampled", "0.2", "> 0", "<= 1"),
)
def sampled_guarantee(
    workshop: Workshop, eps: Real, delta: Fraction, p: Fraction
) -> tuple[Panel, ...]:
    """``C_p(f_{eps,delta})``, ``f_{eps', p delta}``, and the printed segment."""
    exactly = subsampled_f_eps_delta(eps, delta, p)
    assert exactly == subsampled(f_eps_delta(eps, delta), p)
    growth = exponential_in(eps)
    printed = 1 - p * delta - p * (growth - 1) / (growth + 1)
    segment = (Vertex(Fraction(0), printed), Vertex(printed, Fraction(0)))
    amplified = reals.logarithm(1 - p + p * reals.exponential(eps))
    return (
        _axes(
            rf"$\varepsilon$ = {shown(eps)}, $\delta$ = {shown(delta)}, $p$ = {shown(p)}",
            outline("$C_p(f)$", exactly, workshop.digits),
            outline(
                r"$f_{\varepsilon', p\delta}$", f_eps_delta(amplified, p * delta), workshop.digits
            ),
            path("segment as printed", segment, workshop.digits),
        ),
    )


@figure(
    "gdp-7",
    "Training on MNIST: what the paper drew, and the truth",
    f"{_SOURCE}, Figures 1 (right) and 7; the talk's MNIST slides",
    "The paper draws mu-GDP by the central limit (red) and the guarantee of the moments accountant "
    "at delta = {delta} (blue). Here mu is that of Poisson sampling and that of Corollary 4, and "
    "the exact trade-off function is added, which could not be drawn there. Below: how far G_mu of "
    "Poisson sampling lies above the truth; where it does, it promises too much. Noise, steps and "
    "delta are those of the authors' tutorial; steps are epochs times 60000/256, cut.",
    sigma=number("noise of each run", "1.3,1.1,0.7", ">= 1/2", "<= 1000", most=3),
    steps=count("steps of each run", "3515,14062,10546", 1, 10**6, most=3),
    eps=number("epsilon that was printed for each run", "1.19,3.01,7.10", ">= 0", "<= 100", most=3),
    rate=number("sampling rate", "256/60000", "> 0", "<= 1"),
    delta=number("delta of the printed guarantees", "1e-5", ">= 0", "< 1"),
)
def mnist(
    workshop: Workshop,
    sigma: tuple[Real, ...],
    steps: tuple[int, ...],
    eps: tuple[Real, ...],
    rate: Real,
    delta: Real,
) -> tuple[Panel, ...]:
    """The runs: two ``G_mu``, ``f_{eps, delta}``, the exact composition, and the errors."""
    if not len(sigma) == len(steps) == len(eps):
        raise InvalidInput(
            f"set: {len(sigma)} of sigma, {len(steps)} of steps and {len(eps)} of eps are not "
            "accepted in gdp-7; must be as many of each, one a run"
        )
    finer = replace(workshop, digits=workshop.digits + _LOST)
    expressions = [
        f"poisson(gaussian({noise}), {rate})^{times}"
        for noise, times in zip(sigma, steps, strict=True)
    ]
    questions = [Question("tradeoff", m, str(a)) for m in expressions for a in _COARSE]
    answers = iter(finer.answers(questions))
    above, below = [], []
    for noise, times, printed in zip(sigma, steps, eps, strict=True):
        truth = [next(answers) for _ in _COARSE]
        mu = poisson_mu(noise, rate, times, finer.digits)
        fixed = uniform_mu(noise, rate, times, workshop.digits)
        title = rf"$\sigma$ = {shown(noise)}, {times} steps"
        limit = _central_limit("", mu, finer.digits, _COARSE).points
        above.append(
            _axes(
                title,
                curve("exact", _COARSE, truth),
                _central_limit(rf"$G_\mu$, $\mu = {float(mu.lower):.4g}$", mu, workshop.digits),
                outline(
                    f"({shown(printed)}, {shown(delta)})-DP",
                    f_eps_delta(printed, delta),
                    workshop.digits,
                ),
                _central_limit(
                    rf"Corollary 4, $\mu = {float(fixed.lower):.4g}$", fixed, workshop.digits
                ),
            )
        )
        errors = tuple(
            Point(p.x, _difference(p.y, true)) for p, true in zip(limit, truth, strict=True)
        )
        label = r"$G_\mu$ $-$ exact"
        below.append(Panel(title, _X, label, (Series(label, errors),), zero=True))
    return (*above, *below)


def _difference(first: Enclosure, second: Enclosure) -> Enclosure:
    low = Fraction(first.lower) - Fraction(second.upper)
    high = Fraction(first.upper) - Fraction(second.lower)
    return Enclosure(low, high, second.method)


def _central_limit(
    label: str, mu: Enclosure, digits: int, levels: list[Fraction] = _LEVELS
) -> Series:
    """``G_mu`` of an enclosed ``mu``: the trade-off function decreases in ``mu``."""
    least, most = (GaussianTradeoff(rational(Fraction(end))) for end in (mu.lower, mu.upper))
    ends = ((most(level, digits), least(level, digits)) for level in levels)
    return curve(label, levels, (low.between(high, high.method) for low, high in ends))
