r"""The Rényi divergence of the Poisson-sampled Gaussian at integer orders, as an expression."""

from __future__ import annotations

import sympy

from dpexact.symbolic.expressions import MU, RATE


def sampled_gaussian_renyi(order: int) -> sympy.Expr:
    r"""The finite sum of Theorem 34 of Steinke (2022), direction ``remove``, ``order >= 2``.

    .. math:: \frac{1}{a-1} \log \sum_{k=0}^{a} \binom{a}{k} (1-p)^{a-k} p^k e^{k(k-1)\mu^2/2}

    >>> sampled_gaussian_renyi(2)
    log(p**2*exp(mu**2) + p*(2 - 2*p) + (1 - p)**2)
    """
    total = sum(
        sympy.binomial(order, k)
        * (1 - RATE) ** (order - k)
        * RATE**k
        * sympy.exp(sympy.Rational(k * (k - 1), 2) * MU**2)
        for k in range(order + 1)
    )
    return sympy.log(total) / (order - 1)
