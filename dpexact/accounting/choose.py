"""The choice of method: from a mechanism to the privacy profile that accounts for it exactly."""

from __future__ import annotations

from typing import Final

from dpexact import balls, reals
from dpexact.accounting.closed_form import GaussianMixedWithResponse
from dpexact.accounting.exact_laws import profile_of_steps
from dpexact.accounting.optimal import OptimalComposition
from dpexact.accounting.profile import InfiniteLoss, NoLoss, Profile
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    GDP,
    ApproxDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Mechanism,
    Poisson,
    PureDP,
    Staircase,
)
from dpexact.reals import Real

#: Mechanisms that only the exact laws account for.
_EXACT: Final = (Laplace, DiscreteLaplace, DiscreteGaussian, Staircase)

#: Longest sum over the outcomes of randomised response composed with a Gaussian.
MAX_TERMS: Final = 20_000


def profile(mechanism: Mechanism) -> Profile:
    """The privacy profile of ``mechanism``'s dominating pair.

    Raises:
        UnsupportedMechanism: naming the part that no certified method accounts for.
    """
    if any(isinstance(_simplified(step), _EXACT) for step in mechanism.steps()):
        return profile_of_steps(mechanism.steps(), "remove")
    responses: dict[Real, int] = {}
    masses: list[tuple[Real, int]] = []
    mu_squared = reals.rational(0)
    for step, count in mechanism.steps().items():
        simple = _simplified(step)
        match simple:
            case ApproxDP(eps, delta):
                masses.append((delta, count))
                responses[eps] = responses.get(eps, 0) + count
            case PureDP(eps):
                responses[eps] = responses.get(eps, 0) + count
            case GDP(mu):
                mu_squared = _add_square(mu_squared, mu, count)
            case Gaussian(sigma, sensitivity):
                mu_squared = _add_square(mu_squared, reals.divide(sensitivity, sigma), count)
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


def _simplified(step: Mechanism) -> Mechanism:
    """Sampling at rate 1 is no sampling."""
    if isinstance(step, Poisson) and step.q.fraction == 1:
        return _simplified(step.mechanism)
    return step


def _add_square(total: Real, mu: Real, count: int) -> Real:
    return reals.add(total, reals.multiply(reals.rational(count), reals.multiply(mu, mu)))
