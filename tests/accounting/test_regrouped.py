"""Groups and replacement: the pairs, against quadrature and against each other."""

import math
from fractions import Fraction

import pytest
from mixtures import profile, twice

import dpexact
from dpexact.accounting.pairs.response import grouped_response
from dpexact.accounting.standing import standing
from dpexact.conversion import real
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.tradeoffs import f_eps_delta
from dpexact.tradeoffs.subsampling import group as group_of


def near(found, expected, accuracy=1e-8):
    return abs(float(found.lower) - expected) <= accuracy * abs(expected)


def binomial(k, q, sigma):
    return [(j / sigma, math.comb(k, j) * q**j * (1 - q) ** (k - j)) for j in range(k + 1)]


STILL = [(0.0, 1.0)]


@pytest.mark.slow
@pytest.mark.parametrize(("k", "q", "sigma"), [(1, 0.3, 1.0), (3, 0.1, 1.0), (5, 0.4, 2.0)])
def test_groups_on_samples(k, q, sigma):
    law = binomial(k, q, sigma)
    text = f"group(poisson(gaussian({sigma}), {q}), {k})"
    for epsilon in (-0.5, 0.2, 1.0):
        found = dpexact.delta(text, epsilon, 10, "remove")
        assert near(found, profile(law, STILL, epsilon))
        assert near(dpexact.delta(text, epsilon, 10, "add"), profile(STILL, law, epsilon))
    found = dpexact.delta(f"{text[: -len(str(k)) - 3]}^2, {k})", 0.2, 10, "remove")
    assert near(found, twice(law, STILL, 0.2), 1e-6)


@pytest.mark.slow
def test_replacement_on_samples():
    law = [(0.0, 0.7), (0.5, 0.3)]
    text = "replace(poisson(gaussian(2), 0.3)^{})"
    assert near(dpexact.delta(text.format(1), 0.1, 10), profile(law, law, 0.1))
    assert near(dpexact.delta(text.format(2), 0.1, 10), twice(law, law, 0.1), 1e-6)
    both = [dpexact.delta(text.format(3), 0.1, 12, way) for way in ("remove", "add", "both")]
    assert both[0] == both[1] == both[2]


def test_no_other_centres_lose_more_under_replacement():
    """Theorem 3 of the relations: in the plane, for the best half-planes of the two centres."""
    q, sigma = 0.3, 1.0
    for distance in (0.0, 0.5, 1.0):
        for other in (-1.0, -0.6, 0.0, 0.7):
            for epsilon in (-0.4, 0.0, 0.5):
                right = [(0.0, 1 - q), (distance / sigma, q)]
                if other <= 0:
                    left = [(0.0, 1 - q), (-other / sigma, q)]
                    seen = profile(right, left, epsilon)
                    antipodal = [(0.0, 1 - q), (1 / sigma, q)]
                    assert seen <= profile(antipodal, antipodal, epsilon) + 1e-12


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("group(gaussian(2), 3)", "gaussian(2, 3)"),
        ("group(laplace(2), 3)^2", "laplace(2, 3)^2"),
        ("group(discrete_laplace(2), 3)", "discrete_laplace(2, 3)"),
        ("group(discrete_gaussian(2), 3)", "discrete_gaussian(2, 3)"),
        ("group(gdp(1/2), 3)", "gdp(3/2)"),
        ("group(zcdp(1/2), 3)", "zcdp(9/2)"),
        ("group(poisson(gaussian(1), 1/10), 1)", "poisson(gaussian(1), 1/10)"),
        ("group(poisson(laplace(1), 1/10), 1)", "poisson(laplace(1), 1/10)"),
        ("group(poisson(pure_dp(1), 1/2)^2, 1)", "poisson(pure_dp(1), 1/2)^2"),
        (
            "group(poisson(approx_dp(0, 1/1000), 1/10) * laplace(1), 1)",
            "poisson(approx_dp(0, 1/1000), 1/10) * laplace(1)",
        ),
        ("group(poisson(gaussian(1), 1), 3)", "gaussian(1, 3)"),
        ("group(poisson(gaussian(1), 0), 3) * gaussian(1)", "gaussian(1)"),
        (
            "group(group(poisson(gaussian(1), 1/3)^5, 2), 2)",
            "group(poisson(gaussian(1), 1/3)^5, 4)",
        ),
        ("group(gaussian(1) * laplace(1), 2)", "gaussian(1, 2) * laplace(1, 2)"),
        (
            "group(poisson(gaussian(1), 1/3) * gaussian(2), 2)",
            "group(poisson(gaussian(1), 1/3), 2) * group(gaussian(2), 2)",
        ),
        ("group(poisson(gaussian(1), 1/3)^4, 2)", "group(poisson(gaussian(1), 1/3), 2)^4"),
        (
            "group(poisson(poisson(gaussian(1), 1/2), 1/3)^4, 2)",
            "group(poisson(gaussian(1), 1/6), 2)^4",
        ),
        ("group(staircase(1, 1/2), 2)", "group(pure_dp(1), 2)"),
        ("replace(gaussian(2))", "gaussian(1)"),
        ("replace(pure_dp(1))", "group(pure_dp(1), 2)"),
        ("replace(poisson(gaussian(1), 1))", "gaussian(1, 2)"),
        (
            "mix(1/2: group(gaussian(1), 2), 1/2: gaussian(2))",
            "group(mix(1/2: gaussian(1), 1/2: gaussian(4)), 2)",
        ),
        ("gaussian_mixture(2, 0: 3/4, 1: 1/4)^3", "poisson(gaussian(2), 1/4)^3"),
        ("gaussian_mixture(2, 0: 1)", "gdp(0)"),
        ("gaussian_mixture(2, 3: 1, 4: 0)", "gaussian(2, 3)"),
        (
            "poisson(gaussian_mixture(1, 1: 1/2, 2: 1/2), 1/2)^9",
            "gaussian_mixture(1, 0: 1/2, 1: 1/4, 2: 1/4)^9",
        ),
    ],
)
def test_the_same_by_another_name(one, other):
    for epsilon in ("-1/3", "1/2"):
        assert dpexact.delta(one, epsilon, 8).overlaps(dpexact.delta(other, epsilon, 8))
    assert dpexact.epsilon(one, "1/100", 8).overlaps(dpexact.epsilon(other, "1/100", 8))
    if "zcdp" not in one:
        assert dpexact.renyi(one, 2, 8).overlaps(dpexact.renyi(other, 2, 8))


@pytest.mark.parametrize("eps", ["log(2)", "log(3/2)"])
@pytest.mark.parametrize("delta", ["0", "1/100", "1/10", "1/3", "9/10", "1"])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 7])
def test_groups_under_a_guarantee_are_those_of_f_dp(eps, delta, k):
    """Against the trade-off function composed vertex by vertex."""
    lost, law = grouped_response(real(eps), real(delta), k)
    f = group_of(f_eps_delta(eps, delta), k)
    assert 1 - f.value(0) == lost.fraction
    for epsilon in ("0", "log(5/4)", "log(2)", "log(3)", "log(11)"):
        level = {"0": 1, "log(5/4)": Fraction(5, 4), "log(2)": 2, "log(3)": 3, "log(11)": 11}[
            epsilon
        ]
        expected = max(1 - f_alpha - level * alpha for alpha, f_alpha in f.vertices)
        found = dpexact.delta(f"group(approx_dp({eps}, {delta}), {k})", f"log({level})", 12)
        assert found.lower <= max(expected, lost.fraction) <= found.upper
    if law is not None:
        assert sum(atom.p.fraction for atom in law.law) == 1
        assert sum(atom.q.fraction for atom in law.law) == 1


def test_a_guarantee_of_no_loss_but_a_leak():
    assert dpexact.delta("group(approx_dp(0, 1/10), 3)", 1).lower == Fraction(3, 10)
    assert dpexact.delta("group(approx_dp(0, 1/2), 3)", 1).lower == 1
    assert dpexact.delta("group(pure_dp(0), 3)", 0).upper == 0


def test_what_reveals_everything_reveals_nobody_who_takes_no_part():
    found = dpexact.delta("group(poisson(approx_dp(0, 1), 1/10), 3)", 7)
    assert found.lower == found.upper == 1 - Fraction(9, 10) ** 3
    assert dpexact.delta("replace(poisson(approx_dp(2, 1), 1/10))^2", 7).lower == Fraction(19, 100)
    # so every noise meets a target above it, and little noise comes near it
    assert dpexact.calibrate("replace(poisson(gaussian(?), 1/10))^2", 7, "1/5").upper == 0
    near = dpexact.delta("replace(poisson(gaussian(1/50), 1/10))", 7, 5)
    assert Fraction(99, 1000) < near.lower <= Fraction(1, 10)


@pytest.mark.parametrize("text", ["group(approx_dp(1, 1), 3)", "replace(approx_dp(1/10, 1/2))"])
def test_a_guarantee_of_which_nothing_is_left(text):
    assert dpexact.delta(text, 1).lower == 1


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("group(poisson(gaussian(1), 1/3), 2) * group(laplace(1), 2)", "exact"),
        ("group(pure_dp(1), 2)", "upper"),
        ("group(pure_dp(1), 1)", "exact"),
        ("group(poisson(laplace(1), 1/2), 2)", "upper"),
        ("group(poisson(pure_dp(1), 0), 2)", "exact"),
        ("group(gdp(1), 2) * gaussian(1)", "upper"),
        ("group(group(zcdp(1), 2), 2)", "upper"),
        ("replace(poisson(gaussian(1), 1/3))", "exact"),
        ("replace(approx_dp(1, 1/10))", "upper"),
        ("replace(laplace(1))", "exact"),
    ],
)
def test_what_is_attained(text, bound):
    assert standing(dpexact.parse(text)).bound == bound
    found = dpexact.delta(text, "1/2", 6)
    assert found.bound == bound
    assert bool(found.theorem) == (bound != "exact")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("group(fixed_size(gaussian(1), 1, 2), 2)", "group counts records added or removed"),
        ("replace(group(poisson(gaussian(1), 1/2), 2))", "replace removes one record"),
        ("group(poisson(gaussian(1), 1/2), 2) * poisson(gaussian(1), 1/2)", "by 2 records"),
        ("replace(gaussian(1)) * poisson(gaussian(1), 1/2)", "beside replace"),
        ("group(gaussian_mixture(1, 1: 1), 2)", "no certified accounting for groups under"),
        ("poisson(group(poisson(gaussian(1), 1/2), 2), 1/2)", "by 2 records"),
        ("group(poisson(gaussian(1) * laplace(1), 1/2), 2)", "no certified accounting for groups"),
    ],
)
def test_what_is_refused(text, said):
    for ask in (lambda: dpexact.delta(text, 1), lambda: dpexact.renyi(text, 2)):
        with pytest.raises(UnsupportedMechanism, match=said):
            ask()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("group(gaussian(1), 0)", "column 1 .* k: 0 is not accepted"),
        ("group(gaussian(1), 1/2)", "k: "),
        ("group(gaussian(1), 10001)", "k: 10001"),
        ("group(2, 3)", "column 7 .* expected a mechanism"),
        ("replace()", "mechanism is missing"),
        ("gaussian_mixture(0, 1: 1)", "sigma: 0 is not accepted"),
        ("gaussian_mixture(1, 1: 1/2)", "weights add up to 1/2, not to 1"),
        ("gaussian_mixture(1, 1: 3/2, 2: -1/2)", "sensitivities: 3/2 is not accepted|1.5"),
        ("gaussian_mixture(1, -1: 1)", "sensitivities: -1 is not accepted"),
        ("gaussian_mixture(1, 1: log(2), 2: 1 - log(2))", "is not rational"),
        ("mix(1/2: gaussian(1))", "parts: the weights add up to 1/2"),
        ("truncated_poisson(gaussian(1), 2, 10, 5)", "q: 2 is not accepted"),
        ("truncated_poisson(gaussian(1), 1/2, 0, 5)", "n: 0 is not accepted"),
        ("truncated_poisson(gaussian(1), 1/2, 5, -1)", "batch: -1 is not accepted"),
    ],
)
def test_bad_input_is_one_line(text, said):
    with pytest.raises(InvalidInput, match=said) as caught:
        dpexact.parse(text)
    assert "\n" not in str(caught.value)


def test_tried_numbers():
    found = dpexact.delta("group(poisson(gaussian(1), 1/100)^1000, 3)", 1, 18)
    assert Fraction("0.2110923949780373528") in found or found.shown(18).startswith(
        "0.21109239497803735"
    )
    found = dpexact.delta("replace(poisson(gaussian(1), 1/100)^1000)", 1, 18)
    assert found.shown(18).startswith("0.0329621161311448564")


@pytest.mark.slow
def test_calibration_and_curves():
    text = "group(poisson(gaussian(?), 1/10)^20, 3)"
    sigma = dpexact.calibrate(text, 1, "1e-3", 4)
    met = dpexact.delta(text.replace("?", str(sigma.upper)), 1, 9)
    assert met.upper <= Fraction("1e-3")
    missed = dpexact.delta(text.replace("?", str(sigma.lower)), 1, 9)
    assert missed.lower > Fraction("1e-3")
    size = dpexact.calibrate("group(poisson(gaussian(2), 1/100)^200, ?)", 1, "1e-2")
    k = int(size.lower)
    for count, holds in ((k, True), (k + 1, False)):
        delta = dpexact.delta(f"group(poisson(gaussian(2), 1/100)^200, {count})", 1, 4)
        assert (delta.upper <= Fraction("1e-2")) == holds
    step = "group(poisson(gaussian(1), 1/10), 2)"
    curve = dpexact.epsilon_curve(step, [20, 30, 40], "1e-4", 6)
    for steps, found in zip((20, 30, 40), curve, strict=True):
        assert found.overlaps(dpexact.epsilon(f"{step}^{steps}", "1e-4", 6))


def test_audits_of_upper_pairs():
    def verdict(text, claimed, kind):
        return dpexact.audit([{
            "mechanism": text, "claims": "delta", "delta": claimed, "epsilon": 1, "kind": kind,
        }]).findings[0].verdict  # fmt: skip

    text = "group(pure_dp(1)^2, 2)"
    assert verdict(text, "1e-5", "upper") == "undecided"
    assert verdict(text, "1", "upper") == "sound"
    assert verdict("group(poisson(gaussian(1), 1/10)^2, 2)", "1e-5", "upper") == "unsound"


def test_trade_off_functions_of_upper_pairs_are_lower_bounds():
    f = dpexact.tradeoff("group(pure_dp(1), 2)")
    assert f("1/10", 8).bound == "lower"
    assert dpexact.tradeoff("group(poisson(gaussian(1), 1/3), 2)")("1/10", 6).bound == "exact"
