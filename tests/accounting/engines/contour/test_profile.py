"""The engine as a profile: the whole promised range, and parameters beyond reason."""

import gc
import math
from fractions import Fraction

import pytest

from dpexact import delta, epsilon
from dpexact.accounting.engines.contour.inversion import Contour
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import FAINT, InfiniteLoss
from dpexact.accounting.profiles import profile
from dpexact.answers import PrecisionNotReached
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import parse
from dpexact.reals import rational

DIRECTIONS = ["remove", "add"]


def best(ask, *arguments):
    """The enclosure, and that a failure says so in one line."""
    try:
        return ask(*arguments)
    except PrecisionNotReached as failure:
        assert str(failure)
        assert "\n" not in str(failure)
        assert len(str(failure)) < 200
        return failure.best


@pytest.mark.parametrize("make", [remove, add])
@pytest.mark.parametrize("sigma", ["1e5", "1e9", "1e17"])
def test_tiny_losses_are_no_more_work(make, sigma):
    """Nodes are as far apart as the losses are small; all of it is about Gaussian."""
    none = InfiniteLoss()
    line = ContourProfile([(make(real(sigma), real("1/100")), 10)], none, 30_000)
    found = line.delta(rational(0), 12)
    limit = math.sqrt(10 / (2 * math.pi)) / 100 / float(sigma)
    assert found.digits >= 12
    assert float(found.lower) == pytest.approx(limit, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("steps", [2, 5, 10, 30])
def test_few_steps(steps, direction):
    found = delta(f"poisson(gaussian(1), 0.01)^{steps}", "0.01", 8, direction)
    assert found.digits >= 8
    assert (
        epsilon(f"poisson(gaussian(1), 0.01)^{steps}", found.lower, 5, direction).overlaps(
            Enclosure.exact(Fraction(1, 100))
        )
        or found.upper == 0
    )


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("run", "target", "digits"),
    [
        ("poisson(gaussian(0.3), 1e-6)^1000000", "1e-30", 8),
        ("poisson(gaussian(0.3), 0.99)^1000000", "1e-30", 15),
        ("poisson(gaussian(0.3), 0.99)^100", "1e-10", 15),
        ("poisson(gaussian(0.5), 1e-6)^100000", "1e-9", 8),
        ("poisson(gaussian(1), 1e-5)^1000000", "1e-30", 12),
        ("poisson(gaussian(100), 1e-3)^1000000", "1e-30", 12),
        ("poisson(gaussian(100), 0.99)^2", "1e-30", 12),
        ("poisson(gaussian(10), 0.99)^1000000", "1e-30", 12),
    ],
)
def test_the_ends_of_the_promised_range(run, target, digits, direction):
    found = epsilon(run, target, digits, direction)
    assert found.digits >= digits
    goal = real(target).fraction
    if found.lower > 0:
        assert best(delta, run, found.lower * Fraction(999, 1000), 4, direction).upper > goal
        assert best(delta, run, found.upper * Fraction(1001, 1000), 4, direction).lower < goal
    else:
        assert best(delta, run, 0, 8, direction).lower <= goal


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("run", "point", "true"),
    [  # bounds on delta by hand: all revealed, nothing revealed, hardly ever sampled
        ("poisson(gaussian(1e-10), 0.5)^10", "1", (0.999, 0.9991)),
        ("poisson(gaussian(1e-400), 0.5)^10", "1", (0.999, 0.9991)),
        ("poisson(gaussian(1e300), 0.5)^10", "1", (0, 1e-300)),
        ("poisson(gaussian(1e400), 0.5)^10", "1", (0, 1e-300)),
        ("poisson(gaussian(1), 1e-400)^10", "1", (0, 1e-300)),
        ("poisson(gaussian(1), 0.01)^1000000000000000000", "1", (1, 1)),
        ("poisson(gaussian(1), 1e-30)^1000000000000000000", "1", (0, 1e-11)),
        ("poisson(gaussian(0.3), 0.99)^1000", "1e400", (0, 0)),
        ("poisson(gaussian(1), 0.01)^1000", "1e5", (0, 1e-300)),
    ],
)
def test_absurd_parameters_of_delta(run, point, true, direction):
    if direction == "add" and "1e-" in run.partition(",")[0]:
        true = (0, 1)  # the losses of one step end at log 2
    found = best(delta, run, point, 4, direction)
    assert found.lower <= Fraction(true[1])
    assert found.upper >= Fraction(true[0])
    assert 0 <= found.lower <= found.upper <= 1


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(
    ("run", "target", "true"),
    [
        ("poisson(gaussian(1e-10), 0.5)^10", "1e-5", (1, math.inf)),
        ("poisson(gaussian(1e300), 0.5)^10", "1e-5", (0, 1e-250)),
        ("poisson(gaussian(1), 1e-400)^10", "1e-5", (0, 0)),
        ("poisson(gaussian(1), 1e-400)^10", "1e-450", (0, 1e5)),
        ("poisson(gaussian(1), 0.01)^1000000000000000000", "1e-5", (1e13, 1e14)),
        ("poisson(gaussian(1e6), 0.001)^1000000000000000000", "1e-5", (1, 10)),
        ("poisson(gaussian(1), 0.01)^1000", "1e-5000", (7, 1e4)),
    ],
)
def test_absurd_parameters_of_epsilon(run, target, true, direction):
    found = best(epsilon, run, target, 4, direction)
    assert found.lower <= true[1]
    assert found.upper >= true[0]


@pytest.mark.slow
def test_hardly_ever_sampled():
    """Without any work: delta is at most the chance of ever being sampled."""
    bound = best(delta, "poisson(gaussian(1), 1e-400)^10", "1", 8, "remove")
    assert bound.upper < Fraction(1, 10**25)
    assert epsilon("poisson(gaussian(0.3), 1e-6)^2", "1e-5", 8, "remove") == Enclosure.exact(
        Fraction(0)
    )


@pytest.mark.slow
def test_delta_next_to_the_infinite_losses():
    step, lost = add(real(1), real("1/50")), real("1/1000")
    mass = InfiniteLoss(((lost, 2),))
    bounded = ContourProfile(((step, 100), (Response(real("1/3"), lost), 2)), mass)
    at_mass = rational(1 - Fraction(999, 1000) ** 2)
    found = bounded.epsilon(at_mass, 12)
    assert float(found.lower) == pytest.approx(2 / 3 - 100 * math.log(0.98), rel=1e-11)
    assert "largest loss" in found.method
    assert bounded.epsilon(lost, 12) == Enclosure.exact(math.inf)
    assert bounded.epsilon(real("0.01"), 6) < found
    unbounded = ContourProfile(
        ((remove(real(1), real("1/50")), 100), (Response(real("1/3"), lost), 2)), mass
    )
    assert unbounded.epsilon(at_mass, 12) == Enclosure.exact(math.inf)
    hidden = ContourProfile(
        ((step, 1), (Response(rational(0), real("log(2)")), 1)),
        InfiniteLoss(((real("log(2)"), 1),)),
    )
    found = hidden.epsilon(real("log(4)/2"), 12)
    assert "told apart" in found.reason
    assert found.lower < Fraction(-math.log(0.98))  # the largest loss
    assert found.upper == math.inf


def test_approx_dp_beside_sampled_noise():
    run = "poisson(gaussian(2), 1/10)^50 * approx_dp(1/10, 1e-6)^20"
    for direction in DIRECTIONS:
        whole = delta(run, 1, 12, direction)
        without = delta("poisson(gaussian(2), 1/10)^50 * pure_dp(1/10)^20", 1, 12, direction)
        lost = 1 - (1 - Fraction(1, 10**6)) ** 20
        assert Enclosure(
            lost + (1 - lost) * without.lower, lost + (1 - lost) * without.upper
        ).overlaps(whole)
        assert profile(parse(run), direction).method == "contour"


def test_the_same_noise_written_in_other_words():
    for one, other in [
        ("poisson(gaussian(2, 2), 1/10)^50", "poisson(gaussian(1), 1/10)^50"),
        ("poisson(poisson(gaussian(1), 1/2), 1/5)^50", "poisson(gaussian(1), 1/10)^50"),
        ("poisson(gdp(1), 1/10)^50", "poisson(gaussian(1), 1/10)^50"),
        ("poisson(gaussian(sqrt(2))^2, 1/10)^50", "poisson(gaussian(1), 1/10)^50"),
        ("(poisson(gdp(1), 1/10)^25)^2 * gdp(2)", "gdp(2) * poisson(gaussian(1), 1/10)^50"),
    ]:
        for direction in DIRECTIONS:
            assert delta(one, "1", 15, direction).overlaps(delta(other, "1", 15, direction))
    both = delta("poisson(gaussian(1), 1/10)^50", "1", 15)
    assert both == max(
        (delta("poisson(gaussian(1), 1/10)^50", "1", 15, d) for d in DIRECTIONS),
        key=lambda found: found.lower,
    )


@pytest.mark.parametrize("repeat", [1, 3])
def test_the_line_of_one_direction_shows_what_the_other_is_at_most(repeat):
    one = ContourProfile([(remove(real(10), real("1/100")), 100)], InfiniteLoss()).varied(
        repeat=repeat
    )
    two = ContourProfile((), InfiniteLoss()).varied(repeat=repeat)
    two.product, two.lines = one.product.reverse, one.lines
    assert not two.is_below_reversed(real("1/100"), real(1))  # there is no line yet
    near = rational(Fraction(one.epsilon(real("1/1000"), 8).lower))
    true = two.delta(near, 8)
    one.delta(near, 8)
    for level, found in ((true.upper * 2, True), (true.lower / 2, False)):
        assert two.is_below_reversed(near, rational(Fraction(level))) is found
    assert not two.is_below_reversed(real(1), real(1))  # no line reaches so far


@pytest.mark.parametrize(
    ("sigma", "rate", "count", "target", "most"),
    [
        # on a line far from the saddle point moduli add up to more than delta
        ("10", "1e-3", 1000, "1e-12", 1),
        ("10", "1e-4", 10**5, "1e-12", 1),
        # a saddle point that misleads by a tenth: the first line shows by how much
        ("3", "1e-3", 10**4, "1e-12", 2),
    ],
)
def test_few_lines_find_epsilon(monkeypatch, sigma, rate, count, target, most):
    lines, line = [], ContourProfile.line
    monkeypatch.setattr(ContourProfile, "line", lambda *a: lines.append(a) or line(*a))
    asked = ContourProfile([(remove(real(sigma), real(rate)), count)], InfiniteLoss())
    assert asked.epsilon(real(target), 8).digits >= 8
    assert len(lines) <= most


@pytest.mark.parametrize(
    "text",
    [
        "poisson(gaussian(1), 1/100)^100",
        "poisson(discrete_gaussian(3), 1/10)^30",
        "truncated_poisson(gaussian(1), 1/10, 10, 4)^2",
        " * ".join(f"poisson(gaussian({1 + k / 1000}), 1/100)" for k in range(210)),
    ],
)
def test_what_an_answer_leaves_is_gone_with_it(text):
    """Lines are large, and what refers to itself waits for a collection, which is rare."""

    def lines():
        return sum(isinstance(x, Contour) for x in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = lines()
        epsilon(text, "1e-4", 5)
        assert lines() == before
    finally:
        gc.enable()


def test_a_tail_below_all_claims_takes_little_work():
    """Lines of ever more digits took seconds, and said hardly more."""
    pair = remove(rational(11), real("0.000317"))
    asked = ContourProfile([(pair, 199)], InfiniteLoss(), 12_000_000)
    plans, planned = [], asked.planned

    def kept(ends, digits):
        plans.append(planned(ends, digits))
        return plans[-1]

    asked.planned = kept
    found = asked.delta(real("0.631"), 8)
    assert found.lower == 0
    assert found.upper < FAINT
    assert sum(plan.work for plan in plans) < asked.max_work / 4
