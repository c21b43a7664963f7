r"""The constant of Dong, Roth, Su (2022), Theorem 8, for given ``mu`` and ``n``.

The theorem says that for some ``c(mu)`` and all ``n``, ``c/n <= alpha <= 1 - c/n``,

.. math:: G_\mu(\alpha + \tfrac cn) - \tfrac cn \le f_{\varepsilon,0}^{\otimes n}(\alpha)
          \le G_\mu(\alpha - \tfrac cn) + \tfrac cn, \qquad \varepsilon = \mu/\sqrt n.

Both inequalities compare the two curves along lines parallel to the diagonal: each line
``beta - alpha = d`` meets each curve once, at heights ``s(d) = (alpha + beta)/2``, and the least
``c/n`` is the largest ``|s_f - s_G|``. (Points with ``alpha < c/n`` demand nothing more: mirrored
at the diagonal, a symmetry of both curves, they are covered, or trivial.) On a linear piece of
``f`` the difference ``s_f - s_G`` is concave, with its maximum where ``G_mu`` has the slope of the
piece, ``-e^x`` at ``alpha = Phi(-x/mu - mu/2)``; its minimum is at a vertex. So finitely many
points decide.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Final

from flint import arb, fmpz

from dpexact import balls
from dpexact.accounting.classic.roots import increasing_root
from dpexact.answers import delivered
from dpexact.arguments import digits_in, integer_in, real_in
from dpexact.balls import normal_tail
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.tradeoffs.noises import quantile

#: Most repetitions: the work grows with their number.
MAX_REPETITIONS: Final = 2000


@dataclass(frozen=True, slots=True)
class _Point:
    """A point of a trade-off curve: ``alpha`` and ``gap = 1 - beta``, without cancellation."""

    alpha: arb
    gap: arb

    @property
    def line(self) -> arb:
        """``1 - (beta - alpha)``: which parallel to the diagonal it lies on."""
        return self.alpha + self.gap


def theorem_8_constant(mu: RealLike, n: int, digits: int = 10) -> Enclosure:
    """Enclose the least ``c`` for which both inequalities of Theorem 8 hold at this ``n``.

    Args:
        mu: any exact real ``> 0``.
        n: number of repetitions of ``mu/sqrt(n)``-DP, at most ``MAX_REPETITIONS``.
        digits: certified significant digits.

    >>> print(theorem_8_constant(1, 10, 6).shown(6))
    0.0470107...
    """
    m, count = real_in(mu, "mu", "> 0"), integer_in(n, "n", 1, MAX_REPETITIONS)
    wanted = digits_in(digits)

    def compute() -> arb:
        return count * _distance(balls.ball(m), count)

    found = balls.certify(compute, wanted, lowest=Fraction(0), method="Theorem 8", lost_bits=32)
    return delivered(found, wanted)


def _distance(mu: arb, n: int) -> arb:
    """The largest difference of heights, which on one line is that of the ``alpha``."""
    step = mu / arb(n).sqrt()
    vertices = _vertices(step, n)
    # at odd n the last vertex lies on the axis, at even n it mirrors the one before
    largest = abs(vertices[-1].alpha - normal_tail(mu / 2)) if n % 2 else arb(0)
    for point in vertices[1:-1]:
        largest = largest.max(abs(point.alpha - _normal_alpha(mu, point.line)))
    for j, (first, second) in enumerate(pairwise(vertices)):
        tangent = _tangent(mu, (n - 2 * j) * step)
        if tangent.line < first.line or tangent.line > second.line:
            continue  # the maximum over the piece is at a vertex
        share = (tangent.line - first.line) / (second.line - first.line)
        alpha = first.alpha + share * (second.alpha - first.alpha)
        larger = largest.max(alpha - tangent.alpha)
        inside = tangent.line >= first.line and tangent.line <= second.line
        largest = larger if inside else larger.union(largest)
    return largest


def _vertices(step: arb, n: int) -> list[_Point]:
    """Of ``f_{step,0}`` composed ``n`` times, to the first beyond the symmetry axis.

    Piece ``j`` has slope ``-e^((n-2j) step)``; the axis is met by piece ``n // 2``.
    """
    high, low = 1 / (1 + (-step).exp()), 1 / (1 + step.exp())
    alpha, gap = arb(0), arb(0)
    found = [_Point(alpha, gap)]
    binomial = fmpz(1)
    for j in range(n // 2 + 1):
        alpha += binomial * low ** (n - j) * high**j
        gap += binomial * high ** (n - j) * low**j
        found.append(_Point(alpha, gap))
        binomial = binomial * (n - j) // (j + 1)
    return found


def _tangent(mu: arb, x: arb) -> _Point:
    """The point of ``G_mu`` with slope ``-e^x``."""
    return _Point(normal_tail(x / mu + mu / 2), normal_tail(x / mu - mu / 2))


def _normal_alpha(mu: arb, line: arb) -> arb:
    """The ``alpha`` of ``G_mu`` on a line, from ``alpha = P[N > q]``, ``gap = P[N > q - mu]``."""
    if not (line > 0 and line < 1):
        return arb.nan()
    high = (quantile(line / 2) + mu).upper()
    place = increasing_root(
        lambda x: normal_tail(-x) + normal_tail(-x - mu) - line, -high, -(mu / 2).lower()
    )
    return normal_tail(-place)
