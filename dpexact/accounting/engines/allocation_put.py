r"""One random allocation, by the Laplace transform of its likelihood ratio.

Under ``Q`` the ratio ``S`` is the mean of ``t`` independent ``Y = exp(aX - a^2/2)``. With
``put(K) = E (K - S)_+``, ``phi(z) = E exp(-zY)``, ``psi(s) = E exp(-sS) = phi(s/t)^t``,

.. math:: \delta_{remove}(\varepsilon) = 1 - e^\varepsilon + put(e^\varepsilon), \qquad
          \delta_{add}(\varepsilon) = e^\varepsilon\,put(e^{-\varepsilon}),

and for ``c > 0``, ``h = 2 pi / x``, ``s_n = c + inh``, by Poisson summation

.. math:: \frac{h}{2\pi} \sum_n \frac{e^{s_n K} \psi(s_n)}{s_n^2}
          = \sum_{m} e^{-cxm}\,put(K + mx) .

The number of nodes does not grow with ``t``. Proofs: ``docs/theory/allocation.md``, section 5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np
from flint import acb, acb_mat, arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse
from dpexact.accounting.inverted import BallProfile
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.sums.allocation_sums import inner_tails, raised, strip_aliases
from dpexact.accounting.pairs.sums.power_sums import Rows
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.balls import UNIT, approximate, ball, current, precision
from dpexact.enclosure import Enclosure
from dpexact.kept import cached_property
from dpexact.reals import Real, rational, square_root

#: Most products of one evaluation, for a thousand steps; the engine that is asked next is fast for
#: fewer and slow for more, where ten times as many are allowed.
WORK: Final = 600_000
_MANY_STEPS: Final = 1_000
_MORE_WORK: Final = 10
#: The inner rule is on ``Im x = -A``; the widest one.
_WIDEST: Final = 4.0
_SPARE_BITS: Final = 40
_LOST_BITS: Final = 10
#: Noises for which floats find their way.
_RANGE: Final = (0.05, 1e4)
#: By how much, as a logarithm, an integrand may exceed that at the saddle.
_MOST_MORE: Final = 400.0
_SHIFTS: Final = np.linspace(0.0, 1.0, 60)
#: Where floats integrate; far to the left is what is left of a transform that is nearly 0.
_LEFT: Final = -30.0
_RIGHT: Final = 9.5
_HALF: Final = 0.5
#: A line serves levels that are off by this share of their distance from 1.
_NEAR_BY: Final = 1 / 32
_ONE: Final = Fraction(1)


class Inner(NamedTuple):
    """Nodes ``j spacing - i lift`` for ``|j| <= half``."""

    lift: float
    spacing: float
    half: int


class Plan(NamedTuple):
    """The outer rule: nodes ``c + i n 2 pi / period``, ``n <= last``.

    ``beyond > c`` bounds the aliases from below, and ``shift`` of the normal variable the tail.
    """

    c: float
    period: float
    last: int
    beyond: float
    shift: float
    inner: Inner
    bits: int


class Line(NamedTuple):
    """At ``bits`` bits: ``psi(s_n)/s_n^2``, the first one halved, and bounds on ``psi``.

    ``after`` holds from the first node left out on, ``beyond`` is ``psi(plan.beyond)``.
    """

    plan: Plan
    bits: int
    summands: Rows
    at_c: arb
    after: arb
    beyond: arb


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def inner_error(lift: arb, spacing: arb, reach: arb) -> arb:
    """Of ``phi(z)``, ``0 <= arg z <= pi/2``: aliases in the strip, and the nodes left out [9]."""
    return strip_aliases(lift, lift, spacing) + inner_tails(lift, spacing, reach)


def aliases_above(level: arb, c: arb, period: arb) -> arb:
    """``sum_{m>0} e^{-cxm} put(K + mx)``, as ``k - 1 <= put(k) <= k`` [10]."""
    ratio = (-c * period).exp()
    once = ratio / (1 - ratio)
    least = (level - 1) * once + period * once / (1 - ratio)
    return least.union(least + once)


def aliases_below(level: arb, c: arb, period: arb, beyond: arb, psi: arb) -> arb:
    """``sum_{m>0} e^{cxm} put(K - mx)``, by ``put(k) <= e^{bk} psi(b) / (e b)`` [10]."""
    if period >= level:
        return arb(0)
    # proposes: the order; one that is not above the line bounds nothing
    if not beyond > c:
        return arb.nan()
    most = (beyond * level - 1).exp() * psi / beyond / ((beyond - c) * period).expm1()
    return arb(0).union(most.upper())


def outer_tail(level: arb, c: arb, height: arb, count: int, psi: arb) -> arb:
    """The nodes beyond ``count``, if ``|psi| <= psi`` from ``height`` on [11]."""
    return (c * level).exp() * psi / (arb.pi() * height * count)


def steepest(level: arb, c: arb, psi: arb) -> arb:
    """The slope of ``put`` up to ``level``, ``P(S <= K) <= min(1, e^{cK} psi(c))``."""
    return arb.min(arb(1), ((c * level).exp() * psi).upper())


class AllocationPut(BallProfile):
    """``allocation(gaussian(sigma), t)`` in one direction."""

    method = "Laplace transform of the likelihood ratio"
    largest = None

    def __init__(self, sigma: Real, t: int, *, add: bool) -> None:
        self.sigma, self.t, self.add = sigma, t, add
        self.infinite = InfiniteLoss()
        self.lost_bits = _LOST_BITS
        #: The last line, for which level and accuracy.
        self._kept: tuple[float, float, Line] | None = None

    def lost_at(self, delta: Real) -> int:
        """Of a record removed, what is as small as delta is a difference."""
        small = 0.0 if self.add else -float(ball(delta).log().mid()) / math.log(2)
        return self.lost_bits + max(0, math.ceil(small))

    def delta(self, epsilon: Real, digits: int) -> Enclosure:
        """Where no plan is short enough, between what is known from both sides."""
        try:
            return super().delta(epsilon, digits)
        except TooExpensive as error:
            return self._between(lambda around: around.delta(epsilon, digits)).short(str(error))

    def _epsilon(self, delta: Real, digits: int) -> Enclosure:
        found = super()._epsilon(delta, digits)
        # proposes: whether to look further
        if found.digits >= digits:
            return found
        between = self._between(lambda around: around.epsilon(delta, digits))
        return found.meet(between).short(found.reason or between.reason)

    def _between(self, ask: Callable[[Profile], Enclosure]) -> Enclosure:
        """The sum of all outputs from below; from above one step, as divergences are convex."""
        mu = 1 / self.sigma
        low, high = (
            GaussianMixedWithResponse(level, self.infinite)
            for level in (mu / square_root(rational(self.t)), mu)
        )
        return ask(low).between(ask(high), self.method)

    def _bracket(self, delta: Real, digits: int) -> Enclosure | None:
        """None where a step leads to a point without a plan that is short enough."""
        try:
            return super()._bracket(delta, digits)
        except TooExpensive:
            return None

    def finite_ball(self, epsilon: arb) -> arb:
        """By the value at ``e^epsilon``, or at ``e^-epsilon``."""
        put = self._put((-epsilon if self.add else epsilon).exp())
        found = epsilon.exp() * put if self.add else put - epsilon.expm1()
        return found.intersection(UNIT) if found.is_finite() else found

    def _put(self, level: arb) -> arb:
        line = self._line_near(float(level.mid()), current() * math.log(2))
        plan, radius = line.plan, level.rad()
        with precision(line.bits):
            c, period = arb(plan.c), arb(plan.period)
            # the integrand exceeds the result by far, and so does what it makes of a radius
            off = radius * steepest((level + radius).upper(), c, line.at_c)
            level = level.mid()
            height = 2 * arb.pi() / period
            ((turned,),) = line.summands.at([acb(0, height * level).exp()])
            total = turned.real * (c * level).exp() * height / arb.pi()
            tail = outer_tail(level, c, height, plan.last, line.after).upper()
            below = arb(0)
            # proposes: nothing; an alias from below is left out only if it is 0
            if not period >= level:
                below = aliases_below(level, c, period, arb(plan.beyond), line.beyond)
            errors = arb(0, tail) + arb(0, off.upper())
            return total + errors - aliases_above(level, c, period) - below

    def _line_near(self, level: float, accuracy: float) -> Line:
        """Proposes: a plan; a line serves every level, and levels near by as well as its own."""
        kept = self._kept
        if kept and kept[1] == accuracy and abs(level - kept[0]) <= _NEAR_BY * abs(kept[0] - 1):
            return kept[2]
        plan = self._plan(level, accuracy)
        bits = current() + plan.bits + _SPARE_BITS + self.t.bit_length()
        with precision(bits):
            line = Transform(1 / ball(self.sigma), self.t, plan.inner).laid(plan, bits)
        self._kept = level, accuracy, line
        return line

    # --- proposals --------------------------------------------------------------------------------

    @cached_property
    def _picture(self) -> Picture:
        """Proposes: plans."""
        sigma = approximate(self.sigma)
        if not _RANGE[0] < sigma < _RANGE[1]:
            raise TooExpensive("noise out of the range of this method")
        return Picture(1 / sigma, self.t)

    def _plan(self, level: float, accuracy: float) -> Plan:
        """Proposes: a plan; the error terms bound what any plan leaves out."""
        with np.errstate(all="ignore"):
            return self._picture.plan(level, accuracy)

    def near(self, delta: Real) -> Fraction:
        """Proposes: a normal approximation's scale."""
        try:
            return Fraction(min(max(4 * self._picture.spread, 1e-9), 1.0))
        except TooExpensive:
            return _ONE


class Transform:
    """``psi``, by one inner rule, at the current precision."""

    def __init__(self, a: arb, t: int, inner: Inner) -> None:
        lift, spacing = arb(inner.lift), arb(inner.spacing)
        # proposes: the strip; a ball decides whether its bound holds
        if not 2 * a * lift <= arb.pi() / 2:
            raise TooExpensive("the strip of an inner rule is too wide")
        self.a, self.t = a, t
        scale = spacing / (2 * arb.pi()).sqrt()
        self.masses, self.shares = [], []
        # proposes: how many nodes; what they miss is in the error
        for j in range(-inner.half, inner.half + 1):
            x = acb(j * spacing, -lift)
            self.masses.append(scale * (-x * x / 2).exp())
            self.shares.append(-(a * x - a * a / 2).exp())
        reach = inner.half * spacing
        self.error = inner_error(lift, spacing, reach).upper()

    def psi(self, s: acb) -> acb:
        """``E e^{-sS}`` for ``Re s > 0`` and ``Im s >= 0``."""
        z = s / self.t
        total = acb(0)
        for mass, share in zip(self.masses, self.shares, strict=True):
            total += mass * (z * share).exp()
        return self._power(total)

    def line(self, c: arb, height: arb, last: int) -> list[acb]:
        """``psi(c + i n height)``, ``n = 0 .. last``: all sums as one product of matrices."""
        stride = math.isqrt(last) + 1
        low, high = [], []
        for n in range(stride):
            s = acb(c, n * height) / self.t
            low.append([m * (s * y).exp() for m, y in zip(self.masses, self.shares, strict=True)])
        for n in range(0, last + 1, stride):
            s = acb(0, n * height) / self.t
            high.append([(s * y).exp() for y in self.shares])
        sums = acb_mat(high) * acb_mat(low).transpose()
        return [self._power(sums[divmod(n, stride)]) for n in range(last + 1)]

    def _power(self, total: acb) -> acb:
        error = arb(0, self.error)
        return raised(total + acb(error, error), self.t)

    def laid(self, plan: Plan, bits: int) -> Line:
        """All that a plan asks for."""
        c, height = arb(plan.c), 2 * arb.pi() / arb(plan.period)
        summands = []
        for n, psi in enumerate(self.line(c, height, plan.last)):
            s = acb(c, n * height)
            summands.append(psi / (s * s))
        at_c = summands[0].real * c * c
        summands[0] /= 2
        after = self.psi_beyond(c, (plan.last + 1) * height, arb(plan.shift))
        return Line(plan, bits, Rows([summands]), at_c, after, self.psi(acb(plan.beyond)).real)

    def psi_beyond(self, c: arb, u: arb, shift: arb) -> arb:
        """A bound on ``|psi(c + iv)|`` for every ``v >= u``: Proposition 4, ``A = shift`` [11]."""
        angle = self.a * shift
        # proposes: the shift; balls decide whether it is admissible
        if not (angle >= 0 and angle < arb.pi() / 2):
            raise TooExpensive("a shift beyond the axis")
        real = c * angle.cos() + u * angle.sin()
        return ((self.t * shift * shift / 2).exp() * self.psi(acb(real)).real).upper()


class Picture:
    """The same in floats. Proposes: plans."""

    def __init__(self, a: float, t: int) -> None:
        self.a, self.t = a, t
        self.work = WORK * min(max(t / _MANY_STEPS, 1), _MORE_WORK)
        x = np.arange(_LEFT, _RIGHT, min(0.1, 0.3 / a))
        self._weights = np.log((x[1] - x[0]) / math.sqrt(2 * math.pi)) - x * x / 2
        self._shares = np.exp(a * x - a * a / 2)
        self.spread = math.sqrt(math.expm1(a * a) / t)

    def log_psi(self, points: Floats) -> Floats:
        """``log E e^{-sS}`` for positive ``s``."""
        z = points[:, None] / self.t * self._shares
        # 1 - phi is summed where phi is next to 1, else the logarithm of phi, which may be tiny
        small = (np.exp(self._weights) * -np.expm1(-z)).sum(axis=1)
        logs = np.logaddexp.reduce(self._weights - z, axis=1)
        found: Floats = self.t * np.where(small < _HALF, np.log1p(-np.minimum(small, _HALF)), logs)
        return found

    def plan(self, level: float, accuracy: float) -> Plan:
        """A plan whose errors are about ``e^-accuracy`` of the integrand at its saddle."""
        grid = np.geomspace(1e-4, 1e4, 400) / self.spread
        logs = self.log_psi(grid)
        values = grid * level + logs - 2 * np.log(grid)
        # right of the saddle the integrand is larger, which costs bits, and nodes are fewer
        more = values - values.min()
        exact = accuracy + more
        cost = np.where(
            (np.arange(len(grid)) >= int(np.argmin(values))) & (more < _MOST_MORE),
            np.sqrt(exact) * exact * (exact + 2 * math.log(self.t) + 12) / grid,
            np.inf,
        )
        at = int(np.argmin(cost))
        c, least = float(grid[at]), float(values.min())
        if not math.isfinite(least + float(more[at])):
            raise TooExpensive("a level that floats do not hold")
        bits = math.ceil(float(more[at]) / math.log(2))
        wanted = least - accuracy - 3 - math.log(self.t)
        above = (accuracy + 8 + max(0.0, math.log(level + 1) - least)) / c
        period = min(level, above)
        later = grid > 1.01 * c
        tilted = grid[later] * level + logs[later] - np.log(grid[later])
        while True:
            beyond = c
            if period >= level:
                period = max(above, level) * (1 + _NEAR_BY)
                break
            lost = tilted - (grid[later] - c) * period
            enough = np.flatnonzero(lost < wanted)
            if len(enough):
                period = max(period, above)
                beyond = float(grid[later][enough[0]])
                break
            period *= 1.1
        height = 2 * math.pi / period
        count, shift = 4, 0.0
        while True:
            log, shift = self._beyond(c, (count + 1) * height)
            if c * level + log < wanted:
                break
            count = math.ceil(1.1 * count) + 1
            if count > self.work:
                raise TooExpensive("too many nodes")
        # the inner error is that of one of t equal factors, which is as small as this
        factor = -float(self.log_psi(np.array([beyond]))[0]) / self.t
        inner = self.inner(accuracy + float(more[at]) + factor + 2 * math.log(self.t) + 12)
        if count * (2 * inner.half + 1) > self.work:
            raise TooExpensive(f"{count} nodes of {2 * inner.half + 1} exponentials")
        return Plan(c, period, count, beyond, shift, inner, bits)

    def _beyond(self, c: float, u: float) -> tuple[float, float]:
        """About the logarithm of the bound of the tail, and the shift that gives it."""
        shifts = _SHIFTS * min(1.55 / self.a, 3 * u * self.a / self.t + 1e-12)
        reals = c * np.cos(self.a * shifts) + u * np.sin(self.a * shifts)
        bounds = self.t * shifts**2 / 2 + self.log_psi(np.maximum(reals, 1e-300))
        best = int(np.argmin(bounds))
        return float(bounds[best]), float(shifts[best])

    def inner(self, accuracy: float) -> Inner:
        """A rule whose error is about ``e^-accuracy``."""
        lift = min(_WIDEST, 0.999 * math.pi / (4 * self.a))
        spacing = 2 * math.pi * lift / (accuracy + 2 * lift * lift + 2)
        reach = math.sqrt(2 * (accuracy + lift * lift / 2 + 2))
        return Inner(lift, spacing, math.ceil(reach / spacing))
