"""Every reader of foreign text on damaged input: it accepts, or refuses in one short line."""

from __future__ import annotations

import random
import sys
import time
from types import FrameType

import pytest
from fuzzing.fuzz import mutated
from fuzzing.seeds import SEEDS, WORDS
from fuzzing.targets import TARGETS, attempt
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import scaled

#: Calls that a reader may make for each byte; a machine that is busy makes no more of them.
CALLS = 500
#: Seconds of the processor after which something is wrong that makes no calls.
PATIENCE = 60


def assert_bounded(name: str, data: bytes) -> None:
    """The work of reading is at most proportional to the length."""
    calls = 0

    def count(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += 1

    begun = time.process_time()
    sys.setprofile(count)
    try:
        attempt(name, data)
    finally:
        sys.setprofile(None)
    assert calls < CALLS * (len(data) + 100)
    assert time.process_time() - begun < PATIENCE


def test_every_target_has_seeds_that_it_accepts() -> None:
    assert SEEDS.keys() == TARGETS.keys()
    for name, seeds in SEEDS.items():
        assert any(attempt(name, seed) for seed in seeds), name


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_seeds(name: str) -> None:
    source = random.Random(name)
    for _ in range(scaled(80)):
        attempt(name, mutated(source, SEEDS[name], WORDS))


@pytest.mark.parametrize("name", TARGETS)
@settings(max_examples=scaled(60))
@given(data=st.binary(max_size=40) | st.lists(st.sampled_from(WORDS), max_size=12).map(b"".join))
def test_anything(name: str, data: bytes) -> None:
    attempt(name, data)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "10^10^10",
        "exp(exp(exp(9)))",
        "exp(" * 79 + "9" + ")" * 79,
        "exp(10^100000)",
        "log(log(log(2)))",
        "1e999999999",
        "1e-999999999",
        "1e9999999999999",
        "9" * 99_999,
        "(" * 50_000,
        "-" * 99_999,
        "log(2)*" * 10_000 + "1",
        "1/3+" * 20_000 + "1",
        "sqrt(" * 10_000,
        "٣",
        "1²",
        "½",
    ],
    ids=lambda text: text[:20],
)
@pytest.mark.parametrize("name", ["real", "mechanism", "template", "claims_csv"])
def test_monstrous_numbers_take_bounded_work(name: str, text: str) -> None:
    form = {
        "real": "{}",
        "mechanism": "gaussian({})^2",
        "template": "poisson(gaussian({}), ?)",
        "claims_csv": "mechanism,claims,epsilon,delta,kind\ngdp(1),epsilon,{},1e-5,upper\n",
    }[name]
    assert_bounded(name, form.format(text).encode())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("mechanism", b"gdp(1)*" * 14_000 + b"gdp(1)"),
        ("mechanism", b"(" * 90_000),
        ("mechanism", b"g" * 99_999 + b"(1)"),
        ("mechanism", b"gdp(1)^" + b"9" * 99_000),
        ("mechanism", b"poisson(" * 10_000),
        ("template", b"?" * 99_999),
        ("template", b"(" * 49_999 + b"?" + b")" * 49_999),
        ("claims_yaml", b"claims:\n- " + b"k" * 2_000_000 + b": 1\n"),
        ("claims_yaml", b"a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n"),
        ("claims_yaml", b"[" * 2_000_000),
        ("claims_yaml", b"!" * 2_000_000),
        ("claims_json", b"[" * 2_000_000),
        ("claims_json", b'{"claims": [{"' + b"k" * 2_000_000 + b'": 1}]}'),
        ("claims_csv", b"mechanism" + b"," * 1_000_000 + b"\n" + b"a\n" * 50_000),
        ("claims_unnamed", b"x" * 34_000_000),
        ("journal", b"[" * 1_000_000 + b"\n"),
        ("journal", b"x" * 10_000_000),
    ],
    ids=lambda value: value[:20].decode() if isinstance(value, bytes) else value,
)
def test_monstrous_files_take_bounded_work(name: str, data: bytes) -> None:
    assert_bounded(name, data)
