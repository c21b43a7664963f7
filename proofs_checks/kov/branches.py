"""Theorems III.2, III.4 and III.5: the three branches, proved for different mechanisms.

``m = sum eps_l tanh(eps_l/2)`` and ``a^2 = sum eps_l^2``; with equal mechanisms ``m = k eps
tanh(eps/2)`` and ``a = sqrt(k) eps``. All branches bound the profile of the product of canonical
pairs without their ``delta_l``, which equation (18) puts back.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import sympy

from proofs_checks.evidence import Evidence
from proofs_checks.kov.mechanisms import tanh_is_below_its_argument
from proofs_checks.prover.intervals import Ends
from proofs_checks.prover.numbers import certain
from proofs_checks.prover.polynomials import bernstein, positive_coefficients
from proofs_checks.prover.symbolic import identity, unfolds
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued

_STEPS: Final = (
    "kov.eq17.pointwise_inequality",
    "kov.sec6D.hoeffding",
    "kov.eq18",
    "kov.sec6E.mgf_power",
    "kov.sec4.dominates_all",
    "kov.eq14",
)


def chernoff(exponent: Any = None) -> tuple[Evidence, ...]:
    """``delta(m + c) <= exp(-c^2/(2 a^2))/(1 + c/a^2)``: equation (17), Hoeffding, the best lam."""
    lam, c, a, m = sympy.symbols("lam c a m", positive=True)
    exponent = -lam * (m + c) + lam * m + lam**2 * a**2 / 2 if exponent is None else exponent
    box: dict[Any, Ends] = {
        lam: (Fraction(1, 10), 4),
        c: (0, 4),
        a: (Fraction(1, 10), 4),
        m: (0, 4),
    }
    prefactor = lam * sympy.log(lam) - (lam + 1) * sympy.log(lam + 1)
    return (
        identity(
            exponent,
            a**2 / 2 * (lam - c / a**2) ** 2 - c**2 / (2 * a**2),
            box,
            text="-lam e + lam m + lam^2 a^2/2 = a^2/2 (lam - c/a^2)^2 - c^2/(2a^2) at e = m + c",
        ),
        identity(
            prefactor,
            -lam * sympy.log((lam + 1) / lam) - sympy.log(lam + 1),
            {lam: (Fraction(1, 10), 4)},
            text="lam log lam - (lam+1) log(lam+1) <= -log(lam+1): the prefactor 1/(1+lam)",
        ),
    )


def single_letter() -> tuple[Evidence, ...]:
    """The moment of one canonical loss, and ``2p - 1 = tanh(eps/2)`` in Hoeffding's bound."""
    eps, lam = sympy.symbols("eps lam", positive=True)
    p = sympy.exp(eps) / (1 + sympy.exp(eps))
    box: dict[Any, Ends] = {eps: (Fraction(1, 10), 4)}
    moment = p * sympy.exp(lam * eps) + (1 - p) * sympy.exp(-lam * eps)
    return (
        identity(2 * p - 1, sympy.tanh(eps / 2), box, text="2p - 1 = tanh(eps/2)"),
        identity(
            moment,
            (sympy.exp((1 + lam) * eps) + sympy.exp(-lam * eps)) / (1 + sympy.exp(eps)),
            {**box, lam: (0, 3)},
            text="E e^(lam log P0/P1) = (e^((1+lam) eps) + e^(-lam eps))/(1 + e^eps)",
        ),
    )


@check(
    "kov.sec6D.lambda",
    "kov.sec6D.chain_drop",
    "kov.sec6E.bound",
    expects="proved",
    assumes=("kov.eq17.pointwise_inequality", "kov.sec6D.hoeffding"),
)
def chernoff_chain() -> Derivation:
    """The quadratic in lam is least at ``lam = c/a^2 >= 0``, with the value ``-c^2/(2a^2)``."""
    return argued("completed square; log((lam+1)/lam) >= 0", *chernoff(), *single_letter())


@check(
    "kov.thm3.4.branch2",
    "kov.sec6D.chain_plug",
    "kov.sec6D.rhs",
    expects="proved",
    assumes=_STEPS,
    verifies=("the best lam", "log(e+u) >= 1 for u >= 0", "the final inequality"),
    smoke=True,
)
def branch_two(slope: Fraction | int = 1) -> Derivation:
    """``c = a sqrt(2L)``, ``L = log(e + a/dt)``: the bound is ``a dt/((a+s)(e dt+a))``.

    Here ``s = sqrt(2L) >= 1``, so ``(a+s)(e dt+a) >= a s >= a`` and the bound is at most ``dt``.
    """
    return argued("the chain of section VI-D with the corrected last line", *plugged_in(slope))


def plugged_in(slope: Fraction | int = 1) -> tuple[Evidence, ...]:
    """The chain at ``c = a sqrt(2L)``; ``slope`` is the least value of ``sqrt(2L)``."""
    a, dt, s, g = sympy.symbols("a dt s g", positive=True)
    box: dict[Any, Ends] = {a: (Fraction(1, 10), 9), dt: (Fraction(1, 100), 1), s: (1, 5)}
    log_term = sympy.log(sympy.E + a / dt)
    return (
        *chernoff(),
        unfolds(
            sympy.exp(-((a * sympy.sqrt(2 * log_term)) ** 2) / (2 * a**2)),
            1 / (sympy.E + a / dt),
            "exp(-c^2/(2a^2)) = 1/(e + a/dt)",
        ),
        identity(
            1 / (1 + a * s / a**2) / (g + a / dt),
            a * dt / ((a + s) * (g * dt + a)),
            {**box, g: (2, 3)},
            text="1/(1 + c/a^2) 1/(g + a/dt) = a dt/((a+s)(g dt+a)), g = e",
        ),
        certain(sympy.sqrt(2), ">", 1, "s = sqrt(2L) >= sqrt 2 > 1, as L >= log e"),
        positive_coefficients((a + s) * (g * dt + a) - a, {a: 0, dt: 0, g: 0, s: slope}),
    )


@check(
    "kov.thm3.4.branch3",
    "kov.sec6D.third",
    "kov.sec6E.third",
    expects="proved",
    assumes=_STEPS,
    smoke=True,
)
def branch_three() -> Derivation:
    """``c = a sqrt(2 log(1/dt))``: the exponential is ``dt`` and ``1/(1+lam) <= 1``."""
    return argued("the exponential is dt, its prefactor at most 1", *third_branch())


def third_branch() -> tuple[Evidence, ...]:
    """The chain at ``c = a sqrt(2 log(1/dt))``."""
    a, dt = sympy.symbols("a dt", positive=True)
    lam = sympy.Symbol("lam")
    return (
        *chernoff(),
        unfolds(
            sympy.exp(-(a**2 * 2 * sympy.log(1 / dt)) / (2 * a**2)), dt, "exp(-c^2/(2a^2)) = dt"
        ),
        positive_coefficients((1 + lam) - 1, {lam: 0}),
    )


@check("kov.thm3.4.branch1", expects="proved", assumes=("kov.thm3.3",), smoke=True)
def branch_one() -> Derivation:
    """At ``k eps`` no product outcome has a larger likelihood ratio: ``delta_0 = 0``."""
    e, u = sympy.symbols("E u", positive=True)
    return argued(
        "E^(k-j) <= E^k E^j for every j: with u = E^j >= 1, E^k - E^k/u^2 >= 0",
        positive_coefficients((u**2 - 1) * e, {u: 1, e: 1}),
    )


@check(
    "kov.thm3.4",
    "kov.thm3.5",
    "kov.thm3.5.sum_rule",
    expects="proved",
    assumes=("kov.thm3.4.branch1", *_STEPS),
    verifies=("each branch is a bound alone, so the least is", "equal mechanisms give (7)"),
    smoke=True,
)
def optimal_bounds() -> Derivation:
    """Branches 2 and 3 with ``m``, ``a`` of different mechanisms; ``eps_l = eps`` gives (7)."""
    k, eps, d, s, rest = sympy.symbols("k eps d s rest", positive=True)
    return argued(
        "the chain for m = sum eps_l tanh(eps_l/2), a^2 = sum eps_l^2; delta grows with the slack",
        *plugged_in(),
        *third_branch(),
        unfolds(
            sympy.sqrt(k * eps**2) * sympy.sqrt(2 * s),
            eps * sympy.sqrt(2 * k * s),
            "a sqrt(2 L) = eps sqrt(2 k L) for equal mechanisms",
        ),
        identity(
            (1 - rest * (1 - s)) - (1 - rest * (1 - d)),
            rest * (s - d),
            {s: (0, 1), d: (0, 1), rest: (0, 1)},
            text="1 - prod(1-delta_l)(1-x) increases in x",
        ),
    )


@check(
    "kov.thm3.2",
    expects="proved",
    assumes=("kov.thm3.4.branch3", "kov.sec3B.delta_strict"),
    smoke=True,
)
def advanced_composition() -> Derivation:
    """(4) is weaker than branch 3: ``tanh(eps/2) <= e^eps - 1``, and its delta is larger."""
    eps, e, d, s = sympy.symbols("eps E d s", positive=True)
    return argued(
        "implied by branch 3",
        identity(
            sympy.exp(eps) - 1 - sympy.tanh(eps / 2),
            (sympy.exp(eps) - 1) * sympy.exp(eps) / (sympy.exp(eps) + 1),
            {eps: (Fraction(1, 100), 5)},
        ),
        positive_coefficients((e - 1) * e, {e: 1}),
        bernstein(s * d, {s: (0, 1), d: (0, 1)}),
    )


@check("kov.thm3.4.selection", expects="proved", smoke=True)
def which_branch_is_least() -> Derivation:
    """Both comparisons are between arguments of increasing functions."""
    a, dt, eps, e, k, size = sympy.symbols("a dt eps E k ell", positive=True)
    box: dict[Any, Ends] = {a: (0, 2), dt: (Fraction(1, 100), 1)}
    gap = 1 - sympy.tanh(eps / 2)
    return argued(
        "the square roots and logarithms increase; multiply by dt > 0, square, divide by k eps^2",
        identity((1 / dt - (sympy.E + a / dt)) * dt, 1 - (sympy.E * dt + a), box),
        identity(gap, 2 / (sympy.exp(eps) + 1), {eps: (Fraction(1, 10), 5)}),
        identity(
            (k * eps * e) ** 2 - (eps * sympy.sqrt(2 * k * size)) ** 2,
            k * eps**2 * (k * e**2 - 2 * size),
            {k: (1, 9), eps: (Fraction(1, 10), 2), e: (0, 1), size: (0, 9)},
            text="(k eps g)^2 - eps^2 2 k l = k eps^2 (k g^2 - 2 l), g = 2/(e^eps+1)",
        ),
    )


@check("kov.thm3.4.simplified", "kov.intro.new_bigO", expects="proved", smoke=True)
def simplified_bound() -> Derivation:
    """``tanh(eps/2) <= eps/2``: constants 1/2 and sqrt 2, for all eps, k, slack."""
    k, eps, size = sympy.symbols("k eps L", positive=True)
    return argued(
        "k eps tanh(eps/2) <= k eps^2/2, the other terms are unchanged",
        *tanh_is_below_its_argument(),
        unfolds(
            k * eps * (eps / 2) + eps * sympy.sqrt(2 * k * size),
            k * eps**2 / 2 + sympy.sqrt(2) * (eps * sympy.sqrt(k * size)),
        ),
    )


@check("kov.thm3.4.dt0", expects="proved", smoke=True)
def no_slack() -> Derivation:
    """Slack ``exp(-t)``: from some t on ``k eps`` is least; at slack 0 the others are infinite."""
    t, k, gap = sympy.symbols("t k g", positive=True)
    return argued(
        "log(1/dt) = t passes every bound; from t >= k/2 on the least branch is k eps",
        unfolds(sympy.log(1 / sympy.exp(-t)), t),
        identity(
            2 * (k / 2 + t) - k * (1 - gap),
            2 * t + k * gap,
            {t: (1, 9), k: (1, 9), gap: (0, 1)},
            text="2 log(1/dt) >= k g^2 for log(1/dt) >= k/2 and g <= 1 (selection rule)",
        ),
        positive_coefficients(2 * t + k * gap, {t: 0, k: 0, gap: 0}),
    )


@check("kov.sec3B.slack_order", expects="proved", assumes=("kov.thm3.4.branch2",), smoke=True)
def slack_of_the_order_of_a() -> Derivation:
    """``dt = c a``: branch 2 is at most ``(1/2 + sqrt(2 log(e + 1/c))) a`` for ``a <= 1``."""
    a, c, s = sympy.symbols("a c s", positive=True)
    return argued(
        "the logarithm no longer depends on a; a^2 <= a",
        *tanh_is_below_its_argument(),
        unfolds(a / (c * a), 1 / c),
        bernstein((a / 2 + s * a) - (a**2 / 2 + s * a), {a: (0, 1), s: (0, 1)}),
    )
