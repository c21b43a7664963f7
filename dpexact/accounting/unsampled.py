"""Compositions without sampling: sorted by kind, and the profile that accounts for each mix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from dpexact import balls, reals
from dpexact.accounting.closed_form import GaussianMixedWithResponse, gaussian_divergence
from dpexact.accounting.combined import FirstToReach
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.few_atoms import FewAtoms
from dpexact.accounting.heterogeneous import different_responses
from dpexact.accounting.laplace import LaplaceParts, laplace_divergence
from dpexact.accounting.laplace_routes import CONTOUR_WORK, laplace_profile
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
from dpexact.accounting.outcomes import composed
from dpexact.accounting.pairs import gaussian, laplace
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian as DiscreteGaussianPair
from dpexact.accounting.pairs.finite import Atom, Finite
from dpexact.accounting.pairs.pair import Pair
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import InfiniteLoss, NoLoss, Profile
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    GDP,
    ZCDP,
    ApproxDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Mechanism,
    PureDP,
    Staircase,
)
from dpexact.reals import Real

#: Longest sum over the outcomes of randomised response composed with a Gaussian; beyond, a contour.
MAX_TERMS: Final = 20_000

_ONE: Final = reals.rational(1)
_NOTHING: Final = reals.rational(0)


@dataclass
class Unsampled:
    """A composition without sampling, sorted by kind."""

    masses: list[tuple[Real, int]] = field(default_factory=list)
    responses: dict[Real, int] = field(default_factory=dict)
    others: list[tuple[LatticePart, int]] = field(default_factory=list)
    laplace: list[tuple[Real, int]] = field(default_factory=list)
    mu_squared: Real = _NOTHING

    @classmethod
    def of(cls, steps: dict[Mechanism, int]) -> Unsampled:
        collected = cls()
        for step, count in steps.items():
            collected.take(step, count)
        return collected

    def take(self, step: Mechanism, count: int) -> None:
        """Add ``count`` repetitions of ``step``."""
        match step:
            case ApproxDP(eps, delta):
                if delta.fraction != 0:
                    self.masses.append((delta, count))
                self._respond(eps, count)
            case ZCDP(rho) if balls.sign(rho, "rho") == 0:
                pass
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
                if balls.sign(mu, "mu") > 0:
                    self._add_square(_square(mu), count)
            case Gaussian(sigma, sensitivity):
                self._add_square(_square(sensitivity) / _square(sigma), count)
            case _:
                raise UnsupportedMechanism(f"no certified accounting for {step}")

    def _respond(self, eps: Real, count: int) -> None:
        if balls.sign(eps, "eps") > 0:
            self.responses[eps] = self.responses.get(eps, 0) + count

    def _add_square(self, square: Real, count: int) -> None:
        times = count * square
        self.mu_squared += times

    @property
    def mu(self) -> Real | None:
        """The parameter of all Gaussians together; None without any."""
        return reals.square_root(self.mu_squared) if self.mu_squared.fraction != 0 else None

    @property
    def is_empty(self) -> bool:
        """Whether nothing runs that loses privacy."""
        return self.is_gaussian and self.mu is None

    @property
    def is_gaussian(self) -> bool:
        """Whether nothing but Gaussians runs."""
        return not (self.masses or self.responses or self.others or self.laplace)

    def outcomes(self) -> list[Atom]:
        """All outcomes of a composition of finite laws, those of infinite loss included."""
        parts = [*self.others, *((response(eps), count) for eps, count in self.responses.items())]
        finite = [(part, count) for part, count in parts if isinstance(part, FinitePart)]
        if self.laplace or self.mu or len(finite) < len(parts):
            raise UnsupportedMechanism("no certified accounting for repeated sampling of this")
        atoms = composed(finite)
        kept = _ONE
        for mass, count in self.masses:
            stays = 1 - mass
            kept *= stays**count
        if self.masses:
            lost = 1 - kept
            atoms = [Atom(kept * a.p, kept * a.q) for a in atoms]
            atoms += [Atom(lost, _NOTHING), Atom(_NOTHING, lost)]
        return [a for a in atoms if a.p.fraction != 0 or a.q.fraction != 0]

    def profile(self) -> Profile:
        """The privacy profile of the composition.

        Raises:
            UnsupportedMechanism: no exact law, or one too long to write out.
        """
        infinite = InfiniteLoss(tuple(self.masses))
        gaussian = self.mu is not None
        if not self.others and len(self.responses) <= 1 and not self.laplace:
            return self._responses_only(infinite)
        if infinite.is_certain:
            return NoLoss(infinite)
        if not (self.others or self.laplace or gaussian):
            return different_responses(tuple(self.responses.items()), infinite)
        lattices = [(response(eps), count) for eps, count in self.responses.items()]
        parts: list[tuple[LatticePart, int]] = [*self.others, *lattices]
        if not parts and not gaussian:
            return laplace_profile(LaplaceParts(tuple(self.laplace)), infinite)
        if gaussian and self.laplace:
            return self._contour(infinite)
        common = commensurate(parts)
        if common is None:
            if gaussian or self.laplace:
                return self._contour(infinite)
            return FewAtoms([(_atoms(part), count) for part, count in parts], infinite)
        try:
            composed = LatticeComposition(*common, infinite)
        except UnsupportedMechanism:
            if gaussian or self.laplace:
                return self._contour(infinite)
            raise
        if gaussian:
            return self._with_gaussian(composed, infinite)
        return self._with_laplace(composed, infinite) if self.laplace else composed

    def pairs(self) -> list[tuple[Pair, int]]:
        """The composition as pairs.

        Raises:
            UnsupportedMechanism: a lattice law of unknown kind.
        """
        steps: list[tuple[Pair, int]] = []
        if self.mu is not None:
            steps.append((gaussian.Gaussian(self.mu), 1))
        steps += [(laplace.Laplace(rate), count) for rate, count in self.laplace]
        steps += [(_noise(part), count) for part, count in self.others]
        steps += [(Response(eps, _NOTHING), count) for eps, count in self.responses.items()]
        return steps + [(Response(_NOTHING, mass), count) for mass, count in self.masses]

    def _contour(self, infinite: InfiniteLoss) -> Profile:
        if infinite.is_certain:
            return NoLoss(infinite)
        return ContourProfile(tuple(self.pairs()), infinite)

    def _responses_only(self, infinite: InfiniteLoss) -> Profile:
        eps, count = next(iter(self.responses.items()), (_NOTHING, 0))
        if self.mu is not None:
            if count > MAX_TERMS:
                return self._contour(infinite)
            return GaussianMixedWithResponse(self.mu, infinite, eps, count)
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
            largest = composed.largest + parts.largest
        try:
            divergence = laplace_divergence(parts)
        except UnsupportedMechanism:
            return self._contour(infinite)
        mixed = MixedProfile(composed, divergence, largest, infinite, "Laplace")
        if parts.few:
            return mixed
        return FirstToReach(ContourProfile(tuple(self.pairs()), infinite, CONTOUR_WORK), mixed)


def _atoms(part: LatticePart) -> list[Atom]:
    if not isinstance(part, FinitePart):
        raise UnsupportedMechanism("no certified accounting: the losses share no lattice")
    return [Atom(p, q) for p, q in zip(part.p, part.q, strict=True)]


def _noise(part: LatticePart) -> Pair:
    match part:
        case FinitePart(p=p, q=q):
            return Finite.of(p, q)
        case DiscreteGaussianPart(variance=variance, sensitivity=sensitivity):
            return DiscreteGaussianPair(variance, sensitivity)
    raise UnsupportedMechanism("no certified accounting: a lattice law of unknown moments")


def _square(x: Real) -> Real:
    return x.arguments[0] if x.operator == "sqrt" else x * x
