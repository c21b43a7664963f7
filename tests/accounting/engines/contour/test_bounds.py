"""Each error term is needed and none may be halved: without it a case below misses the truth.

The cases are chosen so that the error made is almost the bound. The truth is known beforehand, from
closed forms that share nothing with the contour.
"""

import inspect
import math

import contours
import pytest
from contours import integrand_of
from flint import arb
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse
from dpexact.accounting.engines.contour import inversion
from dpexact.accounting.engines.contour.planning import Plan
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.pairs.sums import mixture_sums
from dpexact.accounting.pairs.sums.mixture_rules import Rule
from dpexact.accounting.pairs.sums.mixture_sums import oblique_moments, real_moment
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.reals import rational

BITS = 128


def nearly_normal():
    """Of a moment that is 1 at order 0, with almost nothing but the normal density inside."""
    return integrand_of(real(20), real("1e-6"), rational(0), 0.0)


def oblique(rule):
    with balls.precision(BITS):
        return oblique_moments(nearly_normal(), rule, arb(1), 1.0, 1)[0].real.contains(1)


def positive(rule):
    with balls.precision(BITS):
        return real_moment(nearly_normal(), rule).contains(1)


#: A randomised response smeared by a little noise: its delta nearly has corners.
EPS, MU = real(5), real("1/100")
SMEARED = ((Response(EPS), 1), (Gaussian(MU), 1))
TRUTH = GaussianMixedWithResponse(MU, InfiniteLoss(), EPS, 1)


def inverted(c, period, height, epsilon):
    """Whether delta from this coarse line holds the truth."""
    step = 2 * math.pi / period
    plan = Plan(c, step, int(height / step), 60.0, 30.0, BITS, 0)
    contour = contours.line(SMEARED, plan)
    true = TRUTH.delta(real(epsilon), 20)
    with balls.precision(BITS):
        (terms,) = contour.terms([balls.ball(real(epsilon))])
        found = balls.to_enclosure(terms.enclosure())
    return found.overlaps(true)


CASES = {
    "strip_oblique": lambda: oblique(Rule(2.0, 6.0, math.pi / 3, -40, 40, 81, 300.0)),
    "strip_positive": lambda: positive(Rule(0.0, 4.0, math.pi / 2, -40, 40, 81, 0.0)),
    "geometric_tail": lambda: positive(Rule(0.0, 10.0, 0.01, -300, 300, 601, 0.0)),
    "geometric_tail, oblique": lambda: oblique(Rule(0.05, 9.0, 0.01, -300, 300, 601, 300.0)),
    "outer_tail": lambda: inverted(1.0, 40.0, 12.0, "5"),
    "alias, above": lambda: inverted(0.2, 3.5, 1500.0, "0.5"),
    "alias, below": lambda: inverted(0.5, 5.5, 1500.0, "1.5"),
    "alias, deficit": lambda: inverted(3.0, 2.0, 1500.0, "6.9"),
    "chernoff_constant": lambda: inverted(0.2, 3.5, 1500.0, "0.5"),
    "chernoff_constant, below": lambda: inverted(0.5, 5.5, 1500.0, "1.5"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("factor", [1, "1/2", 0])
def test_error_term(case, factor, monkeypatch):
    name = case.partition(",")[0]
    room = mixture_sums if hasattr(mixture_sums, name) else inversion
    honest = getattr(room, name)
    scale = balls.midpoint(balls.ball(real(factor)))
    monkeypatch.setattr(room, name, lambda *args: honest(*args) * balls.ball(scale))
    assert CASES[case]() == (factor == 1)


def terms_of(room):
    """The functions of balls alone: those that bound an error."""
    for name, found in vars(room).items():
        ours = inspect.isfunction(found) and found.__module__ == room.__name__
        if ours and set(found.__annotations__.values()) <= {"arb", "int"}:
            yield name


def test_every_error_term_has_a_case():
    public = {name for room in (inversion, mixture_sums) for name in terms_of(room)}
    public.add("chernoff_constant")
    assert {case.partition(",")[0] for case in CASES} == public


@pytest.mark.parametrize("order", [0.001, 0.3, 1.0, 7.5, 4000.0])
def test_chernoff_constant_is_the_largest_ratio(order):
    """``(1 - e^{-y})_+ e^{-by}`` stays below it and reaches it."""
    with mp.workdps(40):
        b = mpf(order)
        peak = mp.log1p(1 / b)
        reached = (1 - mp.exp(-peak)) * mp.exp(-b * peak)
        for nearby in (peak * mpf("0.99"), peak * mpf("1.01")):
            assert (1 - mp.exp(-nearby)) * mp.exp(-b * nearby) < reached
        with balls.precision(BITS):
            low, high = balls.to_enclosure(inversion.chernoff_constant(arb(order))).to_mpmath(40)
        assert low <= reached <= high
        assert high - low < reached * mpf("1e-25")


def test_nodes_too_light_to_matter_are_counted():
    """Those beyond about 1.25 standard deviations are left out of the matrix."""
    rule = Rule(0.3, 9.0, 0.1, -120, 120, 25, 4.0)
    with balls.precision(BITS):
        found = oblique_moments(nearly_normal(), rule, arb(1), 1.0, 1)[0].real
        assert found.contains(1)
        assert found.mid() < arb("0.9"), "the centre misses what was left out"
        assert found.rad() < arb("0.3")
