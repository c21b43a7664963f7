r"""Few steps of Laplace noise on a Poisson sample: the profile in pieces, each a polynomial.

With ``w(l) = 1 - q + q e^l`` on ``|l| <= r``, ``r`` the rate of the noise, and ``S`` the sum of
``log w`` over ``t`` steps under ``Q``,

.. math:: U_t(x) = E(1 - e^{x + S})_+, \qquad \delta_{add}(\varepsilon) = U_T(\varepsilon), \qquad
          \delta_{remove}(\varepsilon) = 1 - e^\varepsilon + e^\varepsilon U_T(-\varepsilon).

``U_t`` is analytic between neighbours of its ``t + 1`` corners, all ``log w(r) - log w(-r)`` apart.
On the piece that ends ``i`` corners before the last let ``x`` be given by the loss ``l`` at which
``log w(r) - log w(l)`` is the way from its start. Then piece ``i`` of ``U_{t+1}`` is ``A`` of piece
``i`` of ``U_t`` and ``B`` of piece ``i - 1``, where ``w(l') w(l'')`` is ``w`` of both ends:

.. math:: A f(l) = \tfrac12 f(l) + \tfrac14 e^{-r/2} \int_{-r}^l e^{-l'/2} f(l'')\,dl', \qquad
          B f(l) = \tfrac12 e^{-r} f(l) + \tfrac14 e^{-r/2} \int_l^r e^{-l'/2} f(l'')\,dl'.

No step enlarges an error, so those of all steps add up. Proof, and the bounds that letters name:
``docs/theory/laplace.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Final, NamedTuple

from flint import acb, arb, arb_mat

from dpexact import balls, reals
from dpexact.accounting.contour.product import Product
from dpexact.accounting.inverted import ONE, ZERO, BallProfile
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.power_sums import line_sums
from dpexact.accounting.pairs.sampled_laplace import SampledLaplace
from dpexact.accounting.profile import InfiniteLoss
from dpexact.enclosure import Enclosure
from dpexact.reals import Real

#: Most steps, most bits, and most nodes times points of the rule.
MAX_COUNT: Final = 150
_CAP: Final = 400
_MOST: Final = 36_000
#: Pieces are kept by multiples of so many bits.
_STEP_BITS: Final = 16
_FEW_BITS: Final = 64
_TOO_LONG: Final = "polynomials of too many coefficients"
#: Sizes of ellipses tried, as shares of what the bounds allow.
_TRIED: Final = tuple(k / 40 for k in range(1, 40))
#: About half the width of the strip in which pieces are analytic.
_STRIP: Final = 3.0


class LaplaceCells(BallProfile):
    """``count`` steps of ``pair``, beside the mass ``infinite`` of infinite loss."""

    method = "piecewise polynomials"
    cap = _CAP

    def __init__(self, pair: SampledLaplace, count: int, infinite: InfiniteLoss) -> None:
        self.pair, self.count, self.infinite = pair, count, infinite
        end = pair.rate if pair.removes else -pair.rate
        log = reals.logarithm(1 - pair.q + pair.q * reals.exponential(end))
        self.largest: Real | None = count * log if pair.removes else -(count * log)
        self._product = Product([(pair, count)])

    @classmethod
    def takes(cls, pair: SampledLaplace, count: int) -> bool:
        """Proposes: whether the steps are few, and polynomials short."""
        return count <= MAX_COUNT and cls(pair, count, InfiniteLoss())._is_short(1, 0)

    def _is_short(self, digits: int, lost: int) -> bool:
        """Proposes: whether polynomials for so many digits are short."""
        bits = balls.bits_for(digits) + lost
        try:
            with balls.precision(bits):
                return bits <= _CAP and planned(self.pair) is not None
        except (ArithmeticError, ValueError):
            return False

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        known, at = self.only_infinite(epsilon, digits), balls.approximate(epsilon)
        if known is not None:
            return known
        # proposes: with how many bits to begin
        self.lost_bits = self._lost(at, self._product.saddle(at, 1)[1] if at > 0 else 0.0)
        if not self._is_short(digits, self.lost_bits):
            return Enclosure(ZERO, ONE, self.method).short(_TOO_LONG)
        return super().delta(epsilon, digits)

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        if not self._is_short(digits, self.lost_at(delta)):
            return Enclosure(ZERO, math.inf, self.method).short(_TOO_LONG)
        return self._bracket(delta, digits) or super()._epsilon(delta, digits)

    def near(self, delta: Real) -> Fraction:
        # proposes: where the search starts
        return Fraction(self._near(delta)) or ONE

    def lost_at(self, delta: Real) -> int:
        return self._lost(self._near(delta), self._log_share(delta))

    def _near(self, delta: Real) -> float:
        return self._product.epsilon(self._log_share(delta), 1)

    def _log_share(self, delta: Real) -> float:
        """About the logarithm of what is left to finite losses."""
        with balls.precision(_FEW_BITS):
            return float((balls.ball(delta) - self.infinite.ball()).log().mid())

    def _lost(self, epsilon: float, log_delta: float) -> int:
        """Proposes: bits for what an absolute error is of so small a delta."""
        lost = abs(epsilon) if self.pair.removes else 0.0
        return min(_CAP, math.ceil((lost - min(0.0, log_delta)) / math.log(2)))

    def finite_ball(self, epsilon: arb) -> arb:
        if not self.pair.removes:
            return self._put(epsilon)
        return epsilon.exp() * self._put(-epsilon) - epsilon.expm1()

    def _put(self, x: arb) -> arb:
        """``U_T(x)``, whose slope is between -1 and 0."""
        low, high = self.pair.ends()
        apart, above = high - low, -x - self.count * low
        if above <= 0:
            return arb(0)
        if above >= self.count * apart:
            return -x.expm1()
        bits = _STEP_BITS * math.ceil(balls.current() / _STEP_BITS)
        with balls.precision(bits):
            known = _pieces(self.pair.rate, self.pair.q, self.count, bits)
        if known is None:
            return arb.nan()
        if not balls.in_range(above / apart):
            return arb.nan()
        # proposes: a piece; how far outside of it the point may lie is counted
        piece = max(0, min(self.count - 1, math.ceil(float((above / apart).mid())) - 1))
        start = (piece + 1) * apart - above
        inside = start.max(arb(0)).min(apart)
        loss = ((high - inside).expm1() / balls.ball(self.pair.q)).log1p()
        found = known.value(piece, loss / balls.ball(self.pair.rate))
        return found + arb(0, abs(start - inside).upper())


@lru_cache(maxsize=16)
def _pieces(rate: Real, q: Real, count: int, bits: int) -> Pieces | None:
    """Those of ``U_count``, which both directions share; None where they are too much work.

    Proposes: what is looked up; pieces of any precision enclose.
    """
    pair = SampledLaplace(rate, q, removes=True)
    plan = planned(pair)
    return None if plan is None else Pieces.of(Operators(pair, plan), count)


class Pieces:
    """Chebyshev coefficients of the pieces, the lowest first, and a bound of their errors."""

    def __init__(self, columns: list[list[arb]], error: arb) -> None:
        self._columns, self._error = columns, error

    @classmethod
    def of(cls, steps: Operators, count: int) -> Pieces:
        """Those of ``U_count``."""
        columns: list[list[arb]] = []
        error = arb(0)
        for t in range(count):
            outside, off = steps.outside(t)
            left, right = [*columns, outside], [[arb(0)] * len(outside), *columns]
            rows = steps.low * _matrix(left) + steps.high * _matrix(right)
            kept = [steps.shortened(column) for column in zip(*rows.tolist(), strict=True)]
            error = arb.max(error, off) + steps.error(left) + _largest(lost for _, lost in kept)
            columns, error = [column for column, _ in kept], error.upper()
        return cls(columns, error)

    def value(self, piece: int, at: arb) -> arb:
        """At the share ``at`` of the rate, by Clenshaw's recurrence.

        Proposes: the piece, whose end is as near as its caller counts.
        """
        first, *others = self._columns[piece]
        one = two = arb(0)
        for coefficient in reversed(others):
            one, two = coefficient + 2 * at * one - two, one
        return first + at * one - two + arb(0, self._error)


class Plan(NamedTuple):
    """For pieces an ellipse, nodes and coefficients kept; for integrals another, and points.

    An ellipse, of foci -1 and 1, is given by the sum of its half axes.
    """

    rho: float
    nodes: int
    kept: int
    sigma: float
    points: int


class Operators:
    """``A`` and ``B`` of Chebyshev polynomials, as coefficients of what interpolates the images."""

    def __init__(self, pair: SampledLaplace, plan: Plan) -> None:
        self._rate, self._q, self._plan = balls.ball(pair.rate), balls.ball(pair.q), plan
        self._odds, self._ends = self._q / (1 - self._q), pair.ends()
        self._scale = (-self._rate / 2).exp() / 4
        n = plan.nodes
        turns = [[(k * (2 * j + 1) * arb.pi() / (2 * n)).cos() for j in range(n)] for k in range(n)]
        self._transform = arb_mat([[x * (2 if k else 1) / n for x in turns[k]] for k in range(n)])
        self._losses = [self._rate * x for x in turns[1]]
        rule = [arb.legendre_p_root(plan.points, k, weight=True) for k in range(plan.points)]
        self._rule = [((1 + x) / 2, weight / 2) for x, weight in rule]
        low = [self._image(x, -self._rate, x, arb(0.5)) for x in self._losses]
        high = [self._image(x, x, self._rate, (-self._rate).exp() / 2) for x in self._losses]
        self.low, self.high = (
            self._transform * arb_mat([row for row, _, _ in side]) for side in (low, high)
        )
        inner, reach = _largest(x for _, x, _ in low + high), _largest(x for _, _, x in low + high)
        outer, wide = self._interpolation()
        # at the nodes, of both operators, in all coefficients
        inner *= 4 * n
        # proposes: how many coefficients are kept; the sizes of all others are counted
        self._weights = [outer * wide**k + inner * reach**k for k in range(plan.kept)]

    def error(self, columns: list[list[arb]]) -> arb:
        """Of the images of pieces, none larger."""
        return _largest(
            sum((abs(c) * w for c, w in zip(column, self._weights, strict=True)), arb(0))
            for column in columns
        )

    def shortened(self, column: Sequence[arb]) -> tuple[list[arb], arb]:
        """Exact coefficients, as many as are kept, and what is lost by it.

        Proposes: how many.
        """
        kept = column[: self._plan.kept]
        rest = sum((abs(c) for c in column[len(kept) :]), arb(0))
        return [c.mid() for c in kept], (rest + sum((c.rad() for c in kept), arb(0))).upper()

    def outside(self, t: int) -> tuple[list[arb], arb]:
        """The piece ``1 - w(-r) w(r)^-t / w`` of ``U_t`` below all atoms, and its error [b]."""
        low, high = self._ends
        values = [low.exp() / (1 + self._q * x.expm1()) for x in self._losses]
        found = (self._transform * arb_mat([[x] for x in values])).entries()
        share = (-t * high).exp()
        column, lost = self.shortened([share * -x for x in found])
        rho = arb(self._plan.rho)
        most = 4 * share * (1 + self._odds * (-self._rate).exp())
        off = most * rho ** (1 - self._plan.nodes) / (rho - 1)
        return [1 + column[0], *column[1:]], (lost + off).upper()

    def _image(self, at: arb, start: arb, end: arb, mass: arb) -> tuple[list[arb], arb, arb]:
        """Of each polynomial at a node, a bound of the rule's error, and its ellipse [d]."""
        rate, q, odds = self._rate, self._q, self._odds
        first, last = start.expm1(), end.expm1()
        both = first + last + q * first * last
        middle = (both / (1 + (1 + q * both).sqrt())).log1p()
        length = middle - start
        terms = [(mass, at / rate)]
        for x, weight in self._rule:
            one = start + length * x
            less = one.expm1()
            more = (both - less) / (1 + q * less)
            other, part = more.log1p(), self._scale * length * weight
            turn = (1 + less) * (1 + q * more) / ((1 + more) * (1 + q * less))
            terms.append((part * (-one / 2).exp(), other / rate))
            terms.append((part * turn * (-other / 2).exp(), one / rate))
        sigma = arb(self._plan.sigma)
        beside = length * (sigma + 1 / sigma - 2) / 4
        height = length * (sigma - 1 / sigma) / 4
        grown = beside.exp()
        # proposes: the ellipse, by floats that mean their exact values; balls decide on it
        if not (height < arb.pi() / 2 and grown < 2):
            raise TooExpensive("no ellipse for the integrals of pieces")
        u, v = odds * middle.exp(), odds * (start - beside).exp()
        square = 1 + v * v
        low = middle + (2 - grown).log()
        high = (u * (2 + u + grown) / (odds * square.sqrt())).log()
        widest = _largest([abs(low), abs(high), abs(start - beside), abs(middle + beside)])
        turned = (grown / (2 + u)).asin() + height
        size = (-low / 2).exp() * grown / (2 - grown) * (1 + u) ** 2 / square
        size += ((beside - start) / 2).exp()
        bound = 4 * self._scale * length * size
        bound *= sigma ** (-2 * self._plan.points) / (1 - sigma**-2)
        return _combined(terms, self._plan.kept), bound, _joukowski(widest / rate, turned / rate)

    def _interpolation(self) -> tuple[arb, arb]:
        """What multiplies the pieces on the larger ellipse, which is the second number [c]."""
        rho, rate, odds = arb(self._plan.rho), self._rate, self._odds
        wide, height = rate * (rho + 1 / rho) / 2, rate * (rho - 1 / rho) / 2
        # proposes: likewise
        if not height < arb.pi() / 2:
            raise TooExpensive("no ellipse for pieces")
        cosine, far = (height / 2).cos(), odds * wide.exp()
        length = 2 * arb.min(far, far.log1p() + arb.pi() / 2) * (1 + wide.exp() / (odds * cosine))
        mass = 1 + 2 * self._scale * (wide / 2).exp() / cosine.sqrt() * length
        found = 4 * mass * rho ** (1 - self._plan.nodes) / (rho - 1)
        return found, _joukowski((wide - cosine.log()) / rate, height / rate)


def _combined(terms: Sequence[tuple[arb, arb]], count: int) -> list[arb]:
    """``sum weight T_k(x)`` for ``k`` below ``count``: ``T_k(x)`` is a real part of powers."""
    turns = [acb(x, ((1 - x) * (1 + x)).max(arb(0)).sqrt()) for _, x in terms]
    return [x.real for x in line_sums([acb(weight) for weight, _ in terms], turns, count - 1)]


def _joukowski(x: arb, y: arb) -> arb:
    """The sum of the half axes of the ellipse with foci -1 and 1 through ``x + iy``."""
    major = (((x + 1) ** 2 + y * y).sqrt() + ((x - 1) ** 2 + y * y).sqrt()) / 2
    return (major + (major * major - 1).max(arb(0)).sqrt()).upper()


def _largest(values: Iterable[arb]) -> arb:
    """An upper bound of all of them."""
    return reduce(arb.max, (x.upper() for x in values), arb(0))


def _matrix(columns: list[list[arb]]) -> arb_mat:
    return arb_mat([list(row) for row in zip(*columns, strict=True)])


def planned(pair: SampledLaplace) -> Plan | None:
    """Proposes: ellipses, nodes and points whose errors are about the precision; few, or None."""
    rate, q = pair.sizes
    odds, needed = q / (1 - q), balls.current() * math.log(2)
    fall = math.asinh(_STRIP / rate)
    kept = max(2, math.ceil(needed / fall))

    def grown(x: float, y: float) -> float:
        """By what power of e the coefficients that are kept may be larger on an ellipse."""
        log = math.acosh((math.hypot(x + rate, y) + math.hypot(x - rate, y)) / (2 * rate))
        return kept * max(0.0, log - fall)

    found = Plan(0.0, _MOST + 1, kept, 0.0, _MOST + 1)
    for share in _TRIED:
        height = share * math.pi / 2
        log, cosine = math.asinh(height / rate), math.cos(height / 2)
        wide = math.hypot(rate, height)
        far = odds * math.exp(wide)
        length = 2 * min(far, math.log1p(far) + 2) * (1 + math.exp(wide) / (odds * cosine))
        mass = 1 + math.exp((wide - rate) / 2) / 2 * length
        most = needed + grown(wide - math.log(cosine), height)
        nodes = 1 + math.ceil((most + math.log(4 * mass / math.expm1(log))) / log)
        if nodes < found.nodes:
            found = found._replace(rho=math.exp(log), nodes=max(nodes, kept + 1))
        # around half of the interval, or all of it, and no farther beyond its ends
        log = math.acosh(1 + share * math.log(2) / rate)
        height = rate * math.sinh(log)
        points = math.ceil((needed + rate + 4 + grown(rate + 1, height + 1)) / (2 * log))
        if height < 1.5 and points < found.points:
            found = found._replace(sigma=math.exp(log), points=points)
    return found if found.nodes * found.points <= _MOST else None
