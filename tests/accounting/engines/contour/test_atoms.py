"""Blurs of laws with atoms: against exact sums by type, and each bound against what it bounds."""

import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from processor_modes import MODES, mode

import dpexact
from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.contour.atoms import AtomsProfile
from dpexact.accounting.engines.contour.blurs import BlurredProfile, excess
from dpexact.accounting.pairs import discrete_gaussian, noise_outcomes
from dpexact.accounting.pairs.blurred import Blurred, Steps
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.finite import Finite
from dpexact.accounting.pairs.noise_outcomes import NoiseOutcomes
from dpexact.accounting.pairs.pair import Atom, TooExpensive
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.pairs.sampled_noises import SampledNoises
from dpexact.accounting.pairs.sums import far_nodes
from dpexact.accounting.pairs.sums.far_nodes import CHUNK, FarNodes, FarSum, Moments
from dpexact.accounting.pairs.symmetrised import Symmetrised
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms.grammar import parse
from dpexact.reals import rational
from tests.small_laws import gaussian_profile


@functools.cache
def factors_of(text, way):
    """Every pair, once: what it lists of its outcomes is the same for all profiles."""
    composition = Composition.of(parse(text).steps().items()).facing(way)
    return composition.everything(way), composition.infinite(add=way == "add")


def atoms(text, way="remove"):
    """A profile that has no line yet."""
    return AtomsProfile(*factors_of(text, way))


def law(*masses):
    total = sum(masses)
    rows = [Fraction(m, total) for m in masses]
    mixed = [r * Fraction(k, len(rows)) + Fraction(1, 40) for k, r in enumerate(rows, 1)]
    return Finite(tuple(Atom(rational(p), rational(q / sum(mixed)))
                        for p, q in zip(rows, mixed, strict=True)))  # fmt: skip


# --- the theorem ----------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", [1e-8, 1e-3, 0.05])
@pytest.mark.parametrize("ratio", [1.5, 4])
def test_how_much_more_an_atom_at_epsilon_is_blurred_by_more(variance, ratio):
    more = ratio * variance
    with mp.workdps(40), balls.precision(120):
        once, again = (2 * mp.ncdf(mp.sqrt(mpf(v)) / 2) - 1 for v in (variance, more))
        sharp = again / once - 1
        found = mpf(str(float(excess(variance, more).mid())))
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
        kappa = mpf(str(float(excess(variance, 4 * variance).lower())))
        assert once - (again - once) / kappa <= true + mpf(10) ** -18
        assert true <= once + mpf(10) ** -30


@pytest.mark.parametrize("variance", [1e-4, 0.5, 3.2, 3.3, 6.0, 100.0])
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
    if variance > 8 * math.log(1.5):
        assert found.digits == 0


# --- the nodes far up -----------------------------------------------------------------------------


def summed(factors, line, variance, epsilon, first, last):
    """``F_v`` from the ``first`` to before the ``last`` node, in balls, times the levels."""
    c, step, _ = line
    total, half = acb(0), arb(variance) / 2
    products = products_of(tuple(factors), c, step, first, last, balls.current())
    for n, value in enumerate(products, first):
        s, u = acb(c, n * arb(step)), n * arb(step)
        total += value * acb(-half * u * u, -u * epsilon).exp() / (s * (s + 1))
    return total.real


@functools.lru_cache(maxsize=1)
def products_of(factors, c, step, first, last, bits):
    """The moments of all ``factors`` together, which sums of several blurs share."""
    assert bits == balls.current()
    products = [acb(1)] * (last - first)
    for pair, count in factors:
        moments = pair.moments(c, step, last - 1, 90.0)[first:last]
        products = [value * x**count for value, x in zip(products, moments, strict=True)]
    return products


SAMPLE = SampledNoises(((DiscreteGaussian(rational(4), 1), 1),), real("1/20"), True)


@given(
    masses=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    counts=st.tuples(st.integers(1, 400), st.integers(1, 9)),
    c=st.sampled_from([1 / 64, 0.75, 9.0]),
    step=st.sampled_from([2.0**-9, 0.375, 40.0]),
    near=st.sampled_from([2, 300, 700]),
    variance=st.sampled_from([1e-13, 1e-7, 1e-3]),
)
@settings(max_examples=8, deadline=None)
@pytest.mark.slow
def test_a_sum_over_far_nodes_in_floats_is_no_farther_off_than_it_says(
    masses, counts, c, step, near, variance
):
    factors = [(law(*masses), counts[0]), (SAMPLE, counts[1])]
    line = c, step, near
    nodes = FarNodes(factors, line, [variance, 1.5 * variance], 1)
    with balls.precision(160):
        at = arb("0.4")
        for which, v in enumerate((variance, 1.5 * variance)):
            true = summed(factors, line, v, at, near + 1, 2000)
            sizes = sum((1 / (arb(n) * step) ** 2 for n in range(2000, CHUNK)), arb(0))
            # nodes beyond some are bounded, to keep the test short
            rest = nodes.most * sizes
            assert abs(true / nodes.level - nodes.at([at], which)[0]) <= nodes.error + rest


def test_what_floats_lose_is_in_the_error(monkeypatch):
    """Far less is lost than is counted, so more is counted here."""
    line = (0.75, 0.375, 2)

    def error():
        return FarNodes([(law(1, 2, 3), 1)], line, [1e-3], 1).error

    known = error()
    monkeypatch.setattr(far_nodes, "LOST", 2 * far_nodes.LOST)
    assert error() > 1.9 * known
    monkeypatch.setattr(far_nodes, "lost_of", lambda outcomes: 1e-6)
    assert error() > 1e4 * known


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "accuracy"), [(1, 40.0), (2, 40.0), (3, 2.0), (20, 40.0), (129, 40.0), (129, 2.0)]
)
def test_far_nodes_have_many_digits(count, accuracy, monkeypatch):
    monkeypatch.setattr(far_nodes, "_ACCURACY", accuracy)
    monkeypatch.setattr(noise_outcomes, "GUARD", 0.0)
    factors, line, v = [(SAMPLE, count), (law(3, 1, 4), 2)], (3.0, 0.75, 40), 1e-12
    nodes = FarNodes(factors, line, [v], 1)
    with balls.precision(160):
        at = arb("0.3")
        true = summed(factors, line, v, at, 41, CHUNK) / nodes.level
        assert abs(nodes.at([at], 0)[0] - true) <= nodes.error
        if accuracy > 20:
            assert nodes.error < arb("1e-12") * count


@pytest.mark.parametrize("count", [1, 2, 7, 129])
def test_a_power_is_off_as_often_as_it_is_taken(count):
    off = 2.0**-20
    one = Moments(np.array([1 - off + 0j]), np.array([1.0]), np.array([off]))
    power = one.power(count)
    assert abs(power.values[0] - 1) <= power.off[0] < 1.01 * count * off


@pytest.mark.slow
@pytest.mark.parametrize("name", MODES)
def test_far_nodes_hold_in_every_mode_of_the_processor(name):
    factors, line, v = [(SAMPLE, 20)], (3.0, 0.75, 40), 1e-9
    with mode(name):
        nodes = FarNodes(factors, line, [v], 1)
        found = nodes.at([arb(0.3)], 0)[0]
    with balls.precision(160):
        true = summed(factors, line, v, arb(0.3), 41, CHUNK) / nodes.level
        assert abs(found - true) <= nodes.error < arb("1e-12")


@pytest.mark.slow
def test_more_chunks_are_the_same_sum_farther_on():
    """Nodes of the second chunk are not those of the first; where they vanish they are bounded."""
    line, v = (1.5, 2.0**-6, 30), 1e-9
    for count in (7, 4000):
        once, twice = (FarNodes([(law(3, 1, 4), count)], line, [v], n) for n in (1, 3))
        with balls.precision(160):
            at = arb("0.3")
            true = summed([(law(3, 1, 4), count)], line, v, at, CHUNK, 3 * CHUNK) / once.level
            found = twice.at([at], 0)[0] - once.at([at], 0)[0]
            assert abs(found - true) <= once.error + twice.error < arb("1e-9")


def test_far_nodes_that_vanish_are_bounded(monkeypatch):
    monkeypatch.setattr(far_nodes, "_NOTHING", 1.1)
    factors, line, v = [(law(3, 1, 4), 2)], (1.5, 2.0**-6, 30), 1e-9
    nodes = FarNodes(factors, line, [v], 1)
    monkeypatch.undo()
    sharp = FarNodes(factors, line, [v], 1)
    with balls.precision(160):
        assert abs(nodes.at([arb(1)], 0)[0] - sharp.at([arb(1)], 0)[0]) <= nodes.error + sharp.error


@pytest.mark.parametrize("variance", [1e-9, 1e-7])
@pytest.mark.slow
def test_what_is_left_out_is_bounded(variance):
    c, step, near = 0.75, 2.0**-4, 20
    factors = [(law(3, 1, 4), 40), (law(1, 1), 2)]
    far = FarSum(FarNodes(factors, (c, step, near), [variance], 1), 0, variance)
    one = Blurred(Steps(factors), variance, 12.0)
    with balls.precision(120):
        bound = far.left_out(near)
        line = one.moments(c, step, CHUNK + 400, 60.0)
        beyond = range(CHUNK, CHUNK + 400)
        total = sum((abs(line[n]) / arb(n) ** 2 for n in beyond), arb(0))
        assert near * total <= bound


def test_a_blur_shifts_epsilon():
    """The mean of the Gaussian's loss; moments and their floats tell the same."""
    c, step, near, variance, at = 0.75, 2.0**-4, 20, 1e-3, arb(0.2)
    factors = [(law(3, 1, 4), 40)]
    far = FarSum(FarNodes(factors, (c, step, near), [variance], 1), 0, variance)
    with balls.precision(120):
        line = Blurred(Steps(factors), variance, 12.0).moments(c, step, 40_000, 60.0)
        total = acb(0)
        for n in range(near + 1, 40_001):
            s = acb(c, n * arb(step))
            total += line[n] * (-s * at).exp() / (s * (s + 1))
        true = (arb(step) / arb.pi() * total).real
        assert abs(far.at([at])[0] - true) < arb("1e-13") * far._nodes.level


def test_moments_beyond_floats_are_refused():
    wide = Finite((Atom(real("1/3"), real("1/7")), Atom(real("2/3"), real("6/7"))))
    with balls.precision(64), pytest.raises(TooExpensive):
        FarNodes([(wide, 1)], (2.0, 1e200, 3), [1e-9], 1)
    with pytest.raises(TooExpensive):
        FarNodes([(wide, 1 << 31)], (2.0, 1.0, 3), [1e-9], 1)
    with pytest.raises(TooExpensive):
        FarNodes([(wide, 1)], (2.0, 1.0, 3), [1e-9], 1 << 20)


def test_what_floats_lose_is_blurred_by_no_more_than_the_smaller(monkeypatch):
    monkeypatch.setattr(far_nodes, "_ACCURACY", 2.0)
    monkeypatch.setattr(noise_outcomes, "GUARD", 0.0)
    factors, line, variances = [(SAMPLE, 3), (law(3, 1, 4), 2)], (3.0, 0.75, 40), [1e-6, 1e-2]
    nodes = FarNodes(factors, line, variances, 1)
    alone = FarNodes(factors, line, variances[1:], 1)
    assert alone.error < nodes.error / 10
    with balls.precision(160):
        for found, which, v in ((nodes, 0, 1e-6), (nodes, 1, 1e-2), (alone, 0, 1e-2)):
            true = summed(factors, line, v, arb("0.3"), 41, 8000) / nodes.level
            assert abs(found.at([arb("0.3")], which)[0] - true) <= found.error + arb("1e-12")


def test_an_epsilon_that_is_not_known_well_is_refused():
    """A turn by epsilon is taken 65,536 times; where it is known, precision is no matter."""
    factors, line, v = [(law(3, 1, 4), 40)], (0.75, 2.0**-4, 20), 1e-9
    far = FarSum(FarNodes(factors, line, [v], 1), 0, v)
    with balls.precision(160):
        sharp = far.at([arb("0.3")])[0]
    with balls.precision(40):
        with pytest.raises(TooExpensive):
            far.at([arb("0.3")])[0]
        exact = arb(0.3)
        coarse = far.at([exact])[0]
    with balls.precision(160):
        assert abs(sharp - far.at([exact])[0]) < far.left_out(20)
        assert coarse.overlaps(far.at([exact])[0])


@pytest.mark.parametrize("line", [(2.0, 1e80, 3), (2.0, 1e-80, 3), (1e80, 1.0, 3)])
def test_heights_beyond_floats_are_refused(line):
    """Also where a law hardly turns: the kernel would be 0 in floats."""
    still = Finite((Atom(rational(Fraction(1, 2)), rational(Fraction(1, 3))),))
    even = Finite((Atom(rational(Fraction(1, 2)), rational(Fraction(1, 2))),))
    for pair in (even,) if line[1] > 1 else (still, even):
        with pytest.raises(TooExpensive):
            FarNodes([(pair, 2)], line, [1e-9], 1)


@pytest.mark.parametrize("variance", [1e-4, 1e-3])
def test_a_large_blur_is_wide_and_not_wrong(variance):
    text = "poisson(randomized_response(1, 4), 1/10)^300"
    profile = BlurredProfile(atoms(text)._whole.steps, InfiniteLoss(), variance, 40.0, 10**7)
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


def endless(variance, shift=1):
    return DiscreteGaussian(real(variance), shift)


@pytest.fixture(autouse=True)
def _listed_anew():
    """What is listed depends on constants that tests change."""
    noise_outcomes.outcomes_of.cache_clear()
    SAMPLE.__dict__.pop("listing", None)


@functools.cache
def masses_and_losses(noise):
    """Of all outcomes that matter, by definition; masses are those under ``Q``."""
    if isinstance(noise, Response):
        eps = mpf(2) ** mpf("0.5") if noise.epsilon.fraction is None else mpf(1) / 3
        return [(1 / (1 + mp.exp(sign * eps)), sign * eps) for sign in (1, -1)]
    v, d = mpf(noise.variance.fraction.numerator) / noise.variance.fraction.denominator, noise.shift
    reach = 20 + int(40 * mp.sqrt(v))
    weights = {y: mp.exp(-(mpf(y) ** 2) / (2 * v)) for y in range(-reach, reach + 1)}
    whole = mp.fsum(weights.values())
    return [(w / whole, d * (y - mpf(d) / 2) / v) for y, w in weights.items()]


@functools.cache
def masses_and_logs(noises, rate):
    """Of samples: the masses, and how much the sum of the losses weighs."""
    (first, often), *others = noises
    law = masses_and_losses(first)
    for other in [masses_and_losses(first)] * (often - 1) + [
        masses_and_losses(noise) for noise, _ in others
    ]:
        law = [(p * r, y + z) for p, y in law for r, z in other]
    share = mpf(1) / 20 if rate == "1/20" else mpf(9) / 10
    return [(mass, mp.log1p(mp.expm1(loss) * share)) for mass, loss in law]


@functools.cache
def moment_by_definition(noises, rate, t):
    """``E_Q[w^t]`` to 70 digits, for every way to list outcomes."""
    return mp.fsum(mass * mp.exp(t * log) for mass, log in masses_and_logs(noises, rate))


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("accuracy", "guard"), [(2.0, 0.0), (110.0, 12.0)])
@pytest.mark.parametrize(
    ("noises", "rate"),
    [
        ([(endless("1/4"), 1)], "1/20"),
        ([(endless("9", 2), 1)], "9/10"),
        ([(endless("1"), 2)], "1/20"),
        ([(endless("1"), 1), (Response(real("1/3")), 1)], "1/20"),
        ([(endless("1/2"), 1), (Response(real("sqrt(2)")), 1)], "9/10"),
    ],
)
def test_moments_of_samples_of_noises(noises, rate, removes, accuracy, guard, monkeypatch):
    """Against sums over all outcomes; of short lists the bound on the others counts."""
    monkeypatch.setattr(noise_outcomes, "GUARD", guard)
    pair = SampledNoises(tuple(noises), real(rate), removes)
    with balls.precision(160), mp.workdps(70):
        for c, u in ((-0.5, 0.0), (0.75, 0.0), (3.0, 11.5), (9.0, 40.0)):
            t = mp.mpc(1 + c, u) if removes else -mp.mpc(c, u)
            true = moment_by_definition(tuple(noises), rate, t)
            found = pair.moments(c, u, 1, accuracy)[1]
            for ball, part in ((found.real, true.real), (found.imag, true.imag)):
                middle, radius = (
                    mpf(int(x.p)) / int(x.q) for x in (ball.mid().fmpq(), ball.rad().fmpq())
                )
                assert abs(part - middle) <= radius + abs(true) * mpf(10) ** -30
                assert accuracy < 20 or radius < abs(true) * mpf(10) ** -15


@pytest.mark.parametrize("guard", [12.0, -25.0])
@pytest.mark.parametrize(
    "noises",
    [
        [(endless("1/4"), 1)],
        [(endless("9", 2), 3)],
        [(endless("1/2"), 2), (endless("5/2", 3), 1)],
        [(endless("1/9", 4), 1), (endless("1"), 2)],
        [(endless("1"), 2), (Response(real("1/3")), 1)],
        [(endless("1/2"), 2), (Response(real("sqrt(2)")), 1)],
    ],
)
def test_sums_of_noise_have_the_masses_that_are_listed(noises, guard, monkeypatch):
    """Against all combinations; of sums of few outcomes what is left out counts."""
    monkeypatch.setattr(noise_outcomes, "GUARD", guard)
    with balls.precision(64), mp.workdps(60):
        listed = NoiseOutcomes(tuple(noises), real("1/10")).chosen(2.0, 60.0)
        found = {0: (mpf(0), mpf(1))}
        for noise in [noise for noise, often in noises for _ in range(often)]:
            sums = {}
            for mass, loss in masses_and_losses(noise):
                for before, share in found.values():
                    key = int(mp.nint((before + loss) * 10**20))
                    _, known = sums.get(key, (0, 0))
                    sums[key] = before + loss, known + mass * share
            found = {key: pair for key, pair in sums.items() if pair[1] > mpf(10) ** -400}
        most = noise_outcomes._hull(*listed.floats[:2])
        for mass, loss, log in zip(listed.masses, listed.losses, most, strict=True):
            place = mpf(loss.str(60, radius=False))
            at, true = min(found.values(), key=lambda pair: abs(pair[0] - place))
            middle, radius = (
                mpf(int(x.p)) / int(x.q) for x in (mass.mid().fmpq(), mass.rad().fmpq())
            )
            assert abs(at - place) < mpf(10) ** -14
            assert abs(true - middle) <= radius + true * mpf(10) ** -25
            # next to the largest mass of about that loss
            assert guard < 0 or radius < mp.exp(log) * mpf(10) ** -15
    assert guard < 0 or 0 <= listed.left(arb(1), arb(0)) < arb("1e-12")


def test_what_is_left_out_at_an_order_of_which_not_even_the_sign_is_known():
    pair = SampledNoises(((endless("1"), 1),), real("1/2"), False)
    with balls.precision(80):
        listed = pair.listing.chosen(0.0, 0.0)
        known = pair._left_out(listed, arb(0)), pair._left_out(listed, arb("1e-9"))
        either = pair._left_out(listed, arb(0, "1e-9"))
    assert 0 < known[0] < known[1] <= either


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize(
    "text",
    [
        "poisson(discrete_gaussian(3)^2, 1/20)^30",
        "poisson(discrete_gaussian(2)*discrete_laplace(3), 1/10)^20",
        "poisson(discrete_gaussian(1)*randomized_response(sqrt(2)), 1/10)^110",
    ],
)
def test_samples_of_several_noises_against_the_lattice(text, way):
    found = dpexact.delta(text, "1/2", 8, way)
    assert (found.method, found.digits >= 8) == ("contour of atoms", True)
    assert found.overlaps(dpexact.delta(text, "1/2", 3, way, method="lattice"))


@pytest.mark.parametrize("variance", ["1/5", "4", "29"])
@pytest.mark.parametrize("accuracy", [0.0, 30.0])
def test_discrete_gaussian_noise_is_a_sum_of_exponentials(variance, accuracy, monkeypatch):
    """Against theta functions; of short lists the error counts."""
    monkeypatch.setattr(discrete_gaussian, "_BEYOND", 0.0 if accuracy == 0 else 24.0)
    pair = endless(variance, 2)
    with balls.precision(160):
        for c, step in ((-0.25, 0.5), (3.0, 7.0)):
            terms, error = pair.exponentials(c, step, accuracy)
            for n, moment in enumerate(pair.moments(c, step, 2, 60.0)):
                found = acb(0)
                for weight, loss in terms:
                    found += weight * (acb(0, n * step) * loss).exp()
                gap = moment - found
                assert gap.real.overlaps(error)
                assert gap.imag.overlaps(error)
                assert accuracy == 0 or error.abs_upper() < pair.moment(c, 60.0) * arb("1e-12")
        total = sum(math.exp(log) for log, _ in pair.outline(1.5))
        assert abs(total / float(pair.moment(1.5, 40.0).mid()) - 1) < 1e-9


@pytest.mark.parametrize("way", ["remove", "add"])
def test_discrete_gaussian_noise_beside_samples(way):
    text = "discrete_gaussian(5)^3*poisson(discrete_gaussian(2), 1/10)^110"
    found = dpexact.delta(text, 1, 9, way)
    assert (found.method, found.digits >= 9) == ("contour of atoms", True)
    assert found.overlaps(dpexact.delta(text, 1, 3, way, method="lattice"))


def test_outcomes_that_are_left_out_are_counted(monkeypatch):
    factors, line, v = [(SAMPLE, 3)], (3.0, 0.75, 40), 1e-6
    monkeypatch.setattr(far_nodes, "_LITTLE", 0.05)
    nodes = FarNodes(factors, line, [v], 1)
    with balls.precision(160):
        true = summed(factors, line, v, arb("0.3"), 41, 8000) / nodes.level
        assert abs(nodes.at([arb("0.3")], 0)[0] - true) <= nodes.error


@pytest.mark.parametrize("way", ["remove", "add"])
def test_discrete_gaussian_noise_against_the_lattice(way):
    text = "poisson(discrete_gaussian(1), 1/50)^2000"
    found = dpexact.delta(text, "1/5", 6, way)
    assert (found.method, found.digits >= 6) == ("contour of atoms", True)
    assert found.overlaps(dpexact.delta(text, "1/5", 3, way, method="lattice"))


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize(
    ("text", "top"),
    [
        ("poisson(discrete_gaussian(2), 1/10)^20", 1),
        ("poisson(discrete_gaussian(10), 1/10)^100", 1),
        ("pair((1/2, 1/4), (1/4, 1/2), (1/4, 1/4))^300", 20),
    ],
)
@pytest.mark.slow
def test_many_points_share_lines(text, top, way, monkeypatch):
    lines = []
    once = BlurredProfile.line
    monkeypatch.setattr(BlurredProfile, "line", lambda *a: lines.append(a) or once(*a))
    points = [real(str(Fraction(top * k, 24))) for k in range(1, 25)]
    found = atoms(text, way).deltas(points, 6)
    assert 0 < len(lines) < 16
    for point, answer in zip(points, found, strict=True):
        alone = atoms(text, way).delta(point, 6)
        assert answer.digits >= min(6, alone.digits)
        assert answer.overlaps(alone)


def test_points_that_share_no_line_are_asked_in_order(monkeypatch):
    """As the last line mostly tells the next one, whatever order they came in."""
    asked, ask = [], AtomsProfile.delta
    monkeypatch.setattr(AtomsProfile, "delta", lambda *a: asked.append(a[1].fraction) or ask(*a))
    monkeypatch.setattr("dpexact.accounting.engines.contour.atoms.shared_deltas", lambda *_: {})
    points = [real(f"{k}/8") for k in (3, 1, 4, 2)]
    found = atoms("poisson(discrete_gaussian(2), 1/10)^20", "remove").deltas(points, 4)
    assert asked == sorted(asked)
    assert found[1].lower > found[3].upper > found[0].upper > found[2].upper


def test_a_line_that_one_point_had_tells_those_after_it(monkeypatch):
    """Where no line is shared beforehand."""
    asked, ask = [], AtomsProfile.delta
    monkeypatch.setattr(AtomsProfile, "delta", lambda *a: asked.append(a[1]) or ask(*a))
    monkeypatch.setattr("dpexact.accounting.engines.contour.atoms.shared_deltas", lambda *_: {})
    points = [real(f"{100 + k}/200") for k in range(20)]
    text = "poisson(discrete_gaussian(2), 1/10)^20"
    found = atoms(text).deltas(points, 5)
    assert len(asked) <= 4
    for point, answer in list(zip(points, found, strict=True))[::9]:
        assert answer.digits >= 5
        assert answer.overlaps(ask(atoms(text), point, 5))


@pytest.mark.slow
def test_who_asks_for_more_digits_than_there_are_gets_no_fewer():
    text, point = "poisson(discrete_gaussian(1.64), 0.064)^4", real("3/2")
    assert atoms(text).delta(point, 14).digits >= 9


@pytest.mark.parametrize("way", ["remove", "add"])
def test_many_targets_share_lines(way, monkeypatch):
    lines, once = [], BlurredProfile.line
    monkeypatch.setattr(BlurredProfile, "line", lambda *a: lines.append(a) or once(*a))
    targets = [real(f"{k}e-6") for k in range(1, 100, 4)]
    text = "poisson(discrete_gaussian(2), 1/100)^1000"
    found = atoms(text, way).epsilons(targets, 8)
    assert len(lines) <= 3
    for target, answer in zip(targets[::8], found[::8], strict=True):
        alone = atoms(text, way).epsilon(target, 8)
        assert answer.digits >= min(8, alone.digits)
        assert answer.overlaps(alone)


@pytest.mark.parametrize("way", ["remove", "add"])
def test_the_last_line_serves_what_is_next_to_it(way, monkeypatch):
    lines = []
    once = BlurredProfile.line
    monkeypatch.setattr(BlurredProfile, "line", lambda *a: lines.append(a) or once(*a))
    text = "poisson(discrete_gaussian(2), 1/10)^20"
    profile = atoms(text, way)
    points = [real(str(Fraction(100 + k, 200))) for k in range(6)]
    found = [profile.delta(point, 8) for point in points]
    assert len(lines) < len(points)
    assert all(answer.digits >= 8 for answer in found)
    assert found == sorted(found, key=lambda answer: -answer.lower)
    for point, answer in zip(points, found, strict=True):
        assert answer.overlaps(atoms(text, way).delta(point, 8))
    before = len(lines)
    for point, answer in zip(points, found, strict=True):
        level = profile.epsilon(real(str(Fraction(answer.lower))), 6)
        assert level.lower <= Fraction(str(point)) * (1 + Fraction(1, 10**7))
        assert level.upper >= Fraction(str(point)) and level.digits >= 6  # noqa: PT018
    assert len(lines) <= before + 2


@pytest.mark.parametrize(
    ("text", "epsilon"),
    [
        ("poisson(discrete_gaussian(1.571), 0.056)^42", "2.159"),
        ("poisson(discrete_gaussian(1.64), 0.064)^18", "2.432"),
        ("poisson(discrete_gaussian(0.532), 0.41)^1447", "943.5"),
    ],
)
def test_where_a_line_ends_and_how_much_is_kept_of_it_suffice_for_ten_digits(text, epsilon):
    assert atoms(text).delta(real(epsilon), 10).digits >= 10


def test_where_no_line_has_all_digits_one_of_fewer_serves_all(monkeypatch):
    lines = []
    once = BlurredProfile.line
    monkeypatch.setattr(BlurredProfile, "line", lambda *a: lines.append(a) or once(*a))
    points = [real(f"{3 + k}/1000000+3/10") for k in range(4)]
    found = atoms("poisson(discrete_gaussian(1), 1/50)^1000").deltas(points, 12)
    assert len(lines) <= 2
    assert all(answer.digits >= 10 for answer in found)


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


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize("rate", ["1-1e-17", "1-1e-30"])
@pytest.mark.parametrize("count", [2, 12])
def test_rates_that_floats_take_for_one(rate, count, way):
    """As good as no sample."""
    found = dpexact.epsilon(f"poisson(discrete_gaussian(1), {rate})^{count}", "1e-3", 5, way)
    whole = dpexact.epsilon(f"discrete_gaussian(1)^{count}", "1e-3", 9, way)
    assert abs(float(found.upper) - float(whole.upper)) < 1e-4 * float(whole.upper)


def test_a_pair_without_a_list_of_outcomes_has_no_such_sum():
    """An empty list would say that its moments vanish."""
    hull = Symmetrised(rational(1), rational(Fraction(1, 10)))
    assert hull.outline(1.0)
    with pytest.raises(UnsupportedMechanism, match="no list of outcomes"):
        hull.exponentials(1.0, 10.0, 30.0)


@pytest.mark.parametrize("worse", [0, 1])
def test_a_product_is_as_far_off_as_its_factors_may_be(worse):
    offs = [2.0**-45, 2.0**-45]
    offs[worse] = 2.0**-20
    one, other = (Moments(np.array([0.5 + 0j]), np.array([0.5]), np.array([off])) for off in offs)
    farthest = (Fraction(1, 2) + Fraction(offs[0])) * (Fraction(1, 2) + Fraction(offs[1]))
    assert Fraction(float((one * other).off[0])) >= farthest - Fraction(1, 4)


@pytest.mark.parametrize("count", [10**9, 10**18])
def test_of_very_many_atoms_delta_next_to_one_is_bounded_at_once(count):
    """Blurs see nothing there, and said that it is between 0 and 1."""
    found = dpexact.delta(f"pair((1/4, 1/2), (1/2, 1/4), (1/4, 1/4))^{count}", 1, 15)
    assert (found.method, found.upper) == ("Bhattacharyya bound", 1)
    assert found.digits >= 15


def test_discrete_noise_beyond_floats_is_no_error_of_pythons():
    """No outcome is listed there."""
    step = "poisson(discrete_gaussian(1e-3) * discrete_laplace(exp(-50)), 1e-6)"
    with pytest.raises(dpexact.PrecisionNotReached):
        dpexact.delta(f"{step}^1000000000000000000", 0, 3)


@pytest.mark.parametrize("delta", ["5e-4", "1/10000", "5e-5"])
def test_rare_large_losses_that_mislead_saddle_points_of_the_whole(delta):
    """The saddle point at 0 has delta be 2e-5, and it is above 1e-3."""
    step = "poisson(discrete_gaussian(2.82), 0.000292)^4870"
    found = atoms(step).epsilon(real(delta), 8)
    assert found.digits >= 8
    below, above = (atoms(step).delta(real(at), 6) for at in (found.upper, found.lower))
    assert below.lower <= Fraction(delta) <= above.upper


@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("poisson(discrete_gaussian(1.4), 5.01e-06)^107", "remove"),
        ("poisson(discrete_gaussian(17.9), 2.95e-06)^1822", "add"),
    ],
)
def test_few_digits_tell_that_epsilon_is_zero(text, way, monkeypatch):
    """Total variation alone does not."""
    goals, blurred = [], AtomsProfile.blurred
    monkeypatch.setattr(AtomsProfile, "blurred", lambda *a: goals.append(a[2]) or blurred(*a))
    profile = atoms(text, way)
    assert not profile._plain.total_variation.upper <= Fraction(1, 10_000)
    assert profile.epsilon(real("1e-4"), 10).upper == 0
    assert max(goals) <= 4


@pytest.mark.parametrize(
    ("what", "text", "at"),
    [
        ("epsilon", "poisson(discrete_gaussian(0.909), 1.88e-05)^514", "1e-12"),
        ("delta", "poisson(discrete_gaussian(0.372), 0.000329)^14495", "0.505"),
    ],
)
def test_ten_digits_that_were_missed_by_little(what, text, at):
    """A root that was not found as sharply as the line knows delta, and lines of too few nodes."""
    assert getattr(atoms(text), what)(real(at), 10).digits >= 10


def test_an_epsilon_of_which_a_coarse_line_has_no_digits_may_be_positive():
    profile = atoms("poisson(discrete_gaussian(0.906), 2.44e-05)^11")
    found = profile.epsilon(real("1e-9"), 6)
    assert found.digits >= 6
    assert found.lower > Fraction(1, 1000)
