r"""The trade-off function of laws whose tests are known: each test bounds it from both sides.

With ``D`` and ``g`` of :mod:`~dpexact.accounting.levels.dual` a test of outcomes gives for all
``x``

.. math:: D(x) \ge p - x q, \qquad\text{so}\qquad g(x) \le 1 - p + x (q - \alpha),

and below 1, where ``D(x) = 1 - x + x D'(1/x)``, ``g(x) <= q' + x (1 - p' - \alpha)``. Two such
lines, of which one rises and one falls, bound the maximum by their crossing, where the next test is
looked for (Kelley 1960). Of a law with atoms the crossing is a kink after finitely many tests.
"""

from __future__ import annotations

from bisect import bisect, insort
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from typing import Final, NamedTuple, TypeAlias

from flint import arb

from dpexact import balls
from dpexact.accounting.engines.tangents import Tangent, TangentProfile
from dpexact.accounting.profile import Fallback, InfiniteLoss, Profile
from dpexact.accounting.reflection import WorseDirection
from dpexact.enclosure import Enclosure

Tests: TypeAlias = Callable[[arb], Tangent]

_ONE: Final = Fraction(1)
_ROUNDS: Final = 200


class _Line(NamedTuple):
    """``start + (share - alpha) x``, above ``g`` at every level; at ``x`` it exceeds it by

    ``doubt`` at most.
    """

    start: arb
    share: arb
    x: arb
    doubt: arb


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
    forward: Profile, reverse: Profile, alphas: Sequence[Enclosure], digits: int, name: str
) -> list[Enclosure]:
    """Enclose ``f(alpha)``, ``0 < alpha < 1``, as narrow as tests make it; nothing without tests.

    ``reverse`` is the profile of the laws exchanged. A test serves all levels.

    Raises:
        Contradiction: a value of a test is above the lines of others.
    """
    known, back = tests_of(forward), tests_of(reverse)
    if known is None or back is None:
        return []
    lines = _Lines(known[0], back[0], reverse.infinite)
    bits = balls.bits_for(digits + 6) + max(known[1], back[1])
    return [_supported(lines, alpha, digits, bits, name) for alpha in alphas]


def _supported(lines: _Lines, alpha: Enclosure, digits: int, bits: int, name: str) -> Enclosure:
    last = balls.CAP_FACTOR * bits + balls.CAP_EXTRA
    search = _Search(lines, alpha)
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


class _Lines:
    """Lines of tests, kept for the levels that follow while the precision stays."""

    def __init__(self, forward: Tests, reverse: Tests, lost: InfiniteLoss) -> None:
        self.forward = forward
        self.reverse = reverse
        self.lost = lost
        self._bits = 0
        self._kept: list[_Line] = []
        self._crossings: dict[tuple[int, int], _Line] = {}

    def refresh(self) -> None:
        """At another precision begin anew, by the tests of infinite losses alone and of nothing.

        Lines are kept in the order of their slopes.
        """
        if self._bits != balls.current():
            self._bits, zero, nowhere = balls.current(), arb(0), arb("inf")
            self._kept = [_Line(arb(1), zero, zero, nowhere)]
            self._kept += [_Line(zero, 1 - self.lost.ball(), zero, nowhere)]
            self._crossings = {}

    def beside(self, alpha: arb) -> tuple[_Line, _Line]:
        """Of what is kept the last line that rises, and the first that falls.

        Proposes: where a search begins.
        """
        place = bisect(self._kept, float(alpha.mid()), key=lambda line: float(line.share.mid()))
        place = max(1, min(place, len(self._kept) - 1))
        return self._kept[place], self._kept[place - 1]

    def between(self, left: _Line, right: _Line) -> _Line:
        """The line at the crossing of two, whatever the level."""
        pair = id(left), id(right)
        if pair not in self._crossings:
            # proposes: where the next test is looked for
            here = ((right.start - left.start) / (left.share - right.share)).mid()
            # proposes: likewise
            self._crossings[pair] = self.at(here if here > 0 else arb(1))
        return self._crossings[pair]

    def at(self, x: arb) -> _Line:
        """A line above ``g`` that almost touches it at ``x``."""
        point = x.log().mid()
        x = point.exp()
        # proposes: in which of its two forms D is asked for, which agree
        if point >= 0:
            p, q, doubt = self.forward(point)
            line = _Line(1 - p, q, x, doubt)
        else:
            p, q, doubt = self.reverse(-point)
            line = _Line(q, 1 - p, x, doubt * x)
        # proposes: the order of what is kept
        insort(self._kept, line, key=lambda line: float(line.share.mid()))
        return line


class _Search:
    """The last line that rises and the last that falls, and the largest value of ``g`` so far."""

    def __init__(self, lines: _Lines, alpha: Enclosure) -> None:
        self.lines = lines
        self.level = alpha
        self.places: list[arb] = []
        self.floor = arb(0)

    def narrow(self, relative: arb) -> None:
        """Tests at the crossings until they bound the maximum closely, or no longer help."""
        self.alpha = balls.ball(self.level.lower).union(balls.ball(self.level.upper))
        self.lines.refresh()
        for place in self.places:
            self.lines.at(place)
        self.left, self.right = self.lines.beside(self.alpha)
        self.raise_floor(self.left)
        self.raise_floor(self.right)
        known = arb("inf")
        for _ in range(_ROUNDS):
            top = self.ceiling()
            # proposes: when to stop
            if top <= self.floor * (1 + relative) or not top < known:
                return
            known = top
            self.take(self.lines.between(self.left, self.right))

    def take(self, line: _Line) -> None:
        """A line in place of the one that turns the same way."""
        self.places = [*self.places[-1:], line.x]
        self.raise_floor(line)
        # proposes: which line it replaces
        if (line.share - self.alpha).mid() > 0:
            self.left = line
        else:
            self.right = line

    def raise_floor(self, line: _Line) -> None:
        """By the value of ``g`` where the line almost touches it."""
        value = (line.start + (line.share - self.alpha) * line.x - line.doubt).lower()
        # proposes: which lower bound is kept
        self.floor = self.floor.max(value) if value.is_finite() else self.floor

    def ceiling(self) -> arb:
        """An upper bound of ``g``, which is negative beyond ``1/alpha``: a mean of both lines."""
        rise, fall = self.left.share - self.alpha, self.right.share - self.alpha
        # proposes: the weights of the mean, of which any will do
        level = (-fall / (rise - fall)).mid()
        bounds = (self._mean(share) for share in (arb(0), arb(1), level.max(arb(0)).min(arb(1))))
        return reduce(arb.min, (bound for bound in bounds if bound.is_finite()), arb(1))

    def _mean(self, share: arb) -> arb:
        start = share * self.left.start + (1 - share) * self.right.start
        slope = share * self.left.share + (1 - share) * self.right.share - self.alpha
        rise = slope.max(arb(0)).upper()
        lowest = self.alpha.lower()
        if not rise <= 0:  # also where nothing is known of a slope
            start = start + rise / lowest if lowest > 0 else arb("inf")
        return start.upper()
