"""How fine steps of Laplace noise on samples are taken.

Proposes: every number of a :class:`Plan`; what it loses is bounded by balls.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from dpexact import balls
from dpexact.accounting.pairs.sampled_laplace import SampledLaplace

#: About half the width of the strip in which pieces are analytic.
_STRIP: Final = 3.0
#: Heights of ellipses tried, as shares of what the bounds allow, and places of nodes looked at.
_TRIED: Final = tuple(k / 20 for k in range(3, 18))
_PLACES: Final = tuple(math.cos(k * math.pi / 8) for k in range(9))
_HUGE: Final = 1 << 40
#: What is left beside an ellipse, and by how much reaches of balls may be larger.
_BESIDE: Final = 0.15
_LOOSE: Final = 1.02
#: Points of half an ellipse.
_TURNS: Final = 32
#: Bits by which what is planned for may be coarser than arithmetic.
_SPARE: Final = 20


class Plan(NamedTuple):
    """For pieces an ellipse, nodes and coefficients kept; for integrals another, and points.

    An ellipse, of foci -1 and 1, is given by the logarithm of the sum of its half axes.
    """

    rho: float
    nodes: int
    kept: int
    sigma: float
    points: int
    reach: float = math.inf


def planned(pair: SampledLaplace, theta: float) -> Plan:
    """Proposes: ellipses, nodes and points whose errors are about the precision."""
    (rate, q), power = pair.sizes, theta + pair.removes
    odds, needed = q / (1 - q), (balls.current() - _SPARE) * math.log(2)
    fall = math.asinh(_STRIP / rate)
    kept = max(2, math.ceil(needed / fall))
    mean = pair._about(power).value
    turns = np.exp(1j * np.linspace(0, np.pi, _TURNS))
    best = Plan(0.0, _HUGE, kept, 0.0, _HUGE)

    def logs(losses: Any) -> Any:
        return power * np.log(np.abs(1 - q + q * np.exp(losses)))

    def reach(losses: Any) -> float:
        z = losses / rate
        major = (np.abs(z + 1) + np.abs(z - 1)) / 2
        return float(np.arccosh(np.maximum(major, 1)).max())

    for share in _TRIED:
        log = math.asinh(share * math.pi / rate)
        arc = rate * (math.exp(log) * turns + math.exp(-log) / turns) / 2
        most = needed + kept * max(0.0, log - fall) + float(logs(arc).max()) - mean + 7
        nodes = max(kept + 1, 1 + math.ceil((most - math.log(math.expm1(log))) / log))
        if nodes < best.nodes:
            best = best._replace(rho=log, nodes=nodes)
    halved = []
    for start, end in [(-rate, rate * x) for x in _PLACES] + [(rate * x, rate) for x in _PLACES]:
        one, other = odds * math.exp(start), odds * math.exp(end)
        both = one + other + one * other
        middle = math.log(both / (1 + math.sqrt(1 + both)) / odds)
        halved.append(((start + middle) / 2, (middle - start) / 2, both))
    longest = max(half for _, half, _ in halved)
    for share in _TRIED:
        log, most = math.asinh(share * math.pi / longest), 0.0
        for middle, half, both in halved:
            if middle + half * math.cosh(log) > math.log(both / odds) - _BESIDE:
                most = math.inf
                break
            arc = middle + half * (math.exp(log) * turns + math.exp(-log) / turns) / 2
            u = odds * np.exp(arc)
            grown = max(reach(arc), reach(np.log((both - u) / (1 + u) / odds)))
            most = max(most, kept * max(0.0, grown - fall))
        points = 2 + math.ceil((needed + min(most, _HUGE) + 8) / (2 * log))
        if points < best.points:
            reached = math.exp(fall + most / kept) * _LOOSE
            best = best._replace(sigma=log, points=points, reach=reached)
    return best
