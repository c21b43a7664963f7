"""The figures' numbers by second routes, and against what the papers print."""

import math
from fractions import Fraction

import mpmath
import pytest
from flint import arb, fmpq

import dpexact
from dpexact import balls
from dpexact.enclosure import Enclosure
from dpexact.figures import Workshop, recipe, recipes
from dpexact.figures.slides import crossing

DIGITS = 30
QUICK = [
    each.name
    for each in recipes()
    if each.name.startswith(("kov", "gdp-2", "gdp-3", "gdp-4", "gdp-5", "gdp-6"))
]


@pytest.fixture(scope="module")
def made():
    found = {}

    def make(name, digits=DIGITS):
        if name not in found:
            found[name] = recipe(name).make(Workshop(digits))
        return found[name]

    return make


def series(data, label, panel=0):
    return next(s for s in data.panels[panel].series if s.label == label)


def near(enclosure, printed):
    """Whether the enclosure rounds to the digits that were printed."""
    unit = Fraction(1, 10 ** len(printed.partition(".")[2]))
    return abs(Fraction(enclosure.lower) - Fraction(printed)) <= unit


@pytest.mark.parametrize("name", QUICK)
def test_every_point_has_its_digits(name, made):
    data = made(name)
    assert data.fewest_digits >= DIGITS
    for panel in data.panels:
        for each in panel.series:
            assert all(p.x.lower >= 0 and p.y.upper <= 1 for p in each.points)


@pytest.mark.parametrize("delta", ["0", "1/10"])
def test_kov_2_by_enumeration(delta, made):
    """The lower boundary of all (P_FA, P_MD) of rejection sets, by sorting outcomes."""
    panel = 0 if delta == "0" else 1
    for k in (1, 3, 5):
        drawn = series(made("kov-2"), f"$k = {k}$", panel).points
        for point, (alpha, beta) in zip(drawn, corners(k, Fraction(delta)), strict=False):
            for ours, theirs in ((point.x, alpha), (point.y, beta)):
                with balls.precision(300):
                    found = balls.to_enclosure(theirs)
                assert found.overlaps(ours)


def corners(k, delta):
    with balls.precision(300):
        e = (arb(2) / 5).exp()
        kept = (1 - arb(fmpq(delta.numerator, delta.denominator))) ** k
        alpha, beta = arb(0), kept
        yield alpha, beta
        for i in range(k + 1):  # k - i losses of eps, i of -eps
            choose = arb.bin_uiui(k, i)
            alpha += kept * choose * e**i / (1 + e) ** k
            beta -= kept * choose * e ** (k - i) / (1 + e) ** k
            yield alpha, beta


def test_kov_3_equal_errors(made):
    """Theorem III.2 at its best slack, and III.1, where both errors are equal."""
    basic = series(made("kov-3-top"), "III.1: basic").points
    assert any(near(p.x, "0.0460030970") and near(p.y, "0.0460030970") for p in basic)
    best = [p for p in series(made("kov-3-top"), "III.2: advanced").points if p.x.lower > 0.165]
    assert best[0].y.lower < Fraction("0.1653")


def test_gdp_3_equal_errors(made):
    for mu in ("0.5", "1", "3", "6"):
        points = series(made("gdp-3-right"), rf"$\mu$ = {mu}").points
        with mpmath.workdps(40):
            for p in points[1:-1:9]:
                quantile = mpmath.sqrt(2) * mpmath.erfinv(
                    1 - 2 * mpmath.mpf(p.x.lower.numerator) / p.x.lower.denominator
                )
                expected = mpmath.ncdf(quantile - mpmath.mpf(mu))
                middle = mpmath.mpf(p.y.lower.numerator) / p.y.lower.denominator
                assert abs(middle - expected) < mpmath.mpf(10) ** -28 * expected


def middle(enclosure):
    return (Fraction(enclosure.lower) + Fraction(enclosure.upper)) / 2


@pytest.mark.parametrize(
    ("name", "lines", "touching"), [("kov-3-bottom", 5, 0), ("gdp-4", 7, 1e-3)]
)
def test_supporting_lines_touch_from_below(name, lines, touching, made):
    curve, *drawn = made(name).panels[0].series
    assert len(drawn) == lines
    slopes = set()
    for each in drawn:
        start, end = sorted(each.points, key=lambda p: p.x.lower)
        heights = [
            middle(p.x) / middle(end.x) + middle(p.y) / middle(start.y) - 1 for p in curve.points
        ]
        assert -Fraction(1, 10**28) <= min(heights) <= touching + Fraction(1, 10**28)
        slopes.add(middle(start.y) / middle(end.x))
    assert len(slopes) == lines
    labels = {each.label for each in drawn}
    assert sum(each.like in labels for each in drawn) == lines // 2


def test_gdp_4_intercepts(made):
    """``delta(eps) = Phi(1/2 - eps) - e^eps Phi(-1/2 - eps)`` of ``G_1``."""
    for eps in ("0", "0.5", "1", "2"):
        start, _ = series(made("gdp-4"), rf"$\varepsilon$ = {eps}").points
        with mpmath.workdps(40):
            e, half = mpmath.mpf(eps), mpmath.mpf(1) / 2
            delta = mpmath.ncdf(half - e) - mpmath.exp(e) * mpmath.ncdf(-half - e)
            found = mpmath.mpf(middle(start.y).numerator) / middle(start.y).denominator
            assert abs(1 - delta - found) < mpmath.mpf(10) ** -29


def test_gdp_6_bends_where_the_talk_has_it(made):
    hull = series(made("gdp-6-left"), "$C_p(f)$").points
    assert any(near(p.x, "0.184060125346759") and near(p.y, "0.594781962395972") for p in hull)
    right = series(made("gdp-6-right"), "$C_p(f)$").points
    assert any(near(p.x, "0.0426832858598") and near(p.y, "0.774390028484") for p in right)


@pytest.mark.slow
def test_gdp_7_by_the_lattice_engine():
    """A point of an exact curve is above every supporting line of another engine's profile."""
    mechanism = "poisson(gaussian(1.3), 256/60000)^3515"
    alpha = Fraction(1, 4)
    truth = dpexact.tradeoff(mechanism)(alpha, 10)
    gaps = []
    for eps in ("0.05", "0.1", "0.15"):
        delta = dpexact.delta(mechanism, eps, 2, method="lattice")
        level = Fraction(math.exp(float(eps)))
        gaps.append(truth.upper - (1 - Fraction(delta.upper) - level * alpha))
    assert 0 <= min(gaps) < Fraction(1, 200)


def test_steinke_1_as_printed(made):
    printed = {
        "basic": ("1", "10"),
        "Theorem 18": ("1.712258136269", "5.756521769757"),
        "optimal": ("0.9993709057218", "4.774567588108"),
        "zCDP, Proposition 14": ("1.471594750532", "5.221534444530"),
        "Gaussian, variance 200": ("0.9405155265308", "3.307600722613"),
    }
    for label, (ten, hundred) in printed.items():
        points = series(made("steinke-1"), label).points
        assert near(points[9].y, ten)
        assert near(points[99].y, hundred)


def test_steinke_2_as_printed(made):
    exact, first, second = (
        series(made("steinke-2"), label).points
        for label in ("exact", "Proposition 41", "Proposition 42")
    )
    assert near(exact[8].y, "1.674060564")
    assert near(first[8].y, "4.112769226")
    assert near(second[8].y, "1.884191960")
    assert near(exact[48].y, "21.94313033")


@pytest.mark.slow
def test_census_as_recomputed():
    data = recipe("slides-census").make(Workshop(12, 2))
    exact = series(data, "exact composition").points
    assert near(exact[0].y, "54.73765")
    assert near(exact[7].y, "338.2815")
    saved, printed = (series(data, label, 1).points for label in ("recomputed", "as printed"))
    for name, ours, theirs in zip(data.panels[1].categories, saved, printed, strict=True):
        differs = abs(Fraction(ours.y.lower) - Fraction(theirs.y.lower)) > Fraction(1, 10)
        assert name.endswith("(misprint)") == differs
    wrong = [name for name in data.panels[1].categories if name.endswith("(misprint)")]
    assert wrong == ["US (misprint)"]
    assert near(saved[0].y, "21.13")


def test_a_crossing_is_enclosed():
    def square_root_of(x, digits):  # 1/x^2 crosses 1/2 at sqrt 2
        return Enclosure.exact(1 / x**2)

    found = crossing(square_root_of, Fraction(1, 2), Fraction(2), 25)
    assert found.lower**2 < 2 < found.upper**2
    assert found.digits >= 25


def test_no_crossing():
    found = crossing(lambda x, d: Enclosure(1 / x, 9 / x), Fraction(1), Fraction(6, 5), 5)
    assert found == Enclosure(Fraction(0), math.inf)
    assert "no crossing" in found.reason


@pytest.mark.slow
def test_understatement_by_the_lattice_engine():
    """One cell of the heat map by another engine."""
    error = dpexact.approximation_error(
        "poisson(gaussian(0.6), 1/100)^100", "clt-poisson", digits=10, delta="1e-5"
    )
    found = dpexact.epsilon("poisson(gaussian(0.6), 1/100)^100", "1e-5", 2, method="lattice")
    assert found.overlaps(error.true)


def test_gdp_2_is_one_above_one_across_one_below(made):
    guarantee, above, across, below = made("gdp-2").panels[0].series
    inner = range(1, 80)  # where the trade-off functions are neither 1 nor 0
    assert all(above.points[k].y > guarantee.points[k].y for k in inner)
    assert all(below.points[k].y < guarantee.points[k].y for k in inner)
    f = dpexact.tradeoff("gdp(1)")
    sides = {p.y < f(p.x.upper, 20) for p in across.points[1:2]}  # the kink is below f
    assert sides == {True}
    assert dpexact.tradeoff("pure_dp(1)")("1/20", 20) > f("1/20", 20)


def test_the_pairs_of_the_talk(made):
    """A smaller divergence of every order beside a larger total variation."""
    response, gaussian = made("slides-pairs").panels[1].series
    assert all(a.y < b.y for a, b in zip(response.points, gaussian.points, strict=True))
    for order, found in ((response.points[1].x.lower, response.points[1].y),):
        with mpmath.workdps(40):  # log((p^a q^(1-a) + q^a p^(1-a)))/(a-1), p = 1/(1+e^-2)
            a = mpmath.mpf(order.numerator) / order.denominator
            p = 1 / (1 + mpmath.exp(-2))
            value = mpmath.log(p**a * (1 - p) ** (1 - a) + (1 - p) ** a * p ** (1 - a)) / (a - 1)
            ours = middle(found)
            ours = mpmath.mpf(ours.numerator) / ours.denominator
            assert abs(value - ours) < mpmath.mpf(10) ** -28
    assert dpexact.delta("pure_dp(2)", 0, 20) > dpexact.delta("gdp(2)", 0, 20)
    a, b = (series(made("slides-pairs"), name, 2).points for name in "AB")
    assert any(p.x.lower == p.y.lower == Fraction(1, 3) for p in a)
    assert any((p.x.lower, p.y.lower) == (Fraction(24, 25), Fraction(1, 100)) for p in b)


@pytest.mark.slow
def test_the_budget_of_the_census_is_not_used_up():
    data = recipe("slides-census-budget").make(Workshop(12, 2))
    left = {}
    for panel in data.panels:
        published, exact, rest = panel.series
        assert all(a.y > b.y for a, b in zip(published.points, exact.points, strict=True))
        assert published.points[0].y.lower == 1
        left[panel.title.partition(" ")[0]] = [p.x for p in rest.points]
        assert rest.points[0].x < rest.points[1].x
    # exact and published epsilon at 1e-11, by the sum over the lattice in floats
    expected = {"1.95": ("2.31941", "2.62783"), "27.07": ("9.53259", "10.44943")}
    expected |= {"8.42": ("5.04301", "5.60578"), "12.93": ("6.35169", "7.02970")}
    expected |= {"23.46": ("8.81527", "9.66989"), "0.3": ("0.87453", "1.01526")}
    assert left.keys() == expected.keys()
    for level, (exact, published) in expected.items():
        assert near(left[level][0], exact)
        assert near(left[level][1], published)
