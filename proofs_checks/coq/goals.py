"""Coq goals out of typed statements."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from dpexact.certificates.coq.theorems import fraction
from proofs_checks.coq.spaces import NoGoal, Space, Spaces
from proofs_checks.statements.statement import Relation, Statement, Variable
from proofs_checks.statements.terms import NUMBER, Sort, Term, names, sort_of

__all__ = ["NoGoal", "goal_of"]

_FUNCTIONS: Final = {
    "exp": "exp",
    "log": "ln",
    "sqrt": "sqrt",
    "abs": "Rabs",
    "tanh": "tanh",
    "sinh": "sinh",
    "cosh": "cosh",
    "Phi": "Phi",
    "erf": "erf",
}
_FOLDED: Final = {"max": "Rmax", "min": "Rmin"}
_SIGNS: Final = {"!=": "<>"}
_CONSTANTS: Final = {"pi": "PI", "e": "(exp 1)"}
_OVER_NATURALS: Final = {"sum": "sum", "prod": "multiplied", "largest": "largest"}
_LAWS: Final = {"response": "response0", "mirrored_response": "response1", "bernoulli": "coin"}
_BETWEEN_LAWS: Final = frozenset({"hockey_stick", "total_variation", "moment"})


def goal_of(statement: Statement) -> str:
    """The statement as a Coq proposition; division and logarithm are Coq's total functions.

    Laws live on lists of outcomes of any type, as different as the statement allows; a trade-off
    function is that of two such laws. ``D(f, x) = g`` says that ``g`` is the derivative, and
    ``at(D(f, x), x, c) = g`` that it is the one at ``c``.

    Raises:
        NoGoal: it has an operator that is not written.

    >>> from proofs_checks.statements.reading import statement
    >>> print(goal_of(statement({"for_all": {"x": "real >= 0"}, "then": ["x + 1 >= 1"]})))
    forall (x_ : R), 0 <= x_ -> ((x_ + 1) >= 1)
    """
    own = _Goal(statement).text()
    if not statement.also:
        return own
    return " /\\ ".join(f"({each})" for each in (own, *map(goal_of, statement.also)))


class _Goal:
    """One statement without further parts: where its laws live, and how its terms are written."""

    def __init__(self, statement: Statement) -> None:
        self._statement = statement
        self._sorts: dict[str, Sort] = dict(statement.sorts)
        self._domains = {each.name: each for each in statement.variables}
        self._spaces = Spaces(statement)

    def text(self) -> str:
        variables = self._statement.variables
        binders = [f"(A{n} : Type) (l{n} : list A{n})" for n in self._spaces.atoms()]
        binders += [f"({_name(each.name)}{self._type(each)})" for each in variables]
        premises = [line for each in variables for line in self._domain(each)]
        premises += [self._relation(each) for each in self._statement.hypotheses]
        relations = self._statement.conclusion
        conclusion = " /\\ ".join(f"({self._relation(each)})" for each in relations)
        quantified = f"forall {' '.join(binders)}, " if binders else ""
        return quantified + "".join(f"{each} -> " for each in premises) + conclusion

    def _type(self, variable: Variable) -> str:
        name = variable.name
        match variable.sort:
            case "real":
                return " : R"
            case "natural":
                return " : nat"
            case "sequence":
                return " : nat -> R"
            case "law" | "test":
                return f" : {_type(self._spaces.of(name))} -> R"
            case "event":
                return f" : {_type(self._spaces.of(name))} -> bool"
            case "kernel":
                start, end = map(_type, self._spaces.kernel(name))
                return f" : {start} -> {end} -> R"
            case "mechanism":
                own = _type(self._spaces.of(name))
                return f" : list {own} -> {own} -> R"
        return f"0 {_name(name)}1 : {_type(self._spaces.of(name))} -> R"  # the laws of a trade-off

    def _domain(self, variable: Variable) -> Iterator[str]:
        name = _name(variable.name)
        match variable.sort:
            case "real" | "natural":
                yield from _between(variable, self._real(variable.name))
            case "sequence":
                for each in _between(variable, f"{name} i"):
                    yield f"(forall i : nat, {each})"
            case "law":
                outcomes = self._outcomes(self._spaces.of(variable.name))
                yield f"{_kind(variable, 'law')} {outcomes} {name}"
            case "test":
                yield f"test {self._outcomes(self._spaces.of(variable.name))} {name}"
            case "kernel":
                start, end = map(self._outcomes, self._spaces.kernel(variable.name))
                yield f"{_kind(variable, 'kernel')} {start} {end} {name}"
            case "mechanism":
                outcomes = self._outcomes(self._spaces.of(variable.name))
                yield f"{_kind(variable, 'steps_of')} {outcomes} {name}"
            case "tradeoff":
                outcomes = self._outcomes(self._spaces.of(variable.name))
                yield from (f"law {outcomes} {name}{i}" for i in (0, 1))

    def _relation(self, relation: Relation) -> str:
        sign = _SIGNS.get(relation.comparison, relation.comparison)
        left, right = relation.left, relation.right
        if sort_of(left, self._sorts) == "tradeoff":
            shown = f"{self._function(left)} a {sign} {self._function(right)} a"
            return f"(forall a, 0 <= a <= 1 -> {shown})"
        if isinstance(left, tuple) and left[0] == "limit" and left[3] == "oo" and sign == "=":
            return f"is_lim {self._function_of(*left[1:3])} p_infty {self._real(right)}"
        slope, *where = left[1:] if isinstance(left, tuple) and left[0] == "at" else (left,)
        if isinstance(slope, tuple) and slope[0] == "D" and sign == "=":
            return self._derivative(slope, where or [slope[2], slope[2]], self._real(right))
        return f"{self._real(left)} {sign} {self._real(right)}"

    def _derivative(self, slope: Term, where: list[Term], value: str) -> str:
        """``value`` is the derivative, of any order; ``where`` names a variable and its value."""
        name, point = where
        body, order = slope, 0
        while isinstance(body, tuple) and body[0] == "D" and body[2] == name:
            body, order = body[1], order + 1
        if not order:
            raise NoGoal(f"a slope in another variable where {name} has a value")
        kind = "is_derive" if order == 1 else "is_derive_n"
        times = "" if order == 1 else f" {order}"
        return f"{kind} {self._function_of(body, str(name))}{times} {self._real(point)} {value}"

    def _function_of(self, body: Term, name: str) -> str:
        return f"(fun {_name(name)} : R => {self._within(body, name, 'real')})"

    def _within(self, body: Term, name: str, sort: Sort) -> str:
        """A term in which ``name`` is bound; a variable of that name lends it no domain."""
        before = self._sorts, self._domains
        self._sorts = {**self._sorts, name: sort}
        self._domains = {each: domain for each, domain in self._domains.items() if each != name}
        try:
            return self._real(body)
        finally:
            self._sorts, self._domains = before

    def _real(self, term: Term) -> str:
        if isinstance(term, str):
            if NUMBER.fullmatch(term):
                return fraction(Fraction(term))
            if term in ("oo", "-oo"):
                raise NoGoal("infinity is no real number")
            if term in _CONSTANTS:
                return _CONSTANTS[term]
            return f"(INR {_name(term)})" if self._sorts[term] == "natural" else _name(term)
        operator, *operands = term
        if operator == "^":
            return self._power(operands[0], operands[1])
        if operator in ("+", "*", "/"):
            return f"({f' {operator} '.join(map(self._real, operands))})"
        if operator in _FUNCTIONS:
            return f"({_FUNCTIONS[operator]} {self._real(operands[0])})"
        if operator in _FOLDED:
            folded = self._real(operands[-1])
            for part in reversed(operands[:-1]):
                folded = f"({_FOLDED[operator]} {self._real(part)} {folded})"
            return folded
        if operator in _OVER_NATURALS:
            return self._over_naturals(operator, *operands)
        if operator == "at":
            body, name, point = operands
            return f"({self._function_of(body, name)} {self._real(point)})"
        return self._of_outcomes(operator, operands)

    def _power(self, base: Term, exponent: Term) -> str:
        shown = self._real(base)
        if isinstance(exponent, str) and NUMBER.fullmatch(exponent):
            value = Fraction(exponent)
            if value.denominator == 1:
                return f"({shown} ^ {value})" if value >= 0 else f"(/ ({shown} ^ {-value}))"
        if isinstance(exponent, str) and self._sorts.get(exponent) == "natural":
            return f"({shown} ^ {_name(exponent)})"
        if isinstance(exponent, tuple) and exponent[0] == "+" and len(exponent) == 3:
            name, less = exponent[1:]
            if self._is_at_least(name, less):
                return f"({shown} ^ ({_name(name)} - {less[1:]}))"
        if self._positive(base):
            return f"(exp ({self._real(exponent)} * ln {shown}))"
        return f"(real_power {shown} {self._real(exponent)})"

    def _is_at_least(self, name: Term, less: Term) -> bool:
        """Whether a natural variable is at least the number of which ``less`` is the negative."""
        if not isinstance(less, str) or not less.startswith("-") or not less[1:].isdigit():
            return False
        domain = self._domains.get(str(name))
        return (
            domain is not None and domain.sort == "natural" and (domain.low or 0) >= int(less[1:])
        )

    def _positive(self, term: Term) -> bool:
        """Whether a term is positive, as far as that is evident."""
        if isinstance(term, str):
            if NUMBER.fullmatch(term):
                return Fraction(term) > 0
            domain = self._domains.get(term)
            if domain is None or domain.low is None:
                return False
            return domain.low > 0 or (domain.low == 0 and domain.low_open)
        return term[0] == "exp" or (term[0] in "+*/" and all(map(self._positive, term[1:])))

    def _over_naturals(self, operator: str, body: Term, name: str, low: Term, high: Term) -> str:
        if not isinstance(low, str) or not low.isdigit():
            raise NoGoal(f"a {operator} from {low}")
        if isinstance(high, tuple) and high[0] == "+" and high[2:] == ("-1",):
            count, more = self._natural(high[1]), -int(low)
        else:
            count, more = self._natural(high), 1 - int(low)
        if more not in (0, 1):
            raise NoGoal(f"a {operator} from {low}")
        length = f"(S {count})" if more else count
        inner = f"(fun {_name(name)} : nat => {self._within(body, name, 'natural')})"
        return f"({_OVER_NATURALS[operator]} (seq {low} {length}) {inner})"

    def _natural(self, term: Term) -> str:
        if isinstance(term, str) and (term.isdigit() or self._sorts.get(term) == "natural"):
            return term if term.isdigit() else _name(term)
        if isinstance(term, tuple) and term[0] in ("+", "*"):
            return f"({f' {term[0]} '.join(map(self._natural, term[1:]))})%nat"
        raise NoGoal(f"{term} is no sum or product of naturals")

    def _of_outcomes(self, operator: str, operands: list[Term]) -> str:
        if operator in _BETWEEN_LAWS:
            outcomes = self._outcomes(self._spaces.law(operands[0]))
            first, second = map(self._law, operands[:2])
            if operator == "moment":
                self._demand_all_possible(*operands[:2])
            if operator == "hockey_stick":
                return f"(HS {outcomes} {self._real(operands[2])} {first} {second})"
            order = "" if operator == "total_variation" else f" {self._real(operands[2])}"
            return f"({operator} {outcomes}{order} {first} {second})"
        if operator == "mean":
            self._demand_all_possible(*operands[2:])
            body, name = operands[0], str(operands[1])
            outcomes = self._outcomes(self._spaces.law(operands[2]))
            laws = " ".join(map(self._law, operands[2:]))
            return f"(mean {outcomes} {laws} {self._function_of(body, name)})"
        if operator in ("probability", "expectation"):
            outcomes = self._outcomes(self._spaces.law(operands[0]))
            return f"({operator} {outcomes} {self._law(operands[0])} {self._event(operands[1])})"
        if operator == "value":
            return f"({self._function(operands[0])} {self._real(operands[1])})"
        if operator == "item":
            return f"({_name(str(operands[0]))} {self._natural(operands[1])})"
        if operator == "binomial":
            return f"(INR (choose {self._natural(operands[0])} {self._natural(operands[1])}))"
        if operator == "worst_hockey_stick":
            start, end = map(self._outcomes, self._spaces.kernel(str(operands[0])))
            return self._largest_divergence(start, end, operands, self._real(operands[2]))
        if operator == "worst_moment":
            self._demand_all_possible(*operands[:2])
            start, end = map(self._outcomes, self._spaces.kernel(str(operands[0])))
            laws = " ".join(f"({_name(str(each))} h)" for each in operands[:2])
            return f"(largest {start} (fun h => moment {end} {self._real(operands[2])} {laws}))"
        if operator == "worst_step":
            own = self._outcomes(self._spaces.of(str(operands[0])))
            histories = f"(words {own} {self._natural(operands[3])})"
            return self._largest_divergence(histories, own, operands, self._real(operands[2]))
        raise NoGoal(f"{operator} is not written")

    def _demand_all_possible(self, *laws: Term) -> None:
        """A loss is no real number where an outcome is impossible."""
        spoken = {name for law in laws for name in names(law)}
        for each in self._statement.variables:
            random = each.sort in ("law", "kernel", "mechanism") and each.name in spoken
            if random and not each.low_open:
                raise NoGoal(f"an outcome of {each.name} may be impossible")

    def _largest_divergence(self, over: str, own: str, operands: list[Term], growth: str) -> str:
        first, second = (f"({_name(str(each))} h)" for each in operands[:2])
        return f"(largest {over} (fun h => HS {own} {growth} {first} {second}))"

    def _event(self, term: Term) -> str:
        if isinstance(term, str):
            return _name(term)
        operator, *operands = term
        if operator == "complement":
            return f"(fun x => negb ({self._event(operands[0])} x))"
        first, second = map(self._law, operands[:2])
        return f"(likely {self._real(operands[2])} {first} {second})"

    def _law(self, term: Term) -> str:
        if isinstance(term, str):
            return _name(term)
        operator, *operands = term
        match operator:
            case "push":
                outcomes = self._outcomes(self._spaces.law(operands[1]))
                return f"(push {outcomes} {self._law(operands[1])} {_name(operands[0])})"
            case "joint":
                return f"(joint {self._law(operands[0])} {_name(operands[1])})"
            case "product":
                return f"(product {self._law(operands[0])} {self._law(operands[1])})"
            case "power":
                return f"(power {self._law(operands[0])})"
            case "run":
                return f"(run {_name(operands[0])})"
            case "mixture":
                parts = self._real(operands[0]), *map(self._law, operands[1:])
                return f"(mixed {' '.join(parts)})"
        name = _LAWS.get(operator, operator)
        return f"({name} {' '.join(map(self._real, operands))})"

    def _function(self, term: Term) -> str:
        """A trade-off function."""
        if isinstance(term, str):
            name = _name(term)
            return f"(tradeoff {self._outcomes(self._spaces.of(term))} {name}0 {name}1)"
        operator, *operands = term
        if operator == "inverse":
            return f"(inverse {self._function(operands[0])})"
        if operator == "approximate":
            return f"(approximate {' '.join(map(self._real, operands))})"
        if operator != "tradeoff":
            raise NoGoal(f"{operator} is not written")
        outcomes = self._outcomes(self._spaces.law(operands[0]))
        return f"(tradeoff {outcomes} {self._law(operands[0])} {self._law(operands[1])})"

    def _outcomes(self, space: Space) -> str:
        match space[0]:
            case "own":
                return f"l{space[1]}"
            case "pair":
                return f"(list_prod {self._outcomes(space[1])} {self._outcomes(space[2])})"
            case "words":
                return f"(words {self._outcomes(space[1])} {self._natural(space[2])})"
            case "bool":
                return "booleans"
        return "letters"


def _type(space: Space) -> str:
    match space[0]:
        case "own":
            return f"A{space[1]}"
        case "pair":
            return f"({_type(space[1])} * {_type(space[2])})"
        case "words":
            return f"(list {_type(space[1])})"
        case "bool":
            return "bool"
    return "letter"


def _kind(variable: Variable, plain: str) -> str:
    if (variable.low, variable.high) not in ((None, None), (0, None)):
        raise NoGoal("probabilities with other bounds than 0")
    return f"positive_{plain}" if variable.low_open else plain


def _between(variable: Variable, name: str) -> Iterator[str]:
    if variable.low is not None:
        yield f"{fraction(variable.low)} {'<' if variable.low_open else '<='} {name}"
    if variable.high is not None:
        yield f"{name} {'<' if variable.high_open else '<='} {fraction(variable.high)}"


def _name(name: str) -> str:
    return f"{name}_"  # Coq's own names end otherwise
