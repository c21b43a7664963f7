r"""One step of Laplace noise on a Poisson sample, as two matrices on Chebyshev polynomials.

With ``w(l) = 1 - q + q e^l`` on ``|l| <= r``, and ``p`` the power of ``w`` that tilts laws,

.. math:: A f(l) = \tfrac12 w(-r)^p f(l)
                 + \tfrac14 e^{-r/2} \int_{-r}^l e^{-l'/2} w(l')^p f(l'')\,dl', \qquad
          B f(l) = \tfrac12 e^{-r} w(r)^p f(l)
                 + \tfrac14 e^{-r/2} \int_l^r e^{-l'/2} w(l')^p f(l'')\,dl',

``w(l') w(l'')`` being ``w(l)`` times ``w`` of the fixed end. Both are positive, and together take 1
to the constant ``M = E_Q[w^p]``. Images are interpolated at Chebyshev's nodes; what that and the
rules of integrals lose is bounded for each polynomial: [a] to [d] of ``docs/theory/laplace.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Final, NamedTuple

from flint import acb, arb, arb_mat

from dpexact import balls
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.sampled_laplace import SampledLaplace
from dpexact.kept import cached_property

#: Arcs of half an ellipse, sizes of parts of paths, how fine these may be, and precision of bounds.
_ARCS: Final = 16
_FINE: Final = 0.4
_FINER: Final = 2.0**-7
_FINEST: Final = 2.0**-40
_BOUND_BITS: Final = 128


class Plan(NamedTuple):
    """For pieces an ellipse, nodes and coefficients kept; for integrals another, and points.

    An ellipse, of foci -1 and 1, is given by the logarithm of the sum of its half axes.
    """

    rho: float
    nodes: int
    kept: int
    sigma: float
    points: int
    reach: float = math.inf


class Column(NamedTuple):
    """Coefficients of a polynomial, the lowest first, and a bound of its error."""

    coefficients: list[arb]
    error: arb

    def at(self, places: list[arb]) -> list[arb]:
        """Of the piece at places between -1 and 1."""
        rows = arb_mat(chebyshev(places, len(self.coefficients)))
        return [x + arb(0, self.error) for x in (arb_mat([self.coefficients]) * rows).entries()]


class _Side(NamedTuple):
    """``A`` or ``B``: coefficients of images, and errors of the image of each polynomial."""

    matrix: arb_mat
    errors: list[arb]


class Steps:
    """``A`` and ``B`` of Chebyshev polynomials in ``l/r``, tilted by ``theta``, an exact number."""

    def __init__(self, pair: SampledLaplace, theta: float, plan: Plan) -> None:
        self._rate, self._plan, self._theta = balls.ball(pair.rate), plan, arb(theta)
        self._power, self._sign = self._theta + int(pair.removes), 1 if pair.removes else -1
        q = balls.ball(pair.q)
        self._odds, self._rest = q / (1 - q), 1 - q
        self._scale = (-self._rate / 2).exp() / 4
        rule = [arb.legendre_p_root(plan.points, k, weight=True) for k in range(plan.points)]
        self._rule = [((1 + x) / 2, weight / 2) for x, weight in rule]
        self.mass = arb(0)
        fall = (-self._rate).exp() / 2
        self.low, self.high = self._side(-self._rate, arb(0.5)), self._side(self._rate, fall)

    @property
    def kept(self) -> int:
        """Coefficients of a piece."""
        return self._plan.kept

    @cached_property
    def _cosines(self) -> list[arb]:
        n = self._plan.nodes
        return [(arb.pi() * k / (2 * n)).cos() for k in range(4 * n)]

    @cached_property
    def _losses(self) -> list[arb]:
        return [self._rate * x for x in self._cosines[1 : 2 * self._plan.nodes : 2]]

    @cached_property
    def _transform(self) -> arb_mat:
        """From values at the nodes to coefficients."""
        n = self._plan.nodes
        turns = [[self._cosines[k * (2 * j + 1) % (4 * n)] for j in range(n)] for k in range(n)]
        return arb_mat([[x * (2 if k else 1) / n for x in row] for k, row in enumerate(turns)])

    # --- pieces -----------------------------------------------------------------------------------

    def images(self, side: _Side, columns: Sequence[Column]) -> list[Column]:
        """By ``A`` or ``B``: all coefficients, and what was lost."""
        found = zip(*(column for column, _ in columns), strict=True)
        rows = side.matrix * arb_mat([list(row) for row in found])
        lost = [
            sum((abs(c) * e for c, e in zip(column, side.errors, strict=True)), arb(0)).upper()
            for column, _ in columns
        ]
        found = zip(*rows.tolist(), strict=True)
        return [Column(list(x), off) for x, off in zip(found, lost, strict=True)]

    def shortened(self, column: Column) -> Column:
        """Exact coefficients, as many as are kept; what is lost by it is counted.

        Proposes: how many.
        """
        kept, rest = column.coefficients[: self.kept], column.coefficients[self.kept :]
        lost = sum((abs(c) for c in rest), arb(0)) + sum((c.rad() for c in kept), arb(0))
        return Column([c.mid() for c in kept], (column.error + lost).upper())

    def start(self, base: arb) -> Column:
        """``e^{theta Y} (1 - e^{sign Y})``, ``Y = base + log w(l)`` [b]."""
        one, other = self._powers
        fall, less = ((self._theta + x) * base for x in (0, self._sign))
        fall, less = fall.exp(), less.exp()
        terms = zip(one.coefficients, other.coefficients, strict=True)
        error = fall * one.error + less * other.error
        return self.shortened(Column([fall * x - less * y for x, y in terms], error))

    @cached_property
    def _powers(self) -> list[Column]:
        """``w^theta`` and ``w^(theta + sign)`` [b]."""
        logs = [(self._rest * (1 + self._odds * x.exp())).log() for x in self._losses]
        rho = arb(self._plan.rho).exp()
        found = []
        for theta in (self._theta, self._theta + self._sign):
            image = self._transform * arb_mat([[(theta * x).exp()] for x in logs])
            most = (theta * self._logs).exp()
            off = 4 * most * rho ** (1 - self._plan.nodes) / (rho - 1)
            found.append(self.shortened(Column(image.entries(), off.upper())))
        return found

    @cached_property
    def _logs(self) -> arb:
        """All of ``log |w|`` on the ellipse, by its maximum and minimum on arcs."""

        def bounds(arc: acb) -> list[arb]:
            log = (self._rest * _modulus(1 + self._odds * (self._rate * arc).exp())).log()
            return [log.upper(), -log.lower()]

        most, least = _over(self._plan.rho, bounds)
        return most.union(-least)

    # --- both sides -------------------------------------------------------------------------------

    def _side(self, end: arb, mass: arb) -> _Side:
        """Of the integrals that begin or end at ``end``, where an atom is."""
        u = self._odds * end.exp()
        atom = mass * self._weight(u)
        spans = [(end, x) if end < 0 else (x, end) for x in self._losses]
        rows = [self._row(x, *span, atom) for x, span in zip(self._losses, spans, strict=True)]
        with balls.precision(_BOUND_BITS):
            rho, nodes = arb(self._plan.rho).exp(), self._plan.nodes
            (beside, along), wide = self._on_ellipse(u), self._reached
            share = 4 * rho ** (1 - nodes) / (rho - 1)
            each = zip(*(self._of_rule(*span) for span in spans), strict=True)
            inner, reach = (_largest(values) for values in each)
            fall = (-2 * arb(self._plan.sigma)).exp()
            inner *= 8 * self._scale * fall**self._plan.points / (1 - fall)
            self.mass += inner
            # proposes: how many polynomials are kept
            errors = [
                share * (atom * rho**k + beside * wide**k + along) + 2 * nodes * inner * reach**k
                for k in range(self._plan.kept)
            ]
        matrix = self._transform * arb_mat(rows)
        self.mass = (self.mass + matrix[0, 0]).upper()
        return _Side(matrix, [x.upper() for x in errors])

    def _weight(self, u: arb) -> arb:
        """``w^p``."""
        return ((self._rest * (1 + u)).log() * self._power).exp()

    def _row(self, at: arb, start: arb, end: arb, atom: arb) -> list[arb]:
        """Of each polynomial at a node, by the rule, halved [d]."""
        both, middle = self._halved(start, end)
        length, whole = middle - start, self._rest**self._power * self._weight(both)
        places, weights = [at / self._rate], [atom]
        for x, weight in self._rule:
            one, part = start + length * x, self._scale * length * weight
            u = self._odds * one.exp()
            v, tilt = (both - u) / (1 + u), self._weight(u)
            places += [(v / self._odds).log() / self._rate, one / self._rate]
            weights.append(part * tilt / (u / self._odds).sqrt())
            turn = u * (1 + v) / (v * (1 + u))
            weights.append(part * turn * whole / tilt / (v / self._odds).sqrt())
        return _combined(places, weights, self._plan.kept)

    def _halved(self, start: arb, end: arb) -> tuple[arb, arb]:
        """``u`` of both ends together, and the loss whose ``w`` is their geometric mean."""
        one, other = self._odds * start.exp(), self._odds * end.exp()
        both = one + other + one * other
        return both, (both / (1 + (1 + both).sqrt()) / self._odds).log()

    def _of_rule(self, start: arb, end: arb) -> list[arb]:
        """At a node the rule loses of ``T_k`` at most the first times the second to ``k`` [d].

        But for a factor that all nodes share.
        """
        sigma, (both, middle) = arb(self._plan.sigma), self._halved(start, end)
        half, whole = (middle - start) / 2, self._rest**self._power * self._weight(both)
        # proposes: the ellipse, by a float that means its exact value; balls decide on it
        inside = middle + half * (sigma.cosh() - 1) < (both / self._odds).log()
        # proposes: likewise
        if not (inside and half * sigma.sinh() < arb.pi()):
            raise TooExpensive("no ellipse for the integrals of pieces")

        def bounds(arc: acb) -> list[arb]:
            one = start + half * (1 + arc)
            u = self._odds * one.exp()
            v = (both - u) / (1 + u)
            reach = arb.max(*(_reach(x / self._rate) for x in (one, (v / self._odds).log())))
            least, most, more = (_modulus(x) for x in (u, v, 1 + u))
            tilt = self._weight(more - 1)
            turn = least * (1 + v).abs_upper() / (most * more)
            size = tilt / (least / self._odds).sqrt()
            return [half * (size + turn * whole / tilt / (most / self._odds).sqrt()), reach]

        return _over(self._plan.sigma, bounds, most=self._plan.reach)

    def _on_ellipse(self, end: arb) -> list[arb]:
        """Of paths from the ellipse to ``u = end``: mass off the axis, and along [c]."""

        def bounds(arc: acb) -> list[arb]:
            u = self._odds * (self._rate * arc).exp()
            met = acb(self._odds * (self._rate * arc.real.min(arb(1)).max(arb(-1))).exp())
            whole, turn = (1 + u) * (1 + end), end * (1 + u) + (u - met)
            return [
                self._mass(whole, (end * (1 + u), turn), (u, met)),
                self._mass(whole, (turn, u * (1 + end)), (met, acb(end))),
            ]

        return _over(self._plan.rho, bounds)

    def _mass(self, whole: acb, above: tuple[acb, acb], place: tuple[acb, acb]) -> arb:
        """Of ``e^{-l'/2} w(l')^p dl'`` where ``u''`` goes a straight way, and so ``u' (1 + u'')``.

        ``whole`` is ``(1 + u') (1 + u'')``.
        """
        total, (start, end) = arb(0), place
        for size, over, under in _cells(above, (1 + start, 1 + end)):
            less, more = _modulus(over) / _modulus(under), _modulus(whole) / _modulus(under)
            height = self._weight(more - 1) / (less / self._odds).sqrt() * more / less
            total += height / under.abs_lower() * size
        return self._scale * (end - start).abs_upper() * total

    @cached_property
    def _reached(self) -> arb:
        """The sum of half axes that paths from the ellipse to the axis stay within [a]."""

        def bounds(arc: acb) -> list[arb]:
            height = abs(arc.imag).upper()
            left = (
                arb.min(arc.real.lower(), arb(1))
                + (self._rate * height / 2).cos().log() / self._rate
            )
            return [_reach(acb(x, height)) for x in (arc.real.upper(), left.lower())]

        return _largest(_over(self._plan.rho, bounds, 2 * _ARCS * math.ceil(float(self._rate))))


class _TooWide(ArithmeticError):
    """A part of a path that balls cannot follow."""


def _cells(*ways: tuple[acb, acb]) -> Iterator[tuple[arb | acb, ...]]:
    """Straight ways in parts: the share of each, and where it is on each way.

    Proposes: how fine they are; together they cover it.
    """
    spans = [float((end - start).abs_upper()) for start, end in ways]
    waiting = [(0.0, 1.0)]
    while waiting:
        one, two = waiting.pop()
        middle, beside = (one + two) / 2, arb(0, (two - one) / 2)
        places = [a * (1 - middle) + b * middle + (b - a) * beside for a, b in ways]
        least = [float(place.abs_lower()) for place in places]
        if all((two - one) * x <= _FINE * y for x, y in zip(spans, least, strict=True)):
            yield arb(two) - arb(one), *places
        elif two - one < _FINEST:
            raise _TooWide
        else:
            waiting += [(one, middle), (middle, two)]


def _over(
    size: float, bounds: Callable[[acb], list[arb]], count: int = _ARCS, most: float = math.inf
) -> list[arb]:
    """The largest of all bounds over half an ellipse of foci -1 and 1, in rectangles.

    Proposes: how many; finer where the last bound is above ``most``.
    """
    found: list[list[arb]] = []
    waiting = [(k / count, (k + 1) / count) for k in range(count)]
    while waiting:
        one, two = waiting.pop()
        arc = acb(arb(size), arb.pi() * arb(one).union(arb(two))).cosh()
        try:
            values = bounds(arc)
        except _TooWide:
            values = [arb.nan()]
        good = all(x.is_finite() for x in values)
        if good and (two - one < _FINER or float(values[-1]) <= most):
            found.append(values)
        elif two - one < _FINEST:
            raise TooExpensive("no ellipse for pieces")
        else:
            middle = (one + two) / 2
            waiting += [(one, middle), (middle, two)]
    return [_largest(values) for values in zip(*found, strict=True)]


def _combined(places: list[arb], weights: list[arb], count: int) -> list[arb]:
    """``sum weight T_k(place)`` for ``k`` below ``count``, as one product of matrices.

    By ``2 T_a T_b = T_{a+b} + T_{|a-b|}``. Proposes: how many.
    """
    big = max(2, math.isqrt(count))
    baby = chebyshev(places, big + 1)
    rows = -(-count // big)
    giant = chebyshev(baby.pop(), rows)
    weighted = [[w * x for w, x in zip(weights, row, strict=True)] for row in giant]
    products = (arb_mat(weighted) * arb_mat(baby).transpose()).entries()
    found: list[arb] = []
    for k, product in enumerate(products):
        a, b = divmod(k, big)
        found.append(2 * product - found[(a - 1) * big + big - b] if a and b else product)
    return found[:count]


def chebyshev(places: list[arb], count: int) -> list[list[arb]]:
    """``T_k`` of all places, ``k`` below ``count``: from halves, which widens balls by ``k^2``.

    Proposes: how many.
    """
    found, doubled = [[arb(1)] * len(places), places], [[], [x + x for x in places]]
    for k in range(2, count):
        one, other, rest = doubled[k // 2], found[k - k // 2], found[k % 2]
        found.append([x * y - z for x, y, z in zip(one, other, rest, strict=True)])
        doubled.append([x + x for x in found[k]] if 2 * k < count else [])
    return found[:count]


def _modulus(z: acb) -> arb:
    """Narrower than ``abs`` of a rectangle."""
    low, high = z.abs_lower(), z.abs_upper()
    return low.union(high)


def _reach(z: acb) -> arb:
    """At least the sum of the half axes of the ellipse with foci -1 and 1 through ``z``."""
    major = (((z + 1).abs_upper() + (z - 1).abs_upper()) / 2).upper()
    return major + (major * major - 1).max(arb(0)).sqrt()


def _largest(values: Iterable[arb]) -> arb:
    """An upper bound of all of them."""
    return reduce(arb.max, (x.upper() for x in values))
