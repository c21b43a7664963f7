"""Theorem 8's constant: both inequalities on a grid, with it and with slightly less."""

from math import comb

import pytest
from mpmath import exp, mp, mpf, ncdf, sqrt

from dpexact.accounting.approximate import theorem_8_constant
from dpexact.errors import InvalidInput


def inverse_tail(p):
    low, high = mpf(-30), mpf(30)
    for _ in range(70):
        middle = (low + high) / 2
        if ncdf(-middle) > p:
            low = middle
        else:
            high = middle
    return low


def normal_curve(mu, alpha):
    if alpha <= 0 or alpha >= 1:
        return mpf(1) if alpha <= 0 else mpf(0)
    return ncdf(inverse_tail(alpha) - mu)


def response_curve(eps, n, alpha):
    """The trade-off function of ``n`` responses from its vertices."""
    high = 1 / (1 + exp(-eps))
    x, y = mpf(0), mpf(1)
    for j in range(n + 1):
        dx = comb(n, j) * (1 - high) ** (n - j) * high**j
        dy = comb(n, j) * high ** (n - j) * (1 - high) ** j
        if x + dx >= alpha:
            return y - dy * (alpha - x) / dx
        x, y = x + dx, y - dy
    return mpf(0)


@pytest.mark.parametrize(("mu", "n"), [(1, 1), (1, 2), (1, 3), (2, 7), ("1/2", 6), (4, 4)])
def test_the_inequalities_of_the_theorem(mu, n):
    found = theorem_8_constant(mu, n, 8)
    with mp.workdps(15):
        m = mpf(eval(str(mu)))

        def worst(c):
            """The largest violation for ``c/n <= alpha <= 1 - c/n``."""
            shift, largest = mpf(c) / n, mpf(-1)
            for step in range(301):
                alpha = shift + (1 - 2 * shift) * step / 300
                value = response_curve(m / sqrt(n), n, alpha)
                largest = max(
                    largest,
                    normal_curve(m, alpha + shift) - shift - value,
                    value - normal_curve(m, alpha - shift) - shift,
                )
            return largest

        c = mpf(float(found.upper))
        assert worst(c) <= mpf(10) ** -7
        assert worst(c * mpf("0.95")) > 0


def test_published_size():
    """About 0.1 suffices for ``mu = 1``; from 0.04 to 0.048 is needed."""
    values = [theorem_8_constant(1, n, 6) for n in (2, 10, 40, 161)]
    assert all(0.04 < float(x.lower) < 0.0478 for x in values)
    assert values[-1].digits >= 6


def test_arguments():
    for arguments in ((0, 5), (1, 0), (1, 10**6)):
        with pytest.raises(InvalidInput):
            theorem_8_constant(*arguments)
