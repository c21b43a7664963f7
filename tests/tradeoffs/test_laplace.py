from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact.errors import InvalidInput
from dpexact.tradeoffs import LaplaceTradeoff, discrete_laplace_pair, f_eps_delta, identity, of_pair

F = Fraction
levels = st.fractions(0, 1, max_denominator=40)
ratios = st.fractions(1, 6, max_denominator=7)


@given(ratios, st.fractions(F(1, 20), 20, max_denominator=20))
def test_value_by_its_two_error_rates(shift, threshold):
    """Rejecting above x: alpha = P(Lap > x), beta = P(Lap + mu <= x), with rational e^x, e^mu."""
    alpha = 1 / (2 * threshold) if threshold >= 1 else 1 - threshold / 2
    moved = threshold / shift
    beta = 1 - 1 / (2 * moved) if moved >= 1 else moved / 2
    f = LaplaceTradeoff(f"log({shift})")
    assert f.value(alpha) == beta


@given(ratios, levels)
def test_symmetric_and_above_pure_dp(shift, alpha):
    f = LaplaceTradeoff(f"log({shift})")
    beta = f.value(alpha)
    assert f.value(beta) == alpha
    assert f_eps_delta(f"log({shift})", 0).value(alpha) <= beta <= 1 - alpha
    assert f.inverse() == f


def test_irrational_level():
    f = LaplaceTradeoff(1)
    assert f("1/4", digits=30).digits >= 30
    assert f(0).lower == 1
    assert f(1).lower == 0
    assert LaplaceTradeoff(0).value("2/7") == identity().value("2/7")


@given(ratios.filter(lambda r: r > 1), st.integers(1, 4))
def test_discrete_pair_is_the_limit_of_cut_tails(base, shift):
    """A window of the integers with the tails lumped has the very same trade-off function."""
    a = 1 / base
    low, high = -3, shift + 3

    def masses(centre):
        row = [(1 - a) / (1 + a) * a ** abs(x - centre) for x in range(low, high + 1)]
        row[0], row[-1] = a ** (centre - low) / (1 + a), a ** (high - centre) / (1 + a)
        return row

    f = discrete_laplace_pair(f"1/log({base})", shift)
    assert f == of_pair(masses(0), masses(shift))
    assert len(f.atoms) == shift + 1
    assert f.is_symmetric


def test_refusals():
    for call in (
        lambda: LaplaceTradeoff(-1),
        lambda: discrete_laplace_pair(0),
        lambda: discrete_laplace_pair(1, 0),
        lambda: LaplaceTradeoff(1).value(2),
    ):
        with pytest.raises(InvalidInput):
            call()


def test_plot():
    pytest.importorskip("matplotlib")
    (line,) = LaplaceTradeoff("log(3)").plot().lines
    xs, ys = line.get_xdata(), line.get_ydata()
    assert (xs[0], ys[0], xs[-1], ys[-1]) == (0, 1, 1, 0)
    for x, y in zip(xs[1:], ys[1:], strict=True):
        hyperbola = 1 / (12 * x) if 1 / 6 <= x <= 1 / 2 else 0
        assert y == pytest.approx(max(1 - 3 * x, hyperbola, (1 - x) / 3), abs=1e-9)
