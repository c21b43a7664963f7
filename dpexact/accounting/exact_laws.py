"""Products of mechanisms whose loss law is known exactly: which profile accounts for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from dpexact import balls, reals
from dpexact.accounting.closed_form import GaussianMixedWithResponse, gaussian_divergence
from dpexact.accounting.few_atoms import Atom, FewAtoms, sampled
from dpexact.accounting.laplace import LaplaceParts, LaplaceProduct, laplace_divergence
from dpexact.accounting.lattice_part import (
    DiscreteGaussianPart,
    FinitePart,
    LatticePart,
    discrete_laplace,
    quotient,
    response,
    staircase,
)
from dpexact.accounting.lattice_product import LatticeComposition, commensurate
from dpexact.accounting.mixed import MixedProfile
from dpexact.accounting.optimal import OptimalComposition
from dpexact.accounting.profile import InfiniteLoss, NoLoss, Profile
from dpexact.accounting.sampled_once import sampled_once
from dpexact.arguments import Direction
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    GDP,
    ApproxDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Mechanism,
    Poisson,
    PureDP,
    Staircase,
)
from dpexact.reals import Real

Steps: TypeAlias = Mapping[Mechanism, int]

_ONE: Final = reals.rational(1)
_NOTHING: Final = reals.rational(0)


def profile_of_steps(steps: Steps, direction: Direction) -> Profile:
    """The profile of the composition of ``steps``, each with its number of repetitions.

    ``direction`` (``remove`` or ``add``) matters where something is sampled.

    Raises:
        UnsupportedMechanism: no exact law, or one too long to write out.
    """
    plain, samples = _separate(steps)
    if any(isinstance(step, ApproxDP) and step.delta.fraction == 1 for step in plain):
        return NoLoss(InfiniteLoss(((_ONE, 1),)))
    if not samples:
        return _Collected.of(plain).profile()
    if not plain and sum(samples.values()) == 1:
        (once,) = samples
        return sampled_once(profile_of_steps(once.mechanism.steps(), direction), once.q, direction)
    outcomes = [(sampled(_outcomes(s.mechanism), s.q, direction), k) for s, k in samples.items()]
    outcomes += [(_outcomes(step), count) for step, count in plain.items()]
    return FewAtoms(outcomes, InfiniteLoss())


def _separate(steps: Steps) -> tuple[dict[Mechanism, int], dict[Poisson, int]]:
    """The steps without and with sampling; nested rates multiply, rates 0 and 1 disappear."""
    plain: dict[Mechanism, int] = {}
    samples: dict[Poisson, int] = {}
    for step, count in steps.items():
        rate, inner = _ONE, step
        while isinstance(inner, Poisson):
            rate, inner = reals.multiply(rate, inner.q), inner.mechanism
        if balls.sign(rate, "q") == 0:
            continue
        if rate.fraction == 1:
            for single, times in inner.steps().items():
                plain[single] = plain.get(single, 0) + count * times
        else:
            sample = Poisson(inner, rate)
            samples[sample] = samples.get(sample, 0) + count
    return plain, samples


@dataclass
class _Collected:
    """A composition without sampling, sorted by kind."""

    masses: list[tuple[Real, int]] = field(default_factory=list)
    responses: dict[Real, int] = field(default_factory=dict)
    others: list[tuple[LatticePart, int]] = field(default_factory=list)
    laplace: list[tuple[Real, int]] = field(default_factory=list)
    mu_squared: Real = _NOTHING

    @classmethod
    def of(cls, steps: Steps) -> _Collected:
        collected = cls()
        for step, count in steps.items():
            collected.take(step, count)
        return collected

    def take(self, step: Mechanism, count: int) -> None:
        match step:
            case ApproxDP(eps, delta):
                if delta.fraction != 0:
                    self.masses.append((delta, count))
                self._respond(eps, count)
            case PureDP(eps):
                self._respond(eps, count)
            case DiscreteLaplace(scale, 1):
                self._respond(quotient(_ONE, scale), count)
            case DiscreteLaplace(scale, sensitivity):
                self.others.append((discrete_laplace(scale, sensitivity), count))
            case DiscreteGaussian(sigma, sensitivity):
                self.others.append((DiscreteGaussianPart(sigma, sensitivity), count))
            case Staircase(eps, gamma, _):
                self.others.append((staircase(eps, gamma), count))
            case Laplace(scale, sensitivity):
                self.laplace.append((quotient(sensitivity, scale), count))
            case GDP(mu):
                self._add_square(mu, count)
            case Gaussian(sigma, sensitivity):
                self._add_square(reals.divide(sensitivity, sigma), count)
            case _:
                raise UnsupportedMechanism(f"no certified accounting for {step}")

    def _respond(self, eps: Real, count: int) -> None:
        if balls.sign(eps, "eps") > 0:
            self.responses[eps] = self.responses.get(eps, 0) + count

    def _add_square(self, mu: Real, count: int) -> None:
        square = reals.multiply(reals.rational(count), reals.multiply(mu, mu))
        self.mu_squared = reals.add(self.mu_squared, square)

    def profile(self) -> Profile:
        infinite = InfiniteLoss(tuple(self.masses))
        gaussian = self.mu_squared.fraction != 0 and balls.sign(self.mu_squared, "mu") > 0
        if gaussian and self.laplace:
            raise UnsupportedMechanism("no certified accounting for laplace with a Gaussian")
        if not self.others and len(self.responses) <= 1 and not self.laplace:
            return self._responses_only(infinite, gaussian)
        lattices = [(response(eps), count) for eps, count in self.responses.items()]
        parts: list[tuple[LatticePart, int]] = [*self.others, *lattices]
        if not parts:
            return LaplaceProduct(LaplaceParts(tuple(self.laplace)), infinite)
        common = commensurate(parts)
        if common is None:
            if gaussian or self.laplace:
                raise UnsupportedMechanism("no certified accounting: the losses share no lattice")
            return FewAtoms([(_atoms(part), count) for part, count in parts], infinite)
        composed = LatticeComposition(*common, infinite)
        if gaussian:
            return self._with_gaussian(composed, infinite)
        return self._with_laplace(composed, infinite) if self.laplace else composed

    def _responses_only(self, infinite: InfiniteLoss, gaussian: bool) -> Profile:
        eps, count = next(iter(self.responses.items()), (_NOTHING, 0))
        if gaussian:
            mu = reals.square_root(self.mu_squared)
            return GaussianMixedWithResponse(mu, infinite, eps, count)
        return OptimalComposition(eps, count, infinite) if count else NoLoss(infinite)

    def _with_gaussian(self, composed: LatticeComposition, infinite: InfiniteLoss) -> Profile:
        mu = reals.square_root(self.mu_squared)
        return MixedProfile(
            composed,
            lambda epsilon: gaussian_divergence(balls.ball(mu), epsilon),
            None,
            infinite,
            "a Gaussian",
        )

    def _with_laplace(self, composed: LatticeComposition, infinite: InfiniteLoss) -> Profile:
        parts = LaplaceParts(tuple(self.laplace))
        largest = None
        if composed.largest is not None:
            largest = reals.add(composed.largest, parts.largest)
        divergence = laplace_divergence(parts)
        return MixedProfile(composed, divergence, largest, infinite, "Laplace")


def _atoms(part: LatticePart) -> list[Atom]:
    if not isinstance(part, FinitePart):
        raise UnsupportedMechanism("no certified accounting: the losses share no lattice")
    return [Atom(p, q) for p, q in zip(part.p, part.q, strict=True)]


def _outcomes(mechanism: Mechanism) -> list[Atom]:
    """All outcomes of a single step of finitely many, those of infinite loss included."""
    steps = mechanism.steps()
    if sum(steps.values()) > 1 or isinstance(mechanism, Poisson):
        raise UnsupportedMechanism(f"no certified accounting for a sampled {mechanism}")
    collected = _Collected.of(steps)
    parts = [*collected.others, *((response(eps), 1) for eps in collected.responses)]
    if collected.laplace or collected.mu_squared.fraction != 0:
        raise UnsupportedMechanism(f"no certified accounting for repeated sampling of {mechanism}")
    atoms = _atoms(parts[0][0]) if parts else [Atom(_ONE, _ONE)]
    for mass, _ in collected.masses:
        kept = reals.add(_ONE, reals.negate(mass))
        atoms = [Atom(reals.multiply(kept, a.p), reals.multiply(kept, a.q)) for a in atoms]
        atoms += [Atom(mass, _NOTHING), Atom(_NOTHING, mass)]
    return [a for a in atoms if a.p.fraction != 0 or a.q.fraction != 0]
