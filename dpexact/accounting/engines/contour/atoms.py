r"""Laws with atoms, by lines of two blurs of them, without losses that are set aside.

How much is blurred is chosen here, and what is set aside; what that leaves open is enclosed
(``blurs``, ``set_aside``, ``docs/theory/atoms.md``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Final, NamedTuple

from flint import arb

from dpexact import balls
from dpexact.accounting.engines.contour.blurs import BlurredProfile, TwoBlurs, between
from dpexact.accounting.engines.contour.inversion import Contour
from dpexact.accounting.engines.contour.many import (
    digits_of_delta,
    shared_deltas,
    shared_epsilons,
    told,
)
from dpexact.accounting.engines.contour.planning import Plan, Query, guarded
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.contour.set_aside import SetAside, set_aside
from dpexact.accounting.pairs.blurred import Steps
from dpexact.accounting.pairs.pair import Pair, short
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.balls import approximate
from dpexact.decimals import log_of
from dpexact.enclosure import Enclosure
from dpexact.kept import cached_property
from dpexact.reals import Real, rational

#: Work allowed to the near nodes of a line.
_WORK: Final = 4_000_000
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
#: Digits that lines which are shared may lose to blurs, of those that they are planned for.
_BLURRED: Final = 5 / 3
#: By how much, as a power of e, the end of a line is to be below what the digits ask for.
_SPARE: Final = 4.0
#: Digits of a first answer.
_COARSE: Final = 4
#: Digits that a line may lack next to where it is looked at.
_ROOM: Final = 1
#: How often losses are set aside anew, while epsilon falls by this or delta by such a power of e.
_TIMES: Final = 8
_FALLS: Final = 1.2
_LOG_FALLS: Final = 1.0
_COARSE_BITS: Final = 96
_ZERO, _ONE = Fraction(0), Fraction(1)


class Near(NamedTuple):
    """What a line sees, the last line that did, and what is set aside of it, if any is."""

    steps: Steps
    product: Product
    lines: dict[Product, Contour]
    aside: SetAside | None = None


class AtomsProfile(Profile):
    """The profile of any pairs, each with how often it runs."""

    method = BlurredProfile.method
    shares = True
    most_digits = _MOST - 1

    def __init__(self, factors: Iterable[tuple[Pair, int]], infinite: InfiniteLoss) -> None:
        self.infinite = infinite
        steps = Steps(list(factors))
        self._plain = ContourProfile(steps.factors, infinite)
        self.product = self._plain.product
        #: All of it, and what the last line saw.
        self._whole = self._near = Near(steps, self.product, {})
        #: Digits that the last question ended with that fell short.
        self._reached = math.inf

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        with balls.precision(_COARSE_BITS + 4 * digits):
            if self.product.never_exceeds(balls.ball(epsilon), 1):
                lost = balls.to_enclosure(1 - self.product.mass(1), "no larger finite loss")
                return lost.within(_ZERO, _ONE)

        def ask() -> Enclosure:
            (known,) = self._known([epsilon])
            known = known.meet(self._plain.near_one(epsilon, digits))
            # proposes: whether another line is needed, or tells more
            if known.digits >= min(digits, self._reached):
                return known if known.digits >= digits else known.short("blurs differ")
            at = approximate(epsilon)
            near, c = self.without_large(at, digits)
            best = self.blurred(near, _COARSE, c).delta(epsilon, _COARSE)
            goal, log_delta = float(digits), None
            # proposes: how large delta is, and how much a blur leaves open of it
            if best.digits > 0:
                log_delta = log_of(Fraction(best.lower))
                goal += _COARSE - _known_digits(best) + _LESS / 4
                near = self._set_aside(at, log_delta, digits)

            def fine(profile: BlurredProfile) -> Enclosure:
                profile.log = log_delta
                return profile.delta(epsilon, digits)

            best = best.meet(self._asked(fine, near, at, goal, digits))
            return best if best.digits >= digits else best.short("blurs differ")

        return guarded(ask, self._plain.total_variation)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        def ask() -> Enclosure:
            log_delta = self.log_delta(delta)
            near, at = self._placed(delta, digits)
            known = self._known_epsilon(delta, at, digits)
            # proposes: whether another line is needed
            if known is not None and known.digits >= digits:
                return known
            coarse = self.blurred(near, _COARSE, near.product.saddle(at, 1)[0])
            coarse.near = at
            best = coarse.epsilon(delta, _COARSE)
            if best.digits >= digits:
                return best
            # proposes: whether to look at 0; what is known there decides
            if best.digits == 0 and balls.at_most(self._at_zero, delta):
                return Enclosure.exact(_ZERO, self.method)
            # proposes: where to begin
            if best.digits > 0:
                at = float(best.lower + Fraction(best.upper)) / 2
                near = self._set_aside(at, log_delta, digits)
            c = near.product.saddle(at, 1)[0]
            # proposes: of how many digits; the logarithm of delta has slope about -c
            goal = digits + _LESS / 3 - math.log10(c * at) if at > 0 else digits

            def fine(profile: BlurredProfile) -> Enclosure:
                profile.near = at
                return profile.epsilon(delta, digits)

            return best.meet(self._asked(fine, near, at, goal, digits))

        return guarded(ask, Enclosure(_ZERO, math.inf, self.method))

    @cached_property
    def _at_zero(self) -> Enclosure:
        """Delta at 0, to few digits."""
        return self.delta(rational(0), _COARSE).meet(self._plain.total_variation)

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        """Neighbours share a line, or the last one; of fewer digits where one of all is refused."""
        found, enough = dict(zip(epsilons, self._known(epsilons), strict=True)), digits
        lost = _BLURRED, _BLURRED + _LESS / 3, _BLURRED
        for goal, gone in zip((digits, digits - _LESS, _MOST), lost, strict=True):
            left = [at for at in epsilons if found[at].digits < digits]
            # proposes: whether to share a line, and how sharp it is
            if len(left) < 2 or goal > digits:
                break
            if shared := shared_deltas(_Lines(self, gone), left, goal):
                found, enough = found | shared, goal
                break

        def lacking(points: Sequence[Real]) -> list[Real]:
            return [at for at in points if found[at].digits < min(enough, self._reached)]

        # proposes: the order, as the last line mostly tells the next points too, ever more of them
        left = lacking(sorted(found, key=approximate))
        while left:
            at, *left = left
            found[at], ahead = found[at].meet(self.delta(at, digits)), 1
            while asked := left[:ahead]:
                told_of = zip(asked, self._known(asked), strict=True)
                found |= {at: found[at].meet(answer) for at, answer in told_of}
                behind = lacking(asked)
                left, ahead = behind + left[ahead:], 2 * ahead
                # proposes: when to have another line
                if behind:
                    break
        answers = (found[at] for at in epsilons)
        return [x if x.digits >= digits else x.short("blurs differ") for x in answers]

    def epsilons(self, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
        """Neighbours share a line."""
        lines = _Lines(self, _BLURRED + _LESS)
        found = shared_epsilons(lines, deltas, digits) if len(deltas) > 1 else {}
        return [found[at] if at in found else self.epsilon(at, digits) for at in deltas]

    def largest_loss(self, digits: int) -> Enclosure:
        return self.product.largest(1, digits, self.method)

    def _known(self, epsilons: Sequence[Real]) -> list[Enclosure]:
        """What the last line says of delta."""
        for line in self._near.lines.values():
            with suppress(ArithmeticError, ValueError):
                return told(line, epsilons, 1, self.method)
        return [Enclosure(_ZERO, _ONE, self.method)] * len(epsilons)

    def _known_epsilon(self, delta: Real, near: float, digits: int) -> Enclosure | None:
        """What the last line says of epsilon, if it knows delta next to it well enough."""
        line = next(iter(self._near.lines.values()), None)
        # proposes: whether to look at it
        if not (isinstance(line, TwoBlurs) and near > 0):
            return None
        wanted = digits_of_delta(self._near.product, Query(near, 1), digits)
        with balls.precision(line.plan.bits):
            (part,) = line.terms([arb(near)])
            # proposes: likewise
            if balls.to_enclosure(part.enclosure()).digits < wanted - _ROOM:
                return None
            return between(line, balls.ball(delta), near, 10.0**-digits)

    def _set_aside(self, epsilon: float, log_delta: float, digits: float) -> Near:
        """What is left next to epsilon; the last again if it is the same.

        Proposes: what is set aside, whose share of delta is enclosed.
        """
        aside = set_aside(self.product, epsilon, log_delta, digits)
        if aside is None:
            return self._whole
        last = self._near.aside
        if last is not None and last.near == aside.near:
            return self._near
        steps = Steps(aside.near)
        return Near(steps, Product(steps.factors), {}, aside)

    def _placed(self, delta: Real, digits: float) -> tuple[Near, float]:
        """About epsilon, and what is left there: large losses mislead saddle points.

        Proposes: where to begin.
        """
        log_delta = self.log_delta(delta)
        near, at = self._whole, self.product.epsilon(log_delta, 1)
        # proposes: where large losses have delta be none, to begin above all that it may be
        if not at:
            at = float(self._plain.chernoff_epsilon(delta).upper)
        for _ in range(_TIMES):
            near, before = self._set_aside(at, log_delta, digits), at
            at = near.product.epsilon(log_delta, 1)
            if near is self._whole or at * _FALLS > before:
                break
        return near, at

    def without_large(
        self, epsilon: float, digits: float, known: float | None = None
    ) -> tuple[Near, float]:
        """What is left at epsilon, and the saddle point of it. Proposes: likewise."""
        near = self._whole
        c, log_delta = self.product.saddle(epsilon, 1)
        if known is not None:
            log_delta = known
        for _ in range(_TIMES):
            near, before = self._set_aside(epsilon, log_delta, digits), log_delta
            c, log_delta = near.product.saddle(epsilon, 1)
            if near is self._whole or log_delta + _LOG_FALLS > before:
                break
        return near, c

    def log_delta(self, delta: Real) -> float:
        """The logarithm of what delta leaves to the finite losses."""
        return self._plain.log_delta(delta)

    def blurred(self, near: Near, goal: float, c: float) -> BlurredProfile:
        """Proposes: how much to blur for so many digits; what that leaves open is enclosed."""
        variance = short(_OPEN * 10.0**-goal / (c * (c + 1)))
        depth = (goal + 1) * math.log(10) + _SPARE
        self._near = near
        found = BlurredProfile(near.steps, self.infinite, variance, depth, _WORK, near.aside)
        found.lines = near.lines
        return found

    def _asked(
        self,
        ask: Callable[[BlurredProfile], Enclosure],
        near: Near,
        at: float,
        goal: float,
        digits: int,
    ) -> Enclosure:
        """With blurs that leave open no more than the digits, then fewer; at last of all losses."""
        best = Enclosure(_ZERO, math.inf, self.method)
        c, first = near.product.saddle(at, 1)[0], goal
        beyond, most, less, tried = goal - digits, math.inf, _LESS, 0
        goal = min(max(goal, 1.0), _MOST)
        # proposes: how often; where there are no digits fewer are tried soon, and once if all are
        # out of reach
        if digits > _MOST:
            goal, tried = goal - _LESS, _ATTEMPTS - 1
        while tried < _ATTEMPTS and less <= _LEAST:
            profile = self.blurred(near, goal, c)
            profile.more += tried
            found = ask(profile)
            best = best.meet(found)
            # proposes: when to stop, and how much to blur then
            if best.digits >= digits:
                break
            before = goal
            if found.digits > 0:
                known = _known_digits(found)
                # proposes: how much; what a blur leaves known floats lose, less with a larger one
                if known + beyond < goal - 2 * _LESS:
                    goal = known + beyond + _LESS / 2
                else:
                    goal = min(goal + digits - known + _LESS / 4, most)
                tried += 1
            else:
                most, goal, less = goal - _LESS / 4, goal - less, less * _FASTER
            # proposes: when to stop; a larger blur than one that left some digits tells no more
            if goal < 1 or (best.digits > found.digits == 0) or before < goal < before + _LESS / 4:
                break
        if best.digits >= digits:
            return best
        # proposes: likewise; far out what is not known of large losses may be most of delta
        if near is not self._whole:
            return best.meet(self._asked(ask, self._whole, at, first, digits))
        self._reached = best.digits
        return best.short(best.reason or "blurs differ")


def _known_digits(answer: Enclosure) -> float:
    """Of one that is above 0; many where it is exact. Proposes: how much to blur."""
    apart = 1 - answer.lower / Fraction(answer.upper)
    return -math.log10(apart) if apart > 0 else float(_MOST)


class _Lines:
    """Lines of blurs, of which each serves many points; ``lost`` digits are left to the blurs."""

    method = AtomsProfile.method
    repeat = 1
    fall = 5.0

    def __init__(self, profile: AtomsProfile, lost: float) -> None:
        self.product, self.infinite = profile.product, profile.infinite
        self._profile, self._lost = profile, lost
        self._last: BlurredProfile | None = None

    def log_delta(self, delta: Real) -> float:
        """The logarithm of what delta leaves to the finite losses."""
        return self._profile.log_delta(delta)

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        """Delta at one point."""
        return self._profile.delta(epsilon, digits)

    def planned(self, ends: Sequence[Query], digits: float) -> Plan:
        """Of blurs that leave the digits at all of the ends."""
        last = max(ends)
        near, _ = self._profile.without_large(last.epsilon, digits, last.log_delta)
        c = max(near.product.saddle(end.epsilon, 1)[0] for end in ends)
        self._last = self._profile.blurred(near, min(digits - self._lost, _MOST), c)
        return self._last.planned(ends, digits)

    def line(self, plan: Plan) -> TwoBlurs:
        """Of those that were planned."""
        assert self._last is not None
        return self._last.line(plan)
