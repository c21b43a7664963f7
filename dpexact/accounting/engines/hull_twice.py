r"""Two steps of ``C_q(G_mu)`` by one integral over the outcomes of the first.

A step has the loss :math:`\log w(x)`, :math:`w = 1 - q + q e^{\mu x - \mu^2/2}`, of density
:math:`w\varphi` for :math:`x > \mu/2`, its negative of density :math:`\varphi`, and an atom of mass
``rest`` at 0. With ``D`` the profile of the second step as a function of the level ``e^eps``

.. math:: \delta = rest\,D(e^\varepsilon)
          + \int_{\mu/2}^\infty [w\,D(e^\varepsilon/w) + D(e^\varepsilon w)]\,\varphi\,dx ,

where :math:`D(c) = 1 - c + c\,D(1/c)` for levels below 1, those beyond the outcome ``x_*`` of
:math:`w = e^\varepsilon` (``docs/theory/lattice-engine.md``, section 6).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import reduce
from typing import Final

from flint import acb, arb

from dpexact import balls
from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse
from dpexact.accounting.engines.sampled_once import sampled_once
from dpexact.accounting.inverted import BallProfile
from dpexact.accounting.pairs.symmetrised import Symmetrised
from dpexact.accounting.profile import InfiniteLoss
from dpexact.balls import ball, normal_tail
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, rational

#: Bits that differences of tails lose, most evaluations, digits of the place where a search begins.
_LOST_BITS: Final = 24
_MOST_EVALUATIONS: Final = 20_000
_NEAR_DIGITS: Final = 3
#: Places that say about how large an integral is; and bits after which it is given up.
_PLACES: Final = 32
_MOST_BITS: Final = 256
_LN2: Final = math.log(2)


class _Step:
    """One step at the current precision."""

    def __init__(self, pair: Symmetrised) -> None:
        self.mu, self.q, self.rest = 1 / ball(pair.sigma), ball(pair.q), pair.rest()

    def ratio(self, x: acb) -> acb:
        """``w``."""
        return 1 - self.q + self.q * (self.mu * (x - self.mu / 2)).exp()

    def place(self, ratio: arb) -> arb:
        """The outcome at which ``w`` is a number of 1 or more."""
        return ((ratio - 1) / self.q).log1p() / self.mu + self.mu / 2

    def divergence(self, level: acb) -> acb:
        """``D`` at levels from 1 on, continued where that is analytic."""
        odds = 1 + (level - 1) / self.q
        if not odds.real > 0:
            return acb(arb.nan())
        root, place = arb(2).sqrt(), odds.log() / self.mu
        near, far = ((place + side * self.mu / 2) / root for side in (-1, 1))
        return self.q * (near.erfc() - odds * far.erfc()) / 2

    def excess(self, place: arb, level: arb) -> arb:
        r""":math:`\int_{place}^\infty (w - level)\,\varphi\,dx`."""
        return (1 - self.q - level) * normal_tail(place) + self.q * normal_tail(place - self.mu)


class HullTwice(BallProfile):
    """The profile of two such steps, of noise that all records would take part in."""

    method = "two symmetric steps"
    largest = None
    lost_bits = _LOST_BITS
    cap = _MOST_BITS

    def __init__(self, first: Symmetrised, second: Symmetrised, infinite: InfiniteLoss) -> None:
        self.first, self.second = first, second
        self.infinite: InfiniteLoss = infinite

    def near(self, delta: Real) -> Fraction:
        """By one step of half of it."""
        noise = GaussianMixedWithResponse(1 / self.first.sigma, InfiniteLoss(), rational(0), 0)
        alone = sampled_once(noise, self.first.q, "remove").epsilon(delta / 2, _NEAR_DIGITS)
        return Fraction(alone.upper) or Fraction(1, 2**10)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        if balls.at_most(self.delta(rational(0), _NEAR_DIGITS), delta):
            return Enclosure.exact(Fraction(0), self.method)
        found = self._bracket(delta, digits)
        # proposes: nothing; where the quadrature gives up others may have digits
        return found or Enclosure(Fraction(0), math.inf, self.method)

    def finite_ball(self, epsilon: arb) -> arb:
        first, second, level = _Step(self.first), _Step(self.second), epsilon.exp()

        def before(x: acb) -> acb:
            ratio = first.ratio(x)
            return _density(x) * ratio * second.divergence(level / ratio)

        def after(x: acb) -> acb:
            return _density(x) * level * second.divergence(first.ratio(x) / level)

        def mirrored(x: acb) -> acb:
            return _density(x) * second.divergence(level * first.ratio(x))

        edge, cut = first.mu / 2, first.place(level)
        start, turn = edge.mid(), cut.mid()
        # proposes: the end; what is beyond is bounded, where it is one
        end = (turn * turn + 2 * _LN2 * balls.current()).sqrt().mid()
        alone = first.rest * second.divergence(acb(level)).real
        known = alone + first.excess(turn, level)
        pieces = ((before, start, turn), (after, turn, end), (mirrored, start, end))
        # proposes: how fine; the quadrature says how far it is off
        scale = reduce(arb.max, (_about(*piece) for piece in pieces), known.abs_upper())
        total = known + sum((_integral(*piece, scale) for piece in pieces), arb(0))
        # between a place and the middle of its ball
        total += _beside(edge, before(acb(edge)) + mirrored(acb(edge)))
        kink = _density(acb(cut)) * (first.ratio(acb(cut)) - level) + after(acb(cut))
        total += _beside(cut, before(acb(cut)) - kink)
        # proposes: likewise; balls decide that it is one: what falls is at most what it is there
        if not (end > cut and end > edge):
            return arb.nan()
        beyond = sum(
            (f(acb(end)).real / _density(acb(end)).real for f in (after, mirrored)), arb(0)
        )
        return total + arb(0).union((normal_tail(end) * beyond).abs_upper())


def _density(x: acb) -> acb:
    return (-x * x / 2).exp() / (2 * arb.pi()).sqrt()


def _beside(place: arb, height: acb) -> arb:
    """An integral from the middle of the ball of ``place`` to what it stands for."""
    return arb(0, (place.rad() * height.real.abs_upper()).upper())


def _about(f: Callable[[acb], acb], low: arb, high: arb) -> arb:
    """Proposes: how large the integral is, by some places."""
    places = (low + (high - low) * k / _PLACES for k in range(_PLACES + 1))
    return reduce(arb.max, (f(acb(x)).real.abs_upper() for x in places)) * (high - low) / _PLACES


def _integral(f: Callable[[acb], acb], low: arb, high: arb, scale: arb) -> arb:
    """To the working precision of ``scale``."""
    if not low < high:
        return arb(0, ((high - low) * f(acb(low.union(high))).real).abs_upper())
    fine = arb(2) ** -balls.current()
    limits = {"abs_tol": scale * fine, "rel_tol": fine, "eval_limit": _MOST_EVALUATIONS}
    return balls.integral(lambda x, analytic: f(x), low, high, **limits).real
