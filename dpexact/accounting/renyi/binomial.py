r"""A sample at an integer order, removing: the finite binomial sum, free of cancellation.

With ``w = 1 - q + q dP/dQ``, expanding the power gives

.. math:: E_Q[w^n] - 1 = \sum_{k=2}^{n} \binom{n}{k} (1-q)^{n-k} q^k
          \big(E_Q[(dP/dQ)^k] - 1\big),

which is Steinke (2022), Theorem 34, with the total probability 1 taken out of the sum: every term
is positive, so nothing cancels however small ``q`` is.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb


def mixture_moment(log_moments: Sequence[arb], order: int, q: arb) -> arb:
    """``E_Q[w^order] - 1`` from ``log E_Q[(dP/dQ)^k]``, ``k = 2 .. order``, for ``0 < q <= 1``."""
    weight, odds, total = q**order, (1 - q) / q, arb(0)
    for k in range(order, 1, -1):
        total += weight * log_moments[k - 2].expm1()
        weight = weight * odds * k / (order - k + 1)
    return total
