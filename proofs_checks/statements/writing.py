"""What people read of a statement: the sentence, and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Final

from proofs_checks.statements.statement import Relation, Statement, Variable
from proofs_checks.statements.terms import NUMBER, Term

_SETS: Final = {
    "law": "a finite law",
    "kernel": "a kernel",
    "tradeoff": "a trade-off function",
    "event": "an event",
    "test": "a randomized test",
    "mechanism": "an adaptive mechanism",
    "sequence": "a sequence",
}
_GREEK: Final = frozenset(
    [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "eps",
        "mu",
        "nu",
        "rho",
        "sigma",
        "tau",
        "lambda",
        "lam",
        "omega",
        "theta",
        "eta",
        "chi",
    ]
)
_NAMES: Final = {"eps": r"\varepsilon", "lam": r"\lambda", "oo": r"\infty", "-oo": r"-\infty"}
_LATEX_SIGNS: Final = {"<=": r"\le", ">=": r"\ge", "!=": r"\ne"}
_LATEX_FUNCTIONS: Final = {
    "hockey_stick": r"\operatorname{hs}",
    "total_variation": r"\operatorname{TV}",
    "Phi": r"\Phi",
}

# how strongly the outermost operator of a text binds
_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4


def sentence(statement: Statement) -> str:
    """The statement in one line of plain text."""
    return _whole(statement, text, _domain, " and ", "if ")


def latex(statement: Statement) -> str:
    """The statement as LaTeX, for display."""
    return _whole(statement, latex_term, _latex_domain, r",\; ", r"\text{if } ").replace(
        "for all ", r"\text{for all } "
    )


def text(term: Term) -> str:
    """A term as it is written in the catalogue."""
    return _text(term)[0]


def latex_term(term: Term) -> str:
    """A term as LaTeX."""
    return _latex(term)[0]


def relation(one: Relation, write: Callable[[Term], str] = text) -> str:
    """One relation, its sides written by ``write``."""
    sign = one.comparison if write is text else _LATEX_SIGNS.get(one.comparison, one.comparison)
    return f"{write(one.left)} {sign} {write(one.right)}"


def _whole(
    statement: Statement,
    write: Callable[[Term], str],
    domain: Callable[[Variable], str],
    between: str,
    condition: str,
) -> str:
    found = between.join(relation(one, write) for one in statement.conclusion)
    if statement.variables:
        found = f"for all {', '.join(map(domain, statement.variables))}: {found}"
    if statement.hypotheses:
        assumed = between.join(relation(one, write) for one in statement.hypotheses)
        found += f", {condition}{assumed}" if write is text else rf"\quad {condition}{assumed}"
    for each in statement.also:
        further = _whole(each, write, domain, between, condition)
        found += f"; and {further}" if write is text else rf";\; \text{{and }} {further}"
    return found


def _domain(variable: Variable) -> str:
    if variable.sort in _SETS:
        return f"{variable.name} {_member(variable)}"
    low, high = variable.low, variable.high
    kind = "natural " if variable.sort == "natural" else ""
    if low is None and high is None:
        return f"{variable.name} real"
    if high is None:
        return f"{kind}{variable.name} {'>' if variable.low_open else '>='} {low}"
    return f"{kind}{variable.name} in {_interval(variable)}"


def _latex_domain(variable: Variable) -> str:
    name = _name(variable.name)
    if variable.sort in _SETS:
        return rf"{name}\text{{ {_member(variable)}}}"
    whole = r"\mathbb{N}" if variable.sort == "natural" else r"\mathbb{R}"
    low, high = variable.low, variable.high
    if low is None and high is None:
        return rf"{name} \in {whole}"
    member = rf" \in {whole}" if variable.sort == "natural" else ""
    if high is None:
        sign = ">" if variable.low_open else r"\ge"
        return rf"{name}{member}, {name} {sign} {low}" if member else f"{name} {sign} {low}"
    inside = _interval(variable).replace("oo", r"\infty")
    return rf"{name}{member} \in {inside}" if not member else rf"{name}{member} \cap {inside}"


def _member(variable: Variable) -> str:
    if variable.low is None and variable.high is None:
        return _SETS[variable.sort]
    if variable.sort in ("law", "kernel", "mechanism"):
        return f"{_SETS[variable.sort]}, all outcomes possible"
    return f"{_SETS[variable.sort]} in {_interval(variable)}"


def _interval(variable: Variable) -> str:
    low = "(-oo" if variable.low is None else f"{'(['[not variable.low_open]}{variable.low}"
    high = "oo)" if variable.high is None else f"{variable.high}{')]'[not variable.high_open]}"
    return f"{low}, {high}"


def _text(term: Term) -> tuple[str, int]:
    if isinstance(term, str):
        if NUMBER.fullmatch(term) and len(term) > 40:
            return _rounded(term), _ATOM
        return term, _PRODUCT if "/" in term else _SUM if term.startswith("-") else _ATOM
    operator, *operands = term
    if operator == "+":
        first, *rest = operands
        return _bound(first, _SUM) + "".join(map(_added, rest)), _SUM
    if operator == "*":
        if operands[0] == "-1" and len(operands) > 1:
            return "-" + "*".join(_bound(operand, _POWER) for operand in operands[1:]), _SUM
        return "*".join(_bound(operand, _PRODUCT) for operand in operands), _PRODUCT
    if operator == "/":
        return f"{_bound(operands[0], _PRODUCT)}/{_bound(operands[1], _POWER)}", _PRODUCT
    if operator == "^":
        return f"{_bound(operands[0], _ATOM)}^{_bound(operands[1], _ATOM)}", _POWER
    return f"{operator}({', '.join(map(text, operands))})", _ATOM


def _bound(term: Term, least: int) -> str:
    found, strength = _text(term)
    return found if strength >= least else f"({found})"


def _added(term: Term) -> str:
    if isinstance(term, tuple) and term[:2] == ("*", "-1") and len(term) > 2:
        return " - " + "*".join(_bound(operand, _PRODUCT) for operand in term[2:])
    return _signed(_bound(term, _SUM))


def _signed(found: str) -> str:
    return f" - {found[1:]}" if found.startswith("-") else f" + {found}"


def _latex(term: Term) -> tuple[str, int]:
    if isinstance(term, str):
        if NUMBER.fullmatch(term):
            if len(term) > 40:
                return _rounded(term).replace("...", r"\ldots"), _ATOM
            above, _, below = term.lstrip("-").partition("/")
            size = rf"\frac{{{above}}}{{{below}}}" if below else above
            return (f"-{size}", _SUM) if term.startswith("-") else (size, _ATOM)
        return _name(term), _ATOM
    operator, *operands = term
    if operator == "+":
        first, *rest = (_latex_bound(operand, _SUM) for operand in operands)
        return first + "".join(_signed(one) for one in rest), _SUM
    if operator == "*":
        minus = operands[0] == "-1" and len(operands) > 1
        factors = r" \, ".join(_latex_bound(each, _PRODUCT) for each in operands[minus:])
        return (f"-{factors}", _SUM) if minus else (factors, _PRODUCT)
    if operator == "/":
        return rf"\frac{{{latex_term(operands[0])}}}{{{latex_term(operands[1])}}}", _ATOM
    if operator == "^":
        return f"{_latex_bound(operands[0], _ATOM)}^{{{latex_term(operands[1])}}}", _POWER
    if operator == "sqrt":
        return rf"\sqrt{{{latex_term(operands[0])}}}", _ATOM
    if operator == "exp":
        return f"e^{{{latex_term(operands[0])}}}", _POWER
    if operator == "binomial":
        return rf"\binom{{{latex_term(operands[0])}}}{{{latex_term(operands[1])}}}", _ATOM
    if operator == "D":
        over = rf"\frac{{d}}{{d {_name(operands[1])}}}"
        return rf"{over} ({latex_term(operands[0])})", _PRODUCT
    if operator == "at":
        body, name, value = operands
        return f"({latex_term(body)})_{{{_name(name)} = {latex_term(value)}}}", _ATOM
    if operator == "largest":
        body, name, low, high = operands
        ends = rf"{latex_term(low)} \le {_name(name)} \le {latex_term(high)}"
        return rf"\max_{{{ends}}} {_latex_bound(body, _PRODUCT)}", _PRODUCT
    if operator == "mean":
        body, name, first, second = operands
        loss = rf"{_name(name)} = \log({latex_term(first)}/{latex_term(second)})"
        return rf"\mathbb{{E}}_{{{latex_term(first)},\, {loss}}}[{latex_term(body)}]", _ATOM
    if operator == "item":
        return rf"{_latex_bound(operands[0], _ATOM)}_{{{latex_term(operands[1])}}}", _ATOM
    if operator in ("sum", "prod", "integral"):
        body, name, low, high = operands
        sign = {"sum": r"\sum", "prod": r"\prod", "integral": r"\int"}[operator]
        tail = rf" \, d{_name(name)}" if operator == "integral" else ""
        return (
            f"{sign}_{{{_name(name)} = {latex_term(low)}}}^{{{latex_term(high)}}} "
            f"{_latex_bound(body, _PRODUCT)}{tail}",
            _SUM,
        )
    shown = _LATEX_FUNCTIONS.get(operator, rf"\operatorname{{{operator.replace('_', ' ')}}}")
    return f"{shown}({', '.join(_separate(operands))})", _ATOM


def _rounded(term: str) -> str:
    """The first digits of a number that is too long to be read."""
    value = Fraction(term)
    shown = Decimal(value.numerator) / Decimal(value.denominator)
    return f"{shown:.6g}..."


def _separate(operands: Iterable[Term]) -> list[str]:
    return [latex_term(operand) for operand in operands]


def _latex_bound(term: Term, least: int) -> str:
    found, strength = _latex(term)
    return found if strength >= least else f"({found})"


def _name(name: str) -> str:
    if name in _NAMES:
        return _NAMES[name]
    found = re.fullmatch(r"([A-Za-z_]*?)_?(\d*)", name)
    letters, digits = found.groups() if found else (name, "")
    if letters in _GREEK:
        shown = _NAMES.get(letters, f"\\{letters}")
    elif len(letters) == 1:
        shown = letters
    else:
        shown = rf"\mathit{{{letters.replace('_', ' ')}}}"
    return f"{shown}_{{{digits}}}" if digits else shown
