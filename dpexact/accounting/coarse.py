r"""Bounds that need no engine: for questions that would stay open, and below upper bounds.

*Above*, for every order ``b > 0`` with ``D`` the Rényi divergence of order ``1 + b`` of the whole
composition, since :math:`(1 - e^{-y})_+ \le K(b) e^{b y}` (``docs/theory/contour.md``, 2):

.. math:: \delta(\varepsilon) \le K(b)\,e^{b (D - \varepsilon)}, \qquad
          \varepsilon(\delta) \le D + \frac{\log K(b) - \log \delta}{b}.

*Below*, in direction ``remove``: a sampled Gaussian step is asked only whether the noisy value is
above ``t <= mu - 2``. Under ``P`` that has probability ``0.977 q`` or more, under ``Q`` at most
:math:`e^{-t^2/2}/(t \sqrt{2\pi})`; the pair of these two numbers is no more informative.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from flint import arb

from dpexact import balls, mechanisms, reals
from dpexact.accounting.composition import Composition
from dpexact.accounting.engines.few_atoms import FewAtoms
from dpexact.accounting.engines.shuffled_batches import LargestOutput
from dpexact.accounting.pairs.pair import Atom, chernoff_constant, log_chernoff
from dpexact.accounting.profile import InfiniteLoss, Profile
from dpexact.accounting.reflection import in_direction
from dpexact.accounting.renyi.query import enclose_renyi
from dpexact.accounting.standing import ranges_alone, standing
from dpexact.arguments import Direction
from dpexact.decimals import Bound
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.reals import Real, rational, square_root
from dpexact.ternary import Order

_DIGITS: Final = 4
_BITS: Final = 128
#: Closed forms of sampled steps do where they move the exponent of the bound by less.
_ROUGH: Final = Fraction(1, 10**_DIGITS)
#: Orders tried: powers of 16, then between the best ones.
_LOG_ORDERS: Final = range(-40, 12, 4)
_FINER: Final = (Fraction(2), Fraction(1), Fraction(1, 2), Fraction(1, 4))
#: ``Phi(2)`` is above this, by any table.
_HIT: Final = reals.rational(Fraction(977, 1000))


def coarse_delta(mechanism: mechanisms.Mechanism, epsilon: Real, direction: Direction) -> Enclosure:
    """``delta(epsilon)`` between the two bounds; ``[0, 1]`` where they do not apply."""

    def bound(divergence: arb, order: arb) -> arb:
        return chernoff_constant(order) * (order * (divergence - balls.ball(epsilon))).exp()

    upper = min(_least(mechanism, direction, bound), Fraction(1))
    below = [test.delta(epsilon, _DIGITS).lower for test in _tests(mechanism, direction)]
    return _named(max([Fraction(0), *below]), upper)


def coarse_epsilon(mechanism: mechanisms.Mechanism, delta: Real, direction: Direction) -> Enclosure:
    """``epsilon(delta)`` between the two bounds; ``[0, inf]`` where they do not apply."""

    def bound(divergence: arb, order: arb) -> arb:
        return divergence + (log_chernoff(order) - balls.ball(delta).log()) / order

    upper = max(_least(mechanism, direction, bound), Fraction(0))
    below = [test.epsilon(delta, _DIGITS).lower for test in _tests(mechanism, direction)]
    return _named(max([Fraction(0), *below]), upper)


def _named(lower: Bound, upper: Bound) -> Enclosure:
    reason = "only bounds by Rényi divergences and thresholds were had"
    return Enclosure.bracket(lower, upper, "Rényi bound and threshold test", reason)


def _least(
    mechanism: mechanisms.Mechanism, direction: Direction, bound: Callable[[arb, arb], arb]
) -> Bound:
    """The least of the bounds of the orders tried; infinite without Gaussians."""
    if _gaussians(mechanism) is None:
        return math.inf
    found: dict[Fraction, Bound] = {}

    def try_order(log: Fraction) -> None:
        order = Fraction(2.0 ** float(log))
        alpha = reals.rational(1 + order)
        about = enclose_renyi(mechanism, alpha, _DIGITS, direction, "sandwich")
        # proposes: more digits where they matter; the upper end is a bound either way
        if order * (about.upper - about.lower) > _ROUGH:
            about = enclose_renyi(mechanism, alpha, _DIGITS, direction)
        with balls.precision(_BITS):
            if isinstance(about.upper, Fraction):
                value = bound(balls.ball(about.upper), balls.ball(order))
                if value.is_finite():
                    found[log] = balls.to_enclosure(value).upper

    try:
        for log in _LOG_ORDERS:
            try_order(Fraction(log))
        for step in _FINER:
            best = min(found, key=found.__getitem__, default=Fraction(0))
            try_order(best - step)
            try_order(best + step)
    except UnsupportedMechanism:
        return math.inf
    return min(found.values(), default=math.inf)


def _gaussians(mechanism: mechanisms.Mechanism) -> Composition | None:
    """What runs, if that is nothing but Gaussians, sampled or not."""
    try:
        found = Composition.of(mechanism.steps().items())
    except UnsupportedMechanism:
        return None
    return found if found.is_gaussian or found.is_sampled_gaussian else None


def _tests(mechanism: mechanisms.Mechanism, direction: Direction) -> list[FewAtoms]:
    """Each kind of sampled Gaussian step of the composition, asked for a threshold."""
    composition = _gaussians(mechanism)
    if direction == "add" or composition is None:
        return []
    tests = []
    for sample, count in composition.samples:
        mu = sample.inner.mu
        if mu is None:
            continue
        with balls.precision(_BITS):
            t = Fraction(balls.to_enclosure(balls.ball(mu) - 2).lower)
            if t < 1:
                continue
            x = balls.ball(t)
            exponent = balls.to_enclosure(x * x / 2 + (x * (2 * arb.pi()).sqrt()).log()).lower
        hit = _HIT * sample.q
        miss = reals.exponential(reals.rational(-Fraction(exponent)))
        if balls.order(hit, miss) is Order.ABOVE:
            rest = (1 - p for p in (hit, miss))
            tests.append(FewAtoms([([Atom(hit, miss), Atom(*rest)], count)], InfiniteLoss()))
    return tests


_FINE: Final = 30
_ZERO: Final = Fraction(0)


def beneath(mechanism: mechanisms.Mechanism) -> mechanisms.Mechanism | None:
    """What ``mechanism`` may be, or may be turned into; None where no such is known.

    Of ``k`` of ``t`` Gaussian steps the sum of all outputs is a Gaussian step (``allocation.md``,
    Proposition 2b); of selections two candidates are a randomized response (``selection.md``).
    """
    found = _within(mechanism)
    return found if standing(found).bound == "exact" else None


def largest_output(mechanism: mechanisms.Mechanism, direction: Direction) -> Profile | None:
    """What the largest outputs of ``k`` of ``t`` steps lose; None of anything else."""
    match list(mechanism.steps().items()):
        case [(mechanisms.Allocation(inner, t, k), epochs)] if 1 < k < t:
            if (noise := _noise(inner)) is not None:
                return in_direction(
                    direction, lambda way: LargestOutput(noise, t, k, epochs, add=way == "add")
                )
    return None


def _noise(inner: mechanisms.Mechanism) -> Real | None:
    """That of Gaussian steps, and no others."""
    try:
        inside = Composition.of(inner.steps().items())
    except UnsupportedMechanism:
        return None
    return inside.noise if inside.is_gaussian else None


def _within(mechanism: mechanisms.Mechanism) -> mechanisms.Mechanism:
    match mechanism:
        case mechanisms.Adaptive(inner):
            return inner if ranges_alone(inner) else _within(inner)
        case mechanisms.Allocation(inner, t, k) if 1 < k < t:
            if (noise := _noise(inner)) is not None:
                return mechanisms.Gaussian(noise * square_root(rational(t)) / k)
        case mechanisms.BoundedRange(eps):
            return mechanisms.PureDP(eps / 2)
        case mechanisms.PermuteAndFlip(eps):
            return _response(eps, lambda x: arb(0))
        case mechanisms.ReportNoisyMax(eps):
            return _response(eps, lambda x: (x / 4).log1p())
    return mechanism.with_inner(_within)


def _response(eps: Real, log_share: Callable[[arb], arb]) -> mechanisms.Mechanism:
    """Two answers; the unlikely one has chance ``share(eps) exp(-eps/2) / 2``."""

    def log_odds() -> arb:
        log_twice = log_share(balls.ball(eps)) - balls.ball(eps) / 2
        return (-log_twice.expm1()).log1p() - log_twice

    return mechanisms.PureDP(rational(Fraction(balls.certify(log_odds, _FINE, lowest=_ZERO).lower)))
