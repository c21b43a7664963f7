"""Sums of powers at many exponents at once."""

from __future__ import annotations

from flint import acb, acb_mat


def powers(base: acb, count: int) -> list[acb]:
    """``base^0 .. base^{count - 1}`` by doubling: no product is deeper than ``O(log count)``."""
    found = [acb(1), base]
    # proposes: how many are needed; each is what it is
    while len(found) < count:
        step = found[-1] * base
        found += [power * step for power in found]
    # proposes: likewise
    return found[:count]


def line_sums(weights: list[acb], turns: list[acb], count: int) -> list[acb]:
    """``sum_j weights_j turns_j^n`` for ``n = 0 .. count``, as one product of matrices.

    With ``n = big a + b`` the sum is a product of ``weights_j (turns_j^big)^a`` and ``turns_j^b``.
    """
    big = max(1, round((count + 1) ** 0.5))
    rows = -(-(count + 1) // big)
    giant: list[acb] = []
    baby: list[acb] = []
    for weight, turn in zip(weights, turns, strict=True):
        low = powers(turn, big + 1)
        baby += low[:big]
        giant += [weight * power for power in powers(low[big], rows)]
    outcomes = len(weights)
    product = acb_mat(outcomes, rows, giant).transpose() * acb_mat(outcomes, big, baby)
    entries: list[acb] = product.entries()
    return entries[: count + 1]
