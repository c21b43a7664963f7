r"""Rows of equal steps, and what independent steps of several rows multiply to.

With ``M_r`` of one step of row ``r``, which has ``n_r`` of them, all steps have
:math:`\prod_r M_r^{n_r}`. The numbers in brackets refer to sections of ``docs/theory/rare.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flint import arb

from dpexact.balls import ball
from dpexact.reals import Real


class Row(NamedTuple):
    """``times`` runs of a Gaussian of noise ``sigma`` on Poisson samples of rate ``0 < q < 1``."""

    sigma: Real
    q: Real
    times: int


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def product(values: Sequence[arb], counts: Sequence[int]) -> arb:
    """``prod M_r^{n_r}`` [6]."""
    found = arb(1)
    for value, count in zip(values, counts, strict=True):
        found *= value**count
    return found


def with_some(parts: Sequence[arb], wholes: Sequence[arb], counts: Sequence[int]) -> arb:
    """``sum_r n_r P_r W_r^{n_r - 1} prod_{s != r} W_s^{n_s}``, for ``W_r > 0`` [6].

    At least the moment of the outcomes with some step in a part, where those of one step are at
    most ``P_r`` there and ``W_r`` as a whole.
    """
    terms = zip(parts, wholes, counts, strict=True)
    return product(wholes, counts) * sum((n * part / whole for part, whole, n in terms), arb(0))


def lost(parts: Sequence[arb], wholes: Sequence[arb], counts: Sequence[int]) -> arb:
    """``prod W_r^{n_r} - prod (W_r - P_r)^{n_r}``, with the digits of small parts [7]."""
    terms = zip(parts, wholes, counts, strict=True)
    logs = sum((n * (-part / whole).log1p() for part, whole, n in terms), arb(0))
    return -product(wholes, counts) * logs.expm1()


def largest_added(rows: Sequence[Row]) -> arb:
    """``-sum n_r log(1 - q_r)``, also the negative of the least loss of removing."""
    return -sum((times * (-ball(q)).log1p() for _, q, times in rows), arb(0))


def total_variation(rows: Sequence[Row]) -> arb:
    """``1 - prod (1 - q_r (2 Phi(1/(2 sigma_r)) - 1))^{n_r}``, at least delta everywhere.

    Of one step it is delta at 0; the overlaps of independent steps are multiplied.
    """
    log = arb(0)
    for sigma, q, times in rows:
        once = ball(q) * (1 / (arb(8).sqrt() * ball(sigma))).erf()
        log += times * (-once).log1p()
    return -log.expm1()


def half_root_of_chi_square(rows: Sequence[Row]) -> arb:
    """``sqrt(prod (1 + q_r^2 (e^{1/sigma_r^2} - 1))^{n_r} - 1) / 2``, also at least delta [7].

    Of sums of many small losses it is near.
    """
    log = arb(0)
    for sigma, q, times in rows:
        log += times * (ball(q) ** 2 * (1 / ball(sigma) ** 2).expm1()).log1p()
    return log.expm1().sqrt() / 2
