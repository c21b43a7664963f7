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
from functools import cached_property
from typing import Final

from flint import arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.lattice import OnLattice
from dpexact.accounting.pairs.noise_outcomes import GUARD, Listed, NoiseOutcomes, outcomes_of
from dpexact.accounting.pairs.on_sample import OnSample, Rule
from dpexact.accounting.pairs.pair import Masses, TooExpensive, least_overlap, product
from dpexact.balls import ball, current, precision
from dpexact.reals import Real

_MORE_BITS: Final = 64
#: Bits that differences may lose.
_MOST_LOST: Final = 1_000.0
_PLANNING_ACCURACY: Final = 20.0
_LN2: Final = math.log(2)
#: By how much an order may be above the one that is asked for.
_ROUNDED: Final = 2.0**-50


@dataclass(frozen=True)
class SampledNoises(OnSample):
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
        return Rule(listed.masses, listed.logs, error * arb(0).union(arb(1)).union(arb(-1)))

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
        if not lost < _MOST_LOST:
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
