"""Where to put the rays and nodes of random allocation, by float heuristics.

Proposes: rules; the sums over the nodes bound what any rule leaves out.

``G_n(u) = E[S^n e^{-uS}]`` for the mean ``S`` of ``t`` variables ``Y = exp(aX - a^2/2)``, ``X``
normal.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from flint import arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.pair import Jet, TooExpensive
from dpexact.accounting.pairs.sums.whole_powers import WholePowers
from dpexact.kept import cached_property

#: The largest power of ``S`` in a moment, and the most nodes of a ray.
MOST_POWERS: Final = 400
MOST_NODES: Final = 400_000
#: The most nodes of both rules times bits times powers: some seconds.
MOST_WORK: Final = 300_000_000
#: The order of the Mellin transform is at least this: ``E S^w = (1/Gamma(z)) Int u^{z-1} G_k``.
LEAST_ORDER: Final = 2.5
_MOST_RATE: Final = 100.0
_GRID: Final = 0.2
#: The most exponentials of floats in a table: a second or two.
_MOST_POINTS: Final = 100_000_000
_DEPTH: Final = 45.0
_FIRST_POWERS: Final = 12
#: Corners of less noise lie between few powers.
_CORNERED: Final = 0.6
#: Orders beyond this have points of their own around the peak.
_WIDE: Final = 30.0
#: Angles below a ray to which it is turned to bound the aliases from there.
_LOWER: Final = (0.0, -0.5, -1.0, -1.3)
_ANGLES: Final = np.linspace(0.02, 0.98, 49)


class Strip(NamedTuple):
    """The inner rule: nodes ``j spacing`` on ``Im x = -lift``, a strip of half width ``edge``."""

    lift: float
    edge: float
    spacing: float
    reach: float


@dataclass(frozen=True)
class Rule:
    """The outer rule on the ray ``arg u = angle``: ``log|u|`` from ``first``, and the inner rule.

    The spacing of the outer nodes is that of the inner ones times ``a``, divided by ``every``.
    """

    power: int
    angle: float
    first: float
    count: int
    every: int
    strip: Strip
    bits: int

    turn: float
    """The shift of the normal variables by which the last nodes are bounded."""

    far: Strip
    """The inner rule for that."""

    aside: tuple[float, float]
    """A ray (relative to this one) and a shift, to bound the aliases."""

    depth: float
    """``e^{-uY}`` below ``e^-depth`` is not computed."""

    lower: float = 0.0
    """A ray below this one, likewise."""


def power_of(w: float) -> int:
    """The number of factors ``S`` beside the exponential, so that ``k - w`` is large enough."""
    k = max(0, math.ceil(w + LEAST_ORDER))
    if k > MOST_POWERS:
        raise TooExpensive(f"a moment of order {w:.3g} of an allocation")
    return k


def turned(a: float, t: float, order: float, u: float) -> tuple[float, float, float]:
    """``(beyond, shift, log)``: a ray beyond the imaginary axis that bounds ``Im z >= u`` best.

    ``log`` is that of ``e^{-beyond u} e^{t shift^2 / 2} cos(pi/2 + beyond - a shift)^{-order}``.
    """
    beta = math.atan2(order, u) if u > 0 else math.pi / 2
    kappa = max(0.0, u * a * a / t - beta)
    if kappa == 0.0:
        beta = min(beta, math.sqrt(order * a * a / t))
    shift = (kappa + beta) / a
    log = t * shift * shift / 2 - order * math.log(math.sin(beta)) - kappa * u
    return kappa, shift, log


@dataclass(frozen=True)
class Shape:
    """Float picture of an allocation to ``t`` steps of noise ``1/a``."""

    a: float
    t: int

    def strip(self, angle: float, accuracy: float, powers: int) -> Strip:
        """An inner rule whose error is about ``e^-accuracy``."""
        lift = min(angle / self.a, 5.0)
        widest = math.pi / 2 - angle + self.a * lift
        edges = min(widest / self.a, 3 * math.sqrt(2 * accuracy)) * _ANGLES
        chi = angle - self.a * lift
        inner = np.cos(np.minimum(chi + self.a * edges, math.pi / 2 - 1e-9))
        needed = accuracy + (lift + edges) ** 2 / 2 - powers * np.log(inner)
        spacings = 2 * math.pi * edges / needed
        best = int(np.argmax(spacings))
        reach = math.sqrt(2 * (accuracy + lift * lift / 2 + 2))
        return Strip(lift, float(edges[best]), float(spacings[best]), reach)

    # --- the table of log G_n on the positive axis ------------------------------------------------

    def log_phi(self, points: Floats) -> Floats:
        """``log E exp(-e^v Y)``."""
        low = -9.5 - max(0.0, float(points.max())) / self.a
        spacing = min(0.12, 0.5 / self.a)
        if not (9.5 - low) * len(points) <= _MOST_POINTS * spacing:
            raise TooExpensive("noise out of the range of this method")
        x = np.arange(low, 9.5, spacing)
        weights = -x * x / 2 + math.log((x[1] - x[0]) / math.sqrt(2 * math.pi))
        shares = np.exp(self.a * x - self.a**2 / 2)
        found = np.empty(len(points))
        for at in range(0, len(points), 256):
            with np.errstate(over="ignore", invalid="ignore"):
                logs = weights - np.exp(points[at : at + 256, None]) * shares
            top = logs.max(axis=1, keepdims=True)
            found[at : at + 256] = np.log(np.exp(logs - top).sum(axis=1)) + top[:, 0]
        return found

    def _series(self, v: Floats, powers: int, stride: int, every: int) -> Floats:
        """``log G_n(e^v)``, ``n = 0 .. powers``, one row each.

        ``E[Y^j e^{-zY}] = e^{a^2 j (j - 1) / 2} E exp(-z e^{a^2 j} Y)``; points ``stride`` apart on
        a grid, of which ``v`` is one in ``every``, are ``a^2`` apart. Else all are computed.
        """
        square = self.a**2
        j = np.arange(powers + 1)
        factorials = np.array([math.lgamma(i + 1) for i in j])
        z = v - math.log(self.t)
        if stride:
            size = every * len(v)
            phi = self.log_phi(z[0] + square / stride * np.arange(size + stride * powers))
            logs = np.stack([phi[i * stride : i * stride + size : every] for i in j], axis=1)
        else:
            logs = self.log_phi((z[:, None] + square * j).ravel()).reshape(len(v), -1)
        logs = logs + square * j * (j - 1) / 2 - factorials - j * math.log(self.t)
        base = logs[:, :1]
        relative = logs[:, 1:] - base + math.log(self.t)
        scale = (relative / j[1:]).max(axis=1, keepdims=True)
        g = np.exp(relative - j[1:] * scale).T / self.t
        h = np.zeros((powers + 1, len(v)))
        h[0] = 1.0
        for n in range(1, powers + 1):
            i = np.arange(1, n + 1)
            h[n] = ((i * (self.t + 1.0) - n) @ (g[i - 1] * h[n - i])) / n
        with np.errstate(invalid="ignore", divide="ignore"):
            logs = np.log(h) + self.t * base.T + j[:, None] * scale.T
        found: Floats = np.where(np.isfinite(logs), logs, -np.inf) + factorials[:, None]
        return found

    @cached_property
    def _tables(self) -> dict[int, tuple[Floats, Floats]]:
        return {}

    def table(self, k: int, row: int | None = None) -> tuple[Floats, Floats]:
        """``(v, log G_row(e^v))`` over the range that matters for ``G_k``; ``row`` is ``k``."""
        powers = _FIRST_POWERS
        while powers < k:
            powers = min(2 * powers, MOST_POWERS)
        if powers not in self._tables:
            square = self.a**2
            heavy = max(0.0, powers * square + 9 * self.a - math.log(self.t))
            low = -_DEPTH / LEAST_ORDER - heavy
            high = 6 + square * (0.5 + _WIDE / self.t) + 9 * self.a + math.log(1 + self.t)
            stride = math.ceil(square / _GRID) if square > _GRID / 200 else 0
            every = max(1, math.floor(_GRID * stride / square))
            if not high - low < _MOST_POINTS * _GRID:
                raise TooExpensive("noise out of the range of this method")
            v = np.arange(low, high, every * square / stride if stride else _GRID)
            with np.errstate(over="ignore", under="ignore"):
                self._tables[powers] = v, self._series(v, powers, stride, every)
        v, rows = self._tables[powers]
        return v, rows[k if row is None else row]

    @cached_property
    def _wholes(self) -> WholePowers:
        return WholePowers(self.a, self.t, MOST_POWERS)

    def moment(self, w: float) -> Jet:
        """``log E S^w``, and two derivatives with respect to ``w``."""
        if not self.a < _MOST_RATE:
            raise TooExpensive("floats do not reach to plan an allocation of so little noise")
        k = power_of(w)
        if k > _FIRST_POWERS and self.a < _CORNERED and (found := self._wholes.moment(w)):
            return found
        order = k - w
        if k == 0 and order > _WIDE:
            v, logs = self._narrow(order)
        else:
            v, logs = self.table(k)
        values = order * v + logs
        top = float(values.max())
        if not math.isfinite(top):
            raise TooExpensive(f"a moment of order {w:.3g} of an allocation")
        weights = np.exp(values - top)
        total = float(weights.sum())
        mean = float(weights @ v) / total
        spread = float(weights @ (v - mean) ** 2) / total
        z = arb(order)
        value = top + math.log(total * (v[1] - v[0])) - math.lgamma(order)
        slope = float(z.digamma().mid()) - mean
        bend = spread - float(arb(2).zeta(z).mid())
        return Jet(value, slope, max(bend, 1e-12 * spread))

    def _narrow(self, order: float) -> tuple[Floats, Floats]:
        """Points around the peak of ``u^order E e^{-uS}``, and the logarithm of the latter."""
        low = math.log(order) - 10
        high = math.log(order) + 3 + 9 * self.a + self.a**2 * (0.5 + order / self.t)
        while True:
            v = np.linspace(low, high, 121)
            logs = self.t * self.log_phi(v - math.log(self.t))
            values = order * v + logs
            kept = np.flatnonzero(values > values.max() - _DEPTH)
            if not len(kept):  # not a number
                raise TooExpensive("floats do not reach to plan an allocation of so little noise")
            if len(kept) > 60:
                return v, logs
            low, high = float(v[max(0, kept[0] - 1)]), float(v[min(120, kept[-1] + 1)])

    # --- rules ------------------------------------------------------------------------------------

    def _range(self, w: float, angle: float, accuracy: float) -> tuple[float, float, float, float]:
        """From where to where ``log |u|`` must reach on a ray, and the shift that shows it.

        Last, how small ``E e^{-uY/t}`` becomes where the integrand matters.
        """
        k = power_of(w)
        order = k - w
        size = self.moment(w).value + math.lgamma(order)
        whole = self.moment(float(k)).value if k else 0.0
        first = (size - accuracy - whole + math.log(order)) / order
        v, logs = self._narrow(order) if k == 0 and order > _WIDE else self.table(k)
        if k == 0 and order > _WIDE:
            v = np.linspace(float(v[0]) - 3, float(v[-1]) + 2 * math.log(self.t) + 40, 400)
            logs = self.t * self.log_phi(v - math.log(self.t))
        last = float(v[-1])
        whole_logs = logs if k == 0 else self.table(k, 0)[1]
        falls = -np.gradient(whole_logs, v)
        betas = np.geomspace(max(1e-5, math.pi / 2 - angle), math.pi / 2, 40)
        for at in np.arange(max(first, math.log(order) - 1), last + 12, 0.1):
            shifts = np.maximum(0.0, (angle - math.pi / 2 + betas) / self.a)
            bounds = np.interp(at + np.log(np.sin(betas)), v, logs, right=-np.inf)
            totals = self.t * shifts**2 / 2 + bounds
            best = int(np.argmin(totals))
            fall = np.interp(at + math.log(math.sin(betas[best])), v, falls)
            if totals[best] + order * at < size - accuracy - 4 and fall > order + 0.5:
                inside = v <= at + 1
                small = -whole_logs[inside] / self.t
                weighed = (order * v + logs)[inside]
                need = max(float((small + weighed).max() - weighed.max()), float(small[-1]))
                return first, float(at) + 0.2, float(shifts[best]), need
        raise TooExpensive("no ray of an allocation is short enough")

    def _rule(
        self,
        w: float,
        angle: float,
        period: float,
        accuracy: float,
        aside: tuple[float, float],
        lower: float = 0.0,
    ) -> Rule:
        k = power_of(w)
        first, last, turn, small = self._range(w, angle, accuracy)
        fine = accuracy + math.log(self.t) + small + 6
        if angle:
            fine += self._turned_to(k - w, angle)
        strip = self.strip(angle, fine, k)
        wanted = 2 * math.pi / period
        every = max(1, math.ceil(strip.spacing * self.a / wanted))
        spacing = min(strip.spacing, wanted / self.a * every)
        spacing = math.ldexp(math.floor(math.ldexp(spacing, 30)), -30)
        count = math.ceil((last - first) / (spacing * self.a / every))
        if not 0 < count <= MOST_NODES:
            raise TooExpensive(f"a ray of {count} nodes of an allocation")
        lost = fine + strip.lift**2 / 2
        strip = strip._replace(spacing=spacing)
        last = first + (count + 2) * spacing * self.a / every
        (tiny,) = self.log_phi(np.array([last - math.log(self.t)]))
        far = self.strip(0.0, 20.0 - float(tiny), max(k, 1))
        z = last - math.log(self.t)
        heaviest = max(
            j * z + self.a**2 * j * (j - 1) / 2 - math.lgamma(j + 1) for j in range(k + 1)
        )
        depth = lost + heaviest + 5
        bits = math.ceil(depth / math.log(2)) + 32
        width = every * (2 * strip.reach + self.a * k) / strip.spacing
        if (count + width) * bits * (k + 1) > MOST_WORK:
            raise TooExpensive(f"a moment of order {w:.3g} of an allocation: {bits} bits")
        return Rule(k, angle, first, count, every, strip, bits, turn, far, aside, depth, lower)

    def real(self, w: float, accuracy: float) -> Rule:
        """A rule on the positive axis."""
        order = power_of(w) - w
        needed = accuracy + 3
        angles = _ANGLES * math.pi / 2
        periods = (needed - order * np.log(np.cos(angles))) / angles
        best = int(np.argmin(periods))
        period, aside = float(periods[best]), (float(angles[best]), 0.0)
        # a ray at `turn`, all of it by a shift of the normal variables
        gaussian = math.sqrt(2 * needed * self.t) / self.a
        if gaussian < period:
            turn = gaussian * self.a * self.a / self.t
            period, aside = gaussian, (turn, turn / self.a)
        return self._rule(w, 0.0, period, accuracy, aside)

    def oblique(self, w: float, height: float, accuracy: float) -> Rule:
        """A rule on a ray at most as steep as the imaginary axis, for ``Im z`` up to ``height``."""
        order = power_of(w) - w
        rise = math.lgamma(order) - log_gamma(order, height)

        def loss(angle: float) -> float:
            return self._turned_to(order, angle) + max(0.0, rise - angle * height)

        angle = min(np.linspace(0.1, math.pi / 2, 60).tolist(), key=loss)
        periods = [
            (accuracy + 6 + rise - low * height - order * math.log(math.cos(low))) / (angle - low)
            for low in _LOWER
        ]
        lower = _LOWER[int(np.argmin(periods))]
        period = max(1.0, min(periods))
        while True:
            beyond, shift, log = turned(self.a, self.t, order, period)
            if log - (math.pi / 2 - angle) * period < -accuracy - 6:
                break
            period *= 1.05
        fine = accuracy + max(0.0, rise - angle * height)
        aside = (max(beyond, 1e-9), shift)
        return self._rule(w, angle, period, fine, aside, lower)

    def _turned_to(self, order: float, angle: float) -> float:
        """About by how much the modulus of the integrand on a ray exceeds the moment."""
        shift = np.linspace(0.0, angle, 200) / self.a
        logs = self.t * shift**2 / 2 - order * np.log(
            np.cos(np.minimum(angle - self.a * shift, 1.57))
        )
        return max(0.0, float(logs.min()))


def log_gamma(order: float, u: float) -> float:
    """About ``log |Gamma(order + iu)|``."""
    z = complex(order + 6, u)
    value = (z - 0.5) * cmath.log(z) - z + 0.5 * math.log(2 * math.pi) + 1 / (12 * z)
    for i in range(6):
        value -= cmath.log(complex(order + i, u))
    return value.real
