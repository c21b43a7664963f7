r"""Tails of the binomial distribution as balls.

With :math:`G(z) = (b + a z)^n` the generating function of ``Bin(n, a)``, ``b = 1 - a``, a circle of
radius :math:`\rho > 1` and ``N`` equally spaced points ``z`` on it,

.. math:: \frac1N \sum_z \frac{G(z)\,z^{-m}}{1 - 1/z}
          = \sum_{j \in \mathbb{Z}} \rho^{jN} P[X \ge m + jN],

the tail at ``m`` and aliases that are not negative. By Chernoff's bound on their tails those of
``j > 0`` sum to at most :math:`G(r)\,r^{-m}/((r/\rho)^N - 1)` for any :math:`r > \rho`, those of
``j < 0`` to at most :math:`G(r)\,r^{-m}/((\rho/r)^N - 1)` for any :math:`1 \le r < \rho`. At the
angle ``t`` the modulus of ``G`` is :math:`G(\rho)(1 - 4 s (1-s) \sin^2(t/2))^{n/2}`, where
:math:`s = a\rho/(b + a\rho)`, so points far from the real axis are bounded together. The number of
points that are left grows with the precision and hardly depends on ``n``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from flint import acb, arb

from dpexact import balls

#: Terms that are fewer work than a tail anew, and bits that they may lose.
_NEAR: Final = 300
_SPARE: Final = 8


def binomial_tail(count: int, m: int, success: arb, failure: arb) -> arb:
    r"""Enclose ``Pr[Bin(count, success) >= m]`` for any ``m``; ``failure = 1 - success``.

    From the side of ``m`` away from the mode: by its terms, or by points on a circle where they are
    many.
    """
    if not 0 < m <= count:
        return arb(m <= 0)
    if (count - m) * success < (m + 1) * failure:
        return _upper_tail(count, m, success, failure)
    return 1 - _upper_tail(count, count - m + 1, failure, success)


def binomial_mass(count: int, m: int, success: arb, failure: arb) -> arb:
    """Enclose ``Pr[Bin(count, success) = m]``, by logarithms of factorials."""
    # proposes: the count asked for, whose chance this is
    if not 0 <= m <= count:
        return arb(0)
    ways = arb(count + 1).lgamma() - arb(m + 1).lgamma() - arb(count - m + 1).lgamma()
    return (ways + m * success.log() + (count - m) * failure.log()).exp()


class _Tail(NamedTuple):
    """``Pr[Bin(trials) >= m]`` and ``Pr[Bin(trials) = m]``."""

    trials: int
    m: int
    tail: arb
    mass: arb


class BinomialTails:
    r"""Tails one after another, those near the last ones by what is to be added or subtracted.

    With ``a``, ``b`` the chances of success and failure, and ``p(n, m) = Pr[Bin(n) = m]``,

    .. math:: T(n, m-1) &= T(n, m) + p(n, m-1), \
              T(n+1, m) &= T(n, m) + a\,p(n, m-1), \
              T(n-1, m-1) &= T(n, m) + b\,p(n-1, m-1).
    """

    def __init__(self, success: arb, failure: arb) -> None:
        self._success, self._failure = success, failure
        self._odds = failure / success
        self._first: _Tail | None = None

    def at(self, count: int, places: Sequence[int]) -> list[arb]:
        """``Pr[Bin(count) >= m]`` at places, which best do not rise: differences lose digits."""
        found, last = [], self._first
        for m in places:
            # proposes: nothing; these are whole numbers
            if not 0 < m <= count:
                found.append(arb(m <= 0))
                continue
            begins = last is self._first
            last = self._near(last, count, m)
            if begins:
                self._first = last
            found.append(last.tail)
        return found

    def _near(self, last: _Tail | None, count: int, m: int) -> _Tail:
        """From the last one, or anew. Proposes: which; both enclose."""
        if last is not None:
            fewer = last.trials - count
            lower = last.m - m - max(fewer, 0)
            if (lower >= 0 or not fewer) and abs(lower) + abs(fewer) <= _NEAR:
                found = self._moved(last, fewer, lower)
                least = balls.current() - count.bit_length() - _SPARE
                # proposes: likewise
                if found.tail.rel_accuracy_bits() >= least:
                    return found
        law = self._success, self._failure
        return _Tail(count, m, binomial_tail(count, m, *law), binomial_mass(count, m, *law))

    def _moved(self, last: _Tail, fewer: int, lower: int) -> _Tail:
        n, m, tail, mass = last
        for _ in range(fewer):
            mass = mass * m / (n * self._success)
            n, m, tail = n - 1, m - 1, tail + self._failure * mass
        for _ in range(-fewer):
            tail += mass * m * self._failure / (n - m + 1)
            mass = mass * (n + 1) * self._failure / (n + 1 - m)
            n += 1
        for _ in range(lower):
            mass = mass * m * self._odds / (n - m + 1)
            m, tail = m - 1, tail + mass
        for _ in range(-lower):
            tail -= mass
            m, mass = m + 1, mass * (n - m) / ((m + 1) * self._odds)
        return _Tail(n, m, tail, mass)


def _upper_tail(count: int, m: int, success: arb, failure: arb) -> arb:
    found = _on_circle(count, m, success, failure)
    return _falling_terms(count, m, success, failure) if found is None else found


def _falling_terms(count: int, m: int, success: arb, failure: arb) -> arb:
    """Sum from ``j = m`` on; ratios of terms fall, so a geometric series bounds what is left."""
    odds = success / failure
    term = _binomial(count, m) * success**m * failure ** (count - m)
    total = term
    negligible = arb(2) ** -balls.current()
    for j in range(m, count):
        ratio = (count - j) * odds / (j + 1)
        if j % 32 == 0 and ratio < 1:
            rest = term * ratio / (1 - ratio)
            # beside what is not told from 0 nothing becomes negligible
            if rest < negligible * total or not total > 0:
                return total + arb(0).union(rest)
        term *= ratio
        total += term
    return total


def _binomial(count: int, m: int) -> arb:
    smaller = min(m, count - m)
    return (arb(count - smaller + 1)).rising(smaller) / arb(smaller + 1).gamma()


#: The law is narrow where so few standard deviations reach a radian beyond the decay.
_ROOM = 1.1
#: Least distance of the circle from 1 in standard deviations: costs a dozen bits, saves points.
_LEAST_TILT = 4.0
#: A point on the circle costs about as much as so many terms.
_POINT = 60


def _on_circle(count: int, m: int, success: arb, failure: arb) -> arb | None:
    """The tail by points on a circle; None where terms are cheaper.

    Proposes: the circle and its nodes; the errors of any choice that is not refused are enclosed.
    """
    a, b = float(success.mid()), float(failure.mid())
    bits = (balls.current() + 16) * math.log(2)
    reach = math.sqrt(2 * bits)
    deviation = math.sqrt(count * a * b)
    if not deviation > _ROOM * reach or m >= count:
        return None
    odds = m / (count - m) * (b / a)  # the tilt that moves the mean to m
    radius = max(odds, 1 + _LEAST_TILT / deviation)
    share = a * radius / (b + a * radius)
    deviation = math.sqrt(count * share * (1 - share))
    if not (deviation > _ROOM * reach and radius < 1e6):
        return None
    tilt = math.log(radius)
    if tilt == 0:  # floats do not tell the circle from that of 1
        return balls.UNIT
    step = math.exp(2 * reach / deviation)
    inner, outer = max(radius / step, 1.0), radius * step
    points = 3 * reach * deviation
    if inner == 1.0:
        log_tail = count * math.log1p(a * (radius - 1)) - m * tilt
        points = max(points, (bits - min(log_tail, 0.0)) / tilt)
    last = math.ceil(reach * points / (2 * math.pi * deviation))
    if reach * deviation < _POINT * last:
        return None
    nodes = math.ceil(points), last
    if 2 * last >= nodes[0]:  # beyond half the circle nodes would count twice
        return None
    return _circle_sum(count, m, (success, failure), (inner, radius, outer), nodes)


def _circle_sum(
    count: int,
    m: int,
    law: tuple[arb, arb],
    radii: tuple[float, float, float],
    nodes: tuple[int, int],
) -> arb:
    """The sum over the nodes up to the ``last``, with what bounds the others and the aliases."""
    (success, failure), (points, last) = law, nodes
    inner, radius, outer = (arb(r) for r in radii)
    angle = 2 * arb.pi() / points

    def weight(z: acb) -> acb:
        return (count * (failure + success * z).log() - m * z.log()).exp()

    total = (weight(acb(radius)) / (1 - 1 / radius)).real
    # proposes: how many nodes, short of half the circle; `beyond` bounds all others
    for j in range(1, last + 1):
        z = radius * acb(0, j * angle).exp()
        total += 2 * (weight(z) / (1 - 1 / z)).real
    share = success * radius / (failure + success * radius)
    decay = 1 - 4 * share * (1 - share) * ((last + 1) * angle / 2).sin() ** 2
    top = weight(acb(radius)).real / (1 - 1 / radius)
    beyond = (top * (arb(count) / 2 * decay.log()).exp()).upper()
    below = weight(acb(inner)).real / (points * (radius / inner).log()).expm1()
    above = weight(acb(outer)).real / (points * (outer / radius).log()).expm1()
    return total / points - arb(0).union((below + above).upper()) + arb(0, beyond)
