"""Tails by the nodes of one turn, against sums over listed masses."""

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import dpexact
from dpexact import balls
from dpexact.accounting.engines import lattice_circle
from dpexact.accounting.engines.lattice_circle import Circle
from dpexact.accounting.engines.lattice_product import LatticeComposition
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian, truncated_discrete_gaussian
from dpexact.accounting.pairs.lattice import commensurate
from dpexact.accounting.pairs.response import Response, discrete_laplace, staircase
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import rational

PAIRS = {
    "response": Response(real("1/3")),
    "staircase": staircase(real("2/3"), real("1/4")),
    "discrete Laplace": discrete_laplace(real("2"), 4),
    "discrete Gaussian": DiscreteGaussian(real("3/2"), 1),
    "wide": DiscreteGaussian(real("30"), 1),
    "wide, shift 3": DiscreteGaussian(real("27"), 3),
    "truncated": truncated_discrete_gaussian(real("3"), 6, 1)[1],
}
THETAS = [Fraction(*x) for x in ((-9, 10), (-1, 2), (-1, 50), (1, 50), (1, 3), (2, 1))]
BITS = 120


def listed(parts):
    """``(m, l_m, P[Z >= l_m], e^l_m Q[Z >= l_m])`` by the listed masses, every few places."""
    law = LatticeComposition(*commensurate(parts), InfiniteLoss())
    rows = list(law.losses())
    first, left = law._law().first, law.dropped() * balls.UNIT
    for i in range(0, len(rows), max(len(rows) // 7, 1)):
        loss = rows[i][0]
        p = sum((mass for _, mass in rows[i:]), arb(0)) + left
        q = sum((mass * (loss - z).exp() for z, mass in rows[i:]), arb(0)) + left
        yield first + i, loss, p, q


@given(
    names=st.permutations(sorted(PAIRS)[:4]).map(lambda names: names[:2])
    | st.lists(st.sampled_from(sorted(PAIRS)), min_size=1, max_size=1),
    count=st.sampled_from([1, 2, 12, 400]),
    theta=st.sampled_from(THETAS),
    spread=st.sampled_from([0.01, 1.0, 8.0, 40.0]),
    tries=st.sampled_from([0, 3]),
)
def test_tails_hold_those_of_listed_masses(names, count, theta, spread, tries):
    """However few the nodes are."""
    parts = [(PAIRS[name], 1 if i else count) for i, name in enumerate(names)]
    common = commensurate(parts)
    if common is None:
        return
    unit, strided = common
    with pytest.MonkeyPatch.context() as patch, balls.precision(BITS):
        patch.setattr(lattice_circle, "_TRIES", tries)
        circle = Circle(strided, unit, theta, spread, arb(0))
        for place, loss, p, q in listed(parts):
            found = circle.tails(place, loss)
            assert found[0].overlaps(p)
            assert found[1].overlaps(q)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("theta", THETAS)
def test_a_turn_is_no_farther_out_than_its_bound(name, theta):
    with balls.precision(BITS):
        turning = PAIRS[name].turning(theta)
        angles = [arb.pi() * k / 24 for k in range(25)]
        sizes = [turning.at(angle).abs_lower() for angle in angles]
        for i, angle in enumerate(angles):
            bound = turning.bound(angle)
            assert not any(size > bound for size in sizes[i:])
        assert abs(turning.at(arb(0)) - 1).abs_lower() == 0


@pytest.mark.parametrize("theta", THETAS)
def test_a_theta_is_the_sum_over_outcomes(theta):
    with balls.precision(BITS):
        for name in ("wide", "wide, shift 3"):
            pair = PAIRS[name]
            for angle in (arb(0), arb(1) / 7, arb(2), arb(3)):
                assert pair.turning(theta).at(angle).overlaps(pair.tilted(theta).at(angle))


@pytest.mark.parametrize(("sigma", "count"), [("1/3", 10**9), ("1/2", 10**10), ("1/10", 10**18)])
def test_little_noise_that_is_added_very_often(sigma, count):
    """Far below the mean, and where two neighbours have all the mass."""
    found = dpexact.epsilon(f"discrete_gaussian({sigma})^{count}", "1e-6", 10)
    assert found.digits >= 10
    assert dpexact.delta(f"discrete_gaussian({sigma})^{count}", found.lower, 3).upper >= 1e-6


@pytest.mark.parametrize(
    ("sigma", "count", "delta"), [(100, 10**5, "1e-6"), (100, 10**12, "1e-9"), (1000, 100, "1e-5")]
)
def test_wide_noise_is_as_good_as_continuous_noise(sigma, count, delta):
    found = dpexact.epsilon(f"discrete_gaussian({sigma})^{count}", delta, 12)
    continuous = dpexact.epsilon(f"gaussian({sigma})^{count}", delta, 12)
    assert found.digits >= 12
    assert abs(found.upper / continuous.upper - 1) < Fraction(1, 10**8)


def test_tails_far_out_have_digits():
    found = dpexact.delta("discrete_gaussian(5)^100000", 6000, 12)
    continuous = dpexact.delta("gaussian(5)^100000", 6000, 12)
    assert found.digits >= 12
    assert abs(found.upper / continuous.upper - 1) < Fraction(1, 20)


def test_far_below_the_mean_what_is_not_lost_has_digits():
    """``1 - delta`` is a tail: without a negative order all digits were lost."""
    law = LatticeComposition(*commensurate([(PAIRS["wide"], 10**4)]), InfiniteLoss())
    law._is_short = lambda near: False
    with balls.precision(BITS):
        value = law.finite_ball(arb(1))
    assert value.rad() < 2.0**-90
    assert 0 < 1 - value < 1e-15


def test_losses_that_turn_too_often_are_refused_soon(monkeypatch):
    bounds, once = [], Circle._bound
    monkeypatch.setattr(Circle, "_bound", lambda *x: bounds.append(x) or once(*x))
    parts = [(DiscreteGaussian(rational(x) ** 2, 1), 50) for x in (400, 401)]
    unit, strided = commensurate(parts)
    with balls.precision(BITS), pytest.raises(UnsupportedMechanism, match="so fine a lattice"):
        Circle(strided, unit, Fraction(1, 2), 1e6, arb(1))
    assert len(bounds) < 3000


@pytest.mark.parametrize("away", [-1, 2, 5])
@pytest.mark.parametrize(
    "pairs",
    [
        [(PAIRS["discrete Laplace"], 400), (PAIRS["response"], 1)],
        [(Response(real("7/5")), 400), (Response(real("1/5")), 1)],
    ],
)
def test_a_part_that_strides_is_large_at_each_whole_turn(pairs, away):
    """Beside little else, which leaves much there."""
    law, short = (LatticeComposition(*commensurate(pairs), InfiniteLoss()) for _ in range(2))
    law._is_short, short._is_short = lambda near: False, lambda near: True
    _, mean, bend = law._cumulant(0.0)
    with balls.precision(BITS):
        found, known = (x.finite_ball(arb(mean + away * bend**0.5)) for x in (law, short))
        assert found.overlaps(known)
        assert found.rad() < 1e-20


@pytest.mark.parametrize("theta", [-2, -1, 0])
def test_orders_of_which_the_theorem_does_not_speak(theta):
    unit, strided = commensurate([(PAIRS["response"], 3)])
    with balls.precision(BITS), pytest.raises(ValueError, match="must be above -1"):
        Circle(strided, unit, Fraction(theta), 1.0, arb(0))
