"""Wrong variants of the claims of the newer papers: nudged constants are declined."""

from fractions import Fraction

import pytest

from proofs_checks.bw import gaussian
from proofs_checks.cks import sampling
from proofs_checks.evidence import Declined
from proofs_checks.mv import counting
from proofs_checks.pit import directions

VARIANTS = {
    "Balle and Wang: classical noise with 9/20 for 5/4": lambda: gaussian.classical_noise("9/20"),
    "Balle and Wang: it fails at 1": lambda: gaussian.classical_noise_fails(1),
    "Balle and Wang: three quarters suffice": lambda: gaussian.how_much_is_gained(Fraction(3, 4)),
    "Murtagh and Vadhan: a kink too far": lambda: counting.reduction(
        (Fraction(3, 4), Fraction(1), Fraction(5))
    ),
    "discrete Gaussian: tanh x >= 99/100 x": lambda: sampling.accepted_proposals("99/100"),
    "pitfalls: Gaussian directions cross": lambda: directions.directions_cross(
        "poisson(gaussian(1), 1/100)^2"
    ),
    "pitfalls: replacing costs twice": lambda: directions.replacing_beside_others(Fraction(2)),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_a_wrong_variant_is_declined(name):
    with pytest.raises(Declined):
        VARIANTS[name]()
