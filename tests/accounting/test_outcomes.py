"""Outcomes of composed finite laws, and samples of them, against enumeration with fractions."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

import dpexact
from dpexact.accounting.fixed_size import symmetric_samples
from dpexact.accounting.pairs.lattice import composed
from dpexact.accounting.pairs.response import Response, discrete_laplace
from dpexact.conversion import real
from dpexact.errors import UnsupportedMechanism


def law(part):
    return [(atom.p.fraction, atom.q.fraction) for atom in part.outcomes()]


def test_equal_losses_are_one_outcome_with_their_whole_mass():
    log2 = real("log(2)")
    parts = [(Response(log2), 3), (discrete_laplace(real("1/log(2)"), 2), 2)]
    masses = {}
    for chosen in product(*[law(part) for part, count in parts for _ in range(count)]):
        p = q = Fraction(1)
        for one, other in chosen:
            p, q = p * one, q * other
        known = masses.get(p / q, (0, 0))
        masses[p / q] = known[0] + p, known[1] + q
    found = [(atom.p.fraction, atom.q.fraction) for atom in composed(parts)]
    assert sorted(found) == sorted(masses.values())


def test_without_a_common_lattice_all_mass_is_there():
    atoms = composed([(Response(real("log(2)")), 2), (Response(real("log(3)")), 1)])
    assert len(atoms) == 6
    assert sum(a.p.fraction for a in atoms) == sum(a.q.fraction for a in atoms) == 1


def test_too_many_combinations_are_refused():
    with pytest.raises(UnsupportedMechanism, match="combinations of outcomes"):
        composed([(Response(real(1)), 2000)])


rates = st.fractions(min_value=Fraction(1, 10), max_value=Fraction(9, 10), max_denominator=10)


@given(
    st.sampled_from([Fraction(0), Fraction(1, 10)]),
    st.integers(1, 3),
    st.booleans(),
    rates,
    st.sampled_from([Fraction(1), Fraction(3, 2), Fraction(5, 2)]),
)
@settings(max_examples=scaled(25))
def test_samples_of_compositions(lost, inner, beside, rate, level):
    """Every pair of outcomes written out, infinite loss among them, in both directions."""
    step = f"approx_dp({'log(2)' if beside else 0},{lost})^{inner}"
    if beside:
        step += "*pure_dp(log(3))"
    single = [(1 - lost, 1 - lost), (lost, Fraction(0)), (Fraction(0), lost)]
    laws = [single] * inner
    if beside:
        laws += [law(Response(real("log(2)")))] * inner + [law(Response(real("log(3)")))]
    base = {(Fraction(1), Fraction(1)): 1}
    for one in laws:
        following = {}
        for ((p, q), ways), (r, s) in product(base.items(), one):
            following[p * r, q * s] = following.get((p * r, q * s), 0) + ways
        base = {pair: ways for pair, ways in following.items() if pair != (0, 0)}
    sample = [(w * ((1 - rate) * q + rate * p), w * q) for (p, q), w in base.items()]
    for direction in ("remove", "add"):
        pairs = sample if direction == "remove" else [(q, p) for p, q in sample]
        truth = Fraction(0)
        for chosen in product(pairs, repeat=2):
            p = chosen[0][0] * chosen[1][0]
            truth += max(p - level * chosen[0][1] * chosen[1][1], 0)
        found = dpexact.delta(f"poisson({step},{rate})^2", f"log({level})", 15, direction=direction)
        assert truth in found
        assert found.digits >= 15


def test_a_repeated_mass_of_infinite_loss_counts_as_often_as_it_runs():
    found = dpexact.delta("poisson(approx_dp(0,0.1)^3,0.5)^2", "0.1")
    assert found.lower == found.upper == 1 - (1 - Fraction(271, 2000)) ** 2


def test_the_lattice_engine_agrees():
    mechanisms = "poisson(approx_dp(1,0.01)^3,0.1)^4", "poisson(discrete_laplace(2,3)^2,0.1)^5"
    for mechanism in mechanisms:
        for direction in ("remove", "add"):
            found = dpexact.delta(mechanism, "1/5", 15, direction=direction)
            other = dpexact.delta(mechanism, "1/5", 2, direction=direction, method="lattice")
            assert found.digits >= 15
            assert other.digits >= 2
            assert other.overlaps(found)


def test_a_loss_that_may_be_zero_is_refused_by_the_symmetric_bound():
    with pytest.raises(UnsupportedMechanism, match="told apart from 0"):
        symmetric_samples(dpexact.parse("poisson(pure_dp(1)^2,0.1)^4"))


@pytest.mark.parametrize("eps", ["0", "log(2)"])
def test_infinite_losses_are_no_places_on_a_lattice(eps):
    """Twice infinite under one law had the index of once under the other."""
    lost = Fraction(1, 3)
    atoms = composed([(Response(real(eps), real("1/3")), 2)])
    alone = sum(a.p.fraction for a in atoms if a.q.fraction == 0)
    assert alone == sum(a.q.fraction for a in atoms if a.p.fraction == 0) == 1 - (1 - lost) ** 2
