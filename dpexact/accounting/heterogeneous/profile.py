r"""The optimal composition of different ``(eps_i, delta_i)``-DP mechanisms.

.. math:: \delta(\varepsilon) = D + (1 - D) \sum_{S} \big(P(S) - e^\varepsilon Q(S)\big)_+, \quad
          P(S) = \prod_{i \in S} \frac{1}{1 + e^{-\epsilon_i}}
                 \prod_{i \notin S} \frac{1}{1 + e^{\epsilon_i}}, \quad Q(S) = P(S^c),

with ``D`` the mass of infinite loss (Kairouz, Oh, Viswanath 2017, Theorem III.5; Murtagh, Vadhan
2016, Theorem 1.5). Three routes: exact counts on a lattice, two halves that meet in the middle, and
a grid that encloses what is left.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Final, Literal, TypeAlias

from flint import arb, fmpq

from dpexact import balls
from dpexact.accounting.heterogeneous.commensurate import CountLaw, Parameters
from dpexact.accounting.heterogeneous.grid import BITS, GridLaws
from dpexact.accounting.heterogeneous.meet_in_the_middle import Meeting
from dpexact.accounting.heterogeneous.refinement import RefinedGrid
from dpexact.accounting.heterogeneous.roots import epsilon_on_grid
from dpexact.accounting.heterogeneous.tangents import epsilon_by_tangents
from dpexact.accounting.inverted import ONE, ZERO, InvertedProfile
from dpexact.accounting.profile import EXACT_BITS, InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.exactness import exp_fraction
from dpexact.reals import Real

Route: TypeAlias = Literal["auto", "counts", "meet", "grid"]

#: An exact answer sums up to this many outcomes.
_MAX_EXACT_OUTCOMES: Final = 4096


class HeterogeneousComposition(InvertedProfile):
    """Profile of mechanisms ``(eps_i, count)``, all ``eps_i > 0``, with any infinite-loss mass.

    ``route`` forces a method; ``auto`` takes the first that fits.

    Raises:
        UnsupportedMechanism: no route fits, or not the one forced.

    >>> from dpexact.reals import real
    >>> pair = [(real("log(2)"), 1), (real("log(3)"), 1)]
    >>> print(HeterogeneousComposition(pair, InfiniteLoss()).delta(real(0), 10).lower)
    1/2
    """

    def __init__(
        self, parameters: Parameters, infinite: InfiniteLoss, route: Route = "auto"
    ) -> None:
        self.parameters: tuple[tuple[Real, int], ...] = tuple(parameters)
        self.infinite = infinite
        self._top = self.largest = _balanced_sum([eps * count for eps, count in parameters])
        self._route = _route(self.parameters, route)
        self.method: str = self._route.method

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known = self.only_infinite(epsilon, digits)
        if known is not None:
            return known
        exact = self.delta_fraction(epsilon)
        if exact is not None:
            return Enclosure.exact(exact, f"{self.method} (exact)")
        route = self._route
        if isinstance(route, RefinedGrid):
            return self._on_grid(route, epsilon, digits)

        def compute() -> arb:
            lost = self.infinite.ball()
            return lost + (1 - lost) * route.divergence(balls.ball(epsilon))

        return balls.certify(
            compute,
            digits,
            lowest=ZERO,
            highest=ONE,
            method=self.method,
            lost_bits=route.lost_bits,
            cap=route.cap,
        )

    def _on_grid(self, grid: RefinedGrid, epsilon: Real, digits: int) -> Enclosure:
        def ask(laws: GridLaws) -> Enclosure:
            with balls.precision(BITS):
                level = balls.ball(epsilon)
            return self._with_infinite(laws.below(level), laws.above(level))

        return grid.refine(ask, digits, lambda best: float(best.upper)).within(ZERO, ONE)

    def _with_infinite(self, lower: Fraction, upper: Fraction) -> Enclosure:
        """``D + (1 - D) x`` for the finite part ``x``: increasing in both."""
        with balls.precision(balls.bits_for(40)):
            lost = self.infinite.ball()
            low = balls.to_enclosure(lost + (1 - lost) * balls.ball(lower))
            high = balls.to_enclosure(lost + (1 - lost) * balls.ball(upper))
        return low.between(high, self.method).within(ZERO, ONE)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        if isinstance(self._route, CountLaw):
            return super()._epsilon(delta, digits)
        if isinstance(self._route, Meeting):
            met = epsilon_by_tangents(self._route, self.infinite, delta, digits)
            return super()._epsilon(delta, digits) if met is None else met
        found = epsilon_on_grid(self._route, self.infinite, delta, digits)
        # at the largest loss delta is down to the infinite mass
        largest = balls.certify(lambda: balls.ball(self._top), 20).upper
        return found.within(ZERO, largest)

    # --- exact ----------------------------------------------------------------------------------

    def delta_fraction(self, epsilon: Real) -> Fraction | None:
        """The exact ``delta(epsilon)`` when everything is rational and of moderate size."""
        lost, level = self.infinite.fraction, exp_fraction(epsilon)
        if lost is None or level is None:
            return None
        finite = None
        if isinstance(self._route, CountLaw):
            growth = exp_fraction(self._route.base)
            finite = None if growth is None else self._route.exact(growth, level)
        if finite is None:
            finite = _by_outcomes(self.parameters, level)
        return None if finite is None else lost + (1 - lost) * finite


def _route(parameters: Parameters, route: Route) -> CountLaw | Meeting | RefinedGrid:
    found: CountLaw | Meeting | None = None
    if route in ("auto", "counts"):
        found = CountLaw.of(parameters)
    if found is None and route in ("auto", "meet"):
        found = Meeting.of(parameters)
    if found is None and route in ("counts", "meet"):
        raise UnsupportedMechanism(f"the route {route} does not account for these eps")
    return RefinedGrid(parameters) if found is None else found


def _by_outcomes(parameters: Parameters, level: Fraction) -> Fraction | None:
    r"""The sum over all outcomes for rational ``e^(eps_i)``; None if they are too many or long."""
    if math.prod(count + 1 for _, count in parameters) > _MAX_EXACT_OUTCOMES:
        return None
    laws: list[list[tuple[fmpq, fmpq]]] = []
    bits = 0
    for eps, count in parameters:
        growth = exp_fraction(eps)
        if growth is None:
            return None
        bits += count * (growth.numerator + growth.denominator).bit_length()
        odds = fmpq(growth.numerator, growth.denominator)
        whole = (1 + odds) ** count
        masses = [math.comb(count, j) * odds**j / whole for j in range(count + 1)]
        laws.append(
            [
                (mass, math.comb(count, j) * odds ** (count - j) / whole)
                for j, mass in enumerate(masses)
            ]
        )
    if bits > EXACT_BITS // 16:
        return None
    cut, total = fmpq(level.numerator, level.denominator), fmpq(0)
    for outcome in product(*laws):
        p = q = fmpq(1)
        for mass_p, mass_q in outcome:
            p, q = p * mass_p, q * mass_q
        total += max(p - cut * q, fmpq(0))
    return Fraction(int(total.p), int(total.q))


def _balanced_sum(terms: list[Real]) -> Real:
    """The sum as a shallow expression."""
    while len(terms) > 1:
        pairs = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs + (terms[-1:] if len(terms) % 2 else [])
    return terms[0]
