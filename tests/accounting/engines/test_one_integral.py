"""Two steps of noise: each order of the integral, against other engines, and with any cuts."""

from fractions import Fraction

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import scaled

import dpexact
from dpexact import balls
from dpexact.accounting.engines import lattice_law
from dpexact.accounting.engines.closed_form import gaussian_divergence
from dpexact.accounting.engines.gaussian_twice import GaussianTwice
from dpexact.accounting.engines.laplace.cells import LaplaceCells
from dpexact.accounting.engines.laplace.product import LaplaceProduct
from dpexact.accounting.engines.laplace.sums import LaplaceParts
from dpexact.accounting.engines.lattice_law import _Integrated
from dpexact.accounting.engines.one_integral import (
    GaussianNoise,
    LaplaceNoise,
    Step,
    _Outer,
    divergence,
)
from dpexact.accounting.engines.rare.profile import RareProfile
from dpexact.accounting.engines.sampled_once import divergence_on_sample
from dpexact.accounting.pairs.laplace import Laplace
from dpexact.accounting.pairs.sampled_laplace import SampledLaplace
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.enclosure import Enclosure

WAYS = ("remove", "add")
KINDS = (GaussianNoise, LaplaceNoise)


def step(kind, rate, q, way):
    rate, q = real(rate), real(q)
    if kind is GaussianNoise:

        def alone(x):
            return gaussian_divergence(balls.ball(rate), x)
    else:
        alone = LaplaceProduct(LaplaceParts(((rate, 1),)), InfiniteLoss()).finite_ball
    return Step(kind, rate, q, alone if q.fraction == 1 else divergence_on_sample(alone, q, way))


def both(one, two, at, way, bits=100):
    """The two orders in which one can integrate."""
    one, two = step(*one, way), step(*two, way)
    with balls.precision(bits):
        point = balls.ball(real(at))
        return [divergence(*steps, way == "remove", point) for steps in ((one, two), (two, one))]


kinds = st.sampled_from(KINDS)
rates = st.sampled_from(("1/4", "1/2", "1", "2", "sqrt(3)"))
qs = st.sampled_from(("1", "0.9", "1/3", "1/100", "1e-4"))
points = st.floats(-1, 1).map(lambda x: f"{x**3 * 4:.6f}")


@settings(max_examples=scaled(100), deadline=None)
@given(st.tuples(kinds, rates, qs), st.tuples(kinds, rates, qs), points, st.sampled_from(WAYS))
def test_both_orders_meet(one, two, at, way):
    first, second = both(one, two, at, way)
    assert first.overlaps(second)
    for found in (first, second):
        assert found.rad() < 1e-20


@pytest.mark.slow
@settings(max_examples=scaled(50), deadline=None)
@given(rates, qs.filter(lambda q: q != "1"), st.floats(0, 2), st.sampled_from(WAYS), kinds)
def test_two_equal_steps_have_engines_of_their_own(rate, q, at, way, kind):
    at = f"{at:.5f}"
    found, _ = both((kind, rate, q), (kind, rate, q), at, way)
    if kind is GaussianNoise:
        other = GaussianTwice(1 / real(rate), real(q), way == "add")
    else:
        pair = SampledLaplace(((Laplace(real(rate)), 1),), real(q), way == "remove")
        other = LaplaceCells(pair, 2, InfiniteLoss())
    truth = other.delta(real(at), 12)
    with balls.precision(100):
        whole = balls.ball(Fraction(truth.lower)).union(balls.ball(Fraction(truth.upper)))
        assert found.overlaps(whole)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("at", ["0.02", "0.3", "-0.1", "1.2"])
def test_a_laplace_step_beside_a_sampled_gaussian_by_quadrature(at, way):
    """In mpmath, over the losses of the Laplace noise."""
    rate, mu, q, r = mpf(1) / 3, mpf(1), mpf(1) / 3, mpf(1)

    def once(c):
        """Of the Gaussian step, ``mu = 1``, at a level."""
        share, u = (q, (c - 1 + q) / q) if way == "remove" else (1 - (1 - q) * c, mpf(0))
        if way == "add":
            if share <= 0:
                return mpf(0)
            u = q * c / share
        if u <= 0:
            return 1 - c
        x = mp.log(u) / mu
        return share * (mp.ncdf(mu / 2 - x) - u * mp.ncdf(-mu / 2 - x))

    def term(z):
        w = 1 - rate + rate * mp.exp(z)
        level = mp.exp(mpf(at))
        return w * once(level / w) if way == "remove" else once(level * w)

    with mp.workdps(25):
        ends = [term(r) * mp.exp(-r) / 2, term(-r) / 2]
        inner = mp.quad(lambda z: mp.exp(-(z + r) / 2) * term(z) / 4, mp.linspace(-r, r, 30))
        truth = sum(ends) + inner
    for found in both((LaplaceNoise, "1", "1/3"), (GaussianNoise, "1", "1/3"), at, way):
        assert abs(found - arb(mp.nstr(truth, 20))) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_any_cuts_enclose(way, monkeypatch):
    """Few standard deviations, levels beside those of the noise: the truth is inside whatever."""
    cases = 0
    for one in ((GaussianNoise, "1", "1/3"), (GaussianNoise, "2", "1"), (LaplaceNoise, "1", "1/3")):
        for two in ((GaussianNoise, "1", "1/10"), (LaplaceNoise, "2", "1/2")):
            for at in ("-0.3", "0.02", "0.4", "1"):
                truth, _ = both(one, two, at, way, 150)
                for reach in ("0.01", "0.5", "2"):
                    with monkeypatch.context() as patch:
                        patch.setattr(GaussianNoise, "_reach", lambda self, x=reach: arb(x))
                        found, other = both(one, two, at, way, 80)
                    assert found.overlaps(truth)
                    assert other.overlaps(truth)
                    cases += found.rad() > 1e-6
    assert cases > 20


def test_a_kink_is_only_known_to_a_ball(monkeypatch):
    """At few bits what lies next to a kink adds between nothing and all of it."""
    place = LaplaceNoise.place

    def about(self, ratio):
        found = place(self, ratio)
        return found + arb(0, "0.05") + arb("0.04")

    for way in WAYS:
        for at in ("0.1", "0.3", "-0.2"):
            pairs = ((LaplaceNoise, "1", "1/2"), (LaplaceNoise, "2", "1/3"))
            truth, _ = both(*pairs, at, way, 150)
            with monkeypatch.context() as patch:
                patch.setattr(LaplaceNoise, "place", about)
                for found in both(*pairs, at, way, 80):
                    assert found.overlaps(truth)


@pytest.mark.parametrize("way", WAYS)
def test_no_loss_beyond_the_largest(way):
    one, two = (LaplaceNoise, "1", "1/3"), (LaplaceNoise, "2", "1/10")
    for found in both(one, two, "5", way):
        assert found.contains(0)
        assert found.rad() < 1e-20
    for found in both(one, (GaussianNoise, "1", "1/10"), "3", "add"):
        assert found.contains(0)
        assert found.rad() < 1e-20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("run", "target"),
    [
        ("poisson(gaussian(1), 1/100) * poisson(laplace(1), 1/100)", "1e-6"),
        ("poisson(gaussian(1.3), 2e-4)^2 * approx_dp(0.8, 1e-8)^6", "1e-6"),
        ("poisson(gaussian(1), 1e-5) * poisson(gaussian(2), 1e-4)", "1e-7"),
        ("poisson(laplace(1), 1e-3) * poisson(laplace(2), 1e-2)", "1e-7"),
        ("poisson(laplace(1), 1e-3) * laplace(2)", "1e-4"),
        ("poisson(gaussian(1), 1e-5)^2 * discrete_laplace(1)", "1e-6"),
        ("poisson(gaussian(1), 1e-3) * poisson(pure_dp(1), 1/10)", "1e-6"),
        ("poisson(gaussian(1), 1e-3) * laplace(1) * pure_dp(1/2)", "1e-6"),
        ("poisson(gaussian(1), 1e-4)^2 * approx_dp(0, 1e-8)", "1e-6"),
        ("poisson(gaussian(1/20), 1e-3) * gaussian(2)^3", "1e-5"),
        ("poisson(gaussian(3/200), 1e-3) * gaussian(1/2)", "1e-5"),
        ("poisson(laplace(3/200), 1e-3) * gaussian(2)", "1e-5"),
    ],
)
def test_few_rare_steps_have_all_digits(run, target):
    found = dpexact.epsilon(run, target, direction="remove")
    assert "an integral" in found.method or "on a sample" in found.method
    low, high = (
        dpexact.delta(run, real(Fraction(end)), 12, "remove") for end in (found.lower, found.upper)
    )
    assert low.upper >= Fraction(target) >= high.lower
    assert low.lower / high.upper - 1 < 1e-9


@pytest.mark.parametrize("way", WAYS)
def test_many_points_of_two_different_steps_share_lines(way, monkeypatch):
    run = "poisson(gaussian(1), 1/100) * poisson(gaussian(2), 1/50)"
    ask = [
        (dpexact.delta, [Fraction(k, 800) for k in range(1, 19)]),
        (dpexact.epsilon, [Fraction(1, 300 + 70 * k) for k in range(19)]),
    ]
    alone = [[f(run, at, 10, way) for at in points[::6]] for f, points in ask]
    monkeypatch.setattr(lattice_law, "divergence", lambda *_: pytest.fail("an integral"))
    for (f, points), few in zip(ask, alone, strict=True):
        found = f(run, points, 10, way)
        assert all(answer.digits >= 10 for answer in found)
        assert all(map(Enclosure.overlaps, found[::6], few))


def test_what_shares_no_line_of_windows_takes_none_alone(monkeypatch):
    """Far in the tail, where lines take seconds."""
    monkeypatch.setattr(RareProfile, "delta", lambda *_: pytest.fail("a line for one"))
    run = "poisson(gaussian(5.04), 0.0485) * poisson(gaussian(6.47), 0.153)"
    points = [Fraction(k, 10) for k in (1, 2, *range(16, 30))]
    found = dpexact.delta(run, points, 15, "remove")
    assert all(answer.digits >= 15 for answer in found)


def test_where_balls_do_not_tell_whether_a_place_is_there():
    """The place is then any from the end of the window on."""
    with balls.precision(64):
        outer = _Outer(step(GaussianNoise, "10", "1/2", "remove"), True, arb("0.5", "0.01"))
        found = outer.place(arb(1))
        low, _ = outer.noise.window()
        for ratio in ("0.019", "1e-3", "1e-20", "1e-300"):
            assert found.contains(outer.noise.place(arb(ratio)).max(low).mid())


def test_extreme_parameters_are_wide_at_worst():
    for rate, q in (("1e-9", "1/2"), ("100", "1/2"), ("1", "1e-30"), ("1", "1-1e-30")):
        for other in ((GaussianNoise, "1", "1/3"), (LaplaceNoise, "1", "1/3")):
            for kind in KINDS:
                for way in WAYS:
                    one, two = both((kind, rate, q), other, "0.1", way)
                    assert not one.is_finite() or not two.is_finite() or one.overlaps(two)


def test_the_ends_of_laplace_noise_are_only_known_to_balls(monkeypatch):
    """Beside a profile without kinks, too, no outcome is beyond them."""
    window = LaplaceNoise.window

    def about(self):
        low, high = window(self)
        return low + arb("-0.04", "0.05"), high + arb("0.04", "0.05")

    for way in WAYS:
        for at in ("0.1", "0.3", "-0.2"):
            pairs = ((LaplaceNoise, "1", "1/2"), (GaussianNoise, "2", "1"))
            truth, _ = both(*pairs, at, way, 150)
            with monkeypatch.context() as patch:
                patch.setattr(LaplaceNoise, "window", about)
                found, _ = both(*pairs, at, way, 100)
            assert found.overlaps(truth)


def test_masses_that_few_bits_do_not_tell_leave_everything_open():
    """They have no size by which bits are proposed."""
    mixed = _Integrated.__new__(_Integrated)
    assert mixed._at(arb(1), arb.nan()).contains(arb(1))
