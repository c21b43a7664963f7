"""The hull of sampled Gaussian noise by contour: against quadrature and against the lattice."""

from fractions import Fraction

import pytest
from flint import acb, arb
from mpmath import mp, mpc, mpf

from dpexact import bounds
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


@pytest.mark.parametrize(
    ("sigma", "q", "c"), [("1", "1/3", 0.5), ("8", "49/50", 3.0), ("1/3", "1/1000", -0.75)]
)
def test_what_is_left_of_the_atom_holds_its_error(monkeypatch, sigma, q, c):
    sigma, q, step = Fraction(sigma), Fraction(q), 15.0
    pair = Symmetrised(rational(sigma), rational(q))
    with precision(60):
        coarse = pair._left(c, step, 2)
    with precision(200):
        finer = pair._left(c, step, 2)
        monkeypatch.setattr(Symmetrised, "_points", lambda *_: (-3, 1.2, 6))
        few = pair._left(c, step, 2)
        for found, better, worse in zip(coarse, finer, few, strict=True):
            assert all(a.contains(b) for a, b in zip(found, better, strict=True))
            assert all(a.contains(b) for a, b in zip(worse, better, strict=True))
            assert all(a.rad() < 1e-14 for a in found)
    with mp.workdps(25):
        mu, q = 1 / mpf(float(sigma)), mpf(q.numerator) / q.denominator
        for n in range(3):
            s = mpc(c, n * step)
            for exponent, found in zip((s + 1, -s), finer, strict=True):

                def integrand(x, e=exponent):
                    return (1 - q + q * mp.exp(mu * x - mu * mu / 2)) ** e * mp.npdf(x)

                truth = mp.quad(integrand, [mu / 2 - k for k in (18, 12, 8, 6, 4, 3, 2, 1, 0)])
                assert abs(found[n] - acb(float(truth.real), float(truth.imag))).upper() < 1e-13


@pytest.mark.parametrize(
    ("exponent", "ratio", "ellipse"),
    [
        (1.5, 1 / 3, 5.0),
        (-4 + 30j, 0.2, 6.0),
        (-0.1 + 5j, 0.9, 1.5),
        (3 - 400j, 0.02, 6.0),
        (-6 + 0j, 0.5, 1.5),
    ],
)
def test_what_an_interpolation_leaves_out(exponent, ratio, ellipse):
    tried = 0
    for count in (3, 10, 30):
        with mp.workdps(60):
            points = [mp.cos((2 * j + 1) * mp.pi / (2 * count)) for j in range(count)]
            values = [(1 + mpf(ratio) * y) ** mpc(exponent) for y in points]
            worst = mpf(0)
            for at in (mpf(-1), mpf("-0.97"), mpf("0.31"), mpf(1)):
                whole = mp.fprod(at - y for y in points)
                found = sum(
                    value * whole / (at - y) / mp.fprod(y - z for z in points if z != y)
                    for y, value in zip(points, values, strict=True)
                )
                worst = max(worst, abs(found - (1 + mpf(ratio) * at) ** mpc(exponent)))
        order, height = arb(exponent.real), arb(abs(exponent.imag))
        bound = symmetrised.interpolated(arb(ellipse), arb(ratio), order, height, count)
        assert mpf(float(bound)) >= worst * (1 - mpf(10) ** -9)
        tried += mpf(float(bound)) < 1000 * worst
    assert tried


def test_few_points_of_a_large_power_are_no_farther_off_than_they_say(monkeypatch):
    pair = Symmetrised(rational(Fraction(1, 5)), rational(Fraction(1, 2)))
    with precision(110):
        _, finer = pair._left(40.0, 1.0, 0)
        monkeypatch.setattr(Symmetrised, "_points", lambda *_: (-12, 1.8, 8))
        _, few = pair._left(40.0, 1.0, 0)
        assert few[0].contains(finer[0])
        assert few[0].real.rad() < 100 * abs(few[0].mid() - finer[0])


@pytest.mark.parametrize(("order", "mu"), [(2.5, 0.01), (-3.0, 4)])
def test_what_lies_below_the_edge(order, mu):
    q, edge = mpf("0.9"), -2

    def integrand(x):
        return (1 - q + q * mp.exp(mu * x - mu * mu / 2)) ** order * mp.npdf(x)

    truth = mp.quad(integrand, [-20, -8, -4, edge])
    bound = symmetrised.left_out(arb("0.1"), arb(order), arb(edge))
    assert truth <= mpf(float(bound)) < 2 * truth


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


def test_a_line_of_very_many_points_is_left_to_the_lattice():
    with precision(64), pytest.raises(TooExpensive):
        Symmetrised(rational(1), rational(Fraction(9, 10))).moments(1.0, 10.0, 400, 20.0)


@pytest.mark.parametrize(
    ("mu", "q", "count", "delta"),
    [("1", "3/10", 3, "1e-5"), ("5/7", "1/100", 10, "1e-8"), ("1/8", "49/50", 10, "1e-8")],
)
def test_few_steps_need_no_lattice(monkeypatch, mu, q, count, delta):
    monkeypatch.setattr(symmetric_hull, "_lattice", None)
    hull = AboveHull([(rational(Fraction(mu)), rational(Fraction(q)), count)], NOTHING)
    assert hull.epsilon(rational(Fraction(delta)), 5).digits >= 5


def test_many_steps_have_the_digits_that_are_asked_for():
    hull = AboveHull([(rational(2), rational(Fraction(16, 1000)), 1000)], NOTHING)
    assert hull.epsilon(rational(Fraction(1, 10**6)), 12).digits >= 12


@pytest.mark.parametrize(
    "coin", ["mix(1/2: laplace(1), 1/2: discrete_laplace(1))", "mix(1/2: gdp(0), 1/2: laplace(1))"]
)
def test_beside_coins_there_is_no_lattice(coin):
    """A side may be a product, of which only moments are known: the line has the last word."""
    found = bounds(f"{coin} * poisson(gaussian(2), 1/10)", delta="1e-6")
    assert found["C_p"].value.upper >= found.exact.lower > 0
    rest = Composition.of(parse(coin).steps().items())
    hull = AboveHull([(rational(Fraction(1, 2)), rational(Fraction(1, 10)), 1)], rest)
    assert hull.epsilon(rational(Fraction(1, 10**6)), 12).upper >= found.exact.lower
