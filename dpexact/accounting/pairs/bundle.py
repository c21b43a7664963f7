"""Many sampled Gaussians as one pair: in boxes, few nodes stand for many steps.

The logarithm of a moment is analytic in rate and noise, so its sum over the steps in a box is a
weighted sum over a few nodes: ``docs/theory/logs.md``. At every order, and on every line, the steps
are cut into boxes anew, and where boxes do not pay are asked themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from flint import acb, acb_mat, arb, arb_mat

from dpexact.accounting.pairs.clouds.angles import Angles
from dpexact.accounting.pairs.clouds.boxed import Boxed, Piece
from dpexact.accounting.pairs.clouds.boxes import HEAVY, STEP, Asked, Box
from dpexact.accounting.pairs.clouds.cell_moments import CellMoments, CellSums
from dpexact.accounting.pairs.clouds.cells import Place
from dpexact.accounting.pairs.clouds.cubature import Cloud, Degrees
from dpexact.accounting.pairs.clouds.line_rule import Step, line_rows, logarithms, principal, still
from dpexact.accounting.pairs.clouds.log_bounds import Modulus, Power
from dpexact.accounting.pairs.clouds.modulus_rule import moduli
from dpexact.accounting.pairs.mixture import GaussianMixtures, add, remove
from dpexact.accounting.pairs.pair import Jet, Pair, TooExpensive
from dpexact.balls import ball, precision
from dpexact.reals import Real

#: Beginnings of a log that run no more often are products of their steps.
FEWEST_RUNS: Final = 20
#: How much more work than others a bundle is worth: a minute or two, as less digits take as long.
BUNDLE: Final = 16
_PARTS: Final = (0.2, 0.35, 0.5, 0.62, 0.75, 0.87, 1 + 2**-40)
#: Of these parts boxes are chosen by.
_LOOKED_AT: Final = (0, 3, 6)
#: What a step costs on a line, next to what it usually does, where a node costs as much; what the
#: weights for an end cost next to a node of a box at one of a line; and how many of these all cost.
_ON_LINE: Final = 0.12
_END: Final = 6.0
_ANY: Final = 100
#: Accuracy of bounds of decay.
_COARSE: Final = 5.0
#: Bits of a moment beyond those that its accuracy takes.
_SPARE_BITS: Final = 36
#: What a step costs by itself at one order, next to what it usually does; most nodes there, and
#: share of the steps: at less orders it takes less.
_AT_ORDER: Final = 0.5
_MOST_WORK, _MOST_SHARE = 10_000, 1.0
#: Bits of powers, and by how much more moduli of steps are known at most where these fall far.
_EXACT: Final = 256
_DEEPEST: Final = 60.0
#: How wide cells are of steps that are alike to proposals: see there.
CELL: Final = (0.1, 0.03, 0.25)
#: About how many nodes a line of a bundle has where it is about so accurate.
_NODES, _USUAL = 2000, 30.0


class Bundle(Boxed, Pair):
    """The product of the steps ``(q, sigma)`` of a cloud: a record removed, or added."""

    def __init__(self, cloud: Cloud, *, removes: bool, whole: Box | None = None) -> None:
        super().__init__(cloud, whole)
        self.removes = removes
        self._pairs: dict[Place, GaussianMixtures] = {}
        #: Proposes: of the places of cells, and of their corners.
        self._moments: list[CellMoments] = []
        self._reverse: list[Bundle] = []

    @property
    def reverse(self) -> Bundle:
        if not self._reverse:
            self._reverse.append(Bundle(self.cloud, removes=not self.removes, whole=self._whole))
        return self._reverse[0].first(self._place)

    @property
    def decays(self) -> bool:
        """Whether there is any loss: every rate is positive."""
        return True

    def overlap(self) -> arb:
        """At least ``prod (1 - q)^e``, ``e = erf(1/(2 sqrt(2) sigma))`` of the least noise [5]."""
        logs, *_, least = self.cloud.lengths()
        return (logs * (1 / (arb(8).sqrt() * least)).erf()).exp()

    def largest_loss(self) -> arb | None:
        """``-sum log(1 - q)`` where a record is added."""
        return None if self.removes else -self.cloud.lengths()[0]

    # --- boxes ------------------------------------------------------------------------------------

    def _pair(self, place: Place) -> GaussianMixtures:
        if place not in self._pairs:
            q, sigma = place
            self._pairs[place] = remove(sigma, q) if self.removes else add(sigma, q)
        return self._pairs[place]

    def _power(self, c: float | Real) -> arb:
        """The real part of the exponent of ``A`` [2]."""
        return 1 + ball(c) if self.removes else -ball(c)

    def _alone(
        self,
        parts: Sequence[Piece],
        c: float | Real,
        u: float,
        angle: float,
        accuracy: float,
        ask: Callable[[Place], arb],
        *key: str,
    ) -> arb:
        """The logarithm of what moduli of all steps in some boxes, each by itself, multiply to."""
        points = [point for _, cloud in parts for point in cloud.points]
        known: dict[Place, arb] = self._keep(dict, "moduli", c, u, angle, accuracy, *key)
        # proposes: what is looked up; whatever is held is right for its key
        if missing := [(q, s) for q, s, _ in points if (q, s) not in known]:
            with precision(_EXACT):
                power = self._power(c)
            found = moduli(missing, power, u, angle, accuracy, ask)
            # proposes: which end; of what falls far the upper one is known, and bounds it
            known |= zip(missing, ((x.upper() if u > 0 else x).log() for x in found), strict=True)
        return sum((n * known[q, s] for q, s, n in points), arb(0))

    # --- moments ----------------------------------------------------------------------------------

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """Moments of the nodes to the powers of their weights.

        With few bits for few digits: sums over a log take the square of their number.
        """
        with self._narrow(accuracy, _SPARE_BITS):
            return self._moment(c, accuracy)

    def _moment(self, c: float | Real, accuracy: float) -> arb:
        power, fine = self._power(c), self._fine(accuracy)
        asked = [(Power(power, 0.0), accuracy)]

        def ask(place: Place) -> arb:
            return self._pair(place).moment(c, fine)

        def together(cloud: Cloud, degrees: Degrees) -> list[list[arb]]:
            found = moduli(cloud.nodes(degrees), power, 0.0, 0.0, fine, ask)
            return [[value.log()] for value in found]

        key = "moment", c, accuracy
        parts, work = self._cut(lambda _: asked, lambda: [self._whole], *key, step=_AT_ORDER)
        alone, others = self._sorted(parts, lambda _: asked, *key)
        work += sum(STEP * _AT_ORDER * part.box.distinct for part, _ in alone if not part.alone)
        # proposes: orders, since others are valid too
        if work > _MOST_WORK + _MOST_SHARE * self._whole.distinct:
            raise TooExpensive("steps that differ too much for a bundle")
        total = self._alone(alone, c, 0.0, 0.0, fine, ask, "moment")
        total += sum((self._sum(part, asked, together, *key) for part in others), arb(0))
        return total.exp()

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """Likewise; the error is bounded on parts of the line, the lower ones more narrowly."""
        # proposes: where parts end
        heights, key = [step * count * x for x in _PARTS], ("line", c, step, count, accuracy)

        def lines() -> tuple[acb_mat, arb_mat]:
            estimate, start = self.decay_estimate(c), self.cumulant(c).value
            falls = [0.0, *(max(0.0, start - estimate(height)) for height in heights[:-1])]
            each = zip(heights, falls, strict=True)
            # proposes: how accurate a part need be, since what is there has decayed
            asked = [(Power(self._power(c), at), max(1.0, accuracy - fall)) for at, fall in each]
            return self.first(self.cloud.last.place)._lines(asked, *key)

        totals, errors = self._keep(lines, "lines", *key)
        row, values, place = self._place, [], 0
        for n in range(count + 1):
            # proposes: floats that mean their exact values
            while not n * arb(step) <= arb(heights[place]):
                place += 1
            # proposes: the part; its height was compared by balls
            off = arb(0, errors[row, place].upper())
            values.append((totals[row, n] + acb(off, off)).exp())
        return values

    def _lines(self, asked: Asked, *key: Any) -> tuple[acb_mat, arb_mat]:
        """The logarithms of moments on a line, and errors, of all beginnings up to this one."""
        _, c, step, count, accuracy = key
        many, fine, power = self._place + 1, self._fine(accuracy), self._power(c)
        # of a record added the imaginary part of the power is negative
        turned = acb if self.removes else acb.conjugate

        def ask(place: Place) -> list[acb]:
            return [turned(x) for x in self._pair(place).moments(c, step, count, fine)]

        rows = partial(line_rows, power=power, step=step, count=count, accuracy=fine, ask=ask)

        def together(cloud: Cloud, degrees: Degrees) -> list[list[acb]]:
            pairs = cloud.nodes(degrees)
            found: list[list[acb]] = [[]] * len(pairs)
            for group, lines in rows(pairs):
                for k, row in zip(group, lines.rows(), strict=True):
                    # of the moment, which is near 1, the principal branch
                    found[k] = principal(row, still(pairs[k]), power, step)
            return found

        totals, errors = acb_mat(many, count + 1), arb_mat(many, len(asked))
        least, other = [asked[i] for i in _LOOKED_AT], 1 / (1 + _END * many / (count + _ANY))
        costs = {"step": _ON_LINE * other, "other": other}
        parts, _ = self._cut(lambda _: least, lambda: [self._whole], *key, **costs)
        asked = [(function, each + math.log(len(parts))) for function, each in asked]
        alone, others = self._sorted(parts, lambda _: asked, *key)
        steps: list[Step] = [step for _, cloud in alone for step in cloud.placed()]
        for part, cloud in others:
            firsts = [cloud.first(i) for i in range(many)]
            found, more = self._sums(part, firsts, asked, together, *key)
            totals, errors = totals + found, errors + more
        single = logarithms(rows([place for place, _, _ in steps]), steps, many, power, step)
        for i, row in enumerate(single):
            for n, value in enumerate(row):
                totals[i, n] += value
        return (totals if self.removes else totals.conjugate()), errors

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """The integrals of the moduli at the nodes of a box, at one angle above the axis [4]."""
        with self._narrow(_COARSE, _SPARE_BITS):
            return self._decayed(c, u)

    def _decayed(self, c: float, u: float) -> arb:
        power = self._power(c)
        angles = self._keep(lambda: Angles(self._cells, c, u), "angles", c, u)

        def ask(box: Box) -> Asked:
            return [(Modulus(power, u, arb(angles.of(box))), _COARSE)]

        def bound(place: Place) -> arb:
            return self._pair(place).decayed(c, u, self._fine(_COARSE))

        wholes = partial(angles.alike, self._whole)
        cut, _ = self._cut(ask, wholes, "decayed", c, u, step=_AT_ORDER)
        alone, others = self._sorted(cut, ask, "decayed", c, u)
        total = sum((self._decay(part, ask(part[0].box), c, u) for part in others), arb(0))
        sorts: dict[int, list[Piece]] = {}
        for part in alone:
            sorts.setdefault(angles.sort(part[0].box), []).append(part)
        for parts in sorts.values():
            boxes = [part.box for part, _ in parts]
            fine = self._fine(_COARSE) + min(angles.most(boxes), _DEEPEST)
            # proposes: an angle of one for all, as any is right
            total += self._alone(parts, c, u, angles.of(boxes[0]), fine, bound, "decayed")
        return total.exp().upper()

    def _decay(self, part: Piece, asked: Asked, c: float, u: float) -> arb:
        """The logarithm of a bound on what the steps in a box leave, by its nodes."""
        [(function, _)] = asked
        assert isinstance(function, Modulus)
        half, slope = function.angle * function.angle / 2, function.slope

        def together(cloud: Cloud, degrees: Degrees) -> list[list[arb]]:
            pairs, fine = cloud.nodes(degrees), self._fine(_COARSE)
            values = moduli(pairs, function.power, u, float(function.angle), fine, _refused)
            firsts = (ball(sigma) ** 2 * half + ball(q) * slope for q, sigma in pairs)
            return [[x.log() - first] for x, first in zip(values, firsts, strict=True)]

        found = self._sum(part, asked, together, "decayed", c, u)
        _, rates, squares, _ = part[1].lengths()
        return found + squares * half + rates * slope

    # --- proposals --------------------------------------------------------------------------------

    @property
    def _cells(self) -> CellSums:
        """Proposes: those of steps in cells, as many as there are."""
        places, counts = self.cloud.in_cells(CELL)
        if not self._moments:
            self._moments += (
                CellMoments([place[which] for place in places], removes=self.removes)
                for which in (0, 1)
            )
        return CellSums(self._moments[0], self._moments[1], counts)

    def cumulant(self, c: float) -> Jet:
        return self.cumulants([c])[0]

    def cumulants(self, orders: Sequence[float]) -> list[Jet]:
        return self._cells.cumulants(orders)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        return self._cells.decay_estimate(c)

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """Of some hundred nodes of the cloud."""
        fine = self._fine(accuracy)
        places, counts = self.cloud.in_cells(CELL)
        # proposes: those that have begun
        each = [place for (place, _), n in zip(places, counts.tolist(), strict=True) if n]
        costs = [self._pair(place).line_cost(c, fine) for place in each]
        nodes, bits = (max(cost) for cost in zip(*costs, strict=True))
        many = min(_NODES * (accuracy / _USUAL) ** 2, len(self.cloud.points))
        return math.ceil(many * nodes), bits + math.log2(HEAVY * self.cloud.total)


def _refused(_: Place) -> arb:
    raise TooExpensive("a rule of too many places")
