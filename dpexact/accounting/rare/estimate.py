"""Delta by the same windows and line in floats.

Proposes: about delta, from which plans and the search for epsilon start.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from dpexact.accounting.arrays import Complexes
from dpexact.accounting.rare.law import Rule
from dpexact.accounting.rare.picture import Question
from dpexact.accounting.rare.planning import Plan
from dpexact.accounting.rare.windows import Window

#: Terms of a series that falls at least by quarters.
_SERIES: Final = 26


class Estimate:
    """The line of a plan in floats: :meth:`delta` at any gap near the one it was planned for."""

    def __init__(self, ask: Question, plan: Plan) -> None:
        self.ask, self.plan = ask, plan
        self._start = math.log(ask.q) - math.log1p(-ask.q) - 1 / (2 * ask.sigma**2)
        count = np.arange(plan.count + 1)
        self._nodes = plan.abscissa + 1j * plan.step * count
        middle = self._line(plan.middle, plan.rule)
        # with the factor of the gap, as either alone may overflow
        times, fall = ask.count, plan.abscissa * ask.gap
        if plan.near is None or plan.near_rule is None:
            row = np.exp(times * np.log(middle) - fall)
        else:
            near = self._line(plan.near, plan.near_rule)
            row = np.expm1(times * _log1p(middle / near)) * np.exp(times * np.log(near) - fall)
        row = row / (self._nodes * (self._nodes + 1))
        row[0] /= 2
        self._row = row
        rules, wholes = plan.real_rules, (0.0, math.log1p(-ask.q))
        far, between = self._sums(plan.far, rules[0]), (0.0, 0.0)
        if plan.near is not None:
            between = self._sums(plan.middle, rules[1])
        self._masses = [self._mass(*parts) for parts in zip(wholes, far, between, strict=True)]

    def _sums(self, window: Window, rule: Rule) -> tuple[float, float]:
        """The real moments of order 1 and 0."""
        weights, loss = self._weights(window, rule, 0.0)
        return float((weights * np.exp(loss)).real.sum()), float(weights.real.sum())

    def _weights(self, window: Window, rule: Rule, rho: float) -> tuple[Complexes, Complexes]:
        nodes = np.arange(rule.first, rule.last + 1) * rule.spacing
        z: Complexes = nodes.astype(np.complex128) + 1j * rule.shift
        ratio: Complexes = np.exp(self._start + z / self.ask.sigma)
        loss: Complexes = np.where(
            abs(ratio) < 1e-4, ratio - ratio**2 / 2 + ratio**3 / 3, np.log(1 + ratio)
        )
        weights: Complexes = np.exp(rho * loss - z * z / 2) * _height(window, ratio)
        scale = rule.spacing / math.sqrt(2 * math.pi) * (1 - self.ask.q)
        finite: Complexes = np.where(np.isfinite(weights), weights, 0)
        return finite * scale, loss

    def _line(self, window: Window, rule: Rule) -> Complexes:
        weights, loss = self._weights(window, rule, 1 + self.plan.abscissa)
        keep = abs(weights) > 1e-17 * abs(weights).max()
        weights, loss = weights[keep], loss[keep]
        # e^{i n h l} for n = big a + b
        count = self.plan.count + 1
        big = max(1, round(count**0.5))
        turn = 1j * self.plan.step * loss
        giant = weights * np.exp(np.multiply.outer(np.arange(-(-count // big)) * big, turn))
        line: Complexes = (giant @ np.exp(np.multiply.outer(turn, np.arange(big)))).ravel()[:count]
        return line

    def _mass(self, log_whole: float, far: float, middle: float) -> tuple[float, float, float]:
        """``log`` of the power of what is inside, near over inside, and the power of what is far.

        What is far, and between, may be tiny where ``e^epsilon`` is huge.
        """
        times, whole = self.ask.count, math.exp(log_whole)
        kept = times * math.log1p(-min(far / whole, 1 - 1e-16))
        lost = -math.exp(times * log_whole) * math.expm1(kept)
        near = -math.inf
        if self.plan.near is not None:
            near = times * math.log1p(-min(middle / (whole - far), 1 - 1e-16))
        return times * log_whole + kept, near, lost

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
            epsilon = -gap - self.ask.count * math.log1p(-self.ask.q)
            return float(total * np.exp(epsilon))
        return float(total + far_p - np.exp(gap + np.log(max(far_q, 0.0))))


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
        return np.ones_like(ratio) if window.low is None else _beyond(window, ratio / window.low)
    high = _tail(window, ratio / window.high)
    return high if window.low is None else high - _tail(window, ratio / window.low)


def _tail(window: Window, v: Complexes) -> Complexes:
    near = v.real < 4 * window.shape
    at = np.where(near, v, 0)
    total = np.ones_like(v)
    for j in range(window.shape - 1, 0, -1):
        total = 1 + total * at / j
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
