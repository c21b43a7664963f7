"""Independent references: exact enumeration, MPFR with directed rounding, mpmath at high precision.

Nothing here imports dpexact.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import product
from math import comb, prod

import gmpy2
from mpmath import mp, mpf

DEFAULT = 0.5
#: Multiplies all test volumes: 0.05 for a quick look, 10 at night.
SCALE = float(os.environ.get("DPEXACT_TEST_SCALE", DEFAULT))


def scaled(volume: int) -> int:
    return max(1, round(volume * SCALE))


Bracket = tuple[Fraction, Fraction]

# --- MPFR with directed rounding ------------------------------------------------------------------


def directed(function: Callable[..., gmpy2.mpfr], *arguments: Fraction, bits: int = 200) -> Bracket:
    """``function`` rounded down and up by MPFR, at dyadic ``arguments`` that fit into ``bits``."""
    ends = []
    for rounding in (gmpy2.RoundDown, gmpy2.RoundUp):
        with gmpy2.context(precision=bits, round=rounding):
            points = [gmpy2.mpfr(a.numerator) / gmpy2.mpfr(a.denominator) for a in arguments]
            ends.append(Fraction(*map(int, function(*points).as_integer_ratio())))
    return ends[0], ends[1]


def gaussian_bracket(mu: Fraction, epsilon: Fraction, bits: int = 300) -> Bracket:
    """``delta(epsilon)`` of ``N(mu, 1)`` against ``N(0, 1)``: MPFR intervals by hand."""
    down = gmpy2.context(precision=bits, round=gmpy2.RoundDown)
    up = gmpy2.context(precision=bits, round=gmpy2.RoundUp)

    def fraction(x: gmpy2.mpfr) -> Fraction:
        return Fraction(*map(int, x.as_integer_ratio()))

    def scaled_erfc(argument: Fraction) -> Bracket:
        """Of ``erfc(argument / sqrt 2)``, which decreases."""
        n, d = gmpy2.mpz(argument.numerator), gmpy2.mpz(argument.denominator)
        low_root, high_root = down.sqrt(gmpy2.mpfr(2)), up.sqrt(gmpy2.mpfr(2))
        if n >= 0:
            low_x = down.div(down.div(n, d), high_root)
            high_x = up.div(up.div(n, d), low_root)
        else:
            low_x = down.div(down.div(n, d), low_root)
            high_x = up.div(up.div(n, d), high_root)
        with down:
            low = gmpy2.erfc(high_x)
        with up:
            high = gmpy2.erfc(low_x)
        return fraction(low), fraction(high)

    near = scaled_erfc(epsilon / mu - mu / 2)
    far = scaled_erfc(epsilon / mu + mu / 2)
    with down:
        growth_low = fraction(gmpy2.exp(down.div(epsilon.numerator, epsilon.denominator)))
    with up:
        growth_high = fraction(gmpy2.exp(up.div(epsilon.numerator, epsilon.denominator)))
    return (near[0] - growth_high * far[1]) / 2, (near[1] - growth_low * far[0]) / 2


# --- exact enumeration ----------------------------------------------------------------------------


def single_pair(base: Fraction, delta: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Masses ``(P, Q)`` of the outcomes of the pair that dominates ``(log(base), delta)``-DP."""
    kept = (1 - delta) / (1 + base)
    zero = Fraction(0)
    outcomes = [(delta, zero), (kept * base, kept), (kept, kept * base), (zero, delta)]
    return [pair for pair in outcomes if pair != (zero, zero)]


def product_pair(
    pairs: Iterable[list[tuple[Fraction, Fraction]]],
) -> list[tuple[Fraction, Fraction]]:
    """All outcomes of independent experiments, none merged."""
    return [(prod(p for p, _ in row), prod(q for _, q in row)) for row in product(*pairs)]


def hockey_stick(outcomes: list[tuple[Fraction, Fraction]], level: Fraction) -> Fraction:
    return sum((max(p - level * q, Fraction(0)) for p, q in outcomes), Fraction(0))


def hockey_stick_over_events(
    outcomes: list[tuple[Fraction, Fraction]], level: Fraction
) -> Fraction:
    """The largest ``P(S) - level Q(S)`` over every one of the ``2^n`` events ``S``."""
    gains = [Fraction(0)]
    for p, q in outcomes:
        gain = p - level * q
        gains += [earlier + gain for earlier in gains]
    return max(gains)


def optimal_exact(base: Fraction, delta: Fraction, count: int, level: Fraction) -> Fraction:
    """Optimal composition as a sum over the number of 'true' answers, in fractions."""
    total = Fraction(0)
    for j in range(count + 1):
        gain = base**j - level * base ** (count - j)
        total += comb(count, j) * max(gain, Fraction(0))
    return 1 - (1 - delta) ** count * (1 - total / (1 + base) ** count)


def printed_theorem(base: Fraction, delta: Fraction, count: int, i: int) -> Fraction:
    """Kairouz, Oh, Viswanath (2017), Theorem III.3 as printed, at ``eps' = (k - 2i) eps``."""
    total = sum(
        comb(count, j) * (base ** (count - j) - base ** (count - 2 * i + j)) for j in range(i)
    )
    return 1 - (1 - delta) ** count * (1 - Fraction(total) / (1 + base) ** count)


# --- mpmath at high precision ---------------------------------------------------------------------


def to_fraction(x: mpf) -> Fraction:
    sign, mantissa, exponent, _ = x._mpf_
    return (-1) ** sign * int(mantissa) * Fraction(2) ** exponent


def to_mpf(x: Fraction) -> mpf:
    return mpf(x.numerator) / x.denominator


def with_infinite_loss(delta: mpf, count: int, finite: mpf) -> mpf:
    """``1 - (1 - delta)^count (1 - finite)`` without cancellation."""
    if delta == 1:
        return mpf(1)
    lost = -mp.expm1(count * mp.log1p(-delta))
    return lost + (1 - lost) * finite


def optimal_by_sum(eps: mpf, delta: mpf, count: int, epsilon: mpf) -> mpf:
    """Optimal composition by summing the positive terms from the top, at mpmath's precision."""
    p_term = (1 / (1 + mp.exp(-eps))) ** count  # all answers true, under P
    loss = count * eps
    total = mpf(0)
    odds = mp.exp(-eps)
    step = mp.exp(-2 * eps)
    factor = mp.exp(epsilon - loss)  # level * Q / P of the current outcome
    for j in range(count, -1, -1):
        if factor >= 1:
            break
        total += p_term * (1 - factor)
        if j:
            p_term = p_term * j / (count - j + 1) * odds
            factor /= step
    return with_infinite_loss(delta, count, total)


def binomial_tail_by_quadrature(count: int, m: int, success: mpf) -> mpf:
    """``Pr[Bin(count, success) >= m]`` as an integral of the beta density."""
    mode = mpf(m - 1) / (count - 1)
    width = mp.sqrt(mode * (1 - mode) / count)
    log_norm = mp.loggamma(count + 1) - mp.loggamma(m) - mp.loggamma(count - m + 1)

    def density(x: mpf) -> mpf:
        return mp.exp(log_norm + (m - 1) * mp.log(x) + (count - m) * mp.log(1 - x))

    drop = mp.sqrt(2 * mp.prec * mp.log(2)) + 2  # where the density is below the last digit
    if success <= mode:
        points = [max(mpf(0), success - width * drop * i / 8) for i in range(9)]
        return mp.quad(density, sorted(set(points)))
    points = [min(mpf(1), success + width * drop * i / 8) for i in range(9)]
    return 1 - mp.quad(density, sorted(set(points)))


def gaussian_delta(mu: mpf, epsilon: mpf) -> mpf:
    """Balle and Wang (2018), Theorem 8, through mpmath's erfc."""
    root = mp.sqrt(2)
    near = mp.erfc((epsilon / mu - mu / 2) / root)
    far = mp.erfc((epsilon / mu + mu / 2) / root)
    return (near - mp.exp(epsilon) * far) / 2


def mixed_by_quadrature(mu: mpf, eps: mpf, count: int, delta: mpf, epsilon: mpf) -> mpf:
    """A Gaussian with ``count`` responses: the hockey-stick integral, outcome by outcome."""
    total = mpf(0)
    for j in range(count + 1):
        p = comb(count, j) * mp.exp(j * eps) / (1 + mp.exp(eps)) ** count
        q = comb(count, j) * mp.exp((count - j) * eps) / (1 + mp.exp(eps)) ** count
        start = (
            epsilon - (2 * j - count) * eps
        ) / mu + mu / 2  # where p phi(z-mu) = level q phi(z)

        def gain(z: mpf, p: mpf = p, q: mpf = q) -> mpf:
            return p * mp.npdf(z, mu, 1) - mp.exp(epsilon) * q * mp.npdf(z)

        ends = [start] + [x for x in (mu - 8, mu, mu + 8) if x > start]
        total += mp.quad(gain, [*ends, max(start, mu) + 40])
    return with_infinite_loss(delta, count, total)
