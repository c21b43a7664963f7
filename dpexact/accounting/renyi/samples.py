r"""Divergences of a Poisson sample of anything but Gaussians alone.

At integer orders, removing, the binomial sum over the moments of any composition; else the mean of
:class:`~dpexact.accounting.renyi.averages.Moment` over the outcomes of the finite laws, times
Laplace or discrete Gaussian noise that runs once; beside Gaussian noise the moment of the pair.
What has none of these lies between the integer orders next to it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.few_atoms import enumerate_types
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.laplace import Laplace
from dpexact.accounting.renyi import averages
from dpexact.accounting.renyi.averages import Moment
from dpexact.accounting.renyi.series import mixture_moment
from dpexact.accounting.renyi.unsampled import (
    INFINITE,
    largest_loss,
    lost_bits,
    quotient,
    straight,
    value,
)
from dpexact.balls import approximate
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

#: Highest order of the binomial sum, and of a quadrature.
MAX_ORDER: Final = 3_000
#: Most types of outcomes of it.
MAX_TYPES: Final = 20_000
#: Largest sensitivity over scale of Laplace noise that is integrated.
MAX_RATE: Final = 10_000.0
#: Most outcomes beside noise that is integrated or summed.
MAX_BESIDE: Final = 64

_ZERO: Final = Fraction(0)
_TWO: Final = reals.rational(2)


def divergence(composed: Composition, q: Real, order: Real, add: bool, digits: int) -> Enclosure:
    """The divergence at a finite order on a sample of rate ``0 < q < 1``, in one direction.

    Beside zCDP it is an upper bound: the binomial sum at the order rounded up. Removing at an
    integer order a Gaussian attains it; otherwise ``D_alpha`` does not decrease with ``alpha``, and
    adding it is at most the sum too, if the moments in it bound both directions of what is sampled
    (Steinke 2022, Theorem 34): zCDP and symmetric pairs have the same in both.

    Raises:
        UnsupportedMechanism: adding, beside zCDP, a pair that is not symmetric.
    """
    law = SampledLaw(composed, q)
    infinite = composed.infinite(add=False).fraction != 0
    if infinite and (not add or composed.rho.fraction != 0):
        return INFINITE
    if composed.rho.fraction != 0:
        if add and not composed.is_symmetric:
            raise UnsupportedMechanism(
                "no bound for sampled zCDP beside a pair that is not symmetric, where it is added"
            )
        up = max(2, _around(order)[1])
        if up > MAX_ORDER:
            raise UnsupportedMechanism(f"no bound for sampled zCDP at orders above {MAX_ORDER}")
        return law.binomial(up, digits)
    low, up = _around(order)
    if low == up and 2 <= up <= MAX_ORDER and not add:
        return law.binomial(up, digits)
    return law.mean(order, add, digits)


class SampledLaw:
    """The laws of a composition, on a sample of rate ``q``."""

    def __init__(self, composed: Composition, q: Real) -> None:
        self.composed = composed
        self.q = q
        pairs = replace(composed, noises=[], masses=[]).pairs()
        self.finite = [(pair.outcomes(), k) for pair, k in pairs if pair.outcomes()]
        self.noises = [(pair, k) for pair, k in pairs if not pair.outcomes()]

    # --- binomial sum -----------------------------------------------------------------------------

    def binomial(self, order: int, digits: int) -> Enclosure:
        """``D_order``, removing; no mass of infinite loss."""

        def compute() -> arb:
            moment = mixture_moment(self._log_moments(order), order, balls.ball(self.q))
            return moment.log1p() / (order - 1)

        lost = lost_bits(self.q)
        return balls.certify(compute, digits, lowest=_ZERO, method="binomial sum", lost_bits=lost)

    def _log_moments(self, order: int) -> list[arb]:
        """``log E_Q[x^k]`` for ``k = 2 .. order``."""
        rho, others = straight(self.composed, _TWO)
        square, offset = balls.ball(rho), balls.ball(self.composed.xi)
        found = [(square * k + offset) * (k - 1) for k in range(2, order + 1)]
        for pair, count in others:
            for i, moment in enumerate(pair.integer_moments(order - 1)):
                found[i] += count * moment.log()
        return found

    # --- means ------------------------------------------------------------------------------------

    def mean(self, order: Real, add: bool, digits: int) -> Enclosure:
        """``D_order`` from the mean over all outcomes, or the moment of the pair."""
        noises = [pair.rate for pair, _ in self.noises if isinstance(pair, Laplace)]
        lost = lost_bits(self.q, order, *noises)
        top = self._largest(add, 3)
        try:
            match self._average(order):
                case None:
                    pair = self.composed.on_sample(self.q, "add" if add else "remove")
                    compute, name = partial(quotient, [(pair, 1)], order - 1), "moments of the pair"
                case average, name:
                    compute = partial(self._averaged, order, add, average)
            measured = balls.certify(
                compute,
                digits,
                lowest=_ZERO,
                highest=top if isinstance(top, Fraction) else None,
                method=name,
                lost_bits=lost,
            )
        except (UnsupportedMechanism, ArithmeticError, ValueError):  # too many outcomes, or nodes
            return self.between(order, add, digits)
        if measured.digits >= digits:
            return measured
        return self.between(order, add, digits).meet(measured)

    def _averaged(self, order: Real, add: bool, average: averages.Average) -> arb:
        """The divergence, by the mean over all outcomes."""
        f, total = Moment.of(self.q, order, add), arb(0)
        # of the outcomes possible under ``Q``
        laws = [
            list(enumerate_types([a.masses() for a in law if a.q.fraction != 0], k))
            for law, k in self.finite
        ]
        for types in product(*laws):
            ratio, weight = arb(1), arb(1)
            for _, p, v in types:
                ratio, weight = ratio * p / v, weight * v
            total += weight * average(f, ratio)
        if self.composed.masses:  # the outcomes that x = 0 stands for
            missing = self.composed.beside.ball()
            total = (1 - missing) * total + missing * f.at(arb(0))
        return total if f.power is None else total.log() / balls.ball(order - 1)

    def _average(self, order: Real) -> tuple[averages.Average, str] | None:
        """What runs beside the finite laws, and the name of the method; None beyond its means."""
        types = math.prod(math.comb(count + len(law) - 1, count) for law, count in self.finite)
        match self.noises if not self.composed.noises else None:
            case [] if types <= MAX_TYPES:
                return Moment.at, "sum over outcomes"
            case [(Laplace(rate), 1)] if types <= MAX_BESIDE:
                # proposes: only which of two certified ways is taken
                if approximate(rate) <= MAX_RATE and approximate(order) <= MAX_ORDER:
                    return averages.laplace(rate), "certified quadrature"
            case [(DiscreteGaussian() as pair, 1)] if types <= MAX_BESIDE:
                return averages.discrete_gaussian(pair), "sum over outcomes"
        return None

    def _largest(self, add: bool, digits: int) -> Bound:
        """An upper bound on the divergence at every order."""
        faced = self.composed.facing("add" if add else "remove")
        return largest_loss(faced, digits, self.q, add).upper

    def between(self, order: Real, add: bool, digits: int) -> Enclosure:
        """What is known without a mean: removing, between the integers around ``order``.

        ``D_alpha`` does not decrease with ``alpha``, and of symmetric pairs adding is never above
        removing.
        """
        top = self._largest(add, digits)
        found = Enclosure(_ZERO, top, "largest loss")
        down, up = _around(order)
        finite = self.composed.infinite(add=False).fraction == 0
        if finite and up <= MAX_ORDER and (self.composed.is_symmetric or not add):
            above = self.binomial(max(up, 2), digits)
            found = found.meet(Enclosure(_ZERO, above.upper, "binomial sums"))
        if finite and down >= 2 and not add:
            below = self.binomial(min(down, MAX_ORDER), digits)
            found = found.meet(Enclosure(below.lower, math.inf, "binomial sums"))
        return found.short("no sum or integral for this order is short enough")


def _around(order: Real) -> tuple[int, int]:
    """Integers at most and at least ``order``, next to it; large ones are not told apart."""
    near = value(order, 70)
    return math.floor(near.lower), math.ceil(min(near.upper, MAX_ORDER + 1))
