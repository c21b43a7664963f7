"""The public question: the Rényi divergence of a mechanism at an order."""

from __future__ import annotations

import math
from typing import Final

from dpexact import balls, reals
from dpexact.accounting.composition import Composition
from dpexact.accounting.renyi import closed_form, noises, sampled
from dpexact.accounting.renyi.closed_form import NONE, Order
from dpexact.accounting.renyi.sampled import METHODS, Method
from dpexact.answers import delivered
from dpexact.arguments import Direction, digits_in, direction_in, real_in
from dpexact.enclosure import Enclosure
from dpexact.errors import InvalidInput, UnsupportedMechanism
from dpexact.mechanisms import ZCDP, Mechanism, Poisson
from dpexact.mechanisms.grammar import mechanism_in
from dpexact.reals import Real, RealLike

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
    found = enclose_renyi(m, alpha, wanted, direction_in(direction), _method_in(method))
    return delivered(found, wanted)


def enclose_renyi(
    mechanism: Mechanism, order: Order, digits: int, direction: Direction, method: Method = "auto"
) -> Enclosure:
    """The divergence of :func:`renyi`, as narrow as it could be certified."""
    total = NONE.labelled("")
    for step, count in mechanism.steps().items():
        total = _sum(total, _step(step, order, direction == "add", digits, method), count)
    return total


def order_in(value: RealLike) -> Order:
    """The order, ``None`` when infinite."""
    if isinstance(value, str) and value.strip().lower().lstrip("+") in _INFINITY:
        return None
    if isinstance(value, float) and value == math.inf:
        return None
    order = real_in(value, "order", ">= 1")
    return reals.rational(1) if balls.compare(order, reals.rational(1), "order") == 0 else order


def _method_in(value: str) -> Method:
    for method in METHODS:
        if value == method:
            return method
    raise InvalidInput(f"method: {value!r} is not accepted; use {', '.join(METHODS)}")


def _sum(total: Enclosure, part: Enclosure, count: int) -> Enclosure:
    """``total + count * part``; both are at least 0, so no digit is lost."""
    methods = [name for name in (total.method, part.method) if name]
    label = " + ".join(dict.fromkeys(" + ".join(methods).split(" + ")))
    lower, upper = total.lower + count * part.lower, total.upper + count * part.upper
    return Enclosure(lower, upper, label, total.reason or part.reason)


def _step(step: Mechanism, order: Order, add: bool, digits: int, method: Method) -> Enclosure:
    rate, inner = reals.rational(1), step
    while isinstance(inner, Poisson):
        rate, inner = rate * inner.q, inner.mechanism
    if rate.fraction == 1:
        return _unsampled(inner, order, digits)
    if balls.sign(rate, "q") == 0:
        return NONE
    return _sample(inner, rate, order, add, digits, method)


def _unsampled(inner: Mechanism, order: Order, digits: int) -> Enclosure:
    """The parts of a mechanism sampled at rate 1, which is no sampling."""
    total = NONE.labelled("")
    for part, count in inner.steps().items():
        total = _sum(total, closed_form.divergence(part, order, digits), count)
    return total


def _sample(
    inner: Mechanism, rate: Real, order: Order, add: bool, digits: int, method: Method
) -> Enclosure:
    """``inner`` on a sample of rate strictly between 0 and 1."""
    rho = reals.rational(0)
    known: dict[Mechanism, int] = {}
    for part, count in inner.steps().items():
        if isinstance(part, ZCDP):
            rho += count * part.rho
        else:
            known[part] = count
    composed = Composition.of(known.items())
    if composed.samples:
        raise UnsupportedMechanism(f"no certified Rényi divergence for a sample of {inner}")
    if balls.sign(rho, "rho") > 0:
        bound = noises.at_most(composed, rho, rate, order, add, digits)
        return bound.labelled("upper bound: zCDP")
    if composed.is_empty:
        return NONE
    if composed.is_gaussian:
        return sampled.divergence(composed.mu_squared, rate, order, add, digits, method)
    return noises.divergence(composed, rate, order, add, digits)
