"""zCDP in every public question: upper bounds that say so, and never more than that."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from command_line import invoke as run
from hypothesis import given
from hypothesis import strategies as st
from mpmath import findroot, mp, mpf
from soundness import reference

import dpexact
from dpexact.accounting.classic.zcdp import total_zcdp, zcdp_epsilon
from dpexact.accounting.standing import EXACT, standing
from dpexact.audits import Claim, judge
from dpexact.errors import UnsupportedMechanism
from dpexact.ternary import Ternary

UPPER = "upper bound: zCDP"


def proposition_14(rho, epsilon):
    """By mpmath: the formula at the zero of its derivative."""
    with mp.workdps(30):
        t = findroot(lambda t: (2 * t + 1) * rho - mp.log(1 + 1 / t) - epsilon, 1)
        power = t * (t + 1) * rho - t * epsilon + t * mp.log(t) - (t + 1) * mp.log(t + 1)
        return mp.exp(power)


def test_one_guarantee():
    found = dpexact.delta("zcdp(1/2)", 3, 20)
    assert found.method.startswith(UPPER)
    expected = proposition_14(mpf("0.5"), mpf(3))
    assert abs(mpf(float(found.lower)) - expected) < mpf(10) ** -16
    assert dpexact.epsilon("zcdp(1/2)", "1e-6", 13).shown(13).startswith("5.22153444453")


def test_parts_of_every_kind_add_up():
    text = (
        "zcdp(1/3) * gaussian(2)^2 * pure_dp(1/2) * laplace(4, 2) * discrete_gaussian(3, 2)"
        " * discrete_laplace(2) * poisson(zcdp(1/7)^2, 1)^2 * poisson(gaussian(1), 0)"
        " * poisson(poisson(gdp(1/5), 1), 1)"
    )
    half = Fraction(1, 2)
    rho = Fraction(1, 3) + 2 * Fraction(1, 8) + 3 * half**3 + Fraction(2, 9)
    rho += 4 * Fraction(1, 7) + half * Fraction(1, 25)
    for epsilon in ("0", "2", "5"):
        found = dpexact.delta(text, epsilon)
        assert found.method.startswith(UPPER)
        assert found.overlaps(dpexact.delta(f"zcdp({rho})", epsilon))
    assert dpexact.epsilon(text, "1e-9").overlaps(zcdp_epsilon(rho, "1e-9"))
    assert dpexact.delta("fixed_size(zcdp(2), 3, 3)", 4).overlaps(dpexact.delta("zcdp(2)", 4))


def test_infinite_loss_stays_apart():
    lost = 1 - (1 - Fraction(1, 1000)) * (1 - Fraction(1, 20_000))
    text = "zcdp(1/10) * approx_dp(1/2, 1/1000) * poisson(approx_dp(0, 1/1000), 1/20)"
    rest = dpexact.delta("zcdp(9/40)", 2, 20)
    found = dpexact.delta(text, 2)
    assert found.lower <= lost + (1 - lost) * rest.upper
    assert found.upper >= lost + (1 - lost) * rest.lower
    assert dpexact.epsilon(text, "1/1000").lower == math.inf
    back = dpexact.epsilon(text, found.upper)
    assert abs(float(back.upper) - 2) < 1e-9


def test_no_loss_at_all():
    for text in ("zcdp(0)", "zcdp(0)^5 * gdp(0)", "poisson(zcdp(0), 1/3)^2", "poisson(zcdp(9), 0)"):
        assert standing(dpexact.parse(text)) is EXACT
        assert dpexact.delta(text, 1).upper == 0
        assert dpexact.epsilon(text, 0).upper == 0
    assert dpexact.renyi("zcdp(0) * poisson(zcdp(0), 1/2)", 7).upper == 0
    both = dpexact.delta("gaussian(1) * zcdp(0)", 1)
    assert both.overlaps(dpexact.delta("gaussian(1)", 1))
    assert "upper bound" not in both.method


@given(
    sigma=st.fractions(min_value="1/2", max_value=20, max_denominator=50),
    count=st.integers(1, 50),
    epsilon=st.fractions(min_value=0, max_value=10, max_denominator=50),
)
def test_it_is_above_what_has_the_same_constant(sigma, count, epsilon):
    rho = 1 / (2 * sigma**2)
    bound = dpexact.delta(f"zcdp({rho})^{count}", epsilon, 6)
    truth = dpexact.delta(f"gaussian({sigma})^{count}", epsilon, 6)
    assert truth.at_most(bound) is not Ternary.FAILS
    order = 1 + epsilon
    ours = dpexact.renyi(f"zcdp({rho})^{count}", order)
    assert ours.overlaps(dpexact.renyi(f"gaussian({sigma})^{count}", order))
    assert ours.method == UPPER


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("poisson(zcdp(1)*approx_dp(1, 1/9), 1/2)", "poisson(zcdp(1) * approx_dp(1, 1/9), 0.5)"),
        ("fixed_size(zcdp(1), 1, 2)", "fixed_size(zcdp(1), 1, 2)"),
        ("zcdp(1) * poisson(pure_dp(1), 1/2) * fixed_size(pure_dp(1), 1, 2)", "replacement"),
    ],
)
def test_what_has_no_known_constant_is_named(text, named):
    for ask in (dpexact.delta, dpexact.epsilon, total_zcdp):
        with pytest.raises(UnsupportedMechanism) as caught:
            ask(dpexact.parse(text), *([] if ask is total_zcdp else ["1/2"]))
        assert named in str(caught.value)


def test_the_engines_refuse_and_samples_leave_the_trade_off_function_open():
    for method in ("contour", "lattice"):
        with pytest.raises(UnsupportedMechanism, match="zCDP"):
            dpexact.delta("zcdp(1)", 1, method=method)
    with pytest.raises(UnsupportedMechanism, match=r"open: no zCDP guarantee of poisson\(zcdp"):
        dpexact.tradeoff("poisson(zcdp(1), 1/2)")


def test_curves_and_arrays():
    curve = dpexact.epsilon_curve("zcdp(1/100)", [7, 1], "1e-6")
    assert curve[0].overlaps(dpexact.epsilon("zcdp(7/100)", "1e-6"))
    lower, upper = dpexact.delta_bounds("zcdp(1)", [0.5, 3.0])
    assert list(lower) == [0, 0]
    assert np.all(upper > 0)
    assert upper[1] >= dpexact.delta("zcdp(1)", 3).upper


def verdict(claimed, kind, mechanism="zcdp(1/2)", quantity="epsilon", at="1e-6", **options):
    return judge(Claim(mechanism, quantity, claimed, at, kind, **options))


def test_an_audit_condemns_no_claim_that_may_be_true():
    """5.2215 is the bound; the mechanism may be anything from no loss at all up to that."""
    for claimed in ("0", "1e-9", "3.3", "5.2"):
        finding = verdict(claimed, "upper")
        assert finding.verdict == "undecided"
        assert finding.enclosure.lower == 0
        assert finding.digits == 15  # no more digits were tried in vain
        assert "zCDP" in finding.note
    for claimed in ("5.3", "inf", "100"):
        assert verdict(claimed, "upper").verdict == "sound"
    assert verdict("5.22153444453016904423", "upper").verdict == "sound"
    assert verdict("5.22153444453016904422", "upper").verdict == "undecided"
    assert verdict("-1", "upper").verdict == "unsound"
    assert verdict("5.3", "lower").verdict == "unsound"
    assert verdict("5.2", "lower").verdict == "undecided"
    assert verdict("0", "lower").verdict == "sound"
    assert verdict("5.2", "estimate").verdict == "undecided"
    assert "zCDP" in verdict("5.25", "estimate").note
    assert verdict("5.3", "estimate").verdict == "inaccurate"
    assert verdict("5.3", "estimate", tolerance="1/10").verdict == "undecided"
    assert verdict("-1", "estimate").verdict == "inaccurate"


def test_an_audit_of_delta_and_of_an_infinite_bound():
    assert verdict("0.01", "upper", quantity="delta", at="3").verdict == "sound"
    assert verdict("0.001", "upper", quantity="delta", at="3").verdict == "undecided"
    assert verdict("0.001", "lower", quantity="delta", at="3").verdict == "undecided"
    assert verdict("0.01", "lower", quantity="delta", at="3").verdict == "unsound"
    finding = verdict("9", "upper", at="0")
    assert finding.verdict == "undecided"
    assert finding.note
    assert verdict("9", "upper", mechanism="zcdp(0)").verdict == "sound"
    assert verdict("0.5", "lower", mechanism="zcdp(0)").verdict == "unsound"


def test_the_command_line_says_so():
    text = run("delta", "zcdp(1/2)", "--epsilon", "3", "--digits", "5").output
    assert text.startswith("delta <= 0.005143185\n")
    assert "by upper bound: zCDP, Proposition 14" in text
    record = json.loads(run("epsilon", "zcdp(1/2)", "--delta", "1e-6", "--json").output)
    assert record["bound"] == "upper"
    assert record["method"] == "upper bound: zCDP, Proposition 14"
    assert run("renyi", "zcdp(1/2)", "--order", "4").output.startswith("renyi <= 2\n")
    plain = json.loads(run("epsilon", "gaussian(1)", "--delta", "1e-6", "--json").output)
    assert plain["bound"] == "exact"


# --- with an offset -------------------------------------------------------------------------------

FEW = st.fractions(0, 6, max_denominator=20)
SOME = st.fractions("1/20", 4, max_denominator=20)


def test_one_number_is_rho():
    for text in ("zcdp(1/2)", "zcdp(rho=1/2)", "zcdp(0, 1/2)", "zcdp(xi=0, rho=1/2)"):
        assert dpexact.parse(text) == dpexact.zcdp("1/2") == dpexact.zcdp(rho="1/2")
        assert str(dpexact.parse(text)) == "zcdp(0.5)"
    for text in ("zcdp(1/4, 1/2)", "zcdp(1/4, rho=1/2)", "zcdp(rho=1/2, xi=1/4)"):
        found = dpexact.parse(text)
        assert found == dpexact.zcdp("1/4", "1/2") == dpexact.parse(str(found))
        assert str(found) == "zcdp(0.25, 0.5)"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("zcdp(xi=1)", r"rho is missing: zcdp\(xi=0, rho\)"),
        ("zcdp()", "rho is missing"),
        ("zcdp(1, 2, 3)", "too many arguments"),
        ("zcdp(1, xi=2)", "xi is given twice"),
        ("zcdp(-1, 2)", "xi: -1 is not accepted; must be >= 0"),
        ("zcdp(1, -2)", "rho: -2 is not accepted; must be >= 0"),
    ],
)
def test_bad_offsets_are_named(text, told):
    with pytest.raises(dpexact.InvalidInput, match=told):
        dpexact.parse(text)


def test_wrong_calls_are_type_errors():
    for numbers, named in (((1, 2, 3), {}), ((), {}), ((), {"xi": 1}), ((1,), {"xi": 2})):
        with pytest.raises(TypeError):
            dpexact.zcdp(*numbers, **named)


@given(xi=FEW, rho=SOME, epsilon=FEW, count=st.integers(1, 5))
def test_the_offset_moves_epsilon(xi, rho, epsilon, count):
    text = f"zcdp({xi}, {rho})^{count}"
    moved = dpexact.delta(text, epsilon + count * xi, 12)
    assert moved.overlaps(dpexact.delta(f"zcdp({rho})^{count}", epsilon, 12))
    found = dpexact.delta(text, epsilon, 12)
    value, slip = reference.zcdp_delta(f"{count * rho}", f"({epsilon})-({count * xi})")
    assert found.lower <= Fraction(float(min(value, 1) + slip)) + Fraction(1, 10**12)
    assert found.upper >= Fraction(float(min(value, 1) - slip)) - Fraction(1, 10**12)
    order = 2 + epsilon
    exact = count * (xi + rho * order)
    assert dpexact.renyi(text, order).lower <= exact <= dpexact.renyi(text, order).upper
    least = dpexact.epsilon(text, "1e-6", 12)
    rest = dpexact.epsilon(f"zcdp({rho})^{count}", "1e-6", 12)
    assert least.lower <= rest.upper + count * xi
    assert least.upper >= rest.lower + count * xi


@given(mean=st.fractions(0, 2, max_denominator=10), mu=SOME, epsilon=FEW)
def test_a_shifted_gaussian_loss_is_below(mean, mu, epsilon):
    """A product of pure and Gaussian steps has ``D_alpha <= xi + rho alpha``."""
    truth = dpexact.delta(f"pure_dp({mean}) * gdp({mu})", epsilon, 6)
    bound = dpexact.delta(f"zcdp({mean}, {mu**2 / 2})", epsilon, 6)
    assert truth.at_most(bound) is not Ternary.FAILS


def test_no_rho_is_pure():
    assert zcdp_epsilon(0, "1e-300", xi=2).overlaps(dpexact.epsilon("pure_dp(2)", "1e-300"))
    assert standing(dpexact.parse("zcdp(2, 0)")) is EXACT
    for text, same in (("zcdp(2, 0)^3", "pure_dp(2)^3"), ("group(zcdp(1, 0), 3)",) * 2):
        same = same.replace("zcdp(1, 0)", "pure_dp(1)")
        assert dpexact.delta(text, 1).overlaps(dpexact.delta(same, 1))
        assert dpexact.epsilon(text, "1e-3").overlaps(dpexact.epsilon(same, "1e-3"))


def test_groups_of_an_offset():
    for size, xi in ((2, Fraction(3, 10)), (3, Fraction(11, 20)), (4, Fraction(25, 30))):
        text = f"group(zcdp(1/10, 1/2), {size})"
        same = f"zcdp({xi}, {Fraction(size**2, 2)})"
        assert dpexact.epsilon(text, "1e-6").overlaps(dpexact.epsilon(same, "1e-6"))
    assert dpexact.delta("replace(zcdp(1/10, 1/2))", 9).overlaps(dpexact.delta("zcdp(3/10, 2)", 9))


def test_samples_of_an_offset():
    """Order 2 by hand: ``log(1 + q^2 (e^(D_2) - 1))``."""
    found = dpexact.renyi("poisson(zcdp(1/10, 1/2), 1/4)", 2)
    exact = mp.log(1 + mpf(1) / 16 * mp.expm1(mpf("1.1")))
    assert abs(float(found.lower) - float(exact)) < 1e-14


def test_extreme_parameters_are_answered():
    """Beside a large xi, or rho, the best order is next to 1, at a distance below all floats."""
    for text in ("zcdp(1e300)", "zcdp(1e300, 1/2)", "zcdp(1, 1e300)", "zcdp(1e300, 1e-300)"):
        found = dpexact.delta(text, 3)
        assert found.upper == 1
        assert found.lower > Fraction(999, 1000)
        assert dpexact.epsilon(text, "1e-6").lower > Fraction(10) ** 299


def test_epsilon_next_to_delta_1():
    """There ``log(1/delta)`` is known to few of the bits."""
    assert dpexact.epsilon("zcdp(1/2)", "1-1e-50").upper == 0
    with mp.workdps(80):
        rho, loss = mpf(5) * 10**9, -mp.log1p(-(mpf(10) ** -24))
        t = findroot(lambda t: rho * t * t + mp.log1p(t) - loss, loss)
        expected = Fraction(str((2 * t + 1) * rho - mp.log1p(1 / t)))
    found = dpexact.epsilon("zcdp(5e9)", "1-1e-24", 20)
    assert found.lower <= expected <= found.upper
