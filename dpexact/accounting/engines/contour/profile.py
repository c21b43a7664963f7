"""The contour engine as a privacy profile: the adaptive loops around one contour."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from copy import copy
from fractions import Fraction

import numpy as np
from flint import arb

from dpexact import balls
from dpexact.accounting.engines.contour.inversion import Contour
from dpexact.accounting.engines.contour.many import (
    asked_alone,
    digits_of_delta,
    epsilons_together,
    on_line,
    shared_deltas,
    solved,
    told_again,
)
from dpexact.accounting.engines.contour.planning import Plan, Query, affordable, guarded, planned
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.pairs.pair import (
    Pair,
    TooExpensive,
    chernoff_constant,
    least_overlap,
    log_chernoff,
)
from dpexact.accounting.profile import FAINT, InfiniteLoss, Profile
from dpexact.balls import approximate, ball, precision
from dpexact.decimals import log_of
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, rational

#: Default bound on the multiplications of one evaluation: some seconds.
MAX_WORK = 120_000_000
COARSE_BITS = 96
ATTEMPTS = 4
_COARSE_ACCURACY = 40.0
#: Of a bound that is compared with a level.
_GLANCE = 10.0
_NEARLY_ONE = -0.1
_MOST_PASSES = 7
_SMALLER = (1.0, 0.5, 0.25, 0.1, 0.03)
_BISECTIONS = 24
_COARSE_DIGITS = 3
_CLOSE, _SHARE = 0.02, 8
#: One coarse line serves so many steps, as long as they lead no further than this.
_STEPS = 6
_NEAR_BY = 0.3
_SMALLER_ORDERS = 30
#: A line loses twice this power of e at the negative of what it was planned for.
_LOW = 3.0

_ZERO, _ONE = Fraction(0), Fraction(1)
_NO_ANSWER = Enclosure(_ZERO, math.inf, "contour")


class ContourProfile(Profile):
    """Profile of a product of pairs, all run ``repeat`` times.

    One of them at least has moments that decay along vertical lines. ``infinite`` is the mass of
    infinite loss of it all, ``max_work`` bounds the multiplications of one evaluation.
    """

    method = "contour"
    shares = True
    fall = 40.0

    def __init__(
        self,
        factors: Iterable[tuple[Pair, int]],
        infinite: InfiniteLoss,
        max_work: int = MAX_WORK,
    ) -> None:
        self.product = Product(factors)
        #: The last line of each product, which mostly tells its reverse at the same epsilon too.
        self.lines: dict[Product, Contour] = {}
        #: Whether fewer digits are tried where those asked for are too much work.
        self.patient = True
        self.infinite = infinite
        self.max_work = max_work
        self.repeat = 1

    def varied(
        self, max_work: int | None = None, repeat: int = 1, patient: bool = True
    ) -> ContourProfile:
        """The same, which shares what is found of the product, with another bound on work.

        Or all of it ``repeat`` times as often; not ``patient``, it gives up where the work is not
        enough for all digits.
        """
        other = copy(self)
        other.max_work = self.max_work if max_work is None else max_work
        other.repeat, other.patient = self.repeat * repeat, patient
        other.infinite = InfiniteLoss(tuple((mass, n * repeat) for mass, n in self.infinite.masses))
        return other

    def planned(self, ends: Sequence[Query], digits: float) -> Plan:
        """A plan of one line for all of them, as much work as a line for each."""
        return planned([(self.product, end) for end in ends], digits, len(ends) * self.max_work)

    def line(self, plan: Plan) -> Contour:
        """What the plan says, at its precision."""
        self.lines[self.product] = found = Contour(self.product, plan)
        return found

    def bounded_alone(self) -> bool:
        """Whether lines have bounds of others, which are its own from now on. Proposes: bounds."""
        return False

    # --- the questions ----------------------------------------------------------------------------

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known = told_again(self, self.lines.get(self.product), [epsilon], digits).get(epsilon)
        return known or guarded(lambda: self.solved_delta(epsilon, digits), self.total_variation)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        most = self.total_variation
        if balls.at_most(most, delta):
            return Enclosure.exact(_ZERO, most.method)
        return guarded(lambda: self.solved_epsilon(delta, digits), _NO_ANSWER)

    def largest_loss(self, digits: int) -> Enclosure:
        return self.product.largest(self.repeat, digits, f"{self.method}: largest loss")

    # --- many points ------------------------------------------------------------------------------

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        found = told_again(self, self.lines.get(self.product), epsilons, digits)
        left = [at for at in epsilons if at not in found]
        found |= shared_deltas(self, left, digits) if len(left) > 1 else {}
        for at in asked_alone(epsilons, found, digits, self.patient):
            found[at] = self.delta(at, digits)
        return [found.get(at) or self.total_variation for at in epsilons]

    def epsilons(self, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
        found = epsilons_together(self, self.epsilon, deltas, digits, self.patient)
        for at in asked_alone(deltas, found, 0, self.patient):
            found[at] = self.epsilon(at, digits)
        return [found.get(at, _NO_ANSWER) for at in deltas]

    # --- delta ------------------------------------------------------------------------------------

    def solved_delta(self, epsilon: Real, digits: int) -> Enclosure:
        """Delta by lines of rising accuracy, or the best that was reached.

        Raises:
            ArithmeticError, ValueError: floats do not reach to begin.
        """
        with precision(COARSE_BITS + 4 * digits):
            if self.product.never_exceeds(ball(epsilon), self.repeat):
                lost = 1 - self.product.mass(self.repeat)
                return balls.to_enclosure(lost, "no larger finite loss").within(_ZERO, _ONE)
        query, margin, spent = Query(approximate(epsilon), self.repeat), 0.0, 0
        best = self.near_one(epsilon, digits)
        reason = "the bounds did not shrink as expected"
        try:
            for _ in range(_MOST_PASSES):
                # proposes: when to stop; the digits of an answer are counted from its exact ends
                if best.digits >= digits or spent > self._worth(best):
                    break
                # proposes: which line; any gives an enclosure
                plan = self.planned([query], digits + margin)
                best = best.meet(self.on_line(plan, epsilon))
                spent += plan.work
                if best.lower > 0:
                    log = log_of(Fraction(best.lower))
                    query, met = query._replace(log_delta=log), (log - plan.level) / math.log(10)
                    margin = max(margin + 1, met - best.digits)  # what was misjudged misses once
                else:  # nothing was gained: ask for much more at once
                    margin += margin + digits + 1
            else:
                best = best.meet(self.chernoff_delta(epsilon))
        except TooExpensive as cause:
            reason = str(cause)
            # proposes: whether bounds are worth it; after a line none tells more
            if self.patient and not (spent and best.lower > 0):
                best = self._affordable(epsilon, digits, best)
        return best if best.digits >= digits else best.short(reason)

    def _worth(self, best: Enclosure) -> int:
        """The work allowed: less for what no bound keeps from being nothing. Proposes: how much."""
        return self.max_work // (_SHARE if best.lower == 0 and best.upper < FAINT else 1)

    def on_line(self, plan: Plan, epsilon: Real) -> Enclosure:
        """Delta from one line, however wide."""
        (found,) = on_line(self, plan, [epsilon])
        return found

    def _affordable(self, epsilon: Real, digits: int, best: Enclosure) -> Enclosure:
        """What the allowed work gives when the digits asked for are out of reach."""
        query = Query(approximate(epsilon), self.repeat)
        order = self.product.chernoff(query.epsilon, self.repeat)[0]
        # proposes: orders; moments of large ones may be out of reach, of the work or of floats
        for part in _SMALLER:
            with suppress(ArithmeticError, ValueError):
                best = best.meet(self.chernoff_delta(epsilon, part * order))
        with suppress(ArithmeticError, ValueError):
            plan = affordable(self.product, query, digits, self._worth(best))
            best = best.meet(self.on_line(plan, epsilon))
        return best

    # --- epsilon ----------------------------------------------------------------------------------

    def solved_epsilon(self, delta: Real, digits: int) -> Enclosure:
        """Epsilon to ``digits``, or the best that was reached.

        Raises:
            ArithmeticError, ValueError: floats do not reach to begin.
        """
        log_delta = self.log_delta(delta)
        near = self.product.epsilon(log_delta, self.repeat)
        # proposes: whether to look at 0 first; balls decide what is met there
        if near <= 0:
            if (at_zero := self._at_zero(delta, digits)) is not None:
                return at_zero
            high = float(self.chernoff_epsilon(delta).upper)
            near = self._searched(delta, high, high / 2)
        start = self.beside(log_delta, near)
        best: Enclosure | None = None
        reason = "the bounds did not shrink as expected"
        goal, margin, led = float(digits), 0.0, False
        for attempt in range(2 * ATTEMPTS):
            try:
                if attempt == 1 + led:
                    with suppress(TooExpensive):
                        # proposes: where to begin
                        start = self._searched(delta, 2 * near, self._reversed(log_delta, near))
                query = Query(start, self.repeat, log_delta)
                wanted = digits_of_delta(self.product, query, goal) + margin
                plan = self.planned([query], wanted)
                with precision(plan.bits):
                    asked = self.line(plan), [ball(delta)], self.repeat, [arb(start)]
                    ((best, root),) = solved(*asked, 10.0**-goal)
            except TooExpensive as cause:
                reason = str(cause)
                if not self.patient:
                    break
                goal, margin = max(1.0, goal / 2), 0.0
                continue
            if best is not None:
                break
            margin = 2 * margin + 2
            # proposes: whether the line that was too coarse showed where to look
            if not attempt and 0 < abs(root - start) < _NEAR_BY * start:
                start, led = root, True
                continue
            at_zero = self._at_zero(delta, _COARSE_DIGITS) if attempt == led else None
            # proposes: whether to look at 0; balls decide what is met there
            if at_zero is not None and at_zero.upper == 0:
                return at_zero
        # proposes: whether to give a reason; the bracket is certified for any goal
        if best is not None and goal == digits:
            return best.labelled(self.method)
        return (best or self.chernoff_epsilon(delta)).short(reason)

    def _at_zero(self, delta: Real, digits: int) -> Enclosure | None:
        """Epsilon if it is 0, or next to it; None where delta at 0 is above the target."""
        at_zero = self.solved_delta(rational(0), digits)
        if balls.at_most(at_zero, delta):
            return Enclosure.exact(_ZERO, self.method)
        with precision(COARSE_BITS + 4 * digits):
            if not ball(Fraction(at_zero.lower)) > ball(delta):
                reason = "epsilon is too close to zero to be told from it"
                return self.chernoff_epsilon(delta).short(reason)
        return None

    def beside(self, log_delta: float, near: float) -> float:
        """Proposes: where to begin in place of a saddle point that misleads."""
        misled = near > 0 and self.product.misleads(near, self.repeat)
        return self._reversed(log_delta, near) if misled else near

    def _reversed(self, log_delta: float, near: float) -> float:
        """Proposes: where to begin; of the losses of the reverse none may be large."""
        return min(self.product.reverse.epsilon(log_delta, self.repeat), near) or near

    def lost(self) -> arb:
        """The mass of infinite loss of all pairs. Proposes: bounds ask the product itself."""
        return 1 - self.product.mass(self.repeat)

    def log_delta(self, delta: Real) -> float:
        """The logarithm of what delta leaves to the finite losses."""
        with precision(COARSE_BITS):
            above = ball(delta) - self.lost()
            # proposes: whether a contour is tried; without one the trivial bounds are left
            if not above > 0:
                raise ValueError("delta must exceed the mass at infinity")
            return float(above.mid().log().mid())

    def _searched(self, delta: Real, high: float, at: float) -> float:
        """About epsilon, on coarse lines planned for the target: where the saddle point misleads.

        Proposes: a point, around which the caller certifies a bracket.
        """
        if not math.isfinite(high):
            raise TooExpensive("nothing bounds epsilon from above")
        log_delta, low = self.log_delta(delta), 0.0
        for _ in range(_BISECTIONS):
            query = Query(at, self.repeat, log_delta)
            plan = planned([(self.product, query)], _COARSE_DIGITS, self.max_work // _SHARE)
            with precision(plan.bits):
                line, target, found = Contour(self.product, plan), ball(delta), at
                for _ in range(_STEPS):
                    before = found
                    (following,) = line.newton([arb(before)], self.repeat, [target])
                    # far below the target delta drowns in what a line planned for it leaves out
                    found = -math.inf if following is None else float(following)
                    if abs(found - before) < _CLOSE * before:
                        return found
                    if not abs(found - at) < _NEAR_BY * at:
                        break
            low, high = (at, high) if found > at else (low, at)
            at = found if low < found < high else (low + high) / 2
        return at

    # --- bounds without a line --------------------------------------------------------------------

    @property
    def total_variation(self) -> Enclosure:
        """Zero below, and above ``1 - prod overlap_i``, a bound on delta at every epsilon >= 0."""
        with precision(COARSE_BITS):
            apart = 1 - (least_overlap(self.product.factors) ** self.repeat).lower()
            bound = balls.to_enclosure(apart).upper if apart.is_finite() else _ONE
        return Enclosure(_ZERO, min(bound, _ONE), "total variation bound")

    def chernoff_delta(
        self, epsilon: Real, order: float | None = None, accuracy: float = _COARSE_ACCURACY
    ) -> Enclosure:
        """Zero below, and above ``P(Z = inf) + K(b) M(b) e^{-b eps}``, best or not."""
        # proposes: the order, since any is valid
        b = order or self.product.chernoff(approximate(epsilon), self.repeat)[0]
        with precision(COARSE_BITS):
            moment = self.product.moment(b, accuracy, self.repeat)
            beyond = chernoff_constant(arb(b)) * moment * (-arb(b) * ball(epsilon)).exp()
            bound = balls.to_enclosure(1 - self.product.mass(self.repeat) + beyond).upper
        return Enclosure(_ZERO, min(bound, _ONE), "Chernoff bound")

    @np.errstate(all="ignore")
    def is_below(self, epsilon: Real, level: Real) -> bool:
        """Whether a bound that costs little proves that delta is at most ``level``.

        Chernoff's, if floats say that it may; else the last line of the reverse.
        """
        with precision(COARSE_BITS):
            if self.product.never_exceeds(ball(epsilon), self.repeat):
                return bool(self.infinite.ball() <= ball(level))
        at = approximate(epsilon)
        order, log = self.product.chernoff(at, self.repeat)
        # proposes: which bound is worth its price
        if log > balls.approximate_log(level):
            return self.is_below_reversed(epsilon, level)
        with suppress(ArithmeticError, ValueError):
            order = self.product.shared(order, at, self.repeat)
            return balls.at_most(self.chernoff_delta(epsilon, order, _GLANCE), level)
        return False

    def is_below_reversed(self, epsilon: Real, level: Real) -> bool:
        """Likewise by the last line of the reverse, where that is low enough."""
        line = self.lines.get(self.product.reverse)
        # proposes: whether it is worth its price
        if line is None or line.plan.abscissa * approximate(epsilon) > _LOW:
            return False
        with suppress(ArithmeticError, ValueError), precision(line.plan.bits):
            return bool(line.reversed(ball(epsilon), self.repeat) <= ball(level))
        return False

    def near_one(self, epsilon: Real, digits: int) -> Enclosure:
        """One above, and below ``1 - e^{eps/2} M(-1/2)``, from ``min(1, y) <= sqrt(y)``."""
        # proposes: whether a second lower bound is worth its price; both are proved
        if not self.product.saddle(approximate(epsilon), self.repeat)[1] > _NEARLY_ONE:
            return Enclosure(_ZERO, _ONE, self.method)
        with precision(COARSE_BITS + 4 * digits):
            moment = self.product.moment(-0.5, _COARSE_ACCURACY, self.repeat)
            bound = balls.to_enclosure(1 - (ball(epsilon) / 2).exp() * moment)
        return Enclosure(max(bound.lower, _ZERO), _ONE, "Bhattacharyya bound")

    def chernoff_epsilon(self, delta: Real, accuracy: float = _COARSE_ACCURACY) -> Enclosure:
        """Zero below, and above ``[log M(b) + log K(b) - log(delta - P(Z = inf))] / b``."""
        near = self.product.epsilon(self.log_delta(delta), self.repeat)
        best = self.product.shared(self.product.chernoff(near, self.repeat)[0], near, self.repeat)
        for smaller in range(_SMALLER_ORDERS):
            b = math.ldexp(best, -smaller)
            try:
                with precision(COARSE_BITS):
                    excess = ball(delta) - (1 - self.product.mass(self.repeat))
                    log = log_chernoff(arb(b)) - excess.log()
                    for pair, n in self.product.factors:
                        log += n * self.repeat * pair.moment(b, accuracy).log()
                    upper = balls.to_enclosure(log / arb(b)).upper
            except TooExpensive:
                continue
            if upper < math.inf:
                return Enclosure(_ZERO, max(upper, _ZERO), "Rényi bound")
        return _NO_ANSWER
