"""Wrong networks are declined."""

import pytest

from proofs_checks.evidence import Declined
from proofs_checks.kov import networks
from proofs_checks.prover.enumeration import kov_pair


@pytest.mark.parametrize("edge", [("b", "Y0"), ("b", "R"), ("b", "Y3")])
def test_a_leak_around_x_is_seen(edge):
    with pytest.raises(Declined):
        networks.adaptive_outputs_depend_on_b_through_x((edge,))


def test_random_networks_would_notice_a_leak():
    def leaks(b, r, x, y):
        law = networks.joint(b, r, x, y)
        copied = {(key[0], *key[1:4], key[0] ^ key[4]): w for key, w in law.items()}
        return networks.conditionally_independent(copied)

    with pytest.raises(Declined):
        networks.adaptive_outputs_depend_on_b_through_x(markov=leaks)


def test_adaptive_composition_is_not_below_a_smaller_pair(monkeypatch):
    monkeypatch.setattr(networks, "kov_pair", lambda e, d: kov_pair(e, d / 2))
    # what is drawn is then smaller too: compare with the true pair, which must fail
    monkeypatch.setattr(networks, "_post_processed", lambda s, e, d: kov_pair(e, d))
    with pytest.raises(Declined):
        networks.adaptive_composition(20)
