r"""Shuffled reports of ``n`` users, each ``eps0``-DP by itself: one hides among clones.

The pair of Feldman, McMillan and Talwar (2021), with proof in ``docs/theory/shuffling.md``:
:math:`(A + D,\ C - A + 1 - D)` against the same with ``1 - D`` for ``D``, where

.. math:: C \sim \mathrm{Bin}(n-1, 1/E), \quad A \sim \mathrm{Bin}(C, 1/2), \quad
          D \sim \mathrm{Bern}(\alpha), \quad \alpha = \frac{E}{1+E}, \quad E = e^{\varepsilon_0}.

Of ``c + 1`` clones with ``a`` on the one side the likelihood ratio is, at :math:`x = a/(c+1)`,

.. math:: \frac{dP}{dQ} = \frac{1 + (E-1)x}{E - (E-1)x},

so that ratios above ``r`` are those of :math:`x > \theta(r) = (rE-1)/((E-1)(1+r))`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

import numpy as np
from flint import arb

from dpexact.accounting.binomial import binomial_mass, binomial_tail
from dpexact.accounting.pairs.pair import Masses, Pair, Tails, far, reached
from dpexact.balls import UNIT, approximate, ball, current, precision, to_enclosure
from dpexact.reals import Real

#: Bits of whole numbers, and by how many units they are rounded.
_WORD, _DOUBT = 62, 3
#: Points with more outcomes between them, of as many clones, are asked one by one.
_APART: Final = 12
#: Up to so many users all outcomes are listed.
_FEW: Final = 200
_PLANNING_BITS: Final = 128


class Clones(NamedTuple):
    """So many ``clones`` with chance ``chance``; ``least`` of them on one side make a ratio above.

    ``tail`` is ``Pr[A >= least]``, ``before`` is ``Pr[A = least - 1]``, and ``near`` is
    ``Pr[A = least]`` where balls do not tell whether the ratio of ``least`` is above, else None.
    """

    clones: int
    least: int
    chance: arb
    tail: arb
    before: arb
    near: arb | None


@dataclass(frozen=True)
class Shuffled(Pair):
    """``epsilon > 0`` of each of ``users >= 1``. The pair is symmetric."""

    epsilon: Real
    users: int

    def overlap(self) -> arb:
        """``1 - delta(0)``."""
        return 1 - self.divergence(arb(0))

    def largest_loss(self) -> arb | None:
        """``epsilon``, where all clones are on one side."""
        return ball(self.epsilon)

    def divergence(self, epsilon: arb) -> arb:
        r"""With ``a`` the least outcome above ``theta``, :math:`u = \alpha - r(1-\alpha)` and
        :math:`v = r\alpha - (1-\alpha)`,

        .. math:: \delta = \sum_c \Pr[C = c]\,(u \Pr[A \ge a - 1] - v \Pr[A \ge a]).
        """
        ratio = epsilon.exp()
        one, other = self._sides()
        u, v = one - ratio * other, ratio * one - other
        found, left = self._clones(ratio)
        total = arb(0)
        for c in found:
            total += c.chance * (u * (c.tail + c.before) - v * c.tail)
            if c.near is not None:  # counted, though it may have to be left out
                total += c.chance * (v * c.near - u * c.before).max(arb(0))
        return total + left

    def divergences(self, epsilons: Sequence[arb]) -> list[arb]:
        """Of neighbours every outcome is counted once, for the largest ratio that it is above."""
        found: dict[int, arb] = {}
        low, high, left = self._window()
        one, other = self._sides()
        bits, places = _WORD - self.users.bit_length(), dict[int, int]()
        for i, epsilon in enumerate(epsilons):
            theta = self._theta(epsilon.exp())
            # proposes: who is asked with others; not of whom balls say too little
            if self.users < 1 << (bits - 2) and 0 < theta < 1 and theta.rad() * (1 << bits) < 1:
                places[i] = math.floor(to_enclosure(theta).lower * (1 << bits))
        groups = list[list[int]]()
        for i in sorted(places, key=places.__getitem__, reverse=True):
            # proposes: neighbours, between which there are few outcomes for each count of clones
            if not groups or (places[groups[-1][-1]] - places[i]) * high >> bits > _APART:
                groups.append([])
            groups[-1].append(i)
        for group in (x for x in groups if len(x) > 1):
            sums = self._counted(low, high, [places[i] for i in group], bits)
            for i, tails in zip(group, sums, strict=True):
                if tails is not None:
                    ratio = epsilons[i].exp()
                    u, v = one - ratio * other, ratio * one - other
                    found[i] = u * tails[0] - v * tails[1] + left
        each = enumerate(epsilons)
        return [found[i] if i in found else reached(self.divergence, x) for i, x in each]

    def _counted(
        self, low: int, high: int, thetas: Sequence[int], bits: int
    ) -> list[tuple[arb, arb] | None]:
        """The sums over ``c`` of ``Pr[A >= a - 1]`` and of ``Pr[A >= a]`` for several thetas.

        They fall, in units of ``2^-bits``, and each may be ``_DOUBT`` of them larger; where that
        matters there is None.
        """
        last, rising, unclear = len(thetas), np.array(thetas[::-1]), set[int]()
        firsts, seconds = [arb(0)] * last, [arb(0)] * last
        for c in self._downwards(low, high, (thetas[0], thetas[0] + _DOUBT), bits):
            firsts[0] += c.chance * (c.tail + c.before)
            seconds[0] += c.chance * c.tail
            least = max(0, (thetas[-1] * (c.clones + 1) >> bits) + 1)
            outcomes = np.arange(c.least - 1, least - 1, -1)
            shares = (outcomes << bits) // (c.clones + 1)
            below = last - np.searchsorted(rising, shares, "right")
            surely = last - np.searchsorted(rising, shares - _DOUBT, "right")
            # proposes: nothing; all these are whole numbers
            for k in np.flatnonzero(below < surely):
                # proposes: likewise
                unclear.update(range(below[k], surely[k]))
            if c.near is not None:
                # proposes: likewise
                unclear.update(i for i in range(last) if thetas[i] > thetas[0] - _DOUBT)
            mass = c.chance * c.before
            for a, i in zip(outcomes.tolist(), below.tolist(), strict=True):
                seconds[i] += mass
                mass = mass * a / (c.clones + 1 - a)
                firsts[i] += mass
        sums = enumerate(zip(accumulate(firsts), accumulate(seconds), strict=True))
        # proposes: likewise
        return [None if i in unclear else both for i, both in sums]

    def atoms(self, tail: float) -> tuple[list[Masses], Masses]:
        """All outcomes of few users."""
        if self.users > _FEW:
            return super().atoms(tail)
        one, other = self._sides()
        chance, half, zero = (-ball(self.epsilon)).exp(), arb(0.5), arb(0)
        found = []
        for c in range(self.users):
            count = binomial_mass(self.users - 1, c, chance, 1 - chance)
            sides = [count * binomial_mass(c, a, half, half) for a in range(c + 1)]
            for with_one, with_other in pairwise([zero, *sides, zero]):
                p, q = one * with_one + other * with_other, other * with_one + one * with_other
                found.append((p, q))
        return found, (zero, zero)

    def tails(self, bits: int) -> tuple[Tails, arb] | None:
        """Of the whole law, where its outcomes are too many to list."""
        if self.users <= _FEW:
            return None
        one, other = self._sides()

        def tails(ratio: arb) -> Masses:
            found, left = self._clones(ratio)
            p = q = left
            for c in found:
                above = c.tail + c.before
                mass_p, mass_q = one * above + other * c.tail, other * above + one * c.tail
                if c.near is not None:
                    mass_p -= arb(0).union(one * c.before + other * c.near)
                    mass_q -= arb(0).union(other * c.before + one * c.near)
                p, q = p + c.chance * mass_p, q + c.chance * mass_q
            return p, q

        return tails, arb(1)

    def _sides(self) -> tuple[arb, arb]:
        """``alpha`` and ``1 - alpha``."""
        rise = ball(self.epsilon).exp()
        return rise / (1 + rise), 1 / (1 + rise)

    def _clones(self, ratio: arb) -> tuple[Iterator[Clones], arb]:
        """For each count of clones what lies above ``ratio``, and the chance of the others."""
        low, high, left = self._window()
        bits = current() + high.bit_length() + 8
        theta = self._theta(ratio)
        if theta >= 1:
            return iter(()), arb(0)
        if not theta.is_finite():
            return iter(()), UNIT
        bounds = to_enclosure(theta)
        least, most = (math.floor(bound * (1 << bits)) for bound in (bounds.lower, bounds.upper))
        if (most + 1 - least) * (high + 1) >> bits:  # several outcomes are not told apart
            return iter(()), UNIT
        return self._downwards(low, high, (least, most + 1), bits), left

    def _theta(self, ratio: arb) -> arb:
        """Beyond this share of clones on the one side are the ratios above."""
        rise = ball(self.epsilon).exp()
        return (ratio * rise - 1) / ((rise - 1) * (1 + ratio))

    def _window(self) -> tuple[int, int, arb]:
        """Counts of clones, and what holds the chance of all others."""
        others, chance = self.users - 1, (-ball(self.epsilon)).exp()
        rest = 1 - chance
        # proposes: where the counts that matter lie; what is left out is bounded
        near = approximate(self.epsilon)
        mean = others * math.exp(-near)
        reach = current() * math.log(2)
        width = math.sqrt(2 * reach * mean * -math.expm1(-near)) + reach
        low, high = max(0, math.floor(mean - width)), min(others, math.ceil(mean + width))
        left = arb(0)
        # proposes: likewise
        if high < others:
            left += _geometric(
                binomial_mass(others, high + 1, chance, rest),
                (others - high - 1) * chance / ((high + 2) * rest),
            )
        # proposes: likewise
        if low > 0:
            left += _geometric(
                binomial_mass(others, low - 1, chance, rest),
                (low - 1) * rest / ((others - low + 2) * chance),
            )
        return low, high, arb(0).union(left)

    def _downwards(
        self, low: int, high: int, theta: tuple[int, int], bits: int
    ) -> Iterator[Clones]:
        r"""From the largest count down, where the tails rise and errors do not grow, by

        .. math:: \Pr[A_c \ge a] = \Pr[A_{c+1} \ge a] - \Pr[A_c = a - 1]/2 .
        """
        others, chance = self.users - 1, (-ball(self.epsilon)).exp()
        rest = 1 - chance
        half, odds, zero = arb(0.5), rest / chance, arb(0)

        def first(c: int, bound: int, largest: int) -> int:
            return min(max((bound * (c + 1) >> bits) + 1, 0), largest)

        least, most = theta
        a = first(high, least, high + 1)
        weight = binomial_mass(others, high, chance, rest)
        tail = binomial_tail(high, a, half, half)
        before = binomial_mass(high, a - 1, half, half)
        for c in range(high, low - 1, -1):
            if c < high:
                weight = weight * (c + 1) / (others - c) * odds
                if a > c + 1:  # from all clones to all clones on the one side
                    a, tail, before = c + 1, zero, half**c
                else:
                    before = before * (2 * (c + 2 - a)) / (c + 1)
                    tail -= before / 2
                for _ in range(a - first(c, least, c + 1)):
                    tail += before
                    before = before * (a - 1) / (c + 2 - a) if a > 1 else zero
                    a -= 1
            near = None
            if a < first(c, most, c + 2):
                near = before * (c + 1 - a) / a if a > 0 else arb(0.5) ** c
            yield Clones(c, a, weight, tail, before, near)

    # --- planning ---------------------------------------------------------------------------------

    def lowest(self) -> arb | None:
        """A little below ``-epsilon``: then no lattice point meets the loss 0 of many outcomes."""
        return -ball(self.epsilon) * (1 + arb.pi() / 1000)

    def span(self, tail: float) -> tuple[float, float]:
        """About as for a normal law: with ``c`` clones ``x`` spreads by ``1 / (2 sqrt(c))``."""
        largest = approximate(self.epsilon)
        clones = (self.users - 1) * math.exp(-largest) + 1
        spread = 2 * math.tanh(largest / 2) / math.sqrt(clones)
        top = min(largest, spread * (far(tail) + 1) * 1.5)
        return -top, top

    @property
    def tail_cost(self) -> int:
        """As many steps as counts of clones that matter."""
        with precision(_PLANNING_BITS):
            low, high, _ = self._window()
        return 1 + (high - low) // 4

    def lost_bits(self) -> int:
        """Those of sums over all counts of clones, and of the logarithms of factorials."""
        return 2 * self.users.bit_length() + 16


def _geometric(first: arb, ratio: arb) -> arb:
    """A bound on a probability: the sum of terms that fall at least by ``ratio``."""
    return first / (1 - ratio) if ratio < 1 else arb(1)
