"""Which engine accounts for what: one table, read from above.

A route takes a composition in one direction and answers with a profile, with None where the
composition is not of its kind, or refuses one that is too long for it; then the next is asked. The
lattice engine takes everything, and stands behind all of them. Engines are imported where they are
used: a question loads what it needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final, TypeAlias

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.classic.zcdp import ZCDPProfile
from dpexact.accounting.closed_form import GaussianMixedWithResponse, gaussian_divergence
from dpexact.accounting.coins import averaged
from dpexact.accounting.composition import Composition, sampling_of
from dpexact.accounting.fixed_size import WORK, fixed_size_bounds
from dpexact.accounting.optimal import OptimalComposition
from dpexact.accounting.pairs.coin import Coin
from dpexact.accounting.pairs.finite import sampled, symmetrised
from dpexact.accounting.pairs.gaussian import Gaussian
from dpexact.accounting.pairs.pair import Pair
from dpexact.accounting.profile import (
    Fallback,
    FirstToReach,
    NoLoss,
    Profile,
    Repeatable,
    TighterBound,
    WorseCurve,
    WorseDirection,
)
from dpexact.accounting.standing import gives_zcdp, has_ranges, ranges_alone
from dpexact.arguments import Direction, Method
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import BoundedRange, FixedSize, Mechanism, Poisson

if TYPE_CHECKING:
    from dpexact.accounting.lattice.profile import LatticeProfile
    from dpexact.accounting.lattice.steps import Step

Route: TypeAlias = Callable[[Composition, Direction], Profile | None]

_ZERO: Final = reals.rational(0)
#: Work after which a contour without a few digits is given up: a second or two.
_GLANCE_WORK: Final = 12_000_000
#: A record that takes part more often than this is no rare event: one line sees all its losses, and
#: sooner, unless the rate is tiny.
_OFTEN: Final = 1
_OFTEN_AT_TINY_RATES: Final = 10
_TINY_RATE: Final = 1e-4
#: Longest sum over the outcomes of randomized response composed with a Gaussian.
MAX_TERMS: Final = 20_000
#: Most sampled steps that are tried one by one where their bundles do not suffice.
MAX_APART: Final = 2_000
#: Profiles that answer whatever is asked.
_UNFAILING: Final = (OptimalComposition, NoLoss, GaussianMixedWithResponse)


def profile(
    mechanism: Mechanism, direction: Direction = "both", method: Method = "auto"
) -> Profile:
    """The privacy profile of ``mechanism``'s dominating pair.

    Beside ``zcdp`` it is an upper bound (:class:`~dpexact.accounting.classic.ZCDPProfile`).
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
    if has_ranges(mechanism):
        return _ranges(mechanism, direction, method)
    if gives_zcdp(mechanism):
        if method != "auto":
            raise UnsupportedMechanism(f"the {method} engine accounts for no zCDP")
        return _zcdp(mechanism, direction)
    steps = mechanism.steps()
    if method == "auto" and (found := averaged(steps, _profile, direction)):
        if direction != "both":
            return found
        ways = (averaged(steps, _profile, way) for way in ("remove", "add"))
        return WorseDirection(*(found for found in ways if found is not None))
    if any(isinstance(step, FixedSize) for step in steps):
        return _fixed_size(steps)
    composition = Composition.of(steps.items())
    if direction == "both" and composition.is_directed:
        return WorseDirection(*(_one_way(composition, way, method) for way in ("remove", "add")))
    return _one_way(composition, "remove" if direction == "both" else direction, method)


def _zcdp(mechanism: Mechanism, direction: Direction) -> Profile:
    """By the parameters, which add up; of samples by divergences at integer orders."""
    try:
        return ZCDPProfile.of(mechanism)
    except UnsupportedMechanism as error:
        from dpexact.accounting.classic.integer_orders import IntegerOrders

        try:
            return IntegerOrders(mechanism, direction)
        except UnsupportedMechanism:
            raise error from None


def _one_way(composition: Composition, direction: Direction, method: Method = "auto") -> Profile:
    """The first route that takes the composition, with the lattice engine behind it."""
    composition = composition.facing(direction)
    if any(_is_grouped(pair) for pair, _ in composition.apart):
        from dpexact.accounting.cut_groups import CutGroups

        return CutGroups(composition, direction, lambda cut: _facing(cut, direction, method))
    return _facing(composition, direction, method)


def _facing(composition: Composition, direction: Direction, method: Method) -> Profile:
    """Likewise of a composition that faces the direction and has no groups on samples."""

    def lattice(share: int = 1) -> LatticeProfile:
        from dpexact.accounting import on_lattice

        return on_lattice.profile(composition, direction == "add", on_lattice.WORK // share)

    if method == "lattice":
        return lattice()
    try:
        routes = SAMPLED_ROUTES if composition.samples else ROUTES
        found = _first(routes if method == "auto" else FORCED, composition, direction)
    except UnsupportedMechanism:
        if method == "contour":
            raise
        return lattice()
    if method == "contour" or isinstance(found, _UNFAILING):
        return found
    from dpexact.accounting.contour.profile import ContourProfile

    if isinstance(found, ContourProfile):
        return Fallback(found.varied(_GLANCE_WORK), lambda: lattice(3), found)
    return Fallback(found, lattice)


def _is_grouped(pair: Pair) -> bool:
    from dpexact.accounting.pairs.mixture import Grouped

    return isinstance(pair, Grouped)


def _first(routes: Iterable[Route], composition: Composition, direction: Direction) -> Profile:
    refusal = UnsupportedMechanism("the contour engine needs a Gaussian")
    for route in routes:
        try:
            found = route(composition, direction)
        except UnsupportedMechanism as error:
            refusal = error
        else:
            if found is not None:
                return found
    raise refusal


# --- the routes -----------------------------------------------------------------------------------


def _response(c: Composition, direction: Direction) -> Profile | None:
    """Equal responses, with a Gaussian perhaps: sums of binomial probabilities."""
    if c.others or c.laplace or c.apart or len(c.responses) > 1:
        return None
    infinite = c.infinite(add=False)
    eps, count = next(iter(c.responses.items()), (_ZERO, 0))
    if c.mu is not None:
        return None if count > MAX_TERMS else GaussianMixedWithResponse(c.mu, infinite, eps, count)
    return OptimalComposition(eps, count, infinite) if count else NoLoss(infinite)


def _revealed(c: Composition, direction: Direction) -> Profile | None:
    """A step that reveals everything: nothing else matters."""
    return NoLoss(c.infinite(add=False)) if c.reveals else None


def _sampled_once(c: Composition, direction: Direction) -> Profile | None:
    """One run on a sample: from the profile of what runs (Balle, Barthe, Gaboardi 2018)."""
    if [count for _, count in c.samples] != [1] or not replace(c, samples=[]).is_empty:
        return None
    ((sample, _),) = c.samples
    if sample.inner.samples:
        return None
    from dpexact.accounting.sampled_once import sampled_once

    inner = sample.inner.facing(direction)
    return sampled_once(_first(ROUTES, inner, direction), sample.q, direction)


def _responses(c: Composition, direction: Direction) -> Profile | None:
    """Different responses: counts on a lattice, meeting in the middle, or a grid of losses."""
    if c.others or c.apart or not c.is_finite:
        return None
    from dpexact.accounting.heterogeneous import different_responses

    return different_responses(tuple(c.responses.items()), c.infinite(add=False))


def _laplace(c: Composition, direction: Direction) -> Profile | None:
    """Laplace noise alone: finite sums if few, else contours and splits."""
    if c.others or c.responses or c.noises or c.apart:
        return None
    from dpexact.accounting.laplace import LaplaceParts
    from dpexact.accounting.laplace_routes import laplace_profile

    return laplace_profile(LaplaceParts(tuple(c.laplace)), c.infinite(add=False))


def _single(c: Composition, direction: Direction) -> Profile | None:
    """One pair: its outcomes, or its own tails."""
    if not c.apart or [count for _, count in c.pairs()] != [1]:
        return None
    from dpexact.accounting.closed_form import SinglePair
    from dpexact.accounting.finite_pair import FiniteProfile

    ((pair, _),) = c.apart
    if outcomes := pair.outcomes():
        return FiniteProfile(outcomes, pair.revealed())
    if not pair.has_tails:
        return None
    return SinglePair(pair, c.infinite(add=False))


def _lattice_law(c: Composition, direction: Direction) -> Profile | None:
    """Losses on one lattice, perhaps with Gaussian or with Laplace noise: the exact law."""
    if c.apart or (c.noises and c.laplace):
        return None
    from dpexact.accounting.contour.profile import ContourProfile
    from dpexact.accounting.laplace import LaplaceParts, laplace_divergence
    from dpexact.accounting.laplace_routes import CONTOUR_WORK
    from dpexact.accounting.lattice_product import LatticeComposition, commensurate
    from dpexact.accounting.mixed import MixedProfile

    infinite = c.infinite(add=False)
    common = commensurate(c.on_lattices())
    if common is None:
        return None
    law = LatticeComposition(*common, infinite)
    if c.mu is not None:
        mu = c.mu

        def gaussian(epsilon: arb) -> arb:
            return gaussian_divergence(balls.ball(mu), epsilon)

        return MixedProfile(law, gaussian, None, infinite, "a Gaussian")
    if not c.laplace:
        return law
    parts = LaplaceParts(tuple(c.laplace))
    largest = None if law.largest is None else law.largest + parts.largest
    mixed = MixedProfile(law, laplace_divergence(parts), largest, infinite, "Laplace")
    if parts.few:
        return mixed
    return FirstToReach(ContourProfile(tuple(c.pairs()), infinite, CONTOUR_WORK), mixed)


def _contour(c: Composition, direction: Direction) -> Profile | None:
    """Gaussians, sampled or not, with anything; other noise, unsampled: inversion of moments."""
    gaussian = c.noises or any(sample.inner.noises for sample, _ in c.samples)
    gaussian = gaussian or not c.has_tails or any(pair.decays for pair, _ in c.apart)
    if not gaussian and (c.samples or c.is_finite):
        return None
    from dpexact.accounting.contour.profile import ContourProfile

    return ContourProfile(c.everything(direction), c.infinite(add=direction == "add"))


def _rare(c: Composition, direction: Direction) -> Profile | None:
    """One Gaussian, rarely sampled, and nothing else: losses of one scale at a time."""
    if len(c.samples) != 1 or not replace(c, samples=[]).is_empty:
        return None
    ((sample, count),) = c.samples
    inner = sample.inner
    if not inner.is_gaussian or inner.noise is None:
        return None
    # proposes: which engine is asked first; both enclose
    rate = balls.approximate(sample.q)
    # proposes: likewise
    if count * rate > (_OFTEN if rate > _TINY_RATE else _OFTEN_AT_TINY_RATES):
        return None
    from dpexact.accounting.contour.profile import ContourProfile
    from dpexact.accounting.rare.profile import RareProfile

    found = _contour(c, direction)
    assert isinstance(found, ContourProfile)
    rare = RareProfile(inner.noise, sample.q, count, direction == "add")
    return FirstToReach(rare, found.varied(_GLANCE_WORK))


def _bundled(c: Composition, direction: Direction) -> Profile | None:
    """Very many sampled Gaussians that differ little: the contour, with nodes for them."""
    clouds, left = c.clouds
    if not clouds:
        return None
    from dpexact.accounting.contour.profile import ContourProfile
    from dpexact.accounting.pairs.bundle import Bundle

    bundles: list[tuple[Pair, int]] = [
        (Bundle(x, removes=direction == "remove"), 1) for x in clouds
    ]
    pairs = (*bundles, *replace(c, samples=left).everything(direction))
    found = ContourProfile(pairs, c.infinite(add=direction == "add"))
    if len(c.samples) > MAX_APART:
        return found
    each = _contour(c, direction)
    return found if each is None else FirstToReach(found, each)


def _few_outcomes(c: Composition, direction: Direction) -> Profile | None:
    """Finite laws, sampled or not, of few combinations of outcomes."""
    from dpexact.accounting.few_atoms import FewAtoms

    laws = [(sampled(x.inner.outcomes(), x.q, direction), count) for x, count in c.samples]
    return FewAtoms([*laws, *c.finite_laws()], c.beside)


#: Where every record takes part in all of it.
ROUTES: Final[tuple[Route, ...]] = (
    _response,
    _revealed,
    _responses,
    _laplace,
    _single,
    _lattice_law,
    _contour,
    _few_outcomes,
)
#: Where some of it runs on samples.
SAMPLED_ROUTES: Final[tuple[Route, ...]] = (
    _revealed,
    _sampled_once,
    _rare,
    _bundled,
    _contour,
    _few_outcomes,
)


def _forced_contour(c: Composition, direction: Direction) -> Profile | None:
    """The contour, where it is at its best: Laplace noise alone has quicker ways."""
    return None if c.laplace and not c.noises and not c.samples else _contour(c, direction)


FORCED: Final[tuple[Route, ...]] = (_revealed, _forced_contour)


# --- repetitions, bounded range, samples of a fixed size ------------------------------------------


def curve(mechanism: Mechanism, direction: Direction = "both") -> Repeatable | None:
    """What shares work between repetitions of ``mechanism``; None where nothing does."""
    try:
        if gives_zcdp(mechanism):
            return None
        composition = Composition.of(mechanism.steps().items())
    except UnsupportedMechanism:
        return None
    samples = composition.samples
    from dpexact.accounting.pairs.mixture import Mixtures

    shared = samples or any(isinstance(pair, Mixtures) for pair, _ in composition.apart)
    if composition.has_tails and not shared:
        return None
    if any(isinstance(pair, Coin) for pair, _ in composition.apart):
        return None
    if not all(sample.inner.is_gaussian for sample, _ in samples):
        return None
    ways: tuple[Direction, ...] = ("remove", "add") if direction == "both" else (direction,)
    from dpexact.accounting.contour.curves import ContourCurve
    from dpexact.accounting.contour.profile import ContourProfile

    ways = ways if composition.is_directed else ways[:1]
    profiles = [_contour(composition.facing(way), way) for way in ways]
    found = [ContourCurve(p) for p in profiles if isinstance(p, ContourProfile)]
    return found[0] if len(found) == 1 else WorseCurve(*found)


def _ranges(mechanism: Mechanism, direction: Direction, method: Method) -> Profile:
    """Bounded ranges: the worst of their pairs, or the tighter of what they guarantee."""
    from dpexact.accounting.bounded_range import BoundedRangeProfile, as_pure_dp, as_zcdp

    if method != "auto":
        raise UnsupportedMechanism(f"the {method} engine accounts for no bounded range")
    if ranges_alone(mechanism):
        ((step, count),) = mechanism.steps().items()
        assert isinstance(step, BoundedRange)
        return BoundedRangeProfile(step.eps, count)
    concentrated = as_zcdp(mechanism)
    try:
        first = ZCDPProfile.of(concentrated)
    except UnsupportedMechanism:
        return profile(as_pure_dp(mechanism), direction)
    try:
        return TighterBound(profile(as_pure_dp(mechanism), direction), first)
    except UnsupportedMechanism:
        return first


def _fixed_size(steps: dict[Mechanism, int]) -> Profile:
    """Gaussians on fixed-size samples, with Gaussians and responses that see all records."""
    from dpexact.accounting.lattice.steps import SymmetrisedStep

    plain: list[tuple[Mechanism, int]] = []
    samples: list[tuple[Mechanism, int]] = []
    dominating: list[Step] = []
    for step, count in steps.items():
        if not isinstance(step, FixedSize):
            plain.append((step, count))
            continue
        inner = Composition.of(step.mechanism.steps().items())
        if not inner.is_gaussian:
            raise UnsupportedMechanism(f"no certified accounting for {step}")
        if inner.mu is None:
            continue
        if step.m == step.n:
            plain += [(part, count * times) for part, times in step.mechanism.steps().items()]
            continue
        rate = reals.rational(Fraction(step.m, step.n))
        samples.append((Poisson(step.mechanism, rate), count))
        dominating.append(SymmetrisedStep(Gaussian(inner.mu), rate, count))
    whole = Composition.of([*plain, *samples])
    if not whole.is_directed:
        return _one_way(whole, "remove")
    attained = WorseDirection(*(_one_way(whole, way) for way in ("remove", "add")))
    rest = replace(whole, samples=[])
    if not samples or (rest.is_empty and sum(count for _, count in samples) == 1):
        return attained
    above: Profile = _lattice_above(rest, dominating)
    if rest.is_directed:
        above = WorseDirection(above, _lattice_above(rest.facing("add"), dominating))
    return fixed_size_bounds(attained, above)


def _lattice_above(rest: Composition, dominating: list[Step]) -> LatticeProfile:
    from dpexact.accounting.lattice.profile import LatticeProfile
    from dpexact.accounting.lattice.steps import PairStep

    steps = [PairStep(pair, count) for pair, count in rest.pairs()]
    return LatticeProfile([*steps, *dominating], rest.infinite(add=False), WORK)


def symmetric_samples(mechanism: Mechanism) -> Profile:
    """The profile of ``C_q(f_1) (x) ... (x) C_q(f_k)``, which bounds that of a product of samples.

    A sample of a step with the symmetric trade-off function ``f`` is ``C_q(f)``-DP: with
    ``q = m/n`` and replacement neighbours (Dong, Roth, Su 2022, Theorem 9), and on a Poisson sample
    with add/remove neighbours, whose two directions are ``f_q`` and its inverse, both at least
    ``C_q(f)`` (Bu, Dong, Long, Su 2020).

    Raises:
        UnsupportedMechanism: no part is a sample, or not of Gaussians or finite laws.
    """
    from dpexact.accounting.few_atoms import FewAtoms
    from dpexact.accounting.lattice.steps import SymmetrisedStep

    sampling_of(mechanism)
    whole = Composition.of(
        (Poisson(step.mechanism, reals.rational(Fraction(step.m, step.n))), count)
        if isinstance(step, FixedSize)
        else (step, count)
        for step, count in mechanism.steps().items()
    )
    if not whole.samples:
        raise UnsupportedMechanism("no part is a sample")
    if not whole.is_symmetric:
        raise UnsupportedMechanism("a pair is not symmetric")
    rest = replace(whole, samples=[])
    if all(sample.inner.is_gaussian for sample, _ in whole.samples):
        noises = [(sample.inner.mu, sample.q, count) for sample, count in whole.samples]
        return _lattice_above(
            rest, [SymmetrisedStep(Gaussian(mu), q, k) for mu, q, k in noises if mu is not None]
        )
    outcomes = [(symmetrised(x.inner.outcomes(), x.q), count) for x, count in whole.samples]
    return FewAtoms([*outcomes, *rest.finite_laws()], rest.beside)
