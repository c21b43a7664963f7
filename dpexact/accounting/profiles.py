"""The privacy profile of a mechanism: which composition is asked, in which direction."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from dpexact.accounting.coins import Averaged, averaged
from dpexact.accounting.composition import Composition
from dpexact.accounting.pairs.coin import Coin
from dpexact.accounting.profile import (
    Fallback,
    InfiniteLoss,
    NoLoss,
    Profile,
    TighterBound,
)
from dpexact.accounting.reflection import WorseDirection, in_direction
from dpexact.accounting.routes import UNFAILING, contour, glanced, routed
from dpexact.accounting.standing import counted, curves, ranges_alone, selects, unattained
from dpexact.arguments import WAYS, Direction, Method
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import (
    ZCDP,
    Adaptive,
    BoundedRange,
    FixedSize,
    Mechanism,
    Mix,
    PureDP,
    RenyiDP,
    RepeatAndSelect,
    ShuffledBatches,
    TruncatedPoisson,
)
from dpexact.mechanisms.table import Table
from dpexact.reals import Real

#: Work after which a point of a curve is asked alone, by whatever engine takes it.
_POINT_WORK: Final = 12_000_000
#: Outcomes of coins that are averaged over at once.
_FEW_OUTCOMES: Final = 8


def profile(
    mechanism: Mechanism, direction: Direction = "both", method: Method = "auto"
) -> Profile:
    """The privacy profile of ``mechanism``'s dominating pair.

    Beside ``zcdp`` it is an upper bound (:class:`~dpexact.accounting.classic.zcdp.ZCDPProfile`).
    Without sampling the two directions are the same; with it the larger of both, and no mixture of
    them, is the answer (``docs/theory/dominating-pairs.md``, Proposition 7). ``method`` may
    force the contour or the lattice engine where they apply.

    Raises:
        UnsupportedMechanism: naming the part that no certified method accounts for.
    """
    mechanism.relation()
    return _profile(mechanism, direction, method)


def _profile(
    mechanism: Mechanism, direction: Direction = "both", method: Method = "auto"
) -> Profile:
    """The same of parts whose neighbours agree, or stand for what bounds such parts."""
    if isinstance(mechanism, Table):
        return routed(Composition.running(mechanism), direction, method)
    known = unattained(mechanism)
    single_orders = not known.keys().isdisjoint((RepeatAndSelect, RenyiDP))
    for occurs, name, of in (
        (ShuffledBatches in known, "shuffled batches", _permuted),
        (BoundedRange in known, "bounded range", _ranges),
        (single_orders and selects(mechanism), "selection", _selected),
        (ZCDP in known, "zCDP", _zcdp),
    ):
        if occurs and method != "auto":
            raise UnsupportedMechanism(f"the {method} engine accounts for no {name}")
        if occurs:
            return of(mechanism, direction)
    steps = mechanism.steps()
    if method == "auto" and any(isinstance(x, Mix | TruncatedPoisson) for x in counted(mechanism)):
        found = [
            _flipped(steps, way, average)
            for way in _ways(steps, direction)
            if (average := averaged(steps, _profile, way))
        ]
        if found:
            return WorseDirection(*found) if len(found) == 2 else found[0]
    if any(isinstance(step, FixedSize) for step in steps):
        from dpexact.accounting.fixed_size import on_fixed_size

        return on_fixed_size(steps)
    return routed(Composition.of(steps.items()), direction, method)


def _ways(steps: dict[Mechanism, int], direction: Direction) -> tuple[Direction, ...]:
    """The directions to ask: one, of coins over what is symmetric as a pair."""
    try:
        return tuple(way for way, _ in Composition.of(steps.items()).ways(direction))
    except UnsupportedMechanism:  # there may be profiles all the same
        return WAYS[direction]


def _flipped(steps: dict[Mechanism, int], direction: Direction, average: Averaged) -> Profile:
    """An average of closed forms or one flip; else coins as pairs at a glance, and it behind them.

    Of few outcomes only where a line takes the pairs, or their types are listed: other engines may
    take longer.
    """
    if average.flips == 1 or all(isinstance(part, UNFAILING) for _, part in average.parts):
        return average
    from dpexact.accounting.engines.contour.profile import ContourProfile
    from dpexact.accounting.engines.few_atoms import FewAtoms

    try:
        pairs = glanced(Composition.of(steps.items()), direction)
    except UnsupportedMechanism:
        return average
    if len(average.parts) <= _FEW_OUTCOMES and not isinstance(pairs, ContourProfile | FewAtoms):
        return average
    return Fallback(pairs, lambda: average, average)


def _selected(mechanism: Mechanism, direction: Direction) -> Profile:
    """The best of many runs, or a curve of divergences: by single orders."""
    from dpexact.accounting.renyi.integer_orders import GivenOrders, SelectedOrders

    return (GivenOrders if curves(mechanism) else SelectedOrders)(mechanism, direction)


def _zcdp(mechanism: Mechanism, direction: Direction) -> Profile:
    """By the parameters, which add up; of samples by divergences at integer orders."""
    from dpexact.accounting.classic.zcdp import ZCDPProfile

    try:
        return ZCDPProfile.of(mechanism)
    except UnsupportedMechanism as error:
        from dpexact.accounting.renyi.integer_orders import IntegerOrders

        try:
            return IntegerOrders(mechanism, direction)
        except UnsupportedMechanism:
            raise error from None


def repeated(mechanism: Mechanism, direction: Direction) -> list[Callable[[int], Profile]] | None:
    """The profile of so many repetitions, in each way, where they share work; else None."""
    try:
        if ZCDP in unattained(mechanism) or selects(mechanism):
            return None
        composition = Composition.running(mechanism)
    except UnsupportedMechanism:
        return None
    samples = composition.samples
    from dpexact.accounting.pairs.mixture import Grouped, Mixtures

    if any(isinstance(pair, Grouped) for pair, _ in composition.apart):
        return None
    shared = samples or any(isinstance(pair, Mixtures) for pair, _ in composition.apart)
    if composition.has_tails and not shared:
        return None
    if any(isinstance(pair, Coin) for pair, _ in composition.apart):
        return None
    if not all(x.inner.is_gaussian or x.inner.is_laplace for x, _ in samples):
        return None
    profiles = [contour(faced, way) for way, faced in composition.ways(direction)]
    return [partial(p.varied, _POINT_WORK) for p in profiles if p is not None] or None


def _ranges(mechanism: Mechanism, direction: Direction) -> Profile:
    """Bounded ranges: the worst of their pairs, or the tighter of what they guarantee."""
    from dpexact.accounting.classic.zcdp import ZCDPProfile
    from dpexact.accounting.engines.bounded_range import BoundedRangeProfile

    if ranges_alone(mechanism):
        ((step, count),) = mechanism.steps().items()
        assert isinstance(step, BoundedRange)
        return BoundedRangeProfile(step.eps, count)
    pure, concentrated = of_ranges(mechanism)
    try:
        first = ZCDPProfile.of(concentrated)
    except UnsupportedMechanism:
        return profile(pure, direction)
    try:
        return TighterBound(profile(pure, direction), first)
    except UnsupportedMechanism:
        return first


def of_ranges(mechanism: Mechanism) -> tuple[Mechanism, Mechanism]:
    """``mechanism`` with the pure DP, and with the zCDP, of bounded ranges in their place."""
    pure = _with_ranges(mechanism, PureDP)
    return pure, _with_ranges(mechanism, lambda eps: ZCDP(eps * eps / 8))


def _with_ranges(mechanism: Mechanism, guarantee: Callable[[Real], Mechanism]) -> Mechanism:
    """``mechanism`` with a guarantee in place of every bounded range, which is that private."""
    match mechanism:
        case BoundedRange(eps):
            return guarantee(eps)
        case Adaptive(inner):
            return _with_ranges(inner, guarantee)
    return mechanism.with_inner(lambda inner: _with_ranges(inner, guarantee))


def _permuted(mechanism: Mechanism, direction: Direction) -> Profile:
    """Shuffled batches of Gaussian noise, alone: a lower bound."""
    from dpexact.accounting.engines.shuffled_batches import ShuffledBatches as Batches

    match list(mechanism.steps().items()):
        case [(ShuffledBatches(inner, t), epochs)]:
            inside = Composition.of(inner.steps().items())
            noise = inside.noise
            if noise is not None and inside.is_gaussian:
                return in_direction(
                    direction, lambda way: Batches(noise, t, epochs, add=way == "add")
                )
            if inside.is_empty:
                return NoLoss(InfiniteLoss())
    raise UnsupportedMechanism(
        f"no certified accounting for {mechanism}: of shuffled batches only Gaussian noise, with "
        "nothing beside it, is bounded, and from below"
    )
