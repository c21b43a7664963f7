r"""Whether a partition is published: the optimal strategy of Desfontaines, Voss, Gipson, Mandayam.

A partition of ``n`` users is published with probability :math:`\pi_n`, ``pi_0 = 0`` and

.. math:: \pi_n = \min(e^\varepsilon \pi_{n-1} + \delta,\;
          1 - e^{-\varepsilon}(1 - \pi_{n-1} - \delta),\; 1)

(2022, Theorem 1). The points :math:`(\pi_{n-1}, \pi_n)` are all tests between neighbours; those
with the same minimum lie on one line, so the concave hull has at most six edges. Those are the
outcomes of the pair: ``docs/theory/noises.md``.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise
from typing import Final

from dpexact.accounting.pairs.pair import Atom
from dpexact.balls import approximate, compare
from dpexact.errors import UnsupportedMechanism
from dpexact.exactness import exponential
from dpexact.reals import ONE, ZERO, Real

#: Most users of a partition of which it is told how they are treated.
_MOST_USERS: Final = 10**15
#: Proposals: below and above, floats take ``e^e - 1`` for ``e`` and for ``e^e``.
_FLAT: Final = 1e-12
_LARGE: Final = 30.0


def partition_selection(eps: Real, delta: Real) -> tuple[Atom, ...]:
    """The outcomes for a partition with one user more, against that without.

    Raises:
        UnsupportedMechanism: so little is published that the probabilities cannot be followed.
    """
    if delta.fraction == 0:
        return (Atom(ONE, ONE),)
    if delta.fraction == 1:
        return Atom(ONE, ZERO), Atom(ZERO, ONE)
    chance, users = _chances(eps, delta)
    points = [(ZERO, ZERO), *((chance(n - 1), chance(n)) for n in users), (ONE, ONE)]
    moves = ((b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points))
    return tuple(Atom(p, q) for q, p in moves if p.fraction != 0 or q.fraction != 0)


def _chances(eps: Real, delta: Real) -> tuple[Callable[[int], Real], list[int]]:
    """The probabilities by number of users, and the numbers whose tests are corners of the hull."""
    decay = exponential(-eps)
    flat = decay.fraction == 1
    level = (1 - delta) * decay / (1 + decay)

    def rising(n: int) -> Real:
        if flat or n < 2:
            return n * delta
        return delta * (exponential(n * eps) - 1) / (exponential(eps) - 1)

    below = _last(lambda n: compare(rising(n), level, "delta") <= 0, _rises(eps, delta, level))
    turn = below + 1
    rest = 1 - rising(turn)
    limit = delta if flat else delta * decay / (1 - decay)

    def left(k: int) -> Real:
        if flat or k == 0:
            return rest - k * delta
        return exponential(-k * eps) * (rest + limit) - limit

    def falls(k: int) -> int:
        return compare(left(k), delta, "delta")

    steps = 0 if falls(0) < 0 else 1 + _last(lambda k: falls(k) >= 0, _falls(eps, delta, rest))
    last = turn + steps + (steps == 0 or falls(steps - 1) != 0)

    def chance(n: int) -> Real:
        if n <= turn:
            return rising(n)
        return ONE if n >= last else 1 - left(n - turn)

    return chance, sorted({1, turn, min(turn + 1, last), max(last - 1, 1), last})


def _last(holds: Callable[[int], bool], near: float) -> int:
    """The largest ``n >= 0`` where ``holds``, which does at 0 and up to one place.

    Proposes: ``near``; what holds is certain.
    """
    # proposes: where the search begins, and what is too much
    if not near < _MOST_USERS:
        raise UnsupportedMechanism(
            "partition_selection: no partition of less than 10^15 users is likely to be published"
        )
    low, step = max(int(near) - 2, 0), 1
    while low and not holds(low):
        low, step = max(low - step, 0), 2 * step
    high = low + 1
    step = 1
    while holds(high):
        low, high, step = high, high + step, 2 * step
    return low + bisect_left(range(low + 1, high), True, key=lambda n: not holds(n))


def _rises(eps: Real, delta: Real, level: Real) -> float:
    """Proposes: how many users are published with chance ``level``."""
    ratio, e = approximate(level / delta), approximate(eps)
    return ratio if e < _FLAT else _grown(ratio, e) / e


def _falls(eps: Real, delta: Real, rest: Real) -> float:
    """Proposes: how many more make it certain."""
    ratio, e = approximate(rest / delta), approximate(eps)
    return ratio if e < _FLAT else max(0.0, _grown(ratio, e) / e - 1)


def _grown(ratio: float, e: float) -> float:
    """Proposes: ``log(1 + ratio (e^e - 1))``, about."""
    if e < _LARGE:
        return math.log1p(ratio * math.expm1(e))
    return max(0.0, e + math.log(ratio)) if ratio > 0 else 0.0
