"""One random allocation by its Laplace transform: quadrature, other engine, each error term."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import acb, arb

import dpexact
from dpexact.accounting import allocation_put
from dpexact.accounting.allocation_put import AllocationPut, Inner, Transform
from dpexact.accounting.contour.profile import ContourProfile
from dpexact.accounting.pairs.allocation import Allocation
from dpexact.accounting.profile import InfiniteLoss
from dpexact.balls import precision
from dpexact.conversion import real


def by_quadrature(sigma: float, epsilon: float, *, add: bool) -> float:
    """Two steps: the mixtures themselves, in the plane."""
    x = np.linspace(-9 * sigma, 1 + 9 * sigma, 3001)
    scale = sigma * math.sqrt(2 * math.pi)
    zero, one = (np.exp(-(((x - m) / sigma) ** 2) / 2) / scale for m in (0, 1))
    p, q = (np.outer(one, zero) + np.outer(zero, one)) / 2, np.outer(zero, zero)
    p, q = (q, p) if add else (p, q)
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum()) * (x[1] - x[0]) ** 2


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(("sigma", "epsilon"), [("1", "0.3"), ("2", "0.1"), ("0.8", "0.05")])
def test_two_steps_by_quadrature(sigma, epsilon, add):
    found = AllocationPut(real(sigma), 2, add=add).delta(real(epsilon), 6)
    truth = by_quadrature(float(sigma), float(epsilon), add=add)
    if found.digits >= 6:
        assert float(found.lower) == pytest.approx(truth, rel=2e-4)
    assert found.lower <= truth * 1.001
    assert found.upper >= truth * 0.999


@pytest.mark.parametrize("add", [False, True])
def test_no_plan_is_short_enough(add):
    """Between the sum of the outputs and one step, apart by less than their variances are."""
    put = AllocationPut(real("20"), 2, add=add)
    found, truth = put.delta(real("0.1"), 9), by_quadrature(20.0, 0.1, add=add)
    assert found.digits < 9
    assert 0 < found.lower <= truth * 1.001
    assert truth * 0.999 <= found.upper < 20 * truth
    back = put.epsilon(real(f"{truth:.6g}"), 9)
    assert 0.08 < back.lower <= 0.1001
    assert 0.0999 <= back.upper < 0.2


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(
    ("sigma", "t", "epsilon"),
    [("1", 1000, "0.1"), ("2", 300, "0.1"), ("0.7", 3000, "0.1"), ("3", 5, "0.2"), ("1", 1000, 0)],
)
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
