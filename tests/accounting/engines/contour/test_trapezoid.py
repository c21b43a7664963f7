"""Certified trapezoidal sums against mpmath's quadrature, and rules that are refused."""

import math

import pytest
from contours import integrand_of, shape_of
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpc, mpf
from oracles import scaled
from sampled_gaussian import moment

from dpexact import balls
from dpexact.accounting.pairs.mixture import add, one_shift, remove
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.sums.mixture_rules import Rule
from dpexact.accounting.pairs.sums.mixture_sums import (
    Integrand,
    oblique_moments,
    positive_sum,
    real_moment,
    real_sum,
)
from dpexact.conversion import real
from dpexact.reals import rational

BITS = 200


def integrand(sigma, up, down, c):
    return integrand_of(real(sigma), real(up), real(down), c)


def holds(found, value, slack):
    low, high = balls.to_enclosure(found).to_mpmath(40)
    return low - slack <= value <= high + slack and high - low <= slack


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize(
    ("sigma", "q"), [("1", "1/100"), ("3/10", "1/3"), ("2", "9/10"), ("10", "1/1000")]
)
@pytest.mark.parametrize("s", [(0.75, 0.0), (-0.5, 0.0), (3.0, 17.0), (0.125, 40.0)])
def test_moments_against_quadrature(direction, sigma, q, s):
    make = remove if direction == "remove" else add
    step = make(real(sigma), real(q))
    c, u = s
    with mp.workdps(30), balls.precision(BITS):
        true = moment((direction, real(sigma).fraction, real(q).fraction), mpc(c, u))
        slack = mpf(10) ** -22 * moment((direction, real(sigma).fraction, real(q).fraction), mpf(c))
        if u:
            found = step.moments(c, u, 1, 90.0)[1]
            assert holds(found.real, mp.re(true), slack)
            assert holds(found.imag, mp.im(true), slack)
        else:
            assert holds(step.moment(c, 90.0), mp.re(true), slack)


def test_both_laws_may_be_mixtures():
    """The moments of ``(P, Q)`` at ``s`` are those of ``(Q, P)`` at ``-1 - s``."""
    step = one_shift(real(2), real("1/5"), real("1/7"))
    with balls.precision(BITS):
        forward, backward = step.moment(-0.25, 80.0), step.reverse.moment(-0.75, 80.0)
        assert forward.overlaps(backward)
        assert (forward - backward).abs_upper() < arb("1e-30")


@settings(max_examples=scaled(30))
@given(
    direction=st.sampled_from(["remove", "add"]),
    sigma=st.fractions(min_value="3/10", max_value=10, max_denominator=50),
    q=st.fractions(min_value="1/1000", max_value="999/1000", max_denominator=1000),
    c=st.floats(0.1, 6),
    log_u=st.floats(-1, 2),
)
def test_the_decay_bounds_all_that_follow(direction, sigma, q, c, log_u):
    step = (remove if direction == "remove" else add)(rational(sigma), rational(q))
    u = math.ldexp(round(10**log_u * 1024), -10)
    with balls.precision(128):
        bound = step.decayed(c, u, 20.0)
        for beyond in (1.0, 1.5, 3.0):
            value = step.moments(c, u * beyond, 1, 60.0)[1]
            assert not value.abs_lower() > bound


@pytest.mark.parametrize("sigma", ["1/3", "1", "20"])
def test_the_nodes_do_not_depend_on_how_many_are_taken(sigma):
    f = integrand(sigma, "1/10", "0", 1.5)
    rule = shape_of(float(real(sigma).fraction), 0.1, 0.0).oblique(1.5, 60.0)
    with balls.precision(BITS):
        moment_there = real_moment(
            f, shape_of(float(real(sigma).fraction), 0.1, 0.0).positive(1.5, 60.0)
        )
        many = oblique_moments(f, rule, moment_there.upper(), 0.75, 90)
        for count in (1, 2, 50):
            some = oblique_moments(f, rule, moment_there.upper(), 0.75, count)
            assert len(some) == count + 1
            assert all(a.overlaps(b) for a, b in zip(some, many, strict=False))
        assert many[0].overlaps(acb(moment_there))


# --- what the proofs do not cover is refused ----------------------------------------------------


@pytest.mark.parametrize(
    ("shift", "edge"),
    [(1.0, 3.2), (1.0, 1.0), (2.0, 1.0), (0.0, 1.0), (-1.0, 1.0), (1.0, math.nan)],
)
def test_oblique_strips_outside_the_domain(shift, edge):
    """Zero of ``A`` at height ``pi sigma``; and the line must lie inside the strip."""
    rule = Rule(shift, edge, 0.25, -80, 80, 161, 300.0)
    with balls.precision(BITS), pytest.raises(ValueError, match="not admissible"):
        oblique_moments(integrand("1", "1/10", "0", 1.0), rule, arb(2), 1.0, 4)


@pytest.mark.parametrize(
    ("shift", "edge", "u"),
    [
        (0.0, 3.2, 1.0),
        (1.0, 2.2, 1.0),  # beyond pi sigma
        (1.0, 1.1, 1.0),  # beyond the shift and beyond pi sigma / 2: the modulus may grow with u
        (1.0, 0.5, -1.0),
        (1.0, 0.5, math.nan),
    ],
)
def test_positive_strips_outside_the_domain(shift, edge, u):
    rule = Rule(shift, edge, 0.125, -160, 160, 321, 0.0)
    with balls.precision(BITS), pytest.raises(ValueError, match="not admissible"):
        positive_sum(integrand("1", "1/10", "0", 1.0), rule, u)


def test_the_largest_strips_inside_the_domain():
    with balls.precision(BITS):
        f = integrand("1", "1/10", "0", 1.0)
        for shift, edge in [(0.0, 3.0), (1.0, 1.0), (0.5, 1.05), (2.0, 1.1)]:
            positive_sum(f, Rule(shift, edge, 0.125, -160, 160, 321, 0.0), 1.0)


def test_rules_cut_inside_the_bulk():
    f = integrand("1", "1/10", "0", 1.0)
    with balls.precision(BITS):
        for first, last in [(0, 80), (-80, 0), (-80, -4), (4, 80)]:
            with pytest.raises(TooExpensive, match="inside the bulk"):
                positive_sum(f, Rule(0.0, 3.0, 0.25, first, last, 80, 0.0), 0.0)
        with pytest.raises(TooExpensive, match="too coarse"):
            real_moment(f, Rule(0.0, 3.0, 9.0, -9, 9, 19, 0.0))


def test_a_peak_farther_right_is_inside_the_bulk():
    """The slope at the end holds beyond it only where waves bend less than the normal law."""
    f = integrand("1", "1e-6", "0", 19.0)
    with balls.precision(BITS), pytest.raises(TooExpensive, match="inside the bulk"):
        positive_sum(f, Rule(0.0, 3.0, 0.25, -80, 16, 97, 0.0), 0.0)


@pytest.mark.parametrize("c", [2.0, 30.0, 75.0, 95.0, 120.0])
def test_rules_reach_as_far_as_powers_bend_a_normal_law(c):
    """Where it hardly falls beyond its peak, a rule is longer."""
    law, accuracy = remove(real("5.04"), real("0.0485")), 60.0
    rule = law._shape.oblique(c, accuracy)
    with balls.precision(200):
        f = Integrand(*law.shifts, c)
        left = arb(rule.spacing) / (2 * arb.pi()).sqrt() * f.outside(rule)
        assert left < law.moment(c, accuracy) * arb(3 - accuracy).exp()


def test_orders_below_minus_one_half_push_to_the_left():
    """For ``c < 0`` the denominator mixture makes the integrand rise slowly on the left."""
    f = integrand("1/2", "0", "1/2", -0.9)
    with balls.precision(BITS), pytest.raises(TooExpensive, match="inside the bulk"):
        positive_sum(f, Rule(0.0, 1.0, 0.25, -7, 80, 87, 0.0), 0.0)


# --- single real moments ------------------------------------------------------------------------


@settings(deadline=None, max_examples=scaled(60))
@given(
    c=st.floats(-0.9, 300),
    sigma=st.floats(0.03, 100),
    q=st.floats(1e-9, 0.999),
    start=st.integers(-500, 5000),
    size=st.integers(2, 300),
)
def test_the_chord_bounds_every_node_and_is_reached_when_steep(c, sigma, q, start, size):
    with balls.precision(BITS):
        f = integrand_of(real(sigma), real(q), rational(0), c)
        u, v = arb(start) / 4, arb(start + size) / 4
        bound = f.chord_bound(u, v)
        nodes = [f.at(arb(start + j) / 4) for j in range(size + 1)]
        assert not any(node > bound for node in nodes)
        if (f.height(v) - f.height(u)) / (v - u) < u:
            assert nodes[0] > bound / 2


def test_light_blocks_are_counted_whole():
    """So many nodes that all together matter, none of them by itself."""
    f = integrand("1", "1e-40", "0", 1.5)
    with balls.precision(BITS):
        rule = Rule(0.0, 3.0, 2.0**-30, 1 << 31, (1 << 31) + (1 << 20) - 1, 0, -20.0)
        found = real_sum(f, rule)
        mean = arb(2).exp()
        assert found.contains((1 << 20) / mean)
        assert (1 << 20) / mean < found.upper() < (1 << 20) * 1.01 / mean


@pytest.mark.parametrize("c", [1.5, 40.0, 3000.0])
@pytest.mark.parametrize(("first", "last"), [(-16, 60), (-60, 80), (0, 80)])
def test_the_tails_of_a_concave_integrand(c, first, last):
    """The pull of the mixture is part of the slope: the bound is the sum beyond, or little more."""
    q, spacing = mpf("0.75"), mpf(1) / 8
    f = integrand("1/2", "0", "3/4", c)
    with balls.precision(BITS), mp.workdps(30):
        bound = balls.to_enclosure(f.outside(Rule(0.0, 1.0, 0.125, first, last, 0, 0.0)))

        def node(x):
            w = 1 - q + q * mp.exp(-2 * x - 2)
            return w**-c * mp.exp(-x * x / 2)

        beyond = mp.fsum(node((first - k) * spacing) for k in range(1, 400))
        beyond += mp.fsum(node((last + k) * spacing) for k in range(1, 400))
        assert beyond <= bound.to_mpmath(30)[1] < 3 * beyond


@pytest.mark.parametrize(("sigma", "q", "c"), [("1e-3", "1/2", 2e5), ("1", "1e-9", 3e4)])
def test_far_apart_peaks_take_few_nodes(sigma, q, c):
    step = remove(real(sigma), real(q))
    with balls.precision(BITS):
        found = step.extreme_moment(c, 40.0)
        assert found.rel_accuracy_bits() > 40
        # the whole line has so many
        rule = step._shape.real(c, 40.0)
        assert rule.last - rule.first > 50 * step.extreme_cost(c, 40.0)


def test_the_work_of_a_real_moment_is_bounded():
    rule = Rule(0.0, 3.0, 2.0**-40, -(1 << 44), 1 << 44, 0, 30.0)
    with balls.precision(BITS), pytest.raises(TooExpensive, match="more than 400000 nodes"):
        real_moment(integrand("1", "0", "1/10", 1.0), rule)


def test_nodes_beyond_both_ends_of_the_real_line_are_counted():
    """With ``A`` indistinguishable from 1 the moment is 1, of which the sum alone falls short."""
    rule = Rule(0.0, 3.0, 0.125, -40, 40, 81, 30.0)
    with balls.precision(BITS):
        found = real_moment(integrand("1", "1e-40", "0", 1.5), rule)
        assert found.overlaps(arb(1))
        assert found.rad() < arb("1e-5")
