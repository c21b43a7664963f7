r"""Lower bounds from the true and false positives of an attack that was run many times.

Under :math:`(\varepsilon, \delta)`-DP every test of membership has

.. math:: \mathrm{TPR} \le e^\varepsilon\,\mathrm{FPR} + \delta, \qquad
          1 - \mathrm{FPR} \le e^\varepsilon (1 - \mathrm{TPR}) + \delta.

TPR is at least its lower Clopper-Pearson limit and FPR at most its upper one, each but for an error
``a/2``. But for ``a`` both hold, and then both inequalities with the limits in place of the rates.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb

from dpexact import balls
from dpexact.accounting.binomial import binomial_tail
from dpexact.arguments import integer_in, rational_in
from dpexact.conversion import RealLike
from dpexact.empirical.lower_bound import DIGITS, MOST, LowerBound, Terms
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
    lower = Enclosure(1 - Fraction(failing.upper), 1 - Fraction(failing.lower), failing.method)
    return lower, upper_limit(k, n, error, digits)


def upper_limit(count: int, trials: int, significance: Fraction, digits: int) -> Enclosure:
    """The ``p`` at which at most ``count`` successes have the probability ``significance``.

    Clopper and Pearson's limit ``u(k)``, and 1 for ``k = n``. That tail falls in ``p``, so
    ``p > u(k)`` means ``P[Bin(n, p) <= k] < a``. It holds for all ``k`` up to some ``k*``, and the
    probability of these is ``P[Bin(n, p) <= k*] < a``. So ``P[p > u(K)] < a`` for every ``p``. The
    lower limit is ``1 - u(n - k)``, from the failures.
    """
    if count == trials:
        return Enclosure.exact(Fraction(1), _METHOD)

    def beyond(p: Fraction) -> bool | None:
        def excess() -> arb:
            few = binomial_tail(trials, trials - count, balls.ball(1 - p), balls.ball(p))
            return balls.ball(significance) - few

        return is_positive(excess)

    low, high = crossing(Fraction(0), Fraction(1), beyond, digits + 1)
    return Enclosure(low, high, _METHOD)


def from_counts(
    true_positives: int,
    false_positives: int,
    positives: int,
    negatives: int,
    delta: RealLike = 0,
    confidence: RealLike = "0.95",
    looks: int = 1,
    digits: int = 15,
) -> LowerBound:
    r"""The lower bound on epsilon at ``delta`` from the outcomes of one attack, run many times:

    .. math:: \log \max\Bigl(1, \frac{\underline{t} - \delta}{\overline{f}},
              \frac{1 - \overline{f} - \delta}{1 - \underline{t}}\Bigr)

    with the Clopper-Pearson limits :math:`\underline{t}` of the true positive rate and
    :math:`\overline{f}` of the false positive rate, each of error ``(1 - confidence)/looks/2``.

    Domain: ``positives`` runs on a dataset with the record and ``negatives`` on its neighbour
    without it, all independent, and an attack that was fixed before they were seen. An attack
    that is worse than chance shows nothing; its reverse is another look.

    Args:
        true_positives: runs with the record that the attack said had it.
        false_positives: runs without the record that the attack said had it.
        positives: all runs with the record; at least 1.
        negatives: all runs without the record; at least 1.
        delta: at which epsilon is bounded; in [0, 1].
        confidence: a rational in (0, 1).
        looks: how many attacks (thresholds, variants) this one was chosen from.
        digits: certified digits of the confidence limits.

    Raises:
        InvalidInput: an argument out of its domain.

    >>> print(from_counts(90, 10, 100, 100).epsilon)
    1.54215239473633...
    """
    terms = Terms.of(delta, confidence, looks)
    integer_in(digits, "digits", 1, DIGITS)
    present = integer_in(positives, "positives", 1, MOST)
    absent = integer_in(negatives, "negatives", 1, MOST)
    hits = integer_in(true_positives, "true_positives", 0, present)
    alarms = integer_in(false_positives, "false_positives", 0, absent)
    error = terms.significance / 2
    missed = upper_limit(present - hits, present, error, digits)
    alarmed = upper_limit(alarms, absent, error, digits)
    epsilon = _log_ratio(missed, alarmed, terms.delta, digits).larger(
        _log_ratio(alarmed, missed, terms.delta, digits)
    )
    outcome = f"{hits} of {present} true positives, {alarms} of {absent} false positives"
    return terms.bound(epsilon, outcome)


def _log_ratio(lost: Enclosure, taken: Enclosure, delta: Fraction, digits: int) -> Enclosure:
    """An enclosure of ``log((1 - lost - delta) / taken)``, or 0 if that is negative."""
    low = _log_at((1 - Fraction(lost.upper) - delta) / Fraction(taken.upper), digits)
    high = _log_at((1 - Fraction(lost.lower) - delta) / Fraction(taken.lower), digits)
    return low.between(high, _METHOD)


def _log_at(ratio: Fraction, digits: int) -> Enclosure:
    if ratio <= 1:
        return Enclosure.exact(Fraction(0), _METHOD)
    return balls.certify(lambda: balls.ball(ratio).log(), digits, method=_METHOD)
