r"""Many Laplace steps: the profile by certified inversion of the Laplace transform.

For one step :math:`M_1(s) = E_P[e^{sZ}] = e^{-\lambda/2}\big(\cosh\lambda\sigma +
\frac{\sinh\lambda\sigma}{2\sigma}\big)` with :math:`\sigma = s + 1/2`. For ``c > 0``, any ``x``
and ``h = 2 pi/x``, Poisson summation gives for ``M`` the product over all steps

.. math:: \frac{h}{2\pi} \sum_n \frac{e^{-s_n\varepsilon} M(s_n)}{s_n(s_n+1)}
          = \delta(\varepsilon) + \sum_{m \ge 1} \big[e^{cxm}\delta(\varepsilon + xm)
          + e^{-cxm}\delta(\varepsilon - xm)\big], \quad s_n = c + inh,

where the second part is at most :math:`\frac{e^{-cx}}{1-e^{-cx}}` and the first at most
:math:`K(b) M(b) e^{-b\varepsilon} \frac{r}{1-r}`, :math:`r = e^{-(b-c)x}`, for any ``b > c``;
it vanishes when ``epsilon + x`` exceeds the largest loss. Because of the atoms ``M`` does not
decay, but for :math:`|Im\,s| \ge U` every :math:`|M_1(s)| \le e^{-\lambda/2}
\cosh(\lambda(c + \tfrac12)) (1 + \frac1{2U})`, which many steps make small beside ``M(c)``; the sum
beyond ``N h = U`` is at most that product times :math:`e^{-c\varepsilon}/(\pi U)`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import acb, arb

from dpexact import balls
from dpexact.accounting.minimum import minimise
from dpexact.reals import Real

#: Most nodes of the integral.
MAX_NODES: Final = 100_000
#: Of the working precision, bits that the truncation errors need not match.
SPARE: Final = 20

Rates = list[tuple[float, int]]


@dataclass(frozen=True, slots=True)
class ContourPlan:
    """The line ``c``, the period ``x``, the exponent ``b`` and the number of nodes."""

    line: Fraction
    period: Fraction
    exponent: Fraction
    nodes: int


def plan_contour(rates: Rates, epsilon: float, log_delta: float, bits: int) -> ContourPlan | None:
    """Parameters that bring all errors to about ``2^-(bits - SPARE) delta``; ``None`` if none do.

    Chosen in floats; :func:`contour_integral` bounds the errors afresh.
    """

    def objective(c: float) -> float:
        return _log_moment(rates, c) - c * epsilon

    line = 2.0 ** minimise(lambda y: objective(2.0**y) - math.log(2.0**y * (1 + 2.0**y)), -10, 20)
    log_error = log_delta - (bits - SPARE) * math.log(2)
    span = sum(rate * count for rate, count in rates)
    period = max(-log_error / line, 1.0)
    exponent = 2.0 * line
    for _ in range(60):
        if epsilon + period > span:
            break
        y = minimise(lambda y, x=period: objective(line + 2.0**y) - 2.0**y * x, -10, 20)  # type: ignore[misc]
        exponent = line + 2.0**y
        if objective(exponent) - (exponent - line) * period < log_error:
            break
        period *= 1.2
    reach = 1.0
    while _log_far(rates, line, reach) - line * epsilon - math.log(math.pi * reach) > log_error:
        reach *= 1.25
        if reach > 1e7:
            return None
    nodes = math.ceil(reach * period / (2 * math.pi))
    if nodes > MAX_NODES:
        return None
    return ContourPlan(_short(line), _short(period), _short(exponent), nodes)


def contour_integral(parts: Sequence[tuple[Real, int]], epsilon: arb, plan: ContourPlan) -> arb:
    """``delta(epsilon)`` as a ball at the current precision, whatever the plan."""
    growth = max(count for _, count in parts).bit_length()
    with balls.precision(balls.current() + growth + 32):
        rates = [(balls.ball(rate), count) for rate, count in parts]
        line, period = balls.ball(plan.line), balls.ball(plan.period)
        spacing = 2 * arb.pi() / period
        total = _integrand(rates, acb(line), epsilon).real
        for n in range(1, plan.nodes + 1):
            total += 2 * _integrand(rates, acb(line, n * spacing), epsilon).real
        return total / period + _errors(rates, epsilon, plan, spacing)


def _errors(rates: list[tuple[arb, int]], epsilon: arb, plan: ContourPlan, spacing: arb) -> arb:
    """A ball that holds ``delta`` minus the computed sum."""
    line, period, b = balls.ball(plan.line), balls.ball(plan.period), balls.ball(plan.exponent)
    reach = plan.nodes * spacing
    far = (-line * epsilon).exp() / (arb.pi() * reach)
    span = arb(0)
    for rate, count in rates:
        step = (-rate / 2).exp() * (rate * (line + 0.5)).cosh() * (1 + 1 / (2 * reach))
        far *= step**count
        span += rate * count
    below = (-line * period).exp()
    below = below / (1 - below)
    above = arb(0)
    if not epsilon + period > span:
        ratio = (-(b - line) * period).exp()
        moment = _integrand(rates, acb(b), epsilon).real * b * (b + 1)
        kernel = (b * b.log() - (1 + b) * (1 + b).log()).exp()
        above = kernel * moment * ratio / (1 - ratio)
        if not ratio < 1:
            return arb.nan()
    return far * arb(-1).union(arb(1)) - (below + above) * arb(0).union(arb(1))


def _integrand(rates: list[tuple[arb, int]], s: acb, epsilon: arb) -> acb:
    """``e^(-s epsilon) M(s) / (s (s+1))``."""
    sigma = s + 0.5
    value = (-s * epsilon).exp() / (s * (s + 1))
    for rate, count in rates:
        up = (rate * sigma).exp()
        down = 1 / up
        step = ((up + down) + (up - down) / (2 * sigma)) / 2
        value *= ((-rate / 2).exp() * step) ** count
    return value


def chernoff(rates: Rates, epsilon: float) -> float:
    """About ``log delta(epsilon)``, by the best exponential moment."""

    def bound(s: float) -> float:
        kernel = s * math.log(s) - (1 + s) * math.log1p(s)
        return _log_moment(rates, s) - s * epsilon + kernel

    return min(0.0, bound(2.0 ** minimise(lambda y: bound(2.0**y), -20, 20)))


def _log_moment(rates: Rates, s: float) -> float:
    sigma = s + 0.5
    total = 0.0
    for rate, count in rates:
        small = math.exp(-2 * rate * sigma)
        inner = ((1 + small) + (1 - small) / (2 * sigma)) / 2
        total += count * (rate * s + math.log(inner))
    return total


def _log_far(rates: Rates, line: float, reach: float) -> float:
    """The logarithm of the bound on ``|M|`` beyond ``reach``."""
    total = 0.0
    for rate, count in rates:
        wave = rate * (line + 0.5)
        log_cosh = wave + math.log1p(math.exp(-2 * wave)) - math.log(2)
        total += count * (log_cosh - rate / 2 + math.log1p(1 / (2 * reach)))
    return total


def _short(value: float) -> Fraction:
    """A short fraction close to a positive float."""
    mantissa, exponent = math.frexp(value)
    return Fraction(max(round(mantissa * 256), 1)) * Fraction(2) ** (exponent - 8)
