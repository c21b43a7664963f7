"""Products across kinds by the contour, against conditioning on one part and other laws."""

from fractions import Fraction

import mpmath
import pytest
from flint import acb, arb
from hypothesis import given
from hypothesis import strategies as st

from dpexact import balls, delta, epsilon, parse
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.contour.profile import ContourProfile
from dpexact.accounting.engines.lattice_law import MixedProfile
from dpexact.accounting.profile import Fallback
from dpexact.accounting.profiles import profile
from dpexact.balls import ball
from dpexact.conversion import real
from dpexact.enclosure import Enclosure
from dpexact.reals import rational


def gaussian_profile(mu, e):
    """``Phi(mu/2 - e/mu) - e^e Phi(-mu/2 - e/mu)``, analytic in ``e``."""
    root = arb(2).sqrt()
    return ((e / mu - mu / 2) / root).erfc() / 2 - e.exp() * ((e / mu + mu / 2) / root).erfc() / 2


def laplace_and_gaussian(rate, mu, e):
    """Atoms at both ends and an integral between: conditioning on the Laplace loss."""
    atoms = gaussian_profile(mu, e - rate) + (-rate).exp() * gaussian_profile(mu, e + rate)
    density = (-rate / 2).exp() / 4
    inside = acb.integral(
        lambda z, _: density * (z / 2).exp() * gaussian_profile(mu, e - z), -rate, rate
    )
    return atoms / 2 + inside.real


@pytest.mark.parametrize(
    ("scale", "sigma", "point"),
    [
        ("1", "2", "1"),
        ("1/3", "1/2", "5"),
        ("10", "1", "0"),
        ("2", "5", "3/2"),
        ("1/20", "1", "19"),
    ],
)
def test_laplace_and_a_gaussian_by_conditioning(scale, sigma, point):
    with balls.precision(200):
        rate, mu = 1 / ball(real(scale)), 1 / ball(real(sigma))
        truth = balls.to_enclosure(laplace_and_gaussian(rate, mu, acb(ball(real(point)))).real)
    found = delta(f"laplace({scale}) * gaussian({sigma})", point, digits=30)
    assert found.overlaps(truth)
    assert found.digits >= 30
    if point != "0":
        back = epsilon(f"laplace({scale}) * gaussian({sigma})", found.upper, digits=25)
        assert back.digits >= 25
        assert abs(Fraction(back.lower) - Fraction(point)) < Fraction(1, 10**22)


@given(
    scale=st.fractions(Fraction(1, 30), 100, max_denominator=30),
    sigma=st.fractions(Fraction(1, 3), 20, max_denominator=10),
    share=st.fractions(0, 2, max_denominator=20),
)
def test_any_laplace_and_gaussian(scale, sigma, share):
    point = share * (1 / scale + 1 / sigma)
    with balls.precision(400):
        truth = laplace_and_gaussian(1 / ball(scale), 1 / ball(sigma), acb(ball(point))).real
        truth = balls.to_enclosure(truth)
    found = profile(parse(f"laplace({scale}) * gaussian({sigma})")).delta(rational(point), 12)
    assert found.overlaps(truth)
    assert found.digits >= 12


LATTICES = [
    "staircase(1, 1/4)^3 * gaussian(2)",
    "discrete_laplace(2, 3)^4 * gaussian(1/2)",
    "discrete_gaussian(3) * gaussian(2)",
    "discrete_gaussian(1/2, 2)^2 * gaussian(1)",
    "staircase(1/3, 2/3)^2 * pure_dp(1/3)^2 * approx_dp(1/3, 1/100)^2 * gaussian(3)^4",
]


@pytest.mark.parametrize("text", LATTICES)
@pytest.mark.parametrize("point", ["0", "1/2", "4"])
def test_lattice_laws_beside_a_gaussian(text, point):
    """The contour and the sum over the lattice law share no formula."""
    chosen = profile(parse(text))
    assert isinstance(chosen, Fallback)
    summed = chosen.first
    assert isinstance(summed, MixedProfile)
    steps = Composition.of(parse(text).steps().items()).pairs()
    found = ContourProfile(tuple(steps), summed.infinite).delta(real(point), 20)
    assert found.digits >= 20
    assert found.overlaps(summed.delta(real(point), 20))


@pytest.mark.parametrize(
    ("text", "atoms"),
    [
        ("pure_dp(sqrt(2))", [("1", 1), ("-1", 1)]),
        ("staircase(sqrt(2), 1/2)", [("1", 1), ("-1", 1)]),
    ],
)
def test_incommensurate_lattices_by_conditioning(text, atoms):
    """``pure_dp(sqrt(2))`` beside a discrete Gaussian and a Gaussian: two shifted profiles."""
    rest = profile(parse("discrete_gaussian(2) * gaussian(3)"))
    found = delta(f"{text} * discrete_gaussian(2) * gaussian(3)", 2, digits=25)
    total = Enclosure.exact(Fraction(0))
    with balls.precision(160):
        root = arb(2).sqrt()
        share = 1 / (1 + (-root).exp())
        ends = []
        for weight, point in ((share, "2 - sqrt(2)"), (1 - share, "2 + sqrt(2)")):
            part = rest.delta(real(point), 28)
            ends.append(weight * ball(part.lower).union(ball(part.upper)))
        total = balls.to_enclosure(ends[0] + ends[1])
    assert found.overlaps(total)
    assert found.digits >= 25
    assert len(atoms) == 2


@pytest.mark.slow
@pytest.mark.parametrize(("direction", "sign", "digits"), [("remove", 1, 18), ("add", -1, 9)])
def test_a_sampled_gaussian_beside_laplace_by_quadrature(direction, sign, digits):
    """Conditioning on the Laplace loss, with the profile of one sampled Gaussian in closed form."""
    q, sigma, rate, e = (mpmath.mpf(x) for x in ("0.2", "1", "0.5", "0.6"))

    def sampled(level):
        """Under the mixture and ``N(0)``, or the other way round."""
        odds = (mpmath.exp(sign * level) - (1 - q)) / q
        if odds <= 0:
            return -mpmath.expm1(level) if sign > 0 else mpmath.mpf(0)
        cut = mpmath.log(odds) * sigma**2 + mpmath.mpf(1) / 2
        plain = mpmath.ncdf(-sign * cut / sigma)
        mixed = (1 - q) * plain + q * mpmath.ncdf(sign * (1 - cut) / sigma)
        first, second = (mixed, plain) if sign > 0 else (plain, mixed)
        return first - mpmath.exp(level) * second

    with mpmath.workdps(25):
        density = mpmath.exp(-rate / 2) / 4
        kink = e - sign * mpmath.log(1 - q)
        points = sorted({-rate, rate, mpmath.mpf(0), *([kink] if -rate < kink < rate else [])})
        inside = mpmath.quad(lambda z: density * mpmath.exp(z / 2) * sampled(e - z), points)
        truth = inside + (sampled(e - rate) + mpmath.exp(-rate) * sampled(e + rate)) / 2
    found = delta(
        "poisson(gaussian(1), 0.2) * laplace(2)", "0.6", digits=digits, direction=direction
    )
    assert float(found.lower) == pytest.approx(float(truth), rel=max(1e-14, 10.0**-digits))
    assert found.digits >= digits


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "laplace(3)^20 * gaussian(5)^10 * pure_dp(0.1)^4",
        "poisson(gaussian(1), 0.01)^1000 * laplace(10)^5",
        "discrete_gaussian(3) * gaussian(2) * staircase(1, 1/4) * laplace(1)",
        "gaussian(30) * pure_dp(1/1000)^30000",
        "laplace(10)^1000 * pure_dp(1/3)^5 * approx_dp(1/7, 1/10^9)",
        "laplace(1) * gaussian(1) * approx_dp(0, 1/10^8)",
    ],
)
def test_long_products_are_monotone_and_consistent(text):
    found = epsilon(text, "1/10^6", digits=20)
    assert found.digits >= 20
    width = Fraction(found.upper) / 10**18
    above, below = (
        delta(text, rational(Fraction(found.lower) + shift), digits=23) for shift in (-width, width)
    )
    assert below.upper < Fraction(1, 10**6) < above.lower


def test_everything_revealed():
    for text in ("laplace(1) * gaussian(1) * approx_dp(0, 1)", "gdp(1) * approx_dp(1/9, 1)^30000"):
        assert delta(text, 1).is_exact
        assert delta(text, 1).lower == 1


@pytest.mark.slow
def test_light_laplace_steps_beside_a_lattice():
    """The contour does not reach; conditioning on the response does, as it does by hand."""
    found = delta("laplace(1000)^250 * pure_dp(1/10)", "1/9", digits=12)
    assert found.digits >= 12
    rest = profile(parse("laplace(1000)^250"))
    with balls.precision(120):
        share = 1 / (1 + (-ball(Fraction(1, 10))).exp())
        high = ball(rest.delta(rational(Fraction(1, 9) - Fraction(1, 10)), 25).lower)
        low = ball(rest.delta(rational(Fraction(1, 9) + Fraction(1, 10)), 25).lower)
        truth = balls.midpoint(share * high + (1 - share) * low)
    assert abs(truth - found.lower) < Fraction(1, 10**12) * truth
