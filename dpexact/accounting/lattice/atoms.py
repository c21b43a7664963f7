"""Steps of finitely or countably many outcomes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final

from flint import arb

from dpexact.accounting.few_atoms import Atom
from dpexact.accounting.lattice.grid import Grid
from dpexact.accounting.lattice.pieces import Pieces, atomic, reach
from dpexact.accounting.lattice.sampling import Sampling
from dpexact.accounting.lattice.steps import Step
from dpexact.accounting.lattice_part import MAX_ATOMS, DiscreteGaussianPart
from dpexact.balls import approximate, ball, precision
from dpexact.errors import UnsupportedMechanism

_PLANNING_BITS: Final = 256


@dataclass(frozen=True)
class FiniteStep(Step):
    """A step given by its outcomes, not all of them of infinite loss.

    The lattice starts at the loss of the first outcome of finite loss. Outcomes impossible under
    ``P`` never matter.
    """

    outcomes: tuple[Atom, ...]
    count: int
    first_points: ClassVar[int] = 64

    def _finite(self) -> list[tuple[arb, arb]]:
        kept = [a for a in self.outcomes if a.p.fraction != 0 and a.q.fraction != 0]
        return [(ball(a.p), ball(a.q)) for a in kept]

    def _losses(self) -> list[arb]:
        return [(p / q).log() for p, q in self._finite()] or [arb(0)]

    def offset(self) -> arb:
        """The loss of the first outcome."""
        return self._losses()[0]

    def largest(self) -> arb:
        """The largest of the losses."""
        losses = self._losses()
        result = losses[0]
        for loss in losses[1:]:
            result = result.max(loss)
        return result

    def infinite(self) -> arb:
        """The mass of the outcomes impossible under ``Q``."""
        return sum((ball(a.p) for a in self.outcomes if a.q.fraction == 0), arb(0))

    def span(self, tail: float) -> tuple[float, float]:
        """From the lowest loss to the largest."""
        with precision(_PLANNING_BITS):
            losses = [float(loss.mid()) for loss in self._losses()]
        return min(losses) - losses[0], max(losses) - losses[0]

    def pieces(self, grid: Grid, tail: float) -> Pieces:
        """The outcomes as they are."""
        return atomic(self._finite(), self.offset(), self.infinite())


@dataclass(frozen=True)
class DiscreteGaussianStep(Step):
    r"""The discrete Gaussian mechanism, perhaps on a Poisson sample.

    With :math:`w_x = e^{-x^2/(2\sigma^2)}` the outcome ``x`` has masses ``w_x/W`` under ``P`` and
    ``w_(x+s)/W`` under ``Q``, ``W`` the sum of all ``w``, so its loss is
    :math:`(s/\sigma^2)(x + s/2)`. Beyond ``x`` the ratios of neighbouring ``w`` only fall, so with
    ``r`` the first of them the rest is at most :math:`w_x r/(1-r)`.
    """

    part: DiscreteGaussianPart
    sampling: Sampling
    count: int

    def offset(self) -> arb:
        """The loss of the outcome 0."""
        return self.sampling.loss(ball(self.part.spacing) * ball(self.part.origin))

    def largest(self) -> arb | None:
        """Bounded in direction ``add``."""
        return self.sampling.edge() if self.sampling.add else None

    def lost_bits(self) -> int:
        """Those of sampling."""
        return self.sampling.lost_bits()

    def _reach(self, tail: float) -> int:
        """The largest ``|x|`` that is listed."""
        found = math.ceil(reach(tail) * math.sqrt(approximate(self.part.variance))) + 2
        # proposes: what is too much work
        if 2 * found + self.part.sensitivity > MAX_ATOMS:
            raise UnsupportedMechanism(
                f"no certified accounting for a discrete Gaussian of more than {MAX_ATOMS} "
                "outcomes: sigma is too large"
            )
        return found

    def span(self, tail: float) -> tuple[float, float]:
        """Between the losses of the first and last outcome that are listed."""
        far, unit = self._reach(tail), approximate(self.part.spacing)
        origin = unit * float(self.part.origin)
        start = self.sampling.about(origin)
        ends = [self.sampling.about(side * (far * unit + origin)) - start for side in (-1, 1)]
        return min(ends), max(ends)

    def pieces(self, grid: Grid, tail: float) -> Pieces:
        """The outcomes around 0; the rest is infinite loss above and left out below."""
        far, s = self._reach(tail), self.part.sensitivity
        factor = -1 / (2 * ball(self.part.variance))
        # proposes: how far to list; `beyond` bounds the other weights
        half = [(factor * (x * x)).exp() for x in range(far + s + 1)]
        ratio = (factor * (2 * (far + s) + 1)).exp()
        beyond = 2 * half[-1] * ratio / (1 - ratio) * arb(0).union(arb(1))
        total = 2 * sum(half, arb(0)) - half[0] + beyond
        masses = [w / total for w in half]
        # proposes: how far to list; the rest is infinite loss above and left out below
        pairs = [
            self.sampling.pair(masses[abs(x)], masses[abs(x + s)]) for x in range(-far - s, far + 1)
        ]
        # proposes: likewise
        left_p = 1 - sum((masses[abs(x)] for x in range(-far - s, far + 1)), arb(0))
        # proposes: likewise
        left_q = 1 - sum((masses[abs(x + s)] for x in range(-far - s, far + 1)), arb(0))
        left, _ = self.sampling.pair(left_p, left_q)
        found = atomic(pairs, self.offset(), left)
        return Pieces(found.points, found.labels, left.max(arb(0)), (arb(0), arb(0)))
