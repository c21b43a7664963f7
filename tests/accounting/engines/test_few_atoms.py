"""Composition by types of outcomes, against enumeration with fractions."""

from contextlib import suppress
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf
from oracles import to_fraction, to_mpf

from dpexact import PrecisionNotReached, balls, delta, epsilon
from dpexact.accounting.engines import few_atoms
from dpexact.accounting.engines.closed_form import OptimalComposition
from dpexact.accounting.engines.contour.atoms import AtomsProfile
from dpexact.accounting.engines.few_atoms import FewAtoms, _log_mass, _window
from dpexact.accounting.pairs.finite import Finite, sampled
from dpexact.accounting.pairs.pair import Atom
from dpexact.accounting.profile import InfiniteLoss
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import rational

NONE = InfiniteLoss()


def response(growth, delta=Fraction(0)):
    """The pair of Kairouz, Oh and Viswanath."""
    high, low = (1 - delta) * growth / (1 + growth), (1 - delta) / (1 + growth)
    pairs = [(high, low), (low, high)]
    if delta:
        pairs += [(delta, Fraction(0)), (Fraction(0), delta)]
    return [Atom(rational(p), rational(q)) for p, q in pairs]


def brute(steps, level):
    outcomes = [atoms for atoms, count in steps for _ in range(count)]
    total = Fraction(0)
    for chosen in product(*outcomes):
        p = q = Fraction(1)
        for atom in chosen:
            p, q = p * atom.p.fraction, q * atom.q.fraction
        total += max(p - level * q, Fraction(0))
    return total


probabilities = st.fractions(
    min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20
)


@given(
    st.sampled_from(["remove", "add"]),
    probabilities,
    st.sampled_from([Fraction(0), Fraction(1, 10)]),
    st.integers(1, 4),
    st.fractions(min_value=1, max_value=3, max_denominator=10),
    st.booleans(),
)
def test_sampled_response_agrees_with_enumeration(direction, rate, delta, count, level, second):
    steps = [(sampled(response(Fraction(3, 2), delta), rational(rate), direction), count)]
    if second:
        steps.append((response(Fraction(2)), 2))
    profile = FewAtoms(steps, NONE)
    truth = brute(steps, level)
    exact = profile.delta(real(f"log({level})"), 20)
    assert exact.is_exact
    assert exact.lower == truth
    # the same through balls: 10^-40 beside the point, where nothing is rational
    near = profile.delta(real(f"log({level}) + 1/10^40"), 20)
    assert near.lower <= truth
    assert truth <= near.upper + Fraction(1, 10**38)


def test_two_outcomes_agree_with_optimal_composition():
    found = FewAtoms([(response(Fraction(3, 2)), 50)], NONE)
    optimal = OptimalComposition(real("log(3/2)"), 50, NONE)
    assert found.delta(real("1.7"), 30).overlaps(optimal.delta(real("1.7"), 30))
    assert found.epsilon(real("1e-6"), 15).overlaps(optimal.epsilon(real("1e-6"), 15))


def test_three_outcomes_by_another_order_of_summation():
    """The same law given twice, as one step of count 30 and as two of 12 and 18."""
    atoms = sampled(response(Fraction(3), Fraction(1, 1000)), rational(Fraction(1, 10)), "add")
    together = FewAtoms([(atoms, 30)], NONE).delta(real("1/3"), 25)
    apart = FewAtoms([(atoms, 12), (list(atoms), 18)], NONE).delta(real("1/3"), 25)
    assert together.overlaps(apart)
    assert together.digits >= 25


def test_the_two_directions_differ_and_infinite_loss_is_one_sided():
    base, rate = response(Fraction(2), Fraction(1, 100)), rational(Fraction(1, 5))
    remove = FewAtoms([(sampled(base, rate, "remove"), 2)], NONE)
    add = FewAtoms([(sampled(base, rate, "add"), 2)], NONE)
    assert remove.infinite.fraction == 1 - (1 - Fraction(1, 500)) ** 2
    assert add.infinite.fraction == 0
    point = real("1/10")
    assert not remove.delta(point, 10).overlaps(add.delta(point, 10))
    assert add.epsilon(real(0), 10).overlaps(
        FewAtoms([([Atom(rational(5), rational(4))], 2)], NONE).epsilon(real(0), 10)
    )


def test_a_tie_at_the_threshold_is_no_trouble():
    atoms = response(Fraction(3, 2))
    loss = real("2*log(3/2)")
    found = FewAtoms([(atoms, 40)], NONE).delta(loss, 30)
    truth = OptimalComposition(real("log(3/2)"), 40, NONE).delta_fraction(loss)
    assert truth in found


def test_too_many_types_are_refused():
    atoms = sampled(response(Fraction(2), Fraction(1, 9)), rational(Fraction(1, 3)), "remove")
    with pytest.raises(UnsupportedMechanism, match="combinations"):
        FewAtoms([(atoms, 3_000), (atoms, 30_000)], NONE)


def test_types_too_rare_to_sum_are_still_counted():
    rare = Fraction(1, 10**100)
    law = [(Fraction(1, 2), Fraction(1, 3)), (rare, rare**2)]
    law.append((1 - sum(p for p, _ in law), 1 - sum(q for _, q in law)))
    steps = [([Atom(rational(p), rational(q)) for p, q in law], 2)]
    with balls.precision(64):
        found = balls.to_enclosure(FewAtoms(steps, NONE).finite_ball(balls.ball(3).log()))
    assert brute(steps, Fraction(3)) in found
    assert found.upper < Fraction(1, 10**9)


@given(
    st.sampled_from(["remove", "add"]),
    probabilities,
    st.integers(1, 9),
    st.sampled_from([Fraction(1, 2), Fraction(2), Fraction(5), Fraction(20)]),
    st.sampled_from([-128, -126, -120, -110, 0]),
    st.booleans(),
)
def test_types_that_are_not_listed_are_still_counted(direction, rate, count, level, rarer, second):
    """Lists cut hard: the truth is enclosed, and without cuts to many digits."""
    steps = [(sampled(response(Fraction(3), Fraction(1, 9)), rational(rate), direction), count)]
    if second:
        steps.append((sampled(response(Fraction(2)), rational(rate), direction), 5))
    profile = FewAtoms(steps, NONE)
    truth = profile.finite_fraction(level)
    with pytest.MonkeyPatch.context() as patch, balls.precision(128):
        patch.setattr(few_atoms, "_RARER", rarer)
        found = balls.to_enclosure(profile.finite_ball(balls.ball(level).log()))
    assert truth in found
    assert rarer or found.digits >= 20 or found.upper < Fraction(1, 10**20)


@pytest.mark.parametrize("eps", ["1/2", "15", "1/50"])
def test_many_steps_of_three_outcomes(eps):
    base = response(Fraction(2), Fraction(1, 10**6))
    remove, add = (sampled(base, rational(Fraction(1, 50)), way) for way in ("remove", "add"))
    found = FewAtoms([(add, 20_000)], NONE).delta(real(eps), 30)
    assert found.digits >= 30
    blurred = AtomsProfile([(Finite(tuple(add)), 20_000)], NONE).delta(real(eps), 5)
    assert blurred.digits >= 4
    assert blurred.overlaps(found)
    other = FewAtoms([(remove, 20_000)], NONE).delta(real(f"-{eps}"), 30)
    with balls.precision(256):
        level, there = balls.ball(real(eps)).exp(), balls.to_enclosure
        mirrored = there(1 - level * (1 - balls.ball(other.lower).union(balls.ball(other.upper))))
    assert mirrored.overlaps(found)


@pytest.mark.parametrize("level", ["3", "pi"])
def test_infinite_loss_beside_the_steps_is_escaped_by_all_of_them(level):
    beside = InfiniteLoss(((rational(Fraction(1, 10)), 2),))
    steps = [(response(Fraction(2)), 2), (response(Fraction(5)), 1)]
    point = real(f"log({level})")
    alone = FewAtoms(steps, NONE).delta(point, 25)
    found = FewAtoms(steps, beside).delta(point, 25)
    lost = Fraction(19, 100)
    assert found.lower <= lost + (1 - lost) * alone.upper
    assert found.upper >= lost + (1 - lost) * alone.lower
    assert found.digits >= 25


# --- losses that are nearly equal, or nearly nothing ----------------------------------------------


def response_law(eps):
    """The two outcomes of randomised response."""
    up = 1 / (1 + mp.exp(-eps))
    return [(up, 1 - up), (1 - up, up)]


def product_law(*laws):
    """Every combination of outcomes, none merged."""
    return [
        (mp.fprod(p for p, _ in chosen), mp.fprod(q for _, q in chosen))
        for chosen in product(*laws)
    ]


def on_a_sample(law, rate, direction):
    mixed = [((1 - rate) * q + rate * p, q) for p, q in law]
    return mixed if direction == "remove" else [(q, p) for p, q in mixed]


def hockey_stick(law, level):
    return mp.fsum(max(p - level * q, mpf(0)) for p, q in law)


def asked(ask, *arguments, **options):
    """The answer, however wide."""
    try:
        return ask(*arguments, **options)
    except PrecisionNotReached as error:
        return error.best


@pytest.mark.parametrize("near", ["1e-40", "1e-90", "1e-300"])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_nearly_equal_losses_by_enumeration(near, direction):
    """Which of two outcomes reveals more is not seen at low precision."""
    text = f"poisson(pure_dp(1)*pure_dp({near}),1/2)^2 * approx_dp(1/1000,3/10)"
    with mp.workdps(700):
        step = product_law(response_law(mpf(1)), response_law(mpf(near)))
        step = on_a_sample(step, mpf(1) / 2, direction)
        law = product_law(step, step, response_law(mpf(1) / 1000))
        for point in ("0", "1/5", "0.4", "1.2"):
            level = mp.exp(to_mpf(Fraction(point)))
            truth = mpf("0.3") + mpf("0.7") * hockey_stick(law, level)
            found = asked(delta, text, point, 20, direction)
            margin = abs(to_fraction(truth)) / 10**600
            assert found.lower - margin <= to_fraction(truth) <= found.upper + margin
        back = asked(epsilon, text, "0.4", 20, direction)
        for end, above in ((back.lower, True), (back.upper, False)):
            value = mpf("0.3") + mpf("0.7") * hockey_stick(law, mp.exp(to_mpf(Fraction(end))))
            assert value >= mpf("0.4") if above else value <= mpf("0.4")
    assert back.digits >= 20


def test_the_value_of_nearly_equal_losses():
    text = "poisson(pure_dp(1)*pure_dp(1e-90),1/2)^2 * approx_dp(1/1000,3/10)"
    assert epsilon(text, "0.4", 5).shown(5) == "0.44875..."


@pytest.mark.parametrize("rate", ["1e-80", "1e-300"])
@pytest.mark.parametrize("direction", ["remove", "add"])
def test_samples_that_are_next_to_empty(rate, direction):
    text = f"poisson(pure_dp(1),{rate})^2"
    with mp.workdps(1000):
        step = on_a_sample(response_law(mpf(1)), mpf(rate), direction)
        truth = to_fraction(hockey_stick(product_law(step, step), mpf(1)))
    found = asked(delta, text, 0, 15, direction)
    assert found.lower <= truth * (1 + Fraction(1, 10**500))
    assert found.upper >= truth * (1 - Fraction(1, 10**500))
    assert found.digits >= 15
    if rate == "1e-80" and direction == "add":
        assert found.shown(3) == "6.75...e-81"


@pytest.mark.parametrize("tiny", ["sqrt(2)*1e-80", "sqrt(3)*1e-250"])
def test_tiny_irrational_losses_beside_a_staircase(tiny):
    """The staircase's noise is constant on cells; its losses against a shift by 1 are eps, 0, -eps.

    With ``gamma = 1/3`` and ``a = (1 - b)/(2 (gamma + b (1 - gamma)))``, ``b = e^-eps``, they have
    the masses ``1/2 + a gamma``, ``a b (1 - 2 gamma)`` and ``b`` times the first.
    """
    text = f"pure_dp({tiny})^3*staircase(1,1/3)"
    with mp.workdps(700):
        b, gamma = mp.exp(-1), mpf(1) / 3
        a = (1 - b) / (2 * (gamma + b * (1 - gamma)))
        up, none = mpf(1) / 2 + a * gamma, a * b * (1 - 2 * gamma)
        assert abs(up + none + b * up - 1) < mpf(10) ** -600
        number = int(tiny[5])
        small = response_law(mp.sqrt(number) * mpf(tiny.split("*")[1]))
        law = product_law(small, small, small, [(up, b * up), (none, none), (b * up, up)])
        for point in ("0", "1/2", "1"):
            truth = to_fraction(hockey_stick(law, mp.exp(to_mpf(Fraction(point)))))
            found = asked(delta, text, point, 15)
            margin = Fraction(1, 10**600)
            assert found.lower - margin <= truth <= found.upper + margin
        back = asked(epsilon, text, "1/10", 15)
        for end, above in ((back.lower, True), (back.upper, False)):
            value = hockey_stick(law, mp.exp(to_mpf(Fraction(end))))
            assert value >= mpf("0.1") if above else value <= mpf("0.1")


def test_a_target_just_above_the_infinite_mass_where_every_finite_loss_is_negative():
    text = "(poisson(approx_dp(0,1),1/2))^2 * pure_dp(0.628)"
    found = epsilon(text, "3/4 + 1e-30", 1, direction="remove")
    assert found.lower == found.upper == 0


def test_what_no_epsilon_changes_is_computed_once(monkeypatch):
    asked, once = [], Atom.masses
    monkeypatch.setattr(Atom, "masses", lambda *a: asked.append(a) or once(*a))
    for points in ([1], range(1, 40)):
        asked.clear()
        delta("poisson(pure_dp(1), 1/100)^100", [Fraction(k, 20) for k in points], 8, "remove")
        assert len(asked) <= 8


@pytest.mark.parametrize("share", [0.0, 1e-9, 0.3, 1.0])
@pytest.mark.parametrize("level", [-60.0, -0.5, 1.0])
def test_windows_hold_what_is_not_rare(share, level):
    first, stop = _window(50, share, level)
    kept = [n for n in range(51) if _log_mass(50, n, share) > level]
    assert list(range(first, stop)) == kept


@pytest.mark.parametrize(
    "step",
    [
        "(poisson(randomized_response(3, 3), 999/1000))^1000000",
        "(poisson(approx_dp(1e-3, 1e-30), 1e-300))^30",
        "(poisson(staircase(1, 1/3), 1e-19))^1000",
    ],
)
def test_counts_beyond_the_ranges_of_python(step):
    with suppress(PrecisionNotReached):
        assert epsilon(f"({step})^1000000000000000000", "1/2", 1, "remove").lower >= 0
