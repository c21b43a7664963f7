"""Delta in floats: by the same windows and line, and from the picture of one step, without a line.

Proposes: about delta, from which plans and searches start.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from dpexact.accounting.arrays import Complexes, Floats
from dpexact.accounting.engines.rare.float_rows import FloatRow
from dpexact.accounting.engines.rare.law import Rule
from dpexact.accounting.engines.rare.picture import Picture, Question, geometric, log_sum
from dpexact.accounting.engines.rare.plan import Plan
from dpexact.accounting.engines.rare.rows import Row, total_variation
from dpexact.accounting.engines.rare.windows import Window
from dpexact.balls import precision

#: Terms of a series that falls at least by quarters.
_SERIES: Final = 26
_BITS = 64
#: What a float is rounded by.
_EPSILON: Final = 2.0**-53

#: Tilts over the gap, and over its way from the mean, and how much of the picture is looked at.
_LEAST_TILT, _LARGEST_TILT, _FARTHEST_TILT, _MANY_TILTS = 0.3, 30_000.0, 1e3, 64
_CLOSEST, _EVERY = 1e-6, 2
#: From what share of the way from the mean on a loss is large, and how often one comes at most.
_SHARE, _SELDOM = 0.5, 0.01
#: Places between which epsilon is looked for.
_LEAST, _MOST = -20.0, 30.0
_BEGIN, _STRIDE = -1.0, 4.0
#: Of the logarithm of log delta, of a normal sum.
_NORMAL_SLOPE: Final = 2.0
#: When it is near enough, as places and as logarithms of delta, how many times as far the next step
#: leads there, and when it is given up.
_CLOSE, _NEAR, _NEXT, _LOOKS = 0.03, 0.2, 2.0, 30


class Estimate:
    """The line of a plan in floats: :meth:`delta` at any gap near the one it was planned for."""

    def __init__(self, ask: Question, plan: Plan) -> None:
        self.ask, self.plan = ask, plan
        self._nodes = plan.abscissa + 1j * plan.step * np.arange(plan.count + 1)
        lines, above, rounded = [], [], np.zeros(1)
        for row, own in zip(ask.rows, plan.rows, strict=True):
            line, weight = self._line(row, plan.middle, own.rule)
            lines.append(line)
            if plan.near is not None and own.near_rule is not None:
                above.append(line)
                lines[-1] = self._line(row, plan.near, own.near_rule)[0]
            rounded = rounded + _EPSILON * row.times * weight / abs(lines[-1])
        # with the factor of the gap, as either alone may overflow
        total = np.exp(self._product(map(np.log, lines)) - plan.abscissa * ask.gap)
        total = total / (self._nodes * (self._nodes + 1))
        #: By about how much floats round delta at the gap of the plan.
        self.rounding = plan.step / math.pi * float((abs(total) * rounded).sum())
        if plan.near is not None:
            ratios = (m / n for m, n in zip(above, lines, strict=True))
            total = total * np.expm1(self._product(map(_log1p, ratios)))
        total[0] /= 2
        self._row = total
        every = list(zip(ask.rows, [own.real_rules for own in plan.rows], strict=True))
        far = [
            (0.0, 0.0) if rules[0] is None else self._sums(row, plan.far, rules[0])
            for row, rules in every
        ]
        between = [(0.0, 0.0)] * len(far)
        if plan.near is not None:
            between = [self._sums(row, plan.middle, rules[1]) for row, rules in every]
        self._masses = [
            self._mass([masses[i] for masses in far], [masses[i] for masses in between], i == 1)
            for i in range(2)
        ]

    def _product(self, logs: Iterable[Complexes]) -> Complexes:
        """The logarithm for all steps."""
        terms = (row.times * log for row, log in zip(self.ask.rows, logs, strict=True))
        return sum(terms, np.zeros(1, np.complex128))

    def _sums(self, row: FloatRow, window: Window, rule: Rule) -> tuple[float, float]:
        """The real moments of order 1 and 0."""
        weights, loss = self._weights(row, window, rule, 0.0)
        return float((weights * np.exp(loss)).real.sum()), float(weights.real.sum())

    def _weights(
        self, row: FloatRow, window: Window, rule: Rule, rho: float
    ) -> tuple[Complexes, Complexes]:
        nodes = np.arange(rule.first, rule.last + 1) * rule.spacing
        z: Complexes = nodes.astype(np.complex128) + 1j * rule.shift
        log = row.start + z / row.sigma
        loss, more = row.losses(log)
        weights: Complexes = np.exp(rho * loss + more - z * z / 2) * _height(window, np.exp(log))
        scale = rule.spacing / math.sqrt(2 * math.pi) * math.exp(row.log_stay)
        finite: Complexes = np.where(np.isfinite(weights), weights, 0)
        return finite * scale, loss

    def _line(self, row: FloatRow, window: Window, rule: Rule) -> tuple[Complexes, float]:
        """At all nodes, and what the weights are together."""
        weights, loss = self._weights(row, window, rule, 1 + self.plan.abscissa)
        keep = abs(weights) > 1e-17 * abs(weights).max()
        weights, loss = weights[keep], loss[keep]
        # e^{i n h l} for n = big a + b
        count = self.plan.count + 1
        big = max(1, round(count**0.5))
        turn = 1j * self.plan.step * loss
        giant = weights * np.exp(np.multiply.outer(np.arange(-(-count // big)) * big, turn))
        line: Complexes = (giant @ np.exp(np.multiply.outer(turn, np.arange(big)))).ravel()[:count]
        return line, float(abs(weights).sum())

    def _mass(
        self, far: Sequence[float], middle: Sequence[float], under: bool
    ) -> tuple[float, float, float]:
        """``log`` of the power of what is inside, near over inside, and the power of what is far.

        What is far, and between, may be tiny where ``e^epsilon`` is huge. ``under`` ``Q`` or not.
        """
        log_whole, kept, near = 0.0, 0.0, 0.0
        for row, outer, inner in zip(self.ask.rows, far, middle, strict=True):
            log = row.log_stay if under else 0.0
            whole = math.exp(log)
            log_whole += row.times * log
            kept += row.times * math.log1p(-min(outer / whole, 1 - 1e-16))
            near += row.times * math.log1p(-min(inner / (whole - outer), 1 - 1e-16))
        lost = -math.exp(log_whole) * math.expm1(kept)
        return log_whole + kept, near if self.plan.near is not None else -math.inf, lost

    def serves(self, gap: float, share: float) -> bool:
        """Whether a gap is so close to that of the plan, and within so much of the period."""
        away = abs(gap - self.ask.gap)
        return away < share * min(self.ask.gap, 2 * math.pi / self.plan.step)

    def delta(self, gap: float) -> float:
        """About delta."""
        plan, c = self.plan, self.plan.abscissa
        period = 2 * math.pi / plan.step
        turns = np.exp(-1j * plan.step * gap * np.arange(plan.count + 1))
        weight = np.exp(-c * (gap - self.ask.gap))
        total = plan.step / math.pi * weight * float((self._row @ turns).real)
        (log_p, log_near, far_p), (log_q, log_near_q, far_q) = self._masses
        side, from_p, from_q = (-1, -c, -c - 1) if plan.add else (1, c, c + 1)
        known = _aliases(log_p, log_near, from_p * period)
        known -= _aliases(log_q, log_near_q, from_q * period, gap)
        total -= side * known
        if plan.add:
            if plan.near:
                near = log_p + log_near
                total += np.exp(near) * np.expm1(log_q + log_near_q + gap - near)
            epsilon = self.ask.top - gap
            return float(total * np.exp(epsilon))
        return float(total + far_p - (np.exp(gap + np.log(far_q)) if far_q > 0 else 0.0))


def _aliases(log: float, less: float, far: float, lift: float = 0.0) -> float:
    """``e^(lift + log) (1 - e^less) / (e^far - 1)``: parts may overflow or be next to 1."""
    return float(np.exp(log + lift - far) * np.expm1(less) / np.expm1(-far))


def _log1p(z: Complexes) -> Complexes:
    """``log(1 + z)``; that of numpy loses the real part of small numbers."""
    x, y = z.real, z.imag
    found: Complexes = np.log1p(x * (2 + x) + y * y) / 2 + 1j * np.arctan2(y, 1 + x)
    return found


def _height(window: Window, ratio: Complexes) -> Complexes:
    if window.high is None:
        return (
            np.ones_like(ratio)
            if window.low is None
            else _beyond(window, (ratio / window.low) ** window.root)
        )
    high = _tail(window, (ratio / window.high) ** window.root)
    if window.low is None:
        return high
    return high - _tail(window, (ratio / window.low) ** window.root)


def _tail(window: Window, v: Complexes) -> Complexes:
    near = v.real < 4 * window.shape
    at = np.where(near, v, 0)
    total = 1 + np.cumprod(at[..., None] / np.arange(1, window.shape), axis=-1).sum(axis=-1)
    found: Complexes = np.where(near, np.exp(-at) * total, 0)
    return found


def _beyond(window: Window, v: Complexes) -> Complexes:
    """What is left of 1, with all digits where that is little."""
    found, near = 1 - _tail(window, v), abs(v) < window.shape / 4
    at = v[near]
    total = np.ones_like(at)
    for j in range(window.shape + _SERIES, window.shape, -1):
        total = 1 + total * at / j
    with np.errstate(divide="ignore"):  # of a ratio below the least float
        first = window.shape * np.log(at) - math.lgamma(window.shape + 1) - at
    found[near] = total * np.exp(first)
    return found


def about(ask: Question) -> float:
    """About ``log delta``: the saddle point of smaller losses, alone or beside a large one."""
    rows = Picture(ask, 1, 1.0).rows
    laws = [(row.density[::_EVERY] + math.log(_EVERY), row.loss[::_EVERY]) for row in rows]
    counts, gap = [row.times for row in rows], ask.gap
    if ask.add:
        backward = [(density, -loss) for density, loss in laws]
        sums = _Sums(counts, backward, gap, ask.top - gap)
        return min(0.0, float(sums.log_excess(-gap)) + ask.top)
    laws = [(density + loss, loss) for density, loss in laws]
    weights = [np.exp(law) for law, _ in laws]
    means = [float(law @ loss) for law, (_, loss) in zip(weights, laws, strict=True)]
    mean = sum(n * own for n, own in zip(counts, means, strict=True))
    # large is what exceeds a share of the way from the mean, and seldom comes
    seldom = [
        float(loss[np.argmax(n * np.cumsum(law[::-1])[::-1] < _SELDOM)])
        for n, law, (_, loss) in zip(counts, weights, laws, strict=True)
    ]
    limit = max(_SHARE * (gap - mean), *seldom)
    large = [loss >= limit + 2 * own for own, (_, loss) in zip(means, laws, strict=True)]
    small = [(law[~far], loss[~far]) for far, (law, loss) in zip(large, laws, strict=True)]
    sums = _Sums(counts, small, gap, gap - mean)

    def exceeded(gaps: float | Floats) -> Floats:
        """About the logarithm of delta of the smaller ones."""
        found: Floats = np.minimum(sums.log_excess(gaps), 0.0)
        with np.errstate(divide="ignore"):  # of none
            least = np.log(-np.expm1(np.minimum(np.asarray(gaps) - mean, 0.0)))
        return np.maximum(found, least)

    logs = [exceeded(gap)]
    for n, far, (law, loss) in zip(counts, large, laws, strict=True):
        # proposes: likewise
        if far.any():
            logs.append(math.log(n) + log_sum(law[far] + exceeded(gap - loss[far])))
    return min(0.0, float(log_sum(np.stack(logs))))


class _Sums:
    """Saddle points of sums of steps, of the logarithms of weights and the losses of each row.

    The tilts lie about where a gap is, and how far from the mean.
    """

    def __init__(
        self,
        counts: Sequence[int],
        laws: Sequence[tuple[Floats, Floats]],
        gap: float,
        away: float,
    ) -> None:
        last = max(_LARGEST_TILT / gap, _FARTHEST_TILT / max(abs(away), _CLOSEST * gap))
        self._tilts = tilts = geometric(_LEAST_TILT / gap, last, _MANY_TILTS)
        self._logs = -np.log(tilts * (tilts + 1))
        curvature = 1 / tilts**2 + 1 / (tilts + 1) ** 2
        for n, (law, loss) in zip(counts, laws, strict=True):
            tilted = law + tilts[:, None] * loss
            top = tilted.max(axis=1, keepdims=True)
            weights = np.exp(tilted - top)
            total, first = weights.sum(axis=1), weights @ loss
            curvature += n * (weights @ loss**2 / total - (first / total) ** 2)
            self._logs += n * (np.log(total) + top[:, 0])
        self._logs -= np.log(2 * math.pi * curvature) / 2

    def log_excess(self, gaps: float | Floats) -> Floats:
        """Of about ``(1/2 pi i) Int M(c) e^{-c gap} / (c (c + 1)) dc``, the least at each gap."""
        found: Floats = np.nanmin(self._logs - self._tilts * np.asarray(gaps)[..., None], axis=-1)
        return found


def placed(top: float, add: bool, at: float) -> tuple[float, float, float]:
    """Gap, epsilon, and how the gap changes, ``at`` a place on the scale on which one searches.

    That is the logarithm of epsilon over the largest loss of adding; of adding itself that of the
    gap over epsilon.
    """
    grown = math.exp(at)
    if not add:
        return top + top * grown, top * grown, top * grown
    epsilon = top / (1 + grown)
    return epsilon * grown, epsilon, epsilon * grown / (1 + grown)


def first_place(ask: Question, log_target: float) -> tuple[float, float]:
    """About the place at which delta is the target, for any question of the mechanism.

    And how fast ``log delta`` changes with it.
    """
    top, sign = ask.top, 1.0 if ask.add else -1.0
    # logarithms of delta are about powers of epsilon
    wanted, near = math.log(-log_target), -_NEAR / log_target

    def missing(at: float) -> float:
        """Positive on the side of ``high``."""
        gap = placed(top, ask.add, at)[0]
        return sign * (wanted - math.log(max(-about(replace(ask, gap=gap)), _NEAR)))

    low, high = _LEAST, _MOST
    at, before, last, slope = _begin(ask, log_target), math.nan, math.nan, _NORMAL_SLOPE
    for look in range(_LOOKS):
        # the step there is as good as a look
        if abs(last) < _NEXT * near and look > 1:
            break
        value = missing(at)
        low, high = (low, at) if value > 0 else (at, high)
        if at != before and value != last and not math.isnan(last):
            slope = (value - last) / (at - before)
        before, last = at, value
        if abs(value) < near or high - low < _CLOSE:
            break
        step = -value / slope if slope > 0 else math.copysign(_STRIDE, -value)
        at += max(-_STRIDE, min(_STRIDE, step))
        if not low < at < high:
            at = (low + high) / 2
    return at, slope * -log_target if 0 < slope < math.inf else 1.0


def _begin(ask: Question, log_target: float) -> float:
    """The place as if losses were about normal, or nearer to the middle where they are not."""
    variances = (
        row.times * (row.group * row.q) ** 2 * math.expm1(row.sigma**-2) for row in ask.rows
    )
    epsilon = math.sqrt(-2 * log_target * sum(variances))
    at = max(_LEAST / 2, min(_BEGIN, math.log(epsilon / ask.top)))
    return -at if ask.add else at


def digits_of_delta(digits: int, steepness: float) -> float:
    """About those that show so many ``digits`` of epsilon."""
    return max(1.0, digits + 1.2 - math.log10(steepness))


def least_at_zero(rows: Sequence[Row]) -> float:
    """About the least ``log delta`` at 0: of one step, and of a sum of steps as random signs.

    Proposes: whether to look there.
    """
    with precision(_BITS):
        once = [(total_variation([row._replace(times=1)]), row.times) for row in rows]
    return math.log(math.hypot(*(float(x) * math.sqrt(n) for x, n in once)))
