"""Bundles of sampled Gaussians against the product of the steps themselves."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpexact.accounting import routes
from dpexact.accounting.composition import Composition
from dpexact.accounting.contour.product import Product
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.pairs import bundle, log_bounds
from dpexact.accounting.pairs.bundle import Bundle, bundles
from dpexact.accounting.pairs.cubature import Cloud, Degrees
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
@settings(max_examples=4, deadline=None)
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
        assert found.overlap().overlaps(whole_overlap(steps))


def whole_overlap(steps: Steps) -> arb:
    """``prod (1 - q)^n``."""
    product = arb(1)
    for q, _, n in steps:
        product *= (1 - ball(q)) ** n
    return product


@pytest.mark.slow
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


def test_every_step_is_in_one_cloud_or_left() -> None:
    steps = [
        *steps_of(3, 500, (0.5, 4.0), (1e-4, 0.1)),
        (rational(Fraction(1, 10**400)), rational(1), 2),
        (rational(Fraction(99, 100)), rational(1), 2),
    ]
    clouds, left = bundles(steps)
    found = [step for cloud in clouds for step in cloud.points] + left
    assert sorted(map(str, found)) == sorted(map(str, steps))
    assert not bundles(steps[: bundle.FEWEST - 1])[0]


def test_where_wide_clouds_do_not_suffice_narrow_ones_are_asked(monkeypatch) -> None:
    """Of the same steps, two thirds as wide."""
    monkeypatch.setattr(routes, "MAX_APART", 0)
    steps = steps_of(3, 2000, (0.6, 3.0), (1e-3, 1e-2))
    mechanism = from_rows([(str(s), str(q), n) for q, s, n in steps])
    found = routes.routed(Composition.of(mechanism.steps().items()), "add").first
    for profile, share in ((found.first, 1.0), (found.second(), 2 / 3)):
        pairs = profile.product.factors
        clouds = [pair.cloud for pair, _ in pairs if isinstance(pair, Bundle)]
        assert clouds
        alone = sum(n for pair, n in pairs if not isinstance(pair, Bundle))
        assert sum(cloud.total for cloud in clouds) + alone == sum(n for _, _, n in steps)
        for cloud in clouds:
            for side, most in zip(cloud.sides, bundle._HALVES, strict=True):
                assert side.half <= share * most + 1e-4


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
        places = cloud.nodes(degrees)
        weights = cloud.weights(degrees, places)
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
        function = log_bounds.Power(arb(power + 2), 0.5)
        bound = function.bound(reach_of(size, angle, real, imaginary, given.kappa))
        assert bound.upper() >= (function.curvature * total).lower()
        between = log_bounds._on_line(size, arb(1), given, arb(power) + arb("0.5"), angle)
        assert found <= between


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
            sums = cloud._summed((12, 12, bits))
            found.append([x for row in [*rows, sums.entries()] for x in row])
    pairs = list(zip(*found, strict=True))
    assert all(coarse.contains(fine) for coarse, fine in pairs)
    assert all(abs(coarse.mid()) < 2 for coarse, _ in pairs[:360])


def test_weights_of_many_degrees_keep_their_bits() -> None:
    cloud = Cloud(steps_of(9, 300, (0.9, 1.3), (0.005, 0.015)))
    degrees = Degrees.down_to(60, 1.2, 1.2)
    with precision(78):
        assert all(w.rad() < 2**-60 for w in cloud.weights(degrees, cloud.nodes(degrees)))


def test_many_degrees_of_one_variable_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights for thousands of them are triangular systems that end after hours."""
    cloud = Cloud(steps_of(11, 250, (1.5, 1.5), (1e-5, 3e-5)))
    monkeypatch.setattr(bundle, "_MOST_DEGREES", 3)
    with pytest.raises(TooExpensive, match="differ too much"):
        Bundle(cloud, removes=True).moments(1.0, 0.5, 10, 30.0)
