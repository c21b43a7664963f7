from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpexact.conversion import real
from dpexact.errors import InvalidInput
from dpexact.tradeoffs import Processing, Separation, blackwell, is_processing, of_pair, violation
from dpexact.tradeoffs.numbers import exponential

F = Fraction


def normalised(row):
    return [F(x, sum(row)) for x in row]


def distributions(n, top=5):
    row = st.lists(st.integers(0, top), min_size=n, max_size=n).filter(any)
    return st.tuples(row.map(normalised), row.map(normalised))


pairs = st.integers(1, 5).flatmap(distributions)


@st.composite
def processed(draw):
    """A pair, and the same pair after a random channel."""
    p, q = draw(pairs)
    m = draw(st.integers(1, 5))
    row = st.lists(st.integers(0, 3), min_size=m, max_size=m).filter(any).map(normalised)
    channel = draw(st.lists(row, min_size=len(p), max_size=len(p)))
    after = tuple(
        [sum((a * line[j] for a, line in zip(side, channel, strict=True)), F(0)) for j in range(m)]
        for side in (p, q)
    )
    return (p, q), after


@settings(max_examples=200)
@given(processed())
@pytest.mark.slow
def test_a_kernel_is_found_whenever_there_is_one(case):
    first, second = case
    found = blackwell(first, second)
    assert isinstance(found, Processing)
    for side, target in zip(first, second, strict=True):  # multiplied here once more
        image = [
            sum((a * row[j] for a, row in zip(side, found.kernel, strict=True)), F(0))
            for j in range(len(target))
        ]
        assert image == target
    assert all(sum(row) == 1 and min(row) >= 0 for row in found.kernel)


@settings(max_examples=200)
@given(pairs, pairs)
@pytest.mark.slow
def test_kernel_or_separating_test(first, second):
    found = blackwell(first, second)
    f, g = of_pair(*first), of_pair(*second)
    if isinstance(found, Processing):
        assert violation(f, g) is None
        assert is_processing(found.kernel, first, second)
        return
    assert isinstance(found, Separation)
    p, q = second
    assert sum(p[j] for j in found.rejected) == found.alpha
    assert 1 - sum(q[j] for j in found.rejected) == found.beta
    assert found.best == f.value(found.alpha) > found.beta


def test_coarse_grids_are_decided_one_way_or_the_other():
    """All pairs of quarters on two outcomes: kernels exactly where the order holds."""
    rows = [[F(k, 4), F(4 - k, 4)] for k in range(5)]
    cases = [(p, q) for p in rows for q in rows]
    kernels = sum(isinstance(blackwell(a, b), Processing) for a in cases for b in cases)
    ordered = sum(violation(of_pair(*a), of_pair(*b)) is None for a in cases for b in cases)
    assert kernels == ordered
    assert 0 < kernels < len(cases) ** 2


def test_irrational_masses():
    e = exponential(real("1/3"))
    low = 1 / (1 + e * e)
    first = ([low, 1 - low], [1 - low, low])
    worse = 1 / (1 + e)
    second = ([worse, 1 - worse], [1 - worse, worse])
    found = blackwell(first, second)
    assert isinstance(found, Processing)
    assert is_processing(found.kernel, first, second)
    assert isinstance(blackwell(second, first), Separation)


def test_is_processing_refuses_what_is_not():
    first, second = (["3/4", "1/4"], ["1/4", "3/4"]), (["2/3", "1/3"], ["1/3", "2/3"])
    found = blackwell(first, second)
    assert isinstance(found, Processing)
    half = F(1, 2)
    for wrong in (
        ((half, half), (half, half)),
        ((F(5, 6), F(1, 6)),),
        ((F(5, 6), F(1, 6)), (F(1, 6), F(4, 6))),
        ((F(7, 6), F(-1, 6)), (F(1, 6), F(5, 6))),
        ((F(1, 6), F(5, 6)), (F(5, 6), F(1, 6))),
    ):
        assert not is_processing(wrong, first, second)


def test_refusals():
    with pytest.raises(InvalidInput, match="lengths"):
        blackwell((["1"], ["1", "0"]), (["1"], ["1"]))
