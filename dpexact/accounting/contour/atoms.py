r"""Laws with atoms, by the contour of two blurs of them.

With :math:`\delta_v` the profile beside a Gaussian of ``mu^2 = v``, for every ``a > 1``

.. math:: \delta_v - \frac{\delta_{av} - \delta_v}{\kappa - 1} \le \delta \le \delta_v, \qquad
          \kappa = \sqrt{a}\,e^{-(a-1)v/8} > 1,

whatever the laws (``docs/theory/atoms.md``). What it leaves open is of the order of ``v``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.contour.inversion import Contour, Terms
from dpexact.accounting.contour.many import digits_of_delta, shared_deltas
from dpexact.accounting.contour.planning import Plan, Query, planned
from dpexact.accounting.contour.product import Product
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.pairs.blurred import Blurred, Steps
from dpexact.accounting.pairs.far_nodes import FarSum
from dpexact.accounting.pairs.pair import Pair, TooExpensive, short
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.balls import approximate
from dpexact.decimals import log_of
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: Work allowed to the near nodes of a line.
_WORK: Final = 4_000_000
#: By how much the variance of the second blur exceeds that of the first.
_RATIO: Final = 1.5
#: What the blurs may leave open, next to the digits.
_OPEN: Final = 0.35
#: Digits by which the goal is lowered where it is out of reach, and more each time, up to so many;
#: and how often one is set where there are some digits.
_LESS: Final = 1
_FASTER: Final = 3
_LEAST: Final = 9
_ATTEMPTS: Final = 2
#: More digits take more heights than a few seconds allow.
_MOST: Final = 12
#: By how much, as a power of e, the end of a line is to be below what the digits ask for.
_SPARE: Final = 4.0
#: Digits of a line beyond those of what the blurs leave open.
_MORE_DIGITS: Final = 1.5
#: Lines planned for one delta, and points at which a line is looked at for one epsilon.
_PASSES: Final = 2
_TRIALS: Final = 60
#: Digits of a first answer.
_COARSE: Final = 4
#: How far apart ends of a bracket are tried.
_STRETCHES: Final = (1.1, 1.5, 4.0, 30.0)
#: Digits that a line may lack next to where it is looked at.
_ROOM: Final = 1
#: A share of what a line leaves open, by which ends are apart at least.
_NARROW: Final = 32
_COARSE_BITS: Final = 96
_ZERO, _ONE = Fraction(0), Fraction(1)


def excess(variance: float, more: float) -> arb:
    """``kappa - 1``."""
    v, ratio = arb(variance), arb(more) / arb(variance)
    return ratio.sqrt() * (-(ratio - 1) * v / 8).exp() - 1


class Line(Contour):
    """A line of one blur, whose nodes far up are sums in floats, or bounded of many responses."""

    def __init__(self, blurred: Blurred, plan: Plan, far: FarSum | None) -> None:
        super().__init__(Product([(blurred, 1)]), plan)
        self._far = far
        if far is None:
            self._decayed = blurred.left_out(plan.abscissa, plan.step, plan.count, plan.coarse)
        else:
            self._decayed = far.left_out(plan.count)

    def _farther(self, epsilons: Sequence[arb]) -> list[arb]:
        return super()._farther(epsilons) if self._far is None else self._far.at(epsilons)


class TwoBlurs(Line):
    """A line of the first blur, whose lower bounds allow for what the blur adds."""

    def __init__(self, blurred: Blurred, more: Blurred, plan: Plan) -> None:
        place = plan.abscissa, plan.step, plan.count
        once, again = (
            (None, None) if blurred.steps.responses else blurred.far_sums(*place, more.variance)
        )
        super().__init__(blurred, plan, once)
        self._more = Line(more, plan, again)
        self._excess = excess(blurred.variance, more.variance)
        if not self._excess > 0:
            raise TooExpensive("a blur as large as this says nothing from below")

    def blurred(self, epsilon: arb) -> arb:
        """Delta of the first blur."""
        (part,) = super().terms([epsilon])
        return (part.infinite + part.total - part.known).mid()

    def terms(self, epsilons: Sequence[arb], repeat: int = 1) -> list[Terms]:
        assert repeat == 1  # the blur of several is another
        found = []
        for once, again in zip(super().terms(epsilons), self._more.terms(epsilons), strict=True):
            added = ((again.enclosure() - once.enclosure()) / self._excess).upper()
            found.append(once._replace(above=once.above + arb.max(added, arb(0))))
        return found


class BlurredProfile(ContourProfile):
    """The profile of ``steps`` by blurs of ``variance``, and half as much again."""

    method = "contour of atoms"

    def __init__(
        self, steps: Steps, infinite: InfiniteLoss, variance: float, depth: float, work: int
    ) -> None:
        self._steps, self._blurred = steps, Blurred(steps, variance, depth)
        #: About epsilon, where that is known.
        self.near = 0.0
        super().__init__([(self._blurred, 1)], infinite, work)

    def line(self, plan: Plan) -> TwoBlurs:
        one, steps = self._blurred, self._steps
        steps.last = None  # lines are large
        line = TwoBlurs(one, Blurred(steps, _RATIO * one.variance, one.depth), plan)
        steps.last = line
        return line

    def planned(self, ends: Sequence[Query], digits: float) -> Plan:
        farther = not self._steps.responses
        return planned(self.product, ends, digits, self.max_work, farther=farther)

    def solved_delta(self, epsilon: Real, digits: int) -> Enclosure:
        """By one line, or by another where delta is far from what floats had it for."""
        best, near, known = Enclosure(_ZERO, _ONE, self.method), approximate(epsilon), None
        count = 0
        for _ in range(_PASSES):
            plan = self.planned([Query(near, 1, known)], digits + _MORE_DIGITS)
            # proposes: whether another line tells more
            if plan.count <= count:
                break
            best, count = best.meet(self.on_line(plan, epsilon)), plan.count
            # proposes: whether to plan anew
            if best.digits >= digits or not best.lower > 0:
                break
            known = log_of(Fraction(best.lower))
        return best if best.digits >= digits else best.short("blurs differ")

    def solved_epsilon(self, delta: Real, digits: int) -> Enclosure:
        """By one line, in as narrow a bracket as the blurs allow."""
        log_delta = self.log_delta(delta)
        near = self.near or self.product.epsilon(log_delta, 1)
        # proposes: whether to look at 0 first
        if near <= 0:
            return super().solved_epsilon(delta, digits)
        query = Query(near, 1, log_delta)
        wanted = digits_of_delta(self.product, query, digits) + _MORE_DIGITS
        plan = self.planned([query], wanted)
        with balls.precision(plan.bits):
            found = between(self.line(plan), balls.ball(delta), near, 10.0**-digits)
        return found or self.chernoff_epsilon(delta).short("blurs differ")


def between(line: TwoBlurs, target: arb, near: float, width: float) -> Enclosure | None:
    """Epsilon between points where the line certainly has more and less than the target.

    Proposes: the points, about as far from where the blur has it as the line is open there.
    """
    at = arb(_root(line, target, near, width / 16))
    (part,) = line.terms([at])
    here, fall = part.enclosure(), arb(line.plan.abscissa) * target
    least = (here.upper() - here.lower()) / fall / _NARROW
    down = arb.max(target - here.lower(), arb(0)) / fall + least
    up = arb.max(here.upper() - target, arb(0)) / fall + least
    for times in _STRETCHES:
        left, right = (at - times * down).mid(), (at + times * up).mid()
        above, below = (part.enclosure() for part in line.terms([left, right]))
        if above > target and below < target:
            return balls.to_enclosure(left.union(right), BlurredProfile.method).within(
                _ZERO, math.inf
            )
    return None


def _root(line: TwoBlurs, target: arb, near: float, width: float) -> float:
    """About where the first blur has the target, to a relative ``width``.

    By secants of the logarithm within a bracket, the first one with the slope ``-c``. Proposes: a
    point.
    """
    low, high = (0.0, math.inf), (math.inf, -math.inf)
    at, side = near, 0
    for _ in range(_TRIALS):
        ratio = line.blurred(arb(at)) / target
        log = float(ratio.log().mid()) if ratio > 0 else -math.inf
        if log > 0:
            # where one end stays, its value counts for half (Illinois)
            low, high, side = (at, log), (high[0], high[1] / (2 if side > 0 else 1)), 1
        else:
            low, high, side = (low[0], low[1] / (2 if side < 0 else 1)), (at, log), -1
        if math.isfinite(low[1] + high[1]):
            following = (low[0] * high[1] - high[0] * low[1]) / (high[1] - low[1])
        elif math.isfinite(log):
            following = max(min(at + log / line.plan.abscissa, 2 * at), at / 2)
        else:
            following = at / 2
        if not low[0] < following < high[0]:
            following = (low[0] + high[0]) / 2
        if abs(following - at) < width * at:
            return following
        at = following
    return at


class AtomsProfile(Profile):
    """The profile of any pairs, each with how often it runs."""

    method = BlurredProfile.method
    shares = True

    def __init__(self, factors: Iterable[tuple[Pair, int]], infinite: InfiniteLoss) -> None:
        self.infinite = infinite
        self._steps = Steps(list(factors))
        self.product = Product(self._steps.factors)
        #: Digits that the last question ended with that fell short.
        self._reached = math.inf

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        with balls.precision(_COARSE_BITS + 4 * digits):
            if self.product.never_exceeds(balls.ball(epsilon), 1):
                lost = balls.to_enclosure(1 - self.product.mass(1), "no larger finite loss")
                return lost.within(_ZERO, _ONE)

        def ask() -> Enclosure:
            (known,) = self._known([epsilon])
            # proposes: whether another line is needed, or tells more
            if known.digits >= min(digits, self._reached):
                return known if known.digits >= digits else known.short("blurs differ")
            c, _ = self.product.saddle(approximate(epsilon), 1)
            return self._asked(lambda profile: profile.delta(epsilon, digits), c, digits, digits)

        return self._guarded(ask)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        def ask() -> Enclosure:
            with balls.precision(_COARSE_BITS):
                finite = balls.ball(delta) - (1 - self.product.mass(1))
                at = self.product.epsilon(float(finite.log().mid()), 1)
            known = self._known_epsilon(delta, at, digits)
            # proposes: whether another line is needed
            if known is not None and known.digits >= digits:
                return known
            coarse = self.blurred(_COARSE, self.product.saddle(at, 1)[0])
            coarse.near = at
            best = coarse.epsilon(delta, _COARSE)
            # proposes: where to begin
            if best.digits > 0:
                at = float(best.lower + Fraction(best.upper)) / 2
            c = self.product.saddle(at, 1)[0]
            # proposes: of how many digits; the logarithm of delta has slope about -c
            goal = digits + _LESS / 3 - math.log10(c * at) if at > 0 else digits

            def fine(profile: BlurredProfile) -> Enclosure:
                profile.near = at
                return profile.epsilon(delta, digits)

            return best.meet(self._asked(fine, c, goal, digits))

        return self._guarded(ask)

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        """Neighbours share a line, or the last one; of fewer digits where one of all is refused."""
        found, enough = dict(zip(epsilons, self._known(epsilons), strict=True)), digits
        for less in (0, _LESS):
            left = [at for at in epsilons if found[at].digits < digits]
            # proposes: whether to share a line, and how sharp it is
            if len(left) < 2:
                break
            shared = shared_deltas(_Lines(self, digits - less * 4 / 3), left, digits - less)
            if shared:
                found, enough = found | shared, digits - less
                break
        answers = (
            found[at] if found[at].digits >= enough else self.delta(at, digits) for at in epsilons
        )
        return [x if x.digits >= digits else x.short("blurs differ") for x in answers]

    def largest_loss(self, digits: int) -> Enclosure:
        return self.product.largest(1, digits, self.method)

    def _known(self, epsilons: Sequence[Real]) -> list[Enclosure]:
        """What the last line says of delta."""
        line = self._steps.last
        if isinstance(line, TwoBlurs):
            with suppress(ArithmeticError, ValueError), balls.precision(line.plan.bits):
                terms = line.terms([balls.ball(epsilon) for epsilon in epsilons])
                found = [balls.to_enclosure(part.enclosure(), self.method) for part in terms]
                return [answer.within(_ZERO, _ONE) for answer in found]
        return [Enclosure(_ZERO, _ONE, self.method)] * len(epsilons)

    def _known_epsilon(self, delta: Real, near: float, digits: int) -> Enclosure | None:
        """What the last line says of epsilon, if it knows delta next to it well enough."""
        line = self._steps.last
        # proposes: whether to look at it
        if not (isinstance(line, TwoBlurs) and near > 0):
            return None
        wanted = digits_of_delta(self.product, Query(near, 1), digits)
        with balls.precision(line.plan.bits):
            (part,) = line.terms([arb(near)])
            # proposes: likewise
            if balls.to_enclosure(part.enclosure()).digits < wanted - _ROOM:
                return None
            return between(line, balls.ball(delta), near, 10.0**-digits)

    def _guarded(self, ask: Callable[[], Enclosure]) -> Enclosure:
        try:
            return ask()
        except (ArithmeticError, ValueError):
            best = Enclosure(_ZERO, math.inf, self.method)
            return best.short("the parameters are too extreme to plan with floats")

    def blurred(self, goal: float, c: float) -> BlurredProfile:
        """Proposes: how much to blur for so many digits; what that leaves open is enclosed."""
        variance = short(_OPEN * 10.0**-goal / (c * (c + 1)))
        depth = (goal + 1) * math.log(10) + _SPARE
        return BlurredProfile(self._steps, self.infinite, variance, depth, _WORK)

    def _asked(
        self, ask: Callable[[BlurredProfile], Enclosure], c: float, goal: float, digits: int
    ) -> Enclosure:
        """With blurs that leave open no more than the digits, then fewer."""
        best = Enclosure(_ZERO, math.inf, self.method)
        beyond, most, less, tried = goal - digits, math.inf, _LESS, 0
        goal = min(max(goal, 1.0), _MOST)
        # proposes: how often; where there are no digits fewer are tried soon
        while tried < _ATTEMPTS and less <= _LEAST:
            found = ask(self.blurred(goal, c))
            best = best.meet(found)
            # proposes: when to stop, and how much to blur then
            if best.digits >= digits:
                break
            before = goal
            if found.digits > 0:
                known = -math.log10(1 - found.lower / Fraction(found.upper))
                # proposes: how much; what a blur leaves known floats lose, less with a larger one
                if known + beyond < goal - 2 * _LESS:
                    goal = known + beyond + _LESS / 2
                else:
                    goal = min(goal + digits - known + _LESS / 4, most)
                tried += 1
            else:
                most, goal, less = goal - _LESS / 2, goal - less, less * _FASTER
            # proposes: when to stop; a larger blur than one that left some digits tells no more
            if goal < 1 or (tried > 0 and found.digits == 0) or before < goal < before + _LESS / 4:
                break
        if best.digits >= digits:
            return best
        self._reached = best.digits
        return best.short(best.reason or "blurs differ")


class _Lines:
    """Lines of blurs, of which each serves many points, for :func:`shared_deltas`."""

    method = AtomsProfile.method
    repeat = 1
    fall = 5.0

    def __init__(self, profile: AtomsProfile, digits: float) -> None:
        self.product = profile.product
        self._profile, self._digits = profile, digits
        self._last: BlurredProfile | None = None

    def planned(self, ends: Sequence[Query], digits: float) -> Plan:
        """Of blurs that leave the digits at all of the ends."""
        c = max(self.product.saddle(end.epsilon, 1)[0] for end in ends)
        self._last = self._profile.blurred(min(self._digits + _LESS / 3, _MOST), c)
        return self._last.planned(ends, digits)

    def line(self, plan: Plan) -> TwoBlurs:
        """Of those that were planned."""
        assert self._last is not None
        return self._last.line(plan)
