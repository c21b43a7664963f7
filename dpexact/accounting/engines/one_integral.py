r"""Two steps of noise, on samples or not, by one integral over the outcomes of one of them.

With ``z`` an outcome of one step, ``l(z)`` its likelihood ratio, ``w = 1 - q + q l`` and ``D`` the
profile of the other step as a function of the level,

.. math:: \mathrm{remove:}\ \delta = E_Q[w\,D(e^\varepsilon/w)], \qquad
          \mathrm{add:}\ \delta = E_Q[D(e^\varepsilon w)].

``D`` of noise on a sample comes from that of the noise by a rational map of the level. Where no
noise could tell more than the sample ``D`` is ``1 - level``, where none reaches the level 0, and
between both the integrand is analytic (``docs/theory/sampling.md``).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from flint import acb, arb

from dpexact import balls
from dpexact.accounting.engines.closed_form import gaussian_divergence
from dpexact.balls import ball, normal_tail
from dpexact.reals import Real

#: Bits that the quadrature leaves to rounding, and most evaluations of it.
_SPARE: Final = 8
_MOST_EVALUATIONS: Final = 5_000


class Noise(ABC):
    """Noise of likelihood ratio ``ratio(z)`` under ``Q``, which grows with its outcome ``z``."""

    #: Whether the profile of the noise is analytic at all positive levels.
    is_analytic: bool

    def __init__(self, rate: Real) -> None:
        self.rate = ball(rate)

    @abstractmethod
    def ratio(self, z: acb) -> acb:
        """The likelihood ratio of an outcome."""

    @abstractmethod
    def place(self, ratio: arb) -> arb:
        """The outcome of a likelihood ratio."""

    @abstractmethod
    def density(self, z: acb) -> acb:
        """Under ``Q``."""

    @abstractmethod
    def mass(self, z: arb, above: bool) -> tuple[arb, arb]:
        """Of the outcomes above or below one, without atoms: under ``Q``, and under ``P``."""

    @abstractmethod
    def atoms(self) -> list[tuple[arb, arb]]:
        """Likelihood ratios and masses under ``Q``."""

    @abstractmethod
    def window(self) -> tuple[arb, arb]:
        """Outcomes between which all mass is, or about all."""

    @abstractmethod
    def levels(self) -> tuple[arb, arb]:
        """Below the first the profile is about ``1 - level``, above the second about 0."""

    @abstractmethod
    def between(self, level: acb) -> acb:
        """The profile at a level between, continued; the real part of the level is positive."""

    @abstractmethod
    def beyond(self, level: arb) -> arb:
        """A bound on the profile at all levels from one up, which is positive."""


class GaussianNoise(Noise):
    """``N(mu, 1)`` against ``N(0, 1)``."""

    is_analytic = True

    def ratio(self, z: acb) -> acb:
        return (self.rate * (z - self.rate / 2)).exp()

    def place(self, ratio: arb) -> arb:
        return ratio.log() / self.rate + self.rate / 2

    def density(self, z: acb) -> acb:
        return (-z * z / 2).exp() / (2 * arb.pi()).sqrt()

    def mass(self, z: arb, above: bool) -> tuple[arb, arb]:
        side = 1 if above else -1
        return normal_tail(side * z), normal_tail(side * (z - self.rate))

    def atoms(self) -> list[tuple[arb, arb]]:
        return []

    def window(self) -> tuple[arb, arb]:
        return -self._reach(), (self._reach() + self.rate).mid()

    def levels(self) -> tuple[arb, arb]:
        most = (self.rate * (self._reach() + self.rate / 2)).exp()
        return 1 / most, most

    def between(self, level: acb) -> acb:
        root, place = arb(2).sqrt(), level.log() / self.rate
        near, far = ((place + side * self.rate / 2) / root for side in (-1, 1))
        return (near.erfc() - level * far.erfc()) / 2

    def beyond(self, level: arb) -> arb:
        found = gaussian_divergence(self.rate, level.log())
        return found if found < 1 else arb(1)

    def _reach(self) -> arb:
        # proposes: so many standard deviations
        return arb(math.sqrt(2 * math.log(2) * balls.current()))


class LaplaceNoise(Noise):
    """Laplace noise of ``rate`` = sensitivity over scale; ``z`` is its loss."""

    is_analytic = False

    def ratio(self, z: acb) -> acb:
        return z.exp()

    def place(self, ratio: arb) -> arb:
        return ratio.log()

    def density(self, z: acb) -> acb:
        return (-(z + self.rate) / 2).exp() / 4

    def mass(self, z: arb, above: bool) -> tuple[arb, arb]:
        gap = (z + self.rate if not above else self.rate - z) / 2
        q, p = -(-gap).expm1() / 2, (-self.rate).exp() * gap.expm1() / 2
        return (p, q) if above else (q, p)

    def atoms(self) -> list[tuple[arb, arb]]:
        fall = (-self.rate).exp()
        return [(1 / fall, fall / 2), (fall, arb(0.5))]

    def window(self) -> tuple[arb, arb]:
        return -self.rate, self.rate

    def levels(self) -> tuple[arb, arb]:
        return (-self.rate).exp(), self.rate.exp()

    def between(self, level: acb) -> acb:
        return 1 - ((level.log() - self.rate) / 2).exp()

    def beyond(self, level: arb) -> arb:
        return self.between(acb(level)).real.max(arb(0)) if level > 1 else arb(1)


@dataclass(frozen=True)
class Step:
    """Noise of ``kind`` on a sample of rate ``q``, or on all records at rate 1."""

    kind: type[Noise]
    rate: Real
    q: Real
    #: The profile of the step at every real epsilon.
    divergence: Callable[[arb], arb]


class _Outer:
    """The step whose outcomes are integrated over, at the current precision."""

    def __init__(self, step: Step, removes: bool, level: arb) -> None:
        self.noise, self.q, self.removes = step.kind(step.rate), ball(step.q), removes
        self.stay, self.level = 1 - self.q, level

    def sides(self, ratio: acb) -> tuple[acb, acb]:
        """The densities ``a`` and ``b``, over that of ``Q``, of which ``(a P - b Q)_+`` is left."""
        mixed = self.stay + self.q * ratio
        return (mixed, acb(self.level)) if self.removes else (acb(1), self.level * mixed)

    def masses(self, z: arb, above: bool) -> tuple[arb, arb]:
        """The same as masses of the outcomes above or below one."""
        q, p = self.noise.mass(z, above)
        mixed = self.stay * q + self.q * p
        return (mixed, self.level * q) if self.removes else (q, self.level * mixed)

    def place(self, level: arb) -> arb:
        """The outcome at which the other step is asked for a level, or the end next to it."""
        ratio = self.level / level if self.removes else level / self.level
        ratio = (ratio - self.stay) / self.q
        low, high = self.noise.window()
        if ratio <= 0:
            return low
        if ratio > 0:
            return self.noise.place(ratio).max(low).min(high)
        return low.union(self.noise.place(ratio.upper()).max(low).min(high))


class _Inner:
    """The step whose profile is integrated, at the current precision."""

    def __init__(self, step: Step, removes: bool) -> None:
        self.noise, self.q, self.removes = step.kind(step.rate), ball(step.q), removes
        self.stay = 1 - self.q

    def levels(self) -> tuple[arb, arb]:
        """Those of the step where the noise has its own."""
        low, high = self.noise.levels()
        if self.removes:
            return self.stay + self.q * low, self.stay + self.q * high
        return low / (self.q + self.stay * low), high / (self.q + self.stay * high)

    def inside(self, level: acb) -> tuple[acb, acb]:
        """What the profile of the noise is multiplied with, and the level at which it is asked."""
        if self.removes:
            return acb(self.q), (level - self.stay) / self.q
        rest = 1 - self.stay * level
        return rest, self.q * level / rest


def divergence(outer: Step, inner: Step, removes: bool, epsilon: arb) -> arb:
    """``delta(epsilon)`` of both steps, at any real ``epsilon``."""
    level = epsilon.exp()
    first, second = _Outer(outer, removes, level), _Inner(inner, removes)
    noise = first.noise
    cuts = [first.place(at) for at in second.levels()]
    # proposes: where to cut; any place may be one, but for kinks and ends
    if noise.is_analytic and second.noise.is_analytic:
        cuts = [cut.mid() for cut in cuts]
    left, right = reversed(cuts) if removes else cuts
    total = arb(0)
    for ratio, mass in noise.atoms():
        a, b = (x.real for x in first.sides(acb(ratio)))
        total += mass * a * inner.divergence((b / a).log())
    # on one side everything counts, on the other nothing, but for what the noise may add there
    for cut, above in ((left, False), (right, True)):
        # proposes: the cut; rays from any are bounded
        edge = cut.upper() if above else cut.lower()
        a, b = first.masses(edge, above)
        # proposes: likewise
        everything = above == removes
        most = _beyond(first, second, edge, everything) * (b if everything else a)
        total += (arb(0).union(most) + (a - b if everything else 0)).intersection(arb(0).union(a))
        # proposes: likewise; where the kink of a profile is not known better
        if not cut.is_exact():
            total += arb(0).union(first.masses(cut, above)[0] - a)

    def integrand(z: acb, analytic: bool) -> acb:
        a, b = first.sides(noise.ratio(z))
        share, at = second.inside(b / a)
        # where the logarithm is analytic; elsewhere the interval is halved
        if not at.real > 0:
            return acb(arb.nan())
        return noise.density(z) * a * share * second.noise.between(at)

    # proposes: likewise; where rays meet nothing is between
    if left.upper() < right.lower():
        tolerance = arb(2) ** (_SPARE - balls.current())
        limits = {"abs_tol": tolerance, "rel_tol": tolerance, "eval_limit": _MOST_EVALUATIONS}
        total += balls.integral(integrand, left.upper(), right.lower(), **limits).real
    return total


def _beyond(first: _Outer, second: _Inner, cut: arb, everything: bool) -> arb:
    """A bound on the profile of the noise, or its reverse at the inverse level, beyond a cut."""
    a, b = first.sides(first.noise.ratio(acb(cut)))
    level = second.inside(b / a)[1].real
    if level < 0:  # beyond what any noise tells: everything counts of removing, nothing of adding
        return arb(0) if everything == second.removes else arb(1)
    bound = second.noise.beyond(1 / level if everything else level)
    return bound.upper() if bound.is_finite() else arb(1)
