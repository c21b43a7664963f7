"""Two mixtures of unit Gaussians in floats, by quadrature: another route than the library's.

``right`` and ``left`` are lists of ``(rate, weight)``: ``P`` is shifted to the right by ``rate``
and ``Q`` to the left.
"""

import math
from functools import lru_cache

import numpy as np

_X = np.linspace(-60, 60, 240_001)
_H = _X[1] - _X[0]


def density(side, x, sign):
    terms = (w * np.exp(-((x - sign * r) ** 2) / 2) for r, w in side)
    return sum(terms) / math.sqrt(2 * math.pi)


def log_ratio(side, x):
    """``log`` of the mixture over the standard normal density."""
    terms = [math.log(w) + r * x - r * r / 2 for r, w in side if w]
    return np.logaddexp.reduce(terms)


def loss(right, left, x):
    return log_ratio(right, x) - log_ratio(left, -x)


_erfc = np.vectorize(math.erfc, otypes=[float])


def _above(side, t, sign):
    return sum(w * _erfc((t - sign * r) / math.sqrt(2)) / 2 for r, w in side)


def profile(right, left, epsilon):
    """``delta(epsilon)`` of one run, any real ``epsilon`` or an array of them."""
    low, high = np.full_like(epsilon, -200.0, float), np.full_like(epsilon, 200.0, float)
    for _ in range(70):
        middle = (low + high) / 2
        above = loss(right, left, middle) > epsilon
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    p, q = _above(right, high, 1), _above(left, high, -1)
    return np.maximum(0.0, p - np.exp(epsilon) * q)


def twice(right, left, epsilon, other=None):
    """``delta(epsilon)`` of two runs: the mean of the profile of one after the loss of another."""
    first = other or (right, left)
    x = np.linspace(-14, 14 + max(r for r, _ in first[0]), 3001)
    weights = density(first[0], x, 1) * (x[1] - x[0])
    losses = loss(*first, x)
    return float(weights @ profile(right, left, epsilon - losses))


@lru_cache
def _log_density():
    return -_X * _X / 2 - math.log(2 * math.pi) / 2


def moment(right, left, s):
    """``E_P[e^{sZ}]`` for complex ``s``."""
    a, b = log_ratio(right, _X), log_ratio(left, -_X)
    return complex(np.exp(_log_density() + (1 + s) * a - s * b).sum() * _H)
