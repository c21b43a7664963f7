r"""The symmetric hull of Gaussian noise on samples, ``C_q(G_mu)`` (Dong, Roth, Su 2022, section 4).

With :math:`w(x) = 1 - q + q e^{\mu x - \mu^2/2}` its losses above 0 are the :math:`\log w(x)`,
:math:`x > \mu/2`, of :math:`(1-q) N(0) + q N(\mu)` against ``N(0)``; those below 0 mirror them; and
an atom at 0 holds the rest, ``rest``. With :math:`\varphi` the density of ``N(0)``

.. math:: M(s) = rest + \int_{\mu/2}^\infty (w^{s+1} + w^{-s})\,\varphi\,dx .

The integrals over the whole line are the moments of both directions of a Poisson sample. Those over
what is left of :math:`\mu/2`, where :math:`1-q < w < 1`, are binomial series about the middle of
that range. Proofs: ``docs/theory/lattice-engine.md``, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from flint import acb, arb

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.mixture import GaussianMixtures, remove
from dpexact.accounting.pairs.pair import Jet, Pair, TooExpensive
from dpexact.balls import approximate, ball, current, precision
from dpexact.kept import cached_property
from dpexact.reals import Real

_LN2: Final = math.log(2)
#: Most terms of all binomial series of a line: a second.
_MOST_TERMS: Final = 400_000
#: About the work of both series at a node.
_SERIES_WORK: Final = 80
#: Spacing and reach of the float integral, in standard deviations; and how far it may go.
_SPACING: Final = 0.02
_REACH: Final = 12.0
_FARTHEST: Final = 300.0
#: One in so many of its points outlines the law.
_EVERY: Final = 5


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def series_tail(term: arb, size: arb, count: int, ratio: arb) -> arb:
    r"""Of :math:`\sum_k \binom{e}{k} r^k m_k` beyond ``count`` terms, ``|m_k| <= 1``.

    ``term`` is the size of the first one left out, ``size`` is ``|e|``. One term is at most
    :math:`r \max(1, (|e| + k)/(k + 1))` times that before, which never rises with ``k``.
    """
    fall = ratio * arb.max((size + count) / (count + 1), arb(1))
    return term / (1 - fall) if fall < 1 else arb("inf")


def by_parts(edge: arb, above: arb, below: arb, c: arb, u: arb) -> arb:
    r"""``|M(c + iu) - rest|`` where the density ``g`` of the losses falls from ``edge`` at 0.

    ``above`` and ``below`` are :math:`\int_0^\infty e^{(c+1)z} g` and :math:`\int e^{-cz} g`.
    """
    varied = 2 * edge + (c + 1) * above - c * below
    return edge / (u * u) + varied / u


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

    def _rest(self) -> arb:
        """``1 - P(Z > 0) - Q(Z > 0)``: ``(1 - q)(1 - 2 Phi(-mu/2))``."""
        return (1 - ball(self.q)) * (1 / (ball(self.sigma) * arb(8).sqrt())).erf()

    # --- what is left of mu/2 ---------------------------------------------------------------------

    def _powers(self, count: int) -> list[arb]:
        r"""``E[y^k; x < mu/2]``, :math:`y = 2 e^{\mu x - \mu^2/2} - 1`: in ``[-1, 1]``."""
        mu, root = 1 / ball(self.sigma), arb(2).sqrt()
        differences, found = [], []
        for j in range(count):
            below = (mu * (arb(j) - arb(0.5)) / root).erfc() / 2
            differences.append((arb(j * (j - 1)) * mu * mu / 2).exp() * below * (1 << j))
        while differences:
            found.append(differences[0])
            differences = [b - a for a, b in pairwise(differences)]
        return found

    def _terms(self, size: float, nodes: int) -> tuple[int, int]:
        """Proposes: how many terms of series of exponents up to that size, and bits they lose."""
        q = approximate(self.q)
        ratio, log, most, k = q / (2 - q), 0.0, 0.0, 0
        while log > -current() * _LN2:
            log += math.log(ratio * max((size + k) / (k + 1), 1.0))
            most, k = max(most, log), k + 1
            if k * (k + nodes) > _MOST_TERMS:
                raise TooExpensive("the series of what is left of mu/2 is too long")
        return k, math.ceil(most / _LN2)

    def _left(self, orders: Sequence[acb]) -> list[tuple[acb, acb]]:
        r"""Of each ``s``, :math:`\int_{-\infty}^{\mu/2} w^{s+1} \varphi`, and with ``w^{-s}``."""
        count, lost = self._terms(float(abs(orders[-1]).upper()) + 1, len(orders))
        with precision(current() + lost + 2 * count + 20):
            powers, middle = self._powers(count), 1 - ball(self.q) / 2
            ratio, log = ball(self.q) / 2 / middle, middle.log()
            shares = [ratio / k for k in range(1, count + 1)]

            def series(e: acb) -> acb:
                term, total = acb(1), acb(0)
                for k, (power, share) in enumerate(zip(powers, shares, strict=True)):
                    total += power * term
                    term *= (e - k) * share
                error = series_tail(abs(term).upper(), abs(e).upper(), count, ratio).upper()
                return (e * log).exp() * (total + acb(arb(0, error), arb(0, error)))

            return [(series(s + 1), series(-s)) for s in orders]

    # --- moments ----------------------------------------------------------------------------------

    def _right(self, c: float | Real, accuracy: float) -> tuple[arb, arb]:
        r"""Those from :math:`\mu/2` on, of a real order."""
        ((up, down),) = self._left([acb(ball(c))])
        sample = self._sample
        above = sample.moment(c, accuracy) - up.real
        return above, sample.reverse.moment(c, accuracy) - down.real

    def moment(self, c: float | Real, accuracy: float) -> arb:
        """By the moments of both directions."""
        return self._rest() + sum(self._right(c, accuracy), arb(0))

    def moments(self, c: float, step: float, count: int, accuracy: float) -> list[acb]:
        """Likewise, all nodes at once."""
        start, rise, rest = arb(c), arb(step), self._rest()
        # proposes: how many; each is enclosed
        left = self._left([acb(start, n * rise) for n in range(count + 1)])
        up = self._sample.moments(c, step, count, accuracy)
        down = self._sample.reverse.moments(c, step, count, accuracy)
        return [rest + a + b - x - y for a, b, (x, y) in zip(up, down, left, strict=True)]

    def decayed(self, c: float, u: float, accuracy: float) -> arb:
        """By parts; never above ``M(c)``."""
        above, below = self._right(c, accuracy)
        mu = 1 / ball(self.sigma)
        edge = (-mu * mu / 8).exp() / ((2 * arb.pi()).sqrt() * mu * ball(self.q))
        rest = self._rest()
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
        """Those of both directions, and the series."""
        sides = [side.line_cost(c, accuracy) for side in (self._sample, self._sample.reverse)]
        return sum(n for n, _ in sides) + _SERIES_WORK, max(bits for _, bits in sides)
