"""Different rare samples against one row split, an integral, the contour and the lattice."""

import math
from dataclasses import replace
from fractions import Fraction

import contours
import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact import balls, reals
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.rare import inversion
from dpexact.accounting.engines.rare.added import added_bound
from dpexact.accounting.engines.rare.law import Cells
from dpexact.accounting.engines.rare.profile import RareProfile
from dpexact.accounting.engines.rare.rows import Row, product, total_variation, with_some
from dpexact.accounting.pairs.mixture import one_shift
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.profiles import profile
from dpexact.conversion import real
from dpexact.enclosure import Enclosure

WAYS = ("remove", "add")
#: Noise, rate and number of the steps of each row; a target of delta and epsilons.
LOGS = [
    ([("0.8", "1e-4", 3), ("1.3", "2e-3", 2)], "1e-6", {"remove": "0.7", "add": "0.003"}),
    ([("0.5", "1e-5", 1), ("2", "1e-3", 4), ("1", "3e-6", 20)], "1e-7", {"remove": "0.03"}),
    ([("1.2", "1e-2", 9), ("30", "5e-3", 3)], "1e-5", {"remove": "0.9", "add": "0.08"}),
]


def engine(rows, way):
    return RareProfile(tuple(Row(real(s), real(q), n) for s, q, n in rows), way == "add")


def pairs(rows, way):
    zero = reals.rational(0)
    found = []
    for sigma, q, count in rows:
        up, down = (real(q), zero) if way == "remove" else (zero, real(q))
        found.append((one_shift(real(sigma), up, down), count))
    return found


def text(rows):
    return " * ".join(f"poisson(gaussian({s}), {q})^{n}" for s, q, n in rows)


def meet(one: Enclosure, other: Enclosure) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


@pytest.mark.parametrize("way", WAYS)
def test_one_row_as_two(way):
    """Equal rows are one, and the last digit of a noise moves epsilon by as little."""
    one = engine([("0.8", "1e-4", 5)], way).epsilon(real("1e-6"), 10)
    two = engine([("0.8", "1e-4", 3), ("0.8", "1e-4", 2)], way).epsilon(real("1e-6"), 10)
    assert one.digits >= 10
    assert two.digits >= 10
    assert meet(one, two)
    near = engine([("0.8", "1e-4", 3), ("0.8000001", "1e-4", 2)], way)
    less = near.epsilon(real("1e-6"), 10)
    assert less.upper < one.lower
    assert 0 < one.upper - less.lower < 1e-5 * one.upper


@pytest.mark.parametrize("way", WAYS)
def test_two_steps_as_their_integral(way):
    rows, at = [("0.7", "1e-3", 1), ("1.5", "2e-2", 1)], "0.01" if way == "add" else "1/2"
    whole = dpexact.delta(text(rows), at, digits=14, direction=way)
    assert whole.method == "an integral"
    found = engine(rows, way).delta(real(at), 12)
    assert found.digits >= 12
    assert meet(found, whole)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", [rows for rows, _, _ in LOGS])
def test_as_the_plain_contour(rows, way):
    found = engine(rows, way).epsilon(real("1e-4"), 9)
    other = contours.epsilon(pairs(rows, way), real("1e-4"), 10)
    assert found.digits >= 9
    assert meet(found, other)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("rows", "delta", "points"), LOGS)
def test_as_the_lattice(rows, delta, points, way):
    rarely, lattice = engine(rows, way), profile(dpexact.parse(text(rows)), way, "lattice")
    found = rarely.epsilon(real(delta), 9)
    assert found.digits >= 9
    assert meet(found, lattice.epsilon(real(delta), 2))
    if way in points:
        at = real(points[way])
        assert meet(rarely.delta(at, 9), lattice.delta(at, 2))


@pytest.mark.slow
@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(-0.5, 1.3), st.floats(-6, -1.5), st.integers(1, 30)),
        min_size=2,
        max_size=5,
    ),
    st.sampled_from(["1e-3", "1e-6", "1e-10"]),
    st.sampled_from(WAYS),
)
def test_any_rows_as_the_plain_contour(drawn, delta, way):
    """Whatever digits either has: no two enclosures are disjoint, of epsilon and of delta there."""
    rows = [(f"{10**s:.3g}", f"{10**q:.3g}", n) for s, q, n in drawn]
    rarely = engine(rows, way)
    plain = ContourProfile(pairs(rows, way), InfiniteLoss(), 1_000_000)
    found = rarely.epsilon(real(delta), 7)
    assert meet(found, plain.epsilon(real(delta), 7))
    if found.lower > 0 and found.upper < math.inf:
        at = reals.rational(Fraction(found.lower))
        assert meet(rarely.delta(at, 6), plain.delta(at, 6))


@pytest.mark.parametrize(
    ("log", "delta", "way", "start"),
    [
        (
            "poisson(gaussian(4.6127),3.0641e-06)*poisson(gaussian(1.3761),2.3236e-05)"
            "*poisson(gaussian(3.7653),4.7858e-05)*poisson(gaussian(2.474),1.2232e-05)"
            "*poisson(gaussian(1.4158),5.9355e-06)",
            "1e-12",
            "both",
            "0.00108720171705",
        ),
        (
            "poisson(gaussian(1.7282),0.0045255)*poisson(gaussian(1.435),0.00074438)"
            "*poisson(gaussian(0.48597),0.0002631)",
            "1e-4",
            "add",
            "0.00256917869638",
        ),
    ],
)
def test_logs_that_were_refused(log, delta, way, start):
    found = dpexact.epsilon(log, delta, digits=12, direction=way)
    assert found.method == "contour"
    assert str(found).startswith(start[:13])


def test_rows_of_much_noise_beside_others():
    """Cells lie where their law is, and what rounds to 0 does not grow with a high strip."""
    quiet = [("55.101", "4.5288e-05", 1), ("12.953", "1.7461e-05", 1), ("15", "1e-5", 2)]
    assert engine(quiet, "remove").epsilon(real("1e-9"), 15).digits >= 15
    added = [("0.58318", "0.0061733", 1), ("14.286", "0.046286", 1), ("2.142", "0.054799", 1)]
    assert engine(added, "add").epsilon(real("1e-9"), 15).digits >= 15
    mixed = [("3.7222", "0.035809", 8), ("19.229", "0.0015232", 3), ("0.39426", "0.0201", 2)]
    assert engine(mixed, "remove").epsilon(real("1e-9"), 8).digits >= 8


def test_rows_of_losses_about_as_large_as_the_gap():
    """What no step exceeds is small there, and cells of the bound of adding reach a law's tilt."""
    rows = [("34.184", "1.7589e-06", 1), ("0.38629", "2.5283e-06", 1), ("77.977", "0.018164", 1)]
    found = engine(rows, "remove").epsilon(real("1e-7"), 8)
    assert found.digits >= 8
    laws = tuple(Row(real(s), real(q), n) for s, q, n in rows)
    assert added_bound(laws, real(Fraction(found.lower)), math.log(1e-7)).upper < 1e-7
    whole = dpexact.epsilon(text(rows), "1e-7", 8)
    assert (whole.method, meet(whole, found)) == ("contour", True)


def test_some_step_in_a_part_is_counted_for_each_step():
    """It is at least the difference of products, and of small parts hardly more."""
    counts, wholes = [2, 5, 40], [arb("1.1"), arb("0.9"), arb("1.01")]
    for part in (arb("1e-6"), arb("1e-3")):
        less = product(wholes, counts) - product([whole - part for whole in wholes], counts)
        most = with_some([part] * 3, wholes, counts)
        assert less < most
        assert most < less * (1 + 100 * part)


def test_many_points_of_rows_share_lines(monkeypatch):
    lines = []
    ask = RareProfile.inverted
    monkeypatch.setattr(
        RareProfile, "inverted", lambda self, *a, **k: lines.append(a) or ask(self, *a, **k)
    )
    rarely = engine(LOGS[0][0], "remove")
    points = [real(Fraction(k, 100)) for k in range(70, 82)]
    answers = rarely.deltas(points, 6)
    assert len(lines) < 6
    for at, found in list(zip(points, answers, strict=True))[::5]:
        assert found.digits >= 6
        assert meet(found, rarely.delta(at, 8))


def test_total_variation_of_rows():
    rows = [Row(real("0.8"), real("1e-2"), 2), Row(real(2), real("1/20"), 1)]
    at_zero = dpexact.delta("poisson(gaussian(0.8), 1e-2)^2 * poisson(gaussian(2), 1/20)", 0)
    once = [
        dpexact.delta(f"poisson(gaussian({s}), {q})", 0) for s, q in (("0.8", "1/100"), (2, "1/20"))
    ]
    with balls.precision(100):
        bound = total_variation(rows)
        overlap = (1 - balls.ball(once[0].lower)) ** 2 * (1 - balls.ball(once[1].lower))
        assert balls.ball(at_zero.upper) < bound < 2 * balls.ball(at_zero.lower)
        assert abs(bound - (1 - overlap)) < 1e-12


@pytest.mark.parametrize("way", WAYS)
def test_epsilon_zero_is_decided_first(way):
    rows = [("2.71", "0.001", 5), ("3", "0.002", 2)]
    found = engine(rows, way).epsilon(real("2e-3"), 15)
    assert found.is_exact
    assert found.lower == 0


@pytest.mark.parametrize("epsilon", ["0.03", "0.05"])
def test_adding_rows_is_below_its_bound_and_not_far_below(epsilon):
    rows = [("1", "1e-2", 5), ("0.7", "1e-3", 9), ("2", "5e-3", 7)]
    rarely = engine(rows, "add")
    true = rarely.delta(real(epsilon), 3)
    level = 20 * true.lower + Fraction(1, 10**12)
    bound = added_bound(rarely.rows, real(epsilon), math.log(level))
    assert true.upper <= bound.upper <= level
    assert rarely.is_below(real(epsilon), reals.rational(level))
    assert not rarely.is_below(real(epsilon), reals.rational(true.lower))


# --- error terms, replaced one by one ---------------------------------------------------------


def inverted(rows, way, at, digits):
    """What is asked, the digits of delta there, and the line that has them."""
    rarely = engine(rows, way)
    true = rarely.delta(real(at), digits)
    log = math.log(float(true.lower)) - (digits + 1) * math.log(10)
    return true, lambda: rarely.inverted(rarely.question(float(Fraction(at))), log)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("short", [0.3, 0.6, 0.9])
def test_a_line_cut_short_encloses(way, short):
    """Of nodes that are left out the tail knows the most: a line without it would not do."""
    rows, at = LOGS[0][0], LOGS[0][2][way]
    true, line = inverted(rows, way, at, 10)
    plan = line().plan
    plan = replace(plan, count=math.ceil(short * plan.count))
    with balls.precision(plan.bits):
        found = inversion.Inversion(engine(rows, way).rows, plan).delta(balls.ball(real(at)))
        assert found.is_finite()
        assert found.overlaps(balls.ball(Fraction(true.lower)))


@pytest.mark.parametrize("error", ["far_small", "near_large", "alias", "outer_tail"])
def test_each_error_term_is_counted(monkeypatch, error):
    """One that is replaced by 1 is seen in the answer."""
    rows, at = LOGS[0][0], LOGS[0][2]["remove"]
    line = inverted(rows, "remove", at, 8)[1]()
    assert line.plan.near is not None
    monkeypatch.setattr(inversion, error, lambda *_: arb(1))
    with balls.precision(line.plan.bits):
        assert line.delta(balls.ball(real(at))).rad() > 0.3


def test_moments_of_all_rows_are_weighed(monkeypatch):
    """Without what one row loses in the middle the answer would be another."""
    rows, at = LOGS[0][0], LOGS[0][2]["remove"]
    true, line = inverted(rows, "remove", at, 8)
    whole = inversion.Inversion._line

    def silent(self, window, near):
        first, *rest = whole(self, window, near)
        return [first, *(row if near else [acb(0)] * len(row) for row in rest)]

    monkeypatch.setattr(inversion.Inversion, "_line", silent)
    broken = line()
    with balls.precision(broken.plan.bits):
        assert not broken.delta(balls.ball(real(at))).overlaps(balls.ball(Fraction(true.lower)))


def test_orders_of_bounds_are_those_that_are_counted(monkeypatch):
    """One more than a float is mostly none: moments are bounded at the very order."""
    rows, at = LOGS[0][0], LOGS[0][2]["remove"]
    plan = inverted(rows, "remove", at, 4)[1]().plan
    asked, bound = [], Cells.bound
    monkeypatch.setattr(
        Cells, "bound", lambda self, w, order: asked.append(order) or bound(self, w, order)
    )
    with balls.precision(plan.bits):
        inversion.Inversion(engine(rows, "remove").rows, replace(plan, orders=(0.1, 0.3, 0.7, 0.1)))
    with balls.precision(64):
        for order in (-arb(0.1), 1 + arb(0.3), 1 + arb(0.7)):
            assert any(arb(x) == order for x in asked)
