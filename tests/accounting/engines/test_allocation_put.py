"""One random allocation by its Laplace transform: quadrature, other engine, each error term."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from flint import acb, arb

import dpexact
from dpexact.accounting.engines import allocation_put
from dpexact.accounting.engines.allocation_put import AllocationPut, Inner, Transform
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.pairs.allocation import Allocation
from dpexact.accounting.profile import InfiniteLoss
from dpexact.balls import precision
from dpexact.conversion import real


def by_quadrature(sigma: str, epsilon: str, *, add: bool) -> mpmath.mpf:
    """Two steps: ``E (K - S)_+`` in closed form given one of them."""
    with mpmath.workdps(30):
        a, eps = 1 / mpmath.mpf(sigma), mpmath.mpf(epsilon)
        level = mpmath.exp(-eps if add else eps)

        def given(x: mpmath.mpf) -> mpmath.mpf:
            left = max(2 * level - mpmath.exp(a * x - a * a / 2), mpmath.mpf("1e-40"))
            d = mpmath.log(left) / a + a / 2
            return mpmath.npdf(x) * (left * mpmath.ncdf(d) - mpmath.ncdf(d - a)) / 2

        end = mpmath.log(2 * level) / a + a / 2
        put = mpmath.quad(given, mpmath.linspace(min(-14, end - 14), min(14, end), 41))
        return put * mpmath.exp(eps) if add else put - mpmath.expm1(eps)


@pytest.mark.slow
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(
    ("sigma", "epsilon"),
    [("1", "0.3"), ("2", "0.1"), ("0.8", "0.05"), ("20", "0.1"), ("200", "0.01"), ("0.4", "5")],
)
def test_two_steps_by_quadrature(sigma, epsilon, add):
    mechanism = dpexact.parse(f"allocation(gaussian({sigma}), 2)")
    found = dpexact.delta(mechanism, epsilon, 12, "add" if add else "remove")
    truth = Fraction(mpmath.nstr(by_quadrature(sigma, epsilon, add=add), 16))
    assert found.digits >= 12
    assert found.lower * (1 - Fraction(1, 10**11)) < truth < found.upper * (1 + Fraction(1, 10**11))


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.slow
def test_no_plan_is_short_enough(monkeypatch, add):
    """Between the sum of the outputs and one step, apart by less than their variances are."""
    monkeypatch.setattr(allocation_put, "WORK", 1)
    put, truth = AllocationPut(real("20"), 2, add=add), by_quadrature("20", "0.1", add=add)
    found = put.delta(real("0.1"), 9)
    assert found.digits < 9
    assert 0 < found.lower <= float(truth) * 1.001
    assert float(truth) * 0.999 <= found.upper < 20 * float(truth)
    back = put.epsilon(real(mpmath.nstr(truth, 6)), 9)
    assert 0.08 < back.lower <= 0.1001
    assert 0.0999 <= back.upper < 0.2


def test_what_no_normal_law_reaches():
    """Beyond twenty standard deviations one large step decides: ``E (Y - t(K - 1))_+``, about."""
    found = AllocationPut(real("1"), 10**7, add=False).delta(real("0.01"), 8)
    assert found.digits >= 8
    with mpmath.workdps(30):
        d = mpmath.log(10**7 * mpmath.expm1(mpmath.mpf("0.01")))
        one = mpmath.ncdf(0.5 - d) - mpmath.exp(d) * mpmath.ncdf(-0.5 - d)
    assert 1 < found.lower / Fraction(mpmath.nstr(one, 12)) < Fraction(6, 5)


def test_a_level_that_is_not_exact():
    """Balls of levels: the value moves by no more than what is allowed for."""
    for add in (False, True):
        profile = AllocationPut(real("1"), 100, add=add)
        with precision(80):
            epsilon = arb("0.5", "0.01")
            ball = profile.delta_ball(epsilon)
            ends = [profile.delta_ball(epsilon.mid() + side * epsilon.rad()) for side in (-1, 1)]
        assert all(ball.overlaps(end) for end in ends)


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(
    ("sigma", "t", "epsilon"),
    [("1", 1000, "0.1"), ("2", 300, "0.1"), ("0.7", 3000, "0.1"), ("3", 5, "0.2"), ("1", 1000, 0)],
)
@pytest.mark.slow
def test_against_the_contour_engine(sigma, t, epsilon, add):
    put = AllocationPut(real(sigma), t, add=add).delta(real(epsilon), 8)
    pair = Allocation(real(sigma), t, add)
    line = ContourProfile(((pair, 1),), InfiniteLoss()).delta(real(epsilon), 6)
    assert put.digits >= 8
    assert put.overlaps(line)


@pytest.mark.parametrize(("slower", "period"), [(1, 0.05), (1, 0.2), (0.05, 0.5), (0.05, 2.0)])
def test_any_plan_encloses(monkeypatch, slower, period):
    """Few nodes, short periods, lines far from the saddle: wide balls, not wrong ones."""
    profile = AllocationPut(real("1"), 1000, add=False)
    truth = profile.delta(real("0.1"), 6)
    plan = AllocationPut._plan

    def other(self, level, accuracy):
        found = plan(self, level, accuracy)
        c = slower * found.c
        last = found.last // 2 if slower == 1 else 6 * found.last
        return found._replace(c=c, period=period, last=last, beyond=c + 5 / period)

    monkeypatch.setattr(AllocationPut, "_plan", other)
    with precision(70):
        ball = profile.delta_ball(arb(1) / 10)
        low = Fraction(truth.lower)
        assert ball.overlaps(arb(low.numerator) / low.denominator)


@pytest.mark.slow
@pytest.mark.parametrize("z", [0.5, 3.0, 3 + 40j, 0.01 + 5j])
@pytest.mark.parametrize("lift", [0.2, 0.5])
def test_the_inner_rule(z, lift):
    ends = [x / 5 for x in range(-60, 51)]
    with mpmath.workdps(30):
        truth = mpmath.quad(lambda x: mpmath.npdf(x) * mpmath.exp(-z * mpmath.exp(x - 0.5)), ends)
        parts = [mpmath.nstr(part, 25) for part in (mpmath.re(truth), mpmath.im(truth))]
    with precision(120):
        for spacing, half in ((0.05, 200), (0.25, 40), (0.3, 8)):
            found = Transform(arb(1), 1, Inner(lift, spacing, half)).psi(acb(z))
            near = abs(found - acb(*parts))
            assert not near.lower() > 1e-17, (spacing, half)


def test_the_tail_is_bounded():
    with precision(100):
        transform = Transform(arb(1), 50, Inner(0.5, 0.04, 250))
        for u in (1.0, 20.0, 80.0):
            for shift in (0.0, 0.02, 0.3):
                bound = transform.psi_beyond(arb(3), arb(u), arb(shift))
                for v in (u, 1.3 * u, 3 * u):
                    assert transform.psi(acb(3, v)).abs_lower() <= bound


def test_large_allocations():
    found = AllocationPut(real("10"), 10**7, add=False).delta(real("1e-4"), 8)
    assert found.digits >= 8
    gaussian = math.sqrt(math.expm1(0.01) / 1e7)  # next to a normal law of this deviation
    k = math.expm1(1e-4) / gaussian
    call = gaussian * (
        math.exp(-k * k / 2) / math.sqrt(2 * math.pi) - k * math.erfc(k / 2**0.5) / 2
    )
    assert float(found.lower) == pytest.approx(call, rel=1e-3)


def test_noise_that_floats_do_not_hold_is_left_to_others():
    found = AllocationPut(real("1e-9"), 100, add=True).delta(real("1"), 8)
    assert 0.99 < found.lower < found.upper == 1
    assert found.reason


@pytest.mark.slow
def test_epsilon_is_left_to_others_too():
    """A bracket of secants that has no plan is none, and no error."""
    found = AllocationPut(real("1e-9"), 100, add=True).epsilon(real("1e-5"), 8)
    assert 4e15 < found.lower < 6e15  # mu^2/2 of the sum of all outputs, and of one step
    assert 4e17 < found.upper < 6e17
    assert dpexact.epsilon("allocation(gaussian(1/2), 2)", "1e-5", 55, "remove").digits >= 55


def test_aliases():
    level, c, period = arb(1), arb(2), arb(3)
    total = sum(((-c * period * m).exp() * (level + m * period - 1) for m in range(1, 60)), arb(0))
    more = sum(((-c * period * m).exp() * (level + m * period) for m in range(1, 60)), arb(0))
    found = allocation_put.aliases_above(level, c, period)
    assert found.lower() <= total.lower()
    assert found.upper() >= more.upper() - arb(10) ** -30


def test_aliases_from_below_need_an_order_above_the_line():
    """Else their bound does not converge: one below zero would take aliases away."""
    level, c, period = arb(5), arb(2), arb(3)
    assert allocation_put.aliases_below(level, c, period, arb(4), arb(1)) > arb(-1)
    for beyond in (c, arb(1)):
        assert not allocation_put.aliases_below(level, c, period, beyond, arb(1)).is_finite()


@pytest.mark.slow
@pytest.mark.parametrize(("sigma", "t"), [("1", 20), ("1/2", 3), ("5", 2), ("1", 10)])
def test_epsilon_where_some_points_have_no_plan(sigma, t):
    """The steps of the search may lead to where no plan is short enough."""
    for add in (False, True):
        found = AllocationPut(real(sigma), t, add=add).epsilon(real("1e-5"), 10)
        assert found.lower <= found.upper


def test_a_line_of_transforms_is_that_of_each_point():
    with precision(120):
        transform = Transform(arb(1), 20, Inner(0.5, 0.1, 90))
        for last in (0, 1, 7, 40):
            line = transform.line(arb(3), arb(1) / 2, last)
            assert len(line) == last + 1
            for n, found in enumerate(line):
                alone = transform.psi(acb(3, arb(n) / 2))
                assert found.overlaps(alone)
                assert found.rad() < 2 * alone.rad() + arb(2) ** -100


def test_of_hardly_any_noise_floats_do_not_fill_the_memory():
    found = AllocationPut(real("1e-3"), 10, add=False)
    assert found.epsilon(real("1e-5"), 6).lower > 0
    one = dpexact.epsilon("gaussian(1)^1000000", "1e-5", 12)
    found = dpexact.epsilon("allocation(gaussian(1)^1000000, 10)", "1e-5", 12, "remove")
    # one of ten steps, of which each tells itself: the loss of the step, less log 10
    assert abs(float(found.lower - one.lower) + math.log(10)) < 1e-3
    assert found.digits >= 12


def test_many_points_out_of_reach_are_known_from_both_sides():
    found = AllocationPut(real("1/100"), 10**6, add=False).deltas([real("1"), real("2")], 6)
    assert all(answer.lower > 0 for answer in found)
