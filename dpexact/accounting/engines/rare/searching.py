"""Plans of a composition, and where its epsilon is, in floats.

Proposes: plans and points; balls certify what is made of them.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from dpexact.accounting.engines.rare.estimate import (
    Estimate,
    about,
    digits_of_delta,
    first_place,
    placed,
)
from dpexact.accounting.engines.rare.float_rows import FloatRow, floats_of, largest_loss
from dpexact.accounting.engines.rare.inversion import Inversion
from dpexact.accounting.engines.rare.many import SharedLines
from dpexact.accounting.engines.rare.picture import Question
from dpexact.accounting.engines.rare.plan import Plan
from dpexact.accounting.engines.rare.planning import DEEP, cheapest
from dpexact.accounting.engines.rare.rows import Row
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.balls import precision
from dpexact.kept import cached_property

_LN10: Final = math.log(10)
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
#: Below this logarithm of a tolerance so much less work is done.
FAINT, _LESS = -600.0, 3
#: So many digits of delta take about as long as its floats.
_ROUGH: Final = 2
_PASSES: Final = 5
#: By how much less than their target floats of a line are rounded that is not placed for them.
_ROUNDED: Final = 1e-2
#: Logarithms of delta over the target, and shares of gaps, between which one fine plan serves.
_FIRST: Final = 3.0
_SERVED: Final = 0.06
#: A gap times a step below which the period exceeds the gap, and what is beside it.
_FITS: Final = 2 * math.pi / 1.015


class Draft(NamedTuple):
    """A place on the scale of the search, about epsilon there, the steepness and maybe a plan.

    That is ``-d log delta / d log epsilon``.
    """

    at: float
    near: float
    steepness: float
    ask: Question
    plan: Plan | None


@dataclass(frozen=True)
class Search(SharedLines):
    """``rows`` of equal steps in a direction; ``max_work`` bounds the multiplications of a plan."""

    rows: tuple[Row, ...]
    add: bool
    max_work: int
    #: The last line of each direction, which they share.
    lines: dict[bool, Inversion]

    # --- plans ------------------------------------------------------------------------------------

    def question(self, epsilon: float) -> Question:
        """Proposes: what is planned for."""
        top = self._top
        gap = top - epsilon if self.add else top + epsilon
        known = all(1e-150 < x.q < 1 and 1e-3 < x.sigma < 1e6 for x in self._floats)
        if not (known and 1e-9 * top < gap < 1e12):
            raise TooExpensive("the parameters are too extreme to plan with floats")
        return Question(self._floats, gap, self.add)

    @cached_property
    def _floats(self) -> tuple[FloatRow, ...]:
        return floats_of(self.rows)

    @cached_property
    def _top(self) -> float:
        """The largest loss of adding."""
        return largest_loss(self._floats)

    @cached_property
    def count(self) -> int:
        """Of all steps."""
        return sum(row.times for row in self.rows)

    def plan_for(
        self, ask: Question, log_tolerance: float, in_floats: bool = False, like: Plan | None = None
    ) -> Plan:
        plan = cheapest(ask, log_tolerance, in_floats, like)
        # proposes: what is too much
        if plan.work > self.max_work // (_LESS if log_tolerance < FAINT else 1):
            raise TooExpensive(f"{plan.count} nodes of {plan.bits} bits")
        return plan

    def estimate(
        self, ask: Question, log_delta: float, like: Plan | None = None
    ) -> tuple[Estimate, float]:
        """About delta where it is about ``e^log_delta``, by floats.

        Proposes: a point.
        """
        with np.errstate(all="ignore"):
            found = Estimate(ask, self.plan_for(ask, log_delta - _GLANCE * _LN10, True, like))
            return found, found.delta(ask.gap)

    def inverted(self, ask: Question, log_tolerance: float, plan: Plan | None = None) -> Inversion:
        plan = plan or self.plan_for(ask, log_tolerance)
        with precision(plan.bits):
            found = self.lines[self.add] = Inversion(self.rows, plan)
        return found

    def log_delta(self, ask: Question, digits: int) -> float:
        """About ``log delta``; only roughly for few digits, whose line is soon made again.

        And far in a tail, where floats are lost.

        Proposes: how fine a line is; any gives an enclosure.
        """
        log = first = about(ask)
        if digits <= _ROUGH or first < DEEP:
            return first
        last = math.inf
        for _ in range(_PASSES):
            found, value = self.estimate(ask, log)
            # floats tell no more
            if abs(value) < found.rounding or abs(value) > last:
                break
            last = abs(value)
            if value > 0 and math.log(value) > log - _GLANCE * _LN10 / 2:
                return math.log(value)
            log -= 3 * _GLANCE * _LN10
        return first

    # --- epsilon ----------------------------------------------------------------------------------

    def drafted(self, target: float, digits: int) -> Draft:
        """About where delta is the target, from the picture of a step, and a plan there."""
        at, slope = first_place(self.question(self._top / 2), math.log(target))
        gap, epsilon, _ = placed(self._top, self.add, at)
        steepness = slope * (self._top / gap if self.add else 1.0)
        wanted = digits_of_delta(digits, steepness)
        ask, plan = self.question(epsilon).with_other(wanted), None
        with suppress(TooExpensive):
            plan = self.plan_for(ask, math.log(target) - wanted * _LN10)
        return Draft(at, epsilon, steepness, ask, plan)

    def searched(self, target: float, draft: Draft) -> Draft:
        """Epsilon by Newton's method in floats; and the plan, where it serves what is found.

        Proposes: a point, around which the caller certifies a bracket.

        Raises:
            TooExpensive: floats do not find it.
        """
        top, add, at = self._top, self.add, draft.at
        log_target = math.log(target)
        low, high = ends = -math.inf, math.inf
        found, miss = self._fine(draft, log_target)
        fine = None if found is None else found.plan
        for _ in range(_STEPS):
            gap, epsilon, change = placed(top, add, at)
            # one line serves neighbouring points
            if found is None or not (found.serves(gap, _REACH) and abs(miss) < _NEAR):
                before = None if found is None or found.plan is fine else found.plan
                found = self.estimate(self.question(epsilon), log_target, before)[0]
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
        served = found.plan is fine and found.serves(gap, _SERVED)
        # its period may not exceed another gap
        if fine is None or not (served and (fine.orders[-1] > 0 or fine.step * gap < _FITS)):
            fine = None
        return Draft(at, epsilon, steepness, self.question(epsilon), fine)

    def _fine(self, draft: Draft, log_target: float) -> tuple[Estimate | None, float]:
        """The certified line in floats, if it shows about the target; and the miss.

        Proposes: likewise.
        """
        # floats have no powers
        if draft.plan is None or draft.plan.tiny is not None:
            return None, math.inf
        found = Estimate(draft.ask, draft.plan)
        value = found.delta(draft.ask.gap)
        miss = math.log(value) - log_target if value > 0 else -math.inf
        # proposes: whether floats are exact enough on a line that was not placed for them
        exact = found.rounding < _ROUNDED * math.exp(log_target)
        return (found, miss) if exact and abs(miss) < _FIRST else (None, math.inf)
