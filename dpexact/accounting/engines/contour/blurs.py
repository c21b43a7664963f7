r"""Lines of two blurs of laws with atoms.

With :math:`\delta_v` the profile beside a Gaussian of ``mu^2 = v``, for every ``a > 1``

.. math:: \delta_v - \frac{\delta_{av} - \delta_v}{\kappa - 1} \le \delta \le \delta_v, \qquad
          \kappa = \sqrt{a}\,e^{-(a-1)v/8} > 1,

whatever the laws (``docs/theory/atoms.md``). What it leaves open is of the order of ``v``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.engines.contour.inversion import Contour, Terms
from dpexact.accounting.engines.contour.many import digits_of_delta
from dpexact.accounting.engines.contour.planning import Plan, Query, planned
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.contour.set_aside import SetAside
from dpexact.accounting.pairs.blurred import Blurred, Steps
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.sums.far_nodes import FarSum
from dpexact.accounting.profile import InfiniteLoss
from dpexact.balls import approximate
from dpexact.decimals import log_of
from dpexact.enclosure import Enclosure
from dpexact.kept import cached_property
from dpexact.reals import Real

#: By how much the variance of the second blur exceeds that of the first.
_RATIO: Final = 1.5
#: Digits of a line beyond those of what the blurs leave open.
_MORE_DIGITS: Final = 1.5
#: Lines planned for one delta, and points at which a line is looked at for one epsilon.
_PASSES: Final = 2
_TRIALS: Final = 60
#: How far apart ends of a bracket are tried.
_STRETCHES: Final = (1.1, 1.5, 4.0, 30.0)
#: A share of what a line leaves open, by which ends are apart at least.
_NARROW: Final = 32
_ZERO, _ONE = Fraction(0), Fraction(1)


def excess(variance: float, more: float) -> arb:
    """``kappa - 1``."""
    v, ratio = arb(variance), arb(more) / arb(variance)
    return ratio.sqrt() * (-(ratio - 1) * v / 8).exp() - 1


class Line(Contour):
    """A line of one blur, whose nodes far up are sums in floats, or bounded of many responses."""

    def __init__(self, blurred: Blurred, plan: Plan, far: FarSum | None) -> None:
        super().__init__(Product([(blurred, 1)]), plan)
        self._blurred, self._far = blurred, far

    @cached_property
    def left_out(self) -> arb:
        if self._far is not None:
            return self._far.left_out(self.plan.count)
        plan = self.plan
        return self._blurred.left_out(plan.abscissa, plan.step, plan.count, plan.coarse)

    def _beside(self, epsilons: Sequence[arb]) -> list[tuple[arb, arb]]:
        if self._far is None:
            return super()._beside(epsilons)
        return [(value, arb(0)) for value in self._far.at(epsilons)]


class TwoBlurs(Line):
    """A line of the first blur, whose lower bounds allow for what the blur adds."""

    def __init__(
        self, blurred: Blurred, more: Blurred, plan: Plan, aside: SetAside | None = None
    ) -> None:
        place = plan.abscissa, plan.step, plan.count
        once, again = (
            (None, None) if blurred.steps.responses else blurred.far_sums(*place, more.variance)
        )
        super().__init__(blurred, plan, once)
        self._more = Line(more, plan, again)
        self._aside = aside
        self._excess = excess(blurred.variance, more.variance)
        if not self._excess > 0:
            raise TooExpensive("a blur as large as this says nothing from below")

    def blurred(self, epsilon: arb) -> arb:
        """Delta of the first blur."""
        (part,) = super().terms([epsilon])
        beside = part.infinite if self._aside is None else self._aside.added(epsilon)[0]
        return (beside + part.total - part.known).mid()

    def terms(self, epsilons: Sequence[arb], repeat: int = 1) -> list[Terms]:
        assert repeat == 1  # the blur of several is another
        found = []
        for once, again in zip(super().terms(epsilons), self._more.terms(epsilons), strict=True):
            # the mass of infinite losses is the same in both
            less, more = (x._replace(infinite=arb(0)).enclosure() for x in (once, again))
            added = ((more - less) / self._excess).upper()
            found.append(once._replace(above=once.above + arb.max(added, arb(0))))
        if self._aside is not None:
            for i, epsilon in enumerate(epsilons):
                infinite, most = self._aside.added(epsilon)
                found[i] = found[i]._replace(infinite=infinite, deficit=found[i].deficit + most)
        return found


class BlurredProfile(ContourProfile):
    """The profile of ``steps`` by blurs of ``variance``, and half as much again."""

    method = "contour of atoms"

    def __init__(
        self,
        steps: Steps,
        infinite: InfiniteLoss,
        variance: float,
        depth: float,
        work: int,
        aside: SetAside | None = None,
    ) -> None:
        self._steps, self._blurred = steps, Blurred(steps, variance, depth)
        self._aside = aside
        #: About epsilon and the logarithm of delta, where they are known.
        self.near = 0.0
        self.log: float | None = None
        #: Digits of a line beyond those asked for.
        self.more = _MORE_DIGITS
        super().__init__([(self._blurred, 1)], infinite, work)

    def line(self, plan: Plan) -> TwoBlurs:
        one = self._blurred
        self.lines.clear()  # they are large
        more = Blurred(self._steps, _RATIO * one.variance, one.depth)
        self.lines[self.product] = line = TwoBlurs(one, more, plan, self._aside)
        return line

    def planned(self, ends: Sequence[Query], digits: float) -> Plan:
        farther = not self._steps.responses
        asked = [(self.product, end) for end in ends]
        return planned(asked, digits, self.max_work, farther=farther)

    def lost(self) -> arb:
        """Of what is set aside too: infinite losses are the only ones beside."""
        return self.infinite.ball()

    def solved_delta(self, epsilon: Real, digits: int) -> Enclosure:
        """By one line, or by another where delta is far from what floats had it for."""
        best, near, known = Enclosure(_ZERO, _ONE, self.method), approximate(epsilon), self.log
        count = 0
        for _ in range(_PASSES):
            plan = self.planned([Query(near, 1, known)], digits + self.more)
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
        wanted = digits_of_delta(self.product, query, digits) + self.more
        plan = self.planned([query], wanted)
        with balls.precision(plan.bits):
            found = between(self.line(plan), balls.ball(delta), near, 10.0**-digits)
        return found or self.chernoff_epsilon(delta).short("blurs differ")


def between(line: TwoBlurs, target: arb, near: float, width: float) -> Enclosure | None:
    """Epsilon between points where the line certainly has more and less than the target.

    Proposes: the points, about as far from where the blur has it as the line is open there.
    """
    root, slope = _root(line, target, near, width / 16)
    at = arb(root)
    (part,) = line.terms([at])
    here, fall = part.enclosure(), arb(slope) * target
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


def _root(line: TwoBlurs, target: arb, near: float, width: float) -> tuple[float, float]:
    """About where the first blur has the target, to a relative ``width``, and how steeply.

    By secants of the logarithm within a bracket, the first one with the slope ``-c``. Proposes: a
    point.
    """
    low, high = (0.0, math.inf), (math.inf, -math.inf)
    at, side, slope = near, 0, line.plan.abscissa
    before = math.nan, math.nan
    for _ in range(_TRIALS):
        ratio = line.blurred(arb(at)) / target
        log = float(ratio.log().mid()) if ratio > 0 else -math.inf
        steep = (log - before[1]) / (before[0] - at) if at != before[0] else math.nan
        slope, before = steep if 0 < steep < math.inf else slope, (at, log)
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
        if abs(log) < width * at * slope or high[0] - low[0] < width * at:
            return following, slope
        at = following
    return at, slope
