r"""Rows of equal steps, and what independent steps of several rows multiply to.

With ``M_r`` of one step of row ``r``, which has ``n_r`` of them, all steps have
:math:`\prod_r M_r^{n_r}`. The numbers in brackets refer to sections of ``docs/theory/rare.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product as pairs
from typing import NamedTuple

from flint import arb

from dpexact.balls import ball
from dpexact.reals import Real


class Row(NamedTuple):
    """``times`` runs of a Gaussian of noise ``sigma`` on Poisson samples of rate ``0 < q < 1``.

    For a ``group`` of records, all removed or all added, or for one that is ``replaced``.
    """

    sigma: Real
    q: Real
    times: int
    group: int = 1
    replaced: bool = False

    @property
    def is_plain(self) -> bool:
        """Whether one record is removed or added."""
        return self.group == 1 and not self.replaced


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
    """``-sum n_r k_r log(1 - q_r)``, by which the losses are lifted.

    The largest loss of adding, and the negative of the least one of removing; where a record is
    replaced neither.
    """
    return -sum((row.times * row.group * (-ball(row.q)).log1p() for row in rows), arb(0))


def chances(row: Row) -> list[arb]:
    """That ``j`` records of a group take part."""
    q, k = ball(row.q), row.group
    return [math.comb(k, j) * q**j * (1 - q) ** (k - j) for j in range(k + 1)]


def total_variation(rows: Sequence[Row]) -> arb:
    """``1 - prod (1 - d_r)^{n_r}``, at least delta everywhere [7].

    Of one step ``d`` is delta at 0, or for groups at least that; the overlaps of independent steps
    are multiplied.
    """
    log = arb(0)
    for row in rows:
        # two laws that are so far apart, and share what no record or the same record adds
        far = (2 if row.replaced else 1) / (arb(8).sqrt() * ball(row.sigma))
        once = sum((p * (j * far).erf() for j, p in enumerate(chances(row))), arb(0))
        log += row.times * (-once).log1p()
    return -log.expm1()


def half_root_of_chi_square(rows: Sequence[Row]) -> arb:
    """``sqrt(prod (1 + q_r^2 (e^{1/sigma_r^2} - 1))^{n_r} - 1) / 2``, also at least delta [7].

    Of sums of many small losses it is near. Groups have the mean of ``e^{ij/sigma^2} - 1``, and
    both sides of a replacement so much against no record.
    """
    log, sides = arb(0), 2 if any(row.replaced for row in rows) else 1
    for row in rows:
        square, mean, law = 1 / ball(row.sigma) ** 2, arb(0), list(enumerate(chances(row)))
        for (i, p), (j, r) in pairs(law, law):
            mean += p * r * (i * j * square).expm1()
        log += row.times * mean.log1p()
    return sides * log.expm1().sqrt() / 2
