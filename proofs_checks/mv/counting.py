"""Why exact composition is hard: its delta counts partitions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Final

from proofs_checks.evidence import Evidence
from proofs_checks.prover.enumeration import every, hockey_stick, kov_pair, product_law
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued_on

#: Below 1, at 1 and above 1, with no other power of 2 between them.
LEVELS: Final = (Fraction(3, 4), Fraction(1), Fraction(3, 2))
COUNTING: Final = "counting the partitions of a list into halves is #P-complete"
DOMAIN: Final = (
    "the reduction from counting partitions, for all lists of up to four weights from 1 to 4"
)


def delta(weights: tuple[int, ...], level: Fraction) -> Fraction:
    """The optimal delta at ``exp(eps) = level`` of responses with ``exp(eps_i) = 2^w_i``."""
    pairs = [kov_pair(Fraction(2) ** weight, Fraction(0)) for weight in weights]
    first, second = (product_law(*laws) for laws in zip(*pairs, strict=True))
    return hockey_stick(first, second, level)


def read_off(weights: tuple[int, ...], levels: Sequence[Fraction] = LEVELS) -> Fraction:
    """The number of partitions into halves, from delta at three levels alone.

    Delta is piecewise linear in ``exp(eps)``. Between 1/2 and 2 its only kink is at 1, where
    its slope rises by the mass of the answers that both laws give equally often; each partition
    into halves has the mass ``2^(W/2)/prod(1 + 2^w_i)``.
    """
    low, middle, high = (delta(weights, level) for level in levels)
    rise = (high - middle) / (levels[2] - levels[1]) - (middle - low) / (levels[1] - levels[0])
    for weight in weights:
        rise *= 1 + 2**weight
    return rise / Fraction(2 ** (sum(weights) // 2))


def reduction(levels: Sequence[Fraction] = LEVELS) -> Evidence:
    """What is read off three deltas is the count, for every list of :data:`DOMAIN`."""

    def counts(weights: tuple[int, ...]) -> bool:
        halves = sum(
            sum(sign * weight for sign, weight in zip(signs, weights, strict=True)) == 0
            for signs in product((1, -1), repeat=len(weights))
        )
        return sum(weights) % 2 == 1 or read_off(weights, levels) == halves

    lists = [
        {"weights": one}
        for size in range(1, 5)
        for one in combinations_with_replacement(range(1, 5), size)
    ]
    return every("three optimal deltas give the number of partitions into halves", lists, counts)


@check("mv.hard", expects="certified", assumes=(COUNTING,), smoke=True)
def computing_counts() -> Derivation:
    """The reduction, by exact enumeration; the class itself is taken from elsewhere."""
    return argued_on(DOMAIN, reduction())
