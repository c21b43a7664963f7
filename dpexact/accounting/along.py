"""Epsilon along a run whose steps may all differ, as logs of training record it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Final, TypeAlias

from dpexact.accounting.queries import epsilon_answer, epsilon_curve
from dpexact.accounting.sampled_rows import are_seldom
from dpexact.accounting.standing import standing_of_points, stated
from dpexact.arguments import digits_in, direction_in, integers_in, real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput
from dpexact.mechanisms import Composition, Gaussian, Mechanism, Poisson, Repetition
from dpexact.mechanisms.base import compose, repeat
from dpexact.mechanisms.grammar import mechanism_in
from dpexact.mechanisms.table import Table
from dpexact.reals import ONE, Real

Row: TypeAlias = tuple[Mechanism, int]

#: Most points of one curve.
MAX_POINTS: Final = 1000
#: Fewer runs are asked by themselves.
_FEW: Final = 8


def epsilon_along(
    run: Mechanism | str,
    steps: Iterable[int],
    delta: RealLike,
    digits: int = 15,
    direction: str = "both",
    *,
    progress: Callable[[int, int], None] | None = None,
) -> list[Enclosure]:
    """Enclose epsilon at ``delta`` after each number of ``steps`` of ``run``, from its beginning.

    ``run`` is a composition in the order in which its parts ran, ``a^1000 * b^200 * a^50``: entry
    ``i`` is ``epsilon`` of the first ``steps[i]`` of these. Where they are Gaussians, sampled or
    not, the points share their work. No entry is a guarantee of a run that was stopped there
    because of what it had released: for that there is :class:`Filter`.

    Args:
        run: a composition, or its text.
        steps: at most 1000 numbers of steps, in any order, each at most that of the run.
        delta, digits, direction: as for :func:`epsilon`. A point whose digits were not reached is
            as narrow as was certified.
        progress: called with how many answers of how many are done; each direction has its own.

    Raises:
        InvalidInput, UnsupportedMechanism: as :func:`epsilon`.

    >>> run = "poisson(gaussian(1), 0.01)^100 * poisson(gaussian(2), 0.01)^100"
    >>> [e.shown(5) for e in epsilon_along(run, [100, 200], "1e-5", digits=6)]
    ['0.71803...', '0.73659...']
    """
    m = mechanism_in(run)
    target, wanted = real_in(delta, "delta", ">= 0", "<= 1"), digits_in(digits)
    way, total = direction_in(direction), length(m)
    asked = integers_in(steps, "steps", 1, total)
    counts = sorted(set(asked))
    if len(counts) > MAX_POINTS:
        raise InvalidInput(f"steps: {len(counts)} points are not accepted; at most {MAX_POINTS}")
    m.relation()
    if not isinstance(m, Composition):
        ((part, _),) = _parts(m)
        return epsilon_curve(part, asked, target, wanted, direction)
    found: dict[int, Enclosure] = {}
    shared = counts[bisect_right(counts, _FEW - 1) :]
    rows = _plain(m)
    # proposes: who is asked; of rare steps windows tell sooner than a line that points share
    if rows is not None and are_seldom((q, n) for q, _, n in rows):
        rows = None
    if rows is not None and shared and target.fraction not in (0, 1):
        from dpexact.accounting.engines.contour.along import epsilons_along
        from dpexact.accounting.engines.contour.run_curve import run_curve

        said = standing_of_points(m)
        ways = partial(run_curve, rows, direction=way)
        answers = epsilons_along(ways, shared, target, wanted, progress)
        found = {n: stated(one, said) for n, one in zip(shared, answers, strict=True)}
    for done, count in enumerate(counts, start=1):
        if count not in found or found[count].digits < wanted:
            alone = epsilon_answer(first(m, count), target, wanted, way)
            found[count] = found[count].meet(alone) if count in found else alone
            if progress is not None:
                progress(done, len(counts))
    return [found[count] for count in asked]


def length(run: Mechanism) -> int:
    """How many steps :func:`epsilon_along` counts."""
    return sum(n for *_, n in (run.rows if isinstance(run, Table) else _parts(run)))


def first(run: Mechanism, count: int) -> Mechanism:
    """The composition of the first so many steps."""
    kept: list[Mechanism] = []
    for part, n in _parts(run):
        kept.append(part if min(n, count) == 1 else repeat(part, min(n, count)))
        count -= n
        if count <= 0:
            break
    return compose(*kept)


def _parts(run: Mechanism) -> Iterator[Row]:
    """What runs one after another, and how often."""
    for part in run.parts if isinstance(run, Composition) else [run]:
        times = part.times if isinstance(part, Repetition) else 1
        yield (part.mechanism if isinstance(part, Repetition) else part), times


def _plain(run: Mechanism) -> list[tuple[Real, Real, int]] | None:
    """Rates, noises and counts where all are Gaussians, sampled or not; else None."""
    if isinstance(run, Table):
        return [(q, sigma, n) for sigma, q, n in run.rows]
    rows = []
    for part, n in _parts(run):
        match part:
            case Poisson(Gaussian(sigma, sensitivity), q):
                rows.append((q, sigma / sensitivity, n))
            case Gaussian(sigma, sensitivity):
                rows.append((ONE, sigma / sensitivity, n))
            case _:
                return None
    return rows
