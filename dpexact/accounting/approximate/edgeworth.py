r"""Edgeworth expansions of the privacy loss (Zheng, Dong, Long, Su 2020).

With ``h`` the standardised epsilon and ``rho_3``, ``rho_4`` the skewness and excess kurtosis of the
total loss,

.. math:: 1 - F(h) = Q(h) + \varphi(h)\Big[\frac{\rho_3}{6}(h^2 - 1)
          + \frac{\rho_4}{24}(h^3 - 3h) + \frac{\rho_3^2}{72}(h^5 - 10h^3 + 15h)\Big],

the first order being the term in ``rho_3`` alone. The loss is expanded under ``P`` and under ``Q``,
and ``delta = (1 - F_P) - e^eps (1 - F_Q)``. Nothing ensures that this is positive or decreases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from flint import arb

from dpexact.accounting.approximate.base import Approximation, Larger
from dpexact.accounting.approximate.moments import sampled_cumulants, summed
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs.pair import Pair
from dpexact.arguments import Direction
from dpexact.balls import normal_tail


class Edgeworth(Approximation):
    """The expansion of ``order`` 1 or 2 from the first four cumulants under ``P`` and ``Q``."""

    def __init__(self, cumulants: Callable[[], Sequence[arb]], order: int) -> None:
        self.cumulants = cumulants
        self.order = order
        self.method: str = f"Edgeworth, order {order}"

    def delta_ball(self, epsilon: arb) -> arb:
        found = self.cumulants()
        return self._tail(epsilon, *found[:4]) - epsilon.exp() * self._tail(epsilon, *found[4:])

    def _tail(self, epsilon: arb, mean: arb, variance: arb, third: arb, fourth: arb) -> arb:
        scale = variance.sqrt()
        h = (epsilon - mean) / scale
        skewness, kurtosis = third / (variance * scale), fourth / (variance * variance)
        square = h * h  # powers of balls that hold 0 are no numbers
        correction = skewness / 6 * (square - 1)
        if self.order == 2:
            correction += kurtosis / 24 * h * (square - 3)
            correction += skewness * skewness / 72 * h * (square * (square - 10) + 15)
        density = (-h * h / 2).exp() / (2 * arb.pi()).sqrt()
        return normal_tail(h) + density * correction


def edgeworth(c: Composition, order: int, direction: Direction) -> Approximation:
    """The expansion for a composition of responses, additive noise and samples of Gaussians.

    Raises:
        UnsupportedMechanism: another sample.
    """
    if direction == "both" and c.is_directed:
        return Larger(edgeworth(c, order, "remove"), edgeworth(c, order, "add"))

    def of_pair(pair: Pair) -> list[arb]:  # Z under Q is -Z of the reverse under its P
        loss, back = pair.loss_moments(), pair.reverse.loss_moments()
        return [*loss[:4], *_negated(back[:4])]

    def of_sample(mu: arb, q: arb) -> list[arb]:
        mixture, normal = (sampled_cumulants(mu, q, weighted) for weighted in (True, False))
        return [*_negated(normal), *_negated(mixture)] if direction == "add" else mixture + normal

    return Edgeworth(summed(c.facing(direction), of_pair, of_sample), order)


def _negated(cumulants: Sequence[arb]) -> list[arb]:
    """Those of ``-Z``."""
    return [-c if j % 2 == 0 else c for j, c in enumerate(cumulants)]
