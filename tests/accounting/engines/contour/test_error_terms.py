"""Each part of an error term against the error itself, where the two are almost equal.

The truth comes from closed forms of the normal law and from sums in mpmath.
"""

import math
from fractions import Fraction

import contours
import pytest
from contours import delta, integrand_of
from contours import epsilon as epsilon_of
from flint import arb
from mpmath import mp, mpc, mpf
from small_laws import gaussian_profile

from dpexact import balls
from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse
from dpexact.accounting.engines.contour import inversion
from dpexact.accounting.engines.contour.inversion import alias, outer_tail
from dpexact.accounting.engines.contour.many import bracketed
from dpexact.accounting.engines.contour.planning import Plan, Query
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.laplace import Laplace as LaplaceNoise
from dpexact.accounting.pairs.mixture import one_shift
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.pairs.sums.mixture_rules import Rule, Shape
from dpexact.accounting.pairs.sums.mixture_sums import oblique_moments, real_moment
from dpexact.accounting.profile import InfiniteLoss
from dpexact.answers import PrecisionNotReached
from dpexact.conversion import real
from dpexact.reals import rational

BITS = 400
DIGITS = 110


def upper(ball):
    return balls.to_enclosure(ball).to_mpmath(DIGITS)[1]


def holds(ball, value):
    low, high = balls.to_enclosure(ball).to_mpmath(DIGITS)
    return low <= value <= high


# --- the rule inside ------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [1, 4])
def test_a_frequency_equal_to_that_of_the_nodes(sigma):
    """With ``u = 2 pi sigma / t`` the rule sees no oscillation: ``M(c) e^{-2 pi a / t}`` too much,
    which is all that is granted from below the line."""
    t, shift = 1.25, 0.5
    u = 2 * math.pi * sigma / t
    f = integrand_of(real(sigma), rational(1), rational(0), 0.0)
    rule = Rule(shift, min(3.0 * sigma, 5.0), t, -30, 30, 61, 300.0)
    with mp.workdps(60), balls.precision(200):
        value = oblique_moments(f, rule, arb(1), u, 1)[1]
        s = mpc(0, u)
        true = mp.exp(s * (s + 1) / (2 * mpf(sigma) ** 2))
        assert holds(value.real, true.real)
        assert holds(value.imag, true.imag)
        assert value.abs_lower() < 2 * math.exp(-2 * math.pi * shift / t)


def integrand(z, sigma, up, down, c):
    """``f_c`` in mpmath, up to ``1/sqrt(2 pi)``."""
    a = 1 - up + up * mp.exp(z / sigma - 1 / (2 * sigma**2))
    b = 1 - down + down * mp.exp(-z / sigma - 1 / (2 * sigma**2))
    return mp.exp(-z * z / 2) * a ** (1 + c) * b**-c


def fine_sum(spacing, *parameters):
    """``M(c)`` by a rule whose error is far below what is looked for."""
    reach = int(60 / spacing)
    nodes = (integrand(j * mpf(spacing), *parameters) for j in range(-reach, reach + 1))
    return mp.fsum(nodes) * spacing / mp.sqrt(2 * mp.pi)


#: The mixture turns by almost ``pi`` at the top of the strip, where ``|B|`` is small.
TURNED = (mpf(5), mpf(0), mpf(1) / 2, 4)


def turned():
    return integrand_of(real(5), rational(0), real("1/2"), 4.0)


def test_a_strip_at_whose_top_the_denominator_is_small():
    """The errors of both rules exceed what would do if ``|B(x + iy)|`` were ``B(x)``."""
    top = 12.0
    t = 2 * math.pi / top
    with mp.workdps(DIGITS), balls.precision(BITS):
        true = fine_sum(mpf(t) / 4, *TURNED)
        real_rule = Rule(0.0, top, t, -80, 80, 161, 0.0)
        assert holds(real_moment(turned(), real_rule), true)
        line = Rule(6.0, top, t, -80, 80, 161, 300.0)
        value = oblique_moments(turned(), line, arb(true), 1.0, 1)[0]
        assert holds(value.real, true)


def test_a_sum_below_the_integral():
    """The middle of a normal density lies halfway between two nodes."""
    f = integrand_of(real(1), rational(1), rational(0), 0.0)
    with balls.precision(BITS):
        found = real_moment(f, Rule(0.0, 3.125, 2.0, -30, 30, 61, 0.0))
        assert found.contains(1)


#: sigma, up, down, c, shift, first and last node, spacing.
CUTS = {
    "left of a mixture": (20, 1e-6, 0, 0, 0, -30, 200, 0.1),
    "right of a mixture": (20, 1e-6, 0, 0, 0, -200, 30, 0.1),
    "pull of the numerator": (0.5, 1, 0, 3, 0, -200, 240, 0.05),
    "pull of a slight numerator": (100, 0.01, 0, 1000, 0, -100, 100, 0.05),
    "where it bends most": (10, 0.25, 0, 399, 0, -100, 900, 0.05),
    "pull of the denominator": (10, 0, 0.5, 60, 0, -400, 600, 0.0125),
    "rise at negative orders": (0.125, 0, 1, -0.9, 0, -1100, 2000, 0.0078125),
    "line above the axis": (20, 1e-6, 0, 0, 3, -300, 300, 0.01),
    "denominator on that line": (20, 0, 0.5, 8, 30, -300, 300, 0.01),
}


@pytest.mark.parametrize("case", CUTS)
def test_what_a_rule_leaves_out(case):
    """The bound holds the sum of the moduli beyond both ends, and is not twice as large."""
    sigma, up, down, c, shift, first, last, t = CUTS[case]
    rule = Rule(float(shift), shift + 1.0, t, first, last, last - first, 0.0)
    with mp.workdps(30), balls.precision(128):
        f = integrand_of(real(sigma), real(up), real(down), float(c))
        bound = upper(f.outside(rule))
        numbers = mpf(sigma), mpf(up), mpf(down), mpf(c)
        left = (mpc((first - k) * t, shift) for k in range(1, 600))
        right = (mpc((last + k) * t, shift) for k in range(1, 600))
        sums = [mp.fsum(abs(integrand(z, *numbers)) for z in side) for side in (left, right)]
        assert sum(sums) <= bound < 2 * sum(sums)


# --- decay ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "poor",
    [
        pytest.param(Rule(1.0, 1.0, 2.0, -30, 30, 61, 0.0), id="coarse"),
        pytest.param(Rule(1.0, 1.0, 0.125, -80, 16, 97, 0.0), id="cut"),
    ],
)
def test_the_decay_from_a_poor_rule(poor, monkeypatch):
    """Of a Gaussian the integral on the best line is the modulus; the sum falls short of it."""
    good = Shape.positive
    monkeypatch.setattr(
        Shape,
        "positive",
        lambda shape, c, accuracy, shift=0.0: poor if shift else good(shape, c, accuracy),
    )
    monkeypatch.setattr(Shape, "decay", lambda shape, c: lambda u: (-0.5, 1.0))
    step = one_shift(rational(1), rational(1), rational(0))
    with balls.precision(128):
        true = Gaussian(rational(1)).decayed(0.0, 1.0, 0.0)
        assert true <= step.decayed(0.0, 1.0, 30.0) < 2 * true


@pytest.mark.parametrize("mu", ["1/3", "2"])
def test_the_modulus_of_gaussian_moments_is_their_bound(mu):
    step = Gaussian(real(mu))
    with balls.precision(128):
        (_, value) = step.moments(0.75, 1.5, 1, 0.0)
        assert abs(step.decayed(0.75, 1.5, 0.0) / abs(value) - 1) < 1e-30


def test_a_light_laplace_loss_reaches_its_bound():
    """At ``tan(rate u) = 1/(2 u)`` the modulus is about ``sqrt(1 + 1/(4 u^2))``."""
    u = 3.0
    step = LaplaceNoise(rational(Fraction(math.atan(1 / (2 * u)) / u)))
    with balls.precision(128):
        bound = step.decayed(0.0, u, 0.0)
        (_, value) = step.moments(2.0**-40, u, 1, 0.0)
        assert value.abs_lower() <= bound
        assert value.abs_lower() > bound * arb("0.99")


# --- the sum outside and the aliases --------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 5, 60])
def test_the_tail_counts_from_the_last_node(count):
    """``sum_{n > N} 1/n^2``, Hurwitz' zeta function, is below ``1/N`` but above ``1/(N+1)``."""
    step = 0.375
    with balls.precision(128):
        bound = upper(outer_tail(arb(1), arb(1), arb(step), count))
    left_out = mp.zeta(2, count + 1) / (mp.pi * step)
    assert left_out < bound < left_out * (1 + mpf(1) / count)


@pytest.mark.parametrize("order", ["3/4", "-1/4", "-5/2"])
def test_the_sum_of_all_aliases(order):
    """Of a geometric series, term by term, and nothing more."""
    with mp.workdps(40), balls.precision(128):
        c, period, epsilon = mpf("0.5"), mpf(3), mpf("0.7")
        apart = str(abs(Fraction(order) - Fraction("1/2")))
        arguments = (balls.ball(real(x)) for x in (order, apart, "3", "7/10"))
        bound = upper(alias(arb(2), *arguments))
        p = mpf(Fraction(order).numerator) / Fraction(order).denominator
        sign = 1 if p > c else -1
        terms = (
            mp.exp(sign * c * period * m - p * (epsilon + sign * period * m)) for m in range(1, 400)
        )
        assert 0 <= bound - 2 * mp.fsum(terms) < mpf("1e-30")


@pytest.mark.parametrize("apart", ["-0.25", "0", "nan"])
def test_an_order_on_the_wrong_side_bounds_no_alias(apart):
    """There the series does not converge."""
    with balls.precision(128):
        found = alias(arb(2), arb("0.25"), arb(apart), arb(3), arb(1))
        assert not found.is_finite()


MU = Fraction(1)
NORMAL = ((Gaussian(rational(MU)), 1),)


def profile(epsilon):
    return gaussian_profile(mpf(1), epsilon)


def contour(composition, c, step, count):
    return contours.line(composition, Plan(c, step, count, 60.0, 30.0, BITS, 0))


def errors(line, first, last, above, below, monkeypatch):
    """The bounds that serve all epsilons of a range, from given orders."""
    monkeypatch.setattr(line, "_order", lambda epsilon, repeat, up: above if up else below)
    monkeypatch.setattr(inversion, "_REACH", math.inf)
    with balls.precision(BITS):
        (terms, *_) = line.terms([balls.ball(first), balls.ball(last)])
    return terms


def test_the_tail_over_a_range(monkeypatch):
    """One node and a fast decay: what is left out is almost the second node alone."""
    c, h = 0.5, 1.5
    line = contour(NORMAL, c, h, 1)
    bound = upper(errors(line, Fraction(-3), Fraction(1), 4.0, -3.0, monkeypatch).tail)
    worst = mpf(0)
    for i in range(-30, 11):
        epsilon, total = mpf(i) / 10, mpc(0)
        for n in range(2, 12):
            s = mpc(c, n * h)
            total += mp.exp(s * (s + 1) / 2 - s * epsilon) / (s * (s + 1))
        worst = max(worst, abs(total.real) * h / mp.pi)
    assert worst < bound < 8 * worst


def test_the_aliases_over_a_range(monkeypatch):
    """Each is largest at one end of the range: above at the first, the others at the last."""
    c, h, first, last = 0.5, 2 * math.pi / 6, Fraction(-2), Fraction(2)
    period = 2 * mp.pi / mpf(h)
    above = below = deficit = mpf(0)
    for i in range(-8, 9):
        epsilon = mpf(i) / 4
        terms = range(1, 40)
        above = max(
            above, mp.fsum(mp.exp(c * period * m) * profile(epsilon + period * m) for m in terms)
        )
        left = [(mp.exp(-c * period * m), epsilon - period * m) for m in terms]
        below = max(below, mp.fsum(scale * (profile(e) - 1 + mp.exp(e)) for scale, e in left))
        deficit = max(deficit, mp.fsum(scale * (1 - profile(e)) for scale, e in left))
    line = contour(NORMAL, c, h, 40)
    known = errors(line, first, last, 4.0, -5.0, monkeypatch)
    assert above < upper(known.above) < 20 * above
    assert below < upper(known.below) < 20 * below
    assert known.deficit == 0
    partial = errors(line, first, last, 4.0, -0.75, monkeypatch)
    assert deficit < upper(partial.deficit) < 20 * deficit
    assert partial.below == 0


def test_losses_that_end_within_a_range(monkeypatch):
    """An alias is nothing only where no epsilon of the range has one."""
    rate, period, c = Fraction(4), 3.0, 0.5
    line = contour(((LaplaceNoise(rational(rate)), 1),), c, 2 * math.pi / period, 40)
    known = errors(line, Fraction(-3, 2), Fraction(3), 1.0, -2.0, monkeypatch)
    alias = mp.exp(c * period) * -mp.expm1(mpf(-3 / 2 + period - 4) / 2)  # 1 - e^{(eps + x - 4)/2}
    assert upper(known.above) > alias
    rest = mp.exp(-c * period) * -mp.expm1(mpf(-2))  # R(0) is delta(0)
    assert upper(known.below) > rest


def test_a_truncated_sum_errs_on_both_sides():
    """The aliases are negligible: the truth is where the nodes that are left out put it."""
    line = contour(NORMAL, 0.5, 0.5, 4)
    points = [Fraction(i, 8) for i in range(-4, 25)]
    with balls.precision(BITS):
        found = line.terms([balls.ball(point) for point in points])
        sides = set()
        for point, terms in zip(points, found, strict=True):
            true = profile(mpf(point.numerator) / point.denominator)
            assert holds(terms.enclosure(), true)
            sides.add(true > upper(terms.total - terms.known))
    assert sides == {True, False}


# --- without a line -------------------------------------------------------------------------------


def reached(ask):
    """What is certified, however wide."""
    try:
        return ask()
    except PrecisionNotReached as error:
        return error.best


LOST = real("1/100")
LEAKING = ((Gaussian(real("1/6")), 9), (Response(rational(0), LOST), 1))
WHOLE = GaussianMixedWithResponse(real("1/2"), InfiniteLoss(((LOST, 1),)))


@pytest.mark.parametrize("epsilon", ["1/4", "4"])
def test_chernoff_counts_all_steps_and_infinite_losses(epsilon):
    found = reached(lambda: delta(LEAKING, real(epsilon), 12, max_work=1))
    assert found.method == "Chernoff bound"
    true = WHOLE.delta(real(epsilon), 20)
    assert true.upper <= found.upper < 8 * true.upper


@pytest.mark.parametrize("target", ["0.0100001", "0.1"])
def test_the_renyi_bound_spends_delta_on_infinite_losses_first(target):
    found = reached(lambda: epsilon_of(LEAKING, real(target), 12, max_work=1))
    assert found.method == "Rényi bound"
    true = WHOLE.epsilon(real(target), 20)
    assert true.upper <= found.upper < 2 * true.upper


def test_delta_near_one_from_the_affinity():
    """``1 - delta`` is about ``e^-98`` where ``M(-1/2)`` alone is ``e^-112``."""
    found = reached(lambda: delta(((Gaussian(rational(30)), 1),), real(40), 12, max_work=1))
    assert found.method == "Bhattacharyya bound"
    true = GaussianMixedWithResponse(rational(30), InfiniteLoss()).delta(real(40), 60)
    assert 1 - true.upper > 0
    assert 1 - found.lower >= 1 - true.upper
    assert 1 - found.lower < 1000 * (1 - true.lower)


@pytest.mark.parametrize("side", [-1, 0, 1])
def test_a_bracket_beside_the_root_is_refused(side):
    """Delta must certainly be above the target at one end and below it at the other."""
    true = WHOLE.epsilon(real("1/20"), 20)
    line = contours.line(LEAKING, contours.plan(LEAKING, [Query(0.576, 1)], 9))
    with balls.precision(line.plan.bits):
        at = balls.ball(true.lower) * (1 + side * arb("1e-5"))
        (found,) = bracketed(line, [balls.ball(real("1/20"))], 1, [at.mid()], 1e-6)
    assert found is None if side else found.overlaps(true)
