"""Which ellipses a bundle is bounded on: the bounds of ``log_bounds.py``, many at once in floats.

Proposes: ellipses and about how many nodes they need; what is bounded by balls is valid for any.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.clouds.cubature import Degrees
from dpexact.accounting.pairs.clouds.log_bounds import SLICES, TURNS, Modulus, Power, crossing
from dpexact.accounting.pairs.clouds.sides import Side

#: Logarithms of the parameters of ellipses that are tried.
_TRIED: Final = np.geomspace(0.15, 5.0, 15)
#: Of which every third is tried first.
_STRIDE: Final = 3
#: Larger powers are not worth the time.
_MOST_TERMS: Final = 400


class Fit(NamedTuple):
    """Ellipses of parameters ``e^x`` and ``e^y``, and down to which level degrees must reach."""

    nodes: float
    x: float
    y: float
    level: float

    @classmethod
    def best(cls, sides: tuple[Side, Side], function: Power | Modulus, depth: float) -> Fit:
        """Those of the fewest nodes, if an error of ``e^-depth`` of the bound is wanted."""
        tried = [np.array([math.inf]) if side.single else _TRIED for side in sides]
        places: list[slice] = [slice(None, None, _STRIDE)] * 2
        # of few first, and then of those about the best
        for _ in range(2):
            x, y = (each[some] for each, some in zip(tried, places, strict=True))
            with np.errstate(all="ignore"):
                about = _about(sides, function, x, y)
                levels = np.maximum(1.0, np.log(about) + depth)
                nodes = (1 + levels / x[:, None]) * (1 + levels / y)
            nodes[~np.isfinite(nodes)] = math.inf
            i, j = map(int, np.unravel_index(np.argmin(nodes), nodes.shape))
            places = [slice(max(0, _STRIDE * (at - 1) + 1), _STRIDE * (at + 1)) for at in (i, j)]
        return cls(*map(float, (nodes[i, j], x[i], y[j], levels[i, j])))


def degrees_of(fits: Sequence[Fit], more: float = 0.0) -> Degrees:
    """Those of which one of the fits says that they matter."""
    found: list[int] = []
    for fit in fits:
        rows = Degrees.down_to(max(1.0, fit.level + more), fit.x, fit.y).rows
        found = [
            max(found[j : j + 1] + list(rows[j : j + 1])) for j in range(max(len(found), len(rows)))
        ]
    return Degrees(tuple(found))


def _about(sides: tuple[Side, Side], function: Power | Modulus, x: Floats, y: Floats) -> Floats:
    """Bounds on the modulus of the logarithm, a row for each ``x``; infinite where none is known.

    Axes are those of ``x``, of ``y``, of parts of the ellipse of rates, and of that of variances.
    """
    power, height = float(function.power.mid()), float(function.height.mid())
    order = math.hypot(power, height)
    flat = isinstance(function, Modulus) or height == 0
    wide, tall = _axes(sides[0], x)
    ends = np.linspace(0.0, math.pi / 2, TURNS + 1)
    near, far = (ends[:1], ends[-1:]) if flat else (ends[:-1], ends[1:])
    size = np.exp(sides[0].centre + wide[:, None] * np.cos(near))
    turn = tall[:, None] * np.sin(far)
    wide, tall = (2 * axis for axis in _axes(sides[1], y))
    ends = np.linspace(0.0, math.pi, (1 if sides[1].single else SLICES) + 1)
    logs = 2 * sides[1].centre + wide[:, None] * np.cos(ends)
    sines = np.sin(ends)
    most = np.maximum(sines[:-1], sines[1:])
    # about the middle the sine is largest
    most[len(most) // 2] = 1.0 if len(most) % 2 else most[len(most) // 2]
    high, low = (tall[:, None] * sine for sine in (most, np.minimum(sines[:-1], sines[1:])))
    least, largest = np.exp(logs[:, 1:]) * np.cos(high), np.exp(logs[:, :-1]) * np.cos(low)
    cosine = np.cos(high)
    kappa = np.exp((1 / cosine - cosine) / (8 * np.exp(logs[:, 1:]))) / np.sqrt(cosine)
    imaginary = np.exp(logs[:, :-1]) * np.sin(high)
    fine = (2 * tall < math.pi)[None, :] & ((size[:, 0] < 1) & (turn[:, -1] < math.pi))[:, None]
    r, phi = size[:, None, :, None], turn[:, None, :, None]
    least, largest, kappa, imaginary = (
        part[None, :, None, :] for part in (least, largest, kappa, imaginary)
    )
    v = least, largest
    if isinstance(function, Modulus):
        angle = float(function.angle.mid())
        slope = float(function.slope.mid())
        rest = (kappa * _square(r, 1 + r, v, power, np.array(angle))).max(axis=(2, 3))
        first = size[:, :1] * abs(slope)
        rest *= (1 - size[:, :1]) ** (min(power, 0.0) - 2)
        found = np.exp(first) * ((order * order + order) / 2 * rest + first * first / 2)
        fine &= ((turn[:, 0] + angle < math.pi / 2) & (np.cos(turn[:, 0]) >= size[:, 0]))[:, None]
    else:
        apart = phi + np.arcsin(np.minimum(r, 1.0))
        above = 1 - r
        large = np.where(2 * np.cos(phi) > r, 1.0, 1 + r)
        sine = np.where(phi < math.pi / 2, np.sin(phi), 1.0)
        below = above * np.where(apart < math.pi / 2, 1.0, np.sin(apart))
        mean = partial(_square, r, large, v, power - 2)
        less = min(power - 2, 0.0)
        real = mean(np.zeros_like(phi))
        worst = np.exp(height * r * sine / above) * below**less * real
        if not flat:
            turned = np.exp(largest * phi * phi / 2) * mean(phi, phi * imaginary)
            _, at, tilt, lean = crossing(height * phi, r, least)
            beyond = np.exp(-tilt * at) * mean(np.zeros_like(phi), tilt)
            straight = lean * (real + beyond)
            straight = np.where(phi < math.pi / 2, straight, math.inf)
            worst = np.maximum(worst, above**less * np.minimum(turned, straight))
        found = order * math.hypot(power - 1, height) / 2 * (kappa * worst).max(axis=(2, 3))
        fine &= (apart < math.pi).all(axis=(2, 3))
    return np.where(fine & (found < 1), -np.log1p(-found), math.inf)


def _axes(side: Side, logs: Floats) -> tuple[Floats, Floats]:
    if side.single:
        return np.full(1, side.half), np.zeros(1)
    return side.half * np.cosh(logs), side.half * np.sinh(logs)


def _square(
    size: Floats,
    large: Floats,
    variances: tuple[Floats, Floats],
    power: float,
    angle: Floats,
    tilt: Floats | float = 0.0,
) -> Floats:
    """``E_v[e^{tilt w} r^2 |e^{w + i angle} - 1|^2 (large + r e^w)^power]``, as bounded there."""
    power = max(power, 0.0)
    if power > _MOST_TERMS:
        return np.full(np.broadcast_shapes(size.shape, variances[0].shape), math.inf)
    least, largest = variances
    count = math.floor(power) + 4
    at = [k + tilt for k in range(count)]
    top = [np.exp(k * (k - 1) / (2 * least)) for k in at]
    bottom = [np.exp(k * (k - 1) / (2 * largest)) for k in at]
    cosine = 2 * np.cos(angle)
    inner = [np.where(cosine > 0, low, high) for low, high in zip(bottom, top, strict=True)]
    squares = [a - cosine * b + c for a, b, c in zip(top, inner[1:], top[2:], strict=False)]
    whole = [
        sum(math.comb(n, k) * large ** (n - k) * size**k * squares[k] for k in range(n + 1))
        for n in (count - 4, count - 3)
    ]
    share = power - math.floor(power)
    found: Floats = size * size * whole[0] ** (1 - share) * whole[1] ** share
    return found
