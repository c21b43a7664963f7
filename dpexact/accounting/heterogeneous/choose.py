"""The choice of method for a product of randomised responses of different ``eps``."""

from __future__ import annotations

import math
from typing import Final

from dpexact.accounting.few_atoms import FewAtoms
from dpexact.accounting.heterogeneous.commensurate import CountLaw, Parameters
from dpexact.accounting.heterogeneous.meet_in_the_middle import Meeting
from dpexact.accounting.heterogeneous.profile import HeterogeneousComposition
from dpexact.accounting.lattice_part import MAX_ATOMS, response
from dpexact.accounting.lattice_product import LatticeComposition, commensurate
from dpexact.accounting.pairs.finite import Atom
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.reals import Real

#: Halves of so few outcomes are cheaper than a lattice law.
_FEW: Final = 1 << 12
#: The window of a lattice law, in standard deviations of the loss, for some tens of digits.
_WINDOW: Final = 40
#: So few outcomes of all mechanisms but those most often repeated are summed one by one.
_FEW_TYPES: Final = 256


def different_responses(parameters: Parameters, infinite: InfiniteLoss) -> Profile:
    """The profile of mechanisms ``(eps_i, count)`` of at least two different ``eps_i > 0``.

    Counts on a lattice and few outcomes first; then a lattice law cut at its tails; then binomial
    sums when all but one ``eps_i`` are repeated little; then up to 40 arbitrary ``eps_i`` by
    meeting in the middle; then the grid.
    """
    if CountLaw.of(parameters) is None:
        few = Meeting.of(parameters)
        if few is None or few.outcomes > _FEW:
            common = commensurate([(response(eps), count) for eps, count in parameters])
            if common is not None:
                law = LatticeComposition(*common, infinite)
                spread = math.sqrt(
                    sum((s.part.spread(0.0) * s.stride) ** 2 * s.count for s in law.parts)
                )
                # proposes: the cheapest method; each is certified
                if _WINDOW * spread <= MAX_ATOMS:
                    return law
            if math.prod(sorted(count + 1 for _, count in parameters)[:-1]) <= _FEW_TYPES:
                return FewAtoms([(_atoms(eps), count) for eps, count in parameters], infinite)
    return HeterogeneousComposition(parameters, infinite)


def _atoms(eps: Real) -> list[Atom]:
    part = response(eps)
    return [Atom(p, q) for p, q in zip(part.p, part.q, strict=True)]
