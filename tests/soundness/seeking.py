"""Families of calibrations and targets: what is sought is found, and nothing better is."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from mpmath import mp, mpf
from soundness import reference as ref
from soundness.asking import (
    ask_curve_at,
    ask_epsilon,
    ask_tradeoff,
    composed,
    dense,
    direction_of,
    family,
    some,
    target_point,
)
from soundness.reference import Mechanism, as_mpf, number, precise
from soundness.trial import Failed, Trial, interval

#: What the question of a template with a hole seeks: texts around the hole, and whether the least.
_TEMPLATES: tuple[tuple[str, Callable[[str], Mechanism], bool], ...] = (
    ("gaussian(?)", lambda x: ref.gaussian(x), True),
    ("laplace(?)", lambda x: ref.laplace(x), True),
    ("gdp(?)", lambda x: ref.gdp(x), False),
    ("pure_dp(?)", lambda x: ref.pure_dp(x), False),
    ("pure_dp(?)^3", lambda x: ref.product((ref.pure_dp(x), 3)), False),
    ("approx_dp(?, 1/1000)^2", lambda x: ref.product((ref.approx_dp(x, "1/1000"), 2)), False),
    ("approx_dp(1/2, ?)^2", lambda x: ref.product((ref.approx_dp("1/2", x), 2)), False),
    (
        "poisson(pure_dp(1), ?)^2",
        lambda x: ref.product((ref.poisson(ref.pure_dp("1"), x), 2)),
        False,
    ),
    (
        "poisson(pure_dp(?), 1/3)^2",
        lambda x: ref.product((ref.poisson(ref.pure_dp(x), "1/3"), 2)),
        False,
    ),
    ("poisson(gaussian(?), 1/10)", lambda x: ref.poisson(ref.gaussian(x), "1/10"), True),
    ("poisson(laplace(?), 1/10)", lambda x: ref.poisson(ref.laplace(x), "1/10"), True),
    (
        "gaussian(2) * pure_dp(?)",
        lambda x: ref.product((ref.gaussian("2"), 1), (ref.pure_dp(x), 1)),
        False,
    ),
)


@family(6)
def calibration(trial: Trial, rng: random.Random) -> None:
    """One end of the bracket meets the target and the other does not."""
    template, make, least = rng.choice(_TEMPLATES)
    _calibrated(trial, rng, template, make, least, some(rng, 0.05, 4), target_point(rng))


def _calibrated(
    trial: Trial,
    rng: random.Random,
    template: str,
    make: Callable[[str], Mechanism],
    least: bool,
    epsilon: str,
    target: str,
) -> None:
    way = direction_of(rng)
    digits = rng.choice((2, 3, 5, 8))
    goal = lambda: (number(target), abs(number(target)) * ref.unit())  # noqa: E731
    up_to_one = ", ?)" in template
    try:
        found = trial.ask("calibrate", template, epsilon, target, digits=digits, direction=way)
    except Failed as error:
        if "meets the target" not in str(error) or least:
            raise
        trial.holds(goal, lambda: ref.delta(make("0"), epsilon, way), "0 meets the target")
        return

    def at(end: Fraction, way_off: int) -> Callable[[], Any]:
        """delta at an end, moved away from the truth by less than any digit that was asked for."""
        with precise(200):
            text = mp.nstr(as_mpf(end, "n") * (1 + way_off * mpf(10) ** -30), 45)
        return lambda: ref.delta(make(text), epsilon, way)

    private, risky = (found.upper, found.lower) if least else (found.lower, found.upper)
    off = 1 if least else -1
    shown = interval(found)
    if private != math.inf and private > 0:
        trial.holds(at(Fraction(private), off), goal, f"the safe end of {shown} misses the target")
    if risky != math.inf and risky > 0 and not (up_to_one and risky == 1):
        trial.holds(goal, at(Fraction(risky), -off), f"the other end of {shown} meets the target")
    if found.lower == math.inf and least and number(target) > 0:
        raise Failed("some finite noise meets the target")


_COUNTS: tuple[tuple[str, Callable[[int], Mechanism]], ...] = (
    ("pure_dp(1/3)^?", lambda n: ref.product((ref.pure_dp("1/3"), n))),
    ("approx_dp(1/9, 1/1000)^?", lambda n: ref.product((ref.approx_dp("1/9", "1/1000"), n))),
    (
        "poisson(pure_dp(1), 1/10)^?",
        lambda n: ref.product((ref.poisson(ref.pure_dp("1"), "1/10"), n)),
    ),
    ("gaussian(3)^?", lambda n: ref.product((ref.gaussian("3"), n))),
    ("discrete_laplace(3, ?)", lambda n: ref.discrete_laplace("3", n)),
    ("discrete_laplace(2, ?)^2", lambda n: ref.product((ref.discrete_laplace("2", n), 2))),
)


@family(3)
def counting(trial: Trial, rng: random.Random) -> None:
    """The largest number of steps, or sensitivity, that meets the target: the next does not."""
    template, make = rng.choice(_COUNTS)
    epsilon, target = some(rng, 0.3, 4), rng.choice(("1e-2", "1e-4", "1e-6", "0.1", "1e-9"))
    way = direction_of(rng)

    def at(count: int) -> Callable[[], Any]:
        return lambda: ref.delta(make(count), epsilon, way)

    goal = lambda: (number(target), number(target) * ref.unit())  # noqa: E731
    try:
        found = trial.ask("calibrate", template, epsilon, target, direction=way)
    except Failed as error:
        if "meets the target" not in str(error):
            raise
        trial.holds(goal, at(1), "1 meets the target")
        return
    if found.lower > 0:
        trial.holds(at(int(found.lower)), goal, f"{interval(found)} misses the target")
    if found.upper < math.inf:
        next_one = at(int(found.upper) + 1)
        trial.holds(goal, next_one, f"one more than {interval(found)} meets the target")


@family(1)
def tiny_targets(trial: Trial, rng: random.Random) -> None:
    """Targets below 2^-1000000."""
    target = rng.choice(("exp(-1000000)", "exp(-693148)", "exp(-693147)", "exp(-10000000)"))
    if rng.random() < 0.25:
        template, make, least = rng.choice(_TEMPLATES)
        _calibrated(trial, rng, template, make, least, rng.choice(("1", "1/2", "3")), target)
        return
    m = rng.choice(
        (lambda: composed(rng, 1), lambda: dense(rng), lambda: ref.poisson(dense(rng), "1/3"))
    )()
    if rng.random() < 0.3:
        ask_tradeoff(trial, rng, m, target)
    elif rng.random() < 0.1:
        ask_curve_at(trial, rng, m, target)
    else:
        ask_epsilon(trial, rng, m, target)
