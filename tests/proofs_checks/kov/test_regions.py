"""Wrong variants of the claims on regions are declined."""

from fractions import Fraction

import pytest

from proofs_checks.evidence import Declined
from proofs_checks.kov import moments, regions


@pytest.mark.parametrize("half", [Fraction(49, 100), Fraction(1, 4), Fraction(-1, 2)])
def test_a_smaller_constant_in_hoeffdings_inequality_is_declined(half):
    with pytest.raises(Declined):
        moments.hoeffding(half)


def test_post_processing_would_notice_growth(monkeypatch):
    monkeypatch.setattr(
        regions, "post_process", lambda law, kernel: {0: sum(law.values()), 1: law[0]}
    )
    with pytest.raises(Declined):
        regions.post_processing(50)


def test_the_best_set_would_notice_a_wrong_divergence(monkeypatch):
    monkeypatch.setattr(regions, "hockey_stick", lambda p, q, slope: p[0] - slope * q[0])
    with pytest.raises(Declined):
        regions.best_set(20)
