"""Many different ``eps_i``: the profile between the two laws of the grid."""

from __future__ import annotations

from fractions import Fraction

from dpexact import balls
from dpexact.accounting.heterogeneous.grid import BITS, GridLaws
from dpexact.accounting.heterogeneous.parameters import Parameters, largest_loss
from dpexact.accounting.heterogeneous.refinement import RefinedGrid
from dpexact.accounting.heterogeneous.roots import epsilon_on_grid
from dpexact.accounting.inverted import ONE, ZERO, InvertedProfile
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.reals import Real


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
