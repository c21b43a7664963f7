r"""Laplace noise on a Poisson sample: truncated or not, several times, beside finite laws.

With ``w(l) = 1 - q + q e^l``, ``l`` the loss of all that runs, the loss is ``log w(l)`` where a
record is removed and ``-log w(l)`` where it is added. So both moments are values of :math:`F(t) =
E_Q[w^t]` at ``t = 1 + s`` and at ``t = -s``. Under ``Q`` the loss has atoms at knots and pieces
between (:mod:`~dpexact.accounting.pairs.sums.splines`), which are summed by Gauss and Legendre's
rule, with a bound of the integrand on an ellipse; beyond a height, by parts, all of them are less
than the atoms. Numbers in brackets refer to sections of ``docs/theory/contour.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from flint import acb, acb_poly, arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.laplace import Laplace
from dpexact.accounting.pairs.on_sample import ByRule, Rule
from dpexact.accounting.pairs.pair import Factors, Masses, TooExpensive, Turns, least_overlap
from dpexact.accounting.pairs.sums.arcs import Arc, arc_size
from dpexact.accounting.pairs.sums.splines import Piece, Spline, spline
from dpexact.balls import AROUND, approximate, ball, precision
from dpexact.kept import cached_property
from dpexact.reals import ZERO, Real

#: Most nodes of all rules.
_MAX_NODES: Final = 6_000
#: For a real moment pieces of more nodes are cut into halves, at most so often.
_FEW_NODES, _MOST_CUTS = 40, 60
#: Ellipses tried, heights over widths; and the most height: ``w`` has no zero below ``pi/2``.
_SHAPES: Final = np.geomspace(0.02, 200, 50)
_HIGHEST: Final = 1.53
#: Nodes of an outline, and more of each piece, and for each unit of half its length.
_PLANNING_NODES, _MORE_NODES, _LONG_NODES = 40, 8, 4
_PLANNING_BITS: Final = 64
#: Losses of which floats hold powers of e; the least accuracy of an arc; the logarithm of nothing.
_LARGEST, _LEAST, _NOTHING = 600.0, 10.0, -1e5


class _Nodes(NamedTuple):
    """Half the height of an ellipse, and how many nodes a rule has."""

    height: float
    many: int


class _Outline(NamedTuple):
    """About some pieces: middles, halves, and logarithms of coefficients, a row each."""

    middle: Floats
    half: Floats
    logs: Floats


class _Mark(NamedTuple):
    """At a loss ``log w``, ``e^{-l/2}``, ``e^{-3l/2} w^(power+1) / q`` and its slope."""

    log: arb
    fall: arb
    scale: arb
    slope: arb


@dataclass(frozen=True)
class SampledLaplace(ByRule):
    """``laws``, some of them Laplace noise, on a sample of rate ``0 < q < 1``.

    ``removes`` the record, or adds it. ``shown`` and ``missed`` are the masses of what ``P`` alone
    may give, and of what ``Q`` alone.
    """

    laws: Factors
    q: Real
    removes: bool
    shown: Real = ZERO
    missed: Real = ZERO

    #: As of :class:`~dpexact.accounting.pairs.laplace.Laplace`.
    decays = True

    def __post_init__(self) -> None:
        self._coarse()  # which refuses too many pieces before anything is asked

    def _coarse(self) -> Spline:
        with precision(_PLANNING_BITS):
            return spline(self.laws)

    @property
    def reverse(self) -> SampledLaplace:
        return replace(self, removes=not self.removes)

    @property
    def is_whole(self) -> bool:
        """Whether Laplace noise runs once, not truncated, and nothing beside it."""
        return isinstance(self.laws[0][0], Laplace) and [n for _, n in self.laws] == [1]

    @property
    def rate(self) -> Real:
        """Of that noise the largest loss before sampling."""
        ((noise, _),) = self.laws
        assert isinstance(noise, Laplace)
        return noise.rate

    def mass(self) -> arb:
        """Under the law of all records."""
        return 1 - self.infinite()

    def revealed(self) -> Real:
        """``q`` times that of all laws, where the record is removed."""
        return self.q * self.shown if self.removes else ZERO

    def overlap(self) -> arb:
        """``1 - q`` and ``q`` times that of all laws: these differ by ``q`` times as much."""
        return 1 - ball(self.q) * (1 - least_overlap(self.laws))

    def largest_loss(self) -> arb | None:
        """``log w`` of the last knot, or minus the least of ``log w``."""
        low, high = self.ends()
        if self.removes:
            return high
        # of numbers in symbols, here and below
        return -low if self.missed == ZERO else -self._without()

    def ends(self) -> tuple[arb, arb]:
        """``log w`` at the first and the last knot."""
        knots = spline(self.laws).knots
        return self._log(knots[0]), self._log(knots[-1])

    def _without(self) -> arb:
        """``log(1 - q)``."""
        return (-ball(self.q)).log1p()

    def _log(self, loss: arb) -> arb:
        """``log w(loss)``, to full relative accuracy."""
        return (ball(self.q) * loss.expm1()).log1p()

    def _atoms(self, power: arb) -> list[Masses]:
        """Masses under ``Q`` times ``w^power``, and ``log w``."""
        law = spline(self.laws)
        found = [
            (mass * (-x / 2).exp(), self._log(x))
            for x, mass in zip(law.knots, law.atoms, strict=True)
        ]
        if self.missed != ZERO:
            found.append((ball(self.missed), self._without()))
        return [(mass * (power * log).exp(), log) for mass, log in found]

    # --- decay ------------------------------------------------------------------------------------

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """Atoms and what lies below a cut as they are, what lies above by its variation [12]."""
        bound = _bounded(*self._cuts(self._power(arb(c))), arb(u))
        return arb.min(bound.upper(), self.moment(c, accuracy).upper())

    def _cuts(self, power: arb) -> tuple[arb, list[Masses]]:
        """All atoms; and of each cut, from below, the moment below, the variation above."""
        cells = spline(self.laws).cells
        marks = [self._mark(x, power) for x in (cells[0].low, *(cell.high for cell in cells))]
        below, before, parts = arb(0), arb(0), []
        for cell, (one, two) in zip(cells, pairwise(marks), strict=True):
            # a function that falls, then rises, by its ends; of balls
            once = one.slope > 0 or two.slope < 0
            moves = abs(two.scale - one.scale) if once else two.scale + one.scale
            varies = cell.most * moves + cell.varies * arb.max(one.scale, two.scale)
            jump = abs(cell.first - before) * one.scale
            parts.append((below, cell.first * one.scale, jump, varies))
            grown = arb.max((power * one.log).exp(), (power * two.log).exp())
            below, before = below + 2 * cell.most * (one.fall - two.fall) * grown, cell.last
        above, found = before * marks[-1].scale, [(below, arb(0))]
        for under, start, jump, varies in reversed(parts):
            above += varies
            found.append((under, start + above))
            above += jump
        return sum((mass for mass, _ in self._atoms(power)), arb(0)), found[::-1]

    def _mark(self, loss: arb, power: arb) -> _Mark:
        log, fall, q = self._log(loss), (-loss / 2).exp(), ball(self.q)
        share = q * (loss - log).exp()
        scale = (power * log).exp() * fall / share
        return _Mark(log, fall, scale, (power + 1) * share - arb(1.5))

    # --- the rule ---------------------------------------------------------------------------------

    def exponentials(self, c: float, top: float, accuracy: float) -> tuple[Turns, arb]:
        """By the rule, or high up by those on arcs, which serve all heights (atoms, 7)."""
        power = self._power(arb(c))
        about = float(power.mid())
        # proposes: which rule; both enclose
        many = sum(x.many for x in self._planned(self._outlined, about, top, accuracy))
        # proposes: likewise
        if many <= sum(size for _, _, size in self._arcs_planned(about, accuracy)):
            return super().exponentials(c, top, accuracy)
        terms, error = [(acb(mass), acb(end)) for mass, end in self._atoms(power)], arb(0)
        for arc in self._arcs(power, accuracy):
            found, more = arc.turns()
            terms, error = terms + found, error + more
        if self.removes:
            return terms, error
        # the other way a line is the mirror image of one
        return [(weight.conjugate(), -z.conjugate()) for weight, z in terms], error

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """By the rule for the real axis, of pieces that are cut where the power is steep."""
        power = self._power(ball(c))
        return self._ruled(self._cut(float(power.mid()), accuracy), power, 0.0).total(power)

    def _arcs(self, power: arb, accuracy: float) -> list[Arc]:
        """Of ``z = log w``, piece by piece: the density of ``w^power`` under ``Q``."""
        law, q = spline(self.laws), ball(self.q)

        def density(piece: Piece) -> Callable[[acb], acb]:
            values = acb_poly(piece.density)

            def at(z: acb) -> acb:
                ratio = z.exp()
                above = ratio - 1 + q
                x = ((above / q).log() - piece.middle) / piece.half
                found: acb = values(x) * (power * z).exp() * ratio
                return found * (q / above).sqrt() / above

            return at

        ends = pairwise(self._log(x) for x in law.knots)
        plans = self._arcs_planned(float(power.mid()), accuracy)
        return [
            Arc(low, high, density(piece), log, fine)
            for (low, high), piece, (log, fine, _) in zip(ends, law.pieces, plans, strict=True)
        ]

    def _rule(self, power: arb, top: float, accuracy: float) -> Rule:
        """For every ``t`` of real part ``power`` and ``|Im t| <= top``."""
        plans = self._planned(self._outlined, float(power.mid()), top, accuracy)
        return self._ruled(list(zip(spline(self.laws).pieces, plans, strict=True)), power, top)

    def _cut(self, power: float, accuracy: float) -> list[tuple[Piece, _Nodes]]:
        """Pieces and rules for the real axis. Proposes: which pieces are cut into halves."""
        found, waiting = [], spline(self.laws).pieces
        for _ in range(_MOST_CUTS):
            plans = self._planned(_outlined(waiting), power, 0.0, accuracy)
            pairs = list(zip(waiting, plans, strict=True))
            found += [pair for pair in pairs if pair[1].many <= _FEW_NODES]
            long = (piece for piece, plan in pairs if plan.many > _FEW_NODES)
            waiting = [half for piece in long for half in piece.halves()]
            # proposes: when to stop, and what is too much work
            if not waiting:
                return found
            if len(waiting) * _FEW_NODES > _MAX_NODES:
                break
        raise TooExpensive("a power that is too steep for a rule")

    def _ruled(self, pieces: Sequence[tuple[Piece, _Nodes]], power: arb, top: float) -> Rule:
        """The rules of all pieces, for the heights up to ``top``."""
        # proposes: what is too much work
        if (many := sum(plan.many for _, plan in pieces)) > _MAX_NODES:
            raise TooExpensive(f"a rule of {many} nodes for sampled Laplace noise")
        weights, logs = map(list, zip(*self._atoms(arb(0)), strict=True))
        error = arb(0)
        for piece, (height, nodes) in pieces:
            for k in range(nodes):
                x, weight = arb.legendre_p_root(nodes, k, weight=True)
                loss = piece.middle + piece.half * x
                weights.append(piece.half * weight * piece.density(x) * (-loss / 2).exp())
                logs.append(self._log(loss))
            error += self._error(piece, power, arb(top), arb(height), nodes)
        if not error.is_finite():
            raise TooExpensive("no ellipse for sampled Laplace noise")
        return Rule(weights, logs, error.upper() * AROUND)

    def _error(self, piece: Piece, power: arb, top: arb, height: arb, nodes: int) -> arb:
        r"""``8 M rho^{-2n} / (1 - rho^-2)`` for ``|f| <= M`` on the ellipse of sum ``rho`` [12]."""
        if not (height > 0 and height < arb.pi() / 2):
            return arb.nan()
        minor = height / piece.half
        major = (1 + minor * minor).sqrt()
        inverse, far, q = major - minor, piece.half * major, ball(self.q)
        right, left = q * (piece.middle + far).exp(), q * (piece.middle - far).exp()
        most, least = 1 - q + right, 1 - q + left * height.cos()
        turn = arb.atan2(right * height.sin(), 1 - q + right * height.cos())
        growth = arb.max((power * most.log()).exp(), (power * least.log()).exp())
        terms = (abs(x) * major**k for k, x in enumerate(piece.density.coeffs()))
        bound = piece.half * ((far - piece.middle) / 2 + top * turn).exp() * growth
        return 8 * bound * sum(terms, arb(0)) * inverse ** (2 * nodes) / (1 - inverse * inverse)

    # --- proposals --------------------------------------------------------------------------------

    def _planned(self, pieces: _Outline, power: float, top: float, accuracy: float) -> list[_Nodes]:
        """Proposes: ellipses and numbers of nodes, by the same bound in floats."""
        fine = accuracy - self._about(power).value  # which first tells whether floats suffice
        middle, half, q = pieces.middle[:, None], pieces.half[:, None], approximate(self.q)
        heights = np.minimum(_SHAPES * half, _HIGHEST)
        major = np.hypot(1.0, heights / half)
        far = half * major
        grown, left = q * np.exp(middle + far), q * np.exp(middle - far)
        turn = np.arctan2(grown * np.sin(heights), 1 - q + grown * np.cos(heights))
        least = 1 - q + left * np.cos(heights)
        log = np.maximum(power * np.log(1 - q + grown), power * np.log(least)) + top * turn
        powers = np.log(major)[:, :, None] * np.arange(pieces.logs.shape[1])
        log += np.logaddexp.reduce(pieces.logs[:, None] + powers, axis=2)
        fall = 2 * np.arcsinh(heights / half)
        log += np.log(8 * half) + (far - middle) / 2 - np.log(-np.expm1(-fall))
        counts = np.ceil((fine + math.log(len(half)) + log) / fall)
        best = np.arange(len(counts)), np.argmin(counts, axis=1)
        fewest = np.clip(counts[best], 2.0, _MAX_NODES + 1.0).astype(int).tolist()
        return [_Nodes(*found) for found in zip(heights[best].tolist(), fewest, strict=True)]

    def _arcs_planned(self, power: float, accuracy: float) -> list[tuple[float, float, int]]:
        """Proposes: about ``log`` of the moment of each piece, how fine its arc, and terms."""
        (logs, losses), parts = self._points
        terms, low = logs + power * losses, self._about(power).value - accuracy
        # of a steep power points see little; what is less than the accuracy needs no more
        shares = [max(low, float(np.logaddexp.reduce(terms[part]))) for part in parts]
        with precision(_PLANNING_BITS):
            places = [float(self._log(x).mid()) for x in spline(self.laws).knots]
        found = []
        for share, (start, end) in zip(shares, pairwise(places), strict=True):
            own = max(_LEAST, share - low + math.log(len(shares)))
            found.append((share, own, arc_size(end - start, own)))
        return found

    @cached_property
    def _outlined(self) -> _Outline:
        """Of all pieces."""
        law = self._coarse()
        reach = max(abs(float(x.mid())) for x in law.knots)
        # proposes: whether floats reach to plan a rule; without one nothing is answered
        if not (0 < reach < _LARGEST and 1e-300 < approximate(self.q) < 1):
            raise TooExpensive("floats do not reach to plan sampled Laplace noise")
        return _outlined(law.pieces)

    @cached_property
    def _points(self) -> tuple[Floats, list[slice]]:
        """``log mass`` under ``Q`` and ``log w`` of rules in floats; those of each piece."""
        about, parts = self._outlined, []
        with precision(_PLANNING_BITS):
            found = [(_log_of(mass), float(log.mid())) for mass, log in self._atoms(arb(0))]
            shares = about.half / about.half.sum()
            for piece, half, share in zip(
                spline(self.laws).pieces, about.half, shares, strict=True
            ):
                nodes = _MORE_NODES + math.ceil(_PLANNING_NODES * share + _LONG_NODES * half)
                parts.append(slice(len(found), len(found) + nodes))
                for x, weight in zip(*np.polynomial.legendre.leggauss(nodes), strict=True):
                    loss = piece.middle + piece.half * arb(x)
                    mass = arb(weight) * piece.half * piece.density(arb(x)) * (-loss / 2).exp()
                    found.append((_log_of(mass), float(self._log(loss).mid())))
        return np.array(found).T, parts

    def _listed(self, power: float) -> Floats:
        return self._points[0]

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """The same bound.

        Proposes: how many nodes a contour takes.
        """
        power = self._power(c)
        most = self._about(power).value
        with precision(_PLANNING_BITS):
            cuts = self._cuts(arb(power))

        def estimate(u: float) -> float:
            """Proposes: likewise."""
            with precision(_PLANNING_BITS):
                return min(most, _log_of(_bounded(*cuts, arb(u))))

        return estimate

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """Nodes of rules of some height."""
        power = self._power(c)
        plans = self._planned(self._outlined, power, 0.0, accuracy)
        return 2 * sum(x.many for x in plans), math.log2(2 + abs(power))


def _bounded(atoms: arb, cuts: Sequence[Masses], u: arb) -> arb:
    """The least of the bounds by all cuts."""
    return atoms + reduce(arb.min, (below + above / u for below, above in cuts))


def _outlined(pieces: Sequence[Piece]) -> _Outline:
    """Proposes: about what they are."""
    logs = np.full((len(pieces), max(len(piece.density) for piece in pieces)), _NOTHING)
    for row, piece in zip(logs, pieces, strict=True):
        row[: len(piece.density)] = [_log_of(x) for x in piece.density.coeffs()]
    middle, half = np.array([[float(x.mid()) for x in piece[:2]] for piece in pieces]).T
    return _Outline(middle, half, logs)


def _log_of(value: arb) -> float:
    """About that of its modulus; of what may be nothing it is low. Proposes: likewise."""
    upper = value.abs_upper()
    return max(float(upper.log().mid()), _NOTHING) if upper > 0 else _NOTHING
