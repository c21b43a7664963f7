r"""Losses on one lattice, or few of them, beside what has one continuous profile: the exact law.

The two losses are independent, so with ``p_l`` the mass of loss ``l`` and ``D`` the profile of the
continuous part at any real argument,

.. math:: \delta(\varepsilon) = \sum_l p_l\, D(\varepsilon - l).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final, NamedTuple

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.closed_form import gaussian_divergence
from dpexact.accounting.composition import Composition, Sample
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.few_atoms import FewAtoms
from dpexact.accounting.inverted import BallProfile
from dpexact.accounting.laplace import TOO_LONG, LaplaceParts, LaplaceProduct, Route
from dpexact.accounting.laplace_split import LaplaceSplit, Law
from dpexact.accounting.lattice_product import LatticeComposition
from dpexact.accounting.pairs.finite import sampled
from dpexact.accounting.pairs.lattice import commensurate
from dpexact.accounting.profile import FirstToReach, InfiniteLoss, Profile
from dpexact.accounting.sampled_once import divergence_on_sample
from dpexact.arguments import Direction
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

#: Most losses over which a sampled step is averaged before a contour is asked, and noise at all.
_FEW_LOSSES: Final = 2_000
#: So many standard deviations of a law on a lattice matter, about.
_DEVIATIONS: Final = 20
#: Most combinations of outcomes over which a short sum is averaged before it is split.
_FEW_TYPES: Final = 32
#: Work allowed to a line then: about a second.
_LINE_WORK: Final = 12_000_000


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
            total += mass * self.divergence(epsilon - loss)
        return total + self.law.dropped() * balls.UNIT


class Continuous(NamedTuple):
    """What runs beside the lattice: its profile at any real ball, its largest loss, its name."""

    divergence: Callable[[arb], arb]
    largest: Real | None
    name: str
    #: Whether its profile is cheap wherever it is asked.
    is_short: bool = True


def lattice_law(c: Composition, direction: Direction) -> Profile | None:
    """The profile of losses on one lattice with what runs beside; None where that is not so.

    Or of few outcomes, with Laplace noise.
    """
    if c.apart or not c.on_lattices():
        return _types_law(c, direction)
    beside = _beside(c, direction)
    rest = replace(c, others=[], responses={}, masses=[])
    common = commensurate(c.on_lattices())
    if common is None or (beside is None and not rest.is_empty):
        return _types_law(c, direction)
    infinite = c.infinite(add=direction == "add")
    law = LatticeComposition(*common, infinite)
    if beside is None:
        return law
    largest = None
    if law.largest is not None and beside.largest is not None:
        largest = law.largest + beside.largest
    name = f"lattice law with {beside.name}"
    mixed = MixedProfile(law, beside.divergence, largest, infinite, name)
    # proposes: what is long; and which is asked first, as all enclose
    wide = _DEVIATIONS * law.spread(0.0) > _FEW_LOSSES
    # proposes: likewise
    if beside.is_short and not wide:
        return mixed
    if not c.laplace:
        return FirstToReach(ContourProfile(c.everything(direction), infinite, _LINE_WORK), mixed)
    pairs = replace(c, laplace=[]).everything(direction)
    split = LaplaceSplit(mixed, LaplaceParts(tuple(c.laplace)), pairs, law)
    # proposes: likewise
    if not wide:
        return FirstToReach(split, mixed)
    with suppress(UnsupportedMechanism):
        return _types_law(c, direction)
    from dpexact.accounting.contour.atoms import AtomsProfile

    return FirstToReach(AtomsProfile(c.everything(direction), infinite), split, mixed)


def _types_law(c: Composition, direction: Direction) -> Profile | None:
    """The profile of Laplace noise beside finite laws of few combinations of outcomes."""
    if not c.laplace or c.noises:
        return None
    rest = replace(c, laplace=[])
    laws = [(sampled(x.inner.outcomes(), x.q, direction), count) for x, count in c.samples]
    law = FewAtoms([*laws, *rest.finite_laws()], c.beside)
    if law.many > _FEW_LOSSES:
        raise UnsupportedMechanism("no certified accounting for so many outcomes beside Laplace")
    parts = LaplaceParts(tuple(c.laplace))
    noise = LaplaceProduct(parts, InfiniteLoss())
    largest = law.largest + parts.largest
    name = "outcomes by type with Laplace"
    mixed = MixedProfile(law, noise.finite_ball, largest, law.infinite, name)
    # proposes: which is asked first; both enclose
    if parts.few and law.many <= _FEW_TYPES:
        return mixed
    return FirstToReach(LaplaceSplit(mixed, parts, rest.everything(direction), law), mixed)


def _beside(c: Composition, direction: Direction) -> Continuous | None:
    """Gaussians, or Laplace noise, or one step of either on a sample."""
    match c:
        case Composition(samples=[(sample, 1)], noises=[], laplace=[]):
            return _on_sample(sample, direction)
        case Composition(samples=[], laplace=[], mu=mu) if mu is not None:
            return Continuous(
                lambda epsilon: gaussian_divergence(balls.ball(mu), epsilon), None, "a Gaussian"
            )
        case Composition(samples=[], noises=[], laplace=[_, *_]):
            parts = LaplaceParts(tuple(c.laplace))
            if not Route(parts, 0.0).reachable(balls.bits_for(1)):
                raise UnsupportedMechanism(f"no certified accounting for laplace: {TOO_LONG}")
            found = LaplaceProduct(parts, InfiniteLoss())
            return Continuous(found.finite_ball, parts.largest, "Laplace", parts.few)
    return None


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
