"""Tables of steps that accountants and training loops keep, as the mechanisms that they record.

Floats mean their exact binary values. Nothing is imported from the packages that keep them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from decimal import ROUND_CEILING, ROUND_FLOOR
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Final, Generic, TypeVar

from dpexact.arguments import MAX_COUNT, integer_in, real_in
from dpexact.conversion import RealLike, real
from dpexact.decimals import format_decimal
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Mechanism, approx_dp, gaussian, poisson
from dpexact.mechanisms.table import Table
from dpexact.reals import Real
from dpexact.tokens import quoted
from dpexact.training.events import composed

_T = TypeVar("_T")

_EVERYTHING: Final = approx_dp(0, 1)
#: So many texts are kept, as those of a million rows that all differ are much memory.
_LATEST: Final = 1 << 16


def from_rows(
    rows: Iterable[Sequence[RealLike]],
    *,
    figures: int | None = None,
    ordered: bool = False,
    place: Callable[[int], str] = "row {}".format,
) -> Mechanism:
    """The run that consists of rows ``(sigma, q, steps)``, in whatever order.

    Each is ``steps`` Poisson samples of rate ``q`` with Gaussian noise of ``sigma`` times the
    clipping norm; ``q = 1`` takes every record. With ``figures`` every ``sigma`` is rounded down
    and every ``q`` up to so many significant figures, so that fewer rows differ: the run that
    results is at most as private, as delta falls with the noise and rises with the rate. Equal rows
    are one part, or where it is to be ``ordered`` equal ones that follow each other. ``place`` is
    what the row of a number is called.

    Raises:
        InvalidInput: there is no step, or a number out of its domain, with the place of its row.
    """
    runs: list[tuple[tuple[Real, Real], int]] = []
    digits = 0 if figures is None else integer_in(figures, "figures", 1, 100)

    def noise(text: RealLike) -> Real:
        sigma = real_in(text, "sigma", ">= 0")
        return _rounded(sigma, digits, ROUND_FLOOR) if digits else sigma

    def rate(text: RealLike) -> Real:
        q = real_in(text, "q", ">= 0", "<= 1")
        return _rounded(q, digits, ROUND_CEILING) if digits else q

    read_noise, read_rate = _Known(noise), _Known(rate)
    read_steps = _Known(lambda text: integer_in(text, "steps", 0, MAX_COUNT))
    for number, row in enumerate(rows, start=1):
        try:
            # three letters are no row, nor are three keys
            if isinstance(row, str | bytes | Mapping | Set):
                raise TypeError
            sigma, q, times = row
            runs.append(((read_noise(sigma), read_rate(q)), read_steps(times)))
        except InvalidInput as error:
            raise InvalidInput(f"{place(number)}: {error}") from None
        except (TypeError, ValueError):
            raise InvalidInput(
                f"{place(number)}: {quoted(row)} is not accepted; must be sigma, q, steps"
            ) from None
    parts: Iterable[tuple[tuple[Real, Real], int]]
    if ordered:
        parts = ((key, sum(n for _, n in same)) for key, same in groupby(runs, itemgetter(0)))
    else:
        counts: dict[tuple[Real, Real], int] = {}
        for key, times in runs:
            counts[key] = counts.get(key, 0) + times
        parts = counts.items()
    table = [(*key, times) for key, times in parts if times]
    if not table:
        raise InvalidInput("history: it holds no step")
    if len(table) > 1 and all(_is_sampled(sigma, q) for sigma, q, _ in table):
        return Table(table)
    return composed([_sampled(sigma, q) ** times for sigma, q, times in table])


class _Known(Generic[_T]):
    """What texts are read as, the latest ones once; whatever is no text is read as it comes."""

    def __init__(self, read: Callable[[RealLike], _T]) -> None:
        self._read, self._known = read, lru_cache(_LATEST)(read)

    def __call__(self, value: RealLike) -> _T:
        return self._known(value) if type(value) is str else self._read(value)


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


def _is_sampled(sigma: Real, q: Real) -> bool:
    """Whether it is a Gaussian on a sample, by what is written out."""
    noise, rate = sigma.fraction, q.fraction
    return noise is not None and rate is not None and noise > 0 < rate < 1


def _rounded(value: Real, figures: int, rounding: str) -> Real:
    """``value`` in so many figures, if it is rational."""
    if value.fraction is None:
        return value
    return real(format_decimal(value.fraction, figures, rounding))
