"""Moments of windows against mpmath's quadrature, and bounds that must hold."""

import math

import pytest
from flint import arb
from mpmath import mp, mpc, mpf

from dpexact import balls
from dpexact.accounting.engines.rare.law import (
    Cells,
    Rule,
    SampledLaw,
    hats,
    normal_beyond,
    strip_oblique,
)
from dpexact.accounting.engines.rare.windows import Window
from dpexact.conversion import real

BITS = 200
FINE = [-6 + i / 40 for i in range(600)]
NEAR, MIDDLE, FAR = Window(20, 1e-4), Window(20, 1e-2, 1e-4), Window(20, None, 1e-2)


def integrand(window, rho):
    def above(v):
        return mp.exp(-v) * mp.fsum(v**j / mp.factorial(j) for j in range(window.shape))

    q, sigma = mpf(1) / 1000, mpf(1) / 2

    def f(x):
        ratio = q / (1 - q) * mp.exp(x / sigma - 1 / (2 * sigma**2))
        high = mpf(1) if window.high is None else above(ratio / window.high)
        low = mpf(0) if window.low is None else above(ratio / window.low)
        return mp.npdf(x) * (1 + ratio) ** rho * (high - low)

    return f


def moment(window, rho, fine=40):
    """A fine rule: its error is far below what is looked for."""
    f, step = integrand(window, rho), mpf(1) / fine
    return step * mp.fsum(f(j * step) for j in range(-11 * fine, 11 * fine + 1))


@pytest.mark.parametrize("window", [NEAR, MIDDLE, FAR])
@pytest.mark.parametrize("order", [-30.0, 0.0, 1.0, 4.0])
def test_cells_are_above_moments_and_next_to_them(window, order):
    if window is FAR and order > 1:
        pytest.skip("large losses need a window")
    with mp.workdps(30), balls.precision(BITS):
        cells = Cells(SampledLaw(real("1/2"), real("1/1000")), FINE)
        true = moment(window, order)
        bound = balls.to_enclosure(cells.bound(window, order)).to_mpmath(25)[1]
        assert true <= bound <= 1.3 * true


@pytest.mark.slow
@pytest.mark.parametrize("order", [-30.0, 3.0])
@pytest.mark.parametrize("window", [NEAR, MIDDLE])
def test_the_line_and_its_decay(window, order):
    with mp.workdps(30), balls.precision(BITS):
        law = SampledLaw(real("1/2"), real("1/1000"))
        rule, cells = Rule(0.1, 0.5, 0.02, -500, 500), Cells(law, FINE)
        line = law.line(window, order, 100.0, 2, rule, cells)
        for n in (0, 2):
            true = moment(window, mpc(order, 100 * n), 200)
            real_part, imag_part = (
                balls.to_enclosure(part).to_mpmath(25) for part in (line[n].real, line[n].imag)
            )
            assert real_part[0] - mpf(10) ** -20 <= true.real <= real_part[1] + mpf(10) ** -20
            assert imag_part[0] - mpf(10) ** -20 <= true.imag <= imag_part[1] + mpf(10) ** -20
            assert real_part[1] - real_part[0] < 1e-5
            for angle in (0.05, 0.3, 0.8):
                bound = cells.decayed(window, order, 100.0 * n, angle)
                assert abs(true) <= balls.to_enclosure(bound).to_mpmath(25)[1]


def test_refused():
    with balls.precision(BITS):
        law = SampledLaw(real("1/2"), real("1/1000"))
        cells = Cells(law, FINE)
        with pytest.raises(ValueError, match="order"):
            cells.bound(NEAR, 0.5)
        with pytest.raises(ValueError, match="strip"):
            cells.decayed(NEAR, 1.0, 0.0, 1.6)
        with pytest.raises(ValueError, match="strip"):
            law.line(NEAR, 2.0, 1.0, 1, Rule(0.3, 0.4, 0.03, -330, 330), cells)
        with pytest.raises(ValueError, match="increase"):
            Cells(law, [1.0, 1.0])


# --- error terms against the error itself ---------------------------------------------------------


def test_a_coarse_rule_is_off_by_what_is_granted():
    """Without losses the integrand is normal, and the error of a rule at a height is known."""
    t, a, top = 3.0, 0.3, 0.7
    with balls.precision(BITS):
        law = SampledLaw(real("1/2"), real(10) ** -40)
        whole = Window(20)
        rule = Rule(a, 2 * top, t, -9, 9)
        line = law.line(whole, 0.0, 1.0, 1, rule, Cells(law, FINE))
        assert line[0].real.contains(1)
        error = 2 * math.exp(-2 * math.pi**2 / t**2) * math.cosh(2 * math.pi * a / t)
        high = (arb(top) ** 2 / 2).exp()
        bound = strip_oblique(arb(a), arb(top), arb(t), arb(1), high)
        assert error < float(bound.mid())


def test_nodes_beyond_a_place():
    with balls.precision(BITS):
        for t in (0.1, 0.7):
            for place in (-2.0, -0.05, 0.0, 1.3):
                beyond = math.fsum(
                    t * math.exp(-((place + j * t) ** 2) / 2) / math.sqrt(2 * math.pi)
                    for j in range(1, 400)
                )
                assert beyond <= float(normal_beyond(arb(place), arb(t)).mid())


def test_a_fast_line_is_off_by_what_is_granted_below_it():
    """Large losses turn with the rule: nearly all that is granted for the axis is attained."""
    t, a, top = 0.5, 0.24, 0.78
    with mp.workdps(30), balls.precision(BITS):
        law = SampledLaw(real("1/2"), real("1/2"))
        height = math.pi / t
        rule = Rule(a, 2 * top, t, -30, 30)
        line = law.line(Window(20), 1.0, height, 1, rule, Cells(law, FINE))

        def f(x):
            return mp.npdf(x) * (1 + mp.exp(2 * x - 2)) ** mpc(1, height)

        true = mp.quad(f, [-12, -4, 0, 2, 4, 8, 14])
        real_part, imag_part = (
            balls.to_enclosure(part).to_mpmath(25) for part in (line[1].real, line[1].imag)
        )
        assert real_part[0] <= true.real <= real_part[1]
        assert imag_part[0] <= true.imag <= imag_part[1]
        # without it they would not
        high = 3 * (arb(top) ** 2 / 2).exp()
        above = strip_oblique(arb(a), arb(top), arb(t), arb(0), high)
        middle = mpc(*(float(part.mid()) for part in (line[1].real, line[1].imag)))
        missed = max(abs((true - middle).real), abs((true - middle).imag))
        assert above < 0.01 < missed


@pytest.mark.parametrize("order", [-40.0, -2.0, 1.0, 3.0, 25.0])
def test_a_chord_is_above_what_is_convex(order):
    with mp.workdps(30), balls.precision(BITS):
        for a, b in ((0.0, 0.4), (0.1, 0.9)):
            ends = [(arb(x), (arb(order) * arb(x).log1p()).exp()) for x in (a, b)]
            # phi constant over lambda: all of it is elementary
            mass, tilted = arb(b - a), (arb(b) ** 2 - arb(a) ** 2) / 2
            left, right = hats(ends[0][0], ends[1][0], mass, tilted)
            bound = float((left * ends[0][1] + right * ends[1][1]).mid())
            true = mp.quad(lambda x: (1 + x) ** order, [a, b])
            assert bound >= true * (1 - mpf(10) ** -12)


@pytest.mark.parametrize("order", [1.0, 1.2, 3.0, 40.0])
def test_a_modulus_is_convex_however_fast_it_turns(order):
    """Its second derivative is that of the proof, and never below zero."""
    with mp.workdps(40):
        for theta, u in ((0.1, 0.0), (0.1, 20.0), (0.7, 0.3), (0.7, 9.0), (1.5, 1.0), (1.5, 200.0)):

            def modulus(x, theta=theta, u=u):
                turned = 1 + x * mp.exp(1j * mpf(theta))
                return abs(turned) ** order * mp.exp(-u * mp.arg(turned))

            cosine, sine = mp.cos(theta), mp.sin(theta)
            slope = order * cosine - u * sine
            bend = (slope - cosine) ** 2 + order - cosine**2
            assert mp.almosteq(mp.diff(modulus, 0, 2), bend, mpf(10) ** -12)
            assert all(mp.diff(modulus, x, 2) >= 0 for x in (0, 0.01, 0.3, 1, 4, 50))


@pytest.mark.parametrize("u", [0.0, 0.4, 3.0])
@pytest.mark.parametrize("order", [-3.0, -1.0, -0.5, 1.0, 2.0])
def test_one_wide_cell_above_the_axis(order, u):
    """Where the modulus itself is not convex, what is above it is; all other cells are narrow."""
    with mp.workdps(30), balls.precision(BITS):
        law = SampledLaw(real(1), real("1/2"))
        window, theta = Window(20, 1.0 if order > 1 else None), 1.3

        def f(x):
            turned = mp.exp(x - 0.5 + 1j * theta)
            v = mpc(0) if window.high is None else turned / window.high
            height = abs(mp.exp(-v) * mp.fsum(v**j / mp.factorial(j) for j in range(20)))
            return mp.npdf(x) * abs((1 + turned) ** mpc(order, u)) * height

        cells = Cells(law, [-0.416 + i / 40 for i in range(400)])
        true = mp.exp(theta**2 / 2) * mp.quad(f, [-12, -3, -1, 0, 1, 2, 4, 8, 14])
        bound = balls.to_enclosure(cells.decayed(window, order, u, theta)).to_mpmath(25)[1]
        assert true <= bound
        fine = Cells(law, [-6 + i / 40 for i in range(540)])
        close = balls.to_enclosure(fine.decayed(window, order, u, theta)).to_mpmath(25)[1]
        assert true <= close
