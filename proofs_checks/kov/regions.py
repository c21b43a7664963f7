"""Section II and the appendix: regions, post-processing, total variation."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations
from typing import Any

import sympy

from proofs_checks.evidence import Evidence
from proofs_checks.prover.enumeration import (
    Draw,
    Law,
    hockey_stick,
    kov_pair,
    post_process,
    random_cases,
)
from proofs_checks.prover.goals import step
from proofs_checks.prover.intervals import Ends
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.polynomials import positive_coefficients
from proofs_checks.prover.symbolic import identity, unfolds
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued, contradicted, corrected


@check(
    "kov.eq3",
    expects="proved",
    assumes=("a closed convex set is the intersection of its half-planes",),
    smoke=True,
)
def hull_of_events() -> Derivation:
    """Randomized tests give nothing outside the convex hull of the events.

    ``FA + F MD = F + sum f (p - F q)`` is smallest where ``f = 1`` on ``p < F q`` and 0 elsewhere:
    an event attains every supporting line; lines of the other slopes by exchanging f and 1 - f.
    """
    p, q, f = "real >= 0", "real >= 0", "real in [0, 1]"
    return argued(
        "term by term: f (p - F q) is at least the smaller of p - F q and 0",
        step("f*x >= x", {"f": f, "x": "real <= 0"}),
        step("f*x >= 0", {"f": f, "x": "real >= 0"}),
        step("p*f + F*q*(1 - f) = F*q + f*(p - F*q)", {"p": p, "q": q, "f": f, "F": "real >= 0"}),
    )


@check("kov.thm2.1", "kov.sec6B", expects="proved", smoke=True)
def error_trade_off_is_privacy() -> Derivation:
    """With ``p = P0(S)``, ``q = P1(S)``: the two conditions are one, complement by complement."""
    p, q, e, d = sympy.symbols("p q E d", positive=True)
    return argued(
        "the conditions on S and on its complement are the same inequalities",
        unfolds(
            (p + e * (1 - q)) - (1 - d),
            (e * (1 - q) + d) - (1 - p),
            "FA + e^eps MD - (1-delta) = e^eps P1(S^c) + delta - P0(S^c), S = {decide H1}",
        ),
        unfolds(
            (e * p + (1 - q)) - (1 - d),
            (e * p + d) - q,
            "e^eps FA + MD - (1-delta) = e^eps P0(S) + delta - P1(S)",
        ),
    )


def positive_parts() -> tuple[Evidence, ...]:
    """``a <= a^+`` with ``a = u - v``, ``u = a^+``, ``v = a^-``: so any sum of ``a`` is below."""
    u, v, t = sympy.symbols("u v t", nonnegative=True)
    return (
        unfolds(u - (u - v), v, "a^+ - a = a^-"),
        positive_coefficients(t * v, {t: 0, v: 0}),
    )


@check(
    "kov.thm2.4",
    "kov.sec2.converse_surprising",
    expects="proved",
    verifies=("finite outcome sets; all slopes, hence the regions (support lines)",),
    smoke=True,
)
def post_processing(count: int = 200) -> Derivation:
    """``(sum_x T(y|x) a(x))^+ <= sum_x T(y|x) a(x)^+`` with ``a = P - slope Q``; sum over y."""

    def draw(source: Draw) -> dict[str, object]:
        p, q = source.law(4), source.law(4)
        return {"p": p, "q": q, "kernel": source.kernel(p, 3), "slope": source.fraction(0, 4)}

    def falls(p: Law, q: Law, kernel: dict[object, Law], slope: Fraction) -> bool:
        after = hockey_stick(post_process(p, kernel), post_process(q, kernel), slope)
        return after <= hockey_stick(p, q, slope)

    return argued(
        "finite sets: a weighted sum is at most the sum of its positive parts",
        *positive_parts(),
        random_cases("the hockey-stick divergence does not grow", count, draw, falls),
    )


@check("kov.sec4.hockey", "kov.sec6D.setB", expects="proved", smoke=True)
def best_set(count: int = 100) -> Derivation:
    """A set's ``P0 - e^e P1`` is a sum of atoms, at most the sum of their positive parts."""

    def draw(source: Draw) -> dict[str, object]:
        return {"p": source.law(5), "q": source.law(5), "slope": source.fraction(0, 4)}

    def attained(p: Law, q: Law, slope: Fraction) -> bool:
        sets = chain.from_iterable(combinations(p, n) for n in range(len(p) + 1))
        values = [sum((p[x] - slope * q[x] for x in s), Fraction(0)) for s in sets]
        best = sum((p[x] - slope * q[x] for x in p if p[x] >= slope * q[x]), Fraction(0))
        return max(values) == best == hockey_stick(p, q, slope)

    return argued(
        "finite sets: the positive parts bound every set, and {P0 >= e^e P1} collects exactly them",
        *positive_parts(),
        random_cases("the set of positive differences attains the maximum", count, draw, attained),
    )


@check("kov.cor2.3", expects="proved", assumes=("kov.thm2.1",), smoke=True)
def region_inclusion_is_privacy() -> Derivation:
    """The region (2) is convex: a hull lies inside iff its generating points do."""
    t, a, b, c, d, e = sympy.symbols("t a b c d E", positive=True)
    return argued(
        "a linear constraint at a mixture is the mixture of the constraints",
        identity(
            (t * a + (1 - t) * b) + e * (t * c + (1 - t) * d),
            t * (a + e * c) + (1 - t) * (b + e * d),
            {**dict.fromkeys((t, a, b, c, d), (0, 1)), e: (1, 9)},
        ),
    )


def abel_summation() -> tuple[Evidence, ...]:
    """``sum p_i a_i = p_N A_N + sum_{i<N} (p_i - p_{i+1}) A_i``, ``A_i = a_1 + ... + a_i``."""
    s, p, a, more, q = sympy.symbols("sum p_next a A p", real=True)
    box: dict[Any, Ends] = dict.fromkeys((s, p, a, more, q), (0, 1))
    return (
        identity(
            (s - q * more) + (q - p) * more + p * (more + a),
            s + p * a,
            box,
            text="N -> N+1: p_N A_N becomes (p_N - p_{N+1}) A_N + p_{N+1} A_{N+1}; the sum "
            "grows by p_{N+1} a_{N+1}",
        ),
        unfolds((1 - p) + (p - q) + (q - 0), 1, "the weights p_{i-1} - p_i telescope to 1"),
    )


@check("kov.rem2.2", "kov.sec6C.abel", "kov.sec6C.convex", expects="proved", smoke=True)
def randomised_rules() -> Derivation:
    """Sorted ``p_i`` make the rule a mixture of the sets ``S_1 u ... u S_i`` with weights >= 0."""
    q, b = sympy.symbols("q b", real=True)
    return argued(
        "Abel summation, by induction on N; MD by the complement",
        *abel_summation(),
        identity((1 - q) * b, b - q * b, {q: (0, 1), b: (0, 1)}, text="MD = 1 - sum p_i P1(S_i)"),
    )


@check("kov.sec2.accept_prob", expects="repaired", smoke=True)
def probability_of_rejecting() -> Derivation:
    """The rule with ``p = (1, 1)`` accepts always in words, rejects always in the formula."""
    masses = (Fraction(1, 3), Fraction(2, 3))
    return corrected(
        "slip",
        "read as the probability of accepting, p = (1, 1) never rejects; FA = sum p_i P0(S_i) is 1",
        "p_i is the probability of rejecting on S_i; with it section VI-C is right",
        certain(sum((1 - 1) * x for x in masses), "=", 0, "P(reject) under H0 if p = accepting"),
        certain(sum(1 * x for x in masses), "=", 1, "the formula's FA"),
        *abel_summation(),
    )


@check("kov.eq20", "kov.eq11", "kov.eq15", "kov.fig3.bottom", expects="proved", smoke=True)
def supporting_lines() -> Derivation:
    """With ``S`` where H1 is decided: ``FA = P0(S)``, ``MD = P1(S^c)``."""
    p, q, e = sympy.symbols("p q E", positive=True)
    return argued(
        "1 - FA = P0(S^c): the line is the definition of d_e, and at e = 0 the total variation",
        unfolds(
            p + e * (1 - q),
            1 - ((1 - p) - e * (1 - q)),
            "FA + e^e MD = 1 - (P0 - e^e P1)(S^c) >= 1 - d_e, with equality at the best set",
        ),
        unfolds(1 - (1 - q) - p, q - p, "1 - MD - FA = P1(S) - P0(S)"),
        step(
            "(1 - p) + E*q >= 1 - h",
            {"p": "real in [0, 1]", "q": "real in [0, 1]", "E": "real >= 1", "h": "real"},
            "h >= p - E*q",
        ),
    )


@check("kov.remA.1a", expects="proved", assumes=("kov.thm2.1",), smoke=True)
def weaker_parameters() -> Derivation:
    """For ``E' <= E`` the new constraint is a mixture of the two old ones; else it is weaker."""
    x, y, e, f, d = sympy.symbols("x y E F d", positive=True)
    alpha, beta = (e * f - 1) / (e**2 - 1), (e - f) / (e**2 - 1)
    big = Fraction(11, 10)
    box: dict[Any, Ends] = {x: (0, 1), y: (0, 1), e: (big, 9), f: (1, 9), d: (0, 1)}
    return argued(
        "y + E' x = alpha (y + E x) + beta (E y + x), alpha, beta >= 0 for 1 <= E' <= E",
        identity(alpha * (y + e * x) + beta * (e * y + x), y + f * x, box),
        identity(
            (alpha + beta) * (1 - d),
            (1 + f) * (1 - d) / (1 + e),
            box,
            text="alpha + beta = (1+E')/(1+E): the bound is 1-delta' by hypothesis",
        ),
        positive_coefficients(e * f - 1, {e: 1, f: 1}),
        identity(
            (y + f * x) - (y + e * x), (f - e) * x, box, text="E' >= E: weaker, delta' >= delta"
        ),
    )


@check("kov.eq2", "kov.fig1", expects="proved", smoke=True)
def the_region_drawn() -> Derivation:
    """The corners of R(eps, delta) and the line of total variation through the middle one."""
    e, d = sympy.symbols("E d", positive=True)
    box: dict[Any, Ends] = {e: (1, 9), d: (0, 1)}
    c = (1 - d) / (1 + e)
    return argued(
        "corners (0, 1-delta), (c, c), (1-delta, 0), c = (1-delta)/(1+e^eps), and FA + MD = 2c",
        identity(c + e * c, 1 - d, box, text="both constraints are tight at (c, c)"),
        unfolds((1 - d) + e * 0, 1 - d, "FA + e^eps MD is tight at (0, 1-delta)"),
        identity(1 - 2 * c, d + (1 - d) * (e - 1) / (e + 1), box, text="the line (20) is at 2c"),
    )


@check("kov.fig1.symmetry", expects="refuted", smoke=True)
def the_region_is_not_symmetric() -> Derivation:
    """The mirror image of (1, 1) at ``FA + MD = 1`` is (0, 0)."""
    e, d = Fraction(2), Fraction(1, 10)
    return contradicted(
        {"point": "(1, 1)", "mirror image": "(0, 0)", "e^eps": e, "delta": d},
        "(1, 1) satisfies both inequalities of (2), its mirror image none",
        certain(1 + e, ">=", 1 - d, "1 + e^eps >= 1 - delta"),
        certain(0 + e * 0, "<", 1 - d, "0 < 1 - delta"),
    )


@check("kov.app.tv_identity", "kov.remA.1b", expects="proved", smoke=True)
def total_variation() -> Derivation:
    """The total variation of the canonical pair, which dominates every other one."""
    e, d = sympy.symbols("E d", positive=True)
    corner = (1 - d) / (1 + e)
    largest = hockey_stick(*kov_pair(Fraction(2), Fraction(1, 10)), 1)
    return argued(
        "the corner of the region, and the two forms are one rational function",
        identity(1 - 2 * corner, d + (1 - d) * (e - 1) / (e + 1), {e: (1, 9), d: (0, 1)}),
        certain(largest, "=", Fraction(2, 5), "at e^eps = 2, delta = 1/10 the pair attains 2/5"),
    )
