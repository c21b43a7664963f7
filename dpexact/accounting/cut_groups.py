r"""Groups on samples, without the numbers of records that do not matter.

One step compares ``Q = N(0, 1)`` with a mixture ``P`` over how many of the group's records take
part. Let ``P'`` be ``P`` given that this number is among those kept, ``eta`` the probability that
it is not, and :math:`\eta' = 1 - \prod (1 - \eta_i)^{n_i}` over all steps.

*Removing*, delta is :math:`\sup_S P(S) - e^\varepsilon Q(S)`, and the total variation between all
``P`` and all ``P'`` is at most :math:`\eta'`: so is :math:`|\delta - \delta'|`.

*Adding*, :math:`\delta = E_Q(1 - e^\varepsilon dP/dQ)_+`. As :math:`P \ge (1 - \eta') P'`,
:math:`\delta \le \delta' + \eta'`. Let ``R`` be the density of all that is left out over that of
all that is kept: :math:`(1 - y)_+` and :math:`(1 - y(1+R))_+` differ by at most ``min(1, R)``, so
:math:`\delta \ge \delta' - E_Q \min(1, R)`; where each of ``n`` outcomes is within ``x`` of 0,
:math:`1 + R \le (1 + \rho)^n` with ``rho`` the largest excess of one step there.

Where delta is almost 1 no line is needed: :math:`1 - \delta \le e^{\varepsilon/2} \prod \int
\sqrt{PQ}`, and the root of a sum is at most the sum of the roots (``docs/theory/relations.md``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np
from flint import arb

from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.closed_form import SinglePair
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.pairs.binomial_shifts import BinomialShifts
from dpexact.accounting.pairs.mixture import Grouped
from dpexact.accounting.pairs.pair import Pair, TooExpensive
from dpexact.accounting.profile import Fallback, InfiniteLoss, Profile
from dpexact.arguments import Direction
from dpexact.balls import approximate, approximate_log, ball, precision
from dpexact.decimals import log_of
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: Most numbers of records that are kept.
MAX_KEPT: Final = 2_000
_ATTEMPTS: Final = 4
#: A first cut, and in which steps they become finer, as powers of e.
_START: Final = -80.0
_STRIDE: Final = 16.0
_SPARE: Final = 6.0
_BITS: Final = 128
#: Most bits for one run of a group: at more the parameters are out of proportion.
_CUT_BITS: Final = 2_500
_LN10: Final = math.log(10)
_ZERO, _ONE = Fraction(0), Fraction(1)


class _Errors(NamedTuple):
    """How far delta may be above and below that of a cut."""

    above: Fraction
    below: Fraction


class _Cut:
    """What is left of a composition after one cut."""

    def __init__(self, whole: Composition, log_tail: float) -> None:
        #: Beyond it ``Q`` has less than what is neglected.
        self.reach = math.sqrt(-2 * log_tail) + 1
        self._kept: list[tuple[BinomialShifts, int]] = []
        apart: list[tuple[Pair, int]] = []
        for pair, count in whole.apart:
            if isinstance(pair, Grouped):
                pair, kept = pair.cut(log_tail, self.reach)
                if kept.last - kept.first > MAX_KEPT:
                    raise TooExpensive(f"more than {MAX_KEPT} numbers of records that take part")
                self._kept.append((kept, count))
            apart.append((pair, count))
        self.composition = replace(whole, apart=apart)

    def errors(self, *, adding: bool) -> _Errors:
        """Bounds on both, at every epsilon."""
        with precision(_BITS):
            kept, grown, far, reach = arb(0), arb(0), arb(0), arb(self.reach)
            for shifts, count in self._kept:
                kept += count * (-arb.min(shifts.neglected(), arb(1))).log1p()
                grown += count * shifts.excess(reach).log1p()
                far += count * (reach / arb(2).sqrt()).erfc()
            neglected = _at_most_one(-kept.expm1())
            if not adding:
                return _Errors(neglected, neglected)
            return _Errors(neglected, _at_most_one(far + grown.expm1()))


def _direct(found: Profile) -> Profile:
    """Without the lattice, slow to tabulate so many tails and rarely better."""
    if isinstance(found, Fallback) and isinstance(found.first, SinglePair):
        found.first.cap = _CUT_BITS
    return found.thorough or found.first if isinstance(found, Fallback) else found


class CutGroups(Profile):
    """The profile of a composition with groups on samples, in one direction.

    ``answering`` gives the profile of one without.
    """

    method = "contour"

    def __init__(
        self, whole: Composition, direction: Direction, answering: Callable[[Composition], Profile]
    ) -> None:
        self.whole, self.direction, self.answering = whole, direction, answering
        self.infinite: InfiniteLoss = whole.infinite(add=direction == "add")
        self._runs = sum(n for pair, n in whole.apart if isinstance(pair, Grouped))
        self._cuts: dict[float, tuple[_Cut, _Errors, Profile]] = {}

    def _cut(self, log_tail: float) -> tuple[_Cut, _Errors, Profile]:
        """A cut that neglects at most about that much, its errors and its profile."""
        place = _STRIDE * math.floor(max(log_tail, -1e9) / _STRIDE)
        # proposes: what is cut; each cut knows its own errors
        if place not in self._cuts:
            cut = _Cut(self.whole, place)
            errors = cut.errors(adding=self.direction == "add")
            self._cuts[place] = cut, errors, _direct(self.answering(cut.composition))
        # proposes: likewise
        return self._cuts[place]

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        with precision(balls.bits_for(digits)):
            whole = Product(self.whole.everything(self.direction))
            if whole.never_exceeds(ball(epsilon), 1):
                return self.infinite.enclose(digits, "no larger finite loss")
        best = self._nearly_one(epsilon, digits).meet(self._total_variation)
        try:
            return best if best.digits >= digits else self._by_cuts(best, epsilon, digits)
        except TooExpensive as error:
            return best.short(str(error))

    def _by_cuts(self, best: Enclosure, epsilon: Real, digits: int) -> Enclosure:
        """Delta by cuts that become finer."""
        fine = digits * _LN10 + math.log(self._runs) + _SPARE
        log_tail = self._log_delta(epsilon) - fine
        for _ in range(_ATTEMPTS):
            _, errors, profile = self._cut(log_tail)
            found = profile.delta(epsilon, digits + 1)
            low, high = Fraction(found.lower) - errors.below, Fraction(found.upper) + errors.above
            best = best.meet(replace(found, lower=max(low, _ZERO), upper=min(high, _ONE)))
            # proposes: whether a finer cut would help; digits are counted from the exact ends
            if best.digits >= digits or 100 * sum(errors) <= found.upper - found.lower:
                break
            log_tail = (log_of(low) - fine if low > 0 else 2 * log_tail) - _STRIDE
        return best

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        most = self._total_variation
        with precision(_BITS):
            if ball(Fraction(most.upper)) <= ball(delta):
                return Enclosure.exact(_ZERO, most.method)
        best = Enclosure(_ZERO, math.inf, self.method)
        try:
            return self._inverted(best, delta, digits)
        except TooExpensive as error:
            return best.short(str(error))

    def _inverted(self, best: Enclosure, delta: Real, digits: int) -> Enclosure:
        """Epsilon between those of two targets, by cuts that become finer."""
        fine = approximate_log(delta) - (digits + 3) * _LN10 - math.log(self._runs) - _SPARE
        for attempt in range(1, _ATTEMPTS):
            _, errors, profile = self._cut(fine * attempt)
            if errors.above == errors.below == 0:
                return best.meet(profile.epsilon(delta, digits))
            sides = (delta + errors.below, delta - errors.above)
            above, below = profile.epsilons(sides, digits + 1)
            best = best.meet(replace(above, upper=below.upper))
            # proposes: whether a finer cut would help
            if best.digits >= digits or min(above.digits, below.digits) < digits:
                break
        return best

    def largest_loss(self, digits: int) -> Enclosure:
        from dpexact.accounting.engines.contour.profile import ContourProfile

        pairs = self.whole.everything(self.direction)
        return ContourProfile(pairs, self.infinite).largest_loss(digits)

    @property
    def _total_variation(self) -> Enclosure:
        from dpexact.accounting.engines.contour.profile import ContourProfile

        return ContourProfile(self.whole.everything(self.direction), self.infinite).total_variation

    def _nearly_one(self, epsilon: Real, digits: int) -> Enclosure:
        """One above, and below by the affinity; whatever is left out adds its root at most."""
        with precision(_BITS + 4 * digits):
            gap = (ball(epsilon) / 2).exp()
            for pair, count in self.whole.apart:
                if isinstance(pair, Grouped):
                    gap *= pair.affinity(min(2 * _START, -8.0 * digits)) ** count
            found = 1 - gap.upper()
            lower = Fraction(balls.to_enclosure(found).lower) if found > 0 else _ZERO
        return Enclosure(min(max(lower, _ZERO), _ONE), _ONE, "Bhattacharyya bound")

    # --- proposals --------------------------------------------------------------------------------

    def _log_delta(self, epsilon: Real) -> float:
        """Proposes: about the logarithm of delta; any cut is valid."""
        try:
            cut, _, _ = self._cut(_START)
            with np.errstate(all="ignore"):
                product = Product(cut.composition.everything(self.direction))
                found = product.saddle(approximate(epsilon), 1)[1]
        except (TooExpensive, ArithmeticError, ValueError):
            return _START
        return min(found, 0.0) if math.isfinite(found) else _START


def _at_most_one(x: arb) -> Fraction:
    """An upper bound on the lesser of ``x`` and 1."""
    return Fraction(min(balls.to_enclosure(x).upper, _ONE)) if x.is_finite() else _ONE
