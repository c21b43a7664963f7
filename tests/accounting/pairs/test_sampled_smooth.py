"""A Gaussian beside other noise on a sample: moments against other sums, answers against others."""

import math
from dataclasses import replace
from functools import partial

import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st

import dpexact
from dpexact import balls
from dpexact.accounting.pairs.coin import Coin
from dpexact.accounting.pairs.finite import Finite
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.laplace import Laplace
from dpexact.accounting.pairs.mixture import add, remove
from dpexact.accounting.pairs.pair import Atom, TooExpensive, product
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.pairs.sampled_smooth import SampledSmooth, _closed, smooth
from dpexact.accounting.pairs.sums.smooth_rules import Outline, Values
from dpexact.conversion import real

ORDERS = [0.5, 3.0, 25.0]


def beside(mu, others, q, removes=True):
    return SampledSmooth(((Gaussian(real(mu)), 1), *others), real(mu), real(q), removes)


def binomial(inner, q, n):
    """``E_Q[w^n]`` for a whole ``n``: a sum of moments before sampling."""
    return sum(
        math.comb(n, j)
        * (1 - balls.ball(q)) ** (n - j)
        * balls.ball(q) ** j
        * (product(inner, lambda pair: pair.moment(float(j - 1), 0.0)) if j else 1)
        for j in range(n + 1)
    )


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize(("mu", "q"), [("1", "1/100"), ("1/3", "1/5"), ("2", "1e-6")])
@pytest.mark.parametrize("c", ORDERS)
def test_a_gaussian_alone(mu, q, removes, c):
    law, other = beside(mu, (), q, removes), (remove if removes else add)(1 / real(mu), real(q))
    with balls.precision(200):
        found, true = law.moment(c, 40.0), other.moment(c, 40.0)
        assert found.overlaps(true)
        assert found.rad() < 1e-15 * true
        lines = law.moments(c, 0.75, 8, 40.0), other.moments(c, 0.75, 8, 40.0)
        assert all(x.overlaps(y) for x, y in zip(*lines, strict=True))
        assert lines[0][-1].real.rad() < 1e-15 * true
        for u in (1.0, 30.0, 1000.0):
            bound = law.decayed(c, u, 15.0)
            assert bound >= abs(other.moments(c, u, 1, 40.0)[1]).lower()
            assert bound >= abs(other.moments(c, 2 * u, 1, 40.0)[1]).lower()


@pytest.mark.parametrize("removes", [True, False])
@pytest.mark.parametrize("c", ORDERS)
def test_beside_responses(removes, c):
    """Which a coin tells outcome by outcome."""
    way, q = ("remove" if removes else "add"), real("1/50")
    law = beside("1", ((Response(real("1/2")), 1),), "1/50", removes)
    true = Coin.on_sample(
        list(Response(real("1/2")).outcomes()), q, way, partial(remove if removes else add, real(1))
    )
    with balls.precision(200):
        lines = law.moments(c, 0.75, 8, 40.0), true.moments(c, 0.75, 8, 40.0)
        assert all(x.overlaps(y) for x, y in zip(*lines, strict=True))
        assert lines[0][-1].real.rad() < 1e-15 * true.moment(c, 40.0)
        for u in (1.0, 30.0):
            assert law.decayed(c, u, 15.0) >= abs(true.moments(c, u, 1, 40.0)[1]).lower()


@settings(max_examples=15, deadline=None)
@given(
    st.sampled_from(["1/4", "1", "5/2"]),
    st.sampled_from(["1/10", "1", "5"]),
    st.integers(1, 4),
    st.sampled_from(["1e-4", "1/30", "3/4"]),
    st.integers(2, 40),
)
def test_whole_powers_beside_laplace_noise(mu, rate, count, q, n):
    law = beside(mu, ((Laplace(real(rate)), count),), q)
    with balls.precision(400):
        found, true = law.moment(float(n - 1), 40.0), binomial(law.inner, real(q), n)
        assert found.overlaps(true)
        assert found.rad() < 1e-14 * true
        assert abs(law.cumulant(float(n - 1)).value - float(true.log())) < 1e-3


def wider(grid, often=2.5):
    """Nodes farther apart, over the same losses."""
    parts = (x._replace(first=int(x.first / often), last=int(x.last / often)) for x in grid.parts)
    one, other = parts
    parts = one, other._replace(first=one.last + 1)
    return grid._replace(spacing=often * grid.spacing, parts=parts)


def later(grid):
    """Fewer nodes on the left."""
    one, other = grid.parts
    return grid._replace(parts=(one._replace(first=one.first // 2), other))


def sooner(grid):
    """Fewer nodes on the right."""
    one, other = grid.parts
    last = other.last // 2
    one = one._replace(last=min(one.last, last))
    return grid._replace(parts=(one, other._replace(first=min(other.first, last + 1), last=last)))


def higher(grid):
    """A line next to the top of its strip."""
    return grid._replace(height=0.75 * grid.top if grid.height else 0.0)


def parted(grid):
    """Fewer nodes between both parts, if there are two."""
    one, other = grid.parts
    if other.first <= other.last:
        one, other = one._replace(last=one.last - 1), other._replace(first=other.first + 1)
    return grid._replace(parts=(one, other), middle=1.0)


def told(grid, many=1.0, step=1.0):
    """The density by other moments."""
    parts = (x._replace(many=int(x.many * many), step=x.step * step) for x in grid.parts)
    return grid._replace(parts=tuple(parts))


COARSER = [wider, later, sooner, higher, parted, partial(told, many=1 / 2), partial(told, step=1.6)]


@pytest.mark.parametrize("coarser", COARSER)
@pytest.mark.parametrize("removes", [True, False])
def test_what_a_coarse_rule_loses_is_enclosed(coarser, removes, monkeypatch):
    """Each error by itself, where it is most of all."""
    law = beside("1", ((Laplace(real("1/2")), 1),), "1/20", removes)
    planned = Outline._planned
    with balls.precision(200):
        true = law.moments(2.0, 2.0, 2, 60.0)
        bound = law.decayed(2.0, 2.0, 20.0)
        monkeypatch.setattr(Outline, "_planned", lambda *which: coarser(planned(*which)))
        found = replace(law).moments(2.0, 2.0, 2, 25.0)
        assert all(x.overlaps(y) for x, y in zip(found, true, strict=True))
        assert (found[0].real.rad() > 1e-9) == (removes or coarser is not parted)
        # what a strip leaves open is there, however little happens
        least = bound * (1 + arb(2) ** -30 if coarser is wider else 1 - arb(2) ** -20)
        assert replace(law).decayed(2.0, 2.0, 20.0) >= least


def test_waves_as_long_as_nodes_are_apart(monkeypatch):
    """They add up below a strip, and next to nothing is left of the moment."""
    law, planned = beside("2", (), "1/2"), Outline._planned
    monkeypatch.setattr(
        Outline, "_planned", lambda *which: (g := planned(*which))._replace(height=g.height / 2)
    )
    with balls.precision(200):
        grid = law._outline.planned(21.0, 5.0)
        found = law.moments(20.0, 2 * math.pi / grid.spacing, 1, 5.0)[1]
        assert found.contains(0)
        assert abs(found.mid()) > 1e-2 * law.moment(20.0, 5.0)


def test_waves_of_what_is_summed_for_a_bound(monkeypatch):
    """Between nodes is the most of a density: their sum is too small by as much as is said."""
    law, planned = beside("1/3", (), "0.999999"), Outline._planned

    def few(grid):
        return wider(grid._replace(top=1.0), 0.7 / grid.spacing)

    with balls.precision(120):
        true = law.moment(2.65, 30.0)
        monkeypatch.setattr(Outline, "decay", lambda *_: lambda u: (0.0, 2.0**-10))
        monkeypatch.setattr(
            Outline,
            "_planned",
            lambda *which: planned(*which) if which[-1] is None else few(planned(*which)),
        )
        assert replace(law).decayed(2.65, 0.0, 20.0) >= true.lower()


@pytest.mark.parametrize("power", [0.0, 2.0])
@pytest.mark.parametrize(("step", "many"), [(1.0, 12), (0.5, 8)])
def test_a_density_by_few_moments(power, step, many):
    """Aliases of either side, and what is cut, where each is most."""
    part = Values(-26, 26, power, step, many, power + 1, power - 1)
    law, height = beside("1", (), "1/2"), arb("0.4")
    with balls.precision(120):
        found = law._density(part, arb("0.25"), height, 60.0)
        for j, value in zip(range(-26, 27), found, strict=True):
            z = acb(arb(j) / 4, height) + arb("0.5")
            assert value.overlaps((-z * z / 2).exp() / (2 * arb.pi()).sqrt())


def test_a_share_of_itself():
    """What is off by a tenth of itself and 1 at most is at most 10/9 of the sum and 1."""
    assert abs(_closed(arb(8), arb("0.1"), arb(1)) - 2) < 1e-12
    assert not _closed(arb(8), arb(1), arb(1)).is_finite()


def test_what_reveals_is_apart():
    """Under either law: of a density there is none, and masses would be lost."""
    half, quarter = real("1/2"), real("1/4")
    shown = Finite((Atom(half, quarter), Atom(half, quarter), Atom(real(0), half)))
    _, apart = smooth([(Gaussian(real(1)), 1), (shown, 2)], real(1), "remove")
    assert apart == [(shown, 2)]
    _, apart = smooth([(Gaussian(real(1)), 1), (shown.reverse, 1)], real(1), "remove")
    assert apart == [(shown.reverse, 1)]


@pytest.mark.parametrize(
    ("step", "way", "epsilon"),
    [
        ("gaussian(1) * approx_dp(1/10, 1/3)^2", "remove", "3"),
        ("gaussian(1) * approx_dp(0, 1/3)^3", "remove", "1/2"),
        ("gaussian(1) * laplace(2) * approx_dp(1/10, 1/3)^2", "remove", "1/2"),
    ],
)
def test_what_reveals_several_times(step, way, epsilon):
    """Twice under one law is not once under the other."""
    text = f"poisson({step}, 1/2)^2"
    found = dpexact.delta(text, epsilon, 6, way)
    known = dpexact.delta(text, epsilon, 2, way, method="lattice")
    assert known.lower <= found.upper
    assert found.lower <= known.upper
    assert found.method == "contour"


@pytest.mark.parametrize(
    ("inner", "count"),
    [
        ("gaussian(1) * laplace(2)", 5),
        ("gaussian(3) * laplace(1)^2", 3),
        ("gaussian(1) * discrete_gaussian(2)", 4),
        ("gaussian(2) * laplace(1) * approx_dp(1/2, 1e-6)", 3),
        ("gaussian(1) * poisson(laplace(1), 1/3)", 3),
    ],
)
@pytest.mark.parametrize("way", ["remove", "add"])
def test_against_the_lattice(inner, count, way):
    text = f"poisson({inner}, 1/20)^{count}"
    found = dpexact.delta(text, "1/20", 10, way)
    known = dpexact.delta(text, "1/20", 2, way, method="lattice")
    assert known.lower <= found.upper
    assert found.lower <= known.upper


def test_ten_digits_of_many_steps():
    for way in ("remove", "add"):
        found = dpexact.epsilon("poisson(gaussian(1) * laplace(2), 1/100)^1000", "1e-6", 10, way)
        assert found.digits >= 10


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("removes", [True, False])
def test_losses_of_which_floats_hold_no_exponential(removes):
    law, other = (
        beside("60", (), "1/10", removes),
        (remove if removes else add)(1 / real(60), real("1/10")),
    )
    with balls.precision(200):
        found, true = law.moment(1.0, 30.0), other.moment(1.0, 30.0)
        assert found.overlaps(true)
        assert found.rad() < 1e-12 * true
        assert law.decayed(1.0, 1.0, 15.0) >= abs(other.moments(1.0, 1.0, 1, 40.0)[1]).lower()


def test_sums_that_are_too_long():
    with pytest.raises(TooExpensive):
        beside("0.327", ((Laplace(real("0.393")), 1),), "0.853", removes=False).moment(5540.0, 5.0)


def test_floats_do_not_reach():
    law = beside("1e-120", (), "1/2")
    with pytest.raises(TooExpensive):
        law.moment(1.0, 10.0)
    assert beside("1", (), "1/4").largest_loss() is None
    loss = beside("1", (), "1/4", removes=False).largest_loss()
    assert abs(loss - arb(4).log() + arb(3).log()) < 1e-12
    assert isinstance(acb(loss), acb)
