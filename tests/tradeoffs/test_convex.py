from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dpexact.tradeoffs import (
    PiecewiseLinear,
    Vertex,
    conjugate,
    convex_hull,
    identity,
    maximum,
    of_pair,
    symmetrised,
    violation,
)

F = Fraction
functions = st.from_type(PiecewiseLinear)
levels = st.fractions(0, 1, max_denominator=30)
points = st.lists(
    st.tuples(st.fractions(0, 1, max_denominator=12), st.fractions(0, 1, max_denominator=12)),
    max_size=6,
)


def clipped(raw):
    """Any points made fit: below 1 - alpha, with both ends."""
    return [Vertex(F(0), F(1)), *(Vertex(a, b * (1 - a)) for a, b in raw), Vertex(F(1), F(0))]


@given(points, levels)
def test_biconjugate_is_the_convex_hull(raw, x):
    """g** by its definition: the supremum of x y - g*(y) over all slopes between points."""
    cloud = clipped(raw)
    slopes = {
        (b.beta - a.beta) / (b.alpha - a.alpha) for a in cloud for b in cloud if a.alpha != b.alpha
    }
    biconjugate = max(y * x - max(y * alpha - beta for alpha, beta in cloud) for y in slopes)
    if x == 0:  # beyond every slope, the hull falls to the lowest point above 0
        biconjugate = min(beta for alpha, beta in cloud if alpha == 0)
    assert convex_hull(cloud).value(x) == biconjugate


@given(functions)
def test_the_hull_of_a_function_is_itself(f):
    assert convex_hull(f.vertices) == f


@given(functions, st.fractions(-4, 2, max_denominator=10), levels)
def test_conjugate_is_a_supremum(f, y, x):
    star = conjugate(f, y)
    assert star >= y * x - f.value(x)  # Fenchel and Young
    assert any(star == y * alpha - beta for alpha, beta in f.vertices)


@given(functions, levels)
def test_biconjugate_of_a_function_is_itself(f, x):
    slopes = [-(atom.q / atom.p) for atom in f.atoms if atom.p != 0]
    assert f.value(x) == max(y * x - conjugate(f, y) for y in slopes)


@given(functions, functions, levels)
def test_maximum(f, g, x):
    h = maximum(f, g)
    assert h.value(x) == max(f.value(x), g.value(x))
    assert h == maximum(g, f)


@given(functions)
def test_symmetrised(f):
    s = symmetrised(f)
    assert s.is_symmetric
    assert violation(f, s) is None
    assert symmetrised(s) == s


@given(functions, functions, levels)
def test_violation_is_the_worst_place(f, g, x):
    worst = violation(f, g)
    gap = f.value(x) - g.value(x)
    if worst is None:
        assert gap <= 0
    else:
        assert worst.excess == f.value(worst.alpha) - g.value(worst.alpha) > 0
        assert gap <= worst.excess


def test_minimum_need_not_be_convex():
    f = of_pair(["1/2", "1/2"], ["9/10", "1/10"])
    hull = convex_hull([*f.vertices, *f.inverse().vertices])
    middle = F(3, 10)
    assert hull.value(middle) < min(f.value(middle), f.inverse().value(middle))


def test_identity_is_the_largest():
    f = of_pair(["1/2", "1/2"], ["9/10", "1/10"])
    assert violation(f, identity()) is None
    assert violation(identity(), f) == (F(1, 2), F(2, 5))
