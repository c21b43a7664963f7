r"""Optimal composition as a rational function of ``E = e^eps``, ``delta`` and ``X = e^{eps'}``.

Kairouz, Oh, Viswanath (2017), Theorem III.3. Between the breakpoints ``X = E^(2m-2-k)`` and
``X = E^(2m-k)``,

.. math:: \delta' = 1 - (1-\delta)^k \Big(1 - \sum_{j=m}^{k} \binom{k}{j}
          \frac{E^j - X E^{k-j}}{(1+E)^k}\Big).
"""

from __future__ import annotations

import sympy

from dpexact.symbolic.expressions import DELTA, E, X


def optimal_composition_delta(count: int) -> sympy.Piecewise:
    """``delta'`` of ``count`` mechanisms ``(eps, delta)``, for ``X >= 1``.

    >>> optimal_composition_delta(1)
    Piecewise((-(1 - delta)*(1 - (E - X)/(E + 1)) + 1, E > X), (delta, True))
    """
    survival = (1 - DELTA) ** count
    pieces = []
    for m in range(count // 2 + 1, count + 1):
        finite = sum(
            sympy.binomial(count, j) * (E**j - X * E ** (count - j)) for j in range(m, count + 1)
        ) / ((1 + E) ** count)
        pieces.append((1 - survival * (1 - finite), E ** (2 * m - count) > X))
    return sympy.Piecewise(*pieces, (1 - survival, True))
