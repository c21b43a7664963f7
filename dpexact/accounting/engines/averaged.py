r"""Few losses beside what any engine answers for: an average over outcomes.

The losses are independent: with ``p_l`` the mass of a loss ``l`` and ``D`` the profile of the rest
at any real argument,

.. math:: \delta(\varepsilon) = \sum_l p_l\,D(\varepsilon - l),

where below 0 ``D(x) = 1 - e^x + e^x D'(-x)``, with ``D'`` that of the reverse. As ``D`` falls by at
most what its argument grows by, it may be asked next to a point (``docs/theory/atoms.md``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, TypeAlias

from flint import arb

from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.contour.planning import guarded
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.few_atoms import FewAtoms
from dpexact.accounting.engines.laplace.split import Law
from dpexact.accounting.engines.lattice_law import DEVIATIONS, few_outcomes, parted
from dpexact.accounting.engines.lattice_product import LatticeComposition
from dpexact.accounting.inverted import ONE, ZERO, invert
from dpexact.accounting.pairs.lattice import commensurate
from dpexact.accounting.profile import FirstToReach, InfiniteLoss, Profile
from dpexact.accounting.reflection import OPPOSITE
from dpexact.arguments import Direction
from dpexact.balls import ball
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, rational

#: Fewest digits with which a point is asked, those that the sum may lose, and passes over it.
_GLANCE, _SPARE, _PASSES = 2, 2, 3
#: Bits beside those that delta loses, those of a search, and a largest logarithm of delta.
_MORE_BITS, _COARSE_BITS = 64, 96
_LARGEST_LOG: Final = 10_000.0
#: Digits of a first guess of epsilon, of delta there, the first step from it, and most steps.
_NEAR, _FIRST, _STRIDE, _STEPS = 6, 8, Fraction(1, 10**5), 40
_LN2, _LN10 = math.log(2), math.log(10)
#: Most steps that differ, and most combinations of outcomes over which they are averaged.
_FEW_STEPS, _FEW_OUTCOMES = 30, 64
#: Work of a line that is asked first: some hundredths of a second.
_LINE_WORK: Final = 1_000_000
_SHORT: Final = "what runs beside the outcomes has too few digits"


#: What answers for one direction, with a line for bounds.
_Side: TypeAlias = tuple[Profile, ContourProfile]


@dataclass(frozen=True)
class _Term:
    """``weight`` times delta of a profile at a point, at most that of its line's bound."""

    profile: Profile
    line: ContourProfile
    at: Fraction
    weight: arb

    def ball(self, digits: int) -> arb:
        found = self.profile.delta(rational(self.at), digits)
        return self.weight * ball(Fraction(found.lower)).union(ball(Fraction(found.upper)))

    def below(self) -> arb:
        """Between 0 and Chernoff's bound, which is cheap where delta is far below what matters."""
        most = self.line.chernoff_delta(rational(self.at)).upper
        return self.weight * arb(0).union(ball(Fraction(most)))


class Averaged(Profile):
    """``law``, and beside it what ``toward`` answers for; ``back`` answers for its reverse.

    Each has a line, for bounds. ``line``, of all of it, proposes where to search.
    """

    def __init__(
        self, law: Law, infinite: InfiniteLoss, toward: _Side, back: _Side, line: ContourProfile
    ) -> None:
        self.law, self.toward, self.back, self.line = law, toward, back, line
        self.infinite: InfiniteLoss = infinite
        self.method: str = f"average over outcomes: {toward[0].method}"

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        most = Enclosure(ZERO, ONE, self.method)
        return guarded(lambda: self._delta(epsilon, digits), most, _SHORT)

    def _delta(self, epsilon: Real, digits: int) -> Enclosure:
        with balls.precision(balls.bits_for(digits)):
            if self.line.product.never_exceeds(ball(epsilon), 1):
                return self.infinite.enclose(digits, "no larger finite loss")
        # proposes: how small delta may be, and so with how many bits a point is known
        log = self.line.product.saddle(balls.approximate(epsilon), 1)[1]
        lost = math.ceil(max(0.0, min(-2 * log, _LARGEST_LOG)) / _LN2)
        with balls.precision(balls.bits_for(digits) + _MORE_BITS + lost):
            sure, terms = self._terms(ball(epsilon))
            values = [term.below() for term in terms]
            known = [0] * len(terms)
            for _ in range(_PASSES):
                most = sum(values, sure).abs_upper()
                for i, term in enumerate(terms):
                    share = values[i].abs_upper() / most
                    # proposes: with how many digits it is asked
                    needed = 0 if share == 0 else float(share.log().mid()) / _LN10 + digits + _SPARE
                    # proposes: likewise
                    if needed > known[i]:
                        known[i] = max(_GLANCE, math.ceil(needed))
                        values[i] = term.ball(known[i])
            beside = self.infinite.ball()
            found = balls.to_enclosure(beside + (1 - beside) * sum(values, sure), self.method)
        found = found.within(ZERO, ONE)
        # proposes: whether a reason is given
        return found if found.digits >= digits else found.short(_SHORT)

    def _terms(self, epsilon: arb) -> tuple[arb, list[_Term]]:
        """What needs no profile, and the rest of the sum."""
        sure, terms = self.law.dropped() * balls.UNIT, []
        for loss, mass in self.law.losses():
            point = balls.midpoint(epsilon - loss)
            sure += mass * arb(0, (epsilon - loss - ball(point)).abs_upper())
            # proposes: which direction is asked; both formulas hold at every point
            if point >= 0:
                terms.append(_Term(*self.toward, point, mass))
            else:
                sure -= mass * ball(point).expm1()
                terms.append(_Term(*self.back, -point, mass * ball(point).exp()))
        return sure, terms

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        most = Enclosure(ZERO, math.inf, self.method)
        return guarded(lambda: self._solved(delta, digits), most, _SHORT)

    def _solved(self, delta: Real, digits: int) -> Enclosure:
        start = self._start(delta)
        # proposes: which search is asked first
        found = self._bracket(delta, digits, start) if start > 0 else None
        limit = self.infinite.near(delta)
        return found or invert(self.delta, delta, digits, self.method, ONE, limit)

    def _bracket(self, delta: Real, digits: int, start: Fraction) -> Enclosure | None:
        """Between points on both sides of where secant steps on ``log delta`` lead, if they do."""
        width, asked, step = Fraction(1, 10**digits), _FIRST, _STRIDE
        before, at = start, start * (1 + step)
        with balls.precision(balls.bits_for(digits) + _MORE_BITS):
            target = ball(delta)

            def gap(point: Fraction) -> arb:
                found = self.delta(rational(point), asked)
                return (ball(Fraction(found.upper)) / target).log().mid()

            # proposes: a point, on both sides of which balls decide
            last = gap(before)
            for _ in range(_STEPS):
                value = gap(at)
                fall = (last - value) / ball(at - before)
                steep = float(fall * ball(at))
                # proposes: likewise
                if not (steep > 0 and at > 0):
                    return None
                asked = max(_FIRST, math.ceil(digits + _SPARE - math.log10(steep)))
                before, last, at = at, value, balls.midpoint(ball(at) + value / fall)
                step, moved = abs(at / before - 1), step
                # proposes: when to stop
                if steep * float(step * moved) < width / 8:
                    break
            left, right = at * (1 - width / 3), at * (1 + width / 3)
            found = [self.delta(rational(x), asked) for x in (left, right)]
            if ball(Fraction(found[0].lower)) > target > ball(Fraction(found[1].upper)):
                return Enclosure.bracket(left, right, self.method)
        return None

    def _start(self, delta: Real) -> Fraction:
        """Where one loss is enough for delta, or 0. Proposes: where the search starts."""
        best = ZERO
        with balls.precision(_COARSE_BITS):
            target = ball(delta) - self.infinite.ball()
            for loss, mass in self.law.losses():
                if target < mass:
                    level = rational(balls.midpoint(target / mass))
                    alone = Fraction(self.toward[0].epsilon(level, _NEAR).lower)
                    best = max(best, balls.midpoint(loss) + alone)
        return best

    def largest_loss(self, digits: int) -> Enclosure:
        return self.line.largest_loss(digits)


@dataclass(frozen=True)
class _Both:
    """Losses of two laws, which are independent."""

    few: FewAtoms
    lattice: LatticeComposition

    def losses(self) -> Iterator[tuple[arb, arb]]:
        for one, p in self.few.losses():
            for other, q in self.lattice.losses():
                yield one + other, p * q

    def dropped(self) -> arb:
        """What one of them misses, or the other."""
        one, other = self.few.dropped(), self.lattice.dropped()
        return one + other - one * other


def few_law(c: Composition, direction: Direction) -> tuple[Law, InfiniteLoss] | None:
    """Few combinations of outcomes, beside noise on a lattice of which few points matter."""
    finite = [x for x in c.others if x[0].outcomes()]
    endless = [x for x in c.others if x not in finite]
    few = few_outcomes(replace(c, others=finite), direction)
    # proposes: what is left to others
    if not endless:
        return (few, few.infinite) if few.many <= _FEW_OUTCOMES else None
    if (common := commensurate(endless)) is None:
        return None
    lattice = LatticeComposition(*common, InfiniteLoss())
    # proposes: likewise
    if few.many * DEVIATIONS * lattice.spread(0.0) > _FEW_OUTCOMES:
        return None
    return _Both(few, lattice), few.infinite


def averaged(
    c: Composition,
    direction: Direction,
    contour: Callable[[Composition, Direction], ContourProfile | None],
    answering: Callable[[Composition, Direction], Profile],
) -> Profile | None:
    """Of sampled steps of noise, equal ones or few, beside few combinations of losses; else None.

    ``answering`` gives the profile of the noise alone.
    """
    # proposes: what is left to others
    if c.apart or len(c.samples) > _FEW_STEPS:
        return None
    finite, rest = parted(c)
    steps = sum(count for _, count in rest.samples)
    many = len(rest.samples) > 1 and steps > _FEW_STEPS
    # proposes: likewise
    if finite.is_empty or not steps or many or rest.infinite(add=False).masses:
        return None
    known, line = few_law(finite, direction), contour(c, direction)
    if line is None or known is None:
        return None

    def side(way: Direction) -> _Side:
        below = contour(rest, way)
        assert below is not None
        return answering(rest, way), below

    average = Averaged(*known, side(direction), side(OPPOSITE[direction]), line)
    # proposes: which is asked first; all enclose. Of steps that differ there are but lines, too
    if len(rest.samples) > 1 or rest.noises or rest.laplace:
        return FirstToReach(line, average)
    # proposes: likewise
    return FirstToReach(line.varied(_LINE_WORK, patient=False), average, line)
