r"""Clopper and Pearson's exact confidence limits of a probability.

Of ``n`` independent trials of probability ``p``, ``k`` succeeded. The upper limit ``u(k)`` is the
``p`` with ``P[Bin(n, p) <= k] = a``, and 1 for ``k = n``. That tail falls in ``p``, so ``p > u(k)``
means ``P[Bin(n, p) <= k] < a``. It holds for all ``k`` up to some ``k*``, and the probability of
these is ``P[Bin(n, p) <= k*] < a``. So ``P[p > u(K)] < a`` for every ``p``. The lower limit is
``1 - u(n - k)``, from the failures.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from dpexact import balls
from dpexact.accounting.binomial import binomial_tail
from dpexact.arguments import integer_in
from dpexact.conversion import RealLike
from dpexact.empirical.lower_bound import DIGITS, MOST, rational_in
from dpexact.enclosure import Enclosure

#: Bits beyond which a sign is left undecided.
_CAP = 4096


def is_positive(compute: Callable[[], arb]) -> bool | None:
    """Whether a number is above 0 (False: it is below); None where the cap leaves it open.

    ``compute`` must enclose the number at any precision.
    """
    bits = 96
    while bits <= _CAP:
        with balls.precision(bits):
            value = compute()
            if value > 0:
                return True
            if value < 0:
                return False
        bits *= 2
    return None


def crossing(
    low: Fraction, high: Fraction, beyond: Callable[[Fraction], bool | None], digits: int
) -> tuple[Fraction, Fraction]:
    """Two numbers next to each other, the first certainly before and the second certainly beyond.

    ``low`` is before and ``high`` beyond; they come to within ``10^-digits`` of the second,
    or as near as ``beyond`` decides.
    """
    shares = [
        Fraction(1, 2),
        Fraction(3, 7),
    ]  # where one hits the crossing, the other misses
    while (high - low) * 10**digits > high:
        for share in shares:
            # proposes: a short dyadic near the point; `beyond` decides on which side it lies
            point = _rounded(low + share * (high - low), high - low)
            decided = beyond(point)
            if decided is not None:
                break
        else:
            return low, high
        if decided:
            high = point
        else:
            low = point
    return low, high


def _rounded(point: Fraction, width: Fraction) -> Fraction:
    """A dyadic number within an eighth of ``width`` of ``point``."""
    scale = 1 << max((8 / width).__ceil__().bit_length(), 0)
    return Fraction(round(point * scale), scale)


_METHOD = "Clopper-Pearson"


def clopper_pearson(
    successes: int, trials: int, significance: RealLike, digits: int = 15
) -> tuple[Enclosure, Enclosure]:
    """The lower and the upper confidence limit of a probability, each exceeded with at most

    the probability ``significance`` (Clopper and Pearson, 1934).

    Args:
        successes: of the trials.
        trials: independent, of one probability; at least 1.
        significance: a rational in (0, 1), the error of *each* limit.
        digits: certified digits of the limits.

    Raises:
        InvalidInput: an argument out of its domain.

    >>> lower, upper = clopper_pearson(0, 100, "0.05")
    >>> lower.shown(6), upper.shown(6)  # 1 - 0.05^(1/100)
    ('0', '0.0295130...')
    """
    n = integer_in(trials, "trials", 1, MOST)
    k = integer_in(successes, "successes", 0, n)
    error = rational_in(significance, "significance", "> 0", "< 1")
    integer_in(digits, "digits", 1, DIGITS)
    failing = upper_limit(n - k, n, error, digits)
    return _complement(failing), upper_limit(k, n, error, digits)


def upper_limit(count: int, trials: int, significance: Fraction, digits: int) -> Enclosure:
    """The ``p`` at which at most ``count`` successes have the probability ``significance``."""
    if count == trials:
        return Enclosure.exact(Fraction(1), _METHOD)

    def beyond(p: Fraction) -> bool | None:
        def excess() -> arb:
            few = binomial_tail(trials, trials - count, balls.ball(1 - p), balls.ball(p))
            return balls.ball(significance) - few

        return is_positive(excess)

    low, high = crossing(Fraction(0), Fraction(1), beyond, digits + 1)
    return Enclosure(low, high, _METHOD)


def _complement(p: Enclosure) -> Enclosure:
    return Enclosure(1 - Fraction(p.upper), 1 - Fraction(p.lower), p.method)
