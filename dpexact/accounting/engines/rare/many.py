"""Many points at once: neighbours share a line.

Which points share one is proposed by floats; each is answered by what its line encloses.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Final, NamedTuple

from flint import arb

from dpexact import balls
from dpexact.accounting.engines.rare.inversion import Inversion
from dpexact.accounting.engines.rare.picture import Question
from dpexact.accounting.profile import Profile
from dpexact.balls import approximate, approximate_log, ball, precision
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, rational

#: A line serves gaps down to this share of the largest, with these digits more than asked for.
_SHARE: Final = 0.5
_SPARE: Final = 2.0
#: Fewer targets than this are asked one by one.
_FEW: Final = 4
_SECANTS: Final = 12
#: Answers that tell where the next is, and by how much its steepness may be off.
_PAST: Final = 5
_TRUST: Final = 0.01
#: How far the logarithms of two points may lie apart whose slope is that at the point between.
_BESIDE: Final = 1e-3
#: Digits of delta at 0, which may be below many targets.
_COARSE: Final = 3
_COARSE_BITS: Final = 96
_LN10: Final = math.log(10)
_ZERO, _ONE = Fraction(0), Fraction(1)


class _Guide(NamedTuple):
    """A line, the gap it is for, and about the slope of ``log delta`` against ``log eps`` there."""

    line: Inversion
    gap: float
    steepness: float

    def bracketed(
        self, delta: Real, near: float, steepness: float, digits: int
    ) -> tuple[Enclosure | None, float]:
        """As :func:`bracketed` has it."""
        with precision(self.line.plan.bits):
            ask = self.line, ball(delta), near, steepness, 10.0**-digits, self.gap
            return bracketed(*ask, _TRUST)


def _beside(
    past: Sequence[tuple[float, float]], log: float, steepness: float
) -> tuple[float, float]:
    """Epsilon at a target, and how steep it is, by a polynomial through answers that lie as close.

    Of logarithms. By the ``steepness`` where they are few. Proposes: where to look.
    """
    (last, value), slope = past[-1], -1 / steepness
    places, values, slopes = [last], [value], [0.0]
    for at, found in reversed(past[-_PAST:-1]):
        if not abs(at - places[-1]) < 2 * abs(log - last):
            break
        places, values, slopes = [*places, at], [*values, found], [*slopes, 0.0]
    for step in range(1, len(places)):  # Neville's scheme, with derivatives
        for i, (start, end) in enumerate(zip(places, places[step:], strict=False)):
            before, after, width = log - start, log - end, end - start
            rise = values[i + 1] - values[i]
            slopes[i] = (rise + before * slopes[i + 1] - after * slopes[i]) / width
            values[i] = (before * values[i + 1] - after * values[i]) / width
    # the slope of two is half a step behind
    if len(places) > 2 and slopes[0] < 0:
        return math.exp(values[0]), -1 / slopes[0]
    return math.exp(value + slope * (log - last)), steepness


class SharedLines(Profile):
    """A profile whose neighbouring points share lines, on which a gap is what a question is of."""

    #: Whether the direction is that of adding a record.
    add: bool
    #: Whether points are answered that share no line, and those of lines that give no answer.
    alone: bool

    @abstractmethod
    def question(self, epsilon: float) -> Question:
        """Proposes: what is planned for."""

    @abstractmethod
    def log_delta(self, ask: Question, digits: int) -> float:
        """About that, by floats. Proposes: how fine a line is; any gives an enclosure."""

    @abstractmethod
    def inverted(self, ask: Question, log_tolerance: float) -> Inversion:
        """What the plan says, at its precision."""

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        """Delta at each of many points.

        Proposes: who shares which line.
        """
        found: dict[Real, Enclosure] = {}
        near = {at: approximate(at) for at in epsilons}
        waiting = sorted(near, key=near.__getitem__, reverse=not self.add)  # gaps fall
        while waiting:
            first, group = waiting[0], waiting[:1]
            with suppress(ArithmeticError, ValueError):
                reach = (1 - _SHARE) * self.question(near[first]).gap
                group = [at for at in waiting if abs(near[at] - near[first]) <= reach]
                if len(group) > 1:
                    found.update(self._on_line(group, near, digits))
            if first not in found:
                left = dict.fromkeys(group, Enclosure(_ZERO, _ONE, self.method))
                found |= {first: self.delta(first, digits)} if self.alone else left | found
            waiting = [at for at in waiting if at not in found]
        return [found[at] for at in epsilons]

    def _on_line(
        self, group: Sequence[Real], near: dict[Real, float], digits: int
    ) -> dict[Real, Enclosure]:
        """Those answers that have the digits, by one line, planned for all their gaps."""
        # proposes: how fine the line is
        log = self.log_delta(self.question(max(near[at] for at in group)), digits)
        ask, last = (self.question(near[at]) for at in (group[0], group[-1]))
        ask = replace(ask, share=last.gap / ask.gap)
        line, found = self.inverted(ask, log - (digits + _SPARE) * _LN10), {}
        with precision(line.plan.bits):
            for at in group:
                value = line.delta(ball(at))
                if value.is_finite():
                    answer = balls.to_enclosure(value, self.method).within(_ZERO, _ONE)
                    # proposes: who is asked again
                    if answer.digits >= digits:
                        found[at] = answer
        return found

    def epsilons(self, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
        """Epsilon at each of many targets.

        Proposes: who shares which line, and where each search begins; balls bracket what it finds.
        """
        if len(deltas) < _FEW:
            return [self.epsilon(at, digits) for at in deltas]
        at_zero = self.delta(rational(0), _COARSE)
        with precision(_COARSE_BITS):
            least = ball(Fraction(at_zero.upper))
            zeros = [at for at in deltas if least <= ball(at)]
        found = dict.fromkeys(zeros, Enclosure.exact(_ZERO, self.method))
        logs = {at: approximate_log(at) for at in deltas if at not in found}
        guide: _Guide | None = None
        past: list[tuple[float, float]] = []
        fine, failed, following = digits + _SPARE, 0, 0
        order = sorted(logs, key=logs.__getitem__, reverse=self.add)  # gaps fall
        for done, at in enumerate(order):
            answer = None
            if guide is not None:
                with suppress(ArithmeticError, ValueError):
                    ask = _beside(past, logs[at], guide.steepness)
                    answer, near = guide.bracketed(at, *ask, digits)
                    if answer is None:
                        guide = self._guide(near, logs[at], fine)
                        answer, near = guide.bracketed(at, near, guide.steepness, digits)
                    past.append((logs[at], math.log(near)))
            if answer is None:
                # proposes: finer lines, where one was too coarse at the target it was planned for
                fine += 0.0 if guide is None else _SPARE
                answer, guide = self.epsilon(at, digits), None
                if not self.alone and answer.digits < digits:
                    break
                # proposes: whether there is a line for those that follow
                reached = answer.digits >= digits and 0 < answer.lower < math.inf
                # proposes: likewise; next to the largest loss it takes long to see that none is
                if reached and following <= done < len(logs) - _FEW:
                    failed += 1
                    following = done + (1 << failed)
                    with suppress(ArithmeticError, ValueError):
                        guide = self._guide(float(answer.lower), logs[at], fine)
                        past.append((logs[at], approximate_log(rational(Fraction(answer.lower)))))
                        failed = following = 0
            found[at] = answer
        nothing = Enclosure(_ZERO, math.inf, self.method)
        return [found.get(at, nothing) for at in deltas]

    def _guide(self, near: float, log: float, digits: float) -> _Guide:
        """At an answer."""
        ask = replace(self.question(near), share=_SHARE)
        line = self.inverted(ask, log - digits * _LN10)
        with precision(line.plan.bits):
            here, before = (line.delta(arb(x)).mid() for x in (near, near * (1 - _BESIDE)))
            return _Guide(line, ask.gap, float((before / here).log()) / _BESIDE)


def bracketed(
    inversion: Inversion,
    target: arb,
    near: float,
    steepness: float,
    width: float,
    gap: float,
    doubt: float = 1.0,
) -> tuple[Enclosure | None, float]:
    """Two points: delta is certainly above the target at the left one, below at the other.

    None where the line is too coarse; and a better point. The steepness is off by a ``doubt``.
    """
    at, slope, last = arb(near), -steepness, (0.0, 0.0)
    for _ in range(_SECANTS):
        value = inversion.delta(at).mid()
        # proposes: secants of the logarithms; both ends are certified wherever they lead
        if not value > 0:
            return None, near
        miss = float((value / target).log())
        before, missed = last
        # proposes: likewise
        if before and miss * missed < missed * missed:
            slope = (miss - missed) / before
        step = -miss / slope
        # proposes: likewise
        if not abs(step) < 0.3:
            return None, near
        at = (at * (1 + arb(step))).mid()
        # proposes: likewise
        if abs(step) * min(1.0, abs(before) or doubt) < 0.05 * width:
            break
        last = step, miss
    # proposes: likewise; the period hardly exceeds the gap
    half = arb(min(0.45 * width * float(at), 0.01 * gap))
    left, right = (at - half).mid(), (at + half).mid()
    if inversion.delta(left) > target and inversion.delta(right) < target:
        return balls.to_enclosure(left.union(right), "contour"), float(at)
    return None, float(at)
