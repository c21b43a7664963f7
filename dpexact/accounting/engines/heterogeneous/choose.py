"""The choice of method for a product of randomised responses of different ``eps``."""

from __future__ import annotations

import math
from typing import Final

from dpexact.accounting.engines.few_atoms import FewAtoms
from dpexact.accounting.engines.heterogeneous.counts import CountLaw
from dpexact.accounting.engines.heterogeneous.grid import Parameters, largest_loss
from dpexact.accounting.engines.heterogeneous.meet_in_the_middle import Meeting
from dpexact.accounting.engines.heterogeneous.refinement import GridComposition
from dpexact.accounting.engines.lattice_product import LatticeComposition
from dpexact.accounting.pairs.lattice import MAX_ATOMS, commensurate
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import Fallback, FirstToReach, InfiniteLoss, Profile

#: Halves of so few outcomes are cheaper than a lattice law.
_FEW: Final = 1 << 12
#: The window of a lattice law, in standard deviations of the loss, for some tens of digits.
_WINDOW: Final = 40
#: So few outcomes of all mechanisms but those most often repeated are summed one by one.
_FEW_TYPES: Final = 256
#: So many different ``eps_i`` rarely turn together, then hardly ever, and a contour is short; of
#: more, a grid takes too long.
_SOME, _MANY, _MOST = 130, 200, 1000


def different_responses(parameters: Parameters, infinite: InfiniteLoss) -> Profile:
    """The profile of mechanisms ``(eps_i, count)`` of at least two different ``eps_i > 0``.

    Counts on a lattice and few outcomes first; then a lattice law cut at its tails; then binomial
    sums when all but one ``eps_i`` are repeated little; then up to 40 arbitrary ``eps_i`` by
    meeting in the middle; then the grid, and of many the contour of two blurs.

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
    if len(parameters) < _SOME:
        return GridComposition(parameters, infinite)
    from dpexact.accounting.engines.contour.atoms import AtomsProfile
    from dpexact.accounting.pairs.sums.response_sums import Leak

    atoms = AtomsProfile([*pairs, (Leak(infinite.masses), 1)], infinite)
    if len(parameters) > _MOST:
        return Fallback(atoms, lambda: GridComposition(parameters, infinite))
    grid = GridComposition(parameters, infinite)
    routes = (grid, atoms) if len(parameters) < _MANY else (atoms, grid)
    return FirstToReach(*routes)
