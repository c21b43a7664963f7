"""The figures of Kairouz, Oh and Viswanath, The Composition Theorem for Differential Privacy."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.enclosure import Enclosure
from dpexact.figures.computing import Workshop, exact, grid, outline, path
from dpexact.figures.model import Panel, Point, Series
from dpexact.figures.registry import figure
from dpexact.tradeoff import Vertex, f_eps_delta, guarantees

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
    "Attainable error pairs lie above the solid line. The dotted line is the bound on the sum of "
    "the errors by the total variation. Our choice: epsilon = 1, delta = 1/10.",
)
def privacy_region(workshop: Workshop) -> tuple[Panel, ...]:
    """``R(eps, delta)`` and the line ``P_FA + P_MD = 2 (1 - delta)/(1 + e^eps)``."""
    f = f_eps_delta("1", "1/10")
    _, kink, *_ = outline("", f, workshop.digits).points[-4:]
    total = Enclosure(2 * Fraction(kink.x.lower), 2 * Fraction(kink.x.upper), kink.x.method)
    zero = Enclosure.exact(Fraction(0))
    return _region(
        r"$R(\varepsilon, \delta)$, $\varepsilon = 1$, $\delta = 1/10$",
        outline(r"$f_{\varepsilon,\delta}$", f, workshop.digits),
        Series("total variation", (Point(zero, total), Point(total, zero))),
        _CHANCE,
    )


@figure(
    "kov-2",
    "Privacy regions of compositions",
    f"{_SOURCE}, Figure 2",
    "The k-fold composition of (0.4, 0)- and (0.4, 0.1)-differentially private mechanisms, "
    "k = 1 to 5; every vertex is exact.",
)
def composed_regions(workshop: Workshop) -> tuple[Panel, ...]:
    """``R({((k-2i) eps, delta_i)})`` for ``k = 1, ..., 5``."""
    panels: list[Panel] = []
    for delta in (Fraction(0), Fraction(1, 10)):
        f = f_eps_delta("2/5", delta)
        series = [outline(f"$k = {k}$", f**k, workshop.digits) for k in range(1, 6)]
        panels += _region(rf"$\varepsilon = 0.4$, $\delta = {float(delta):g}$", *series)
    return tuple(panels)


@figure(
    "kov-3-top",
    "Three composition theorems",
    f"{_SOURCE}, Figure 3 (top)",
    "The 30-fold composition of (0.1, 0.001)-differential privacy: basic composition (Theorem "
    "III.1), advanced composition (III.2) and the optimum (III.3). Our choice: III.2 is drawn as "
    "the envelope over delta~ = i/200, i = 1 to 200.",
)
def three_theorems(workshop: Workshop) -> tuple[Panel, ...]:
    """Theorems III.1, III.2 and III.3 at ``k = 30``, ``(0.1, 0.001)``."""
    k, eps, delta = 30, Fraction(1, 10), Fraction(1, 1000)
    optimal = f_eps_delta(eps, delta) ** k
    basic = f_eps_delta(k * eps, k * delta)
    slacks = [Fraction(i, 200) for i in range(1, 201)]
    advanced = tuple(
        Point(Enclosure.exact(alpha), _advanced(alpha, k, eps, delta, slacks, workshop.digits))
        for alpha in grid(0, 1, 100)
    )
    return _region(
        r"30-fold $(0.1, 0.001)$-DP",
        outline("III.3: optimal", optimal, workshop.digits),
        Series("III.2: advanced", advanced),
        outline("III.1: basic", basic, workshop.digits),
    )


def _advanced(
    alpha: Fraction,
    k: int,
    eps: Fraction,
    delta: Fraction,
    slacks: list[Fraction],
    digits: int,
) -> Enclosure:
    r"""The largest ``f`` of ``(eps~, k delta + slack)`` at ``alpha`` over the ``slacks``,

    with :math:`\tilde\varepsilon = k\varepsilon(e^\varepsilon - 1) +
    \varepsilon\sqrt{2k\log(1/\mathrm{slack})}`.
    """

    def compute() -> arb:
        best, e, a = arb(0), balls.ball(eps), balls.ball(alpha)
        for slack in slacks:
            room = 1 - balls.ball(k * delta + slack)
            level = k * e * e.expm1() + e * (-2 * k * balls.ball(slack).log()).sqrt()
            best = best.max(room - level.exp() * a).max((-level).exp() * (room - a))
        return best

    return balls.certify(compute, digits, highest=Fraction(1), method="Theorem III.2")


@figure(
    "kov-3-bottom",
    "A region as an intersection of half planes",
    f"{_SOURCE}, Figure 3 (bottom)",
    "The supporting lines P_MD = 1 - delta_i - e^eps_i P_FA of a composition and, in the same "
    "style, P_FA = 1 - delta_i - e^eps_i P_MD. Our choice: the 3-fold composition of (0.4, 0.1)-"
    "differential privacy, (eps_i, delta_i) from eps_0 = 0 on.",
)
def supporting_lines(workshop: Workshop) -> tuple[Panel, ...]:
    """The lines of ``{(eps_i, delta_i)}`` for ``(2/5, 1/10)``, ``k = 3``."""
    f = f_eps_delta("2/5", "1/10") ** 3
    lines = []
    for number, (level, delta) in enumerate(guarantees(f)):
        ends = (Vertex(Fraction(0), 1 - delta), Vertex((1 - delta) / level, Fraction(0)))
        mirrored = tuple(Vertex(beta, alpha) for alpha, beta in ends)
        label = rf"$i = {number}$"
        lines.append(path(label, ends, workshop.digits))
        if level != 1:
            other = path(f"{label}, mirrored", mirrored, workshop.digits)
            lines.append(replace(other, like=label))
    return _region(r"3-fold $(0.4, 0.1)$-DP", outline("composition", f, workshop.digits), *lines)
