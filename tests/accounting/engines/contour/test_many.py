"""Many points on shared lines: each as by itself, by another engine and by closed forms."""

import math
from fractions import Fraction

import contours
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

import dpexact
from dpexact import balls
from dpexact.accounting.engines.allocation_put import AllocationPut
from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse
from dpexact.accounting.engines.contour.many import (
    bracketed,
    shared_deltas,
    shared_epsilons,
    solved,
    told_again,
)
from dpexact.accounting.engines.contour.planning import Query
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.pairs.allocation import Allocation
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.laplace import Laplace
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.sampled_laplace import SampledLaplace
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.reals import rational

MAKE = {"remove": remove, "add": add}
RUN = "poisson(gaussian(13/10), 1/50)^300"


@given(
    st.fractions("1/4", 4, max_denominator=20),
    st.lists(st.fractions("1/50", 8, max_denominator=100), min_size=2, max_size=12),
    st.integers(2, 20),
)
@settings(max_examples=scaled(40), deadline=None)
def test_points_agree_with_closed_forms(mu, points, digits):
    """The contour of a Gaussian, whose profile is known."""
    lines = contours.engine(((Gaussian(rational(mu)), 1),))
    true = GaussianMixedWithResponse(rational(mu), InfiniteLoss())
    asked = [rational(point) for point in points]
    found = shared_deltas(lines, asked, digits)
    for at in found:
        assert found[at].overlaps(true.delta(at, digits + 5))
    targets = [rational(true.delta(at, 12).lower) for at in asked]
    for target, answer in shared_epsilons(lines, [t for t in targets if t.fraction], 9).items():
        assert answer.digits >= 9
        assert answer.overlaps(true.epsilon(target, 15))


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_points_agree_with_the_lattice(direction):
    run = "poisson(gaussian(2), 1/10)^30"
    points = [Fraction(1, 8), Fraction(1, 4), Fraction(1, 2)]
    found = dpexact.delta(run, points, 8, direction)
    targets = ["1e-4"]
    for at, answer in zip(points, found, strict=True):
        assert answer.digits >= 8
        try:
            other = dpexact.delta(run, at, 3, direction, method="lattice")
        except dpexact.PrecisionNotReached as error:
            other = error.best
        assert answer.overlaps(other)
    for at, answer in zip(targets, dpexact.epsilon(run, targets, 8, direction), strict=True):
        try:
            other = dpexact.epsilon(run, at, 3, direction, method="lattice")
        except dpexact.PrecisionNotReached as error:
            other = error.best
        assert answer.overlaps(other)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_a_range_in_any_order_has_the_bounds_of_its_ends(direction):
    """One line, whose errors matter: points in three orders, each as by itself or wider."""
    composition = ((MAKE[direction](real(1), real("1/50")), 400),)
    line = contours.line(composition, contours.plan(composition, [Query(1.0, 1)], 4))
    with balls.precision(line.plan.bits):
        points = [arb(i) / 16 for i in range(14, 20)]
        alone = [line.terms([at])[0] for at in points]
        for order in (list(range(6)), [2, 0, 5, 1, 4, 3], [5, 4, 3, 2, 1, 0]):
            for place, terms in zip(order, line.terms([points[i] for i in order]), strict=True):
                for bound in ("tail", "above", "below", "deficit"):
                    assert getattr(terms, bound) >= getattr(alone[place], bound).mid()


def test_roots_are_found_together_and_beside_one_another():
    composition = ((remove(real(1), real("1/50")), 400),)
    line = contours.line(composition, contours.plan(composition, [Query(1.0, 1)], 12))
    with balls.precision(line.plan.bits):
        targets = [balls.ball(real(text)) for text in ("1/100", "1e-3", "1/2")]
        found = [answer for answer, _ in solved(line, targets, 1, [arb(1), arb(1), arb(1)], 1e-6)]
        ((alone, _),) = solved(line, targets[:1], 1, [arb(1)], 1e-6)
        assert found[0] is not None
        assert alone is not None
        assert found[0].overlaps(alone)
        (wrong,) = bracketed(line, targets[:1], 1, [arb(float(found[0].lower) * 1.01)], 1e-6)
        assert wrong is None


@pytest.mark.parametrize(
    "mechanism",
    [
        RUN,
        "gaussian(2)",
        "gaussian(2)*pure_dp(1/10)^3",
        "pure_dp(1/10)^1000",
        "approx_dp(1/10, 1e-6)^10*pure_dp(1/5)^3",
        "pure_dp(0.1)^10*pure_dp(0.1234)^5*pure_dp(0.777)^3",
        "laplace(1)^3",
        "discrete_gaussian(2)^5",
        "zcdp(1/10)",
        "approx_dp(1, 1/2)",
    ],
)
def test_a_list_is_its_points(mechanism):
    """Repeated, unsorted, negative, zero and unreachable points; as single questions answer."""
    points = ["1", 0, "1/3", "-1/2", "log(2)", "1", 3]
    for at, answer in zip(points, dpexact.delta(mechanism, points, 10), strict=True):
        alone = dpexact.delta(mechanism, at, 10)
        assert answer.overlaps(alone)
        assert min(answer.digits, 10) == min(alone.digits, 10)
        assert (answer.bound, answer.theorem) == (alone.bound, alone.theorem)
    targets = ["1/3", "1e-5", 1, "1/3", 0, "exp(-9)"]
    for at, answer in zip(targets, dpexact.epsilon(mechanism, targets, 10), strict=True):
        alone = dpexact.epsilon(mechanism, at, 10)
        assert answer.overlaps(alone) or answer == alone
        assert min(answer.digits, 10) == min(alone.digits, 10)


@pytest.mark.slow
def test_points_far_apart_and_extreme():
    """What cannot be planned is answered by itself, as narrow as was certified."""
    points = ["1e-300", "1e-9", 1, 50, "1e300"]
    found = dpexact.delta("poisson(gaussian(1), 1/50)^200", points, 6)
    for at, answer in zip(points, found, strict=True):
        try:
            alone = dpexact.delta("poisson(gaussian(1), 1/50)^200", at, 6)
        except dpexact.PrecisionNotReached as error:
            alone = error.best
        assert answer.overlaps(alone)
    assert dpexact.delta("gaussian(1)", []) == []
    assert dpexact.epsilon("gaussian(1)", np.array([1e-5]))[0].safe() == "4.377179"
    assert dpexact.delta("gaussian(1)", (1,))[0] == dpexact.delta("gaussian(1)", 1)


def _counted(monkeypatch, owner, name):
    calls, once = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *a: calls.append(a) or once(*a))
    return calls


def test_targets_share_lines_where_the_saddle_point_misleads(monkeypatch):
    """The first line is placed where floats have epsilon, the second where that one has it."""
    targets = [f"1e-{k}" for k in range(3, 10)]
    lines = _counted(monkeypatch, ContourProfile, "line")
    found = contours.engine(((Allocation(rational(1), 100), 1),)).epsilons(
        [real(at) for at in targets], 8
    )
    assert len(lines) == 2
    for at, answer in zip(targets, found, strict=True):
        assert answer.digits >= 8
        assert answer.overlaps(AllocationPut(rational(1), 100, add=False).epsilon(real(at), 12))


def test_targets_begin_between_others_where_floats_mislead_all(monkeypatch):
    """Few are asked alone."""
    targets = [real(f"1e-{k}") * Fraction(n, 9) for k in range(5, 11) for n in (2, 4, 7)]
    lines = contours.engine(((Allocation(rational(2), 500), 1),))
    alone = _counted(monkeypatch, ContourProfile, "solved_epsilon")
    found = lines.epsilons(targets, 4)
    assert len(alone) <= 6
    assert all(answer.digits >= 4 for answer in found)
    for at, answer in zip(targets[::8], found[::8], strict=True):
        assert answer.overlaps(AllocationPut(rational(2), 500, add=False).epsilon(at, 6))


def test_what_is_too_much_for_one_line_is_halved(monkeypatch):
    """As far as points are not too much themselves; who is left out is asked alone."""
    lines = contours.engine(((Gaussian(real(1)), 1),))
    plan, planned = lines.planned, []

    def dear(ends, digits):
        planned.append(ends)
        if ends[-1].epsilon > 3 or ends[-1].epsilon > ends[0].epsilon + 1:
            raise TooExpensive
        return plan(ends, digits)

    monkeypatch.setattr(lines, "planned", dear)
    points = [rational(Fraction(k, 16)) for k in range(1, 65)]
    found = shared_deltas(lines, points, 8)
    assert set(found) >= set(points[:45])
    assert set(found) <= set(points[:48])
    assert len(planned) < 40


def test_targets_share_lines_where_a_line_of_all_is_too_much(monkeypatch):
    """Moments that fall slowly: of a few digits less, and of half the targets, much less work."""
    step = SampledLaplace(((Laplace(real(1)), 1),), real("1/100"), removes=True)
    lines = contours.engine(((step, 100),)).varied(500_000, patient=False)
    targets = [real(f"1e-{k}") for k in range(2, 13) for _ in "12"]
    few = [lines.epsilon(at, 15) for at in targets[::11]]
    monkeypatch.setattr(ContourProfile, "epsilon", None)
    found = lines.epsilons(targets, 15)
    for alone, answer in zip(few, found[::11], strict=True):
        assert answer.digits >= 15
        assert answer.overlaps(alone)


def test_points_that_lack_digits_share_a_sharper_line(monkeypatch):
    """Where knowing delta was not enough, though that brought them no nearer."""
    lines = contours.engine(((remove(real(1), real("1/100")), 1000),))
    points = [real(Fraction(391 * k, 10_000)) for k in range(1, 101)]
    alone = [lines.delta(at, 17) for at in points[::33]]
    monkeypatch.setattr(ContourProfile, "solved_delta", None)
    found = lines.deltas(points, 17)
    assert all(answer.digits >= 17 for answer in found)
    assert all(a.overlaps(b) for a, b in zip(alone, found[::33], strict=True))


def test_many_points_are_left_to_others_where_lines_are_too_much(monkeypatch):
    lines = contours.engine(((Gaussian(real(1)), 1),)).varied(1, patient=False)
    points = [rational(Fraction(k, 400)) for k in range(1, 60)]
    monkeypatch.setattr(ContourProfile, "solved_delta", None)
    monkeypatch.setattr(ContourProfile, "epsilon", None)
    assert {(x.lower, x.digits) for x in lines.deltas(points, 8)} == {(0, 0)}
    assert {(x.lower, x.upper) for x in lines.epsilons(points, 8)} == {(0, math.inf)}


@pytest.mark.parametrize("way", ["remove", "add"])
def test_targets_next_to_delta_at_zero_share_lines(monkeypatch, way):
    """Where saddle points see none, epsilon is 0 for some targets and not for others."""
    lines = contours.engine(((Allocation(real(1), 30, add=way == "add"), 1),))
    most = Fraction(lines.delta(rational(0), 10).lower)
    shares = ["3", "1.01", "0.999", "0.99", "0.95", "0.9", "0.6", "0.1", "0.01"]
    targets = [rational(most * Fraction(x)) for x in shares]
    alone = [lines.epsilon(at, 8) for at in targets]
    monkeypatch.setattr(ContourProfile, "epsilon", None)
    found = lines.epsilons(targets, 8)
    assert all(
        one.overlaps(other) and one.digits >= 8 for one, other in zip(found, alone, strict=True)
    )
    assert [answer.upper == 0 for answer in found] == [True] * 2 + [False] * 7


def test_no_line_is_spoilt_by_targets_that_delta_at_zero_meets(monkeypatch):
    """Though floats, which interpolate, see some epsilon next to those that have one."""
    lines, planned = contours.engine(((remove(real(1), real("1/10")), 20),)), []
    most, plan = Fraction(lines.delta(rational(0), 10).lower), lines.planned

    def remembered(ends, digits):
        planned.extend(ends)
        return plan(ends, digits)

    monkeypatch.setattr(lines, "planned", remembered)
    shares = [1 + Fraction(k, 100) for k in range(5, 0, -1)]
    shares += [Fraction(9, 10) ** k for k in range(1, 240)]
    targets = [rational(most * share) for share in shares]
    found = lines.epsilons(targets, 8)
    assert [answer.upper == 0 for answer in found] == [share > 1 for share in shares]
    assert all(math.exp(end.log_delta) < most * (1 + 1e-9) for end in planned if end.log_delta)


def test_a_line_is_sharper_where_to_know_delta_was_not_enough(monkeypatch):
    run = "poisson(gaussian(1), 1/100)^300 * poisson(gaussian(1.2), 1/120)^300 * gaussian(20)"
    points = [Fraction(k, 50) for k in range(5, 150, 5)]
    alone = _counted(monkeypatch, ContourProfile, "solved_delta")
    found = dpexact.delta(run, points, 15, "remove")
    assert not alone
    for at, answer in zip(points[::9], found[::9], strict=True):
        assert answer.digits >= 15
        assert answer.overlaps(dpexact.delta(run, at, 12, "remove"))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: dpexact.delta("gaussian(1)", [1, "x"]), "epsilon"),
        (lambda: dpexact.delta("gaussian(1)", [1, [2]]), "epsilon: [2]"),
        (lambda: dpexact.delta("gaussian(1)", np.ones((2, 2))), "shape (2, 2)"),
        (lambda: dpexact.epsilon("gaussian(1)", [0.5, 2]), "delta: 2"),
        (lambda: dpexact.epsilon_bounds("gaussian(1)", [0.5, 2]), "delta: 2"),
        (lambda: dpexact.epsilon_bounds("gaussian(1)", ["a"]), "deltas: an array of <U1"),
    ],
)
def test_bad_points_are_named(call, message):
    with pytest.raises(dpexact.InvalidInput) as caught:
        call()
    assert message in str(caught.value)


@pytest.mark.parametrize("mechanism", [RUN, "gaussian(2)", "pure_dp(1/10)^20", "zcdp(1/10)"])
def test_epsilons_as_floats_are_outward(mechanism):
    targets = np.array([[1e-3, 1e-5], [0.5, 1.0]])
    lower, upper = dpexact.epsilon_bounds(mechanism, targets)
    assert lower.shape == upper.shape == targets.shape
    for at, low, high in zip(targets.ravel(), lower.ravel(), upper.ravel(), strict=True):
        true = dpexact.epsilon(mechanism, at, 25 if mechanism != "zcdp(1/10)" else 15)
        assert low <= true.lower or mechanism == "zcdp(1/10)"
        assert true.upper <= high
        assert high - low <= 1e-14 * high or mechanism == "zcdp(1/10)"


def test_the_last_line_tells_neighbours_and_no_more_than_it_knows(monkeypatch):
    """Of the digits that it was planned for, where delta is not below what it was planned for."""
    factors = ((remove(rational(1), rational(Fraction(1, 100))), 1000),)
    profile, built, line = contours.engine(factors), [], ContourProfile.line
    apart = contours.engine(factors).delta(rational(Fraction(19, 10)), 12)
    monkeypatch.setattr(
        ContourProfile, "line", lambda self, plan: built.append(plan) or line(self, plan)
    )
    first = profile.delta(rational(2), 8)
    assert (first.digits >= 8, len(built)) == (True, 1)
    again, near = profile.deltas([rational(2), rational(Fraction(19, 10))], 8)
    assert (min(near.digits, again.digits) >= 8, len(built)) == (True, 1)
    assert near.overlaps(apart)
    assert (profile.delta(rational(2), 12).digits >= 12, len(built)) == (True, 2)
    assert (profile.delta(rational(4), 12).digits >= 12, len(built)) == (True, 3)


def test_a_line_that_floats_take_for_fine_enough_says_nothing_where_it_is_not(monkeypatch):
    profile = contours.engine(((remove(rational(1), rational(Fraction(1, 100))), 1000),))
    profile.delta(rational(2), 8)
    (line,) = profile.lines.values()
    monkeypatch.setattr(profile.product, "saddle", lambda epsilon, repeat: (1.0, 0.0))
    assert told_again(profile, line, [rational(4)], 12) == {}
