"""What runs, sorted by law.

Gaussians are one Gaussian, equal parameters are counted, what loses nothing is left out. Rates
multiply along chains of samples only (``docs/theory/dominating-pairs.md``, Proposition 6).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from dpexact import balls, reals
from dpexact.accounting.laws import Concentrated, Law, Noise, laws
from dpexact.accounting.pairs.coin import Coin, Run
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.finite import Finite, sampled
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.laplace import Laplace, TruncatedLaplace
from dpexact.accounting.pairs.lattice import MAX_COMBINATIONS, OnLattice, composed
from dpexact.accounting.pairs.pair import Atom, Pair
from dpexact.accounting.pairs.response import Response, amplified
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.sampled_rows import Rows, distinct
from dpexact.arguments import WAYS, Direction
from dpexact.errors import UnsupportedMechanism
from dpexact.kept import cached_property
from dpexact.mechanisms import ZCDP, FixedSize, Mechanism, Poisson
from dpexact.mechanisms.table import Table
from dpexact.reals import ONE, ZERO, Real

if TYPE_CHECKING:
    from dpexact.accounting.pairs.clouds.cubature import Cloud


@dataclass(frozen=True)
class Sample:
    """A composition that runs, as a whole, on a Poisson sample of rate ``0 < q < 1``."""

    inner: Composition
    q: Real


@dataclass
class Composition:
    """Laws with the number of times each runs, every record in all of them, and samples.

    ``noises`` are standard deviations over sensitivities of Gaussians, ``laplace`` sensitivities
    over scales, ``responses`` the ``eps`` of randomized response, ``masses`` probabilities of
    revealing everything, ``others`` laws on a lattice of losses, and ``apart`` all other pairs,
    which alone may not be symmetric: :meth:`facing` turns them. ``rho > 0`` with ``xi`` is zCDP, a
    guarantee that no pair stands for.
    """

    masses: list[tuple[Real, int]] = field(default_factory=list)
    responses: dict[Real, int] = field(default_factory=dict)
    others: list[tuple[OnLattice, int]] = field(default_factory=list)
    laplace: list[tuple[Real, int]] = field(default_factory=list)
    noises: list[tuple[Real, int]] = field(default_factory=list)
    apart: list[tuple[Pair, int]] = field(default_factory=list)
    samples: Sequence[tuple[Sample, int]] = field(default_factory=list)
    rho: Real = ZERO
    xi: Real = ZERO
    #: What an engine keeps of one direction for the other, if the composition faces both alike.
    kept: dict[str, Any] = field(init=False, default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(
        cls, steps: Iterable[tuple[Mechanism, int]], *, fixed_size: bool = False, zcdp: bool = False
    ) -> Composition:
        """The composition of ``(mechanism, count)``.

        A step that reveals everything stands alone: beside it nothing else matters.

        Args:
            fixed_size: read a sample of ``m`` of ``n`` records as one of rate ``m/n``, as
                theorems do that hold for both.
            zcdp: take parts that are only that, rather than refuse them.

        Raises:
            UnsupportedMechanism: a part has no dominating pair here.
        """
        collected = cls()
        samples: dict[tuple[Mechanism, Real], int] = {}
        sampled: list[tuple[Sample, int]] = []
        collected._take(steps, 1, samples, (Poisson, FixedSize) if fixed_size else (Poisson,))
        if collected.rho.fraction != 0 and not zcdp:
            found = ZCDP(collected.rho, collected.xi)
            raise UnsupportedMechanism(f"no certified accounting for {found}")
        if collected.beside.is_certain:
            return cls(masses=[(ONE, 1)])
        if samples:
            from dpexact.accounting.pairs.mixture import Mixtures, sampled_shifts
        for (inner, rate), count in samples.items():
            inside = cls.of(inner.steps().items(), fixed_size=fixed_size, zcdp=zcdp)
            if any(isinstance(pair, Mixtures | Coin) for pair, _ in inside.apart):
                alone = inside.apart if replace(inside, apart=[]).is_empty else []
                collected.apart.append((sampled_shifts(alone, rate), count))
            elif not inside.is_empty:
                sampled.append((Sample(inside, rate), count))
        collected.samples = sampled
        return collected

    @classmethod
    def running(cls, mechanism: Mechanism) -> Composition:
        """What runs in it."""
        if isinstance(mechanism, Table):
            return cls(samples=Rows(distinct(mechanism), _sample))
        return cls.of(mechanism.steps().items())

    def _take(
        self,
        steps: Iterable[tuple[Law, int]],
        times: int,
        samples: dict[tuple[Mechanism, Real], int],
        kinds: tuple[type[Poisson | FixedSize], ...],
    ) -> None:
        for law, single in steps:
            count = times * single
            if not isinstance(law, Mechanism):
                self._add(law, count)
                continue
            rate, inner = ONE, law
            while isinstance(inner, kinds):
                rate, inner = rate * inner.q, inner.mechanism
            if inner is law:
                found = laws(law, lambda part: Composition.of(part.steps().items()))
                self._take(found, count, samples, kinds)
            elif rate.fraction == 1:
                self._take(inner.steps().items(), count, samples, kinds)
            elif balls.sign(rate, "q") != 0:
                samples[inner, rate] = samples.get((inner, rate), 0) + count

    def _add(self, law: Pair | Noise | Concentrated, count: int) -> None:
        match law:
            case Noise(level):
                self.noises.append((level, count))
            case Concentrated(rho, xi):
                self.rho += count * rho
                self.xi += count * xi
            case Response(eps, lost):
                if lost.fraction != 0:
                    self.masses.append((lost, count))
                if balls.sign(eps, "eps") > 0:
                    self.responses[eps] = self.responses.get(eps, 0) + count
            case Laplace(rate):
                self.laplace.append((rate, count))
            case OnLattice():
                self.others.append((law, count))
            case _:
                self.apart.append((law, count))

    # --- what there is ----------------------------------------------------------------------------

    @property
    def is_gaussian(self) -> bool:
        """Whether nothing but Gaussians runs."""
        others = self.masses or self.responses or self.others or self.laplace or self.apart
        return not (others or self.samples or self.rho.fraction != 0)

    @property
    def is_sampled_gaussian(self) -> bool:
        """Whether nothing but Gaussians runs, and some of them on samples."""
        alone = bool(self.samples) and replace(self, samples=[]).is_gaussian
        rows = isinstance(self.samples, Rows)
        return alone and (rows or all(x.inner.is_gaussian for x, _ in self.samples))

    @property
    def is_laplace(self) -> bool:
        """Whether Laplace noise runs once and nothing else does."""
        return [n for _, n in self.laplace] == [1] and replace(self, laplace=[]).is_empty

    @property
    def is_on_laplace(self) -> bool:
        """Whether some sample is of Laplace noise, with finite laws perhaps."""
        rows = isinstance(self.samples, Rows)
        return not rows and any(x.inner.has_laplace for x, _ in self.samples)

    @property
    def has_laplace(self) -> bool:
        """Whether there is Laplace noise, truncated or not, and all else that runs is finite."""
        others = [pair for pair, _ in self.apart if not isinstance(pair, TruncatedLaplace)]
        endless = self.noises or self.samples or self.discrete_gaussians or self.rho.fraction != 0
        found = self.laplace or len(others) < len(self.apart)
        return bool(found and not endless) and all(pair.outcomes() for pair in others)

    def everything(self, direction: Direction) -> list[tuple[Pair, int]]:
        """All pairs, samples too, where each has moments."""
        return [*self._sampled(direction), *self.pairs()]

    def run(self) -> tuple[Real, Run]:
        """The mass of infinite loss, and pairs with moments for the rest.

        Raises:
            UnsupportedMechanism: some part has none.
        """
        leaks = any(sample.inner.infinite(add=False).masses for sample, _ in self.samples)
        faced = [law for pair, _ in self.apart for law in (pair, pair.reverse)]
        if leaks or any(law.revealed().fraction != 0 for law in faced):
            raise UnsupportedMechanism("no certified accounting for so many coins over this")
        return self.beside.mass, tuple(replace(self, masses=[]).everything("remove"))

    def _sampled(self, direction: Direction) -> list[tuple[Pair, int]]:
        return [(x.inner.on_sample(x.q, direction), count) for x, count in self.samples]

    def on_sample(self, q: Real, direction: Direction) -> Pair:
        """A sample with moments: of Gaussians beside a finite law, of other noise, of either."""
        if self.noise is not None:
            from dpexact.accounting.pairs.sampled_smooth import alone, smooth

            if self.is_gaussian:
                return alone(self.noise, direction)(q)
            rest = replace(self, masses=[]).everything("remove")
            step, shown = smooth(rest, self.noise, direction)
            seen = Composition(masses=self.masses, apart=shown)
            return step(q) if seen.is_empty else Coin.on_sample(seen.outcomes(), q, direction, step)
        if self.has_laplace:
            from dpexact.accounting.pairs.sampled_laplace import SampledLaplace

            lost = [x.infinite(add=False).mass for x in (self, self.facing("add"))]
            return SampledLaplace(tuple(self.pairs()), q, direction == "remove", *lost)
        if self.discrete_gaussians and replace(self, others=[], responses={}).is_empty:
            from dpexact.accounting.pairs.sampled_noises import SampledNoises

            return SampledNoises(tuple(self.on_lattices()), q, direction == "remove")
        return Finite(tuple(sampled(self.outcomes(), q, direction)))

    @property
    def is_finite(self) -> bool:
        """Whether the laws that every record takes part in lie on lattices, or are finite."""
        return not (self.noises or self.laplace) and all(x.outcomes() for x, _ in self.apart)

    @property
    def has_tails(self) -> bool:
        """Whether every pair apart is known by more than its moments."""
        return all(pair.has_tails for pair, _ in self.apart)

    @property
    def is_directed(self) -> bool:
        """Whether the two directions differ: something is sampled, or a pair is not symmetric."""
        return bool(self.samples) or not self.is_symmetric

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether every pair is symmetric, also those on samples."""
        inside = all(sample.inner.is_symmetric for sample, _ in self.samples)
        return inside and all(pair.is_symmetric for pair, _ in self.apart)

    def ways(self, direction: Direction) -> list[tuple[Direction, Composition]]:
        """The directions of which the larger profile is asked, each with what faces it."""
        ways = WAYS[direction] if self.is_directed else WAYS[direction][:1]
        return [(way, self.facing(way)) for way in ways]

    def facing(self, direction: Direction) -> Composition:
        """The composition whose :meth:`pairs` are those of the direction; samples stay as given."""
        if direction != "add" or not self.apart:
            return self
        return replace(self, apart=[(pair.reverse, count) for pair, count in self.apart])

    @property
    def is_empty(self) -> bool:
        """Whether nothing runs that loses privacy."""
        return self.is_gaussian and not self.noises

    @property
    def is_unbounded(self) -> bool:
        """Whether some finite loss is without bound."""
        inside = any(sample.inner.is_unbounded for sample, _ in self.samples)
        return inside or any(pair.largest_loss() is None for pair, _ in self.pairs())

    @cached_property
    def clouds(self) -> tuple[list[Cloud], list[tuple[Sample, int]]]:
        """Gaussian samples in a cloud of many, and all other samples."""
        from dpexact.accounting.pairs.clouds.boxes import sooner

        if isinstance(self.samples, Rows):
            others, steps = [], self.samples.rows
        else:
            told = [(x, x.inner.noise if x.inner.is_gaussian else None, n) for x, n in self.samples]
            others = [(x, n) for x, noise, n in told if noise is None]
            steps = [(x.q, noise, n) for x, noise, n in told if noise is not None]
        clouds, left = sooner(steps)
        return clouds, others + [_sample(*step) for step in left]

    @cached_property
    def mu_squared(self) -> Real:
        """``mu^2`` of all Gaussians together."""
        return sum((count / reals.square(noise) for noise, count in self.noises), ZERO)

    @cached_property
    def noise(self) -> Real | None:
        """The standard deviation over the sensitivity of all Gaussians as one; None without any."""
        match self.noises:
            case []:
                return None
            case [(noise, 1)]:
                return noise
        return 1 / reals.square_root(self.mu_squared)

    @cached_property
    def mu(self) -> Real | None:
        """The parameter of all Gaussians together; None without any."""
        return reals.square_root(self.mu_squared) if self.noises else None

    @property
    def largest(self) -> Real | None:
        """The largest finite loss of what every record takes part in, not counting ``apart``.

        It is the sum over the laws, as they are independent and each attains its largest; None
        where it is unbounded.
        """
        if self.noises or self.rho.fraction != 0 or self.discrete_gaussians:
            return None
        return sum((count * loss for loss, count in self.losses), ZERO)

    def guaranteed(self) -> tuple[Real, Real] | None:
        """The single best ``(eps, delta)``, by basic composition; None where there is none."""
        eps, delta = self.largest, sum((count * mass for mass, count in self.masses), ZERO)
        if eps is None or self.apart:
            return None
        for sample, count in self.samples:
            inner = sample.inner.guaranteed()
            if inner is None:
                return None
            level, mass = amplified(*inner, sample.q)
            eps, delta = eps + count * level, delta + count * mass
        return eps, ONE if delta.fraction is not None and delta.fraction > 1 else delta

    @property
    def losses(self) -> list[tuple[Real, int]]:
        """The largest losses in symbols of the bounded laws, each with how often it runs."""
        found = [*self.responses.items(), *self.laplace]
        for pair, count in self.others:
            if pair.highest is not None:
                spacing, start = pair.lattice()
                found.append((spacing * (start + pair.highest), count))
        return found

    @property
    def discrete_gaussians(self) -> list[tuple[DiscreteGaussian, int]]:
        """Those of the laws on a lattice."""
        return [(x, count) for x, count in self.others if isinstance(x, DiscreteGaussian)]

    def infinite(self, add: bool) -> InfiniteLoss:
        """The mass of infinite loss; samples have none in direction ``add``, nor rows in any."""
        apart = ((pair.revealed(), count) for pair, count in self.apart)
        masses = [*self.masses, *((mass, n) for mass, n in apart if mass.fraction != 0)]
        for sample, count in [] if add or isinstance(self.samples, Rows) else self.samples:
            inner = sample.inner.infinite(add=False)
            if inner.masses:
                masses.append((sample.q * inner.mass, count))
        return InfiniteLoss(tuple(masses))

    @property
    def beside(self) -> InfiniteLoss:
        """The mass of infinite loss that no pair of ``apart`` holds and no sample."""
        return InfiniteLoss(tuple(self.masses))

    # --- as pairs ---------------------------------------------------------------------------------

    def pairs(self) -> list[tuple[Pair, int]]:
        """What every record takes part in, all Gaussians as one."""
        gaussians = [] if self.mu is None else [(Gaussian(self.mu), 1)]
        laplace = [(Laplace(rate), count) for rate, count in self.laplace]
        masses = [(Response(ZERO, mass), count) for mass, count in self.masses]
        return [*gaussians, *laplace, *self.apart, *self.on_lattices(), *masses]

    def on_lattices(self) -> list[tuple[OnLattice, int]]:
        """The laws whose losses lie on lattices, those of infinite loss apart."""
        responses = ((Response(eps), count) for eps, count in self.responses.items())
        return [*self.others, *responses]

    def outcomes(self, most: int = MAX_COMBINATIONS, *, samples: bool = False) -> list[Atom]:
        """All outcomes of finite laws, those of infinite loss and, if asked for, samples too."""
        pairs = [*self.on_lattices(), *self.apart, *(self._sampled("remove") if samples else [])]
        continuous = self.noises or self.laplace or (self.samples and not samples)
        if continuous or not all(pair.outcomes() for pair, _ in pairs):
            raise UnsupportedMechanism("no certified accounting for repeated sampling of this")
        atoms = composed(pairs, most)
        kept = math.prod(((1 - mass) ** count for mass, count in self.masses), start=ONE)
        if self.masses:
            atoms = [Atom(kept * a.p, kept * a.q) for a in atoms]
            atoms += [Atom(1 - kept, ZERO), Atom(ZERO, 1 - kept)]
        return [a for a in atoms if a.p.fraction != 0 or a.q.fraction != 0]

    def finite_laws(self) -> list[tuple[tuple[Atom, ...], int]]:
        """The outcomes of every law that all records take part in, and how often it runs.

        Raises:
            UnsupportedMechanism: one is not finite.
        """
        laws = [(pair.outcomes(), count) for pair, count in [*self.on_lattices(), *self.apart]]
        if self.noises or self.laplace or not all(outcomes for outcomes, _ in laws):
            raise UnsupportedMechanism("no certified accounting: the losses share no lattice")
        return laws


def _sample(q: Real, noise: Real, n: int) -> tuple[Sample, int]:
    return Sample(Composition(noises=[(noise, 1)]), q), n
