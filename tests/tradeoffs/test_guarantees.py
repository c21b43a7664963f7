from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact.errors import InvalidInput
from dpexact.tradeoffs import (
    Guarantee,
    PiecewiseLinear,
    delta_of,
    f_eps_delta,
    guarantees,
    of_guarantees,
    of_pair,
    symmetrised,
    tightest,
    violation,
)
from dpexact.tradeoffs.guarantees import of_guarantee

F = Fraction
functions = st.from_type(PiecewiseLinear)
symmetric = functions.map(symmetrised)
levels = st.fractions(0, 1, max_denominator=30)
ratios = st.fractions(1, 5, max_denominator=7)


@given(ratios, levels, levels)
def test_f_eps_delta_is_its_formula(level, delta, alpha):
    lines = (0, 1 - delta - level * alpha, (1 - delta - alpha) / level)
    f = f_eps_delta(f"log({level})", delta)
    assert f.value(alpha) == max(lines)
    assert f.is_symmetric


@given(levels, levels, ratios)
def test_tensor_identities(first, second, level):
    """Equations (10), (11) and (12) of Dong, Roth and Su (2022)."""
    eps = f"log({level})"
    assert f_eps_delta(eps, 0) * f_eps_delta(0, first) == f_eps_delta(eps, first)
    both = 1 - (1 - first) * (1 - second)
    assert f_eps_delta(0, first) * f_eps_delta(0, second) == f_eps_delta(0, both)


@given(functions, st.fractions(0, F(9, 10), max_denominator=20), levels)
def test_product_with_lost_mass_scales_the_graph(f, delta, alpha):
    kept = 1 - delta
    expected = kept * f.value(alpha / kept) if alpha <= kept else 0
    assert (f * f_eps_delta(0, delta)).value(alpha) == expected


@given(symmetric)
def test_primal_dual_round_trip(f):
    """Proposition 6: a symmetric f is the supremum of its guarantees."""
    collection = guarantees(f)
    assert of_guarantees(collection) == f
    assert all(violation(of_guarantee(item), f) is None for item in collection)


@given(st.lists(st.tuples(ratios, levels), min_size=1, max_size=4))
def test_dual_primal_round_trip(pairs):
    """Each guarantee of the collection survives, and what comes back says the same."""
    f = of_guarantees([Guarantee(level, delta) for level, delta in pairs])
    assert of_guarantees(guarantees(f)) == f
    for level, delta in pairs:
        assert delta_of(f, f"log({level})") <= delta


@given(functions, ratios)
def test_delta_is_the_hockey_stick_divergence(f, level):
    """delta(eps) = max over both directions of sum (q - e^eps p)_+."""
    forward = sum((max(a.q - level * a.p, F(0)) for a in f.atoms), F(0))
    backward = sum((max(a.p - level * a.q, F(0)) for a in f.atoms), F(0))
    assert delta_of(f, f"log({level})") == max(forward, backward)


@given(functions, levels)
def test_tightest_epsilon_is_sharp(f, delta):
    best = tightest(f, delta)
    if best is None:
        assert max(f.path[0].beta - f.vertices[0].beta, 1 - f.inverse().vertices[0].beta) > delta
        return
    assert violation(of_guarantee(best), f) is None
    if best.level > 1:
        smaller = 1 + (best.level - 1) * F(999, 1000)
        assert violation(of_guarantee(Guarantee(smaller, delta)), f) is not None


@pytest.mark.parametrize("delta", ["0", "1/500", "1/100", "1/20", "1/5", "9/10"])
@pytest.mark.parametrize("eps", ["log(5/4)", "1/4"])
def test_tightest_epsilon_of_many_vertices(eps, delta):
    """Against a scan: E >= (1 - delta - beta)/alpha at every vertex of a symmetric f."""
    f = f_eps_delta(eps, "1/1000") ** 8
    best = tightest(f, delta)
    if 1 - f.vertices[0].beta > F(delta):
        assert best is None
    else:
        needed = [(1 - F(delta) - y) / x for x, y in f.vertices if x != 0]
        assert best is not None
        assert best.level == max(F(1), *needed)


def test_smallest_epsilon_of_ten_fold_composition():
    """Figure 5 of Dong, Roth and Su (2022) prints 2.89."""
    best = tightest(f_eps_delta("1/sqrt(10)", 0) ** 10, "1/1000")
    assert best is not None
    found = best.epsilon(digits=15)
    assert F("2.889672739359811") < found.lower <= found.upper < F("2.889672739359812")


def test_epsilon_zero_is_exact():
    best = tightest(f_eps_delta(0, "1/10"), "1/10")
    assert best is not None
    assert best.epsilon().is_exact
    assert tightest(f_eps_delta(0, "1/10"), "1/11") is None


def test_refusals():
    with pytest.raises(InvalidInput, match="at least one"):
        of_guarantees([])
    with pytest.raises(InvalidInput, match="not symmetric"):
        guarantees(of_pair(["1/2", "1/2"], ["9/10", "1/10"]))
    with pytest.raises(InvalidInput, match="eps"):
        f_eps_delta(-1, 0)
    with pytest.raises(InvalidInput, match="delta"):
        f_eps_delta(1, 2)
