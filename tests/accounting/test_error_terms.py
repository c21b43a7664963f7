"""Terms of the closed forms and short sums that hide behind rounding, or behind good answers."""

import math
from fractions import Fraction

import pytest
from flint import arb
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting import binomial
from dpexact.accounting.engines.closed_form import _erfc
from dpexact.accounting.engines.laplace.product import LaplaceProduct
from dpexact.accounting.engines.laplace.split import between_responses
from dpexact.accounting.engines.laplace.sums import LaplaceParts
from dpexact.accounting.engines.sampled_once import sampled_once
from dpexact.accounting.inverted import invert
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.reals import rational


@pytest.mark.parametrize(("count", "m", "bits"), [(3000, 1568, 6), (3000, 1536, 1)])
def test_a_binomial_sum_stopped_early_counts_the_rest(count, m, bits, monkeypatch):
    """At full precision the rest hides below the radius; here it is most of what is uncertain."""
    with balls.precision(128):
        monkeypatch.setattr(balls, "current", lambda: bits)
        ball = binomial._falling_terms(count, m, arb(0.5), arb(0.5))
        monkeypatch.undo()
        found = balls.to_enclosure(ball)
    true = Fraction(sum(math.comb(count, j) for j in range(m, count + 1)), 2**count)
    assert true in found
    assert found.upper - found.lower > true / 10**9


@pytest.mark.parametrize(("middle", "radius"), [("30", "1"), ("-3", "1/2"), ("1000", "1/8")])
def test_erfc_of_a_wide_ball(middle, radius):
    with balls.precision(64), mp.workdps(40):
        centre, reach = (float(real(x).fraction) for x in (middle, radius))
        low, high = balls.to_enclosure(_erfc(arb(centre, reach))).to_mpmath(30)
        assert low <= mp.erfc(mpf(centre) + reach) < mp.erfc(mpf(centre) - reach) <= high


class Wide(Profile):
    """Knows little, and says no more."""

    method = "guess"
    infinite = InfiniteLoss()

    def delta(self, epsilon, digits):
        return Enclosure(Fraction(1, 10), Fraction(1, 5))

    def epsilon(self, delta, digits):
        return Enclosure(Fraction(1), Fraction(2))

    _epsilon = epsilon


def test_the_image_of_a_wide_enclosure():
    """Both ends are mapped, each to its own."""
    once = sampled_once(Wide(), rational(Fraction(1, 2)), "remove")
    found = once.delta(real("1/3"), 5)
    assert found.lower <= Fraction(1, 20)
    assert found.upper >= Fraction(1, 10)
    low, high = once.epsilon(real("1/100"), 5).to_mpmath(30)
    with mp.workdps(30):
        ends = [mp.log1p(mp.expm1(x) / 2) for x in (1, 2)]
        assert low <= ends[0] < ends[1] <= high


@pytest.mark.parametrize("target", [Fraction(1, 3), Fraction(1, 10), Fraction(9, 10)])
def test_an_inverse_of_wide_enclosures(target):
    """A profile known to three digits: the bracket ends where it no longer decides."""

    def wide(point, digits):
        value = 1 / (1 + point.value)
        return Enclosure(value * Fraction(999, 1000), value * Fraction(1001, 1000))

    found = invert(wide, rational(target), 8, "m")
    assert 1 / target - 1 in found
    assert found.lower < found.upper


def test_a_laplace_product_lies_between_two_responses():
    """Eight steps, of which the finite sum knows all digits."""
    rate, count, epsilon = real("1/5"), 8, real("3/4")
    true = LaplaceProduct(LaplaceParts(((rate, count),)), InfiniteLoss()).delta(epsilon, 20)
    found = between_responses(rate, count, InfiniteLoss()).delta(epsilon, 20)
    assert found.lower < true.lower <= true.upper < found.upper
