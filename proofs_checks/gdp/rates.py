"""Theorem 8 and its remarks: exact compositions of ``f_{eps,0}`` against ``G_mu``.

The library's exact polygons are compared with ``G_mu`` here by an own criterion: a polygon minus
the convex ``G_mu`` is largest where ``G_mu`` has a segment's slope, smallest at corners.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls
from dpexact.tradeoffs import PiecewiseLinear, f_eps_delta
from dpexact.tradeoffs.functionals import distance_to_gaussian
from dpexact.tradeoffs.noises import normal_cdf, quantile
from dpexact.tradeoffs.numbers import ball, each_ball
from proofs_checks.evidence import Declined
from proofs_checks.prover.enumeration import every
from proofs_checks.prover.goals import step
from proofs_checks.prover.numbers import certain
from proofs_checks.registry import check
from proofs_checks.verdicts import Derivation, argued, argued_on

#: A constant ``c(mu)`` of Theorem 8 for some mu.
CONSTANTS: Final[Mapping[Fraction, Fraction]] = {
    Fraction(1, 2): Fraction(1, 40),
    Fraction(1): Fraction(1, 20),
    Fraction(2): Fraction(1, 10),
}
_DISTANCE: Final = "dpexact.tradeoffs.functionals.distance_to_gaussian"


def composed(n: int, mu: Fraction = Fraction(1)) -> PiecewiseLinear:
    """``f_{eps,0}^n`` with ``n eps^2 = mu^2``."""
    return f_eps_delta(f"{mu}/sqrt({n})", 0) ** n


def within(f: PiecewiseLinear, mu: Fraction, shift: Fraction) -> bool:
    """``G(a + c) - c <= f(a) <= G(a - c) + c`` for all a, with ``G = G_mu``, ``c = shift``.

    Raises:
        Declined: a ball is too wide to decide.
    """
    with balls.precision(128):
        c, mean, alpha, beta = balls.ball(shift), balls.ball(mu), arb(0), arb(1)
        widths = each_ball(atom.p for atom in f.atoms)
        drops = each_ball(atom.q for atom in f.atoms)
        for steepness, width, drop in zip(f.steepness, widths, drops, strict=True):
            if steepness is None:
                raise Declined("a jump at 0: not a composition of pure mechanisms")
            slope = ball(steepness)
            t = slope.log() / mean + mean / 2  # where G_mu has this slope
            line = beta - slope * (normal_cdf(-t) + c - alpha)
            gaps = [line - c - normal_cdf(t - mean)]
            if alpha + c < 1:
                gaps.append(normal_cdf(quantile(alpha + c) - mean) - c - beta)
            for gap in gaps:
                if gap > 0:
                    return False
                if not gap <= 0:
                    raise Declined("the balls are too wide")
            alpha, beta = alpha + width, beta - drop
    return True


@check("gdp.thm8", "gdp.thm8.c01", expects="certified")
def rate(largest: int = 32, constants: Mapping[Fraction, Fraction] = CONSTANTS) -> Derivation:
    """``c(1) = 1/20`` is enough, so 0.1 is too, at each n that was tried; likewise for other mu."""
    members = (
        {"n": n, "mu": mu, "c": c} for mu, c in constants.items() for n in range(1, largest + 1)
    )
    stated = ", ".join(f"c({mu}) = {c}" for mu, c in constants.items())
    return argued_on(
        f"{stated}; all levels, every n <= {largest}",
        every(
            "both inequalities of Theorem 8 at all levels",
            members,
            lambda n, mu, c: within(composed(n, mu), mu, c / n),
        ),
        # G_mu is convex: its lower bound holds between corners
        step("D(-exp(m*t - m^2/2), t) = -m*exp(m*t - m^2/2)", {"m": "real > 0", "t": "real"}),
    )


@check("gdp.thm8.0013", expects="proved", about=(_DISTANCE,), smoke=True)
def ten_steps(bound: Fraction = Fraction(13, 1000)) -> Derivation:
    """The supremum distance of ``f_{1/sqrt 10, 0}^10`` to ``G_1``."""
    return argued(
        "a certified enclosure of the supremum distance",
        certain(distance_to_gaussian(composed(10), 1), "<", bound, "sup |G_1 - f| < 0.013"),
    )


@check("gdp.thm8.inhom", expects="certified", about=(_DISTANCE,))
def two_classes() -> Derivation:
    """Half of the mechanisms have eps, half 2 eps, with ``sum eps_i^2 = 1``."""

    def close(n: int) -> bool:
        eps = f"sqrt(2/(5*{n}))"
        f = f_eps_delta(eps, 0) ** (n // 2) * f_eps_delta(f"2*{eps}", 0) ** (n // 2)
        return bool(distance_to_gaussian(f, 1, digits=6).upper * n < Fraction(1, 5))

    return argued_on(
        "mu = 1, two classes eps and 2 eps of equal size, n = 10, 20, 30, 40: distance < 1/(5 n)",
        every("n times the distance is below 1/5", ({"n": n} for n in (10, 20, 30, 40)), close),
    )
