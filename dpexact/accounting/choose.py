"""The choice of method: from a mechanism to the privacy profile that accounts for it exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, TypeAlias

from dpexact import reals
from dpexact.accounting.classic.guarantees import sampling_of
from dpexact.accounting.classic.zcdp import is_only_bounded
from dpexact.accounting.classic.zcdp_profile import ZCDPProfile
from dpexact.accounting.closed_form import GaussianMixedWithResponse
from dpexact.accounting.combined import Fallback, WorseCurve, WorseDirection
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.few_atoms import FewAtoms
from dpexact.accounting.fixed_size import WORK, fixed_size_bounds
from dpexact.accounting.lattice import steps as lattice
from dpexact.accounting.lattice.profile import LatticeProfile
from dpexact.accounting.lattice_of import WORK as LATTICE_WORK
from dpexact.accounting.lattice_of import lattice_of, plain_steps
from dpexact.accounting.optimal import OptimalComposition
from dpexact.accounting.pairs import mixture
from dpexact.accounting.pairs.finite import Finite, sampled, symmetrised
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.pair import Pair
from dpexact.accounting.profile import (
    InfiniteLoss,
    NoLoss,
    Profile,
    Repeatable,
)
from dpexact.accounting.sampled_once import sampled_once
from dpexact.accounting.separated import Samples, Steps, separate
from dpexact.accounting.unsampled import Unsampled
from dpexact.arguments import Direction, Method
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import FixedSize, Mechanism, Poisson
from dpexact.reals import Real

_NOTHING: Final = reals.rational(0)

Mixtures: TypeAlias = list[tuple[Real | None, Real, int]]
"""Sampled Gaussians: ``mu``, the sampling rate, and the number of repetitions."""

#: Work after which a contour without a few digits is given up: a second or two.
_GLANCE_WORK: Final = 12_000_000

_UNFAILING: Final = (OptimalComposition, NoLoss, GaussianMixedWithResponse)
"""Profiles that answer whatever is asked."""


def profile(
    mechanism: Mechanism, direction: Direction = "both", method: Method = "auto"
) -> Profile:
    """The privacy profile of ``mechanism``'s dominating pair.

    Beside ``zcdp`` it is an upper bound (:class:`~dpexact.accounting.classic.ZCDPProfile`).
    Without sampling the two directions are the same; with it the larger of both, and no mixture of
    them, is the answer (``docs/theory/dominating-pairs.md``, Proposition 7). ``method`` may
    force the contour or the lattice engine where they apply.

    Raises:
        UnsupportedMechanism: naming the part that no certified method accounts for.
    """
    steps = mechanism.steps()
    if is_only_bounded(mechanism):
        if method != "auto":
            raise UnsupportedMechanism(f"the {method} engine accounts for no zCDP")
        return ZCDPProfile.of(mechanism)
    if any(isinstance(step, FixedSize) for step in steps):
        return _fixed_size(steps)
    plain, samples = separate(steps)
    if direction == "both" and samples:
        remove, add = (_one_way(plain, samples, way, method) for way in ("remove", "add"))
        return WorseDirection(remove, add)
    return _one_way(plain, samples, "remove" if direction == "both" else direction, method)


def _one_way(plain: Steps, samples: Samples, direction: Direction, method: Method) -> Profile:
    """The exact methods where they apply, with the lattice engine for whatever they refuse."""

    def lattice_profile(work: int = LATTICE_WORK) -> LatticeProfile:
        return lattice_of(plain, samples, direction == "add", work)

    if method == "lattice":
        return lattice_profile()
    try:
        if samples or method == "contour":
            found = _sampled(plain, samples, direction, method)
        else:
            found = Unsampled.of(plain).profile()
    except UnsupportedMechanism:
        if method == "contour":
            raise
        return lattice_profile()
    if method == "contour" or isinstance(found, _UNFAILING):
        return found
    if isinstance(found, ContourProfile):
        glance = ContourProfile(found.composition, found.infinite, _GLANCE_WORK)
        return Fallback(glance, lambda: lattice_profile(LATTICE_WORK // 3), found)
    return Fallback(found, lattice_profile)


def curve(mechanism: Mechanism, direction: Direction = "both") -> Repeatable | None:
    """What shares work between repetitions of ``mechanism``; None where nothing does."""
    try:
        return _curve(mechanism, direction)
    except UnsupportedMechanism:
        return None


def _curve(mechanism: Mechanism, direction: Direction) -> Repeatable | None:
    if is_only_bounded(mechanism):
        return None
    plain, samples = separate(mechanism.steps())
    rest = Unsampled.of(plain)
    inner = {sample: Unsampled.of(sample.mechanism.steps()) for sample in samples}
    if not samples or not all(part.is_gaussian for part in inner.values()):
        return None
    mixtures = [(inner[sample].mu, sample.q, count) for sample, count in samples.items()]
    if direction == "both":
        return WorseCurve(_contour(rest, mixtures, "remove"), _contour(rest, mixtures, "add"))
    return _contour(rest, mixtures, direction)


def _sampled(plain: Steps, samples: Samples, direction: Direction, method: Method) -> Profile:
    rest = Unsampled.of(plain)
    infinite = InfiniteLoss(tuple(rest.masses))
    if infinite.is_certain:
        return NoLoss(infinite)
    inner = {sample: Unsampled.of(sample.mechanism.steps()) for sample in samples}
    if method == "auto" and rest.is_empty and sum(samples.values()) == 1:
        (once,) = samples
        return sampled_once(inner[once].profile(), once.q, direction)
    if all(part.is_gaussian for part in inner.values()):
        mixtures = [(inner[sample].mu, sample.q, count) for sample, count in samples.items()]
        return _contour(rest, mixtures, direction)
    if rest.mu is not None or any(part.mu is not None for part in inner.values()):
        mixtures = [(inner[s].mu, s.q, k) for s, k in samples.items() if inner[s].is_gaussian]
        laws: list[tuple[Pair, int]] = [
            (_law(inner[s], s.q, direction), k)
            for s, k in samples.items()
            if not inner[s].is_gaussian
        ]
        return _contour(rest, mixtures, direction, laws)
    if method != "auto":
        raise UnsupportedMechanism("the contour engine needs a Gaussian")
    outcomes = [(sampled(inner[s].outcomes(), s.q, direction), k) for s, k in samples.items()]
    outcomes += [(Unsampled.of({step: 1}).outcomes(), count) for step, count in plain.items()]
    return FewAtoms(outcomes, InfiniteLoss())


def _law(inner: Unsampled, q: Real, direction: Direction) -> Finite:
    """A sample of a step of finitely many outcomes, none of infinite loss."""
    atoms = sampled(inner.outcomes(), q, direction)
    if inner.masses:
        raise UnsupportedMechanism("the contour engine samples no mass of infinite loss")
    return Finite(tuple(atoms))


def _contour(
    rest: Unsampled,
    mixtures: Mixtures,
    direction: Direction,
    laws: list[tuple[Pair, int]] | None = None,
) -> ContourProfile:
    """Sampled Gaussians and finite ``laws``, beside anything that sees all records."""
    if rest.mu is None and not mixtures:
        raise UnsupportedMechanism("the contour engine needs a Gaussian")
    way = mixture.remove if direction == "remove" else mixture.add
    steps: list[tuple[Pair, int]] = [
        (way(1 / mu, q), count) for mu, q, count in mixtures if mu is not None
    ]
    steps += [*(laws or []), *rest.pairs()]
    return ContourProfile(tuple(steps), InfiniteLoss(tuple(rest.masses)))


def _fixed_size(steps: Steps) -> Profile:
    """Gaussians on fixed-size samples, with Gaussians and responses that see all records."""
    plain: Steps = {}
    samples: Samples = {}
    dominating: list[lattice.Step] = []
    for step, count in steps.items():
        if isinstance(step, Poisson):
            raise UnsupportedMechanism(
                "poisson (add/remove neighbours) beside fixed_size (replacement neighbours)"
            )
        if not isinstance(step, FixedSize):
            plain[step] = plain.get(step, 0) + count
            continue
        inner = Unsampled.of(step.mechanism.steps())
        if not inner.is_gaussian:
            raise UnsupportedMechanism(f"no certified accounting for {step}")
        if inner.mu is None:
            continue
        if step.m == step.n:
            for single, times in step.mechanism.steps().items():
                plain[single] = plain.get(single, 0) + count * times
            continue
        rate = reals.rational(Fraction(step.m, step.n))
        sample = Poisson(step.mechanism, rate)
        samples[sample] = samples.get(sample, 0) + count
        dominating.append(lattice.SymmetrisedStep(Gaussian(inner.mu), rate, count))
    if not samples:
        return Unsampled.of(plain).profile()
    remove, add = (_one_way(plain, samples, way, "auto") for way in ("remove", "add"))
    attained = WorseDirection(remove, add)
    rest = Unsampled.of(plain)
    if rest.is_empty and sum(samples.values()) == 1:
        return attained
    return fixed_size_bounds(attained, _lattice_above(rest, dominating))


def _lattice_above(rest: Unsampled, dominating: list[lattice.Step]) -> LatticeProfile:
    infinite = InfiniteLoss(tuple(rest.masses))
    return LatticeProfile(plain_steps(rest) + dominating, infinite, WORK)


def symmetric_samples(mechanism: Mechanism) -> Profile:
    """The profile of ``C_q(f_1) (x) ... (x) C_q(f_k)``, which bounds that of a product of samples.

    A sample of a step with the symmetric trade-off function ``f`` is ``C_q(f)``-DP: with
    ``q = m/n`` and replacement neighbours (Dong, Roth, Su 2022, Theorem 9), and on a Poisson sample
    with add/remove neighbours, whose two directions are ``f_q`` and its inverse, both at least
    ``C_q(f)`` (Bu, Dong, Long, Su 2020).

    Raises:
        UnsupportedMechanism: no part is a sample, or not of Gaussians or finite laws.
    """
    sampling_of(mechanism)
    steps: Steps = {}
    for step, count in mechanism.steps().items():
        if isinstance(step, FixedSize):
            single: Mechanism = Poisson(step.mechanism, reals.rational(Fraction(step.m, step.n)))
        else:
            single = step
        steps[single] = steps.get(single, 0) + count
    plain, samples = separate(steps)
    if not samples:
        raise UnsupportedMechanism("no part is a sample")
    inner = {sample: Unsampled.of(sample.mechanism.steps()) for sample in samples}
    if all(part.is_gaussian for part in inner.values()):
        noises = [(inner[s].mu, s.q, count) for s, count in samples.items()]
        dominating: list[lattice.Step] = [
            lattice.SymmetrisedStep(Gaussian(mu), q, count)
            for mu, q, count in noises
            if mu is not None
        ]
        return _lattice_above(Unsampled.of(plain), dominating)
    outcomes = [(symmetrised(inner[s].outcomes(), s.q), count) for s, count in samples.items()]
    outcomes += [(Unsampled.of({step: 1}).outcomes(), count) for step, count in plain.items()]
    return FewAtoms(outcomes, InfiniteLoss())
