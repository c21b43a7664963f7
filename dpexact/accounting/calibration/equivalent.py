"""Proposes: on which scales a search is short. Floats only.

*The* ``mu`` *of the Gaussian mechanism that would show the same quantity.* Noise, sensitivities and
counts move it by a power, about: exactly so of Gaussians, and in the limit of many small losses.
*Kinks*: where the largest loss is what is asked about, a profile begins as a line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Final, TypeAlias

from dpexact.accounting.composition import Composition
from dpexact.balls import approximate
from dpexact.decimals import log_of
from dpexact.errors import InvalidInput
from dpexact.mechanisms import GDP, BoundedRange, DiscreteLaplace, Laplace, Mechanism
from dpexact.mechanisms.ordering import Ordering
from dpexact.reals import rational

LogMu: TypeAlias = Callable[[float], float | None]
"""``log(mu)`` where the logarithm of a quantity is known; None where floats do not reach."""

_HALF_LOG_TAU: Final = math.log(2 * math.pi) / 2
#: Logarithms of a delta next to 1, from which floats tell nothing; and far tails.
_FULL: Final = -1e-20
_FAR: Final = 20.0
#: Below this ``delta(0)`` is a line.
_LINE: Final = -50.0
_DEEP: Final = -5.0
_STEPS: Final = 60
#: Logarithms of odds below minus this are those of what they are the odds of.
_FLAT: Final = 50.0
_CLOSE: Final = 1e-14
#: Gaps below this are as they are, up to a factor; and that on both sides of which it is taken.
_SMALL: Final = 1e-6
_NEAR: Final = 1e-4
_NORMAL: Final = NormalDist()
#: Values that are tried for where a quantity is reached, and a logarithm of one beyond floats.
_LOOKS: Final = 20
_ENDLESS: Final = 1e3
#: Outcomes beyond which discrete noise is sketched.
_MANY: Final = 100


def mu_of_delta(epsilon: float) -> LogMu:
    """By ``delta(epsilon) = Q(a) - e^epsilon Q(a + mu)``, ``a = epsilon/mu - mu/2``.

    ``delta`` is the integral of ``phi(epsilon/m - m/2)`` over ``m`` up to ``mu``, of which the
    logarithm is concave: Newton's method rises to the root from below.
    """

    def log_mu(log_delta: float) -> float | None:
        if not log_delta < _FULL:
            return None
        if not epsilon and log_delta < _LINE:
            return log_delta + _HALF_LOG_TAU
        a = math.sqrt(-2 * log_delta) + 1
        # the tail alone, and epsilon = 0, are less private
        mu = max(2 * epsilon / (math.hypot(a, math.sqrt(2 * epsilon)) + a), math.exp(log_delta))
        try:
            for _ in range(_STEPS):
                here, slope = _log_delta(epsilon, mu)
                step = (log_delta - here) / slope
                mu += step
                if abs(step) < _CLOSE * mu:
                    break
            return math.log(mu) if mu < math.inf else None
        except (ArithmeticError, ValueError):
            return None

    return log_mu


def _log_delta(epsilon: float, mu: float) -> tuple[float, float]:
    """``log(delta(epsilon))`` of a Gaussian, and its derivative in ``mu``."""
    a = epsilon / mu - mu / 2
    if a < _DEEP:
        density = math.exp(-a * a / 2 - _HALF_LOG_TAU)
        lost = math.erfc(-a / math.sqrt(2)) / 2 + density * _mills(a + mu)
        return math.log1p(-lost), density / (1 - lost)
    rest = _mills(a) - _mills(a + mu)
    return math.log(rest) - a * a / 2 - _HALF_LOG_TAU, 1 / rest


def _mills(x: float) -> float:
    """``Q(x)/phi(x)``."""
    if x > _FAR:
        y = 1 / (x * x)
        return (1 - y * (1 - 3 * y * (1 - 5 * y * (1 - 7 * y)))) / x
    return math.sqrt(math.pi / 2) * math.exp(x * x / 2) * math.erfc(x / math.sqrt(2))


def mu_of_errors(alpha: float) -> LogMu:
    """By ``f(alpha) = Phi(Phi^-1(1 - alpha) - mu)``, of ``1 - alpha - f(alpha)``."""

    def log_mu(log_lost: float) -> float | None:
        beta = 1 - alpha - math.exp(log_lost)
        if not 0 < beta < 1 - alpha < 1:
            return None
        mu = _NORMAL.inv_cdf(1 - alpha) - _NORMAL.inv_cdf(beta)
        return math.log(mu) if mu > 0 else None

    return log_mu


def scale(log_mu: LogMu, target: Fraction, odds: bool) -> Callable[[float], float | None] | None:
    """``log(mu/mu')`` where the logarithm of the quantity, or of its ``odds``, exceeds that of the
    target by a gap.
    """
    base = log_of(target)

    def log_mu_at(gap: float) -> float | None:
        logarithm = base + gap
        if odds and logarithm > -_FLAT:
            logarithm = -math.log1p(math.exp(-logarithm))
        return log_mu(logarithm)

    middle, low, high = (log_mu_at(x) for x in (0.0, -_NEAR, _NEAR))
    if middle is None or low is None or high is None:
        return None
    factor = (high - low) / (2 * _NEAR)

    def at(gap: float) -> float | None:
        if abs(gap) < _SMALL:
            return factor * gap
        found = log_mu_at(gap)
        return None if found is None else found - middle

    return at


def reached(
    quantity: Callable[[Fraction], float],
    level: float,
    start: Fraction,
    ordering: Ordering,
    power: float = 1.0,
    close: float = _CLOSE,
) -> Fraction | None:
    """About the value at which a quantity, about a power of it, is at a level; None if nowhere."""
    sense = -1 if ordering.least else 1

    def at(place: float) -> Fraction:
        value = Fraction(math.exp(sense * place))
        return Fraction(round(value)) if ordering.integer else value

    def away(place: float) -> float:
        try:
            return math.log(quantity(at(place)) / level)
        except OverflowError:
            return _ENDLESS

    try:
        place = _root(away, sense * log_of(start), power, close)
        near = abs(away(place)) < _NEAR
        return at(place) if near or ordering.integer else None
    except (ArithmeticError, ValueError, InvalidInput):
        return None


def _root(rising: Callable[[float], float], start: float, slope: float, close: float) -> float:
    """Where a function, about a line, is 0: by secants, around it by the Illinois method."""
    old, before = start, rising(start)
    new = start - before / slope
    here = rising(new)
    for _ in range(_LOOKS):
        if abs(here) < close:
            break
        found = new - here * (new - old) / (here - before)
        there = rising(found)
        if there == here:  # whole numbers end so
            break
        if before * here > 0 or here * there < 0:
            old, before = new, here
        else:
            before /= 2
        new, here = found, there
    return new


def largest_loss(composition: Composition) -> float:
    """About the largest loss, but for infinite ones; infinite where there is none."""
    if composition.apart:
        return math.inf
    found = composition.largest
    total = math.inf if found is None else approximate(found)
    for sample, count in composition.samples:
        inner = largest_loss(sample.inner)
        total += count * math.log1p(approximate(sample.q) * math.expm1(inner))
    return total


def sketched(mechanism: Mechanism) -> Mechanism:
    """About the same, of laws that are short: bounded ranges as what their zCDP comes to."""
    match mechanism:
        case BoundedRange(eps):
            return GDP(eps / 2)
        case DiscreteLaplace(scale, sensitivity) if sensitivity > _MANY:
            return Laplace(scale, rational(sensitivity))
    return mechanism.with_inner(sketched)


def mu_squared(composition: Composition) -> float:
    """That of the Gaussian with about the same expected loss; infinite where it is not known."""
    total = 2 * approximate(composition.rho + composition.xi)
    try:
        losses = [count * pair.cumulant(0.0).slope for pair, count in composition.pairs()]
    except (ArithmeticError, ValueError):
        return math.inf
    if not all(loss >= 0 for loss in losses):  # what is finite may be less likely under P
        return math.inf
    total += 2 * sum(losses)
    for sample, count in composition.samples:
        total += count * approximate(sample.q) ** 2 * math.expm1(mu_squared(sample.inner))
    return total


def sampled_mu_squared(composition: Composition, epsilon: float, log_mu: LogMu) -> float:
    """That of the Gaussian with about the delta of samples of which one alone loses ``epsilon``."""
    total = 0.0
    for sample, count in composition.samples:
        q, inner = approximate(sample.q), mu_squared(sample.inner)
        if q > 0 and inner > 0 and sample.inner.is_unbounded:
            alone = math.log1p(math.expm1(epsilon) / q)
            total += count * q * math.exp(_log_delta(alone, math.sqrt(inner))[0])
    found = log_mu(math.log(total)) if total > 0 else None
    return 0.0 if found is None else math.exp(2 * found)
