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
from dpexact.accounting.engines.laplace import cells as laplace_cells
from dpexact.accounting.engines.laplace.cells import LaplaceCells, Pieces, planned
from dpexact.accounting.engines.laplace.steps import Column, Plan, Steps
from dpexact.accounting.pairs.laplace import Laplace
from dpexact.accounting.pairs.sampled_laplace import SampledLaplace
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real

WAYS = ("remove", "add")
BITS = 120


def pair(rate, q, way="remove"):
    return SampledLaplace(((Laplace(real(rate)), 1),), real(q), way == "remove")


def cells(rate, q, count, way="remove", infinite=InfiniteLoss()):  # noqa: B008
    return LaplaceCells(pair(rate, q, way), count, infinite)


def value(column, place):
    (found,) = column.at([place])
    return found


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
    assert other.overlaps(value)
    if value.upper < 1e-9:
        return
    epsilon = found.epsilon(real(value.lower), 8)
    assert epsilon.digits >= 8
    assert epsilon.upper >= at * Fraction(10**9 - 1, 10**9)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.slow
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


def test_many_steps_of_much_noise_are_left_to_blurs_but_for_many_digits():
    """Pieces are as many as steps, and a line does not end, as most losses are at the ends."""
    found = dpexact.epsilon("poisson(laplace(100), 1/10)^3000", "1e-6", 10, "remove")
    assert (found.method, found.digits >= 10) == ("contour of atoms", True)
    text = "poisson(laplace(1600), 1/30)^160"
    few, many = (dpexact.epsilon(text, "1e-6", digits, "remove") for digits in (8, 15))
    assert (few.method, many.method) == ("contour of atoms", LaplaceCells.method)
    assert (many.digits >= 15, many.overlaps(few)) == (True, True)


@pytest.mark.parametrize(("delta", "asked"), [("1/100", []), ("1/500", [3])])
def test_an_epsilon_of_zero_is_told_by_a_bound_or_few_digits(delta, asked, monkeypatch):
    digits, ask = [], LaplaceCells.delta
    monkeypatch.setattr(LaplaceCells, "delta", lambda *a: digits.append(a[2]) or ask(*a))
    for way in WAYS:
        found = cells("1", "1/1000", 20, way)
        assert found.epsilon(real(delta), 10).upper == 0
        assert digits == asked
        digits.clear()


def test_infinite_loss_counts_where_epsilon_may_be_zero():
    found = cells("1", "1/1000", 5, "remove", InfiniteLoss(((real("1/200"), 1),)))
    assert 1 - found.pair.overlap() ** 5 < arb(13) / 2500
    assert (found._hides(real("13/2500")), found._hides(real("1/100"))) == (False, True)
    assert found.epsilon(real("13/2500"), 10).lower > 0
    assert found.epsilon(real("1/100"), 10).upper == 0


# --- corners and ends -----------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("place", range(6))
def test_at_corners_and_next_to_them(place, way):
    """There the profile is known between its neighbours, of slope at most 1."""
    found = cells("1", "1/3", 5, way)
    with balls.precision(BITS):
        low, high = found.pair.ends()
        corner = place * high + (5 - place) * low
        corner = corner if way == "remove" else -corner
        values = [found.finite_ball(corner + shift) for shift in (-9e-7, -1e-9, 0, 1e-9, 9e-7)]
        wide = found.finite_ball(corner + arb(0, 1e-6))
    for one, other in pairwise(values):
        assert one >= other or place in (0, 5)
        assert one - other <= 9.0001e-7
    assert all(wide.contains(value) for value in values)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_far_up_points_are_planned_once(monkeypatch, way):
    """Inside a piece delta is as sharp as its coefficients; the finest pieces serve all points."""
    monkeypatch.setattr(laplace_cells, "_ATTEMPTS", 1)
    laplace_cells._kept.cache_clear()
    profile, made = cells("1", "1/100", 50, way), []
    monkeypatch.setattr(laplace_cells, "Pieces", lambda *x: made.append(x[1]) or Pieces(*x))
    top = float(balls.approximate(profile.largest))
    points = [real(str(round(top * share, 6))) for share in (0.5, 0.97, 0.6, 0.9, 0.7, 0.8)]
    found = profile.deltas(points, 8)
    assert all(answer.digits >= 8 for answer in found)
    assert len(made) == len(set(made))
    assert all(a.overlaps(profile.delta(x, 8)) for a, x in zip(found, points, strict=True))


def test_many_targets_are_planned_for_by_few_precisions():
    planned.cache_clear()
    profile = cells("1", "1/20", 3)
    found = profile.epsilons([real(Fraction(1, 200 * k)) for k in range(1, 60)], 8)
    assert all(answer.digits >= 8 for answer in found)
    assert planned.cache_info().misses < 20


def test_many_targets_take_about_one_value_each(monkeypatch):
    asked, ask = [], LaplaceCells._finite_balls
    monkeypatch.setattr(LaplaceCells, "_finite_balls", lambda x, at: asked.extend(at) or ask(x, at))
    targets = [Fraction(k, 4 * 10**5) for k in range(1, 501)]
    found = dpexact.epsilon("poisson(laplace(1), 1/100)^2", targets, 6, "remove")
    assert len(asked) < 3 * len(targets)
    for at in range(0, 500, 120):
        assert found[at].digits >= 6
        alone = dpexact.epsilon("poisson(laplace(1), 1/100)^2", targets[at], 12, "remove")
        assert found[at].overlaps(alone)


def test_beyond_all_losses():
    for way, least in (("remove", 0), ("add", 1)):
        found = cells("1", "1/3", 5, way)
        with balls.precision(BITS):
            ends = [5 * x if way == "remove" else -5 * x for x in found.pair.ends()]
            assert found.finite_ball(ends[1 - least] + 1) == 0
            level = ends[least] - 1
            assert found.finite_ball(level).overlaps(1 - level.exp())
        assert found.delta(real(10), 5).upper == 0


def test_what_is_too_long_is_left_to_others():
    assert not LaplaceCells.takes(pair("40", "1/2"), 3)
    assert not LaplaceCells.takes(pair("1", "1/2"), laplace_cells.MAX_COUNT + 1)
    assert not LaplaceCells.takes(pair("1", 1 - Fraction(1, 10**30)), 3)
    short = cells("5", "1/2", 3)
    for answer in (short.delta(real(1), 90), short.epsilon(real("1e-60"), 90)):
        assert answer.digits == 0
        assert answer.reason == laplace_cells._TOO_LONG
    assert cells("1", "1/2", 3).finite_ball(arb.nan()).is_finite() is False


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.slow
def test_any_tilt_encloses(way):
    """Of delta where it is tiny, and where it is not."""
    found = cells("2", "1/10", 6, way)
    for epsilon in ("0.1", "0.45"):
        answers = []
        for tilt in (-3.0, -0.1, 2.5):  # that of -0.1 has no float beside 1
            with balls.precision(200):
                found._tilt = tilt
                answers.append(found.finite_ball(balls.ball(real(epsilon))))
        assert all(one.overlaps(other) for one, other in pairwise(answers))
        assert all(one.rel_accuracy_bits() > 60 for one in answers)


# --- error terms ----------------------------------------------------------------------------------

#: Of nodes, points and coefficients one is too few in each.
COARSE = {
    "nodes": Plan(1.1, 9, 9, 0.9, 50),
    "points": Plan(1.1, 60, 36, 0.9, 3),
    "kept": Plan(1.1, 60, 5, 0.9, 50),
}


@pytest.mark.parametrize("few", COARSE)
@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("way", WAYS)
def test_coarse_plans_bound_their_errors(few, count, way):
    """And not by much more than they are."""
    step, theta = pair("1", "1/3", way), 0.5
    with balls.precision(BITS):
        fine = Pieces(step, theta, count, planned(step, theta, BITS))
        coarse = Pieces(step, theta, count, COARSE[few])
        apart = arb(0)
        for piece in range(count):
            one, other = fine.column(piece), coarse.column(piece)
            assert other.error > 1e6 * one.error
            for place in range(-20, 21):
                here, there = (value(x, arb(place) / 20) for x in (one, other))
                assert here.overlaps(there)
                apart = arb.max(apart, abs(here.mid() - there.mid()))
        assert apart > 1e4 * fine.column(0).error


def test_ellipses_beyond_the_bounds_are_refused():
    for plan in (Plan(3.0, 9, 9, 0.9, 50), Plan(1.1, 9, 9, 3.0, 50)):
        with balls.precision(BITS), pytest.raises(ArithmeticError):
            Steps(pair("1", "1/3"), 0.0, plan)


@pytest.mark.parametrize("few", ["nodes", "points"])
@pytest.mark.parametrize("theta", [-2.0, 0.0, 3.0])
def test_images_of_coarse_plans(few, theta):
    """Of each polynomial, by both operators."""
    step = pair("1", "1/3")
    with balls.precision(BITS):
        coarse = Steps(step, theta, COARSE[few])
        fine = Steps(step, theta, COARSE["nodes"]._replace(nodes=60))
        for k in range(9):
            units = [
                [Column([arb(int(i == k)) for i in range(x.kept)], arb(0))] for x in (coarse, fine)
            ]
            for one, other in ((coarse.low, fine.low), (coarse.high, fine.high)):
                (image,), (truth,) = coarse.images(one, units[0]), fine.images(other, units[1])
                for place in range(-20, 21):
                    at = arb(place) / 20
                    assert value(image, at).overlaps(value(truth, at))


@pytest.mark.parametrize("power", [-2.0, 0.0, 1.0, 3.0])
def test_one_goes_to_the_mass(power):
    """``E w^p`` under Q, by quadrature."""
    with balls.precision(BITS):
        steps = Steps(pair("1", "1/3"), power - 1, COARSE["nodes"])
        mass = steps.mass
        coarse = Steps(pair("1", "1/3"), power - 1, COARSE["points"]).mass
    with mp.workdps(30):
        weight = lambda x: (1 + (mp.exp(x) - 1) / 3) ** power  # noqa: E731
        truth = mp.quad(lambda x: mp.exp(-(x + 1) / 2) * weight(x) / 4, [-1, 1])
        truth += weight(-1) / 2 + mp.exp(-1) * weight(1) / 2
    for bound in (mass, coarse):
        assert truth <= mpf(str(bound.upper().str(30, radius=False))) + mpf(10) ** -28


def test_rounded_coefficients_are_counted():
    with balls.precision(BITS):
        steps = Steps(pair("1", "1/3"), 0.0, Plan(1.1, 9, 2, 0.9, 9))
        found = steps.shortened(Column([arb(1, 1e-3), arb(2, 1e-4), arb(-1, 1e-5)], arb(1)))
        assert found.coefficients == [arb(1), arb(2)]
        assert 2.00110 <= found.error <= 2.00112


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("theta", [-1.5, 0.0, 2.0])
def test_pieces_that_are_known(way, theta):
    sign = 1 if way == "remove" else -1
    with balls.precision(BITS):
        steps = Steps(pair("1", "1/3", way), theta, COARSE["nodes"])
        for base in (arb(-3), arb(0), arb(2)):
            column = steps.start(base)
            for place in range(-20, 21):
                at = arb(place) / 20
                y = base + (at.expm1() / 3).log1p()
                assert value(column, at).overlaps(-(theta * y).exp() * (sign * y).expm1())


def test_errors_of_steps_add_up():
    with balls.precision(BITS):
        one, many = (
            Pieces(pair("1", "1/3"), 1.0, count, COARSE["points"]).column(0).error
            for count in (1, 50)
        )
        assert many > 10 * one


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("calls", [1, 3, 7])
def test_an_interrupt_leaves_pieces_as_they_were(monkeypatch, calls, way):
    """What is kept outlives the question that was interrupted."""
    with balls.precision(BITS):
        pieces, truth = (Pieces(pair("1", "1/3", way), 0.0, 5, COARSE["nodes"]) for _ in range(2))
        pieces.column(0)
        images, left = Steps.images, [calls]

        def interrupted(self, side, columns):
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            return images(self, side, columns)

        with monkeypatch.context() as patch:
            patch.setattr(Steps, "images", interrupted)
            with pytest.raises(KeyboardInterrupt):
                pieces.column(3)
        for place in range(4):
            here, there = (value(x.column(place), arb(0.3)) for x in (pieces, truth))
            assert here.str(40, more=True) == there.str(40, more=True)


def test_a_tilt_enlarges_errors():
    with balls.precision(BITS):
        pieces = Pieces(pair("1", "1/3"), 4.0, 1, COARSE["nodes"])
        zeros = [arb(0)] * pieces._steps.kept
        pieces._known = [Column(zeros, arb(1))], [pieces.column(0)]
        error = pieces.column(1).error
        assert error >= 0.999 * pieces._steps.mass > 1


@pytest.mark.parametrize("side", ["low", "high"])
@pytest.mark.parametrize(("rate", "power"), [(1, 8), (1, -3), (4, 2)])
@pytest.mark.slow
def test_images_on_the_ellipse(side, rate, power):
    """By quadrature along another path, on which ``log(1 + u'')`` goes straight."""
    plan = Plan(1.1 / rate**0.5, 20, 9, 0.5, 60)
    with balls.precision(BITS):
        errors = [float(x) for x in getattr(Steps(pair(rate, "1/3"), power - 1, plan), side).errors]
    end = -rate if side == "low" else rate
    share = 4 * mp.exp(plan.rho * (1 - plan.nodes)) / (mp.exp(plan.rho) - 1)

    def weight(u):
        return (2 * (1 + u) / 3) ** power

    for turn in (0, 0.8, 1.7, 2.8):
        place = rate * mp.cosh(mp.mpc(plan.rho, turn))
        here, there = (mp.log1p(mp.exp(x) / 2) for x in (place, mpf(end)))
        for k in (0, 3):

            def kernel(x, k=k, here=here, there=there):
                u, beside = (
                    mp.expm1(y) for y in (there + (here - there) * x, here + (there - here) * x)
                )
                value = weight(u) * (1 + u) / u / mp.sqrt(2 * u)
                return value * mp.chebyt(k, mp.log(2 * beside) / rate) * (here - there)

            image = mp.exp(-mpf(rate) / 2) / 4 * mp.quad(kernel, [0, 0.01, 0.1, 0.5, 0.9, 0.99, 1])
            image *= 1 if side == "low" else -1
            atom = weight(mp.exp(end) / 2) / 2 * (1 if side == "low" else mp.exp(-rate))
            image += atom * mp.chebyt(k, place / rate)
            assert share * abs(image) <= errors[k]
