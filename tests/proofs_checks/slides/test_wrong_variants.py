"""Wrong variants of the talk's claims are declined or refuted."""

from fractions import Fraction

import pytest

import dpexact
from dpexact.tradeoffs.blackwell import Processing
from dpexact.tradeoffs.blackwell import blackwell as processing
from proofs_checks.evidence import Declined
from proofs_checks.prover.enumeration import Draw, post_process
from proofs_checks.slides import (
    blackwell,
    census,
    composition,
    gaussian,
    learning,
    limits,
    orders,
    tradeoffs,
)

WRONG = [
    ("inequality reversed", tradeoffs.likelihood_ratio_tests_are_optimal, -1),
    ("another exponent of G_mu", tradeoffs.duality, Fraction(1, 3)),
    (
        "more than 39/10 at a larger delta",
        orders.the_divergence_of_approximate_privacy_contradicts_the_order,
        Fraction(1, 100),
    ),
    ("a smaller Renyi bound", orders.renyi_divergence_of_randomized_response, Fraction(49, 100)),
    ("erf without its factor", orders.total_variation_contradicts_renyi, 1),
    ("less Laplace noise", gaussian.laplace_noise, Fraction(99, 100)),
    ("twice the sampling rate", composition.subsampling, 2),
    ("another share of samples", composition.subsampling_is_tight, 1),
    ("another probability in the figure", composition.left_figure, Fraction(36, 100)),
    ("another sampling rate", composition.right_figure, Fraction(9, 10)),
    ("1/e below 1/3", limits.closeness_is_not_enough, Fraction(1, 3)),
    ("half the shift", limits.shift_of_the_limit, 1),
    ("the scaling refuted at mu = 1, where it is right", limits.wrong_scaling, 1),
    ("a smaller constant in the rate", limits.corrected_scaling, Fraction(80, 1000)),
    ("the percentage as printed", census.the_reduction_at_the_first_level, "13.9"),
    ("one query more", census.nine_queries, 10),
    ("a smaller published epsilon", census.exact_accounting_always_gains, 1),
    ("a smaller sum of errors", learning.random_divisor, Fraction(342, 1000)),
    ("another power of the ratio", learning.formula_for_mu, 3),
    ("2 Phi for 3 Phi", learning.formula_of_the_paper, 2),
    ("a delta that is too small", learning.tighter_than_the_moments_accountant, Fraction(1, 10**6)),
    ("the exact delta at eps = 4", learning.the_limit_is_no_guarantee, 4),
]


@pytest.mark.slow
@pytest.mark.parametrize(("what", "check", "wrong"), WRONG, ids=[what for what, *_ in WRONG])
def test_a_wrong_variant_is_declined(what, check, wrong):
    with pytest.raises(Declined):
        check(wrong)


def test_a_wrong_row_of_the_census_table_is_declined():
    row = census.ROWS["County"]
    with pytest.raises(Declined):
        census.reductions({"County": row._replace(saved="17.7")})
    for wrong in (row._replace(exact="13.23"), row._replace(published="16.06")):
        with pytest.raises(Declined):
            census.variances({"County": wrong})


def test_growth_under_a_random_map_would_be_noticed(monkeypatch):
    monkeypatch.setattr(orders, "post_process", lambda law, kernel: {0: law[0], 1: 1 - law[0] ** 2})
    with pytest.raises(Declined):
        orders.post_processing(20)


def test_adaptive_pairs_above_the_product_would_be_noticed(monkeypatch):
    monkeypatch.setattr(composition, "_mixed", lambda p, q, share: ({0: 1, 1: 0, 2: 0, 3: 0}, q))
    with pytest.raises(Declined):
        composition.composition(20)


def test_the_corners_of_the_product_on_another_route():
    exact = dpexact.tradeoff("pure_dp(1/3)^9")
    for a, b in limits._corners(Fraction(1), 9):
        middle = (a.lower + a.upper) / 2
        if 0 < middle < 1:
            assert abs(exact(middle).lower - b.lower) < Fraction(1, 10**12)


def test_no_map_leads_to_a_pair_that_is_easier_to_tell_apart():
    third, half = Fraction(1, 3), Fraction(1, 2)
    easy = {0: third, 1: 2 * third}, {0: 2 * third, 1: third}
    hard = {0: half - Fraction(1, 10), 1: half + Fraction(1, 10)}, {0: half, 1: half}
    for source, target in ((hard, easy), (hard, ({0: 1, 1: 0}, {0: 0, 1: 1}))):
        with pytest.raises(ValueError, match="no such map"):
            blackwell.garbling(*source, *target)


def test_parallel_outcomes_are_shared_out():
    sixth = Fraction(1, 6)
    p, q = {0: 2 * sixth, 1: 4 * sixth}, {0: 4 * sixth, 1: 2 * sixth}
    after = (
        {0: sixth, 1: sixth, 2: 3 * sixth, 3: sixth},
        {0: 2 * sixth, 1: 2 * sixth, 2: 3 * sixth / 2, 3: sixth / 2},
    )
    kernel = blackwell.garbling(p, q, *after)
    assert kernel[0] == {0: Fraction(1, 2), 1: Fraction(1, 2), 2: 0, 3: 0}
    assert kernel[1] == {0: 0, 1: 0, 2: Fraction(3, 4), 3: Fraction(1, 4)}


def test_a_map_that_keeps_too_much_would_be_noticed(monkeypatch):
    monkeypatch.setattr(blackwell, "_split", lambda piece, share: (piece, piece))
    with pytest.raises((Declined, ValueError)):
        blackwell.blackwell(20)


def test_maps_by_cuts_exist_where_the_library_finds_them():
    source, found = Draw(seed=5), 0
    for _ in range(40):
        laws = [source.law(3) for _ in range(4)]
        kernel = source.kernel(laws[0], 3)
        if source.integer(0, 1):
            laws[2:] = [post_process(laws[0], kernel), post_process(laws[1], kernel)]
        p, q, r, s = ([*law.values()] for law in laws)
        exists = isinstance(processing((p, q), (r, s)), Processing)
        found += exists
        try:
            mapped = blackwell.garbling(*laws)
        except ValueError:
            assert not exists
        else:
            assert exists
            assert [post_process(law, mapped) for law in laws[:2]] == laws[2:]
    assert 10 < found < 35
