"""One step of a composition, as the lattice engine sees it, and the Gaussian ones.

A step is a pair ``(P, Q)``. Its privacy loss is ``offset + x``; the engine places ``x`` on a
uniform lattice. A step without atoms evaluates, in balls at the current precision, at one ``x``:

* ``S_P = P(loss > offset + x)`` and ``S_Q = Q(loss > offset + x)``,
* the profile ``D = S_P - e^(offset + x) S_Q``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Final, TypeAlias

from flint import arb

from dpexact.accounting.lattice.grid import Grid, growth_bits
from dpexact.accounting.lattice.normal_tail import NormalTail, direct_tail
from dpexact.accounting.lattice.pieces import Pieces, Survival, reach, tabulate
from dpexact.balls import approximate, ball, precision
from dpexact.reals import Real

Window: TypeAlias = tuple[float, float]
"""A range of ``x``; it chooses what is resolved, never the truth."""

EVERYTHING: Final[Window] = (-math.inf, math.inf)


class Step(ABC):
    """A pair of laws, repeated ``count`` times.

    The first pass spreads the losses of one over ``first_points`` lattice points.
    """

    count: int
    first_points: ClassVar[int] = 512

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
        """About the range of all finite ``x``."""
        return EVERYTHING

    def focused(self, window: Window) -> Step:
        """The step where only the ``x`` of the window need be told apart; perhaps itself."""
        return self

    def lost_bits(self) -> int:
        """Bits that the evaluation of a step loses."""
        return 0


class GaussianStep(Step):
    """Gaussian noise ``sigma``: a loss with a density, apart from an atom at 0 perhaps."""

    sigma: Real

    @abstractmethod
    def edge(self) -> int:
        """-1 if there is no mass at ``x < 0``, 1 if none at ``x > 0``, else 0."""

    @abstractmethod
    def at(self, tail: Callable[[arb], arb]) -> Survival:
        """The function ``x -> (S_P, S_Q, D)``, by the normal ``tail`` function given."""

    def lost_bits(self) -> int:
        """The quantiles lose as many as the noise has."""
        return math.ceil(math.log2(max(approximate(self.sigma), 1.0)))

    def pieces(self, grid: Grid, tail: float) -> Pieces:
        """The table of both survivals and the profile; nothing else."""
        low, high = self.span(tail)
        first, last = grid.index(low) - 1, grid.index(high) + 1
        edge = self.edge()  # no mass beyond it
        first, last = (max(first, 0) if edge < 0 else first), (min(last, 0) if edge > 0 else last)
        first = min(first, last - 1)
        top = float(self.offset().mid()) + last * float(grid.spacing)
        evaluate = self.at(NormalTail(grid.precision - 8 + growth_bits(top)))
        table = tabulate(evaluate, grid, first, last, arb(1))
        return Pieces([], [], arb(0), (arb(0), arb(0)), table)


@dataclass(frozen=True)
class ContinuousStep(GaussianStep):
    r"""A Gaussian mechanism of noise ``sigma`` on a Poisson sample of rate ``0 < q <= 1``.

    With ``z`` in units of ``sigma``, ``N(m)`` the normal law of variance 1 and mean ``m``:
    ``remove``: :math:`P = (1-q) N(0) + q N(1/\sigma)`, :math:`Q = N(0)`; ``add``: swapped.
    ``q = 1`` is the plain Gaussian of ``mu = 1/sigma``. Domain: ``sigma > 0``.

    The removal loss :math:`L(z) = \log(1-q+q e^{z/\sigma-1/(2\sigma^2)})` increases from the edge
    :math:`\log(1-q)`; for ``q < 1``, :math:`L = edge + x` is inverted by

    .. math:: b(x) = \sigma \log\frac{(1-q)(e^x - 1)}{q} + \frac{1}{2\sigma}, \qquad x > 0,

    and for ``q = 1`` by :math:`b(x) = \sigma x + 1/(2\sigma)`, all ``x``. In direction ``add`` the
    loss is ``-edge + x`` with ``x = -(L - edge)``.
    """

    sigma: Real
    q: Real
    count: int
    add: bool
    window: Window = EVERYTHING

    @property
    def plain(self) -> bool:
        """Whether there is no sampling (``q = 1``)."""
        return self.q.fraction == 1

    def offset(self) -> arb:
        """The edge of the loss in this direction, where the lattice starts (0 when ``q = 1``)."""
        if self.plain:
            return arb(0)
        edge = (-ball(self.q)).log1p()
        return -edge if self.add else edge

    def largest(self) -> arb | None:
        """Bounded by the edge in direction ``add``."""
        return self.offset() if self.add and not self.plain else None

    def edge(self) -> int:
        """The edge is the lowest loss in direction ``remove``, the highest in ``add``."""
        return 0 if self.plain else 1 if self.add else -1

    def quantile(self) -> Callable[[arb], arb]:
        """The function ``x -> b(x)`` of the removal loss; ``x > 0`` unless plain."""
        sigma = ball(self.sigma)
        half = 1 / (2 * sigma)
        if self.plain:
            return lambda x: sigma * x + half
        odds = (1 - ball(self.q)) / ball(self.q)
        return lambda x: sigma * (odds * x.expm1()).log() + half

    def at(self, tail: Callable[[arb], arb] = direct_tail) -> Survival:
        """The function ``x -> (S_P, S_Q, D)``, by the normal ``tail`` function given."""
        quantile = self.quantile()
        q, shift = ball(self.q), 1 / ball(self.sigma)
        rest, scale = 1 - q, self.offset().exp()
        bounded, add = not self.plain, self.add

        def survivals(loss: arb) -> tuple[arb, arb]:
            b = quantile(loss)
            if add:
                base = tail(-b)
                return base, rest * base + q * tail(shift - b)
            base = tail(b)
            return rest * base + q * tail(b - shift), base

        def evaluate(x: arb) -> tuple[arb, arb, arb]:
            loss = -x if add else x
            if not bounded or loss > 0:
                p, other = survivals(loss)
            else:  # at or beyond the edge, where there is no mass
                p = other = arb(0) if add else arb(1)
                if not loss <= 0:  # undecided: anything up to the upper end
                    p, other = (s.union(p) for s in survivals(loss.upper()))
            return p, other, p - scale * x.exp() * other

        return evaluate

    def span(self, tail: float) -> tuple[float, float]:
        """Proposes: roughly the range of ``x`` outside which ``P`` has mass ``tail`` at most."""
        sigma = approximate(self.sigma)
        far = reach(tail)
        odds = 0.0
        if not self.plain:
            with precision(256):  # 1 - q may be tiny
                q = ball(self.q)
                odds = float((q / (1 - q)).log().mid())

        def loss(z: float) -> float:
            exponent = z / sigma - 1 / (2 * sigma * sigma)
            if self.plain:
                return exponent
            exponent += odds
            return exponent if exponent > 40 else math.log1p(math.exp(exponent))

        low, high = loss(-far), loss(far if self.add else far + 1 / sigma)
        if self.add:
            low, high = -high, -low
        least, most = self.window
        return min(max(low, least), most), max(min(high, most), least)

    def reach(self) -> Window:
        """Above the edge or, in direction ``add``, below it."""
        if self.plain:
            return EVERYTHING
        return (-math.inf, 0.0) if self.add else (0.0, math.inf)

    def focused(self, window: Window) -> Step:
        """The same step, whose :meth:`span` lies in the window."""
        return replace(self, window=window)


@dataclass(frozen=True)
class SubsampledStep(GaussianStep):
    r"""The pair of ``C_q(G_mu)``, ``mu = 1/sigma``: fixed-size sampling at rate ``0 < q < 1``.

    It is symmetric, and for ``eps >= 0`` its profile is that of the Poisson-sampled Gaussian in
    direction ``remove`` (Dong, Roth, Su 2022, section 4: ``C_q`` takes the symmetric hull of
    ``f_q``). So its losses above 0 are those, its losses below 0 are mirrored,

    .. math:: P(Z > x) = 1 - Q(Z \ge -x), \qquad Q(Z > x) = 1 - P(Z \ge -x), \qquad x < 0,

    and what is left is an atom at 0.
    """

    sigma: Real
    q: Real
    count: int

    def offset(self) -> arb:
        """The lattice starts at the atom."""
        return arb(0)

    def largest(self) -> arb | None:
        """Unbounded."""
        return None

    def edge(self) -> int:
        """None."""
        return 0

    def at(self, tail: Callable[[arb], arb] = direct_tail) -> Survival:
        """The function ``x -> (S_P, S_Q, D)`` for exact ``x``, by the normal ``tail`` given."""
        sigma, q = ball(self.sigma), ball(self.q)
        shift = 1 / sigma

        def above(x: arb) -> tuple[arb, arb]:
            b = sigma * (x.expm1() / q).log1p() + shift / 2
            base = tail(b)
            return (1 - q) * base + q * tail(b - shift), base

        def evaluate(x: arb) -> tuple[arb, arb, arb]:
            if x >= 0:
                p, other = above(x)
            else:
                mirrored_p, mirrored_q = above(-x)
                p, other = 1 - mirrored_q, 1 - mirrored_p
            return p, other, p - x.exp() * other

        return evaluate

    def span(self, tail: float) -> tuple[float, float]:
        """Proposes: a symmetric range; what lies outside is accounted for."""
        sigma, q = approximate(self.sigma), approximate(self.q)
        far = reach(tail)
        exponent = (far + 1 / sigma) / sigma - 1 / (2 * sigma * sigma)
        top = math.log1p(q * math.expm1(min(exponent, 700.0))) if exponent > 0 else 0.0
        top = max(top, exponent + math.log(q), 1e-9)
        return -top, top
