from fractions import Fraction
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from dpexact.tradeoffs import (
    GaussianTradeoff,
    PiecewiseLinear,
    distance_to_gaussian,
    f_eps_delta,
    gaussian_gap,
    identity,
    of_pair,
)

F = Fraction
functions = st.from_type(PiecewiseLinear)


def test_ten_fold_composition_against_g_1():
    """Dong, Roth and Su (2022) say below 0.013; both sides of the gap are certified."""
    above, below = gaussian_gap(f_eps_delta("1/sqrt(10)", 0) ** 10, 1, digits=20)
    assert F("0.01228817056596702") < above.lower <= above.upper < F("0.01228817056596703")
    assert F("0.00878367755757907") - F(1, 10**17) < below.lower
    assert below.upper < F("0.00878367755757907") + F(1, 10**17)
    found = distance_to_gaussian(f_eps_delta("1/sqrt(10)", 0) ** 10, 1, digits=20)
    assert found == above
    assert found.upper < F("0.013")


@settings(max_examples=40)
@given(functions, st.fractions(0, 4, max_denominator=5))
def test_gap_is_bracketed_by_a_grid(f, mu):
    """Both functions fall, so on a cell f - G is at most f at its left minus G at its right."""
    above, below = gaussian_gap(f, mu, digits=8)
    g = GaussianTradeoff(mu)
    rows = [(f(F(k, 40), digits=10), g(F(k, 40), digits=10)) for k in range(41)]
    for ours, theirs in rows:
        assert ours.lower - theirs.upper <= above.upper
        assert theirs.lower - ours.upper <= below.upper
    assert above.lower <= max(a.upper - b.lower for (a, _), (_, b) in pairwise(rows))
    assert below.lower <= max(b.upper - a.lower for (_, b), (a, _) in pairwise(rows))


def test_gap_is_reached_at_the_tangent_point():
    """One piece of slope -1 against G_1: the tangent is at the fixed point Phi(-1/2)."""
    above, below = gaussian_gap(identity(), 1, digits=15)
    assert below.is_exact
    assert below.lower == 0
    expected = F("0.382924922548026")  # 1 - 2 Phi(-1/2)
    assert abs(above.lower - expected) < F(1, 10**14)


def test_lost_mass_counts_at_zero():
    """f = 0 lies 1 below at alpha = 0, where the limit from the right is meant."""
    zero = f_eps_delta(0, 1)
    above, below = gaussian_gap(zero, 2)
    assert (above.lower, above.upper) == (0, 0)
    assert (below.lower, below.upper) == (1, 1)


def test_mu_zero_is_exact():
    f = of_pair(["1/2", "1/2"], ["9/10", "1/10"])
    above, below = gaussian_gap(f, 0)
    assert above.lower == above.upper == 0
    assert below.lower == below.upper == F(2, 5)
