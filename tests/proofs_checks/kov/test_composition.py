"""Wrong variants of the composition claims are declined."""

from fractions import Fraction

import pytest

from proofs_checks.evidence import Declined
from proofs_checks.kov import composition
from proofs_checks.prover.enumeration import compose, kov_pair, smallest_delta

RIGHT = composition.optimal_delta
NUDGED = {
    "one term more": lambda e, d, k, i: RIGHT(e, d, k, min(i + 1, k // 2)),
    "one delta less": lambda e, d, k, i: RIGHT(e, d, k - 1, min(i, (k - 1) // 2)),
    "printed in the caption": lambda e, d, k, i: RIGHT(e, Fraction(0), k, i),
    "without the binomials": lambda e, d, k, i: RIGHT(e, d, k, min(i, 1)),
}


@pytest.mark.parametrize("name", NUDGED)
def test_a_wrong_formula_is_declined(name):
    with pytest.raises(Declined):
        composition.optimal_composition(4, NUDGED[name])


def test_the_formula_against_the_library():
    import dpexact

    pair = compose(*[kov_pair(2, Fraction(1, 10))] * 3)
    exact = smallest_delta(pair, 2)
    found = dpexact.delta("approx_dp(log(2), 1/10)^3", "log(2)", digits=12)
    assert found.lower <= exact <= found.upper
    assert exact == RIGHT(Fraction(2), Fraction(1, 10), 3, 1)
