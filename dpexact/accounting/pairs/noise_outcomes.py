r"""Outcomes of noises on lattices, some discrete Gaussian, all together: listed once a precision.

Sums of discrete Gaussian noise on one lattice have masses under ``Q`` that are, with a period,

.. math:: Q(X = k) = c(k)\, e^{-k^2/(2V)}, \qquad c(k + K) = c(k), \quad V = K/h,

``K`` the shift of all together and ``h`` the unit of losses (``docs/theory/atoms.md``, section 3).
Floats choose the outcomes that matter at an order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from flint import arb, arb_poly, fmpz_poly

from dpexact.accounting.arrays import Flags, Floats
from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.lattice import OnLattice, Strided, commensurate
from dpexact.accounting.pairs.pair import TooExpensive, integer
from dpexact.balls import UNIT, approximate, approximate_log, ball, current, precision
from dpexact.kept import cached_property
from dpexact.reals import Real

#: Most outcomes that count, and most listed.
MAX_LISTED: Final = 8_000
_MOST: Final = 16_000
#: Beyond the accuracy asked for, in the exponent, and in bits.
GUARD: Final = 12.0
_GUARD_BITS: Final = 32
#: Up to which power of e masses next to 0 are known.
_MOST_FINE: Final = 20_000.0
#: Accuracy at which ways to list are compared.
_TYPICAL: Final = 50.0
#: How much farther than asked for outcomes are listed, for the next who asks.
_ROOM: Final = 1.25
#: Orders share a list up to the next multiple of this, or of so much of themselves.
_ORDERS: Final = 4.0
_SHARE: Final = 0.25
#: And precisions up to the next multiple.
_STRIDE: Final = 64
_SKETCH_BITS: Final = 64
_LN2: Final = math.log(2)


class Listed(NamedTuple):
    """Masses under ``Q`` of outcomes, losses before sampling, and ``log w``.

    ``floats`` are, about, the logarithms of the masses, the losses and ``log w``.
    """

    masses: list[arb]
    losses: list[arb]
    logs: list[arb]
    floats: Floats

    def left(self, total: arb, power: arb) -> arb:
        """``total`` without what is listed of ``E_Q[e^(power l)]``, and at least 0."""
        for mass, loss in zip(self.masses, self.losses, strict=True):
            total -= mass * (power * loss).exp()
        return arb.max(total, arb(0)).upper()

    def some(self, which: Flags) -> Listed:
        """Those of the outcomes."""
        places = np.flatnonzero(which).tolist()
        # proposes: which; whoever asks bounds the rest
        masses, losses, logs = ([row[i] for i in places] for row in self[:3])
        return Listed(masses, losses, logs, self.floats[:, which])


class _Table(NamedTuple):
    """All outcomes of a precision, up to an order and to rare masses, and a bound on masses."""

    up: float
    fine: float
    listed: Listed
    hull: Floats


class NoiseOutcomes:
    """Of ``noises``, each with how often it runs, on one sample of rate ``q``."""

    def __init__(self, noises: tuple[tuple[OnLattice, int], ...], q: Real) -> None:
        self._noises, self._q = noises, q
        self._tables: dict[int, _Table] = {}
        self._known: dict[tuple[float, int], tuple[int, Listed]] = {}

    def log_ratio(self, loss: arb) -> arb:
        """``log w(loss)``."""
        return (ball(self._q) * loss.expm1()).log1p()

    def known(self, order: float, accuracy: float) -> Listed:
        """Those that matter at about that order, kept for others.

        Proposes: which; whoever asks bounds the rest.
        """
        step = 2.0 ** math.ceil(math.log2(max(_ORDERS, abs(order) * _SHARE)))
        # proposes: what is kept by order and accuracy is looked up by both
        key = math.copysign(step * math.ceil(abs(order) / step), order), math.ceil(accuracy / 8)
        bits, found = self._known.get(key, (0, None))
        if found is None or bits < current():
            with precision(-(-current() // _STRIDE) * _STRIDE):
                found = self.chosen(key[0], 8.0 * key[1])
                self._known[key] = current(), found
        return found

    def chosen(self, order: float, accuracy: float) -> Listed:
        """Likewise, at the current precision."""
        table, matter = self._matter(order, accuracy)
        return table.some(matter)

    def sketched(self, order: float, accuracy: float) -> Floats:
        """Likewise, in floats."""
        with precision(_SKETCH_BITS):
            table, matter = self._matter(order, accuracy)
        found: Floats = table.floats[:, matter]
        return found

    def growth(self, power: float) -> float:
        """About ``log (1 - q)^power`` where that is large: far on the left ``w`` is ``1 - q``.

        Proposes: how far outcomes are listed.
        """
        return power * self._stays if power < 0 else 0.0

    @cached_property
    def _stays(self) -> float:
        """About ``log(1 - q)``, where a float ``q`` may be 1."""
        return approximate_log(1 - self._q)

    # --- the table --------------------------------------------------------------------------------

    def _matter(self, order: float, accuracy: float) -> tuple[Listed, Flags]:
        """What is listed at least so far, and which of it is not rare, as it is or tilted so far.

        Proposes: which are listed.

        Raises:
            TooExpensive: too many, or none that floats hold.
        """
        up = max(order, 0.0)
        fine = accuracy + GUARD + self.growth(order) + up * _LN2
        known = self._tables.get(current())
        if known is None or known.up < up or known.fine < fine:
            most = known[:2] if known else (0.0, 0.0)
            wide = max(most[0], _ROOM * up), max(most[1], _ROOM * fine)
            far = wide if _spread(self._lattices, *wide) <= _MOST else (up, fine)
            if not _spread(self._lattices, *far) <= _MOST:
                raise TooExpensive("too many outcomes of discrete noise")
            listed = self._listed(*far)
            if not listed.floats.size:
                raise TooExpensive("no outcome of discrete noise is within the range of floats")
            known = _Table(*far, listed, _hull(*listed.floats[:2]))
            self._tables[current()] = known
        table, hull = known.listed, known.hull
        logs, losses, _ = table.floats
        tilted = logs + up * losses
        inside = losses[(logs > -fine) | (tilted > tilted.max() - fine)]
        # of any order between
        found: Flags = (losses >= inside.min()) & (losses <= inside.max())
        found &= logs > hull - fine
        if not np.count_nonzero(found) < MAX_LISTED:
            raise TooExpensive("too many outcomes of discrete noise")
        return table, found

    def _listed(self, up: float, fine: float) -> Listed:
        masses, losses = [arb(1)], [arb(0)]
        for lattice in self._lattices:
            more = lattice.listed(up, fine)
            masses = [a * b for a in masses for b, _ in more]
            losses = [y + z for y in losses for _, z in more]
        logs = [self.log_ratio(loss) for loss in losses]
        rows = [mass.log() for mass in masses], losses, logs
        about = np.array([[float(x.mid()) for x in row] for row in rows])
        # proposes: what cannot be planned with
        if not np.isfinite(about).all():
            raise TooExpensive("losses that floats do not hold")
        return Listed(masses, losses, logs, about)

    @cached_property
    def _lattices(self) -> list[_Lattice]:
        """All noises on one lattice where that has fewer outcomes, else each on its own."""
        apart = [_Lattice(pair.lattice()[0], [Strided(pair, n, 1)]) for pair, n in self._noises]
        whole = commensurate(self._noises, _MOST)
        joint = [] if whole is None else [[_Lattice(*whole)]]
        return min([*joint, apart], key=lambda found: _spread(found, 0.0, _TYPICAL))


@lru_cache(maxsize=8)
def outcomes_of(noises: tuple[tuple[OnLattice, int], ...], q: Real) -> NoiseOutcomes:
    """Kept, for both directions."""
    return NoiseOutcomes(noises, q)


class _Lattice:
    """Noises whose losses are multiples of ``unit``, but for where they start."""

    def __init__(self, unit: Real, strided: Sequence[Strided]) -> None:
        self._unit = unit
        self._endless = [x for x in strided if isinstance(x.pair, DiscreteGaussian)]
        self._finite = [x for x in strided if not isinstance(x.pair, DiscreteGaussian)]
        #: The period of ``c``, and in floats ``V``.
        self._period = sum(_shift(x) * x.count * x.stride for x in self._endless)
        self._variance = approximate(self._period / unit)
        self._known: tuple[int, list[arb]] = 0, []

    def _ends(self, up: float, fine: float) -> tuple[int, int]:
        """Proposes: the first and the last sum of discrete Gaussian noise that is listed."""
        reach = math.ceil(math.sqrt(2 * self._variance * fine))
        return -reach, math.ceil(up * self._period) + reach

    def width(self, up: float, fine: float) -> int:
        """Proposes: about over how many points the outcomes listed spread."""
        first, last = self._ends(up, fine)
        return last - first + sum(math.ceil(x.extent) for x in self._finite)

    def listed(self, up: float, fine: float) -> list[tuple[arb, arb]]:
        """Masses under ``Q`` and losses."""
        size, offset, law = ball(self._unit), Fraction(0), arb_poly([1])
        for x in self._finite:
            spread = [arb(0)] * (x.stride * (len(x.pair.outcomes()) - 1) + 1)
            spread[:: x.stride] = [q for _, q in x.pair.atoms(0.0)[0]]
            offset += x.count * x.start
            law *= arb_poly(spread) ** x.count
        if self._endless:
            first, last = self._ends(up, fine)
            law *= arb_poly(self._sums(first, last))
            offset += first - Fraction(self._period, 2)
        start = ball(offset)
        masses = enumerate(law.coeffs())
        return [(mass, size * (start + k)) for k, mass in masses if mass > 0]

    def _sums(self, first: int, last: int) -> list[arb]:
        """``c(k) e^(-k^2/(2V))`` between them."""
        if self._known[0] < current():
            self._known = current(), self._factors()
        factors, scale = self._known[1], -ball(self._unit) / (2 * self._period)
        return [factors[k % self._period] * (scale * (k * k)).exp() for k in range(first, last + 1)]

    def _factors(self) -> list[arb]:
        """``c`` over a period: from sums next to 0, each at most what all together lack of 1."""
        period = self._period
        steep = (period // 2) ** 2 * approximate(self._unit) / (2 * period)
        # proposes: how fine; what is left out and rounded down is counted, and what is not seen
        fine = _LN2 * current() + GUARD + math.log1p(self._variance)
        # proposes: likewise
        fine += steep if steep < _MOST_FINE else 0.0
        bits = math.ceil(fine / _LN2) + _GUARD_BITS
        law, first = fmpz_poly([1 << bits]), 0
        for x in self._endless:
            assert isinstance(x.pair, DiscreteGaussian)
            reach = math.ceil(math.sqrt(2 * approximate(x.pair.variance) * fine))
            with precision(bits + _GUARD_BITS):
                scaled = [mass * arb(2) ** bits for mass in x.pair.under_q(-reach, reach)]
                spread = [0] * (x.stride * 2 * reach + 1)
                spread[:: x.stride] = [int(integer(mass.lower().floor())) for mass in scaled]
            one, n = fmpz_poly(spread), x.count
            first -= x.stride * reach * n
            while n:
                law = _down(law * one, bits) if n % 2 else law
                one, n = _down(one * one, bits) if n > 1 else one, n // 2
        with precision(bits + _GUARD_BITS):
            lack = arb((1 << bits) - sum(law.coeffs())) * UNIT
            scale = ball(self._unit) / (2 * period)
            found = [arb(0)] * period
            for k in range(-(period // 2), (period + 1) // 2):
                # proposes: which masses are listed; a sum that occurs in none of these is not
                if law[k - first] > 0:
                    # proposes: nothing; an exact integer
                    mass = law[k - first] + lack
                    found[k % period] = mass / (1 << bits) * (scale * (k * k)).exp()
        return found


def _spread(lattices: Sequence[_Lattice], up: float, fine: float) -> int:
    """Proposes: about how many outcomes there are so far."""
    return math.prod(1 + lattice.width(up, fine) for lattice in lattices)


def _hull(logs: Floats, losses: Floats) -> Floats:
    """The concave majorant of the logarithms, where the losses are.

    Proposes: next to which masses others are rare, however they are tilted.
    """
    ends: list[tuple[float, float]] = []
    for x, y in sorted(zip(losses.tolist(), logs.tolist(), strict=True)):
        while len(ends) > 1 and (ends[-1][1] - ends[-2][1]) * (x - ends[-1][0]) <= (
            y - ends[-1][1]
        ) * (ends[-1][0] - ends[-2][0]):
            ends.pop()
        ends.append((x, y))
    found: Floats = np.interp(losses, *np.array(ends).T)
    return found


def _down(law: fmpz_poly, bits: int) -> fmpz_poly:
    return fmpz_poly([mass >> bits for mass in law.coeffs()])


def _shift(x: Strided) -> int:
    assert isinstance(x.pair, DiscreteGaussian)
    return x.pair.shift
