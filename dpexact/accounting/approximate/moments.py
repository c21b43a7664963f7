r"""Moments of the privacy loss, summed over the steps of a composition.

Samples of Gaussians by certified quadrature. With ``w(x) = 1 - q + q e^y``, ``y = mu x - mu^2/2``
and ``x ~ N(0, 1)``, the loss is ``L = log w``. For ``x >= mu/2``, ``0 <= L <= y``; below,
``log(1-q) <= L <= 0``. As ``L^j <= j! e^L``, the tails beyond ``a >= 2 mu`` are at most, with ``Q``
the normal tail,

.. math:: \int_a^\infty L^j\varphi \le j!\,Q(a - \mu), \qquad
          \int_a^\infty L^j w\varphi \le j!\,e^{\mu^2} Q(a - 2\mu),

and those below ``-b`` at most ``|log(1-q)|^j Q(b)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from flint import acb, arb

from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.pair import Pair
from dpexact.balls import UNIT, normal_tail
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

Density: TypeAlias = Callable[[acb, acb], acb]
"""The integrand from ``L(x)`` and ``e^y``, without the normal density."""


def summed(
    c: Composition,
    of_pair: Callable[[Pair], Sequence[arb]],
    of_sample: Callable[[arb, arb], Sequence[arb]],
) -> Callable[[], list[arb]]:
    """The sums over all steps of what is said of a pair, and of a sample by its ``mu`` and rate.

    They are kept: balls of a higher precision serve a lower one.

    Raises:
        UnsupportedMechanism: what is sampled is not Gaussian.
    """
    noises: list[tuple[Pair, int]] = [(Gaussian(1 / noise), count) for noise, count in c.noises]
    pairs, samples = [*noises, *replace(c, noises=[]).pairs()], gaussian_samples(c)
    kept: dict[int, list[arb]] = {}

    def compute() -> list[arb]:
        bits = balls.current()
        for known, found in kept.items():
            if known >= bits:
                return found
        # proposes: whoever asks a third time will ask again
        bits = bits if len(kept) < 2 else max(bits, 2 * max(kept))
        with balls.precision(bits):
            rows = [(of_pair(pair), count) for pair, count in pairs]
            rows += [(of_sample(balls.ball(mu), balls.ball(q)), k) for mu, q, k in samples]
            columns = zip(*([count * x for x in row] for row, count in rows), strict=True)
            kept[bits] = [sum(column, arb(0)) for column in columns]
        return kept[bits]

    return compute


def gaussian_samples(c: Composition) -> list[tuple[Real, Real, int]]:
    """``(mu, rate, count)`` of each sample.

    Raises:
        UnsupportedMechanism: what is sampled is not Gaussian.
    """
    found = []
    for sample, count in c.samples:
        if not sample.inner.is_gaussian or sample.inner.mu is None:
            raise UnsupportedMechanism("the approximation is for samples of Gaussian noise alone")
        found.append((sample.inner.mu, sample.q, count))
    return found


def sampled_functionals(mu: arb, p: arb) -> list[arb]:
    r"""``E Z``, its variance and ``E|Z - EZ|^3`` of ``C_p(G_mu)``, which holds in both directions.

    Lemma 4 of Dong, Roth, Su (2022), with the term that its third line lacks:

    .. math:: \bar\kappa_3 = \int_{\mu/2}^\infty |Z - kl|^3 (p\varphi(x-\mu) + (1-p)\varphi)
              + \int_{\mu/2}^\infty |Z + kl|^3 \varphi + kl^3 (1-p)(1 - 2\Phi(-\mu/2))

    The last term is the mass on which the trade-off function has slope -1.
    """
    low = mu / 2
    high = (2 * mu + reach()).upper()
    beyond = p * (mu * mu).exp() * normal_tail(high - 2 * mu) + 2 * normal_tail(high - mu)
    tail = beyond * UNIT
    kl = p * (integrate(mu, p, lambda z, e: z * (e - 1), low, high)) + tail
    second = integrate(mu, p, lambda z, e: z * z * (p * e + 2 - p), low, high) + 2 * tail
    # Z = kl at the kink, which any point near it may replace: both signs are integrated there
    kink = (((kl.expm1() + p) / p).log() + mu * mu / 2) / mu
    # proposes: a place near the kink; how far it may be off is added
    cut = arb(kink.mid())
    width = 2 * arb(kink.rad()) + arb(2) ** (-balls.current())
    wrong = 2 * (mu * width) ** 3 * width * (p * (mu * (cut + width)).exp() + 1)
    third = integrate(mu, p, lambda z, e: (kl - z) ** 3 * (p * e + 1 - p), low, cut)
    third += integrate(mu, p, lambda z, e: (z - kl) ** 3 * (p * e + 1 - p), cut, high)
    third += wrong * arb(-1).union(arb(1))
    third += integrate(mu, p, lambda z, e: (z + kl) ** 3, low, high)
    third += kl**3 * (1 - p) * (1 - 2 * normal_tail(low))
    third += 6 * kl.exp() * tail
    return [kl, second - kl * kl, third]


def sampled_cumulants(mu: arb, q: arb, weighted: bool) -> list[arb]:
    """The first four of ``L``, under ``N(0, 1)`` or, ``weighted``, under the mixture."""
    m1, m2, m3, m4 = raw_moments(mu, q, 4, weighted)
    return [
        m1,
        m2 - m1**2,
        m3 - 3 * m2 * m1 + 2 * m1**3,
        m4 - 4 * m3 * m1 - 3 * m2**2 + 12 * m2 * m1**2 - 6 * m1**4,
    ]


def raw_moments(mu: arb, q: arb, highest: int, weighted: bool) -> list[arb]:
    """``E[L^j]`` for ``j = 1..highest``, under ``N(0, 1)`` or, ``weighted``, under the mixture."""
    beyond = reach()
    low, high = -beyond, 2 * mu + beyond
    floor = -(-q).log1p()
    found = []
    for j in range(1, highest + 1):

        def integrand(loss: acb, grown: acb, power: int = j) -> acb:
            value = loss**power
            return value * (1 - q + q * grown) if weighted else value

        total = integrate(mu, q, integrand, low, high)
        right = (mu * mu).exp() * normal_tail(high - 2 * mu)
        right = math.factorial(j) * (right if weighted else normal_tail(high - mu))
        total += right * UNIT
        total += floor**j * normal_tail(beyond) * arb(-1).union(arb(1))
        found.append(total)
    return found


def reach() -> arb:
    """Where the normal tail is far below the current precision."""
    return arb(math.sqrt(2 * math.log(2) * (balls.current() + 40)))


def integrate(mu: arb, q: arb, density: Density, low: arb, high: arb) -> arb:
    """``int density(L(x), e^y) phi(x) dx`` between finite ends, enclosed."""

    def integrand(x: acb, analytic: bool) -> acb:
        grown = (mu * x - mu * mu / 2).exp()
        loss = (1 - q + q * grown).log(analytic=analytic)
        return density(loss, grown) * (-x * x / 2).exp()

    tolerance = arb(2) ** (-balls.current() - 20)
    found = balls.integral(integrand, low, high, abs_tol=tolerance)
    return found.real / (2 * arb.pi()).sqrt()
