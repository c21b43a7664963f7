"""Moments of many sampled Gaussians by one trapezoidal rule: all nodes of a box at once.

With ``w`` the logarithm of the likelihood ratio of the Gaussian, ``v = sigma^2``, and ``A = 1 +
q (e^w - 1)``, a moment is

    E_v[A^t] = Int g_v(w) A^t dw,   g_v(w) = sqrt(v/(2 pi)) e^{-v (w + 1/(2v))^2/2}.

The density knows the noise only and the power the rate only: so at common places ``w`` the moments
of all rates and all noises are a product of matrices. Proofs are in ``docs/theory/logs.md``,
section 7, whose formulas the numbers in brackets are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
from flint import acb, arb, arb_mat

from dpexact.accounting.arrays import Floats
from dpexact.accounting.pairs.fixed_powers import MOST, power_sums
from dpexact.accounting.pairs.mixture_sums import geometric_tail
from dpexact.accounting.pairs.pair import TooExpensive, short
from dpexact.balls import approximate, ball, precision
from dpexact.reals import Real

_Rows: TypeAlias = Sequence[Sequence[Any]]
_T = TypeVar("_T")

#: The largest share of the strip of analyticity, whose half width is pi, that is used.
_EDGE: Final = 0.98
_FRACTIONS: Final = np.linspace(0.02, 1.0, 50)
_BELOW: Final = np.linspace(0.0, 1.0, 26)
#: By how much noises of one rule differ at most.
_ALIKE: Final = 2.5
#: Bits beyond those of integers, in which what is rounded to these is known.
_SPARE_BITS: Final = 40
#: Accuracy beyond what is asked, for what few nats matter to.
_SPARE: Final = 1.0


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def strip_above(v: arb, least: arb, shift: arb, top: arb, spacing: arb) -> arb:
    """What the strip from ``shift`` to ``top`` leaves of a rule, next to the moment [5].

    ``least`` is the power of ``A``, or 0 if that is positive.
    """
    return growth(v, least, top) / (2 * arb.pi() * (top - shift) / spacing).expm1()


def strip_below(v: arb, least: arb, shift: arb, bottom: arb, spacing: arb, height: arb) -> arb:
    """Likewise from ``-bottom``, where ``A`` may turn by as much, for ``Im t <= height`` [5]."""
    turned = (height * bottom).exp()
    return turned * growth(v, least, bottom) / (2 * arb.pi() * (shift + bottom) / spacing).expm1()


def strip_modulus(v: arb, least: arb, shift: arb, edge: arb, spacing: arb) -> arb:
    """Of the modulus of the integrand at ``Im w = shift``, by ``edge`` on both sides [6]."""
    lift = (v * (shift * shift + edge * edge) / 2).exp() * (((shift + edge) / 2).cos()) ** least
    return 2 * lift / (2 * arb.pi() * edge / spacing).expm1()


def growth(v: arb, least: arb, height: arb) -> arb:
    """How much larger the modulus of the integrand is at ``Im w = height`` at most [5]."""
    return (v * height * height / 2).exp() * ((height / 2).cos()) ** least


class Rule(NamedTuple):
    """Places ``w = j spacing + i shift``, ``first <= j <= last``; a strip up to ``top`` and down.

    Any is valid if its strip is one of analyticity.
    """

    shift: float
    top: float
    bottom: float
    spacing: float
    first: int
    last: int


class Nodes:
    """Pairs of rates and noises: of the ``i``-th rate the first ``rows[i]`` noises.

    ``power`` is the real part of ``t``, the same for all; ``moment`` is at least ``E_v[A^power]``
    of each pair.
    """

    def __init__(
        self,
        rates: Sequence[Real],
        noises: Sequence[Real],
        rows: Sequence[int],
        power: arb,
        moment: arb,
    ) -> None:
        self._rates = rates
        self._rows, self._power, self._moment = rows, power, moment
        self._least = arb.min(power, arb(0))
        self._noises = noises
        about = [approximate(noise) for noise in noises]
        # proposes: rules
        self._about = [noise * noise for noise in about]
        self._groups = _alike(about)
        balls = [ball(rate) for rate in rates]
        self._largest = reduce(arb.max, balls)
        if not (self._largest < 1 and all(rate > 0 for rate in balls)):
            raise ValueError("a rate is not between 0 and 1")

    def lines(self, step: float, count: int, accuracy: float) -> list[list[acb]]:
        """``E_v[A^t]`` at ``t = power + i n step``, ``n <= count``: by rates, then noises [5]."""
        height, turn, fine = arb(step) * count, acb(0, arb(step)), self._fine(accuracy)
        # proposes: precisions; balls hold what is lost at any
        wanted = math.ceil(fine / math.log(2) + math.log2(6 * (count + 1)))
        spare = _SPARE_BITS + math.frexp(abs(float(self._power.mid())))[1]

        def sums(group: Sequence[int], rule: Rule, inside: Sequence[int]) -> Sequence[_Rows]:
            with precision(wanted + spare):
                densities, waves = self._at(group, rule, _density)
                rates = [ball(rate) for rate in self._rates]
                logs = [[(1 + rate * wave).log() for wave in waves] for rate in rates]
                starts = [[(log * self._power).exp() for log in row] for row in logs]
                turns = [[(log * turn).exp() for log in row] for row in logs]
            # above the real line no argument of A is negative, so that no turn is above 1
            with precision(wanted):
                return power_sums(densities, starts, turns, count, inside)

        def error(v: arb, rule: Rule) -> acb:
            shift, top, bottom, spacing = map(arb, rule[:4])
            # proposes: the rule, whose floats mean their exact values
            if not (0 <= rule.shift < rule.top < math.pi and 0 <= rule.bottom < math.pi):
                raise ValueError(f"the strip of {rule} is not admissible")
            strip = strip_above(v, self._least, shift, top, spacing)
            strip += strip_below(v, self._least, shift, bottom, spacing, height)
            off = arb(0, (self._moment * strip + self._beyond(v, rule)).upper())
            return acb(off, off)

        return self._asked(lambda noises: self._line(noises, step * count, fine), sums, error)

    def moduli(self, height: float, shift: float, accuracy: float) -> list[list[arb]]:
        """``Int |g_v A^t|`` at ``Im w = shift``, ``Im t = height``, likewise [6].

        At height 0 on the real line these are moments.
        """
        up, lean = arb(height), arb(shift)

        def sums(group: Sequence[int], rule: Rule, inside: Sequence[int]) -> Sequence[_Rows]:
            densities, waves = self._at(group, rule, _modulus)
            columns = []
            for rate in map(ball, self._rates):
                logs = [(1 + rate * wave).log() for wave in waves]
                columns.append([(log.real * self._power - log.imag * up).exp() for log in logs])
            table = (arb_mat(densities) * arb_mat(columns).transpose()).tolist()
            return [[[row[i]] for row in table[:many]] for i, many in enumerate(inside)]

        def error(v: arb, rule: Rule) -> arb:
            edge, spacing = arb(rule.top), arb(rule.spacing)
            reach = edge + lean
            # proposes: the rule, whose floats mean their exact values; balls decide the strip
            inside = shift == 0 or rule.top <= shift or reach < arb.pi() / 2
            # proposes: likewise
            if not (inside and reach < arb.pi() and height >= 0 and shift >= 0):
                raise ValueError(f"the strip of {rule} is not admissible")
            strip = self._moment * strip_modulus(v, self._least, lean, edge, spacing)
            return (-strip).union(strip + self._beyond(v, rule))

        fine = self._fine(accuracy)
        return self._asked(lambda noises: self._positive(noises, shift, fine), sums, error)

    def map(self, ask: Callable[[arb, arb], _T]) -> list[_T]:
        """What is said of each pair, in the same order."""
        return [
            ask(ball(rate), ball(noise))
            for rate, row in zip(self._rates, self._rows, strict=True)
            for noise in self._noises[:row]
        ]

    def _fine(self, accuracy: float) -> float:
        """Proposes: the accuracy of a rule next to the moment."""
        return accuracy + max(0.0, float(self._moment.log().mid())) + _SPARE

    def _variance(self, k: int) -> arb:
        return ball(self._noises[k]) * ball(self._noises[k])

    def _at(
        self, group: Sequence[int], rule: Rule, density: Callable[[arb, acb], Any]
    ) -> tuple[list[list[Any]], list[acb]]:
        """The densities of some noises at the places of a rule, and ``e^w - 1`` there."""
        spacing, lean = arb(rule.spacing), acb(0, arb(rule.shift))
        # proposes: the places; `beyond` bounds all others
        places = [lean + j * spacing for j in range(rule.first, rule.last + 1)]
        found = []
        for v in map(self._variance, group):
            scale = spacing * (v / (2 * arb.pi())).sqrt()
            found.append([scale * density(v, place) for place in places])
        return found, [place.exp() - 1 for place in places]

    def _asked(
        self,
        plan: Callable[[Sequence[float]], Rule],
        sums: Callable[[Sequence[int], Rule, Sequence[int]], Sequence[_Rows]],
        error: Callable[[arb, Rule], Any],
    ) -> list[list[Any]]:
        """Sums over places, for each rate some rows, and the errors of rules.

        Proposes: which noises share a rule.
        """
        found: list[list[list[Any]]] = [[[]] * row for row in self._rows]
        for group in self._groups:
            rule = plan([self._about[k] for k in group])
            # proposes: what is too much
            if not rule.last - rule.first < MOST:
                raise TooExpensive("a rule of too many places")
            errors = [error(self._variance(k), rule) for k in group]
            inside = [sum(k < row for k in group) for row in self._rows]
            for i, rows in enumerate(sums(group, rule, inside)):
                for k, row, off in zip(group, rows, errors, strict=False):
                    found[i][k] = [value + off for value in row]
        return list(chain.from_iterable(found))

    def _beyond(self, v: arb, rule: Rule) -> arb:
        """The moduli of the terms that a rule leaves out [7]."""
        left, right = rule.first * arb(rule.spacing), rule.last * arb(rule.spacing)
        rise, fall = -v * left - arb(0.5), v * right + arb(0.5) - arb.max(self._power, arb(0))
        # proposes: the ends of the rule; balls decide whether the tails fall there
        if not (left < 0 < right and rise > 0 and fall > 0):
            raise TooExpensive("the rule is cut inside the bulk of the integrand")
        most = 1 + self._largest * right.expm1()
        at_left = (1 - self._largest) ** self._least
        at_right = most ** arb.max(self._power, arb(0))
        scale = arb(rule.spacing) * (v / (2 * arb.pi())).sqrt()
        low, high = (scale * _density(v, acb(end)).real for end in (left, right))
        lift = growth(v, self._least, arb(rule.shift))
        return lift * (
            geometric_tail(low * at_left, rise, arb(rule.spacing))
            + geometric_tail(high * at_right, fall, arb(rule.spacing))
        )

    # --- proposals --------------------------------------------------------------------------------

    def _line(self, variances: Sequence[float], height: float, accuracy: float) -> Rule:
        """Proposes: the widest spacing of which both strips leave about ``e^-accuracy``."""
        v = max(variances)
        tops = _FRACTIONS * min(_EDGE * math.pi, 2 * math.sqrt(4 * accuracy / v))
        bottoms = tops[:, None] * _BELOW
        above = accuracy + self._grown(v, tops)[:, None]
        below = accuracy + self._grown(v, bottoms) + height * bottoms
        widths = (tops[:, None] + bottoms) / (above + below)
        i, j = np.unravel_index(np.argmax(widths), widths.shape)
        top, bottom, width = float(tops[i]), float(bottoms[i, j]), float(widths[i, j])
        shift = short(max(0.0, float(below[i, j]) * width - bottom))
        return self._placed(variances, shift, top, bottom, 2 * math.pi * width, accuracy)

    def _positive(self, variances: Sequence[float], shift: float, accuracy: float) -> Rule:
        """Proposes: likewise for moduli at a height."""
        v = max(variances)
        widest = _EDGE * math.pi
        if shift > 0:
            widest = _EDGE * max(math.pi / 2 - shift, min(shift, math.pi - shift))
        edges = _FRACTIONS * min(widest, 2 * math.sqrt(2 * accuracy / v))
        lift = v * shift * shift / 2 + v * edges * edges / 2
        widths = edges / (accuracy + lift + self._turned(edges + shift))
        best = int(np.argmax(widths))
        edge, spacing = float(edges[best]), 2 * math.pi * float(widths[best])
        return self._placed(variances, shift, edge, edge, spacing, accuracy)

    def _grown(self, v: float, heights: Floats) -> Floats:
        """Proposes: the logarithm of :func:`growth`."""
        found: Floats = v * heights * heights / 2 + self._turned(heights)
        return found

    def _turned(self, heights: Floats) -> Floats:
        found: Floats = float(self._least.mid()) * np.log(np.cos(heights / 2))
        return found

    def _placed(
        self,
        variances: Sequence[float],
        shift: float,
        top: float,
        bottom: float,
        spacing: float,
        accuracy: float,
    ) -> Rule:
        """Proposes: ends where what is left out is below about ``e^-accuracy``."""
        spacing = short(spacing)
        power, q = float(self._power.mid()), float(self._largest.mid())
        low, high = 0.0, 0.0
        for v in variances:
            depth = accuracy + float(self._grown(v, np.array(shift)))
            reach = math.sqrt(2 * depth / v)
            low, right = min(low, -1 / (2 * v) - reach), reach - 1 / (2 * v)
            if power > 0:
                right = _fallen(v, power, q, depth)
            high = max(high, right)
        first = math.floor((low - 1 / max(variances)) / spacing) - 1
        last = math.ceil((high + 1 / max(variances)) / spacing) + 1
        return Rule(shift, top, bottom, spacing, first, last)


def _fallen(v: float, power: float, q: float, depth: float) -> float:
    """Proposes: where ``g_v A^power`` falls below ``e^-depth``, or a little beyond its largest."""

    def at(w: float) -> float:
        return power * math.log1p(q * math.expm1(min(w, 600.0))) - v * (w + 1 / (2 * v)) ** 2 / 2

    low = max(0.0, (power + 0.5) / v)
    high = low + math.sqrt(2 * (depth + power * low) / v) + 1 / v
    while at(high) > -depth:
        high *= 2
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if at(middle) > -depth else (low, middle)
    return high


def _density(v: arb, place: acb) -> acb:
    """``g_v`` without its factor."""
    centred = place + 1 / (2 * v)
    return (-v * centred * centred / 2).exp()


def _modulus(v: arb, place: acb) -> arb:
    """The modulus of that."""
    centred = place.real + 1 / (2 * v)
    return (v * (place.imag * place.imag - centred * centred) / 2).exp()


def _alike(noises: Sequence[float]) -> list[list[int]]:
    """Proposes: which noises share a rule, each in the order they have."""
    order = sorted(range(len(noises)), key=noises.__getitem__)
    groups = [[order[0]]]
    for k in order[1:]:
        if noises[k] > _ALIKE * noises[groups[-1][0]]:
            groups.append([])
        groups[-1].append(k)
    return [sorted(group) for group in groups]
