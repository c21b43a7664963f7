r"""Zero-concentrated DP to ``(eps, delta)``: the plain conversion and that of Proposition 14.

A mechanism is ``rho``-zCDP when ``E e^{tZ} <= e^{t(t+1) rho}`` for all ``t > 0``. Proposition 14 of
Steinke (2022) then gives, for every ``t > 0`` and ``eps >= 0``,

.. math:: \log\delta = t(t+1)\rho - t\varepsilon + t\log t - (t+1)\log(t+1).

Its derivative in ``t`` is ``(2t+1) rho - log(1 + 1/t) - eps``, which increases; so the best ``t``
is its one zero, and there

.. math:: \varepsilon = (2t+1)\rho - \log(1 + 1/t), \qquad \log(1/\delta) = \rho t^2 + \log(1+t).

Both increase with ``t``: the curve of best answers has these coordinates.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.classic.guarantees import guarantees, sampling_of
from dpexact.accounting.classic.roots import increasing_root
from dpexact.accounting.profile import InfiniteLoss
from dpexact.answers import delivered
from dpexact.arguments import digits_in, real_in
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    GDP,
    ZCDP,
    DiscreteGaussian,
    FixedSize,
    Gaussian,
    Mechanism,
    Poisson,
)
from dpexact.reals import Real, RealLike

_ZERO: Final = Fraction(0)
_ONE: Final = Fraction(1)


def plain_zcdp_epsilon(rho: RealLike, delta: RealLike, digits: int = 15) -> Enclosure:
    """``rho + 2 sqrt(rho log(1/delta))``: Bun and Steinke (2016), Proposition 1.3.

    Args:
        rho: any exact real ``>= 0``.
        delta: any exact real in ``(0, 1]``.
        digits: certified significant digits of the bound.

    >>> print(plain_zcdp_epsilon("1/2", "1e-6", 12).shown(12))
    5.75652176975...
    """
    wanted = digits_in(digits)
    return delivered(enclose_plain_zcdp(rho, delta, wanted), wanted)


def enclose_plain_zcdp(rho: RealLike, delta: RealLike, digits: int) -> Enclosure:
    """The bound of :func:`plain_zcdp_epsilon`, as narrow as it could be certified."""
    r, target = _rho(rho), _delta(delta)

    def compute() -> arb:
        x = balls.ball(r)
        return x + 2 * (x * (-balls.ball(target).log()).max(arb(0))).sqrt()

    return balls.certify(compute, digits, lowest=_ZERO, method="zCDP, plain")


def zcdp_epsilon(rho: RealLike, delta: RealLike, digits: int = 15) -> Enclosure:
    """The least ``eps >= 0`` that Proposition 14 of Steinke (2022) gives for ``rho``-zCDP.

    Args:
        rho: any exact real ``>= 0``.
        delta: any exact real in ``(0, 1]``.
        digits: certified significant digits of the bound.

    >>> print(zcdp_epsilon("1/2", "1e-6", 13).shown(13))
    5.221534444530...
    """
    wanted = digits_in(digits)
    return delivered(enclose_zcdp(rho, delta, wanted), wanted)


def enclose_zcdp(rho: RealLike, delta: RealLike, digits: int) -> Enclosure:
    """The bound of :func:`zcdp_epsilon`, as narrow as it could be certified."""
    r, target = _rho(rho), _delta(delta)
    if balls.sign(r, "rho") == 0 or target.fraction == 1:
        return Enclosure.exact(_ZERO, "zCDP, Proposition 14")
    return balls.certify(
        lambda: epsilon_ball(balls.ball(r), -balls.ball(target).log()),
        digits,
        lowest=_ZERO,
        method="zCDP, Proposition 14",
    )


def zcdp_delta(rho: RealLike, epsilon: RealLike, digits: int = 15) -> Enclosure:
    """The least ``delta`` that Proposition 14 of Steinke (2022) gives for ``rho``-zCDP.

    Args:
        rho: any exact real ``>= 0``.
        epsilon: any exact real ``>= 0``.
        digits: certified significant digits of the bound.

    >>> print(zcdp_delta("1/2", 3, 12).shown(12))
    0.00514318406386...
    """
    r, point, wanted = _rho(rho), real_in(epsilon, "epsilon", ">= 0"), digits_in(digits)
    if balls.sign(r, "rho") == 0:
        return Enclosure.exact(_ZERO, "zCDP, Proposition 14")
    found = balls.certify(
        lambda: delta_ball(balls.ball(r), balls.ball(point)),
        wanted,
        lowest=_ZERO,
        highest=_ONE,
        method="zCDP, Proposition 14",
    )
    return delivered(found, wanted)


def total_rho(mechanism: Mechanism) -> tuple[Real, InfiniteLoss]:
    """The zCDP parameter of a composition, and the mass of infinite loss beside it.

    Gaussian noise has ``mu^2/2``, exactly; discrete Gaussian noise at most ``s^2/(2 sigma^2)``
    (Canonne, Kamath, Steinke 2020, Theorem 4); ``eps``-DP implies ``eps^2/2`` (Steinke 2022,
    Proposition 16). An ``(eps, delta)``-DP step is infinite loss of mass ``delta``, and otherwise
    ``eps``-DP (Kairouz, Oh, Viswanath 2017). A sample of all records is none, a sample of no record
    loses nothing; another sample of something ``(eps, delta)``-DP has the amplified guarantee.

    Raises:
        UnsupportedMechanism: another sample, or samples for different neighbours together.
    """
    sampling_of(mechanism)
    total = reals.rational(0)
    masses: list[tuple[Real, int]] = []
    for step, count in mechanism.steps().items():
        for rho, times, delta in _rhos(step):
            weight = reals.rational(count * times)
            total += weight * rho
            if delta.fraction != 0:
                masses.append((delta, count * times))
    return total, InfiniteLoss(tuple(masses))


def is_only_bounded(mechanism: Mechanism) -> bool:
    """Whether the description leaves the dominating pair open: some part is zCDP, ``rho > 0``.

    Then delta, epsilon and Rényi divergences are upper bounds: the truth lies in ``[0, bound]``.
    """
    for step in mechanism.steps():
        match step:
            case ZCDP(rho) if balls.sign(rho, "rho") > 0:
                return True
            case Poisson(inner, q) if balls.sign(q, "q") > 0 and is_only_bounded(inner):
                return True
            case FixedSize(inner, _, _) if is_only_bounded(inner):
                return True
    return False


def epsilon_ball(rho: arb, loss: arb) -> arb:
    """Proposition 14's epsilon, at least 0, for ``rho > 0`` and ``loss = log(1/delta) > 0``."""
    high = (loss / rho).sqrt().upper()
    best = increasing_root(lambda t: rho * t * t + t.log1p() - loss, arb(0), high)
    return ((2 * best + 1) * rho - (1 / best).log1p()).max(arb(0))


def delta_ball(rho: arb, epsilon: arb) -> arb:
    """Proposition 14's delta for ``rho > 0`` and ``epsilon >= 0``."""
    # (2t+1) rho - log(1 + 1/t) - eps <= 0 at the left end, as log(1 + 1/t) >= log(1/t)
    low = (-(epsilon + 3 * rho)).exp().min(arb(1)).lower() * arb("0.5")
    high = ((epsilon + 1) / (2 * rho) + 1).upper()
    best = increasing_root(lambda t: (2 * t + 1) * rho - (1 / t).log1p() - epsilon, low, high)
    return (-rho * best * best).exp() / (1 + best)


def _parts(inner: Mechanism) -> list[tuple[Real, int, Real]]:
    return [
        (rho, times * count, delta)
        for step, count in inner.steps().items()
        for rho, times, delta in _rhos(step)
    ]


def _rhos(step: Mechanism) -> list[tuple[Real, int, Real]]:
    """``(rho, count, delta)`` of the parts of one step."""
    nothing, half = reals.rational(0), reals.rational(Fraction(1, 2))
    match step:
        case ZCDP(rho):
            return [(rho, 1, nothing)]
        case Poisson(_, q) if balls.sign(q, "q") == 0:
            return []
        case Poisson(inner, q) if q.fraction == 1:
            return _parts(inner)
        case FixedSize(inner, m, n) if m == n:
            return _parts(inner)
        case GDP(mu):
            root = mu
        case Gaussian(sigma, sensitivity):
            root = sensitivity / sigma
        case DiscreteGaussian(sigma, width):
            root = width / sigma
        case _:
            try:
                pairs = guarantees(step)
            except UnsupportedMechanism:
                raise UnsupportedMechanism(f"no zCDP guarantee of {step} is known") from None
            return [(half * (p.eps * p.eps), p.count, p.delta) for p in pairs]
    return [(half * (root * root), 1, nothing)]


def _rho(rho: RealLike) -> Real:
    return real_in(rho, "rho", ">= 0")


def _delta(delta: RealLike) -> Real:
    return real_in(delta, "delta", "> 0", "<= 1")
