"""One question of a calibration, and the evaluations that decide it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Final

from dpexact import balls
from dpexact.accounting.calibration.bracket import Scale
from dpexact.accounting.calibration.equivalent import (
    largest_loss,
    mu_squared,
    reached,
    sampled_mu_squared,
    scale,
    sketched,
)
from dpexact.accounting.calibration.targets import Target
from dpexact.accounting.composition import Composition
from dpexact.accounting.profile import Between
from dpexact.accounting.profiles import profile
from dpexact.accounting.standing import counted
from dpexact.arguments import Direction
from dpexact.decimals import Bound, log_of
from dpexact.enclosure import Enclosure, End
from dpexact.errors import UnsupportedMechanism
from dpexact.kept import cached_property
from dpexact.mechanisms import FixedSize, Mechanism
from dpexact.mechanisms.ordering import Ordering
from dpexact.mechanisms.template import Hole, Template
from dpexact.ternary import Ternary

#: Digits with which it is decided at most whether the most private value meets the target.
EDGE_DIGITS: Final = 400
#: Digits with which one of two bounds that differ is told from a target at most.
ENOUGH: Final = 5
#: Logarithms of ``mu`` that floats hold the square of, and how far beyond a kink a search starts.
_FAR: Final = 300.0
_BEYOND: Final = Fraction(17, 16)
#: How close in logarithms ``mu^2`` is met by where a search starts.
_ABOUT: Final = 1e-6
#: A power of values from which losses are not small, and add up to no Gaussian.
_STEEP: Final = 1.6
#: By what share a value is moved to tell a power, or where its side is told.
_LITTLE: Final = Fraction(1, 1024)


class Question:
    """Which values of the unknown of ``template`` meet a target.

    ``method`` is that of the last evaluation that met it. ``lowest`` and ``highest`` are the ends
    of the domain, the latter infinite where there is none.
    """

    def __init__(
        self,
        template: Template,
        ordering: Ordering,
        aim: Target,
        digits: int,
        direction: Direction,
    ) -> None:
        self.template = template
        self.ordering = ordering
        self.aim = aim
        self.digits = digits
        self.direction = direction
        self.method = ""
        hole = template.hole
        #: The least of whole numbers; others begin beyond 0, or at it.
        self.lowest: Fraction = hole.end(ordering.lowest) if ordering.integer else Fraction(0)
        self.highest: Bound = math.inf if ordering.highest is None else hole.end(ordering.highest)
        self.target: Enclosure = balls.enclosed(
            aim.bound, 2 * digits + EDGE_DIGITS, Fraction(0), aim.most
        )

    @property
    def inside(self) -> Question:
        """The same question of values inside the domain."""
        aim = self.aim.inside
        if aim is None:
            return self
        return Question(self.template, self.ordering, aim, self.digits, self.direction)

    @cached_property
    def scale(self) -> Scale | None:
        """Proposes: that of the Gaussian which would show the same quantity."""
        target = Fraction(self.target.upper)
        if self.aim.log_mu is None or not self._is_inside(target):
            return None
        return scale(self.aim.log_mu, self._odds(target), self.aim.most is not None)

    @cached_property
    def likely(self) -> tuple[Fraction, Fraction | None, float | None]:
        """Proposes: where to start, by what many small losses come to; and a kink it is next to.

        Up to the kink no loss is large enough for delta to rise. And the power of values by which
        they move ``mu`` there.
        """
        kink = found = power = None
        ordering, aim, target = self.ordering, self.aim, Fraction(self.target.upper)
        if aim.epsilon is not None and not (ordering.integer and ordering.least):
            kink = self._reached(largest_loss, balls.approximate(aim.epsilon))
        if aim.log_mu is not None and target > 0:
            log_mu = aim.log_mu(log_of(target))
            # proposes: squares that floats do not hold are no start
            if log_mu is not None and abs(log_mu) < _FAR:
                shown = self._shown(math.exp(log_mu))
                found = self._reached(shown, math.exp(2 * log_mu), 2, _ABOUT)
                power = None if found is None else self._power(shown, found)
                if power is not None and power > _STEEP:
                    found = power = None
        if kink is not None:
            sense = -1 if ordering.least else 1
            beyond = (kink**sense * _BEYOND) ** sense
            if found is None or (found - beyond) * sense < 0:
                found = beyond
            else:
                kink = None
        if found is None or not self.lowest < found < self.highest:
            return self.start, kink, None
        if ordering.integer:
            return Fraction(round(found)), kink, None
        return found, kink, power

    def _shown(self, mu: float) -> Callable[[Composition], float]:
        """About ``mu^2`` of a composition: by all losses, or by rare large ones next to ``mu``."""
        epsilon, log_mu = self.aim.epsilon, self.aim.log_mu
        rare = None if epsilon is None else balls.approximate(epsilon)
        # proposes: by what a search starts
        if rare is None or log_mu is None or rare <= mu:
            return mu_squared
        return lambda found: max(mu_squared(found), sampled_mu_squared(found, rare, log_mu))

    def _about(self, quantity: Callable[[Composition], float], value: Fraction) -> float:
        """A quantity with a value; samples of fixed size are read as those of their rate."""
        steps = sketched(self.template.fill(value)).steps().items()
        return quantity(Composition.of(steps, fixed_size=True, zcdp=True))

    def _power(self, quantity: Callable[[Composition], float], value: Fraction) -> float | None:
        """By which values move ``mu``, of noise their inverses."""
        if self.ordering.integer:
            return None
        moved = value * (1 + _LITTLE)
        here, there = (self._about(quantity, x) for x in (value, moved))
        power = math.log(there / here) / math.log1p(_LITTLE) / 2
        return -power if self.ordering.least else power

    def _reached(
        self, quantity: Callable[[Composition], float], level: float, *how: float
    ) -> Fraction | None:
        """The value inside the domain at which a quantity of compositions is at a level."""
        at = partial(self._about, quantity)
        try:
            found = reached(at, level, self.start, self.ordering, *how)
        except UnsupportedMechanism:
            return None
        return found if found is not None and self.lowest < found < self.highest else None

    @property
    def start(self) -> Fraction:
        """A value inside the domain."""
        start = max(self.ordering.start, self.lowest)
        return min(start, self.highest) if isinstance(self.highest, Fraction) else start

    @property
    def most(self) -> Fraction:
        """The largest whole number that is tried."""
        limit = Fraction(self.ordering.limit)
        return min(limit, self.highest) if isinstance(self.highest, Fraction) else limit

    @cached_property
    def kinds(self) -> set[type[Mechanism]]:
        """Of all parts, at any depth."""
        parts = counted(self.template.mechanism)
        return {part.owner if isinstance(part, Hole) else type(part) for part in parts}

    @cached_property
    def is_sharp(self) -> bool:
        """Whether the quantity is known to any digits, and not between bounds of theorems only.

        Asked at two values: all records, and one step, are known where less or more is not.
        """
        if FixedSize not in self.kinds:
            return True
        further = 2 * self.start
        if self.ordering.integer:
            further = min(further, self.most)
        try:
            inside = [self.template.fill(value) for value in {self.start, further}]
            return all(profile(x, self.direction).sharp for x in inside)
        except UnsupportedMechanism:  # no profile: what is asked has its own ways
            return True

    def at(self, value: Fraction, digits: int) -> tuple[Enclosure, Ternary]:
        """The quantity at ``value``, and whether it certainly is, or is not, in the target."""
        return self.of(self.template.fill(value), digits)

    def of(self, mechanism: Mechanism, digits: int) -> tuple[Enclosure, Ternary]:
        """The same of a mechanism."""
        found = self.aim.ask(mechanism, digits + self._hidden, self.direction)
        meets = found.at_most(self.target)
        if meets is Ternary.HOLDS:
            self.method = found.method
        return found, meets

    @cached_property
    def _hidden(self) -> int:
        """Digits of the target that tell nothing: next to 1 the first nines."""
        target = self.target.upper
        known = self.aim.most is not None and self._is_inside(target)
        return max(0, math.ceil(log_of(self._odds(target)) / math.log(10))) if known else 0

    def is_met_by(self, mechanism: Mechanism) -> bool:
        """Whether ``mechanism`` certainly meets the target."""
        return self.of(mechanism, self.digits + 3)[1] is Ternary.HOLDS

    def gap(self, found: Enclosure) -> Fraction | None:
        """Proposes: about ``log(quantity/target)``, or of their odds; None if infinite."""
        if found.upper == math.inf:
            return None
        middle, target = (Fraction(found.lower) + Fraction(found.upper)) / 2, self.target.upper
        if not (self._is_inside(middle) and self._is_inside(target)):
            return None
        ratio = self._odds(middle) / self._odds(target)
        with balls.precision(balls.bits_for(self.digits + 10)):
            return balls.midpoint(balls.ball(ratio).log())

    @property
    def is_turned(self) -> bool:
        """Whether the target is nearer to the most there is than to 0."""
        return self.aim.most is not None and 2 * self.target.upper > self.aim.most

    def _is_inside(self, quantity: Bound) -> bool:
        """Whether it has finite odds."""
        return 0 < quantity < (math.inf if self.aim.most is None else self.aim.most)

    def _odds(self, quantity: Bound) -> Fraction:
        """Of what is never more than 1, which tell where next to 1; else the quantity itself."""
        value = Fraction(quantity)
        return value if self.aim.most is None else value / (self.aim.most - value)

    def doubt(self, found: Enclosure, met: bool) -> float:
        """Proposes: how far a gap has to fall, or to rise, to be told; 0 where nothing is found."""
        if not met and found.lower == 0:
            return 0.0
        low, high = (self.target.upper, found.upper) if met else (found.lower, self.target.lower)
        if not (low < high and self._is_inside(low) and self._is_inside(high)):
            return float(_LITTLE)
        return log_of(self._odds(high) / self._odds(low))


class OneEnd(Question):
    """The same question of one end of what encloses the quantity, which tells every value's side.

    Proposes: ``near``, where to start. Where the upper end meets the target, so does the quantity;
    where the lower one does not, neither does it.
    """

    def __init__(self, question: Question, end: End, near: Bound | None = None) -> None:
        super().__init__(
            question.template,
            question.ordering,
            question.aim,
            question.digits,
            question.direction,
        )
        self.end: End = end
        self.near = near

    @cached_property
    def likely(self) -> tuple[Fraction, Fraction | None, float | None]:
        """Where the other end was."""
        if isinstance(self.near, Fraction) and self.lowest <= self.near and self.near > 0:
            return self.near, None, None
        return super().likely

    def of(self, mechanism: Mechanism, digits: int) -> tuple[Enclosure, Ternary]:
        """Of one end."""
        found = self._alone(mechanism, digits)
        if found is None or (digits > ENOUGH and found.at_most(self.target) is Ternary.UNDECIDED):
            whole = found or self.aim.ask(mechanism, digits, self.direction)
            side = whole.upper if self.end == "upper" else whole.lower
            found = Enclosure.exact(side, whole.method)
        meets = found.at_most(self.target)
        if meets is Ternary.HOLDS:
            self.method = found.method
        return found, meets

    def _alone(self, mechanism: Mechanism, digits: int) -> Enclosure | None:
        """The bound at that end, where a delta lies between two that are asked apart.

        It is asked for no more digits than tell it from the other.
        """
        accounting = profile(mechanism, self.direction)
        if self.aim.epsilon is None or not isinstance(accounting, Between) or accounting.sharp:
            return None
        bound = accounting.above if self.end == "upper" else accounting.below
        return bound.delta(self.aim.epsilon, min(digits, ENOUGH)).labelled(accounting.method)
