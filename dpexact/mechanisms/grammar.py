"""The text grammar of mechanisms.

::

    product    := power ("*" power)*
    power      := primary (("^" | "**") (integer | "(" number ")"))?
    primary    := "(" product ")" | name "(" arguments ")"
    arguments  := argument ("," argument)*        argument := (name "=")? (product | number)
                | entry ("," entry)*              entry := number ":" (product | number)
                                                         | "(" number "," number ")"
                | "@" file

A number is any exact expression of :mod:`dpexact.reals`. ``parse(str(m)) == m`` for every ``m``.
In a template one argument that is a number, or one ``integer``, is ``?``: a hole.
"""

from __future__ import annotations

from dataclasses import MISSING
from typing import Any, Final

from dpexact.conversion import read_atom, read_real
from dpexact.errors import InvalidInput
from dpexact.mechanisms import base, guarantees, noises, relating, reports
from dpexact.mechanisms.base import Mechanism, Repetition, compose, placed, repeat
from dpexact.mechanisms.entries import Entries, rows_of_file
from dpexact.mechanisms.finite import FinitePair, RandomizedResponse
from dpexact.mechanisms.guarantees import RenyiDP
from dpexact.mechanisms.ordering import Ordering
from dpexact.mechanisms.relating import Allocation, ShuffledBatches
from dpexact.mechanisms.reports import RepeatAndSelect
from dpexact.mechanisms.template import BLANK, Blank, Hole, Template, is_blank
from dpexact.reals import Real
from dpexact.tokens import Tokens, quoted, shorten, unknown

#: The mechanisms that text can name.
NAMES: Final[dict[str, type[Mechanism]]] = {
    kind.name: kind
    for kind in (
        guarantees.ApproxDP,
        guarantees.PureDP,
        guarantees.GDP,
        guarantees.ZCDP,
        noises.Gaussian,
        noises.Laplace,
        noises.DiscreteLaplace,
        noises.DiscreteGaussian,
        noises.Staircase,
        base.Poisson,
        base.FixedSize,
        relating.Group,
        relating.Replace,
        relating.GaussianMixture,
        relating.TruncatedPoisson,
        relating.Mix,
        Allocation,
        ShuffledBatches,
        reports.Shuffle,
        reports.BoundedRange,
        reports.PermuteAndFlip,
        reports.ReportNoisyMax,
        reports.Adaptive,
        RepeatAndSelect,
        RenyiDP,
        noises.TruncatedLaplace,
        noises.TruncatedDiscreteGaussian,
        noises.PartitionSelection,
        noises.Threshold,
        FinitePair,
        RandomizedResponse,
    )
}

_PLACES: Final = (
    "write it once, in place of a number or of a repetition count, "
    "as in 'poisson(gaussian(?), 1/100)^1000' or 'gaussian(2)^?'"
)


def parse(text: str) -> Mechanism:
    """The mechanism that ``text`` describes.

    Raises:
        InvalidInput: with the column of what is wrong.

    >>> parse("poisson(gaussian(1.3), 256/60000)^3515")
    <Mechanism poisson(gaussian(1.3), 8/1875)^3515>
    """
    if not isinstance(text, str):
        raise InvalidInput(f"mechanism: {quoted(text)} is not text")
    if not text.strip():
        raise InvalidInput("mechanism: empty text; write for example 'gaussian(1.3)^10'")
    tokens = Tokens(text)
    if tokens.blanks:
        reason = "'?' is an unknown, which only templates to calibrate have"
        raise tokens.error(reason, tokens.blanks[0])
    return _read_whole(tokens)


def parse_template(text: str) -> Template:
    """The template that ``text`` describes.

    Raises:
        InvalidInput: no ``?``, several, one that does not stand for a whole number, or a text
            that is no mechanism.

    >>> template = parse_template("laplace(scale=?)^10")
    >>> template.owner, template.parameter
    ('laplace', 'scale')
    """
    if not isinstance(text, str):
        raise InvalidInput(f"template: {quoted(text)} is not text")
    tokens = Tokens(text)
    marks = tokens.blanks
    if not marks:
        raise InvalidInput(f"template: no '?' in {shorten(text)!r}; {_PLACES}")
    if len(marks) > 1:
        raise tokens.error(f"a second '?'; {_PLACES}", marks[1])
    try:
        return Template(text, _read_whole(tokens))
    except InvalidInput:
        if tokens.next.kind != "end" and marks[0] in (tokens.behind, tokens.next):
            raise tokens.error(f"'?' cannot stand here; {_PLACES}", marks[0]) from None
        raise


def mechanism_in(mechanism: Mechanism | str) -> Mechanism:
    """The mechanism, parsed if it is text."""
    if isinstance(mechanism, str):
        return parse(mechanism)
    if not isinstance(mechanism, Mechanism):
        raise InvalidInput(f"mechanism: {quoted(mechanism)} is neither a mechanism nor its text")
    return mechanism


def _read_whole(tokens: Tokens) -> Mechanism:
    mechanism = _read_product(tokens)
    if tokens.next.kind != "end":
        raise tokens.error(f"unexpected {tokens.found()} after the mechanism")
    return mechanism


def _read_product(tokens: Tokens) -> Mechanism:
    factors = [_read_power(tokens)]
    while tokens.accept("*"):
        factors.append(_read_power(tokens))
    return compose(*factors)


def _read_power(tokens: Tokens) -> Mechanism:
    mechanism = _read_primary(tokens)
    if not tokens.accept("^", "**"):
        return mechanism
    token = tokens.next
    if tokens.accept("?"):
        mechanism = Hole(Repetition, (("mechanism", mechanism), ("times", BLANK)))
    elif token.text == "(" or token.kind == "number":
        times = read_atom(tokens)
        try:
            mechanism = repeat(mechanism, times)
        except InvalidInput as error:
            raise tokens.error(str(error), token) from None
    else:
        raise tokens.error("expected a positive integer number of repetitions")
    if tokens.next.text in ("^", "**"):
        raise tokens.error("a power of a power needs brackets: (a^2)^3")
    return mechanism


def _read_primary(tokens: Tokens) -> Mechanism:
    if tokens.next.text == "(":
        with tokens.brackets():
            return _read_product(tokens)
    token = tokens.take()
    if token.kind != "name":
        found = "the end" if token.kind == "end" else repr(shorten(token.text))
        raise tokens.error(f"expected a mechanism, found {found}", token)
    if token.text not in NAMES:
        _load(token.text)
    if token.text not in NAMES:
        raise tokens.error(unknown("mechanism", token.text, NAMES), token)
    kind = NAMES[token.text]
    arguments = _read_arguments(tokens, kind)
    try:
        if not (tokens.blanks and is_blank(tuple(arguments.values()))):
            return kind(**arguments)
        hole = Hole(kind, tuple(arguments.items()))
        if isinstance(ordering := hole.ordering, Ordering):
            hole.fill(hole.end(ordering.lowest))  # the other arguments are checked too
        return hole
    except InvalidInput as error:
        raise tokens.error(str(error), token) from None


def _load(name: str) -> None:
    """Import what an installed package says that the mechanism is: it enters its name itself."""
    from importlib.metadata import entry_points

    for entry in entry_points(group="dpexact.mechanisms", name=name):
        entry.load()


def _read_arguments(tokens: Tokens, kind: type[Mechanism]) -> dict[str, Any]:
    parameters = {parameter.name: parameter for parameter in placed(kind)}
    names = list(parameters)
    values: dict[str, Any] = {}
    named = False
    with tokens.brackets() as opened:
        while values or tokens.next.text != ")":
            token = tokens.next
            if token.kind == "name" and tokens.peek_after().text == "=":
                named = True
                name = tokens.take().text
                tokens.take()
                if name not in parameters:
                    raise tokens.error(unknown(f"parameter of {kind.name}", name, names), token)
            elif named:
                raise tokens.error("a positional argument cannot follow a named one", token)
            elif len(values) == len(names):
                raise tokens.error(f"too many arguments: {_signature(kind)}", token)
            else:
                name = names[len(values)]
            if name in values:
                raise tokens.error(f"{name} is given twice", token)
            if entries := parameters[name].metadata.get("entries"):
                columns = parameters[name].metadata["columns"]
                values[name] = _read_entries(tokens, entries, kind.name, columns)
                break
            read = _read_product if name == "mechanism" else _read_number
            values[name] = read(tokens)
            if not tokens.accept(","):
                break
    if not named and len(values) == 1 and "leads" in parameters[names[0]].metadata:
        values = {names[1]: values[names[0]]}
    for name, parameter in parameters.items():
        if name not in values and parameter.default is MISSING:
            raise tokens.error(f"{name} is missing: {_signature(kind)}", opened)
    return values


def _read_entries(
    tokens: Tokens, entries: Entries, kind: str, columns: tuple[str, str] | None
) -> tuple[tuple[Any, Any], ...]:
    """All arguments that are left; with titles of columns they may stand in a file."""
    if columns and tokens.next.kind == "file":
        token = tokens.take()
        try:
            return rows_of_file(token.text.strip('"'), kind, columns)
        except InvalidInput as error:
            raise tokens.error(str(error), token) from None
    found = [_read_entry(tokens, entries)]
    while tokens.accept(","):
        found.append(_read_entry(tokens, entries))
    return tuple(found)


def _read_entry(tokens: Tokens, entries: Entries) -> tuple[Any, Any]:
    if entries == "(number, number)":
        with tokens.brackets():
            first = _read_number(tokens)
            tokens.expect(",")
            return first, _read_number(tokens)
    first = _read_number(tokens)
    tokens.expect(":")
    return first, (_read_product if entries == "number: mechanism" else _read_number)(tokens)


def _read_number(tokens: Tokens) -> Real | Blank:
    return BLANK if tokens.accept("?") else read_real(tokens)


def _signature(kind: type[Mechanism]) -> str:
    shown = [
        f"{f.metadata['entries']}, ..."
        if "entries" in f.metadata
        else f.name
        if f.default is MISSING
        else f"{f.name}={f.default}"
        for f in placed(kind)
    ]
    return f"{kind.name}({', '.join(shown)})"
