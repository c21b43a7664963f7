r"""The profile of ``C_q(f_1) (x) ... (x) C_q(f_k)`` beside other pairs, ``f`` of Gaussian noise.

By contour where the atoms at loss 0 have little left of them after so many steps, else by lattice.
As a bound from above an atom may also be hidden: beside a Gaussian of ``mu^2 = v`` no profile is
less than without (it sees more), and its moments decay; what that adds is of the order of ``v``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Final, TypeAlias

from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.hull_twice import HullTwice
from dpexact.accounting.engines.lattice.profile import LatticeProfile, steps_of
from dpexact.accounting.engines.lattice.steps import SymmetrisedStep
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.pair import Pair
from dpexact.accounting.pairs.symmetrised import Symmetrised
from dpexact.accounting.profile import Fallback, FirstToReach, Profile
from dpexact.balls import approximate
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.kept import cached_property
from dpexact.reals import Real, rational

Samples: TypeAlias = Sequence[tuple[Real, Real, int]]
"""``(mu, q, count)`` of each noise."""

#: Work allowed to a line without other noise, and with it: a second.
_PLAIN_WORK: Final = 3_000_000
_HIDDEN_WORK: Final = 10_000_000
#: By what share other noise may raise delta, about; the first that is affordable.
_SHARES: Final = (1e-4, 1e-3)
_BITS: Final = 1 << 30
#: Noise of two steps that one integral takes.
_LEAST_NOISE: Final = 0.3
#: Work allowed to the lattice: some seconds; and digits of delta and epsilon it is asked for.
_LATTICE_WORK: Final = 12_000_000
_LATTICE_DIGITS: Final = 4


def symmetric_hull(samples: Samples, rest: Composition) -> Profile:
    """The profile itself."""
    others = Fallback(_contour(samples, rest), lambda: _lattice(samples, rest))
    twice = _twice(samples, rest)
    return others if twice is None else FirstToReach(twice, others)


class AboveHull(Profile):
    """A bound of it from above: of an answer the upper end is meant, to the digits asked for."""

    method = "contour"
    shares = True

    def __init__(self, samples: Samples, rest: Composition) -> None:
        self._samples, self._rest = samples, rest
        self.infinite = rest.infinite(add=False)

    @cached_property
    def _twice(self) -> HullTwice | None:
        return _twice(self._samples, self._rest)

    @cached_property
    def _plain(self) -> ContourProfile:
        return _contour(self._samples, self._rest)

    @cached_property
    def _lattice(self) -> LatticeProfile:
        return _lattice(self._samples, self._rest)

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return self.deltas([epsilon], digits)[0]

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        return self._ask(lambda p, points: p.deltas(points, digits), approximate, epsilons, digits)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        return self.epsilons([delta], digits)[0]

    def epsilons(self, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
        def near(delta: Real) -> float:
            return self._plain.product.epsilon(self._plain.log_delta(delta), 1)

        return self._ask(lambda p, points: p.epsilons(points, digits), near, deltas, digits)

    def _ask(
        self,
        ask: Callable[[Profile, Sequence[Real]], list[Enclosure]],
        near: Callable[[Real], float],
        points: Sequence[Real],
        digits: int,
    ) -> list[Enclosure]:
        """First as it is, then beside other noise, then on a lattice; of two steps an integral."""

        def more(found: Enclosure, point: Real) -> Enclosure:
            # proposes: when to stop, here and below
            if found.digits >= digits:
                return found
            if self._twice is not None:
                found = found.meet(*ask(self._plain, [point]))
            try:
                order = self._plain.product.saddle(near(point), 1)[0]
                for share in _SHARES:
                    beside = self._beside(math.sqrt(2 * share / (order * (order + 1))))
                    (other,) = ask(beside, [point])
                    # proposes: likewise
                    if other.digits >= digits:
                        return other
            except (ArithmeticError, ValueError):
                pass  # floats do not reach to plan it
            with suppress(UnsupportedMechanism):  # of coins only the moments are known
                return found.meet(*ask(self._lattice, [point]))
            return found

        return list(map(more, ask(self._twice or self._plain, points), points))

    def _beside(self, mu: float) -> ContourProfile:
        little = rational(Fraction(max(1, round(mu * _BITS)), _BITS))
        plain = self._plain
        pairs: list[tuple[Pair, int]] = [*plain.product.factors, (Gaussian(little), 1)]
        return ContourProfile(pairs, plain.infinite).varied(_HIDDEN_WORK, patient=False)


def _hulls(samples: Samples) -> list[tuple[Symmetrised, int]]:
    return [(Symmetrised(1 / mu, q), count) for mu, q, count in samples]


def _twice(samples: Samples, rest: Composition) -> HullTwice | None:
    """Two steps and nothing else that loses finitely much: one integral."""
    match [pair for pair, count in _hulls(samples) for _ in range(min(count, 3))]:
        case [first, second] if replace(rest, masses=[]).is_empty:
            # proposes: which engine is asked; of little noise an integral takes long
            if min(approximate(first.sigma), approximate(second.sigma)) >= _LEAST_NOISE:
                return HullTwice(first, second, rest.infinite(add=False))
    return None


def _contour(samples: Samples, rest: Composition) -> ContourProfile:
    infinite = rest.infinite(add=False)
    return ContourProfile([*_hulls(samples), *rest.pairs()], infinite).varied(
        _PLAIN_WORK, patient=False
    )


class _FewDigits(LatticeProfile):
    """A lattice that is not asked for more digits than it has in seconds."""

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return super().delta(epsilon, min(digits, _LATTICE_DIGITS))

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        return super()._epsilon(delta, min(digits, _LATTICE_DIGITS))


def _lattice(samples: Samples, rest: Composition) -> LatticeProfile:
    hulls = [SymmetrisedStep(Gaussian(mu), q, count) for mu, q, count in samples]
    return _FewDigits([*steps_of(rest, add=False), *hulls], rest.infinite(add=False), _LATTICE_WORK)
