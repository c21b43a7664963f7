r"""What is averaged for a divergence at the order ``alpha``, arranged so that nothing cancels.

With ``x = dP/dQ`` and ``w = 1 - q + q x``, in the remove direction ``a = alpha`` and in the add
direction ``a = 1 - alpha``. The function

.. math:: f(x) = w^a - 1 - a (w - 1), \qquad \text{and at order 1} \quad
          w \log w - (w - 1), \quad (w - 1) - \log w,

is convex in ``w`` and 0 at ``w = 1``, hence never negative: however small ``q`` is, its mean has no
cancellation, and it is the moment less what is known, ``1 + a q (E_Q[x] - 1)``.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import acb, arb

from dpexact import balls, reals
from dpexact.reals import Real


@dataclass(frozen=True)
class Excess:
    """``f`` at the current precision: rate ``q`` and ``rest = 1 - q``; no ``power`` at order 1."""

    q: arb
    rest: arb
    power: arb | None
    add: bool

    @classmethod
    def of(cls, q: Real, order: Real, add: bool) -> Excess:
        """For a finite order ``>= 1``."""
        one = reals.rational(1)
        rest = balls.ball(one - q)
        power = one - order if add else order
        return cls(balls.ball(q), rest, None if order == one else balls.ball(power), add)

    def at(self, x: arb) -> arb:
        """``f(x)`` for ``x >= 0``; not finite where ``w`` may be 0."""
        t = self.q * (x - 1)
        log = t.log1p() if abs(t) < 0.5 else (self.rest + self.q * x).log()
        if self.power is None:
            return t - log if self.add else (1 + t) * log - t
        return (self.power * log).expm1() - self.power * t

    def continued(self, x: acb, analytic: bool) -> acb:
        """The same at complex ``x``; not finite if ``analytic`` and ``Re w`` is not positive."""
        t = self.q * (x - 1)
        w = self.rest + self.q * x
        if analytic and not w.real > 0:
            return acb(arb.nan())
        log = t.log1p() if t.abs_upper() < 0.5 else w.log()
        if self.power is None:
            return t - log if self.add else (1 + t) * log - t
        return (self.power * log).expm1() - self.power * t

    @property
    def growth(self) -> arb:
        """The exponent ``p`` of :meth:`most`."""
        if self.power is None:
            return arb(1) if self.add else arb(2)
        return arb(1) if self.add else self.power

    def most(self, x: arb) -> arb:
        """A bound on ``f(x)`` of the form ``K + L w^p`` with ``K, L >= 0`` and ``p >= 1``."""
        w = self.rest + self.q * x
        if self.power is None:
            return w - self.rest.log() if self.add else w * w + 1
        if self.add:
            return (self.power * self.rest.log()).exp() - self.power * w
        return (self.power * w.log()).exp() + self.power - 1

    def slope(self) -> arb:
        """What multiplies ``q (1 - E_Q[x])`` when the moment is put together; direction add."""
        return arb(1) if self.power is None else -self.power
