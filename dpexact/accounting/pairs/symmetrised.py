r"""The symmetric hull of Gaussian noise on samples, ``C_q(G_mu)`` (Dong, Roth, Su 2022, section 4).

With :math:`w(x) = 1 - q + q e^{\mu x - \mu^2/2}` its losses above 0 are the :math:`\log w(x)`,
:math:`x > \mu/2`, of :math:`(1-q) N(0) + q N(\mu)` against ``N(0)``; those below 0 mirror them; and
an atom at 0 holds the rest, ``rest``. With :math:`\varphi` the density of ``N(0)``

.. math:: M(s) = rest + \int_{\mu/2}^\infty (w^{s+1} + w^{-s})\,\varphi\,dx .

The integrals over the whole line are the moments of both directions of a Poisson sample. In those
over what is left of :math:`\mu/2`, where :math:`1-q < w < 1`, powers of ``w`` are interpolated at
Chebyshev's points of that range. Proofs: ``docs/theory/lattice-engine.md``, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

import numpy as np
from flint import acb, arb, arb_mat, fmpq

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.mixture import GaussianMixtures, remove
from dpexact.accounting.pairs.pair import Jet, Pair, TooExpensive
from dpexact.accounting.pairs.sums.power_sums import exponential_line
from dpexact.balls import approximate, ball, current, normal_tail, precision
from dpexact.kept import cached_property
from dpexact.reals import Real

_LN2: Final = math.log(2)
#: Most points of an interpolation: a tenth of a second.
_MOST_POINTS: Final = 500
#: Their number is a multiple of this, so that weights serve again.
_ROUND: Final = 20
#: Ellipses that are tried, as shares of the way to the largest.
_ELLIPSES: Final = np.geomspace(0.001, 0.98, 60)
#: Smaller shares of it are as good as none.
_LEAST: Final = 1e-100
#: About the work of both interpolations at a node.
_POINTS_WORK: Final = 160
#: Spacing and reach of the float integral, in standard deviations; and how far it may go.
_SPACING: Final = 0.02
_REACH: Final = 12.0
_FARTHEST: Final = 300.0
#: One in so many of its points outlines the law.
_EVERY: Final = 5


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def interpolated(ellipse: arb, ratio: arb, order: arb, height: arb, count: int) -> arb:
    r"""How far :math:`(1 + r y)^e` on ``[-1, 1]`` is from its interpolation in ``count`` points.

    Within the ellipse of semi-axes :math:`a, b = (\varrho \pm 1/\varrho)/2` it is at most
    :math:`B = (1 \pm r a)^{\Re e}\,e^{|\Im e|\,\vartheta}` with
    :math:`\tan\vartheta = r b/\sqrt{1 - r^2 a^2}`, and the error
    :math:`4 B \varrho^{-n}/(1 - 1/\varrho)`. ``order`` is :math:`\Re e`, and
    :math:`|\Im e|` at most ``height``.
    """
    wide, high = ratio * (ellipse + 1 / ellipse) / 2, ratio * (ellipse - 1 / ellipse) / 2
    largest = arb.max((1 + wide) ** order, (1 - wide) ** order)
    turned = (height * (high / (1 - wide * wide).sqrt()).atan()).exp()
    return 4 * largest * turned * ellipse**-count / (1 - 1 / ellipse)


def by_parts(edge: arb, above: arb, below: arb, c: arb, u: arb) -> arb:
    r"""``|M(c + iu) - rest|`` where the density ``g`` of the losses falls from ``edge`` at 0.

    ``above`` and ``below`` are :math:`\int_0^\infty e^{(c+1)z} g` and :math:`\int e^{-cz} g`.
    """
    varied = 2 * edge + (c + 1) * above - c * below
    return edge / (u * u) + varied / u


def left_out(lowest: arb, order: arb, edge: arb) -> arb:
    r"""On the integral of :math:`w^e \varphi` below ``edge``, ``lowest`` the infimum of ``w``."""
    return arb.max(lowest**order, arb(1)) * normal_tail(-edge)


@lru_cache(maxsize=16)
def _weights(sigma: Real, edge: int, count: int, bits: int) -> tuple[list[arb], list[arb]]:
    r"""Chebyshev's points, and ``E[l(y); edge < x < mu/2]`` of Lagrange's polynomial for each.

    With :math:`t = e^{\mu x - \mu^2/2}` from ``t_0`` to 1, :math:`y = (2t-1-t_0)/(1-t_0)`. Means of
    :math:`T_k(y)\,t^j` follow from those of lower ``k``: :math:`T_{k+1} = 2 y T_k - T_{k-1}`, also
    of :math:`T_{-1} = T_1`.
    """
    # proposes: how many bits the steps lose
    lost = 4 - math.log2(-math.expm1(edge / approximate(sigma)))
    with precision(bits + math.ceil(lost * count)):
        mu, found = 1 / ball(sigma), []
        least = (mu * edge - mu * mu / 2).exp()
        steep, shift = 2 / (1 - least), (1 + least) / (1 - least)
        means = [
            (arb(j * (j - 1)) * mu * mu / 2).exp()
            * (normal_tail(mu * (j - arb(0.5))) - normal_tail(mu * j - edge))
            for j in range(count)
        ]
        before = [steep * b - shift * a for a, b in pairwise(means)]
        while means:
            found.append(means[0])
            turned = [2 * (steep * b - shift * a) for a, b in pairwise(means)]
            before, means = means, [x - past for x, past in zip(turned, before, strict=False)]
    with precision(bits):
        sums = [found[0] / count, *(2 * mean / count for mean in found[1:])]
        cosines = [arb.cos_pi_fmpq(fmpq(n, 2 * count)) for n in range(4 * count)]
        odd = range(1, 2 * count, 2)
        table = arb_mat([[cosines[k * n % len(cosines)] for k in range(count)] for n in odd])
        return [cosines[n] for n in odd], (table * arb_mat(count, 1, sums)).entries()


@dataclass(frozen=True)
class Symmetrised(Pair):
    """Of noise ``N(0, sigma^2)``, moved by 1, at rate ``0 < q < 1``."""

    sigma: Real
    q: Real

    @cached_property
    def _sample(self) -> GaussianMixtures:
        return remove(self.sigma, self.q)

    #: All but the atom, of which little is left after some steps.
    decays = True

    #: The lattice has its own.
    has_tails = False

    def overlap(self) -> arb:
        """That of the sample, whose profile at 0 it has."""
        return self._sample.overlap()

    def largest_loss(self) -> arb | None:
        return None

    def rest(self) -> arb:
        """``1 - P(Z > 0) - Q(Z > 0)``: ``(1 - q)(1 - 2 Phi(-mu/2))``."""
        return (1 - ball(self.q)) * (1 / (ball(self.sigma) * arb(8).sqrt())).erf()

    # --- what is left of mu/2 ---------------------------------------------------------------------

    def _range(self, edge: float) -> tuple[arb, arb]:
        """``r`` and ``m``: from ``edge`` on, ``w`` is :math:`m (1 + r y)`, ``y`` in ``[-1, 1]``."""
        mu = 1 / ball(self.sigma)
        half = -ball(self.q) * (mu * edge - mu * mu / 2).expm1() / 2
        return half / (1 - half), 1 - half

    def _points(self, c: float, height: float) -> tuple[int, float, int]:
        """Proposes: an edge, an ellipse, and the points it needs, for ``Re s = c`` to a height."""
        wanted = current() * _LN2 + 2
        edge = -math.ceil(
            math.sqrt(2 * (wanted - max(c, -1 - c) * math.log1p(-approximate(self.q))))
        )
        r, middle = map(float, self._range(edge))
        r = max(r, _LEAST)
        logs = _ELLIPSES * math.acosh(1 / r)
        wide, high = r * np.cosh(logs), r * np.sinh(logs)
        near, far = (math.log(middle) + np.log1p(x) for x in (-wide, wide))
        sizes = [order * end for order in (c + 1, -c) for end in (near, far)]
        turned = height * np.arctan(high / np.sqrt(1 - wide * wide))
        counts = (np.maximum.reduce(sizes) + turned - np.log(-np.expm1(-logs)) + wanted) / logs
        best = int(np.argmin(counts))
        count = _ROUND * math.ceil(counts[best] / _ROUND)
        if count > _MOST_POINTS:
            raise TooExpensive("too many points for what is left of mu/2")
        return edge, math.exp(logs[best]), count

    def _left(self, c: float | Real, step: float, count: int) -> tuple[list[acb], list[acb]]:
        r"""Of all ``s``, :math:`\int_{-\infty}^{\mu/2} w^{s+1} \varphi`, and with ``w^{-s}``."""
        edge, ellipse, many = self._points(approximate(c), step * count)
        (ratio, middle), height = self._range(edge), arb(step) * count
        points, weights = _weights(self.sigma, edge, many, current())
        logs = [(ratio * y).log1p() + middle.log() for y in points]

        def line(order: arb, sign: int) -> list[acb]:
            error = middle**order * interpolated(arb(ellipse), ratio, order, height, many)
            error += left_out(1 - ball(self.q), order, arb(edge))
            terms = [
                (acb(weight * (order * log).exp()), acb(sign * log))
                for weight, log in zip(weights, logs, strict=True)
            ]
            return exponential_line(terms, arb(0, error.upper()), step, count)

        return line(ball(c) + 1, 1), line(-ball(c), -1)

    # --- moments ----------------------------------------------------------------------------------

    def _right(self, c: float | Real, accuracy: float) -> tuple[arb, arb]:
        r"""Those from :math:`\mu/2` on, of a real order."""
        (up,), (down,) = self._left(c, 0.0, 0)
        sample = self._sample
        above = sample.moment(c, accuracy) - up.real
        return above, sample.reverse.moment(c, accuracy) - down.real

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """By the moments of both directions."""
        return self.rest() + sum(self._right(c, accuracy), arb(0))

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """Likewise, all nodes at once."""
        wholes = (x.moments(c, step, count, accuracy) for x in (self._sample, self._sample.reverse))
        rows = zip(*wholes, *self._left(c, step, count), strict=True)
        return [self.rest() + a + b - x - y for a, b, x, y in rows]

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """By parts; never above ``M(c)``."""
        above, below = self._right(c, accuracy)
        mu = 1 / ball(self.sigma)
        edge = (-mu * mu / 8).exp() / ((2 * arb.pi()).sqrt() * mu * ball(self.q))
        rest = self.rest()
        bound = rest + by_parts(edge, above, below, ball(c), arb(u))
        return arb.min(bound.upper(), (rest + above + below).upper())

    # --- floats -----------------------------------------------------------------------------------

    def _floats(self, c: float) -> tuple[Floats, ...]:
        """Proposes: losses, and the logarithms of both integrands at them."""
        mu, q = 1 / approximate(self.sigma), approximate(self.q)
        farthest = max(c + 1, -c) * mu + _REACH + mu / 2
        if farthest > _FARTHEST:
            raise TooExpensive("floats do not reach to plan it")
        x = np.arange(mu / 2, farthest, _SPACING)
        loss = np.log1p(q * np.expm1(mu * (x - mu / 2)))
        log = math.log(_SPACING / math.sqrt(2 * math.pi)) - x * x / 2
        log[0] -= _LN2
        return loss, log + (c + 1) * loss, log - c * loss

    def cumulant(self, c: float) -> Jet:
        """Proposes: by the trapezoidal rule, for ``M(c) - M(0)`` where that is near 0."""
        loss, up, down = self._floats(c)
        top = max(up.max(), down.max(), 0.0)
        above, below = np.exp(up - top), np.exp(down - top)
        if top > 0:
            whole = self._float_rest * math.exp(-top) + (above + below).sum()
            value = top + math.log(whole)
        else:
            more = -(above * np.expm1(-c * loss) + below * np.expm1(c * loss)).sum()
            value, whole = math.log1p(more), 1 + more
        slope = ((above - below) * loss).sum() / whole
        bend = ((above + below) * loss * loss).sum() / whole - slope * slope
        return Jet(float(value), float(slope), float(bend))

    @cached_property
    def _float_rest(self) -> float:
        mu = 1 / approximate(self.sigma)
        return (1 - approximate(self.q)) * math.erf(mu / math.sqrt(8))

    def outline(self, c: float) -> list[tuple[float, float]]:
        """The atom, and some losses of either sign."""
        loss, up, down = (found[::_EVERY] for found in self._floats(c))
        more = math.log(_EVERY)
        sides = zip((up, down), (loss, -loss), strict=True)
        found = [pair for logs, at in sides for pair in zip(logs + more, at, strict=True)]
        return [(math.log(self._float_rest), 0.0), *((float(a), float(b)) for a, b in found)]

    def decay_estimate(self, c: float) -> Callable[[float], float]:
        """Proposes: the same bound in floats."""
        _, up, down = self._floats(c)
        mu, most = 1 / approximate(self.sigma), self.cumulant(c).value
        edge = math.exp(-mu * mu / 8) / (math.sqrt(2 * math.pi) * mu * approximate(self.q))
        varied = 2 * edge + (c + 1) * float(np.exp(up).sum()) - c * float(np.exp(down).sum())
        rest = self._float_rest

        def estimate(u: float) -> float:
            return min(most, math.log(rest + edge / (u * u) + varied / u)) if u > 0 else most

        return estimate

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """Those of both directions, and both interpolations."""
        sides = [side.line_cost(c, accuracy) for side in (self._sample, self._sample.reverse)]
        return sum(n for n, _ in sides) + _POINTS_WORK, max(bits for _, bits in sides)
