"""Certified trapezoidal sums against mpmath's quadrature, and rules that are refused."""

import math

import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpc, mpf
from oracles import scaled
from sampled_gaussian import moment

from dpexact import balls
from dpexact.accounting.contour.numbers import TooExpensive
from dpexact.accounting.contour.shape import Rule, Shape
from dpexact.accounting.contour.trapezoid import (
    Integrand,
    oblique_moments,
    positive_sum,
    real_moment,
)
from dpexact.accounting.pairs.mixture import GaussianMixture, add, remove
from dpexact.reals import rational, real

BITS = 200


def integrand(sigma, up, down, c):
    return Integrand.of(real(sigma), real(up), real(down), c)


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
        true = moment((direction, step.sigma.fraction, real(q).fraction), mpc(c, u))
        slack = mpf(10) ** -22 * moment((direction, step.sigma.fraction, real(q).fraction), mpf(c))
        if u:
            found = step.moments(c, u, 1, 90.0)[1]
            assert holds(found.real, mp.re(true), slack)
            assert holds(found.imag, mp.im(true), slack)
        else:
            assert holds(step.moment(c, 90.0), mp.re(true), slack)


def test_both_laws_may_be_mixtures():
    """The moments of ``(P, Q)`` at ``s`` are those of ``(Q, P)`` at ``-1 - s``."""
    step = GaussianMixture(real(2), real("1/5"), real("1/7"))
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
    rule = Shape(float(real(sigma).fraction), 0.1, 0.0).oblique(1.5, 60.0)
    with balls.precision(BITS):
        moment_there = real_moment(
            f, Shape(float(real(sigma).fraction), 0.1, 0.0).positive(1.5, 60.0)
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
        for first, last in [(0, 80), (-80, 4), (-80, -4), (4, 80)]:
            with pytest.raises(TooExpensive, match="inside the bulk"):
                positive_sum(f, Rule(0.0, 3.0, 0.25, first, last, 80, 0.0), 0.0)
        with pytest.raises(TooExpensive, match="too coarse"):
            real_moment(f, Rule(0.0, 3.0, 9.0, -9, 9, 19, 0.0))


def test_orders_below_minus_one_half_push_to_the_left():
    """For ``c < 0`` the denominator mixture makes the integrand rise slowly on the left."""
    f = integrand("1/2", "0", "1/2", -0.9)
    with balls.precision(BITS), pytest.raises(TooExpensive, match="inside the bulk"):
        positive_sum(f, Rule(0.0, 1.0, 0.25, -7, 80, 87, 0.0), 0.0)
