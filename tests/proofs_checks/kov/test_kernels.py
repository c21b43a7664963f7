"""The kernels are laws that reproduce the pairs; wrong ones are declined."""

from fractions import Fraction

import pytest

from proofs_checks.evidence import Declined
from proofs_checks.kov import kernels
from proofs_checks.prover.enumeration import kov_pair, post_process

HALF = Fraction(1, 2)


@pytest.mark.parametrize(
    ("p", "q", "growth", "delta"),
    [
        ((1, 0), (0, 1), 2, 1),  # disjoint, delta = 1
        ((HALF, HALF), (HALF, HALF), 1, 0),  # equal, eps = 0
        ((HALF, HALF), (HALF, HALF), 3, Fraction(1, 7)),  # more delta than needed
        ((HALF, HALF), (1, 0), 2, HALF),  # one divergence is 1/2, the other 0
        ((Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3)), 2, 0),
    ],
)
def test_corner_cases_of_the_kernel(p, q, growth, delta):
    p, q = ({i: Fraction(x) for i, x in enumerate(side)} for side in (p, q))
    rows = kernels.kernel_to(p, q, Fraction(growth), Fraction(delta))
    first, second = kov_pair(growth, delta)
    assert all(min(row.values()) >= 0 and sum(row.values()) == 1 for row in rows.values())
    assert post_process(first, rows) == p
    assert post_process(second, rows) == q


def test_a_smaller_delta_has_no_kernel(monkeypatch):
    right = kernels.kernel_to
    monkeypatch.setattr(
        kernels, "kernel_to", lambda p, q, growth, delta: right(p, q, growth, delta / 2)
    )
    with pytest.raises(Declined):
        kernels.canonical_pair_dominates()


def test_a_smaller_eps_has_no_kernel(monkeypatch):
    monkeypatch.setattr(kernels, "kov_pair", lambda e, d: kov_pair((1 + e) / 2, d))
    with pytest.raises(Declined):
        kernels.canonical_pair_dominates()


def test_a_library_that_confuses_the_pairs_is_declined(monkeypatch):
    right = kernels.blackwell
    monkeypatch.setattr(kernels, "blackwell", lambda first, second: right(second, first))
    with pytest.raises(Declined):
        kernels.inclusion_gives_a_kernel()


def test_an_envelope_without_pruning_is_declined(monkeypatch):
    monkeypatch.setattr(kernels, "upper_envelope", lambda lines: sorted(set(lines)))
    with pytest.raises(Declined):
        kernels.inclusion_gives_a_kernel()
