"""One certified statement, in the form that the checker verifies, and tried on the checker.

The bounds are two consecutive numbers of ``digits`` significant decimal digits, or one exact
value: given the mechanism, the argument and ``digits`` there is one such pair, so whoever widens
the bounds is found out as much as who moves them. Mechanisms and exact reals are nested lists of
text: the name first, then the parameters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from itertools import chain
from typing import Any, Final, TypeAlias

from dpexact import certificate_checker as checker
from dpexact import mechanisms
from dpexact.arguments import Direction
from dpexact.certificates import contours, transforms
from dpexact.certificates.cells import FEWEST
from dpexact.decimals import Bound, format_decimal
from dpexact.enclosure import Enclosure
from dpexact.errors import Contradiction, UnsupportedMechanism
from dpexact.mechanisms import Mechanism
from dpexact.mechanisms.base import Composition, Repetition, compose
from dpexact.reals import Real

#: Digits that may be given up until no short decimal number lies within the enclosure.
_SPARE: Final = 8
#: Factor from one number of bits to the next that is tried.
_MORE: Final = 2
#: Digits of the bounds of a contour integral that are tried.
_FEWER: Final = (40, 12, 5)
_OF_LOGS: Final = (8, 5)
Tree: TypeAlias = "str | list[Tree]"


class NoCertificate(UnsupportedMechanism):
    """What was found has no certificate that the checker can verify; the message says why."""


def statement(
    mechanism: Mechanism, quantity: str, at: Real, direction: Direction, found: Enclosure
) -> dict[str, Any]:
    """What ``found`` says of ``quantity`` of ``mechanism`` at ``at``, as the checker verifies it.

    Raises:
        NoCertificate: the checker has no route for it, or not the time.
    """
    if quantity not in ("delta", "epsilon"):
        raise NoCertificate(f"no certificate: the checker does not know {quantity}")
    try:
        tree = mechanism_tree(mechanism)
        steps = checker.steps_of(tree)
        base = {
            "mechanism": tree,
            "text": checker.shown(tree),
            "quantity": quantity,
            "at": number_tree(at),
            "direction": direction,
            "method": checker.method_of(steps),
        }
    except (UnsupportedMechanism, checker.Invalid, checker.Unreadable) as error:
        raise NoCertificate(f"no certificate: {error}") from None
    method = _planned_method(steps)
    if method:
        return _planned(base, steps, found, method)
    reason = "the answer has too few digits, or is too small a number to be written out"
    for bounds in _bounds(found, quantity):
        whole = {**base, **bounds}
        for bits in _bits(whole):
            whole["bits"] = str(bits)
            try:
                checker.check_statement(whole)
            except checker.Refuted as error:
                if bounds["digits"] != "exact" or found.is_exact:
                    raise _contradiction(base, found, error) from None
                break  # a guess at a number next to the answer
            except checker.Undecided as error:
                reason = str(error)
            except (checker.Invalid, checker.Unreadable, RecursionError) as error:
                raise NoCertificate(f"no certificate: {error}") from None
            else:
                return whole
    raise NoCertificate(f"no certificate: {reason}")


def _planned_method(steps: checker.Steps) -> str:
    """The method with a plan, if any: for an allocation, and for mixtures of normal laws.

    So have Laplace steps beside anything normal. One mixture that stands beside nothing normal has
    a closed form.
    """
    if any(step.startswith('["allocation"') for step in steps):
        return checker.TRANSFORM
    mixed = (
        *('["poisson", ["gaussian"', '["poisson", ["gdp"', '["gaussian_mixture"'),
        *('["group", ["poisson"', '["replace", ["poisson"'),
        *('["truncated_poisson"', '["replace", ["truncated_poisson"'),
    )
    noisy = (*mixed, '["gaussian"', '["gdp"')
    several = sum(count for step, count in steps.items() if step.startswith(noisy)) > 1
    several &= any(step.startswith(mixed) for step in steps)
    shaped = any(step.startswith(('["laplace"', '["truncated_laplace"')) for step in steps)
    return checker.CONTOUR * (several or (shaped and any(s.startswith(noisy) for s in steps)))


def _planned(
    base: dict[str, Any], steps: checker.Steps, found: Enclosure, method: str
) -> dict[str, Any]:
    """The statement that the checker with MPFR verifies, with the first plan that suffices."""
    from dpexact.certificate_checker_mpfr.inversion import has_route

    if method == checker.CONTOUR and not has_route(steps):
        raise NoCertificate("no certificate: no checker has a route for this mechanism")
    quantity, reason = base["quantity"], "the answer has too few digits, or is exact"
    for most in _OF_LOGS if len(steps) >= FEWEST else _FEWER:
        for bounds in _bounds(found, quantity, most):
            if bounds["digits"] == "exact" and bounds["lower"] != "0":
                continue
            whole: dict[str, Any] = {**base, **bounds, "method": method, "bits": "64"}
            ends = [Fraction(bounds["lower"]), Fraction(bounds["upper"])]
            points = ends if quantity == "epsilon" else [contours.value(base["at"])]
            reflected = points[0] < 0
            ways = checker.ways_of(base["direction"], base["text"], reflected)
            points = list(map(abs, points))
            digits = 1 if bounds["digits"] == "exact" else int(bounds["digits"])
            if method == checker.CONTOUR:
                proposed = contours.plans(steps, ways, points, digits)
            else:
                size = ends[0] if quantity == "delta" else contours.value(base["at"])
                proposed = _of_allocations(steps, ways, points, digits, size)
            try:
                for plan, bits in proposed:
                    from dpexact.certificate_checker_mpfr import checking

                    whole |= {"plan": plan, "bits": str(bits)}
                    try:
                        checking.check_statement(whole)
                    except checker.Undecided as error:
                        reason = str(error)
                    else:
                        return whole
            except checker.Refuted as error:
                raise _contradiction(base, found, error) from None
            except (checker.Invalid, contours.NoPlan) as error:
                reason = str(error)
    raise NoCertificate(f"no certificate: {reason}")


def _of_allocations(*asked: Any) -> Iterator[tuple[dict[str, Any], int]]:
    """Plans of one epoch, or where there are none those for any number."""
    try:
        yield from transforms.plans("Laplace", *asked)
    except contours.NoPlan:
        yield from transforms.plans("Mellin", *asked)


def _contradiction(base: dict[str, Any], found: Enclosure, error: checker.Refuted) -> Contradiction:
    question = f"{base['quantity']} of {base['text']}"
    return Contradiction(
        f"{question} = {found} by {found.method}", f"the checker, which disagrees: {error}"
    )


def _bounds(found: Enclosure, quantity: str, most: int = 40) -> list[dict[str, str]]:
    """The pairs of bounds to try: the exact value, and numbers of as many digits as are certain."""
    tries = []
    exact = found.is_exact and (quantity == "delta" or found.lower in (0, math.inf))
    if exact and _is_short(found.lower):
        tries.append({"lower": _text(found.lower), "upper": _text(found.lower), "digits": "exact"})
    if found.lower <= 0 or not isinstance(found.upper, Fraction):
        return tries
    if not _is_short(_cut(Fraction(found.lower), 1)):
        return tries
    lower = Fraction(found.lower)
    likely = _simplest(lower, found.upper)
    if quantity == "delta" and not exact and likely.denominator**3 * (found.upper - lower) < 1:
        tries.append({"lower": _text(likely), "upper": _text(likely), "digits": "exact"})
    if found.is_exact and quantity == "epsilon":  # the smallest epsilon may be the upper bound
        lower -= lower / 10**40
    digits = min(Enclosure(lower, found.upper).digits, most)
    for count in range(digits, max(0, digits - _SPARE), -1):
        low = _cut(lower, count)
        high = checker.following(low, count)
        assert high is not None
        below = found.upper <= high if quantity == "epsilon" else found.upper < high
        if low < lower and below:
            tries.append({"lower": _text(low), "upper": _text(high), "digits": str(count)})
            break
    return tries


def _simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction of least denominator in ``[low, high]``, ``0 < low``."""
    whole = math.ceil(low)
    if whole <= high:
        return Fraction(whole)
    floor = whole - 1
    return floor + 1 / _simplest(1 / (high - floor), 1 / (low - floor))


def _is_short(bound: Bound) -> bool:
    """Whether the checkers read a text of ``bound``: about ``MAX_TEXT`` digits."""
    if not isinstance(bound, Fraction):
        return True
    bits = bound.numerator.bit_length() + bound.denominator.bit_length()
    # proposes: what is not tried has no certificate, and the checker has the last word
    return bits * math.log10(2) + 4 <= checker.MAX_TEXT


def _text(bound: Bound) -> str:
    return "inf" if bound == math.inf else str(bound)


def _cut(x: Fraction, digits: int) -> Fraction:
    """``x > 0`` rounded down to so many significant decimal digits."""
    return Fraction(Decimal(format_decimal(x, digits, ROUND_FLOOR)))


def _bits(whole: dict[str, Any]) -> list[int]:
    """Bits for the checker: those of the digits and of a small delta, then more."""
    digits = 0 if whole["digits"] == "exact" else int(whole["digits"])
    small = whole["lower"] if whole["quantity"] == "delta" else whole["at"]
    size = 0
    if isinstance(small, str) and small != "inf" and (value := Fraction(small)):
        size = max(0, value.denominator.bit_length() - value.numerator.bit_length())
    first = 64 + 7 * digits // 2 + (size if whole["digits"] != "exact" else 0)
    tries = [first * _MORE**n for n in range(4)]
    return [bits for bits in tries if bits <= checker.MAX_BITS]


def number_tree(x: Real) -> Tree:
    """An exact real.

    >>> from dpexact.conversion import real
    >>> number_tree(real("log(1.5) * 3"))
    ['*', ['log', '3/2'], '3']
    """
    if x.fraction is not None:
        return str(x.fraction)
    return [x.operator, *map(number_tree, x.arguments)]


def mechanism_tree(mechanism: mechanisms.Mechanism) -> Tree:
    """A mechanism, with every parameter written out.

    Raises:
        UnsupportedMechanism: one of which certificates do not speak.

    >>> from dpexact.mechanisms import parse
    >>> mechanism_tree(parse("poisson(gaussian(1.3), 1/100)^5"))
    ['repeat', ['poisson', ['gaussian', '13/10', '1'], '1/100'], '5']
    """
    match mechanism:
        case Composition(parts):
            return ["compose", *map(mechanism_tree, parts)]
        case Repetition(inner, times):
            return ["repeat", mechanism_tree(inner), str(times)]
        case mechanisms.ZCDP(rho, xi):
            return [mechanism.name, number_tree(xi), number_tree(rho)]
        case mechanisms.Allocation(inner, t, 1) if t > 1:
            return [mechanism.name, mechanism_tree(inner), str(t)]
    if mechanism.name in checker.DOMAINS and not isinstance(mechanism, mechanisms.Allocation):
        given = [getattr(mechanism, field.name) for field in fields(mechanism)]
        rows = [value if isinstance(value, tuple) else (value,) for value in given]
        return [mechanism.name, *map(_tree, chain.from_iterable(rows))]
    laws = [one**count for one, count in mechanism.steps().items()]
    if laws == [mechanism]:
        raise UnsupportedMechanism(f"certificates do not speak of {mechanism}")
    return mechanism_tree(compose(*laws))  # one that stands for the law of others


def _tree(parameter: Real | int | mechanisms.Mechanism | tuple[Any, ...]) -> Tree:
    """A parameter, or a row of some."""
    match parameter:
        case Real():
            return number_tree(parameter)
        case mechanisms.Mechanism():
            return mechanism_tree(parameter)
        case tuple():
            return [*map(_tree, parameter)]
    return str(parameter)
