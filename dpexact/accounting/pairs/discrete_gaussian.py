"""Discrete Gaussian noise, whole or of bounded support."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from flint import acb, arb

from dpexact import balls, reals
from dpexact.accounting.pairs import finite
from dpexact.accounting.pairs.finite import Listed, total
from dpexact.accounting.pairs.lattice import MAX_ATOMS, OnLattice, Tilted, Turning
from dpexact.accounting.pairs.pair import Atom, Jet, LossMoments, Masses, Turns, far
from dpexact.balls import AROUND, UNIT, approximate, ball
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import ONE, Real, exponential, rational

#: Above this variance the float estimates are those of the continuous law.
_SMOOTH: Final = 9.0
_FLOAT_REACH: Final = 9.0
#: About how many outcomes on each side such an estimate looks at.
_OUTLINED: Final = 4000
_THETA_COST: Final = 12
#: Sums of moments end where the normal weight is below ``2^-(precision + _GUARD)``.
_GUARD: Final = 16
#: Twice by how much, in the exponent, lists go beyond the accuracy asked for.
_BEYOND: Final = 24.0
#: Largest bound of the noise, and most outcomes that are written out as exact numbers.
MAX_BOUND: Final = 10_000
_FEW: Final = 40


@dataclass(frozen=True)
class DiscreteGaussian(OnLattice):
    """Integers ``x`` of mass proportional to ``e^{-x^2 / (2 variance)}``, shifted.

    ``M(s) = e^{r s / 2} theta_3(i r s / (2 pi shift), tau) / theta_3(0, tau)`` with ``tau = i / (2
    pi variance)`` and ``r = shift^2 / variance``: the loss is ``r (x / shift + 1/2)``.
    """

    variance: Real
    shift: int

    def overlap(self) -> arb:
        """``1 - sqrt(1 - M(-1/2)^2)``, which is no more by Le Cam's inequality."""
        affinity = self.moment(-0.5, 0.0).lower()
        return 1 - (1 - affinity * affinity).sqrt().upper()

    def largest_loss(self) -> arb | None:
        return None

    def rho(self, order: Real) -> Real | None:
        """As of the Gaussian where ``order * shift`` is an integer: the two thetas are one sum."""
        centre = order.fraction
        if centre is None or (centre * self.shift).denominator != 1:
            return None
        return self.shift**2 / (2 * self.variance)

    def _theta(self, s: acb) -> acb:
        variance = ball(self.variance)
        z = acb(0, 1) * s * self.shift / (2 * arb.pi() * variance)
        values = z.modular_theta(acb(0, 1 / (2 * arb.pi() * variance)))
        found: acb = values[2]
        return found

    def _moment(self, s: acb, plain: arb) -> acb:
        half = self.shift**2 / (2 * ball(self.variance))
        return (half * s).exp() * self._theta(s) / plain

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """Jacobi's theta function, certified by the ball library."""
        return self._moment(acb(ball(c)), self._theta(acb(0)).real).real

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        plain = self._theta(acb(0)).real
        rise = arb(step)
        return [self._moment(acb(arb(c), n * rise), plain) for n in range(count + 1)]

    def cumulant(self, c: float) -> Jet:
        """That of the Gaussian unless the noise is small.

        Proposes: an estimate by which contours are planned.
        """
        variance = approximate(self.variance)
        half = self.shift**2 / (2 * variance)
        if variance > _SMOOTH:
            return Jet(half * c * (c + 1), half * (2 * c + 1), 2 * half)

        found, plain = (_about(variance, self.shift, order) for order in (c, 0.0))
        return found._replace(value=found.value - plain.value + half * c)

    def outline(self, c: float) -> list[tuple[float, float]]:
        """The tilted masses around their centre."""
        variance, value = approximate(self.variance), self.cumulant(c).value
        listed = _tilted(variance, self.shift, c)
        most = finite.tilted(listed).value
        return [(value - most + log, loss) for log, loss in listed]

    def exponentials(self, c: float, top: float, accuracy: float) -> tuple[Turns, arb]:
        """The tilted law, listed around its centre, times the moment; the rest is the error."""
        tilt = Fraction(c)
        first, weights, rest = self._weights(tilt, self._reach(math.sqrt(2 * accuracy + _BEYOND)))
        total = sum(weights, arb(0)) + rest
        scale, unit = self.moment(c, accuracy) / total, self.shift / ball(self.variance)
        half = arb(self.shift) / 2
        terms = [(acb(scale * w), acb(unit * (x + half))) for x, w in enumerate(weights, first)]
        return terms, (scale * rest).upper() * AROUND

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        rate = self.shift**2 / approximate(self.variance)
        return _THETA_COST, math.log2(2 + rate * (c + 1))

    def loss_moments(self) -> LossMoments:
        r"""By sums of :math:`|x|^j e^{-x^2/(2 variance)}`.

        Their ratios ``r`` of neighbours fall; so from ``x`` on there is at most ``1/(1-r)`` times
        the term there.
        """
        variance = ball(self.variance)
        reach = math.sqrt(2 * approximate(self.variance) * (balls.current() + _GUARD) * math.log(2))
        # proposes: what is too much work
        if 2 * reach + 4 > MAX_ATOMS:
            raise UnsupportedMechanism(
                f"no moments of a discrete Gaussian of more than {MAX_ATOMS} outcomes"
            )
        factor = -1 / (2 * variance)
        # proposes: where the sums end; the tails bound the rest wherever that is
        weights = [(factor * (x * x)).exp() for x in range(1, math.ceil(reach) + 5)]

        def total(power: int) -> arb:
            *terms, edge, beyond = (x**power * w for x, w in enumerate(weights, 1))
            rest = edge / (1 - beyond / edge) if beyond < edge else arb.nan()
            return 2 * (sum(terms, arb(0)) + rest * UNIT)

        mass, unit = 1 + total(0), self.shift / variance
        spread = unit**2 * total(2) / mass
        fourth = unit**4 * total(4) / mass - 3 * spread * spread
        absolute = unit**3 * total(3) / mass
        return LossMoments(unit * self.shift / 2, spread, arb(0), fourth, absolute)

    # --- tails ------------------------------------------------------------------------------------

    def lattice(self) -> tuple[Real, Fraction]:
        """Outcome ``x`` under ``P`` is index ``x``."""
        return self.shift / self.variance, Fraction(self.shift, 2)

    def origin(self) -> arb:
        """The loss of the outcome 0."""
        return self.shift**2 / (2 * ball(self.variance))

    def span(self, tail: float) -> tuple[float, float]:
        """Between the losses of the first and last outcome that are listed."""
        unit = self.shift / approximate(self.variance)
        reach, start = self._reach(far(tail)) * unit, unit * self.shift / 2
        return start - reach, start + reach

    def atoms(self, tail: float) -> tuple[list[Masses], Masses]:
        """The outcomes around 0, of masses ``w_x / W`` and ``w_(x+s) / W``."""
        reach, s = self._reach(far(tail)), self.shift
        first, weights, rest = self._weights(Fraction(0), reach + s)
        total = sum(weights, arb(0)) + rest
        masses = {x: w / total for x, w in enumerate(weights, first)}
        # proposes: how far to list; the masses left out are returned beside
        listed = [(masses[x], masses[x + s]) for x in range(-reach - s, reach + 1)]
        left = [1 - sum((pair[i] for pair in listed), arb(0)) for i in (0, 1)]
        return listed, (left[0], left[1])

    def tilted(self, theta: Fraction) -> Tilted:
        """Proportional to ``w_x = e^{-x^2/(2 variance) + theta s x/variance}``."""
        deviations = math.sqrt(2 * (balls.current() + 8) * math.log(2))
        first, weights, rest = self._weights(theta, self._reach(deviations))
        total = sum(weights, arb(0)) + rest
        moment = self.moment(reals.rational(theta), 0.0)
        return Tilted(first, [w / total for w in weights], rest / total, moment)

    def turning(self, theta: Fraction) -> Turning:
        # proposes: whether outcomes are few enough to be listed
        if approximate(self.variance) < _SMOOTH:
            return self.tilted(theta)
        return _Theta(self, ball(theta))

    def _reach(self, deviations: float) -> int:
        """Proposes: how far around the centre to list; the rest is bounded beside."""
        reach = deviations * math.sqrt(approximate(self.variance)) + 2
        # proposes: what is too much work
        if not 2 * reach + self.shift <= MAX_ATOMS:
            raise UnsupportedMechanism(
                f"no certified accounting for a discrete Gaussian of more than {MAX_ATOMS} "
                "outcomes: sigma is too large"
            )
        return math.ceil(reach)

    def under_q(self, first: int, last: int) -> list[arb]:
        """``Q`` of the integers from ``first`` to ``last``, among which ``P`` has its centre."""
        scale = -1 / (2 * ball(self.variance))
        whole = self._theta(acb(0)).real
        return [(scale * (y * y)).exp() / whole for y in range(first, last + 1)]

    def _weights(self, theta: Fraction, reach: int) -> tuple[int, list[arb], arb]:
        r"""``(first, w / w_centre, a ball that holds the rest)``.

        Beyond a point where :math:`w_{x+1}/w_x = r < 1` the ratios only fall, so
        :math:`\sum_{y \ge x} w_y \le w_x/(1-r)`; likewise on the left.
        """
        centre = round(theta * self.shift)
        # with x = centre + d the exponent is above that of the centre by d (2 off - d)/(2 variance)
        off = ball(2 * (theta * self.shift - centre))
        scale = 1 / (2 * ball(self.variance))
        # proposes: how far to sum; from 2 on the ratios are below 1, and `rest` bounds the rest
        weights = [(d * (off - d) * scale).exp() for d in range(-reach, reach + 1)]
        rest = arb(0)
        for edge, beyond in ((reach, reach + 1), (-reach, -reach - 1)):
            far_out = beyond * (off - beyond) * scale
            rest += far_out.exp() / -(far_out - edge * (off - edge) * scale).expm1()
        return centre - reach, weights, rest * UNIT


class _Theta:
    """A tilted law as a quotient of thetas."""

    def __init__(self, pair: DiscreteGaussian, order: arb) -> None:
        self._pair, self._order = pair, order
        self._whole = pair._theta(acb(order)).real
        self._spacing = ball(pair.lattice()[0])

    def at(self, angle: arb) -> acb:
        found: acb = self._pair._theta(acb(self._order, angle / self._spacing)) / self._whole
        return found

    def bound(self, angle: arb) -> arb:
        r"""The modulus there.

        By Jacobi's triple product the sum is one of :math:`(1 + w z)(1 + w/z)` with ``w > 0`` and
        ``z`` of that angle, whose moduli all fall up to ``pi``.
        """
        return self.at(angle).abs_upper()


@lru_cache(maxsize=1024)
def _about(variance: float, shift: int, order: float) -> Jet:
    """Of the tilted masses around their centre.

    Proposes: estimates by which contours are planned and tilts are chosen.
    """
    return finite.tilted(_tilted(variance, shift, order))


def _tilted(variance: float, shift: int, order: float) -> list[tuple[float, float]]:
    """Logarithms of tilted weights, and losses.

    Proposes: likewise.
    """
    centre = order * shift
    reach = math.ceil(_FLOAT_REACH * math.sqrt(variance)) + 2
    stride = 1 + reach // _OUTLINED  # of many outcomes neighbours hardly differ
    xs = range(round(centre) - reach, round(centre) + reach + 1, stride)
    rate = shift / variance
    return [(x * (2 * centre - x) / (2 * variance), rate * (x + shift / 2)) for x in xs]


def truncated_discrete_gaussian(
    variance: Real, bound: int, shift: int
) -> tuple[Real, TruncatedDiscreteGaussian | None]:
    r"""The mass of infinite loss, and the pair for the rest; None where that is everything.

    Of noise :math:`x \in [-b, b]` of weight :math:`w_x = e^{-x^2/(2 variance)}`, moved by ``s``,
    the outputs above ``b`` are impossible without the shift: of mass
    :math:`\sum_{b-s < x \le b} w_x / \sum_{|x| \le b} w_x`.
    """
    if shift > 2 * bound:
        return ONE, None
    if bound > MAX_BOUND:
        raise UnsupportedMechanism(
            f"no certified accounting for truncated_discrete_gaussian of bound {bound} "
            f"(limit {MAX_BOUND})"
        )
    weights = [exponential(rational(Fraction(-x * x, 2)) / variance) for x in range(bound + 1)]
    edge = total(weights[abs(x)] for x in range(bound - shift + 1, bound + 1))
    lost = edge / (1 + 2 * total(weights[1:]))
    return lost, TruncatedDiscreteGaussian(variance, bound, shift)


@dataclass(frozen=True)
class TruncatedDiscreteGaussian(Listed, OnLattice):
    """The outputs ``shift - bound .. bound`` that both laws have, given one of them.

    Output ``x`` has the loss ``shift (x - shift/2) / variance``.
    """

    variance: Real
    bound: int
    shift: int

    #: By reflection at ``shift/2``.
    is_symmetric = True

    @property
    def highest(self) -> int:
        return 2 * self.bound - self.shift

    def lattice(self) -> tuple[Real, Fraction]:
        """The first output is index 0."""
        return self.shift / self.variance, Fraction(self.shift, 2) - self.bound

    def outcomes(self) -> tuple[Atom, ...]:
        if self.highest >= _FEW:
            return ()
        half = -1 / (2 * self.variance)
        weights = [exponential(half * (j - self.bound) ** 2) for j in range(self.highest + 1)]
        whole = total(weights)
        masses = [weight / whole for weight in weights]
        return tuple(map(Atom, masses, masses[::-1]))

    def _balls(self) -> list[Masses]:
        half = -1 / (2 * ball(self.variance))
        indices = range(self.highest + 1)
        weights = [(half * (j - self.bound) ** 2).exp() for j in indices]
        whole = sum(weights, arb(0))
        masses = [weight / whole for weight in weights]
        return list(zip(masses, masses[::-1], strict=True))
