"""From a mechanism to its trade-off function: the choice of representation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import reduce
from typing import Final

from dpexact.accounting.classic.zcdp import total_zcdp
from dpexact.accounting.composition import Composition
from dpexact.accounting.fixed_size import symmetric_samples
from dpexact.accounting.levels.polygon import trade_offs
from dpexact.accounting.levels.supports import supported
from dpexact.accounting.pairs.pair import Atom as Outcome
from dpexact.accounting.profile import Between, Profile
from dpexact.accounting.profiles import of_ranges, profile
from dpexact.accounting.reflection import OPPOSITE
from dpexact.accounting.standing import (
    EXACT,
    Standing,
    curves,
    ranges_alone,
    sampling_of,
    selects,
    standing_of_points,
    unattained,
)
from dpexact.arguments import Direction, direction_in
from dpexact.balls import certify
from dpexact.conversion import real
from dpexact.enclosure import Enclosure, Side
from dpexact.errors import UndecidedComparison, UnsupportedMechanism
from dpexact.mechanisms import ZCDP, BoundedRange, FixedSize, Mechanism
from dpexact.mechanisms.grammar import mechanism_in
from dpexact.reals import MAX_BITS, rational
from dpexact.ternary import Order
from dpexact.tradeoffs import (
    Atom,
    ConcentratedTradeoff,
    GaussianTradeoff,
    LaplaceTradeoff,
    PiecewiseLinear,
    RenyiTradeoff,
    TradeoffFunction,
    identity,
    numbers,
)
from dpexact.tradeoffs.convex import convex_hull
from dpexact.tradeoffs.numbers import Number, compare, enclose, enclose_level, first_ball, number
from dpexact.tradeoffs.piecewise import beside_infinite_loss, of_sorted

#: More loss, less type II error: on which side values lie.
_REVERSED: Final[dict[Side, Side]] = {"exact": "exact", "upper": "lower", "lower": "upper"}
#: Points and supporting lines in a picture, and the largest ``|log slope|``.
_OUTLINE_POINTS, _OUTLINE_LINES, _STEEPEST = 200, 60, 12.0
#: Below this delta further lines change nothing that is seen.
_FLAT: Final = 1e-4
#: Largest number of repetitions of one mechanism whose vertices are written out.
MAX_REPETITIONS: Final = 5_000
#: Likewise, of more than two finite losses of irrational mass, most outcomes of all runs, and most
#: terms of a denominator where masses have several; the work of an outcome, and a second of it.
_MAX_WRITTEN, _MAX_WIDE = 60, 18
_OF_SEVERAL, _MORE_TERMS, _MAX_WORK = 30, 50, 2_000_000
#: Digits of the ends of what is known between two functions.
_BETWEEN_DIGITS: Final = 6
_DIFFER: Final = "the bounds below and above differ"
#: Digits to which divergences beside a curve are rounded up.
_GIVEN_DIGITS: Final = 60


def tradeoff(mechanism: Mechanism | str, direction: str = "both") -> TradeoffFunction:
    """The trade-off function of ``mechanism``: ``T(P, Q)`` of its pair.

    Where the two directions differ, that for ``both`` is the convex hull of ``T(P, Q)`` and
    ``T(Q, P)``, the largest symmetric function below them; ``remove`` gives ``T(P, Q)``, type I
    errors being those under ``P``, with the record, and ``add`` its inverse.

    It is callable at an exact ``alpha``; where the pair is finite it is a
    :class:`~dpexact.tradeoffs.PiecewiseLinear` with exact ``vertices``, and its values are exact
    when ``e^eps`` is rational.

    Products of few finite laws, products of Gaussians, and a single ``laplace`` have closed forms;
    every other mechanism that has a privacy profile is evaluated through it (method ``dual``).
    With ``zcdp`` or ``renyi_dp`` among the parts it is a lower bound in closed form; so it is with
    ``repeat_and_select``, by orders that are good at each level.

    Raises:
        InvalidInput: an argument out of its domain.
        UnsupportedMechanism: naming the part that no certified method accounts for.

    >>> f = tradeoff("approx_dp(log(2), 1/100)^2")
    >>> print(f("1/10"))
    0.5801
    >>> print(tradeoff("gaussian(2)^4")("1/20").shown(12))
    0.740488977158...
    """
    return _of(mechanism_in(mechanism), direction_in(direction))


def _of(m: Mechanism, way: Direction, written: bool = True) -> TradeoffFunction:
    """The same; with ``written``, vertices are written out where there are some."""
    if ranges_alone(m):
        raise UnsupportedMechanism(
            f"{m}: no trade-off function is attained, as no single pair dominates"
        )
    said, known = standing_of_points(m), unattained(m)
    if BoundedRange in known:
        return _of_ranges(m, way, said)
    if curves(m):
        return _given(m)
    if selects(m):
        return SelectedTradeoff(m, said)
    if ZCDP in known:
        return _concentrated(m)
    if written and said is EXACT and (found := _closed_form(m, way)):
        return found
    if way == "both" or sampling_of(m) is FixedSize:  # replacement has no directions
        return _between(m) or DualTradeoff(profile(m), said)
    # of the best tests of Q against P, whose type I errors are those under P
    return DualTradeoff(profile(m, OPPOSITE[way]), said, profile(m, way))


def _between(mechanism: Mechanism) -> TradeoffFunction | None:
    """Between those of two profiles, where no more is known of that of samples of fixed size."""
    found = profile(mechanism)
    if not isinstance(found, Between) or found.sharp:
        return None
    try:
        return BetweenTradeoffs(
            DualTradeoff(symmetric_samples(mechanism)), DualTradeoff(found.below)
        )
    except UnsupportedMechanism:  # beside what is not symmetric
        return None


def _concentrated(mechanism: Mechanism) -> TradeoffFunction:
    try:
        found, infinite = total_zcdp(mechanism)
    except UnsupportedMechanism as error:
        raise UnsupportedMechanism(f"the trade-off function is open: {error}") from None
    return ConcentratedTradeoff(found.xi, found.rho, infinite.mass)


def _given(mechanism: Mechanism) -> TradeoffFunction:
    from dpexact.accounting.renyi.integer_orders import GivenOrders

    return RenyiTradeoff(*GivenOrders(mechanism, "both").rows(_GIVEN_DIGITS))


def _of_ranges(mechanism: Mechanism, direction: Direction, said: Standing) -> TradeoffFunction:
    found = []
    for guaranteed in of_ranges(mechanism):
        with suppress(UnsupportedMechanism):
            found.append(_of(guaranteed, direction, written=False))
    if not found:
        raise UnsupportedMechanism(f"no certified accounting for {mechanism}")
    return LargestTradeoff(found, said)


def _closed_form(mechanism: Mechanism, direction: Direction) -> TradeoffFunction | None:
    if sampling_of(mechanism) is FixedSize:
        return None
    try:
        c = Composition.of(mechanism.steps().items())
    except UnsupportedMechanism:  # as coins over infinite loss, of which there are profiles
        return None
    if c.samples or not all(pair.outcomes() for pair, _ in c.apart):
        return None
    if c.mu is not None:
        return GaussianTradeoff(c.mu) if c.is_gaussian else None
    if c.laplace:
        alone = len(c.pairs()) == 1 and c.laplace[0][1] == 1
        return LaplaceTradeoff(c.laplace[0][0]) if alone else None
    laws = [(pair.outcomes(), count) for pair, count in [*c.on_lattices(), *c.apart]]
    # proposes: what is left to the profile
    if any(not law or count > MAX_REPETITIONS for law, count in laws) or _is_long(laws):
        return None
    if any(count > MAX_REPETITIONS for _, count in c.masses):
        return None
    try:
        return _of_composition(c, direction)
    except (UnsupportedMechanism, UndecidedComparison):  # too long, or losses too close
        return None


def _of_composition(c: Composition, direction: Direction) -> TradeoffFunction:
    """Of laws of outcomes alone, by algebra."""
    f = identity()
    for pair, count in c.on_lattices():
        f *= _of_outcomes(pair.outcomes()) ** count
    for other, count in c.apart:
        f *= PiecewiseLinear(Atom(number(a.p), number(a.q)) for a in other.outcomes()) ** count
    kept: Number = Fraction(1)
    for mass, count in c.masses:
        kept *= (1 - number(mass)) ** count
    f = beside_infinite_loss(f, 1 - kept)
    if c.is_symmetric or direction == "remove":
        return f
    back = f.inverse()
    return back if direction == "add" else convex_hull([*f.vertices, *back.vertices])


def _is_long(laws: Sequence[tuple[Sequence[Outcome], int]]) -> bool:
    """Proposes: whether algebra with all these masses takes longer than the profile does."""
    written, hard = 1, False
    for law, count in laws:
        losses = sum(a.p.fraction != 0 and a.q.fraction != 0 for a in law)
        hard |= losses > 2 and any(a.p.fraction is None for a in law)
        written *= math.comb(losses + count - 1, count) if losses else 1
    if hard and written > _MAX_WRITTEN:
        return True
    wide, different = 1, []
    for law, count in laws:
        bottoms = numbers.denominators(number(mass) for a in law for mass in (a.p, a.q))
        wide *= math.comb(math.prod(map(len, bottoms)) + count - 1, count)
        different += [bottom for bottom in bottoms if bottom not in different]
    several = len(different) > 1
    work = written * (wide * (_OF_SEVERAL if several else 1) + _MORE_TERMS)
    return work > _MAX_WORK or (hard and several and wide > _MAX_WIDE)


def _of_outcomes(law: Sequence[Outcome]) -> PiecewiseLinear:
    """Of outcomes in the order of their losses."""
    p = [number(outcome.p) for outcome in law]
    symmetric = [outcome.q for outcome in law] == [outcome.p for outcome in reversed(law)]
    q = p[::-1] if symmetric else [number(outcome.q) for outcome in law]
    return of_sorted(map(Atom, p, q))


class DualTradeoff(TradeoffFunction):
    """The trade-off function of a privacy profile, by :mod:`dpexact.accounting.levels.dual`.

    ``reverse`` is the profile of the laws exchanged; None for a symmetric one.
    """

    method = "dual"

    def __init__(
        self, found: Profile, said: Standing = EXACT, reverse: Profile | None = None
    ) -> None:
        self.profile = found
        self.reverse = found if reverse is None else reverse
        self._said = said
        self.bound, self.theorem = _REVERSED[said.bound], said.theorem

    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        return self._enclose_many([alpha], digits)[0]

    def _enclose_many(self, alphas: Sequence[Number], digits: int) -> list[Enclosure]:
        found: dict[int, Enclosure] = {}
        levels: dict[int, Enclosure] = {}
        for i, alpha in enumerate(alphas):
            end = self._at_an_end(alpha, digits)
            if end is not None:
                found[i] = end
                continue
            level = enclose(alpha, 2 * digits + 20, self._said_how)
            # of the laws exchanged so much reveals everything that nothing is left to miss
            if self.reverse.infinite.masses and self._reveals(Fraction(level.lower), digits):
                found[i] = Enclosure.exact(Fraction(0), self._said_how)
            else:
                levels[i] = level
        found |= self._by_tests(levels, digits)
        short = {i: at for i, at in levels.items() if i not in found or found[i].digits < digits}
        ways = (self.profile.deltas, self.reverse.deltas)
        answers = trade_offs(ways[0], [*short.values()], digits, self._said_how, ways[1])
        for i, answer in zip(short, answers, strict=True):
            found[i] = found[i].meet(answer) if i in found else answer
        if self.profile.infinite.masses and short:
            most = Fraction(self._at_zero(2 * digits).upper)
            found |= {i: found[i].within(Fraction(0), most) for i in short}
        return [found[i] for i in range(len(alphas))]

    def _reveals(self, level: Fraction, digits: int) -> bool:
        """Whether infinite loss of the laws exchanged has at least the mass ``1 - level``."""
        # proposes: nothing; 1 is more than what is left at a level that takes too long to write
        left = rational(1 - level if level.denominator.bit_length() < MAX_BITS else 1)
        return self.reverse.infinite.order(left, digits) in (Order.ABOVE, Order.EQUAL)

    @property
    def _said_how(self) -> str:
        return f"{self.method} of {self.profile.method}"

    def _at_an_end(self, alpha: Number, digits: int) -> Enclosure | None:
        """At 0 and at 1; None elsewhere."""
        if compare(alpha, 1) == 0:
            return Enclosure.exact(Fraction(0), self.method)
        if compare(alpha, 0) != 0:
            return None
        return self._at_zero(digits)

    def _at_zero(self, digits: int) -> Enclosure:
        """No type II error is above that at level 0, ``1 - P(Z = inf)``."""
        infinite = self.profile.infinite
        if infinite.fraction is not None:
            return Enclosure.exact(1 - infinite.fraction, self.method)
        kept = certify(lambda: 1 - infinite.ball(), digits, method=self.method)
        return kept.within(Fraction(0), Fraction(1))

    def _by_tests(self, levels: dict[int, Enclosure], digits: int) -> dict[int, Enclosure]:
        """Nothing where tests are not known."""
        try:
            answers = supported(
                self.profile, self.reverse, [*levels.values()], digits, self._said_how
            )
        except UnsupportedMechanism:
            return {}
        return dict(zip(levels, answers, strict=True)) if answers else {}

    def inverse(self) -> DualTradeoff:
        return DualTradeoff(self.reverse, self._said, self.profile)

    def _outline(self) -> tuple[list[float], list[float]]:
        """The upper envelope of supporting lines; each costs one evaluation of the profile."""
        if self.reverse is not self.profile:
            return super()._outline()
        lines = []
        for k in range(_OUTLINE_LINES + 1):
            t = _STEEPEST * (k / _OUTLINE_LINES) ** 2
            delta = float(self.profile.delta(real(t), 3).upper)
            lines += [(1 - delta, math.exp(t)), (math.exp(-t) * (1 - delta), math.exp(-t))]
            # proposes: a picture
            if delta < _FLAT:
                break
        alphas = [(k / _OUTLINE_POINTS) ** 2 for k in range(_OUTLINE_POINTS + 1)]
        return alphas, [max(0.0, *(c - slope * a for c, slope in lines)) for a in alphas]


class LargestTradeoff(TradeoffFunction):
    """The largest of some lower bounds, as the smaller of two profiles need not be convex."""

    method = "the largest of some"

    def __init__(self, bounds: Sequence[TradeoffFunction], said: Standing) -> None:
        self.bounds = bounds
        self._said = said
        self.bound, self.theorem = _REVERSED[said.bound], said.theorem

    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        return self._enclose_many([alpha], digits)[0]

    def _enclose_many(self, alphas: Sequence[Number], digits: int) -> list[Enclosure]:
        rows = (bound._enclose_many(alphas, digits) for bound in self.bounds)
        return [reduce(Enclosure.larger, row) for row in zip(*rows, strict=True)]

    def inverse(self) -> LargestTradeoff:
        return LargestTradeoff([bound.inverse() for bound in self.bounds], self._said)


class SelectedTradeoff(TradeoffFunction):
    """What the best of many runs leaves, by orders that are good at each level: a lower bound.

    Symmetric, by the divergences of both directions. It is no dual: the least of bounds on delta
    need not be convex.
    """

    method = "Rényi of what is selected"

    def __init__(self, mechanism: Mechanism, said: Standing) -> None:
        from dpexact.accounting.renyi.integer_orders import SelectedOrders

        self._orders = SelectedOrders(mechanism, "both")
        self.bound, self.theorem = _REVERSED[said.bound], said.theorem

    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        if compare(alpha, 0) == 0 or compare(alpha, 1) == 0:
            return enclose_level(1 - alpha, digits, self.method)
        rows = self._orders.rows(first_ball(alpha), first_ball(1 - alpha), digits)
        return RenyiTradeoff(*rows)._enclose(alpha, digits).labelled(self.method)

    def inverse(self) -> SelectedTradeoff:
        return self


class BetweenTradeoffs(TradeoffFunction):
    """A symmetric function between two: the dual of a profile that is known between two."""

    method = "dual"

    def __init__(self, below: DualTradeoff, above: DualTradeoff) -> None:
        self.below, self.above = below, above

    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        return self._enclose_many([alpha], digits)[0]

    def _enclose_many(self, alphas: Sequence[Number], digits: int) -> list[Enclosure]:
        # proposes: to how many digits; the ends differ by more
        wanted = min(digits, _BETWEEN_DIGITS)
        ends = (end._enclose_many(alphas, wanted) for end in (self.below, self.above))
        found = [below.between(above, below.method) for below, above in zip(*ends, strict=True)]
        return [a if a.digits >= digits else a.short(_DIFFER) for a in found]

    def inverse(self) -> BetweenTradeoffs:
        return self

    def _outline(self) -> tuple[list[float], list[float]]:
        return self.below._outline()
