"""Tables of steps that accountants and training loops keep, as the mechanisms that they record.

Floats mean their exact binary values. Nothing is imported from the packages that keep them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_CEILING, ROUND_FLOOR
from itertools import groupby
from operator import itemgetter
from typing import Final

from dpexact.arguments import MAX_COUNT, integer_in, real_in
from dpexact.conversion import RealLike, real
from dpexact.decimals import format_decimal
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Mechanism, approx_dp, gaussian, poisson
from dpexact.reals import Real
from dpexact.tokens import shorten
from dpexact.training.events import composed

_EVERYTHING: Final = approx_dp(0, 1)


def from_rows(
    rows: Iterable[Sequence[RealLike]], *, figures: int | None = None, ordered: bool = False
) -> Mechanism:
    """The run that consists of rows ``(sigma, q, steps)``, in whatever order.

    Each is ``steps`` Poisson samples of rate ``q`` with Gaussian noise of ``sigma`` times the
    clipping norm; ``q = 1`` takes every record. With ``figures`` every ``sigma`` is rounded down
    and every ``q`` up to so many significant figures, so that fewer rows differ: the run that
    results is at most as private, as delta falls with the noise and rises with the rate. Equal rows
    are one part, or where it is to be ``ordered`` equal ones that follow each other.

    Raises:
        InvalidInput: there is no step, or a number out of its domain, with the number of its row.
    """
    runs: list[tuple[tuple[Real, Real], int]] = []
    digits = 0 if figures is None else integer_in(figures, "figures", 1, 100)
    for number, row in enumerate(rows, start=1):
        try:
            if isinstance(row, str):  # three letters are no row
                raise TypeError
            sigma, q, times = row
            key = real_in(sigma, "sigma", ">= 0"), real_in(q, "q", ">= 0", "<= 1")
            if digits:
                key = _rounded(key[0], digits, ROUND_FLOOR), _rounded(key[1], digits, ROUND_CEILING)
            runs.append((key, integer_in(times, "steps", 0, MAX_COUNT)))
        except InvalidInput as error:
            raise InvalidInput(f"row {number}: {error}") from None
        except (TypeError, ValueError):
            raise InvalidInput(
                f"row {number}: {shorten(repr(row))} is not accepted; must be sigma, q, steps"
            ) from None
    if ordered:
        parts = [(key, sum(n for _, n in same)) for key, same in groupby(runs, itemgetter(0))]
    else:
        counts: dict[tuple[Real, Real], int] = {}
        for key, times in runs:
            counts[key] = counts.get(key, 0) + times
        parts = list(counts.items())
    steps = [_sampled(*key) ** times for key, times in parts if times]
    if not steps:
        raise InvalidInput("history: it holds no step")
    return composed(steps)


def from_opacus_history(
    history: object, *, figures: int | None = None, ordered: bool = False
) -> Mechanism:
    """The mechanism that an Opacus accountant recorded: its ``history``, or its ``state_dict()``.

    ``figures`` rounds every noise multiplier down and every sample rate up to so many significant
    figures: a long history of steps that differ is answered sooner, by an upper bound. Equal rows
    are counted together; ``ordered`` keeps their order, as :func:`epsilon_along` needs it.

    Raises:
        InvalidInput: it is neither, or holds no step.

    >>> print(from_opacus_history([(1.5, 0.25, 100), (2.0, 0.25, 50)]))
    poisson(gaussian(1.5), 0.25)^100 * poisson(gaussian(2), 0.25)^50
    """
    rows = history.get("history") if isinstance(history, Mapping) else history
    if not isinstance(rows, list | tuple):
        raise InvalidInput(
            "history: not accepted; must be the list of (noise multiplier, sample rate, steps) "
            "that an accountant has as .history, or its state_dict()"
        )
    return from_rows(rows, figures=figures, ordered=ordered)


def _sampled(sigma: Real, q: Real) -> Mechanism:
    step = _EVERYTHING if sigma.fraction == 0 else gaussian(sigma)
    return step if q.fraction == 1 else poisson(step, q)


def _rounded(value: Real, figures: int, rounding: str) -> Real:
    """``value`` in so many figures, if it is rational."""
    if value.fraction is None:
        return value
    return real(format_decimal(value.fraction, figures, rounding))
