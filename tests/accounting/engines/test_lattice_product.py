"""Composition on a lattice, against enumeration with fractions and known values."""

from fractions import Fraction
from itertools import product

import pytest
from flint import arb, arb_poly
from hypothesis import given
from hypothesis import strategies as st

import dpexact
from dpexact import PrecisionNotReached, balls
from dpexact.accounting.engines import lattice_product
from dpexact.accounting.engines.closed_form import OptimalComposition
from dpexact.accounting.engines.lattice_product import (
    LatticeComposition,
    Run,
)
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.lattice import commensurate
from dpexact.accounting.pairs.pair import chernoff_constant
from dpexact.accounting.pairs.response import Response, discrete_laplace, staircase
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import rational


def composed(*parts, infinite=None):
    return LatticeComposition(*commensurate(list(parts)), infinite or InfiniteLoss())


def brute(parts, level):
    """``sum (P - level Q)_+`` over all outcomes, in fractions."""
    laws = []
    for part, count in parts:
        laws += [[(atom.p.fraction, atom.q.fraction) for atom in part.outcomes()]] * count
    total = Fraction(0)
    for outcome in product(*laws):
        p = q = Fraction(1)
        for a, b in outcome:
            p, q = p * a, q * b
        total += max(p - level * q, Fraction(0))
    return total


MIXTURES = st.lists(
    st.sampled_from(
        [
            Response(real("log(2)")),
            Response(real("3*log(2)/2")),
            staircase(real("log(2)"), rational(Fraction(1, 3))),
            staircase(real("3*log(2)"), rational(Fraction(4, 5))),
            discrete_laplace(real("1/log(2)"), 2),
            discrete_laplace(real("2/log(2)"), 3),
        ]
    ),
    min_size=1,
    max_size=3,
)
# e^(3 log(2)/2) is irrational: those cases only run through balls
LEVELS = st.fractions(min_value=1, max_value=9, max_denominator=20)


@given(MIXTURES, st.integers(1, 2), LEVELS)
def test_exact_and_ball_answers_agree_with_enumeration(parts, count, level):
    counted = [(part, count) for part in parts]
    profile = composed(*counted)
    point = real(f"log({level})")
    exact = profile.delta(point, 20)
    with balls.precision(160):
        ball = balls.to_enclosure(profile.delta_ball(balls.ball(point)))
        profile._is_short = lambda near: False  # as if too long
        other = balls.to_enclosure(profile.delta_ball(balls.ball(point)))
    assert ball.overlaps(other)
    assert ball.upper - ball.lower < Fraction(1, 10**35)
    assert ball.overlaps(exact)
    if all(atom.p.fraction is not None for part in parts for atom in part.outcomes()):
        assert exact.is_exact
        assert exact.lower == brute(counted, level)
        assert exact.lower in ball


@pytest.mark.parametrize(
    ("sigma", "count", "epsilon", "digits"),
    [
        ("2", 5, "1.3", "0.1173304958048620596060091233"),
        ("5/2", 10, "2", "0.07238205861604737655657093789"),
    ],
)
def test_known_discrete_gaussian_values(sigma, count, epsilon, digits):
    found = composed((DiscreteGaussian(real(sigma) ** 2, 1), count)).delta(real(epsilon), 40)
    assert found.digits >= 40
    known = Fraction(digits)
    unit = Fraction(1, 10 ** (len(digits) - 2))
    assert known - unit <= found.lower <= found.upper <= known + unit


def test_one_discrete_gaussian_step_by_its_definition():
    """``sum_x (P - e^eps Q)_+`` with ``P`` and ``Q`` shifted apart, in mpmath."""
    import mpmath

    with mpmath.workdps(50):
        w = {x: mpmath.exp(-mpmath.mpf(x * x) / 18) for x in range(-90, 91)}
        total = mpmath.fsum(w.values())
        level = mpmath.exp(mpmath.mpf(2) / 5)
        gains = (w[x - 2] - level * w[x] for x in range(-88, 91))
        truth = mpmath.fsum(g for g in gains if g > 0) / total
    found = composed((DiscreteGaussian(real(3) ** 2, 2), 1)).delta(real("0.4"), 30)
    value = real(truth).fraction
    assert abs(value - found.lower) < Fraction(1, 10**29)


def test_one_run_of_many_outcomes_is_listed(monkeypatch):
    """Where circles took most of a minute; against geometric series."""
    import mpmath

    monkeypatch.delattr(lattice_product, "Circle")
    found = composed((discrete_laplace(real(1000), 4000), 1)).delta(real(1), 20)
    with mpmath.workdps(60):
        a, level = mpmath.exp(-mpmath.mpf(1) / 1000), mpmath.e
        # the loss (4000 - 2x)/1000 exceeds 1 up to x = 1499: noise below 1500, and below -2500
        p = 1 - a**1500 / (1 + a)
        q = a**2501 / (1 + a)
        truth = real(p - level * q).fraction
    assert found.digits >= 20
    assert abs(truth - found.lower) < Fraction(1, 10**18)


def test_products_of_different_sigma_split_as_one_would_expect():
    two, three = DiscreteGaussian(real(2) ** 2, 1), DiscreteGaussian(real(3) ** 2, 2)
    together = composed((two, 2), (three, 1)).delta(real(1), 25)
    apart = composed((two, 1), (three, 1), (two, 1)).delta(real(1), 25)
    assert together.overlaps(apart)
    assert together.digits >= 25
    assert commensurate([(two, 1), (Response(real("sqrt(2)")), 1)]) is None


@given(st.integers(1, 400), st.fractions(min_value=0, max_value=2, max_denominator=30))
def test_response_agrees_with_optimal_composition(count, share):
    epsilon = rational(share * count / 7)
    lattice = composed((Response(real("1/7")), count)).delta(epsilon, 15)
    optimal = OptimalComposition(real("1/7"), count, InfiniteLoss()).delta(epsilon, 15)
    assert lattice.overlaps(optimal)


@pytest.mark.parametrize("epsilon", ["40", "70", "700"])
def test_tiny_values_keep_their_digits(epsilon):
    profile = composed((DiscreteGaussian(real(1) ** 2, 1), 3))
    found = profile.delta(real(epsilon), 20)
    assert found.digits >= 20
    assert 0 < found.upper < Fraction(1, 10**40)
    assert profile.epsilon(rational(found.lower), 12).overlaps(
        Enclosure(*(real(epsilon).fraction + Fraction(side, 10**9) for side in (-1, 1)))
    )


def test_bounded_loss_ends_where_it_should():
    profile = composed((staircase(real(1), real("1/4")), 3))
    assert profile.delta(real(3), 10) == Enclosure.exact(Fraction(0))
    assert profile.epsilon(real(0), 10) == Enclosure.exact(Fraction(3))
    assert profile.delta(real("2.999999"), 10).lower > 0
    assert profile.epsilon(real(1), 10) == Enclosure.exact(Fraction(0))


def test_infinite_loss_is_carried():
    lost = InfiniteLoss(((real("1/10"), 2),))
    part = (staircase(real("log(2)"), real("1/4")), 2)
    with_loss, without = composed(part, infinite=lost), composed(part)
    point = real("log(1.5)")
    finite = without.delta(point, 10).lower
    assert with_loss.delta(point, 10).lower == Fraction(19, 100) + Fraction(81, 100) * finite
    assert with_loss.epsilon(real("0.19"), 10).lower > 1
    assert with_loss.epsilon(real("0.18"), 10).lower == float("inf")


def test_a_dropped_tail_widens_the_answer():
    """Half the noise is thrown away on purpose: the enclosure must still hold the truth."""
    part = DiscreteGaussian(real(2) ** 2, 1)
    truth = composed((part, 2)).delta(real("1/2"), 20)

    class Careless(DiscreteGaussian):
        def tilted(self, theta):
            from dataclasses import replace

            whole = super().tilted(theta)
            middle = len(whole.masses) // 2
            lost = sum(whole.masses[middle:])
            return replace(whole, masses=whole.masses[:middle], dropped=whole.dropped + lost)

    careless = composed((Careless(real(4), 1), 2))
    with balls.precision(80):
        ball = careless.delta_ball(balls.ball(Fraction(1, 2)))
    wide = balls.to_enclosure(ball)
    assert wide.lower <= truth.lower <= truth.upper <= wide.upper


@pytest.mark.parametrize("theta", [Fraction(0), Fraction(1, 8), Fraction(3), Fraction(500)])
def test_the_kernel_bound_is_the_maximum(theta):
    def kernel(u):
        return -(-u).expm1() * (-balls.ball(theta) * u).exp()

    with balls.precision(100):
        top = chernoff_constant(balls.ball(theta))
        for i in range(1, 200):
            assert kernel(balls.ball(Fraction(i * i, 3000))) <= top
        best = (1 + 1 / balls.ball(theta)).log() if theta else balls.ball(80)
        assert (kernel(best) - top).abs_upper() < 1e-20


def test_unbounded_loss_never_reaches_the_infinite_mass():
    lost = InfiniteLoss(((real("1/100"), 1),))
    profile = composed((DiscreteGaussian(real(2) ** 2, 1), 2), infinite=lost)
    assert profile.epsilon(real("1/100"), 10).lower == float("inf")
    assert profile.epsilon(real("0.0101"), 10).upper < 10


def test_inversion_when_the_search_overshoots_the_largest_loss():
    profile = composed((discrete_laplace(real(2), 3), 100))
    found = profile.epsilon(real("1e-10"), 15)
    assert found.digits >= 15
    assert profile.delta(rational(found.lower), 20).upper >= Fraction(1, 10**10)
    assert profile.delta(rational(found.upper), 20).lower <= Fraction(1, 10**10)


@pytest.mark.slow
def test_wide_noise_far_out_needs_one_circle_of_moderate_precision(monkeypatch):
    """delta near 1e-390: against the sum over the law itself, at 3000 bits, without any tilt."""
    sigma, level, reach = 20, Fraction(3), 2000
    with balls.precision(3000):
        variance = arb(sigma * sigma)
        weights = [(-arb(x * x) / (2 * variance)).exp() for x in range(-reach, reach + 1)]
        whole = sum(weights, arb(0))
        law = (arb_poly([w / whole for w in weights]) ** 2).coeffs()
        truth = arb(0)
        for i, mass in enumerate(law):
            excess = (arb(i - 2 * reach) + 1) / variance - balls.ball(level)
            if excess > 0:
                truth -= mass * (-excess).expm1()
        truth = balls.to_enclosure(truth)
    profile = composed((DiscreteGaussian(rational(sigma) ** 2, 1), 2))
    asked, make = [], lattice_product.Circle
    monkeypatch.setattr(lattice_product, "Circle", lambda *x: asked.append(x) or make(*x))
    found = profile.delta(rational(level), 15)
    assert found.digits >= 15
    assert found.overlaps(truth)
    assert truth.digits >= 15
    assert len(asked) == 1


def test_the_search_for_epsilon_takes_few_laws(monkeypatch):
    profile = composed((DiscreteGaussian(rational(50) ** 2, 1), 3))
    asked = []
    tangent = profile.tangent
    monkeypatch.setattr(profile, "tangent", lambda point: asked.append(point) or tangent(point))
    for target in ("1e-5", "1e-300"):
        asked.clear()
        found = profile.epsilon(real(target), 12)
        assert len(asked) <= 9
        above = profile.delta(rational(Fraction(found.lower)), 20)
        below = profile.delta(rational(Fraction(found.upper)), 20)
        goal = balls.certify(lambda t=target: balls.ball(real(t)), 40)
        assert below.lower <= goal.upper
        assert goal.lower <= above.upper


@pytest.mark.parametrize("falling", [True, False])
def test_what_a_product_drops(falling):
    """The ball of what is missing holds what is missing, whichever tail it was and whosever."""
    masses = [arb(2) ** -k for k in range(1, 12)]
    masses = masses if falling else masses[::-1]
    one = Run(0, masses, arb(2) ** -11)
    other = Run(3, masses[1:-1], 1 - sum(masses[1:-1]))
    with balls.precision(100):
        for a, b in ((one, one), (one, other), (other, one)):
            found = a.times(b, arb(2) ** -5)
            assert len(found.masses) < len(a.masses) + len(b.masses) - 2
            assert not found.dropped < 1 - sum(found.masses)


@pytest.mark.parametrize(
    ("sigma", "count", "delta"),
    [("0.3", 100, "1e-5"), ("0.4", 100, "1e-5"), ("0.3", 1000, "1e-9"), ("0.35", 40, "1e-3")],
)
def test_few_losses_far_apart_are_inverted(sigma, count, delta):
    """At epsilon 0 all is lost to every digit, and tangents there say nothing near the target."""
    text = f"discrete_gaussian({sigma})^{count}"
    found = dpexact.epsilon(text, delta, 15)
    assert found.digits >= 15
    assert dpexact.delta(text, found.lower, 10).upper >= Fraction(delta)
    assert dpexact.delta(text, found.upper, 10).lower <= Fraction(delta)
    above = dpexact.delta(text, found.lower * Fraction(999, 1000), 10).lower
    assert above > Fraction(delta) > dpexact.delta(text, found.upper * Fraction(1001, 1000)).upper


@pytest.mark.parametrize("exponent", [100, 162, 300])
@pytest.mark.parametrize("count", [1, 2])
def test_next_to_no_noise_is_beyond_floats(exponent, count):
    """The outcome 0 has nearly all the mass: the loss there exceeds epsilon by -log(1 - delta)."""
    with pytest.raises(PrecisionNotReached) as short:
        dpexact.epsilon(f"discrete_gaussian(1e-{exponent})^{count}", "1e-3", 3)
    found, loss = short.value.best, Fraction(count * 10 ** (2 * exponent), 2)
    assert loss * Fraction(9, 10) < found.lower < loss - Fraction(1, 1000)
    assert found.upper >= loss - Fraction(2, 1000)


@pytest.mark.parametrize("exponent", [153, 155, 200, 5000])
def test_very_much_noise_is_refused(exponent):
    with pytest.raises(UnsupportedMechanism, match="sigma is too large"):
        dpexact.epsilon(f"discrete_gaussian(1e{exponent})", "1e-3", 3)


@pytest.mark.parametrize(("epsilon", "digits"), [(0, 9), (1, 30), (40, 12), (300, 6)])
def test_tails_of_one_step_are_cut_before_they_are_multiplied(epsilon, digits):
    """Far from the cut at 2000 noise is as without one; ten million bits of it took minutes."""
    far, whole = (
        dpexact.delta(f"{noise}^2", epsilon, digits)
        for noise in ("truncated_discrete_gaussian(1, 2000)", "discrete_gaussian(1)")
    )
    assert far.digits >= digits
    assert far.overlaps(whole)


@pytest.mark.parametrize("ask", [dpexact.delta, dpexact.epsilon])
def test_losses_beyond_floats_are_no_error_of_pythons(ask):
    """Floats know no spread of the law; what is left is what any bound says."""
    with pytest.raises(PrecisionNotReached) as caught:
        ask("randomized_response(1e300, 1000000000000000)^1000000000", "1/3", 8)
    assert caught.value.best.lower == 0


def test_many_points_are_told_short_together(monkeypatch):
    """A search of floats for each took most of the time."""
    tilts, once = [], LatticeComposition._tilt
    monkeypatch.setattr(LatticeComposition, "_tilt", lambda *x: tilts.append(1) or once(*x))
    points = [Fraction(k, 50) for k in range(1, 200)]
    found = dpexact.delta("discrete_gaussian(2)^20", points, 8)
    assert len(tilts) < 30
    assert all(answer.digits >= 8 for answer in found)
    for k in (0, 70, 198):
        assert found[k].overlaps(dpexact.delta("discrete_gaussian(2)^20", points[k], 9))
