"""Wrong variants of the chapter's claims: nudged, reversed or incomplete ones are declined."""

from fractions import Fraction

import pytest

from proofs_checks.evidence import Declined
from proofs_checks.steinke import (
    advanced,
    bounded,
    composing,
    concentrated,
    conversion,
    figures,
    heterogeneous,
    losses,
    lowerbound,
    mixtures,
    poisson,
    poisson_bound,
    profile,
    renyi,
    subsampling,
)

LESS = Fraction(49, 100)
VARIANTS = {
    "Laplace: k shares of more than eps/k": lambda: losses.laplace_noise(Fraction(11, 10)),
    "Laplace: variance 3 b^2": lambda: losses.laplace_variance(3),
    "Laplace: less than half above 0": lambda: losses.all_noises_positive(LESS),
    "change of measure with e^Z": lambda: losses.change_of_measure(1),
    "Proposition 3: variance 3 rho": lambda: losses.gaussian_privacy_loss(3),
    "Corollary 8: steeper in rho": lambda: profile.gaussian_delta_grows_with_rho(Fraction(11, 10)),
    "a smaller largest atom": lambda: composing.largest_atom(Fraction(1, 100)),
    "mean loss below 0.49 eps^2": lambda: composing.mean_and_variance_of_a_bounded_loss(LESS),
    "Lemma 12 with 2 rho": lambda: composing.gaussian_moments(2),
    "tails with 3 rho": lambda: composing.tails_of_the_loss(3),
    "Proposition 14 with 3 rho": lambda: conversion.conversion_of_concentrated(3),
    "a multiplier that proves nothing": lambda: conversion.conversion_is_not_optimal(Fraction(1)),
    "Remark 15 without the factor 2": lambda: conversion.epsilon_of_concentrated(1),
    "Remark 15, other slack": lambda: conversion.inverse_of_the_conversion(2),
    "Proposition 16 with 0.49": lambda: bounded.pure_privacy_is_concentrated(LESS),
    "Hoeffding's lemma with 0.49": lambda: bounded.hoeffding_lemma(LESS),
    "Lemma 33(5) with 1/9": lambda: bounded.bounded_loss_has_linear_divergence(Fraction(1, 9)),
    "Theorem 18 without the factor 2": lambda: advanced.advanced_composition(1),
    "advanced composition wins at k = 30": lambda: advanced.neither_dominates(30),
    "Theorem 22 with another t": lambda: advanced.adaptive_advanced_composition(LESS),
    "Lemma 26 with 1/11": lambda: lowerbound.fingerprinting(Fraction(1, 11)),
    "Lemma 27 with another factor": lambda: lowerbound.means_of_close_variables(2),
    "Theorem 25 with 1/4 lost": lambda: lowerbound.constants(Fraction(1, 4)),
    "Theorem 25 active at n = 79": lambda: lowerbound.where_the_constant_is_active(79),
    "sampling variance 1/(5m)": lambda: lowerbound.sampled_mean(5),
    "Theorem 29 with another lambda": lambda: subsampling.amplification(1),
    "e^eps - 1 <= 2 eps up to 2": lambda: subsampling.small_epsilon(Fraction(2)),
    "Theorem 29 with 2p": lambda: subsampling.amplification_is_tight(2),
    "replacement with 1 + 2 e^eps": lambda: subsampling.replacement_from_add_remove(2),
    "Poisson step without the square": lambda: subsampling.poisson_step(1),
    "Definition 32 with a - 2": lambda: renyi.three_forms(2),
    "Lemma 33(7) at another order": lambda: renyi.triangle_inequality(1),
    "Lemma 33(7) without the cross term": lambda: renyi.triangle_of_concentrated(0),
    "Lemma 36 with another power": lambda: poisson.harmonic_below_arithmetic(3),
    "Lemma 37 with the square": lambda: poisson.lemma_37(2),
    "Theorem 35, f'' with the square": lambda: poisson.convexity_reduces_to_h(2),
    "Theorem 35 with another weight": lambda: poisson.reversed_direction(poisson._A + 1),
    "Theorem 34 with a - 2": lambda: poisson_bound.poisson_subsampling(2),
    "Theorem 34 tight": lambda: poisson_bound.tightness_of_poisson_subsampling(Fraction(4, 3)),
    "Theorem 38 with 9": lambda: concentrated.constant_ten(Fraction(9)),
    "Theorem 38 with omega >= 2 + ...": lambda: concentrated.exponents_of_p(2),
    "Lemma 39 with 0.49 e": lambda: mixtures.lemma_39(LESS),
    "Lemma 40 with a - 2": lambda: mixtures.lemma_40(2),
    "Proposition 41 with w - 2": lambda: mixtures.proposition_41(2),
    "Proposition 42 with 1 - 2/a": lambda: mixtures.proposition_42(2),
    "optimal composition, larger delta": lambda: heterogeneous.optimal_composition(1),
    "Theorem III.3 with the sign of j": lambda: heterogeneous.two_forms_of_optimal_composition(-1),
    "footnote 15 with factor 3": lambda: heterogeneous.older_bound_is_worse(3),
    "shuffling for eps up to 2": lambda: heterogeneous.shuffling_order(Fraction(2)),
    "gradient descent with 4": lambda: heterogeneous.noisy_gradient_descent(4),
    "Figure 1 off by 1e-9": lambda: figures.figure_1(Fraction(1, 10**9)),
    "Figure 2 at another p": lambda: figures.figure_2(Fraction(1, 19)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", VARIANTS)
def test_a_wrong_variant_is_declined(name):
    with pytest.raises(Declined):
        VARIANTS[name]()
