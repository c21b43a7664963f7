"""Bounds on what the line does not see, where they are almost attained."""

import math

from flint import arb
from mpmath import mp, mpf

from dpexact import balls
from dpexact.accounting.engines.rare.inversion import Masses, far_small, near_large
from dpexact.accounting.engines.rare.rows import lost, product, with_some


def top(ball):
    return balls.to_enclosure(ball).to_mpmath(30)[1]


def test_near_losses_at_the_one_point_where_the_bound_is_attained():
    """Losses of ``z`` each: Chernoff's bound is attained at ``T z - g = log(1 + 1/b)``."""
    with mp.workdps(30), balls.precision(120):
        for b, count in ((0.5, 1), (3.0, 4), (40.0, 7)):
            z, gap = 0.25, count * 0.25 - math.log1p(1 / b)
            moment = (arb(b) * arb(z)).exp()
            bound = top(near_large(arb(b), product([moment], [count]), arb(gap)))
            true = -mp.expm1(mpf(gap) - count * mpf(z))
            assert true * (1 - mpf(10) ** -14) <= bound <= true * (1 + mpf(10) ** -14)


def test_a_far_loss_at_the_one_point_where_the_bound_is_attained():
    """One loss of ``y`` with a tiny mass beside losses of ``z``: ``T p R`` to first order."""
    with mp.workdps(30), balls.precision(160):
        for b, count in ((0.5, 2), (3.0, 4), (40.0, 7)):
            z, y, mass = 0.125, 2.0, mpf(10) ** -18
            gap = (count - 1) * z + y + math.log1p(1 / b)
            far = arb(10) ** -18 * (-(1 + arb(b)) * y).exp()
            whole = (-(1 + arb(b)) * z).exp() + far
            bound = top(far_small(arb(b), with_some([far], [whole], [count]), arb(gap)))
            true = count * mass * mp.expm1(mpf(gap) - (count - 1) * mpf(z) - mpf(y))
            assert true * (1 - mpf(10) ** -14) <= bound <= true * (1 + mpf(10) ** -12)


def test_what_is_known_of_an_event():
    with balls.precision(100):
        known = Masses(arb("0.5"), arb("0.25")).known(arb(2).log())
        assert known.contains(0)


# --- rows -----------------------------------------------------------------------------------------


def test_products_over_rows_as_sums_over_all_steps():
    """Each step of three rows near or not, weighed one by one."""
    parts, wholes, counts = (0.25, 0.5, 0.125), (0.75, 1.5, 0.875), (2, 1, 3)
    steps = [(p, w) for p, w, n in zip(parts, wholes, counts, strict=True) for _ in range(n)]
    every = math.prod(w for _, w in steps)
    without = math.prod(w - p for p, w in steps)
    some = sum(
        p * math.prod(w for other, (_, w) in enumerate(steps) if other != i)
        for i, (p, _) in enumerate(steps)
    )
    with balls.precision(100):
        p, w = ([arb(x) for x in xs] for xs in (parts, wholes))
        assert product(w, counts) == every
        assert abs(float(lost(p, w, counts).mid()) - (every - without)) < 1e-15
        assert abs(float(with_some(p, w, counts).mid()) - some) < 1e-15
        assert with_some(p, w, counts) >= lost(p, w, counts)


def test_what_is_lost_has_the_digits_of_what_is_small():
    with balls.precision(64):
        found = lost([arb(10) ** -40, arb(0)], [arb(1), arb("0.5")], [3, 2])
        assert found.rel_accuracy_bits() > 50
        assert abs(found / (arb(75) / 100 * arb(10) ** -40) - 1) < arb(10) ** -15
