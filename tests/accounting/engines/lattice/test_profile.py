"""The lattice engine against the contour engine and closed forms, and its error terms."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import scaled, to_fraction

import dpexact
from dpexact.accounting.engines.lattice import engine, grid, law, pieces
from dpexact.accounting.engines.lattice.composition import TooMuchWork
from dpexact.accounting.engines.lattice.profile import LatticeProfile
from dpexact.accounting.engines.lattice.steps import PairStep, Sampling, SymmetrisedStep
from dpexact.accounting.pairs.finite import Finite
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.pairs.response import Response
from dpexact.accounting.profile import InfiniteLoss
from dpexact.answers import PrecisionNotReached
from dpexact.conversion import real
from dpexact.errors import Contradiction, UnsupportedMechanism
from dpexact.reals import rational


def noisy(sigma, q, count, add):
    """Gaussian noise on a sample of rate ``q``."""
    return PairStep(Gaussian(1 / sigma), count, Sampling(q, add))


WORK = 150_000


def enclosed(steps, epsilon, work=WORK):
    found, _ = engine.solve(steps, rational(Fraction(epsilon)), 4, work)
    return found


configurations = st.tuples(
    st.sampled_from(["1/2", "1", "2", "5"]),
    st.sampled_from(["1/1000", "1/50", "1/3", "9/10"]),
    st.sampled_from([2, 7, 50]),
    st.fractions(0, 3, max_denominator=8),
    st.booleans(),
)


@pytest.mark.slow
@settings(max_examples=25)
@given(configurations)
def test_two_engines_overlap_on_sampled_gaussians(configuration):
    sigma, q, count, epsilon, add = configuration
    found = enclosed([noisy(real(sigma), real(q), count, add)], epsilon)
    mechanism = dpexact.poisson(dpexact.gaussian(sigma), q) ** count
    try:
        other = dpexact.delta(mechanism, epsilon, 8, "add" if add else "remove")
    except PrecisionNotReached as error:
        other = error.best
    assert found.overlaps(other)


@pytest.mark.parametrize("epsilon", ["0", "1/2", "2"])
def test_plain_gaussians_and_responses_against_the_closed_form(epsilon):
    third = Response(real("1/3"))
    steps = [
        noisy(real("2"), real("1"), 3, False),
        PairStep(Finite(third.outcomes()), 4),
        PairStep(Finite((Atom(real("0.99"), real("0.99")), Atom(real("0.01"), real(0)))), 4),
    ]
    found = enclosed(steps, Fraction(epsilon))
    exact = dpexact.delta("gaussian(2)^3 * approx_dp(1/3, 1/100)^4", epsilon, 12)
    assert found.overlaps(exact)
    assert found.digits >= 3


@pytest.mark.parametrize("epsilon", ["0", "1/4", "1"])
def test_one_step_of_c_p_is_the_sampled_gaussian(epsilon):
    found = enclosed([SymmetrisedStep(Gaussian(real("1")), real("1/10"), 1)], Fraction(epsilon))
    exact = dpexact.delta("poisson(gaussian(1), 1/10)", epsilon, 12, "remove")
    assert found.overlaps(exact)
    assert found.digits >= 3


def test_c_p_of_a_small_composition_by_quadrature():
    """Two steps: E_P[delta_1(eps - Z)] with the law of one step, summed on a fine grid."""
    from mpmath import mp, mpf

    sigma, q, eps = mpf(1), mpf(1) / 4, mpf(1) / 2

    def profile(e):
        if e < 0:
            return 1 - mp.exp(e) + mp.exp(e) * profile(-e)
        b = sigma * mp.log1p(mp.expm1(e) / q) + 1 / (2 * sigma)
        below = mp.ncdf(-b)
        return (1 - q) * below + q * mp.ncdf(1 / sigma - b) - mp.exp(e) * below

    def above(z):  # the density of z under P where the loss is positive, and that of its mirror
        loss = mp.log1p(q * mp.expm1(z / sigma - 1 / (2 * sigma**2)))
        return mp.npdf(z) * (mp.exp(loss) * profile(eps - loss) + profile(eps + loss))

    start = 1 / (2 * sigma)
    p = (1 - q) * mp.ncdf(-start) + q * mp.ncdf(1 / sigma - start)
    atom = 1 - p - mp.ncdf(-start)
    truth = mp.quad(above, [start, 1, 2, 4, 12]) + atom * profile(eps)
    found = enclosed(
        [SymmetrisedStep(Gaussian(real("1")), real("1/4"), 2)], Fraction(1, 2), 4_000_000
    )
    assert found.lower <= Fraction(str(truth)) <= found.upper
    assert found.digits >= 3


@pytest.mark.slow
def test_epsilon_by_the_lattice():
    profile = LatticeProfile([noisy(real("1"), real("1/20"), 20, False)], InfiniteLoss(), 3_000_000)
    exact = dpexact.epsilon("poisson(gaussian(1), 1/20)^20", "1e-3", 10, "remove")
    assert profile.epsilon(real("1e-3"), 2).overlaps(exact)
    assert profile.epsilon(real("0"), 2).lower == float("inf")


def test_forced_by_name():
    text = "poisson(gaussian(2), 1/10)^20"
    found = dpexact.delta(text, "1/2", 3, "remove", method="lattice")
    assert found.method == "lattice"
    assert found.overlaps(dpexact.delta(text, "1/2", 12, "remove"))
    response = dpexact.delta("pure_dp(1)^2", "1/2", 3, method="lattice")
    assert response.overlaps(dpexact.delta("pure_dp(1)^2", "1/2"))
    with pytest.raises(UnsupportedMechanism):
        dpexact.delta("gdp(0)", "1/2", 3, method="lattice")


def test_bounded_loss_beyond_its_largest_value():
    steps = [noisy(real("1"), real("1/10"), 3, True)]
    assert enclosed(steps, 1) == dpexact.delta("approx_dp(0, 0)", 1)


# --- power: each error term is needed -----------------------------------------------------------

STEPS = [noisy(rational(1), rational(Fraction(1, 10)), 8, False)]
EPSILON = Fraction(1, 2)


def truth():
    return dpexact.delta("poisson(gaussian(1), 1/10)^8", EPSILON, 20, "remove")


def coarse_laws():
    shape = grid.Grid(Fraction(1, 16), 64, 1 << 20)
    laws, _ = engine.compose_steps(STEPS, shape)
    return laws.enclose(rational(EPSILON))


def test_the_coarse_laws_are_right_but_wide():
    assert coarse_laws().lower < truth().lower <= truth().upper < coarse_laws().upper


def is_noticed(laws):
    """The wrong upper bound is below the truth, if it is not even below the lower bound."""
    try:
        return laws.enclose(rational(EPSILON)).upper < truth().lower
    except Contradiction:
        return True


def test_dropping_cut_mass_is_noticed(monkeypatch):
    def forgetful(self, tail):
        start, stop = law._window(self.masses, tail)
        kept = self.masses.truncate(stop).right_shift(start)
        return law.Upper(self.low + start, kept, self.inf)

    monkeypatch.setattr(law.Upper, "cut", forgetful)
    laws, _ = engine.compose_steps(STEPS, grid.Grid(Fraction(1, 64), 64, 1 << 56))
    assert is_noticed(laws)


def test_a_dominating_law_one_point_too_low_is_noticed(monkeypatch):
    right = pieces.upper_law

    def shifted(step, shape):
        found = right(step, shape)
        return law.Upper(found.low - 1, found.masses, found.inf)

    monkeypatch.setattr(engine, "upper_law", shifted)
    laws, _ = engine.compose_steps(STEPS, grid.Grid(Fraction(1, 64), 96, 1 << 40))
    assert is_noticed(laws)


def test_no_pass_does_much_more_work_than_allowed(monkeypatch):
    """Ten thousand steps: the first lattice is made coarser, and the answer stays true."""
    steps = (noisy(rational(1), rational(Fraction(1, 100)), 10_000, False),)
    costs = []
    plain = engine.compose_steps

    def measured(steps, lattice, work):
        composed, cost = plain(steps, lattice, work)
        costs.append(cost)
        return composed, cost

    monkeypatch.setattr(engine, "compose_steps", measured)
    truth = dpexact.delta("poisson(gaussian(1),0.01)^10000", 1, 6, direction="remove")
    for work in (100_000, 400_000):
        costs.clear()
        found, _ = engine.solve(steps, rational(1), 15, work)
        assert costs
        assert max(costs) <= 4 * work
        assert found.lower > 0
        assert found.lower <= truth.lower
        assert truth.upper <= found.upper


def test_composing_stops_before_the_limit_is_passed():
    steps = (noisy(rational(1), rational(Fraction(1, 100)), 1_000, False),)
    lattice = grid.Grid(Fraction(1, 64), 100, 1 << 20)
    _, cost = engine.compose_steps(steps, lattice)
    engine.compose_steps(steps, lattice, 2 * cost)
    with pytest.raises(TooMuchWork) as caught:
        engine.compose_steps(steps, lattice, cost / 8)
    assert 1 < caught.value.excess < 64


# --- undecided is not infinite --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", ["lattice", "auto"])
@pytest.mark.parametrize("excess", ["1e-30", "1e-300", "1e-3000"])
def test_a_target_barely_above_the_infinite_mass(method, excess):
    """What cannot be told from the mass of infinite loss leaves epsilon open, not infinite.

    The truth is where the finite losses, of a Gaussian and a response of 1, leave ``excess``.
    """
    text, mass = "approx_dp(1, sqrt(2)/1000)*gaussian(1)", "sqrt(2)/1000"
    try:
        found = dpexact.epsilon(text, f"{mass}+{excess}", 5, method=method)
    except PrecisionNotReached as error:
        found = error.best
    with mp.workdps(60):

        def gaussian(e):
            return (
                mp.erfc((e - 0.5) / mp.sqrt(2)) - mp.exp(e) * mp.erfc((e + 0.5) / mp.sqrt(2))
            ) / 2

        def gap(e):
            up = 1 / (1 + mp.exp(-1))
            left = up * gaussian(e - 1) + (1 - up) * gaussian(e + 1)
            return mp.log(left * (1 - mp.sqrt(2) / 1000)) - mp.log(mpf(excess))

        truth = to_fraction(mp.findroot(gap, (5, 130), solver="anderson", tol=1e-60))
    assert 5 < truth < 130
    assert found.lower <= truth <= found.upper
    assert found.lower > 5


def test_a_hidden_equality_with_a_mass_next_to_certainty():
    """The bound from a larger target must not ask for one above 1."""
    text = "approx_dp(1, 1-sqrt(2)*1e-20)*gaussian(1)"
    with pytest.raises(PrecisionNotReached) as caught:
        dpexact.epsilon(text, "1-2*1e-20/sqrt(2)", 5, method="lattice")
    assert caught.value.best.upper == math.inf


@given(
    st.sampled_from([(0.5, 0.3, 6), (1, 0.1, 20), (2, 1, 3)]),
    st.booleans(),
    st.lists(st.fractions(0, 5, max_denominator=50), min_size=2, max_size=5),
)
@settings(max_examples=scaled(8), deadline=None)
def test_laws_that_serve_the_next_question_enclose_it(step, add, points):
    """They are focused on the question before, wherever the next one lies."""
    sigma, q, count = step
    steps = [noisy(rational(Fraction(sigma)), rational(Fraction(q)), count, add)]
    kept = LatticeProfile(steps, InfiniteLoss(), WORK)
    alone = {p: LatticeProfile(steps, InfiniteLoss(), WORK).delta(rational(p), 3) for p in points}
    for point in points:
        assert kept.delta(rational(point), 2).overlaps(alone[point])
        for other, found in alone.items():
            assert kept._laws is None or kept._laws.enclose(rational(other)).overlaps(found)
