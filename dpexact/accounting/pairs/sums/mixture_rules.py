"""Where to put the nodes of the trapezoidal rule, by float heuristics.

Proposes: rules; the sums over the nodes bound what any rule leaves out.

The integrand is ``F(x) = e^{-x^2/2} A(x)^{c+1} B(x)^{-c}`` with ``A`` and ``B`` mixtures of
``e^{rate x - rate^2/2}`` and of ``e^{-rate x - rate^2/2}``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.pair import Jet, TooExpensive
from dpexact.accounting.pairs.shifts import Outline, log_waves, log_waves_above, mean_rate

MAX_NODES = 40_000
"""More nodes than this on one line and the step is declared too expensive."""

MOST_NODES = 400_000
"""Likewise for a single real moment, of which a long line is cheap."""

BLOCK = 64
"""Fewer nodes of a real moment are summed without trying to prove that they do not matter."""

EDGE = 0.98
"""Largest fraction of the strip of analyticity that is used."""

_COARSE = 32.0
LINE_FRACTIONS = np.linspace(0.02, 1.0, 50)
_REAL_FRACTIONS = np.geomspace(1e-4, 1.0, 60)
SHIFT_FRACTIONS = np.geomspace(1e-3, 0.95, 27)
SMALL_SHIFT_FRACTIONS = np.geomspace(1e-13, 5e-4, 40)
#: Where a mean is taken, up to what angle waves do not turn back, and up to what share of it decay
#: is looked for.
_PLACES = np.arange(-12, 12, 1 / 16)
_RIGHT_ANGLE = 0.99 * math.pi / 2
_SHARE = 0.7
#: Where a power times a squared spread is less, waves to that power hardly bend a normal law.
_SLIGHT = 0.1
_FAINT = 1e-6
"""Logarithms of sums below this are those of what the terms add to 1."""


@dataclass(frozen=True)
class Rule:
    """A trapezoidal rule on ``Im z = shift``: nodes ``Re z = j spacing``, ``first <= j <= last``.

    ``edge`` is the top of the strip for oblique sums and the half width of the strip for positive
    sums.
    """

    shift: float
    edge: float
    spacing: float
    first: int
    last: int
    heavy: int
    """About how many of the nodes have a weight that matters."""

    depth: float
    """Nodes lighter than ``e^-depth`` times the heaviest do not matter."""


class Shape:
    """Float picture of one mixture step; ``plain`` rules are for bounds by the cosine alone."""

    def __init__(self, up: Outline, down: Outline, plain: bool = False) -> None:
        self.up, self.down, self._plain = up, down, plain
        #: The half width of the strip of analyticity, what is used of it, and how far up arguments
        #: increase, at least.
        self.width = min(up.strip, down.strip)
        self.widest = EDGE * self.width
        self._mosts: dict[float, float] = {}
        self._rising = min(up.rising, down.rising, self.width)
        #: How much more a node costs than one of a single shift.
        sizes = (len(x.rates) / (4 if x.step is None else 40) for x in (up, down))
        self.terms = max(1.0, sum(sizes))

    # --- rules ------------------------------------------------------------------------------------

    def growth(self, c: float, heights: float | Floats) -> Any:
        """The logarithm of a bound on the integral of the modulus up there."""
        if not self.down.moves:
            return 0.0 * heights
        turned = -c * np.log(self.down.cosine(heights))
        near = np.asarray(heights) * self.down.rates[-1] < _RIGHT_ANGLE
        return np.where(near, np.minimum(turned, self._most(c)), turned)

    def _most(self, c: float) -> float:
        """The logarithm of what the integrand is at most, next to the moment; which is no less."""
        if self._plain or self.up.moves or not self.down.is_still or c <= 0:
            return math.inf
        if c not in self._mosts:
            logs, _, _ = normal_sums(-c * log_waves(self.down, -_PLACES)[None], _PLACES)
            self._mosts = {c: max(0.0, -c * self.down.logs[0] - float(logs[0]))}
        return self._mosts[c]

    def oblique(self, c: float, accuracy: float) -> Rule:
        """A rule whose error is about ``e^-accuracy`` of the moment for every ``Im s >= 0``.

        The strips on both sides of the line share its height.
        """
        edge, spacing = self._strip(self.widest, 0.0, c, 2 * accuracy)
        return self._placed(accuracy * spacing / (2 * math.pi), edge, spacing, c, accuracy)

    def positive(self, c: float, accuracy: float, shift: float = 0.0) -> Rule:
        """A rule for the modulus on ``Im z = shift``; its error is about ``e^-accuracy M(c)``."""
        widest = self.widest
        if shift > 0:
            widest = EDGE * max(self._rising - shift, min(shift, self.width - shift))
        return self._placed(shift, *self._strip(widest, shift, c, accuracy), c, accuracy)

    def real(self, c: float, accuracy: float) -> Rule:
        """A rule for ``M(c)`` alone.

        Where the logarithm of ``A^{c+1} B^{-c}`` is convex, it keeps the nodes that do not matter;
        where concave, it ends wherever they do not.
        """
        edge, spacing = self._strip(self.widest, 0.0, c, accuracy, _REAL_FRACTIONS)
        first, last, depth = self._ends(0.0, spacing, c, accuracy + 2)
        if self.down.moves and c > 0:
            if self.up.moves:
                return self._placed(0.0, edge, spacing, c, accuracy)
            peak = self._bulk(c)[1] * 0.98 - 0.2
            first = max(first, first + math.floor(peak / spacing))
            low, high, heavy = self._heavy(first, last, spacing, c, depth, MOST_NODES)
            return Rule(0.0, edge, spacing, low, high, heavy, depth)
        if self.down.moves:
            first -= math.ceil(1 / spacing)
        bulk = 4 * math.sqrt(2 * depth) / spacing + 4 * BLOCK
        return Rule(0.0, edge, spacing, first, last, math.ceil(min(last - first + 1, bulk)), depth)

    def _strip(
        self,
        widest: float,
        shift: float,
        c: float,
        accuracy: float,
        fractions: Floats = LINE_FRACTIONS,
    ) -> tuple[float, float]:
        """The edge of the strip that allows the widest spacing, and that spacing.

        A strip much higher than ``y``, where ``(a + y^2/2) / y`` is least, gains nothing; one too
        narrow for floats is the worst.
        """
        edges = min(widest, 2 * math.sqrt(2 * accuracy)) * fractions
        growth = (edges * edges + shift * shift) / 2 + self.growth(c, edges + shift)
        with np.errstate(over="ignore"):
            rates = (accuracy + growth) / edges
        best = int(np.argmin(rates))
        return float(edges[best]), 2 * math.pi / float(rates[best])

    def _placed(self, shift: float, edge: float, spacing: float, c: float, accuracy: float) -> Rule:
        """Cut the rule where what is left out is below ``e^-accuracy`` of the integral."""
        first, last, depth = self._ends(shift, spacing, c, accuracy)
        low, high, heavy = self._heavy(first, last, spacing, c, depth, MAX_NODES, shift)
        left, right = self._bulk(c)
        low = min(low, math.floor((left - 0.5) / spacing))
        high = max(high, math.ceil((right + 0.5) / spacing))
        depth += math.log(last - first + 1)
        return Rule(shift, edge, spacing, low, high, heavy, depth)

    def _ends(
        self, shift: float, spacing: float, c: float, accuracy: float
    ) -> tuple[int, int, float]:
        """The first and last node, beyond which the integrand falls, and the depth."""
        depth = accuracy + shift * shift / 2 + 2 + float(self.growth(c, shift))
        reach, (left, right) = math.sqrt(2 * depth), self._bulk(c)
        last = math.ceil((right + reach + 1) / spacing)
        return math.floor((left - reach) / spacing), last, depth

    def _bulk(self, c: float) -> tuple[float, float]:
        """Between which points the peaks of the integrand are: beyond them it only falls.

        A small ``B`` to a positive power moves it to the left by at most so much; to the right it
        ends a little above the root of ``x = pull(x)``.
        """
        rising = None if (c + 1) * self.up.spread**2 < _SLIGHT else (c + 1) * self.up.rates[-1]

        def pull(x: float) -> float:
            """Upper bound on ``d log F/dx + x`` at ``x``, which falls against ``x`` beyond."""
            pull = (c + 1) * mean_rate(self.up, x) if rising is None else rising
            return pull + c * mean_rate(self.down, -x) if self.down.moves else pull

        high = (c + 1) * self.up.rates[-1] + c * mean_rate(self.down, 0.0)
        low = high if rising == high else 0.0
        while high - low > 0.1 + 0.01 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if pull(middle) > middle else (low, middle)
        return min(0.0, c) * self.down.rates[-1], high

    def loss(self, x: float) -> float:
        """The loss of an outcome."""
        at = np.array([x])
        return float((log_waves(self.up, at) - log_waves(self.down, -at))[0])

    def _heavy(
        self,
        first: int,
        last: int,
        spacing: float,
        c: float,
        depth: float,
        most: int,
        shift: float = 0.0,
    ) -> tuple[int, int, int]:
        """The nodes just outside those that matter, and how many matter."""
        x, _, tilts = self._logarithms(first, last, spacing, c, most)
        cosine = math.cos(min(shift * self.down.rates[-1], _RIGHT_ANGLE))
        if cosine < 1 and math.isfinite(self._most(c)):
            turned = math.log(cosine) - tilts / c
            tilts = -c * np.logaddexp(self.down.logs[0] + math.log1p(-cosine), turned)
        values = tilts - x * x / 2
        kept = np.flatnonzero(values > values.max() - depth - math.log(len(values)))
        if not len(kept):
            raise TooExpensive(f"a line beyond floats (width={self.width:.3g}, c={c:.3g})")
        return first + int(kept[0]) - 1, first + int(kept[-1]) + 1, len(kept)

    def _logarithms(
        self, first: int, last: int, spacing: float, c: float | Floats, most: int = MAX_NODES
    ) -> tuple[Floats, Floats, Floats]:
        """The nodes of the real line, ``log A - log B`` and ``log A^{c+1} B^{-c}`` there."""
        if not (last - first) * self.terms <= most:
            raise TooExpensive(
                f"a line of {last - first} nodes (width={self.width:.3g}, c={np.max(c):.3g})"
            )
        x = np.arange(first, last + 1) * spacing
        loss = tilts = np.zeros(len(x))
        for side, sign, power in ((self.up, 1.0, c + 1), (self.down, -1.0, -c)):
            if side.moves:
                log = log_waves(side, sign * x)
                tilts = tilts + power * log
                loss = loss + sign * log
        return x, loss, tilts

    # --- moments ----------------------------------------------------------------------------------

    def cumulants(self, orders: Sequence[float]) -> list[Jet]:
        """``log M(c)`` at real orders ``c > -1``, to about twelve digits, and two derivatives.

        On a line that is fine and long enough for the least and the most of them.
        """
        rules = []
        for c in {min(orders), max(orders)}:
            _, spacing = self._strip(self.widest, 0.0, c, _COARSE)
            first, last, _ = self._ends(0.0, spacing, c, _COARSE)
            rules.append((first * spacing, last * spacing, spacing))
        lows, highs, spacings = zip(*rules, strict=True)
        spacing = min(spacings)
        first, last = math.floor(min(lows) / spacing), math.ceil(max(highs) / spacing)
        x, loss, tilts = self._logarithms(first, last, spacing, np.array(orders)[:, None])
        logs, weights, total = normal_sums(tilts, x)
        # not by products of matrices, which take threads that wait for each other
        mean = np.einsum("ij,j->i", weights, loss) / total
        away = loss - mean[:, None]
        spread = np.einsum("ij,ij,ij->i", weights, away, away) / total
        return [
            Jet(*jet) for jet in zip(*map(np.ndarray.tolist, (logs, mean, spread)), strict=True)
        ]

    def decay(self, c: float) -> Callable[[float], tuple[float, float]]:
        """``u -> (log B, shift)``: the least bound on ``|M(c + iu)|`` over a grid of shifts.

        On ``Im z = shift`` the modulus of the integrand falls in ``u`` by its ``angle``.
        """
        rule = self.positive(c, _COARSE)
        reach = math.ceil(12.0 / rule.spacing)
        # above the last height where much is known strips would be narrow
        is_near = math.isfinite(self._most(c))
        highest = _SHARE * _RIGHT_ANGLE / self.down.rates[-1] if is_near else self.widest
        x = np.arange(min(rule.first, -reach), max(rule.last, reach) + 1) * rule.spacing

        def rows(fractions: Floats) -> tuple[Floats, Floats, Floats]:
            shifts = fractions * min(highest, 6.0)
            sizes = np.repeat(shifts[:, None] ** 2 / 2, len(x), axis=1)
            angles = np.zeros_like(sizes)
            for side, sign, power in ((self.up, 1.0, c + 1), (self.down, -1.0, -c)):
                if side.moves:
                    log = log_waves_above(side, sign * x, sign * shifts)
                    sizes += power * log.real
                    angles += sign * log.imag
            return shifts, sizes, angles

        def least(rows: tuple[Floats, Floats, Floats], u: float) -> tuple[float, float]:
            shifts, sizes, angles = rows
            logs, _, _ = normal_sums(sizes - u * angles, x)
            at = int(np.argmin(logs))
            return float(logs[at]), float(shifts[at])

        large, small = rows(SHIFT_FRACTIONS), cache(lambda: rows(SMALL_SHIFT_FRACTIONS))

        def best(u: float) -> tuple[float, float]:
            found = least(large, u)
            # of very many rare steps moments vanish where one is hardly below 1
            return found if found[1] > large[0][0] else min(found, least(small(), u))

        return best


def normal_sums(tilts: Floats, x: Floats) -> tuple[Floats, Floats, Floats]:
    """The logarithm of the mean of ``e^tilt``, by equidistant nodes of a normal law: the last axis.

    And weights of the nodes, with their sum. Next to 0 no digits of the logarithm are lost.
    """
    normal = x * x / -2
    values = tilts + normal
    top = values.max(axis=-1)
    weights = np.exp(values - top[..., None])
    total = weights.sum(axis=-1)
    scale = (x[..., 1] - x[..., 0]) / math.sqrt(2 * math.pi)
    logs = top + np.log(scale * total)
    faint = np.abs(logs) < _FAINT
    if faint.any():
        normal, scale = np.broadcast_to(normal, values.shape), np.broadcast_to(scale, logs.shape)
        tilts = tilts[faint]
        larger = np.where(tilts > 0, -np.exp(values[faint]), np.exp(normal[faint]))
        added = (larger * np.expm1(-np.abs(tilts))).sum(axis=-1)
        logs[faint] = np.log1p(scale[faint] * added)
    return logs, weights, total
