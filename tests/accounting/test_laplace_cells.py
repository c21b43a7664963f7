"""Few steps of Laplace noise on samples: against quadrature, the lattice, with coarse plans."""

from fractions import Fraction
from itertools import pairwise

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import scaled, to_fraction, to_mpf

import dpexact
from dpexact import PrecisionNotReached, balls
from dpexact.accounting import laplace_cells
from dpexact.accounting.laplace_cells import LaplaceCells, Operators, Pieces, Plan, planned
from dpexact.accounting.pairs.sampled_laplace import SampledLaplace
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real

WAYS = ("remove", "add")
BITS = 120


def pair(rate, q, way="remove"):
    return SampledLaplace(real(rate), real(q), way == "remove")


def cells(rate, q, count, way="remove", infinite=InfiniteLoss()):  # noqa: B008
    return LaplaceCells(pair(rate, q, way), count, infinite)


# --- the truth by quadrature ----------------------------------------------------------------------


def put(rate, q, count, x):
    """``E(1 - e^(x + S))_+`` under Q: the last step in closed form, the others by quadrature."""

    def w(loss):
        return 1 - q + q * mp.exp(loss)

    def loss_at(value):
        inside = (value - 1 + q) / q
        return min(max(mp.log(inside), -rate), rate) if inside > 0 else -rate

    scale = mp.exp(-rate / 2) / 4
    if count == 1:
        end, level = loss_at(mp.exp(-x)), mp.exp(x)
        gains = (1 - level * (1 - q)) * 2 * (mp.exp(rate / 2) - mp.exp(-end / 2))
        gains -= level * q * 2 * (mp.exp(end / 2) - mp.exp(-rate / 2))
        low, high = (max(mpf(0), 1 - level * w(at)) for at in (-rate, rate))
        return low / 2 + mp.exp(-rate) * high / 2 + scale * gains
    corners = {-rate, rate}
    for i in range(count):
        at = mp.exp(-x) / (w(rate) ** i * w(-rate) ** (count - 1 - i))
        corners.add(loss_at(at))
    inner = mp.quad(
        lambda loss: mp.exp(-loss / 2) * put(rate, q, count - 1, x + mp.log(w(loss))),
        sorted(corners),
    )
    low, high = (put(rate, q, count - 1, x + mp.log(w(at))) for at in (-rate, rate))
    return low / 2 + mp.exp(-rate) * high / 2 + scale * inner


@pytest.mark.parametrize(
    ("rate", "q", "count", "epsilon"),
    [
        ("1", "1/2", 2, "1/2"),
        ("3/2", "1/100", 2, "0.01"),
        ("1/10", "9/10", 2, "0.05"),
        pytest.param("1", "1/5", 3, "1/5", marks=pytest.mark.slow),
    ],
)
def test_few_steps_by_quadrature(rate, q, count, epsilon):
    with mp.workdps(24 if count == 2 else 15):
        r, p, at = (to_mpf(Fraction(x)) for x in (rate, q, epsilon))
        truths = {"add": put(r, p, count, at)}
        truths["remove"] = 1 - mp.exp(at) + mp.exp(at) * put(r, p, count, -at)
        slack = Fraction(1, 10 ** (18 if count == 2 else 9))
        for way, truth in truths.items():
            found = cells(rate, q, count, way).delta(real(epsilon), 15)
            assert found.digits >= 15
            assert found.lower - slack <= to_fraction(truth) <= found.upper + slack


# --- other routes ---------------------------------------------------------------------------------


@pytest.mark.slow
@settings(max_examples=scaled(12), deadline=None)
@given(
    st.sampled_from(["1/20", "1/2", "1", "2"]),
    st.sampled_from(["1e-6", "1/100", "1/2", "0.99"]),
    st.integers(2, 12),
    st.integers(0, 19),
    st.sampled_from(WAYS),
)
def test_the_lattice_engine_agrees(rate, q, count, place, way):
    """At a share of the largest loss."""
    text, found = f"poisson(laplace(1/({rate})), {q})^{count}", cells(rate, q, count, way)
    at = Fraction(place, 20) * found.largest_loss(15).lower
    value = found.delta(real(at), 10)
    assert value.digits >= 10
    try:
        other = dpexact.delta(text, at, 3, way, method="lattice")
    except PrecisionNotReached as error:
        other = error.best
    assert other.lower <= value.upper
    assert value.lower <= other.upper
    if value.upper < 1e-9:
        return
    epsilon = found.epsilon(real(value.lower), 8)
    assert epsilon.digits >= 8
    assert epsilon.upper >= at * Fraction(10**9 - 1, 10**9)


@pytest.mark.parametrize("way", WAYS)
def test_a_line_agrees_where_there_are_many_steps(way):
    text = "poisson(laplace(1), 1/10)^120"
    line = dpexact.delta(text, 1, 10, way, method="contour")
    found = cells("1", "1/10", 120, way).delta(real(1), 12)
    assert found.digits >= 12
    assert max(line.lower, found.lower) <= min(line.upper, found.upper)


def test_the_engine_is_asked_and_a_mass_beside_it_is_counted():
    for text in (
        "poisson(laplace(1), 1/10)^5",
        "approx_dp(0, 1/1000) * poisson(laplace(1), 1/10)^5",
    ):
        found = dpexact.delta(text, "1/10", 10)
        assert found.method == LaplaceCells.method
    alone, beside = (
        dpexact.delta(f"{more}poisson(laplace(1), 1/10)^5", "1/10", 12)
        for more in ("", "approx_dp(0, 1/1000) * ")
    )
    expected = (Fraction(1, 1000) + Fraction(999, 1000) * end for end in (alone.lower, alone.upper))
    low, high = expected
    assert low <= beside.upper
    assert beside.lower <= high


# --- corners and ends -----------------------------------------------------------------------------


@pytest.mark.parametrize("place", range(6))
def test_at_corners_and_next_to_them(place):
    """There the profile is known between its neighbours, of slope at most 1."""
    found = cells("1", "1/3", 5)
    with balls.precision(BITS):
        low, high = found.pair.ends()
        corner = -place * high - (5 - place) * low
        values = [found._put(corner + shift) for shift in (-9e-7, -1e-9, 0, 1e-9, 9e-7)]
        wide = found._put(corner + arb(0, 1e-6))
    for one, other in pairwise(values):
        assert one >= other or place == 0
        assert one - other <= 9.0001e-7
    assert all(wide.contains(value) for value in values)


def test_beyond_all_losses():
    found = cells("1", "1/3", 5, "add")
    with balls.precision(BITS):
        low, high = found.pair.ends()
        assert found._put(-5 * low + 1) == 0
        level = -5 * high - 1
        assert found._put(level).overlaps(1 - level.exp())
    assert found.delta(real(10), 5).upper == 0


def test_what_is_too_long_is_left_to_others():
    assert not LaplaceCells.takes(pair("20", "1/2"), 3)
    assert not LaplaceCells.takes(pair("1", "1/2"), laplace_cells.MAX_COUNT + 1)
    assert not LaplaceCells.takes(pair("1", 1 - Fraction(1, 10**30)), 3)
    short = cells("5", "1/2", 3)
    for answer in (short.delta(real(1), 60), short.epsilon(real("1e-60"), 30)):
        assert answer.digits == 0
        assert answer.reason == laplace_cells._TOO_LONG
    assert cells("1", "1/2", 3).finite_ball(arb.nan()).is_finite() is False


# --- error terms ----------------------------------------------------------------------------------

#: Of nodes, points and coefficients one is too few in each.
COARSE = {
    "nodes": Plan(3.0, 9, 9, 2.5, 50),
    "points": Plan(3.0, 60, 36, 2.5, 3),
    "kept": Plan(3.0, 60, 5, 2.5, 50),
}


@pytest.mark.parametrize("few", COARSE)
@pytest.mark.parametrize("count", [1, 4])
def test_coarse_plans_bound_their_errors(few, count):
    """And not by much more than they are."""
    step = pair("1", "1/3")
    with balls.precision(BITS):
        plan = planned(step)
        assert plan is not None
        fine = Pieces.of(Operators(step, plan), count)
        coarse = Pieces.of(Operators(step, COARSE[few]), count)
        assert coarse._error > 1e6 * fine._error
        apart = arb(0)
        for piece in range(count):
            for place in range(-20, 21):
                one, other = (x.value(piece, arb(place) / 20) for x in (fine, coarse))
                assert one.overlaps(other)
                apart = arb.max(apart, abs(one.mid() - other.mid()))
        assert apart > 1e4 * fine._error


def test_ellipses_beyond_the_bounds_are_refused():
    for plan in (Plan(20.0, 9, 9, 2.5, 50), Plan(3.0, 9, 9, 20.0, 50)):
        with balls.precision(BITS), pytest.raises(ArithmeticError):
            Operators(pair("1", "1/3"), plan)


@pytest.mark.parametrize("few", ["nodes", "points"])
def test_images_of_coarse_plans(few):
    """Of each polynomial, by both operators."""
    step = pair("1", "1/3")
    with balls.precision(BITS):
        coarse = Operators(step, COARSE[few])
        fine = Operators(step, COARSE["nodes"]._replace(nodes=60))
        for k in range(9):
            column = [arb(int(i == k)) for i in range(9)]
            error = coarse.error([[*column, *[arb(0)] * (COARSE[few].kept - 9)]])
            for one, other in ((coarse.low, fine.low), (coarse.high, fine.high)):
                image, truth = (
                    Pieces([[row[k] for row in rows.tolist()]], off)
                    for rows, off in ((one, error), (other, arb(0)))
                )
                for place in range(-20, 21):
                    at = arb(place) / 20
                    assert image.value(0, at).overlaps(truth.value(0, at))


def test_rounded_coefficients_are_counted():
    with balls.precision(BITS):
        steps = Operators(pair("1", "1/3"), Plan(3.0, 9, 2, 2.5, 9))
        column, lost = steps.shortened([arb(1, 1e-3), arb(2, 1e-4), arb(-1, 1e-5)])
        assert column == [arb(1), arb(2)]
        assert 1.00110 <= lost <= 1.00112


def test_the_piece_below_all_corners():
    with balls.precision(BITS):
        steps = Operators(pair("1", "1/3"), COARSE["nodes"])
        low, high = pair("1", "1/3").ends()
        for t in (0, 3):
            column, error = steps.outside(t)
            piece = Pieces([column], error)
            for place in range(-20, 21):
                at = arb(place) / 20
                truth = 1 - (low - t * high).exp() / (1 + at.expm1() / 3)
                assert piece.value(0, at).overlaps(truth)


def test_errors_of_steps_add_up():
    with balls.precision(BITS):
        steps = Operators(pair("1", "1/3"), COARSE["points"])
        one, many = (Pieces.of(steps, count)._error for count in (1, 50))
        assert many > 10 * one
