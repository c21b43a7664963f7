"""The statements of the paper on exact polygons: random cases beside the general arguments.

They try the library's calculus of trade-off functions, and the sentences in which an argument turns
its identities into the statement.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise, product
from typing import Any, Final, TypeAlias

from dpexact.tradeoffs import PiecewiseLinear, conjugate, convex_hull, symmetrised, violation
from dpexact.tradeoffs.guarantees import Guarantee, of_guarantee, of_guarantees
from dpexact.tradeoffs.piecewise import of_pair
from dpexact.tradeoffs.subsampling import group, mixed, subsampled
from proofs_checks.evidence import Evidence
from proofs_checks.prover.enumeration import Draw, Law, beta_at, post_process, random_cases
from proofs_checks.prover.enumeration import tradeoff as corners

Curve: TypeAlias = PiecewiseLinear

#: The library's functions that these cases try, for ``about``.
CALCULUS: Final = (
    "dpexact.tradeoffs.piecewise.of_pair",
    "dpexact.tradeoffs.convex.convex_hull",
    "dpexact.tradeoffs.convex.maximum",
)
SAMPLING: Final = (
    "dpexact.tradeoffs.subsampling.mixed",
    "dpexact.tradeoffs.subsampling.subsampled",
)


def curve(p: Law, q: Law) -> Curve:
    """``T(P, Q)``."""
    outcomes = sorted(p.keys() | q.keys())
    zero = Fraction(0)
    return of_pair([p.get(x, zero) for x in outcomes], [q.get(x, zero) for x in outcomes])


def below(f: Curve, g: Curve) -> bool:
    """Whether ``f <= g`` everywhere, exactly."""
    return violation(f, g) is None


def on_curves(
    text: str, holds: Callable[..., bool], count: int = 30, *, symmetric: bool = False
) -> Evidence:
    """``holds(f, g, p)`` for random f, g of at most four atoms, symmetrised on request."""

    def draw(source: Draw) -> dict[str, Any]:
        f, g = (curve(source.law(4), source.law(4)) for _ in range(2))
        if symmetric:
            f, g = symmetrised(f), symmetrised(g)
        return {"f": f, "g": g, "p": source.fraction()}

    return random_cases(text, count, draw, holds)


def on_laws(text: str, holds: Callable[..., bool], count: int = 30) -> Evidence:
    """``holds(p, q, r, kernel)`` for random laws on four outcomes and maps to three."""

    def draw(source: Draw) -> dict[str, Any]:
        p, q, r = (source.law(4) for _ in range(3))
        return {"p": p, "q": q, "r": r, "kernel": source.kernel(p, 3)}

    return random_cases(text, count, draw, holds)


def neyman_pearson(p: Law, q: Law, r: Law, kernel: object) -> bool:
    """The corners of ``T(P,Q)`` by the ratio order, against the best of all 16 sets."""
    del r, kernel
    f = corners(p, q)
    sets = [set(s) for n in range(5) for s in combinations(p, n)]
    zero = Fraction(0)
    errors = [(sum((p[x] for x in s), zero), 1 - sum((q[x] for x in s), zero)) for s in sets]
    found = curve(p, q)
    return all(b >= beta_at(f, a) for a, b in errors) and all(
        found.value(a) == b for a, b in f if a
    )


def exchanged(p: Law, q: Law, r: Law, kernel: object) -> bool:
    """``T(Q,P) = T(P,Q)^-1``, and the inverse is ``inf{t: f(t) <= a}`` at the corners."""
    del r, kernel
    f, back = curve(p, q), curve(q, p)
    levels = [a for a, _ in corners(q, p)]
    first = [min((t for t, b in corners(p, q) if b <= a), default=None) for a in levels]
    reached = all(t is None or back.value(a) <= t for a, t in zip(levels, first, strict=True))
    return f.inverse() == back and back.inverse() == f and reached


def processed(p: Law, q: Law, r: Law, kernel: dict[object, Law]) -> bool:
    """``T(P, Q) <= T(Proc P, Proc Q)``."""
    del r
    return below(curve(p, q), curve(post_process(p, kernel), post_process(q, kernel)))


def chained(p: Law, q: Law, r: Law, kernel: object) -> bool:
    """Theorem 3 along ``P, Q, R``."""
    del kernel
    f, g = curve(p, q), curve(q, r)
    least = convex_hull([*f.vertices, *g.vertices])
    return below(group(least, 2), curve(p, r))


def fixed_point(f: Curve) -> Fraction:
    """Where ``f(x) = x``."""
    for (a, b), (c, d) in pairwise((Fraction(str(v.alpha)), Fraction(str(v.beta))) for v in f.path):
        if a != c and b >= a and d <= c:
            return (b * (c - a) - a * (d - b)) / ((c - a) - (d - b))
    return Fraction(0)


def in_three_pieces(f: Curve, g: Curve, p: Fraction) -> bool:
    """Equation (13) against the convex hull, at its corners and between them."""
    del g
    below_p, hull = mixed(f, p), subsampled(f, p)
    star = fixed_point(f)
    end = below_p.value(star)
    marks = sorted({Fraction(str(v.alpha)) for v in hull.vertices} | {star, Fraction(1)})
    marks = sorted({*marks, *((a + b) / 2 for a, b in pairwise(marks))})

    def formula(x: Fraction) -> Any:
        if x <= star:
            return below_p.value(x)
        return star + end - x if x <= end else below_p.inverse().value(x)

    return all(hull.value(x) == formula(x) for x in marks)


def by_guarantees(f: Curve, g: Curve, p: Fraction) -> bool:
    """The collection ``(eps', p delta(eps))`` has the supremum ``C_p(f)``."""
    del g
    levels = {Fraction(1)} | {Fraction(str(s)) for s in f.steepness if s is not None and s >= 1}
    found = [Guarantee(1 - p + p * e, p * (1 + conjugate(f, -e))) for e in levels]
    return of_guarantees(found) == subsampled(f, p)


def without_symmetry(f: Curve, g: Curve, p: Fraction) -> bool:
    """Proposition 8 for a function f that need not be symmetric."""
    del g, p
    levels = {Fraction(1)} | {Fraction(str(s)) for s in f.steepness if s is not None and s >= 1}
    best = of_guarantees([Guarantee(e, 1 + conjugate(f, -e)) for e in levels])
    xbar = next(
        v.alpha for v, s in zip(f.path, f.steepness, strict=False) if s is not None and s <= 1
    )
    if not f.value(xbar) >= xbar:
        return True
    return below(convex_hull([*f.vertices, *f.inverse().vertices]), best)


def corollary_three(power: int) -> Evidence:
    """Corollary 3 with the factor ``(1-delta)^power`` against the convex hull."""

    def draw(source: Draw) -> dict[str, Any]:
        return {"e": 1 + source.fraction(0, 4), "d": source.fraction(), "p": source.fraction()}

    def agrees(e: Fraction, d: Fraction, p: Fraction) -> bool:
        hull = subsampled(of_guarantee(Guarantee(e, d)), p)
        two = of_guarantee(Guarantee(1 - p + p * e, p * d))
        start = 1 - p * d - p * (1 - d) ** power * (e - 1) / (e + 1)
        levels = [Fraction(i, 24) for i in range(1, 25)]
        return all(hull.value(a) == max(two.value(a), start - a) for a in levels)

    return random_cases("the corrected (14) is the convex hull", 60, draw, agrees)


def sampled_mechanisms(count: int = 20, *, ordered: bool = False) -> Evidence:
    """Random mechanisms on two records out of ``{0, 1}``, sampled from data sets of three.

    ``ordered``: the mechanism may depend on the order that the sample inherits from the data set;
    then the theorem fails, because replacing a record of the sample may move the others.
    """
    samples = list(product((0, 1), repeat=2))

    def draw(source: Draw) -> dict[str, Any]:
        laws = {s: source.law(2) for s in samples}
        return {"mechanism": laws if ordered else {s: laws[min(s), max(s)] for s in samples}}

    def holds(mechanism: dict[tuple[int, ...], Law]) -> bool:
        near = [(s, t) for s in samples for t in samples if _one_apart(s, t)]
        least = convex_hull(
            [v for s, t in near for v in curve(mechanism[s], mechanism[t]).vertices]
        )
        bound = subsampled(least, Fraction(2, 3))
        sets = list(product((0, 1), repeat=3))
        laws = {s: _mean([mechanism[c] for c in combinations(s, 2)]) for s in sets}
        return all(
            below(bound, curve(laws[s], laws[t])) for s in sets for t in sets if _one_apart(s, t)
        )

    return random_cases("Theorem 9 for m = 2, n = 3", count, draw, holds)


def _one_apart(s: tuple[int, ...], t: tuple[int, ...]) -> bool:
    return sum(a != b for a, b in zip(s, t, strict=True)) == 1


def _mean(laws: list[Law]) -> Law:
    return {x: sum((law[x] for law in laws), Fraction(0)) / len(laws) for x in laws[0]}
