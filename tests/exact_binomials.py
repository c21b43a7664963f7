"""Exact laws for the tests of attacks: binomials in fractions, and logarithms to compare with."""

from __future__ import annotations

from fractions import Fraction
from math import comb

from dpexact import balls
from dpexact.enclosure import Enclosure


def mass(n: int, k: int, p: Fraction) -> Fraction:
    """P[Bin(n, p) = k], by its definition."""
    return comb(n, k) * p**k * (1 - p) ** (n - k)


def upper_tail(n: int, k: int, p: Fraction) -> Fraction:
    """P[Bin(n, p) >= k], by its definition."""
    return sum((mass(n, j, p) for j in range(k, n + 1)), Fraction(0))


def log(ratio: Fraction) -> Enclosure:
    """The logarithm to 40 digits."""
    return balls.certify(lambda: balls.ball(ratio).log(), 40)


def exceeds(bound: Enclosure, odds: Fraction) -> bool:
    """Whether the quoted end of ``bound`` is, or may be, above ``log(odds)``."""
    return bound.lower > log(odds).lower
