r"""Few steps of Laplace noise on a Poisson sample: the profile in pieces, each a polynomial.

With ``w(l) = 1 - q + q e^l`` on ``|l| <= r``, ``r`` the rate of the noise, let ``Y`` be the sum of
``log w`` over ``t`` steps: the loss, under ``P``, where a record is removed (``sign`` 1), and minus
the loss, under ``Q``, where one is added (-1). Delta at a loss of ``sign y`` and its tilt are

.. math:: \delta_t(y) = E(1 - e^{sign (y - Y)})_+, \qquad F_t(y) = e^{\theta y} \delta_t(y).

``F_t`` is analytic between neighbours of its ``t + 1`` corners, all ``D = log w(r) - log w(-r)``
apart. On piece ``i`` above the lowest let ``y = (t - 1) log w(-r) + i D + log w(l)``. Then piece
``i`` of ``F_{t+1}`` is ``A`` of piece ``i`` of ``F_t`` and ``B`` of piece ``i - 1``
(:mod:`~dpexact.accounting.engines.laplace.steps`). The piece below all is known, or is 0, and so
are those of ``F_0``: a question needs no piece above its own. Errors of all steps add up:
``docs/theory/laplace.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np
from flint import arb

from dpexact import balls, reals
from dpexact.accounting.engines.contour.many import anchored
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.laplace.steps import Column, Plan, Steps
from dpexact.accounting.inverted import ONE, ZERO, BallProfile, InvertedProfile
from dpexact.accounting.pairs.sampled_laplace import SampledLaplace
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, rational

#: Most steps, most bits, and most products of a step's matrices and of all steps.
MAX_COUNT: Final = 20_000
_CAP: Final = 400
_MOST: Final = 8_000_000
_MOST_STEPS: Final = 400_000_000
#: Pieces are kept by multiples of so many bits.
_STEP_BITS: Final = 16
_FEW_BITS: Final = 64
#: Digits of what is looked at first.
_FEW: Final = 3
#: How often, and by how many bits, what did not suffice is made finer.
_ATTEMPTS: Final = 3
_MORE_BITS: Final = 6
_TOO_LONG: Final = "polynomials of too many coefficients"
#: By how much a tilt may change along one piece and beside it, as a power of e.
_STEEP: Final = 4.0
#: Tilts that are less of that are none.
_GENTLE: Final = 1 / 16
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


class LaplaceCells(BallProfile):
    """``count`` steps of ``pair``, beside the mass ``infinite`` of infinite loss."""

    method = "piecewise polynomials"
    is_smooth = True
    fewest_shared = 300
    values = InvertedProfile.values  # whose tilts differ

    def __init__(self, pair: SampledLaplace, count: int, infinite: InfiniteLoss) -> None:
        self.pair, self.count, self.infinite = pair, count, infinite
        end = pair.rate if pair.removes else -pair.rate
        log = reals.logarithm(1 - pair.q + pair.q * reals.exponential(end))
        self.largest: Real | None = count * log if pair.removes else -(count * log)
        self._product = Product([(pair, count)])
        self._tilt = 0.0

    @classmethod
    def takes(cls, pair: SampledLaplace, count: int) -> bool:
        """Whether nothing is truncated. Proposes: whether the steps are few, polynomials short."""
        return (
            pair.is_whole
            and count <= MAX_COUNT
            and cls(pair, count, InfiniteLoss())._is_short(1, 0.0)
        )

    def _is_short(self, digits: int, epsilon: float) -> bool:
        """Proposes: whether polynomials for so many digits are short, and pieces few."""
        bits = balls.bits_for(digits) + self.lost_bits
        level = epsilon if self.pair.removes else -epsilon
        try:
            plan = planned(self.pair, self._tilt, _in_steps(bits))
            with balls.precision(bits):
                low, high = (float(x.mid()) for x in self.pair.ends())
            place = (level - self.count * low) / (high - low)
        except (ArithmeticError, ValueError):  # floats do not tell corners apart
            return False
        pieces = 1 + min(self.count, max(0.0, place))
        each = plan.nodes * plan.kept
        return (
            bits <= _CAP
            and each * plan.points <= _MOST
            and each * self.count * pieces <= _MOST_STEPS
        )

    def _tilted(self, epsilon: float, log_delta: float) -> None:
        """Proposes: a tilt, and bits for what delta is below its bound, and how flat it is."""
        rate, q = map(balls.approximate, (self.pair.rate, self.pair.q))
        low, high = (math.log1p(q * math.expm1(x)) for x in (-rate - 1, rate + 1))
        order = self._product.saddle(epsilon, 1)[0] if epsilon >= 0 else 0.0
        # proposes: likewise, for how much of delta's digits epsilon has
        self.slope_bits = max(0, 8 - math.floor(math.log2(max(order * epsilon, 2.0**-16))))
        steepest = _STEEP / (high - low)
        # proposes: few tilts, which many questions share
        order = 2.0 ** round(math.log2(min(order, steepest))) if order > _GENTLE * steepest else 0.0
        self._tilt = order if self.pair.removes else -order
        bound = (
            self.count * self.pair._about(self._tilt + self.pair.removes).value - order * epsilon
        )
        bound += math.log(self.count)
        self.lost_bits = min(_CAP, max(0, math.ceil((bound - log_delta) / math.log(2))))

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known, at = self.only_infinite(epsilon, digits), balls.approximate(epsilon)
        if known is not None:
            return known
        # proposes: a tilt; any gives an enclosure
        self._tilted(at, self._log_delta(at))
        best = Enclosure(ZERO, ONE, self.method).short(_TOO_LONG)
        # proposes: with how many bits; few more than suffice, as work grows with their cube
        for _ in range(_ATTEMPTS):
            if not self._is_short(digits, at):
                break
            self.cap = balls.bits_for(digits) + self.lost_bits
            best = best.meet(super().delta(epsilon, digits))
            missing = digits - best.digits
            if missing <= 0:
                break
            self.lost_bits += math.ceil(missing * math.log2(10)) + _MORE_BITS
        return best

    def deltas(self, epsilons: Sequence[Real], digits: int) -> list[Enclosure]:
        """Of one tilt by the finest precision of any; who lacks digits there is asked alone.

        Proposes: who is asked together, and the order; what is finest is asked first.
        """
        found = {at: self.only_infinite(at, digits) for at in epsilons}
        near = {at: balls.approximate(at) for at, answer in found.items() if answer is None}
        rest = sorted(near, key=near.__getitem__)
        logs = anchored([near[at] for at in rest], self._log_delta)
        together: dict[float, dict[Real, int]] = {}
        for at, log in zip(rest, logs, strict=False):
            self._tilted(near[at], log)
            together.setdefault(self._tilt, {})[at] = self.lost_bits
        for tilt, lost in together.items():
            self._tilt, self.lost_bits = tilt, max(lost.values())
            if len(lost) > 1 and self._is_short(digits, max(map(near.__getitem__, lost))):
                ask = [*lost], digits, Enclosure(ZERO, ONE, self.method), self.lost_bits, 0
                more = zip(lost, balls.certify_each(self._whole, *ask), strict=True)
                found |= {at: answer for at, answer in more if answer.digits >= digits}
        for at in reversed(rest):
            found[at] = found[at] or self.delta(at, digits)
        return [answer for at in epsilons if (answer := found[at])]

    def _whole(self, epsilons: Sequence[Real]) -> list[arb]:
        parts, gone = self._finite_balls([*map(balls.ball, epsilons)]), self.infinite.ball()
        return [gone + (1 - gone) * part for part in parts]

    def _log_delta(self, epsilon: float) -> float:
        """Proposes: about the logarithm of delta, left of 0 anything."""
        return self._product.saddle(epsilon, 1)[1] if epsilon >= 0 else -1.0

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        near = self._near(delta)
        # proposes: whether to look at 0 first; what is known there decides
        if not near and (self._hides(delta) or balls.at_most(self.delta(rational(0), _FEW), delta)):
            return Enclosure.exact(ZERO, self.method)
        self._tilted(near, self._log_share(delta))
        for _ in range(_ATTEMPTS - 1):
            if not self._is_short(digits, near):
                return Enclosure(ZERO, math.inf, self.method).short(_TOO_LONG)
            found = self._bracket(delta, digits)
            if found is not None:
                return found
            self.lost_bits += 2 * _MORE_BITS
        return super()._epsilon(delta, digits)

    def _hides(self, delta: Real) -> bool:
        """Whether total variation is certainly at most delta, by that of each step."""
        with balls.precision(_FEW_BITS):
            overlap = (1 - self.infinite.ball()) * self.pair.overlap() ** self.count
            return bool(1 - overlap <= balls.ball(delta))

    def near(self, delta: Real) -> Fraction:
        # proposes: where the search starts
        return Fraction(self._near(delta)) or ONE

    def _near(self, delta: Real) -> float:
        return self._product.epsilon(self._log_share(delta), 1)

    def _log_share(self, delta: Real) -> float:
        """About the logarithm of what is left to finite losses."""
        with balls.precision(_FEW_BITS):
            return float((balls.ball(delta) - self.infinite.ball()).log().mid())

    def finite_ball(self, epsilon: arb) -> arb:
        (found,) = self._finite_balls([epsilon])
        return found

    def _finite_balls(self, epsilons: Sequence[arb]) -> list[arb]:
        """By the pieces of their levels, whose slopes are between -1 and 1."""
        removes, (low, high) = self.pair.removes, self.pair.ends()
        apart, found = high - low, [arb.nan()] * len(epsilons)
        beyond: dict[int, dict[int, arb]] = {}
        for i, epsilon in enumerate(epsilons):
            above = (epsilon if removes else -epsilon) - self.count * low
            if above <= 0 or above >= self.count * apart:
                found[i] = -epsilon.expm1() if removes == bool(above <= 0) else arb(0)
            elif balls.in_range(above / apart):
                # proposes: a piece; how far outside of it the point may lie is counted
                piece = max(0, min(self.count - 1, math.floor(float((above / apart).mid()))))
                beyond.setdefault(piece, {})[i] = above - piece * apart
        for piece, members in beyond.items():
            with suppress(ArithmeticError, ValueError):  # no ellipse is known for losses next to 0
                column = self._column(piece)
                inside = [x.max(arb(0)).min(apart) for x in members.values()]
                losses = (((low + x).expm1() / balls.ball(self.pair.q)).log1p() for x in inside)
                rate = balls.ball(self.pair.rate)
                shares = [(x / rate).max(arb(-1)).min(arb(1)) for x in losses]
                values = zip(members.items(), inside, column.at(shares), strict=True)
                for (i, x), within, value in values:
                    level = (epsilons[i] if removes else -epsilons[i]) - x + within
                    # exactly 0 where the point is certainly inside, whatever its radius
                    outside = (-x).max(x - apart).max(arb(0)).upper()
                    found[i] = value * (-self._tilt * level).exp() + arb(0, outside)
        return found

    def _column(self, piece: int) -> Column:
        """Of the tilt, at least at this precision."""
        kept, bits = _kept(self.pair, self._tilt, self.count), balls.current()
        # proposes: which pieces are looked up, here and below; those of any precision enclose
        bits = min((x for x in kept if x >= bits), default=_in_steps(bits))
        with balls.precision(bits):
            # proposes: likewise
            if bits not in kept:
                kept.clear()
                plan = planned(self.pair, self._tilt, bits)
                kept[bits] = Pieces(self.pair, self._tilt, self.count, plan)
            # proposes: likewise
            return kept[bits].column(piece)


@lru_cache(maxsize=16)
def _kept(pair: SampledLaplace, theta: float, count: int) -> dict[int, Pieces]:
    """The finest that were needed, by their bits."""
    return {}


class Pieces:
    """Pieces of ``F_count``, from below, as far as they were asked for."""

    def __init__(self, pair: SampledLaplace, theta: float, count: int, plan: Plan) -> None:
        self._steps, self._count = Steps(pair, theta, plan), count
        self._removes, self._ends = pair.removes, pair.ends()
        #: The piece last found, of ``F_0`` to ``F_(count-1)``, and all those of ``F_count``: at
        #: once, as an interrupt must not leave the one without the other.
        self._known: tuple[list[Column], list[Column]] = [], []

    def _start(self, steps: int, piece: int) -> Column:
        """Of a piece that is known."""
        low, high = self._ends
        base = (steps - 1) * low + piece * (high - low)
        return self._steps.start(base)

    def column(self, piece: int) -> Column:
        """That of ``F_count``.

        Proposes: which piece is looked at.
        """
        while len(self._known[1]) <= piece:
            self._known = self._following(*self._known)
        return self._known[1][piece]

    def _following(
        self, row: list[Column], found: list[Column]
    ) -> tuple[list[Column], list[Column]]:
        """What is known with one piece more."""
        steps, zero = self._steps, Column([arb(0)] * self._steps.kept, arb(0))
        if self._removes:
            here = zero
            before = row or [self._start(t, -1) for t in range(self._count)]
        else:
            here = self._start(0, len(found))
            before = row or [zero] * self._count
        added, row = steps.images(steps.high, before), []
        for other, beside in zip(before, added, strict=True):
            row.append(here)
            (image,) = steps.images(steps.low, [here])
            error = steps.mass * arb.max(here.error, other.error) + image.error + beside.error
            both = zip(image.coefficients, beside.coefficients, strict=True)
            here = steps.shortened(Column([x + y for x, y in both], error))
        return row, [*found, here]


def _in_steps(bits: int) -> int:
    """At least so many, of which few differ."""
    return _STEP_BITS * -(-bits // _STEP_BITS)


@lru_cache(maxsize=64)
def planned(pair: SampledLaplace, theta: float, bits: int) -> Plan:
    """Proposes: ellipses, nodes and points whose errors are about a precision of so many bits."""
    rate, q, power = *map(balls.approximate, (pair.rate, pair.q)), theta + pair.removes
    odds, needed = q / (1 - q), (bits - _SPARE) * math.log(2)
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
