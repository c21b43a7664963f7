"""Any composition of the grammar as steps of the lattice engine."""

from __future__ import annotations

from typing import Final

from dpexact.accounting.lattice.nested import NestedStep
from dpexact.accounting.lattice.profile import LatticeProfile
from dpexact.accounting.lattice.sampling import PLAIN, Sampling
from dpexact.accounting.lattice.steps import PairStep, Step
from dpexact.accounting.pairs.finite import Finite, sampled
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.separated import Samples, Steps, separate
from dpexact.accounting.unsampled import Unsampled
from dpexact.errors import UnsupportedMechanism

#: Work allowed: some seconds a direction.
WORK: Final = 12_000_000


def lattice_of(plain: Steps, samples: Samples, add: bool, work: int = WORK) -> LatticeProfile:
    """The profile of the composition in one direction.

    Raises:
        UnsupportedMechanism: a step has no dominating pair here (zCDP, fixed-size samples), or
            none loses anything.
    """
    steps = steps_of(plain, samples, add)
    if not steps:
        raise UnsupportedMechanism("the lattice engine needs a step that loses privacy")
    return LatticeProfile(steps, infinite_loss(plain, samples, add), work)


def steps_of(plain: Steps, samples: Samples, add: bool) -> list[Step]:
    """The steps of a composition; ``samples`` have rates strictly between 0 and 1."""
    steps = plain_steps(Unsampled.of(plain))
    return steps + [
        _sample(sample.mechanism.steps(), Sampling(sample.q, add), count)
        for sample, count in samples.items()
    ]


def plain_steps(rest: Unsampled) -> list[Step]:
    """The steps of a composition without sampling."""
    return [PairStep(pair, count) for pair, count in rest.pairs()]


def _sample(inner: Steps, sampling: Sampling, count: int) -> Step:
    """One step on a sample: directly where its law is at hand, else by its own lattice."""
    plain, samples = separate(inner)
    steps = steps_of(plain, samples, add=False)
    match steps:
        case [PairStep((Finite() | Response()) as pair, 1)]:
            atoms = sampled(pair.outcomes, sampling.rate, "add" if sampling.add else "remove")
            return PairStep(Finite(tuple(atoms)), count)
        case [PairStep(pair, 1, sampling=given)] if given == PLAIN:
            return PairStep(pair, count, sampling)
    return NestedStep(tuple(steps), sampling, count)


def infinite_loss(plain: Steps, samples: Samples, add: bool) -> InfiniteLoss:
    """The mass of infinite loss; samples have none in direction ``add``."""
    masses = list(Unsampled.of(plain).masses)
    for sample, count in ({} if add else samples).items():
        inner = infinite_loss(*separate(sample.mechanism.steps()), add=False)
        if inner.masses:
            masses.append((sample.q * inner.mass, count))
    return InfiniteLoss(tuple(masses))
