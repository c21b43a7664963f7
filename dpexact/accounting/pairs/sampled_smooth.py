r"""A Gaussian beside any noise with moments, on one Poisson sample.

The loss ``l`` of all that runs has, without the record, a density ``f`` that is entire: the others
only blur that of the Gaussian, of variance ``mu^2``. Values of it are sums of moments before
sampling, and with ``w(l) = 1 - q + q e^l`` the moments on the sample are values of

.. math:: F(t) = \int f(z)\,w(z)^t\,dz,

at ``t = 1 + s`` where the record is removed, and ``t = -s`` where it is added. On a line above the
axis one trapezoidal rule serves all heights. Letters in brackets refer to section 14 of
``docs/theory/contour.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from flint import acb, arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.on_sample import OnSample
from dpexact.accounting.pairs.pair import (
    Factors,
    Masses,
    Pair,
    TooExpensive,
    Turns,
    least_overlap,
    product,
)
from dpexact.accounting.pairs.sums.power_sums import line_product, line_sums
from dpexact.accounting.pairs.sums.smooth_rules import Grid, Outline, Values
from dpexact.arguments import Direction
from dpexact.balls import AROUND, approximate, ball
from dpexact.kept import cached_property
from dpexact.reals import Real

#: By how much a bound on what has decayed is finer, at most.
_FINEST: Final = 100.0
#: Accuracy of what only bounds, and by how much more the sums of a density are to have.
_COARSE: Final = 8.0
_LN2: Final = 0.6931


@dataclass(frozen=True)
class SampledSmooth(OnSample):
    """``inner``, one of them a Gaussian of ``mu``, on a sample of rate ``0 < q < 1``.

    All their losses are finite; ``removes`` the record, or adds it.
    """

    inner: Factors
    mu: Real
    q: Real
    removes: bool

    #: As the Gaussian does.
    decays = True
    #: Neither those nor outcomes.
    has_tails = False

    @property
    def reverse(self) -> SampledSmooth:
        return replace(self, removes=not self.removes)

    def overlap(self) -> arb:
        """``1 - q`` and ``q`` times that of the noise: the laws differ by ``q`` times as much."""
        return 1 - ball(self.q) * (1 - least_overlap(self.inner))

    def largest_loss(self) -> arb | None:
        """Unbounded, or ``-log(1 - q)``."""
        return None if self.removes else -self._least

    @property
    def _least(self) -> arb:
        """``log(1 - q)``."""
        return (-ball(self.q)).log1p()

    @cached_property
    def _faced(self) -> Factors:
        """The reverse of what runs, whose moments are those of negative powers."""
        return tuple((pair.reverse, n) for pair, n in self.inner)

    # --- the density ------------------------------------------------------------------------------

    def _facing(self, power: float) -> tuple[arb, Factors, float]:
        """``b``, and what has ``E_Q[e^{bl}]`` for its moment, of which order: about that power.

        Proposes: a power; the order, a float, means its exact value, and ``b`` is what it says.
        """
        if power > 0:
            return arb(power - 1) + 1, self.inner, power - 1
        return arb(power), self._faced, -power

    def _ceiling(self, power: float) -> Masses:
        r"""``b``, and :math:`E_Q[e^{bl}]/(\mu\sqrt{2\pi})`: so many ``e^{-bx}`` bound ``f`` [a]."""
        exact, faced, order = self._facing(power)
        moment = product(faced, lambda pair: pair.moment(order, _COARSE))
        return exact, moment / (ball(self.mu) * (2 * arb.pi()).sqrt())

    def _lift(self, height: arb) -> arb:
        """``e^{y^2/(2 mu^2)}``: ``|f|`` is at most so many times as large up there [a]."""
        ratio = height / ball(self.mu)
        return (ratio * ratio / 2).exp()

    def _density(self, part: Values, spacing: arb, height: arb, accuracy: float) -> list[acb]:
        """``f`` at the nodes of a part, by moments on a line [b]."""
        # proposes: the nodes, here and below; `_outside` bounds all others
        if part.last < part.first:
            return []
        step, (power, faced, order) = arb(part.step), self._facing(part.power)
        # proposes: how many moments; those beyond are bounded
        line = line_product(
            [value**n for value in pair.moments(order, part.step, part.many, accuracy)]
            for pair, n in faced
        )
        # proposes: how they are computed; of the reverse they are those of minus the loss
        if faced is self._faced:
            line = [x.conjugate() for x in line]
        scale, whole = step / (2 * arb.pi()), line[0].real
        start, weights, turns = acb(part.first * spacing, height), [line[0]], [acb(1)]
        # proposes: likewise
        for n in range(1, part.many + 1):
            angle = acb(0, n * step)
            weights += [
                line[n] / (angle * start).exp(),
                line[n].conjugate() * (angle * start).exp(),
            ]
            turns += [(-angle * spacing).exp(), (angle * spacing).exp()]
        # proposes: likewise
        sums = line_sums(weights, turns, part.last - part.first)
        square, beyond, period = ball(self.mu) ** 2, (part.many + 1) * step, 2 * arb.pi() / step
        fall = square * beyond - height
        (right, above), (left, below) = self._ceiling(part.right), self._ceiling(part.left)
        # proposes: where sums end, and orders; balls decide whether moments fall, and aliases
        if not (fall > 0 and right > power and left < power):
            raise TooExpensive("a density that is cut inside its bulk")
        cut = 2 * scale * whole * (height * beyond - square * beyond * beyond / 2).exp()
        cut /= -(-fall * step).expm1()
        lift = self._lift(height)
        above *= lift / ((right - power) * period).expm1()
        below *= lift / ((power - left) * period).expm1()
        found = []
        # proposes: likewise
        for j, total in zip(range(part.first, part.last + 1), sums, strict=True):
            x = j * spacing
            error = (
                cut * (-power * x).exp() + above * (-right * x).exp() + below * (-left * x).exp()
            )
            around = error.upper() * AROUND
            value = scale * (-power * acb(x, height)).exp() * total
            found.append(value + acb(around, around))
        return found

    def _nodes(self, grid: Grid, height: arb, accuracy: float) -> list[tuple[arb, acb]]:
        """All of them on the axis, and ``f`` so far above them."""
        spacing, fine = arb(grid.spacing), accuracy + grid.lost * _LN2
        found: list[tuple[arb, acb]] = []
        for part in grid.parts:
            values = self._density(part, spacing, height, fine)
            # proposes: the nodes; `_outside` bounds all others
            places = (j * spacing for j in range(part.first, part.last + 1))
            found += zip(places, values, strict=True)
        return found

    # --- the rule ---------------------------------------------------------------------------------

    def _logs(self, places: Iterable[acb]) -> list[acb]:
        """``log w``, whose imaginary part is that of ``w`` where ``0 <= Im z < pi``."""
        q = ball(self.q)
        return [(q * z.expm1()).log1p() for z in places]

    def _outside(self, power: arb, grid: Grid) -> arb:
        """At least the sum of ``f w^power`` over the nodes on the axis that are left out [d]."""
        spacing, (one, other) = arb(grid.spacing), grid.parts
        first, last = one.first * spacing, other.last * spacing
        above, below = self._ceiling(grid.right), self._ceiling(grid.left)
        grows = arb.max(power, arb(0))
        # proposes: orders; balls decide whether both tails fall, and the sign of the power
        if not (above[0] > grows and below[0] < 0 and (power > 0 or power <= 0)):
            raise TooExpensive("a sample that is cut inside its bulk")

        def most(ceiling: Masses, x: arb) -> arb:
            # of balls; where the power is negative ``w^power`` is at most that
            (log,) = self._logs([acb(x)]) if power > 0 else [acb(self._least)]
            return ceiling[1] * (power * log.real - ceiling[0] * x).exp()

        found = most(above, last) / ((above[0] - grows) * spacing).expm1()
        found += most(below, first) / (-below[0] * spacing).expm1()
        count = other.first - one.last - 1
        # proposes: the nodes; of those between both parts the ends bound all, as it is convex
        if count > 0:
            between = self._ceiling(grid.middle)
            ends = ((one.last + 1) * spacing, (other.first - 1) * spacing)
            found += count * arb.max(*(most(between, x) for x in ends))
        return spacing * found.upper()

    def _growth(self, power: arb, height: arb) -> Masses:
        """Of the integral of ``|f w^t|`` up there: so many times ``F(power)``, or all of it [c]."""
        lift = self._lift(height)
        # of balls
        if power >= 0:
            return lift, arb("inf")
        return lift * (power * (height / 2).cos().log()).exp(), lift * (power * self._least).exp()

    def _line(self, c: float | Real, accuracy: float) -> tuple[Turns, arb, arb]:
        """Weights, ``log w``, an error for all heights, and ``F`` at height 0."""
        power = self._power(ball(c))
        grid = self._outline.planned(self._power(approximate(c)), accuracy)
        height, top, spacing = arb(grid.height), arb(grid.top), arb(grid.spacing)
        # proposes: the strip, whose floats mean their exact values
        if not (0 < grid.height < grid.top and top < arb.pi() / 2):
            raise ValueError("no strip")
        terms, total = [], arb(0)
        nodes = self._nodes(grid, height, accuracy)
        logs = self._logs(acb(x, height) for x, _ in nodes)
        for (_, value), log in zip(nodes, logs, strict=True):
            terms.append((spacing * value * (power * log).exp(), log))
            total += terms[-1][0].real
        rate = 2 * arb.pi() / spacing
        turned, most = self._growth(power, top)
        below, above = 1 / (rate * height).expm1(), 1 / (rate * (top - height)).expm1()
        outside = self._lift(height) * self._outside(power, grid)
        # of two bounds, in terms of F(power) and without it
        error = arb.min(
            _closed(total, below + turned * above, outside),
            _closed(total, below, outside + most * above),
        )
        if not error.is_finite():
            raise TooExpensive("a rule for a sample is too coarse")
        error *= AROUND
        return terms, error, total + error

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """The same rule, at height 0."""
        return self._line(c, accuracy)[2]

    def exponentials(self, c: float, top: float, accuracy: float) -> tuple[Turns, arb]:
        """One rule for all heights."""
        terms, error, _ = self._line(c, accuracy)
        if self.removes:
            return terms, error
        # the other way a line is the mirror image of one
        return [(weight.conjugate(), -log.conjugate()) for weight, log in terms], error

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """The integral of the modulus on a line above the axis, with the bound on ``f`` [e]."""
        power, moment = self._power(arb(c)), self.moment(c, accuracy).upper()
        # proposes: a line, and how fine a rule is; floats mean their exact values
        log_bound, raised = self._outline.decay(self._power(c))(u)
        accuracy += min(max(0.0, float(moment.log().mid()) - log_bound), _FINEST)
        grid = self._outline.planned(self._power(c), accuracy, raised)
        height, edge, spacing = arb(raised), arb(grid.top), arb(grid.spacing)
        # proposes: likewise
        if not (raised > 0 and grid.top > 0 and height + edge < arb.pi() / 2):
            raise ValueError("no strip")
        total = arb(0)
        nodes = self._nodes(grid, arb(0), accuracy)
        logs = self._logs(acb(x, height) for x, _ in nodes)
        for (_, value), log in zip(nodes, logs, strict=True):
            total += spacing * value.real * (power * log.real - arb(u) * log.imag).exp()
        turned, most = self._growth(power, height + edge)
        strip = arb.min(turned * moment, most) * self._lift(edge) / self._lift(height + edge)
        strip *= 2 / (2 * arb.pi() * edge / spacing).expm1()
        found = self._lift(height) * (total + self._outside(power, grid) + strip)
        return arb.min(found.upper(), moment)

    # --- proposals --------------------------------------------------------------------------------

    @cached_property
    def _outline(self) -> Outline:
        return Outline(self.inner, self._faced, approximate(self.mu), approximate(self.q))

    def _listed(self, power: float) -> Floats:
        return self._outline.listed(power)

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        decay, most = self._outline.decay(self._power(c)), self.cumulant(c).value
        return lambda u: min(most, decay(u)[0])

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """Nodes of the rule, and bits that its sums lose."""
        grid = self._outline.planned(self._power(c), accuracy)
        return grid.nodes, grid.lost + 8.0


def smooth(
    inner: Factors, noise: Real, direction: Direction
) -> tuple[Callable[[Real], Pair], list[tuple[Pair, int]]]:
    """For any rate the pair of all but those that may reveal everything; and these, for a coin."""
    shown = [
        (pair, n)
        for pair, n in inner
        if any(way.revealed().fraction != 0 for way in (pair, pair.reverse))
    ]
    hidden = tuple(x for x in inner if x not in shown)
    if len(hidden) > 1:
        return partial(SampledSmooth, hidden, 1 / noise, removes=direction == "remove"), shown
    return alone(noise, direction), shown


def alone(noise: Real, direction: Direction) -> Callable[[Real], Pair]:
    """For any rate the pair of a Gaussian and nothing else."""
    return partial(remove if direction == "remove" else add, noise)


def _closed(total: arb, share: arb, rest: arb) -> arb:
    """What ``F`` and ``total`` differ by at most: a share below 1 of ``F``, and a rest."""
    # proposes: whether there is a bound; none is above all that is asked
    if not share < 1:
        return arb("inf")
    return (share * ((total + rest) / (1 - share)).max(arb(0)) + rest).upper()
