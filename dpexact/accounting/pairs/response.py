"""Randomized response, and noise and groups whose losses are a few equal steps apart."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import acb, arb

from dpexact import reals
from dpexact.accounting.pairs.finite import power_moments
from dpexact.accounting.pairs.lattice import MAX_ATOMS, FiniteOnLattice, OnLattice
from dpexact.accounting.pairs.pair import Atom, Jet, Masses
from dpexact.accounting.pairs.sums.power_sums import powers
from dpexact.balls import approximate, approximate_log, ball, compare
from dpexact.errors import UnsupportedMechanism
from dpexact.exactness import exponential, quotient
from dpexact.kept import cached_property
from dpexact.reals import ONE, ZERO, Real, rational


@dataclass(frozen=True)
class Response(OnLattice):
    """``approx_dp(epsilon, lost)``: losses ``+-epsilon``, and ``+inf`` with mass ``lost``."""

    epsilon: Real
    lost: Real = ZERO

    def mass(self) -> arb:
        return 1 - ball(self.lost)

    def overlap(self) -> arb:
        """``2 (1 - lost) / (1 + e^eps)``."""
        return 2 * self.mass() / (1 + ball(self.epsilon).exp())

    def largest_loss(self) -> arb | None:
        return ball(self.epsilon)

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """``(1 - lost) (e^{eps (1 + c)} + e^{-eps c}) / (1 + e^eps)``."""
        epsilon, exact = ball(self.epsilon), ball(c)
        rise, fall = (epsilon * (1 + exact)).exp(), (-epsilon * exact).exp()
        return self.mass() * (rise + fall) / (1 + epsilon.exp())

    def mean(self) -> arb:
        """``(1 - lost) eps tanh(eps / 2)``."""
        epsilon = ball(self.epsilon)
        return self.mass() * epsilon * (epsilon / 2).tanh()

    def integer_moments(self, count: int) -> list[arb]:
        return power_moments(self.atoms(0.0)[0], count)

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        epsilon = ball(self.epsilon)
        factor = self.mass() / (1 + epsilon.exp())
        rise, fall = (epsilon * (1 + arb(c))).exp() * factor, (-epsilon * arb(c)).exp() * factor
        turns = powers(acb(0, arb(step) * epsilon).exp(), count + 1)
        return [rise * turn + fall * turn.conjugate() for turn in turns]

    @cached_property
    def _sizes(self) -> tuple[float, float]:
        lost = approximate(self.lost)
        # proposes: which way; next to 1 floats hold what is lost, but not what is kept
        kept = math.log1p(-lost) if lost < 1 / 2 else approximate_log(1 - self.lost)
        return approximate(self.epsilon), kept

    def cumulant(self, c: float) -> Jet:
        """Closed form; ``rise`` is the tilted probability of the loss ``+epsilon``."""
        epsilon, kept = self._sizes
        rise = 1 / (1 + math.exp(-epsilon * (1 + 2 * c)))
        ratio = -math.log(rise) - math.log1p(math.exp(-epsilon))
        value = kept + epsilon * c + ratio
        return Jet(value, epsilon * (2 * rise - 1), 4 * epsilon**2 * rise * (1 - rise))

    def outline(self, c: float) -> list[tuple[float, float]]:
        """Two outcomes.

        Proposes: an estimate by which contours are planned.
        """
        epsilon, value = self._sizes[0], self.cumulant(c).value
        low = -math.log1p(math.exp(epsilon * (1 + 2 * c))) if epsilon * (1 + 2 * c) < 700 else -700
        high = -math.log1p(math.exp(-epsilon * (1 + 2 * c)))
        return [(value + low, -epsilon), (value + high, epsilon)]

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        return 1, math.log2(2 + self._sizes[0] * (c + 1))

    def lattice(self) -> tuple[Real, Fraction]:
        return 2 * self.epsilon, Fraction(-1, 2)

    def outcomes(self) -> tuple[Atom, ...]:
        """As exact numbers, where no loss is one outcome."""
        kept, outcomes = 1 - self.lost, []
        if self.epsilon.fraction == 0:
            outcomes = [Atom(kept, kept)]
        else:
            growth = exponential(self.epsilon)
            low, high = kept / (1 + growth), kept * growth / (1 + growth)
            outcomes = [Atom(low, high), Atom(high, low)]
        if self.lost.fraction != 0:
            outcomes += [Atom(self.lost, ZERO), Atom(ZERO, self.lost)]
        return tuple(outcomes)

    # --- tails ------------------------------------------------------------------------------------

    def revealed(self) -> Real:
        return self.lost

    def lowest(self) -> arb:
        return -ball(self.epsilon)

    def atoms(self, tail: float) -> tuple[list[Masses], Masses]:
        growth = ball(self.epsilon).exp()
        low = self.mass() / (1 + growth)
        high = growth * low
        return [(low, high), (high, low)], (arb(0), arb(0))

    def span(self, tail: float) -> tuple[float, float]:
        epsilon = approximate(self.epsilon)
        return -epsilon, epsilon


def amplified(eps: Real, delta: Real, q: Real) -> tuple[Real, Real]:
    """``(log(1 + q (e^eps - 1)), q delta)``: the guarantee of a sample."""
    if q.fraction == 1:
        return eps, delta
    growth = reals.exponential(eps) - 1
    return reals.logarithm(1 + q * growth), q * delta


def randomized_response(eps: Real, k: int) -> FiniteOnLattice:
    r"""``k``-ary randomized response of two true answers, ``k > 2`` (Kairouz, Oh, Viswanath 2016).

    With :math:`n = e^{\varepsilon} + k - 1` the loss is ``eps`` with probability
    :math:`e^{\varepsilon}/n`, ``-eps`` with :math:`1/n`, and 0 for the ``k - 2`` other answers.
    """
    growth = exponential(eps)
    total = growth + (k - 1)
    high, low, rest = growth / total, 1 / total, (k - 2) / total
    return FiniteOnLattice((Atom(low, high), Atom(rest, rest), Atom(high, low)), eps, Fraction(-1))


@dataclass(frozen=True)
class DiscreteLaplace(FiniteOnLattice):
    """The law of :func:`discrete_laplace`, of which moments are geometric sums (lattice)."""

    scale: Real

    is_symmetric = True

    @property
    def reverse(self) -> DiscreteLaplace:
        return self

    def _balls(self) -> list[Masses]:
        decay, low = (-1 / ball(self.scale)).exp(), self.law[0].masses()
        inside = [self.law[-2].masses()[0]] if len(self.law) > 2 else []
        for _ in self.law[3:]:
            inside.append(inside[-1] * decay)
        p = [low[0], *inside[::-1], low[1]]
        return list(zip(p, p[::-1], strict=True))

    def moment(self, c: float | Real, accuracy: float) -> arb:
        at, last = ball(c), len(self.law) - 1
        sums = Geometric(last, self.scale, (1 + 2 * at) / ball(self.scale))
        return (-last * (1 + at) / ball(self.scale)).exp() * sums.whole()

    def turning(self, theta: Fraction) -> Geometric:
        return Geometric(len(self.law) - 1, self.scale, (1 + 2 * ball(theta)) / ball(self.scale))


@dataclass(frozen=True, slots=True)
class Geometric:
    """Discrete Laplace noise, tilted: masses up to the ``last`` grow by ``rate``, but the ends."""

    last: int
    scale: Real
    rate: arb

    def _weights(self) -> tuple[arb, arb]:
        """``1/(1+a)`` and ``(1-a)/(1+a)``."""
        decay = (-1 / ball(self.scale)).exp()
        return 1 / (1 + decay), (1 - decay) / (1 + decay)

    def _turned(self, angle: arb) -> acb:
        (ends, inner), rate = self._weights(), acb(self.rate, angle)
        found: acb = ends * (1 + (self.last * rate).exp()) + inner * _geometric(rate, self.last - 1)
        return found

    def whole(self) -> arb:
        """The sum of all masses."""
        return self._turned(arb(0)).real

    def at(self, angle: arb) -> acb:
        return self._turned(angle) / self.whole()

    def bound(self, angle: arb) -> arb:
        """``|e^{rate + it} - 1|`` rises up to ``pi``."""
        ends, inner = self._weights()
        size, top = self.rate.exp(), (self.last * self.rate).exp()
        away = ((size - 1) ** 2 + 4 * size * (angle / 2).sin() ** 2).max(arb(0)).sqrt()
        found = _geometric(acb(self.rate), self.last - 1).real
        # proposes: nothing; both bounds hold
        if away > 0:
            found = arb.min((size + top) / away, found)
        return (ends * (1 + top) + inner * found) / self.whole()


def _geometric(rate: acb, count: int) -> acb:
    """``e^{rate} + ... + e^{count rate}``."""
    if rate == 0 or count == 0:
        return acb(count)
    return rate.exp() * (count * rate).expm1() / rate.expm1()


def discrete_laplace(scale: Real, sensitivity: int) -> DiscreteLaplace:
    r"""Noise of mass :math:`\frac{1-a}{1+a} a^{|x|}`, :math:`a = e^{-1/scale}`.

    The loss is :math:`(s - 2x)/scale` for ``0 < x < s``, and :math:`\pm s/scale` outside.
    For ``s = 1`` this is the law of randomised response of ``eps = 1/scale``.
    """
    if sensitivity >= MAX_ATOMS:
        raise UnsupportedMechanism(
            f"no certified accounting for discrete_laplace of sensitivity {sensitivity}"
        )
    growth = exponential(quotient(rational(1), scale))  # 1/a
    total = growth + 1
    inner, ends = (growth - 1) / total, growth / total
    p = [ends * growth ** (-sensitivity)]
    p += [inner * growth ** (-x) for x in range(sensitivity - 1, 0, -1)]
    p += [ends]
    spacing, start = quotient(rational(2), scale), Fraction(-sensitivity, 2)
    return DiscreteLaplace(tuple(map(Atom, p, p[::-1])), spacing, start, scale)


def staircase(eps: Real, gamma: Real) -> OnLattice:
    r"""The staircase mechanism of Geng and Viswanath (2014) at a shift by its full sensitivity.

    The loss is ``eps`` with probability

    .. math:: p = \frac{m}{2(\gamma + (1-\gamma) e^{-\varepsilon})}, \qquad
              m = \min(1, 2\gamma + (1 - 2\gamma) e^{-\varepsilon}),

    ``-eps`` with probability :math:`e^{-\varepsilon} p` and 0 otherwise. For ``gamma = 1/2`` this
    is randomised response. The sensitivity cancels, and no smaller shift is worse.
    """
    if gamma.fraction == Fraction(1, 2):
        return Response(eps)
    decay = exponential(-eps)

    def blend(weight: Real) -> Real:
        return weight + (1 - weight) * decay

    twice = 2 * gamma
    wide = compare(twice, rational(1), "gamma") > 0
    total = 2 * blend(gamma)
    high = (rational(1) if wide else blend(twice)) / total
    low = decay * high
    zero = (twice - 1 if wide else decay * (1 - twice)) * (1 - decay) / total
    outcomes = (Atom(low, high), Atom(zero, zero), Atom(high, low))
    return FiniteOnLattice(outcomes, eps, Fraction(-1))


#: Largest group whose law is written out.
MAX_OUTCOMES: Final = 2_000


def grouped_response(eps: Real, delta: Real, k: int) -> tuple[Real, FiniteOnLattice | None]:
    r"""Group privacy of ``(eps, delta)``-DP: the mass of infinite loss, and the law of the rest.

    The trade-off function is :math:`1 - (1-f)^{\circ k}` (Dong, Roth and Su 2022, Theorem 3). With
    :math:`g = 1 - f`, :math:`g(x) = \delta + e^\varepsilon x` up to the kink
    :math:`x_0 = (1-\delta)/(1+e^\varepsilon)`, and
    :math:`g(x) = 1 - e^{-\varepsilon}(1-\delta-x)` from there. What reaches the kink
    after ``j`` steps starts at

    .. math:: x_j = e^{-j\varepsilon} x_0 - \delta\,\frac{1 - e^{-j\varepsilon}}{e^\varepsilon - 1},

    and between :math:`x_j` and :math:`x_{j-1}` the loss is :math:`(2j-k)\varepsilon`. The pair is
    symmetric; the law is None where no loss is left but 0 or infinity.
    """
    if k > MAX_OUTCOMES:
        raise UnsupportedMechanism(f"groups of more than {MAX_OUTCOMES} records under a guarantee")
    if delta.fraction == 1:
        return ONE, None
    if compare(eps, ZERO, "eps") == 0:
        lost = k * delta
        return (ONE if compare(lost, ONE, "delta") >= 0 else lost), None
    growth = exponential(eps)

    def pile(j: int) -> Real:
        """``delta (e^{j eps} - 1) / (e^eps - 1)``: 0 after ``j`` steps below the kink."""
        if delta.fraction == 0 or j == 0:
            return ZERO
        if j == 1:  # exactly: what it is compared with may be as much
            return delta
        return delta * (exponential(j * eps) - 1) / (growth - 1)

    kink = (1 - delta) / (1 + growth)

    def start(j: int) -> Real:
        return (kink - pile(j)) * exponential(-j * eps)

    rises = k  # steps below the kink from 0 on
    if delta.fraction != 0:
        rises = bisect_left(range(k), True, key=lambda j: compare(start(j), ZERO, "delta") <= 0)
    falls = k - rises
    rest = 1 - pile(rises)
    if falls:
        rest = (rest - pile(falls)) * exponential(-falls * eps)
    if compare(rest, ZERO, "delta") <= 0:
        return ONE, None
    atoms = []
    for j in range(falls, rises + 1):
        above = rest if j == falls else start(j - 1)
        mass = above if j == rises else above - start(j)
        atoms.append(Atom(mass * exponential((2 * j - k) * eps) / rest, mass / rest))
    return 1 - rest, FiniteOnLattice(tuple(atoms), 2 * eps, Fraction(2 * falls - k, 2))
