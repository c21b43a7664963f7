"""A second route: the repaired statements in exact numbers, and what fails without the repair."""

from fractions import Fraction

import sympy

from proofs_checks.prover.enumeration import Draw, hockey_stick
from proofs_checks.prover.numbers import certain
from proofs_checks.steinke.poisson_bound import _mix, _moment
from proofs_checks.steinke.subsampling import _table

WEIGHTS = [Fraction(1, 10), Fraction(1, 2), Fraction(9, 10)]


def pairs(count):
    draw = Draw(7)
    while count:
        p, q = draw.law(3), draw.law(3)
        if all(p.values()) and all(q.values()):
            count -= 1
            yield p, q


def sides(p, q, weight, order):
    """Both sides of Theorem 35 as printed: the reversed moment and the weighted two."""
    mix, other = _mix(weight, p, q), _mix(weight, q, p)
    share = (2 * order - 1) * weight
    ell = share / (share + 3 * (1 - weight))
    first, second = _moment(mix, q, order), _moment(other, p, order)
    return _moment(q, mix, order), (1 - ell) * first + ell * second, first


def test_theorem_35_in_exact_numbers():
    alone = 0
    for p, q in pairs(60):
        for weight in WEIGHTS:
            for order in (2, 3, 4):
                reverse, bound, first = sides(p, q, weight, order)
                assert reverse <= bound
                alone += reverse > first
    assert alone  # the first term of the maximum alone is not enough


def root(x):
    return sympy.sqrt(sympy.Rational(x.numerator, x.denominator))


def test_theorem_35_at_order_three_halves_in_balls():
    def moment(a, b):
        return sum(root(a[x]) ** 3 / root(b[x]) for x in a)

    for p, q in pairs(6):
        for weight in WEIGHTS:
            mix, other = _mix(weight, p, q), _mix(weight, q, p)
            share = 2 * weight
            ell = sympy.Rational(*(share / (share + 3 * (1 - weight))).as_integer_ratio())
            bound = (1 - ell) * moment(mix, q) + ell * moment(other, p)
            if p != q:
                assert certain(moment(q, mix), "<", bound, "Theorem 35 at alpha = 3/2")


def test_the_table_for_fixed_size_samples_by_hockey_sticks():
    half = Fraction(1, 2)

    def sampled(x):
        chance = half * _table((x[0], None)) + half * _table((None, x[1]))
        return {0: chance, 1: 1 - chance}

    p, q = sampled((1, 0)), sampled((0, 0))
    assert hockey_stick(p, q, 2) > 0  # the coordinatewise reading fails at e^eps' = 2
    assert hockey_stick(p, q, Fraction(5, 2)) == 0
