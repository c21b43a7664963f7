"""The public question: the Rényi divergence of a mechanism at an order."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from dpexact import balls, reals
from dpexact.accounting.composition import Composition, Sample
from dpexact.accounting.renyi import sampled_gaussian, samples, unsampled
from dpexact.accounting.renyi.sampled_gaussian import METHODS, Method
from dpexact.accounting.renyi.selected import selected
from dpexact.accounting.renyi.unsampled import INFINITE, Order, plus, value
from dpexact.accounting.standing import selects, standing, stated
from dpexact.answers import delivered
from dpexact.arguments import WAYS, Direction, digits_in, direction_in, real_in, word_in
from dpexact.conversion import RealLike
from dpexact.enclosure import Enclosure
from dpexact.errors import UnsupportedMechanism
from dpexact.mechanisms import Mechanism, RenyiDP, RepeatAndSelect
from dpexact.mechanisms.grammar import mechanism_in

_INFINITY: Final = ("inf", "infinity")


def renyi(
    mechanism: Mechanism | str,
    order: RealLike,
    digits: int = 15,
    direction: str = "both",
    *,
    method: str = "auto",
) -> Enclosure:
    r"""Enclose the Rényi divergence of ``mechanism``'s dominating pair ``(P, Q)``.

    .. math:: D_\alpha(P\|Q) = \frac{1}{\alpha-1}\log E_Q\big[(dP/dQ)^\alpha\big], \qquad
              D_1 = E_P[\log dP/dQ], \qquad D_\infty = \sup \log dP/dQ

    (Steinke 2022, Definition 32). Composition adds the divergences of its parts. For ``zcdp`` the
    answer is the largest that the guarantee allows, and an upper bound where ``zcdp`` is sampled.

    Args:
        mechanism: a mechanism or its text.
        order: any exact real ``>= 1`` (a float means its exact binary value), or ``math.inf`` or
            ``"inf"``.
        digits: certified significant digits asked for.
        direction: neighbours by ``remove``, ``add`` or ``both`` (the larger); matters for sampling,
            where ``remove`` is never the smaller.
        method: ``auto`` (the fastest), or one of ``binomial`` (integer orders, remove), ``series``
            (remove), ``trapezoid`` and ``sandwich`` (sharp only for little noise) to force it on
            the sampled Gaussians; the rest has one method each.

    Raises:
        InvalidInput: an argument out of its domain.
        UnsupportedMechanism: no certified method.
        PrecisionNotReached: the digits were not reached; carries the best enclosure.

    >>> print(renyi("poisson(gaussian(1), 0.01)", "2.5", digits=25))
    0.0002175753322818804526148430...
    >>> print(renyi("gaussian(2)^10", 3))
    3.75
    >>> print(renyi("poisson(laplace(1), 0.1)^5", 4).shown(15))
    0.0894642123276187...
    """
    m, alpha, wanted = mechanism_in(mechanism), order_in(order), digits_in(digits)
    found = enclose_renyi(
        m, alpha, wanted, direction_in(direction), word_in(method, "method", METHODS)
    )
    return delivered(found, wanted)


def enclose_renyi(
    mechanism: Mechanism, order: Order, digits: int, direction: Direction, method: Method = "auto"
) -> Enclosure:
    """The divergence of :func:`renyi`, as narrow as it could be certified."""
    mechanism.relation()
    if selects(mechanism):
        ways = WAYS[direction]
        found = [_with_selection(mechanism, order, digits, way, method) for way in ways]
        return stated(found[0].larger(found[-1]), standing(mechanism))
    composed = Composition.of(mechanism.steps().items(), zcdp=True)
    if direction == "both" and not composed.is_symmetric:
        remove, add = (_one_way(composed, order, digits, add, method) for add in (False, True))
        return stated(remove.larger(add), standing(mechanism))
    # of symmetric pairs removing is never below adding: docs/theory/renyi.md
    either = _one_way(composed, order, digits, direction == "add", method)
    return stated(either, standing(mechanism))


def _with_selection(
    mechanism: Mechanism, order: Order, digits: int, direction: Direction, method: Method
) -> Enclosure:
    """What is selected or given by a curve, and the rest."""
    total, rest = Enclosure.exact(Fraction(0)), {}
    for step, count in mechanism.steps().items():
        if isinstance(step, RepeatAndSelect):
            total = plus(total, selected(step, order, digits, direction, enclose_renyi), count)
        elif isinstance(step, RenyiDP):
            total = plus(total, _given(step, order, digits), count)
        else:
            rest[step] = count
    composed = Composition.of(rest.items(), zcdp=True)
    return plus(total, _one_way(composed, order, digits, direction == "add", method))


def _given(curve: RenyiDP, order: Order, digits: int) -> Enclosure:
    """The bound of a curve, at an irrational order that at a rational one above it."""
    if order is None:
        return INFINITE
    at = curve.at(Fraction(value(order, digits).upper))
    return INFINITE if at is None else Enclosure.exact(at, "upper bound: given curve")


def _one_way(
    composed: Composition, order: Order, digits: int, add: bool, method: Method
) -> Enclosure:
    total = Enclosure.exact(Fraction(0))
    for sample, count in composed.samples:
        found = _sampled(sample, order, add, digits, method)
        total = plus(total, _named(found, sample.inner), count)
    faced = composed.facing("add" if add else "remove")
    found = unsampled.divergence(faced, order, digits)
    total = plus(total, _named(found, composed))
    return total if total.method else total.labelled("closed form: no loss")


def _named(found: Enclosure, composed: Composition) -> Enclosure:
    return found.labelled("upper bound: zCDP") if composed.rho.fraction != 0 else found


def _sampled(sample: Sample, order: Order, add: bool, digits: int, method: Method) -> Enclosure:
    inner, q = sample.inner, sample.q
    if inner.samples:
        raise UnsupportedMechanism("no certified Rényi divergence of poisson(...) within poisson")
    if order is None:
        faced = inner.facing("add" if add else "remove")
        return unsampled.largest_loss(faced, digits, q, add)
    if inner.is_gaussian and inner.noise is not None:
        return sampled_gaussian.divergence(inner.noise, q, order, add, digits, method)
    return samples.divergence(inner, q, order, add, digits)


def order_in(value: RealLike) -> Order:
    """The order, ``None`` when infinite."""
    if isinstance(value, str) and value.strip().lower().lstrip("+") in _INFINITY:
        return None
    if isinstance(value, float) and value == math.inf:
        return None
    order = real_in(value, "order", ">= 1")
    return reals.rational(1) if balls.compare(order, reals.rational(1), "order") == 0 else order
