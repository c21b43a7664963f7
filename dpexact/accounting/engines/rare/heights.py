"""How high windows are between places, at most [5].

The numbers in brackets refer to sections of ``docs/theory/rare.md``.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import arb

from dpexact.accounting.engines.rare.windows import Window, lower_tail, upper_tail
from dpexact.balls import current

#: Windows that differ from 1 by less are not summed.
_NEGLIGIBLE = 1e-20


class Heights:
    """At places where ``lambda`` is one of the ``ratios``, which increase from 0."""

    def __init__(self, ratios: Sequence[arb]) -> None:
        self._ratios = ratios
        self._windows: dict[tuple[Window, float], list[arb]] = {}
        self._tails: dict[tuple[float, int, float, float], tuple[list[arb], list[arb]]] = {}

    def of(self, window: Window, angle: float) -> list[arb]:
        """At least ``|W(lambda e^{i theta})|`` on the left ray, each cell and the right ray."""
        key = window, angle
        # proposes: the angle and the scales, floats that mean their exact values here as in the key
        found = self._windows.get(key)
        if found is None:
            found = self._windows[key] = self._found_heights(window, angle)
        return found

    def _small(
        self, scale: float | None, window: Window, angle: float
    ) -> tuple[list[arb], list[arb]]:
        """``P(Gamma_k > v)`` and at least ``P(Gamma_k <= v)``, at all places, for all windows."""
        count = len(self._ratios)
        if scale is None:
            return [arb(1)] * count, [arb(0)] * count
        shape, root = window.shape, window.root
        key = scale, shape, root, angle
        # proposes: the angle and the scale, floats that mean their exact values here as in the key
        if key not in self._tails:
            bits, cosine, plain = current(), window.cosine(arb(angle)), Window(shape, high=1.0)
            half, little, factor = arb("0.5 +/- 0.5"), arb(_NEGLIGIBLE), cosine / arb(scale) ** root
            tails, rest = [], []
            # proposes: the root, a float that means its exact value
            powers = self._ratios if root == 1 else [r**root for r in self._ratios]
            for v in [factor * power for power in powers]:
                low = lower_tail(v, shape).upper()
                # proposes: which bound may be enough; all are proved
                high = upper_tail(v, 1 - shape / v, shape).upper() if v > shape else arb(1)
                # proposes: likewise
                if low < little:
                    tail = 1 - low * half
                # proposes: likewise
                elif high < little:
                    tail = high * half
                else:
                    tail = plain.tail(v, bits)
                tails.append(tail)
                rest.append(_least(1 - tail, low))
            self._tails[key] = tails, rest
        # proposes: likewise
        return self._tails[key]

    def _found_heights(self, window: Window, angle: float) -> list[arb]:
        grown = window.turned(arb(angle))
        above, rest = self._small(window.high, window, angle)
        found = []
        if window.low is None:
            # |G| <= 1 + |1 - G|
            found = [
                arb.min(grown * high, 1 + grown * low)
                for high, low in zip(above, rest[1:], strict=False)
            ]
            return [*found, grown * above[-1]]
        below, least = self._small(window.low, window, angle)
        found = [
            grown * _least(high - low, low_rest)
            for high, low, low_rest in zip(above, below[1:], least[1:], strict=False)
        ]
        return [*found, grown * above[-1]]


def _least(one: arb, other: arb) -> arb:
    """The smaller upper end: a ball from below zero to a tiny end would be wide."""
    return arb.min(one.upper(), other.upper()).upper()
