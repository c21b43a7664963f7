"""Powers of series, and sums over many nodes as products of polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from flint import acb, acb_poly, arb, fmpz, fmpz_poly

from dpexact.accounting.pairs.pair import integer

Ball = TypeVar("Ball", arb, acb)


class Fixed:
    """A polynomial whose coefficients, of modulus at most 1, are integers over ``2^bits``.

    ``off`` bounds by how much each is off, in units of ``2^-bits``.
    """

    def __init__(self, values: Sequence[acb], bits: int) -> None:
        scale, off = arb(fmpz(1) << bits), arb(0)
        real: list[fmpz] = []
        imag: list[fmpz] = []
        for value in values:
            for part, found in ((value.real, real), (value.imag, imag)):
                found.append(integer((part.mid() * scale).floor()))
                off = arb.max(off, part.rad() * scale)
        self.size, self.bits, self.off = len(values), bits, (2 * (off + 1)).upper()
        self.real = fmpz_poly(real)
        self.imag = fmpz_poly(imag) if any(imag) else None

    def times(self, weights: Sequence[acb]) -> list[acb]:
        """The coefficients of the product with a polynomial, of any coefficients.

        ``|f w - f' w'| <= |f - f'| |w| + |w - w'| (1 + |f - f'|)``, summed over all weights.
        """
        other = Fixed(weights, self.bits)
        unit = 1 / arb(fmpz(1) << self.bits)
        total = sum((w.abs_upper() for w in weights), arb(0))
        one, two = self.off * unit, other.off * unit
        radius = arb(0, (one * total + len(weights) * two * (1 + one)).upper())
        real = self._joined(self.real * other.real, other)
        imag = [fmpz(0)] * len(real)
        if other.imag is not None:
            imag = self._joined(self.real * other.imag, other)
        if self.imag is not None:
            crossed = self._joined(self.imag * other.real, other)
            imag = [a + b for a, b in zip(imag, crossed, strict=True)]
            if other.imag is not None:
                turned = self._joined(self.imag * other.imag, other)
                real = [a - b for a, b in zip(real, turned, strict=True)]
        square = unit * unit
        pairs = zip(real, imag, strict=True)
        return [acb(arb(a) * square + radius, arb(b) * square + radius) for a, b in pairs]

    def _joined(self, product: fmpz_poly, other: Fixed) -> list[fmpz]:
        found: list[fmpz] = product.coeffs()
        return found + [fmpz(0)] * (self.size + other.size - len(found))


def power(series: Sequence[Ball], t: int, k: int) -> Ball:
    """The coefficient of ``x^k`` in the ``t``-th power of a series with a constant term.

    Proposes: which one, the caller says.
    """
    if k == 1:
        return t * series[1] * series[0] ** (t - 1)
    return powers(series, t, k)[k]


def powers(series: Sequence[Ball], t: int, k: int) -> list[Ball]:
    """The coefficients up to that of ``x^k``.

    By ``n f_0 h_n = sum_i (i (t + 1) - n) f_i h_{n-i}``, of which all terms are positive if the
    coefficients are and ``k <= t``; else, or if ``f_0`` may be 0, by repeated squaring.
    Proposes: how they are computed; which, the caller says.
    """
    if k > t or series[0].contains(0):
        return _squared(series, t, k)
    ratios = [f / series[0] for f in series]
    found = [series[0] ** t]
    for n in range(1, k + 1):
        total = 0
        for i in range(1, n + 1):
            total = total + (i * (t + 1) - n) * (ratios[i] * found[n - i])
        found.append(total / n)
    return found


def _squared(series: Sequence[Ball], t: int, k: int) -> list[Ball]:
    """The same by repeated squaring. Proposes: where to cut; lower coefficients need no more."""
    base = acb_poly(list(series[: k + 1]))
    result = acb_poly([1])
    while t:
        if t & 1:
            result = (result * base).truncate(k + 1)
        base = (base * base).truncate(k + 1)
        t >>= 1
    found = result.coeffs()
    found += [acb(0)] * (k + 1 - len(found))
    return [value.real for value in found] if isinstance(series[0], arb) else found


def turned_sums(weights: list[acb], turn: arb, count: int) -> list[acb]:
    """``sum_j weights_j e^{i j n turn}``, ``n = 0 .. count``.

    A convolution with ``e^{i m^2 turn / 2}``, as ``2 n j = n^2 + j^2 - (n - j)^2`` (Bluestein).
    """
    size = len(weights)
    chirp = [acb(0, turn * (m * m) / 2).exp() for m in range(max(size, count + 1))]
    one = acb_poly([w * c for w, c in zip(weights, chirp, strict=False)])
    other = acb_poly([chirp[abs(m - size + 1)].conjugate() for m in range(size + count)])
    product = (one * other).coeffs()
    product += [acb(0)] * (size + count - len(product))
    return [product[n + size - 1] * chirp[n] for n in range(count + 1)]
