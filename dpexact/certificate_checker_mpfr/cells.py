r"""Sums over very many sampled Gaussians: logarithms of their moments, from few points of a box.

With ``v = sigma^2`` and ``w`` the loss of the unsampled step, whose density without the record is
``g(w) = sqrt(v/(2 pi)) e^{-(v w^2 + w + 1/(4v))/2}``, the moments of :mod:`.moments` are ``J(k) =
\int g A^k dw``, ``A = 1 - q + q e^w``: its ``z`` is ``sigma (w + 1/(2v))``, so that its strips are
those below ``Im w = pi`` here. A trapezoidal rule is ``S = t sum_i g(w_i) A(w_i)^k`` with nodes
that no row moves, thus analytic in ``(q, v)``; or, for integrals of moduli, the same of ``|g|`` and
``|A^k|``, each a product of two such powers at ``w_i`` and its mirror image.

**Bound.** About the middle ``(q', v')`` of a box a node's power is ``A'^k (1 + (q - q') d)^k``,
``d = (e^w - 1)/A'``, and with ``s = v/v' - 1`` its density ``g' e^{bs + r(s)}``, ``b = 1/2 +
1/(8v') - v' w^2/2``, ``r(s) = (log(1 + s) - s)/2 - s^2/(8 v' (1 + s))``. By their power series, for
``|q - q'| <= Q`` and ``|s| <= R < 1`` a term over its value in the middle is ``1 + k d (q - q') +
bs`` but for at most

.. math:: (1 - Q|d|)^{-|k|} e^{R|b| + r'} - 1 - |k| Q |d| - R |b|, \tag{1}

``r' = -(log(1 - R) + R)/2 + R^2/(8 v' (1 - R))``. If the sum of these weighted with the moduli,
with ``|k| Q`` and ``R`` times the moduli of the weighted sums of ``d`` and ``b``, which nearly
cancel, is at most ``E |S'|``, ``E < 1``, then ``f = log(S/S')`` is analytic there and ``|f| <= B =
-log(1 - E)``. Of moduli ``kd`` and ``b`` are the means with their mirror images, their real parts.

**Interpolation** of ``f`` is that of :mod:`.interpolation`.

**Corners.** For real ``k`` outside of ``[0, 1]`` the moment is the mean of a convex function of the
likelihood ratio. It falls with ``v``, as noise may be added later, and rises with ``q``, as it is
convex in it and least at 0: that of a corner bounds those of all rows beyond.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpexact.certificate_checker import Invalid, Unreadable, natural, rational
from dpexact.certificate_checker_mpfr.arithmetic import (
    Arithmetic,
    Interval,
    Rectangle,
    dot_products,
    power_sums,
    powers,
)
from dpexact.certificate_checker_mpfr.interpolation import Places, Side, exact
from dpexact.certificate_checker_mpfr.moments import Mixtures, Rule

SCHEMES: Final = ("line", "tail")
RULES: Final = ("moment", "above", "below")
MAX_DEGREE: Final = 60
_PER_NODE: Final = 40
_PER_PRODUCT: Final = 8
_TILES: Final = 8
_AT_ONCE: Final = 6

Slopes = list[tuple[Rectangle, Interval, Rectangle, Interval]]


@dataclass(frozen=True)
class Scheme:
    """A rule in ``w``, and how the box is interpolated: radii of ellipses, numbers of points."""

    rule: Rule
    radii: tuple[Fraction, Fraction]
    points: tuple[int, int]

    @classmethod
    def read(cls, texts: Any) -> Scheme:
        """A rule, two radii and two numbers."""
        if not isinstance(texts, list) or len(texts) != 9:
            raise Unreadable("a rule of a cell is not a list of nine numbers")
        rho, tau = map(rational, texts[5:7])
        if not (rho > 1 and tau > 1):
            raise Invalid("an ellipse without an inside")
        first, second = (natural(text, 1, MAX_DEGREE) for text in texts[7:])
        return cls(Rule.read(texts[:5]), (rho, tau), (first, second))


@dataclass
class Sums:
    """At each order: ``S'``, ``sum n log(S/S')`` over the rows, and what ``|S|`` is at least."""

    middle: list[Rectangle]
    logs: list[Rectangle]
    least: list[Interval]


class Cell:
    """The rows of a box, by the plan of a certificate."""

    def __init__(self, plan: Any, a: Arithmetic) -> None:
        if not isinstance(plan, dict) or set(plan) != {"q", "v", *SCHEMES, *RULES}:
            raise Unreadable(f"a cell does not have the members q, v, {', '.join(SCHEMES + RULES)}")
        self.a, self.sides = a, [_side(plan["q"]), _side(plan["v"])]
        if not all(0 < half < middle for middle, half in self.sides) or sum(self.sides[0]) >= 1:
            raise Invalid("a cell that is not of rates and variances")
        self.schemes = {role: Scheme.read(plan[role]) for role in SCHEMES}
        self.rules = {role: Rule.read(plan[role]) for role in RULES}
        self.places = Places(self.sides, a)
        self._ends = [(exact(x - r), exact(x + r)) for x, r in self.sides]

    def take(self, q: Any, v: Any, count: int) -> bool:
        """Take a row if it is in the box."""
        (low, high), (least, most) = self._ends
        inside = bool(low <= q <= high and least <= v <= most)
        if inside:
            self.places.rows.append((q, v, count))
        return inside

    @property
    def count(self) -> int:
        """How many steps there are."""
        return sum(n for *_, n in self.places.rows)

    # --- sums over nodes --------------------------------------------------------------------------

    def _nodes(self, rule: Rule) -> list[Interval]:
        """Real parts of the nodes; a row in the middle has most of its mass about the one of 0."""
        offset = self.a.exact(-1 / (2 * self.sides[1][0]))
        return [offset + self.a.exact(rule.spacing * j) for j in range(rule.first, rule.last + 1)]

    def _powers(self, rule: Rule, q: Interval) -> list[Rectangle]:
        """``log A`` at the nodes."""
        turn = self.a.exact(rule.height).turn()
        rest = Rectangle(self.a.exact(1) - q, self.a.exact(0))
        return [(turn.scaled(q * x.exp()) + rest).log() for x in self._nodes(rule)]

    def _densities(self, rule: Rule, v: Interval) -> list[Rectangle]:
        """``log (t g)`` at the nodes."""
        y, t = self.a.exact(rule.height), self.a.exact(rule.spacing)
        top = (v / (self.a.pi() * 2)).log() / 2 + t.log() - self.a.exact(1) / (v * 8)
        return [
            Rectangle(top - (v * (x * x - y * y) + x) / 2, -(v * x * y) - y / 2)
            for x in self._nodes(rule)
        ]

    def _slopes(self, scheme: Scheme, powers: list[Rectangle], k: Rectangle | None) -> Slopes:
        """At each node the ``d`` and ``b`` of (1), as they are and in modulus."""
        a, (v, _) = self.a, map(self.a.exact, self.sides[1])
        one, y, found = a.exact(1), a.exact(scheme.rule.height), []
        turn = y.turn()
        for x, power in zip(self._nodes(scheme.rule), powers, strict=True):
            point = turn.scaled(x.exp()) + Rectangle(-one, a.exact(0))
            d = point * _exp(power).inverse()
            size, rest = _modulus(d), (one + one / (v * 4)) / 2
            b = Rectangle(rest - v * (x * x - y * y) / 2, -(v * x * y))
            if k is not None:  # the mean with the mirror image
                d = Rectangle((k * d).real / _modulus(k), a.exact(0))
                b = Rectangle(b.real, a.exact(0))
            found.append((d, size, b, _modulus(b)))
        return found

    def _sums(
        self, kappa: Interval, scheme: Scheme, step: Interval, count: int, u: Interval | None
    ) -> Sums:
        """At ``kappa + i n step``, ``n = 0 .. count``, or of moduli at ``kappa + iu``."""
        a, rule = self.a, scheme.rule
        nodes = rule.last - rule.first + 1
        many, more = scheme.points
        a.spend(_PER_PRODUCT * (nodes + 2 * more) * (count + _PER_NODE) * (2 + many))

        def raised_to(q: Interval) -> tuple[list[Rectangle], list[Rectangle], list[Rectangle]]:
            """Logarithms, their multiples by ``kappa`` and the turns from order to order."""
            logs, flat = self._powers(rule, q), a.exact(0)
            if u is not None:
                sizes = [Rectangle(kappa * x.real - u * x.imag, flat) for x in logs]
                return logs, sizes, sizes
            turns = [(step * x.real).turn().scaled((-(step * x.imag)).exp()) for x in logs]
            return logs, [x.scaled(kappa) for x in logs], turns

        def start(raised: list[Rectangle], densities: list[Rectangle]) -> list[Rectangle]:
            pairs = zip(raised, densities, strict=True)
            if u is not None:
                return [Rectangle((x.real + y.real).exp(), a.exact(0)) for x, y in pairs]
            return [_exp(x + y) for x, y in pairs]

        q, v = (a.exact(middle) for middle, _ in self.sides)
        logs, raised, turns = raised_to(q)
        middles = self._densities(rule, v)
        starts = start(raised, middles)
        middle = power_sums(starts, turns, count, a)
        sizes = [_modulus(x) for x in middle]
        heights = [step * n for n in range(count + 1)] if u is None else [u]
        slopes = self._slopes(scheme, logs, None if u is None else Rectangle(kappa, u))
        orders = [_modulus(Rectangle(kappa, height)) for height in heights]
        shares = self._shares(scheme, orders, starts, turns, slopes, sizes)
        still = [Rectangle(-x.real, -x.imag) for x in middles]
        densities = (self._densities(rule, v) for v in self.places.points(1, more))
        rows = [start(still, density) for density in densities]
        places, table = self.places.points(0, many), _empty(len(rows))
        for first in range(0, len(places), _AT_ONCE):
            columns: list[list[Rectangle]] = []
            for q in places[first : first + _AT_ONCE]:
                _, raised, turns = raised_to(q)
                pairs = zip(start(raised, middles), turns, strict=True)
                columns += map(list, zip(*(powers(x, y, count, a) for x, y in pairs), strict=True))
            for line, values in zip(table, dot_products(rows, columns, a), strict=True):
                line += values
        weights = self.places.weights(scheme.points)
        found = []
        for n, (centre, share) in enumerate(zip(middle, shares, strict=True)):
            total, back = Rectangle(a.exact(0), a.exact(0)), centre.inverse()
            for i, row in enumerate(weights):
                for weight, values in zip(row, table, strict=True):
                    value = values[i * (count + 1) + n]
                    total = total + (value * back).log().scaled(weight)
            bound = -(a.exact(1) - share).log()
            error = self.places.error(bound, scheme.radii, scheme.points) * self.count
            found.append(total.widened(error))
        least = [x * (a.exact(1) - e) for x, e in zip(sizes, shares, strict=True)]
        return Sums(middle, found, least)

    def _shares(
        self,
        scheme: Scheme,
        orders: list[Interval],
        starts: list[Rectangle],
        turns: list[Rectangle],
        slopes: Slopes,
        sizes: list[Interval],
    ) -> list[Interval]:
        """``E`` at each order, whose moduli are ``orders``."""
        a, one, ((_, r), (v, s)) = self.a, self.a.exact(1), self.sides
        discs = [(x + a.exact(1) / x) / 2 for x in map(a.exact, scheme.radii)]
        wide, less = a.exact(r) * discs[0], a.exact(s / v) * discs[1]
        if not (less.hi < 1 and all((wide * d).hi < 1 for _, d, _, _ in slopes)):
            raise Invalid("an ellipse beyond the rates or the variances")
        rest = (-(one - less).log() - less) / 2 + less * less / (a.exact(8 * v) * (one - less))
        count = len(sizes) - 1
        linear = [
            [_modulus(x) for x in power_sums(weighted, turns, count, a)]
            for weighted in (
                [t * d for t, (d, *_) in zip(starts, slopes, strict=True)],
                [t * b for t, (_, _, b, _) in zip(starts, slopes, strict=True)],
            )
        ]
        terms = [_modulus(x) for x in starts]
        falls = [_modulus(x) for x in turns]
        powers = [-(one - wide * d).log() for _, d, _, _ in slopes]
        found = []
        for order, size, rates, variances in zip(orders, sizes, *linear, strict=True):
            total = order * wide * rates + less * variances
            for term, power, (_, d, _, b) in zip(terms, powers, slopes, strict=True):
                grown = (order * power + less * b + rest).increasing("expm1")
                total = total + term * (grown - order * wide * d - less * b)
            terms = [term * fall for term, fall in zip(terms, falls, strict=True)]
            share = total / size
            if not share.hi < 1:
                raise Invalid("a cell whose ellipses are too large")
            found.append(share)
        return found

    # --- what a rule leaves out -------------------------------------------------------------------

    def _box(self) -> tuple[Interval, Interval]:
        """The rates and the variances of the box."""
        q, v = (self.a.between(x - r, x + r) for x, r in self.sides)
        return q, v

    def _growth(self, kappa: Interval, y: Interval, square: Interval) -> Interval:
        """``e^{v square/2} cos(y/2)^min(kappa, 0)`` for every row."""
        _, v = self._box()
        growth = (v * square / 2).exp()
        if kappa.lo < 0:
            growth = growth * (y / 2).turn().real.power(Interval(kappa.lo, kappa.lo, self.a))
        return growth

    def _outside(self, kappa: Interval, rule: Rule) -> Interval:
        """A bound on ``t sum |g A^k|`` over the nodes left out, for every row.

        ``(log g A^kappa)' = -v w - 1/2 + kappa m``, ``m = q e^w/A`` between 0 and 1 and rising.
        """
        a, (q, v), t = self.a, self._box(), self.a.exact(rule.spacing)
        ends = self._nodes(rule)
        total = a.exact(0)
        for x, end in ((ends[0], -1), (ends[-1], 1)):
            grown = a.exact(1) - q + q * x.exp()
            fall = (v * x + a.exact(Fraction(1, 2))) * end
            fall = fall - ((-kappa).up_to() * (q * x.exp() / grown) if end < 0 else kappa.up_to())
            if not fall.lo > 0:
                raise Invalid("a rule is cut where the integrand is not certain to fall")
            log = (v / (a.pi() * 2)).log() / 2 + kappa * grown.log()
            log = log - (v * x * x + x + a.exact(1) / (v * 4)) / 2
            total = total + log.exp() * t / (fall * t).increasing("expm1")
        height = a.exact(rule.height)
        return total * self._growth(kappa, height, height * height)

    def _decay(self, length: Fraction, rule: Rule) -> Interval:
        return (self.a.pi() * 2 * self.a.exact(length / rule.spacing)).increasing("expm1")

    def moment(self, kappa: Interval) -> Interval:
        """An upper bound on ``J(kappa)`` of every row, in ``hi`` [Corners]."""
        (_, q), (v, _) = self._ends
        return self._corner(kappa, "moment", q, v)

    def moments(self, kappa: Interval, role: str) -> Interval:
        """An upper bound on the product over the rows of ``J(kappa)``, in ``hi`` [Corners]."""
        ((q, high), (v, most)), tiles = self._ends, Counter[tuple[int, int]]()
        wide, tall = (high - q) / _TILES, (most - v) / _TILES
        for rate, variance, n in self.places.rows:
            tiles[int(-((q - rate) // wide)), int((variance - v) // tall)] += n
        total = self.a.exact(1)
        for (right, down), n in tiles.items():
            total = total * self._corner(kappa, role, q + right * wide, v + down * tall).power(n)
        return total

    def _corner(self, kappa: Interval, role: str, q: Any, v: Any) -> Interval:
        one, rate, variance = self.a.exact(1), *(self.a.exact(Fraction(str(x))) for x in (q, v))
        if not (kappa.lo >= 1 or kappa.hi <= 0):
            return one  # Jensen: a concave power
        sample = Mixtures.sampled(variance.increasing("sqrt"), rate, self.a)
        return sample.size(kappa, self.rules[role], self.a.exact(0), None)

    def size(self, kappa: Interval, u: Interval, moment: Interval) -> Interval:
        """An upper bound on the product over the rows of ``|J(kappa + iu')|``, ``u' >= u``.

        As in :meth:`.moments.Mixtures.size`; ``moment`` is at least every ``J(kappa)``.
        """
        scheme, one, half = self.schemes["tail"], self.a.exact(1), self.a.pi() / 2
        rule = scheme.rule
        height, edge = self.a.exact(rule.height), self.a.exact(rule.edge)
        top = height + edge
        rises = rule.edge <= rule.height or top.hi <= half.lo
        if not (top.hi < (half * 2).lo and rises):
            raise Invalid("a rule whose integrand is not certain to be bounded in its strip")
        growth = self._growth(kappa, top, height * height + edge * edge)
        slack = moment * growth * 2 / self._decay(rule.edge, rule) + self._outside(kappa, rule)
        sums = self._sums(kappa, scheme, self.a.exact(0), 0, u)
        extra = (one + slack.up_to() / sums.least[0]).log()
        total = sums.logs[0].real + (sums.middle[0].real.log() + extra) * self.count
        return total.exp()

    def line(
        self, kappa: Interval, step: Fraction, count: int, moment: Interval
    ) -> list[Rectangle]:
        """The product over the rows of ``J(kappa + i n step)``, ``n = 0 .. count``.

        As in :meth:`.moments.Mixtures.line`; ``moment`` is at least every ``J(kappa)``.
        """
        a, scheme = self.a, self.schemes["line"]
        rule = scheme.rule
        if not (0 < rule.height < rule.edge and a.exact(rule.edge).hi < a.pi().lo):
            raise Invalid("a rule that is not between the real line and its edge")
        edge = a.exact(rule.edge)
        error = self._growth(kappa, edge, edge * edge) / self._decay(rule.edge - rule.height, rule)
        error = error + a.exact(1) / self._decay(rule.height, rule)
        slack = (moment * error + self._outside(kappa, rule)).up_to()
        sums = self._sums(kappa, scheme, a.exact(step), count, None)
        found = []
        for middle, logs, least in zip(sums.middle, sums.logs, sums.least, strict=True):
            off = -(a.exact(1) - slack / least).log() * self.count
            found.append(_exp(logs.widened(off)) * middle**self.count)
        return found


def _side(texts: Any) -> Side:
    if not isinstance(texts, list) or len(texts) != 2:
        raise Unreadable("a side of a cell is not a middle and a half")
    return rational(texts[0]), rational(texts[1])


def _empty(count: int) -> list[list[Rectangle]]:
    return [[] for _ in range(count)]


def _exp(x: Rectangle) -> Rectangle:
    return x.imag.turn().scaled(x.real.exp())


def _modulus(x: Rectangle) -> Interval:
    square = x.real.square() + x.imag.square()
    if square.lo > 0:
        return square.increasing("sqrt")
    return Interval(square.lo, square.a.up.sqrt(square.hi), square.a).up_to()
