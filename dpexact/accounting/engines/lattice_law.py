r"""Losses on one lattice, or few of them, beside what has a continuous profile: the exact law.

The two losses are independent, so with ``p_l`` the mass of loss ``l`` and ``D`` the profile of the
continuous part at any real argument,

.. math:: \delta(\varepsilon) = \sum_l p_l\, D(\varepsilon - l).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Final, NamedTuple

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.composition import Composition, Sample
from dpexact.accounting.engines.closed_form import gaussian_divergence
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.few_atoms import FewAtoms
from dpexact.accounting.engines.laplace.product import LaplaceProduct
from dpexact.accounting.engines.laplace.split import LaplaceSplit, Law
from dpexact.accounting.engines.laplace.sums import TOO_LONG, LaplaceParts, Route
from dpexact.accounting.engines.lattice_product import LatticeComposition
from dpexact.accounting.engines.many_types import ManyTypes
from dpexact.accounting.engines.one_integral import GaussianNoise, LaplaceNoise, Step, divergence
from dpexact.accounting.engines.sampled_once import divergence_on_sample
from dpexact.accounting.inverted import BallProfile
from dpexact.accounting.pairs.finite import sampled
from dpexact.accounting.pairs.lattice import commensurate
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.profile import Fallback, FirstToReach, InfiniteLoss, Profile
from dpexact.arguments import Direction
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import ONE, ZERO, Real

#: Most losses over which a sampled step is averaged before a contour is asked, and noise at all.
_FEW_LOSSES: Final = 2_000
#: Farther strides than this are many turns of a circle, at which few steps are not small.
_FAR, _FEW_STEPS = 30, 10_000
#: So many standard deviations of a law on a lattice matter, about.
DEVIATIONS: Final = 20
#: Most combinations of outcomes over which a short sum is averaged before it is split.
_FEW_TYPES: Final = 32
#: Work allowed to a line then: about a second; and for each loss where an integral takes over.
_LINE_WORK, _BRIEF_WORK = 12_000_000, 500_000
#: Likewise to one that many points share.
_SHARED_WORK: Final = 2_000_000
#: Most losses over which an integral is averaged.
_FEW_INTEGRALS: Final = 200
#: Fewest and most bits of an integral, and the noise for which one is tried.
_LEAST_BITS, _MOST_BITS = 16, 600
_LEAST_RATE, _LARGEST_RATE = 1e-4, 1e4


class MixedProfile(BallProfile):
    """``law`` composed with the mechanism whose profile is ``divergence``, a ball function."""

    def __init__(
        self,
        law: Law,
        divergence: Callable[[arb], arb],
        largest: Real | None,
        infinite: InfiniteLoss,
        method: str,
    ) -> None:
        self.law = law
        self.divergence = divergence
        self.largest = largest
        self.infinite = infinite
        self.method: str = method

    @property
    def is_smooth(self) -> bool:
        return True

    def finite_ball(self, epsilon: arb) -> arb:
        total = arb(0)
        for loss, mass in self.law.losses():
            total += mass * self._at(epsilon - loss, mass)
        return total + self.law.dropped() * balls.UNIT

    def _at(self, epsilon: arb, mass: arb) -> arb:
        """The profile beside the law, where it is multiplied with ``mass``."""
        return self.divergence(epsilon)


class _Integrated(MixedProfile):
    """The same with an integral, whose error is not small beside what is small."""

    cap = _MOST_BITS
    #: What proposes where to search.
    line: ContourProfile

    def near(self, delta: Real) -> Fraction:
        # proposes: where the search starts
        at = self.line.product.epsilon(balls.approximate_log(delta), 1)
        return Fraction(at) if 0 < at < math.inf else Fraction(1)

    def lost_at(self, delta: Real) -> int:
        lost = -balls.approximate_log(delta) / math.log(2)
        return math.ceil(max(0.0, min(lost, _MOST_BITS)))

    def _at(self, epsilon: arb, mass: arb) -> arb:
        if not mass.is_finite():  # with few bits
            return balls.UNIT
        mantissa, exponent = mass.abs_upper().man_exp()
        size = int(exponent) + int(mantissa).bit_length()
        # proposes: with how many bits
        with balls.precision(max(balls.current() + min(size, 0), _LEAST_BITS)):
            found = self.divergence(epsilon)
        return found if found.is_finite() else balls.UNIT


class Continuous(NamedTuple):
    """What runs beside the law: its profile at any real ball, its largest loss, its name."""

    divergence: Callable[[arb], arb]
    largest: Real | None
    name: str
    #: Whether its profile is cheap wherever it is asked, and whether it is an integral.
    is_short: bool = True
    is_integral: bool = False

    def mixed(
        self, law: Law, largest: Real | None, infinite: InfiniteLoss, name: str
    ) -> MixedProfile:
        """Composed with ``law``, of that ``largest`` loss."""
        total = None if largest is None or self.largest is None else largest + self.largest
        kind = _Integrated if self.is_integral else MixedProfile
        return kind(law, self.divergence, total, infinite, name + self.name)


def lattice_law(c: Composition, direction: Direction) -> Profile | None:
    """The profile of losses on one lattice with what runs beside; None where that is not so.

    Or of few outcomes, or none, with noise.
    """
    if c.apart or not c.on_lattices():
        return _types_law(c, direction)
    beside = _beside(c, direction)
    parts = LaplaceParts(tuple(c.laplace))
    largest = balls.approximate(parts.largest)
    # proposes: how much work is too much
    if beside and not (c.noises or c.samples or Route(parts, largest).reachable(balls.bits_for(1))):
        raise UnsupportedMechanism(f"no certified accounting for laplace: {TOO_LONG}")
    rest = replace(c, others=[], responses={}, masses=[])
    common = commensurate(c.on_lattices())
    if common is None or (beside is None and not rest.is_empty):
        return _types_law(c, direction)
    infinite = c.infinite(add=direction == "add")
    law = LatticeComposition(*common, infinite)
    if beside is None:
        # proposes: which is asked first; all enclose
        if max(part.stride for part in common[1]) <= _FAR:
            return law
        types = ManyTypes(c.everything(direction), infinite)
        # proposes: likewise
        if sum(part.count for part in common[1]) <= _FEW_STEPS:
            return Fallback(types, lambda: law)
        return Fallback(law, lambda: types)
    mixed = beside.mixed(law, law.largest, infinite, "lattice law with ")
    # proposes: what is long; and which is asked first, as all enclose
    losses = DEVIATIONS * law.spread(0.0)
    # proposes: likewise
    wide = losses > _FEW_LOSSES
    # proposes: likewise
    if beside.is_short and not wide:
        return mixed
    # proposes: likewise
    if beside.is_integral and losses > _FEW_INTEGRALS:
        return None
    if beside.is_integral or not c.laplace:
        return _with_line(c, direction, mixed, losses)
    pairs = replace(c, laplace=[]).everything(direction)
    split = LaplaceSplit(mixed, parts, pairs, law)
    # proposes: likewise
    if not wide:
        return FirstToReach(split, mixed)
    with suppress(UnsupportedMechanism):
        return _types_law(c, direction)
    from dpexact.accounting.engines.contour.atoms import AtomsProfile

    return FirstToReach(AtomsProfile(c.everything(direction), infinite), split, mixed)


def _with_line(c: Composition, direction: Direction, mixed: MixedProfile, losses: float) -> Profile:
    """A contour with little work, then the law. Proposes: which is asked first; both enclose."""
    line = ContourProfile(c.everything(direction), mixed.infinite, _LINE_WORK)
    c.kept[direction] = line
    if isinstance(mixed, _Integrated):
        mixed.line = line
        line = line.varied(min(_LINE_WORK, math.ceil(losses) * _BRIEF_WORK), patient=False)
    return FirstToReach(line, mixed)


def _shared(c: Composition, direction: Direction) -> list[Profile]:
    """Lines for many points of two Gaussians on samples, which leave others to the integral."""
    if c.noises or not c.is_sampled_gaussian:
        return []
    from dpexact.accounting.engines.rare.asked import sampled

    return [sampled(c, direction, _SHARED_WORK, alone=False)]


def parted(c: Composition) -> tuple[Composition, Composition]:
    """What is finite, sampled or not, with what reveals everything, and noise."""
    finite = [x for x in c.samples if x[0].inner.is_finite and not x[0].inner.samples]
    noise = [x for x in c.samples if x not in finite]
    rest = replace(c, masses=[], responses={}, others=[], apart=[], samples=noise)
    return replace(c, noises=[], laplace=[], samples=finite), rest


def few_outcomes(c: Composition, direction: Direction) -> FewAtoms:
    """The law of what is finite, sampled or not; one of no loss where nothing runs."""
    laws = [(sampled(x.inner.outcomes(), x.q, direction), count) for x, count in c.samples]
    return FewAtoms([*laws, *c.finite_laws()] or [([Atom(ONE, ONE)], 1)], c.beside)


def _types_law(c: Composition, direction: Direction) -> Profile | None:
    """The profile of noise beside few combinations of outcomes; of two steps on samples alone."""
    # proposes: what is left to others
    if len(c.samples) > _FEW_TYPES or (c.noises and not c.samples):
        return None
    finite, noise = parted(c)
    beside = _beside(noise, direction)
    # proposes: likewise; two equal steps alone have an engine
    if beside is None or (finite.is_empty and [count for _, count in noise.samples] == [2]):
        return None
    law = few_outcomes(finite, direction)
    if law.many > (_FEW_INTEGRALS if beside.is_integral else _FEW_LOSSES):
        raise UnsupportedMechanism("no certified accounting for so many outcomes beside noise")
    name = "" if replace(finite, masses=[]).is_empty else "outcomes by type with "
    mixed = beside.mixed(law, law.largest, law.infinite, name)
    # proposes: which is asked first; all enclose
    if beside.is_integral:
        return FirstToReach(_with_line(c, direction, mixed, law.many), *_shared(c, direction))
    # proposes: likewise
    if noise.samples or (beside.is_short and law.many <= _FEW_TYPES):
        return mixed
    if not c.laplace:
        return None
    pairs = finite.everything(direction)
    return FirstToReach(LaplaceSplit(mixed, LaplaceParts(tuple(c.laplace)), pairs, law), mixed)


def _beside(c: Composition, direction: Direction) -> Continuous | None:
    """Gaussians, or Laplace noise, or one step of either on a sample, or two such steps."""
    match c:
        case Composition(samples=[(sample, 1)], noises=[], laplace=[]):
            return _on_sample(sample, direction)
        case Composition(samples=[], laplace=[], mu=mu) if mu is not None:
            return Continuous(
                lambda epsilon: gaussian_divergence(balls.ball(mu), epsilon), None, "a Gaussian"
            )
        case Composition(samples=[], noises=[], laplace=[_, *_]):
            parts = LaplaceParts(tuple(c.laplace))
            found = LaplaceProduct(parts, InfiniteLoss())
            return Continuous(found.finite_ball, parts.largest, "Laplace", parts.few)
        case Composition(samples=[_, *_]):
            return _two_steps(c, direction)
    return None


def _two_steps(c: Composition, direction: Direction) -> Continuous | None:
    """Two steps of noise, at least one of them on a sample, by an integral."""
    if len(c.samples) > 2:
        return None
    runs = [(Composition(noises=c.noises), ONE, 1)] if c.noises else []
    runs += [(Composition(laplace=[(rate, 1)]), ONE, count) for rate, count in c.laplace]
    runs += [(x.inner, x.q, count) for x, count in c.samples]
    if sum(count for _, _, count in runs) != 2:
        return None
    steps: list[Step] = []
    largest: Real | None = ZERO
    for noise, q, count in runs:
        always = q is ONE
        found = _beside(noise, direction) if always else _on_sample(Sample(noise, q), direction)
        if found is None:
            return None
        kind, rate = (
            (LaplaceNoise, noise.laplace[0][0]) if noise.mu is None else (GaussianNoise, noise.mu)
        )
        # proposes: what is left to others
        if not _LEAST_RATE < balls.approximate(rate) < _LARGEST_RATE:
            return None
        steps += [Step(kind, rate, q, found.divergence)] * count
        for _ in range(count):
            largest = None if largest is None or found.largest is None else largest + found.largest
    # proposes: which is integrated over; the profile of Laplace noise is the cheaper
    outer, inner = sorted(steps, key=lambda step: step.kind is LaplaceNoise)
    return Continuous(
        lambda epsilon: divergence(outer, inner, direction == "remove", epsilon),
        largest,
        "an integral",
        is_short=False,
        is_integral=True,
    )


def _on_sample(sample: Sample, direction: Direction) -> Continuous | None:
    inner = sample.inner
    if inner.samples or not (inner.is_gaussian or inner.is_laplace):
        return None
    found = _beside(inner, direction)
    if found is None:
        return None
    divergence = divergence_on_sample(found.divergence, sample.q, direction)
    return Continuous(
        divergence, _largest(found.largest, sample.q, direction), f"{found.name} on a sample"
    )


def _largest(loss: Real | None, q: Real, direction: Direction) -> Real | None:
    """``log(1 + q (e^L - 1))``, or ``-log(1 + q (e^-L - 1))`` where a record is added."""
    if direction == "remove":
        return None if loss is None else reals.logarithm(1 + q * (reals.exponential(loss) - 1))
    least = reals.rational(0) if loss is None else reals.exponential(-loss)
    return -reals.logarithm(1 - q + q * least)
