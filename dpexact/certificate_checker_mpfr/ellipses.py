r"""Logarithms of moments where rate and variance are complex.

With ``g`` and ``A`` of :mod:`.cells`, at a height ``y``, they are of ``e^{v y^2/2} \int g P``,

.. math:: P(a) = A(a + iy)^{k/2} A(a - iy)^{\bar k/2},

or ``k`` for ``\bar k`` where ``y = 0``. Let ``q = |q| e^{i phi}``, ``v = |v| e^{i theta}``, both
angles below ``pi/2``, ``u = Im k >= 0``. On the line ``a - i phi`` (nothing is met on the way, as
long as ``y < pi/2``: the real part of ``A`` is at least ``1 - |q|``) let ``h = |q|(e^{a + iy} -
e^{i phi})``, ``h'`` likewise with ``-y``, and ``P(t)`` be ``P`` with ``1 + th, 1 + th'`` for ``A``.
The integrals of ``g`` and of ``g e^w`` are 1, so that ``\int g P`` is

.. math:: 1 + q \Re k(e^{iy} - 1) + \int g \int_0^1 (1 - t) P''(t)\, dt\, da. \tag{1}

(The second term is 0 where ``y = 0``.) There ``|P''| <= |k|(|k| + 1)|P| (l^2 + l'^2)/2``, where
``l = |h|/|1 + th|``. With ``X`` the real part of ``1 + th``, moduli of ``1 + th, 1 + th'`` are at
least ``X >= 1 - |q|`` and at most ``1 + |q| + |q|e^a``, also ``X s``, ``s = 1 + tan y + |q|/(1 -
|q|)``; and their angles help by no more than ``x = |q|/(1 - |q|)``: ``|P| l^2 <= e^{ux} s |h|^2
(1 - |q|)^{min(k' - 2, 0)} (1 + |q| + |q|e^a)^M``, ``k' = Re k``, ``M`` not below ``k' - 2`` or 0.

On that line ``|g|`` is ``C`` times the density of a normal law of precision ``p = |v| cos theta``,
under which the mean of ``C e^{ja}`` is ``D e^{-(j - 1/2) phi tan theta + j(j - 1)/(2p)}``, ``D =
(cos theta)^{-1/2} e^{|v| phi^2/(2 cos theta) + sin theta tan theta/(8|v|)}``. So the last term of
(1) is at most ``|k|(|k| + 1) e^{ux} s (1 - |q|)^{min(k' - 2, 0)} D |q|^2/2`` times

.. math:: \sum_j \binom M j (1 + |q|)^{M-j} |q|^j (e_{j+2} - 2 \cos\varphi\cos y\, e_{j+1} + e_j),

``e_j`` those means over ``D``, each taken at its worst end. If that and the second term are ``E <
1`` together, then the logarithm of (1) is analytic, and at most ``-log(1 - E)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dpexact.certificate_checker_mpfr.arithmetic import Interval, Rectangle
from dpexact.certificate_checker_mpfr.interpolation import Places

_MAX_POWER: Final = 1_000


def power_of(kappa: Interval) -> int:
    """``M``, of which there are as many terms."""
    power: int = max(0, math.ceil(kappa.hi) - 2)
    return power


def bounds_of(
    places: Places, orders: Sequence[Rectangle], y: Interval, radii: tuple[Fraction, Fraction]
) -> list[Interval | None]:
    """``-log(1 - E) + |v| y^2/2`` on ellipses about the sides; None where ``E`` may be 1.

    At each of the orders, which share the real part.
    """
    a, one = places.a, places.a.exact(1)
    q, v = (a.exact(middle) for middle, _ in places.sides)
    (wide, angle), (tall, turn) = (
        ((x + one / x) / 2 * half, (x - one / x) / 2 * half)
        for x, half in zip(map(a.exact, radii), places.halves, strict=True)
    )
    variances = v * (-tall).exp(), v * tall.exp()
    return near_one(orders, y, q * wide.exp(), angle, variances, turn)


def near_one(
    orders: Sequence[Rectangle],
    y: Interval,
    q: Interval,
    angle: Interval,
    variances: tuple[Interval, Interval],
    turn: Interval,
) -> list[Interval | None]:
    """The same where ``|q|`` and ``|phi|`` are at most ``q`` and ``angle``.

    ``|v|`` is between the ``variances``, and ``|theta|`` at most ``turn``.
    """
    a, (least, most), kappa = q.a, variances, orders[0].real
    power = power_of(kappa)
    inside = q.hi < 1 and max(angle.hi, turn.hi, y.hi) < (a.pi() / 2).lo
    if not inside or power > _MAX_POWER:
        return [None] * len(orders)
    one, around, level = a.exact(1), turn.turn(), y.turn()
    cosine, sine = around.real, around.imag
    rest, precision, slope = one - q, least * cosine, angle * sine / cosine
    total = a.exact(0)
    for j in range(power + 1):
        part = a.exact(0)
        for n in (j, j + 2):
            mean = slope * abs(2 * n - 1) / 2 + a.exact(n * (n - 1)) / (precision * 2)
            part = part + mean.exp()
        if j == 0:
            part = part - angle.turn().real * level.real * (-slope / 2).exp() * 2
        total = total + part * math.comb(power, j) * (one + q).power(power - j) * q.power(j)
    spread = one + level.imag / level.real + q / rest
    lead = most * angle * angle / (cosine * 2) + sine * sine / (cosine * least * 8)
    scale = total * spread * q * q * lead.exp() / (cosine.increasing("sqrt") * 2)
    if kappa.lo < 2:
        scale = scale * rest.power(kappa - 2)
    still, turned = most * y * y / 2, level + Rectangle(-one, a.exact(0))
    found: list[Interval | None] = []
    for k in orders:
        size = k.modulus()
        share = size * (size + 1) * (k.imag * q / rest).exp() * scale
        share = share + q * Rectangle((k * turned).real, a.exact(0)).modulus()
        found.append(still - (one - share).log() if share.hi < 1 else None)
    return found
