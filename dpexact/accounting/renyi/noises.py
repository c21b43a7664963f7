r"""Divergences of laws other than Gaussian, and of anything on a Poisson sample.

Two ways: at integer orders, removing, the binomial sum over the moments ``E_Q[x^k]`` of any
composition; else the mean of :class:`~dpexact.accounting.renyi.excess.Excess` over the outcomes of
the finite laws, times Laplace or discrete Gaussian noise that runs once.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.composition import Composition
from dpexact.accounting.few_atoms import MAX_TYPES, enumerate_types
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.lattice import OnLattice
from dpexact.accounting.pairs.pair import Pair
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.renyi import averages
from dpexact.accounting.renyi.binomial import mixture_moment
from dpexact.accounting.renyi.excess import Excess
from dpexact.accounting.renyi.values import value
from dpexact.balls import approximate
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

#: Highest order of the binomial sum, and of a quadrature.
MAX_ORDER: Final = 3_000
#: Largest sensitivity over scale of Laplace noise that is integrated.
MAX_RATE: Final = 10_000.0
#: Most outcomes beside noise that is integrated or summed.
MAX_BESIDE: Final = 64

#: Accuracy of moments in closed form, which they exceed.
_EXACT: Final = 0.0
_ZERO: Final = Fraction(0)


class Law:
    """The pair of a composition without sampling that is not Gaussian alone."""

    def __init__(self, composed: Composition) -> None:
        self.composed = composed
        self.infinite: InfiniteLoss = InfiniteLoss(tuple(composed.masses))
        pairs = composed.on_lattices()
        self.finite: list[tuple[OnLattice, int]] = [
            (pair, k) for pair, k in pairs if pair.outcomes()
        ]
        self.discrete: list[tuple[DiscreteGaussian, int]] = [
            (pair, k) for pair, k in pairs if isinstance(pair, DiscreteGaussian)
        ]

    # --- the largest loss -------------------------------------------------------------------------

    def edge(self, q: Real, add: bool, digits: int) -> Enclosure:
        """The divergence of infinite order: ``log(1 - q + q e^(+-largest))``, with the sign."""
        unbounded = self.composed.mu is not None or bool(self.discrete)
        ends = [(_end(pair, add), k) for pair, k in self.composed.apart]
        unbounded = unbounded or any(end is None for end, _ in ends)
        if not add and (unbounded or self.infinite.masses):
            return Enclosure.exact(math.inf, "closed form: infinite")

        label = "closed form: largest loss"
        if unbounded or self.infinite.masses:
            return _log_rest(q, digits).labelled(label)
        largest = reals.rational(0)
        for pair, k in self.finite:
            spacing, start = pair.lattice()
            largest += k * (start + len(pair.outcomes()) - 1) * spacing
        for rate, k in self.composed.laplace:
            largest += k * rate
        if q.fraction == 1 and not self.composed.apart:
            return value(largest, digits).labelled(label)

        def compute() -> arb:
            loss = balls.ball(largest)
            for pair, k in self.composed.apart:
                end = _end(pair, add)
                loss += arb.nan() if end is None else k * end
            gain = (balls.ball(q) * (-loss if add else loss).expm1()).log1p()
            return -gain if add else gain

        return balls.certify(compute, digits, lowest=_ZERO, method=label)

    # --- binomial sum -----------------------------------------------------------------------------

    def log_moments(self, order: int, zcdp: Real | None = None) -> list[arb]:
        """``log E_Q[x^k]`` for ``k = 2 .. order``; ``zcdp`` adds ``k (k-1) rho`` for its rho."""
        square = balls.ball(self.composed.mu_squared)
        for noise, count in self.discrete:
            square += count * noise.shift**2 / balls.ball(noise.variance)
        if zcdp is not None:
            square += 2 * balls.ball(zcdp)
        laws = [
            ([(balls.ball(a.p), balls.ball(a.q)) for a in pair.outcomes()], count)
            for pair, count in self.finite
        ]
        laplace = [(balls.ball(rate), count) for rate, count in self.composed.laplace]
        ratios = [[p / q for p, q in law] for law, _ in laws]
        weights = [[p for p, _ in law] for law, _ in laws]
        found = []
        for k in range(2, order + 1):
            total = square * (k * (k - 1)) / 2
            for i, (_, count) in enumerate(laws):
                weights[i] = [w * r for w, r in zip(weights[i], ratios[i], strict=True)]
                total += count * sum(weights[i], arb(0)).log()
            for x, count in laplace:
                fall = (k - 1) * (-(2 * k - 1) * x).exp()
                total += count * ((k - 1) * x + ((k + fall) / (2 * k - 1)).log())
            for pair, count in self.composed.apart:
                total += count * pair.moment(reals.rational(k - 1), _EXACT).log()
            found.append(total)
        return found

    def binomial(self, q: Real, order: int, digits: int, zcdp: Real | None = None) -> Enclosure:
        """``D_order`` of the sample, removing; no mass of infinite loss."""

        def compute() -> arb:
            moment = mixture_moment(self.log_moments(order, zcdp), order, balls.ball(q))
            return moment.log1p() / (order - 1)

        lost = _lost_bits(q)
        return balls.certify(compute, digits, lowest=_ZERO, method="binomial sum", lost_bits=lost)

    # --- means ------------------------------------------------------------------------------------

    def mean(self, q: Real, order: Real, add: bool, digits: int) -> Enclosure:
        """``D_order`` from the mean of the excess over all outcomes."""
        if self.infinite.masses and not add:
            return Enclosure.exact(math.inf, "closed form: infinite")
        excess = order - 1
        lost = _lost_bits(q, excess, *(rate for rate, _ in self.composed.laplace))
        found = self._average(order, lost)
        if found is None:
            return self.between(q, order, add, digits)
        average, name = found

        def compute() -> arb:
            f = Excess.of(q, order, add)
            laws = [
                list(enumerate_types(law, count, arb(1)))
                for law, count in (
                    ([(balls.ball(a.p), balls.ball(a.q)) for a in pair.outcomes()], k)
                    for pair, k in self.finite
                )
            ]
            total = arb(0)
            for types in product(*laws):
                ratio, weight = arb(1), arb(1)
                for _, p, v in types:
                    ratio, weight = ratio * p / v, weight * v
                total += weight * average(f, ratio)
            if self.infinite.masses:  # the outcomes that x = 0 stands for
                missing = self.infinite.ball()
                total = (1 - missing) * total + missing * f.at(arb(0))
                total += f.slope() * f.q * missing
            return total if f.power is None else total.log1p() / balls.ball(excess)

        try:
            measured = balls.certify(
                compute,
                digits,
                lowest=_ZERO,
                highest=self._top(q, add),
                method=name,
                lost_bits=lost,
            )
        except UnsupportedMechanism:  # too many outcomes
            return self.between(q, order, add, digits)
        if measured.digits >= digits:
            return measured
        return self.between(q, order, add, digits).meet(measured)

    def _average(self, order: Real, lost_bits: int) -> tuple[averages.Average, str] | None:
        """What runs beside the finite laws, and the name of the method; None beyond its means."""
        types = math.prod(
            math.comb(count + len(pair.outcomes()) - 1, count) for pair, count in self.finite
        )
        noises = sum(count for _, count in [*self.composed.laplace, *self.discrete])
        if self.composed.mu is not None or self.composed.apart or noises > 1 or types > MAX_TYPES:
            return None
        if noises == 0:
            return averages.certain, "sum over outcomes"
        if types > MAX_BESIDE:
            return None
        for rate, _ in self.composed.laplace:
            # proposes: only which of two certified ways is taken
            if approximate(rate) > MAX_RATE or approximate(order) > MAX_ORDER:
                return None
            return averages.laplace(rate, lost_bits), "certified quadrature"
        ((part, _),) = self.discrete
        return averages.discrete_gaussian(part), "sum over outcomes"

    def between(self, q: Real, order: Real, add: bool, digits: int) -> Enclosure:
        """What is known without a mean: removing, between the integers around ``order``.

        ``D_alpha`` does not decrease with ``alpha``, and adding is never above removing.
        """
        found = Enclosure(_ZERO, self.edge(q, add, digits).upper, "largest loss")
        down, up = _around(order)
        if not self.infinite.masses and q.fraction != 1:
            if up <= MAX_ORDER:
                above = self.binomial(q, max(up, 2), digits)
                found = found.meet(Enclosure(_ZERO, above.upper, "binomial sums"))
            if down >= 2 and not add:
                below = self.binomial(q, min(down, MAX_ORDER), digits)
                found = found.meet(Enclosure(below.lower, math.inf, "binomial sums"))
        return found.short("no sum or integral for this order is short enough")

    def _top(self, q: Real, add: bool) -> Fraction | None:
        """The largest loss, which no order exceeds; None without one."""
        top = self.edge(q, add, 3).upper
        return None if top == math.inf else Fraction(top)


def _end(pair: Pair, add: bool) -> arb | None:
    """The largest loss of the pair or, ``add``, of its reverse."""
    if not add:
        return pair.largest_loss()
    lowest = pair.lowest()
    return None if lowest is None else -lowest


def divergence(
    composed: Composition, q: Real, order: Real | None, add: bool, digits: int
) -> Enclosure:
    """The divergence on a sample of rate ``0 < q <= 1``, in one direction.

    ``composed`` loses privacy and is not Gaussian alone; at ``q = 1`` there is no sampling, and the
    directions agree.
    """
    law = Law(composed)
    if order is None:
        return law.edge(q, add, digits)
    whole = _integer(order)
    if whole is not None and not add and not law.infinite.masses and q.fraction != 1:
        return law.binomial(q, whole, digits)
    return law.mean(q, order, add, digits)


def at_most(
    composed: Composition, rho: Real, q: Real, order: Real | None, add: bool, digits: int
) -> Enclosure:
    """An upper bound beside ``rho``-zCDP: the binomial sum at the order rounded up.

    Removing at an integer order a Gaussian attains it; otherwise ``D_alpha`` does not decrease with
    ``alpha``, and adding it is at most the sum too (Steinke 2022, Theorem 34).
    """
    law = Law(composed)
    if add and order is None:
        return _log_rest(q, digits)
    if law.infinite.masses or order is None:
        return Enclosure.exact(math.inf)
    up = max(2, _around(order)[1])
    if up > MAX_ORDER:
        raise UnsupportedMechanism(f"no bound for sampled zCDP at orders above {MAX_ORDER}")
    return law.binomial(q, up, digits, rho)


def _around(order: Real) -> tuple[int, int]:
    """Integers at most and at least ``order``, next to it; large ones are not told apart."""
    near = value(order, 70)
    return math.floor(near.lower), math.ceil(min(near.upper, MAX_ORDER + 1))


def _log_rest(q: Real, digits: int) -> Enclosure:
    """``-log(1 - q)``: the largest loss of leaving a record out, whatever its noise."""
    return balls.certify(lambda: -(-balls.ball(q)).log1p(), digits, lowest=_ZERO)


def _integer(order: Real) -> int | None:
    n = order.fraction
    fits = n is not None and n.denominator == 1 and 2 <= n <= MAX_ORDER
    return int(n) if fits and n is not None else None


def _lost_bits(q: Real, *others: Real) -> int:
    """About how many bits the smallness of ``q`` and the size of what else enters take."""
    # proposes: a first precision; certify raises it where it is too low
    log = balls.approximate_log
    sizes = [-log(q), *(2 * abs(log(x)) for x in others if x.fraction != 0)]
    return math.ceil(min(sum(sizes) / math.log(2), balls.CAP_EXTRA)) + 8
