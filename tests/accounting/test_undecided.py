"""Where a ball cannot tell which outcomes exceed epsilon, every possibility counts.

Near the largest loss that is all there is: without it the answer would be an exact 0.
"""

import math
from fractions import Fraction

import pytest
from flint import arb
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.engines.closed_form import OptimalComposition
from dpexact.accounting.engines.few_atoms import FewAtoms
from dpexact.accounting.engines.heterogeneous.counts import CountLaw
from dpexact.accounting.engines.laplace.split import few_inside
from dpexact.accounting.engines.laplace.sums import LaplaceParts, Route, SumPlan, finite_sum
from dpexact.accounting.engines.lattice_product import LatticeComposition, Strided
from dpexact.accounting.engines.tangents import threshold
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real

NONE = InfiniteLoss()
STEPS = 3
WIDTH = mpf(2) ** -20
EPS = real("log(3/2)")


def few_atoms():
    growth = Fraction(3, 2)
    pair = [(growth / (1 + growth), 1 / (1 + growth)), (1 / (1 + growth), growth / (1 + growth))]
    atoms = [Atom(real(p), real(q)) for p, q in pair]
    return FewAtoms([(atoms, STEPS)], NONE)


def lattice_product():
    part = Response(EPS)
    return LatticeComposition(part.lattice()[0], [Strided(part, STEPS, 1)], NONE)


def lattice_circle():
    """As if it were too long to be listed."""
    profile = lattice_product()
    profile._is_short = lambda near: False
    return profile


def counts():
    part = Response(EPS)
    return CountLaw(part.lattice()[0], [Strided(part, STEPS, 1)], NONE)


def optimal():
    return OptimalComposition(EPS, STEPS, NONE)


def responses(epsilon):
    """``STEPS`` randomised responses."""
    eps = mp.log(mpf(3) / 2)
    total = mpf(0)
    for j in range(STEPS + 1):
        p = mp.binomial(STEPS, j) * mp.exp(j * eps) / (1 + mp.exp(eps)) ** STEPS
        total += p * max(0, 1 - mp.exp(epsilon - (2 * j - STEPS) * eps))
    return total


PARTS = LaplaceParts(((EPS, STEPS),))


def laplace_sum():
    return lambda epsilon: finite_sum(PARTS, epsilon, SumPlan(STEPS - 1, 100))


def laplace_route():
    return Route(PARTS, STEPS * math.log(1.5) - 1.2).delta


def laplace_inside():
    return lambda epsilon: few_inside(PARTS, epsilon, STEPS + 1)[0]


def laplaces(epsilon):
    """Near the largest loss: all losses at the top, or one inside and the others at the top."""
    rate = mp.log(mpf(3) / 2)
    x = (STEPS * rate - epsilon) / 2
    if x <= 0:
        return mpf(0)
    scale = 2 * mp.exp((epsilon - STEPS * rate) / 2)
    at_top = mp.sinh(x) / 2**STEPS
    one_inside = STEPS * (mp.cosh(x) - 1) * 2 / (4 * 2 ** (STEPS - 1))
    return scale * (at_top + one_inside)  # two inside: of third order


LAWS = {
    "few_atoms": (lambda: few_atoms().finite_ball, responses),
    "lattice_product": (lambda: lattice_product().finite_ball, responses),
    "lattice_circle": (lambda: lattice_circle().finite_ball, responses),
    "counts": (lambda: counts().finite_ball, responses),
    "laplace_sum": (laplace_sum, laplaces),
    "laplace_route": (laplace_route, laplaces),
    "laplace_inside": (laplace_inside, laplaces),
}
DISCRETE = ("few_atoms", "lattice_product", "lattice_circle", "counts")


@pytest.mark.parametrize(("name", "place"), [*((n, 3) for n in LAWS), *((n, 1) for n in DISCRETE)])
def test_a_ball_around_a_loss(name, place):
    """It holds the profile at both of its ends, of which one is below the loss."""
    make, truth = LAWS[name]
    with balls.precision(100), mp.workdps(30):
        centre = place * balls.ball(EPS)
        radius = arb(float(WIDTH))
        found = balls.to_enclosure(make()(centre + arb(0, radius)))
        low, high = found.to_mpmath(30)
        for side in (-1, 1):
            true = truth(place * mp.log(mpf(3) / 2) + side * WIDTH)
            slack = true * WIDTH**2
            assert low - slack <= true <= high + slack


@pytest.mark.parametrize("place", [3, 1])
@pytest.mark.parametrize("make", [few_atoms, lattice_product, lattice_circle, counts, optimal])
def test_the_doubt_about_a_test(make, place):
    """Wherever in the ball epsilon lies, the test misses no more of the profile than it says."""
    with balls.precision(100), mp.workdps(30):
        test = make().tangent(place * balls.ball(EPS) + arb(0, float(WIDTH)))
        p, q, doubt = (mpf(x.mid().str(40, radius=False)) for x in test)
        assert 0 < doubt < 4 * WIDTH
        for side in (-1, 1):
            epsilon = place * mp.log(mpf(3) / 2) + side * WIDTH
            missed = responses(epsilon) - (p - mp.exp(epsilon) * q)
            assert -WIDTH / 1000 <= missed <= doubt + WIDTH / 1000


@pytest.mark.parametrize("count", [3, 10])
def test_the_doubt_about_a_threshold(count):
    """The least number beyond any point of the ball, and how far below others it may be."""
    with balls.precision(100):
        least, doubt = threshold(arb(2, 1.5), arb(0.25), count)
        assert least == 1
        assert 0 <= doubt - arb(0.25 * 2.5).expm1() < 1e-6
        assert threshold(arb(2.5), arb(0.25), count) == (3, 0)
        assert threshold(arb(-9), arb(0.25), count) == (0, 0)
        assert threshold(arb(99), arb(0.25), count) == (count + 1, 0)
        assert not threshold(arb("inf"), arb(0.25), count)[1].is_finite()


@pytest.mark.parametrize("gap", ["1e-300", "-1e-300"])
def test_a_threshold_hidden_from_the_precision(gap):
    """``3 sqrt(2)`` less or more than can be seen."""
    profile = OptimalComposition(real("sqrt(2)"), STEPS, NONE)
    with balls.precision(64):
        found = balls.to_enclosure(profile.finite_ball(balls.ball(real(f"3*sqrt(2)-({gap})"))))
    true = max(0, Fraction(gap)) / 4
    assert found.lower <= true <= found.upper


def test_losses_that_differ_in_the_last_bit():
    """A thousand steps add up what no single one shows: masses are exact, their losses are not."""
    steps, bit = 1000, Fraction(1, 1 << 63)
    masses = [(1 + sign * bit) / (1 << 40) for sign in (-1, 1)]
    law = FewAtoms([([Atom(real("1/2"), real(q)) for q in masses], steps)], NONE)
    with mp.workdps(60):
        rare, often = (mpf(q.numerator) / q.denominator for q in masses)
        for offset in (-20, 0, 20):
            with balls.precision(200):
                exact = (39 * steps * arb(2).log()).mid() + offset * arb(2) ** -63
                epsilon = balls.midpoint(exact)
            with balls.precision(64):
                found = balls.to_enclosure(law.finite_ball(exact))
            growth = mp.exp(mpf(epsilon.numerator) / epsilon.denominator)
            true = mp.fsum(
                mp.binomial(steps, j)
                * max(0, mpf(2) ** -steps - growth * rare**j * often ** (steps - j))
                for j in range(steps + 1)
            )
            least, most = found.to_mpmath(60)
            assert least <= true <= most
