"""Wrong variants of the claims on tests, composition and subsampling are declined."""

from fractions import Fraction

import pytest

from proofs_checks.evidence import Declined
from proofs_checks.gdp import composition, experiments, polygons, sampling, subsampling, tradeoff
from proofs_checks.gdp.core import follows, positive
from proofs_checks.prover.enumeration import compose, hockey_stick, kov_pair


@pytest.mark.parametrize("power", [0, 2])
def test_equation_14_as_printed_is_declined(power):
    with pytest.raises(Declined):
        sampling.subsampled_approximate_privacy(power)


@pytest.mark.parametrize("power", [0, 2])
def test_equation_14_as_printed_is_not_the_hull(power):
    with pytest.raises(Declined):
        polygons.corollary_three(power)


@pytest.mark.parametrize(
    "factor",
    [lambda p, e: p * e, lambda p, e: 1 - p + p * p * e, lambda p, e: 1 - p / 2 + p * e / 2],
)
def test_a_smaller_epsilon_after_sampling_is_declined(factor):
    with pytest.raises(Declined):
        subsampling.subsampling_lemma(factor)


def test_the_order_of_a_sample_must_not_matter():
    with pytest.raises(Declined):
        polygons.sampled_mechanisms(20, ordered=True)


def test_a_different_sampling_operator_is_noticed(monkeypatch):
    def wrong(f, p):
        return polygons.mixed(f, p)

    monkeypatch.setattr(polygons, "subsampled", wrong)
    for check in (sampling.explicit_form, subsampling.equivalent_collection):
        with pytest.raises(Declined):
            check()


def test_a_wrong_inverse_is_noticed(monkeypatch):
    monkeypatch.setattr(polygons.PiecewiseLinear, "inverse", lambda self: self)
    with pytest.raises(Declined):
        tradeoff.inverse()


def test_products_that_forget_the_second_factor_are_noticed(monkeypatch):
    monkeypatch.setattr(polygons.PiecewiseLinear, "__mul__", lambda self, other: self)
    with pytest.raises(Declined):
        composition.commutative_monoid()


def test_a_worse_tail_than_certified_is_declined():
    with pytest.raises(Declined):
        experiments.poisson_formula_is_no_guarantee(Fraction(2))


def test_a_negative_coefficient_is_no_conclusion():
    a, b = positive("a b")
    with pytest.raises(Declined):
        follows(a - b, "a >= b")


def test_basic_composition_by_enumeration():
    p, q = compose(kov_pair(2, Fraction(1, 10)), kov_pair(3, Fraction(1, 5)))
    assert hockey_stick(p, q, 6) == 1 - Fraction(9, 10) * Fraction(4, 5)
