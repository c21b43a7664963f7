r"""Large losses of rare samples, set aside: a line sees the others, which live on one scale.

With ``F`` the event that some step has an outcome above its ceiling,

.. math:: \delta(\varepsilon) = \delta_{near}(\varepsilon) + P(F) - e^\varepsilon Q(F) + R,
          \qquad 0 \le R = E_P[(e^{\varepsilon - Z} - 1)_+; F],

``near`` the finite losses where no step has one (``docs/theory/atoms.md``, section 6).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from flint import arb

from dpexact.accounting.engines.contour.product import Product, log_chernoffs
from dpexact.accounting.pairs.pair import Masses, Pair, chernoff_constant
from dpexact.accounting.pairs.sampled_noises import SampledNoises, Within
from dpexact.balls import approximate, approximate_log, current, precision

_LN10: Final = math.log(10)
#: Accuracy of what only bounds.
_COARSE: Final = 3.0
#: Bits beyond those of a line, and those of a mass that only bounds.
_MORE_BITS: Final = 64
_FEW_BITS: Final = 10
#: Digits of delta below which what is not known of it shall be.
_MORE_DIGITS: Final = 1.5
#: Ceilings tried, by the loss over epsilon, and orders, over one.
_LEVELS: Final = 2.0 ** np.arange(-2, 12, 1 / 4)
_ORDERS: Final = 2.0 ** np.arange(-4, 13, 1 / 2)
#: Most that the largest loss of adding a record grows to by an order: more is more work.
_MOST_GROWTH: Final = 100.0
#: By which share of the way to it a ceiling is below the next outcome.
_BELOW: Final = 1 / 64


class SetAside:
    """What outcomes above the ceilings of ``near`` add to delta of ``factors``.

    ``order`` is that of the bound on what is not known of it.
    """

    def __init__(
        self, factors: Sequence[tuple[Pair, int]], near: Sequence[tuple[Pair, int]], order: float
    ) -> None:
        self.near = tuple(near)
        self._whole = Product(factors)
        self._order = order
        self._known: tuple[int, arb, arb, arb] | None = None

    def added(self, epsilon: arb) -> Masses:
        """``P(F) - e^eps Q(F)``, with infinite losses of all steps; and a bound on ``R``."""
        if self._known is None or self._known[0] != current():
            self._known = current(), *self._masses(), self._bound()
        _, p, q, most = self._known
        return p - epsilon.exp() * q, (most * ((1 + arb(self._order)) * epsilon).exp()).upper()

    def _masses(self) -> Masses:
        """``P`` and ``Q`` of what is set aside, the former with all infinite losses."""
        stays = [arb(0), arb(0)]
        cut = [(pair, n) for pair, n in self.near if isinstance(pair, Within)]
        bits = current()
        with precision(bits + _MORE_BITS):
            for pair, n in cut:
                for i, lost in enumerate(pair.without(bits)):
                    stays[i] += n * (-lost).log1p()
            whole, other = self._whole.mass(1), self._whole.reverse.mass(1)
            q, p = (-stay.expm1() for stay in stays)
            return (1 - whole) + whole * p, other * q

    def _bound(self) -> arb:
        """``R e^{-(1+b) eps}`` is at most ``K(b) M(-1-b)`` with one step of ``F`` in turn."""
        b, reverse = arb(self._order), self._whole.reverse
        share = arb(0)
        for (pair, _), (near, n) in zip(self._whole.factors, self.near, strict=True):
            if isinstance(near, Within):
                lost, _ = near.without(_FEW_BITS)
                far = (-b * near.highest).exp() * lost
                share += n * far / pair.reverse.moment(self._order, _COARSE)
        return chernoff_constant(b) * reverse.moment(self._order, _COARSE) * share


def set_aside(product: Product, epsilon: float, log_delta: float, digits: float) -> SetAside | None:
    """With the lowest ceilings at which what is not known hardly matters, if there are any.

    Proposes: ceilings; whatever they are, what is added is enclosed.
    """
    cut = [pair for pair, _ in product.factors if isinstance(pair, SampledNoises) and pair.removes]
    if not (cut and epsilon > 0 and math.isfinite(log_delta)):
        return None
    needed = log_delta - (digits + _MORE_DIGITS) * _LN10
    runs = sum(n for _, n in product.factors)
    accuracy = math.log(runs) - needed + min(epsilon, _MOST_GROWTH)
    laws = {pair: _Law(pair, accuracy) for pair in cut}
    most = -_MOST_GROWTH / min(approximate_log(1 - pair.q) for pair in cut)
    orders = np.minimum(_ORDERS / epsilon, most)
    jets = [pair.reverse.cumulants(orders.tolist()) for pair, _ in product.factors]
    logs = np.array([[jet.value for jet in row] for row in jets])
    counts = np.array([float(n) for _, n in product.factors])
    base = counts @ logs + log_chernoffs(orders) + (1 + orders) * epsilon
    for level in _LEVELS * epsilon:
        bound, near = np.full(orders.shape, -np.inf), []
        for (pair, n), row in zip(product.factors, logs, strict=True):
            if pair in laws:
                pair, top, tail = laws[pair].at(level)
                bound = np.logaddexp(bound, math.log(n) + tail - orders * top - row)
            near.append((pair, n))
        least = int(np.argmin(base + bound))
        if (base + bound)[least] < needed:
            return SetAside(product.factors, near, float(orders[least]))
    return None


class _Law:
    """Proposes: outcomes of one pair, in the order of their losses, and the masses above each."""

    def __init__(self, pair: SampledNoises, accuracy: float) -> None:
        masses, losses, logs = pair.listing.sketched(0.0, accuracy)
        order = np.argsort(losses)
        masses, losses, self._logs = masses[order], losses[order], logs[order]
        self._pair = pair
        # of an outcome alone any gap will do
        gaps = np.diff(losses, prepend=losses[0] - 1) * _BELOW
        #: Above each of the outcomes, next to the following one.
        self._ceilings = np.append(losses[1:] - gaps[1:], losses[-1] + gaps[-1])
        self._highest = np.log1p(approximate(pair.q) * np.expm1(self._ceilings))
        #: ``log Q`` of those above.
        self._tails = np.append(np.logaddexp.accumulate(masses[:0:-1])[::-1], -accuracy)

    def at(self, level: float) -> tuple[Within, float, float]:
        """The pair below the loss ``level``, ``log w`` of its ceiling and ``log Q`` above it."""
        i = min(int(np.searchsorted(self._logs, level)), len(self._logs) - 1)
        return Within(self._pair, float(self._ceilings[i])), float(self._highest[i]), self._tails[i]
