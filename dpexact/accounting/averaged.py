r"""Finite losses beside what any engine answers for: an average over outcomes.

The losses are independent: with ``p_l`` the mass of a loss ``l`` and ``D`` the profile of the rest
at any real argument,

.. math:: \delta(\varepsilon) = \sum_l p_l\,D(\varepsilon - l),

where below 0 ``D(x) = 1 - e^x + e^x D'(-x)``, with ``D'`` that of the reverse. As ``D`` falls by at
most what its argument grows by, it may be asked next to a point (``docs/theory/atoms.md``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.inverted import ONE, ZERO, invert
from dpexact.accounting.laplace_split import Law
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.balls import ball
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, rational

#: Digits with which every point is asked first, and those that the sum may lose.
_GLANCE, _SPARE = 2, 2
_LN2, _LN10 = math.log(2), math.log(10)
_SHORT: Final = "what runs beside the outcomes has too few digits"


@dataclass(frozen=True)
class _Term:
    """``weight`` times delta of a profile at a point."""

    profile: Profile
    point: Real
    weight: arb

    def ball(self, digits: int) -> arb:
        found = self.profile.delta(self.point, digits)
        return self.weight * ball(Fraction(found.lower)).union(ball(Fraction(found.upper)))


class Averaged(Profile):
    """``law``, and beside it what ``toward`` answers for; ``back`` answers for its reverse.

    ``line``, of all of it, proposes where to search.
    """

    def __init__(
        self, law: Law, infinite: InfiniteLoss, toward: Profile, back: Profile, line: ContourProfile
    ) -> None:
        self.law, self.toward, self.back, self.line = law, toward, back, line
        self.infinite: InfiniteLoss = infinite
        self.method: str = f"average over outcomes: {toward.method}"

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        # proposes: how small delta is, and so with how many bits every point is known
        log = min(self.line.product.saddle(balls.approximate(epsilon), 1)[1], 0.0)
        with balls.precision(balls.bits_for(digits) + math.ceil(-log / _LN2)):
            sure, terms = self._terms(ball(epsilon))
            values = [term.ball(_GLANCE) for term in terms]
            most = sum(values, sure).abs_upper()
            for i, term in enumerate(terms):
                share = values[i].abs_upper() / most
                # proposes: with how many digits it is asked; any enclose
                needed = digits + _SPARE + math.ceil(float(share.log().mid()) / _LN10) if share > 0 else 0
                # proposes: likewise
                if needed > _GLANCE:
                    values[i] = term.ball(needed)
            lost = self.infinite.ball()
            found = balls.to_enclosure(lost + (1 - lost) * sum(values, sure), self.method)
        found = found.within(ZERO, ONE)
        return found if found.digits >= digits else found.short(_SHORT)

    def _terms(self, epsilon: arb) -> tuple[arb, list[_Term]]:
        """What needs no profile, and the rest of the sum."""
        sure, terms = self.law.dropped() * arb(0).union(arb(1)), []
        for loss, mass in self.law.losses():
            point = balls.midpoint(epsilon - loss)
            sure += mass * arb(0, (epsilon - loss - ball(point)).abs_upper())
            if point >= 0:
                terms.append(_Term(self.toward, rational(point), mass))
            else:
                sure -= mass * ball(point).expm1()
                terms.append(_Term(self.back, rational(-point), mass * ball(point).exp()))
        return sure, terms

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        # proposes: where the search starts
        near = self.line.product.epsilon(self.line.log_delta(delta), 1)
        start = Fraction(near) if 0 < near < math.inf else ONE
        return invert(self.delta, delta, digits, self.method, start, self.infinite.near(delta))

    def largest_loss(self, digits: int) -> Enclosure:
        return self.line.largest_loss(digits)
