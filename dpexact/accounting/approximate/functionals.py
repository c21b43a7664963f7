r"""The functionals of Dong, Roth, Su (2022), Section 3.2, of one symmetric step.

With ``Z = log dP/dQ`` under ``P``:

.. math:: kl = E Z, \quad \kappa_2 = E Z^2, \quad \bar\kappa_3 = E|Z - kl|^3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.approximate.base import normal_tail
from dpexact.accounting.approximate.noise_moments import NoiseMoments, noise_moments
from dpexact.accounting.approximate.sampled_moments import integrate, reach
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import GDP, FixedSize, Gaussian, Mechanism, Poisson
from dpexact.reals import Real


@dataclass(frozen=True, slots=True)
class Functionals:
    """``kl``, ``kappa_2``, ``kappa_2 - kl^2`` and ``bar kappa_3`` of one step, or their sums."""

    kl: arb
    second: arb
    variance: arb
    third: arb

    def __add__(self, other: Functionals) -> Functionals:
        return Functionals(
            self.kl + other.kl,
            self.second + other.second,
            self.variance + other.variance,
            self.third + other.third,
        )

    def times(self, count: int) -> Functionals:
        """The sums over ``count`` equal steps."""
        return Functionals(
            count * self.kl, count * self.second, count * self.variance, count * self.third
        )


def functionals(step: Mechanism) -> Callable[[], Functionals]:
    """The functionals of one step as a ball function.

    A sample stands for ``C_p`` of its Gaussian: the guarantee in both directions.

    Raises:
        UnsupportedMechanism: they are infinite, or not known for this mechanism.
    """
    match step:
        case Poisson(inner, q):
            mu = gaussian_mu(inner)
            return lambda: sampled_functionals(balls.ball(mu), balls.ball(q))
        case FixedSize(inner, m, n):
            mu, q = gaussian_mu(inner), reals.rational(m) / reals.rational(n)
            return lambda: sampled_functionals(balls.ball(mu), balls.ball(q))
    noise = noise_moments(step)
    if noise is None:
        raise UnsupportedMechanism(f"no functionals of {step}: infinite, or not known")
    return lambda: _of_noise(noise())


def _of_noise(moments: NoiseMoments) -> Functionals:
    kl, variance, *_ = moments.cumulants
    return Functionals(kl, variance + kl * kl, variance, moments.third)


def gaussian_mu(step: Mechanism) -> Real:
    """``mu`` of a single Gaussian step.

    Raises:
        UnsupportedMechanism: the step is not Gaussian.
    """
    match step:
        case GDP(mu):
            return mu
        case Gaussian(sigma, sensitivity):
            return sensitivity / sigma
    raise UnsupportedMechanism(f"the approximation is for Gaussian noise, not {step}")


def sampled_functionals(mu: arb, p: arb) -> Functionals:
    r"""Of ``C_p(G_mu)``: Lemma 4, with the term that its third line lacks.

    .. math:: \bar\kappa_3 = \int_{\mu/2}^\infty |Z - kl|^3 (p\varphi(x-\mu) + (1-p)\varphi)
              + \int_{\mu/2}^\infty |Z + kl|^3 \varphi + kl^3 (1-p)(1 - 2\Phi(-\mu/2))

    The last term is the mass on which the trade-off function has slope -1.
    """
    low = mu / 2
    high = (2 * mu + reach()).upper()
    beyond = p * (mu * mu).exp() * normal_tail(high - 2 * mu) + 2 * normal_tail(high - mu)
    tail = beyond * arb(0).union(arb(1))
    kl = p * (integrate(mu, p, lambda _, z, e: z * (e - 1), low, high)) + tail
    second = integrate(mu, p, lambda _, z, e: z * z * (p * e + 2 - p), low, high) + 2 * tail
    # Z = kl at the kink, which any point near it may replace: both signs are integrated there
    kink = (((kl.expm1() + p) / p).log() + mu * mu / 2) / mu
    # proposes: a place near the kink; how far it may be off is added
    cut = arb(kink.mid())
    width = 2 * arb(kink.rad()) + arb(2) ** (-balls.current())
    wrong = 2 * (mu * width) ** 3 * width * (p * (mu * (cut + width)).exp() + 1)
    third = integrate(mu, p, lambda _, z, e: (kl - z) ** 3 * (p * e + 1 - p), low, cut)
    third += integrate(mu, p, lambda _, z, e: (z - kl) ** 3 * (p * e + 1 - p), cut, high)
    third += wrong * arb(-1).union(arb(1))
    third += integrate(mu, p, lambda _, z, e: (z + kl) ** 3, low, high)
    third += kl**3 * (1 - p) * (1 - 2 * normal_tail(low))
    third += 6 * kl.exp() * tail
    return Functionals(kl, second, second - kl * kl, third)
