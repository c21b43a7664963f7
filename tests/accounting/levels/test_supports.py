"""Trade-off functions from tests: as from values of the profile alone, and as exact ones."""

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import scaled

from dpexact import balls
from dpexact.accounting.engines.few_atoms import FiniteProfile
from dpexact.accounting.levels import supports
from dpexact.accounting.levels.polygon import trade_offs
from dpexact.accounting.levels.supports import supported
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.profiles import profile
from dpexact.accounting.reflection import OPPOSITE, WorseDirection
from dpexact.accounting.tradeoff_of import DualTradeoff
from dpexact.enclosure import Enclosure
from dpexact.errors import Contradiction
from dpexact.mechanisms.grammar import parse
from dpexact.reals import rational
from dpexact.tradeoffs import Atom as Vertex
from dpexact.tradeoffs import PiecewiseLinear

F = Fraction
ALPHAS = [F(1, 10**30), F(1, 1000), F(1, 4), F(9, 10), F(999, 1000), 1 - F(1, 10**20)]


@st.composite
def laws(draw):
    """Two laws on the same few outcomes, some of them impossible under one of both."""
    size = draw(st.integers(2, 6))
    weights = st.lists(st.integers(0, 9), min_size=size, max_size=size).filter(any)
    p, q = draw(weights), draw(weights)
    law = [(F(a, sum(p)), F(b, sum(q))) for a, b in zip(p, q, strict=True)]
    assume(any(a and b for a, b in law))  # laws without a common outcome have no finite loss
    return law


@given(laws(), st.sampled_from(ALPHAS) | st.fractions(F(1, 100), F(99, 100)))
@settings(max_examples=scaled(150), deadline=None)
def test_finite_laws_have_their_exact_function(law, alpha):
    exact = PiecewiseLinear(Vertex(p, q) for p, q in law)(alpha, 12)

    def of(pairs):
        revealed = sum((p for p, q in pairs if not q), F(0))
        return FiniteProfile([Atom(rational(p), rational(q)) for p, q in pairs], rational(revealed))

    # type I errors are those under P, so slopes are of tests of Q against P
    forward, back = of([(q, p) for p, q in law]), of(law)
    found = supported(forward, back, [Enclosure.exact(alpha)], 12, "")[0]
    assert found.overlaps(exact)
    assert found.digits >= 12 or found.upper < F(1, 10**30)


@pytest.mark.slow
@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize(
    "text",
    [
        "poisson(pure_dp(1), 1/10)^9",
        "poisson(approx_dp(1, 1/50), 1/10)^5 * pure_dp(1/3)^2",
        "poisson(staircase(1, 1/3), 1/3)^2",
        "poisson(discrete_laplace(2), 1/3)^3",
    ],
)
def test_as_from_values_of_the_profile(text, alpha):
    mechanism = parse(text)
    for way in ("remove", "add", "both"):
        forward, back = profile(mechanism, OPPOSITE.get(way, way)), profile(mechanism, way)
        level = Enclosure.exact(alpha)
        found = supported(forward, back, [level], 10, "")[0]
        (other,) = trade_offs(forward.deltas, [level], 6, "", back.deltas)
        assert found.overlaps(other)
        assert found.digits >= 10 or found.upper == 0 or found.upper < F(1, 10**18)


def test_a_slope_of_which_nothing_is_known_may_rise():
    """At the first precision the mass of infinite loss is not told from 1."""
    f = DualTradeoff(profile(parse("poisson(approx_dp(log(1000), 1-1e-30), 1-1e-30)^4")))
    found = f(F(1, 10**300), 5)
    assert found.upper >= found.lower > F(15, 10**120)


def test_nothing_is_left_beyond_the_mass_of_infinite_loss():
    f = DualTradeoff(profile(parse("poisson(approx_dp(1, 1/5), 1/2)^3")))
    for alpha in (F(9, 10) ** 3, F(4, 5), F(99, 100)):
        assert f(alpha) == Enclosure.exact(F(0))
    without_tests = DualTradeoff(profile(parse("truncated_laplace(3, 3)")))
    assert without_tests(F(99, 100)) == Enclosure.exact(F(0))
    assert f(F(7, 10)).lower > 0


class Doubtful(FiniteProfile):
    """Its tests know no more of ``delta`` than that it exceeds their value by little."""

    def tangent(self, epsilon):
        return super().tangent(epsilon)._replace(doubt=arb(1) / 8)


def two_outcomes(p, q, made=FiniteProfile):
    return made(
        [Atom(rational(p), rational(q)), Atom(rational(1 - p), rational(1 - q))], rational(0)
    )


def test_the_floor_leaves_out_what_a_test_may_miss():
    sure, unsure = (two_outcomes(F(1, 2), F(1, 3), made) for made in (FiniteProfile, Doubtful))
    level = Enclosure.exact(F(1, 4))
    least = supported(sure, sure, [level], 10, "")[0].lower
    found = supported(unsure, unsure, [level], 10, "")[0]
    assert found.upper >= least >= found.lower + F(1, 9)


class Fickle(FiniteProfile):
    """Its first test reveals less than the same test does later."""

    asked = 0

    def tangent(self, epsilon):
        self.asked += 1
        found = super().tangent(epsilon)
        return found._replace(p=found.p + arb(-1 if self.asked == 1 else 1) / 16)


def test_a_value_above_the_lines_of_others_is_raised():
    fickle = two_outcomes(F(1, 2), F(1, 3), Fickle)
    with pytest.raises(Contradiction):
        supported(fickle, fickle, [Enclosure.exact(F(1, 4))], 10, "")


def test_the_larger_of_two_directions_has_the_better_test():
    """And what the worse one may exceed its value by counts as doubt."""
    better, worse = two_outcomes(F(1, 2), F(1, 3)), two_outcomes(F(1, 4), F(1, 5), Doubtful)
    for pair in ((better, worse), (worse, better)):
        tests, _ = supports.tests_of(WorseDirection(*pair))
        with balls.precision(80):
            for epsilon in (arb(0), arb(1) / 10, arb(1) / 2):
                best = tests(epsilon)
                value = best.p - epsilon.exp() * best.q
                for one in pair:
                    low = one.tangent(epsilon)
                    assert low.p - epsilon.exp() * low.q + low.doubt <= value + best.doubt + 1e-20
                assert value.overlaps(better.delta_ball(epsilon))
