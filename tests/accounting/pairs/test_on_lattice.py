"""The loss laws on a lattice, against the definitions of the noise."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from dpexact import balls
from dpexact.accounting.pairs import finite
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.lattice import FiniteOnLattice
from dpexact.accounting.pairs.response import Response, discrete_laplace, staircase
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import rational

growths = st.fractions(min_value=Fraction(11, 10), max_value=5, max_denominator=12)


def divergence(pairs, level):
    return sum((max(p - level * q, Fraction(0)) for p, q in pairs), Fraction(0))


def law(part):
    return [(atom.p.fraction, atom.q.fraction) for atom in part.outcomes()]


@given(growths, st.integers(1, 5), growths)
def test_discrete_laplace_is_its_noise(growth, sensitivity, level):
    part = discrete_laplace(real(f"1/log({growth})"), sensitivity)
    a, reach = 1 / growth, 30
    mass = (1 - a) / (1 + a)
    noise = {x: mass * a ** abs(x) for x in range(-reach - sensitivity, reach + 1)}
    pairs = [(noise[x], noise[x - sensitivity]) for x in range(-reach, reach + 1)]
    beyond = a ** (reach + 1) / (1 + a)  # one tail; the loss is constant there
    pairs += [(beyond, beyond * a**sensitivity), (beyond, beyond * growth**sensitivity)]
    assert sum(p for p, _ in pairs) == 1
    assert divergence(law(part), level) == divergence(pairs, level)


@given(
    st.fractions(min_value=Fraction(1, 3), max_value=40, max_denominator=9),
    st.integers(1, 12),
    st.sampled_from([Fraction(x) for x in ("-9/10", "-1/2", "0", "1/7", "3")]),
    st.floats(0, math.pi),
)
def test_moments_of_discrete_laplace_are_those_of_its_outcomes(scale, sensitivity, theta, angle):
    part = discrete_laplace(rational(scale), sensitivity)
    listed = FiniteOnLattice(part.law, part.spacing, part.start)
    with balls.precision(100):
        for one, other in zip(part.atoms(0.0)[0], listed.atoms(0.0)[0], strict=True):
            assert all(map(arb.overlaps, one, other))
        order = rational(theta)
        assert part.moment(order, 60.0).overlaps(listed.moment(order, 60.0))
        assert part.moment(order, 60.0).rel_accuracy_bits() > 60
        closed, summed = part.turning(theta), listed.turning(theta)
        for farther in (angle, (angle + math.pi) / 2, math.pi):
            found = closed.at(arb(farther))
            assert found.overlaps(summed.at(arb(farther)))
            assert not abs(found) > closed.bound(arb(angle))
        assert not closed.bound(arb(0)) > 1 + arb(2) ** -60


def test_many_losses_of_discrete_laplace_take_no_sum_each(monkeypatch):
    """Four runs of 30,000 outcomes took two minutes."""
    pair = discrete_laplace(rational(16_400), 30_000)
    with balls.precision(100), monkeypatch.context() as hidden:
        hidden.setattr(FiniteOnLattice, "_balls", None)
        assert pair.moment(rational(Fraction(1, 3)), 60.0) > 1
        assert pair.turning(Fraction(1, 3)).bound(arb(1)) < 1


def steps_of(growth, gamma, shift, reach):
    """Exact ``(P, Q)`` masses of the staircase and its shift on intervals, sensitivity 1."""
    a = (1 - 1 / growth) / (2 * (gamma + (1 - gamma) / growth))

    def density(x):
        x = abs(x)
        n = x.numerator // x.denominator
        return a / growth ** (n if x - n < gamma else n + 1)

    cuts = {
        s * (n + g) + d
        for s in (1, -1)
        for n in range(reach)
        for g in (0, gamma)
        for d in (0, shift)
    }
    ends = sorted(cuts)
    pairs = []
    for left, right in pairwise(ends):
        middle, width = Fraction(left + right) / 2, right - left
        pairs.append((width * density(middle), width * density(middle - shift)))
    return pairs


@given(
    growths,
    st.fractions(min_value=0, max_value=1, max_denominator=9),
    st.fractions(min_value=Fraction(1, 9), max_value=1, max_denominator=9),
    growths,
)
def test_staircase_is_worst_at_the_full_shift(growth, gamma, shift, level):
    part = staircase(real(f"log({growth})"), rational(gamma))
    reach = 40
    lost = 1 / growth ** (reach - 2)
    full = divergence(steps_of(growth, gamma, Fraction(1), reach), level)
    exact = divergence(law(part), level)
    assert full <= exact <= full + lost
    assert divergence(steps_of(growth, gamma, shift, reach), level) <= exact


def test_staircase_in_the_middle_is_randomised_response():
    assert law(staircase(real("log(3)"), rational(Fraction(1, 2)))) == law(Response(real("log(3)")))


@pytest.mark.parametrize("gamma", ["1/4", "3/4", "0", "1", "1/2"])
def test_masses_have_the_loss_they_claim(gamma):
    for part in (staircase(real("0.7"), real(gamma)), discrete_laplace(real(3), 4)):
        with balls.precision(100):
            spacing, start = part.lattice()
            for i, atom in enumerate(part.outcomes()):
                loss = balls.ball(spacing) * balls.ball(start + i)
                assert (balls.ball(atom.p) - balls.ball(atom.q) * loss.exp()).contains(0)
            assert sum(balls.ball(atom.p) for atom in part.outcomes()).contains(1)


@pytest.mark.parametrize(("sigma", "sensitivity"), [("2", 1), ("0.3", 2), ("7.5", 3)])
@pytest.mark.parametrize("theta", [Fraction(0), Fraction(5, 2), Fraction(40)])
def test_tilted_discrete_gaussian(sigma, sensitivity, theta):
    part = DiscreteGaussian(real(sigma) ** 2, sensitivity)
    with balls.precision(120):
        tilted = part.tilted(theta)
    with mpmath.workdps(60):
        variance = mpmath.mpf(Fraction(sigma).numerator) ** 2 / Fraction(sigma).denominator ** 2
        t = mpmath.mpf(theta.numerator) / theta.denominator
        half = mpmath.mpf(sensitivity) / 2
        xs = range(-400, int(theta * sensitivity) + 400)
        plain = mpmath.fsum(mpmath.exp(-x * x / (2 * variance)) for x in xs)
        weights = {
            x: mpmath.exp(-x * x / (2 * variance) + t * sensitivity / variance * (x + half))
            for x in xs
        }
        total = mpmath.fsum(weights.values())
        assert close(tilted.moment, total / plain, total / plain)
        for i in range(0, len(tilted.masses), 7):
            assert close(tilted.masses[i], weights[tilted.first + i] / total, 1)
    with balls.precision(200):
        whole = balls.to_enclosure(sum(tilted.masses) + tilted.dropped)
    assert whole.lower <= 1 <= whole.upper


@pytest.mark.parametrize("theta", [Fraction(0), Fraction(7, 3)])
def test_the_weights_left_out_are_bounded_and_not_by_much(theta):
    part = DiscreteGaussian(real("2.5") ** 2, 1)
    with balls.precision(20):
        first, weights, rest = part._weights(theta, 15)
        bound = balls.to_enclosure(rest).upper
    with mpmath.workdps(40):
        t, centre = mpmath.mpf(theta.numerator) / theta.denominator, round(theta)

        def weight(x):
            return mpmath.exp((2 * t * (x - centre) - x * x + centre * centre) / mpmath.mpf("12.5"))

        left_out = mpmath.fsum(weight(first - i) for i in range(1, 300))
        left_out += mpmath.fsum(weight(first + len(weights) - 1 + i) for i in range(1, 300))
    truth = real(left_out).fraction
    assert truth <= bound <= 2 * truth


def close(ball, value, size):
    with balls.precision(200):
        middle = balls.midpoint(ball)
    return abs(middle - real(value).fraction) < real(size).fraction / 10**30


def test_too_many_outcomes_are_refused():
    part = DiscreteGaussian(real(10**7) ** 2, 1)
    with balls.precision(64), pytest.raises(UnsupportedMechanism, match="sigma is too large"):
        part.tilted(Fraction(0))
    with pytest.raises(UnsupportedMechanism, match="sensitivity"):
        discrete_laplace(real(1), 10**6)


def test_masses_of_a_law_cut_short():
    """Most of the weights are left to the ball of the rest: each mass is known no better."""

    class Short(DiscreteGaussian):
        def _weights(self, theta, reach):
            first, found, rest = super()._weights(theta, reach)
            middle = len(found) // 2
            lost = sum(found[: middle - 1], arb(0)) + sum(found[middle + 2 :], arb(0))
            return first + middle - 1, found[middle - 1 : middle + 2], rest + lost

    part, short = (kind(real("2") ** 2, 1) for kind in (DiscreteGaussian, Short))
    with balls.precision(100):
        true = part.tilted(Fraction(1))
        cut = short.tilted(Fraction(1))
        start = cut.first - true.first
        for mass, known in zip(cut.masses, true.masses[start:], strict=False):
            assert mass.overlaps(known)
        assert (sum(cut.masses, arb(0)) + cut.dropped).overlaps(arb(1))


@pytest.mark.parametrize("gamma", ["1/4", "3/4"])
def test_laws_on_lattices_are_symmetric(gamma):
    for part in (staircase(real("0.7"), real(gamma)), discrete_laplace(real(3), 4)):
        assert part.reverse == part


@pytest.mark.parametrize("sigma", [50, 3_000, 10**40])
def test_the_outline_of_many_outcomes_is_short_and_has_the_same_weight(sigma):
    pair = DiscreteGaussian(rational(sigma**2), 1)
    listed = pair.outline(2.5)
    assert len(listed) < 10_000
    whole = finite.tilted(listed)
    assert whole.value == pytest.approx(pair.cumulant(2.5).value, rel=1e-6)
    assert whole.slope == pytest.approx(pair.cumulant(2.5).slope, rel=1e-6)


@pytest.mark.parametrize("lost", ["1e-30", "0.4999", "0.5", "1-1e-30"])
def test_what_is_kept_beside_infinite_losses_is_planned_with(lost):
    whole, pair = Response(real(1)), Response(real(1), real(lost))
    with balls.precision(200):
        kept = float((pair.moment(1.0, 60.0) / whole.moment(1.0, 60.0)).log().mid())
    found = pair.cumulant(1.0).value - whole.cumulant(1.0).value
    assert found == pytest.approx(kept, rel=1e-12, abs=1e-15)
