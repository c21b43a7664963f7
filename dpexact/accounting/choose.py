"""The choice of method: from a mechanism to the privacy profile that accounts for it exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Final, Literal, TypeAlias, get_args

from dpexact import balls, reals
from dpexact.accounting.classic.guarantees import sampling_of
from dpexact.accounting.classic.zcdp import is_only_bounded
from dpexact.accounting.classic.zcdp_profile import ZCDPProfile
from dpexact.accounting.contour import ContourProfile
from dpexact.accounting.contour import steps as contour
from dpexact.accounting.few_atoms import FewAtoms, sampled, symmetrised
from dpexact.accounting.fixed_size import WORK, FixedSizeBounds
from dpexact.accounting.lattice import LatticeProfile
from dpexact.accounting.lattice import steps as lattice
from dpexact.accounting.lattice.engine import WORK as LATTICE_WORK
from dpexact.accounting.profile import InfiniteLoss, Profile, Repeatable, WorseCurve, WorseDirection
from dpexact.accounting.sampled_once import sampled_once
from dpexact.accounting.unsampled import Unsampled
from dpexact.arguments import Direction
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import FixedSize, Mechanism, Poisson
from dpexact.reals import Real

_ONE: Final = reals.rational(1)
_NOTHING: Final = reals.rational(0)

Steps: TypeAlias = dict[Mechanism, int]
Mixtures: TypeAlias = list[tuple[Real | None, Real, int]]
"""Sampled Gaussians: ``mu``, the sampling rate, and the number of repetitions."""

Method: TypeAlias = Literal["auto", "contour", "lattice"]
"""``auto`` takes the fastest method that is certified; the others are engines, second routes."""

METHODS: Final[tuple[Method, ...]] = get_args(Method)


def profile(
    mechanism: Mechanism, direction: Direction = "both", method: Method = "auto"
) -> Profile:
    """The privacy profile of ``mechanism``'s dominating pair.

    Beside ``zcdp`` it is an upper bound (:class:`~dpexact.accounting.classic.ZCDPProfile`).
    Without sampling the two directions are the same. ``method`` may force the contour or the
    lattice engine where they apply.

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
    plain, samples = _separate(steps)
    if not samples and method == "auto":
        return Unsampled.of(plain).profile()
    if direction == "both" and samples:
        remove, add = (_sampled(plain, samples, way, method) for way in ("remove", "add"))
        return WorseDirection(remove, add)
    return _sampled(plain, samples, "remove" if direction == "both" else direction, method)


def curve(mechanism: Mechanism, direction: Direction = "both") -> Repeatable | None:
    """What shares work between repetitions of ``mechanism``; None where nothing does.

    Raises:
        UnsupportedMechanism: as :func:`profile`.
    """
    if is_only_bounded(mechanism):
        return None
    plain, samples = _separate(mechanism.steps())
    rest = Unsampled.of(plain)
    inner = {sample: Unsampled.of(sample.mechanism.steps()) for sample in samples}
    if not samples or not all(part.is_gaussian for part in inner.values()):
        return None
    mixtures = [(inner[sample].mu, sample.q, count) for sample, count in samples.items()]
    if direction == "both":
        return WorseCurve(_contour(rest, mixtures, "remove"), _contour(rest, mixtures, "add"))
    return _contour(rest, mixtures, direction)


def _separate(steps: Steps) -> tuple[Steps, dict[Poisson, int]]:
    """The steps without and with sampling; nested rates multiply.

    Rates 0 and 1, and samples from which nothing is lost, disappear.
    """
    plain: Steps = {}
    samples: dict[Poisson, int] = {}
    for step, count in steps.items():
        rate, inner = _ONE, step
        while isinstance(inner, Poisson):
            rate, inner = reals.multiply(rate, inner.q), inner.mechanism
        if balls.sign(rate, "q") == 0:
            continue
        if inner is step:
            plain[step] = plain.get(step, 0) + count
        elif rate.fraction == 1:
            plain_inside, samples_inside = _separate(inner.steps())
            for single, times in plain_inside.items():
                plain[single] = plain.get(single, 0) + count * times
            for sample, times in samples_inside.items():
                samples[sample] = samples.get(sample, 0) + count * times
        elif not Unsampled.of(inner.steps()).is_empty:
            sample = Poisson(inner, rate)
            samples[sample] = samples.get(sample, 0) + count
    return plain, samples


def _sampled(
    plain: Steps, samples: dict[Poisson, int], direction: Direction, method: Method
) -> Profile:
    rest = Unsampled.of(plain)
    inner = {sample: Unsampled.of(sample.mechanism.steps()) for sample in samples}
    if method == "auto" and rest.is_empty and sum(samples.values()) == 1:
        (once,) = samples
        return sampled_once(inner[once].profile(), once.q, direction)
    if all(part.is_gaussian for part in inner.values()):
        mixtures = [(inner[sample].mu, sample.q, count) for sample, count in samples.items()]
        build = _lattice if method == "lattice" else _contour
        return build(rest, mixtures, direction)
    if method != "auto":
        raise UnsupportedMechanism(f"the {method} engine samples nothing but Gaussians")
    outcomes = [(sampled(inner[s].outcomes(), s.q, direction), k) for s, k in samples.items()]
    outcomes += [(Unsampled.of({step: 1}).outcomes(), count) for step, count in plain.items()]
    return FewAtoms(outcomes, InfiniteLoss())


def _contour(rest: Unsampled, mixtures: Mixtures, direction: Direction) -> ContourProfile:
    """Sampled Gaussians, with anything beside them that sees all records."""
    if rest.mu is None and not mixtures:
        raise UnsupportedMechanism("the contour engine needs a Gaussian")
    way = contour.remove if direction == "remove" else contour.add
    steps: list[tuple[contour.Step, int]] = [
        (way(reals.divide(_ONE, mu), q), count) for mu, q, count in mixtures if mu is not None
    ]
    steps += rest.moments()
    return ContourProfile(tuple(steps), InfiniteLoss(tuple(rest.masses)))


def _lattice(rest: Unsampled, mixtures: Mixtures, direction: Direction) -> LatticeProfile:
    """The same composition for the lattice engine."""
    add = direction == "add"
    sampled_steps = [
        lattice.ContinuousStep(reals.divide(_ONE, mu), q, count, add)
        for mu, q, count in mixtures
        if mu is not None
    ]
    return _lattice_with(rest, sampled_steps)


def _lattice_with(
    rest: Unsampled, steps: Sequence[lattice.Step], work: int = LATTICE_WORK
) -> LatticeProfile:
    if rest.laplace or rest.others:
        raise UnsupportedMechanism("the lattice engine has no Laplace or lattice noise")
    found: list[lattice.Step] = list(steps)
    if rest.mu is not None:
        found.append(lattice.ContinuousStep(reals.divide(_ONE, rest.mu), _ONE, 1, False))
    found += [lattice.AtomStep(eps, _NOTHING, count) for eps, count in rest.responses.items()]
    found += [lattice.AtomStep(_NOTHING, mass, count) for mass, count in rest.masses]
    if not any(isinstance(step, lattice.ContinuousStep | lattice.SubsampledStep) for step in found):
        raise UnsupportedMechanism("the lattice engine needs a Gaussian")
    return LatticeProfile(found, InfiniteLoss(tuple(rest.masses)), work)


def _fixed_size(steps: Steps) -> Profile:
    """Gaussians on fixed-size samples, with Gaussians and responses that see all records."""
    plain: Steps = {}
    samples: dict[Poisson, int] = {}
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
        noise = reals.divide(_ONE, inner.mu)
        dominating.append(lattice.SubsampledStep(noise, rate, count))
    if not samples:
        return Unsampled.of(plain).profile()
    remove, add = (_sampled(plain, samples, way, "auto") for way in ("remove", "add"))
    attained = WorseDirection(remove, add)
    rest = Unsampled.of(plain)
    if rest.is_empty and sum(samples.values()) == 1:
        return attained
    return FixedSizeBounds(attained, _lattice_with(rest, dominating, WORK))


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
    plain, samples = _separate(steps)
    if not samples:
        raise UnsupportedMechanism("no part is a sample")
    inner = {sample: Unsampled.of(sample.mechanism.steps()) for sample in samples}
    if all(part.is_gaussian for part in inner.values()):
        noises = [(inner[s].mu, s.q, count) for s, count in samples.items()]
        dominating = [
            lattice.SubsampledStep(reals.divide(_ONE, mu), q, count)
            for mu, q, count in noises
            if mu is not None
        ]
        return _lattice_with(Unsampled.of(plain), dominating, WORK)
    outcomes = [(symmetrised(inner[s].outcomes(), s.q), count) for s, count in samples.items()]
    outcomes += [(Unsampled.of({step: 1}).outcomes(), count) for step, count in plain.items()]
    return FewAtoms(outcomes, InfiniteLoss())
