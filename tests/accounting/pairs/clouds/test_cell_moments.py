"""Floats of many sampled Gaussians at once are those of each."""

from fractions import Fraction

import numpy as np
import pytest

from dpexact.accounting.pairs.clouds import cell_moments
from dpexact.accounting.pairs.clouds.cell_moments import CellMoments
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.sums.mixture_rules import Shape
from dpexact.reals import rational

PLACES = [
    (rational(Fraction(q)), rational(Fraction(sigma)))
    for q in (1e-7, 1e-4, 0.01, 0.3, 0.8)
    for sigma in (0.4, 1.0, 3.0, 40.0)
]


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("orders", [(-0.25,), (0.25, 1.5, 9.0), (64.0, 300.0)])
def test_moments_of_cells_are_those_of_their_pairs(
    removes: bool, orders: tuple[float, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cell_moments, "_AT_ONCE", 1000)
    found = CellMoments(PLACES, removes=removes).cumulants(*orders)
    single = remove if removes else add
    truth = np.array([single(sigma, q).cumulants(orders) for q, sigma in PLACES])
    assert abs(found / truth - 1).max() < 1e-3
    assert np.median(abs(found / truth - 1)) < 1e-9


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("order", [0.5, 4.0])
def test_decay_of_cells_is_that_of_their_pairs(removes: bool, order: float) -> None:
    """By the cosine: the other bound on a record added is for a pair by itself."""
    way = CellMoments(PLACES, removes=removes).decay(order)
    single = remove if removes else add
    for u in (0.3, 20.0):
        logs, shifts = way(u)
        for log, shift, (q, sigma) in zip(logs, shifts, PLACES, strict=True):
            outlines = (side.outline for side in single(sigma, q).shifts)
            truth, at = Shape(*outlines, plain=True).decay(order)(u)
            assert log == pytest.approx(truth, rel=0.02)
            assert shift == pytest.approx(at)


def test_moments_of_too_long_a_line_are_infinite() -> None:
    found = CellMoments(PLACES, removes=True).cumulants(1e6)
    longest = [float(sigma.fraction) < 1 for _, sigma in PLACES]
    assert np.isinf(found[longest]).all()
    assert np.isfinite(found[[float(sigma.fraction) > 30 for _, sigma in PLACES]]).all()
