r"""Poisson sampling of a pair with rate ``s``, outcome by outcome.

``remove``: :math:`((1-s) Q + s P,\ Q)`; ``add``: swapped. A loss ``l`` becomes
:math:`\pm\log(1 - s + s e^l)`. Without sampling ``s = 1`` and ``remove``. Why these pairs dominate:
``docs/theory/dominating-pairs.md``, Theorem 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from flint import arb

from dpexact import balls, reals
from dpexact.reals import Real


@dataclass(frozen=True)
class Sampling:
    """The rate ``0 < s <= 1`` and the direction, ``add`` only for ``s < 1``."""

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
