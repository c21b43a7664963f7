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
from dpexact.accounting.pairs.pair import TooExpensive, short
from dpexact.accounting.pairs.sums.mixture_sums import geometric_tail
from dpexact.balls import approximate, ball
from dpexact.reals import Real

_Rows: TypeAlias = Sequence[Sequence[Any]]
_T = TypeVar("_T")

#: The largest share of the strip of analyticity, whose half width is pi, that is used.
EDGE: Final = 0.98
FRACTIONS: Final = np.linspace(0.02, 1.0, 50)
#: By how much noises of one rule differ at most.
_ALIKE: Final = 2.5
#: Most places of a rule.
_MOST: Final = 1 << 12
#: Accuracy beyond what is asked, for what few nats matter to.
_SPARE: Final = 1.0


# --- error terms: looked up here when needed, so that a test can replace any single one -----------


def strip_modulus(v: arb, least: arb, shift: arb, edge: arb, spacing: arb) -> arb:
    """Of the modulus of the integrand at ``Im w = shift``, by ``edge`` on both sides [6]."""
    lift = (v * (shift * shift + edge * edge) / 2).exp() * (((shift + edge) / 2).cos()) ** least
    return 2 * lift / (2 * arb.pi() * edge / spacing).expm1()


def growth(v: arb, least: arb, height: arb) -> arb:
    """How much larger the modulus of the integrand is at ``Im w = height`` at most [5]."""
    return (v * height * height / 2).exp() * ((height / 2).cos()) ** least


def beyond(
    v: arb, rates: tuple[arb, arb], power: arb, ends: tuple[arb, arb], spacing: arb, shift: arb
) -> arb:
    """The moduli of the terms beyond real parts of ``w``, of all rates between two [7]."""
    least, most = arb.min(power, arb(0)), arb.max(power, arb(0))
    rise, fall = -v * ends[0] - arb(0.5), v * ends[1] + arb(0.5) - most
    # proposes: the ends of the rule; balls decide whether the tails fall there
    if not (ends[0] < 0 < ends[1] and rise > 0 and fall > 0):
        raise TooExpensive("the rule is cut inside the bulk of the integrand")
    scale = spacing * (v / (2 * arb.pi())).sqrt()
    low, high = (scale * _density(v, acb(end)).real for end in ends)
    (left, _), (near, far) = ([1 + q * end.expm1() for q in rates] for end in ends)
    return growth(v, least, shift) * (
        geometric_tail(low * left**most * (1 - rates[1]) ** least, rise, spacing)
        + geometric_tail(high * far**most * near**least, fall, spacing)
    )


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


def is_positive_strip(rule: Rule) -> bool:
    """Whether moduli at its shift are those of an analytic function, up and down by its top [6]."""
    shift, reach = rule.shift, arb(rule.top) + arb(rule.shift)
    # proposes: the rule, whose floats mean their exact values
    inside = shift == 0 or 0 < rule.top <= shift or bool(reach < arb.pi() / 2)
    # proposes: likewise
    return inside and shift >= 0 and bool(reach < arb.pi())


class Placing(NamedTuple):
    """Proposes: where places are, for moments of a power of ``A`` up to a rate."""

    power: float
    largest: float

    def grown(self, v: float, heights: Floats) -> Floats:
        """The logarithm of :func:`growth`."""
        found: Floats = v * heights * heights / 2 + self.turned(heights)
        return found

    def turned(self, heights: Floats) -> Floats:
        """Of that what the power makes."""
        found: Floats = min(self.power, 0.0) * np.log(np.cos(heights / 2))
        return found

    def lifted(self, v: float, rule: Rule) -> float:
        """How far terms of the largest rate are below densities times powers, on either line.

        Powers below 0 are small where densities of large rates are large.
        """
        y = rule.spacing * np.arange(rule.first, rule.last + 1)
        centred = y - math.log(self.largest) + math.log1p(-self.largest) + 1 / (2 * v)
        least = min(self.power, 0.0)
        density = least * np.maximum(y, 0.0) - v * centred * centred / 2
        terms = density + least * np.log1p(np.exp(-abs(y)))
        return float(self.grown(v, np.array(rule.shift)) + density.max() - terms.max())

    def placed(
        self,
        variances: Sequence[float],
        shift: float,
        top: float,
        bottom: float,
        spacing: float,
        accuracy: float,
    ) -> Rule:
        """Ends where what is left out is below about ``e^-accuracy``."""
        spacing = short(spacing)
        low, high = 0.0, 0.0
        # of negative powers what is left out is bounded by their largest value
        accuracy += min(self.power, 0.0) * math.log1p(-self.largest)
        for v in variances:
            depth = accuracy + float(self.grown(v, np.array(shift)))
            reach = math.sqrt(2 * depth / v)
            low, right = min(low, -1 / (2 * v) - reach), reach - 1 / (2 * v)
            if self.power > 0:
                right = _fallen(v, self.power, self.largest, depth)
            high = max(high, right)
        first = math.floor((low - 1 / max(variances)) / spacing) - 1
        last = math.ceil((high + 1 / max(variances)) / spacing) + 1
        return Rule(shift, top, bottom, spacing, first, last)

    def positive(self, variances: Sequence[float], shift: float, accuracy: float) -> Rule:
        """Proposes: the widest spacing of moduli at a height of which strips leave that little."""
        v = max(variances)
        widest = EDGE * math.pi
        if shift > 0:
            widest = EDGE * max(math.pi / 2 - shift, min(shift, math.pi - shift))
        edges = FRACTIONS * min(widest, 2 * math.sqrt(2 * accuracy / v))
        lift = v * shift * shift / 2 + v * edges * edges / 2
        widths = edges / (accuracy + lift + self.turned(edges + shift))
        best = int(np.argmax(widths))
        edge, spacing = float(edges[best]), 2 * math.pi * float(widths[best])
        return self.placed(variances, shift, edge, edge, spacing, accuracy)


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
        self._smallest, self._largest = reduce(arb.min, balls), reduce(arb.max, balls)
        if not (self._largest < 1 and all(rate > 0 for rate in balls)):
            raise ValueError("a rate is not between 0 and 1")

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
            # proposes: the rule, whose floats mean their exact values; balls decide the strip
            if not (is_positive_strip(rule) and height >= 0):
                raise ValueError(f"the strip of {rule} is not admissible")
            edge, spacing = arb(rule.top), arb(rule.spacing)
            strip = self._moment * strip_modulus(v, self._least, lean, edge, spacing)
            return (-strip).union(strip + self._beyond(v, rule))

        fine = self._fine(accuracy)
        placing = Placing(float(self._power.mid()), float(self._largest.mid()))
        return self._asked(lambda noises: placing.positive(noises, shift, fine), sums, error)

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
            if not rule.last - rule.first < _MOST:
                raise TooExpensive("a rule of too many places")
            errors = [error(self._variance(k), rule) for k in group]
            inside = [sum(k < row for k in group) for row in self._rows]
            for i, rows in enumerate(sums(group, rule, inside)):
                for k, row, off in zip(group, rows, errors, strict=False):
                    found[i][k] = [value + off for value in row]
        return list(chain.from_iterable(found))

    def _beyond(self, v: arb, rule: Rule) -> arb:
        """The moduli of the terms that a rule leaves out [7]."""
        spacing = arb(rule.spacing)
        ends = rule.first * spacing, rule.last * spacing
        return beyond(
            v, (self._smallest, self._largest), self._power, ends, spacing, arb(rule.shift)
        )


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
