"""Composition by types of outcomes, against enumeration with fractions."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact import balls
from dpexact.accounting.few_atoms import Atom, FewAtoms, sampled
from dpexact.accounting.optimal import OptimalComposition
from dpexact.accounting.profile import InfiniteLoss
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import rational, real

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
        FewAtoms([(atoms, 30_000)], NONE)


def test_types_too_rare_to_sum_are_still_counted():
    rare = Fraction(1, 10**100)
    law = [(Fraction(1, 2), Fraction(1, 3)), (rare, rare**2)]
    law.append((1 - sum(p for p, _ in law), 1 - sum(q for _, q in law)))
    steps = [([Atom(rational(p), rational(q)) for p, q in law], 2)]
    with balls.precision(64):
        found = balls.to_enclosure(FewAtoms(steps, NONE)._finite_ball(balls.ball(3).log()))
    assert brute(steps, Fraction(3)) in found
    assert found.upper < Fraction(1, 10**9)


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
