"""Where to put the nodes of the trapezoidal rules, in floats.

Proposes: rules; the sums over the nodes bound what any rule leaves out.
"""

from __future__ import annotations

import math

import numpy as np

from dpexact.accounting.arrays import Floats
from dpexact.accounting.engines.rare.float_rows import ANGLES
from dpexact.accounting.engines.rare.law import Rule
from dpexact.accounting.engines.rare.picture import RowPicture, log_below, log_sum
from dpexact.accounting.engines.rare.windows import best_kappa
from dpexact.accounting.pairs.pair import short

#: By what power of e bounds exceed what floats have, and the least exponent of an error.
_LOOSE, _COARSEST = 2.0, 5.0
#: To what height cells know what large losses alone weigh.
_HIGHEST = 0.8
#: How far cells reach beyond a window, as a logarithm.
_BEYOND = 1.5
#: Those of the root of ``lambda``, where only windows bound them.
POWER_ANGLES = ANGLES[ANGLES <= 1.2]


def heights(
    picture: RowPicture, high: float | None, low: float | None, angles: Floats | None = None
) -> Floats:
    """About the logarithm of a window at each of the angles, a row an angle."""
    if angles is None:
        angles = picture.law.angles
    shape, turn = picture.shape, np.log(np.cos(picture.root * angles))[:, None]
    found: Floats = picture.window(high, low, turn) - shape * turn
    if low is None and high is not None:
        outer = log_below(shape, picture.over(high) + turn) - shape * turn
        found = np.minimum(found, np.log1p(np.exp(np.minimum(outer, 300.0))))
    return found


def oblique_rule(
    picture: RowPicture,
    scales: tuple[float, float | None],
    rho: float,
    risen: Floats,
    accuracy: float,
) -> tuple[Rule, float]:
    """A rule above the axis for one window and all heights, and the bits it loses, as a log.

    ``risen`` is about the logarithm of the integrand at each of the angles.
    """
    sigma, power, angles = picture.sigma, max(rho - 1, 0.0), picture.law.angles
    # of rows that hardly have such losses little is asked, and what rounds to 0 grows with a height
    least = _COARSEST - accuracy + (angles * sigma) ** 2 / 2
    integrals = np.maximum(log_sum(risen) + _LOOSE, least)
    on_axis = integrals[0]
    integrals = np.maximum(integrals, _beyond(picture, scales[0], power))
    rates = (2 * accuracy + on_axis + integrals) / (angles * sigma)
    at = int(np.argmin(rates))
    angle, spacing = float(angles[at]), 2 * math.pi / float(rates[at])
    shift = float(accuracy + on_axis) * spacing / (2 * math.pi)
    turn = math.log(math.cos(picture.root * shift / sigma))
    first, last = _ends(picture, power, *scales, turn, spacing, accuracy)
    lost = max(0.0, float(np.interp(shift / sigma, angles, integrals)))
    return Rule(short(shift), angle, spacing, first, last), lost


def last_cell(picture: RowPicture, scale: float) -> float:
    """About the logarithm of ``lambda`` beyond which a window is bounded by its ceiling."""
    return scale + (math.log(picture.shape) + _BEYOND) / picture.root


def _beyond(picture: RowPicture, scale: float, power: float) -> Floats:
    """About the logarithm of what cells have beyond the last of them, at each of the angles.

    Higher up the power may outgrow the window.
    """
    shape, sigma, last = picture.shape, picture.sigma, last_cell(picture, scale)
    group, angles = picture.law.group, picture.law.angles
    place = sigma * (last - picture.start) - 1 / sigma
    found, start, power = [], math.exp(picture.root * last), group * power / picture.root
    for cosine in np.cos(picture.root * angles).tolist():
        rate = cosine * math.exp(-picture.root * scale)
        kappa = best_kappa(shape, power, group * rate, start / group)
        at = max(start, power / (kappa * rate) - group)
        top = power * math.log1p(at / group) - kappa * rate * at
        found.append(top - shape * (math.log1p(-kappa) + math.log(cosine)))
    return np.array(found) + (angles * sigma) ** 2 / 2 - max(0.0, place) ** 2 / 2


def real_rule(
    picture: RowPicture, scales: tuple[float | None, float | None], accuracy: float
) -> Rule:
    """A rule for the masses of a window."""
    sigma, angles = picture.sigma, ANGLES[_HIGHEST >= ANGLES] / picture.root
    lifts = picture.density + picture.loss + (angles[:, None] * sigma) ** 2 / 2
    integrals = log_sum(lifts + heights(picture, *scales, angles))
    rates = np.maximum(_COARSEST, accuracy + integrals + _LOOSE) / (angles * sigma)
    at = int(np.argmin(rates))
    spacing = 2 * math.pi / float(rates[at])
    first, last = _ends(picture, 0.0, *scales, 0.0, spacing, accuracy)
    return Rule(0.0, float(angles[at]), spacing, first, last)


def powered(picture: RowPicture, scales: tuple[float, float | None], rho: float) -> Floats:
    """About the logarithm of powers of large losses at each of :data:`POWER_ANGLES`."""
    angles = POWER_ANGLES / picture.root
    lifts = (angles[:, None] * picture.sigma) ** 2 / 2 + heights(picture, *scales, angles)
    found: Floats = picture.density + rho * picture.ratio + lifts
    return found


def power_rule(
    picture: RowPicture, scales: tuple[float, float | None], rho: float, accuracy: float
) -> Rule:
    """A rule above the axis for the powers of large losses at all heights."""
    sigma, angles = picture.sigma, POWER_ANGLES / picture.root
    integrals = log_sum(powered(picture, scales, rho)) + _LOOSE
    integrals = np.maximum(integrals, _COARSEST - accuracy)
    rates = (2 * accuracy + integrals[0] + integrals) / (angles * sigma)
    at = int(np.argmin(rates))
    angle, spacing = float(angles[at]), 2 * math.pi / float(rates[at])
    shift = float(accuracy + integrals[0]) * spacing / (2 * math.pi)
    turn = math.log(math.cos(picture.root * shift / sigma))
    law = (
        picture.density
        + rho * picture.ratio
        + picture.window(*scales, turn)
        - picture.shape * turn
        + shift * shift / 2
    )
    # what is beyond a node is bounded by normal tails and the window at the node
    fits = np.flatnonzero(law >= min(-accuracy - 1 - _LOOSE, float(law.max())))
    first, last = (float(picture.x[i]) for i in (fits[0], fits[-1]))
    low = math.floor((first - picture.width) / spacing)
    return Rule(
        short(shift), angle, spacing, low, max(low + 1, math.ceil((last + picture.width) / spacing))
    )


def _ends(
    picture: RowPicture,
    power: float,
    far: float | None,
    near: float | None,
    turn: float,
    spacing: float,
    accuracy: float,
) -> tuple[int, int]:
    """The first and last node, beyond which the integrand is negligible."""
    shape, x = picture.shape, picture.x
    tails = np.where(x > 0, -x * x / 2, 0.0)
    right = tails
    for j, share in enumerate(picture.law.log_shares[1:], 1):
        tilted = np.maximum(x - j / picture.sigma, 0.0)
        right = np.logaddexp(right, share - tilted * tilted / 2)
    height = power * picture.up - shape * turn
    if far is not None:
        v = picture.over(far) + turn
        fall = shape * (v - math.log(shape)) + shape - np.exp(np.minimum(v, 600))
        height = height + np.where(v > math.log(shape), fall, 0.0)
    # what is beyond a node weighs as much as the highest of it
    right = right + np.maximum.accumulate(height[::-1])[::-1]
    left = np.where(x < 0, -x * x / 2, 0.0)
    if near is not None:
        w = picture.over(near) + turn
        ease = shape * (w - math.log(shape)) + shape - np.exp(np.minimum(w, 600))
        left = left + np.where(w < math.log(shape), ease, 0.0)
    left = left - shape * turn
    wanted = -accuracy - 1
    # beyond the picture the normal density alone decides
    reach = math.sqrt(2 * (accuracy - shape * turn) + 4)
    fits = np.flatnonzero(right > wanted)
    last = float(x[fits[-1]]) if len(fits) else 0.0
    if len(fits) and fits[-1] == len(x) - 1:
        last = max(last, reach + 1 / picture.sigma)
    fits = np.flatnonzero(left > wanted)
    first = float(x[fits[0]]) if len(fits) else 0.0
    if len(fits) and fits[0] == 0:
        first = min(first, -reach)
    first, last = first - picture.width, last + picture.width
    low, high = math.floor(first / spacing), math.ceil(last / spacing)
    return low, max(high, low + 1)
