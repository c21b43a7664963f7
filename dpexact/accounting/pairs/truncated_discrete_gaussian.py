"""Discrete Gaussian noise of bounded support."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact.accounting.pairs.finite import Listed, total
from dpexact.accounting.pairs.lattice import OnLattice
from dpexact.accounting.pairs.pair import Atom, Masses
from dpexact.balls import ball
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import ONE, Real, exponential, rational

#: Largest bound of the noise, and most outcomes that are written out as exact numbers.
MAX_BOUND: Final = 10_000
_FEW: Final = 40


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
