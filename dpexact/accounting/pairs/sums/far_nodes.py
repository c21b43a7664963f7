r"""The far nodes of a line, some millions, of laws with atoms: in floats, with their errors.

With ``Phi(u) = prod (M_i(c + iu)/L_i)^(n_i)``, ``L_i`` about ``M_i(c)``, and ``s = c + iu``

.. math:: F_v(\varepsilon) = \sum_{near < n < N} \frac{\Phi(nh)}{s_n (s_n + 1)}\,
          e^{-v (nh)^2/2 - i n h \varepsilon}.

A moment is a sum of exponentials at equally spaced heights, so a product of two matrices in
binary64; powers of it carry their errors along. What floats lose is proved in
``docs/theory/atoms.md``, section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

import numpy as np
from flint import acb, arb

from dpexact.accounting.arrays import Complexes, Floats
from dpexact.accounting.pairs.pair import Pair, TooExpensive, Turns
from dpexact.accounting.pairs.sums.power_sums import powers
from dpexact.balls import precision

_Array = TypeVar("_Array", Floats, Complexes)

#: Nodes of a row and rows of a chunk; ``ROW`` is a square.
ROW: Final = 256
CHUNK: Final = ROW * ROW
_ROOT: Final = 16
#: Of a number below :data:`ROW` to the base 4.
_DIGITS: Final = 4
#: Most chunks times outcomes looked at, where a chunk takes as much besides as many outcomes; and
#: most chunks kept, which is foreseen after a glance.
MAX_WORK: Final = 120_000
_BESIDES: Final = 200
MAX_KEPT: Final = 384
_GLANCE: Final = 20
#: Most outcomes of a pair, and most runs.
_MAX_OUTCOMES, _MAX_RUNS = 1 << 13, 1 << 30
#: Rows of a product of matrices at once, and :data:`ROW` columns, which are few multiplications;
#: and points at once.
_AT_ONCE, _POINTS = 8, 16
#: For angles of many turns.
_BITS: Final = 192
_ACCURACY: Final = 32.0
#: A bound on a product of complex floats or on a turn that is rounded, relative.
_PRODUCT: Final = 2.0**-50
#: To how much a turn is to be known.
_KNOWN: Final = arb(2.0**-54)
#: More than all roundings of a positive number, and than a few, relative; and than what underflows.
_UP: Final = 1 + 2.0**-20
_JUST: Final = 1 + 2.0**-45
_TINY: Final = 1e-150
#: Abscissas and heights are below this, and the step above its inverse: fourth powers are floats.
_REACH: Final = 1e50
#: What floats lose of a sum over nodes, next to the sum of the moduli.
LOST: Final = 2.0**-41
#: Weights of outcomes that are left out, together, next to their sum.
_LITTLE: Final = 2.0**-54
#: Powers below this are bounded by it.
_NOTHING: Final = 2.0**-90


class Moments(NamedTuple):
    """Values at a chunk of nodes, bounds on their moduli, and on how far off they are."""

    values: Complexes
    most: Floats
    off: Floats

    def __mul__(self, other: Moments) -> Moments:  # type: ignore[override]
        """The product, of values and of what they stand for."""
        most = self.most * other.most
        off = self.off * (other.most + other.off) + other.off * self.most + _PRODUCT * most
        return Moments(self.values * other.values, most * _UP, off * _UP + _TINY)

    def power(self, count: int) -> Moments:
        """By repeated squaring."""
        if count == 1:
            return self
        bound = _power(self.most + self.off, count - 1)
        off = count * (self.off + 2 * _PRODUCT) * bound
        return Moments(_power(self.values, count), self.most * bound * _UP, off * _UP + _TINY)


def _power(values: _Array, count: int) -> _Array:
    found = values
    for bit in bin(count)[3:]:
        found = found * found
        if bit == "1":
            found *= values
    return found


def lost_of(outcomes: int) -> float:
    """What floats lose of a sum of so many exponentials, next to the sum of their moduli."""
    return (3 * outcomes + 64) * 2.0**-52


class Factor:
    """The moments of one pair over ``level``, chunk by chunk, at multiples of ``step``.

    Raises:
        TooExpensive: the moments are beyond floats, or there are too many outcomes.
    """

    def __init__(self, pair: Pair, c: float, step: float, chunks: int) -> None:
        with precision(_BITS):
            terms, error = pair.exponentials(c, step * chunks * CHUNK, _ACCURACY)
            total = sum((weight for weight, _ in terms), acb(0))
            #: About the moment at ``c``, exactly.
            self.level: arb = total.real.mid()
            # proposes: what is too much work
            if not (len(terms) <= _MAX_OUTCOMES and self.level > 0):
                raise TooExpensive("the moments are not known well enough to be summed in floats")
            terms, dropped = _kept([(weight / self.level, loss) for weight, loss in terms])
            weights = [weight for weight, _ in terms]
            self._weights = np.array([_float(weight) for weight in weights])
            pairs = zip(weights, self._weights.tolist(), strict=True)
            unknown = 2 * error.abs_upper() / self.level + dropped
            lost = sum((abs(weight - acb(share)) for weight, share in pairs), unknown)
            #: No modulus is above that on the axis.
            self.most: arb = abs(sum(weights, acb(0))) + unknown
            lost += lost_of(len(terms)) * (1 + sum((abs(weight) for weight in weights), arb(0)))
            # proposes: nothing; what is not known to be small is refused
            known = lost < 1 and self.most + lost < 1.5 and np.isfinite(self._weights).all()
            # proposes: likewise, or where a term may grow
            if not (known and all(loss.imag >= 0 for _, loss in terms)):
                raise TooExpensive("the moments are not known well enough to be summed in floats")
            #: What floats lose of a value, and what is not known of it.
            self.lost: float = float(lost.upper()) * _UP
            angles = [arb(step) * loss for _, loss in terms]
            near, leaps = _fine([(acb(0, 1) * angle).exp() for angle in angles])
            middle, _ = _fine(leaps)
            self._angles = [CHUNK * angle for angle in angles]
        self._middle = middle.T
        self._baby = np.concatenate([near.real, near.imag])

    def chunk(self, index: int) -> Moments:
        """At the nodes from ``index`` times :data:`CHUNK` on, a row each of :data:`ROW`."""
        with precision(_BITS):
            first = np.array([turn_of(index * angle) for angle in self._angles])
        giant = self._middle * (first * self._weights)
        values = np.empty((ROW, ROW), dtype=np.complex128)
        values.real = self._summed(np.concatenate([giant.real, -giant.imag], axis=1))
        values.imag = self._summed(np.concatenate([giant.imag, giant.real], axis=1))
        most = np.sqrt(values.real**2 + values.imag**2) * _JUST + _TINY
        return Moments(values, most, np.full((ROW, ROW), self.lost))

    def _summed(self, giant: Floats) -> Floats:
        """The product of matrices, of few rows and columns: a large one waits for others."""
        found = np.zeros((ROW // _AT_ONCE, _AT_ONCE, ROW))
        for i in range(0, len(self._baby), ROW):
            part = giant[:, i : i + ROW].reshape(len(found), _AT_ONCE, -1)
            found += part @ self._baby[i : i + ROW]
        return found.reshape(ROW, ROW)


def _kept(terms: Turns) -> tuple[Turns, arb]:
    """All but the least weights, and a bound on those. Proposes: which; floats lose far more."""
    sizes = np.array([float(abs(weight).mid()) for weight, _ in terms])
    order = np.argsort(sizes)
    least = min(int(np.searchsorted(np.cumsum(sizes[order]), _LITTLE)), len(order) - 1)
    dropped = sum((terms[i][0].abs_upper() for i in order[:least]), arb(0))
    return [terms[i] for i in np.sort(order[least:])], dropped


class FarNodes:
    """The sums ``F_v`` of one line for each ``v`` of ``variances``, at any ``epsilon``.

    The line has its abscissa, its step, and the last of the nodes that are left to others.

    Raises:
        TooExpensive: there are too many.
    """

    def __init__(
        self,
        factors: Sequence[tuple[Pair, int]],
        line: tuple[float, float, int],
        variances: Sequence[float],
        chunks: int,
    ) -> None:
        self.abscissa, self.step, near = line
        self.count = chunks * CHUNK
        work = chunks * sum(_BESIDES + pair.line_cost(self.abscissa, 0.0)[0] for pair, _ in factors)
        runs = max(n for _, n in factors)
        # proposes: what is too much work
        if not (0 < work <= MAX_WORK and near < CHUNK and runs <= _MAX_RUNS):
            raise TooExpensive("too many nodes to be summed in floats")
        largest = max(self.abscissa, self.count * self.step)
        # proposes: nothing; what floats mean exactly is refused where their powers would overflow
        if not (self.step > 1 / _REACH and self.abscissa > 0 and largest < _REACH):
            raise TooExpensive("heights beyond the reach of floats")
        pairs = [(Factor(pair, self.abscissa, self.step, chunks), n) for pair, n in factors]
        with precision(_BITS):
            #: ``prod L_i^(n_i)``, and a bound on the moduli of all nodes next to it.
            self.level, self.most = arb(1), arb(1)
            for factor, n in pairs:
                self.level *= factor.level**n
                self.most *= factor.most**n
        self._places: list[int] = []
        self._error = 0.0
        self._blurs = [_Falling(v, self.step) for v in variances]
        self._kept: list[Complexes] = []
        numbers = np.arange(CHUNK, dtype=np.float64).reshape(ROW, ROW)
        for index in range(chunks):
            moments = self._moments(pairs, index)
            heights = (index * CHUNK + numbers) * self.step
            weights = 1 / np.maximum(heights, self.step) ** 2
            if index == 0:
                weights.reshape(-1)[: near + 1] = 0.0
            if moments is None:
                self._error += float(np.sum(weights)) * _NOTHING * float(self.most.upper()) * _UP
                continue
            blurs = [blur.chunk(index) for blur in self._blurs]
            share = moments.off + LOST * (moments.most + moments.off)
            widest = np.maximum.reduce(blurs) + _TINY**2
            self._error += float(np.sum(share * widest * weights)) * _UP + _TINY
            values = moments.values * self._kernel(heights)
            if index == 0:
                values.reshape(-1)[: near + 1] = 0.0
            self._places.append(index)
            # proposes: what is too much work, also soon, by the share that was kept so far
            kept = len(self._places)
            likely = kept * chunks / (index + 1) if index > _GLANCE else 0.0
            if max(kept, likely * 4 / 5) > MAX_KEPT:
                raise TooExpensive("too many nodes to be kept")
            self._kept.append(values)

    @property
    def error(self) -> arb:
        """How far off each sum is at most."""
        return arb(self._error * _UP)

    def at(self, epsilons: Sequence[arb], which: int) -> list[arb]:
        """The real parts of the sums of one of the variances, but for the error.

        Raises:
            TooExpensive: an epsilon is not known well enough for so many turns.
        """
        found = []
        for start in range(0, len(epsilons), _POINTS):
            found += self._at(epsilons[start : start + _POINTS], which)
        return found

    def _at(self, epsilons: Sequence[arb], which: int) -> list[arb]:
        with precision(_BITS):
            turns = [acb(0, -arb(self.step) * epsilon).exp() for epsilon in epsilons]
            near, leaps = _fine(turns)
            middle, leaps = _fine(leaps)
            last = self._places[-1] + 1 if self._places else 0
            far = [powers(leap, last) for leap in leaps]
            totals = [acb(0)] * len(epsilons)
            for place, values in zip(self._places, self._kept, strict=True):
                blurred = values * self._blurs[which].chunk(place)
                # of few rows at a time, as above
                sums = (blurred.reshape(-1, _AT_ONCE, ROW) @ near.T).reshape(ROW, -1)
                found = np.einsum("pa,ap->p", middle, sums).tolist()
                for i, value in enumerate(found):
                    totals[i] += far[i][place] * acb(value.real, value.imag)
            return [total.real for total in totals]

    def _moments(self, pairs: Sequence[tuple[Factor, int]], index: int) -> Moments | None:
        """Of the product; None where those of some factors are all below :data:`_NOTHING`."""
        found, bound = None, arb(1)
        for factor, n in pairs:
            moments = factor.chunk(index)
            bound *= (arb(float(np.max(moments.most))) + arb(factor.lost)) ** n
            # proposes: nothing; what is so small is bounded
            if bound.upper() < _NOTHING:
                return None
            power = moments.power(n)
            found = power if found is None else found * power
        return found

    def _kernel(self, heights: Floats) -> Complexes:
        """``1/(s (s + 1))``."""
        c = self.abscissa
        real, imag = c * (c + 1) - heights * heights, (2 * c + 1) * heights
        size = 1 / (real * real + imag * imag)
        found = np.empty(heights.shape, dtype=np.complex128)
        found.real, found.imag = real * size, -imag * size
        return found


class FarSum:
    """What the far nodes add to delta blurred by ``variance``, one of theirs."""

    def __init__(self, nodes: FarNodes, which: int, variance: float) -> None:
        self._nodes, self._which, self._variance = nodes, which, variance

    def at(self, epsilons: Sequence[arb]) -> list[arb]:
        """``(h/pi) Re sum M(s_n) e^{-s_n eps}/(s_n (s_n + 1))`` at each, as floats have it."""
        c, v = arb(self._nodes.abscissa), arb(self._variance)
        scale = arb(self._nodes.step) / arb.pi() * self._nodes.level * (v * c * (c + 1) / 2).exp()
        with precision(_BITS):
            shifted = [epsilon - v * (2 * c + 1) / 2 for epsilon in epsilons]
        totals = self._nodes.at(shifted, self._which)
        pairs = zip(epsilons, totals, strict=True)
        return [scale * (-c * epsilon).exp() * total for epsilon, total in pairs]

    def left_out(self, count: int) -> arb:
        r""":math:`h N \sum_n h |M(s_n)|/(nh)^2` of the rest at most, ``N = count``.

        That is what floats lost, and the nodes beyond all that were summed.
        """
        nodes, v, c = self._nodes, arb(self._variance), arb(self._nodes.abscissa)
        end = nodes.count - 1
        height = end * arb(nodes.step)
        lost = nodes.error * arb(nodes.step) ** 2 + nodes.most * (-v * height**2 / 2).exp() / end
        return nodes.level * (v * c * (c + 1) / 2).exp() * lost * count


class _Falling:
    """``e^{-v u^2/2}`` at the nodes of a chunk."""

    def __init__(self, variance: float, step: float) -> None:
        with precision(_BITS):
            self._half = arb(variance) * arb(step) ** 2 / 2
            row = [self._exp(ROW * ROW * a * a) for a in range(ROW)]
            near = [self._exp(b * b) for b in range(ROW)]
            # of a times b by the digits of both
            high, middle, low = (self._products(2 * ROW * unit) for unit in (ROW, _ROOT, 1))
        mixed = high[:, None, :, None] * middle[:, None, None, :]
        mixed = (mixed * middle[:, :, None] * low[:, None, :]).reshape(ROW, ROW)
        self._within = mixed * np.array(row)[:, None] * np.array(near)
        self._starts: dict[int, tuple[Floats, Floats]] = {}

    def _exp(self, square: int) -> float:
        return float((-self._half * square).exp().mid())

    def chunk(self, index: int) -> Floats:
        """The chunk from ``index`` times :data:`CHUNK` on."""
        # proposes: nothing; what is kept by place
        if index not in self._starts:
            cross = 2 * index * CHUNK
            with precision(_BITS):
                start = self._exp((index * CHUNK) ** 2)
                rows, near = self._geometric(cross * ROW), self._geometric(cross)
            self._starts[index] = (start * rows)[:, None], near
        rows, near = self._starts[index]
        found: Floats = self._within * rows * near
        return found

    def _products(self, square: int) -> Floats:
        """The powers of ``a`` times ``b``, each below :data:`_ROOT`."""
        digits = range(_ROOT)
        return np.array([[self._exp(square * a * b) for b in digits] for a in digits])

    def _geometric(self, square: int) -> Floats:
        """The powers below :data:`ROW`."""
        low = np.array([self._exp(square * b) for b in range(_ROOT)])
        high = np.array([self._exp(square * _ROOT * b) for b in range(_ROOT)])
        found: Floats = np.outer(high, low).ravel()
        return found


def turn_of(angle: arb | acb) -> complex:
    """``e^{i angle}``, ``Im angle >= 0``, in floats, each part off by an ulp of 1 at most."""
    return _rounded((acb(0, 1) * angle).exp())


def _float(value: acb) -> complex:
    """About it. Proposes: nothing; how far off it is is counted."""
    return complex(float(value.real.mid()), float(value.imag.mid()))


def _rounded(turn: acb) -> complex:
    """A number of modulus at most 1 in floats, off by less than ``2^-51``.

    Raises:
        TooExpensive: it is not known as well.
    """
    if not (turn.real.rad() + turn.imag.rad() < _KNOWN):
        raise TooExpensive("heights are too large to turn by")
    return _float(turn)


def _fine(turns: Sequence[acb]) -> tuple[Complexes, list[acb]]:
    """``turn^k`` for each ``k < ROW``, as products of four, one for a digit; and ``turn^ROW``."""
    digits, leaps = [], []
    for turn in turns:
        own = []
        for _ in range(_DIGITS):
            square = turn * turn
            own.append([1.0, *(_rounded(power) for power in (turn, square, square * turn))])
            turn = square * square
        digits.append(own)
        leaps.append(turn)
    found, *higher = np.array(digits).transpose(1, 0, 2)
    for level in higher:
        found = (level[:, :, None] * found[:, None, :]).reshape(len(turns), -1)
    return found, leaps
