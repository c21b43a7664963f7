"""What the operators on laws and reals mean: fractions where all is rational, balls elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from math import comb, factorial
from typing import Any, Final

from flint import arb

from dpexact import balls
from proofs_checks.prover.enumeration import (
    beta_at,
    hockey_stick,
    kov_pair,
    post_process,
    product_law,
    tradeoff,
)
from proofs_checks.statements.algebra import NotReal


def is_exact(found: Iterable[Any]) -> bool:
    """Whether all of them are fractions."""
    return all(isinstance(each, Fraction) for each in found)


def real(operator: str, found: list[Any]) -> Any:
    """The value of an operator on reals.

    Raises:
        NotReal: it has no value here.
    """
    exact = is_exact(found)
    if operator in ("+", "*"):
        total = found[0]
        for each in found[1:]:
            total = add(total, each) if operator == "+" else multiply(total, each)
        return total
    if operator in ("max", "min"):
        return extreme(operator, found)
    if operator == "/":
        return found[0] / found[1] if exact else ball(found[0]) / ball(found[1])
    if operator == "^":
        if exact and found[1].denominator == 1 and abs(found[1]) < 500:
            return found[0] ** int(found[1])
        return ball(found[0]) ** ball(found[1])
    if operator in ("binomial", "factorial"):
        if not exact or any(each.denominator != 1 or each < 0 for each in found):
            raise NotReal(operator)
        whole = [int(each) for each in found]
        return Fraction(comb(*whole) if operator == "binomial" else factorial(*whole))
    if operator == "abs" and exact:
        return abs(found[0])
    if operator in ("floor", "ceiling") and exact:
        return Fraction(found[0].__floor__() if operator == "floor" else found[0].__ceil__())
    if operator == "Phi":
        return (-ball(found[0]) / arb(2).sqrt()).erfc() / 2
    method = {"abs": "__abs__", "gamma": "gamma"}.get(operator, operator)
    if not hasattr(arb, method):
        raise NotReal(operator)
    return getattr(ball(found[0]), method)()


def whole(found: Any) -> int:
    """A count, or the end of a sum.

    Raises:
        NotReal: it is not seen to be a whole number.
    """
    if not is_exact((found,)) or found.denominator != 1:
        raise NotReal(f"{found}, which is not seen to be whole")
    return int(found)


def ball(number: Any) -> arb:
    """A ball around a number."""
    return number if isinstance(number, arb) else balls.ball(number)


def add(a: Any, b: Any) -> Any:
    """The sum, exact where both are."""
    return a + b if is_exact((a, b)) else ball(a) + ball(b)


def multiply(a: Any, b: Any) -> Any:
    """The product, exact where both are."""
    a, b = (Fraction(each) if isinstance(each, int) else each for each in (a, b))
    return a * b if is_exact((a, b)) else ball(a) * ball(b)


def extreme(operator: str, found: list[Any]) -> Any:
    """The largest (``max``) or the smallest."""
    if not found:
        raise NotReal(f"{operator} of nothing")
    if all(isinstance(each, Fraction) for each in found):
        return (max if operator == "max" else min)(found)
    return reduce(arb.max if operator == "max" else arb.min, map(ball, found))


def _moment(p: Any, q: Any, order: Fraction) -> Any:
    if any(p[x] and not q.get(x) for x in p):
        raise ZeroDivisionError
    terms = [multiply(p[x], real("^", [p[x] / q[x], order - 1])) for x in p if p[x]]
    return reduce(add, terms, Fraction(0))


def _run(mechanism: Any, steps: Fraction) -> Any:
    law: dict[Any, Fraction] = {(): Fraction(1)}
    for _ in range(whole(steps)):
        law = {
            (*word, x): weight * chance
            for word, weight in law.items()
            for x, chance in mechanism[word].items()
        }
    return law


def _worst_step(first: Any, second: Any, growth: Any, step: Fraction) -> Any:
    histories = [word for word in first if len(word) == step]
    if not histories:
        raise NotReal(f"step {step} of a mechanism")
    return extreme("max", [_divergence(first[h], second[h], growth) for h in histories])


def _divergence(p: Any, q: Any, growth: Any) -> Any:
    """The hockey-stick divergence; a ball where ``growth`` or a probability is one."""
    if is_exact([growth, *p.values(), *q.values()]):
        return hockey_stick(p, q, growth)
    terms = [
        extreme("max", [Fraction(0), ball(p.get(x, 0)) - ball(growth) * ball(q.get(x, 0))])
        for x in p.keys() | q.keys()
    ]
    return reduce(add, terms, Fraction(0))


def _at_least(a: Any, b: Any) -> bool:
    if isinstance(a, arb) or isinstance(b, arb):
        difference = ball(a) - ball(b)
        if not (difference >= 0 or difference < 0):
            raise NotReal("an event on whose boundary an outcome lies")
        return bool(difference >= 0)
    return bool(a >= b)


def _item(sequence: Any, index: Fraction) -> Any:
    if not 0 <= index < len(sequence):
        raise NotReal(f"member {index} of a sequence")
    return sequence[int(index)]


def powers(p: Any, q: Any, steps: Fraction) -> tuple[Any, Any]:
    """``p^n`` and ``q^n`` on how often each outcome occurs: a test between them needs no more."""
    met = {x for x in p.keys() | q.keys() if p.get(x, 0) != 0 or q.get(x, 0) != 0}
    outcomes = sorted(met, key=repr)
    return _counted(p, outcomes, whole(steps)), _counted(q, outcomes, whole(steps))


def _counted(law: Any, outcomes: list[Any], steps: int) -> Any:
    found: dict[Any, Any] = {(): (Fraction(1), steps)}
    for x in outcomes:
        powers_of = [law.get(x, Fraction(0)) ** n for n in range(steps + 1)]
        found = {
            (*key, n): (multiply(weight, comb(left, n) * powers_of[n]), left - n)
            for key, (weight, left) in found.items()
            for n in (range(left + 1) if x != outcomes[-1] else [left])
        }
    return {key: weight for key, (weight, _) in found.items()}


def _response(growth: Any, delta: Any) -> Any:
    """The law of randomized response; balls where a parameter is one."""
    if is_exact([growth, delta]):
        return _lawful(kov_pair(growth, delta)[0])
    share = (1 - ball(delta)) / (1 + ball(growth))
    return _lawful({0: delta, 1: ball(growth) * share, 2: share, 3: Fraction(0)})


def _mirrored(law: Any) -> Any:
    return {x: law[3 - x] for x in range(4)}


def _lawful(law: Any) -> Any:
    if any(mass < 0 for mass in law.values()):
        raise NotReal("a negative probability")
    return law


def _mixture(share: Any, p: Any, q: Any) -> Any:
    _lawful({0: 1 - share, 1: share})
    outcomes = p.keys() | q.keys()
    return {x: share * p.get(x, 0) + (1 - share) * q.get(x, 0) for x in sorted(outcomes)}


def _tradeoff(p: Any, q: Any) -> Any:
    if not is_exact([*p.values(), *q.values()]):
        raise NotReal("a trade-off function of laws that are not rational")
    return tradeoff(p, q)


def _value(corners: Any, level: Any) -> Any:
    if not isinstance(level, Fraction) or not 0 <= level <= 1:
        raise NotReal("a trade-off function at a level that is no rational in [0, 1]")
    return beta_at(corners, level)


def _inverse(corners: Any) -> Any:
    least = {b: a for a, b in reversed(corners)}  # of a flat part the first level
    turned = sorted(least.items())
    return turned if turned[-1][0] == 1 else [*turned, (Fraction(1), Fraction(0))]


def _subsampled(share: Any, corners: Any) -> Any:
    """The largest convex function below ``share f + (1 - share) Id`` and its inverse."""
    if not is_exact([share]) or not 0 <= share <= 1:
        raise NotReal("a share that is no rational in [0, 1]")
    mixed = [(a, share * b + (1 - share) * (1 - a)) for a, b in corners]
    hull: list[tuple[Fraction, Fraction]] = []
    for a, b in sorted({*mixed, *_inverse(mixed)}):
        while len(hull) > 1 and _above((a, b), *hull[-2:]):
            hull.pop()
        hull.append((a, b))
    return hull


def _above(end: Any, start: Any, corner: Any) -> bool:
    """Whether ``corner`` is on the line from ``start`` to ``end`` or above it."""
    width, height = corner[0] - start[0], corner[1] - start[1]
    return bool(width * (end[1] - start[1]) <= height * (end[0] - start[0]))


#: The operators whose value is that of how often each outcome occurs, for powers of two laws.
OF_PAIRS: Final = frozenset({"hockey_stick", "total_variation", "tradeoff", "moment"})
LAWS: Final[dict[str, Any]] = {
    "hockey_stick": _divergence,
    "total_variation": lambda p, q: _divergence(p, q, Fraction(1)),
    "moment": _moment,
    "worst_hockey_stick": lambda k, m, growth: extreme(
        "max", [_divergence(k[x], m[x], growth) for x in k]
    ),
    "worst_moment": lambda k, m, order: extreme("max", [_moment(k[x], m[x], order) for x in k]),
    "push": lambda kernel, law: post_process(law, kernel),
    "joint": lambda law, kernel: {(x, y): law[x] * kernel[x][y] for x in law for y in kernel[x]},
    "product": lambda p, q: product_law(p, q),
    "power": lambda p, n: product_law(*[p] * whole(n)),
    "mixture": _mixture,
    "bernoulli": lambda p: _lawful({0: 1 - p, 1: p}),
    "response": _response,
    "mirrored_response": lambda growth, delta: _mirrored(_response(growth, delta)),
    "tradeoff": _tradeoff,
    "inverse": _inverse,
    "approximate": lambda e, d: _tradeoff(_response(e, d), _mirrored(_response(e, d))),
    "subsampled": _subsampled,
    "value": _value,
    "probability": lambda law, event: sum((law[x] for x in law if event(x)), Fraction(0)),
    "complement": lambda event: lambda x: not event(x),
    "likely": lambda p, q, growth: lambda x: _at_least(p.get(x, 0), multiply(growth, q.get(x, 0))),
    "expectation": lambda law, test: sum((law[x] * test[x] for x in law), Fraction(0)),
    "item": _item,
    "run": _run,
    "worst_step": _worst_step,
}
