"""Tails of the binomial distribution as balls."""

from __future__ import annotations

import math

from flint import arb

from dpexact import balls


def binomial_tail(count: int, m: int, success: arb, failure: arb) -> arb:
    r"""Enclose ``Pr[Bin(count, success) >= m]`` for ``1 <= m <= count``; ``failure = 1 - success``.

    It is the regularised incomplete beta function ``I_success(m, count - m + 1)``, whose cost
    hardly depends on ``count`` but grows with about the fourth power of the precision. Summing
    terms costs about ``sqrt(count * precision)`` of them. The cheaper of the two is taken.
    """
    if math.isqrt(count * balls.current()) < (balls.current() // 19) ** 4:
        return _by_terms(count, m, success, failure)
    return _by_beta(count, m, success, failure)


def _by_beta(count: int, m: int, success: arb, failure: arb) -> arb:
    """The complement is used where it is the more accurate (``success`` close to 1)."""
    a, b = arb(m), arb(count - m + 1)
    direct = success.beta_lower(a, b, regularized=True)
    if direct.is_finite() and direct.rel_accuracy_bits() > 30:
        return direct
    other = 1 - failure.beta_lower(b, a, regularized=True)
    if not direct.is_finite():
        return other
    return direct if direct.rel_accuracy_bits() >= other.rel_accuracy_bits() else other


def _by_terms(count: int, m: int, success: arb, failure: arb) -> arb:
    """The sum of the terms on the side of ``m`` away from the mode."""
    if (count - m) * success < (m + 1) * failure:
        return _falling_terms(count, m, success, failure)
    return 1 - _falling_terms(count, count - m + 1, failure, success)


def _falling_terms(count: int, m: int, success: arb, failure: arb) -> arb:
    """Sum from ``j = m`` on; ratios of terms fall, so a geometric series bounds what is left."""
    odds = success / failure
    term = _binomial(count, m) * success**m * failure ** (count - m)
    total = term
    negligible = arb(2) ** -balls.current()
    for j in range(m, count):
        ratio = (count - j) * odds / (j + 1)
        if j % 32 == 0 and ratio < 1:
            rest = term * ratio / (1 - ratio)
            if rest < negligible * total:
                return total + arb(0).union(rest)
        term *= ratio
        total += term
    return total


def _binomial(count: int, m: int) -> arb:
    smaller = min(m, count - m)
    return (arb(count - smaller + 1)).rising(smaller) / arb(smaller + 1).gamma()
