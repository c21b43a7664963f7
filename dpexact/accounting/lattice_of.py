"""Any composition of the grammar as steps of the lattice engine."""

from __future__ import annotations

from typing import Final

from dpexact import reals
from dpexact.accounting.few_atoms import Atom, sampled
from dpexact.accounting.lattice import LatticeProfile
from dpexact.accounting.lattice.atoms import DiscreteGaussianStep, FiniteStep
from dpexact.accounting.lattice.laplace import LaplaceStep
from dpexact.accounting.lattice.nested import NestedStep
from dpexact.accounting.lattice.sampling import Sampling
from dpexact.accounting.lattice.steps import ContinuousStep, Step
from dpexact.accounting.lattice_part import DiscreteGaussianPart, FinitePart, response
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.separated import Samples, Steps, separate
from dpexact.accounting.unsampled import Unsampled
from dpexact.errors import UnsupportedMechanism

#: Work allowed: some seconds a direction.
WORK: Final = 12_000_000

_ONE: Final = reals.rational(1)
_NOTHING: Final = reals.rational(0)
_PLAIN: Final = Sampling(_ONE, add=False)


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
    steps: list[Step] = []
    if rest.mu is not None:
        steps.append(ContinuousStep(1 / rest.mu, _ONE, 1, False))
    steps += [LaplaceStep(rate, _PLAIN, count) for rate, count in rest.laplace]
    finite = [(response(eps), count) for eps, count in rest.responses.items()]
    for part, count in [*rest.others, *finite]:
        if isinstance(part, DiscreteGaussianPart):
            steps.append(DiscreteGaussianStep(part, _PLAIN, count))
        elif isinstance(part, FinitePart):
            outcomes = tuple(Atom(p, q) for p, q in zip(part.p, part.q, strict=True))
            steps.append(FiniteStep(outcomes, count))
    for mass, count in rest.masses:
        kept = 1 - mass
        outcomes = (Atom(kept, kept), Atom(mass, _NOTHING), Atom(_NOTHING, mass))
        steps.append(FiniteStep(outcomes, count))
    return steps


def _sample(inner: Steps, sampling: Sampling, count: int) -> Step:
    """One step on a sample: directly where its law is at hand, else by its own lattice."""
    plain, samples = separate(inner)
    rest = Unsampled.of(plain)
    if not samples and rest.is_gaussian and rest.mu is not None:
        noise = 1 / rest.mu
        return ContinuousStep(noise, sampling.rate, count, sampling.add)
    steps = steps_of(plain, samples, add=False)
    match steps:
        case [FiniteStep(outcomes, 1)]:
            atoms = sampled(list(outcomes), sampling.rate, "add" if sampling.add else "remove")
            return FiniteStep(tuple(atoms), count)
        case [LaplaceStep(rate, _, 1)]:
            return LaplaceStep(rate, sampling, count)
        case [DiscreteGaussianStep(part, _, 1)]:
            return DiscreteGaussianStep(part, sampling, count)
    return NestedStep(tuple(steps), sampling, count)


def infinite_loss(plain: Steps, samples: Samples, add: bool) -> InfiniteLoss:
    """The mass of infinite loss; samples have none in direction ``add``."""
    masses = list(Unsampled.of(plain).masses)
    for sample, count in ({} if add else samples).items():
        inner = infinite_loss(*separate(sample.mechanism.steps()), add=False)
        if inner.masses:
            masses.append((sample.q * inner.mass, count))
    return InfiniteLoss(tuple(masses))
