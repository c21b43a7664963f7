"""The claimed value against the certified enclosure, drawn to scale as inline SVG.

Positions are percentages of the width, so the drawing fits a phone and paper without shrinking its
text. They come from exact bounds and are rounded only here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN
from fractions import Fraction
from html import escape
from typing import Final

from dpexact import balls
from dpexact.audits.claims import number_text
from dpexact.audits.verdicts import Finding
from dpexact.decimals import Bound, format_decimal, log_of
from dpexact.reals import Real

#: Where the smallest and the largest finite value, and infinity, are drawn.
_LEFT, _RIGHT, _RIGHT_OF_INFINITE, _INFINITE = 10.0, 90.0, 80.0, 98.5
#: Values further apart than this factor are drawn on a logarithmic scale.
_LOG_FACTOR: Final = 20
#: An enclosure narrower than this, in percent of the width, is drawn as a line.
_HAIR: Final = 0.4


@dataclass(frozen=True, slots=True)
class _Scale:
    low: Fraction
    high: Fraction
    logarithmic: bool
    right: float

    def at(self, value: Bound) -> float:
        """The position of ``value`` in percent, kept inside the picture."""
        if not isinstance(value, Fraction):
            return _INFINITE if value > 0 else 0.0
        if self.logarithmic:
            low, high = log_of(self.low), log_of(self.high)
            share = (log_of(value) - low) / (high - low) if value > 0 else -1.0
        else:
            share = float((value - self.low) / (self.high - self.low))
        return min(max(_LEFT + share * (self.right - _LEFT), 0.0), 100.0)

    def describe(self) -> str:
        if self.logarithmic:
            return f"Logarithmic scale: {_short(self.low)} to {_short(self.high)}."
        if self.right == _RIGHT_OF_INFINITE:
            return "Infinity is at the right edge; the rest is to scale."
        width = (self.high - self.low) * 100 / Fraction(self.right - _LEFT)
        return f"Drawn to scale: the full width is {_short(width)}."


def figure(finding: Finding) -> str:
    """An HTML ``figure``: shaded where the claim would hold and fail, the truth, the claim."""
    claim, truth = finding.claim, finding.enclosure
    claimed = _claimed(finding)
    if claimed is None:
        return ""
    certified = f"certified {truth.shown(12)}"
    tolerated = _tolerated(finding)
    scale = _scale([claimed, truth.lower, truth.upper, *tolerated])
    left, right = scale.at(truth.lower), scale.at(truth.upper)
    marks = [*_shades(finding, scale, tolerated)]
    marks.append('<line class="axis" x1="0%" x2="100%" y1="37" y2="37"/>')
    hair = right - left < _HAIR
    if hair:
        x = f"{(left + right) / 2:.3f}%"
        marks.append(f'<line class="truth-line" x1="{x}" x2="{x}" y1="26" y2="48"/>')
    else:
        marks.append(_box("truth", left, right, 31, 12))
    marks.append(_label("truth-text", (left + right) / 2, 64, certified))
    place = scale.at(claimed)
    arrow = '<path class="claimed" d="M0 36 l-6 -13 h12 z"/>'
    marks.append(f'<svg x="{place:.3f}%" overflow="visible">{arrow}</svg>')
    marks.append(_label("", place, 15, f"claimed {number_text(claim.claimed, 17)}"))
    notes = [scale.describe(), *_notes(finding, hair)]
    label = f"{claim.statement}; {certified}: {finding.verdict}"
    return (
        f'<figure><svg role="img" aria-label="{escape(label)}">{"".join(marks)}</svg>'
        f"<figcaption>{escape(' '.join(notes))}</figcaption></figure>"
    )


def _claimed(finding: Finding) -> Bound | None:
    """The claimed value as a number to draw; ``None`` for NaN and minus infinity."""
    claimed = finding.claim.claimed
    if isinstance(claimed, Real):
        return _value(claimed)
    return claimed if claimed == math.inf else None


def _value(number: Real) -> Fraction:
    if number.fraction is not None:
        return number.fraction
    with balls.precision(256):
        return balls.midpoint(balls.ball(number))


def _tolerated(finding: Finding) -> list[Bound]:
    """The ends of what the tolerance of an estimate allows."""
    tolerance, truth = finding.claim.tolerance, finding.enclosure
    if tolerance is None or truth.upper == math.inf:
        return []
    low, high = Fraction(truth.lower), Fraction(truth.upper)
    return [max((1 - tolerance.value) * low, Fraction(0)), (1 + tolerance.value) * high]


def _scale(values: list[Bound]) -> _Scale:
    finite = [value for value in values if isinstance(value, Fraction)]
    right = _RIGHT if len(finite) == len(values) else _RIGHT_OF_INFINITE
    low, high = min(finite, default=Fraction(0)), max(finite, default=Fraction(1))
    if low == high:
        low, high = (low * 9 / 10, low * 11 / 10) if low > 0 else (low - 1, low + 1)
    return _Scale(low, high, low > 0 and high > _LOG_FACTOR * low, right)


def _shades(finding: Finding, scale: _Scale, tolerated: list[Bound]) -> list[str]:
    """Where a claim would certainly fail and certainly hold."""
    truth, kind = finding.enclosure, finding.claim.kind
    left, right = scale.at(truth.lower), scale.at(truth.upper)
    if kind == "estimate":
        if not tolerated:
            return []
        left, right = (scale.at(end) for end in tolerated)
        return [
            _box("fails", 0, left, 29, 16),
            _box("holds", left, right, 29, 16),
            _box("fails", right, 100, 29, 16),
        ]
    below, above = ("fails", "holds") if kind == "upper" else ("holds", "fails")
    return [_box(below, 0, left, 29, 16), _box(above, right, 100, 29, 16)]


def _notes(finding: Finding, hair: bool) -> list[str]:
    truth = finding.enclosure
    if not hair or truth.is_exact or truth.upper == math.inf:
        return []
    width = (Fraction(truth.upper) - Fraction(truth.lower)) / Fraction(truth.upper)
    return [f"The certified interval is thinner than its line (relative {_short(width)})."]


def _box(name: str, left: float, right: float, top: int, height: int) -> str:
    width = max(right - left, 0.0)
    return (
        f'<rect class="{name}" x="{left:.3f}%" y="{top}" width="{width:.3f}%" height="{height}"/>'
    )


def _label(name: str, place: float, baseline: int, text: str) -> str:
    # a label of three quarters of the width, as on a phone, still ends inside the picture
    anchor, x = "middle", place
    if place < 40:
        anchor, x = "start", min(max(place - 1, 0.0), 25.0)
    elif place > 60:
        anchor, x = "end", max(min(place + 1, 100.0), 75.0)
    classes = f' class="{name}"' if name else ""
    return (
        f'<text{classes} x="{x:.3f}%" y="{baseline}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def _short(value: Fraction) -> str:
    return format_decimal(value, 3, ROUND_HALF_EVEN)
