"""From a mechanism to its trade-off function: the choice of representation."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from dpexact import reals
from dpexact.accounting.composition import is_only_bounded
from dpexact.accounting.dual import trade_off
from dpexact.accounting.profile import Profile
from dpexact.accounting.routes import profile
from dpexact.balls import certify
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    GDP,
    ApproxDP,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Mechanism,
    Poisson,
    PureDP,
)
from dpexact.mechanisms.grammar import mechanism_in
from dpexact.reals import Real
from dpexact.tradeoff import (
    GaussianTradeoff,
    LaplaceTradeoff,
    PiecewiseLinear,
    TradeoffFunction,
    discrete_laplace_pair,
    f_eps_delta,
    identity,
)
from dpexact.tradeoff.numbers import Number, compare, enclose

#: Points and supporting lines in a picture, and the largest ``|log slope|``.
_OUTLINE_POINTS: Final = 200
_OUTLINE_LINES: Final = 60
_STEEPEST: Final = 12.0
#: Below this delta further lines change nothing that is seen.
_FLAT: Final = 1e-4

#: Largest number of repetitions of one mechanism whose vertices are written out.
MAX_REPETITIONS: Final = 5_000


def tradeoff(mechanism: Mechanism | str) -> TradeoffFunction:
    """The trade-off function ``T(P, Q)`` of the dominating pair of ``mechanism``.

    It is callable at an exact ``alpha``; where the pair is finite it is a
    :class:`~dpexact.tradeoff.PiecewiseLinear` with exact ``vertices``, and its values are exact
    when ``e^eps`` is rational. All of them are symmetric.

    Products of ``approx_dp``, ``pure_dp`` and ``discrete_laplace``, products of ``gdp`` and
    ``gaussian``, and a single ``laplace`` have closed forms; every other mechanism that has a
    privacy profile is evaluated through it (method ``dual``).

    Raises:
        InvalidInput: an argument out of its domain.
        UnsupportedMechanism: naming the part that no certified method accounts for.

    >>> f = tradeoff("approx_dp(log(2), 1/100)^2")
    >>> print(f("1/10"))
    0.5801
    >>> print(tradeoff("gaussian(2)^4")("1/20").shown(12))
    0.740488977158...
    """
    m = mechanism_in(mechanism)
    if is_only_bounded(m):
        raise UnsupportedMechanism("zcdp leaves the trade-off function open")
    steps = [(_simplified(step), count) for step, count in m.steps().items()]
    kinds = {_kind(step) for step, _ in steps}
    if kinds == {"finite"} and all(count <= MAX_REPETITIONS for _, count in steps):
        return _finite(steps)
    if kinds == {"gaussian"}:
        return _gaussian(steps)
    if kinds == {"laplace"} and len(steps) == 1 and steps[0][1] == 1:
        return _laplace(steps[0][0])
    return DualTradeoff(profile(m))


class DualTradeoff(TradeoffFunction):
    """The symmetric trade-off function of a privacy profile, by :mod:`dpexact.accounting.dual`."""

    method = "dual"

    def __init__(self, found: Profile) -> None:
        self.profile = found

    def _enclose(self, alpha: Number, digits: int) -> Enclosure:
        if compare(alpha, 1) == 0:
            return Enclosure.exact(Fraction(0), self.method)
        if compare(alpha, 0) == 0:
            lost = self.profile.infinite.fraction
            if lost is not None:
                return Enclosure.exact(1 - lost, self.method)
            return certify(
                lambda: 1 - self.profile.infinite.ball(),
                digits,
                lowest=Fraction(0),
                highest=Fraction(1),
                method=self.method,
            )
        method = f"{self.method} of {self.profile.method}"
        level = enclose(alpha, 2 * digits + 20, method)
        return trade_off(self.profile.delta, level, digits, method)

    def inverse(self) -> DualTradeoff:
        return self

    def _outline(self) -> tuple[list[float], list[float]]:
        """The upper envelope of supporting lines; each costs one evaluation of the profile."""
        lines = []
        for k in range(_OUTLINE_LINES + 1):
            t = _STEEPEST * (k / _OUTLINE_LINES) ** 2
            delta = self._near(t)
            lines += [(1 - delta, math.exp(t)), (math.exp(-t) * (1 - delta), math.exp(-t))]
            # proposes: a picture
            if delta < _FLAT:
                break
        alphas = [(k / _OUTLINE_POINTS) ** 2 for k in range(_OUTLINE_POINTS + 1)]
        return alphas, [max(0.0, *(c - slope * a for c, slope in lines)) for a in alphas]

    def _near(self, epsilon: float) -> float:
        return float(self.profile.delta(reals.real(epsilon), 3).upper)


def _simplified(step: Mechanism) -> Mechanism:
    """Sampling at rate 1 is no sampling."""
    if isinstance(step, Poisson) and step.q.fraction == 1:
        return _simplified(step.mechanism)
    return step


def _kind(step: Mechanism) -> str:
    match step:
        case ApproxDP() | PureDP() | DiscreteLaplace():
            return "finite"
        case GDP() | Gaussian():
            return "gaussian"
        case Laplace():
            return "laplace"
    return "other"


def _finite(steps: Iterable[tuple[Mechanism, int]]) -> PiecewiseLinear:
    result = identity()
    for step, count in steps:
        result *= _one(step) ** count
    return result


def _one(step: Mechanism) -> PiecewiseLinear:
    match step:
        case ApproxDP(eps, delta):
            return f_eps_delta(eps, delta)
        case PureDP(eps):
            return f_eps_delta(eps, Fraction(0))
        case DiscreteLaplace(scale, sensitivity):
            return discrete_laplace_pair(scale, sensitivity)
    raise AssertionError(f"{step} has no finite pair")


def _gaussian(steps: Iterable[tuple[Mechanism, int]]) -> GaussianTradeoff:
    square = reals.rational(0)
    for step, count in steps:
        mu = _mu(step)
        square += count * (mu * mu)
    return GaussianTradeoff(reals.square_root(square))


def _mu(step: Mechanism) -> Real:
    match step:
        case GDP(mu):
            return mu
        case Gaussian(sigma, sensitivity):
            return sensitivity / sigma
    raise AssertionError(f"{step} is not Gaussian")


def _laplace(step: Mechanism) -> LaplaceTradeoff:
    assert isinstance(step, Laplace)
    return LaplaceTradeoff(step.sensitivity / step.scale)
