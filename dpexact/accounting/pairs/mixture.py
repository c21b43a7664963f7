"""Two mixtures of the same normal law: Gaussian noise on samples, on groups, at random shifts."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from flint import acb, arb

from dpexact.accounting.pairs.binomial_shifts import BinomialShifts, cut
from dpexact.accounting.pairs.gaussian import normal_tail_to
from dpexact.accounting.pairs.pair import Jet, Masses, Pair, Tails, far
from dpexact.accounting.pairs.response import MAX_OUTCOMES
from dpexact.accounting.pairs.shifts import STILL, Shifts, Side, crossing, one, thinned
from dpexact.accounting.pairs.sums.mixture_rules import Shape
from dpexact.accounting.pairs.sums.mixture_sums import (
    Integrand,
    oblique_moments,
    positive_sum,
    real_moment,
)
from dpexact.balls import approximate, ball
from dpexact.errors import UnsupportedMechanism
from dpexact.kept import cached_property
from dpexact.reals import Real


@dataclass
class Kept:
    """What the last line planned, and the last one made, tell of their order."""

    decays: dict[float, Callable[[float], tuple[float, float]]] = field(default_factory=dict)
    moments: dict[float, arb] = field(default_factory=dict)


class Mixtures(Pair):
    """``sum p_j N(a_j, 1)`` against ``sum r_j N(-b_j, 1)``, by their ``shifts`` ``a`` and ``b``.

    The loss increases with the outcome.
    """

    lattice_points = 512

    @property
    @abstractmethod
    def reverse(self) -> Mixtures:
        """The pair ``(Q, P)``, of the same kind."""

    @property
    @abstractmethod
    def shifts(self) -> tuple[Side, Side]:
        """Those of ``P`` to the right and those of ``Q`` to the left."""

    @cached_property
    def _shape(self) -> Shape:
        """Proposes: about the same pair."""
        up, down = self.shifts
        return Shape(up.outline, down.outline)

    @cached_property
    def _kept(self) -> Kept:
        return Kept()

    @property
    def decays(self) -> bool:
        return any(side.moves for side in self.shifts)

    def overlap(self) -> arb:
        """The mean of ``2 Phi(-(a + b)/2)``, or what both have of ``N(0)`` where both move."""
        up, down = (side.waves() for side in self.shifts)
        # of those with no shift on one side the mean is at least the other's weight of none
        if all(side.moves for side in self.shifts) and up.still > 0 and down.still > 0:
            return arb.min(up.still, down.still)
        left, right = (side.masses() for side in self.shifts)
        root = arb(8).sqrt()
        return sum((p * r * ((a + b) / root).erfc() for a, p in left for b, r in right), arb(0))

    def largest_loss(self) -> arb | None:
        """``-log r_0`` when only ``Q`` is a mixture."""
        up, down = self.shifts
        return None if up.moves else _still_loss(down)

    def lowest(self) -> arb | None:
        """``log p_0`` when only ``P`` is a mixture."""
        up, down = self.shifts
        loss = None if down.moves else _still_loss(up)
        return None if loss is None else -loss

    def origin(self) -> arb:
        lowest = self.lowest()
        return arb(0) if lowest is None else lowest

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """The trapezoidal rule on the real axis."""
        rule = self._shape.positive(approximate(c), accuracy)
        return real_moment(Integrand(*self.shifts, c), rule)

    def extreme_moment(self, c: float | Real, accuracy: float) -> arb:
        """``M(c)`` of extreme orders and parameters too, by more nodes."""
        return real_moment(Integrand(*self.shifts, c), self._shape.real(approximate(c), accuracy))

    def extreme_cost(self, c: float | Real, accuracy: float) -> int:
        """About how many nodes ``extreme_moment`` sums."""
        return self._shape.real(approximate(c), accuracy).heavy

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """The trapezoidal rule on a line above the real axis, all nodes at once."""
        moment = self.moment(c, 8.0)
        rule = self._shape.oblique(c, accuracy)
        found = oblique_moments(Integrand(*self.shifts, c), rule, moment, step, count)
        self._kept.moments = {c: found[0].real}
        return found

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """The integral of the modulus on the line above the axis that makes it least."""
        # proposes: a strip; the order is a float that means its exact value here as in the keys
        log_bound, shift = (self._kept.decays.pop(c, None) or self._shape.decay(c))(u)
        # proposes: likewise
        known = self._kept.moments.get(c)
        moment = self.moment(c, accuracy) if known is None else known
        fine = accuracy + max(0.0, float(moment.upper().log().mid()) - log_bound)
        integrand, rule = Integrand(*self.shifts, c), self._shape.positive(c, fine, shift)
        total, tail, strip = positive_sum(integrand, rule, u, moment)
        return arb.min((total + tail + strip * moment).upper(), moment.upper())

    def cumulant(self, c: float) -> Jet:
        """The same sum in floats."""
        (found,) = self._shape.cumulants([c])
        return found

    def cumulants(self, orders: Sequence[float]) -> list[Jet]:
        """On one line, which serves neighbours."""
        return self._shape.cumulants(orders)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        best = self._shape.decay(c)
        self._kept.decays = {c: best}
        return lambda u: best(u)[0]

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """Nodes of the oblique rule; its terms exceed the sum by ``e^{shift^2/2} cos^-c``."""
        shape = self._shape
        rule = shape.oblique(c, accuracy)
        # proposes: an estimate of the bits lost
        lost = rule.shift**2 / 2 + float(shape.growth(c, rule.shift))
        rate = max(shape.up.rates[-1], shape.down.rates[-1])
        farthest = max(-rule.first, rule.last) * rule.spacing * rate
        nodes = rule.heavy + math.ceil((rule.last - rule.first) * (shape.terms - 1) / 4)
        return nodes, (lost + math.log1p((c + 1) * farthest)) / math.log(2)

    @property
    def tail_cost(self) -> int:
        """Each shift is a tail."""
        return max(1, sum(len(side.outline.rates) for side in self.shifts) - 2)

    # --- tails ------------------------------------------------------------------------------------

    def tails(self, bits: int) -> tuple[Tails, arb]:
        """``P(Y > t)`` and ``Q(Y > t)`` at the one point ``t`` of the ratio asked for."""
        up, down = self.shifts
        waves, normal = (up.waves(), down.waves()), normal_tail_to(bits)
        right, left = up.masses(), down.masses()

        def at(t: arb) -> Masses:
            p = sum((weight * normal(t - rate) for rate, weight in right), arb(0))
            return p, sum((weight * normal(t + rate) for rate, weight in left), arb(0))

        def tails(ratio: arb) -> Masses:
            low, high = crossing(*waves, self.lowest(), self.largest_loss(), ratio)
            ends = (at(x) if x.is_finite() else (arb(x < 0), arb(x < 0)) for x in (low, high))
            (p, q), (r, s) = ends
            return p.union(r), q.union(s)

        return tails, arb(1)

    def span(self, tail: float) -> tuple[float, float]:
        """The losses within ``far`` standard deviations of every mean."""
        up, down = (side.outline.rates[-1] for side in self.shifts)
        reach = far(tail)
        return self._shape.loss(-reach - down), self._shape.loss(reach + up)

    def lost_bits(self) -> int:
        """The crossing loses as many as the loss is flat."""
        up, down = self._shape.up, self._shape.down
        steepness = max(up.rates[-1], down.rates[-1])
        return math.ceil(max(0.0, -math.log2(max(steepness, 1e-300)))) + 8


def _still_loss(side: Side) -> arb | None:
    """``-log`` of the weight of no shift; None without it."""
    still = side.waves().still
    return None if still == 0 else -still.log()


@dataclass(frozen=True)
class GaussianMixtures(Mixtures):
    """Of any ``shifts``."""

    up: Side
    down: Side

    @property
    def shifts(self) -> tuple[Side, Side]:
        """As given."""
        return self.up, self.down

    @cached_property
    def reverse(self) -> GaussianMixtures:
        """The pair ``(Q, P)``, reflected in the origin."""
        return GaussianMixtures(self.down, self.up)


@dataclass(frozen=True)
class Grouped(Mixtures):
    """Gaussian noise on Poisson samples, for groups of ``k``: all removed, or all added.

    ``Binomial(k, q)`` shifts of ``rate`` each against none, with ``0 < q < 1``.
    """

    rate: Real
    q: Real
    k: int
    removes: bool = True

    @cached_property
    def shifts(self) -> tuple[Side, Side]:
        """All of them.

        Raises:
            UnsupportedMechanism: too many to write out; :meth:`cut` leaves out most.
        """
        if self.k > MAX_OUTCOMES:
            raise UnsupportedMechanism(
                f"groups of more than {MAX_OUTCOMES} records on samples: only epsilon, delta and "
                "what follows from them"
            )
        return self._turned(BinomialShifts(self.rate, self.q, self.k, 0, self.k))

    def _turned(self, shifts: BinomialShifts) -> tuple[Side, Side]:
        return (shifts, STILL) if self.removes else (STILL, shifts)

    @property
    def reverse(self) -> Grouped:
        """The pair ``(Q, P)``, reflected in the origin."""
        return replace(self, removes=not self.removes)

    def overlap(self) -> arb:
        """Nobody takes part with probability ``(1 - q)^k``."""
        return (-self._still_loss()).exp()

    def largest_loss(self) -> arb | None:
        """``-k log(1 - q)`` where records are added."""
        return None if self.removes else self._still_loss()

    def lowest(self) -> arb | None:
        """``k log(1 - q)`` where they are removed."""
        return -self._still_loss() if self.removes else None

    def _still_loss(self) -> arb:
        q = ball(self.q)
        # either is exact; the one keeps digits of rates near 0 and the other of those near 1
        return -self.k * ((-q).log1p() if 2 * q < 1 else ball(1 - self.q).log())

    def affinity(self, log_tail: float) -> arb:
        r"""An upper bound on :math:`\int \sqrt{PQ}`, of about ``e^(log_tail/2)`` too much.

        The root of a sum is at most the sum of the roots, and that of ``k`` weights of sum ``eta``
        at most :math:`\sqrt{k\,\eta}`.
        """
        kept = cut(self.rate, self.q, self.k, log_tail)
        rate, total = ball(self.rate), (self.k * kept.neglected()).sqrt()
        for j, weight in enumerate(kept.weights(), kept.first):
            total += weight.sqrt() * (-((j * rate) ** 2) / 8).exp()
        return arb.min(total.upper(), arb(1))

    def cut(self, log_tail: float, reach: float) -> tuple[GaussianMixtures, BinomialShifts]:
        """The same with fewer shifts, and the shifts kept; see there."""
        kept = cut(self.rate, self.q, self.k, log_tail, 0.0 if self.removes else reach)
        return GaussianMixtures(*self._turned(kept)), kept


def one_shift(sigma: Real, up: Real, down: Real) -> GaussianMixtures:
    """Noise ``sigma`` moved by 1 with probability ``up``, against it moved by -1 with ``down``."""
    rate = 1 / sigma
    return GaussianMixtures(one(rate, up), one(rate, down))


def remove(sigma: Real, q: Real) -> GaussianMixtures:
    """Poisson-subsampled Gaussian, record removed: ``P = (1-q) N(0) + q N(1)``, ``Q = N(0)``."""
    return GaussianMixtures(one(1 / sigma, q), STILL)


def add(sigma: Real, q: Real) -> GaussianMixtures:
    """Poisson-subsampled Gaussian, the record added: ``P = N(0)``, ``Q = (1-q) N(0) + q N(1)``."""
    return GaussianMixtures(STILL, one(1 / sigma, q))


def sampled_shifts(alone: Sequence[tuple[Pair, int]], rate: Real) -> Pair:
    """A Poisson sample of Gaussian noise of random sensitivity: fewer records have any.

    Raises:
        UnsupportedMechanism: anything else runs.
    """
    match alone:
        case [(GaussianMixtures(Shifts() as up, down), 1)] if down == STILL:
            return GaussianMixtures(thinned(up, rate), STILL)
    raise UnsupportedMechanism(
        "no certified accounting for samples of groups, coins or cut batches"
    )
