"""Two sampled Gaussian steps: against other engines, against mpmath, and under any plan."""

import math
from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpexact import balls, epsilon
from dpexact.accounting.engines import gaussian_twice
from dpexact.accounting.engines.gaussian_twice import GaussianTwice
from dpexact.accounting.engines.rare.profile import RareProfile
from dpexact.accounting.engines.rare.rows import Row
from dpexact.conversion import real

WAYS = ("remove", "add")
SHORT = 1 - Fraction(1, 10**5)


def twice(sigma, q, way):
    return GaussianTwice(real(sigma), real(q), way == "add")


@given(
    st.floats(-0.3, 1),
    st.floats(-5, -0.05),
    st.floats(-4, 0.5),
    st.sampled_from(WAYS),
    st.sampled_from([3, 8, 15]),
)
def test_both_engines_meet(sigma, q, at, way, digits):
    sigma, q, at = (f"{10**x:.5g}" for x in (sigma, q, at))
    found = twice(sigma, q, way).delta(real(at), digits)
    windows = RareProfile((Row(real(sigma), real(q), 2),), way == "add").delta(real(at), 3)
    assert found.digits >= digits or found.upper < 1e-30
    assert found.overlaps(windows)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("sigma", "q", "at"), [("1", "0.3", "0.4"), ("0.5", "0.01", "0.015"), ("3", "0.9", "2")]
)
def test_delta_is_the_mean_of_one_step_over_the_other(sigma, q, at, way):
    with mp.workdps(30):
        noise, rate, level = mpf(sigma), mpf(q), mpf(at)
        if way == "add":
            level = -level

        def law(x):
            return 1 - rate + rate * mp.exp(x / noise - 1 / (2 * noise**2))

        def once(ratio):
            """``E_P[(1 - ratio e^-Z)_+]`` when removing, ``E_P[(ratio e^-Z - 1)_+]`` of adding."""
            least = (ratio - 1 + rate) / rate
            sign = 1 if way == "remove" else -1
            if least <= 0:
                return 1 - ratio if way == "remove" else mpf(0)
            x = noise * (mp.log(least) + 1 / (2 * noise**2))
            still, moved = mp.ncdf(-sign * x), mp.ncdf(sign * (1 / noise - x))
            return sign * ((1 - rate) * still + rate * moved - ratio * still)

        def density(x):
            return mp.npdf(x) * law(x) * once(mp.exp(level) / law(x))

        edge = (mp.exp(level) / (1 - rate) - 1 + rate) / rate
        cut = [noise * (mp.log(edge) + 1 / (2 * noise**2))] if edge > 0 else []
        ends = sorted([mpf(-16), mpf(-3), mpf(0), mpf(3), 20 + 1 / noise, *cut])
        truth = mp.quad(density, ends) * (mp.exp(-level) if way == "add" else 1)
        found = twice(sigma, q, way).delta(real(at), 12)
        assert found.digits >= 12
        assert abs(mpf(found.lower.numerator) / found.lower.denominator / truth - 1) < 1e-11


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("sigma", "q", "target", "digits"),
    [
        ("3", "1e-5", "1e-8", 8),
        ("10", "1e-3", "1e-8", 15),
        ("1", "0.5", "1e-20", 30),
        ("0.5", "1e-7", "1e-12", 2),
        ("2", "0.99", "0.1", 8),
        ("3", "1e-4", "1e-4", 8),
    ],
)
def test_epsilon_is_where_delta_crosses(sigma, q, target, way, digits):
    profile = twice(sigma, q, way)
    found = profile.epsilon(real(target), digits)
    if found.upper == 0:
        assert profile.delta(real("0"), 3).upper <= float(target) * 1.01
        return
    assert found.digits >= digits
    with balls.precision(250):
        aim = balls.ball(real(target))
        assert profile.finite_ball(balls.ball(found.lower)) > aim
        assert profile.finite_ball(balls.ball(found.upper)) < aim


@pytest.mark.parametrize(
    ("sigma", "q", "at"), [("1", "1/10", "20"), ("0.4", "1/40", "50"), ("4", "1/300", "1/4")]
)
def test_far_tails_take_no_more_bits(sigma, q, at):
    profile = twice(sigma, q, "remove")
    found = profile.delta(real(at), 8)
    assert found.digits >= 8
    assert found.upper < 1e-40
    with balls.precision(120):
        assert profile.finite_ball(balls.ball(real(at))).rel_accuracy_bits() > 40
    with balls.precision(600):  # where no error is of the order of delta
        assert found.overlaps(balls.to_enclosure(profile.finite_ball(balls.ball(real(at)))))
    back = profile.epsilon(real(found.lower), 8)
    assert back.lower <= real(at).fraction * (1 + Fraction(1, 10**8))
    assert back.upper >= real(at).fraction * (1 - Fraction(1, 10**8))


@pytest.mark.parametrize("way", WAYS)
def test_any_plan_encloses(way, monkeypatch):
    """Wide spacings, short sums, high and low strips: the truth is inside whatever they say."""
    planned, cases = gaussian_twice.planned, 0
    for sigma, q in (("0.3", "0.9"), ("1", "0.5"), ("4", "1e-3")):
        profile = twice(sigma, q, way)
        for at in (arb(0), arb("1e-3"), arb("0.3"), arb(2), arb(9)):
            monkeypatch.setattr(gaussian_twice, "planned", planned)
            with balls.precision(300):
                truth, slope = profile._integrals(at)
            plans = ((1, 2, 1), (1, 4, 1), (0.5, 2, 1), (1, 1, 0.4), (1, 1, 0.2))
            for higher, wider, shorter in plans:

                def other(rate, bits, how=(higher, wider, shorter)):
                    height, spacing, count = planned(rate, 40)
                    fewer = max(math.ceil(how[2] * count / how[1]), math.ceil(rate / spacing) + 1)
                    return how[0] * height, how[1] * spacing, fewer

                monkeypatch.setattr(gaussian_twice, "planned", other)
                with balls.precision(300):
                    found, fall = profile._integrals(at)
                    if truth.is_finite() and found.is_finite():
                        assert found.contains(truth.mid())
                        assert fall <= slope or fall.overlaps(slope)
                        cases += 1
    assert cases > 20


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("sigma", "q", "at"), [("1", "0.3", "0.4"), ("3", "0.9", "2")])
def test_delta_falls_by_its_derivative(sigma, q, at, way):
    profile = twice(sigma, q, way)
    with balls.precision(300):
        place, step = balls.ball(real(at)), arb(2) ** -60
        (before, _), (_, fall), (after, _) = map(
            profile._integrals, (place - step, place, place + step)
        )
        assert abs((before - after) / (2 * step) / fall - 1) < 1e-20


@pytest.mark.parametrize("error", ["strip", "beyond"])
def test_no_error_term_is_idle(error, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(gaussian_twice, error, lambda *numbers: arb(0))
        with pytest.raises(AssertionError):
            test_any_plan_encloses("remove", patch)


@pytest.mark.parametrize(("count", "rate"), [(200, 0.3), (300, 2.0)])
def test_the_nodes_left_out_are_all_of_the_bound(count, rate):
    """It is what they would be if each had the most that ``gain`` may be there."""
    step = 0.01
    terms = (math.exp(-((j * step - rate) ** 2) / 2) for j in range(count + 1, 3000))
    nodes = 2 * step / math.sqrt(2 * math.pi) * sum(terms)
    bound = float(gaussian_twice.beyond(arb(1), arb(count * step), arb(rate)))
    assert nodes < bound < 1.02 * nodes


def test_extreme_parameters_are_answered_or_left_to_others():
    for sigma, q in (
        ("1e-300", "0.5"),
        ("1e-400", "0.5"),
        ("1e300", "0.5"),
        ("1", "1e-300"),
        ("1", "1-1e-30"),
    ):
        for way in WAYS:
            found = twice(sigma, q, way).epsilon(real("1e-9"), 6)
            assert found.lower <= found.upper
    assert twice("1", "0.5", "add").delta(real("1.4"), 8).upper == 0
    assert str(epsilon("poisson(gaussian(1.5), 1e-5)^2", "1e-12", digits=12)).startswith(
        "0.00032160638743"
    )


@pytest.mark.slow
def test_rates_that_are_nothing_next_to_1():
    """There the loss is ``q (r(x) + r(y) - 2)``, ``r`` the ratios of both steps."""
    found = twice("1", "1e-400", "remove").epsilon(real("1e-500"), 8)
    assert found.digits >= 8

    def divergence(end):
        """Over ``q``: twice the integral where the second step is the smaller one."""
        most = 2 + mpf(end.numerator) / end.denominator * mpf(10) ** 400

        def beyond(y):
            rest = most - mp.exp(y - 0.5)
            at = mp.log(rest) + 0.5
            return mp.ncdf(1 - at) - rest * mp.ncdf(-at)

        return 2 * mp.quad(lambda y: mp.npdf(y) * beyond(y), [-11, 0, 11])

    with mp.workdps(120):
        ends = divergence(found.lower * SHORT), divergence(found.upper / SHORT)
    assert ends[0] > mpf(10) ** -100 > ends[1]


@pytest.mark.parametrize(("sigma", "q", "delta"), [("0.2", "0.5", "1e-3"), ("0.3", "0.9", "1e-12")])
def test_a_step_beyond_floats_is_halved(sigma, q, delta):
    """The first steps from 0 led to where the exponential of epsilon is no float."""
    text = f"poisson(gaussian({sigma}), {q})^2"
    found = epsilon(text, delta, digits=8)
    assert found.digits >= 8
    profile, target = twice(sigma, q, "remove"), Fraction(delta)
    assert profile.delta(real(found.upper), 12).lower <= target
    assert profile.delta(real(found.lower), 12).upper >= target
