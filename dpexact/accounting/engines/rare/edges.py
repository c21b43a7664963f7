"""Where cells begin and end, in floats.

Proposes: the edges; whatever they are, cells bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.accounting.engines.rare.law import Rule
from dpexact.accounting.engines.rare.lines import Height, Line, RowHeight, Scales
from dpexact.accounting.engines.rare.picture import RowPicture, log_above, log_sum
from dpexact.accounting.engines.rare.rules import heights, last_cell

#: What a cell may add to the logarithm of what cells bound: of a power, and of what counts once.
_OF_POWER, _OF_PART = 0.2, 0.5
#: The logarithm of what a ray may add, bounds on widths, and how fast widths change.
_OF_RAY, _NARROWEST, _WIDEST, _CHANGE = -3.0, 0.01, 1.5, 0.7
#: How far beyond the shape windows are looked at on the right of the picture, and how often.
_FALLEN, _EVERY = 4.0, 0.2
#: The logarithm by which a bound may rise where it hardly matters, beside half of what is left.
_MORE = 3.0


class Bounded(NamedTuple):
    """A moment to the power of ``times`` that cells bound, as arrays on the picture.

    Logarithms of the law and of what it is of, a window and a power, how steep the power is, and
    logarithms of the ceiling, there and at most on the right of the picture.
    """

    law: Floats
    window: Floats
    power: Floats
    steep: Floats
    ceiling: Floats
    beyond: float
    times: int
    #: What a ray to the left has, if it is bounded in another way than cells are.
    ray: Floats | None = None


class Edges:
    """What the cells of a row are for."""

    def __init__(self, scales: Scales, line: Line, height: Height, own: RowHeight) -> None:
        self.row, self.far, self.near, self.tiny = own.row, scales.far, scales.near, height.tiny
        self._own, self._rho, self._top = own, 1 + line.abscissa, height.beyond
        #: By how much its logarithm rises with that of ``lambda``.
        self._share, self._back = (
            abs(np.gradient(log, own.row.ratio)) for log in (own.row.up, own.row.down)
        )

    def places(
        self,
        orders: tuple[float, float, float, float],
        angle: float,
        rules: tuple[Rule, Rule | None, Rule | None],
    ) -> tuple[float, ...]:
        """For bounds of these orders, the decay at an angle, and strips of rules.

        These are of the line, of what is near, and of the masses of what is far.
        """
        row, far, near, rho = self.row, self.far, self.near, self._rho
        far_order, near_order, upper, lower = orders
        rule, near_rule, far_rule = rules
        inside, outer = row.window(far, None), row.window(None, far)
        flat = np.zeros_like(row.loss)
        found = [
            self._real(inside, 1 + upper, row.times),
            self._real(outer, -far_order),
            self._real(flat, -far_order, row.times),
            self._turned((far, near), angle, self._top, row.times if near is None else 1),
            self._turned((far, near), rule.angle),
        ]
        # proposes: likewise
        if far_rule is not None:
            found.append(self._mass(far_rule.angle))
        # proposes: likewise
        if lower:
            found.append(self._real(inside, -lower, row.times))
        # proposes: likewise
        if near is not None and near_rule is not None:
            small = row.window(near, None)
            found += [
                self._real(small, 1 + near_order, row.times, near),
                self._real(small, rho, row.times, near),
                self._real(row.window(far, near), 1 + upper),
                self._turned((near, self.tiny), near_rule.angle),
            ]
        return _balanced(row, last_cell(row, far), found)

    def _real(
        self, window: Floats, order: float, times: int = 1, scale: float | None = None
    ) -> Bounded:
        """A moment of a real order."""
        row, steep, ray = self.row, math.sqrt(abs(order * (order - 1))) * self._share, None
        if order >= 1:
            # cells take what is under Q at one of their ends
            law, power = row.density + row.loss, (order - 1) * row.up
            window = window - (order - 1) * row.down
        else:
            law, power = row.density - row.down, order * row.up + (1 - order) * row.down
            steep = steep + (1 - order) * self._back
        # proposes: likewise
        if row.law.replaced and order < 1:
            tilt = (1 - order) / row.sigma
            grown = (1 - order) * row.down + tilt * row.x + tilt * tilt / 2
            ray = grown - np.maximum(0.0, -tilt - row.x) ** 2 / 2
            ray = ray + np.maximum.accumulate(window)
        beyond = self._hump(scale or self.far, order - 1) if order > 1 else float(power[-1])
        return Bounded(law, window, power, steep, window + power, beyond, times, ray)

    def _turned(
        self, scales: tuple[float, float | None], angle: float, up: float = 0.0, times: int = 1
    ) -> Bounded:
        """What the line has at a height, from above the axis."""
        row, rho, angles = self.row, self._rho, self.row.law.angles
        at = int(np.argmin(abs(angle - angles)))
        law, window = row.density + row.loss, heights(row, *scales, angles[at : at + 1])[0]
        window = window - (rho - 1) * row.down
        power = self._own.powers[at] + rho * row.down - row.up - up * self._own.falls[at]
        steep = (abs(rho) + up * math.sin(angle)) * self._share
        ceiling = window + ((rho - 1) * row.up if rho >= 1 else power)
        beyond = self._hump(scales[0], rho - 1, math.log(math.cos(row.root * angle)))
        return Bounded(law, window, power, steep, ceiling, beyond, times)

    def _mass(self, angle: float) -> Bounded:
        """One of what is far, which has no chords."""
        row, flat = self.row, np.zeros_like(self.row.loss)
        window = heights(row, None, self.far, np.array([angle]))[0]
        beyond = -row.shape * math.log(math.cos(row.root * angle))
        return Bounded(row.density + row.ratio, window, flat, flat, window, beyond, 1)

    def _hump(self, scale: float, power: float, turn: float = 0.0) -> float:
        """The largest of a window and a power on the right of the picture."""
        row = self.row
        at = np.arange(row.ratio[-1], scale + (math.log(row.shape) + _FALLEN) / row.root, _EVERY)
        tops = log_above(row.shape, row.root * (at - scale) + turn) + power * np.logaddexp(0.0, at)
        return float(np.max(tops, initial=-math.inf)) - row.shape * turn


def _balanced(row: RowPicture, last: float, moments: Sequence[Bounded]) -> tuple[float, ...]:
    """Edges up to ``last`` of cells whose errors are about alike.

    Over a cell in which it rises by ``e^x`` a window errs by about ``x/2`` times what it is of, and
    a chord by ``x^2/12``; where that is large, both by about ``e^x``.
    """
    law, window, power, steep, ceiling = (
        np.stack(parts) for parts in list(zip(*moments, strict=True))[:5]
    )
    times = np.array([[float(own.times)] for own in moments])
    beyond = np.array([[own.beyond] for own in moments])
    spacing, height = float(row.ratio[1] - row.ratio[0]), window + power
    whole = log_sum(law + height)[:, None] - np.log(times)
    law -= whole
    most = np.where(times > 1, _OF_POWER, _OF_PART) * spacing * np.exp(-law - height)
    falls = abs(np.gradient(window, spacing, axis=1))
    by_window = _risen(np.sqrt(2 * most * falls)) / falls
    by_chord = _risen(np.cbrt(12 * most * steep)) / steep
    widths = np.fmin.reduce(np.fmin(by_window, by_chord)).clip(_NARROWEST, _WIDEST)
    # a cell next to narrow ones reaches them
    place = _CHANGE * row.ratio
    widths = np.minimum.accumulate(widths - place) + place
    widths = np.minimum.accumulate((widths + place)[::-1])[::-1] - place
    # a chord over the left ray begins where there is no loss
    left = np.logaddexp.accumulate(law, axis=1) + np.log(np.minimum(1.0, steep + falls))
    left += np.maximum.accumulate(window, axis=1)
    left += np.maximum(0.0, np.maximum.accumulate(power, axis=1))
    for own, log, at in zip(moments, whole, left, strict=True):
        if own.ray is not None:
            at[:] = own.ray - log
    right = np.logaddexp.accumulate(law[:, ::-1], axis=1)[:, ::-1]
    highest = np.maximum.accumulate(ceiling[:, ::-1], axis=1)[:, ::-1]
    before, after = (
        np.fmax.reduce(part) - _OF_RAY for part in (left, right + np.maximum(highest, beyond))
    )
    end = int(np.sum(np.logical_or.accumulate((after > 0)[::-1])))
    end = max(2, min(end, int(np.searchsorted(row.ratio, last)), len(row.x) - 1))
    first = max(0, min(int(np.sum(~np.logical_or.accumulate(before > 0))) - 1, end - 2))
    number = np.cumsum(spacing / widths[first : end + 1])
    places = np.linspace(number[0], number[-1], math.ceil(number[-1] - number[0]) + 1)
    edges: list[float] = np.interp(places, number, row.x[first : end + 1]).tolist()
    # a ray that begins on the left of the picture
    if before[0] > 0:
        edges.insert(0, -math.sqrt(edges[0] ** 2 + 2 * float(before[0])))
    return tuple(edges)


def _risen(root: Floats) -> Floats:
    """About the ``x`` at which ``x (e^x - 1)``, or its like, is a power of that.

    Of what hardly matters less, as windows and powers may rise by so much in the same cell.
    """
    return np.log1p(root) + np.minimum(np.log1p(root / 10), _MORE)
