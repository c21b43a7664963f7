from fractions import Fraction
from itertools import product

import pytest
from exact_binomials import mass
from flint import arb

from dpexact import InvalidInput, balls
from dpexact.empirical import clopper_pearson

ERRORS = ["1/40", "0.05", "0.3"]


@pytest.mark.parametrize(("n", "error"), list(product([1, 2, 7, 20], ERRORS)))
def test_the_limits_against_sums_in_fractions(n: int, error: str) -> None:
    """The tail of the trials crosses the error inside the enclosure of each limit."""
    for k in range(n + 1):
        lower, upper = clopper_pearson(k, n, error)
        for p, inside in ((upper, k), (lower, n - k)):
            few = [_few(n, inside, x if p is upper else 1 - x) for x in (p.lower, p.upper)]
            if inside == n:
                assert p.lower == p.upper == (1 if p is upper else 0)
            else:
                assert min(few) <= Fraction(error) <= max(few)
                assert p.digits >= 12


def _few(n: int, k: int, p: Fraction) -> Fraction:
    return sum((mass(n, j, p) for j in range(k + 1)), Fraction(0))


@pytest.mark.parametrize(("k", "n"), [(0, 1000), (37, 100), (999, 1000), (40_000, 10**5)])
def test_the_limits_against_the_incomplete_beta_function(k: int, n: int) -> None:
    """Another route: the upper limit is the quantile of Beta(k + 1, n - k) at 1 - error."""
    _, upper = clopper_pearson(k, n, "0.05")
    with balls.precision(200):
        before, beyond = (
            balls.ball(Fraction(p)).beta_lower(arb(k + 1), arb(n - k), regularized=True)
            for p in (upper.lower, upper.upper)
        )
        assert before < balls.ball(Fraction(19, 20)) < beyond


@pytest.mark.parametrize(("n", "error"), list(product([1, 5, 12], ERRORS)))
def test_coverage_by_enumeration(n: int, error: str) -> None:
    limits = [clopper_pearson(k, n, error) for k in range(n + 1)]
    for p in (Fraction(i, 40) for i in range(41)):
        above = sum(mass(n, k, p) for k in range(n + 1) if limits[k][1].lower < p)
        below = sum(mass(n, k, p) for k in range(n + 1) if limits[k][0].upper > p)
        assert max(above, below) <= Fraction(error)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((5, 4, "0.05"), "successes: 5 is not accepted; must be an integer from 0 to 4"),
        ((0, 0, "0.05"), "trials: 0 is not accepted"),
        ((1, 2, "0"), "significance: 0 is not accepted; must be > 0 and < 1"),
        ((1, 2, "sqrt(1/2)"), r"significance: sqrt\(1/2\) is not accepted; must be rational"),
    ],
)
def test_what_is_refused(arguments: tuple[int, int, str], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        clopper_pearson(*arguments)
