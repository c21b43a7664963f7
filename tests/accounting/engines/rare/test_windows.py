"""Windows and their bounds against mpmath's incomplete gamma function."""

import math

import pytest
from flint import acb, arb
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpc, mpf

from dpexact import balls
from dpexact.accounting.engines.rare.windows import Window, flat, lower_tail, upper_tail

BITS = 300


def true(window, value):
    """``W`` at a complex logarithm."""

    def above(v):
        return mp.exp(-v) * mp.fsum(v**j / mp.factorial(j) for j in range(window.shape))

    def over(scale):
        return mp.exp(window.root * (value - mp.log(scale)))

    high = mpf(1) if window.high is None else above(over(window.high))
    return high if window.low is None else high - above(over(window.low))


WINDOWS = [Window(7, 0.5), Window(30, None, 0.1), Window(30, 2.0, 0.25), Window(12)]
WINDOWS += [Window(20, 8.0, None, 0.25), Window(20, 32.0, 0.125, 0.125)]


@settings(max_examples=60, deadline=None)
@example(WINDOWS[4], 6.0, 0.0, 8.0)
@given(st.sampled_from(WINDOWS), st.floats(-6, 6), st.floats(0, 1.5), st.floats(0, 8))
def test_bounds_hold_above_the_axis(window, log, angle, power):
    with mp.workdps(60), balls.precision(BITS):
        # the root is turned by less than a right angle
        angle /= window.root
        ratio = mp.exp(mpf(log))
        height = abs(true(window, mpc(log, angle)))
        here, turn = arb(log).exp(), arb(angle)
        found = window.at((window.root * acb(log, turn)).exp(), BITS)
        size = balls.to_enclosure(found.abs_upper()).to_mpmath(50)[1]
        assert size <= height * (1 + mpf(10) ** -12) + mpf(10) ** -40
        slack = 1 + mpf(10) ** -12

        def top(ball):
            return balls.to_enclosure(ball).to_mpmath(50)[1] * slack

        scaled = window.at((window.root * arb(log)).exp() * (window.root * turn).cos(), BITS)
        assert height <= top(window.turned(turn) * scaled) + mpf(10) ** -60
        for end in (here, 2 * here):
            assert height <= top(window.below(turn, end, arb(0))) + mpf(10) ** -60
            steep = window.steepest(turn, end, power)
            bound = window.below(turn, end, steep)
            assert steep <= power
            assert ratio ** -mpf(float(steep)) * height <= top(bound) + mpf(10) ** -40
        if window.high is not None:
            for one in (0, 1):
                bound = window.ceiling(arb(power), turn, here / 2, one)
                assert (one + ratio) ** mpf(power) * height <= top(bound) + mpf(10) ** -60


@pytest.mark.parametrize(("one", "power"), [(0, 8), (1, 8), (3, 8), (3, 30)])
@pytest.mark.parametrize("start", [0.001, 1.5])
def test_a_ceiling_is_above_all_that_is_beyond_and_not_far_above(one, power, start):
    window = Window(7, 0.1)
    with mp.workdps(40), balls.precision(BITS):
        logs = [mp.log(start) + mpf(i) / 20 for i in range(180)]
        most = max((one + mp.exp(x)) ** power * true(window, x).real for x in logs)
        bound = balls.to_enclosure(window.ceiling(arb(power), arb(0), arb(start), one))
        assert most <= bound.to_mpmath(30)[1] <= 20 * most


def test_no_window_bounds_steeper_powers_than_its_own():
    window = Window(20, 32.0, 0.125, 0.125)
    with balls.precision(BITS):
        assert window.below(arb(0), arb("0.125"), arb("2.3")).is_finite()
        assert not window.below(arb(0), arb("0.125"), arb("2.4")).is_finite()
        assert not Window(20, 8.0).below(arb(0), arb(1), arb("0.1")).is_finite()
        with pytest.raises(ValueError, match="strip"):
            window.turned(arb(13))


def test_a_window_that_leaves_large_values_in_bounds_no_growth():
    with balls.precision(64), pytest.raises(ValueError, match="large losses"):
        Window(5, low=1.0).ceiling(arb(1), arb(1), arb(0))


@pytest.mark.parametrize("shape", [1, 20, 120])
def test_tails_of_the_gamma_law(shape):
    with mp.workdps(40), balls.precision(200):
        for share in (0.05, 0.5, 0.9, 1.1, 2.0, 5.0):
            v = shape * share
            above = mp.gammainc(shape, v, mp.inf, regularized=True)
            for kappa in (0.1, 0.5, 0.9):
                bound = balls.to_enclosure(upper_tail(arb(v), arb(kappa), shape)).to_mpmath(30)[1]
                assert above <= bound
            least = balls.to_enclosure(lower_tail(arb(v), shape)).to_mpmath(30)[1]
            assert 1 - above <= least
            if share < 1:
                less = mp.gammainc(shape, 0, v, regularized=True)
                assert least < 40 * math.sqrt(shape) * less


@pytest.mark.parametrize("shape", [1, 2, 20, 60])
@pytest.mark.parametrize("angle", ["0", "0.4", "1.57"])
def test_a_window_is_flat_where_losses_are_small(shape, angle):
    """The slack holds what is left out, and where it is attained nearly nothing else."""
    bits, turn = 100, mp.expj(mpf(angle))
    with mp.workdps(120):
        size = mp.exp((mp.loggamma(shape + 1) - bits * mp.log(2)) / shape) * mpf("0.999")
        rest = [mp.gammainc(shape, 0, at * turn, regularized=True) for at in (size, size / 1000)]
        small, smaller = (abs(value) for value in rest)
    with balls.precision(bits):
        point = arb(str(size))
        turned = acb(point * arb(angle).cos(), point * arb(angle).sin())
        found = Window(shape, high=1.0).tail(turned, bits)
        left_out = acb(arb(str(rest[0].real)), arb(str(rest[0].imag)))
        with balls.precision(400):
            assert (1 - left_out).real in found.real
            assert (1 - left_out).imag in found.imag
        bounds = [float(flat(at, shape)) for at in (point, point / 1000)]
        assert float(small) <= bounds[0] * (1 + 1e-12)
        assert bounds[1] * 0.98 <= float(smaller) <= bounds[1] * (1 + 1e-12)
