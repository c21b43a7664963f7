"""Outcomes of two halves of the steps, in the order of their losses, meet in the middle.

Losses are integer *keys*, multiples of a unit. Of the pairs of outcomes of both halves those count
whose keys exceed a goal together: for each outcome of the one half all of the other beyond a place
in the order of its keys. Masses are balls, or integers.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Generic, TypeVar

from flint import arb

Mass = TypeVar("Mass", int, arb)


@dataclass(frozen=True)
class Half(Generic[Mass]):
    """Keys and masses of outcomes under ``P`` and ``Q``, in any order."""

    keys: Sequence[int]
    p: Sequence[Mass]
    q: Sequence[Mass]


class Halves(Generic[Mass]):
    """All pairs of an outcome of each half; ``zero`` is no mass.

    Proposes: on which side of a goal a pair lies, by rounded keys; whoever asks knows their error.
    """

    def __init__(self, first: Half[Mass], second: Half[Mass], zero: Mass) -> None:
        order = sorted(range(len(second.keys)), key=second.keys.__getitem__)
        self._first: Half[Mass] = first
        self._zero: Mass = zero
        self._keys = [second.keys[i] for i in order]
        self._p: list[Mass] = _tails([second.p[i] for i in order], zero)
        self._q: list[Mass] = _tails([second.q[i] for i in order], zero)

    def beyond(self, goal: int, slack: int) -> tuple[Mass, Mass, Mass]:
        """``P`` and ``Q`` of the pairs of keys above ``goal``, ``P`` of those within ``slack``."""
        first, keys, tails = self._first, self._keys, self._p
        at = [bisect_right(keys, goal - key) for key in first.keys]
        p = sum(map(mul, first.p, map(tails.__getitem__, at)), self._zero)
        q = sum(map(mul, first.q, map(self._q.__getitem__, at)), self._zero)
        near = self._zero
        for key, mass, place in zip(first.keys, first.p, at, strict=True):
            low, high = goal - key - slack, goal - key + slack
            below = place > 0 and keys[place - 1] >= low
            if below or (place < len(keys) and keys[place] <= high):
                near += mass * (tails[bisect_left(keys, low)] - tails[bisect_right(keys, high)])
        return p, q, near


def _tails(values: list[Mass], zero: Mass) -> list[Mass]:
    """``result[i] = sum(values[i:])``, one longer than ``values``."""
    return list(accumulate(reversed(values), initial=zero))[::-1]


def nearest(x: arb) -> int:
    """The integer nearest to the midpoint of ``x``."""
    return int((x.mid() + arb(0.5)).floor().mid().floor().fmpz())
