"""The choice of method: from a mechanism to the privacy profile that accounts for it exactly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dpexact import balls, reals
from dpexact.accounting.closed_form import GaussianMixedWithResponse
from dpexact.accounting.optimal import OptimalComposition
from dpexact.accounting.profile import InfiniteLoss, NoLoss, Profile
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import GDP, ApproxDP, Gaussian, Mechanism, Poisson, PureDP
from dpexact.reals import Real

#: Longest sum over the outcomes of randomised response composed with a Gaussian.
MAX_TERMS: Final = 20_000


def profile(mechanism: Mechanism) -> Profile:
    """The privacy profile of ``mechanism``'s dominating pair.

    Raises:
        UnsupportedMechanism: naming the part that no certified method accounts for.
    """
    responses: dict[Real, int] = {}
    masses: list[tuple[Real, int]] = []
    mu_squared = reals.rational(0)
    for step, count in _steps(mechanism):
        match step:
            case ApproxDP(eps, delta):
                masses.append((delta, count))
                responses[eps] = responses.get(eps, 0) + count
            case PureDP(eps):
                responses[eps] = responses.get(eps, 0) + count
            case GDP(mu) if balls.sign(mu, "mu") == 0:
                continue
            case GDP(mu):
                mu_squared = _add(mu_squared, _square(mu), count)
            case Gaussian(sigma, sensitivity):
                square = reals.divide(_square(sensitivity), _square(sigma))
                mu_squared = _add(mu_squared, square, count)
            case _:
                raise UnsupportedMechanism(f"no certified accounting for {step}")
    infinite = InfiniteLoss(tuple((d, k) for d, k in masses if d.fraction != 0))
    responses = {eps: count for eps, count in responses.items() if balls.sign(eps, "eps") > 0}
    if len(responses) > 1:
        shown = ", ".join(str(eps) for eps in responses)
        raise UnsupportedMechanism(
            f"no certified accounting for a product of different eps ({shown})"
        )
    eps, count = next(iter(responses.items()), (reals.rational(0), 0))
    if mu_squared.fraction == 0:
        return OptimalComposition(eps, count, infinite) if count else NoLoss(infinite)
    if count > MAX_TERMS:
        raise UnsupportedMechanism(
            f"no certified accounting for a Gaussian composed with more than {MAX_TERMS} "
            f"responses ({count})"
        )
    return GaussianMixedWithResponse(reals.square_root(mu_squared), infinite, eps, count)


def _steps(mechanism: Mechanism) -> Iterator[tuple[Mechanism, int]]:
    """The steps and their numbers; sampling at rate 1 is no sampling."""
    for step, count in mechanism.steps().items():
        if isinstance(step, Poisson) and step.q.fraction == 1:
            for inner, times in _steps(step.mechanism):
                yield inner, count * times
        else:
            yield step, count


def _square(x: Real) -> Real:
    return x.arguments[0] if x.operator == "sqrt" else reals.multiply(x, x)


def _add(total: Real, square: Real, count: int) -> Real:
    return reals.add(total, reals.multiply(reals.rational(count), square))
