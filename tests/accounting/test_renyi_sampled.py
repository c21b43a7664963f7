"""One pair at one order: orders below 1 and the closed-form bounds, each by itself."""

from fractions import Fraction

import mpmath
import pytest
from flint import arb

from dpexact import balls
from dpexact.accounting.renyi.sampled_gaussian import (
    SampledGaussian,
    bounds_adding,
    bounds_removing,
    divergence,
)
from dpexact.conversion import real
from dpexact.errors import InvalidInput


@pytest.mark.parametrize("method", ["series", "trapezoid"])
@pytest.mark.parametrize(("mu", "q"), [("1", "0.1"), ("5", "0.3"), ("0.1", "1e-6")])
def test_orders_below_one_in_both_directions(mu, q, method):
    """``(1-a) D_a(Q||P) = a D_(1-a)(P||Q)``: order 1/4 adding and 3/4 removing share a moment."""
    sigma = real(1 / Fraction(mu))
    add = SampledGaussian(sigma, real(q), real("1/4"), True).divergence(20, method)
    remove = SampledGaussian(sigma, real(q), real("3/4"), False).divergence(20, method)
    assert 3 * add.lower <= remove.upper
    assert remove.lower <= 3 * add.upper
    assert min(add.digits, remove.digits) >= 20


@pytest.mark.parametrize(("mu", "q"), [("1", "0.3"), ("6", "0.9"), ("3", "1e-3")])
@pytest.mark.parametrize("alpha", ["1.5", "20"])
def test_the_closed_form_bounds_are_the_stated_formulas(mu, q, alpha):
    with balls.precision(150):
        a, square, p = arb(alpha), arb(mu) * arb(mu), arb(q)
        found = (*bounds_adding(a, a - 1, square, p), *bounds_removing(a, a - 1, square, p))
        bounds = [balls.to_enclosure(x) for x in found]
    with mpmath.workdps(60):
        a, m, p = map(mpmath.mpf, (alpha, mu, q))
        s, plain = a - 1, a * m * m / 2
        w = 1 - p + p * mpmath.exp(m * m / 4 - m * m / 2)
        expected = (
            mpmath.log(mpmath.ncdf(m / 4)) / s - mpmath.log(w),
            min(plain, -mpmath.log(1 - p)),
            plain - a / s * mpmath.log(1 / p),
            min(plain, a / s * mpmath.log(1 - p + p * mpmath.exp(s * plain / a))),
        )
        for bound, value in zip(bounds, expected, strict=True):
            assert abs(mpmath.mpf(bound.lower.numerator) / bound.lower.denominator - value) < (
                mpmath.mpf(10) ** -35 * abs(value)
            )


def test_order_one_lies_between_its_neighbours(monkeypatch):
    """Both neighbours known well: the truth is strictly between them, in neither."""
    right = SampledGaussian.divergence
    monkeypatch.setattr(
        SampledGaussian, "divergence", lambda pair, digits, method: right(pair, digits + 8, method)
    )
    for add in (False, True):
        found = divergence(real(1), real("1/5"), real(1), add, 6)
        with mpmath.workdps(30):
            low, high = found.to_mpmath(30)

            def integrand(z, add=add):
                w = mpmath.mpf(4) / 5 + mpmath.exp(z - mpmath.mpf(1) / 2) / 5
                return mpmath.npdf(z) * (-mpmath.log(w) if add else w * mpmath.log(w))

            true = mpmath.quad(integrand, mpmath.linspace(-14, 16, 31))
            assert low < true < high


def test_the_largest_order_of_the_series_is_compared_exactly():
    def pair(order):
        return SampledGaussian(real(10), real("1/10"), real(order), False)

    pair("200000")._check("series")
    with pytest.raises(InvalidInput, match="an order up to 200000"):
        pair("200000+1e-30")._check("series")
