"""Many runs of a Gaussian on a rare sample, as a privacy profile."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from dpexact import balls, reals
from dpexact.accounting.engines.contour.planning import guarded
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.rare.added import added_bound
from dpexact.accounting.engines.rare.estimate import (
    about,
    digits_of_delta,
    least_at_zero,
)
from dpexact.accounting.engines.rare.inversion import Inversion
from dpexact.accounting.engines.rare.many import bracketed
from dpexact.accounting.engines.rare.planning import DEEP
from dpexact.accounting.engines.rare.rows import (
    half_root_of_chi_square,
    largest_added,
    total_variation,
)
from dpexact.accounting.engines.rare.searching import FAINT, Draft, Search
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.profile import FirstToReach, InfiniteLoss, Profile
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
_LOUDEST, _LOUD = 0.2, 0.7
#: The rate times the root of many steps at which windows take about as long as a line.
_SPREAD: Final = 0.025
#: About the work of windows: one line is asked first that may be less.
_BRIEF_WORK: Final = 200_000
_NONE: Final = "no windows were found"
_ZERO, _ONE = Fraction(0), Fraction(1)
_LN10: Final = math.log(10)
_PASSES, _FEW_PASSES = 5, 2
#: By this much, as a power of e, delta at 0 is above a target that is not looked for there.
_PLAINLY: Final = 2.0
#: By how much, likewise, a saddle point may err there.
_UNSURE: Final = 0.6
#: Work of a line that is asked where the picture of a step has epsilon: mostly that is enough.
_LITTLE_WORK: Final = 400_000
_TRIVIAL: Final = 96


@dataclass(frozen=True)
class RareProfile(Search):
    """Gaussians on Poisson samples of small rates, in ``rows`` of equal steps.

    ``add`` is the direction; ``max_work`` bounds the multiplications of one evaluation; points that
    share no line are left to others if not ``alone``.
    """

    max_work: int = MAX_WORK
    alone: bool = True
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
            aim = ball(delta)
            if total_variation(self.rows) <= aim or half_root_of_chi_square(self.rows) <= aim:
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
        if any(row.replaced for row in self.rows):
            return False
        with precision(_TRIVIAL):
            if ball(epsilon) >= largest_added(self.rows):
                return True
        with suppress(ArithmeticError, ValueError, KeyError):
            line = self.lines[False]
            with precision(line.plan.bits):
                if line.reversed(ball(epsilon)) <= ball(level):
                    return True
        return balls.at_most(added_bound(self.rows, epsilon, approximate_log(level)), level)

    @cached_property
    def expected(self) -> float:
        """Proposes: in how many steps a record takes part."""
        return sum(row.times * row.group * row.q for row in self._floats)

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
        row = self._floats[0]
        return len(self.rows) > 1 or row.q * row.sigma * row.sigma <= _EVEN

    @property
    def is_loud(self) -> bool:
        """Proposes: whether losses of hundreds stand on a comb, for which windows take seconds."""
        return min(self._floats).sigma < _LOUDEST

    @property
    def is_plain_row(self) -> bool:
        """Whether one record is removed or added, in equal steps."""
        return len(self.rows) == 1 and self.rows[0].is_plain

    def with_line(self, line: ContourProfile, work: int) -> Profile:
        """Both, the line with so much ``work``. Proposes: which is asked first."""
        profiles = self, line.varied(work)
        if len(self.rows) > 1:
            often = [line.varied(work, patient=False)] * (self.is_loud or self.expected > _SELDOM)
            return FirstToReach(*often, *profiles)
        ((sigma, rate, *_),) = self._floats
        few = self.count <= _FEW_STEPS or rate * math.sqrt(self.count) < _SPREAD
        if few or sigma < _LOUD:
            return FirstToReach(*profiles)
        return FirstToReach(line.varied(_BRIEF_WORK, patient=False), *profiles)

    # --- delta ------------------------------------------------------------------------------------

    def _delta(self, epsilon: Real, digits: int, near: float | None = None) -> Enclosure:
        """``near`` is about ``log delta``, where that is known."""
        ask = self.question(approximate(epsilon))
        log = self.log_delta(ask, digits) if near is None else near
        best, margin = Enclosure(_ZERO, _ONE, self.method), 0.0
        reason = "the bounds did not shrink as expected"
        for tried in range(_PASSES):
            # proposes: whether to go on; far in a tail floats err by much, and lines are dear
            if log < FAINT and tried == _FEW_PASSES and best.lower == 0:
                break
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
            known = approximate_log(reals.rational(Fraction(best.upper)))
            # proposes: likewise
            if known < log - _PLAINLY:
                log = known
            else:
                margin += max(2.0, digits + 1.0 - best.digits)
        return best if best.digits >= digits else best.short(reason)

    # --- epsilon ----------------------------------------------------------------------------------

    def _solved(self, delta: Real, digits: int) -> Enclosure:
        target = approximate(delta)
        # proposes: whether to look at 0 first; where epsilon is 0 no bracket is found
        plainly_positive = least_at_zero(self.rows) > math.log(target) + _PLAINLY
        if not plainly_positive and (at_zero := self._at_zero(delta, target)) is not None:
            return at_zero
        log, margin = math.log(target), 0.0
        try:
            draft = self.drafted(target, digits)
            found, near = None, draft.near
            # proposes: whether a line is asked before floats say more
            if draft.plan is not None and draft.plan.work < _LITTLE_WORK:
                with suppress(ArithmeticError, ValueError):
                    inversion = self.inverted(draft.ask, 0.0, draft.plan)
                    found, near = self._bracketed(inversion, delta, draft, digits)
            if found is not None:
                return found
            # proposes: where to look, if a line that is too coarse showed that
            if near != draft.near:
                draft, margin = draft._replace(near=near, ask=self.question(near), plan=None), 1.0
            # proposes: likewise; far in a tail floats are lost
            elif log > DEEP:
                draft = self.searched(target, draft)
        except TooExpensive:
            if plainly_positive and (at_zero := self._at_zero(delta, target)) is not None:
                return at_zero
            raise
        plan = draft.plan
        wanted = digits_of_delta(digits, draft.steepness)
        best = Enclosure(_ZERO, math.inf, self.method)
        reason = "the bounds did not shrink as expected"
        for _ in range(_PASSES):
            try:
                log_tolerance = log - (wanted + margin) * _LN10
                inversion = self.inverted(draft.ask.with_other(wanted), log_tolerance, plan)
            except TooExpensive as cause:
                reason = str(cause)
                break
            plan = None
            found, near = self._bracketed(inversion, delta, draft, digits)
            if found is not None:
                return found
            margin += margin + 2.0
            draft = draft._replace(near=near, ask=self.question(near))
        return best.short(reason)

    def _bracketed(
        self, line: Inversion, delta: Real, draft: Draft, digits: int
    ) -> tuple[Enclosure | None, float]:
        """As :func:`bracketed` has it."""
        near, steepness, gap = draft.near, draft.steepness, draft.ask.gap
        with precision(line.plan.bits):
            return bracketed(line, ball(delta), near, steepness, 10.0**-digits, gap)

    def _at_zero(self, delta: Real, target: float) -> Enclosure | None:
        """Epsilon if it is 0, or None where delta at 0 is certainly above the target."""
        zero, ask, wanted = reals.rational(0), self.question(0.0), math.log(target)
        # both directions are alike there, and the saddle point of adding tells about what they are
        log = about(replace(ask, add=True))
        # proposes: whether a line is asked, too
        near = abs(log - wanted) < _UNSURE
        value = self.estimate(ask, wanted)[1] if near else math.exp(log)
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
