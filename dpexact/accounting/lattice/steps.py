"""One step of a composition, as the lattice engine sees it.

A step is a pair ``(P, Q)``. Its privacy loss is ``offset + x``; the engine places ``x`` on a
uniform lattice. A step evaluates, in balls at the current precision, at one ``x``:

* ``S_P = P(loss > offset + x)`` and ``S_Q = Q(loss > offset + x)``,
* the profile ``D = S_P - e^(offset + x) S_Q``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from flint import arb

from dpexact.accounting.lattice.normal_tail import direct_tail
from dpexact.balls import approximate, ball, precision
from dpexact.reals import Real


def split_atom(gap: arb, spacing: arb) -> tuple[int, int, arb]:
    r"""``(k, m, share)``: a loss ``gap >= 0`` is split between the lattice points ``k`` and ``m``.

    ``k t <= gap <= m t`` is certain, and ``m = k + 1`` unless a lattice point is within rounding.
    The share :math:`(e^{mt-gap}-1)/(e^{(m-k)t}-1)` at ``k`` keeps both total masses.
    """
    place = gap / spacing
    low = max(int(place.lower().floor().fmpz()), 0)
    high = max(int(place.upper().floor().fmpz()), 0) + 1
    return low, high, (high * spacing - gap).expm1() / ((high - low) * spacing).expm1()


def growth_bits(loss: float) -> int:
    """Bits of absolute accuracy that a factor ``e^loss`` takes."""
    return max(0, math.ceil(loss / math.log(2)))


class SmoothStep(Protocol):
    """A step whose loss has a density, apart from an atom at 0 perhaps."""

    @property
    def sigma(self) -> Real:
        """The noise, which sets how much precision the quantiles lose."""

    @property
    def count(self) -> int:
        """The number of repetitions."""

    def offset(self) -> arb:
        """Where the lattice starts."""

    def largest(self) -> arb | None:
        """The largest loss; None if unbounded."""

    def edge(self) -> int:
        """-1 if there is no mass at ``x < 0``, 1 if none at ``x > 0``, else 0."""

    def at(self, tail: Callable[[arb], arb]) -> Callable[[arb], tuple[arb, arb, arb]]:
        """The function ``x -> (S_P, S_Q, D)``, by the normal ``tail`` function given."""

    def span(self, tail: float) -> tuple[float, float]:
        """Roughly the range of ``x`` outside which ``P`` has mass ``tail`` at most."""


@dataclass(frozen=True)
class ContinuousStep:
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

    def at(self, tail: Callable[[arb], arb] = direct_tail) -> Callable[[arb], tuple[arb, arb, arb]]:
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
        """Roughly the range of ``x`` outside which ``P`` has mass ``tail`` at most."""
        sigma = approximate(self.sigma)
        reach = math.sqrt(2 * math.log(1 / tail)) if tail > 0 else 38.0
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

        low, high = loss(-reach), loss(reach if self.add else reach + 1 / sigma)
        return (-high, -low) if self.add else (low, high)


@dataclass(frozen=True)
class SubsampledStep:
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

    def at(self, tail: Callable[[arb], arb] = direct_tail) -> Callable[[arb], tuple[arb, arb, arb]]:
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
        """Symmetric."""
        sigma, q = approximate(self.sigma), approximate(self.q)
        reach = math.sqrt(2 * math.log(1 / tail)) if tail > 0 else 38.0
        exponent = (reach + 1 / sigma) / sigma - 1 / (2 * sigma * sigma)
        top = math.log1p(q * math.expm1(min(exponent, 700.0))) if exponent > 0 else 0.0
        top = max(top, exponent + math.log(q), 1e-9)
        return -top, top


@dataclass(frozen=True)
class AtomStep:
    r"""``(eps, delta)``-differential privacy by its dominating pair (Kairouz, Oh, Viswanath).

    Under ``P``: infinite loss with mass ``delta``; otherwise loss ``eps`` with probability
    :math:`1/(1+e^{-\epsilon})` and ``-eps`` with :math:`1/(1+e^{\epsilon})`. The lattice starts at
    ``offset = -eps``, so that only the gap ``2 eps`` is rounded. Domain: ``eps >= 0``.
    """

    eps: Real
    delta: Real
    count: int

    def offset(self) -> arb:
        """The lower of the two losses."""
        return -ball(self.eps)

    def largest(self) -> arb | None:
        """``eps``."""
        return ball(self.eps)

    def masses(self) -> tuple[arb, arb, arb]:
        """``(delta, P(loss = eps), P(loss = -eps))``; ``Q`` swaps the last two."""
        eps, lost = ball(self.eps), ball(self.delta)
        high = 1 / (1 + (-eps).exp())
        return lost, (1 - lost) * high, (1 - lost) / (1 + eps.exp())


Step: TypeAlias = SmoothStep | AtomStep
