"""A lattice law of which mass is missing, beside a continuous one."""

from fractions import Fraction
from itertools import product

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

import dpexact
from dpexact import balls
from dpexact.accounting.engines.closed_form import gaussian_divergence
from dpexact.accounting.engines.few_atoms import FewAtoms
from dpexact.accounting.engines.lattice_law import MixedProfile
from dpexact.accounting.engines.lattice_product import LatticeComposition, Strided
from dpexact.accounting.engines.sampled_once import divergence_on_sample
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.reals import rational

OUTCOMES = [
    (Fraction(1, 2), Fraction(1, 3)),
    (Fraction(1, 3), Fraction(2, 3)),
    (Fraction(1, 6), Fraction(0)),
]


class Careless(LatticeComposition):
    """Forgets all losses but the lowest half, and says so."""

    def losses(self):
        known = list(super().losses())
        yield from known[: len(known) // 2]

    def dropped(self):
        known = list(super().losses())
        return super().dropped() + sum((mass for _, mass in known[len(known) // 2 :]), arb(0))


def mixed(kind):
    part = DiscreteGaussian(real(1) ** 2, 1)
    law = kind(part.lattice()[0], [Strided(part, 1, 1)], InfiniteLoss())
    return MixedProfile(
        law, lambda x: gaussian_divergence(arb(1), x), None, InfiniteLoss(), "Gaussian"
    )


def test_mass_missing_from_the_lattice_law():
    with balls.precision(100):
        true = mixed(LatticeComposition).delta_ball(balls.ball(Fraction(1)))
        found = mixed(Careless).delta_ball(balls.ball(Fraction(1)))
    assert found.overlaps(true)
    assert found.lower() >= 0


def grid(run, epsilon, direction):
    """By the grid of losses, which knows no closed form."""
    try:
        return dpexact.delta(run, epsilon, 3, direction, method="lattice")
    except dpexact.PrecisionNotReached as short:
        return short.best


PARTS = [
    "pure_dp(3/2)^2",
    "approx_dp(1/3, 1/1000)^5",
    "discrete_laplace(2)",
    "discrete_gaussian(1)",
]
NOISES = ["gaussian(2/3)", "gaussian(1)", "laplace(1/2)", "laplace(2)"]


@pytest.mark.slow
@settings(max_examples=scaled(25), deadline=None)
@given(
    st.sampled_from(PARTS),
    st.sampled_from(NOISES),
    st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=50),
    st.fractions(-2, 4, max_denominator=20),
    st.sampled_from(["remove", "add"]),
)
def test_one_sampled_step_beside_a_lattice(part, noise, rate, epsilon, direction):
    """The closed forms against the grid of losses, which knows no closed form."""
    run = dpexact.parse(f"{part} * poisson({noise}, {rate})")
    exact = dpexact.delta(run, epsilon, 20, direction)
    assert exact.method.startswith("lattice law with")
    assert exact.overlaps(grid(run, epsilon, direction))


@pytest.mark.parametrize(
    ("direction", "lowest", "highest"),
    # of q P - (e^x - 1 + q) Q and (1 - (1-q) e^x) Q - q e^x P at levels where no digit tells 0
    [("remove", "0.49999", "0.50001"), ("add", "-0.00001", "0.00001")],
)
def test_a_level_that_is_not_told_from_the_edge(direction, lowest, highest):
    found = divergence_on_sample(lambda x: gaussian_divergence(arb(1), x), real("1/2"), direction)
    with balls.precision(60):
        edge = (arb("0.5") if direction == "remove" else arb(2)).log()
        value = found(edge)
    assert arb(lowest) <= value <= arb(highest)


@pytest.mark.parametrize("direction", ["remove", "add"])
def test_levels_at_the_edge_exactly(direction):
    """``pure_dp(log 2)`` has losses at which a sample of one half is at the end of its losses."""
    run = "pure_dp(log(2)) * poisson(gaussian(1), 1/2)"
    found = dpexact.delta(run, 0, 15, direction)
    third = [
        dpexact.delta("poisson(gaussian(1), 1/2)", f"{sign}log(2)", 20, direction)
        for sign in ("-", "")
    ]
    # p = 2/3 at the loss log 2, where the level is -log 2
    wanted = third[0].lower * Fraction(2, 3) + third[1].lower * Fraction(1, 3)
    assert abs(found.lower - wanted) < Fraction(1, 10**12)


def test_beyond_the_losses_of_a_sample():
    removed, added = (
        divergence_on_sample(lambda x: gaussian_divergence(arb(1), x), real("1/2"), direction)
        for direction in ("remove", "add")
    )
    assert removed(arb(-3)).overlaps(1 - (-arb(3)).exp())
    assert added(arb(3)) == 0


FINITE = [
    "pure_dp({a}) * pure_dp({b})",
    "poisson(pure_dp({a}), {q})^2",
    "poisson(approx_dp({a}, 1/9), {q})^2 * approx_dp({b}, 1/30)",
    "pair((1/2, 1/3), (1/3, 2/3), (1/6, 0))^2",
    "poisson(pair((1/2, 1/3), (1/3, 2/3), (1/6, 0)), {q}) * pure_dp({a})",
    "partition_selection(1, 1/10)",
]


@pytest.mark.slow
@settings(max_examples=scaled(25), deadline=None)
@given(
    st.sampled_from(FINITE),
    st.fractions(Fraction(1, 20), 2, max_denominator=20),
    st.fractions(Fraction(1, 20), 2, max_denominator=20),
    st.fractions(Fraction(1, 20), Fraction(19, 20), max_denominator=20),
    st.sampled_from(["laplace(2)^3", "laplace(12)^20", "laplace(1) * laplace(3)"]),
    st.fractions(0, 3, max_denominator=20),
    st.sampled_from(["remove", "add"]),
)
def test_finite_laws_beside_noise(text, a, b, q, noise, epsilon, direction):
    """Averages over all outcomes against the grid of losses."""
    run = dpexact.parse(f"{noise} * {text.format(a=a, b=b, q=q)}")
    found = dpexact.delta(run, epsilon, 10, direction)
    assert found.overlaps(grid(run, epsilon, direction))


def test_losses_of_combinations_of_outcomes():
    """Two runs of (1/2, 1/3), (1/3, 2/3), of which 1/6 reveals everything."""
    step = [Atom(rational(p), rational(q)) for p, q in OUTCOMES]
    law = FewAtoms([(step, 2)], InfiniteLoss())
    with balls.precision(80):
        found = list(law.losses())
        up, down = balls.ball(Fraction(3, 2)).log(), -balls.ball(2).log()
    truth = [(2 * up, Fraction(9, 25)), (up + down, Fraction(12, 25)), (2 * down, Fraction(4, 25))]
    assert law.many == len(found) == 3
    for loss, mass in truth:
        assert any(x.overlaps(loss) and y.overlaps(balls.ball(mass)) for x, y in found)


@settings(max_examples=scaled(15), deadline=None)
@given(
    st.sets(
        st.integers(100_001, 299_999).map(lambda k: Fraction(k, 200_000)), min_size=3, max_size=3
    ),
    st.sampled_from(["gaussian", "laplace"]),
    st.sampled_from([1, 3, 20]),
    st.fractions(0, 4, max_denominator=20),
)
def test_losses_that_share_a_tiny_unit(losses, noise, scale, epsilon):
    """A lattice with some hundred thousand points between few losses, beside noise."""
    parts = " * ".join(f"pure_dp({loss})" for loss in losses)
    (found,) = dpexact.delta(f"{noise}({scale}) * {parts}", [epsilon], 20)
    assert "lattice" not in found.method
    with balls.precision(200):
        total = arb(0)
        for signs in product((1, -1), repeat=3):
            mass, loss = arb(1), Fraction(0)
            for sign, size in zip(signs, losses, strict=True):
                mass /= 1 + balls.ball(-sign * size).exp()
                loss += sign * size
            beside = dpexact.delta(f"{noise}({scale})", epsilon - loss, 30)
            total += mass * balls.ball(beside.lower).union(balls.ball(beside.upper))
        assert balls.to_enclosure(total, "sum").overlaps(found)
