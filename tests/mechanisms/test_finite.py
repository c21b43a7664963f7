"""Finite pairs as text, as values and in files."""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from pathlib import Path

import pytest

from dpexact import InvalidInput, delta, pair, parse
from dpexact.files import MAX_BYTES
from dpexact.mechanisms.entries import MAX_NUMBER
from dpexact.mechanisms.finite import MAX_OUTCOMES


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pair((1/2, 1/3), (1/2, 2/3))", "pair((0.5, 1/3), (0.5, 2/3))"),
        ("pair((1,0),(0,0),(0,1))", "pair((1, 0), (0, 1))"),
        (
            "pair((exp(1)/(1+exp(1)), 1/2), (1/(1+exp(1)), 1/2))^2",
            "pair((e/(1+e), 0.5), (1/(1+e), 0.5))^2",
        ),
        ("poisson(pair((sqrt(2)/2, 1), (1-sqrt(2)/2, 0)), 1/3)", None),
    ],
)
def test_text_is_read_and_printed(text: str, shown: str | None) -> None:
    m = parse(text)
    assert parse(str(m)) == m
    if shown is not None:
        assert str(m) == shown


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pair((0.5, 0.4), (0.5, 0.5))", "pair: the probabilities q sum to 0.9, not 1"),
        ("pair((0.5, 0.5), (0.6, 0.5))", "pair: the probabilities p sum to 1.1, not 1"),
        ("pair((-1/2, 1), (3/2, 0))", "pair: p of outcome 1 is -0.5; must be >= 0"),
        ("pair((1, -1/3), (0, 4/3))", "pair: q of outcome 1 is -1/3; must be >= 0"),
        ("pair((exp(1)/4, 1), (1/4, 0))", "pair: the probabilities p sum to about 0.92957045"),
        ("pair((1e400, 1), (1e-400, 0))", "p sum to about 1e400, not 1; a float means"),
        ("pair((0, 1))", "pair: the probabilities p sum to 0, not 1"),
        ("pair((1/3+1e400, 1), (1/3, 0))", "0...0000000000002/3, not 1"),
        ("pair()", "outcomes is missing"),
        ("pair((1))", "expected ','"),
        ("pair(1, 1)", "expected '('"),
        ("pair((1, 1, 1))", "expected ')'"),
        ("pair(@nowhere.csv)", "pair: cannot read nowhere.csv: No such file"),
        ("gaussian(@nowhere.csv)", "expected a number"),
    ],
)
def test_what_is_no_pair_is_refused_in_one_line(text: str, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_floats_are_binary_fractions() -> None:
    with pytest.raises(InvalidInput, match="a float means its exact binary value"):
        pair((0.1, 0.5), (0.9, 0.5))
    assert pair((0.25, 0.5), (0.75, 0.5)) == pair(("1/4", "1/2"), ("3/4", "1/2"))


def test_numbers_close_to_one_are_told_from_it() -> None:
    with pytest.raises(InvalidInput, match="sum to"):
        parse("pair((1-1e-4000, 1), (0, 0))")
    with pytest.raises(InvalidInput, match="sum to"):
        parse("pair((exp(1)/(1+exp(1))-1e-1000, 1), (1/(1+exp(1)), 0))")


@pytest.mark.slow
def test_denominators_without_end_are_refused() -> None:
    rows = [(Fraction(1, (1 << 3000) - k), 0) for k in range(1, 60)]
    with pytest.raises(InvalidInput, match="common denominator"):
        pair(*rows)
    with pytest.raises(InvalidInput, match="outcomes are too many"):
        pair(*[(0, 0)] * (MAX_OUTCOMES + 1))


def test_files_are_read_into_the_value(tmp_path: Path) -> None:
    path = tmp_path / "two laws.csv"
    path.write_text("\ufeffq, p\n1/3, 0.5\n\n2/3,5e-1\n", encoding="utf-8")
    m = parse(f'pair(@"{path}")^2')
    assert str(m) == "pair((0.5, 1/3), (0.5, 2/3))^2"
    assert pair(f"@{path}") ** 2 == m


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "must be 'p,q'"),
        ("1/2,1/2\n1/2,1/2\n", "must be 'p,q'"),
        ("p,q\n1/2\n", "line 2 of"),
        ("p,q\n1/2,1/2,0\n", "has 3 fields, not 2"),
        ("p,q\n1/2,x\n", "'x' is not accepted"),
        ("p,q\n1e999999999,1\n", "is not accepted"),
        ("p,q\n1/0,1\n", "'1/0' is not accepted"),
        ("p,q\n" + "1" * (MAX_NUMBER + 1) + ",1\n", "is not accepted"),
        ("p,q\n1/2,1/2\n", "sum to 0.5, not 1"),
        ("p,q\n-1/2,1\n3/2,0\n", "p of outcome 1 is -0.5"),
        ("p,q\n\ud800,1\n", "it is no text in UTF-8"),
    ],
)
def test_files_of_something_else_are_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(InvalidInput) as caught:
        pair(f"@{path}")
    assert message in str(caught.value)


def test_no_more_of_a_pipe_is_read_than_of_a_file(tmp_path: Path) -> None:
    """Its size is not known before: one endless line is no text to wait for."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused = []

    def write() -> None:
        try:
            pipe.write_bytes(bytes(MAX_BYTES + (1 << 20)))
        except BrokenPipeError as error:
            refused.append(error)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    with pytest.raises(InvalidInput, match=f"larger than {MAX_BYTES} bytes"):
        pair(f"@{pipe}")
    writer.join(10)
    assert refused


@pytest.mark.slow
def test_a_large_file_takes_seconds(tmp_path: Path) -> None:
    n = 20_000
    total = n * (n + 1) // 2
    lines = (f"{k}/{total},{n + 1 - k}/{total}" for k in range(1, n + 1))
    path = tmp_path / "large.csv"
    path.write_text("p,q\n" + "\n".join(lines))
    found = delta(pair(f"@{path}"), 0)
    assert found.is_exact
    assert found.digits >= 15
