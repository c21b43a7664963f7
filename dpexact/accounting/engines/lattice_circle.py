r"""Tails of a law on a lattice, by the nodes of one turn on a vertical line.

With ``M`` the moments of the finite loss ``Z``, on a lattice of spacing ``u``, ``l`` a place there,
``N`` nodes ``s_n = c + 2 pi i n/(N u)`` and ``x = N u``, for ``c > 0``

.. math:: \frac1N \sum_{n < N} \frac{M(s_n) e^{-s_n l}}{1 - e^{-s_n u}}
          = \sum_{j \in \mathbb{Z}} e^{cjx} P[Z \ge l + jx],

and with ``s_n + 1`` in the denominator :math:`e^l Q[Z \ge l]` with aliases that are no larger. For
``-1 < c < 0`` the first is that of ``Z < l``, with its sign changed (``docs/theory/lattice.md``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from flint import acb, arb

from dpexact import balls, reals
from dpexact.accounting.inverted import ZERO
from dpexact.accounting.pairs.lattice import Strided
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

#: Nodes that are not worth a bound, and most bounds, besides a few for each bit; bits beyond those
#: asked for.
_FEW: Final = 4
MOST_BOUNDS: Final = 2_000
SPARE: Final = 24
#: How far aliases are looked for, next to what suits a normal law; and how often farther ones.
_STRIDES: Final = tuple(Fraction(x, 4) for x in (-64, -8, -4, -2, -1, 1, 2, 4, 8))
_NARROW: Final = 1e-3
_TRIES: Final = 9


class Circle:
    """Nodes of one turn at the order ``theta``, at the current precision.

    ``spread`` is about the standard deviation of the tilted law, in units of the lattice, ``near``
    what is asked about.
    """

    def __init__(
        self, parts: Sequence[Strided], unit: Real, theta: Fraction, spread: float, near: arb
    ) -> None:
        if not (theta > -1 and theta != 0):
            raise ValueError(f"theta: {theta} is not accepted; must be above -1, and not 0")
        self._parts, self._theta, self._unit = parts, theta, balls.ball(unit)
        self._bits = balls.current() - SPARE
        self._turnings = [s.pair.turning(theta) for s in parts]
        self._log = self._log_moment(theta)
        reach = math.sqrt(2 * self._bits * math.log(2))
        # proposes: orders at which moments bound aliases; any does
        away = Fraction(reach / max(spread, _NARROW)) / balls.midpoint(self._unit)
        orders = {max(theta + x * away, ZERO) for x in _STRIDES}
        if theta < 0:
            orders = {min(max(theta + x * away, Fraction(-1)), ZERO) for x in _STRIDES}
        self._others = [(order, self._log_moment(order) - self._log) for order in orders - {theta}]
        # proposes: how many nodes; what that leaves open is enclosed
        self.points = 2 * max(math.ceil(reach * spread), 1) + 1
        for _ in range(_TRIES):
            if self.suits(near):
                break
            self.points = 2 * self.points + 1
        self._nodes: list[tuple[int, acb, acb]] = []
        self._beyond = arb(0)
        self._collect()

    def _log_moment(self, order: Fraction) -> arb:
        at = reals.rational(order)
        return sum((s.count * s.pair.moment(at, 0.0).log() for s in self._parts), arb(0))

    def suits(self, near: arb) -> bool:
        """Whether aliases are small there. Proposes: whether to take others."""
        aliases, kept = self._aliases(near.mid()), abs(self._kernel(0)[0].real)
        return bool(aliases * self.points < kept * arb(2) ** -self._bits)

    def _aliases(self, loss: arb) -> arb:
        """Next to ``M(theta) e^{-theta loss}``: of those above, and of those below, the least
        bound by Chernoff's at another order.
        """
        above = below = arb("inf")
        turn = self.points * self._unit
        for order, rise in self._others:
            away = balls.ball(order - self._theta)
            bound = ((rise - away * loss).exp() / (abs(away) * turn).expm1()).upper()
            # proposes: nothing; both are exact
            if order > self._theta:
                above = arb.min(above, bound)
            else:
                below = arb.min(below, bound)
        return above + below

    def _kernel(self, n: int) -> tuple[acb, acb]:
        """The inverses of ``1 - e^{-s u}`` and ``1 - e^{-(s + 1) u}`` at a node."""
        turn = acb(0, 2 * arb.pi() * n / self.points)
        rate = balls.ball(self._theta) * self._unit
        return -1 / (-rate - turn).expm1(), -1 / (-rate - self._unit - turn).expm1()

    def _collect(self) -> None:
        """The nodes of half a turn, but for blocks that certainly hold little."""
        enough = abs(self._kernel(0)[0].real) * arb(2) ** -self._bits / self.points
        blocks, work = [(1, self.points // 2)], 0
        # proposes: nothing; every node is taken, or in a block that is counted
        while blocks:
            first, last = blocks.pop()
            work += 1
            if work > MOST_BOUNDS + _FEW * self._bits:
                raise UnsupportedMechanism("no certified accounting on so fine a lattice")
            held = self._bound(first, last) * (last - first + 1)
            # proposes: what is left out, and counted as such
            if held < enough:
                self._beyond += held
                continue
            # proposes: likewise
            if last - first < _FEW:
                # proposes: likewise
                self._nodes += [self._node(n) for n in range(first, last + 1)]
            else:
                middle = (first + last) // 2
                blocks += [(first, middle), (middle + 1, last)]

    def _node(self, n: int) -> tuple[int, acb, acb]:
        found = acb(1)
        for s, turning in zip(self._parts, self._turnings, strict=True):
            place = n * s.stride % self.points
            found *= turning.at(2 * arb.pi() * place / self.points) ** s.count
        p, q = self._kernel(n)
        return n, found * p, found * q

    def _bound(self, first: int, last: int) -> arb:
        """Of a node's share at every one of a block of half a turn.

        A part that strides turns more often; its bound falls from each whole turn to the next half.
        """
        whole, found = self.points, arb(1)
        for s, turning in zip(self._parts, self._turnings, strict=True):
            turns, low = divmod(s.stride * first, whole)
            others, high = divmod(s.stride * last, whole)
            # proposes: nothing; these are numbers of nodes, exactly
            if turns == others:
                away = min(low, whole - low, high, whole - high)
                bound = turning.bound(2 * arb.pi() * away / whole)
                found *= arb.min(bound.upper(), arb(1)) ** s.count
        rate = balls.ball(self._theta) * self._unit
        # |1 - e^{-(c+it)}| is at least |1 - e^{-c}|, and 2 e^{-c/2} |sin(t/2)|
        least = arb.min(abs((-rate).expm1()), abs((-rate - self._unit).expm1()))
        sine = ((rate + self._unit) / 2).exp() / (arb.pi() * first / whole).sin()
        kernel = arb.min(sine, 2 / least)
        return (found * kernel / whole).upper()

    def tails(self, place: int, loss: arb) -> tuple[arb, arb]:
        """``P`` and ``e^loss Q`` of the losses from ``loss`` on, the one at ``place``."""
        p, q = (x.real for x in self._kernel(0))
        for n, one, other in self._nodes:
            turn = acb(0, -2 * arb.pi() * (n * place % self.points) / self.points).exp()
            p += 2 * (one * turn).real
            q += 2 * (other * turn).real
        aliases = self._aliases(loss) * balls.UNIT
        scale = (self._log - balls.ball(self._theta) * loss).exp()
        p, q = (x / self.points + self._beyond * balls.AROUND for x in (p, q))
        beyond, within = scale * (p - aliases), scale * (q - aliases)
        if self._theta < 0:
            beyond = self._log_moment(ZERO).exp() + scale * (p + aliases)
        return beyond, within
