r"""The trade-off function of laws whose tests are known: each test bounds it from both sides.

With ``D`` and ``g`` of :mod:`dpexact.accounting.dual`, a test of outcomes gives for all ``x``

.. math:: D(x) \ge p - x q, \qquad\text{so}\qquad g(x) \le 1 - p + x (q - \alpha),

and below 1, where ``D(x) = 1 - x + x D'(1/x)``, ``g(x) <= q' + x (1 - p' - \alpha)``. Two such
lines, of which one rises and one falls, bound the maximum by their crossing, where the next test is
looked for (Kelley 1960). Of a law with atoms the crossing is a kink after finitely many tests.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Final, NamedTuple, TypeAlias

from flint import arb

from dpexact import balls
from dpexact.accounting.profile import Fallback, InfiniteLoss, Profile, WorseDirection
from dpexact.accounting.tangents import Tangent, TangentProfile
from dpexact.enclosure import Enclosure

Tests: TypeAlias = Callable[[arb], Tangent]

_ONE: Final = Fraction(1)
_ROUNDS: Final = 200


class _Line(NamedTuple):
    """``start + slope x``."""

    start: arb
    slope: arb


def tests_of(profile: Profile) -> tuple[Tests, int] | None:
    """A test near the best at each ``epsilon``, and the bits its evaluation loses, if known."""
    match profile:
        case TangentProfile():
            return profile.test, profile.lost_bits
        case Fallback():
            return tests_of(profile.first)
        case WorseDirection():
            one, other = tests_of(profile.remove), tests_of(profile.add)
            if one is None or other is None:
                return None
            return lambda epsilon: _larger(epsilon, one[0], other[0]), max(one[1], other[1])
    return None


def _larger(epsilon: arb, one: Tests, other: Tests) -> Tangent:
    """Of two tests the better one, which is a test of the larger profile."""
    level = epsilon.exp()
    # proposes: which is the better one; what the other may exceed it by is doubt
    first, second = sorted((one(epsilon), other(epsilon)), key=lambda t: (t.p - level * t.q).mid())
    better = second.p - level * second.q
    missed = (first.p - level * first.q + first.doubt - better).max(second.doubt)
    return Tangent(second.p, second.q, missed.max(arb(0)).upper())


def supported(
    forward: Profile, reverse: Profile, alpha: Enclosure, digits: int, name: str
) -> Enclosure | None:
    """Enclose ``f(alpha)``, ``0 < alpha < 1``, as narrow as tests make it; None without tests.

    ``reverse`` is the profile of the laws exchanged.

    Raises:
        Contradiction: a value of a test is above the lines of others.
    """
    known, back = tests_of(forward), tests_of(reverse)
    if known is None or back is None:
        return None
    lost = reverse.infinite.fraction
    if lost is not None and _ONE - lost <= alpha.lower:
        return Enclosure.exact(Fraction(0), name)
    bits = balls.bits_for(digits + 6) + max(known[1], back[1])
    last = balls.CAP_FACTOR * bits + balls.CAP_EXTRA
    search = _Search(known[0], back[0], reverse.infinite, alpha)
    best = Enclosure(Fraction(0), _ONE - Fraction(alpha.lower), name)
    # proposes: the precision, any of which will do
    while bits <= last and best.digits < digits:
        with balls.precision(bits):
            search.narrow(arb(10) ** -(digits + 1))
            low, high = (
                balls.to_enclosure(end.max(arb(0))) for end in (search.floor, search.ceiling())
            )
            best = best.meet(Enclosure.bracket(low.lower, high.upper, name)).labelled(name)
        bits *= 2
    return best.short("no supporting lines were close enough")


class _Search:
    """The last line that rises and the last that falls, and the largest value of ``g`` so far."""

    def __init__(
        self, forward: Tests, reverse: Tests, lost: InfiniteLoss, alpha: Enclosure
    ) -> None:
        self.forward = forward
        self.reverse = reverse
        self.lost = lost
        self.level = alpha
        self.places: list[arb] = []
        self.floor = arb(0)

    def narrow(self, relative: arb) -> None:
        """Tests at the crossings until they bound the maximum closely, or no longer help."""
        self.alpha = balls.ball(self.level.lower).union(balls.ball(self.level.upper))
        # the tests of infinite losses alone, and of nothing
        self.left = _Line(arb(0), 1 - self.lost.ball() - self.alpha)
        self.right = _Line(arb(1), -self.alpha)
        known, places = arb("inf"), self.places
        for place in places:
            self.replace_at(place)
        for _ in range(_ROUNDS):
            top = self.ceiling()
            # proposes: when to stop
            if top <= self.floor * (1 + relative) or not top < known:
                return
            known = top
            self.replace_at(self.crossing())

    def replace_at(self, x: arb) -> None:
        """The line at ``x`` in place of the one that turns the same way."""
        line = self.line_at(x)
        self.places = [*self.places[-1:], x]
        # proposes: which line it replaces
        if line.slope.mid() > 0:
            self.left = line
        else:
            self.right = line

    def crossing(self) -> arb:
        # proposes: where the next test is looked for
        here = ((self.right.start - self.left.start) / (self.left.slope - self.right.slope)).mid()
        # proposes: likewise
        return here if here > 0 else arb(1)

    def line_at(self, x: arb) -> _Line:
        """A line above ``g`` that almost touches it at ``x``; there ``floor`` is raised."""
        point = x.log().mid()
        x = point.exp()
        # proposes: in which of its two forms D is asked for, which agree
        if point >= 0:
            p, q, doubt = self.forward(point)
            line = _Line(1 - p, q - self.alpha)
        else:
            p, q, doubt = self.reverse(-point)
            line, doubt = _Line(q, 1 - p - self.alpha), doubt * x
        value = (line.start + line.slope * x - doubt).lower()
        # proposes: which lower bound is kept
        self.floor = self.floor.max(value) if value.is_finite() else self.floor
        return line

    def ceiling(self) -> arb:
        """An upper bound of ``g``, which is negative beyond ``1/alpha``: a mean of both lines."""
        # proposes: the weights of the mean, of which any will do
        level = (-self.right.slope / (self.left.slope - self.right.slope)).mid()
        bounds = (self._mean(share) for share in (arb(0), arb(1), level.max(arb(0)).min(arb(1))))
        return reduce(arb.min, (bound for bound in bounds if bound.is_finite()), arb(1))

    def _mean(self, share: arb) -> arb:
        start = share * self.left.start + (1 - share) * self.right.start
        rise = (share * self.left.slope + (1 - share) * self.right.slope).max(arb(0)).upper()
        lowest = self.alpha.lower()
        if rise > 0:
            start = start + rise / lowest if lowest > 0 else arb("inf")
        return start.upper()
