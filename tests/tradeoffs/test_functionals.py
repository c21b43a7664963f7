import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpexact
from dpexact import Enclosure, tradeoff
from dpexact.errors import InvalidInput
from dpexact.tradeoffs import (
    GaussianTradeoff,
    LaplaceTradeoff,
    PiecewiseLinear,
    conjugate,
    delta_of,
    distance_to_gaussian,
    f_eps_delta,
    gaussian_gap,
    group,
    guarantees,
    identity,
    kappa_2,
    kappa_3,
    kappa_3_bar,
    kl,
    maximum,
    mixed,
    of_pair,
    renyi,
    renyi_max,
    subsampled,
    symmetrised,
    tightest,
    total_variation,
    violation,
)
from dpexact.tradeoffs.functionals import METHOD

F = Fraction
functions = st.from_type(PiecewiseLinear)
positive = st.integers(2, 4).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(1, 9), min_size=n, max_size=n)] * 2)
)


def near(found, true, digits=13):
    """Whether the enclosure lies within the accuracy of mpmath's ``true``."""
    slack = mpmath.mpf(10) ** -digits * (1 + abs(true))
    low, high = found.to_mpmath(40)
    return true - slack <= low <= high <= true + slack


@pytest.mark.parametrize(
    "functional",
    [
        total_variation,
        kl,
        kappa_2,
        kappa_3,
        kappa_3_bar,
        lambda f: renyi(f, 1),
        lambda f: renyi(f, 3),
    ],
)
@pytest.mark.parametrize("other", ["laplace(1)", "poisson(gaussian(1), 1/10)^5", "zcdp(1/10)"])
def test_other_trade_off_functions_are_refused(functional, other):
    """Laplace noise has a ``mu`` too, and was taken for Gaussian noise: of ``kl`` 1/2, not 1/e."""
    with pytest.raises(InvalidInput, match="not accepted; must be PiecewiseLinear or G"):
        functional(tradeoff(other))


@pytest.mark.parametrize(
    "function",
    [
        renyi_max,
        *(lambda f: gaussian_gap(f, 0), lambda f: distance_to_gaussian(f, 1)),
        *(lambda f: conjugate(f, -1), symmetrised, lambda f: maximum(f, f_eps_delta(1, 0))),
        *(lambda f: violation(f, identity()), guarantees, lambda f: delta_of(f, 1)),
        *(lambda f: tightest(f, "1/9"), lambda f: mixed(f, "1/2"), lambda f: subsampled(f, "1/2")),
        lambda f: group(f, 2),
    ],
)
@pytest.mark.parametrize("other", [GaussianTradeoff(1), LaplaceTradeoff(1), 3])
def test_what_has_no_pieces_is_refused_by_name(function, other):
    with pytest.raises(InvalidInput, match=f"f: {type(other).__name__} is not accepted"):
        function(other)


@pytest.mark.parametrize("two", [maximum, violation])
def test_so_is_a_second_one(two):
    with pytest.raises(InvalidInput, match="g: GaussianTradeoff is not accepted"):
        two(identity(), GaussianTradeoff(1))


@pytest.mark.parametrize("order", ["3/2", "2", "sqrt(2)"])
def test_orders_of_gaussian_noise_of_any_real_parameter(order):
    """A fraction beside a parameter that is none ended with an error of Python's."""
    for mu in ("2/3", "log(5)", "sqrt(2)", 0):
        found, other = renyi(GaussianTradeoff(mu), order), dpexact.renyi(f"gdp({mu})", order)
        assert found.overlaps(other)
    assert renyi(GaussianTradeoff("2/3"), "3/2") == Enclosure.exact(F(1, 3), METHOD)


@given(positive)
def test_sums_agree_with_an_independent_engine(masses):
    p, q = ([F(x, sum(row)) for x in row] for row in masses)
    f = of_pair(p, q)
    with mpmath.workdps(40):
        ps, qs = ([mpmath.mpf(x.numerator) / x.denominator for x in row] for row in (p, q))
        logs = [mpmath.log(b / a) for a, b in zip(ps, qs, strict=True)]

        def mean(of):
            return mpmath.fsum(a * of(w) for a, w in zip(ps, logs, strict=True))

        divergence = -mean(lambda w: w)
        assert near(kl(f), divergence)
        assert near(kappa_2(f), mean(lambda w: w**2))
        assert near(kappa_3(f), mean(lambda w: abs(w) ** 3))
        assert near(kappa_3_bar(f), mean(lambda w: abs(w + divergence) ** 3))
        for order in (F(1, 2), F(3, 2), F(7)):
            a = mpmath.mpf(order.numerator) / order.denominator
            moment = mpmath.fsum(x**a * y ** (1 - a) for x, y in zip(ps, qs, strict=True))
            assert near(renyi(f, order), mpmath.log(moment) / (a - 1))
        assert near(renyi_max(f), max(-w for w in logs))


@given(functions)
def test_total_variation_is_half_the_l1_distance(f):
    twice = sum((max(a.p - a.q, a.q - a.p) for a in f.atoms), F(0))
    found = total_variation(f, digits=20)
    assert F(found.lower) <= twice / 2 <= F(found.upper)


@pytest.mark.parametrize("eps", ["1/100", "1", "4"])
def test_randomised_response(eps):
    """kl = eps tanh(eps/2), k2 = eps^2, k3 = eps^3, k3bar = 8 eps^3 pq (p^2 + q^2)."""
    f = f_eps_delta(eps, 0)
    with mpmath.workdps(40):
        e = mpmath.mpf(F(eps).numerator) / F(eps).denominator
        p, q = 1 / (1 + mpmath.exp(e)), 1 / (1 + mpmath.exp(-e))
        assert near(kl(f), e * mpmath.tanh(e / 2))
        assert near(kappa_2(f), e**2)
        assert near(kappa_3(f), e**3)
        assert near(kappa_3_bar(f), 8 * e**3 * p * q * (p**2 + q**2))


@pytest.mark.parametrize("mu", ["1/2", "1", "3"])
def test_gaussian(mu):
    """Against the integrals over the normal log-slope."""
    g = GaussianTradeoff(mu)
    with mpmath.workdps(25):
        m = mpmath.mpf(F(mu).numerator) / F(mu).denominator
        points = [-mpmath.inf, -3, 0, m / 2, 3, mpmath.inf]

        def mean(of):
            return mpmath.quad(lambda t: mpmath.npdf(t) * of(m * t - m**2 / 2), points)

        assert kl(g).lower == kl(g).upper == F(mu) ** 2 / 2
        assert near(kappa_2(g), mean(lambda w: w**2))
        assert near(kappa_3(g), mean(lambda w: abs(w) ** 3))
        assert near(kappa_3_bar(g), mean(lambda w: abs(w + m**2 / 2) ** 3), digits=10)
        assert near(total_variation(g), mpmath.erf(m / (2 * mpmath.sqrt(2))))
        assert near(renyi(g, 3), mpmath.log(mean(lambda w: mpmath.exp(-2 * w))) / 2)


@given(functions, st.sampled_from(["1/2", "2"]))
def test_divergences_add_up_over_products(f, order):
    g = f_eps_delta("log(2)", 0)
    for functional in (kl, lambda h: renyi(h, order)):
        parts, whole = (functional(f), functional(g)), functional(f * g)
        if any(part.upper == math.inf for part in parts):
            assert whole.upper == math.inf
        else:
            low, high = (sum(getattr(part, side) for part in parts) for side in ("lower", "upper"))
            assert whole.lower <= high
            assert low <= whole.upper


def test_identity_has_nothing():
    for functional in (kl, kappa_2, kappa_3, kappa_3_bar, total_variation, lambda f: renyi(f, 2)):
        for f in (identity(), GaussianTradeoff(0)):
            assert functional(f).is_exact
            assert functional(f).lower == 0
    assert renyi_max(identity()).lower == 0


def test_flat_parts_are_infinite():
    f = f_eps_delta(1, "1/10")
    for functional in (kl, kappa_2, kappa_3, kappa_3_bar, renyi_max, lambda g: renyi(g, 2)):
        assert functional(f).lower == math.inf
    assert renyi(f, "1/2").upper < math.inf
    assert renyi(f_eps_delta(0, 1), "1/2").lower == math.inf


def test_asymmetric_case_with_lost_mass():
    """f(x) = (1 - x)/2: f(0) < 1 and yet kappa_3 = log(2)^3 is finite."""
    f = of_pair(["0", "1"], ["1/2", "1/2"])
    assert near(kappa_3(f), mpmath.log(2) ** 3)
    assert kappa_3_bar(f).lower == kappa_3_bar(f).upper == 0
    assert near(kl(f), mpmath.log(2))


def test_orders():
    f = f_eps_delta(1, 0)
    assert renyi(f, 1) == kl(f)
    with pytest.raises(InvalidInput, match="order"):
        renyi(f, 0)
