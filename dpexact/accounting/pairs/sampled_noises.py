r"""Noises on lattices, some of endless support, on one Poisson sample.

Outcomes of all of them together are listed, with losses ``l`` and masses under ``Q``; those of
equal loss are one where the lattices fit together. As ``log w`` has a slope in ``l`` between 0 and
1, what a sum leaves out, a set ``R``, adds at most :math:`w(l_0)^p (Q(R) + e^{-p l_0} E_Q[e^{pl};
R])` to a moment of real part ``p``, for any :math:`l_0`; both are differences of what is known and
what is listed (``docs/theory/atoms.md``, section 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce
from operator import mul
from typing import Final

from flint import arb, arb_poly

from dpexact.accounting.pairs.discrete_gaussian import DiscreteGaussian
from dpexact.accounting.pairs.lattice import OnLattice, Strided, commensurate
from dpexact.accounting.pairs.on_sample import OnSample, Rule
from dpexact.accounting.pairs.pair import Masses, TooExpensive
from dpexact.balls import approximate, approximate_log, ball, current, precision
from dpexact.reals import Real

#: Most outcomes listed, and most of one noise looked at.
MAX_LISTED: Final = 800
_MOST: Final = 1_600
#: Beyond the accuracy asked for, in the exponent, and in bits.
_GUARD: Final = 12.0
_MORE_BITS: Final = 64
#: Bits that differences may lose.
_MOST_LOST: Final = 1_000.0
_PLANNING_BITS: Final = 64
_PLANNING_ACCURACY: Final = 20.0
#: Orders share a list up to the next multiple of this, or of so much of themselves.
_ORDERS: Final = 4.0
_SHARE: Final = 0.25
#: And precisions up to the next multiple.
_STRIDE: Final = 64
_LN2: Final = math.log(2)
#: By how much an order may be above the one that is asked for.
_ROUNDED: Final = 2.0**-50


@dataclass(frozen=True)
class Listed:
    """Masses under ``Q`` of outcomes, losses before sampling, and ``log w``."""

    masses: list[arb]
    losses: list[arb]
    logs: list[arb]

    @cached_property
    def floats(self) -> list[tuple[float, float]]:
        """About ``(log mass, log w)``."""
        pairs = zip(self.masses, self.logs, strict=True)
        return [(float(mass.log().mid()), float(log.mid())) for mass, log in pairs]

    def left(self, total: arb, power: arb) -> arb:
        """``total`` without what is listed of ``E_Q[e^(power l)]``, and at least 0."""
        for mass, loss in zip(self.masses, self.losses, strict=True):
            total -= mass * (power * loss).exp()
        return arb.max(total, arb(0)).upper()


@dataclass(frozen=True)
class SampledNoises(OnSample):
    """``noises``, each with how often it runs, all on one sample of rate ``0 < q < 1``.

    Some are discrete Gaussian, all without infinite loss; ``removes`` the record, or adds it.
    """

    noises: tuple[tuple[OnLattice, int], ...]
    q: Real
    removes: bool

    @property
    def reverse(self) -> SampledNoises:
        return SampledNoises(self.noises, self.q, not self.removes)

    def overlap(self) -> arb:
        """``1 - q`` and ``q`` times that of the noises: the laws differ by ``q`` times as much."""
        least = (arb.max(pair.overlap().lower(), arb(0)) ** n for pair, n in self.noises)
        return 1 - ball(self.q) * (1 - reduce(mul, least, arb(1)))

    def largest_loss(self) -> arb | None:
        """Unbounded, or ``-log(1 - q)``."""
        return None if self.removes else -(-ball(self.q)).log1p()

    def atoms(self, tail: float) -> tuple[list[Masses], Masses]:
        # proposes: how many are listed; the masses left out are returned beside
        accuracy = -math.log(tail) if tail > 0 else _LN2 * current()
        listed = self._outcomes(1.0, accuracy)
        outcomes = zip(listed.masses, listed.losses, strict=True)
        pairs = [(b * loss.exp(), b) for b, loss in outcomes]
        left = 1 - sum((a for a, _ in pairs), arb(0)), 1 - sum(listed.masses, arb(0))
        q = ball(self.q)
        found = [((1 - q) * b + q * a, b) for a, b in [*pairs, left]]
        *atoms, left = found if self.removes else [(b, a) for a, b in found]
        return atoms, left

    # --- the rule ---------------------------------------------------------------------------------

    def log_ratio(self, loss: arb) -> arb:
        """``log w(loss)``."""
        return (ball(self.q) * loss.expm1()).log1p()

    def _rule(self, power: arb, top: float, accuracy: float) -> Rule:
        # proposes: how many outcomes are listed; the rest is bounded
        order = float(power.mid())
        with precision(current() + self._lost(order) + _MORE_BITS):
            listed = self.known(order, accuracy)
            error = self._left_out(listed, power)
        return Rule(listed.masses, listed.logs, error * arb(0).union(arb(1)).union(arb(-1)))

    def _left_out(self, listed: Listed, power: arb) -> arb:
        """A bound on ``E_Q[w^power]`` of all other outcomes."""
        missing = listed.left(arb(1), arb(0))
        if power <= 0:
            return ((power * (-ball(self.q)).log1p()).exp() * missing).upper()
        if not power > 0:
            return arb("inf")
        # proposes: an order, which is valid if it is not less, by balls
        order = math.nextafter(float(power.mid()) - 1, math.inf)
        # proposes: likewise
        while not arb(order) + 1 >= power:
            order += max(abs(order), 1.0) * _ROUNDED
        whole = reduce(mul, (pair.moment(order, 0.0) ** n for pair, n in self.noises), arb(1))
        other = arb(order) + 1
        # proposes: the loss at which both bounds count alike
        meet = (whole.log() / other).mid()
        tilted = (-other * meet).exp() * listed.left(whole, other)
        return ((power * self.log_ratio(meet)).exp() * (missing + tilted)).upper()

    def known(self, order: float, accuracy: float) -> Listed:
        """Those that matter at about that order, kept for others.

        Proposes: which; whoever asks bounds the rest.
        """
        step = 2.0 ** math.ceil(math.log2(max(_ORDERS, abs(order) * _SHARE)))
        # proposes: what is kept by order and accuracy is looked up by both
        key = math.copysign(step * math.ceil(abs(order) / step), order), math.ceil(accuracy / 8)
        kept: dict[tuple[float, int], tuple[int, Listed]] = self.__dict__.setdefault("_kept", {})
        bits, found = kept.get(key, (0, None))
        if found is None or bits < current():
            with precision(-(-current() // _STRIDE) * _STRIDE):
                found = self._outcomes(key[0], 8.0 * key[1])
                kept[key] = current(), found
        return found

    def _outcomes(self, order: float, accuracy: float) -> Listed:
        """Likewise, listed anew."""
        up = max(order, 0.0)
        fine = accuracy + _GUARD + self.growth(order) + up * _LN2
        masses, losses = [arb(1)], [arb(0)]
        for unit, strided in self._lattices:
            offset, law, extent = Fraction(0), arb_poly([1]), 0
            for one in strided:
                stride, n = one.stride, one.count
                first, own = _masses(one.pair, up, fine + math.log(n))
                extent += n * stride * (len(own) - 1)
                # proposes: what is too much work
                if extent > _MOST:
                    raise TooExpensive("too many outcomes of discrete noise")
                spread = [arb(0)] * (stride * (len(own) - 1) + 1)
                spread[::stride] = own
                offset += n * (stride * first + one.start)
                law *= arb_poly(spread) ** n
            size, start = ball(unit), ball(offset)
            pairs = [(mass, size * (start + j)) for j, mass in enumerate(law.coeffs()) if mass > 0]
            kept = _kept(pairs, up, fine)
            if not len(kept) * len(masses) < MAX_LISTED:
                raise TooExpensive("too many outcomes of discrete noise")
            masses = [a * b for a in masses for b, _ in kept]
            losses = [y + z for y in losses for _, z in kept]
        return Listed(masses, losses, [self.log_ratio(loss) for loss in losses])

    @cached_property
    def _lattices(self) -> list[tuple[Real, list[Strided]]]:
        """All noises on one lattice where they have one, else each on its own."""
        whole = commensurate(self.noises, MAX_LISTED)
        if whole is not None:
            return [whole]
        return [(pair.lattice()[0], [Strided(pair, n, 1)]) for pair, n in self.noises]

    # --- proposals --------------------------------------------------------------------------------

    def growth(self, power: float) -> float:
        """About ``log (1 - q)^power`` where that is large: far on the left ``w`` is ``1 - q``.

        Proposes: how far outcomes are listed.
        """
        return power * self._stays if power < 0 else 0.0

    @cached_property
    def _stays(self) -> float:
        """About ``log(1 - q)``, where a float ``q`` may be 1."""
        return approximate_log(1 - self.q)

    def _lost(self, order: float) -> int:
        """Proposes: how many bits more make up for those that differences lose."""
        lost = max(order, 0.0) + self.growth(order) / _LN2
        if not lost < _MOST_LOST:
            raise TooExpensive("too many digits of discrete noise are lost")
        return math.ceil(lost)

    def _listed(self, power: float) -> list[tuple[float, float]]:
        # proposes: what is too much work
        if not self.growth(power) < math.inf:
            raise TooExpensive("too many outcomes of discrete noise")
        with precision(_PLANNING_BITS):
            return self.known(power, _PLANNING_ACCURACY).floats

    def line_cost(self, c: float, accuracy: float) -> tuple[int, float]:
        """As many as are listed, about."""
        power = 1 + c if self.removes else -c
        fine = (accuracy + _GUARD + self.growth(power)) / (_PLANNING_ACCURACY + _GUARD)
        return math.ceil(len(self._listed(power)) * math.sqrt(fine)), math.log2(2 + abs(c))


def _masses(pair: OnLattice, power: float, accuracy: float) -> tuple[int, list[arb]]:
    """The index of the first outcome that is listed of one noise, and masses under ``Q``."""
    if isinstance(pair, DiscreteGaussian):
        v = approximate(pair.variance)
        # proposes: how many are listed; whoever asks bounds the rest
        reach = math.ceil(math.sqrt(2 * v * accuracy)) + pair.shift
        last = math.ceil(power * pair.shift) + reach
        # proposes: what is too much work
        if not reach + last < _MOST:
            raise TooExpensive("too many outcomes of discrete Gaussian noise")
        return -reach - pair.shift, pair.under_q(-reach, last)
    return 0, [q for _, q in pair.atoms(0.0)[0]]


def _kept(law: list[tuple[arb, arb]], power: float, accuracy: float) -> list[tuple[arb, arb]]:
    """From the first to the last outcome that is not rare, as they are or tilted."""
    logs = [float(mass.log().mid()) for mass, _ in law]
    tilted = [log + power * float(loss.mid()) for log, (_, loss) in zip(logs, law, strict=True)]
    # proposes: which are too rare to matter
    least = max(tilted) - accuracy
    # proposes: likewise
    found = [i for i, log in enumerate(logs) if log > -accuracy or tilted[i] > least]
    return law[found[0] : found[-1] + 1]
