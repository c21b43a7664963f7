r"""Trade-off functions of ``f_{eps,delta}`` as expressions, ``E = e^eps``."""

from __future__ import annotations

import sympy

from dpexact.symbolic.expressions import ALPHA, DELTA, RATE, SLOPE, E


def tensor_power_vertices(count: int) -> list[tuple[sympy.Expr, sympy.Expr]]:
    r"""The vertices ``(alpha, f(alpha))`` of the ``count``-fold tensor power of ``f_{eps,delta}``.

    With ``S = (1-delta)^k``, rejecting all outcomes of at least ``m`` ones,

    .. math:: \alpha_m = S \sum_{j \ge m} \binom{k}{j} \frac{E^{k-j}}{(1+E)^k}, \qquad
              \beta_m = S - S \sum_{j \ge m} \binom{k}{j} \frac{E^{j}}{(1+E)^k},

    for ``m = k+1, ..., 0``, and ``(1, 0)`` where ``delta > 0``.

    >>> tensor_power_vertices(1)
    [(0, 1 - delta), ((1 - delta)/(E + 1), (1 - delta)/(E + 1)), (1 - delta, 0), (1, 0)]
    """
    survival = (1 - DELTA) ** count
    whole = (1 + E) ** count
    vertices = []
    below = above = sympy.Integer(0)
    for m in range(count + 1, -1, -1):
        if m <= count:
            below += sympy.binomial(count, m) * E ** (count - m)
            above += sympy.binomial(count, m) * E**m
        remaining = sympy.factor(sympy.expand(whole) - above)
        vertices.append(
            (survival * sympy.cancel(below / whole), survival * sympy.cancel(remaining / whole))
        )
    return [*vertices, (sympy.Integer(1), sympy.Integer(0))]


def conjugate() -> sympy.Expr:
    r"""The convex conjugate ``f*(y) = sup_a (a y - f(a))`` of ``f_{eps,delta}``.

    The supremum of a piecewise-linear function is at a vertex:
    ``max(delta - 1, (1-delta)(y-1)/(1+E), (1-delta) y, y)``.
    """
    lines = [alpha * SLOPE - beta for alpha, beta in tensor_power_vertices(1)]
    return sympy.Max(*lines)


def subsampled() -> sympy.Expr:
    r"""``C_p(f_{eps,delta})`` in ``alpha``; ``e^{eps'} = 1 - p + p E`` and ``delta' = p delta``.

    .. math:: \max\Big\{f_{\varepsilon',\delta'}(\alpha),\;
              1 - p\delta - p(1-\delta)\frac{E-1}{E+1} - \alpha\Big\}

    (Dong, Roth, Su 2022, equation (14), where the factor ``1 - delta`` is missing).
    """
    growth = 1 - RATE + RATE * E
    kept = 1 - RATE * DELTA
    middle = kept - RATE * (1 - DELTA) * (E - 1) / (E + 1) - ALPHA
    return sympy.Max(0, kept - growth * ALPHA, (kept - ALPHA) / growth, middle)
