"""Two symmetric steps by one integral: against its definition, and against the lattice."""

from fractions import Fraction

import pytest
from flint import arb
from mpmath import mp, mpf

from dpexact.accounting import symmetric_hull
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines import hull_twice
from dpexact.accounting.engines.hull_twice import HullTwice
from dpexact.accounting.pairs.symmetrised import Symmetrised
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.symmetric_hull import AboveHull
from dpexact.balls import precision
from dpexact.reals import rational

NOTHING = InfiniteLoss()


def hull(sigma, q):
    return Symmetrised(rational(Fraction(sigma)), rational(Fraction(q)))


def law(sigma, q):
    """The mass of the atom, the ratio of an outcome, and how far the outcomes reach."""
    mu, q = 1 / mpf(float(Fraction(sigma))), mpf(float(Fraction(q)))

    def ratio(x):
        return 1 - q + q * mp.exp(mu * x - mu * mu / 2)

    return (1 - q) * mp.erf(mu / mp.sqrt(8)), ratio, mu / 2


def one_step(sigma, q, epsilon):
    """Delta at any real epsilon, from the losses themselves."""
    rest, ratio, edge = law(sigma, q)
    points = sorted({edge, *(edge + k for k in (1, 3, 6, 10, 16, 24)), kink(sigma, q, epsilon)})

    def lost(x):
        w = ratio(x)
        up, down = 1 - mp.exp(epsilon) / w, 1 - mp.exp(epsilon) * w
        return (w * max(up, 0) + max(down, 0)) * mp.npdf(x)

    return rest * max(1 - mp.exp(epsilon), 0) + mp.quad(lost, points)


def kink(sigma, q, epsilon):
    mu, q = 1 / mpf(float(Fraction(sigma))), mpf(float(Fraction(q)))
    return mp.log1p((mp.exp(abs(epsilon)) - 1) / q) / mu + mu / 2


@pytest.mark.parametrize(
    ("first", "second", "epsilon"),
    [(("1", "1/4"), ("1", "1/4"), "1/2"), (("2", "1/8"), ("1/2", "1/2"), "1/8")],
)
def test_delta_is_the_mean_of_one_step_over_the_other(first, second, epsilon):
    at = Fraction(epsilon)
    found = HullTwice(hull(*first), hull(*second), NOTHING).delta(rational(at), 20)
    assert found.digits >= 20
    with mp.workdps(15):
        eps = mpf(float(at))
        rest, ratio, edge = law(*first)

        def lost(x):
            w = ratio(x)
            up, down = (one_step(*second, eps - sign * mp.log(w)) for sign in (1, -1))
            return (w * up + down) * mp.npdf(x)

        points = [edge, kink(*first, eps), edge + 6, edge + 12]
        truth = rest * one_step(*second, eps) + mp.quad(lost, points, maxdegree=4)
        assert abs(mpf(float(found.lower)) / truth - 1) < 1e-8


@pytest.mark.parametrize(
    ("mu", "q", "epsilon"), [("1", "1/10", "0"), ("1/3", "9/10", "1/50"), ("3", "1/100", "9")]
)
def test_the_lattice_encloses_the_same(mu, q, epsilon):
    samples = [(rational(Fraction(mu)), rational(Fraction(q)), 2)]
    at = rational(Fraction(epsilon))
    lattice = symmetric_hull._lattice(samples, Composition.of([])).delta(at, 3)
    found = AboveHull(samples, Composition.of([])).delta(at, 15)
    assert lattice.digits >= 3
    assert found.digits >= 15
    assert found.overlaps(lattice)


def test_far_tails_have_all_digits_and_epsilon_inverts_them():
    pair = HullTwice(hull("4", "1/300"), hull("4", "1/300"), NOTHING)
    found = pair.delta(rational(Fraction(1, 2)), 12)
    assert found.digits >= 12
    assert found.upper < Fraction(1, 10**100)
    back = pair.epsilon(rational(Fraction(found.lower)), 10)
    assert back.digits >= 9
    assert back.lower <= Fraction(1, 2) + Fraction(1, 10**9)
    assert back.upper >= Fraction(1, 2)
    # delta at 0 is less
    assert pair.epsilon(rational(Fraction(1, 2)), 10).upper == 0


def test_infinite_loss_beside():
    mass = rational(Fraction(1, 1000))
    both = [hull("1", "1/4"), hull("2", "1/3")]
    plain = HullTwice(*both, NOTHING).delta(rational(1), 20)
    found = HullTwice(*both, InfiniteLoss(((mass, 1),))).delta(rational(1), 15)
    expected = Fraction(1, 1000) + Fraction(999, 1000) * Fraction(plain.lower)
    assert abs(Fraction(found.lower) / expected - 1) < Fraction(1, 10**14)
    assert HullTwice(*both, InfiniteLoss(((mass, 1),))).epsilon(mass, 5).lower == float("inf")


def test_any_end_encloses(monkeypatch):
    pair = HullTwice(hull("1", "1/4"), hull("1/2", "1/3"), NOTHING)
    with precision(120):
        fine = pair.finite_ball(arb(0.5))
        monkeypatch.setattr(hull_twice, "_LN2", 0.003)
        short = pair.finite_ball(arb(0.5))
        assert short.contains(fine)
        assert short.rad() < 0.5 * fine


def test_a_place_that_is_hardly_known():
    pair = HullTwice(hull("1", "1/4"), hull("1/2", "1/3"), NOTHING)
    with precision(100):
        wide = pair.finite_ball(arb(0.5, 1e-3))
        for at in (0.499, 0.4995, 0.5, 0.501):
            assert wide.contains(pair.finite_ball(arb(at)))
        # nothing is said where the end is among the places
        assert not pair.finite_ball(arb(0.5, 10)).is_finite()


def test_little_noise_is_left_to_others():
    samples = [(rational(40), rational(Fraction(1, 4)), 2)]
    assert symmetric_hull._twice(samples, Composition.of([])) is None
