"""Many runs of a Gaussian on a rare sample, as a privacy profile."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

import numpy as np

from dpexact import balls, reals
from dpexact.accounting.contour.profile import ContourProfile, guarded
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.profile import FirstToReach, InfiniteLoss, Profile
from dpexact.accounting.rare.added import added_bound
from dpexact.accounting.rare.estimate import (
    Estimate,
    about,
    digits_of_delta,
    first_place,
    least_at_zero,
    placed,
)
from dpexact.accounting.rare.inversion import Inversion
from dpexact.accounting.rare.many import SharedLines, bracketed
from dpexact.accounting.rare.picture import FloatRow, Question, largest_loss
from dpexact.accounting.rare.plan import Plan
from dpexact.accounting.rare.planning import cheapest
from dpexact.accounting.rare.rows import Row, largest_added, total_variation
from dpexact.balls import approximate, approximate_log, ball, precision
from dpexact.enclosure import Enclosure
from dpexact.kept import cached_property
from dpexact.reals import Real

#: Work after which the windows are given up: some seconds.
MAX_WORK: Final = 120_000_000
#: A record that takes part more often than this is no rare event: one line sees all its losses, and
#: sooner. So it does where their standard deviation is about this share of their range.
_OFTEN, _EVEN, _FEW_STEPS = 1, 0.5, 30
#: So often that one line may see all losses of several rows.
_SELDOM: Final = 0.05
_LOUDEST, _LOUD, _SPREAD_ADDED, _SPREAD_REMOVED = 0.2, 0.7, 6e-3, 1.2e-2
#: About the work of windows: one line is asked first that may be less.
_BRIEF_WORK: Final = 200_000
_NONE: Final = "no windows were found"
_ZERO, _ONE = Fraction(0), Fraction(1)
_LN10: Final = math.log(10)
_PASSES: Final = 5
_STEPS: Final = 24
_LARGEST_STEP: Final = 3.0
#: A range in which floats tell no more, and by how many times itself steps lead out of one.
_NARROW, _OUTSIDE = 0.005, 8.0
#: By which share of its gap and period one may move on one line of floats, by how much log delta,
#: and when a step is small.
_REACH: Final = 0.12
_NEAR: Final = 3.0
_CLOSE: Final = 3e-4
_GLANCE: Final = 4.0
#: So many digits of delta take about as long as its floats.
_ROUGH: Final = 2
#: By how much less than their target floats of a line are rounded that is not placed for them.
_ROUNDED: Final = 1e-2
#: By this much, as a power of e, delta at 0 is above a target that is not looked for there.
_PLAINLY: Final = 2.0
#: By how much, likewise, a saddle point may err there.
_UNSURE: Final = 0.6
#: Logarithms of delta over the target, and shares of gaps, between which one fine plan serves.
_FIRST: Final = 3.0
_SERVED: Final = 0.06
#: A gap times a step below which the period exceeds the gap, and what is beside it.
_FITS: Final = 2 * math.pi / 1.015
_TRIVIAL: Final = 96


@dataclass(frozen=True)
class RareProfile(SharedLines):
    """Gaussians on Poisson samples of small rates, in ``rows`` of equal steps.

    ``add`` is the direction; ``max_work`` bounds the multiplications of one evaluation.
    """

    rows: tuple[Row, ...]
    add: bool
    max_work: int = MAX_WORK
    #: The last line of each direction, which they share.
    lines: dict[bool, Inversion] = field(default_factory=dict, compare=False, repr=False)

    method = "contour"
    shares = True
    infinite = InfiniteLoss()

    # --- the questions ----------------------------------------------------------------------------

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        with precision(_TRIVIAL + 4 * digits):
            if self.add and ball(epsilon) >= largest_added(self.rows):
                return Enclosure.exact(_ZERO, self.method)
        most = Enclosure(_ZERO, _ONE, self.method)
        return guarded(lambda: self._delta(epsilon, digits), most, _NONE)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        with precision(_TRIVIAL):
            if total_variation(self.rows) <= ball(delta):
                return Enclosure.exact(_ZERO, "total variation bound")
        most = Enclosure(_ZERO, math.inf, self.method)
        return guarded(lambda: self._solved(delta, digits), most, _NONE)

    def largest_loss(self, digits: int) -> Enclosure:
        if not self.add:
            return Enclosure.exact(math.inf, self.method)
        name = f"{self.method}: largest loss"
        return balls.certify(lambda: largest_added(self.rows), digits, lowest=_ZERO, method=name)

    def is_below(self, epsilon: Real, level: Real) -> bool:
        """Whether next to free bounds prove that delta of adding is at most ``level``."""
        with precision(_TRIVIAL):
            if ball(epsilon) >= largest_added(self.rows):
                return True
        with suppress(ArithmeticError, ValueError, KeyError):
            if self.lines[False].reversed_is_below(epsilon, level):
                return True
        return balls.at_most(added_bound(self.rows, epsilon, approximate_log(level)), level)

    @cached_property
    def expected(self) -> float:
        """Proposes: in how many steps a record takes part."""
        return sum(n * q for _, q, n in self._floats)

    @property
    def is_often(self) -> bool:
        """Proposes: whether a record takes part too often for rare events."""
        return self.expected > _OFTEN

    @property
    def is_rare(self) -> bool:
        """Proposes: whether windows are asked: else one line sees all losses, and sooner."""
        # next to the largest loss of adding few steps, orders of a line are steep
        if self.count <= 2 or (self.is_often and not (self.add and self.count <= _FEW_STEPS)):
            return self.count <= 2
        sigma, q, _ = self._floats[0]
        return len(self.rows) > 1 or q * sigma * sigma <= _EVEN

    @property
    def is_loud(self) -> bool:
        """Proposes: whether losses of hundreds stand on a comb, for which windows take seconds."""
        return min(self._floats).sigma < _LOUDEST

    def with_line(self, line: ContourProfile, work: int) -> Profile:
        """Both, the line with so much ``work``. Proposes: which is asked first."""
        profiles = self, line.varied(work)
        if len(self.rows) > 1:
            often = [line.varied(work, patient=False)] * (self.is_loud or self.expected > _SELDOM)
            return FirstToReach(*often, *profiles)
        ((sigma, rate, _),) = self._floats
        spread = rate * sigma * math.sqrt(self.count)  # of losses over the largest of adding
        least = _SPREAD_ADDED if self.add else _SPREAD_REMOVED
        if (self.add and self.count <= _FEW_STEPS) or sigma < _LOUD or spread < least:
            return FirstToReach(*profiles)
        return FirstToReach(line.varied(_BRIEF_WORK, patient=False), *profiles)

    # --- plans ------------------------------------------------------------------------------------

    def question(self, epsilon: float) -> Question:
        """Proposes: what is planned for."""
        top = self._top
        gap = top - epsilon if self.add else top + epsilon
        known = all(1e-150 < q < 1 and 1e-3 < sigma < 1e6 for sigma, q, _ in self._floats)
        if not (known and 1e-9 * top < gap < 1e12):
            raise TooExpensive("the parameters are too extreme to plan with floats")
        return Question(self._floats, gap, self.add)

    @cached_property
    def _floats(self) -> tuple[FloatRow, ...]:
        return tuple(FloatRow(approximate(s), approximate(q), n) for s, q, n in self.rows)

    @cached_property
    def _top(self) -> float:
        """The largest loss of adding."""
        return largest_loss(self._floats)

    @cached_property
    def count(self) -> int:
        """Of all steps."""
        return sum(row.times for row in self.rows)

    def _plan(
        self, ask: Question, log_tolerance: float, in_floats: bool = False, like: Plan | None = None
    ) -> Plan:
        plan = cheapest(ask, log_tolerance, in_floats, like)
        # proposes: what is too much
        if plan.work > self.max_work:
            raise TooExpensive(f"{plan.count} nodes of {plan.bits} bits")
        return plan

    def _estimate(
        self, ask: Question, log_delta: float, like: Plan | None = None
    ) -> tuple[Estimate, float]:
        """About delta where it is about ``e^log_delta``, by floats.

        Proposes: a point.
        """
        with np.errstate(all="ignore"):
            found = Estimate(ask, self._plan(ask, log_delta - _GLANCE * _LN10, True, like))
            return found, found.delta(ask.gap)

    def inverted(self, ask: Question, log_tolerance: float, plan: Plan | None = None) -> Inversion:
        plan = plan or self._plan(ask, log_tolerance)
        with precision(plan.bits):
            found = self.lines[self.add] = Inversion(self.rows, plan)
        return found

    # --- delta ------------------------------------------------------------------------------------

    def _delta(self, epsilon: Real, digits: int, near: float | None = None) -> Enclosure:
        """``near`` is about ``log delta``, where that is known."""
        ask = self.question(approximate(epsilon))
        log = self.log_delta(ask, digits) if near is None else near
        best, margin = Enclosure(_ZERO, _ONE, self.method), 0.0
        reason = "the bounds did not shrink as expected"
        for _ in range(_PASSES):
            # proposes: when to stop; the digits of an answer are counted from its exact ends
            if best.digits >= digits:
                return best
            try:
                inversion = self.inverted(ask, log - (digits + 1 + margin) * _LN10)
            except TooExpensive as cause:
                reason = str(cause)
                break
            with precision(inversion.plan.bits):
                found = inversion.delta(ball(epsilon))
                if found.is_finite():
                    enclosed = balls.to_enclosure(found, self.method).within(_ZERO, _ONE)
                    best = best.meet(enclosed)
            # proposes: finer by what delta is below what floats had, else by the digits that miss
            known = math.inf
            # proposes: likewise
            if best.digits >= 1:
                known = approximate_log(reals.rational(Fraction(best.upper)))
            # proposes: likewise
            if known < log - _PLAINLY:
                log = known
            else:
                margin += max(2.0, digits + 1.0 - best.digits)
        return best if best.digits >= digits else best.short(reason)

    def log_delta(self, ask: Question, digits: int) -> float:
        """About ``log delta``; for few digits only roughly, as their line is soon made again.

        Proposes: how fine a line is; any gives an enclosure.
        """
        log = first = about(ask)
        if digits <= _ROUGH:
            return first
        for _ in range(_PASSES):
            found, value = self._estimate(ask, log)
            # floats tell no more
            if abs(value) < found.rounding:
                break
            if value > 0 and math.log(value) > log - _GLANCE * _LN10 / 2:
                return math.log(value)
            log -= 3 * _GLANCE * _LN10
        return first

    # --- epsilon ----------------------------------------------------------------------------------

    def _solved(self, delta: Real, digits: int) -> Enclosure:
        target = approximate(delta)
        # proposes: whether to look at 0 first; where epsilon is 0 no bracket is found
        plainly_positive = least_at_zero(self.rows) > math.log(target) + _PLAINLY
        if not plainly_positive and (at_zero := self._at_zero(delta, target)) is not None:
            return at_zero
        try:
            near, steepness, plan = self._searched(target, digits)
        except TooExpensive:
            if plainly_positive and (at_zero := self._at_zero(delta, target)) is not None:
                return at_zero
            raise
        ask = self.question(near)
        log, margin = math.log(target), 0.0
        wanted = digits_of_delta(digits, steepness)
        best = Enclosure(_ZERO, math.inf, self.method)
        reason = "the bounds did not shrink as expected"
        for _ in range(_PASSES):
            try:
                log_tolerance = log - (wanted + margin) * _LN10
                inversion = self.inverted(ask.with_other(wanted), log_tolerance, plan)
            except TooExpensive as cause:
                reason = str(cause)
                break
            plan = None
            with precision(inversion.plan.bits):
                width = 10.0**-digits
                found, near = bracketed(inversion, ball(delta), near, steepness, width, ask.gap)
            if found is not None:
                return found
            margin += margin + 2.0
            ask = self.question(near)
        return best.short(reason)

    def _at_zero(self, delta: Real, target: float) -> Enclosure | None:
        """Epsilon if it is 0, or None where delta at 0 is certainly above the target."""
        zero, ask, wanted = reals.rational(0), self.question(0.0), math.log(target)
        # both directions are alike there, and the saddle point of adding tells about what they are
        log = about(replace(ask, add=True))
        # proposes: whether a line is asked, too
        near = abs(log - wanted) < _UNSURE
        value = self._estimate(ask, wanted)[1] if near else math.exp(log)
        # proposes: whether to look at 0, and how finely; balls decide what is met there
        if value > 1.001 * target:
            return None
        # proposes: likewise
        known = math.log(value) if value > 0.001 * target else None
        # proposes: likewise
        found = self._delta(zero, 2 if value < 0.9 * target else 12, known)
        with precision(_TRIVIAL):
            aim = ball(delta)
            if balls.at_most(found, delta):
                return Enclosure.exact(_ZERO, self.method)
            if not ball(Fraction(found.lower)) > aim:
                reason = "epsilon is too close to zero to be told from it"
                return Enclosure(_ZERO, math.inf, self.method, reason)
        return None

    def _searched(self, target: float, digits: int) -> tuple[float, float, Plan | None]:
        """About epsilon, and ``-d log delta / d log epsilon`` there, by Newton's method in floats.

        Proposes: a point, around which the caller certifies a bracket; and a plan for that, where
        the search began close to it.
        """
        top, add = self._top, self.add
        log_target = math.log(target)
        low, high = ends = -math.inf, math.inf
        at, slope = first_place(self.question(top / 2), log_target)
        found, miss = self._fine(at, slope, log_target, digits)
        fine = None if found is None else found.plan
        for _ in range(_STEPS):
            gap, epsilon, change = placed(top, add, at)
            # one line serves neighbouring points
            if found is None or not (found.serves(gap, _REACH) and abs(miss) < _NEAR):
                before = None if found is None or found.plan is fine else found.plan
                found = self._estimate(self.question(epsilon), log_target, before)[0]
            value, moved = found.delta(gap), 1e-3
            other = found.delta(gap - moved * change)
            miss = math.log(value) - log_target if value > 0.01 * target else -math.inf
            slope = math.nan
            if value > 0 and other > 0:
                slope = (math.log(value) - math.log(other)) / moved
            # delta grows with the place when adding, and falls when removing
            if (miss > 0) == add:
                high = at
            else:
                low = at
            told = math.isfinite(miss) and (slope > 0 if add else slope < 0)
            step = -miss / slope if told else math.nan
            if abs(step) < _CLOSE:
                at += step
                break
            # floats tell no more
            if high - low < _NARROW and abs(miss) < _NARROW * 100:
                break
            # a line that was too coarse may have cut off the root
            if abs(step) > _OUTSIDE * (high - low):
                low, high = ends
            up = (miss > 0) != add
            if not math.isfinite(step) or (step > 0) != up:
                step = 1.5 if up else -1.5
            following = at + max(-_LARGEST_STEP, min(_LARGEST_STEP, step))
            if not low < following < high:
                following = (low + high) / 2 if math.isfinite(low + high) else following
            at = following
        else:
            raise TooExpensive("epsilon was not found in floats")
        gap, epsilon, _ = placed(top, add, at)
        steepness = abs(slope) * (top / gap if add else 1.0)
        if found.plan is not fine or not found.serves(gap, _SERVED):
            return epsilon, steepness, None
        # its period may not exceed another gap
        return epsilon, steepness, fine if fine.orders[-1] > 0 or fine.step * gap < _FITS else None

    def _fine(
        self, at: float, slope: float, log_target: float, digits: int
    ) -> tuple[Estimate | None, float]:
        """The certified line in floats, if it shows about the target; and the miss.

        Proposes: likewise.
        """
        gap, epsilon, _ = placed(self._top, self.add, at)
        ask = self.question(epsilon)
        steepness = slope * (self._top / gap if self.add else 1.0)
        wanted = digits_of_delta(digits, steepness)
        try:
            plan = self._plan(ask.with_other(wanted), log_target - wanted * _LN10)
        except TooExpensive:
            return None, math.inf
        # floats have no powers
        if plan.tiny is not None:
            return None, math.inf
        found = Estimate(ask, plan)
        value = found.delta(gap)
        miss = math.log(value) - log_target if value > 0 else -math.inf
        # proposes: whether floats are exact enough on a line that was not placed for them
        exact = found.rounding < _ROUNDED * math.exp(log_target)
        return (found, miss) if exact and abs(miss) < _FIRST else (None, math.inf)
