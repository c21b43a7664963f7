"""Where to put the nodes of the trapezoidal rules, in floats.

Proposes: rules; the sums over the nodes bound what any rule leaves out.
"""

from __future__ import annotations

import math

import numpy as np

from dpexact.accounting.pairs.pair import short
from dpexact.accounting.rare.law import Rule
from dpexact.accounting.rare.picture import Picture
from dpexact.accounting.rare.windows import best_kappa

ANGLES = np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.75, 0.9, 1.1, 1.3])
"""Heights of lines and strips over sigma."""

COSINES = np.cos(ANGLES)


def oblique_rule(
    picture: Picture, rho: float, far: float, near: float | None, accuracy: float
) -> tuple[Rule, float]:
    """A rule above the axis for one window and all heights, and the bits it loses, as a log."""
    sigma, shape = picture.ask.sigma, picture.shape
    power = max(rho - 1, 0.0)
    on_axis = _ceiling(shape, power, far, 1.0)
    ceilings = np.array([_ceiling(shape, power, far, cosine) for cosine in COSINES.tolist()])
    rates = (2 * accuracy + on_axis + (ANGLES * sigma) ** 2 / 2 + ceilings) / (ANGLES * sigma)
    at = int(np.argmin(rates))
    edge, spacing = float(ANGLES[at] * sigma), 2 * math.pi / float(rates[at])
    shift = (accuracy + on_axis) * spacing / (2 * math.pi)
    first, last = _ends(picture, power, far, near, math.cos(shift / sigma), spacing, accuracy)
    lost = shift**2 / 2 - shape * math.log(math.cos(shift / sigma)) + on_axis
    return Rule(short(shift), short(edge), spacing, first, last), lost


def real_rule(picture: Picture, far: float | None, near: float | None, accuracy: float) -> Rule:
    """A rule for the masses of a window."""
    sigma, shape = picture.ask.sigma, picture.shape
    rates = (accuracy + (ANGLES * sigma) ** 2 / 2 - shape * np.log(COSINES)) / (ANGLES * sigma)
    at = int(np.argmin(rates))
    spacing = 2 * math.pi / float(rates[at])
    first, last = _ends(picture, 0.0, far, near, 1.0, spacing, accuracy)
    return Rule(0.0, short(float(ANGLES[at] * sigma)), spacing, first, last)


def _ends(
    picture: Picture,
    power: float,
    far: float | None,
    near: float | None,
    cosine: float,
    spacing: float,
    accuracy: float,
) -> tuple[int, int]:
    """The first and last node, beyond which the integrand is negligible."""
    shape, x = picture.shape, picture.x
    turn = math.log(cosine)
    tails = np.where(x > 0, -x * x / 2, 0.0)
    tilted = x - 1 / picture.ask.sigma
    odds = float(picture.ratio[0]) - float(picture.x[0]) / picture.ask.sigma
    odds += 1 / (2 * picture.ask.sigma**2)
    right = np.logaddexp(tails, odds + np.where(tilted > 0, -tilted * tilted / 2, 0.0))
    height = power * picture.loss - shape * turn
    if far is not None:
        v = picture.ratio + turn - far
        fall = shape * (v - math.log(shape)) + shape - np.exp(np.minimum(v, 600))
        height = height + np.where(v > math.log(shape), fall, 0.0)
    # what is beyond a node weighs as much as the highest of it
    right = right + np.maximum.accumulate(height[::-1])[::-1]
    left = np.where(x < 0, -x * x / 2, 0.0)
    if near is not None:
        w = picture.ratio + turn - near
        ease = shape * (w - math.log(shape)) + shape - np.exp(np.minimum(w, 600))
        left = left + np.where(w < math.log(shape), ease, 0.0)
    left = left - shape * turn
    wanted = -accuracy - 1
    # beyond the picture the normal density alone decides
    reach = math.sqrt(2 * accuracy + 4)
    fits = np.flatnonzero(right > wanted)
    last = float(x[fits[-1]]) if len(fits) else 0.0
    if len(fits) and fits[-1] == len(x) - 1:
        last = max(last, reach + 1 / picture.ask.sigma)
    fits = np.flatnonzero(left > wanted)
    first = float(x[fits[0]]) if len(fits) else 0.0
    if len(fits) and fits[0] == 0:
        first = min(first, -reach)
    first, last = first - picture.width, last + picture.width
    low, high = math.floor(first / spacing), math.ceil(last / spacing)
    return low, max(high, low + 1)


def _ceiling(shape: int, power: float, scale: float, cosine: float) -> float:
    """About ``log`` of the ceiling of a window, over all ``lambda``."""
    rate = cosine * math.exp(-scale)
    kappa = best_kappa(shape, power, rate, 0.0)
    at = max(0.0, power / (kappa * rate) - 1)
    top = power * math.log1p(at) - kappa * rate * at
    return top - shape * (math.log1p(-kappa) + math.log(cosine))
