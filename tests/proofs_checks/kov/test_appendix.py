"""Wrong variants of the graph appendix, of the orders and of the figures are declined."""

from fractions import Fraction

import pytest

import dpexact
from proofs_checks.evidence import Declined
from proofs_checks.kov import figures, graphs, orders


@pytest.mark.parametrize("constant", [64, 127])
def test_another_constant_of_the_error_is_declined(constant):
    with pytest.raises(Declined):
        graphs.error_of_a_cut(constant)


@pytest.mark.parametrize("factor", [2, 8])
def test_another_width_is_declined(factor):
    with pytest.raises(Declined):
        graphs.width_by_the_new_theorem(factor)


def test_advanced_composition_of_rows_needs_a_smaller_delta():
    with pytest.raises(Declined):
        graphs.rows_by_advanced_composition(Fraction(4, 5))


def test_optimal_bounds_of_rows_need_a_bounded_eps():
    with pytest.raises(Declined):
        graphs.rows_by_optimal_bounds(3)


@pytest.mark.parametrize("slack", [Fraction(8, 5), 2])
def test_the_refutation_of_the_order_needs_its_slack(slack):
    with pytest.raises(Declined):
        orders.order_with_the_inner_logarithm(slack)


@pytest.mark.parametrize("stated", ["0.4013123299", "0.4013123499", "0.41"])
def test_another_corner_of_the_figure_is_declined(stated):
    with pytest.raises(Declined):
        figures.the_nested_regions(stated)


@pytest.mark.parametrize(("k", "i"), [(1, 0), (3, 1), (4, 2), (5, 1)])
def test_the_deltas_of_the_figure_against_the_library(k, i):
    formula = figures.total_delta(Fraction(2, 5), Fraction(1, 10), k, i)
    found = dpexact.delta(f"approx_dp(2/5, 1/10)^{k}", Fraction(2 * (k - 2 * i), 5), digits=12)
    assert found.lower - Fraction(1, 10**12) <= Fraction(str(formula.evalf(25)))
    assert Fraction(str(formula.evalf(25))) <= found.upper + Fraction(1, 10**12)
