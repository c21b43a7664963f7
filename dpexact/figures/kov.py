"""The figures of Kairouz, Oh and Viswanath, The Composition Theorem for Differential Privacy."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.figures.computing import Workshop, exact, grid, outline, path
from dpexact.figures.model import Panel, Series, curve
from dpexact.figures.parameters import count, number, shown
from dpexact.figures.registry import figure
from dpexact.reals import Real
from dpexact.tradeoffs import Vertex, delta_of, f_eps_delta, guarantees

_SOURCE: Final = "Kairouz, Oh, Viswanath (2017)"
_X: Final = r"false alarm probability $P_{FA}$"
_Y: Final = r"missed detection probability $P_{MD}$"
_CHANCE: Final = Series("chance", (exact(0, 1), exact(1, 0)))


def _region(title: str, *series: Series) -> tuple[Panel, ...]:
    return (Panel(title, _X, _Y, series, square=True),)


@figure(
    "kov-1",
    "The privacy region of one mechanism",
    f"{_SOURCE}, Figure 1",
    "Attainable error pairs lie above the solid line. The dashed line is the bound on the sum of "
    "the errors by the total variation. Our choice: epsilon = {eps}, delta = {delta}, k = {k} "
    "composed.",
    eps=number("epsilon of one mechanism", "1", ">= 0", "<= 20"),
    delta=number("delta of one mechanism", "1/10", ">= 0", "< 1"),
    k=count("number of mechanisms composed", "1", 1, 200),
)
def privacy_region(workshop: Workshop, eps: Real, delta: Real, k: int) -> tuple[Panel, ...]:
    """The region of ``k`` ``(eps, delta)``-DP mechanisms, and ``P_FA + P_MD = 1 - TV``."""
    f = f_eps_delta(eps, delta) ** k
    total, zero = 1 - delta_of(f, 0), Fraction(0)
    fold = f"{k}-fold " if k > 1 else ""
    return _region(
        rf"{fold}$R(\varepsilon, \delta)$, {_guarantee(eps, delta)}",
        outline(rf"{fold}$f_{{\varepsilon,\delta}}$", f, workshop.digits),
        path("total variation", (Vertex(zero, total), Vertex(total, zero)), workshop.digits),
        _CHANCE,
    )


def _guarantee(eps: Real, delta: Real) -> str:
    return rf"$\varepsilon$ = {shown(eps)}, $\delta$ = {shown(delta)}"


@figure(
    "kov-2",
    "Privacy regions of compositions",
    f"{_SOURCE}, Figure 2",
    "The k-fold composition of ({eps}, 0)- and ({eps}, {delta})-differentially private mechanisms, "
    "k = {k}; every vertex is exact.",
    eps=number("epsilon of one mechanism", "0.4", ">= 0", "<= 20"),
    delta=number("delta of one mechanism, in the second panel", "0.1", "> 0", "< 1"),
    k=count("numbers of mechanisms composed", "1,2,3,4,5", 1, 100, most=7),
)
def composed_regions(
    workshop: Workshop, eps: Real, delta: Real, k: tuple[int, ...]
) -> tuple[Panel, ...]:
    """``R({((k-2i) eps, delta_i)})`` for each ``k``."""
    panels: list[Panel] = []
    for lost in (reals.rational(0), delta):
        f = f_eps_delta(eps, lost)
        series = [outline(f"$k = {each}$", f**each, workshop.digits) for each in k]
        panels += _region(_guarantee(eps, lost), *series)
    return tuple(panels)


@figure(
    "kov-3-top",
    "Three composition theorems",
    f"{_SOURCE}, Figure 3 (top)",
    "The {k}-fold composition of ({eps}, {delta})-differential privacy: basic composition (Theorem "
    "III.1), advanced composition (III.2) and the optimum (III.3). Our choice: III.2 is drawn as "
    "the envelope over delta~ = i/200, i = 1 to 200.",
    eps=number("epsilon of one mechanism", "0.1", "> 0", "<= 5"),
    delta=number("delta of one mechanism", "0.001", ">= 0", "< 1"),
    k=count("number of mechanisms composed", "30", 1, 200),
)
def three_theorems(workshop: Workshop, eps: Real, delta: Real, k: int) -> tuple[Panel, ...]:
    """Theorems III.1, III.2 and III.3."""
    if balls.compare(k * delta, reals.rational(1), "k delta") > 0:
        raise InvalidInput(
            f"set: k delta = {shown(k * delta)} is not accepted in kov-3-top; must be <= 1, since "
            "basic composition promises nothing beyond"
        )
    optimal = f_eps_delta(eps, delta) ** k
    basic = f_eps_delta(k * eps, k * delta)
    slacks = [Fraction(i, 200) for i in range(1, 201)]
    levels = grid(0, 1, 100)
    advanced = (_advanced(alpha, k, eps, delta, slacks, workshop.digits) for alpha in levels)
    return _region(
        f"{k}-fold ({shown(eps)}, {shown(delta)})-DP",
        outline("III.3: optimal", optimal, workshop.digits),
        curve("III.2: advanced", levels, advanced),
        outline("III.1: basic", basic, workshop.digits),
    )


def _advanced(
    alpha: Fraction, k: int, eps: Real, delta: Real, slacks: list[Fraction], digits: int
) -> Enclosure:
    r"""The largest ``f`` of ``(eps~, k delta + slack)`` at ``alpha`` over the ``slacks``,

    with :math:`\tilde\varepsilon = k\varepsilon(e^\varepsilon - 1) +
    \varepsilon\sqrt{2k\log(1/\mathrm{slack})}`.
    """

    def compute() -> arb:
        best, e, a = arb(0), balls.ball(eps), balls.ball(alpha)
        for slack in slacks:
            room = 1 - k * balls.ball(delta) - balls.ball(slack)
            level = k * e * e.expm1() + e * (-2 * k * balls.ball(slack).log()).sqrt()
            best = best.max(room - level.exp() * a).max((-level).exp() * (room - a))
        return best

    return balls.certify(compute, digits, highest=Fraction(1), method="Theorem III.2")


@figure(
    "kov-3-bottom",
    "A region as an intersection of half planes",
    f"{_SOURCE}, Figure 3 (bottom)",
    "The supporting lines P_MD = 1 - delta_i - e^eps_i P_FA of a composition and, in the same "
    "style, P_FA = 1 - delta_i - e^eps_i P_MD. Our choice: the {k}-fold composition of "
    "({eps}, {delta})-differential privacy, (eps_i, delta_i) from eps_0 = 0 on.",
    eps=number("epsilon of one mechanism", "0.4", "> 0", "<= 20"),
    delta=number("delta of one mechanism", "0.1", ">= 0", "< 1"),
    k=count("number of mechanisms composed", "3", 1, 10),
)
def supporting_lines(workshop: Workshop, eps: Real, delta: Real, k: int) -> tuple[Panel, ...]:
    """The lines of ``{(eps_i, delta_i)}``."""
    f = f_eps_delta(eps, delta) ** k
    lines = []
    for place, (level, lost) in enumerate(guarantees(f)):
        ends = (Vertex(Fraction(0), 1 - lost), Vertex((1 - lost) / level, Fraction(0)))
        mirrored = tuple(Vertex(beta, alpha) for alpha, beta in ends)
        label = rf"$i = {place}$"
        lines.append(path(label, ends, workshop.digits))
        if level != 1:
            other = path(f"{label}, mirrored", mirrored, workshop.digits)
            lines.append(replace(other, like=label))
    title = f"{k}-fold ({shown(eps)}, {shown(delta)})-DP"
    return _region(title, outline("composition", f, workshop.digits), *lines)
