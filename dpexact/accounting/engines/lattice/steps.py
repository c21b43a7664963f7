"""One step of a composition, as the lattice engine sees it: a pair, perhaps on a sample.

The privacy loss is ``offset + x``; the engine places ``x`` on a uniform lattice. A part without
atoms evaluates, in balls at the current precision, at one ``x``:

* ``S_P = P(loss > offset + x)`` and ``S_Q = Q(loss > offset + x)``,
* the profile ``D = S_P - e^(offset + x) S_Q``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.engines.lattice.grid import Grid, growth_bits
from dpexact.accounting.engines.lattice.pieces import Pieces, Survival, atomic, tabulate
from dpexact.accounting.pairs.pair import Masses, Pair, Tails
from dpexact.balls import ball, precision
from dpexact.reals import Real


@dataclass(frozen=True)
class Sampling:
    r"""Poisson sampling of a pair, outcome by outcome: of rate ``0 < s <= 1``, below 1 to ``add``.

    ``remove``: :math:`((1-s) Q + s P,\ Q)`; ``add``: swapped. A loss ``l`` becomes
    :math:`\pm\log(1 - s + s e^l)`. Without sampling ``s = 1`` and ``remove``. Why these pairs
    dominate: ``docs/theory/dominating-pairs.md``, Theorem 4.
    """

    rate: Real
    add: bool

    def loss(self, loss: arb) -> arb:
        """The loss after sampling of an outcome whose loss is ``loss``."""
        if self.rate.fraction == 1:
            return loss
        found = (balls.ball(self.rate) * loss.expm1()).log1p()
        return -found if self.add else found

    def edge(self) -> arb:
        """The loss after sampling of an outcome of loss ``-inf``, for ``s < 1``."""
        found = (-balls.ball(self.rate)).log1p()
        return -found if self.add else found

    def pair(self, p: arb, q: arb) -> tuple[arb, arb]:
        """The masses after sampling of an outcome of masses ``(p, q)``."""
        if self.rate.fraction == 1:
            return p, q
        rate = balls.ball(self.rate)
        mixture = (1 - rate) * q + rate * p
        return (q, mixture) if self.add else (mixture, q)

    def about(self, loss: float) -> float:
        """Proposes: :meth:`loss` in floats, for planning."""
        with balls.precision(256):  # 1 - rate may be tiny
            return float(self.loss(arb(loss)).mid()) if math.isfinite(loss) else loss

    def lost_bits(self) -> int:
        """Proposes: bits of precision, for those lost to a small rate, or to one close to 1."""
        with balls.precision(256):
            rate = balls.ball(self.rate)
            small = min(float(rate.mid()), float((1 - rate).mid()) or 1.0)
        return math.ceil(-math.log2(small)) + 1 if small > 0 else 256


#: No sampling.
PLAIN: Final = Sampling(reals.rational(1), add=False)


Window: TypeAlias = tuple[float, float]
"""A range of ``x``; it chooses what is resolved, never the truth."""

EVERYTHING: Final[Window] = (-math.inf, math.inf)
_PLANNING_BITS: Final = 256


class Step(ABC):
    """A pair of laws, repeated ``count`` times.

    The first pass spreads the losses of one over ``first_points`` lattice points.
    """

    count: int

    @property
    def first_points(self) -> int:
        """Over how many points a first lattice spreads the losses."""
        return 512

    @abstractmethod
    def offset(self) -> arb:
        """Where the lattice starts."""

    @abstractmethod
    def largest(self) -> arb | None:
        """An upper bound of the finite losses; None if they are unbounded."""

    def supremum(self) -> arb | None:
        """The supremum of the finite losses; None if they are unbounded, or it is not known."""
        return self.largest()

    @abstractmethod
    def span(self, tail: float) -> tuple[float, float]:
        """Roughly the range of ``x`` outside which ``P`` has mass ``tail`` at most."""

    @abstractmethod
    def pieces(self, grid: Grid, tail: float) -> Pieces:
        """The step on ``grid``, where mass ``tail`` may be cut, at the current precision."""

    def size(self, spacing: float, tail: float) -> int:
        """About how many outcomes and lattice points must be evaluated."""
        low, high = self.span(tail)
        return int((high - low) / spacing) + 4

    def infinite(self) -> arb:
        """The mass of infinite loss under ``P``."""
        return arb(0)

    def reach(self) -> Window:
        """The range of all finite ``x``: all, those above 0, or those below."""
        return EVERYTHING

    def focused(self, window: Window) -> Step:
        """The step where only the ``x`` of the window need be told apart; perhaps itself."""
        return self

    def lost_bits(self) -> int:
        """Bits that the evaluation of a step loses."""
        return 0


@dataclass(frozen=True)
class PairStep(Step):
    r"""A pair, perhaps on a Poisson sample; one with outcomes of one law only is not sampled here.

    With ``s`` the sampling rate, ``low`` the least ratio ``dP/dQ`` and :math:`o` the offset, its
    image, the loss :math:`\pm(o + |x|)` is that of the ratio

    .. math:: r = low + (e^{|x|} - 1)\,e^{\pm o}/s .
    """

    pair: Pair
    count: int
    sampling: Sampling = PLAIN
    window: Window = EVERYTHING

    @property
    def first_points(self) -> int:
        """As many as the law of the pair takes."""
        return self.pair.lattice_points

    @property
    def _sampled(self) -> bool:
        return self.sampling.rate.fraction != 1

    def offset(self) -> arb:
        """The image of the lowest loss, where there is one."""
        return self._image(self.pair.lowest()) if self._sampled else self.pair.origin()

    def _image(self, lowest: arb | None) -> arb:
        return self.sampling.edge() if lowest is None else self.sampling.loss(lowest)

    def largest(self) -> arb | None:
        """The image of the largest loss; in direction ``add`` of the lowest."""
        if self.sampling.add:
            return self._image(self.pair.lowest())
        top = self.pair.largest_loss()
        return None if top is None else self.sampling.loss(top)

    def infinite(self) -> arb:
        """None in direction ``add``."""
        return self.sampling.pair(self.pair.infinite(), arb(0))[0]

    def span(self, tail: float) -> tuple[float, float]:
        """The images of the losses that matter, within the window."""
        with precision(_PLANNING_BITS):
            start = float(self.offset().mid())
        low, high = sorted(self.sampling.about(loss) - start for loss in self.pair.span(tail))
        least, most = self.window
        return min(max(low, least), most), max(min(high, most), least)

    def reach(self) -> Window:
        """On a sample above the offset or, in direction ``add``, below it."""
        if not self._sampled:
            return EVERYTHING
        return (-math.inf, 0.0) if self.sampling.add else (0.0, math.inf)

    def focused(self, window: Window) -> Step:
        """The same step, whose :meth:`span` lies in the window."""
        return replace(self, window=window)

    def size(self, spacing: float, tail: float) -> int:
        """More where the tails of the pair take more work than a closed form."""
        return super().size(spacing, tail) * self.pair.tail_cost

    def lost_bits(self) -> int:
        """Those of the pair and of sampling."""
        return self.pair.lost_bits() + (self.sampling.lost_bits() if self._sampled else 0)

    def pieces(self, grid: Grid, tail: float) -> Pieces:
        """The atoms, what is left of them above all losses, and a table for what is between."""
        outcomes, left = self.pair.atoms(tail)
        sampled = (self.sampling.pair(*masses) for masses in outcomes)
        found = atomic(sampled, self.offset(), self.infinite())
        beyond = found.infinite + self.sampling.pair(*left)[0].max(arb(0))
        low, high = self.span(tail)
        first, last = grid.index(low) - 1, grid.index(high) + 1
        if self.sampling.add:  # no mass above the offset
            last = min(last, 0)
        elif self._sampled or self.pair.lowest() is not None:  # none below
            first = max(first, 0)
        first = min(first, last - 1)
        tails = self.pair.tails(_tail_bits(self, grid, last))
        if tails is None:
            return replace(found, infinite=beyond)
        table = tabulate(self.survival(*tails), grid, first, last, tails[1])
        return replace(found, infinite=beyond, table=table)

    def survival(self, tails: Tails, whole: arb) -> Survival:
        """The function ``x -> (S_P, S_Q, D)`` of the part without atoms, of mass ``whole``."""
        sampling, offset, lowest = self.sampling, self.offset(), self.pair.lowest()
        scale, add = offset.exp(), sampling.add
        low = arb(0) if lowest is None else lowest.exp()
        stretch = (1 / scale if add else scale) / ball(sampling.rate)
        unbounded = lowest is None and not self._sampled

        def evaluate(x: arb) -> tuple[arb, arb, arb]:
            growth = -x if add else x
            ratio = (offset + x).exp() if unbounded else low + growth.expm1() * stretch
            p, q = tails(ratio)
            if add:  # the loss falls as the ratio rises
                p, q = whole - p, whole - q
            p, q = sampling.pair(p, q)
            return p, q, p - scale * x.exp() * q

        return evaluate


@dataclass(frozen=True)
class SymmetrisedStep(Step):
    r"""The pair of ``C_q(f)``, ``f`` that of a symmetric pair without atoms, at rate ``0 < q < 1``.

    It is symmetric, and for ``eps >= 0`` its profile is that of the Poisson sample in direction
    ``remove`` (Dong, Roth, Su 2022, section 4: ``C_q`` takes the symmetric hull of ``f_q``). So its
    losses above 0 are those, its losses below 0 are mirrored,

    .. math:: P(Z > x) = 1 - Q(Z \ge -x), \qquad Q(Z > x) = 1 - P(Z \ge -x), \qquad x < 0,

    and what is left is an atom at 0.
    """

    pair: Pair
    q: Real
    count: int

    def offset(self) -> arb:
        """The lattice starts at the atom."""
        return arb(0)

    def largest(self) -> arb | None:
        top = self.pair.largest_loss()
        return None if top is None else self._sampling.loss(top)

    @property
    def _sampling(self) -> Sampling:
        return Sampling(self.q, add=False)

    def span(self, tail: float) -> tuple[float, float]:
        """A symmetric range; what lies outside is accounted for."""
        top = max(self._sampling.about(self.pair.span(tail)[1]), 1e-9)
        return -top, top

    def lost_bits(self) -> int:
        return self.pair.lost_bits()

    def pieces(self, grid: Grid, tail: float) -> Pieces:
        low, high = self.span(tail)
        first, last = grid.index(low) - 1, grid.index(high) + 1
        tails = self.pair.tails(_tail_bits(self, grid, last))
        assert tails is not None
        table = tabulate(self.survival(tails[0]), grid, first, last, arb(1))
        return Pieces([], [], arb(0), (arb(0), arb(0)), table)

    def survival(self, tails: Tails) -> Survival:
        """The function ``x -> (S_P, S_Q, D)`` for exact ``x``."""
        sampling, q = self._sampling, ball(self.q)

        def above(x: arb) -> Masses:
            return sampling.pair(*tails(1 + x.expm1() / q))

        def evaluate(x: arb) -> tuple[arb, arb, arb]:
            if x >= 0:
                p, other = above(x)
            else:
                mirrored_p, mirrored_q = above(-x)
                p, other = 1 - mirrored_q, 1 - mirrored_p
            return p, other, p - x.exp() * other

        return evaluate


def _tail_bits(step: Step, grid: Grid, last: int) -> int:
    """Absolute accuracy of tails that are multiplied by ``e^loss``, the largest tabulated."""
    top = float(step.offset().mid()) + last * float(grid.spacing)
    return grid.precision - 8 + growth_bits(top)
