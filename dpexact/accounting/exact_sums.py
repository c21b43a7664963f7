"""The exact profile of a composition of finite laws whose masses are all rational."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final, NamedTuple

from flint import fmpz, fmpz_poly

from dpexact.accounting.profile import EXACT_BITS
from dpexact.exactness import exp_fraction
from dpexact.reals import Real

#: An exact answer is written out while coefficients times bits stay below this.
_EXACT_WORK: Final = 1 << 26


class Masses(NamedTuple):
    """``times`` steps whose outcome ``i`` has masses ``p[i]`` and ``q[i]`` at ``places[i]``.

    Sums of places need only be equal where those of the losses are.
    """

    places: Sequence[int]
    p: Sequence[Fraction]
    q: Sequence[Fraction]
    times: int


def exact_divergence(laws: Sequence[Masses], level: Fraction) -> Fraction | None:
    """The sum of ``(P - level Q)_+`` over all sums of places; None if it is too long."""
    scales = [math.lcm(*(x.denominator for x in (*law.p, *law.q))) for law in laws]
    bits = sum(scale.bit_length() * law.times for scale, law in zip(scales, laws, strict=True))
    length = sum(max(law.places) * law.times for law in laws) + 1
    if bits > EXACT_BITS or length * bits > _EXACT_WORK:
        return None
    p, q, whole = fmpz_poly([1]), fmpz_poly([1]), fmpz(1)
    for scale, law in zip(scales, laws, strict=True):
        p *= _polynomial(law.places, law.p, scale) ** law.times
        q *= _polynomial(law.places, law.q, scale) ** law.times
        whole *= fmpz(scale) ** law.times
    gains = level.denominator * p - level.numerator * q
    total = sum((gain for gain in gains.coeffs() if gain > 0), fmpz(0))
    return Fraction(int(total), int(whole) * level.denominator)


def exact_responses(
    responses: Sequence[tuple[Real, int]], level: Fraction, strides: Sequence[int] = ()
) -> Fraction | None:
    """The same of randomised responses ``(eps, count)``; ``strides`` if they share a lattice."""
    laws, stride = [], 1
    for i, (eps, count) in enumerate(responses):
        growth = exp_fraction(eps)
        if growth is None:
            return None
        high = growth / (1 + growth)
        place = strides[i] if strides else stride
        laws.append(Masses((0, place), (1 - high, high), (high, 1 - high), count))
        stride *= count + 1
    return exact_divergence(laws, level)


def _polynomial(places: Sequence[int], masses: Sequence[Fraction], scale: int) -> fmpz_poly:
    coefficients = [0] * (max(places) + 1)
    for place, mass in zip(places, masses, strict=True):
        coefficients[place] += mass.numerator * (scale // mass.denominator)
    return fmpz_poly(coefficients)
