r"""Privacy filters: a budget fixed before the first step, steps chosen by what was released.

Each step has a cost, which may depend on all results before it; the filter admits a step only if it
is certain that all costs together stay within the budget ``B``. Then the whole run keeps the
guarantee that the budget names, however steps were chosen, and whenever it stops:

- ``pure``: costs ``eps_t``, a run is ``B``-DP (Rogers, Roth, Ullman, Vadhan 2016);
- ``gdp``: costs ``mu_t^2``, a run is ``sqrt(B)``-GDP (Smith, Thakurta 2022);
- ``renyi``: costs are divergences at one order, a run is ``(alpha, B)``-RDP (Feldman, Zrnic 2021);
- ``zcdp``: costs ``rho_t``, a run is ``B``-zCDP (the last at every order).

A bounded range costs what it guarantees: ``eps``-DP and ``eps^2/8``-zCDP.
Statements and proofs stand in ``docs/theory/filters.md``. Of other profiles, as those of samples,
no such sum is a filter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from threading import Lock
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.classic.composition import largest_loss
from dpexact.accounting.classic.orders import renyi_epsilon
from dpexact.accounting.classic.zcdp import total_zcdp
from dpexact.accounting.composition import Composition
from dpexact.accounting.profiles import of_ranges
from dpexact.accounting.queries import epsilon_answer
from dpexact.accounting.renyi.query import enclose_renyi
from dpexact.accounting.standing import from_above
from dpexact.answers import delivered
from dpexact.arguments import digits_in, rational_in, real_in
from dpexact.conversion import RealLike
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.exactness import exact_ratio
from dpexact.mechanisms import GDP, ZCDP, Gaussian, Mechanism, PureDP, gdp
from dpexact.mechanisms.base import Relation, joint
from dpexact.mechanisms.grammar import mechanism_in
from dpexact.reals import ZERO, Real
from dpexact.ternary import Ternary

#: Digits of a cost that has no closed form.
DIGITS: Final = 25
#: Bits with which a total is held against the budget.
_BITS: Final = (128, 512, 2048)
#: Of threads that share a filter one at a time weighs a step and counts it; FLINT is one's alone.
_SPENDING: Final = Lock()


@dataclass(frozen=True)
class _Scale:
    """What costs are measured in, how much of it there is, and what every run keeps, by a theorem.

    ``cost`` is that of one step, for neighbours in both directions; it raises
    ``UnsupportedMechanism`` where a step has none. ``epsilon`` is one that every run keeps at a
    delta, to some digits.
    """

    name: str
    budget: Real
    guarantee: str
    theorem: str
    cost: Callable[[Mechanism], Real | Enclosure]
    epsilon: Callable[[Real, int], Enclosure]


def _of_mechanism(budget: Mechanism) -> _Scale:
    match budget:
        case PureDP(eps):
            why = "pure DP adds up, also adaptively (Rogers, Roth, Ullman, Vadhan 2016)"
            kept = partial(epsilon_answer, budget)
            return _Scale("pure", eps, f"{eps}-DP", why, _largest_loss, kept)
        case GDP() | Gaussian():
            why = "squares of mu add up, also adaptively (Smith, Thakurta 2022)"
            square = Composition.of([(budget, 1)]).mu_squared
            mu = reals.square_root(square)
            kept = partial(epsilon_answer, gdp(mu))
            return _Scale("gdp", square, f"{mu}-GDP", why, _mu_squared, kept)
        case ZCDP(rho, xi) if xi.fraction == 0:
            why = "zCDP adds up, also adaptively (Feldman, Zrnic 2021, at every order)"
            kept = partial(epsilon_answer, budget)
            return _Scale("zcdp", rho, f"{rho}-zCDP", why, _rho, kept)
    raise InvalidInput(
        f"budget: {budget} is not accepted; use pure_dp(eps), gdp(mu), gaussian(sigma) or "
        "zcdp(rho), or a bound at a Rényi order"
    )


def _of_order(order: Real, budget: Real) -> _Scale:
    why = "Rényi divergences of one order add up, also adaptively (Feldman, Zrnic 2021)"
    guarantee, cost = f"({order}, {budget})-RDP", partial(_divergence, order)
    return _Scale("renyi", budget, guarantee, why, cost, partial(_kept, order, budget))


def _largest_loss(step: Mechanism) -> Real | Enclosure:
    pure, _ = of_ranges(step)
    exact = largest_loss(pure)
    return enclose_renyi(pure, None, DIGITS, "both") if exact is None else exact


def _mu_squared(step: Mechanism) -> Real:
    found = Composition.of(step.steps().items())
    if not found.is_gaussian:
        raise UnsupportedMechanism(
            f"step: {step} is no Gaussian mechanism; a budget of gdp counts gaussian and gdp "
            "alone, as no sum of other profiles is a filter; use a budget at a Rényi order"
        )
    return found.mu_squared


def _rho(step: Mechanism) -> Real:
    found, infinite = total_zcdp(of_ranges(step)[1])
    if infinite.masses:
        raise UnsupportedMechanism(f"step: {step} may reveal everything, and has no zCDP")
    if found.xi.fraction != 0:
        raise UnsupportedMechanism(f"step: {step} has xi > 0; a budget of zcdp counts rho alone")
    return found.rho


def _divergence(order: Real, step: Mechanism) -> Enclosure:
    return enclose_renyi(of_ranges(step)[1], order, DIGITS, "both")


def _kept(order: Real, budget: Real, delta: Real, digits: int) -> Enclosure:
    """Epsilon of a divergence that is the whole budget."""
    if delta.fraction == 1:
        return Enclosure.exact(Fraction(0), "nothing is asked")

    def line(_: Real | None, digits: int) -> Enclosure:
        return balls.enclosed(budget, digits)

    return renyi_epsilon(line, delta, digits, "proposition 14", order).epsilon


class Filter:
    """Admits steps that may be chosen by the results of those before, within a fixed ``budget``.

    Args:
        budget: what the whole run may lose: ``pure_dp(eps)``, ``gdp(mu)``, ``gaussian(sigma)`` or
            ``zcdp(rho)``, or its text; :meth:`renyi` makes a budget at a Rényi order.

    Raises:
        InvalidInput: another budget.

    >>> filter = Filter("gdp(1)")
    >>> [filter.spend(step) for step in ("gaussian(2)", "gaussian(5/4)", "gaussian(3)")]
    [True, True, False]
    >>> print(filter.spent, filter.guarantee)
    0.89 1-GDP
    """

    def __init__(self, budget: Mechanism | str) -> None:
        self._begin(_of_mechanism(mechanism_in(budget)))

    @classmethod
    def renyi(cls, order: RealLike, bound: RealLike) -> Filter:
        """A budget of ``bound`` on the Rényi divergence at ``order``, a rational above 1.

        Raises:
            InvalidInput: an argument out of its domain.
        """
        alpha = reals.rational(rational_in(order, "order", "> 1"))
        made = cls.__new__(cls)
        made._begin(_of_order(alpha, real_in(bound, "bound", ">= 0")))
        return made

    def _begin(self, scale: _Scale) -> None:
        self._scale = scale
        self._rational = Fraction(0)
        self._symbols: Counter[Real] = Counter()
        self._lower = self._upper = Fraction(0)
        #: The neighbours that steps spoke of, one kind at most, and which spoke first.
        self._speakers: dict[Relation, str] = {}

    @property
    def guarantee(self) -> str:
        """What the run keeps, whatever steps were admitted."""
        return self._scale.guarantee

    @property
    def theorem(self) -> str:
        """Why it does."""
        return self._scale.theorem

    @property
    def budget(self) -> Real:
        """What all costs together may be."""
        return self._scale.budget

    @property
    def spent(self) -> Enclosure:
        """The sum of the costs so far.

        As an odometer, a bound at every time that results may choose, this is certain of pure DP
        alone; of the others what is certain is the budget (Rogers et al. 2016).
        """
        if not self._upper and (exact := self._total().fraction) is not None:
            return Enclosure.exact(exact, self._scale.name)
        with balls.precision(_BITS[0]):
            exactly = balls.ball(self._total())
            low, high = (balls.to_enclosure(exactly + balls.ball(end)) for end in self._ends)
        return low.between(high, self._scale.name)

    @property
    def is_odometer(self) -> bool:
        """Whether what was spent so far is a guarantee at times that results may choose."""
        return self._scale.name == "pure"

    def fits(self, step: Mechanism | str) -> Ternary:
        """Whether ``step`` stays within the budget; undecided where that is not certain.

        Raises:
            InvalidInput: no mechanism.
            UnsupportedMechanism: it has no cost on this scale, or speaks of other neighbours than
                steps before.
        """
        return self._weighed(mechanism_in(step))[0]

    def spend(self, step: Mechanism | str) -> bool:
        """Admit ``step`` and count its cost, if it certainly stays within the budget.

        False if not: then it must not run, and nothing is counted. Threads may share a filter.

        Raises:
            InvalidInput, UnsupportedMechanism: as :meth:`fits`.
        """
        mechanism = mechanism_in(step)
        with _SPENDING:
            return self._spend(mechanism)

    def _spend(self, mechanism: Mechanism) -> bool:
        verdict, cost = self._weighed(mechanism)
        if verdict is not Ternary.HOLDS:
            return False
        if not isinstance(cost, Real):
            self._lower += Fraction(cost.lower)
            self._upper += Fraction(cost.upper)
        elif cost.fraction is not None:
            self._rational += cost.fraction
        else:
            self._symbols[cost] += 1
        for name, relation in mechanism.speakers():
            self._speakers.setdefault(relation, name)
        return True

    def epsilon(self, delta: RealLike, digits: int = 15) -> Enclosure:
        """Enclose an epsilon that the whole run keeps at ``delta``, by its guarantee.

        Raises:
            InvalidInput, PrecisionNotReached: as :func:`dpexact.epsilon`.

        >>> print(Filter("gdp(1)").epsilon("1e-5", 8).shown(8))
        4.3771780...
        """
        at = real_in(delta, "delta", "> 0", "<= 1")
        wanted = digits_in(digits)
        found = self._scale.epsilon(at, wanted).as_bound("upper", self.theorem)
        return delivered(found, wanted)

    @property
    def _ends(self) -> tuple[Fraction, Fraction]:
        return self._lower, self._upper

    def _total(self, more: Real = ZERO) -> Real:
        """The costs in symbols so far, and ``more``; equal symbols are counted."""
        if more.fraction is not None:
            rational, symbols = self._rational + more.fraction, self._symbols
        else:
            rational, symbols = self._rational, self._symbols + Counter((more,))
        return sum((n * cost for cost, n in symbols.items()), reals.rational(rational))

    def _weighed(self, step: Mechanism) -> tuple[Ternary, Real | Enclosure]:
        earlier = [(name, relation) for relation, name in self._speakers.items()]
        joint([*earlier, *step.speakers()])
        from_above(step)
        cost = self._scale.cost(step)
        if isinstance(cost, Real):
            return self._within(self._total(cost), *self._ends), cost
        if not isinstance(cost.lower, Fraction):
            return Ternary.FAILS, cost
        # a cost that may be infinite fits nowhere for certain, and may be certain not to fit
        low, high = self._lower + cost.lower, self._upper + cost.upper
        return self._within(self._total(), low, high), cost

    def _within(self, exact: Real, low: Fraction, high: Bound) -> Ternary:
        """Whether ``exact`` and what lies between ``low`` and ``high`` are at most the budget."""
        if not high and (ratio := exact_ratio(exact, self.budget)) is not None:
            return Ternary.of(ratio <= 1, ratio > 1)
        for bits in _BITS:
            with balls.precision(bits):
                left: arb = balls.ball(self.budget) - balls.ball(exact)
                if left >= balls.ball(high):
                    return Ternary.HOLDS
                if left < balls.ball(low):
                    return Ternary.FAILS
        return Ternary.UNDECIDED
