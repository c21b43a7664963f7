from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpexact
from dpexact.errors import InvalidInput
from dpexact.tokens import MAX_DEPTH, MAX_TEXT, MAX_WORK, Tokens, quoted, shorten, unknown


def read(text: str) -> list[tuple[str, str, int]]:
    tokens = Tokens(text)
    found = []
    while tokens.next.kind != "end":
        token = tokens.take()
        found.append((token.kind, token.text, token.column))
    return found


def test_units_and_their_columns() -> None:
    assert read(" a_1 ** .5e-3*(2.,x=7)^ ") == [
        ("name", "a_1", 2),
        ("symbol", "**", 6),
        ("number", ".5e-3", 9),
        ("symbol", "*", 14),
        ("symbol", "(", 15),
        ("number", "2.", 16),
        ("symbol", ",", 18),
        ("name", "x", 19),
        ("symbol", "=", 20),
        ("number", "7", 21),
        ("symbol", ")", 22),
        ("symbol", "^", 23),
    ]


def test_an_e_that_is_no_exponent_is_a_name() -> None:
    assert read("2e") == [("number", "2", 1), ("name", "e", 2)]
    assert read("2e+x")[:2] == [("number", "2", 1), ("name", "e", 2)]


@pytest.mark.parametrize("character", ["１", "\x00", "٣", "²", "é", "'", "\\", "[", "\ud800", ";"])
def test_other_characters_are_refused_where_they_stand(character: str) -> None:
    with pytest.raises(InvalidInput, match=r"^column 4 of .*: unexpected character") as caught:
        Tokens(f"1 +{character}")
    assert "\n" not in str(caught.value)


def test_the_end_stays() -> None:
    tokens = Tokens("1  ")
    tokens.take()
    assert tokens.take() == tokens.take() == tokens.peek_after()
    assert (tokens.next.kind, tokens.next.column) == ("end", 2)


def test_limits() -> None:
    Tokens(" " * MAX_TEXT)
    with pytest.raises(InvalidInput, match="too long"):
        Tokens(" " * (MAX_TEXT + 1))
    tokens = Tokens("x")
    for _ in range(MAX_DEPTH + 1):
        with tokens.nested():
            pass
    with ExitStack() as levels:
        for _ in range(MAX_DEPTH):
            levels.enter_context(tokens.nested())
        with pytest.raises(InvalidInput, match="nested more than"):
            levels.enter_context(tokens.nested())
    tokens.spend(MAX_WORK)
    with pytest.raises(InvalidInput, match="too much arithmetic"):
        tokens.spend(1)


def test_expect_names_what_it_found_and_the_bracket_to_close() -> None:
    tokens = Tokens("(x")
    opened = tokens.take()
    with pytest.raises(
        InvalidInput, match=r"column 2 .*expected '\)' to close .*column 1, found 'x'"
    ):
        tokens.expect(")", opened)
    tokens.take()
    with pytest.raises(InvalidInput, match=r"column 3 of '\(x': expected '=', found the end"):
        tokens.expect("=")
    assert tokens.accept("=") is None


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read(text)
    except InvalidInput:
        return
    for _, unit, column in found:
        assert text[column - 1 :].startswith(unit)
    assert "".join(unit for _, unit, _ in found) == "".join(text.split())


def test_shorten_keeps_both_ends_and_the_limit() -> None:
    assert shorten("a" * 60) == "a" * 60
    short = shorten("b" + "a" * 100 + "c")
    assert len(short) <= 60
    assert short[0] + short[-1] == "bc"


def test_what_cannot_be_written_out_is_named_by_its_kind() -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert quoted("a'b") == repr("a'b")
    assert [quoted(10**5000), quoted([10**5000]), quoted(deep)] == ["<int>", "<list>", "<list>"]
    for ask in (dpexact.audit, lambda bound: dpexact.Enclosure(bound, bound)):
        with pytest.raises(InvalidInput, match="<list>"):
            ask(deep)


@pytest.mark.parametrize(
    ("name", "otherwise", "hint"),
    [
        ("lapalce", "", "did you mean 'laplace'?"),
        ("lapalce", "ask", "did you mean 'laplace'?"),
        ("zz", "", "known: gaussian, laplace"),
        ("zz", "ask", "ask"),
    ],
)
def test_unknown_names(name: str, otherwise: str, hint: str) -> None:
    said = unknown("noise", name, ["gaussian", "laplace"], otherwise)
    assert said == f"unknown noise {name!r}; {hint}"


def test_a_long_unknown_name_takes_bounded_time_and_space() -> None:
    assert len(unknown("noise", "laplac" * 10**6, ["laplace"] * 20)) < 300
