"""The text grammar of mechanisms.

::

    product    := power ("*" power)*
    power      := primary (("^" | "**") (integer | "(" number ")"))?
    primary    := "(" product ")" | name "(" arguments ")"
    arguments  := argument ("," argument)*        argument := (name "=")? (product | number)

A number is any exact expression of :mod:`dpexact.reals`. ``parse(str(m)) == m`` for every ``m``.
"""

from __future__ import annotations

from dataclasses import MISSING, Field, fields
from typing import Any, Final

from dpexact.errors import InvalidInput
from dpexact.mechanisms import base
from dpexact.mechanisms.base import Mechanism, compose, repeat
from dpexact.reals import Real, parse_real, read_real
from dpexact.tokens import Token, Tokens, shorten, unknown

#: The mechanisms that text can name.
NAMES: Final[dict[str, type[Mechanism]]] = {
    kind.name: kind
    for kind in (
        base.ApproxDP,
        base.PureDP,
        base.GDP,
        base.ZCDP,
        base.Gaussian,
        base.Laplace,
        base.DiscreteLaplace,
        base.DiscreteGaussian,
        base.Staircase,
        base.Poisson,
        base.FixedSize,
    )
}


def parse(text: str) -> Mechanism:
    """The mechanism that ``text`` describes.

    Raises:
        InvalidInput: with the column of what is wrong.

    >>> parse("poisson(gaussian(1.3), 256/60000)^3515")
    Repetition(mechanism=Poisson(mechanism=Gaussian(...)), times=3515)
    """
    if not isinstance(text, str):
        raise InvalidInput(f"mechanism: {shorten(repr(text))} is not text")
    if not text.strip():
        raise InvalidInput("mechanism: empty text; write for example 'gaussian(1.3)^10'")
    tokens = Tokens(text)
    mechanism = _read_product(tokens)
    if tokens.next.kind != "end":
        raise tokens.error(f"unexpected {tokens.found()} after the mechanism")
    return mechanism


def mechanism_in(mechanism: Mechanism | str) -> Mechanism:
    """The mechanism, parsed if it is text."""
    if isinstance(mechanism, str):
        return parse(mechanism)
    if not isinstance(mechanism, Mechanism):
        raise InvalidInput(f"mechanism: {mechanism!r} is neither a mechanism nor its text")
    return mechanism


def _read_product(tokens: Tokens) -> Mechanism:
    tokens.descend()
    factors = [_read_power(tokens)]
    while tokens.accept("*"):
        factors.append(_read_power(tokens))
    tokens.ascend()
    return compose(*factors)


def _read_power(tokens: Tokens) -> Mechanism:
    mechanism = _read_primary(tokens)
    if tokens.accept("^", "**"):
        token = tokens.take()
        if token.text != "(" and token.kind != "number":
            raise tokens.error("expected a positive integer number of repetitions", token)
        if token.text == "(":
            times = read_real(tokens)
            tokens.expect(")", token)
        else:
            times = parse_real(token.text)
        try:
            mechanism = repeat(mechanism, times)
        except InvalidInput as error:
            raise tokens.error(str(error), token) from None
        if tokens.next.text in ("^", "**"):
            raise tokens.error("a power of a power needs brackets: (a^2)^3")
    return mechanism


def _read_primary(tokens: Tokens) -> Mechanism:
    token = tokens.take()
    if token.text == "(":
        mechanism = _read_product(tokens)
        tokens.expect(")", token)
        return mechanism
    if token.kind != "name":
        found = "the end" if token.kind == "end" else repr(shorten(token.text))
        raise tokens.error(f"expected a mechanism, found {found}", token)
    if token.text not in NAMES:
        raise tokens.error(unknown("mechanism", token.text, NAMES), token)
    kind = NAMES[token.text]
    opened = tokens.next
    tokens.expect("(")
    arguments = _read_arguments(tokens, kind, opened)
    try:
        return kind(**arguments)
    except InvalidInput as error:
        raise tokens.error(str(error), token) from None


def _read_arguments(tokens: Tokens, kind: type[Mechanism], opened: Token) -> dict[str, Any]:
    parameters = {parameter.name: parameter for parameter in fields(kind)}
    names = list(parameters)
    values: dict[str, Any] = {}
    named = False
    while not (not values and tokens.next.text == ")"):
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
        values[name] = _read_value(tokens, parameters[name])
        if not tokens.accept(","):
            break
    tokens.expect(")", opened)
    for name, parameter in parameters.items():
        if name not in values and parameter.default is MISSING:
            raise tokens.error(f"{name} is missing: {_signature(kind)}", opened)
    return values


def _read_value(tokens: Tokens, parameter: Field[Any]) -> Mechanism | Real:
    return _read_product(tokens) if parameter.name == "mechanism" else read_real(tokens)


def _signature(kind: type[Mechanism]) -> str:
    shown = [f.name if f.default is MISSING else f"{f.name}={f.default}" for f in fields(kind)]
    return f"{kind.name}({', '.join(shown)})"
