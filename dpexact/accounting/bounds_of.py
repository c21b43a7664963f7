"""The public question: all classic bounds on epsilon that apply, beside the exact value."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import Any, Final, TypeAlias

from flint import arb

from dpexact import balls, reals
from dpexact.accounting.classic import composition, zcdp
from dpexact.accounting.classic.composition import Guarantee, guarantees
from dpexact.accounting.classic.optimal_order import enclose_optimal
from dpexact.accounting.classic.orders import BestOrder, Conversion, Curve, renyi_epsilon
from dpexact.accounting.fixed_size import symmetric_samples
from dpexact.accounting.intervals import difference, ratio
from dpexact.accounting.queries import epsilon_answer
from dpexact.accounting.renyi.query import enclose_renyi
from dpexact.accounting.standing import curves, from_above, sampling_of, unattained
from dpexact.answers import best_of
from dpexact.arguments import MAX_DIGITS, Direction, digits_in, direction_in, real_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.kept import cached_property
from dpexact.mechanisms import ZCDP, FixedSize, Mechanism, Poisson
from dpexact.mechanisms.grammar import mechanism_in
from dpexact.reals import Real
from dpexact.ternary import Order

_ONE: Final = Enclosure.exact(Fraction(1))
#: Digits beyond those asked for, which the quotient of two values may lose.
_EXTRA: Final = 2


@dataclass(frozen=True, slots=True)
class ClassicBound:
    """One published bound on epsilon.

    ``value`` encloses what the theorem gives and ``slack`` is ``value/exact - 1``; both are
    ``None`` when a hypothesis fails, and ``reason`` says which. ``slack`` alone is ``None`` when
    the exact epsilon is 0, infinite or not known.
    """

    name: str
    source: str
    value: Enclosure | None = None
    slack: Enclosure | None = None
    reason: str = ""

    @property
    def applies(self) -> bool:
        """Whether the hypotheses hold."""
        return self.value is not None


@dataclass(frozen=True, slots=True)
class ClassicBounds:
    """The classic bounds of ``mechanism`` at ``delta``; iterating gives each in turn.

    ``exact`` is the exact epsilon, or ``None`` with ``reason`` where no certified method has it.
    """

    mechanism: Mechanism
    delta: Real
    exact: Enclosure | None
    reason: str
    listed: tuple[ClassicBound, ...]

    def __iter__(self) -> Iterator[ClassicBound]:
        return iter(self.listed)

    def __len__(self) -> int:
        return len(self.listed)

    def __getitem__(self, name: str) -> ClassicBound:
        for bound in self.listed:
            if bound.name == name:
                return bound
        raise InvalidInput(
            f"name: {name!r} is not listed; known: {', '.join(name for name, _, _ in _BOUNDS)}"
        )

    @property
    def best(self) -> ClassicBound | None:
        """The smallest bound that applies."""
        applying = [(bound.value.upper, bound) for bound in self.listed if bound.value is not None]
        return min(applying, key=lambda pair: pair[0])[1] if applying else None

    def to_json(self, digits: int) -> dict[str, Any]:
        """The listing as JSON values, bounds rounded outward."""
        return {
            "mechanism": str(self.mechanism),
            "delta": str(self.delta),
            "exact": None if self.exact is None else self.exact.to_json(digits),
            "reason": self.reason,
            "bounds": [
                {
                    "name": bound.name,
                    "source": bound.source,
                    "value": None if bound.value is None else bound.value.to_json(digits),
                    "slack": None if bound.slack is None else bound.slack.to_json(digits),
                    "reason": bound.reason,
                }
                for bound in self.listed
            ],
        }


def bounds(
    mechanism: Mechanism | str, delta: RealLike, digits: int = 15, direction: str = "both"
) -> ClassicBounds:
    """Every classic bound on epsilon at ``delta``, with its certified slack.

    Each is evaluated as published; those whose hypotheses fail are listed with the reason.

    Args:
        mechanism: a mechanism or its text.
        delta: any exact real in ``[0, 1]``.
        digits: certified significant digits of each bound.
        direction: neighbours of the exact value and of the Rényi divergences.

    Raises:
        InvalidInput: an argument out of its domain.

    >>> found = bounds("pure_dp(0.1)^100", "1e-6", digits=12)
    >>> print(found.exact.shown(12), found["Proposition 14 for zCDP"].value.shown(12))
    4.77456758810... 5.22153444453...
    """
    m = mechanism_in(mechanism)
    target = real_in(delta, "delta", ">= 0", "<= 1")
    working = min(digits_in(digits) + _EXTRA, MAX_DIGITS)
    question = _Question(m, target, working, direction_in(direction))
    exact, reason = _attempt(question.exact)
    listed = []
    for name, source, compute in _BOUNDS:
        value, problem = _attempt(partial(compute, question))
        slack = None
        if value is not None and exact is not None:
            quotient = ratio(value, exact)
            slack = None if quotient is None else difference(quotient, _ONE)
        listed.append(ClassicBound(name, source, value, slack, problem))
    return ClassicBounds(m, target, exact, reason, tuple(listed))


@dataclass(frozen=True)
class _Question:
    mechanism: Mechanism
    delta: Real
    digits: int
    direction: Direction

    def exact(self) -> Enclosure:
        if ZCDP in unattained(self.mechanism):
            raise UnsupportedMechanism("zCDP is a guarantee without one exact epsilon")
        if curves(self.mechanism):
            raise UnsupportedMechanism("a Rényi curve is a guarantee without one exact epsilon")
        found = epsilon_answer(self.mechanism, self.delta, self.digits, self.direction)
        if found.bound != "exact":
            sign = "<=" if found.bound == "upper" else ">="
            raise UnsupportedMechanism(f"epsilon {sign} {found.safe()} alone: {found.theorem}")
        return found

    @cached_property
    def steps(self) -> list[Guarantee]:
        return guarantees(self.mechanism)

    def zcdp(self) -> ZCDP:
        found, infinite = zcdp.total_zcdp(self.mechanism)
        if infinite.fraction != 0:
            raise UnsupportedMechanism("a mass of infinite loss is not zCDP")
        return found

    @cached_property
    def curve(self) -> Curve:
        """Its Rényi divergences, each computed once: two conversions ask for many of the same."""
        if curves(self.mechanism):
            raise UnsupportedMechanism("the divergences are given at some orders only")
        return cache(lambda order, n: enclose_renyi(self.mechanism, order, n, self.direction))

    @cached_property
    def orders(self) -> list[float]:
        return [0.0]

    def renyi(self, conversion: Conversion) -> BestOrder:
        return renyi_epsilon(self.curve, self.delta, self.digits, conversion, tried=self.orders)


_Compute: TypeAlias = Callable[[_Question], Enclosure]


def _symmetric(question: _Question) -> Enclosure:
    found = symmetric_samples(question.mechanism)
    return found.epsilon(question.delta, question.digits).labelled("C_p composition")


def _optimal(question: _Question) -> Enclosure:
    """At about the order that is best for Proposition 14: the bound holds at any."""
    best = question.renyi("proposition 14").order
    if best is None:
        raise UnsupportedMechanism("no finite order is best")
    # proposes: eight digits of an order, any of which gives a bound
    order = reals.rational(1 + Fraction(f"{float(best - 1):.7e}"))
    found = question.curve(order, question.digits + 5)
    return optimal_of_enclosure(found, order, question.delta, question.digits)


def optimal_of_enclosure(divergence: Enclosure, order: Real, delta: Real, digits: int) -> Enclosure:
    """The optimal conversion, which increases with the divergence, over an enclosure of it."""
    low, high = (
        enclose_optimal(end, order, delta, digits)
        if isinstance(end, Fraction)
        else Enclosure.exact(end)
        for end in (divergence.lower, divergence.upper)
    )
    found = low.between(high, f"Rényi, optimal at order {order}")
    return found.short(divergence.reason or found.reason)


def _attempt(ask: Callable[[], Enclosure]) -> tuple[Enclosure | None, str]:
    """The answer, and why it is wide; or why there is none."""
    try:
        found = ask()
    except (InvalidInput, UnsupportedMechanism) as error:
        return None, str(error)
    return found, found.reason


def _from_steps(theorem: Callable[..., Enclosure]) -> _Compute:
    return lambda q: best_of(lambda: theorem(q.steps, q.delta, q.digits))


def _from_zcdp(theorem: Callable[..., Enclosure]) -> _Compute:
    def compute(q: _Question) -> Enclosure:
        found = q.zcdp()
        return best_of(lambda: theorem(found.rho, q.delta, q.digits, found.xi))

    return compute


_BOUNDS: Final[tuple[tuple[str, str, _Compute], ...]] = (
    (
        "basic composition",
        "Dwork and Roth 2014, Theorem 3.16",
        _from_steps(composition.basic_composition),
    ),
    (
        "advanced composition",
        "Dwork, Rothblum, Vadhan 2010, Theorem III.3",
        _from_steps(composition.advanced_composition),
    ),
    (
        "KOV simplified",
        "Kairouz, Oh, Viswanath 2017, (7) and (8)",
        _from_steps(composition.kov_composition),
    ),
    ("Theorem 18", "Steinke 2022, Theorem 18", _from_steps(composition.pure_composition)),
    ("Theorem 22", "Steinke 2022, Theorem 22", _from_steps(composition.approximate_composition)),
    (
        "subsampling theorem",
        "Balle, Barthe, Gaboardi 2018, Theorems 8 and 9, at equal shares of delta",
        lambda q: subsampling_theorem(q.mechanism, q.delta, q.digits),
    ),
    ("C_p", "Dong, Roth, Su 2022, Theorems 4 and 9; Bu, Dong, Long, Su 2020", _symmetric),
    ("plain zCDP", "Bun and Steinke 2016, Proposition 1.3", _from_zcdp(zcdp.plain_zcdp_epsilon)),
    ("Proposition 14 for zCDP", "Steinke 2022, Proposition 14", _from_zcdp(zcdp.zcdp_epsilon)),
    (
        "moments accountant",
        "Mironov 2017, Proposition 3, at the best order",
        lambda q: q.renyi("plain").epsilon,
    ),
    (
        "Proposition 14 for Renyi",
        "Steinke 2022, Proposition 14, at the best order",
        lambda q: q.renyi("proposition 14").epsilon,
    ),
    ("optimal Renyi", "Asoodeh et al. 2021, Theorem 3, at one order", _optimal),
)


METHOD: Final = "subsampling theorem with basic composition"
_ZERO: Final = Fraction(0)


def subsampling_theorem(mechanism: Mechanism, delta: Real, digits: int) -> Enclosure:
    """The epsilon of the subsampling theorem at ``delta``, all of it shared equally by the steps.

    If a step is ``(eps, d/q)``-DP, its sample is ``(log(1 + q (e^eps - 1)), d)``-DP: for Poisson
    samples of rate ``q`` and add/remove neighbours, and for samples of ``m`` of ``n`` records,
    ``q = m/n``, and replacement neighbours (Balle, Barthe, Gaboardi 2018, Theorems 8 and 9). Each
    of ``k`` steps is given the share ``d = delta/k``, and its ``eps`` is the exact one there.

    Raises:
        UnsupportedMechanism: no step is a sample, samples for different neighbours stand together,
            or a step inside has no certified epsilon, or one from below.
    """
    steps = mechanism.steps()
    if sampling_of(mechanism) is None:
        raise UnsupportedMechanism("no part is a sample")
    from_above(mechanism)
    share = delta / sum(steps.values())
    total = Enclosure.exact(_ZERO, METHOD)
    for step, count in steps.items():
        found = _step(step, share, digits).within(_ZERO, math.inf)
        low, high = total.lower + count * found.lower, total.upper + count * found.upper
        total = Enclosure(low, high, METHOD, total.reason or found.reason)
    return total


def _step(step: Mechanism, share: Real, digits: int) -> Enclosure:
    if not isinstance(step, Poisson | FixedSize):
        return epsilon_answer(step, share, digits)
    inner, rate = step.mechanism, step.q
    match balls.order(share, rate):
        case Order.ABOVE | Order.EQUAL:  # also q = 0
            return Enclosure.exact(_ZERO)
        case Order.BELOW:
            found = epsilon_answer(inner, share / rate, digits + 2)
            return _amplified(found.within(_ZERO, math.inf), rate, digits)
    # share/rate is next to 1: at what is certainly below it, epsilon is no smaller
    below = balls.certify(lambda: balls.ball(share) / balls.ball(rate), digits, lowest=_ZERO).lower
    found = epsilon_answer(inner, reals.rational(min(Fraction(below), Fraction(1))), digits)
    high = _amplified(found.within(_ZERO, math.inf), rate, digits).upper
    reason = "delta over the rate cannot be told apart from 1" if high > 0 else ""
    return Enclosure(_ZERO, high, METHOD, reason)


def _amplified(found: Enclosure, q: Real, digits: int) -> Enclosure:
    """``log(1 + q (e^eps - 1))``, which increases with ``eps >= 0``, over an enclosure of it."""
    if q.fraction == 1:
        return found

    def loss(eps: arb) -> arb:
        return (balls.ball(q) * eps.expm1()).log1p()

    return balls.image(found, loss, digits + 2, lowest=_ZERO)
