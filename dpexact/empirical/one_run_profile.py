r"""How likely the outcome of one run is under a mechanism, by its whole privacy profile.

The game is that of :mod:`dpexact.empirical.one_run`, but what is tested is the mechanism with its
delta at every epsilon, and not one pair of the two. The constraints are those of Mahloujifar, Melis
and Chaudhuri (2024).

**Theorem.** Let every event of the output have probabilities ``a`` and ``b``, with a canary in and
out or out and in, that satisfy ``b >= s a - d`` for each ``(s, d)`` in a set of lines, ``s > 0``.
Let :math:`P[\text{at least } v \text{ of } r \text{ guesses on } m \text{ canaries are right}] \ge
\tau` with ``r`` fixed in advance, and let

.. math:: (w_v, n_v) = (v \tau, (r - v) \tau), \quad n_{j-1} = \max(n_j, s_j w_j - m d_j), \quad
          w_{j-1} = w_j + \frac{j - 1}{r - j + 1} (n_{j-1} - n_j)

for ``j = v, ..., 1`` with any lines of the set. Then :math:`w_j + n_j \le r` for every ``j``.

So a ``tau`` at which ``w + n`` exceeds ``r`` is above that probability. The proof is on the page
`docs/theory/attacks.md`. Under :math:`(\varepsilon, \delta)`-DP the lines are
:math:`(e^{-\varepsilon}, e^{-\varepsilon} \delta)` and :math:`(e^\varepsilon, e^\varepsilon - 1 +
\delta)`.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from decimal import ROUND_CEILING
from fractions import Fraction
from typing import Final, TypeVar

from flint import arb

from dpexact import balls
from dpexact.accounting.queries import delta_answer, epsilon_answer
from dpexact.accounting.standing import from_above
from dpexact.arguments import integer_in
from dpexact.decimals import format_decimal
from dpexact.empirical.one_run import outcome_in
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import Mechanism
from dpexact.mechanisms.grammar import mechanism_in
from dpexact.reals import rational

#: Most right guesses: the theorem takes a step for each.
MOST_CORRECT: Final = 1_000_000

_METHOD: Final = "one run, whole profile"
#: Epsilons at which the profile is asked, and the digits of each delta.
_POINTS, _DIGITS = 64, 6
#: The least share of the right guesses whose delta is asked for: smaller p-values are not reached.
_LEAST: Final = Fraction(1, 10**6)
#: Beyond this epsilon, ``e^epsilon`` is no float.
_HIGHEST: Final = 700
_BITS: Final = (128, 512, 2048)

_N = TypeVar("_N", float, arb)
#: ``(epsilon, delta)`` such that the mechanism is so private.
Guarantees = Sequence[tuple[Fraction, Fraction]]


def mechanism_p_value(
    canaries: int, guesses: int, correct: int, mechanism: Mechanism | str
) -> Enclosure:
    """Bounds of the probability of at least ``correct`` right guesses under ``mechanism``.

    The upper end is a p-value of "the program runs this mechanism", of four digits; whatever the
    attack, it is at most ``a`` with a probability of at most ``a``. The lower end is 0. P-values
    below about a millionth are not resolved.

    Args:
        canaries: each was in the data with probability 1/2, independently.
        guesses: on so many of them, a number fixed in advance.
        correct: guesses that were right; at most :data:`MOST_CORRECT`.
        mechanism: a mechanism or its text.

    Raises:
        InvalidInput: an argument out of its domain.
        UnsupportedMechanism: no delta of the mechanism is known from above.

    >>> mechanism_p_value(100, 50, 45, "gdp(1/2)").upper < Fraction("0.02")
    True
    """
    m, r, v = outcome_in(canaries, guesses, correct)
    integer_in(v, "correct", 0, MOST_CORRECT)
    parsed = mechanism_in(mechanism)
    return Enclosure(Fraction(0), p_value(m, r, v, profile(parsed, Fraction(v, m))), _METHOD)


def profile(mechanism: Mechanism, share: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Guarantees of ``mechanism`` over the epsilons that matter for a ``share`` of right guesses.

    Empty where no finite epsilon is known.
    """
    from_above(mechanism)
    least, top = share * _LEAST, None
    while top is None and 0 < least < 1:
        found = epsilon_answer(mechanism, rational(least), _DIGITS, "both").upper
        if isinstance(found, Fraction) and found < _HIGHEST:
            top = Fraction(math.ceil(found * 2**20), 2**20)
        else:
            least *= 10
    if top is None:
        return []
    points = [top * i / _POINTS for i in range(_POINTS + 1)]
    deltas = (delta_answer(mechanism, rational(e), _DIGITS, "both").upper for e in points)
    return [(e, min(Fraction(d), Fraction(1))) for e, d in zip(points, deltas, strict=True)]


def p_value(m: int, r: int, v: int, guarantees: Guarantees) -> Fraction:
    """The least upper bound of ``P[at least v right]`` that the theorem was found to certify."""
    if v == 0 or not guarantees:
        return Fraction(1)
    rough, corners = _envelope(guarantees)
    low, high = math.log(_LEAST) * 2, 0.0  # proposes, by floats: where the theorem refutes
    while high - low > 1e-5:
        middle = (low + high) / 2
        if _refuted(m, r, v, math.exp(middle), [(s, d) for s, d, _ in rough], corners):
            high = middle
        else:
            low = middle
    bound = Fraction(math.exp(high))
    while bound < 1:
        bound = Fraction(format_decimal(bound, 4, ROUND_CEILING))
        if is_refuted(m, r, v, bound, guarantees):
            return bound
        bound *= Fraction(1001, 1000)
    return Fraction(1)


def is_refuted(m: int, r: int, v: int, share: Fraction, guarantees: Guarantees) -> bool:
    """Whether it is certain that fewer than ``share`` of all runs have ``v`` right guesses."""
    rough, corners = _envelope(guarantees)
    for bits in _BITS:
        with balls.precision(bits):
            lines = [_lines(*guarantees[i])[way] for _, _, (i, way) in rough]
            found = _refuted(m, r, v, balls.ball(share), lines, corners)
        if found is not None:
            return found
    return False


def _refuted(
    m: int, r: int, v: int, share: _N, lines: Sequence[tuple[_N, _N]], corners: Sequence[float]
) -> bool | None:
    """Whether the steps of the theorem exceed ``r``; None where balls leave it open.

    ``corners`` say from which ``w/m`` on which line is taken: floats, as any line is right.
    """
    right, wrong = v * share, (r - v) * share
    for j in range(v, 0, -1):
        if right + wrong > r:
            return True
        slope, loss = lines[bisect_right(corners, float(right) / m)]
        least = slope * right - m * loss
        if least > wrong:
            right += (j - 1) * (least - wrong) / (r - j + 1)
            wrong = least
        elif isinstance(least, arb) and not least <= wrong:
            more = (least - wrong).union(arb(0))
            right, wrong = right + (j - 1) * more / (r - j + 1), wrong + more
    if right + wrong > r:
        return True
    return False if right + wrong <= r else None


def _lines(epsilon: Fraction, delta: Fraction) -> tuple[tuple[arb, arb], tuple[arb, arb]]:
    """The two lines of one guarantee."""
    odds, lost = balls.ball(epsilon).exp(), balls.ball(delta)
    return (1 / odds, lost / odds), (odds, odds - 1 + lost)


_Rough = list[tuple[float, float, tuple[int, int]]]


def _envelope(guarantees: Guarantees) -> tuple[_Rough, list[float]]:
    """The lines that are highest somewhere, by floats, with their places; and where they change."""
    with balls.precision(_BITS[0]):
        every = sorted(
            (float(slope), float(loss), (i, way))
            for i, guarantee in enumerate(guarantees)
            for way, (slope, loss) in enumerate(_lines(*guarantee))
        )
    kept: _Rough = []
    corners: list[float] = []
    for slope, loss, place in every:
        while kept:
            if slope == kept[-1][0]:  # the same slope, that sorts by its loss: never higher
                break
            corner = (loss - kept[-1][1]) / (slope - kept[-1][0])
            if not corners or corner > corners[-1]:
                corners.append(corner)
                kept.append((slope, loss, place))
                break
            kept.pop()
            corners.pop()
        else:
            kept.append((slope, loss, place))
    return kept, corners
