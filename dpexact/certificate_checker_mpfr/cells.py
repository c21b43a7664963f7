r"""Sums over very many sampled Gaussians: logarithms of their moments, from few points of a box.

With ``v = sigma^2`` and ``w`` the loss of the unsampled step, whose density without the record is
``g(w) = sqrt(v/(2 pi)) e^{-(v w^2 + w + 1/(4v))/2}``, the moments of :mod:`.moments` are ``J(k) =
\int g A^k dw``, ``A = 1 - q + q e^w``: its ``z`` is ``sigma (w + 1/(2v))``, so that its strips are
those below ``Im w = pi`` here. By its side stands the integral of moduli on a line ``Im w = y``,

.. math:: e^{v y^2/2} \int g(a) P\, da, \qquad P = A(a + iy)^{k/2} A(a - iy)^{\bar k/2}.

Both are ``\int g P``, ``y = 0`` and ``k`` for ``\bar k`` in the first, and sums at fixed nodes are
products of what depends on ``q`` and what depends on ``v``.

Their logarithms are analytic by :mod:`.ellipses`.

**Interpolation** is that of :mod:`.interpolation`, by what radii are best at each order.

**Corners.** For real ``k`` outside of ``[0, 1]`` the moment is the mean of a convex function of the
likelihood ratio. It falls with ``v``, as noise may be added later, and rises with ``q``, as it is
convex in it and least at 0: that of a corner bounds those of all rows beyond.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any, Final

import gmpy2

from dpexact.certificate_checker import Invalid, Undecided, Unreadable, natural, rational
from dpexact.certificate_checker_mpfr.arithmetic import (
    Arithmetic,
    Fixed,
    Interval,
    Rectangle,
    dot_products,
    geometric,
    rounded,
)
from dpexact.certificate_checker_mpfr.ellipses import bounds_of, power_of
from dpexact.certificate_checker_mpfr.interpolation import BITS, MAX_POINTS, Places, Row
from dpexact.certificate_checker_mpfr.moments import Mixtures, Rule

MOMENTS: Final = ("moment", "above", "below")
MAX_RADII: Final = 40
MAX_BOXES: Final = 2_000
_TILE: Final = 0.15
_SPARE: Final = 1e-9
_LOG_BITS: Final = 128
_AT_ONCE: Final = 6
_PER_NODE: Final = 60
_PER_VALUE: Final = 12
_MOST_HELD: Final = 2_000_000
"""Powers that are kept at a time: half a gigabyte."""


@dataclass(frozen=True)
class Scheme:
    """A rule in ``w``, numbers of points of the two sides, and radii of ellipses about them."""

    rule: Rule
    points: tuple[int, int]
    radii: list[tuple[Fraction, Fraction]]

    @classmethod
    def read(cls, texts: Any) -> Scheme:
        """A rule, two numbers and pairs of radii."""
        whole = isinstance(texts, list) and 9 <= len(texts) <= 7 + 2 * MAX_RADII
        if not whole or len(texts) % 2 == 0:
            raise Unreadable("a rule of a box is not a rule, two numbers and pairs of radii")
        first, second = (natural(text, 1, MAX_POINTS) for text in texts[5:7])
        radii = list(map(rational, texts[7:]))
        if not min(radii) > 1:
            raise Invalid("an ellipse without an inside")
        pairs = list(zip(radii[::2], radii[1::2], strict=True))
        return cls(Rule.read(texts[:5]), (first, second), pairs)


class Box:
    """Rows that differ little, and a sum over nodes for the integrals of all."""

    def __init__(self, plan: Any, a: Arithmetic) -> None:
        if not isinstance(plan, dict) or set(plan) != {"q", "v", "rule"}:
            raise Unreadable("a box does not have the members q, v, rule")
        self.a, self.scheme = a, Scheme.read(plan["rule"])
        self.places = Places([_side(plan["q"]), _side(plan["v"])], a)
        (_, q), (v, _) = self.places.ends
        #: The rate and the variance of the corner of the largest moments.
        self.corner = q, v
        if not q < 1:
            raise Invalid("a box that is not of rates")
        rule, one = self.scheme.rule, a.exact(1)
        offset = -one / (a.exact(self.places.sides[1][0]) * 2)
        a.spend(_PER_NODE * (rule.last - rule.first))
        #: Real parts of the nodes; a row in the middle has most of its mass about the one of 0.
        self.nodes = [offset + a.exact(rule.spacing * j) for j in range(rule.first, rule.last + 1)]

    # --- sums over nodes --------------------------------------------------------------------------

    def _logs(self, q: Interval) -> list[Rectangle]:
        """``log A`` at the nodes."""
        turn = self.a.exact(self.scheme.rule.height).turn()
        rest = Rectangle(self.a.exact(1) - q, self.a.exact(0))
        return [(turn.scaled(q * x.exp()) + rest).log() for x in self.nodes]

    def _densities(self, v: Interval) -> list[Rectangle]:
        """``log (t g)`` at the nodes."""
        y, t = self.a.exact(self.scheme.rule.height), self.a.exact(self.scheme.rule.spacing)
        top = (v / (self.a.pi() * 2)).log() / 2 + t.log() - self.a.exact(1) / (v * 8)
        return [
            Rectangle(top - (v * (x * x - y * y) + x) / 2, -(v * x * y) - y / 2) for x in self.nodes
        ]

    def sums(
        self, orders: Sequence[Rectangle], slack: Interval, *, moduli: bool
    ) -> list[Rectangle]:
        """Sums of logarithms of integrals over the rows, at orders that are equally far apart.

        Integrals of moduli if these are asked for, else of ``g A^k``. A sum over the nodes errs by
        at most ``slack``.
        """
        a, points, count = self.a, self.scheme.points, len(orders)
        many, more = points
        a.spend(len(self.nodes) * (many + more) * _PER_NODE)
        a.spend(many * count * (len(self.nodes) * (1 + more // 16) + more * _PER_VALUE))
        held = len(self.nodes) * count * (1 + a.bits // 512)
        if held > _MOST_HELD:
            raise Invalid("a box of more powers than this checker keeps")
        at_once = min(_AT_ONCE, _MOST_HELD // held)
        errors = self._errors(orders, moduli=moduli)
        weights = self.places.weights(points)
        first = self._densities(a.exact(Fraction(self.corner[1])))
        rows, flat = [], a.exact(0)
        for v in self.places.points(1, more):
            pairs = zip(self._densities(v), first, strict=True)
            ratios = (Rectangle(x.real - y.real, x.imag - y.imag) for x, y in pairs)
            rows.append([Rectangle(z.real.exp(), flat) if moduli else _exp(z) for z in ratios])
        densities, rates = rounded(rows, a), self.places.points(0, many)
        values: list[list[Any]] = [[] for _ in orders]
        farthest = gmpy2.mpfr(0)
        shares: list[Any] = []
        for begin in range(0, many, at_once):
            some = rates[begin : begin + at_once]
            powers = _side_by_side([self._powers(q, first, orders, moduli) for q in some])
            table, radius = dot_products(densities, powers, a)
            farthest = max(farthest, radius)
            for line, row in zip(
                table, zip(*weights[begin : begin + at_once], strict=True), strict=True
            ):
                shares += row
                for n in range(count):
                    values[n] += line[n::count]
        radius = a.rough.add(slack.hi, farthest)
        total, off = self.places.count, self.places.off(points)
        found = []
        for column, error in zip(values, errors, strict=True):
            logs, largest = _sum_of_logs(column, shares, radius, a)
            found.append(logs.widened((error + off * largest) * total))
        return found

    def _errors(self, orders: Sequence[Rectangle], *, moduli: bool) -> list[Interval]:
        """What interpolation misses for a row, by the best radii at each order."""
        best: list[Interval | None] = [None] * len(orders)
        y = self.a.exact(self.scheme.rule.height if moduli else 0)
        for radii in self.scheme.radii:
            self.a.spend(_PER_NODE * (len(orders) + power_of(orders[0].real)))
            for n, bound in enumerate(bounds_of(self.places, orders, y, radii)):
                if bound is not None:
                    error, old = self.places.error(bound, radii, self.scheme.points), best[n]
                    best[n] = error if old is None or error.hi < old.hi else old
        found = [error for error in best if error is not None]
        if len(found) < len(best):
            raise Invalid("a box whose ellipses are too large")
        return found

    def _powers(
        self, q: Interval, first: list[Rectangle], orders: Sequence[Rectangle], moduli: bool
    ) -> Fixed:
        """Of a rate: the first density times ``A^k``, at each order."""
        a, (kappa, u) = self.a, (orders[0].real, orders[0].imag)
        starts, ratios, flat = [], [], a.exact(0)
        step = orders[1].imag - u if len(orders) > 1 else flat
        for x, density in zip(self._logs(q), first, strict=True):
            if moduli:
                size = (kappa * x.real - u * x.imag + density.real).exp()
                starts.append(Rectangle(size, flat))
            else:
                starts.append(_exp(orders[0] * x + density))
            ratios.append((step * x.real).turn().scaled((-(step * x.imag)).exp()))
        return geometric(starts, ratios, len(orders) - 1, a)

    # --- what a rule leaves out -------------------------------------------------------------------

    def growth(self, kappa: Interval, y: Interval, square: Interval) -> Interval:
        """``e^{v square/2} cos(y/2)^min(kappa, 0)`` for every row."""
        _, v = self._ranges()
        growth = (v * square / 2).exp()
        if kappa.lo < 0:
            growth = growth * (y / 2).turn().real.power(Interval(kappa.lo, kappa.lo, self.a))
        return growth

    def _ranges(self) -> tuple[Interval, Interval]:
        """The rates and the variances of the box."""
        q, v = (self.a.between(Fraction(x), Fraction(y)) for x, y in self.places.ends)
        return q, v

    def outside(self, kappa: Interval) -> Interval:
        """A bound on ``t sum |g A^k|`` over the nodes left out, for every row.

        ``(log g A^kappa)' = -v w - 1/2 + kappa m``, ``m = q e^w/A`` between 0 and 1 and rising.
        """
        a, (q, v), t = self.a, self._ranges(), self.a.exact(self.scheme.rule.spacing)
        total = a.exact(0)
        for x, end in ((self.nodes[0], -1), (self.nodes[-1], 1)):
            grown = a.exact(1) - q + q * x.exp()
            fall = (v * x + a.exact(Fraction(1, 2))) * end
            fall = fall - ((-kappa).up_to() * (q * x.exp() / grown) if end < 0 else kappa.up_to())
            if not fall.lo > 0:
                raise Invalid("a rule is cut where the integrand is not certain to fall")
            log = (v / (a.pi() * 2)).log() / 2 + kappa * grown.log()
            log = log - (v * x * x + x + a.exact(1) / (v * 4)) / 2
            total = total + log.exp() * t / (fall * t).increasing("expm1")
        height = a.exact(self.scheme.rule.height)
        return total * self.growth(kappa, height, height * height)

    def decay(self, length: Fraction) -> Interval:
        """``e^{2 pi length/spacing} - 1``, by which Poisson's sum divides a shift by ``length``."""
        whole = self.a.pi() * 2 * self.a.exact(length / self.scheme.rule.spacing)
        return whole.increasing("expm1")


class Cell:
    """The rows of a box, with the integrals of moduli in boxes that hold some of them each."""

    def __init__(self, plan: Any, a: Arithmetic) -> None:
        if not isinstance(plan, dict) or set(plan) != {"line", "tails", *MOMENTS}:
            raise Unreadable(f"a cell does not have the members line, tails, {', '.join(MOMENTS)}")
        if not isinstance(plan["tails"], list) or len(plan["tails"]) > MAX_BOXES:
            raise Unreadable("tails are not a list, or too many")
        self.a, self.box = a, Box(plan["line"], a)
        self.tails = [Box(tail, a) for tail in plan["tails"]]
        self.rules = {role: Rule.read(plan[role]) for role in MOMENTS}
        self._tiles: Counter[tuple[Any, Any]] = Counter()

    def take(self, row: Row) -> bool:
        """Take a row if it is in the box; each is in one of the tails, too."""
        if not self.box.places.take(row):
            return False
        if not any(tail.places.take(row) for tail in self.tails):
            raise Invalid("a step of a cell that is in no tail")
        return True

    @property
    def is_filled(self) -> bool:
        """Whether there are steps in each of the boxes."""
        return all(box.places.rows for box in (self.box, *self.tails))

    def moments(self, kappa: Interval, role: str) -> Interval:
        """An upper bound on the product over the rows of ``J(kappa)``, in ``hi`` [Corners]."""
        self._tiles = self._tiles or self._tiled()
        total = self.a.exact(1)
        for corner, n in self._tiles.items():
            total = total * self.corner(kappa, role, corner).power(n)
        return total

    def _tiled(self) -> Counter[tuple[Any, Any]]:
        """The corners beyond which the rows are, and how many steps these run."""
        tiles: Counter[tuple[Any, Any]] = Counter()
        most, least = self.box.corner
        for q, v, logs, n in self.box.places.rows:
            right, down = math.ceil(logs[0] / _TILE), math.floor(logs[1] / _TILE)
            rate = min(most, gmpy2.mpq(gmpy2.exp((right + _SPARE) * _TILE)))
            variance = max(least, gmpy2.mpq(gmpy2.exp((down - _SPARE) * _TILE)))
            if not (q <= rate and variance <= v):
                raise Invalid("a step beyond the corner of its tile")
            tiles[rate, variance] += n
        return tiles

    def corner(self, kappa: Interval, role: str, corner: tuple[Any, Any]) -> Interval:
        """An upper bound on ``J(kappa)`` of every row beyond a corner, in ``hi`` [Corners]."""
        one, (q, v) = self.a.exact(1), (self.a.exact(Fraction(x)) for x in corner)
        if not (kappa.lo >= 1 or kappa.hi <= 0):
            return one  # Jensen: a concave power
        sample = Mixtures.sampled(v.increasing("sqrt"), q, self.a)
        return sample.size(kappa, self.rules[role], self.a.exact(0), None)

    def size(self, kappa: Interval, u: Interval) -> Interval:
        """An upper bound on the product over the rows of ``|J(kappa + iu')|``, ``u' >= u``.

        As in :meth:`.moments.Mixtures.size`.
        """
        total, half = self.a.exact(0), self.a.pi() / 2
        for box in self.tails:
            rule = box.scheme.rule
            height, edge = self.a.exact(rule.height), self.a.exact(rule.edge)
            top = height + edge
            rises = rule.edge <= rule.height or top.hi <= half.lo
            if not (top.hi < (half * 2).lo and rises):
                raise Invalid("a rule whose integrand is not certain to be bounded in its strip")
            growth = box.growth(kappa, top, height * height + edge * edge)
            slack = self.corner(kappa, "moment", box.corner) * growth * 2 / box.decay(rule.edge)
            slack = slack + box.outside(kappa)
            total = total + box.sums([Rectangle(kappa, u)], slack, moduli=True)[0].real
        return total.exp()

    def line(self, kappa: Interval, step: Fraction, count: int) -> list[Rectangle]:
        """The product over the rows of ``J(kappa + i n step)``, ``n = 0 .. count``.

        As in :meth:`.moments.Mixtures.line`.
        """
        a, box = self.a, self.box
        rule = box.scheme.rule
        edge = a.exact(rule.edge)
        if not (0 < rule.height < rule.edge and edge.hi < a.pi().lo):
            raise Invalid("a rule that is not between the real line and its edge")
        error = box.growth(kappa, edge, edge * edge) / box.decay(rule.edge - rule.height)
        error = error + a.exact(1) / box.decay(rule.height)
        slack = self.corner(kappa, "moment", box.corner) * error + box.outside(kappa)
        orders = [Rectangle(kappa, a.exact(step * n)) for n in range(count + 1)]
        return [_exp(total) for total in box.sums(orders, slack.up_to(), moduli=False)]


def _sum_of_logs(
    values: list[tuple[Any, Any]], weights: list[Any], radius: Any, a: Arithmetic
) -> tuple[Rectangle, Interval]:
    """A weighted sum of logarithms, and the largest of their moduli.

    Args:
        values: in units of ``2^(-2 bits)``, each within ``radius`` of what is on the right of 0.
        weights: in units of ``2^-96``.
        radius: see there.
        a: the arithmetic.
    """
    log, angle, raised = a.near.log, a.near.atan2, a.near.mul_2exp
    least = a.down.div_2exp(gmpy2.mpfr(min(x for x, _ in values), 0, a.down), 2 * a.bits)
    if not least > radius:
        raise Undecided("an integral cannot be told from 0")
    real, imag, moduli, largest = (gmpy2.mpz(0) for _ in range(4))
    unit = a.exact(2 * a.bits) * a.exact(2).log()  # of which a logarithm has one too many
    shift = gmpy2.mpz(raised(unit.lo, _LOG_BITS))
    for (x, y), weight in zip(values, weights, strict=True):
        size = gmpy2.mpz(raised(log(x * x + y * y), _LOG_BITS - 1)) - shift
        turn = gmpy2.mpz(raised(angle(y, x), _LOG_BITS))
        real, imag = real + weight * size, imag + weight * turn
        moduli, largest = moduli + abs(weight), max(largest, abs(size), abs(turn))
    # to nearest, by a unit of a number as large as the logarithm
    rounding = Fraction(8 * a.bits + int(largest >> _LOG_BITS), 1 << a.bits)
    rounding += Fraction(8, 1 << _LOG_BITS)
    ball = Interval(radius, radius, a) / (Interval(least, least, a) - Interval(radius, radius, a))
    scale = 1 << _LOG_BITS + BITS
    total = Rectangle(*(a.exact(Fraction(int(x), scale)) for x in (real, imag)))
    error = (ball + a.exact(rounding)) * a.exact(Fraction(int(moduli), 1 << BITS))
    return total.widened(error), a.exact(Fraction(2 * int(largest), 1 << _LOG_BITS))


def _side(texts: Any) -> tuple[Fraction, Fraction]:
    if not isinstance(texts, list) or len(texts) != 2:
        raise Unreadable("a side of a box is not a middle and a ratio")
    return rational(texts[0]), rational(texts[1])


def _side_by_side(found: list[Fixed]) -> Fixed:
    lists = [
        (
            list(chain.from_iterable(x for x, _ in pairs)),
            list(chain.from_iterable(y for _, y in pairs)),
        )
        for pairs in zip(*(each.lists for each in found), strict=True)
    ]
    return Fixed(lists, max(each.off for each in found), max(each.size for each in found))


def _exp(x: Rectangle) -> Rectangle:
    return x.imag.turn().scaled(x.real.exp())
