"""The checker of interval proofs: small, and independent of whatever found them.

A proof says that ``expression > 0`` (or ``>= 0``) at every point of a box with rational ends (or
``oo``, ``-oo``) where all ``constraints`` are ``>= 0``. It is a subdivision:
``["split", variable, point, left, right]`` cuts a box at a rational point strictly inside, so the
parts cover it exactly; ``["leaf", method]`` settles a box by one bound, computed here afresh:

``["value"]``
    the range of the expression in balls;
``["range"]``
    its range by the ends of every operation, also where the box reaches to infinity;
``["mean"]``
    ``f(c) + sum f_i(box) (x_i - c_i)`` at the centre ``c`` (mean value theorem);
``["taylor", variable, n]``
    Taylor's formula of order ``n`` in one variable with Lagrange's remainder;
``["monotone", {variable: 1 or -1}]``
    the derivatives have these signs on the box, so the end with the least value decides;
``["touch", variable, point, m]``
    only for ``>= 0``: the Taylor coefficients below order ``m`` vanish exactly at the point, so
    ``f = (x - point)^m c`` with ``c`` in the range of the coefficient of order ``m``;
``["outside", j]``
    constraint ``j`` is negative on the whole box.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final, TypeAlias

from flint import arb

from dpexact import balls
from proofs_checks.prover.formal import Formal, NotExact
from proofs_checks.prover.jets import Balls, Jet, Tree, jet
from proofs_checks.prover.ranges import Ranges, range_of

Box: TypeAlias = dict[str, tuple[Any, Any]]

FORMAT: Final = 1
_BALLS: Final = Balls()


class Rejected(Exception):
    """The proof does not establish what it states; the message says where it fails."""


def check(proof: Mapping[str, Any]) -> int:
    """Accept ``proof`` and return its number of boxes.

    Raises:
        Rejected: a bound does not hold, a cut is not inside its box, or the form is not known.
    """
    if proof.get("format") != FORMAT or proof.get("relation") not in (">", ">="):
        raise Rejected("unknown format or relation")
    box: Box = {}
    for variable, (low, high) in proof["domain"].items():
        box[variable] = end(low), end(high)
        if box[variable][0] > box[variable][1]:
            raise Rejected(f"the domain of {variable} is empty")
    with balls.precision(int(proof["bits"])):
        return _check_node(proof, proof["subdivision"], box)


def end(text: Fraction | int | str) -> Any:
    """An end of an interval: a fraction, or a float infinity for ``oo`` and ``-oo``."""
    return {"oo": math.inf, "-oo": -math.inf}.get(str(text)) or Fraction(text)


def _check_node(proof: Mapping[str, Any], node: list[Any], box: Box) -> int:
    if node[0] == "leaf":
        if not settles(proof, box, node[1]):
            raise Rejected(f"{node[1]} does not settle {describe(box)}")
        return 1
    _, variable, text, left, right = node
    low, high = box[variable]
    point = Fraction(text)
    if not low < point < high:
        raise Rejected(f"{variable} = {point} is not inside {describe(box)}")
    return _check_node(proof, left, {**box, variable: (low, point)}) + _check_node(
        proof, right, {**box, variable: (point, high)}
    )


def settles(proof: Mapping[str, Any], box: Box, method: list[Any]) -> bool:
    """Whether ``method`` establishes the statement of ``proof`` on ``box``."""
    name, *arguments = method
    if name in ("value", "mean", "taylor", "touch") and not all(map(_bounded, box.values())):
        return False
    tree, strict = proof["expression"], proof["relation"] == ">"
    if name == "outside":
        return bool(_range(proof["constraints"][arguments[0]], box).high < 0)
    if name == "touch":
        return not strict and _touches(tree, box, *arguments)
    bound = _bound(tree, box, name, arguments)
    return bound is not None and bool(bound > 0 if strict else bound >= 0)


def _bound(tree: Tree, box: Box, name: str, arguments: list[Any]) -> arb | None:
    """A ball that contains the value of ``tree`` at all points (monotone: at the least one)."""
    if name == "value":
        return jet(tree, point_of(box), 1, _BALLS)[0]
    if name == "range":
        return _range(tree, box).low
    if name == "mean":
        centre = {name: ((low + high) / 2,) * 2 for name, (low, high) in box.items()}
        total = jet(tree, point_of(centre), 1, _BALLS)[0]
        for variable, (low, high) in box.items():
            if low < high:
                slope = jet(tree, point_of(box, variable, 2), 2, _BALLS)[1]
                half = (high - low) / 2
                total += slope * _interval(-half, half)
        return total
    if name == "taylor":
        variable, order = arguments[0], int(arguments[1])
        low, high = box[variable]
        middle, half = (low + high) / 2, (high - low) / 2
        at = {**box, variable: (middle, middle)}
        terms = jet(tree, point_of(at, variable, order), order, _BALLS)
        terms.append(jet(tree, point_of(box, variable, order + 1), order + 1, _BALLS)[order])
        total = terms[-1]
        for term in reversed(terms[:-1]):
            total = total * _interval(-half, half) + term
        return total
    if name == "monotone":
        corner = dict(box)
        for variable, sign in arguments[0].items():
            if sign not in (1, -1) or slope_sign(tree, box, variable) != sign:
                return None
            least = box[variable][0 if sign == 1 else 1]
            if not isinstance(least, Fraction):
                return None
            corner[variable] = least, least
        return _range(tree, corner).low
    raise Rejected(f"unknown method {name!r}")


def _touches(tree: Tree, box: Box, variable: str, text: str, order: int) -> bool:
    """Whether the expression is ``(variable - point)^order`` times something not negative."""
    low, high = box[variable]
    point = Fraction(text)
    if order < 1 or not low <= point <= high:
        return False
    formal = Formal([name for name in box if name != variable])
    try:
        terms = jet(tree, formal.point(variable, point, order), order, formal)
    except (NotExact, ZeroDivisionError):
        return False
    if any(terms):
        return False
    last = jet(tree, point_of(box, variable, order + 1), order + 1, _BALLS)[order]
    if point == low or order % 2 == 0:
        return bool(last >= 0)
    return point == high and bool(last <= 0)


def point_of(box: Box, variable: str = "", length: int = 1) -> dict[str, Jet]:
    """The box as jets: all variables constant but ``variable``, whose slope is 1."""
    return {
        name: [_interval(*ends), *[arb(name == variable and i == 1) for i in range(1, length)]]
        for name, ends in box.items()
    }


def _interval(low: Any, high: Any) -> arb:
    return balls.ball(low) if low == high else balls.ball(low).union(balls.ball(high))


def slope_sign(tree: Tree, box: Box, variable: str) -> int:
    """1 or -1 if the derivative in ``variable`` is ``>= 0`` or ``<= 0`` on the box, else 0."""
    if all(map(_bounded, box.values())):
        slope = jet(tree, point_of(box, variable, 2), 2, _BALLS)[1]
        return 1 if slope >= 0 else -1 if slope <= 0 else 0
    at = {
        name: [range_of(*ends), range_of(*[Fraction(name == variable)] * 2)]
        for name, ends in box.items()
    }
    slope = jet(tree, at, 2, Ranges())[1]
    return 1 if slope.low >= 0 else -1 if slope.high <= 0 else 0


def _bounded(ends: tuple[Any, Any]) -> bool:
    return isinstance(ends[0], Fraction) and isinstance(ends[1], Fraction)


def _range(tree: Tree, box: Box) -> Any:
    (value,) = jet(tree, {name: [range_of(*ends)] for name, ends in box.items()}, 1, Ranges())
    return value


def describe(box: Box) -> str:
    """The box in words, for messages."""
    parts = (f"{name} in [{low}, {high}]" for name, (low, high) in box.items())
    return " x ".join(parts).replace("inf", "oo")
