r"""Delta of one random allocation of Gaussian steps, by the Laplace transform of its ratio.

A record takes part in one of ``t`` equal steps of noise ``1/a``. Under the run without it the
likelihood ratio is the mean ``S`` of ``t`` independent ``Y = exp(aX - a^2/2)``, ``X`` normal: with
``put(K) = E (K - S)_+``, ``K = e^eps``, delta is ``1 - K + put(K)`` of a record removed and
``K put(1/K)`` of one added. ``e^{-ck} put(k)`` has the transform ``psi(s)/s^2``, ``psi(s) =
E e^{-sS} = phi(s/t)^t``, ``phi(z) = E e^{-zY}``: summed over ``s_n = c + inh``, ``x = 2 pi/h >= K``

.. math:: \frac{h}{\pi} \Re {\sum_{n \ge 0}}' \frac{e^{s_n K} \psi(s_n)}{s_n^2}
          = put(K) + \sum_{m > 0} e^{-cxm} put(K + mx),

the prime halving the first term, as ``put`` vanishes below 0, and ``k - 1 <= put(k) <= k``.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any, Final

from dpexact import certificate_checker as standard
from dpexact.certificate_checker import Invalid, Undecided, Unreadable
from dpexact.certificate_checker_mpfr.arithmetic import (
    Arithmetic,
    Interval,
    Rectangle,
    power_sums,
)

PLAN: Final = {"c", "h", "count", "lift", "spacing", "half", "shift"}
MAX_COUNT: Final = 100_000
_OWN_BITS: Final = 64
_PER_NODE: Final = 100
_PER_TERM: Final = 10
_LIGHT: Final = 1 << 16
"""A node whose weight is below ``e^-_LIGHT`` is left out."""


def step_of(steps: standard.Steps, a: Arithmetic) -> tuple[Interval, int, int]:
    """The rate ``a`` and the number of steps ``t`` of the allocation that runs, and how often.

    Steps that share a batch are one of the sum of the squares of their rates.
    """
    (text, count), *others = steps.items()
    tree = json.loads(text)
    if others or tree[0] != "allocation":
        raise Invalid("this checker has no route for this mechanism")
    _, (inner, times), _ = standard.parameters(tree, standard.Arithmetic(64))
    own = standard.Arithmetic(a.bits + _OWN_BITS)
    square = a.exact(0)
    for step, number in standard.steps_of(inner).items():
        name, _, values = standard.parameters(json.loads(step), own)
        if name not in ("gaussian", "gdp"):
            raise Invalid("this checker knows allocations of Gaussian steps alone")
        found = [a.between(value.lo, value.hi) for value in values]
        rate = found[0] if name == "gdp" else found[1] / found[0]
        square = square + rate * rate * a.exact(number)
    return square.increasing("sqrt"), int(times), count


class Put(ABC):
    """Delta in one direction from ``put``, at ``e^eps`` or ``e^-eps``."""

    remove: bool

    @abstractmethod
    def put(self, level: Interval) -> Interval:
        """``put(level)``, enclosed."""

    def delta(self, epsilon: Interval) -> Interval:
        """``delta(epsilon)``, enclosed."""
        level = (epsilon if self.remove else -epsilon).exp()
        put = self.put(level)
        return put - level + 1 if self.remove else put / level


class Transform(Put):
    """One allocation, by the plan of a certificate."""

    def __init__(self, steps: standard.Steps, way: str, plan: Any, a: Arithmetic) -> None:
        self.remove, self.a = way == "remove", a
        self.rate, self.t, epochs = step_of(steps, a)
        if epochs != 1:
            raise Invalid("a plan of one epoch for several")
        if not isinstance(plan, dict) or set(plan) != PLAN:
            raise Unreadable(f"a plan does not have the members {', '.join(sorted(PLAN))}")
        numbers = [standard.rational(plan[name]) for name in ("c", "h", "lift", "spacing", "shift")]
        self.c, self.h, self.lift, self.spacing, self.shift = numbers
        if not (min(self.c, self.h, self.lift, self.spacing) > 0 and self.shift >= 0):
            raise Invalid("a plan whose line, spacings or shifts are out of their ranges")
        self.count = standard.natural(plan["count"], 1, MAX_COUNT)
        self.half = standard.natural(plan["half"], 1, MAX_COUNT)
        quarter = a.pi() / 4
        if not (self.rate * a.exact(self.lift)).hi <= quarter.lo:
            raise Invalid("a strip on which the inner integrand is not bounded")
        if not (self.rate * a.exact(self.shift)).hi < (quarter * 2).lo:
            raise Invalid("a shift beyond a right angle")
        a.spend(_PER_NODE * (2 * self.half + self.count) + _PER_TERM * 2 * self.half * self.count)
        self.error = self._inner_error()
        self.summands = self._summands()
        self.beyond = self._beyond()

    def _inner_error(self) -> Interval:
        """What the trapezoidal rule of ``phi`` on ``Im x = -A`` may be off by, in ``hi``.

        For ``0 <= arg z <= pi/2`` and ``2 a A <= pi/2``, ``|e^{-zY}| <= 1`` wherever ``-2A <= Im x
        <= 0``: the aliases are moved to either edge, where the normal density has the modulus 1 and
        ``e^{2A^2}`` of that on the real line. Nodes beyond ``R`` fall by ``e^{-R tau}`` each, or
        faster.
        """
        a, one = self.a, self.a.exact(1)
        lift, spacing = a.exact(self.lift), a.exact(self.spacing)
        aliases = one + (lift * lift * 2).exp()
        found = aliases / (a.pi() * 2 * lift / spacing).increasing("expm1")
        reach = spacing * self.half
        density = ((lift * lift - reach * reach) / 2).exp() / (a.pi() * 2).increasing("sqrt")
        return found + density * spacing * 2 / (reach * spacing).increasing("expm1")

    def _transforms(self, c: Interval, h: Interval, count: int) -> list[Rectangle]:
        """``psi(c + inh)`` for ``n = 0 .. count``: the rule's weights are powers of ``n``."""
        a = self.a
        # on the line Y is |Y| times the conjugate of this
        lift = (self.rate * a.exact(self.lift)).turn()
        scale = (a.exact(self.spacing) / (a.pi() * 2).increasing("sqrt")).log()
        starts, ratios, error = [], [], self.error
        for j in range(-self.half, self.half + 1):
            x = j * self.spacing
            ratio = (self.rate * a.exact(x) - self.rate * self.rate / 2).exp() / self.t
            own = a.exact((self.lift**2 - x**2) / 2) + scale
            weight = own - c * ratio * lift.real
            if weight.hi < -_LIGHT:
                error = error + a.exact(-_LIGHT).exp()
                continue
            angle = a.exact(x * self.lift) + c * ratio * lift.imag
            starts.append(angle.turn().scaled(weight.exp()))
            turn = (-(h * ratio * lift.real)).turn()
            ratios.append(turn.scaled((-(h * ratio * lift.imag)).exp()))
        if not starts:
            raise Invalid("a line on which every node is left out")
        sums = power_sums(starts, ratios, count, a)
        return [found.widened(error) ** self.t for found in sums]

    def _summands(self) -> list[Rectangle]:
        """``psi(s_n)/s_n^2``, the first one halved."""
        a, c, h = self.a, self.a.exact(self.c), self.a.exact(self.h)
        values = []
        for n, psi in enumerate(self._transforms(c, h, self.count)):
            s = Rectangle(c, h * n)
            values.append(psi * (s * s).inverse())
        values[0] = values[0].scaled(a.exact(1) / 2)
        return values

    def _beyond(self) -> Interval:
        """A bound on ``|psi(c + iv)|`` from the first node that is left out on, in ``hi``.

        Every ``x_i`` is moved to ``x_i - iB``, ``B`` the shift: the densities gain ``e^{t B^2/2}``,
        and ``|exp(-sS e^{-iaB})| = exp(-(c cos aB + v sin aB) S)`` decreases in ``v``.
        """
        a = self.a
        shift = a.exact(self.shift)
        turn = (self.rate * shift).turn()
        height = a.exact((self.count + 1) * self.h)
        real = a.exact(self.c) * turn.real + height * turn.imag
        if not real.lo > 0:
            raise Undecided("the bits do not tell the bound of the tail")
        (psi,) = self._transforms(real, a.exact(0), 0)
        return psi.real.up_to() * (shift * shift * self.t / 2).exp()

    def put(self, level: Interval) -> Interval:
        """The sum, less what is known of the other terms."""
        a, c, h = self.a, self.a.exact(self.c), self.a.exact(self.h)
        period = a.pi() * 2 / h
        if not period.lo >= level.hi:
            raise Invalid("a period below the level: aliases from below")
        total = a.exact(0)
        for n, value in enumerate(self.summands):
            total = total + (value * (level * (h * n)).turn()).real
        weight = (c * level).exp()
        total = total * weight * h / a.pi()
        # beyond the last node: (h/pi) e^{cK} sup|psi| sum_{n > N} (nh)^-2, the sum below 1/(N h^2)
        tail = (weight * self.beyond / (a.pi() * h * self.count)).up_to()
        share = a.exact(1) / (c * period).increasing("expm1")  # sum of e^{-cxm}
        known = (level - 1) * share + period * share * (share + 1)
        return total + (tail - tail) - known - share.up_to()
