"""Blurs of laws with atoms: against exact sums by type, and each bound against what it bounds."""

import math
from fractions import Fraction

import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from processor_modes import MODES, mode

import dpexact
from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.contour.atoms import AtomsProfile, BlurredProfile, excess
from dpexact.accounting.pairs import blurred, sampled_discrete_gaussian, sizes
from dpexact.accounting.pairs.blurred import Blurred, Steps, nearby
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.finite import Finite
from dpexact.accounting.pairs.pair import Atom, TooExpensive
from dpexact.accounting.pairs.sampled_discrete_gaussian import SampledDiscreteGaussian
from dpexact.accounting.pairs.sizes import Sizes
from dpexact.accounting.pairs.symmetrised import Symmetrised
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms.grammar import parse
from dpexact.reals import rational
from tests.small_laws import gaussian_profile


def atoms(text, way="remove"):
    composition = Composition.of(parse(text).steps().items()).facing(way)
    return AtomsProfile(composition.everything(way), composition.infinite(add=way == "add"))


def law(*masses):
    total = sum(masses)
    rows = [Fraction(m, total) for m in masses]
    mixed = [r * Fraction(k, len(rows)) + Fraction(1, 40) for k, r in enumerate(rows, 1)]
    return Finite(tuple(Atom(rational(p), rational(q / sum(mixed)))
                        for p, q in zip(rows, mixed, strict=True)))  # fmt: skip


# --- the theorem ----------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", [1e-8, 1e-3, 0.05])
def test_an_atom_at_epsilon_is_blurred_twice_as_much_by_four_times_the_variance(variance):
    with mp.workdps(40), balls.precision(120):
        once, again = (2 * mp.ncdf(mp.sqrt(v) / 2) - 1 for v in (mpf(variance), 4 * mpf(variance)))
        sharp = again / once - 1
        found = mpf(str(float(excess(variance).mid())))
        assert sharp * (1 - 2 * variance) - mpf(10) ** -15 <= found <= sharp + mpf(10) ** -15


@given(
    masses=st.lists(st.integers(1, 9), min_size=2, max_size=5),
    epsilon=st.fractions(0, 2, max_denominator=40),
    variance=st.sampled_from([1e-6, 1e-3, 0.03]),
)
@settings(max_examples=40)
def test_two_blurs_enclose_a_law(masses, epsilon, variance):
    with mp.workdps(40), balls.precision(120):
        at = mpf(epsilon.numerator) / epsilon.denominator
        true, once, again = mpf(0), mpf(0), mpf(0)
        for atom in law(*masses).law:
            p, q = (mpf(x.fraction.numerator) / x.fraction.denominator for x in (atom.p, atom.q))
            true += max(p - mp.exp(at) * q, 0)
            gap = at - mp.log(p / q)
            once += p * gaussian_profile(mp.sqrt(mpf(variance)), gap)
            again += p * gaussian_profile(mp.sqrt(4 * mpf(variance)), gap)
        kappa = mpf(str(float(excess(variance).lower())))
        assert once - (again - once) / kappa <= true + mpf(10) ** -18
        assert true <= once + mpf(10) ** -30


@pytest.mark.parametrize("variance", [1e-4, 0.5, 1.8, 1.9, 3.0, 100.0])
def test_a_blur_of_any_size_encloses_what_is_blurred(variance):
    """Beyond ``kappa = 1`` nothing follows from two blurs."""
    pair = Finite(
        tuple(Atom(rational(p), rational(1 - p)) for p in (Fraction(3, 4), Fraction(1, 4)))
    )
    profile = BlurredProfile(Steps([(pair, 1)]), InfiniteLoss(), variance, 30.0, 4_000_000)
    found = profile.delta(rational(0), 3)
    assert found.lower <= Fraction(1, 2) <= found.upper
    answer = profile.epsilon(rational(Fraction(1, 2)), 2)
    assert answer.lower <= 0 <= answer.upper
    if variance > 8 / 3 * math.log(2):
        assert found.digits == 0


# --- the bounds of the nodes left out -------------------------------------------------------------


@given(
    masses=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    place=st.integers(0, 4000),
    move=st.integers(-60, 60),
)
@settings(max_examples=60)
def test_a_modulus_nearby(masses, place, move):
    pair, c = law(*masses), 1.5
    with balls.precision(100):
        level, slope = pair.moment(c, 30.0), blurred._slope(pair, c)

        def size(u):
            return abs(pair.moments(c, u, 1, 60.0)[1]) / level

        u, other = 1 + place / 64, 1 + place / 64 + move / 256
        bound = nearby(size(u), slope * arb(abs(u - other)))
        assert not size(other).lower() > bound.upper() * (1 + arb(2) ** -60)


def test_the_variance_is_bounded_and_not_by_much_more():
    pair = law(3, 1, 4)
    with balls.precision(100):
        slope, spread = float(blurred._slope(pair, 2.0)), math.sqrt(pair.cumulant(2.0).bend)
        assert spread <= slope * (1 + 1e-12) <= 1.02 * spread


@pytest.mark.parametrize("count", [3, 40, 400])
@pytest.mark.parametrize("variance", [1e-4, 1e-2])
def test_what_is_left_out_is_bounded(count, variance):
    steps = Steps([(law(3, 1, 4), count), (law(1, 1), 2)])
    one = Blurred(steps, variance, 12.0)
    c, step, nodes = 0.75, 2.0**-10, 4096
    with balls.precision(120):
        bound = one.left_out(c, step, nodes, 30.0)
        last = 10_000  # some of the nodes beyond
        line = one.moments(c, step, last, 60.0)
        total = sum((abs(line[n]) / arb(n) ** 2 for n in range(nodes + 1, last)), arb(0))
        assert nodes * total <= bound
        assert bound <= one.moment(c, 30.0)


@pytest.mark.parametrize("enough", [-0.05, -0.7, -12.0])
@pytest.mark.parametrize(("nodes", "step"), [(3, 2.0**-12), (3, 2.0**-4), (900, 2.0**-4)])
def test_blocks_that_are_not_high_count_too(nodes, step, enough):
    steps, c = Steps([(law(3, 1, 4), 2), (law(1, 1), 2)]), 0.75
    low = math.nextafter((nodes + 1) * step, 0.0)
    with balls.precision(100):
        line = steps.line(c, step, 6000, 60.0)
        terms = [abs(line[n] / line[0]) / (arb(n) * step) ** 2 for n in range(nodes + 1, 6000)]
        assert sum(terms, arb(0)) * step <= steps.far(c, low, 6000 * step, enough, 0.0, step)


@pytest.mark.parametrize("accuracy", [1.0, 30.0])
@pytest.mark.parametrize("removes", [True, False])
def test_sizes_in_floats_are_above_the_moments_and_near(removes, accuracy, monkeypatch):
    monkeypatch.setattr(sizes, "_ACCURACY", accuracy)
    monkeypatch.setattr(sampled_discrete_gaussian, "_GUARD", 0.0)
    noise = DiscreteGaussian(rational(4), 1)
    pair, c, width = SampledDiscreteGaussian(noise, real("1/20"), removes), 3.0, 7.25
    with balls.precision(120):
        level = pair.moment(c, 60.0)
        found = Sizes(pair, c, 3000 * width, level)
        line = found.on_line(width, 3000)
        for n in (0, 1, 17, 54, 1234, 2999):
            true = abs(pair.at(acb(c, n * width))) / level
            for size in (arb(float(line[n])), found.at(arb(n * width))):
                assert true < size + arb(2) ** -50
                assert size < true + (1e-8 if accuracy > 20 else 2)


@pytest.mark.parametrize("name", MODES)
def test_sizes_hold_in_every_mode_of_the_processor(name):
    noise, c, width = DiscreteGaussian(rational(4), 1), 3.0, 7.25
    pair = SampledDiscreteGaussian(noise, real("1/20"), True)
    with balls.precision(120):
        level = pair.moment(c, 60.0)
        found = Sizes(pair, c, 3000 * width, level)
        with mode(name):
            line = found.on_line(width, 3000)
        exact = pair.moments(c, width, 2999, 60.0)
        for size, value in zip(line.tolist(), exact, strict=True):
            assert abs(value) / level < size < abs(value) / level + 1e-8


def test_moments_beyond_floats_are_refused():
    with balls.precision(64), pytest.raises(TooExpensive):
        Sizes(law(3, 1, 4), 2.0, 9.0, arb("1e-400"))
    with balls.precision(64), pytest.raises(TooExpensive):
        Sizes(law(3, 1, 4), 2.0, 9.0, arb(0, 1))


@pytest.mark.parametrize("variance", [1e-4, 1e-3])
def test_a_large_blur_is_wide_and_not_wrong(variance):
    text = "poisson(randomized_response(1, 4), 1/10)^300"
    profile = BlurredProfile(atoms(text)._steps, InfiniteLoss(), variance, 40.0, 10**7)
    exact = dpexact.delta(text, "1/5", 12, "remove")
    found = profile.delta(real("1/5"), 8)
    assert found.overlaps(exact)
    assert 0 < found.lower < exact.lower * (1 - Fraction(1, 10**6))


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize(
    ("text", "epsilon"),
    [
        ("poisson(randomized_response(1, 4), 1/10)^300", "1/5"),
        ("poisson(pure_dp(1/10), 1/10)^20000", "1/5"),
        ("pair((1/2, 1/4), (1/4, 1/2), (1/4, 1/4))^60", "12"),
    ],
)
def test_against_outcomes_by_type(text, epsilon, way):
    profile, point = atoms(text, way), real(epsilon)
    exact = dpexact.delta(text, epsilon, 12, way)
    assert exact.method == "outcomes by type"
    found = profile.delta(point, 6)
    assert found.digits >= 4
    assert found.overlaps(exact)
    level = profile.epsilon(rational(Fraction(exact.upper)), 5)
    assert level.digits >= 3
    assert level.lower <= point.fraction * (1 + Fraction(1, 10**9))
    assert level.upper >= point.fraction * (1 - Fraction(1, 10**9))


def test_with_infinite_loss():
    text = "pair((1/2, 1/4), (1/4, 1/2), (1/4, 1/4))^60 * pair((1/3, 1/2), (1/2, 1/2), (1/6, 0))^2"
    exact = dpexact.delta(text, 12, 12)
    found = atoms(text).delta(real("12"), 6)
    assert found.digits >= 5
    assert found.overlaps(exact)


def test_beyond_the_largest_loss_nothing_is_left():
    profile = atoms("pair((1/2, 1/4), (1/4, 1/2), (1/4, 1/4))^3")
    assert profile.delta(real("3"), 10).upper == 0
    assert abs(float(Fraction(profile.largest_loss(10).upper)) - 3 * math.log(2)) < 1e-9


# --- samples of discrete Gaussian noise -----------------------------------------------------------


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("sigma", "shift"), [("1/2", 1), ("1", 1), ("3", 2)])
@pytest.mark.parametrize("accuracy", [2.0, 40.0])
def test_moments_of_a_sample_of_discrete_gaussian_noise(sigma, shift, removes, accuracy):
    noise = DiscreteGaussian(real(sigma) * real(sigma), shift)
    pair = SampledDiscreteGaussian(noise, real("1/20"), removes)
    with balls.precision(160), mp.workdps(40):
        v = mpf(Fraction(sigma).numerator) ** 2 / Fraction(sigma).denominator ** 2
        for c, u in ((-0.5, 0.0), (0.75, 0.0), (3.0, 11.5), (9.0, 40.0)):
            t = mp.mpc(1 + c, u) if removes else -mp.mpc(c, u)
            weights = {y: mp.exp(-(mpf(y) ** 2) / (2 * v)) for y in range(-400, 401)}
            true = sum(
                w * mp.exp(t * mp.log1p(mp.expm1(shift * (y - mpf(shift) / 2) / v) / 20))
                for y, w in weights.items()
            ) / sum(weights.values())
            found = pair.at(acb(c, u)) if accuracy > 20 else pair.moments(c, u, 1, accuracy)[1]
            for ball, part in ((found.real, true.real), (found.imag, true.imag)):
                middle, radius = (
                    mpf(int(x.p)) / int(x.q) for x in (ball.mid().fmpq(), ball.rad().fmpq())
                )
                assert abs(part - middle) <= radius + abs(true) * mpf(10) ** -30


@pytest.mark.parametrize("way", ["remove", "add"])
def test_discrete_gaussian_noise_against_the_lattice(way):
    text = "poisson(discrete_gaussian(1), 1/50)^2000"
    found = dpexact.delta(text, "1/5", 6, way)
    assert (found.method, found.digits >= 6) == ("contour of atoms", True)
    assert found.overlaps(dpexact.delta(text, "1/5", 3, way, method="lattice"))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize(("sigma", "q", "count"), [(2, "1/100", 1000), (5, "1/2", 200)])
def test_ten_digits_of_hundreds_of_steps(sigma, q, count, way):
    text = f"poisson(discrete_gaussian({sigma}), {q})^{count}"
    found = dpexact.delta(text, "1/2", 10, way)
    assert (found.method, found.digits >= 10) == ("contour of atoms", True)
    assert found.overlaps(dpexact.delta(text, "1/2", 3, way, method="lattice"))


@pytest.mark.slow
def test_ten_digits_of_many_steps():
    text = "poisson(discrete_gaussian(1), 1/100)^10000"
    found = dpexact.delta(text, 1, 10)
    assert (found.method, found.digits >= 10) == ("contour of atoms", True)
    level = dpexact.epsilon(text, found.upper, 7)
    assert level.lower <= 1 <= level.upper * (1 + Fraction(1, 10**8))


def test_a_pair_without_a_list_of_outcomes_has_no_such_sum():
    """An empty list would say that its moments vanish."""
    hull = Symmetrised(rational(1), rational(Fraction(1, 10)))
    assert hull.outline(1.0)
    with pytest.raises(UnsupportedMechanism, match="no list of outcomes"):
        hull.exponentials(1.0, 10.0, 30.0)
