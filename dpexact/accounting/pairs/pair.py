"""What an engine may ask of a dominating pair.

Products of pairs stand for adaptive compositions (``docs/theory/dominating-pairs.md``, Theorem 3).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Final, NamedTuple, NoReturn, TypeAlias

from flint import acb, arb, fmpz

from dpexact.balls import ball, current
from dpexact.errors import UnsupportedMechanism
from dpexact.exactness import log_ratio
from dpexact.reals import Real, rational

#: Bits for each so much of epsilon, and epsilons for which there are none.
_LEVEL_BITS, _LEVEL, _FAR = 32, 32 * math.log(2), 2000.0
#: Whole numbers from here on are not written out.
_TOO_LARGE: Final = arb(2) ** 1_000_000

Masses: TypeAlias = tuple[arb, arb]
"""Probabilities of one event under ``P`` and under ``Q``."""
Turns: TypeAlias = list[tuple[acb, acb]]
"""Weights and losses ``z``, ``Im z >= 0``, of a sum of ``weight e^{iuz}``, ``u >= 0``."""
Tails: TypeAlias = Callable[[arb], Masses]
"""``r -> (P(dP/dQ > r), Q(dP/dQ > r))`` of the part of a pair without atoms."""


@dataclass(frozen=True, slots=True)
class Atom:
    """An outcome of probability ``p`` under P and ``q`` under Q, not both 0."""

    p: Real
    q: Real

    def masses(self) -> Masses:
        """Both at the current precision."""
        return ball(self.p), ball(self.q)

    @property
    def loss(self) -> Real:
        """``log(p/q)``, for positive ``p`` and ``q``."""
        return log_ratio(self.p, self.q)


class Jet(NamedTuple):
    """The value of a function and its first two derivatives."""

    value: float
    slope: float
    bend: float

    def along(self, move: float) -> float:
        """The parabola that osculates the function."""
        return self.value + move * (self.slope + self.bend * move / 2)


def weighted(jets: Iterable[tuple[float, Jet]]) -> Jet:
    """The sum of functions, each as often as its count says."""
    value = slope = bend = 0.0
    for n, jet in jets:
        value, slope, bend = value + n * jet.value, slope + n * jet.slope, bend + n * jet.bend
    return Jet(value, slope, bend)


class TooExpensive(ArithmeticError):
    """An evaluation would exceed the work allowed, or floats do not reach to plan it."""


class LossMoments(NamedTuple):
    """The first four cumulants of a loss ``Z``, and ``E|Z - EZ|^3``."""

    mean: arb
    variance: arb
    third: arb
    fourth: arb
    absolute: arb

    @classmethod
    def of(cls, law: Sequence[tuple[arb, arb]]) -> LossMoments:
        """From probabilities and losses."""
        mean = sum((p * z for p, z in law), arb(0))
        moved = [(p, z - mean) for p, z in law]
        second = sum((p * z * z for p, z in moved), arb(0))
        third = sum((p * z * z * z for p, z in moved), arb(0))
        fourth = sum((p * z * z * z * z for p, z in moved), arb(0))
        absolute = sum((p * abs(z * z * z) for p, z in moved), arb(0))
        return cls(mean, second, third, fourth - 3 * second * second, absolute)


class Pair(ABC):
    """Laws ``(P, Q)`` of one step on neighbouring data, of privacy loss ``Z = log dP/dQ``.

    Balls are certified at the current precision; accuracies are natural logarithms of a relative
    error. ``cumulant``, ``decay_estimate``, ``line_cost``, ``span`` and ``lost_bits`` are float
    heuristics, by which work is planned and nothing is decided.
    """

    #: Over how many points a first lattice spreads the losses.
    lattice_points: ClassVar[int] = 64
    #: Whether its moments are sums of exponentials, few of which are large, at all heights.
    has_outline: ClassVar[bool] = False

    @property
    def reverse(self) -> Pair:
        """The pair ``(Q, P)``, reflected; the same if the pair is symmetric."""
        return self

    @property
    def has_tails(self) -> bool:
        """Whether its tails or its outcomes are known, and not its moments alone."""
        return True

    @property
    def is_symmetric(self) -> bool:
        """Whether ``(Q, P)`` is the same pair, so that both directions are one."""
        return self.reverse == self

    def mass(self) -> arb:
        """``P(Z finite)``; that under ``Q`` is the mass of the reverse."""
        return arb(1)

    @abstractmethod
    def overlap(self) -> arb:
        """A lower bound on ``Int min(P, Q)``."""

    @abstractmethod
    def largest_loss(self) -> arb | None:
        """Supremum of the finite losses, None when unbounded."""

    def infinite(self) -> arb:
        """``P(Z = inf)``."""
        return ball(self.revealed())

    def revealed(self) -> Real:
        """``P(Z = inf)`` in symbols."""
        return rational(0)

    def outcomes(self) -> tuple[Atom, ...]:
        """All outcomes as exact numbers, where there are few; else none."""
        return ()

    # --- moments: M(s) = E_P[e^{sZ}; Z finite] ----------------------------------------------------

    def rho(self, order: Real) -> Real | None:
        """What the Rényi divergence is ``order`` times of, where that is known in symbols."""
        return None

    @property
    def decays(self) -> bool:
        """Whether ``M(c + iu)`` tends to zero as ``u`` grows, or what is left of it is small."""
        return False

    def at(self, s: acb) -> acb:
        """``M(s)`` for ``Re s > -1``, where it has a closed form."""
        self._without_moments()

    def _without_moments(self) -> NoReturn:
        raise UnsupportedMechanism(f"no certified moments of {type(self).__name__}")

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """``M(c)`` for real ``c > -1``; a float means its exact value."""
        return self.at(acb(ball(c))).real

    def mean(self) -> arb:
        """``E_P[Z]`` without infinite loss, between slopes next to 0 of ``log M``: it is convex."""
        near = rational(Fraction(1, 1 << current() // 2))
        accuracy = current() * math.log(2)
        below, above = (self.moment(s, accuracy).log() / ball(s) for s in (-near, near))
        return below.union(above)

    def integer_moments(self, count: int) -> list[arb]:
        """``M(1) .. M(count)``."""
        return [self.moment(float(k), 0.0) for k in range(1, count + 1)]

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """``M(c + i n step)``, ``n = 0 .. count``, to about ``e^-accuracy M(c)``."""
        start, rise = arb(c), arb(step)
        # proposes: how many; each is enclosed
        return [self.at(acb(start, n * rise)) for n in range(count + 1)]

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """An upper bound on ``|M(c + iu')|`` for every ``u' >= u``; without decay ``M(c)``."""
        return self.moment(c, accuracy)

    def cumulant(self, c: float) -> Jet:
        """``log M(c)`` and two derivatives, approximately."""
        self._without_moments()

    def cumulants(self, orders: Sequence[float]) -> list[Jet]:
        """:meth:`cumulant` at each, which may share work."""
        return [self.cumulant(c) for c in orders]

    def exponentials(self, c: float, top: float, accuracy: float) -> tuple[Turns, arb]:
        """Of a pair that has an outline: weights and losses ``z`` of a sum for ``M``, and an error.

        The sum of ``weight e^{iuz}`` is ``M(c + iu)`` for ``0 <= u <= top`` but for the error, a
        ball around 0 that holds both parts of it.

        Raises:
            UnsupportedMechanism: it has no such sum.
        """
        listed, (left, _) = self.atoms(0.0)
        if not (listed and left == 0):  # of balls
            raise UnsupportedMechanism(f"no list of outcomes of {type(self).__name__}")
        losses = [(p, (p / q).log()) for p, q in listed]
        return [(acb(p * (arb(c) * loss).exp()), acb(loss)) for p, loss in losses], arb(0)

    def outline(self, c: float) -> list[tuple[float, float]] | None:
        """About ``(log mass, loss)`` of the outcomes tilted by ``e^{cZ}``; None if not listed."""
        return None

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """``u -> log`` of about what ``decayed`` will certify."""
        value = self.cumulant(c).value
        return lambda u: value

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """``(nodes, bits lost to cancellation)`` of one evaluation in ``moments``."""
        self._without_moments()

    def loss_moments(self) -> LossMoments:
        """Those of the loss under ``P``, for a pair without infinite loss.

        Raises:
            UnsupportedMechanism: they are not known here, or not worth their work.
        """
        listed, (left, _) = self.atoms(0.0)
        if self.tails(current()) is not None or not left == 0:  # of balls
            raise UnsupportedMechanism("no moments are known of a loss that takes any value")
        return LossMoments.of([(p, (p / q).log()) for p, q in listed])

    # --- tails ------------------------------------------------------------------------------------

    def divergence(self, epsilon: arb) -> arb:
        """``E_P[(1 - e^(epsilon - Z))_+]`` without infinite loss, by atoms and tails."""
        outcomes, (left, _) = self.atoms(math.ldexp(1.0, -min(current(), 1000)))
        level, total = epsilon.exp(), arb(0)
        if not left == 0:  # noqa: SIM201  # outcomes not listed, of any loss; balls may hold 0
            total += arb(0).union(left.max(arb(0)))
        for p, q in outcomes:
            total += (p - level * q).max(arb(0))
        near = float(epsilon.mid())
        # proposes: how sharp tails are, in few steps; those of Q are multiplied with the level
        more = _LEVEL_BITS * math.floor(near / _LEVEL) if 0 < near < _FAR else 0
        continuous = self.tails(current() + more)
        if continuous is not None:
            p, q = continuous[0](level)
            total += p - level * q
        return total

    def divergences(self, epsilons: Sequence[arb]) -> list[arb]:
        """:meth:`divergence` at many points, which may share work; not finite where unknown."""
        return [reached(self.divergence, x) for x in epsilons]

    def origin(self) -> arb:
        """The loss at which a lattice starts."""
        lowest = self.lowest()
        assert lowest is not None
        return lowest

    def lowest(self) -> arb | None:
        """The infimum of the losses, None when unbounded or not needed."""
        return None

    def atoms(self, tail: float) -> tuple[list[Masses], Masses]:
        """Outcomes, all but ``P`` mass about ``tail`` of them, and the masses left out."""
        return [], (arb(0), arb(0))

    @property
    def tail_cost(self) -> int:
        """About how many times the work of a closed form one evaluation of :meth:`tails` is."""
        return 1

    def tails(self, bits: int) -> tuple[Tails, arb] | None:
        """The tails without atoms, to ``2^-bits``, and their mass; None when there are only atoms.

        At ratios beyond all losses they are the whole mass or nothing.
        """
        return None

    def span(self, tail: float) -> tuple[float, float]:
        """Roughly the losses outside which ``P`` has mass ``tail`` at most."""
        raise UnsupportedMechanism(f"no certified tails of {type(self).__name__}")

    def lost_bits(self) -> int:
        """Bits that the tails or the atoms lose."""
        return 0


Factors: TypeAlias = Sequence[tuple[Pair, int]]
"""Pairs, each with how often it runs: together the product of all."""


def reached(compute: Callable[[arb], arb], x: arb) -> arb:
    """What is computed, not finite where floats, which propose, do not reach."""
    try:
        return compute(x)
    except ArithmeticError:
        return arb.nan()


def integer(x: arb) -> fmpz:
    """An exact whole number; FLINT would end the program where it is too large.

    Raises:
        ArithmeticError: it is.
    """
    if not abs(x) < _TOO_LARGE:
        raise ArithmeticError("a number that is too large for an integer")
    return x.fmpz()


def product(factors: Factors, of: Callable[[Pair], arb]) -> arb:
    """What is said of each pair, multiplied as often as it runs."""
    return math.prod((of(pair) ** n for pair, n in factors), start=arb(1))


def least_overlap(factors: Factors) -> arb:
    """A lower bound on the overlap of the product: that of independent steps is no less."""
    return product(factors, lambda pair: arb.max(pair.overlap().lower(), arb(0)))


def added(losses: Iterable[tuple[arb | None, int]]) -> arb | None:
    """The sum of losses, each as often as its count says; None when one is unbounded."""
    total = arb(0)
    for loss, count in losses:
        if loss is None:
            return None
        total += count * loss
    return total


def total_loss(factors: Factors) -> arb | None:
    """The supremum of the finite losses of the product, None when unbounded."""
    return added((pair.largest_loss(), n) for pair, n in factors)


def log_chernoff(order: arb) -> arb:
    """``log K(b) = b log b - (1 + b) log(1 + b)``, which is 0 at ``b = 0``."""
    if order == 0:
        return arb(0)
    return order * order.log() - (1 + order) * (1 + order).log()


def chernoff_constant(order: arb) -> arb:
    """``b^b / (1 + b)^{1 + b}``, the least ``K`` with ``(1 - e^{-y})_+ <= K e^{b y}``."""
    return log_chernoff(order).exp()


def short(value: float) -> float:
    """Proposes: a nearby float of few bits, so that products with small integers are exact."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(mantissa * 2**20), exponent - 20)


def far(tail: float) -> float:
    """Proposes: beyond how many standard deviations a normal law has mass ``tail`` at most."""
    return math.sqrt(-2 * math.log(min(tail, 1.0))) if tail > 0 else 38.0
