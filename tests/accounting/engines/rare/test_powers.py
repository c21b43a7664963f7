"""Losses by powers of ``lambda``: against sums by mpmath, and plans with powers against others."""

import math

import pytest
from flint import acb, arb
from mpmath import mp, mpc, mpf

import dpexact
from dpexact import balls
from dpexact.accounting.engines.loud_samples import LoudSamples
from dpexact.accounting.engines.rare.float_rows import FloatRow
from dpexact.accounting.engines.rare.inversion import Inversion
from dpexact.accounting.engines.rare.law import Cells, Rule, SampledLaw
from dpexact.accounting.engines.rare.picture import Question, largest_loss
from dpexact.accounting.engines.rare.planning import cheapest, planned
from dpexact.accounting.engines.rare.powers import (
    binomials,
    fallen,
    large_line,
    real_powers,
    tiny_line,
)
from dpexact.accounting.engines.rare.rows import Row
from dpexact.accounting.engines.rare.windows import Window
from dpexact.conversion import real

BITS = 200
#: Of noise 1/4 and rate 1/1000 ``log lambda`` is ``4 x - 8 - log 999``.
WIDE = [-4 + i / 20 for i in range(340)]
TINY = Window(20, math.exp(-20), None, 0.25)
LARGE = Window(20, math.exp(18), math.exp(-3), 0.25)
FAR = Window(20, None, math.exp(18), 0.25)


def law_and_cells():
    law = SampledLaw(real("1/4"), real("1/1000"))
    return law, Cells(law, WIDE)


def integral(window, term, fine=15):
    """``Int phi term(log lambda) W`` by a fine rule."""
    return sum(
        mp.npdf(x) * term(log) * height(window, log) / fine
        for x in (mpf(j) / fine for j in range(-12 * fine, 16 * fine + 1))
        for log in [4 * x - 8 - mp.log(999)]
    )


def height(window, log):
    def above(scale):
        v = mp.exp(window.root * (log - mp.log(mpf(scale))))
        return mp.exp(-v) * mp.fsum(v**j / mp.factorial(j) for j in range(window.shape))

    high = 1 if window.high is None else above(window.high)
    return high if window.low is None else high - above(window.low)


def ends(ball):
    return balls.to_enclosure(ball).to_mpmath(40)


def holds(found, true):
    (a, b), (c, d) = ends(found.real), ends(found.imag)
    return a <= true.real <= b and c <= true.imag <= d


@pytest.mark.parametrize(("window", "count"), [(TINY, 3), (LARGE, 3), (FAR, 2)])
@pytest.mark.parametrize(("first", "last"), [(-300, 400), (-20, 400), (-300, 70), (5, 60)])
def test_powers_on_the_real_line(window, count, first, last):
    """Rules cut short on either side still enclose, as nodes left out are granted."""
    with mp.workdps(40), balls.precision(BITS):
        law, cells = law_and_cells()
        found = real_powers(law, window, range(count), Rule(0.0, 3.0, 0.04, first, last), cells)
        for k, value in enumerate(found):
            true = integral(window, lambda log, k=k: mp.exp(k * log)).real
            low, high = ends(value)
            assert low * (1 - mpf(10) ** -12) <= true <= high * (1 + mpf(10) ** -12)
            if (first, last) == (-300, 400) and k < 2:
                assert high - low < 1e-9 * true + 1e-25


def test_a_coarse_rule_of_powers_is_off_by_what_is_granted():
    with mp.workdps(40), balls.precision(BITS):
        law, cells = law_and_cells()
        for spacing in (0.3, 0.6, 1.2):
            rule = Rule(0.0, 3.0, spacing, -20, 20)
            for k, value in enumerate(real_powers(law, LARGE, range(2), rule, cells)):
                low, high = ends(value)
                true = integral(LARGE, lambda log, k=k: mp.exp(k * log)).real
                assert low <= true <= high
                # without it it would not
                if spacing == 1.2:
                    assert abs(true - (low + high) / 2) > 1e-9 * true


@pytest.mark.parametrize("window", [TINY, LARGE, FAR])
@pytest.mark.parametrize("order", [-1.5, 1.2])
@pytest.mark.parametrize("angle", [0.0, 4.0])
def test_cells_are_above_powers(window, order, angle):
    """Also where ``lambda`` is turned by more than a right angle; few cells on the left hold."""
    if window is TINY and order < 0:
        pytest.skip("powers of tiny losses are not negative")
    with mp.workdps(80), balls.precision(64):
        law, _ = law_and_cells()
        true = mpf(0)
        for j in range(-120, 161):
            x = mpf(j) / 10
            log = 4 * mpc(x, mpf(angle) / 4) - 8 - mp.log(999)
            true += mp.npdf(x) * mp.exp(order * log.real) * abs(height(window, log)) / 10
        true *= mp.exp(mpf(angle / 4) ** 2 / 2)
        for edges in (WIDE, WIDE[100:], WIDE[160:]):
            bound = ends(Cells(law, edges).weighed(window, arb(order), angle))[1]
            assert true <= bound * (1 + mpf(10) ** -6)
        if not angle:
            near = ends(Cells(law, WIDE).weighed(window, arb(order), angle))[1]
            assert near <= 2 * true


@pytest.mark.parametrize("terms", [2, 3, 6])
@pytest.mark.parametrize("order", [mpc("1.5", 0), mpc("1.5", 40), mpc("-2.5", 9)])
def test_tiny_losses(terms, order):
    """With few terms what is left out is most of the width."""
    with mp.workdps(40), balls.precision(BITS):
        law, cells = law_and_cells()
        window = Window(20, math.exp(-12), None, 0.25)
        powers = real_powers(law, window, range(terms + 1), Rule(0.0, 3.0, 0.04, -300, 400), cells)
        at = acb(float(order.real), float(order.imag))
        (found,) = tiny_line(powers, [at])
        true = integral(window, lambda log: (1 + mp.exp(log)) ** order)
        assert holds(found, true)
        # without what is left out it would not hold it
        known = sum((a * b for a, b in zip(binomials(at, terms), powers, strict=True)), acb(0))
        known -= binomials(at, terms)[-1] * powers[-1]
        assert not holds(known, true)


@pytest.mark.parametrize("terms", [2, 3, 5])
def test_large_losses_and_their_decay(terms):
    with mp.workdps(40), balls.precision(BITS):
        law, cells = law_and_cells()
        window = Window(20, math.exp(30), math.exp(4), 0.25)
        orders = [acb(1.25, 2 * n) for n in range(4)]
        rule = Rule(0.5, 4.0, 0.03, -100, 420)
        line = large_line(law, window, orders, terms, 2.0, rule, cells)
        bound = ends(fallen(cells, window, (orders[1], orders[3]), terms, 2.0))[1]
        for n, value in enumerate(line):
            power = mpc("1.25", 2 * n)
            true = integral(window, lambda log, power=power: (1 + mp.exp(log)) ** power)
            assert holds(value, true)
            assert value.real.rad() < 1e-4
            assert n == 0 or abs(true) <= bound
        first = integral(window, lambda log: (1 + mp.exp(log)) ** mpf("1.25"))
        assert bound < abs(first)
        # what the powers leave out does not fall with them
        low, high = acb(1.25, 200), acb(1.25, 202)
        left = abs(binomials(high, terms)[-1]) * cells.weighed(window, arb(1.25) - terms, 0.0)
        assert left <= fallen(cells, window, (low, high), terms, 2.0) <= left * 1.001


def test_so_large_an_order_needs_more_terms():
    with balls.precision(64), pytest.raises(ValueError, match="more terms"):
        binomials(acb(2.5, 1), 2)


@pytest.mark.parametrize(("sigma", "count"), [(0.125, 20), (0.0625, 3)])
def test_plans_with_powers_and_without_meet(sigma, count):
    """Of single losses beyond the gap, and of some that only together reach it."""
    rows, gap = (FloatRow(sigma, 2.0**-10, count),), 110.0 if sigma > 0.1 else 250.0
    exact = [Row(real(sigma), real(2.0**-10), count)]
    epsilon, found = gap - largest_loss(rows), []
    for shape, root, powers in ((10, 1.0, False), (60, 0.25, False), (60, 0.125, True)):
        plan = planned(Question(rows, gap, False), -45.0, shape, root, True, by_powers=powers)
        with balls.precision(plan.bits):
            found.append(Inversion(exact, plan).delta(balls.ball(real(epsilon))))
    assert all(a.overlaps(b) for a in found for b in found)
    assert all(value.rel_accuracy_bits() > 20 for value in found)


def test_far_losses_that_are_rare_enough_add_at_most_their_mass():
    """Were they as likely as that, delta might be larger by as much, and no smaller."""
    rows, gap = (FloatRow(0.125, 2.0**-10, 20),), 110.0
    plan = planned(Question(rows, gap, False), -45.0, 60, 0.25, True, by_powers=True)
    assert plan.rows[0].real_rules[0] is None
    epsilon = balls.ball(real(gap - largest_loss(rows)))
    with balls.precision(plan.bits):
        line = Inversion([Row(real(0.125), real(2.0**-10), 20)], plan)
        found = line.delta(epsilon)
        assert 0 < line._far.p.upper() < found.rad()
        line._far = line._far._replace(p=arb("1e-3"))
        likelier = line.delta(epsilon)
        assert likelier.upper() > found.lower() + arb("1e-3")
        assert likelier.lower() < found.upper()


def test_on_a_line_above_the_axis_a_normal_density_is_larger():
    """Without a window the bound is what is bounded."""
    with balls.precision(64):
        law, cells = law_and_cells()
        for order, angle in ((0.0, 2.0), (1.5, 6.0), (-1.0, 0.0)):
            true = (arb(angle / 4) ** 2 / 2).exp() * law.mean(arb(order))
            assert abs(cells.weighed(Window(20), arb(order), angle) / true - 1) < 1e-12


def test_many_large_losses_take_few_nodes():
    """Windows that fall with the loss took 10,000 nodes times 6,700."""
    ask = Question((FloatRow(0.1, 1.024e-5, 976_563),), 1209.0, False)
    plan = cheapest(ask, -53.0)
    assert plan.tiny is not None
    assert plan.work < 8_000_000


def test_deep_in_a_tail_plans_have_no_powers():
    """Those of 10^-63 took 3 s instead of 0.3."""
    ask = Question((FloatRow(0.1, 2.38e-5, 104),), 170.0, False)
    assert cheapest(ask, -130.0).tiny is not None
    assert cheapest(ask, -160.0).tiny is None


@pytest.mark.parametrize(
    ("sigma", "q", "count", "delta", "digits"),
    [
        ("0.0708", "0.0266", 49, "1.4e-8", 8),
        ("0.0582", "1.19e-5", 2329, "1.8e-13", 8),
        ("0.0584", "2.71e-6", 614497, "4.3e-13", 6),
    ],
)
def test_losses_of_hundreds_that_take_many_steps(sigma, q, count, delta, digits):
    """No window and no line was found for these."""
    text = f"poisson(gaussian({sigma}), {q})^{count}"
    found = dpexact.epsilon(text, delta, digits=digits, direction="remove")
    assert found.digits >= digits
    told = LoudSamples(real(sigma), real(q), count, False).epsilon(real(delta), digits)
    assert told.lower <= found.upper
    assert found.lower <= told.upper
