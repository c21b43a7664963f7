"""Moments of an allocation in floats, from those to whole powers.

Proposes: plans; moments of balls decide.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.pair import Jet

#: Third differences of logarithms of moments above this are a corner.
_CORNER: Final = 0.1


class WholePowers:
    """``log E S^k``, ``k = 0 .. most``, of the mean ``S`` of ``t`` of noise ``1/a``."""

    def __init__(self, a: float, t: int, most: int) -> None:
        j = np.arange(most + 1)
        factorials = np.array([math.lgamma(i + 1) for i in j])
        series = a**2 * j * (j - 1) / 2 - factorials
        found = np.zeros(len(j))
        # the sums of `allocation_products.powers`
        for n in range(1, len(j)):
            i = j[1 : n + 1]
            factors = i * (t + 1.0) - n
            with np.errstate(invalid="ignore", divide="ignore"):
                logs = series[1 : n + 1] + found[n - 1 :: -1] + np.log(np.abs(factors) / n)
                top = logs.max()
                found[n] = top + np.log(np.sign(factors) @ np.exp(logs - top))
        self._logs: Floats = found + factorials - j * math.log(t)

    def moment(self, w: float) -> Jet | None:
        """``log E S^w`` by a cubic through them, or by a chord at a corner."""
        k = min(int(w) - 1, len(self._logs) - 4)
        row = self._logs[k : k + 4]
        if not np.isfinite(row).all():
            return None
        one, two, three = (float(np.diff(row, n)[0]) for n in (1, 2, 3))
        x = w - k
        if abs(three) > _CORNER:
            slope = one + two
            return Jet(float(row[1]) + (x - 1) * slope, slope, two + three / 2)
        value = float(row[0]) + x * (one + (x - 1) / 2 * (two + (x - 2) / 3 * three))
        slope = one + (x - 0.5) * two + (x * (x - 2) / 2 + 1 / 3) * three
        return Jet(value, slope, max(two + (x - 1) * three, 1e-12))
