"""Controls: the same formulas without the mistake; every claim must be sound or accurate."""

from fractions import Fraction
from math import erfc, exp, expm1, log, log1p, sqrt


def basic_composition():
    """``k (eps, delta)``-DP mechanisms are ``(k eps, k delta)``-DP."""
    eps, delta, k = Fraction(1, 10), Fraction(1, 10**6), 10
    return [(f"approx_dp({eps}, {delta})^{k}", "epsilon", k * eps, k * delta, "upper")]


def advanced_composition():
    """``sqrt(2 k log(1/d')) eps + k eps (e^eps - 1)`` at ``k delta + d'``."""
    for eps, k in [(0.1, 100), (0.5, 50), (1.0, 200)]:
        value = sqrt(2 * k * log(1e6)) * eps + k * eps * expm1(eps)
        yield f"pure_dp({eps})^{k}", "epsilon", value, "1e-6", "upper"


def renyi_conversion():
    """``a/(2 s^2) + log(1/delta)/(a-1)``, the least over the orders."""
    for sigma, delta in [(1.0, 1e-5), (0.5, 1e-3), (5.0, 1e-9)]:
        value = min(a / (2 * sigma**2) + log(1 / delta) / (a - 1) for a in range(2, 500))
        yield f"gaussian({sigma})", "epsilon", value, delta, "upper"


def gaussian_profile():
    """``Phi(1/(2s) - eps s) - e^eps Phi(-1/(2s) - eps s)``, a hair above against round-off."""
    for sigma, epsilon in [(1.0, 1.0), (2.0, 0.5), (0.5, 3.0)]:
        near = erfc((epsilon * sigma - 1 / (2 * sigma)) / sqrt(2)) / 2
        far = erfc((epsilon * sigma + 1 / (2 * sigma)) / sqrt(2)) / 2
        value = (near - exp(epsilon) * far) * (1 + 1e-12)
        yield f"gaussian({sigma})", "delta", value, epsilon, "upper"
        yield f"gaussian({sigma})", "delta", value, epsilon, "estimate"


def infinite_loss():
    """``1 - (1-d)^k`` through ``expm1`` and ``log1p``, a hair above."""
    for delta, k in [("1e-18", 1000), ("1e-6", 10)]:
        value = -expm1(k * log1p(-float(delta))) * (1 + 1e-12)
        yield f"approx_dp(0, {delta})^{k}", "delta", value, 1, "upper"


def composed_gaussians():
    """``mu^2`` is the sum of all ``1/sigma^2``; the classic bound on epsilon then holds."""
    mu = sqrt(100 / 20**2 + 50 / 10**2)
    value = mu**2 / 2 + mu * sqrt(2 * log(1e6))
    return [("gaussian(20)^100 * gaussian(10)^50", "epsilon", value, "1e-6", "upper")]


ACCOUNTANTS = [
    basic_composition,
    advanced_composition,
    renyi_conversion,
    gaussian_profile,
    infinite_loss,
    composed_gaussians,
]
