r"""The double series of Mironov, Talwar and Zhang (2019), accelerated, with a certified tail.

``w = 1 - q + q r`` with ``r = dP/dQ``; both parts are equal where ``z = z_0``. Below ``z_0`` the
power ``w^a`` is expanded in ``q r/(1-q) <= 1``, above in the inverse:

.. math:: E_Q[w^a] = \sum_{k\ge0} \binom{a}{k} \Big[
          (1-q)^{a-k} q^k e^{k(k-1)\mu^2/2}\, \Phi(z_0 - k\mu) +
          (1-q)^k q^{a-k} e^{j(j-1)\mu^2/2}\, \Phi(j\mu - z_0)\Big], \quad j = a - k.

From ``k > a`` on the terms alternate in sign and, apart from the sign, are the moments of a
positive measure on ``[0, 1]``. Hence the acceleration of Cohen, Rodriguez Villegas and Zagier
(2000), Proposition 1, applies with a rigorous bound: ``n`` terms leave less than
``2 (3 + sqrt 8)^-n`` times the first of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice

from flint import arb, fmpz

#: ``log(3 + sqrt 8)``: what one accelerated term adds to the logarithm of the accuracy.
TERM_GAIN = 1.762


def terms(a: float, accuracy: float) -> int:
    """The number of terms of each series for a relative error about ``e^-accuracy``."""
    return math.floor(a) + 1 + _accelerated(accuracy)


def moment(a: arb, floor_a: int, mu: arb, q: arb, accuracy: float) -> arb:
    """``E_Q[w^a]`` for ``a > 0`` with integer part ``floor_a``, ``mu > 0`` and ``0 < q < 1``."""
    middle = ((1 - q) / q).log() / mu + mu / 2
    count = _accelerated(accuracy)
    total = arb(0)
    for series in (
        _terms(a, arb(0), 1, 1 - q, q, mu, middle),
        _terms(a, a, -1, q, 1 - q, mu, middle),
    ):
        total += sum(islice(series, floor_a + 1), arb(0))
        total += _alternating(series, count)
    return total


def _accelerated(accuracy: float) -> int:
    return max(4, math.ceil(accuracy / TERM_GAIN) + 1)


def _terms(
    a: arb, start: arb, sign: int, first: arb, second: arb, mu: arb, middle: arb
) -> Iterator[arb]:
    """Terms ``C(a, k) first^(a-k) second^k e^(j(j-1)mu^2/2) Phi(sign (z_0 - j mu))``.

    ``j = start + sign k`` is the power of ``r``: upward below ``z_0``, downward from ``a`` above.
    """
    root2 = arb(2).sqrt()
    coefficient = first**a / 2
    ratio = second / first
    half_square = mu * mu / 2
    k = 0
    while True:
        j = start + sign * k
        normal = (-sign * (middle - j * mu) / root2).erfc()
        yield coefficient * (j * (j - 1) * half_square).exp() * normal
        coefficient = coefficient * ratio * (a - k) / (k + 1)
        k += 1


def _alternating(series: Iterator[arb], count: int) -> arb:
    r"""The sum of alternating terms :math:`\pm(-1)^k \int_0^1 x^k\,d\nu(x)` from ``count`` terms.

    With :math:`P(x) = T_n(1-2x)` (Chebyshev), the weighted sum differs from the limit ``s`` by
    :math:`\frac{1}{P(-1)}\int P(x)/(1+x)\,d\nu`, at most ``|first term| / P(-1)``.
    """
    scale = _chebyshev(count)
    weight, partial = fmpz(-1), -scale
    total = arb(0)
    first: arb | None = None
    for k, term in enumerate(islice(series, count)):
        if first is None:
            first = term
        partial = weight - partial
        total += term * partial if k % 2 == 0 else -term * partial
        numerator = 2 * weight * (k + count) * (k - count)
        weight = numerator // ((2 * k + 1) * (k + 1))
    assert first is not None
    return total / scale + arb(0, 1) * (first.abs_upper() / scale)


def _chebyshev(n: int) -> fmpz:
    """``T_n(3) = ((3 + sqrt 8)^n + (3 - sqrt 8)^n) / 2``, an integer."""
    previous, current = fmpz(1), fmpz(3)
    # proposes: how many terms; the error is bounded after any number of them
    for _ in range(n - 1):
        previous, current = current, 6 * current - previous
    return current


def mixture_moment(log_moments: Sequence[arb], order: int, q: arb) -> arb:
    r"""``E_Q[w^order] - 1`` from ``log E_Q[(dP/dQ)^k]``, ``k = 2 .. order``, for ``0 < q <= 1``.

    Removing, at an integer order, the finite binomial sum

    .. math:: E_Q[w^n] - 1 = \sum_{k=2}^{n} \binom{n}{k} (1-q)^{n-k} q^k
              \big(E_Q[(dP/dQ)^k] - 1\big),

    Steinke (2022), Theorem 34, with the total probability 1 taken out of the sum: every term is
    positive, so nothing cancels however small ``q`` is.
    """
    weight, odds, total = q**order, (1 - q) / q, arb(0)
    for k in range(order, 1, -1):
        total += weight * log_moments[k - 2].expm1()
        weight = weight * odds * k / (order - k + 1)
    return total
