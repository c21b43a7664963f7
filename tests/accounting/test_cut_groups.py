"""Large groups on samples: against brute force, the whole law, lattices and known limits."""

import itertools
import time
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.cut_groups import CutGroups, _Cut, _Errors
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.pairs.binomial_shifts import BinomialShifts
from dpexact.accounting.pairs.mixture import GaussianMixtures
from dpexact.accounting.pairs.shifts import STILL, Shifts
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.reals import rational


def text(k, q, sigma, steps):
    return f"group(poisson(gaussian({sigma}), {q})^{steps}, {k})"


def whole(k, q, sigma):
    """The pair with every weight an exact number, whose strips are those of any rates."""
    law, weight = [], (1 - q) ** k
    for j in range(k + 1):
        law.append((rational(Fraction(j) / sigma), rational(weight)))
        weight = weight * q / (1 - q) * Fraction(k - j, j + 1)
    return GaussianMixtures(Shifts(tuple(law)), STILL)


@pytest.mark.slow
@given(
    st.integers(2, 9),
    st.fractions(Fraction(1, 200), Fraction(1, 3), max_denominator=300),
    st.sampled_from([Fraction(1), Fraction(2), Fraction(7, 2)]),
    st.sampled_from([30, 100, 400]),
    st.sampled_from(["remove", "add"]),
)
@settings(max_examples=12, deadline=None)
def test_the_whole_law_says_the_same(k, q, sigma, steps, way):
    pair = whole(k, q, sigma)
    known = ContourProfile([(pair if way == "remove" else pair.reverse, steps)], InfiniteLoss())
    found = CutGroups(
        Composition.of(dpexact.parse(text(k, q, sigma, steps)).steps().items()).facing(way),
        way,
        lambda c: ContourProfile(c.everything(way), InfiniteLoss()),
    )
    for epsilon in ("1/2", "2"):
        found.delta(real(epsilon), 12).meet(known.delta(real(epsilon), 12))
    for delta in ("1/10", "1/100000"):
        found.epsilon(real(delta), 10).meet(known.epsilon(real(delta), 10))


@pytest.mark.parametrize(
    ("k", "q", "sigma"), [(50, "1/100", "1"), (1000, "1/1000", "5"), (10**4, "1/10000", "2")]
)
def test_one_step_is_a_sum_of_tails(k, q, sigma):
    """In mpmath, with all shifts that have a weight above 1e-60."""
    with mpmath.workdps(60):
        p, s = mpmath.mpf(Fraction(q).numerator) / Fraction(q).denominator, mpmath.mpf(sigma)
        top = min(k, 120)
        law = [mpmath.binomial(k, j) * p**j * (1 - p) ** (k - j) for j in range(top + 1)]

        def ratio(x):
            return sum(w * mpmath.exp(j * x / s - (j / s) ** 2 / 2) for j, w in enumerate(law))

        x = mpmath.findroot(lambda x: mpmath.log(ratio(x)) - 1, (0, 6), solver="anderson")
        level = mpmath.ncdf(-x)
        delta = sum(w * mpmath.ncdf(j / s - x) for j, w in enumerate(law)) - mpmath.e * level
        found = dpexact.delta(text(k, q, sigma, 1), 1, 15, "remove")
        assert abs(mpmath.mpf(found.lower.numerator) / found.lower.denominator / delta - 1) < 1e-14


@pytest.mark.slow
@pytest.mark.parametrize("way", ["remove", "add"])
def test_a_lattice_says_the_same(way):
    composition = Composition.of(dpexact.parse(text(30, "1/50", 5, 40)).steps().items())
    known = dpexact.delta(text(30, "1/50", 5, 40), 1, 12, way)
    from dpexact.accounting.engines.lattice.profile import WORK, lattice_profile

    cut = _Cut(composition.facing(way), -60.0).composition
    found = lattice_profile(cut, way == "add", WORK // 8).delta(real(1), 3)
    with balls.precision(64):
        found.meet(known)
    assert found.digits >= 1


def test_a_record_in_groups_of_one_is_a_sample():
    for way in ("remove", "add"):
        found = dpexact.delta("group(poisson(gaussian(1), 1/100)^500, 1)", 1, 15, way)
        found.meet(dpexact.delta("poisson(gaussian(1), 1/100)^500", 1, 15, way))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("k", "q", "sigma", "steps"),
    [
        (20, "1/100", 1, 1000),
        (50, "1/100", 10, 10_000),
        (200, "1/1000", 3, 100),
        (1000, "1/1000", 10, 10_000),
        (10_000, "1/1000", 10, 100),
        (10_000, "1/10000", 3, 1),
    ],
)
def test_fifteen_digits_of_large_groups(k, q, sigma, steps):
    for way in ("remove", "add"):
        start = time.process_time()
        delta = dpexact.delta(text(k, q, sigma, steps), 1, 15, way)
        epsilon = dpexact.epsilon(text(k, q, sigma, steps), "1e-6", 15, way)
        assert min(delta.digits, epsilon.digits) >= 15
        assert time.process_time() - start < 20  # about one second alone
        # epsilon and delta are inverse
        above = dpexact.delta(text(k, q, sigma, steps), epsilon.upper, 6, way)
        assert above.lower <= Fraction(1, 10**6)
        below = dpexact.delta(text(k, q, sigma, steps), epsilon.lower, 6, way)
        assert below.upper >= Fraction(1, 10**6)


@pytest.mark.slow
def test_more_records_lose_more():
    found = [dpexact.delta(text(k, "1/1000", 5, 200), 1, 8) for k in (20, 21, 50)]
    assert all(a.upper < b.lower for a, b in itertools.pairwise(found))


def test_groups_that_are_nearly_certain_to_be_seen():
    found = dpexact.delta(text(10**4, "1/100", "1/2", 10_000), 1, 15)
    assert found.digits >= 15
    assert 1 - found.lower < Fraction(1, 10**25)
    assert found.upper == 1


def test_no_loss_beyond_the_largest():
    """Added, a group of 20 loses at most ``20 * 1000 * 1e-4`` and a little."""
    assert dpexact.delta(text(20, "1e-4", 1, 100), "0.21", 15, "add").upper == 0
    assert dpexact.delta(text(20, "1e-4", 1, 1), "0.0019", 15, "add").lower > 0
    largest = dpexact.epsilon(text(20, "1e-4", 1, 100), 0, 15, "add")
    with balls.precision(100):
        assert largest.lower <= balls.midpoint(-2000 * (-balls.ball(Fraction(1, 10**4))).log1p())
    assert dpexact.epsilon(text(20, "1e-4", 1, 100), 0, 15, "remove").lower == float("inf")


def test_beside_what_reveals_everything():
    """Mass of infinite loss and a Gaussian beside a group."""
    beside = text(50, "1/100", 5, 300)
    found = dpexact.delta(f"{beside} * group(approx_dp(0, 1/1000), 50)", 1, 12)
    alone = dpexact.delta(beside, 1, 12)
    lost = dpexact.delta("group(approx_dp(0, 1/1000), 50)", 1, 12)
    expected = [
        lost_ + (1 - lost_) * d
        for lost_, d in ((lost.lower, alone.lower), (lost.upper, alone.upper))
    ]
    assert found.lower <= expected[1]
    assert found.upper >= expected[0]
    assert dpexact.epsilon(f"{beside} * group(approx_dp(0, 1/1000), 50)", "1/100").lower == float(
        "inf"
    )


@pytest.mark.parametrize("kept", [(0, 1), (0, 2), (1, 12), (2, 12), (1, 3)])
@pytest.mark.parametrize("way", ["remove", "add"])
def test_a_rough_cut_still_encloses(way, kept):
    """Errors of a cut that neglects much are wide, and hold the truth; without them it is missed.

    Twelve records of rate 1/10: none takes part with probability 0.28, three or more with 0.11.
    """
    whole = Composition.of(dpexact.parse(text(12, "1/10", 2, 3)).steps().items()).facing(way)
    known = dpexact.delta(text(12, "1/10", 2, 3), 1, 12, way)
    cut = _Cut(whole, -40.0)
    ((_, count),) = cut._kept
    shifts = BinomialShifts(real("1/2"), real("1/10"), 12, *kept)
    cut._kept = [(shifts, count)]
    errors = cut.errors(adding=way == "add")
    sides = (shifts, STILL) if way == "remove" else (STILL, shifts)
    found = ContourProfile([(GaussianMixtures(*sides), count)], InfiniteLoss()).delta(real(1), 12)
    assert found.lower - errors.below <= known.upper
    assert found.upper + errors.above >= known.lower
    assert found.upper < known.lower or found.lower > known.upper


@pytest.mark.slow
@pytest.mark.parametrize("sigma", ["1e-30", "1", "1e30"])
@pytest.mark.parametrize("q", ["1e-300", "1/2", "1-1e-30"])
@pytest.mark.parametrize("steps", [3, 10**9])
def test_extreme_groups_are_answered(sigma, q, steps):
    """To some digits, or not; none takes long, and what almost surely shows is seen."""
    start = time.process_time()
    extreme = text(10**4, q, sigma, steps)
    try:
        found = dpexact.delta(extreme, 1, 6)
        assert found.digits >= 6
    except dpexact.PrecisionNotReached as error:
        found = error.best
    if q == "1e-300":
        assert found.upper < Fraction(1, 10**15)
        assert dpexact.epsilon(extreme, "1e-5", 6).upper == 0
    elif sigma != "1e30":
        assert found.lower > Fraction(99, 100)
    assert time.process_time() - start < 60


def test_repetitions_of_large_groups():
    found = dpexact.epsilon_curve(text(10**4, "1/1000", 10, 1), [1, 10], "1e-6")
    found[1].meet(dpexact.epsilon(text(10**4, "1/1000", 10, 10), "1e-6"))
    assert found[0].upper < found[1].lower


def test_groups_too_large_to_write_out_have_no_renyi_divergence_here():
    with pytest.raises(dpexact.UnsupportedMechanism, match="2000 records"):
        dpexact.renyi(text(10**4, "1/10000", 5, 10), 2)


@pytest.mark.parametrize("k", [4, 40])
@pytest.mark.parametrize("runs", [2, 3, 7])
def test_total_variation_of_few_runs_is_known_from_both_sides(k, runs):
    """Adding records was refused: of high orders lines were too fine."""
    mechanism = f"group(poisson(gaussian(2), 1/1000)^{runs}, {k})"
    remove, add = (dpexact.delta(mechanism, 0, 8, way) for way in ("remove", "add"))
    assert remove.overlaps(add)


@pytest.mark.parametrize("way", ["remove", "add"])
def test_many_points_share_cuts_and_their_lines(monkeypatch, way):
    """Each had a line of its own: a thousand targets took 17 s instead of 0.4."""
    mechanism, lines, once = text(5, "1/100", 1, 300), [], ContourProfile.line
    monkeypatch.setattr(ContourProfile, "line", lambda *a: lines.append(a) or once(*a))
    epsilons = [Fraction(k, 20) for k in (90, *range(90), 7)]
    targets = [Fraction(1, 2**k) for k in range(1, 45)] + [0, 1, Fraction(1, 4)]
    deltas = dpexact.delta(mechanism, epsilons, 8, way)
    found = dpexact.epsilon(mechanism, targets, 8, way)
    assert len(lines) < 20
    assert min(x.digits for x in deltas + found) >= 8
    for k in (0, 1, 13, 91):
        assert deltas[k].overlaps(dpexact.delta(mechanism, epsilons[k], 9, way))
    for k in (0, 17, 45, 46):
        assert found[k].overlaps(dpexact.epsilon(mechanism, targets[k], 9, way))


def test_far_points_beside_infinite_loss_share_one_line(monkeypatch):
    """There delta is hardly more than the mass of that: no digits of what else there is matter."""
    lines, once = [], ContourProfile.line
    monkeypatch.setattr(ContourProfile, "line", lambda *a: lines.append(a) or once(*a))
    text = "group(poisson(gaussian(1), 1/100)^100, 3) * approx_dp(1/10, 1/100000)"
    points = [f"{k}/40" for k in range(40, 360, 9)]
    found = dpexact.delta(text, points, 8, "add")
    assert len(lines) < 4
    for k in (0, 11, 23, 35):
        assert found[k].digits >= 8
        assert found[k].overlaps(dpexact.delta(text, points[k], 12, "add"))


def test_answers_are_as_wide_as_the_errors_of_their_cuts(monkeypatch):
    mechanism, above, below = text(3, "1/20", 2, 20), Fraction(1, 10**3), Fraction(1, 10**4)
    delta, epsilon = dpexact.delta(mechanism, 1, 9), dpexact.epsilon(mechanism, "1/100", 9)
    ends = dpexact.epsilon(mechanism, [Fraction(1, 100) + below, Fraction(1, 100) - above], 9)
    monkeypatch.setattr(_Cut, "errors", lambda *_, **__: _Errors(above, below))
    (found,) = dpexact.delta(mechanism, [1], 9)
    assert found.lower <= max(delta.upper - below, 0)
    assert found.upper >= delta.lower + above
    (found,) = dpexact.epsilon(mechanism, ["1/100"], 9)
    assert found.lower <= ends[0].upper < epsilon.lower
    assert found.upper >= ends[1].lower > epsilon.upper
