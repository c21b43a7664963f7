"""Laws that the checkers derive by themselves, against the accounting."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpexact
from dpexact import certificate_checker as standard
from dpexact.certificate_checker import Arithmetic
from dpexact.certificates.trees import mechanism_tree


def bound(text, epsilon, way="remove", bits=128):
    """The value of the profile, by the checker alone."""
    a = Arithmetic(bits)
    at = a.exact(Fraction(epsilon))
    steps = standard.steps_of(mechanism_tree(dpexact.parse(text)))
    return standard.profile_of(steps, way, a).delta(standard.Point(a, standard.exp(at), at))


@pytest.mark.parametrize(
    "text",
    [
        "truncated_laplace(1, 3)",
        "truncated_laplace(1, 3)^2",
        "truncated_laplace(1, 2/3)",
        "truncated_laplace(1, 1/2)",
        "truncated_laplace(2, 9)^2 * laplace(2, 3)",
        "poisson(zcdp(1/2), 1/100)^1000",
        "poisson(zcdp(1/5, 1/8) * gaussian(3), 1/20)^10 * zcdp(1/9) * gaussian(9) * pure_dp(1/9)",
        "poisson(zcdp(1/90), 1/3)",
    ],
)
def test_the_checker_alone_encloses_what_the_accounting_says(text):
    for way, epsilon in (("remove", "0"), ("add", "1/20"), ("remove", "2")):
        found, known = bound(text, epsilon, way), dpexact.delta(text, epsilon, 3, way)
        assert found.lo <= known.upper
        assert known.lower <= found.hi
        assert found.hi - found.lo < Fraction(1, 2**90)
