"""Laplace noise on a sample: its moments against quadrature, its answers against the lattice."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from flint import acb, arb, arb_poly
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpc, mpf

import dpexact
from dpexact import balls
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs.laplace import Laplace, TruncatedLaplace
from dpexact.accounting.pairs.pair import Atom, TooExpensive, product
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.pairs.sampled_laplace import SampledLaplace, _bounded, _Nodes
from dpexact.accounting.pairs.sums.splines import Piece, _cells, spline
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import ZERO

RATES = ["1/100", "1", "6"]
SHARES = ["1e-6", "1/100", "9/10"]


def pair(rate, q, removes=True):
    return SampledLaplace(((Laplace(real(rate)), 1),), real(q), removes)


def truncated(rate, q, removes, weight, lost):
    laws = ((TruncatedLaplace(real(rate), real(weight)), 1), (Response(ZERO, real(lost)), 1))
    return SampledLaplace(laws, real(q), removes, real(lost), real(lost))


def bound(law, power, u):
    return _bounded(*law._cuts(arb(power)), arb(u))


def mean(power, rate, q, weight="1", lost="0"):
    """``E_Q[w^power]``, by mpmath."""
    given = map(Fraction, (rate, q, weight, lost))
    rate, q, weight, lost = (mpf(x.numerator) / x.denominator for x in given)

    def grown(loss):
        return mp.exp(power * mp.log(1 + q * mp.expm1(loss)))

    pieces = mp.linspace(-rate, rate, 1 + max(2, int(abs(power) * rate * q / 20)))
    inside = mp.quad(lambda x: mp.exp(-x / 2) * grown(x), pieces)
    ends = [2 * weight * mp.exp(-x / 2) * grown(x) for x in (-rate, rate)]
    whole = mp.quad(lambda x: mp.exp(-x / 2), [-rate, rate]) + 4 * weight * mp.cosh(rate / 2)
    return (1 - lost) * (inside + sum(ends)) / whole + lost * (1 - q) ** power


def holds(found: acb, true: mpc) -> bool:
    """Whether the ball holds the number, to what mpmath has."""
    parts = zip((found.real, found.imag), (true.real, true.imag), strict=True)
    return all(abs(mpf(str(x.mid().fmpq().p)) / int(x.mid().fmpq().q) - y)
               <= mpf(str(x.rad().fmpq().p)) / int(x.rad().fmpq().q) + mpf(10) ** -28
               for x, y in parts)  # fmt: skip


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("q", SHARES)
def test_moments_on_a_line(rate, q, removes):
    law = pair(rate, q, removes)
    low, high = law._points[0][1, :2].tolist()
    step = 0.75 / abs(high - low)
    with balls.precision(160), mp.workdps(40):
        found = law.moments(2.5, step, 8, 60.0)
        for n in (0, 1, 5, 8):
            s = mpc(2.5, n * mpf(step))
            true = mean(1 + s if removes else -s, rate, q)
            assert holds(found[n], true)
            assert found[n].real.rad() < 1e-20


TRUNCATED = [("1", "3/4", "1/100"), ("6", "0", "1/3"), ("1/100", "1", "1e-9")]


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("rate", "weight", "lost"), TRUNCATED)
@pytest.mark.parametrize("q", SHARES)
def test_moments_of_truncated_noise_on_a_line(rate, weight, lost, q, removes):
    law = truncated(rate, q, removes, weight, lost)
    low, high = (
        math.log1p(float(Fraction(q)) * math.expm1(s * float(Fraction(rate)))) for s in (-1, 1)
    )
    step = 0.75 / (high - low)
    with balls.precision(160), mp.workdps(40):
        found = law.moments(2.5, step, 8, 60.0)
        terms, error = law.exponentials(2.5, 1e4 * step, 40.0)
        for n in (0, 1, 5, 8):
            s = mpc(2.5, n * mpf(step))
            true = mean(1 + s if removes else -s, rate, q, weight, lost)
            assert holds(found[n], true)
            turn = acb(0, n * arb(step))
            assert holds(sum((w * (turn * z).exp() for w, z in terms), acb(error, error)), true)
        assert law.mass().overlaps(law.moment(0.0, 60.0))
        assert law.infinite().overlaps(1 - law.mass())
        assert law.overlap() < law.moment(-0.5, 30.0)
        assert abs(law.cumulant(2.5).value - float(found[0].real.log())) < 1e-9


@pytest.mark.parametrize("power", [-2.0, 0.5, 4.0])
@pytest.mark.parametrize(("rate", "weight", "lost"), TRUNCATED)
def test_truncated_noise_does_not_decay_below_what_it_reveals(rate, weight, lost, power):
    law = truncated(rate, "1/10", True, weight, lost)
    unit = 10 / float(Fraction(rate))
    with balls.precision(128), mp.workdps(30):
        for u in (2.0, 4.5, 7.8, 40.0):
            most = bound(law, power, u * unit).upper()
            for further in (1.0, 1.1, 1.3):
                true = abs(mean(mpc(power, u * unit * further), rate, "1/10", weight, lost))
                assert float(true) <= float(most) * (1 + 1e-12)


@pytest.mark.parametrize("c", [-0.5, 0.25, 3.0])
@pytest.mark.parametrize("rate", RATES)
def test_a_real_moment_and_its_estimate(rate, c):
    law = pair(rate, "1/20")
    with balls.precision(128), mp.workdps(40):
        found = law.moment(c, 50.0)
        assert holds(acb(found), mpc(mean(mpf(1 + c), rate, "1/20")))
        assert abs(law.cumulant(c).value - float(found.log())) < 1e-9


@pytest.mark.parametrize("power", [-2.0, 0.5, 4.0])
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("q", SHARES)
def test_the_decay_holds_from_each_height_on(rate, q, power):
    law, unit = pair(rate, q), 1 / float(Fraction(q) * Fraction(rate))
    with balls.precision(128), mp.workdps(30):
        for u in (2.0, 4.5, 7.8):
            most = bound(law, power, u * unit).upper()
            for further in (1.0, 1.3):
                true = abs(mean(mpc(power, u * unit * further), rate, q))
                assert float(true) <= float(most) * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("rate", "q", "c"), [("5", "1e-4", 0.5), ("7", "1e-3", 2.0)])
@pytest.mark.parametrize("removes", [True, False])
def test_the_decay_holds_where_a_cut_decides(rate, q, c, removes):
    # next to no loss but counted whole below, turned and gone above
    law = pair(rate, q, removes)
    with balls.precision(96):
        whole = law.moment(c, 40.0)
        for place in (0.3, 0.6):
            for scale in (2.0, 6.0):
                u = scale / float(Fraction(q)) * math.exp(-place * float(rate))
                most = bound(law, law._power(c), u)
                assert most < (1 - 1e-4) * whole, "nothing decays"
                for further in (1.0, 1.3):
                    assert abs(law.moments(c, u * further, 1, 60.0)[1]) < most


@pytest.mark.parametrize("turns", [30, 33.7, 36])
def test_what_is_above_a_cut_ends_there(turns):
    law, rate, q = pair("2", "1/100"), mpf(2), mpf("0.01")
    with balls.precision(96), mp.workdps(20):
        t = mpc(2, turns / (0.01 * math.e))

        def density(x):
            return mp.exp(t * mp.log(1 + q * mp.expm1(x)) - x / 2 - rate / 2) / 4

        true = abs(mp.quad(density, mp.linspace(1, rate, 12)))
        _, above = law._cuts(arb(2))[1][48]  # three quarters of 64 cells
        assert 0.3 < float(true * t.imag) / float(above) <= 1


@pytest.mark.slow
def test_the_decay_bound_is_near_what_happens():
    law = pair("1", "1/100")
    with balls.precision(128), mp.workdps(30):
        near = [abs(mean(mpc(1, u), "1", "1/100")) / mpf(str(float(bound(law, 1, u))))
                for u in range(300, 1000, 20)]  # fmt: skip
    assert 0.8 < max(near) <= 1


@pytest.mark.parametrize(("nodes", "top"), [(2, 0), (5, 0), (4, 900), (9, 2500)])
@pytest.mark.parametrize("rate", ["1", "6"])
def test_the_error_of_a_rule_of_few_nodes(rate, nodes, top, monkeypatch):
    law = pair(rate, "1/100")
    with balls.precision(192), mp.workdps(40):
        for height in (0.3, 0.9, 1.4):
            monkeypatch.setattr(SampledLaplace, "_planned", lambda *_, h=height: [_Nodes(h, nodes)])
            rule = law._rule(arb(2), float(top), 50.0)
            t = acb(2, top)
            value = sum(
                (w * (t * z).exp() for w, z in zip(rule.weights, rule.logs, strict=True)), acb(0)
            )
            assert holds(value + acb(rule.error, rule.error), mean(mpc(2, top), rate, "1/100"))


def test_an_ellipse_that_reaches_a_zero_is_refused():
    law = pair("1", "9/10")
    with balls.precision(64):
        (piece,) = spline(law.laws).pieces
        assert not law._error(piece, arb(1), arb(0), arb(1.6), 10).is_finite()
        assert not law._error(piece, arb(1), arb(0), arb(0), 10).is_finite()


def test_rates_beyond_floats_are_too_expensive():
    with balls.precision(64), pytest.raises(TooExpensive):
        pair("1e4", "1/2").moment(1.0, 20.0)


PRODUCTS = [
    ((Laplace(real(1)), 2),),
    ((Laplace(real("3/4")), 1), (Laplace(real("1/3")), 2), (Response(real("1/2")), 2)),
    ((Laplace(real("1/2")), 1), (TruncatedLaplace(real(1), real("1/3")), 3)),
    ((Laplace(real(1)), 1), (Response(real(9)), 1)),  # nothing between
    ((TruncatedLaplace(real(2), real(0)), 1), (Response(real("1/3"), real("1/7")), 1)),
    ((Laplace(real("1/3")), 12),),
]


#: Whose density alone varies.
FLAT = ((TruncatedLaplace(real("1/10"), real(0)), 4),)


@pytest.mark.parametrize("laws", PRODUCTS, ids=str)
@pytest.mark.parametrize("q", ["1e-4", "1/3"])
@pytest.mark.parametrize("n", [1, 5, 40])
def test_whole_powers_of_products(laws, q, n):
    """Sums of moments before sampling, of closed forms."""
    lost = real("1/7") if laws[-1] == PRODUCTS[4][-1] else ZERO
    law = SampledLaplace(laws, real(q), True, lost, lost)
    with balls.precision(200):
        rate = balls.ball(real(q))
        parts = (
            math.comb(n, j) * (1 - rate) ** (n - j) * rate**j
            * product(laws, lambda pair, j=j: pair.moment(float(j - 1), 0.0))
            for j in range(1, n + 1)
        )  # fmt: skip
        true = sum(parts, (1 - rate) ** n)
        found = law.moment(n - 1.0, 60.0)
        assert found.overlaps(true)
        assert found.rad() < 1e-20 * true
        terms, error = law.exponentials(n - 1.0, 1e6, 30.0)
        whole = sum((w for w, _ in terms), acb(error, error))
        assert whole.overlaps(acb(true))
        assert error.rad() < 1e-12 * true
        assert law.reverse.moment(float(-n), 60.0).overlaps(true)


@pytest.mark.parametrize(("way", "shown"), [("remove", "1/30"), ("add", "0")])
def test_each_law_alone_may_give_as_much_as_it_likes(way, shown):
    inner = dpexact.parse("laplace(1) * pair((1/3, 0), (2/3, 1/2), (0, 1/2))")
    law = Composition.running(inner).on_sample(real("1/10"), way)
    with balls.precision(128):
        assert law.infinite().overlaps(balls.ball(real(shown)))
        assert law.moment(0.0, 60.0).overlaps(law.mass())
        assert law.reverse.moment(-1.0, 60.0).overlaps(law.mass())
        most = arb("0.9").log() if way == "add" else (1 + (arb(1).exp() * 4 / 3 - 1) / 10).log()
        assert law.largest_loss().overlaps(abs(most))


@pytest.mark.parametrize("u", [3.0, 300.0, 5e3])
@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("laws", PRODUCTS[:4], ids=str)
def test_lines_and_arcs_of_products_agree(laws, removes, u):
    law, c = SampledLaplace(laws, real("1/50"), removes), 1.5
    with balls.precision(160):
        line = law.moments(c, u, 1, 50.0)[1]
        terms, error = law.exponentials(c, 1e9, 30.0)
        turn = acb(0, u)
        assert line.real.rad() < 1e-15
        assert line.overlaps(sum((w * (turn * z).exp() for w, z in terms), acb(error, error)))
        for further in (1.0, 1.1, 1.7):
            value = abs(law.moments(c, u * further, 1, 30.0)[1])
            assert value.lower() <= law.decayed(c, u, 30.0)


@pytest.mark.parametrize("height", [0.1, 0.3, 0.9])
def test_few_nodes_for_a_polynomial(height):
    law, piece = pair("1", "1/100"), Piece(arb(0), arb(0.5), arb_poly([0] * 8 + [1]))
    with balls.precision(192):
        few, true = (
            law._ruled([(piece, nodes)], arb(2), 0.0).total(arb(2))
            for nodes in (_Nodes(height, 3), _Nodes(1.0, 40))
        )
        assert few.overlaps(true)


@pytest.mark.parametrize("power", [-2.0, 0.5, 30.0])
@pytest.mark.parametrize("laws", [*PRODUCTS[:3], FLAT], ids=str)
def test_variations_of_products(laws, power):
    """By the values of the density at many losses."""
    law, q, values = SampledLaplace(laws, real("1/5"), True), 0.2, [0.0]
    with balls.precision(96):
        for piece in spline(laws).pieces:
            for k in range(-100, 101):
                x = arb(k) / 100
                at = float((piece.middle + piece.half * x).mid())
                grown = (power + 1) * math.log1p(q * math.expm1(at)) - 1.5 * at
                values.append(float(piece.density(x).mid()) * math.exp(grown) / q)
        true = sum(abs(y - x) for x, y in pairwise([*values, 0.0]))
        assert 0.35 < true / float(law._cuts(arb(power))[1][0][1]) < 1 + 1e-9


def test_in_one_cell_what_falls_and_rises_again_varies_by_both(monkeypatch):
    for name in ("_CELLS", "_LEAST_CELLS"):
        monkeypatch.setattr(f"dpexact.accounting.pairs.sums.splines.{name}", 1)
    law = pair("4001/1000", "1/5")
    with balls.precision(96):
        ends = [law._mark(x, arb(4)).scale for x in spline(law.laws).knots]
        (cell,), least = spline(law.laws).cells, law._mark(arb("0.54"), arb(4)).scale
        assert cell.most * 2 * (sum(ends, arb(0)) - least) < law._cuts(arb(4))[1][0][1]


def test_beside_a_response_by_quadrature():
    """Given its outcome there is one Laplace noise."""
    law = SampledLaplace(((Laplace(real(1)), 1), (Response(real("1/2")), 1)), real("1/10"), True)
    with balls.precision(128), mp.workdps(30):
        for u in (0, 7, 90):
            t, true = mpc(2, u), mpc(0)
            for loss in (mpf("0.5"), mpf("-0.5")):

                def grown(x, loss=loss, t=t):
                    return mp.exp(t * mp.log(1 + mpf("0.1") * mp.expm1(x + loss)))

                given = mp.quad(lambda x: mp.exp(-x / 2) * grown(x), mp.linspace(-1, 1, 6))
                given += 2 * sum(mp.exp(-x / 2) * grown(x) for x in (mpf(-1), mpf(1)))
                true += given * mp.exp(-mpf("0.5")) / 4 / (1 + mp.exp(loss))
            assert holds(law.moments(1.0, float(u or 1), 1, 50.0)[bool(u)], true)


@pytest.mark.slow
@given(
    scale=st.fractions(Fraction(1, 3), 20, max_denominator=30),
    q=st.fractions(Fraction(1, 1000), Fraction(99, 100), max_denominator=1000),
    count=st.integers(2, 4000),
    epsilon=st.fractions(0, 3, max_denominator=50),
    way=st.sampled_from(["remove", "add"]),
)
@settings(max_examples=4)
def test_against_the_lattice(scale, q, count, epsilon, way):
    text = f"poisson(laplace({scale}), {q})^{count}"
    answers = []
    for method in ("contour", "lattice"):
        try:
            answers.append(dpexact.delta(text, epsilon, 2, way, method=method))
        except dpexact.PrecisionNotReached as short:
            answers.append(short.best)
    assert answers[0].overlaps(answers[1])


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize("scale", ["1/2", "1", "10"])
def test_ten_digits_of_many_steps(scale, way):
    text = f"poisson(laplace({scale}), 1/100)^100000"
    found = dpexact.epsilon(text, "1e-6", 10, way)
    assert (found.method, found.digits >= 10) == ("contour", True)
    below = dpexact.delta(text, found.upper, 6, way)
    assert below.lower <= Fraction(1, 10**6) <= dpexact.delta(text, found.lower, 6, way).upper


def test_a_line_before_blurs_of_loud_noise():
    """Blurs take seconds here, and fall short of the digits."""
    found = dpexact.epsilon("poisson(laplace(0.0301), 0.159)^1490", "2e-11", 10, "remove")
    assert (found.method, found.digits >= 10) == ("contour", True)


def meets_the_lattice(text, epsilon, method, way):
    found = dpexact.delta(text, epsilon, 8, way)
    assert found.digits >= 8
    assert found.method.startswith(method)
    try:
        other = dpexact.delta(text, epsilon, 3, way, method="lattice")
    except dpexact.PrecisionNotReached as short:
        other = short.best
    assert other.digits >= 2
    assert found.overlaps(other)


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize(
    ("inner", "q", "count", "epsilon", "method"),
    [
        ("truncated_laplace(1, 5)", "1/10", 2, "1/10", "contour of atoms"),
        ("truncated_laplace(2, 1)", "1/2", 3, "1/5", "contour"),
        ("laplace(1) * approx_dp(0, 1/1000)", "1/10", 300, "1", "contour"),
        ("truncated_laplace(1, 5)", "1/10", 365, "0", "contour"),
    ],
)
def test_truncated_noise_against_the_lattice(inner, q, count, epsilon, method, way):
    meets_the_lattice(f"poisson({inner}, {q})^{count}", epsilon, method, way)


@pytest.mark.parametrize("way", ["remove", "add"])
@pytest.mark.parametrize(
    ("inner", "q", "count", "epsilon"),
    [
        ("laplace(2)^2", "1/10", 3, "1/10"),
        ("laplace(1) * laplace(2) * pure_dp(1/2)", "1/10", 300, "1"),
        ("laplace(1)^2 * discrete_laplace(1)", "1/5", 60, "1/2"),
        ("laplace(2) * pair((1/2, 1/4), (1/4, 1/2), (1/4, 0), (0, 1/4))", "1/10", 20, "1/2"),
        ("truncated_laplace(1, 4) * laplace(1) * approx_dp(0, 1e-3)^2", "1/10", 200, "1"),
    ],
)
def test_products_against_the_lattice(inner, q, count, epsilon, way):
    meets_the_lattice(f"poisson({inner}, {q})^{count}", epsilon, "contour", way)


def test_an_arc_of_a_steep_power():
    """Places of an outline see next to nothing of such a piece."""
    found = dpexact.epsilon("poisson(truncated_laplace(1.65, 115), 0.00862)^3", "2.28e-9", 10)
    assert found.digits >= 10


def test_many_laws_that_may_reveal_everything_are_one():
    found = dpexact.delta("poisson(laplace(1) * approx_dp(0, 1e-9)^1000000, 1/10)^100", 1, 10)
    assert found.digits >= 10


@pytest.mark.parametrize(
    "inner", ["laplace(1)^500", "laplace(1) * laplace(7/5)^20 * laplace(11/7)^20"]
)
def test_too_many_pieces_are_refused_before_anything_is_asked(inner):
    with pytest.raises(UnsupportedMechanism):
        Composition.running(dpexact.parse(inner)).on_sample(real("1/2"), "remove")


def test_losses_of_too_many_outcomes_are_not_computed(monkeypatch):
    monkeypatch.setattr(Atom, "loss", property(lambda _: pytest.fail("computed")))
    inner = dpexact.parse("laplace(1) * discrete_laplace(100, 250)")
    with pytest.raises(UnsupportedMechanism):
        Composition.running(inner).on_sample(real("1/2"), "remove")


def test_a_curve_shares_its_lines():
    curve = dpexact.epsilon_curve("poisson(laplace(1), 1/100)", [1000, 1200, 1500], "1e-6", 8)
    for steps, found in zip([1000, 1200, 1500], curve, strict=True):
        alone = dpexact.epsilon(f"poisson(laplace(1), 1/100)^{steps}", "1e-6", 8)
        assert found.overlaps(alone)
        assert found.digits >= 8


def test_beside_other_steps():
    text = "poisson(laplace(1), 1/100)^30 * poisson(gaussian(1), 0.1)^10"
    found = dpexact.delta(text, "0.1", 12, "add")
    assert (found.method, found.digits >= 12) == ("contour", True)
    assert found.overlaps(dpexact.delta(text, "0.1", 3, "add", method="lattice"))


@pytest.mark.slow
@pytest.mark.parametrize("way", ["remove", "add"])
def test_ten_digits_of_little_noise(way):
    text = "poisson(laplace(1/5), 1e-4)^100000"
    found = dpexact.delta(text, 1, 10, way)
    assert (found.method, found.digits >= 10) == ("contour", True)
    assert found.overlaps(dpexact.delta(text, 1, 1, way, method="lattice"))


def test_what_a_rule_of_a_plain_piece_leaves_out():
    """``8 M rho^(-2n) / (1 - rho^-2)``: of ``e^(-l/2)`` on an ellipse of height 1."""
    piece, law = Piece(arb(0), arb(1), arb_poly([3])), pair("1", "1/10")
    found = law._error(piece, arb(0), arb(0), arb(1), 5)
    inverse = arb(2).sqrt() - 1
    most = 3 * (arb(2).sqrt() / 2).exp()
    assert found.overlaps(8 * most * inverse**10 / (1 - inverse**2))
    assert found.rel_accuracy_bits() > 20


def test_a_cut_bounds_by_what_lies_below_and_by_variation_above():
    assert _bounded(arb(1), [(arb(5), arb(1)), (arb(0), arb(3))], arb(2)) == arb("2.5")


def test_a_cell_tells_how_large_and_how_varied_a_density_is():
    """Of ``x`` on four cells of ``[-1, 1]``, exactly."""
    found = list(_cells(Piece(arb(0), arb(1), arb_poly([0, 1])), 4))
    assert [float(cell.most) for cell in found] == [1, 0.5, 0.5, 1]
    assert [float(cell.varies) for cell in found] == [0.5] * 4
