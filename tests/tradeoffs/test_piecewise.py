import pickle
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpexact import tradeoff
from dpexact.conversion import real
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.tradeoffs import (
    PiecewiseLinear,
    f_eps_delta,
    identity,
    maximum,
    of_pair,
    of_vertices,
    violation,
)
from dpexact.tradeoffs.numbers import enclose, exponential

F = Fraction
functions = st.from_type(PiecewiseLinear)
levels = st.fractions(0, 1, max_denominator=30)


def best_error(p, q, alpha):
    """min type II error by brute force: the lowest mixture of two deterministic tests."""
    tests = [
        (
            sum(x for x, keep in zip(p, s, strict=True) if keep),
            1 - sum(x for x, keep in zip(q, s, strict=True) if keep),
        )
        for s in product((0, 1), repeat=len(p))
    ]
    found = [beta for a, beta in tests if a <= alpha]
    for a, beta in tests:
        for b, other in tests:
            if a < alpha < b:
                found.append(beta + (other - beta) * (alpha - a) / (b - a))
    return min(found)


@given(
    st.integers(1, 4).flatmap(
        lambda n: st.tuples(*[st.lists(st.integers(0, 5), min_size=n, max_size=n).filter(any)] * 2)
    ),
    levels,
)
def test_value_is_the_best_test_by_brute_force(masses, alpha):
    p, q = ([F(x, sum(row)) for x in row] for row in masses)
    assert of_pair(p, q).value(alpha) == best_error(p, q, alpha)


@given(functions, levels)
def test_proposition_1(f, alpha):
    """Convex, non-increasing, at most 1 - alpha; and the vertices give the function back."""
    assert 0 <= f.value(alpha) <= 1 - alpha
    slopes = [atom.q / atom.p for atom in f.atoms if atom.p != 0]
    assert all(a > b for a, b in pairwise(slopes))
    assert f.vertices[0].alpha == 0
    assert f.vertices[-1] == (1, 0)
    assert all(f.value(a) == b for a, b in f.vertices)
    assert of_vertices(f.vertices) == f


def test_both_sides_of_zero():
    f = of_pair(["0", "1"], ["1/3", "2/3"])
    assert f.limits_at_zero == (1, F(2, 3))
    assert f.path[:2] == ((0, 1), (0, F(2, 3)))
    assert f.slopes(0) == (None, F(-2, 3))
    assert f.slopes(1) == (F(-2, 3), None)
    g = f_eps_delta("log(2)", 0)
    assert g.slopes("1/3") == (-2, F(-1, 2))
    assert identity().limits_at_zero == (1, 1)


@given(functions, levels)
def test_inverse(f, alpha):
    """f^-1(alpha) = inf{t: f(t) <= alpha}: it is attained, and no smaller t will do."""
    t = f.inverse().value(alpha)
    assert f.value(t) <= alpha
    if t > 0:
        assert f.value(t * F(999, 1000)) > alpha
    assert f.inverse().inverse() == f


@given(functions, functions, functions)
def test_tensor_product_laws(f, g, h):
    assert f * g == g * f
    assert (f * g) * h == f * (g * h)
    assert f * identity() == f
    assert (f * g).inverse() == f.inverse() * g.inverse()


@given(functions, functions, functions)
def test_tensor_product_is_monotone(f, g, h):
    better = maximum(f, g)
    assert violation(f * h, better * h) is None


@given(functions, functions)
def test_symmetric_stays_symmetric(f, g):
    f, g = maximum(f, f.inverse()), maximum(g, g.inverse())
    assert f.is_symmetric
    assert (f * g).is_symmetric


@given(functions, st.integers(0, 4))
def test_power_is_repeated_product(f, n):
    expected = identity()
    for _ in range(n):
        expected = expected * f
    assert f**n == expected


@given(st.sampled_from(["log(2)", "log(3/2)/2", "1/3"]), st.sampled_from(["0", "1/7", "1"]))
def test_binomial_power_agrees_with_products(eps, delta):
    f = f_eps_delta(eps, delta)
    expected = identity()
    for n in range(1, 7):
        expected = expected * f
        assert f**n == expected
        assert PiecewiseLinear((f**n).atoms) == f**n  # sorted and complete


@pytest.mark.parametrize("level", [F(2), F(3, 2)])
@pytest.mark.parametrize("n", [1, 2, 7])
def test_power_of_randomised_response_is_a_binomial_test(level, n):
    """f_{eps,0}^n = T(Bin(n, 1/(1+E)), Bin(n, E/(1+E))) (Kairouz, Oh, Viswanath 2017)."""
    from math import comb

    low = 1 / (1 + level)
    p = [comb(n, j) * low**j * (1 - low) ** (n - j) for j in range(n + 1)]
    assert f_eps_delta(real(f"log({level})"), 0) ** n == of_pair(p, p[::-1])


@pytest.mark.slow
def test_a_thousand_fold_power_is_exact():
    f = f_eps_delta("log(21/20)", "1/100000") ** 1000
    assert len(f.vertices) == 1003
    assert f.vertices[0].beta == (1 - F(1, 100000)) ** 1000
    value = f("1/7")
    assert value.is_exact
    assert f.inverse().value(value.lower) == F(1, 7)
    assert all(isinstance(x, F) for v in f.vertices for x in v)


def test_a_thousand_fold_power_of_a_transcendental_level():
    f = f_eps_delta("1/20", 0) ** 1000
    assert len(f.vertices) == 1002
    level = exponential(real("1/20"))
    assert f.atoms[0].q / f.atoms[0].p == level**1000
    assert f.atoms[499].q / f.atoms[499].p == level**2
    assert f.atoms[500].q / f.atoms[500].p == 1
    assert f("1/7", digits=40).digits >= 40


def test_equal_ratios_merge_although_the_level_is_transcendental():
    f = f_eps_delta("1/10", 0) * f_eps_delta("1/5", 0) * f_eps_delta("3/10", 0)
    assert len(f.atoms) == 7  # losses -6, -4, -2, 0, 2, 4, 6 tenths
    assert len((f_eps_delta("sqrt(2)", 0) * f_eps_delta("1", 0)).atoms) == 4


def test_commensurate_powers_agree_with_a_rational_level():
    """The same combinatorics at e^eps = 2, where everything is a Fraction."""
    f = f_eps_delta("log(2)", "1/9") ** 2 * f_eps_delta("log(4)", 0)
    p, q = [F(1)], [F(1)]
    for level, delta in ((2, F(1, 9)), (2, F(1, 9)), (4, F(0))):
        low = (1 - delta) / (1 + level)
        row = [(F(0), delta), (low, low * level), (low * level, low), (delta, F(0))]
        p, q = [a * x for a in p for x, _ in row], [b * y for b in q for _, y in row]
    assert f == of_pair(p, q)


@given(functions)
def test_pickle(f):
    assert pickle.loads(pickle.dumps(f)) == f


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: of_pair(["1/2"], ["1/2", "1/2"]), "lengths must agree"),
        (lambda: of_pair(["1/2", "1/3"], ["1/2", "1/2"]), "p: the masses do not sum"),
        (lambda: of_pair(["3/2", "-1/2"], ["1/2", "1/2"]), "must be >= 0"),
        (lambda: of_pair([0.1, 0.9], [0.1, 0.9]), "do not sum to exactly 1"),
        (lambda: of_vertices([]), "must run from"),
        (lambda: of_vertices([(0, 1), (1, "1/2")]), "must run from"),
        (lambda: of_vertices([(0, 1), ("1/2", "3/5"), (1, 0)]), "not convex and below"),
        (lambda: of_vertices([(0, "1/2"), ("1/2", "3/5"), (1, 0)]), "beta decrease"),
        (lambda: identity()("3/2"), "alpha: 3/2 is not accepted"),
        (lambda: identity()("1/2", digits=0), "digits"),
        (lambda: identity() ** -1, "times"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InvalidInput, match=message):
        call()


def test_products_too_large_to_write_out_are_refused():
    big = f_eps_delta("1/3", 0) ** 600
    with pytest.raises(UnsupportedMechanism, match="not written out"):
        big * big


def test_plot_returns_axes():
    pytest.importorskip("matplotlib")
    f = f_eps_delta("log(3)", "1/5")
    axes = f.plot(color="black")
    (line,) = axes.lines
    assert line.get_xdata().tolist() == pytest.approx([0, 0, 0.2, 0.8, 1])
    assert line.get_ydata().tolist() == pytest.approx([1, 0.8, 0.2, 0, 0])
    assert identity().plot(axes) is axes
    assert len(axes.lines) == 2


@pytest.mark.parametrize("text", ["pure_dp(1)^5", "approx_dp(1/2, 1/9)^3", "staircase(1, 1/3)^2"])
def test_enclosures_are_those_of_the_exact_value(text):
    """Inside pieces, at vertices, next to them, and at both ends."""
    f = tradeoff(text)
    ends = [v.alpha for v in f.path]
    inner = [x for x in ends[1:-1] if x != 0]
    near = [x + side * F(1, 10**60) for x in inner for side in (-1, 1)] + [1 - F(1, 10**60)]
    for alpha in [*ends, *near, F(1, 10**30), *(F(k, 97) for k in range(98))]:
        for digits in (3, 12, 50):
            found = f._enclose(alpha, digits)
            truth = enclose(f.value(alpha), digits + 20, "")
            assert found.overlaps(truth)
            assert found.digits >= digits
    assert pickle.loads(pickle.dumps(f)) == f


def test_beside_perfect_privacy_it_is_what_it_is():
    """And no product is worked out."""
    f = tradeoff("approx_dp(1/2, 1/10)^3")
    assert identity() * f is f
    assert f * identity() is f
