"""The identity, its aliases, and coarse lines whose enclosures are wide but true."""

import math
from fractions import Fraction

import contours
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact import balls
from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse, OptimalComposition
from dpexact.accounting.engines.contour.planning import Plan
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.reals import rational


def line(composition, c, period, height, bits=160, accuracy=60.0):
    step = 2 * math.pi / period
    plan = Plan(c, step, max(2, int(height / step)), accuracy, 30.0, bits, 0)
    return contours.line(composition, plan)


def enclosures(contour, epsilons, repeat=1):
    with balls.precision(contour.plan.bits):
        terms = contour.terms([balls.ball(e) for e in epsilons], repeat)
        return [balls.to_enclosure(t.enclosure()) for t in terms]


@settings(max_examples=scaled(60))
@given(
    mu=st.fractions("1/10", 3, max_denominator=20),
    eps=st.fractions(0, 2, max_denominator=20),
    lost=st.fractions(0, "1/2", max_denominator=100),
    count=st.integers(1, 5),
    at=st.fractions(0, 12, max_denominator=20),
    c=st.floats(0.05, 8),
    period=st.floats(0.5, 40),
    height=st.floats(1, 60),
)
def test_any_line_holds_the_truth(mu, eps, lost, count, at, c, period, height):
    """Gaussians with atoms, infinite losses among them, against the sum of closed forms."""
    composition = ((Gaussian(rational(mu)), 1), (Response(rational(eps), rational(lost)), count))
    masses = InfiniteLoss(((rational(lost), count),)) if lost else InfiniteLoss()
    true = GaussianMixedWithResponse(rational(mu), masses, rational(eps), count)
    contour = line(composition, c, period, height)
    (found,) = enclosures(contour, [at])
    assert found.overlaps(true.delta(rational(at), 25))
    # both laws are the same in both directions
    with balls.precision(contour.plan.bits):
        other = balls.to_enclosure(contour.reversed(balls.ball(at), 1))
    assert other.overlaps(true.delta(rational(at), 25))
    (twice,) = enclosures(contour, [at], 2)
    masses = InfiniteLoss(((rational(lost), 2 * count),)) if lost else InfiniteLoss()
    doubled = GaussianMixedWithResponse(real(f"sqrt(2)*({mu})"), masses, rational(eps), 2 * count)
    assert twice.overlaps(doubled.delta(rational(at), 25))


def test_one_set_of_errors_serves_a_range_of_epsilons():
    composition = ((remove(real(1), real("1/50")), 400),)
    coarse, fine = line(composition, 1.5, 12.0, 80.0), line(composition, 1.5, 60.0, 80.0)
    points = [Fraction(i, 4) for i in range(1, 24)]
    for point, found in zip(points, enclosures(coarse, points), strict=True):
        (alone,), (true,) = enclosures(coarse, [point]), enclosures(fine, [point])
        assert found.overlaps(true)
        assert alone.overlaps(true)
    assert found.upper - found.lower < Fraction(1, 10)


@pytest.mark.parametrize(("one", "other"), [(remove, add), (add, remove)])
@pytest.mark.parametrize("at", [Fraction(1, 10), Fraction(1, 2), Fraction(-1, 3)])
def test_a_line_of_one_direction_holds_the_truth_of_the_other(one, other, at):
    a, b = (((way(real(2), real("1/5")), 20),) for way in (one, other))
    (true,) = enclosures(line(b, 1.0, 20.0, 80.0), [at], 3)
    contour = line(a, 1.0, 20.0, 80.0)
    with balls.precision(contour.plan.bits):
        found = balls.to_enclosure(contour.reversed(balls.ball(at), 3))
    assert found.overlaps(true)
    assert found.digits >= 8


@pytest.mark.parametrize("direction", [remove, add])
def test_products_of_different_steps_and_their_repetitions_agree(direction):
    """``(a b)^3`` as three of each, and as one composition run three times."""
    a, b = direction(real(2), real("1/5")), direction(real("3/2"), real("1/10"))
    (together,) = enclosures(line(((a, 60), (b, 45)), 2.0, 20.0, 60.0), [Fraction(2)])
    (repeated,) = enclosures(line(((a, 20), (b, 15)), 2.0, 20.0, 60.0), [Fraction(2)], 3)
    assert together.overlaps(repeated)
    assert together.digits >= 10
    assert repeated.digits >= 10


@pytest.mark.parametrize("plan", [(0.0, 1.0, 5), (-1.0, 1.0, 5), (1.0, 0.0, 5), (1.0, 1.0, 0)])
def test_lines_outside_the_domain_are_refused(plan):
    step = remove(real(1), real("1/5"))
    with pytest.raises(ValueError, match="must be positive"):
        contours.line(((step, 3),), Plan(*plan, 60.0, 30.0, 128, 0))


def test_the_newton_step_moves_towards_the_root_or_gives_up():
    composition = ((remove(real(1), real("1/50")), 400),)
    fine, coarse = line(composition, 1.5, 20.0, 60.0), line(composition, 0.05, 1.0, 3.0)
    with balls.precision(160):
        target = balls.ball(Fraction(1, 100_000))
        at = arb(2)
        for _ in range(12):
            (at,) = fine.newton([at], 1, [target])
        (there,) = fine.terms([at])
        assert abs(float(there.enclosure().mid()) / 1e-5 - 1) < 1e-6
        assert None in coarse.newton([arb(far) for far in range(1, 40)], 1, [target] * 39)


def test_bounded_losses_are_recognised():
    step = add(real(1), real("1/50"))
    pair = Product(((step, 10), (Response(real("1/2"), real("1/9")), 2)))
    with balls.precision(128):
        limit = -10 * (arb(49) / 50).log() + 1
        assert pair.largest_loss(3).overlaps(3 * limit)
        assert pair.never_exceeds(3 * limit + arb("1e-9"), 3)
        assert not pair.never_exceeds(3 * limit - arb("1e-9"), 3)
        assert pair.reverse.largest_loss(1) is None
        assert not pair.reverse.never_exceeds(arb(10**6), 1)


@pytest.mark.slow
def test_atoms_alone_have_no_contour():
    composition = ((Response(real(1)), 5),)
    found = contours.delta(composition, real("1/2"), max_work=10**5)
    assert found.overlaps(OptimalComposition(real(1), 5, InfiniteLoss()).delta(real("1/2"), 9))
    assert "multiplications" in found.reason
