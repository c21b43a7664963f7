"""Integrals of moduli of many sampled Gaussians by one trapezoidal rule: moments, bounds of decay.

They are sums of the moduli of the terms that ``line_rule.py`` sums: densities of steps times powers
that know neither rate nor noise, as integers all. Proofs are in ``docs/theory/logs.md``, sections 7
and 8, whose formulas the numbers in brackets are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Final

from flint import acb, arb

from dpexact.accounting.pairs.clouds import fixed_lines, line_rule
from dpexact.accounting.pairs.clouds.cells import Place
from dpexact.accounting.pairs.clouds.common_rule import (
    Placing,
    Rule,
    beyond,
    growth,
    is_positive_strip,
    strip_modulus,
)
from dpexact.accounting.pairs.clouds.limbs import Digits
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.balls import approximate, ball, precision

#: How many steps share a rule, and bits beyond those of integers.
_AT_ONCE: Final = 1024
_SPARE_BITS: Final = 16


def moduli(
    pairs: Sequence[Place],
    power: arb,
    height: float,
    shift: float,
    accuracy: float,
    ask: Callable[[Place], arb],
) -> list[arb]:
    """``Int |g_v A^t|`` at ``Im w = shift``, ``t = power + i height``, of each pair.

    About ``e^-accuracy`` off, next to the moment at ``power``; that is what it is at height and
    shift 0. Of pairs whose rule would take too many places each is asked.
    """
    found = [arb("nan")] * len(pairs)
    for group in line_rule.groups_of(pairs, _AT_ONCE):
        alike = [pairs[k] for k in group]
        try:
            some = _moduli(alike, power, arb(height), shift, accuracy)
        except (TooExpensive, ArithmeticError):
            some = [ask(pair) for pair in alike]
        for k, value in zip(group, some, strict=True):
            found[k] = value
    return found


def _moduli(
    pairs: Sequence[Place], power: arb, height: arb, shift: float, accuracy: float
) -> list[arb]:
    """Of few that are alike.

    Raises:
        TooExpensive: a rule takes too many places.
        ArithmeticError: densities or powers are not known to their units.
    """
    if not height >= 0:
        raise ValueError(f"moduli do not fall at the height {height}")
    # proposes: the rule, and precisions; balls hold what is lost at any
    floats = [(approximate(q), approximate(sigma)) for q, sigma in pairs]
    placing = Placing(float(power.mid()), max(q for q, _ in floats))
    squares = [sigma * sigma for _, sigma in floats]
    rule = placing.positive([min(squares), max(squares)], shift, accuracy)
    rule = line_rule.moved(rule, floats)
    lift = placing.lifted(max(squares), rule)
    size, more = line_rule.sized(rule, placing.power, accuracy + lift)
    with precision(more):
        powers, tall, largest = _powers(rule, power, height, size)
        rates = [ball(q) for q, _ in pairs]
        variances = [ball(sigma) * ball(sigma) for _, sigma in pairs]
        # of densities on the real line the imaginary parts are 0
        still = rule._replace(shift=0.0)
        densities, lifts = line_rule.densities_of(rates, variances, still, power, size)
    densities = densities[:, :, : len(powers[0])]
    tops = line_rule.tops_of(densities)
    sums = fixed_lines.Sums(densities, powers)
    found = []
    bits = fixed_lines.bits_of(size)
    with precision(bits + _SPARE_BITS):
        columns = zip(sums.column(0), sums.column(1), strict=True)
        for q, v, exponent, top, column in zip(rates, variances, lifts, tops, columns, strict=True):
            unit = arb(2) ** (exponent + tall)
            rounded = len(powers[0]) * fixed_lines.WALKED * (largest + top) + sums.cut
            off = arb(0, (rounded * arb(2) ** -bits).upper())
            first, value = ((sums.unit() * x + off) * unit for x in column)
            found.append(_enclosed(q, v, rule, power, first, value))
    return found


def _powers(rule: Rule, power: arb, height: arb, size: int) -> tuple[Digits, int, arb]:
    """Moduli of ``(1 + e^y)^t`` at places, over those of ``e^y`` where that is above 1.

    Two columns: on the real line at height 0, and at the shift of the rule at ``height``. They are
    over a power of 2, with a bound on them then.
    """
    spacing, columns = arb(rule.spacing), []
    for lean, up in ((arb(0), arb(0)), (arb(rule.shift), height)):
        # proposes: the places; `beyond` bounds all others
        for j in range(rule.first, rule.last + 1):
            log = (1 + acb(j * spacing, lean).exp()).log()
            columns.append((log.real * power - log.imag * up - power * spacing * max(j, 0)).exp())
    largest = reduce(arb.max, columns).upper()
    tall = fixed_lines.exponent_of(largest)
    unit = arb(2) ** -tall
    starts = [acb(x * unit) for x in columns]
    real = fixed_lines.powers(starts, [acb(1)] * len(starts), 0, size)[:, 0]
    return real.reshape(size, 2, -1).swapaxes(1, 2), tall, largest * unit


def _enclosed(q: arb, v: arb, rule: Rule, power: arb, first: arb, value: arb) -> arb:
    """The integral, of sums next to ``(1 - q)^power`` over the places on the real line [6, 7]."""
    shift, edge, spacing = arb(rule.shift), arb(rule.top), arb(rule.spacing)
    # proposes: the rule, whose floats mean their exact values; balls decide the strip
    if not is_positive_strip(rule):
        raise ValueError(f"the strip of {rule} is not admissible")
    least, moved, scale = arb.min(power, arb(0)), (q / (1 - q)).log(), (1 - q) ** power
    strip = strip_modulus(v, least, arb(0), edge, spacing)
    if not strip < 1:
        raise TooExpensive("a rule that is no bound")
    ends = rule.first * spacing - moved, rule.last * spacing - moved
    tail = beyond(v, q, power, ends, spacing, arb(0))
    # the moment at the power is off its sum by as much of itself at most
    moment = (scale * first + tail) / (1 - strip)
    lift, far = growth(v, arb(0), shift), tail * growth(v, least, shift)
    off = far + strip_modulus(v, least, shift, edge, spacing) * moment
    return lift * scale * value + arb(0, off.upper())
