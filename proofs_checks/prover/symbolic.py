"""Identities and derivatives: a normal form proves, exact evaluation at random points re-verifies.

``simplify`` is never believed alone: what it returns is tried at random rational points, in exact
fractions where the expression is rational and in balls elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final, Literal

import sympy

from dpexact import balls
from proofs_checks.evidence import Declined, Evidence, Refuted
from proofs_checks.prover import intervals
from proofs_checks.prover.expressions import enclose, points_in, rational, tree_of
from proofs_checks.prover.intervals import Ends
from proofs_checks.prover.jets import Balls, jet
from proofs_checks.statements.algebra import assumed, quantified, term_of
from proofs_checks.statements.statement import Relation, Statement
from proofs_checks.statements.terms import Term

#: Random points at which an identity is tried.
POINTS: Final = 12
_WIDTH: Final = Fraction(1, 10**40)


def identity(left: Any, right: Any, domain: Mapping[Any, Ends], *, text: str = "") -> Evidence:
    """Prove that two sympy expressions are equal; ``domain`` says where to try them.

    Args:
        left: one side.
        right: the other side.
        domain: an interval for each free symbol, from which the random points come. The symbols'
            own assumptions (``positive=True``) are what the proof uses.
        text: what the identity is for; the fact itself is written from the sides.

    Derivatives and substitutions (``sympy.Derivative``, ``sympy.Subs``) are worked out here, so
    that the fact shows them. Where a denominator may vanish, the fact has the hypothesis that it
    does not.

    Raises:
        Refuted: the sides differ at an exact point.
        Declined: no normal form shows them equal, or both are the same expression to begin with.
    """
    a, b = sympy.sympify(left), sympy.sympify(right)
    if a == b:
        raise Declined(f"{a} = {b} says nothing: both sides are the same expression")
    difference = _worked_out(a, domain) - _worked_out(b, domain)
    tried = _zero_at_points(difference, domain)
    if not _vanishes(difference):
        raise Declined(f"no normal form shows that {left} = {right}")
    free = sorted(a.free_symbols | b.free_symbols, key=str)
    stated = quantified(
        [(a, "=", b)], map(assumed, free), [(pole, "!=", 0) for pole in poles(a, b)]
    )
    return Evidence("identity", f"{a} = {b}", cases=tried, statement=stated, role=text)


def unfolds(left: Any, right: Any, text: str = "") -> Evidence:
    """Both sides are the same expression as soon as they are written out: this proves nothing.

    It keeps what a written proof says in step with the code; no verdict rests on it.

    Raises:
        Declined: they are different expressions; if they are equal nevertheless, that is an
            :func:`identity`.
    """
    a, b = (sympy.sympify(side) for side in (left, right))
    a, b = (side.doit() if side.has(sympy.Derivative, sympy.Subs) else side for side in (a, b))
    if a != b:
        raise Declined(f"{a} and {b} are not one expression")
    return Evidence("unfolding", f"written out, both sides are {a}", role=text)


def poles(*expressions: Any) -> list[Any]:
    """The denominators that the assumptions of their symbols allow to vanish."""
    found = {
        power.base
        for each in expressions
        for power in each.atoms(sympy.Pow)
        if power.exp.is_negative and not power.base.is_nonzero
    }
    factors = {
        factor if not factor.is_Pow else factor.base
        for base in found
        for factor in sympy.Mul.make_args(sympy.factor(base))
    }
    return sorted((one for one in factors if not one.is_nonzero), key=str)


def _worked_out(expression: Any, domain: Mapping[Any, Ends]) -> Any:
    """The expression without derivatives and substitutions; derivatives agree with their jets."""
    for slope in expression.atoms(sympy.Derivative):
        if len(slope.variables) == 1 and slope.free_symbols == slope.expr.free_symbols:
            _agrees_with_jet(slope.expr, slope.variables[0], slope.doit(), domain)
    return expression.doit() if expression.has(sympy.Derivative, sympy.Subs) else expression


def derivative(expression: Any, symbol: Any, domain: Mapping[Any, Ends]) -> Any:
    """The derivative by sympy, which agrees with Taylor coefficients in balls at random points.

    Raises:
        Declined: the two routes disagree.
    """
    found = sympy.diff(expression, symbol)
    _agrees_with_jet(expression, symbol, found, domain)
    return found


def _agrees_with_jet(expression: Any, symbol: Any, found: Any, domain: Mapping[Any, Ends]) -> None:
    if {each.name for each in expression.free_symbols} - set(_box(domain)):
        return  # a part of another expression: the whole is tried at points in any case
    try:
        tree, slope = tree_of(expression), tree_of(found)
    except Declined:
        return
    for point in points_in(_box(domain), 4):
        low, high = enclose(slope, point)
        with balls.precision(256):
            at = {
                name: [balls.ball(value), balls.ball(Fraction(name == symbol.name))]
                for name, value in point.items()
            }
            other = balls.to_enclosure(jet(tree, at, 2, Balls())[1])
        if other.lower > high or other.upper < low:
            raise Declined(f"the derivative of {expression} disagrees with its jet at {point}")


def derivative_sign(
    expression: Any,
    symbol: Any,
    relation: Literal["increasing", "decreasing"],
    domain: Mapping[Any, Ends],
    **options: Any,
) -> Evidence:
    """Prove that ``expression`` is monotone in ``symbol`` on a box, by the sign of its derivative.

    ``options`` go to :func:`~proofs_checks.prover.intervals.prove` (``where``, ``touch``, ...).

    Raises:
        Refuted: the derivative has the other sign at an exact point.
        Declined: no proof was found.
    """
    slope = derivative(expression, symbol, domain)
    signed = slope if relation == "increasing" else -slope
    text = f"{expression} is {relation} in {symbol}"
    return intervals.prove(signed, ">=", domain, text=text, **options)


def limit(expression: Any, symbol: Any, point: Any, value: Any, direction: str = "+") -> Evidence:
    """Prove that the limit of ``expression`` at ``point`` is ``value``, by sympy's Gruntz method.

    The value is also approached numerically: at points ever nearer the distance must shrink.

    Raises:
        Declined: the limit is another, or the numbers do not approach it.
    """
    found = sympy.limit(expression, symbol, point, direction)
    if not _vanishes(found - value):
        raise Declined(f"the limit of {expression} at {point} is {found}, not {value}")
    if sympy.sympify(expression).free_symbols - {symbol} or sympy.sympify(value).free_symbols:
        raise Declined(f"{expression} has other variables: no numbers can approach {value}")
    step = 1 if direction == "+" else -1
    distances = []
    for exponent in (4, 8, 16):
        near = sympy.Integer(10) ** exponent
        at = near if point is sympy.oo else point + step / near
        low, high = enclose(tree_of(sympy.sympify(expression).subs(symbol, at)), {}, 512)
        target_low, target_high = enclose(tree_of(value), {}, 512)
        distances.append(max(high - target_low, target_high - low))
    if not distances[2] <= distances[0] or distances[2] > Fraction(1, 4):
        raise Declined(f"the numbers do not approach the limit {value} of {expression}")
    try:
        tends: Term = ("limit", term_of(expression), symbol.name, term_of(point))
        stated = Statement((), (), (Relation(tends, "=", term_of(value)),))
    except TypeError:
        stated = None
    return Evidence("identity", f"{expression} -> {value} as {symbol} -> {point}", statement=stated)


def _vanishes(difference: Any) -> bool:
    """Whether some normal form of ``difference`` is 0."""
    if difference == 0:
        return True
    forms: tuple[Callable[[Any], Any], ...] = (
        lambda d: sympy.expand(d),
        lambda d: sympy.expand(sympy.together(d.rewrite(sympy.exp)).as_numer_denom()[0]),
        lambda d: sympy.expand(
            sympy.powsimp(sympy.expand(sympy.together(d.rewrite(sympy.exp)).as_numer_denom()[0]))
        ),
        lambda d: sympy.expand(sympy.expand_log(sympy.expand(d), force=False)),
        lambda d: sympy.simplify(d),
        lambda d: sympy.simplify(sympy.expand(sympy.expand_func(d))),
    )
    return any(form(difference) == 0 for form in forms)


def _zero_at_points(difference: Any, domain: Mapping[Any, Ends]) -> int:
    missing = {s.name for s in difference.free_symbols} - set(_box(domain))
    if missing:
        raise Declined(f"no domain for {', '.join(sorted(missing))}")
    points = points_in(_box(domain), POINTS) if domain else [{}]
    rational_form = difference.is_rational_function(*difference.free_symbols) and not (
        difference.has(sympy.pi, sympy.E, sympy.Sum, sympy.Integral, sympy.Limit)
    )
    tree = None if rational_form else tree_of(difference)
    for point in points:
        if tree is None:
            values = {s: rational(point[s.name]) for s in difference.free_symbols}
            differs = difference.subs(values) != 0
        else:
            low, high = enclose(tree, point)
            differs = low > 0 or high < 0
            if not differs and high - low > _WIDTH:
                raise Declined(f"{difference} is too wide at {point} to be tried")
        if differs:
            witness = {name: str(value) for name, value in point.items()}
            raise Refuted("the two sides differ", witness)
    return len(points)


def _box(domain: Mapping[Any, Ends]) -> dict[str, tuple[Fraction, Fraction]]:
    return {str(s): (Fraction(low), Fraction(high)) for s, (low, high) in domain.items()}
