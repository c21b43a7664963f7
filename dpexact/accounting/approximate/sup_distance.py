r"""How far a central limit is from the truth everywhere: the sup-norm of trade-off functions.

For symmetric trade-off functions ``f``, ``g`` with privacy profiles ``delta_f``, ``delta_g``,

.. math:: \sup_{0 \le \alpha \le 1} |f(\alpha) - g(\alpha)|
          = \sup_{\varepsilon \ge 0} |\delta_f(\varepsilon) - \delta_g(\varepsilon)|,

because conjugation keeps the sup-norm of closed convex functions with the same domain
(``docs/theory/approximations.md``). In ``x = e^eps`` both profiles decrease and are convex. So
between two points a chord lies above ``delta_f`` and the tangents of ``delta_g`` below it; a chord
lies above ``delta_g``, and the chords of the neighbouring pieces of ``delta_f``, extended, below
it. Each bounds the difference on a piece by two lines, with an error of second order; beyond the
last point nothing exceeds the profiles there. The worst piece is halved until the digits are
certain.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final, NamedTuple, TypeAlias

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.engines.closed_form import gaussian_divergence
from dpexact.balls import normal_tail
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

METHOD: Final = "sup-norm of trade-off functions, by privacy profiles"

#: Evaluations of the exact profile before giving up.
_MOST_POINTS: Final = 400
#: The first points are ``x = 1`` and ``x = 1 + 2^j`` for these ``j``.
_FIRST: Final = range(-3, 4)
#: Digits of both profiles beyond those asked for, which their difference may lose: one after the
#: other, until the spacing of the points and not the rounding limits the answer.
_EXTRA: Final = (4, 12, 36)

DeltaAt: TypeAlias = Callable[[Real, int], Enclosure]


def sup_distance(delta_at: DeltaAt, mu: Callable[[], arb], digits: int) -> Enclosure:
    """Enclose ``sup |f - G_mu|`` for a symmetric ``f`` given by its privacy profile.

    Args:
        delta_at: ``delta_at(eps, digits)`` encloses the profile of ``f`` at ``eps >= 0``.
        mu: ``mu > 0`` as a ball function.
        digits: certified significant digits.
    """
    best = Enclosure(Fraction(0), Fraction(1), METHOD)
    for extra in _EXTRA:
        search = _Search(delta_at, mu, digits, digits + extra)
        found = search.run()
        best = best.meet(found)
        if best.digits >= digits:
            return best
        if not search.rounded:
            break
    return best.short("both functions are too close for the points and digits allowed")


class _Point(NamedTuple):
    """Exact bounds of both profiles at ``x = e^eps``; ``-steepest`` bounds the slope of ``g``."""

    x: Fraction
    f_low: Fraction
    f_high: Fraction
    g_low: Fraction
    g_high: Fraction
    steepest: Fraction

    @property
    def least(self) -> Fraction:
        """``|f - g|`` is at least this."""
        return max(self.f_low - self.g_high, self.g_low - self.f_high, Fraction(0))

    @property
    def rounding(self) -> Fraction:
        """What is unknown of the difference here."""
        return self.f_high - self.f_low + self.g_high - self.g_low


class _Search:
    """Points that are added where the bound on the difference is largest.

    ``rounded``: whether what is unknown of the profiles, not the spacing, ended the search.
    """

    def __init__(self, delta_at: DeltaAt, mu: Callable[[], arb], digits: int, working: int) -> None:
        self.delta_at = delta_at
        self.mu = mu
        self.digits = digits
        self.working = working
        self.rounded = False

    def run(self) -> Enclosure:
        points = [self.at(x) for x in (Fraction(1), *(1 + Fraction(2) ** j for j in _FIRST))]
        bounds = [_bound(points, i) for i in range(len(points) - 1)]
        while True:
            low = max(point.least for point in points)
            worst = max(range(len(bounds)), key=bounds.__getitem__)
            high, tail = bounds[worst], max(points[-1].f_high, points[-1].g_high)
            found = Enclosure(Fraction(0), max(high, tail), METHOD)
            found = found.meet(Enclosure(low, Fraction(1), METHOD))
            if found.digits >= self.digits or self.rounded or len(points) == _MOST_POINTS:
                return found
            place = worst + 1
            if tail >= high / 2 and tail - low > tail / 10**self.digits:
                place = len(points)
                self.rounded = points[-1].rounding > (tail - low) / 4
                points.append(self.at(2 * points[-1].x - 1))
            else:
                left, right = points[worst], points[place]
                self.rounded = max(left.rounding, right.rounding) > (high - low) / 4
                points.insert(place, self.at((left.x + right.x) / 2))
            bounds.insert(place - 1, high)
            for i in range(max(0, place - 2), min(len(bounds), place + 2)):
                bounds[i] = _bound(points, i)

    def at(self, x: Fraction) -> _Point:
        """Both profiles at ``x``; the slope of the Gaussian one is ``-Q[loss > eps]``."""
        point = reals.logarithm(reals.rational(x))

        def steepness() -> arb:
            mu = self.mu()
            return normal_tail(balls.ball(point) / mu + mu / 2)

        f = self.delta_at(point, self.working).within(Fraction(0), Fraction(1))
        g = _certified(lambda: gaussian_divergence(self.mu(), balls.ball(point)), self.working)
        slope = _certified(steepness, self.working)
        bounds = (f.lower, f.upper, g.lower, g.upper, slope.upper)
        f_low, f_high, g_low, g_high, steepest = (Fraction(bound) for bound in bounds)
        return _Point(x, f_low, f_high, g_low, g_high, steepest)


def _bound(points: list[_Point], i: int) -> Fraction:
    """``|f - g|`` is at most this between the points ``i`` and ``i + 1``."""
    left, right = points[i], points[i + 1]
    width = right.x - left.x
    tangent = left.g_low - left.steepest * width
    above = max(left.f_high - left.g_low, right.f_high - tangent)
    above = min(above, left.f_high - right.g_low)
    at_left, at_right = left.g_high - left.f_low, right.g_high - right.f_low
    below = max(left.g_high, right.g_high) - right.f_low
    if i > 0:
        before = points[i - 1]
        r = width / (left.x - before.x)
        line = left.f_low * (1 + r) - before.f_high * r
        below = min(below, max(at_left, right.g_high - line))
    if i + 2 < len(points):
        after = points[i + 2]
        r = width / (after.x - right.x)
        line = right.f_low * (1 + r) - after.f_high * r
        below = min(below, max(left.g_high - line, at_right))
    return max(above, below)


def _certified(compute: Callable[[], arb], digits: int) -> Enclosure:
    return balls.certify(compute, digits, lowest=Fraction(0), highest=Fraction(1))
