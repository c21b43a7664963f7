"""What the checks assume stands: nothing refuted, nothing in a circle."""

from graphlib import TopologicalSorter

from proofs_checks.registry import check_of, checks


def test_assumed_claims_hold_and_never_lead_back():
    order = {}
    for entry in checks(["kov"]):
        taken = [check_of(name) for name in entry.assumes if name.startswith("kov.")]
        # None: cited results that stand as not checkable, such as the projection lemma
        assert {other.expects for other in taken if other} <= {"proved", "repaired"}
        order[entry.name] = {other.name for other in taken if other}
    assert list(TopologicalSorter(order).static_order())
