"""Epsilon along a run against that of each beginning asked alone, and against other engines."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from random import Random

import pytest
from command_line import invoke
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from dpexact import epsilon, epsilon_along, gaussian, parse, poisson
from dpexact.accounting.along import first
from dpexact.accounting.engines.contour import along
from dpexact.accounting.engines.contour.along import (
    _along,
    _bound,
    _passed_down,
    _reversed,
    epsilons_along,
)
from dpexact.accounting.engines.contour.inversion import Contour
from dpexact.accounting.engines.contour.planning import Plan
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.engines.contour.profile import MAX_WORK, ContourProfile
from dpexact.accounting.engines.contour.run_curve import _Beginning, _Between, _Cut, _Way, run_curve
from dpexact.accounting.pairs.bundle import BUNDLE, Bundle
from dpexact.accounting.pairs.clouds import boxes
from dpexact.accounting.pairs.clouds.cubature import Cloud, Degrees
from dpexact.accounting.pairs.mixture import GaussianMixtures, add, remove
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.prefix import Prefix
from dpexact.accounting.profiles import repeated
from dpexact.balls import precision
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Mechanism
from dpexact.mechanisms.base import compose
from dpexact.mechanisms.table import Table
from dpexact.reals import rational
from dpexact.training.history import from_opacus_history, from_rows

STEPS = st.sampled_from(
    [
        poisson(gaussian("1.1"), "0.02"),
        poisson(gaussian("0.8"), "0.1"),
        poisson(gaussian(3), "0.3"),
        poisson(gaussian(1), 0),
        poisson(gaussian(1), 1),
        gaussian(4),
        gaussian("1e6"),
        poisson(gaussian(2, 3), "0.01"),
    ]
)


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(
    st.lists(st.tuples(STEPS, st.integers(1, 40)), min_size=2, max_size=5),
    st.sampled_from(["remove", "add", "both"]),
    st.randoms(use_true_random=False),
)
def test_every_point_is_that_of_the_beginning_alone(
    rows: list[tuple[Mechanism, int]], direction: str, random: Random
) -> None:
    run = compose(*(step**n for step, n in rows))
    total = sum(n for _, n in rows)
    counts = [1, total, *(random.randint(1, total) for _ in range(3))]
    found = epsilon_along(run, counts, "1e-5", 6, direction)
    for count, one in zip(counts, found, strict=True):
        alone = epsilon(first(run, count), "1e-5", 6, direction)
        assert one.digits >= 6
        one.meet(alone)


@pytest.mark.slow
def test_points_are_those_of_the_lattice() -> None:
    rows = [(poisson(gaussian(1), "0.2"), 3), (poisson(gaussian(2), "0.1"), 4)]
    run = compose(*(step**n for step, n in rows))
    (one,) = epsilon_along(run, [4], "1e-3", 5, "remove")
    assert one.digits >= 5
    one.meet(epsilon(first(run, 4), "1e-3", 2, "remove", method="lattice"))


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("noise", ["0.7", "2"])
def test_bounds_of_other_beginnings_hold(noise: str, removes: bool) -> None:
    rows = [(rational(Fraction("0.3")), rational(Fraction(noise)), n) for n in (3, 1, 2)]
    way = _Way(_Cut(rows, [3, 4, 6]), removes)
    way.last_alike = [0, 2, 2]
    for c in (0.5, 1.75, 4.0):
        plan = Plan(c, 0.25, 8, 40.0, 40.0, 160, 0, shared=True)
        with precision(160):
            shortest, between = (_Beginning(way, place).line(plan) for place in (0, 1))
            own = Contour(between.product, plan)
            assert isinstance(between, _Between)
            assert shortest._shorter is None
            for order in (c, 1.5 * c, 3 * c, c / 2, -0.5):
                assert own.moment(order) <= between.moment(order) * (1 + arb(2) ** -40)
            for order in (0.25, 3.0):
                assert own.reverse_moment(order) <= between.reverse_moment(order)
            # what is known of a run is worth something to the others
            assert own.left_out <= between.left_out < own.start
            assert between.moment(1.5 * c) < between._longer.moment(1.5 * c)


def test_a_longer_run_bounds_no_decay() -> None:
    """Whichever was asked first."""
    way = _Way(_Cut([(rational(Fraction("0.3")), rational(2), 6)], [2, 6]), True)
    plan = Plan(0.5, 0.25, 8, 40.0, 40.0, 160, 0, shared=True)
    with precision(160):
        assert _Beginning(way, 1).line(plan).left_out < 1
        before = _Beginning(way, 0).line(plan)
        assert before.left_out.overlaps(Contour(before.product, plan).left_out)


def test_a_beginning_has_bounds_of_its_own_where_it_asks_for_them() -> None:
    """And so have those before it, its own, and none after it."""
    way = _Way(_Cut([(rational(Fraction("0.3")), rational(2), 6)], [2, 3, 4, 6]), True)
    way.last_alike = [0, 3, 3, 3]
    plan = Plan(0.5, 0.25, 8, 40.0, 40.0, 160, 0, shared=True)
    with precision(160):
        assert _Beginning(way, 0).line(plan).product.factors
        assert _Beginning(way, 2).line(plan)._longer is not None
        assert _Beginning(way, 2).bounded_alone()
        assert way.last_alike == [0, 2, 2, 3]
        assert not way.orders
        own, before = (_Beginning(way, place).line(plan) for place in (2, 1))
    assert own._longer is None
    assert before._longer is own
    assert own._orders is before._orders
    assert not _Beginning(way, 2).bounded_alone()


def test_a_schedule_of_less_noise_and_larger_rates_has_few_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bounds of a longer run, far heavier at its end, ended each of four lines."""
    plans, planned = [], along._shared_plan
    monkeypatch.setattr(along, "_shared_plan", lambda *a: plans.append(a) or planned(*a))
    rows = [
        (rational(Fraction(150 + k, 25_000)), rational(Fraction(3, 2) - Fraction(k, 800)), 1)
        for k in range(600)
    ]
    counts = range(30, 601, 30)
    found = epsilons_along(lambda n: run_curve(rows, n, "remove"), counts, real("1e-6"), 8)
    assert len(plans) == 2
    for n in (120, 360):
        alone = run_curve(rows, [n], "remove")[0](n).epsilon(real("1e-6"), 8)
        found[counts.index(n)].meet(alone)


def log_of(seed: int, rows: int, times: int) -> Mechanism:
    random = Random(seed)
    return from_rows(
        [
            (f"1.{random.randrange(10**6):06}", f"0.00{random.randrange(2, 4)}{i:03}", times)
            for i in range(rows)
        ],
        ordered=True,
    )


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_beginnings_of_a_long_log_are_those_of_their_steps(
    direction: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, counts = log_of(3, 6, 4000), [2000, 14000, 24000]
    alone = [epsilon(first(run, count), "1e-6", 5, direction) for count in counts]
    monkeypatch.setattr(boxes, "FEWEST_STEPS", 6)
    for one, other in zip(epsilon_along(run, counts, "1e-6", 5, direction), alone, strict=True):
        assert one.digits >= 5
        one.meet(other)


def test_sums_that_go_on_are_those_from_the_start() -> None:
    points = [
        (rational(1) / (300 + k), rational(1) + rational(k) / 70, 1 + k % 3) for k in range(9)
    ]
    ends, degrees = [2, 5, 9], Degrees((3, 2, 1))
    with precision(100):
        along = Cloud(points, ends)
        for place in range(3):
            found = along.first(place).moments(degrees, [place])
            alone = Cloud(points, ends).first(place).moments(degrees, [place])
            assert all(x.overlaps(y) for [x], [y] in zip(found, alone, strict=True))


def test_sums_over_first_points_are_those_of_their_cloud() -> None:
    random = Random(5)
    points = [
        (rational(1) / (300 + random.randrange(99)), rational(1) + rational(k) / 70, 1 + k % 3)
        for k in range(30)
    ]
    whole, degrees = Cloud(points, [1, 4, 25, 30]), Degrees((3, 2, 1))
    with precision(100):
        for place, end in enumerate((1, 4, 25, 30)):
            found = whole.first(place)
            assert found.total == sum(n for _, _, n in points[:end])
            assert list(found.points) == points[:end]
            rates, noises = found.axes(degrees)
            places = [(rates[j], noises[k]) for j, k in degrees]
            [weights] = found.weights(degrees, [found.place])
            q, sigma = whole.sides
            for j, k in degrees:
                one = sum(n * q.scaled(x) ** j * sigma.scaled(y) ** k for x, y, n in points[:end])
                other = sum(
                    w * q.scaled(x) ** j * sigma.scaled(y) ** k
                    for w, (x, y) in zip(weights, places, strict=True)
                )
                assert one.overlaps(other)
                assert abs(one - other) < arb("1e-15")
            squares = sum((n * rational(1) * y * y for _, y, n in points[:end]), rational(0))
            assert found.lengths()[2].overlaps(
                arb(squares.value.numerator) / squares.value.denominator
            )


@pytest.mark.slow
def test_few_steps_share_a_line_where_the_saddle_point_misleads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The line was placed where it served none, and each number of steps took one of its own."""
    rows = [(f"1.{100 + i}", f"0.001{i:02d}", 1) for i in range(60)]
    alone = [epsilon(from_rows(rows[:n]), "1e-6", 6, "remove") for n in (30, 60)]
    monkeypatch.setattr(ContourProfile, "epsilon", None)
    for found, one in zip(
        epsilon_along(from_rows(rows, ordered=True), [30, 60], "1e-6", 6, "remove"),
        alone,
        strict=True,
    ):
        found.meet(one)


def test_beginnings_of_a_wide_log_share_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Floats saw means of steps that differ much, and took a dozen lines for each beginning."""
    random, lines, once = Random(1), [], Contour.__init__
    rows = [
        (f"{random.uniform(0.6, 3):.3f}", f"{10 ** random.uniform(-4, -2):.6f}", 1)
        for _ in range(360)
    ]
    monkeypatch.setattr(Contour, "__init__", lambda *a: lines.append(a) or once(*a))
    found = epsilon_along(from_rows(rows, ordered=True), [240, 300, 360], "1e-6", 6, "remove")
    assert len(lines) == 3
    found[0].meet(epsilon(from_rows(rows[:240]), "1e-6", 4, "remove"))


@pytest.mark.parametrize(("rate", "lines"), [("4e-6", 0), ("0.01", 1)])
def test_beginnings_of_a_rare_log_share_no_line(rate, lines, monkeypatch) -> None:
    """The line of 45 steps took a minute, and their windows a second."""
    asked, once = [], along.epsilons_along
    monkeypatch.setattr(along, "epsilons_along", lambda *a: asked.append(a) or once(*a))
    run = from_rows([(f"1.{i}", rate, 1) for i in range(12)], ordered=True)
    found = epsilon_along(run, [9, 12], "1e-6", 4, "remove")
    assert len(asked) == lines
    assert [x.digits >= 4 for x in found] == [True, True]
    for one, n in zip(found, (9, 12), strict=True):
        one.meet(epsilon(first(run, n), "1e-6", 4, "remove"))


@pytest.mark.parametrize(("rows", "times"), [(50, BUNDLE), (5, 1)])
def test_a_bundle_is_worth_as_much_work_here_as_alone(rows: int, times: int) -> None:
    """With less the line of a wide rare log gave two digits, and all were asked for once more."""
    run = log_of(1, rows, 20)
    steps = [(q, sigma, n) for sigma, q, n in run.rows] if isinstance(run, Table) else []
    (way,) = run_curve(steps, [rows * 20], "add")
    found = way(rows * 20)
    assert isinstance(found, ContourProfile)
    assert found.max_work == times * MAX_WORK
    ((pair, _),) = found.product.factors
    assert isinstance(pair, Bundle if times > 1 else Prefix)


def test_what_is_proposed_once_serves_all_beginnings(monkeypatch: pytest.MonkeyPatch) -> None:
    """One plan, decays of one beginning, and no step by itself, however few have run."""
    random, plans, decays = Random(2), [], []
    rows = [
        (f"{random.uniform(0.9, 1.1):.5f}", f"{random.uniform(0.01, 0.02):.6f}", 1)
        for _ in range(300)
    ]
    once, estimate = along.planned, Bundle.decay_estimate
    monkeypatch.setattr(along, "planned", lambda *a, **k: plans.append(a[0]) or once(*a, **k))
    monkeypatch.setattr(
        Bundle, "decay_estimate", lambda self, c: decays.append(self._place) or estimate(self, c)
    )
    monkeypatch.setattr(GaussianMixtures, "moments", lambda *_: pytest.fail("one by one"))
    counts = range(60, 301, 10)
    found = epsilon_along(from_rows(rows, ordered=True), counts, "1e-6", 6, "remove")
    assert all(answer.digits >= 6 for answer in found)
    assert [len(asked) for asked in plans] == [2]
    assert len(set(decays)) == 2  # of the first and the last, for the plan


@pytest.mark.slow
@pytest.mark.parametrize(
    "noise",
    [
        pytest.param(lambda i: 2 - i / 1500, id="that falls"),
        pytest.param(lambda i: 2 if i < 750 else 0.9, id="that falls once"),
    ],
)
def test_beginnings_of_a_schedule_share_lines(noise, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds of a longer run, at orders that suit a shorter, served none: each had two lines."""
    rows = [(f"{noise(i):.6f}", f"{0.004 + i * 1e-7:.9f}", 1) for i in range(1500)]
    counts, asked, once = range(500, 1501, 25), [], ContourProfile.epsilon
    monkeypatch.setattr(
        ContourProfile, "epsilon", lambda self, *a: asked.append(self) or once(self, *a)
    )
    found = epsilon_along(from_rows(rows, ordered=True), counts, "1e-6", 8, "remove")
    assert len(asked) <= 1
    for n in (500, 725, 750, 775, 1475):
        found[counts.index(n)].meet(epsilon(from_rows(rows[:n]), "1e-6", 8, "remove"))


def test_orders_of_aliases_that_are_too_dear_are_lowered(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask() -> Enclosure:
        return epsilon("poisson(gaussian(1), 0.01)^1000", "1e-6", 8, direction="remove")

    truth, asked = ask(), []
    whole = Product.moment

    def dear(self: Product, order: float, accuracy: float, repeat: int = 1) -> arb:
        is_reverse = self.largest_loss(1) is not None
        if is_reverse and order > 10:
            asked.append(order)
            raise TooExpensive("an order")
        return whole(self, order, accuracy, repeat)

    monkeypatch.setattr(Product, "moment", dear)
    found = ask()
    assert asked
    assert found.meet(truth).digits >= 8


@pytest.mark.parametrize("single", [remove, add])
def test_a_beginning_is_the_product_of_its_steps(single) -> None:
    steps = [(single(rational(1 + k), rational(1) / (5 + k)), 1 + k) for k in (0, 1, 0, 2, 3)]
    before = None
    for end in range(1, 6):
        before = Prefix(before, steps[end - 1 : end], 15)
        whole = Product(steps[:end])
        with precision(100):
            assert before.moment(1.5, 40.0).overlaps(whole.moment(1.5, 40.0))
            assert before.reverse.moment(1.5, 40.0).overlaps(whole.reverse.moment(1.5, 40.0))
            line = before.moments(1.5, 0.5, 4, 40.0)
            for n, value in enumerate(line):
                exact = 1
                for pair, times in steps[:end]:
                    exact = exact * pair.moments(1.5, 0.5, 4, 40.0)[n] ** times
                assert value.overlaps(exact)
                assert value.abs_upper() - value.abs_lower() < 1e-10
            assert before.decayed(1.5, 2.0, 8.0) >= abs(line[4]).lower()
            largest = whole.largest_loss(1)
            found = before.largest_loss()
            assert (found is None) == (largest is None)
            assert found is None or found.overlaps(largest)
            assert before.overlap() <= 1
        assert before.cumulant(2.0).value == pytest.approx(whole.cumulant(2.0).value)


@pytest.mark.parametrize(
    ("run", "steps", "safe"),
    [
        ("poisson(gaussian(1), 0)^3 * poisson(gaussian(2), 0)^3", [1, 6], ["0", "0"]),
        ("gaussian(1)^2 * approx_dp(0, 1) * gaussian(1)", [1, 3], ["4.377179", "inf"]),
        ("gaussian(1e300)^3 * gaussian(1)", [3, 4], ["0", "4.377179"]),
        ("gaussian(1)^3 * laplace(1)", [1], ["4.377179"]),
        ("gaussian(1)", [1], ["4.377179"]),
        ("gaussian(1) * gaussian(1)", [], []),
    ],
)
def test_extreme_runs(run: str, steps: list[int], safe: list[str]) -> None:
    assert [found.safe() for found in epsilon_along(run, steps, "1e-5", 8)] == safe


def test_targets_at_the_ends() -> None:
    run = "poisson(gaussian(1), 0.1)^3 * gaussian(10)^5"
    assert [e.safe() for e in epsilon_along(run, [1, 8], 0)] == ["inf", "inf"]
    assert [e.safe() for e in epsilon_along(run, [1, 8], 1)] == ["0", "0"]


@pytest.mark.parametrize("steps", [[0], [9], ["x"], range(1, 1100)])
def test_counts_out_of_the_run_are_refused(steps) -> None:
    run = parse("gaussian(1)^2000 * gaussian(2)") if len(steps) > 1 else "gaussian(1)^3*gaussian(2)"
    with pytest.raises(InvalidInput, match="steps: "):
        epsilon_along(run, steps, "1e-5")


def test_progress_counts_the_points() -> None:
    seen: list[tuple[int, int]] = []
    run = "poisson(gaussian(1), 0.1)^30 * gaussian(10)^50"
    epsilon_along(run, [30, 40, 80], "1e-5", 5, progress=lambda *now: seen.append(now))
    assert [total for _, total in seen] == [6] * len(seen)  # both directions
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[:3] == [(1, 6), (2, 6), (3, 6)]
    assert seen[-1] == (6, 6)


def test_bounds_of_a_direction_serve_fewer_steps_and_no_more() -> None:
    nothing, asked = Enclosure(Fraction(0), math.inf), Enclosure(Fraction(1), Fraction(2))
    found = _passed_down({1: nothing, 2: asked, 3: nothing})
    assert (found[1].lower, found[1].upper) == (0, 2)
    assert found[2] == asked
    assert found[3] == nothing


@pytest.mark.parametrize("delta", ["1e-3", "1e-8"])
def test_what_bounds_a_direction_is_no_less_than_it_and_decides_nothing_else(delta: str) -> None:
    """Whichever direction is asked second, over groups of numbers of steps, and both share it."""
    rows = [(rational(Fraction(n, 1000)), rational(Fraction(6 + n, 5)), 3) for n in range(1, 30)]
    target, counts = real(delta), [4, 9, 60, 70, 87]
    found = epsilons_along(lambda some: run_curve(rows, some, "both"), counts, target, 6)
    turned = epsilons_along(lambda some: run_curve(rows, some, "both")[::-1], counts, target, 6)
    loose = Enclosure(Fraction(1000), Fraction(1001))
    for way in run_curve(rows, counts, "both"):
        for n, one, other in zip(counts, found, turned, strict=True):
            one.meet(other)
            assert min(one.digits, other.digits) >= 6
            bound, truth = _bound(way(n), loose, target), way(n).epsilon(target, 6)
            assert bound is not None
            assert (bound.lower, bound.method) == (0, "Rényi bound")
            assert truth.upper <= bound.upper <= 2 * truth.upper + 1
            assert _bound(way(n), Enclosure(Fraction(truth.lower), math.inf), target) is None


def test_a_line_shows_that_the_other_direction_loses_less_where_it_does() -> None:
    """Its sums at ``-epsilon``, and not whatever else is known of them."""
    rows = [(rational(Fraction(n, 1000)), rational(Fraction(6 + n, 5)), 3) for n in range(1, 30)]
    target, counts = real("1e-8"), [60, 70, 87]
    ways = run_curve(rows, counts, "both")
    lines: list[dict[int, tuple[Contour, int]]] = [{}, {}]
    removed, added = (
        along._served(way, counts, target, 8, {}, known)
        for way, known in zip(ways, lines, strict=True)
    )
    for n in counts:
        assert removed[n].lower > added[n].upper
        bound = _reversed(lines[0][n], removed[n], target)
        assert bound is not None
        assert (bound.lower, bound.upper) == (0, removed[n].lower)
        assert _reversed(lines[1][n], added[n], target) is None
        far = Enclosure(Fraction(100), Fraction(101))
        assert _reversed(lines[0][n], far, target) is None  # floats say that it drowns
    assert _reversed(None, removed[60], target) is None


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize(
    ("step", "delta"),
    [("poisson(gaussian(1.53), 0.0612)", "0.108"), ("poisson(gaussian(3.29), 0.592)", "0.345")],
)
def test_a_line_of_equal_steps_is_asked_about_all_of_them(
    monkeypatch: pytest.MonkeyPatch, step: str, delta: str, order: int
) -> None:
    """What one step of the other direction loses is no bound, where that direction loses more."""
    shown, ask = [], along._reversed
    monkeypatch.setattr(along, "_reversed", lambda *a: shown.append(ask(*a)) or shown[-1])
    ways = repeated(parse(step), "both")
    assert ways is not None
    counts = [20, 60, 150]
    found = epsilons_along(lambda _: ways[::order], counts, real(delta), 6)
    for n, one in zip(counts, found, strict=True):
        assert one.overlaps(epsilon(f"{step}^{n}", delta, 9))
    assert any(shown) == (order == 1)


def test_steps_are_not_asked_where_more_lose_little_enough() -> None:
    """What fewer lose, as the first one here, decides nothing."""
    rows = [(rational(Fraction(n, 1000)), rational(Fraction(6 + n, 5)), 3) for n in range(30)]
    rows[0] = (*rows[0][:2], 50)
    counts, target = [50, 100, 110, 120, 137], real("1e-8")
    (way,) = run_curve(rows, counts, "add")
    truth = {n: way(n).epsilon(target, 6) for n in counts}
    assert truth[50].upper == 0
    for served in ({}, {100: 110}, {100: 110, 120: 137}):
        levels = {n: 1.01 * float(truth[served[n]].upper) if n in served else 0.0 for n in counts}
        others = {n: Enclosure(Fraction(level), math.inf) for n, level in levels.items()}
        asked = _along(way, counts, others, target, 4)
        assert sorted(asked) == [n for n in counts if n not in served]
        for n, one in asked.items():
            one.meet(truth[n])


# --- the order of rows, and the verb --------------------------------------------------------------


def test_rows_keep_their_order_where_it_matters() -> None:
    rows = [(1, "0.1", 3), (1, "0.1", 2), (2, "0.1", 0), (2, "0.1", 1), (1, "0.1", 4)]
    step = "poisson(gaussian(1), 0.1)"
    assert str(from_rows(rows, ordered=True)) == f"{step}^5 * poisson(gaussian(2), 0.1) * {step}^4"
    assert from_rows(rows) == from_opacus_history(rows)
    assert from_rows(rows, ordered=True) == from_opacus_history(rows, ordered=True)


@pytest.mark.slow
def test_the_verb_says_epsilon_along_the_run(tmp_path) -> None:
    path, picture = tmp_path / "log.csv", tmp_path / "budget.svg"
    path.write_text("sigma,q,steps\n2,0.1,3\n1,0.1,2\n2,0.1,3\n")
    ask = ["log", str(path), "--delta", "1e-5", "--curve", "4", "--digits", "8"]
    found = json.loads(invoke(*ask, "--json", "--plot", picture).output)
    run = from_rows([(2, "0.1", 3), (1, "0.1", 2), (2, "0.1", 3)], ordered=True)
    expected = epsilon_along(run, [2, 4, 6, 8], "1e-5", 8)
    assert [point["steps"] for point in found["curve"]] == [2, 4, 6, 8]
    assert [point["safe"] for point in found["curve"]] == [one.safe() for one in expected]
    assert found["safe"] == expected[-1].safe() == epsilon(run, "1e-5", 8).safe()
    assert picture.read_text().startswith("<?xml")
    said = invoke(*ask).output.splitlines()
    assert said[-4:] == [
        f"after {n} steps: epsilon <= {one.safe()}"
        for n, one in zip((2, 4, 6, 8), expected, strict=True)
    ]


def test_more_points_than_steps_are_refused(tmp_path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("sigma,q,steps\n2,0.1,3\n")
    ask = ["log", str(path), "--delta", "1e-5"]
    result = invoke(*ask, "--curve", "4")
    assert (result.exit_code, result.output) == (
        2,
        "dpexact: curve: 4 is not accepted; the run has 3 steps\n",
    )
    assert invoke(*ask, "--plot", "x.svg").exit_code == 2
    assert invoke(*ask, "--curve", "3").exit_code == 0
