"""A cloud of steps cut into boxes: of each a weighted sum over nodes, or over its steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import compress
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from flint import arb

from dpexact.accounting.arrays import Flags, Floats
from dpexact.accounting.pairs.clouds.cubature import Cloud, Degrees
from dpexact.accounting.pairs.clouds.ellipses import Fit, degrees_of
from dpexact.accounting.pairs.clouds.log_bounds import Modulus, Power, Reach, logarithm_bound
from dpexact.accounting.pairs.pair import TooExpensive
from dpexact.balls import approximate
from dpexact.kept import cached_property
from dpexact.reals import Real

Asked: TypeAlias = "Sequence[tuple[Power | Modulus, float]]"
"""Functions, each with its accuracy."""

#: The sum of the moduli of the weights is about this many times the number of steps.
HEAVY: Final = 3.0
#: What weights cost, in nodes, what a step does, or sums over it that are not known yet, and how
#: many are never worth weights.
_WEIGHING, STEP, _SUMMING, FEWEST = 100.0, 4.0, 0.05, 40
#: Most nodes, and most degrees of one variable: weights cost the third power of it.
_MOST_NODES, MOST_DEGREES = 6000, 250
#: By how much logarithms of parameters are less where balls do not bound what floats do.
_LESS, _TRIES = 0.9, 6
#: About how much wider in rates than in noises a box is.
_WIDER: Final = 2.3
#: Where a search for degrees begins, beside what one function takes, and how it goes on.
_LEAST, _DEEPER = -4.0, 0.5


#: Fewer steps are not worth a cloud.
FEWEST_STEPS: Final = 40

#: Steps for which nodes are sooner than a line for each: always, at least, and how many more for
#: each power of e by which rates and noise differ.
_ALWAYS, _AT_LEAST, _OF_SIDES = 200, 25, (3, 28)


def gathered(
    steps: Sequence[tuple[Real, Real, int]],
) -> tuple[list[Cloud], list[tuple[Real, Real, int]]]:
    """A cloud of steps ``(q, sigma, n)``, if many are for one, and the steps in none.

    Proposes: a cloud; every step is in it or left as it is.
    """
    about = [np.array([approximate(step[axis]) for step in steps]) for axis in (0, 1)]
    (q, sigma), left = about, list(steps)
    # floats hold a step, or it is left as it is
    held = (q > 1e-30) & (q < 0.9) & (sigma > 1e-3) & (sigma < 1e9)
    if held.sum() < FEWEST_STEPS:
        return [], left
    inside, left = (list(compress(steps, which.tolist())) for which in (held, ~held))
    return [Cloud(inside, logs=[np.log(values[held]) for values in about])], left


def sooner(
    steps: Sequence[tuple[Real, Real, int]],
) -> tuple[list[Cloud], list[tuple[Real, Real, int]]]:
    """As :func:`gathered`, where nodes are less work than lines: of many or of steps alike.

    Proposes: likewise.
    """
    found, left = gathered(steps)
    widths = [2 * side.half for cloud in found for side in cloud.sides]
    needed = _AT_LEAST + sum(n * width for n, width in zip(_OF_SIDES, widths, strict=False))
    return (found, left) if len(steps) > min(needed, _ALWAYS - 1) else ([], list(steps))


class Fitted(NamedTuple):
    """Degrees, and for each function where it is bounded and by how much."""

    degrees: Degrees
    bounds: list[tuple[arb, arb, arb]]


class Box:
    """A cloud that may be cut in two."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        self._halves: dict[int, list[Box]] = {}

    @cached_property
    def distinct(self) -> int:
        """How many steps there are in the whole of it, not as counted."""
        return len(self.cloud.last.points)

    def halves(self, axis: int) -> list[Box]:
        """What is on either side of the middle, if there is something on both."""
        if axis not in self._halves:
            self._halves[axis] = [Box(half) for half in self.cloud.halves(axis)]
        return self._halves[axis]

    def holds(self, *logs: Floats) -> Flags:
        """Proposes: which places of such logarithms lie within."""
        first, second = (
            abs(log - side.centre) <= side.half
            for log, side in zip(logs, self.cloud.sides, strict=True)
        )
        found: Flags = first & second
        return found


class Part(NamedTuple):
    """A box of which the nodes are asked, or each step ``alone``."""

    box: Box
    alone: bool


def fits_of(cloud: Cloud, asked: Asked) -> Iterator[Fit]:
    """Proposes: ellipses for each function."""
    depth = math.log(4 * (1 + HEAVY) * cloud.total)
    return (Fit.best(cloud.sides, function, depth + accuracy) for function, accuracy in asked)


def cheapest(
    whole: Box, ask: Callable[[Box], Asked], step: float = 1.0, other: float = 1.0
) -> tuple[list[Part], float]:
    """Parts of a box that are about least work for what is asked of each, and how many nodes.

    A step by itself costs ``step`` times what it usually does, next to a node, and what a box takes
    beside its nodes ``other`` times.

    Proposes: parts; every step is in one of them, whichever they are.
    """
    found: list[Part] = []

    def priced(box: Box) -> tuple[Box, float, float, int]:
        """With what its steps cost alone, and about what it does, or that it is more."""
        alone = box.distinct * STEP * step
        return box, alone, *_cost(box, ask, other, alone)

    work, left = 0.0, [priced(whole)]
    while left:
        box, alone, cost, axis = left.pop()
        halves = [priced(half) for half in box.halves(axis)] if box.distinct > FEWEST else []
        both = sum(min(cost, alone) for _, alone, cost, _ in halves)
        # proposes: likewise
        if len(halves) > 1 and (math.isinf(cost) or both < min(cost, alone)):
            left += halves
        else:
            found.append(Part(box, cost >= alone))
            work += min(cost, alone)
    return found, work


def _cost(box: Box, ask: Callable[[Box], Asked], other: float, most: float) -> tuple[float, int]:
    """Proposes: about how many nodes a box takes, and along which axis it is cut.

    Of more than ``most`` not all functions are looked at, and first those that are high.
    """
    first, second = box.cloud.sides
    if box.distinct <= FEWEST:
        return math.inf, 0
    x = y = nodes = 0.0
    for fit in fits_of(box.cloud.last, ask(box)[::-1]):
        x, y = max(x, fit.level / fit.x), max(y, fit.level / fit.y)
        nodes = max(nodes, fit.nodes / (1 if first.single or second.single else 2))
        if nodes > most:
            break
    if nodes < _MOST_NODES and max(x, y) < MOST_DEGREES:
        summing = 0.0 if box.cloud.is_summed(x, y) else box.distinct * _SUMMING
        return nodes + other * (_WEIGHING + summing), int(y > x)
    return math.inf, int(second.single < first.single or second.half * _WIDER > first.half)


def fitted(cloud: Cloud, asked: Asked) -> Fitted:
    """Degrees with which each function has about its accuracy, and bounds on it.

    Raises:
        TooExpensive: there are none.
    """
    fits, bounds = [], []
    for (function, _), fit in zip(asked, fits_of(cloud, asked), strict=True):
        for _ in range(_TRIES):
            # proposes: what is worth a try
            if not fit.nodes < 2 * _MOST_NODES:
                raise TooExpensive("steps that differ too much for a bundle")
            rho, tau = arb(fit.x).exp(), arb(fit.y).exp()
            bound = logarithm_bound(Reach.of(cloud.sides, rho, tau), function)
            if bound is not None:
                break
            # proposes: ellipses, since any are valid
            fit = fit._replace(x=_LESS * fit.x, y=_LESS * fit.y)
        else:
            raise TooExpensive("steps that differ too much for a bundle")
        fits.append(fit)
        bounds.append((bound, rho, tau))
    heavy, more = arb((1 + HEAVY) * cloud.total), _LEAST
    while True:
        # proposes: degrees; the error is that of any
        degrees = degrees_of(fits, more)
        if max(len(degrees.rows), degrees.rows[0]) > MOST_DEGREES:
            raise TooExpensive("steps that differ too much for a bundle")
        errors = [heavy * cloud.worst(degrees, *bound) for bound in bounds]
        if all(
            error <= arb(-accuracy).exp()
            for error, (_, accuracy) in zip(errors, asked, strict=True)
        ):
            return Fitted(degrees, bounds)
        more += _DEEPER
