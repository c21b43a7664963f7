r"""Delta of several epochs of one random allocation, by Mellin transforms of their ratios.

Under the run without the record the likelihood ratio is a product ``R`` of ``E`` independent ``S``
as in :mod:`allocation`. With ``put(K) = E (K - R)_+``, ``k = log K`` and ``M(z) = E S^{-z}``,
``e^{-(1+c)k} put(e^k)`` has the transform ``M(z)^E / (z (z + 1))``; summed over ``z_n = c + inh``,
``x = 2 pi/h``

.. math:: \frac{h}{\pi} K^{1+c} \Re {\sum_{n \ge 0}}' \frac{K^{inh} M(z_n)^E}{z_n (z_n + 1)}
          = put(K) + \sum_{m \ne 0} e^{-(1+c)xm} put(K e^{xm}) .

``M(z) = J(z) / Gamma(z)``, ``J(z) = \int e^{zv} psi(e^v) dv``, ``psi(u) = E e^{-uS}``; ``Gamma``
is the same integral of ``e^{-u}``. Both are sums over nodes ``v_i`` of spacing ``tau``. In ``v``,
``psi(e^v)`` is a power of the convolution of ``exp(-e^v)`` with a normal density, so it is
log-concave (Prékopa): beyond the last node it falls no slower than before it.
"""

from __future__ import annotations

from itertools import takewhile
from typing import Any, Final

from dpexact import certificate_checker as standard
from dpexact.certificate_checker import Invalid, Undecided, Unreadable
from dpexact.certificate_checker_mpfr.allocation import Put, step_of
from dpexact.certificate_checker_mpfr.arithmetic import (
    Arithmetic,
    Interval,
    Rectangle,
    power_sums,
)

_RATIONAL: Final = ("c", "h", "spacing", "edge", "first", "angle", "turn", "shift", "beyond")
_NATURAL: Final = ("count", "half", "nodes", "every")
MAX_COUNT: Final = 100_000
_PER_NODE: Final = 100
_PER_TERM: Final = 10
_FEWEST: Final = 2
_LIGHT: Final = 1 << 16
"""``e^{-u}`` beyond this ``u`` is only known to be smaller."""


class Epochs(Put):
    """Delta in one direction, by the plan of a certificate."""

    def __init__(self, steps: standard.Steps, way: str, plan: Any, a: Arithmetic) -> None:
        self.remove, self.a = way == "remove", a
        self.rate, self.t, self.epochs = step_of(steps, a)
        if not isinstance(plan, dict) or set(plan) != {*_RATIONAL, *_NATURAL}:
            raise Unreadable(f"a plan does not have the members {', '.join(_RATIONAL + _NATURAL)}")
        numbers = {name: standard.rational(plan[name]) for name in _RATIONAL}
        sizes = {name: standard.natural(plan[name], 1, MAX_COUNT) for name in _NATURAL}
        if not (min(numbers[n] for n in ("h", "spacing", "edge", "angle")) > 0):
            raise Invalid("a plan whose spacings or angles are out of their ranges")
        if not (numbers["beyond"] > numbers["c"] >= 1 and numbers["turn"] >= 0):
            raise Invalid("a plan whose lines are out of their ranges")
        self.h, self.count, self.nodes = a.exact(numbers["h"]), sizes["count"], sizes["nodes"]
        self.c, self.b = a.exact(numbers["c"]), a.exact(numbers["beyond"])
        self.angle = a.exact(numbers["angle"])
        self.spacing, self.edge = a.exact(numbers["spacing"]), a.exact(numbers["edge"])
        self.half, self.every = sizes["half"], sizes["every"]
        self.tau = self.rate * self.spacing / self.every
        self.first = a.exact(numbers["first"])
        quarter = a.pi() / 2
        if not ((self.rate * self.edge).hi <= quarter.lo and self.angle.hi < quarter.lo):
            raise Invalid("a strip on which an integrand is not bounded")
        a.spend(_PER_NODE * (self.nodes + 2 * self.half * self.every + self.count))
        a.spend(self.nodes * (2 * self.half + 2 * _PER_TERM * self.count))
        self.places = [self.first + self.tau * i for i in range(self.nodes + 1)]
        self.values = self._psi(), [self._falls(v) for v in self.places]
        self._prepare(a.exact(numbers["turn"]), a.exact(numbers["shift"]))

    def _falls(self, log: Interval) -> Interval:
        """``exp(-e^log)``."""
        size = log.exp()
        return (-size).exp() if size.hi < _LIGHT else self.a.exact(-_LIGHT).exp().up_to()

    def _psi(self) -> list[Interval]:
        """``psi(e^v)`` at the nodes: the inner nodes ``j spacing`` meet those of all others.

        ``|e^{-zY}| <= 1`` for ``|Im x| <= B``, ``aB <= pi/2``: the aliases are moved to either
        edge, where the density has ``e^{B^2/2}`` of its modulus. Nodes beyond ``R`` fall by
        ``e^{-R spacing}`` each, or faster.
        """
        a, root = self.a, (self.a.pi() * 2).increasing("sqrt")
        reach = self.spacing * self.half
        error = (self.edge * self.edge / 2).exp() * 2
        error = error / (a.pi() * 2 * self.edge / self.spacing).increasing("expm1")
        left = (-(reach * reach) / 2).exp() * self.spacing * 2 / root
        error = error + left / (reach * self.spacing).increasing("expm1")
        start = self.first - a.exact(self.t).log() - self.rate * self.rate / 2
        wide = self.half * self.every
        shares = [self._falls(start + self.tau * m) for m in range(-wide, self.nodes + wide + 1)]
        weights = []
        for j in range(-self.half, self.half + 1):
            x = self.spacing * j
            weights.append((-(x * x) / 2).exp() * self.spacing / root)
        found, down, up = [], a.down.fma, a.up.fma
        for i in range(self.nodes + 1):
            low, high = (-error).lo, error.hi
            for weight, share in zip(weights, shares[i :: self.every], strict=False):
                low, high = down(weight.lo, share.lo, low), up(weight.hi, share.hi, high)
            most = Interval(high, high, a).power(self.t)
            least = Interval(low, low, a).power(self.t) if low > 0 else most.up_to()
            found.append(Interval(least.lo, most.hi, a))
        return found

    def _weights(self, values: list[Interval], c: Interval) -> tuple[list[Interval], Interval]:
        """``tau e^{c v_i} f(v_i)``, and what all nodes left out add at most, in ``hi``.

        ``f <= 1`` on the left; on the right, from the last value that is told from 0 on, it falls
        from node to node by what it fell last.
        """
        values = list(takewhile(lambda value: value.lo > 0, values))
        if len(values) < _FEWEST:
            raise Undecided("the bits do not tell how fast a transform falls")
        terms = zip(self.places, values, strict=False)
        found = [(c * v).exp() * self.tau * value for v, value in terms]
        step = (c * self.tau).exp()
        ratio = values[-1] / values[-2] * step
        if not ratio.hi < 1:
            raise Invalid("nodes that end where the integrand does not fall")
        left = (c * self.first).exp() * self.tau / (step - 1)
        return found, left + found[-1] * ratio / (-ratio + 1)

    def _share(self, c: Interval) -> Interval:
        """What aliases at a real point are of the integral, at most.

        On ``Im v = +-angle`` the integrand at ``c + iy`` is at most ``e^{-+ angle y} e^{cv}
        f(e^v cos angle)``: ``(cos angle)^{-c} e^{-+ angle y}`` times the integral at ``c``.
        """
        growth = self.angle.turn().real.power(-c)
        return growth * 2 / (self.a.pi() * 2 * self.angle / self.tau).increasing("expm1")

    def _most(self, values: list[Interval], c: Interval) -> Interval:
        """The integral at a real point, between what the nodes allow."""
        weights, outside = self._weights(values, c)
        total, share = self.a.exact(0), self._share(c)
        for weight in weights:
            total = total + weight
        if not share.hi < 1:
            raise Invalid("nodes too far apart")
        low, high = total / (share + 1), (total + outside) / (-share + 1)
        return Interval(low.lo, high.hi, self.a)

    def _line(self, values: list[Interval]) -> list[Rectangle]:
        """The integral at ``c + inh``, ``n = 0 .. count + 1``."""
        weights, outside = self._weights(values, self.c)
        none, whole = self.a.exact(0), self._most(values, self.c) * self._share(self.c)
        starts = [Rectangle(weight, none) for weight in weights]
        turns = [(self.h * v).turn() for v in self.places[: len(starts)]]
        sums = power_sums(starts, turns, self.count + 1, self.a)
        rises = [(self.angle * self.h * n).exp() for n in range(len(sums))]
        return [x.widened(whole * r + outside) for x, r in zip(sums, rises, strict=True)]

    def _prepare(self, turn: Interval, shift: Interval) -> None:
        """What does not depend on epsilon.

        The moments beyond ``u``, the first node left out: every ``x_i`` is moved to ``x_i - iA``
        and ``u`` turned by ``theta = pi/2 + turn``, so that ``|J(c + iy)| <= J(c) e^{-theta y}
        e^{tA^2/2} cos(theta - aA)^{-c}``, and over ``|Gamma(c + iy)|`` this falls in ``y``.
        """
        a, c, one = self.a, self.c, self.a.exact(1)
        psi, fall = self.values
        lines = self._line(psi), self._line(fall)
        self.summands = []
        for n, (above, below) in enumerate(zip(*lines, strict=True)):
            if n <= self.count:
                z = Rectangle(c, self.h * n)
                kernel = (z * Rectangle(c + one, self.h * n)).inverse()
                self.summands.append((above * below.inverse()) ** self.epochs * kernel)
        self.summands[0] = self.summands[0].scaled(one / 2)
        gamma = lines[1][-1]
        size = (gamma.real.square() + gamma.imag.square()).increasing("sqrt")
        within = self.rate * shift - turn
        if not (within.lo > 0 and within.hi < a.pi().lo):
            raise Invalid("a shift that does not turn back the ray")
        decayed = (shift * shift * self.t / 2).exp() * within.turn().imag.power(-c)
        u = self.h * (self.count + 1)
        decayed = decayed * (-(u * (a.pi() / 2 + turn))).exp()
        decayed = decayed * self._most(psi, c) / size
        self.decayed = decayed.power(self.epochs)
        moment = self._most(psi, self.b) / self._most(fall, self.b)
        self.moment = moment.power(self.epochs)

    def put(self, level: Interval) -> Interval:
        """``put`` at ``level``: the sum, less what is known of the other terms."""
        a, c, h, b = self.a, self.c, self.h, self.b
        log, period, total = level.log(), self.a.pi() * 2 / self.h, self.a.exact(0)
        for n, value in enumerate(self.summands):
            total = total + (value * (log * (h * n)).turn()).real
        weight = (log * (c + 1)).exp() * h / a.pi()
        # beyond the last node: as |z (z + 1)| > (nh)^2, the sum of (nh)^-2 is below 1/(N h^2)
        tail = (weight * self.decayed / (h * h * self.count)).up_to()
        # m > 0: k - 1 <= put(k) <= k
        known = level / (c * period).increasing("expm1")
        share = a.exact(1) / ((c + 1) * period).increasing("expm1")
        # m < 0: put(k) <= k^{1+b} M(b)^E b^b/(1+b)^{1+b}, the maximum of (1 - r) r^b
        below = (b * b.log() - (b + 1) * (b + 1).log() + log * (b + 1)).exp() * self.moment
        below = below / ((b - c) * period).increasing("expm1")
        return total * weight + (tail - tail) - known + share - share.up_to() - below.up_to()
