"""Lines left of the axis against whole powers, rays and paths of quadrature."""

import math

import mpmath
import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact.accounting.pairs.allocation import Allocation
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.sums import allocation_left as left
from dpexact.accounting.pairs.sums.allocation_rules import Shape
from dpexact.accounting.pairs.sums.allocation_sums import Law
from dpexact.balls import precision
from dpexact.conversion import real

SIGMA, T, POWER = "2", 40, 6


def law(sigma=SIGMA, t=T):
    return Law(1 / real(sigma), t)


def planned(accuracy=25.0, **changes):
    return left.planned(Shape(1 / float(SIGMA), T), POWER, 0.0, accuracy, 1e5)._replace(**changes)


def found(rule):
    with precision(150):
        (value,) = left.Left(law(), rule).line(arb(POWER), arb(0), 0)
        return value.real


def truth():
    with precision(150):
        return law().whole(POWER)


# --- the values -----------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(
    sigma=st.sampled_from(["1.5", "2.2", "4", "9"]),
    t=st.sampled_from([3, 30, 400, 20000]),
    power=st.integers(2, 40),
)
def test_whole_powers(sigma, t, power):
    shape = Shape(1 / float(sigma), t)
    try:
        rule = left.planned(shape, float(power), 0.0, 30.0, 3000)
    except TooExpensive:
        return
    with precision(max(rule.bits, 100)):
        (value,) = left.Left(law(sigma, t), rule).line(arb(power), arb(0), 0)
        exact = law(sigma, t).whole(power)
        assert value.real.overlaps(exact)
        assert value.real.rad() < exact * math.exp(-28)


@pytest.mark.parametrize(("sigma", "t", "c"), [("2", 40, 3.25), ("3", 7, 0.5), ("1.4", 900, 2.0)])
def test_lines_are_those_of_rays(sigma, t, c):
    pair = Allocation(real(sigma), t)
    rule = left.planned(Shape(1 / float(sigma), t), 1 + c, 12.0, 25.0, 1e5)
    with precision(max(rule.bits, 100)):
        line = left.Left(law(sigma, t), rule).line(1 + arb(c), arb(3), 4)
        ray = pair._shape.oblique(1 + c, 12.0, 25.0)
    with precision(max(ray.bits, 100)):
        moment = arb(2) ** 60
        values = pair._mellin(1 + c, 1 + arb(c)).line(ray, moment, 3.0, 4)
    for value, other in zip(line, values, strict=True):
        assert value.overlaps(other.conjugate())
        assert value.abs_upper() > 0
        assert value.real.rad() < arb(1e-9)


def test_what_took_powers_takes_none(monkeypatch):
    """``allocation(gaussian(10), 1287)``: sixty powers took 18 seconds."""
    monkeypatch.setattr(Law, "nodes", lambda *args: pytest.fail("a ray"))
    pair = Allocation(real("10"), 1287)
    with precision(130):
        line = pair.moments(60.0, 50.0, 20, 34.0)
        assert line[0].real.overlaps(pair._between(60.0, 4.0))
        assert line[0].real.rad() < arb("1e-14")
    assert pair.line_cost(60.0, 34.0)[0] < 2000


def test_epochs_of_much_noise():
    found = dpexact.delta("allocation(gaussian(4.79), 61)^20", 1, 8)
    assert found.lower < 1.5298627e-18 < found.upper * (1 + 10**-7)


# --- the bounds -----------------------------------------------------------------------------------


def _phi(a, z, shift):
    """``E e^{-zY}`` on ``Im x = -shift``."""

    def integrand(x):
        x = x - 1j * shift
        return mpmath.npdf(0) * mpmath.exp(-x * x / 2 - z * mpmath.exp(a * x - a * a / 2))

    return mpmath.quad(integrand, mpmath.linspace(-9, 15, 49))


@pytest.mark.parametrize("zeta", ["0.02", "0.2"])
@pytest.mark.parametrize("height", ["0", "0.1", "3"])
def test_a_cut(zeta, height):
    """Lemma 15, and the continuation itself."""
    a, cut = mpmath.mpf(1) / 2, mpmath.mpf(4)
    z = mpmath.mpc("-" + zeta, height)
    continued = _phi(a, z, 3 * mpmath.pi / (4 * a) if height == "0" else mpmath.pi / (2 * a) + 0.4)
    short = mpmath.quad(
        lambda x: mpmath.npdf(x) * mpmath.exp(-z * mpmath.exp(a * x - a * a / 2)),
        mpmath.linspace(-9, cut, 20),
    )
    real_part = mpmath.quad(
        lambda x: mpmath.npdf(x) * mpmath.exp(mpmath.mpf(zeta) * mpmath.exp(a * x - a * a / 2)),
        mpmath.linspace(-9, cut, 20),
    )
    with precision(100):
        rest = left.beyond(arb("0.5"), arb(zeta), arb(4))
        most = left.before(arb("0.5"), arb(zeta), arb(4))
    assert abs(continued - short) <= float(rest.upper())
    assert real_part <= float(most.upper()) * (1 + 1e-12)
    assert float(most.upper()) < real_part * 1.001


def test_the_jump_is_bounded():
    """Lemma 16 at some places: twice the imaginary part, and its integral."""
    a, cut, high, t, c = mpmath.mpf(1) / 2, mpmath.mpf(6), mpmath.mpf(4), 20, 3
    with precision(100):
        rest = float(left.beyond(arb("0.5"), arb(4) / t, arb(6)).upper())
        most = float(left.before(arb("0.5"), arb(4) / t, arb(6)).upper()) + rest
        bound = float(left.jump(law("2", t), acb(c), arb(4), arb(6)).upper())

    def jump(r):
        return abs(2 * mpmath.im(_phi(a, -r / t, 3 * mpmath.pi / (4 * a)) ** t))

    for r in ("1", "2", "4"):
        r = mpmath.mpf(r)
        assert jump(r) <= 2 * t * most ** (t - 1) * rest * (r / high) ** (cut / a)
    inside = mpmath.quad(lambda r: r ** (-c - 1) * jump(r), [0.5, 2, 4], maxdegree=3)
    assert 6 / (4 * mpmath.pi) * 3 * inside <= bound


def test_the_integral_of_a_line():
    c, y, at = mpmath.mpf("2.5"), mpmath.mpf(4), mpmath.mpf(3)
    whole = mpmath.quad(
        lambda v: mpmath.hypot(at, v) ** (-c - 1) * mpmath.exp(y * mpmath.atan(v / at)),
        [-mpmath.inf, -3, 0, 3, 10, mpmath.inf],
    )
    w = mpmath.mpc(c, y)
    with precision(100):
        one = left.line_aliases(law("2", 1), acb("2.5", 4), arb(3), arb(4), arb(1), arb(2))
        most = left.before(arb("0.5"), arb(3), arb(4)) + left.beyond(arb("0.5"), arb(3), arb(4))
        share = float((one / most).mid()) * (mpmath.exp(mpmath.pi) - 1)
    assert abs(share / (abs(mpmath.gamma(w + 1)) / (2 * mpmath.pi) * whole) - 1) < 1e-9


@pytest.mark.parametrize(
    ("term", "changes"),
    [
        ("outer_tail", {"nodes": 40}),
        ("line_aliases", {"spacing": 6.0, "nodes": 30}),
        ("beyond", {"last": 22}),
        ("inner_tails", {"first": -20}),
        ("strip_aliases", {"inner": 2.0, "first": -8, "last": 4}),
    ],
)
def test_no_error_term_may_be_left_out(monkeypatch, term, changes):
    """Rules that are too coarse enclose, and do not without the term."""
    rule = planned(**changes)
    assert found(planned()).overlaps(truth())
    assert found(rule).overlaps(truth())
    proper = getattr(left, term)
    monkeypatch.setattr(left, term, lambda *args: proper(*args) * arb("1e-30"))
    assert not found(rule).overlaps(truth())


def test_a_transform_is_off_by_what_is_beyond_the_cut():
    rule = planned(nodes=40, last=22)
    z = mpmath.mpc(-rule.rho, 20.5 * rule.spacing) / T
    value = _phi(mpmath.mpf(1) / 2, z, mpmath.pi + 0.4) ** T
    with precision(100):
        found = left.Left(law(), rule)._psi()[20]
    off = abs(complex(found.mid()) - value)
    assert off / abs(value) > 1e-9
    assert off < float(found.rad()) * math.sqrt(2)


def test_what_an_inner_rule_is_off_by(monkeypatch):
    """Both lines ``lift`` from the nodes, those to the left, and twice what a cut costs."""
    rule, asked = planned(), []
    monkeypatch.setattr(left, "before", lambda *_: arb(7))
    monkeypatch.setattr(left, "beyond", lambda *_: arb(100))
    monkeypatch.setattr(left, "strip_aliases", lambda *args: asked.append(args) or arb(3))
    monkeypatch.setattr(left, "inner_tails", lambda *_: arb(0))
    monkeypatch.setattr(left, "raised", lambda total, _: total)
    with precision(100):
        found = left.Left(law(), rule)._psi()[0]
    assert asked == [(arb(rule.lift), arb(rule.lift), arb(rule.inner))]
    assert float(found.real.rad()) == pytest.approx(7 * 3 + 2 * 100)


def test_inner_nodes_are_work():
    with pytest.raises(TooExpensive, match="within"):
        left.planned(Shape(1 / 5.11, 13800), 395.8, 0.0, 40.0, 3e6)


@pytest.mark.parametrize(
    "changes",
    [
        {"low": 40.0},
        {"high": 0.1},
        {"shift": 3.5},
        {"shift": 0.0},
        {"lift": 2.0},
        {"first": 1},
        {"last": -100},
        {"last": 3},
    ],
)
def test_rules_that_are_none(changes):
    with pytest.raises(TooExpensive):
        found(planned(**changes))


def test_the_bounds_are_those_of_the_proofs():
    """Section 7: of a cut, of the jump, and of the nodes that are left out."""
    turn, zeta, cut, t = mpmath.pi, mpmath.mpf("0.2"), mpmath.mpf(4), 20
    y = mpmath.exp(2 - mpmath.mpf(1) / 8)
    beyond = turn * mpmath.npdf(cut) * mpmath.exp(zeta * y) + mpmath.ncdf(-cut)
    beyond *= mpmath.exp(turn**2 / 2)
    size = abs(mpmath.gamma(mpmath.mpc(3.5, 2)))
    tail = size * (mpmath.exp(mpmath.pi) + 1) * 3 / (2 * mpmath.pi * 2.5 * mpmath.mpf(9) ** 2.5)
    with precision(100):
        assert float(left.beyond(arb("0.5"), arb("0.2"), arb(4)).mid()) == pytest.approx(beyond)
        assert float(left.outer_tail(acb("2.5", 2), arb(9), arb(3)).mid()) == pytest.approx(tail)
        most = left.before(arb("0.5"), arb("0.2"), arb(4)) + left.beyond(
            arb("0.5"), arb("0.2"), arb(4)
        )
        jump = 3 * size / (2 * mpmath.pi) * t * float(most.mid()) ** (t - 1) * beyond
        jump *= mpmath.mpf(4) ** -2.5 / (8 - 2.5)
        found = left.jump(law("2", t), acb("2.5", 2), arb(4), arb(4))
        assert float(found.mid()) == pytest.approx(jump)


# --- whole powers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("sigma", "t"), [("4.29", 1490), ("3.5", 144), ("5", 9)])
def test_whole_powers_in_floats(sigma, t):
    shape = Shape(1 / float(sigma), t)
    with precision(200):
        exact = [float(value.log().mid()) for value in law(sigma, t).wholes(60)]
    for k in (20, 40, 59):
        assert shape.moment(k).value == pytest.approx(exact[k], rel=1e-9)
        between = shape.moment(k - 0.5)
        assert exact[k - 1] < between.value < exact[k]
        assert between.slope == pytest.approx(exact[k] - exact[k - 1], rel=1e-3)


@pytest.mark.parametrize(("sigma", "t", "w"), [("3", 50, "11.3"), ("1.5", 200, "7.75")])
def test_between_whole_powers(sigma, t, w):
    with precision(120):
        near = law(sigma, t).between(arb(w))
        pair = Allocation(real(sigma), t)
        assert near.contains(pair._transformed(float(w) - 1, 30.0).mid())
        assert near.rad() < near.mid() / 10
        assert not law(sigma, t).between(arb("0.5")).is_finite()
        assert not law(sigma, t).between(arb(3).union(arb(5))).is_finite()
