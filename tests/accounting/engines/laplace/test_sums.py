"""The finite sum for Laplace mechanisms: known values, definitions, and the contour integral."""

import random
from fractions import Fraction
from math import comb

import mpmath
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import scaled

import dpexact
from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.laplace import sums as laplace
from dpexact.accounting.engines.laplace.product import FEWEST, LaplaceProduct, shared
from dpexact.accounting.engines.laplace.sums import FiniteSum, LaplaceParts, SumPlan, finite_sum
from dpexact.accounting.engines.lattice_law import lattice_law
from dpexact.accounting.inverted import InvertedProfile
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import rational

NONE = InfiniteLoss()


def product(*parts):
    return LaplaceProduct(LaplaceParts(tuple((real(rate), k) for rate, k in parts)), NONE)


@pytest.mark.parametrize(
    ("rate", "count", "epsilon", "digits"),
    [
        ("1/2", 3, "0.9", "0.08416347468222628807482729032"),
        ("1/5", 8, "0.75", "0.02867327705373790590799460468"),
    ],
)
def test_known_values(rate, count, epsilon, digits):
    found = product((rate, count)).delta(real(epsilon), 40)
    unit = Fraction(1, 10 ** (len(digits) - 2))
    assert found.digits >= 40
    assert Fraction(digits) - unit <= found.lower <= found.upper <= Fraction(digits) + unit


@pytest.mark.parametrize("rate", ["1/1000", "1", "sqrt(2)", "50"])
@pytest.mark.parametrize("mass", ["0", "1/10"])
@pytest.mark.parametrize(
    "above", ["1e-40", "1e-6", "1/5", "1-exp(-1/2)", "1-exp(-1/2)-1e-20", "8/9"]
)
def test_epsilon_of_one_step_is_that_of_the_search(rate, mass, above):
    infinite = InfiniteLoss(((real(mass), 1),)) if mass != "0" else NONE
    profile = LaplaceProduct(LaplaceParts(((real(rate), 1),)), infinite)
    target = real(mass) + (1 - real(mass)) * real(above)
    found = profile.epsilon(target, 12)
    searched = InvertedProfile._epsilon(profile, target, 12)
    assert found.digits >= 12 or found.upper < 1e-9
    assert found.overlaps(searched)


@given(
    st.fractions(min_value=Fraction(1, 50), max_value=20, max_denominator=50),
    st.fractions(min_value=0, max_value=1, max_denominator=50),
)
def test_one_step_is_the_textbook_formula(rate, share):
    found = product((rate, 1)).delta(rational(rate * share), 25)
    if share == 1:
        assert found == Enclosure.exact(Fraction(0))
        return
    with balls.precision(200):
        truth = balls.to_enclosure(-balls.ball(rate * (share - 1) / 2).expm1())
    assert found.overlaps(truth)
    assert found.digits >= 25


def quadrature(rates, epsilon):
    """``delta`` of the product by conditioning on one loss after another, in mpmath."""
    *rest, rate = rates
    if not rest:
        if epsilon >= rate:
            return mpmath.mpf(0)
        bounded = -mpmath.expm1((epsilon - rate) / 2)
        return bounded if epsilon > -rate else -mpmath.expm1(epsilon)
    kinks = {s * sum(rest[1:]) * 0 + epsilon + s * sum(rest) for s in (1, -1)}
    kinks |= {epsilon + a * rest[0] + b * sum(rest[1:]) for a in (1, -1) for b in (1, -1)}
    inner = sorted({-rate, rate, *(z for z in kinks if -rate < z < rate)})
    density = mpmath.exp(-rate / 2) / 4
    middle = mpmath.quad(
        lambda z: density * mpmath.exp(z / 2) * quadrature(rest, epsilon - z), inner
    )
    atoms = quadrature(rest, epsilon - rate) + mpmath.exp(-rate) * quadrature(rest, epsilon + rate)
    return middle + atoms / 2


@pytest.mark.parametrize(
    ("rates", "epsilon"), [(("1/2", "1/2"), "0.3"), (("1/2", "3/4"), "0.2"), (("2", "1"), "0")]
)
def test_two_steps_by_quadrature(rates, epsilon):
    found = product(*((rate, 1) for rate in rates)).delta(real(epsilon), 25)
    with mpmath.workdps(30):
        numbers = [mpmath.mpf(Fraction(r).numerator) / Fraction(r).denominator for r in rates]
        truth = quadrature(numbers, mpmath.mpf(epsilon))
    assert abs(real(truth).fraction - found.lower) < Fraction(1, 10**24)


@given(
    st.integers(1, 40),
    st.integers(1, 3),
    st.fractions(min_value=Fraction(1, 10), max_value=3, max_denominator=20),
)
def test_merging_equal_scales_changes_nothing(count, split, rate):
    first = min(split, count)
    parts = [(rate, first)] + ([(rate, count - first)] if count > first else [])
    point = rational(rate * count / 3)
    assert product((rate, count)).delta(point, 20).overlaps(product(*parts).delta(point, 20))


@given(st.integers(2, 30), st.integers(1, 10), st.fractions(min_value=0, max_value=1))
def test_a_sum_cut_short_still_holds_the_truth(steps, terms, share):
    parts = LaplaceParts(((real("1/3"), steps),))
    epsilon = Fraction(steps, 3) * share
    with balls.precision(150):
        e = balls.ball(epsilon)
        full = balls.to_enclosure(finite_sum(parts, e, SumPlan(steps - 1, 300)))
        ball = finite_sum(parts, e, SumPlan(min(terms, steps - 1), 300))
    if ball.is_finite():
        assert balls.to_enclosure(ball).overlaps(full)
    with balls.precision(300):
        longest = finite_sum(parts, balls.ball(epsilon), SumPlan(steps - 1, 600))
    assert balls.to_enclosure(longest).overlaps(full)


@pytest.mark.parametrize(("steps", "j"), [(3, 2), (4, 5), (7, 0), (-1, 0), (5, 3), (6, 6), (1, 1)])
def test_coefficients_by_the_binomial_theorem(steps, j):
    count = 8
    a, b = j, steps - j

    def power(n, sign, r):  # [v^r] (1 + sign v)^n, also for n = -1
        return comb(n, r) * sign**r if n >= 0 else (-sign) ** r

    expected = [
        sum(power(a, 1, t) * power(b, -1, r - t) for t in range(r + 1)) for r in range(count)
    ]
    assert [int(c) for c in laplace.coefficients(steps, j, count)] == expected


def test_inversion_of_a_hundred_steps_to_thirty_digits():
    profile = product(("1/10", 100))
    found = profile.epsilon(real("1e-6"), 30)
    assert found.digits >= 30
    assert profile.delta(rational(found.lower), 40) >= Fraction(1, 10**6)
    assert profile.delta(rational(found.upper), 40) <= Fraction(1, 10**6)
    assert Fraction("4.69266741468018899286") < found.lower < Fraction("4.69266741468018899287")


def test_the_largest_loss_is_the_end():
    profile = product(("1/2", 3), ("1/3", 1))
    assert profile.delta(real("11/6"), 10) == Enclosure.exact(Fraction(0))
    assert profile.epsilon(real(0), 10) == Enclosure.exact(Fraction(11, 6))
    near = profile.delta(real("11/6 - 1/10^20"), 15)
    assert 0 < near.lower < near.upper < Fraction(1, 10**20)


def test_the_profile_at_any_real_argument_is_that_of_a_symmetric_pair():
    divergence = product(("1/2", 3)).finite_ball
    with balls.precision(100):
        for x in (arb("0.4"), arb("1.2"), arb(2)):
            mirrored = -(-x).expm1() + (-x).exp() * divergence(x)
            assert divergence(-x).overlaps(mirrored)
        assert divergence(arb(0)).overlaps(divergence(arb(0, "1e-20")))


def test_a_ball_around_the_largest_loss():
    divergence = product(("1/10", 50)).finite_ball
    with balls.precision(80):
        at_end = divergence(arb(5, "1e-12"))
        assert at_end.contains(0)
        assert at_end.abs_upper() < 1e-11
        assert divergence(arb(-5, "1e-12")).overlaps(-arb(-5).expm1())


def test_a_sum_too_long_says_so():
    found = product(("1/10^9", 10**9)).delta(real("1/1000"), 10)
    assert found.digits == 0
    assert found.reason
    beside = Composition(
        others=[(DiscreteGaussian(real(1), 1), 1)], laplace=[(real("1/10^9"), 10**9)]
    )
    with pytest.raises(UnsupportedMechanism, match="laplace"):
        lattice_law(beside, "remove")


@pytest.mark.parametrize(("steps", "terms", "x"), [(30, 6, "1.4"), (5, 12, "11"), (2, 1, "1/2")])
def test_the_remainder_covers_what_it_stands_for(steps, terms, x):
    point, bound, total, term = Fraction(x), 0, Fraction(0), Fraction(1)
    for i in range(1, 200):
        bound += comb(steps - 1, i - 1)
        term *= point / i
        total += bound * term if i > terms else 0
    with balls.precision(80):
        covered = balls.to_enclosure(laplace.remainder(steps, terms, balls.ball(point)))
    assert covered.lower <= -total < total <= covered.upper


# --- a stretch of epsilon ------------------------------------------------------------------------

F = Fraction


def parts_of(*pairs):
    return LaplaceParts(tuple((rational(F(rate)), count) for rate, count in pairs))


@pytest.mark.parametrize("terms", [2, 4, 6, 30])
@pytest.mark.parametrize(
    "parts",
    [parts_of((1, 7)), parts_of((1, 3), (2, 2), ("1/3", 2)), parts_of((1, 1), ("1/2", 1))],
)
def test_a_stretch_with_corners_is_the_sum_at_each_point(parts, terms):
    plan = SumPlan(min(terms, parts.count - 1), 300)
    with balls.precision(300):
        span = balls.ball(parts.largest)
        for low, high in (
            (F(0), F(1, 7)),
            (F(1, 2), F(3)),
            (F(1), parts.largest.fraction),
        ):
            stretch = FiniteSum(parts, balls.ball(low), balls.ball(high), plan)
            for share in (
                F(0),
                F(1, 3),
                F(1, 2),
                F(9, 10),
                F(1),
            ):
                at = balls.ball(low + share * (high - low))
                if at < span:
                    exact = finite_sum(parts, at, SumPlan(parts.count - 1, 300))
                    found = stretch.at(at)
                    assert found.overlaps(exact)
                    if plan.terms == parts.count - 1:
                        assert found.rel_accuracy_bits() > 100


@pytest.mark.parametrize("seed", range(scaled(6)))
def test_many_points_are_answered_as_one_by_one(seed):
    """Points at the corners, next to each other, and beyond the largest loss among them."""
    draw = random.Random(seed)
    rates = draw.sample(
        [F(1), F(2), F(1, 3), F(5, 7), F(1, 100), F(12)],
        draw.choice([1, 2, 3]),
    )
    parts = parts_of(*((rate, draw.choice([1, 2, 5, 9])) for rate in rates), (F(1, 5), 1))
    infinite = InfiniteLoss(((rational(F(1, 1000)), 3),) if seed % 2 else ())
    found, top = LaplaceProduct(parts, infinite), parts.largest.fraction
    points = [F(0), top, top * 2, top - F(1, 10**9)]
    points += [top * F(draw.randrange(10**9), 10**9) for _ in range(draw.choice([3, 40, 150]))]
    points += [F(1, 10) + F(k, 10**12) for k in range(10)]
    points += [rates[0] * (2 * j - 3) for j in range(2, 5)]
    draw.shuffle(points)
    digits = draw.choice([4, 8, 20])
    asked = [rational(at) for at in points]
    for at, many in zip(asked, found.deltas(asked, digits), strict=True):
        alone = found.delta(at, digits + 4)
        assert many.overlaps(alone)
        assert many.digits >= min(digits, alone.digits)


def test_few_points_share_nothing():
    parts = parts_of((1, 5))
    asked = [rational(F(k, 10)) for k in range(1, 30)]
    assert not shared(parts, asked[: FEWEST - 1], 8)
    assert set(shared(parts, asked, 8)) == set(asked)


def test_an_epsilon_at_the_end_of_floats_beside_hardly_any_loss():
    assert dpexact.delta("poisson(laplace(1e12, 1000), 1/2)", "1e300").upper == 0


def test_no_precision_below_two_bits_is_reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    """FLINT has none."""
    monkeypatch.setattr(laplace.Route, "plan", lambda _, bits: bits if bits < 2 else None)
    route = laplace.Route(LaplaceParts(((rational(30), 9),)), 0.5)
    assert [route.reachable(bits) for bits in (33, 40, 64)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("noise", "steps", "target"), [("1e-20", 4, "0.0016"), ("1e-300", 5, "1e-9")]
)
def test_next_to_a_largest_loss_that_floats_do_not_tell_from_epsilon(noise, steps, target):
    """Half of the losses are the largest, and the others exponentially far below."""
    left = steps / Fraction(noise) - Fraction(
        dpexact.epsilon(f"laplace({noise})^{steps}", target, 330).lower
    )
    with mp.workdps(30):
        b = mpf(left.numerator) / left.denominator

        def inside(count):
            def density(g):
                return g ** (count - 1) * mp.exp(-g / 2) / (mp.gamma(count) * 2**count)

            return mp.quad(lambda g: density(g) * -mp.expm1(g - b), [0, b])

        parts = [mp.binomial(steps, count) * inside(count) for count in range(1, steps + 1)]
        found = (-mp.expm1(-b) + mp.fsum(parts)) / 2**steps
        assert abs(found / mpf(target) - 1) < mpf(10) ** -15
