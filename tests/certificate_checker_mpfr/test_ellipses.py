"""Logarithms of moments where rate and variance are complex, against sums of many terms."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from oracles import scaled

pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")

from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic, Rectangle
from dpexact.certificate_checker_mpfr.ellipses import bounds_of, near_one
from dpexact.certificate_checker_mpfr.interpolation import Places

A = Arithmetic(140)


def integrals(q, v, k, y):
    """``log int g A^k``, or of moduli on the line ``y`` above, for complex rates and variances.

    And the integral of the moduli of all but the first two terms of a series in the rate.
    """
    precision, shift = v.real, abs(np.angle(q) * np.tan(np.angle(v)))
    reach = shift + 10 / math.sqrt(precision)
    ends = -reach - 1 / (2 * precision), reach + (max(k.real, 0) + 2) / precision
    w, spacing = np.linspace(*ends, 24001, retstep=True)
    w = w - 1j * np.angle(q)
    density = np.sqrt(v / (2 * np.pi)) * np.exp(-(v * w * w + w + 1 / (4 * v)) / 2) * spacing
    one, other = (q * (np.exp(w + 1j * x) - 1) for x in (y, -y))
    orders = k / 2, np.conj(k) / 2 if y else k / 2
    powers = np.exp(orders[0] * np.log1p(one) + orders[1] * np.log1p(other))
    far = abs(density) @ abs(powers - 1 - orders[0] * one - orders[1] * other)
    return v * y * y / 2 + np.log(density @ powers), far, 1e-13 * (abs(density) @ abs(powers))


ratios = st.floats(1.05, 1.8)
radii = st.floats(1.2, 8)
turns = st.floats(0, 2 * math.pi)
LITTLE = (1e-4, 1.0, (1.05, 1.05), (1.2, 1.2), (0.0, 0.0), -5.0, 0.0, 0.6)
RARE = (0.035, 0.4, (1.01, 1.01), (1.2, 1.2), (0.0, 0.0), 3.0, 0.0, 0)
TURNED = (1e-5, 97.0, (1.45, 1.05), (3.9, 1.55), (1.5708, 4.7124), -0.33, 0.0, 0)


@example(*LITTLE)
@example(*RARE)
@example(*TURNED)
@settings(max_examples=scaled(400))
@given(
    st.floats(1e-4, 0.05),
    st.floats(0.4, 6),
    st.tuples(ratios, ratios),
    st.tuples(radii, radii),
    st.tuples(turns, turns),
    st.floats(-5, 6),
    st.floats(0, 40),
    st.sampled_from([0, 0, 0.03, 0.2, 0.6]),
)
def test_logarithms_on_ellipses_are_bounded(q, v, ratio, radius, turn, kappa, u, y):
    height = Fraction(y)
    exact = [(Fraction(x), Fraction(r)) for x, r in zip((q, v), ratio, strict=True)]
    places, pair = Places(exact, A), tuple(map(Fraction, radius))
    order = Rectangle(A.exact(Fraction(kappa)), A.exact(Fraction(u)))
    (bound,) = bounds_of(places, [order], A.exact(height), pair)
    assume(bound is not None)
    (q, v) = (
        x * np.exp(math.log(r) * (rho * np.exp(1j * t) + np.exp(-1j * t) / rho) / 2)
        for x, r, rho, t in zip((q, v), ratio, radius, turn, strict=True)
    )
    found, far, rounding = integrals(q, v, kappa + 1j * u, y)
    assert abs(found) <= float(bound.hi) + rounding
    most = float(exact[1][0]) * math.exp(math.log(ratio[1]) * (radius[1] + 1 / radius[1]) / 2)
    assert far <= -math.expm1(most * y * y / 2 - float(bound.hi)) + rounding


def test_bounds_on_ellipses_are_not_far_off():
    places = Places([(Fraction(1, 50), Fraction(6, 5)), (Fraction(3, 2), Fraction(6, 5))], A)
    order = Rectangle(A.exact(-1), A.exact(10))
    (bound,) = bounds_of(places, [order], A.exact(0), (Fraction(3), Fraction(3)))
    assert float(bound.hi) < 0.3
    assert abs(integrals(0.02 * 1.35, 1.5 / 1.35 + 0j, -1 + 10j, 0)[0]) > float(bound.hi) / 20


ANGLED = (5e-4, 1.136, 1.4228, -1.2667, -0.287, 0.0, 0.0)
HIGH = (8.8458e-5, 0.6008, 3.11, 0.0, 0.0, 9379.4, 0.0)
BELOW = (0.01144, 0.0, 24.767, 0.0, -577.9, 0.0, 0.0)


@example(*ANGLED)
@example(*HIGH)
@example(*BELOW)
@settings(max_examples=scaled(300))
@given(
    st.floats(-4, -0.5).map(lambda x: 10**x),
    st.just(0.0) | st.floats(0, 1.5),
    st.floats(-0.7, 2).map(lambda x: 10**x),
    st.just(0.0) | st.floats(-1.3, 1.3),
    st.floats(-100, 6),
    st.just(0.0) | st.floats(0, 200),
    st.sampled_from([0.0, 0.0, 0.03, 0.3, 1.2]),
)
def test_what_a_series_leaves_is_bounded_at_the_worst_ends(q, phi, v, theta, kappa, u, y):
    """Of one rate and one variance, where no end is worse than what is there."""
    exact = [A.exact(Fraction(x)) for x in (y, q, phi, v, abs(theta))]
    height, rate, angle, variance, turn = exact
    order = Rectangle(A.exact(Fraction(kappa)), A.exact(Fraction(u)))
    (bound,) = near_one([order], height, rate, angle, (variance, variance), turn)
    assume(bound is not None)
    k = kappa + 1j * u
    _, far, rounding = integrals(q * np.exp(1j * phi), v * np.exp(1j * theta), k, y)
    linear = q * abs((k * (np.exp(1j * y) - 1)).real)
    assert far + linear <= -math.expm1(v * y * y / 2 - float(bound.hi)) * (1 + 1e-9) + rounding
