r"""Laplace noise on a Poisson sample, truncated or not.

With ``w(l) = 1 - q + q e^l``, ``l`` the loss of Laplace noise of rate ``r``, the loss is ``log
w(l)`` where a record is removed and ``-log w(l)`` where it is added. So both moments are values of

.. math:: F(t) = E_Q[w^t] = \gamma \Bigl(2 a e^{-r/2} w(r)^t + 2 a e^{r/2} w(-r)^t
          + \int_{-r}^{r} e^{-l/2}\, w(l)^t\, dl\Bigr) + h\,(1 - q)^t,

at ``t = 1 + s`` and at ``t = -s``. There ``h`` is the mass of infinite loss, ``a`` the weight of
the ends and :math:`\gamma = (1 - h)/(4 a \cosh(r/2) + 4 \sinh(r/2))`. The integral is taken by
Gauss and Legendre's rule, with a bound of the integrand on an ellipse; beyond a height, by parts,
it is less than the atoms. Numbers in brackets refer to sections of ``docs/theory/contour.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
from flint import acb, arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.on_sample import ByRule, Rule
from dpexact.accounting.pairs.pair import Masses, TooExpensive, Turns
from dpexact.accounting.pairs.sums.arcs import Arc, arc_size
from dpexact.balls import AROUND, approximate, ball, precision
from dpexact.kept import cached_property
from dpexact.reals import ONE, ZERO, Real

#: Most nodes of the rule inside.
MAX_NODES: Final = 4_000
#: Of more an arc has fewer for a real moment.
_FEW_NODES: Final = 64
#: Half heights of ellipses tried, in losses: ``w`` has no zero while they stay below ``pi/2``.
_HEIGHTS: Final = tuple(0.03 * k for k in range(2, 52))
_PLANNING_NODES: Final = 48
_LARGEST_RATE: Final = 300.0
#: Cuts below which nothing is asked to decay, and the precision of estimates.
_CELLS: Final = 64
_PLANNING_BITS: Final = 64


class _End(NamedTuple):
    """At a cut ``w^power``, an atom there, the absolute moment below, two terms by parts."""

    height: arb
    atom: arb
    below: arb
    beside: arb
    rest: arb


@dataclass(frozen=True)
class SampledLaplace(ByRule):
    """``rate`` is the largest loss before, ``0 < q < 1``; ``removes`` the record, or adds it.

    ``weight`` is that of the ends, ``lost`` the mass of infinite loss: of noise that is not
    truncated 1 and 0.
    """

    rate: Real
    q: Real
    removes: bool
    weight: Real = ONE
    lost: Real = ZERO

    @property
    def reverse(self) -> SampledLaplace:
        return replace(self, removes=not self.removes)

    @property
    def is_whole(self) -> bool:
        """Whether the noise is not truncated, and nothing reveals everything beside it."""
        return self.weight == ONE and self.lost == ZERO

    #: As of :class:`~dpexact.accounting.pairs.laplace.Laplace`.
    decays = True

    def mass(self) -> arb:
        """Under the law of all records."""
        return 1 - self.infinite()

    def revealed(self) -> Real:
        """``q`` times that of the noise, where the record is removed."""
        return self.q * self.lost if self.removes else ZERO

    def overlap(self) -> arb:
        r""":math:`1 - q\,(1 - 4 \gamma\,(1 - (1 - a)\,e^{-r/2}))`."""
        fall = (-ball(self.rate) / 2).exp()
        return 1 - ball(self.q) * (1 - 4 * self._scale() * (1 - (1 - ball(self.weight)) * fall))

    def largest_loss(self) -> arb | None:
        """``log w(rate)``, or minus the least of ``log w``."""
        if self.removes:
            return self._log(ball(self.rate))
        # of numbers in symbols, here and below
        return -self._log(-ball(self.rate)) if self.lost == ZERO else -self._without()

    def _scale(self) -> arb:
        r""":math:`\gamma`."""
        half, ends = ball(self.rate) / 2, ball(self.weight)
        return (1 - ball(self.lost)) / (4 * (ends * half.cosh() + half.sinh()))

    def _without(self) -> arb:
        """``log(1 - q)``."""
        return (-ball(self.q)).log1p()

    def ends(self) -> tuple[arb, arb]:
        """``log w`` at both ends: the losses of the atoms where a record is removed."""
        return self._log(-ball(self.rate)), self._log(ball(self.rate))

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """What lies above a cut by its ends, what lies below as it is."""
        bound = self._bound(self._power(arb(c)), arb(u))
        return arb.min(bound.upper(), self.moment(c, accuracy).upper())

    def _bound(self, power: arb, u: arb) -> arb:
        """On ``|F(t)|`` wherever ``Re t`` is ``power`` and ``|Im t|`` at least ``u`` [12]."""
        return _bounded(self._ends(power), u) + self._aside(power)

    def _aside(self, power: arb) -> arb:
        """``h (1 - q)^power``."""
        return ball(self.lost) * (power * self._without()).exp()

    def _ends(self, power: arb) -> list[_End]:
        """What the bound is made of, at every cut."""
        rate, q, scale = ball(self.rate), ball(self.q), self._scale()
        found: list[_End] = []
        fallen, below = arb(0), arb(0)
        for k in range(_CELLS + 1):
            end = rate * (2 * k - _CELLS) / _CELLS
            log = self._log(end)
            height, fall, share = (power * log).exp(), (-end / 2).exp(), q * (end - log).exp()
            atom = 2 * scale * ball(self.weight) * height * fall
            if found:  # w is monotone
                below += 2 * scale * arb.max(found[-1].height, height) * (fallen - fall)
            else:
                below = atom
            fallen = fall
            beside = scale * height * fall / share
            rest = beside * (2 * abs(power + 1) + 3 / share)
            found.append(_End(height, atom, below, beside, rest))
        return found

    # --- the rule ---------------------------------------------------------------------------------

    def exponentials(self, c: float, top: float, accuracy: float) -> tuple[Turns, arb]:
        """By the rule, or high up by one on an arc, which serves all heights (atoms, 7)."""
        power = self._power(arb(c))
        # proposes: which rule; both enclose
        many = self._planned(float(power.mid()), top, accuracy)[1]
        # proposes: likewise
        if many <= arc_size(self._apart, accuracy):
            return super().exponentials(c, top, accuracy)
        arc = self._arc(power, accuracy)
        terms, error = arc.turns()
        terms += [(acb(mass), acb(end)) for mass, end in self._atoms(power)]
        if self.removes:
            return terms, error
        # the other way a line is the mirror image of one
        return [(weight.conjugate(), -z.conjugate()) for weight, z in terms], error

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """By the rule for the real axis, or of large orders by that of an arc."""
        power = self._power(ball(c))
        # proposes: which rule; both enclose
        if self._planned(float(power.mid()), 0.0, accuracy)[1] <= _FEW_NODES:
            return super().moment(c, accuracy)
        atoms = (mass for mass, _ in self._atoms(power))
        return sum(atoms, self._arc(power, accuracy).total())

    def _atoms(self, power: arb) -> list[Masses]:
        """Masses under ``Q`` times ``w^power``, and ``log w``."""
        half, low, high = ball(self.rate) / 2, *self.ends()
        both = 2 * self._scale() * ball(self.weight)
        found = [(both * half.exp(), low), (both * (-half).exp(), high)]
        if self.lost != ZERO:
            found.append((ball(self.lost), self._without()))
        return [(mass * (power * end).exp(), end) for mass, end in found]

    def _arc(self, power: arb, accuracy: float) -> Arc:
        """Of ``z = log w``: the density of ``w^power`` under ``Q``."""
        q = ball(self.q)
        scale = self._scale() * q.sqrt()

        def density(z: acb) -> acb:
            ratio = z.exp()
            above = ratio - 1 + q
            return scale * (power * z).exp() * ratio / (above * above.sqrt())

        return Arc(*self.ends(), density, self._about(float(power.mid())).value, accuracy)

    @property
    def _apart(self) -> float:
        """Proposes: about how far apart the ends are."""
        rate, q = self.sizes
        return math.log1p(q * math.expm1(rate)) - math.log1p(q * math.expm1(-rate))

    def _log(self, loss: arb) -> arb:
        """``log w(loss)``, to full relative accuracy."""
        return (ball(self.q) * loss.expm1()).log1p()

    def _rule(self, power: arb, top: float, accuracy: float) -> Rule:
        """For every ``t`` of real part ``power`` and ``|Im t| <= top``."""
        height, nodes = self._planned(float(power.mid()), top, accuracy)
        if nodes > MAX_NODES:
            raise TooExpensive(f"a rule of {nodes} nodes for sampled Laplace noise")
        rate = ball(self.rate)
        scale = rate * self._scale()
        weights, logs = map(list, zip(*self._atoms(arb(0)), strict=True))
        for k in range(nodes):
            x, weight = arb.legendre_p_root(nodes, k, weight=True)
            weights.append(scale * weight * (-rate * x / 2).exp())
            logs.append(self._log(rate * x))
        error = self._error(power, arb(top), arb(height), nodes)
        if not error.is_finite():
            raise TooExpensive("no ellipse for sampled Laplace noise")
        return Rule(weights, logs, error.upper() * AROUND)

    def _error(self, power: arb, top: arb, height: arb, nodes: int) -> arb:
        r"""``8 M rho^{-2n} / (1 - rho^-2)`` for ``|f| <= M`` on the ellipse of sum ``rho`` [12]."""
        rate, q = ball(self.rate), ball(self.q)
        if not (height > 0 and height < arb.pi() / 2):
            return arb.nan()
        minor = height / rate
        major = (1 + minor * minor).sqrt()
        inverse = major - minor
        far = rate * major
        most, least = 1 + q * far.expm1(), 1 - q + q * (-far).exp() * height.cos()
        turn = arb.atan2(q * far.exp() * height.sin(), 1 - q + q * far.exp() * height.cos())
        growth = arb.max((power * most.log()).exp(), (power * least.log()).exp())
        bound = rate * self._scale() * (far / 2 + top * turn).exp() * growth
        return 8 * bound * inverse ** (2 * nodes) / (1 - inverse * inverse)

    def _planned(self, power: float, top: float, accuracy: float) -> tuple[float, int]:
        """Proposes: the ellipse and the number of nodes, by the same bound in floats."""
        rate, q = self.sizes
        value, scale = self._about(power).value, math.log(8 * rate) + self._log_scale
        best = (1.0, MAX_NODES + 1)
        for height in _HEIGHTS:
            minor = height / rate
            far = rate * math.hypot(1.0, minor)
            grown = q * math.exp(far)
            turn = math.atan2(grown * math.sin(height), 1 - q + grown * math.cos(height))
            least = 1 - q + q * math.exp(-far) * math.cos(height)
            growth = max(power * math.log1p(q * math.expm1(far)), power * math.log(least))
            log = scale + far / 2 + top * turn + growth - value
            fall = 2 * math.asinh(minor)
            nodes = math.ceil((accuracy + max(0.0, log) - math.log(-math.expm1(-fall))) / fall)
            if nodes < best[1]:
                best = height, max(2, nodes)
        return best

    # --- proposals --------------------------------------------------------------------------------

    @cached_property
    def sizes(self) -> tuple[float, float]:
        """Proposes: about rate and ``q``."""
        rate, q = approximate(self.rate), approximate(self.q)
        # proposes: whether floats reach to plan a rule; without one nothing is answered
        if not (0 < rate < _LARGEST_RATE and 1e-300 < q < 1):
            raise TooExpensive("floats do not reach to plan sampled Laplace noise")
        return rate, q

    @cached_property
    def _log_scale(self) -> float:
        """Proposes: about the logarithm of ``gamma``."""
        with precision(_PLANNING_BITS):
            return float(self._scale().log().mid())

    @cached_property
    def _points(self) -> Floats:
        """``log mass`` under ``Q`` and ``log w`` of a rule in floats."""
        rate, q = self.sizes
        with precision(_PLANNING_BITS):
            # proposes: about where the mass is
            atoms = [(mass, log) for mass, log in self._atoms(arb(0)) if mass > 0]
            found = [(float(mass.log().mid()), float(log.mid())) for mass, log in atoms]
        xs, ws = np.polynomial.legendre.leggauss(_PLANNING_NODES + 4 * math.ceil(rate))
        for x, weight in zip(xs.tolist(), ws.tolist(), strict=True):
            log = math.log(weight * rate) + self._log_scale - rate * x / 2
            found.append((log, math.log1p(q * math.expm1(rate * x))))
        return np.array(found).T

    def _listed(self, power: float) -> Floats:
        return self._points

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """The same bound.

        Proposes: how many nodes a contour takes.
        """
        power = self._power(c)
        most = self._about(power).value
        with precision(_PLANNING_BITS):
            ends, aside = self._ends(arb(power)), self._aside(arb(power))

        def estimate(u: float) -> float:
            """Proposes: likewise."""
            with precision(_PLANNING_BITS):
                return min(most, float((_bounded(ends, arb(u)) + aside).log().mid()))

        return estimate

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """Nodes of a rule of some height."""
        power = self._power(c)
        return 2 * self._planned(power, 0.0, accuracy)[1], math.log2(2 + abs(power))


def _bounded(ends: Sequence[_End], u: arb) -> arb:
    """The least of the bounds by all cuts, the first of which has an atom beside it."""
    first, *others, top = ends
    least = _beside(first.below, first.beside, u) + first.rest / (u * u)
    for cut in others:
        least = arb.min(least, cut.below + cut.beside / u + cut.rest / (u * u))
    return _beside(top.atom, top.beside, u) + top.rest / (u * u) + least


def _beside(atom: arb, beside: arb, u: arb) -> arb:
    """An atom and the end of the integral beside it, at right angles."""
    return (atom * atom + (beside / u) * (beside / u)).sqrt()
