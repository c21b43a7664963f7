"""The choice of method for a product of randomised responses of different ``eps``."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from dpexact import balls
from dpexact.accounting.few_atoms import FewAtoms
from dpexact.accounting.heterogeneous.counts import CountLaw
from dpexact.accounting.heterogeneous.grid import BITS, GridLaws
from dpexact.accounting.heterogeneous.meet_in_the_middle import Meeting
from dpexact.accounting.heterogeneous.parameters import Parameters, largest_loss
from dpexact.accounting.heterogeneous.refinement import RefinedGrid
from dpexact.accounting.heterogeneous.roots import epsilon_on_grid
from dpexact.accounting.inverted import ONE, ZERO, InvertedProfile
from dpexact.accounting.lattice_product import LatticeComposition
from dpexact.accounting.pairs.lattice import MAX_ATOMS, commensurate
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import Fallback, InfiniteLoss, Profile
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: Halves of so few outcomes are cheaper than a lattice law.
_FEW: Final = 1 << 12
#: The window of a lattice law, in standard deviations of the loss, for some tens of digits.
_WINDOW: Final = 40
#: So few outcomes of all mechanisms but those most often repeated are summed one by one.
_FEW_TYPES: Final = 256
#: So many different ``eps_i`` hardly ever turn together, and a contour is short.
_MANY: Final = 200


def different_responses(parameters: Parameters, infinite: InfiniteLoss) -> Profile:
    """The profile of mechanisms ``(eps_i, count)`` of at least two different ``eps_i > 0``.

    Counts on a lattice and few outcomes first; then a lattice law cut at its tails; then binomial
    sums when all but one ``eps_i`` are repeated little; then up to 40 arbitrary ``eps_i`` by
    meeting in the middle; then, of very many, the contour of two blurs; then the grid.

    Raises:
        UnsupportedMechanism: too many mechanisms, even for the grid.
    """
    pairs = [(Response(eps), count) for eps, count in parameters]
    common = commensurate(pairs, math.inf)
    if common is not None and not (exact := CountLaw(*common, infinite)).is_long:
        return exact
    meeting = Meeting(parameters, infinite)
    # proposes: the cheapest method; each is certified
    if meeting.outcomes > _FEW:
        if common is not None and max(s.stride for s in common[1]) <= MAX_ATOMS:
            law = LatticeComposition(*common, infinite)
            # proposes: likewise
            if _WINDOW * law.spread(0.0) <= MAX_ATOMS:
                return law
        if math.prod(sorted(count + 1 for _, count in pairs)[:-1]) <= _FEW_TYPES:
            steps = [(pair.outcomes(), count) for pair, count in pairs]
            return FewAtoms(steps, infinite, largest_loss(parameters))
    if not meeting.is_long:
        return meeting
    # proposes: likewise
    if len(parameters) < _MANY:
        return GridComposition(parameters, infinite)
    from dpexact.accounting.contour.atoms import AtomsProfile
    from dpexact.accounting.pairs.response_sums import Leak

    atoms = AtomsProfile([*pairs, (Leak(infinite.masses), 1)], infinite)
    return Fallback(atoms, lambda: GridComposition(parameters, infinite))


class GridComposition(InvertedProfile):
    """Profile of mechanisms ``(eps_i, count)``, all ``eps_i > 0``, with any infinite-loss mass.

    Raises:
        UnsupportedMechanism: too many mechanisms.
    """

    method = "heterogeneous composition: grid"

    def __init__(self, parameters: Parameters, infinite: InfiniteLoss) -> None:
        self.infinite = infinite
        self.largest: Real = largest_loss(parameters)
        self.grid = RefinedGrid(parameters)

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known = self.only_infinite(epsilon, digits)
        if known is not None:
            return known

        def ask(laws: GridLaws) -> Enclosure:
            with balls.precision(BITS):
                level, lost = balls.ball(epsilon), self.infinite.ball()
                ends = (balls.ball(end(level)) for end in (laws.below, laws.above))
                low, high = (balls.to_enclosure(lost + (1 - lost) * end) for end in ends)
            return low.between(high, self.method).within(ZERO, ONE)

        return self.grid.refine(ask, digits, lambda best: float(best.upper)).within(ZERO, ONE)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        found = epsilon_on_grid(self.grid, self.infinite, delta, digits)
        # at the largest loss delta is down to the infinite mass
        return found.within(ZERO, Fraction(self.largest_loss(20).upper))
