"""Section II and the appendix: regions, post-processing, total variation."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import sympy

from proofs_checks.prover.enumeration import (
    Draw,
    Law,
    hockey_stick,
    kov_pair,
    post_process,
    random_cases,
)
from proofs_checks.prover.expressions import rational
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.symbolic import identity
from proofs_checks.registry import check
from proofs_checks.verdicts import Result, proved, refuted, tested


@check("kov.thm2.1", "kov.sec6B", expects="proved", smoke=True)
def error_trade_off_is_privacy() -> Result:
    """With ``p = P0(S)``, ``q = P1(S)``: the two conditions are one, complement by complement."""
    p, q, e, d = sympy.symbols("p q E d", positive=True)
    box = {p: (0, 1), q: (0, 1), e: (1, 9), d: (0, 1)}
    return proved(
        "the conditions on S and on its complement are the same inequalities",
        identity(
            (p + e * (1 - q)) - (1 - d),
            (e * (1 - q) + d) - (1 - p),
            box,
            text="FA + e^eps MD - (1-delta) = e^eps P1(S^c) + delta - P0(S^c), S = {decide H1}",
        ),
        identity(
            (e * p + (1 - q)) - (1 - d),
            (e * p + d) - q,
            box,
            text="e^eps FA + MD - (1-delta) = e^eps P0(S) + delta - P1(S)",
        ),
    )


@check("kov.thm2.4", "kov.sec2.converse_surprising", expects="tested", smoke=True)
def post_processing(count: int = 200) -> Result:
    """Every hockey-stick divergence falls under a random map."""

    def draw(source: Draw) -> dict[str, object]:
        p, q = source.law(4), source.law(4)
        return {"p": p, "q": q, "kernel": source.kernel(p, 3), "slope": source.fraction(0, 4)}

    def falls(p: Law, q: Law, kernel: dict[object, Law], slope: Fraction) -> bool:
        after = hockey_stick(post_process(p, kernel), post_process(q, kernel), slope)
        return after <= hockey_stick(p, q, slope)

    return tested(
        "random pairs on four outcomes, random maps to three, random slopes",
        random_cases("the hockey-stick divergence does not grow", count, draw, falls),
    )


@check("kov.sec4.hockey", "kov.sec6D.setB", expects="tested", smoke=True)
def best_set(count: int = 100) -> Result:
    """The maximum over all sets against the set ``{P0 >= e^e P1}``, by listing the sets."""

    def draw(source: Draw) -> dict[str, object]:
        return {"p": source.law(5), "q": source.law(5), "slope": source.fraction(0, 4)}

    def attained(p: Law, q: Law, slope: Fraction) -> bool:
        sets = chain.from_iterable(combinations(p, n) for n in range(len(p) + 1))
        values = [sum((p[x] - slope * q[x] for x in s), Fraction(0)) for s in sets]
        best = sum((p[x] - slope * q[x] for x in p if p[x] >= slope * q[x]), Fraction(0))
        return max(values) == best == hockey_stick(p, q, slope)

    return tested(
        "random pairs on five outcomes, all 32 sets",
        random_cases("the set of positive differences attains the maximum", count, draw, attained),
    )


@check("kov.fig1.symmetry", expects="refuted", smoke=True)
def the_region_is_not_symmetric() -> Result:
    """The mirror image of (1, 1) at ``FA + MD = 1`` is (0, 0)."""
    e, d = Fraction(2), Fraction(1, 10)
    return refuted(
        {"point": "(1, 1)", "mirror image": "(0, 0)", "e^eps": e, "delta": d},
        "(1, 1) satisfies both inequalities of (2), its mirror image none",
        certain(1 + e, ">=", 1 - d, "1 + e^eps >= 1 - delta"),
        certain(0 + e * 0, "<", 1 - d, "0 < 1 - delta"),
    )


@check("kov.app.tv_identity", "kov.remA.1b", expects="proved", smoke=True)
def total_variation() -> Result:
    """The total variation of the canonical pair, which dominates every other one."""
    e, d = sympy.symbols("E d", positive=True)
    corner = (1 - d) / (1 + e)
    largest = hockey_stick(*kov_pair(Fraction(2), Fraction(1, 10)), 1)
    return proved(
        "the corner of the region, and the two forms are one rational function",
        identity(1 - 2 * corner, d + (1 - d) * (e - 1) / (e + 1), {e: (1, 9), d: (0, 1)}),
        certain(largest, "=", Fraction(2, 5), "at e^eps = 2, delta = 1/10 the pair attains 2/5"),
    )


@check("kov.sec6D.hoeffding", expects="proved", smoke=True)
def hoeffding(half: Fraction = Fraction(1, 2)) -> Result:
    """``g = (2p-1) x + x^2/2 - log(p e^x + (1-p) e^-x)`` has ``g(0) = g'(0) = 0 <= g''``.

    With ``m = d/dx log(...)`` the second derivative is ``1 - (1 - m^2) = m^2``.
    """
    x, p = sympy.Symbol("x", real=True), sympy.Symbol("p", positive=True)
    moment = p * sympy.exp(x) + (1 - p) * sympy.exp(-x)
    mean = (p * sympy.exp(x) - (1 - p) * sympy.exp(-x)) / moment
    gap = (2 * p - 1) * x + rational(half) * x**2 - sympy.log(moment)
    box = {x: (-3, 3), p: (0, 1)}
    return proved(
        "the gap of the logarithms is convex with a double zero at x = 0",
        identity(sympy.diff(gap, x, 2), mean**2, box, text="g'' = m^2 >= 0"),
        identity(gap.subs(x, 0), 0, {p: (0, 1)}, text="g(0) = 0"),
        identity(sympy.diff(gap, x).subs(x, 0), 0, {p: (0, 1)}, text="g'(0) = 0"),
    )


@check(
    "kov.eq17.pointwise_inequality",
    "kov.eq17.tangency",
    "kov.eq19",
    "kov.eq21",
    expects="proved",
    smoke=True,
)
def markov_step() -> Result:
    """With ``y = e^(x-e) >= 1``: ``1 - 1/y <= y^lam lam^lam/(lam+1)^(lam+1)`` for ``lam > 0``.

    ``h = lam log y + lam log lam - (lam+1) log(lam+1) - log(1-1/y)`` has the derivative
    ``(lam (y-1) - 1)/(y (y-1))`` in ``y``: its least value is at ``y = 1 + 1/lam``, where it is 0.
    At ``lam = 0`` the claim is ``1 - 1/y <= 1``, and for ``x < e`` the left side is 0.
    """
    y, lam, t = sympy.symbols("y lam t", positive=True)
    h = (
        lam * sympy.log(y)
        + lam * sympy.log(lam)
        - (lam + 1) * sympy.log(lam + 1)
        - sympy.log(y - 1)
        + sympy.log(y)
    )
    box = {y: (Fraction(3, 2), 9), lam: (Fraction(1, 10), 5)}
    lam_box = {lam: (Fraction(1, 10), 5)}
    slope = identity(sympy.diff(h, y), (lam * (y - 1) - 1) / (y * (y - 1)), box)
    least = identity(
        sympy.expand_log(sympy.simplify(h.subs(y, (lam + 1) / lam)), force=True),
        0,
        lam_box,
        text="h = 0 at y = 1 + 1/lam",
    )
    sign = identity(
        (lam * (y - 1) - 1).subs(y, 1 + 1 / lam + t),
        lam * t,
        {lam: (Fraction(1, 10), 5), t: (-1, 5)},
        text="the derivative has the sign of y - (1 + 1/lam)",
    )
    return proved("the least value in y, at the tangent point, is 0", slope, least, sign)
