r"""The moments of one sampled Gaussian, as one function of a complex exponent.

With ``phi`` the normal density and ``A(z) = 1 - q + q e^{z/sigma - 1/(2 sigma^2)}``,

.. math:: J(k) = \int \varphi(z)\, A(z)^k\, dz,

so ``E_P e^{sL} = J(1 + s)`` for *remove* (``P`` is the mixture, ``L = log A``), ``J(-s)`` for add.
Let ``k = kappa + iv`` with ``v >= 0`` and ``F(x) = e^{-x^2/2} A(x)^kappa / sqrt(2 pi)``. For
``0 <= y < pi sigma`` and ``theta = y/sigma``, ``A(x + iy)`` is a combination of 1 and
``e^{i theta}`` with non-negative weights, so its angle is in ``[0, theta]`` and ``cos(theta/2) A(x)
<= |A(x + iy)| <= A(x)``. Hence with ``G(y) = e^{y^2/2} cos(y/(2 sigma))^{min(kappa, 0)}``

.. math:: |\varphi(z) A(z)^k| \le G(y) F(x), \tag{1}

whatever ``v`` is, and the integral may be taken on any line ``Im z = a``, ``0 <= a < pi sigma``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

from dpexact.certificate_checker import Invalid, Unreadable, natural, rational
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic, Interval, Rectangle, power_sums

MAX_NODES: Final = 100_000
_PER_NODE: Final = 30


@dataclass(frozen=True)
class Rule:
    """The trapezoidal rule with nodes ``j spacing + i height``, ``first <= j <= last``."""

    height: Fraction
    edge: Fraction
    spacing: Fraction
    first: int
    last: int

    @classmethod
    def read(cls, texts: Any) -> Rule:
        """A rule from five texts."""
        if not isinstance(texts, list) or len(texts) != 5:
            raise Unreadable("a rule is not a list of five numbers")
        height, edge, spacing = map(rational, texts[:3])
        if height < 0 or edge <= 0 or spacing <= 0:
            raise Invalid("a rule with a negative number")
        first, last = (natural(text, -MAX_NODES, MAX_NODES) for text in texts[3:])
        if not first < 0 < last:
            raise Invalid("a rule that does not reach to both sides")
        return cls(height, edge, spacing, first, last)


@dataclass(frozen=True)
class SampledGaussian:
    """A Poisson sample, at rate ``q``, of a Gaussian of standard deviation ``sigma``."""

    sigma: Interval
    q: Interval
    a: Arithmetic

    @cached_property
    def _half(self) -> Interval:
        return self.a.exact(1) / (self.sigma * self.sigma * 2)

    def _wave(self, x: Interval) -> Interval:
        """``q e^{x/sigma - 1/(2 sigma^2)}``."""
        return self.q * (x / self.sigma - self._half).exp()

    def _logarithm(self, x: Interval, rule: Rule) -> Rectangle:
        """``log A(x + i height)``."""
        turn = (self.a.exact(rule.height) / self.sigma).turn()
        if rule.height == 0:
            turn = Rectangle(self.a.exact(1), self.a.exact(0))
        point = turn.scaled(self._wave(x))
        return Rectangle(point.real + 1 - self.q, point.imag).log()

    def _growth(self, kappa: Interval, y: Interval) -> Interval:
        """``G(y)``; the cosine is that of an angle below ``pi/2``."""
        growth = (y * y / 2).exp()
        if kappa.lo < 0:
            least = Interval(kappa.lo, kappa.lo, self.a)
            growth = growth * (y / (self.sigma * 2)).turn().real.power(least)
        return growth

    def _outside(self, kappa: Interval, rule: Rule) -> Interval:
        r"""A bound on the sum of ``G(height) F`` over the nodes left out.

        ``(log F)' = -x + kappa p(x)/sigma`` where ``p`` increases from 0 to 1, so right of a node
        ``x`` the logarithm falls by ``x - max(kappa, 0)/sigma`` or more, and left of it by ``-x +
        min(kappa, 0) p(x)/sigma``.
        """
        a, spacing = self.a, self.a.exact(rule.spacing)
        total = a.exact(0)
        for index, side in ((rule.first, -1), (rule.last, 1)):
            x = a.exact(index * rule.spacing)
            wave = self._wave(x)
            mixture = wave + 1 - self.q
            fall = x * side
            if side > 0 and kappa.hi > 0:
                fall = fall - kappa / self.sigma
            if side < 0 and kappa.lo < 0:
                fall = fall + kappa * wave / mixture / self.sigma
            if fall.lo <= 0:
                raise Invalid("a rule is cut where the integrand is not certain to fall")
            term = (kappa * mixture.log() - x * x / 2).exp() / (a.pi() * 2).increasing("sqrt")
            total = total + term / (fall * spacing).increasing("expm1")
        return total * self._growth(kappa, a.exact(rule.height))

    def _scale(self, rule: Rule) -> Interval:
        """``spacing / sqrt(2 pi)``."""
        return self.a.exact(rule.spacing) / (self.a.pi() * 2).increasing("sqrt")

    def _decay(self, length: Fraction, rule: Rule) -> Interval:
        """``e^{2 pi length/spacing} - 1``, by which Poisson's sum divides a shift by ``length``."""
        return (self.a.pi() * 2 * self.a.exact(length / rule.spacing)).increasing("expm1")

    def _inside(self, height: Fraction) -> None:
        """Refuse what is not certainly below ``pi sigma``, the first zeros of ``A``."""
        if not self.a.exact(height).hi < (self.a.pi() * self.sigma).lo:
            raise Invalid("a rule leaves the strip where the integrand is analytic")

    def size(self, kappa: Interval, rule: Rule, v: Interval, moment: Interval | None) -> Interval:
        r"""An upper bound on ``I(v) = \int |phi A^{kappa + iv}(x + i height)| dx``, in ``hi``.

        ``|J(kappa + iv')| <= I(v') <= I(v)`` for ``v' >= v``: the angle of ``A`` is not negative.
        The integrand continues analytically to ``|Im z| <= edge`` as ``e^{h^2/2} phi(z)
        [A(z+ih) A(z-ih)]^{kappa/2} (A(z+ih)/A(z-ih))^{iv/2}``. The last factor is at most 1 if the
        angle at ``y + h`` is at least that at ``y - h``: for ``|y| <= h`` as they have opposite
        signs, and while ``|y| + h <= pi sigma/2`` as the angle increases there. So Poisson's
        summation gives the sum of all nodes up to ``2 J(kappa) e^{(h^2 + edge^2)/2}
        cos((h + edge)/(2 sigma))^{min(kappa, 0)} / (e^{2 pi edge/spacing} - 1)``.

        ``J(kappa)`` is ``moment``, or what is found if that is None, at height and ``v`` zero.
        """
        a, top = self.a, rule.height + rule.edge
        self._inside(top)
        low = a.exact(2 * top).hi <= (a.pi() * self.sigma).lo
        if not (rule.height == 0 or rule.edge <= rule.height or low):
            raise Invalid("a rule whose integrand is not certain to be bounded in its strip")
        a.spend(_PER_NODE * (rule.last - rule.first))
        total, square = a.exact(0), a.exact(rule.height * rule.height)
        for j in range(rule.first, rule.last + 1):
            x = a.exact(j * rule.spacing)
            log = self._logarithm(x, rule)
            total = total + (kappa * log.real - v * log.imag + (square - x * x) / 2).exp()
        sum_of_all = total * self._scale(rule)
        sum_of_all = sum_of_all + self._outside(kappa, rule) * a.exact(rule.spacing)
        height, edge = a.exact(rule.height), a.exact(rule.edge)
        growth = self._growth(kappa, height + edge) * (-(height * edge)).exp()
        error = growth * 2 / self._decay(rule.edge, rule)
        if moment is not None:
            return sum_of_all + moment * error
        if rule.height != 0 or not error.hi < 1:
            raise Invalid("a rule for a real moment off the real line, or too coarse")
        return sum_of_all / (a.exact(1) - error)

    def line(
        self, kappa: Interval, rule: Rule, step: Fraction, count: int, moment: Interval
    ) -> list[Rectangle]:
        """``J(kappa + i n step)`` for ``n = 0 .. count``, by one rule above the real line.

        By Poisson's summation the sum of all nodes errs by integrals against ``e^{-2 pi i m x/t}``.
        For ``m > 0`` they are taken on the real line, ``height`` below, where (1) gives
        ``J(kappa)``; for ``m < 0`` on ``Im z = edge``, where it gives ``G(edge) J(kappa)``.
        """
        a = self.a
        if not 0 < rule.height < rule.edge:
            raise Invalid("a rule that is not between the real line and its edge")
        self._inside(rule.edge)
        a.spend((rule.last - rule.first + 1) * (count + _PER_NODE))
        weights, turns, square = [], [], a.exact(rule.height * rule.height)
        rise = a.exact(step)
        for j in range(rule.first, rule.last + 1):
            x = a.exact(j * rule.spacing)
            log = self._logarithm(x, rule)
            size = (kappa * log.real + (square - x * x) / 2).exp() * self._scale(rule)
            angle = kappa * log.imag - x * a.exact(rule.height)
            weights.append(angle.turn().scaled(size))
            turns.append((rise * log.real).turn().scaled((-(rise * log.imag)).exp()))
        edge = self._growth(kappa, a.exact(rule.edge))
        error = a.exact(1) / self._decay(rule.height, rule)
        error = moment * (error + edge / self._decay(rule.edge - rule.height, rule))
        error = error + self._outside(kappa, rule) * a.exact(rule.spacing)
        return [value.widened(error) for value in power_sums(weights, turns, count, a)]
