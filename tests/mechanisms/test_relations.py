"""Which neighbours a mechanism speaks of: one word for each, and no two together."""

import pytest

import dpexact
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms.base import ADD_REMOVE, REPLACEMENT, Relation, joint


def test_as_given_beside_anything():
    for text in ("gaussian(1)", "pure_dp(1)^3 * laplace(2)", "zcdp(1) * approx_dp(1, 0)"):
        assert dpexact.parse(text).relation() is None
    assert dpexact.parse("gaussian(1) * poisson(gaussian(1), 1/2)").relation() == ADD_REMOVE
    assert dpexact.parse("(fixed_size(gaussian(1), 1, 2)^5)^2 * gdp(1)").relation() == REPLACEMENT


@pytest.mark.parametrize(
    "text",
    [
        "poisson(gaussian(1), 1/2) * fixed_size(gaussian(1), 1, 2)",
        "fixed_size(gaussian(1), 1, 2)^3 * gaussian(1) * poisson(gaussian(1), 1/2)",
        "poisson(fixed_size(gaussian(1), 1, 2), 1/2)",
    ],
)
def test_two_relations_are_refused(text):
    said = r"poisson \(add/remove neighbours\) beside fixed_size \(replacement neighbours\): no two"
    for ask in (lambda m: m.relation(), lambda m: dpexact.delta(m, 1), dpexact.tradeoff):
        with pytest.raises(UnsupportedMechanism, match=said):
            ask(dpexact.parse(text))


def test_sizes_of_groups_are_relations_too():
    assert str(ADD_REMOVE) == "add/remove neighbours"
    assert joint([]) is None
    two, three = Relation("add/remove", 2), Relation("add/remove", 3)
    assert joint([("one", two), ("third", two)]) == two
    with pytest.raises(UnsupportedMechanism, match=r"by 2 records\) beside b .* by 3 records"):
        joint([("b", three), ("a", two)])
