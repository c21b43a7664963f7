"""The public question: how far a published approximation is from the exact value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from dpexact.accounting.approximate.central_limit import (
    Approximation,
    BerryEsseen,
    Beside,
    CentralLimit,
    central_mu,
    edgeworth,
    functionals,
    poisson_limit,
    uniform_limit,
)
from dpexact.accounting.approximate.moments import gaussian_samples
from dpexact.accounting.approximate.sup_distance import sup_distance
from dpexact.accounting.composition import Composition
from dpexact.accounting.intervals import difference, ratio
from dpexact.accounting.profile import InfiniteLoss
from dpexact.accounting.profiles import profile
from dpexact.accounting.standing import standing_of_points
from dpexact.answers import delivered
from dpexact.arguments import APPROXIMATIONS, Direction, digits_in, direction_in, real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import Mechanism
from dpexact.mechanisms.grammar import mechanism_in
from dpexact.reals import Real, rational
from dpexact.ternary import Ternary

#: How often the digits of both values are doubled for the sake of their difference, while both
#: are reached.
_DOUBLINGS: Final = 3


@dataclass(frozen=True, slots=True)
class ApproximationError:
    """A published approximation beside the truth.

    ``quantity`` is ``delta`` or ``epsilon``; ``difference`` is ``claimed - true`` and ``ratio`` is
    ``true / claimed`` (``None`` where infinite or of unknown sign).
    """

    mechanism: Mechanism
    method: str
    quantity: str
    at: Real
    claimed: Enclosure
    true: Enclosure
    difference: Enclosure | None
    ratio: Enclosure | None

    @property
    def verdict(self) -> str:
        """As an upper bound the claim is ``sound``, ``unsound`` or ``undecided``."""
        match self.true.at_most(self.claimed):
            case Ternary.HOLDS:
                return "sound"
            case Ternary.FAILS:
                return "unsound"
        return "undecided"

    def to_json(self, digits: int) -> dict[str, Any]:
        """The comparison as JSON values, bounds rounded outward."""
        argument = "epsilon" if self.quantity == "delta" else "delta"
        found = {
            "claimed": self.claimed,
            "true": self.true,
            "difference": self.difference,
            "ratio": self.ratio,
        }
        return {
            "mechanism": str(self.mechanism),
            "method": self.method,
            "quantity": self.quantity,
            argument: str(self.at),
            **{key: None if x is None else x.to_json(digits) for key, x in found.items()},
            "verdict": self.verdict,
        }


def approximation_error(
    mechanism: Mechanism | str,
    method: str,
    epsilon: RealLike | None = None,
    digits: int = 15,
    direction: str = "both",
    *,
    delta: RealLike | None = None,
) -> ApproximationError:
    """Evaluate an approximation as published and enclose its error.

    Args:
        mechanism: a mechanism or its text.
        method: ``clt-poisson`` or ``clt-uniform`` (sampled Gaussians of one kind), ``clt`` (the
            ``mu`` of Theorem 5, without its error), ``berry-esseen`` (Theorem 5; Corollary 5 for
            sampled Gaussians), ``edgeworth-1`` or ``edgeworth-2``.
        epsilon: compare deltas at this exact real ``>= 0``; or
        delta: compare epsilons at this exact real in ``(0, 1)``.
        digits: certified significant digits of both values, and of their difference and ratio
            unless the two agree too closely.
        direction: neighbours by ``remove``, ``add`` or ``both``; the central limits know none, and
            speak of symmetric pairs alone.

    Raises:
        InvalidInput: an argument out of its domain, or a hypothesis that fails.
        UnsupportedMechanism: the method does not speak of it, or no exact value is certified.
        PrecisionNotReached: the digits of one of the two values were not reached; carries it.

    >>> m = "poisson(gaussian(0.7), 256/60000)^10546"
    >>> found = approximation_error(m, "clt-poisson", 7, digits=8)
    >>> print(found.claimed.shown(5), found.true.shown(5), found.ratio.shown(5), found.verdict)
    1.6613...e-9 1.7759...e-7 106.89... unsound
    """
    m, wanted, way = mechanism_in(mechanism), digits_in(digits), direction_in(direction)
    if (epsilon is None) == (delta is None):
        raise InvalidInput("epsilon: give exactly one of epsilon and delta")
    formula = approximation(m, method, way)
    accounting = profile(m, way)
    if epsilon is not None:
        at = real_in(epsilon, "epsilon", ">= 0")
        found = _compare(m, formula, "delta", at, wanted, accounting.delta, formula.delta)
    else:
        assert delta is not None
        at = real_in(delta, "delta", "> 0", "< 1")
        found = _compare(m, formula, "epsilon", at, wanted, accounting.epsilon, formula.epsilon)
    delivered(found.claimed, wanted)
    delivered(found.true, wanted if accounting.sharp else 0)
    return found


def approximation_distance(mechanism: Mechanism | str, method: str, digits: int = 6) -> Enclosure:
    r"""Enclose how far a central limit is from the truth at most, over all levels.

    .. math:: \sup_{0 \le \alpha \le 1} |f(\alpha) - G_\mu(\alpha)|
              = \sup_{\varepsilon \ge 0} |\delta(\varepsilon) - \delta_\mu(\varepsilon)|

    for the symmetric trade-off function ``f`` of the mechanism and the ``mu`` of the method.

    Args:
        mechanism: a mechanism or its text.
        method: ``clt-poisson``, ``clt-uniform`` or ``clt``, as for :func:`approximation_error`.
        digits: certified significant digits.

    Raises:
        InvalidInput: an argument out of its domain, or a method without a trade-off function.
        UnsupportedMechanism, PrecisionNotReached: as :func:`approximation_error`.

    >>> print(approximation_distance("pure_dp(1/sqrt(10))^10", "clt").shown(6))
    0.0136547...
    """
    m, wanted = mechanism_in(mechanism), digits_in(digits)
    formula = approximation(m, method, "both")
    if isinstance(formula, Beside):
        raise UnsupportedMechanism("a central limit is of finite losses: no distance beside others")
    if not isinstance(formula, CentralLimit):
        raise InvalidInput(
            f"method: {method!r} claims no trade-off function; use clt-poisson, clt-uniform or clt"
        )
    return delivered(sup_distance(profile(m).delta, formula.mu, wanted), wanted)


def approximation(mechanism: Mechanism, method: str, direction: Direction) -> Approximation:
    """The published formula named ``method``, for what of this mechanism has finite loss.

    Probabilities of revealing everything stand beside it, exactly.

    Raises:
        UnsupportedMechanism: it does not speak of the mechanism, of which perhaps only bounds are
            known.
    """
    if (said := standing_of_points(mechanism)).bound != "exact":
        raise UnsupportedMechanism(f"no exact value of {mechanism} is known: {said.theorem}")
    # the expansions are of the loss itself, which differs between the two kinds of samples
    fixed_size = not method.startswith("edgeworth")
    whole = Composition.of(mechanism.steps().items(), fixed_size=fixed_size)
    if fixed_size and not whole.is_symmetric:
        raise UnsupportedMechanism("the approximation is for pairs that are symmetric")
    finite = replace(whole, masses=[])
    if finite.infinite(add=False).masses or finite.facing("add").infinite(add=False).masses:
        raise UnsupportedMechanism("the approximation is for pairs without infinite loss")
    if finite.is_empty:
        raise UnsupportedMechanism("there is no loss to approximate")
    formula = _formula(finite, method, direction)
    return Beside(formula, InfiniteLoss(tuple(whole.masses))) if whole.masses else formula


def _formula(c: Composition, method: str, direction: Direction) -> Approximation:
    match method:
        case "clt-poisson":
            return poisson_limit(*_sampled_gaussian(c))
        case "clt-uniform":
            return uniform_limit(*_sampled_gaussian(c))
        case "clt":
            total = functionals(c)
            return CentralLimit(lambda: central_mu(total()), "central limit")
        case "berry-esseen":
            return BerryEsseen(functionals(c))
        case "edgeworth-1" | "edgeworth-2":
            return edgeworth(c, int(method[-1]), direction)
    raise InvalidInput(f"method: {method!r} is not accepted; use {', '.join(APPROXIMATIONS)}")


def _sampled_gaussian(c: Composition) -> tuple[Real, Real, int]:
    """The noise multiplier, rate and number of steps of equal sampled Gaussians.

    Raises:
        UnsupportedMechanism: it is something else.
    """
    if c.is_gaussian and len(c.noises) == 1:  # on samples of all records
        ((noise, count),) = c.noises
        return noise, rational(1), count
    if len(c.samples) == 1 and replace(c, samples=[]).is_empty:
        ((mu, q, count),) = gaussian_samples(c)
        return 1 / mu, q, count
    raise UnsupportedMechanism("this central limit is for equal steps of sampled Gaussian noise")


def _compare(
    mechanism: Mechanism,
    formula: Approximation,
    quantity: str,
    at: Real,
    digits: int,
    exact: Callable[[Real, int], Enclosure],
    claim: Callable[[Real, int], Enclosure],
) -> ApproximationError:
    working = digits + 2
    for attempt in range(_DOUBLINGS + 1):
        claimed, true = claim(at, working), exact(at, working)
        gap, quotient = difference(claimed, true), ratio(true, claimed)
        if (
            attempt == _DOUBLINGS
            or min(claimed.digits, true.digits) < working
            or all(x is None or x.digits >= digits for x in (gap, quotient))
        ):
            break
        working *= 2
    return ApproximationError(mechanism, formula.method, quantity, at, claimed, true, gap, quotient)
