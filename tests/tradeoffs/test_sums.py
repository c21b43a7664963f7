from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dpexact import balls
from dpexact.conversion import real
from dpexact.tradeoffs import monomials, sums

_monomials = st.sampled_from(
    ["0", "1", "-2", "1/3", "sqrt(2)", "1-sqrt(2)", "log(2)/2", "log(2)/3"]
)


@st.composite
def _sums(draw, min_size=0):
    total = {}
    rows = st.lists(st.tuples(_monomials, st.integers(-4, 4)), min_size=min_size, max_size=4)
    for text, c in draw(rows):
        factor, monomial = monomials.exponential(real(text))
        total = sums.add(total, {monomial: factor * c} if c else {})
    return total


@given(_sums(), _sums())
def test_operations_agree_with_balls(a, b):
    with balls.precision(300):
        assert sums.ball(sums.add(a, b)).overlaps(sums.ball(a) + sums.ball(b))
        assert sums.ball(sums.multiply(a, b)).overlaps(sums.ball(a) * sums.ball(b))
        assert sums.ball(sums.power(a, 5)).overlaps(sums.ball(a) ** 5)


@given(_sums(), _sums())
def test_a_plain_sign_is_that_of_every_coefficient(a, b):
    for terms in (a, {m: abs(c) for m, c in a.items()}, {m: -abs(c) for m, c in b.items()}):
        signs = {(c > 0) - (c < 0) for c in terms.values()}
        assert sums.plain_sign(terms) == (signs.pop() if len(signs) == 1 else 0)


@given(_sums(), _sums(min_size=1).filter(bool), _sums(min_size=1).filter(bool))
def test_reduction_keeps_the_quotient(a, b, shared):
    top, bottom = sums.reduced(sums.multiply(a, shared), sums.multiply(b, shared))
    assert sums.multiply(top, b) == sums.multiply(a, bottom)
    assert bottom.get(monomials.UNIT) == 1
    with balls.precision(300):
        assert (sums.ball(top) * sums.ball(b)).overlaps(sums.ball(a) * sums.ball(bottom))


def test_common_factors_are_divided_out():
    one, e = {monomials.UNIT: Fraction(1)}, {monomials.exponential(real(1))[1]: Fraction(1)}
    factor = sums.power(sums.add(one, e), 3)
    top, bottom = sums.reduced(
        sums.multiply(factor, sums.add(e, {monomials.UNIT: Fraction(2)})), factor
    )
    assert bottom == sums.ONE
    assert len(top) == 2


def test_shared_signs_are_those_of_each(monkeypatch):
    """A sum is looked at once as long as no other is."""
    looked = []
    proper = sums.plain_sign
    monkeypatch.setattr(sums, "plain_sign", lambda terms: looked.append(terms) or proper(terms))
    core = monomials.exponential(real(1))[1]
    above, below = {monomials.UNIT: Fraction(1)}, {core: Fraction(-1)}
    mixed = above | below
    asked = [above, above, below, mixed, below, below]
    assert [sums.shared_sign(terms) for terms in asked] == [1, 1, -1, 0, -1, -1]
    assert looked == [above, below, mixed, below]


def test_another_thread_that_asks_between_changes_no_sign(monkeypatch):
    core = monomials.exponential(real(1))[1]
    above, below = {monomials.UNIT: Fraction(1)}, {core: Fraction(-1)}

    class Shared(list):
        """Where another sum is left as soon as one is."""

        def __setitem__(self, place, found):
            super().__setitem__(place, (below, -1))

    monkeypatch.setattr(sums, "_LAST", Shared([({}, 0)]))
    assert sums.shared_sign(above) == 1
    assert sums.shared_sign(above) == 1
    assert sums.shared_sign(below) == -1
