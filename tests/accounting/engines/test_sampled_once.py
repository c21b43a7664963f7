"""One sampled step through the profile of the base, against the law itself."""

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import to_fraction

from dpexact import PrecisionNotReached, delta, epsilon
from dpexact.accounting.engines.closed_form import GaussianMixedWithResponse, OptimalComposition
from dpexact.accounting.engines.few_atoms import FewAtoms
from dpexact.accounting.engines.sampled_once import _Add, sampled_once
from dpexact.accounting.pairs.finite import sampled
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.reals import rational

NONE = InfiniteLoss()
HIGH, LOW, LOST = Fraction(27, 50), Fraction(9, 25), Fraction(1, 10)  # e^eps = 3/2
BASE = [
    Atom(rational(p), rational(q))
    for p, q in [(HIGH, LOW), (LOW, HIGH), (LOST, Fraction(0)), (Fraction(0), LOST)]
]


@given(
    st.sampled_from(["remove", "add"]),
    st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20),
    st.fractions(min_value=1, max_value=3, max_denominator=15),
    st.fractions(min_value=0, max_value=1, max_denominator=30),
)
def test_both_directions_agree_with_the_outcomes(direction, rate, level, target):
    base = OptimalComposition(real("log(3/2)"), 1, InfiniteLoss(((rational(LOST), 1),)))
    once = sampled_once(base, rational(rate), direction)
    law = FewAtoms([(sampled(BASE, rational(rate), direction), 1)], NONE)
    point = real(f"log({level})")
    assert once.delta(point, 15) == law.delta(point, 15)
    assert once.epsilon(rational(target), 12).overlaps(law.epsilon(rational(target), 12))


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_sampled_gaussian_by_quadrature(direction):
    base = GaussianMixedWithResponse(real("3/2"), NONE)
    found = sampled_once(base, real("1/5"), direction).delta(real("1/10"), 25)
    with mpmath.workdps(40):
        mu, level = mpmath.mpf(3) / 2, mpmath.exp(mpmath.mpf(1) / 10)

        def gain(z):
            other = mpmath.npdf(z)
            mixture = (4 * other + mpmath.npdf(z, mu, 1)) / 5
            p, q = (mixture, other) if direction == "remove" else (other, mixture)
            return p - level * q

        root = mpmath.findroot(gain, 0.9 if direction == "remove" else 0.2)
        ends = [root, root + 5, 15] if direction == "remove" else [-15, root - 5, root]
        truth = mpmath.quad(gain, ends)
    assert abs(real(truth).fraction - found.lower) < Fraction(1, 10**22)
    assert found.digits >= 25


def test_epsilon_where_nothing_or_everything_is_left():
    gaussian = GaussianMixedWithResponse(real(1), NONE)
    remove = sampled_once(gaussian, real("1/4"), "remove")
    add = sampled_once(gaussian, real("1/4"), "add")
    assert remove.epsilon(real("1/4"), 10).upper == 0
    assert remove.epsilon(real(0), 10).lower == float("inf")
    assert add.epsilon(real(0), 10).lower < Fraction("0.28768207245178092744")
    assert add.epsilon(real(0), 10).upper > Fraction("0.28768207245178092743")
    assert add.delta(real("0.29"), 10).upper == 0
    assert add.delta(real("0.28"), 10).lower > 0


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_epsilon_undoes_delta(direction):
    base = GaussianMixedWithResponse(real("3/2"), NONE)
    profile = sampled_once(base, real("1/5"), direction)
    point = Fraction(3, 20)
    at = profile.delta(rational(point), 30)
    found = profile.epsilon(rational((at.lower + at.upper) / 2), 20)
    assert found.digits >= 20
    assert abs(found.lower - point) < Fraction(1, 10**18)


# --- the base falls short -------------------------------------------------------------------------


class Wide(Profile):
    """The truth of ``base``, in an enclosure that is wide on both sides."""

    method = "wide"

    def __init__(self, base, share=Fraction(1, 3)):
        self.base, self.infinite, self.share = base, base.infinite, share

    def widened(self, found):
        low, high = found.lower * (1 - self.share), found.upper * (1 + self.share)
        return Enclosure(low, high, "wide", "made wide")

    def delta(self, epsilon, digits):
        return self.widened(self.base.delta(epsilon, digits))

    def _epsilon(self, delta, digits):
        return self.widened(self.base.epsilon(delta, digits))


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("rate", ["1/10", "1/2", "9/10"])
def test_a_partial_answer_of_the_base_is_mapped(direction, rate):
    """Handed on as it is, it would be that of the mechanism without sampling."""
    base = GaussianMixedWithResponse(real("3/2"), NONE)
    exact, wide = (sampled_once(b, real(rate), direction) for b in (base, Wide(base)))
    for point in ("0", "1/20", "1/10"):
        truth, found = (profile.delta(real(point), 10) for profile in (exact, wide))
        assert found.lower < truth.lower <= truth.upper < found.upper
        assert found.upper <= truth.upper * Fraction(34, 25)
        assert found.lower >= truth.lower * Fraction(16, 25)
        assert found.reason == "made wide"
    target = rational(exact.delta(real("1/10"), 20).lower)
    truth, found = (profile.epsilon(target, 5) for profile in (exact, wide))
    assert found.lower < truth.lower <= truth.upper < found.upper
    assert found.upper < (2 * truth.upper if direction == "remove" else math.inf)
    assert found.reason


def test_a_base_of_which_nothing_is_known():
    class Blind(Wide):
        def widened(self, found):
            return Enclosure(Fraction(0), math.inf if found.upper > 1 else Fraction(1), "", "blind")

    base = GaussianMixedWithResponse(real(5), NONE)
    remove, add = (sampled_once(Blind(base), real("1/4"), way) for way in ("remove", "add"))
    assert remove.delta(real(1), 5) == Enclosure(Fraction(0), Fraction(1, 4))
    assert remove.epsilon(real("1/100"), 5) == Enclosure(Fraction(0), math.inf)
    found = add.delta(real("1/10"), 5)
    assert found.lower == 0
    with mpmath.workdps(30):
        rest = 1 - mpmath.mpf(3) / 4 * mpmath.exp(mpmath.mpf(1) / 10)
        assert 0 <= float(found.upper) - float(rest) < 1e-12


@pytest.mark.parametrize("eps", ["1e5000", "exp(1000)"])
def test_losses_beyond_every_exponent(eps):
    """Up to ``e^-eps`` epsilon at 1/10 is ``eps + log(2/5)``, whatever of it is certified."""
    base = OptimalComposition(real(eps), 1, NONE)
    found = sampled_once(base, real("1/2"), "remove").epsilon(real("1/10"), 20)
    with mpmath.workdps(5100):
        loss = mpmath.mpf(eps) if eps[0] == "1" else mpmath.exp(1000)
        truth = to_fraction(loss + mpmath.log(mpmath.mpf(2) / 5))
    assert found.lower <= truth <= found.upper
    assert found.upper <= 2 * truth
    nearly = sampled_once(base, real("1/2"), "add").epsilon(real(0), 20)
    assert abs(float(nearly.lower) - math.log(2)) < 1e-15


def of_a_sampled_normal_pair(mu, q, level, direction):
    """``delta`` at ``log(level)`` of N(mu, 1) against N(0, 1) on a sample, in closed form."""
    if direction == "remove":
        point = mpmath.log(1 + (level - 1) / q)
        near, far = mpmath.ncdf(mu / 2 - point / mu), mpmath.ncdf(-mu / 2 - point / mu)
        return q * (near - mpmath.exp(point) * far)
    rest = 1 - (1 - q) * level
    cut = mpmath.log(rest / (q * level)) / mu + mu / 2
    return rest * mpmath.ncdf(cut) - q * level * mpmath.ncdf(cut - mu)


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_a_billion_laplace_steps_on_one_sample(direction):
    """Their loss is normal to within a share of 1e-6; without sampling delta is ten times larger.

    The base falls short of the digits asked for, and its partial answer has to be mapped too.
    """
    text = "poisson(laplace(1e9)^1000000000, 1/10)"
    try:
        found = delta(text, "1e-6", 12, direction)
    except PrecisionNotReached as error:
        found = error.best
    with mpmath.workdps(40):
        mu, level = 1 / mpmath.sqrt(10**9), mpmath.exp(mpmath.mpf("1e-6"))
        truth = of_a_sampled_normal_pair(mu, mpmath.mpf(1) / 10, level, direction)
        normal = of_a_sampled_normal_pair(mu, mpmath.mpf(1), level, "remove")
        assert normal > 9 * truth
    assert found.lower < found.upper < found.lower * (1 + Fraction(1, 10**5))
    assert abs(float(found.lower) / float(truth) - 1) < 1e-5


@pytest.mark.slow
def test_epsilon_of_a_billion_laplace_steps_on_one_sample():
    text = "poisson(laplace(1e9)^1000000000, 1/10)"
    found = epsilon(text, "1e-7", 5, "remove")
    with mpmath.workdps(40):
        mu, q = 1 / mpmath.sqrt(10**9), mpmath.mpf(1) / 10

        def gap(x):
            value = of_a_sampled_normal_pair(mu, q, mpmath.exp(x), "remove")
            return mpmath.log(value * 10**7)

        truth = mpmath.findroot(gap, (4e-6, 5e-6), solver="anderson")
    assert 4.6e-6 < truth < 4.7e-6
    assert abs(float(found.lower) / float(truth) - 1) < 1e-4


def test_beyond_the_largest_loss_however_far():
    """``e^eps`` has no finite ball; the losses of ``add`` end at ``-log(1-q)``."""
    base = GaussianMixedWithResponse(real(1), NONE)
    add = sampled_once(base, real("1/2"), "add")
    assert add.delta(real("1e5000"), 5) == Enclosure.exact(Fraction(0))
    nowhere = add.delta(real("sqrt(2)*sqrt(3)-sqrt(6)+log(2)"), 5)
    assert nowhere.lower == 0
    assert nowhere.upper < Fraction(1, 10**20)


def test_of_the_smaller_direction_one_point_is_looked_at(monkeypatch):
    monkeypatch.setattr(_Add, "epsilon", None)
    found = epsilon("poisson(gaussian(1), 1/100)", ["1e-3", "1e-9"], 8)
    assert all(answer.digits >= 8 for answer in found)


@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("rate", ["1/100", "99/100", "1e-30"])
def test_a_ball_says_what_exact_expressions_say(direction, rate):
    """Also next to the largest loss, and where the loss of the step is 0."""
    lost = NONE if direction == "add" else InfiniteLoss(((rational(LOST), 1),))
    profile = sampled_once(GaussianMixedWithResponse(real(1), lost), real(rate), direction)
    for level in ("0", "1e-40", "1e-3", "log(100/99)", "1/100", "4.6", "log(100)", "70"):
        one, other = (ask(real(level), 12) for ask in (profile.delta, profile._exactly))
        assert one.overlaps(other)
        assert one.digits >= min(12, other.digits)
