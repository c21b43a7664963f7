"""Random allocation against exact moments, quadrature, another transform and tried numbers."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact.accounting.pairs.allocation import Allocation
from dpexact.accounting.pairs.sums import allocation_loud, allocation_sums
from dpexact.accounting.pairs.sums.allocation_products import Fixed, power, turned_sums
from dpexact.accounting.pairs.sums.allocation_sums import Law
from dpexact.balls import precision
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism

NOISES = st.sampled_from(["0.3", "0.5", "0.8", "1", "1.7", "3"])
STEPS = st.sampled_from([2, 3, 7, 50, 400, 3000])


def contains(found: Enclosure, value: float, share: float) -> bool:
    """Whether a float of relative error ``share`` may be what is enclosed."""
    return found.lower - abs(value) * share <= Fraction(value) <= found.upper + abs(value) * share


# --- tried before, by naive sums ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "epsilon", "direction", "value"),
    [
        ("allocation(gaussian(1), 10)", 1, "remove", "0.00278286899918"),
        ("allocation(gaussian(1), 10)", 1, "add", "0.00048618580850"),
        ("allocation(gaussian(1), 1000)", 1, "remove", "2.269759760302160046e-13"),
        ("allocation(gaussian(3)^10, 100)", 1, "remove", "1.3021782641609344e-6"),
        ("allocation(gaussian(0.6), 10000)", 1, "remove", "6.24160998337632e-8"),
        ("allocation(gaussian(1), 100)^10", 1, "remove", "0.0020014927817173175"),
        ("allocation(gaussian(1), 100)^10", 1, "add", "0.0013547044908582385"),
    ],
)
def test_values_of_naive_sums(text, epsilon, direction, value):
    found = dpexact.delta(text, epsilon, digits=14, direction=direction)
    assert contains(found, float(value), 1e-11)
    assert found.digits >= 14


# --- a second route -------------------------------------------------------------------------------


def _put(strike: mpmath.mpf, a: mpmath.mpf) -> mpmath.mpf:
    """``E (strike - Y)_+`` of one log-normal variable."""
    if strike <= 0:
        return mpmath.mpf(0)
    d = mpmath.log(strike) / a + a / 2
    return strike * mpmath.ncdf(d) - mpmath.ncdf(d - a)


def _put_of_mean(strike, a, t):
    """``E (strike - S)_+`` by quadrature over all variables but one, ``t`` 2 or 3."""
    if t == 1:
        return _put(strike, a)

    def inner(x):
        rest = t * strike - mpmath.exp(a * x - a * a / 2)
        return mpmath.npdf(x) * (t - 1) / mpmath.mpf(t) * _put_of_mean(rest / (t - 1), a, t - 1)

    top = mpmath.log(t * strike) / a + a / 2
    return mpmath.quad(inner, [-14, min(top, -3), min(top, 0), min(top, 3), min(top, 14)])


@pytest.mark.slow
@pytest.mark.parametrize("sigma", ["0.7", "1", "2.5"])
def test_two_steps_by_quadrature(sigma):
    with mpmath.workdps(25):
        a = 1 / mpmath.mpf(sigma)
        for epsilon in ("0.1", "1"):
            e = mpmath.mpf(epsilon)
            removed = 1 - mpmath.exp(e) + _put_of_mean(mpmath.exp(e), a, 2)
            added = mpmath.exp(e) * _put_of_mean(mpmath.exp(-e), a, 2)
            for way, value in (("remove", removed), ("add", added)):
                found = dpexact.delta(f"allocation(gaussian({sigma}), 2)", epsilon, 12, way)
                assert contains(found, float(value), 1e-11)


@pytest.mark.slow
def test_three_steps_by_quadrature():
    with mpmath.workdps(8):
        value = 1 - mpmath.e + _put_of_mean(mpmath.e, mpmath.mpf(1), 3)
    assert contains(
        dpexact.delta("allocation(gaussian(1), 3)", 1, 10, "remove"), float(value), 1e-5
    )


def _by_laplace(sigma: float, t: int, epsilon: float) -> tuple[float, float]:
    """Delta of both directions from ``E e^{-uS}`` on a vertical line, in floats."""
    a = 1 / sigma
    x = np.arange(-13, 13, 0.02)
    mass, y = 0.02 * np.exp(-x * x / 2) / math.sqrt(2 * math.pi), np.exp(a * x - a * a / 2)
    found = []
    for strike in (math.exp(epsilon), math.exp(-epsilon)):
        c, h = 1.0, 2 * math.pi / 40.0
        s = c + 1j * h * np.arange(0, 4000)
        psi = np.array([mass @ np.exp(-z / t * y) for z in s]) ** t
        terms = (np.exp(s * strike) * psi / s**2).real
        value = h / math.pi * (terms.sum() - terms[0] / 2)
        # the aliases, about strike + m period - 1 each
        shares = [math.exp(-c * 40.0 * m) * (strike + 40.0 * m - 1) for m in (1, 2, 3)]
        found.append(value - sum(shares))
    return 1 - math.exp(epsilon) + found[0], math.exp(epsilon) * found[1]


@pytest.mark.parametrize(("sigma", "t"), [(1.0, 20), (0.8, 50), (2.0, 5)])
def test_the_laplace_transform_of_the_ratio_itself(sigma, t):
    removed, added = _by_laplace(sigma, t, 0.5)
    text = f"allocation(gaussian({sigma}), {t})"
    for way, value in (("remove", removed), ("add", added)):
        found = dpexact.delta(text, "0.5", 10, way)
        assert abs(float(found.upper) - value) < 1e-9


@pytest.mark.slow
@given(sigma=NOISES, t=STEPS, order=st.integers(1, 6))
@settings(max_examples=25)
def test_integer_moments_are_finite_sums(sigma, t, order):
    noise = real(sigma)
    with precision(120):
        exact = Law(1 / noise, t).whole(order + 1)
        transformed = Allocation(noise, t).moment(float(order), 40.0)
        assert transformed.overlaps(exact)
        assert transformed.rel_accuracy_bits() > 40


@pytest.mark.slow
@given(sigma=NOISES, t=STEPS, c=st.sampled_from([0.3, 1.0, 2.5]), add=st.booleans())
@settings(max_examples=12)
def test_the_line_is_below_its_bound_and_meets_the_moment(sigma, t, c, add):
    pair = Allocation(real(sigma), t, add)
    with precision(120):
        line = pair.moments(c, 0.75, 8, 30.0)
        assert line[0].real.overlaps(pair.moment(c, 30.0))
        for n, value in enumerate(line):
            assert not value.abs_lower() > pair.decayed(c, n * 0.75, 20.0)


@pytest.mark.slow
@given(sigma=NOISES, t=st.sampled_from([2, 7, 50]), epsilon=st.sampled_from(["0", "0.3"]))
@settings(max_examples=4, deadline=None)
def test_directions_are_reflections(sigma, t, epsilon):
    """At a negative epsilon the other direction answers: two lines, one number."""
    pair = f"allocation(gaussian({sigma}), {t})"
    removed = dpexact.delta(pair, epsilon, 8, "remove")
    added = dpexact.delta(pair, f"-{epsilon}" if epsilon != "0" else "0", 8, "add")
    level = real(f"exp({epsilon})")
    with precision(200):
        from dpexact.balls import ball, to_enclosure

        size = ball(level)
        image = (1 - size + size * ball(Fraction(added.lower))).union(
            1 - size + size * ball(Fraction(added.upper))
        )
        assert to_enclosure(image).meet(removed)


# --- the tools ------------------------------------------------------------------------------------


def test_products_in_integers_enclose_those_of_balls():
    with precision(80):
        values = [acb(arb(1) / (n + 1), arb(-1) / (n + 2)) for n in range(9)]
        weights = [acb(n, 3 - n) / 7 for n in range(5)]
        found = Fixed(values, 60).times(weights)
        for n in range(13):
            exact = sum((values[i] * weights[n - i] for i in range(9) if 0 <= n - i < 5), acb(0))
            assert found[n].overlaps(exact)
            assert found[n].rel_accuracy_bits() > 40


@pytest.mark.parametrize("t", [1, 2, 5, 40])
def test_powers_of_series(t):
    with precision(100):
        series = [arb(1), arb(1), arb(1) / 2, arb(1) / 6, arb(1) / 24]
        assert power(series, t, 4).overlaps(arb(t) ** 4 / 24)
        assert power([arb(0), arb(1), arb(0)], 2, 2).overlaps(arb(1))


def test_sums_at_many_turns():
    with precision(90):
        weights = [acb(n + 1, 2) for n in range(6)]
        for n, found in enumerate(turned_sums(weights, arb("0.3"), 9)):
            exact = sum(
                (w * acb(0, arb("0.3") * j * n).exp() for j, w in enumerate(weights)), acb(0)
            )
            assert found.overlaps(exact)


@pytest.mark.parametrize(
    "term",
    ["strip_aliases", "inner_tails", "outer_aliases", "left_tail", "right_tail"],
)
def test_every_error_term_counts(monkeypatch, term):
    """Where a term is made much larger, the ball grows: it is added."""
    pair = Allocation(real("1"), 30)
    with precision(120):
        narrow = pair.moment(2.0, 30.0)
        proper = getattr(allocation_sums, term)
        monkeypatch.setattr(allocation_sums, term, lambda *args: proper(*args) + arb("1e-3"))
        assert pair.moment(2.0, 30.0).rad() > 1000 * narrow.rad()


# --- mechanisms -----------------------------------------------------------------------------------


def test_text_and_python_agree():
    by_hand = dpexact.allocation(dpexact.gaussian(1), 100, 4) ** 3
    assert dpexact.parse(str(by_hand)) == by_hand
    assert str(by_hand) == "allocation(gaussian(1), 100, 4)^3"


def test_edges_are_what_they_are():
    same = [
        ("allocation(gaussian(2), 1)", "gaussian(2)"),
        ("allocation(gaussian(2), 5, 5)", "gaussian(2)^5"),
        ("allocation(laplace(2), 3, 3)", "laplace(2)^3"),
    ]
    for text, plain in same:
        assert dpexact.epsilon(text, "1e-5", 8) == dpexact.epsilon(plain, "1e-5", 8)
    assert dpexact.delta("allocation(gdp(0), 7)", 0).upper == 0


def test_several_of_t_is_an_upper_bound():
    found = dpexact.epsilon("allocation(gaussian(1), 100, 4)", "1e-5", 8)
    assert found.bound == "upper"
    assert found == dpexact.epsilon("allocation(gaussian(1), 25)^4", "1e-5", 8)
    # what the sum of all outputs reveals
    assert dpexact.epsilon("gaussian(10/4)", "1e-5", 8) < found
    assert dpexact.epsilon("allocation(gaussian(1), 100)", "1e-5", 8).bound == "exact"


def test_the_same_bins_are_less_noise():
    same = dpexact.epsilon("allocation(gaussian(3)^9, 20)", "1e-5", 10)
    assert same == dpexact.epsilon("allocation(gaussian(1), 20)", "1e-5", 10)


def test_it_composes():
    alone = dpexact.epsilon("allocation(gaussian(1), 100)", "1e-5", 6)
    with_all = dpexact.epsilon(
        "allocation(gaussian(1), 100) * poisson(gaussian(1), 1/100)^10 * gaussian(9) * "
        "approx_dp(1/10, 1e-7)",
        "1e-5",
        6,
    )
    assert with_all > alone
    curve = dpexact.epsilon_curve("allocation(gaussian(1), 100)", [1, 4], "1e-5", 6)
    assert curve[0].meet(alone)
    assert curve[1].meet(dpexact.epsilon("allocation(gaussian(1), 100)^4", "1e-5", 6))


def test_renyi_of_both_directions():
    text = "allocation(gaussian(1), 20)^3"
    removed = dpexact.renyi(text, 3, 12, "remove")
    with precision(100):
        exact = 3 * Law(real("1"), 20).whole(3).log() / 2
        assert float(removed.lower) <= float(exact.mid()) <= float(removed.upper) * (1 + 1e-15)
    added = dpexact.renyi(text, 3, 12, "add")
    assert dpexact.renyi(text, 3, 12) == removed.larger(added)
    assert dpexact.renyi(text, "inf").lower == math.inf
    near, one = dpexact.renyi(text, "1.0001", 6), dpexact.renyi(text, 1, 6)
    assert one < near
    assert abs(float(near.upper) / float(one.upper) - 1) < 1e-3


def test_a_bound_of_smaller_orders():
    """Moments of the order that floats find are out of their reach."""
    with pytest.raises(dpexact.PrecisionNotReached) as failure:
        dpexact.delta("allocation(gaussian(4.46), 4630)^3", "3.78", 8, "remove")
    assert failure.value.best.upper < Fraction(1, 10**200)


def test_orders_out_of_reach_are_no_crash():
    with pytest.raises(dpexact.PrecisionNotReached):
        dpexact.renyi("allocation(gaussian(1), 100)", 10**5, 6, "remove")


@pytest.mark.slow
def test_calibration():
    sigma = dpexact.calibrate("allocation(gaussian(?), 50)^2", 1, "1e-6", 5)
    met = dpexact.delta(f"allocation(gaussian({sigma.safe(8)}), 50)^2", 1, 8)
    missed = dpexact.delta(f"allocation(gaussian({float(sigma.lower) * 0.999}), 50)^2", 1, 8)
    assert met <= Fraction(1, 10**6) < missed


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("allocation(laplace(1), 100)", "only of Gaussian noise"),
        ("allocation(poisson(gaussian(1), 1/2), 100)", "only of Gaussian noise"),
        ("poisson(allocation(gaussian(1), 100), 1/2)^2", "allocation"),
        ("allocation(gaussian(1), 100) * fixed_size(gaussian(1), 1, 2)", "neighbours"),
    ],
)
def test_what_is_refused(text, words):
    with pytest.raises(UnsupportedMechanism, match=words):
        dpexact.epsilon(text, "1e-5")


def test_the_lattice_engine_refuses():
    with pytest.raises(UnsupportedMechanism, match="only the contour engine"):
        dpexact.epsilon("allocation(gaussian(1), 9)", "1e-5", method="lattice")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("allocation(gaussian(1), 0)", "t: 0 is not accepted"),
        ("allocation(gaussian(1), 3/2)", "t: 1.5 is not accepted"),
        ("allocation(gaussian(1), 3, 4)", "k: 4 is not accepted"),
        ("allocation(gaussian(0), 3)", "sigma: 0 is not accepted"),
        ("allocation(gaussian(1))", "t"),
        ("allocation(3, 4)", "mechanism"),
    ],
)
def test_bad_input_is_named(text, words):
    with pytest.raises(InvalidInput, match=words):
        dpexact.parse(text)


@pytest.mark.parametrize(("sigma", "t", "k"), [("1/2", 10, 1), ("1", 20, 4), ("2", 12, 3)])
def test_several_of_t_lie_between_the_bounds(sigma, t, k):
    """Docs, Proposition 2b: the sum of the outputs, and the event that one of them is large."""
    most = dpexact.delta(f"allocation(gaussian({sigma}), {t}, {k})", 1, 5, "remove")
    mass = dpexact.delta(f"gaussian({sigma} * sqrt({t}) / {k})", 1, 5)
    assert mass.lower < most.upper
    a = 1 / float(Fraction(sigma))
    below = lambda x: math.erfc(-x / math.sqrt(2)) / 2  # noqa: E731
    large = max(
        1 - below(c - a) ** k * below(c) ** (t - k) - math.e * (1 - below(c) ** t)
        for c in (i / 20 for i in range(-40, 140))
    )
    assert large < float(most.upper)
    if a == 2:  # a record that can be told: most of the truth
        assert large > 0.9 * float(most.lower)


@pytest.mark.slow
def test_orders_whose_moments_are_hardly_known_bound_no_alias():
    """Little loss in few steps: the best order is where a single output would have to be huge."""
    found = dpexact.epsilon("allocation(gaussian(4), 100)^10", "1e-5", 7, "remove")
    assert (
        dpexact.delta("allocation(gaussian(4), 100)^10", found.upper, 3, "remove").upper < 1.0001e-5
    )


@pytest.mark.parametrize(("sigma", "t", "c"), [("3", 5, 60.25), ("10", 10, 90.25)])
@pytest.mark.slow
def test_moments_of_many_powers_keep_their_digits(sigma, t, c):
    """Powers beyond the steps: of each variable many, whose bounds lie far from that of none."""
    pair = Allocation(real(sigma), t)
    with precision(128):
        found = pair.moment(c, 30.0)
        law, share = Law(1 / real(sigma), t), arb(c) - int(c)
        low, high = (law.whole(int(c) + k).log() for k in (1, 2))
        assert found.rel_accuracy_bits() > 35
        assert found.log() < low + share * (high - low)
        assert found.log() > low


@pytest.mark.slow
def test_epsilon_of_epochs_with_much_noise():
    for way in ("remove", "add"):
        found = dpexact.epsilon("allocation(gaussian(10), 10)^10", "1e-5", 8, way)
        assert found.digits >= 8
        again = dpexact.delta("allocation(gaussian(10), 10)^10", found.upper, 4, way)
        assert contains(again, 1e-5, 1e-6)


# --- little noise: one step alone -----------------------------------------------------------------


@pytest.mark.parametrize(("noise", "t"), [("0.3", 2), ("0.25", 10), ("0.5", 4), ("0.8", 30)])
@pytest.mark.parametrize("c", [0.125, 0.5, 0.75, 1.0, 1.5, 2.75])
def test_one_step_alone_holds_the_transform(noise, t, c):
    """The first form must not be the mere value of one step: it is off by what the ball allows."""
    pair = Allocation(real(noise), t)
    with precision(120):
        square = 1 / arb(noise) ** 2
        line = allocation_loud.on_line(arb(c), arb(0.375), 6, square, t)
        transformed = pair.moments(c, 0.375, 6, 40.0)
        assert all(x.overlaps(y) for x, y in zip(line, transformed, strict=True))
        alone = allocation_loud.alone(acb(c), square, t).real
        assert not pair._transformed(c, 40.0).overlaps(alone) or noise == "0.25"
        assert allocation_loud.moment(arb(c), square, t).overlaps(pair._transformed(c, 40.0))


@pytest.mark.parametrize(("noise", "t"), [("0.3", 2), ("0.25", 10), ("0.5", 4), ("0.8", 30)])
@pytest.mark.parametrize("c", [0.125, 0.5, 0.9, 2.5, 6.0])
def test_bounds_of_little_noise_hold_the_transform(noise, t, c):
    pair = Allocation(real(noise), t)
    with precision(120):
        square = 1 / arb(noise) ** 2
        assert pair.reverse._transformed(c, 20.0) <= allocation_loud.added(arb(c), square, t)
        w = arb(c) / 7
        bound = allocation_loud.partial(w, square, t)
        assert pair._transformed(c / 7 - 1, 20.0) <= bound * (1 + arb(1e-6))


@pytest.mark.parametrize("c", [0.25, 3.0, 40.0])
def test_bounds_of_much_noise_are_close_and_no_work(c, monkeypatch):
    pair = Allocation(real(60), 5, add=True)
    with precision(120):
        true = pair._transformed(c, 20.0)
        monkeypatch.setattr(Allocation, "_transformed", None)
        found = pair.moment(c, 3.5)
        assert 0.999 < found.lower() <= true.lower()
        assert true.upper() < found.upper() < true.upper() * 1.01


def test_of_much_noise_no_bound_is_known_below_the_order_0():
    with precision(120):
        assert Allocation(real(60), 5, add=True).moment(-0.5, 3.5).lower() > 0.9


def test_two_steps_alike_are_within_the_error():
    """``E |(1 + R)^s - 1| Y'^c`` of two steps, by quadrature, and not far below the bound."""
    a, c = 3, mpmath.mpf("0.6")
    for y in (0, 4, 25):
        s = mpmath.mpc(c, y)

        def integrand(d, s=s):
            # X' and X: their difference D has variance 2, and X' given it the mean -D/2
            tilted = mpmath.e ** (c * a * a / 2 - c * a * d / 2 + c * c * a * a / 4)
            ratio = mpmath.e ** (a * d - a * a)
            return mpmath.npdf(d, 0, mpmath.sqrt(2)) * tilted * abs((1 + ratio) ** s - 1)

        true = mpmath.quad(integrand, mpmath.linspace(-15, 15, 31))
        true /= mpmath.e ** (a * a * c * (c + 1) / 2)
        bound = allocation_loud.beside(arb("0.6"), abs(acb(0.6, y)) + arb(1e-9), arb(a * a), 1)
        assert float(bound) / 40 < true < float(bound)


@pytest.mark.parametrize(
    ("a", "epsilon"), [(4, 22), (5, 30), (7, 50), (10, 95), (10, 70), (12, 135)]
)
def test_little_noise_against_quadrature(a, epsilon):
    with mpmath.workdps(40):
        level = mpmath.e**epsilon
        edge = (epsilon + mpmath.log(2)) / a + mpmath.mpf(a) / 2  # one step alone reaches the level

        def call(x):
            """``E (S - level)_+`` given that ``X`` of one step is ``x``, below the edge."""
            strike = -2 * level * mpmath.expm1(a * (min(x, edge - 1e-30) - edge))
            d = mpmath.log(strike) / a + mpmath.mpf(a) / 2
            return (mpmath.ncdf(a - d) - strike * mpmath.ncdf(-d)) / 2

        grid = [-12, -6, -3, 0, 3, *(edge - mpmath.mpf(2) ** -k for k in range(-2, 20)), edge]
        true = mpmath.quad(lambda x: mpmath.npdf(x) * call(x), sorted(grid))
        true += mpmath.ncdf(a - edge) / 2 + (mpmath.mpf("0.5") - level) * mpmath.ncdf(-edge)
    text = f"allocation(gaussian(1/{a}), 2)"
    found = dpexact.delta(text, epsilon, digits=8, direction="remove")
    assert found.digits >= 8
    assert contains(found, float(true), 1e-8)


@pytest.mark.parametrize("noise", ["1/9", "1/10", "1/20", "1/50"])
@pytest.mark.parametrize("steps", ["4, 2", "4", "100, 3", "1000"])
def test_little_noise_is_answered(noise, steps):
    found = dpexact.epsilon(f"allocation(gaussian({noise}), {steps})", "1e-6", digits=8)
    assert found.digits >= 8
