"""Large losses of rare samples, set aside: against enumerations, types and the lattice engine."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement
from math import factorial, inf, log, prod

import pytest
from mpmath import mp, mpf

import dpexact
from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.contour.atoms import AtomsProfile
from dpexact.accounting.engines.contour.blurs import BlurredProfile
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.contour.set_aside import SetAside, set_aside
from dpexact.accounting.engines.many_types import ManyTypes
from dpexact.accounting.pairs import noise_outcomes
from dpexact.accounting.pairs.blurred import Steps
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.finite import Finite
from dpexact.accounting.pairs.pair import Atom, TooExpensive
from dpexact.accounting.pairs.sampled_noises import SampledNoises, Within
from dpexact.accounting.pairs.sums.response_sums import Leak
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.mechanisms.grammar import parse
from dpexact.reals import rational


def atoms(text, way="remove"):
    composition = Composition.of(parse(text).steps().items()).facing(way)
    return AtomsProfile(composition.everything(way), composition.infinite(add=way == "add"))


def sample(variance, rate, removes=True, shift=1):
    return SampledNoises(((DiscreteGaussian(real(variance), shift), 1),), real(rate), removes)


def outcomes(variance, rate, shift=1, reach=60):
    """``(loss before sampling, P, Q)`` of one step, by definition."""
    v, q = mpf(Fraction(variance).numerator) / Fraction(variance).denominator, mpf(0)
    q = mpf(Fraction(rate).numerator) / Fraction(rate).denominator
    weights = {y: mp.exp(-(mpf(y) ** 2) / (2 * v)) for y in range(-reach, reach + 1)}
    whole = mp.fsum(weights.values())
    found = []
    for y, weight in weights.items():
        loss = shift * (y - mpf(shift) / 2) / v
        found.append((loss, weight / whole * (1 + q * mp.expm1(loss)), weight / whole))
    return found


@cache
def types(variance, rate, count, reach, ceiling):
    """``(P, Q)`` of the types of so many steps that have a loss above the ceiling."""
    found = []
    with mp.workdps(60):
        law = outcomes(variance, rate, reach=reach)
        for chosen in combinations_with_replacement(range(len(law)), count):
            if law[chosen[-1]][0] > ceiling:
                ways = factorial(count) // prod(factorial(n) for n in Counter(chosen).values())
                p, q = (mp.fprod(law[i][side] for i in chosen) for side in (1, 2))
                found.append((ways * p, ways * q))
    return found


def exact(ball):
    """The ends of a ball."""
    middle, radius = (mpf(int(x.p)) / int(x.q) for x in (ball.mid().fmpq(), ball.rad().fmpq()))
    return middle - radius, middle + radius


# --- one step -------------------------------------------------------------------------------------


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("accuracy", "guard"), [(2.0, 0.0), (110.0, 12.0)])
@pytest.mark.parametrize(
    ("variance", "rate", "shift", "ceiling"),
    [("1", "1/20", 1, 3.0), ("9", "9/10", 2, -0.5), ("4", "1/1000", 1, 2.25)],
)
def test_moments_of_what_is_below_a_ceiling(
    variance, rate, shift, ceiling, removes, accuracy, guard, monkeypatch
):
    """Against sums over all outcomes; of short lists the bound on the others counts."""
    monkeypatch.setattr(noise_outcomes, "GUARD", guard)
    pair = Within(sample(variance, rate, removes, shift), ceiling)
    with balls.precision(160), mp.workdps(70):
        law = [(p / q, q) for loss, p, q in outcomes(variance, rate, shift) if loss < ceiling]
        for c, u in ((-0.5, 0.0), (0.75, 0.0), (3.0, 11.5), (90.0, 40.0)):
            t = mp.mpc(1 + c, u) if removes else -mp.mpc(c, u)
            true = mp.fsum(q * ratio**t for ratio, q in law)
            found = pair.moments(c, u, 1, accuracy)[1]
            for ball, part in ((found.real, true.real), (found.imag, true.imag)):
                low, high = exact(ball)
                slack = abs(true) * mpf(10) ** -30
                assert low - slack <= part <= high + slack
                assert accuracy < 20 or high - low < abs(true) * mpf(10) ** -15
        other = mp.fsum(min(ratio, 1) * q for ratio, q in law)
        assert exact(pair.overlap())[0] <= other


@pytest.mark.parametrize("ceiling", [-1.0, 0.75, 3.0, 11.0])
def test_masses_above_a_ceiling_have_digits_of_their_own(ceiling):
    with mp.workdps(120), balls.precision(80):
        law = [(p, q) for loss, p, q in outcomes("4", "1/1000") if loss > ceiling]
        for found, true in zip(
            Within(sample("4", "1/1000"), ceiling).without(60),
            (mp.fsum(q for _, q in law), mp.fsum(p for p, _ in law)),
            strict=True,
        ):
            low, high = exact(found)
            assert low <= true <= high
            assert high - low < true * mpf(10) ** -15


def test_an_outcome_at_the_ceiling_is_neither_above_nor_below():
    with balls.precision(100), pytest.raises(TooExpensive, match="next to a ceiling"):
        Within(sample("4", "1/10"), 0.375).moment(1.0, 30.0)


# --- what is set aside ----------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", ["-1/100", "0", "1/1000", "1/10", "2"])
@pytest.mark.parametrize("order", [0.25, 3.0, 200.0])
@pytest.mark.parametrize(
    ("variance", "rate", "ceiling"),
    [("1", "1/50", 1.25), ("1/2", "1/500", 2.5), ("1", "1/4", -0.2)],
)
def test_what_is_set_aside_adds_no_less_and_no_more(variance, rate, ceiling, order, epsilon):
    """Three steps by enumeration; ceilings so low that much is not known."""
    pair = sample(variance, rate)
    aside = SetAside([(pair, 3)], [(Within(pair, ceiling), 3)], order)
    with mp.workdps(60), balls.precision(120):
        at = mp.exp(mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
        above = types(variance, rate, 3, 12, ceiling)
        known = mp.fsum(p - at * q for p, q in above)
        rest = mp.fsum(max(at * q - p, 0) for p, q in above)
        found, most = aside.added(balls.ball(real(epsilon)))
        low, high = exact(found)
        assert low - mpf(10) ** -25 <= known <= high + mpf(10) ** -25
        assert 0 <= rest <= exact(most)[1]


def test_infinite_losses_beside_are_counted():
    """Of a step that reveals with probability 1/100, and never says so without the record."""
    pair, mass = sample("1", "1/50"), Fraction(1, 100)
    leak = Finite((Atom(rational(mass), rational(0)), Atom(rational(1 - mass), rational(1))))
    factors = [(pair, 2), (leak, 1)]
    aside = SetAside(factors, [(Within(pair, 1.25), 2), (leak, 1)], 3.0)
    with mp.workdps(60), balls.precision(120):
        at, stays = mp.exp(mpf(1) / 10), 1 - mpf(1) / 100
        above = types("1", "1/50", 2, 14, 1.25)
        known = 1 - stays + mp.fsum(stays * p - at * q for p, q in above)
        low, high = exact(aside.added(balls.ball(real("1/10")))[0])
        assert low - mpf(10) ** -25 <= known <= high + mpf(10) ** -25


@pytest.mark.parametrize("epsilon", ["1/20", "1/2"])
@pytest.mark.parametrize("ceiling", [0.9, 1.9, 2.4, 3.9, 5.4])
def test_ceilings_of_any_height_give_enclosures(ceiling, epsilon):
    """Wide ones, where they are low."""
    pair = sample("1", "1/50")
    near = [(Within(pair, ceiling), 8)]
    aside = SetAside([(pair, 8)], near, 20.0)
    true = dpexact.delta("poisson(discrete_gaussian(1), 1/50)^8", epsilon, 12, "remove")
    profile = BlurredProfile(Steps(near), InfiniteLoss(), 1e-11, 30.0, 4_000_000, aside)
    found = profile.delta(real(epsilon), 8)
    assert found.overlaps(true)
    level = profile.epsilon(rational(Fraction(true.lower)), 6)
    assert level.lower <= Fraction(epsilon) * (1 + Fraction(1, 10**10))
    assert level.upper == inf or level.upper >= Fraction(epsilon) * (1 - Fraction(1, 10**10))
    assert found.digits >= 6 or ceiling < 5


def test_nothing_is_set_aside_where_a_record_is_added_or_nothing_is_large():
    for factors, epsilon in (
        ([(sample("4", "1/1000", removes=False), 9)], 0.01),
        ([(Leak(()), 1)], 0.01),
        ([(sample("4", "1/1000"), 9)], 0.0),
    ):
        assert set_aside(Product(factors), epsilon, log(1e-6), 10) is None


# --- answers --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "epsilon"),
    [
        ("poisson(discrete_gaussian(2), 1/1000)^30", "1/100"),
        ("poisson(discrete_gaussian(7), 1/10000)^500", "1/1000"),
        ("poisson(discrete_gaussian(1.3), 0.0012)^55", "1/10"),
        ("poisson(discrete_gaussian(1)*discrete_laplace(2), 1/500)^40", "1/20"),
        ("poisson(discrete_gaussian(2), 1/500)^30 * discrete_gaussian(30)^2", "1/4"),
        ("poisson(discrete_gaussian(1),1/500)^30*poisson(discrete_gaussian(3),1/900)^90", "1/20"),
        ("poisson(discrete_gaussian(2), 1/1000)^300 * approx_dp(1/100, 1/10^8)^2", "1/20"),
    ],
)
def test_rare_samples_have_digits(text, epsilon):
    found = dpexact.delta(text, epsilon, 9, "remove")
    assert (found.method, found.digits >= 9) == ("contour of atoms", True)
    coarse = dpexact.delta(text, epsilon, 2, "remove", method="lattice")
    assert found.overlaps(coarse)
    level = dpexact.epsilon(text, found.upper, 8, "remove")
    assert level.digits >= 8
    assert level.lower <= Fraction(epsilon) <= level.upper * (1 + Fraction(1, 10**8))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["1/1000", "1/100", "1/20"])
@pytest.mark.parametrize(
    "text",
    ["poisson(discrete_gaussian(1/2), 1/1000)^20", "poisson(discrete_gaussian(1), 1/500)^6"],
)
def test_rare_samples_against_types(text, epsilon):
    composition = Composition.of(parse(text).steps().items()).facing("remove")
    types = ManyTypes(composition.everything("remove"), InfiniteLoss())
    true = types.delta(real(epsilon), 11)
    assert true.digits >= 10
    found = atoms(text).delta(real(epsilon), 8)
    assert found.digits >= 8
    assert found.overlaps(true)


def test_the_curve_of_moments_where_one_hump_takes_over_from_another():
    """Below a ceiling too a law has two humps: between orders of one bend the slope leaps."""
    text = "poisson(discrete_gaussian(2.15), 0.03)^40"
    found = dpexact.epsilon(text, "1e-5", 8, direction="remove")
    assert found.digits >= 8
