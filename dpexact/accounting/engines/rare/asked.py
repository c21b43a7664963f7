"""What windows are asked about: Gaussians on samples, also of groups, or of a record replaced."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.rare.profile import MAX_WORK, RareProfile
from dpexact.accounting.engines.rare.rows import Row
from dpexact.accounting.pairs.mixture import GaussianMixtures, Grouped
from dpexact.accounting.pairs.shifts import Shifts
from dpexact.arguments import Direction

#: In larger groups ``A`` turns so fast that rules are long.
_LARGEST_GROUP: Final = 16


def sampled(
    c: Composition, direction: Direction, work: int = MAX_WORK, *, alone: bool = True
) -> RareProfile:
    """Of Gaussians on samples, and nothing else."""
    rows = tuple(Row(x.inner.noise, x.q, n) for x, n in c.samples if x.inner.noise is not None)
    lines = c.kept.setdefault("rare", {})
    return RareProfile(rows, direction == "add", work, alone=alone, lines=lines)


def _regrouped(c: Composition, direction: Direction) -> RareProfile | None:
    """Of groups on samples, or a record replaced in them, if nothing else runs, and not once."""
    if not c.apart or not replace(c, apart=[]).is_empty:
        return None
    rows, add = [], False
    for pair, count in c.apart:
        match pair:
            case Grouped(rate, q, k, removes) if k <= _LARGEST_GROUP:
                rows.append(Row(1 / rate, q, count, k))
                add = not removes
            case GaussianMixtures(Shifts(((still, _), (rate, q))) as up, down) if up == down:
                if still.fraction != 0:
                    return None
                rows.append(Row(1 / rate, q, count, replaced=True))
            case _:
                return None
    found = RareProfile(tuple(rows), add, lines=c.kept.setdefault("rare", {}))
    return found if found.count > 1 else None


def rare_profile(c: Composition, direction: Direction) -> RareProfile | None:
    """Of either, if windows are for it."""
    if not c.is_sampled_gaussian:
        return _regrouped(c, direction)
    found = sampled(c, direction)
    # of two different steps there is an integral
    return found if len(found.rows) == 1 or (found.is_rare and found.count > 2) else None
