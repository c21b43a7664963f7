"""The central limit theorems of the talk, and the rate for pure differential privacy."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import comb
from typing import Any, Final

import sympy

import dpexact
from dpexact import balls
from dpexact.enclosure import Enclosure
from proofs_checks.evidence import Evidence
from proofs_checks.prover.enumeration import compose, every, kov_pair, smallest_delta
from proofs_checks.prover.expressions import phi, rational
from proofs_checks.prover.intervals import Ends, prove
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.polynomials import positive_coefficients
from proofs_checks.prover.symbolic import identity, limit, unfolds
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued, argued_on, contradicted

_DELTA: Final = "dpexact.accounting.queries.delta"
_EPSILON: Final = "dpexact.accounting.queries.epsilon"
_TRADEOFF: Final = "dpexact.accounting.tradeoff_of.tradeoff"
_MUS: Final = (Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4))
_STEPS: Final = (10, 40, 160)
#: The delta of the product at its largest loss.
_NONE: Final = Enclosure.exact(Fraction(0))


@check(
    "slides.clt_general",
    expects="refuted",
    verifies=("the product of f_{0,c} and f_{0,d}", "every k >= 2 and every mu"),
    smoke=True,
)
def closeness_is_not_enough(bound: Fraction = Fraction(1, 2)) -> Derivation:
    """``f_{0,d}`` reveals the data with probability d, so k of them are ``f_{0, 1-(1-d)^k}``."""
    c, d, u, k = sympy.symbols("c d u k", positive=True)
    level, steps = Fraction(1, 2), 3
    found = smallest_delta(compose(*[kov_pair(1, Fraction(1, steps))] * steps), 1)
    return contradicted(
        {"f_ki": "f_{0,1/k}, at distance 1/k from Id", "a": level},
        "for every k >= 2 the product is f_{0,d} with d >= 1 - 1/e, which is 0 at a = 1/2, where "
        "every G_mu is positive",
        identity(
            1 - (1 - c) * (1 - d),
            c + (1 - c) * d,
            {c: (0, 1), d: (0, 1)},
            text="the data are revealed by the first or by the second mechanism",
        ),
        certain(found, "=", 1 - Fraction(2, 3) ** 3, "k = 3: the product has delta = 19/27"),
        unfolds(k * (1 / k), 1, "k log(1 - 1/k) <= -1, from log(1-u) <= -u"),
        prove(-u - sympy.log(1 - u), ">=", {u: (0, Fraction(1, 2))}, touch=[(u, 0, 2)]),
        certain(sympy.exp(-1), "<", bound, "(1 - 1/k)^k <= 1/e < 1/2"),
    )


@check(
    "slides.clt_uniform", expects="proved", verifies=("the step from a grid to [0, 1]",), smoke=True
)
def pointwise_convergence_is_uniform() -> Derivation:
    """Between grid points ``x0 <= x <= x1`` both functions fall; take g's steps and the distances
    on the grid below eta: everywhere ``|f - g| <= 2 eta``.

    ``f(x) = f0 - u`` with ``u >= 0`` and ``g(x) = g1 + v``; likewise ``f1 + u`` and ``g0 - v``.
    """
    f0, f1, g0, g1, u, v = sympy.symbols("f0 f1 g0 g1 u v", positive=True)
    return argued(
        "monotone functions between the points of a grid; the limit is uniformly continuous",
        unfolds((f0 - g0) + (g0 - g1) - ((f0 - u) - (g1 + v)), u + v),
        unfolds((g1 - f1) + (g0 - g1) - ((g0 - v) - (f1 + u)), u + v),
        positive_coefficients(u + v, {u: 0, v: 0}),
    )


@check(
    "slides.clt_mu",
    "slides.proof.limits",
    expects="certified",
    assumes=("the central limit theorem of Lindeberg and Lyapunov",),
    verifies=("means and variances under both hypotheses, and the limit of the shift",),
)
def shift_of_the_limit(factor: int = 2) -> Derivation:
    """For ``eps = mu/sqrt k``: the loss is ``+-eps``, its mean ``+-eps tanh(eps/2)``.

    Its variance is ``eps^2/cosh^2(eps/2)`` under both, so the shift in standard deviations is
    ``2 sqrt k sinh(eps/2) = mu sinh(x)/x`` at ``x = mu/(2 sqrt k)``.
    """
    eps, k, x, m = sympy.symbols("eps k x mu", positive=True)
    p = sympy.exp(eps) / (1 + sympy.exp(eps))
    box: dict[Any, Ends] = {eps: (Fraction(1, 10), 3), k: (1, 99)}
    mean = eps * sympy.tanh(eps / 2)
    deviation = eps / sympy.cosh(eps / 2)
    shift = factor * sympy.sqrt(k) * sympy.sinh(eps / 2)
    return argued_on(
        "randomized response, eps = mu/sqrt k: means, variances and the limit mu of the shift",
        identity(p * eps - (1 - p) * eps, mean, box, text="the mean of the loss"),
        identity(p * eps**2 + (1 - p) * eps**2 - mean**2, deviation**2, box, text="its variance"),
        identity(2 * k * mean / (sympy.sqrt(k) * deviation), shift, box),
        identity(
            sympy.Subs(sympy.Subs(shift, eps, m / sympy.sqrt(k)), k, (m / (2 * x)) ** 2),
            m * sympy.sinh(x) / x,
            {m: (Fraction(1, 2), 4), x: (Fraction(1, 10), 1)},
        ),
        limit(sympy.sinh(x) / x, x, 0, sympy.Integer(1)),
    )


@check(
    "slides.clt_eps",
    expects="refuted",
    assumes=("TV^2 <= 1 - BC^2 (Cauchy-Schwarz), BC the Bhattacharyya coefficient",),
    verifies=("for every k, whatever the constant c",),
    smoke=True,
)
def wrong_scaling(mu: int = 4) -> Derivation:
    """With ``eps = sqrt(mu/k)`` the total variation of the product is bounded away from G_mu's.

    ``BC = cosh(eps/2)^-k >= e^(-k eps^2/8) = e^(-mu/8)``. The printed upper bound would give a
    total variation of at least ``1 - 2 Phi(-mu/2) - 2 c/k``. ``eps = mu/sqrt k`` is right.
    """
    x, eps = sympy.symbols("x eps", positive=True)
    p = sympy.exp(eps) / (1 + sympy.exp(eps))
    gap = x**2 / 2 - sympy.log(sympy.cosh(x))
    box: dict[Any, Ends] = {x: (Fraction(1, 10), 4)}
    total = 1 - 2 * phi(-sympy.Integer(mu) / 2)
    return contradicted(
        {"mu": mu, "k": "all large k, for every c"},
        "the total variation of the k-fold product is below 0.80 for every k, that of G_4 is above "
        "0.95; the scaling must be eps = mu/sqrt k",
        identity(
            2 * sympy.sqrt(p * (1 - p)),
            1 / sympy.cosh(eps / 2),
            {eps: (Fraction(1, 10), 3)},
            text="BC of one response is 1/cosh(eps/2)",
        ),
        identity(sympy.Derivative(gap, x), x - sympy.tanh(x), box),
        identity(sympy.Derivative(x - sympy.tanh(x), x), sympy.tanh(x) ** 2, box),
        certain(
            sympy.sqrt(1 - sympy.exp(-rational(Fraction(mu, 4)))),
            "<",
            Fraction(4, 5),
            "sqrt(1 - e^(-mu/4)) < 0.80",
        ),
        certain(total, ">", Fraction(19, 20), "1 - 2 Phi(-mu/2) > 0.95"),
    )


@check("slides.clt_eps.domain", expects="refuted", smoke=True)
def argument_outside_of_the_domain() -> Derivation:
    """``G_mu(a + c/k)`` has an argument above 1 at ``a = 1``, whatever ``c > 0`` is."""
    h, c = sympy.symbols("h c", positive=True)
    return contradicted(
        {"a": 1, "c": "any", "k": "any"},
        "a + c/k > 1, where G_mu is not defined; the bounds need c/k <= a <= 1 - c/k, c = c(mu)",
        unfolds((1 + h) - 1, h, "a + c/k - 1 = c/k at a = 1"),
        positive_coefficients(1 + c, {c: 0}, strict=True),
    )


@check(
    "slides.clt_eps.corrected",
    "slides.berry_esseen",
    expects="certified",
    assumes=("the product is the maximum of its lines, G_mu of its supporting lines",),
    about=(_DELTA, _TRADEOFF),
)
def corrected_scaling(c: Fraction = Fraction(81, 1000)) -> Derivation:
    """``G_mu(a + c/k) - c/k <= f(a) <= G_mu(a - c/k) + c/k`` for all a, with ``eps = mu/sqrt k``.

    Left: G_mu is convex and f a polygon, so the corners decide. Right: each line of f stays below
    ``G_mu`` shifted iff ``delta_G - delta_f <= (1 + e^eps') c/k`` at its slope ``-e^eps'``; the
    shift is along the diagonal and both are symmetric, so ``eps' >= 0`` suffices.
    """
    cases = ({"mu": mu, "k": k} for mu, k in product(_MUS, _STEPS))
    return argued_on(
        "mu = 1/2, 1, 2, 4 and k = 10, 40, 160, with c = 0.081: distance at most c/k each way",
        every("the twelve cases", cases, lambda mu, k: _within(mu, k, c / k)),
    )


@check("slides.fig_10fold", expects="proved", about=(_EPSILON,), smoke=True)
def tenfold_composition() -> Derivation:
    """The curve's epsilon, printed as 2.89 in the Gaussian-DP paper."""
    found = dpexact.epsilon("pure_dp(1/sqrt(10))^10", "1/1000", digits=10)
    return argued(
        "the exact epsilon of the composition at delta = 0.001 is 2.88967, printed as 2.89",
        certain(found, ">", Fraction("2.88967"), "epsilon > 2.88967"),
        certain(found, "<", Fraction("2.88968"), "epsilon < 2.88968"),
    )


def _within(mu: Fraction, k: int, shift: Fraction) -> bool:
    limiting = dpexact.tradeoff(f"gdp({mu})")
    facts: list[Evidence] = []
    for a, b in _corners(mu, k):
        at = Fraction(a.lower) + shift
        if at <= 1:
            allowed = Fraction(b.lower) + shift
            facts.append(certain(limiting(at), "<=", allowed, "a corner is above G shifted"))
    for i in range(k // 2 + 1):
        slope = f"{mu * (k - 2 * i)}/sqrt({k})" if 2 * i < k else 0
        g = dpexact.delta(f"gdp({mu})", slope, digits=14)
        f = dpexact.delta(f"pure_dp({mu}/sqrt({k}))^{k}", slope, digits=14) if i else _NONE
        room = (1 + sympy.exp(rational(mu * (k - 2 * i)) / sympy.sqrt(k))) * rational(shift)
        gap = Fraction(g.upper) - Fraction(f.lower)
        facts.append(certain(gap, "<=", room, "a line is below G shifted"))
    return len(facts) > k // 2


def _corners(mu: Fraction, k: int) -> Iterator[tuple[Enclosure, Enclosure]]:
    """``(a, b)``: ``P(X >= j)`` and ``Q(X < j)``, X binomial with ``1/(1+e^eps)`` under P."""
    with balls.precision(256):
        growth = (balls.ball(mu) / balls.ball(Fraction(k)).sqrt()).exp()
        q = 1 / (1 + growth)
        p = growth * q
        total = balls.ball(Fraction(0))
        tails = [total]  # P(X >= k + 1), P(X >= k), ..., P(X >= 0)
        for i in range(k, -1, -1):
            total += comb(k, i) * q**i * p ** (k - i)
            tails.append(total)
        corners = [
            (balls.to_enclosure(tails[n]), balls.to_enclosure(tails[k + 1 - n]))
            for n in range(k + 2)
        ]
    return iter(corners)
