"""Steps of one rule for tests of sums of integers, and integers that are off."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any

from dpexact.accounting.pairs.clouds.limbs import carry
from dpexact.reals import Real, rational

Pair = tuple[Real, Real]


def some(seed: int, noises: tuple[float, float], rates: tuple[float, float]) -> list[Pair]:
    """A dozen random rates and noises."""
    random = Random(seed)

    def between(low: float, high: float) -> Real:
        return rational(Fraction(low * (high / low) ** random.random()))

    return [(between(*rates), between(*noises)) for _ in range(12)]


def more(digits: Any) -> Any:
    """Numbers that are larger by two units."""
    digits[0] += 2
    carry(digits)
    return digits
