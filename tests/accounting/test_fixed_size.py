"""Fixed-size sampling: the two bounds and what is known to lie between them."""

from fractions import Fraction

import pytest

import dpexact
from dpexact.errors import UnsupportedMechanism


@pytest.mark.parametrize("epsilon", ["0", "1/2", "1"])
def test_one_step_is_exact(epsilon):
    found = dpexact.delta("fixed_size(gaussian(1), 10, 100)", epsilon, 20)
    assert found.digits >= 20
    assert found.overlaps(dpexact.delta("poisson(gaussian(1), 1/10)", epsilon, 20))


def test_a_sample_of_everything_is_no_sampling():
    assert dpexact.delta("fixed_size(gaussian(2), 7, 7)^3", 1) == dpexact.delta("gaussian(2)^3", 1)


def test_bounds_hold_the_attained_pair_and_the_plain_mechanism_above():
    text = "fixed_size(gaussian(1), 1, 10)^5"
    found = dpexact.delta(text, "1/2")
    assert found.method.startswith("bounds")
    attained = dpexact.delta("poisson(gaussian(1), 1/10)^5", "1/2", 10)
    assert found.lower <= attained.upper
    assert attained.lower < found.upper < dpexact.delta("gaussian(1)^5", "1/2").lower
    assert found.upper < 2 * found.lower


@pytest.mark.slow
def test_epsilon_bounds_agree_with_delta_bounds():
    text = "fixed_size(gaussian(2), 1, 10)^5"
    found = dpexact.epsilon(text, "1e-3")
    assert dpexact.delta(text, found.upper).lower <= dpexact.Enclosure.exact(found.upper).upper
    assert 0 < found.lower < found.upper < dpexact.epsilon("gaussian(2)^5", "1e-3").upper


@pytest.mark.slow
def test_an_audit_never_condemns_between_the_bounds():
    claim = {
        "mechanism": "fixed_size(gaussian(1), 1, 10)^5",
        "claims": "delta",
        "epsilon": "1/2",
        "kind": "upper",
    }
    found = dpexact.delta(claim["mechanism"], "1/2")
    middle = (found.lower + found.upper) / 2
    values = {"unsound": found.lower / 2, "undecided": middle, "sound": found.upper * 2}
    for verdict, value in values.items():
        report = dpexact.audit({**claim, "delta": value})
        assert report.findings[0].verdict == verdict


@pytest.mark.parametrize(
    "text",
    [
        "fixed_size(laplace(1), 1, 10)^2",
        "fixed_size(gaussian(1), 1, 10) * poisson(gaussian(1), 1/10)",
        "fixed_size(poisson(gaussian(1), 1/2), 1, 10)",
    ],
)
def test_what_is_not_accounted_for(text):
    with pytest.raises(UnsupportedMechanism):
        dpexact.delta(text, 1)


@pytest.mark.parametrize(
    "text", ["fixed_size(gaussian(1), 1, 10)^4", "fixed_size(gaussian(1), 1, 10)^2 * pure_dp(1/5)"]
)
@pytest.mark.parametrize("alpha", ["1/20", "1/2"])
def test_the_trade_off_function_lies_between_those_of_the_bounds(text, alpha):
    f = dpexact.tradeoff(text)
    (found,) = f([alpha])
    (attained,) = dpexact.tradeoff(
        text.replace("fixed_size(gaussian(1), 1, 10)", "poisson(gaussian(1), 1/10)")
    )([alpha], 6)
    assert found.upper == pytest.approx(attained.upper, rel=1e-4)
    # lines under it, of the bound above
    lines = [
        1
        - float(dpexact.delta(text, f"log({slope})").upper)
        - float(Fraction(slope) * Fraction(alpha))
        for slope in ("1", "6/5", "3/2", "2", "4", "8")
    ]
    assert max(lines) - 1e-4 <= found.lower < found.upper
    assert found.reason
    assert f.inverse() is f
    for way in ("remove", "add"):
        assert dpexact.tradeoff(text, way)([alpha])[0].overlaps(found)
    assert [f("0"), f("1")] == [dpexact.Enclosure.exact(Fraction(x), "dual") for x in (1, 0)]


def test_a_trade_off_function_is_open_where_the_two_bounds_differ():
    (found,) = dpexact.tradeoff("fixed_size(gaussian(1), 10, 100)^5")(["1/2"])
    assert 0.37 < found.lower < 0.39
    assert 0.40 < found.upper < 0.41
