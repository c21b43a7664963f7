"""Independent answers for the lattice engine: enumeration in fractions, quadrature in mpmath."""

from __future__ import annotations

from fractions import Fraction

from mpmath import mp, mpf

Pair = tuple[Fraction, Fraction]


def product(first: list[Pair], second: list[Pair]) -> list[Pair]:
    """The outcomes of two independent steps."""
    return [(a * c, b * d) for a, b in first for c, d in second]


def repeated(law: list[Pair], count: int) -> list[Pair]:
    result = [(Fraction(1), Fraction(1))]
    for _ in range(count):
        result = product(result, law)
    return result


def on_sample(law: list[Pair], rate: Fraction, add: bool) -> list[Pair]:
    mixed = [((1 - rate) * q + rate * p, q) for p, q in law]
    return [(q, p) for p, q in mixed] if add else mixed


def hockey_stick(law: list[Pair], growth: Fraction) -> Fraction:
    return sum((max(p - growth * q, Fraction(0)) for p, q in law), Fraction(0))


def response(growth: Fraction) -> list[Pair]:
    """Randomised response of ``e^eps = growth``."""
    high, low = growth / (1 + growth), 1 / (1 + growth)
    return [(high, low), (low, high)]


def leak(delta: Fraction) -> list[Pair]:
    """``approx_dp(0, delta)``."""
    return [(1 - delta, 1 - delta), (delta, Fraction(0)), (Fraction(0), delta)]


def laplace_cells(rate: mpf) -> tuple[list[tuple[mpf, mpf]], list[mpf]]:
    """The two atoms ``(loss, P mass)`` of Laplace noise, and the ends of what is between."""
    return [(rate, mpf(1) / 2), (-rate, mp.exp(-rate) / 2)], [-rate, rate]


def laplace_mean(function, rate: mpf, breaks=()) -> mpf:
    """``E_P[function(loss)]`` under Laplace noise; ``breaks`` are kinks of the function."""
    atoms, (low, high) = laplace_cells(rate)
    inside = sorted(b for b in breaks if low < b < high)
    smooth = mp.quad(lambda z: function(z) * mp.exp((z - rate) / 2) / 4, [low, *inside, high])
    return smooth + sum(mass * function(loss) for loss, mass in atoms)


def gaussian_profile(mu: mpf, epsilon: mpf) -> mpf:
    """At any real ``epsilon``."""
    return mp.ncdf(mu / 2 - epsilon / mu) - mp.exp(epsilon) * mp.ncdf(-mu / 2 - epsilon / mu)
