r"""Zero-concentrated DP to ``(eps, delta)``: the plain conversion and that of Proposition 14.

A mechanism is ``rho``-zCDP when ``E e^{tZ} <= e^{t(t+1) rho}`` for all ``t > 0``. Proposition 14 of
Steinke (2022) then gives, for every ``t > 0`` and ``eps >= 0``,

.. math:: \log\delta = t(t+1)\rho - t\varepsilon + t\log t - (t+1)\log(t+1).

Its derivative in ``t`` is ``(2t+1) rho - log(1 + 1/t) - eps``, which increases; so the best ``t``
is its one zero, and there

.. math:: \varepsilon = (2t+1)\rho - \log(1 + 1/t), \qquad \log(1/\delta) = \rho t^2 + \log(1+t).

Both increase with ``t``: the curve of best answers has these coordinates. ``(xi, rho)``-zCDP, ``E
e^{tZ} <= e^{t(xi + (t+1) rho)}``, says the same of ``Z - xi``: all epsilons grow by ``xi``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.classic.composition import guarantee
from dpexact.accounting.classic.roots import increasing_root
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.closed_form import OptimalComposition
from dpexact.accounting.inverted import BallProfile
from dpexact.accounting.profile import InfiniteLoss, NoLoss, Profile
from dpexact.answers import delivered
from dpexact.arguments import digits_in, real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import ZCDP, Mechanism
from dpexact.reals import Real

METHOD: Final = "zCDP, Proposition 14"
_ZERO: Final = Fraction(0)
_NOTHING: Final = InfiniteLoss()
_NO_XI: Final = reals.rational(0)


def plain_zcdp_epsilon(
    rho: RealLike, delta: RealLike, digits: int = 15, xi: RealLike = 0
) -> Enclosure:
    """``xi + rho + 2 sqrt(rho log(1/delta))``: Bun and Steinke (2016), Lemma 3.5.

    Args:
        rho, xi: any exact reals ``>= 0``.
        delta: any exact real in ``(0, 1]``.
        digits: certified significant digits of the bound.

    >>> print(plain_zcdp_epsilon("1/2", "1e-6", 12).shown(12))
    5.75652176975...
    """
    r, target, wanted, offset = _rho(rho), _delta(delta), digits_in(digits), _xi(xi)

    def compute() -> arb:
        x = balls.ball(r)
        return balls.ball(offset) + x + 2 * (x * (-balls.ball(target).log()).max(arb(0))).sqrt()

    found = balls.certify(compute, wanted, lowest=_ZERO, method="zCDP, plain")
    return delivered(found, wanted)


def zcdp_epsilon(rho: RealLike, delta: RealLike, digits: int = 15, xi: RealLike = 0) -> Enclosure:
    """The least ``eps >= 0`` that Proposition 14 of Steinke (2022) gives for ``(xi, rho)``-zCDP.

    Args:
        rho, xi: any exact reals ``>= 0``; ``rho = 0`` is ``xi``-DP.
        delta: any exact real in ``(0, 1]``.
        digits: certified significant digits of the bound.

    >>> print(zcdp_epsilon("1/2", "1e-6", 13).shown(13))
    5.221534444530...
    """
    target, wanted, found = _delta(delta), digits_in(digits), _profile(_rho(rho), _xi(xi))
    return delivered(found.epsilon(target, wanted).labelled(METHOD), wanted)


def total_zcdp(mechanism: Mechanism) -> tuple[ZCDP, InfiniteLoss]:
    """The zCDP of a composition, whose numbers add up, and the mass of infinite loss beside it.

    Gaussian noise has ``mu^2/2``, exactly; discrete Gaussian noise at most ``s^2/(2 sigma^2)``
    (Canonne, Kamath, Steinke 2020, Theorem 4); ``eps``-DP implies ``eps^2/2`` (Steinke 2022,
    Proposition 16). An ``(eps, delta)``-DP step is infinite loss of mass ``delta``, and otherwise
    ``eps``-DP (Kairouz, Oh, Viswanath 2017). A sample of all records is none, a sample of no record
    loses nothing; another sample of something ``(eps, delta)``-DP has the amplified guarantee.

    Raises:
        UnsupportedMechanism: another sample, or samples for different neighbours together.
    """
    mechanism.relation()
    rho = xi = reals.rational(0)
    masses: list[tuple[Real, int]] = []
    for step, count in mechanism.steps().items():
        one, lost = _step(step)
        rho, xi = rho + count * one.rho, xi + count * one.xi
        masses += [(delta, count * times) for delta, times in lost]
    return ZCDP(rho, xi), InfiniteLoss(tuple(masses))


def _step(step: Mechanism) -> tuple[ZCDP, list[tuple[Real, int]]]:
    """The zCDP of one step, and its masses of infinite loss."""
    unknown = UnsupportedMechanism(f"no zCDP guarantee of {step} is known")
    try:
        found = Composition.of([(step, 1)], fixed_size=True, zcdp=True)
    except UnsupportedMechanism:
        raise unknown from None
    if found.samples:
        amplified = guarantee(step)
        if amplified is None:
            raise unknown
        found = Composition(responses={amplified[0]: 1}, masses=[(amplified[1], 1)])
    if found.apart:
        raise unknown
    twice = found.mu_squared
    for noise, count in found.discrete_gaussians:
        twice += count * noise.shift**2 / noise.variance
    for loss, count in found.losses:
        twice += count * (loss * loss)
    masses = [(mass, count) for mass, count in found.masses if mass.fraction != 0]
    return ZCDP(found.rho + twice / 2, found.xi), masses


def epsilon_ball(rho: arb, loss: arb) -> arb:
    """Proposition 14's epsilon, of any sign, for ``rho > 0`` and ``loss = log(1/delta) > 0``."""
    high = (loss / rho).sqrt().upper()
    best = increasing_root(lambda t: rho * t * t + t.log1p() - loss, arb(0), high)
    return (2 * best + 1) * rho - (1 / best).log1p()


def delta_ball(rho: arb, epsilon: arb) -> arb:
    """Proposition 14's delta for ``rho > 0`` and any ``epsilon``."""
    # (2t+1) rho - log(1 + 1/t) - eps <= 0 at the left end, as log(1 + 1/t) >= log(1/t)
    low = (-(abs(epsilon) + 3 * rho)).exp().lower() * arb("0.5")
    high = ((epsilon + 1).max(arb(0)) / (2 * rho) + 1).upper()
    if epsilon < rho:  # log(1 + 1/t) is at least rho - eps
        most = ((epsilon - rho).exp() / -(epsilon - rho).expm1()).upper()
        if most < arb(2) ** -balls.current():
            return arb(1).union((-rho * most * most).exp() / (1 + most))
    best = increasing_root(lambda t: (2 * t + 1) * rho - (1 / t).log1p() - epsilon, low, high)
    return (-rho * best * best).exp() / (1 + best)


def _rho(rho: RealLike) -> Real:
    return real_in(rho, "rho", ">= 0")


def _xi(xi: RealLike) -> Real:
    return real_in(xi, "xi", ">= 0")


def _profile(rho: Real, xi: Real) -> Profile:
    if balls.sign(rho, "rho") > 0:
        return ZCDPProfile(rho, xi=xi)
    return OptimalComposition(xi, 1, _NOTHING) if balls.sign(xi, "xi") > 0 else NoLoss(_NOTHING)


def _delta(delta: RealLike) -> Real:
    return real_in(delta, "delta", "> 0", "<= 1")


class ZCDPProfile(BallProfile):
    """Upper bounds for ``(xi, rho)``-zCDP, ``rho > 0``, beside a mass of infinite loss.

    The answers enclose the value of the bound of Steinke (2022), Proposition 14, with its best
    ``t``; the mechanism itself may be anywhere below.
    """

    method = f"upper bound: {METHOD}"
    largest = None

    def __init__(self, rho: Real, infinite: InfiniteLoss = _NOTHING, xi: Real = _NO_XI) -> None:
        self.rho = rho
        self.xi = xi
        self.infinite = infinite

    @classmethod
    def of(cls, mechanism: Mechanism) -> ZCDPProfile:
        """Of a composition of which each part has a known zCDP constant.

        Raises:
            UnsupportedMechanism: naming a part that has none.
        """
        found, infinite = total_zcdp(mechanism)
        return cls(found.rho, infinite, found.xi)

    def finite_ball(self, epsilon: arb) -> arb:
        return delta_ball(balls.ball(self.rho), epsilon - balls.ball(self.xi))

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        if delta.fraction == 1:
            return Enclosure.exact(_ZERO, self.method)

        def compute() -> arb:
            lost = self.infinite.ball()
            share = (balls.ball(delta) - lost) / (1 - lost)
            found = epsilon_ball(balls.ball(self.rho), -share.log())
            return (found + balls.ball(self.xi)).max(arb(0))

        return balls.certify(compute, digits, lowest=_ZERO, method=self.method)
