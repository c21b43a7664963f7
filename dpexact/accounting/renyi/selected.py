r"""The best of a random number of runs: bounds on Rényi divergences.

With ``f(x) = E x^K`` the generating function of the number of runs, and ``w``, ``w'`` the
probabilities of one test under the two laws of one run, in the opposite direction,

.. math:: e^{(\lambda-1) D'_\lambda} \le f(0) + e^{(\lambda-1) D_\lambda}
          \sup_w f'(1-w)^\lambda f'(1-w')^{1-\lambda}

(Papernot and Steinke 2022, with the runs that are none). Of the negative binomial law of
shape ``eta`` without 0 and ``L = log(1/gamma)``, for every order ``h >= 1`` in that direction

.. math:: D'_\lambda \le D_\lambda + \frac{\log E K}{\lambda-1}
          + (1 + \eta)\,\Big(\big(1 - \tfrac1h\big) \overleftarrow D_h + \frac Lh\Big)

(their Theorem 2), and of a Poisson variable the supremum is
:math:`\mu e^{(\lambda-1)\mu\delta}` with ``delta`` the profile there at
:math:`\log(\lambda/(\lambda-1))` (their Theorem 6). Divergences increase with the order, so a bound
at a larger one holds too. Proofs: ``docs/theory/selection.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from typing import Final, TypeAlias

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.classic.roots import increasing_root, minimise
from dpexact.accounting.classic.zcdp import ZCDPProfile
from dpexact.accounting.composition import Composition
from dpexact.accounting.fixed_size import on_fixed_size
from dpexact.accounting.profile import Profile
from dpexact.accounting.reflection import OPPOSITE
from dpexact.accounting.renyi.unsampled import INFINITE, Order
from dpexact.accounting.routes import routed
from dpexact.accounting.standing import sampling_of, unattained
from dpexact.arguments import Direction
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import ZCDP, FixedSize, Mechanism, RepeatAndSelect
from dpexact.reals import Real

Divergence: TypeAlias = Callable[[Mechanism, Order, int, Direction], Enclosure]
"""That of an order of what runs, in one direction."""

_Extra: TypeAlias = tuple[Enclosure, Callable[[arb, arb], arb]]
"""What is known the other way round, and the bound by the divergence and that."""

METHOD: Final = "upper bound: repeated and selected"
_DIGITS: Final = 6
_BITS: Final = 96
#: Orders tried are ``1 + 2^k``, in so small units, and then those around the best.
_POWERS: Final = range(-4, 11)
_GRAIN: Final = 20
_FLOATS: Final = Fraction(10) ** 300
_MOST_LARGER: Final = 12


def selected(
    step: RepeatAndSelect, order: Order, digits: int, direction: Direction, of: Divergence
) -> Enclosure:
    """The bound of order ``order`` on what is selected, ``direction`` not ``both``."""
    largest = of(step.mechanism, None, digits, direction)
    if largest.upper == 0:
        return Enclosure.exact(Fraction(0), METHOD)
    bounds = _Bounds(step, direction, of)
    best = _least(list(_larger(order)), lambda x: bounds.about(x))
    return bounds.at(best, digits + 4)


def _larger(order: Order) -> Iterator[Order]:
    """Proposes: orders from ``order`` on; a bound at any of them holds."""
    yield order
    if order is None:
        return
    above = order - 1
    if above.fraction == 0:
        above = reals.rational(Fraction(1, 16))
        yield 1 + above
    for _ in range(_MOST_LARGER):
        above = 2 * above
        yield 1 + above


def _least(candidates: list[Order], height: Callable[[Order], float]) -> Order:
    """Proposes: about the best of them, which are tried until they get worse."""
    best, least = candidates[0], height(candidates[0])
    for order in candidates[1:]:
        # proposes: any order gives a bound
        if (found := height(order)) >= least < math.inf:
            break
        best, least = order, found
    return best


@lru_cache(maxsize=2)  # lines of some are large
def _profile(base: Mechanism, direction: Direction) -> Profile:
    """That of what may be selected from."""
    if ZCDP in unattained(base):
        return ZCDPProfile.of(base)
    if sampling_of(base) is FixedSize:
        return on_fixed_size(base.steps())
    return routed(Composition.of(base.steps().items()), direction)


class _Bounds:
    def __init__(self, step: RepeatAndSelect, direction: Direction, of: Divergence) -> None:
        self.step, self.direction, self.of = step, direction, of

    def about(self, order: Order) -> float:
        """Proposes: the bound at an order."""
        return _about(self.at(order, _DIGITS).upper)

    def at(self, order: Order, digits: int) -> Enclosure:
        """The bound at an order above 1; infinite at 1."""
        if order is not None and order.fraction == 1:
            return INFINITE
        one = self.of(self.step.mechanism, order, digits, self.direction)
        extra = self._poisson if self.step.shape is None else self._negative_binomial
        beside, bound = extra(order, digits)
        return balls.image(one, bound, digits, beside, lowest=Fraction(0), method=METHOD)

    # --- what is added ----------------------------------------------------------------------------

    def _poisson(self, order: Order, digits: int) -> _Extra:
        way, base, mean = OPPOSITE[self.direction], self.step.mechanism, self.step.mean
        point = reals.rational(0) if order is None else reals.logarithm(order / (order - 1))
        known = _profile(base, way).delta(point, digits)

        def bound(divergence: arb, delta: arb) -> arb:
            runs = balls.ball(mean)
            if order is None:
                return divergence + runs * delta
            t = balls.ball(order) - 1
            inner = (t * (divergence + runs * delta)).exp() * runs + (-runs).exp()
            return inner.log() / t

        return known, bound

    def _negative_binomial(self, order: Order, digits: int) -> _Extra:
        step, way = self.step, OPPOSITE[self.direction]
        assert step.shape is not None
        hat = _other_order(step, way, self.of)
        known = self.of(step.mechanism, hat, digits, way)
        shape = step.shape

        def bound(divergence: arb, other: arb) -> arb:
            spread = _spread(step.mean, shape)
            if hat is not None:
                h = balls.ball(hat)
                other = (1 - 1 / h) * other + spread / h
            total = divergence + (1 + balls.ball(shape)) * other
            if order is None:
                return total
            return total + balls.ball(step.mean).log() / (balls.ball(order) - 1)

        return known, bound


@lru_cache(maxsize=256)
def _other_order(step: RepeatAndSelect, way: Direction, of: Divergence) -> Order:
    """Proposes: about the best order ``h``; every one gives a bound."""
    assert step.shape is not None
    with balls.precision(_BITS):
        spread = float(_spread(step.mean, step.shape).mid())

    def height(order: Order) -> float:
        known = _about(of(step.mechanism, order, _DIGITS, way).upper)
        if order is None or known == math.inf:
            return known
        h = balls.approximate(order)
        return (1 - 1 / h) * known + spread / h

    def at(exponent: float) -> Order:
        return reals.rational(1 + Fraction(round(2 ** (exponent + _GRAIN)), 1 << _GRAIN))

    rough = min(_POWERS, key=lambda k: height(at(k)))
    fine = at(minimise(lambda x: height(at(x)), rough - 1.0, rough + 1.0))
    return min((at(rough), fine, None), key=height)


def _about(end: Bound) -> float:
    """Proposes: a float near it, infinite where floats do not reach."""
    return float(end) if end < _FLOATS else math.inf


def _spread(mean: Real, shape: Real) -> arb:
    r""":math:`L = \log(1/\gamma)` of the law of that mean, which grows with it.

    :math:`E K = \eta (e^L - 1)/(1 - e^{-\eta L})`, in the limit :math:`(e^L - 1)/L`. It exceeds
    the mean at :math:`2 \log mean + 4` for ``eta >= 0``, and for a negative one at
    :math:`(\log(mean/|\eta|) + 1)/(1 - |\eta|)`.
    """
    eta, runs = balls.ball(shape), balls.ball(mean)
    if shape.fraction == 1:
        return runs.log()
    size = shape.fraction
    assert size is not None

    def excess(spread: arb) -> arb:
        if size == 0:
            return spread.expm1() / spread - runs
        return eta * spread.expm1() / -(-eta * spread).expm1() - runs

    high = 2 * runs.log() + 4 if size >= 0 else ((runs / -eta).log() + 1) / (1 + eta)
    low = arb(2) ** -balls.current()
    return increasing_root(excess, low, high.upper())
