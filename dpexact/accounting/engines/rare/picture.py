"""Float picture of the law of one step and of its windows.

Proposes: what plans are made from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.accounting.engines.contour.product import log_chernoffs
from dpexact.accounting.engines.rare.float_rows import FloatRow, largest_loss
from dpexact.kept import cached_property

#: How far from where one loss is the gap a scale is looked for, and how closely.
_FARTHEST, _FINE = 12.0, 0.02
#: How many orders on both sides of one that is about the best.
_ABOUT = 2
#: A scale above which a smaller one is looked for, as a logarithm.
_LOUD = 20.0
_REACH = 13.0
#: The same on the left of a row of so much noise among others, for which sums may be small.
_QUIET, _FARTHEST_BACK = 3.0, 22.0
#: Of places, over the least of 1 and ``sigma``; by how much more where windows are smooth.
_SPACING, _SMOOTH, _WIDER = 0.2, 4.0, 2.0
_LAST = 60.0
#: Shares of the steepest order of losses that are small, and orders of large ones.
_SHARES = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.96])
_LARGE = np.geomspace(0.05, 80.0, 22)
#: How many are tried of windows of a root.
_ORDERS = 40
#: The least gap of adding over that of removing at which one line sees both.
_AWAY = 0.33
#: By what power of e bounds of cells exceed what floats have.
EXCESS = 1.0
#: Orders tried where the sum of losses is small, over the gap.
_LEAST_BACK, _LARGEST_BACK, _BACKS = 0.5, 600.0, 15
#: The same over the noise, where records are replaced.
_UPRIGHT, _TILTED = 0.5, 16.0
#: Orders over the standard deviation of the sum; the largest of them.
_QUIETEST, _DEEPEST = np.geomspace(1.0, 20.0, 6), 20.0


@dataclass(frozen=True)
class Question:
    """Delta of some rows at ``epsilon``; ``gap`` is ``epsilon`` and their :attr:`top`.

    In direction ``add`` ``epsilon`` is the negative of the one asked for. ``least`` and ``gap``
    are the ends of the gaps that one line shall serve; at an ``other`` errors may be larger by
    ``e^spare``.
    """

    rows: tuple[FloatRow, ...]
    gap: float
    add: bool
    share: float = 1.0
    other: float = 0.0
    spare: float = 0.0

    @property
    def count(self) -> int:
        """Of all steps."""
        return sum(row.times for row in self.rows)

    @property
    def top(self) -> float:
        """The largest loss of adding."""
        return largest_loss(self.rows)

    @property
    def falls(self) -> bool:
        """Whether losses are below 0."""
        return any(row.replaced for row in self.rows)

    @property
    def least(self) -> float:
        """The least gap."""
        return self.share * self.gap

    def with_other(self, digits: float) -> Question:
        """With delta of adding, to a digit, where it may be about as large.

        Removing takes so many digits.
        """
        other = 2 * self.top - self.gap
        if self.add or self.falls or other < _AWAY * self.gap:
            return self
        return replace(self, other=other, spare=max(0.0, digits - 1) * math.log(10))

    def weight(self, order: float | Floats) -> Floats:
        """The logarithm of ``e^{-order gap}`` where that weighs most."""
        orders = np.asarray(order)
        found = -orders * np.where(orders < 0, self.gap, self.least)
        if self.other:
            found = np.maximum(found, -orders * self.other - self.spare)
        return found


class RowPicture:
    """Float picture of the law of one step of a row, and of windows."""

    def __init__(self, row: FloatRow, gap: float, shape: int, root: float, back: float) -> None:
        self.law, self.shape, self.root = row, shape, root
        self.sigma, self.times = row.sigma, row.times
        width = _SPACING * (_WIDER if row.sigma > _SMOOTH else min(1.0, row.sigma))
        self.width = width
        #: The logarithm of ``lambda`` at 0.
        self.start = start = row.start
        reach = _REACH + max(row.group / row.sigma, row.sigma * (log_odds(gap) - start))
        self.x = np.arange(-back, min(reach, _LAST), width)
        #: The logarithms of ``lambda``, ``A`` and ``v``, and the loss.
        self.ratio = start + self.x / row.sigma
        self.up, self.down = row.log_up(self.ratio), row.log_down(self.ratio)
        self.loss = self.up - self.down
        self._below = math.nan, self.x
        spacing = math.log(width / math.sqrt(2 * math.pi))
        #: That of ``Q`` over the lift of the losses.
        self.density = self.down - self.x**2 / 2 + spacing + row.log_stay

    @property
    def turned(self) -> tuple[Floats, Floats]:
        """Both parts of the loss at each of the angles, a row an angle."""
        real, turn = self.law.turned(self.ratio, self.up, self.law.angles[:, None])
        return real - self.down, turn

    def over(self, scale: float) -> Floats:
        """The logarithm of the root of ``lambda`` over a scale."""
        return self.root * (self.ratio - scale)

    def below(self, scale: float) -> Floats:
        """The logarithm of the window beyond a scale; the last one is kept."""
        # proposes: likewise
        if self._below[0] != scale:
            self._below = scale, log_below(self.shape, self.over(scale))
        return self._below[1]

    def window(self, high: float | None, low: float | None, shift: float | Floats = 0.0) -> Floats:
        """The logarithm of the window between two scales, the root multiplied by ``e^shift``."""
        above = None if high is None else log_above(self.shape, self.over(high) + shift)
        if low is None:
            return np.zeros_like(self.ratio + shift) if above is None else above
        rise: Floats = log_below(self.shape, self.over(low) + shift)
        # proposes: likewise
        if above is None or high is None:
            return rise
        less = np.exp(np.minimum(log_below(self.shape, self.over(high) + shift) - rise, -1e-9))
        small = rise + np.log1p(-less)
        return np.where(self.over(low) + shift < math.log(self.shape), small, above)


class Picture:
    """Float picture of all rows and of windows for one question."""

    def __init__(self, ask: Question, shape: int, root: float) -> None:
        self.ask, self.shape, self.root = ask, shape, root
        #: About where one loss is the gap, over the scale of a window, as logarithms.
        self.centre = log_odds(ask.gap) - math.log(shape) / root
        quiet = math.inf if len(ask.rows) == 1 else _QUIET
        self.rows = []
        for row in ask.rows:
            back = _FARTHEST_BACK if row.replaced or row.sigma >= quiet else _REACH
            self.rows.append(RowPicture(row, ask.gap, shape, root, back))

    def product(self, logs: Iterable[Floats]) -> Floats:
        """``log prod M_r^{n_r}``."""
        terms = (row.times * log for row, log in zip(self.rows, logs, strict=True))
        return sum(terms, np.zeros(()))

    def with_some(self, parts: Iterable[Floats], wholes: Sequence[Floats]) -> Floats:
        """``log`` of :func:`~dpexact.accounting.engines.rare.rows.with_some`."""
        shares = [
            math.log(row.times) + part - whole
            for row, part, whole in zip(self.rows, parts, wholes, strict=True)
        ]
        some = shares[0] if len(shares) == 1 else log_sum(np.stack(shares, axis=-1))
        return some + self.product(wholes)

    # --- what the windows leave out ---------------------------------------------------------------

    def far_bound(self, scale: float, among: slice = slice(None)) -> tuple[float, int]:
        """``(log bound, place of the order)`` for far losses whose sum is small."""
        laws, wholes, logs = self._back
        some = [
            math.log(row.times) + log_sum(law[among] + row.below(scale)) - whole[among]
            for row, law, whole in zip(self.rows, laws, wholes, strict=True)
        ]
        found = logs[among] + (some[0] if len(some) == 1 else log_sum(np.stack(some, axis=-1)))
        at = int(np.argmin(found))
        return float(found[at]), at + (among.start or 0)

    @cached_property
    def back_orders(self) -> Floats:
        """Orders tried where the sum of the losses is small."""
        first, last = _LEAST_BACK / self.ask.gap, _LARGEST_BACK / self.ask.gap
        last = max(last, _DEEPEST / self._spread)
        # those of losses below 0 tilt to the left, and the picture ends
        if self.ask.falls:
            noise = min(row.sigma for row in self.rows)
            first, last = min(first, _UPRIGHT * noise), min(last, _TILTED * noise)
        return geometric(first, last, _BACKS)

    @cached_property
    def _spread(self) -> float:
        """About the standard deviation of the sum of the losses, of no record."""
        variance = 0.0
        for row in self.rows:
            law = np.exp(row.density)
            mean = float(law @ row.loss) / float(law.sum())
            variance += row.times * float(law @ (row.loss - mean) ** 2)
        return math.sqrt(variance)

    @cached_property
    def _back(self) -> tuple[list[Floats], list[Floats], Floats]:
        """The logarithms of the tilted laws, of their sums, and of all other factors."""
        laws: list[Floats]
        laws = [row.density - self.back_orders[:, None] * row.loss for row in self.rows]
        wholes = [log_sum(law) for law in laws]
        logs = log_chernoffs(self.back_orders) + (1 + self.back_orders) * self.ask.gap
        return laws, wholes, logs + self.product(wholes) + EXCESS

    def steep_orders(self, scale: float) -> Floats:
        """Orders tried of losses that a window of this scale lets through."""
        if self.root < 1:
            return geometric(0.5 / self.ask.gap, float(_LARGE[-1]), _ORDERS)
        small = _SHARES * math.exp(-scale)
        # of sums next to their mean less than a share is enough
        few = _QUIETEST / self._spread
        small = np.concatenate([few[few < small[0]], small])
        return np.concatenate([small, _LARGE[small[-1] < _LARGE]]) if scale > -4 else small

    def near_bound(self, scale: float) -> tuple[float, float]:
        """``(log bound, order)`` for near losses whose sum is large."""
        orders, moments = self.steep_orders(scale), []
        for row in self.rows:
            place, tilted = row.over(scale), row.density + row.loss
            window = log_above(self.shape, place)
            missing = float(np.exp(log_sum(tilted + row.below(scale))))
            steep = orders[:, None] * row.loss
            grown = (np.exp(tilted + window) * np.expm1(np.minimum(steep, 600.0))).sum(axis=1)
            large = log_sum(tilted + window + steep)
            moments.append(np.where(large > 0.5, large, np.log1p(grown - missing)))
        logs = log_chernoffs(orders) + self.product(moments) + self.ask.weight(orders) + EXCESS
        at = int(np.nanargmin(logs))
        return float(logs[at]), float(orders[at])

    def far_mass(self, scale: float) -> float:
        """``log`` of about the probability of a far loss."""
        terms = [
            math.log(row.times) + log_sum(row.density + row.loss + row.below(scale))
            for row in self.rows
        ]
        return float(log_sum(np.stack(terms)))

    def far_scale(self, tolerance: float) -> float:
        """The least scale at which far losses are known well enough, or do not matter."""

        best = self.far_bound(self.centre)[1]
        among = slice(max(0, best - _ABOUT), best + _ABOUT + 1)

        def missing(scale: float) -> float:
            bound = self.far_bound(scale, among)[0]
            return (bound if self.ask.add else min(bound, self.far_mass(scale))) - tolerance

        def weight(scale: float) -> float:
            return max(missing(scale), self.far_mass(scale) - tolerance)

        low, high = self.centre - 4 / self.root, self.centre + 1 / self.root
        usual = max(row.start for row in self.rows) - math.log(self.shape) / self.root
        # proposes: likewise; where losses are so alike that larger ones do not matter
        if usual < low < _LOUD and weight(low) <= 0:
            return crossing(weight, usual, low, _FINE)
        # proposes: likewise; where single losses are never next to the gap
        while missing(low) <= 0 and low > _LOUD:
            low, high = max(_LOUD, low - 2 * (high - low)), low
        # proposes: likewise
        while not missing(high) <= 0 and high < self.centre + _FARTHEST / self.root:
            low, high = high, high + 2 * (high - low)
        return crossing(missing, low, high, _FINE)

    def near_scale(self, tolerance: float) -> float | None:
        """The largest scale at which near losses do not matter."""
        low = math.log(self.ask.least) - (math.log(self.shape) + 5) / self.root
        high = self.centre + 1 / self.root
        if not self.near_bound(low)[0] <= tolerance:
            return None
        while high - low > _FINE:
            middle = (low + high) / 2
            fine = self.near_bound(middle)[0] <= tolerance
            low, high = (middle, high) if fine else (low, middle)
        return low


def log_odds(loss: float) -> float:
    """``log lambda`` where the loss is ``log(1 + lambda)``."""
    return loss + math.log(-math.expm1(-loss))


_BELOW, _ABOVE, _POINTS = 5.0, 3.0, 1201
#: The logarithm of a tail that cells only bound, and what is added to no infinite number.
_SMALL, _LARGEST = -46.0, 1e300
#: How near to an end, as a share, a secant may lead.
_MARGIN = 0.02


def log_sum(logs: Floats) -> Floats:
    """``log sum exp`` along the last axis."""
    top = np.minimum(np.maximum(np.maximum.reduce(logs, axis=-1), -_LARGEST), _LARGEST)
    total: Floats = top + np.log(np.add.reduce(np.exp(logs - top[..., None]), axis=-1))
    return total


def geometric(first: float, last: float, count: int) -> Floats:
    """Numbers whose ratios are equal."""
    found: Floats = np.exp(math.log(first) + math.log(last / first) * _evenly(count))
    return found


@cache
def _evenly(count: int) -> Floats:
    """From 0 to 1."""
    return np.linspace(0.0, 1.0, count)


def crossing(
    value: Callable[[float], float], low: float, high: float, width: float, near: float = 0.0
) -> float:
    """About where a falling ``value`` is 0 or a little beyond, to ``width``, by secants.

    Or where it is that ``near`` to 0. ``low`` where it is not above 0 there; at ``high`` it is not.
    """
    above, below, before, last = value(low), value(high), math.inf, 0
    if above <= 0:
        return low
    while high - low > width:
        share = above / (above - below) if math.isfinite(above - below) else 0.5
        at = low + min(max(share, _MARGIN), 1 - _MARGIN) * (high - low)
        if abs(at - before) < width / 2:
            return at + width / 2
        found, before = value(at), at
        if abs(found) <= near:
            return at
        side = 1 if found <= 0 else -1
        # an end that stays twice weighs less
        less = 0.5 if side == last else 1.0
        if side > 0:
            high, above, below = at, less * above, found
        else:
            low, above, below = at, found, less * below
        last = side
    return high


@cache
def _table(shape: int) -> tuple[Floats, Floats, Floats]:
    """``log v``, ``log P(Gamma_k > v)`` and ``log P(Gamma_k <= v)``."""
    logs = np.linspace(math.log(shape) - _BELOW, math.log(shape) + _ABOVE, _POINTS)
    v = np.exp(logs)
    # by recurrences: terms v^j / j! e^-v below and above k
    j = np.arange(2 * shape + 200)
    factorials = np.array([math.lgamma(i + 1) for i in j])
    above = np.empty(_POINTS)
    below = np.empty(_POINTS)
    for part in np.array_split(np.arange(_POINTS), 8):
        terms = j * logs[part, None] - factorials - v[part, None]
        above[part] = log_sum(terms[:, :shape])
        below[part] = log_sum(terms[:, shape:])
    far = v > shape
    below[far] = np.log1p(-np.exp(np.minimum(above[far], -1e-12)))
    # what is small is bounded by Chernoff
    bound = _chernoff(shape, logs)
    above, below = (np.where(part < _SMALL, bound, part) for part in (above, below))
    return logs, above, below


def _chernoff(shape: int, logs: Floats) -> Floats:
    """Chernoff's bound of either tail."""
    found: Floats = shape - np.exp(np.minimum(logs, 600.0)) + shape * (logs - math.log(shape))
    return found


def log_above(shape: int, logs: Floats) -> Floats:
    """About ``log P(Gamma_k > v)`` at ``log v``, or of its bound."""
    at, above, _ = _table(shape)
    return np.where(logs > at[-1], _chernoff(shape, logs), np.interp(logs, at, above))


def log_below(shape: int, logs: Floats) -> Floats:
    """About ``log P(Gamma_k <= v)`` at ``log v``, or of its bound."""
    at, _, below = _table(shape)
    # further down it falls as the power of its shape
    found: Floats = np.interp(logs, at, below) + shape * np.minimum(logs - at[0], 0.0)
    return found
