"""Whether answers about a mechanism are exact, or bounds from one side only, and by which theorem.

The one place that says so: profiles, divergences and trade-off functions are enclosed as if they
were the truth, and the answer carries what they stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from dpexact import balls
from dpexact.enclosure import Enclosure, Side
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    ZCDP,
    Allocation,
    BoundedRange,
    FixedSize,
    Group,
    Mechanism,
    PermuteAndFlip,
    Poisson,
    RenyiDP,
    RepeatAndSelect,
    Replace,
    ReportNoisyMax,
    Shuffle,
    ShuffledBatches,
    Threshold,
    TruncatedPoisson,
)


class Standing(NamedTuple):
    """On which side of the truth an answer may lie, and a sentence with the theorem that says so.

    ``upper``: delta, epsilon and divergences are at most what is enclosed.
    """

    bound: Side = "exact"
    theorem: str = ""


EXACT: Final = Standing()
_SEVERAL: Final = Standing("upper", "k of t steps are bounded by k times one of t/k, rounded down")
_ZCDP: Final = Standing("upper", "zCDP gives an upper bound only")
_RANGES: Final = Standing("upper", "bounded range as eps-DP and as eps^2/8-zCDP")
_NOT_ADAPTIVE: Final = Standing(
    "exact", "no run is chosen by results of others (Dong, Durfee, Rogers 2020)"
)
_PERMUTED: Final = Standing(
    "lower", "shuffled batches are known from below only (Chua et al. 2024); above, as in any order"
)
_CLONES: Final = Standing("upper", "hiding among the clones (Feldman, McMillan, Talwar 2021)")

_GROUPED: Final = Standing(
    "upper",
    "group privacy of guarantees (Dong, Roth, Su 2022, Theorem 3) gives an upper bound only",
)
_SELECTED: Final = Standing(
    "upper", "Rényi bounds of the best of a random number of runs (Papernot, Steinke 2022)"
)
_CURVE: Final = Standing("upper", "Rényi divergences at some orders give an upper bound only")
_NOISY_MAX: Final = Standing(
    "upper", "the noisy maximum is at most as informative as Laplace noise on one number"
)
_TWO_ATTAIN: Final = Standing("exact", "attained by two candidates (docs/theory/selection.md)")
_THRESHOLD: Final = Standing(
    "upper", "noise beside the publication of a new partition gives an upper bound only"
)
_CUT: Final = Standing("upper", "the pair for cut Poisson batches gives an upper bound only")


def _of_group(step: Group | Replace) -> Standing:
    from dpexact.accounting.regrouped import attained

    return EXACT if attained(step) else _GROUPED


def _of_truncated(step: TruncatedPoisson) -> Standing:
    from dpexact.accounting.coins import is_cut

    return _CUT if is_cut(step) else EXACT


def _of_shuffled(reports: Shuffle) -> Standing:
    eps, alone = reports.eps, reports.n == 1
    return EXACT if alone or eps is None or balls.sign(eps, "eps") == 0 else _CLONES


#: What is said of each kind of mechanism that does not always stand for an attained pair.
STANDINGS: Final[dict[type[Mechanism], Callable[[Any], Standing]]] = {
    Group: _of_group,
    Replace: _of_group,
    TruncatedPoisson: _of_truncated,
    Threshold: lambda _: _THRESHOLD,
    RepeatAndSelect: lambda best: EXACT if best.runs_once else _SELECTED,
    RenyiDP: lambda _: _CURVE,
    Allocation: lambda drawn: _SEVERAL if 1 < drawn.k < drawn.t else EXACT,
    ZCDP: lambda zcdp: _ZCDP if balls.sign(zcdp.rho, "rho") > 0 else EXACT,
    BoundedRange: lambda ranged: _RANGES if balls.sign(ranged.eps, "eps") > 0 else EXACT,
    PermuteAndFlip: lambda best: _NOISY_MAX if balls.sign(best.eps, "eps") > 0 else EXACT,
    ReportNoisyMax: lambda best: _NOISY_MAX if balls.sign(best.eps, "eps") > 0 else EXACT,
    ShuffledBatches: lambda batches: _PERMUTED if batches.t > 1 else EXACT,
    Shuffle: _of_shuffled,
}


def standing(mechanism: Mechanism) -> Standing:
    """What answers about ``mechanism`` stand for.

    Raises:
        UnsupportedMechanism: one part has only upper, and another only lower bounds.
    """
    known = unattained(mechanism)
    if BoundedRange in known and ranges_alone(mechanism):
        return _NOT_ADAPTIVE
    found: dict[Side, Standing] = {}
    for said in known.values():
        found.setdefault(said.bound, said)
    if len(found) > 1:
        both = "; ".join(said.theorem for said in found.values())
        raise UnsupportedMechanism(f"nothing is known from one side of both: {both}")
    return next(iter(found.values()), EXACT)


def from_above(mechanism: Mechanism) -> Standing:
    """:func:`standing`, of what is to be bounded from above.

    Raises:
        UnsupportedMechanism: only lower bounds are known.
    """
    said = standing(mechanism)
    if said.bound == "lower":
        raise UnsupportedMechanism(f"of {mechanism} nothing is known from above: {said.theorem}")
    return said


def unattained(mechanism: Mechanism) -> dict[type[Mechanism], Standing]:
    """The kinds of parts, at any depth, that no attained pair stands for, and what is said of each.

    ``ZCDP`` is among them where some ``rho > 0``, ``BoundedRange`` where some ``eps > 0``,
    ``ShuffledBatches`` of several batches.
    """
    found: dict[type[Mechanism], Standing] = {}
    for part in counted(mechanism):
        kind = type(part)
        if kind in STANDINGS and (said := STANDINGS[kind](part)).bound != "exact":
            found.setdefault(kind, said)
    return found


def standing_of_points(mechanism: Mechanism) -> Standing:
    """Likewise of single points of profile and trade-off function: pairs may attain one each."""
    said = standing(mechanism)
    alone = isinstance(mechanism, PermuteAndFlip) and said is _NOISY_MAX
    return _TWO_ATTAIN if alone else said


def stated(answer: Enclosure, said: Standing) -> Enclosure:
    """``answer``, with what it stands for."""
    return answer if said is EXACT else answer.as_bound(*said)


def counted(mechanism: Mechanism) -> Iterator[Mechanism]:
    """Every kind of mechanism at any depth, but for what runs on samples without records."""
    left = [mechanism]
    while left:
        part = left.pop()
        yield part
        if not isinstance(part, Poisson | FixedSize) or balls.sign(part.q, "q") != 0:
            left += reversed(list(part.kinds()))


def sampling_of(mechanism: Mechanism) -> type[Mechanism] | None:
    """``Poisson`` or ``FixedSize``, whichever occurs at any depth; ``None`` without samples.

    Raises:
        UnsupportedMechanism: parts speak of different neighbours.
    """
    mechanism.relation()
    kinds = (type(part) for part in counted(mechanism) if isinstance(part, Poisson | FixedSize))
    return next(kinds, None)


def selects(mechanism: Mechanism) -> bool:
    """Whether some part is known by its divergences alone: the best of many runs, or a curve."""
    return any(isinstance(part, RepeatAndSelect | RenyiDP) for part in mechanism.steps())


def curves(mechanism: Mechanism) -> list[RenyiDP]:
    """The parts that are given by divergences at some orders."""
    return [part for part in mechanism.steps() if isinstance(part, RenyiDP)]


def ranges_alone(mechanism: Mechanism) -> bool:
    """Whether nothing runs but one bounded range, ``eps > 0``, repeated and not adaptive."""
    match list(mechanism.steps()):
        case [BoundedRange(eps)]:
            return balls.sign(eps, "eps") > 0
    return False
