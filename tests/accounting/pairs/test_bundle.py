"""Bundles of sampled Gaussians against the product of the steps themselves."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from flint import acb, acb_mat, arb, arb_mat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.pairs import bundle
from dpexact.accounting.pairs.bundle import Bundle
from dpexact.accounting.pairs.clouds import boxes, ellipses, fixed_lines, log_bounds
from dpexact.accounting.pairs.clouds.boxes import gathered
from dpexact.accounting.pairs.clouds.cubature import Cloud, Degrees
from dpexact.accounting.pairs.clouds.ellipses import Fit
from dpexact.accounting.pairs.clouds.sides import Side
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.queries import epsilon
from dpexact.balls import ball, precision
from dpexact.reals import Real, rational
from dpexact.training.history import from_rows

Steps = list[tuple[Real, Real, int]]


def steps_of(seed: int, count: int, sigma: tuple[float, float], q: tuple[float, float]) -> Steps:
    """Steps with random rates, noises and counts."""
    random = Random(seed)

    def number(low: float, high: float) -> Real:
        return rational(Fraction(round(random.uniform(low, high) * 10**9), 10**9))

    return [(number(*q), number(*sigma), random.randint(1, 60)) for _ in range(count)]


@pytest.fixture
def only_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps are never asked themselves, however few."""
    monkeypatch.setattr(boxes, "FEWEST", 1)
    monkeypatch.setattr(boxes, "STEP", 1e9)


RANGES = st.sampled_from(
    [
        ((1.0, 1.3), (0.001, 0.002)),
        ((0.7, 0.9), (0.004, 0.01)),
        ((3.0, 5.0), (0.01, 0.03)),
        ((1.5, 1.5), (1e-5, 3e-5)),
        ((0.9, 1.1), (0.002, 0.002)),
    ]
)


@pytest.mark.slow
@pytest.mark.usefixtures("only_nodes")
@settings(
    max_examples=4,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.integers(0, 10**6), RANGES, st.booleans(), st.floats(0.05, 3.0))
def test_moments_and_bounds_of_decay_hold_those_of_the_steps(
    seed: int,
    ranges: tuple[tuple[float, float], tuple[float, float]],
    removes: bool,
    c: float,
) -> None:
    steps = [(q, s, 20 * n) for q, s, n in steps_of(seed, 12, *ranges)]
    single = remove if removes else add
    whole = Product((single(sigma, q), n) for q, sigma, n in steps)
    found = Bundle(Cloud(steps), removes=removes)
    height = 0.5 / max(float(q.value) for q, _, _ in steps) ** 0.5
    with precision(128):
        assert found.moment(c, 20.0).overlaps(whole.moment(c, 30.0))
        line = found.moments(c, height / 6, 6, 20.0)
        exact = [arb(1) for _ in line]
        for pair, n in whole.factors:
            values = pair.moments(c, height / 6, 6, 30.0)
            exact = [a * b**n for a, b in zip(exact, values, strict=True)]
        assert all(a.overlaps(b) for a, b in zip(line, exact, strict=True))
        assert found.decayed(c, height, 8.0) >= abs(exact[-1]).lower()


def test_bounds_of_decay_are_about_those_of_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """By one angle for all of them they fall by less than two thirds of that."""
    monkeypatch.setattr(boxes, "STEP", 1e9)
    monkeypatch.setattr(boxes, "FEWEST", 20)
    steps = [(q, s, 100) for q, s, _ in steps_of(3, 200, (1.0, 3.0), (0.001, 0.01))]
    found = Bundle(Cloud(steps), removes=True)
    with precision(100):
        start, each = arb(0), arb(0)
        for q, sigma, n in steps:
            pair = remove(sigma, q)
            start += n * pair.moment(1.0, 30.0).log()
            each += n * pair.decayed(1.0, 8.0, 12.0).log()
        assert start - found.decayed(1.0, 8.0, 3.0).log() > 0.9 * (start - each)


def test_boxes_without_ellipses_are_asked_step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """At orders next to whole ones, where powers are bounded by larger ones."""
    monkeypatch.setattr(boxes, "STEP", 1e9)
    steps = [(q, s, 1) for q, s, _ in steps_of(3, 60, (0.99, 1.01), (0.0099, 0.0101))]
    order, found = 8 + 2**-47, Bundle(Cloud(steps), removes=True)
    with precision(100):
        exact = arb(1)
        for q, sigma, n in steps:
            exact *= remove(sigma, q).moment(order, 20.0) ** n
        assert found.moment(order, 3.0).overlaps(exact)


@pytest.mark.parametrize("spread", [1e-3, 1e-5])
def test_rates_that_hardly_differ_have_nodes(spread: float) -> None:
    """Logarithms of which few digits differ: places lost more bits than they had to spare."""
    random = Random(8)
    rates = [rational(Fraction(1e-7 * (1 + spread * random.random()))) for _ in range(60)]
    steps = [(q, rational(1), 900) for q in rates]
    with precision(100):
        for order in (2.0, 8.5):
            exact = arb(1)
            for q, sigma, n in steps:
                exact *= remove(sigma, q).moment(order, 50.0) ** n
            assert Bundle(Cloud(steps), removes=True).moment(order, 10.0).overlaps(exact)


def test_bounds_of_steps_are_no_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was asked first may be above them: at height and angle 0 too."""
    monkeypatch.setattr(bundle, "moduli", lambda pairs, *rest: [rest[-1](pair) for pair in pairs])
    steps = steps_of(4, 30, (0.5, 3.0), (0.001, 0.8))
    found = Bundle(Cloud(steps), removes=True)
    # bounds are then as accurate as moments are
    monkeypatch.setattr(bundle.Angles, "of", lambda *_: 0.0)
    monkeypatch.setattr(bundle.Angles, "most", lambda *_: 0.0)
    with precision(100):
        exact = arb(1)
        for q, sigma, n in steps:
            exact *= remove(sigma, q).moment(2.0, 50.0) ** n
        assert found.decayed(2.0, 0.0, 5.0) > exact
        assert found.moment(2.0, 5.0).overlaps(exact)


@pytest.mark.parametrize("ranges", [((1.0, 1.3), (0.001, 0.2)), ((90.0, 99.0), (0.1, 0.8))])
def test_the_overlap_is_at_most_that_of_the_steps(
    ranges: tuple[tuple[float, float], tuple[float, float]],
) -> None:
    """And not much less where noises are about equal and rates small."""
    steps = [(q, s, 1) for q, s, _ in steps_of(12, 12, *ranges)]
    with precision(64):
        found, product = Bundle(Cloud(steps), removes=True).overlap(), overlap_of(steps)
        assert found < product
        assert 1 - found < 3 * (1 - product)


def test_the_overlap_is_that_of_the_least_noise() -> None:
    rate = rational(Fraction(1, 10**6))
    steps = [(rate, rational(Fraction(1, 2)), 100), (rate, rational(5), 1)]
    with precision(64):
        assert Bundle(Cloud(steps), removes=False).overlap() < overlap_of(steps)


def overlap_of(steps: Steps) -> arb:
    """``prod (1 - q erf(1/(2 sqrt(2) sigma)))^n``."""
    product = arb(1)
    for q, s, n in steps:
        product *= (1 - ball(q) * (1 / (arb(8).sqrt() * ball(s))).erf()) ** n
    return product


@pytest.mark.slow
@pytest.mark.usefixtures("only_nodes")
@pytest.mark.parametrize("removes", [True, False])
def test_epsilon_of_a_log_is_that_of_its_steps(removes: bool) -> None:
    steps = [(q, s, 100 * n) for q, s, n in steps_of(7, 12, (1.0, 1.2), (0.002, 0.004))]
    single = remove if removes else add
    each = ContourProfile([(single(s, q), n) for q, s, n in steps], InfiniteLoss())
    whole = ContourProfile([(Bundle(Cloud(steps), removes=removes), 1)], InfiniteLoss())
    one, other = (p.epsilon(rational(Fraction(1, 10**6)), 8) for p in (each, whole))
    assert one.digits >= 8
    assert other.digits >= 8
    one.meet(other)


@pytest.mark.parametrize("order", [0.03, 0.3])
def test_cells_of_little_noise_tell_about_what_their_steps_lose(order: float) -> None:
    """They told three times as much: a search began far away, and took lines of ten thousands."""
    steps = steps_of(1, 70, (0.1, 0.3), (0.1, 0.9))
    found = Bundle(Cloud(steps), removes=True).cumulant(order)
    slope = sum(n * remove(sigma, q).cumulant(order).slope for q, sigma, n in steps)
    assert 0.95 < found.slope / slope < 1.15


def test_every_step_is_in_one_cloud_or_left() -> None:
    steps = [
        *steps_of(3, 500, (0.5, 4.0), (1e-4, 0.1)),
        (rational(Fraction(1, 10**400)), rational(1), 2),
        (rational(Fraction(99, 100)), rational(1), 2),
    ]
    clouds, left = gathered(steps)
    found = [step for cloud in clouds for step in cloud.points] + left
    assert sorted(map(str, found)) == sorted(map(str, steps))
    assert not gathered(steps[: boxes.FEWEST_STEPS - 1])[0]


def test_halves_hold_every_point_before_each_end_once() -> None:
    points = steps_of(4, 300, (0.6, 3.0), (1e-4, 1e-2))
    cloud = Cloud(points, [50, 200, 300])
    low, high = cloud.halves(0)
    parts = [low, *high.halves(1)]
    for place, end in enumerate([50, 200, 300]):
        found = [step for part in parts for step in part.first(place).points]
        assert sorted(map(str, found)) == sorted(map(str, points[:end]))
    for part in [cloud, *parts]:
        for bits in (12, 90, 60):
            with precision(bits):
                located = part._located(slice(None), bits)
            with precision(300):
                for side, column, row in zip(part.sides, part._columns, located, strict=True):
                    for value, place in zip(column, row, strict=True):
                        assert abs(side.scaled(value) * arb(2) ** bits - place) < 1.5


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.slow
def test_boxes_and_steps_together_are_all_steps(
    removes: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some of the steps are in boxes, and others asked themselves; beginnings share the boxes."""
    monkeypatch.setattr(boxes, "STEP", 6.0)
    steps = steps_of(6, 260, (0.6, 3.0), (1e-4, 1e-2))
    single = remove if removes else add
    found = Bundle(Cloud(steps, [150, 260]), removes=removes)
    for place, end in ((1, 260), (0, 150)):
        part, whole = found.first(place), Product((single(s, q), n) for q, s, n in steps[:end])
        with precision(96):
            assert part.moment(1.5, 8.0).overlaps(whole.moment(1.5, 30.0))
            line = part.moments(1.5, 2.0, 6, 10.0)
            exact = [acb(1)] * 7
            for pair, n in whole.factors:
                values = pair.moments(1.5, 2.0, 6, 30.0)
                exact = [a * b**n for a, b in zip(exact, values, strict=True)]
            assert all(a.overlaps(b) for a, b in zip(line, exact, strict=True))
            assert all(a.real.rad() + a.imag.rad() < abs(line[0]) / 100 for a in line)
            assert part.decayed(1.5, 12.0, 8.0) >= abs(exact[-1]).lower()
    kinds = {part.alone for key, held in found._kept.items() if "parts" in key for part in held[0]}
    assert kinds == {True, False}


def test_what_costs_too_much_at_one_order_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "_MOST_WORK", 0)
    found = Bundle(Cloud(steps_of(6, 260, (0.6, 3.0), (1e-3, 1e-2))), removes=False)
    with pytest.raises(TooExpensive, match="differ too much"):
        found.moment(4000.0, 8.0)


@settings(max_examples=100, deadline=None)
@given(st.floats(1e-6, 0.5), st.floats(0.05, 60.0), st.floats(0.1, 20.0))
def test_the_fall_is_bounded_on_either_side_of_a_point(
    size: float, fall: float, variance: float
) -> None:
    """``min(fall r (e^w - 1)_+, fall)`` is at most what it is at a point and its chord."""
    end = math.log1p(1 / size)
    at = log_bounds.crossing(*map(np.array, (fall, size, variance)))[0] * end
    lean = fall * size * math.expm1(at)
    slope = (fall - lean) / (end - at)
    for i in range(200):
        w = (i - 40) / 100 * end
        truth = fall * min(max(size * math.expm1(w), 0.0), 1.0)
        assert truth <= lean + slope * max(w - at, 0.0) + 1e-9 * fall


def straight_integral(v: acb, size: arb, power: arb, fall: arb) -> arb:
    """With the largest growth that a negative argument has on the real line."""
    total = arb(0)
    for i in range(-800, 1401):
        w = arb(i) / 100
        grown = (1 + size * w.exp()) ** power
        rise = arb.max(arb(0), size * (w.exp() - 1))
        grown *= (fall * arb.min(rise, arb(1))).exp()
        total += abs(density(v, acb(w))) * size**2 * (w.exp() - 1) ** 2 * grown / 100
    return total


@pytest.mark.parametrize(
    "given",
    [
        ("4", "0.02", "1.5", "9"),
        ("1", "0.3", "0", "2"),
        ("2", "0.01", "0", "1"),
        ("50", "0.003", "0", "300"),
    ],
)
def test_a_turned_rate_is_bounded_along_the_real_line_too(given: tuple[str, ...]) -> None:
    with precision(128):
        modulus, size, power, fall = (arb(x) for x in given)
        psi = arb("0.4")
        v = modulus * acb(psi.cos(), psi.sin())
        variances = log_bounds.Variances(v.real, v.imag, kappa_of(modulus, psi))
        found = log_bounds._straight(size, arb(1), variances, power, fall)
        assert found >= straight_integral(v, size, power, fall) - arb("1e-12")
        assert found <= 10 * straight_integral(v, size, power, fall)


@settings(max_examples=30, deadline=None)
@given(
    st.floats(-9.0, -4.0),
    st.floats(0.05, 1.2),
    st.floats(-0.5, 1.2),
    st.floats(0.02, 0.5),
    st.floats(-4.0, 4.0),
    st.sampled_from([0.0, 3.0, 20.0]),
)
def test_floats_propose_ellipses_that_balls_bound(
    rate: float, wide: float, noise: float, tall: float, power: float, height: float
) -> None:
    sides = Side(rate, wide, single=False), Side(noise, tall, single=False)
    function = log_bounds.Power(arb(power), height)
    found = Fit.best(sides, function, 30.0)
    if math.isfinite(found.nodes):
        at = log_bounds.Reach.of(sides, arb(0.98 * found.x).exp(), arb(0.98 * found.y).exp())
        bound = log_bounds.logarithm_bound(at, function)
        assert bound is not None
        assert found.level == 1 or bound < math.exp(found.level - 30 + 0.5)


@pytest.mark.parametrize("height", [0.0, 20.0])
@pytest.mark.parametrize("wide", [0.05, 0.4, 1.2])
def test_the_best_of_few_ellipses_leads_to_the_best_of_all(
    height: float, wide: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    function = log_bounds.Power(arb(2.5), height)
    for tall in (0.03, 0.2, 0.5):
        sides = Side(-6.0, wide, single=False), Side(0.3, tall, single=False)
        few = Fit.best(sides, function, 30.0)
        with monkeypatch.context() as patched:
            patched.setattr(ellipses, "_STRIDE", 1)
            assert few == Fit.best(sides, function, 30.0)


@pytest.mark.slow
def test_equal_noises_written_apart_are_all_counted() -> None:
    rows = [("1.5", f"0.00{1000 + i}", 40) for i in range(250)]
    doubled = from_rows(rows) ** 2
    once, twice = (epsilon(m, "1e-6", 6) for m in (from_rows(rows), doubled))
    again = epsilon(from_rows([(s, q, 2 * n) for s, q, n in rows]), "1e-6", 6)
    assert once.upper < twice.lower
    twice.meet(again)


def test_weights_are_right_for_polynomials_of_their_degrees() -> None:
    cloud = Cloud(steps_of(5, 30, (1.0, 1.3), (0.001, 0.002)))
    degrees = Degrees((5, 4, 2, 1))
    with precision(128):
        rates, noises = cloud.axes(degrees)
        places = [(rates[j], noises[k]) for j, k in degrees]
        [weights] = cloud.weights(degrees, [cloud.place])
        first, second = cloud.sides
        for j, k in degrees:
            exact = sum(
                n * first.scaled(q) ** j * second.scaled(s) ** k for q, s, n in cloud.points
            )
            found = sum(
                w * first.scaled(q) ** j * second.scaled(s) ** k
                for w, (q, s) in zip(weights, places, strict=True)
            )
            assert exact.overlaps(found)
            assert abs(exact - found) < arb("1e-20")


def test_the_tail_of_a_lower_set_is_the_sum_over_all_other_degrees() -> None:
    degrees = Degrees((4, 2, 1))
    with precision(64):
        rho, tau = arb(3), arb(2)
        inside = sum(rho**-j * tau**-k for j, k in degrees)
        assert degrees.tail(rho, tau).overlaps(3 / arb(2) * 2 - inside)
        assert degrees.tail(None, tau).overlaps(arb(2) ** -4 * 2)


def test_the_bound_is_above_a_moment_in_closed_form() -> None:
    """``E A^3 = 1 + 3 q^2 (e - 1) + q^3 (e^3 - 3e + 2)`` for ``sigma = 1``."""
    with precision(64):
        q, e = arb("0.01"), arb(1).exp()
        moment = 1 + 3 * q * q * (e - 1) + q**3 * (e**3 - 3 * e + 2)
        at = reach_of(q, arb(0), arb(1), arb(0), arb(1))
        bound = log_bounds.logarithm_bound(at, log_bounds.Power(arb(3), 0.0))
        assert bound is not None
        assert moment.log() <= bound < 4 * moment.log()


def reach_of(size: arb, turn: arb, real: arb, imaginary: arb, kappa: arb) -> log_bounds.Reach:
    rates = log_bounds.Rates(size, turn)
    variances = log_bounds.Variances(real, imaginary, kappa)
    return log_bounds.Reach(rates, (rates,), (variances,))


def density(v: acb, w: acb) -> acb:
    """That of the logarithm of the likelihood ratio, of variance ``v``."""
    return (v / (2 * acb.pi())).sqrt() * (-(v * w * w + w + 1 / (4 * v)) / 2).exp()


def kappa_of(modulus: arb, psi: arb) -> arb:
    growth = (1 / psi.cos() - psi.cos()) / (8 * modulus)
    return growth.exp() / psi.cos().sqrt()


@settings(max_examples=40, deadline=None)
@given(
    st.floats(0.5, 3.0),
    st.floats(-0.9, 0.9),
    st.floats(0.001, 0.05),
    st.floats(-1.7, 1.7),
    st.floats(-3.0, 5.0),
    st.floats(0.0, 150.0),
)
@pytest.mark.slow
def test_bounds_hold_where_rate_and_variance_are_complex(
    modulus: float, psi: float, size: float, turn: float, power: float, height: float
) -> None:
    """Against a plain sum over the real line of ``w``."""
    with precision(400):
        r, phi, angle = arb(modulus), arb(psi), arb(turn)
        v = r * acb(phi.cos(), phi.sin())
        q, t = arb(size) * acb(angle.cos(), angle.sin()), acb(power, height)
        total = acb(0)
        for i in range(-1000, 1001):
            w = acb(arb(i) / 50)
            total += density(v, w) * (1 + q * (w.exp() - 1)) ** t / 50
        imaginary = abs(r * phi.sin())
        at = reach_of(arb(size), abs(angle), r * phi.cos(), imaginary, kappa_of(r, phi))
        bound = log_bounds.logarithm_bound(at, log_bounds.Power(arb(power), height))
        assert bound is None or abs(total.log()) <= bound + arb("1e-9")


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("power", [0, 3])
def test_what_is_bounded_on_a_line_is_an_integral(sign: int, power: int) -> None:
    """Of either sign of ``Im v`` one is the larger, and that is what it is."""
    with precision(128):
        modulus, psi, angle, size = arb("1.3"), sign * arb("0.6"), arb("0.8"), arb("0.2")
        v, total = modulus * acb(psi.cos(), psi.sin()), arb(0)
        for i in range(-1200, 2001):
            w = acb(arb(i) / 100, angle)
            grown = (1 + size * abs(w.exp())) ** power
            total += abs(density(v, w)) * size**2 * abs(w.exp() - 1) ** 2 * grown / 100
        real, imaginary = modulus * psi.cos(), abs(modulus * psi.sin())
        given = log_bounds.Variances(real, imaginary, kappa_of(modulus, psi))
        found = log_bounds._on_line(size, arb(1), given, arb(power), angle)
        assert found >= total - arb("1e-12")
        if sign > 0:
            assert found <= total + arb("1e-12")
        between = log_bounds._on_line(size, arb(1), given, arb(power) + arb("0.5"), angle)
        assert found <= between


def test_rates_of_negative_argument_are_bounded_on_lines_of_their_own() -> None:
    """There the better of two bounds is above what one of positive argument has."""
    with precision(128):
        size, angle, psi, height = arb("0.02"), arb("0.8"), arb("0.6"), arb(30)
        v = arb("1.3") * acb(psi.cos(), psi.sin())
        variances = log_bounds.Variances(v.real, v.imag, kappa_of(arb("1.3"), psi))
        function = log_bounds.Power(arb(2), 30.0)
        at = log_bounds.Reach(
            log_bounds.Rates(size, angle), (log_bounds.Rates(size, angle),), (variances,)
        )
        turned, total = log_bounds._on_line(size, arb(1), variances, arb(0), angle), arb(0)
        for i in range(-1200, 2001):
            w = acb(arb(i) / 100, angle)
            total += abs(density(v, w)) * size**2 * abs(w.exp() - 1) ** 2 / 100
        real = log_bounds._on_line(size, arb(1), variances, arb(0), arb(0))
        assert turned >= total - arb("1e-12")
        assert total > 1.5 * (height * size * angle.sin() / (1 - size)).exp() * real
        straight = straight_integral(v, size, arb(0), height * angle)
        assert function.bound(at) >= function.curvature * arb.min(total, straight) - arb("1e-12")


def test_beyond_a_right_angle_only_the_turned_line_bounds() -> None:
    with precision(128):
        size, angle, v = arb("0.001"), arb("1.9"), arb(9)
        variances = log_bounds.Variances(v, arb(0), arb(1))
        at = log_bounds.Reach(
            log_bounds.Rates(size, angle), (log_bounds.Rates(size, angle),), (variances,)
        )
        function = log_bounds.Power(arb(2), 1.0)
        turned = log_bounds._on_line(size, arb(1), variances, arb(0), angle)
        straight = log_bounds._straight(size, arb(1), variances, arb(0), angle)
        assert straight < turned / 1000
        assert function.bound(at).upper() >= (function.curvature * turned).lower()


def test_errors_of_all_boxes_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Bundle(Cloud(steps_of(6, 30, (1.0, 1.3), (1e-3, 2e-3))), removes=True)

    def sums(_: Bundle, part: None, firsts: None, asked: list[object], *rest: object) -> object:
        return acb_mat(1, 3), arb_mat([[arb(1) / 8] * len(asked)])

    monkeypatch.setattr(
        Bundle,
        "_cut",
        lambda found, *_, **__: ([(boxes.Part(found._whole, False), found.cloud)] * 3, 0.0),
    )
    monkeypatch.setattr(Bundle, "_sums", sums)
    assert all(value.real.contains(arb("1.4")) for value in found.moments(1.0, 0.5, 2, 10.0))
    assert not found.moments(1.0, 0.5, 2, 10.0)[0].real.contains(arb("1.6"))


def test_each_beginning_has_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = steps_of(6, 30, (1.0, 1.3), (1e-3, 2e-3))
    whole = Bundle(Cloud(steps, [10, 20, 30]), removes=True)

    def sums(
        _: Bundle, part: None, firsts: list[Cloud], asked: list[object], *rest: object
    ) -> object:
        rows = [[arb(first.total) / 10**9] * len(asked) for first in firsts]
        return acb_mat(len(firsts), 3), arb_mat(rows)

    monkeypatch.setattr(
        Bundle,
        "_cut",
        lambda found, *_, **__: ([(boxes.Part(found._whole, False), found.cloud)], 0.0),
    )
    monkeypatch.setattr(Bundle, "_sums", sums)
    for place in (2, 0, 1):
        found = whole.first(place)
        off = arb(found.cloud.total) / 10**9
        for value in found.moments(1.0, 0.5, 2, 10.0):
            assert 0.99 * off < value.real.rad() < 1.01 * off


@pytest.mark.parametrize("radius", ["0.4", "1e-9"])
def test_powers_next_to_whole_ones_are_bounded_by_larger_ones(radius: str) -> None:
    """The mean of no power is 1 here, and beyond a second one the logarithm grows faster."""
    with precision(128):
        about, variance = arb(1, arb(radius).upper()), 1 / arb(2).log()
        found = log_bounds._square(arb("0.2"), arb(1), variance, about, arb(0))
        truth = arb(0)
        for i in range(-2400, 3200):
            w = arb(i) / 200
            height = density(acb(variance), acb(w)).real * (w.exp() - 1) ** 2 / 200
            truth += height * (1 + arb("0.2") * w.exp()) ** about.upper() / 25
        assert found.upper() > truth


def test_polynomials_in_few_bits_hold_those_in_many() -> None:
    cloud = Cloud(steps_of(7, 300, (1.0, 1.3), (0.001, 0.002)))
    found = []
    for bits in (10, 300):
        with precision(bits):
            rows = [cloud._row(0, q, 12) for q, _, _ in cloud.points[:30]]
            sums = cloud.moments(Degrees((12,) * 12), [cloud.place])
            found.append([x for row in [*rows, *sums] for x in row])
    pairs = list(zip(*found, strict=True))
    assert all(coarse.contains(fine) for coarse, fine in pairs)
    assert all(abs(coarse.mid()) < 2 for coarse, _ in pairs[:360])


def test_weights_of_many_degrees_keep_their_bits() -> None:
    cloud = Cloud(steps_of(9, 300, (0.9, 1.3), (0.005, 0.015)))
    degrees = Degrees.down_to(60, 1.2, 1.2)
    with precision(78):
        assert all(w.rad() < 2**-60 for w in cloud.weights(degrees, [cloud.place])[0])


@pytest.mark.usefixtures("only_nodes")
@pytest.mark.parametrize("places", [10, 600])
def test_of_a_record_added_moments_at_nodes_are_conjugates(
    places: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By one rule for all of them, and of each by its own."""
    monkeypatch.setattr(fixed_lines, "MOST_PLACES", places)
    steps = [(q, s, 20 * n) for q, s, n in steps_of(15, 12, (1.0, 1.3), (0.005, 0.02))]
    whole = Product((add(sigma, q), n) for q, sigma, n in steps)
    with precision(80):
        found = Bundle(Cloud(steps), removes=False).moments(0.5, 0.5, 2, 20.0)
        lines = [(pair.moments(0.5, 0.5, 2, 40.0), n) for pair, n in whole.factors]
        for place, value in enumerate(found):
            exact = acb(1)
            for line, n in lines:
                exact *= line[place] ** n
            assert value.overlaps(exact)
            assert abs(value - exact) < abs(exact) * 1e-6
        assert abs(found[1].imag) > abs(found[1]) * 1e-3


@pytest.mark.usefixtures("only_nodes")
@pytest.mark.parametrize("removes", [True, False])
def test_logarithms_at_nodes_are_of_moments_next_to_one(removes: bool) -> None:
    """Of moments over powers of ``1 - q``, which turn often, logarithms have other branches."""
    steps = steps_of(16, 60, (22.0, 24.0), (0.4, 0.41))
    single = remove if removes else add
    with precision(80):
        found = Bundle(Cloud(steps), removes=removes).moments(0.5, 2.0, 14, 20.0)
        exact = [acb(1)] * 15
        for q, sigma, n in steps:
            line = single(sigma, q).moments(0.5, 2.0, 14, 40.0)
            exact = [a * b**n for a, b in zip(exact, line, strict=True)]
        for value, other in zip(found, exact, strict=True):
            assert value.overlaps(other)
            assert abs(value - other) < 1e-6


def test_many_degrees_of_one_variable_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights for thousands of them are triangular systems that end after hours."""
    cloud = Cloud(steps_of(11, 250, (1.5, 1.5), (1e-5, 3e-5)))
    monkeypatch.setattr(boxes, "MOST_DEGREES", 3)
    with pytest.raises(TooExpensive, match="differ too much"):
        boxes.fitted(cloud, [(log_bounds.Power(arb(2), 0.5), 30.0)])


def test_narrow_logs_are_boxes_of_however_many_beginnings() -> None:
    """What sums over the log cost does not grow with their number, as weights do."""
    random = Random(11)
    points = [
        (
            rational(Fraction(random.uniform(0.004, 0.0045))),
            rational(Fraction(random.uniform(1, 1.2))),
            1,
        )
        for _ in range(3000)
    ]
    whole = Bundle(Cloud(points, list(range(1020, 3001, 20))), removes=True)
    with precision(100):
        whole.moments(6.0, 0.8, 40, 20.0)
    [(parts, _)] = [found for key, found in whole._kept.items() if key[:2] == ("parts", "line")]
    assert not any(part.alone for part in parts)


def test_sums_are_free_only_where_they_are_held_for_as_many_degrees() -> None:
    """A box of 10^5 steps kept sums for a line, and took others for 6,000 nodes at one order."""
    (cloud,), _ = gathered(steps_of(3, 300, (1.0, 1.4), (0.01, 0.02)))
    box, asked = boxes.Box(cloud), [(log_bounds.Power(arb(3), 0.0), 12.0)]
    (fit,) = boxes.fits_of(cloud, asked)
    many, more = (math.ceil(fit.level / x) for x in (fit.x, fit.y))

    def cost() -> float:
        return boxes._cost(box, lambda _: asked, 1.0, math.inf)[0]

    unknown = cost()
    cloud.moments(Degrees((1, 1)), [0])
    assert max(many, more) > 16  # so many are held at least
    assert cost() == unknown
    cloud.moments(Degrees((more,) * many), [0])
    assert cost() == pytest.approx(unknown - 300 * boxes._SUMMING)
