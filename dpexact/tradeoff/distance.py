r"""How far a piecewise-linear trade-off function is from ``G_mu``, certified.

On one linear piece ``f - G_mu`` is concave, because ``G_mu`` is convex. So its supremum is where
``G_mu`` has the slope of the piece, or at the end nearest to that point, and its infimum is at a
vertex: a finite maximum of balls.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from flint import arb

from dpexact import balls
from dpexact.arguments import digits_in, real_in
from dpexact.enclosure import Enclosure
from dpexact.reals import Real, RealLike
from dpexact.tradeoff.convex import violation
from dpexact.tradeoff.gaussian import normal_cdf, quantile
from dpexact.tradeoff.numbers import ball, enclose, sign
from dpexact.tradeoff.piecewise import PiecewiseLinear, identity

METHOD = "exact trade-off function against the Gaussian"


class GaussianGap(NamedTuple):
    """``above`` encloses ``sup (f - G_mu)`` and ``below`` encloses ``sup (G_mu - f)``."""

    above: Enclosure
    below: Enclosure


def gaussian_gap(f: PiecewiseLinear, mu: RealLike, digits: int = 15) -> GaussianGap:
    """Enclose both one-sided sup-norm distances of ``f`` to ``G_mu``, ``mu >= 0``.

    ``below`` is 0 exactly when ``f >= G_mu``: when ``f``-DP implies ``mu``-GDP.

    >>> from dpexact.tradeoff import f_eps_delta
    >>> gap = gaussian_gap(f_eps_delta("1/sqrt(10)", 0) ** 10, 1)
    >>> print(gap.above, gap.below)
    0.0122881705659670... 0.00878367755757906...
    """
    mean, wanted = real_in(mu, "mu", ">= 0"), digits_in(digits)
    if mean.fraction == 0:
        worst = violation(identity(), f)
        below = enclose(worst.excess if worst else Fraction(0), wanted, METHOD)
        return GaussianGap(Enclosure.exact(Fraction(0), METHOD), below)
    sides = (lambda: _largest_gaps(f, mean)[0]), (lambda: _largest_gaps(f, mean)[1])
    return GaussianGap(*(balls.certify(side, wanted, method=METHOD) for side in sides))


def distance_to_gaussian(f: PiecewiseLinear, mu: RealLike, digits: int = 15) -> Enclosure:
    """Enclose the sup-norm distance ``sup |f - G_mu|``, ``mu >= 0``."""
    above, below = gaussian_gap(f, mu, digits)
    low, high = max(above.lower, below.lower), max(above.upper, below.upper)
    return Enclosure(low, high, METHOD)


def _largest_gaps(f: PiecewiseLinear, mean: Real) -> tuple[arb, arb]:
    """``sup (f - G_mu)`` and ``sup (G_mu - f)`` at the current precision; both are ``>= 0``."""
    mu = balls.ball(mean)
    above, below = arb(0), 1 - ball(f.limits_at_zero[1])
    atoms = [atom for atom in f.atoms if sign(atom.p)]
    # t = Phi^-1(1 - alpha) runs from +inf to -inf, which clamp nothing
    ts = [None, *(quantile(ball(v.alpha)) for v in f.vertices[1:-1]), None]
    for (left, right), (start, _), atom in zip(
        pairwise(ts), pairwise(f.vertices), atoms, strict=True
    ):
        alpha, beta = ball(start.alpha), ball(start.beta)
        if left is not None:
            below = below.max(normal_cdf(left - mu) - beta)
        if sign(atom.q) == 0:
            continue  # f = 0 <= G_mu on this piece
        slope = ball(atom.q / atom.p)
        t = slope.log() / mu + mu / 2
        t = t if left is None else t.min(left)
        t = t if right is None else t.max(right)
        height = beta - slope * (normal_cdf(-t) - alpha)
        above = above.max(height - normal_cdf(t - mu))
    return above, below
