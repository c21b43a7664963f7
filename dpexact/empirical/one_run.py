r"""Lower bounds from one run with many canaries (Steinke, Nasr and Jagielski, 2023).

Each of ``m`` canaries is put into the data with probability 1/2, independently; an attack sees the
output, guesses of ``r`` canaries whether they are in, and ``v`` guesses are right.

**Theorem.** If the mechanism is :math:`(\varepsilon, \delta)`-DP for neighbours that differ in one
canary, and ``r`` was fixed in advance, then with :math:`W \sim \mathrm{Bin}(r, q)`,
:math:`q = e^\varepsilon/(1 + e^\varepsilon)` and :math:`\beta = P[W \ge v]`, for ``1 <= v <= r``,

.. math:: P[\text{at least } v \text{ right}] \le \beta + m\,\delta\,
          \frac{\beta\,(1 - \beta)}{v\,P[W = v]}.

With ``delta = 0`` it is theirs, and ``r`` may depend on the output. Otherwise they have
:math:`2 \max_i P[v > W \ge v - i]/i` in place of the fraction; the proof of what stands here is on
the page `docs/theory/attacks.md`.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from dpexact import balls
from dpexact.accounting.binomial import binomial_mass, binomial_tail
from dpexact.answers import delivered
from dpexact.arguments import integer_in, real_in
from dpexact.conversion import RealLike
from dpexact.empirical.counts import crossing, is_positive
from dpexact.empirical.lower_bound import DIGITS, MOST, LowerBound, Terms
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, rational

_METHOD = "one run"
_ONE = Fraction(1)


def one_run_p_value(
    canaries: int,
    guesses: int,
    correct: int,
    epsilon: RealLike,
    delta: RealLike = 0,
    digits: int = 15,
) -> Enclosure:
    r"""The p-value of "the mechanism is (``epsilon``, ``delta``)-DP" after one run:

    .. math:: \min\Bigl(1, \beta + m\,\delta\,\frac{\beta (1 - \beta)}{v\,P[W = v]}\Bigr),
              \qquad W \sim \mathrm{Bin}(r, e^\varepsilon/(1 + e^\varepsilon)),
              \quad \beta = P[W \ge v]

    where ``v`` of ``r`` guesses on ``m`` canaries were right. Theorem and proof are on the page
    "Lower bounds from attacks" of the theory.

    Args:
        canaries: each was in the data with probability 1/2, independently.
        guesses: on so many of them, a number fixed in advance unless ``delta`` is 0.
        correct: guesses that were right.
        epsilon: at least 0.
        delta: in [0, 1].
        digits: certified digits.

    Raises:
        InvalidInput: an argument out of its domain.
        PrecisionNotReached: fewer digits are certain.

    >>> print(one_run_p_value(100, 100, 75, "log(3)", digits=10).shown(10))
    0.5534708238...
    """
    m, r, v = outcome_in(canaries, guesses, correct)
    eps, d = real_in(epsilon, "epsilon", ">= 0"), real_in(delta, "delta", ">= 0", "<= 1")
    if v == 0:
        return Enclosure.exact(_ONE, _METHOD)
    found = balls.certify(
        lambda: _bound(m, r, v, eps, d),
        integer_in(digits, "digits", 1, DIGITS),
        lowest=Fraction(0),
        method=_METHOD,
    )
    capped = Enclosure(min(found.lower, _ONE), min(found.upper, _ONE), _METHOD, found.reason)
    return delivered(capped, digits)


def from_guesses(
    canaries: int,
    guesses: int,
    correct: int,
    delta: RealLike = 0,
    confidence: RealLike = "0.95",
    looks: int = 1,
    digits: int = 15,
) -> LowerBound:
    """The lower bound on epsilon at ``delta`` from one run with many canaries: an epsilon whose

    :func:`one_run_p_value` is at most ``(1 - confidence)/looks``, next to one where it is more.

    Of the epsilons that are rejected any may be quoted: for each there is a least number of right
    guesses that rejects it, so that the chance to reject one above the truth is the chance of
    some such number, which the theorem bounds.

    Args:
        canaries: each was in the data with probability 1/2, independently.
        guesses: on so many of them, a number fixed in advance unless ``delta`` is 0.
        correct: guesses that were right.
        delta: at which epsilon is bounded; in [0, 1].
        confidence: a rational in (0, 1).
        looks: how many attacks (numbers of guesses, scores) this one was chosen from.
        digits: certified digits of the bound.

    Raises:
        InvalidInput: an argument out of its domain.

    >>> print(from_guesses(1000, 100, 95, delta="1e-5").epsilon.shown(10))
    2.1...
    """
    terms = Terms.of(delta, confidence, looks)
    m, r, v = outcome_in(canaries, guesses, correct)
    integer_in(digits, "digits", 1, DIGITS)
    outcome = f"{v} of {r} guesses right, of {m} canaries"

    def kept(epsilon: Fraction) -> bool | None:
        """Whether ``epsilon`` is not rejected."""

        def excess() -> arb:
            p = _bound(m, r, v, rational(epsilon), rational(terms.delta))
            return p - balls.ball(terms.significance)

        return v == 0 or is_positive(excess)

    low, high = Fraction(0), _ONE
    if kept(low) is not False:
        return terms.bound(Enclosure.exact(low, _METHOD), outcome, (m, r, v))
    while kept(high) is False:
        low, high = high, 2 * high
    low, high = crossing(low, high, kept, digits + 1)
    return terms.bound(Enclosure(low, high, _METHOD), outcome, (m, r, v))


def outcome_in(canaries: int, guesses: int, correct: int) -> tuple[int, int, int]:
    """The numbers of canaries, guesses and right guesses, if there can be so many."""
    m = integer_in(canaries, "canaries", 1, MOST)
    r = integer_in(guesses, "guesses", 1, m)
    return m, r, integer_in(correct, "correct", 0, r)


def _bound(m: int, r: int, v: int, epsilon: Real, delta: Real) -> arb:
    """The bound of the theorem, which may exceed 1."""
    odds = balls.ball(epsilon).exp()
    right, wrong = odds / (1 + odds), 1 / (1 + odds)
    tail = binomial_tail(r, v, right, wrong)
    if delta.fraction == 0:
        return tail
    below = binomial_tail(r, r - v + 1, wrong, right)
    return tail + m * balls.ball(delta) * tail * below / (v * binomial_mass(r, v, right, wrong))
