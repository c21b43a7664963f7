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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import chain
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from flint import arb

from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.closed_form import SinglePair
from dpexact.accounting.engines.contour.many import anchored
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.pairs.binomial_shifts import BinomialShifts
from dpexact.accounting.pairs.mixture import Grouped
from dpexact.accounting.pairs.pair import Pair, TooExpensive
from dpexact.accounting.profile import Fallback, InfiniteLoss, Profile
from dpexact.arguments import Direction
from dpexact.balls import approximate, approximate_log, ball, precision
from dpexact.enclosure import Enclosure
from dpexact.reals import Real
from dpexact.ternary import Order

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


_Answer: TypeAlias = tuple[Enclosure, bool]
"""What a cut says of the whole at a point, and whether a finer cut may say more."""

_Ask: TypeAlias = Callable[[Profile, _Errors, Sequence[Real]], Iterable[_Answer]]


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

    def _cut(self, place: float) -> tuple[_Cut, _Errors, Profile]:
        """A cut that neglects at most about that much, its errors and its profile."""
        # proposes: what is cut; each cut knows its own errors
        if place not in self._cuts:
            cut = _Cut(self.whole, place)
            errors = cut.errors(adding=self.direction == "add")
            self._cuts[place] = cut, errors, _direct(self.answering(cut.composition))
        # proposes: likewise
        return self._cuts[place]

    def _by_cuts(
        self, best: dict[Real, Enclosure], tails: dict[Real, float], digits: int, ask: _Ask
    ) -> None:
        """Makes ``best`` better by cuts that become finer, each asked of all points it serves.

        Proposes: which cut serves a point, by what may be neglected there.
        """
        for _ in range(_ATTEMPTS):
            served: dict[float, list[Real]] = {}
            for at, log_tail in tails.items():
                place = _STRIDE * math.floor(max(log_tail, -1e9) / _STRIDE)
                served.setdefault(place, []).append(at)
            tails = {}
            for place, points in served.items():
                try:
                    _, errors, profile = self._cut(place)
                    found = [*ask(profile, errors, points)]
                except TooExpensive as error:
                    best |= {at: best[at].short(str(error)) for at in points}
                    continue
                for at, (answer, helps) in zip(points, found, strict=True):
                    best[at] = best[at].meet(answer)
                    if helps and best[at].digits < digits:
                        tails[at] = 2 * place

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        return self.deltas([epsilon], digits)[0]

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        def ask(profile: Profile, errors: _Errors, points: Sequence[Real]) -> Iterator[_Answer]:
            for found in profile.deltas(points, digits + any(errors)):
                low, high = Fraction(found.lower), Fraction(found.upper)
                # proposes: whether a finer cut would help; digits are counted from the exact ends
                helps = 100 * sum(errors) > high - low
                low, high = max(low - errors.below, _ZERO), min(high + errors.above, _ONE)
                yield replace(found, lower=low, upper=high), helps

        best = self._bounds(epsilons, digits)
        fine = digits * _LN10 + math.log(self._runs) + _SPARE
        logs = self._log_deltas([at for at in best if best[at].digits < digits])
        self._by_cuts(best, {at: log - fine for at, log in logs.items()}, digits, ask)
        return [best[at] for at in epsilons]

    def epsilons(self, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
        below = [at for at in deltas if self.infinite.order(at, digits) is Order.BELOW]
        found = self._inverted(below, digits)
        return [found[at] if at in found else self.epsilon(at, digits) for at in deltas]

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        return self._inverted([delta], digits)[delta]

    def _inverted(self, deltas: Sequence[Real], digits: int) -> dict[Real, Enclosure]:
        """Epsilon between those of two targets."""

        def ask(profile: Profile, errors: _Errors, points: Sequence[Real]) -> Iterator[_Answer]:
            sides = [(at + errors.below, at - errors.above) for at in points]
            every = [*dict.fromkeys(chain(*sides))]
            known = profile.epsilons(every, digits + any(errors))
            found = dict(zip(every, known, strict=True))
            for above, below in ((found[x], found[y]) for x, y in sides):
                # proposes: whether a finer cut would help
                helps = min(above.digits, below.digits) >= digits
                yield replace(above, upper=below.upper), helps

        most, none = self._total_variation, Enclosure(_ZERO, math.inf, self.method)
        best = dict.fromkeys(deltas, none)
        over = [at for at in best if balls.at_most(most, at)]
        best |= dict.fromkeys(over, Enclosure.exact(_ZERO, most.method))
        fine = (digits + 3) * _LN10 + math.log(self._runs) + _SPARE
        asked = (at for at in best if best[at] is none)
        self._by_cuts(best, {at: approximate_log(at) - fine for at in asked}, digits, ask)
        return best

    def largest_loss(self, digits: int) -> Enclosure:
        from dpexact.accounting.engines.contour.profile import ContourProfile

        pairs = self.whole.everything(self.direction)
        return ContourProfile(pairs, self.infinite).largest_loss(digits)

    @property
    def _total_variation(self) -> Enclosure:
        from dpexact.accounting.engines.contour.profile import ContourProfile

        return ContourProfile(self.whole.everything(self.direction), self.infinite).total_variation

    def _bounds(self, epsilons: Sequence[Real], digits: int) -> dict[Real, Enclosure]:
        """Beyond all losses the truth; else from above by the total variation, below by affinity.

        Whatever is left out adds its root to that at most.
        """
        whole, most = Product(self.whole.everything(self.direction)), self._total_variation
        found = {}
        with precision(_BITS + 4 * digits):
            affinity = arb(1)
            for pair, count in self.whole.apart:
                if isinstance(pair, Grouped):
                    affinity *= pair.affinity(min(2 * _START, -8.0 * digits)) ** count
            for at in epsilons:
                if whole.never_exceeds(ball(at), 1):
                    found[at] = self.infinite.enclose(digits, "no larger finite loss")
                    continue
                least = 1 - ((ball(at) / 2).exp() * affinity).upper()
                lower = Fraction(balls.to_enclosure(least).lower) if least > 0 else _ZERO
                found[at] = Enclosure(min(lower, _ONE), _ONE, "Bhattacharyya bound").meet(most)
        return found

    # --- proposals --------------------------------------------------------------------------------

    def _log_deltas(self, epsilons: Sequence[Real]) -> dict[Real, float]:
        """Proposes: about the logarithms of delta; any cut is valid."""
        near = {at: approximate(at) for at in epsilons}
        order, logs = sorted(near, key=near.__getitem__), list[float]()
        with np.errstate(all="ignore"), suppress(TooExpensive, ArithmeticError, ValueError):
            product = Product(self._cut(_START)[0].composition.everything(self.direction))
            logs = anchored([near[at] for at in order], lambda e: product.saddle(e, 1)[1])
        beside = approximate_log(self.infinite.mass)  # of which no digits are lost
        known = zip(order, (max(min(log, 0.0), beside) for log in logs), strict=False)
        return dict.fromkeys(order, _START) | dict(known)


def _at_most_one(x: arb) -> Fraction:
    """An upper bound on the lesser of ``x`` and 1."""
    return Fraction(min(balls.to_enclosure(x).upper, _ONE)) if x.is_finite() else _ONE
