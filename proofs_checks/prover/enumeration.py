"""Finite distributions with rational atoms: everything about them is an exact finite sum."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from functools import reduce
from itertools import pairwise, product
from typing import Any, Final, TypeAlias

from proofs_checks.evidence import Evidence, Refuted

Law: TypeAlias = dict[Any, Fraction]
"""A distribution: the probability of each outcome; outcomes may have probability 0."""

Pair: TypeAlias = tuple[Law, Law]
"""The two laws between which a test decides."""


def hockey_stick(p: Law, q: Law, gamma: Fraction | int) -> Fraction:
    """``max over S of P(S) - gamma Q(S)``, the sum of the positive ``p(x) - gamma q(x)``."""
    outcomes = p.keys() | q.keys()
    zero = Fraction(0)
    return sum((max(zero, p.get(x, zero) - gamma * q.get(x, zero)) for x in outcomes), zero)


def smallest_delta(pair: Pair, gamma: Fraction | int) -> Fraction:
    """The smallest ``delta`` with which ``pair`` is (log gamma, delta)-close, in both orders."""
    p, q = pair
    return max(hockey_stick(p, q, gamma), hockey_stick(q, p, gamma))


def tradeoff(p: Law, q: Law) -> list[tuple[Fraction, Fraction]]:
    """The corners ``(alpha, beta)`` of the trade-off function, from ``alpha = 0`` to 1.

    ``beta`` is the least type II error of a test with type I error ``alpha`` (Neyman-Pearson: the
    outcomes enter the rejection region by decreasing ``q/p``).
    """
    zero = Fraction(0)
    outcomes = list(p.keys() | q.keys())
    free = sum((q.get(x, zero) for x in outcomes if not p.get(x, zero)), zero)
    slopes: dict[Fraction, tuple[Fraction, Fraction]] = {}
    for x in outcomes:
        if p.get(x, zero):
            slope = q.get(x, zero) / p[x]
            a, b = slopes.get(slope, (zero, zero))
            slopes[slope] = a + p[x], b + q.get(x, zero)
    corners = [(zero, 1 - free)]
    for slope in sorted(slopes, reverse=True):
        a, b = slopes[slope]
        corners.append((corners[-1][0] + a, corners[-1][1] - b))
    return corners


def beta_at(corners: list[tuple[Fraction, Fraction]], alpha: Fraction) -> Fraction:
    """The trade-off function with these corners at ``alpha``."""
    for (a, b), (c, d) in pairwise(corners):
        if a <= alpha <= c:
            return b + (d - b) * (alpha - a) / (c - a)
    raise ValueError(f"alpha = {alpha} is not in [0, 1]")


def product_law(*laws: Law) -> Law:
    """The law of independent outcomes, as tuples."""
    return {
        tuple(x for x, _ in combination): reduce(
            lambda a, b: a * b, (weight for _, weight in combination), Fraction(1)
        )
        for combination in product(*(law.items() for law in laws))
    }


def compose(*pairs: Pair) -> Pair:
    """The non-adaptive composition of pairs: products on both sides."""
    return product_law(*(p for p, _ in pairs)), product_law(*(q for _, q in pairs))


def post_process(law: Law, kernel: Mapping[Hashable, Law]) -> Law:
    """The law of the outcome after the random map ``kernel``."""
    result: Law = {}
    for x, weight in law.items():
        for y, chance in kernel[x].items():
            result[y] = result.get(y, Fraction(0)) + weight * chance
    return result


def kov_pair(growth: Fraction | int, delta: Fraction | int) -> Pair:
    """The pair that dominates every (log growth, delta)-DP pair, on the outcomes 0, 1, 2, 3."""
    e, d = Fraction(growth), Fraction(delta)
    p: Law = {0: d, 1: (1 - d) * e / (1 + e), 2: (1 - d) / (1 + e), 3: Fraction(0)}
    return p, {x: p[3 - x] for x in range(4)}


class Draw:
    """Seeded exact random cases: the same at each run."""

    def __init__(self, seed: int = 1, largest: int = 12) -> None:
        self._random: Final = random.Random(seed)
        self._largest: Final = largest

    def integer(self, low: int, high: int) -> int:
        """An integer from ``low`` to ``high``."""
        return self._random.randint(low, high)

    def fraction(self, low: Fraction | int = 0, high: Fraction | int = 1) -> Fraction:
        """A small fraction in ``[low, high]``, ends included."""
        below = self._random.randint(1, self._largest)
        return low + (high - low) * Fraction(self._random.randint(0, below), below)

    def law(self, size: int) -> Law:
        """A law on ``0 .. size - 1``; some outcomes may have probability 0."""
        while True:
            weights = [self._random.randint(0, self._largest) for _ in range(size)]
            total = sum(weights)
            if total:
                return {x: Fraction(weight, total) for x, weight in enumerate(weights)}

    def kernel(self, inputs: Iterable[Hashable], size: int) -> dict[Hashable, Law]:
        """A random map to ``0 .. size - 1``."""
        return {x: self.law(size) for x in inputs}


def every(text: str, members: Iterable[Mapping[str, Any]], holds: Callable[..., bool]) -> Evidence:
    """Try ``holds(**member)`` for every member of a finite set that ``text`` describes in full.

    Raises:
        Refuted: at the first member where it is false.
    """
    return Evidence("enumeration", text, cases=_try(members, holds))


def random_cases(
    text: str, count: int, draw: Callable[[Draw], Mapping[str, Any]], holds: Callable[..., bool]
) -> Evidence:
    """Try ``holds(**case)`` at ``count`` exact random cases.

    Raises:
        Refuted: at the first case where it is false.
    """
    source = Draw()
    return Evidence("cases", text, cases=_try((draw(source) for _ in range(count)), holds))


def _try(members: Iterable[Mapping[str, Any]], holds: Callable[..., bool]) -> int:
    count = 0
    for member in members:
        if not holds(**member):
            witness = {name: str(value) for name, value in member.items()}
            raise Refuted("the statement is false", witness)
        count += 1
    return count
