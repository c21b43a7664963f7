r"""The sampled Gaussian at an integer order: the finite binomial sum, free of cancellation.

With ``w = 1 - q + q dP/dQ`` and ``E_Q[(dP/dQ)^k] = e^(k(k-1) mu^2/2)``, expanding the power gives

.. math:: E_Q[w^n] - 1 = \sum_{k=2}^{n} \binom{n}{k} (1-q)^{n-k} q^k
          \big(e^{k(k-1)\mu^2/2} - 1\big),

which is Steinke (2022), Theorem 34, with the total probability 1 taken out of the sum: every term
is positive, so nothing cancels however small ``q`` is.
"""

from __future__ import annotations

from flint import arb


def log_moment(order: int, square: arb, q: arb) -> arb:
    """``log E_Q[w^order]`` for ``order >= 2``, ``square = mu^2`` and ``0 < q < 1``.

    Recurrences, all with positive terms: of ``e^(k mu^2) - 1``, of ``e^(k(k-1)mu^2/2) - 1`` and of
    the binomial probabilities.
    """
    odds = q / (1 - q)
    growth, first = square.exp(), square.expm1()
    step = first  # e^((k-1) mu^2) - 1 at k = 2
    excess = first  # e^(k(k-1) mu^2/2) - 1 at k = 2
    weight = (1 - q) ** (order - 2) * q * q * (order * (order - 1) // 2)
    total = weight * excess
    for k in range(2, order):
        weight = weight * odds * (order - k) / (k + 1)
        step = step * growth + first
        excess = excess * (step + 1) + step
        total += weight * excess
    return total.log1p()


def mixture_moment(log_moments: list[arb], q: arb) -> arb:
    """``E_Q[w^n] - 1`` from ``log E_Q[(dP/dQ)^k]``, ``k = 2 .. n``, for ``0 < q < 1``."""
    order = len(log_moments) + 1
    odds = q / (1 - q)
    weight = (1 - q) ** (order - 2) * q * q * (order * (order - 1) // 2)
    total = arb(0)
    for k, log_moment in enumerate(log_moments, 2):
        total += weight * log_moment.expm1()
        weight = weight * odds * (order - k) / (k + 1)
    return total
