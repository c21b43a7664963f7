r"""A sample at an integer order, removing: the finite binomial sum, free of cancellation.

With ``w = 1 - q + q dP/dQ``, expanding the power gives

.. math:: E_Q[w^n] - 1 = \sum_{k=2}^{n} \binom{n}{k} (1-q)^{n-k} q^k
          \big(E_Q[(dP/dQ)^k] - 1\big),

which is Steinke (2022), Theorem 34, with the total probability 1 taken out of the sum: every term
is positive, so nothing cancels however small ``q`` is.
"""

from __future__ import annotations

from collections.abc import Iterable

from flint import arb


def mixture_moment(log_moments: Iterable[arb], order: int, q: arb) -> arb:
    """``E_Q[w^order] - 1`` from ``log E_Q[(dP/dQ)^k]``, ``k = 2 .. order``, for ``0 < q < 1``."""
    odds = q / (1 - q)
    weight = (1 - q) ** (order - 2) * q * q * (order * (order - 1) // 2)
    total = arb(0)
    for k, log_moment in enumerate(log_moments, 2):
        total += weight * log_moment.expm1()
        weight = weight * odds * (order - k) / (k + 1)
    return total
