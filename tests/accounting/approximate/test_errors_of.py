"""``approximation_error``: published rows, verdicts, arithmetic of enclosures, and the verb."""

import json
import math
from fractions import Fraction
from functools import partial

import pytest
from command_line import invoke
from flint import arb

import dpexact
from dpexact.accounting.approximate import approximation_distance
from dpexact.accounting.approximate.central_limit import CentralLimit
from dpexact.answers import PrecisionNotReached
from dpexact.arguments import APPROXIMATIONS
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism

MNIST = "poisson(gaussian({}), 256/60000)^{}"


def test_the_central_limit_far_below_the_truth():
    """At ``epsilon = 7``: 1.66e-9 against 1.776e-7, a factor of about 107."""
    found = dpexact.approximation_error(MNIST.format("0.7", 10546), "clt-poisson", 7)
    assert found.claimed.shown(4).startswith("1.661")
    assert found.true.shown(4).startswith("1.775")
    assert 106 < float(found.ratio.lower) <= float(found.ratio.upper) < 108
    assert found.verdict == "unsound"
    assert found.difference < 0
    low = Fraction(found.claimed.lower) - Fraction(found.true.upper)
    assert found.difference.lower == low
    assert found.ratio.upper == Fraction(found.true.upper) / Fraction(found.claimed.lower)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sigma", "steps", "true", "claims"),
    [
        ("1.3", 3516, "0.8645401", ["0.834511", "1.068556", "0.884946", "0.868880"]),
        ("1.1", 14062, "2.381596", ["2.324268", "3.086707", "2.425110", "2.391717"]),
        ("0.7", 10546, "5.639413", ["5.065910", "7.354194", "5.769853", "5.848354"]),
    ],
)
def test_the_mnist_runs(sigma, steps, true, claims):
    methods = ["clt-poisson", "clt-uniform", "edgeworth-1", "edgeworth-2"]
    for method, claimed in zip(methods, claims, strict=True):
        m = MNIST.format(sigma, steps)
        found = dpexact.approximation_error(m, method, digits=8, delta="1e-5")
        assert found.quantity == "epsilon"
        assert found.claimed.shown(9).startswith(claimed)
        assert found.true.shown(9).startswith(true)
        assert found.verdict == ("unsound" if method == "clt-poisson" else "sound")
        assert found.difference.digits >= 8


def test_every_method_on_what_it_speaks_of():
    for method in APPROXIMATIONS:
        m = MNIST.format(2, 50) if method.startswith("clt-") else "pure_dp(0.1)^100"
        found = dpexact.approximation_error(m, method, "1/2", digits=6)
        assert found.true.overlaps(dpexact.delta(m, "1/2", 12))
        assert found.verdict in ("sound", "unsound")
    assert found.method == "Edgeworth, order 2"


def test_what_agrees_exactly_stays_undecided():
    found = dpexact.approximation_error("gaussian(1)^4", "clt", 1, digits=5)
    assert found.verdict == "undecided"
    assert 0 in found.difference
    assert 1 in found.ratio


def test_a_negative_claim_has_no_ratio():
    m = MNIST.format("0.7", 10546)
    found = dpexact.approximation_error(m, "edgeworth-2", 9, digits=6, direction="add")
    assert found.claimed < 0
    assert found.ratio is None
    assert found.verdict == "unsound"


def test_rate_one_and_no_loss():
    whole = dpexact.approximation_error("poisson(gaussian(2), 1)^9", "edgeworth-2", 1, digits=6)
    assert 1 in whole.ratio
    for text in ("pure_dp(0)^9", "poisson(gaussian(1), 0)", "gdp(0)"):
        with pytest.raises(UnsupportedMechanism, match="no loss"):
            dpexact.approximation_error(text, "clt", 1)


def test_arguments():
    for bad in ({}, {"epsilon": 1, "delta": "0.1"}):
        with pytest.raises(InvalidInput, match="exactly one"):
            dpexact.approximation_error("gaussian(1)", "clt", **bad)
    with pytest.raises(InvalidInput, match="method: 'best'"):
        dpexact.approximation_error("gaussian(1)", "best", 1)
    with pytest.raises(InvalidInput, match="delta"):
        dpexact.approximation_error("gaussian(1)", "clt", delta=1)
    for text in ("laplace(1)", "poisson(gaussian(1), 0.1) * poisson(gaussian(2), 0.1)"):
        with pytest.raises(UnsupportedMechanism, match="equal steps"):
            dpexact.approximation_error(text, "clt-poisson", 1)


def test_several_gaussians_on_one_sample_are_one():
    several, one = (
        dpexact.approximation_error(f"poisson({text}, 1/10)^50", "clt-poisson", 1, digits=8)
        for text in ("gaussian(3/5) * gaussian(4/5)", "gaussian(12/25)")
    )
    assert several.claimed.overlaps(one.claimed)
    with pytest.raises(UnsupportedMechanism, match="finite losses"):
        approximation_distance("approx_dp(1/10, 1/1000)^50", "clt")


run = partial(invoke, "approx")


def test_the_verb():
    result = run("pure_dp(0.1)^100", "--method", "clt", "--epsilon", "1", "--digits", "6")
    assert result.exit_code == 0
    assert "as an upper bound: sound" in result.output
    assert "claimed - true = 0.001395" in result.output


def test_the_verb_in_json():
    result = run(MNIST.format("0.7", 999), "--method", "clt-poisson", "--epsilon", "1", "--json")
    record = json.loads(result.output)
    assert record["quantity"] == "delta"
    assert record["epsilon"] == "1"
    assert record["verdict"] == "unsound"
    assert set(record["ratio"]) == {"lower", "upper", "digits"}


def test_the_verb_refuses_bad_input():
    for arguments in (
        ("gaussian(1)", "--method", "clt"),
        ("gaussian(1)", "--method", "clt", "--epsilon", "1", "--delta", "0.1"),
        ("poisson(laplace(1), 1/2)", "--method", "edgeworth-1", "--epsilon", "1"),
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.output.count("\n") == 1


def test_either_value_may_fall_short(monkeypatch):
    """The error is that of the public call, and carries the value that was not reached."""
    m = "poisson(gaussian(1), 1/10)^100"
    for name in ("delta", "epsilon"):
        wide = Enclosure(Fraction(0), Fraction(1), name, "short")
        with monkeypatch.context() as patch:
            patch.setattr(CentralLimit, name, lambda *_, wide=wide: wide)
            with pytest.raises(PrecisionNotReached, match="short") as caught:
                dpexact.approximation_error(
                    m, "clt-poisson", **{"delta" if name == "epsilon" else "epsilon": "1/10"}
                )
        assert caught.value.best == wide


def test_a_claim_that_stays_above_delta_has_no_epsilon(monkeypatch):
    monkeypatch.setattr(CentralLimit, "delta_ball", lambda *_: arb("0.5"))
    formula = CentralLimit(lambda: arb(1), "test")
    found = formula.epsilon(real("1/10"), 10)
    assert (found.lower, found.upper) == (0, math.inf)
    assert "above delta" in found.reason


@pytest.mark.parametrize("method", ["clt", "berry-esseen", "edgeworth-1", "edgeworth-2"])
def test_a_mass_of_infinite_loss_stands_beside(method):
    plain = dpexact.approximation_error("pure_dp(1/10)^50", method, 1, digits=10)
    beside = dpexact.approximation_error("approx_dp(1/10, 1/1000)^50", method, 1, digits=10)
    lost = 1 - Fraction(999, 1000) ** 50
    for one, other in ((plain.claimed, beside.claimed), (plain.true, beside.true)):
        low, high = (lost + (1 - lost) * end for end in (one.lower, one.upper))
        assert low <= other.upper
        assert other.lower <= high
    if method != "berry-esseen":  # its error alone is above
        half = {"delta": "1/2", "digits": 4}
        back = dpexact.approximation_error("approx_dp(1/10, 1/1000)^50", method, **half)
        assert back.claimed.digits >= 4


@pytest.mark.parametrize(
    "mechanism",
    ["report_noisy_max(1)^20", "shuffle(pure_dp(1), 20)^10", "allocation(gaussian(1), 4, 3)"],
)
def test_an_approximation_is_not_held_against_an_upper_bound(mechanism):
    """The expansion is below the delta of Laplace noise; noisy maxima may lose less than both."""
    for ask in (
        lambda: dpexact.approximation_error(mechanism, "edgeworth-1", 1, digits=5),
        lambda: approximation_distance(mechanism, "clt", 3),
    ):
        with pytest.raises(UnsupportedMechanism, match="no exact value of"):
            ask()
    assert dpexact.approximation_error("permute_and_flip(1)", "clt", "1/2", digits=5)
