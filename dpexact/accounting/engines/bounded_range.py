r"""Repeated ``eps``-bounded-range mechanisms, such as the exponential mechanism.

On neighbours the losses of a bounded-range mechanism lie in some :math:`[t - \varepsilon, t]`,
:math:`0 \le t \le \varepsilon`. The worst law for a given ``t`` takes its ends alone: the loss is
:math:`t - \varepsilon` with chance

.. math:: p_t = \frac{e^{t-\varepsilon} - e^{-\varepsilon}}{1 - e^{-\varepsilon}}
          \text{ under } P, \qquad
          q_t = \frac{1 - e^{-t}}{1 - e^{-\varepsilon}} \text{ under } Q .

Which ``t`` is worst depends on the question, so no single pair dominates. For ``k`` runs that do
not depend on each other's results (Dong, Durfee, Rogers 2020), with ``I`` runs of loss ``t - eps``,

.. math:: \delta(g) = \max_{0 \le l < k} G(l, t_l), \qquad
          G(l, t) = P_t[I \le l] - e^g Q_t[I \le l], \qquad
          t_l = \min\Big\{\varepsilon, \frac{g + (l+1)\,\varepsilon}{k+1}\Big\}, \quad g \ge 0,

for ``t_l`` is the best ``t`` for ``l`` (``docs/theory/selection.md``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import NamedTuple

from flint import arb

from dpexact import balls
from dpexact.accounting.binomial import binomial_mass, binomial_tail
from dpexact.accounting.inverted import ZERO, BallProfile
from dpexact.accounting.pairs.pair import reached
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: Precision, beyond the size of a loss, with which indices are told to be worse than another.
_COARSE_BITS = 64
_LN2 = math.log(2)
#: So many indices are looked at, and of more runs than that fewer: some ten seconds.
_MOST_INDICES = 12_000
_MANY_RUNS = 10**6
_MOST_OF_MANY = 500
#: So many points are asked together, of at most so many runs.
_TOGETHER, _MOST_RUNS = 24, 2_000


class _Law(NamedTuple):
    """The chances of loss ``t - eps`` and of loss ``t``."""

    low: arb
    high: arb


class BoundedRangeProfile(BallProfile):
    """``count`` runs for ``epsilon > 0``, none of which is chosen by results of others."""

    method = "bounded range: the worst of its pairs"
    is_smooth = True

    def __init__(self, epsilon: Real, count: int) -> None:
        self.range = epsilon
        self.count = count
        self.largest = count * epsilon
        self._coarse = _COARSE_BITS + max(0, math.ceil(-balls.approximate_log(epsilon) / _LN2))
        self.infinite = InfiniteLoss()
        self.dear = False

    def finite_ball(self, epsilon: arb) -> arb:
        """The largest ``G(l, t_l)``; exchanging ``P`` and ``Q`` exchanges ``t`` and ``eps - t``."""
        if epsilon < 0:
            rise = epsilon.exp()
            return 1 - rise + rise * self.finite_ball(-epsilon)
        epsilon = epsilon.max(arb(0))
        # more precision would not help, and the next question is as dear
        if self.dear:
            return arb.nan()
        best = arb(0)
        for index in self._candidates(epsilon):
            best = best.max(self._gain(index, epsilon))
        return arb.nan() if self.dear else best

    def delta_balls(self, epsilons: Sequence[arb]) -> list[arb]:
        """Of neighbours few indices are looked at: the others are below, by chords of ``G``."""
        found: dict[int, arb] = {}
        asked = [i for i, x in enumerate(epsilons) if x >= 0 and self.count <= _MOST_RUNS]
        # proposes: who is asked together
        asked.sort(key=lambda i: epsilons[i].mid())
        for start in range(0, len(asked) - _TOGETHER + 1, _TOGETHER):
            group = asked[start : start + _TOGETHER]
            found |= zip(group, self._neighbours([epsilons[i] for i in group]), strict=True)
        kept, lost = 1 - self.infinite.ball(), self.infinite.ball()
        return [
            lost + kept * found[i] if i in found else reached(self.delta_ball, x)
            for i, x in enumerate(epsilons)
        ]

    def _neighbours(self, epsilons: Sequence[arb]) -> list[arb]:
        r""":meth:`finite_ball` at some that are not negative.

        ``G(l, t_l)``, the largest of ``G(l, t)``, is convex in :math:`e^g`: between two places it
        is at most its chord (``docs/theory/selection.md``).
        """
        with balls.precision(self._coarse):
            whole = reduce(arb.union, epsilons)
            low, high = whole.lower().max(arb(0)), whole.upper()
            width = (high - low).expm1()
            ends = [[self._gain(i, end) for i in range(self.count)] for end in (low, high)]
            chords = [(a, (b - a) / width) for a, b in zip(*ends, strict=True)]
        found = []
        for epsilon in epsilons:
            with balls.precision(self._coarse):
                share = (epsilon - low).expm1()
                bounds = [start + share * slope for start, slope in chords]
                # proposes: which index is the best
                first = max(range(self.count), key=lambda i: float(bounds[i].mid()))
            best = self._gain(first, epsilon).max(arb(0))
            for index, bound in enumerate(bounds):
                if index != first and not bound < best:
                    best = best.max(self._gain(index, epsilon))
            found.append(best)
        return found

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        with balls.precision(_COARSE_BITS):
            # Pinsker's inequality for eps^2/8-zCDP
            if balls.ball(delta) >= balls.ball(self.range) * arb(self.count).sqrt() / 4:
                return Enclosure.exact(ZERO, self.method)
        return self._bracket(delta, digits) or super()._epsilon(delta, digits)

    def near(self, delta: Real) -> Fraction:
        """By a normal law of the losses of the middle pair."""
        whole = balls.approximate(self.range)
        spread = math.sqrt(self.count) * whole / 2
        found = spread * (spread / 2 + math.sqrt(2 * max(1.0, -balls.approximate_log(delta))))
        found = min(found, self.count * whole / 2)
        # proposes: where to begin
        return Fraction(found) if 0 < found < math.inf else super().near(delta)

    def lower_ball(self, epsilon: arb) -> arb:
        """``G`` at one index, the best where ``G`` rises and then falls."""
        with balls.precision(self._coarse):
            first, last = 0, self.count - 1
            while first < last:
                middle = (first + last) // 2
                # proposes: an index; none is above delta
                rises = self._gain(middle, epsilon).mid() < self._gain(middle + 1, epsilon).mid()
                first, last = (middle + 1, last) if rises else (first, middle)
        return self._gain(first, epsilon)

    def _candidates(self, epsilon: arb) -> list[int]:
        """The indices that may be the best: what is below another even at most is left out."""
        with balls.precision(self._coarse):
            inside = balls.to_enclosure(self.count - epsilon / balls.ball(self.range))
            last = min(math.ceil(inside.lower), self.count) - 1  # up to there t_l < eps
            apart = range(max(last + 1, 0), min(math.ceil(inside.upper), self.count))
            most = {index: arb(1) for index in apart}
            best, left = arb(0), [(0, last)]
            while left:
                halves = []
                for first, last in left:
                    if first > last:
                        continue
                    middle = (first + last) // 2
                    most[middle] = gain = self._gain(middle, epsilon)
                    best = best.max(gain)
                    halves.append((first, middle, last, gain + self._spread(first, last, epsilon)))
                left = []
                for first, middle, last, bound in halves:
                    if not bound < best:
                        left += [(first, middle - 1), (middle + 1, last)]
                limit = _MOST_INDICES if self.count < _MANY_RUNS else _MOST_OF_MANY
                # proposes: what is too much work
                if len(most) * self._coarse > limit * _COARSE_BITS:
                    self.dear = True
                    return []
            return [index for index, gain in most.items() if not gain < best]

    def _gain(self, index: int, epsilon: arb) -> arb:
        """``G(l, t_l)``."""
        p, q = self._laws(index, epsilon)
        return self._at_most(index, p) - epsilon.exp() * self._at_most(index, q)

    def _spread(self, first: int, last: int, epsilon: arb) -> arb:
        r"""By how much ``G(l, t_l)`` may exceed its value at the middle of a range, ``r`` away.

        No ``l`` is better than ``m`` at ``t_m``, and, ``b`` the largest chance that
        :math:`\mathrm{Bin}(k-1, p_t)` takes a value of the range,

        .. math:: G(l, t_l) - G(l, t_m)
                  \le b\,\frac{e^{r\varepsilon} - 1 - r\varepsilon}{1-e^{-\varepsilon}} .
        """
        whole = balls.ball(self.range)
        reach = ((last - first + 1) // 2) * whole
        laws = [self._laws(index, epsilon)[0] for index in (first, last)]
        return self._likeliest(first, last, laws) * (reach.expm1() - reach) / -(-whole).expm1()

    def _likeliest(self, first: int, last: int, laws: list[_Law]) -> arb:
        r"""The chance of the value of a range next to the mean, where all means are on one side.

        Else :math:`\min\{1, \sqrt{\pi/(8(k-1)p(1-p))}\}`.
        """
        others, (left, right) = self.count - 1, laws
        if last <= others * left.low:
            return binomial_mass(others, last, left.low, left.high)
        if first >= others * right.low:
            return binomial_mass(others, first, right.low, right.high)
        spread = others * arb.min(*(law.low * law.high for law in laws))
        return (arb.pi() / 8 / spread).sqrt().min(arb(1)) if spread > 0 else arb(1)

    def _laws(self, index: int, epsilon: arb) -> tuple[_Law, _Law]:
        """The laws of one run under ``P`` and ``Q`` at ``t_l``."""
        whole = balls.ball(self.range)
        t = ((epsilon + (index + 1) * whole) / (self.count + 1)).min(whole)
        scale, rest = -(-whole).expm1(), (-(t - whole).expm1()).max(arb(0))
        p = _Law((-whole).exp() * t.expm1() / scale, rest / scale)
        return p, _Law(-(-t).expm1() / scale, rest * (-t).exp() / scale)

    def _at_most(self, index: int, law: _Law) -> arb:
        """The chance of at most ``index`` runs of loss ``t - eps``."""
        return binomial_tail(self.count, self.count - index, law.high, law.low)
