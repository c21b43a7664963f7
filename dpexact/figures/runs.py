"""Pictures of one mechanism: its epsilon over steps, its profile, and claims about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Final

from dpexact.accounting.queries import delta, epsilon_curve
from dpexact.arguments import real_in
from dpexact.audits.verdicts import Finding
from dpexact.balls import approximate
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.figures.model import FigureData, HeatMap, Panel, Scale, curve
from dpexact.mechanisms import Mechanism, Repetition
from dpexact.tokens import shorten

#: Points of a curve, and their digits.
_POINTS: Final = 24
_DIGITS: Final = 6
_EPSILON: Final = r"$\varepsilon$"


def run_figure(
    mechanism: Mechanism, at: str, direction: str = "both", findings: Sequence[Finding] = ()
) -> FigureData:
    """Epsilon at delta ``at`` after every part of a run, and the errors of claims about its end."""
    step, times = mechanism, 1
    if isinstance(mechanism, Repetition):
        step, times = mechanism.mechanism, mechanism.times
    counts = sorted({max(1, times * k // _POINTS) for k in range(1, _POINTS + 1)})
    found = epsilon_curve(step, counts, at, _DIGITS, direction)
    panels = [_curve("after so many runs", "runs", _EPSILON, list(map(Fraction, counts)), found)]
    if findings:
        panels.append(_errors(findings))
    return _figure(mechanism, f"epsilon of {mechanism} at delta = {at}", panels)


def along_figure(
    mechanism: Mechanism, at: str, steps: Sequence[int], found: Sequence[Enclosure]
) -> FigureData:
    """Epsilon at delta ``at`` as found after each number of ``steps`` of a run."""
    panel = _curve("along the run", "steps", _EPSILON, list(map(Fraction, steps)), found)
    return _figure(mechanism, f"epsilon of a run of {steps[-1]} steps at delta = {at}", [panel])


def profile_figure(mechanism: Mechanism, epsilon: str, direction: str = "both") -> FigureData:
    """Delta at every epsilon from 0 to twice ``epsilon``, or up to 1 where that is 0.

    Raises:
        InvalidInput: no picture reaches so far.
    """
    at = approximate(real_in(epsilon, "epsilon"))
    if not math.isfinite(2 * at):
        raise InvalidInput(f"epsilon: {shorten(epsilon)} is too large to draw")
    highest = 2 * Fraction(at) or Fraction(1)
    places = sorted(highest * k / _POINTS for k in range(_POINTS + 1))
    found = delta(mechanism, places, _DIGITS, direction)
    panel = _curve("privacy profile", _EPSILON, r"$\delta$", places, found, "log")
    return _figure(mechanism, str(mechanism), [panel])


def _curve(
    title: str,
    x: str,
    y: str,
    places: Sequence[Fraction],
    values: Sequence[Enclosure],
    scale: Scale = "linear",
) -> Panel:
    return Panel(title, x, y, (curve(y, places, values, "marked"),), y_scale=scale)


def _errors(findings: Sequence[Finding]) -> Panel:
    drawn = findings[::-1]  # upwards
    names = tuple(
        f"{found.claim.id.partition(':')[0]}, {found.claim.kind}: {found.verdict}"
        for found in drawn
    )
    values = tuple((found.relative_error,) for found in drawn)
    lower = tuple(found.claim.kind == "lower" for found in drawn)
    heat = HeatMap(
        "claimed over certified, minus 1", ("",), names, values, "\u2013", "error", lower
    )
    return Panel("accountants, tightest sound first", "", "", heat=heat)


def _figure(mechanism: Mechanism, title: str, panels: Sequence[Panel]) -> FigureData:
    return FigureData("run", title, "dpexact", f"Certified values of {mechanism}.", tuple(panels))
