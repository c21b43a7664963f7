r"""Noises on lattices, some of endless support, on one Poisson sample.

Outcomes of all of them together are listed once a precision, with losses ``l`` and masses under
``Q``; those of equal loss are one where the lattices fit together. Floats choose those that matter
at an order. As ``log w`` has a slope in ``l`` between 0 and 1, what a sum leaves out, a set ``R``,
adds at most :math:`w(l_0)^p (Q(R) + e^{-p l_0} E_Q[e^{pl}; R])` to a moment of real part ``p``, for
any :math:`l_0`; both are differences of what is known and what is listed (``docs/theory/atoms.md``,
section 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from flint import arb

from dpexact.accounting.arrays import Flags, Floats
from dpexact.accounting.pairs.lattice import OnLattice
from dpexact.accounting.pairs.noise_outcomes import GUARD, Listed, NoiseOutcomes, outcomes_of
from dpexact.accounting.pairs.on_sample import ByRule, Rule
from dpexact.accounting.pairs.pair import Masses, TooExpensive, least_overlap, product
from dpexact.balls import AROUND, ball, current, precision
from dpexact.kept import cached_property
from dpexact.reals import Real

_LN2: Final = math.log(2)
#: Bits beyond those of a line, and most that differences may lose.
_MORE_BITS: Final = 64
_MOST_BITS: Final = 1_000
_PLANNING_BITS: Final = 64
_PLANNING_ACCURACY: Final = 20.0
_MOST_REACHING: Final = 1_000.0
#: Most that a power of a ratio may grow to, as a power of e.
_MOST_GROWTH: Final = 700.0
#: By how much an order may be above the one that is asked for.
_ROUNDED: Final = 2.0**-50


@dataclass(frozen=True)
class SampledNoises(ByRule):
    """``noises``, each with how often it runs, all on one sample of rate ``0 < q < 1``.

    Some are discrete Gaussian, all without infinite loss; ``removes`` the record, or adds it.
    """

    noises: tuple[tuple[OnLattice, int], ...]
    q: Real
    removes: bool

    @property
    def reverse(self) -> SampledNoises:
        return SampledNoises(self.noises, self.q, not self.removes)

    @cached_property
    def listing(self) -> NoiseOutcomes:
        """The outcomes, before sampling."""
        return outcomes_of(self.noises, self.q)

    def overlap(self) -> arb:
        """``1 - q`` and ``q`` times that of the noises: the laws differ by ``q`` times as much."""
        return 1 - ball(self.q) * (1 - least_overlap(self.noises))

    def largest_loss(self) -> arb | None:
        """Unbounded, or ``-log(1 - q)``."""
        return None if self.removes else -(-ball(self.q)).log1p()

    def atoms(self, tail: float) -> tuple[list[Masses], Masses]:
        # proposes: how many are listed; the masses left out are returned beside
        accuracy = -math.log(tail) if tail > 0 else _LN2 * current()
        listed = self.listing.chosen(1.0, accuracy)
        outcomes = zip(listed.masses, listed.losses, strict=True)
        pairs = [(b * loss.exp(), b) for b, loss in outcomes]
        left = 1 - sum((a for a, _ in pairs), arb(0)), 1 - sum(listed.masses, arb(0))
        q = ball(self.q)
        found = [((1 - q) * b + q * a, b) for a, b in [*pairs, left]]
        *atoms, left = found if self.removes else [(b, a) for a, b in found]
        return atoms, left

    # --- the rule ---------------------------------------------------------------------------------

    def _rule(self, power: arb, top: float, accuracy: float) -> Rule:
        # proposes: how many outcomes are listed; the rest is bounded
        order = float(power.mid())
        with precision(current() + self._lost(order) + _MORE_BITS):
            listed = self.listing.known(order, accuracy)
            error = self._left_out(listed, power)
        return Rule(listed.masses, listed.logs, error * AROUND)

    def _left_out(self, listed: Listed, power: arb) -> arb:
        """A bound on ``E_Q[w^power]`` of all other outcomes."""
        missing = listed.left(arb(1), arb(0))
        if power <= 0:
            return ((power * (-ball(self.q)).log1p()).exp() * missing).upper()
        if not power > 0:
            return arb("inf")
        # proposes: an order, which is valid if it is not less, by balls
        order = math.nextafter(float(power.mid()) - 1, math.inf)
        # proposes: likewise
        while not arb(order) + 1 >= power:
            order += max(abs(order), 1.0) * _ROUNDED
        whole = product(self.noises, lambda pair: pair.moment(order, 0.0))
        other = arb(order) + 1
        # proposes: the loss at which both bounds count alike
        meet = (whole.log() / other).mid()
        tilted = (-other * meet).exp() * listed.left(whole, other)
        return ((power * self.listing.log_ratio(meet)).exp() * (missing + tilted)).upper()

    # --- proposals --------------------------------------------------------------------------------

    def _lost(self, order: float) -> int:
        """Proposes: how many bits more make up for those that differences lose."""
        lost = max(order, 0.0) + self.listing.growth(order) / _LN2
        if not lost < _MOST_BITS:
            raise TooExpensive("too many digits of discrete noise are lost")
        return math.ceil(lost)

    def _listed(self, power: float) -> Floats:
        self._lost(power)  # what a rule refuses
        return self.listing.sketched(power, _PLANNING_ACCURACY)[::2]

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """As many as are listed, about."""
        power = self._power(c)
        fine = (accuracy + GUARD + self.listing.growth(power)) / (_PLANNING_ACCURACY + GUARD)
        return math.ceil(self._listed(power).shape[1] * math.sqrt(fine)), math.log2(2 + abs(c))


@dataclass(frozen=True)
class Within(ByRule):
    """``whole`` without the outcomes of which the loss, before sampling, is above ``ceiling``.

    Those are no part of either law here, which have less mass than 1. With ``w`` between ``1 - q``
    and ``w(ceiling)``, what is not listed adds at most its mass times the larger of both powers.
    """

    whole: SampledNoises
    ceiling: float

    @property
    def removes(self) -> bool:  # type: ignore[override]
        return self.whole.removes

    @property
    def reverse(self) -> Within:
        return Within(self.whole.reverse, self.ceiling)

    def mass(self) -> arb:
        """At the current precision."""
        return self.moment(0.0, _LN2 * current())

    def overlap(self) -> arb:
        """By the outcomes listed."""
        rule = self._rule(arb(0), 0.0, _PLANNING_ACCURACY)
        pairs = zip(rule.weights, rule.logs, strict=True)
        return sum((weight * arb.min(log.exp(), arb(1)) for weight, log in pairs), arb(0))

    def largest_loss(self) -> arb | None:
        """Of a removed record that of the ceiling, above all of them."""
        return self.highest if self.removes else self.whole.largest_loss()

    @property
    def highest(self) -> arb:
        """``log w(ceiling)``."""
        return self.whole.listing.log_ratio(arb(self.ceiling))

    def without(self, bits: int) -> Masses:
        """The masses of all other outcomes, not sampled and sampled, to about ``bits``."""
        powers, extra = (arb(0), arb(1)), _MORE_BITS
        while True:
            with precision(bits + extra):
                rules = [(power, self._rule(power, 0.0, _LN2 * current())) for power in powers]
                q, p = (arb.max(1 - rule.total(power), arb(0)) for power, rule in rules)
            # proposes: whether more bits are worth their price
            if min(q.rel_accuracy_bits(), p.rel_accuracy_bits()) >= bits or extra > _MOST_BITS:
                return q, p
            extra *= 2

    # --- the rule ---------------------------------------------------------------------------------

    def _rule(self, power: arb, top: float, accuracy: float) -> Rule:
        # proposes: how many outcomes are listed; the rest is bounded
        growth = self._growth(float(power.mid()))
        with precision(current() + math.ceil(growth / _LN2) + _MORE_BITS):
            listed = self.whole.listing.known(0.0, accuracy + growth)
            inside = listed.some(self._inside(listed))
            most = arb.max(power * self.highest, power * (-ball(self.whole.q)).log1p())
            error = (most.exp() * listed.left(arb(1), arb(0))).upper()
        around = error * AROUND
        return Rule(inside.masses, inside.logs, around)

    def _inside(self, listed: Listed) -> Flags:
        """Which of them are below the ceiling.

        Raises:
            TooExpensive: that is not certain of one.
        """
        top = arb(self.ceiling)
        # proposes: where the ceiling is, at any exact number; balls say what is below it
        inside = np.array([loss < top for loss in listed.losses])
        # proposes: likewise
        if not all(below or loss > top for below, loss in zip(inside, listed.losses, strict=True)):
            raise TooExpensive("an outcome next to a ceiling")
        return inside

    # --- proposals --------------------------------------------------------------------------------

    def _growth(self, power: float) -> float:
        """About the logarithm of the largest ``w^power``, where that is large.

        Raises:
            TooExpensive: too many digits would be lost.
        """
        growth = max(power * self._highest, self.whole.listing.growth(power), 0.0)
        # proposes: what is too much work
        if not growth < _MOST_GROWTH:
            raise TooExpensive("too many digits of discrete noise are lost")
        return growth

    @cached_property
    def _highest(self) -> float:
        with precision(_PLANNING_BITS):
            return float(self.highest.mid())

    @cached_property
    def _reaching(self) -> float:
        """An accuracy at which outcomes are listed up to the ceiling, if any is."""
        accuracy = _PLANNING_ACCURACY
        # proposes: when to stop
        while accuracy < _MOST_REACHING:
            # proposes: likewise
            if self.whole.listing.sketched(0.0, accuracy)[1].max() > self.ceiling:
                break
            accuracy *= 2
        return accuracy

    def _listed(self, power: float) -> Floats:
        """Of those below 0 few matter where ``power`` is large."""
        growth = self._growth(power)
        growth = max(min(growth, self._reaching), self.whole.listing.growth(power))
        found = self.whole.listing.sketched(0.0, _PLANNING_ACCURACY + growth)
        # proposes: about what is below it
        return found[::2, found[1] < self.ceiling]

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """As many as are listed, about."""
        power = self._power(c)
        growth = self._growth(power)
        fine = (accuracy + GUARD + growth) / (_PLANNING_ACCURACY + GUARD + growth)
        return math.ceil(self._listed(power).shape[1] * math.sqrt(fine)), math.log2(2 + abs(c))
