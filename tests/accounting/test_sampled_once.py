"""One sampled step through the profile of the base, against the law itself."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact.accounting.closed_form import GaussianMixedWithResponse
from dpexact.accounting.few_atoms import Atom, FewAtoms, sampled
from dpexact.accounting.optimal import OptimalComposition
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.sampled_once import sampled_once
from dpexact.reals import rational, real

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
