"""Every error term of the trapezoidal rule is needed, and none may be halved."""

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.lattice_part import DiscreteGaussianPart
from dpexact.accounting.renyi import averages, series, trapezoid
from dpexact.accounting.renyi.excess import Excess
from dpexact.accounting.renyi.trapezoid import Plan
from dpexact.reals import real

BITS = 200
NOTHING = -1e4  # a floor below which no block is dropped


def holds(found, true):
    """Whether the ball ``found`` may contain the exact number within ``true``."""
    return not found.is_finite() or found.overlaps(true)


def nearly_one():
    """Parameters with ``w`` indistinguishable from 1, hence a moment of 1."""
    return arb(2.5), False, arb("1e-3"), arb("1e-40")


@pytest.mark.parametrize("t", [1.5, 2.0, 3.0])
def test_the_strip_error_is_covered_and_sharp(t):
    """With ``w = 1`` the error of the rule is almost the whole bound: half of it would not do."""
    with balls.precision(BITS):
        b = 2 * 3.14159 / t
        plan = Plan(t, b, -60, 60, NOTHING, 0)
        found = trapezoid.moment(*nearly_one(), plan)
        assert found.overlaps(arb(1)), "the moment is 1 to 40 digits"
        rule = trapezoid._Rule(*nearly_one(), plan)
        assert not rule.sum().overlaps(arb(1))
        assert not (rule.sum() / (1 + rule.strip_error() / 2 * arb(0, 1))).overlaps(arb(1))


@pytest.mark.parametrize("power", ["2.5", "-2.5"])
@pytest.mark.parametrize(("first", "last"), [(-50, 90), (-90, 50), (-50, 50)])
def test_the_tails_are_covered_and_sharp(power, first, last):
    with balls.precision(BITS):
        _, _, mu, q = nearly_one()
        rule = trapezoid._Rule(
            arb(power), power[0] == "-", mu, q, Plan(0.125, 9.0, first, last, NOTHING, 0)
        )
        middle = sum(map(rule.node, range(first, last + 1)), arb(0)) * rule.density
        tails = (rule.tail(first, -1) + rule.tail(last, 1)) * rule.density
        assert rule.sum().overlaps(arb(1))
        assert middle < 1
        assert middle + tails > 1
        assert middle + tails / 2 < 1


def test_a_strip_too_wide_or_too_costly_is_refused():
    with balls.precision(BITS):
        a, negative, mu, q = arb(2.5), False, arb(1), arb(0.5)
        wide = Plan(0.1, 3.2, -200, 200, NOTHING, 0)
        assert not trapezoid.moment(a, negative, mu, q, wide).is_finite()
        # a narrow peak, sampled too coarsely: only the factor cos(b mu/2)^a reveals it
        coarse = Plan(0.5, 1.5, -400, 400, NOTHING, 0)
        fine = trapezoid.plan(-3000.0, 1.0, 0.5, 60.0)
        true = trapezoid.moment(arb(-3000), True, mu, q, fine)
        found = trapezoid.moment(arb(-3000), True, mu, q, coarse)
        assert true.is_finite()
        assert holds(found, true)


@settings(deadline=None)
@given(
    a=st.floats(0.1, 300),
    mu=st.floats(0.01, 30),
    q=st.floats(1e-9, 0.999),
    start=st.integers(-500, 5000),
    size=st.integers(2, 300),
)
def test_the_chord_bounds_every_node_and_is_reached_when_steep(a, mu, q, start, size):
    with balls.precision(BITS):
        rule = trapezoid._Rule(arb(a), False, arb(mu), arb(q), Plan(0.25, 0.1, 0, 1, 0.0, 0))
        last = start + size
        bound = rule.chord_bound(start, last, rule.log_w(start), rule.log_w(last))
        nodes = [rule.node(j) for j in range(start, last + 1)]
        assert not any(node > bound for node in nodes)
        u = start * 0.25
        slope = a * (rule.log_w(last) - rule.log_w(start)) / (size * 0.25)
        if slope < u:
            assert nodes[0] > bound / 2


def test_a_dropped_block_is_counted_whole():
    with balls.precision(BITS):
        a, negative, mu, q = nearly_one()
        rule = trapezoid._Rule(a, negative, mu, q, Plan(2.0**-30, 1.0, 0, 1, 50.0, 0))
        block = rule.block(0, 99, rule.log_w(0), rule.log_w(99))
        true = sum(map(rule.node, range(100)), arb(0))
        assert block.overlaps(true)
        assert block.abs_upper() < 1.01 * true
        assert block.rad() > 1  # it was dropped, not summed


def test_work_is_bounded():
    with balls.precision(BITS):
        a, _, mu, q = nearly_one()
        plan = Plan(2.0**-30, 1.0, -(2**34), 2**34, NOTHING, 0)
        assert not trapezoid.moment(-a, True, mu, q, plan).is_finite()


@pytest.mark.parametrize("count", [4, 9, 20])
def test_the_accelerated_remainder_is_sharp(count):
    """For the measure at ``x = 0`` the error equals the bound."""
    with balls.precision(BITS):
        found = series._alternating(iter([arb(1)] + [arb(0)] * count), count)
        assert found.contains(arb(1)) or found.overlaps(arb(1))
        assert found.rad() < arb(1.001) / series._chebyshev(count)
        half = found.mid() + found.rad() / 2 * arb(0, 1)
        assert not half.overlaps(arb(1))


@given(x=st.floats(0, 1), count=st.integers(1, 30), sign=st.sampled_from([1, -1]))
def test_alternating_geometric_series(x, count, sign):
    with balls.precision(BITS):
        terms = (sign * (-arb(x)) ** k for k in range(count))
        assert series._alternating(terms, count).overlaps(sign / (1 + arb(x)))


@pytest.mark.parametrize(("power", "last"), [(3.0, 64), (3.0, 200), (-1.5, 4), (-1.5, 40)])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_tails_of_a_mixture(power, last, side):
    """The pull of the mixture is part of the slope: the bound is the sum beyond, or little more."""
    mu, q, t = 2.0, 0.75, 0.125
    first = -10 if power > 0 else -40
    with balls.precision(BITS), mp.workdps(30):
        plan = Plan(t, 1.0, first, last, NOTHING, 0)
        rule = trapezoid._Rule(arb(power), power < 0, arb(mu), arb(q), plan)
        j = last if side > 0 else first
        bound = balls.to_enclosure(rule.tail(j, side)).to_mpmath(30)[1]

        def node(z):
            w = 1 - mpf(q) + q * mp.exp(mu * z - mpf(mu) ** 2 / 2)
            return w**power * mp.exp(-z * z / 2)

        beyond = mp.fsum(node(mpf((j + side * k) * t)) for k in range(1, 500))
        assert beyond <= bound < 3 * beyond


@pytest.mark.parametrize("current", [1, 3])
@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize(
    ("order", "sigma", "shift", "q"),
    [("3/2", "3", 1, "1/4"), ("9", "20", 20, "1/4"), ("11/10", "20", 40, "1/1000")],
)
def test_the_discrete_gaussian_cut_short(order, sigma, shift, q, add, current, monkeypatch):
    """Few outcomes are listed: the rest of the sum and of the mass is most of the error."""
    part = DiscreteGaussianPart(real(sigma), shift)
    with balls.precision(BITS), mp.workdps(40):
        f = Excess.of(real(q), real(order), add)
        monkeypatch.setattr(balls, "current", lambda: current)
        found = averages.discrete_gaussian(part)(f, arb(1))
        monkeypatch.undo()
        low, high = balls.to_enclosure(found).to_mpmath(40)
        alpha, rate = (mpf(x.numerator) / x.denominator for x in map(Fraction, (order, q)))
        power = 1 - alpha if add else alpha
        total = mass = mpf(0)
        for y in range(-250, 450):
            weight = mp.exp(-(mpf(y) ** 2) / (2 * mpf(sigma) ** 2))
            x = mp.exp(mpf(shift) / mpf(sigma) ** 2 * (y - mpf(shift) / 2))
            w = 1 - rate + rate * x
            total += weight * (w**power - 1 - power * (w - 1))
            mass += weight
        assert low <= total / mass <= high
        assert high - low > total / mass / 10**6
