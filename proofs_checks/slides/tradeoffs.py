"""Trade-off functions: Neyman-Pearson, the (eps, delta) region, duality, what a test can tell.

``P`` and ``Q`` are on finitely many outcomes with the probabilities ``p`` and ``q``; a test ``phi``
takes each to a number in [0, 1]; its level is ``a = sum phi p``, its error ``b = 1 - sum phi q``.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import sympy

from proofs_checks.prover.enumeration import (
    Draw,
    beta_at,
    hockey_stick,
    kov_pair,
    random_cases,
    tradeoff,
)
from proofs_checks.prover.expressions import at
from proofs_checks.prover.goals import step
from proofs_checks.prover.intervals import Ends
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.polynomials import bernstein, positive_coefficients
from proofs_checks.prover.symbolic import identity, unfolds
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued

_P, _Q, _T, _X = sympy.symbols("p q t phi", positive=True)
_UNIT = (0, 1)


@check(
    "slides.neyman_pearson",
    "slides.proof.T",
    expects="proved",
    verifies=("finitely many outcomes of any number", "an increasing transform changes no test"),
    smoke=True,
)
def likelihood_ratio_tests_are_optimal(sign: int = 1) -> Derivation:
    """``(best - phi)(q - t p) >= 0`` at each outcome; summed, ``power gain >= t level gain``.

    ``best`` is 1 where ``q = t p + gap`` and 0 where ``t p = q + gap``; where they are equal the
    factor is 0. The standardised ratio ``(L - m)/s`` has the same level sets.
    """
    gap, m, s, level = sympy.symbols("gap m s level", positive=True)
    return argued(
        "on finite sets: outcome by outcome, then summed, no test of this level has more power",
        bernstein((1 - _X) * (sign * gap), {_X: _UNIT, gap: _UNIT}),
        bernstein((0 - _X) * (-sign * gap), {_X: _UNIT, gap: _UNIT}),
        identity(
            (_Q - m) / s - (level - m) / s,
            (_Q - level) / s,
            {_Q: _UNIT, m: _UNIT, s: (1, 2), level: _UNIT},
            text="(L - m)/s exceeds (level - m)/s iff L exceeds the level, for s > 0",
        ),
    )


@check(
    "slides.tradeoff_characterisation",
    expects="proved",
    assumes=("slides.neyman_pearson", "a convex function is the limit of piecewise linear ones"),
    verifies=("necessity, for finitely many outcomes", "sufficiency, for any number of segments"),
    smoke=True,
)
def which_functions_are_tradeoff_functions(count: int = 60) -> Derivation:
    """Necessity from mixed and constant tests (a higher level allows more); then an explicit pair.

    To a polygon with the widths ``w`` and the slopes ``-s`` belong the probabilities ``w`` under P
    and ``s w`` under Q, and ``1 - f(0)`` at an outcome that P never has; ``f(1) = 0`` follows from
    ``0 <= f(1) <= 1 - 1``. Without the range [0, 1] the function ``-a`` would qualify.
    """
    lam, a, c, b, d, w, slope, most = sympy.symbols("lam a c b d w slope most", positive=True)

    def draw(source: Draw) -> dict[str, object]:
        return {"p": source.law(4), "q": source.law(4), "at": source.fraction()}

    def rebuilt(p: dict[int, Fraction], q: dict[int, Fraction], at: Fraction) -> bool:
        corners = tradeoff(p, q)
        steps = list(pairwise(corners))
        first = {i: y[0] - x[0] for i, (x, y) in enumerate(steps)}
        second = {i: x[1] - y[1] for i, (x, y) in enumerate(steps)}
        second[-1] = 1 - corners[0][1]
        return beta_at(tradeoff(first, second), at) == beta_at(corners, at)

    return argued(
        "on finite sets and for polygons: mixed tests give convexity, constant tests the diagonal, "
        "the slopes a pair",
        identity(
            1 - (lam * (1 - b) + (1 - lam) * (1 - d)),
            lam * b + (1 - lam) * d,
            {lam: _UNIT, b: _UNIT, d: _UNIT},
            text="the error of a mixture of two tests is the mixture of their errors",
        ),
        unfolds(1 - a * 1, 1 - a, "the constant test a has the error 1 - a"),
        identity(
            most * _X * _P - _X * (most * _P - w),
            _X * w,
            {most: (1, 9), _X: _UNIT, _P: _UNIT, w: _UNIT},
            text="where p > 0 a test gains at most (max q/p) times its level: continuity at 0",
        ),
        unfolds(
            1 - (1 - b) - (c - 0) * slope,
            b - slope * c,
            "rejecting the new outcome and a part c of a segment has the error f(0) - s c",
        ),
        certain(-1, "<", 0, "-a is convex, continuous, below 1 - a, but negative at 1"),
        random_cases("the pair built from the corners has the same function", count, draw, rebuilt),
    )


@check(
    "slides.epsdelta_two_sided",
    "slides.epsdelta_equiv",
    expects="proved",
    verifies=("each of the three lines is one inequality of the definition",),
    smoke=True,
)
def privacy_is_a_tradeoff_function() -> Derivation:
    """For a test with ``a = P(phi)``, ``b = 1 - Q(phi)``; the definition extends to random tests.

    ``(p - e q - d)`` is linear in the test, so its maximum over tests is attained at an event.
    """
    a, b, e, d = sympy.symbols("a b E d", positive=True)
    box: dict[Any, Ends] = {a: _UNIT, b: _UNIT, e: (1, 9), d: _UNIT}
    return argued(
        "the lines of f are the inequalities for a set and for its complement",
        unfolds(
            b - (1 - d - e * a),
            e * a + d - (1 - b),
            "b - (1 - delta - e^eps a) = e^eps P(phi) + delta - Q(phi)",
        ),
        identity(
            b - (1 - d - a) / e,
            (e * b + d - (1 - a)) / e,
            box,
            text="b - e^-eps (1 - delta - a) = e^-eps (e^eps Q(1-phi) + delta - P(1-phi))",
        ),
        identity(
            _P - (_Q - d) / e,
            (e * _P + d - _Q) / e,
            {_P: _UNIT, _Q: _UNIT, e: (1, 9), d: _UNIT},
            text="the left inequality is the right one with P, P' exchanged, times e^-eps",
        ),
    )


@check("slides.four_segments", "slides.fig_f_eps_delta", expects="proved", smoke=True)
def corners_of_the_region() -> Derivation:
    """(0,1), (0,1-delta), (c,c), (1-delta,0), (1,0) with ``c = (1-delta)/(1+e^eps)``.

    The four segments count the vertical one at ``a = 0``, of length delta; the graph has three.
    """
    g, u, e, d = sympy.symbols("g u E d", positive=True)
    c = (1 - d) / (1 + e)
    box: dict[Any, Ends] = {e: (1, 9), d: _UNIT}
    pair = kov_pair(Fraction(2), Fraction(1, 10))
    corners = {Fraction(0): Fraction(9, 10), Fraction(3, 10): Fraction(3, 10)}
    corners |= {Fraction(9, 10): Fraction(0), Fraction(1): Fraction(0)}
    facts = [
        certain(beta_at(tradeoff(*pair), a), "=", b, f"e^eps = 2, delta = 1/10: f({a}) = {b}")
        for a, b in corners.items()
    ]
    return argued(
        "the lines meet in these corners, which differ for eps, delta > 0",
        identity(1 - d - e * c, c, box, text="the first line meets the diagonal at c"),
        identity((1 - d - c) / e, c, box, text="so does the second"),
        identity(
            at((1 - d - c), {d: 1 - u, e: 1 + g}),
            u * (1 + g) / (2 + g),
            {u: _UNIT, g: (0, 9)},
            text="0 < c < 1 - delta, as u = 1 - delta > 0 and g = e^eps - 1 > 0",
        ),
        positive_coefficients(u * (1 + g), {u: 0, g: 0}),
        *facts,
    )


@check(
    "slides.primal_dual",
    expects="proved",
    assumes=("a closed convex function is the supremum of its supporting lines",),
    verifies=("delta(eps) = 1 + f*(-e^eps)", "mirror lines of a symmetric f", "G_mu"),
    smoke=True,
)
def duality(shift: Fraction = Fraction(1, 2)) -> Derivation:
    """``Q(phi) - e^eps P(phi) = 1 - b - e^eps a``; its supremum is ``1 + f*(-e^eps)``.

    The line ``b = 1 - delta - e^eps a`` is mirrored in ``b = e^-eps (1 - delta - a)``, so the
    slopes at or below -1 determine a symmetric f. For ``G_mu`` at ``a = Phi(-t)`` the slope is
    ``-e^eps`` with ``eps = mu t - mu^2/2``, and the arguments are those of the closed form.
    """
    a, b, e, d, m = sympy.symbols("a b E d mu", positive=True)
    t = sympy.Symbol("t", real=True)
    eps = m * t - sympy.Rational(shift.numerator, shift.denominator) * m**2
    gauss: dict[Any, Ends] = {m: (Fraction(1, 2), 4), t: (-3, 3)}
    return argued(
        "the conjugate by linearity, and in closed form for G_mu",
        unfolds((1 - b) - e * a, 1 + (-e * a - b)),
        unfolds(
            1 - d - e * ((1 - d - a) / e),
            a,
            "the mirror image of a line with slope -e^eps has slope -e^-eps",
        ),
        identity(
            -((t - m) ** 2) / 2 + t**2 / 2, eps, gauss, text="log of the slope of G_mu at Phi(-t)"
        ),
        identity(-eps / m + m / 2, m - t, gauss, text="Phi(-eps/mu + mu/2) = 1 - G_mu(Phi(-t))"),
        identity(-eps / m - m / 2, -t, gauss, text="Phi(-eps/mu - mu/2) = Phi(-t)"),
    )


@check(
    "slides.D_eps",
    "slides.D_epsdelta",
    expects="proved",
    verifies=("a random test never beats the best event", "finitely many outcomes of any number"),
    smoke=True,
)
def divergences_from_the_tradeoff_function() -> Derivation:
    """``(P(E) - delta)/Q(E)`` over random events is a quotient of linear functions of the test.

    Along each coordinate its derivative keeps its sign, so the supremum over ``1 - a = P``,
    ``f(a) = least Q``, is attained at an event: both sides are functions of ``f`` alone.
    """
    above, below, w, d = sympy.symbols("A B w d", positive=True)
    ratio = (above + w * _P - d) / (below + w * _Q)
    box: dict[Any, Ends] = {above: _UNIT, below: (1, 2), w: _UNIT, _P: _UNIT, _Q: _UNIT, d: _UNIT}
    pair = {0: Fraction(2, 3), 1: Fraction(1, 3)}, {0: Fraction(1, 3), 1: Fraction(2, 3)}
    return argued(
        "on finite sets: quotients of linear functions are monotone along each coordinate",
        identity(
            sympy.Derivative(ratio, w),
            (_P * below - _Q * (above - d)) / (below + w * _Q) ** 2,
            box,
            text="the sign of the derivative does not depend on w",
        ),
        certain(
            hockey_stick(*pair, 2), "=", 0, "randomized response of log 2: no set exceeds ratio 2"
        ),
    )


@check("slides.tradeoff_def", expects="proved", smoke=True)
def infimum_of_the_errors() -> Derivation:
    """The definition, and where it is attained: a test of level at most a has no smaller error.

    With ``phi = 1`` on ``q >= F p`` both sides of ``sum (phi - psi)(q - F p) >= 0`` are at hand.
    """
    f, g = "real in [0, 1]", "real in [0, 1]"
    return argued(
        "the likelihood ratio test is best at its level",
        step("(1 - f)*x >= 0", {"f": f, "x": "real >= 0"}),
        step("(0 - g)*x >= 0", {"g": g, "x": "real <= 0"}),
        step(
            "b - c >= F*(l - a)",
            dict.fromkeys("bcla", "real") | {"F": "real >= 0"},
            "b - F*l >= c - F*a",
        ),
    )
