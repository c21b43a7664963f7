from fractions import Fraction

import pytest

pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")

from flint import acb, arb, ctx

from dpexact.certificate_checker import Invalid, Unreadable
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic
from dpexact.certificate_checker_mpfr.moments import Rule, SampledGaussian

A = Arithmetic(160)
Q, SIGMA = Fraction(1, 7), Fraction(3, 2)
SAMPLE = SampledGaussian(A.exact(SIGMA), A.exact(Q), A)
AXIS = Rule(Fraction(0), Fraction(3), Fraction(1, 4), -60, 80)
SHIFTED = Rule(Fraction(1), Fraction(1), Fraction(1, 4), -60, 80)
LINE = Rule(Fraction(2), Fraction(4), Fraction(1, 8), -120, 160)
COARSE = Rule(Fraction(0), Fraction(3, 2), Fraction(2), -6, 8)


def quadrature(kappa, v):
    """The integral on the real line, by another library and another rule."""
    ctx.prec = 120
    try:
        q, sigma = (arb(x.numerator) / x.denominator for x in (Q, SIGMA))
        k = acb(arb(kappa.numerator) / kappa.denominator, arb(v.numerator) / v.denominator)

        def f(z, _):
            a = 1 - q + q * (z / sigma - 1 / (2 * sigma * sigma)).exp()
            return (k * a.log() - z * z / 2).exp()

        total = sum((acb.integral(f, n, n + 1) for n in range(-16, 20)), acb(0))
        found = total / (2 * arb.pi()).sqrt()
        return complex(found.mid())
    finally:
        ctx.prec = 53


@pytest.mark.parametrize("kappa", [Fraction(-5), Fraction(-1, 3), Fraction(1, 2), Fraction(4)])
def test_moments_are_those_of_another_quadrature(kappa):
    k = A.exact(kappa)
    moment = SAMPLE.size(k, AXIS, A.exact(0), None)
    assert float(moment.hi) == pytest.approx(quadrature(kappa, Fraction(0)).real, rel=1e-10)
    assert float(SAMPLE.size(k, COARSE, A.exact(0), None).hi) > float(moment.hi) * (1 - 1e-12)
    step = Fraction(3, 2)
    for n, value in enumerate(SAMPLE.line(k, LINE, step, 4, moment)):
        truth = quadrature(kappa, n * step)
        assert float(value.real.lo) == pytest.approx(truth.real, abs=1e-10)
        assert float(value.imag.hi) == pytest.approx(truth.imag, abs=1e-10)
        decayed = SAMPLE.size(k, SHIFTED, A.exact(n * step), moment)
        assert float(decayed.hi) >= abs(truth)
        for later in range(n, 5):
            assert float(decayed.hi) >= abs(quadrature(kappa, later * step))


@pytest.mark.parametrize(
    ("change", "call"),
    [
        ({"edge": Fraction(5)}, "size"),  # beyond pi sigma = 4.71
        ({"height": Fraction(3, 2), "edge": Fraction(2)}, "size"),  # the angle may fall
        ({"spacing": Fraction(8), "first": -3, "last": 3}, "size"),
        ({"height": Fraction(1)}, "size"),
        ({"first": -60, "last": 4}, "size"),
        ({"height": Fraction(1), "edge": Fraction(5)}, "line"),
        ({"height": Fraction(3), "edge": Fraction(2)}, "line"),
        ({"height": Fraction(0)}, "line"),
    ],
)
def test_rules_without_a_bound_are_refused(change, call):
    rule = Rule(**{**vars(AXIS), **change})
    k = A.exact(4)
    rest = (A.exact(0), None) if call == "size" else (Fraction(1), 2, A.exact(10))
    with pytest.raises(Invalid):
        getattr(SAMPLE, call)(k, rule, *rest)


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        (["0", "1", "1", "-1"], Unreadable),
        ("rule", Unreadable),
        (["0", "1.5", "1", "-1", "1"], Unreadable),
        (["-1", "1", "1", "-1", "1"], Invalid),
        (["0", "1", "0", "-1", "1"], Invalid),
        (["0", "1", "1", "1", "2"], Invalid),
        (["0", "1", "1", "-1", "1000000"], Invalid),
    ],
)
def test_only_rules_are_read(texts, error):
    with pytest.raises(error):
        Rule.read(texts)
