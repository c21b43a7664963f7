"""The hull of sampled Gaussian noise by contour: against quadrature and against the lattice."""

from fractions import Fraction

import pytest
from flint import acb, arb
from mpmath import mp, mpc, mpf

from dpexact.accounting import symmetric_hull
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs import symmetrised
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.symmetrised import Symmetrised
from dpexact.accounting.symmetric_hull import AboveHull
from dpexact.balls import precision
from dpexact.mechanisms import parse
from dpexact.reals import rational

NOTHING = Composition.of([])


def moment(sigma, q, s):
    """``M(s)`` from its definition, by quadrature."""
    mu, q = 1 / mpf(sigma), mpf(q.numerator) / q.denominator

    def w(x):
        return 1 - q + q * mp.exp(mu * x - mu * mu / 2)

    points = [mu / 2 + k for k in range(0, 26, 2)]
    rest = 1 - mp.quad(lambda x: (w(x) + 1) * mp.npdf(x), points)
    return rest + mp.quad(lambda x: (w(x) ** (s + 1) + w(x) ** -s) * mp.npdf(x), points)


@pytest.mark.parametrize(
    ("sigma", "q", "c", "step"),
    [("1/2", "1/1000", 1.5, 7.0), ("1", "1/2", 0.25, 40.0), ("5", "1/10", 4.0, 0.5)],
)
def test_moments_and_their_decay(sigma, q, c, step):
    sigma, q = Fraction(sigma), Fraction(q)
    pair = Symmetrised(rational(sigma), rational(q))
    with precision(90), mp.workdps(15):
        for n, found in enumerate(pair.moments(c, step, 1, 40.0)):
            truth = moment(float(sigma), q, mpc(c, n * step))
            assert abs(found - acb(float(truth.real), float(truth.imag))).upper() < 1e-9
            assert n == 0 or abs(found).lower() <= pair.decayed(c, n * step, 20.0).upper()
        assert pair.moment(-0.5, 20.0).overlaps(pair.moments(-0.5, 1.0, 0, 20.0)[0].real)
        # the law is one of probabilities, and its own mirror image
        assert pair.moment(0.0, 30.0).contains(1)
        assert abs(pair.cumulant(c).value - float(pair.moment(c, 20.0).log())) < 1e-4


def test_what_is_left_of_the_atom_holds_its_error():
    pair, orders = Symmetrised(rational(1), rational(Fraction(1, 3))), [acb(0.5), acb(0.5, 30)]
    with precision(60):
        coarse = pair._left(orders)
    with precision(200):
        for found, finer in zip(coarse, pair._left(orders), strict=True):
            assert all(a.contains(b) for a, b in zip(found, finer, strict=True))
            assert all(a.rad() < 1e-15 for a in found)


@pytest.mark.parametrize(("exponent", "ratio"), [("3/2", "1/3"), ("-40", "1/5"), ("-1/10", "9/10")])
def test_what_the_binomial_series_leaves_out(exponent, ratio):
    e, r = Fraction(exponent), Fraction(ratio)
    term, sizes = Fraction(1), []
    for k in range(900):
        sizes.append(abs(term))
        term *= (e - k) * r / (k + 1)
    tried = 0
    for count in (0, 1, 5, 40, 80):
        left = sum(sizes[count:], Fraction(0))
        bound = symmetrised.series_tail(
            arb(float(sizes[count])), arb(float(abs(e))), count, arb(float(r))
        )
        assert float(bound) * (1 + 1e-9) >= float(left)
        tried += bool(bound < 100 * float(left))
    assert tried >= 2


@pytest.mark.parametrize("fall", [3, 300])
def test_by_parts(fall):
    """Of losses with the density ``e^{-az}`` both integrals are known."""
    c, a = arb(0.5), arb(fall)
    for u in (0.5, 3.0, 40.0, 300.0, 1e4):
        s = acb(c, u)
        truth = 1 / (a - 1 - s) + 1 / (a + s)
        bound = symmetrised.by_parts(arb(1), 1 / (a - 1 - c), 1 / (a + c), c, arb(u))
        assert abs(truth) < bound
        assert u != fall or bound < 5 * abs(truth)  # where it is at its best


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mu", "q", "count", "rest", "delta"),
    [
        ("1", "1/2", 12, "", "1e-6"),
        ("2", "1/10", 3, "", "1e-4"),
        ("1", "1/10", 20, "gaussian(2) * pure_dp(1/3)", "1e-5"),
    ],
)
def test_the_bound_above_against_the_lattice(mu, q, count, rest, delta):
    others = Composition.of(parse(rest).steps().items()) if rest else NOTHING
    hull = AboveHull([(rational(Fraction(mu)), rational(Fraction(q)), count)], others)
    target = rational(Fraction(delta))
    found = hull.epsilon(target, 5)
    assert found.digits >= 5
    lattice = symmetric_hull._lattice(hull._samples, others)
    lattice.work = 500_000
    other = lattice.epsilon(target, 2)
    assert other.digits >= 1
    assert other.lower <= found.upper < other.upper * Fraction(1001, 1000)
    assert (
        hull.delta(rational(Fraction(1, 2)), 5).upper
        >= lattice.delta(rational(Fraction(1, 2)), 3).lower
    )


def test_a_line_of_many_long_series_is_left_to_the_lattice():
    with precision(64), pytest.raises(TooExpensive):
        Symmetrised(rational(1), rational(Fraction(9, 10))).moments(1.0, 10.0, 400, 20.0)


def test_many_steps_have_the_digits_that_are_asked_for():
    hull = AboveHull([(rational(2), rational(Fraction(16, 1000)), 1000)], NOTHING)
    assert hull.epsilon(rational(Fraction(1, 10**6)), 12).digits >= 12
