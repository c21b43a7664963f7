"""Moments of many sampled Gaussians on a line by one trapezoidal rule for rates and noises alike.

With ``y = w + log(q/(1 - q))`` in place of the ``w`` of ``common_rule.py`` a moment is

    E_v[A^t] = (1 - q)^t Int g_v(y - log(q/(1 - q))) (1 + e^y)^t dy:

the power knows neither rate nor noise. So moments are a product of matrices, one of densities at
common places, a row a step, the other of powers. Proofs are in ``docs/theory/logs.md``, section 7,
whose formulas the numbers in brackets are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from itertools import zip_longest
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from flint import acb, arb

from dpexact.accounting.pairs.clouds import fixed_lines
from dpexact.accounting.pairs.clouds.cells import Place
from dpexact.accounting.pairs.clouds.common_rule import (
    EDGE,
    FRACTIONS,
    Placing,
    Rule,
    beyond,
    growth,
)
from dpexact.accounting.pairs.clouds.fixed_lines import (
    JOINED,
    WALKED,
    Lines,
    Sums,
    Walk,
    bits_of,
    exponent_of,
    size_of,
    walked,
)
from dpexact.accounting.pairs.clouds.limbs import BITS, SIGNS, Digits, carry
from dpexact.accounting.pairs.pair import TooExpensive, short
from dpexact.accounting.pairs.sums.power_sums import LineProduct, line_product
from dpexact.balls import approximate, ball, precision

Row: TypeAlias = list[acb]

Step: TypeAlias = tuple[Place, int, int]
"""A rate and a noise, how often they run, and before which end."""

_BELOW: Final = np.linspace(0.0, 1.0, 26)
#: By how much noises of one rule differ at most, how many steps share it, and at least, how many
#: numbers they may have, and the range of their ``log(q/(1 - q))`` next to the width of a density.
_ALIKE: Final = 1.5
_AT_ONCE: Final = 1024
_LEAST: Final = 16
_NUMBERS: Final = 1 << 21
#: How many ordinates are taken at once.
_BLOCK: Final = 1024
_WIDE: Final = 15.0
#: Bits of products beyond those that the accuracy takes, and of what is rounded to these.
_SPARE_BITS: Final = 12
_FINER: Final = 30
#: Bits of errors.
_BITS: Final = 53


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


class _Asked(NamedTuple):
    """Rows of balls, as ``Lines`` are of integers."""

    balls: list[Row]

    def rows(self) -> list[Row]:
        return self.balls

    def some(self, places: Sequence[int]) -> _Asked:
        return _Asked([self.balls[place] for place in places])

    def joined(self, groups: Sequence[Sequence[int]]) -> _Asked:
        return _Asked([line_product(self.some(group).balls) for group in groups])


def line_rows(
    pairs: Sequence[Place],
    power: arb,
    step: float,
    count: int,
    accuracy: float,
    ask: Callable[[Place], Row],
) -> Iterator[tuple[list[int], Lines | _Asked]]:
    """``E_v[A^t] / (1 - q)^t`` at ``t = power + i n step``, ``n <= count``, and of which pairs.

    About ``e^-accuracy`` off, next to the moment at ``power``. Of pairs whose rule would take too
    many places ``E_v[A^t]`` is asked.
    """
    for group in groups_of(pairs, max(_LEAST, min(_AT_ONCE, _NUMBERS // (count + 1)))):
        alike = [pairs[k] for k in group]
        try:
            yield group, _rows(alike, power, step, count, accuracy)
        except (TooExpensive, ArithmeticError):
            rows = [scaled(ask(pair), -still(pair), power, step) for pair in alike]
            yield group, _Asked(rows)


def still(pair: Place) -> arb:
    """``log(1 - q)``."""
    return (-ball(pair[0])).log1p()


def scaled(row: Row, log: arb, power: arb, step: float) -> Row:
    """The row times ``e^{t log}``."""
    return [value * (acb(power, n * arb(step)) * log).exp() for n, value in enumerate(row)]


def principal(row: Row, log: arb, power: arb, step: float) -> Row:
    """The principal logarithms of the row times ``e^{t log}``."""
    found = []
    for n, value in enumerate(row):
        at = acb(power, n * arb(step)) * log + value.log()
        # proposes: how often it has turned
        at -= acb(0, 2 * arb.pi()) * round(float(at.imag.mid()) / (2 * math.pi))
        # proposes: the way, since what is between is the principal one
        if not abs(at.imag) < arb.pi():
            at = at.exp().log()
        found.append(at)
    return found


def logarithms(
    groups: Iterable[tuple[list[int], Lines | _Asked]],
    steps: Sequence[Step],
    many: int,
    power: arb,
    step: float,
) -> list[Row]:
    """``sum n log E_v[A^t]``, for rows as above, of the steps before each of so many ends.

    Of all between two ends one of the product is taken, whichever branch that is.
    """
    products = [LineProduct() for _ in range(many)]
    remaining = [arb(0)] * many
    for group, lines in groups:
        sorts: dict[tuple[int, int], list[list[int]]] = {}
        for at, k in enumerate(group):
            place, n, end = steps[k]
            remaining[end] += n * still(place)
            parts = sorts.setdefault((end, n), [])
            if not parts or len(parts[-1]) == JOINED:
                parts.append([])
            parts[-1].append(at)
        asked = [(*sort, part) for sort, parts in sorts.items() for part in parts]
        joined = lines.joined([part for *_, part in asked]).rows()
        for (end, n, part), row in zip(asked, joined, strict=True):
            # proposes: as what to multiply, where integers are too coarse for a product
            if any(value.contains(0) for value in row):
                row = line_product(lines.some(part).rows())
            products[end].add(row if n == 1 else [value**n for value in row])
    found: list[Row] = []
    before: Row = []
    for log, product in zip(remaining, products, strict=True):
        logs = [
            value.log() + acb(power, n * arb(step)) * log for n, value in enumerate(product.whole())
        ]
        # of no steps there are none
        before = [a + b for a, b in zip_longest(before, logs, fillvalue=acb(0))]
        found.append(before)
    return found


def _rows(pairs: Sequence[Place], power: arb, step: float, count: int, accuracy: float) -> Lines:
    """Of few that are alike.

    Raises:
        TooExpensive: a rule takes too many places.
        ArithmeticError: densities or powers are not known to their units.
    """
    # proposes: the rule, and precisions; balls hold what is lost at any
    floats = [(approximate(q), approximate(sigma)) for q, sigma in pairs]
    placing = Placing(float(power.mid()), max(q for q, _ in floats))
    rule = _rule(placing, floats, step * count, accuracy)
    # proposes: the rule, whose floats mean their exact values
    if not (0 <= rule.shift < rule.top < math.pi and 0 <= rule.bottom < math.pi):
        raise ValueError(f"the strip of {rule} is not admissible")
    lift = placing.lifted(max(sigma for _, sigma in floats) ** 2, rule)
    size, more = sized(rule, placing.power, accuracy + lift)
    bits = bits_of(size)
    with precision(more):
        powers = _Powers.on(rule, power, step)
        rates = [ball(q) for q, _ in pairs]
        variances = [ball(sigma) * ball(sigma) for _, sigma in pairs]
        densities, lifts = densities_of(rates, variances, rule, power, size)
    lifts = [lift + powers.height for lift in lifts]
    tops = tops_of(densities)
    moments, errors, lines = [], [], []
    for begin in range(0, count + 1, _BLOCK):
        with precision(more):
            block = powers.from_(begin, min(count - begin, _BLOCK - 1), size)
        sums = Sums(densities, block)
        with precision(_BITS):
            firsts = zip(sums.column(0), sums.column(block.shape[2] // 2), strict=True)
            for k, parts in enumerate(() if begin else firsts):
                unit = arb(2) ** (lifts[k] - bits)
                rounded = densities.shape[2] * WALKED * (powers.largest + tops[k])
                cut = arb(0, sums.cut) * unit
                first = acb(*(x * sums.unit() * arb(2) ** lifts[k] + cut for x in parts))
                height, rest = arb(step) * count, 1.5 * rounded * unit
                error, moment = _error(rates[k], variances[k], rule, power, height, first, rest)
                errors.append(error)
                moments.append(moment)
            lines.append(sums.lines(lifts, moments, errors))
    return fixed_lines.beside(lines)


def tops_of(densities: Digits) -> list[arb]:
    """A bound on each row: of the highest digits and one more."""
    found = (abs(densities[-1]).max(axis=1) + 1) * 2.0 ** (SIGNS - BITS)
    return [arb(x) for x in found.tolist()]


class _Powers(NamedTuple):
    """``(1 + e^y)^t`` at places, over those of ``e^y`` where that is above 1.

    And over ``2^height``; ``largest`` bounds their moduli then, as no turn from one ordinate to the
    next is above 1: above the real line no argument of A is negative.
    """

    starts: list[acb]
    turns: list[acb]
    height: int
    largest: arb

    @classmethod
    def on(cls, rule: Rule, power: arb, step: float) -> _Powers:
        """Those of a rule; of turns the logarithms."""
        lean, spacing, turn = acb(0, arb(rule.shift)), arb(rule.spacing), acb(0, arb(step))
        # proposes: the places; `beyond` bounds all others
        places = [(j, lean + j * spacing) for j in range(rule.first, rule.last + 1)]
        logs = [(1 + place.exp()).log() for _, place in places]
        starts = [
            (log * power - power * spacing * max(j, 0)).exp()
            for log, (j, _) in zip(logs, places, strict=True)
        ]
        largest = reduce(arb.max, map(abs, starts)).upper()
        height = exponent_of(largest)
        unit = arb(2) ** -height
        return cls([x * unit for x in starts], [log * turn for log in logs], height, largest * unit)

    def from_(self, begin: int, count: int, size: int) -> Digits:
        """From an ordinate on, as real matrices act: the rows are places."""
        starts = [x * (begin * log).exp() for x, log in zip(self.starts, self.turns, strict=True)]
        turns = [log.exp() for log in self.turns]
        real, imag = fixed_lines.powers(starts, turns, count, size).swapaxes(0, 1)
        other = -imag
        carry(other)
        rows = [np.concatenate(parts, axis=2) for parts in ((real, imag), (other, real))]
        return np.concatenate(rows, axis=1)


def densities_of(
    rates: Sequence[arb], variances: Sequence[arb], rule: Rule, power: arb, size: int
) -> tuple[Digits, list[int]]:
    """``h g_v(y - log(q/(1 - q)))``, a row a step, times ``e^{power y}`` where that is above 1.

    Real parts of places, then imaginary ones; and powers of 2 that are divided out of rows. From
    about where a Gaussian is largest on either side of 0 ratios fall.
    """
    h, shift, turned = arb(rule.spacing), arb(rule.shift), power * arb(rule.spacing)
    # proposes: the places; `beyond` bounds all others
    sides = [(rule.first, min(rule.last, 0), arb(0)), (max(rule.first, 1), rule.last, turned)]
    walks, lifts = [], []
    for row, (q, v) in enumerate(zip(rates, variances, strict=True)):
        centre = (q / (1 - q)).log() - 1 / (2 * v)
        scale = h * (v / (2 * arb.pi())).sqrt() * (v * shift * shift / 2).exp()
        fall, still, turn = (-v * h * h).exp(), v * h * h / 2, acb(0, -v * shift * h).exp()
        found = []
        for low, high, rise in sides:
            # proposes: where a walk begins; balls decide whether ratios fall
            if low > high:
                continue
            peak = float((centre / h + rise / (v * h * h)).mid())
            top = min(max(round(peak), low), high)
            x = top * h - centre
            value = scale * (acb(-v * x * x / 2, -v * shift * x) + rise * top).exp()
            steep = rise - v * h * x
            up, down = (steep - still).exp() * turn, (-steep - still).exp() / turn
            found.append((top, 1, high - top, value, up))
            found.append((top, -1, top - low, value, down))
        largest = reduce(arb.max, (abs(value) for *_, value, _ in found)).upper()
        lifts.append(exponent_of(largest))
        unit = arb(2) ** -lifts[-1]
        # proposes: where a walk ends; it goes as far as there are places
        walks += [
            Walk(row, top - rule.first, way, many, value * unit, ratio if many else acb(0), fall)
            for top, way, many, value, ratio in found
        ]
    found_digits = walked(walks, (len(rates), rule.last - rule.first + 1), size)
    return np.concatenate([found_digits[:, 0], found_digits[:, 1]], axis=2), lifts


def _error(
    q: arb, v: arb, rule: Rule, power: arb, height: arb, first: acb, rest: arb
) -> tuple[arb, arb]:
    """What a sum is off, next to ``(1 - q)^t``, where it is ``first`` at ``power`` [5, 7].

    Of its terms it is off by ``rest``. And a bound on moments of the line.
    """
    shift, top, bottom, spacing = map(arb, rule[:4])
    least, moved = arb.min(power, arb(0)), (q / (1 - q)).log()
    strip = strip_above(v, least, shift, top, spacing)
    strip += strip_below(v, least, shift, bottom, spacing, height)
    if not strip < 1:
        raise TooExpensive("a rule that is no bound")
    ends = rule.first * spacing - moved, rule.last * spacing - moved
    tail = beyond(v, q, power, ends, spacing, shift) / (1 - q) ** power + rest
    # the moment at the power is off its sum by as much of itself at most
    moment = (abs(first) + tail) / (1 - strip)
    return (strip * moment + tail).upper(), moment.upper()


# --- proposals ------------------------------------------------------------------------------------


def groups_of(pairs: Sequence[Place], most: int) -> Iterator[list[int]]:
    """Proposes: which share a rule, so many at most."""
    sorts = []
    for k, (q, sigma) in enumerate(pairs):
        rate, noise = approximate(q), approximate(sigma)
        sort = math.floor(math.log(noise) / math.log(_ALIKE))
        sorts.append((sort, math.log(rate) - math.log1p(-rate), noise, k))
    group: list[tuple[int, float, float, int]] = []
    for each in sorted(sorts):
        if group and (
            each[0] != group[0][0]
            or len(group) == most
            or (each[1] - group[0][1]) * each[2] > _WIDE
        ):
            yield [k for *_, k in group]
            group = []
        group.append(each)
    if group:
        yield [k for *_, k in group]


def sized(rule: Rule, power: float, accuracy: float) -> tuple[int, int]:
    """Proposes: digits of sums, ``e^-accuracy`` next to the largest powers, and bits of terms."""
    y = rule.spacing * np.arange(rule.first, rule.last + 1)
    real = np.log(abs(1 + np.exp(-abs(y) + 1j * rule.shift * np.where(y > 0, -1, 1))))
    lift = max(0.0, float((power * real).max()))
    size = size_of(math.ceil((accuracy + lift) / math.log(2)) + _SPARE_BITS)
    return size, bits_of(size) + BITS + _FINER + math.frexp(power)[1]


def _rule(
    placing: Placing, pairs: Sequence[tuple[float, float]], height: float, accuracy: float
) -> Rule:
    """Proposes: the widest spacing of which both strips leave about ``e^-accuracy``."""
    noises = [sigma for _, sigma in pairs]
    ends = [min(noises) ** 2, max(noises) ** 2]
    v = ends[1]
    tops = FRACTIONS * min(EDGE * math.pi, 2 * math.sqrt(4 * accuracy / v))
    bottoms = tops[:, None] * _BELOW
    above = accuracy + placing.grown(v, tops)[:, None]
    below = accuracy + placing.grown(v, bottoms) + height * bottoms
    widths = (tops[:, None] + bottoms) / (above + below)
    i, j = np.unravel_index(np.argmax(widths), widths.shape)
    top, bottom, width = float(tops[i]), float(bottoms[i, j]), float(widths[i, j])
    shift = short(max(0.0, float(below[i, j]) * width - bottom))
    return moved(placing.placed(ends, shift, top, bottom, 2 * math.pi * width, accuracy), pairs)


def moved(rule: Rule, pairs: Sequence[tuple[float, float]]) -> Rule:
    """Proposes: the places ``w + log(q/(1 - q))`` of all, if they are not too many."""
    by = [math.log(q) - math.log1p(-q) for q, _ in pairs]
    first = rule.first + math.floor(min(by) / rule.spacing)
    last = rule.last + math.ceil(max(by) / rule.spacing)
    if last - first >= fixed_lines.MOST:
        raise TooExpensive("a rule of too many places")
    return rule._replace(first=first, last=last)
