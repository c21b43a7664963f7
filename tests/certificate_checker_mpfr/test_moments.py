import cmath
import math
from fractions import Fraction

import pytest

pytest.importorskip("gmpy2", reason="the checker with MPFR needs gmpy2")

from flint import acb, arb, ctx

from dpexact.certificate_checker import Invalid, Unreadable
from dpexact.certificate_checker_mpfr.arithmetic import Arithmetic
from dpexact.certificate_checker_mpfr.moments import Mixtures, Rule, Waves

A = Arithmetic(160)
Q, SIGMA = Fraction(1, 7), Fraction(3, 2)
SAMPLE = Mixtures.sampled(A.exact(SIGMA), A.exact(Q), A)
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


# --- every error term is needed: rules on which one of them is all there is ---

NARROW = Mixtures.sampled(A.exact(Fraction(1, 2)), A.exact(Fraction(1, 3)), A)
STRIP = Fraction(157, 100)  # a little less than pi sigma


def on_a_line(kappa, v, height, absolute):
    """The integral of the integrand of ``NARROW``, or of its modulus, by a fine sum in floats."""
    total, t = 0, 1 / 512
    for j in range(-14 * 512, 14 * 512):
        z = complex(j * t, height)
        mixture = 2 / 3 + cmath.exp(2 * z - 2) / 3
        value = cmath.exp(complex(kappa, v) * cmath.log(mixture) - z * z / 2)
        total += abs(value) if absolute else value
    return total * t / math.sqrt(2 * math.pi)


def rule(height, edge, spacing):
    reach = math.ceil(14 / spacing)
    height, edge, spacing = (Fraction(x).limit_denominator(1000) for x in (height, edge, spacing))
    return Rule(height, edge, spacing, -reach, reach)


def real_moment(kappa):
    return NARROW.size(A.exact(kappa), rule(0, 1, 1 / 16), A.exact(0), None)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("height", "edge", "spacing"),
    [
        (0.1, 1.5, 0.5),  # what is taken on the real line
        (0.3, 1.5, 1),
        (1.4, 1.56, 0.5),  # what is taken on the edge
        (1.2, 1.5, 1),
        (1, 1.5, 1 / 16),
    ],
)
@pytest.mark.parametrize("kappa", [Fraction(1, 2), Fraction(7, 2), Fraction(-1, 2)])
def test_lines_err_by_no_more_than_they_say(kappa, height, edge, spacing):
    step = Fraction(3, 4)
    found = NARROW.line(A.exact(kappa), rule(height, edge, spacing), step, 4, real_moment(kappa))
    for n, value in enumerate(found):
        truth = on_a_line(float(kappa), float(n * step), 0, absolute=False)
        assert value.real.lo - 1e-12 <= truth.real <= value.real.hi + 1e-12
        assert value.imag.lo - 1e-12 <= truth.imag <= value.imag.hi + 1e-12


@pytest.mark.parametrize(
    ("height", "edge", "spacing"),
    [(0.3, 1.2, 0.5), (0.5, 1.05, 0.5), (0.3, 0.48, 0.5), (0.7, 0.7, 0.5), (0.3, 0.3, 0.25)],
)
def test_sizes_on_a_line_are_bounded_or_refused(height, edge, spacing):
    """A high edge promises an error that the integrand, growing beyond a quarter turn, exceeds."""
    kappa, refused = Fraction(1, 2), height + edge > STRIP / 2 and edge > height
    moment = real_moment(kappa)
    for v in range(20, 60, 4):
        try:
            found = NARROW.size(A.exact(kappa), rule(height, edge, spacing), A.exact(v), moment)
        except Invalid:
            assert refused
            continue
        assert found.hi >= on_a_line(0.5, v, height, absolute=True) * (1 - 1e-12)


@pytest.mark.parametrize(("height", "edge", "spacing"), [(1.4, 3, 1), (1.5, 6, 0.5), (0.2, 4, 1)])
def test_beyond_the_zeros_of_the_integrand_nothing_is_claimed(height, edge, spacing):
    kappa = Fraction(1, 2)
    with pytest.raises(Invalid, match="strip"):
        NARROW.line(A.exact(kappa), rule(height, edge, spacing), Fraction(1), 1, A.exact(2))
    with pytest.raises(Invalid, match="strip"):
        NARROW.size(A.exact(kappa), rule(0, edge, spacing), A.exact(0), None)


@pytest.mark.parametrize("spacing", [1, 3 / 4, 1 / 2])
@pytest.mark.parametrize("kappa", [Fraction(1, 2), Fraction(-5), Fraction(5, 2)])
def test_moments_are_bounded_or_refused(kappa, spacing):
    """Beyond the strip a coarse sum would seem as good as a fine one."""
    truth = on_a_line(float(kappa), 0, 0, absolute=True)
    for edge in (0.5, 1, 1.4, 1.5, 2, 3, 6):
        try:
            found = NARROW.size(A.exact(kappa), rule(0, edge, spacing), A.exact(0), None)
        except Invalid:
            continue
        assert edge < STRIP
        assert found.hi >= truth * (1 - 1e-12)


@pytest.mark.parametrize(
    ("kappa", "first", "last"),
    [
        *((Fraction(3), -20, 14), (Fraction(1, 2), -20, 4), (Fraction(-2), -20, 3)),
        *((Fraction(1, 2), -3, 30), (Fraction(-2), -3, 20)),
    ],
)
def test_nodes_left_out_are_counted(kappa, first, last):
    whole = real_moment(kappa)
    cut_rule = Rule(Fraction(0), Fraction(1), Fraction(1, 2), first, last)
    cut = NARROW.size(A.exact(kappa), cut_rule, A.exact(0), None)
    assert whole.lo <= cut.hi <= whole.hi * 40


# --- mixtures of more shifts, on both sides ---

RIGHT = [
    (Fraction(0), Fraction(1, 2)),
    (Fraction(1), Fraction(1, 3)),
    (Fraction(2), Fraction(1, 6)),
]
LEFT = [(Fraction(0), Fraction(2, 3)), (Fraction(1, 2), Fraction(1, 3))]
MOVED = [(Fraction(1, 2), Fraction(1, 4)), (Fraction(3, 2), Fraction(3, 4))]  # no mass stays
PAIRS = {"one side": (RIGHT, []), "both": (RIGHT, LEFT), "moved": (MOVED, LEFT)}


def mixtures(right, left):
    laws = ([(A.exact(rate), A.exact(weight)) for rate, weight in law] for law in (right, left))
    return Mixtures(*(Waves(law, A) for law in laws), A)


def moment_of(right, left, kappa, v, height=0.0, absolute=False):
    """The integral of the integrand, or of its modulus, on a line, by a fine sum in floats."""
    total, t = 0, 1 / 64

    def log_wave(law, z):
        terms = (float(w) * cmath.exp(float(r) * z - float(r) ** 2 / 2) for r, w in law)
        return cmath.log(sum(terms)) if law else 0

    for j in range(-20 * 64, 24 * 64):
        z = complex(j * t, height)
        loss = log_wave(right, z) - log_wave(left, -z)
        value = cmath.exp(complex(kappa, v) * loss + log_wave(left, -z) - z * z / 2)
        total += abs(value) if absolute else value
    return total * t / math.sqrt(2 * math.pi)


@pytest.mark.slow
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("kappa", [Fraction(-3), Fraction(1, 2), Fraction(4)])
def test_moments_of_two_mixtures(name, kappa):
    right, left = PAIRS[name]
    pair, k, highest = mixtures(right, left), A.exact(kappa), max(right)[0]
    axis = Rule(Fraction(0), Fraction(3, 2) / highest, Fraction(1, 8), -120, 160)
    moment = pair.size(k, axis, A.exact(0), None)
    truth = moment_of(right, left, float(kappa), 0).real
    assert float(moment.hi) == pytest.approx(truth, rel=1e-8)
    line = Rule(Fraction(3, 5), Fraction(5, 4), Fraction(1, 16), -220, 300)
    for n, value in enumerate(pair.line(k, line, Fraction(3, 2), 2, moment)):
        truth = moment_of(right, left, float(kappa), 1.5 * n)
        slack = 1e-11 * max(1, float(moment.hi))
        assert value.real.lo - slack <= truth.real <= value.real.hi + slack
        assert value.imag.lo - slack <= truth.imag <= value.imag.hi + slack
        for height, edge in ((Fraction(1, 2), Fraction(1, 2)), (Fraction(1, 4), Fraction(1, 2))):
            lifted = Rule(height, edge, Fraction(1, 8), -120, 160)
            size = pair.size(k, lifted, A.exact(1.5 * n), moment)
            assert float(size.hi) >= abs(truth) * (1 - 1e-9)
            on_it = moment_of(right, left, float(kappa), 1.5 * n, float(height), absolute=True)
            assert float(size.hi) >= on_it * (1 - 1e-9)


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("kappa", [Fraction(-2), Fraction(1, 2), Fraction(3)])
@pytest.mark.parametrize(("first", "last"), [(-30, 8), (-7, 30), (-9, 9)])
def test_nodes_left_out_of_two_mixtures_are_counted(name, kappa, first, last):
    right, left = PAIRS[name]
    rule = Rule(Fraction(0), Fraction(5, 4), Fraction(1, 2), first, last)
    try:
        cut = mixtures(right, left).size(A.exact(kappa), rule, A.exact(0), None)
    except Invalid:
        return
    assert cut.hi >= moment_of(right, left, float(kappa), 0).real * (1 - 1e-9)


@pytest.mark.parametrize("side", ["right", "left"])
def test_the_widest_shift_of_either_side_narrows_the_strip(side):
    law = [(Fraction(0), Fraction(1, 2)), (Fraction(4), Fraction(1, 2))]
    pair = mixtures(law, []) if side == "right" else mixtures(LEFT, law)
    beyond = Rule(Fraction(0), Fraction(4, 5), Fraction(1, 8), -120, 160)  # pi/4 is below
    with pytest.raises(Invalid, match="strip"):
        pair.size(A.exact(Fraction(1, 2)), beyond, A.exact(0), None)
    turned = Rule(Fraction(1, 5), Fraction(1, 4), Fraction(1, 8), -120, 160)
    with pytest.raises(Invalid, match="bounded in its strip"):
        pair.size(A.exact(Fraction(1, 2)), turned, A.exact(1), A.exact(2))
