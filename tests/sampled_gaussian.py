"""Independent references for sampled Gaussians: mpmath and numpy only, nothing from dpexact.

A step is ``(direction, sigma, q)``; its loss is that of ``remove``: ``P = (1-q) N(0) + q N(1)``,
``Q = N(0)``, or of ``add``: ``P = N(0)``, ``Q = (1-q) N(0) + q N(-1)``, all of width ``sigma``.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from mpmath import mp, mpf

Step = tuple[str, Fraction, Fraction]

#: ``delta`` to 30 digits, the last one uncertain: sigma, q, T, epsilon, remove, add.
KNOWN = [
    (
        ("1", "1/100", 10_000, 5),
        "0.000277929621981547229795786855851",
        "0.0000816228511077392020637766708408",
    ),
    (
        ("1.3", "256/60000", 3515, 1),
        "9.42260574155292940047622119213e-7",
        "1.47422929533918010595293165320e-7",
    ),
    (
        ("0.7", "256/60000", 10_546, 7),
        "1.77592812286541997779253700832e-7",
        "8.39084034591543971339348288848e-14",
    ),
]


def mixtures(step: Step, z: Any) -> tuple[Any, Any]:
    """``(P, Q) / N(0)`` at ``z`` in units of sigma."""
    direction, sigma, q = step
    s, rate = mpf(sigma.numerator) / sigma.denominator, mpf(q.numerator) / q.denominator
    sign = 1 if direction == "remove" else -1
    mixed = 1 - rate + rate * mp.exp(sign * z / s - 1 / (2 * s**2))
    return (mixed, mpf(1)) if direction == "remove" else (mpf(1), mixed)


def moment(step: Step, s: Any) -> Any:
    """``E_P[e^{s Z}]`` for complex ``s`` by mpmath's quadrature."""
    reach = 12 + (abs(mp.re(s)) + 1) / (mpf(step[1].numerator) / step[1].denominator)

    def integrand(z: Any) -> Any:
        p, q = mixtures(step, z)
        return mp.npdf(z) * p ** (1 + s) * q ** (-s)

    return mp.quad(integrand, mp.linspace(-reach, reach, int(reach)), method="gauss-legendre")


def delta_once(step: Step, epsilon: Any) -> Any:
    """One step at any real epsilon in closed form, through the threshold of the loss."""
    direction, sigma, q = step
    s, rate = mpf(sigma.numerator) / sigma.denominator, mpf(q.numerator) / q.denominator
    if direction == "remove":
        odds = (mp.exp(epsilon) - 1 + rate) / rate
        if odds <= 0:  # the loss exceeds epsilon everywhere
            return 1 - mp.exp(epsilon)
        start = s * (mp.log(odds) + 1 / (2 * s**2))
        p = (1 - rate) * mp.ncdf(-start) + rate * mp.ncdf(1 / s - start)
        return p - mp.exp(epsilon) * mp.ncdf(-start)
    odds = (mp.exp(-epsilon) - 1 + rate) / rate
    if odds <= 0:  # it exceeds epsilon nowhere
        return mpf(0)
    start = -s * (mp.log(odds) + 1 / (2 * s**2))
    q_mass = (1 - rate) * mp.ncdf(-start) + rate * mp.ncdf(-1 / s - start)
    return mp.ncdf(-start) - mp.exp(epsilon) * q_mass


def panels(low: float, high: float, count: int) -> tuple[Any, Any]:
    """Composite Gauss-Legendre nodes and weights, 20 a panel."""
    x, w = np.polynomial.legendre.leggauss(20)
    half = (high - low) / count / 2
    centres = low + half * (2 * np.arange(count) + 1)
    return (centres[:, None] + half * x).ravel(), np.tile(half * w, count)


def delta_twice(step: Step, epsilon: Any) -> Any:
    """Two steps: the closed form of one, averaged over the loss of the other, to about 12 digits.

    The closed form is flat but not analytic where its argument reaches the end of the losses:
    panels shrink towards that point.
    """
    direction, sigma, q = step
    s, rate = mpf(sigma.numerator) / sigma.denominator, mpf(q.numerator) / q.denominator
    sign = 1 if direction == "remove" else -1
    odds = (mp.exp(sign * epsilon) / (1 - rate) - 1 + rate) / rate
    ends = list(np.linspace(-9 - 2 / float(s), 9 + 2 / float(s), 20))
    if odds > 0:
        centre = float(sign * s * (mp.log(odds) + 1 / (2 * s**2)))
        ends += [centre] + [centre + side * 2.0**-k for k in range(30) for side in (-1, 1)]
    total = mpf(0)
    for low, high in pairwise(sorted(ends)):
        for x, weight in zip(*panels(low, high, 1), strict=True):
            z = mpf(float(x))
            p, q_ratio = mixtures(step, z)
            once = delta_once(step, epsilon - mp.log(p / q_ratio))
            total += float(weight) * p * mp.npdf(z) * once
    return total


def delta_thrice(step: Step, epsilon: float) -> float:
    """Three steps, as a sum over the plane of two, in floats; 7 digits if ``sigma >= 1``."""
    direction, sigma, q = step
    s, rate = float(sigma), float(q)
    sign = 1 if direction == "remove" else -1
    z, dz = panels(-9, 9 + 1 / s, 16)
    mixed = 1 - rate + rate * np.exp(sign * z / s - 1 / (2 * s**2))
    weight = dz * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    weight, loss = (weight * mixed, np.log(mixed)) if sign > 0 else (weight, -np.log(mixed))
    rest = epsilon - loss[:, None] - loss[None, :]
    tail = np.vectorize(lambda x: math.erfc(x / math.sqrt(2)) / 2)
    with np.errstate(all="ignore"):
        odds = (np.exp(sign * rest) - 1 + rate) / rate
        start = np.where(odds > 0, sign * s * (np.log(odds) + 1 / (2 * s**2)), 0.0)
    if sign > 0:
        p = (1 - rate) * tail(start) + rate * tail(start - 1 / s)
        once = np.where(odds > 0, p - np.exp(rest) * tail(start), 1 - np.exp(rest))
    else:
        q_mass = (1 - rate) * tail(start) + rate * tail(start + 1 / s)
        once = np.where(odds > 0, tail(start) - np.exp(rest) * q_mass, 0.0)
    return float(weight @ once @ weight)


def delta_by_inversion(steps: list[tuple[Step, int]], epsilon: float, c: float) -> float:
    """A product of ``remove`` steps by a plain inversion integral in floats, about 10 digits."""
    z, dz = panels(-14, 22, 60)
    u, du = panels(0, 24, 30)
    s = c + 1j * u
    value = np.exp(-epsilon * s) / (s * (s + 1))
    for (_, sigma, q), count in steps:
        loss = np.log1p(float(q) * np.expm1(z / float(sigma) - 1 / (2 * float(sigma) ** 2)))
        weight = dz * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        value = value * (np.exp(np.outer(s + 1, loss)) @ weight) ** count
    return float(du @ value.real) / math.pi
