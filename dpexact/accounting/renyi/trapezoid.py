r"""Moments of the sampled Gaussian by the trapezoidal rule, at any real power.

With ``w(z) = 1 - q + q exp(mu z - mu^2/2)`` and the normal density ``phi``,

.. math:: A = \int \varphi(z)\, w(z)^a\,dz, \qquad T = t \sum_j \varphi(jt)\, w(jt)^a, \qquad
          |T - A| \le \eta A, \quad
          \eta = \frac{2\,e^{b^2/2} \cos(b\mu/2)^{\min(a,0)}}{e^{2\pi b/t} - 1}

for every ``0 < b < pi/mu``: in the strip ``|y| <= b`` the integrand is analytic,
``|phi(x+iy)| = e^(y^2/2) phi(x)`` and ``cos(y mu/2) w(x) <= |w(x+iy)| <= w(x)``. The derivations
are in ``docs/theory/renyi.md``. Floats choose ``b``, ``t`` and the nodes; balls prove the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flint import arb

#: Most nodes that are summed.
MAX_NODES: Final = 400_000
#: Blocks of fewer nodes are summed without trying to prove that they do not matter.
BLOCK: Final = 64


@dataclass(frozen=True, slots=True)
class Plan:
    """Spacing ``t``, strip half-width ``b``, first and last node ``j``; all merely proposals.

    ``floor`` is the natural logarithm of the mass below which a block of nodes may be dropped;
    ``nodes`` estimates how many will be summed.
    """

    t: float
    b: float
    first: int
    last: int
    floor: float
    nodes: int


def plan(a: float, mu: float, q: float, accuracy: float) -> Plan | None:
    """Parameters for a relative error about ``e^-accuracy``; None when floats do not reach."""
    try:
        return _plan(a, mu, q, accuracy)
    except (OverflowError, ZeroDivisionError, ValueError):
        return None


def _plan(a: float, mu: float, q: float, accuracy: float) -> Plan:
    """Proposes: a plan; whether the theorem holds for it, balls decide in :class:`_Rule`."""
    log_odds = math.log(q / (1 - q)) - mu * mu / 2

    def height(z: float) -> float:
        x = mu * z + log_odds
        return -z * z / 2 + a * (math.log(1 - q) + max(x, 0.0) + math.log1p(math.exp(-abs(x))))

    def pull(z: float) -> float:
        """``a mu p(z)``, to which ``z`` is equal where the height is stationary."""
        return a * mu / (1 + math.exp(min(-mu * z - log_odds, 700.0)))

    def outward(start: float, sign: int, distance: float) -> float:
        while height(start + sign * distance) > floor - 3:
            distance *= 1.1
        return start + sign * distance

    b, t = _strip(a, mu, accuracy)
    t = math.ldexp(math.floor(math.ldexp(t, 20 - math.frexp(t)[1])), math.frexp(t)[1] - 20)
    if a > 0:
        lower, upper = _iterate(pull, 0.0), _iterate(pull, a * mu)
        floor = max(height(lower), height(upper)) - accuracy - 2
        left, right = outward(0.0, -1, 1.0), outward(a * mu, 1, 1.0)
        reach = 2 * math.sqrt(2 * accuracy + 10)
        needed = min(right - left, 2 * reach + 4 * BLOCK * t) / t
    else:
        peak, width = _fixed_point(pull, a * mu), 1 / math.sqrt(1 - a * mu * mu / 4)
        floor = height(peak) + math.log(width) - accuracy - 2
        left, right = outward(peak, -1, width), outward(peak, 1, width)
        needed = (right - left) / t
    if not needed < 1e15:
        raise OverflowError
    return Plan(t, b, math.floor(left / t), math.ceil(right / t), floor, math.ceil(needed))


def _iterate(pull: Callable[[float], float], z: float) -> float:
    """Proposes: a stationary point next to ``z``, so far as matters for an estimate."""
    for _ in range(100):
        before, z = z, pull(z)
        if abs(z - before) < 1e-3:
            break
    return z


def _fixed_point(pull: Callable[[float], float], low: float) -> float:
    """Proposes: about the solution of ``z = pull(z)`` in ``[low, 0]``, ``pull`` decreasing."""
    high = 0.0
    for _ in range(60):
        z = (low + high) / 2
        low, high = (z, high) if pull(z) > z else (low, z)
    return low


def _strip(a: float, mu: float, accuracy: float) -> tuple[float, float]:
    """Proposes: the half-width ``b`` that allows the widest spacing, and that spacing."""
    power = max(-a, 0.0)

    def spacing(b: float) -> float:
        cost = b * b / 2 - power * math.log(math.cos(b * mu / 2)) if power else b * b / 2
        return 2 * math.pi * b / (accuracy + cost + 1)

    low, high = 0.0, min(math.pi / mu * (1 - 1e-9), 2 * math.sqrt(accuracy) + 2)
    for _ in range(60):
        third = (high - low) / 3
        if spacing(low + third) < spacing(high - third):
            low += third
        else:
            high -= third
    return high, spacing(high)


def moment(a: arb, negative: bool, mu: arb, q: arb, chosen: Plan) -> arb:
    """``E_Q[w^a]`` for ``mu > 0``, ``0 < q < 1``; ``negative`` tells the sign of ``a``.

    Not finite when the plan does not satisfy the hypotheses, or asks for more than ``MAX_NODES``.
    """
    rule = _Rule(a, negative, mu, q, chosen)
    total = rule.sum()
    if total is None:
        return arb.nan()
    error = rule.strip_error()
    return total / (1 + error * arb(0, 1))


class _Rule:
    """One trapezoidal sum; ``height(z) = -z^2/2 + a log w(z)``."""

    def __init__(self, a: arb, negative: bool, mu: arb, q: arb, chosen: Plan) -> None:
        self.a, self.negative, self.mu, self.q = a, negative, mu, q
        self.rest = 1 - q
        self.half_square = mu * mu / 2
        self.t, self.b = arb(chosen.t), arb(chosen.b)
        self.plan = chosen
        self.density = self.t / (2 * arb.pi()).sqrt()
        self.floor = arb(chosen.floor).exp()
        self.budget = MAX_NODES

    def strip_error(self) -> arb:
        """``eta``; not finite unless ``b < pi/mu`` is certain and ``eta < 1/2``."""
        angle = self.b * self.mu
        # proposes: b; a ball decides whether it is within the strip
        if not angle < arb.pi():
            return arb.nan()
        error = 2 * (self.b * self.b / 2).exp() / (2 * arb.pi() * self.b / self.t).expm1()
        if self.negative:
            error *= (angle / 2).cos() ** self.a
        # proposes: b and t; the error of any is a ball
        return error.abs_upper() if error < 0.5 else arb.nan()

    def log_w(self, j: int) -> arb:
        z = j * self.t
        return (self.rest + self.q * (self.mu * z - self.half_square).exp()).log()

    def node(self, j: int) -> arb:
        z = j * self.t
        return (self.a * self.log_w(j) - z * z / 2).exp()

    def sum(self) -> arb | None:
        """The whole sum over all integers ``j``, or None."""
        first, last = self.plan.first, self.plan.last
        tails = self.tail(first, -1) + self.tail(last, 1)
        if not tails.is_finite():
            return None
        middle = self.block(first, last, self.log_w(first), self.log_w(last))
        if middle is None:
            return None
        return self.density * (middle + tails * _UNIT)

    def tail(self, j: int, sign: int) -> arb:
        """A bound of the nodes beyond ``j``: there the height falls at least with slope ``d``.

        Negative power: the height is concave, so its slope at ``j`` serves. Positive power: the
        slope is ``-z + a mu p`` with ``0 < p < 1``.
        """
        z = j * self.t
        if self.negative:
            odds = self.q / self.rest * (self.mu * z - self.half_square).exp()
            slope = self.a * self.mu * odds / (1 + odds) - z
        else:
            slope = (self.a * self.mu if sign > 0 else 0) - z
        d = -sign * slope
        # proposes: the last node; a ball decides whether the heights fall from there on
        return (self.node(j) / (d * self.t).expm1()).abs_upper() if d > 0 else arb.nan()

    def block(self, first: int, last: int, log_first: arb, log_last: arb) -> arb | None:
        """The nodes ``first .. last``, or a proof that they are negligible.

        Proposes: the nodes and the work; a block is summed or bounded, or there is no answer.
        """
        size = last - first + 1
        if size <= BLOCK or self.negative:
            self.budget -= size
            if self.budget < 0:
                return None
            return sum(map(self.node, range(first, last + 1)), arb(0))
        bound = size * self.chord_bound(first, last, log_first, log_last)
        # proposes: what is negligible; the block is enclosed either way
        if bound < self.floor:
            return bound.abs_upper() * _UNIT
        self.budget -= 1
        middle = (first + last) // 2
        log_middle = self.log_w(middle)
        left = self.block(first, middle, log_first, log_middle)
        if left is None:
            return None
        right = self.block(middle + 1, last, self.log_w(middle + 1), log_last)
        return None if right is None else left + right

    def chord_bound(self, first: int, last: int, log_first: arb, log_last: arb) -> arb:
        """A bound of every node in a block, for ``a > 0``.

        ``log w`` is convex, so it lies below its chord; the height lies below a quadratic.
        Proposes: the nodes; balls decide between the cases, and the last bounds every block.
        """
        u, v = first * self.t, last * self.t
        slope = self.a * (log_last - log_first) / (v - u)
        if slope <= u:
            top = self.a * log_first - u * u / 2
        elif slope >= v:
            top = self.a * log_last - v * v / 2
        else:
            top = self.a * log_first - slope * u + slope * slope / 2
        return top.exp()


#: The interval ``[0, 1]``.
_UNIT: Final = arb(0.5, 0.5)
