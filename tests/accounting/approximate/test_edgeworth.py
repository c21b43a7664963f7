"""Edgeworth expansions: moments by quadrature, the printed formula, exact for Gaussians."""

import pytest
from mpmath import exp, log, mp, mpf, ncdf, npdf, quad, sqrt
from oracles import to_fraction

import dpexact
from dpexact.accounting.approximate.central_limit import edgeworth
from dpexact.accounting.composition import Composition
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism


def composition(text):
    return Composition.of(dpexact.parse(text).steps().items())


def cumulants(law):
    """From ``law(function)``, the expectation."""
    mean = law(lambda z: z)
    central = [law(lambda z, j=j: (z - mean) ** j) for j in (2, 3, 4)]
    return [mean, central[0], central[1], central[2] - 3 * central[0] ** 2]


def expansion(under_p, under_q, count, epsilon, order):
    tails = []
    for c1, c2, c3, c4 in (under_p, under_q):
        h = (epsilon - count * c1) / sqrt(count * c2)
        skewness, kurtosis = c3 / sqrt(count * c2**3), c4 / (count * c2**2)
        term = skewness / 6 * (h**2 - 1)
        if order == 2:
            term += kurtosis / 24 * (h**3 - 3 * h)
            term += skewness**2 / 72 * (h**5 - 10 * h**3 + 15 * h)
        tails.append(ncdf(-h) + npdf(h) * term)
    return tails[0] - exp(epsilon) * tails[1]


def agrees(found, value, digits):
    exact = to_fraction(value)
    slip = abs(exact) / 10**digits
    assert found.lower - slip <= exact <= found.upper + slip
    assert found.digits >= 12


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["remove", "add"])
@pytest.mark.parametrize("order", [1, 2])
def test_sampled_gaussians_against_quadrature(direction, order):
    with mp.workdps(35):
        sigma, q, count = mpf("0.7"), mpf(256) / 60000, 10546
        mu = 1 / sigma
        way = 1 if direction == "remove" else -1

        def loss(x):
            return way * log(1 - q + q * exp(mu * x - mu * mu / 2))

        def mixture(x):
            return (1 - q) * npdf(x) + q * npdf(x - mu)

        def law(density):
            points = [-13, -3, 0, 1, 2, 3, 4, 6, 9, 15]
            return lambda f: quad(lambda x: f(loss(x)) * density(x), points)

        under = [cumulants(law(mixture)), cumulants(law(npdf))][::way]
        m = composition("poisson(gaussian(0.7), 256/60000)^10546")
        for epsilon in (0, 1, 5):
            found = edgeworth(m, order, direction).delta(real(epsilon), 12)
            agrees(found, expansion(*under, count, epsilon, order), 12)


@pytest.mark.parametrize("order", [1, 2])
def test_responses(order):
    with mp.workdps(30):
        x, count = mpf("0.1"), 100
        high = 1 / (1 + exp(-x))
        laws = [cumulants(lambda f, p=p: p * f(x) + (1 - p) * f(-x)) for p in (high, 1 - high)]
        found = edgeworth(composition("pure_dp(0.1)^100"), order, "both").delta(real("1/2"), 12)
        agrees(found, expansion(*laws, count, mpf("0.5"), order), 20)


@pytest.mark.parametrize("order", [1, 2])
def test_pairs_that_are_not_symmetric_have_a_direction(order):
    """Of the second pair the skewness under P is 0, and so is a ball of any width."""
    for p, q in ((("1/5", "4/5"), ("1/3", "2/3")), (("1/2", "1/2"), ("1/3", "2/3"))):
        text = f"pair(({p[0]}, {q[0]}), ({p[1]}, {q[1]}))^200"
        parts = []
        for way, (one, other) in (("remove", (p, q)), ("add", (q, p))):
            with mp.workdps(30):
                a, b = ([mpf(x[0]) / mpf(x[2]) for x in law] for law in (one, other))
                losses = [log(x / y) for x, y in zip(a, b, strict=True)]
                laws = [
                    cumulants(lambda f, m=m: sum(w * f(z) for w, z in zip(m, losses, strict=True)))
                    for m in (a, b)
                ]
                found = edgeworth(composition(text), order, way).delta(real(3), 12)
                agrees(found, expansion(*laws, 200, mpf(3), order), 20)
            parts.append(found)
        assert (
            edgeworth(composition(text), order, "both")
            .delta(real(3), 12)
            .overlaps(parts[0].larger(parts[1]))
        )
        whole = dpexact.approximation_error(
            text, f"edgeworth-{order}", 3, direction="add", digits=5
        )
        assert whole.true.overlaps(dpexact.delta(text, 3, 8, "add"))
        with pytest.raises(UnsupportedMechanism, match="symmetric"):
            dpexact.approximation_error(text, "clt", 3)


def test_gaussians_have_no_corrections():
    for order in (1, 2):
        found = edgeworth(composition("gaussian(2)^3 * gdp(1/3)"), order, "both")
        assert found.delta(real(1), 20).overlaps(dpexact.delta("gaussian(2)^3 * gdp(1/3)", 1, 20))


def test_the_crossing_is_certified():
    m = composition("poisson(gaussian(0.7), 256/60000)^10546")
    for direction in ("remove", "add", "both"):
        formula = edgeworth(m, 2, direction)
        found = formula.epsilon(real("1e-5"), 12)
        assert found.digits >= 12
        below, above = (formula.delta(real(x), 8) for x in (found.lower, found.upper))
        assert above.lower <= real("1e-5").fraction <= below.upper
    larger = edgeworth(m, 2, "both").delta(real(3), 10)
    parts = [edgeworth(m, 2, way).delta(real(3), 10) for way in ("remove", "add")]
    assert larger.overlaps(parts[0].larger(parts[1]))


def test_what_has_none():
    with pytest.raises(UnsupportedMechanism, match="zcdp"):
        edgeworth(composition("zcdp(1)^9"), 1, "both")
    with pytest.raises(UnsupportedMechanism, match="Gaussian noise"):
        edgeworth(composition("poisson(pure_dp(1), 0.5)^9"), 1, "both")
