"""Which engine accounts for what: one table, read from above.

A route takes a composition in one direction and answers with a profile, with None where the
composition is not of its kind, or refuses one that is too long for it; then the next is asked. The
lattice engine takes everything, behind all of them. Engines are imported where they are used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from dpexact import balls, reals
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.closed_form import (
    GaussianMixedWithResponse,
    OptimalComposition,
    SinglePair,
)
from dpexact.accounting.profile import FAINT, Fallback, FirstToReach, NoLoss, Profile
from dpexact.accounting.reflection import OPPOSITE, Mirrored, unproved
from dpexact.accounting.sampled_rows import are_seldom, rates_of
from dpexact.arguments import Direction, Method
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real

if TYPE_CHECKING:
    from dpexact.accounting.engines.contour.profile import ContourProfile
    from dpexact.accounting.engines.rare.profile import RareProfile
    from dpexact.accounting.pairs.allocation import Allocation
    from dpexact.accounting.pairs.pair import Pair

Route: TypeAlias = Callable[[Composition, Direction], Profile | None]

#: Work after which a contour without a few digits is given up (a second or two), where windows
#: take over then, where they take long, and where pieces do; and of how many steps these wait.
_GLANCE_WORK, _LIGHT_WORK, _HEAVY_WORK, _BRIEF_WORK = 12_000_000, 2_000_000, 40_000_000, 3_000_000
_FEW_STEPS, _MANY_STEPS = 30, 150
#: Allocations of noise and steps over ``e^(1/sigma^2) - 1`` below these are sooner on a line.
_QUIET, _HIDING = 2.5, 200
#: Fewer sampled steps are always taken one by one.
_FEWEST_CLOUDED: Final = 40
#: Longest sum over responses beside a Gaussian, and profiles that answer whatever is asked.
MAX_TERMS: Final = 20_000
UNFAILING: Final = (OptimalComposition, NoLoss, GaussianMixedWithResponse)


def routed(
    composition: Composition, direction: Direction = "both", method: Method = "auto"
) -> Profile:
    """The profile of what runs: in both directions the larger one, where they differ."""
    ways = composition.ways(direction)
    for _, faced in ways:
        faced.kept = composition.kept
    found = [_one_way(faced, way, method) for way, faced in ways]
    return found[0] if len(found) == 1 else Mirrored(found[0], found[1], _bound(ways[1][1]))


def glanced(composition: Composition, direction: Direction) -> Profile:
    """One way by the route that takes it, with some work and nothing behind."""
    from dpexact.accounting.engines.contour.profile import ContourProfile

    ((way, faced),) = composition.ways(direction)
    found = _first(faced, way, "auto")
    # proposes: how much is worth it; what stands behind it answers too
    return found.varied(patient=False) if isinstance(found, ContourProfile) else found


def _bound(c: Composition) -> Callable[[Real, Real], bool] | None:
    """What proves, next to free, that delta of adding is at most a level."""
    known: ContourProfile | None = c.kept.get("add")
    windows = _windows(c, "add")
    # proposes: which bound; all hold, and of one step and of pieces one point takes little
    if windows is None or windows.count == 1:
        return known.is_below if known else unproved if windows or c.is_on_laplace else None
    if known is None or windows.is_often:
        return (known or windows).is_below
    return lambda at, level: known.is_below_reversed(at, level) or windows.is_below(at, level)


def _one_way(composition: Composition, direction: Direction, method: Method) -> Profile:
    """The first route that takes what faces the direction, with the lattice engine behind it."""
    windows = _windows(composition, direction)
    if composition.apart:
        from dpexact.accounting.pairs.mixture import Grouped

        if any(isinstance(pair, Grouped) for pair, _ in composition.apart):
            from dpexact.accounting.cut_groups import CutGroups

            cut = CutGroups(composition, direction, lambda c: _one_way(c, direction, method))
            # proposes: which engine is asked first; both enclose
            rare = [windows] if method == "auto" and windows and windows.is_rare else []
            return FirstToReach(*rare, cut)

    def lattice(share: int = 1) -> Profile:
        from dpexact.accounting.engines.lattice.profile import WORK, lattice_profile

        return lattice_profile(composition, direction == "add", WORK // share)

    if method == "lattice":
        return lattice()
    try:
        found = _first(composition, direction, method)
    except UnsupportedMechanism:
        if method == "contour":
            raise
        return lattice()
    if method == "contour" or isinstance(found, UNFAILING):
        return found
    behind = _behind(composition, found, windows, lattice)
    # proposes: which engine is asked first; each encloses
    if not windows or not windows.is_loud or windows.count == 1 or not windows.is_plain_row:
        return behind
    from dpexact.accounting.engines.loud_samples import LoudSamples

    ask = *windows.rows[0][:3], windows.add
    return FirstToReach(*[LoudSamples(*ask)] * LoudSamples.takes(*ask), behind)


def _windows(c: Composition, direction: Direction) -> RareProfile | None:
    """One Gaussian on samples, or several on rare ones: the engine that sorts losses by size."""
    # proposes: which engine is asked; both enclose
    many = len(c.samples) >= _FEWEST_CLOUDED and not are_seldom(rates_of(c.samples))
    clouded = many and c.clouds[0]
    if clouded or not (c.samples or c.apart) or c.noises:
        return None
    from dpexact.accounting.engines.rare.asked import rare_profile

    return rare_profile(c, direction)


def _behind(
    composition: Composition,
    found: Profile,
    windows: RareProfile | None,
    lattice: Callable[..., Profile],
) -> Profile:
    """What is found, with more work and the lattice engine behind it."""
    from dpexact.accounting.engines.contour.profile import ContourProfile

    if isinstance(found, ContourProfile):
        if windows is None:
            return Fallback(found.varied(_GLANCE_WORK), lambda: lattice(3), found, FAINT)
        light = found.varied(_LIGHT_WORK, patient=False)
        line = [found.varied(_HEAVY_WORK, patient=False)] if windows.is_loud else []
        behind = FirstToReach(*line, windows, found)
        return Fallback(light, lambda: Fallback(behind, lambda: lattice(3), None, FAINT), behind)
    return Fallback(found, lattice)


def _first(composition: Composition, direction: Direction, method: Method) -> Profile:
    others = SAMPLED_ROUTES if composition.samples else ROUTES
    routes = GAUSSIAN_ROUTES if composition.is_sampled_gaussian else others
    refusal = "the contour engine needs a Gaussian"
    for route in routes if method == "auto" else (_forced,):
        try:
            if (found := route(composition, direction)) is not None:
                return found
        except UnsupportedMechanism as error:
            refusal = str(error)  # the error itself would hold all that was tried
    raise UnsupportedMechanism(refusal)


# --- the routes -----------------------------------------------------------------------------------


def _response(c: Composition, direction: Direction) -> Profile | None:
    """Equal responses, with a Gaussian perhaps: sums of binomial probabilities."""
    if c.others or c.laplace or c.apart or len(c.responses) > 1:
        return None
    infinite = c.infinite(add=False)
    eps, count = next(iter(c.responses.items()), (reals.rational(0), 0))
    if c.mu is not None:
        return None if count > MAX_TERMS else GaussianMixedWithResponse(c.mu, infinite, eps, count)
    return OptimalComposition(eps, count, infinite) if count else NoLoss(infinite)


def _sampled_once(c: Composition, direction: Direction) -> Profile | None:
    """One run on a sample: from the profile of what runs (Balle, Barthe, Gaboardi 2018)."""
    from dpexact.accounting.engines.sampled_once import sampled_once

    match c.samples:
        case [(sample, 1)] if not sample.inner.samples and replace(c, samples=[]).is_empty:
            inner = _first(sample.inner.facing(direction), direction, "auto")
            return sampled_once(inner, sample.q, direction)
    return None


def _laplace_cells(c: Composition, direction: Direction) -> Profile | None:
    """Laplace noise on samples: few steps by polynomials between corners, else lines or blurs."""
    if len(c.samples) != 1 or not (c.is_on_laplace and replace(c, samples=[], masses=[]).is_empty):
        return None
    from dpexact.accounting.engines.laplace.cells import LaplaceCells
    from dpexact.accounting.pairs.sampled_laplace import SampledLaplace

    ((pair, count),) = replace(c, masses=[]).everything(direction)
    if not isinstance(pair, SampledLaplace) or not LaplaceCells.takes(pair, count):
        return None
    found, others = LaplaceCells(pair, count, c.beside), _atoms(c, direction)
    assert isinstance(others, FirstToReach)
    # proposes: which is asked first; after many steps a line sees no atoms, or blurs are sooner
    return FirstToReach(*others.routes[: (count > _FEW_STEPS) + (count > _MANY_STEPS)], found)


def _responses(c: Composition, direction: Direction) -> Profile | None:
    """Different responses: counts on a lattice, meeting in the middle, or a grid of losses."""
    if c.others or c.apart or not c.is_finite:
        return None
    from dpexact.accounting.engines.heterogeneous.choose import different_responses

    return different_responses(tuple(c.responses.items()), c.infinite(add=False))


def _laplace(c: Composition, direction: Direction) -> Profile | None:
    """Laplace noise alone: finite sums if few, else contours and splits."""
    if c.others or c.responses or c.noises or c.apart:
        return None
    from dpexact.accounting.engines.laplace.split import laplace_profile
    from dpexact.accounting.engines.laplace.sums import LaplaceParts

    return laplace_profile(LaplaceParts(tuple(c.laplace)), c.infinite(add=False))


def _single(c: Composition, direction: Direction) -> Profile | None:
    """One pair: its outcomes, tails beside infinite loss, transform, or truncated Laplace sums."""
    if len(c.apart) != 1 or not replace(c, apart=[], masses=[]).is_empty:
        return None
    from dpexact.accounting.engines.few_atoms import FiniteProfile
    from dpexact.accounting.engines.laplace.truncated import TruncatedLaplaceSums
    from dpexact.accounting.pairs.allocation import Allocation
    from dpexact.accounting.pairs.laplace import TruncatedLaplace

    ((pair, count),) = c.apart
    if count == 1 and (outcomes := pair.outcomes()):
        return None if c.masses else FiniteProfile(outcomes, pair.revealed())
    if count == 1 and pair.has_tails:
        return SinglePair(pair, c.infinite(add=False), c.beside)
    if count == 1 and isinstance(pair, Allocation) and not c.masses:
        return _allocated(c, pair, direction)
    if isinstance(pair, TruncatedLaplace) and TruncatedLaplaceSums.takes(pair, count):
        return TruncatedLaplaceSums(pair, count, c.infinite(add=False))
    return None


def _lattice_law(c: Composition, direction: Direction) -> Profile | None:
    """Finite laws, of one lattice or few outcomes, beside one or two steps of noise."""
    from dpexact.accounting.engines.lattice_law import lattice_law

    return lattice_law(c, direction)


def contour(c: Composition, direction: Direction) -> ContourProfile | None:
    """Gaussians, sampled or not, with anything; other noise, unsampled: inversion of moments."""
    gaussian = c.noises or any(sample.inner.noises for sample, _ in c.samples) or not c.has_tails
    gaussian = gaussian or any(pair.decays for pair, _ in c.apart) or c.is_on_laplace
    if not gaussian and (c.samples or c.is_finite):
        return None
    return _line(c, direction, lambda: c.everything(direction))


def _line(
    c: Composition, direction: Direction, pairs: Callable[[], Sequence[tuple[Pair, int]]]
) -> ContourProfile:
    """The contour of pairs, which shares what is known of them with that of the reverse."""
    from dpexact.accounting.engines.contour.profile import ContourProfile

    other = None if c.apart else c.kept.get(OPPOSITE[direction])
    found = ContourProfile(pairs() if other is None else (), c.infinite(add=direction == "add"))
    if other is not None:
        found.product, found.lines = other.product.reverse, other.lines
    c.kept[direction] = found
    return found


def _rare(c: Composition, direction: Direction) -> Profile | None:
    """Gaussians, rarely sampled: losses of one scale at a time; two steps: an integral."""
    windows = _windows(c, direction)
    if windows is None:
        return _lattice_law(c, direction)
    # proposes: which engine is asked; both enclose
    if not windows.is_rare:
        return None
    if bundle := _bundled(c, direction):
        return FirstToReach(windows, bundle)
    line = contour(c, direction)
    assert line is not None
    if windows.count > 2:  # where floats lose the windows a long line may have all digits
        long = line.varied(_HEAVY_WORK, patient=False)
        return Fallback(windows.with_line(line, _GLANCE_WORK), lambda: long)
    from dpexact.accounting.engines.gaussian_twice import GaussianTwice

    twice = GaussianTwice(*windows.rows[0][:2], windows.add)
    return FirstToReach(twice, windows, line.varied(_GLANCE_WORK))


def _bundled(c: Composition, direction: Direction) -> Profile | None:
    """Very many sampled Gaussians: the contour, with nodes for them."""
    if len(c.samples) < _FEWEST_CLOUDED or not c.clouds[0]:
        return None
    from dpexact.accounting.pairs.bundle import BUNDLE, Bundle

    def pairs() -> Sequence[tuple[Pair, int]]:
        clouds, left = c.clouds
        bundles = [(Bundle(cloud, removes=direction == "remove"), 1) for cloud in clouds]
        return [*bundles, *replace(c, samples=left).everything(direction)]

    line = _line(c, direction, pairs)
    return FirstToReach(line.varied(BUNDLE * line.max_work))


def _allocated(c: Composition, pair: Allocation, direction: Direction) -> Profile:
    """One random allocation and nothing else: the Laplace transform of its likelihood ratio."""
    from dpexact.accounting.engines.allocation_put import AllocationPut

    found = contour(c, direction)
    put, sigma = AllocationPut(pair.sigma, pair.t, add=pair.add), balls.approximate(pair.sigma)
    if found is None:
        return put
    # proposes: which is asked first; steps that hide less are more work for the transform
    if sigma < _QUIET and math.log1p(pair.t / _HIDING) * sigma * sigma < 1:
        return FirstToReach(found.varied(_GLANCE_WORK), put, found)
    return FirstToReach(put, found)


def _ends(c: Composition, direction: Direction) -> Profile | None:
    """Laplace noise and samples of it, beside other atoms, of which a line may see none; coins."""
    apart = any(x.has_outline and (x.decays or not x.has_tails) for x, _ in c.apart)
    return _atoms(c, direction) if apart or c.laplace or c.is_on_laplace else None


def _averaged(c: Composition, direction: Direction) -> Profile | None:
    """Few steps on samples beside few outcomes: an average of what the steps alone are."""
    from dpexact.accounting.engines.averaged import averaged

    return averaged(c, direction, contour, lambda rest, way: _first(rest, way, "auto"))


def _few_outcomes(c: Composition, direction: Direction) -> Profile | None:
    """Finite laws, sampled or not, of few combinations of outcomes."""
    from dpexact.accounting.engines.lattice_law import few_outcomes

    return few_outcomes(c, direction)


def _atoms(c: Composition, direction: Direction) -> Profile | None:
    """Laws with atoms, sampled or not, of many outcomes: by types in halves, or by blurs."""
    from dpexact.accounting.engines.contour.atoms import AtomsProfile
    from dpexact.accounting.engines.contour.profile import ContourProfile
    from dpexact.accounting.engines.many_types import ManyTypes

    pairs = c.everything(direction)
    # what reveals everything has no moments beside it, and no other pair shows its outcomes
    if not all(pair.has_outline for pair, _ in pairs):
        return None
    infinite = c.infinite(add=direction == "add")
    blurred = AtomsProfile(pairs, infinite)
    # Chernoff's bound mostly shows which direction is the smaller
    c.kept[direction] = line = ContourProfile(pairs, infinite)
    # proposes: which is asked first; densities have no types, and of many steps no atoms matter
    if any(pair.decays for pair, _ in pairs):
        return FirstToReach(line.varied(_BRIEF_WORK, patient=False), blurred)
    few = ManyTypes.takes(pairs)
    return Fallback(ManyTypes(pairs, infinite), lambda: blurred) if few else blurred


#: Where every record takes part in all of it.
ROUTES: Final[tuple[Route, ...]] = (
    _response,
    _responses,
    _laplace,
    _single,
    _lattice_law,
    _ends,
    contour,
    _few_outcomes,
    _atoms,
)
#: Where some of it runs on samples.
SAMPLED_ROUTES: Final[tuple[Route, ...]] = (
    _sampled_once,
    _lattice_law,
    _laplace_cells,
    _bundled,
    _ends,
    _averaged,
    contour,
    _few_outcomes,
    _atoms,
)
#: Likewise, where nothing but Gaussians runs.
GAUSSIAN_ROUTES: Final[tuple[Route, ...]] = (_sampled_once, _rare, _bundled, contour)


def _forced(c: Composition, direction: Direction) -> Profile | None:
    """The contour, where it is at its best: Laplace noise alone has quicker ways."""
    if c.beside.is_certain:
        return NoLoss(c.infinite(add=False))
    return None if c.laplace and not c.noises and not c.samples else contour(c, direction)
