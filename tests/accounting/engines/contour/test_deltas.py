"""Delta on the contour: published digits, independent routes, two unlike lines, monotonicity."""

import math
import random
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from contours import delta, engine, on_plan, plan
from mpmath import mp, mpf
from oracles import SCALE, scaled
from sampled_gaussian import KNOWN, delta_by_inversion, delta_once, delta_thrice, delta_twice

from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse
from dpexact.accounting.engines.contour.planning import Query
from dpexact.accounting.engines.contour.product import Product
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.profiles import profile
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.mechanisms import parse
from dpexact.reals import rational

MAKE = {"remove": remove, "add": add}
NONE = InfiniteLoss()
STEPS = [("remove", "1", "3/10"), ("add", "1", "3/10"), ("remove", "1/2", "1/100")]
STEPS += [("add", "3", "9/10"), ("remove", "4", "99/100"), ("add", "2/5", "1/2")]


def sampled(direction, sigma, q):
    return MAKE[direction](real(sigma), real(q))


def reference(direction, sigma, q):
    return direction, Fraction(sigma), Fraction(q)


def asked(composition, epsilon, digits, **options):
    """Delta at an epsilon given as text."""
    return delta(composition, real(epsilon), digits, **options)


def holds(found, value, relative):
    """Whether the enclosure meets ``value``, known to within ``relative``."""
    low, high = found.to_mpmath(50)
    return low * (1 - relative) <= value <= high * (1 + relative)


@pytest.mark.parametrize(("run", "removed", "added"), KNOWN)
def test_known_digits(run, removed, added):
    sigma, q, steps, epsilon = run
    for direction, text in (("remove", removed), ("add", added)):
        found = delta(((sampled(direction, sigma, q), steps),), rational(epsilon), 30)
        assert found.digits >= 30
        with mp.workdps(50):
            assert holds(found, mpf(text), mpf(10) ** -29)
        assert found.shown(29)[:-3].rstrip(".e-0123456789") == ""
        assert text.startswith(found.shown(29).partition("...")[0])


@pytest.mark.slow
@pytest.mark.parametrize(("direction", "sigma", "q"), STEPS)
@pytest.mark.parametrize("epsilon", ["1/10", "1/2"])
def test_one_step_against_the_closed_forms(direction, sigma, q, epsilon):
    """One step needs no contour, and reaches few digits on one: they are true."""
    found = asked(((sampled(direction, sigma, q), 1),), epsilon, 4, max_work=10**7)
    closed = profile(parse(f"poisson(gaussian({sigma}), {q})"), direction)
    assert found.overlaps(closed.delta(real(epsilon), 20))
    with mp.workdps(30):
        true = delta_once(reference(direction, sigma, q), mpf(epsilon))
        assert holds(closed.delta(real(epsilon), 20), true, mpf(10) ** -18)


@pytest.mark.slow
@pytest.mark.parametrize(("direction", "sigma", "q"), STEPS)
def test_two_steps_against_quadrature(direction, sigma, q):
    found = asked(((sampled(direction, sigma, q), 2),), "1/4", 8, max_work=10**7)
    with mp.workdps(16):
        assert holds(found, delta_twice(reference(direction, sigma, q), mpf("0.25")), mpf("1e-10"))
    assert found.digits >= 3


@pytest.mark.parametrize(("direction", "sigma", "q"), [s for s in STEPS if Fraction(s[1]) >= 1])
def test_three_steps_against_quadrature(direction, sigma, q):
    found = asked(((sampled(direction, sigma, q), 3),), "1/2", 8, max_work=10**7)
    true = delta_thrice(reference(direction, sigma, q), 0.5)
    assert true > 1e-6
    assert holds(found, true, 1e-7)
    assert found.digits >= 3


@pytest.mark.parametrize("q", ["1", "0.9999999999999999999999999999999999999999"])
@pytest.mark.parametrize(
    ("sigma", "steps", "epsilon"), [("10", 400, "3"), ("100", 10**6, "70"), ("1", 30, "40")]
)
def test_rates_near_one_against_the_gaussian(q, sigma, steps, epsilon):
    mu = real(f"sqrt({steps})/{sigma}")
    true = GaussianMixedWithResponse(mu, NONE).delta(real(epsilon), 30)
    for direction in MAKE:
        found = delta(((sampled(direction, sigma, q), steps),), real(epsilon), 25)
        low, high = (x.to_mpmath(40) for x in (found, true))
        assert abs(low[0] / high[0] - 1) < 1e-24
        if q == "1":
            assert found.overlaps(true)


@pytest.mark.parametrize("count", [1, 6])
def test_gaussians_with_infinite_losses_against_the_sum(count):
    eps, lost, mu = real("1/5"), real("1/1000"), real("1/2")
    true = GaussianMixedWithResponse(mu, InfiniteLoss(((lost, count),)), eps, count)
    composition = ((Response(eps, lost), count), (Gaussian(mu), 1))
    for epsilon in ("0", "1", "3"):
        found = delta(composition, real(epsilon), 25)
        assert found.overlaps(true.delta(real(epsilon), 30))
    rounds = ((Response(eps, lost), count), (sampled("remove", "2", "1"), 1))
    assert asked(rounds, "1", 20).overlaps(true.delta(real("1"), 30))


def test_a_product_of_different_steps_against_plain_inversion():
    steps = [("remove", "2", "1/5", 60), ("remove", "3/2", "1/10", 40)]
    composition = tuple((sampled(*step[:3]), step[3]) for step in steps)
    plain = [(reference(*step[:3]), step[3]) for step in steps]
    found = delta(composition, real(4), 20)
    assert holds(found, delta_by_inversion(plain, 4.0, 2.0), 1e-8)


@pytest.mark.parametrize("direction", MAKE)
def test_equal_steps_written_apart(direction):
    step = sampled(direction, "1", "1/30")
    together = delta(((step, 300),), real(1), 20)
    apart = delta(((step, 100), (step, 150), (step, 50)), real(1), 20)
    repeated = delta(((step, 50), (step, 100)), real(1), 20, repeat=2)
    assert together.overlaps(apart)
    assert together.overlaps(repeated)


def random_run(rng):
    """Sampled Gaussians over the whole range that is promised, at a random delta."""
    sigma = Fraction(str(round(10 ** rng.uniform(math.log10(0.3), 2), 3)))
    q = Fraction(str(round(10 ** rng.uniform(-6, math.log10(0.99)), 7)))
    target = rng.uniform(-30, -0.5) * math.log(10)
    return rational(sigma), rational(q), round(10 ** rng.uniform(0.3, 6)), target


WORK = 300_000


def test_two_unlike_lines_overlap():
    """Forced lines, at other abscissas, steps and heights than the planned one, with its result."""
    rng = random.Random(1 if SCALE <= 1 else None)
    count, compared, sharp = scaled(100), 0, 0
    for trial in range(count):
        sigma, q, steps, target = random_run(rng)
        direction = rng.choice(["remove", "add"])
        composition = ((MAKE[direction](sigma, q), steps),)
        with np.errstate(all="ignore"):
            near = rational(Fraction(Product(composition).epsilon(target, 1)))
            try:
                first = plan(composition, [Query(float(near.fraction), 1)], 8, WORK)
            except TooExpensive:
                first = None
            found = [asked(composition, near, 14, max_work=WORK)]
            if first is not None:
                other = replace(first, abscissa=first.abscissa * 1.25, step=first.step * 0.8)
                third = replace(first, abscissa=first.abscissa * 0.75, count=first.count * 2)
                for forced in (first, other, third):
                    with suppress(TooExpensive):  # of bounds beyond the line
                        found.append(on_plan(composition, near, forced))
        compared += len(found) == 4
        sharp += found[-1].digits >= 2
        where = (trial, direction, str(sigma), str(q), steps, str(near))
        assert max(f.lower for f in found) <= min(f.upper for f in found), where
    assert compared >= 0.7 * count
    assert sharp >= 0.55 * count


@pytest.mark.parametrize("direction", MAKE)
def test_it_decreases_in_epsilon_and_increases_with_the_steps(direction):
    step = sampled(direction, "1.3", "256/60000")
    queries = [(real(f"{i}/10"), steps) for i in range(0, 12, 2) for steps in (2000, 3515, 9000)]
    found = {(e, n): delta(((step, 1),), e, 10, repeat=n) for e, n in queries}
    for (epsilon, steps), value in found.items():
        for (other, more), second in found.items():
            if (
                other.fraction >= epsilon.fraction
                and more <= steps
                and (other, more) != (epsilon, steps)
            ):
                assert second < value
    for epsilon, steps in queries[4:8]:
        assert found[epsilon, steps].overlaps(delta(((step, steps),), epsilon, 14))


@pytest.mark.slow
def test_wide_answers_say_why():
    composition = ((sampled("remove", "0.05", "0.01"), 3),)
    for point, repeat in (("1", 1), ("1/2", 2)):
        found = asked(composition, point, 8, repeat=repeat, max_work=20_000)
        assert found.lower < found.upper <= 1
        assert found.digits < 8
        assert "multiplications" in found.reason


# --- the ends of the range ----------------------------------------------------------------------


def test_no_finite_loss_beyond_epsilon():
    composition = ((sampled("add", "1", "1/2"), 3), (Response(real(1), real("1/10")), 2))
    most = 3 * math.log(2) + 2
    found = delta(composition, real(str(most + 0.001)), 20)
    with mp.workdps(30):
        assert holds(found, 1 - mpf("0.81"), mpf(10) ** -25)
    assert found.method == "no larger finite loss"
    below = asked(composition, str(most - 1), 3)
    assert below.lower > found.upper


@pytest.mark.parametrize(("steps", "epsilon"), [(1000, "900"), (10**18, "1"), (10**18, "1e6")])
def test_delta_near_one(steps, epsilon):
    found = delta(((sampled("remove", "0.3", "0.99"), steps),), real(epsilon), 8)
    assert 1 in found
    assert found.digits >= 8


def test_total_variation_bounds_delta_at_zero():
    for direction, sigma, q in STEPS:
        found = engine(((sampled(direction, sigma, q), 1),)).total_variation.upper
        with mp.workdps(40):  # of one step it is delta itself
            true = delta_once(reference(direction, sigma, q), mpf(0))
            assert true <= mpf(found.numerator) / found.denominator < true * (1 + mpf(2) ** -80)
    pair = ((Gaussian(real("1/2")), 3), (Response(real("1/3"), real("1/50")), 2))
    closed = GaussianMixedWithResponse(
        real("sqrt(3)/2"), InfiniteLoss(((real("1/50"), 2),)), real("1/3"), 2
    )
    assert closed.delta(rational(0), 10).upper < engine(pair).total_variation.upper < 1
    rare = engine(((sampled("remove", "1", "1e-9"), 1000),)).total_variation
    assert Fraction(382, 10**9) < rare.upper < Fraction(383, 10**9)  # erf(1/sqrt 8) = 0.38292..
    assert rare == Enclosure(Fraction(0), rare.upper)


def test_work_is_bounded():
    """What is asked for beyond it gets what was reached, which is true."""
    composition = ((sampled("remove", "1", "1/100"), 1000),)
    true = delta(composition, real(1), 20)
    previous = Fraction(1)
    for work in (100, 3000, 10_000, 10**6):
        found = asked(composition, 1, 20, max_work=work)
        assert found.overlaps(true)
        assert found.upper - found.lower <= previous
        previous = found.upper - found.lower
    assert found.digits >= 20
    least = delta(composition, real(1), 20, max_work=100)
    assert "multiplications" in least.reason
    assert least.method == "Chernoff bound"


def test_far_tails_are_known_to_be_tiny():
    found = asked(((sampled("remove", "1", "1/100"), 1000),), 1000, 8, max_work=10**5)
    assert found.lower == 0
    assert 0 < found.upper < Fraction(1, 10**1000)


@pytest.mark.slow
def test_a_delta_that_was_misjudged_does_not_ask_for_its_digits_twice():
    text = "laplace(2)*poisson(gaussian(1.1),0.01)*poisson(laplace(1),1/10)"
    found = profile(parse(text), "remove").delta(real(1), 6)
    assert 6 <= found.digits <= 8


def test_every_choice_of_floats_is_only_a_choice():
    """A planner that proposes nonsense still cannot make a false claim."""
    composition = ((sampled("remove", "1", "1/50"), 400),)
    true = delta(composition, real(2), 20)
    first = plan(composition, [Query(2.0, 1)], 12)
    for change in (
        {"count": 2},
        {"accuracy": 3.0},
        {"coarse": 1.0},
        {"bits": 24},
        {"bits": 10},
        {"step": first.step * 7},
        {"abscissa": first.abscissa / 50},
        {"abscissa": first.abscissa * 6},
    ):
        assert on_plan(composition, real(2), replace(first, **change)).overlaps(true)
