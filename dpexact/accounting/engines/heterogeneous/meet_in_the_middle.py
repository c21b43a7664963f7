r"""Few different ``eps_i``: all outcomes of two halves, sorted, meet in the middle.

With ``s`` the sum of the ``eps_i`` of the chosen mechanisms the loss is
:math:`2s - \sum \epsilon_i`, so a pair of outcomes of the two halves counts when
:math:`s_a + s_b > \theta = (\epsilon + \sum \epsilon_i)/2`:

.. math:: \delta_0(\varepsilon) = \sum_a \Big( P_a \sum_{b:\, s_b > \theta - s_a} P_b
          - e^\varepsilon Q_a \sum_{b:\, s_b > \theta - s_a} Q_b \Big).

Sums of ``eps_i`` are integer *keys*, multiples of a unit as fine as the precision asks for; masses
are integers rounded down. Any set of pairs is a test, so wrong decisions only lower the value, by
at most the mass of the pairs in doubt times the growth of ``e^loss`` across the doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb, fmpz

from dpexact import balls
from dpexact.accounting.engines.heterogeneous.grid import Parameters, largest_loss
from dpexact.accounting.engines.many_types import Half, Halves, nearest
from dpexact.accounting.engines.tangents import Tangent, TangentProfile, exact_responses
from dpexact.accounting.pairs.pair import integer
from dpexact.accounting.profile import InfiniteLoss
from dpexact.reals import Real

#: Most outcomes of a half, and most bits of its masses unless the digits asked for need more.
MAX_HALF: Final = 1 << 20
_MAX_BITS: Final = 1 << 30
#: Some seconds of few outcomes; `e^epsilon` is below a power of 2 of so many bits, or hopeless.
_CAP: Final = 1 << 22
#: Bits of the balls beyond those of the masses.
_GUARD: Final = 64


@dataclass(frozen=True)
class _Half:
    """Outcomes in the order of their construction.

    ``Q`` of an outcome is ``P`` of its complement, which is the outcome at the mirrored index.
    A mass is short of the truth by at most ``shortfall`` units, a key off by ``key_error``.
    """

    keys: list[int]
    masses: list[int]
    shortfall: int
    key_error: arb

    def whole(self) -> Half[int]:
        """With both masses."""
        return Half(self.keys, self.masses, self.masses[::-1])


@dataclass(frozen=True)
class _Halves:
    """Both halves at one precision."""

    pairs: Halves[int]
    unit: arb
    bits: int
    error: int
    key_error: arb


#: Bits, more than those of a radius.
_SPARE: Final = 64


class Meeting(TangentProfile):
    """Profile of mechanisms ``(eps_i, count)`` by two halves, kept from one point to the next."""

    method = "heterogeneous composition: meet in the middle"

    def __init__(self, parameters: Parameters, infinite: InfiniteLoss) -> None:
        halves: tuple[list[tuple[Real, int]], list[tuple[Real, int]]] = ([], [])
        sizes = [1, 1]
        for eps, count in sorted(parameters, key=lambda entry: -entry[1]):
            side = 0 if sizes[0] <= sizes[1] else 1
            sizes[side] *= count + 1
            halves[side].append((eps, count))
        self.parameters = parameters
        self.infinite = self.beside = infinite
        self.split: tuple[Parameters, Parameters] = halves
        self.outcomes: int = max(sizes)
        self.largest: Real = largest_loss(parameters)
        self.lost_bits = 2 * self.outcomes.bit_length()
        self.cap = max(min(_MAX_BITS // self.outcomes, _CAP), 512)
        self._kept: dict[int, _Halves] = {}

    @property
    def is_long(self) -> bool:
        """Whether a half has too many outcomes; equal ``eps_i`` count once."""
        return self.outcomes > MAX_HALF

    def tangent(self, epsilon: arb) -> Tangent:
        halves = self._halves()
        whole = sum((c * balls.ball(eps) for half in self.split for eps, c in half), arb(0))
        place = (epsilon + whole) / 2 * halves.unit
        if not balls.in_range(place):
            return Tangent(arb.nan(), arb.nan(), arb.nan())
        threshold = nearest(place)
        slack_ball = halves.key_error + (place - threshold).abs_upper()
        slack = int(slack_ball.upper().ceil().fmpz())
        p, q, near = halves.pairs.beyond(threshold, slack)
        unit = arb(2) ** (-2 * halves.bits)
        error = arb(0).union(arb(halves.error) * arb(2) ** -halves.bits)
        doubt = (near * unit + error) * (2 * arb(slack) / halves.unit).expm1()
        return Tangent(p * unit + error, q * unit + error, doubt.upper())

    def finite_ball(self, epsilon: arb) -> arb:
        # a unit of Q is worth more than a ball of radius 2^64 tells of P
        if 10 * epsilon > 7 * (balls.current() + _SPARE):  # log 2 < 7/10
            return balls.UNIT
        return super().finite_ball(epsilon)

    def finite_fraction(self, level: Fraction) -> Fraction | None:
        return exact_responses(self.parameters, level)

    def _halves(self) -> _Halves:
        bits = balls.current()
        if bits not in self._kept:
            with balls.precision(bits + _GUARD):
                self._kept = {bits: self._build(bits)}  # one at a time: they are large
        return self._kept[bits]

    def _build(self, bits: int) -> _Halves:
        whole = sum((c * balls.ball(eps) for half in self.split for eps, c in half), arb(0))
        # proposes: the unit of the keys; the error of any is bounded
        mantissa, exponent = whole.mid().man_exp()
        unit = arb(2) ** (bits - int(exponent) - int(fmpz(mantissa).bit_length()))
        first, second = (_outcomes(half, unit, bits) for half in self.split)
        return _Halves(
            pairs=Halves(first.whole(), second.whole(), 0),
            unit=unit,
            bits=bits,
            error=len(first.keys) * first.shortfall + len(second.keys) * second.shortfall,
            key_error=first.key_error + second.key_error,
        )


def _outcomes(half: Parameters, unit: arb, bits: int) -> _Half:
    """All outcomes of ``half``; how many of equal mechanisms are chosen is one binomial choice."""
    keys, masses = [0], [1 << bits]
    shortfall, key_error = 0, arb(0)
    for eps, count in half:
        value = balls.ball(eps)
        key = nearest(value * unit)
        key_error += count * (value * unit - key).abs_upper()
        weights, missing = _binomial_weights(value, count, bits)
        # (M - m) W + m (W - w) and the cut of the product
        shortfall += missing + 1
        keys = [k + j * key for j in range(count + 1) for k in keys]
        masses = [m * w >> bits for w in weights for m in masses]
    return _Half(keys, masses, shortfall, key_error)


def _binomial_weights(eps: arb, count: int, bits: int) -> tuple[list[int], int]:
    """The masses of ``0..count`` of equal mechanisms from below in units of ``2^-bits``.

    The second number is how many units one of them is short at most.
    """
    fall = (-eps).exp()  # e^eps may be beyond all numbers
    term = (1 + fall) ** -count * (fmpz(1) << bits)
    weights, missing = [], 1
    for j in range(count, -1, -1):
        low = max(int(integer(term.lower().floor())), 0)
        weights.append(low)
        missing = max(missing, int(integer((term.upper() - low).upper().ceil())))
        term = term * j / (count - j + 1) * fall
    return weights[::-1], missing
