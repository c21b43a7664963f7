"""A density between two ends: one rule for all heights, against closed forms and quadrature."""

import math

import pytest
from flint import acb, arb
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

import dpexact
from dpexact import balls
from dpexact.accounting.pairs.laplace import Laplace, TruncatedLaplace
from dpexact.accounting.pairs.on_sample import ByRule
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.accounting.pairs.sampled_laplace import SampledLaplace
from dpexact.accounting.pairs.sums.arcs import Arc, arc_size
from dpexact.accounting.pairs.sums.far_nodes import Factor
from dpexact.conversion import real

PAIRS = [
    SampledLaplace(((Laplace(real(1)), 1),), real("1/3"), True),
    SampledLaplace(((Laplace(real(3)), 1),), real("1/100"), True),
    SampledLaplace(((Laplace(real(2)), 1),), real("1/2"), False),
    Laplace(real(1)),
    Laplace(real("1/10")),
    TruncatedLaplace(real(1), real(3)),
]


def value(terms, error, u):
    """Of the sum at a height."""
    total = sum((weight * (acb(0, u) * z).exp() for weight, z in terms), acb(0))
    return total + acb(error, error)


def otherwise(pair, c, u):
    """In closed form, or by the rule for a height."""
    if isinstance(pair, ByRule):
        return value(*ByRule.exponentials(pair, c, u, 120.0), u)
    return pair.at(acb(c, u))


def test_a_sum_of_too_many_terms_is_refused():
    """A density that grows fast off the axis asks for any number of them."""
    pair = PAIRS[0]
    with balls.precision(96):
        arc = pair._arcs(pair._power(arb(3)), 20.0)[0]
        assert arc.total().rad() < 1e-6
        with pytest.raises(TooExpensive, match="too many terms"):
            arc.total(1e-6)


@pytest.mark.parametrize("pair", PAIRS, ids=str)
@pytest.mark.parametrize("c", [0.5, 3.0, 60.0])
@pytest.mark.parametrize("accuracy", [0.5, 3.0, 30.0])
def test_one_sum_serves_all_heights(pair, c, accuracy):
    with balls.precision(192):
        if isinstance(pair, SampledLaplace):  # on the arc, not by the other rule
            power = pair._power(arb(c))
            terms, error = pair._arcs(power, accuracy)[0].turns()
            terms += [(acb(mass), acb(end)) for mass, end in pair._atoms(power)]
            if not pair.removes:
                terms = [(weight.conjugate(), -z.conjugate()) for weight, z in terms]
        else:
            terms, error = pair.exponentials(c, 1e9, accuracy)
        assert all(z.imag >= 0 for _, z in terms)
        level = pair.moment(c, 30.0)
        assert error.rad() < level * 20 * math.exp(-accuracy)
        for u in (0.0, 0.3, 5.0, 40.0, 700.0):
            assert value(terms, error, u).overlaps(otherwise(pair, c, u))


@settings(max_examples=scaled(30), deadline=None)
@given(
    st.fractions("1/20", 5, max_denominator=20),
    st.fractions("1/1000", "19/20", max_denominator=1000),
    st.booleans(),
    st.floats(-0.9, 1e5),
    st.floats(1.0, 40.0),
)
def test_real_moments_of_any_order(rate, q, removes, c, accuracy):
    pair = SampledLaplace(((Laplace(real(str(rate))), 1),), real(str(q)), removes)
    with balls.precision(192):
        power = pair._power(arb(c))
        found = pair._arcs(power, accuracy)[0].total() + sum(m for m, _ in pair._atoms(power))
        assert found.overlaps(ByRule.moment(pair, c, accuracy))


def test_one_sum_of_a_record_that_is_added():
    pair = SampledLaplace(((Laplace(real(2)), 1),), real("1/2"), False)
    with balls.precision(192):
        terms, error = pair.exponentials(3.0, 1e6, 30.0)
        assert len(terms) > 100
        for u in (0.0, 5.0, 700.0):
            assert value(terms, error, u).overlaps(otherwise(pair, 3.0, u))


def flat(low, high, accuracy=20.0):
    """The density 1, whose transform is known."""
    with balls.precision(128):
        low, high = balls.ball(real(low)), balls.ball(real(high))
        return Arc(low, high, lambda z: 0 * z + 1, math.log(float((high - low).mid())), accuracy)


def transformed(low, high, u):
    """``Int e^{iuz} dz``."""
    if not u:
        return acb(high - low)
    return ((acb(0, u) * high).exp() - (acb(0, u) * low).exp()) / acb(0, u)


@pytest.mark.parametrize(
    ("spacing", "angle", "u"),
    # where the strip below, or the one above, loses nearly all
    [(2.0, 0.1, 6.0), (3.0, 0.1, 4.0), (4.0, 2.25, 0.0), (5.0, 2.2, 0.2)],
)
def test_what_strips_lose(spacing, angle, u):
    with balls.precision(128):
        terms, error = flat(-1, 1).leaning(spacing, angle)
        assert value(terms, error, u).overlaps(transformed(-1, 1, u))


def test_what_lies_beyond():
    with balls.precision(128):
        arc = flat(-1, 1)
        arc._reach = 2.0
        terms, error = arc.leaning(0.25, 1.0)
        for u in (0.0, 3.0):
            assert value(terms, error, u).overlaps(transformed(-1, 1, u))


@pytest.mark.parametrize("spacing", [0.5, 4.0, 8.0])
def test_what_the_axis_loses(spacing):
    with balls.precision(128):
        assert flat(-1, 1).total(spacing).overlaps(arb(2))


def test_bounds_along_arcs():
    """Of a half circle of radius 1, a quarter of one, and of what ``1/z`` has on it."""
    with balls.precision(96):
        arc = flat(-1, 1)
        assert arb.pi() < arc.bound(math.pi / 2) < 1.3 * arb.pi()
        assert arb.pi() / 2 * arb(2).sqrt() < arc.bound(math.pi / 4)
        arc._reach = 1.0  # half of it lies beyond the cells
        assert arb.pi() < arc.bound(math.pi / 2)


def test_arcs_that_are_refused():
    with balls.precision(96):
        arc = flat(-1, 1)
        with pytest.raises(TooExpensive):
            flat(-3, 3).bound(2.5)  # as high as pi
        for angle in (0.0, 3.0):
            with pytest.raises(ValueError, match="outside"):
                arc.leaning(1.0, angle)
        with pytest.raises(TooExpensive):
            arc.beyond(0.5)
        with pytest.raises(TooExpensive):
            flat(-500, 500)
        arc._reach = 1e6
        with pytest.raises(TooExpensive):
            arc.bound(1.0)
    with balls.precision(96), pytest.raises(TooExpensive):  # no ball tells how large it is
        Arc(arb(-1), arb(1), lambda z: z / acb(arb(0, 1)), 0.0, 20.0).turns()


def test_about_as_many_as_are_planned():
    terms, _ = flat(-1, 1, 30.0).turns()
    assert abs(len(terms) - arc_size(2.0, 30.0)) < 0.2 * len(terms)


class Growing(Laplace):
    """Says that a term grows with the height."""

    def exponentials(self, c, top, accuracy):
        terms, error = super().exponentials(c, top, accuracy)
        return [(weight, z.conjugate()) for weight, z in terms], error


def test_terms_that_grow_are_no_far_nodes():
    Factor(Laplace(real(1)), 1.0, 1e-7, 1)
    with pytest.raises(TooExpensive):
        Factor(Growing(real(1)), 1.0, 1e-7, 1)


MIXED = [
    "laplace({a})^3 * poisson(laplace({b}), {q})^4",
    "laplace({a}) * poisson(laplace({b}), {q})",
    "poisson(laplace({a}), {q})^5 * poisson(laplace({b}), 1/7)^2",
    "poisson(laplace({a}), {q})^3 * laplace({b})^2 * pure_dp(1/3)^4",
    "laplace({a})^2 * poisson(laplace({b}), {q}) * discrete_gaussian(3)^2",
    "laplace({a}) * poisson(discrete_gaussian(2), {q})^5",
    "truncated_laplace(2, 5) * poisson(laplace({b}), {q})^4 * approx_dp(1/3, 1/1000)",
]


@pytest.mark.slow
@settings(max_examples=scaled(25), deadline=None)
@given(
    st.sampled_from(MIXED),
    st.fractions("1/3", 10, max_denominator=20),
    st.fractions("1/3", 10, max_denominator=20),
    st.fractions("1/100", "9/10", max_denominator=100),
    st.one_of(
        st.tuples(st.just("delta"), st.fractions("1/20", 3, max_denominator=20)),
        st.tuples(st.just("epsilon"), st.integers(10, 10**6).map(lambda k: f"1/{k}")),
    ),
    st.sampled_from(["remove", "add"]),
)
def test_densities_beside_atoms_against_the_lattice(text, a, b, q, question, direction):
    ask, (kind, at) = {"delta": dpexact.delta, "epsilon": dpexact.epsilon}, question
    run = text.format(a=a, b=b, q=q)
    answers = []
    for digits, method in ((8, "auto"), (3, "lattice")):
        try:
            answers.append(ask[kind](run, str(at), digits, direction, method=method))
        except dpexact.PrecisionNotReached as short:
            answers.append(short.best)
    assert answers[0].overlaps(answers[1])


def test_many_digits_of_two_kinds_of_laplace_noise():
    """Refused before; the first lies between the digits of the lattice engine."""
    run = "laplace(1)^10 * poisson(laplace(1), 1/10)^10"
    found = dpexact.delta(run, 1, 8)
    assert found.digits >= 8
    assert found.method == "contour of atoms"
    (few,) = dpexact.epsilon(run, ["1e-6"], 8)
    assert few.digits >= 8
