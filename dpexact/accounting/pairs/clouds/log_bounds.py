"""How far moments of sampled Gaussians are from 1 where rate and noise are complex numbers.

With ``w`` the logarithm of the likelihood ratio of the Gaussian, of density ``g_v`` without the
record, ``v = sigma^2``, and ``A = 1 + q (e^w - 1)``, the moments are ``E_v[A^t]``: ``t = 1 + s``
for a record removed and ``-s`` for one added. Proofs are in ``docs/theory/logs.md``; the numbers in
brackets are those of its propositions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from flint import arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.clouds.sides import Side
from dpexact.balls import UNIT, precision

#: Parts of the ellipse of the variance, and of a quarter of that of the rate.
SLICES: Final = 12
TURNS: Final = 5
_BITS: Final = 53
#: Where one bound may take over from another, as shares of the way.
_CROSSINGS: Final = np.arange(10) / 10
#: Larger powers are not worth an ellipse.
_MOST_TERMS: Final = 2500
_NONE: Final = arb(0)


class Rates(NamedTuple):
    """Rates of modulus ``size`` at most, and of argument ``turn`` or its negative."""

    size: arb
    turn: arb


class Variances(NamedTuple):
    """``Re v``, ``|Im v|`` and ``kappa`` of some: ``|g_v| = kappa g_{Re v}`` [2]."""

    real: arb
    imaginary: arb
    kappa: arb


@dataclass(frozen=True)
class Reach:
    """Rates and variances along an ellipse each around the real ones.

    ``whole`` are the largest modulus and the largest argument of all rates.
    """

    whole: Rates
    rates: tuple[Rates, ...]
    variances: tuple[Variances, ...]

    @classmethod
    def of(cls, sides: tuple[Side, Side], rho: arb, tau: arb) -> Reach | None:
        """The ellipses of parameters ``rho`` and ``tau`` of ``log q`` and ``log sigma``.

        None where they leave the domain.
        """
        wide, tall = _axes(sides[0], rho)
        centre, rates = arb(sides[0].centre), []
        # of two rates of one argument the one beyond the quarter is smaller
        for index in range(TURNS):
            eta = arb.pi() / 2 * (index + UNIT) / TURNS
            rates.append(Rates((centre + wide * eta.cos()).exp().upper(), tall * eta.sin()))
        whole = Rates((centre + wide).exp().upper(), tall.upper())
        wide, tall = (2 * x for x in _axes(sides[1], tau))
        variances = []
        count = 1 if sides[1].single else SLICES
        for index in range(count):
            eta = arb.pi() * (index + UNIT) / count
            modulus = (2 * arb(sides[1].centre) + wide * eta.cos()).exp()
            angle = tall * eta.sin()
            cosine = angle.cos()
            # proposes: the interval, whose floats mean their exact values
            if not (
                whole.size < 1 and whole.turn < arb.pi() and 2 * tall < arb.pi() and cosine > 0
            ):
                return None
            growth = (1 / cosine - cosine) / (8 * modulus)
            kappa = (growth.exp() / cosine.sqrt()).upper()
            variances.append(Variances(modulus * cosine, modulus * angle.sin(), kappa))
        return cls(whole, tuple(rates), tuple(variances))


def _axes(side: Side, ratio: arb) -> tuple[arb, arb]:
    """Half axes of the ellipse of parameter ``ratio`` around an interval."""
    half = arb(side.half)
    if side.single:
        return half, arb(0)
    return half * (ratio + 1 / ratio) / 2, half * (ratio - 1 / ratio) / 2


class Power:
    """``A^t``, ``Re t = power`` and ``|Im t| <= height``: moments on a vertical line [3].

    Where the argument of a rate is negative ``w`` runs above the real line by as much: there ``A``
    is not turned downward, and its powers fall in ``Im t``.
    """

    def __init__(self, power: arb, height: float) -> None:
        self.power, self.height = power, arb(height)
        order = self.power * self.power + self.height * self.height
        lower = (self.power - 1) * (self.power - 1) + self.height * self.height
        self.curvature = (order * lower).sqrt() / 2
        # proposes: a float that means its exact value
        self.is_real = height == 0

    def bound(self, reach: Reach) -> arb:
        """On the modulus of the moment less 1."""
        found, power = _NONE, self.power - 2
        for rate in [reach.whole] if self.is_real else reach.rates:
            size, turn = rate
            apart = turn + size.asin()
            if not apart < arb.pi():
                return arb("inf")
            near = 1 - size
            large = arb(1) if 2 * turn.cos() > size else 1 + size
            sine = turn.sin() if turn < arb.pi() / 2 else arb(1)
            least, lean = near, (self.height * size * sine / near).exp()
            if not apart < arb.pi() / 2:
                least = near * apart.sin()
            less = arb.min(power, _NONE)
            for v in reach.variances:
                here = lean * least**less * _on_line(size, large, v, power, _NONE)
                found = arb.max(found, here.upper())
                if self.is_real:
                    continue
                # of a rate of negative argument, along either line
                turned = _on_line(size, large, v, power, turn).upper()
                if turn < arb.pi() / 2:
                    straight = _straight(size, large, v, power, self.height * turn.upper())
                    turned = arb.min(turned, straight.upper())
                found = arb.max(found, (near**less * turned).upper())
        return self.curvature * found


class Modulus:
    """``|A^t|`` on ``Im w = angle``, less its first order in ``q``: bounds of decay [4].

    Admissible while the argument of a rate leaves a right angle to ``angle``.
    """

    def __init__(self, power: arb, height: float, angle: arb) -> None:
        self.power, self.height, self.angle = power, arb(height), angle
        order = (self.power * self.power + self.height * self.height).sqrt()
        self.curvature = (order * order + order) / 2

    @property
    def slope(self) -> arb:
        """The mean of the first derivative."""
        return self.power * (self.angle.cos() - 1) - self.height * self.angle.sin()

    def bound(self, reach: Reach) -> arb:
        """On the modulus of what is left, less 1."""
        size, turn = reach.whole
        if not (turn + self.angle < arb.pi() / 2 and turn.cos() >= size):
            return arb("inf")
        rest, near = _NONE, 1 - size
        for v in reach.variances:
            found = _square(size, 1 + size, v.real, self.power, self.angle)
            rest = arb.max(rest, (v.kappa * found).upper())
        rest *= near ** (arb.min(self.power, _NONE) - 2)
        first = size * abs(self.slope)
        return first.exp() * (self.curvature * rest + first * first / 2)


def logarithm_bound(reach: Reach | None, function: Power | Modulus) -> arb | None:
    """A bound on the modulus of the logarithm over ``reach``; None where none is known [3, 4]."""
    if reach is None:
        return None
    with precision(_BITS):
        far = function.bound(reach).upper()
        # proposes: the functions' floats mean their exact values
        return -(1 - far).log().lower() if far < 1 else None


def _on_line(size: arb, large: arb, v: Variances, power: arb, angle: arb) -> arb:
    """``Int |g_v| r^2 |e^w - 1|^2 (large + r |e^w|)^max(power, 0)`` at ``Im w = angle`` [3].

    There ``|g_v|`` is ``kappa e^{Re v angle^2/2 + angle Im v w} g_{Re v}(w)``; the larger integral
    is that of a positive ``Im v``.
    """
    tilt = angle * v.imaginary
    found = _square(size, large, v.real, power, angle, tilt)
    return v.kappa * (v.real * angle * angle / 2).exp() * found


def _straight(size: arb, large: arb, v: Variances, power: arb, fall: arb) -> arb:
    """``Int |g_v| r^2 |e^w - 1|^2 (large + r e^w)^max(power, 0) e^F`` on the real line [3].

    ``F = fall min(r (e^w - 1)_+, 1)`` is at most what it is at a point, and beyond it what its
    chord from there is.
    """
    end = (1 / size).log1p()
    # proposes: the point, since any before the end is valid; a float that means its exact value
    share, *_ = crossing(*(np.array(float(x.mid())) for x in (fall, size, v.real)))
    at = arb(float(share)) * end.lower()
    lean = fall * size * at.expm1()
    tilt = (fall - lean) / (end - at)
    found = _square(size, large, v.real, power, _NONE)
    found += (-tilt * at).exp() * _square(size, large, v.real, power, _NONE, tilt)
    return v.kappa * lean.exp() * found


def crossing(fall: Floats, size: Floats, variance: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Proposes: the point of :func:`_straight`, as a share of the way to where the fall ends.

    And about where that is, with what ``tilt`` and ``e^lean`` are there.
    """
    fall, size, variance = np.broadcast_arrays(fall, size, variance)
    end = np.log1p(1 / size)
    shares = np.multiply.outer(_CROSSINGS, np.ones_like(end))
    at = end * shares
    lean = fall * size * np.expm1(at)
    tilt = (fall - lean) / (end - at)
    cost = lean + np.maximum(0.0, tilt * (tilt + 3) / (2 * variance) - tilt * at)
    best = np.argmin(cost, axis=0)[None]
    share, at, tilt, lean = (np.take_along_axis(x, best, 0)[0] for x in (shares, at, tilt, lean))
    return share, at, tilt, np.exp(lean)


def _square(size: arb, large: arb, variance: arb, power: arb, angle: arb, tilt: arb = _NONE) -> arb:
    """``E_v[e^{tilt w} r^2 |e^{w + i angle} - 1|^2 (large + r e^w)^power]``, ``r`` the size [3].

    By moments of ``e^w`` at the whole powers beside a positive one, between which the logarithm is
    convex; at 0 for a negative one.
    """
    # proposes: how large powers are tried
    if power > _MOST_TERMS:
        return arb("inf")
    power = arb.max(power, _NONE)
    least, most = (int(end.floor().unique_fmpz()) for end in (power.lower(), power.upper()))
    most += 1
    moments = []
    # proposes: how many; all that are needed are there
    for k in range(most + 3):
        at = k + tilt
        moments.append((at * (at - 1) / (2 * variance)).exp())
    cosine = 2 * angle.cos()
    squares = [
        a - cosine * b + c for a, b, c in zip(moments, moments[1:], moments[2:], strict=False)
    ]
    low, high = (
        sum(math.comb(n, k) * large ** (n - k) * size**k * squares[k] for k in range(n + 1))
        for n in (least, most)
    )
    share = (power - least) / (most - least)
    return size * size * low.upper() ** (1 - share) * high.upper() ** share
