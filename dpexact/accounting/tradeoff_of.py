"""From a mechanism to its trade-off function: the choice of representation."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from dpexact import reals
from dpexact.accounting.queries import mechanism_in
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

#: Largest number of repetitions of one mechanism whose vertices are written out.
MAX_REPETITIONS: Final = 5_000


def tradeoff(mechanism: Mechanism | str) -> TradeoffFunction:
    """The trade-off function ``T(P, Q)`` of the dominating pair of ``mechanism``.

    It is callable at an exact ``alpha``; where the pair is finite it is a
    :class:`~dpexact.tradeoff.PiecewiseLinear` with exact ``vertices``, and its values are exact
    when ``e^eps`` is rational. All of them are symmetric.

    Accepts products of ``approx_dp``, ``pure_dp`` and ``discrete_laplace``, products of ``gdp`` and
    ``gaussian``, and a single ``laplace``.

    Raises:
        InvalidInput: an argument out of its domain.
        UnsupportedMechanism: naming the part that has no exact trade-off function here.

    >>> f = tradeoff("approx_dp(log(2), 1/100)^2")
    >>> print(f("1/10"))
    0.5801
    >>> print(tradeoff("gaussian(2)^4")("1/20").shown(12))
    0.740488977158...
    """
    m = mechanism_in(mechanism)
    steps = [(_simplified(step), count) for step, count in m.steps().items()]
    kinds = {_kind(step) for step, _ in steps}
    if kinds == {"finite"}:
        return _finite(steps)
    if kinds == {"gaussian"}:
        return _gaussian(steps)
    if kinds == {"laplace"} and len(steps) == 1 and steps[0][1] == 1:
        return _laplace(steps[0][0])
    raise UnsupportedMechanism(
        f"no exact trade-off function for {m}: products of approx_dp, pure_dp and "
        "discrete_laplace, products of gdp and gaussian, and one laplace have one"
    )


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
        if count > MAX_REPETITIONS:
            raise UnsupportedMechanism(
                f"the trade-off function of {count} times {step} is not written out "
                f"(limit {MAX_REPETITIONS}); delta() and epsilon() have no such limit"
            )
        result = result * _one(step) ** count
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
        square = reals.add(square, reals.multiply(reals.rational(count), reals.multiply(mu, mu)))
    return GaussianTradeoff(reals.square_root(square))


def _mu(step: Mechanism) -> Real:
    match step:
        case GDP(mu):
            return mu
        case Gaussian(sigma, sensitivity):
            return reals.divide(sensitivity, sigma)
    raise AssertionError(f"{step} is not Gaussian")


def _laplace(step: Mechanism) -> LaplaceTradeoff:
    assert isinstance(step, Laplace)
    return LaplaceTradeoff(reals.divide(step.sensitivity, step.scale))
