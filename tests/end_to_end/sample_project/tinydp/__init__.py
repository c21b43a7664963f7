"""A tiny accountant: Rényi divergences of the sampled Gaussian at integer orders, converted."""

import os
from functools import cache
from math import comb, exp, inf, log, log1p

ORDERS = (*range(2, 33), 48, 64, 128)

#: For the demonstration: the conversion forgets the term log(1/delta) / (order - 1).
FORGETFUL = os.environ.get("TINYDP_FORGETS_THE_LOG_TERM") == "1"


@cache
def renyi(sigma: float, q: float, order: int) -> float:
    """One step: the binomial expansion, summed from logarithms."""
    if q == 1:
        return order / (2 * sigma**2)
    terms = [
        log(comb(order, i)) + i * log(q) + (order - i) * log1p(-q) + (i * i - i) / (2 * sigma**2)
        for i in range(order + 1)
    ]
    largest = max(terms)
    return (largest + log(sum(exp(term - largest) for term in terms))) / (order - 1)


def converted(divergence: float, order: int, delta: float) -> float:
    """The epsilon that a Rényi divergence implies at delta."""
    bound = divergence + log1p(-1 / order) - log(order) / (order - 1)
    return bound if FORGETFUL else bound + log(1 / delta) / (order - 1)


def epsilon(sigma: float, q: float, steps: int, delta: float) -> float:
    """An upper bound of epsilon after all steps."""
    found = inf
    for order in ORDERS:
        found = min(found, converted(steps * renyi(sigma, q, order), order, delta))
    return max(found, 0.0)
