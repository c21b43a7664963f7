"""Rényi divergences of samples of laws other than Gaussian: each number by two routes."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from flint import acb, arb
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs import pair as pairs
from dpexact.accounting.pairs.finite import Finite
from dpexact.accounting.pairs.laplace import Laplace
from dpexact.accounting.pairs.pair import Atom, Pair
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.renyi import renyi, samples
from dpexact.accounting.renyi.averages import Moment
from dpexact.answers import PrecisionNotReached
from dpexact.conversion import real
from dpexact.enclosure import EXACT
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import parse
from tests.small_laws import leak, on_sample, product, repeated, response


def holds(found, true, slack=Fraction(1, 10**22)):
    """Whether an mpmath number lies in the enclosure, up to its own error."""
    sign, mantissa, exponent, _ = true._mpf_
    value = (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** exponent
    room = slack * abs(value)
    return found.lower - room <= value <= found.upper + room


def divergence(law, order):
    """From the pairs ``(P, Q)`` of exact masses, in mpmath."""
    pairs = [(mpf(p.numerator) / p.denominator, mpf(q.numerator) / q.denominator) for p, q in law]
    if order == 1:
        return mp.fsum(p * mp.log(p / q) for p, q in pairs if p)
    a = mpf(order.numerator) / order.denominator
    return mp.log(mp.fsum(p**a * q ** (1 - a) for p, q in pairs if p)) / (a - 1)


def law_of(text, q):
    return samples.SampledLaw(Composition.of(parse(text).steps().items()), real(q))


FINITE = [
    ("pure_dp(log(3))", response(Fraction(3))),
    ("pure_dp(log(3))^3", repeated(response(Fraction(3)), 3)),
    (
        "pure_dp(log(3)) * pure_dp(log(5/2))^2",
        product(response(Fraction(3)), repeated(response(Fraction(5, 2)), 2)),
    ),
]


@pytest.mark.parametrize(("text", "law"), FINITE)
@pytest.mark.parametrize("rate", [Fraction(1, 10), Fraction(1, 10**12), Fraction(99, 100)])
@pytest.mark.parametrize("order", [Fraction(1), Fraction(2), Fraction(5, 2), Fraction(40)])
@pytest.mark.parametrize("add", [False, True])
def test_finite_laws_against_enumeration(text, law, rate, order, add):
    with mpmath.workdps(80):
        true = divergence(on_sample(law, rate, add), order)
        found = renyi(f"poisson({text}, {rate})", order, direction="add" if add else "remove")
        assert holds(found, true)
        assert found.digits >= 15


@pytest.mark.parametrize("order", [Fraction(1), Fraction(2), Fraction(5, 2)])
def test_infinite_loss_removing_and_its_trace_adding(order):
    law = product(response(Fraction(3)), leak(Fraction(1, 50)))
    text = "poisson(approx_dp(log(3), 1/50), 1/10)"
    assert renyi(text, order).lower == math.inf
    added = [(p, q) for p, q in on_sample(law, Fraction(1, 10), True) if p]
    with mpmath.workdps(60):
        assert holds(renyi(text, order, direction="add"), divergence(added, order))


@pytest.mark.parametrize("order", ["1", "2", "3.5"])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_discrete_laplace_from_its_noise(order, sensitivity):
    """Summed over the integers, not over the outcomes of its loss."""
    s = sensitivity
    with mpmath.workdps(60):
        a, scale = mpf(order), mpf(2)

        def masses(x):
            return mp.exp(-abs(x) / scale), mp.exp(-abs(x + s) / scale)

        norm = (1 + mp.exp(-1 / scale)) / (1 - mp.exp(-1 / scale))
        pairs = [masses(x) for x in range(-400, 400)]
        for rate in (mpf(1), mpf("0.1")):
            mixed = [((1 - rate) * q + rate * p, q) for p, q in pairs]
            if order == "1":
                true = mp.fsum(p * mp.log(p / q) for p, q in mixed) / norm
            else:
                true = mp.log(mp.fsum(p**a * q ** (1 - a) for p, q in mixed) / norm) / (a - 1)
            text = f"discrete_laplace(2, {s})"
            found = renyi(text if rate == 1 else f"poisson({text}, 0.1)", order)
            assert holds(found, true)


@pytest.mark.parametrize("gamma", ["0.2", "0.8"])
def test_staircase_from_its_density(gamma):
    """Shifted by the sensitivity 1: the ratio is constant between multiples of gamma steps."""
    with mpmath.workdps(50):
        g, fall = mpf(gamma), mp.exp(-1)

        def density(x):
            whole = mp.floor(abs(x))
            return fall ** (whole + (abs(x) - whole >= g))

        cuts = sorted(
            {
                side * (k + c) + 1 * j
                for side in (-1, 1)
                for k in range(70)
                for c in (mpf(0), g)
                for j in (0, 1)
            }
        )
        cells = [((a + b) / 2, b - a) for a, b in pairwise(cuts)]
        pairs = [(density(x) * width, density(x - 1) * width) for x, width in cells]
        norm = mp.fsum(p for p, _ in pairs)
        for rate in (mpf(1), mpf("0.3")):
            moment = mp.fsum(((1 - rate) * q + rate * p) ** 3 / q**2 for p, q in pairs) / norm
            text = f"staircase(1, {gamma})"
            found = renyi(text if rate == 1 else f"poisson({text}, 0.3)", 3)
            assert holds(found, mp.log(moment) / 2, Fraction(1, 10**15))


@pytest.mark.parametrize("scale", ["0.05", "1", "30"])
@pytest.mark.parametrize("q", ["0.1", "1e-7"])
@pytest.mark.parametrize("order", ["1.3", "2.25", "17.5"])
@pytest.mark.parametrize("add", [False, True])
def test_laplace_against_the_hypergeometric_antiderivative(scale, q, order, add):
    r"""``-2 e^(-z/2) (1-q)^a 2F1(-a, -1/2; 1/2; -q e^z/(1-q))`` has the derivative
    ``e^(-z/2) (1 - q + q e^z)^a``."""
    with mpmath.workdps(80):
        r, p, alpha = 1 / mpf(scale), mpf(q), mpf(order)
        a = 1 - alpha if add else alpha
        w = lambda z: 1 - p + p * mp.exp(z)  # noqa: E731

        def antiderivative(z):
            series = mp.hyp2f1(-a, mpf(-1) / 2, mpf(1) / 2, -p * mp.exp(z) / (1 - p))
            return -2 * mp.exp(-z / 2) * (1 - p) ** a * series

        inner = mp.exp(-r / 2) / 4 * (antiderivative(r) - antiderivative(-r))
        moment = (mp.exp(-r) * w(r) ** a + w(-r) ** a) / 2 + inner
        true = mp.log(moment) / (alpha - 1)
        text = f"poisson(laplace({scale}), {q})"
        found = renyi(text, order, direction="add" if add else "remove")
        assert holds(found, true)
        assert found.digits >= 15


@pytest.mark.parametrize(
    "text",
    [
        "laplace(1)",
        "laplace(1/20) * pure_dp(1)^2",
        "discrete_gaussian(2, 3)",
        "discrete_gaussian(1/2) * pure_dp(log(3))",
        "staircase(1, 0.3)^2",
        "discrete_laplace(1, 4)",
    ],
)
@pytest.mark.parametrize("q", ["0.1", "1e-9", "0.99"])
@pytest.mark.parametrize("order", [2, 3, 20])
def test_the_binomial_sum_agrees_with_the_mean(text, q, order):
    law = law_of(text, q)
    summed, averaged = law.binomial(order, 20), law.mean(real(order), False, 20)
    assert summed.overlaps(averaged)
    assert min(summed.digits, averaged.digits) >= 20


@pytest.mark.parametrize("order", ["1", "1.7", "6.5"])
@pytest.mark.parametrize(("q", "add"), [("0.2", False), ("0.2", True), ("1", False)])
def test_discrete_gaussian_against_a_long_sum(order, q, add):
    with mpmath.workdps(60):
        a, rate, sigma, s = mpf(order), mpf(q), mpf(1.5), 2
        pairs = []
        for x in range(-90, 120):
            p, noise = mp.exp(-((x - s) ** 2) / sigma**2 / 2), mp.exp(-(x**2) / sigma**2 / 2)
            mixed = (1 - rate) * noise + rate * p
            pairs.append((noise, mixed) if add else (mixed, noise))
        norm = mp.fsum(x for pair in pairs for x in pair) / 2
        if order == "1":
            true = mp.fsum(x * mp.log(x / y) for x, y in pairs) / norm
        else:
            true = mp.log(mp.fsum(x**a * y ** (1 - a) for x, y in pairs) / norm) / (a - 1)
        text = "discrete_gaussian(1.5, 2)"
        found = renyi(
            text if q == "1" else f"poisson({text}, {q})",
            order,
            direction="add" if add else "remove",
        )
        assert holds(found, true)
        assert found.digits >= 15


def test_discrete_gaussian_in_closed_form():
    assert renyi("discrete_gaussian(2, 3)", "4/3").lower == Fraction(4, 3) * Fraction(9, 8)
    assert renyi("discrete_gaussian(2, 3)", 1).digits == EXACT
    assert renyi("discrete_gaussian(1/2)", "1.5").overlaps(
        renyi("poisson(discrete_gaussian(1/2), 1)", "1.5")
    )


def test_samples_of_gaussians_at_integer_orders_are_those_of_the_discrete_gaussian():
    assert renyi("poisson(discrete_gaussian(2), 0.1)", 5).overlaps(
        renyi("poisson(gaussian(2), 0.1)", 5)
    )


@pytest.mark.parametrize("order", [1, "1.5", 2, "7.3", "inf"])
@pytest.mark.parametrize("direction", ["add", "remove"])
def test_sampled_zcdp_bounds_the_mechanisms_that_satisfy_it(order, direction):
    bound = renyi("poisson(zcdp(1/8)*pure_dp(1/2), 0.1)", order, direction=direction)
    assert bound.method.startswith("upper bound")
    for inner in ("pure_dp(1/2)^2", "pure_dp(1/2) * discrete_gaussian(2)"):
        found = renyi(f"poisson({inner}, 0.1)", order, direction=direction)
        assert found.lower <= bound.upper


def test_sampled_zcdp_is_attained_at_integer_orders():
    assert renyi("poisson(zcdp(1/8), 0.1)", 4).overlaps(renyi("poisson(gaussian(2), 0.1)", 4))


def test_the_largest_loss():
    x = renyi("poisson(laplace(2)*pure_dp(1/2), 1/4)^3", "inf")
    with mpmath.workdps(40):
        assert holds(x, 3 * mp.log(mpf(3) / 4 + mp.e / 4))
    y = renyi("poisson(discrete_gaussian(2), 1/4)", "inf", direction="add")
    with mpmath.workdps(40):
        assert holds(y, -mp.log(mpf(3) / 4))
    assert renyi("poisson(discrete_gaussian(2), 1/4)", "inf").lower == math.inf


def test_beside_a_gaussian_there_are_orders_between_integers():
    text = "poisson(laplace(2)^3 * gaussian(3), 0.01)"
    low, found, high = (renyi(text, order) for order in (3, "3.5", 4))
    assert low.upper < found.lower < found.upper < high.lower


def test_what_has_no_mean_lies_between_integer_orders():
    text = "poisson(laplace(2)^3 * discrete_gaussian(3), 0.01)"
    low, high = renyi(text, 3), renyi(text, 4)
    with pytest.raises(PrecisionNotReached) as refused:
        renyi(text, "3.5")
    assert (refused.value.best.lower, refused.value.best.upper) == (low.lower, high.upper)
    with pytest.raises(PrecisionNotReached) as refused:
        renyi(text, "3.5", direction="add")
    assert (refused.value.best.lower, refused.value.best.upper) == (0, high.upper)
    with pytest.raises(PrecisionNotReached):
        renyi("poisson(laplace(1e-9), 0.1)", "2.5", direction="add")


def test_samples_of_samples_beside_others_are_refused_by_name():
    with pytest.raises(UnsupportedMechanism, match="poisson"):
        renyi("poisson(poisson(laplace(1), 0.1) * laplace(1), 0.1)", 2)


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("order", ["1", "1.5", "9"])
@pytest.mark.parametrize("q", ["0.3", "0.99999"])
def test_the_bound_of_what_is_averaged(add, order, q):
    with balls.precision(100):
        f = Moment.of(real(q), real(order), add)
        for x in (arb("1e-6"), arb("0.5"), arb("1.7"), arb(300)):
            assert f.most(x).contains(f.at(x)) if order == "1" else f.at(x) < f.most(x)
        assert f.at(arb(1)).overlaps(arb(order != "1"))
        assert not f.is_analytic(acb(arb(0, 100)))


PAIRS = [
    Laplace(real("1/3")),
    Laplace(real(4)),
    Response(real("1/2"), real(0)),
    Finite(
        tuple(Atom(real(p), real(q)) for p, q in (("1/2", "1/6"), ("1/3", "1/3"), ("1/6", "1/2")))
    ),
]


@pytest.mark.parametrize("pair", PAIRS)
def test_the_mean_of_the_loss_lies_between_slopes(pair, monkeypatch):
    with balls.precision(200):
        assert Pair.mean(pair).rad() < arb("1e-25")
        monkeypatch.setattr(pairs, "current", lambda: 20)  # slopes far from 0
        slopes = Pair.mean(pair)
        assert slopes.contains(pair.mean().mid())
        assert slopes.rad() < arb("0.01")


@pytest.mark.parametrize("pair", PAIRS)
def test_integer_moments_are_moments(pair):
    with balls.precision(100):
        found = pair.integer_moments(12)
        assert len(found) == 12
        for k, moment in enumerate(found, 1):
            assert moment.overlaps(pair.moment(float(k), 0.0))
            assert moment.rel_accuracy_bits() > 80


@pytest.mark.parametrize("order", ["1", "1.3", "3.5"])
@pytest.mark.parametrize("direction", ["add", "remove"])
@pytest.mark.parametrize("scale", ["1e5", "1e9", "1e30"])
def test_hardly_any_loss_is_integrated_too(scale, order, direction):
    """To second order in the loss: ``alpha q^2 Var(dP/dQ)/2``, and the variance is the rate^2."""
    found = renyi(f"poisson(laplace({scale}), 0.1)", order, direction=direction)
    assert found.digits >= 15
    about = Fraction(order) * Fraction(1, 200) / Fraction(scale) ** 2
    assert abs(found.lower / about - 1) < Fraction(1, 10**4)
