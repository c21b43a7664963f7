r"""What a calibrated mechanism has to meet: a quantity that falls as privacy grows, and its bound.

Each follows the order of pairs (``docs/theory/calibration.md``): delta at an epsilon, total
variation, the loss of a trade-off function at a type I error, ``mu`` of Gaussians, a divergence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from dpexact import balls, reals
from dpexact.accounting.calibration.equivalent import LogMu, mu_of_delta, mu_of_errors
from dpexact.accounting.composition import Composition
from dpexact.accounting.queries import delta_answer, epsilon_answer
from dpexact.accounting.renyi.query import enclose_renyi, order_in
from dpexact.accounting.renyi.unsampled import value
from dpexact.accounting.tradeoff_of import tradeoff
from dpexact.answers import best_of
from dpexact.arguments import Direction, real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import Mechanism
from dpexact.reals import Real

_ONE: Final = Fraction(1)

Ask = Callable[[Mechanism, int, Direction], Enclosure]
"""The quantity of a mechanism, to some digits, in a direction."""


@dataclass(frozen=True)
class Target:
    """``name`` of a mechanism, as ``ask`` encloses it, must be at most ``bound``.

    ``epsilon``, of a delta, is where floats may propose, and so does ``log_mu``; ``most`` is what
    the quantity never exceeds, None where nothing bounds it. ``rises``: a step of unbounded loss
    certainly raises it, where it is sampled beside what is not symmetric only if ``strict``.
    ``inside``: the same target, said so that values inside a domain are told with less work.
    """

    name: str
    ask: Ask
    bound: Real
    epsilon: Real | None = None
    log_mu: LogMu | None = None
    most: Fraction | None = None
    rises: bool = True
    strict: bool = False
    inside: Target | None = None


def target_of(
    epsilon: RealLike | None,
    delta: RealLike | None,
    others: dict[str, Any],
) -> Target:
    """The one target that is stated whole.

    Raises:
        InvalidInput: none is, or several.
    """
    given = {"epsilon": epsilon, "delta": delta, **others}
    named = {name for name, value in given.items() if value is not None}
    for names, make in _TARGETS.items():
        if named == set(names):
            return make(*(given[name] for name in names))
    known = ", or ".join(" and ".join(names) for names in _TARGETS)
    said = ", ".join(name for name in given if name in named) or "none"
    raise InvalidInput(f"target: {said} given; one is wanted: {known}")


def _delta(epsilon: RealLike, delta: RealLike) -> Target:
    point, bound = real_in(epsilon, "epsilon"), real_in(delta, "delta", ">= 0", "<= 1")

    def ask(mechanism: Mechanism, digits: int, direction: Direction) -> Enclosure:
        return delta_answer(mechanism, point, digits, direction)

    saddle = point if balls.sign(point, "epsilon") >= 0 else None
    inside = None
    if saddle is not None and bound.fraction == 0:
        inside = Target("the largest loss", _largest_loss, saddle)
    log_mu = None if saddle is None else mu_of_delta(balls.approximate(saddle))
    return Target("delta", ask, bound, saddle, log_mu, _ONE, inside=inside)


def _largest_loss(mechanism: Mechanism, digits: int, direction: Direction) -> Enclosure:
    """``delta(epsilon) = 0`` where no loss is larger."""
    return epsilon_answer(mechanism, reals.rational(0), digits, direction)


def _advantage(advantage: RealLike) -> Target:
    found = _delta(0, real_in(advantage, "advantage", ">= 0", "<= 1"))
    return Target("advantage", found.ask, found.bound, found.epsilon, found.log_mu, _ONE)


def _errors(alpha: RealLike, beta: RealLike) -> Target:
    """``f(alpha) >= beta``, as a bound on ``1 - alpha - f(alpha)``, which 0 is of no loss."""
    level = real_in(alpha, "alpha", ">= 0", "<= 1")
    error = real_in(beta, "beta", ">= 0", "<= 1")
    lost = 1 - level - error
    if balls.sign(lost, "beta") < 0:
        raise InvalidInput(f"beta: {error} is not accepted; no test has more than 1 - alpha")

    def ask(mechanism: Mechanism, digits: int, direction: Direction) -> Enclosure:
        found = best_of(lambda: tradeoff(mechanism, direction)(level, digits))
        free = value(1 - level, 2 * digits + 20)
        low = max(Fraction(free.lower) - Fraction(found.upper), Fraction(0))
        high = max(Fraction(free.upper) - Fraction(found.lower), low)
        return Enclosure(low, high, found.method, found.reason)

    inside = lost.fraction == 0 and balls.sign(level) > 0 and balls.sign(error) > 0
    log_mu = mu_of_errors(balls.approximate(level))
    return Target("1 - alpha - beta", ask, lost, log_mu=log_mu, rises=inside, strict=True)


def _gdp(mu: RealLike) -> Target:
    """``mu``-GDP: the trade-off function is at least that of ``N(0, 1)`` and ``N(mu, 1)``."""

    def ask(mechanism: Mechanism, digits: int, direction: Direction) -> Enclosure:
        composition = Composition.of(mechanism.steps().items())
        if not composition.is_gaussian:
            raise UnsupportedMechanism(
                "gdp: whether a mechanism is mu-GDP is decided for Gaussian noise without samples"
            )
        total = composition.mu_squared
        return balls.certify(
            lambda: balls.ball(total).sqrt(), digits, lowest=Fraction(0), method="closed form"
        )

    return Target("mu", ask, real_in(mu, "gdp", ">= 0"), log_mu=lambda log: log, strict=True)


def _renyi(order: RealLike, divergence: RealLike) -> Target:
    alpha = order_in(order)

    def ask(mechanism: Mechanism, digits: int, direction: Direction) -> Enclosure:
        return enclose_renyi(mechanism, alpha, digits, direction)

    bound = real_in(divergence, "renyi", ">= 0")
    # that of a Gaussian is alpha mu^2/2
    shift = 0.0 if alpha is None else math.log(2 / balls.approximate(alpha))
    return Target("renyi", ask, bound, log_mu=lambda log: (log + shift) / 2, strict=True)


_TARGETS: Final[dict[tuple[str, ...], Callable[..., Target]]] = {
    ("epsilon", "delta"): _delta,
    ("advantage",): _advantage,
    ("alpha", "beta"): _errors,
    ("gdp",): _gdp,
    ("order", "renyi"): _renyi,
}
