"""The discrete Gaussian cut where much is left out: what is kept and what is moved are bounds."""

from fractions import Fraction

import pytest
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.engines.lattice.grid import Grid
from dpexact.accounting.engines.lattice.steps import PairStep
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.conversion import real

GRID = Grid(Fraction(1, 8), 40, 0)


def bounds(ball):
    return balls.to_enclosure(ball).to_mpmath(30)


@pytest.mark.parametrize(("sigma", "shift"), [("1", 1), ("3", 2), ("12", 5)])
@pytest.mark.parametrize("reach", [1, 2])
def test_outcomes_within_a_short_reach(sigma, shift, reach, monkeypatch):
    monkeypatch.setattr(DiscreteGaussian, "_reach", lambda pair, tail: reach)
    step = PairStep(DiscreteGaussian(real(sigma) ** 2, shift), 1)
    with mp.workdps(30), balls.precision(100):
        pieces = step.pieces(GRID, 0.5)
        variance = mpf(sigma) ** 2
        weight = {x: mp.exp(-(mpf(x) ** 2) / (2 * variance)) for x in range(-150, 151)}
        whole = mp.fsum(weight.values())
        first = -reach - shift
        for x, (point, label) in enumerate(zip(pieces.points, pieces.labels, strict=True), first):
            p, q = weight[x] / whole, weight[x + shift] / whole
            for ball, true in ((point.mass, p), (label.p, p), (label.q, q)):
                low, high = bounds(ball)
                assert low <= true <= high
        kept = mp.fsum(weight[x] for x in range(first, reach + 1)) / whole
        assert bounds(pieces.infinite)[1] >= 1 - kept
        assert bounds(pieces.overflow[0])[0] <= 0
