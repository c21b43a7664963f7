"""Composition of different approx_dp: every route against all subsets, and against each other."""

import math
import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled
from processor_modes import MODES, mode

import dpexact
from dpexact import balls
from dpexact.accounting.engines.closed_form import OptimalComposition
from dpexact.accounting.engines.few_atoms import FewAtoms
from dpexact.accounting.engines.heterogeneous import grid
from dpexact.accounting.engines.heterogeneous.choose import different_responses
from dpexact.accounting.engines.heterogeneous.counts import CountLaw
from dpexact.accounting.engines.heterogeneous.meet_in_the_middle import Meeting
from dpexact.accounting.engines.heterogeneous.refinement import GridComposition
from dpexact.accounting.engines.lattice_product import LatticeComposition
from dpexact.accounting.pairs.lattice import commensurate
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import rational

NONE = InfiniteLoss()
LOST = InfiniteLoss(((rational(Fraction(1, 1000)), 2), (rational(Fraction(1, 50)), 1)))
THIRTEEN = [
    "1/3",
    "2/7",
    "1/11",
    "3/13",
    "5/17",
    "1/19",
    "7/23",
    "2/29",
    "11/31",
    "3/37",
    "4/41",
    "9/43",
    "1/47",
]
FORTY = [
    (real(f"{'sqrt' if i % 2 else 'log'}({i + 1})/{10 + i}"), 1) for i in range(1, 41)
]  # no two of a rational ratio


def brute(growths, level):
    """The exact sum over all subsets; ``growths`` are the rational ``e^(eps_i)``."""
    total = Fraction(0)
    for chosen in product((False, True), repeat=len(growths)):
        p = q = Fraction(1)
        for up, growth in zip(chosen, growths, strict=True):
            high, low = growth / (1 + growth), 1 / (1 + growth)
            p, q = p * (high if up else low), q * (low if up else high)
        total += max(p - level * q, Fraction(0))
    return total


def logs(growths):
    counted = {}
    for growth in growths:
        counted[growth] = counted.get(growth, 0) + 1
    return [(real(f"log({growth})"), count) for growth, count in counted.items()]


def counted(parameters, infinite=NONE):
    return CountLaw(*commensurate([(Response(eps), n) for eps, n in parameters]), infinite)


ROUTES = {"counts": counted, "meet": Meeting, "grid": GridComposition}


def finite(route, epsilon, bits=160):
    """The finite part by the engine itself, without the exact shortcuts."""
    with balls.precision(bits):
        return balls.to_enclosure(route.finite_ball(balls.ball(epsilon)))


growth = st.fractions(min_value=Fraction(21, 20), max_value=6, max_denominator=40)
levels = st.fractions(min_value=1, max_value=20, max_denominator=12)


# --- against all subsets --------------------------------------------------------------------------


@settings(max_examples=scaled(60))
@given(st.lists(growth, min_size=1, max_size=6), levels)
def test_meeting_and_enumeration_agree_with_all_subsets(growths, level):
    truth = brute(growths, level)
    parameters, epsilon = logs(growths), real(f"log({level})")
    found = finite(Meeting(parameters, NONE), epsilon)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < Fraction(1, 10**30)
    exact = Meeting(parameters, NONE).delta(epsilon, 10)
    assert exact.is_exact
    assert exact.lower == truth


@settings(max_examples=scaled(60))
@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=7),
    st.fractions(min_value=Fraction(11, 10), max_value=3, max_denominator=10),
    st.one_of(levels, st.integers(0, 6)),
)
def test_counts_agree_with_all_subsets(multiples, base, level):
    if isinstance(level, int):  # on a breakpoint
        level = base**level
    truth = brute([base**n for n in multiples], level)
    parameters = logs([base**n for n in multiples])
    parameters = [(real(f"{n}*log({base})"), multiples.count(n)) for n in set(multiples)]
    law = counted(parameters)
    epsilon = real(f"log({level})")
    found = finite(law, epsilon)
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < Fraction(1, 10**30)
    assert law.finite_fraction(level) == truth
    profile = counted(parameters, LOST)
    lost = LOST.fraction
    assert profile.delta(epsilon, 10).lower == lost + (1 - lost) * truth


@settings(max_examples=scaled(40))
@given(st.lists(growth, min_size=1, max_size=6), levels)
def test_the_grid_holds_the_sum_over_all_subsets(growths, level):
    truth = brute(growths, level)
    grid = GridComposition(logs(growths), LOST)
    grid.work = 5_000_000
    lost = LOST.fraction
    found = grid.delta(real(f"log({level})"), 5)
    assert found.lower <= lost + (1 - lost) * truth <= found.upper
    assert found.upper - found.lower < Fraction(1, 1000)


# --- against each other ---------------------------------------------------------------------------


def few_atoms(parameters):
    parts = [(Response(eps), count) for eps, count in parameters]
    atoms = [(pair.outcomes(), n) for pair, n in parts]
    return FewAtoms(atoms, LOST)


def lattice(parameters):
    parts = [(Response(eps), count) for eps, count in parameters]
    return LatticeComposition(*commensurate(parts), LOST)


@settings(max_examples=scaled(15))
@given(
    st.dictionaries(st.integers(1, 12), st.integers(1, 5), min_size=2, max_size=4),
    st.fractions(min_value=0, max_value=3, max_denominator=10),
)
def test_all_routes_agree_on_a_lattice(multiples, point):
    parameters = [(real(f"{n}*sqrt(2)/20"), count) for n, count in multiples.items()]
    epsilon = rational(point)
    routes = {r: ROUTES[r](parameters, LOST) for r in ("counts", "meet", "grid")}
    counts = routes["counts"].delta(epsilon, 25)
    assert counts.digits >= 25
    for other in (routes["meet"], few_atoms(parameters), lattice(parameters)):
        found = other.delta(epsilon, 25)
        assert found.digits >= 25
        assert found.overlaps(counts)
    grid = routes["grid"].delta(epsilon, 3)
    assert grid.digits >= 3
    assert grid.overlaps(counts)
    target = real("1/20")
    expected = routes["counts"].epsilon(target, 20)
    for other in (routes["meet"], lattice(parameters)):
        assert other.epsilon(target, 20).overlaps(expected)
    coarse = routes["grid"].epsilon(target, 3)
    assert coarse.overlaps(expected)
    assert coarse.digits >= 3 or coarse.upper == 0


@pytest.mark.parametrize("eps", ["1/10", "log(3/2)", "sqrt(2)/30"])
def test_equal_eps_give_the_homogeneous_composition(eps):
    value = real(eps)
    known = OptimalComposition(value, 30, LOST)
    for point in ("0", "1/3", "1"):
        truth = known.delta(real(point), 30)
        for route in ("counts", "meet"):
            found = ROUTES[route]([(value, 30)], LOST).delta(real(point), 30)
            assert found.overlaps(truth)
            assert found.digits >= 30
        grid = GridComposition([(value, 30)], LOST).delta(real(point), 4)
        assert grid.overlaps(truth)
    truth = known.epsilon(real("0.03"), 25)
    for route, digits in (("counts", 25), ("meet", 25), ("grid", 4)):
        found = ROUTES[route]([(value, 30)], LOST).epsilon(real("0.03"), digits)
        assert found.overlaps(truth)
        assert found.digits >= digits


def test_pieces_found_by_tangents_are_inverted():
    parameters = [(real(f"log({i + 2})/7"), 1) for i in range(8)]
    profile = Meeting(parameters, LOST)
    for target in ("0.03", "1/10", "0.022", "0.25"):
        found = profile.epsilon(real(target), 30)
        assert found.digits >= 30
        at_most = profile.delta(rational(found.upper), 40)
        at_least = profile.delta(rational(found.lower), 40)
        assert at_most.lower <= Fraction(target) <= at_least.upper


# --- examples of the documentation ----------------------------------------------------------------


def test_thirteen_mechanisms():
    text = " * ".join(f"approx_dp({e}, {i}/1000000)" for i, e in enumerate(THIRTEEN))
    found = dpexact.delta(text, "7/5", digits=30)
    assert found.shown(30).startswith("0.0197349492169295935557776791625")
    again = dpexact.epsilon(text, rational(found.upper), digits=20)
    assert abs(again.lower - Fraction(7, 5)) < Fraction(1, 10**18)
    assert "meet" in found.method


def test_forty_hundredths():
    text = " * ".join(f"pure_dp({i}/100)" for i in range(1, 41))
    found = dpexact.delta(text, 1, digits=30)
    assert found.digits >= 30
    assert "counts" in found.method
    parameters = [(real(f"{i}/100"), 1) for i in range(1, 41)]
    assert lattice(parameters).delta(real(1), 25).digits >= 25
    with balls.precision(160):
        parts = commensurate([(Response(eps), n) for eps, n in parameters])
    assert LatticeComposition(*parts, NONE).delta(real(1), 25).overlaps(found)


def test_many_arbitrary_eps():
    parameters = FORTY[:24]
    profile = different_responses(parameters, LOST)
    assert "meet" in profile.method
    found = profile.delta(real(1), 40)
    assert found.digits >= 40
    grid = GridComposition(parameters, LOST).delta(real(1), 6)
    assert grid.digits >= 6
    assert grid.overlaps(found)
    assert not Meeting(FORTY, NONE).is_long
    assert Meeting([*FORTY, (real("sqrt(3)/70"), 1)], NONE).is_long


def test_sixty_eps_on_the_grid():
    text = " * ".join(f"approx_dp(sqrt({i})/40, 1/1000000)" for i in range(2, 80) if i % 4)
    found = dpexact.delta(text, 1, digits=6)
    assert "grid" in found.method
    assert found.digits >= 6
    back = dpexact.epsilon(text, rational(found.lower), digits=5)
    assert back.digits >= 5
    assert abs(back.lower - 1) < Fraction(1, 10**4)
    profile = GridComposition(FORTY, NONE)
    profile.work = 2_000_000
    found = profile.delta(real(1), 30)
    assert 2 <= found.digits < 30
    assert found.reason


# --- extremes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("route", ["meet", "grid"])
def test_tiny_and_huge_eps(route):
    parameters = [(real("1e-9"), 1), (real("sqrt(2)*1e-9"), 2), (real("pi*1e-9"), 1)]
    small = ROUTES[route](parameters, NONE).delta(real(0), 4)
    assert Fraction(5, 10**10) < small.lower < Fraction(3, 10**9)
    mixed = [(real("50"), 1), (real("1e-9"), 1), (real("sqrt(2)"), 1)]
    found = ROUTES[route](mixed, NONE).delta(real("49"), 4)
    with balls.precision(200):  # the loss 50 +- sqrt(2) +- 1e-9, all signs
        truth = balls.to_enclosure(signs(mixed, balls.ball(49)))
    assert found.overlaps(truth)
    assert route == "grid" or found.digits >= 4


def signs(parameters, epsilon):
    total = balls.arb(0)
    values = [balls.ball(eps) for eps, count in parameters for _ in range(count)]
    for chosen in product((1, -1), repeat=len(values)):
        loss = sum((s * v for s, v in zip(chosen, values, strict=True)), balls.arb(0))
        mass = balls.arb(1)
        for s, v in zip(chosen, values, strict=True):
            mass /= 1 + (-s * v).exp()
        if loss > epsilon:
            total += mass * -(epsilon - loss).expm1()
    return total


def test_borders():
    text = "approx_dp(1/3, 1/100) * approx_dp(sqrt(2), 1/10)"
    lost = 1 - Fraction(99, 100) * Fraction(9, 10)
    assert dpexact.delta(text, 5).lower == lost
    assert dpexact.delta(text, "1/3 + sqrt(2)").lower == lost
    assert dpexact.epsilon(text, 1).upper == 0
    assert dpexact.epsilon(text, "1/100").lower == math.inf
    assert dpexact.epsilon(text, lost).overlaps(dpexact.epsilon("pure_dp(1/3+sqrt(2))", 0))
    assert dpexact.delta(text + " * approx_dp(1/7, 1)", 1).lower == 1
    assert dpexact.epsilon(text, "0.99").upper == 0
    with_nothing = text + " * pure_dp(0)^5"
    assert dpexact.delta(with_nothing, 1, 20) == dpexact.delta(text, 1, 20)


def test_equal_ones_are_merged():
    apart = "pure_dp(sqrt(2)) * pure_dp(1/3) * pure_dp(sqrt(2)) * pure_dp(1/3)"
    together = "pure_dp(sqrt(2))^2 * pure_dp(1/3)^2"
    assert dpexact.delta(apart, 1, 30) == dpexact.delta(together, 1, 30)


@pytest.mark.parametrize("other", ["1/7", "sqrt(2)"])
def test_a_thousand_equal_and_one_different(other):
    parameters = [(real("1/10"), 1000), (real(other), 1)]
    found = different_responses(parameters, LOST).delta(real(12), 20)
    assert found.digits >= 20
    assert few_atoms(parameters).delta(real(12), 20).overlaps(found)
    again = different_responses(parameters, LOST).epsilon(rational(found.upper), 15)
    assert again.digits >= 15
    assert abs(again.lower - 12) < Fraction(1, 10**12)


def test_repetitions_without_number_keep_their_route():
    profile = different_responses([(real("1/10"), 10**8), (real("sqrt(2)"), 3)], NONE)
    assert isinstance(profile, FewAtoms)
    with pytest.raises(UnsupportedMechanism, match="different eps"):
        different_responses([(real(f"sqrt({i})"), 10**7) for i in (2, 3, 5)], NONE)


# --- every error term is needed -------------------------------------------------------------------

TIES = [(real("1/3"), 2), (real("2/3"), 1), (real("1"), 3)]
TIE = real("1")


def test_without_rounding_errors_the_meeting_misses():
    point = real("9/8")  # no outcome is in doubt: rounding alone is left
    truth = finite(counted(TIES), point, 300)
    meeting = Meeting(TIES, NONE)
    with balls.precision(24):
        halves = meeting._halves()
    meeting._kept = {200: halves}  # coarse masses, everything else fine
    assert finite(meeting, point, 200).overlaps(truth)
    object.__setattr__(halves, "error", 0)
    assert not finite(meeting, point, 200).overlaps(truth)


def test_ties_cost_no_digits():
    found = finite(Meeting(TIES, NONE), TIE, 200)
    assert found.overlaps(finite(counted(TIES), TIE, 300))
    assert found.digits > 50


def test_without_doubt_the_meeting_misses(monkeypatch):
    """Coarse keys put outcomes on the wrong side; the doubt covers them."""
    nearest = "dpexact.accounting.engines.heterogeneous.meet_in_the_middle.nearest"

    def coarse(x, step=1 << 34):
        return int((x.mid() / step + balls.arb(0.5)).floor().fmpz()) * step

    monkeypatch.setattr(nearest, coarse)
    meeting = Meeting(FORTY[:10], NONE)
    with balls.precision(40):
        p, q, doubt = meeting.tangent(balls.arb(1))
        value = p - balls.arb(1).exp() * q
    monkeypatch.undo()
    truth = finite(Meeting(FORTY[:10], NONE), real(1), 200)
    with balls.precision(200):
        assert balls.to_enclosure(value).upper < truth.lower
        assert balls.to_enclosure(value + doubt).upper >= truth.lower


@pytest.mark.parametrize("what", ["split", "inf", "label"])
def test_the_grid_without_an_error_term_misses(monkeypatch, what):
    module = "dpexact.accounting.engines.heterogeneous.grid"
    parameters = FORTY[:12]
    truth = finite(Meeting(parameters, NONE), real(1), 128)

    def enclose(spacing=Fraction(1, 64), tail=1e-3):
        from dpexact.accounting.engines.heterogeneous.grid import grid_laws

        laws = grid_laws(parameters, spacing, tail)
        return laws.below(balls.arb(1)), laws.above(balls.arb(1))

    low, high = enclose()
    assert low <= truth.lower
    assert truth.upper <= high
    if what == "split":  # everything on the lower neighbour

        def down(gap, spacing):
            place = int((gap / spacing).mid().floor().fmpz())
            return place, place + 1, balls.arb(1)

        monkeypatch.setattr(f"{module}.split_atom", down)
        assert enclose(tail=1e-30)[1] < truth.lower
    elif what == "inf":
        import dpexact.accounting.engines.heterogeneous.grid as grid

        cut = grid._cut_upper
        monkeypatch.setattr(grid, "_cut_upper", lambda *a: (*cut(*a)[:2], 0.0))
        assert enclose(Fraction(1, 1024), 0.1)[1] < truth.lower
    else:  # labels cut at one end only are not symmetric
        import dpexact.accounting.engines.heterogeneous.grid as grid

        monkeypatch.setattr(
            grid, "_cut_lower", lambda m, c, r: m[: len(m) - grid._negligible(m[::-1], c)]
        )
        assert enclose(Fraction(1, 1024), 0.5)[0] > truth.upper


def test_float_rounding_of_the_grid_is_covered():
    """One mechanism whose atom is on the grid: only rounding is left."""
    parameters = [(rational(Fraction(1, 4)), 40)]
    from dpexact.accounting.engines.heterogeneous.grid import grid_laws

    laws = grid_laws(parameters, Fraction(1, 2), 1e-30)
    truth = finite(counted(parameters), rational(1))
    low, high = laws.below(balls.arb(1)), laws.above(balls.arb(1))
    assert low <= truth.lower
    assert truth.upper <= high
    assert high - low < truth.upper * 4 * laws.error + Fraction(1, 10**20)


def _flushed(masses):
    return np.where(np.abs(masses) < np.finfo(float).tiny, 0.0, masses)


def _flushing_sum(masses, terms):
    """As in a process where operands and results below the normal numbers are zero."""
    masses, size = _flushed(masses), len(masses)
    result = np.zeros(size + max(shift for shift, _ in terms))
    for shift, weight in terms:
        result[shift : shift + size] += _flushed(float(_flushed(weight)) * masses)
    return result


# P at about 2^-400 .. 2^-1030, Q of the same outcomes below the normal numbers from 2^-600 on
DEEP = [(rational(Fraction(1, 4)), 1300)]
DEEP_POINTS = [Fraction(n, 2) + Fraction(1, 8) for n in (400, 450, 480, 500, 520, 580, 640, 649)]


def deep_bounds(laws):
    with balls.precision(128):
        levels = [balls.ball(rational(point)) for point in DEEP_POINTS]
        return [(laws.below(level), laws.above(level)) for level in levels]


def hold_the_deep_truths(laws, bounds):
    law = counted(DEEP)
    for point, (low, high) in zip(DEEP_POINTS, bounds, strict=True):
        truth = finite(law, rational(point), 256)
        assert low <= truth.lower
        assert truth.upper <= high
        if truth.upper > Fraction(1, 2**900):  # far from the smallest numbers nothing is lost
            assert high <= truth.upper * (1 + 3 * laws.error)


@pytest.mark.parametrize("gradual", [True, False])
def test_underflow_of_the_grid_is_covered(monkeypatch, gradual):
    if not gradual:
        monkeypatch.setattr(grid, "_shifted_sum", _flushing_sum)
    laws = grid.grid_laws(DEEP, Fraction(1, 2), 0.0)
    hold_the_deep_truths(laws, deep_bounds(laws))


@pytest.mark.parametrize("name", MODES)
def test_the_grid_is_right_in_every_mode_of_the_processor(name):
    flushed = np.array([2.0**-1000])
    with mode(name):
        flushed *= 2.0**-60
        laws = grid.grid_laws(DEEP, Fraction(1, 2), 0.0)
        bounds = deep_bounds(laws)
    assert (flushed[0] == 0) == (MODES[name] >= 0x8000)
    hold_the_deep_truths(laws, bounds)


def test_underflow_is_that_of_numbers_that_are_not_normal():
    """A range that does not reach the normal numbers is all lost, and has no other bound."""
    laws = grid.grid_laws(DEEP, Fraction(1, 2), 0.0)
    assert laws.operations >= 16 * sum(2 * n for n in range(1300))
    smallest = Fraction(*np.finfo(float).tiny.as_integer_ratio())
    assert laws.underflow >= smallest * laws.operations


@pytest.mark.parametrize("size", [3, 7, 100, 1000])
def test_masses_that_a_cut_moves_are_not_fewer(size):
    """Next to 1, masses that a sum in floats rounds away one after the other."""
    masses = np.full(2 * size + 1, 2.0**-53 * 0.99)
    masses[[0, -1]] = 1.0
    exact = sum((Fraction(float(mass)) for mass in masses[:size]), Fraction(0))
    cut = 1.0 + 2.0**-53 * size
    rest, start, above = grid._cut_upper(masses.copy(), cut, size)
    assert start == size
    assert Fraction(above) >= exact
    assert Fraction(float(rest[0])) >= exact
    assert above <= exact * (1 + Fraction(1, 2**19))


@pytest.mark.parametrize("high", [-0.9, 0.9])
@pytest.mark.parametrize("low", [-0.9, 0.9])
def test_masses_off_by_the_error_of_floats_are_covered(high, low):
    """The masses of the low and of the high half too large or too small by nearly all of it."""
    parameters = [(rational(Fraction(3)), 9), (rational(Fraction(4)), 7)]
    laws = grid.grid_laws(parameters, Fraction(1), 0.0)
    error = float(laws.error)

    def moved(masses):
        middle = len(masses) // 2
        sides = np.r_[np.full(middle, low), np.full(len(masses) - middle, high)]
        return masses * (1 + error * sides)

    moved_laws = replace(laws, upper=moved(laws.upper), lower=moved(laws.lower))
    for point in (Fraction(1, 8), Fraction(40), Fraction(401, 8), Fraction(429, 8)):
        truth = finite(counted(parameters), rational(point), 256)
        with balls.precision(128):
            level = balls.ball(rational(point))
            bounds = moved_laws.below(level), moved_laws.above(level)
        assert 0 < bounds[0] <= truth.lower
        assert truth.upper <= bounds[1]


def test_far_labels_are_certain_to_pass_epsilon():
    """Labels are off by 1/20 a step: the highest says 20 where the loss is 18."""
    parameters = [(rational(Fraction(9, 20)), 40)]
    laws = grid.grid_laws(parameters, Fraction(1), 0.0)
    with balls.precision(128):
        assert not laws._far_below(balls.ball(rational(Fraction(37, 2)))) > 0
        found = laws._far_below(balls.arb(2))
        assert found > 0
        assert not found > balls.ball(finite(counted(parameters), rational(2)).upper)


def test_work_is_bounded():
    parameters = [(real("40"), 1), (real("sqrt(2)*1e-7"), 50)]
    profile = GridComposition(parameters, NONE, work=10_000_000)
    found = profile.delta(real(39), 10)
    with balls.precision(100):
        # nearly the single mechanism of eps 40
        value = balls.to_enclosure(-balls.arb(-1).expm1())
    assert found.lower <= value.upper + Fraction(1, 10**4)
    assert found.upper >= value.lower - Fraction(1, 10**4)


@pytest.mark.slow
@pytest.mark.parametrize("point", ["900", "1190", "1150", "1199"])
def test_beyond_the_range_of_floats_the_grid_is_wide_but_right(point):
    truth = OptimalComposition(real("40"), 30, NONE).delta(real(point), 20)
    grid = GridComposition([(real("40"), 30)], NONE, work=5_000_000)
    found = grid.delta(real(point), 6)
    assert found.overlaps(truth)
    assert found.lower <= truth.lower
    several = different_responses([(real(f"5*sqrt({i})"), 1) for i in range(2, 60)], NONE)
    assert several.largest is not None
    spread = several.delta(real(point), 6)
    assert spread.lower > Fraction(9, 10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "low", "high", "digits"), [(150, 1, 50, 10), (210, 1000, 2500, 8)]
)
def test_of_many_the_grid_and_the_contour_stand_behind_one_another(number, low, high, digits):
    """Each alone lacks the digits of one of them."""
    chance = random.Random(7)
    drawn = (chance.uniform(low, high) / 1000 for _ in range(number))
    mechanism = "*".join(f"pure_dp({eps:.7f})" for eps in drawn)
    assert dpexact.epsilon(mechanism, "1e-4", digits).digits >= digits
