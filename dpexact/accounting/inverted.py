"""Profiles whose ``epsilon`` comes from certified inversion of ``delta``, which decreases strictly.

The secant search only proposes points. The answer is ``[low, high]`` with
``delta(low) >= target >= delta(high)``, both certified, hence it contains the smallest ``epsilon``.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Sequence
from decimal import ROUND_FLOOR
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.pairs.pair import reached
from dpexact.accounting.profile import Profile
from dpexact.decimals import format_decimal
from dpexact.enclosure import Enclosure
from dpexact.exactness import exact_ratio
from dpexact.kept import cached_property
from dpexact.reals import Real, rational
from dpexact.ternary import Order, Ternary

ZERO: Final = Fraction(0)
ONE: Final = Fraction(1)
_MAX_DOUBLINGS: Final = 4096
_FAR_BELOW: Final = Fraction(-100)
_COARSE_BITS: Final = 64

DeltaAt = Callable[[Real, int], Enclosure]
"""``delta_at(epsilon, digits)``: an enclosure of ``delta(epsilon)``."""


def enclose_largest(find: Callable[[], arb | None], digits: int, method: str) -> Enclosure:
    """Enclose the supremum of the finite losses, at least 0; infinite where none is found."""

    def bound() -> arb:
        found = find()
        return arb("inf") if found is None else found.max(arb(0))

    with balls.precision(balls.bits_for(digits)):
        if find() is None:
            return Enclosure.exact(math.inf, method)
    return balls.certify(bound, digits, lowest=ZERO, method=method)


def invert(
    delta_at: DeltaAt,
    target: Real,
    digits: int,
    method: str,
    start: Fraction = ONE,
    limit: Fraction = ZERO,
) -> Enclosure:
    """Enclose the smallest ``epsilon >= 0`` with ``delta(epsilon) <= target``.

    ``start > 0`` is where the search begins: near the answer it saves evaluations. The
    search steers by what ``delta`` exceeds ``limit``, about where it ends.

    ``delta_at`` must enclose a continuous function that decreases strictly, while positive, to a
    limit below ``target``. Where it cannot be told apart from ``target`` the bracket stays wide.
    """
    search = _Search(delta_at, target, digits, limit)
    if search.side(ZERO) in (Order.ABOVE, Order.EQUAL):
        return Enclosure.exact(ZERO, method)
    reason = search.bracket(start) or search.narrow()
    return Enclosure.bracket(search.low, search.high, method, reason)


def undecided(epsilon: Fraction) -> str:
    """Why a search ends at ``epsilon``."""
    point = format_decimal(epsilon, 6, ROUND_FLOOR)
    return f"delta({point}) cannot be told apart from the target"


class _Search:
    """Keeps ``delta(low) >= target >= delta(high)``, certified.

    Its steps return what ended them early, or no text.
    """

    low: Fraction = ZERO
    high: Fraction | float = math.inf

    def __init__(self, delta_at: DeltaAt, target: Real, digits: int, limit: Fraction) -> None:
        self.delta_at = delta_at
        self.digits = digits
        self.limit = limit
        self.shared: int = _shared_digits(target, limit)
        self.target: Enclosure = balls.enclosed(target, 2 * digits + 20 + self.shared, ZERO)

    def side(self, epsilon: Fraction) -> Order:
        """How the target stands to ``delta(epsilon)``; moves the bracket.

        Proposes: the digits asked for; enclosures of any width decide only what is certain.
        """
        if 0 < epsilon <= self.low:
            return Order.BELOW
        digits, short = self.known + 2 + self.shared, False
        while self.high > epsilon and digits <= 8 * self.digits + 64 + self.shared:
            found = self.delta_at(rational(epsilon), digits)
            order = self.note(epsilon, found)
            if order is not Order.UNDECIDED:
                return order
            if found.digits < digits and short:  # twice: more cannot be had of it
                break
            short, digits = found.digits < digits, 2 * digits
        return Order.ABOVE if epsilon >= self.high else Order.UNDECIDED

    def note(self, epsilon: Fraction, found: Enclosure) -> Order:
        """How the target stands to ``found``, which is ``delta(epsilon)``; moves the bracket."""
        above = self.target.at_most(found) is Ternary.HOLDS
        if found.at_most(self.target) is Ternary.HOLDS:
            self.high = min(self.high, epsilon)
            return Order.EQUAL if above else Order.ABOVE
        if above:
            self.low = max(self.low, epsilon)
            return Order.BELOW
        return Order.UNDECIDED

    @property
    def known(self) -> int:
        """About the digits that the bracket has; chooses how precisely is asked."""
        if self.high == math.inf:
            return 0
        width = Fraction(self.high) - self.low
        ratio = Fraction(self.high) / width if width else ONE
        bits = ratio.numerator.bit_length() - ratio.denominator.bit_length()
        return math.floor(bits * math.log10(2))

    def bracket(self, point: Fraction) -> str:
        """Find ``low`` and ``high`` a factor 2 apart, starting from ``point``."""
        side = self.side(point)
        step = Fraction(2) if side is Order.BELOW else Fraction(1, 2)
        for _ in range(_MAX_DOUBLINGS):
            if side is Order.UNDECIDED:
                return undecided(point)
            if self.low > 0 and self.high < math.inf:
                return ""
            point *= step
            side = self.side(point)
        return f"epsilon lies beyond 2^(+-{_MAX_DOUBLINGS})"

    def narrow(self) -> str:
        """Shrink the bracket to the requested relative width by safeguarded secant steps.

        Proposals are worthless where delta hardly changes; then every fourth step halves.
        """
        x0, x1 = self.low, Fraction(self.high)
        g0, g1 = self.gap(x0), self.gap(x1)
        width = Fraction(self.high) - self.low
        for step in range(32 + 16 * self.digits):
            tolerance = Fraction(self.high) / 10 ** (self.digits + 1)
            if self.high - self.low <= tolerance:
                return ""
            # proposes: the next point; `side` certifies where it lies
            guess = x1 - g1 * (x1 - x0) / (g1 - g0) if g1 != g0 else self.low
            stalled = False
            if step % 4 == 3:
                before, width = width, Fraction(self.high) - self.low
                stalled = 2 * width > before
            # proposes: likewise, a point inside rather than outside
            if stalled or not self.low < guess < self.high:
                guess = (self.low + Fraction(self.high)) / 2
            guess = self.rounded(guess)
            x0, g0, x1, g1 = x1, g1, guess, self.gap(guess)
            ends = [x1 - tolerance / 3, x1 + tolerance / 3]
            # proposes: whether to ask there or on both sides; `side` certifies either
            if abs(x1 - x0) > tolerance and self.side(x1) is not Order.UNDECIDED:
                continue
            if Order.UNDECIDED in [self.side(end) for end in ends]:
                return undecided(x1)
        return "the search did not converge"

    def gap(self, epsilon: Fraction) -> Fraction:
        """About ``log(delta(epsilon)/target)``, for the proposals only.

        A secant step at most doubles the digits that the bracket has, so it needs no more.
        """
        wanted = min(2 * self.known + 6, self.digits + 6) + self.shared
        found = self.delta_at(rational(epsilon), wanted)
        self.note(epsilon, found)
        if found.upper <= 0 or self.target.upper <= 0:  # beyond the largest loss
            return _FAR_BELOW
        with balls.precision(balls.bits_for(self.digits + 10 + self.shared)):
            above = balls.ball(Fraction(found.upper) - self.limit)
            value = above / balls.ball(Fraction(self.target.upper) - self.limit)
            return balls.midpoint(value.log()) if value > 0 else _FAR_BELOW

    def rounded(self, value: Fraction) -> Fraction:
        """A short fraction close to ``value``, to keep the numbers small."""
        with balls.precision(balls.bits_for(self.digits + 10)):
            return balls.midpoint(balls.ball(value))


def _shared_digits(target: Real, limit: Fraction) -> int:
    """About the digits of ``target`` that are those of ``limit``, and so decide nothing.

    Proposes: with how many more digits to ask.
    """
    if not limit:
        return 0
    with balls.precision(limit.denominator.bit_length()):
        left = 1 - balls.ball(limit) / balls.ball(target)
        return math.ceil(-float(left.log().mid()) / math.log(10)) if 0 < left < 1 else 0


#: Secant steps in balls, and how close to the root the last one is, as a share of the width asked.
_STEPS: Final = 48
_CLOSE: Final = 64


class InvertedProfile(Profile):
    """A profile that decreases strictly from ``eps = 0`` to the largest finite loss.

    ``largest`` is that loss, or ``None`` when the loss is unbounded.
    """

    largest: Real | None

    @property
    def is_smooth(self) -> bool:
        """Proposes: whether epsilon is sooner interpolated between neighbours than searched.

        Only of what is convex in ``e^epsilon``.
        """
        return False

    def values(self, places: Sequence[arb], digits: int, least: Real) -> list[arb]:
        """Delta at each of some exact places, hardly below ``least``; not finite where unknown."""
        found = self.deltas([rational(balls.midpoint(x)) for x in places], digits)
        with balls.precision(balls.bits_for(digits)):
            return [balls.ball(a.lower).union(balls.ball(a.upper)) for a in found]

    def epsilons(self, deltas: Sequence[Real], digits: int) -> list[Enclosure]:
        if not self.is_smooth:
            return super().epsilons(deltas, digits)
        from dpexact.accounting.inverted_many import shared_epsilons

        return shared_epsilons(self, self.values, deltas, digits)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        start, limit = self.near(delta), self.infinite.near(delta)
        return invert(self.delta, delta, digits, self.method, start, limit)

    def near(self, delta: Real) -> Fraction:
        """About ``epsilon(delta)``, positive: where the search starts."""
        return ONE

    def largest_loss(self, digits: int) -> Enclosure:
        largest = self.largest
        if largest is None:
            return super().largest_loss(digits)
        if largest.fraction is not None:
            return Enclosure.exact(max(largest.fraction, ZERO), self.method)
        # it is negative where all that stays finite is less likely under P
        return balls.certify(lambda: balls.ball(largest).max(arb(0)), digits, method=self.method)

    def only_infinite(self, epsilon: Real, digits: int) -> Enclosure | None:
        """``delta(epsilon)`` when no finite loss exceeds ``epsilon``, else ``None``."""
        if self.largest is None:
            return None
        with balls.precision(_COARSE_BITS):
            above = balls.ball(epsilon) - self._coarse_largest
        # most points are plainly on one side of it
        if above < 0 or not (above >= 0 or _at_least(epsilon, self.largest)):
            return None
        return self.infinite.enclose(digits, self.method)

    @cached_property
    def _coarse_largest(self) -> arb:
        """The largest loss, of few bits."""
        assert self.largest is not None
        return balls.ball(self.largest)


class BallProfile(InvertedProfile):
    """A profile whose finite part is a ball at every real ``epsilon``.

    ``lost_bits`` are those that its evaluation loses, ``slope_bits`` those more of epsilon;
    ``cap`` may limit the precision.
    """

    lost_bits: int = 0
    slope_bits: int = 16
    cap: int | None = None

    @abstractmethod
    def finite_ball(self, epsilon: arb) -> arb:
        """``delta`` of what has finite loss, at the current precision."""

    def lost_at(self, delta: Real) -> int:
        """The bits that are lost where its value is about ``delta``."""
        return self.lost_bits

    def delta_ball(self, epsilon: arb) -> arb:
        """``delta(epsilon)`` at the current precision."""
        lost = self.infinite.ball()
        return lost + (1 - lost) * self.finite_ball(epsilon)

    def values(self, places: Sequence[arb], digits: int, least: Real) -> list[arb]:
        with balls.precision(balls.bits_for(digits) + self.lost_at(least)):
            return self.delta_balls(places)

    def delta_balls(self, epsilons: Sequence[arb]) -> list[arb]:
        """:meth:`delta_ball` at many points, which may share work; not finite where unknown."""
        return [reached(self.delta_ball, x) for x in epsilons]

    def lower_ball(self, epsilon: arb) -> arb:
        """About :meth:`delta_ball` and at most that, where less work gives it."""
        return self.delta_ball(epsilon)

    def known(self, epsilon: Real, digits: int) -> Enclosure | None:
        """``delta(epsilon)`` where no ball is asked for it."""
        return self.only_infinite(epsilon, digits)

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        found = {at: self.known(at, digits) for at in epsilons}
        rest = [at for at, answer in found.items() if answer is None]
        if len(rest) > 1:
            between = Enclosure(ZERO, ONE, self.method)
            ask = digits, between, self.lost_bits, self.cap
            more = balls.certify_each(lambda x: self.delta_balls([*map(balls.ball, x)]), rest, *ask)
            # of whom nothing is known is asked alone, where there may be other ways
            found |= {at: a for at, a in zip(rest, more, strict=True) if a != between}
        return [found[at] or self.delta(at, digits) for at in epsilons]

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known = self.known(epsilon, digits)
        if known is not None:
            return known
        return balls.certify(
            lambda: self.delta_ball(balls.ball(epsilon)),
            digits,
            lowest=ZERO,
            highest=ONE,
            method=self.method,
            lost_bits=self.lost_bits,
            cap=self.cap,
        )

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        found = self._bracket(delta, digits) if self.largest is None else None
        return found or super()._epsilon(delta, digits)

    def _bracket(self, delta: Real, digits: int) -> Enclosure | None:
        """Between points on both sides of where secant steps on ``log delta`` lead, if they do.

        Delta does not increase, so it is enough that it is above the target at the left one.
        """
        finer = digits + 1  # secants converge so fast that one digit more costs nothing
        with balls.precision(balls.bits_for(finer) + self.lost_at(delta) + self.slope_bits):
            target, width = balls.ball(delta), arb(10) ** -finer
            share = target - self.infinite.ball()

            def gap(at: arb) -> arb:
                return ((self.lower_ball(at) - target) / share).log1p().mid()

            # proposes: a point, on both sides of which balls decide
            low, high = arb(0), arb("inf")
            before, at = low, balls.ball(self.near(delta)).mid()
            last = gap(before)
            # proposes: when to leave it to another search
            if not last > 0:
                return None
            for _ in range(_STEPS):
                value = gap(at)
                low, high = (at, high) if value > 0 else (low, at)
                step = value * (at - before) / (last - value)
                following = (at + step).mid()
                # proposes: likewise
                if not low < following < high:
                    # proposes: likewise
                    following = (low + high) / 2 if high.is_finite() else 2 * at
                before, last, step, at = at, value, following - at, following.mid()
                # proposes: when to stop
                if abs(step) <= width * at / _CLOSE:
                    break
            return self._beside(at, target, width / 8)

    def _beside(self, at: arb, target: arb, share: arb) -> Enclosure | None:
        """Between points on both sides, if delta is certainly above the target at the left one."""
        left, right = ((at * (1 + side * share)).mid() for side in (-1, 1))
        if self.lower_ball(left) > target > self.delta_ball(right):
            return balls.to_enclosure(left.union(right), self.method)
        return None


def _at_least(a: Real, b: Real) -> bool:
    """Whether ``a >= b`` is certain."""
    if a == b:
        return True
    ratio = exact_ratio(a, b)
    if ratio is not None and balls.order(b, rational(0)) is Order.ABOVE:
        return ratio >= 1
    return balls.order(a, b) in (Order.ABOVE, Order.EQUAL)
